"""Compares the changes that moves make, by the terms of a user's likelihood and by its whole."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import operations
from ..state import COLUMNS, FeatureState, make_empty_state, scratch_index
from .term_sums import TermSums

# What rounding may do to a sum, in proportion to the sum of its terms' sizes. With n terms it comes
# to sqrt(n) times 1e-16 if each is rounded its own way, to n times that if all are rounded one way;
# a user's terms may be good to 1e-12.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Difference:
    """The worst disagreement between two evaluations of the same thing."""

    count: int = 0  # comparisons made
    size: float = 0.0  # of the one whose size is largest in proportion to what rounding may do
    allowed: float = 0.0  # what rounding may do there
    words: str = ""  # what it is

    @property
    def is_rounding(self) -> bool:
        """Whether rounding can explain the difference."""
        return self.size <= self.allowed

    def worse(self, one: float, other: float, allowed: float, words: str) -> "Difference":
        """This or the new comparison, whichever is worse; counts one more. Equal infinities
        agree."""
        size = 0.0 if one == other else abs(one - other)
        size = np.inf if np.isnan(size) else size
        if self.count == 0 or size * self.allowed > self.size * allowed:
            return Difference(self.count + 1, float(size), allowed, words)
        return Difference(self.count + 1, self.size, self.allowed, self.words)


def states_of(prior: Any, n: int, weights: Any, rng: np.random.Generator, count: int) -> list[Any]:
    """Features (options by columns, 0.0 and 1.0) and weights from the prior; the first has no
    column if it may."""
    states = []
    for number in range(count):
        matrix = prior.sample(n, 1.0 + number / 2, rng)
        if prior.is_infinite:
            matrix = matrix[:, :0] if number == 0 else np.hstack([matrix, rng.random((n, 2)) < 0.5])
            matrix = matrix[:, matrix.any(0)]
        states.append((matrix.astype(float), weights.random(rng, matrix.shape[1])))
    return states


def as_seen(features: np.ndarray) -> np.ndarray:
    """The features laid out as samplers hold them, so that compiled code knows the type of the
    array."""
    n, columns = features.shape
    rows = np.zeros((columns + 2, n + 1))
    rows[:columns, :n] = features.T
    return rows[:columns, :n].T


def state_of(features: np.ndarray, weights: np.ndarray) -> FeatureState:
    """A state with these columns and room for more."""
    n, columns = features.shape
    state = make_empty_state(n, columns + 4)
    state.Z[:columns, :n] = features.T
    state.w[:columns] = weights
    state.m[:columns] = features.sum(0)
    state.whole[COLUMNS] = columns
    return state


def rounding(cache: Any, value: float) -> float:
    """What rounding may do to a change of the log-likelihood, given its value."""
    terms = (
        np.abs(cache.option).sum() + 0.5 * np.abs(cache.pair).sum()
        if isinstance(cache, TermSums)
        else 0.0
    )
    return ROUNDING * (1.0 + abs(value) + float(terms))


def compare_changes(
    likelihood: Any,
    make_cache: Any,
    whole: Any,
    states: Any,
    labels: Any,
    rng: np.random.Generator,
    most: int,
) -> Difference:
    """Every kind of change that a move makes, by the operations and as a difference of two
    evaluations of `whole`."""
    found = Difference()
    for features, weights in states:
        state, cache = state_of(features, weights), make_cache(likelihood)
        operations.rebuild_cache(likelihood, cache, state)
        before = whole(features, weights)
        for change, after, words in _changes(
            likelihood, cache, state, features, weights, labels, rng, most
        ):
            value = whole(*after)
            allowed = rounding(cache, before) + rounding(cache, value)
            sentence = (
                f"when {words}, the terms change by {change:.6g} and log_likelihood by"
                f" {value - before:.6g}"
            )
            found = found.worse(change, value - before, allowed, sentence)
    return found


def _changes(
    likelihood: Any,
    cache: Any,
    state: Any,
    features: Any,
    weights: Any,
    labels: Any,
    rng: np.random.Generator,
    most: Any,
) -> Any:
    """Each change as (change of the log-likelihood by the operation, features and weights after it,
    description)."""
    n, columns = features.shape

    def owners(column: Any) -> Any:
        named = [labels[i] for i in np.flatnonzero(column)]
        return "{" + ", ".join(named[:6]) + (", ..." if len(named) > 6 else "") + "}"

    def some(things: Any) -> Any:
        return [things[t] for t in rng.permutation(len(things))[:most]]

    for k, i in some([(k, i) for k in range(columns) for i in range(n)]):
        joins = features[i, k] == 0.0
        after = features.copy()
        after[i, k] = float(joins)
        if not after[:, k].any():
            continue
        change = operations.delta_member(
            likelihood, cache, state, k, i, weights[k] if joins else -weights[k]
        )
        does = "joins" if joins else "leaves"
        yield (
            change,
            (after, weights),
            f"{labels[i]} {does} the feature of {owners(features[:, k])}",
        )
    for k in some(list(range(columns))):
        heavier = weights.copy()
        heavier[k] *= rng.uniform(0.3, 3.0)
        change = operations.delta_weight(
            likelihood, cache, state, k, state.m[k], heavier[k] - weights[k]
        )
        yield (
            change,
            (features, heavier),
            f"the weight of the feature of {owners(features[:, k])} changes",
        )
        left = np.arange(columns) != k
        change = operations.delta_weight(likelihood, cache, state, k, state.m[k], -weights[k])
        yield (
            change,
            (features[:, left], weights[left]),
            f"the feature of {owners(features[:, k])} is removed",
        )
    for _ in range(min(most, 4)):
        new = (rng.random(n) < rng.uniform(0.2, 0.9)).astype(float)
        new[rng.integers(n)] = 1.0
        weight = rng.standard_exponential()
        state.Z[columns, :n] = new
        change = operations.delta_weight(likelihood, cache, state, columns, int(new.sum()), weight)
        after = np.column_stack([features, new]), np.append(weights, weight)
        yield change, after, f"a feature of {owners(new)} is added"
    for k, other in some([(k, o) for k in range(columns) for o in range(columns) if k != o]):
        shared = features[:, k] @ features[:, other]
        splits = shared == features[:, other].sum() < features[:, k].sum()
        if not splits and (shared > 0.0 or weights[other] <= weights[k]):
            continue
        sign = -1.0 if splits else 1.0
        after, moved = features.copy(), weights.copy()
        after[:, k] += sign * features[:, other]
        moved[other] -= sign * weights[k]
        state.Z[scratch_index(state), :n] = after[:, k]
        change = operations.delta_transfer(likelihood, cache, state, k, other, sign * weights[k])
        does = "gives up" if splits else "takes over"
        yield (
            change,
            (after, moved),
            f"the feature of {owners(features[:, k])} {does} {owners(features[:, other])}",
        )
