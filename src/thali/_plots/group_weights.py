"""The weights of features by group of people."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali._aspects.answers.groups import group_features_table
from thali._aspects.answers.registry import answers_of
from thali._aspects.findings.groups import MAX_GROUPS
from thali.errors import ArgumentError

from ._by_group import draw_groups, height_of
from ._draws import is_table, posterior_of
from ._fonts import picture
from ._style import label_width, level_of, new_axes, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@picture
def group_weights(model: Any, ax: "Axes | None" = None, most: int = 12) -> "Axes":
    """Draw the weight of each feature in each group of people, one line a feature, the most probable at the top.

    Dot and line are the posterior mean and the interval of the weight, given that the feature is there; of choices it
    is a share of the group's total. The number beside the members is the probability of the feature. Features of one
    option, and of all of them, are left out.

    Parameters
    ----------
    model : fitted model, or pandas.DataFrame
        Of two to seven groups or latent classes; or what its `features()` returned.
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
        If the model is of one group, or of more than seven.

    Examples
    --------
    >>> import thali as th
    >>> data = {"women": [[0, 30, 28], [10, 0, 21], [12, 19, 0]], "men": [[0, 29, 9], [11, 0, 8], [31, 32, 0]]}
    >>> data = {name: th.PairedComparisons(counts, ["tea", "coffee", "milk"]) for name, counts in data.items()}
    >>> model = th.EliminationByAspects(people=th.people.Groups())
    >>> model = model.fit(data, draws=200, tune=200, thin=1, random_seed=1, progressbar=False)
    >>> [text.get_text() for text in group_weights(model).get_legend().get_texts()]
    ['women', 'men']
    """
    table: Any = model
    if not is_table(model):
        posterior = posterior_of(model)
        if posterior.has_classes:
            posterior = answers_of(posterior).classes
        if not posterior.groups:
            raise ArgumentError(
                "plots.group_weights requires a model of several groups of respondents; this model has one group."
            )
        table = group_features_table(posterior)
    names, n = table.attrs["groups"], table.attrs["options"]
    if len(names) > MAX_GROUPS:
        raise ArgumentError(f"plots.group_weights draws at most {MAX_GROUPS} groups; got {len(names)}. Select fewer.")
    size = table["members"].map(len)
    table = table[(size > 1) & (size < n)].head(most)
    labels = [
        f"{', '.join(short(list(members)))}  {p:.2f}"
        for members, p in zip(table["members"], table["probability"], strict=True)
    ]
    if ax is None:
        (ax,) = new_axes(3.6 + label_width(labels), 1.2 + height_of(len(table), len(names)))
    ends = ("weight", "weight_low", "weight_high")
    draw_groups(ax, labels, {name: np.array([table[f"{what}[{name}]"] for what in ends]) for name in names})
    ax.set_xlim(left=0.0)
    what = "share of the group's weight" if table.attrs["shares"] else "weight"
    ax.set_xlabel(f"{what} (mean and {level_of(table)} interval)")
    return ax
