"""Scores of options from 0 to 100, as studies of best and worst report them; of groups and segments of people, too."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._inference.seeds import streams
from thali._labels import as_label, shorten
from thali._people.individuals import blocks_of_people
from thali._people.segments import Segments
from thali._posterior.interval import tails_of
from thali._posterior.view import Posterior
from thali.errors import Argument, ArgumentError

from ..draws.columns import columns_of
from .individuals import no_individuals, place_of, shares_of_people
from .kind import of_choices
from .options import utility_draws

if TYPE_CHECKING:
    import pandas

_FEW = 1e-300  # a worth of 0 has no logarithm
_LARGEST = 700.0  # logarithm of a number that is finite


class _Scale(NamedTuple):
    """What scores are on."""

    size: float  # options of a set
    none: int | None = None  # the option that stands for none of the others

    def scores(self, worth: np.ndarray) -> np.ndarray:
        """Scores of options (last axis) from their worths: see `scaled` and `anchored`."""
        return scaled(worth, self.size) if self.none is None else anchored(worth, self.size, self.none)

    def above(self, worth: np.ndarray) -> np.ndarray:
        """Whether each option is better than the one that stands for none; NaN without it."""
        if self.none is None:
            return np.full(worth.shape, np.nan)
        return (worth > worth[..., [self.none]]).astype(float)


class _Scores(NamedTuple):
    """Of one group."""

    mean: np.ndarray  # (options,)
    draws: np.ndarray  # (draws, options)
    above: np.ndarray  # (options,) the share who prefer each to the one that stands for none; NaN without it


def scaled(worth: np.ndarray, size: float) -> np.ndarray:
    r"""Scores of options (last axis) from their worths, which sum to 100; sets have so many options.

    .. math:: s_i = 100 \, p_i \Big/ \sum_j p_j, \qquad p_i = \frac{e^{z_i}}{e^{z_i} + a - 1}

    with the log worths z less their mean.
    """
    logs = np.log(np.maximum(worth, _FEW))
    p = _beside(logs - logs.mean(axis=-1, keepdims=True), size)
    return 100.0 * p / p.sum(axis=-1, keepdims=True)


def anchored(worth: np.ndarray, size: float, none: int) -> np.ndarray:
    """The same with the log worths less that of the option which stands for none, whose score is 100: 100 a p."""
    logs = np.log(np.maximum(worth, _FEW))
    return 100.0 * size * _beside(logs - logs[..., [none]], size)


def _beside(logs: np.ndarray, size: float) -> np.ndarray:
    """The probability of choosing an option out of a set whose others have a log worth of 0."""
    odds = np.exp(np.minimum(logs, _LARGEST))
    return odds / (odds + size - 1.0)


def scores_table(posterior: Posterior, by: Any, none: Any, random_seed: Any, ci: float) -> "pandas.DataFrame":
    """A row an option; of several groups, or of those `by` which people are grouped, a row a group and option."""
    at = None if none is None else place_of(none, posterior.labels)
    scale = _Scale(posterior.shown_size, at)
    if posterior.has_individuals:
        return _of_people(posterior, by, scale, random_seed, ci)
    if by is not None:
        raise no_individuals("by")
    if not posterior.groups:
        return _table({"": _of_one(of_choices(posterior, "scores"), scale)}, posterior.labels, scale, None, ci)
    each = {name: _of_one(of_choices(posterior.of_group(name), "scores"), scale) for name in posterior.groups}
    return _table(each, posterior.labels, scale, "group", ci)


def _of_one(posterior: Posterior, scale: _Scale) -> _Scores:
    """The scores of one group."""
    worth = utility_draws(columns_of(posterior))
    draws = scale.scores(worth)
    return _Scores(draws.mean(axis=0), draws, scale.above(worth).mean(axis=0))


def _of_people(posterior: Posterior, by: Any, scale: _Scale, random_seed: Any, ci: float) -> "pandas.DataFrame":
    """Means over people; in every draw they have the weights of a Bayesian bootstrap."""
    people, draws, n = posterior.groups, posterior.n_draws, posterior.n_options
    names, codes = _groups_of(by, people)
    weights = streams(random_seed, 1)[0].standard_gamma(1.0, (draws, len(people)))
    (means, above), drawn = np.zeros((2, len(names), n)), np.zeros((len(names), draws, n))
    for some in blocks_of_people(len(people), draws * n):
        shares = shares_of_people(posterior, some)
        scores, better = scale.scores(shares), scale.above(shares)
        for code in np.unique(codes[some]):
            own = codes[some] == code
            means[code] += scores[:, own].mean(axis=0).sum(axis=0)
            above[code] += better[:, own].mean(axis=0).sum(axis=0)
            drawn[code] += np.einsum("dp,dpi->di", weights[:, some][:, own], scores[:, own])
    for code in range(len(names)):
        own = codes == code
        means[code] /= own.sum()
        above[code] /= own.sum()
        drawn[code] /= weights[:, own].sum(axis=1, keepdims=True)
    each = {name: _Scores(means[code], drawn[code], above[code]) for code, name in enumerate(names)}
    of = None if by is None else "segment" if isinstance(by, Segments) else "group"
    return _table(each, posterior.labels, scale, of, ci)


def _groups_of(by: Any, people: tuple[str, ...]) -> tuple[list[Any], np.ndarray]:
    """The names of the groups, and of which everybody is."""
    import pandas as pd

    if by is None:
        return [""], np.zeros(len(people), np.int64)
    found = by.assignment["segment"] if isinstance(by, Segments) else by
    if not isinstance(found, Mapping | pd.Series):
        raise ArgumentError(
            Argument("by"),
            " must be the segments of the model, or map each respondent to a group (a mapping or a pandas.Series); got"
            f" {type(by).__name__}.",
        )
    told = {(as_label(person), group) for person, group in found.items()}
    group_of = dict(told)
    if len(group_of) < len(told):
        raise ArgumentError(Argument("by"), " assigns a respondent to two groups; assign each respondent to one group.")
    if missing := [person for person in people if person not in group_of]:
        raise ArgumentError(
            Argument("by"), f" has no group for {shorten(missing, 5)}; assign each respondent to a group."
        )
    codes, names = pd.factorize(pd.Series([group_of[person] for person in people]), sort=True)
    if (codes < 0).any():
        raise ArgumentError(
            Argument("by"), f" has no group for {people[int(np.flatnonzero(codes < 0)[0])]!r}; fill it in."
        )
    return list(names), codes


def _table(
    each: Mapping[Any, _Scores], labels: list[str], scale: _Scale, of: str | None, ci: float
) -> "pandas.DataFrame":
    """Means and intervals, a row an option, of each group."""
    import pandas as pd

    from thali._tables import Table

    index = pd.Index(labels, name="option")
    if of is not None:
        index = pd.MultiIndex.from_product([list(each), labels], names=[of, "option"])
    low, high = np.concatenate([np.quantile(found.draws, tails_of(ci), axis=0) for found in each.values()], axis=1)
    columns = {"score": np.concatenate([found.mean for found in each.values()]), "low": low, "high": high}
    if scale.none is not None:
        columns["above_none"] = np.concatenate([found.above for found in each.values()])
    table = Table(columns, index)
    table.attrs |= {"interval": ci, "set_size": scale.size}
    if scale.none is not None:
        table.attrs["none"] = labels[scale.none]
    return table
