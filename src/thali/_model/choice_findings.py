"""Findings of choices that several models and leaderboards have: ranks, scores, checks, and what
was made of people."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._digits import factor, number, probability
from thali._labels import listed
from thali._posterior.dependence import INDIVIDUALS, POWER, SCORES, Dependence, format_degrees
from thali._posterior.interval import interval_columns, interval_name
from thali.errors import DataError, Message

from .best_worst import RANKING, REVERSED
from .common_findings import check_of, describes
from .finding import MISSES, ON_SCREEN, Brief, Finding, Picture, Text, finding
from .predictive_check import check_sentence
from .references import Cite
from .settings import AnswerSettings
from .wording import phrase

if TYPE_CHECKING:
    import pandas

SENTENCES = {
    "ranks.sure": "{option} is most preferred (probability {probability}).",
    "ranks.open": "The most preferred option is uncertain; probabilities: {named}.",
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
    "parameters.log_likelihood": "Log-likelihood of the full data, including constants: {value}.",
    "parameters.lapse": "Lapse rate (probability of a random choice): {lapse:g}, fixed.",
    "check.title": "Observed proportions and their predictive intervals, worst-fitting first",
    "check.caption": "Observed proportions against model predictions.",
    "methods.best_worst.ranking": "Best and worst choices were modelled as the first and last"
    " positions of a ranking, summed over all orders of the remaining options {source}.",
    "methods.best_worst.maxdiff": "Best and worst choices were modelled as the pair of options that"
    " differ most (maximum difference) {source}.",
    "methods.ties": "Ties were modelled with the rule of {source}{prior}.",
    "methods.covariates": "The log odds of a choice were linear in each covariate ({names}); each"
    " coefficient had a Normal(0, 1) prior.",
    "methods.lapse": "With probability {lapse:g} the choice was random, with equal probability for"
    " each option.",
    "independence.good": "Intervals generalise to new respondents.",
    "independence.bad": "Intervals are too narrow to generalise to new respondents.",
    "independence.methods.independent": "The {answers} answers from {people} respondents were"
    " treated as independent (design effect {effect}).",
    "independence.methods.once": "Each of the {people} respondents answered once.",
    "independence.methods.scores": "The {answers} answers came from {people} respondents (design"
    " effect {effect}). Posterior draws were rescaled to the covariance H⁻¹VH⁻¹, where H is"
    " the Hessian at the mode and V the variance of respondents' scores, each adjusted for its"
    " leverage ({df}) {source}.",
    "independence.methods.power": "The {answers} answers came from {people} respondents; the"
    " likelihood was raised to the power of one over the design effect ({effect}) {source}.",
    "independence.methods.random": "Each of the {people} respondents had individual values, which"
    " varied around those of the population.",
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
    "ml.methods.lapse": "The probability of a random choice was fixed at {lapse}.",
}
NAMED = 3  # options that a sentence names
SURE = 0.95  # probability from which on an option is called the best
MAX_GROUPS = 7  # whose weights one picture shows: so many colours can be distinguished


MAX_RANKED = 60  # options, above which ranks are left to the table


def rank_finding(table: "pandas.DataFrame", title: str, ci: float) -> Finding:
    """Return the ranks of the options in a sentence, a table with every rank, and a picture."""
    (best, first), (worst, last) = (
        (str(table.index[at]), number(table["rank"].iloc[at])) for at in (0, -1)
    )
    sentence = best_sentence(table)
    text = phrase(SENTENCES, "ranks.intervals", best=sentence, interval=interval_name(ci))
    caption = str(
        phrase(
            SENTENCES, "ranks.caption", title=title, best=best, first=first, worst=worst, last=last
        )
    )
    return Finding(
        sentence,
        title=title,
        table=table,
        shown=table[["rank", "rank_low", "rank_high", "p_1"]],
        picture=Picture("ranks", caption, table) if len(table) <= MAX_RANKED else None,
        brief=Brief("Preferred", text, ranks_in_line(table), order=0),
    )


def ranks_in_line(table: "pandas.DataFrame") -> tuple[tuple[str, str], ...]:
    """Options and their ranks, or the intervals of these, such as ("tea", "1-2")."""
    rows = table[["rank_low", "rank_high"]].itertuples()
    return tuple(
        (str(name), f"{low:.0f}" if low == high else f"{low:.0f}-{high:.0f}")
        for name, low, high in rows
    )


def best_sentence(table: Any) -> str:
    """Which option is the best, if that is known."""
    likely = table["p_1"].sort_values(ascending=False, kind="stable")
    if likely.iloc[0] >= SURE:
        sure = probability(likely.iloc[0])
        return str(phrase(SENTENCES, "ranks.sure", option=likely.index[0], probability=sure))
    named = listed([f"{name} ({probability(p)})" for name, p in likely.head(NAMED).items()])
    return str(phrase(SENTENCES, "ranks.open", named=named))


def covariates_finding(
    table: "pandas.DataFrame", effects: Any, notes: tuple[str, ...] = ()
) -> Finding:
    """The effects of covariates in a sentence and a table."""
    factors = listed(
        [f"{factor(float(np.exp(value)))} for {name!r}" for name, value in effects.items()]
    )
    sentence = phrase(SENTENCES, "covariates", factors=factors)
    return Finding(
        sentence,
        title=SENTENCES["covariates.title"],
        table=table,
        notes=notes,
        brief=Brief("Covariates"),
    )


def predictions_finding(table: "pandas.DataFrame") -> Finding:
    """Observed proportions beside predicted probabilities, of a table of them."""
    picture = Picture(
        "predictions", SENTENCES["choice_probabilities.caption"], table, file="choice_probabilities"
    )
    return Finding(title=SENTENCES["choice_probabilities.title"], table=table, picture=picture)


def best_worst_sentence(rule: str) -> Text:
    """By which rule best and worst were modelled."""
    key = {RANKING: "methods.best_worst.ranking", REVERSED: "methods.best_worst.maxdiff"}[rule]
    return phrase(SENTENCES, key, source=Cite("marley2005"))


def ties_sentence(prior: str = "") -> Text:
    """By which rule ties were modelled."""
    return phrase(SENTENCES, "methods.ties", source=Cite("davidson1970", inside=True), prior=prior)


@finding("option_scores", "Preference scores", ON_SCREEN)
def option_scores(model: Any, settings: AnswerSettings) -> Finding | None:
    """The scores of the options, of all people or by group, where the best and the worst were
    named."""
    if model._view.best_worst is None and settings.none is None:
        return None
    table = model.scores(random_seed=settings.random_seed, none=settings.none, ci=settings.ci)
    return scores_finding(table, "option_scores.title", "option_scores")


def scores_finding(table: "pandas.DataFrame", title: str, key: str) -> Finding:
    """Scores of options in a sentence, a table and a picture; `title`: its phrase; `key`: the name
    of its file."""
    is_of_all, of = table.index.nlevels == 1, table.index.names[0]
    names = [""] if is_of_all else list(dict.fromkeys(table.index.get_level_values(0)))
    rows_of: dict[Any, Any] = {name: table if is_of_all else table.loc[name] for name in names}
    named = []
    for name in names[:MAX_GROUPS]:
        best = rows_of[name]["score"].sort_values(ascending=False, kind="stable").head(NAMED)
        each = listed([f"{option} ({number(float(score))})" for option, score in best.items()])
        named.append(each if is_of_all else f"{each} in {of} {name!r}")
    none = table.attrs.get("none")
    average = number(100.0 / len(rows_of[names[0]])) if none is None else none
    how = "option_scores" if none is None else "option_scores.none"
    sentence = phrase(SENTENCES, how, named="; ".join(named), average=average)
    size = number(table.attrs["set_size"] - 1.0)
    picture = Picture("scores", SENTENCES["option_scores.caption"], table, file=key)
    fits = len(names) <= MAX_GROUPS and len(table) <= MAX_GROUPS * MAX_RANKED
    notes = (
        phrase(
            SENTENCES,
            "option_scores.by" if none is None else "option_scores.none.by",
            others=size,
            none=none,
        ),
    )
    scale = phrase(
        SENTENCES, "option_scores.sum" if none is None else "option_scores.anchor", none=none
    )
    named_scale = str(phrase(SENTENCES, title, scale=scale))
    shown = table.sort_values("score", ascending=False, kind="stable") if is_of_all else None
    told = phrase(SENTENCES, f"{how}.brief", scale=named_scale, average=average)
    brief = Brief("Scores", told, table=shown if is_of_all else table)
    drawn = picture if fits else None
    return Finding(
        sentence,
        title=named_scale,
        table=table,
        shown=shown,
        picture=drawn,
        notes=notes,
        brief=brief,
    )


@finding("check", "Model check", ON_SCREEN, chapter=MISSES)
def check(model: Any, settings: AnswerSettings) -> Finding:
    """Which observed proportions the model misses."""
    try:
        table = model.check(settings.random_seed, settings.ci)
    except DataError as error:  # of fractional counts, of which no replicates can be drawn
        return Finding(Message(*error.args), brief=Brief("Fit"))
    sentence = check_sentence(table)
    # else every interval is as wide as the picture
    drawn = (
        None
        if math.isnan(table.attrs["p_value"])
        else Picture("check", SENTENCES["check.caption"], table)
    )
    return check_of(table, sentence, describes(table), SENTENCES["check.title"], drawn)


def row_in_words(summary: "pandas.DataFrame", name: str) -> str:
    """Mean and interval of a row of a summary."""
    ci = summary.attrs["interval"]
    mean, low, high = (
        round(float(summary.loc[name, each]), 3) for each in ("mean", *interval_columns(ci))
    )
    return f"{mean:g} ({interval_name(ci)} {low:g} to {high:g})"


def dependence_finding(found: Dependence) -> Finding | None:
    """Whether intervals hold for other people; None where that is not worth a word."""
    if (sentence := found.sentence) is None:
        return None
    headline = (
        ""
        if found.is_good is None
        else SENTENCES[f"independence.{'good' if found.is_good else 'bad'}"]
    )
    brief = Brief("Respondents", headline if found.is_good else None, order=0)
    return Finding(sentence, good=found.is_good, headline=headline, brief=brief)


def said_of(found: Dependence | None) -> tuple[Text, ...]:
    """The same of what is known of them."""
    if found is None or found.number < 2:
        return ()
    facts = {
        "people": f"{found.number:,}",
        "answers": f"{found.answers:,.15g}",
        "effect": f"{found.effect:.2g}",
    }
    if found.model == INDIVIDUALS:
        return (phrase(SENTENCES, "independence.methods.random", **facts),)
    if found.by == SCORES:
        source = Cite("muller2013", "ribatet2012", "bell2002")
        return (
            phrase(
                SENTENCES,
                "independence.methods.scores",
                source=source,
                df=format_degrees(found.df),
                **facts,
            ),
        )
    if found.by == POWER:
        return (
            phrase(
                SENTENCES,
                "independence.methods.power",
                source=Cite("pauli2011", "rao1984"),
                **facts,
            ),
        )
    if found.most <= 1.0:
        return (phrase(SENTENCES, "independence.methods.once", **facts),)
    return (phrase(SENTENCES, "independence.methods.independent", **facts),)
