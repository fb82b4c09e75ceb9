"""Choices from tables: rows of occasions become distinct sets with counts."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._arguments import is_list, one_of
from thali._inference.indexing import part_bounds
from thali._labels import shorten
from thali.errors import DataError

from ..columns import convert_frame, note_omission
from ..suspicious import find_similar_labels, find_total_labels, warn_each
from .best_worst import (
    best_columns,
    best_worst_columns,
    long_columns,
    occasions_of_best_worst,
    widened,
)
from .long import RawOccasions, wide_occasions
from .rankings import (
    ABSENT,
    SHAPES,
    WORSE,
    count_empty,
    occasions_of_rankings,
    rankings_of_frame,
    rankings_of_list,
    the_ranking_columns,
    words_of,
)

if TYPE_CHECKING:
    import pandas as pd

    from .choices import Choices

Arrays = tuple[Any, ...]  # start, members, respondent, choice, times, worst, n_tied


def from_frame(
    cls: "type[Choices]", frame: "pd.DataFrame", *columns: str | None, **more: Any
) -> "Choices":
    """The same as `Choices(frame, ...)`.

    Examples
    --------
    >>> import pandas as pd, thali as th
    >>> frame = pd.DataFrame({"id": [1, 1], "item": ["tea", "milk"], "y": [0, 1]})
    >>> th.Choices.from_frame(frame, choice_id="id").counts
    array([0., 1.])
    """
    return cls(frame, *columns, **more)


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
    """Choices from a wide table: one row for each occasion.

    Parameters
    ----------
    frame : DataFrame
    chosen : str, optional
        Column with the label of the chosen alternative. None: the column "chosen" or "choice".
    alternatives : sequence of str, optional
        Columns with the labels of the alternatives that were offered; an empty cell is none.
    available : mapping from label to str, optional
        For each alternative the column that holds 1 where it was offered. If neither this nor
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
    others = {"respondent": respondent, "count": count}
    rows = wide_occasions(frame, chosen, alternatives, available, others, labels, weights)
    return cls._from_fields(*fields_of_occasions(rows))


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
    """Choices from rankings: the best of all, the best of the rest, and so on.

    The last option of a ranking is no choice.

    Parameters
    ----------
    rankings : DataFrame, or list of lists of labels
        A list of rankings, the best option first, each a list or a text such as "a > b = c"; or a
        table. Options that tie are a list within the list, or share a rank.
    layout : {"ranks", "options", "long", "text"}, optional
        Of a table: a column a rank, which holds the option there (rank1, rank2; 1st, 2nd; first
        choice), or several that tie ("b = c"); a column an option, which holds its rank, 1 for the
        best, and nothing or 0 if it has none; a row for each option of a ranking; or a column of
        texts such as "a > b = c". None: recognised.
    option, rank, respondent, count : str, optional
        Columns of the option and of its rank in a long table; of who ranked; of how many such
        rankings there were. None: recognised. Every row of a table that is not long is somebody of
        their own, unless rows are counted.
    unranked : {"absent", "worse"}
        What the options are that a ranking does not name: not offered, as in a race in which others
        ran; or offered and worse than all that it names, as in a list of the three best.
    labels, weights
        As in `Choices`.

    Returns
    -------
    Choices

    Raises
    ------
    DataError
        If no column holds rankings, an option is named twice, or none comes before another.

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
    given = {"option": option, "rank": rank, "respondent": respondent, "count": count}
    return of_rankings(cls, rankings, layout, given, unranked, labels, weights)[0]


def of_rankings(
    cls: "type[Choices]",
    rankings: Any,
    layout: str | None,
    given: Mapping[str, str | None],
    unranked: str = "absent",
    labels: Iterable[Any] | None = None,
    weights: bool = False,
) -> "tuple[Choices, str]":
    """The choices in rankings, and how they were read."""
    one_of("unranked", unranked, (ABSENT, WORSE))
    one_of("layout", layout, (None, *SHAPES))
    if hasattr(rankings, "columns") or hasattr(rankings, "__arrow_c_stream__"):
        rankings = convert_frame(rankings)
    else:
        if not is_list(rankings):
            raise DataError(
                f"`rankings` must be a DataFrame or a list of lists; got {type(rankings).__name__}."
            )
        occasions = occasions_of_rankings(rankings_of_list(rankings, labels), unranked)
        return cls._from_fields(*fields_of_occasions(occasions)), ""
    columns = the_ranking_columns(rankings, layout, given, unranked)
    found = rankings_of_frame(rankings, columns, labels, weights, unranked)
    note_omission(count_empty(found, unranked), noun="ranking")
    data = cls._from_fields(*fields_of_occasions(occasions_of_rankings(found, unranked)))
    return data, words_of(found, columns, unranked)


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
    """Choices of the best and of the worst option of a set (MaxDiff), or of the best alone.

    Parameters
    ----------
    frame : DataFrame
        A row a set; or a row an option of a set, which columns such as task and item name, with 1
        in the column of the best and of the worst.
    best, worst : str, optional
        Columns that hold the label of the option, or the name, letter or number of its column.
        None: recognised by their names (best, most; worst, least); of sets of three or more in a
        row each, `worst` may be absent.
    options : sequence of str, optional
        Columns of what was offered. None: recognised as a series such as option_a, option_b,
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
    "'milk' best and 'tea' worst of 'tea', 'milk' and 'water': 1 of 1 time"
    """
    frame = convert_frame(frame)
    given = {"best": best, "worst": worst, "respondent": respondent, "count": count}
    marked = long_columns(frame, given) if options is None else None
    alone = (
        best_columns(frame, given) if options is None and best is None and worst is None else None
    )
    if alone is not None:
        columns = alone
    elif marked is not None:
        frame, columns = widened(frame, marked)
    else:
        columns = best_worst_columns(frame, given, options)
    return cls._from_fields(
        *fields_of_occasions(occasions_of_best_worst(frame, columns, labels, weights))
    )


def fields_of_occasions(rows: RawOccasions) -> tuple[Any, ...]:
    """The fields of the choices in the rows of occasions, which are counted; a DataError for fewer
    than two options."""
    if len(rows.labels) < 2:
        raise DataError(
            f"A choice requires at least two options; got {shorten(rows.labels) or 'none'}."
        )
    *arrays, n_tied = aggregated(rows)
    fields = rows.labels, rows.respondents, *arrays, rows.people, n_tied
    warn_each(find_similar_labels(rows.labels), find_total_labels(rows.labels))
    return fields


def aggregated(rows: RawOccasions) -> Arrays:
    """Check every occasion, and count: the distinct sets, and who chose what out of which set how
    often."""
    order = np.lexsort((rows.alternative, rows.occasion))
    occasion, alternative = rows.occasion[order], rows.alternative[order]
    chosen, available, count = rows.chosen[order], rows.available[order], rows.count[order]
    twice = (np.diff(occasion) == 0) & (np.diff(alternative) == 0)
    if twice.any():
        k = int(twice.argmax())
        raise DataError(
            f"{rows.labels[alternative[k]]!r} is listed twice in {rows.name(occasion[k])}; list it"
            " once."
        )
    if (absent := chosen & ~available).any():
        k = int(absent.argmax())
        raise DataError(
            f"{rows.labels[alternative[k]]!r} was chosen in {rows.name(occasion[k])}, but was not"
            " available; correct one of the two columns."
        )
    number = int(occasion[-1]) + 1
    wins = np.bincount(occasion[chosen], minlength=number)
    if (wrong := (wins != 1) & (not rows.has_ties)).any():
        k = int(wrong.argmax())
        what = "No alternative is" if wins[k] == 0 else f"{wins[k]} alternatives are"
        raise DataError(
            f"{what} chosen in {rows.name(k)}, but exactly one must be; correct or remove the set."
        )
    lone = np.bincount(occasion[available], minlength=number) < 2
    if lone.any():
        raise DataError(
            f"There is only one alternative in {rows.name(int(lone.argmax()))}, so nothing was"
            " chosen; remove this choice."
        )
    counts = np.zeros(number)
    counts[occasion[chosen]] = count[chosen]
    if not counts.any():
        raise DataError("Every count is 0, so there are no choices; check the column of counts.")
    respondent = np.empty(number, np.int64)
    respondent[rows.occasion] = rows.respondent
    marked = [chosen[available]] + ([] if rows.worst is None else [rows.worst[order][available]])
    return counted_answers(occasion[available], alternative[available], marked, respondent, counts)


def counted_answers(
    occasion: Any, alternative: Any, marked: list[Any], respondent: Any, counts: Any
) -> Arrays:
    """The distinct sets, and who chose what how often, as `aggregated`, of occasions whose
    alternatives ascend.

    All of a size at a time, so that an occasion is a row of an array; `marked`: the best, and the
    worst.
    """
    kept = counts[occasion] > 0
    tied = np.bincount(occasion, marked[0], counts.size).astype(np.int64)
    if (tied > 1).any():  # those that tie come first
        first = marked[0] & (tied[occasion] > 1)
        order = np.lexsort((alternative, ~first, occasion))
        kept = order[kept[order]]
    occasion, alternative, marked = (
        occasion[kept],
        alternative[kept],
        [each[kept] for each in marked],
    )
    size = np.bincount(occasion, minlength=counts.size)
    sizes, n_tied, members, rows = [], [], [], []
    places = 0
    # those with ties last
    for together, m in np.unique(np.stack([tied, size])[:, size > 0], axis=1).T.tolist():
        of_size = (size == m)[occasion] & (tied == together)[occasion]
        sets, which = np.unique(alternative[of_size].reshape(-1, m), axis=0, return_inverse=True)
        first = places + m * which.ravel()
        rows.append(
            (
                occasion[of_size][::m],
                *(first + each[of_size].reshape(-1, m).argmax(1) for each in marked),
            )
        )
        sizes += [m] * len(sets)
        n_tied += [together] * len(sets)
        members.append(sets.ravel())
        places += sets.size
    who, *answers = (np.concatenate(parts) for parts in zip(*rows, strict=True))
    key = respondent[who] + 1
    for answer in answers:
        key = key * places + answer
    keys, at = np.unique(key, return_inverse=True)
    times = np.bincount(at, weights=counts[who])
    start = part_bounds(sizes)
    worst = None
    if len(answers) > 1:
        keys, worst = keys // places, keys % places
    choice = keys // places - 1, keys % places, times, worst
    return start, np.concatenate(members).astype(np.int64), *choice, np.array(n_tied, np.int64)
