"""What columns are guessed to be for: cases, and the open page's `guess.ts`, whose twin the rule is."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from rocscope.engines.description import MOST_SCORES, Guess, describe, guess, uses_of
from rocscope.engines.formats import FileLayout
from rocscope.errors import ColumnError, InputError

CLIENT = Path(__file__).parents[2] / "client"
TWIN = CLIENT / "src" / "open" / "guess.ts"
N = range(30)
COLUMNS = {
    "y": [i % 3 == 0 for i in N],
    "class": ["yes" if i % 3 else "no" for i in N],
    "flag": [i % 2 for i in N],
    "kind": ["abc"[i % 3] for i in N],
    "customer_id": [1000 + i for i in N],
    "row nr": [*N],
    "score": [i / 30 for i in N],
    "logit": [i / 10 - 1.5 for i in N],
    "points": [i % 7 for i in N],
    "weight": [1 + i % 4 for i in N],
    "w": [i - 5.5 for i in N],
    "fold": [i % 5 for i in N],
    "region": ["north" if i % 2 else "south" for i in N],
    "age": [20 + i % 9 for i in N],
    "constant": [1] * 30,
    "text": [f"t{i}" for i in N],
}


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        (("y", "score"), Guess("y", ["score"], None, None)),
        (("customer_id", "class", "score", "logit", "points"), Guess("class", ["score"], None, "yes")),
        (("flag", "logit", "points", "age"), Guess("flag", ["logit"], None, None)),
        (("region", "flag", "points", "weight"), Guess("flag", ["points"], "weight", None)),
        (("region", "score", "w"), Guess("region", ["score"], None, "south")),
        (("text", "row nr", "fold", "score", "constant", "y"), Guess("y", ["score"], None, None)),
    ],
)
def test_columns_by_name_and_content(columns, expected):
    assert guess({name: COLUMNS[name] for name in columns}) == expected


def test_several_classes_are_guessed_if_columns_of_shares_are_named_after_them():
    probabilities = {f"p_{name}": COLUMNS["score"] for name in "abc"}
    rows = {"region": COLUMNS["region"], "kind": COLUMNS["kind"], "weight": COLUMNS["weight"]} | probabilities
    assert guess(rows) == Guess("kind", [], "weight", None, None, "p_*")
    # A class that the first rows lack may have a column; what is no share may not be matched.
    assert guess(rows | {"p_other": COLUMNS["score"]}).proba == "p_*"
    assert guess(rows | {"p_value": COLUMNS["points"]}).proba is None
    assert guess({name: rows[name] for name in rows if name != "p_b"}).proba is None
    assert guess(rows, label="region").scores == ["p_a", "p_b", "p_c"]
    numbers = {"digit": COLUMNS["fold"]} | {f"P({i}).x": COLUMNS["score"] for i in range(5)}
    assert guess(numbers) == Guess("digit", [], None, None, None, "P(*).x")
    # Columns that are named as the classes alone have no pattern.
    assert (
        guess({"y": COLUMNS["kind"], "a": COLUMNS["score"], "b": COLUMNS["score"], "c": COLUMNS["score"]}).proba is None
    )


def test_what_is_known_stays():
    rows = {name: COLUMNS[name] for name in ("y", "flag", "score", "logit", "weight")}
    assert guess(rows, label="flag", scores=["logit"]) == Guess("flag", ["logit"], "weight", None)
    assert guess(rows, label="flag").scores == ["score"]
    assert guess(rows, weight="flag").label == "y"


@pytest.mark.parametrize(
    ("columns", "missing"), [(("score", "points"), "--label"), (("y", "region"), "--score"), (("text",), "--label")]
)
def test_what_cannot_be_guessed_is_asked_for(columns, missing):
    with pytest.raises(ColumnError, match=missing):
        guess({name: COLUMNS[name] for name in columns})


def test_the_first_rows_of_a_file_do(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("y;p\n" + "".join(f"{i % 2};0,{i % 90 + 10}\n" for i in range(200)))
    found = guess(path, FileLayout(decimal=","))
    assert found == Guess("y", ["p"], None, None, ",")
    assert guess(path) == found  # with a point nothing is a score


def test_a_decimal_comma_is_only_tried_where_it_may_be_one(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("y;p\n" + "".join(f"{i % 2};name {i}\n" for i in range(200)))
    for decimal in (None, "."):
        with pytest.raises(ColumnError, match="--score"):
            guess(path, FileLayout(decimal=decimal))


@pytest.mark.parametrize("values", [("2,687", "4,561"), ("-2,687", "12"), ("1,000", "NA", "999,999")])
def test_commas_that_may_stand_between_thousands_are_not_taken_for_decimal_marks(tmp_path, values):
    path = tmp_path / "rows.csv"
    rows = [f"{i % 2};{value}\n" for i, value in enumerate(values * 3)] + ["0;17\n"]
    path.write_text("y;p\n" + "".join(rows))
    whole, decimal = values[0].replace(",", ""), values[0].replace(",", ".")
    words = rf"{whole} or {decimal}; for {whole} pass thousands=','.*; for {decimal} pass decimal=','"
    with pytest.raises(InputError, match=words):
        guess(path, label="y")
    assert guess(path, FileLayout(thousands=","), label="y").scores == ["p"]
    assert guess(path, FileLayout(decimal=","), label="y").scores == ["p"]


@pytest.mark.parametrize("value", ["0,687", "1,5", "1000,250", "12,3456"])
def test_one_value_that_has_one_reading_settles_the_decimal_comma(tmp_path, value):
    path = tmp_path / "rows.csv"
    path.write_text(f"y;p\n1;2,687\n0;4,561\n1;{value}\n0;1,111\n")
    assert guess(path) == Guess("y", ["p"], None, None, ",")


@pytest.fixture(scope="module")
def twin(tmp_path_factory):
    """What the open page makes of facts of columns."""
    esbuild = CLIENT / "node_modules" / ".bin" / "esbuild"
    if not (esbuild.exists() and shutil.which("node")):
        pytest.skip("the client is not installed (npm ci in client/)")
    made = tmp_path_factory.mktemp("twin") / "guess.mjs"
    subprocess.run([esbuild, TWIN, "--bundle", "--format=esm", f"--outfile={made}"], check=True, capture_output=True)
    script = (
        f"import {{ guess }} from '{made.as_uri()}';"
        "const looks = JSON.parse(await new Response(process.stdin).text());"
        "console.log(JSON.stringify(looks.map((look) => Object.fromEntries(guess(look)))));"
    )

    def of(looks):
        command = ["node", "--input-type=module", "-e", script]
        done = subprocess.run(command, input=json.dumps(looks), capture_output=True, text=True, check=True)
        return json.loads(done.stdout)

    return of


def glance(column):
    """Facts of a column as the open page has them."""
    values = None if column.classes is None else sorted(column.classes.items(), key=lambda each: -each[1])
    return {
        "name": column.name,
        "range": None if column.minimum is None else [float(column.minimum), float(column.maximum)],
        "whole": isinstance(column.minimum, int) and not isinstance(column.minimum, bool),
        "values": values and [[str(value), rows] for value, rows in values],
        "distinct": column.distinct if column.distinct is not None else 21,
        "missing": column.missing,
    }


def test_of_a_hundred_attributes_none_is_taken_for_a_score():
    rows = {"y": COLUMNS["y"]} | {f"x{i}": COLUMNS["score"] for i in range(MOST_SCORES)}
    assert len(guess(rows).scores) == MOST_SCORES
    with pytest.raises(ColumnError, match="--score"):
        guess(rows | {"one more": COLUMNS["score"]})


def test_the_open_page_guesses_the_same(twin):
    cases = [["y", *[f"x{i}" for i in range(MOST_SCORES + more)]] for more in (0, 1)]

    @given(st.lists(st.sampled_from(sorted(COLUMNS)), min_size=1, max_size=8, unique=True))
    def collect(names):
        cases.append(names)

    collect()
    facts = [describe({name: COLUMNS.get(name, COLUMNS["score"]) for name in names}).columns for names in cases]
    theirs = twin([{"columns": [*map(glance, columns)], "rows": len(N)} for columns in facts])
    assert theirs == [uses_of(columns, len(N)) for columns in facts]
