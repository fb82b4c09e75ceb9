"""Which kind of data a posterior is of, for answers that exist for one kind only."""

from typing import TYPE_CHECKING

from thali.errors import ArgumentError

if TYPE_CHECKING:
    import xarray


def of_choices(tree: "xarray.DataTree", what: str) -> "xarray.DataTree":
    """The tree itself; an ArgumentError names what was asked for if it is a posterior of similarities."""
    if "similarity" not in tree["observed_data"].dataset:
        return tree
    raise ArgumentError(
        f"{what} is for models of choices, and this one was fitted to similarities; see estimate(), and "
        "posterior_['posterior']['similarity'] for what it predicts."
    )


def of_similarities(tree: "xarray.DataTree", what: str) -> "xarray.DataTree":
    """The tree itself; an ArgumentError names what was asked for if it is a posterior of choices."""
    if "similarity" in tree["observed_data"].dataset:
        return tree
    raise ArgumentError(f"{what} is for models of similarities, and this one was fitted to choices.")
