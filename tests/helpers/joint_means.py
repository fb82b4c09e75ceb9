"""Prior means that a joint-distribution test finds again, and the limit of its scores."""

import math
from itertools import combinations

import numpy as np
from scipy import integrate, special, stats

from thali._aspects import kernel_operations
from thali._aspects.chain_state import make_empty_state

# Some 120 scores in all: |z| < 5.4 in every one has a false alarm below 1e-5.
LIMIT = 5.4


# of the prior of a learned variance, as the documentation has it
VARIANCE_SHAPE, VARIANCE_SHARE = 2.0, 0.02
HEAVY = math.exp(-1.0)  # share of exponential weights above 1


OF_ALPHA = {"alpha": 1.0, "1 / (1 + alpha)": 0.596347362323194}


def buffet_means(n, unique, mean_weight=1.0, heavy=HEAVY):
    """Prior means under the Indian buffet process with alpha ~ Gamma(1, 1); `unique` is 0 where
    there is no weight."""
    h = float(np.sum(1.0 / np.arange(1, n + 1)))
    means = {
        "columns": h,
        "single": 1.0,
        "pairs": 0.5,
        "owned by 0": 1.0,
        "shared weight": mean_weight * (h - 1.0 - 1.0 / n),
        "heavy": heavy * (h - 1.0 - 1.0 / n),
    }
    return OF_ALPHA | means | ({"unique weight": unique} if unique else {})


def tree_means(prior, n):
    """The same under the buffet on a tree, with unique weights."""
    compiled, state = prior.compiled(n), make_empty_state(n, 4)
    single, middle, full = compiled.totals

    def pair(i, j):
        state.Z[2, :n] = 0.0
        state.Z[2, [i, j]] = 1.0
        return math.exp(kernel_operations.log_rate(compiled, state, 2, 2))

    return OF_ALPHA | {
        "columns": single + middle + full,
        "single": single,
        "pairs": sum(pair(i, j) for i in range(n) for j in range(i)),
        "owned by 0": 1.0,
        "shared weight": middle,
        "heavy": HEAVY * middle,
        "unique weight": n + single,
    }


def over_alpha(given):
    """The mean of each of some numbers over alpha ~ Gamma(1, 1)."""
    names = list(given(1.0))

    def weighted(alpha):
        return math.exp(-alpha) * np.array(list(given(alpha).values()))

    found = integrate.quad_vec(weighted, 1e-12, 40.0, epsabs=1e-9)[0]
    return dict(zip(names, found.tolist(), strict=True))


def finite_rates(n, columns, alpha):
    """The probability that a column of the finite prior has these owners."""
    a = alpha / columns
    log_p = [math.log(a) + special.gammaln(m + a) + math.lgamma(n - m + 1) for m in range(n + 1)]
    p = np.exp(np.array(log_p) - math.lgamma(n + 1 + a))
    return {
        frozenset(h): p[len(h)] for size in range(1, n + 1) for h in combinations(range(n), size)
    }


def means_of_parameters(data, weight_prior, tilt=0.0):
    """Of the constant, the variance and the residuals; sigma^2 has the density of its prior times
    sigma^(2 tilt)."""
    shape, rate = weight_prior
    scale = (
        VARIANCE_SHARE
        * np.var(data.values)
        * (VARIANCE_SHAPE - 1.0)
        / np.mean(1.0 / data.judgements)
    )
    precision = VARIANCE_SHAPE - tilt, scale
    return {
        "constant": shape / rate,
        "constant^2": shape * (shape + 1.0) / rate**2,
        "precision": precision[0] / precision[1],
        "log variance": math.log(precision[1]) - special.digamma(precision[0]),
        "error": float(data.values.size),
    }


def means_of_columns(rates, n, weight_prior, alpha, alpha2):
    """Columns whose owners h arrive at rate alpha rates[h]; alpha2 is the mean of alpha^2."""
    shape, rate = weight_prior
    mean, square = shape / rate, shape * (shape + 1.0) / rate**2

    def total(chosen):
        return sum(r for h, r in rates.items() if chosen(h))

    shared = total(lambda h: len(h) > 1)
    pair, other = total(lambda h: {0, 1} <= h), total(lambda h: {0, 2} <= h)
    return {
        "columns": alpha * total(lambda h: True),
        "single": alpha * total(lambda h: len(h) == 1),
        "pairs": alpha * total(lambda h: len(h) == 2),
        "owned by 0": alpha * total(lambda h: 0 in h),
        "shared": alpha * shared,
        "shared^2": alpha * shared + alpha2 * shared**2,
        "full": alpha * rates[frozenset(range(n))],
        "owned pairs": alpha * sum(r * math.comb(len(h), 2) for h, r in rates.items()),
        "shared weight": alpha * shared * mean,
        "heavy": alpha * shared * stats.gamma(shape, scale=1.0 / rate).sf(1.0),
        "weight 01": alpha * pair * mean,
        "weight 01^2": alpha * pair * square + alpha2 * (pair * mean) ** 2,
        "weight 01 * weight 02": alpha * total(lambda h: {0, 1, 2} <= h) * square
        + alpha2 * pair * other * mean**2,
    }


def means_of_similarities(prior, data, weight_prior, tilt=0.0):
    """Prior means of everything under an infinite prior with alpha ~ Gamma(1, 1)."""
    n = data.n_options
    nothing = prior.log_prob(np.zeros((n, 0)), 1.0)
    rates = {}
    for size in range(1, n + 1):
        for owners in combinations(range(n), size):
            column = np.isin(np.arange(n), owners)[:, None]
            rates[frozenset(owners)] = math.exp(prior.log_prob(column, 1.0) - nothing)
    expected = OF_ALPHA | means_of_columns(rates, n, weight_prior, 1.0, 2.0)
    expected |= means_of_parameters(data, weight_prior, tilt)
    if weight_prior[1] > 5.0:
        del expected["heavy"]  # next to none
    return expected
