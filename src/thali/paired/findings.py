"""What a leaderboard finds out."""

import numpy as np

from thali._labels import shorten
from thali.model.finding import Finding, Findings, Picture, finding

from .leaderboard import Leaderboard

_MAX_ROWS = 30  # rows, and groups, that are printed
_READ = ("rank", "rank_low", "rank_high", "group", "rating", "rating_low", "rating_high", "comparisons")
_BESIDES = ("rank_without", "rating_without")  # with covariates


def findings_of(board: Leaderboard) -> Findings:
    """The findings of a leaderboard."""
    return Findings(board, (leaderboard, groups, covariates, order))


@finding("leaderboard", "Which options are best?")
def leaderboard(board: Leaderboard, settings: None) -> Finding:
    """Ranks and ratings with their intervals."""
    besides = () if board.effects is None else _BESIDES
    return Finding(
        board.title,
        table=board.table,
        shown=board.table[[*_READ, *besides]],
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


@finding("covariates", "What else decides a choice?")
def covariates(board: Leaderboard, settings: None) -> Finding | None:
    """The effects of covariates, and whose rank changes most by the control for them."""
    if board.effects is None:
        return None
    table, names = board.covariate_effects(), list(board.effects.index)
    factors = [f"{name} by {np.exp(effect):.3g}" for name, effect in table["effect"].items()]
    sentence = f"One more multiplies the odds of the first option: {', '.join(factors)}."
    moved = (board.table["rank_without"] - board.table["rank"]).abs()
    if moved.max() > 0:
        option, row = moved.idxmax(), board.table.loc[moved.idxmax()]
        sentence += (
            f" Without control for {'it' if len(names) == 1 else 'them'} {option!r} would be on rank "
            f"{row['rank_without']:.0f}, not {row['rank']:.0f}."
        )
    return Finding(sentence, title="Effects of covariates", table=table)


@finding("order", "How sure is each order?", ())
def order(board: Leaderboard, settings: None) -> Finding:
    """The probability that the row is above the column."""
    return Finding(table=board.order.rename_axis("option"))
