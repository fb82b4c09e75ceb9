"""Small problems that several tests share."""

import numpy as np

from thali import PairedComparisons, Similarities
from thali._aspects.chain_state import (
    ALPHA,
    COLUMNS,
    FIXED_UNIQUE,
    NO_UNIQUE,
    TOTAL_UNIQUE,
    ChainModel,
    make_empty_state,
)
from thali._aspects.kernel_operations import log_rate, rebuild_cache, set_alpha
from thali._aspects.moves.unique_weights import refresh_unique_prior
from thali._aspects.weight_priors import GammaWeights
from thali.likelihoods import Additive, Elimination
from thali.priors import IndianBuffet


def three_options() -> PairedComparisons:
    """The three options of the specification's exact values (6.D)."""
    return PairedComparisons([[0, 6, 2], [1, 0, 3], [4, 1, 0]], labels=["1", "2", "3"])


def random_comparisons(n: int, seed: int, most: int = 6, missing: float = 0.0) -> PairedComparisons:
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, most + 1, (n, n))
    counts[rng.random((n, n)) < missing] = 0
    np.fill_diagonal(counts, 0)
    return PairedComparisons(counts)


def with_ties(data: PairedComparisons, seed: int, most: int = 4) -> PairedComparisons:
    """The same with random numbers of ties."""
    ties = np.triu(
        np.random.default_rng(seed).integers(0, most + 1, (data.n_options, data.n_options)), 1
    )
    return PairedComparisons(data.counts, ties=ties)


def build(
    data,
    prior=None,
    lapse=0.01,
    unique=TOTAL_UNIQUE,
    lo=2,
    hi=None,
    shape=1.0,
    rate=1.0,
    learn=False,
):
    """A model of elimination as the samplers read it, and a function that makes a cache."""
    prior = prior or IndianBuffet()
    elimination = Elimination(lapse, unique != NO_UNIQUE, getattr(data, "n_ties", 0) > 0)
    likelihood, make_cache = elimination.compiled(data, GammaWeights(shape, rate))
    n = data.n_options
    model = ChainModel(
        prior.compiled(n),
        likelihood,
        GammaWeights(shape, rate),
        lo,
        n - 1 if hi is None else hi,
        unique,
        learn,
    )
    return model, make_cache


def unequal(n: int) -> np.ndarray:
    """Numbers of judgements from 1 to 7, another for neighbours in the table."""
    i, j = np.indices((n, n))
    return 1.0 + (3 * (i + j) + 2 * i * j) % 7


def alternating_similarities(
    n: int, variance: float, missing: bool = False, judgements=None
) -> Similarities:
    """Similarities that alternate about 0, of about that variance; if asked to, without that of
    objects 1 and 2."""
    first, second = np.triu_indices(n, 1)
    matrix = np.zeros((n, n))
    matrix[first, second] = np.sqrt(variance) * (-1.0) ** np.arange(first.size)
    matrix += matrix.T
    if missing:
        matrix[1, 2] = matrix[2, 1] = np.nan
    return Similarities(matrix, judgements=judgements)


def random_similarities(n: int, seed: int, missing: float = 0.0, judgements=None) -> Similarities:
    rng = np.random.default_rng(seed)
    matrix = rng.random((n, n))
    matrix = 0.5 * (matrix + matrix.T)
    gaps = np.triu(rng.random((n, n)) < missing, 2)
    matrix[gaps | gaps.T] = np.nan
    return Similarities(matrix, judgements=judgements)


def build_additive(data, prior=None, sigma=0.5, lo=1, shape=1.0, rate=1.0, learn=False):
    """A model of additive clustering as the samplers read it, and a function that makes a cache."""
    likelihood, make_cache = Additive(sigma).compiled(data, GammaWeights(shape, rate))
    n = data.n_options
    prior = (prior or IndianBuffet()).compiled(n)
    return ChainModel(
        prior, likelihood, GammaWeights(shape, rate), lo, n, NO_UNIQUE, learn
    ), make_cache


def make_state(model, make_cache, matrix, weights, unique, alpha=1.5, rows=40):
    """A state with the given columns and its cache, in plain Python."""
    matrix = np.asarray(matrix, bool)
    n, columns = matrix.shape
    state = make_empty_state(n, rows)
    state.Z[:columns, :n] = matrix.T
    state.w[:columns] = weights
    state.m[:columns] = matrix.sum(0)
    state.s[:n] = unique
    state.whole[COLUMNS] = columns
    state.real[ALPHA] = alpha
    cache = make_cache(model.likelihood)
    set_alpha(model.prior, state, alpha)
    for k in range(columns):
        state.log_rate[k] = log_rate(model.prior, state, k, state.m[k])
    refresh_unique_prior(model, state)
    rebuild_cache(model.likelihood, cache, state)
    return state, cache


def contents(state):
    """Matrix (options by columns), weights and unique weights of a state."""
    columns, n = int(state.whole[COLUMNS]), state.Z.shape[1] - 1
    return state.Z[:columns, :n].T.astype(bool), state.w[:columns].copy(), state.s[:n].copy()


__all__ = [
    "FIXED_UNIQUE",
    "NO_UNIQUE",
    "TOTAL_UNIQUE",
    "alternating_similarities",
    "build",
    "build_additive",
    "contents",
    "random_comparisons",
    "random_similarities",
    "make_state",
    "three_options",
    "unequal",
    "with_ties",
]
