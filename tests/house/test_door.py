"""One door: every public function takes data in every form alike, or refuses it in one wording."""

import inspect
import re
import warnings
from contextlib import contextmanager
from types import ModuleType

import numpy as np
import pytest
from matplotlib import pyplot

import rocscope as rs
from door_cases import (
    BESIDE_LABELS,
    BESIDE_OTHER_DATA,
    BOTH,
    COUNTED,
    COUNTS,
    CRISP,
    IN_COLUMNS,
    MATRIX,
    MULTI,
    NONSENSE,
    OF_A_POINT,
    OF_COUNTED_DATA,
    OF_ONE_MODEL,
    OF_ONE_OR_SEVERAL,
    OF_RESULTS_OR_ROWS,
    OF_ROWS,
    OF_SEVERAL_CLASSES,
    OF_SEVERAL_MODELS,
    OPEN,
    POINT,
    REFUSED,
    SAME,
    TABLES,
    WITHOUT_DATA,
    WITHOUT_FUNCTIONS_OF_DATA,
    A,
    B,
    N,
    Y,
    assert_alike,
    of_arguments,
    of_columns,
    outcome,
    sketch,
)
from rocscope.errors import ColumnError, InexactCountsError, InputError, RocscopeError, RocscopeWarning, ShapeError
from rocscope.multiclass import ConfusionMatrix
from rocscope.ranges import BinnedCounts

pytestmark = pytest.mark.filterwarnings("ignore::rocscope.errors.RocscopeWarning")


def public():
    """Return the functions, and the classes that take data, by the name under which users find them."""
    found, seen = {}, set()
    topics = {name: getattr(rs, name) for name in rs.__all__}
    for name, thing in topics.items():
        if not isinstance(thing, ModuleType) and (inspect.isfunction(thing) or thing is rs.Report):
            found[name] = thing
            seen.add(thing)
    for topic, module in topics.items():
        if isinstance(module, ModuleType) and topic not in WITHOUT_FUNCTIONS_OF_DATA:
            for name in module.__all__:
                thing = getattr(module, name)
                if inspect.isfunction(thing) and thing not in seen:
                    found[f"{topic}.{name}"] = thing
    return found


def test_every_public_function_is_in_the_table():
    named = {name for table in TABLES for name in table}
    missing = {name.removeprefix("engines.") for name in public()} - named
    assert missing - {name.removeprefix("engines.") for name in WITHOUT_DATA} - {"evaluate"} == set()


@contextmanager
def in_form(kind):
    """Say in which form data were given where something fails."""
    try:
        yield
    except Exception as error:
        error.add_note(f"data given as {kind}")
        raise


@pytest.mark.parametrize("name", OF_ONE_MODEL)
def test_data_of_one_model_in_every_form(name):
    expected = outcome(OF_ONE_MODEL[name], Y, A)
    assert not isinstance(expected, str)
    for kind, (data, which) in SAME.items():
        with in_form(kind):
            assert_alike(outcome(OF_ONE_MODEL[name], *data, **which), expected)


@pytest.mark.parametrize("name", OF_COUNTED_DATA | BESIDE_OTHER_DATA)
def test_counted_data_in_every_form(name):
    call = (OF_COUNTED_DATA | BESIDE_OTHER_DATA)[name]
    expected = outcome(call, rs.Predictions(Y, A))
    assert not isinstance(expected, str)
    for kind in sorted(SAME.keys() - IN_COLUMNS):
        (data,), which = SAME[kind]
        with in_form(kind):
            if name in BESIDE_OTHER_DATA and which:
                refused = r"^model: expected one of \['a', 'b'\], got no name; name the model"
                with pytest.raises(ColumnError, match=refused):
                    call(data)
            else:
                assert_alike(outcome(call, data, **which), expected)


@pytest.mark.parametrize("name", OF_ONE_MODEL | OF_COUNTED_DATA)
def test_a_crisp_classifier_in_every_form(name):
    call = (OF_ONE_MODEL | OF_COUNTED_DATA)[name]
    columns = (Y, CRISP) if name in OF_ONE_MODEL else (rs.Predictions(Y, CRISP),)
    expected = outcome(call, *columns)
    for crisp in (POINT, MATRIX, {"a": MATRIX}):
        with in_form(type(crisp).__name__):
            assert_alike(outcome(call, crisp), expected)


def test_the_positive_class_of_a_confusion_matrix_is_named():
    named = ConfusionMatrix(MATRIX.counts, classes=["no", "yes"], rows="actual")
    assert rs.auc(named, pos_label="yes") == rs.auc({"a": named}, pos_label="yes") == rs.auc(MATRIX)
    with pytest.raises(InputError, match="pos_label"):
        rs.auc(named)
    with pytest.raises(
        InputError, match=r"classes: expected two classes, got the classes 0, 1, 2; compare one class with all others"
    ):
        rs.auc(MULTI.confusion())


@pytest.mark.parametrize("name", OF_ONE_MODEL | OF_COUNTED_DATA)
def test_ranges_that_leave_it_open_are_a_result_or_said(name):
    call = (OF_ONE_MODEL | OF_COUNTED_DATA)[name]
    for data, which in ((OPEN, {}), ({"a": OPEN, "b": COUNTS["b"]}, {"model": "a"})):
        try:
            curve = call(data, **which)
        except InexactCountsError as error:
            assert re.search(r"expected one score in each bin, got .*; use .auc_bounds", str(error))
        else:
            assert curve.counts is OPEN


@pytest.mark.parametrize("name", sorted((OF_ONE_MODEL | OF_COUNTED_DATA).keys() - OF_ONE_OR_SEVERAL))
def test_of_two_models_one_is_named(name):
    call = (OF_ONE_MODEL | OF_COUNTED_DATA)[name]
    wanted = r"^model: expected one of \['a', 'b'\], got no name; name the model: model='a'$"
    for data in (COUNTS, BOTH):
        if name == "bootstrap" and data is BOTH:
            continue  # of the same rows: its statistic takes both
        with pytest.raises(ColumnError, match=wanted):
            call(data)
        with pytest.raises(ColumnError, match=r"^model: expected one of .*, got 'c'$"):
            call(data, model="c")


@pytest.mark.every(7)
@pytest.mark.parametrize("name", OF_SEVERAL_MODELS)
@pytest.mark.parametrize("kind", ["rows", "counts", "bins", "sketches"])
def test_data_of_several_models_in_every_form(name, kind):
    made = {
        "rows": {"a": rs.Predictions(Y, A), "b": rs.Predictions(Y, B)},
        "counts": COUNTS,
        "bins": {model: BinnedCounts.from_counts(counts) for model, counts in COUNTS.items()},
        "sketches": {"a": sketch(A), "b": sketch(B)},
    }
    call = OF_SEVERAL_MODELS[name]
    expected = outcome(call, rs.Predictions(Y, {"a": A, "b": B}))
    assert not isinstance(expected, str)
    assert_alike(outcome(call, made[kind]), expected)


@pytest.mark.every(4)
@pytest.mark.parametrize("name", BESIDE_LABELS)
def test_labels_and_scores_are_taken_as_predictions_are(name):
    call = OF_SEVERAL_MODELS[name]
    scores = {"a": A, "b": B}
    expected = outcome(call, rs.Predictions(Y, scores))
    assert not isinstance(expected, str)
    assert_alike(outcome(call, Y, scores), expected)
    assert_alike(outcome(call, Y.tolist(), {"a": A.tolist(), "b": B.tolist()}), expected)
    assert_alike(outcome(call, np.where(Y, "yes", "no"), scores, pos_label="yes"), expected)
    weight = np.arange(N) % 3 + 1
    weighted = rs.Predictions(Y, scores, sample_weight=weight)
    assert_alike(outcome(call, Y, scores, sample_weight=weight), outcome(call, weighted))


@pytest.mark.every(3)
@pytest.mark.parametrize("call", [rs.choose, rs.summary, lambda *data, **which: rs.Report(*data, **which).data])
def test_the_context_comes_after_the_data(call):
    context, scores = rs.Context(cost_fn=7), {"a": A, "b": B}
    rows = rs.Predictions(Y, scores)
    expected = call(rows, context=context).to_dict()
    assert expected != call(rows).to_dict()
    assert call(rows, context).to_dict() == call(Y, scores, context).to_dict() == expected


@pytest.mark.every(4)
@pytest.mark.parametrize("name", sorted(OF_SEVERAL_MODELS.keys() - {"compare"}))
def test_data_of_one_will_do_for_several(name):
    call = OF_SEVERAL_MODELS[name]
    expected = outcome(call, rs.Predictions(Y, A))
    for kind in ("ThresholdCounts", "exact BinnedCounts", "exact CountsSketch"):
        assert_alike(outcome(call, SAME[kind][0][0]), expected)
    assert_alike(outcome(call, MATRIX), outcome(call, POINT))


@pytest.mark.parametrize("name", OF_ROWS)
def test_rows_are_taken_and_counts_refused(name):
    rows = BOTH.select(models=["a"]) if name == "evaluation.average_curve" else BOTH
    assert not isinstance(outcome(OF_ROWS[name], rows), str)
    for data in [COUNTS] if name == "inference.compare_curves" else COUNTED.values():
        with pytest.raises(
            InputError, match=r"expected rows \(Predictions\), got .*; (pass |use rs\.[\w.]+\(rs\.)Predictions"
        ):
            OF_ROWS[name](data)


@pytest.mark.parametrize("name", OF_A_POINT)
def test_a_point_is_taken_and_several_are_refused(name):
    assert_alike(outcome(OF_A_POINT[name], MATRIX), outcome(OF_A_POINT[name], POINT))
    for data in (COUNTS["a"], BOTH, OPEN):
        with pytest.raises(InputError, match=r"expected an OperatingPoint, .*; pass counts.at"):
            OF_A_POINT[name](data)


@pytest.mark.parametrize("name", OF_SEVERAL_CLASSES)
def test_two_classes_are_refused_where_several_are_meant(name):
    for data in (*COUNTED.values(), BOTH, rs.roc(Y, A), "scores.csv", None):
        with pytest.raises(InputError, match=r"^\w+: expected MulticlassPredictions, got "):
            OF_SEVERAL_CLASSES[name](data)


@pytest.mark.parametrize("name", [name for table in TABLES[:-1] for name in table])
def test_nonsense_is_refused_in_one_wording(name):
    call = next(table[name] for table in TABLES if name in table)
    taken = {("Report", "several classes"), ("decisions.estimate_prevalence", "None"), ("inference.band", "a curve")}
    for kind in NONSENSE:
        if (name, kind) in taken:
            continue  # estimate_prevalence may be given none; a curve knows the counts it was made of
        with in_form(kind), pytest.raises(InputError) as caught:
            call(NONSENSE[kind])
        assert name in OF_RESULTS_OR_ROWS or REFUSED.search(str(caught.value)), str(caught.value)


@pytest.mark.parametrize("name", OF_ONE_MODEL)
def test_nonsense_beside_scores_is_refused(name):
    for kind, data in NONSENSE.items():
        with in_form(kind), pytest.raises(InputError):
            OF_ONE_MODEL[name](data, A)


@pytest.mark.parametrize(
    "name",
    [
        "inference.mann_whitney",
        "calibration.calibration_report",
        "calibration.cox_calibration",
        "calibration.spiegelhalter_test",
        "calibration.hosmer_lemeshow_test",
        "calibration.miscalibration_test",
    ],
)
def test_repeats_are_no_new_data_behind_a_name_either(name):
    twice = rs.Predictions(np.tile(Y, 2), np.tile(A, 2), row=np.tile(np.arange(N), 2))
    for data in (twice, {"a": twice}):
        with pytest.raises(InputError, match="expected one row per case, got several rows per case"):
            OF_ONE_MODEL[name](data)


def test_models_have_different_names():
    with pytest.raises(InputError, match=r"^models: expected models whose names differ.*, got the names \[1, .1.\]"):
        rs.hull({1: COUNTS["a"], "1": COUNTS["b"]})


def test_a_refusal_names_what_to_do_instead():
    for data, hint in ((MULTI, r"call rs\.multiclass\.multiclass_auc\(data\)"), (rs.roc(Y, A), r"pass its \.counts")):
        with pytest.raises(InputError, match=hint):
            rs.auc(data)
        with pytest.raises(InputError, match=hint):
            rs.hull(data)
    with pytest.raises(InputError, match=r"^y_score: expected scores as the second argument, got None; pass y_score"):
        rs.hull(A)
    for taking in (rs.choose, rs.summary, rs.Report):
        with pytest.raises(
            InputError,
            match=r"^y_score: .*, got a Context; pass the context as the third argument: \(y_true, y_score, c",
        ):
            taking(Y, rs.Context())
        with pytest.raises(InputError, match=r"^context: expected a Context .*, got array"):
            taking(BOTH, A)
        with pytest.raises(InputError, match=r"^y_score: expected no y_score together with Predictions, got a"):
            taking(BOTH, A, rs.Context())
    with pytest.raises(ShapeError, match=r"pass the column of the positive class: y_score\[:, 1\]$"):
        rs.auc(Y, np.column_stack([1 - A, A]))


@pytest.mark.parametrize("name", sorted(OF_ONE_MODEL))
def test_one_block_documents_the_data(name):
    documented = inspect.getdoc(public()[name])
    block = r"^y_true, y_score, model, pos_label, sample_weight : data of one (or more models|model)\n"
    labels = r"    Pass labels as `y_true`,? and [^.]* as `y_score`\."
    others = r"\s+(Alternatively,|Or) pass[^.]*\.[^.]*`?rocscope\.sample`"
    assert re.search(block + labels + others, documented, re.MULTILINE)


@pytest.mark.parametrize("kind", ["columns", "arguments"])
@pytest.mark.parametrize("every", [23, pytest.param(1, marks=pytest.mark.slow)])
def test_hostile_values_give_a_result_or_one_clear_error(kind, every):
    cases = list(of_columns() if kind == "columns" else of_arguments(public()))[::every]
    wrong, refused = {}, 0
    for case, call, data, options in cases:
        try:
            call(*data, **options)
        except RocscopeError as error:
            refused += 1
            if "\n" in str(error) or len(str(error)) > 1_000:
                wrong[case] = f"words: {str(error)[:100]}"
        except Exception as error:  # noqa: BLE001 (which must not be)
            wrong[case] = f"{type(error).__name__}: {str(error)[:100]}"
        if case.startswith("plotting"):
            pyplot.close("all")
    print(f"{len(cases):,} hostile {kind}: {refused:,} refused, {len(cases) - refused - len(wrong):,} answered")
    assert len(cases) >= 3_000 / every and refused > 0
    assert not wrong, "\n".join(f"{case}: {words}" for case, words in list(wrong.items())[:60])


EXTREMES = (
    np.array([1e308, -1e308, 1e-320, 0, 5, -5]),
    np.zeros(6),
    np.array([1.0, 0, 1, 0, 1, 0]),
    np.array([0.9, 0.1, 0.8, 0.3, 0.7, 0.2]),
)


@pytest.mark.parametrize("name", OF_ONE_MODEL)
def test_numpy_may_be_told_to_raise_what_it_warns_of(name):
    with np.errstate(all="raise"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RocscopeWarning)
        for scores in EXTREMES:
            outcome(OF_ONE_MODEL[name], [1, 0, 1, 0, 1, 0], scores)
        assert not isinstance(outcome(OF_ONE_MODEL[name], Y, A), str)
