"""What a leaderboard finds out."""

import itertools
from dataclasses import replace
from typing import Any

import numpy as np

from thali._data.choices import Choices
from thali._digits import format_percent, format_probability
from thali._labels import format_plural, simplify_number
from thali._labels import list_names as in_words
from thali._model.common_findings import build_check_finding, passes_check
from thali._model.finding import FULL, MISSES, ON_SCREEN, Brief, Finding, Findings, Picture, finding
from thali._model.predictive_check import describe_check
from thali._posterior.certain_signs import CERTAIN, select_certain_signs
from thali.errors import Message, Setting

from . import made
from .board import Leaderboard
from .counted import named_parts
from .more_votes import CHANCES, FIRST, needed
from .worths import FEW

_MAX_OPTIONS, _MAX_OF_PAIRS = 60, 40  # options that are drawn, and those of the table of pairs
_MAX_NAMED = 12  # covariates, or parts, of a sentence
_FEW_VOTES = 30  # in a part, or as many as options, below which its prior says most
_MAX_ORDERS = 20  # options whose orders are shown
_CHECK = "Observed proportions against model predictions."
_MISFIT = (
    "Some results depend on more than the two ratings, so one rating per option does not"
    " describe them."
)
_READ = (
    "rank",
    "rank_low",
    "rank_high",
    "tier",
    "rating",
    "rating_low",
    "rating_high",
    "comparisons",
)
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
            *(
                leaderboard,
                groups,
                votes,
                reliability,
                judges,
                worths_in_time,
                covariates,
                boards,
                order,
                votes_by_pair,
            ),
            *(check, made.data, made.methods, made.convergence, made.independence),
        ),
    )


def _left_out(names: list[str], most: int) -> str:
    """A sentence that says which options a picture does not have; "" if it has all."""
    if len(names) <= most:
        return ""
    if len(names) == most + 1:
        return f" Omitted: rank {len(names):,} ({names[-1]})."
    return f" Omitted: ranks {most + 1:,} to {len(names):,} ({in_words(names[most:], 8)})."


@finding("leaderboard", "Leaderboard", ON_SCREEN)
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
            "Ratings and ranks with their intervals, and tiers of options that cannot be"
            " distinguished." + _left_out(board.table.index.tolist(), _MAX_OPTIONS),
            board.table,
        ),
        notes=(f"{board.title}.", board.note, *(() if said is None else (said,))),
        brief=Brief("Ranks", table=board.table[list(_READ)]),
    )


def _first(board: Leaderboard) -> str:
    """A sentence about who is first, how sure that is, and who cannot be told apart from it."""
    first, *others = board.table.index
    alike = [option for option in others if board.order.loc[first, option] < CERTAIN]
    p_1 = float(board.table["p_1"].loc[first])
    sentence = f"{first} ranks first (probability {format_probability(p_1)}); "
    if not alike:
        return f"{sentence}all other options are separated from it."
    return f"{sentence}{in_words(alike, 8)} cannot be distinguished from it."


@finding("groups", "Tiers")
def groups(board: Leaderboard, settings: None) -> Finding | None:
    """The groups of several options."""
    several = [(k, members) for k, members in enumerate(board.groups, start=1) if len(members) > 1]
    if not several:
        return None
    return Finding(
        "Tiers of several options (options within a tier cannot be distinguished):",
        notes=tuple(f"{k}: {in_words(members, 8)}." for k, members in several),
    )


@finding("votes", "Votes needed to separate the leaders", ON_SCREEN)
def votes(board: Leaderboard, settings: None) -> Finding | None:
    """How many more votes tell the first three apart."""
    if board.of_more_votes is None:
        return None
    table = board.more_votes()
    first = board.table.index[:FIRST].tolist()
    these = {2: "two", 3: "three"}[len(first)]
    if table.loc[0].min() == 1.0:
        headline = f"The top {these} are separated."
        told = f"The top {these} ({in_words(first)}) are separated."
        return Finding(told, good=True, headline=headline, brief=Brief("Votes", order=2))
    pairs = itertools.pairwise(first)
    sure = [
        f"that {above} is above {below}: {format_probability(board.order.loc[above, below])}"
        for above, below in pairs
    ]
    sentence = f"The top {these} are not separated yet (probability {'; '.join(sure)})."
    asked = "choices out of sets" if isinstance(board.data, Choices) else "votes on pairs"
    brief, ways = (
        sentence,
        {
            "as_so_far": f"{asked} in the current mix",
            "among_these": f"votes on pairs of these {these} only",
        },
    )
    shown = {0, table.index[-1]}
    for way, meant in ways.items():
        if way in table:
            even, sure_of_it = (
                needed(table[way].tolist(), table.index.tolist(), chance) for chance in CHANCES
            )
            shown.update(filter(None, (even, sure_of_it)))
            sentence += f" {_more(meant, even, sure_of_it, table.index[-1])}."
            brief = sentence if way == "as_so_far" else brief
    note = (
        "Options are separated if, in each pair, one ranks higher with probability ≥ 0.95. The"
        " forecast uses posterior simulation with a normal approximation; options of nearly equal"
        " strength may never separate."
    )
    return Finding(
        sentence,
        title=f"Probability that the top {these} are separated after more votes",
        table=table,
        shown=table.loc[sorted(shown)],
        picture=Picture(
            "more_votes", "Probability that the leaders are separated after more votes.", table
        ),
        notes=(note,),
        good=False,
        headline=f"The top {these} are not separated yet.",
        brief=Brief("Votes", brief, order=2),
    )


def _more(votes: str, even: int | None, sure: int | None, most: int) -> str:
    """How many more votes, in words."""
    low, high = (f"{chance:.2f}" for chance in CHANCES)
    if even is None:
        return f"Even with {most:,} more {votes}, they would be separated with probability < {low}"
    if sure is None:
        return (
            f"With {even:,} more {votes}, they would be separated with probability {low}; with"
            f" {most:,}, < {high}"
        )
    return (
        f"With {even:,} more {votes}, they would be separated with probability {low}; with"
        f" {sure:,}, {high}"
    )


@finding("reliability", "Reliability")
def reliability(board: Leaderboard, settings: None) -> Finding | None:
    """How well ratings agree with the worths themselves."""
    if board.of_reliability is None:
        return None
    from thali._worths.reliability import describe_reliability

    return describe_reliability(board.reliability(), "ratings")


@finding("check", "Model check", ON_SCREEN, chapter=MISSES)
def check(board: Leaderboard, settings: None) -> Finding | None:
    """Which observed proportions the model misses."""
    if board.of_check is None:
        return Finding(board.check_facts["missing"]) if "missing" in board.check_facts else None
    table, good = board.of_check, passes_check(board.of_check)
    drawn = None if good is None else Picture("check", _CHECK, table)
    sentence = describe_check(table)
    if isinstance(board.data, Choices) and board.data.n_ties:
        sentence += f" It does not cover {format_plural(board.data.n_ties, 'tie')} in rankings."
    found = build_check_finding(table, sentence, good, f"{_CHECK[:-1]}, worst-fitting first", drawn)
    return replace(found, notes=(_MISFIT,)) if good is False else replace(found, brief=None)


@finding("judges", "Judge discrimination", ON_SCREEN)
def judges(board: Leaderboard, settings: None) -> Finding | None:
    """The discrimination of judges, the sharpest and the least sharp first."""
    if board.of_judges is None:
        return None
    table: Any = board.judges()
    sharp, dull = (table.index[each].tolist() for each in select_certain_signs(table["p_sharper"]))
    is_known = table["comparisons"] >= FEW  # of a few answers the score says nothing
    against = table.index[is_known & (table["log_score"] < table["log_score_chance"])].tolist()
    sentence = (
        f"Judges more discriminating than the typical judge: {shorten_words(sharp) or 'none'}"
    )
    sentence += f"; less discriminating: {shorten_words(dull[::-1]) or 'none'}."
    sentence += _all_right(len(sharp) + len(dull), format_plural(len(table), "judge"))
    if against:
        sentence += (
            " Judges whose votes the other judges do not predict better than chance:"
            f" {shorten_words(against)}."
        )
    return Finding(
        sentence,
        title="Judges",
        table=table,
        picture=Picture(
            "judges",
            "Discrimination of each judge, with its interval (1: the typical judge).",
            table,
        ),
        brief=Brief("Judges"),
    )


def _all_right(named: int, asked: str) -> str:
    """A sentence about how sure it is that some of many are named rightly."""
    if named == 0:
        return f" No difference is certain (probability ≥ {CERTAIN:g}; {asked} compared)."
    statements = "This statement is" if named == 1 else f"These {named:,} statements are jointly"
    return f" {statements} correct with probability ≥ {CERTAIN:g} ({asked} compared)."


@finding("worths_in_time", "Ratings over time", ON_SCREEN)
def worths_in_time(board: Leaderboard, settings: None) -> Finding | None:
    """The ratings in each period, and who rose or fell surely since its first."""
    if board.in_time is None:
        return None
    table = board.worths_in_time()
    last: Any = table.loc[table["period"] == table["period"].iloc[-1]]
    rose, fell = table.attrs["better"], table.attrs["worse"]
    sentence = f"Options now better than when first compared: {shorten_words(rose) or 'none'}"
    sentence += f"; worse: {shorten_words(fell) or 'none'}."
    sentence += _all_right(
        len(rose) + len(fell), format_plural(int(last["p_better"].count()), "option")
    )
    caption = (
        "Ratings in each period with their intervals; coloured: options that have clearly"
        " become better or worse, and "
    )
    caption += "the best option."
    return Finding(
        sentence,
        title="Ratings over time",
        table=table.set_index(["option", "period"]),
        picture=Picture("worths_in_time", caption, table),
        brief=Brief("Changes"),
    )


@finding("covariates", "Covariate effects", ON_SCREEN)
def covariates(board: Leaderboard, settings: None) -> Finding | None:
    """The effects of covariates, and whose rank changes most by the control for them."""
    described = board.data.covariates
    if board.effects is None or described is None:
        return None
    table, names = (
        board.covariate_effects().rename(columns={"effect": "log_odds"}),
        list(board.effects.index),
    )
    table["more"] = described.units(table["log_odds"].tolist())
    for of, odds in (("log_odds", "odds"), ("low", "odds_low"), ("high", "odds_high")):
        table[odds] = np.exp(table[of] * table["more"])
    factors = [
        f"{row['odds']:.3g} ({row['odds_low']:.3g} to {row['odds_high']:.3g}) if {name} increases"
        f" by {row['more']:,.0f}"
        for name, row in table.iterrows()
    ]
    sentence = f"Odds ratio for choosing the first option: {shorten_words(factors)}."
    moved: Any = (board.table["rank_without"] - board.table["rank"]).abs()
    if moved.max() > 0:
        option, row = moved.idxmax(), board.table.loc[moved.idxmax()]
        sentence += (
            " Without controlling for"
            f" {'this covariate' if len(names) == 1 else 'these covariates'}, {option} would rank"
            f" {row['rank_without']:.0f} instead of {row['rank']:.0f}."
        )
    return Finding(sentence, title="Covariate effects", table=table, brief=Brief("Covariates"))


@finding("boards", "Leaderboards by part", ON_SCREEN)
def boards(board: Leaderboard, settings: None) -> Finding | None:
    """The board of each part of the comparisons: who is first, and whose place differs surely."""
    if not board.boards:
        return None
    table = board.by_part()
    first = [f"{part.table.index[0]} in {name}" for name, part in board.boards.items()]
    sentence = f"Ranked first: {shorten_words(first)}."
    ends: list[Any] = [table[f"rating_{end}"].groupby(level="option") for end in ("low", "high")]
    differ = ends[0].max() > ends[1].min()
    options = [option for option in board.table.index if differ.get(option, False)]
    sentence += (
        f" Ratings that differ between parts (intervals do not overlap): {in_words(options, 8)}."
        if options
        else " No rating clearly differs between parts (all intervals overlap)."
    )
    notes = (*_in_no_part(board), *_of_few(board))
    return Finding(
        sentence,
        title="Ranks and ratings in each part",
        table=table,
        shown=table[list(_READ)],
        notes=notes,
        brief=Brief("Parts"),
    )


def _in_no_part(board: Leaderboard) -> tuple[str, ...]:
    """A sentence about comparisons whose cell of a column that divides them is empty."""
    if board.made is None:
        return ()
    left = dict.fromkeys(board.made.counted.parts, board.data.n_answers)
    for name, (column, _) in named_parts(board.made.counted.parts).items():
        left[column] -= board.boards[name].data.n_answers
    words = board.data.word_for_answers
    return tuple(
        f"{simplify_number(number):,} of {board.data.n_answers:,} {words} have no {column!r}: they"
        " belong to no part and count towards the overall leaderboard only."
        for column, number in left.items()
        if number > 0
    )


def _of_few(board: Leaderboard) -> tuple[Message, ...]:
    """A sentence about parts with fewer votes than options, or than 30."""
    parts = board.boards.items()
    few = [
        f"{name} ({part.data.n_answers:,})"
        for name, part in parts
        if part.data.n_answers < max(_FEW_VOTES, part.data.n_options)
    ]
    if not few:
        return ()
    said = f"Leaderboards with few votes mostly reflect the prior: {shorten_words(few)}"
    if board.made is not None and board.made.settings["pool"]:
        return (Message(f"{said}. The prior is centred on the ratings that the parts share."),)
    return (Message(said, "; ", Setting("pool", True), " shares information between parts."),)


@finding("order", "Pairwise order probabilities", FULL)
def order(board: Leaderboard, settings: None) -> Finding:
    """The probability that the row is above the column, of the first options."""
    first = board.table.index[:_MAX_ORDERS]
    table = board.order.loc[first, first].rename_axis("option")
    more = len(board.order) - len(first)
    besides = f", of the first {len(first)} of {len(board.order):,}" if more else ""
    return Finding(
        title=f"Probability that the row option is better than the column option{besides}",
        table=table.where(~np.eye(len(first), dtype=bool)),
    )


@finding("votes_by_pair", "Comparisons per pair", FULL)
def votes_by_pair(board: Leaderboard, settings: None) -> Finding:
    """How many comparisons each pair has."""
    labels, table = board.data.labels, board.votes_by_pair()
    first, second = np.triu_indices(len(labels), 1)
    total = table.loc[list(labels), list(labels)].to_numpy()[first, second]
    compared, most = total[total > 0], int(total.argmax())
    how = "shown together" if isinstance(board.data, Choices) else "compared"
    sentence = (
        f"{format_percent(len(compared) / len(total))} of {format_plural(len(total), 'pair')} were"
        f" {how} (median "
        f"{simplify_number(float(np.median(compared))):,} times; most often {labels[first[most]]}"
        f" and {labels[second[most]]}, {simplify_number(float(total[most])):,} times)."
    )
    counted = "Sets containing" if isinstance(board.data, Choices) else "Comparisons of"
    first = table.iloc[:_MAX_OF_PAIRS, :_MAX_OF_PAIRS]
    besides = f", of the first {len(first)} of {len(table):,}" if len(table) > len(first) else ""
    return Finding(sentence, title=f"{counted} each pair{besides}", table=first)
