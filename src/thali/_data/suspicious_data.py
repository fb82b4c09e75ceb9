"""Warnings and errors for data that are probably not as intended."""

import unicodedata
from collections.abc import Collection, Sequence
from itertools import compress, product
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._inference.user_warnings import warn
from thali._labels import choose_number, format_label, format_plural, shorten, simplify_number
from thali.errors import DataError, DataWarning, InPython, Message, Setting

from .column_roles import LOSSES, TASK, TIES, column_names, map_plain_names, simplify_name
from .number_checks import are_integers

if TYPE_CHECKING:
    import pandas as pd

    from .similarities import Similarities

_ROUNDING = 1e-9
_MAX_REPEATED_TASKS = 0.1  # share of repeated rows above which a column numbers something else
# labels used instead of an option
_NO_OPTION = ("-", "–", "—", "?", "none", "no answer", "keine", "keins", "aucun", "ninguno")
_TOTALS = tuple("total totals sum sums gesamt insgesamt summe somme suma mean mittelwert".split())
_MIN_PAIRS = 3  # pairs that must sum to 100 before a warning
_FAST_SHARE = 1 / 3  # of the usual time; surveys call faster respondents "speeders"


def explain_tie_label(label: str) -> str:
    """Return advice for an option label that means "tie"."""
    return (
        f"{label!r} seems to mean that neither option was chosen. Put the two options and the"
        " outcome into columns such as 'left', 'right' and 'chosen', or count ties in a column"
        " 'ties'; if it really is an option, rename it."
    )


def is_tie_label(label: str) -> bool:
    """Return whether a label is a word or sign for a tie."""
    return simplify_name(label) in TIES.sure or label.casefold() in _NO_OPTION


def refuse_ties(
    labels: Sequence[str], winner: np.ndarray, loser: np.ndarray, counts: np.ndarray
) -> None:
    """Raise DataError if an option named "tie" or the like only won or only lost.

    A real option rarely does so.
    """
    for k, label in enumerate(labels):
        if is_tie_label(label):
            n_won = counts[winner == k].sum()
            n_lost = counts[loser == k].sum()
            if bool(n_won) != bool(n_lost):
                n_won, n_lost = (
                    format_plural(simplify_number(times), "time") for times in (n_won, n_lost)
                )
                raise DataError(
                    f"{explain_tie_label(label)} {label!r} was chosen {n_won} and rejected"
                    f" {n_lost}."
                )


def find_speeders(frame: "pd.DataFrame", respondent: str, times: str) -> list[str]:
    """Return respondents whose median time is less than a third of the median respondent's."""
    import pandas as pd

    seconds: Any = pd.to_numeric(frame[times], errors="coerce")
    medians = seconds.groupby(frame[respondent], observed=True).median().dropna()
    is_fast = medians < _FAST_SHARE * medians.median()
    return list(map(format_label, medians.index[is_fast]))


def refuse_totals(labels: Sequence[str], counts: np.ndarray) -> None:
    """Raise DataError if a row and its column are the sums of the others.

    With three options this may be chance; then the diagonal must contain the total, too.
    """
    n = len(labels)
    if n < 3:
        return
    off_diagonal = counts.copy()
    np.fill_diagonal(off_diagonal, 0.0)
    are_sums = np.eye(n, dtype=bool), np.eye(n, dtype=bool)
    for axis, is_sum in enumerate(are_sums):
        totals = off_diagonal.sum(axis=axis, keepdims=True)
        is_sum |= np.isclose(2.0 * off_diagonal, totals, rtol=_ROUNDING, atol=0.0)
    is_sum_of_rows, is_sum_of_columns = are_sums
    for k in np.flatnonzero(is_sum_of_rows.all(axis=1) & is_sum_of_columns.all(axis=0)).tolist():
        row_total = off_diagonal[k].sum()
        if row_total and (n > 3 or np.isclose(counts[k, k], row_total, rtol=_ROUNDING)):
            raise DataError(
                f"Row and column {labels[k]!r} appear to be totals, not an option; remove both."
            )


def refuse_lone_totals(rows: Sequence[str], columns: Sequence[str], values: np.ndarray) -> None:
    """Raise DataError if rows or columns without counterpart are sums of the others."""
    is_shared_row = np.array([label in columns for label in rows])
    is_shared_column = np.array([label in rows for label in columns])
    inner_part = np.nan_to_num(values[np.ix_(is_shared_row, is_shared_column)])
    lower_part = values[np.ix_(~is_shared_row, is_shared_column)]
    right_part = values[np.ix_(is_shared_row, ~is_shared_column)]
    are_sums = (
        np.isclose(lower_part, inner_part.sum(axis=0)).all()
        and np.isclose(right_part, inner_part.sum(axis=1)[:, None]).all()
    )
    if inner_part.any() and are_sums:
        sum_labels = [*compress(rows, ~is_shared_row), *compress(columns, ~is_shared_column)]
        raise DataError(
            f"Some rows or columns appear to be totals, not options: {shorten(sum_labels)}. Remove"
            " them."
        )


def find_dropped_columns(frame: "pd.DataFrame", used_columns: set[Any]) -> str | None:
    """Return a sentence if unused columns seem to contain losses or ties; else None."""
    dropped_columns = [
        str(name)
        for name in frame.columns
        if name not in used_columns
        and simplify_name(str(name)) in (*LOSSES.sure, *TIES.sure)
        and any(format_label(value) not in ("", "0", "0.0") for value in frame[name].tolist())
    ]
    if not dropped_columns:
        return None
    return (
        "Columns not used although they seem to contain losses or ties:"
        f" {shorten(dropped_columns)}; put"
        " each loss into a separate row with the two options swapped."
    )


def find_percentages(wins: np.ndarray, losses: np.ndarray, tied: np.ndarray | float = 0.0) -> str:
    """Return a sentence if all pairs sum to 100 or 1, as shares do; else ""."""
    pair_sums = wins + losses + tied
    has_both = ((wins > 0) & (losses > 0)).any()
    for constant_sum, noun in ((100.0, "percentages"), (1.0, "proportions")):
        if (
            has_both
            and len(pair_sums) >= _MIN_PAIRS
            and np.allclose(pair_sums, constant_sum, rtol=1e-6, atol=0.0)
        ):
            subject = "The two numbers"
            if np.any(tied):
                subject = "The numbers"
            return (
                f"{subject} of each pair sum to {constant_sum:g}; if these are {noun}, give the"
                " counts instead, because the uncertainty depends on the number of comparisons."
            )
    return ""


def find_similar_labels(labels: Sequence[str], attribute: str | None = None) -> str | None:
    """Return a sentence if labels differ only in case, blanks or encoding; else None.

    `attribute`: the attribute whose levels have these labels; None: labels of options.
    """
    labels_by_spelling: dict[str, list[str]] = {}
    for label in labels:
        labels_by_spelling.setdefault(
            " ".join(unicodedata.normalize("NFKC", label).casefold().split()), []
        ).append(label)
    similar_groups = [group for group in labels_by_spelling.values() if len(group) > 1]
    if not similar_groups:
        return None
    remainder = ""
    if len(similar_groups) > 1:
        remainder = f", as do {len(similar_groups) - 1:,} more groups of labels"
    names = f"labels {shorten(similar_groups[0])}"
    noun = "option"
    if attribute is not None:
        names = f"levels {shorten(similar_groups[0])} of {attribute!r}"
        noun = "level"
    return (
        f"The {names} differ only in capitals or spaces{remainder}; they are treated as different,"
        f" so use one spelling for each {noun}."
    )


def find_total_labels(labels: Sequence[str]) -> str | None:
    """Return a sentence if an option is named like a total or mean; else None."""
    total_labels = [label for label in labels if simplify_name(label) in _TOTALS]
    if not total_labels:
        return None
    return (
        f"Treated as an option: {shorten(total_labels)}. If this is the sum or mean of other"
        " options, remove its rows."
    )


def find_repeated_tasks(
    frame: "pd.DataFrame", respondent: str, used_columns: Collection[str]
) -> str | None:
    """Return a sentence if a few tasks of a table of one answer per row are in it twice."""
    name_by_simplified = map_plain_names(column_names(frame))
    task = TASK.find_column(name_by_simplified, used_columns)
    if task is None:
        return None
    keys = frame[[respondent, task]]
    is_repeated = keys.duplicated() & keys.notna().all(axis=1)
    if not 0 < is_repeated.mean() <= _MAX_REPEATED_TASKS:
        return None
    person, number = map(format_label, keys.loc[is_repeated].iloc[0])
    remainder = ""
    if is_repeated.sum() > 1:
        remainder = f", as are {is_repeated.sum() - 1:,} more"
    return (
        f"Task {number!r} (column {task!r}) of respondent {person!r} occurs twice, the second"
        f" time in row {frame.index[is_repeated.argmax()]}{remainder}; all rows are used, so remove"
        " any that were entered by mistake."
    )


_CODES = (-1, -9, -99, -999, 99, 999, 9999)
_FAR = 5  # times the range of the other numbers


def refuse_missing_codes(columns: "pd.DataFrame", measures: str) -> None:
    """Raise DataError if a number such as -9 or 999, unlike all others, may mean no answer.

    `measures` are "levels", which are about equally frequent, "scores" or "similarities".
    """
    cells: Any
    for (name, cells), code in product(columns.items(), _CODES):
        if cells.dtype.kind not in "iuf" or not (is_code := cells == code).any():
            continue
        counts = cells[~is_code].value_counts()
        if len(counts) < 2 or (measures == "levels" and is_code.sum() >= counts.min()):
            continue
        numbers = counts.index.to_numpy(float)
        low, high = numbers.min(), numbers.max()
        if code > 0:
            is_unlike = code - high > _FAR * (high - low)
        elif code < -1:
            is_unlike = low >= 0
        else:
            is_unlike = low > -(measures == "scores") and are_integers(numbers)
        if is_unlike:
            raise DataError(
                f"Column {name!r} contains {code} in row {columns.index[is_code.argmax()]}, but"
                f" otherwise {low:g} to {high:g}. If it codes a missing answer, leave these rows"
                " out with ",
                Setting("where", f"{name!r} != {str(code)!r}"),
                "; if it is a number like the others, keep them with ",
                Setting("where", f"{name!r} >= {min(code, low):g}"),
                ".",
            )


def list_unusual_similarities(data: "Similarities", lowest_diagonal: bool) -> list[str | Message]:
    """Return sentences on similarities that the default priors do not suit."""
    similarities = data.values
    sentences: list[str | Message] = []
    if lowest_diagonal:
        sentences.append(
            Message(
                "The diagonal entry is the smallest of each row, as in a matrix of dissimilarities;"
                " if these are dissimilarities, ",
                InPython(
                    "use Similarities.from_dissimilarities.", "convert it to similarities first."
                ),
            )
        )
    if np.all(similarities == similarities[0]):
        subject = "The only similarity is"
        if len(similarities) > 1:
            subject = f"All {len(similarities):,} similarities are"
        sentences.append(
            f"{subject} {similarities[0]:g}, so the variance accounted for is undefined."
        )
    if (mean := similarities.mean()) < 0:
        sentences.append(
            Message(
                f"The mean similarity is {mean:.3g}, but the additive constant and the weights"
                " cannot be negative; add a constant to all similarities, or ",
                InPython(
                    "use Similarities.from_dissimilarities", "convert them to similarities first"
                ),
                " if these are dissimilarities.",
            )
        )
    if unmeasured_labels := data.never_judged:
        possessive = choose_number(len(unmeasured_labels), "its", "their")
        sentences.append(
            f"{shorten(unmeasured_labels)}: no similarity was measured, so {possessive} features"
            " depend only on the prior."
        )
    if similar_labels := find_similar_labels(data.labels):
        sentences.append(similar_labels)
    return sentences


def warn_each(*sentences: str | None) -> None:
    """Issue a DataWarning for each sentence; skip "" and None."""
    for sentence in filter(None, sentences):
        warn(DataWarning(sentence))
