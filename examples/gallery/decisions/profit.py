"""
Profit curve of a mailing
=========================

Each letter has a cost, and each reply has a benefit. The maximum of the curve shows how many letters to send.
"""

import numpy as np

import rocscope as rs

rng = np.random.default_rng(1)
y = rng.random(4000) < 0.05

counts = rs.ThresholdCounts.from_scores(y, rng.normal(1.2 * y, 1).round(2))
campaign = rs.Campaign(population=100_000, unit_cost=1, unit_benefit=12, fixed_cost=2000)
curve = rs.profit(counts, campaign)
curve.plot()
plan = rs.plan_campaign(counts, campaign)
print(f"Send letters to the {plan.best.best.depth:.0%} of customers with the highest scores.")
