"""Draws from the prior over classes, and choices simulated at each of them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from thali.models.prior_sample import PriorSample, stacked
from thali.product_classes.choices import log_likelihood
from thali.product_classes.fit import Keeper
from thali.product_classes.joint import new_choices
from thali.product_classes.particles import joined
from thali.product_classes.posterior import draws_group
from thali.product_classes.problem import problem_of, target_of
from thali.product_classes.state import workspace
from thali.product_classes.study import study_of
from thali.product_classes.sweep import draw_state

if TYPE_CHECKING:
    from thali.data.experiment import ChoiceExperiment
    from thali.product_classes.arguments import Plan


def sample_classes(
    plan: "Plan", monotone: dict[str, str], data: "ChoiceExperiment", rngs: Sequence[np.random.Generator]
) -> PriorSample:
    """Classes, who owns them, their values, and a choice in each task.

    Parameters
    ----------
    plan : Plan
    monotone : dict
        Attribute -> direction.
    data : ChoiceExperiment
    rngs : sequence of numpy.random.Generator
        One a draw.
    """
    import xarray as xr

    first = data.with_choices(np.zeros(data.n_tasks, np.int64))  # rows of a task in their order
    problem = problem_of(first, monotone, plan.alpha, plan.beta)
    rows = problem.tasks.rows.copy()
    target, keeper = target_of(problem, plan.lapse), Keeper(problem, plan.beta)
    drawn, chosen = [], []
    for rng in rngs:
        problem.tasks.rows[...] = rows  # which simulated choices reorder
        state, choice = draw_state(rng, problem, shapes_from_prior=True), np.zeros(data.n_tasks, np.int64)
        new_choices(rng, problem, target, state, choice)
        found = log_likelihood(problem, target, state, workspace(problem, state))
        drawn.append(keeper.draw(state, 0, found, plan.lapse))
        chosen.append(choice)
    group = draws_group(joined(drawn))
    predictive = xr.Dataset({"chosen": stacked(chosen, ("task",))}, {name: group[name] for name in ("chain", "draw")})
    new = [(data.with_choices(choice),) for choice in chosen]
    return PriorSample(group, predictive, new, {"constant_data": study_of(data).to_dataset()})
