"""The sparse logit for many rows: CPU seconds of the sampler to 400 effective draws, and of the normal approximations.

    python benchmarks/sparse_logit_rows.py [--small] [gibbs] [blocks] [digits]

gibbs: 100,000 rows, 10 covariates, 3 classes, four chains of 250 draws after 100; the worst effective sample size of a
coefficient. blocks: 1,000,000 such rows in a Dask array of 20 blocks that are made when they are read, "laplace" and
"variational", each in a process of its own; CPU seconds, and the largest memory of the process. digits: the variational
fit to scikit-learn's digits (all rows, 558 coefficients). One thread for linear algebra; compiling is not counted.
"""

import subprocess
import sys
import time
import warnings

import numpy as np
from threadpoolctl import threadpool_limits

import thali as th
from thali.inference.quiet import without_warnings

COVARIATES, CLASSES = 10, 3
BLOCKS = 20
METHODS = ("laplace", "variational")


def simulated(rows: int, seed: int = 0):
    """Covariates and classes, of which the coefficients are the same for every seed."""
    coefs = np.random.default_rng(1).normal(size=(COVARIATES, CLASSES)) / 2.0
    rng = np.random.default_rng((seed, rows))
    X = rng.normal(size=(rows, COVARIATES))
    return X, (X @ coefs + rng.gumbel(size=(rows, CLASSES))).argmax(axis=1)


def gibbs(rows: int, draws: int, tune: int) -> None:
    """CPU seconds and the worst effective sample size."""
    arguments = {"chains": 4, "cores": 2, "random_seed": 1, "progressbar": False}
    with without_warnings():
        th.SparseMultinomialLogit(draws=10, tune=10, **arguments).fit(*simulated(200))
    data, began = simulated(rows), time.process_time()
    model = th.SparseMultinomialLogit(draws=draws, tune=tune, **arguments).fit(*data)
    spent = time.process_time() - began
    summary = model.summary()
    worst = summary["ess_bulk"].filter(like="coef[").min()
    print(
        f"gibbs, {rows:,} rows: {spent:.1f} CPU s, worst effective sample size of a coefficient {worst:.0f}, of any row "
        f"{summary['ess_bulk'].min():.0f}, largest R-hat {summary['r_hat'].max():.3f}"
    )


def main(small: bool = False, parts: tuple[str, ...] = ("gibbs",)) -> None:
    warnings.simplefilter("ignore")
    if "gibbs" in parts:
        gibbs(*((2_000, 100, 50) if small else (100_000, 250, 100)))


if __name__ == "__main__":
    named = tuple(word for word in sys.argv[1:] if not word.startswith("--"))
    with threadpool_limits(1):
        main("--small" in sys.argv[1:], named or ("gibbs", "blocks", "digits"))
