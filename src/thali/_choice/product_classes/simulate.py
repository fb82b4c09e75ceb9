"""Choices simulated at a state, and draws from the prior with choices at each of them."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._compile.jit import compiled, part, scalar
from thali._data.experiments.design import build_design
from thali._model.prior_sample import PriorSample, predictive_group

from .engines.fit import Keeper
from .likelihood import (
    compare,
    is_inside,
    log_likelihood,
    log_sum,
)
from .particles import joined
from .posterior import draws_group
from .reports.effects import named_reports, simulate_reports
from .state import (
    CLASS,
    NEXT_OWNED,
    PERSON,
    PRESENT,
    SIGN,
    SPLIT,
    TOP,
    problem_of,
    target_of,
    workspace,
)
from .sweep import draw_state

if TYPE_CHECKING:
    from thali._data.experiments import ChoiceExperiment

    from .model import ProductClasses


@scalar
def utility_difference(problem: Any, state: Any, n: Any, tau: Any, r: Any, other: Any) -> Any:
    """Sign of the utility of row r minus that of another row, from the features that separate them;
    0 if none does."""
    top = -math.inf
    for once in range(2):
        total, apart = 0.0, 0
        f = state.features.people[n, 0]
        while f >= 0:
            k = state.features.slots[f, CLASS]
            d = (1 if is_inside(problem.tasks.rows, r, state.bits, k) else 0) - (
                1 if is_inside(problem.tasks.rows, other, state.bits, k) else 0
            )
            if d != 0:
                value = log_sum(state.features.log_theta[f], state.features.log_eps[f, tau])
                apart += 1
                if once == 0:
                    top = max(top, value)
                else:
                    total += d * (1 - 2 * state.features.slots[f, SIGN]) * math.exp(value - top)
            f = state.features.slots[f, NEXT_OWNED]
    if apart == 0:  # type: ignore[possibly-unbound]
        return 0
    return 1 if total > 0.0 else -1  # type: ignore[possibly-unbound]


@scalar
def draw_choice(
    rng: np.random.Generator, problem: Any, target: Any, state: Any, n: Any, tau: Any, t: Any
) -> Any:
    """The chosen row in task t."""
    first, end = problem.tasks.first_row[t], problem.tasks.first_row[t + 1]
    if rng.random() < target.delta[t]:
        return first + int(rng.random() * (end - first))
    best = first
    for r in range(first + 1, end):
        if utility_difference(problem, state, n, tau, r, best) > 0:
            best = r
    winners = 1
    choice = best
    for r in range(first, end):
        if r != best and utility_difference(problem, state, n, tau, r, best) == 0:
            winners += 1
            if rng.random() * winners < 1.0:
                choice = r
    return choice


@part
def simulate(rng: np.random.Generator, problem: Any, target: Any, state: Any, chosen: Any) -> None:
    """New choices of the people present, chosen product first; `chosen` (tasks,) receives its place
    in the task."""
    for n in range(state.whole[PRESENT]):
        for t in range(problem.tasks.first_task[n], problem.tasks.first_task[n + 1]):
            r = draw_choice(rng, problem, target, state, n, t - problem.tasks.first_task[n], t)
            first = problem.tasks.first_row[t]
            chosen[t] = r - first
            for w in range(problem.tasks.rows.shape[1]):
                problem.tasks.rows[first, w], problem.tasks.rows[r, w] = (
                    problem.tasks.rows[r, w],
                    problem.tasks.rows[first, w],
                )
    for f in range(state.whole[TOP]):
        n, k = state.features.slots[f, PERSON], state.features.slots[f, CLASS]
        if n >= 0:
            state.features.slots[f, SPLIT] = compare(
                problem.tasks,
                state.bits,
                k,
                n,
                state.features.difference,
                state.features.separates,
                f,
            )


@compiled
def new_choices(
    rng: np.random.Generator, problem: Any, target: Any, state: Any, chosen: Any
) -> None:
    """See `simulate`."""
    simulate(rng, problem, target, state, chosen)


def sample_classes(
    model: "ProductClasses",
    monotone: dict[str, str],
    data: "ChoiceExperiment",
    rngs: Sequence[np.random.Generator],
) -> PriorSample:
    """Classes, who owns them, their values, and a choice in each task."""
    # rows of a task in their order
    first = data.with_fields(chosen=np.zeros(data.n_tasks, np.int64))
    problem = problem_of(first, monotone, model.alpha)
    rows = problem.tasks.rows.copy()
    target, keeper = target_of(problem, model.lapse), Keeper(problem)
    drawn, chosen = [], []
    for rng in rngs:
        problem.tasks.rows[...] = rows  # reordered by simulated choices
        state, choice = (
            draw_state(rng, problem, shapes_from_prior=True),
            np.zeros(data.n_tasks, np.int64),
        )
        new_choices(rng, problem, target, state, choice)
        found = log_likelihood(problem, target, state, workspace(problem, state))
        drawn.append(keeper.draw(state, 0, found, model.lapse))
        chosen.append(choice)
    design, draws = build_design(data), joined(drawn)
    group = draws_group(draws).assign(
        named_reports(simulate_reports(draws, design, cores=1), draws, design)
    )
    predictive = predictive_group(design.observed(), group, {"chosen": np.array(chosen)[None]})
    new = [(data.with_fields(chosen=choice),) for choice in chosen]
    return PriorSample(
        group,
        predictive,
        new,
        {"observed_data": design.observed(), "constant_data": design.to_dataset()},
    )
