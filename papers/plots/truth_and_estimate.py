"""Features with weights, and choice probabilities, as matrices: the truth beside its estimate."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from thali._plots._style import (
    COLOURS,
    GRID,
    build_owner_colormap,
    create_axes,
    measure_label_width,
    shorten_labels,
)

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

# Columns to the left of the first feature: the aspects that options have alone, and a gap.
_LEFT = 1.6
_BALANCED = "PuOr_r"  # pale in the middle, two hues that everybody can distinguish
_NARROWEST = 4  # least number of features with room, so that cells are not huge

# features (n, K), their weights (K,), unique weights (n,)
Weighted = tuple[np.ndarray, np.ndarray, np.ndarray]


def weighted_features(
    features: np.ndarray,
    weights: np.ndarray,
    unique_weights: np.ndarray,
    labels: Sequence[str],
    ax: "Axes | None" = None,
    width: int | None = None,
    heaviest: float | None = None,
    colorbar: bool = True,
) -> "Axes":
    """Draw which options own which features, shaded by weight.

    Rows are options, columns features, the weight of each above it; unique aspects are separate on
    the left.
    """
    n, k = features.shape
    room = max(k, 1) if width is None else width
    if heaviest is None:
        heaviest = max(weights.max(initial=0.0), unique_weights.max(initial=0.0))
    shown = shorten_labels(list(labels))
    if ax is None:
        (ax,) = create_axes(
            measure_label_width(shown) + 0.36 * (room + _LEFT) + 1.4, max(2.0, 0.24 * n + 0.9)
        )
    shades = build_owner_colormap()
    style = {"cmap": shades, "vmin": 0, "vmax": heaviest, "edgecolors": GRID, "linewidth": 0.8}
    rows = np.arange(n + 1)
    mesh = ax.pcolormesh([0.0, 1.0], rows, unique_weights[:, None], **style)
    if k:
        ax.pcolormesh(_LEFT + np.arange(k + 1), rows, np.where(features, weights, np.nan), **style)
    ax.axvline((1 + _LEFT) / 2, color="0.6", linewidth=0.8)
    ax.set(xlim=(0, _LEFT + room), ylim=(n, 0))
    ax.set_yticks(np.arange(n) + 0.5, shown, parse_math=False, fontsize=9)
    ax.set_xticks(
        [0.5, *(_LEFT + np.arange(k) + 0.5)],
        ["own", *(f"{weight:.1f}" for weight in weights)],
        fontsize=8,
    )
    ax.tick_params(length=0, top=False, bottom=False, labeltop=True, labelbottom=False)
    ax.spines[:].set_visible(False)
    if colorbar:
        ax.figure.colorbar(mesh, ax=ax, label="weight")
    return ax


def choice_matrix(
    probabilities: np.ndarray,
    labels: Sequence[str],
    ax: "Axes | None" = None,
    colorbar: bool = True,
) -> "Axes":
    """Draw the probability that each option is chosen over each other one."""
    n = len(labels)
    shown = shorten_labels(list(labels))
    if ax is None:
        side = max(2.0, 0.26 * n) + measure_label_width(shown)
        (ax,) = create_axes(side + 1.2 * colorbar, side)
    image = ax.imshow(probabilities, cmap=_BALANCED, vmin=0, vmax=1, interpolation="nearest")
    ax.set_yticks(np.arange(n), shown, parse_math=False, fontsize=8)
    ax.set_xticks(np.arange(n), shown, parse_math=False, fontsize=8, rotation=90)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    if colorbar:
        ax.figure.colorbar(image, ax=ax, label="probability, row over column", shrink=0.8)
    return ax


def features_and_choices(
    features: Weighted, matrices: Mapping[str, np.ndarray], labels: Sequence[str]
) -> "Sequence[Axes]":
    """Fig. 3: features beside choice matrices, each matrix with its title."""
    axes = create_axes(4.0 * (1 + len(matrices)), 3.4, 1, 1 + len(matrices))
    weighted_features(*features, labels, axes[0], max(_NARROWEST, len(features[1])))
    axes[0].set_title("features", fontsize=10)
    for ax, (title, matrix) in zip(axes[1:], matrices.items(), strict=True):
        choice_matrix(matrix, labels, ax, colorbar=ax is axes[-1])
        ax.set_title(title, fontsize=10)
    return axes


def features_above_each_other(
    rows: Mapping[str, Weighted], labels: Sequence[str]
) -> "Sequence[Axes]":
    """Fig. 5(a): the features of several models, cells of one size, shades of one scale."""
    width = max(_NARROWEST, *(len(weights) for _, weights, _ in rows.values()))
    heaviest = max(
        max(weights.max(initial=0.0), alone.max()) for _, weights, alone in rows.values()
    )
    axes = create_axes(2.6 + 0.36 * width, 2.6 * len(rows), len(rows), 1)
    for ax, (name, features) in zip(axes, rows.items(), strict=True):
        weighted_features(*features, labels, ax, width, heaviest, colorbar=False)
        ax.set_ylabel(name)
    axes[0].figure.colorbar(axes[0].collections[0], ax=axes, label="weight", shrink=0.4)
    return axes


def choice_matrices(
    rows: Sequence[Mapping[str, np.ndarray]], labels: Sequence[str]
) -> "Sequence[Axes]":
    """Fig. 5(b): rows of equally many choice matrices, each with its title."""
    columns = len(rows[0])
    axes = create_axes(0.8 + 2.2 * columns, 2.4 * len(rows), len(rows), columns)
    for ax, (title, matrix) in zip(
        axes, (item for row in rows for item in row.items()), strict=True
    ):
        choice_matrix(matrix, labels, ax, colorbar=False)
        ax.set_title(title, fontsize=9)
    axes[0].figure.colorbar(
        axes[0].images[0], ax=axes, label="probability, row over column", shrink=0.6
    )
    return axes


def by_level(
    mean: "pandas.DataFrame",
    error: "pandas.DataFrame",
    ylabel: str,
    truth: "pandas.Series | None" = None,
) -> "Axes":
    """Fig. 4: a score of each model (column) against comparisons a pair (index), with error bars.

    The dashed line is the score of the truth; without one a line at 0 is drawn.
    """
    (ax,) = create_axes(5.6, 3.8)
    if truth is None:
        ax.axhline(0.0, color="0.5", linewidth=1.0)
    else:
        ax.plot(truth.index, truth, color="0.5", linestyle="--", linewidth=1.0, label="truth")
    for number, (name, marker) in enumerate(zip(mean.columns, "os^D", strict=False)):
        aside = mean.index * 1.05 ** (number - (mean.shape[1] - 1) / 2)  # bars beside each other
        style = {
            "color": COLOURS[number],
            "marker": marker,
            "markersize": 4,
            "capsize": 2,
            "label": name,
        }
        ax.errorbar(aside, mean[name], error[name], **style)
    ax.set_xscale("log")
    ax.set_xticks(mean.index, mean.index.astype(str), rotation=90 if len(mean) > 6 else 0)
    ax.minorticks_off()
    ax.set(xlabel="comparisons of each pair", ylabel=ylabel)
    ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    return ax
