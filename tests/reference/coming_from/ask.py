"""Run what the left columns of docs/coming-from say, by the tools that they are of, and store what comes out.

    pip install Orange3 dcurves formulas openpyxl pyspark; apt-get install r-cran-proc r-cran-rms
    python ask.py [PAGE …]

A tool that is not there keeps what is stored of it.
"""

import importlib.metadata
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer

HERE = Path(__file__).parent
DOCS = HERE.parents[2] / "docs" / "coming-from"
ROW = re.compile(r"^\| `(.+?)` \| `(.+?)` \|(?:[^|]*\|)?$", re.MULTILINE)

X, target = load_breast_cancer(return_X_y=True)
y = (target == 0).astype(int)
radius, texture = X[:, 0], X[:, 1]
risk = 1 / (1 + np.exp(14 - radius))
grade = np.digitize(radius, [12, 15])
chance = np.exp(-abs(radius[:, None] + texture[:, None] / 2 - [19.5, 23, 27.5]))
chance /= chance.sum(axis=1, keepdims=True)
guess = chance.argmax(axis=1)

Answers = dict[str, float]


def of_scikit_learn(asked: list[str]) -> tuple[str, Answers]:
    import sklearn.metrics

    names = {**vars(sklearn.metrics), "y": y, "radius": radius, "risk": risk}
    names |= {"grade": grade, "chance": chance, "guess": guess}
    return version("scikit-learn"), {each: float(eval(each, names)) for each in asked}


def of_orange(asked: list[str]) -> tuple[str, Answers]:
    from Orange.data import DiscreteVariable, Domain
    from Orange.evaluation import Results, scoring

    domain = Domain([], DiscreteVariable("y", values=("0", "1")))
    results = Results(domain=domain, actual=y.astype(float), predicted=(radius >= 15).astype(float)[None])
    results.probabilities = np.column_stack([1 - risk, risk])[None]
    results.row_indices, results.folds = np.arange(y.size), None
    names = {**vars(scoring), "results": results}
    return version("Orange3"), {each: float(eval(each, names)) for each in asked}


def of_spark(asked: list[str]) -> tuple[str, Answers]:
    import pyarrow.parquet
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    folder = tempfile.mkdtemp()
    pyarrow.parquet.write_table(pyarrow.table({"score": radius, "label": y.astype(float)}), f"{folder}/rows.parquet")
    frame = spark.read.parquet(f"{folder}/rows.parquet")
    found = spark._jvm.org.apache.spark.mllib.evaluation.BinaryClassificationMetrics(frame._jdf)

    class Metrics:
        def __getattr__(self, name: str) -> Callable[..., float]:
            def value(*at: float) -> float:
                if not at:
                    return float(getattr(found, name)())
                pairs = [(pair._1(), pair._2()) for pair in getattr(found, name)().collect()]
                return min((threshold, each) for threshold, each in pairs if threshold >= at[0])[1]

            return value

    numbers = [each for each in asked if each.startswith("metrics.")]  # the other table is of habits
    answers = {each: float(eval(each, {"metrics": Metrics()})) for each in numbers}
    spark.stop()
    return version("pyspark"), answers


def of_excel(asked: list[str]) -> tuple[str, Answers]:
    import formulas

    cells = {"A2:A570": y[:, None].astype(float), "B2:B570": radius[:, None]}
    answers = {}
    for each in asked:
        function = formulas.Parser().ast(each)[1].compile()
        answers[each] = float(np.ravel(function(*(cells[name] for name in function.inputs)))[0])
    return version("formulas"), answers


def dca(y: Any, risk: Any, at: float, prevalence: float | None = None) -> float:
    import dcurves
    import pandas as pd

    table = dcurves.dca(
        pd.DataFrame({"y": y, "risk": risk}), outcome="y", modelnames=["risk"], thresholds=[at], prevalence=prevalence
    )
    return float(table.loc[table["model"] == "risk", "net_benefit"].iloc[0])


def of_r(asked: list[str]) -> tuple[str, Answers]:
    with tempfile.TemporaryDirectory() as folder:
        np.savetxt(
            f"{folder}/data.csv",
            np.column_stack([y, radius, texture, risk]),
            "%.17g",
            ",",
            header="y,radius,texture,risk",
            comments="",
        )
        ours = [each for each in asked if not each.startswith("dca(")]
        Path(folder, "asked.txt").write_text("\n".join(ours) + "\n")
        library = "rms" if any("val.prob" in each for each in ours) else "pROC"
        command = ["Rscript", HERE / "make.R", folder, library]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\n")
    answers = dict(zip(ours, map(float, said[1:]), strict=False))
    answers |= {each: float(eval(each)) for each in asked if each not in answers}
    return said[0] + (f", {version('dcurves')}" if len(ours) < len(asked) else ""), answers


def version(name: str) -> str:
    return f"{name} {importlib.metadata.version(name)}"


TOOLS = {
    "scikit-learn": of_scikit_learn,
    "orange": of_orange,
    "spark": of_spark,
    "excel": of_excel,
    "proc": of_r,
    "r-rms": of_r,
}


def main() -> None:
    path = HERE / "there.json"
    stored = json.loads(path.read_text()) if path.exists() else {}
    for page in sys.argv[1:] or TOOLS:
        answers = TOOLS[page]
        asked = [row[0] for row in ROW.findall((DOCS / f"{page}.md").read_text(encoding="utf-8"))]
        try:
            by, values = answers(asked)
        except (ImportError, subprocess.CalledProcessError, FileNotFoundError) as error:
            print(f"{page}: kept, as {error} {getattr(error, 'stderr', '')}")
            continue
        stored[page] = {"by": by, "values": values}
    path.write_text(json.dumps(stored, indent=1) + "\n")


if __name__ == "__main__":
    main()
