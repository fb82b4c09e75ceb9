"""Draws from the prior over classes, and choices simulated at each of them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from thali.data.experiments.design import design_of
from thali.model.prior_sample import PriorSample, predictive_group

from .engines.fit import Keeper
from .likelihood import log_likelihood
from .particles import joined
from .posterior import draws_group
from .reports.reported import reported
from .simulate import new_choices
from .state import problem_of, target_of, workspace
from .sweep import draw_state

if TYPE_CHECKING:
    from thali.data.experiments import ChoiceExperiment

    from .arguments import Settings


def sample_classes(
    settings: "Settings", monotone: dict[str, str], data: "ChoiceExperiment", rngs: Sequence[np.random.Generator]
) -> PriorSample:
    """Classes, who owns them, their values, and a choice in each task."""
    first = data.with_choices(np.zeros(data.n_tasks, np.int64))  # rows of a task in their order
    problem = problem_of(first, monotone, settings.alpha, settings.beta)
    rows = problem.tasks.rows.copy()
    target, keeper = target_of(problem, settings.lapse), Keeper(problem, settings.beta)
    drawn, chosen = [], []
    for rng in rngs:
        problem.tasks.rows[...] = rows  # reordered by simulated choices
        state, choice = draw_state(rng, problem, shapes_from_prior=True), np.zeros(data.n_tasks, np.int64)
        new_choices(rng, problem, target, state, choice)
        found = log_likelihood(problem, target, state, workspace(problem, state))
        drawn.append(keeper.draw(state, 0, found, settings.lapse))
        chosen.append(choice)
    design, draws = design_of(data), joined(drawn)
    group = draws_group(draws).assign(reported(draws, design, cores=1))
    predictive = predictive_group(design.observed(), group, {"chosen": np.array(chosen)[None]})
    new = [(data.with_choices(choice),) for choice in chosen]
    return PriorSample(
        group, predictive, new, {"observed_data": design.observed(), "constant_data": design.to_dataset()}
    )
