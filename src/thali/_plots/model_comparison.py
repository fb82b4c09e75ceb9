"""Plot of held-out scores of one model against another."""

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._inference.index_arithmetic import argsort_descending
from thali.errors import ArgumentError

from ._fonts import picture
from ._style import (
    COLOURS,
    add_legend,
    create_axes,
    hide_spines,
    map_short_labels,
    mark_points,
    measure_label_width,
    shorten_labels,
)

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

_MAX_FAR_PAIRS = 3
# with a larger score, linear axes would show most pairs in a corner
_MAX_MEDIANS = 30
BASE, EMP = "BASE", "EMP"  # rows of the table that are not models


@picture("nll", made_by="thali.compare", attrs=("pairs",))
def comparison(
    table: "pandas.DataFrame", ax: "Sequence[Axes] | None" = None, max_models: int = 4
) -> "list[Axes]":
    """Draw scores of held-out pairs under two models, one panel per comparison.

    A point is a pair, and its score under a model is -ln Binomial(x | n, p) with the p that the
    model predicted without it. Smaller is better: points below the diagonal favour the model on the
    vertical axis, points above it the other one; each point has the colour of the better model. The
    three pairs furthest from the diagonal are marked and named, and the pair that the two models
    predict worst together. If the largest score is more than 30 times the median, both axes are
    logarithmic except for the smallest scores. An infinite score is a cross at the end of its axis;
    pairs without a score under a model are omitted.

    Parameters
    ----------
    table : pandas.DataFrame
        The table that `thali.compare` returns for paired comparisons, of one group or several.
        "BASE" and "EMP" are not drawn; a single model is drawn against "BASE".
    ax : sequence of matplotlib axes, optional
        Axes to draw in, one per panel; None creates a new figure.
    max_models : int
        Up to this number all pairs of models are drawn; with more models, the best is drawn against
        each other model.

    Returns
    -------
    list of matplotlib axes

    Raises
    ------
    ArgumentError
        If the table contains no scores of pairs or no model, or the number of axes differs from the
        number of panels.

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
    models, model_pairs = _choose_panels(table, scores, max_models)
    short_names = dict(zip(models, shorten_labels([str(model) for model in models]), strict=True))
    colours = {model: COLOURS[index % len(COLOURS)] for index, model in enumerate(models)}
    if len(models) > max_models:  # all are compared with the best, so the others share a colour
        colours = dict.fromkeys(models, COLOURS[1]) | {models[0]: COLOURS[0]}
    pair_names = _format_pair_names(scores.index)
    if ax is None:
        axes = _create_panels(len(model_pairs), max(3.6, 2.6 + measure_label_width(pair_names)))
    else:
        axes = list(np.ravel(ax))  # type: ignore[call-overload]
    if len(axes) != len(model_pairs):
        raise ArgumentError(
            f"`ax` must have one axis per pair of models ({len(model_pairs)}); got {len(axes)}."
        )
    for panel_axes, model_pair in zip(axes, model_pairs, strict=True):
        labels_and_colours = [(short_names[model], colours[model]) for model in model_pair]
        _draw_panel(
            panel_axes, scores[[*model_pair]].to_numpy(float), labels_and_colours, pair_names
        )
    return axes


def _create_panels(n_panels: int, side: float) -> "list[Axes]":
    """Return square axes, two per row, `side` inches wide."""
    n_columns = min(2, n_panels)
    n_rows = -(-n_panels // n_columns)
    axes = create_axes(side * n_columns, (side + 0.1) * n_rows, n_rows, n_columns)
    for ax in axes[n_panels:]:
        ax.remove()
    return axes[:n_panels]


def _choose_panels(
    table: "pandas.DataFrame", scores: "pandas.DataFrame", max_models: int
) -> tuple[list[Any], list[tuple[Any, ...]]]:
    """Return the models to draw, and the two models of each panel."""
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
    mean_scores = table["nll"].reindex(models).fillna(np.inf).to_numpy()
    best_model = models[int(np.argmin(mean_scores))]
    other_models = [model for model in models if model != best_model]
    return [best_model, *other_models], [(model, best_model) for model in other_models]


def _draw_panel(
    ax: "Axes", scores: np.ndarray, models: list[tuple[str, str]], pair_names: list[str]
) -> None:
    """Draw scores of held-out pairs, (n_pairs, 2), of two models."""
    has_scores = ~np.isnan(scores.sum(axis=1))
    axis_limit = _set_scale(ax, scores[has_scores])
    xy = np.where(has_scores[:, None], np.minimum(scores, axis_limit), np.nan)
    is_finite = np.isfinite(scores).all(axis=1)
    ax.plot(ax.get_xlim(), ax.get_xlim(), color="0.6", linewidth=0.8, zorder=1)

    (x_model, x_colour), (y_model, y_colour) = models
    is_x_better = scores[:, 0] < scores[:, 1]
    is_y_better = scores[:, 1] < scores[:, 0]
    is_equal = has_scores & ~is_x_better & ~is_y_better
    n_scored = int(has_scores.sum())
    y_label = (
        f"{_format_prefix(y_model, 16, ' ')}better for {is_y_better.sum()} of {n_scored} pairs"
    )
    x_label = f"{_format_prefix(x_model, 16, ' ')}better for {is_x_better.sum()}"
    point_groups = [
        (is_y_better, y_colour, y_label),
        (is_x_better, x_colour, x_label),
        (is_equal, "0.4", f"equal for {is_equal.sum()}"),
    ]
    handles: list[Any] = []
    alpha = min(0.9, 0.35 + 40 / max(n_scored, 1))
    for is_in_group, colour, label in point_groups:
        if is_in_group.any() or is_in_group is not is_equal:
            points = ax.scatter(
                *xy[is_in_group & is_finite].T, s=16, color=colour, label=label, zorder=3
            )
            points.set(linewidth=0, alpha=alpha)
            handles.append(points)
        if (is_in_group & ~is_finite).any():
            ax.scatter(
                *xy[is_in_group & ~is_finite].T,
                s=30,
                color=colour,
                marker="x",
                clip_on=False,
                zorder=3,
            )
    for axis, (model, _) in zip((ax.xaxis, ax.yaxis), models, strict=True):
        label = f"{_format_prefix(model, 12, ': ')}−ln likelihood of a pair"
        axis.set_label_text(label, fontsize=9, parse_math=False)
    hide_spines(ax)
    pair_indices = _select_named_pairs(xy)
    x, y = xy[pair_indices].T
    handles += mark_points(ax, x, y, [pair_names[pair] for pair in pair_indices])
    _add_panel_legend(ax, handles)


def _add_panel_legend(ax: "Axes", handles: list[Any]) -> None:
    """Add the legend, which is the title, with opaque handles."""
    legend = add_legend(
        ax,
        "lower left",
        (0, 1),
        handles=handles,
        fontsize=9,
        borderpad=0.2,
        borderaxespad=0.2,
        handlelength=1.0,
        handletextpad=0.3,
        labelspacing=0.2,
    )
    for legend_handle in filter(None, legend.legend_handles):
        legend_handle.set_alpha(1)


def _select_named_pairs(xy: np.ndarray) -> list[int]:
    """Return indices of the worst pair, and of pairs farthest from the diagonal."""
    pair_indices = []
    score_sums = xy.sum(axis=1)
    if not np.isnan(score_sums).all():
        pair_indices.append(int(np.nanargmax(score_sums)))
    diagonal_distances = np.nan_to_num(np.abs(xy[:, 0] - xy[:, 1]))
    for pair_index in argsort_descending(diagonal_distances)[:_MAX_FAR_PAIRS].tolist():
        if diagonal_distances[pair_index] > 0 and pair_index not in pair_indices:
            pair_indices.append(pair_index)
    return pair_indices


def _format_prefix(model: str, max_length: int, separator: str) -> str:
    """Return a model name followed by a separator, or by a line break if long."""
    if len(model) > max_length:
        return f"{model}\n"
    return model + separator


def _set_scale(ax: "Axes", scores: np.ndarray) -> float:
    """Set equal limits on both axes for all finite scores; return the upper one."""
    finite_scores = np.array([0.0, 1.0])
    if np.isfinite(scores).any():
        finite_scores = scores[np.isfinite(scores)]
    median_score = float(np.median(finite_scores))
    max_score = float(finite_scores.max())
    is_logarithmic = max_score > _MAX_MEDIANS * median_score
    if is_logarithmic:
        # linear up to the median, with at most three powers of ten above
        linear_limit = max(median_score, max_score / 1000)
        ax.set_xscale("symlog", linthresh=linear_limit)
        ax.set_yscale("symlog", linthresh=linear_limit)
    transform = ax.xaxis.get_transform()
    low, high = transform.transform(np.array([finite_scores.min(), max_score]))
    margin = 0.06 * (high - low) or 0.5
    low, high = transform.inverted().transform(np.array([low - margin, high + margin]))
    ax.set(xlim=(low, high), ylim=(low, high), aspect="equal")
    if is_logarithmic:
        for axis in (ax.xaxis, ax.yaxis):
            locator: Any = axis.get_major_locator()
            locator.set_params(subs=(1, 3))
            axis.set_major_formatter(lambda value, _: f"{value:,g}")
    else:
        ax.locator_params(nbins=6)
    return float(high)


def _format_pair_names(index: "pandas.Index") -> list[str]:
    """Return names of pairs as text with their group, long ones on two lines."""
    short_labels = map_short_labels([str(label) for pair in index for label in pair[-2:]])
    names = []
    for *group_labels, first_option, second_option in index:
        a = short_labels[str(first_option)]
        b = short_labels[str(second_option)]
        separator = " "
        if len(a) + len(b) > 20:
            separator = "\n"
        name = f"{a} –{separator}{b}"
        if group_labels:
            name += f" ({group_labels[0]})"
        names.append(name)
    return names
