"""The recommended samplers: for infinite priors, for a fixed number of columns, and for conjugate
weights.

Every move leaves the posterior invariant by itself. The mix was chosen for the effective draws that
it yields per second.
"""

from typing import Any

from thali._compile.jit import kernel, scalar

from ..moves.births import birth_or_death, compensated_birth_or_death
from ..moves.concentration import draw_alpha_and_scale
from ..moves.duplicates import split_duplicates
from ..moves.flips import collapse, expand, flip_columns, flip_pass
from ..moves.joint_rows import joint_rows
from ..moves.mass_transfer import compensated_flip, compensated_weight, row_block
from ..moves.split_join import transfer
from ..moves.tuning import tuning_at
from ..moves.weights import walk_shared, walk_unique
from ..operations import (
    cache_at,
    draw_parameters,
    draw_weights,
    may_flip,
    rate_between,
    sums_duplicates,
)
from ..state import ALPHA, COLUMNS, NO_UNIQUE
from ..weight_priors import are_exponential
from .loop import GO_ON, after_sweep, before_round, on_level
from .tempering import swap


def kernel_of_rounds(sweep: Any) -> Any:
    """Make the kernel whose rounds sweep every replica once (`samplers.tempering`) until `until`
    rounds are done.

    `caches`, `states` and `tunings` are stacked. The first `tune` rounds adapt the step sizes;
    after them every `thin`-th is recorded. The kernel returns early when a state or the record is
    full; called again with a larger one, it continues with the same draws.
    """
    scalar(sweep)

    def rounds(
        rng: Any,
        model: Any,
        caches: Any,
        states: Any,
        tunings: Any,
        steps: Any,
        out: Any,
        until: Any,
        tune: int,
        thin: Any,
    ) -> Any:
        while True:
            status = before_round(rng, model, caches, states, steps, out, until, tune, thin)
            if status != GO_ON:
                return status
            for t in range(steps.beta.shape[0]):
                b, tuning = on_level(states, steps, t), tuning_at(tunings, t)
                c = cache_at(model.likelihood, caches, steps.at[t])
                sweep(rng, model, c, b, tuning)
                draw_alpha_and_scale(rng, model, c, b)
                after_sweep(b, tuning, tune)
            swap(rng, model, caches, states, steps)

    rounds.__name__ = sweep.__name__
    return kernel(rounds)


@kernel_of_rounds
def infinite(rng: Any, model: Any, c: Any, b: Any, tuning: Any) -> None:
    """Sweep one replica, for the Indian buffet process and its relatives."""
    rate = rate_between(model.prior, model.lo, model.hi)
    flip_pass(rng, model, c, b)
    if rate > 0.0 and b.real[ALPHA] > 0.0:
        for _ in range(3):
            birth_or_death(rng, model, c, b, rate)
        if model.unique != NO_UNIQUE:
            for _ in range(5):
                compensated_birth_or_death(rng, model, c, b, rate)
    columns = b.whole[COLUMNS]
    if columns > 0:
        for _ in range(2 * columns):
            if model.unique != NO_UNIQUE:
                compensated_flip(rng, model, c, b)
            transfer(rng, model, c, b)
        if model.unique != NO_UNIQUE:
            for _ in range(columns):
                row_block(rng, model, c, b)
                compensated_weight(rng, model, c, b, tuning)
        if are_exponential(model.weights) and sums_duplicates(model.likelihood):
            split_duplicates(rng, model, c, b)
    for _ in range(2):
        walk_unique(rng, model, c, b, tuning)
        walk_shared(rng, model, c, b, tuning)
    draw_parameters(model.likelihood, rng, c, b)


@kernel_of_rounds
def infinite_without_unique(rng: Any, model: Any, c: Any, b: Any, tuning: Any) -> None:
    """The same draws for models without unique weights, which have no compensated moves: half the
    code to compile."""
    rate = rate_between(model.prior, model.lo, model.hi)
    flip_pass(rng, model, c, b)
    if rate > 0.0 and b.real[ALPHA] > 0.0:
        for _ in range(3):
            birth_or_death(rng, model, c, b, rate)
    for _ in range(2 * b.whole[COLUMNS]):
        transfer(rng, model, c, b)
    if (
        b.whole[COLUMNS] > 0
        and are_exponential(model.weights)
        and sums_duplicates(model.likelihood)
    ):
        split_duplicates(rng, model, c, b)
    for _ in range(2):
        walk_shared(rng, model, c, b, tuning)
    draw_parameters(model.likelihood, rng, c, b)


@kernel_of_rounds
def fixed(rng: Any, model: Any, c: Any, b: Any, tuning: Any) -> None:
    """The same for a fixed number of columns, whose owners are random (finite prior) or given."""
    if may_flip(model.prior):
        flip_columns(rng, model, c, b)
    for _ in range(b.whole[COLUMNS]):
        if may_flip(model.prior):
            transfer(rng, model, c, b)
            transfer(rng, model, c, b)
        if model.unique != NO_UNIQUE:
            if may_flip(model.prior):
                compensated_flip(rng, model, c, b)
                compensated_flip(rng, model, c, b)
                row_block(rng, model, c, b)
            compensated_weight(rng, model, c, b, tuning)
    for _ in range(2):
        walk_unique(rng, model, c, b, tuning)
        walk_shared(rng, model, c, b, tuning)
    draw_parameters(model.likelihood, rng, c, b)


@kernel_of_rounds
def unique_alone(rng: Any, model: Any, c: Any, b: Any, tuning: Any) -> None:
    """The same draws where there are no columns and never will be, but only the unique weights:
    little to compile."""
    for _ in range(2):
        walk_unique(rng, model, c, b, tuning)
    draw_parameters(model.likelihood, rng, c, b)


@kernel_of_rounds
def conjugate(rng: Any, model: Any, c: Any, b: Any, tuning: Any) -> None:
    """For likelihoods that can draw weights from their conditional: toggles and exact draws,
    nothing else.

    Serves every prior. On similarity data, moves that change a whole column cost more time than
    they saved.
    """
    if may_flip(model.prior):
        flip_pass(rng, model, c, b)
    for _ in range(2):
        draw_weights(model.likelihood, rng, c, b)
        draw_parameters(model.likelihood, rng, c, b)


@kernel_of_rounds
def conjugate_together(rng: Any, model: Any, c: Any, b: Any, tuning: Any) -> None:
    """The same with memberships of an object in overlapping columns drawn together, for annealed
    runs and many objects.

    A sweep takes twice the time. At temperatures from 1.5 to 3 the log-likelihood of 60 faces is
    forgotten in a quarter to a tenth of the sweeps; of 36 Morse signals tempered chains gain
    nothing.
    """
    if may_flip(model.prior):
        expand(rng, model, b)
        flip_columns(rng, model, c, b)
        joint_rows(rng, model, c, b)
        collapse(model, b)
    for _ in range(2):
        draw_weights(model.likelihood, rng, c, b)
        draw_parameters(model.likelihood, rng, c, b)
