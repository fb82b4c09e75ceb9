"""The draws of a posterior followed by later ones of the same chains."""

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np

from .store import tree_of

if TYPE_CHECKING:
    import xarray

_PADDING = {"owners": -1}  # what fills up the shorter ones of ragged draws; 0 for all other variables


def appended(earlier: "xarray.DataTree", later: "xarray.DataTree") -> "xarray.DataTree":
    """One tree with the draws of both; what is not of single draws is taken from the later one."""
    groups = {}
    for name, node in later.children.items():
        old, new = earlier[name].to_dataset(), node.to_dataset()
        groups[name] = _joined(old, new) if "draw" in new.dims else new
    return tree_of(groups, later.attrs)


def first_draws(tree: "xarray.DataTree", count: int) -> "xarray.DataTree | None":
    """The first so many draws of a tree; None if that is none."""
    groups = {name: node.to_dataset() for name, node in tree.children.items()}
    cut = {name: each.isel(draw=slice(0, count)) if "draw" in each.dims else each for name, each in groups.items()}
    return tree_of(cut, tree.attrs) if count else None


def _joined(old: "xarray.Dataset", new: "xarray.Dataset") -> "xarray.Dataset":
    ragged = [dim for dim in new.dims if dim != "draw" and old.sizes[dim] != new.sizes[dim]]
    sizes = {dim: max(old.sizes[dim], new.sizes[dim]) for dim in ragged}
    variables = {
        name: (variable.dims, np.concatenate([_padded(each[name], sizes) for each in (old, new)], axis), variable.attrs)
        for name, variable in new.data_vars.items()
        for axis in [variable.dims.index("draw") if "draw" in variable.dims else None]
        if axis is not None
    }
    fixed = {name: variable for name, variable in new.data_vars.items() if "draw" not in variable.dims}
    draws = old.sizes["draw"] + new.sizes["draw"]
    coordinates = {name: value for name, value in new.coords.items() if name != "draw"} | {"draw": np.arange(draws)}
    joined: Any = {name: variables[name] if name in variables else fixed[name] for name in new.data_vars}
    return type(new)(joined, coordinates, new.attrs)


def _padded(variable: "xarray.DataArray", sizes: dict[Hashable, int]) -> np.ndarray:
    """The values, with as many entries along each ragged dimension."""
    widths = [(0, sizes.get(dim, size) - size) for dim, size in variable.sizes.items()]
    fill = _PADDING.get(str(variable.name), 0)
    return np.pad(variable.values, widths, constant_values=fill) if any(w for _, w in widths) else variable.values
