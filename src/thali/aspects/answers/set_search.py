"""Search for the most probable set of features among those that the draws visited, at their best weights."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..draws.probabilities import BLOCK
from .feature_sets import FeatureSets
from .weights_fit import Terms, argmax_weights, log_evidence

# Sets whose weights are fitted or integrated out: those visited with the best weights.
MAX_SETS = 200
# A set found in fewer draws than this may be the most frequent one by chance.
ENOUGH_DRAWS = 20


@dataclass(frozen=True)
class Problem:
    """Data, prior, and what is held fixed in the search."""

    first: np.ndarray  # (pairs,) the measured pairs
    second: np.ndarray
    values: np.ndarray
    judgements: np.ndarray
    n: int
    sigma2: float
    alpha: float
    prior: Any
    shape: float
    rate: float
    constant: np.ndarray  # (draws,)
    with_constant: bool

    def log_prior(self, matrix: np.ndarray) -> float:
        """Of the shared features, whatever the others are."""
        return float(self.prior.log_prob_shared(matrix, self.alpha))


@dataclass(frozen=True)
class Best:
    """A set of features with its most probable weights."""

    number: int
    patterns: np.ndarray  # (k,) distinct
    copies: np.ndarray  # (k,)
    weights: np.ndarray  # (k,) of copies their sum
    constant: float
    log_joint: float


def search(kind: str, sets: FeatureSets, problem: Problem) -> Best:
    """The best set of features of that kind, as `estimate` defines it."""
    if kind == "map-features":
        numbers = np.flatnonzero(sets.counts == sets.counts.max())
        if sets.counts.max() < ENOUGH_DRAWS:
            numbers = promising(sets, problem, np.arange(len(sets.counts)), integrated=True)
        evidence = dict(_evidence(sets, problem, numbers))
        return _fitted(sets, problem, [max(numbers.tolist(), key=evidence.__getitem__)])
    numbers = np.arange(len(sets.counts))
    if kind == "conditional-map":
        by_size = np.bincount(sets.sizes, sets.counts)
        numbers = np.flatnonzero(sets.sizes == np.argmax(by_size))  # of equals the smallest
    return _fitted(sets, problem, promising(sets, problem, numbers))


def evidence_of(sets: FeatureSets, problem: Problem, numbers: Any) -> dict[int, float]:
    """log p(F, S) of each of these sets, by its number."""
    return dict(_evidence(sets, problem, numbers))


def promising(sets: FeatureSets, problem: Problem, numbers: np.ndarray, integrated: bool = False) -> np.ndarray:
    """Of these sets the 200 with the largest log joint in any draw, the largest first.

    If `integrated`, each weight adds the logarithm of the width of its conditional density: a rough integral.
    """
    visited = np.full(len(sets.counts), -np.inf)
    np.maximum.at(visited, sets.of_draw, _draw_scores(sets, problem))
    scores = visited[numbers] + np.array([problem.log_prior(sets.matrix(number)) for number in numbers])
    if integrated:
        measured = np.zeros((problem.n, problem.n))
        measured[problem.first, problem.second] = problem.judgements
        inside = np.einsum("pi,pi->p", sets.patterns @ measured, sets.patterns)
        width = np.append(0.5 * np.log(2 * np.pi * problem.sigma2 / np.maximum(inside, 1.0)), 0.0)
        scores = scores + width[sets.members[numbers]].sum(axis=1)
    return numbers[np.argsort(-scores, kind="stable")[:MAX_SETS]]


def _draw_scores(sets: FeatureSets, problem: Problem) -> np.ndarray:
    """log p(S | draw) plus the log density of its weights, up to a constant."""
    from scipy.special import gammaln

    n, draws = problem.n, len(sets.of_draw)
    width = sets.members.shape[1]
    owners = np.concatenate([sets.patterns, np.zeros((1, n), bool)]).astype(float)  # the last for the padding
    of_draw, weights = sets.members[sets.of_draw], np.zeros((draws, width))
    weights[of_draw >= 0] = sets.weights
    observed, measured = np.zeros((n, n)), np.zeros((n, n))
    observed[problem.first, problem.second] = problem.values
    measured[problem.first, problem.second] = np.sqrt(problem.judgements)
    squares = np.empty(draws)
    step = max(1, BLOCK // (n * (n + 2 * width)))
    for start in range(0, draws, step):
        part = slice(start, start + step)
        rows = owners[of_draw[part]]
        rest = (rows * weights[part, :, None]).swapaxes(1, 2) @ rows
        rest += problem.constant[part, None, None] - observed
        rest *= measured
        squares[part] = np.einsum("dij,dij->d", rest, rest)
    drawn = np.where(of_draw >= 0, weights, 1.0)  # log 1 = 0
    if problem.with_constant:
        drawn = np.column_stack([drawn, problem.constant])
        weights = np.column_stack([weights, problem.constant])
    number = sets.sizes[sets.of_draw] + problem.with_constant
    each = problem.shape * np.log(problem.rate) - gammaln(problem.shape)
    density = each * number - problem.rate * weights.sum(axis=1)
    if problem.shape != 1.0:
        density += (problem.shape - 1.0) * np.log(drawn).sum(axis=1)
    return density - 0.5 * squares / problem.sigma2


def _grouped(sets: FeatureSets, problem: Problem, numbers: Any) -> Iterator[tuple[list[int], np.ndarray, Terms]]:
    """These sets by how many terms they have: numbers, patterns (sets, d) and terms, the constant's among them.

    The pattern of the constant is that of a feature that all own, numbered after all others if none has it.
    """
    everyone = _everyone(sets)
    owners = np.concatenate([sets.patterns, np.ones((1, problem.n), bool)])
    groups: dict[int, list[tuple[int, np.ndarray, np.ndarray]]] = {}
    for number in numbers:
        members = sets.members[number]
        members = np.append(members[members >= 0], [everyone] * problem.with_constant).astype(np.int64)
        patterns, copies = np.unique(members, return_counts=True)
        groups.setdefault(len(patterns), []).append((int(number), patterns, copies))
    for group in groups.values():
        patterns, copies = np.array([each[1] for each in group]), np.array([each[2] for each in group], float)
        terms = Terms.of(owners[patterns], copies, problem.first, problem.second, problem.values, problem.judgements)
        yield [each[0] for each in group], patterns, terms


def _everyone(sets: FeatureSets) -> int:
    whole = np.flatnonzero(sets.patterns.all(axis=1))
    return int(whole[0]) if len(whole) else len(sets.patterns)


def _evidence(sets: FeatureSets, problem: Problem, numbers: Any) -> Iterator[tuple[int, float]]:
    """log p(F, S) of each of these sets, by its number."""
    for group, _, terms in _grouped(sets, problem, numbers):
        evidence = log_evidence(terms, problem.sigma2, problem.shape, problem.rate)
        for number, value in zip(group, evidence, strict=True):
            yield number, float(value) + problem.log_prior(sets.matrix(number))


def _fitted(sets: FeatureSets, problem: Problem, numbers: Any) -> Best:
    """Of these sets the one with the largest log joint at its most probable weights."""
    best = None
    for group, patterns, terms in _grouped(sets, problem, numbers):
        weights = argmax_weights(terms, problem.sigma2, problem.shape, problem.rate)
        joint = terms.log_likelihood(weights, problem.sigma2) + _log_density(weights, terms.copies, problem)
        joint += [problem.log_prior(sets.matrix(number)) for number in group]
        at = int(np.argmax(joint))
        if best is None or joint[at] > best.log_joint:
            best = _split(sets, problem, group[at], patterns[at], terms.copies[at], weights[at], float(joint[at]))
    assert best is not None
    return best


def _log_density(weights: np.ndarray, copies: np.ndarray, problem: Problem) -> np.ndarray:
    """Of the weights of all copies, which share equally."""
    from scipy.special import gammaln, xlogy

    each = problem.shape * np.log(problem.rate) - gammaln(problem.shape)
    tilt = xlogy(copies * (problem.shape - 1.0), weights / copies)
    return (copies * each + tilt - problem.rate * weights).sum(axis=1)


def _split(sets: Any, problem: Any, number: Any, patterns: Any, copies: Any, weights: Any, log_joint: Any) -> Best:
    """The constant apart from the features."""
    constant, copies, weights = 0.0, copies.astype(np.int64), weights.copy()
    if problem.with_constant:
        at = int(np.flatnonzero(patterns == _everyone(sets))[0])
        constant = float(weights[at] / copies[at])
        weights[at] -= constant
        copies[at] -= 1
    kept = copies > 0
    return Best(number, patterns[kept], copies[kept], weights[kept], constant, log_joint)
