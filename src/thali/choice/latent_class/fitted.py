"""What a fit leaves: estimates in the units of the attributes, with their covariance, and draws of them."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali.inference.seeds import streams

from .choice import Fit
from .draws import ClassDraws, class_draws, open_parameters
from .panel import Panel

if TYPE_CHECKING:
    from thali.data.experiments import ChoiceExperiment

    from ..coding import Coding


def fitted_attributes(
    fit: Fit,
    panel: Panel,
    data: "ChoiceExperiment",
    coding: "Coding",
    kept: np.ndarray,
    scale: np.ndarray,
    seed: np.random.SeedSequence,
) -> dict[str, Any]:
    """What a fit leaves, in the units of the attributes."""
    import pandas as pd

    summit = fit.best.summit
    where, number, p = summit.where, len(summit.where.sizes), len(kept)
    labels = pd.Index(np.arange(1, number + 1), name="class")
    names = pd.Index(coding.names, name="coefficient")
    tastes = np.full((number, p), np.nan)
    tastes[:, kept] = where.tastes / scale
    parameters = pd.Index(
        [f"log odds of class {k}" for k in labels[1:]] + [f"class {k}: {name}" for k in labels for name in names]
    )
    free = np.concatenate([np.ones(number - 1, bool), np.tile(kept, number)])
    units = np.concatenate([np.ones(number - 1), np.tile(scale, number)])
    covariance = np.full((len(free), len(free)), np.nan)
    covariance[np.ix_(free, free)] = np.linalg.pinv(summit.information, hermitian=True) / np.outer(units, units)
    drawn = class_draws(panel, summit, scale, streams(seed, 2)[1])
    every = np.zeros((*drawn.tastes.shape[:2], p))
    every[:, :, kept] = drawn.tastes
    people = pd.Index(data.respondents, name="respondent")
    return {
        "sizes_": pd.Series(where.sizes, labels, name="size"),
        "coef_": pd.DataFrame(tastes, labels, names),
        "covariance_": pd.DataFrame(covariance, parameters, parameters),
        "membership_": pd.DataFrame(where.membership, people, labels),
        "individual_": pd.DataFrame(where.membership @ tastes, people, names),
        "log_likelihood_": where.value,
        "aic_": fit.aic,
        "bic_": fit.bic,
        "entropy_r2_": fit.entropy_r2,
        "n_tasks_": data.n_tasks,
        "converged_": summit.converged,
        "unbounded_": tuple(parameters[free][open_parameters(summit.information)]),
        "scheme_": data.scheme,
        "_coding_": coding,
        "_draws_": ClassDraws(drawn.sizes, every, drawn.of_people),
        "_data_": data,
    }
