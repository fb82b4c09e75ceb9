"""Checks that a user's pair and option terms agree with the user's full log-likelihood."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import kernel_operations
from ..chain_state import COLUMNS, FeatureState, make_empty_state, scratch_index
from .custom_term_kernels import TermSums

if TYPE_CHECKING:
    from ..priors.prior_from_argument import FeaturePrior
    from ..weight_priors import GammaWeights, NormalWeights


# Bound on the rounding error of a sum, as a fraction of the sum of absolute terms. With n terms it
# is sqrt(n) times 1e-16 for independent rounding, and n times 1e-16 in the worst case; a user's
# terms may be accurate to 1e-12.
RELATIVE_ROUNDING = 1e-9


@dataclass(frozen=True)
class WorstDifference:
    """The largest difference between two evaluations, relative to its rounding bound."""

    count: int = 0  # number of comparisons
    size: float = 0.0  # the difference that is largest relative to its rounding bound
    allowed: float = 0.0  # its rounding bound
    words: str = ""  # its description

    @property
    def is_rounding(self) -> bool:
        """Whether rounding errors can explain the largest difference."""
        return self.size <= self.allowed

    def worse(
        self, first_value: float, second_value: float, allowed_difference: float, words: str
    ) -> "WorstDifference":
        """Return this or the new comparison, whichever differs more beyond rounding.

        Equal infinities agree.
        """
        excess = 0.0
        if first_value != second_value:
            excess = abs(first_value - second_value)
        if np.isnan(excess):
            excess = np.inf
        if self.count == 0 or excess * self.allowed > self.size * allowed_difference:
            return WorstDifference(self.count + 1, float(excess), allowed_difference, words)
        return WorstDifference(self.count + 1, self.size, self.allowed, self.words)


def sample_states(
    prior: "FeaturePrior",
    n: int,
    weights: "GammaWeights | NormalWeights",
    rng: np.random.Generator,
    n_states: int,
) -> list[Any]:
    """Sample `n_states` pairs (features, weights) from the prior for n options.

    The first state has no column if the prior allows it.
    """
    states = []
    for i in range(n_states):
        ownership = prior.sample(n, 1.0 + i / 2, rng)
        if prior.is_infinite:
            if i == 0:
                ownership = ownership[:, :0]
            else:
                ownership = np.hstack([ownership, rng.random((n, 2)) < 0.5])
            ownership = ownership[:, ownership.any(0)]
        states.append((ownership.astype(float), weights.random(rng, ownership.shape[1])))
    return states


def arrange_like_samplers(features: np.ndarray) -> np.ndarray:
    """Return the feature matrix as a view with the samplers' memory layout.

    Compiled code then has the type of the array.
    """
    n, n_columns = features.shape
    padded_rows = np.zeros((n_columns + 2, n + 1))
    padded_rows[:n_columns, :n] = features.T
    return padded_rows[:n_columns, :n].T


def build_state(features: np.ndarray, weights: np.ndarray) -> FeatureState:
    """Build a sampler state from features and weights, with room for more features."""
    n, n_columns = features.shape
    state = make_empty_state(n, n_columns + 4)
    state.Z[:n_columns, :n] = features.T
    state.w[:n_columns] = weights
    state.m[:n_columns] = features.sum(0)
    state.whole[COLUMNS] = n_columns
    return state


def bound_rounding(cache: Any, log_value: float) -> float:
    """Return a bound on the rounding error of a log-likelihood value."""
    term_sum = 0.0
    if isinstance(cache, TermSums):
        term_sum = np.abs(cache.option).sum() + 0.5 * np.abs(cache.pair).sum()
    return RELATIVE_ROUNDING * (1.0 + abs(log_value) + float(term_sum))


def compare_changes(
    likelihood: Any,
    make_cache: Callable[..., Any],
    log_likelihood: Callable[..., Any],
    states: Sequence[tuple[np.ndarray, np.ndarray]],
    labels: Sequence[str],
    rng: np.random.Generator,
    max_changes: int,
) -> WorstDifference:
    """Compare the kernels' log-likelihood changes with differences of `log_likelihood`.

    At most `max_changes` changes of each kind are compared.
    """
    worst_difference = WorstDifference()
    for features, weights in states:
        state = build_state(features, weights)
        cache = make_cache(likelihood)
        kernel_operations.rebuild_cache(likelihood, cache, state)
        old_value = log_likelihood(features, weights)
        changes = StateChanges(
            likelihood, cache, state, features, weights, labels, rng, max_changes
        )
        for term_change, (new_features, new_weights), change_words in changes.iterate():
            new_value = log_likelihood(new_features, new_weights)
            allowed_difference = bound_rounding(cache, old_value) + bound_rounding(cache, new_value)
            sentence = (
                f"when {change_words}, the terms change by {term_change:.6g} and log_likelihood by"
                f" {new_value - old_value:.6g}"
            )
            worst_difference = worst_difference.worse(
                term_change, new_value - old_value, allowed_difference, sentence
            )
    return worst_difference


@dataclass(frozen=True)
class StateChanges:
    """Random changes of one state, each with the log-likelihood change that kernels report.

    Each method yields the difference, the features and weights after the change, and a description.
    """

    likelihood: Any
    cache: Any
    state: FeatureState
    features: np.ndarray  # (options, columns)
    weights: np.ndarray
    labels: Any
    rng: np.random.Generator
    max_changes: int  # of each kind

    def iterate(self) -> Iterator[tuple[float, tuple[np.ndarray, np.ndarray], str]]:
        """Yield changes of every kind: members, weights, births and transfers."""
        yield from self._flip_members()
        yield from self._change_weights()
        yield from self._add_columns()
        yield from self._transfer_owners()

    def _choose(self, candidates: list[Any]) -> list[Any]:
        """Return a random selection of the candidates, at most `max_changes`."""
        random_order = self.rng.permutation(len(candidates))
        return [candidates[t] for t in random_order[: self.max_changes]]

    def _format_owners(self, column: np.ndarray) -> str:
        """Return up to six owners of a feature as text in braces."""
        owner_labels = [self.labels[i] for i in np.flatnonzero(column)]
        if len(owner_labels) > 6:
            owner_labels[6:] = ["..."]
        return "{" + ", ".join(owner_labels) + "}"

    def _flip_members(self) -> Iterator[Any]:
        """Yield changes in which an option joins or leaves a feature."""
        n, n_columns = self.features.shape
        for k, i in self._choose([(k, i) for k in range(n_columns) for i in range(n)]):
            verb = "leaves"
            d = -self.weights[k]
            if self.features[i, k] == 0.0:
                verb = "joins"
                d = self.weights[k]
            new_features = self.features.copy()
            new_features[i, k] = 1.0 - new_features[i, k]
            if new_features[:, k].any():
                yield (
                    kernel_operations.delta_member(
                        self.likelihood, self.cache, self.state, k, i, d
                    ),
                    (new_features, self.weights),
                    f"{self.labels[i]} {verb} the feature of"
                    f" {self._format_owners(self.features[:, k])}",
                )

    def _delta_weight(self, k: int, m: Any, d: Any) -> float:
        """Return the kernel's log-likelihood change if the weight of row k grows by d."""
        return kernel_operations.delta_weight(self.likelihood, self.cache, self.state, k, m, d)

    def _change_weights(self) -> Iterator[Any]:
        """Yield changes of the weight of a feature, and its removal."""
        n_columns = len(self.weights)
        for k in self._choose(list(range(n_columns))):
            owners = self._format_owners(self.features[:, k])
            m = self.state.m[k]
            new_weights = self.weights.copy()
            new_weights[k] *= self.rng.uniform(0.3, 3.0)
            yield (
                self._delta_weight(k, m, new_weights[k] - self.weights[k]),
                (self.features, new_weights),
                f"the weight of the feature of {owners} changes",
            )
            is_kept = np.arange(n_columns) != k
            yield (
                self._delta_weight(k, m, -self.weights[k]),
                (self.features[:, is_kept], self.weights[is_kept]),
                f"the feature of {owners} is removed",
            )

    def _add_columns(self) -> Iterator[Any]:
        """Yield changes in which a new feature is added."""
        n, n_columns = self.features.shape
        for _ in range(min(self.max_changes, 4)):
            has_feature = (self.rng.random(n) < self.rng.uniform(0.2, 0.9)).astype(float)
            has_feature[self.rng.integers(n)] = 1.0
            weight = self.rng.standard_exponential()
            self.state.Z[n_columns, :n] = has_feature
            yield (
                self._delta_weight(n_columns, int(has_feature.sum()), weight),
                (np.column_stack([self.features, has_feature]), np.append(self.weights, weight)),
                f"a feature of {self._format_owners(has_feature)} is added",
            )

    def _transfer_owners(self) -> Iterator[Any]:
        """Yield changes in which a feature gains, or gives up, another feature's owners."""
        n, n_columns = self.features.shape
        for k, partner in self._choose(list(permutations(range(n_columns), 2))):
            has_feature = self.features[:, k]
            partner_column = self.features[:, partner]
            n_common = has_feature @ partner_column
            if n_common == partner_column.sum() < has_feature.sum():
                sign = -1.0
                verb = "gives up"
            elif n_common == 0.0 and self.weights[partner] > self.weights[k]:
                sign = 1.0
                verb = "takes over"
            else:
                continue
            new_features = self.features.copy()
            new_weights = self.weights.copy()
            new_features[:, k] += sign * partner_column
            new_weights[partner] -= sign * self.weights[k]
            self.state.Z[scratch_index(self.state), :n] = new_features[:, k]
            term_change = kernel_operations.delta_transfer(
                self.likelihood, self.cache, self.state, k, partner, sign * self.weights[k]
            )
            yield (
                term_change,
                (new_features, new_weights),
                f"the feature of {self._format_owners(has_feature)} {verb}"
                f" {self._format_owners(partner_column)}",
            )
