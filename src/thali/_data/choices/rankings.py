"""Rankings in tables, and as chains of choices: the best of all, the best of the rest, and so
on."""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._labels import as_label, checked_labels, plural, positions, short_number, shorten
from thali.errors import Argument, DataError

from ..answers import read_any_respondents
from ..checks import check_numbers
from ..columns import encode_column, get_column, describe_columns, read_counts, sort_texts
from ..people import build_people_table
from ..roles import COUNT, OPTION, RANK, RESPONDENT, TASK, map_plain_names, column_names, simplify_name
from .long import RawOccasions, count_occasions

if TYPE_CHECKING:
    import pandas as pd

# and its number: of whom nobody says who he is; the same name is another person elsewhere
NAMELESS = "ranking "


def _nameless(count: int) -> tuple[str, ...]:
    """What so many people are called who are known by their rankings alone."""
    return tuple(f"{NAMELESS}{k + 1}" for k in range(count))


# Which columns of a table hold rankings: a column a rank, a column an option, or a row for each
# option of a ranking


RANKS, OPTIONS, LONG, TEXT = "ranks", "options", "long", "text"
SHAPES = (RANKS, OPTIONS, LONG, TEXT)
# between options of a ranking as text; between those that tie, there and in columns of ranks
BEFORE, TIED = ">", " = "
_RANKING = re.compile(r"[^<>=]*[^<>=\s-]\s*(?:[>=][^<>=]*[^<>=\s-]\s*)+")
_GROUP = TASK.but(
    vague=f"{TASK.vague} race event ranker list vote voteid ballot ballotid rankingid"
)
_STEMS = {
    *RANK.sure,
    "choice",
    "pref",
    "preference",
    "top",
    "wahl",
    "choix",
    "favourite",
    "favorite",
}
_ORDINALS = tuple(
    tuple(map(simplify_name, text.split()))
    for text in (
        "first second third fourth fifth sixth seventh eighth ninth tenth",
        "best secondbest thirdbest fourthbest",
        " ".join(["1st", "2nd", "3rd", *(f"{k}th" for k in range(4, 100))]),
        "erste zweite dritte vierte fünfte sechste",
        "premier deuxième troisième quatrième cinquième",
        "primero segundo tercero cuarto quinto",
    )
)
_NUMBERED = re.compile(r"([^\d]*)(\d{1,9})")
_MAX_COLUMNS = 60  # columns among which those that hold ranks are looked for


class RankingColumns(NamedTuple):
    """The columns of rankings."""

    # RANKS: a column a rank, which holds an option; OPTIONS: a column an option; LONG: a row an
    # option;
    shape: str
    # TEXT: a column of rankings as "a > b = c"
    # of ranks or options; of a long table those of the option and of the rank
    columns: tuple[str, ...]
    respondent: str | None
    group: str | None  # which ranking a row of a long table belongs to
    count: str | None  # type: ignore[override]

    @property
    def used(self) -> set[str | None]:
        """All of them."""
        return {*self.columns, self.respondent, self.group, self.count}


def ranking_columns(
    frame: "pd.DataFrame", given: Mapping[str, str | None], unranked: str
) -> RankingColumns | None:
    """The columns of rankings by their names, or by what they hold; None if there are none.

    `given`: the names known of option, rank, respondent and count. Where options that a ranking
    does not name are worse, an empty column is one that nobody ranked.
    """
    names = column_names(frame)
    own = map_plain_names(names)
    respondent = given.get("respondent") or RESPONDENT.among(own)
    count = given.get("count") or COUNT.among(own)
    rest = [name for name in names if name not in (respondent, count)]
    rank = given.get("rank") or next(
        (own[n] for n in own if n in RANK.sure or (n.endswith("rank") and own[n] in rest)), None
    )
    option = given.get("option") or OPTION.among(own)
    if rank is not None and option is not None:
        group = _GROUP.among(own, (rank, option, respondent))
        return RankingColumns(LONG, (option, rank), respondent, group, count)
    if columns := _by_rank(rest):
        return RankingColumns(RANKS, tuple(columns), respondent, None, count)
    if columns := _of_options(frame, rest, with_empty=unranked == WORSE):
        return RankingColumns(OPTIONS, tuple(columns), respondent, None, count)
    texts = [name for name in rest if _holds_texts(get_column(frame, name))]
    if len(texts) == 1:
        return RankingColumns(TEXT, (texts[0],), respondent, None, count)
    return None


def _holds_texts(column: "pd.Series") -> bool:
    """Whether all cells are rankings such as "a > b = c"."""
    import pandas as pd

    if pd.api.types.is_numeric_dtype(column.dtype):
        return False
    texts = [text for text in map(as_label, column.unique()) if text]
    return bool(texts) and all(BEFORE in text and _RANKING.fullmatch(text) for text in texts)


def _groups_of_text(text: str) -> list[list[str]]:
    """The options of a ranking such as "a > b = c", the best first, and those that tie together."""
    return [[label.strip() for label in group.split(TIED.strip())] for group in text.split(BEFORE)]


def the_ranking_columns(
    frame: "pd.DataFrame", layout: str | None, given: Mapping[str, str | None], unranked: str
) -> RankingColumns:
    """The columns of rankings, in that layout if one is named."""
    for name in filter(None, given.values()):
        get_column(frame, name)
    found = ranking_columns(frame, given, unranked)
    if layout in (RANKS, OPTIONS) and (found is None or found.shape != layout):
        taken = set(filter(None, given.values()))
        columns = tuple(str(name) for name in frame.columns if name not in taken)
        found = RankingColumns(layout, columns, given.get("respondent"), None, given.get("count"))
    if found is None or layout not in (None, found.shape):
        raise DataError(
            f"The columns {shorten(column_names(frame), 12)} contain no rankings: expected one"
            " column per rank ('rank1', 'rank2' or '1st', '2nd'), one column of ranks per option,"
            " a column of texts such as 'a > b = c', or an option and its rank per row. Name the"
            " columns of the last layout with ",
            Argument("option"),
            " and ",
            Argument("rank"),
            ".",
        )
    return found


def _by_rank(names: list[str]) -> list[str]:
    """Columns called rank1, rank2, ...; 1st, 2nd, ...; first choice, second choice, ...; "1", "2",
    ... are no names."""
    stems: dict[str, list[str]] = {}
    for name in names:
        found = _NUMBERED.fullmatch(simplify_name(name))
        if (
            found
            and found[1] in _STEMS
            and int(found[2]) == len(stems.setdefault(found[1], [])) + 1
        ):
            stems[found[1]].append(name)
    own = map_plain_names(names)
    for ordinals in _ORDINALS:
        for ending in ("", "choice", "place", "rank", "preference", "wahl", "choix"):
            listed = []
            for word in ordinals:
                if word + ending not in own:
                    break
                listed.append(own[word + ending])
            stems[f"{ordinals[0]} {ending}"] = listed
    longest = max(stems.values(), key=len, default=[])
    return (
        longest
        if len(longest) > 1 and not (len(longest) == 2 and simplify_name(longest[0]) in ("first", "best"))
        else []
    )


def _of_options(frame: "pd.DataFrame", names: list[str], with_empty: bool) -> list[str]:
    """The longest run of columns in whose rows stand the ranks 1, 2, ..., if that is so in most
    rows."""
    import pandas as pd

    empty = {name for name in names if frame[name].isna().to_numpy().all()}
    numeric = {name for name in names if pd.api.types.is_numeric_dtype(frame[name].dtype)}
    may_hold_ranks = numeric | empty if with_empty else numeric - empty
    names = [name for name in names if name in may_hold_ranks][:_MAX_COLUMNS]
    if len(names) < 3 or not len(frame):
        return []
    ranks = np.nan_to_num(frame[names].to_numpy(dtype=float))
    for width in range(len(names), 2, -1):
        for start in range(len(names) - width + 1):
            part = ranks[:, start : start + width]
            if part.max() > width or part.min() < 0:
                continue
            if is_ranking(part).mean() > 0.5 or is_ranking(part, True).all():
                return names[start : start + width]
    return []


def is_ranking(ranks: np.ndarray, has_ties: bool = False) -> np.ndarray:
    """Whether each row holds the ranks 1, 2, ..., m of some options and 0 for the others, with m at
    least 2.

    With ties the ranks are 1, 2, 2, 4, and not all the same.
    """
    ordered = np.sort(ranks, axis=1)
    ranked = (ranks > 0).sum(axis=1)
    expected = np.arange(1, ranks.shape[1] + 1) - (ranks.shape[1] - ranked)[:, None]
    fits = np.where(expected > 0, expected, 0) == ordered
    if has_ties:
        fits[:, 1:] |= (expected[:, 1:] > 1) & (ordered[:, 1:] == ordered[:, :-1])
        ranked = ranked * (ordered[:, -1] > 1)
    return fits.all(axis=1) & (ranked > 1)


def shown(columns: RankingColumns) -> str:
    """The columns in words."""
    first, last = columns.columns[0], columns.columns[-1]
    if columns.shape == LONG:
        return f"one option of a ranking per row, option in {first!r}, rank in {last!r}"
    if columns.shape == TEXT:
        return f"one ranking per row, as text in {first!r}"
    what = "one column per rank" if columns.shape == RANKS else "one column of ranks per option"
    return f"one ranking per row, {what} ({first!r} to {last!r})"


def ranked_labels(frame: "pd.DataFrame", columns: tuple[str, ...]) -> list[list[str]]:
    """The texts of these columns, by column."""
    return [[as_label(value) for value in frame[name]] for name in columns]


MAX_SHOWN = 1 << 26  # options that all choices show together
WORSE, ABSENT = "worse", "absent"  # what an option is that a ranking does not name


class Ranked(NamedTuple):
    """Rankings in numbers."""

    labels: tuple[str, ...]
    # of each ranking options, the best first, and their ascending ranks
    orders: list[tuple[np.ndarray, np.ndarray]]
    name: Any  # of a ranking, by its number, for errors
    count: np.ndarray  # type: ignore[override]
    respondents: tuple[str, ...]
    respondent: np.ndarray
    people: "pd.DataFrame | None" = None


def rankings_of_list(rankings: Iterable[Any], labels: Any) -> Ranked:
    """Rankings as sequences of labels, the best first."""
    groups = [_sequence(k, ranking) for k, ranking in enumerate(rankings)]
    if not groups:
        raise DataError("The list is empty; give at least one ranking.")
    number = np.arange(len(groups))
    people = _nameless(len(number))
    return Ranked(
        *_numbered(groups, labels, _by_number), _by_number, np.ones(len(groups)), people, number
    )


def _by_number(number: int) -> str:
    return f"ranking {number + 1}"


def _sequence(number: int, ranking: Any) -> list[list[str]]:
    """Return the options of a ranking, the best first, and those that tie together."""
    if isinstance(ranking, str) and _RANKING.fullmatch(ranking):
        return _groups_of_text(ranking)
    if isinstance(ranking, str) or not isinstance(ranking, Sequence | np.ndarray):
        raise DataError(
            "Each ranking must be a list of options, best first, or a text such as 'a > b = c';"
            f" number {number + 1} is {ranking!r}."
        )
    return [
        list(map(as_label, each if isinstance(each, list | tuple | set) else [each]))
        for each in ranking
    ]


def rankings_of_frame(
    frame: "pd.DataFrame", columns: RankingColumns, labels: Any, weights: bool, unranked: str
) -> Ranked:
    """Rankings from the columns of a table; one of count 0 names options that no ranking may
    name."""
    if columns.shape == LONG:
        return _long(frame, columns, labels, weights)

    def name(number: int) -> str:
        return f"row {frame.index[number]}"

    count = read_counts(frame, columns.count, weights)
    if unranked == ABSENT:
        frame, count = frame.loc[count > 0], count[count > 0]
    if columns.shape == RANKS:
        texts = ranked_labels(frame, columns.columns)
        rows = [
            _upto_gap(row, cells, columns.columns, name)
            for row, cells in enumerate(zip(*texts, strict=True))
        ]
        names, orders = _numbered(
            [[cell.split(TIED) for cell in row] for row in rows], labels, name
        )
    elif columns.shape == TEXT:
        (texts,) = ranked_labels(frame, columns.columns)
        names, orders = _numbered(
            [_groups_of_text(text) if text else [] for text in texts], labels, name
        )
    else:
        names = tuple(map(as_label, columns.columns))
        cells = _ranks(frame, columns.columns)
        _refuse_zeros((cells == 0).sum(axis=1))
        every = np.arange(len(names))
        orders = [_by_ranks(row, ranks, every, names, name) for row, ranks in enumerate(cells)]
    respondent, people = np.full(len(frame), -1), ()
    table = None
    if columns.respondent is not None:
        respondent, people = encode_column(frame, columns.respondent)
    elif columns.count is None:
        respondent, people = np.arange(len(frame)), _nameless(len(frame))
    if people:
        table = build_people_table(frame, columns.used, respondent, people)
    return Ranked(names, orders, name, count, people, respondent, table)


def _upto_gap(row: int, cells: tuple[str, ...], columns: tuple[str, ...], name: Any) -> list[str]:
    """The options of a row up to the last that is named."""
    named = [k for k, text in enumerate(cells) if text]
    if not named:
        return []
    if len(named) <= named[-1]:
        gap = next(k for k in range(named[-1]) if not cells[k])
        raise DataError(
            f"There is no option at {columns[gap]!r} in {name(row)}, although later ranks have"
            " one; fill it in or move the later options up."
        )
    return list(cells[: len(named)])


def _ranks(frame: "pd.DataFrame", columns: tuple[str, ...]) -> np.ndarray:
    """The ranks, NaN or 0 where there are none."""
    k = len(columns)
    cells = frame.loc[:, list(columns)].to_numpy(dtype=object)
    return check_numbers(
        cells, lambda n: f"in row {frame.index[n // k]}, column {columns[n % k]!r}", "rank"
    ).reshape(-1, k)


def _refuse_zeros(zeros: np.ndarray) -> None:
    """Raise if every ranking has one rank 0, which may be its best option or one that it does not
    name."""
    if len(zeros) and (zeros == 1).all():
        raise DataError(
            "Every ranking has a rank 0, but ranks start at 1 for the best option. If 0 means"
            " best, add 1 to all ranks; if 0 means not ranked, leave these cells empty."
        )


def _by_ranks(
    number: int, ranks: np.ndarray, options: np.ndarray, names: tuple[str, ...], name: Any
) -> tuple[np.ndarray, np.ndarray]:
    """The options in the order of their ranks, those without one left out, and these ranks."""
    ranked = np.flatnonzero(np.nan_to_num(ranks) != 0)
    values, times = np.unique(ranks[ranked], return_counts=True)
    alone = values[times == 1]  # those that tie may have the mean of their ranks
    if (
        wrong := ranked[
            (ranks[ranked] < 0) | np.isin(ranks[ranked], alone[alone != np.floor(alone)])
        ]
    ).size:
        raise DataError(
            f"{names[options[wrong[0]]]!r} has rank {ranks[wrong[0]]:g} in {name(number)}; ranks"
            " must be integers starting at 1 for the best."
        )
    order = ranked[np.argsort(ranks[ranked], kind="stable")]
    return options[order], ranks[order]


def _long(frame: "pd.DataFrame", columns: RankingColumns, labels: Any, weights: bool) -> Ranked:
    """Rankings of which each option has a row."""
    option, rank = columns.columns
    alternative, names = encode_column(frame, option, labels)
    whose = [encode_column(frame, name) for name in (columns.respondent, columns.group) if name is not None]
    key = np.zeros(len(frame), np.int64)
    for codes, values in whose:
        key = key * len(values) + codes
    keys, first, which = np.unique(key, return_index=True, return_inverse=True)
    values = check_numbers(
        frame[rank].to_numpy(dtype=object),
        lambda n: f"in row {frame.index[n]}, column {rank!r}",
        "rank",
    )
    used = [each for each in (columns.respondent, columns.group) if each is not None]

    def name(number: int) -> str:
        where = " and ".join(
            f"{each} {as_label(frame[each].iloc[first[number]])!r}" for each in used
        )
        return f"the ranking of {where}" if where else "the ranking"

    rows = np.lexsort((alternative, which))
    same = (
        (np.diff(which[rows]) == 0)
        & (np.diff(alternative[rows]) == 0)
        & ~np.isnan(values[rows[:-1]])
    )
    if same.any():
        row = rows[1:][same].min()
        option, number = names[alternative[row]], which[row]
        several = "; if the respondent has several rankings, number them in a column 'task'" * (
            columns.group is None
        )
        raise DataError(
            f"{option!r} is listed twice in {name(int(number))}, the second time in row"
            f" {frame.index[row]}{several}."
        )
    _refuse_zeros(np.bincount(which[values == 0], minlength=len(keys)))
    of_rankings = np.split(rows, np.flatnonzero(np.diff(which[rows])) + 1)
    orders = [
        _by_ranks(k, values[own], alternative[own], names, name)
        for k, own in enumerate(of_rankings)
    ]
    who = read_any_respondents(frame, columns.respondent, columns.used)
    count = count_occasions(frame, columns.count, weights, which, name)[first]
    return Ranked(names, orders, name, count, who.names, who.number[first], who.people)


def _numbered(
    rankings: list[list[list[str]]], labels: Any, name: Any
) -> tuple[tuple[str, ...], list[tuple[np.ndarray, np.ndarray]]]:
    """All labels, and the positions among them of the options of rankings, with their ranks."""
    orders = [[label for group in groups for label in group] for groups in rankings]
    named = list(dict.fromkeys(label for order in orders for label in order))
    names = sort_texts(named) if labels is None else checked_labels(labels)
    place = positions(names)
    found = []
    for number, (order, groups) in enumerate(zip(orders, rankings, strict=True)):
        for k, label in enumerate(order):
            if label not in place:
                raise DataError(
                    f"{label!r} in {name(number)} is not in `labels`, {shorten(names)}."
                )
            if label in order[:k]:
                raise DataError(f"{label!r} occurs twice in {name(number)}; rank each option once.")
        ranks = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
        found.append((np.array([place[label] for label in order], np.int64), ranks))
    return names, found


def count_empty(found: Ranked, unranked: str) -> int:
    """Return the number of rankings in which no option comes before another."""
    least = len(found.labels) if unranked == WORSE else 0  # fewer options are before the others
    return sum(
        not len(ranks) or (ranks[0] == ranks[-1] and len(ranks) >= least)
        for _, ranks in found.orders
    )


def occasions_of_rankings(found: Ranked, unranked: str) -> RawOccasions:
    """The choices that rankings consist of; a choice out of one option is none."""
    alternatives, chosen, occasions, rankings = [], [], [], []
    every = np.arange(len(found.labels))
    _refuse_many(found, unranked)
    number = 0
    for k, (order, ranks) in enumerate(found.orders):
        rest = np.setdiff1d(every, order) if unranked == WORSE else every[:0]
        groups = np.flatnonzero(np.diff(ranks, prepend=-1.0, append=np.inf))
        for first, end in pairwise(groups.tolist()):  # those of equal rank
            offered = np.concatenate([order[first:], rest])
            if len(offered) == end - first or not found.count[k]:
                break
            alternatives.append(offered)
            chosen.append(np.arange(len(offered)) < end - first)
            occasions.append(np.full(len(offered), number))
            rankings.append(np.full(len(offered), k))
            number += 1
    if not number:
        rankings = plural(len(found.orders), "ranking")
        raise DataError(f"No option comes before another in {rankings}; rank at least two.")
    ranking = np.concatenate(rankings)
    return RawOccasions(
        found.labels,
        np.concatenate(occasions),
        np.concatenate(alternatives),
        np.concatenate(chosen),
        np.ones(len(ranking), bool),
        found.respondents,
        found.respondent[ranking],
        found.count[ranking],
        lambda _: "a ranking",
        found.people,
        has_ties=True,
    )


def _refuse_many(found: Ranked, unranked: str) -> None:
    """Raise if the choices would fill the memory: a ranking of 10,000 options is 10,000 choices out
    of 5,000 or so."""
    named = np.array([len(order) for order, _ in found.orders])
    rest = len(found.labels) - named if unranked == WORSE else 0
    if (shown := (named * (named + 1) // 2 + named * rest).sum()) > MAX_SHOWN:
        raise DataError(
            f"The longest ranking has {named.max():,} options; written as successive choices,"
            f" these rankings take {shown:,} rows, which do not fit into memory. Truncate the"
            " rankings."
        )


def words_of(found: Ranked, columns: RankingColumns, unranked: str) -> str:
    """How rankings were read, in words."""
    how = shown(columns) + describe_columns(columns.count, columns.respondent)
    how += (
        f"; {plural(short_number(found.count.sum()), 'ranking')} of {len(found.labels):,} options"
    )
    if partial := sum(len(order) < len(found.labels) for order, _ in found.orders):
        meaning = (
            "were offered and rank below all others" if unranked == WORSE else "were not offered"
        )
        how += f"; {plural(partial, 'incomplete ranking')}, whose missing options {meaning}"
    if tied := found.count[[len(np.unique(ranks)) < len(ranks) for _, ranks in found.orders]].sum():
        how += f"; {plural(short_number(tied), 'ranking')} with ties"
    return how
