"""Everything that is saved is read by one strict reader: it loads as it was, or is refused in one line."""

import json
import os
import resource
import signal
import warnings
from collections import Counter

import pytest

from rocscope._base.json_format import MOST_BYTES
from rocscope.errors import StoredError
from stored_cases import FILES, HEADER, ODD, SKETCH, checksum, edited, mutants, places, sealed
from strategies import in_parts

ALL = FILES | {"sketch": SKETCH}
MOST_MEMORY = 300_000  # kB beyond what the tests took before: some times the largest file


@pytest.fixture(params=FILES)
def saved(request, tmp_path):
    kind = FILES[request.param]
    return kind.save(tmp_path), kind.load, kind


def rewrite(path, content, was):
    """Write content as if it had been saved so; with the header that it has, if that is not what it was."""
    own = {name: value for name, value in content.items() if name not in HEADER}
    intact = all(name in content and content[name] == was[name] for name in HEADER)
    path.write_text(json.dumps(content | ({"checksum": checksum(own)} if intact else {})))


def test_what_is_saved_is_what_is_read(saved):
    path, load, kind = saved
    loaded = load(path)
    assert loaded.to_dict() == kind.made.to_dict()
    kind.use(loaded)


@pytest.mark.every(7)
def test_any_value_loads_or_is_refused_in_one_line(saved):
    path, load, _ = saved
    content, was = json.loads(path.read_text()), json.loads(path.read_text())
    for number, (*above, last) in enumerate(places(content)):
        if any(isinstance(key, int) and key > 1 for key in (*above, last)):
            continue  # the first two of a list stand for all
        holder = content
        for key in above:
            holder = holder[key]
        kept = holder[last]
        for odd in ODD[number % 6 :: 6]:  # by turns: mutants try the others
            holder[last] = odd
            rewrite(path, content, was)
            try:
                load(path)
            except StoredError as error:
                assert str(error).startswith(str(path))
                assert "\n" not in str(error)
        holder[last] = kept


def test_no_field_can_be_left_out_and_none_put_in(saved):
    path, load, _ = saved
    content = json.loads(path.read_text())
    for name in content:
        if name in ("next_score", "volume"):  # files of earlier versions, and monitors of labelled rows only, have none
            continue
        rewrite(path, {key: value for key, value in content.items() if key != name}, content)
        with pytest.raises(StoredError):
            load(path)
    rewrite(path, content | {"more" * 500 + "\n": 1}, content)
    with pytest.raises(StoredError) as error:
        load(path)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 500
    rewrite(path, content | {"more": 1}, content)
    with pytest.raises(StoredError, match="more: expected a known field, got an unknown field"):
        load(path)


def test_a_file_without_a_checksum_or_with_another_is_refused(saved):
    path, load, _ = saved
    content = json.loads(path.read_text())
    path.write_text(json.dumps({key: value for key, value in content.items() if key != "checksum"}))
    with pytest.raises(StoredError, match=r"expected a checksum, got no checksum; (make|allocate|call|create) "):
        load(path)
    path.write_text(json.dumps(content | {"checksum": "0" * 64}))
    with pytest.raises(StoredError, match="expected the content that was saved, got content that was changed later"):
        load(path)
    assert content["checksum"] == checksum({key: value for key, value in content.items() if key not in HEADER})


@pytest.mark.every(4)
@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        "1e999",
        '{"format": NaN}',
        "[" * 100_000,
        '{"a":' * 100_000,
        '{"a": 1, "a": 2}',
        '["\\ud800"]',
    ],
)
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
    os.mkfifo(tmp_path / "pipe")
    for strange in (tmp_path / "none.json", tmp_path, tmp_path / "pipe", "/dev/zero", "a\0b", "x" * 300):
        with pytest.raises(StoredError, match=r"cannot be read as a .* file: |expected a .* file, got "):
            load(strange)


def test_no_file_is_read_beyond_the_largest_that_is_written(tmp_path):
    path = tmp_path / "sparse.json"
    with path.open("wb") as file:
        file.truncate(MOST_BYTES + 1)
    with pytest.raises(StoredError, match=r"a file of at most 268,435,456 bytes, got a larger file"):
        FILES["decision"].load(path)


@pytest.mark.parametrize(
    ("version", "words"), [(99, "newer rocscope; update"), (0, "number"), (True, "number"), ("1", "number")]
)
def test_versions(saved, version, words):
    path, load, _ = saved
    path.write_text(json.dumps(json.loads(path.read_text()) | {"version": version}))
    with pytest.raises(StoredError, match=words):
        load(path)


def outcome(kind, data, path):
    """Load and use what a mutant holds; return whether it was refused, or what went wrong."""
    try:
        if kind.format is None:
            loaded = kind.load(data)
        else:
            path.write_bytes(data)
            loaded = kind.load(path)
    except StoredError as error:
        return "refused" if "\n" not in str(error) and len(str(error)) < 1000 else f"words {str(error)[:200]!r}"
    except Exception as error:  # noqa: BLE001 (which must not be)
        return f"loading: {type(error).__name__}: {str(error)[:200]}"
    try:
        kind.use(loaded)
    except Exception as error:  # noqa: BLE001 (which must not be)
        return f"using: {type(error).__name__}: {str(error)[:200]}"
    return "loaded"


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        ("decision with reviews", ("review", "rule", "first", "threshold"), 10**30),
        ("decision with reviews", ("model",), "x" * 3000),
        ("monitor", ("rule", "model"), "x" * 9000),
    ],
)
def test_what_searches_for_mutants_have_found(name, place, value, tmp_path):
    content = {key: each for key, each in json.loads(FILES[name].data()).items() if key not in HEADER}
    own = edited(content, place, lambda holder, key: holder.__setitem__(key, value))
    assert outcome(FILES[name], sealed(FILES[name], own), tmp_path / "mutant.json") in ("loaded", "refused")


def hang(_signal, _frame):
    raise TimeoutError("more than 10 s")


@in_parts(400, 1_000_000)
def test_mutants_load_as_something_sound_or_are_refused(tmp_path, cases, part):
    """Byte flips, cuts, swaps, nested JSON, huge numbers, with the old checksum and with one that fits."""
    found, bad = Counter(), {}
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    signal.signal(signal.SIGALRM, hang)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        for name, data in mutants(cases, part):
            signal.alarm(10)
            seen = outcome(ALL[name], data, tmp_path / "mutant.json")
            signal.alarm(0)
            found[seen if seen in ("refused", "loaded") else "wrong"] += 1
            if seen not in ("refused", "loaded"):
                bad.setdefault(f"{name}: {seen}", data)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    print(f"{cases:,} mutants: {dict(found)}, {grown:,} kB more memory at most")
    assert not bad, "\n".join(list(bad)[:40])
    assert found["refused"] and found["loaded"]
    assert grown < MOST_MEMORY
