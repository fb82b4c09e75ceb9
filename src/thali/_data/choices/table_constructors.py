"""Constructors of `Choices` from tables, and counting of equal choices."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._argument_checks import check_allowed, is_list
from thali._inference.index_arithmetic import find_first, part_bounds
from thali._labels import format_plural, shorten
from thali.errors import DataError

from ..base_classes import build_from_fields
from ..column_readers import add_note, convert_frame
from ..suspicious_data import find_similar_labels, find_total_labels, warn_each
from .best_worst_tables import (
    find_best_columns,
    find_best_worst_columns,
    find_long_columns,
    read_best_worst_occasions,
    widen_table,
)
from .long_and_wide_tables import RawOccasions, read_wide_occasions
from .rankings import (
    ABSENT,
    SHAPES,
    WORSE,
    convert_rankings,
    describe_rankings,
    note_empty,
    read_ranking_frame,
    read_ranking_list,
    require_ranking_columns,
)
from .tied_best_worst import read_tied_answers

if TYPE_CHECKING:
    import pandas as pd

    from .choices import Choices

Arrays = tuple[Any, ...]  # start, members, respondent, choice, times, worst, n_tied


def from_frame(
    cls: "type[Choices]", frame: "pd.DataFrame", *columns: str | None, **keywords: Any
) -> "Choices":
    """Read choices from a long table, like `Choices(frame, ...)`.

    Examples
    --------
    >>> import pandas as pd, thali as th
    >>> frame = pd.DataFrame({"id": [1, 1], "item": ["tea", "milk"], "y": [0, 1]})
    >>> th.Choices.from_frame(frame, choice_id="id").counts
    array([0., 1.])
    """
    return cls(frame, *columns, **keywords)


def from_wide(
    cls: "type[Choices]",
    frame: "pd.DataFrame",
    chosen: str | None = None,
    alternatives: Sequence[str] | None = None,
    available: Mapping[Any, str] | None = None,
    respondent: str | None = None,
    count: str | None = None,
    *,
    labels: Iterable[Any] | None = None,
    weights: bool = False,
) -> "Choices":
    """Read choices from a wide table, one row per occasion.

    Parameters
    ----------
    frame : DataFrame
    chosen : str, optional
        Column with the label of the chosen alternative. None: the column "chosen" or "choice".
    alternatives : sequence of str, optional
        Columns with the labels of the alternatives that were offered; an empty cell is none.
    available : mapping from label to str, optional
        For each alternative the column with 1 where it was offered. If neither this nor
        `alternatives` is given, all options were offered every time.
    respondent, count, labels, weights
        As in `Choices`.

    Returns
    -------
    Choices

    Raises
    ------
    DataError
        As `Choices`.

    Examples
    --------
    >>> import pandas as pd, thali as th
    >>> frame = pd.DataFrame({"choice": ["car", "bus", "bus"], "car_av": [1, 0, 1]}).assign(
    ...     bus_av=1, walk_av=1
    ... )
    >>> th.Choices.from_wide(
    ...     frame, available={"car": "car_av", "bus": "bus_av", "walk": "walk_av"}
    ... ).sets
    [('bus', 'walk'), ('car', 'bus', 'walk')]
    """
    other_columns = {"respondent": respondent, "count": count}
    occasions = read_wide_occasions(
        frame, chosen, alternatives, available, other_columns, labels, weights
    )
    return build_from_fields(cls, *build_choice_fields(occasions))


def from_rankings(
    cls: "type[Choices]",
    rankings: Any,
    layout: str | None = None,
    option: str | None = None,
    rank: str | None = None,
    respondent: str | None = None,
    count: str | None = None,
    *,
    unranked: str = "absent",
    labels: Iterable[Any] | None = None,
    weights: bool = False,
) -> "Choices":
    """Convert rankings to choices: the best of all, the best of the rest, and so on.

    The last option of a ranking is not a choice.

    Parameters
    ----------
    rankings : DataFrame, or list of lists of labels
        A list of rankings, the best option first, each a list or a text such as "a > b = c"; or a
        table. Options that tie are a list within the list, or share a rank.
    layout : {"ranks", "options", "long", "text"}, optional
        For a table: one column per rank, with the option there (rank1, rank2; 1st, 2nd; first
        choice), or tied options ("b = c"); one column per option, with its rank, 1 for the
        best, and nothing or 0 if it has none; a row for each option of a ranking; or a text column
        with entries such as "a > b = c". None: recognised.
    option, rank, respondent, count : str, optional
        Columns of the option and of its rank in a long table; of who ranked; of how many such
        rankings there were. None: recognised. Every row of a table that is not long is somebody of
        their own, unless rows are counted.
    unranked : {"absent", "worse"}
        Meaning of options that a ranking does not name: not offered, as in a race where others
        ran; or offered and worse than all named options, as in a list of the three best.
    labels, weights
        As in `Choices`.

    Returns
    -------
    Choices

    Raises
    ------
    DataError
        If no column contains rankings, an option is named twice, or none comes before another.

    References
    ----------
    Plackett (1975), The analysis of permutations: with unique aspects these choices make his model.

    Examples
    --------
    >>> import thali as th
    >>> data = th.Choices.from_rankings([["tea", "milk", "water"], ["milk", "water", "tea"]])
    >>> data
    Choices(3 options, 3 sets of 2 to 3 options, 4 choices, 2 respondents)
    >>> th.Choices.from_rankings(["tea = milk > water", "water > milk = tea"])
    Choices(3 options, 2 sets of 3 options, 2 choices (1 tie), 2 respondents)
    """
    named_columns = {"option": option, "rank": rank, "respondent": respondent, "count": count}
    return read_rankings(cls, rankings, layout, named_columns, unranked, labels, weights)[0]


def read_rankings(
    cls: "type[Choices]",
    rankings: Any,
    layout: str | None,
    named_columns: Mapping[str, str | None],
    unranked: str = "absent",
    labels: Iterable[Any] | None = None,
    weights: bool = False,
) -> "tuple[Choices, str]":
    """Convert rankings to `Choices`; also return a sentence on how they were read."""
    check_allowed("unranked", unranked, (ABSENT, WORSE))
    check_allowed("layout", layout, (None, *SHAPES))
    if hasattr(rankings, "columns") or hasattr(rankings, "__arrow_c_stream__"):
        rankings = convert_frame(rankings)
    else:
        if not is_list(rankings):
            raise DataError(
                f"`rankings` must be a DataFrame or a list of lists; got {type(rankings).__name__}."
            )
        occasions = convert_rankings(read_ranking_list(rankings, labels), unranked)
        return build_from_fields(cls, *build_choice_fields(occasions)), ""
    columns = require_ranking_columns(rankings, layout, named_columns, unranked)
    table_rankings = read_ranking_frame(rankings, columns, labels, weights, unranked)
    note_empty(table_rankings, unranked)
    data = build_from_fields(cls, *build_choice_fields(convert_rankings(table_rankings, unranked)))
    return data, describe_rankings(table_rankings, columns, unranked)


def from_best_worst(
    cls: "type[Choices]",
    frame: "pd.DataFrame",
    best: str | None = None,
    worst: str | None = None,
    options: Sequence[str] | None = None,
    respondent: str | None = None,
    count: str | None = None,
    *,
    labels: Iterable[Any] | None = None,
    weights: bool = False,
) -> "Choices":
    """Read choices of the best and worst option of a set (MaxDiff), or of the best only.

    Parameters
    ----------
    frame : DataFrame
        One row per set; or one row per option of a set, named in columns such as task and item,
        with 1 in the column of the best and of the worst.
    best, worst : str, optional
        Columns with the label of the option, or the name, letter or number of its column.
        None: recognised by their names (best, most; worst, least); of sets of three or more in a
        row each, `worst` may be absent. If an answer is "tie", all answers are read as rankings
        in which the options that are neither the best nor the worst tie.
    options : sequence of str, optional
        Columns of the offered options. None: recognised as a series such as option_a, option_b,
        option_c.
    respondent, count, labels, weights
        As in `Choices`.

    Returns
    -------
    Choices

    Raises
    ------
    DataError
        If a column is lacking, or the best of a row is its worst or not in it.

    Examples
    --------
    >>> import pandas as pd, thali as th
    >>> rows = {
    ...     "item1": ["tea"],
    ...     "item2": ["milk"],
    ...     "item3": ["water"],
    ...     "best": ["milk"],
    ...     "worst": ["tea"],
    ... }
    >>> th.Choices.from_best_worst(pd.DataFrame(rows)).example()
    "'milk' chosen as best and 'tea' as worst from 'tea', 'milk' and 'water': 1 of 1 times"
    """
    frame = convert_frame(frame)
    named_columns = {"best": best, "worst": worst, "respondent": respondent, "count": count}
    columns = marked_columns = None
    if options is None:
        marked_columns = find_long_columns(frame, named_columns)
    if options is None and worst is None:
        columns = next(iter(find_best_columns(frame, named_columns)), None)
    if columns is None and marked_columns is not None:
        frame, columns = widen_table(frame, marked_columns)
    if columns is None:
        columns = find_best_worst_columns(frame, named_columns, options)
    occasions = read_tied_answers(frame, columns, labels, weights)
    if occasions is None:
        occasions = read_best_worst_occasions(frame, columns, labels, weights)
    return build_from_fields(cls, *build_choice_fields(occasions))


def build_choice_fields(rows: RawOccasions) -> tuple[Any, ...]:
    """Check choice occasions, count equal ones, and return the fields of `Choices`.

    Raise a DataError for fewer than two options.
    """
    if len(rows.labels) < 2:
        raise DataError(
            f"A choice requires at least two options; got {shorten(rows.labels) or 'none'}."
        )
    *choice_arrays, n_tied = aggregate_occasions(rows)
    warn_each(find_similar_labels(rows.labels), find_total_labels(rows.labels))
    respondents = rows.respondents
    return rows.labels, respondents.names, *choice_arrays, respondents.people, n_tied


def aggregate_occasions(rows: RawOccasions) -> Arrays:
    """Check each choice occasion, then count choices by respondent and set."""
    sort_order = np.lexsort((rows.alternative, rows.occasion))
    occasion = rows.occasion[sort_order]
    alternative = rows.alternative[sort_order]
    is_chosen = rows.chosen[sort_order]
    row_counts = rows.count[sort_order]
    is_available = np.ones(len(sort_order), bool)
    if rows.available is not None:
        is_available = rows.available[sort_order]
    is_repeated = (np.diff(occasion) == 0) & (np.diff(alternative) == 0)
    if (k := find_first(is_repeated)) is not None:
        raise DataError(
            f"{rows.labels[alternative[k]]!r} is listed twice in {rows.name(occasion[k])}; list it"
            " once."
        )
    if (k := find_first(is_chosen & ~is_available)) is not None:
        raise DataError(
            f"{rows.labels[alternative[k]]!r} was chosen in {rows.name(occasion[k])}, but was not"
            " available; correct one of the two columns."
        )
    n_occasions = int(occasion[-1]) + 1
    is_single = np.bincount(occasion[is_available], minlength=n_occasions) < 2
    if is_single.all():
        raise DataError(
            f"There is only one alternative in {rows.name(0)}, so nothing was chosen; list all"
            " alternatives of a set."
        )
    n_chosen = np.bincount(occasion[is_chosen], minlength=n_occasions)
    if (k := find_first((n_chosen != 1) & (not rows.has_ties) & ~is_single)) is not None:
        subject = "no alternative is"
        advice = ""
        if n_chosen[k]:
            subject = f"{n_chosen[k]} alternatives are"
            advice = (
                " If several may be chosen, replace the marks in all sets by a column 'rank': 1 for"
                " the chosen options, 2 for the others."
            )
        raise DataError(
            f"In {rows.name(k)}, {subject} marked as chosen; mark exactly one, or remove the"
            f" set.{advice}"
        )
    occasion_counts = np.zeros(n_occasions)
    occasion_counts[occasion[is_chosen]] = row_counts[is_chosen]
    if n_single := int(is_single.sum()):
        occasion_counts[is_single] = 0.0
        add_note(f"{format_plural(n_single, 'choice')} from a single alternative dropped")
    if not occasion_counts.any():
        raise DataError("Every count is 0, so there are no choices; check the column of counts.")
    respondent_index = np.empty(n_occasions, np.int64)
    respondent_index[rows.occasion] = rows.respondents.number
    marks = [is_chosen[is_available]]
    if rows.worst is not None:
        marks.append(rows.worst[sort_order][is_available])
    return count_choices(
        occasion[is_available], alternative[is_available], marks, respondent_index, occasion_counts
    )


def count_choices(
    occasion: np.ndarray,
    alternative: np.ndarray,
    all_marks: list[Any],
    respondent: np.ndarray,
    counts: np.ndarray,
) -> Arrays:
    """Count equal choices, given rows sorted by occasion and option.

    Occasions of one size are counted together, as rows of an array. `all_marks` are the marks of
    the best, and of the worst.
    """
    is_counted = counts[occasion] > 0
    n_chosen = np.bincount(occasion, all_marks[0], counts.size).astype(np.int64)
    if (n_chosen > 1).any():  # tied alternatives come first
        is_tied_first = all_marks[0] & (n_chosen[occasion] > 1)
        sort_order = np.lexsort((alternative, ~is_tied_first, occasion))
        is_counted = sort_order[is_counted[sort_order]]
    occasion = occasion[is_counted]
    alternative = alternative[is_counted]
    all_marks = [marks[is_counted] for marks in all_marks]
    set_size_by_occasion = np.bincount(occasion, minlength=counts.size)
    set_sizes = []
    n_tied = []
    members = []
    answer_rows = []
    n_places = 0
    # sets with ties come last
    for n_tied_options, m in np.unique(
        np.stack([n_chosen, set_size_by_occasion])[:, set_size_by_occasion > 0], axis=1
    ).T.tolist():
        is_of_size = (set_size_by_occasion == m)[occasion] & (n_chosen == n_tied_options)[occasion]
        sets, set_index = np.unique(
            alternative[is_of_size].reshape(-1, m), axis=0, return_inverse=True
        )
        first_places = n_places + m * set_index.ravel()
        answer_rows.append(
            (
                occasion[is_of_size][::m],
                *(
                    first_places + is_marked[is_of_size].reshape(-1, m).argmax(1)
                    for is_marked in all_marks
                ),
            )
        )
        set_sizes += [m] * len(sets)
        n_tied += [n_tied_options] * len(sets)
        members.append(sets.ravel())
        n_places += sets.size
    occasions, *answer_columns = (np.concatenate(parts) for parts in zip(*answer_rows, strict=True))
    row_keys = respondent[occasions] + 1
    for answer_column in answer_columns:
        row_keys = row_keys * n_places + answer_column
    distinct_keys, row_index = np.unique(row_keys, return_inverse=True)
    times = np.bincount(row_index, weights=counts[occasions])
    start = part_bounds(set_sizes)
    worst = None
    if len(answer_columns) > 1:
        distinct_keys, worst = distinct_keys // n_places, distinct_keys % n_places
    answer_fields = distinct_keys // n_places - 1, distinct_keys % n_places, times, worst
    return (
        start,
        np.concatenate(members).astype(np.int64),
        *answer_fields,
        np.array(n_tied, np.int64),
    )
