"""The published sampler for features on a tree: section 3 of Miller, Griffiths & Jordan (2008).

For reproduction only. Every column k has its own probability pi_k, which follows a random walk.
Features that only one option owns are removed and redrawn from K* = 5 candidates, as in
`algorithm_1`: each is owned with odds alpha lambda_i / K*, and all 2^K* combinations are weighed,
which leaves the posterior of that truncated prior invariant. It biases the number of features
downwards: three options on a tree, which have 3.60 features on average, get 3.26. The paper only
says that it treats new weights like the earlier one; a Poisson number of them up to K*, which eq. 7
allows as well, would give 3.59.

Where the text leaves a choice, 3.1 updates only what another option owns too, in a fresh random
order for every option; 3.3 removes all that an option owns alone before it adds anything; 3.4 draws
pi_k of new columns exactly.

    log P(h | pi) = sum over maximal owning clades c of log one_c  -  gamma * (length of the other
                                                                   edges),
    gamma = -log(1 - pi), log one_c: that all leaves below c own the feature, given that the node
    above c lacks it

The state stores log one_c for every column and node, and the number of owners below, so that a
toggle reads only the path from the option to the root. b.log_rate, which integrates pi out, is not
used.
"""

import math
from typing import Any

from thali._aspects.chain_state import COLUMNS, SWEEPS, scratch_index, shuffle_columns
from thali._aspects.kernel_operations import apply_member, delta_member, select_cache
from thali._aspects.moves.alpha_and_scale import draw_concentration
from thali._aspects.moves.step_tuning import COLUMN_WEIGHT, select_tuning
from thali._aspects.samplers.sweep_bookkeeping import (
    CONTINUE,
    begin_round,
    end_sweep,
    select_level_state,
)
from thali._compile.jit import kernel, scalar
from thali._inference.numerics.discrete_draws import accept

from .elimination_2006 import update_unique_features, update_weights

SLOPE, MIN_SCALE = 0.06, 0.08  # c and delta of the random walk on pi


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
    tuning.target[COLUMN_WEIGHT] = 0.5
    while True:
        status = begin_round(rng, model, caches, states, steps, out, until, tune, thin)
        if status != CONTINUE:
            return status
        b, c = select_level_state(states, steps, 0), select_cache(model.likelihood, caches, 0)
        n = b.Z.shape[1] - 1
        if b.whole[SWEEPS] == 0:
            begin(model.prior, b)
        for i in range(n):
            update_row(rng, model, c, b, i)
            update_unique_features(rng, model, c, b, i)
            draw_new_probabilities(rng, model.prior, b, i)
        update_probabilities(rng, model.prior, b)
        update_weights(rng, model, c, b, tuning, True)
        draw_concentration(rng, model, b)
        end_sweep(b, tuning, tune)


@scalar
def begin(prior: Any, b: Any) -> None:
    """Set a missing probability of a column to the share of its owners, and fill the arrays of its
    nodes."""
    n = b.Z.shape[1] - 1
    for k in range(b.whole[COLUMNS]):
        if b.pi[k] == 0.0:
            b.pi[k] = b.m[k] / (n + 1.0)
        count_owners(prior, b, k)
        refresh_log_one(prior, b, k, b.pi[k])


@scalar
def update_row(rng: Any, model: Any, c: Any, b: Any, i: Any) -> None:
    """Section 3.1, eq. 3: Gibbs updates of option i's ownership of every column that another option
    owns."""
    for t in range(shuffle_columns(rng, b)):
        k = b.order[t]
        joins = b.Z[k, i] == 0.0
        if not joins and b.m[k] == 1:
            continue
        d = b.w[k] if joins else -b.w[k]
        odds = log_odds_of_owning(model.prior, b, k, i)
        odds = (odds if joins else -odds) + delta_member(model.likelihood, c, b, k, i, d)
        if accept(rng, -math.log1p(math.exp(min(-odds, 700.0)))):
            apply_member(model.likelihood, c, b, k, i, d)
            step = 1 if joins else -1
            b.Z[k, i] += step
            b.m[k] += step
            v = i
            while v >= 0:
                b.owning[k, v] += step
                v = model.prior.parent[v]


@scalar
def log_odds_of_owning(prior: Any, b: Any, k: Any, i: Any) -> Any:
    """log of P(z_ik = 1 | z_-ik, pi_k) / P(z_ik = 0 | z_-ik, pi_k).

    If i owns it, the largest clade that all own has one stem; without i, the clades beside the path
    from i to the root are separate, and the feature arose nowhere on that path.
    """
    gamma = -math.log1p(-b.pi[k])
    root = prior.parent.shape[0] - 1
    lacking = 1 if b.Z[k, i] == 0.0 else 0
    odds = gamma * length(prior, i)
    v = i
    while (
        prior.parent[v] != root
        and b.owning[k, prior.parent[v]] + lacking == prior.size[prior.parent[v]]
    ):
        up = prior.parent[v]
        other = prior.child[up]
        while other >= 0:
            if other != v:
                odds -= b.log_one[k, other]
            other = prior.sibling[other]
        v = up
        odds += gamma * length(prior, v)
    return odds + b.log_one[k, v]


@scalar
def length(prior: Any, v: Any) -> Any:
    """Length of the edge above a node."""
    return prior.ends[v] - prior.ends[v - 1] if v > 0 else prior.ends[0]


@scalar
def draw_new_probabilities(rng: Any, prior: Any, b: Any, i: Any) -> None:
    """Section 3.4: pi of the columns that option i owns alone. They are the last columns, all of
    them just redrawn."""
    k = b.whole[COLUMNS] - 1
    while k >= 0 and b.m[k] == 1 and b.Z[k, i] != 0.0:
        b.pi[k] = draw_probability_alone(rng, prior, i)
        count_owners(prior, b, k)
        refresh_log_one(prior, b, k, b.pi[k])
        k -= 1


@scalar
def draw_probability_alone(rng: Any, prior: Any, i: Any) -> Any:
    """An exact draw from eq. 8, by rejection; more than every other trial is accepted.

    In gamma the density is (1 - exp(-gamma t)) exp(-gamma (T - t)) / (exp(gamma) - 1), and 1 -
    exp(-gamma t) is at most t gamma, gamma at most exp(gamma / 2) - exp(-gamma / 2).
    """
    t = length(prior, i)
    rest = prior.ends[prior.ends.shape[0] - 1] - t
    while True:
        gamma = rng.standard_exponential() / (rest + 0.5)
        if rng.random() * t * 2.0 * math.sinh(0.5 * gamma) <= -math.expm1(-gamma * t):
            return -math.expm1(-gamma)


@scalar
def update_probabilities(rng: Any, prior: Any, b: Any) -> None:
    """Section 3.2, eq. 5: a Metropolis-Hastings step for pi of every column."""
    for k in range(b.whole[COLUMNS]):
        update_probability(rng, prior, b, k)


@scalar
def update_probability(rng: Any, prior: Any, b: Any, k: Any) -> None:
    """The proposal is N(pi, c pi (1 - pi) + delta); the density of pi is P(h | pi) / pi."""
    pi = b.pi[k]
    new = pi + math.sqrt(variance(pi)) * rng.standard_normal()
    if not 0.0 < new < 1.0:
        return
    trial = scratch_index(b)
    refresh_log_one(prior, b, trial, new)
    ratio = (
        log_probability(prior, b, k, trial, new)
        - log_probability(prior, b, k, k, pi)
        - math.log(new / pi)
    )
    if accept(rng, ratio + log_proposal(pi, new) - log_proposal(new, pi)):
        b.pi[k] = new
        for v in range(prior.parent.shape[0]):
            b.log_one[k, v] = b.log_one[trial, v]


@scalar
def variance(pi: Any) -> Any:
    return SLOPE * pi * (1.0 - pi) + MIN_SCALE


@scalar
def log_proposal(new: Any, pi: Any) -> Any:
    """log q(new | pi), without the constant."""
    return -0.5 * math.log(variance(pi)) - 0.5 * (new - pi) ** 2 / variance(pi)


@scalar
def log_probability(prior: Any, b: Any, k: Any, row: Any, pi: Any) -> Any:
    """log P(h_k | pi); log one_c at this pi is in the given row."""
    gamma = -math.log1p(-pi)
    root = prior.parent.shape[0] - 1
    total = 0.0
    for v in range(root):
        up = prior.parent[v]
        if b.owning[k, v] < prior.size[v]:
            total -= gamma * length(prior, v)
        elif up == root or b.owning[k, up] < prior.size[up]:
            total += b.log_one[row, v]
    return total


@scalar
def count_owners(prior: Any, b: Any, k: Any) -> None:
    """The owners below every node, for the pattern in row k."""
    n = b.Z.shape[1] - 1
    for v in range(prior.parent.shape[0]):
        b.owning[k, v] = int(b.Z[k, v]) if v < n else 0
    for v in range(prior.parent.shape[0] - 1):
        b.owning[k, prior.parent[v]] += b.owning[k, v]


@scalar
def refresh_log_one(prior: Any, b: Any, row: Any, pi: Any) -> None:
    """log one_c of every clade: it arose on the stem, or it did not and all clades below own it."""
    gamma = -math.log1p(-pi)
    n = b.Z.shape[1] - 1
    root = prior.parent.shape[0] - 1
    for v in range(root + 1):
        b.log_one[row, v] = 0.0
    for v in range(root):  # children before parents: this is the sum over the children
        t = length(prior, v)
        below = b.log_one[row, v] - gamma * t
        if t > 0.0:
            stem = math.log(-math.expm1(-gamma * t))
            if v < n:
                below = stem
            else:
                below = max(stem, below) + math.log1p(math.exp(-abs(stem - below)))
        b.log_one[row, v] = below
        b.log_one[row, prior.parent[v]] += below
