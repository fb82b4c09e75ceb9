"""Problems of Plackett–Luce regression whose posterior is known, and their joint-distribution
test."""

import math

import numpy as np
from arviz_stats.base.array import array_stats
from scipy import integrate, special

from thali._classify.plackett_luce.chain_state import (
    LOG_A,
    LOG_MASS,
    STEP,
    SWEEPS,
    ClassRows,
    WeightPrior,
    allocate_weight_draws,
    build_weight_state,
    sort_rows_by_class,
)
from thali._classify.plackett_luce.markov_chain import (
    run_hamiltonian_sweeps,
    run_recommended_sweeps,
    start_motion,
)

COUNTS = np.array([[7, 2, 0, 5], [1, 9, 3, 5], [2, 2, 6, 4]])  # class × feature, check A1


def one_hot():
    """W = I of check A1, codes and number of classes."""
    features = np.concatenate([np.repeat(np.arange(4), of_class) for of_class in COUNTS])
    return np.eye(4)[features], np.repeat(np.arange(3), COUNTS.sum(axis=1)), 3


def tiny():
    """Six observations of one covariate, check A2."""
    x = np.array([-1.4, -0.6, -0.1, 0.3, 0.9, 1.7])
    return scaled(exponential(x)), np.array([0, 0, 1, 0, 1, 1]), 2


def exponential(x):
    x = np.asarray(x, float)
    return np.stack([np.exp(x), np.exp(-x), np.ones_like(x)], axis=1)


def scaled(W):
    return W / W.max(axis=1, keepdims=True)


def mean_and_error(draws):
    """Mean and Monte Carlo standard error of draws (chain, draw)."""
    return draws.mean(), draws.std() / math.sqrt(float(array_stats.ess(draws, method="mean")))


def within(draws, expected, errors=4.0, slack=0.0):
    mean, error = mean_and_error(draws)
    return abs(mean - expected) <= errors * error + slack


def full_rows(W, n_classes: int) -> ClassRows:
    """Room for any division of the rows into classes: one block a class."""
    n, p = W.shape
    empty = sort_rows_by_class(W, np.arange(n) % n_classes, n_classes)
    return empty._replace(
        W=np.zeros((n_classes, p, n)),
        sizes=np.zeros(n_classes, np.int64),
        class_of_block=np.arange(n_classes),
        first=np.arange(n_classes + 1),
    )


def _new_data(rng, W, weights, rows):
    """Classes of all rows from the model, written into the blocks."""
    scores = (W @ weights.T).cumsum(axis=1)
    codes = (scores[:, :-1] <= (rng.random(len(W)) * scores[:, -1])[:, None]).sum(axis=1)
    for k in range(len(weights)):
        members = W[codes == k]
        rows.sizes[k] = len(members)
        rows.W[k, :, : len(members)] = members.T


def joint_scores(
    W, n_classes: int, sampler: str, a, rounds: int, seed: int, sweep=run_recommended_sweeps
) -> dict[str, float]:
    """(mean − prior mean)/error of functions of a and the weights, alternating sweeps and new data.

    `a` is a number or the range of the prior 1/a.
    """
    learned = isinstance(a, tuple)
    low, high = (math.log(x) for x in (a if learned else (a, a)))
    prior = WeightPrior(math.log(2.0), low, high, learned)
    rng = np.random.default_rng(seed)
    rows, p = full_rows(W, n_classes), W.shape[1]
    state = build_weight_state(
        np.log(rng.standard_exponential((n_classes, p))), 0.5 * (low + high), rows
    )
    motion, nothing = start_motion(state), allocate_weight_draws(0, n_classes, p)
    state.real[STEP] = 0.6 if sampler == "hamiltonian" else 1.0
    log_a, log_mass, logs = np.empty(rounds), np.empty(rounds), np.empty((rounds, n_classes, p))
    for place in range(rounds):
        _new_data(rng, W, state.weights, rows)
        state.counters[SWEEPS] = 0
        if sampler == "hamiltonian":
            run_hamiltonian_sweeps(rng, rows, prior, state, motion, nothing, 1, 0, 1)
        else:
            sweep(rng, rows, prior, state, nothing, 1, 0, 1)
        log_a[place], log_mass[place], logs[place] = (
            state.real[LOG_A],
            state.real[LOG_MASS],
            state.log_weights,
        )
    shape, weights, cells = np.exp(log_a), np.exp(logs), n_classes * p

    def prior_mean(of_a):  # of a function of a
        if not learned:
            return float(of_a(math.exp(low)))
        return integrate.quad(lambda x: of_a(math.exp(x)), low, high, epsabs=1e-11)[0] / (
            high - low
        )

    psi = special.digamma
    found = {
        "square of a weight": ((weights**2).sum(axis=(1, 2)), lambda a: (a + 1) / (cells * a + 1)),
        "first weight": (weights[:, 0, 0], lambda a: 1 / cells),
        "last weight large": (
            weights[:, -1, -1] > 0.3,
            lambda a: special.betainc((cells - 1) * a, a, 0.7),
        ),
        "square of a class": (
            (weights.sum(axis=2) ** 2).sum(axis=1),
            lambda a: (p * a + 1) / (cells * a + 1),
        ),
        "square of a column": (
            (weights.sum(axis=1) ** 2).sum(axis=1),
            lambda a: (n_classes * a + 1) / (cells * a + 1),
        ),
        "logarithms": (shape * logs.mean(axis=(1, 2)), lambda a: a * (psi(a) - psi(cells * a))),
        "sum": (shape * log_mass, lambda a: a * (psi(cells * a) - math.log(2.0))),
        "logarithm of a": (log_a, math.log),
        "its square": (log_a**2, lambda a: math.log(a) ** 2),
        "a": (shape, lambda a: a),
    }
    scores = {}
    for name, (draws, of_a) in found.items():
        draws = np.asarray(draws, float)[None]
        if draws.std() > 1e-12:
            mean, error = mean_and_error(draws)
            scores[name] = (mean - prior_mean(of_a)) / error
    return scores
