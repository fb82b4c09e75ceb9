"""Plot of feature weights by group of respondents."""

from typing import TYPE_CHECKING

import numpy as np

from thali.errors import ArgumentError

from ._fonts import picture
from ._grouped_intervals import MAX_GROUPS, compute_rows_height, draw_groups
from ._style import ensure_axes, format_interval_level, measure_label_width, shorten_labels

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes


@picture("members", "probability", made_by="features()", attrs=("groups",))
def group_weights(table: "pandas.DataFrame", ax: "Axes | None" = None, most: int = 12) -> "Axes":
    """Draw the weight of each feature in each group, most probable first.

    Dot and line are the posterior mean and the interval of the weight, given that the feature
    exists; for choices it is a share of the group's total. In parentheses: the probability of the
    feature. Features of one option, and of all options, are omitted.

    Parameters
    ----------
    table : pandas.DataFrame
        The table that `features()` of a fit with two to seven groups or latent classes returns.
    ax : matplotlib axes, optional
        Axes to draw in; None creates a new figure.
    most : int
        The largest number of features to draw.

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
    groups, n = table.attrs["groups"], table.attrs["options"]
    if len(groups) > MAX_GROUPS:
        raise ArgumentError(
            f"plots.group_weights draws at most {MAX_GROUPS} groups; got {len(groups)}. Select"
            " fewer."
        )
    n_members = table["members"].map(len)
    table = table.loc[(n_members > 1) & (n_members < n)].head(most)
    labels = [
        f"{', '.join(shorten_labels(list(members)))} (p = {p:.2f})"
        for members, p in zip(table["members"], table["probability"], strict=True)
    ]
    ax = ensure_axes(
        ax, 3.6 + measure_label_width(labels), 1.2 + compute_rows_height(len(table), len(groups))
    )
    interval_columns = ("weight", "weight_low", "weight_high")
    draw_groups(
        ax,
        labels,
        {
            group: np.array([table[f"{column}[{group}]"] for column in interval_columns])
            for group in groups
        },
    )
    ax.set_xlim(left=0.0)
    x_label = "weight"
    if table.attrs["shares"]:
        x_label = "share of the group's weight"
    ax.set_xlabel(f"{x_label} (mean and {format_interval_level(table)} interval)")
    return ax
