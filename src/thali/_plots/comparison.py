"""The scores of left-out pairs, model against model."""

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from thali.errors import ArgumentError

from ._fonts import picture
from ._style import (
    COLOURS,
    hide_spines,
    label_width,
    legend_of,
    mark_points,
    new_axes,
    short,
    shortened,
)

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

_FURTHEST = 3
# a larger score than so many medians would leave the bulk of the pairs in a corner
_MAX_MEDIANS = 30
BASE, EMP = "BASE", "EMP"  # rows that are no models


@picture("nll", made_by="thali.compare", attrs=("pairs",))
def comparison(
    table: "pandas.DataFrame", ax: "Sequence[Axes] | None" = None, max_models: int = 4
) -> "list[Axes]":
    """Draw how well each left-out pair is predicted by one model against another, a panel for two
    models.

    A point is a pair, and its score under a model is -ln Binomial(x | n, p) with the p that the
    model predicted without it. Less is better: below the diagonal the model on the vertical axis
    is, above it the other one, and each point has the colour of the better one. The three pairs
    furthest from the diagonal are marked and named, and the one that the two models predict worst
    together. Where the largest score is more than 30 times the median, both axes are logarithmic
    but for the smallest scores. An infinite score is a cross at the end of its axis; pairs that a
    model has no score for are left out.

    Parameters
    ----------
    table : pandas.DataFrame
        What `thali.compare` returns for paired comparisons, of one group of people or several.
        "BASE" and "EMP" are not drawn; a single model is drawn against "BASE".
    ax : sequence of matplotlib axes, optional
        Where to draw, one a panel; a new figure if None.
    max_models : int
        Up to so many models are drawn each against each; of more, the best is drawn against each of
        the others.

    Returns
    -------
    list of matplotlib axes

    Raises
    ------
    ArgumentError
        The table does not hold the scores of the pairs, or no model; or `ax` are not as many as the
        panels.

    References
    ----------
    Görür, Jäkel & Rasmussen (2006), Fig. 4.

    Examples
    --------
    >>> import pandas as pd
    >>> pairs = pd.MultiIndex.from_tuples([("P+", "P"), ("P+", "R"), ("P", "R")], names=["a", "b"])
    >>> scores = pd.DataFrame({"BTL": [30.1, 2.9, 3.2], "iEBA": [2.2, 2.6, 3.4]}, index=pairs)
    >>> table = pd.DataFrame({"nll": scores.mean()})
    >>> table.attrs["pairs"] = scores
    >>> (ax,) = comparison(table)
    >>> [text.get_text() for text in ax.get_legend().get_texts()][:2]
    ['iEBA better for 2 of 3 pairs', 'BTL better for 1']
    """
    scores = table.attrs["pairs"]
    drawn, panels = _panels(table, scores, max_models)
    shown = dict(zip(drawn, short([str(model) for model in drawn]), strict=True))
    # When all are drawn against the best, the others share a colour.
    numbers = [
        number % len(COLOURS) if len(drawn) <= max_models else min(number, 1)
        for number in range(len(drawn))
    ]
    colours = {model: COLOURS[number] for model, number in zip(drawn, numbers, strict=True)}

    pairs = _pair_names(scores.index)
    if ax is None:
        on = _new_axes(
            len(panels),
            max(3.6, 1.6 + label_width([line for pair in pairs for line in pair.split("\n")])),
        )
    else:
        on = list(np.ravel(ax))  # type: ignore[call-overload]
    if len(on) != len(panels):
        raise ArgumentError(
            f"`ax` must have one axis per pair of models ({len(panels)}); got {len(on)}."
        )
    for where, panel in zip(on, panels, strict=True):
        names = [(shown[model], colours[model]) for model in panel]
        _draw_panel(where, scores[[*panel]].to_numpy(float), names, pairs)
    return on


def _new_axes(number: int, side: float) -> "list[Axes]":
    """Square panels with sides of so many inches, labels and title included, two in a row."""
    across = min(2, number)
    rows = -(-number // across)
    axes = new_axes(side * across, (side + 0.1) * rows, rows, across)
    for ax in axes[number:]:
        ax.remove()
    return axes[:number]


def _panels(
    table: "pandas.DataFrame", scores: "pandas.DataFrame", max_models: int
) -> tuple[list[Any], list[tuple[Any, ...]]]:
    """The models to draw, and which two of them, across and up, stand in each panel."""
    models = [row for row in table.index if row not in (BASE, EMP) and row in scores]
    if not models:
        raise ArgumentError(
            "`table` must have at least one row of a model in addition to 'BASE' and 'EMP'; got"
            " none."
        )
    if len(models) == 1:
        models = [BASE, *models]
    if len(models) <= max(max_models, 2):
        return models, list(combinations(models, 2))
    mean = table["nll"].reindex(models).fillna(np.inf).to_numpy()
    best = models[int(np.argmin(mean))]
    others = [model for model in models if model != best]
    return [best, *others], [(model, best) for model in others]


def _draw_panel(
    ax: "Axes", scores: np.ndarray, models: list[tuple[str, str]], pairs: list[str]
) -> None:
    """Draw scores (pair, 2) of two models, across and up, each with its name and colour."""
    there = ~np.isnan(scores.sum(axis=1))
    top = _scale(ax, scores[there])
    at = np.where(there[:, None], np.minimum(scores, top), np.nan)
    finite = np.isfinite(scores).all(axis=1)
    ax.plot(ax.get_xlim(), ax.get_xlim(), color="0.6", linewidth=0.8, zorder=1)

    (across, across_colour), (up, up_colour) = models
    across_better, up_better = scores[:, 0] < scores[:, 1], scores[:, 1] < scores[:, 0]
    equal = there & ~across_better & ~up_better
    count = int(there.sum())
    groups = [
        (
            up_better,
            up_colour,
            f"{_before(up, 16, ' ')}better for {up_better.sum()} of {count} pairs",
        ),
        (
            across_better,
            across_colour,
            f"{_before(across, 16, ' ')}better for {across_better.sum()}",
        ),
        (equal, "0.4", f"equal for {equal.sum()}"),
    ]
    handles: list[Any] = []
    alpha = min(0.9, 0.35 + 40 / max(count, 1))
    for group, colour, label in groups:
        if group.any() or group is not equal:
            look = {"s": 16, "color": colour, "linewidth": 0, "alpha": alpha}
            handles.append(ax.scatter(*at[group & finite].T, label=label, zorder=3, **look))
        if (group & ~finite).any():
            ax.scatter(
                *at[group & ~finite].T, s=30, color=colour, marker="x", clip_on=False, zorder=3
            )
    for axis, (model, _) in zip((ax.xaxis, ax.yaxis), models, strict=True):
        axis.set_label_text(
            f"{_before(model, 12, ': ')}−ln likelihood of a pair", fontsize=9, parse_math=False
        )
    hide_spines(ax)
    named = _worth_naming(at)
    x, y = at[named].T
    handles += mark_points(ax, x, y, [pairs[number] for number in named])
    room = {
        "borderpad": 0.2,
        "borderaxespad": 0.2,
        "handlelength": 1.0,
        "handletextpad": 0.3,
        "labelspacing": 0.2,
    }
    # which is the title
    legend = legend_of(ax, "lower left", (0, 1), handles=handles, fontsize=9, **room)
    for points in filter(None, legend.legend_handles):
        points.set_alpha(1)


def _worth_naming(at: np.ndarray) -> list[int]:
    """The pair that both models predict worst, and those furthest from the diagonal."""
    total = at.sum(axis=1)
    worst = [] if np.isnan(total).all() else [int(np.nanargmax(total))]
    distance = np.nan_to_num(np.abs(at[:, 0] - at[:, 1]))
    furthest = [
        pair
        for pair in np.argsort(-distance, kind="stable")[:_FURTHEST].tolist()
        if distance[pair] > 0
    ]
    return list(dict.fromkeys([*worst, *furthest]))


def _before(model: str, longest: int, between: str) -> str:
    """The name of a model and what follows it, a line break if the name is long."""
    return model + (between if len(model) <= longest else "\n")


def _scale(ax: "Axes", scores: np.ndarray) -> float:
    """Give both axes the same scale and limits, so that all finite scores are inside; returned is
    the upper limit."""
    values = scores[np.isfinite(scores)] if np.isfinite(scores).any() else np.array([0.0, 1.0])
    median, largest = float(np.median(values)), float(values.max())
    logarithmic = largest > _MAX_MEDIANS * median
    if logarithmic:
        # Linear up to the median, or over all but three powers of ten.
        linear = max(median, largest / 1000)
        ax.set_xscale("symlog", linthresh=linear)
        ax.set_yscale("symlog", linthresh=linear)
    transform = ax.xaxis.get_transform()
    low, high = transform.transform(np.array([values.min(), largest]))
    margin = 0.06 * (high - low) or 0.5
    low, high = transform.inverted().transform(np.array([low - margin, high + margin]))
    ax.set(xlim=(low, high), ylim=(low, high), aspect="equal")
    if logarithmic:
        for axis in (ax.xaxis, ax.yaxis):
            locator: Any = axis.get_major_locator()
            locator.set_params(subs=(1, 2, 5))
            axis.set_major_formatter(lambda value, _: f"{value:,g}")
    else:
        ax.locator_params(nbins=6)
    return float(high)


def _pair_names(index: "pandas.Index") -> list[str]:
    """The names of the pairs, long ones on two lines; of a pair of one group, with the group."""
    shown = shortened([str(label) for pair in index for label in pair[-2:]])
    names = []
    for *groups, first, second in index:
        a, b = shown[str(first)], shown[str(second)]
        name = f"{a} –\n{b}" if len(a) + len(b) > 20 else f"{a} – {b}"
        names.append(f"{name} ({groups[0]})" if groups else name)
    return names
