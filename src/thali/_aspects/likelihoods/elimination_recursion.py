"""Choice probabilities from one set of options and aspects given by name (exact recursion)."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from thali.errors import ArgumentError

MAX_SETS = 1_000_000  # sets reached by elimination; each takes about 200 bytes


def elimination_probabilities(
    options: Sequence[Any],
    aspects: Mapping[Any, Any],
    weights: Mapping[Any, Any],
    lapse: float = 0.0,
) -> np.ndarray:
    r"""Return the probability that each option is chosen from a set.

    Aspects eliminate options until one is left.

    .. math::
        P(x \mid S) = \frac{\sum_k w_k P(x \mid S \cap h_k)}{\sum_k w_k}, \qquad
        \tilde P(x \mid S) = (1 - \varepsilon) P(x \mid S) + \frac{\varepsilon}{|S|}

    where h_k is the set of options with aspect k. The first sum runs over the aspects of x, and
    both sums over aspects that some but not all members of S have. Options that no aspect
    distinguishes have equal probabilities.

    Parameters
    ----------
    options : sequence
        The labels in the set: one or more, all different.
    aspects : mapping from label to list
        The names of the aspects of each option; additional options are ignored.
    weights : mapping from name to float, 0 or more
        The weight of each aspect. Only ratios of weights affect the result.
    lapse : float in [0, 1]
        The probability epsilon of choosing at random.

    Returns
    -------
    ndarray, shape (options,)
        In the order of `options`; sums to 1.

    Raises
    ------
    ArgumentError
        If an option is listed twice or has no entry in `aspects`, a weight is missing, negative or
        not finite, the lapse is outside [0, 1], or more than a million sets can be reached by
        elimination.

    References
    ----------
    Tversky (1972), eq. 6; a uniform lapse added.

    Examples
    --------
    >>> aspects = {"car": ["car"], "red bus": ["bus"], "blue bus": ["bus"]}
    >>> elimination_probabilities(["car", "red bus", "blue bus"], aspects, {"car": 1.0, "bus": 1.0})
    array([0.5 , 0.25, 0.25])
    """
    options = list(options)
    weight_by_owners = _sum_by_owners(options, aspects, weights)
    if not 0.0 <= lapse <= 1.0:
        raise ArgumentError(f"`lapse`, a probability, must be in [0, 1]; got {lapse!r}.")
    n_options = len(options)
    # probability that elimination reaches each set of options
    set_probability = {(1 << n_options) - 1: 1.0}
    waiting_sets: list[set[int]] = [set() for _ in range(n_options + 1)]
    waiting_sets[n_options] = set(set_probability)
    probability = np.zeros(n_options)
    while n_options > 0:  # larger sets first, because elimination leads to smaller sets
        for current_set in waiting_sets[n_options]:
            current_probability = set_probability.pop(current_set)
            next_weights: dict[int, float] = {}
            for owner_bits, weight in weight_by_owners.items():
                next_set = owner_bits & current_set
                if next_set and next_set != current_set:
                    next_weights[next_set] = next_weights.get(next_set, 0.0) + weight
            total_weight = sum(next_weights.values())
            if total_weight == 0.0:
                for x in range(len(options)):
                    if current_set >> x & 1:
                        probability[x] += current_probability / n_options
                continue
            for next_set, weight in next_weights.items():
                set_probability[next_set] = set_probability.get(
                    next_set, 0.0
                ) + current_probability * (weight / total_weight)
                waiting_sets[next_set.bit_count()].add(next_set)
            if sum(map(len, waiting_sets)) > MAX_SETS:
                raise ArgumentError(
                    f"Elimination from these {len(options)} options reaches more than {MAX_SETS:,}"
                    " sets; use fewer options, or fewer overlapping aspects."
                )
        waiting_sets[n_options] = set()
        n_options -= 1
    return (1.0 - lapse) * probability + lapse / len(options)


def _sum_by_owners(
    options: list[Any], aspects: Mapping[Any, Any], weights: Mapping[Any, Any]
) -> dict[int, float]:
    """Sum the weights of aspects with equal owners; keys are the owners as bits."""
    if not options:
        raise ArgumentError("There are no options; give at least one.")
    for i, option in enumerate(options):
        if option in options[:i]:
            raise ArgumentError(f"The option {option!r} is listed twice; list each once.")
    owner_bits_by_aspect: dict[Any, Any] = {}
    for i, option in enumerate(options):
        if option not in aspects:
            raise ArgumentError(
                f"`aspects` lacks the option {option!r}; give it an empty list if it has none."
            )
        for aspect in _read_names(aspects[option], option):
            owner_bits_by_aspect[aspect] = owner_bits_by_aspect.get(aspect, 0) | 1 << i
    weight_by_owners: dict[int, float] = {}
    for aspect, owner_bits in owner_bits_by_aspect.items():
        weight = weights.get(aspect)
        if weight is None or not 0.0 <= float(weight) < float("inf"):
            raise ArgumentError(
                f"The weight of aspect {aspect!r} must be a finite number >= 0; got {weight!r}."
            )
        if weight > 0.0:
            weight_by_owners[owner_bits] = weight_by_owners.get(owner_bits, 0.0) + float(weight)
    return weight_by_owners


def _read_names(option_aspects: Any, option: Any) -> set[Any]:
    """Return one option's aspect names as a set, from a list or a single name."""
    if isinstance(option_aspects, str):
        return {option_aspects}
    try:
        return set(option_aspects)
    except TypeError:
        raise ArgumentError(
            f"The aspects of {option!r} must be a list of names; got {option_aspects!r}."
        ) from None
