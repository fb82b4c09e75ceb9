"""The record of a state: classes and owners, without the ε of the data."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from thali._choice.product_classes.ragged_draws import Particles
from thali._choice.product_classes.state import (
    BETA,
    CLASS,
    CLASSES,
    CONCENTRATION,
    NEGATIVE,
    OWNERS,
    PERSON,
    POLARITY,
    PRESENT,
    SIGMA,
    SIGN,
    TOP,
    A,
    ClassProblem,
    ClassState,
)


class Draw(NamedTuple):
    """One state, compact."""

    real: np.ndarray  # (3,) a, sigma, alpha
    log_likelihood: float
    bits: np.ndarray  # (classes, words)
    classes: np.ndarray  # (classes, 3) polarity, owners, negative
    n_owned: np.ndarray  # (N,)
    owned: np.ndarray  # (features, 2) class, sign; person after person
    log_theta: np.ndarray  # (features,)


def snapshot(state: ClassState, log_likelihood: float) -> Draw:
    """A compact copy; people who are not present own nothing."""
    classes, top = state.whole[CLASSES], state.whole[TOP]
    slots = state.features.slots[:top]
    used = np.flatnonzero(slots[:, PERSON] >= 0)
    used = used[np.lexsort((slots[used, CLASS], slots[used, PERSON]))]
    return Draw(
        real=state.real[[A, SIGMA, CONCENTRATION]],
        log_likelihood=log_likelihood,
        bits=state.bits[:classes].copy(),
        classes=state.classes[:classes][:, [POLARITY, OWNERS, NEGATIVE]],
        n_owned=np.where(
            np.arange(len(state.features.respondents)) < state.whole[PRESENT],
            state.features.respondents[:, 1],
            0,
        ),
        owned=slots[used][:, [CLASS, SIGN]],
        log_theta=state.features.log_theta[used],
    )


def to_particles(
    problem: ClassProblem, draws: Sequence[Draw], group: Sequence[int] | np.ndarray, lapse: float
) -> Particles:
    """The draws as predictions and reports read them, levels in the natural order of the data."""
    bits = np.concatenate([d.bits for d in draws])
    classes = np.concatenate([d.classes for d in draws])
    columns = [_columns(problem, i) for i in range(len(problem.n_levels))]
    missing = problem.first_bit[1:] - 1
    owned = np.concatenate([d.owned for d in draws])
    real = np.array([d.real for d in draws])
    return Particles(
        group=np.asarray(group, np.int64),
        a=real[:, 0],
        sigma=real[:, 1],
        alpha=real[:, 2],
        log_likelihood=np.array([d.log_likelihood for d in draws], float),
        lapse=float(lapse),
        beta=float(problem.prior[BETA]),
        offset=np.concatenate([[0], np.cumsum(problem.n_levels)]),
        monotone=problem.direction.astype(np.int8),
        first_class=_ends([len(d.bits) for d in draws]),
        active=~_bits(bits, missing),
        member=_bits(bits, np.concatenate(columns)),
        polarity=classes[:, 0].astype(np.int8),
        n_owners=classes[:, 1],
        n_negative=classes[:, 2],
        first_owned=_ends(np.concatenate([d.n_owned for d in draws])),
        owned_class=owned[:, 0],
        owned_sign=owned[:, 1].astype(np.int8),
        owned_log_theta=np.concatenate([d.log_theta for d in draws]),
    )


def _columns(problem: ClassProblem, i: int) -> np.ndarray:
    """Bits of the levels of attribute i in the natural order of the data."""
    inside = problem.first_bit[i] + np.arange(problem.n_levels[i])
    return inside[::-1] if problem.direction[i] < 0 else inside


def _bits(rows: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Whether the bits at some places are set, row by row."""
    return ((rows[:, places >> 6] >> (places & 63)) & 1).astype(bool)


def _ends(lengths: Any) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
