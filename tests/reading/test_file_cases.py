"""Python treats the files of the table that it shares with the open page as the table says."""

import warnings

import pytest

import rocscope as rs
from file_cases import CLASSES, FILES
from rocscope.engines.description import _likely_positive
from rocscope.errors import RocscopeError, RocscopeWarning, collected_warnings


@pytest.mark.usefixtures("one_database")
@pytest.mark.every(4)
@pytest.mark.parametrize("read", [rs.read_counts, rs.read])
@pytest.mark.parametrize("name", FILES)
def test_a_file_is_counted_or_refused_as_the_table_says(tmp_path, name, read):
    case = FILES[name]
    path = case.write(tmp_path)
    with collected_warnings():
        if (refused := case.facts.get("refused")) is not None:
            with pytest.raises(RocscopeError) as error:
                read(path, **case.asked)
            assert refused in str(error.value)
            return
        found = read(path, **case.asked)
    counts = found["p"] if read is rs.read_counts else found.counts()
    own = {name: getattr(counts, name).tolist() for name in ("threshold", "tp", "fp")}
    assert own == case.facts["counts"]


def test_an_encoding_that_was_guessed_is_said(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes("y,p,größe\n1,0.5,1\n0,0.25,2\n".encode("cp1252"))
    with pytest.warns(RocscopeWarning, match="a.csv: the text is not UTF-8 and is read as Windows-1252"):
        rs.read(path, label="y", scores="p")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rs.read(path, label="y", scores="p", encoding="cp1252")


@pytest.mark.parametrize(("classes", "positive"), CLASSES)
def test_the_positive_class_is_guessed_by_its_word_or_asked(classes, positive):
    assert _likely_positive(classes) == positive
