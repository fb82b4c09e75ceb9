"""Leaderboards: options ranked by paired comparisons, with what is not known about their order."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from thali._arguments import one_of
from thali._labels import plural, shorten
from thali._printed import Printed
from thali.data.choices import Choices
from thali.data.connectivity import check_finite
from thali.data.kinds import PAIRS
from thali.data.pairs import PairedComparisons
from thali.errors import ArgumentError, DataError, Setting
from thali.inference.files import atomic_write
from thali.inference.progress import Progress
from thali.inference.seeds import streams
from thali.inference.warn import is_quiet
from thali.posterior.interval import INTERVAL, TAILS
from thali.posterior.view import Posterior

from .counted import as_pairs, of_frame

if TYPE_CHECKING:
    import pandas


# Groups of options that cannot be told apart --------------------------------------------------------------------------


CERTAIN = 0.95  # probability of an order from which on two options are told apart


def orders(rank: np.ndarray) -> np.ndarray:
    """The probability that the row stands above the column, from draws of ranks (draws, options) without ties."""
    draws, n = rank.shape
    rank = np.ascontiguousarray(rank.T, dtype=np.int32)
    found = np.zeros((n, n))
    for i in range(n - 1):
        found[i, i + 1 :] = np.count_nonzero(rank[i + 1 :] > rank[i], axis=1) / draws
    return found + np.tril(1.0 - found.T, -1)


def groups(order: np.ndarray) -> list[list[int]]:
    """Groups of options, the best first, so that two are in one group together if and only if no order is certain.

    Examples
    --------
    >>> groups(np.array([[0, 0.9, 0.99], [0.1, 0, 0.9], [0.01, 0.1, 0]]))
    [[0, 1], [1, 2]]
    """
    n = len(order)
    alike = np.maximum(order, order.T) < CERTAIN
    np.fill_diagonal(alike, True)
    covered = np.zeros((n, n), bool)
    found = []
    for i in range(n):
        for j in np.flatnonzero(alike[i, i:] & ~covered[i, i:]) + i:
            if covered[i, j]:
                continue
            members, room = [i, int(j)] if j > i else [i], alike[i] & alike[j]
            room[members] = False
            while room.any():  # the nearest to the two that is like all members
                candidates = np.flatnonzero(room)
                nearest = int(candidates[np.abs(2 * candidates - i - j).argmin()])
                members.append(nearest)
                room &= alike[nearest]
                room[nearest] = False
            covered[np.ix_(members, members)] = True
            found.append(sorted(members))
    return sorted(found)


def numbered(found: list[list[int]], n: int) -> list[str]:
    """For each option the numbers of its groups, from 1, such as "2-4, 7".

    Examples
    --------
    >>> numbered([[0, 1], [1, 2]], 3)
    ['1', '1-2', '2']
    """
    own: list[list[int]] = [[] for _ in range(n)]
    for number, members in enumerate(found, start=1):
        for member in members:
            own[member].append(number)
    return [", ".join(_runs(numbers)) for numbers in own]


def _runs(numbers: list[int]) -> list[str]:
    """Numbers in words, neighbours together."""
    begin = [k for k, number in enumerate(numbers) if k == 0 or numbers[k - 1] != number - 1]
    ends = [*(k - 1 for k in begin[1:]), len(numbers) - 1]
    return [str(numbers[a]) if a == b else f"{numbers[a]}-{numbers[b]}" for a, b in zip(begin, ends, strict=True)]


SCALE, CENTRE = 400.0, 1000.0  # of ratings: 400 points more are odds of 10 to 1, 1000 is the mean
METHODS = ("laplace", "mcmc", "maximum-likelihood")
TIES = ("davidson", "half", "drop")
DRAWS, _BLOCK = 4000, 500


@dataclass(frozen=True, repr=False, eq=False)
class Leaderboard(Printed):
    """A leaderboard; printed, it is `table` with a sentence.

    Attributes
    ----------
    table : pandas.DataFrame
        One row an option, the best first: `rank` (1 is the best, by the mean of the log worth) with the interval
        `rank_low` to `rank_high`; `group`, the numbers of the groups in which the option is: two options are in one
        group together if and only if neither is above the other with a probability of .95 or more; `rating` with its
        interval, 1000 + 400 log10(worth / geometric mean of the worths), so that 400 points more are odds of 10 to 1;
        `worth` with its interval (they sum to 1); `comparisons`, `wins`, `losses`, `ties`. Intervals hold 89 %.
    order : pandas.DataFrame, options by options
        The probability that the row is above the column.
    groups : tuple of tuples of str
        The members of each group, the best first.
    tie : float
        nu, the parameter of ties: two equal options end in a tie with probability nu / (2 + nu). NaN without ties.
    data : PairedComparisons
        What was counted, without those who answered.
    """

    order: "pandas.DataFrame"
    groups: tuple[tuple[str, ...], ...]
    tie: float
    data: PairedComparisons

    def save(self, path: Any) -> None:
        """Write the table to a file: CSV, or JSON with a row an object, by the end of its name.

        Parameters
        ----------
        path : str or path
            A file that exists is replaced.

        Raises
        ------
        DataError
            If the name ends in neither .csv nor .json, or the file cannot be written.
        """
        path = Path(path)
        kinds = {".csv": as_csv, ".json": as_json}
        if path.suffix.lower() not in kinds:
            raise DataError(f"'{path}' must end in .csv or .json, which says how the leaderboard is written.")
        atomic_write(path, kinds[path.suffix.lower()](self))


def as_csv(board: Leaderboard) -> bytes:
    """The table as CSV."""
    return board.table.to_csv(lineterminator="\n").encode()


def as_json(board: Leaderboard) -> bytes:
    """The table as JSON, a row an object."""
    text = str(board.table.reset_index().to_json(orient="records", indent=1, force_ascii=False))
    return f"{text}\n".encode()


def leaderboard(
    source: Any,
    ties: Literal["davidson", "half", "drop"] = "davidson",
    method: Literal["laplace", "mcmc", "maximum-likelihood"] = "laplace",
    random_seed: Any = 0,
    progressbar: bool = True,
    **columns: Any,
) -> Leaderboard:
    r"""Rank options by comparisons of two, with intervals of their ranks and the groups that cannot be told apart.

    .. math::
        P(i \text{ over } j) = \frac{w_i}{w_i + w_j + \nu \sqrt{w_i w_j}}, \qquad
        P(\text{tie}) = \frac{\nu \sqrt{w_i w_j}}{w_i + w_j + \nu \sqrt{w_i w_j}}

    Parameters
    ----------
    source : str, path, DataFrame, PairedComparisons or Choices
        A file (CSV, TSV, Excel or Parquet; large ones are read in batches, and only counts are kept), a data frame of
        pandas, polars or whatever has the Arrow interface, or data: the log of an arena (model_a, model_b, winner),
        winners and losers, results of games, a square of counts, and whatever else `thali fit` reads as pairs.
    ties : {"davidson", "half", "drop"}
        A tie is a third outcome whose odds are learned, half a win of either option, or nothing.
    method : {"laplace", "mcmc", "maximum-likelihood"}
        "laplace" and "mcmc": the posterior under Gamma(1, 1) priors of worths and nu, which keeps the worths of options
        that were never beaten, or never compared, finite; see `EliminationByAspects`. "maximum-likelihood": estimates
        without a prior, with the normal distribution that they have in large samples.
    random_seed : int, numpy.random.SeedSequence or numpy.random.Generator
        Of the draws from which ranks and intervals are computed.
    progressbar : bool
    **columns
        Names of columns that are not recognised, as `PairedComparisons.from_trials`, `from_results` and `from_frame`
        take them: first, second, chosen, rejected, count, losses, home, away, result, coding. `where`: conditions on
        the rows of a file or a data frame, as `read_table` takes them.

    Returns
    -------
    Leaderboard

    Raises
    ------
    ArgumentError
        If `ties` or `method` is another word, a condition cannot be read, or columns are named of data that have none.
    DataError
        If the source cannot be read as paired comparisons; if they have covariates, which a leaderboard does not
        control for; or if by maximum likelihood some worth is not finite.

    Warns
    -----
    DataWarning
        If comparisons do not connect all options, or rows that were counted say that they are practice.

    References
    ----------
    Bradley & Terry (1952); Davidson (1970), On extending the Bradley-Terry model to accommodate ties in paired
    comparison experiments.

    Examples
    --------
    >>> import pandas as pd, thali as th
    >>> rows = [("A", "B", "model_a"), ("A", "B", "tie"), ("B", "C", "model_a"), ("A", "C", "model_a")] * 9
    >>> board = th.leaderboard(pd.DataFrame(rows, columns=["model_a", "model_b", "winner"]))
    >>> board.table["group"].to_dict()
    {'A': '1', 'B': '2', 'C': '3'}
    """
    one_of("ties", ties, TIES)
    one_of("method", method, METHODS)
    return leaderboard_of(_comparisons(source, progressbar, columns), ties, method, random_seed, progressbar)


def leaderboard_of(source: Any, ties: str, method: str, random_seed: Any, progressbar: bool) -> Leaderboard:
    """The leaderboard of data, whatever `as_pairs` takes."""
    data = as_pairs(source, ties=True)
    data = data if ties == "davidson" else data.without_ties(ties)
    if method != "maximum-likelihood" and not is_quiet():
        data.warn_if_unusual()
    return _board(data, _drawn(data, method, random_seed, progressbar))


def _comparisons(source: Any, progressbar: bool, columns: dict[str, Any]) -> Any:
    """Whatever was given, as `leaderboard_of` takes it: files and data frames are read."""
    from thali.reading.recognise import check_names

    check_names(columns, PAIRS)
    if isinstance(source, str | Path):
        from thali.reading.counting import read_counts

        return read_counts(source, progressbar, **columns)[0]
    if isinstance(source, PairedComparisons | Choices | np.ndarray | list | tuple):
        if columns:
            raise ArgumentError(
                f"leaderboard has no argument {next(iter(columns))!r} for {type(source).__name__}; names of columns are"
                " for a file or a data frame."
            )
        return source
    return of_frame(source, **columns)


class _Drawn(NamedTuple):
    """What is known of the worths."""

    log_worths: np.ndarray  # (draws, options), the mean of each row 0
    nu: np.ndarray  # (draws,); empty if there are no ties
    estimate: np.ndarray | None  # (options,) log worths by maximum likelihood; None: the means of the draws


def _drawn(data: PairedComparisons, method: str, random_seed: Any, progressbar: bool) -> _Drawn:
    """The draws by that method."""
    if method == "mcmc":
        return _by_mcmc(data, random_seed, progressbar)
    from thali.aspects.bradley_terry import NormalWorths, density_of

    n, estimates = data.n_options, method == "maximum-likelihood"
    if estimates:
        beats = data.wins + data.tied > 0, data.losses + data.tied > 0
        winner = np.append(data.first[beats[0]], data.second[beats[1]])
        loser = np.append(data.second[beats[0]], data.first[beats[1]])
        check_finite(
            data.labels, winner, loser, ("set ", Setting("method", "laplace"), ", whose prior keeps it finite.")
        )
    normal = NormalWorths(density_of(data, 0.0, bool(data.n_ties), not estimates))
    (rng,) = streams(random_seed, 1)
    found = []
    with Progress(progressbar, "drawing", DRAWS, "draws") as progress:
        for begin in range(0, DRAWS, _BLOCK):
            found.append(normal.mode + normal.deviations(rng, _BLOCK) if estimates else normal.draws(rng, _BLOCK)[0])
            progress.update(begin + _BLOCK)
    points = np.concatenate(found)
    return _Drawn(points[:, :n], np.exp(points[:, n:]).ravel(), normal.mode[:n] if estimates else None)


def _by_mcmc(data: PairedComparisons, random_seed: Any, progressbar: bool) -> _Drawn:
    """The draws of the chains of the model."""
    from thali.aspects.models.elimination import EliminationByAspects

    model = EliminationByAspects("unique", lapse=0.0).fit(data, random_seed=random_seed, progressbar=progressbar)
    seen = Posterior(model.posterior_)
    log_worths = np.log(seen.draws["unique_weights"].values.reshape(-1, data.n_options))
    nu = np.zeros(0) if seen.tie is None else seen.tie
    return _Drawn(log_worths - log_worths.mean(axis=1, keepdims=True), nu, None)


def _board(data: PairedComparisons, drawn: _Drawn) -> Leaderboard:
    """The leaderboard that draws of log worths give."""
    import pandas as pd

    middle = drawn.log_worths.mean(axis=0) if drawn.estimate is None else drawn.estimate
    place = np.argsort(-middle, kind="stable")
    log_worths, middle, n = drawn.log_worths[:, place], middle[place], len(place)
    rank = np.argsort(np.argsort(-log_worths, axis=1, kind="stable"), axis=1) + 1
    order = orders(rank)
    found = groups(order)
    worth = _shares(log_worths)
    labels = pd.Index(np.array(data.labels, dtype=object)[place], name="option")
    low, high = np.quantile(rank, TAILS, axis=0, method="inverted_cdf").astype(int)
    columns: dict[str, Any] = {"rank": np.arange(1, n + 1), "rank_low": low, "rank_high": high}
    columns["group"] = numbered(found, n)
    columns["rating"] = CENTRE + SCALE / np.log(10.0) * middle
    low, high = CENTRE + SCALE / np.log(10.0) * np.quantile(log_worths, TAILS, axis=0)
    columns |= {"rating_low": low, "rating_high": high}
    columns["worth"] = worth.mean(axis=0) if drawn.estimate is None else _shares(middle)
    columns["worth_low"], columns["worth_high"] = np.quantile(worth, TAILS, axis=0)
    wins, losses, ties = _record(data)
    each = {"comparisons": wins + losses + ties, "wins": wins, "losses": losses, "ties": ties}
    columns |= {name: _whole(numbers[place]) for name, numbers in each.items()}
    nu = float(drawn.nu.mean()) if len(drawn.nu) else np.nan
    return Leaderboard(
        title=f"Leaderboard: {data}",
        table=pd.DataFrame(columns, index=labels),
        note=_note(data, wins + ties, losses + ties, nu),
        order=pd.DataFrame(order, labels, labels),
        groups=tuple(tuple(labels[members]) for members in found),
        tie=nu,
        data=data,
    )


def _shares(log_worths: np.ndarray) -> np.ndarray:
    """Worths that sum to 1 along the last axis."""
    worth = np.exp(log_worths - log_worths.max(axis=-1, keepdims=True))
    return worth / worth.sum(axis=-1, keepdims=True)


def _record(data: PairedComparisons) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """How often each option was chosen, rejected, and neither."""
    n = data.n_options

    def added(first: np.ndarray, second: np.ndarray) -> np.ndarray:
        return np.bincount(data.first, first, n) + np.bincount(data.second, second, n)

    return added(data.wins, data.losses), added(data.losses, data.wins), added(data.tied, data.tied)


def _whole(numbers: np.ndarray) -> np.ndarray:
    """Counts as integers, fractional ones as they are."""
    return numbers.astype(np.int64) if np.array_equal(numbers, np.floor(numbers)) else numbers


def _note(data: PairedComparisons, not_lost: np.ndarray, not_won: np.ndarray, nu: float) -> str:
    """What the numbers mean, and of whom the data say little."""
    sentences = [
        f"Intervals hold {INTERVAL:.0%}. Two options are in one group if neither is above the other with probability "
        f"{CERTAIN:g} or more. A rating of {SCALE:g} points more means odds of 10 to 1; {CENTRE:g} is the mean."
    ]
    if not np.isnan(nu):
        sentences.append(f"Two equal options end in a tie with probability {nu / (2 + nu):.3g}.")
    names = np.array(data.labels, dtype=object)
    for never, only in (("beaten", (not_won == 0) & (not_lost > 0)), ("chosen", (not_lost == 0) & (not_won > 0))):
        if only.any():
            were = "was" if only.sum() == 1 else "were"
            sentences.append(f"{shorten(names[only].tolist())} {were} never {never}: how far off, the prior tells.")
    if len(data.components()) > 1:
        sentences.append(
            f"The options fall into {plural(len(data.components()), 'group')} never compared with each other."
        )
    return " ".join(sentences)
