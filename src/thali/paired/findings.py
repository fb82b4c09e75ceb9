"""What a leaderboard finds out."""

from typing import Any

import numpy as np

from thali._labels import shorten
from thali.model.finding import Finding, Findings, Picture, finding

from .board import Leaderboard
from .ranked import CERTAIN

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
    return Findings(board, (leaderboard, groups, judges, worths_in_time, covariates, boards, order))


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


@finding("judges", "Who judges well?")
def judges(board: Leaderboard, settings: None) -> Finding | None:
    """The discrimination of judges, the sharpest and the least sharp first."""
    if board.of_judges is None:
        return None
    table: Any = board.judges()
    sharp = table.index[table["low"] > 1.0].tolist()
    dull = table.index[table["high"] < 1.0].tolist()[::-1]
    against = table.index[table["log_score"] < table["log_score_chance"]].tolist()
    sentence = f"Surely sharper than the typical judge: {shorten_words(sharp) or 'nobody'}"
    sentence += f"; surely less sharp: {shorten_words(dull) or 'nobody'}."
    if against:
        sentence += f" Predicted by the others no better than by chance: {shorten_words(against)}."
    return Finding(
        sentence,
        title="Judges",
        table=table,
        rows=_MAX_ROWS,
        picture=Picture("judges", "Discrimination of each judge with its interval; 1: the typical judge.", (board,)),
    )


@finding("worths_in_time", "Has it become better?")
def worths_in_time(board: Leaderboard, settings: None) -> Finding | None:
    """The ratings in each period, and who rose or fell surely since its first."""
    if board.in_time is None:
        return None
    table = board.worths_in_time()
    last: Any = table[table["period"] == table["period"].iloc[-1]].set_index("option")
    rose, fell = (last.index[each].tolist() for each in (last["p_better"] > CERTAIN, last["p_better"] < 1.0 - CERTAIN))
    sentence = f"Surely better than when it entered: {shorten_words(rose) or 'none'}"
    sentence += f"; surely worse: {shorten_words(fell) or 'none'}."
    caption = "Ratings in each period with their intervals."
    return Finding(
        sentence,
        title="Worths in time",
        table=table.set_index(["option", "period"]),
        rows=_MAX_ROWS,
        picture=Picture("worths_in_time", caption, (board,)),
    )


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
