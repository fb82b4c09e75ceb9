"""Every likelihood of the library once: small data, a state, and the log-likelihood once more, slow
and obvious.

A likelihood that is new gets a line in `LIKELIHOODS`, and a function that makes its `Row`.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import thali as th
from helpers.naive import latent_features as naive
from helpers.problems import (
    FIXED_UNIQUE,
    NO_UNIQUE,
    build,
    build_additive,
    make_state,
    random_comparisons,
    random_similarities,
    unequal,
    with_ties,
)
from helpers.set_problems import random_choices
from helpers.triplet_problems import LAPSE, MIXED, build_triplets
from thali._aspects import kernel_operations
from thali._aspects.chain_state import COLUMNS, ChainModel
from thali._aspects.likelihoods.pair_blocks import LOGLIK, TIE, WEIGHT_I, WEIGHT_J, WIDTH
from thali._aspects.likelihoods.pair_covariates import FIRST_COEFFICIENT
from thali._aspects.weight_priors import EXPONENTIAL
from thali._compile.jit import scalar
from thali.likelihoods import Elimination
from thali.priors import IndianBuffet

KINDS = UNIQUE, MEMBER, WEIGHT, COMPENSATED_MEMBER, COMPENSATED_WEIGHT, SEVERAL, SCALE = range(7)
OF_COLUMNS = MEMBER, WEIGHT
TEN = th.Triplets.from_sets(
    [
        list(map(str, row))
        for row in np.argsort(np.random.default_rng(5).random((40, 10)), axis=1)[:, :4]
    ],
    [
        list(map(str, row))
        for row in np.argsort(np.random.default_rng(5).random((40, 10)), axis=1)[:, 1:3]
    ],
    labels=list(map(str, range(10))),
)


class Row(NamedTuple):
    """One likelihood with some data: a state of it, and what is known of it."""

    data: Any
    model: Any
    make: Callable
    state: Any
    cache: Any
    log_likelihood: Callable  # of features, weights and unique weights: naive
    kinds: tuple[int, ...] = KINDS  # of change that it answers
    kept: Callable = tuple  # the arrays of a cache that a rebuild finds again
    left_out: float = 0.0  # of its log-likelihood by the operations
    spread: float = 0.0  # of the logarithm of a unique weight; 0: at most half of it
    error: float = 1e-9


@scalar
def change(rng, model, c, b, which, i, k, d, commit):
    """Evaluate one change and, if asked to, make it in the cache; returns its delta."""
    likelihood, m = model.likelihood, b.m[k]
    delta = 0.0
    if which == UNIQUE:
        delta = kernel_operations.delta_unique(likelihood, c, b, i, d)
        if commit:
            kernel_operations.apply_unique(likelihood, c, b, i, d)
    elif which == MEMBER:
        delta = kernel_operations.delta_member(likelihood, c, b, k, i, d)
        if commit:
            kernel_operations.apply_member(likelihood, c, b, k, i, d)
    elif which == WEIGHT:
        delta = kernel_operations.delta_weight(likelihood, c, b, k, m, d)
        if commit:
            kernel_operations.apply_weight(likelihood, c, b, k, m, d)
    elif which == COMPENSATED_WEIGHT:
        delta = kernel_operations.delta_compensated_weight(likelihood, c, b, k, m, d)
        if commit:
            kernel_operations.apply_compensated_weight(likelihood, c, b, k, m, d)
    elif which == SCALE:
        kernel_operations.apply_scale(likelihood, c, b, d)
    else:
        delta = kernel_operations.delta_compensated_member(likelihood, c, b, i, k, d)
        if commit:
            kernel_operations.apply_compensated_member(likelihood, c, b, i, k, d)
    return delta


def changed(which, matrix, weights, unique, i, k, d, chosen):
    """The same change made to plain arrays."""
    matrix, weights, unique = matrix.copy(), weights.copy(), unique.copy()
    if which == UNIQUE:
        unique[i] += d
    elif which == MEMBER:
        matrix[i, k] = d > 0
    elif which == WEIGHT:
        weights[k] += d
    # i joins or leaves k and pays from, or into, its unique weight
    elif which == COMPENSATED_MEMBER:
        matrix[i, k] = d > 0
        unique[i] -= d
    elif which == COMPENSATED_WEIGHT:
        weights[k] += d
        unique[matrix[:, k]] -= d
    elif which == SEVERAL:  # the same as COMPENSATED_MEMBER, of several columns at once
        unique[i] -= signs(matrix, weights, i, chosen).sum()
        matrix[i] ^= chosen
    else:
        weights, unique = weights * d, unique * d
    return matrix, weights, unique


def signs(matrix, weights, i, chosen):
    """What i pays if it joins or leaves each of the chosen columns."""
    return np.where(matrix[i], -weights, weights) * chosen


def random_change(rng, which, matrix, weights, unique, i, k, spread):
    """Of what size a change of this kind may be."""
    if which == UNIQUE:
        return unique[i] * (math.exp(spread * rng.normal()) - 1.0 if spread else rng.random() - 0.5)
    if which in (MEMBER, COMPENSATED_MEMBER):
        return -weights[k] if matrix[i, k] else weights[k]
    if which == WEIGHT:
        return (rng.random() - 0.5) * weights[k]
    if which == COMPENSATED_WEIGHT:
        return (rng.random() - 0.5) * min(weights[k], 1.0)
    return 1.0 if which == SEVERAL else 0.8 + 0.4 * rng.random()


def write_back(state, matrix, weights, unique):
    """The state has these columns and weights."""
    columns = int(state.whole[COLUMNS])
    state.Z[:columns, :-1] = matrix.T
    state.w[:columns] = weights
    state.m[:columns] = matrix.sum(0)
    state.s[:-1] = unique


def with_values(data, columns, seed):
    """Random answers to the same pairs, each of which has two values of some covariates."""
    rng = np.random.default_rng(seed)
    i, j = (np.repeat(side, 2) for side in (data.first, data.second))
    n = len(i)
    turned = rng.random(n) < 0.5
    frame = pd.DataFrame({"left": np.where(turned, j, i), "right": np.where(turned, i, j)}).astype(
        str
    )
    frame = frame.assign(
        chosen=rng.choice(["left", "right", "tie"] if data.n_ties else ["left", "right"], n)
    )
    frame = frame.assign(
        n=rng.integers(1, 5, n), **{f"x{m}": rng.normal(size=n).round(1) for m in range(columns)}
    )
    names = [f"x{m}" for m in range(columns)]
    return th.PairedComparisons.from_trials(frame, count="n", covariates=names, labels=data.labels)


def started(model, make, n, columns=4):
    """A state of random columns, and its cache."""
    rng = np.random.default_rng(n)
    matrix, weights = rng.random((n, columns)) < 0.5, rng.gamma(2.0, size=columns)
    return make_state(
        model,
        make,
        matrix,
        weights,
        np.zeros(n) if model.unique == NO_UNIQUE else 3.0 + rng.random(n),
    )


def _sides(likelihood, n, cache):
    """The sums of both sides of every pair, and its log-likelihood."""
    real = likelihood.neighbour.ravel() < n
    return [
        cache.block[:, field : field + WIDTH].ravel()[real]
        for field in (WEIGHT_I, WEIGHT_J, LOGLIK)
    ]


def pairs(n=5, missing=0.0, lapse=0.01, unique=FIXED_UNIQUE, tie=None, beta=None):
    """Paired comparisons, perhaps with ties, perhaps with covariates."""
    data = random_comparisons(n, n, missing=missing)
    data = with_ties(data, 7) if tie else data
    data = with_values(data, len(beta), seed=1) if beta else data
    names = data.covariates.names if beta else ()
    likelihood, make = Elimination(
        lapse, unique != NO_UNIQUE, data.n_ties > 0, covariates=names
    ).compiled(data)
    model = ChainModel(IndianBuffet().compiled(n), likelihood, EXPONENTIAL, 2, n - 1, unique, False)
    state, cache = started(model, make, n)
    if tie:
        cache.real[TIE] = tie
    if beta:
        cache.real[FIRST_COEFFICIENT:] = beta
    kernel_operations.rebuild_cache(likelihood, cache, state)

    def whole(*known):
        return naive.log_likelihood(data, *known, lapse, tie, **({"beta": beta} if beta else {}))

    kinds = KINDS if unique == FIXED_UNIQUE and not beta else (MEMBER, WEIGHT, SCALE)
    kept = tuple if beta else partial(_sides, likelihood, n)
    return Row(data, model, make, state, cache, whole, kinds, kept)


def sets(n, sizes, kept, lapse):
    """Choices out of sets."""
    data = random_choices(n, sizes, n, kept=kept)
    model, make = build(data, lapse=lapse, unique=FIXED_UNIQUE)
    state, cache = started(model, make, n)
    kinds = tuple(kind for kind in KINDS if kind != SEVERAL)
    whole = partial(naive.log_likelihood, data, lapse=lapse)
    return Row(data, model, make, state, cache, whole, kinds, lambda cache: (cache.value,))


def similarities(n=5, missing=0.0, judged=False):
    """Similarities, perhaps means of unequal numbers of judgements; unique weights are nothing to
    them."""
    data = random_similarities(n, n, missing, unequal(n) if judged else None)
    assert bool(missing) == (2 * data.values.size < n * (n - 1))
    model, make = build_additive(data, sigma=0.3)
    rng = np.random.default_rng(n)
    state, cache = make_state(
        model, make, rng.random((n, 4)) < 0.5, rng.gamma(2.0, 0.1, 4), np.zeros(n)
    )
    cache.real[:] = 0.2, 0.05
    kernel_operations.rebuild_cache(model.likelihood, cache, state)

    def whole(matrix, weights, unique=None):
        constant, variance = map(float, cache.real)
        return naive.additive_log_likelihood(data, matrix, weights, constant, math.sqrt(variance))

    left_out = -0.5 * data.values.size * math.log(2.0 * math.pi * model.likelihood.variance)
    left_out += 0.5 * np.log(data.judgements).sum()
    kinds = tuple(kind for kind in KINDS if kind != SCALE)
    return Row(
        data, model, make, state, cache, whole, kinds, lambda cache: (cache.residual,), left_out
    )


def triplets(link, data=TEN):
    """Triplets, where a cache begins with a constant of 1 or, where similarities are exponential,
    0."""
    model, make = build_triplets(data, link)
    n, rng = data.n_options, np.random.default_rng(2)
    matrix = np.eye(n, 3) + np.eye(n, 3, -4)
    state, cache = make_state(model, make, matrix, rng.gamma(2.0, size=3), np.zeros(n))

    def whole(matrix, weights, unique=None):
        return naive.triplet_log_likelihood(
            data, matrix, weights, link, 1.0 if link == "ratio" else 0.0, LAPSE
        )

    return Row(data, model, make, state, cache, whole, OF_COLUMNS)


SIZES = [(2, 0.0), (5, 0.3), (9, 0.0), (21, 0.2)]
SIMILARITIES = {
    f"similarities of {n}, {missing} missing{', judged' * judged}": partial(
        similarities, n, missing, judged
    )
    for n, missing, judged in [
        *((n, m, False) for n, m in [*SIZES, (9, 0.4)]),
        (5, 0.0, True),
        (9, 0.4, True),
    ]
}
COMPILED = SIMILARITIES | {
    f"pairs of {n}, lapse {lapse}": partial(pairs, n, missing, lapse)
    for n, missing in SIZES
    for lapse in (0.0, 0.01)
}
SETS = {
    f"sets of {n}, lapse {lapse}": partial(sets, n, sizes, kept, lapse)
    # 12: no table of masks
    for n, sizes, kept in [(3, (2, 3), 1.0), (6, (2, 3, 4, 5, 6), 0.4), (12, (11, 12), 0.2)]
    for lapse in (0.0, 0.01)
}
TRIPLETS = {
    f"{name} triplets, {link}": partial(triplets, link, data)
    for name, data in {"mixed": MIXED, "ten": TEN}.items()
    for link in ("exp", "ratio")
}
LIKELIHOODS = (
    COMPILED
    | {
        f"{name}{', none unique' * (unique == NO_UNIQUE)}": partial(
            pairs, lapse=0.02, unique=unique, **more
        )
        for name, more in {
            "ties": {"tie": 0.7},
            "covariates": {"beta": (0.7, -1.1)},
            "ties and covariates": {"tie": 0.6, "beta": (0.7, -1.1)},
        }.items()
        for unique in (FIXED_UNIQUE, NO_UNIQUE)
    }
    | SETS
    | TRIPLETS
)
