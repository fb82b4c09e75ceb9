"""Search for the most probable set of features among all draws."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from thali._inference.indexing import (
    argsort_descending,
    iterate_slices,
    part_positions,
    repeat_indices,
)
from thali._inference.numerics.log_densities import LOG_2PI

from ..draws.feature_columns import FeatureColumns

# Likelihood gain of one feature, its weight integrated out ----------------------------------------


# The grid of `_log_integral` ends where the integrand is exp(-DEPTH) of its maximum.
DEPTH = 45.0
NODES = 640
# Elements per block of `_log_integral`: 20 MiB.
_GRID_BLOCK = 4096


def log_feature_gain(A: Any, B: Any, sigma2: Any, shape: Any, rate: Any) -> np.ndarray:
    r"""Return the log likelihood ratio of a feature, with its weight integrated out.

    The weight of the feature is integrated out:

    .. math:: \log \int_0^\infty \mathrm{Gamma}(w; \text{shape}, \text{rate})\,
       \exp\left(\frac{w B - w^2 A / 2}{\sigma^2}\right) dw
    """
    A, B, sigma2, shape, rate = (
        a.astype(float) for a in np.broadcast_arrays(A, B, sigma2, shape, rate)
    )
    gain = np.zeros(A.shape)
    has_pairs = A > 0
    A, B, sigma2, shape, rate = (a[has_pairs] for a in (A, B, sigma2, shape, rate))
    z = (B - rate * sigma2) / np.sqrt(A * sigma2)
    integral = np.empty(z.shape)
    for integrate, is_branch in (
        (_log_integral_shape_1, shape == 1.0),
        (_log_integral_shape_2, shape == 2.0),
        (_log_integral, (shape != 1.0) & (shape != 2.0)),
    ):
        integral[is_branch] = integrate(z[is_branch], shape[is_branch])
    gain[has_pairs] = shape * (np.log(rate) + 0.5 * np.log(sigma2 / A)) + integral
    return gain


# The next functions return the log of the integral over t > 0 of t^(shape - 1) exp(z t - t^2 / 2),
# divided by Gamma(shape).


def _log_integral_shape_1(z: np.ndarray, _shape: np.ndarray) -> np.ndarray:
    """Return the log of the weight integral of `log_feature_gain` for Gamma shape 1."""
    from scipy.special import erfcx, log_ndtr

    low_value = np.log(np.sqrt(np.pi / 2) * erfcx(-np.minimum(z, 5.0) / np.sqrt(2)))
    return np.where(z < 5, low_value, 0.5 * z**2 + log_ndtr(z) + 0.5 * LOG_2PI)


def _log_integral_shape_2(z: np.ndarray, _shape: np.ndarray) -> np.ndarray:
    """Return the log of the weight integral for Gamma shape 2: log(1 + z M(z))."""
    # Below -50 the sum cancels, so its first terms in 1 / z² are used.
    log_m = _log_integral_shape_1(z, _shape)
    q = 1.0 / np.minimum(z, -50.0) ** 2
    low_value = np.log(q) + np.log1p(q * (-3.0 + q * (15.0 - 105.0 * q)))
    is_middle = (z >= -50) & (z < 5)
    middle_value = np.log1p(np.where(is_middle, z, 0.0) * np.exp(np.where(is_middle, log_m, 0.0)))
    log_product = np.log(np.maximum(z, 5.0)) + np.maximum(log_m, 0.0)
    high_value = log_product + np.log1p(np.exp(-log_product))
    return np.where(is_middle, middle_value, np.where(z < 5, low_value, high_value))


def _log_integral(z: np.ndarray, shape: np.ndarray) -> np.ndarray:
    """Return the log of the weight integral for any Gamma shape, by quadrature."""
    from scipy.special import gammaln

    # the mode of t^shape exp(z t - t^2 / 2), without cancellation on either side
    root = np.sqrt(z**2 + 4 * shape)
    t = np.where(z > 0, 0.5 * (z + root), 2 * shape / (root - np.minimum(z, 0.0)))
    log_peak = shape * (np.log(t) - 1.0) + 0.5 * t**2
    log_sum = np.empty(z.shape)
    for block in iterate_slices(z.size, 1, _GRID_BLOCK):
        steps, width = build_log_weight_grid(shape[block], t[block])
        # z t = t^2 - shape at the mode
        growth = np.expm1(steps)
        drop = shape[block, None] * (growth - steps) + 0.5 * (t[block, None] * growth) ** 2
        log_sum[block] = np.log(np.exp(-drop).sum(axis=1)) + np.log(width)
    return log_peak + log_sum - gammaln(shape)


def build_log_weight_grid(shape: np.ndarray, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return nodes and widths of the trapezoidal rule for log weights around their mode.

    The integrand is exp(-shape (e^d - 1 - d) - t^2 (e^d - 1)^2 / 2). The nodes suit any function
    that falls at least as fast on both sides of 0.
    """
    positive_t = np.maximum(t, 1e-300)
    reach = np.sqrt(2 * DEPTH) / positive_t  # in e^d, where the second term alone is DEPTH
    shape_reach = DEPTH / shape
    high = np.log1p(np.minimum(reach, shape_reach + np.sqrt(shape_reach**2 + 2 * shape_reach)))
    # far to the left the second term stays at t^2 / 2
    low_reach = np.where(reach < 1, np.log1p(-np.minimum(reach, 1 - 1e-12)), -np.inf)
    low = np.maximum(
        low_reach, -(np.maximum(DEPTH - 0.5 * t**2, 0.0) / shape + 1.0 + 2.0 / (1.0 + 0.1 * t))
    )
    width = (high - low) / (NODES - 1)
    return low[:, None] + width[:, None] * np.arange(NODES), width


# Distinct feature sets among the draws ------------------------------------------------------------
#
# Features with fewer than two owners do not affect similarities and are omitted.


@dataclass(frozen=True)
class FeatureSets:
    """The distinct sets of shared features (at least two owners) among all draws.

    A feature set is a multiset, because features may have copies.
    """

    patterns: np.ndarray  # (patterns, n) bool: the distinct owner sets
    pattern: np.ndarray  # (columns,) the pattern index of each feature
    draw: np.ndarray  # (columns,) its draw, ascending
    weights: np.ndarray  # (columns,)
    # (sets, M) patterns of each distinct set of features, ascending; padded with -1 on the left
    members: np.ndarray
    of_draw: np.ndarray  # (draws,) the set index of each draw
    counts: np.ndarray  # (sets,) number of draws with the set

    @property
    def sizes(self) -> np.ndarray:
        """The number of features of each set, including copies."""
        return np.count_nonzero(self.members >= 0, axis=1)

    def matrix(self, set_index: int) -> np.ndarray:
        """Return the ownership matrix of one feature set, shape (n_objects, n_features)."""
        members = self.members[set_index]
        return self.patterns[members[members >= 0]].T


def find_feature_sets(columns: FeatureColumns, n: int) -> FeatureSets:
    """Find the distinct sets of features among the draws, over n objects."""
    shared_columns = np.flatnonzero(columns.sizes >= 2)
    distinct_masks, pattern = _find_distinct_rows(_pack_owners(columns, n)[shared_columns])
    patterns = np.unpackbits(
        distinct_masks.view(np.uint8), axis=1, count=n, bitorder="little"
    ).astype(bool)
    # ascending within a draw, for the rows of `members`
    order = np.lexsort((pattern, columns.draw[shared_columns]))
    pattern, draw, weights = (
        pattern[order],
        columns.draw[shared_columns][order],
        columns.weights[shared_columns][order],
    )
    n_features = np.bincount(draw, minlength=columns.n_draws)
    slot = part_positions(n_features)
    max_features = int(n_features.max(initial=0))
    members = np.full((columns.n_draws, max_features), -1)
    members[draw, max_features - n_features[draw] + slot] = pattern
    members, set_of_draw = _find_distinct_rows(members)
    return FeatureSets(
        patterns, pattern, draw, weights, members, set_of_draw, np.bincount(set_of_draw)
    )


def _pack_owners(columns: FeatureColumns, n: int) -> np.ndarray:
    """Return the owners of each feature as bits of 64-bit words."""
    # The first option is the lowest bit.
    n_bytes = -(-n // 64) * 8
    column = repeat_indices(columns.sizes)
    byte, bit = column * n_bytes + columns.owners // 8, 1 << (columns.owners % 8)
    bits = np.bincount(byte, bit, minlength=len(columns.sizes) * n_bytes)
    return bits.astype(np.uint8).view("<u8").reshape(-1, n_bytes // 8)


def _find_distinct_rows(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct rows in ascending order, and each row's index among them."""
    order = np.arange(len(rows))
    if rows.shape[1]:
        order = np.lexsort(rows.T[::-1])
    ascending = rows[order]
    is_new = np.ones(len(rows), bool)
    is_new[1:] = (ascending[1:] != ascending[:-1]).any(axis=1)
    distinct_index = np.empty(len(rows), np.int64)
    distinct_index[order] = np.cumsum(is_new) - 1
    return ascending[is_new], distinct_index


# Weights of known features: their maximum, and the likelihood with all weights integrated out
#
# Features with the same owners have the same effect, and so do the additive constant and a feature
# of all objects. Such copies are one term here, whose summed weight T has a Gamma prior with the
# shape times the number of copies:
#
#     log likelihood of the terms = (b' T - T' G T / 2) / sigma^2 + constant
#
# G_kl counts the judgements of the measured pairs inside both terms; b_k is their sum inside k.


# Coordinate ascent ends when no weight moves by more than this (times the largest weight if that is
# above 1) ...
MIN_MOVE = 1e-10
# ... or after this number of cycles; a hundred are usual.
MAX_CYCLES = 20_000


@dataclass(frozen=True)
class FeatureTerms:
    """Sufficient statistics of similarities for several feature sets of d terms each."""

    gram: np.ndarray  # (sets, d, d)
    sums: np.ndarray  # (sets, d)
    copies: np.ndarray  # (sets, d), >= 1
    n_pairs: int
    # sum of squared similarities, weighted by their numbers of judgements
    squares: float
    log_judgements: float  # sum of the logarithms of these numbers

    @classmethod
    def compute(
        cls,
        owners: np.ndarray,
        copies: np.ndarray,
        i: Any,
        j: Any,
        values: Any,
        judgements: Any,
    ) -> "FeatureTerms":
        """Compute the statistics of feature sets with owners (n_sets, d, n_objects)."""
        owns_both = (owners[:, :, i] & owners[:, :, j]).astype(float)
        summed = judgements * values
        logs = float(np.log(judgements).sum())
        gram = (owns_both * judgements) @ owns_both.swapaxes(1, 2)
        return cls(gram, owns_both @ summed, copies, len(values), float(values @ summed), logs)

    def log_likelihood(self, weights: np.ndarray, sigma2: float) -> np.ndarray:
        """Return the log-likelihood of each feature set at its weights, shape (n_sets,)."""
        fit = _quadratic_form(self.gram, self.sums, weights)
        constant = 0.5 * self.log_judgements - 0.5 * self.n_pairs * np.log(2 * np.pi * sigma2)
        return (fit - 0.5 * self.squares) / sigma2 + constant


def maximise_weights(terms: FeatureTerms, sigma2: float, shape: float, rate: float) -> np.ndarray:
    r"""Return the most probable weights of each feature set, shape (n_sets, d).

    .. math::

        \hat w = \arg\max_w \; \log p(S \mid F, w)
        + \sum_k \log \mathrm{Gamma}(w_k; \text{shape}, \text{rate})
    """
    return _maximise_by_ascent(terms, terms.copies * (shape - 1.0), sigma2, rate)


def log_evidence(terms: FeatureTerms, sigma2: float, shape: float, rate: float) -> np.ndarray:
    """Return log p(similarities | features) of each feature set, shape (n_sets,).

    The weights are integrated out.
    """
    # Exact for one and two terms. For more terms it is the Laplace approximation in the logarithms
    # of the weights, where the density has one mode, inside the boundary. It is multiplied by the
    # ratio of exact and approximate integral for each weight alone, with all others at the mode.
    # The error is a few hundredths.
    shapes = terms.copies * shape
    empty = terms.log_likelihood(np.zeros(shapes.shape), sigma2)
    if shapes.shape[1] == 0:
        return empty
    if shapes.shape[1] == 1:
        return empty + log_feature_gain(
            terms.gram[:, 0, 0], terms.sums[:, 0], sigma2, shapes[:, 0], rate
        )
    mode = _maximise_by_ascent(terms, shapes, sigma2, rate)
    if shapes.shape[1] == 2:
        return empty + _integrate_two_weights(terms, mode, sigma2, shapes, rate)
    return empty + _laplace_integral(terms, mode, sigma2, shapes, rate)


def _quadratic_form(gram: np.ndarray, sums: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return sums' w - w' gram w / 2 of each set at its weights w, shape (n_sets,)."""
    return np.einsum("sk,sk->s", sums - 0.5 * np.einsum("skl,sl->sk", gram, weights), weights)


def _maximise_by_ascent(
    terms: FeatureTerms, power: np.ndarray, sigma2: float, rate: float
) -> np.ndarray:
    """Return weights T that maximise power' log T - rate T + (b'T - T'GT / 2) / sigma2."""
    # The maximum over T >= 0 is found by cyclic coordinate ascent.
    gram, sums = terms.gram, terms.sums
    weights = np.zeros(sums.shape)
    diagonal = np.einsum("skk->sk", gram)
    for _ in range(MAX_CYCLES):
        previous_weights = weights.copy()
        for k in range(sums.shape[1]):
            residual_sum = (
                sums[:, k]
                - np.einsum("sl,sl->s", gram[:, k], weights)
                + diagonal[:, k] * weights[:, k]
            )
            weights[:, k] = _maximise_one_weight(
                diagonal[:, k], residual_sum - rate * sigma2, power[:, k] * sigma2
            )
        scale = max(1.0, weights.max(initial=0.0))
        if np.abs(weights - previous_weights).max(initial=0.0) < MIN_MOVE * scale:
            break
    return weights


def _maximise_one_weight(a: np.ndarray, g: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Return argmax over w >= 0 of p log w + g w - a w² / 2."""
    # `a` is 0 only where g is negative.
    root_discriminant = np.sqrt(g * g + 4 * a * p)
    is_positive = g > 0  # each sign has a form without cancellation
    return np.where(
        is_positive,
        (g + root_discriminant) / np.where(is_positive, 2 * a, 1.0),
        2 * p / np.where(root_discriminant > g, root_discriminant - g, 1.0),
    )


def _log_weight_prior(weights: np.ndarray, shapes: np.ndarray, rate: float) -> np.ndarray:
    """Return the Gamma log density of each weight, as a density of the log weight."""
    from scipy.special import gammaln

    return shapes * np.log(rate * weights) - rate * weights - gammaln(shapes)


def _laplace_integral(
    terms: FeatureTerms, mode: np.ndarray, sigma2: float, shapes: np.ndarray, rate: float
) -> np.ndarray:
    """Approximate the log integral over all weights by a corrected Laplace method."""
    d = shapes.shape[1]
    curvature = terms.gram * mode[:, :, None] * mode[:, None, :] / sigma2
    diagonal = np.einsum("skk->sk", curvature) + shapes
    prior = _log_weight_prior(mode, shapes, rate)
    joint_integral = (
        _quadratic_form(terms.gram, terms.sums, mode) / sigma2
        + prior.sum(axis=1)
        + 0.5 * d * LOG_2PI
    )
    joint_integral -= 0.5 * np.linalg.slogdet(curvature + np.eye(d) * shapes[:, None, :])[1]
    n_judgements = np.einsum("skk->sk", terms.gram)
    residual_sum = terms.sums - np.einsum("skl,sl->sk", terms.gram, mode) + n_judgements * mode
    single_approximation = (
        (residual_sum * mode - 0.5 * n_judgements * mode**2) / sigma2
        + prior
        + 0.5 * np.log(2 * np.pi / diagonal)
    )
    return joint_integral + (
        log_feature_gain(n_judgements, residual_sum, sigma2, shapes, rate) - single_approximation
    ).sum(axis=1)


def _integrate_two_weights(
    terms: FeatureTerms, mode: np.ndarray, sigma2: float, shapes: np.ndarray, rate: float
) -> np.ndarray:
    """Integrate two weights: the second in closed form, the first on a grid."""
    gram, sums = terms.gram, terms.sums
    # curvature of the first weight after maximising over the second
    conditional_curvature = gram[:, 0, 0] - gram[:, 0, 1] ** 2 / np.maximum(
        gram[:, 1, 1], np.finfo(float).tiny
    )
    steps, width = build_log_weight_grid(
        shapes[:, 0], mode[:, 0] * np.sqrt(np.maximum(conditional_curvature, 0.0) / sigma2)
    )
    first_weight = mode[:, :1] * np.exp(steps)
    residual_sum = sums[:, 1:] - gram[:, 0, 1, None] * first_weight
    logs = (sums[:, :1] * first_weight - 0.5 * gram[:, 0, 0, None] * first_weight**2) / sigma2
    logs += _log_weight_prior(first_weight, shapes[:, :1], rate)
    logs += log_feature_gain(gram[:, 1, 1, None], residual_sum, sigma2, shapes[:, 1:], rate)
    max_log = logs.max(axis=1)
    return max_log + np.log(np.exp(logs - max_log[:, None]).sum(axis=1) * width)


# Number of sets whose weights are maximised or integrated out.
MAX_SETS = 200
# A set in fewer draws than this may be the most frequent one by chance.
MIN_DRAWS = 20


@dataclass(frozen=True)
class FeatureSearchProblem:
    """Similarities, prior and fixed parameters of the search for a feature set."""

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
        """Return the log prior probability of an ownership matrix of shared features."""
        return float(self.prior.log_prob_shared(matrix, self.alpha))


@dataclass(frozen=True)
class BestFeatureSet:
    """The best feature set of a search, with its most probable weights."""

    number: int
    patterns: np.ndarray  # (k,) distinct
    copies: np.ndarray  # (k,)
    weights: np.ndarray  # (k,) sums over copies
    constant: float
    log_joint: float


def search_best_set(
    estimator: str, sets: FeatureSets, problem: FeatureSearchProblem
) -> BestFeatureSet:
    """Return the feature set that maximises the criterion of `estimator`."""
    if estimator == "map-features":
        set_indices = np.flatnonzero(sets.counts == sets.counts.max())
        if sets.counts.max() < MIN_DRAWS:
            set_indices = select_promising_sets(
                sets, problem, np.arange(len(sets.counts)), integrated=True
            )
        evidence = compute_evidence(sets, problem, set_indices)
        return _maximise_joint(sets, problem, [max(set_indices.tolist(), key=evidence.__getitem__)])
    set_indices = np.arange(len(sets.counts))
    if estimator == "conditional-map":
        draws_by_size = np.bincount(sets.sizes, sets.counts)
        set_indices = np.flatnonzero(sets.sizes == np.argmax(draws_by_size))  # the smallest if tied
    return _maximise_joint(sets, problem, select_promising_sets(sets, problem, set_indices))


def compute_evidence(
    sets: FeatureSets, problem: FeatureSearchProblem, set_indices: Any
) -> dict[int, float]:
    """Return {set index: log p(features, similarities)}, weights integrated out."""
    evidence_by_set = {}
    for group, _, terms in _group_by_terms(sets, problem, set_indices):
        evidence = log_evidence(terms, problem.sigma2, problem.shape, problem.rate)
        for set_index, log_value in zip(group, evidence, strict=True):
            evidence_by_set[set_index] = float(log_value) + problem.log_prior(
                sets.matrix(set_index)
            )
    return evidence_by_set


def select_promising_sets(
    sets: FeatureSets,
    problem: FeatureSearchProblem,
    set_indices: np.ndarray,
    integrated: bool = False,
) -> np.ndarray:
    """Return indices of the 200 sets with the largest log joint density in any draw.

    With `integrated`, the score approximates the integral over the weights.
    """
    max_score = np.full(len(sets.counts), -np.inf)
    np.maximum.at(max_score, sets.of_draw, _score_draws(sets, problem))
    scores = max_score[set_indices] + np.array(
        [problem.log_prior(sets.matrix(set_index)) for set_index in set_indices]
    )
    if integrated:
        measured = np.zeros((problem.n, problem.n))
        measured[problem.first, problem.second] = problem.judgements
        n_judgements = np.einsum("pi,pi->p", sets.patterns @ measured, sets.patterns)
        width = np.append(
            0.5 * np.log(2 * np.pi * problem.sigma2 / np.maximum(n_judgements, 1.0)), 0.0
        )
        scores = scores + width[sets.members[set_indices]].sum(axis=1)
    return set_indices[argsort_descending(scores)[:MAX_SETS]]


def _score_draws(sets: FeatureSets, problem: FeatureSearchProblem) -> np.ndarray:
    """Return log p(similarities | draw) + log p(weights) of each draw, up to a constant."""
    from scipy.special import gammaln

    n, n_draws = problem.n, len(sets.of_draw)
    max_features = sets.members.shape[1]
    # the last row is for padding
    owners = np.concatenate([sets.patterns, np.zeros((1, n), bool)]).astype(float)
    draw_patterns, weights = sets.members[sets.of_draw], np.zeros((n_draws, max_features))
    weights[draw_patterns >= 0] = sets.weights
    observed, root_judgements = np.zeros((n, n)), np.zeros((n, n))
    observed[problem.first, problem.second] = problem.values
    root_judgements[problem.first, problem.second] = np.sqrt(problem.judgements)
    squares = np.empty(n_draws)
    for block in iterate_slices(n_draws, n * (n + 2 * max_features)):
        rows = owners[draw_patterns[block]]
        residuals = (rows * weights[block, :, None]).swapaxes(1, 2) @ rows
        residuals += problem.constant[block, None, None] - observed
        residuals *= root_judgements
        squares[block] = np.einsum("dij,dij->d", residuals, residuals)
    positive_weights = np.where(draw_patterns >= 0, weights, 1.0)  # log 1 = 0
    if problem.with_constant:
        positive_weights = np.column_stack([positive_weights, problem.constant])
        weights = np.column_stack([weights, problem.constant])
    n_weights = sets.sizes[sets.of_draw] + problem.with_constant
    log_normaliser = problem.shape * np.log(problem.rate) - gammaln(problem.shape)
    density = log_normaliser * n_weights - problem.rate * weights.sum(axis=1)
    if problem.shape != 1.0:
        density += (problem.shape - 1.0) * np.log(positive_weights).sum(axis=1)
    return density - 0.5 * squares / problem.sigma2


def _group_by_terms(
    sets: FeatureSets, problem: FeatureSearchProblem, set_indices: Any
) -> Iterator[tuple[list[int], np.ndarray, FeatureTerms]]:
    """Yield sets of equal numbers of terms: indices, patterns, statistics."""
    # Patterns have shape (sets, d), and the additive constant is one of the terms.
    full_pattern = _full_pattern_index(sets)
    owners = np.concatenate([sets.patterns, np.ones((1, problem.n), bool)])
    groups: dict[int, list[tuple[int, np.ndarray, np.ndarray]]] = {}
    for set_index in set_indices:
        members = sets.members[set_index]
        members = members[members >= 0]
        if problem.with_constant:
            members = np.append(members, full_pattern)
        patterns, copies = np.unique(members, return_counts=True)
        groups.setdefault(len(patterns), []).append((int(set_index), patterns, copies))
    for group in groups.values():
        indices, patterns, copies = zip(*group, strict=True)
        patterns, copies = np.array(patterns), np.array(copies, float)
        terms = FeatureTerms.compute(
            owners[patterns],
            copies,
            problem.first,
            problem.second,
            problem.values,
            problem.judgements,
        )
        yield list(indices), patterns, terms


def _full_pattern_index(sets: FeatureSets) -> int:
    """Return the index of the feature that all objects own, or n_patterns if none."""
    full_patterns = np.flatnonzero(sets.patterns.all(axis=1))
    if not len(full_patterns):
        return len(sets.patterns)
    return int(full_patterns[0])


def _maximise_joint(
    sets: FeatureSets, problem: FeatureSearchProblem, set_indices: Any
) -> BestFeatureSet:
    """Return the feature set with the largest joint density at its best weights."""
    best = None
    for group, patterns, terms in _group_by_terms(sets, problem, set_indices):
        weights = maximise_weights(terms, problem.sigma2, problem.shape, problem.rate)
        joint = terms.log_likelihood(weights, problem.sigma2) + _log_copies_density(
            weights, terms.copies, problem
        )
        joint += [problem.log_prior(sets.matrix(set_index)) for set_index in group]
        best_row = int(np.argmax(joint))
        if best is None or joint[best_row] > best.log_joint:
            best = _separate_constant(
                sets,
                problem,
                group[best_row],
                patterns[best_row],
                terms.copies[best_row],
                weights[best_row],
                float(joint[best_row]),
            )
    assert best is not None
    return best


def _log_copies_density(
    weights: np.ndarray, copies: np.ndarray, problem: FeatureSearchProblem
) -> np.ndarray:
    """Return the log prior density of weights that copies share equally, (n_sets,)."""
    from scipy.special import gammaln, xlogy

    log_normaliser = problem.shape * np.log(problem.rate) - gammaln(problem.shape)
    log_power_term = xlogy(copies * (problem.shape - 1.0), weights / copies)
    return (copies * log_normaliser + log_power_term - problem.rate * weights).sum(axis=1)


def _separate_constant(
    sets: Any,
    problem: Any,
    set_index: Any,
    patterns: Any,
    copies: Any,
    weights: Any,
    log_joint: Any,
) -> BestFeatureSet:
    """Return the best set with the additive constant split off the feature of all objects."""
    constant, copies, weights = 0.0, copies.astype(np.int64), weights.copy()
    if problem.with_constant:
        constant_index = int(np.flatnonzero(patterns == _full_pattern_index(sets))[0])
        constant = float(weights[constant_index] / copies[constant_index])
        weights[constant_index] -= constant
        copies[constant_index] -= 1
    has_copies = copies > 0
    return BestFeatureSet(
        set_index,
        patterns[has_copies],
        copies[has_copies],
        weights[has_copies],
        constant,
        log_joint,
    )
