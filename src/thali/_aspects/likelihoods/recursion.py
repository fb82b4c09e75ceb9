"""Elimination by aspects out of a set of any size, as a plain function."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from thali.errors import ArgumentError

MAX_SETS = 1_000_000  # reached by elimination from one set; each takes some 200 bytes


def elimination_probabilities(
    options: Sequence[Any],
    aspects: Mapping[Any, Any],
    weights: Mapping[Any, Any],
    lapse: float = 0.0,
) -> np.ndarray:
    r"""The probability of each option to be chosen out of a set: aspects eliminate until one option
    is left.

    .. math::
        P(x \mid S) = \frac{\sum_k w_k P(x \mid S \cap h_k)}{\sum_k w_k}, \qquad
        \tilde P(x \mid S) = (1 - \varepsilon) P(x \mid S) + \frac{\varepsilon}{|S|}

    where h_k is the set of options with aspect k, the first sum runs over the aspects of x, and
    both over those that some members of S have and others lack. Options that no aspect
    distinguishes share equally.

    Parameters
    ----------
    options : sequence
        The labels in the set: one or more, all different.
    aspects : mapping from label to list
        The names of the aspects of each option; further options are ignored.
    weights : mapping from name to float, 0 or more
        The weight of each aspect. Only their ratios matter.
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
    heavy = _by_owners(options, aspects, weights)
    if not 0.0 <= lapse <= 1.0:
        raise ArgumentError(f"`lapse`, a probability, must be in [0, 1]; got {lapse!r}.")
    size = len(options)
    # sets of options by the probability that elimination comes to them
    left = {(1 << size) - 1: 1.0}
    waiting: list[set[int]] = [set() for _ in range(size + 1)]
    waiting[size] = set(left)
    probability = np.zeros(size)
    while size > 0:  # the larger first: nothing that leads to a set is smaller than it
        for here in waiting[size]:
            reached = left.pop(here)
            ways: dict[int, float] = {}
            for owners, weight in heavy.items():
                rest = owners & here
                if rest and rest != here:
                    ways[rest] = ways.get(rest, 0.0) + weight
            total = sum(ways.values())
            if total == 0.0:
                for x in range(len(options)):
                    if here >> x & 1:
                        probability[x] += reached / size
                continue
            for rest, weight in ways.items():
                left[rest] = left.get(rest, 0.0) + reached * (weight / total)
                waiting[rest.bit_count()].add(rest)
            if sum(map(len, waiting)) > MAX_SETS:
                raise ArgumentError(
                    f"Elimination from these {len(options)} options reaches more than {MAX_SETS:,}"
                    " sets; use fewer options, or fewer overlapping aspects."
                )
        waiting[size] = set()
        size -= 1
    return (1.0 - lapse) * probability + lapse / len(options)


def _by_owners(
    options: list[Any], aspects: Mapping[Any, Any], weights: Mapping[Any, Any]
) -> dict[int, float]:
    """The total weight of the aspects with the same owners, by the owners as bits."""
    if not options or len(set(options)) < len(options):
        double = next((x for k, x in enumerate(options) if x in options[:k]), None)
        raise ArgumentError(
            "There are no options; give at least one."
            if not options
            else f"The option {double!r} is listed twice; list each once."
        )
    owners: dict[Any, Any] = {}
    for place, option in enumerate(options):
        if option not in aspects:
            raise ArgumentError(
                f"`aspects` lacks the option {option!r}; give it an empty list if it has none."
            )
        named = aspects[option]
        for name in {named} if isinstance(named, str) else set(_listed(named, option)):
            owners[name] = owners.get(name, 0) | 1 << place
    heavy: dict[int, float] = {}
    for name, bits in owners.items():
        weight = weights.get(name)
        if weight is None or not 0.0 <= float(weight) < float("inf"):
            raise ArgumentError(
                f"The weight of aspect {name!r} must be a finite number >= 0; got {weight!r}."
            )
        if weight > 0.0:
            heavy[bits] = heavy.get(bits, 0.0) + float(weight)
    return heavy


def _listed(named: Any, option: Any) -> Iterable[Any]:
    try:
        return iter(named)
    except TypeError:
        raise ArgumentError(
            f"The aspects of {option!r} must be a list of names; got {named!r}."
        ) from None
