"""The published sampler for additive clustering (Navarro & Griffiths 2007, section 3), with a valid scan.

For reproduction and comparison only: correct, but on data with several families of features it stays in one. The
paper does not say in which order a row's columns, or the weights, are visited; here it is a fresh random one every
time, because the order of storage, new columns last, does not leave the posterior invariant.
"""

from typing import Any

from thali.compile.jit import kernel, scalar
from thali.inference.numerics.decisions import accept, poisson

from ..column_order import shuffle_columns
from ..likelihoods.residuals import CONSTANT, VARIANCE, draw_variance, outer_shift, outer_sum
from ..moves.births import append
from ..moves.concentration import draw_concentration
from ..moves.tuning import SHARED, tuning_at
from ..operations import apply_weight, cache_at, delta_weight, rate_single
from ..state import ALPHA, COLUMNS, capacity, clear_row, remove_column
from ..weight_priors import log_density_ratio, weight
from .loop import GO_ON, after_sweep, before_round, on_level
from .paper import update_row

STEP = 0.05  # standard deviation of the random walk of a weight


@kernel
def published(
    rng: Any, model: Any, caches: Any, states: Any, tunings: Any, steps: Any, out: Any, until: Any, tune: int, thin: Any
) -> Any:
    """Sweep until `until` sweeps are done, as `thali.aspects.samplers.recommended.infinite` does."""
    tuning = tuning_at(tunings, 0)
    while True:
        status = before_round(rng, model, caches, states, steps, out, until, tune, thin)
        if status != GO_ON:
            return status
        b, c = on_level(states, steps, 0), cache_at(model.likelihood, caches, 0)
        for i in range(b.Z.shape[1] - 1):
            update_row(rng, model, c, b, i, True)
            draw_singles(rng, model, b, i)
        walk_weights(rng, model, c, b, tuning)
        walk_constant(rng, model, c, b)
        draw_variance(rng, model.likelihood, c, b)
        draw_concentration(rng, model, b)
        after_sweep(b, tuning, tune)


@scalar
def draw_singles(rng: Any, model: Any, b: Any, i: Any) -> None:
    """Redraw object i's features that no other object has: Poisson(alpha / n), with weights from the prior."""
    k = b.whole[COLUMNS] - 1
    while k >= 0:
        if b.m[k] == 1 and b.Z[k, i] != 0.0:
            remove_column(b, k)
        k -= 1
    for _ in range(poisson(rng, b.real[ALPHA] * rate_single(model.prior, i))):
        k = b.whole[COLUMNS]
        if k < capacity(b):  # rarely fails: a sweep starts with enough room
            clear_row(b, k)
            b.Z[k, i] = 1.0
            append(model, b, 1, weight(rng, model))


@scalar
def walk_weights(rng: Any, model: Any, c: Any, b: Any, tuning: Any) -> None:
    """Eq. 5: a random walk of every weight; steps below 0 are rejected."""
    for t in range(shuffle_columns(rng, b)):
        k = b.order[t]
        d = STEP * rng.standard_normal()
        tuning.tried[SHARED] += 1
        if b.w[k] + d > 0.0:
            ratio = delta_weight(model.likelihood, c, b, k, b.m[k], d) + log_density_ratio(model.weights, b.w[k], d)
            if accept(rng, ratio):
                apply_weight(model.likelihood, c, b, k, b.m[k], d)
                b.w[k] += d
                tuning.accepted[SHARED] += 1


@scalar
def walk_constant(rng: Any, model: Any, c: Any, b: Any) -> None:
    """The same for the additive constant."""
    if model.likelihood.has_constant:
        constant = c.real[CONSTANT]
        d = STEP * rng.standard_normal()
        if constant + d > 0.0:
            gain = d * (outer_sum(c.residual) - 0.5 * d * model.likelihood.total) / c.real[VARIANCE]
            if accept(rng, gain + log_density_ratio(model.weights, constant, d)):
                outer_shift(model.likelihood, c, d)
                c.real[CONSTANT] = constant + d
