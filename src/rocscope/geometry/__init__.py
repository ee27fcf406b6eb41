"""Geometry of ROC space and lift chart: hulls, tangents and thinning."""
