"""
ROC curve with a confidence band
================================

A simultaneous confidence band contains the whole curve with the stated probability.
"""

import numpy as np

import rocscope as rs

rng = np.random.default_rng(1)
y = rng.random(300) < 0.3

curve = rs.roc(y, rng.normal(1.4 * y, 1))
band = rs.inference.band(curve, simultaneous=True)
curve.plot(band=band)
half_width = np.nanmean(band.high - band.low) / 2
print(f"With {y.sum()} positives, the mean half-width of the band is {half_width:.2f}.")
