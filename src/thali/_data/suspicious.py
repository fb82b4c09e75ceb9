"""What in data is surely wrong, or probably not what was meant."""

import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._inference.warn import warn
from thali._labels import as_label, plural, short_number, shorten
from thali.errors import DataError, DataWarning, InPython, Message

from .roles import LOSSES, TIES, plain

if TYPE_CHECKING:
    import pandas as pd

    from .similarities import Similarities

_ROUNDING = 1e-9
# in place of an option
_NOTHING = ("-", "–", "—", "?", "none", "no answer", "keine", "keins", "aucun", "ninguno")
_TOTALS = (
    "total",
    "totals",
    "sum",
    "sums",
    "gesamt",
    "insgesamt",
    "summe",
    "somme",
    "suma",
    "mean",
    "mittelwert",
)
_MIN_PAIRS = 3  # that sum to 100 before it is worth a word


def tie_sentence(label: str) -> str:
    """What to do where a label says that there was no winner."""
    return (
        f"{label!r} seems to mean that neither option was chosen. Put the two options and the"
        " outcome into columns such as 'left', 'right' and 'chosen', or count ties in a column"
        " 'ties'; if it really is an option, rename it."
    )


def is_tie(label: str) -> bool:
    """Whether a label is a word or a sign for a comparison without a winner."""
    return plain(label) in TIES.sure or label.casefold() in _NOTHING


def refuse_ties(
    labels: Sequence[str], winner: np.ndarray, loser: np.ndarray, counts: np.ndarray
) -> None:
    """Raise if an option that bears a word for a tie only ever won or only ever lost, as no option
    is known to."""
    for k, label in enumerate(labels):
        if is_tie(label):
            won, lost = counts[winner == k].sum(), counts[loser == k].sum()
            if bool(won) != bool(lost):
                won, lost = (plural(short_number(float(times)), "time") for times in (won, lost))
                raise DataError(
                    f"{tie_sentence(label)} {label!r} was chosen {won} and rejected {lost}."
                )


def refuse_totals(labels: Sequence[str], counts: np.ndarray) -> None:
    """Raise if a row and its column hold the sums of the others.

    Among three options that may be chance; then the total of all on the diagonal must say so, too.
    """
    n = len(labels)
    if n < 3:
        return
    others = counts.copy()
    np.fill_diagonal(others, 0.0)
    rows = np.isclose(2.0 * others, others.sum(axis=0)[None, :], rtol=_ROUNDING, atol=0.0)
    columns = np.isclose(2.0 * others, others.sum(axis=1)[:, None], rtol=_ROUNDING, atol=0.0)
    np.fill_diagonal(rows, True)
    np.fill_diagonal(columns, True)
    for k in np.flatnonzero(rows.all(axis=1) & columns.all(axis=0)).tolist():
        total = others[k].sum()
        if total and (n > 3 or np.isclose(counts[k, k], total, rtol=_ROUNDING)):
            raise DataError(
                f"Row and column {labels[k]!r} contain the sums of the other rows and columns"
                " instead of an option; remove both."
            )


def refuse_lone_totals(rows: Sequence[str], columns: Sequence[str], values: np.ndarray) -> None:
    """Raise if every row without a column, and every column without a row, holds the sums of the
    others."""
    shared_rows = np.array([label in columns for label in rows])
    shared_columns = np.array([label in rows for label in columns])
    inside = np.nan_to_num(values[np.ix_(shared_rows, shared_columns)])
    below = values[np.ix_(~shared_rows, shared_columns)]
    beside = values[np.ix_(shared_rows, ~shared_columns)]
    sums = (
        np.isclose(below, inside.sum(axis=0)).all()
        and np.isclose(beside, inside.sum(axis=1)[:, None]).all()
    )
    if inside.any() and sums:
        extra = [label for label, shared in zip(rows, shared_rows, strict=True) if not shared]
        extra += [
            label for label, shared in zip(columns, shared_columns, strict=True) if not shared
        ]
        raise DataError(
            f"Some rows or columns contain sums over the options: {shorten(extra)}. Remove the"
            " sums."
        )


def dropped_columns(frame: "pd.DataFrame", used: set[Any]) -> str | None:
    """A sentence if columns that are not read say how often an option lost, or that neither won."""
    dropped = [
        str(name)
        for name in frame.columns
        if name not in used
        and plain(str(name)) in (*LOSSES.sure, *TIES.sure)
        and any(as_label(value) not in ("", "0", "0.0") for value in frame[name].tolist())
    ]
    if not dropped:
        return None
    return (
        f"Columns not used although they seem to contain losses or ties: {shorten(dropped)}; put"
        " each loss into a separate row with the two options swapped."
    )


def percentages(wins: np.ndarray, losses: np.ndarray, tied: np.ndarray | float = 0.0) -> str | None:
    """A sentence if every pair sums to 100, as percentages do, or to 1, as proportions do."""
    total = wins + losses + tied
    mixed = ((wins > 0) & (losses > 0)).any()
    for whole, what in ((100.0, "percentages"), (1.0, "proportions")):
        if mixed and len(total) >= _MIN_PAIRS and np.allclose(total, whole, rtol=1e-6, atol=0.0):
            of = "The two numbers" if np.ndim(tied) == 0 or not np.any(tied) else "The numbers"
            return (
                f"{of} of every pair sum to {whole:g}; if these are {what}, give the counts"
                " instead, because the uncertainty depends on the number of comparisons."
            )
    return None


def alike_labels(labels: Sequence[str]) -> str | None:
    """A sentence if labels differ in nothing but capitals, blanks or the encoding of a letter."""
    groups: dict[str, list[str]] = {}
    for label in labels:
        groups.setdefault(
            " ".join(unicodedata.normalize("NFKC", label).casefold().split()), []
        ).append(label)
    alike = [group for group in groups.values() if len(group) > 1]
    if not alike:
        return None
    more = f", as do {len(alike) - 1:,} more groups of labels" if len(alike) > 1 else ""
    return (
        f"The labels {shorten(alike[0])} differ only in capitals or spaces{more}; they are treated"
        " as different, so use one spelling for each option."
    )


def totals_for_options(labels: Sequence[str]) -> str | None:
    """A sentence if an option is called as the sum of a table is."""
    called = [label for label in labels if plain(label) in _TOTALS]
    if not called:
        return None
    return (
        f"Treated as an option: {shorten(called)}. If this is the sum or mean of other options,"
        " remove its rows."
    )


def unusual_similarities(data: "Similarities", lowest_diagonal: bool) -> list[str | Message]:
    """A sentence for each thing that the default priors for similarities are not made for."""
    values = data.values
    found: list[str | Message] = []
    if lowest_diagonal:
        found.append(
            Message(
                "The diagonal is the smallest number in every row, as in a table of"
                " dissimilarities; if it is one, ",
                InPython(
                    "use Similarities.from_dissimilarities.", "convert it to similarities first."
                ),
            )
        )
    if np.all(values == values[0]):
        which = (
            f"All {len(values):,} similarities are" if len(values) > 1 else "The only similarity is"
        )
        found.append(f"{which} {values[0]:g}, so the variance accounted for is undefined.")
    if (mean := values.mean()) < 0:
        found.append(
            Message(
                f"The mean similarity is {mean:.3g}, but the additive constant and the weights"
                " cannot be negative; add a constant to all similarities, or ",
                InPython(
                    "use Similarities.from_dissimilarities", "convert them to similarities first"
                ),
                " if these are dissimilarities.",
            )
        )
    if alone := data.never_judged:
        whose = "its" if len(alone) == 1 else "their"
        found.append(
            f"{shorten(alone)}: no similarity was measured, so {whose} features depend only on the"
            " prior."
        )
    if alike := alike_labels(data.labels):
        found.append(alike)
    return found


def warn_of(*sentences: str | None) -> None:
    """Warn of what was found while data were made; None was not."""
    for sentence in sentences:
        if sentence is not None:
            warn(DataWarning(sentence))
