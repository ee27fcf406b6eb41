"""Lists are equal person by person from Python, files, frames and the command line, whatever the order of the rows."""

import numpy as np
import pyarrow as pa
from pyarrow import csv, parquet

import rocscope as rs
from decisions.plans.test_tampering import plans
from strategies import counted, in_parts


@in_parts(5, 500)
def test_every_way_chooses_the_same_people(cases, part, run, tmp_path):
    rng = np.random.default_rng([17, part])
    for number in counted(cases):
        pilot, made = plans(rng)
        plan = made[number % len(made)]
        size = int(rng.integers(5, 80))
        scores = {name: rng.choice(column, size) for name, column in pilot.scores.items()}
        ids, part_of = rng.permutation(10 * size)[:size], rng.choice(np.unique(pilot.segment), size)
        given = {"segment": part_of} if plan.by_segment else {}
        expected = plan.select(scores, ids, **given).tolist()
        if hasattr(plan, "worthwhile"):
            limit = plan.campaign.capacity
            planned = int(plan.depth * size) if plan.worthwhile else 0
            assert len(expected) == (planned if limit is None else min(planned, int(limit)))
        assert plan.select(scores, ids.astype(float), **given).tolist() == expected
        assert plan.select(scores, [f"{each:06d}" for each in ids], **given).tolist() == [f"{i:06d}" for i in expected]
        order = rng.permutation(size)
        turned = {name: column[order] for name, column in scores.items()}
        again = plan.select(turned, ids[order], **{name: each[order] for name, each in given.items()}).tolist()
        assert sorted(again) == sorted(expected)
        assert again == expected or plan.by_segment or not plan.needs  # which rank nobody
        table = pa.table({"client": ids, **scores, "part": part_of})
        csv.write_csv(table, tmp_path / "list.csv")
        parquet.write_table(table.take(order), tmp_path / "list.parquet")
        read = rs.load_plan(plan.save(tmp_path / "plan.json"))
        by = {"segment": "part"} if plan.by_segment else {}
        for source in (tmp_path / "list.csv", tmp_path / "list.parquet", table.to_pandas()):
            found = read.apply(source, "client", **by)
            acted = found.columns.get("action", np.repeat("act", len(found))) == "act"
            assert sorted(map(int, found.ids[acted])) == sorted(expected)
        typed = ("--segment", "part") if plan.by_segment else ()
        code, _, err = run("apply", "plan.json", "list.csv", "--id", "client", "-o", "out.csv", "--force", *typed)
        assert code == 0, err
        lines = [line.replace('"', "").split(",") for line in (tmp_path / "out.csv").read_text().splitlines()[1:]]
        assert [int(line[0]) for line in lines if line[1:] != ["review"]] == expected


def test_texts_that_are_formulas_are_neutralised_on_request(run, tmp_path):
    ids = ["=1+1", "+49 30", "@SUM(A1)", "-2", "plain", "a=b"]
    plan = rs.plan_campaign(rs.Predictions([1, 1, 0, 0] * 20, [2, 1, 2, 1] * 20), rs.Campaign(6, 1, 5))
    plan.save(tmp_path / "plan.json")
    table = pa.table({"client": ids, "score": [2] * 6})
    parquet.write_table(table, tmp_path / "list.parquet")
    listed = plan.apply(table, "client")
    assert sorted(listed.to_csv().splitlines()[1:]) == sorted(ids)
    safe = ["'=1+1", "'+49 30", "'@SUM(A1)", "'-2", "plain", "a=b"]
    assert sorted(listed.to_csv(safe_ids=True).splitlines()[1:]) == sorted(safe)
    code, out, _ = run("apply", "plan.json", "list.parquet", "--id", "client", "--safe-ids")
    assert (code, sorted(out.splitlines()[1:])) == (0, sorted(safe))
