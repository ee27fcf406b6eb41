"""What choosing costs beside the model's own fits, and what a split by AUC costs beside one by impurity.

    python benchmarks/bench_estimators.py [--rows 250 1000 5000] [--turns 15]

The bare loop fits and asks the same copies of the model on the same ten folds, and once on all rows. Both take turns;
figures are medians.
"""

import argparse

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import CategoricalNB, GaussianNB
from sklearn.tree import DecisionTreeClassifier
from timing import in_turns

import rocscope as rs


def simulate(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    x = rng.integers(0, 4, (n, 12))
    return x, (x[:, 0] + rng.normal(size=n) > 2).astype(int)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[250, 1000, 5000])
    parser.add_argument("--turns", type=int, default=15)
    args = parser.parse_args()
    print(f"{'rows':>6}  {'model':<24}{'bare ms':>9}{'ours ms':>9}{'beside ms':>11}{'choose ms':>11}")
    for n in args.rows:
        x, y = simulate(n)
        parts = list(StratifiedKFold(10, shuffle=True, random_state=0).split(x, y))
        for model in (CategoricalNB(min_categories=4), GaussianNB(), DecisionTreeClassifier(min_samples_leaf=2)):

            def bare(model=model, x=x, y=y, parts=parts) -> None:
                for train, test in parts:
                    clone(model).fit(x[train], y[train]).predict_proba(x[test])
                clone(model).fit(x, y)

            tuned = rs.estimators.ThresholdClassifier(model).fit(x, y)
            took = in_turns(
                {
                    "bare": bare,
                    "ours": lambda tuned=tuned, x=x, y=y: tuned.fit(x, y),
                    "choose": lambda tuned=tuned: rs.choose(tuned.predictions_),
                },
                args.turns,
            )
            beside = took["ours"] - took["bare"]
            cells = "".join(f"{1e3 * time:>{width}.1f}" for time, width in ((took["bare"], 9), (took["ours"], 9)))
            print(f"{n:>6}  {type(model).__name__:<24}{cells}{1e3 * beside:>11.1f}{1e3 * took['choose']:>11.2f}")
    print("\nto grow a tree of depth 6 (ratio to scikit-learn's)")
    for n in args.rows:
        x, y = np.random.default_rng(0).normal(size=(n, 10)), simulate(n)[1]
        trees = {"gini": DecisionTreeClassifier(max_depth=6), "auc": rs.estimators.AUCTreeClassifier(max_depth=6)}
        took = in_turns({name: lambda t=t, x=x, y=y: t.fit(x, y) for name, t in trees.items()}, args.turns)
        print(f"{n:>6}  {1e3 * took['auc']:.1f} ms, {took['auc'] / took['gini']:.1f} times")


if __name__ == "__main__":
    main()
