"""Everything that is saved as JSON is read by one strict reader: it loads as it was, or is refused in one line."""

import copy
import json

import numpy as np
import pytest

import rocscope as rs
from rocscope.decisions import decision_file
from rocscope.errors import StoredError
from rocscope.multiclass.weights import class_decision

LABEL = np.arange(40) % 3 == 0
SCORE = (np.arange(40) * 7 % 11 + 3 * LABEL) / 20
PROBA = np.column_stack([1 - SCORE, SCORE])


def recalibrators():
    load = rs.calibration.load_recalibrator
    return {
        m: (rs.calibration.recalibrator(m).fit(SCORE, LABEL), load, None) for m in ("beta", "isotonic", "histogram")
    }


SAVED = {
    "decision": (rs.choose(rs.ThresholdCounts.from_scores(LABEL, SCORE)), rs.Decision.load, decision_file.FORMAT),
    "class weights": (
        rs.multiclass.class_weights(LABEL.astype(int), PROBA, classes=[0, 1], method="coordinate"),
        rs.multiclass.ClassWeights.load,
        class_decision.FORMAT,
    ),
} | recalibrators()
HEADER = ("format", "version", "checksum")
ODD = (None, True, -1, 0, 0.5, 1e30, 10**400, "", "1", [], [[1], [1, 2]], {}, {"x": 1})


@pytest.fixture(params=SAVED)
def saved(request, tmp_path):
    result, load, sealed = SAVED[request.param]
    return result.save(tmp_path / "saved.json"), load, sealed


def rewrite(path, content, sealed):
    """Write content as if it had been saved so; with the header that it has, if that was changed."""
    own = {name: value for name, value in content.items() if name not in HEADER}
    was = json.loads(path.read_text())
    intact = sealed and all(name in content and content[name] == was[name] for name in HEADER)
    path.write_text(sealed.text(own) if intact else json.dumps(content))


def places(value, path=()):
    """Return the paths of all values in parsed JSON."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place for key, each in inner for place in ((*path, key), *places(each, (*path, key)))]


def test_any_value_loads_or_is_refused_in_one_line(saved):
    path, load, sealed = saved
    content = json.loads(path.read_text())
    for *parents, last in places(content):
        for odd in ODD:
            edited = copy.deepcopy(content)
            place = edited
            for key in parents:
                place = place[key]
            place[last] = odd
            path.write_text(json.dumps(content))
            rewrite(path, edited, sealed)
            try:
                load(path)
            except StoredError as error:
                assert str(error).startswith(str(path))
                assert "\n" not in str(error)


def test_no_field_can_be_left_out(saved):
    path, load, sealed = saved
    content = json.loads(path.read_text())
    for name in content:
        path.write_text(json.dumps(content))
        rewrite(path, {key: value for key, value in content.items() if key != name}, sealed)
        with pytest.raises(StoredError):
            load(path)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "1e999", '{"format": NaN}', "[" * 100_000, '{"a":' * 100_000])
def test_what_is_nothing_of_the_kind(saved, text):
    path, load, _ = saved
    path.write_text(text)
    with pytest.raises(StoredError) as error:
        load(path)
    assert len(str(error.value)) < 500


def test_files_that_cannot_be_read(saved, tmp_path):
    path, load, _ = saved
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(StoredError, match="not UTF-8"):
        load(path)
    for strange in (tmp_path / "none.json", tmp_path):
        with pytest.raises(StoredError, match=r"expected a .* file, got "):
            load(strange)


@pytest.mark.parametrize(
    ("version", "words"), [(99, "newer rocscope; update"), (0, "number"), (True, "number"), ("1", "number")]
)
def test_versions(saved, version, words):
    path, load, _ = saved
    path.write_text(json.dumps(json.loads(path.read_text()) | {"version": version}))
    with pytest.raises(StoredError, match=words):
        load(path)
