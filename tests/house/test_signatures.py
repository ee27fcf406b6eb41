"""A parameter has one meaning and one default, whichever function takes it; and what looks public has a door."""

import ast
import inspect
import pkgutil
import types
import typing
from collections import defaultdict
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest
from sklearn.tree import DecisionTreeClassifier

import rocscope as rs
from rocscope import protocols

ROOT = Path(rs.__file__).parent

OWN_CHOICES = {
    "method": "each function has methods of its own, and its own best one",
    "repeats": "one run of an evaluation; ten where an estimate is to be steady",
    "stratified": "folds keep the class mix; a sample whose class mix was not fixed varies in it when drawn again",
    "test": "a third where there are two parts, a quarter where there are three",
    "memory": "what ranks may take of a machine, or the size of a sketch, which is kept and sent",
    "replicates": "2000, but fewer where each fits models (200) or recounts two dozen numbers (200)",
    "threshold": "points made by hand need not have one",
    "cv": "ten folds; five where two are left out at once; a learning curve holds a share of the rows out",
    "metric": "the AUC; a band goes around a curve unless it is told a metric",
    "kind": "which rates are averaged, what ranges surely hold, or which classes: each has its usual one",
    "weight": "rows have none unless a column holds them; a mean over groups is one over their rows",
    "cost_ratio": "one number, or for a map of regions a grid",
    "of": "a figure of a matrix has to be named; a decision is judged by its cost",
    "cost": "a contact in an experiment costs nothing unless said; priced anew, what it was made with",
    "benefit": "a response is worth 1 unless said; priced anew, what it was made with",
    "share": "of an experiment that of the rows; a learning curve is drawn up to a share of them",
    "parts": "tenths of an experiment; bins are made of parts that are given",
    "weights": "of rows they are recognised; counts are of cases unless they were made of weighted rows",
    "steps": "a campaign is shown in tenths; a learning curve fits the models at each step",
    "level": "95%; a constraint is on the rate of the sample unless it asks for a limit",
}
"""Parameters whose defaults may differ, and why."""

ALSO_REQUIRED = {
    "model": "needed where a result has figures of several models",
    "response": "how a model answers; of an experiment, who responded",
    "probability": "needed by what acts on it; of verified rows it is estimated unless known",
    "X": "not needed for an optimism of Predictions",
    "y": "not needed for an optimism of Predictions",
    "y_score": "not needed where y_true may be counts",
    "scores": "describe needs none; read may have proba in its place",
    "proba": "labels may come in its place",
    "predicted": "probabilities may come in its place",
    "classes": "the labels tell them, where there are labels",
    "source": "what is read; of Predictions, where they came from",
    "data": "a band has its curve's own",
    "models": "what is chosen among; to draw, which of those that are there",
    "statistic": "compare has the AUC",
    "figure": "what is written; a new one, where something is drawn",
    "rows": "which rows, or what the rows of a matrix are: a cost matrix of two classes must say",
    "n": "of how many cases, where a rate is not enough",
    "k": "how many classes count as right has no usual value",
    "most": "what a drawing needs at most, or a merger",
    "population": "a campaign has one",
    "target_prevalence": "needed by what does nothing else than move there",
    "target_prior": "the class mix of the sample, unless moving away from it is all there is to do",
    "train_prevalence": "a sample with labels tells it",
    "prevalence": "needed by what is computed at one",
    "what": "the words of a message",
    "campaign": "an experiment is planned for one; a profit curve takes it second or third",
    "context": "rows are priced in one; what else takes one has accuracy",
    "by": "a table is of all rows unless parts are asked for; a shift is by something",
    "positive": "checked labels, or the class of a matrix",
}
"""Parameters that some functions cannot do without and others can, and why."""


def topics():
    """Return the modules whose calls are public: `errors` are raised, and `sample` says what may be passed as data."""
    names = [name for name in rs.__all__ if name not in ("errors", "sample")]
    found = [rs, *(getattr(rs, name) for name in names if isinstance(getattr(rs, name), types.ModuleType)), protocols]
    inner = [getattr(topic, name) for topic in found[1:] for name in getattr(topic, "__all__", ())]
    return [*found, *(each for each in inner if isinstance(each, types.ModuleType))]


def names_of(topic):
    """Return the names that a module gives out: those in its list, or all that it defines."""
    own = [name for name, each in vars(topic).items() if getattr(each, "__module__", "") == topic.__name__]
    return getattr(topic, "__all__", [name for name in own if not name.startswith("_")])


@cache
def public():
    """Return what topics give out, by name."""
    return {
        f"{topic.__name__}.{name}": getattr(topic, name)
        for topic in topics()
        for name in names_of(topic)
        if not isinstance(getattr(topic, name), types.ModuleType)
    }


def is_made_by_users(cls):
    return "\nParameters\n" in inspect.cleandoc(cls.__doc__ or "")


@cache
def callables():
    """Return every public function and constructor, and every public method of a class that is public or returned."""
    found = {name: each for name, each in public().items() if inspect.isfunction(each)}
    for module in modules():
        for cls in vars(module).values():
            if not inspect.isclass(cls) or cls.__module__ != module.__name__ or cls.__name__.startswith("_"):
                continue
            if cls in public().values() and is_made_by_users(cls):
                found[cls.__name__] = cls
            for name, member in vars(cls).items():
                method = getattr(member, "__func__", member)
                documented = "Parameters\n" in (getattr(method, "__doc__", None) or "")
                if inspect.isfunction(method) and not name.startswith("_") and (documented or cls in public().values()):
                    found[f"{cls.__name__}.{name}"] = method
    return found


@cache
def modules():
    """Return the modules of the topics."""
    names = [info.name for info in pkgutil.walk_packages(rs.__path__, "rocscope.")]
    inner = ("cli", "report", "kernels", "engines", "compat", "workbench", "errors", "sample", "_")
    return [import_module(name) for name in names if not name.split(".")[1].startswith(inner)]


def inherited(cls):
    """Return the parameters that a class passes on to a tree of scikit-learn, with that tree's defaults."""
    is_tree = inspect.isclass(cls) and issubclass(cls, DecisionTreeClassifier)
    return set(inspect.signature(DecisionTreeClassifier).parameters) - {"random_state"} if is_tree else set()


def defaults():
    """Return for every parameter which functions take it with which default."""
    found = defaultdict(lambda: defaultdict(list))
    for name, function in callables().items():
        for parameter in inspect.signature(function).parameters.values():
            variadic = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
            if not (variadic or parameter.name == "self" or parameter.name in inherited(function)):
                found[parameter.name][parameter.default].append(name)
    return found


def test_a_parameter_has_one_default():
    differing = {}
    for name, by_default in defaults().items():
        given = {default: where for default, where in by_default.items() if default is not inspect.Parameter.empty}
        if len(given) > 1 and name not in OWN_CHOICES:
            differing[name] = given
        if given and len(by_default) > len(given) and name not in ALSO_REQUIRED | OWN_CHOICES:
            differing[name] = dict(by_default)
    assert differing == {}


@pytest.mark.parametrize("table", [OWN_CHOICES, ALSO_REQUIRED], ids=["own choices", "also required"])
def test_no_exception_is_left_over(table):
    found = defaults()
    assert {name for name in table if len(found[name]) < 2} == set()


def test_the_top_level_is_short_and_a_stub_lists_it():
    assert sum(not isinstance(getattr(rs, name), types.ModuleType) for name in rs.__all__) <= 45, "topics left out"
    lists = {path: listed(path) for path in ROOT.rglob("__init__.pyi")}
    for path, names in lists.items():
        topic = import_module(".".join(["rocscope", *path.parent.relative_to(ROOT).parts]))
        assert names == sorted(topic.__all__), "what type checkers see is what there is"
        assert set(names) <= set(dir(topic)), "completion shows it too"
        assert all(hasattr(topic, name) for name in names)
    assert ROOT / "__init__.pyi" in lists


def listed(stub):
    """Return the names that a stub gives out."""
    imports = [node for node in ast.parse(stub.read_text()).body if isinstance(node, ast.ImportFrom)]
    assert all(alias.asname == alias.name for node in imports for alias in node.names), "or it is private to checkers"
    return sorted(alias.name for node in imports for alias in node.names)


def test_the_overloads_of_read_say_what_comes_back_and_together_take_what_it_takes():
    first, second = typing.get_overloads(rs.read)
    assert first.__annotations__["return"] is rs.Predictions
    assert second.__annotations__["return"] == "MulticlassPredictions"
    taken = {"source"}
    for overload in (first, second):
        (rows,) = typing.get_args(overload.__annotations__["rows"])
        taken |= {*typing.get_type_hints(rows), *inspect.signature(overload).parameters} - {"rows"}
    assert taken == set(inspect.signature(rs.read).parameters)
