"""Geometry of ROC space: convex hulls, lines of equal cost, and selection of points for drawing."""
