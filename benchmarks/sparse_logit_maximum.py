"""The maximum of the sparse logit's posterior: CPU time and objective beside scikit-learn's
liblinear and saga.

    python benchmarks/sparse_logit_maximum.py [--small]

Both maximise log-likelihood - |beta|/C without intercept; eta = 1/C². One thread; compiling is not
counted. The gap is how far the objective of scikit-learn is below that of thali; scikit-learn runs
until its tolerance is 1e-6, or for 500 rounds.
"""

import sys
import time
import warnings
from functools import partial

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

import thali as th

SIZES = {
    "250 x 50": (250, 50, 1.0),
    "2,000 x 300": (2000, 300, 1.0),
    "100,000 x 10": (100_000, 10, 1.0),
}
SPARSE = {"20,000 x 5,000, 0.5 % filled": (20_000, 5000, 0.005)}
SOLVERS = ("liblinear", "saga")


def simulated(n: int, d: int, filled: float):
    """Covariates, sparse if few are filled, and two classes that five of the covariates
    distinguish."""
    rng = np.random.default_rng(0)
    if filled < 1.0:
        X = sparse.random_array((n, d), density=filled, rng=rng, format="csr")
    else:
        X = rng.normal(size=(n, d))
    linear = X[:, :5].sum(axis=1) if filled == 1.0 else 3.0 * X[:, :500].sum(axis=1) - 4.0
    return X, (np.asarray(linear).ravel() + rng.logistic(size=n) > 0).astype(int)


def seconds(fit):
    """CPU seconds of a fit, and what it returned."""
    began = time.process_time()
    found = fit()
    return time.process_time() - began, found


def objective(X, y, coef, c: float) -> float:
    """Log-likelihood minus the penalty."""
    return float(
        -np.logaddexp(0, np.where(y == 1, -1.0, 1.0) * (X @ coef)).sum() - np.abs(coef).sum() / c
    )


def main(small: bool) -> None:
    """Print a line for each size and C."""
    warnings.simplefilter("ignore")
    sizes = {"250 x 50": SIZES["250 x 50"]} if small else SIZES | SPARSE
    print(
        f"{'':30} {'C':>4} {'zeros':>11} {'thali':>8}  "
        + "  ".join(f"{name:>9} ratio     gap" for name in SOLVERS)
    )
    for name, size in sizes.items():
        X, y = simulated(*size)
        for c in (0.1, 1.0):
            model = th.SparseMultinomialLogit(
                method="map", eta=1 / c**2, fit_intercept=False, standardize=False
            )
            model.fit(X, y)
            ours = min(seconds(partial(model.fit, X, y))[0] for _ in range(3))
            best, zeros = objective(X, y, model.coef_[0], c), int((model.coef_ == 0).sum())
            line = f"{name:30} {c:4g} {zeros:5} of {X.shape[1]:4} {ours:8.4f}"
            for solver in SOLVERS:
                theirs = LogisticRegression(
                    l1_ratio=1,
                    C=c,
                    solver=solver,
                    tol=1e-6,
                    max_iter=500,
                    fit_intercept=False,
                    random_state=0,
                )
                time_of, fitted = seconds(partial(theirs.fit, X, y))
                gap = best - objective(X, y, fitted.coef_[0], c)
                line += f"  {time_of:9.4f} {time_of / ours:5.1f} {gap:8.0e}"
            print(line, flush=True)


if __name__ == "__main__":
    with threadpool_limits(1):
        main("--small" in sys.argv[1:])
