"""Which weights no choice could tell apart."""

import numpy as np

from thali._labels import shorten
from thali.data.choices import Choices
from thali.data.connectivity import group_numbers
from thali.data.pairs import PairedComparisons
from thali.errors import ArgumentError, DataError, InPython, Message, Setting

from .aspects import KnownAspects
from .problem import patterns, scaled

_EQUAL = 1e-7


def check_identified(known: KnownAspects, data: PairedComparisons | Choices) -> None:
    """Raise an error that names the aspects whose weights the choices cannot tell.

    Weights matter up to a common factor. They are told apart where the matrix of derivatives of all choice
    probabilities by their logarithms has rank K - 1, at weights that are in no special relation.

    Raises
    ------
    ArgumentError
        If not even comparisons of all pairs would tell them.
    DataError
        If those of other pairs would.
    """
    if isinstance(data, Choices) or (not known.shared.shape[1] and known.unique):
        _check_connected(known, data)
        return
    everywhere = np.asarray(known.owners.all(axis=0) | ~known.owners.any(axis=0))
    if everywhere.any():
        idle = [name for name, idle in zip(known.names, everywhere, strict=True) if idle]
        raise ArgumentError(
            f"The weight of {shorten(idle)} has no influence on any choice, for either every option owns that aspect "
            "or none does; leave it out."
        )
    loose = _loose(known, data.first, data.second)
    if not loose:
        return
    n = len(known.labels)
    if n <= 300 and (always := _loose(known, *np.triu_indices(n, 1))):
        hint = Message(" or set ", Setting("unique", False)) if known.unique else ""
        raise ArgumentError(
            f"No choices can tell apart the weights of the aspects {shorten(always, 12)}: they can change together "
            f"without any choice probability changing; leave some of them out",
            hint,
            ".",
        )
    raise DataError(
        f"These comparisons cannot tell the weights of the aspects {shorten(loose, 12)}: they can change without the "
        "probability of any compared pair changing; compare more pairs, or leave some of these aspects out."
    )


def _check_connected(known: KnownAspects, data: PairedComparisons | Choices) -> None:
    if isinstance(data, Choices):
        first, second, how = np.repeat(data.members[data.start[:-1]], data.sizes), data.members, "offered together"
    else:
        first, second, how = data.first, data.second, "compared with each other"
    if group_numbers(data.n_options, first, second)[0] > 1:
        groups = data.components()
        raise DataError(
            f"The options fall into {len(groups):,} groups never {how}, such as "
            f"({shorten(groups[0])}) and ({shorten(groups[1])}), whose weights therefore have no common "
            "scale; fit each by itself",
            InPython("" if isinstance(data, Choices) else " with data.subset(labels)"),
            ", or use ",
            Setting("method", "mcmc"),
            ".",
        )


def _loose(known: KnownAspects, first: np.ndarray, second: np.ndarray) -> list[str]:
    """Names of the aspects whose ratio to the others can change without any of these pairs' probabilities changing."""
    sides = patterns(known.owners, first, second)
    # Weights in no special relation; which ones does not matter.
    weights = np.exp(np.random.default_rng(20061972).normal(0.0, 0.5, known.owners.shape[1]))
    own, other = (side @ weights for side in sides)
    # A side without any aspect is beaten for certain, and its pair says nothing about weights.
    informative = (own > 0.0) & (other > 0.0)
    change = scaled(sides[0], weights, np.where(informative, own, np.inf)) - scaled(
        sides[1], weights, np.where(informative, other, np.inf)
    )
    gram = change.T @ change
    gram = gram if isinstance(gram, np.ndarray) else gram.toarray()
    values, vectors = np.linalg.eigh(gram)
    still = vectors[:, values <= 1e-11 * max(values[-1], 1e-300)]
    if still.shape[1] <= 1:
        return []
    # Aspects with equal rows of this basis keep their ratios whatever changes: the largest such family is the rest.
    families: list[list[int]] = []
    for k, row in enumerate(still):
        for family in families:
            if np.abs(still[family[0]] - row).max() < _EQUAL:
                family.append(k)
                break
        else:
            families.append([k])
    families.sort(key=len)
    loose = families[:-1] if len(families[-1]) > 1 else families
    return [known.names[k] for k in sorted(k for family in loose for k in family)]
