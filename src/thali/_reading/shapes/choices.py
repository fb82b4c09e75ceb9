"""The shapes of table that hold choices from sets: a long table, rankings, best-worst choices."""

from typing import Any

from thali._data.choices import Choices
from thali._data.choices.best_worst import best_columns, best_worst_columns, long_columns, series
from thali._data.choices.long import LONG_ROLES, is_long_table, roles
from thali._data.choices.rankings import LONG, OPTIONS, RankingColumns, ranking_columns, shown
from thali._data.described_columns import ColumnsRead
from thali._data.experiments.wide import wide_tasks
from thali._data.kinds import CHOICES
from thali._data.roles import (
    ALTERNATIVE,
    BEST,
    CHOSEN,
    COUNT,
    ODD,
    OPTION,
    RANK,
    RESPONDENT,
    RESPONDENT_OF_TASKS,
    TASK,
    WEIGHTS,
    WORST,
    by_plain_name,
    plain,
)
from thali.errors import DataError

from ..shape import Lack, Reading, Shape
from ..table import RawTable
from .experiments import numbers_places

# Choices of one option out of several as a long table: a row for each alternative of each occasion


_LONG = "long table of choices"
_NEEDED = (
    ((TASK, RESPONDENT_OF_TASKS), Lack("a column that numbers the choice sets", "choice_id")),
    ((ALTERNATIVE,), Lack("a column of alternatives", "alternative")),
    ((CHOSEN,), Lack("a column with 1 for the chosen alternative and 0 for the others", "chosen")),
)
_LONG_NAMED_BY = ("choice_id", "alternative")


def match_long(table: RawTable, **columns: str | None) -> Reading | None:
    """A table of which a column was named, or whose columns have the usual names; sure if their
    cells say so, too."""
    named = {role: name for role, name in columns.items() if name is not None}
    asked = any(columns.get(name) is not None for name in _LONG_NAMED_BY)
    try:
        found = roles(table.frame, dict.fromkeys(LONG_ROLES) | named)
    except DataError:
        if not asked:
            return None
        return Reading(CHOICES, _LONG, "long table", table, lambda: _read_long(table, named))
    sure = asked or (is_long_table(table.frame) and not numbers_places(table))
    return Reading(
        CHOICES,
        _LONG,
        _long_sentence(found),
        table,
        lambda: _read_long(table, named),
        sure,
        roles=_long_roles(found),
    )


def _long_roles(found: dict[str, str | None]) -> ColumnsRead:
    """The columns that are read; an occasion of everybody's own says who answered."""

    def named(*roles: str) -> tuple[str, ...]:
        return tuple(name for role in roles if (name := found[role]) is not None)

    options, whose = (
        named("alternative", "choice_id", "available"),
        named("respondent", "choice_id"),
    )
    return ColumnsRead(options, named("chosen"), named("count"), found["respondent"], answer=whose)


def _read_long(table: RawTable, named: dict[str, Any]) -> tuple[Choices, str]:
    found = roles(table.frame, dict.fromkeys(LONG_ROLES) | named)
    fractional: dict[str, Any] = {"weights": plain(found["count"] or "") in WEIGHTS}
    data = Choices(table.frame, **fractional | named)
    return data, f"{_long_sentence(found)}: {data}"


def _long_sentence(found: dict[str, str | None]) -> str:
    how = (
        f"long table, options in {found['alternative']!r}, marked as chosen in"
        f" {found['chosen']!r}, choice sets in {found['choice_id']!r}"
    )
    if found["respondent"] not in (None, found["choice_id"]):
        how += f", respondents in {found['respondent']!r}"
    for role, word in (("available", "offers marked in"), ("count", "counts in")):
        how += f", {word} {found[role]!r}" if found[role] is not None else ""
    return how


def long_lacks(table: RawTable) -> Lack | None:
    """The column that is missing where the two others are there."""
    own = by_plain_name(table.names)
    missing = [lack for roles, lack in _NEEDED if all(role.among(own) is None for role in roles)]
    return missing[0]._replace(near=2) if len(missing) == 1 else None


LONG_TABLE = Shape(
    _LONG,
    CHOICES,
    match_long,
    expected=(
        "one row per alternative of a choice set, with the columns 'choice_id', 'alternative' and"
        " 'chosen' (or 'task', 'obsID'; 'alt', 'option'; 'choice')"
    ),
    roles=(TASK, ALTERNATIVE, CHOSEN, RESPONDENT_OF_TASKS, COUNT),
    named_by=_LONG_NAMED_BY,
    lacks=long_lacks,
    main=("choice_id", "alternative", "chosen"),
)


# Rankings in three shapes: a column a rank, a column an option, or a row for each option of a
# ranking


_RANKINGS = "table of rankings"
_RANKINGS_NAMED_BY = ("option", "rank", "unranked")


def match_rankings(
    table: RawTable,
    option: str | None = None,
    rank: str | None = None,
    respondent: str | None = None,
    count: str | None = None,
    unranked: str | None = None,
    weights: bool = False,
) -> Reading | None:
    """A table whose columns are called like ranks, or hold those of options in every row."""
    if not table.named:
        return None
    given = {"option": option, "rank": rank, "respondent": respondent, "count": count}
    others = unranked or "absent"
    found = ranking_columns(table.frame, given, others)
    if found is None and (option is None or rank is None) and unranked is None:
        return None
    if (
        found is not None
        and table.square is not None
        and (found.shape == LONG or not table.square.is_bare)
    ):
        return None
    if found is not None and found.shape == OPTIONS and _holds_no_ranks(table, found):
        return None
    how = "rankings" if found is None else shown(found)
    roles = None if found is None else _rankings_roles(found)
    return Reading(
        CHOICES,
        _RANKINGS,
        how,
        table,
        lambda: _read_rankings(table, given, others, weights),
        roles=roles,
    )


def _holds_no_ranks(table: RawTable, found: RankingColumns) -> bool:
    """Whether another column says what was chosen of options called 1, 2, 3, or of products with
    such levels."""
    own = by_plain_name(table.names)
    if (
        ODD.among(own)
        or (BEST.among(own) and WORST.among(own))
        or best_columns(table.frame, {}) is not None
    ):
        return True
    tasks = wide_tasks(table.frame, {})
    return tasks is not None and not tasks.used.isdisjoint(found.columns)


def _rankings_roles(found: RankingColumns) -> ColumnsRead:
    """The columns that are read."""
    options, counts, whose = (
        tuple(filter(None, names))
        for names in (
            (*found.columns, found.group),
            (found.count,),
            (found.respondent, found.group),
        )
    )
    return ColumnsRead(
        options, (), counts, found.respondent, answer=whose if found.shape == LONG else None
    )


def _read_rankings(
    table: RawTable, given: dict[str, Any], unranked: str, weights: bool
) -> tuple[Choices, str]:
    data, how = Choices._of_rankings(table.frame, None, given, unranked, weights=weights)
    return data, f"{how}: {data}"


def rankings_lack(table: RawTable) -> Lack | None:
    """The option beside the rank, or the rank beside the option."""
    own = by_plain_name(table.names)
    option, rank = OPTION.among(own), RANK.among(own)
    if rank is not None and option is None:
        return Lack(f"a column of options to match {rank!r}", "option", 2)
    return None


RANKINGS = Shape(
    _RANKINGS,
    CHOICES,
    match_rankings,
    expected=(
        "one ranking per row, with the columns 'rank1', 'rank2', ... (or '1st', '2nd'; 'first"
        " choice'), one column of ranks per option, or a column of texts such as 'a > b = c'; or"
        " one row per option of a ranking, with the columns 'respondent', 'option' and 'rank'"
    ),
    roles=(OPTION, RANK, RESPONDENT, COUNT),
    settings=("unranked", "weights"),
    named_by=_RANKINGS_NAMED_BY,
    lacks=rankings_lack,
    main=("respondent",),
    needs="no columns of ranks",
)


# Best-worst choices: a set a row, and which of its options is the best and which the worst --------


_BEST_WORST = "table of best-worst choices"


def match_best_worst(
    table: RawTable,
    best: str | None = None,
    worst: str | None = None,
    respondent: str | None = None,
    count: str | None = None,
    weights: bool = False,
) -> Reading | None:
    """A table with a column of the best, one of the worst, and a series of options."""
    given = {"best": best, "worst": worst, "respondent": respondent, "count": count}
    marked = long_columns(table.frame, given)
    if marked is not None:
        whose = tuple(filter(None, (marked.respondent, marked.task)))
        roles = _best_worst_roles(marked, marked.option, marked.task)._replace(answer=whose)
        return _best_worst_reading(_BEST_WORST, table, given, weights, str(marked), roles)
    try:
        found = best_worst_columns(table.frame, given)
    except DataError:
        if best is None and worst is None:
            return None
        return _best_worst_reading(_BEST_WORST, table, given, weights, _BEST_WORST, None)
    return _best_worst_reading(
        _BEST_WORST, table, given, weights, str(found), _best_worst_roles(found, *found.options)
    )


def _best_worst_reading(
    name: str,
    table: RawTable,
    given: dict[str, Any],
    weights: bool,
    how: str,
    roles: ColumnsRead | None,
) -> Reading:
    def convert() -> tuple[Choices, str]:
        data = Choices.from_best_worst(table.frame, **given, weights=weights)
        return data, f"{how}: {data}"

    return Reading(CHOICES, name, how, table, convert, roles=roles)


def _best_worst_roles(found: Any, *options: str) -> ColumnsRead:
    """The columns that are read."""
    return ColumnsRead(
        options, (found.best, found.worst), tuple(filter(None, (found.count,))), found.respondent
    )


def best_worst_lacks(table: RawTable) -> Lack | None:
    """The options beside the best and the worst."""
    own = by_plain_name(table.names)
    best, worst = BEST.among(own), WORST.among(own)
    if best is not None and worst is not None:
        return Lack(
            "the columns 'option1', 'option2', 'option3' with the options offered, to match"
            f" {best!r} and {worst!r}",
            near=3,
        )
    if best is not None and series([name for name in table.names if name != best]):
        return Lack(f"a column with the worst option to match {best!r}", "worst", 3)
    return None


BEST_WORST_TABLE = Shape(
    _BEST_WORST,
    CHOICES,
    match_best_worst,
    expected=(
        "one set of options per row, in the columns 'option1', 'option2', 'option3', with the"
        " columns 'best' and 'worst' (or 'most', 'least'); or one row per option of a set, with"
        " 'task', 'item', and 1 in 'best' and in 'worst'"
    ),
    roles=(BEST, WORST, RESPONDENT, COUNT),
    settings=("weights",),
    named_by=("best", "worst"),
    lacks=best_worst_lacks,
    main=("best", "worst", "respondent"),
)


# Choices of the best: a set a row, and which of its options is the best ---------------------------


_BEST = "table of sets and the best of each"


def match_best(
    table: RawTable, respondent: str | None = None, count: str | None = None, weights: bool = False
) -> Reading | None:
    """A table with a series of options and a column of the best, and none that may be of the
    worst."""
    given = {"respondent": respondent, "count": count}
    found = best_columns(table.frame, given)
    tasks = wide_tasks(table.frame, {})
    if found is None or (tasks is not None and tasks.chosen != found.best):
        return None

    roles = ColumnsRead(
        found.options, (found.best,), tuple(filter(None, (found.count,))), found.respondent
    )
    return _best_worst_reading(_BEST, table, given, weights, str(found), roles)


BEST_TABLE = Shape(
    _BEST,
    CHOICES,
    match_best,
    expected="one set of at least three options per row, in the columns 'option1', 'option2',"
    " 'option3', and 'best'",
    roles=(RESPONDENT, COUNT),
    settings=("weights",),
    main=("respondent",),
    needs="no series of options with the best one",
)


SHAPES = LONG_TABLE, RANKINGS, BEST_WORST_TABLE, BEST_TABLE
