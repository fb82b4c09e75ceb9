"""Accuracy, log loss and CPU seconds of both classifiers, by method and prior, beside scikit-learn's.

    python benchmarks/sparse_logit_table.py [--small]

Trained on a random half of the rows, tested on the other; means over five halves (of simulated data: five data sets of
250 rows for training and 4,000 for testing). "sparse": 4 of 50 coefficients are not 0 (2, -2, 1.5, 1); "dense": all 50
are Normal(0, 1/5²). thali draws 2 chains of 500 after 500; scikit-learn chooses C by five folds. Of "digits" (610
coefficients) only methods that need no chain are run, on one half.
"""

import sys
import time
import warnings
from collections.abc import Iterator

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegressionCV
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

import thali as th

DATA = {"wine": load_wine, "breast cancer": load_breast_cancer, "digits": load_digits, "sparse": None, "dense": None}
SAMPLED = ("Laplace prior", "horseshoe", "Plackett-Luce")
RUN = {"draws": 500, "tune": 500, "chains": 2, "cores": 1, "random_seed": 1, "progressbar": False}


def penalised(ratio: float):
    """scikit-learn's logit by cross-validation; 1 is the l1 penalty."""
    return make_pipeline(
        StandardScaler(),
        LogisticRegressionCV(
            l1_ratios=[ratio], solver="saga", scoring="neg_log_loss", cv=5, max_iter=1000, tol=1e-3, random_state=0
        ),
    )


MODELS = {
    "Laplace prior": lambda: th.SparseMultinomialLogit(**RUN),
    "horseshoe": lambda: th.SparseMultinomialLogit(prior="horseshoe", **RUN),
    "normal approximation": lambda: th.SparseMultinomialLogit(method="laplace", **RUN),
    "variational": lambda: th.SparseMultinomialLogit(method="variational", **RUN),
    "maximum, eta = 1": lambda: th.SparseMultinomialLogit(method="map", eta=1.0),
    "Plackett-Luce": lambda: th.PlackettLuceRegression(**RUN),
    "Plackett-Luce, maximum": lambda: th.PlackettLuceRegression(method="map", a=1.1),
    "scikit-learn, l1": lambda: penalised(1.0),
    "scikit-learn, l2": lambda: penalised(0.0),
    "scikit-learn, boosting": lambda: HistGradientBoostingClassifier(random_state=0),
}


def halves(name: str, seed: int):
    """Covariates and classes for training and for testing."""
    rng = np.random.default_rng(seed)
    if load := DATA[name]:
        X, y = load(return_X_y=True)
        order = rng.permutation(len(y))
        train, test = order[: len(y) // 2], order[len(y) // 2 :]
        return X[train], y[train], X[test], y[test]
    X = rng.normal(size=(4250, 50))
    coef = np.append([2.0, -2.0, 1.5, 1.0], np.zeros(46)) if name == "sparse" else rng.normal(size=50) / 5
    y = (X @ coef + rng.logistic(size=4250) > 0).astype(int)
    return X[:250], y[:250], X[250:], y[250:]


def scores(name: str, repeats: int) -> Iterator[tuple[str, np.ndarray]]:
    """Accuracy, log loss and CPU seconds of every model, means over the halves."""
    for label, make in MODELS.items():
        if name == "digits" and label in SAMPLED:
            continue
        found = []
        for seed in range(repeats):
            X, y, new, labels = halves(name, seed)
            begin = time.process_time()
            p = make().fit(X, y).predict_proba(new)
            spent = time.process_time() - begin
            found.append(((p.argmax(axis=1) == labels).mean(), log_loss(labels, p), spent))
        yield label, np.mean(found, axis=0)


def main(small: bool = False) -> None:
    print(f"{'':15}{'':22} accuracy  log loss  CPU s")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        th.SparseMultinomialLogit(**RUN).fit(*halves("wine", 0)[:2])  # compiles
        for name in ["wine"] if small else DATA:
            for label, (accuracy, loss, spent) in scores(name, 1 if small or name == "digits" else 5):
                print(f"{name:15}{label:22} {accuracy:8.3f}  {loss:8.3f}  {spent:5.2f}", flush=True)


if __name__ == "__main__":
    with threadpool_limits(1):
        main("--small" in sys.argv[1:])
