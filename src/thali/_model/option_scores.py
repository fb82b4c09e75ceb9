"""Scores of options from 0 to 100, from draws of their worths."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._labels import format_label, shorten, suggest
from thali._posterior.interval import tails_of
from thali.errors import Argument, ArgumentError

if TYPE_CHECKING:
    import pandas

_FEW = 1e-300  # a worth of 0 has no logarithm


_LARGEST = 700.0  # logarithm of a number that is finite


class ScoreScale(NamedTuple):
    """What scores are on."""

    size: float  # options of a set
    none: int | None = None  # the option that stands for none of the others

    def scores(self, worth: np.ndarray) -> np.ndarray:
        """Scores of options (last axis) from their worths: see `scaled` and `anchored`."""
        return (
            scaled(worth, self.size) if self.none is None else anchored(worth, self.size, self.none)
        )

    def above(self, worth: np.ndarray) -> np.ndarray:
        """Whether each option is better than the one that stands for none; NaN without it."""
        if self.none is None:
            return np.full(worth.shape, np.nan)
        return (worth > worth[..., [self.none]]).astype(float)


class ScoreDraws(NamedTuple):
    """Of one group."""

    mean: np.ndarray  # (options,)
    draws: np.ndarray  # (draws, options)
    # (options,) the share who prefer each to the one that stands for none; NaN without it
    above: np.ndarray


def scaled(worth: np.ndarray, size: float) -> np.ndarray:
    r"""Scores of options (last axis) from their worths, which sum to 100; sets have so many
    options.

    .. math:: s_i = 100 \, p_i \Big/ \sum_j p_j, \qquad p_i = \frac{e^{z_i}}{e^{z_i} + a - 1}

    with the log worths z less their mean.
    """
    logs = np.log(np.maximum(worth, _FEW))
    p = _beside(logs - logs.mean(axis=-1, keepdims=True), size)
    return 100.0 * p / p.sum(axis=-1, keepdims=True)


def anchored(worth: np.ndarray, size: float, none: int) -> np.ndarray:
    """The same with the log worths less that of the option which stands for none, whose score is
    100: 100 a p."""
    logs = np.log(np.maximum(worth, _FEW))
    return 100.0 * size * _beside(logs - logs[..., [none]], size)


def _beside(logs: np.ndarray, size: float) -> np.ndarray:
    """The probability of choosing an option out of a set whose others have a log worth of 0."""
    odds = np.exp(np.minimum(logs, _LARGEST))
    return odds / (odds + size - 1.0)


def scores_of_draws(worth: np.ndarray, scale: ScoreScale) -> ScoreDraws:
    """Return the scores of options from their worths (draws, options)."""
    draws = scale.scores(worth)
    return ScoreDraws(draws.mean(axis=0), draws, scale.above(worth).mean(axis=0))


def tabulate_scores(
    each: Mapping[Any, ScoreDraws], labels: list[str], scale: ScoreScale, of: str | None, ci: float
) -> "pandas.DataFrame":
    """Means and intervals, a row an option, of each group."""
    import pandas as pd

    from thali._tables import Table

    index = pd.Index(labels, name="option")
    if of is not None:
        index = pd.MultiIndex.from_product([list(each), labels], names=[of, "option"])
    low, high = np.concatenate(
        [np.quantile(found.draws, tails_of(ci), axis=0) for found in each.values()], axis=1
    )
    columns = {
        "score": np.concatenate([found.mean for found in each.values()]),
        "low": low,
        "high": high,
    }
    if scale.none is not None:
        columns["above_none"] = np.concatenate([found.above for found in each.values()])
    table = Table(columns, index)
    table.attrs |= {"interval": ci, "set_size": scale.size}
    if scale.none is not None:
        table.attrs["none"] = labels[scale.none]
    return table


def place_of(none: Any, labels: Sequence[str]) -> int:
    """The place of an option among the labels; others are refused."""
    if (label := format_label(none)) not in labels:
        known = suggest(label, labels) or f" The options are {shorten(labels, 10)}."
        raise ArgumentError(Argument("none"), f": there is no option {label!r}.{known}")
    return list(labels).index(label)
