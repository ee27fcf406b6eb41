"""Thumbnails of the gallery: the figures drawn again for their size, without legends, labels and small texts."""

import shutil
from pathlib import Path
from typing import Any

from matplotlib import pyplot as plt
from sphinx_gallery.scrapers import matplotlib_scraper

from rocscope.plotting import theme

INCHES, DPI = (3.2, 2.24), 125  # 400 × 280 pixels, the size of a thumbnail of sphinx-gallery
WIDER, LARGER = 1.5, 1.6  # lines and marks, compared with those of a figure of about five inches
DRAWN = ".drawn.png"


def scraper(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Save the figures of an example as sphinx-gallery does, and draw the first again as a thumbnail."""
    figures = [plt.figure(number) for number in plt.get_fignums()]
    text = matplotlib_scraper(block, block_vars, gallery_conf)
    if figures:
        simplify(figures[0])
        script = Path(block_vars["src_file"])
        folder = Path(block_vars["image_path_iterator"].paths[0]).parent / "thumb"
        folder.mkdir(exist_ok=True)
        figures[0].savefig(folder / f"sphx_glr_{script.stem}{DRAWN}", dpi=DPI)
    return text


def simplify(figure: Any) -> None:
    """Leave of a figure what is seen at the size of a thumbnail, and fill it."""
    figure.set_layout_engine("constrained")
    figure.set_size_inches(INCHES)
    for legend in [*figure.legends, *(ax.get_legend() for ax in figure.axes)]:
        if legend is not None:
            legend.remove()
    if figure._suptitle is not None:
        figure.suptitle("")
    for ax in figure.axes:
        for place in ("left", "center", "right"):
            ax.set_title("", loc=place)
        ax.set(xlabel="", ylabel="")
        ax.tick_params(labelbottom=False, labelleft=False, length=0, which="both")
        is_curve = any(line.get_gid() == theme.CURVE for line in ax.lines)
        for line in ax.lines:
            line.set(linewidth=WIDER * line.get_linewidth(), markersize=LARGER * line.get_markersize())
        for text in ax.texts:
            text.set_visible(not is_curve and not text.get_rotation())
        if is_curve:
            ax.set_box_aspect(None)


def replace_thumbnails(app: Any, *_: Any) -> None:
    """Put the thumbnails that were drawn in the place of those that sphinx-gallery has shrunk."""
    for drawn in Path(app.srcdir).glob(f"gallery/*/images/thumb/*{DRAWN}"):
        shutil.copyfile(drawn, drawn.with_name(drawn.name.replace(DRAWN, "_thumb.png")))
