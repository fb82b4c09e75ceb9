"""Scores of options from 0 to 100, from draws of their worths."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._labels import format_label, shorten, suggest
from thali._posterior.posterior_interval import compute_interval
from thali.errors import Argument, ArgumentError

if TYPE_CHECKING:
    import pandas

_MIN_WORTH = 1e-300  # a worth of 0 has no logarithm


_LARGEST = 700.0  # logarithm of a number that is finite


class ScoreScale(NamedTuple):
    """Definition of scores: size of the reference set, and optional anchor option."""

    size: float  # options of a set
    none: int | None = None  # index of the anchor, the option "none of these"

    def compute_scores(self, worth: np.ndarray) -> np.ndarray:
        """Compute option scores from 0 to 100 from log worths (..., options)."""
        if self.none is None:
            return compute_sum_scaled_scores(worth, self.size)
        return compute_anchored_scores(worth, self.size, self.none)

    def is_above_anchor(self, worth: np.ndarray) -> np.ndarray:
        """Return whether each option beats the anchor, per draw; NaN without anchor."""
        if self.none is None:
            return np.full(worth.shape, np.nan)
        return (worth > worth[..., [self.none]]).astype(float)


class ScoreDraws(NamedTuple):
    """Score draws (draws, options) of one group, with means and P(better than anchor)."""

    mean: np.ndarray  # (options,)
    draws: np.ndarray  # (draws, options)
    # (options,) share that prefers the option to the anchor; NaN without it
    above: np.ndarray


def compute_sum_scaled_scores(worth: np.ndarray, size: float) -> np.ndarray:
    r"""Return scores that sum to 100 over options, from worths (..., options).

    Sets have a = `size` options.

    .. math:: s_i = 100 \, p_i \Big/ \sum_j p_j, \qquad p_i = \frac{e^{z_i}}{e^{z_i} + a - 1}

    with centred log worths z.
    """
    log_worths = np.log(np.maximum(worth, _MIN_WORTH))
    p = _compute_probability_in_set(log_worths - log_worths.mean(axis=-1, keepdims=True), size)
    return 100.0 * p / p.sum(axis=-1, keepdims=True)


def compute_anchored_scores(worth: np.ndarray, size: float, anchor_index: int) -> np.ndarray:
    """Return scores on which the anchor option has 100, from worths (..., options)."""
    log_worths = np.log(np.maximum(worth, _MIN_WORTH))
    return (
        100.0
        * size
        * _compute_probability_in_set(log_worths - log_worths[..., [anchor_index]], size)
    )


def _compute_probability_in_set(log_worths: np.ndarray, size: float) -> np.ndarray:
    """Return P(choice) from a set of `size` whose other options have log worth 0."""
    odds = np.exp(np.minimum(log_worths, _LARGEST))
    return odds / (odds + size - 1.0)


def score_draws(worth: np.ndarray, scale: ScoreScale) -> ScoreDraws:
    """Compute score draws of options from worth draws, shape (draws, options)."""
    draws = scale.compute_scores(worth)
    return ScoreDraws(draws.mean(axis=0), draws, scale.is_above_anchor(worth).mean(axis=0))


def tabulate_scores(
    scores_by_group: Mapping[Any, ScoreDraws],
    labels: list[str],
    scale: ScoreScale,
    level_name: str | None,
    ci: float,
) -> "pandas.DataFrame":
    """Tabulate mean scores and intervals, one row per group and option."""
    import pandas as pd

    from thali._exportable_table import Table

    index = pd.Index(labels, name="option")
    if level_name is not None:
        index = pd.MultiIndex.from_product(
            [list(scores_by_group), labels], names=[level_name, "option"]
        )
    low, high = np.concatenate(
        [compute_interval(scores.draws, ci) for scores in scores_by_group.values()],
        axis=1,
    )
    columns = {
        "score": np.concatenate([scores.mean for scores in scores_by_group.values()]),
        "low": low,
        "high": high,
    }
    if scale.none is not None:
        columns["above_none"] = np.concatenate(
            [scores.above for scores in scores_by_group.values()]
        )
    table = Table(columns, index)
    table.attrs |= {"interval": ci, "set_size": scale.size}
    if scale.none is not None:
        table.attrs["none"] = labels[scale.none]
    return table


def anchor_index(anchor: str | None, labels: Sequence[str]) -> int:
    """Return the index of the anchor option `anchor`; raise if it is unknown."""
    if (label := format_label(anchor)) not in labels:
        options_text = suggest(label, labels) or f" The options are {shorten(labels, 10)}."
        raise ArgumentError(Argument("none"), f": there is no option {label!r}.{options_text}")
    return list(labels).index(label)
