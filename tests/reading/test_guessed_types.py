"""CSV whose types are guessed from the first rows gives what a look at all rows does, whatever comes late."""

import pytest

import rocscope as rs
from rocscope.engines import streaming
from rocscope.errors import RocscopeError

ROWS = ["1,0.5,3", "0,0.25,2"] * 6_000
LATE = {
    "nothing": ([], ["GuessedRelation"]),
    "quotes": (['"1","0.5","2"'], ["GuessedRelation"]),
    "a fraction among whole numbers": (["1,0.5,2.5"], ["GuessedRelation", "TextRelation"]),
    "a whole number written with a point": (["1,0.5,2.0"], ["GuessedRelation", "TextRelation"]),
    "a sign": (["1,0.5,+2"], ["GuessedRelation", "TextRelation"]),
    "spaces": (["1, 0.75, 7"], ["GuessedRelation", "TextRelation"]),
    "text": (["1,0.5,x"], ["GuessedRelation", "TextRelation"]),
    "nothing written": (["1,,2"], ["GuessedRelation", "TextRelation"]),
    "a word for nothing": (["1,NA,2"], ["GuessedRelation", "TextRelation"]),
    "empty quotes": (['"",0.5,2'], ["GuessedRelation", "TextRelation"]),
    "a huge number": (["1,12345678901234567890,2"], ["GuessedRelation", "TextRelation"]),
    "a huge whole number": (["1,0.5,12345678901234567890"], ["GuessedRelation", "TextRelation"]),
    "a whole number that floats round": (["1,9007199254740993,1"], ["GuessedRelation", "TextRelation"]),
    "infinity": (["1,inf,7"], ["GuessedRelation", "TextRelation"]),
    "a short row": (["1,0.5"], ["GuessedRelation", "TextRelation"]),
    "a third label": (["2,0.5,2"], ["GuessedRelation", "TextRelation"]),
    "a label of text": (["yes,0.5,2"], ["GuessedRelation", "TextRelation"]),
}


def told(read, path):
    """Return types and counts of models, or the error."""
    try:
        found = read(path, label="y", scores=["a", "b"])
    except RocscopeError as error:
        return type(error), str(error)
    counts = {name: found.counts(name) for name in found.models} if isinstance(found, rs.Predictions) else found
    return {name: (each.threshold.dtype, each) for name, each in counts.items()}


@pytest.mark.every(7)
@pytest.mark.parametrize("late", LATE)
def test_what_comes_late(tmp_path, monkeypatch, late):
    rows, expected = LATE[late]
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(["y,a,b", *ROWS, *rows, *ROWS[:3]]) + "\n")
    looked, count = [], streaming._count

    def spied(source, question):
        looked.append(type(source).__name__)
        return count(source, question)

    monkeypatch.setattr(streaming, "_count", spied)
    assert told(rs.read_counts, path) == told(rs.read, path)
    assert looked == expected


def test_a_column_that_begins_empty_is_not_guessed(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(["y,a,b", *["1,,2"] * 12_000, "0,0.5,1"]) + "\n")
    found = rs.read_counts(path, label="y", scores="a", missing="drop")
    assert found["a"].threshold.dtype == "float64"
    assert found["a"].n == 1


def test_a_name_that_two_columns_have_is_refused_as_ever(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("y,a,b,a\n1,1,2,3\n0,2,3,4\n")
    assert told(rs.read_counts, path) == told(rs.read, path)
    with pytest.raises(RocscopeError, match="expected one column named 'a', got 2"):
        rs.read_counts(path, label="y", scores=["a", "b"])
