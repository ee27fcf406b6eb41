"""Static figures with matplotlib; nothing is computed here."""

from typing import Any

from rocscope.core.curve import Curve


def plot_curve(curve: Curve, ax: Any = None, **line: Any) -> Any:
    """Draw a curve on `ax`."""
    if ax is None:
        from matplotlib import pyplot as plt

        ax = plt.figure().add_subplot()
    ax.plot(curve.x, curve.y, **line)
    return ax
