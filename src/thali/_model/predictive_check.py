"""Shared parts of posterior predictive checks: simulated counts, tables, sentences."""

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._data.questions import ANSWER, MEMBER, MOST_SIMILAR, PAIR, TIED
from thali._posterior.posterior_interval import compute_discrete_interval, format_level
from thali.errors import ArgumentError

from .common_findings import MISFIT

if TYPE_CHECKING:
    import pandas


# Words for the rows of a check in sentences and pictures, one entry per kind of row


SIMILARITY = "similarity"  # other kinds are in `thali._data.questions`
ROWS = "rows"  # the key in `attrs` of a table


class CheckWords(NamedTuple):
    """The words in which one kind of check names its rows."""

    options: tuple[str, ...]  # the columns that name options
    picture_text: str  # plural noun for rows in a picture
    quantity: str  # label of the axis of a picture
    describe_row: Callable[[Any, Mapping[str, str]], str]  # (row, names of options) -> text
    observed_text: str = "each set was offered"  # subject of "fewer than 2 times on average"
    row_text: str = "observed proportions"  # plural noun for rows


def _describe_pair_or_tie(row: Any, names: Mapping[str, str]) -> str:
    """Format a row's outcome as "a and b tied" or, if a was chosen, "a over b"."""
    if row.tied:
        return f"{names[row.a]} and {names[row.b]} tied"
    return f"{names[row.a]} over {names[row.b]}"


_COMPARED = "each pair was compared"
CHECKED = {
    PAIR: CheckWords(
        ("a", "b"),
        "pairs",
        "proportion choosing the first option",
        lambda row, names: f"{names[row.a]} over {names[row.b]}",
        _COMPARED,
    ),
    TIED: CheckWords(
        ("a", "b"),
        "choices and ties of pairs",
        "proportion choosing the first option, or neither",
        _describe_pair_or_tie,
        _COMPARED,
    ),
    MOST_SIMILAR: CheckWords(
        ("a", "b"),
        "pairs",
        "proportion naming the pair as most similar",
        lambda row, names: f"{names[row.a]} and {names[row.b]}",
    ),
    MEMBER: CheckWords(
        ("alternative",),
        "members of sets",
        "proportion choosing the option",
        lambda row, names: f"{names[row.alternative]} out of {row.offered}",
    ),
    ANSWER: CheckWords(
        ("option",),
        "options",
        "proportion naming the option",
        lambda row, names: f"{names[row.option]} named the {row.named}",
    ),
    SIMILARITY: CheckWords(
        ("object", "other"),
        "pairs",
        "similarity",
        lambda row, names: f"{names[row.object]} and {names[row.other]}",
        _COMPARED,
        "observed similarities",
    ),
}


def get_check_words(table: "pandas.DataFrame") -> CheckWords:
    """Return the words for the rows of a check's table."""
    return CHECKED[table.attrs[ROWS]]


def list_checked_options(table: "pandas.DataFrame") -> list[str]:
    """Return the option labels in a check's table, in order of appearance."""
    return list(
        dict.fromkeys(label for name in get_check_words(table).options for label in table[name])
    )


# Maximum total of replicated counts; with more draws x pairs, evenly spaced draws are used,
MAX_REPLICATES = 20_000_000
# but not fewer than the tails of an interval require.
MIN_DRAWS = 100
# Discrepancies closer than this are equal up to rounding.
TIE = 1e-9
# Mean of n below which nearly every interval covers all possible proportions.
MIN_MEAN_COUNT = 2.0
MAX_NAMED = 5
_MISFIT = "Misfit"
# Numbers in memory: 16 MiB as float64.


def build_check_table(
    labels: "pandas.DataFrame",
    row_blocks: list[dict[Any, Any]],
    discrepancy: np.ndarray,
    row_kind: str,
    ci: float,
) -> "pandas.DataFrame":
    """Build the table of a predictive check, one row per checked proportion.

    `row_blocks` contain its columns in blocks of rows.
    """
    from thali._exportable_table import Table

    columns_by_name = {
        name: np.concatenate([block[name] for block in row_blocks]) for name in row_blocks[0]
    }
    frame = Table(labels.assign(**columns_by_name))
    frame["missed"] = (frame["observed"] < frame["low"]) | (frame["observed"] > frame["high"])
    expected_missed = float(frame.pop("outside").sum())
    frame = frame.sort_values("p_value", kind="stable", ignore_index=True)
    if float(frame["n"].to_numpy().mean()) >= MIN_MEAN_COUNT:
        observed, replicated = discrepancy
        # ties count half
        is_tied = np.isclose(replicated, observed, rtol=TIE, atol=0.0)
        p_value = float(np.mean(np.where(is_tied, 0.5, replicated > observed)))
    else:
        p_value = math.nan
    frame.attrs |= {
        "p_value": p_value,
        "interval": ci,
        "expected_missed": expected_missed,
        "draws": discrepancy.shape[1],
        ROWS: row_kind,
    }
    return frame


def describe_check(table: "pandas.DataFrame") -> str:
    """Return the sentence on misfit: overall p-value, number of missed rows, worst rows."""
    if not {"p_value", "interval", "expected_missed", "draws", ROWS} <= set(table.attrs):
        raise ArgumentError(
            "`table` lacks one of the attrs 'p_value', 'interval', 'expected_missed', 'draws' and"
            " 'rows'; pass the unchanged frame returned by the check."
        )
    words = get_check_words(table)
    if math.isnan(table.attrs["p_value"]):
        return (
            f"This check is uninformative: {words.observed_text} fewer than"
            f" {MIN_MEAN_COUNT:g} times on average, so almost every predictive interval covers"
            " every possible proportion. Collect more answers to each, or evaluate predictions of"
            " held-out choices (thali compare)."
        )
    missed_rows: Any = table[table["missed"]]
    expected = table.attrs["expected_missed"]
    chance_text = "fewer than 1"
    if expected >= 0.95:
        chance_text = f"about {expected:,.0f}"
    p_value = table.attrs["p_value"]
    resolution = 1 / table.attrs["draws"]
    verdict = "No misfit found"
    if max(p_value, resolution) < MISFIT:
        verdict = _MISFIT
    sentence = (
        f"{verdict} (posterior predictive {_format_p_value(p_value, resolution)})."
        f" {len(missed_rows):,} of {len(table):,} {words.row_text} fell outside the"
        f" {format_level(table.attrs['interval'])} predictive intervals ({chance_text} on average"
        " in simulated data)"
    )
    if len(missed_rows):
        name_of_option = {label: label for label in list_checked_options(table)}
        worst_rows: Any = missed_rows.head(MAX_NAMED).itertuples()
        texts = [
            describe_missed_row(row, words.describe_row(row, name_of_option)) for row in worst_rows
        ]
        selection = "Outside"
        if len(missed_rows) > MAX_NAMED:
            selection = "Worst"
        sentence += f". {selection}: {'; '.join(texts)}"
    elif verdict == _MISFIT:
        sentence += ": the misfit is spread over many of them"
    return f"{sentence}."


def describe_missed_row(row: Any, row_text: str) -> str:
    """Format "row (observed x, predicted low to high)" with digits that show the miss."""
    digits = 2
    while digits < 9 and f"{row.observed:.{digits}f}" in (
        f"{row.low:.{digits}f}",
        f"{row.high:.{digits}f}",
    ):
        digits += 1
    return (
        f"{row_text} (observed {row.observed:.{digits}f}, predicted {row.low:.{digits}f} to"
        f" {row.high:.{digits}f})"
    )


def _format_p_value(p_value: float, resolution: float) -> str:
    """Format "p = 0.03" or "p < 0.001", to the resolution that the draws allow."""
    smallest = max(0.001, resolution)
    largest = 1 - max(0.01, resolution)
    if p_value < smallest:
        return f"p < {smallest:.2g}"
    if p_value > largest:
        return f"p > {largest:.2g}"
    if p_value < 0.1:
        return f"p = {p_value:.3f}"
    return f"p = {p_value:.2f}"


def select_draws(n_draws: int, n_counts: int) -> np.ndarray:
    """Return indices of evenly spaced posterior draws for which data are simulated."""
    n_selected = min(max(MIN_DRAWS, MAX_REPLICATES // n_counts), n_draws)
    return np.arange(n_selected) * n_draws // n_selected


def compute_check_rows(
    x: np.ndarray, n: np.ndarray, p: np.ndarray, replicates: np.ndarray, ci: float
) -> dict[str, np.ndarray]:
    """Compute interval, p-value and other columns of a block of check rows.

    `x` and `n` are observed counts and totals, `replicates` simulated counts (rows, draws).
    """
    # quantiles are possible counts: values between counts cannot be observed
    low, high = compute_discrete_interval(replicates, ci, axis=1)
    twice_rank = 2 * (replicates < x).sum(axis=1) + (replicates == x).sum(axis=1)
    is_outside = (replicates < low[:, None]) | (replicates > high[:, None])
    n = n[:, 0]
    n_draws = replicates.shape[1]
    return {
        "n": n,
        "observed": x[:, 0] / n,
        "predicted": p.mean(axis=1),
        "low": low / n,
        "high": high / n,
        "p_value": np.minimum(twice_rank, 2 * n_draws - twice_rank) / n_draws,
        "outside": is_outside.mean(axis=1),
    }


def compute_discrepancy(x: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Return Pearson's chi-square Σ (x - E x)² / E x of each draw, shape (draws,)."""
    residual = x - expected
    # where the model is certain, equal data add 0 and other data infinity
    certain_terms = np.where(residual == 0, 0.0, np.inf)
    with np.errstate(over="ignore"):  # where the model is nearly certain
        return np.divide(residual**2, expected, out=certain_terms, where=expected > 0).sum(axis=0)
