"""Rankings in three shapes: a column a rank, a column an option, or a row for each option of a ranking."""

from typing import Any

from thali.data.choices import Choices
from thali.data.choices.ranking_columns import LONG, RankingColumns, ranking_columns, shown
from thali.data.described_columns import ColumnsRead
from thali.data.kinds import CHOICES
from thali.data.roles import COUNT, OPTION, RANK, RESPONDENT, by_plain_name

from ...shape import Lack, Reading, Shape
from ...table import Table

_RANKINGS = "table of rankings"
_RANKINGS_NAMED_BY = ("option", "rank", "unranked")


def match_rankings(
    table: Table,
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
    given = {"option": option, "rank": rank, "subject": respondent, "count": count}
    found = ranking_columns(table.frame, given)
    if found is None and (option is None or rank is None) and unranked is None:
        return None
    if found is not None and table.square is not None and (found.shape == LONG or not table.square.bare):
        return None
    how = "rankings" if found is None else shown(found)
    others = unranked or "absent"
    roles = None if found is None else _rankings_roles(found)
    return Reading(CHOICES, _RANKINGS, how, table, lambda: _read_rankings(table, given, others, weights), roles=roles)


def _rankings_roles(found: RankingColumns) -> ColumnsRead:
    """The columns that are read."""
    options, counts = ((*found.columns, found.group), (found.count,))
    return ColumnsRead(tuple(filter(None, options)), (), tuple(filter(None, counts)), found.subject)


def _read_rankings(table: Table, given: dict[str, Any], unranked: str, weights: bool) -> tuple[Choices, str]:
    data, how = Choices._of_rankings(table.frame, None, given, unranked, weights=weights)
    return data, f"{how}: {data}"


def rankings_lack(table: Table) -> Lack | None:
    """The option beside the rank, or the rank beside the option."""
    own = by_plain_name(table.names)
    option, rank = OPTION.among(own), RANK.among(own)
    if rank is not None and option is None:
        return Lack(f"a column of options beside {rank!r}", "option", 2)
    return None


RANKINGS = Shape(
    _RANKINGS,
    CHOICES,
    match_rankings,
    expected=(
        "a ranking a row with the columns 'rank1', 'rank2', ... (1st, 2nd; first choice) or a column an option "
        "that holds its rank, or an option of a ranking a row with the columns 'subject', 'option' and 'rank'"
    ),
    roles=(OPTION, RANK, RESPONDENT, COUNT),
    settings=("unranked", "weights"),
    named_by=_RANKINGS_NAMED_BY,
    lacks=rankings_lack,
    main=("respondent",),
)
