"""Best and worst options where answers may be ties, as in on-farm trials (tricot)."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._labels import choose_number, format_plural

from ..column_readers import (
    add_note,
    list_labels,
    list_texts,
    note_omission,
    select_answered_rows,
)
from ..column_roles import TIE_WORDS, find_no_answers, simplify_name
from .best_worst_tables import (
    UNANSWERED,
    BestWorstColumns,
    find_positions,
    list_rows,
)
from .long_and_wide_tables import RawOccasions
from .rankings import (
    ABSENT,
    LONG,
    RankingColumns,
    convert_rankings,
    mark_empty,
    read_ranking_frame,
)

if TYPE_CHECKING:
    import pandas as pd

N_TRICOT = 3  # in larger sets, the options between best and worst are in unknown order
_TIED = -2  # position of an answer that names no option, because several are equal
_FIRST = 1.0
_MIDDLE = 2.0
_LAST = 3.0
_OPTION, _RANK, _ROW = "thali option", "thali rank", "thali row"  # names that no file contains


def read_tied_answers(
    frame: "pd.DataFrame", columns: BestWorstColumns, labels: Iterable[Any] | None, weights: bool
) -> RawOccasions | None:
    """Read best-worst answers as rankings if some are ties; else return None.

    Equal ranks mean an unknown order, also of the options between the best and the worst.
    """
    import pandas as pd

    if columns.worst is None or not any(_find_ties(frame, columns)):
        return None
    frame = select_answered_rows(frame, (columns.best, columns.worst), columns.options)
    ranks = rank_marked(frame, columns)
    others = frame.drop(columns=[columns.best, columns.worst, *columns.options])
    parts = [
        others.assign(**{_OPTION: frame[name], _RANK: ranks[:, k], _ROW: frame.index})
        for k, name in enumerate(columns.options)
    ]
    long_columns = RankingColumns(LONG, (_OPTION, _RANK), columns.respondent, _ROW, columns.count)
    long_frame = pd.concat(parts).dropna(subset=[_OPTION])
    rankings = read_ranking_frame(long_frame, long_columns, labels, weights, ABSENT)
    has_both_ends = (ranks == _FIRST).any(axis=1) & (ranks == _LAST).any(axis=1)
    n_tied = int((np.isfinite(ranks).any(axis=1) & ~has_both_ends).sum())
    verb = choose_number(n_tied, "has", "have")
    add_note(f"read as rankings, because {format_plural(n_tied, 'answer')} {verb} ties")
    if ranks.shape[1] > N_TRICOT:
        add_note("options between the best and the worst count as tied")
    note_omission(int(mark_empty(rankings, ABSENT).sum()), ["ties of all options"])
    return convert_rankings(rankings, ABSENT)


def _find_ties(frame: "pd.DataFrame", columns: BestWorstColumns) -> list[set[str]]:
    """Return the texts that mean a tie in the columns of the best and of the worst."""
    option_labels = list_labels(frame, columns.options)
    return [
        {text for text in list_texts(frame, str(name)) if simplify_name(text) in TIE_WORDS}
        - option_labels
        for name in (columns.best, columns.worst)
    ]


def rank_marked(frame: "pd.DataFrame", columns: BestWorstColumns) -> np.ndarray:
    """Return ranks from the best and worst options of sets, shape (n_rows, n_options).

    Tied options share a rank. A rank is NaN for an option or row that is empty.
    """
    option_rows = list_rows(frame, columns.options)
    marked_texts = []
    is_tied = []
    for name, tied_texts in zip(
        (columns.best, str(columns.worst)), _find_ties(frame, columns), strict=True
    ):
        texts = list_texts(frame, name)
        unnamed_texts = {*tied_texts, *find_no_answers(texts, ())}
        is_tied.append([text in tied_texts for text in texts])
        marked_texts.append(["" if text in unnamed_texts else text for text in texts])
    positions = find_positions(frame, columns, option_rows, marked_texts)
    positions[np.array(is_tied, bool).T] = _TIED
    ranks = np.where(np.array(option_rows, object) != "", _MIDDLE, np.nan)
    for mark, rank in enumerate((_FIRST, _LAST)):
        rows = np.flatnonzero(positions[:, mark] >= 0)
        ranks[rows, positions[rows, mark]] = rank
    ranks[(positions == UNANSWERED).any(axis=1)] = np.nan
    return ranks


def compute_mean_tau(ranks: np.ndarray, other_ranks: np.ndarray) -> tuple[float, int]:
    """Return Kendall's tau-b, averaged over the rows where it is defined, and their number.

    Rows have the weight of their number of pairs, as in gosset's `kendallTau`.
    """
    first, second = np.triu_indices(ranks.shape[1], 1)
    signs = np.sign(ranks[:, first] - ranks[:, second])
    other_signs = np.sign(other_ranks[:, first] - other_ranks[:, second])
    products = signs * other_signs
    is_known = np.isfinite(products)
    scale = np.sqrt(
        np.sum(signs**2, axis=1, where=is_known) * np.sum(other_signs**2, axis=1, where=is_known)
    )
    rows = np.flatnonzero(scale)
    if not len(rows):
        return np.nan, 0
    taus = np.nansum(products[rows], axis=1) / scale[rows]
    return float(np.average(taus, weights=is_known[rows].sum(axis=1))), len(rows)


def describe_agreement(
    frame: "pd.DataFrame",
    trait: str,
    columns_by_trait: Mapping[str, tuple[str, str]],
    options: tuple[str, ...],
) -> str:
    """Return a clause with Kendall's tau between the answers on this and each other trait."""
    ranks_by_trait = {
        name: rank_marked(frame, BestWorstColumns(best, worst, options, None, None))
        for name, (best, worst) in columns_by_trait.items()
    }
    ranks = ranks_by_trait.pop(trait)
    clauses = []
    for name, other_ranks in ranks_by_trait.items():
        tau, n_rows = compute_mean_tau(ranks, other_ranks)
        clauses.append(f"{name} {tau:.2f} ({format_plural(n_rows, 'answer')})")
    return f"Kendall's tau of {trait} with other traits: {', '.join(clauses)}"
