"""Checklists beside FasterRisk, in one run: CPU seconds and held-out AUROC on one flchain fold.

Needs `fasterrisk` (in an environment of its own: it wants older libraries), what `make
bench` builds, and the table `metier data pull survset`.
Usage: benches/agentscore.py [path to the metier program]
"""

import os
import resource
import subprocess
import sys
import tempfile

import numpy as np
import pandas as pd

from built import program

METIER = sys.argv[1] if len(sys.argv) > 1 else program("metier")
THREADS = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def cpu(who):
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


def auroc(score, y):
    ranks = pd.Series(score).rank().to_numpy()
    cases = y.sum()
    return (ranks[y == 1].sum() - cases * (cases + 1) / 2) / (cases * (len(y) - cases))


def flchain():
    folder = subprocess.run([METIER, "data", "path", "survset"], check=True,
                            capture_output=True, text=True).stdout.strip()
    table = pd.read_pickle(os.path.join(folder, "flchain.pickle"))
    table = table[(table.event == 1) & (table.time <= 3650) | (table.time > 3650)]
    y = ((table.event == 1) & (table.time <= 3650)).astype(int).to_numpy()
    drop = [c for c in table.columns if c in ("pid", "event", "time") or "chapter" in c or "sample" in c]
    return table.drop(columns=drop), y


def indicators(train, test):
    train_out, test_out = [], []
    for name in train.columns:
        if train[name].dtype.kind in "OSUb" or str(train[name].dtype) == "category":
            levels = sorted(train[name].dropna().astype(str).unique())
            pairs = [((train[name].astype(str) == level), (test[name].astype(str) == level))
                     for level in levels[len(levels) == 2:]]
        else:
            middle = train[name].median()
            a, b = train[name].fillna(middle), test[name].fillna(middle)
            cuts = {float(f"{q:.1e}") for q in a.quantile(np.arange(1, 20) / 20)}
            pairs = [((a >= cut), (b >= cut)) for cut in sorted(cuts)]
        for a, b in pairs:
            if 0.01 <= a.mean() <= 0.99:
                train_out.append(a.to_numpy(float))
                test_out.append(b.to_numpy(float))
    return np.array(train_out).T, np.array(test_out).T


def main():
    os.environ.update(THREADS)
    table, y = flchain()
    fold = np.random.default_rng(0).permutation(len(y)) % 5
    train, test = table[fold != 0], table[fold == 0]
    y_train, y_test = y[fold != 0], y[fold == 0]

    with tempfile.TemporaryDirectory() as folder:
        paths = {name: os.path.join(folder, name) for name in ("train.csv", "test.csv", "score.json", "out.csv")}
        train.assign(outcome=y_train).to_csv(paths["train.csv"], index=False)
        test.to_csv(paths["test.csv"], index=False)
        start = cpu(resource.RUSAGE_CHILDREN)
        subprocess.run([METIER, "score", "fit", paths["train.csv"], "--outcome", "outcome", "--folds", "0",
                        "--threads", "1", "--quiet", "--out", paths["score.json"]],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        ours = cpu(resource.RUSAGE_CHILDREN) - start
        subprocess.run([METIER, "score", "apply", paths["score.json"], paths["test.csv"], "--quiet",
                        "--out", paths["out.csv"]], check=True, stderr=subprocess.DEVNULL)
        points = pd.read_csv(paths["out.csv"]).points.to_numpy()

    from fasterrisk.fasterrisk import RiskScoreOptimizer
    x_train, x_test = indicators(train, test)
    start = cpu(resource.RUSAGE_SELF)
    optimizer = RiskScoreOptimizer(X=x_train, y=2 * y_train - 1, k=6, lb=-1, ub=1)
    optimizer.optimize()
    multipliers, intercepts, weights = optimizer.get_models()
    theirs = cpu(resource.RUSAGE_SELF) - start
    score = x_test @ weights[0]

    print(f"flchain, 10 years, one fold: {len(y_train)} rows to learn from, {x_train.shape[1]} indicators")
    print(f"metier score fit (whole program)  {ours:8.3f} CPU s   AUROC {auroc(points, y_test):.3f}")
    print(f"FasterRisk, six of -1, 0, 1       {theirs:8.3f} CPU s   AUROC {auroc(score, y_test):.3f}")
    print(f"ratio                             {theirs / ours:8.1f}")


if __name__ == "__main__":
    main()
