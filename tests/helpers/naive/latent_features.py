"""Slow and obvious evaluations, written apart from the fast code that they check."""

import math
from itertools import pairwise, permutations
from typing import Any

import numpy as np

__all__ = [
    "additive_log_likelihood",
    "additive_similarity",
    "answer_probabilities",
    "best_worst_probability",
    "log_joint",
    "log_likelihood",
    "outcome_probabilities",
    "pair_probability",
    "set_probabilities",
]


def pair_probability(
    i: int, j: int, features: Any, weights: Any, unique: Any, lapse: float, eta: float = 0.0
) -> float:
    """Probability that option i is chosen over option j (Görür, Jäkel & Rasmussen 2006, eq. 1, with
    lapses).

    Parameters
    ----------
    i, j : int
    features : array of 0/1, shape (N, K)
    weights : array, shape (K,)
    unique : array, shape (N,)
        Weight of the unique aspect of each option.
    lapse : float in [0, 1)
    eta : float
        What covariates add to the log odds of option i, before it may lapse.

    Returns
    -------
    float

    Examples
    --------
    >>> pair_probability(
    ...     0, 1, features=[[1, 0], [1, 1]], weights=[5.0, 3.0], unique=[1.0, 0.0], lapse=0.0
    ... )
    0.25
    """
    a, b = float(unique[i]), float(unique[j])
    for k, w in enumerate(weights):
        if features[i][k] and not features[j][k]:
            a += w
        if features[j][k] and not features[i][k]:
            b += w
    p = a / (a + b) if a + b > 0.0 else 0.5
    if eta:
        p = p * math.exp(eta) / (p * math.exp(eta) + 1.0 - p)
    return (1.0 - lapse) * p + lapse / 2.0


def set_probabilities(
    members: Any, features: Any, weights: Any, unique: Any, lapse: float
) -> list[float]:
    """Probability of each member to be chosen out of a set, by the recursion as it is printed,
    without any memory.

    P(x | S) = Σ_k w_k P(x | S ∩ h_k) / Σ_k w_k, over the aspects that some members have and others
    lack (Tversky 1972, eq. 6)

    Parameters
    ----------
    members : sequence of int
    features, weights, unique, lapse
        As in `pair_probability`.

    Returns
    -------
    list of float

    Examples
    --------
    >>> set_probabilities(
    ...     [0, 1, 2], features=[[1], [1], [0]], weights=[1.0], unique=[0.0, 0.0, 1.0], lapse=0.0
    ... )
    [0.25, 0.25, 0.5]
    """
    aspects = [(w, {i for i in members if features[i][k]}) for k, w in enumerate(weights)]
    aspects += [(float(unique[i]), {i}) for i in members]

    def chosen(x: Any, left: Any) -> Any:
        ways = [
            (w, left & owners)
            for w, owners in aspects
            if w > 0.0 and left & owners and left - owners
        ]
        if not ways:
            return 1.0 / len(left)
        return sum(w * chosen(x, rest) for w, rest in ways if x in rest) / sum(w for w, _ in ways)

    return [(1.0 - lapse) * chosen(x, set(members)) + lapse / len(members) for x in members]


def outcome_probabilities(
    i: int,
    j: int,
    features: Any,
    weights: Any,
    unique: Any,
    lapse: float,
    tie: float,
    eta: float = 0.0,
) -> list[float]:
    """Probabilities that option i is chosen, that neither is, and that option j is (Davidson 1970,
    eq. 2.2 to 2.4).

    Parameters
    ----------
    i, j, features, weights, unique, lapse, eta
        As in `pair_probability`.
    tie : float above 0
        The parameter nu.

    Returns
    -------
    list of float

    Examples
    --------
    >>> outcome_probabilities(
    ...     0, 1, features=[[], []], weights=[], unique=[1.0, 1.0], lapse=0.0, tie=2.0
    ... )
    [0.25, 0.5, 0.25]
    """
    p = pair_probability(i, j, features, weights, unique, lapse, eta)
    parts = [p, tie * math.sqrt(p * (1.0 - p)), 1.0 - p]
    return [part / sum(parts) for part in parts]


def best_worst_probability(
    best: int, worst: int, members: Any, unique: Any, lapse: float, rule: str = "ranking"
) -> float:
    """Probability that of some options one is named the best and one the worst, where options share
    no aspect.

    Parameters
    ----------
    best, worst : int
    members : list of int
        All options of the set.
    unique : array, shape (N,)
        The weight of each option.
    lapse : float in [0, 1)
    rule : {"ranking", "reversed"}
        "ranking": the sum of the probabilities of all rankings with that first and last option,
        every choice of which may lapse. "reversed": the pair is chosen in proportion to the
        quotient of the two weights.

    Returns
    -------
    float

    Examples
    --------
    >>> best_worst_probability(0, 1, [0, 1, 2], unique=[1.0, 1.0, 1.0], lapse=0.0)
    0.16666666666666666
    """
    if rule == "reversed":
        odds = sum(unique[i] / unique[j] for i in members for j in members if i != j)
        return (1.0 - lapse) * unique[best] / unique[worst] / odds + lapse / (
            len(members) * (len(members) - 1)
        )
    total = 0.0
    for between in permutations([i for i in members if i not in (best, worst)]):
        ranking, probability = [best, *between, worst], 1.0
        for k, i in enumerate(ranking):
            left = ranking[k:]
            probability *= (1.0 - lapse) * unique[i] / sum(unique[j] for j in left) + lapse / len(
                left
            )
        total += probability
    return total


def answer_probabilities(data: Any, weights: np.ndarray, lapse: float, rule: str) -> np.ndarray:
    """Probabilities of every best and worst option of every set, (draws, answers), by the weights
    of each draw."""
    sets = [data.members[start:end].tolist() for start, end in pairwise(data.start)]
    answers = [
        (best, worst, members) for members in sets for best, worst in permutations(members, 2)
    ]
    return np.stack(
        [best_worst_probability(*each, weights.T, lapse, rule) for each in answers], axis=1
    )


def log_likelihood(
    data: Any,
    features: Any,
    weights: Any,
    unique: Any,
    lapse: float,
    tie: float | None = None,
    best_worst: str = "ranking",
    beta: Any = (),
) -> float:
    """Log-likelihood of `PairedComparisons` or `Choices` without coefficients (parameters as
    `outcome_probabilities`; tie=None: there are no ties; best_worst: as `best_worst_probability`,
    for options that share no aspect; beta: the coefficients of covariates)."""
    total = 0.0
    if len(beta):
        known = data.covariates
        for pair, x, *counts in zip(
            known.pair, known.values, known.wins, known.tied, known.losses, strict=True
        ):
            i, j = data.first[pair], data.second[pair]
            eta = sum(b * x[m] for m, b in enumerate(beta))
            found = outcome_probabilities(i, j, features, weights, unique, lapse, tie or 0.0, eta)
            total += sum(n * math.log(p) for n, p in zip(counts, found, strict=True) if n)
        return total
    if hasattr(data, "sizes") and data.worst is not None:
        for best, worst, times in zip(data.choice, data.worst, data.times, strict=True):
            v = int(data.set_of[best])
            members = data.members[data.start[v] : data.start[v + 1]].tolist()
            answer = int(data.members[best]), int(data.members[worst])
            total += times * math.log(
                best_worst_probability(*answer, members, unique, lapse, best_worst)
            )
        return total
    if hasattr(data, "sizes"):
        for v in range(data.n_sets):
            places = slice(data.start[v], data.start[v + 1])
            probabilities = set_probabilities(
                data.members[places].tolist(), features, weights, unique, lapse
            )
            total += sum(
                x * math.log(p)
                for x, p in zip(data.counts[places], probabilities, strict=True)
                if x
            )
        return total
    if tie is not None:
        for i, j, *counts in zip(
            data.first, data.second, data.wins, data.tied, data.losses, strict=True
        ):
            probabilities = outcome_probabilities(i, j, features, weights, unique, lapse, tie)
            total += sum(x * math.log(p) for x, p in zip(counts, probabilities, strict=True) if x)
        return total
    for i, j, x, y in zip(data.first, data.second, data.wins, data.losses, strict=True):
        p = pair_probability(i, j, features, weights, unique, lapse)
        total += (x * math.log(p) if x else 0.0) + (y * math.log(1.0 - p) if y else 0.0)
    return total


def log_joint(
    data: Any,
    features: Any,
    weights: Any,
    unique: Any,
    lapse: float,
    prior: Any,
    alpha: float,
    shape: float = 1.0,
    rate: float = 1.0,
) -> float:
    """Log joint density of data, features, weights and fixed unique weights, given alpha.

    `prior` is one of `thali.priors`. For an infinite prior the columns are an unordered multiset of
    a Poisson process.
    """
    total = log_likelihood(data, features, weights, unique, lapse) + prior.log_prob(
        np.asarray(features), alpha
    )
    for w in (*weights, *unique):
        if w > 0.0:
            total += (
                shape * math.log(rate) - math.lgamma(shape) + (shape - 1.0) * math.log(w) - rate * w
            )
    return total


def additive_similarity(features: Any, weights: Any, constant: float) -> np.ndarray:
    """Similarity of every two objects: the constant and the weights of what both own (Navarro &
    Griffiths 2007, eq. 1).

    μ_ij = w_0 + Σ_k w_k f_ik f_jk

    Parameters
    ----------
    features : array of 0/1, shape (N, K)
    weights : array, shape (K,)
    constant : float
        The additive constant w_0.

    Returns
    -------
    array, shape (N, N)
        The diagonal follows the equation too; no likelihood looks at it.

    Examples
    --------
    >>> additive_similarity([[1, 1], [1, 0], [0, 1]], weights=[0.5, 0.25], constant=0.125).tolist()
    [[0.875, 0.625, 0.375], [0.625, 0.625, 0.125], [0.375, 0.125, 0.375]]
    """
    n = len(features)
    similarity = np.full((n, n), float(constant))
    for i in range(n):
        for j in range(n):
            for k, w in enumerate(weights):
                if features[i][k] and features[j][k]:
                    similarity[i, j] += w
    return similarity


def additive_log_likelihood(
    data: Any, features: Any, weights: Any, constant: float, sigma: float
) -> float:
    """Log-density of similarities that are Normal(μ_ij, sigma² / n_ij), each measured pair once.

    Parameters
    ----------
    data : Similarities
        Of which `first`, `second`, `values` and `judgements` (n_ij) are read: one entry a measured
        pair.
    features, weights, constant
        As in `additive_similarity`.
    sigma : float, > 0
        Standard deviation of the noise of one judgement.

    Returns
    -------
    float

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> data = SimpleNamespace(first=[0], second=[1], values=[0.7], judgements=[1])
    >>> round(additive_log_likelihood(data, [[1], [1]], weights=[0.5], constant=0.1, sigma=0.1), 6)
    0.883647
    """
    expected = additive_similarity(features, weights, constant)
    total = 0.0
    for i, j, s, number in zip(data.first, data.second, data.values, data.judgements, strict=True):
        sd = sigma / math.sqrt(number)
        total += (
            -0.5 * math.log(2.0 * math.pi)
            - math.log(sd)
            - (s - float(expected[i, j])) ** 2 / (2.0 * sd**2)
        )
    return total


def similar_pair_probabilities(
    pairs: Any,
    features: Any,
    weights: Any,
    link: str = "exp",
    constant: float = 0.0,
    lapse: float = 0.01,
) -> list[float]:
    """Probability that each of these pairs of objects is called the most similar of them.

    P(ij) = (1 - ε) v_ij / Σ v + ε / m, v = exp(s) or s + c, s_ij = Σ_k w_k f_ik f_jk

    Parameters
    ----------
    pairs : list of (int, int)
    features : array of 0/1, shape (N, K)
    weights : array, shape (K,)
    link : {"exp", "ratio"}
    constant : float
        c, of the link "ratio".
    lapse : float

    Returns
    -------
    list of float

    Examples
    --------
    >>> features = [[1], [1], [0]]
    >>> p = similar_pair_probabilities(
    ...     [(0, 1), (0, 2), (1, 2)], features, [1.0], "ratio", constant=1.0, lapse=0.0
    ... )
    >>> [round(each, 6) for each in p]
    [0.5, 0.25, 0.25]
    """
    shared = [
        sum(w for k, w in enumerate(weights) if features[i][k] and features[j][k]) for i, j in pairs
    ]
    if link == "exp":
        values = [math.exp(s - max(shared)) for s in shared]
    else:
        values = [s + constant for s in shared]
    return [(1.0 - lapse) * v / sum(values) + lapse / len(values) for v in values]


def triplet_log_likelihood(
    data: Any,
    features: Any,
    weights: Any,
    link: str = "exp",
    constant: float = 0.0,
    lapse: float = 0.01,
) -> float:
    """Log-probability of all answers, one by one: without multinomial coefficients.

    Parameters
    ----------
    data : Triplets
        Of which `start`, `first`, `second` and `counts` are read.
    features, weights, link, constant, lapse
        As in `similar_pair_probabilities`.

    Returns
    -------
    float

    Examples
    --------
    >>> import thali as th
    >>> round(
    ...     triplet_log_likelihood(
    ...         th.Triplets([(0, 1, 2)], counts=[3]), [[0]] * 3, [1.0], lapse=0.0
    ...     ),
    ...     6,
    ... )
    -3.295837
    """
    total = 0.0
    for begin, end in zip(data.start[:-1], data.start[1:], strict=True):
        pairs = [
            (int(i), int(j))
            for i, j in zip(data.first[begin:end], data.second[begin:end], strict=True)
        ]
        p = similar_pair_probabilities(pairs, features, weights, link, constant, lapse)
        total += sum(
            float(n) * math.log(each)
            for n, each in zip(data.counts[begin:end], p, strict=True)
            if n
        )
    return total


def log_coefficients_of_outcomes(data):
    """The logarithms of the multinomial coefficients of the outcomes of each pair, added up."""
    return sum(
        math.lgamma(wins + tied + losses + 1)
        - math.lgamma(wins + 1)
        - math.lgamma(tied + 1)
        - math.lgamma(losses + 1)
        for wins, tied, losses in zip(
            data.cells.wins, data.cells.tied, data.cells.losses, strict=True
        )
    )


def log_coefficients_of_sets(data):
    """The logarithms of the multinomial coefficients of the answers to each set, added up."""
    total = 0.0
    for start, end in zip(data.start[:-1], data.start[1:], strict=True):
        counts = data.counts[start:end]
        total += math.lgamma(counts.sum() + 1) - sum(math.lgamma(count + 1) for count in counts)
    return total
