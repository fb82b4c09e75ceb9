"""Sweeps of the sampler: updates of one person after the other, then of the population."""

from typing import Any

from thali._compile.jit import compiled, scalar
from thali._inference.numerics.decisions import draw_poisson, shuffle

from .moves.class_moves import move_class
from .moves.flip import flip_classes
from .moves.lapse import draw_lapses
from .moves.ownership import scan_ownership
from .moves.scale import rescale
from .moves.singleton_refresh import replace_singletons
from .moves.transport import move_all_values
from .moves.value_shapes import walk_shapes
from .moves.values import update_values
from .prior import extend, rate_of_singletons
from .state import (
    ALPHA,
    CLASSES,
    CONCENTRATION,
    FREE,
    PENDING,
    PRESENT,
    SIGMA,
    START,
    SWEEPS,
    VISITED,
    A,
    ClassProblem,
    ClassState,
    PosteriorTarget,
    Work,
    empty_state,
    grown,
    has_room,
    workspace,
)


@compiled
def run_sweeps(rng: Any, problem: Any, target: Any, state: Any, work: Any, until: Any) -> Any:
    """Run sweeps; False if it stopped because there was no room, True when all are done."""
    while state.whole[SWEEPS] < until:
        if not one_sweep(rng, problem, target, state, work):
            return False
    return True


@scalar
def one_sweep(rng: Any, problem: Any, target: Any, state: Any, work: Any) -> Any:
    """The rest of a sweep: visits of the people present in order, then the population."""
    while state.whole[VISITED] < state.whole[PRESENT]:
        n = state.whole[VISITED]
        if not is_ready(rng, problem, state, n):
            return False
        visit(rng, problem, target, state, work, n)
        state.whole[VISITED] += 1
    visit_population(rng, problem, target, state, work)
    state.whole[VISITED] = 0
    state.whole[SWEEPS] += 1
    return True


@scalar
def visit(rng: Any, problem: Any, target: Any, state: Any, work: Any, n: Any) -> None:
    """Lapses, classes shared with others, unshared classes, values, their scale."""
    draw_lapses(rng, problem, target, state, work, n)
    scan_ownership(rng, problem, state, work, n)
    replace_singletons(rng, problem, state, work, n, drawn(state))
    update_values(rng, problem, state, work, n)
    rescale(rng, problem, state, n)


@scalar
def visit_population(rng: Any, problem: Any, target: Any, state: Any, work: Any) -> None:
    """Move every class, flip some, move (a, σ) alone and with all values, then alpha."""
    classes = state.whole[CLASSES]
    for k in range(classes):
        work.order[k] = k
    shuffle(rng, work.order, classes)
    for i in range(classes):
        move_class(rng, problem, state, work, work.order[i])
    flip_classes(rng, problem, state)
    if not target.held[0]:
        walk_shapes(rng, problem, state)
        move_all_values(rng, problem, target, state, work)
    draw_concentration(rng, problem, state)


@scalar
def is_ready(rng: Any, problem: Any, state: Any, n: Any) -> Any:
    """Draw the number of unshared classes to propose; returns whether there is room for all that
    the visit may add."""
    if state.whole[PENDING] < 0:
        state.whole[PENDING] = draw_poisson(rng, rate_of_singletons(problem, state))
    return has_room(state, n, state.whole[PENDING] + 1)


@scalar
def drawn(state: Any) -> Any:
    """The number of new classes drawn before; it is used once."""
    new = state.whole[PENDING]
    state.whole[PENDING] = -1
    return new


@scalar
def draw_concentration(rng: Any, problem: Any, state: Any) -> None:
    """alpha | K ~ Gamma(1 + K, 1 + Σ β / (β + i)), if it is learned."""
    if problem.prior[ALPHA] != problem.prior[ALPHA]:
        rate = 1.0 + problem.harmonic[state.whole[PRESENT]]
        state.real[CONCENTRATION] = rng.standard_gamma(1.0 + state.whole[CLASSES]) / rate


@scalar
def forget_everybody(rng: Any, problem: Any, state: Any, shapes_from_prior: Any) -> None:
    """Nobody is present; alpha, and if asked a and σ, from the prior; else these are 2 and .6."""
    for i in range(state.whole.shape[0]):
        state.whole[i] = 0
    state.whole[FREE] = -1
    state.whole[PENDING] = -1
    state.real[A] = rng.standard_exponential() if shapes_from_prior else START[0]
    state.real[SIGMA] = rng.random() if shapes_from_prior else START[1]
    learned = problem.prior[ALPHA] != problem.prior[ALPHA]
    state.real[CONCENTRATION] = rng.standard_exponential() if learned else problem.prior[ALPHA]
    for n in range(state.features.people.shape[0]):
        state.features.people[n, 0], state.features.people[n, 1] = -1, 0
    for i in range(state.counts.shape[0]):
        state.counts[i, 0], state.counts[i, 1] = 0, 0


@scalar
def let_come(rng: Any, problem: Any, state: Any, people: Any) -> Any:
    """Add people until this many are present; False if there was no room."""
    while state.whole[PRESENT] < people:
        if not extend(rng, problem, state):
            return False
    return True


@compiled
def clear_state(rng: Any, problem: Any, state: Any, shapes_from_prior: Any) -> None:
    """See `forget_everybody`."""
    forget_everybody(rng, problem, state, shapes_from_prior)


@compiled
def extend_to(rng: Any, problem: Any, state: Any, people: Any) -> Any:
    """See `let_come`."""
    return let_come(rng, problem, state, people)


def draw_state(
    rng: Any, problem: ClassProblem, *, people: int | None = None, shapes_from_prior: bool = False
) -> ClassState:
    """A state from the prior with this many people, all of them by default."""
    state = empty_state(problem)
    clear_state(rng, problem, state, shapes_from_prior)
    while not extend_to(rng, problem, state, problem.n_people if people is None else people):
        state = grown(state)
    return state


def sweep(
    rng: Any,
    problem: ClassProblem,
    target: PosteriorTarget,
    state: ClassState,
    work: Work,
    sweeps: int,
) -> tuple[ClassState, Work]:
    """Run this many sweeps; returns state and work space, enlarged if there was too little room."""
    until = int(state.whole[SWEEPS]) + sweeps
    while not run_sweeps(rng, problem, target, state, work, until):
        state = grown(state)
        work = workspace(problem, state)
    return state, work
