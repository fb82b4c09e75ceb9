"""Paired comparisons as results of games: a row names both sides and says who won, by a result or by goals."""

from typing import Any

from thali.data.kinds import PAIRS
from thali.data.roles import AWAY, COUNT, HOME, RESPONDENT, RESULT

from ...shape import Reading, Shape
from ...table import Table
from .trials import GAMES_BY, _match_sides, _sides_lack

_RESULTS = "table of results"


def match_results(
    table: Table, coding: Any = None, weights: bool = False, covariates: Any = None, **columns: str | None
) -> Reading | None:
    """A table with two columns of sides and their result, some of them named perhaps."""
    return _match_sides(_RESULTS, True, table, columns, coding, weights, covariates)


RESULTS_OF_GAMES = Shape(
    _RESULTS,
    PAIRS,
    match_results,
    expected=(
        "a game a row, with the columns 'home', 'away' and 'result' (H, D, A; 1, X, 2; 1, 0, -1) or the goals of either"
    ),
    roles=(HOME, AWAY, RESULT, RESPONDENT, COUNT),
    settings=("coding", "weights", "covariates"),
    named_by=GAMES_BY,
    lacks=lambda table: _sides_lack(table, True),
    main=("home", "away", "result"),
)
