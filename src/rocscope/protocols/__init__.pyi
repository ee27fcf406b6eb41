from .splitters import (
    Folds as Folds,
    Holdout as Holdout,
    LeaveOneOut as LeaveOneOut,
    OutOfBag as OutOfBag,
    Protocol as Protocol,
    ThreeParts as ThreeParts,
    TimeOrder as TimeOrder,
)
