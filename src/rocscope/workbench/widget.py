"""Widget: the workbench page in a notebook, with settings that can be read and set from Python.

The widget shows the page of the server in a frame. The trait `_view` contains the settings: model, threshold, costs and
condition. The page and Python can change them. Requests of the page arrive as messages and get the same answers as from
the server.
"""

import json
import math
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import replace
from typing import Any

import rocscope as rs
from rocscope.decisions.decision import at_threshold
from rocscope.errors import InputError, MissingDependencyError, RocscopeError
from rocscope.report.page import as_json, client, packed_context
from rocscope.workbench.answers import ASIDE, WORDS, answer, context_of, facts, live_page
from rocscope.workbench.session import CancelToken, RequestQueue, RowSelection, Session, SupersededError

try:
    import anywidget
    import traitlets
except ModuleNotFoundError as error:
    _hint = "run pip install 'rocscope[notebook]'"
    raise MissingDependencyError(f"the widget: {error.name} is not installed", hint=_hint) from None


class Widget(anywidget.AnyWidget):
    """The workbench page in a notebook, returned by `rocscope.explore`.

    Attributes
    ----------
    context : Context
        Costs and prevalence on the page.
    threshold : float or None
        Threshold that is set on the page. None means the threshold with the lowest cost. −inf predicts everybody
        positive, inf predicts nobody positive.
    model : str or None
        Model that is selected on the page. None means the model with the lowest cost.
    where : str
        SQL condition on the rows.

    Notes
    -----
    If you set an attribute, the page is updated. `decision` is the result of `rocscope.choose` for the displayed
    counts. You can also set it to a saved decision.
    """

    _esm = traitlets.Unicode("").tag(sync=True)
    _page = traitlets.Unicode("").tag(sync=True)
    _view = traitlets.Dict().tag(sync=True)

    def __init__(self, session: Session) -> None:
        self._session = session
        self._queue = RequestQueue()
        page = live_page(facts(session, None, CancelToken()), widget=True)
        view = {"model": None, "threshold": None, "context": _costs(session.context), "where": ""}
        super().__init__(_esm=client("widget.js"), _page=page, _view=view)
        self.on_msg(self._asked)

    @property
    def context(self) -> rs.Context:
        """Costs and prevalence on the page."""
        return context_of(self._view["context"])

    @context.setter
    def context(self, context: rs.Context) -> None:
        self._set(context=_costs(rs.Context.given(context)))

    @property
    def threshold(self) -> float | None:
        """Threshold that is set on the page. None means the threshold with the lowest cost."""
        threshold = self._view["threshold"]
        return WORDS.get(threshold, threshold)

    @threshold.setter
    def threshold(self, threshold: float | None) -> None:
        if threshold is None:
            self._set(threshold=None)
            return
        if isinstance(threshold, bool) or not isinstance(threshold, int | float) or math.isnan(threshold):
            expected = "a number, or None for the best threshold"
            raise InputError("threshold", expected=expected, got=repr(threshold))
        words = {value: word for word, value in WORDS.items()}
        model = self.model or self.decision.model
        self._set(threshold=words.get(threshold, threshold), model=model)

    @property
    def model(self) -> str | None:
        """Model that is selected on the page. None means the model with the lowest cost."""
        return self._view["model"]

    @model.setter
    def model(self, model: str | None) -> None:
        if model is not None:
            names = list(self._counts())
            if model not in names:
                raise InputError("model", expected=f"one of {names}", got=repr(model))
        self._set(model=model)

    @property
    def where(self) -> str:
        """SQL condition on the rows."""
        return self._view["where"]

    @where.setter
    def where(self, where: str | None) -> None:
        self._session.counts(RowSelection(where or None), CancelToken())
        self._set(where=where or "")

    @property
    def decision(self) -> rs.Decision:
        """Decision that the page shows. It equals the result of `rocscope.choose` for the same rows."""
        counts = self._counts()
        models = counts if self.model is None else {self.model: counts[self.model]}
        best = rs.choose(models, self.context)
        if self.model is not None:
            best = replace(best, hull_cost=rs.choose(counts, self.context).expected_cost)
        if self.threshold is None:
            return best
        return at_threshold(best, counts[best.model], self.threshold, "chosen by hand")

    @decision.setter
    def decision(self, decision: rs.Decision) -> None:
        names = list(self._counts())
        if decision.model not in names:
            got = f"a decision for model {decision.model!r}"
            raise InputError("decision", expected=f"a decision for one of the models {names}", got=got)
        self._set(context=_costs(decision.context), model=decision.model)
        self.threshold = decision.threshold

    def _repr_mimebundle_(self, **options: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """Add the decision and a ROC curve to the output. They are shown if the kernel is not running."""
        bundle = super()._repr_mimebundle_(**options)
        if bundle is None:
            return None
        content, metadata = bundle
        try:
            from matplotlib.figure import Figure

            from rocscope.plotting import theme
        except ModuleNotFoundError:
            return {**content, "text/html": self.decision._repr_html_()}, metadata
        figure = Figure(figsize=(6, 4.5), layout="constrained")
        rs.plotting.plot_roc(self._counts(), context=self.context, ax=figure.subplots())
        return {**content, "text/html": self.decision._repr_html_() + theme.svg(figure)}, metadata

    def close(self) -> None:
        """Stop all computations, and close the page."""
        self._queue.close()
        super().close()

    def _counts(self) -> dict[str, Any]:
        return self._session.counts(RowSelection(self.where or None), CancelToken())

    def _set(self, **changed: Any) -> None:
        self._view = self._view | changed

    def _asked(self, _widget: Any, content: Any, _buffers: Any) -> None:
        """Answer a request of the page with the same code as the server."""
        number = content.get("id")
        question = content.get("question")
        if not isinstance(question, Mapping):
            return
        fields: dict[str, Any] = {str(name): value for name, value in question.items()}

        def job(token: CancelToken) -> Any:
            return json.loads(as_json(answer(self._session, fields, token)))

        def done(future: "Future[Any]") -> None:
            if future.cancelled():
                return
            error = future.exception()
            if error is None:
                self.send({"id": number, "answer": future.result()})
            elif isinstance(error, SupersededError | RocscopeError | MemoryError):
                self.send({"id": number, "error": str(error) or "replaced by a newer request"})
            else:
                self.send({"id": number, "error": f"internal error: {type(error).__name__}: {error}"})

        lane = str(fields.get("lane") or "")
        self._queue.begin(job, lane=lane, aside=fields.get("what") in ASIDE).add_done_callback(done)


def _costs(context: rs.Context) -> dict[str, Any]:
    if context.columns:
        raise InputError(
            "context", expected="costs that are numbers (the page has no costs per row)", got=repr(context)
        )
    return packed_context(context)
