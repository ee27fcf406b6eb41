from .allocating import ActionAllocation as ActionAllocation, allocate as allocate
from .allocation import Allocation as Allocation
from .campaign import plan_campaign as plan_campaign
from .choosing import choose as choose
from .constraints import Constraint as Constraint
from .decision import Decision as Decision
from .loading import load_plan as load_plan
from .model_hull import (
    Beta as Beta,
    LogNormal as LogNormal,
    UncertainContext as UncertainContext,
    Uniform as Uniform,
    h_measure as h_measure,
    hull as hull,
)
from .monitoring import Alarm as Alarm, Monitor as Monitor, monitor as monitor
from .plan import Plan as Plan
from .prior_shift import (
    correct_probabilities as correct_probabilities,
    estimate_prevalence as estimate_prevalence,
    partial_lift_chart as partial_lift_chart,
    reweight as reweight,
)
from .randomized import HullVertex as HullVertex, Review as Review, mixture as mixture
from .sampling_model import act_by_row as act_by_row, compare_row_rule as compare_row_rule, in_money as in_money
