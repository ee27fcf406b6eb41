"""The page acts on the same people as Python and the command line, whatever the file and the order of its rows."""

import numpy as np
import polars as pl

import rocscope as rs
from report_open import decided_in, open_page_offline as open_page_offline
from strategies import counted, in_parts, tied_scores

LAYOUT = {"decimal": ".", "delimiter": None, "encoding": None}
OTHERS = {"weight": None, "segment": None, "fold": None, "positive": None}
WRITE = {"csv": pl.DataFrame.write_csv, "parquet": pl.DataFrame.write_parquet, "jsonl": pl.DataFrame.write_ndjson}


@in_parts(3, 500)
def test_the_page_decides_about_each_person_as_python_does(page, cases, part, run, tmp_path):
    rng, acted = np.random.default_rng([18, part]), 0
    for number in counted(cases):
        y, scores = tied_scores(rng)
        decision = rs.choose(rs.Predictions(y.astype(int), scores), rs.Context(cost_fn=float(rng.choice([1, 3, 8]))))
        if not np.isfinite(decision.threshold):
            continue  # of everybody or nobody no score decides
        size = int(rng.integers(5, 80))
        later = {name: rng.choice(column, size) for name, column in scores.items()}
        label = rng.integers(0, 2, size)
        label[:2] = 0, 1
        frame = pl.DataFrame({"client": [f"{each:04d}" for each in rng.permutation(size)], "y": label, **later})
        kind = list(WRITE)[number % 3]
        path = tmp_path / f"list.{kind}"
        WRITE[kind](frame, path)
        roles = {"label": "y", "scores": list(scores), **OTHERS}
        (tmp_path / "page.csv").write_text(decided_in(page.page, path, roles, LAYOUT, decision))
        of_page = pl.read_csv(tmp_path / "page.csv", infer_schema=False)
        of_python = decision.apply(path, "client", every_row=True, label="y").columns
        assert of_page["client"].to_list() == of_python["client"].tolist()
        assert of_page["decision"].to_list() == of_python["decision"].tolist()
        assert of_page["outcome"].to_list() == of_python["outcome"].tolist()
        decision.save(tmp_path / "plan.json")
        assert run("apply", "plan.json", path, "--id", "client", "-o", "out.csv", "--force")[0] == 0
        listed = pl.read_csv(tmp_path / "out.csv", infer_schema=False)["client"].to_list()
        assert sorted(listed) == sorted(of_page.filter(pl.col("decision") == "positive")["client"].to_list())
        acted += len(listed)
    assert acted
