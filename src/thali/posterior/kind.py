"""Which kind of data a posterior is of, for answers that exist for one kind only."""

from typing import TYPE_CHECKING

from thali.errors import ArgumentError

if TYPE_CHECKING:
    import xarray

OWN = "own likelihood"  # constant_data["kind"] of data that a user's own likelihood is of


def is_own(tree: "xarray.DataTree") -> bool:
    """Whether the model has a likelihood of the user's own."""
    constant = tree.children.get("constant_data", {})
    return "kind" in constant and constant["kind"].item() == OWN


def of_choices(tree: "xarray.DataTree", what: str) -> "xarray.DataTree":
    """The tree itself; an ArgumentError names what was asked for if it is not a posterior of choices."""
    _not_own(tree, what)
    if "similarity" not in tree["observed_data"].dataset:
        return tree
    raise ArgumentError(
        f"{what} is for models of choices, and this one was fitted to similarities; see estimate(), and "
        "posterior_['posterior']['similarity'] for what it predicts."
    )


def of_similarities(tree: "xarray.DataTree", what: str) -> "xarray.DataTree":
    """The tree itself; an ArgumentError names what was asked for if it is not a posterior of similarities."""
    _not_own(tree, what)
    if "similarity" in tree["observed_data"].dataset:
        return tree
    raise ArgumentError(f"{what} is for models of similarities, and this one was fitted to choices.")


def _not_own(tree: "xarray.DataTree", what: str) -> None:
    if is_own(tree):
        raise ArgumentError(
            f"{what} is not there for a likelihood of your own, because thali does not know what it predicts; compute "
            "it from posterior_['posterior']['features'] and ['weights']."
        )
