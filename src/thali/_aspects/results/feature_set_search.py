"""Search for the most probable set of features among all draws."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from thali._inference.index_arithmetic import (
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


def log_feature_gain(
    A: np.ndarray | float,
    B: np.ndarray | float,
    sigma2: np.ndarray | float,
    shape: np.ndarray | float,
    rate: np.ndarray | float,
) -> np.ndarray:
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
    is_exponential = shape == 1.0
    log_integral = np.empty(z.shape)
    log_integral[is_exponential] = _log_integral_shape_1(z[is_exponential])
    log_integral[~is_exponential] = _log_integral(z[~is_exponential], shape[~is_exponential])
    gain[has_pairs] = shape * (np.log(rate) + 0.5 * np.log(sigma2 / A)) + log_integral
    return gain


# The next functions return the log of the integral over t > 0 of t^(shape - 1) exp(z t - t^2 / 2),
# divided by Gamma(shape).


def _log_integral_shape_1(z: np.ndarray) -> np.ndarray:
    """Return the log of the weight integral of `log_feature_gain` for Gamma shape 1."""
    from scipy.special import erfcx, log_ndtr

    low_value = np.log(np.sqrt(np.pi / 2) * erfcx(-np.minimum(z, 5.0) / np.sqrt(2)))
    return np.where(z < 5, low_value, 0.5 * z**2 + log_ndtr(z) + 0.5 * LOG_2PI)


def _log_integral(z: np.ndarray, shape: np.ndarray) -> np.ndarray:
    """Return the log of the weight integral for any Gamma shape, by quadrature."""
    from scipy.special import gammaln

    # the mode of t^shape exp(z t - t^2 / 2), without cancellation on either side
    root_term = np.sqrt(z**2 + 4 * shape)
    t = np.where(z > 0, 0.5 * (z + root_term), 2 * shape / (root_term - np.minimum(z, 0.0)))
    log_peak = shape * (np.log(t) - 1.0) + 0.5 * t**2
    log_sum = np.empty(z.shape)
    for block_slice in iterate_slices(z.size, 1, _GRID_BLOCK):
        log_steps, step_width = build_log_weight_grid(shape[block_slice], t[block_slice])
        # z t = t^2 - shape at the mode
        relative_change = np.expm1(log_steps)
        log_drop = (
            shape[block_slice, None] * (relative_change - log_steps)
            + 0.5 * (t[block_slice, None] * relative_change) ** 2
        )
        log_sum[block_slice] = np.log(np.exp(-log_drop).sum(axis=1)) + np.log(step_width)
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
    step_width = (high - low) / (NODES - 1)
    return low[:, None] + step_width[:, None] * np.arange(NODES), step_width


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
        pattern_indices = self.members[set_index]
        return self.patterns[pattern_indices[pattern_indices >= 0]].T


def find_feature_sets(feature_columns: FeatureColumns, n: int) -> FeatureSets:
    """Find the distinct sets of features among the draws, over n objects."""
    shared_columns = np.flatnonzero(feature_columns.sizes >= 2)
    distinct_masks, pattern_index = np.unique(
        _pack_owners(feature_columns, n)[shared_columns], axis=0, return_inverse=True
    )
    patterns = np.unpackbits(
        distinct_masks.view(np.uint8), axis=1, count=n, bitorder="little"
    ).astype(bool)
    # ascending within a draw, for the rows of `members`
    pattern_index = pattern_index.ravel()  # NumPy 2.0 returns a column
    column_order = np.lexsort((pattern_index, feature_columns.draw[shared_columns]))
    pattern_index = pattern_index[column_order]
    draw_of_feature = feature_columns.draw[shared_columns][column_order]
    weights = feature_columns.weights[shared_columns][column_order]
    n_features = np.bincount(draw_of_feature, minlength=feature_columns.n_draws)
    place_in_set = part_positions(n_features)
    max_features = int(n_features.max(initial=0))
    members = np.full((feature_columns.n_draws, max_features), -1)
    members[draw_of_feature, max_features - n_features[draw_of_feature] + place_in_set] = (
        pattern_index
    )
    members, set_of_draw = np.unique(members, axis=0, return_inverse=True)
    return FeatureSets(
        patterns,
        pattern_index,
        draw_of_feature,
        weights,
        members,
        set_of_draw.ravel(),
        np.bincount(set_of_draw.ravel()),
    )


def _pack_owners(feature_columns: FeatureColumns, n: int) -> np.ndarray:
    """Return the owners of each feature as bits of 64-bit words."""
    # The first option is the lowest bit.
    n_bytes = -(-n // 64) * 8
    column_index = repeat_indices(feature_columns.sizes)
    byte_index = column_index * n_bytes + feature_columns.owners // 8
    bit_value = 1 << (feature_columns.owners % 8)
    packed_bytes = np.bincount(
        byte_index, bit_value, minlength=len(feature_columns.sizes) * n_bytes
    )
    return packed_bytes.astype(np.uint8).view("<u8").reshape(-1, n_bytes // 8)


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
        i: np.ndarray,
        j: np.ndarray,
        values: np.ndarray,
        judgements: np.ndarray,
    ) -> "FeatureTerms":
        """Compute the statistics of feature sets with owners (n_sets, d, n_objects)."""
        owns_both = (owners[:, :, i] & owners[:, :, j]).astype(float)
        weighted_values = judgements * values
        log_judgement_sum = float(np.log(judgements).sum())
        gram = (owns_both * judgements) @ owns_both.swapaxes(1, 2)
        return cls(
            gram,
            owns_both @ weighted_values,
            copies,
            len(values),
            float(values @ weighted_values),
            log_judgement_sum,
        )

    def log_likelihood(self, weights: np.ndarray, sigma2: float) -> np.ndarray:
        """Return the log-likelihood of each feature set at its weights, shape (n_sets,)."""
        fit_gain = _quadratic_form(self.gram, self.sums, weights)
        log_constant = 0.5 * self.log_judgements - 0.5 * self.n_pairs * np.log(2 * np.pi * sigma2)
        return (fit_gain - 0.5 * self.squares) / sigma2 + log_constant


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
    gamma_shapes = terms.copies * shape
    empty_log_likelihood = terms.log_likelihood(np.zeros(gamma_shapes.shape), sigma2)
    if gamma_shapes.shape[1] == 0:
        return empty_log_likelihood
    if gamma_shapes.shape[1] == 1:
        return empty_log_likelihood + log_feature_gain(
            terms.gram[:, 0, 0], terms.sums[:, 0], sigma2, gamma_shapes[:, 0], rate
        )
    weight_mode = _maximise_by_ascent(terms, gamma_shapes, sigma2, rate)
    if gamma_shapes.shape[1] == 2:
        return empty_log_likelihood + _integrate_two_weights(
            terms, weight_mode, sigma2, gamma_shapes, rate
        )
    return empty_log_likelihood + _laplace_integral(terms, weight_mode, sigma2, gamma_shapes, rate)


def _quadratic_form(gram: np.ndarray, sums: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return sums' w - w' gram w / 2 of each set at its weights w, shape (n_sets,)."""
    return np.einsum("sk,sk->s", sums - 0.5 * np.einsum("skl,sl->sk", gram, weights), weights)


def _maximise_by_ascent(
    terms: FeatureTerms, power: np.ndarray, sigma2: float, rate: float
) -> np.ndarray:
    """Return weights T that maximise power' log T - rate T + (b'T - T'GT / 2) / sigma2."""
    # The maximum over T >= 0 is found by cyclic coordinate ascent.
    gram = terms.gram
    sums = terms.sums
    weights = np.zeros(sums.shape)
    gram_diagonal = np.einsum("skk->sk", gram)
    for _ in range(MAX_CYCLES):
        previous_weights = weights.copy()
        for k in range(sums.shape[1]):
            residual_sum = (
                sums[:, k]
                - np.einsum("sl,sl->s", gram[:, k], weights)
                + gram_diagonal[:, k] * weights[:, k]
            )
            weights[:, k] = _maximise_one_weight(
                gram_diagonal[:, k], residual_sum - rate * sigma2, power[:, k] * sigma2
            )
        weight_scale = max(1.0, weights.max(initial=0.0))
        if np.abs(weights - previous_weights).max(initial=0.0) < MIN_MOVE * weight_scale:
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
    n_weights = shapes.shape[1]
    curvature = terms.gram * mode[:, :, None] * mode[:, None, :] / sigma2
    curvature_diagonal = np.einsum("skk->sk", curvature) + shapes
    log_prior = _log_weight_prior(mode, shapes, rate)
    joint_integral = (
        _quadratic_form(terms.gram, terms.sums, mode) / sigma2
        + log_prior.sum(axis=1)
        + 0.5 * n_weights * LOG_2PI
    )
    joint_integral -= 0.5 * np.linalg.slogdet(curvature + np.eye(n_weights) * shapes[:, None, :])[1]
    n_judgements = np.einsum("skk->sk", terms.gram)
    residual_sum = terms.sums - np.einsum("skl,sl->sk", terms.gram, mode) + n_judgements * mode
    single_approximation = (
        (residual_sum * mode - 0.5 * n_judgements * mode**2) / sigma2
        + log_prior
        + 0.5 * np.log(2 * np.pi / curvature_diagonal)
    )
    return joint_integral + (
        log_feature_gain(n_judgements, residual_sum, sigma2, shapes, rate) - single_approximation
    ).sum(axis=1)


def _integrate_two_weights(
    terms: FeatureTerms, mode: np.ndarray, sigma2: float, shapes: np.ndarray, rate: float
) -> np.ndarray:
    """Integrate two weights: the second in closed form, the first on a grid."""
    gram = terms.gram
    sums = terms.sums
    # curvature of the first weight after maximising over the second
    conditional_curvature = gram[:, 0, 0] - gram[:, 0, 1] ** 2 / np.maximum(
        gram[:, 1, 1], np.finfo(float).tiny
    )
    log_steps, step_width = build_log_weight_grid(
        shapes[:, 0], mode[:, 0] * np.sqrt(np.maximum(conditional_curvature, 0.0) / sigma2)
    )
    first_weight = mode[:, :1] * np.exp(log_steps)
    residual_sum = sums[:, 1:] - gram[:, 0, 1, None] * first_weight
    log_integrand = (
        sums[:, :1] * first_weight - 0.5 * gram[:, 0, 0, None] * first_weight**2
    ) / sigma2
    log_integrand += _log_weight_prior(first_weight, shapes[:, :1], rate)
    log_integrand += log_feature_gain(
        gram[:, 1, 1, None], residual_sum, sigma2, shapes[:, 1:], rate
    )
    max_log_integrand = log_integrand.max(axis=1)
    return max_log_integrand + np.log(
        np.exp(log_integrand - max_log_integrand[:, None]).sum(axis=1) * step_width
    )


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
    estimator: str, sets: FeatureSets, search_problem: FeatureSearchProblem
) -> BestFeatureSet:
    """Return the feature set that maximises the criterion of `estimator`."""
    if estimator == "map-features":
        set_indices = np.flatnonzero(sets.counts == sets.counts.max())
        if sets.counts.max() < MIN_DRAWS:
            set_indices = select_promising_sets(
                sets, search_problem, np.arange(len(sets.counts)), integrates_weights=True
            )
        evidence_by_set = compute_evidence(sets, search_problem, set_indices)
        return _maximise_joint(
            sets, search_problem, [max(set_indices.tolist(), key=evidence_by_set.__getitem__)]
        )
    set_indices = np.arange(len(sets.counts))
    if estimator == "conditional-map":
        draw_counts_by_size = np.bincount(sets.sizes, sets.counts)
        # the smallest if tied
        set_indices = np.flatnonzero(sets.sizes == np.argmax(draw_counts_by_size))
    return _maximise_joint(
        sets, search_problem, select_promising_sets(sets, search_problem, set_indices)
    )


def compute_evidence(
    sets: FeatureSets, search_problem: FeatureSearchProblem, set_indices: Iterable[int]
) -> dict[int, float]:
    """Return {set index: log p(features, similarities)}, weights integrated out."""
    evidence_by_set = {}
    for group_set_indices, _, feature_terms in _group_by_terms(sets, search_problem, set_indices):
        log_evidences = log_evidence(
            feature_terms, search_problem.sigma2, search_problem.shape, search_problem.rate
        )
        for set_index, log_value in zip(group_set_indices, log_evidences, strict=True):
            evidence_by_set[set_index] = float(log_value) + search_problem.log_prior(
                sets.matrix(set_index)
            )
    return evidence_by_set


def select_promising_sets(
    sets: FeatureSets,
    search_problem: FeatureSearchProblem,
    set_indices: np.ndarray,
    integrates_weights: bool = False,
) -> np.ndarray:
    """Return indices of the 200 sets with the largest log joint density in a draw.

    With `integrates_weights`, the score approximates the integral over the weights.
    """
    max_score = np.full(len(sets.counts), -np.inf)
    np.maximum.at(max_score, sets.of_draw, _score_draws(sets, search_problem))
    scores = max_score[set_indices] + np.array(
        [search_problem.log_prior(sets.matrix(set_index)) for set_index in set_indices]
    )
    if integrates_weights:
        judgement_matrix = np.zeros((search_problem.n, search_problem.n))
        judgement_matrix[search_problem.first, search_problem.second] = search_problem.judgements
        n_judgements = np.einsum("pi,pi->p", sets.patterns @ judgement_matrix, sets.patterns)
        log_width = np.append(
            0.5 * np.log(2 * np.pi * search_problem.sigma2 / np.maximum(n_judgements, 1.0)), 0.0
        )
        scores = scores + log_width[sets.members[set_indices]].sum(axis=1)
    return set_indices[argsort_descending(scores)[:MAX_SETS]]


def _score_draws(sets: FeatureSets, search_problem: FeatureSearchProblem) -> np.ndarray:
    """Return log p(similarities | draw) + log p(weights) of each draw, up to a constant."""
    from scipy.special import gammaln

    n = search_problem.n
    n_draws = len(sets.of_draw)
    max_features = sets.members.shape[1]
    # the last row is for padding
    owners = np.concatenate([sets.patterns, np.zeros((1, n), bool)]).astype(float)
    draw_patterns = sets.members[sets.of_draw]
    weights = np.zeros((n_draws, max_features))
    weights[draw_patterns >= 0] = sets.weights
    similarity_matrix = np.zeros((n, n))
    root_judgements = np.zeros((n, n))
    similarity_matrix[search_problem.first, search_problem.second] = search_problem.values
    root_judgements[search_problem.first, search_problem.second] = np.sqrt(
        search_problem.judgements
    )
    squared_residuals = np.empty(n_draws)
    for draw_slice in iterate_slices(n_draws, n * (n + 2 * max_features)):
        owners_by_draw = owners[draw_patterns[draw_slice]]
        residuals = (owners_by_draw * weights[draw_slice, :, None]).swapaxes(1, 2) @ owners_by_draw
        residuals += search_problem.constant[draw_slice, None, None] - similarity_matrix
        residuals *= root_judgements
        squared_residuals[draw_slice] = np.einsum("dij,dij->d", residuals, residuals)
    positive_weights = np.where(draw_patterns >= 0, weights, 1.0)  # log 1 = 0
    if search_problem.with_constant:
        positive_weights = np.column_stack([positive_weights, search_problem.constant])
        weights = np.column_stack([weights, search_problem.constant])
    n_weights = sets.sizes[sets.of_draw] + search_problem.with_constant
    log_normaliser = search_problem.shape * np.log(search_problem.rate) - gammaln(
        search_problem.shape
    )
    log_density = log_normaliser * n_weights - search_problem.rate * weights.sum(axis=1)
    if search_problem.shape != 1.0:
        log_density += (search_problem.shape - 1.0) * np.log(positive_weights).sum(axis=1)
    return log_density - 0.5 * squared_residuals / search_problem.sigma2


def _group_by_terms(
    sets: FeatureSets, search_problem: FeatureSearchProblem, set_indices: Iterable[int]
) -> Iterator[tuple[list[int], np.ndarray, FeatureTerms]]:
    """Yield sets of equal numbers of terms: indices, patterns, statistics."""
    # Patterns have shape (sets, d), and the additive constant is one of the terms.
    full_pattern = _full_pattern_index(sets)
    owners = np.concatenate([sets.patterns, np.ones((1, search_problem.n), bool)])
    sets_by_size: dict[int, list[tuple[int, np.ndarray, np.ndarray]]] = {}
    for set_index in set_indices:
        member_patterns = sets.members[set_index]
        member_patterns = member_patterns[member_patterns >= 0]
        if search_problem.with_constant:
            member_patterns = np.append(member_patterns, full_pattern)
        patterns, copies = np.unique(member_patterns, return_counts=True)
        sets_by_size.setdefault(len(patterns), []).append((int(set_index), patterns, copies))
    for set_group in sets_by_size.values():
        group_set_indices, patterns, copies = zip(*set_group, strict=True)
        patterns = np.array(patterns)
        copies = np.array(copies, float)
        feature_terms = FeatureTerms.compute(
            owners[patterns],
            copies,
            search_problem.first,
            search_problem.second,
            search_problem.values,
            search_problem.judgements,
        )
        yield list(group_set_indices), patterns, feature_terms


def _full_pattern_index(sets: FeatureSets) -> int:
    """Return the index of the feature that all objects own, or n_patterns if none."""
    full_patterns = np.flatnonzero(sets.patterns.all(axis=1))
    if not len(full_patterns):
        return len(sets.patterns)
    return int(full_patterns[0])


def _maximise_joint(
    sets: FeatureSets, search_problem: FeatureSearchProblem, set_indices: Iterable[int]
) -> BestFeatureSet:
    """Return the feature set with the largest joint density at its best weights."""
    best_set = None
    for group_set_indices, patterns, feature_terms in _group_by_terms(
        sets, search_problem, set_indices
    ):
        weights = maximise_weights(
            feature_terms, search_problem.sigma2, search_problem.shape, search_problem.rate
        )
        log_joint = feature_terms.log_likelihood(
            weights, search_problem.sigma2
        ) + _log_copies_density(weights, feature_terms.copies, search_problem)
        log_joint += [
            search_problem.log_prior(sets.matrix(set_index)) for set_index in group_set_indices
        ]
        best_row = int(np.argmax(log_joint))
        if best_set is None or log_joint[best_row] > best_set.log_joint:
            best_set = _separate_constant(
                sets,
                search_problem,
                group_set_indices[best_row],
                patterns[best_row],
                feature_terms.copies[best_row],
                weights[best_row],
                float(log_joint[best_row]),
            )
    assert best_set is not None
    return best_set


def _log_copies_density(
    weights: np.ndarray, copies: np.ndarray, search_problem: FeatureSearchProblem
) -> np.ndarray:
    """Return the log prior density of weights that copies share equally, (n_sets,)."""
    from scipy.special import gammaln, xlogy

    log_normaliser = search_problem.shape * np.log(search_problem.rate) - gammaln(
        search_problem.shape
    )
    log_power_term = xlogy(copies * (search_problem.shape - 1.0), weights / copies)
    return (copies * log_normaliser + log_power_term - search_problem.rate * weights).sum(axis=1)


def _separate_constant(
    sets: FeatureSets,
    search_problem: FeatureSearchProblem,
    set_index: int,
    patterns: np.ndarray,
    copies: np.ndarray,
    weights: np.ndarray,
    log_joint: float,
) -> BestFeatureSet:
    """Return the best set with the feature of all objects turned into the additive constant."""
    constant = 0.0
    copies = copies.astype(np.int64)
    weights = weights.copy()
    if search_problem.with_constant:
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
