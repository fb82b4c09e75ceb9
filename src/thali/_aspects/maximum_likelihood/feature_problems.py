"""The log-likelihood of the weights of known features given answers about pairs of objects, and its
derivatives."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from thali._data.similarities import Similarities
from thali._inference.optimise import Slope, Target, maximise_newton
from thali._model.respondent_scores import LogWeightDerivatives, expect_answers

from ..likelihoods.most_similar_pair import RATIO

BLOCK = 2**21  # entries of an array
# of the log density: no step that promises less is taken; change of a logarithm in a step
_GAIN, _LONGEST = 1e-8, 2.0
NO_COEFFICIENTS = np.zeros(0)


class MostSimilarProblem(NamedTuple):
    r"""Choices of a pair out of S sets of pairs, explained by the weights of K features, of which a
    pair has some.

    .. math::
        q_x = \frac{v_x}{\sum_{y \in S} v_y}, \qquad
        p_x = (1 - \varepsilon) q_x + \varepsilon / |S|, \qquad
        v = e^{d'w} \; \text{or} \; d'w

    The methods are those of `Problem`, with a set for a pair and a place for an outcome, but
    derivatives are by the weights themselves, and the information is the expected one. With the
    link "ratio" the last feature is the constant.
    """

    counts: np.ndarray  # (places,) choices of each pair of each set, set after set
    start: np.ndarray  # (sets + 1,) where each set begins
    shared: np.ndarray  # (distinct pairs, K) which features both objects have
    pair: np.ndarray  # (places,) which pair stands there
    is_ratio: bool
    lapse: float

    @property
    def n_aspects(self) -> int:
        """Features."""
        return self.shared.shape[1]

    def _blocks(self, weights: np.ndarray) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
        """Whole sets at a time: their places, the probabilities there, and the gradients of their
        logarithms."""
        sizes, value = np.diff(self.start), self.shared @ weights
        step = max(1, BLOCK // (int(sizes.max()) * max(self.n_aspects, 1)))
        for begin in range(0, len(sizes), step):
            ends = self.start[begin : begin + step + 1]
            places, first, own = (
                slice(int(ends[0]), int(ends[-1])),
                ends[:-1] - ends[0],
                sizes[begin : begin + step],
            )
            v, change = value[self.pair[places]], self.shared[self.pair[places]]

            def summed(
                values: np.ndarray, first: np.ndarray = first, own: np.ndarray = own
            ) -> np.ndarray:
                return np.repeat(np.add.reduceat(values, first), own, axis=0)

            if self.is_ratio:
                change = change / v[:, None]
            else:
                v = np.exp(v - np.repeat(np.maximum.reduceat(v, first), own))
            q = v / summed(v)
            p = (1.0 - self.lapse) * q + self.lapse / np.repeat(own, own)
            yield (
                places,
                p,
                ((1.0 - self.lapse) * q / p)[:, None] * (change - summed(q[:, None] * change)),
            )

    def value(self, weights: np.ndarray) -> float:
        """The log-likelihood, without multinomial coefficients."""
        return float(sum(self.counts[places] @ np.log(p) for places, p, _ in self._blocks(weights)))

    def compute_derivatives(
        self, weights: np.ndarray, beta: np.ndarray = NO_COEFFICIENTS
    ) -> LogWeightDerivatives:
        """The derivatives at a point."""
        gradient, information = np.zeros(self.n_aspects), np.zeros((self.n_aspects, self.n_aspects))
        asked = np.repeat(np.add.reduceat(self.counts, self.start[:-1]), np.diff(self.start))
        for places, p, change in self._blocks(weights):
            gradient += self.counts[places] @ change
            information += change.T @ ((asked[places] * p)[:, None] * change)
        return LogWeightDerivatives(gradient, -information, np.diag(information))

    def compute_scores(
        self, tally: Any, weights: np.ndarray, beta: np.ndarray = NO_COEFFICIENTS
    ) -> np.ndarray:
        """Gradients of the log-likelihoods of parts of the answers; `tally` (parts, places) is
        sparse."""
        tally, found = tally.tocsc(), np.zeros((tally.shape[0], self.n_aspects))
        for places, _, change in self._blocks(weights):
            found += tally[:, places] @ change
        return found

    def expect_outcomes(
        self, tally: Any, weights: np.ndarray, beta: np.ndarray = NO_COEFFICIENTS
    ) -> Any:
        """Return weights with which squared scores of places sum to the information of parts;
        sparse."""
        p = np.concatenate([p for _, p, _ in self._blocks(weights)])
        return expect_answers(tally, np.diff(self.start), p)


class JudgedProblem(NamedTuple):
    r"""How similar people judged pairs, explained by the weights of K features, of which a pair has
    some.

    .. math:: s_r \sim \mathrm{Normal}(d_r'w, 1 / \tau_r)

    The methods are those of `MostSimilarProblem`, with a judgement for an outcome.
    """

    values: np.ndarray  # (judgements,)
    precision: np.ndarray  # (judgements,) tau
    shared: np.ndarray  # (pairs, K) which features both objects have
    pair: np.ndarray  # (judgements,)

    @property
    def n_aspects(self) -> int:
        """Features, and the constant."""
        return self.shared.shape[1]

    def value(self, weights: np.ndarray) -> float:
        """The log-likelihood, without what does not depend on the weights."""
        return -0.5 * float(
            self.precision @ np.square(self.values - (self.shared @ weights)[self.pair])
        )

    def _slope(self, weights: np.ndarray) -> np.ndarray:
        """By the mean of each judgement."""
        return self.precision * (self.values - (self.shared @ weights)[self.pair])

    def compute_derivatives(
        self, weights: np.ndarray, beta: np.ndarray = NO_COEFFICIENTS
    ) -> LogWeightDerivatives:
        """The derivatives at a point."""
        slope, precision = (
            np.bincount(self.pair, each, len(self.shared))
            for each in (self._slope(weights), self.precision)
        )
        information = self.shared.T @ (precision[:, None] * self.shared)
        return LogWeightDerivatives(self.shared.T @ slope, -information, np.diag(information))

    def compute_scores(
        self, tally: Any, weights: np.ndarray, beta: np.ndarray = NO_COEFFICIENTS
    ) -> np.ndarray:
        """Gradients of the log-likelihoods of parts of the judgements; `tally` (parts, judgements)
        is sparse."""
        from scipy.sparse import csr_array

        rows = np.arange(len(self.values))
        slope = csr_array(
            (self._slope(weights), (rows, self.pair)), shape=(len(rows), len(self.shared))
        )
        return (tally @ slope) @ self.shared

    def expect_outcomes(
        self, tally: Any, weights: np.ndarray, beta: np.ndarray = NO_COEFFICIENTS
    ) -> Any:
        """Return weights with which squared scores of judgements sum to the information of parts;
        sparse."""
        squared = np.maximum(self._slope(weights) ** 2, 1e-20 * self.precision)
        return tally.multiply(self.precision / squared).tocsr()


FeatureProblem = MostSimilarProblem | JudgedProblem


def feature_problem(data: Any, owners: np.ndarray, likelihood: Any) -> FeatureProblem:
    """The problem that answers about pairs and owners (features, objects) pose."""
    if isinstance(data, Similarities):
        return _of_judgements(data, owners, likelihood)
    n, is_ratio = data.n_options, likelihood.link == RATIO
    keys, pair = np.unique(data.first.astype(np.int64) * n + data.second, return_inverse=True)
    seen = np.ones(len(owners), bool) if is_ratio else ~owners.all(axis=1)
    shared = _shared(owners[seen], keys // n, keys % n, is_ratio)
    return MostSimilarProblem(
        data.counts, data.start, shared, pair, is_ratio, float(likelihood.lapse)
    )


def _of_judgements(data: Similarities, owners: np.ndarray, likelihood: Any) -> JudgedProblem:
    """That of similarities of which it is known who judged; of a learned sigma that of judgements
    about their mean."""
    known = data.answers
    assert known is not None
    shared = _shared(owners, data.first, data.second, bool(likelihood.constant))
    judges = np.bincount(known.pair, minlength=data.n_pairs)
    sigma = likelihood.fixed_sigma(data)
    # of a judgement, of those for which its similarity counts
    share = (data.judgements / judges)[known.pair]
    variance = (
        share @ np.square(known.values - data.values[known.pair]) / max((judges - 1).sum(), 1)
    )
    if sigma is not None:
        variance = sigma**2
    precision = share / variance if variance > 0.0 else np.zeros(len(known.pair))
    return JudgedProblem(known.values, precision, shared, known.pair)


def _shared(
    owners: np.ndarray, first: np.ndarray, second: np.ndarray, has_constant: bool
) -> np.ndarray:
    """Which features the objects of each pair share (pairs, K), equal ones once; the last is the
    constant."""
    own = np.unique(owners[owners.sum(axis=1) > 1], axis=0)
    shared = (own[:, first] & own[:, second]).T.astype(float)
    return np.column_stack([shared, np.ones(len(shared))]) if has_constant else shared


class _Place(NamedTuple):
    logs: np.ndarray
    value: float


class _Density(Target[_Place]):
    r"""The log posterior density of the logarithms of weights, :math:`\ell(w) + \sum_k (a \ln w_k -
    b w_k)`."""

    def __init__(self, pose: FeatureProblem, shape: float, rate: float) -> None:
        self._pose, self._shape, self._rate = pose, shape, rate

    def look(self, logs: np.ndarray) -> _Place:
        weights = np.exp(logs)
        return _Place(
            logs, self._pose.value(weights) + self._shape * logs.sum() - self._rate * weights.sum()
        )

    def move_point(self, here: _Place, change: np.ndarray) -> _Place:
        return self.look(here.logs + change)

    def slope(self, here: _Place) -> Slope:
        weights = np.exp(here.logs)
        found = self._pose.compute_derivatives(weights)
        curve = -found.hessian * weights * weights[:, None] + np.diag(self._rate * weights)
        return Slope(
            found.gradient * weights + self._shape - self._rate * weights, curve, np.diag(curve)
        )


def weights_at_mode(pose: FeatureProblem, shape: float, rate: float) -> np.ndarray:
    """Where the posterior of the logarithms of the weights is highest, under their Gamma prior."""
    target = _Density(pose, shape, rate)
    start = target.look(np.full(pose.n_aspects, np.log(shape / rate)))
    return np.exp(
        maximise_newton(target, start, _GAIN, damping=1e-3, max_change=_LONGEST).point.logs
    )
