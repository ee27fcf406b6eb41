"""
Confidence interval of the AUC by number of cases
=================================================

With four times as many cases, the interval is half as wide.
"""

import matplotlib.pyplot as plt
import numpy as np

import rocscope as rs

rng = np.random.default_rng(4)
sizes = [50, 100, 200, 400, 800, 1600]
y = rng.random(1600) < 0.4
score = rng.normal(1.3 * y, 1)
found = [rs.auc_interval(y[:n], score[:n]) for n in sizes]

figure, ax = plt.subplots()
ax.vlines(sizes, [each.low for each in found], [each.high for each in found], color="#0b5fad", lw=3)
ax.plot(sizes, [each.value for each in found], "o", color="#0b5fad")
ax.set(xscale="log", xlabel="cases", ylabel="AUC, 95% CI")
ax.set_xticks(sizes, [str(n) for n in sizes])
ax.minorticks_off()
ax.grid(color="#eceef1")
widths = [each.high - each.low for each in found]
print(f"From 100 to 1,600 cases, the width of the interval falls from {widths[1]:.2f} to {widths[-1]:.2f}.")
