"""The ranks of the options for each group of people."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali.aspects.findings.groups import MAX_GROUPS
from thali.errors import ArgumentError

from ._by_group import draw_groups, height_of
from ._draws import is_table
from ._fonts import picture
from ._style import label_width, level_of, new_axes, short, whole_ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@picture
def group_ranks(model: Any, ax: "Axes | None" = None) -> "Axes":
    """Draw the rank of each option for each group of people, the option with the best mean rank at the top.

    Dot and line are the posterior mean of the rank and its interval; rank 1 is the best.

    Parameters
    ----------
    model : fitted model, or pandas.DataFrame
        Of two to seven groups or kinds of people who choose; or the table of its finding ``ranks``.
    ax : matplotlib axes, optional
        Where to draw; a new figure if None.

    Returns
    -------
    matplotlib axes

    Raises
    ------
    ArgumentError
        If the model is of one group, or of more than seven.

    Examples
    --------
    >>> import thali as th
    >>> data = {"women": [[0, 30, 28], [10, 0, 21], [12, 19, 0]], "men": [[0, 29, 9], [11, 0, 8], [31, 32, 0]]}
    >>> data = {name: th.PairedComparisons(counts, ["tea", "coffee", "milk"]) for name, counts in data.items()}
    >>> model = th.EliminationByAspects().fit(data, draws=200, tune=200, thin=1, random_seed=1, progressbar=False)
    >>> ax = group_ranks(model)
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['tea', 'milk', 'coffee']
    """
    table = model if is_table(model) else model.findings()["ranks"].table
    column = table.index.name
    if column not in ("group", "kind"):
        raise ArgumentError("plots.group_ranks is for models of several groups of people; this one is of one.")
    names = list(dict.fromkeys(table.index))
    if len(names) > MAX_GROUPS:
        raise ArgumentError(f"plots.group_ranks draws up to {MAX_GROUPS} groups; these are {len(names)}.")
    options = table.groupby("option", sort=False)["rank"].mean().sort_values(kind="stable").index
    labels = short([str(option) for option in options])
    if ax is None:
        (ax,) = new_axes(4.2 + label_width(labels), 1.2 + height_of(len(labels), len(names)))
    each = {name: table.loc[[name]].set_index("option").loc[options] for name in names}
    draw_groups(ax, labels, {str(name): np.asarray(rows[_COLUMNS]).T for name, rows in each.items()})
    ax.set_xticks(whole_ticks(len(labels)))
    ax.set_xlim(0.5, len(labels) + 0.5)
    ax.set_xlabel(f"rank, 1 the best (mean and {level_of(table)} interval)")
    return ax


_COLUMNS = ["rank", "rank_low", "rank_high"]
