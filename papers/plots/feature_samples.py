"""Single draws of the feature matrix, side by side."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._aspects.draws.feature_columns import FeatureColumns, read_columns
from thali._inference.random_seeds import spawn_generators
from thali._plots._fonts import picture
from thali._plots._style import (
    GRID,
    build_owner_colormap,
    create_axes,
    measure_label_width,
    shorten_labels,
)
from thali._posterior.posterior_tree import Posterior
from thali.errors import ArgumentError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Room between the unique aspects and the first feature, in columns.
_GAP = 1.0
# With more options than this there is no room for a label each, nor for a column each.
_MAX_OPTIONS = 40


@picture()
def feature_samples(
    model: Any, axes: "Sequence[Axes] | None" = None, draws: int = 6, random_seed: Any = 0
) -> "list[Axes]":
    """Draw the feature matrices of randomly chosen draws from the posterior, shaded by weight.

    Rows are options. On the left are the unique aspects, a column each (above 40 options, one for
    all); then the features of the draw, the heaviest first. Only ratios of weights are identified,
    so they are shares of the largest weight of the draw; darker is larger. Many different matrices
    predict the same choices: compare the draws before you interpret one of them.

    For a fit to similarities weights are those of similarity, on one scale for all draws, and
    features of a single object, on which similarities do not depend, are left out.

    Parameters
    ----------
    model : fitted model
        Anything with `posterior_`.
    axes : sequence of matplotlib axes, optional
        Where to draw, one a draw (`draws` is then ignored); a new figure if None.
    draws : int >= 1
        How many draws to show; all of them if the posterior has fewer.
    random_seed : None, int, SeedSequence or Generator
        Chooses the draws.

    Returns
    -------
    list of matplotlib axes

    Raises
    ------
    ArgumentError
        `draws` is not a whole number of 1 or more, or there are no axes.

    References
    ----------
    Görür, Jäkel & Rasmussen (2006), Fig. 2.

    Examples
    --------
    >>> import thali as th
    >>> model = th.EliminationByAspects(alpha=1.0).fit(
    ...     th.datasets.paris_rome(expected=True),
    ...     draws=500,
    ...     tune=500,
    ...     random_seed=1,
    ...     progressbar=False,
    ... )
    >>> axes = feature_samples(model, draws=4)
    >>> [tick.get_text() for tick in axes[0].get_yticklabels()]
    ['P+', 'P', 'R', 'R+']
    """
    given = None if axes is None else list(np.ravel(axes))  # type: ignore[call-overload]
    wanted = draws if given is None else len(given)
    if isinstance(wanted, bool) or not isinstance(wanted, int | np.integer) or wanted < 1:
        raise ArgumentError(
            f"draws, or the number of axes, must be a whole number of 1 or more; got {wanted!r}."
        )
    posterior = Posterior(model.posterior_)
    unique, of_similarities = posterior.has_unique, posterior.facts.of_several
    columns = read_columns(posterior)
    (rng,) = spawn_generators(random_seed, 1)
    chosen = np.sort(rng.choice(columns.n_draws, size=min(wanted, columns.n_draws), replace=False))
    drawn_by = posterior.draws
    names = [
        f"draw {draw} of chain {chain}"
        for chain in drawn_by["chain"].values
        for draw in drawn_by["draw"].values
    ]

    n = columns.n_options
    own_columns = 0 if not unique else n if n <= _MAX_OPTIONS else 1
    matrices = [_matrix(columns, draw, 2 if of_similarities else 1) for draw in chosen.tolist()]
    if not (has_weights := posterior.sees_weights):
        matrices = [(owns, np.ones(len(weights))) for owns, weights in matrices]
    width = own_columns + _GAP * unique + max(1, *(len(weights) for _, weights in matrices))
    heaviest = [
        _largest(weights, columns.unique_weights[draw])
        for draw, (_, weights) in zip(chosen, matrices, strict=True)
    ]
    scales = [max(heaviest) if of_similarities else largest for largest in heaviest]
    labels = shorten_labels(posterior.labels)
    cell = min(0.24, 4 / n)
    if given is None:
        given = _new_axes(
            len(chosen),
            min(max(2.3, 0.24 * width), 3.4),
            cell * n + 0.6,
            measure_label_width(labels),
        )
    drawn = given[: len(chosen)]
    step = -(-n // _MAX_OPTIONS)
    noun = "shared feature" if of_similarities else posterior.facts.word
    for ax, draw, (owns, weights), scale in zip(
        drawn, chosen.tolist(), matrices, scales, strict=True
    ):
        own = columns.unique_weights[draw] if unique else np.empty(0)
        ax.set(xlim=(0, width), ylim=(n, 0))
        _draw_matrix(ax, owns, weights, own, scale, folded=n > _MAX_OPTIONS)
        count = len(weights)
        ax.set_title(f"{names[draw]}: {count} {noun}{'s' * (count != 1)}", fontsize=8, loc="left")
        ax.set_xticks([own_columns / 2] if unique else [], ["own"] if unique else [], fontsize=8)
        size = min(9.0, 60 * cell * step)
        ax.set_yticks(np.arange(0, n, step) + 0.5, labels[::step], parse_math=False, fontsize=size)
        ax.tick_params(length=0, labelleft=_is_leftmost(ax, drawn))
        ax.spines[:].set_visible(False)
    if has_weights:
        _add_colour_bar(
            drawn,
            *((scales[0], "weight") if of_similarities else (1.0, "weight / largest of the draw")),
        )
    return drawn


def _matrix(columns: FeatureColumns, draw: int, least: int) -> tuple[np.ndarray, np.ndarray]:
    """The features (option, feature) of a draw with at least this many owners, and their
    weights."""
    features, weights = columns.to_dense(draw, draw + 1)
    kept = features[0].sum(axis=1) >= least
    return features[0][kept].T, weights[0][kept]


def _largest(weights: np.ndarray, own: np.ndarray) -> float:
    return max(weights.max(initial=0.0), own.max(initial=0.0)) or 1.0


def _new_axes(number: int, width: float, height: float, for_labels: float) -> "list[Axes]":
    """Axes of this size in inches, up to three in a row, with room for labels on the left and a bar
    on the right."""
    across = 2 if number == 4 else min(number, 3)
    rows = -(-number // across)
    axes = create_axes(for_labels + across * width + 1.2, max(2.4, rows * height), rows, across)
    for ax in axes[number:]:
        ax.remove()
    return axes[:number]


def _draw_matrix(
    ax: "Axes", owns: np.ndarray, weights: np.ndarray, own: np.ndarray, scale: float, folded: bool
) -> None:
    """Draw the unique aspects, in one column if folded, and the features (option, feature) in the
    order of weight."""
    n, order = len(owns), np.argsort(-weights, kind="stable")
    blocks = [np.where(owns[:, order], weights[order], np.nan)]
    if len(own):
        blocks.insert(
            0, own[:, None] if folded else np.where(np.eye(n, dtype=bool), own[:, None], np.nan)
        )
    box = ax.get_window_extent()
    cell = min(box.width / np.ptp(ax.get_xlim()), box.height / n) * 72 / ax.figure.dpi
    outline = min(0.8, 0.08 * cell) if cell > 3 else 0.0
    style = {"vmin": 0.0, "vmax": 1.0, "edgecolors": GRID, "linewidth": outline}
    shades = build_owner_colormap()
    start = 0.0
    for block in blocks:
        edges = start + np.arange(block.shape[1] + 1)
        if block.shape[1]:
            ax.pcolormesh(edges, np.arange(n + 1), block / scale, cmap=shades, **style)
        start = edges[-1] + _GAP


def _is_leftmost(ax: "Axes", axes: "list[Axes]") -> bool:
    """Whether no other axes are to the left of these."""
    box = ax.get_position()
    boxes = [other.get_position() for other in axes]
    return not any(
        other.x1 <= box.x0 and other.y0 < box.y1 and box.y0 < other.y1 for other in boxes
    )


def _add_colour_bar(axes: "list[Axes]", largest: float, label: str) -> None:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    boxes = [ax.get_window_extent() for ax in axes]
    inches = (max(box.y1 for box in boxes) - min(box.y0 for box in boxes)) / axes[0].figure.dpi
    bar = ScalarMappable(Normalize(0, largest), build_owner_colormap())
    axes[0].figure.colorbar(bar, ax=axes, label=label, shrink=min(1.0, 4 / inches), fraction=0.06)
