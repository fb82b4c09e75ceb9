"""Choices simulated at a state of product classes, and draws from the prior."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._compile.jit import compiled, part, scalar
from thali._data.experiments.fitted_design import build_design
from thali._inference.numerics.array_parts import part_ends, part_range
from thali._model.simulated_data import PriorSample, build_predictive_dataset

from .likelihood import (
    compare_owned,
    is_in_class,
    log_add_exp,
    log_likelihood,
    sign_of_value,
)
from .posterior_datatree import build_scalar_group
from .ragged_draws import concatenate_draws
from .reports.level_effects import label_reports, simulate_quantities
from .samplers.stored_draws import DrawRecorder
from .state import (
    CLASS,
    NEXT_OWNED,
    PERSON,
    PRESENT,
    TOP,
    build_class_problem,
    build_target,
    build_workspace,
)
from .sweep import draw_state

if TYPE_CHECKING:
    from thali._data.experiments import ChoiceExperiment

    from .model import ProductClasses


@scalar
def compare_utilities(problem: Any, state: Any, n: Any, tau: Any, r: Any, r_other: Any) -> Any:
    """Return the sign of respondent n's utility difference u(r) - u(r_other)."""
    top = -math.inf
    for pass_index in range(2):
        total, apart = 0.0, 0
        f = state.features.respondents[n, 0]
        while f >= 0:
            k = state.features.slots[f, CLASS]
            d = (1 if is_in_class(problem.tasks.rows, r, state.bits, k) else 0) - (
                1 if is_in_class(problem.tasks.rows, r_other, state.bits, k) else 0
            )
            if d != 0:
                value = log_add_exp(state.features.log_theta[f], state.features.log_eps[f, tau])
                apart += 1
                if pass_index == 0:
                    top = max(top, value)
                else:
                    total += d * sign_of_value(state.features, f) * math.exp(value - top)
            f = state.features.slots[f, NEXT_OWNED]
    if apart == 0:  # type: ignore[possibly-unbound]
        return 0
    return 1 if total > 0.0 else -1  # type: ignore[possibly-unbound]


@scalar
def draw_choice(
    rng: np.random.Generator, problem: Any, target: Any, state: Any, n: Any, tau: Any, t: Any
) -> Any:
    """Draw which product row of task t respondent n chooses."""
    start, end = part_ends(problem.tasks.first_row, t)
    if rng.random() < target.delta[t]:
        return start + int(rng.random() * (end - start))
    best = start
    for r in range(start + 1, end):
        if compare_utilities(problem, state, n, tau, r, best) > 0:
            best = r
    winners = 1
    choice = best
    for r in range(start, end):
        if r != best and compare_utilities(problem, state, n, tau, r, best) == 0:
            winners += 1
            if rng.random() * winners < 1.0:
                choice = r
    return choice


@part
def simulate_choices(
    rng: np.random.Generator, problem: Any, target: Any, state: Any, chosen: Any
) -> None:
    """Redraw every task's choice into `chosen`, with its row of `problem` first.

    The chosen product moves to the first row of its task; `chosen` (tasks,) receives its former
    place.
    """
    for n in range(state.whole[PRESENT]):
        for t in part_range(problem.tasks.first_task, n):
            r = draw_choice(rng, problem, target, state, n, t - problem.tasks.first_task[n], t)
            start = problem.tasks.first_row[t]
            chosen[t] = r - start
            for w in range(problem.tasks.rows.shape[1]):
                problem.tasks.rows[start, w], problem.tasks.rows[r, w] = (
                    problem.tasks.rows[r, w],
                    problem.tasks.rows[start, w],
                )
    for f in range(state.whole[TOP]):
        if state.features.slots[f, PERSON] >= 0:
            compare_owned(problem, state, f)


@compiled
def run_simulate_choices(
    rng: np.random.Generator, problem: Any, target: Any, state: Any, chosen: Any
) -> None:
    """Call `simulate_choices` from Python."""
    simulate_choices(rng, problem, target, state, chosen)


def sample_classes_prior(
    model: "ProductClasses",
    monotone: dict[str, str],
    data: "ChoiceExperiment",
    rngs: Sequence[np.random.Generator],
) -> PriorSample:
    """Draw classes and choices from the prior, once per generator."""
    # rows of a task in their order
    data_with_first_chosen = data.with_fields(chosen=np.zeros(data.n_tasks, np.int64))
    problem = build_class_problem(data_with_first_chosen, monotone, model.alpha)
    original_rows = problem.tasks.rows.copy()
    target = build_target(problem, model.lapse)
    draw_recorder = DrawRecorder(problem)
    prior_draws = []
    choices = []
    for rng in rngs:
        problem.tasks.rows[...] = original_rows  # reordered by simulated choices
        state = draw_state(rng, problem, shapes_from_prior=True)
        choice = np.zeros(data.n_tasks, np.int64)
        run_simulate_choices(rng, problem, target, state, choice)
        log_likelihood_of_choice = log_likelihood(
            problem, target, state, build_workspace(problem, state)
        )
        prior_draws.append(draw_recorder.record(state, 0, log_likelihood_of_choice, model.lapse))
        choices.append(choice)
    design = build_design(data)
    draws = concatenate_draws(prior_draws)
    posterior_group = build_scalar_group(draws).assign(
        label_reports(simulate_quantities(draws, design, 1, {}), draws, design)
    )
    predictive_group = build_predictive_dataset(
        design.observed(), posterior_group, {"chosen": np.array(choices)[None]}
    )
    new_data = [(data.with_fields(chosen=choice),) for choice in choices]
    return PriorSample(
        posterior_group,
        predictive_group,
        new_data,
        {"observed_data": design.observed(), "constant_data": design.to_dataset()},
    )
