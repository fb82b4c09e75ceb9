"""Plot of a preference tree, whose branches are as long as aspect weights."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ._fonts import picture
from .option_tree import draw_branches

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class _Branches:
    """Nodes of a preference tree with names, parents and lengths."""

    names: list[str]
    parents: np.ndarray
    lengths: np.ndarray
    n_leaves: int

    def compute_depths(self) -> np.ndarray:
        """Return the distance of each node from the root."""
        depths = np.zeros(len(self.names))
        for node in range(len(self.names) - 2, -1, -1):  # children come before parents
            depths[node] = depths[self.parents[node]] + self.lengths[node]
        return depths


@picture("name", "parent", "length", made_by="findings()['weights']", attrs=("leaves",))
def preference_tree(table: "pandas.DataFrame", ax: "Axes | None" = None) -> "Axes":
    """Draw a model fitted by maximum likelihood as a preference tree.

    Each aspect is a branch whose length is its weight; an option is at the end of its unique
    branch, at the sum of the weights of all its aspects. The choice between two options depends on
    their branches up to the common node. Without shared aspects there are only branches of options,
    the longest first.

    Parameters
    ----------
    table : pandas.DataFrame
        Branches: name, parent (a row, -1 for the root), length; leaves first, the root last.
        ``attrs["leaves"]`` is the number of leaves.
    ax : matplotlib axes, optional
        Axes to draw in; None creates a new figure.

    Returns
    -------
    matplotlib axes

    References
    ----------
    Tversky & Sattath (1979), Preference trees.

    Examples
    --------
    >>> import thali as th
    >>> groups = {
    ...     "LBJ": "politician",
    ...     "HW": "politician",
    ...     "JU": "athlete",
    ...     "CY": "athlete",
    ...     "SL": "star",
    ...     "ET": "star",
    ... }
    >>> model = th.EliminationByAspects(
    ...     {who: [group] for who, group in groups.items()}, method="maximum-likelihood"
    ... )
    >>> ax = model.fit(th.datasets.celebrities().subset(groups)).plot("preference_tree")
    >>> ax.get_xlabel()
    'sum of weights'
    """
    parents = table["parent"].to_numpy(int)
    lengths = table["length"].to_numpy(float)
    branches = _Branches(table["name"].tolist(), parents, lengths, table.attrs["leaves"])
    depths = branches.compute_depths()
    ax, node_heights = draw_branches(branches, depths, ax)
    n = branches.n_leaves
    max_depth = float(depths.max())
    # leaves end at different depths: a dotted line leads to the label
    ax.hlines(
        node_heights[:n], depths[:n], 1.005 * max_depth, colors="0.7", linestyles=":", linewidth=0.8
    )
    ax.set_xlabel("sum of weights")
    return ax
