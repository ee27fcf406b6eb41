from .cost_curves import brier_curve as brier_curve, cost_curve as cost_curve, net_benefit as net_benefit
from .curve import Curve as Curve, Curves as Curves
from .profit_curve import profit as profit
from .rate_curves import (
    auc as auc,
    det as det,
    gain as gain,
    lift as lift,
    lift_chart as lift_chart,
    precision_recall as precision_recall,
    roc as roc,
)
