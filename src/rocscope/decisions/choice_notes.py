"""What there is to say of a choice: what ties with it, and what it owes to no score."""

from rocscope.core.context import Context
from rocscope.core.cumulative import CumulativeCounts
from rocscope.core.point import OperatingPoint
from rocscope.geometry import Touch


def constant(model: str, counts: CumulativeCounts) -> tuple[str, ...]:
    """Return the note that a model tells no case from another."""
    one_level = len(counts) == 1 and counts.holds_levels
    return (f"all scores of {model} are equal: it can only say yes to all or to none",) if one_level else ()


def trivial(context: Context, touch: Touch) -> tuple[str, ...]:
    """Return the note that one action is right whatever the scores, or would be if it were admissible."""
    always = context.always_right
    if not always:
        return ()
    right = 1 if always == "all positive" else 0
    stakes = (context.miss_cost, context.false_alarm_cost)
    if any(stake and rate != right for stake, rate in zip(stakes, touch.rates, strict=True)):
        return (f"at these costs {always} would be right, but is not admissible",)
    return (f"trivial: at these costs {always} is right whatever the scores",)


def as_good(touch: Touch) -> tuple[str, ...]:
    """Return how choices are called that cost the same."""
    labels = ((other, other.choices.label) for other in touch.tied)
    return tuple(name if other.rates == touch.rates else described(name, other.point) for other, name in labels)


def described(model: str, point: OperatingPoint) -> str:
    """Return how a threshold of a model is called."""
    return f"{model} at {point.threshold:.6g}"
