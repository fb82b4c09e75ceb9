"""What is made of paired comparisons: some of the options, pairs or people, other counts, further
covariates."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._arguments import one_of
from thali._labels import as_label, checked_labels, plural, positions, shorten, suggest
from thali.errors import Argument, DataError, InPython, Message

from ..answers import OUTCOMES, Answers, RowRespondents, merge_respondents
from ..columns import convert_frame
from ..people import group_people
from ..questions import PAIR, TIED, GivenAnswers, Questions, ReportRows, build_report_rows
from .covariates import ORDER, CovariateCells, CovariateColumns, PairCovariates, option_columns
from .dates import Dates, When
from .tables import fields_of_rows, of_rows

if TYPE_CHECKING:
    import pandas as pd

    from .comparisons import PairedComparisons


class LeftPair(NamedTuple):
    """All comparisons of a pair; those with the same covariates are a cell."""

    pair: tuple[str, str]
    # (cells, outcomes): the first option was chosen, neither was (if there are ties), the second
    counts: np.ndarray
    # of comparisons, by name one number a cell; None: there are none
    covariates: dict[str, np.ndarray] | None = None

    def places(self, labels: list[str]) -> tuple[np.ndarray, np.ndarray]:
        """Where both options are among labels, for each cell."""
        first, second = (np.full(len(self.counts), labels.index(label)) for label in self.pair)
        return first, second

    def known(self, names: Iterable[str]) -> dict[str, np.ndarray] | None:
        """Those of the covariates that have one of these names; None: the comparisons have no
        covariates."""
        if self.covariates is None:
            return None
        return {name: values for name, values in self.covariates.items() if name in names}


# What is made of paired comparisons: some of the options, pairs or people, other counts, further
# covariates


def subset(data: "PairedComparisons", labels: Iterable[Any]) -> "PairedComparisons":
    """The comparisons among some of the options, which take the order given.

    Parameters
    ----------
    labels : sequence of str
        At least two different labels.

    Returns
    -------
    PairedComparisons

    Raises
    ------
    DataError
        If a label is unknown or given twice, or no comparison is left.

    Examples
    --------
    >>> import thali as th
    >>> data = th.PairedComparisons(
    ...     [[0, 7, 9], [3, 0, 6], [1, 4, 0]], labels=["tea", "coffee", "milk"]
    ... )
    >>> data.subset(["milk", "tea"]).counts
    array([[0, 1],
           [9, 0]])
    """
    names = checked_labels(labels, "The labels of a subset")
    place = np.full(data.n_options, -1)
    places = _positions(data, names)
    place[places] = np.arange(len(names))
    kept = (place[data.first] >= 0) & (place[data.second] >= 0)
    first, second = place[data.first[kept]], place[data.second[kept]]
    winner, loser = np.concatenate([first, second]), np.concatenate([second, first])
    counts = np.concatenate([data.wins[kept], data.losses[kept]])
    tied = np.concatenate([data.tied[kept], 0.0 * data.tied[kept]])
    found = data._from_fields(*fields_of_rows(names, winner, loser, counts, tied))
    a, b = place[data.first], place[data.second]
    key = np.minimum(a, b) * len(names) + np.maximum(a, b)
    new, turned = np.searchsorted(found.first * len(names) + found.second, key), a > b
    forward = None
    if data.forward is not None:
        backward = np.array([data.losses, data.wins, data.tied]) - data.forward[[1, 0, 2]]
        forward = np.empty((3, found.n_pairs))
        forward[:, new[kept]] = np.where(turned, backward, data.forward)[:, kept]
    answers = None if data.answers is None else data.answers.of_pairs(kept, new, turned)
    covariates = (
        None
        if data.covariates is None
        else data.covariates.of_pairs(kept, new, turned, np.array(places))
    )
    dates = None if data.dates is None else data.dates.of_options(place)
    return with_known(found, forward, answers, covariates, dates)


def with_counts(
    data: "PairedComparisons", wins: np.ndarray, losses: np.ndarray, tied: np.ndarray | None = None
) -> "PairedComparisons":
    """The same options and pairs with other counts, of which neither persons nor orders nor
    covariates are known; None: no tie."""
    tied = np.zeros(data.n_pairs) if tied is None else tied
    return data._from_fields(data.labels, data.first, data.second, wins, losses, tied, None, None, None)


def with_cell_counts(
    data: "PairedComparisons", wins: np.ndarray, losses: np.ndarray, tied: np.ndarray | None = None
) -> "PairedComparisons":
    """The same options and cells with other counts, of which neither persons nor orders are
    known."""
    tied = np.zeros(len(wins)) if tied is None else tied
    if data.covariates is None:
        return with_counts(data, wins, losses, tied)
    sums = (np.bincount(data.covariates.pair, each, data.n_pairs) for each in (wins, losses, tied))
    return with_known(
        with_counts(data, *sums), None, None, data.covariates.with_counts(wins, losses, tied)
    )


def without_ties(data: "PairedComparisons", how: str) -> "PairedComparisons":
    """The same comparisons for whatever knows choices alone.

    Parameters
    ----------
    how : {"half", "drop"}
        A tie counts half a choice of either option, or nothing; a pair with ties alone then is not
        compared.

    Returns
    -------
    PairedComparisons
        With fractional counts, if there was an odd number of ties of some pair and they count half.

    Raises
    ------
    ArgumentError
        If `how` is another word.
    DataError
        If all comparisons are ties and are left out.

    Examples
    --------
    >>> import thali as th
    >>> data = th.PairedComparisons([[0, 3], [1, 0]], labels=["tea", "milk"], ties=[[0, 1], [1, 0]])
    >>> data
    PairedComparisons(2 options, 1 pair, 5 comparisons (1 tie), 1 component)
    >>> data.without_ties("half").wins, data.without_ties("drop").wins
    (array([3.5]), array([3.]))
    """
    share = 0.5 if one_of("how", how, ("half", "drop")) == "half" else 0.0
    found = with_counts(data, data.wins + share * data.tied, data.losses + share * data.tied)
    forward = None
    if data.forward is not None:
        wins, losses, tied = data.forward
        forward = np.array([wins + share * tied, losses + share * tied, 0.0 * tied])
    answers = None if data.answers is None else data.answers.without_ties(share)
    dates = None if data.dates is None else data.dates.without_ties(share)
    covariates = None if data.covariates is None else data.covariates.without_ties(share)
    found = with_known(found, forward, answers, covariates, dates)
    left = found.wins + found.losses > 0
    if not left.any():
        raise DataError(
            f"All {plural(data.n_ties, 'comparison')} are ties, so nothing would be left without"
            " them; keep the ties."
        )
    return found if left.all() else only(found, left)


def only(data: "PairedComparisons", kept: np.ndarray) -> "PairedComparisons":
    """The same options with some of the pairs."""
    arrays = (array[kept] for array in (data.first, data.second, data.wins, data.losses, data.tied))
    place = np.cumsum(kept) - 1
    forward = None if data.forward is None else data.forward[:, kept]
    same = np.zeros(len(kept), bool)
    answers = None if data.answers is None else data.answers.of_pairs(kept, place, same)
    every = np.arange(data.n_options)
    covariates = (
        None if data.covariates is None else data.covariates.of_pairs(kept, place, same, every)
    )
    pairs, n = (data.first * data.n_options + data.second)[kept], data.n_options
    dates = None if data.dates is None else data.dates.of_pairs(pairs, n)
    return data._from_fields(data.labels, *arrays, forward, answers, covariates, dates)


def without_pair(data: "PairedComparisons", a: Any, b: Any) -> "PairedComparisons":
    """The same options without the comparisons of one pair, as leave-one-pair-out needs.

    Parameters
    ----------
    a, b : str
        Two labels, in either order.

    Returns
    -------
    PairedComparisons

    Raises
    ------
    DataError
        If a label is unknown, the two were never compared, or no other comparison is left.

    Examples
    --------
    >>> import thali as th
    >>> data = th.PairedComparisons(
    ...     [[0, 7, 9], [3, 0, 6], [1, 4, 0]], labels=["tea", "coffee", "milk"]
    ... )
    >>> data.without_pair("milk", "tea")
    PairedComparisons(3 options, 2 pairs, 20 comparisons, 1 component)
    """
    low, high = sorted(_positions(data, [as_label(a), as_label(b)]))
    kept = (data.first != low) | (data.second != high)
    if kept.all():
        raise DataError(
            f"{as_label(a)!r} and {as_label(b)!r} were never compared, so there is nothing to"
            " remove."
        )
    if not kept.any():
        raise DataError(
            f"{as_label(a)!r} and {as_label(b)!r} are the only pair compared; without this pair,"
            " no data would be left."
        )
    return only(data, kept)


def cells_of(data: "PairedComparisons") -> CovariateCells:
    """The comparisons as models take them: a cell for each pair, or each pair and different
    covariates."""
    own = data.covariates
    if own is None:
        none = np.zeros((data.n_pairs, 0))
        sides = data.first, data.second, data.wins, data.losses, data.tied
        return CovariateCells(np.arange(data.n_pairs), *sides, none, data.answers)
    first, second = data.first[own.pair], data.second[own.pair]
    x = own.values + own.options[first] - own.options[second]
    return CovariateCells(own.pair, first, second, own.wins, own.losses, own.tied, x, own.answers)


def questions_of(
    data: "PairedComparisons", outcomes: tuple[str, ...], cells: CovariateCells
) -> Questions:
    """Return a question for each cell, with these outcomes as its answers; a table has a row for
    each pair."""
    size = len(outcomes)

    def given() -> GivenAnswers | None:
        if (known := cells.answers) is None:
            return None
        answer = (size * known.pair.astype(np.int64)[:, None] + np.arange(size)).ravel()
        times = np.column_stack([getattr(known, name) for name in outcomes]).ravel()
        there = times > 0.0
        respondent = np.repeat(known.respondent, size)
        return GivenAnswers(known.respondents, respondent[there], answer[there], times[there])

    def rows() -> ReportRows:
        labels, shown = np.array(data.labels), np.repeat(np.arange(data.n_pairs), size - 1)
        names = {"a": labels[data.first[shown]], "b": labels[data.second[shown]]}
        if size == OUTCOMES:
            names["tied"] = np.tile([False, True], data.n_pairs)
        row = (size * cells.pair[:, None] + np.arange(size)).ravel()
        found = build_report_rows(PAIR if size < OUTCOMES else TIED, row, names, len(cells.pair))
        pairs = np.arange(data.n_pairs + 1)
        is_last = np.arange(size) == size - 1
        return found._replace(
            is_shown=np.tile(~is_last, data.n_pairs),
            group=np.searchsorted(cells.pair, pairs),
            group_row=size * pairs,
        )

    counts = np.column_stack([getattr(cells, name) for name in outcomes])
    asked = cells.wins + cells.tied + cells.losses
    return Questions(size * np.arange(len(counts) + 1), counts.ravel(), given, rows, asked)


def with_order(data: "PairedComparisons") -> "PairedComparisons":
    """The same comparisons with the covariate "order": 1 where the first of a pair was shown first,
    else -1.

    Its coefficient is the advantage of being first, or at home, in log odds. Comparisons of known
    people take it from the table: ``from_trials(frame, covariates=["order"])``.

    Returns
    -------
    PairedComparisons

    Raises
    ------
    DataError
        If the data do not say which option was first, or know people or covariates already.

    Examples
    --------
    >>> import pandas as pd, thali as th
    >>> games = pd.DataFrame(
    ...     [("Hull", "Stoke", "H"), ("Stoke", "Hull", "H")], columns=["home", "away", "result"]
    ... )
    >>> data = th.PairedComparisons.from_results(games).with_order()
    >>> data.covariates.values.ravel()
    array([-1.,  1.])
    """
    data.refuse_dates()
    if data.answers is not None or data.covariates is not None:
        raise DataError(
            f"For comparisons with {'respondents' if data.answers is not None else 'covariates'},"
            f" the order is read from the table; add {ORDER!r} to the `covariates` of from_trials"
            " or from_results."
        )
    by_order(data)  # which refuses what does not know it
    forward = np.asarray(data.forward)
    counts = np.stack([np.array([data.wins, data.losses, data.tied]) - forward, forward], axis=2)
    there = counts.sum(axis=0) > 0.0
    pair, is_forward = np.nonzero(there)
    values, options = np.where(is_forward, 1.0, -1.0)[:, None], np.zeros((data.n_options, 1))
    sums = [each[there] for each in counts]
    return with_known(
        data,
        data.forward,
        None,
        PairCovariates._from_fields((ORDER,), pair, values, options, *sums, None),
    )


def between(data: "PairedComparisons", since: Any = None, until: Any = None) -> "PairedComparisons":
    """The comparisons from a date on, and up to another, both included, with all options.

    Parameters
    ----------
    since, until : str or int, optional
        Such as "2024-05-31", or "2024-05" or "2024", of which the first or the last day counts; of
        dates that are whole numbers, one of them. None: from the first on, up to the last.

    Returns
    -------
    PairedComparisons
        Without knowledge of which option was first.

    Raises
    ------
    DataError
        If the comparisons have no dates, or none is left.
    ArgumentError
        If `since` or `until` is no date.

    Examples
    --------
    >>> import pandas as pd, thali as th
    >>> rows = {"left": ["tea", "milk"], "right": ["milk", "tea"], "chosen": ["tea", "tea"]}
    >>> frame = pd.DataFrame(rows | {"day": ["2024-05-30", "2024-06-01"]})
    >>> th.PairedComparisons.from_trials(frame, date="day").between(until="2024-05").n_comparisons
    1
    """
    if data.dates is None:
        raise DataError(
            "These comparisons have no dates; name the column of dates with ",
            Argument("date"),
            InPython(" when reading them: from_trials(frame, date=...).", "."),
        )
    dates = data.dates.between(since, until)
    return _put_together(
        [with_known(data, None, data.answers, data.covariates, dates)], data.labels
    )


def with_option_covariates(data: "PairedComparisons", frame: "pd.DataFrame") -> "PairedComparisons":
    r"""The same comparisons with covariates of the options, on which their worths depend.

    .. math:: \text{worth}_i = e^{x_i' b} u_i

    where u are the own worths that a posterior knows besides; by maximum likelihood all are 1. For
    unique aspects alone.

    Parameters
    ----------
    frame : DataFrame
        A row an option, whose label stands in the index, and a column a covariate: numbers as they
        are, other columns as indicators of all categories but the first.

    Returns
    -------
    PairedComparisons

    Raises
    ------
    DataError
        If an option has no row, or a column is constant or has gaps, or bears the name of another
        covariate.

    Examples
    --------
    >>> import pandas as pd, thali as th
    >>> data = th.PairedComparisons(
    ...     [[0, 3, 5], [1, 0, 2], [1, 2, 0]], labels=["tea", "milk", "water"]
    ... )
    >>> data.with_option_covariates(
    ...     pd.DataFrame({"price": [2.0, 1.0, 0.5]}, index=["tea", "milk", "water"])
    ... )
    PairedComparisons(3 options, 3 pairs, 14 comparisons, 1 covariate, 1 component)
    """
    data.refuse_dates()
    names, values = option_columns(convert_frame(frame), data.labels)
    own = data.covariates
    if own is None:
        cells = cells_of(data)
        nothing = np.zeros((data.n_pairs, 0)), np.zeros((data.n_options, 0))
        own = PairCovariates._from_fields(
            (), cells.pair, *nothing, cells.wins, cells.losses, cells.tied, cells.answers
        )
    if twice := [name for name in names if name in own.names]:
        raise DataError(f"There is already a covariate {twice[0]!r}; rename the column.")
    of_cells = np.hstack([own.values, np.zeros((len(own.pair), len(names)))])
    arrays = (
        own.pair,
        of_cells,
        np.hstack([own.options, values]),
        own.wins,
        own.losses,
        own.tied,
        own.answers,
    )
    return with_known(
        data, data.forward, data.answers, PairCovariates._from_fields((*own.names, *names), *arrays)
    )


def with_covariates(data: "PairedComparisons", names: Iterable[str]) -> "PairedComparisons":
    """The same comparisons with some of their covariates.

    Parameters
    ----------
    names : list of str
        None of them: comparisons without covariates.

    Returns
    -------
    PairedComparisons

    Raises
    ------
    DataError
        If a covariate is not known.

    Examples
    --------
    >>> import pandas as pd, thali as th
    >>> rows = {
    ...     "left": ["tea", "milk"],
    ...     "right": ["milk", "tea"],
    ...     "chosen": ["tea", "tea"],
    ...     "longer": [20, -3],
    ... }
    >>> data = th.PairedComparisons.from_trials(pd.DataFrame(rows), covariates=["order", "longer"])
    >>> data.with_covariates(["longer"])
    PairedComparisons(2 options, 1 pair, 2 comparisons, 1 covariate, 1 component)
    """
    names = list(names)
    if data.covariates is None:
        if names:
            raise DataError(
                f"Unknown covariate {names[0]!r}: the comparisons have none. Name covariates when"
                " reading them: from_trials(frame, covariates=[...])."
            )
        return data
    kept = data.covariates.of_names(names)
    places = [k for k, name in enumerate(data.covariates.names) if name in names]
    dates = None if data.dates is None else data.dates.of_covariates(places)
    return with_known(data, data.forward, data.answers, kept, dates)


def without_dates(data: "PairedComparisons") -> "PairedComparisons":
    """The same comparisons for whatever does not know when they were made.

    Returns
    -------
    PairedComparisons

    Examples
    --------
    >>> import pandas as pd, thali as th
    >>> rows = {"left": ["tea", "milk"], "right": ["milk", "tea"], "chosen": ["tea", "tea"]}
    >>> frame = pd.DataFrame(rows | {"day": ["2024-05-30", "2024-05-31"]})
    >>> th.PairedComparisons.from_trials(frame, date="day").without_dates()
    PairedComparisons(2 options, 1 pair, 2 comparisons, 1 component)
    """
    return with_known(data, data.forward, data.answers, data.covariates)


def by_respondent(data: "PairedComparisons") -> "dict[str, PairedComparisons]":
    """The comparisons of each person, with all options, as `paired.bootstrap` and `circular_triads`
    take them.

    Raises
    ------
    DataError
        If the data do not say who answered.
    """
    answers = known_answers(data)
    if data.covariates is not None or data.dates is not None:
        answered = np.unique(answers.respondent)
        return {
            data.respondents[person]: of_respondents(data, np.array([person]))
            for person in answered
        }
    found = {}
    rows = np.searchsorted(answers.respondent, np.arange(len(data.respondents) + 1))
    for name, begin, end in zip(data.respondents, rows[:-1], rows[1:], strict=True):
        if begin < end:
            pair = answers.pair[begin:end]
            each = answers.wins, answers.losses, answers.tied
            sums = [array[begin:end].copy() for array in each]
            found[name] = data._from_fields(
                data.labels, data.first[pair], data.second[pair], *sums, None, None, None
            )
    return found


def by_group(data: "PairedComparisons", column: str) -> "dict[str, PairedComparisons]":
    """The comparisons of each group of people, with all options, as `paired.group_test` takes them.

    Parameters
    ----------
    column : str
        A column of `people`; those for whom it is empty are in no group.

    Raises
    ------
    DataError
        If the data do not say who answered, or nothing of that name is known of them.
    """
    found = group_people(data.people, column, known_answers(data).respondent)
    return {group: of_respondents(data, members) for group, members in found.items()}


def by_order(data: "PairedComparisons") -> "tuple[PairedComparisons, PairedComparisons]":
    """The comparisons in which the option that stands earlier among the labels was first, and the
    others.

    First is what was shown first, on the left, or played at home.

    Returns
    -------
    forward, backward : PairedComparisons
        With all options; one of them may be without a comparison.

    Raises
    ------
    DataError
        If the data do not say which option was first.

    Examples
    --------
    >>> import pandas as pd, thali as th
    >>> rows = {
    ...     "home": ["Hull", "Hull", "Stoke"],
    ...     "away": ["Stoke", "Stoke", "Hull"],
    ...     "result": ["H", "H", "A"],
    ... }
    >>> forward, backward = th.PairedComparisons.from_results(pd.DataFrame(rows)).by_order()
    >>> forward.counts.tolist(), backward.counts.tolist()
    ([[0, 2], [0, 0]], [[0, 1], [0, 0]])
    """
    if data.forward is None:
        raise DataError(
            "These comparisons do not record which option was shown first or played at home; ",
            InPython(
                "read them from trials (from_trials) or results of games (from_results)",
                "give one trial or game per row, with the options in the columns 'left' and"
                " 'right', or 'home' and 'away'",
            ),
            ".",
        )
    found = []
    for each in (data.forward, np.array([data.wins, data.losses, data.tied]) - data.forward):
        there = each.sum(axis=0) > 0.0
        sides = data.first[there], data.second[there]
        found.append(data._from_fields(data.labels, *sides, *each[:, there], None, None, None))
    return found[0], found[1]


def together(
    data: "PairedComparisons", others: "Sequence[PairedComparisons]", labels: tuple[str, ...]
) -> "PairedComparisons":
    """The comparisons of all, of these options, with covariates if all have them; who answered is
    kept if all know it and there are neither covariates nor dates."""
    parts = [data, *others]
    if all(
        part.answers is not None and part.covariates is None and part.dates is None
        for part in parts
    ):
        return _put_together(parts, labels)
    found = _put_together([with_known(part, None, None, None) for part in parts], labels)
    if data.covariates is None or any(
        part.labels != labels or part.covariate_names != data.covariate_names for part in parts
    ):
        return found
    keys = found.first * len(labels) + found.second
    pairs = [np.searchsorted(keys, part.first * len(labels) + part.second) for part in parts]
    every = [part.covariates for part in parts if part.covariates is not None]
    return with_known(found, None, None, data.covariates.together(every, pairs))


def with_more(data: "PairedComparisons", more: "PairedComparisons") -> "PairedComparisons":
    """These comparisons and further ones, of the options of both.

    Who answered, with the columns that both know of these people, and covariates are kept if both
    know them; in which order options were shown is forgotten. Both know dates, or neither. The same
    name is the same option, and the same person.

    Parameters
    ----------
    more : PairedComparisons

    Returns
    -------
    PairedComparisons

    Raises
    ------
    DataError
        If the covariates of the two differ, or describe options, or one of them has no dates.

    Examples
    --------
    >>> import thali as th
    >>> old = th.PairedComparisons.from_pairs([("tea", "milk"), ("milk", "tea")])
    >>> old.with_more(th.PairedComparisons.from_pairs([("tea", "water")]))
    PairedComparisons(3 options, 2 pairs, 3 comparisons, 1 component)
    """
    parts = (data, more)
    if data.covariate_names != more.covariate_names:
        one, other = (shorten(part.covariate_names) or "none" for part in parts)
        raise DataError(
            f"The covariates of the new comparisons ({other}) differ from those of the earlier"
            f" comparisons ({one}); give both the same covariates."
        )
    if any(part.covariates is not None and part.covariates.is_of_options.any() for part in parts):
        raise DataError(
            "Comparisons with option covariates cannot be merged; add these covariates afterwards."
        )
    if (data.dates is None) != (more.dates is None):
        have = ("have dates", "have none") if more.dates is None else ("have no dates", "have some")
        raise DataError(
            f"The comparisons {have[0]}, but the new comparisons {have[1]}; name the column of"
            " dates for both."
        )
    if data.dates is not None and more.dates is not None and data.dates.unit != more.dates.unit:
        raise DataError(
            "One data set has dates and the other has integer periods; use dates or integer"
            " periods in both."
        )
    return _put_together(
        parts, tuple(dict.fromkeys(label for part in parts for label in part.labels))
    )


def _put_together(
    parts: "Sequence[PairedComparisons]", labels: tuple[str, ...]
) -> "PairedComparisons":
    """The comparisons of all, of these options, with all that they know but in which order options
    were shown."""
    place_of, names, dates = positions(labels), parts[0].covariate_names, parts[0].dates
    rows = []
    for part in parts:
        place, own = np.array([place_of[label] for label in part.labels]), finest(part)
        rows.append(own._replace(first=place[own.first], second=place[own.second]))
    first, second, wins, losses, tied, x = (
        np.concatenate(column) for column in list(zip(*rows, strict=True))[:6]
    )
    who = None
    if all(part.answers is not None for part in parts):
        answers = [known_answers(part) for part in parts]
        who = merge_respondents(
            [
                RowRespondents(own.respondents, row.respondent, own.people)
                for own, row in zip(answers, rows, strict=True)
            ]
        )
        who = who._replace(number=np.tile(who.number, 2))
    outcomes = (
        np.append(first, second),
        np.append(second, first),
        np.append(wins, losses),
        np.append(tied, 0.0 * tied),
    )
    in_order = np.repeat([True, False], len(first))
    described = CovariateColumns(names, np.tile(x, (2, 1))) if names else None
    when = None
    if dates is not None:
        times = np.concatenate([part.dates.time for part in parts if part.dates is not None])
        when = When(dates.name, dates.unit, np.tile(times, 2))
    return of_rows(type(parts[0]), labels, outcomes, (who, in_order, described), when, False)


class ComparisonRows(NamedTuple):
    """Comparisons as finely as they are known: of a pair, by covariates, by person."""

    first: np.ndarray
    second: np.ndarray
    wins: np.ndarray
    losses: np.ndarray
    tied: np.ndarray
    x: np.ndarray
    respondent: np.ndarray  # (rows,) places of people; empty if they are not known


def finest(data: "PairedComparisons") -> ComparisonRows:
    """The comparisons, row by row of their dates if they have any."""
    if data.dates is not None:
        own = data.dates
        return ComparisonRows(
            own.first, own.second, own.wins, own.losses, own.tied, own.x, own.respondent
        )
    cells, answers = (
        cells_of(data),
        data.answers if data.covariates is None else data.covariates.answers,
    )
    if answers is None:
        rows, counts, respondent = np.arange(len(cells.first)), cells, np.zeros(0, np.int64)
    else:
        rows, counts, respondent = answers.pair, answers, answers.respondent
    sides = cells.first[rows], cells.second[rows]
    return ComparisonRows(
        *sides, counts.wins, counts.losses, counts.tied, cells.x[rows], respondent
    )


def of_respondents(data: "PairedComparisons", members: np.ndarray) -> "PairedComparisons":
    """The comparisons of some people, by their places, with all options."""
    answers, pairs = known_answers(data).of_respondents(members)
    sums = [
        np.bincount(answers.pair, each, len(pairs))
        for each in (answers.wins, answers.losses, answers.tied)
    ]
    covariates = None if data.covariates is None else data.covariates.of_respondents(members, pairs)
    dates = None if data.dates is None else data.dates.of_respondents(members)
    return data._from_fields(
        data.labels, data.first[pairs], data.second[pairs], *sums, None, answers, covariates, dates
    )


def known_answers(data: "PairedComparisons") -> Answers:
    """Who gave which answers; a DataError if the data do not say."""
    if data.answers is None:
        raise DataError(
            "These comparisons do not identify respondents; read them again and name the column of"
            " respondents",
            InPython("", Message(", ", Argument("respondent"))),
            ".",
        )
    return data.answers


def _positions(data: "PairedComparisons", names: Iterable[str]) -> list[int]:
    """Where these options stand among the labels."""
    place = positions(data.labels)
    for name in names:
        if name not in place:
            near = suggest(name, data.labels) or f" The options are {shorten(data.labels)}."
            raise DataError(f"Unknown option {name!r}.{near}")
    return [place[name] for name in names]


def ties_unknown(ties: float, comparisons: float) -> DataError:
    """The error where data with ties meet a model or a test of choices alone."""
    are = "is a tie" if ties == 1 else "are ties"
    return DataError(
        f"{ties:,} of {plural(comparisons, 'comparison')} {are}, but ties are not supported here;"
        " count every tie as half a choice for each option with ",
        Message(InPython("data.without_ties('half')", "--ties half"), ", or drop all ties with "),
        Message(InPython("data.without_ties('drop')", "--ties drop"), "."),
    )


def with_known(
    data: "PairedComparisons",
    forward: np.ndarray | None,
    answers: Answers | None,
    covariates: PairCovariates | None,
    dates: Dates | None = None,
) -> "PairedComparisons":
    """The same counts with how many of them are in which order, who gave them, their covariates,
    and their dates."""
    return data._from_fields(
        *(getattr(data, name) for name in data._FIELDS[:-4]), forward, answers, covariates, dates
    )
