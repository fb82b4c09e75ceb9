"""The log evidence of worths: the lattice of the spread, corrected by importance sampling."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._posterior.convergence import ConvergenceCheck
from thali._posterior.evidence import LogEvidence
from thali.errors import Message

if TYPE_CHECKING:
    from .posterior import WorthProblem

_DRAWS, _LEAST = 4000, 200  # deviations at a point of the lattice
_TERMS = 1 << 26  # rows times deviations times points of the lattice
_SURE = 0.5  # standard error up to which the value is used


def evidence_of(problem: "WorthProblem", rng: np.random.Generator) -> LogEvidence:
    r"""Return the log evidence, coefficients of the data included.

    At each point of the lattice Laplace's approximation is multiplied by the mean of :math:`p(m +
    h) / q(m + h)`, with deviations h of the normal distribution q about the mode m, each taken with
    its opposite.
    """
    import pandas as pd

    marginal, density = problem.marginal, problem.density
    points = len(marginal.weights)
    count = int(np.clip(_TERMS // (2 * points * max(density.n_rows, 1)), _LEAST, _DRAWS))
    means, errors = np.empty((2, points))
    for k, spreads in enumerate(marginal.spreads):
        mode = marginal.mode(k)
        normal = rng.standard_normal((density.size, count))
        away, top = mode.factor.draw(normal), mode.point[:, None]
        base = float(density.log_densities(top, spreads)[0]) - 0.5 * (normal**2).sum(axis=0)
        logs = np.array(
            [density.log_densities(top + sign * away, spreads) - base for sign in (1.0, -1.0)]
        )
        ratios = np.exp(logs).mean(axis=0)
        means[k], errors[k] = ratios.mean(), ratios.std() / math.sqrt(count)
    ratio = float(marginal.weights @ means)
    error = float(np.sqrt((marginal.weights**2) @ errors**2)) / ratio
    value = marginal.evidence + math.log(ratio) + problem.groups().log_constant
    return LogEvidence(
        value, error, math.inf, _judged(error, points), np.array([value]), pd.DataFrame()
    )


def _judged(error: float, points: int) -> ConvergenceCheck:
    """Return whether the standard error is small enough."""
    facts: dict[str, Any] = {"points": points, "standard_error": error}
    if error <= _SURE:
        return ConvergenceCheck(
            True, facts, Message(f"Importance sampling at {points} spreads has converged.")
        )
    return ConvergenceCheck(
        False,
        facts,
        Message(
            f"The log evidence is not usable: its standard error is {error:.2f} (target: at most"
            f" {_SURE:g})."
        ),
    )
