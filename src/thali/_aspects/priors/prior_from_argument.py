"""Priors built from the user's argument `aspects` or `features`, with feature names."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from thali._labels import shorten
from thali._model.aliases import normalise_aspects
from thali._trees.tree import Tree
from thali.errors import Argument, ArgumentError, one_of

from .finite_features import FiniteFeatures
from .given_features import Given
from .indian_buffet import IndianBuffet

if TYPE_CHECKING:
    import pandas

    from .phylogenetic import PhylogeneticBuffet

FeaturePrior: TypeAlias = "IndianBuffet | FiniteFeatures | Given | PhylogeneticBuffet"


def build_feature_prior(
    argument: str, features: Any, labels: tuple[str, ...], words: tuple[str, ...]
) -> Any:
    """Build the ownership prior from the user's argument, a string, number, tree or map."""
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
        if features == "ibp":
            return IndianBuffet()
        return Given(np.zeros((len(labels), 0)))
    if isinstance(features, bool):
        raise ArgumentError(
            Argument(argument),
            " must be ",
            one_of(argument, words),
            f", a number, a Tree, a 0/1 matrix or a mapping; got {features!r}.",
        )
    if isinstance(features, Tree):
        return convert_tree(features)
    if isinstance(features, int | float | np.number):
        return FiniteFeatures(cast(int, features))  # checks that it is an integer
    if isinstance(features, Mapping):
        return Given(_build_matrix(argument, features, labels))
    if hasattr(features, "reindex"):  # a data frame: rows are found by their label
        if not features.columns.is_unique:
            repeated_name = features.columns[features.columns.duplicated()][0]
            raise ArgumentError(
                "The table of ",
                Argument(argument),
                f" has several columns named {repeated_name!r}; rename all but one.",
            )
        if not features.index.map(str).is_unique:
            repeated_name = features.index[features.index.map(str).duplicated()][0]
            raise ArgumentError(
                "The table of ",
                Argument(argument),
                f" has several rows for {repeated_name!r}; give one row per option.",
            )
        missing_labels = [label for label in labels if label not in set(map(str, features.index))]
        if missing_labels:
            raise ArgumentError(
                "The table of ",
                Argument(argument),
                f" has no row for {missing_labels[0]!r}; its rows are"
                f" {shorten(list(features.index), 10)}.",
            )
        features = features.rename(index=str).reindex(list(labels)).to_numpy()
    return Given(features)


def name_given_features(features: Any, labels: Sequence[str]) -> dict[frozenset[Any], str]:
    """Return the names of given features by the labels of their owners; empty without names."""
    owners_by_feature: dict[str, set[str]] = {}
    if isinstance(features, Mapping):
        for label, option_features in features.items():
            for feature in _list_features(option_features):
                owners_by_feature.setdefault(str(feature), set()).add(str(label))
    elif hasattr(features, "reindex"):
        owners_by_feature = {
            str(f): {str(label) for label in features.index[features[f].astype(bool)]}
            for f in features.columns
        }
    names_by_members: dict[frozenset[Any], list[str]] = {}
    for feature, owner_labels in owners_by_feature.items():
        names_by_members.setdefault(frozenset(owner_labels & set(labels)), []).append(feature)
    return {members: ", ".join(names) for members, names in names_by_members.items()}


def insert_feature_names(
    table: "pandas.DataFrame", column: str, name_by_members: "dict[frozenset[Any], str]"
) -> None:
    """Insert the names of given features as the first column of a table."""
    if name_by_members:
        names = [name_by_members[frozenset(members)] for members in table["members"]]
        table.insert(0, column, names)


def _list_features(features: Mapping[Any, Any]) -> list[Any]:
    """Return the features of one option as a list; sets are sorted."""
    if isinstance(features, str):
        return [features]
    if isinstance(features, set | frozenset):
        return sorted(features, key=str)
    return list(features)


def _list_features_by_label(features: Mapping[Any, Any]) -> dict[str, list[Any]]:
    """Return {option label: list of its features} from the user's mapping."""
    return {str(label): _list_features(owned) for label, owned in features.items()}


def _list_distinct_features(
    features_by_label: Mapping[str, list[Any]], labels: tuple[str, ...]
) -> list[Any]:
    """Return every feature once, in the order of the labels."""
    return list(dict.fromkeys(feature for label in labels for feature in features_by_label[label]))


def _build_matrix(
    argument: str, features: Mapping[Any, Any], labels: tuple[str, ...]
) -> np.ndarray:
    """Return the ownership matrix (n_options, n_features) of the user's mapping."""
    features_by_label = _list_features_by_label(features)
    for label in features_by_label:
        if label not in labels:
            raise ArgumentError(
                Argument(argument),
                f" contains the option {label!r}, which is not in the data; the options are"
                f" {shorten(labels)}.",
            )
    for label in labels:
        if label not in features_by_label:
            raise ArgumentError(
                Argument(argument),
                f" lacks the option {label!r}; give it an empty list if it has none.",
            )
    distinct_features = _list_distinct_features(features_by_label, labels)
    return np.array(
        [[column in features_by_label[label] for column in distinct_features] for label in labels],
        bool,
    ).reshape(len(labels), -1)


def list_feature_names(features: Any, labels: tuple[str, ...], n_features: int) -> list[str]:
    """Return the names of given features, in the order of the matrix columns."""
    if isinstance(features, Mapping):
        return list(map(str, _list_distinct_features(_list_features_by_label(features), labels)))
    if hasattr(features, "reindex"):
        return [str(column) for column in features.columns]
    return [f"aspect {k + 1}" for k in range(n_features)]


def convert_tree(prior: Any) -> Any:
    """Return the prior; a tree becomes its phylogenetic Indian buffet process."""
    if isinstance(prior, Tree):
        from .phylogenetic import PhylogeneticBuffet

        return PhylogeneticBuffet(prior)
    return prior
