"""Log-likelihood of the weights of known features, for similarities and triplets."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._data.similarities import Similarities
from thali._inference.index_arithmetic import iterate_slices, sum_parts
from thali._inference.maximisation import Slope, Target, maximise_newton
from thali._model.cluster_robust_variance import LogWeightDerivatives, expect_answers

from ..likelihoods.most_similar_pair import RATIO

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from ..likelihoods.additive import Additive


# smallest expected gain of the log density, and largest change of a logarithm, in a step
_GAIN = 1e-8
_LONGEST = 2.0
NO_COEFFICIENTS = np.zeros(0)


class MostSimilarProblem(NamedTuple):
    r"""Log-likelihood of K feature weights given choices of the most similar pair.

    .. math::
        q_x = \frac{v_x}{\sum_{y \in S} v_y}, \qquad
        p_x = (1 - \varepsilon) q_x + \varepsilon / |S|, \qquad
        v = e^{d'w} \; \text{or} \; d'w

    The methods are those of `PairProblem`, with a set for a pair and a place for an outcome, but
    derivatives are by the weights themselves, and the information is the expected information.
    With the link "ratio" the last feature is the constant.
    """

    counts: np.ndarray  # (places,) choices of each pair of each set, set after set
    start: np.ndarray  # (sets + 1,) where each set begins
    shared: np.ndarray  # (distinct pairs, K) which features both objects have
    pair: np.ndarray  # (places,) index of the pair
    is_ratio: bool
    lapse: float

    @property
    def n_aspects(self) -> int:
        """Number of features."""
        return self.shared.shape[1]

    def _iterate_blocks(
        self, weights: np.ndarray
    ) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
        """Yield blocks of sets: pair entries, probabilities, gradients of log probabilities."""
        set_sizes = np.diff(self.start)
        pair_values = self.shared @ weights
        for sets in iterate_slices(len(set_sizes), int(set_sizes.max()) * max(self.n_aspects, 1)):
            set_bounds = self.start[sets.start : sets.stop + 1]
            pair_slice = slice(int(set_bounds[0]), int(set_bounds[-1]))
            block_starts = set_bounds[:-1] - set_bounds[0]
            block_sizes = set_sizes[sets]
            block_values = pair_values[self.pair[pair_slice]]
            gradients = self.shared[self.pair[pair_slice]]

            def summed(
                terms: np.ndarray,
                block_starts: np.ndarray = block_starts,
                block_sizes: np.ndarray = block_sizes,
            ) -> np.ndarray:
                return np.repeat(np.add.reduceat(terms, block_starts), block_sizes, axis=0)

            if self.is_ratio:
                gradients = gradients / block_values[:, None]
            else:
                block_values = np.exp(
                    block_values
                    - np.repeat(np.maximum.reduceat(block_values, block_starts), block_sizes)
                )
            q = block_values / summed(block_values)
            p = (1.0 - self.lapse) * q + self.lapse / np.repeat(block_sizes, block_sizes)
            yield (
                pair_slice,
                p,
                ((1.0 - self.lapse) * q / p)[:, None]
                * (gradients - summed(q[:, None] * gradients)),
            )

    def value(self, weights: np.ndarray) -> float:
        """Return the log-likelihood at these weights, without multinomial coefficients."""
        return float(
            sum(self.counts[block] @ np.log(p) for block, p, _ in self._iterate_blocks(weights))
        )

    def compute_derivatives(
        self, weights: np.ndarray, beta: np.ndarray = NO_COEFFICIENTS
    ) -> LogWeightDerivatives:
        """Return gradient, Hessian and information of the log-likelihood."""
        gradient = np.zeros(self.n_aspects)
        information = np.zeros((self.n_aspects, self.n_aspects))
        totals = np.repeat(sum_parts(self.counts, self.start), np.diff(self.start))
        for pair_slice, p, gradients in self._iterate_blocks(weights):
            gradient += self.counts[pair_slice] @ gradients
            information += gradients.T @ ((totals[pair_slice] * p)[:, None] * gradients)
        return LogWeightDerivatives(gradient, -information, np.diag(information))

    def compute_scores(
        self, tally: Any, weights: np.ndarray, beta: np.ndarray = NO_COEFFICIENTS
    ) -> np.ndarray:
        """Compute log-likelihood gradients, one per row of the sparse `tally` of outcomes."""
        tally, scores = tally.tocsc(), np.zeros((tally.shape[0], self.n_aspects))
        for pair_slice, _, gradients in self._iterate_blocks(weights):
            scores += tally[:, pair_slice] @ gradients
        return scores

    def expect_outcomes(
        self, tally: "csr_array", weights: np.ndarray, beta: np.ndarray = NO_COEFFICIENTS
    ) -> Any:
        """Return weights that make squared scores sum to the information of each `tally` row."""
        p = np.concatenate([p for _, p, _ in self._iterate_blocks(weights)])
        return expect_answers(tally, np.diff(self.start), p)


class JudgedProblem(NamedTuple):
    r"""Log-likelihood of K feature weights given judged similarities of pairs.

    .. math:: s_r \sim \mathrm{Normal}(d_r'w, 1 / \tau_r)

    The methods are those of `MostSimilarProblem`, with a judgement for an outcome.
    """

    values: np.ndarray  # (judgements,)
    precision: np.ndarray  # (judgements,) tau
    shared: np.ndarray  # (pairs, K) which features both objects have
    pair: np.ndarray  # (judgements,)

    @property
    def n_aspects(self) -> int:
        """Number of features, including the additive constant."""
        return self.shared.shape[1]

    def value(self, weights: np.ndarray) -> float:
        """Return the log-likelihood at these weights, up to a constant."""
        return -0.5 * float(
            self.precision @ np.square(self.values - (self.shared @ weights)[self.pair])
        )

    def _differentiate_by_mean(self, weights: np.ndarray) -> np.ndarray:
        """Return the derivative of the log-likelihood by the mean of each judgement."""
        return self.precision * (self.values - (self.shared @ weights)[self.pair])

    def compute_derivatives(
        self, weights: np.ndarray, beta: np.ndarray = NO_COEFFICIENTS
    ) -> LogWeightDerivatives:
        """Return gradient, Hessian and information of the log-likelihood."""
        pair_slopes = np.bincount(self.pair, self._differentiate_by_mean(weights), len(self.shared))
        pair_precision = np.bincount(self.pair, self.precision, len(self.shared))
        information = self.shared.T @ (pair_precision[:, None] * self.shared)
        return LogWeightDerivatives(self.shared.T @ pair_slopes, -information, np.diag(information))

    def compute_scores(
        self, tally: Any, weights: np.ndarray, beta: np.ndarray = NO_COEFFICIENTS
    ) -> np.ndarray:
        """Compute log-likelihood gradients, one per row of the sparse `tally` of outcomes."""
        from scipy.sparse import csr_array

        judgement_indices = np.arange(len(self.values))
        slope_matrix = csr_array(
            (self._differentiate_by_mean(weights), (judgement_indices, self.pair)),
            shape=(len(judgement_indices), len(self.shared)),
        )
        return (tally @ slope_matrix) @ self.shared

    def expect_outcomes(
        self, tally: "csr_array", weights: np.ndarray, beta: np.ndarray = NO_COEFFICIENTS
    ) -> Any:
        """Return weights that make squared scores sum to the information of each `tally` row."""
        squared_slopes = np.maximum(
            self._differentiate_by_mean(weights) ** 2, 1e-20 * self.precision
        )
        return tally.multiply(self.precision / squared_slopes).tocsr()


FeatureProblem = MostSimilarProblem | JudgedProblem


def build_feature_problem(data: Any, owners: np.ndarray, likelihood: Any) -> FeatureProblem:
    """Build the log-likelihood of weights of features with these owners, (K, n)."""
    if isinstance(data, Similarities):
        return _build_judgement_problem(data, owners, likelihood)
    n_objects = data.n_options
    is_ratio = likelihood.link == RATIO
    pair_keys, pair_index = np.unique(
        data.first.astype(np.int64) * n_objects + data.second, return_inverse=True
    )
    if not is_ratio:  # the likelihood does not depend on features of all objects
        owners = owners[~owners.all(axis=1)]
    shared_features = _select_shared_features(
        owners, pair_keys // n_objects, pair_keys % n_objects, is_ratio
    )
    return MostSimilarProblem(
        data.counts, data.start, shared_features, pair_index, is_ratio, float(likelihood.lapse)
    )


def _build_judgement_problem(
    data: Similarities, owners: np.ndarray, likelihood: "Additive"
) -> JudgedProblem:
    """Build the log-likelihood of weights given judged similarities."""
    # A learned sigma becomes the standard deviation of judgements around their mean.
    answers = data.answers
    assert answers is not None
    shared_features = _select_shared_features(
        owners, data.first, data.second, bool(likelihood.constant)
    )
    n_judges = np.bincount(answers.pair, minlength=data.n_pairs)
    sigma = likelihood.fixed_sigma(data)
    # weight of one judgement in the number of judgements of its similarity
    answer_weights = (data.judgements / n_judges)[answers.pair]
    variance = (
        answer_weights
        @ np.square(answers.values - data.values[answers.pair])
        / max((n_judges - 1).sum(), 1)
    )
    if sigma is not None:
        variance = sigma**2
    precision = np.zeros(len(answers.pair))
    if variance > 0.0:
        precision = answer_weights / variance
    return JudgedProblem(answers.values, precision, shared_features, answers.pair)


def _select_shared_features(
    owners: np.ndarray, first_objects: np.ndarray, second_objects: np.ndarray, has_constant: bool
) -> np.ndarray:
    """Return which distinct features each pair shares, (pairs, K), the constant last."""
    distinct_features = np.unique(owners[owners.sum(axis=1) > 1], axis=0)
    shared_features = (
        distinct_features[:, first_objects] & distinct_features[:, second_objects]
    ).T.astype(float)
    if has_constant:
        return np.column_stack([shared_features, np.ones(len(shared_features))])
    return shared_features


class _FeaturePoint(NamedTuple):
    """Log weights, and the log posterior density at them."""

    logs: np.ndarray
    value: float


@dataclass
class _FeaturePosterior(Target[_FeaturePoint]):
    r"""The log posterior density of log weights, :math:`\ell(w) + \sum_k (a \ln w_k - b w_k)`."""

    problem: FeatureProblem
    shape: float
    rate: float

    def evaluate(self, log_weights: np.ndarray) -> _FeaturePoint:
        """Return the log posterior density at these log weights."""
        weights = np.exp(log_weights)
        return _FeaturePoint(
            log_weights,
            self.problem.value(weights)
            + self.shape * log_weights.sum()
            - self.rate * weights.sum(),
        )

    def move_point(self, point: _FeaturePoint, change: np.ndarray) -> _FeaturePoint:
        """Return the point at log weights changed by `change`."""
        return self.evaluate(point.logs + change)

    def slope(self, point: _FeaturePoint) -> Slope:
        """Return gradient and negative Hessian of the log posterior at a point."""
        weights = np.exp(point.logs)
        derivatives = self.problem.compute_derivatives(weights)
        curvature = -derivatives.hessian * weights * weights[:, None] + np.diag(self.rate * weights)
        return Slope(
            derivatives.gradient * weights + self.shape - self.rate * weights,
            curvature,
            np.diag(curvature),
        )


def find_weight_mode(problem: FeatureProblem, shape: float, rate: float) -> np.ndarray:
    """Return the posterior mode of the weights under their Gamma prior."""
    log_posterior = _FeaturePosterior(problem, shape, rate)
    start_point = log_posterior.evaluate(np.full(problem.n_aspects, np.log(shape / rate)))
    return np.exp(
        maximise_newton(
            log_posterior, start_point, _GAIN, damping=1e-3, max_change=_LONGEST
        ).point.logs
    )
