from .exploring import explore as explore
from .widget import Widget as Widget
