"""Compare changes in a user's likelihood by its terms and by the full function."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import operations
from ..state import COLUMNS, FeatureState, make_empty_state, scratch_index
from .term_sums import TermSums

# Bound on the rounding error of a sum, as a fraction of the sum of absolute terms. With n terms it
# is sqrt(n) times 1e-16 for independent rounding, and n times 1e-16 in the worst case; a user's
# terms may be accurate to 1e-12.
RELATIVE_ROUNDING = 1e-9


@dataclass(frozen=True)
class WorstDifference:
    """The worst disagreement among comparisons of two evaluations."""

    count: int = 0  # number of comparisons
    size: float = 0.0  # the difference that is largest relative to its rounding bound
    allowed: float = 0.0  # its rounding bound
    words: str = ""  # its description

    @property
    def is_rounding(self) -> bool:
        """Whether rounding can explain the difference."""
        return self.size <= self.allowed

    def worse(
        self, first_value: float, second_value: float, allowed: float, words: str
    ) -> "WorstDifference":
        """Return the worse of this and a new comparison, counting one more.

        Equal infinities agree.
        """
        size = 0.0 if first_value == second_value else abs(first_value - second_value)
        size = np.inf if np.isnan(size) else size
        if self.count == 0 or size * self.allowed > self.size * allowed:
            return WorstDifference(self.count + 1, float(size), allowed, words)
        return WorstDifference(self.count + 1, self.size, self.allowed, self.words)


def sample_states(
    prior: Any, n: int, weights: Any, rng: np.random.Generator, count: int
) -> list[Any]:
    """Sample features (options, columns) and weights from the prior.

    The first state has no column if the prior allows it.
    """
    states = []
    for i in range(count):
        matrix = prior.sample(n, 1.0 + i / 2, rng)
        if prior.is_infinite:
            matrix = matrix[:, :0] if i == 0 else np.hstack([matrix, rng.random((n, 2)) < 0.5])
            matrix = matrix[:, matrix.any(0)]
        states.append((matrix.astype(float), weights.random(rng, matrix.shape[1])))
    return states


def arrange_like_samplers(features: np.ndarray) -> np.ndarray:
    """Return the features in the memory layout of samplers.

    Compiled code then has the type of the array.
    """
    n, n_columns = features.shape
    rows = np.zeros((n_columns + 2, n + 1))
    rows[:n_columns, :n] = features.T
    return rows[:n_columns, :n].T


def build_state(features: np.ndarray, weights: np.ndarray) -> FeatureState:
    """Build a state with these columns and room for more."""
    n, n_columns = features.shape
    state = make_empty_state(n, n_columns + 4)
    state.Z[:n_columns, :n] = features.T
    state.w[:n_columns] = weights
    state.m[:n_columns] = features.sum(0)
    state.whole[COLUMNS] = n_columns
    return state


def bound_rounding(cache: Any, log_value: float) -> float:
    """Return a bound on the rounding error of a log-likelihood value."""
    terms = 0.0
    if isinstance(cache, TermSums):
        terms = np.abs(cache.option).sum() + 0.5 * np.abs(cache.pair).sum()
    return RELATIVE_ROUNDING * (1.0 + abs(log_value) + float(terms))


def compare_changes(
    likelihood: Any,
    make_cache: Any,
    log_likelihood: Any,
    states: Any,
    labels: Any,
    rng: np.random.Generator,
    max_changes: int,
) -> WorstDifference:
    """Compare changes by the operations with differences of the full function.

    `whole` is the full function of features and weights, and up to `most` changes of each kind are
    compared.
    """
    worst = WorstDifference()
    for features, weights in states:
        state, cache = build_state(features, weights), make_cache(likelihood)
        operations.rebuild_cache(likelihood, cache, state)
        old_value = log_likelihood(features, weights)
        for change, changed_state, words in _iterate_changes(
            likelihood, cache, state, features, weights, labels, rng, max_changes
        ):
            new_value = log_likelihood(*changed_state)
            allowed = bound_rounding(cache, old_value) + bound_rounding(cache, new_value)
            sentence = (
                f"when {words}, the terms change by {change:.6g} and log_likelihood by"
                f" {new_value - old_value:.6g}"
            )
            worst = worst.worse(change, new_value - old_value, allowed, sentence)
    return worst


def _iterate_changes(
    likelihood: Any,
    cache: Any,
    state: Any,
    features: Any,
    weights: Any,
    labels: Any,
    rng: np.random.Generator,
    max_changes: Any,
) -> Any:
    """Yield changes: difference by the operation, new state and description."""
    n, n_columns = features.shape

    def owners(column: Any) -> Any:
        """Format the owners of a column."""
        owner_labels = [labels[i] for i in np.flatnonzero(column)]
        return "{" + ", ".join(owner_labels[:6]) + (", ..." if len(owner_labels) > 6 else "") + "}"

    def choose(candidates: Any) -> Any:
        """Choose some of the candidates at random."""
        return [candidates[t] for t in rng.permutation(len(candidates))[:max_changes]]

    for k, i in choose([(k, i) for k in range(n_columns) for i in range(n)]):
        joins = features[i, k] == 0.0
        new_features = features.copy()
        new_features[i, k] = float(joins)
        if not new_features[:, k].any():
            continue
        change = operations.delta_member(
            likelihood, cache, state, k, i, weights[k] if joins else -weights[k]
        )
        verb = "joins" if joins else "leaves"
        yield (
            change,
            (new_features, weights),
            f"{labels[i]} {verb} the feature of {owners(features[:, k])}",
        )
    for k in choose(list(range(n_columns))):
        changed_weights = weights.copy()
        changed_weights[k] *= rng.uniform(0.3, 3.0)
        change = operations.delta_weight(
            likelihood, cache, state, k, state.m[k], changed_weights[k] - weights[k]
        )
        yield (
            change,
            (features, changed_weights),
            f"the weight of the feature of {owners(features[:, k])} changes",
        )
        is_kept = np.arange(n_columns) != k
        change = operations.delta_weight(likelihood, cache, state, k, state.m[k], -weights[k])
        yield (
            change,
            (features[:, is_kept], weights[is_kept]),
            f"the feature of {owners(features[:, k])} is removed",
        )
    for _ in range(min(max_changes, 4)):
        new_column = (rng.random(n) < rng.uniform(0.2, 0.9)).astype(float)
        new_column[rng.integers(n)] = 1.0
        weight = rng.standard_exponential()
        state.Z[n_columns, :n] = new_column
        change = operations.delta_weight(
            likelihood, cache, state, n_columns, int(new_column.sum()), weight
        )
        new_features = np.column_stack([features, new_column]), np.append(weights, weight)
        yield change, new_features, f"a feature of {owners(new_column)} is added"
    for k, partner in choose(
        [(k, o) for k in range(n_columns) for o in range(n_columns) if k != o]
    ):
        shared = features[:, k] @ features[:, partner]
        splits = shared == features[:, partner].sum() < features[:, k].sum()
        if not splits and (shared > 0.0 or weights[partner] <= weights[k]):
            continue
        sign = -1.0 if splits else 1.0
        new_features, new_weights = features.copy(), weights.copy()
        new_features[:, k] += sign * features[:, partner]
        new_weights[partner] -= sign * weights[k]
        state.Z[scratch_index(state), :n] = new_features[:, k]
        change = operations.delta_transfer(likelihood, cache, state, k, partner, sign * weights[k])
        verb = "gives up" if splits else "takes over"
        yield (
            change,
            (new_features, new_weights),
            f"the feature of {owners(features[:, k])} {verb} {owners(features[:, partner])}",
        )
