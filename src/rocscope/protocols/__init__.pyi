from .kinds import Folds as Folds
from .kinds import Holdout as Holdout
from .kinds import LeaveOneOut as LeaveOneOut
from .kinds import OutOfBag as OutOfBag
from .kinds import Protocol as Protocol
from .kinds import ThreeParts as ThreeParts
from .kinds import TimeOrder as TimeOrder
