"""Counts of columns that come in batches."""

from typing import Any

from rocscope.core.counted import Counted
from rocscope.engines.question import Question
from rocscope.engines.reading import read


def count(source: Any, question: Question) -> Counted:
    """Answer a question about any source that `read` takes."""
    names = ("label", "scores", "weight", "where", "segment", "pos_label", "missing", "format")
    rows = read(source, **{name: getattr(question, name) for name in names})
    if question.segment is None:
        return Counted({model: rows.counts(model) for model in rows.models}, rows.source)
    parts = {
        segment: Counted({model: part.counts(model) for model in part.models}, rows.source)
        for segment, part in rows.by_segment().items()
    }
    return Counted(parts, rows.source)
