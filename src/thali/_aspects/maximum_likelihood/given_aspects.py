"""Given aspects: their owners and names, and a check that their weights are identified."""

from dataclasses import dataclass
from itertools import compress
from typing import Any, cast

import numpy as np

from thali._argument_checks import check_allowed
from thali._data.connectivity import number_components
from thali._data.pairs import PairedComparisons
from thali._labels import list_names, shorten
from thali._model.aliases import normalise_aspects
from thali._trees.tree import Tree
from thali.errors import ArgumentError, DataError, InPython, Message, Setting, Value

from ..priors.given_features import Given
from ..priors.prior_from_argument import build_feature_prior, list_feature_names
from .pair_likelihood import compute_exclusive_aspects, convert_to_dense, scale_pattern


@dataclass(frozen=True, eq=False)
class KnownAspects:
    """Known aspects: `owners[i, k]` is True if option i owns aspect k; unique aspects first."""

    labels: tuple[str, ...]
    names: tuple[str, ...]
    owners: np.ndarray
    unique: bool

    @property
    def shared(self) -> np.ndarray:
        """Owners of the shared aspects only, bool of shape (n_options, n_shared)."""
        if self.unique:
            return self.owners[:, len(self.labels) :]
        return self.owners

    @property
    def crossing(self) -> tuple[str, str] | None:
        """Names of two aspects that overlap without nesting; None if the aspects are a tree."""
        n_owners = self.owners.sum(axis=0)
        n_common = self.owners.T.astype(int) @ self.owners.astype(int)
        crossing_pairs = np.argwhere(
            (n_common > 0) & (n_common < np.minimum.outer(n_owners, n_owners))
        )
        if not len(crossing_pairs):
            return None
        return self.names[crossing_pairs[0][0]], self.names[crossing_pairs[0][1]]


def build_known_aspects(aspects: Any, unique: bool, labels: tuple[str, ...]) -> KnownAspects:
    """Build the aspects from a model's arguments; raise if they are not given."""
    check_allowed("unique", unique, (True, False))
    is_learned = isinstance(aspects, bool | int | float | np.number | Tree)
    if is_learned or (isinstance(aspects, str) and normalise_aspects(aspects) != "unique"):
        raise ArgumentError(
            "Maximum likelihood requires known aspects, but here the aspects are to be inferred"
            " from the data. Use ",
            Value("aspects", "unique"),
            InPython(
                ", a 0/1 matrix or table, or a mapping from labels to lists.",
                " or give a file with a table of aspects.",
            ),
        )
    prior = cast(Given, build_feature_prior("aspects", aspects, labels, words=("unique",)))
    prior.check_rows(len(labels))
    ownership = prior.matrix
    aspect_names = list_feature_names(aspects, labels, ownership.shape[1])
    if not unique:
        if not ownership.any():
            raise ArgumentError(
                "No option has any aspect; add aspects, or set ", Setting("unique", True), "."
            )
        return KnownAspects(labels, tuple(aspect_names), ownership, False)
    if shared_names := [name for name in aspect_names if name in labels]:
        raise ArgumentError(
            f"{shorten(shared_names)} is the name of both an aspect and an option, which has a"
            " unique aspect of that name; rename the aspect, or set ",
            Setting("unique", False),
            ".",
        )
    owners = np.hstack([np.eye(len(labels), dtype=bool), ownership])
    return KnownAspects(labels, (*labels, *aspect_names), owners, True)


# Weights that choices cannot identify -------------------------------------------------------------


_EQUAL = 1e-7


def check_identified(given_aspects: KnownAspects, data: PairedComparisons) -> None:
    """Raise DataError naming aspects whose weights these comparisons cannot identify.

    Derivatives then have a rank below K - 1.
    """
    if not given_aspects.shared.shape[1] and given_aspects.unique:
        _check_connected(data)
        return
    is_uninformative = np.asarray(
        given_aspects.owners.all(axis=0) | ~given_aspects.owners.any(axis=0)
    )
    if is_uninformative.any():
        uninformative_names = list(compress(given_aspects.names, is_uninformative))
        raise ArgumentError(
            f"The weight of {shorten(uninformative_names)} affects no choice, because either all"
            " options or none have that aspect; remove the aspect."
        )
    unidentified_names = _find_unidentified(given_aspects, data.first, data.second)
    if not unidentified_names:
        return
    n_options = len(given_aspects.labels)
    if n_options <= 300 and (
        never_identified := _find_unidentified(given_aspects, *np.triu_indices(n_options, 1))
    ):
        hint = Message("")
        if given_aspects.unique:
            hint = Message(", or set ", Setting("unique", False))
        raise ArgumentError(
            f"No choices can identify the weights of the aspects {shorten(never_identified, 12)},"
            " because these weights can change together without changing any choice probability;"
            " remove one of these aspects",
            hint,
            ".",
        )
    raise DataError(
        "These comparisons do not identify the weights of the aspects"
        f" {shorten(unidentified_names, 12)}, because these weights can change without changing the"
        " probability of any compared pair; compare more pairs, or remove some of these aspects."
    )


def _check_connected(data: PairedComparisons) -> None:
    """Raise DataError if the comparisons do not connect all options."""
    if number_components(data.n_options, data.first, data.second)[0] > 1:
        connected_groups = data.components()
        raise DataError(
            f"The options form {len(connected_groups):,} groups that were never compared with each"
            f" other, {list_names([f'({shorten(group)})' for group in connected_groups], 3)}, so"
            " their weights have no common scale; fit each group separately",
            InPython(" with data.subset(labels)"),
            ", or use ",
            Setting("method", "mcmc"),
            ".",
        )


def draw_weights(n_aspects: int) -> np.ndarray:
    """Draw weights at which dependence of columns is not a coincidence, always the same."""
    return np.exp(np.random.default_rng(20061972).normal(0.0, 0.5, n_aspects))


def _find_unidentified(
    given_aspects: KnownAspects, first_options: np.ndarray, second_options: np.ndarray
) -> list[str]:
    """Return names of aspects whose weights these pairs do not identify."""
    patterns = compute_exclusive_aspects(given_aspects.owners, first_options, second_options)
    weights = draw_weights(given_aspects.owners.shape[1])
    first_advantage, second_advantage = (pattern @ weights for pattern in patterns)
    # A side without any aspect always loses, so its pair carries no information about weights.
    is_informative = (first_advantage > 0.0) & (second_advantage > 0.0)
    logit_gradient = scale_pattern(
        patterns[0], weights, np.where(is_informative, first_advantage, np.inf)
    ) - scale_pattern(patterns[1], weights, np.where(is_informative, second_advantage, np.inf))
    eigenvalues, eigenvectors = np.linalg.eigh(convert_to_dense(logit_gradient.T @ logit_gradient))
    null_vectors = eigenvectors[:, eigenvalues <= 1e-11 * max(eigenvalues[-1], 1e-300)]
    if null_vectors.shape[1] <= 1:
        return []
    # Aspects with equal rows of this basis keep their ratios under all changes; the largest such
    # family is the reference.
    families: list[list[int]] = []
    for k, null_vector in enumerate(null_vectors):
        for family in families:
            if np.abs(null_vectors[family[0]] - null_vector).max() < _EQUAL:
                family.append(k)
                break
        else:
            families.append([k])
    families.sort(key=len)
    if len(families[-1]) > 1:
        families.pop()
    return [given_aspects.names[k] for k in sorted(k for family in families for k in family)]
