"""The sparse logit for many rows: CPU seconds of the sampler to 400 effective draws, and of the
normal approximations.

    python benchmarks/sparse_logit_rows.py [--small] [gibbs] [digits]

gibbs: 100,000 rows, 10 covariates, 3 classes, four chains of 150 draws after 100; the worst
effective sample size of a coefficient. digits: the variational fit to scikit-learn's digits (all rows, 558
coefficients). One thread for linear algebra; compiling is not counted.
"""

import sys
import time
import warnings

import numpy as np
from threadpoolctl import threadpool_limits

import thali as th
from thali._inference.user_warnings import silence_warnings

COVARIATES, CLASSES = 10, 3


def simulated(rows: int, seed: int = 0):
    """Covariates and classes, of which the coefficients are the same for every seed."""
    coefs = np.random.default_rng(1).normal(size=(COVARIATES, CLASSES)) / 2.0
    rng = np.random.default_rng((seed, rows))
    X = rng.normal(size=(rows, COVARIATES))
    return X, (X @ coefs + rng.gumbel(size=(rows, CLASSES))).argmax(axis=1)


def gibbs(rows: int, draws: int, tune: int) -> None:
    """CPU seconds and the worst effective sample size."""
    arguments, run = {"chains": 4, "random_state": 1}, {"cores": 2, "progressbar": False}
    with silence_warnings():
        th.SparseMultinomialLogit(draws=10, tune=10, **arguments).fit(*simulated(200), **run)
    data, began = simulated(rows), time.process_time()
    model = th.SparseMultinomialLogit(draws=draws, tune=tune, **arguments).fit(*data, **run)
    spent = time.process_time() - began
    summary = model.summary()
    worst = summary["ess_bulk"].filter(like="coef[").min()
    print(
        f"gibbs, {rows:,} rows: {spent:.1f} CPU s, worst effective sample size of a coefficient"
        f" {worst:.0f}, largest R-hat {summary['r_hat'].max():.3f}"
    )


def digits(rows: int | None) -> None:
    """CPU seconds of the variational fit, and its bound."""
    from sklearn.datasets import load_digits

    X, y = (each[:rows] for each in load_digits(return_X_y=True))
    model = th.SparseMultinomialLogit(method="variational", draws=500, chains=2, random_state=1)
    began = time.process_time()
    model.fit(X, y, progressbar=False)
    spent = time.process_time() - began
    print(
        f"digits, {len(y):,} rows: {spent:.1f} CPU s, lower bound {model.lower_bound_:.2f},"
        f" settled {model.converged_}"
    )


def main(small: bool = False, parts: tuple[str, ...] = ("gibbs",)) -> None:
    """Print a line for each fit."""
    warnings.simplefilter("ignore")
    if "gibbs" in parts:
        gibbs(*((2_000, 100, 50) if small else (100_000, 150, 100)))
    if "digits" in parts:
        digits(200 if small else None)


if __name__ == "__main__":
    with threadpool_limits(1):
        named = tuple(word for word in sys.argv[1:] if not word.startswith("--"))
        main("--small" in sys.argv[1:], named or ("gibbs", "digits"))
