r"""Probabilities that options of a set are chosen as best and as worst, from option weights.

An answer is an ordered pair of members (b, w) of a set S of m options. Under the rule "ranking" it
is any ranking of the set in which b is the first and w the last. Every choice of a ranking, of the
best of the remaining options, lapses with probability :math:`\varepsilon`:

.. math::
    P(b, w \mid S) = c(b \mid S)\, L(w \mid S \setminus b), \qquad
    L(w \mid R) = \sum_{j \in R \setminus w} c(j \mid R)\, L(w \mid R \setminus j), \qquad
    c(j \mid R) = (1 - \varepsilon) \frac{v_j}{\sum_{k \in R} v_k} + \frac{\varepsilon}{|R|}

Under the rule "reversed" it is one choice, of the pair that differs most (maximum difference),
which lapses as one choice:

.. math::
    P(b, w \mid S) = (1 - \varepsilon) \frac{v_b / v_w}{\sum_{i \neq j} v_i / v_j}
    + \frac{\varepsilon}{m (m - 1)}
"""

from typing import Any

import numpy as np

from thali._data.respondent_answers import find_first_answers, list_ordered_pairs
from thali._inference.numerics.weight_shares import divide_positive

RANKING = "ranking"
REVERSED = "reversed"
RULES = (RANKING, REVERSED)
LARGEST = 6  # members of a set under the rule "ranking"
LARGEST_RANKED = 3  # members of a set whose best and worst are a ranking
BLOCK = 2**14  # draws times sets at once; each has all of its subsets
# share of the largest weight of a set that replaces a weight of 0 in quotients
MIN_SHARE = 1e-100
_MIN_WEIGHT = 1e-200  # a smaller one times the share above is 0


def choose_default_rule(data: Any) -> str:
    """Return the default rule of best and worst, "ranking" or "reversed", for the data."""
    if data.worst is not None and data.sizes.max() > LARGEST_RANKED:
        return REVERSED
    return RANKING


def answer_probabilities(
    weights: np.ndarray, set_start: np.ndarray, members: np.ndarray, lapse: float, rule: str
) -> np.ndarray:
    """Return probabilities of all answers to all sets, shape (draws, answers).

    Weights have shape (draws, options).
    """
    set_sizes = np.diff(set_start)
    first_answers = find_first_answers(set_start)
    probabilities = np.empty((len(weights), first_answers[-1]))
    compute_by_rule = _compute_maxdiff_probabilities
    if rule == RANKING:
        compute_by_rule = _compute_ranking_probabilities
    for m in np.unique(set_sizes).tolist():
        sets_of_size = np.flatnonzero(set_sizes == m)
        for set_block in np.split(
            sets_of_size, range(step := max(1, BLOCK // len(weights)), len(sets_of_size), step)
        ):
            set_weights = weights[:, members[set_start[set_block, None] + np.arange(m)]]
            probabilities[:, first_answers[set_block, None] + np.arange(m * (m - 1))] = (
                compute_by_rule(set_weights, lapse)
            )
    return probabilities


def _compute_ranking_probabilities(weights: np.ndarray, lapse: float) -> np.ndarray:
    """Return P(i first, j last of a ranking) of ordered pairs; weights (..., m)."""
    # All subsets are visited, small ones first.
    m = weights.shape[-1]
    is_in_subset = (np.arange(1 << m)[:, None] >> np.arange(m)) & 1
    p_last = {}  # by subset: P(option is its last), 0 for options outside the subset
    for subset in range(1, 1 << m):
        subset_members = np.flatnonzero(is_in_subset[subset])
        if len(subset_members) == 1:
            p_last[subset] = np.broadcast_to(is_in_subset[subset].astype(float), weights.shape)
            continue
        p_chosen = choice_probabilities(weights[..., subset_members], lapse)
        if subset == (1 << m) - 1:
            best, worst = list_ordered_pairs(m)
            # (..., best, worst)
            p_worst_given_best = np.stack([p_last[subset ^ (1 << j)] for j in range(m)], axis=-2)
            return p_chosen[..., best] * p_worst_given_best[..., best, worst]
        p_last[subset] = sum(
            p_chosen[..., k, None] * p_last[subset ^ (1 << j)] for k, j in enumerate(subset_members)
        )
    raise AssertionError("a set has two members or more")


def choice_probabilities(weights: np.ndarray, lapse: float) -> np.ndarray:
    """Return the probability that each option of a set is chosen, lapses included."""
    total_weight = weights.sum(axis=-1, keepdims=True)
    m = weights.shape[-1]
    return (1.0 - lapse) * divide_positive(weights, total_weight, 1.0 / m) + lapse / m


def _compute_maxdiff_probabilities(weights: np.ndarray, lapse: float) -> np.ndarray:
    """Return P(i best, j worst) of ordered pairs, proportional to w_i / w_j."""
    m = weights.shape[-1]
    best, worst = list_ordered_pairs(m)
    # no weight is 0 in a denominator
    largest = weights.max(axis=-1, keepdims=True)
    weights = np.maximum(weights, np.where(largest > _MIN_WEIGHT, MIN_SHARE * largest, 1.0))
    odds = weights[..., best] / weights[..., worst]
    return (1.0 - lapse) * odds / odds.sum(axis=-1, keepdims=True) + lapse / (m * (m - 1))
