"""The scores of left-out pairs, model against model."""

from collections.abc import Callable, Sequence
from itertools import combinations, permutations
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._comparison.pairs import EMP
from thali._comparison.scorer import BASE
from thali.errors import ArgumentError

from ._fonts import picture
from ._style import COLOURS, label_width, new_axes, short

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

_FURTHEST = 3
# A largest score of more than so many medians would leave the bulk of the pairs in a corner.
_MAX_MEDIANS = 30
# What a name costs where it stands, in points of distance from its pair.
_ON_A_NAME, _ON_A_LINE, _ON_A_POINT, _NEAR_A_POINT, _ON_THE_DIAGONAL = 10_000.0, 300.0, 80.0, 3.0, 2.0
_THROUGH_A_POINT = 10.0
# Size of a name and its least distance from what is drawn, in points; characters of a label in it.
_SIZE, _GAP, _BRIEF = 8, 3.5, 16
# Where along a line it is looked for what is in its way.
_STEPS = np.linspace(0, 1, 25)[:, None]


@picture
def comparison(table: "pandas.DataFrame", axes: "Sequence[Axes] | None" = None, max_models: int = 4) -> "list[Axes]":
    """Draw how well each left-out pair is predicted by one model against another, a panel for two models.

    A point is a pair, and its score under a model is -ln Binomial(x | n, p) with the p that the model predicted
    without it. Less is better: below the diagonal the model on the vertical axis is, above it the other one, and
    each point has the colour of the better one. The three pairs furthest from the diagonal are named, and the one
    that the two models predict worst together. Where the largest score is more than 30 times the median, both axes
    are logarithmic but for the smallest scores. An infinite score is a cross at the end of its axis; pairs that a
    model has no score for are left out.

    Parameters
    ----------
    table : pandas.DataFrame
        What `thali.compare` returns for paired comparisons, of one group of people or several. "BASE" and "EMP" are
        not drawn; a single model is drawn against "BASE".
    axes : sequence of matplotlib axes, optional
        Where to draw, one a panel; a new figure if None.
    max_models : int
        Up to so many models are drawn each against each; of more, the best is drawn against each of the others.

    Returns
    -------
    list of matplotlib axes

    Raises
    ------
    ArgumentError
        The table does not hold the scores of the pairs, or no model; or `axes` are not as many as the panels.

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
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['iEBA better for 2 of 3 pairs', 'BTL better for 1']
    """
    scores = getattr(table, "attrs", {}).get("pairs")
    if scores is None:
        raise ArgumentError(
            "`table` has no scores of pairs in its attrs; pass the unchanged table that `thali.compare` returned for"
            " paired comparisons."
        )
    drawn, panels = _panels(table, scores, max_models)
    shown = dict(zip(drawn, short([str(model) for model in drawn]), strict=True))
    # When all are drawn against the best, the others share a colour.
    numbers = [number % len(COLOURS) if len(drawn) <= max_models else min(number, 1) for number in range(len(drawn))]
    colours = {model: COLOURS[number] for model, number in zip(drawn, numbers, strict=True)}

    pairs = _pair_names(scores.index)
    if axes is None:
        widest = label_width([line for pair in pairs for line in pair.split("\n")])
        on = _new_axes(len(panels), max(3.6, 2.6 + widest))
    else:
        on = list(np.ravel(axes))  # type: ignore[call-overload]
    if len(on) != len(panels):
        raise ArgumentError(f"`axes` must have one axis per pair of models ({len(panels)}); got {len(on)}.")
    points = [
        _draw_points(ax, scores[[*panel]].to_numpy(float), [(shown[model], colours[model]) for model in panel])
        for ax, panel in zip(on, panels, strict=True)
    ]
    # Where names have room is known once the axes have their size.
    on[0].figure.canvas.figure.draw_without_rendering()
    for ax, at in zip(on, points, strict=True):
        _name_points(ax, at, pairs)
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
        raise ArgumentError("`table` must have at least one row of a model in addition to 'BASE' and 'EMP'; got none.")
    if len(models) == 1:
        models = [BASE, *models]
    if len(models) <= max(max_models, 2):
        return models, list(combinations(models, 2))
    mean = table["nll"].reindex(models).fillna(np.inf).to_numpy()
    best = models[int(np.argmin(mean))]
    others = [model for model in models if model != best]
    return [best, *others], [(model, best) for model in others]


def _draw_points(ax: "Axes", scores: np.ndarray, models: list[tuple[str, str]]) -> np.ndarray:
    """Draw one panel from scores (pair, 2) of two models, across and up, each with its name and colour."""
    # Returned is where each pair stands (pair, 2), NaN if nowhere.
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
        (up_better, up_colour, f"{_before(up, 16, ' ')}better for {up_better.sum()} of {count} pairs"),
        (across_better, across_colour, f"{_before(across, 16, ' ')}better for {across_better.sum()}"),
        (equal, "0.4", f"equal for {equal.sum()}"),
    ]
    alpha = min(0.9, 0.35 + 40 / max(count, 1))
    for group, colour, label in groups:
        if group.any() or group is not equal:
            ax.scatter(*at[group & finite].T, s=16, color=colour, linewidth=0, alpha=alpha, label=label, zorder=3)
        if (group & ~finite).any():
            ax.scatter(*at[group & ~finite].T, s=30, color=colour, marker="x", clip_on=False, zorder=3)
    for axis, (model, _) in zip((ax.xaxis, ax.yaxis), models, strict=True):
        axis.set_label_text(f"{_before(model, 12, ': ')}−ln likelihood of a pair", fontsize=9, parse_math=False)
    ax.spines[["top", "right"]].set_visible(False)
    # The legend is the title.
    room = {"borderpad": 0.2, "borderaxespad": 0.2, "handlelength": 1.0, "handletextpad": 0.3, "labelspacing": 0.2}
    legend = ax.legend(loc="lower left", bbox_to_anchor=(0, 1), frameon=False, fontsize=9, **room)
    for text in legend.get_texts():
        text.set_parse_math(False)
    for points in filter(None, legend.legend_handles):
        points.set_alpha(1)
    return at


def _before(model: str, longest: int, between: str) -> str:
    """The name of a model and what follows it, a line break if the name is long."""
    return model + (between if len(model) <= longest else "\n")


def _scale(ax: "Axes", scores: np.ndarray) -> float:
    """Give both axes the same scale and limits, so that all finite scores are inside; returned is the upper limit."""
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
        ticks = _round_numbers(low, high, transform.transform)
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_ticks(ticks, [f"{tick:,g}" for tick in ticks])
            axis.set_ticks([], minor=True)
    else:
        ax.locator_params(nbins=6)
    return float(high)


def _round_numbers(low: float, high: float, transform: "Callable[[np.ndarray], np.ndarray]") -> np.ndarray:
    """0, powers of ten and their 5-fold and 2-fold, as far as they do not crowd on the transformed axis."""
    powers = 10.0 ** np.arange(np.floor(np.log10(high)) - 4, np.log10(high) + 1)
    numbers = np.concatenate([[0.0], powers[::-1], 5 * powers, 2 * powers])
    numbers = numbers[(low <= numbers) & (numbers <= high)]
    places = transform(numbers)
    least = 0.1 * np.ptp(transform(np.array([low, high])))
    chosen = np.zeros(len(numbers), dtype=bool)
    for number, place in enumerate(places):
        chosen[number] = np.all(np.abs(places[chosen] - place) >= least)
    return np.sort(numbers[chosen])


def _pair_names(index: "pandas.Index") -> list[str]:
    """The names of the pairs, long ones on two lines; of a pair of one group, the group on a line below."""
    named = [(str(a), str(b)) for *_, a, b in index]
    shown = _briefly([option for pair in named for option in pair])
    pairs = [(shown[a], shown[b]) for a, b in named]
    lines = [f"{a} – {b}" if len(a) + len(b) <= 20 else f"{a} –\n{b}" for a, b in pairs]
    if index.nlevels == 2:
        return lines
    groups = [str(group) for group, _, _ in index]
    shown = _briefly(groups)
    return [f"{line}\n({shown[group]})" for line, group in zip(lines, groups, strict=True)]


def _briefly(labels: list[str]) -> dict[str, str]:
    """What is written for each of these labels."""
    distinct = list(dict.fromkeys(labels))
    return dict(zip(distinct, _brief(distinct), strict=True))


def _brief(labels: list[str]) -> list[str]:
    """Labels cut to the few characters for which there is room among points, if they stay distinct."""
    lines = [" ".join(label.split()) for label in labels]
    cut = [line if len(line) <= _BRIEF else f"{line[: _BRIEF - 1]}…" for line in lines]
    return cut if len(set(cut)) == len(labels) else short(labels)


def _name_points(ax: "Axes", at: np.ndarray, pairs: list[str]) -> None:
    """Write the names of the worst predicted pair and of those furthest from the diagonal near their points."""
    distance = np.nan_to_num(np.abs(at[:, 0] - at[:, 1]))
    furthest = [number for number in np.argsort(-distance, kind="stable")[:_FURTHEST] if distance[number] > 0]
    total = at.sum(axis=1)
    worst = [] if np.isnan(total).all() else [np.nanargmax(total)]
    paper = _Paper(ax, at)
    names = [_Name(paper, pairs[number], at[number]) for number in dict.fromkeys([*worst, *furthest])]
    free = sum(name.cost.min() for name in names)
    least, places = np.inf, []
    # Names find their places one after the other, in the order in which they cost least together.
    for order in permutations(names):
        cost = sum(name.settle(order[:number]) for number, name in enumerate(order))
        if cost < least:
            least, places = cost, [name.best for name in names]
        if least <= free:
            break
    for name, place in zip(names, places, strict=True):
        name.write(place)


class _Paper:
    """What names should not cover, in points on the paper."""

    def __init__(self, ax: "Axes", at: np.ndarray) -> None:
        self.ax = ax
        self.low, self.high = self.place(np.transpose([ax.get_xlim(), ax.get_ylim()]))
        # Thousands of points weigh no more than the paper they cover.
        self.points = np.unique(np.round(self.place(at[~np.isnan(at).any(axis=1)]) / 2), axis=0) * 2
        self.diagonal = self.low + np.linspace(0, 1, 40)[:, None] * (self.high - self.low)

    def place(self, at: np.ndarray) -> np.ndarray:
        """Data coordinates to points on the paper."""
        return self.ax.transData.transform(at) * 72 / self.ax.figure.dpi


class _Name:
    """One name: where it may stand, what each of these places costs, and the place that it has."""

    def __init__(self, paper: _Paper, name: str, at: np.ndarray) -> None:
        self.paper, self.name, self.at = paper, name, at
        measured = paper.ax.text(0, 0, name, fontsize=_SIZE, parse_math=False)
        extent = measured.get_window_extent()
        measured.remove()
        self.size = np.array([extent.width, extent.height]) * 72 / paper.ax.figure.dpi
        self.point = paper.place(at)
        self.low = self._candidates()
        self.high = self.low + self.size
        # A line leads from here to the point.
        self.end = np.clip(self.point, self.low, self.high)
        self.distance = np.hypot(*(self.end - self.point).T)
        self.around = self._covered(paper.points, 3 * _GAP)
        self.cost = self.distance + _ON_A_NAME * (self.distance < _GAP)
        self.cost += _ON_A_POINT * self._covered(paper.points, _GAP) + _NEAR_A_POINT * self.around
        self.cost += _ON_THE_DIAGONAL * self._covered(paper.diagonal, _GAP) + _THROUGH_A_POINT * self._pierced()
        self.best = 0

    def settle(self, others: "Sequence[_Name]") -> float:
        """Take the place that costs least as the others stand now; returned is what it costs."""
        cost = self.cost.copy()
        for other in others:
            low, high, end = other.low[other.best], other.high[other.best], other.end[other.best]
            cost += _ON_A_NAME * ((self.low - _GAP < high) & (low < self.high + _GAP)).all(axis=1)
            cost += _ON_A_LINE * self._covered(other.point + _STEPS * (end - other.point), _GAP)
            lines = self.point + _STEPS[:, None] * (self.end - self.point)
            cost += _ON_A_LINE * ((low < lines) & (lines < high)).all(axis=-1).sum(axis=0)
            cost += _ON_A_LINE * _cross(self.point, self.end, other.point, end)
        self.best = int(np.argmin(cost))
        return float(cost[self.best])

    def write(self, place: int) -> None:
        """Write the name, with a line to its point unless it stands right beside it and no other point does."""
        low, end = self.low[place], self.end[place]
        clear = self.distance[place] < 2 * _GAP and self.around[place] <= 1
        line = {"arrowstyle": "-", "color": "0.4", "linewidth": 0.7, "shrinkA": 0, "shrinkB": 2.5}
        self.paper.ax.annotate(
            self.name,
            (self.at[0], self.at[1]),
            tuple((low - self.paper.low) / (self.paper.high - self.paper.low)),
            textcoords="axes fraction",
            va="bottom",
            fontsize=_SIZE,
            parse_math=False,
            # An invisible box lets the line end at the name, not some way before.
            bbox={"pad": 0, "visible": False},
            arrowprops=None if clear else {**line, "relpos": tuple((end - low) / self.size)},
            zorder=4,
        ).set_in_layout(False)

    def _candidates(self) -> np.ndarray:
        """Low corners of the places: right of the point, left, above and below, then all over the axes."""
        low = self.paper.low + _GAP
        high = np.maximum(self.paper.high - _GAP - self.size, low)
        sides = np.array([[1, 0], [-1, 0], [0, 1], [0, -1]])
        beside = self.point - self.size / 2 + sides * (self.size / 2 + 1.2 * _GAP)
        steps = np.linspace(0, 1, 40)
        everywhere = low + np.stack(np.meshgrid(steps, steps), axis=-1).reshape(-1, 2) * (high - low)
        return np.concatenate([np.clip(beside, low, high), everywhere])

    def _covered(self, points: np.ndarray, margin: float) -> np.ndarray:
        """How many of these points each place covers, with a margin around the name."""
        over = (self.low - margin < points[:, None]) & (points[:, None] < self.high + margin)
        return over.all(axis=-1).sum(axis=0)

    def _pierced(self) -> np.ndarray:
        """How many other points the line from each place meets, of those nearby."""
        away = self.paper.points - self.point
        away = away[np.argsort(np.hypot(*away.T))[1:60], None]
        line = self.end - self.point
        along = np.clip((away * line).sum(axis=-1) / np.maximum(self.distance, 1e-9) ** 2, 0, 1)
        return (np.hypot(*np.moveaxis(away - along[..., None] * line, -1, 0)) < _GAP).sum(axis=0)


def _cross(a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray) -> np.ndarray:
    """Whether the segments from a to b and from c to d cross."""

    def left(p: np.ndarray, q: np.ndarray, r: np.ndarray) -> np.ndarray:
        u, v = q - p, r - p
        return u[..., 0] * v[..., 1] > u[..., 1] * v[..., 0]

    return (left(a, b, c) != left(a, b, d)) & (left(c, d, a) != left(c, d, b))
