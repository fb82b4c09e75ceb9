"""Paired comparisons as trials: a row names both options and says which was chosen; so do logs of arenas."""

from functools import partial
from typing import Any

from thali.data.described_columns import ColumnsRead
from thali.data.kinds import PAIRS
from thali.data.pairs import PairedComparisons
from thali.data.pairs.trials import described_sides, near_trials, trial_columns
from thali.data.roles import CHOSEN_OF_TWO, COUNT, FIRST, RESPONDENT, SECOND
from thali.errors import DataError

from ...shape import Lack, Reading, Shape
from ...table import Table

_TRIALS = "table of trials"
OPTIONS = ("first", "second", "chosen", "respondent", "count")


def match_trials(
    table: Table, coding: Any = None, weights: bool = False, covariates: Any = None, **columns: str | None
) -> Reading | None:
    """A table with two columns of options and one that says which was chosen, some of them named perhaps."""
    return _match_sides(_TRIALS, False, table, columns, coding, weights, covariates)


def _match_sides(
    name: str,
    game: bool,
    table: Table,
    columns: dict[str, str | None],
    coding: Any,
    weights: bool,
    covariates: Any,
) -> Reading | None:
    """A table of trials or of games; sure if its cells say so, too."""
    given = {role: columns.get(each) for role, each in zip(ROLES, OPTIONS if not game else RESULTS, strict=True)}
    named = any(columns.get(each) is not None for each in (GAMES_BY if game else TRIALS_BY))
    try:
        found = trial_columns(table.frame, given, game)
    except DataError:
        if not named or not table.named:
            return None
        return Reading(PAIRS, name, name, table, partial(_read_trials, table, given, game, coding, weights, covariates))
    if found.game != game or (table.square is not None and not named):
        return None
    how = f"{found.first!r} against {found.second!r}, won by {found.verdict[-1]!r}"
    sure = named or not described_sides(table.frame, found)
    counts = () if found.count is None else (found.count,)
    described = [column for column in covariates or () if column in table.names]
    counted = (found.first, found.second, *found.verdict, *described, *counts), counts
    convert = partial(_read_trials, table, given, game, coding, weights, covariates)
    roles = ColumnsRead((found.first, found.second), found.verdict, counts, found.subject, judged=not game)
    return Reading(PAIRS, name, how, table, convert, sure, counted=counted, roles=roles)


def _read_trials(
    table: Table, given: dict[str, str | None], game: bool, coding: Any, weights: bool, covariates: Any
) -> tuple[PairedComparisons, str]:
    data, how = PairedComparisons._of_trials(table.frame, given, game, coding, weights=weights, covariates=covariates)
    return data, f"{GAMES if game else TRIALS}, {how}: {data}"


ROLES = ("first", "second", "chosen", "subject", "count")
RESULTS = ("home", "away", "result", "respondent", "count")
TRIALS_BY, GAMES_BY = ("first", "second"), ("home", "away", "result")
TRIALS, GAMES = "one trial a row", "one game a row"


def trials_lack(table: Table) -> Lack | None:
    """The column that says which was chosen, beside two of options."""
    return _sides_lack(table, False)


def _sides_lack(table: Table, game: bool) -> Lack | None:
    """What trials or games lack: the outcome, one of the two options, or their names."""
    found = near_trials(table.frame, game)
    if found is None:
        return None
    options = RESULTS if game else OPTIONS
    return Lack(found.what, options[ROLES.index(found.role)], found.near)


TRIAL_TABLE = Shape(
    _TRIALS,
    PAIRS,
    match_trials,
    expected=(
        "a trial a row, with the columns 'left', 'right' (a, b; option1, option2; model_a, model_b) and 'chosen' "
        "(winner, response), which holds an option, its side or 'tie'"
    ),
    roles=(FIRST, SECOND, CHOSEN_OF_TWO, RESPONDENT, COUNT),
    settings=("coding", "weights", "covariates"),
    named_by=TRIALS_BY,
    lacks=trials_lack,
    main=("first", "second", "chosen"),
)
