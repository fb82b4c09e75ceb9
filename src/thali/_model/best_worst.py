r"""The best and the worst of a set, where every option has one weight, its own: the probability of
each answer.

An answer is an ordered pair of members (b, w) of a set S of m options. Under the rule "ranking" it
is any ranking of the set in which b is the first and w the last; every choice of a ranking, of the
best of those that are left, lapses with probability :math:`\varepsilon`:

.. math::
    P(b, w \mid S) = c(b \mid S)\, L(w \mid S \setminus b), \qquad
    L(w \mid R) = \sum_{j \in R \setminus w} c(j \mid R)\, L(w \mid R \setminus j), \qquad
    c(j \mid R) = (1 - \varepsilon) \frac{v_j}{\sum_{k \in R} v_k} + \frac{\varepsilon}{|R|}

Under the rule "reversed" it is one choice, of the pair that differs most (maximum difference),
which lapses as a whole:

.. math::
    P(b, w \mid S) = (1 - \varepsilon) \frac{v_b / v_w}{\sum_{i \neq j} v_i / v_j}
    + \frac{\varepsilon}{m (m - 1)}
"""

from typing import Any

import numpy as np

from thali._data.answers import find_first_answers, list_ordered_pairs

RANKING, REVERSED = "ranking", "reversed"
RULES = (RANKING, REVERSED)
LARGEST = 6  # members of a set under the rule "ranking"
LARGEST_RANKED = 3  # members of a set whose best and worst are a ranking
BLOCK = 2**14  # draws times sets at once, of each of which there are all subsets
# share of the largest weight of a set that stands for a weight of 0 in quotients
MIN_SHARE = 1e-100


def usual_rule(data: Any) -> str:
    """Return the rule by which the best and the worst of data are modelled unless one is named."""
    return REVERSED if data.worst is not None and data.sizes.max() > LARGEST_RANKED else RANKING


def answer_probabilities(
    weights: np.ndarray, start: np.ndarray, members: np.ndarray, lapse: float, rule: str
) -> np.ndarray:
    """The probability of every answer for weights (draws, options): array (draws, answers)."""
    sizes, first = np.diff(start), find_first_answers(start)
    found = np.empty((len(weights), first[-1]))
    of_rule = _by_ranking if rule == RANKING else _by_difference
    for m in np.unique(sizes).tolist():
        sets = np.flatnonzero(sizes == m)
        for part in np.split(sets, range(step := max(1, BLOCK // len(weights)), len(sets), step)):
            own = weights[:, members[start[part, None] + np.arange(m)]]
            found[:, first[part, None] + np.arange(m * (m - 1))] = of_rule(own, lapse)
    return found


def _by_ranking(own: np.ndarray, lapse: float) -> np.ndarray:
    """Of sets of m members with weights (..., m): all subsets, the smaller ones first."""
    m = own.shape[-1]
    inside = (np.arange(1 << m)[:, None] >> np.arange(m)) & 1
    last = {}  # of each subset the probability that each member is its last; 0 of the others
    for mask in range(1, 1 << m):
        there = np.flatnonzero(inside[mask])
        if len(there) == 1:
            last[mask] = np.broadcast_to(inside[mask].astype(float), own.shape)
            continue
        chosen = shares_of(own[..., there], lapse)
        if mask == (1 << m) - 1:
            best, worst = list_ordered_pairs(m)
            # (..., best, worst)
            after = np.stack([last[mask ^ (1 << j)] for j in range(m)], axis=-2)
            return chosen[..., best] * after[..., best, worst]
        last[mask] = sum(chosen[..., k, None] * last[mask ^ (1 << j)] for k, j in enumerate(there))
    raise AssertionError("a set has two members or more")


def shares_of(own: np.ndarray, lapse: float) -> np.ndarray:
    """The probability of each to be chosen."""
    total, m = own.sum(axis=-1, keepdims=True), own.shape[-1]
    q = np.divide(own, total, out=np.full(own.shape, 1.0 / m), where=total > 0.0)
    return (1.0 - lapse) * q + lapse / m


def above_zero(own: np.ndarray) -> np.ndarray:
    """Weights of sets, those that are 0 as small ones; equal ones where all are 0."""
    largest = own.max(axis=-1, keepdims=True)
    return np.maximum(own, np.where(largest > 0.0, MIN_SHARE * largest, 1.0))


def _by_difference(own: np.ndarray, lapse: float) -> np.ndarray:
    """Of sets of m members with weights (..., m)."""
    m = own.shape[-1]
    best, worst = list_ordered_pairs(m)
    own = above_zero(own)
    odds = own[..., best] / own[..., worst]
    return (1.0 - lapse) * odds / odds.sum(axis=-1, keepdims=True) + lapse / (m * (m - 1))
