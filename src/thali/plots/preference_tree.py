"""A preference tree: aspects as branches, as long as their weights."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from thali.errors import ArgumentError

from ._fonts import picture
from .tree import draw

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from thali.model.elimination_ml.aspects import KnownAspects


@dataclass(frozen=True)
class _Branches:
    names: list[str]
    parents: np.ndarray
    lengths: np.ndarray
    n_leaves: int

    def depths(self) -> np.ndarray:
        depths = np.zeros(len(self.names))
        for node in range(len(self.names) - 2, -1, -1):  # every node comes before its parent
            depths[node] = depths[self.parents[node]] + self.lengths[node]
        return depths


@picture
def preference_tree(model: Any, ax: "Axes | None" = None) -> "Axes":
    """Draw a model fitted by maximum likelihood as a preference tree.

    Each aspect is a branch whose length is its weight; an option is at the end of its unique branch, at the sum of the
    weights of all its aspects. The choice between two options depends on their branches up to the common node. Without
    an aspect that options share there are no branches but those of the options, the longest first.

    Parameters
    ----------
    model : EliminationByAspects
        Fitted by maximum likelihood; two aspects have no owner in common, or one has all owners of the other.
    ax : matplotlib axes, optional
        Where to draw; a new figure if None.

    Returns
    -------
    matplotlib axes

    Raises
    ------
    NotFittedError
        Unless fitted by maximum likelihood.
    ArgumentError
        If the aspects are no tree; two that overlap are named.

    References
    ----------
    Tversky & Sattath (1979), Preference trees.

    Examples
    --------
    >>> import thali as th
    >>> groups = {"LBJ": "politician", "HW": "politician", "JU": "athlete", "CY": "athlete", "SL": "star", "ET": "star"}
    >>> model = th.EliminationByAspects(
    ...     {who: [group] for who, group in groups.items()}, method="maximum-likelihood"
    ... )
    >>> ax = preference_tree(model.fit(th.datasets.celebrities().subset(groups)))
    >>> ax.get_xlabel()
    'sum of weights'
    """
    from thali.model.elimination_ml.model import estimates_of

    found = estimates_of(model, "preference_tree")
    branches = _branches(found.known, found.weights)
    depths = branches.depths()
    ax, heights = draw(branches, depths, ax)
    n = branches.n_leaves
    deepest = float(depths.max())
    # Leaves end at different depths: a dotted line leads to the label.
    ax.hlines(heights[:n], depths[:n], 1.005 * deepest, colors="0.7", linestyles=":", linewidth=0.8)
    ax.set_xlabel("sum of weights")
    return ax


def _branches(known: "KnownAspects", weights: np.ndarray) -> _Branches:
    """Leaves first, then aspects of several options from the smallest, last the root."""
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
    names = [*labels, *(known.names[k] for k in inner), ""]
    return _Branches(names, parents, lengths, n)
