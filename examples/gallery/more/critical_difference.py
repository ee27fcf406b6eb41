"""
Critical difference diagram of four learners
============================================

Mean ranks of the learners. A line connects learners whose ranks differ by less than Nemenyi's critical difference.
"""

import numpy as np

import rocscope as rs

rng = np.random.default_rng(0)
better = {"a": 0.03, "b": 0.02, "c": 0, "d": 0}
areas = {name: list(0.8 + by + 0.03 * rng.random(14)) for name, by in better.items()}
result = rs.evaluation.friedman(areas)
rs.plotting.plot_critical_difference(result)
first, second = sorted(result.mean_rank, key=result.mean_rank.get)[:2]
print(f"{first} has the best mean rank, then {second}. Friedman's test of equal learners: p = {result.p_value:.2g}.")
