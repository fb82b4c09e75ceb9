"""Exact invariance checks: transition matrices of sampler code, by enumerating outcomes.

A `BranchingRandom` replaces the random generator. Its draws are intervals, not numbers: when the
code compares a draw with a number, or converts it to an integer, every outcome is followed, with
its probability. For all reachable states, this gives the transition matrix P of the code, and
`invariance_error` returns the difference between pi P and pi.

The code must run as Python: set NUMBA_DISABLE_JIT=1, or call functions whose operations are plain
Python, as here. Continuous parameters must be fixed.
"""

import copy
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from thali._aspects.chain_state import (
    ALPHA,
    BETA,
    COLUMNS,
    NO_UNIQUE,
    ChainModel,
    FeatureState,
    make_empty_state,
)
from thali._aspects.kernel_operations import open_members, rate_by_size_range, rebuild_cache
from thali._aspects.likelihoods.custom_term_checks import build_state
from thali._aspects.moves import births_and_splits, owner_flips
from thali._aspects.priors.indian_buffet import IndianBuffet
from thali._aspects.samplers.sweep_bookkeeping import prepare_state
from thali._aspects.weight_priors import GammaWeights, NormalWeights
from thali._inference.numerics.discrete_draws import draw_index
from thali._inference.numerics.weight_shares import softmax

_MAX_STATES = 5000  # of a transition matrix


@dataclass(eq=False)
class Draw:
    """A random number a + b X of known distribution, restricted to an interval."""

    source: Any
    cdf: Any
    interval: list[Any]  # shared by all affine images
    number: Any = None
    a: float = 0.0
    b: float = 1.0

    __array_ufunc__ = None  # NumPy numbers leave arithmetic and comparisons to this class

    def _affine(self, a: float, b: float) -> Any:
        """Return the random number a + b X of the same draw."""
        return Draw(self.source, self.cdf, self.interval, self.number, a, b)

    def __mul__(self, x: float) -> Any:
        return self._affine(self.a * x, self.b * x)

    __rmul__ = __mul__

    def __add__(self, x: float) -> Any:
        return self._affine(self.a + x, self.b)

    __radd__ = __add__

    def __sub__(self, x: float) -> Any:
        return self._affine(self.a - x, self.b)

    def __neg__(self) -> Any:
        return self._affine(-self.a, -self.b)

    def __truediv__(self, x: float) -> Any:
        if self.number is None:
            return self * (1.0 / x)
        return self.number / x

    def __float__(self) -> Any:
        if self.number is None:
            raise TypeError(
                "This move draws its own random number, so its outcomes cannot be enumerated; use"
                " the numbers passed to it."
            )
        return self.number

    def __lt__(self, x: float) -> bool:
        """Return whether the number is below x, following both possible outcomes."""
        cut_value = (x - self.a) / self.b
        low, high = self.interval
        if math.isnan(cut_value):
            return False
        clipped_cut = min(max(cut_value, low), high)
        interval_mass = self.cdf(high) - self.cdf(low)
        share_below = (self.cdf(clipped_cut) - self.cdf(low)) / interval_mass
        is_under = self.source.follow([share_below, 1.0 - share_below]) == 0
        if is_under:
            self.interval[1] = clipped_cut
        else:
            self.interval[0] = clipped_cut
        return is_under == (self.b > 0)

    __le__ = __lt__

    def __gt__(self, x: float) -> Any:
        return x == x and not self < x

    __ge__ = __gt__

    def __int__(self) -> Any:
        """Return the integer part, following every possible outcome."""
        low, high = (self.a + self.b * end for end in self.interval)
        smallest = math.floor(low)
        largest = math.ceil(high) - 1
        if largest - smallest > 10_000:
            raise TypeError(
                "A draw has too many integer outcomes to enumerate; choose a smaller problem."
            )
        for integer in range(smallest, largest):
            if self < integer + 1:
                return integer
        return largest


class BranchingRandom:
    """A stand-in for numpy.random.Generator that enumerates every outcome.

    `script` has the outcomes of the first branches; after it, each branch takes its first possible
    outcome, and `others` contains scripts that lead to the other outcomes. `number` is the value of
    exponential or normal draws that are used as numbers, such as weights drawn from the prior.
    """

    def __init__(self, script: tuple[int, ...], number: float | None) -> None:
        self.script = script
        self.number = number
        self.position = 0
        self.probability = 1.0
        self.others: list[tuple[int, ...]] = []

    def follow(self, probabilities: Sequence[float] | np.ndarray) -> int:
        """Return the next outcome of the script, else the first possible outcome."""
        possible_outcomes = [k for k, p in enumerate(probabilities) if p > 0.0]
        if len(possible_outcomes) == 1:
            return possible_outcomes[0]
        if self.position == len(self.script):
            self.others += [(*self.script, option) for option in possible_outcomes[1:]]
            self.script = (*self.script, possible_outcomes[0])
        outcome = self.script[self.position]
        self.position += 1
        self.probability *= probabilities[outcome]
        return outcome

    def random(self) -> Any:
        """Return a uniform draw that later comparisons branch on."""
        return Draw(self, lambda x: x, [0.0, 1.0])

    def standard_exponential(self) -> Any:
        """Return an exponential draw that later comparisons branch on."""
        return Draw(self, lambda x: -math.expm1(-x), [0.0, math.inf], self.number)

    def standard_normal(self) -> float:
        """Return the fixed number, because normal draws have no enumerable outcomes."""
        if self.number is None:
            raise TypeError(
                "This move draws its own random number, so its outcomes cannot be enumerated; use"
                " the numbers passed to it."
            )
        return self.number


def outcomes(
    step: Callable[..., Any], state: Any, number: float | None = None
) -> list[tuple[float, object]]:
    """Return all outcomes of `step(rng, state)` with their probabilities.

    The step changes a copy of the state in place.
    """
    outcome_list = []
    scripts: list[tuple[int, ...]] = [()]
    while scripts:
        rng = BranchingRandom(scripts.pop(), number)
        state_after = copy.deepcopy(state)
        step(rng, state_after)
        outcome_list.append((rng.probability, state_after))
        scripts += rng.others
    return outcome_list


def transition_matrix(
    step: Callable[..., Any],
    start: Any,
    key: Callable[..., Any],
    number: float | None = None,
) -> tuple[list[Any], np.ndarray]:
    """Return states reachable from `start` by the step, and its transition matrix.

    The step changes a state in place; `key` returns equal keys for equal states.
    """
    states = [start]
    state_indices = {key(start): 0}
    rows = []
    while len(rows) < len(states):
        row: dict[int, float] = {}
        for probability, next_state in outcomes(step, states[len(rows)], number):
            state_key = key(next_state)
            if state_key not in state_indices:
                if len(states) == _MAX_STATES:
                    raise RuntimeError(
                        f"More than {_MAX_STATES} states are reachable; choose a smaller problem."
                    )
                state_indices[state_key] = len(states)
                states.append(next_state)
            row[state_indices[state_key]] = row.get(state_indices[state_key], 0.0) + probability
        rows.append(row)
    matrix = np.zeros((len(states), len(states)))
    for i, row in enumerate(rows):
        matrix[i, list(row)] = list(row.values())
    return states, matrix


def invariance_error(
    step: Callable[..., Any],
    start: Any,
    key: Callable[..., Any],
    log_target: Callable[..., Any],
    number: float | None = None,
) -> float:
    """Return max |pi P - pi| of a step; 0 up to rounding if it leaves pi invariant.

    `log_target` returns the log probability of a state, up to a constant.

    Examples
    --------
    A coin that is flipped with Metropolis' probability:

    >>> import math
    >>> def step(rng, coin):
    ...     proposal = 1 - coin[0]
    ...     if math.log(2.0) * (proposal - coin[0]) > -rng.standard_exponential():
    ...         coin[0] = proposal
    >>> invariance_error(
    ...     step, [0], key=tuple, log_target=lambda coin: math.log(2.0) * coin[0]
    ... ) < 1e-15
    True
    """
    states, matrix = transition_matrix(step, start, key, number)
    if len(states) == 1:
        raise ValueError(
            "The step never left its first state; start from a state that it can change."
        )
    log_targets = np.array([log_target(state) for state in states])
    target_weights = softmax(log_targets)
    return float(np.abs(target_weights @ matrix - target_weights).max())


# Transition matrices of the sampler's moves on a few feature entries, for custom likelihoods
#
# The moves are the sampler's code, run as Python; the target is the custom log-likelihood.


ENTRIES = 3  # options whose ownership of two features is toggled
MAX_BORN = 3  # maximum number of options for which births and deaths are enumerated
MAX_SPREAD = (
    8.0  # maximum range of the log-likelihood among the states, so that no state is too rare
)


class MoveProblem:
    """Exact posterior of a custom likelihood on few features, and moves to check.

    A state of the moves is a pair of features and the cache of the likelihood.
    """

    def __init__(
        self,
        likelihood: Any,
        make_cache: Callable[..., Any],
        log_likelihood: Callable[..., Any],
        states: list[Any],
        n: int,
        weights: GammaWeights | NormalWeights,
        rng: np.random.Generator,
    ) -> None:
        """Choose a few options and states, and compile the moves."""
        self.likelihood = likelihood
        self.make_cache = make_cache
        self.weights = weights
        self.log_likelihood = log_likelihood
        self.n = n
        self.prior = IndianBuffet()
        spread = np.ptp([log_likelihood(*state) for state in states])
        self.beta = min(1.0, MAX_SPREAD / max(spread, 1e-300))
        self.model = ChainModel(self.prior.compiled(n), likelihood, weights, 1, n, NO_UNIQUE, False)
        self.rate = float(rate_by_size_range(self.model.prior, 1, n))
        self.chosen = rng.permutation(n)[: min(n, ENTRIES)]
        self.known_values: dict[tuple[Any, ...], float] = {}

    def start(self, columns: list[list[int]], column_weights: list[float]) -> Any:
        """Return (state, cache) with features of these owners and weights."""
        features = np.zeros((self.n, len(column_weights)))
        for k, owners in enumerate(columns):
            features[self.chosen[owners], k] = 1.0
        return self._complete(build_state(features, np.asarray(column_weights, float)))

    def start_empty(self, n_rows: int) -> Any:
        """Return (state, cache) without features, with room for `n_rows`."""
        return self._complete(make_empty_state(self.n, n_rows))

    def _complete(self, state: Any) -> Any:
        """Return (state, cache) for a state, with parameters filled."""
        state.real[ALPHA], state.real[BETA] = 1.5, self.beta
        cache = self.make_cache(self.likelihood)
        prepare_state(self.model, state)
        rebuild_cache(self.likelihood, cache, state)
        return state, cache

    def read_features(self, pair: tuple[FeatureState, Any]) -> tuple[np.ndarray, np.ndarray]:
        """Return features (options, features) and weights of (state, cache)."""
        n_columns = int(pair[0].whole[COLUMNS])
        return pair[0].Z[:n_columns, : self.n].T.copy(), pair[0].w[:n_columns].copy()

    def key(self, pair: tuple[FeatureState, Any]) -> tuple[Any, ...]:
        """Return a hashable key of features and weights, in their order."""
        ownership, column_weights = self.read_features(pair)
        return ownership.tobytes(), ownership.shape[1], tuple(np.round(column_weights, 9))

    def key_of_sets(self, pair: tuple[FeatureState, Any]) -> tuple[Any, ...]:
        """Return a hashable key of the features in any order, without weights."""
        return tuple(sorted(tuple(column) for column in self.read_features(pair)[0].T.astype(int)))

    def log_target(self, pair: tuple[FeatureState, Any]) -> float:
        """Return the log posterior density of features and weights."""
        ownership, column_weights = self.read_features(pair)
        if (key := self.key(pair)) not in self.known_values:
            self.known_values[key] = self.log_likelihood(ownership, column_weights)
        return (
            self.beta * self.known_values[key]
            + self.prior.log_prob(ownership, 1.5)
            + self.weights.log_density(column_weights).sum()
        )

    def log_target_of_sets(self, pair: tuple[FeatureState, Any]) -> float:
        """Return the log posterior probability of features in any order.

        Births draw weights from their prior, so its density is excluded.
        """
        copy_counts = Counter(self.key_of_sets(pair)).values()
        return (
            self.log_target(pair)
            - self.weights.log_density(self.read_features(pair)[1]).sum()
            - sum(math.lgamma(c + 1) for c in copy_counts)
        )

    def flip(
        self, random: BranchingRandom | np.random.Generator, pair: tuple[FeatureState, Any]
    ) -> None:
        """Apply the sampler's flip move to one entry of two features."""
        entry_index = draw_index(random, 2 * len(self.chosen))
        open_members(self.likelihood, pair[1], pair[0], entry_index % 2)
        owner_flips.propose_flip(
            random, self.model, pair[1], pair[0], entry_index % 2, self.chosen[entry_index // 2]
        )

    def move(
        self, random: BranchingRandom | np.random.Generator, pair: tuple[FeatureState, Any]
    ) -> None:
        """Apply the sampler's move that transfers options between features."""
        births_and_splits.propose_split_or_join(random, self.model, pair[1], pair[0])

    def birth(
        self, random: BranchingRandom | np.random.Generator, pair: tuple[FeatureState, Any]
    ) -> None:
        """Propose the birth or death of a feature, by the sampler's move."""
        births_and_splits.propose_birth_or_death(random, self.model, pair[1], pair[0], self.rate)


def compute_move_errors(
    likelihood: Any,
    make_cache: Callable[..., Any],
    log_likelihood: Callable[..., Any],
    states: list[Any],
    n: int,
    weights: GammaWeights | NormalWeights,
    rng: np.random.Generator,
) -> dict[str, float]:
    """Return max |pi P - pi| of each move; 0 if it leaves the exact posterior pi invariant."""
    problem = MoveProblem(likelihood, make_cache, log_likelihood, states, n, weights, rng)
    option_indices = list(range(len(problem.chosen)))
    errors = {
        "toggles": invariance_error(
            problem.flip,
            problem.start([[0], option_indices], [0.7, 1.3]),
            problem.key,
            problem.log_target,
        ),
        "transfers": invariance_error(
            problem.move,
            problem.start([option_indices, [0]], [0.4, 0.9]),
            problem.key,
            problem.log_target,
        ),
    }
    if n <= MAX_BORN:
        errors["births and deaths"] = invariance_error(
            problem.birth,
            problem.start_empty(n_rows=2),
            problem.key_of_sets,
            problem.log_target_of_sets,
            number=1.0,
        )
    return errors
