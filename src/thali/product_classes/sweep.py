"""Sweeps of the two samplers: what is done with one person, and with the whole population after that."""

from thali._jit import compiled, scalar
from thali.mcmc.chance import poisson, shuffle
from thali.product_classes.class_moves import move_class
from thali.product_classes.lapse import draw_lapses
from thali.product_classes.ownership import scan_ownership
from thali.product_classes.prior import extend, rate_of_singletons
from thali.product_classes.problem import ALPHA, Problem, Target
from thali.product_classes.scale import rescale
from thali.product_classes.singletons import replace_singletons
from thali.product_classes.slots import has_room
from thali.product_classes.state import (
    CLASSES,
    CONCENTRATION,
    FREE,
    PENDING,
    PRESENT,
    SIGMA,
    SWEEPS,
    VISITED,
    A,
    State,
    Work,
    grown,
    workspace,
)
from thali.product_classes.switch import switch_and_redraw
from thali.product_classes.transport import move_all_values
from thali.product_classes.value_shapes import walk_shapes
from thali.product_classes.values import update_values

PROPOSALS = 3  # for every class in a sweep


@compiled
def recommended(rng, problem, target, state, work, until):
    """Sweeps of the recommended sampler; False if it stopped for want of room, True once so many are done."""
    while state.whole[SWEEPS] < until:
        if not recommended_sweep(rng, problem, target, state, work):
            return False
    return True


@compiled
def paper(rng, problem, target, state, work, until):
    """Sweeps of the draft's sampler, corrected; as `recommended` otherwise."""
    while state.whole[SWEEPS] < until:
        if not paper_sweep(rng, problem, target, state, work):
            return False
    return True


@scalar
def recommended_sweep(rng, problem, target, state, work):
    """What is left of a sweep: visits of the people present in order, then the population."""
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
def paper_sweep(rng, problem, target, state, work):
    """What is left of a sweep of the draft's sampler."""
    while state.whole[VISITED] < state.whole[PRESENT]:
        n = state.whole[VISITED]
        if not is_ready(rng, problem, state, n):
            return False
        draw_lapses(rng, problem, target, state, work, n)
        switch_and_redraw(rng, problem, target, state, work, n)
        replace_singletons(rng, problem, target, state, work, n, drawn(state))
        state.whole[VISITED] += 1
    walk_shapes(rng, problem, state)
    draw_concentration(rng, problem, state)
    state.whole[VISITED] = 0
    state.whole[SWEEPS] += 1
    return True


@compiled
def visits(rng, problem, target, state, work, n, times):
    """Visits of one person by the recommended sampler; returns how many were done before room was wanting."""
    for done in range(times):
        if not is_ready(rng, problem, state, n):
            return done
        visit(rng, problem, target, state, work, n)
    return times


@scalar
def visit(rng, problem, target, state, work, n):
    """Lapses, classes shared with others, classes of one's own, values, their scale."""
    draw_lapses(rng, problem, target, state, work, n)
    scan_ownership(rng, problem, target, state, work, n)
    replace_singletons(rng, problem, target, state, work, n, drawn(state))
    update_values(rng, problem, target, state, work, n)
    rescale(rng, problem, target, state, n)


@scalar
def visit_population(rng, problem, target, state, work):
    """Three proposals for every class, (a, σ) alone and with all values, alpha."""
    classes = state.whole[CLASSES]
    for k in range(classes):
        work.order[k] = k
    shuffle(rng, work.order, classes)
    for i in range(classes):
        move_class(rng, problem, target, state, work, work.order[i], PROPOSALS)
    walk_shapes(rng, problem, state)
    move_all_values(rng, problem, target, state, work)
    draw_concentration(rng, problem, state)


@scalar
def is_ready(rng, problem, state, n):
    """Draw how many classes of one's own will be proposed; whether there is room for all that the visit may bring."""
    if state.whole[PENDING] < 0:
        state.whole[PENDING] = poisson(rng, rate_of_singletons(problem, state))
    return has_room(state, n, state.whole[PENDING] + 1)


@scalar
def drawn(state):
    """The number of new classes that was drawn, which is used once."""
    new = state.whole[PENDING]
    state.whole[PENDING] = -1
    return new


@scalar
def draw_concentration(rng, problem, state):
    """alpha | K ~ Gamma(1 + K, 1 + Σ β / (β + i)), if it is learned."""
    if problem.prior[ALPHA] != problem.prior[ALPHA]:
        rate = 1.0 + problem.harmonic[state.whole[PRESENT]]
        state.real[CONCENTRATION] = rng.standard_gamma(1.0 + state.whole[CLASSES]) / rate


@scalar
def forget_everybody(rng, problem, state, shapes_from_prior):
    """Nobody is present; alpha, and if asked a and σ, from the prior; else these are 2 and .6."""
    for i in range(state.whole.shape[0]):
        state.whole[i] = 0
    state.whole[FREE] = -1
    state.whole[PENDING] = -1
    state.real[A] = rng.standard_exponential() if shapes_from_prior else 2.0
    state.real[SIGMA] = rng.random() if shapes_from_prior else 0.6
    learned = problem.prior[ALPHA] != problem.prior[ALPHA]
    state.real[CONCENTRATION] = rng.standard_exponential() if learned else problem.prior[ALPHA]
    for n in range(state.features.people.shape[0]):
        state.features.people[n, 0], state.features.people[n, 1] = -1, 0
    for i in range(state.counts.shape[0]):
        state.counts[i, 0], state.counts[i, 1] = 0, 0


@scalar
def let_come(rng, problem, state, people):
    """Let people come until so many are present; False if room was wanting."""
    while state.whole[PRESENT] < people:
        if not extend(rng, problem, state):
            return False
    return True


@compiled
def clear_state(rng, problem, state, shapes_from_prior):
    """See `forget_everybody`."""
    forget_everybody(rng, problem, state, shapes_from_prior)


@compiled
def extend_to(rng, problem, state, people):
    """See `let_come`."""
    return let_come(rng, problem, state, people)


SAMPLERS = {"recommended": recommended, "paper": paper}


def draw_state(rng, problem: Problem, *, people: int | None = None, shapes_from_prior: bool = False) -> State:
    """A state from the prior with that many people, all of them by default."""
    from thali.product_classes.state import empty_state

    state = empty_state(problem)
    clear_state(rng, problem, state, shapes_from_prior)
    while not extend_to(rng, problem, state, problem.n_people if people is None else people):
        state = grown(state)
    return state


def sweep(
    rng, problem: Problem, target: Target, state: State, work: Work, sweeps: int, sampler: str = "recommended"
) -> tuple[State, Work]:
    """So many sweeps; returns state and work, which are new ones if there was too little room."""
    run, until = SAMPLERS[sampler], int(state.whole[SWEEPS]) + sweeps
    while not run(rng, problem, target, state, work, until):
        state = grown(state)
        work = workspace(problem, state)
    return state, work
