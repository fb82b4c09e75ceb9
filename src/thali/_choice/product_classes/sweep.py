"""Sweeps of the sampler of product classes: each respondent, then classes and parameters."""

from typing import Any

import numpy as np

from thali._compile.jit import compiled, scalar
from thali._inference.numerics.discrete_draws import draw_poisson, shuffle

from .moves.class_complement import flip_classes
from .moves.class_content_moves import move_class
from .moves.feature_values import update_values
from .moves.lapsed_choices import draw_lapses
from .moves.ownership import scan_ownership
from .moves.quantile_transport import transport_values
from .moves.respondent_scale import rescale_values
from .moves.singleton_refresh import replace_singletons
from .moves.value_shapes import sample_shapes_by_walk
from .prior import add_respondent, singleton_rate
from .state import (
    ALPHA,
    CLASSES,
    CONCENTRATION,
    DEFAULT_SHAPES,
    FREE,
    PENDING,
    PRESENT,
    SIGMA,
    SWEEPS,
    VISITED,
    A,
    ClassProblem,
    ClassState,
    ClassWorkspace,
    PosteriorTarget,
    build_empty_state,
    build_workspace,
    double_capacity,
    has_room,
)


@compiled
def run_sweeps(rng: Any, problem: Any, target: Any, state: Any, work: Any, until: Any) -> Any:
    """Run sweeps until number `until`; return False if the state needs more room."""
    while state.whole[SWEEPS] < until:
        if not finish_sweep(rng, problem, target, state, work):
            return False
    return True


@scalar
def finish_sweep(rng: Any, problem: Any, target: Any, state: Any, work: Any) -> Any:
    """Update the remaining respondents of a sweep, then classes and parameters.

    Returns False if the state needs more room.
    """
    while state.whole[VISITED] < state.whole[PRESENT]:
        n = state.whole[VISITED]
        if not reserve_proposals(rng, problem, state):
            return False
        update_respondent(rng, problem, target, state, work, n)
        state.whole[VISITED] += 1
    update_population(rng, problem, target, state, work)
    state.whole[VISITED] = 0
    state.whole[SWEEPS] += 1
    return True


@scalar
def update_respondent(rng: Any, problem: Any, target: Any, state: Any, work: Any, n: Any) -> None:
    """Update respondent n's lapses, ownership of classes, values and scale."""
    draw_lapses(rng, problem, target, state, work, n)
    scan_ownership(rng, problem, state, work, n)
    replace_singletons(rng, problem, state, work, n, take_pending_count(state))
    update_values(rng, problem, state, work, n)
    rescale_values(rng, problem, state, n)


@scalar
def update_population(rng: Any, problem: Any, target: Any, state: Any, work: Any) -> None:
    """Update every class, flip some, then update (a, sigma) and alpha."""
    classes = state.whole[CLASSES]
    for k in range(classes):
        work.order[k] = k
    shuffle(rng, work.order, classes)
    for i in range(classes):
        move_class(rng, problem, state, work, work.order[i])
    flip_classes(rng, problem, state)
    if not target.fixes_shapes[0]:
        sample_shapes_by_walk(rng, problem, state)
        transport_values(rng, problem, target, state, work)
    draw_concentration(rng, problem, state)


@scalar
def reserve_proposals(rng: Any, problem: Any, state: Any) -> Any:
    """Draw how many new classes to propose; return whether there is room for them."""
    if state.whole[PENDING] < 0:
        state.whole[PENDING] = draw_poisson(rng, singleton_rate(problem, state))
    return has_room(state, state.whole[PENDING] + 1)


@scalar
def take_pending_count(state: Any) -> Any:
    """Return the number of new classes drawn before, and clear it."""
    n_new = state.whole[PENDING]
    state.whole[PENDING] = -1
    return n_new


@scalar
def draw_concentration(rng: Any, problem: Any, state: Any) -> None:
    """Draw alpha given the number of classes, if it is learned."""
    if problem.prior[ALPHA] != problem.prior[ALPHA]:
        rate = 1.0 + problem.harmonic[state.whole[PRESENT]]
        state.real[CONCENTRATION] = rng.standard_gamma(1.0 + state.whole[CLASSES]) / rate


@scalar
def reset_state(rng: Any, problem: Any, state: Any, shapes_from_prior: Any) -> None:
    """Remove all respondents, and reset alpha, a and sigma.

    alpha comes from the prior if it is learned; a and σ do if `shapes_from_prior`, and otherwise
    are 2 and 0.6.
    """
    for i in range(state.whole.shape[0]):
        state.whole[i] = 0
    state.whole[FREE] = -1
    state.whole[PENDING] = -1
    state.real[A] = rng.standard_exponential() if shapes_from_prior else DEFAULT_SHAPES[0]
    state.real[SIGMA] = rng.random() if shapes_from_prior else DEFAULT_SHAPES[1]
    learned = problem.prior[ALPHA] != problem.prior[ALPHA]
    state.real[CONCENTRATION] = rng.standard_exponential() if learned else problem.prior[ALPHA]
    for n in range(state.features.respondents.shape[0]):
        state.features.respondents[n, 0], state.features.respondents[n, 1] = -1, 0
    for i in range(state.counts.shape[0]):
        state.counts[i, 0], state.counts[i, 1] = 0, 0


@scalar
def add_respondents(rng: Any, problem: Any, state: Any, n_people: Any) -> Any:
    """Add respondents until `n_people` are present; return False without room."""
    while state.whole[PRESENT] < n_people:
        if not add_respondent(rng, problem, state):
            return False
    return True


@compiled
def run_reset_state(rng: Any, problem: Any, state: Any, shapes_from_prior: Any) -> None:
    """Call `reset_state` from Python."""
    reset_state(rng, problem, state, shapes_from_prior)


@compiled
def run_add_respondents(rng: Any, problem: Any, state: Any, n_people: Any) -> Any:
    """Call `add_respondents` from Python."""
    return add_respondents(rng, problem, state, n_people)


def draw_state(
    rng: np.random.Generator,
    problem: ClassProblem,
    *,
    n_people: int | None = None,
    shapes_from_prior: bool = False,
) -> ClassState:
    """Draw a state from the prior with `n_people` respondents (default: all)."""
    if n_people is None:
        n_people = problem.n_people
    state = build_empty_state(problem)
    run_reset_state(rng, problem, state, shapes_from_prior)
    while not run_add_respondents(rng, problem, state, n_people):
        state = double_capacity(state)
    return state


def sweep_state(
    rng: np.random.Generator,
    problem: ClassProblem,
    target: PosteriorTarget,
    state: ClassState,
    workspace: ClassWorkspace,
    n_sweeps: int,
) -> tuple[ClassState, ClassWorkspace]:
    """Run sweeps; return state and scratch arrays, enlarged if necessary."""
    until = int(state.whole[SWEEPS]) + n_sweeps
    while not run_sweeps(rng, problem, target, state, workspace, until):
        state = double_capacity(state)
        workspace = build_workspace(problem, state)
    return state, workspace
