"""The quantities by which models of choice experiments are judged: shares of levels among choices, level effects."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from thali.data.experiments.scheme import INSIDE

if TYPE_CHECKING:
    import xarray

    from thali.data.experiments.scheme import Scheme

DESCRIPTIONS = {
    "share": "expected share of the tasks of the data in which a product with that level is chosen",
    "effect": "how often the one level is preferred to the other, all else being equal; mean over respondents",
}


def share_names(scheme: "Scheme") -> list[str]:
    """Of every level of an attribute but the first, whose share follows from the others."""
    return [
        f"{INSIDE}" if name == INSIDE else f"{name}={level}"
        for name, levels in scheme.levels.items()
        for level in levels[1:]
    ]


def levels_of_products(scheme: "Scheme", products: np.ndarray) -> np.ndarray:
    """Which of these levels products (P, attributes) have, shape (P, levels)."""
    columns = [products[:, i] == k for i, levels in enumerate(scheme.levels.values()) for k in range(1, len(levels))]
    return np.array(columns, float).T


def level_pairs_of(scheme: "Scheme", directions: Sequence[int] | np.ndarray) -> list[tuple[int, int, int]]:
    """(attribute, level, preferred level) for each level and the first; the better one where there is a direction."""
    pairs = [(i, 0, k) for i, levels in enumerate(scheme.levels.values()) for k in range(1, len(levels))]
    return [(i, b, a) if directions[i] < 0 else (i, a, b) for i, a, b in pairs]


def effect_names(scheme: "Scheme", pairs: Sequence[tuple[int, int, int]]) -> list[str]:
    """What the pairs are called."""
    named = list(scheme.levels.items())
    return [f"{named[i][0]}: {named[i][1][b]} over {named[i][1][a]}" for i, a, b in pairs]


def named_arrays(
    shares: np.ndarray, effects: np.ndarray, levels: Sequence[str], pairs: Sequence[str]
) -> "dict[str, xarray.DataArray]":
    """Shares and effects (chain, draw, name) as variables of a posterior."""
    import xarray as xr

    found = {"share": (shares, "product_level", levels), "effect": (effects, "level_pair", pairs)}
    return {
        name: xr.DataArray(
            values, {dim: list(names)}, ("chain", "draw", dim), attrs={"description": DESCRIPTIONS[name]}
        )
        for name, (values, dim, names) in found.items()
    }


def reported_rows(posterior: "xarray.Dataset") -> dict[str, np.ndarray]:
    """The rows of a summary: `share` and `effect` of a posterior."""
    rows = {}
    for name in DESCRIPTIONS:
        variable = posterior[name]
        labels = variable[variable.dims[2]].values
        rows |= {f"{name}[{label}]": variable.values[..., k] for k, label in enumerate(labels)}
    return rows
