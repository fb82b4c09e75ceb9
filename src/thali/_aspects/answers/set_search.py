"""Search for the most probable set of features among those that the draws visited, at their best
weights."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from thali._inference.indexing import BLOCK

from ..draws.feature_columns import FeatureColumns

# How much one feature explains: the likelihood that it adds, its weight integrated out ------------


# The integrand of `_log_integral` is followed down to exp(-DEPTH) of its largest value, on so many
# nodes.
DEPTH = 45.0
NODES = 640
# Elements for which `_log_integral` works at once: 20 MiB.
_GRID_BLOCK = 4096


def log_feature_gain(A: Any, B: Any, sigma2: Any, shape: Any, rate: Any) -> np.ndarray:
    r"""Log of the factor by which a feature raises the likelihood of the similarities, its weight
    integrated out.

    .. math:: \log \int_0^\infty \mathrm{Gamma}(w; \text{shape}, \text{rate})\,
       \exp\left(\frac{w B - w^2 A / 2}{\sigma^2}\right) dw
    """
    A, B, sigma2, shape, rate = (
        a.astype(float) for a in np.broadcast_arrays(A, B, sigma2, shape, rate)
    )
    gain = np.zeros(A.shape)
    some = A > 0
    A, B, sigma2, shape, rate = (a[some] for a in (A, B, sigma2, shape, rate))
    z = (B - rate * sigma2) / np.sqrt(A * sigma2)
    integral = np.empty(z.shape)
    for branch, chosen in (
        (_log_integral_1, shape == 1.0),
        (_log_integral_2, shape == 2.0),
        (_log_integral, (shape != 1.0) & (shape != 2.0)),
    ):
        integral[chosen] = branch(z[chosen], shape[chosen])
    gain[some] = shape * (np.log(rate) + 0.5 * np.log(sigma2 / A)) + integral
    return gain


# Each returns the log of the integral over t > 0 of t^(shape - 1) exp(z t - t^2 / 2), divided by
# Gamma(shape).


def _log_integral_1(z: np.ndarray, _shape: np.ndarray) -> np.ndarray:
    from scipy.special import erfcx, log_ndtr

    below = np.log(np.sqrt(np.pi / 2) * erfcx(-np.minimum(z, 5.0) / np.sqrt(2)))
    return np.where(z < 5, below, 0.5 * z**2 + log_ndtr(z) + 0.5 * np.log(2 * np.pi))


def _log_integral_2(z: np.ndarray, _shape: np.ndarray) -> np.ndarray:
    """log(1 + z M(z)), M the integral for shape 1; below -50 its first terms in 1 / z^2, for there
    the sum cancels."""
    log_m = _log_integral_1(z, _shape)
    q = 1.0 / np.minimum(z, -50.0) ** 2
    far = np.log(q) + np.log1p(q * (-3.0 + q * (15.0 - 105.0 * q)))
    within = (z >= -50) & (z < 5)
    near = np.log1p(np.where(within, z, 0.0) * np.exp(np.where(within, log_m, 0.0)))
    log_product = np.log(np.maximum(z, 5.0)) + np.maximum(log_m, 0.0)
    high = log_product + np.log1p(np.exp(-log_product))
    return np.where(within, near, np.where(z < 5, far, high))


def _log_integral(z: np.ndarray, shape: np.ndarray) -> np.ndarray:
    """By the trapezoidal rule in log t, around the mode there."""
    from scipy.special import gammaln

    # the mode of t^shape exp(z t - t^2 / 2), without cancellation on either side
    root = np.sqrt(z**2 + 4 * shape)
    t = np.where(z > 0, 0.5 * (z + root), 2 * shape / (root - np.minimum(z, 0.0)))
    top = shape * (np.log(t) - 1.0) + 0.5 * t**2
    total = np.empty(z.shape)
    for start in range(0, z.size, _GRID_BLOCK):
        part = slice(start, start + _GRID_BLOCK)
        steps, width = log_grid(shape[part], t[part])
        # z t = t^2 - shape at the mode
        growth = np.expm1(steps)
        drop = shape[part, None] * (growth - steps) + 0.5 * (t[part, None] * growth) ** 2
        total[part] = np.log(np.exp(-drop).sum(axis=1)) + np.log(width)
    return top + total - gammaln(shape)


def log_grid(shape: np.ndarray, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and widths of the trapezoidal rule over d for exp(-shape (e^d - 1 - d) - t^2 (e^d -
    1)^2 / 2).

    Whatever falls at least as fast on both sides of 0 may be integrated on them.
    """
    tiny = np.maximum(t, 1e-300)
    reach = np.sqrt(2 * DEPTH) / tiny  # in e^d, where the second term alone is DEPTH
    slow = DEPTH / shape
    high = np.log1p(np.minimum(reach, slow + np.sqrt(slow**2 + 2 * slow)))
    # far to the left the second term stays at t^2 / 2
    left = np.where(reach < 1, np.log1p(-np.minimum(reach, 1 - 1e-12)), -np.inf)
    low = np.maximum(
        left, -(np.maximum(DEPTH - 0.5 * t**2, 0.0) / shape + 1.0 + 2.0 / (1.0 + 0.1 * t))
    )
    width = (high - low) / (NODES - 1)
    return low[:, None] + width[:, None] * np.arange(NODES), width


# The distinct sets of features among the draws, in which a most probable set is searched ----------
#
# Features that fewer than two objects own do not affect similarities; they are left out.


@dataclass(frozen=True)
class FeatureSets:
    """The features with two owners or more of all draws; a set of them is a multiset, for features
    may have copies."""

    patterns: np.ndarray  # (patterns, n) bool: the distinct sets of owners
    pattern: np.ndarray  # (columns,) the pattern of each feature
    draw: np.ndarray  # (columns,) its draw, ascending
    weights: np.ndarray  # (columns,)
    # (sets, M) patterns of each distinct set of features, ascending; padded with -1 on the left
    members: np.ndarray
    of_draw: np.ndarray  # (draws,) the set of each draw
    counts: np.ndarray  # (sets,) draws that have it

    @property
    def sizes(self) -> np.ndarray:
        """Features of each set, copies counted."""
        return np.count_nonzero(self.members >= 0, axis=1)

    def matrix(self, number: int) -> np.ndarray:
        """A set as a matrix of objects by features."""
        members = self.members[number]
        return self.patterns[members[members >= 0]].T


def feature_sets(columns: FeatureColumns, n: int) -> FeatureSets:
    """The distinct sets of features of the draws over n objects."""
    shared = np.flatnonzero(columns.sizes >= 2)
    distinct, pattern = _distinct_rows(_masks(columns, n)[shared])
    patterns = np.unpackbits(distinct.view(np.uint8), axis=1, count=n, bitorder="little").astype(
        bool
    )
    # ascending within a draw, for the rows of `members`
    order = np.lexsort((pattern, columns.draw[shared]))
    pattern, draw, weights = (
        pattern[order],
        columns.draw[shared][order],
        columns.weights[shared][order],
    )
    sizes = np.bincount(draw, minlength=columns.n_draws)
    slot = np.arange(len(draw)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    width = int(sizes.max(initial=0))
    members = np.full((columns.n_draws, width), -1)
    members[draw, width - sizes[draw] + slot] = pattern
    members, of_draw = _distinct_rows(members)
    return FeatureSets(patterns, pattern, draw, weights, members, of_draw, np.bincount(of_draw))


def _masks(columns: FeatureColumns, n: int) -> np.ndarray:
    """The owners of each column as bits, 64 to a word, the first option lowest."""
    width = -(-n // 64) * 8
    column = np.repeat(np.arange(len(columns.sizes)), columns.sizes)
    byte, bit = column * width + columns.owners // 8, 1 << (columns.owners % 8)
    bits = np.bincount(byte, bit, minlength=len(columns.sizes) * width)
    return bits.astype(np.uint8).view("<u8").reshape(-1, width // 8)


def _distinct_rows(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct rows in ascending order, and for each row the number of its distinct row."""
    order = np.lexsort(rows.T[::-1]) if rows.shape[1] else np.arange(len(rows))
    ascending = rows[order]
    is_new = np.ones(len(rows), bool)
    is_new[1:] = (ascending[1:] != ascending[:-1]).any(axis=1)
    number = np.empty(len(rows), np.int64)
    number[order] = np.cumsum(is_new) - 1
    return ascending[is_new], number


# The weights of known features: the most probable ones, and the likelihood with all of them
# integrated out
#
# Features with the same owners explain the same thing, and so does the additive constant where a
# feature is owned by all. Such copies are one term here, whose summed weight T has a Gamma prior of
# as many times the shape:
#
#     log likelihood of the terms = (b' T - T' G T / 2) / sigma^2 + constant
#
# G_kl counts the judgements of the measured pairs inside both terms, b_k adds them up.


# Coordinate ascent ends when no weight moves by more than this (times the largest weight if that is
# above 1) ...
MIN_MOVE = 1e-10
# ... or after so many cycles; a hundred are usual.
MAX_CYCLES = 20_000


@dataclass(frozen=True)
class Terms:
    """Several sets of features with d terms each, on one data set, as the likelihood sees them."""

    gram: np.ndarray  # (sets, d, d)
    sums: np.ndarray  # (sets, d)
    copies: np.ndarray  # (sets, d), >= 1
    n_pairs: int
    # sum of the squared similarities, each times the number of judgements that it is the mean of
    squares: float
    log_judgements: float  # sum of the logarithms of these numbers

    @classmethod
    def of(
        cls,
        owners: np.ndarray,
        copies: np.ndarray,
        first: Any,
        second: Any,
        values: Any,
        judgements: Any,
    ) -> "Terms":
        """From owners, bool (sets, d, n), and the measured pairs."""
        inside = (owners[:, :, first] & owners[:, :, second]).astype(float)
        summed = judgements * values
        logs = float(np.log(judgements).sum())
        gram = (inside * judgements) @ inside.swapaxes(1, 2)
        return cls(gram, inside @ summed, copies, len(values), float(values @ summed), logs)

    def log_likelihood(self, weights: np.ndarray, sigma2: float) -> np.ndarray:
        """Log-likelihood of all data by set; `weights` (sets, d) are those of the terms."""
        fit = _fit(self.gram, self.sums, weights)
        constant = 0.5 * self.log_judgements - 0.5 * self.n_pairs * np.log(2 * np.pi * sigma2)
        return (fit - 0.5 * self.squares) / sigma2 + constant


def argmax_weights(terms: Terms, sigma2: float, shape: float, rate: float) -> np.ndarray:
    r"""The most probable weights of known features.

    .. math::

        \hat w = \arg\max_w \; \log p(S \mid F, w)
        + \sum_k \log \mathrm{Gamma}(w_k; \text{shape}, \text{rate})
    """
    return _ascend(terms, terms.copies * (shape - 1.0), sigma2, rate)


def log_evidence(terms: Terms, sigma2: float, shape: float, rate: float) -> np.ndarray:
    """Log likelihood of the data given the features alone, their weights integrated out."""
    # Exact for one and two terms. For more it is the Laplace approximation in the logarithms of the
    # weights, where the density has one mode and none of it lies on the boundary, times the ratio
    # of exact and approximate integral for each weight alone, the others at the mode; that is good
    # to a few hundredths.
    shapes = terms.copies * shape
    empty = terms.log_likelihood(np.zeros(shapes.shape), sigma2)
    if shapes.shape[1] == 0:
        return empty
    if shapes.shape[1] == 1:
        return empty + log_feature_gain(
            terms.gram[:, 0, 0], terms.sums[:, 0], sigma2, shapes[:, 0], rate
        )
    mode = _ascend(terms, shapes, sigma2, rate)
    if shapes.shape[1] == 2:
        return empty + _integral_of_two(terms, mode, sigma2, shapes, rate)
    return empty + _laplace(terms, mode, sigma2, shapes, rate)


def _fit(gram: np.ndarray, sums: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """b' T - T' G T / 2."""
    return np.einsum("sk,sk->s", sums - 0.5 * np.einsum("skl,sl->sk", gram, weights), weights)


def _ascend(terms: Terms, power: np.ndarray, sigma2: float, rate: float) -> np.ndarray:
    """The largest value of power' log T - rate T + (b' T - T' G T / 2) / sigma2 over T >= 0, by
    cyclic ascent."""
    gram, sums = terms.gram, terms.sums
    weights = np.zeros(sums.shape)
    diagonal = np.einsum("skk->sk", gram)
    for _ in range(MAX_CYCLES):
        before = weights.copy()
        for k in range(sums.shape[1]):
            rest = (
                sums[:, k]
                - np.einsum("sl,sl->s", gram[:, k], weights)
                + diagonal[:, k] * weights[:, k]
            )
            weights[:, k] = _largest(diagonal[:, k], rest - rate * sigma2, power[:, k] * sigma2)
        scale = max(1.0, weights.max(initial=0.0))
        if np.abs(weights - before).max(initial=0.0) < MIN_MOVE * scale:
            break
    return weights


def _largest(a: np.ndarray, g: np.ndarray, p: np.ndarray) -> np.ndarray:
    """argmax over w >= 0 of p log w + g w - a w^2 / 2; a is 0 only where g is negative."""
    root = np.sqrt(g * g + 4 * a * p)
    above = g > 0  # each side without cancellation
    return np.where(
        above, (g + root) / np.where(above, 2 * a, 1.0), 2 * p / np.where(root > g, root - g, 1.0)
    )


def _log_prior(weights: np.ndarray, shapes: np.ndarray, rate: float) -> np.ndarray:
    """log density of the logarithms of Gamma variables."""
    from scipy.special import gammaln

    return shapes * np.log(rate * weights) - rate * weights - gammaln(shapes)


def _laplace(
    terms: Terms, mode: np.ndarray, sigma2: float, shapes: np.ndarray, rate: float
) -> np.ndarray:
    d = shapes.shape[1]
    curvature = terms.gram * mode[:, :, None] * mode[:, None, :] / sigma2
    own = np.einsum("skk->sk", curvature) + shapes
    prior = _log_prior(mode, shapes, rate)
    together = (
        _fit(terms.gram, terms.sums, mode) / sigma2
        + prior.sum(axis=1)
        + 0.5 * d * np.log(2 * np.pi)
    )
    together -= 0.5 * np.linalg.slogdet(curvature + np.eye(d) * shapes[:, None, :])[1]
    area = np.einsum("skk->sk", terms.gram)
    rest = terms.sums - np.einsum("skl,sl->sk", terms.gram, mode) + area * mode
    alone = (rest * mode - 0.5 * area * mode**2) / sigma2 + prior + 0.5 * np.log(2 * np.pi / own)
    return together + (log_feature_gain(area, rest, sigma2, shapes, rate) - alone).sum(axis=1)


def _integral_of_two(
    terms: Terms, mode: np.ndarray, sigma2: float, shapes: np.ndarray, rate: float
) -> np.ndarray:
    """The second weight in closed form, the first by the trapezoidal rule in its logarithm."""
    gram, sums = terms.gram, terms.sums
    # curvature of the first weight after maximising over the second
    left = gram[:, 0, 0] - gram[:, 0, 1] ** 2 / np.maximum(gram[:, 1, 1], np.finfo(float).tiny)
    steps, width = log_grid(shapes[:, 0], mode[:, 0] * np.sqrt(np.maximum(left, 0.0) / sigma2))
    first = mode[:, :1] * np.exp(steps)
    rest = sums[:, 1:] - gram[:, 0, 1, None] * first
    logs = (sums[:, :1] * first - 0.5 * gram[:, 0, 0, None] * first**2) / sigma2
    logs += _log_prior(first, shapes[:, :1], rate)
    logs += log_feature_gain(gram[:, 1, 1, None], rest, sigma2, shapes[:, 1:], rate)
    top = logs.max(axis=1)
    return top + np.log(np.exp(logs - top[:, None]).sum(axis=1) * width)


# Sets whose weights are fitted or integrated out: those visited with the best weights.
MAX_SETS = 200
# A set found in fewer draws than this may be the most frequent one by chance.
MIN_DRAWS = 20


@dataclass(frozen=True)
class FeatureSearchProblem:
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
class BestFeatureSet:
    """A set of features with its most probable weights."""

    number: int
    patterns: np.ndarray  # (k,) distinct
    copies: np.ndarray  # (k,)
    weights: np.ndarray  # (k,) of copies their sum
    constant: float
    log_joint: float


def search(kind: str, sets: FeatureSets, problem: FeatureSearchProblem) -> BestFeatureSet:
    """The best set of features of that kind, as `estimate` defines it."""
    if kind == "map-features":
        numbers = np.flatnonzero(sets.counts == sets.counts.max())
        if sets.counts.max() < MIN_DRAWS:
            numbers = promising(sets, problem, np.arange(len(sets.counts)), integrated=True)
        evidence = dict(_evidence(sets, problem, numbers))
        return _fitted(sets, problem, [max(numbers.tolist(), key=evidence.__getitem__)])
    numbers = np.arange(len(sets.counts))
    if kind == "conditional-map":
        by_size = np.bincount(sets.sizes, sets.counts)
        numbers = np.flatnonzero(sets.sizes == np.argmax(by_size))  # of equals the smallest
    return _fitted(sets, problem, promising(sets, problem, numbers))


def evidence_of(sets: FeatureSets, problem: FeatureSearchProblem, numbers: Any) -> dict[int, float]:
    """log p(F, S) of each of these sets, by its number."""
    return dict(_evidence(sets, problem, numbers))


def promising(
    sets: FeatureSets, problem: FeatureSearchProblem, numbers: np.ndarray, integrated: bool = False
) -> np.ndarray:
    """Of these sets the 200 with the largest log joint in any draw; if `integrated`, roughly over
    weights."""
    visited = np.full(len(sets.counts), -np.inf)
    np.maximum.at(visited, sets.of_draw, _draw_scores(sets, problem))
    scores = visited[numbers] + np.array(
        [problem.log_prior(sets.matrix(number)) for number in numbers]
    )
    if integrated:
        measured = np.zeros((problem.n, problem.n))
        measured[problem.first, problem.second] = problem.judgements
        inside = np.einsum("pi,pi->p", sets.patterns @ measured, sets.patterns)
        width = np.append(0.5 * np.log(2 * np.pi * problem.sigma2 / np.maximum(inside, 1.0)), 0.0)
        scores = scores + width[sets.members[numbers]].sum(axis=1)
    return numbers[np.argsort(-scores, kind="stable")[:MAX_SETS]]


def _draw_scores(sets: FeatureSets, problem: FeatureSearchProblem) -> np.ndarray:
    """log p(S | draw) plus the log density of its weights, up to a constant."""
    from scipy.special import gammaln

    n, draws = problem.n, len(sets.of_draw)
    width = sets.members.shape[1]
    # the last for the padding
    owners = np.concatenate([sets.patterns, np.zeros((1, n), bool)]).astype(float)
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


def _grouped(
    sets: FeatureSets, problem: FeatureSearchProblem, numbers: Any
) -> Iterator[tuple[list[int], np.ndarray, Terms]]:
    """These sets by how many terms they have: numbers, patterns (sets, d) and terms, the constant's
    among them."""
    everyone = _everyone(sets)
    owners = np.concatenate([sets.patterns, np.ones((1, problem.n), bool)])
    groups: dict[int, list[tuple[int, np.ndarray, np.ndarray]]] = {}
    for number in numbers:
        members = sets.members[number]
        members = np.append(members[members >= 0], [everyone] * problem.with_constant).astype(
            np.int64
        )
        patterns, copies = np.unique(members, return_counts=True)
        groups.setdefault(len(patterns), []).append((int(number), patterns, copies))
    for group in groups.values():
        patterns, copies = (
            np.array([each[1] for each in group]),
            np.array([each[2] for each in group], float),
        )
        terms = Terms.of(
            owners[patterns],
            copies,
            problem.first,
            problem.second,
            problem.values,
            problem.judgements,
        )
        yield [each[0] for each in group], patterns, terms


def _everyone(sets: FeatureSets) -> int:
    whole = np.flatnonzero(sets.patterns.all(axis=1))
    return int(whole[0]) if len(whole) else len(sets.patterns)


def _evidence(
    sets: FeatureSets, problem: FeatureSearchProblem, numbers: Any
) -> Iterator[tuple[int, float]]:
    """log p(F, S) of each of these sets, by its number."""
    for group, _, terms in _grouped(sets, problem, numbers):
        evidence = log_evidence(terms, problem.sigma2, problem.shape, problem.rate)
        for number, value in zip(group, evidence, strict=True):
            yield number, float(value) + problem.log_prior(sets.matrix(number))


def _fitted(sets: FeatureSets, problem: FeatureSearchProblem, numbers: Any) -> BestFeatureSet:
    """Of these sets the one with the largest log joint at its most probable weights."""
    best = None
    for group, patterns, terms in _grouped(sets, problem, numbers):
        weights = argmax_weights(terms, problem.sigma2, problem.shape, problem.rate)
        joint = terms.log_likelihood(weights, problem.sigma2) + _log_density(
            weights, terms.copies, problem
        )
        joint += [problem.log_prior(sets.matrix(number)) for number in group]
        at = int(np.argmax(joint))
        if best is None or joint[at] > best.log_joint:
            best = _split(
                sets,
                problem,
                group[at],
                patterns[at],
                terms.copies[at],
                weights[at],
                float(joint[at]),
            )
    assert best is not None
    return best


def _log_density(
    weights: np.ndarray, copies: np.ndarray, problem: FeatureSearchProblem
) -> np.ndarray:
    """Of the weights of all copies, which share equally."""
    from scipy.special import gammaln, xlogy

    each = problem.shape * np.log(problem.rate) - gammaln(problem.shape)
    tilt = xlogy(copies * (problem.shape - 1.0), weights / copies)
    return (copies * each + tilt - problem.rate * weights).sum(axis=1)


def _split(
    sets: Any, problem: Any, number: Any, patterns: Any, copies: Any, weights: Any, log_joint: Any
) -> BestFeatureSet:
    """The constant apart from the features."""
    constant, copies, weights = 0.0, copies.astype(np.int64), weights.copy()
    if problem.with_constant:
        at = int(np.flatnonzero(patterns == _everyone(sets))[0])
        constant = float(weights[at] / copies[at])
        weights[at] -= constant
        copies[at] -= 1
    kept = copies > 0
    return BestFeatureSet(number, patterns[kept], copies[kept], weights[kept], constant, log_joint)
