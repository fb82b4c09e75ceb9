"""Log evidence of worths: Laplace grid over prior sds, corrected by importance sampling."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._posterior.convergence_check import ConvergenceCheck
from thali._posterior.log_evidence import LogEvidence
from thali.errors import Message

if TYPE_CHECKING:
    from .population_posterior import WorthProblem

_MAX_DEVIATIONS, _MIN_DEVIATIONS = 4000, 200  # limits of deviations at a point of the lattice
_MAX_TERMS = 1 << 26  # rows times deviations times points of the lattice
_MAX_ERROR = 0.5  # with a larger standard error, the log evidence is not usable


def estimate_log_evidence(problem: "WorthProblem", rng: np.random.Generator) -> LogEvidence:
    r"""Estimate the log evidence of the model, multinomial coefficients included.

    At each point of the lattice Laplace's approximation is multiplied by the mean of :math:`p(m +
    h) / q(m + h)`, with deviations h of the normal distribution q about the mode m, each taken with
    its opposite.
    """
    import pandas as pd

    marginal = problem.marginal
    density = problem.density
    n_points = len(marginal.weights)
    n_deviations = int(
        np.clip(
            _MAX_TERMS // (2 * n_points * max(density.n_rows, 1)), _MIN_DEVIATIONS, _MAX_DEVIATIONS
        )
    )
    mean_ratios, ratio_errors = np.empty((2, n_points))
    for k, spreads in enumerate(marginal.spreads):
        mode = marginal.build_mode(k)
        standard_normals = rng.standard_normal((density.size, n_deviations))
        deviations = mode.factor.draw(standard_normals)
        mode_point = mode.point[:, None]
        log_normal_density = float(density.log_densities(mode_point, spreads)[0]) - 0.5 * (
            standard_normals**2
        ).sum(axis=0)
        log_ratios = np.array(
            [
                density.log_densities(mode_point + sign * deviations, spreads) - log_normal_density
                for sign in (1.0, -1.0)
            ]
        )
        ratios = np.exp(log_ratios).mean(axis=0)
        mean_ratios[k], ratio_errors[k] = ratios.mean(), ratios.std() / math.sqrt(n_deviations)
    total_ratio = float(marginal.weights @ mean_ratios)
    log_evidence_error = float(np.sqrt((marginal.weights**2) @ ratio_errors**2)) / total_ratio
    log_evidence = (
        marginal.evidence + math.log(total_ratio) + problem.build_data_groups().log_constant
    )
    return LogEvidence(
        log_evidence,
        log_evidence_error,
        math.inf,
        _check_error(log_evidence_error, n_points),
        np.array([log_evidence]),
        pd.DataFrame(),
    )


def _check_error(error: float, n_points: int) -> ConvergenceCheck:
    """Return a convergence check of the log evidence's standard error."""
    facts: dict[str, Any] = {"points": n_points, "standard_error": error}
    if error <= _MAX_ERROR:
        return ConvergenceCheck(
            True, facts, Message(f"Importance sampling at {n_points} spreads has converged.")
        )
    return ConvergenceCheck(
        False,
        facts,
        Message(
            f"The log evidence is not usable: its standard error is {error:.2f} (target: at most"
            f" {_MAX_ERROR:g})."
        ),
    )
