"""The prior of the standard deviations of worths: everything that knows its form.

The log of the spread of worths is Normal(log 1.3, 1); other standard deviations are
HalfNormal(0.5). Boards have the same prior. Readers are told so by `methods.learned` in
`findings.py`, the docstrings of `model.py` and `people/gibbs_sweep.py`, and `leaderboard.py` and
`leaderboard_report.py` of `_paired`. Tests with its numbers are in `tests/worths`, `tests/paired`
and `tests/model/test_digests.py`.
"""

import math

import numpy as np

from thali._inference.numerics.log_densities import LOG_2PI

LOG_SPREAD_MEAN = math.log(1.3)
HALF_NORMAL_SCALE = 0.5

# log density of x = log spread, up to a constant: power * x - bend * x**2 / 2, for kernels
SPREAD_POWER = LOG_SPREAD_MEAN
SPREAD_BEND = 1.0


def draw_log_spread(rng: np.random.Generator) -> float:
    """Draw the log of the spread."""
    return LOG_SPREAD_MEAN + rng.standard_normal()


def log_density_of_spread(log_spread: np.ndarray) -> np.ndarray:
    """Return the log density of the log of the spread."""
    return -0.5 * ((log_spread - LOG_SPREAD_MEAN) ** 2 + LOG_2PI)


def differentiate_spread(log_spread: float) -> tuple[float, float]:
    """Return slope and minus curvature of the log density of the log of the spread."""
    return LOG_SPREAD_MEAN - log_spread, 1.0


def log_density_of_sd(log_sd: np.ndarray) -> np.ndarray:
    """Return the log density of the log of another standard deviation."""
    scaled_sd = np.exp(log_sd) / HALF_NORMAL_SCALE
    return 0.5 * (math.log(2.0 / math.pi) - scaled_sd**2) - math.log(HALF_NORMAL_SCALE) + log_sd


def differentiate_sd(log_sd: float) -> tuple[float, float]:
    """Return slope and minus curvature of the log density of the log of such a deviation."""
    scaled_variance = math.exp(2.0 * log_sd) / HALF_NORMAL_SCALE**2
    return 1.0 - scaled_variance, 2.0 * scaled_variance
