"""What a leaderboard finds out."""

import itertools
from typing import Any

import numpy as np

from thali._data.choices import Choices
from thali._digits import percent, probability
from thali._labels import plural, short_number, shorten
from thali._model.finding import FULL, ON_SCREEN, Brief, Finding, Findings, Picture, finding
from thali._posterior.surely import CERTAIN, surely
from thali.errors import Message, Setting

from . import made
from .board import Leaderboard
from .counted import listed
from .more_votes import CHANCES, FIRST, needed
from .worths import FEW

MAX_OPTIONS, _MAX_OF_PAIRS = 60, 40  # options that are drawn, and those of the table of pairs
_MAX_NAMED = 12  # covariates, or parts, of a sentence
_FEW_VOTES = 30  # in a part, or as many as options, below which its prior says most
_MAX_ORDERS = 20  # options whose orders are shown
_READ = ("rank", "rank_low", "rank_high", "tier", "rating", "rating_low", "rating_high", "comparisons")
_BESIDES = ("rank_without", "rating_without")  # with covariates


def shorten_words(words: list[str]) -> str:
    """The first of several words, and how many more there are."""
    more = f" and {len(words) - _MAX_NAMED} more" if len(words) > _MAX_NAMED else ""
    return ", ".join(words[:_MAX_NAMED]) + more


def findings_of(board: Leaderboard) -> Findings:
    """The findings of a leaderboard."""
    return Findings(
        board,
        (
            *(leaderboard, groups, votes, judges, worths_in_time, covariates, boards, order, votes_by_pair),
            *(made.data, made.methods, made.convergence, made.independence),
        ),
    )


def _left_out(names: list[str], most: int) -> str:
    """A sentence that says which options a picture does not have; "" if it has all."""
    if len(names) <= most:
        return ""
    if len(names) == most + 1:
        return f" Left out is rank {len(names):,}: {names[-1]!r}."
    return f" Left out are the ranks {most + 1:,} to {len(names):,}: {shorten(names[most:], 8)}."


@finding("leaderboard", "Which options are best?", ON_SCREEN)
def leaderboard(board: Leaderboard, settings: None) -> Finding:
    """Ranks and ratings with their intervals."""
    besides = () if board.effects is None else _BESIDES
    said = board.said_of_people
    return Finding(
        _first(board),
        title="Ranks and ratings",
        table=board.table,
        shown=board.table[[*_READ, *besides]],
        picture=Picture(
            "leaderboard",
            "Ratings and ranks with their intervals, and groups that cannot be told apart."
            + _left_out(board.table.index.tolist(), MAX_OPTIONS),
            (board,),
        ),
        notes=(f"{board.title}.", board.note, *(() if said is None else (said,))),
        brief=Brief("Ranks", table=board.table[list(_READ)]),
    )


def _first(board: Leaderboard) -> str:
    """A sentence about who is first, how sure that is, and who cannot be told apart from it."""
    first, *others = board.table.index
    alike = [option for option in others if board.order.loc[first, option] < CERTAIN]
    p_1 = float(board.table["p_1"].loc[first])
    sentence = f"{first!r} is first, with probability {probability(p_1)}; "
    if not alike:
        return f"{sentence}all others can be told apart from it."
    return f"{sentence}{plural(len(alike), 'option')} cannot be told apart from it: {shorten(alike)}."


@finding("groups", "Which options cannot be told apart?")
def groups(board: Leaderboard, settings: None) -> Finding | None:
    """The groups of several options."""
    several = [(k, members) for k, members in enumerate(board.groups, start=1) if len(members) > 1]
    if not several:
        return None
    return Finding(
        "Groups that cannot be told apart:", notes=tuple(f"{k}: {shorten(members, 8)}." for k, members in several)
    )


@finding("votes", "Are there enough votes?", ON_SCREEN)
def votes(board: Leaderboard, settings: None) -> Finding | None:
    """How many more votes tell the first three apart."""
    if board.of_more_votes is None:
        return None
    table = board.more_votes()
    first = board.table.index[:FIRST].tolist()
    these = {2: "two", 3: "three"}[len(first)]
    if table.loc[0].min() == 1.0:
        headline = f"The first {these} are told apart."
        told = f"Yes: the first {these} ({shorten(first)}) are told apart."
        return Finding(told, good=True, headline=headline, brief=Brief("Votes", order=2))
    sure = [
        f"{above!r} is above {below!r} with probability {board.order.loc[above, below]:.3f}"
        for above, below in itertools.pairwise(first)
    ]
    sentence = f"No: the order of the first {these} is not certain; {' and '.join(sure)}."
    asked = "choices out of sets" if isinstance(board.data, Choices) else "votes on pairs"
    brief, ways = (
        sentence,
        {
            "as_so_far": f"{asked} in the proportions that they have so far",
            "among_these": f"votes on pairs of these {these} alone",
        },
    )
    shown = {0, table.index[-1]}
    for way, meant in ways.items():
        if way in table:
            even, sure_of_it = (needed(table[way].tolist(), table.index.tolist(), chance) for chance in CHANCES)
            shown.update(filter(None, (even, sure_of_it)))
            sentence += f" With {meant}, {_more(even, sure_of_it, table.index[-1])}."
            brief = sentence if way == "as_so_far" else brief
    note = (
        "Told apart: of each two one is above the other with probability 0.95 or more. Simulated: truths drawn "
        "from the posterior, and what further votes say of them, as normal distributions. Some truths are so near to "
        "each other that hardly any number of votes tells them apart."
    )
    return Finding(
        sentence,
        title="Are the first told apart after more votes?",
        table=table,
        shown=table.loc[sorted(shown)],
        notes=(note,),
        good=False,
        headline=f"The order of the first {these} is not certain yet.",
        brief=Brief("Votes", brief, order=2),
    )


def _more(even: int | None, sure: int | None, most: int) -> str:
    """How many more votes, in words."""
    low, high = (percent(chance) for chance in CHANCES)
    if even is None:
        return f"even {most:,} more tell them apart with a probability below {low}"
    if sure is None:
        return f"{even:,} more tell them apart with a probability of {low}, and {most:,} with one below {high}"
    return f"{even:,} more tell them apart with a probability of {low}, {sure:,} with {high}"


@finding("judges", "Who judges well?", ON_SCREEN)
def judges(board: Leaderboard, settings: None) -> Finding | None:
    """The discrimination of judges, the sharpest and the least sharp first."""
    if board.of_judges is None:
        return None
    table: Any = board.judges()
    sharp, dull = (table.index[each].tolist() for each in surely(table["p_sharper"]))
    is_known = table["comparisons"] >= FEW  # of a few answers the score says nothing
    against = table.index[is_known & (table["log_score"] < table["log_score_chance"])].tolist()
    sentence = f"Surely sharper than the typical judge: {shorten_words(sharp) or 'nobody'}"
    sentence += f"; surely less sharp: {shorten_words(dull[::-1]) or 'nobody'}."
    sentence += _all_right(len(sharp) + len(dull), plural(len(table), "judge"))
    if against:
        sentence += f" Predicted by the others no better than by chance: {shorten_words(against)}."
    return Finding(
        sentence,
        title="Judges",
        table=table,
        picture=Picture("judges", "Discrimination of each judge with its interval; 1: the typical judge.", (board,)),
        brief=Brief("Judges"),
    )


def _all_right(named: int, asked: str) -> str:
    """A sentence about how sure it is that some of many are named rightly."""
    if named == 0:
        return f" Of {asked} nobody is named unless it is so with a probability of {CERTAIN:g} or more."
    who = "That this is so" if named == 1 else f"That all {named:,} named are so"
    return f" {who}, of {asked} asked about, has a probability of {CERTAIN:g} or more."


def _last(board: Leaderboard) -> Any:
    """The worths in the last period, a row an option."""
    table = board.worths_in_time()
    return table[table["period"] == table["period"].iloc[-1]].set_index("option")


def changed(board: Leaderboard) -> tuple[list[str], list[str]]:
    """The options of a leaderboard with periods that are surely better than when they entered, and surely worse."""
    last = _last(board)
    better, worse = (last.index[each].tolist() for each in surely(last["p_better"]))
    return better, worse


@finding("worths_in_time", "Has it become better?", ON_SCREEN)
def worths_in_time(board: Leaderboard, settings: None) -> Finding | None:
    """The ratings in each period, and who rose or fell surely since its first."""
    if board.in_time is None:
        return None
    table = board.worths_in_time()
    rose, fell = changed(board)
    sentence = f"Surely better than when it entered: {shorten_words(rose) or 'none'}"
    sentence += f"; surely worse: {shorten_words(fell) or 'none'}."
    sentence += _all_right(len(rose) + len(fell), plural(int(_last(board)["p_better"].count()), "option"))
    caption = (
        "Ratings in each period with their intervals; coloured: options that have surely become better or worse, and "
    )
    caption += "the best."
    return Finding(
        sentence,
        title="Worths in time",
        table=table.set_index(["option", "period"]),
        picture=Picture("worths_in_time", caption, (board,)),
        brief=Brief("Changes"),
    )


@finding("covariates", "What else decides a choice?", ON_SCREEN)
def covariates(board: Leaderboard, settings: None) -> Finding | None:
    """The effects of covariates, and whose rank changes most by the control for them."""
    described = board.data.covariates
    if board.effects is None or described is None:
        return None
    table, names = board.covariate_effects().rename(columns={"effect": "log_odds"}), list(board.effects.index)
    table["more"] = described.units(table["log_odds"].tolist())
    for of, odds in (("log_odds", "odds"), ("low", "odds_low"), ("high", "odds_high")):
        table[odds] = np.exp(table[of] * table["more"])
    factors = [
        f"{row['more']:,.0f} more of {name} by {row['odds']:.3g} ({row['odds_low']:.3g} to {row['odds_high']:.3g})"
        for name, row in table.iterrows()
    ]
    sentence = f"The odds of the first option are multiplied: with {shorten_words(factors)}."
    moved: Any = (board.table["rank_without"] - board.table["rank"]).abs()
    if moved.max() > 0:
        option, row = moved.idxmax(), board.table.loc[moved.idxmax()]
        sentence += (
            f" Without control for {'it' if len(names) == 1 else 'them'} {option!r} would be on rank "
            f"{row['rank_without']:.0f}, not {row['rank']:.0f}."
        )
    return Finding(sentence, title="Effects of covariates", table=table, brief=Brief("Covariates"))


@finding("boards", "Is it the same everywhere?", ON_SCREEN)
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
    notes = (*_in_no_part(board), *_of_few(board))
    return Finding(
        sentence,
        title="Parts of the comparisons",
        table=table,
        shown=table[list(_READ)],
        notes=notes,
        brief=Brief("Parts"),
    )


def _in_no_part(board: Leaderboard) -> tuple[str, ...]:
    """A sentence about comparisons whose cell of a column that divides them is empty."""
    if board.made is None:
        return ()
    columns = listed(board.made.columns["by"])
    left = dict.fromkeys(columns, board.data.n_answers)
    for name, part in board.boards.items():
        own = [column for column in columns if len(columns) == 1 or name.startswith(f"{column} ")]
        left[max(own, key=len)] -= part.data.n_answers
    words = board.data.word_for_answers
    return tuple(
        f"{short_number(number):,} of {board.data.n_answers:,} {words} have no {column!r}: they are in no part, and "
        "count for all together."
        for column, number in left.items()
        if number > 0
    )


def _of_few(board: Leaderboard) -> tuple[Message, ...]:
    """A sentence about parts with fewer votes than options, or than 30."""
    parts = board.boards.items()
    few = [f"{name} ({part.data.n_answers:,})" for name, part in parts if part.data.n_answers < _few_for(part)]
    if not few:
        return ()
    said = f"What the boards of few votes say is mostly that of their prior: {shorten_words(few)}"
    if board.made is not None and board.made.settings["pool"]:
        return (Message(f"{said}, which is what the parts have in common."),)
    return (Message(said, "; ", Setting("pool", True), " lets parts borrow strength from each other."),)


def _few_for(board: Leaderboard) -> int:
    """Below so many votes a board is one of few."""
    return max(_FEW_VOTES, board.data.n_options)


@finding("order", "How sure is each order?", FULL)
def order(board: Leaderboard, settings: None) -> Finding:
    """The probability that the row is above the column, of the first options."""
    first = board.table.index[:_MAX_ORDERS]
    table = board.order.loc[first, first].rename_axis("option")
    more = len(board.order) - len(first)
    besides = f", of the first {len(first)} of {len(board.order):,}" if more else ""
    return Finding(
        title=f"The probability that the option of the row is better than that of the column{besides}",
        table=table.where(~np.eye(len(first), dtype=bool)),
    )


@finding("votes_by_pair", "Which pairs were compared?", FULL)
def votes_by_pair(board: Leaderboard, settings: None) -> Finding:
    """How many comparisons each pair has."""
    labels, table = board.data.labels, board.votes_by_pair()
    first, second = np.triu_indices(len(labels), 1)
    total = table.loc[list(labels), list(labels)].to_numpy()[first, second]
    compared, most = total[total > 0], int(total.argmax())
    how = "in one set" if isinstance(board.data, Choices) else "compared"
    sentence = (
        f"{percent(len(compared) / len(total))} of {plural(len(total), 'pair')} were {how}, half of these at most "
        f"{short_number(float(np.median(compared))):,} times, {labels[first[most]]!r} and {labels[second[most]]!r} "
        f"most often ({short_number(float(total[most])):,} times)."
    )
    counted = "Sets that hold" if isinstance(board.data, Choices) else "Comparisons of"
    first = table.iloc[:_MAX_OF_PAIRS, :_MAX_OF_PAIRS]
    besides = f", of the first {len(first)} of {len(table):,}" if len(table) > len(first) else ""
    return Finding(sentence, title=f"{counted} each pair{besides}", table=first)
