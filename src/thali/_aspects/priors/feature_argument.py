"""The argument `aspects` or `features` of a model: learned, a fixed number, related by a tree, or
given."""

from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from thali._labels import shorten
from thali._model.aliases import normalise_aspects
from thali._trees.tree import Tree
from thali.errors import Argument, ArgumentError, one_of

from .finite import FiniteFeatures
from .given import Given
from .ibp import IndianBuffet


def prior_of(argument: str, features: Any, labels: tuple[str, ...], words: tuple[str, ...]) -> Any:
    """The prior that this argument stands for; `words` are the strings that it may be."""
    if isinstance(features, str):
        features = normalise_aspects(features)
        if features not in words:
            raise ArgumentError(
                Argument(argument),
                " must be ",
                one_of(argument, words),
                ", a number, a Tree, a 0/1 matrix or a mapping from labels to lists; got"
                f" {features!r}.",
            )
        return IndianBuffet() if features == "ibp" else Given(np.zeros((len(labels), 0)))
    if isinstance(features, bool):
        raise ArgumentError(
            Argument(argument),
            " must be ",
            one_of(argument, words),
            f", a number, a Tree, a 0/1 matrix or a mapping; got {features!r}.",
        )
    if isinstance(features, Tree):
        return as_prior(features)
    if isinstance(features, int | float | np.number):
        return FiniteFeatures(cast(int, features))  # checks that it is an integer
    if isinstance(features, Mapping):
        return Given(_matrix_of_mapping(argument, features, labels))
    if hasattr(features, "reindex"):  # a data frame: rows are found by their label
        if not features.columns.is_unique:
            double = features.columns[features.columns.duplicated()][0]
            raise ArgumentError(
                "The table of ",
                Argument(argument),
                f" has several columns named {double!r}; rename all but one.",
            )
        if not features.index.map(str).is_unique:
            double = features.index[features.index.map(str).duplicated()][0]
            raise ArgumentError(
                "The table of ",
                Argument(argument),
                f" has several rows for {double!r}; give one row per option.",
            )
        missing = [label for label in labels if label not in set(map(str, features.index))]
        if missing:
            raise ArgumentError(
                "The table of ",
                Argument(argument),
                f" has no row for {missing[0]!r}; its rows are"
                f" {shorten(list(features.index), 10)}.",
            )
        features = features.rename(index=str).reindex(list(labels)).to_numpy()
    return Given(features)


def insert_names(table: Any, column: str, features: Any, labels: Any) -> None:
    """Insert a first column with the names of features that were given with names."""
    owners: dict[str, set[str]] = {}
    if isinstance(features, Mapping):
        for label, owned in features.items():
            for feature in _listed(owned):
                owners.setdefault(str(feature), set()).add(str(label))
    elif hasattr(features, "reindex"):
        owners = {
            str(f): {str(label) for label in features.index[features[f].astype(bool)]}
            for f in features.columns
        }
    names: dict[frozenset[Any], str] = {}
    for feature, members in owners.items():
        together = frozenset(members & set(labels))
        names[together] = f"{names[together]}, {feature}" if together in names else feature
    if names:
        table.insert(0, column, [names[frozenset(members)] for members in table["members"]])


def _listed(owned: Any) -> list[Any]:
    """The features of an option; those of a set in an order that does not change from process to
    process."""
    if isinstance(owned, str):
        return [owned]
    return sorted(owned, key=str) if isinstance(owned, set | frozenset) else list(owned)


def _matrix_of_mapping(
    argument: str, features: Mapping[Any, Any], labels: tuple[str, ...]
) -> np.ndarray:
    named = {str(label): _listed(owned) for label, owned in features.items()}
    for label in named:
        if label not in labels:
            raise ArgumentError(
                Argument(argument),
                f" contains the option {label!r}, which is not in the data; the options are"
                f" {shorten(labels)}.",
            )
    for label in labels:
        if label not in named:
            raise ArgumentError(
                Argument(argument),
                f" lacks the option {label!r}; give it an empty list if it has none.",
            )
    columns = list(dict.fromkeys(feature for label in labels for feature in named[label]))
    return np.array(
        [[column in named[label] for column in columns] for label in labels], bool
    ).reshape(len(labels), -1)


def column_names(features: Any, labels: tuple[str, ...], count: int) -> list[str]:
    """The names of the columns of a matrix of known features, in their order."""
    if isinstance(features, Mapping):
        named = {str(label): _listed(owned) for label, owned in features.items()}
        return [
            str(feature)
            for feature in dict.fromkeys(feature for label in labels for feature in named[label])
        ]
    if hasattr(features, "reindex"):
        return [str(column) for column in features.columns]
    return [f"aspect {k + 1}" for k in range(count)]


def as_prior(prior: Any) -> Any:
    """The prior itself; a tree stands for the phylogenetic Indian buffet process on it."""
    from thali._trees.tree import Tree

    if isinstance(prior, Tree):
        from .phylogenetic import PhylogeneticBuffet

        return PhylogeneticBuffet(prior)
    return prior
