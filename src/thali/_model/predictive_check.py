"""What all posterior predictive checks share: the words for their rows, replicates, and the
sentence about them."""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._data.questions import ANSWER, MEMBER, MOST_SIMILAR, PAIR, TIED
from thali._posterior.interval import level_name, tails_of
from thali.errors import ArgumentError

from .common_findings import MISFIT

if TYPE_CHECKING:
    import pandas


# What a row of a check is of: the words for it in sentences and pictures, one entry a kind of row


SIMILARITY = "similarity"  # the others are of `thali._data.questions`
ROWS = "rows"  # the key in `attrs` of a table
EACH = "each"  # likewise: what its column group is, a group or a person


class CheckWords(NamedTuple):
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


_COMPARED, _OFFERED, _PROPORTION = (
    "pairs were compared",
    "sets were offered",
    "observed proportions",
)
CHECKED = {
    PAIR: CheckWords(
        ("a", "b"),
        _COMPARED,
        _PROPORTION,
        "pairs",
        "proportion choosing the first option",
        _two(" over "),
    ),
    TIED: CheckWords(
        ("a", "b"),
        _COMPARED,
        _PROPORTION,
        "choices and ties of pairs",
        "proportion choosing the first option, or neither",
        _or_tied,
    ),
    MOST_SIMILAR: CheckWords(
        ("a", "b"),
        _OFFERED,
        _PROPORTION,
        "pairs",
        "proportion naming the pair as most similar",
        _two(" and "),
    ),
    MEMBER: CheckWords(
        ("alternative",),
        _OFFERED,
        _PROPORTION,
        "members of sets",
        "proportion choosing the option",
        lambda row, names: f"{names[row.alternative]} out of {row.offered}",
    ),
    ANSWER: CheckWords(
        ("option",),
        _OFFERED,
        _PROPORTION,
        "options",
        "proportion naming the option",
        lambda row, names: f"{names[row.option]} named the {row.named}",
    ),
    SIMILARITY: CheckWords(
        ("object", "other"),
        _COMPARED,
        "observed similarities",
        "pairs",
        "similarity",
        lambda row, names: f"{names[row.object]} and {names[row.other]}",
    ),
}


def checked_in(table: "pandas.DataFrame") -> CheckWords:
    """The words for the rows of a check."""
    return CHECKED[table.attrs[ROWS]]


def options_in(table: "pandas.DataFrame") -> list[str]:
    """The labels of all options that its rows name, in the order in which they appear, column by
    column."""
    return list(dict.fromkeys(label for name in checked_in(table).options for label in table[name]))


# Counts replicated in all; of a posterior with more draws x pairs than this some draws are left
# out, evenly spaced,
MAX_REPLICATES = 20_000_000
# but not so many that the tails of an interval hold only a few of them.
MIN_DRAWS = 100
# Two discrepancies closer than this are equal but for the order in which their terms were added.
TIE = 1e-9
# Mean of n below which nearly every interval holds all proportions that could be observed.
MIN_MEAN_COUNT = 2.0
MAX_NAMED = 5
# Numbers held at once: 16 MiB as float64.
BLOCK = 2**21


def finished_table(
    named: "pandas.DataFrame",
    rows: list[dict[Any, Any]],
    discrepancy: np.ndarray,
    of: str,
    ci: float,
) -> "pandas.DataFrame":
    """What is checked, its numbers block by block, and the discrepancies, as a table of rows of
    that kind."""
    from thali._tables import Table

    table = {name: np.concatenate([block[name] for block in rows]) for name in rows[0]}
    frame = Table(named.assign(**table))
    frame["missed"] = (frame["observed"] < frame["low"]) | (frame["observed"] > frame["high"])
    expected = float(frame.pop("outside").sum())
    frame = frame.sort_values("p_value", kind="stable", ignore_index=True)
    p_value = (
        _share_at_least(*discrepancy)
        if float(frame["n"].to_numpy().mean()) >= MIN_MEAN_COUNT
        else math.nan
    )
    frame.attrs |= {"p_value": p_value, "interval": ci, "expected_missed": expected}
    frame.attrs |= {"draws": discrepancy.shape[1], ROWS: of}
    return frame


def check_sentence(table: "pandas.DataFrame") -> str:
    """How many observations the model misses, the worst of them, and whether it fits as a whole."""
    if not {"p_value", "interval", "expected_missed", "draws", ROWS} <= set(table.attrs):
        raise ArgumentError(
            "`table` lacks one of the attrs 'p_value', 'interval', 'expected_missed', 'draws' and"
            " 'rows'; pass the unchanged frame returned by the check."
        )
    of = checked_in(table)
    if math.isnan(table.attrs["p_value"]):
        by_each = f" by each {table.attrs[EACH]}" if EACH in table.attrs else ""
        return (
            f"This check is uninformative: {of.met}{by_each} fewer than {MIN_MEAN_COUNT:g} times"
            " on average, so almost every interval covers all proportions that could be observed."
            " Collect more choices per question, or test predictions of held-out choices (thali"
            " compare)."
        )
    missed = table[table["missed"]]
    expected = table.attrs["expected_missed"]
    by_chance = f"about {expected:,.0f}" if expected >= 0.95 else "fewer than 1"
    p_value, resolution = table.attrs["p_value"], 1 / table.attrs["draws"]
    found = "Misfit" if max(p_value, resolution) < MISFIT else "No misfit found"
    level = level_name(table.attrs["interval"])
    outside = f"{len(missed):,} of {len(table):,} {of.seen} fell outside the {level}"
    intervals = f"predictive intervals ({by_chance} on average in simulated data)"
    sentence = f"{found} ({_p(p_value, resolution)}): {outside} {intervals}"
    if len(missed):
        names = {label: label for label in options_in(table)}
        rows: Any = missed.head(MAX_NAMED).itertuples()
        whose = "group" in missed
        worst = "; ".join(
            f"{f'{row.group}, ' if whose else ''}{_named(row, of.sentence(row, names))}"
            for row in rows
        )
        sentence += f"{'. Outside: ' if len(missed) <= MAX_NAMED else '. Worst: '}{worst}"
    return f"{sentence}."


def _named(row: Any, name: str) -> str:
    """A missed pair, with as many digits as it takes to see that the observed proportion lies
    outside."""
    observed, low, high = row.observed, row.low, row.high
    end = low if observed < low else high
    digits = next(
        (digits for digits in range(2, 9) if f"{observed:.{digits}f}" != f"{end:.{digits}f}"), 9
    )
    shown = f"observed {observed:.{digits}f}, predicted {low:.{digits}f} to {high:.{digits}f}"
    return f"{name} ({shown})"


def _p(p_value: float, resolution: float) -> str:
    """The p-value with the digits that its draws allow."""
    smallest, largest = max(0.001, resolution), 1 - max(0.01, resolution)
    if p_value < smallest:
        return f"p < {smallest:.2g}"
    return (
        f"p > {largest:.2g}"
        if p_value > largest
        else f"p = {p_value:.{3 if p_value < 0.1 else 2}f}"
    )


def spaced_draws(n_draws: int, n_counts: int) -> np.ndarray:
    """The numbers of the draws that are replicated."""
    wanted = min(max(MIN_DRAWS, MAX_REPLICATES // n_counts), n_draws)
    return np.arange(wanted) * n_draws // wanted


def blocks(count: int, n_draws: int) -> Iterator[slice]:
    """Slices over the pairs, each of at most BLOCK replicates: an interval needs all replicates of
    its pair at once."""
    step = max(1, BLOCK // n_draws)
    for start in range(0, count, step):
        yield slice(start, min(start + step, count))


def replicated_rows(
    x: np.ndarray, n: np.ndarray, p: np.ndarray, replicates: np.ndarray, ci: float
) -> dict[str, np.ndarray]:
    """The numbers of the table for a block of pairs, and the share of replicates outside each
    interval."""
    # The smallest counts that reach the quantiles: between counts there is nothing to observe.
    low, high = np.quantile(replicates, tails_of(ci), axis=1, method="inverted_cdf")
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


def discrepancy_of(x: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Pearson's sum of (x - E x)² / E x over all outcomes, draw by draw."""
    residual = x - expected
    # Where the model is certain, data that agree add nothing, and data that do not are infinitely
    # far.
    certain = np.where(residual == 0, 0.0, np.inf)
    return np.divide(residual**2, expected, out=certain, where=expected > 0).sum(axis=0)


def _share_at_least(observed: np.ndarray, replicated: np.ndarray) -> float:
    """Share of draws whose replicate is as far from the model as the data; ties count half."""
    tied = np.isclose(replicated, observed, rtol=TIE, atol=0.0)
    return float(np.mean(np.where(tied, 0.5, replicated > observed)))


# The checks of several groups ---------------------------------------------------------------------


def group_check_table(tables: Mapping[str, Any], each: str) -> "pandas.DataFrame":
    """The checks of all groups, the worst first; the p-value is the smallest of a group times their
    number."""
    import pandas as pd

    from thali._tables import Table

    joined = pd.concat([table.assign(group=name) for name, table in tables.items()])
    joined.insert(0, "group", joined.pop("group"))
    found = Table(joined.sort_values("p_value", kind="stable", ignore_index=True))
    first = next(iter(tables.values())).attrs
    p_values = {name: float(table.attrs["p_value"]) for name, table in tables.items()}
    known = [p for p in p_values.values() if not math.isnan(p)]
    found.attrs = first | {
        "p_value": min(1.0, len(known) * min(known)) if known else math.nan,
        "p_values": p_values,
        EACH: each,
        "expected_missed": sum(table.attrs["expected_missed"] for table in tables.values()),
    }
    return found
