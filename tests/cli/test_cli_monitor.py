"""rocscope monitor: its state between runs, its exit code, and what it refuses."""

import json

import numpy as np


def test_monitor_keeps_its_state_and_fails_once_beyond_doubt(run, tmp_path):
    rng = np.random.default_rng(0)

    def write(name, skill):
        label = rng.random(400) < 0.3
        score = 1 / (1 + np.exp(-(rng.normal(size=400) + skill * (2 * label - 1))))
        lines = [f"{int(y)},{s:.5f}" for y, s in zip(label, score, strict=True)]
        (tmp_path / name).write_text("\n".join(["y,a", *lines]) + "\n")
        return name

    run("choose", write("past.csv", 1.2), "--label", "y", "--score", "a", "-o", "decision.json")
    options = ("--label", "y", "--state", "s.json", "--fail-if", "error > .25")
    for day in range(2):
        code, out, _ = run("monitor", "decision.json", write("good.csv", 1.2), *options, "--when", f"day {day}")
        assert code == 0
        assert "precision" in out
    codes = [run("monitor", "decision.json", write("bad.csv", 0.2), *options, "--when", f"bad {i}") for i in range(4)]
    assert [code for code, _, _ in codes][-1] == 1
    assert "Failed: error > 0.25 since about" in codes[-1][2]
    code, out, _ = run("monitor", "decision.json", "good.csv", *options, "--json")
    content = json.loads(out)
    assert (code, content["looks"], content["n"]) == (1, 7, 2800)
    assert content["alarm"]["limit"] == "error > 0.25"
    code, _, err = run("monitor", "decision.json", "good.csv", *options[:-1], "error > .3")
    assert code == 2
    assert "--state" in err
