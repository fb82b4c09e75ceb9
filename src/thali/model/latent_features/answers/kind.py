"""Which kind of data a posterior is of, for answers that exist for some kinds only."""

from typing import TYPE_CHECKING

from thali.data.kinds import OF_GROUPS, OWN, PAIR_KINDS, SIMILARITIES, TRIPLETS
from thali.errors import ArgumentError
from thali.posterior.view import Posterior

if TYPE_CHECKING:
    import xarray


def kind_of(tree: "xarray.DataTree") -> str:
    """The kind of data that a model was fitted to, of `thali.data.kinds`."""
    return Posterior(tree).data_kind


def sees_weights(tree: "xarray.DataTree") -> bool:
    """Whether the likelihood depends on the weights of features, as all do but some of a user's own."""
    return bool(tree["constant_data"].dataset.get("sees_weights", True))


def of_choices(tree: "xarray.DataTree", what: str) -> "xarray.DataTree":
    """The tree itself; an ArgumentError names what was asked for if it is not a posterior of choices."""
    if (kind := _known_kind(tree, what)) in (SIMILARITIES, TRIPLETS):
        raise ArgumentError(
            f"{what} is for models of choices, and this one was fitted to {kind}; see features(), and "
            "posterior_['posterior']['similarity'] for what it predicts."
        )
    return tree


def of_similarities(tree: "xarray.DataTree", what: str) -> "xarray.DataTree":
    """The tree itself; an ArgumentError names what was asked for if it is not a posterior of similarities."""
    if (kind := _known_kind(tree, what)) != SIMILARITIES:
        raise ArgumentError(f"{what} is for models of similarities, and this one was fitted to {kind}.")
    return tree


def of_triplets(tree: "xarray.DataTree", what: str) -> "xarray.DataTree":
    """The tree itself; an ArgumentError names what was asked for if it is not a posterior of triplets."""
    if (kind := _known_kind(tree, what)) != TRIPLETS:
        raise ArgumentError(f"{what} is for models of triplets, and this one was fitted to {kind}.")
    return tree


def of_known_data(tree: "xarray.DataTree", what: str) -> "xarray.DataTree":
    """The tree itself; an ArgumentError names what was asked for if its likelihood is a user's own."""
    _known_kind(tree, what)
    return tree


def _known_kind(tree: "xarray.DataTree", what: str) -> str:
    if (kind := kind_of(tree)) in OF_GROUPS:
        first = str(tree["posterior"].dataset["group"].values[0])
        raise ArgumentError(f"{what} is of one group of people; take the model of one, such as of_group({first!r}).")
    if kind == PAIR_KINDS:
        raise ArgumentError(f"{what} is of people of one kind; take the model of one, such as of_kind(1).")
    if kind == OWN:
        raise ArgumentError(
            f"{what} is not there for a likelihood of your own, because thali does not know what it predicts; compute "
            "it from posterior_['posterior']['features'] and ['weights']."
        )
    return kind
