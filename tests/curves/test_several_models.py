"""Every curve function takes several models, and draws them into one figure."""

import numpy as np
import pytest
from matplotlib.figure import Figure

import rocscope as rs
from door_cases import OF_ONE_MODEL, OF_ONE_OR_SEVERAL
from rocscope.curves import Curve, Curves

RNG = np.random.default_rng(3)
Y = RNG.integers(0, 2, 60)
SCORES = {"a": ((2 * RNG.random(60) + Y) / 3).round(2), "b": RNG.random(60).round(2)}
BOTH = rs.Predictions(Y, SCORES)
DATA = {
    "labels and a mapping": (Y, SCORES),
    "Predictions": (BOTH,),
    "a mapping of counts": ({name: BOTH.counts(name) for name in "ab"},),
}


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("name", sorted(OF_ONE_OR_SEVERAL))
def test_several_models_give_the_curve_of_each(name, data):
    call = OF_ONE_MODEL[name]
    curves = call(*DATA[data])
    assert isinstance(curves, Curves)
    assert list(curves) == ["a", "b"]
    for model, curve in curves.items():
        alone = call(Y, SCORES[model])
        assert type(curve) is type(alone)
        assert curve.to_dict() == alone.to_dict()
        assert call(*DATA[data], model=model).to_dict() == alone.to_dict()


def test_every_function_of_a_curve_takes_several_models():
    for name, call in OF_ONE_MODEL.items():
        try:
            result = call(Y, SCORES["a"])
        except rs.errors.RocscopeError:
            continue
        if isinstance(result, Curve):
            assert name in OF_ONE_OR_SEVERAL, name


FIGURES = {"roc": "AUC", "precision_recall": "AP", "calibration_curve": "O/E", "profit": " contacts, profit "}


@pytest.mark.parametrize("name", sorted(OF_ONE_OR_SEVERAL))
def test_the_legend_names_each_model_once_with_its_figure(name):
    curves = OF_ONE_MODEL[name](BOTH)
    axes = curves.plot(Figure().subplots())
    texts = [text.get_text() for text in axes.get_legend().get_texts()]
    for model, curve in curves.items():
        (line,) = [text for text in texts if text == model or text.startswith(f"{model} (")]
        assert FIGURES.get(name, "") in line
        if name == "precision_recall":
            assert line == f"{model} (AP {curve.average_precision:.3f})"
    labelled = curves["a"].plot(Figure().subplots(), label="mine").get_legend().get_texts()
    assert "mine" in [text.get_text() for text in labelled]


def test_weights_and_labels_reach_every_model():
    words, weight = np.array(["no", "yes"])[Y], RNG.integers(1, 4, 60)
    curves = rs.roc(words, SCORES, pos_label="yes", sample_weight=weight)
    for model, score in SCORES.items():
        assert curves[model].auc == rs.auc(Y, score, sample_weight=weight)
