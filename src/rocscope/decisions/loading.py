"""Read a plan of any kind from a file."""

import os

from rocscope._base.contract import contract
from rocscope._base.json_format import parse, read_bytes
from rocscope._base.public_names import reach
from rocscope.decisions.allocating import ActionAllocation
from rocscope.decisions.allocation import Allocation
from rocscope.decisions.campaign import CampaignPlan
from rocscope.decisions.decision import Decision
from rocscope.decisions.plan import Plan
from rocscope.errors import StoredError

PLANS_BY_FORMAT: dict[str, type[Decision | CampaignPlan | Allocation | ActionAllocation]] = {
    plan.file_format.name: plan for plan in (Decision, CampaignPlan, Allocation, ActionAllocation)
}

CLASS_WEIGHTS = "rocscope.class_weights"
"""File format of class weights, which are not a Plan but also have methods `predict` and `verify`."""


@contract
def load_plan(path: str | os.PathLike[str]) -> Plan:
    """Load a plan that was saved with `save`: a decision, a campaign plan, an allocation, or class weights.

    Parameters
    ----------
    path : str or path
        Path of the JSON file.

    Returns
    -------
    Decision, CampaignPlan, Allocation, ActionAllocation or ClassWeights
        The plan without its data. Methods that need the data, such as `interval`, raise an error.

    Raises
    ------
    StoredError
        If the file does not exist, has a newer format version, is incomplete, or was changed after saving.

    See Also
    --------
    choose, plan_campaign, allocate

    Examples
    --------
    >>> import tempfile
    >>> from rocscope import Context, ThresholdCounts, choose
    >>> decision = choose(ThresholdCounts([0.9, 0.6, 0.4], [2, 1, 1], [0, 1, 2]), Context())
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     load_plan(decision.save(f"{folder}/plan.json")) == decision
    True
    """
    what, hint = "a plan", "pass a file that was saved with plan.save(path)"
    content = parse(read_bytes(path, what), str(path), what, hint).content
    name = content.get("format")
    if name == CLASS_WEIGHTS:
        return reach("class_monitoring").ClassWeights.load(path)
    if str(name) not in PLANS_BY_FORMAT:
        expected = f'JSON with "format": {" | ".join([*PLANS_BY_FORMAT, CLASS_WEIGHTS])}'
        raise StoredError(str(path), expected=expected, got=f'"format": {name!r}', hint=hint)
    return PLANS_BY_FORMAT[str(name)].load(path)
