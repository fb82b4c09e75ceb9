"""Known aspects as the branches of a tree, as long as their weights."""

from typing import TYPE_CHECKING

import numpy as np

from thali.errors import ArgumentError

if TYPE_CHECKING:
    import pandas

    from .aspects import KnownAspects


def branch_table(known: "KnownAspects", weights: np.ndarray) -> "pandas.DataFrame":
    """One row a branch: name, its parent (a row; -1 of the root) and length; leaves first, then aspects of several
    options from the smallest, last the root. ``attrs["leaves"]`` is the number of leaves.

    Raises
    ------
    ArgumentError
        If the aspects are no tree.
    """
    from thali._tables import Table

    owners, n = known.owners, len(known.labels)
    size = owners.sum(axis=0)
    if known.crossing is not None:
        a, b = known.crossing
        raise ArgumentError(
            f"These aspects are no tree: {a!r} and {b!r} have owners in common, and neither has all of the other's; "
            "draw plots.utility_scale instead."
        )
    inner = [int(k) for k in np.argsort(size, kind="stable") if 1 < size[k] < n]
    lengths = np.zeros(n + len(inner) + 1)
    for k in np.flatnonzero(size == 1):
        lengths[int(owners[:, k].argmax())] += weights[k]
    parents = np.full(len(lengths), len(lengths) - 1)
    for place, k in enumerate(inner):
        lengths[n + place] = weights[k]
        above = (
            n + later for later, other in enumerate(inner) if later > place and (owners[:, k] <= owners[:, other]).all()
        )
        parents[n + place] = next(above, len(lengths) - 1)
    for leaf in range(n):
        parents[leaf] = next((n + place for place, k in enumerate(inner) if owners[leaf, k]), len(lengths) - 1)
    parents[-1] = -1
    labels = list(known.labels)
    if not inner:  # nothing but the lengths says which options belong together
        order = np.argsort(-lengths[:n], kind="stable")
        labels, lengths[:n] = [labels[k] for k in order], lengths[order]
    table = Table({"name": [*labels, *(known.names[k] for k in inner), ""], "parent": parents, "length": lengths})
    table.attrs |= {"leaves": n}
    return table
