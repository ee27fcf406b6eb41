"""Everything that is saved, how it is read again and used, and how files are harmed on their way."""

import copy
import hashlib
import json
import random
import struct
from dataclasses import dataclass
from typing import Any

import numpy as np

import rocscope as rs
from rocscope.calibration import recalibration as recalibrators
from rocscope.decisions import (
    allocation as allocation_file,
    campaign as campaign_file,
    monitoring as state,
    plan as decision_file,
)
from rocscope.multiclass import calibration as recalibration, class_weighting
from rocscope.ranges import CountsSketch

LABEL = np.arange(40) % 3 == 0
SCORE = (np.arange(40) * 7 % 11 + 3 * LABEL) / 20
PROBA = np.column_stack([1 - SCORE, SCORE])
GRID = np.array([-1e308, -3.0, 0.0, 1e-300, 0.2, 0.5, 0.8, 1.0, 7.0, 1e308])
HEADER = ("format", "version", "checksum")


def in_unit(values):
    """Check that there is nothing but probabilities."""
    values = np.asarray(values)
    assert ((values >= 0) & (values <= 1)).all(), values


def use_decision(decision):
    rules = [rule for rule in (decision.lot, decision.review and decision.review.rule) if rule]
    models = {decision.model, *(end.model for rule in rules for end in (rule.first, rule.second))}
    known = {"act", "review", "leave"} if decision.review else {0, 1}
    assert set(np.unique(decision.predict(dict.fromkeys(models, GRID))).tolist()) <= known
    repr(decision), decision.to_json()


def use_recalibrator(fitted):
    # Some recalibrators take probabilities only.
    of_probabilities = fitted.method in ("beta", "temperature", "shift")
    scores = GRID[(GRID >= 0) & (GRID <= 1)] if of_probabilities else GRID
    in_unit(fitted.predict(scores))
    in_unit(fitted.adjust_to(0.01).predict(scores))
    repr(fitted)


def use_weights(weights):
    in_unit(weights.recalibrated(PROBA))
    weights.predict(PROBA)
    repr(weights)


def use_classes(fitted):
    in_unit(fitted.predict(PROBA))
    repr(fitted)


def use_monitor(monitor):
    for estimate in monitor.interval.values():
        assert not estimate.low > estimate.high
    repr(monitor)
    monitor.update(LABEL, {monitor.rule["model"]: SCORE, "a": SCORE} if monitor.rule["model"] else SCORE)


def use_class_monitor(monitor):
    for estimate in monitor.interval.values():
        assert not estimate.low > estimate.high
    repr(monitor)
    monitor.update(np.array(monitor.plan.classes)[LABEL.astype(int)], PROBA)


def use_plan(plan):
    repr(plan)
    segment = ["n"] * len(SCORE)
    assert plan.select(dict.fromkeys(plan.needs or ["score"], SCORE), segment=segment).size <= len(SCORE)


def use_sketch(sketch):
    if sketch.n:
        repr(sketch)
        in_unit(sketch.binned().auc_bounds if sketch.n_pos and sketch.n_neg else ())
        if sketch.dtype == np.float64 and sketch.pos_label is None:
            sketch.update(LABEL, SCORE)
            repr(sketch)


@dataclass(frozen=True)
class Saved:
    """An object that can be stored; `format` is None for bytes."""

    made: Any
    load: Any
    use: Any
    format: Any = None

    def save(self, folder):
        return self.made.save(folder / "saved.json")

    def data(self):
        if hasattr(self.made, "to_json"):
            return self.made.to_json().encode()
        return self.format.text(self.made.to_dict()).encode() if self.format else self.made.to_bytes()


def _monitor():
    decision = rs.choose(rs.ThresholdCounts.from_scores(LABEL, SCORE))
    watch = rs.monitor(decision, fail_if=["cost > .35", "calibration > 0", "auc < .7"])
    for day in range(4):
        watch.update(np.tile(LABEL, 3), {"score": np.tile(SCORE, 3)}, when=f"day {day}")
    return watch.update_unlabelled({"score": SCORE}, when="day 4").update_unlabelled({"score": SCORE}, when="day 5")


def _class_monitor():
    plan = rs.multiclass.class_weights(LABEL.astype(int), PROBA, objective=rs.multiclass.CostMatrix.errors([0, 1]))
    watch = rs.monitor(plan, fail_if=["cost > .35", "recall(1) < .2"])
    for day in range(4):
        watch.update(np.tile(LABEL, 3).astype(int), np.tile(PROBA, (3, 1)), when=f"day {day}")
    return watch


def _sketch():
    sketch = CountsSketch(4096)
    score = np.random.default_rng(0).random(3000)
    sketch.update(score > np.random.default_rng(1).random(3000), score)
    return sketch


FILES = {
    "decision": Saved(
        rs.choose(rs.ThresholdCounts.from_scores(LABEL, SCORE)), rs.Decision.load, use_decision, decision_file.FORMAT
    ),
    "decision by lot": Saved(
        rs.choose(rs.ThresholdCounts.from_scores(LABEL, SCORE), subject_to="cases <= 5", randomized=True),
        rs.Decision.load,
        use_decision,
        decision_file.FORMAT,
    ),
    "decision with reviews": Saved(
        rs.choose(rs.ThresholdCounts.from_scores(LABEL, SCORE), rs.Context(None, 9, 9), review=rs.Review(1, 5)),
        rs.Decision.load,
        use_decision,
        decision_file.FORMAT,
    ),
    "campaign plan": Saved(
        rs.plan_campaign(rs.ThresholdCounts.from_scores(LABEL, SCORE), rs.Campaign(30, 1, 5, capacity=7)),
        rs.decisions.load_plan,
        use_plan,
        campaign_file.FORMAT,
    ),
    "allocation": Saved(
        rs.allocate({"n": rs.ThresholdCounts.from_scores(LABEL, SCORE)}, capacity=7),
        rs.decisions.load_plan,
        use_plan,
        allocation_file.FORMAT,
    ),
    "class weights": Saved(
        rs.multiclass.class_weights(LABEL.astype(int), PROBA, classes=[0, 1], method="coordinate"),
        rs.multiclass.ClassWeights.load,
        use_weights,
        class_weighting.FORMAT,
    ),
    "class recalibrator": Saved(
        rs.multiclass.recalibrate_classes(LABEL.astype(int), PROBA, strength=1.0, cv=None).recalibrators["score"],
        rs.multiclass.ClassRecalibrator.load,
        use_classes,
        recalibration.FORMAT,
    ),
    "monitor": Saved(_monitor(), rs.decisions.Monitor.load, use_monitor, state.FORMAT),
    "class monitor": Saved(_class_monitor(), rs.decisions.Monitor.load, use_class_monitor, state.FORMAT),
} | {
    method: Saved(
        rs.calibration.recalibrator(method).fit(SCORE.clip(0, 1), LABEL),
        rs.calibration.load_recalibrator,
        use_recalibrator,
        recalibrators.FORMAT,
    )
    for method in ("beta", "platt", "temperature", "shift", "isotonic", "spline", "histogram", "venn-abers")
}
SKETCH = Saved(_sketch(), CountsSketch.from_bytes, use_sketch)

ODD = (
    *(None, True, False, "", "1", "\ud800", [], {}, [[1], [1, 2]], {"x": 1}, [0.5], [1, 0], "x" * 200),
    *(0, 1, -1, 2, 0.5, 1.5, -0.0, 1e-320, 1e30, -1e30, 1e308, -1e308, 2**53 + 1, 2**63, 2**64, 10**30, 10**400),
    *("never", "always", "threshold", [[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]),
)
PIECES = (
    b"NaN",
    b"1e999",
    b"-Infinity",
    b"9" * 5000,
    b"[" * 3000,
    b'{"a":' * 3000,
    b"\x00",
    b"\xff",
    b"null",
    b"\\u0000",
)


def places(value, path=()):
    """Return the paths of all values in parsed JSON."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place for key, each in inner for place in ((*path, key), *places(each, (*path, key)))]


def edited(content, path, change):
    """Return content with the value at a path changed: `change` takes what holds it, and its key."""
    content = copy.deepcopy(content)
    holder = content
    for key in path[:-1]:
        holder = holder[key]
    change(holder, str(path[-1]) if isinstance(holder, dict) else path[-1])
    return content


def _odd(draw, holder, key):
    holder[key] = draw.choice(ODD)


def _scaled(draw, holder, key):
    value = holder[key]
    if isinstance(value, int | float) and abs(value) < 2**1023:
        holder[key] = value * draw.choice((-1, 0.5, 2, 1e5, 1e-5, 1e150, 1e-150)) + draw.choice((0, 0, 1, -1, 1e-9))
    elif isinstance(value, list):
        draw.shuffle(value)
    else:
        holder[key] = [value]


def _without(draw, holder, key):
    del holder[key]


def _twice(draw, holder, key):
    if isinstance(holder, list):
        holder.insert(key, holder[key])
    else:
        holder[f"{key} too"] = holder[key]


def resealed(draw, saved, content, paths):
    """Return the file of content that is changed in a place or two, as if it had been saved so."""
    own = content
    for _ in range(draw.choice((1, 1, 1, 2))):
        change = draw.choice((_odd, _odd, _scaled, _scaled, _without, _twice))
        try:
            own = edited(own, draw.choice(paths), lambda holder, key, change=change: change(draw, holder, key))
        except (KeyError, IndexError, TypeError):  # the first change took the place of the second
            continue
    return sealed(saved, own)


def sealed(saved, content):
    """Return the file of content, as if it had been saved so."""
    header = {"format": saved.format.name, "version": saved.format.version, "checksum": checksum(content)}
    return json.dumps(header | content).encode()


def checksum(content):
    """Return the checksum of content by the words of docs/guide/decisions/decision-json.md."""
    text = json.dumps(content, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def harmed(draw, data):
    """Return bytes with some flipped, cut, moved, repeated or put in."""
    data = bytearray(data)
    kind = draw.randrange(6)
    first, second = sorted(draw.randrange(len(data) + 1) for _ in range(2))
    if kind == 0:
        for _ in range(draw.choice((1, 1, 2, 8))):
            data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
    elif kind == 1:
        del data[first:]
    elif kind == 2:
        del data[first : min(second, first + 40)]
    elif kind == 3:
        data[first:first] = data[first : min(second, first + 40)]
    elif kind == 4:
        data[first:first] = draw.choice(PIECES)
    else:
        middle = (first + second) // 2
        data[first:second] = data[middle:second] + data[first:middle]
    return bytes(data)


def resealed_bytes(draw, data):
    """Return a sketch that is harmed, with a checksum that fits: in its header, or in the columns of its cells."""
    content = data[:-32]
    head = struct.calcsize("<16sIQ")
    if draw.random() < 0.4:
        length = struct.unpack_from("<16sIQ", content)[2]
        facts = json.loads(content[head : head + length])
        facts = edited(facts, (draw.choice(list(facts)),), lambda holder, key: _odd(draw, holder, key))
        header = json.dumps(facts).encode()
        content = struct.pack("<16sIQ", content[:16], 1, len(header)) + header + content[head + length :]
    else:
        content = content[:16] + harmed(draw, content[16:])
    return content + hashlib.sha256(content).digest()


def mutants(number, seed=0):
    """Yield names and harmed data, all kinds in turn."""
    draw = random.Random(seed)
    whole = {name: saved.data() for name, saved in FILES.items()}
    contents = {name: {k: v for k, v in json.loads(data).items() if k not in HEADER} for name, data in whole.items()}
    paths = {name: places(content) for name, content in contents.items()}
    sketch = SKETCH.data()
    names = [*FILES, "sketch", "sketch"]
    for turn in range(number):
        name, sealed = names[turn % len(names)], draw.random() < 0.6
        if name == "sketch":
            yield name, resealed_bytes(draw, sketch) if sealed else harmed(draw, sketch)
        elif sealed:
            yield name, resealed(draw, FILES[name], contents[name], paths[name])
        else:
            yield name, harmed(draw, whole[name])
