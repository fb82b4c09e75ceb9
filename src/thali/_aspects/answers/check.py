"""The posterior predictive check of paired comparisons, and what all checks share: rows, cells, replicates."""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._inference.seeds import streams
from thali._labels import plural
from thali._model.common_findings import MISFIT
from thali._posterior.interval import INTERVAL, TAILS
from thali.errors import ArgumentError, DataError

from ..draws.columns import Columns, columns_of
from ..draws.covariates import Lift, beta_of, cells_of, names_in
from ..draws.probabilities import BLOCK, probability_blocks, probability_draws

if TYPE_CHECKING:
    import pandas
    import xarray


# What a row of a check is of: the words for it in sentences and pictures, one entry a kind of row ---------------------


PAIR, TIED, MOST_SIMILAR = "pair", "pair with ties", "pair of triplets"
MEMBER, ANSWER, SIMILARITY = "member of a set", "option that is named", "similarity"
ROWS = "rows"  # the key in `attrs` of a table
EACH = "each"  # likewise: what its column group is, a group or a person


class Checked(NamedTuple):
    """The words for rows of one kind."""

    options: tuple[str, ...]  # the columns that name options
    met: str  # what was observed so often
    seen: str  # what a row is an instance of
    what: str  # rows, in a picture
    quantity: str  # what the axis of a picture is
    sentence: Callable[[Any, Mapping[str, str]], str]  # of a row, by the names of its options


def _two(between: str, after: str = "") -> Callable[[Any, Mapping[str, str]], str]:
    return lambda row, names: f"{names[row.a]}{between}{names[row.b]}{after}"


def _or_tied(row: Any, names: Mapping[str, str]) -> str:
    return (_two(" and ", " tied") if row.tied else _two(" over "))(row, names)


_COMPARED, _OFFERED, _PROPORTION = "pairs were compared", "sets were offered", "observed proportion"
CHECKED = {
    PAIR: Checked(
        ("a", "b"), _COMPARED, _PROPORTION, "pairs", "proportion in which the first was chosen", _two(" over ")
    ),
    TIED: Checked(
        ("a", "b"),
        _COMPARED,
        _PROPORTION,
        "choices and ties of pairs",
        "proportion in which the first, or neither, was chosen",
        _or_tied,
    ),
    MOST_SIMILAR: Checked(
        ("a", "b"),
        _OFFERED,
        _PROPORTION,
        "pairs",
        "proportion in which it was called the most similar",
        _two(" and "),
    ),
    MEMBER: Checked(
        ("alternative",),
        _OFFERED,
        _PROPORTION,
        "members of sets",
        "proportion in which it was chosen",
        lambda row, names: f"{names[row.alternative]} out of {row.offered}",
    ),
    ANSWER: Checked(
        ("option",),
        _OFFERED,
        _PROPORTION,
        "options",
        "proportion in which it was named",
        lambda row, names: f"{names[row.option]} named the {row.named}",
    ),
    SIMILARITY: Checked(
        ("object", "other"),
        _COMPARED,
        "observed similarity",
        "pairs",
        "similarity",
        lambda row, names: f"{names[row.object]} and {names[row.other]}",
    ),
}


def checked_in(table: "pandas.DataFrame") -> Checked:
    """The words for the rows of a check."""
    return CHECKED[table.attrs[ROWS]]


def options_in(table: "pandas.DataFrame") -> list[str]:
    """The labels of all options that its rows name, in the order in which they appear, column by column."""
    return list(dict.fromkeys(label for name in checked_in(table).options for label in table[name]))


# The cells of comparisons, whose replicates and probabilities are put together for pairs ------------------------------


class CellsToCheck(NamedTuple):
    """Cells of the same pair follow each other; without covariates a pair is one cell."""

    counts: np.ndarray  # (cells, outcomes) int64
    start: np.ndarray  # (pairs + 1,): pair p has the cells start[p] to start[p + 1] - 1
    first: np.ndarray  # (cells,) options
    second: np.ndarray
    columns: Columns  # of the draws that are replicated
    lift: Lift | None
    lapse: float

    @property
    def n(self) -> np.ndarray:
        """Comparisons in each cell."""
        return self.counts.sum(axis=1)

    def blocks(self) -> Iterator[tuple[slice, slice]]:
        """Slices over the pairs, and those of their cells, each of at most BLOCK replicates or of one pair."""
        most, pair = max(1, BLOCK // (self.columns.n_draws * (1 if self.counts.shape[1] == 2 else 3))), 0
        while pair < len(self.start) - 1:
            end = max(pair + 1, int(np.searchsorted(self.start, self.start[pair] + most, side="right")) - 1)
            yield slice(pair, end), slice(int(self.start[pair]), int(self.start[end]))
            pair = end

    def probabilities(self, cells: slice) -> np.ndarray:
        """p̃, array (cells, draws): with the draws last, blocks of pairs read one random stream in one order."""
        p = np.empty((cells.stop - cells.start, self.columns.n_draws))
        lift = None if self.lift is None else Lift(self.lift.beta, self.lift.x[cells])
        first, second = self.first[cells], self.second[cells]
        for draws, each, _ in probability_blocks(self.columns, first, second, self.lapse, lift):
            p[:, draws] = each.T
        return p

    def added(self, pairs: slice, values: np.ndarray) -> np.ndarray:
        """Sums over the cells of each pair."""
        start = self.start[pairs]
        return values if self.lift is None else np.add.reduceat(values, start - start[0], axis=0)

    def mean(self, pairs: slice, cells: slice, p: np.ndarray) -> np.ndarray:
        """Probabilities of pairs, from those of their cells."""
        if self.lift is None:
            return p
        n = self.n[cells].reshape(-1, *[1] * (p.ndim - 1))
        return self.added(pairs, n * p) / self.added(pairs, n)


def cells_to_check(tree: "xarray.DataTree", outcomes: int, columns: Columns, draws: np.ndarray) -> CellsToCheck:
    """The cells of a posterior of comparisons with whole counts, some of whose draws are replicated."""
    constant, cells = tree["constant_data"].to_dataset(), cells_of(tree)
    pair, sides = cells["pair"], ("wins", "losses") if outcomes == 2 else ("wins", "ties", "losses")
    return CellsToCheck(
        counts=np.stack([cells[name] for name in sides], axis=1).astype(np.int64),
        start=np.searchsorted(pair, np.arange(pair[-1] + 2)),
        first=constant["first"].values[pair],
        second=constant["second"].values[pair],
        columns=columns,
        lift=Lift(beta_of(tree)[draws], cells["x"]) if names_in(tree) else None,
        lapse=float(constant["lapse"]),
    )


def compared_draws(tree: "xarray.DataTree", pairs: np.ndarray) -> np.ndarray:
    """p̃ of some compared pairs in every draw (draws, pairs): the mean over the covariates of their comparisons."""
    constant, columns = tree["constant_data"].to_dataset(), columns_of(tree)
    first, second, lapse = constant["first"].values[pairs], constant["second"].values[pairs], float(constant["lapse"])
    if not names_in(tree):
        return probability_draws(columns, first, second, lapse)
    cells, beta, found = cells_of(tree), beta_of(tree), np.empty((columns.n_draws, len(pairs)))
    n = cells["wins"] + cells["ties"] + cells["losses"]
    for k, pair in enumerate(pairs):
        rows = np.flatnonzero(cells["pair"] == pair)
        a, b = np.full(len(rows), first[k]), np.full(len(rows), second[k])
        p = probability_draws(columns, a, b, lapse, Lift(beta, cells["x"][rows]))
        found[:, k] = p @ n[rows] / n[rows].sum()
    return found


# Counts replicated in all; of a posterior with more draws x pairs than this some draws are left out, evenly spaced,
MAX_REPLICATES = 20_000_000
# but not so many that the tails of an interval hold only a few of them.
MIN_DRAWS = 100
# Two discrepancies closer than this are equal but for the order in which their terms were added.
TIE = 1e-9
# Mean of n below which nearly every interval holds all proportions that could be observed.
MIN_MEAN_COUNT = 2.0
MAX_NAMED = 5


def pair_check_table(tree: "xarray.DataTree", random_seed: Any = None) -> "pandas.DataFrame":
    """Each observed proportion against replicates by the fitted model, Binomial(n, p̃), one for each draw of p̃.

    p_value = 2 min(P(x_rep < x) + P(x_rep = x)/2, P(x_rep > x) + P(x_rep = x)/2)
    """
    # The model has seen these very data and leans towards them, so p-values gather around one half where it is true
    # (Meng 1994), and a small one says more than its size. Of 200 data sets drawn from prior and model, the overall
    # p-value lay below .05 in .5 to 1.5 %, of pairs and of sets, and those of single rows in .1 to .6 %
    # (benchmarks/check_calibration.py).
    import pandas as pd

    constant = tree["constant_data"].to_dataset()
    labels = constant["option"].values
    first, second = constant["first"].values, constant["second"].values
    wins, losses = whole_counts(tree, labels[first], labels[second])
    number = len(cells_of(tree)["pair"])
    columns = columns_of(tree)
    draws = spaced_draws(columns.n_draws, number)
    cells = cells_to_check(tree, 2, spaced(columns, number), draws)
    n_of_cells, rng = cells.n, streams(random_seed, 1)[0]

    rows, discrepancy = [], np.zeros((2, len(draws)))
    for pairs, block in cells.blocks():
        x, n, p = wins[pairs, None], (wins + losses)[pairs, None], cells.probabilities(block)
        replicates = cells.added(pairs, rng.binomial(n_of_cells[block, None], p))
        p = cells.mean(pairs, block, p)
        rows.append(replicated_rows(x, n, p, replicates))
        discrepancy += [_discrepancy(x, n, p), _discrepancy(replicates, n, p)]
    named = pd.DataFrame({"a": labels[first].tolist(), "b": labels[second].tolist()})
    return finished_table(named, rows, discrepancy, PAIR)


def finished_table(
    named: "pandas.DataFrame", rows: list[dict[Any, Any]], discrepancy: np.ndarray, of: str
) -> "pandas.DataFrame":
    """What is checked, its numbers block by block, and the discrepancies, as a table of rows of that kind."""
    from thali._tables import Table

    table = {name: np.concatenate([block[name] for block in rows]) for name in rows[0]}
    frame = Table(named.assign(**table))
    frame["missed"] = (frame["observed"] < frame["low"]) | (frame["observed"] > frame["high"])
    expected = float(frame.pop("outside").sum())
    frame = frame.sort_values("p_value", kind="stable", ignore_index=True)
    p_value = _share_at_least(*discrepancy) if float(frame["n"].to_numpy().mean()) >= MIN_MEAN_COUNT else math.nan
    frame.attrs |= {"p_value": p_value, "interval": INTERVAL, "expected_missed": expected}
    frame.attrs |= {"draws": discrepancy.shape[1], ROWS: of}
    return frame


def check_sentence(table: "pandas.DataFrame") -> str:
    """How many observations the model misses, the worst of them, and whether it fits as a whole."""
    if not {"p_value", "interval", "expected_missed", "draws", ROWS} <= set(table.attrs):
        raise ArgumentError(
            "`table` lacks attrs 'p_value', 'interval', 'expected_missed', 'draws' or 'rows'; "
            "pass the frame that the check returned, unchanged"
        )
    of = checked_in(table)
    if math.isnan(table.attrs["p_value"]):
        by_each = f" by each {table.attrs[EACH]}" if EACH in table.attrs else ""
        return (
            f"The check says nothing here: {of.met}{by_each} fewer than {MIN_MEAN_COUNT:g} times on average, so that"
            " nearly every interval holds all proportions that could have been observed. Collect more choices of each,"
            " or ask how well choices left out are predicted (thali compare)."
        )
    missed = table[table["missed"]]
    expected = table.attrs["expected_missed"]
    by_chance = f"about {expected:,.0f}" if expected >= 0.95 else "fewer than 1"
    p_value, resolution = table.attrs["p_value"], 1 / table.attrs["draws"]
    found = "Misfit" if max(p_value, resolution) < MISFIT else "No misfit found"
    outside = (
        f"{len(missed):,} of {_plural(len(table), of.seen)} outside the {100 * table.attrs['interval']:g} % interval"
    )
    sentence = f"{found} ({_p(p_value, resolution)}): {outside} of the model's replicates ({by_chance} expected)"
    if len(missed):
        names = {label: label for label in options_in(table)}
        rows: Any = missed.head(MAX_NAMED).itertuples()
        whose = "group" in missed
        worst = "; ".join(f"{f'{row.group}: ' if whose else ''}{_named(row, of.sentence(row, names))}" for row in rows)
        sentence += f"{': ' if len(missed) <= MAX_NAMED else ', the worst being '}{worst}"
    return f"{sentence}."


def _plural(number: int, seen: str) -> str:
    return plural(number, seen) if number == 1 or not seen.endswith("y") else f"{number:,} {seen[:-1]}ies"


def _named(row: Any, name: str) -> str:
    """A missed pair, with as many digits as it takes to see that the observed proportion lies outside."""
    observed, low, high = row.observed, row.low, row.high
    end = low if observed < low else high
    digits = next((digits for digits in range(2, 9) if f"{observed:.{digits}f}" != f"{end:.{digits}f}"), 9)
    shown = f"observed {observed:.{digits}f}, predicted {low:.{digits}f} to {high:.{digits}f}"
    return f"{name} ({shown})"


def _p(p_value: float, resolution: float) -> str:
    """The p-value with the digits that its draws allow."""
    smallest, largest = max(0.001, resolution), 1 - max(0.01, resolution)
    if p_value < smallest:
        return f"p < {smallest:.2g}"
    return f"p > {largest:.2g}" if p_value > largest else f"p = {p_value:.{3 if p_value < 0.1 else 2}f}"


def whole_counts(tree: "xarray.DataTree", a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Times that each option of a pair was chosen, as integers."""
    observed = tree["observed_data"].to_dataset()
    wins, losses = observed["wins"].values, tree["constant_data"].dataset["losses"].values
    fractional = np.flatnonzero((wins != np.floor(wins)) | (losses != np.floor(losses)))
    if len(fractional):
        pair = fractional[0]
        raise DataError(
            f"The check needs whole numbers of comparisons, of which it draws replicates; {str(a[pair])!r} and"
            f" {str(b[pair])!r} have weights {wins[pair]:g} and {losses[pair]:g}. Fit unweighted counts to use it."
        )
    return wins.astype(np.int64), losses.astype(np.int64)


def spaced_draws(n_draws: int, n_counts: int) -> np.ndarray:
    """The numbers of the draws that are replicated."""
    wanted = min(max(MIN_DRAWS, MAX_REPLICATES // n_counts), n_draws)
    return np.arange(wanted) * n_draws // wanted


def spaced(columns: Columns, n_counts: int) -> Columns:
    """All draws, or evenly spaced ones if there would be too many replicates."""
    draws = spaced_draws(columns.n_draws, n_counts)
    if len(draws) == columns.n_draws:
        return columns
    kept = np.isin(columns.draw, draws)
    owners = columns.owners[np.repeat(kept, columns.sizes)]
    return Columns(
        columns.n_features[draws], columns.weights[kept], columns.sizes[kept], owners, columns.unique_weights[draws]
    )


def blocks(count: int, n_draws: int) -> Iterator[slice]:
    """Slices over the pairs, each of at most BLOCK replicates: an interval needs all replicates of its pair at once."""
    step = max(1, BLOCK // n_draws)
    for start in range(0, count, step):
        yield slice(start, min(start + step, count))


def replicated_rows(x: np.ndarray, n: np.ndarray, p: np.ndarray, replicates: np.ndarray) -> dict[str, np.ndarray]:
    """The numbers of the table for a block of pairs, and the share of replicates outside each interval."""
    # The smallest counts that reach the quantiles: between counts there is nothing to observe.
    low, high = np.quantile(replicates, TAILS, axis=1, method="inverted_cdf")
    below = 2 * (replicates < x).sum(axis=1) + (replicates == x).sum(axis=1)
    outside = (replicates < low[:, None]) | (replicates > high[:, None])
    n, draws = n[:, 0], replicates.shape[1]
    return {
        "n": n,
        "observed": x[:, 0] / n,
        "predicted": p.mean(axis=1),
        "low": low / n,
        "high": high / n,
        "p_value": np.minimum(below, 2 * draws - below) / draws,
        "outside": outside.mean(axis=1),
    }


def _discrepancy(x: np.ndarray, n: np.ndarray, p: np.ndarray) -> np.ndarray:
    """sum (x - n p)² / (n p (1 - p)) over the pairs, draw by draw."""
    return discrepancy_of(x, n * p, n * p * (1 - p))


def discrepancy_of(x: np.ndarray, mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """The sum of squared residuals over their variance, draw by draw."""
    residual = x - mean
    # Where the model is certain, data that agree add nothing, and data that do not are infinitely far.
    certain = np.where(residual == 0, 0.0, np.inf)
    return np.divide(residual**2, variance, out=certain, where=variance > 0).sum(axis=0)


def _share_at_least(observed: np.ndarray, replicated: np.ndarray) -> float:
    """Share of draws whose replicate is as far from the model as the data; ties count half."""
    tied = np.isclose(replicated, observed, rtol=TIE, atol=0.0)
    return float(np.mean(np.where(tied, 0.5, replicated > observed)))
