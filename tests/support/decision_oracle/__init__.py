"""A second implementation of what plans claim, as the oracle of `choose`, `plan_campaign` and `allocate`.

It shares metrics, rows and errors with the library, and nothing that chooses: no hulls, touching lines, costs of
contexts or constraints. Every threshold is recounted from sorted scores. Costs are exact fractions; randomised rules,
reviews and allocations are held against linear programs over all thresholds.
"""

from decision_oracle.actions import verify_actions
from decision_oracle.allocations import verify_allocation
from decision_oracle.campaigns import verify_campaign
from decision_oracle.claims import verify
from decision_oracle.findings import Proof


def prove(plan, data) -> Proof:
    """Check every claim of a plan of any kind against rows, or counts of them."""
    if hasattr(plan, "offers"):
        return verify_campaign(plan, data)
    if hasattr(plan, "places"):
        return verify_actions(plan, data)
    return verify_allocation(plan, data) if hasattr(plan, "max_difference") else verify(plan, data)
