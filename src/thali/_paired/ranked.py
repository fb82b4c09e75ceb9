"""From draws of worths to a leaderboard: ranks, ratings, and groups of options that cannot be told
apart."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.checks import convert_whole_counts
from thali._data.choices import Choices
from thali._data.choices.choices import list_row_members
from thali._digits import format_probability
from thali._inference.numerics.ranks import sort_descending
from thali._labels import format_plural, list_names
from thali._posterior.certain_signs import CERTAIN
from thali._posterior.interval import describe_interval, interval_tails

from .board import Leaderboard
from .counted import Judgements
from .estimates import WorthEstimates
from .scale import SCALE, WorthScale

if TYPE_CHECKING:
    import pandas

# Groups of options that cannot be told apart ------------------------------------------------------


def orders(rank: np.ndarray) -> np.ndarray:
    """The probability that the row stands above the column, from draws of ranks (draws, options)
    without ties."""
    draws, n = rank.shape
    rank = np.ascontiguousarray(rank.T, dtype=np.int32)
    found = np.zeros((n, n))
    for i in range(n - 1):
        found[i, i + 1 :] = np.count_nonzero(rank[i + 1 :] > rank[i], axis=1) / draws
    return found + np.tril(1.0 - found.T, -1)


def groups(order: np.ndarray) -> list[list[int]]:
    """Groups of options, the best first, so that two are in one group together if and only if no
    order is certain.

    Examples
    --------
    >>> groups(np.array([[0, 0.9, 0.99], [0.1, 0, 0.9], [0.01, 0.1, 0]]))
    [[0, 1], [1, 2]]
    """
    n = len(order)
    alike = np.maximum(order, order.T) < CERTAIN
    np.fill_diagonal(alike, True)
    covered = [0] * n  # of each option those with which it shares a group, a bit each
    bits = [
        int.from_bytes(row.tobytes(), "little")
        for row in np.packbits(alike, axis=1, bitorder="little")
    ]
    found = []
    for i in range(n):
        for j in (np.flatnonzero(alike[i, i:]) + i).tolist():
            if covered[i] >> j & 1:
                continue
            members, room = sorted({i, j}), bits[i] & bits[j]
            candidates = np.flatnonzero(alike[i] & alike[j])
            for nearest in candidates[
                np.abs(2 * candidates - i - j).argsort(kind="stable")
            ].tolist():
                # the nearest to the two that is like all members
                if room >> nearest & 1 and nearest not in (i, j):
                    members.append(nearest)
                    room &= bits[nearest]
            together = sum(1 << member for member in members)
            for member in members:
                covered[member] |= together
            found.append(sorted(members))
    return sorted(found)


def numbered(found: list[list[int]], n: int) -> list[str]:
    """For each option the numbers of its groups, from 1, such as "2-4, 7".

    Examples
    --------
    >>> numbered([[0, 1], [1, 2]], 3)
    ['1', '1-2', '2']
    """
    number = np.repeat(np.arange(1, len(found) + 1), [len(members) for members in found])
    member = np.concatenate(found)
    own = np.split(
        number[np.argsort(member, kind="stable")], np.cumsum(np.bincount(member, minlength=n))[:-1]
    )
    return [", ".join(_runs(numbers)) for numbers in own]


def _runs(numbers: np.ndarray) -> list[str]:
    """Numbers in words, neighbours together."""
    begin = np.flatnonzero(np.diff(numbers, prepend=-1) > 1)
    ends = numbers[np.append(begin[1:], len(numbers)) - 1].tolist()
    return [
        str(a) if a == b else f"{a}-{b}" for a, b in zip(numbers[begin].tolist(), ends, strict=True)
    ]


# The table ----------------------------------------------------------------------------------------


def board_of(data: Judgements, drawn: WorthEstimates, scale: WorthScale, ci: float) -> Leaderboard:
    """The leaderboard that draws of log worths give."""
    import pandas as pd

    log_worths, middle = (
        scale.anchored(each, data.labels) for each in (drawn.log_worths, drawn.middle)
    )
    place = sort_descending(drawn.modes)
    log_worths, middle, n = log_worths[:, place], middle[place], len(place)
    rank = np.argsort(np.argsort(-log_worths, axis=1, kind="stable"), axis=1) + 1
    order = orders(rank)
    found = groups(order)
    worth = _shares(log_worths)
    names = np.array(data.labels, dtype=object)[place]
    labels = pd.Index(names, name="option")
    tails = interval_tails(ci)
    low, high = np.quantile(rank, tails, axis=0, method="inverted_cdf").astype(int)
    columns: dict[str, Any] = {"rank": np.arange(1, n + 1), "rank_low": low, "rank_high": high}
    columns["p_1"] = (rank == 1).mean(axis=0)
    columns["tier"] = numbered(found, n)
    columns["rating"] = scale.ratings(middle)
    low, high = scale.ratings(np.quantile(log_worths, tails, axis=0))
    columns |= {"rating_low": low, "rating_high": high}
    if drawn.without is not None:
        columns["rank_without"] = (np.argsort(sort_descending(drawn.without.modes)) + 1)[place]
        columns["rating_without"] = scale.ratings(
            scale.anchored(drawn.without.middle, data.labels)[place]
        )
    columns["worth"] = worth.mean(axis=0) if drawn.estimate is None else _shares(middle)
    columns["worth_low"], columns["worth_high"] = np.quantile(worth, tails, axis=0)
    wins, losses, ties = _record(data)
    each = {"comparisons": wins + losses + ties, "wins": wins, "losses": losses, "ties": ties}
    columns |= {name: convert_whole_counts(numbers[place]) for name, numbers in each.items()}
    nu = float(drawn.nu.mean()) if len(drawn.nu) else np.nan
    seen = drawn.seen
    stands = "" if seen is not None and seen.in_time is not None else scale.sentence
    note = _note(data, wins + ties, losses + ties, nu, stands, ci)
    return Leaderboard(
        title=f"Leaderboard: {data}",
        table=pd.DataFrame(columns, index=labels),
        note=note if seen is None else f"{note} {seen.note}",
        order=pd.DataFrame(order, labels, labels),
        groups=tuple(tuple(names[members].tolist()) for members in found),
        tie=nu,
        data=data,
        effects=_effects(data, drawn, ci),
        people=drawn.people,
        of_judges=None if seen is None else seen.judges,
        in_time=None if seen is None else seen.in_time,
        of_chains=drawn.of_chains,
        ci=ci,
    )


def _effects(data: Judgements, drawn: WorthEstimates, ci: float) -> "pandas.DataFrame | None":
    """The coefficients of covariates with their intervals; None without covariates."""
    import pandas as pd

    if data.covariates is None:
        return None
    low, high = np.quantile(drawn.beta, interval_tails(ci), axis=0)
    names = pd.Index(data.covariates.names, name="covariate")
    return pd.DataFrame({"effect": drawn.effects, "low": low, "high": high}, index=names)


def _shares(log_worths: np.ndarray) -> np.ndarray:
    """Worths that sum to 1 along the last axis."""
    worth = np.exp(log_worths - log_worths.max(axis=-1, keepdims=True))
    return worth / worth.sum(axis=-1, keepdims=True)


def _record(data: Judgements) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """How often each option was chosen, rejected, and neither; of best and worst, whether it was
    one of these."""
    n = data.n_options
    if isinstance(data, Choices):
        row, place = list_row_members(data)
        chosen = np.bincount(data.members[place], data.times[row] * data.are_chosen(row, place), n)
        others = np.bincount(data.members[place], data.times[row], n) - chosen
        worst = (
            others if data.worst is None else np.bincount(data.members[data.worst], data.times, n)
        )
        return chosen, worst, others - worst

    def added(first: np.ndarray, second: np.ndarray) -> np.ndarray:
        return np.bincount(data.first, first, n) + np.bincount(data.second, second, n)

    return added(data.wins, data.losses), added(data.losses, data.wins), added(data.tied, data.tied)


def _note(
    data: Judgements, not_lost: np.ndarray, not_won: np.ndarray, nu: float, scale: str, ci: float
) -> str:
    """What the numbers mean, and of whom the data say little."""
    sentences = [
        f"Intervals are central {describe_interval(ci)}s. Two options share a tier if neither"
        " ranks"
        f" higher than the other with probability ≥ {CERTAIN:g}. A difference of {SCALE:g} rating"
        " points means odds of 10 to 1" + (f"; {scale}." if scale else ".")
    ]
    if not np.isnan(nu):
        sentences.append(
            f"Two equal options tie with probability {format_probability(nu / (2 + nu))}."
        )
    names = np.array(data.labels, dtype=object)
    for never, only in (
        ("beaten", (not_won == 0) & (not_lost > 0)),
        ("chosen", (not_lost == 0) & (not_won > 0)),
    ):
        if only.any():
            were = "was" if only.sum() == 1 else "were"
            sentences.append(
                f"{list_names(names[only].tolist())} {were} never {never}, so the size of the gap"
                " depends on the prior."
            )
    if len(data.components()) > 1:
        sentences.append(
            f"The options form {format_plural(len(data.components()), 'group')} that were never"
            " compared with each other."
        )
    return " ".join(sentences)
