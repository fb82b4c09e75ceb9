"""The importance of each attribute for choices."""

from typing import TYPE_CHECKING, Any

import numpy as np

from ._fonts import picture
from ._style import COLOURS, label_width, level_of, new_axes, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@picture
def attribute_importance(model: Any, ax: "Axes | None" = None) -> "Axes":
    """Draw how far choices change when all alternatives of a task are alike in an attribute.

    A bar is the mean over tasks, with a standard error to either side; where people differ, the thin line holds most of
    them. The number to the right is the attribute's part of the ranges of utility, which sums to 100 %.

    Parameters
    ----------
    model : ProductClasses, MultinomialLogit or HierarchicalLogit
        Fitted; or the table that its `attribute_importance()` returned.
    ax : matplotlib axes, optional
        Where to draw; a new figure if None.

    Returns
    -------
    matplotlib axes
    """
    table = model.attribute_importance() if hasattr(model, "attribute_importance") else model
    names = short(table["attribute"].tolist())
    ax = new_axes(4.2 + label_width(names), 0.9 + 0.32 * len(names))[0] if ax is None else ax
    at = np.arange(len(names))
    values, errors = table["importance"].to_numpy(), np.nan_to_num(table["se"].to_numpy(float))
    ax.barh(at, values, height=0.6, color=COLOURS[0], zorder=2, label="mean and standard error")
    if "people_lb" in table:
        ends = table[["people_lb", "people_ub"]].to_numpy().T
        label = f"{level_of(table)} of people"
        ax.hlines(at + 0.42, *ends, color="0.45", linewidth=1.2, zorder=3, label=label)
    low = np.minimum(errors, values)
    ax.errorbar(values, at, xerr=[low, errors], fmt="none", ecolor="0.1", elinewidth=1.3, capsize=2, zorder=4)
    ax.set_yticks(at, names, parse_math=False)
    ax.set(ylim=(len(names) - 0.3, -0.5), xlabel="part of choices that it decides")
    ax.set_xlim(left=0)
    ax.text(1.02, 1.0, "of ranges", transform=ax.transAxes, fontsize=8, va="bottom")
    for place, part in zip(at.tolist(), table["range_share"], strict=True):
        shown = "–" if np.isnan(part) else f"{100 * part:.0f} %"
        ax.text(1.02, place, shown, transform=ax.get_yaxis_transform(), fontsize=9, va="center")
    ax.grid(axis="x", color="0.9", linewidth=0.7, zorder=0)
    ax.tick_params(axis="y", length=0)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, frameon=False, fontsize=8, handlelength=1.5)
    return ax
