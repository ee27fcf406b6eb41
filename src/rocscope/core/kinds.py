"""The kinds of rows, and the functions that do not take them.

Most functions allow for all that rows may stand for; `REFUSED` names the others, and the call that answers. A function
asks once, with `require_kinds`, and looks at no weights itself.

========== ============================================================================================
kind       rows of it
========== ============================================================================================
repeats    A case has several entries, as after repeated cross-validation.
groups     Rows of one group, such as a patient, are not independent.
sampling   A row represents as many cases of a population as its weight says.
estimated  Weights were estimated, for censoring, verification or the share treated.
money      A positive is a row at which acting gains, and its weight is the gain (`in_money`).
priced     As money, but the gain is in a column and rows count once (`Experiment.priced`).
frequency  A row stands for so many equal rows, as its weight says.
========== ============================================================================================
"""

from collections.abc import Mapping
from typing import Any, cast

from rocscope.core.counts import CumulativeCounts
from rocscope.core.predictions import Rows
from rocscope.errors import InputError, warn

EXPECTED = {
    "repeats": ("each case once", "several entries of a case, from repeats"),
    "groups": ("independent rows", "rows in groups"),
    "sampling": ("rows that count alike", "sampling weights"),
    "frequency": ("rows that count alike", "numbers of equal rows as weights"),
    "estimated": ("rows that count alike", "weights that were estimated"),
    "money": ("rows that count cases", "rows in money, whose weights are amounts"),
    "priced": ("responses as labels", "labels that say whether acting gains"),
}
"""What a function that refuses a kind expects, and what it got, in words."""

_ONE_REPEAT = "take one repeat: predictions.by_repeat()[0]"
_PRICED = "let a column say what rows bring: rs.choose(*trial.priced()), or Context(cost_fn='amount')"
_TRIAL = "choose among cases with their gain in a column: rs.choose(*trial.priced(), subject_to='cases <= 200')"
_CASES = {"money": _PRICED}
_CAMPAIGN = {"money": _TRIAL, "priced": _TRIAL}
_ONE_ROW_A_CASE = {"repeats": _ONE_REPEAT}
_INDEPENDENT = dict.fromkeys(("repeats", "groups"), "leave the level out, or the groups if each row stands for itself")
_EXCHANGED = dict.fromkeys(("frequency", "sampling", "estimated", "money"), "rs.compare allows for weights")

REFUSED: dict[str, dict[str, str]] = {
    **dict.fromkeys(("summary", "a table of thresholds"), _ONE_ROW_A_CASE | _CASES),
    **dict.fromkeys(("gain", "lift", "cases and depth", "pilot"), _CASES),
    **dict.fromkeys(("plan_campaign", "allocate", "profit"), _CAMPAIGN),
    "the permutation test": _ONE_ROW_A_CASE | _EXCHANGED,
    "a constraint with a level": _INDEPENDENT | _CASES,
}
"""By function, the kinds that it refuses, and the call that answers; others that ask refuse repeats only."""

KNOWS_NO_GROUPS = {"Cox calibration", "Wilcoxon–Mann–Whitney test", "the permutation test", "McNemar's test"} | {
    "a table of thresholds"
}
"""Functions that take rows of a group to be independent, and warn of it."""


def kinds_of(data: Any) -> set[str]:
    """Return the kinds of rows, of counts that were made of rows, or of a mapping of these by name.

    Examples
    --------
    >>> from rocscope import Predictions
    >>> rows = Predictions([1, 0, 1], [3, 2, 1], sample_weight=[1, 2.5, 1], groups=["x", "x", "y"])
    >>> sorted(kinds_of(rows)), sorted(kinds_of(rows.counts()))
    (['groups', 'sampling'], ['sampling'])
    """
    if isinstance(data, Mapping) and not isinstance(data, Rows | CumulativeCounts):
        return set[str]().union(*map(kinds_of, cast(Mapping[Any, Any], data).values()))
    if isinstance(data, CumulativeCounts):
        return {data.weights} - {"cases"}
    if not isinstance(data, Rows):
        return set()
    kinds = {data.weight_kind} - {"cases"}
    if data.repeated:
        kinds.add("repeats")
    if data.grouped:
        kinds.add("groups")
    return kinds


def require_kinds(function: str, *data: Any) -> None:
    """Raise if a function does not take the kind of some data; warn of groups that it does not know.

    Raises
    ------
    InputError
        With the call that answers.
    """
    kinds = set[str]().union(*map(kinds_of, data))
    for kind, answer in REFUSED.get(function, _ONE_ROW_A_CASE).items():
        if kind in kinds:
            expected, got = EXPECTED[kind]
            raise InputError(function, expected=expected, got=got, hint=answer)
    if "groups" in kinds and function in KNOWS_NO_GROUPS:
        warn(f"{function} takes rows to be independent and knows no groups: its result looks surer than it is")
