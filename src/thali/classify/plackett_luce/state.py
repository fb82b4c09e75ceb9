"""The state of a chain of Plackett–Luce regression, and the record of its draws."""

import math
from typing import Any, NamedTuple

import numpy as np

from thali.compile.jit import scalar

from .class_rows import ClassRows

LOG_A, LOG_MASS, LOG_LIKELIHOOD, STEP = range(4)  # in State.real
SWEEPS, KEPT, TRIED, ACCEPTED = range(4)  # in State.whole


class State(NamedTuple):
    """Weights λ = λ̄ Λ as logarithms, since those of small a leave the range of floats, and the sums that follow."""

    real: np.ndarray  # (4,) ln a, ln Λ, log-likelihood, step of the walk of a
    whole: np.ndarray  # (4,) sweeps done, draws kept, moves tried and accepted since tuning ended
    log_weights: np.ndarray  # (K, p) ln λ̄
    weights: np.ndarray  # (K, p) λ̄
    totals: np.ndarray  # (p,) Σ_k λ̄_k
    of_class: np.ndarray  # (blocks, width) W_i·λ̄ of the row's own class
    of_all: np.ndarray  # (blocks, width) W_i·Σ_k λ̄_k
    columns: np.ndarray  # (blocks, width) C
    times: np.ndarray  # (blocks, width) Z Λ
    counts: np.ndarray  # (K, p) n_kj
    s: np.ndarray  # (p,) Λ Σ_i Z_i W_ij
    log_rate: np.ndarray  # (p,) ln(b + s_j) of the unscaled s
    scratch: "Scratch"


class Scratch(NamedTuple):
    """Work space, because compiled code that allocates takes long to compile."""

    target: np.ndarray  # (width,)
    running: np.ndarray  # (width,)
    place: np.ndarray  # (width,)
    pull: np.ndarray  # (p,)
    size: np.ndarray  # (p,)
    occupied: np.ndarray  # (K p,)
    new_class: np.ndarray  # (blocks, width)
    new_all: np.ndarray  # (blocks, width)
    change: np.ndarray  # (K + 1, 4)


class Prior(NamedTuple):
    """The prior: weights Gamma(a, b), p(a) ∝ 1/a between exp(low) and exp(high); both are ln a where a is fixed."""

    log_b: float
    low: float
    high: float
    learned: bool


class Draws(NamedTuple):
    """Room for the draws of a chain."""

    a: np.ndarray  # (draws,)
    log_likelihood: np.ndarray  # (draws,)
    weights: np.ndarray  # (draws, K, p) λ̄
    log_weights: np.ndarray  # (draws,) Σ_kj ln λ̄_kj, also where λ̄ leaves the range of floats


def state_from(log_weights: np.ndarray, log_a: float, rows: ClassRows) -> State:
    """A state at some weights, which need not sum to 1; a sweep fills everything that follows from them."""
    shape, p = rows.W.shape[::2], rows.W.shape[1]
    log_weights = np.ascontiguousarray(log_weights, np.float64).copy()
    state = State(
        real=np.array([log_a, 0.0, -math.inf, 0.3]),
        whole=np.zeros(4, np.int64),
        log_weights=log_weights,
        weights=np.zeros_like(log_weights),
        totals=np.zeros(p),
        of_class=np.zeros(shape),
        of_all=np.zeros(shape),
        columns=np.zeros(shape, np.int64),
        times=np.zeros(shape),
        counts=np.zeros(log_weights.shape, np.int64),
        s=np.zeros(p),
        log_rate=np.zeros(p),
        scratch=Scratch(
            target=np.zeros(shape[1]),
            running=np.zeros(shape[1]),
            place=np.zeros(shape[1], np.int64),
            pull=np.zeros(p),
            size=np.zeros(p),
            occupied=np.zeros(log_weights.size, np.int64),
            new_class=np.zeros(shape),
            new_all=np.zeros(shape),
            change=np.zeros((len(log_weights) + 1, 4)),
        ),
    )
    state.real[LOG_MASS] = normalise(state.log_weights, state.weights, state.totals)
    return state


def empty_kept(draws: int, classes: int, p: int) -> Draws:
    return Draws(np.zeros(draws), np.zeros(draws), np.zeros((draws, classes, p)), np.zeros(draws))


@scalar
def normalise(log_weights: Any, weights: Any, totals: Any) -> Any:
    """Make the weights sum to 1; returns the logarithm of their former sum."""
    classes, p = log_weights.shape
    top = -math.inf
    for k in range(classes):
        for j in range(p):
            top = max(top, log_weights[k, j])
    mass = 0.0
    for k in range(classes):
        for j in range(p):
            weights[k, j] = math.exp(log_weights[k, j] - top)
            mass += weights[k, j]
    log_mass = top + math.log(mass)
    for j in range(p):
        total = 0.0
        for k in range(classes):
            log_weights[k, j] -= log_mass
            weights[k, j] /= mass
            total += weights[k, j]
        totals[j] = total
    return log_mass


@scalar
def keep_if_due(state: Any, kept: Any, tune: int, thin: Any) -> None:
    """Record the state after every `thin` sweeps after tuning."""
    sweeps, done = state.whole[SWEEPS], state.whole[KEPT]
    if sweeps <= tune or (sweeps - tune) % thin != 0 or done == kept.a.shape[0]:
        return
    kept.a[done] = math.exp(state.real[LOG_A])
    kept.log_likelihood[done] = state.real[LOG_LIKELIHOOD]
    total = 0.0
    for k in range(state.weights.shape[0]):
        for j in range(state.weights.shape[1]):
            kept.weights[done, k, j] = state.weights[k, j]
            total += state.log_weights[k, j]
    kept.log_weights[done] = total
    state.whole[KEPT] = done + 1
