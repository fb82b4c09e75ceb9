"""The weights of features by group of people."""

from typing import TYPE_CHECKING

import numpy as np

from thali.errors import ArgumentError

from ._by_group import MAX_GROUPS, draw_groups, height_of
from ._fonts import picture
from ._style import axes_of, label_width, level_of, short

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes


@picture("members", "probability", made_by="features()", attrs=("groups",))
def group_weights(table: "pandas.DataFrame", ax: "Axes | None" = None, most: int = 12) -> "Axes":
    """Draw the weight of each feature in each group of people, one line a feature, the most
    probable at the top.

    Dot and line are the posterior mean and the interval of the weight, given that the feature is
    there; of choices it is a share of the group's total. In parentheses: the probability of the
    feature. Features of one option, and of all of them, are left out.

    Parameters
    ----------
    table : pandas.DataFrame
        What `features()` of a fit to two to seven groups, or of as many latent classes, returned.
    ax : matplotlib axes, optional
        Where to draw; a new figure if None.
    most : int
        How many features are drawn.

    Returns
    -------
    matplotlib axes

    Raises
    ------
    ArgumentError
        If there are more than seven groups.

    Examples
    --------
    >>> import thali as th
    >>> data = {
    ...     "women": [[0, 30, 28], [10, 0, 21], [12, 19, 0]],
    ...     "men": [[0, 29, 9], [11, 0, 8], [31, 32, 0]],
    ... }
    >>> data = {
    ...     name: th.PairedComparisons(counts, ["tea", "coffee", "milk"])
    ...     for name, counts in data.items()
    ... }
    >>> model = th.EliminationByAspects(people=th.people.Groups())
    >>> model = model.fit(data, draws=200, tune=200, thin=1, random_seed=1, progressbar=False)
    >>> [text.get_text() for text in group_weights(model.features()).get_legend().get_texts()]
    ['women', 'men']
    """
    names, n = table.attrs["groups"], table.attrs["options"]
    if len(names) > MAX_GROUPS:
        raise ArgumentError(
            f"plots.group_weights draws at most {MAX_GROUPS} groups; got {len(names)}. Select"
            " fewer."
        )
    size = table["members"].map(len)
    table = table.loc[(size > 1) & (size < n)].head(most)
    labels = [
        f"{', '.join(short(list(members)))} (p = {p:.2f})"
        for members, p in zip(table["members"], table["probability"], strict=True)
    ]
    ax = axes_of(ax, 3.6 + label_width(labels), 1.2 + height_of(len(table), len(names)))
    ends = ("weight", "weight_low", "weight_high")
    draw_groups(
        ax, labels, {name: np.array([table[f"{what}[{name}]"] for what in ends]) for name in names}
    )
    ax.set_xlim(left=0.0)
    what = "share of the group's weight" if table.attrs["shares"] else "weight"
    ax.set_xlabel(f"{what} (mean and {level_of(table)} interval)")
    return ax
