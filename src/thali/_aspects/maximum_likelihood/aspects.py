"""Which option owns which aspect, what each aspect is called, and which weights no choice could
tell apart."""

from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from thali._arguments import check_allowed
from thali._data.connectivity import number_components
from thali._data.pairs import PairedComparisons
from thali._labels import list_names, shorten
from thali._model.aliases import normalise_aspects
from thali._trees.tree import Tree
from thali.errors import ArgumentError, DataError, InPython, Message, Setting, Value

from ..priors.feature_argument import build_feature_prior, list_feature_names
from ..priors.given import Given
from .problem import patterns, scaled


@dataclass(frozen=True, eq=False)
class KnownAspects:
    """Known aspects: `owners[i, k]` says whether option i owns aspect k. The unique aspects stand
    first."""

    labels: tuple[str, ...]
    names: tuple[str, ...]
    owners: np.ndarray
    unique: bool

    @property
    def shared(self) -> np.ndarray:
        """The aspects that were given, without the unique ones of the options."""
        return self.owners[:, len(self.labels) :] if self.unique else self.owners

    @property
    def crossing(self) -> tuple[str, str] | None:
        """Two aspects with owners in common of which neither has all of the other's; None if the
        aspects are a tree."""
        size = self.owners.sum(axis=0)
        common = self.owners.T.astype(int) @ self.owners.astype(int)
        pairs = np.argwhere((common > 0) & (common < np.minimum.outer(size, size)))
        return (self.names[pairs[0][0]], self.names[pairs[0][1]]) if len(pairs) else None


def known_aspects(aspects: Any, unique: bool, labels: tuple[str, ...]) -> KnownAspects:
    """The aspects that the arguments of a model stand for; an error if they are not known or do not
    fit the options."""
    check_allowed("unique", unique, (True, False))
    learned = isinstance(aspects, bool | int | float | np.number | Tree)
    if learned or (isinstance(aspects, str) and normalise_aspects(aspects) != "unique"):
        raise ArgumentError(
            "Maximum likelihood requires known aspects; got ",
            "aspects learned along a tree"
            if isinstance(aspects, Tree)
            else Value("aspects", aspects),
            ". Use ",
            Value("aspects", "unique"),
            InPython(
                ", a 0/1 matrix or table, or a mapping from labels to lists.",
                " or the file of a table.",
            ),
        )
    matrix = cast(Given, build_feature_prior("aspects", aspects, labels, words=("unique",))).matrix
    if matrix.shape[0] != len(labels):
        raise ArgumentError(
            f"The aspect matrix has {matrix.shape[0]} rows, but the data have {len(labels)}"
            " options; give one row per option."
        )
    names = list_feature_names(aspects, labels, matrix.shape[1])
    if not unique:
        if not matrix.any():
            raise ArgumentError(
                "No option has any aspect; add aspects, or set ", Setting("unique", True), "."
            )
        return KnownAspects(labels, tuple(names), matrix, False)
    if twice := [name for name in names if name in labels]:
        raise ArgumentError(
            f"{shorten(twice)} is the name of both an aspect and an option, which has a unique"
            " aspect of that name; rename the aspect, or set ",
            Setting("unique", False),
            ".",
        )
    owners = np.hstack([np.eye(len(labels), dtype=bool), matrix])
    return KnownAspects(labels, (*labels, *names), owners, True)


# Which weights no choice could tell apart ---------------------------------------------------------


_EQUAL = 1e-7


def check_identified(known: KnownAspects, data: PairedComparisons) -> None:
    """Raise an error that names aspects whose weights choices cannot tell: derivatives have a rank
    below K - 1."""
    if not known.shared.shape[1] and known.unique:
        _check_connected(data)
        return
    everywhere = np.asarray(known.owners.all(axis=0) | ~known.owners.any(axis=0))
    if everywhere.any():
        idle = [name for name, idle in zip(known.names, everywhere, strict=True) if idle]
        raise ArgumentError(
            f"The weight of {shorten(idle)} affects no choice, because all options or no options"
            " have that aspect; remove the aspect."
        )
    loose = _loose(known, data.first, data.second)
    if not loose:
        return
    n = len(known.labels)
    if n <= 300 and (always := _loose(known, *np.triu_indices(n, 1))):
        hint = Message(", or set ", Setting("unique", False)) if known.unique else ""
        raise ArgumentError(
            f"No choices can identify the weights of the aspects {shorten(always, 12)}, because"
            " these weights can change together without changing any choice probability; remove"
            " one of these aspects",
            hint,
            ".",
        )
    raise DataError(
        f"These comparisons do not identify the weights of the aspects {shorten(loose, 12)},"
        " because these weights can change without changing the probability of any compared pair;"
        " compare more pairs, or remove some of these aspects."
    )


def _check_connected(data: PairedComparisons) -> None:
    if number_components(data.n_options, data.first, data.second)[0] > 1:
        groups = data.components()
        raise DataError(
            f"The options form {len(groups):,} groups that were never compared with each other,"
            f" {list_names([f'({shorten(group)})' for group in groups], 3)}, so their weights have"
            " no common scale; fit each group separately",
            InPython(" with data.subset(labels)"),
            ", or use ",
            Setting("method", "mcmc"),
            ".",
        )


def _loose(known: KnownAspects, first: np.ndarray, second: np.ndarray) -> list[str]:
    """Names of the aspects whose ratio to the others can change without any of these pairs'
    probabilities changing."""
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
    # Aspects with equal rows of this basis keep their ratios whatever changes: the largest such
    # family is the rest.
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
