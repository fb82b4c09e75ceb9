"""Do the intervals of the sparse logit hold as often as they say? 200 data sets simulated from the
prior, by method.

    python benchmarks/sparse_logit_intervals.py [--small]

Three classes, 80 rows, five covariates; eta ~ Gamma(2, 1). One line a method: the share of
coefficients, and of eta, that the central 50 and 90 % intervals hold, with standard errors over
data sets. Of a normal approximation it shows how much it errs where rows are few.
"""

import sys
import time
from pathlib import Path

import numpy as np

import thali as th

RUN = {"draws": 400, "tune": 300, "chains": 1}
LEVELS = (0.5, 0.9)
CASES = {
    "Laplace prior": {"shape": 2.0},
    "variational": {"shape": 2.0, "method": "variational", "tune": 0},
    "normal approximation": {"shape": 2.0, "method": "laplace", "tune": 0},
}


def design(rows: int = 80):
    """Covariates and three classes; only which classes there are matters."""
    rng = np.random.default_rng(3)
    return rng.normal(size=(rows, 5)), np.arange(rows) % 3


def held(ranks: np.ndarray, level: float) -> tuple[float, float]:
    """The share (in percent) that the central interval holds, and its standard error over data
    sets."""
    inside = (np.abs(ranks - 0.5) < 0.5 * level).mean(axis=1)
    return 100 * inside.mean(), 100 * inside.std(ddof=1) / np.sqrt(len(inside))


def main(small: bool) -> None:
    """Print a line for each case."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    from helpers.calibration import calibrate

    for name, settings in CASES.items():
        begin = time.process_time()
        model = th.SparseMultinomialLogit(**(RUN | settings))
        found = calibrate(model, design(), n=5 if small else 200, random_seed=1)
        of_coefs = [column for column in found.ranks if str(column).startswith("coef")]
        parts = []
        for kind, columns in (("coefficients", of_coefs), ("eta", ["eta"])):
            shares = [held(found.ranks[columns].to_numpy(), level) for level in LEVELS]
            parts.append(
                f"{kind} " + ", ".join(f"{share:4.1f} ({error:.1f})" for share, error in shares)
            )
        print(
            f"{name:21}",
            *parts,
            f"{time.process_time() - begin:.0f} CPU seconds",
            sep="  ",
            flush=True,
        )


if __name__ == "__main__":
    main("--small" in sys.argv[1:])
