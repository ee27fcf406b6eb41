"""The public names, and what importing and first using them loads."""

import inspect
import json
import os
import runpy
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import rocscope as rs
from rocscope._base.public_names import refusing
from rocscope.kernels import SMALL, compiled_pays, kernel
from rocscope.kernels.kernel import WORTH_LOADING

HEAVY = {
    "numba",
    "scipy",
    "sklearn",
    "pandas",
    "polars",
    "pyarrow",
    "narwhals",
    "duckdb",
    "matplotlib",
    "cyclopts",
    "rich",
    "jinja2",
}
ROWS = "y, s = [1, 1, 0, 1, 0] * 200, [0.9, 0.6, 0.4, 0.4, 0.2] * 200"


def loaded_by(*statements):
    """Return the top-level packages that a fresh interpreter has loaded after the statements."""
    return {name.partition(".")[0] for name in modules_after(*statements)}


def modules_after(*statements):
    """Return the modules that a fresh interpreter has loaded after the statements."""
    script = "\n".join([*statements, "import json, sys", "print(json.dumps([*sys.modules]))"])
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(json.loads(run.stdout.splitlines()[-1]))


def test_importing_loads_nothing_heavier_than_numpy():
    assert not loaded_by("import rocscope as rs", "rs.__version__, dir(rs)") & HEAVY


FIRST_CALLS = (
    "rs.auc(y, s)",
    "rs.auc(y, s, sample_weight=[1.5] * 1000)",
    "rs.roc(y, s).hull().x",
    "rs.roc(y, s).best(rs.Context(cost_fn=9))",
    "rs.choose(rs.Predictions(y, s), rs.Context(cost_fn=9))",
    "rs.roc(y, s).partial_auc(max_fpr=0.1)",
    "rs.lift_chart(y, s).area()",
    "rs.gain(y, s).at(0.1), rs.lift(y, s).at(0.1), rs.precision_recall(y, s).at(0.1), rs.det(y, s).at(0.1)",
    "rs.ThresholdCounts.from_scores(y, s).at(0.5).f_score()",
    "rs.Predictions(y, {'a': s}).counts('a')",
    "repr(rs.roc(y, s)), rs.roc(y, s).to_dict(), rs.gain(y, s)._repr_html_()",
)


def test_first_small_calls_load_nothing_heavy():
    assert not loaded_by("import rocscope as rs", ROWS, *FIRST_CALLS) & HEAVY


def test_first_small_decisions_wait_for_no_compiler():
    calls = ("rs.choose(rs.Predictions(y, s))", "rs.calibration_curve(y, s)")
    assert "numba" not in loaded_by("import rocscope as rs", ROWS, *calls)


def test_loading_modules_searches_no_answers_for_unknown_names():
    """Before Python loads a module, it asks its package for the name; the search for an answer takes 30 ms."""
    modules = ("from rocscope import kernels", "from rocscope.report import model", "rs.summary(rs.Predictions(y, s))")
    assert not {"tomllib", "rocscope.report.page"} & modules_after("import rocscope as rs", ROWS, *modules)


def test_a_summary_needs_no_optimiser():
    calls = ("rs.summary(rs.Predictions(y, {'a': s, 'b': s[::-1]}))", "rs.calibration_curve(y, s, method='pav')")
    assert not {"scipy.optimize", "scipy.fft"} & modules_after("import rocscope as rs", ROWS, *calls)


@pytest.mark.slow(reason="what starts other programs")
def test_a_report_and_means_over_groups_wait_for_no_distributions():
    grouped = "g = rs.Predictions(y * 2, s * 2, segment=[0] * len(y) + [1] * len(y)).counts(by='segment')"
    assert "scipy.stats" not in modules_after("import rocscope as rs", ROWS, grouped, "g.mean_auc()", "rs.Report(g)")


@pytest.mark.every(4)
@pytest.mark.parametrize("read", ["rs.read_counts", "rs.engines.read_sketch"])
@pytest.mark.parametrize(("rows", "needed"), [(1_000, {"pyarrow"}), (120_000, {"pyarrow", "numba", "scipy"})])
def test_plain_parquet_is_counted_without_what_it_does_not_need(tmp_path, read, rows, needed):
    """numba imports SciPy for its linear algebra, and nothing else of it is there."""
    path = tmp_path / "rows.parquet"
    score = np.arange(rows, dtype=np.float32) % 700
    pq.write_table(pa.table({"y": np.arange(rows, dtype=np.int8) % 2, "s": score}), path)
    loaded = modules_after("import rocscope as rs", f"{read}({str(path)!r}, label='y', scores=['s'])")
    assert {name.partition(".")[0] for name in loaded} & HEAVY == needed
    assert not {"scipy.optimize", "scipy.special", "scipy.stats", "pyarrow.compute"} & loaded


@pytest.mark.slow(reason="what starts other programs")
def test_large_calls_do_load_the_compiler():
    """Otherwise the tests above would show nothing."""
    rows = "range(1_000_002)"  # more than NumPy ranks, so as not to wait for the compiler
    assert "numba" in loaded_by("import rocscope as rs, numpy as np", f"rs.auc([0, 1] * 500_001, np.array({rows}))")


@pytest.mark.parametrize("name", rs.__all__)
def test_every_public_name_is_documented(name):
    public = getattr(rs, name)
    assert name in dir(rs)
    if inspect.ismodule(public):
        assert public.__doc__
    else:
        assert "Examples\n" in inspect.getdoc(public)
        assert public.__module__.startswith("rocscope.")


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match=r"^rocscope has no 'aucc'; did you mean rs\.auc\?$"):
        _ = rs.aucc
    with pytest.raises(AttributeError, match=r"^rocscope has no 'compat'; `import rocscope\.compat` first$"):
        refusing("rocscope", [])("compat")  # which is there as soon as anything has imported it


def test_numpy_does_what_it_does_sooner_than_the_compiler_loads(monkeypatch):
    monkeypatch.delitem(sys.modules, "numba", raising=False)
    monkeypatch.setattr(kernel._Tally, "numbers", 0)
    assert not compiled_pays(WORTH_LOADING) and compiled_pays(1)  # which loads it now
    monkeypatch.setattr(kernel._Tally, "numbers", 0)
    assert kernel.few(1_000_000) and not kernel.few(SMALL)
    assert kernel.few(SMALL - 1)
    monkeypatch.setattr(kernel._Tally, "numbers", 0)
    monkeypatch.setitem(sys.modules, "numba", None)
    assert compiled_pays(1) and not kernel.few(SMALL) and kernel.few(SMALL - 1)


def test_first_area_of_two_hundred_thousand_rows_waits_for_no_compiler():
    program = "import numpy, sys, rocscope as rs; y = numpy.arange(200_000) % 2; rs.auc(y, y * .5 + numpy.sin(y)); "
    subprocess.run([sys.executable, "-c", program + "assert 'numba' not in sys.modules"], check=True)


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("import os; os.environ['NUMBA_NUM_THREADS'] = '0'; ", "environment of numba: expected valid settings"),
        (
            "import numba.core.caching as c; c.CacheImpl._locator_classes = []; ",
            "set NUMBA_CACHE_DIR to a writable folder",
        ),
    ],
)
def test_a_compiler_that_cannot_start_or_keep_anything_is_said(setting, said):
    loop = "from rocscope.kernels import Kernel; import numpy; Kernel(lambda x: x + 1)(2); Kernel(lambda x: x)(2)"
    done = subprocess.run([sys.executable, "-c", setting + loop], capture_output=True, text=True, check=False)
    assert done.stderr.count(said) == 1


def test_types_travel_with_the_package():
    assert (Path(rs.__file__).parent / "py.typed").is_file()


@pytest.mark.parametrize("function", [rs.auc, rs.roc, rs.det, rs.gain, rs.lift, rs.lift_chart, rs.precision_recall])
def test_options_are_keywords(function):
    kinds = {parameter.kind for parameter in [*inspect.signature(function).parameters.values()][2:]}
    assert kinds == {inspect.Parameter.KEYWORD_ONLY}
    with pytest.raises(TypeError):
        function([1, 0], [2, 1], np.ones(2))


def test_the_list_of_public_names_is_that_of_the_stubs():
    script = Path(rs.__file__).parents[2] / ".ci/public_names.py"
    if not script.is_file():
        pytest.skip("the package is installed without the checkout")
    wanted = runpy.run_path(str(script))["lines"]()
    listed = (Path(rs.__file__).parent / "_base/public_names.txt").read_text().splitlines()
    assert listed == wanted, "run .ci/public_names.py"


CALLS = """
import rocscope as rs
assert rs.__file__.startswith({place!r}), rs.__file__
assert rs.auc([1, 0, 1], [0.9, 0.4, 0.2]) == 0.5
assert rs.calibration.brier([1, 0], [1.0, 0.0]) == 0
for call in (lambda: rs.roc_auc_score, lambda: rs.auc([1, 0], [1, 2], labels=[1])):
    try:
        call()
    except (AttributeError, TypeError) as error:
        print(error)
"""


@pytest.mark.every(2)
@pytest.mark.parametrize("kind", ["a zip", "no stubs"])
def test_packages_without_stubs_or_files_work(kind, tmp_path):
    package = Path(rs.__file__).parent
    files = [path for path in package.rglob("*") if path.suffix in (".py", ".txt", ".toml", ".typed")]
    place = tmp_path / "rocscope.zip"
    with zipfile.ZipFile(place, "w") as archive:
        for path in files:
            archive.write(path, f"rocscope/{path.relative_to(package)}")
        if kind == "no stubs":
            place = tmp_path / "site"
            archive.extractall(place)
    script = f"import sys; sys.path.insert(0, {str(place)!r})\n{CALLS.format(place=str(place))}"
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path, env=environment)
    assert run.returncode == 0, run.stderr
    # The advice comes from files of the package too.
    assert "use rs.auc" in run.stdout and "labels" in run.stdout
