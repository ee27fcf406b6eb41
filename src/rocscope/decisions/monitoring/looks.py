"""What was counted at which look: a batch comes once, and rows whose labels come late go to their own day."""

import hashlib
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocscope._base.arrays import Array

_TOLD_APART = 100  # rows from which on two batches without a name are the same if all their rows are


@dataclass(frozen=True)
class Look:
    """A batch of rows: what it was called, the block that it was counted in, and a digest of its rows."""

    when: Any
    block: int
    digest: str

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return vars(self).copy()


def digest_of(positive: NDArray[np.bool_], score: Array, weight: Array) -> str:
    """Return a digest of rows that does not depend on their order."""
    order = np.lexsort((weight, positive, score))
    digest = hashlib.sha256(str(score.dtype).encode())
    for column in (score, positive, weight):
        digest.update(np.ascontiguousarray(column[order]).tobytes())
    return digest.hexdigest()[:16]


def counted_before(looks: list[Look], when: Any, digest: str, n: float) -> int | None:
    """Return which look counted this batch; None where none did.

    A batch is the same if its rows and its name are. Small batches without a name may be alike by chance.
    """
    if when is None and n < _TOLD_APART:
        return None
    same = (number for number, look in enumerate(looks) if (look.digest, look.when) == (digest, when))
    return next(same, None)


def block_of(looks: list[Look], when: Any) -> int | None:
    """Return the block of rows whose labels come late: that of their day; None where they are the newest.

    Examples
    --------
    >>> looks = [Look("2026-01-01", 0, ""), Look("2026-01-03", 1, "")]
    >>> block_of(looks, "2026-01-01"), block_of(looks, "2026-01-02"), block_of(looks, "2026-01-04")
    (0, 0, None)
    """
    if when is None or not looks:
        return None
    known = {look.when: look.block for look in looks}
    if when in known:
        return known[when]
    days, day = [_day(look.when) for look in looks], _day(when)
    if day is None or None in days or len({type(each) for each in (*days, day)}) > 1 or day >= max(days):
        return None  # the newest, or names such as "Mon", which are in no order
    _, block = max(
        ((each, look.block) for each, look in zip(days, looks, strict=True) if each <= day), default=(day, 0)
    )
    return block


def _day(when: Any) -> Any:
    """Return a number or a date in ISO 8601 as what has an order; None for other names."""
    if isinstance(when, int | float):
        return float(when)
    try:
        return datetime.fromisoformat(when).replace(tzinfo=None)
    except (TypeError, ValueError):
        return None
