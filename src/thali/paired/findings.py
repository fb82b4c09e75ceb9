"""What a leaderboard finds out."""

from thali._labels import shorten
from thali.model.finding import Finding, Findings, Picture, finding

from .leaderboard import Leaderboard

_MAX_ROWS = 30  # rows, and groups, that are printed
_READ = ("rank", "rank_low", "rank_high", "group", "rating", "rating_low", "rating_high", "comparisons")


def findings_of(board: Leaderboard) -> Findings:
    """The findings of a leaderboard."""
    return Findings(board, (leaderboard, groups, order))


@finding("leaderboard", "Which options are best?")
def leaderboard(board: Leaderboard, settings: None) -> Finding:
    """Ranks and ratings with their intervals."""
    return Finding(
        board.title,
        table=board.table,
        shown=board.table[list(_READ)],
        rows=_MAX_ROWS,
        picture=Picture(
            "leaderboard", "Ratings and ranks with their intervals, and groups that cannot be told apart.", (board,)
        ),
        notes=(board.note,) if board.note else (),
    )


@finding("groups", "Which options cannot be told apart?")
def groups(board: Leaderboard, settings: None) -> Finding | None:
    """The groups of several options."""
    several = [(k, members) for k, members in enumerate(board.groups, start=1) if len(members) > 1]
    if not several:
        return None
    lines = [f"{k}: {shorten(members, 8)}." for k, members in several[:_MAX_ROWS]]
    more = [f"... and {len(several) - _MAX_ROWS:,} more groups."] if len(several) > _MAX_ROWS else []
    return Finding("Groups that cannot be told apart:", notes=(*lines, *more))


@finding("order", "How sure is each order?", ())
def order(board: Leaderboard, settings: None) -> Finding:
    """The probability that the row is above the column."""
    return Finding(table=board.order.rename_axis("option"))
