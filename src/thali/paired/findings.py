"""What a leaderboard finds out."""

from typing import Any

import numpy as np

from thali._labels import shorten
from thali.model.finding import Finding, Findings, Picture, finding

from .leaderboard import Leaderboard

_MAX_NAMED = 12  # covariates, or parts, of a sentence
_MAX_ROWS = 30  # rows, and groups, that are printed
_READ = ("rank", "rank_low", "rank_high", "group", "rating", "rating_low", "rating_high", "comparisons")
_BESIDES = ("rank_without", "rating_without")  # with covariates


def shorten_words(words: list[str]) -> str:
    """The first of several words, and how many more there are."""
    more = f" and {len(words) - _MAX_NAMED} more" if len(words) > _MAX_NAMED else ""
    return ", ".join(words[:_MAX_NAMED]) + more


def findings_of(board: Leaderboard) -> Findings:
    """The findings of a leaderboard."""
    return Findings(board, (leaderboard, groups, covariates, boards, order))


@finding("leaderboard", "Which options are best?")
def leaderboard(board: Leaderboard, settings: None) -> Finding:
    """Ranks and ratings with their intervals."""
    besides = () if board.effects is None else _BESIDES
    said = board.said_of_people
    return Finding(
        board.title,
        table=board.table,
        shown=board.table[[*_READ, *besides]],
        rows=_MAX_ROWS,
        picture=Picture(
            "leaderboard", "Ratings and ranks with their intervals, and groups that cannot be told apart.", (board,)
        ),
        notes=(*filter(None, (board.note,)), *(() if said is None else (said,))),
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
    table, names = board.covariate_effects().rename(columns={"effect": "log_odds"}), list(board.effects.index)
    table["odds"] = np.exp(table["log_odds"])
    factors = [f"{name} by {odds:.3g}" for name, odds in table["odds"].items()]
    sentence = f"One more multiplies the odds of the first option: {shorten_words(factors)}."
    moved: Any = (board.table["rank_without"] - board.table["rank"]).abs()
    if moved.max() > 0:
        option, row = moved.idxmax(), board.table.loc[moved.idxmax()]
        sentence += (
            f" Without control for {'it' if len(names) == 1 else 'them'} {option!r} would be on rank "
            f"{row['rank_without']:.0f}, not {row['rank']:.0f}."
        )
    return Finding(sentence, title="Effects of covariates", table=table)


@finding("boards", "Is it the same everywhere?")
def boards(board: Leaderboard, settings: None) -> Finding | None:
    """The board of each part of the comparisons: who is first, and whose place differs surely."""
    if not board.boards:
        return None
    table = board.by_part()
    first = [f"{name} {part.table.index[0]!r}" for name, part in board.boards.items()]
    sentence = f"First: {shorten_words(first)}."
    ends: list[Any] = [table[f"rating_{end}"].groupby(level="option") for end in ("low", "high")]
    differ = ends[0].max() > ends[1].min()
    options = [option for option in board.table.index if differ.get(option, False)]
    sentence += (
        f" Ratings whose intervals do not overlap between parts: {shorten(options, 8)}."
        if options
        else " No option has ratings whose intervals do not overlap between parts."
    )
    caption = "Ratings with their intervals in each part; grey: of all together."
    return Finding(
        sentence,
        title="Parts of the comparisons",
        table=table,
        shown=table[list(_READ)],
        rows=_MAX_ROWS,
        picture=Picture("boards", caption, (board,)),
    )


@finding("order", "How sure is each order?", ())
def order(board: Leaderboard, settings: None) -> Finding:
    """The probability that the row is above the column."""
    return Finding(table=board.order.rename_axis("option"))
