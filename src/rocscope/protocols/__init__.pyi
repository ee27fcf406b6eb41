from .splitters import Folds as Folds
from .splitters import Holdout as Holdout
from .splitters import LeaveOneOut as LeaveOneOut
from .splitters import OutOfBag as OutOfBag
from .splitters import Protocol as Protocol
from .splitters import ThreeParts as ThreeParts
from .splitters import TimeOrder as TimeOrder
