"""Findings that a leaderboard reports."""

import itertools
from dataclasses import replace
from typing import Any

import numpy as np

from thali._data.choices import Choices
from thali._labels import choose_number, format_plural, simplify_number
from thali._labels import list_names as in_words
from thali._model.common_findings import build_check_finding, passes_check
from thali._model.finding import (
    FULL,
    MISSES,
    ON_SCREEN,
    Brief,
    Finding,
    Findings,
    Picture,
    Text,
    finding,
)
from thali._model.predictive_check import describe_check
from thali._number_format import format_percent, format_probability
from thali._posterior.effects_with_certain_sign import CERTAIN, select_certain_signs
from thali._posterior.posterior_interval import describe_interval
from thali.errors import Message, Setting

from . import leaderboard_report
from .leaderboard_posterior import MIN_JUDGE_COMPARISONS
from .leaderboard_result import MEAN_SCORE, Leaderboard
from .vote_counts import name_parts
from .vote_forecast import CHANCES, FIRST, find_votes_needed

# maximum of options in a picture, and in the table of pairs
_MAX_OPTIONS = 60
_MAX_PAIR_OPTIONS = 40
_MAX_NAMED = 12  # maximum of covariates, or parts, in a sentence
_FEW_VOTES = 30  # votes in a part, or the number of options, below which the prior dominates
_MAX_ORDERS = 20  # maximum of options in the table of order probabilities
_CHECK = "Observed proportions against model predictions."
_MISFIT = (
    "Some results cannot be explained by the ratings of the two options, so one rating per"
    " option is not enough."
)
_MAIN_COLUMNS = (
    "rank",
    "rank_low",
    "rank_high",
    "tier",
    "rating",
    "rating_low",
    "rating_high",
    "comparisons",
)
_COVARIATE_COLUMNS = ("rank_without", "rating_without")  # with covariates


def shorten_words(words: list[str]) -> str:
    """Return the first few words joined by commas, with the number of others."""
    short_list = ", ".join(words[:_MAX_NAMED])
    if len(words) > _MAX_NAMED:
        short_list += f" and {len(words) - _MAX_NAMED} more"
    return short_list


def build_board_findings(board: Leaderboard) -> Findings:
    """Return all findings of a leaderboard, with its settings."""
    return Findings(
        board,
        (
            leaderboard,
            groups,
            votes,
            reliability,
            judges,
            worths_in_time,
            covariates,
            position,
            boards,
            order,
            votes_by_pair,
            check,
            leaderboard_report.data,
            leaderboard_report.methods,
            leaderboard_report.convergence,
            leaderboard_report.independence,
        ),
    )


def _describe_omitted(names: list[str], n_drawn: int) -> str:
    """Return a sentence on options that a plot leaves out; "" if none."""
    if len(names) <= n_drawn:
        return ""
    if len(names) == n_drawn + 1:
        return f" Omitted: rank {len(names):,} ({names[-1]})."
    return f" Omitted: ranks {n_drawn + 1:,} to {len(names):,} ({in_words(names[n_drawn:], 8)})."


@finding("leaderboard", "Leaderboard", ON_SCREEN)
def leaderboard(board: Leaderboard, settings: None) -> Finding:
    """Report ranks and ratings with intervals."""
    main_columns = column_names = _list_main_columns(board)
    if board.effects is not None:
        column_names = [*main_columns, *_COVARIATE_COLUMNS]
    notes: list[Text] = [f"{board.title}.", board.note]
    if board.dependence_sentence is not None:
        notes.append(board.dependence_sentence)
    return Finding(
        _describe_leader(board),
        title="Ranks and ratings",
        table=board.table,
        shown=board.table[column_names],
        picture=Picture(
            "leaderboard",
            "Ratings and ranks with their intervals, and tiers of options that cannot be"
            " distinguished." + _describe_omitted(board.table.index.tolist(), _MAX_OPTIONS),
            board.table,
        ),
        notes=tuple(notes),
        brief=Brief("Ranks", table=board.table[main_columns]),
    )


def _list_main_columns(board: Leaderboard) -> list[str]:
    """Return the columns of the table that are shown."""
    if board.data.scores is None:
        return [*_MAIN_COLUMNS]
    return [*_MAIN_COLUMNS[:4], *MEAN_SCORE, *_MAIN_COLUMNS[4:-1]]


def _describe_leader(board: Leaderboard) -> str:
    """Return sentences on the leader, its probability, and options close to it."""
    leader, *others = board.table.index
    not_separated = [option for option in others if board.order.loc[leader, option] < CERTAIN]
    p_1 = board.table["p_1"].loc[leader]
    sentence = f"{leader} ranks first (probability {format_probability(p_1)}); "
    if not not_separated:
        return f"{sentence}all other options are separated from it."
    return f"{sentence}{in_words(not_separated, 8)} cannot be distinguished from it."


@finding("groups", "Tiers")
def groups(board: Leaderboard, settings: None) -> Finding | None:
    """Report the tiers that contain several options; None without any."""
    shared_tiers = [
        (k, members) for k, members in enumerate(board.groups, start=1) if len(members) > 1
    ]
    if not shared_tiers:
        return None
    return Finding(
        "Tiers of several options (options within a tier cannot be distinguished):",
        notes=tuple(f"{k}: {in_words(members, 8)}." for k, members in shared_tiers),
    )


@finding("votes", "Votes needed to separate the leaders", ON_SCREEN)
def votes(board: Leaderboard, settings: None) -> Finding | None:
    """Report how many more votes separate the first three options."""
    if board.of_more_votes is None:
        return None
    forecast_table = board.more_votes()
    leaders = board.table.index[:FIRST].tolist()
    leaders_word = {2: "two", 3: "three"}[len(leaders)]
    if forecast_table.loc[0].min() == 1.0:
        headline = f"The top {leaders_word} are separated."
        separation_sentence = f"The top {leaders_word} ({in_words(leaders)}) are separated."
        return Finding(
            separation_sentence, good=True, headline=headline, brief=Brief("Votes", order=2)
        )
    sentence = _describe_leader_order(board, leaders, leaders_word)
    votes_text = "votes on the current mix of pairs"
    votes_word = "votes"
    if isinstance(board.data, Choices):
        votes_text = "choices from the current mix of sets"
    elif board.data.scores is not None:
        votes_text = "items of this kind"
        votes_word = "items"
    brief_text = sentence
    texts_by_column = {
        "as_so_far": votes_text,
        "among_these": f"votes on pairs of these {leaders_word} only",
    }
    shown_rows = {0, forecast_table.index[-1]}
    for column_name, text in texts_by_column.items():
        if column_name in forecast_table:
            n_half, n_certain = (
                find_votes_needed(
                    forecast_table[column_name].tolist(),
                    forecast_table.index.tolist(),
                    target_chance,
                )
                for target_chance in CHANCES
            )
            shown_rows.update(filter(None, (n_half, n_certain)))
            sentence += (
                f" {_describe_votes_needed(text, forecast_table[column_name], n_half, n_certain)}."
            )
            if column_name == "as_so_far":
                brief_text = sentence
    note = (
        "Options are separated if, in each pair, one ranks higher with probability ≥ 0.95. The"
        " forecast uses posterior simulation with a normal approximation; options of nearly equal"
        " strength may never separate."
    )
    return Finding(
        sentence,
        title=f"Probability that the top {leaders_word} are separated after more {votes_word}",
        table=forecast_table,
        shown=forecast_table.loc[sorted(shown_rows)],
        notes=(note,),
        good=False,
        headline=f"The top {leaders_word} are not separated yet.",
        brief=Brief(votes_word.capitalize(), brief_text, order=2),
    )


def _describe_leader_order(board: Leaderboard, leaders: list[str], leaders_word: str) -> str:
    """Return a sentence on how certain the order of the leaders is so far."""
    neighbour_pairs = itertools.pairwise(leaders)
    order_texts = [
        f"that {above} is above {below}: {format_probability(board.order.loc[above, below])}"
        for above, below in neighbour_pairs
    ]
    return f"The top {leaders_word} are not separated yet (probability {'; '.join(order_texts)})."


def _describe_votes_needed(
    votes: str, chances: Any, n_half: int | None, n_certain: int | None
) -> str:
    """Return a sentence on the chances of separation after more votes."""
    max_votes = chances.index[-1]
    if n_half is None:
        return (
            f"Even with {max_votes:,} more {votes}, the probability that they are separated would"
            f" be only {format_probability(chances[max_votes])}"
        )
    n_more = n_certain or max_votes
    return (
        f"With {n_half:,} more {votes}, the probability that they are separated would be"
        f" {format_probability(chances[n_half])}; with {n_more:,} more,"
        f" {format_probability(chances[n_more])}"
    )


@finding("reliability", "Reliability")
def reliability(board: Leaderboard, settings: None) -> Finding | None:
    """Report how well ratings agree with the true worths."""
    if board.of_reliability is None:
        return None
    from thali._worths.reliability import describe_reliability

    return describe_reliability(board.reliability(), "ratings")


@finding("check", "Model check", ON_SCREEN, chapter=MISSES)
def check(board: Leaderboard, settings: None) -> Finding | None:
    """Report observed proportions that the model does not reproduce."""
    if board.of_check is None:
        if "missing" not in board.check_facts:
            return None
        return Finding(board.check_facts["missing"])
    table = board.of_check
    has_good_fit = passes_check(board.of_check)
    picture = None
    if has_good_fit is not None:
        picture = Picture("check", _CHECK, table)
    sentence = describe_check(table)
    if isinstance(board.data, Choices) and board.data.n_ties:
        sentence += f" The check omits {format_plural(board.data.n_ties, 'tie')} in rankings."
    finding_without_notes = build_check_finding(
        table, sentence, has_good_fit, f"{_CHECK[:-1]}, worst-fitting first", picture
    )
    if has_good_fit is False:
        return replace(finding_without_notes, notes=(_MISFIT,))
    return replace(finding_without_notes, brief=None)


@finding("judges", "Judge discrimination", ON_SCREEN)
def judges(board: Leaderboard, settings: None) -> Finding | None:
    """Report the discrimination of judges, sharpest and least sharp first."""
    if board.of_judges is None:
        return None
    table: Any = board.judges()
    sharp_judges, dull_judges = (
        table.index[judge_indices].tolist()
        for judge_indices in select_certain_signs(table["p_sharper"])
    )
    # the score of few answers is uninformative
    is_known = table["comparisons"] >= MIN_JUDGE_COMPARISONS
    contrary_judges = table.index[
        is_known & (table["log_score"] < table["log_score_chance"])
    ].tolist()
    reference = "the typical judge"
    predictors = "the other judges"
    sentence = ""
    if board.target_sentence:
        assert board.recipe is not None
        reference = str(board.recipe.settings.target)
        predictors = f"the votes of {reference}"
        sentence = f"{board.target_sentence} "
    certainty_sentence = _describe_joint_certainty(
        len(sharp_judges) + len(dull_judges), format_plural(len(table), "judge")
    )
    sentence += (
        f"Judges more discriminating than {reference}: {shorten_words(sharp_judges) or 'none'};"
        f" less discriminating: {shorten_words(dull_judges[::-1]) or 'none'}.{certainty_sentence}"
        " Votes are treated as independent, given the judge's discrimination."
    )
    if contrary_judges:
        sentence += (
            f" Judges whose votes are predicted no better than chance by {predictors}:"
            f" {shorten_words(contrary_judges)}."
        )
    return Finding(
        sentence,
        title="Judges",
        table=table,
        brief=Brief("Judges"),
    )


def _describe_joint_certainty(n_named: int, compared_text: str) -> str:
    """Return a sentence on how certain all named differences are together."""
    if n_named == 0:
        return f" No difference is certain (probability ≥ {CERTAIN:g}; {compared_text} compared)."
    statement_words = "This statement is"
    if n_named != 1:
        statement_words = f"These {n_named:,} statements are jointly"
    return f" {statement_words} correct with probability ≥ {CERTAIN:g} ({compared_text} compared)."


@finding("worths_in_time", "Ratings over time", ON_SCREEN)
def worths_in_time(board: Leaderboard, settings: None) -> Finding | None:
    """Report ratings by period, and options that clearly rose or fell."""
    if board.in_time is None:
        return None
    table = board.worths_in_time()
    last_period: Any = table.loc[table["period"] == table["period"].iloc[-1]]
    risen_options = table.attrs["better"]
    fallen_options = table.attrs["worse"]
    sentence = (
        f"Options now better than when first compared: {shorten_words(risen_options) or 'none'}"
        f"; worse: {shorten_words(fallen_options) or 'none'}. Intervals over time assume"
        " independent votes; leaderboards of single periods (since, until) allow for repeated"
        " votes."
    )
    sentence += _describe_joint_certainty(
        len(risen_options) + len(fallen_options),
        format_plural(int(last_period["p_better"].count()), "option"),
    )
    caption = (
        "Ratings in each period with their intervals; coloured: options that have clearly"
        " become better or worse, and the best option."
    )
    return Finding(
        sentence,
        title="Ratings over time",
        table=table.set_index(["option", "period"]),
        picture=Picture("worths_in_time", caption, table),
        brief=Brief("Changes"),
    )


@finding("covariates", "Covariate effects", ON_SCREEN)
def covariates(board: Leaderboard, settings: None) -> Finding | None:
    """Report effects of covariates, and the rank most affected by control."""
    # choices from sets have covariates of options alone, which a leaderboard refuses
    if board.effects is None or isinstance(board.data, Choices) or board.data.covariates is None:
        return None
    table = board.covariate_effects().rename(columns={"effect": "log_odds"})

    table["more"] = board.data.covariates.list_effect_units(table["log_odds"].tolist())
    for column, odds_column in (("log_odds", "odds"), ("low", "odds_low"), ("high", "odds_high")):
        table[odds_column] = np.exp(table[column] * table["more"])
    odds_texts = [
        f"{table_row['odds']:.3g} ({table_row['odds_low']:.3g} to {table_row['odds_high']:.3g}) if"
        f" {name} increases"
        f" by {table_row['more']:,.0f}"
        for name, table_row in table.iterrows()
    ]
    sentence = f"Odds ratio for choosing the first option: {shorten_words(odds_texts)}."
    rank_changes: Any = (board.table["rank_without"] - board.table["rank"]).abs()
    if rank_changes.max() > 0:
        most_affected_option = rank_changes.idxmax()
        table_row = board.table.loc[most_affected_option]
        covariates_text = choose_number(len(table), "this covariate", "these covariates")
        sentence += (
            f" Without controlling for {covariates_text}, {most_affected_option} would rank"
            f" {table_row['rank_without']:.0f} instead of {table_row['rank']:.0f}."
        )
    return Finding(sentence, title="Covariate effects", table=table, brief=Brief("Covariates"))


@finding("position", "Advantage of the first side", ON_SCREEN)
def position(board: Leaderboard, settings: None) -> Finding | None:
    """Report the advantage of the first side; warn if sides are unbalanced."""
    if board.of_advantage is None:
        return None
    row: Any = board.of_advantage.iloc[0]
    odds, low, high = np.exp(row[["advantage", "low", "high"]].to_numpy(float))
    sentence = (
        f"Being first (shown first, or at home) multiplies the odds of being chosen by {odds:.2f}"
        f" ({describe_interval(board.ci)} {low:.2f} to {high:.2f})."
    )
    if not row["unbalanced"] or low < 1.0 < high:
        return Finding(sentence, table=board.of_advantage, brief=Brief("First side"))
    return Finding(
        Message(
            f"{sentence} Sides are not balanced ({row['option']} was first in"
            f" {format_percent(row['share_first'])} of its comparisons), so ratings depend on them;"
            " to control for sides, set ",
            Setting("covariates", "order"),
            ".",
        ),
        table=board.of_advantage,
        good=False,
        headline="Sides are not balanced, and the first has an advantage.",
        brief=Brief("First side"),
    )


@finding("boards", "Leaderboards by part", ON_SCREEN)
def boards(board: Leaderboard, settings: None) -> Finding | None:
    """Report the leaderboard of each part: leaders, and ratings that differ."""
    if not board.boards:
        return None
    table = board.by_part()
    leaders = [f"{part.table.index[0]} in {name}" for name, part in board.boards.items()]
    sentence = f"Ranked first: {shorten_words(leaders)}."
    rating_limits: list[Any] = [
        table[f"rating_{limit}"].groupby(level="option") for limit in ("low", "high")
    ]
    is_different = rating_limits[0].max() > rating_limits[1].min()
    different_options = [option for option in board.table.index if is_different.get(option, False)]
    if different_options:
        sentence += (
            " Ratings that differ between parts (intervals do not overlap):"
            f" {in_words(different_options, 8)}."
        )
    else:
        sentence += (
            " For every option, the rating intervals of all parts overlap; overlap does not show"
            " that ratings are equal."
        )
    notes = (*_describe_unassigned(board), *_describe_small_parts(board))
    return Finding(
        sentence,
        title="Ranks and ratings in each part",
        table=table,
        shown=table[_list_main_columns(board)],
        notes=notes,
        brief=Brief("Parts"),
    )


def _describe_unassigned(board: Leaderboard) -> tuple[str, ...]:
    """Return sentences on comparisons that belong to no part."""
    if board.recipe is None:
        return ()
    n_unassigned = dict.fromkeys(board.recipe.counted.parts, board.data.n_answers)
    for board_name, (column, _) in name_parts(board.recipe.counted.parts).items():
        n_unassigned[column] -= board.boards[board_name].data.n_answers
    answer_words = board.data.word_for_answers
    return tuple(
        f"{simplify_number(count):,} of {board.data.n_answers:,} {answer_words} have no"
        f" {column!r}, so they count towards the overall leaderboard only."
        for column, count in n_unassigned.items()
        if count > 0
    )


def _describe_small_parts(board: Leaderboard) -> tuple[Message, ...]:
    """Return a warning that names the parts with few votes, if any."""
    board_by_part = board.boards.items()
    small_parts = [
        f"{name} ({part.data.n_answers:,})"
        for name, part in board_by_part
        if part.data.n_answers < max(_FEW_VOTES, part.data.n_options)
    ]
    if not small_parts:
        return ()
    sentence = f"Leaderboards with few votes mostly reflect the prior: {shorten_words(small_parts)}"
    if board.recipe is not None and board.recipe.settings.pool:
        return (Message(f"{sentence}. The prior is centred on the ratings shared by all parts."),)
    return (Message(sentence, "; ", Setting("pool", True), " shares information between parts."),)


@finding("order", "Pairwise order probabilities", FULL)
def order(board: Leaderboard, settings: None) -> Finding:
    """Report the probability that the row option is above the column option."""
    options = board.table.index
    leaders = options[:_MAX_ORDERS]
    table = board.order.loc[options, options].rename_axis("option")
    table = table.where(~np.eye(len(options), dtype=bool))
    title = "Probability that the row option is better than the column option"
    return Finding(
        title=f"{title}{_describe_scope(len(leaders), len(options))}",
        table=board.differences,
        shown=table.loc[leaders, leaders],
    )


@finding("votes_by_pair", "Comparisons per pair", FULL)
def votes_by_pair(board: Leaderboard, settings: None) -> Finding:
    """Report the number of comparisons of each pair of options."""
    labels = board.data.labels
    table = board.votes_by_pair()
    first_options, second_options = np.triu_indices(len(labels), 1)
    pair_counts = table.loc[list(labels), list(labels)].to_numpy()[first_options, second_options]
    compared_counts = pair_counts[pair_counts > 0]
    most_frequent = int(pair_counts.argmax())
    verb = "compared"
    noun = "Comparisons of"
    if isinstance(board.data, Choices):
        verb = "shown together"
        noun = "Sets containing"
    sentence = (
        f"{format_percent(len(compared_counts) / len(pair_counts))} of"
        f" {format_plural(len(pair_counts), 'pair')} were"
        f" {verb} (median "
        f"{simplify_number(np.median(compared_counts)):,} times; most often"
        f" {labels[first_options[most_frequent]]}"
        f" and {labels[second_options[most_frequent]]},"
        f" {simplify_number(pair_counts[most_frequent]):,}"
        " times)."
    )
    shown_table = table.iloc[:_MAX_PAIR_OPTIONS, :_MAX_PAIR_OPTIONS]
    title = f"{noun} each pair{_describe_scope(len(shown_table), len(table))}"
    return Finding(sentence, title=title, table=shown_table)


def _describe_scope(n_shown: int, n_options: int) -> str:
    """Return a title's end: "first n of m options", or "" for all."""
    if n_shown == n_options:
        return ""
    return f", of the first {n_shown} of {n_options:,}"
