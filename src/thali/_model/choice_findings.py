"""Findings about choices: ranks, scores, predictive checks, dependence of respondents' answers."""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._labels import list_names
from thali._number_format import format_factor, format_number, format_probability
from thali._posterior.posterior_interval import describe_interval
from thali._posterior.posterior_tree import Posterior
from thali._posterior.respondent_dependence import (
    DOMINANT,
    INDIVIDUALS,
    POWER,
    SCORES,
    Dependence,
    format_degrees,
)
from thali.errors import DataError, Message

from .best_worst_probabilities import RANKING, REVERSED
from .common_findings import build_check_finding, passes_check
from .finding import (
    MISSES,
    ON_SCREEN,
    STATISTICS,
    Brief,
    Finding,
    FindingMaker,
    Picture,
    Text,
    finding,
)
from .finding_settings import AnswerSettings
from .predictive_check import describe_check
from .references import Cite
from .sentence_templates import phrase

if TYPE_CHECKING:
    import pandas


SENTENCES = {
    "ranks.sure": "{option} is most preferred (probability {probability}).",
    "ranks.open": "The most preferred option is uncertain; probabilities of ranking first:"
    " {named}.",
    "ranks.intervals": "{best} Ranks ({interval}s):",
    "ranks.caption": "{title}, with its interval: {best} has the best mean rank ({first}), {worst}"
    " the worst ({last}).",
    "choice_probabilities.title": "Observed proportions and predicted probabilities",
    "choice_probabilities.caption": "Observed proportions against predicted probabilities: points"
    " close to the diagonal are predicted well.",
    "covariates": "Odds ratio for choosing the first option, per unit of the covariate: {factors}.",
    "covariates.title": "Covariate effects: change in the log odds of the first option per unit,"
    " and odds ratio",
    "parameters.tie": "Tie parameter nu: {value}; two equal options tie with probability nu / (2 +"
    " nu).",
    "parameters.log_likelihood": "Log-likelihood (including constant terms): {value}.",
    "parameters.lapse": "Lapse rate (probability of a random choice): {lapse:g}, fixed.",
    "check.title": "Observed proportions and their predictive intervals, worst-fitting first",
    "check.caption": "Observed proportions against model predictions.",
    "methods.best_worst.ranking": "Best and worst choices were modelled as the first and last"
    " positions of a ranking, summed over all orders of the remaining options {source}.",
    "methods.best_worst.maxdiff": "Best and worst choices were modelled jointly, as the ordered"
    " pair of options with the largest difference in utility (maxdiff model) {source}.",
    "methods.ties": "Ties were modelled with the rule of {source}{prior}.",
    "methods.covariates": "The log odds of a choice were linear in each covariate ({names}); each"
    " coefficient had a Normal(0, 1) prior.",
    "methods.lapse": "A lapse rate of {lapse:g} was assumed: with this probability, the choice is"
    " uniformly random among the options offered.",
    "independence.good": "Intervals account for variation between {unit}s, so they describe the"
    " population sampled.",
    "independence.bad": "Intervals are too narrow to generalise to new {unit}s.",
    "independence.methods.independent": "The {answers} answers from {people} {unit}s were"
    " treated as independent (design effect {effect}).",
    "independence.methods.once": "Each of the {people} {unit}s answered once.",
    "independence.methods.scores": "The {answers} answers came from {people} {unit}s (design"
    " effect {effect}). Posterior draws were rescaled to the covariance H⁻¹VH⁻¹, where H is"
    " the Hessian at the mode and V the variance of {unit}s' scores, each adjusted for its"
    " leverage ({df}) {source}.",
    "independence.methods.power": "The {answers} answers came from {people} {unit}s; the"
    " likelihood was raised to the power of one over the design effect ({effect}) {source}.",
    "independence.methods.random": "Parameters varied across the {people} {unit}s around"
    " population means.",
    "option_scores": "Highest scores: {named}; an average option scores {average}.",
    "option_scores.brief": "{scale}; an average option scores {average}.",
    "option_scores.none.brief": "{scale}.",
    "option_scores.by": "Scores sum to 100 and are proportional to the probability that an option"
    " is chosen as the best of a set with {others} other options of average worth.",
    "option_scores.none": "Highest scores: {named}; the anchor {average} scores 100.",
    "option_scores.none.by": "Scores are proportional to the probability that an option is chosen"
    " as the best of a set with {others} other options as good as the anchor {none}; the"
    " column above_none is the share of respondents who prefer the option to {none}.",
    "option_scores.title": "Preference scores ({scale})",
    "option_scores.sum": "sum to 100",
    "option_scores.anchor": "{none} = 100",
    "option_scores.caption": "Preference score of each option, with its interval.",
    "option_scores.segments": "Preference scores by segment ({scale})",
    "ml.methods.luce": "Choices were modelled with the choice rule of {source}.",
    "ml.methods.covariates": "The log odds of a choice were linear in each covariate ({names}).",
    "ml.methods.observed": "are based on the observed information",
    "ml.methods.people": "are clustered by respondent {source}",
    "ml.methods.lapse": "The probability of a random choice was fixed at {lapse}.",
}
NAMED = 3  # options that a sentence names
SURE = 0.95  # probability from which on an option is called the best
MAX_GROUPS = 7  # groups in one picture: the colours that can be distinguished


MAX_RANKED = 60  # options; above, ranks are not drawn


def build_rank_finding(table: "pandas.DataFrame", title: str, ci: float) -> Finding:
    """Build the finding "ranks" from a table of option ranks."""
    (best_option, first_rank), (worst_option, last_rank) = (
        (str(table.index[row]), format_number(table["rank"].iloc[row])) for row in (0, -1)
    )
    best_option_sentence = describe_best(table)
    brief_text = phrase(
        SENTENCES, "ranks.intervals", best=best_option_sentence, interval=describe_interval(ci)
    )
    picture = None
    if len(table) <= MAX_RANKED:
        caption = SENTENCES["ranks.caption"].format(
            title=title, best=best_option, first=first_rank, worst=worst_option, last=last_rank
        )
        picture = Picture("ranks", caption, table)
    return Finding(
        best_option_sentence,
        title=title,
        table=table,
        shown=table[["rank", "rank_low", "rank_high", "p_1"]],
        picture=picture,
        brief=Brief("Preferred", brief_text, format_ranks(table), order=0),
    )


def format_ranks(table: "pandas.DataFrame") -> tuple[tuple[str, str], ...]:
    """Return (option, rank) pairs, such as ("tea", "1-2"), from a table of ranks."""
    rows = table[["rank_low", "rank_high"]].itertuples()
    return tuple((str(name), _format_range(low, high)) for name, low, high in rows)


def _format_range(low: float, high: float) -> str:
    """Format an interval of ranks as "1-2", or as "1" if its ends are equal."""
    if low == high:
        return f"{low:.0f}"
    return f"{low:.0f}-{high:.0f}"


def describe_best(table: Any) -> str:
    """Return the sentence that names the best option, or the options that may be best."""
    p_best = table["p_1"].sort_values(ascending=False, kind="stable")
    if p_best.iloc[0] >= SURE:
        return SENTENCES["ranks.sure"].format(
            option=p_best.index[0], probability=format_probability(p_best.iloc[0])
        )
    candidates = list_names(
        [f"{name} ({format_probability(p)})" for name, p in p_best.head(NAMED).items()]
    )
    return SENTENCES["ranks.open"].format(named=candidates)


def build_covariate_finding(
    table: "pandas.DataFrame", effects: Any, notes: tuple[str, ...] = ()
) -> Finding:
    """Build the finding about effects of covariates from their table and draws."""
    factor_texts = list_names(
        [f"{format_factor(np.exp(effect))} for {name!r}" for name, effect in effects.items()]
    )
    sentence = phrase(SENTENCES, "covariates", factors=factor_texts)
    return Finding(
        sentence,
        title=SENTENCES["covariates.title"],
        table=table,
        notes=notes,
        brief=Brief("Covariates"),
    )


def build_prediction_finding(table: "pandas.DataFrame") -> Finding:
    """Build the finding that tabulates observed and predicted choice proportions."""
    picture = Picture(
        "predictions", SENTENCES["choice_probabilities.caption"], table, file="choice_probabilities"
    )
    return Finding(title=SENTENCES["choice_probabilities.title"], table=table, picture=picture)


def describe_best_worst(rule: str) -> Text:
    """Return the sentence for a paper on the rule of best and worst."""
    sentence_key = {RANKING: "methods.best_worst.ranking", REVERSED: "methods.best_worst.maxdiff"}[
        rule
    ]
    return phrase(SENTENCES, sentence_key, source=Cite("marley2005"))


def describe_ties(prior: str = "") -> Text:
    """Return the sentence for a paper on the model of ties."""
    return phrase(SENTENCES, "methods.ties", source=Cite("davidson1970", inside=True), prior=prior)


@finding("option_scores", "Preference scores", ON_SCREEN)
def option_scores(model: Any, settings: AnswerSettings) -> Finding | None:
    """Report option scores from 0 to 100, of each group if there are several."""
    if Posterior(model.posterior_).best_worst is None and settings.none is None:
        return None
    table = model.scores(random_seed=settings.random_seed, none=settings.none, ci=settings.ci)
    return build_score_finding(table, "option_scores.title", "option_scores")


def build_score_finding(table: "pandas.DataFrame", title_key: str, file_key: str) -> Finding:
    """Build the finding about option scores; `title_key` heads it, `file_key` names its file."""
    brief_table = table
    if table.index.nlevels == 1:
        brief_table = table.sort_values("score", ascending=False, kind="stable")
        n_groups = 1
        n_options = len(table)
        best_scores = _list_best_scores(table)
    else:
        level_name = table.index.names[0]
        group_names = list(dict.fromkeys(table.index.get_level_values(0)))
        n_groups = len(group_names)
        n_options = len(table.loc[group_names[0]])
        best_scores = "; ".join(
            f"{_list_best_scores(table.loc[name])} in {level_name} {name!r}"
            for name in group_names[:MAX_GROUPS]
        )
    anchor = table.attrs.get("none")
    phrase_key = "option_scores"
    reference_text = format_number(100.0 / n_options)
    scale_text = SENTENCES["option_scores.sum"]
    if anchor is not None:
        phrase_key = "option_scores.none"
        reference_text = anchor
        scale_text = SENTENCES["option_scores.anchor"].format(none=anchor)
    named_scale = SENTENCES[title_key].format(scale=scale_text)
    picture = None
    if n_groups <= MAX_GROUPS and len(table) <= MAX_GROUPS * MAX_RANKED:
        picture = Picture("scores", SENTENCES["option_scores.caption"], table, file=file_key)
    n_others_text = format_number(table.attrs["set_size"] - 1.0)
    brief_text = phrase(SENTENCES, f"{phrase_key}.brief", scale=named_scale, average=reference_text)
    return Finding(
        phrase(SENTENCES, phrase_key, named=best_scores, average=reference_text),
        title=named_scale,
        table=table,
        shown=brief_table,
        picture=picture,
        notes=(phrase(SENTENCES, f"{phrase_key}.by", others=n_others_text, none=anchor),),
        brief=Brief("Scores", brief_text, table=brief_table),
    )


def _list_best_scores(table: "pandas.DataFrame") -> str:
    """Return the phrase that lists the options with the highest scores."""
    scores: Any = table["score"]
    best_scores = scores.sort_values(ascending=False, kind="stable").head(NAMED)
    return list_names(
        [f"{option} ({format_number(score)})" for option, score in best_scores.items()]
    )


@finding("check", "Model check", ON_SCREEN, chapter=MISSES)
def check(model: Any, settings: AnswerSettings) -> Finding:
    """Report the posterior predictive check of choice proportions."""
    try:
        table = model.check(settings.random_seed, settings.ci)
    except DataError as error:  # fractional counts have no replicates
        return Finding(Message(*error.args), brief=Brief("Fit"))
    sentence = describe_check(table)
    # without a p-value every interval is as wide as the picture
    if math.isnan(table.attrs["p_value"]):
        picture = None
    else:
        picture = Picture("check", SENTENCES["check.caption"], table)
    return build_check_finding(
        table, sentence, passes_check(table), SENTENCES["check.title"], picture
    )


def format_row(summary: "pandas.DataFrame", name: str) -> str:
    """Format mean and interval of the summary row `name`."""
    ci = summary.attrs["interval"]
    mean, low, high = (
        round(float(summary.loc[name, column]), 3) for column in ("mean", "low", "high")
    )
    return f"{mean:g} ({describe_interval(ci)} {low:g} to {high:g})"


def make_dependence_maker(find_dependence: Callable[[Any], Dependence | None]) -> FindingMaker:
    """Return the maker of the finding on repeated answers of a respondent."""
    return FindingMaker(
        "independence",
        "Repeated answers from the same respondents",
        ON_SCREEN,
        lambda model, settings: build_dependence_finding(find_dependence(model)),
        STATISTICS,
    )


def describe_errors(dependence: Dependence | None) -> Text:
    """Return the end of a sentence for a paper on the source of standard errors."""
    if dependence is not None and dependence.by == SCORES:
        return phrase(SENTENCES, "ml.methods.people", source=Cite("bell2002"))
    return SENTENCES["ml.methods.observed"]


def build_dependence_finding(dependence: Dependence | None) -> Finding | None:
    """Build the finding on dependence between answers of one respondent; None if negligible."""
    if dependence is None or (sentence := dependence.sentence) is None:
        return None
    headline: Any = ""
    brief_text = None
    if dependence.is_good:
        headline = phrase(SENTENCES, "independence.good", unit=dependence.unit)
        if dependence.share < DOMINANT:
            brief_text = headline
    elif dependence.is_good is not None:
        headline = phrase(SENTENCES, "independence.bad", unit=dependence.unit)
    brief = Brief(dependence.label, brief_text, order=0)
    return Finding(sentence, good=dependence.is_good, headline=headline, brief=brief)


def describe_dependence(dependence: Dependence | None) -> tuple[Text, ...]:
    """Return sentences for a paper on dependence between a respondent's answers."""
    if dependence is None or dependence.number < 2:
        return ()
    sentence_key = "independence.methods.independent"
    citation = None
    if dependence.model == INDIVIDUALS:
        sentence_key = "independence.methods.random"
    elif dependence.by == SCORES:
        sentence_key = "independence.methods.scores"
        citation = Cite("muller2013", "ribatet2012", "bell2002")
    elif dependence.by == POWER:
        sentence_key = "independence.methods.power"
        citation = Cite("pauli2011", "rao1984")
    elif dependence.most <= 1.0:
        sentence_key = "independence.methods.once"
    return (
        phrase(
            SENTENCES,
            sentence_key,
            people=f"{dependence.number:,}",
            unit=dependence.unit,
            answers=f"{dependence.answers:,.15g}",
            effect=f"{dependence.effect:.2g}",
            df=format_degrees(dependence.df),
            source=citation,
        ),
    )
