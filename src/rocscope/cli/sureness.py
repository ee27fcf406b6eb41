"""How sure a decision or a plan is, as `choose` and `campaign` print it."""

from typing import Any

from rocscope._numerals import chance
from rocscope.cli.console import note, print_rows
from rocscope.errors import InputError


def interval_of(result: Any) -> Any:
    """Return the honest range of a decision or plan, or None after saying why there is none."""
    try:
        return result.interval()
    except InputError as error:
        note(f"No interval: {error}")
        return None


def as_json(interval: Any) -> dict[str, Any]:
    """Return what is added to the object that a command prints."""
    return {"interval": None if interval is None else interval.to_dict()}


def print_interval(interval: Any, what: str, apparent: str) -> None:
    """Print what is to be expected of other cases than those that were chosen on."""
    if interval is None:
        return
    rows = {what: interval.words, "on the rows it was chosen on": apparent}
    if len(interval.models) > 1:
        rows["probability of being the best"] = interval.shares
    rows["probability that acting pays"] = chance(interval.acting)
    print_rows("How sure that is", ("", ""), [*rows.items(), *interval.doubts.items()])
