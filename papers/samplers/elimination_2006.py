"""The published sampler for elimination by aspects: Algorithm 1 of Görür, Jäkel & Rasmussen (2006).

For reproduction only. New features are truncated at K* = 5 candidates, which biases their number
and the concentration downwards: three options whose posterior has 2.21 features on average get
1.67. `algorithm_1` visits the columns of every row, and the weights, in a fresh random order.
`algorithm_1_as_printed` visits them in the order in which they are stored, new ones last; that does
not leave the posterior invariant, because a column's position then depends on its owners, and it
finds far too many features.
"""

import math
from typing import Any

from thali._aspects.chain_state import (
    ALPHA,
    COLUMNS,
    NO_UNIQUE,
    capacity,
    clear_row,
    copy_column,
    remove_column,
    shuffle_columns,
)
from thali._aspects.kernel_operations import (
    apply_member,
    apply_unique,
    apply_weight,
    delta_member,
    delta_unique,
    delta_weight,
    log_rate_after_flip,
    rate_single,
    select_cache,
)
from thali._aspects.likelihoods.similarity_residuals import (
    CONSTANT,
    VARIANCE,
    draw_variance,
    shift_all,
    sum_all,
)
from thali._aspects.moves.alpha_and_scale import draw_concentration
from thali._aspects.moves.births_and_splits import append_column
from thali._aspects.moves.step_tuning import COLUMN_WEIGHT, select_tuning
from thali._aspects.samplers.sweep_bookkeeping import (
    CONTINUE,
    begin_round,
    end_sweep,
    select_level_state,
)
from thali._aspects.weight_priors import draw_prior_weight, log_density_ratio
from thali._compile.jit import kernel, scalar
from thali._inference.numerics.discrete_draws import accept, draw_code, draw_poisson

CANDIDATES = 5  # K*


@kernel
def algorithm_1(
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
    """The published sampler with a valid scan."""
    return run(rng, model, caches, states, tunings, steps, out, until, tune, thin, True)


@kernel
def algorithm_1_as_printed(
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
    """The published sampler with its storage-order scan. Invalid: it shows what the scan does."""
    return run(rng, model, caches, states, tunings, steps, out, until, tune, thin, False)


@scalar
def run(
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
    shuffled: Any,
) -> Any:
    tuning = select_tuning(tunings, 0)
    tuning.target[COLUMN_WEIGHT] = 0.5
    while True:
        status = begin_round(rng, model, caches, states, steps, out, until, tune, thin)
        if status != CONTINUE:
            return status
        b, c = select_level_state(states, steps, 0), select_cache(model.likelihood, caches, 0)
        n = b.Z.shape[1] - 1
        for i in range(n):
            update_row(rng, model, c, b, i, shuffled)
            update_unique_features(rng, model, c, b, i)
        update_weights(rng, model, c, b, tuning, shuffled)
        draw_concentration(rng, model, b)
        end_sweep(b, tuning, tune)


@scalar
def update_row(rng: Any, model: Any, c: Any, b: Any, i: Any, shuffled: Any) -> None:
    """Eq. 9: Gibbs updates of option i's ownership of every column that another option owns."""
    for t in range(line_up(rng, b, shuffled)):
        k = b.order[t]
        joins = b.Z[k, i] == 0.0
        m = b.m[k] + 1 if joins else b.m[k] - 1
        if m == 0:
            continue
        rate = log_rate_after_flip(model.prior, b, k, i, m)
        d = b.w[k] if joins else -b.w[k]
        odds = rate - b.log_rate[k] + delta_member(model.likelihood, c, b, k, i, d)
        if accept(rng, -math.log1p(math.exp(min(-odds, 700.0)))):
            apply_member(model.likelihood, c, b, k, i, d)
            b.Z[k, i] = 1.0 if joins else 0.0
            b.m[k] = m
            b.log_rate[k] = rate


@scalar
def line_up(rng: Any, b: Any, shuffled: Any) -> Any:
    """All columns into b.order, in random order or in that of storage; returns how many there
    are."""
    if shuffled:
        return shuffle_columns(rng, b)
    columns = b.whole[COLUMNS]
    for k in range(columns):
        b.order[k] = k
    return columns


@scalar
def update_unique_features(rng: Any, model: Any, c: Any, b: Any, i: Any) -> None:
    """Eq. 10: which of K* candidates option i owns alone, drawn from the joint posterior of all
    2^K* combinations.

    The candidates' weights are those of its present unique features, the first K* of them, and
    fresh ones from the prior.
    """
    # p / (1 - p), p = (alpha/K*) / (N + alpha/K*)
    odds = b.real[ALPHA] * rate_single(model.prior, i) / CANDIDATES
    known = 0
    present = 0.0
    for k in range(b.whole[COLUMNS]):
        if b.m[k] == 1 and b.Z[k, i] != 0.0:
            present += b.w[k]
            b.m[k] = 0  # removed below; chosen candidates are appended again
            if known < CANDIDATES:
                b.candidates[known] = b.w[k]
                known += 1
    for j in range(known, CANDIDATES):
        b.candidates[j] = rng.standard_exponential()
    drop_empty(b)
    chosen = draw_combination(rng, model, c, b, i, odds, present)
    wanted, _ = weight_of(b, chosen)
    if wanted != present:
        apply_unique(model.likelihood, c, b, i, wanted - present)
    for j in range(CANDIDATES):
        if (chosen >> j) & 1:
            k = b.whole[COLUMNS]
            clear_row(b, k)
            b.Z[k, i] = 1.0
            append_column(model, b, 1, b.candidates[j])


@scalar
def draw_combination(rng: Any, model: Any, c: Any, b: Any, i: Any, odds: Any, present: Any) -> Any:
    """A number whose bits say which candidates option i owns, instead of columns of the weight
    `present`."""
    combinations = 1 << CANDIDATES
    top = -math.inf
    for code in range(combinations):
        wanted, owned = weight_of(b, code)
        if owned > capacity(b) - b.whole[COLUMNS]:
            b.block[code] = -math.inf  # no room; rare, because a sweep starts with enough
            continue
        value = delta_unique(model.likelihood, c, b, i, wanted - present) + owned * math.log(odds)
        b.block[code] = value
        top = max(top, value)
    return draw_code(rng, b, combinations, top)


@scalar
def weight_of(b: Any, code: Any) -> Any:
    """The sum of the candidates in a combination, and their number."""
    total = 0.0
    count = 0.0
    for j in range(CANDIDATES):
        if (code >> j) & 1:
            total += b.candidates[j]
            count += 1.0
    return total, count


@scalar
def drop_empty(b: Any) -> None:
    """Remove the columns without owners; the others keep their order."""
    kept = 0
    for k in range(b.whole[COLUMNS]):
        if b.m[k] > 0:
            if kept != k:
                copy_column(b, k, kept)
                copy_nodes(b, k, kept)
            kept += 1
    b.whole[COLUMNS] = kept


@scalar
def copy_nodes(b: Any, source: Any, target: Any) -> None:
    """Copy the node arrays of a column on a tree."""
    for v in range(b.owning.shape[1]):
        b.owning[target, v] = b.owning[source, v]
        b.log_one[target, v] = b.log_one[source, v]


@scalar
def update_weights(rng: Any, model: Any, c: Any, b: Any, tuning: Any, shuffled: Any) -> None:
    """Eq. 11 and 12, with the proposal Gamma(eta, eta / w), of mean w and standard deviation w /
    sqrt(eta), and its Hastings ratio. eta = 1 / step^2 is adapted to an acceptance rate of one
    half."""
    eta = tuning.step[COLUMN_WEIGHT] ** -2.0
    for t in range(line_up(rng, b, shuffled)):
        k = b.order[t]
        w = b.w[k] * rng.standard_gamma(eta) / eta
        if w - b.w[k] > -b.w[k]:
            ratio = delta_weight(model.likelihood, c, b, k, b.m[k], w - b.w[k]) + proposal_ratio(
                eta, b.w[k], w
            )
            tuning.tried[COLUMN_WEIGHT] += 1
            if accept(rng, ratio):
                apply_weight(model.likelihood, c, b, k, b.m[k], w - b.w[k])
                b.w[k] = w
                tuning.accepted[COLUMN_WEIGHT] += 1
    if model.unique != NO_UNIQUE:
        for i in range(b.Z.shape[1] - 1):
            s = b.s[i] * rng.standard_gamma(eta) / eta
            if s > 0.0:
                ratio = delta_unique(model.likelihood, c, b, i, s - b.s[i]) + proposal_ratio(
                    eta, b.s[i], s
                )
                tuning.tried[COLUMN_WEIGHT] += 1
                if accept(rng, ratio):
                    apply_unique(model.likelihood, c, b, i, s - b.s[i])
                    b.s[i] = s
                    tuning.accepted[COLUMN_WEIGHT] += 1


@scalar
def proposal_ratio(eta: Any, w: Any, new: Any) -> Any:
    """log of p(new) Q(w | new) / (p(w) Q(new | w)) for the prior Exponential(1)."""
    return (2.0 * eta - 1.0) * math.log(w / new) - eta * (w / new - new / w) - (new - w)


# The published sampler for additive clustering (Navarro & Griffiths 2007, section 3), with a valid
# scan
#
# For reproduction and comparison only: correct, but on data with several families of features it
# stays in one. The paper does not say in which order a row's columns, or the weights, are visited;
# here it is a fresh random one every time, because the order of storage, new columns last, does not
# leave the posterior invariant.


STEP = 0.05  # standard deviation of the random walk of a weight


@kernel
def published(
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
    """Sweep until `until` sweeps are done, as `thali._aspects.samplers.default_sweeps.sweep_infinite`
    does."""
    tuning = select_tuning(tunings, 0)
    while True:
        status = begin_round(rng, model, caches, states, steps, out, until, tune, thin)
        if status != CONTINUE:
            return status
        b, c = select_level_state(states, steps, 0), select_cache(model.likelihood, caches, 0)
        for i in range(b.Z.shape[1] - 1):
            update_row(rng, model, c, b, i, True)
            draw_singles(rng, model, b, i)
        walk_weights(rng, model, c, b, tuning)
        walk_constant(rng, model, c, b)
        draw_variance(rng, model.likelihood, c, b)
        draw_concentration(rng, model, b)
        end_sweep(b, tuning, tune)


@scalar
def draw_singles(rng: Any, model: Any, b: Any, i: Any) -> None:
    """Redraw object i's features that no other object has: Poisson(alpha / n), with weights from
    the prior."""
    k = b.whole[COLUMNS] - 1
    while k >= 0:
        if b.m[k] == 1 and b.Z[k, i] != 0.0:
            remove_column(b, k)
        k -= 1
    for _ in range(draw_poisson(rng, b.real[ALPHA] * rate_single(model.prior, i))):
        k = b.whole[COLUMNS]
        if k < capacity(b):  # rarely fails: a sweep starts with enough room
            clear_row(b, k)
            b.Z[k, i] = 1.0
            append_column(model, b, 1, draw_prior_weight(rng, model))


@scalar
def walk_weights(rng: Any, model: Any, c: Any, b: Any, tuning: Any) -> None:
    """Eq. 5: a random walk of every weight; steps below 0 are rejected."""
    for t in range(shuffle_columns(rng, b)):
        k = b.order[t]
        d = STEP * rng.standard_normal()
        tuning.tried[COLUMN_WEIGHT] += 1
        if b.w[k] + d > 0.0:
            ratio = delta_weight(model.likelihood, c, b, k, b.m[k], d) + log_density_ratio(
                model.weights, b.w[k], d
            )
            if accept(rng, ratio):
                apply_weight(model.likelihood, c, b, k, b.m[k], d)
                b.w[k] += d
                tuning.accepted[COLUMN_WEIGHT] += 1


@scalar
def walk_constant(rng: Any, model: Any, c: Any, b: Any) -> None:
    """The same for the additive constant."""
    if model.likelihood.has_constant:
        constant = c.real[CONSTANT]
        d = STEP * rng.standard_normal()
        if constant + d > 0.0:
            gain = d * (sum_all(c.residual) - 0.5 * d * model.likelihood.total) / c.real[VARIANCE]
            if accept(rng, gain + log_density_ratio(model.weights, constant, d)):
                shift_all(model.likelihood, c, d)
                c.real[CONSTANT] = constant + d
