"""The data sets against what is published about them, and against the published files where these are."""

import csv
import itertools
import re
import subprocess
import sys
from collections import Counter
from fnmatch import fnmatch
from pathlib import Path

import numpy as np
import pytest

from rocscope import datasets
from rocscope.datasets.tables import _LANDING_RULES
from rocscope.errors import InputError, MissingDependencyError

FILES = Path(__file__).parents[2].parent / "shared" / "data"
needs_files = pytest.mark.skipif(
    not FILES.is_dir(), reason="the published files are not beside this repository; nothing to compare with"
)

# From the documentation of each set in the UCI repository, except where another source is named.
CLASS_COUNTS = {
    "car": {"unacc": 1210, "acc": 384, "good": 69, "vgood": 65},
    "monks-1": {0: 62 + 216, 1: 62 + 216},
    "monks-2": {0: 105 + 290, 1: 64 + 142},
    "monks-3": {0: 62 + 204, 1: 60 + 228},
    "nursery": {"not_recom": 4320, "recommend": 2, "very_recom": 328, "priority": 4266, "spec_prior": 4044},
    "shuttle-landing-control": {1: 108, 2: 145},  # the rules counted out; UCI states the 253 situations
    "tic_tac_toe": {"p": 626, "n": 332},
    "titanic": {"yes": 711, "no": 1490},  # Dawson (1995)
    "wdbc": {"M": 212, "B": 357},
}
POSITIVE = {
    "car": None,
    "monks-1": 1,
    "monks-2": 1,
    "monks-3": 1,
    "nursery": None,
    "shuttle-landing-control": 2,
    "tic_tac_toe": "p",
    "titanic": "yes",
    "wdbc": "M",
}
# How NumPy abbreviates the types: U for strings, i for integers, f for floats.
ATTRIBUTE_KIND = dict.fromkeys(CLASS_COUNTS, "U") | {
    "monks-1": "i",
    "monks-2": "i",
    "monks-3": "i",
    "shuttle-landing-control": "i",
    "wdbc": "f",
}
CLASS_KIND = ATTRIBUTE_KIND | {"wdbc": "U"}

every_set = pytest.mark.parametrize("name", CLASS_COUNTS)


def rows_of(dataset):
    """Rows as tuples, the class last."""
    columns = [*dataset.X.values(), dataset.y]
    return list(zip(*(column.tolist() for column in columns), strict=True))


def published(name):
    """Header and rows of the published file, of the types that the data set promises."""
    read = {"U": str, "i": int, "f": float}
    attribute, label = read[ATTRIBUTE_KIND[name]], read[CLASS_KIND[name]]
    with (FILES / f"{name}.csv").open(newline="") as file:
        header, *rows = csv.reader(file)
    return header, [(*map(attribute, row[:-1]), label(row[-1])) for row in rows]


def test_names_are_sorted_and_complete():
    assert datasets.names() == sorted(CLASS_COUNTS)


@every_set
def test_class_counts_are_the_published_ones(name):
    dataset = datasets.load(name)
    assert dataset.name == name
    assert Counter(dataset.y.tolist()) == CLASS_COUNTS[name]
    assert dataset.n == sum(CLASS_COUNTS[name].values())


@every_set
def test_columns_are_plain_arrays_of_the_stated_type(name):
    dataset = datasets.load(name)
    assert {column.shape for column in dataset.X.values()} == {dataset.y.shape} == {(dataset.n,)}
    assert {column.dtype.kind for column in dataset.X.values()} == {ATTRIBUTE_KIND[name]}
    assert dataset.y.dtype.kind == CLASS_KIND[name]


@every_set
def test_positive_is_a_class_unless_there_are_more_than_two(name):
    dataset = datasets.load(name)
    assert dataset.positive == POSITIVE[name]
    assert (dataset.positive in dataset.y.tolist()) == (len(CLASS_COUNTS[name]) == 2)


@every_set
def test_arrays_are_read_only_and_not_shared(name):
    first, second = datasets.load(name), datasets.load(name)
    for ours, other in zip([*first.X.values(), first.y], [*second.X.values(), second.y], strict=True):
        assert not np.shares_memory(ours, other)
        with pytest.raises(ValueError, match="read-only"):
            ours[0] = ours[1]


@every_set
def test_description_says_what_the_class_is_and_source_when_it_was_published(name):
    dataset = datasets.load(name)
    assert "; class: " in dataset.description
    assert re.search(r"\b19\d\d\b", dataset.source)


@every_set
def test_repr_is_one_line_of_facts(name):
    text = repr(datasets.load(name))
    assert "\n" not in text
    assert text.startswith(f"Dataset({name!r}, n={sum(CLASS_COUNTS[name].values())}, ")


@needs_files
@every_set
def test_rows_are_those_of_the_published_file(name):
    dataset = datasets.load(name)
    header, rows = published(name)
    assert [*dataset.X, dataset.target] == header
    assert Counter(rows_of(dataset)) == Counter(rows)
    assert rows_of(dataset) == rows  # in the same order, too


@needs_files
def test_default_positive_classes_are_those_of_the_manifest():
    with (FILES / "MANIFEST.csv").open(newline="") as file:
        listed = {row["name"]: (row["target"], row["positive_class"]) for row in csv.DictReader(file)}
    for name in datasets.names():
        dataset = datasets.load(name)
        assert (dataset.target, "" if dataset.positive is None else str(dataset.positive)) == listed[name]


def winners(board):
    """Players with a line; in a magic square the lines are exactly the three cells that sum to 15."""
    magic = (2, 7, 6, 9, 5, 1, 4, 3, 8)
    cells = {player: [magic[place] for place in range(9) if board[place] == player] for player in "xo"}
    return {player for player in "xo" if 15 in map(sum, itertools.combinations(cells[player], 3))}


def test_tic_tac_toe_boards_end_a_game_that_x_began():
    ends = Counter()
    for *board, label in rows_of(datasets.load("tic_tac_toe")):
        x_moves, o_moves, won = board.count("x"), board.count("o"), winners(board)
        assert (label == "p") == (won == {"x"})
        if won == {"x"}:
            assert 3 <= x_moves == o_moves + 1
        elif won == {"o"}:
            assert 3 <= o_moves == x_moves
        else:
            assert (won, x_moves, o_moves) == (set(), 5, 4)
        ends["".join(won)] += 1
    # Known from counting out the game: so many distinct boards end it each way.
    assert ends == {"x": 626, "o": 316, "": 16}


MONKS_RULES = {
    1: lambda a, b, c, d, e, f: a == b or e == 1,
    2: lambda *robot: robot.count(1) == 2,
    3: lambda a, b, c, d, e, f: (e == 3 and d == 1) or (e != 4 and b != 3),
}


@pytest.mark.parametrize(
    ("problem", "training_classes", "mislabelled"),
    [(1, {0: 62, 1: 62}, 0), (2, {0: 105, 1: 64}, 0), (3, {0: 62, 1: 60}, 6)],
)
def test_monks_rows_follow_the_rule_save_for_the_noise_of_problem_3(problem, training_classes, mislabelled):
    rows = rows_of(datasets.load(f"monks-{problem}"))
    training, test = rows[:-432], rows[-432:]
    holds = MONKS_RULES[problem]
    assert Counter(label for *_, label in training) == training_classes
    assert len({row[:-1] for row in training}) == len(training)
    assert len({row[:-1] for row in test}) == 432
    assert sum(holds(*robot) != label for *robot, label in training) == mislabelled
    assert all(holds(*robot) == label for *robot, label in test)


def test_shuttle_rules_decide_all_situations_but_three_and_never_contradict():
    decided = {row[:-1]: row[-1] for row in rows_of(datasets.load("shuttle-landing-control"))}
    undecided = 0
    for situation in itertools.product(*(range(1, size + 1) for size in (2, 4, 2, 2, 4, 2))):
        digits = "".join(map(str, situation))
        advice = {int(rule[0]) for rule in _LANDING_RULES.split() if fnmatch(digits, rule[1:].replace("*", "?"))}
        assert advice == ({decided[situation]} if situation in decided else set())
        undecided += not advice
    assert undecided == 3


@pytest.mark.parametrize(
    ("name", "shape", "order"),
    [
        ("car", (4, 4, 4, 3, 3, 3), ("unacc", "acc", "good", "vgood")),
        (
            "nursery",
            (3, 5, 4, 4, 3, 2, 3, 3),
            ("recommend", "very_recom", "priority", "spec_prior", "not_recom"),
        ),
    ],
)
def test_hierarchies_are_full_grids_monotone_in_their_attributes(name, shape, order):
    dataset = datasets.load(name)
    assert len(set(zip(*dataset.X.values(), strict=True))) == dataset.n == np.prod(shape)
    # Both models order the values of each attribute; moving along that order never turns the class back ...
    rank = np.array([order.index(label) for label in dataset.y.tolist()]).reshape(shape)
    turned_back = {attribute: np.argwhere(np.diff(rank, axis=axis) < 0) for axis, attribute in enumerate(dataset.X)}
    # ... save that more than four persons are worse off than four in a car of two doors and a small boot.
    crowded = turned_back.pop("persons", np.empty((0, len(shape))))
    assert (name == "car") == (len(crowded) > 0)
    assert {(doors, step, boot) for _, _, doors, step, boot, *_ in crowded} <= {(0, 1, 0)}
    assert all(len(places) == 0 for places in turned_back.values())


def test_titanic_marginal_counts_are_those_of_dawson():
    titanic = datasets.load("titanic")
    assert Counter(titanic.X["status"].tolist()) == {"first": 325, "second": 285, "third": 706, "crew": 885}
    assert Counter(titanic.X["age"].tolist()) == {"adult": 2092, "child": 109}
    assert Counter(titanic.X["sex"].tolist()) == {"male": 1731, "female": 470}
    survivors = titanic.X["status"][titanic.y == "yes"]
    assert Counter(survivors.tolist()) == {"first": 203, "second": 118, "third": 178, "crew": 212}


def test_wdbc_columns_carry_the_right_names():
    wdbc = datasets.load("wdbc")
    measures = list(wdbc.X)[:10]
    assert list(wdbc.X) == [prefix + measure for prefix in ("", "se_", "worst_") for measure in measures]
    for measure in measures:
        mean, error, worst = (wdbc.X[prefix + measure] for prefix in ("", "se_", "worst_"))
        assert np.all(worst >= mean)
        assert np.median(error) < np.median(mean) < np.median(worst)
    malignant = wdbc.y == "M"
    assert wdbc.X["radius"][malignant].mean() > wdbc.X["radius"][~malignant].mean()


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("tic-tac-toe", "tic_tac_toe"),
        ("Titanic", "titanic"),
        ("monks", "monks-"),
        ("shuttle", "shuttle-landing-control"),
    ],
)
def test_unknown_name_is_answered_with_the_closest_and_the_list(name, meant):
    with pytest.raises(InputError) as raised:
        datasets.load(name)
    known = ", ".join(datasets.names())
    assert str(raised.value).startswith(f"name: expected one of {known}, got {name!r}; did you mean '{meant}")


@pytest.mark.parametrize("name", ["", "zzz", 3])
def test_name_unlike_any_is_answered_with_the_list_alone(name):
    with pytest.raises(InputError) as raised:
        datasets.load(name)
    assert str(raised.value) == f"name: expected one of {', '.join(datasets.names())}, got {name!r}"


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
@every_set
def test_to_frame_holds_the_same_columns(name, backend):
    dataset = datasets.load(name)
    library = pytest.importorskip(backend)
    frame = dataset.to_frame(backend)
    assert isinstance(frame, library.Table if backend == "pyarrow" else library.DataFrame)
    expected = dataset.X | {dataset.target: dataset.y}
    assert list(frame.column_names if backend == "pyarrow" else frame.columns) == list(expected)
    for column, values in expected.items():
        assert list(frame[column].to_numpy()) == values.tolist()


def test_to_frame_is_pandas_by_default():
    pandas = pytest.importorskip("pandas")
    assert isinstance(datasets.load("titanic").to_frame(), pandas.DataFrame)


@pytest.mark.parametrize("backend", ["pandas", "polars"])
def test_missing_backend_names_the_extra(backend, monkeypatch):
    monkeypatch.setitem(sys.modules, backend, None)
    with pytest.raises(MissingDependencyError, match=rf"{backend} to be installed; .*rocscope\[{backend}\]"):
        datasets.load("titanic").to_frame(backend)


def test_unknown_backend_is_answered_with_the_list():
    with pytest.raises(InputError, match="backend: expected one of 'pandas', 'polars', 'pyarrow', got 'excel'"):
        datasets.load("titanic").to_frame("excel")


def test_importing_datasets_loads_nothing_heavier_than_numpy():
    code = (
        "import sys, numpy; before = set(sys.modules); import rocscope.datasets;"
        "print(*{module.partition('.')[0] for module in set(sys.modules) - before} - sys.stdlib_module_names)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) - {"numpy"} == {"rocscope", "lazy_loader"}
