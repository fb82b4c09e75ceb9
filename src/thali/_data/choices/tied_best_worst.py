"""Best and worst of three where answers may be ties, as in on-farm trials (tricot)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._labels import format_plural, index_labels

from ..column_readers import add_note, choose_labels, list_texts, read_counts, select_answered_rows
from ..column_roles import TIE_WORDS, find_no_answers, simplify_name
from ..respondent_answers import read_any_respondents
from .best_worst_tables import (
    UNANSWERED,
    BestWorstColumns,
    are_column_names,
    build_answer_error,
    check_two_marks,
    find_position,
    list_rows,
)
from .long_and_wide_tables import RawOccasions
from .rankings import ABSENT, Rankings, convert_rankings, count_empty

if TYPE_CHECKING:
    import pandas as pd

N_TRICOT = 3  # in larger sets, the options between best and worst have no known order
_TIED = -2  # position of an answer that names no option, because several are equal
_FIRST, _MIDDLE, _LAST = 1.0, 2.0, 3.0


def read_tied_answers(
    frame: "pd.DataFrame", columns: BestWorstColumns, labels: Any, weights: bool
) -> RawOccasions | None:
    """Read best-worst answers of three as rankings if some are ties; else return None."""
    if columns.worst is None or len(columns.options) != N_TRICOT:
        return None
    if not any(_find_ties(frame, columns)):
        return None
    frame = select_answered_rows(frame, (columns.best, columns.worst), columns.options)
    ranks = rank_three(frame, columns)
    option_rows = list_rows(frame, columns.options)
    option_labels = choose_labels(labels, [text for row in option_rows for text in row if text])
    label_indices = index_labels(option_labels)
    orders = []
    for row_ranks, row_options in zip(ranks, option_rows, strict=True):
        positions = np.argsort(row_ranks, kind="stable")[: np.isfinite(row_ranks).sum()]
        indices = [label_indices[row_options[position]] for position in positions]
        orders.append((np.array(indices, np.int64), row_ranks[positions]))
    row_respondents = read_any_respondents(frame, columns.respondent, columns.used)
    rankings = Rankings(
        option_labels,
        orders,
        lambda row_index: f"row {frame.index[row_index]}",
        read_counts(frame, columns.count, weights),
        row_respondents.names,
        row_respondents.number,
        row_respondents.people,
    )
    n_empty = count_empty(rankings, ABSENT)
    n_tied = sum(len({*row_ranks}) < len(row_ranks) for _, row_ranks in orders) - n_empty
    note = f"read as rankings, because {format_plural(n_tied + n_empty, 'answer')} have ties"
    if n_empty:
        note += f" ({format_plural(n_empty, 'answer')} where all options tie dropped)"
    add_note(note)
    return convert_rankings(rankings, ABSENT)


def _find_ties(frame: "pd.DataFrame", columns: BestWorstColumns) -> tuple[set[str], ...]:
    """Return the texts that mean a tie in the columns of the best and of the worst."""
    option_labels = {text for name in columns.options for text in list_texts(frame, name)}
    return tuple(
        {
            text
            for text in list_texts(frame, str(name))
            if simplify_name(text) in TIE_WORDS and text not in option_labels
        }
        for name in (columns.best, columns.worst)
    )


def rank_three(frame: "pd.DataFrame", columns: BestWorstColumns) -> np.ndarray:
    """Return ranks from the best and worst of three options, shape (n_rows, 3).

    Tied options share a rank. A rank is NaN for an option or row that is empty.
    """
    option_rows = list_rows(frame, columns.options)
    marked_columns = (columns.best, str(columns.worst))
    texts_by_column = []
    named_texts: list[str] = []
    named_rows: list[list[str]] = []
    ties_by_column = _find_ties(frame, columns)
    for name, tied_texts in zip(marked_columns, ties_by_column, strict=True):
        texts = list_texts(frame, name)
        no_answers = find_no_answers(texts, ())
        texts = ["" if text in no_answers else text for text in texts]
        texts_by_column.append(texts)
        for text, row_options in zip(texts, option_rows, strict=True):
            if text and text not in tied_texts:
                named_texts.append(text)
                named_rows.append(row_options)
    is_by_position = are_column_names([named_texts], named_rows, columns.options)
    ranks = np.full((len(frame), N_TRICOT), np.nan)
    for row_index, row_options in enumerate(option_rows):
        row_label = frame.index[row_index]
        positions = []
        for name, texts, tied_texts in zip(
            marked_columns, texts_by_column, ties_by_column, strict=True
        ):
            text = texts[row_index]
            position: int | None = _TIED
            if text not in tied_texts:
                position = find_position(text, row_options, columns.options, is_by_position)
            if position is None:
                raise build_answer_error(text, row_options, row_label, name)
            positions.append(position)
        best, worst = positions
        if UNANSWERED in positions:
            continue
        if best != _TIED:
            check_two_marks(positions, row_options, row_label)
        ranks[row_index] = np.where(np.array(row_options) != "", _MIDDLE, np.nan)
        if best != _TIED:
            ranks[row_index, best] = _FIRST
        if worst != _TIED:
            ranks[row_index, worst] = _LAST
    return ranks


def compute_mean_tau(ranks: np.ndarray, other_ranks: np.ndarray) -> tuple[float, int]:
    """Return Kendall's tau-b, averaged over the rows where it is defined, and their number.

    Rows have the weight of their number of pairs, as in gosset's `kendallTau`.
    """
    first, second = np.triu_indices(ranks.shape[1], 1)
    signs = np.sign(ranks[:, first] - ranks[:, second])
    other_signs = np.sign(other_ranks[:, first] - other_ranks[:, second])
    is_known = np.isfinite(signs) & np.isfinite(other_signs)
    signs, other_signs = (np.where(is_known, array, 0.0) for array in (signs, other_signs))
    scale = np.sqrt((signs**2).sum(axis=1) * (other_signs**2).sum(axis=1))
    is_defined = scale > 0
    if not is_defined.any():
        return np.nan, 0
    taus = (signs * other_signs).sum(axis=1)[is_defined] / scale[is_defined]
    return float(np.average(taus, weights=is_known[is_defined].sum(axis=1))), len(taus)


def describe_agreement(
    frame: "pd.DataFrame",
    trait: str,
    columns_by_trait: Mapping[str, tuple[str, str]],
    options: tuple[str, ...],
) -> str:
    """Return a clause with Kendall's tau between the answers on this and each other trait."""
    ranks_by_trait = {
        name: rank_three(frame, BestWorstColumns(best, worst, options, None, None))
        for name, (best, worst) in columns_by_trait.items()
    }
    clauses = []
    for name, other_ranks in ranks_by_trait.items():
        if name == trait:
            continue
        tau, n_rows = compute_mean_tau(ranks_by_trait[trait], other_ranks)
        clauses.append(f"{name} {tau:.2f} ({format_plural(n_rows, 'answer')})")
    return f"Kendall's tau of {trait} with other traits: {', '.join(clauses)}"
