"""Constructors of `PairedComparisons` from tables and lists, and tables of them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._inference.index_arithmetic import find_first
from thali._labels import format_label, shorten
from thali.errors import DataError

from ..base_classes import build_from_fields
from ..column_readers import (
    Cells,
    add_note,
    check_columns,
    convert_frame,
    drop_self_comparisons,
    encode_labels,
    get_column,
    read_counts,
)
from ..column_roles import column_names, has_numbers, refuse_ambiguous
from ..number_checks import are_integers
from ..square_reader import describe_cell
from ..suspicious_data import (
    find_dropped_columns,
    find_percentages,
    find_similar_labels,
    find_total_labels,
    warn_each,
)
from .column_recognition import PairColumns, find_pair_columns, find_respondent_column, is_uncounted
from .comparison_rows import (
    ComparisonRows,
    build_fields,
    has_mirrored_rows,
    read_row_details,
)
from .covariates import list_covariate_columns
from .trial_rows import TrialOutcomes, find_trial_columns, read_trial_outcomes
from .wide_table import WideColumns, find_wide_columns, read_wide_outcomes

if TYPE_CHECKING:
    import pandas as pd

    from .comparisons import PairedComparisons


def from_frame(
    cls: "type[PairedComparisons]",
    frame: "pd.DataFrame",
    chosen: str | None = None,
    rejected: str | None = None,
    count: str | None = None,
    *,
    losses: str | None = None,
    ties: str | None = None,
    respondent: str | None = None,
    labels: Iterable[Any] | None = None,
    weights: bool = False,
) -> "PairedComparisons":
    """Read comparisons from a long table with columns of chosen and rejected options.

    A row is one comparison, or several comparisons of two options with their counts.

    Parameters
    ----------
    frame : DataFrame
        Other columns are ignored, columns of losses or ties with a warning. Rows for the same two
        options add up, whichever was chosen.
    chosen, rejected : str, optional
        Columns with the label of the option that was chosen, and of the one that was not. None:
        recognised by their names (winner and loser, preferred and other, i and j, gewählt and
        abgelehnt; or a and b, item1 and item2, row and col, with columns that count the wins of
        either).
    count : str, optional
        Column with the number of such comparisons. None: the column "count" if there is one, else
        each row is one comparison.
    losses : str, optional
        Column with the number of times the option in the column `rejected` was chosen instead.
    ties : str, optional
        Column with the number of ties of the two options; where there are no counts, 1 for a row
        that is a tie and 0 for one that is a choice. None: the column "ties" if there is one, else
        there were none.
    respondent : str, optional
        Column of respondents; the columns that are constant within each become `people`.
        None: recognised by its name (respondent, participant, judge, rater, Vpn, and the like).
    labels : sequence of str, optional
        All options in the required order, including options never compared. None: the categories of
        a categorical column; else numbers in their order, names as they first appear.
    weights : bool
        Fractional counts are meant.

    Returns
    -------
    PairedComparisons

    Raises
    ------
    DataError
        If a column is unknown, a label or count is missing, a count is not an integer of 0 or
        more, an option is compared with itself, or there is not a single comparison.

    Examples
    --------
    >>> import pandas as pd, thali as th
    >>> frame = pd.DataFrame({"winner": ["tea", "tea", "milk"], "loser": ["milk", "coffee", "tea"]})
    >>> th.PairedComparisons.from_frame(frame)
    PairedComparisons(3 options, 2 pairs, 3 comparisons, 1 component)
    """
    frame = convert_frame(frame)
    all_columns = column_names(frame)
    if chosen is None and rejected is None and not {"chosen", "rejected"} <= set(all_columns):
        columns = find_pair_columns(all_columns, (count, losses, ties, respondent))
        if (
            count is None
            and respondent is None
            and not columns.times
            and columns.respondent is None
        ):
            refuse_ambiguous(frame)
        weights = weights or columns.weighted
    else:
        columns = PairColumns(
            (chosen or "chosen", rejected or "rejected"),
            times=(),
            respondent=find_respondent_column(all_columns, (count, respondent)),
        )
        if count is None and "count" in all_columns:
            count = "count"
        if ties is None and "ties" in all_columns:
            ties = "ties"
    columns = columns.with_named(count, losses, respondent)._replace(ties=ties or columns.ties)
    return read_list(cls, frame, columns, labels, weights)


def read_list(
    cls: "type[PairedComparisons]",
    frame: "pd.DataFrame",
    columns: PairColumns,
    labels: Iterable[Any] | None = None,
    weights: bool = False,
    covariates: Sequence[str] | None = None,
    date: str | None = None,
) -> "PairedComparisons":
    """Read comparisons from a list with these columns.

    Covariates describe the option shown first, if the columns contain the order.
    """
    check_columns(frame, (*columns.options, *columns.times, columns.ties))
    frame = drop_self_comparisons(frame.loc[~is_uncounted(frame, columns)], *columns.options)
    first_cells, second_cells = (get_column(frame, name) for name in columns.options)
    has_two_counts = len(columns.times) == 2
    try:
        counts = _read_counts(frame, columns, weights)
    except DataError as error:
        if has_two_counts and not weights and (hint := _suggest_counts(frame, columns)):
            raise DataError(error, f" {hint}") from None
        raise
    option_labels, first, second = encode_labels(
        first_cells, second_cells, np.add.reduce(counts), labels
    )
    rows = ComparisonRows(first, second, np.stack(counts))
    rows = read_row_details(rows, frame, columns, columns.used, covariates, date)
    knows_order = columns.in_order and has_two_counts
    if has_two_counts and not knows_order and has_mirrored_rows(rows):
        rows = rows.select_rows(first < second)
        add_note("each pair is listed twice, once for either side; one of its rows is used")
    data = build_from_fields(cls, *build_fields(option_labels, rows, knows_order))
    warn_each(
        find_similar_labels(data.labels),
        find_total_labels(data.labels),
        find_dropped_columns(frame, columns.used),
    )
    if columns.times and rows.respondents is None and not columns.has_probability:
        warn_each(find_percentages(data.wins, data.losses, data.tied))
    return data


def _suggest_counts(frame: "pd.DataFrame", columns: PairColumns) -> str:
    """Return advice to give counts if cells look like percentages; else ""."""
    try:
        return find_percentages(*_read_counts(frame, columns, weights=True))
    except DataError:
        return ""


def _read_counts(
    frame: "pd.DataFrame", columns: PairColumns, weights: bool
) -> tuple[np.ndarray, ...]:
    """Read each row's counts of the first option, the second, and ties."""
    ties_column = columns.ties
    marks = frame.loc[:, list(filter(None, (*columns.times, ties_column)))]
    if len(columns.times) == 2 and marks.eq(1).equals(marks.notna()):  # 1, or empty
        frame = frame.assign(**marks.fillna(0))
    no_counts = tie_counts = np.zeros(len(frame))
    if ties_column is not None and not frame[ties_column].isna().to_numpy().all():
        tie_counts = read_counts(frame, ties_column, weights)
    if columns.has_probability:
        name = columns.times[0]
        shares = get_column(frame, name)
        if has_numbers(shares) and not shares.dropna().between(0.0, 1.0).all():
            raise DataError(
                f"Column {name!r} must contain probabilities, but its numbers range"
                f" from {shares.min():g} to {shares.max():g}; convert log odds x to 1 / (1 +"
                " exp(-x)), and divide percentages by 100."
            )
        probabilities = read_counts(frame, name, weights)
        repeats = read_counts(frame, columns.repeats, weights)
        return repeats * probabilities, repeats * (1.0 - probabilities), tie_counts
    if columns.times:
        counts = [read_counts(frame, name, weights) for name in columns.times]
        return (*[*counts, no_counts][:2], tie_counts)
    if (k := find_first(tie_counts > 1)) is not None:
        raise DataError(
            f"Column {ties_column!r} contains {tie_counts[k]:g} in row {frame.index[k]}, but no"
            " column contains"
            " the number of choices; give its name with `count`, or enter 1 for ties and 0 for"
            " choices."
        )
    return 1.0 - tie_counts, no_counts, tie_counts


def from_pairs(
    cls: "type[PairedComparisons]", pairs: Iterable[Any], *, labels: Iterable[Any] | None = None
) -> "PairedComparisons":
    """Read comparisons from (winner, loser) tuples.

    Parameters
    ----------
    pairs : iterable of (winner, loser)
    labels : sequence of str, optional
        All options in the required order, including options never compared. None: numbers in their
        order, names as they first appear.

    Returns
    -------
    PairedComparisons

    Raises
    ------
    DataError
        If there is no pair, or one that is not two different options.

    Examples
    --------
    >>> import thali as th
    >>> th.PairedComparisons.from_pairs([("tea", "milk"), ("milk", "tea"), ("tea", "milk")]).wins
    array([2.])
    """
    import pandas as pd

    pair_list = list(pairs)
    for k, pair in enumerate(pair_list):
        if isinstance(pair, str) or not hasattr(pair, "__len__") or len(pair) != 2:
            raise DataError(f"`pairs` must contain (winner, loser) tuples; pairs[{k}] is {pair!r}.")
    winners, losers = (pd.Series([pair[k] for pair in pair_list], dtype=object) for k in (0, 1))
    counts = np.zeros((3, len(pair_list)))
    counts[0] = 1.0
    option_labels, winner, loser = encode_labels(
        winners, losers, counts[0], labels, lambda k, _: f"in pairs[{k}]"
    )
    rows = ComparisonRows(winner, loser, counts)
    data = build_from_fields(cls, *build_fields(option_labels, rows))
    warn_each(find_similar_labels(data.labels))
    return data


def from_trials(
    cls: "type[PairedComparisons]",
    frame: "pd.DataFrame",
    first: str | None = None,
    second: str | None = None,
    chosen: str | None = None,
    respondent: str | None = None,
    count: str | None = None,
    covariates: Sequence[str] | None = None,
    date: str | None = None,
    *,
    people: Sequence[str] | None = None,
    coding: Mapping[Any, str] | None = None,
    labels: Iterable[Any] | None = None,
    weights: bool = False,
) -> "PairedComparisons":
    """Read comparisons from trials: two options and the chosen one in each row.

    A row names the two options and the chosen one.

    Parameters
    ----------
    frame : DataFrame
        Rows without an answer are dropped.
    first, second : str, optional
        Columns of the two options. None: recognised by their names (a and b, left and right,
        option1 and option2, model_a and model_b, links and rechts; and the like).
    chosen : str, optional
        Column with the label of the option chosen; or its side (left, right; first, second;
        1, 2; 1, -1; a, b; model_a, model_b); or a word for a tie (tie, draw, equal, both, tie
        (bothbad), 0.5, 0 next to -1). None: recognised by its name (chosen, choice, winner,
        response, preferred, and the like).
    respondent : str, optional
        Column of respondents; the columns that are constant within each become `people`.
        None: recognised.
    count : str, optional
        Column with the number of such trials. None: recognised, else each row is one.
    covariates : list of str, optional
        Columns that describe the trial, for the first option over the second: the difference of two
        lengths, the judge. Numbers stay as they are, and of any other column each category but the
        first becomes an indicator (``judge=B``). Of two columns of either side, such as length_a
        and length_b, each of them and "length" mean the first minus the second, which is called so.
        "order", unless a column bears that name, is 1 in every row: being first.
    date : str, optional
        Column of when the trial was made: dates and times, all written in one form, such as
        2024-05-31; seconds since 1970; or integer periods, such as seasons. They become
        `dates`, which leaderboards use (``leaderboard(data, period="week")``), and models refuse.
    people : list of str, optional
        Which columns describe the people, and become `people`. None: all that are constant within
        everybody.
    coding : mapping, optional
        Meanings of the values of `chosen`: {value: "first", "second", "tie" or "missing", no
        answer}.
    labels, weights
        As in `from_frame`.

    Returns
    -------
    PairedComparisons
        With how often which option was first (`forward`, `by_order`).

    Raises
    ------
    DataError
        If a column is lacking, a cell of `chosen` means nothing, a covariate is constant or has
        gaps, dates are lacking or written in several forms, a column of people differs within a
        person, or as `from_frame`.

    Examples
    --------
    >>> import pandas as pd, thali as th
    >>> rows = {
    ...     "respondent": [1, 1, 2],
    ...     "left": ["tea", "tea", "milk"],
    ...     "right": ["milk", "milk", "tea"],
    ... }
    >>> th.PairedComparisons.from_trials(
    ...     pd.DataFrame(rows | {"response": ["left", "right", "tie"]})
    ... )
    PairedComparisons(2 options, 1 pair, 3 comparisons (1 tie), 2 respondents, 1 component)
    """
    named_columns = {
        "first": first,
        "second": second,
        "chosen": chosen,
        "respondent": respondent,
        "count": count,
    }
    frame = convert_frame(frame)
    if people is not None:
        check_columns(frame, people)
        columns = find_trial_columns(frame, named_columns, False)
        covariate_columns = list_covariate_columns(covariates, list(frame.columns), columns.options)
        used_columns = {*columns.used, *people, *covariate_columns, date}
        frame = frame.loc[:, [name for name in frame.columns if name in used_columns]]
    data, _ = read_trials(
        cls, frame, named_columns, False, coding, labels, weights, covariates, date
    )
    if people is not None:
        _check_people_columns(data, people)
    return data


def _check_people_columns(data: "PairedComparisons", people_columns: Sequence[str]) -> None:
    """Raise DataError if a named column is not constant within respondents."""
    if data.answers is None:
        raise DataError(
            "`people` describes respondents, but no column identifies them; give its name with"
            " `respondent`."
        )
    people = data.answers.people
    if varying_columns := [
        name for name in people_columns if people is None or name not in people.columns
    ]:
        raise DataError(
            "Columns that describe respondents must be constant within each respondent; remove"
            f" {shorten(varying_columns)}."
        )


def from_results(
    cls: "type[PairedComparisons]",
    frame: "pd.DataFrame",
    home: str | None = None,
    away: str | None = None,
    result: str | None = None,
    respondent: str | None = None,
    count: str | None = None,
    covariates: Sequence[str] | None = None,
    date: str | None = None,
    *,
    coding: Mapping[Any, str] | None = None,
    labels: Iterable[Any] | None = None,
    weights: bool = False,
) -> "PairedComparisons":
    """Read comparisons from results of games: home, away and result in each row.

    A row names the two sides and the winner.

    Parameters
    ----------
    frame : DataFrame
        Rows without a result are dropped.
    home, away : str, optional
        Columns of the two sides. None: recognised by their names (home and away, HomeTeam and
        AwayTeam, visitor and opponent, white and black, Heim and Gast; and the like).
    result : str, optional
        Column with H, D, A; 1, X, 2; 1, 0, -1; 1, 0.5, 0; or the label of the winner. None:
        recognised by its name (result, FTR, outcome), else the goals or scores of either side in
        two columns.
    respondent, count, covariates, date, coding, labels, weights
        As in `from_trials`; the first of two is the side at home.

    Returns
    -------
    PairedComparisons
        With a tie for every draw, and how often which side played at home (`forward`, `by_order`).

    Raises
    ------
    DataError
        As `from_trials`.

    Examples
    --------
    >>> import pandas as pd, thali as th
    >>> rows = {"HomeTeam": ["Hull", "Stoke"], "AwayTeam": ["Stoke", "Hull"], "FTR": ["H", "D"]}
    >>> data = th.PairedComparisons.from_results(pd.DataFrame(rows))
    >>> data.wins, data.losses, data.tied
    (array([1.]), array([0.]), array([1.]))
    """
    named_columns = {
        "first": home,
        "second": away,
        "chosen": result,
        "respondent": respondent,
        "count": count,
    }
    data, _ = read_trials(
        cls, frame, named_columns, True, coding, labels, weights, covariates, date
    )
    return data


def read_trials(
    cls: "type[PairedComparisons]",
    frame: "pd.DataFrame",
    named_columns: Mapping[str, str | None],
    game: bool,
    coding: Mapping[Any, str] | None = None,
    labels: Iterable[Any] | None = None,
    weights: bool = False,
    covariates: Sequence[str] | None = None,
    date: str | None = None,
) -> "tuple[PairedComparisons, str]":
    """Read trials or games; also return a sentence on how they were read."""
    frame = convert_frame(frame)
    columns = find_trial_columns(frame, named_columns, game)
    return build_comparisons(
        cls, read_trial_outcomes(frame, columns, coding, labels, weights, covariates, date)
    )


def from_wide(
    cls: "type[PairedComparisons]",
    frame: "pd.DataFrame",
    coding: Mapping[Any, str] | None = None,
    respondent: str | None = None,
    count: str | None = None,
    *,
    pairs: Mapping[str, Sequence[Any]] | None = None,
    labels: Iterable[Any] | None = None,
    weights: bool = False,
) -> "PairedComparisons":
    """Read comparisons from a wide table: one column per pair, one row per respondent.

    R's prefmod and psychotools use this layout.

    Parameters
    ----------
    frame : DataFrame
        Empty cells were not answered. Other columns become `people`.
    coding : mapping, optional
        Meanings of the values of the cells: {value: "first", "second", "tie" or "missing", no
        answer}. None: the label of the option chosen; >, < and =; 1 and 2; 1, -1 and 0 for a tie;
        or 0, 2 and 1 for a tie (with a warning).
    respondent : str, optional
        Column of respondents. None: recognised, else every row is a respondent.
    count : str, optional
        Column with the number of people who gave the answers of the row. None: recognised, else it
        is one.
    pairs : mapping, optional
        {column: (first option, second option)}. None: recognised by names such as "tea > milk",
        "tea:milk", "tea vs milk", V12 for the options 1 and 2; or V1, V2, V3, ... in the order (1,
        2), (1, 3), (2, 3), (1, 4), ... of prefmod; or by the two labels in each column.
    labels : sequence of str, optional
        Names for the options 1, 2, ... of columns that have numbers alone.
    weights : bool
        Fractional counts are meant.

    Returns
    -------
    PairedComparisons

    Raises
    ------
    DataError
        If no column is a pair, or a cell means nothing.

    Examples
    --------
    >>> import pandas as pd, thali as th
    >>> frame = pd.DataFrame(
    ...     {"tea:milk": [1, 1, -1], "tea:water": [1, 0, 1], "milk:water": [1, 1, 1]}
    ... )
    >>> data = th.PairedComparisons.from_wide(frame.assign(age=[30, 40, 50]))
    >>> data
    PairedComparisons(3 options, 3 pairs, 9 comparisons (1 tie), 3 respondents, 1 component)
    >>> data.people["age"].tolist()
    [30, 40, 50]
    """
    frame = convert_frame(frame)
    named_columns = {"respondent": respondent, "count": count}
    check_columns(frame, (*named_columns.values(), *(pairs or ())))
    if pairs is not None:
        options_by_column = {
            name: (format_label(pair[0]), format_label(pair[1])) for name, pair in pairs.items()
        }
        columns = WideColumns(options_by_column, "named", respondent, count)
    else:
        columns = find_wide_columns(frame, named_columns, coding)
    if columns is None:
        raise DataError(
            f"None of this table's columns ({shorten(column_names(frame), 12)}) is named after a"
            " pair, as in 'tea > milk'; declare the pairs with `pairs`, a mapping {column: (first,"
            " second)}."
        )
    return build_comparisons(cls, read_wide_outcomes(frame, columns, coding, labels, weights))[0]


def build_comparisons(
    cls: "type[PairedComparisons]", outcomes: TrialOutcomes
) -> "tuple[PairedComparisons, str]":
    """Build comparisons from decoded outcomes; also return how they were read."""
    data = build_from_fields(
        cls, *build_fields(outcomes.labels, outcomes.rows, outcomes.knows_order)
    )
    warn_each(find_similar_labels(data.labels), find_total_labels(data.labels))
    return data, outcomes.how


def convert_counts(data: "PairedComparisons", counts: np.ndarray) -> Any:
    """Convert counts to integers if all counts of the data are."""
    if all(map(are_integers, (data.wins, data.losses, data.tied))):
        return counts.astype(np.int64)
    return counts


def to_frame(data: "PairedComparisons") -> "pd.DataFrame":
    """Return a long table with columns chosen, rejected, count and, if any, ties.

    `from_frame` reads the table back.

    Returns
    -------
    DataFrame
        One row for each pair and direction with a count above 0. The ties of a pair are in its
        first row, which is there even if that option was never chosen. The labels are categorical,
        and so keep their order and the options that were never compared.

    Examples
    --------
    >>> import thali as th
    >>> th.PairedComparisons([[0, 3], [1, 0]], labels=["tea", "milk"]).to_frame()
      chosen rejected  count
    0    tea     milk      3
    1   milk      tea      1
    """
    import pandas as pd

    chosen_index = np.column_stack([data.first, data.second]).ravel()
    rejected_index = np.column_stack([data.second, data.first]).ravel()
    choice_counts = np.column_stack([data.wins, data.losses]).ravel()
    tie_counts = np.column_stack([data.tied, 0.0 * data.tied]).ravel()
    is_shown = choice_counts + tie_counts > 0
    categories = pd.Index(data.labels)
    table = {
        "chosen": pd.Categorical.from_codes(chosen_index[is_shown], categories),
        "rejected": pd.Categorical.from_codes(rejected_index[is_shown], categories),
        "count": convert_counts(data, choice_counts[is_shown]),
    }
    if tie_counts.any():
        table["ties"] = convert_counts(data, tie_counts[is_shown])
    return pd.DataFrame(table)


def proportions(data: "PairedComparisons") -> "pd.DataFrame":
    """Return a table of the observed proportion of choices in each compared pair.

    Returns
    -------
    DataFrame
        Pair by pair a, b, n (comparisons of the two), proportion (of them in which a was chosen)
        and, if there are any, ties (the proportion in which neither was).

    Examples
    --------
    >>> import thali as th
    >>> th.PairedComparisons([[0, 3], [1, 0]], labels=["tea", "milk"]).proportions()
         a     b  n  proportion
    0  tea  milk  4        0.75
    """
    import pandas as pd

    n_compared = data.wins + data.losses + data.tied
    labels = np.array(data.labels, object)
    table = {
        "a": labels[data.first],
        "b": labels[data.second],
        "n": convert_counts(data, n_compared),
        "proportion": data.wins / n_compared,
    }
    if data.tied.any():
        table["ties"] = data.tied / n_compared
    return pd.DataFrame(table)


def read_tie_cells(ties: Any, names: tuple[str, ...], weights: bool) -> Cells:
    """Return (first, second, number of ties) of each tied pair.

    The table may fill either triangle or both. With `weights`, fractional numbers are allowed.
    """
    n_options = len(names)
    if hasattr(ties, "reindex"):
        ties = (
            ties.rename(index=str, columns=str)
            .reindex(index=list(names), columns=list(names))
            .to_numpy()
        )
    if hasattr(ties, "toarray"):
        ties = ties.toarray()
    try:
        tie_table = np.asarray(ties, float)
    except (TypeError, ValueError):
        raise DataError(
            "`ties` must be a table of numbers, with one row and one column per option."
        ) from None
    if tie_table.shape != (n_options, n_options):
        raise DataError(
            f"`ties` must be a {n_options} x {n_options} table, because the data have {n_options}"
            f" options; got shape {tie_table.shape}."
        )
    if not np.isfinite(tie_table).all() or (tie_table < 0).any() or np.diag(tie_table).any():
        raise DataError(
            "`ties` must contain counts >= 0 for the labels of the data, with an empty diagonal."
        )
    if not (
        np.array_equal(tie_table, tie_table.T)
        or not np.triu(tie_table).any()
        or not np.tril(tie_table).any()
    ):
        i, j = np.argwhere(tie_table != tie_table.T)[0]
        raise DataError(
            f"The number of ties between {names[i]!r} and {names[j]!r} is {tie_table[i, j]:g} in"
            f" one triangle and {tie_table[j, i]:g} in the other; enter the ties in one"
            " triangle only, or the same number in both."
        )
    tie_table = np.maximum(tie_table, tie_table.T)
    if not weights and (fractional_cells := np.argwhere(tie_table != np.floor(tie_table))).size:
        i, j = fractional_cells[0]
        raise DataError(
            f"The number of ties {describe_cell(names, int(i), int(j))} is {tie_table[i, j]:g};"
            " give an integer."
        )
    first_indices, second_indices = np.nonzero(np.triu(tie_table, 1))
    return first_indices, second_indices, tie_table[first_indices, second_indices]
