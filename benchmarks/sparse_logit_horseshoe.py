"""Whether the default draws of the horseshoe pass their own check, on nine small sets: R-hat,
effective draws, time.

python benchmarks/sparse_logit_horseshoe.py [SET ...]

Needs scikit-learn, for its data. Half of the rows of real sets are fitted, as one would to predict
the other half.
"""

import sys
import time
import warnings

import numpy as np

import thali as th


def _half(X, y, seed=0):
    """Every other row of a random order."""
    order = np.random.default_rng(seed).permutation(len(y))[: len(y) // 2]
    return np.asarray(X, float)[order], np.asarray(y)[order]


def _bundled(name):
    from sklearn import datasets

    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    return _half(X, y > np.median(y) if name == "diabetes" else y)


def _linear(n, d, effects, seed, correlation=0.0, classes=2):
    """Normal covariates, and classes by a logit with these effects of the first covariates."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * np.sqrt(1.0 - correlation) + rng.normal(size=(n, 1)) * np.sqrt(
        correlation
    )
    beta = np.zeros((classes - 1, d))
    beta[:, : np.shape(effects)[-1]] = effects
    utility = np.column_stack([np.zeros(n), X @ beta.T])
    return X, (utility + rng.gumbel(size=utility.shape)).argmax(axis=1)


def _moons():
    from sklearn.datasets import make_moons

    return make_moons(500, noise=0.3, random_state=0)


SETS = {
    "iris": lambda: _bundled("iris"),
    "wine": lambda: _bundled("wine"),
    "breast": lambda: _bundled("breast_cancer"),
    "diabetes": lambda: _bundled("diabetes"),
    "sparse 50": lambda: _linear(150, 50, [2.0, -2.0, 1.5, -1.5], 1),
    "dense 50": lambda: _linear(150, 50, np.random.default_rng(2).normal(size=50) * 0.5, 2),
    "corr .9": lambda: _linear(200, 20, [[1.0, -1.0, 1.0], [-1.0, 1.0, 0.5]], 3, 0.9, 3),
    "p > n": lambda: _linear(50, 300, [2.0, -2.0, 2.0, -2.0, 2.0], 4),
    "moons": _moons,
}


def measured(name, **arguments):
    """A line of the table."""
    X, y = SETS[name]()
    model = th.SparseMultinomialLogit(prior="horseshoe", random_state=1, **arguments)
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y, cores=1, progressbar=False)
    seconds = time.process_time() - start
    rows = model.summary()
    worst, least = rows["r_hat"].idxmax(), rows["ess_bulk"].idxmin()
    draws = model.posterior_["posterior"].sizes["draw"]
    found = f"{rows['r_hat'].max():.4f} {worst:24s} {rows['ess_bulk'].min():6.0f} {least:24s}"
    below = int((rows["ess_bulk"] < 400).sum()), int((rows["r_hat"] > 1.01).sum())
    agrees = "agrees" if model.convergence().agrees else "disagrees"
    size = f"{len(y):4d} x {X.shape[1]:3d}  {draws:5d} x {model.posterior_.attrs['thin']:2d}"
    print(f"{name:10s} {size} {seconds:6.1f} s  {found} {below} {agrees}")
    return model


if __name__ == "__main__":
    for each in sys.argv[1:] or SETS:
        measured(each)
        sys.stdout.flush()
