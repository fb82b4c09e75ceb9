"""Accuracy, log loss and CPU seconds of both classifiers, by method, beside
scikit-learn's.

    python benchmarks/sparse_logit_table.py [--small] [COLON.csv] [--only NAME]

Trained on a random half of the rows, tested on the other; means over five halves (of simulated
data: five data sets of 250 rows for training and 4,000 for testing). "sparse": 4 of 50 coefficients
are not 0 (2, -2, 1.5, 1); "dense": all 50 are Normal(0, 1/5²). thali draws 2 chains of 500 after
500; scikit-learn chooses C by five folds. Of "digits" (558 coefficients) one half is taken, and
chains are of 40 after 40. "colon" is the table of Alon et al. (1999), 62 tissues by 2,000 genes,
whose file has a column y and columns g1, g2, ...: logarithms, five folds, without the normal
approximations and draws of Plackett-Luce regression, and chains of 250 after 250.
"""

import sys
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegressionCV
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

import thali as th

DATA = {
    "wine": load_wine,
    "breast cancer": load_breast_cancer,
    "digits": load_digits,
    "sparse": None,
    "dense": None,
}
LEFT_OUT = {"colon": ("normal approximation", "variational", "Plackett-Luce")}
LENGTHS = {"digits": 40, "colon": 250}  # of chains
RUN = {"draws": 500, "tune": 500, "chains": 2, "random_state": 1}


def penalised(ratio: float):
    """scikit-learn's logit by cross-validation; 1 is the l1 penalty."""
    return make_pipeline(
        StandardScaler(),
        LogisticRegressionCV(
            l1_ratios=[ratio],
            solver="saga",
            scoring="neg_log_loss",
            cv=5,
            max_iter=1000,
            tol=1e-3,
            random_state=0,
        ),
    )


def models(name: str) -> dict[str, Any]:
    """What is compared on these data, each as it is before a fit."""
    length = LENGTHS.get(name, RUN["draws"])
    run, logit, pl = (
        RUN | {"draws": length, "tune": length},
        th.SparseMultinomialLogit,
        th.PlackettLuceRegression,
    )
    every = {
        "Laplace prior": logit(**run),
        "normal approximation": logit(method="laplace", **RUN),
        "variational": logit(method="variational", **RUN),
        "maximum, eta = 1": logit(method="map", eta=1.0),
        "Plackett-Luce": pl(**run),
        "Plackett-Luce, maximum": pl(method="map", a=1.1),
        "scikit-learn, l1": penalised(1.0),
        "scikit-learn, l2": penalised(0.0),
        "scikit-learn, boosting": HistGradientBoostingClassifier(random_state=0),
    }
    return {label: model for label, model in every.items() if label not in LEFT_OUT.get(name, ())}


def folds(path: str):
    """Five folds of the tissues: covariates and classes for training and for testing."""
    table = pd.read_csv(path)
    X, y = np.log(table.filter(regex="^g[0-9]+$").to_numpy(float)), table["y"].to_numpy()
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
        yield X[train], y[train], X[test], y[test]


def halves(name: str, seed: int):
    """Covariates and classes for training and for testing."""
    rng = np.random.default_rng(seed)
    if load := DATA[name]:
        X, y = load(return_X_y=True)
        order = rng.permutation(len(y))
        train, test = order[: len(y) // 2], order[len(y) // 2 :]
        return X[train], y[train], X[test], y[test]
    X = rng.normal(size=(4250, 50))
    coef = (
        np.append([2.0, -2.0, 1.5, 1.0], np.zeros(46))
        if name == "sparse"
        else rng.normal(size=50) / 5
    )
    y = (X @ coef + rng.logistic(size=4250) > 0).astype(int)
    return X[:250], y[:250], X[250:], y[250:]


def scores(name: str, splits: list[Any]) -> Iterator[tuple[str, np.ndarray]]:
    """Accuracy, log loss and CPU seconds of every model, means over the splits."""
    for label, model in models(name).items():
        found = []
        for X, y, new, labels in splits:
            begin = time.process_time()
            p = clone(model).fit(X, y).predict_proba(new)
            spent = time.process_time() - begin
            found.append(((p.argmax(axis=1) == labels).mean(), log_loss(labels, p), spent))
        yield label, np.mean(found, axis=0)


def main(small: bool = False, colon: str | None = None, only: str | None = None) -> None:
    """Print a line for each data set and model."""
    print(f"{'':15}{'':22} accuracy  log loss  CPU s")
    names = ["wine"] if small else [*DATA, *(["colon"] if colon else [])]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        th.SparseMultinomialLogit(**RUN).fit(*halves("wine", 0)[:2])  # compiles
        for name in names if only is None else [only]:
            repeats = 1 if small or name == "digits" else 5
            splits = (
                list(folds(colon))
                if name == "colon"
                else [halves(name, seed) for seed in range(repeats)]
            )
            for label, (accuracy, loss, spent) in scores(name, splits):
                print(f"{name:15}{label:22} {accuracy:8.3f}  {loss:8.3f}  {spent:5.2f}", flush=True)


if __name__ == "__main__":
    words = sys.argv[1:]
    wanted = words.pop(words.index("--only") + 1) if "--only" in words else None
    paths = [word for word in words if not word.startswith("--")]
    with threadpool_limits(1):
        main("--small" in words, paths[0] if paths else None, wanted)
