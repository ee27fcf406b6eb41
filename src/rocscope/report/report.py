"""Report: predictions in, one interactive HTML file out."""

import os
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any

from rocscope._output import write_file
from rocscope.core.context import Context
from rocscope.decisions.lots.reviewing import Review
from rocscope.errors import InputError
from rocscope.multiclass.predictions import MulticlassPredictions
from rocscope.report.html import render
from rocscope.report.model import ReportData, report_data
from rocscope.report.multiclass import MulticlassData, multiclass_report
from rocscope.sample import Models


class Report:
    """ROC, lift, profit and calibration of several models in one offline file, tied to one choice of costs.

    Parameters
    ----------
    predictions : data of one or several models, GroupedCounts, or MulticlassPredictions
        In any form; see `rocscope.sample`. Of GroupedCounts, or a mapping of them by model, all rows together are shown
        and the groups as segments, however many there are. Of more than two classes the reader picks the one that is
        positive, against all others.
    context : Context, optional
        Prevalence and costs; the sample's prevalence and equal costs by default. Costs only, with more than two
        classes: each has a prevalence of its own.
    title, notes : str
        Plain text.
    review : Review, optional
        A closer look, for a price, as a third action beside acting and leaving; the report says whom to look at. Its
        capacity is of as many cases as there are rows. Two classes only.

    Raises
    ------
    OneClassError
        If the rows hold one class only.
    InputError
        If rows have more than 1,000 segments; of more than 40 the largest are shown apart, the others as one.

    Examples
    --------
    >>> from rocscope import Predictions
    >>> report = Report(Predictions([1, 1, 0, 1, 0], [0.9, 0.6, 0.4, 0.4, 0.2]), title="five rows")
    >>> report.data.decision.threshold
    0.6
    """

    def __init__(
        self,
        predictions: Models | MulticlassPredictions,
        *,
        context: Context | None = None,
        title: str = "",
        notes: str = "",
        review: Review | None = None,
    ) -> None:
        self.data: ReportData | MulticlassData
        if isinstance(predictions, MulticlassPredictions):
            if review is not None:
                raise InputError("review", expected="none with more than two classes", got="one")
            self.data = multiclass_report(predictions, context=context, title=title, notes=notes)
        else:
            self.data = report_data(predictions, context=context, title=title, notes=notes, review=review)

    @cached_property
    def html(self) -> str:
        """The whole page."""
        return render(self.data)

    def save(self, path: str | os.PathLike[str], *, force: bool = True) -> Path:
        """Write the page, whole or not at all, and return its path.

        Raises
        ------
        InputError
            If the file exists and `force` is False, or cannot be written.
        """
        return write_file(path, self.html, force=force)

    def to_dict(self) -> dict[str, Any]:
        """Return the data of the report, safe for JSON."""
        return self.data.to_dict()

    def __repr__(self) -> str:
        return f"Report({self.data.title!r}, models={[model.name for model in self.data.models]})"

    def _repr_html_(self) -> str:
        frame = 'style="width:100%;height:60em;border:0" sandbox="allow-scripts allow-downloads"'
        return f'<iframe {frame} title="{escape(self.data.title)}" srcdoc="{escape(self.html)}"></iframe>'
