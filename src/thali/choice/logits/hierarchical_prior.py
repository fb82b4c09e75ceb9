"""Draws from the prior of the hierarchical logit, and choices simulated at each of them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from thali.model.prior_sample import PriorSample, predictive_group

from ..logit import probabilities, tasks_of
from .hierarchical_draws import draws_group, observed_group, reported
from .hierarchical_fit import Parts

if TYPE_CHECKING:
    from thali.data.experiments import ChoiceExperiment


def sample_tastes(parts: Parts, data: "ChoiceExperiment", rngs: Sequence[np.random.Generator]) -> PriorSample:
    """The population, everybody's tastes, and a choice in each task."""
    from scipy.stats import invwishart

    coding, scale, covariates, prior = parts
    tasks = tasks_of(data, coding)
    matrix, starts, task_of_row = tasks.matrix / coding.scale @ scale.steps, tasks.first_row[:-1], tasks.task_of_row
    person_of_row = data.respondent_of_task[task_of_row]
    people, p = len(data.respondents), matrix.shape[1]
    drawn: dict[str, list[Any]] = {"mean": [], "covariance": [], "beta": [], "log_likelihood": []}
    chosen = []
    for rng in rngs:
        mean = prior.sds(scale.sign) * rng.standard_normal((covariates.matrix.shape[1], p))
        covariance = np.reshape(invwishart.rvs(prior.df, prior.df * prior.scale * np.eye(p), random_state=rng), (p, p))
        beta = covariates.matrix @ mean + rng.standard_normal((people, p)) @ np.linalg.cholesky(covariance).T
        if scale.sign.any():
            beta = np.where(scale.sign == 0.0, beta, scale.sign * np.exp(np.where(scale.sign == 0.0, 0.0, beta)))
        utility = (matrix * beta[person_of_row]).sum(axis=1)
        noisy = utility + rng.gumbel(size=utility.size)  # the largest is the choice of a logit
        choice = np.array([part.argmax() for part in np.split(noisy, starts[1:])])
        terms = np.log(probabilities(utility, task_of_row)[starts + choice])
        values = (mean, covariance, beta, terms.sum())
        for name, value in zip(drawn, values, strict=True):
            drawn[name].append(value)
        chosen.append(choice)
    group = draws_group(
        **{name: np.asarray(values)[None] for name, values in drawn.items()},
        respondents=data.respondents,
        names=coding.names,
        scale=scale,
        covariates=covariates,
    )
    group = group.assign(reported(group["beta"].values, data, coding))
    fixed = {"observed_data": observed_group(data.chosen)}
    predictive = predictive_group(fixed["observed_data"], group, {"chosen": np.array(chosen)[None]})
    return PriorSample(group, predictive, [(data.with_choices(choice),) for choice in chosen], fixed)
