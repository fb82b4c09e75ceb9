"""Of which data and people a posterior is: the words and facts that go with them, and what is refused of them."""

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from thali._data.kinds import BEST_WORST, CHOICES, OF_GROUPS, OF_KINDS, OWN, PAIRS, SIMILARITIES, TRIPLETS
from thali._posterior.view import Posterior
from thali.errors import ArgumentError

if TYPE_CHECKING:
    import xarray


class OfData:
    """What goes with data of one kind, whatever is asked of a posterior."""

    word: ClassVar[str] = "feature"  # what a column is called
    of_several: ClassVar[bool] = False  # whether only features of several objects touch the data
    says_silent: ClassVar[bool] = True  # whether features that the data say nothing of are listed, last
    # the features that the data depend on, and the others, as a picture of their number calls them
    counts: ClassVar[tuple[str, str]] = ("shared by two or more objects", "all, including those of one object")
    of_choices: ClassVar[bool] = False

    def __init__(self, kind: str) -> None:
        self.kind = kind  # of `thali._data.kinds`

    def refuse(self, tree: "xarray.DataTree", what: str) -> None:
        """Raise where nothing is known of the data, or they are not of one group of people."""

    def sees_single(self, tree: "xarray.DataTree") -> bool:
        """Whether the data say something of a feature that one option has alone."""
        return not self.of_several

    def shows_single(self, tree: "xarray.DataTree") -> bool:
        """Whether such features are shown: those of options that have a weight of their own besides are not."""
        return not bool(tree["constant_data"].dataset.get("unique", False))

    def is_silent(self, tree: "xarray.DataTree", size: np.ndarray) -> np.ndarray:
        """Whether the data say nothing of features with so many owners."""
        return np.zeros(len(size), bool)


class OfChoices(OfData):
    """Choices out of pairs and sets, by people of one group."""

    word = "aspect"
    of_choices = True

    def is_silent(self, tree: "xarray.DataTree", size: np.ndarray) -> np.ndarray:
        has_own = bool(tree["constant_data"].dataset["unique"])
        return (size == tree["posterior"].sizes["option"]) | ((size == 1) & has_own)


class OfSimilarities(OfData):
    """Similarities of objects, two at a time."""

    of_several = True

    def shows_single(self, tree: "xarray.DataTree") -> bool:
        return False


class OfTriplets(OfData):
    """Which pair of a set is the most similar."""

    of_several = True
    says_silent = False
    counts: ClassVar[tuple[str, str]] = ("that affect the answers", "all")

    def is_silent(self, tree: "xarray.DataTree", size: np.ndarray) -> np.ndarray:
        has_constant = bool(tree["constant_data"].dataset["has_constant"])
        return (size == 1) | ((size == tree["posterior"].sizes["option"]) & (not has_constant))


class OfOwnData(OfData):
    """Data of a likelihood of the user's own."""

    def refuse(self, tree: "xarray.DataTree", what: str) -> None:
        raise ArgumentError(
            f"{what} is not available for a custom likelihood, whose predictions thali does not know; compute it from"
            " posterior_['latent_features']['features'] and ['weights']."
        )

    def sees_single(self, tree: "xarray.DataTree") -> bool:
        return bool(tree["constant_data"].dataset["sees_single"])

    def shows_single(self, tree: "xarray.DataTree") -> bool:
        return bool(tree["constant_data"].dataset.get("sees_single", True))


class OfGroups(OfData):
    """Several groups of people; what is not of all together is refused."""

    def __init__(self, kind: str, one: OfData) -> None:
        super().__init__(kind)
        self.word: str = one.word  # type: ignore[misc]

    def refuse(self, tree: "xarray.DataTree", what: str) -> None:
        first = Posterior(tree).groups[0]
        raise ArgumentError(
            f"{what} requires one group of respondents; use the model of one group, such as of_group({first!r})."
        )


class OfKinds(OfData):
    """People of kinds that nobody knows."""

    def __init__(self, kind: str, one: OfData) -> None:
        super().__init__(kind)
        self.word: str = one.word  # type: ignore[misc]

    def refuse(self, tree: "xarray.DataTree", what: str) -> None:
        raise ArgumentError(f"{what} requires one latent class; use the model of one class, such as of_class(1).")


_OF_ONE: tuple[OfData, ...] = (
    OfChoices(PAIRS),
    OfChoices(CHOICES),
    OfChoices(BEST_WORST),
    OfSimilarities(SIMILARITIES),
    OfTriplets(TRIPLETS),
    OfOwnData(OWN),
)
_BY_KIND = {each.kind: each for each in _OF_ONE}
_BY_KIND |= {grouped: OfGroups(grouped, _BY_KIND[kind]) for grouped, kind in OF_GROUPS.items()}
_BY_KIND |= {of_kinds: OfKinds(of_kinds, _BY_KIND[kind]) for of_kinds, kind in OF_KINDS.items()}


KNOWN = frozenset(_BY_KIND)


def of_kind(kind: str) -> OfData:
    """What goes with data of a kind of `thali._data.kinds`."""
    return _BY_KIND[kind]


def of_data(tree: "xarray.DataTree") -> OfData:
    """What goes with the data of a posterior."""
    return _BY_KIND[Posterior(tree).data_kind]


def sees_weights(tree: "xarray.DataTree") -> bool:
    """Whether the likelihood depends on the weights of features, as all do but some of a user's own."""
    return bool(tree["constant_data"].dataset.get("sees_weights", True))


def of_choices(tree: "xarray.DataTree", what: str) -> "xarray.DataTree":
    """The tree itself; an ArgumentError names what was asked for if it is not a posterior of choices."""
    found = of_data(of_known_data(tree, what))
    if not found.of_choices:
        raise ArgumentError(
            f"{what} requires a model fitted to choices; this one was fitted to {found.kind}. Use features(), and"
            " posterior_['posterior']['similarity'] for predictions."
        )
    return tree


def of_similarities(tree: "xarray.DataTree", what: str) -> "xarray.DataTree":
    """The tree itself; an ArgumentError names what was asked for if it is not a posterior of similarities."""
    return _of(SIMILARITIES, tree, what)


def of_triplets(tree: "xarray.DataTree", what: str) -> "xarray.DataTree":
    """The tree itself; an ArgumentError names what was asked for if it is not a posterior of triplets."""
    return _of(TRIPLETS, tree, what)


def of_known_data(tree: "xarray.DataTree", what: str) -> "xarray.DataTree":
    """The tree itself; an ArgumentError names what was asked for if it is of no data of one group that thali knows."""
    of_data(tree).refuse(tree, what)
    return tree


def _of(kind: str, tree: "xarray.DataTree", what: str) -> "xarray.DataTree":
    """The tree itself, if it is a posterior of one group and this kind of data."""
    if (found := of_data(of_known_data(tree, what)).kind) != kind:
        raise ArgumentError(f"{what} requires a model fitted to {kind}; this one was fitted to {found}.")
    return tree
