"""Names of other libraries: `rocscope.<name>` says what to call, and that call works."""

import re

import numpy as np
import pytest

import rocscope as rs
import rocscope.compat.sklearn
from rocscope._base.public_names import other_names

ROWS = [(name, ours) for calls in other_names().values() for name, ours in calls.items()]


@pytest.fixture(scope="module")
def here():
    """What the calls of the table speak of: labels, scores, probabilities, rows, a model."""
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 2))
    y = (X[:, 0] + rng.normal(size=120) > 0).astype(int)
    p = 1 / (1 + np.exp(-X))
    predictions = rs.Predictions(y, {"a": p[:, 0], "b": p[:, 1]})
    model = LogisticRegression()
    return {
        "rs": rs, "rocscope": rs, "y": y, "s": X[:, 0], "p": p[:, 0], "X": X, "beta": 2, "threshold": 0.5, "depth": 0.2,
        "predictions": predictions, "context": rs.Context(cost_fn=5), "model": model.fit(X, y), "name": "a",
        "campaign": rs.Campaign(population=1000, unit_cost=1, unit_benefit=5), "counts": predictions.counts("a"),
        "matrix": rs.multiclass.ConfusionMatrix.from_labels(y, X[:, 0] > 0), "source": predictions,
        "result": rs.evaluation.learning_curve(model, X, y, steps=2), "probabilities": model.predict_proba(X),
        "name_of_data": "wdbc", "time": rng.exponential(size=120), "event": rng.random(120) < 0.7, "horizon": 0.8,
        "horizons": [0.5, 0.8], "reference": predictions.counts("a"),
        "current": predictions.counts("b"),
    }  # fmt: skip


@pytest.mark.every(7)
@pytest.mark.parametrize(("name", "ours"), ROWS, ids=[name for name, _ in ROWS])
def test_every_name_is_answered_with_a_call_that_works(name, ours, here, tmp_path, monkeypatch):
    """Calls are run as they stand; of those with arguments left open (...) only the name is looked up."""
    with pytest.raises(AttributeError, match=rf"^rocscope has no '{name}'; (use|it is) "):
        getattr(rs, name)
    call = re.split(r", or |; |, whose |, which |, with |, and |, after ", ours)[0]
    if "..." in call:
        call = call.partition("(")[0]
    monkeypatch.chdir(tmp_path)
    assert eval(call, here) is not None


def test_names_one_level_down_and_slips_are_pointed_to():
    for wrong, right in {"brier": "it is rs.calibration.brier", "mcnemar": "it is rs.inference.mcnemar"}.items():
        with pytest.raises(AttributeError, match=f"^rocscope has no '{wrong}'; {right}$"):
            getattr(rs, wrong)
    with pytest.raises(AttributeError, match=r"^rocscope.calibration has no 'roc'; it is rs\.roc$"):
        _ = rs.calibration.roc
    with pytest.raises(
        AttributeError, match=r"^rocscope.calibration has no 'Briers'; did you mean rs\.calibration\.brier\?$"
    ):
        _ = rs.calibration.Briers
    with pytest.raises(AttributeError, match=r"^rocscope has no 'zzz'$"):
        _ = rs.zzz


def test_a_roc_curve_has_the_names_of_scikit_learn():
    curve = rs.roc([0, 1, 1, 0], [0.1, 0.9, 0.4, 0.5])
    assert curve.fpr is curve.x
    assert curve.tpr is curve.y
    assert curve.thresholds is curve.threshold
