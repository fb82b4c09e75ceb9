"""Findings that individual worths of respondents report."""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._labels import format_plural, list_names
from thali._model.choice_findings import build_score_finding, check, describe_dependence, format_row
from thali._model.common_findings import (
    convergence,
    data,
    make_methods_maker,
    make_question_maker,
    summary,
)
from thali._model.finding import (
    FULL,
    ON_SCREEN,
    SCREEN,
    STATISTICS,
    Brief,
    Finding,
    FindingMaker,
    Picture,
    Text,
    finding,
)
from thali._model.finding_settings import AnswerSettings
from thali._model.references import Cite
from thali._model.segment_findings import (
    describe_segmentation,
    make_segment_function,
    make_segment_makers,
)
from thali._model.sentence_templates import phrase
from thali._number_format import format_number, format_percent, format_probability
from thali._people.respondent_columns import RespondentCovariates, read_stored_covariates
from thali._posterior.posterior_interval import describe_interval
from thali._posterior.posterior_tree import Posterior
from thali.errors import InPython, Message

from .. import findings as of_one

if TYPE_CHECKING:
    import pandas

    from thali._people.respondent_segments import Segments

    from ..model import BradleyTerryLuce

ENGLISH = {
    "individuals": "Estimated first choices of the {number} respondents: {options}.",
    "scores.brief": "{title}, with {interval}s.",
    "individuals.brief": "Estimated first choices of the {number} respondents:",
    "effects": "Clear effects on {what}s: {effects}.",
    "effects.number": "× {ratio} for {of} per unit of '{column}'",
    "effects.label": "× {ratio} for {of} ({label} relative to {first} in '{column}')",
    "effects.none": "No {what} clearly increases or decreases with {columns} (no direction has"
    " probability ≥ 0.95).",
    "effects.title": "Effects of respondent characteristics on {what}s",
    "asked": "What do respondents prefer, and how much do they differ?",
    "individuals.once": "{number} answered once; their scores mostly reflect the population.",
    "individuals.title": "Preference scores of each respondent (a respondent's scores sum to 100)",
    "individual_scores.title": "Preference scores, one respondent per row",
    "individual_scores.by": "'fit' is the root likelihood (RLH): the geometric mean of the"
    " probabilities of a respondent's answers (best and worst of a set count as one answer).",
    "reach": "{options} reach {share} % of respondents ({interval} {low} to {high} %); with"
    " probability {best}, no other set of this size reaches more.",
    "reach.by": "An option reaches a respondent if its share of preference exceeds the mean over"
    " all options.",
    "reach.by.none": "An option reaches a respondent who prefers it to {none}.",
    "reach.greedy": "Of the {sets} possible sets, only the most promising were evaluated (greedy"
    " search with exchanges); no set reaches more than {bound} % {source}.",
    "reach.title": "Sets of {size} options with the highest reach",
    "reach.caption": "Share of respondents reached by each set, with its interval.",
    "reach.methods": "Sets of options with the highest reach were found by total unduplicated reach"
    " and frequency (TURF) analysis {turf}: an option reaches a respondent if its share of"
    " preference exceeds the mean over all options. A Bayesian bootstrap of respondents"
    " {bootstrap} makes intervals allow for sampling variation.",
    "effects.by": "Effects are changes in the log worth per one-unit increase in the column, with"
    " the other columns held constant, relative to the mean change of all options.",
    "spread": "Spread between respondents (standard deviation of their log worths for an option):"
    " {value}.",
    "spread.few": "With only {number} respondents, the data contain little information about this"
    " spread.",
    "methods": "Each respondent's log worths were modelled as Normal around those of the"
    " population{by}, with a half-Normal(1) prior on the standard deviation{directions}. The"
    " posterior was sampled by Hamiltonian Monte Carlo.",
    "methods.by": " and depended linearly on the respondent's {columns} (standardised; coefficients"
    " Normal(0, 0.5²))",
    "methods.directions": " and three shared directions in which log worths vary together",
}
_ALL_EFFECTS = InPython("model.respondents.effects()", "thali show OUT respondent_effects")
NAMED, SURE = 3, 0.95  # effects and options that a sentence names; probability of a clear effect
FEW_RESPONDENTS = 8  # below, the spread between respondents is mostly that of its prior
REACH_SIZE = 3  # options of a set
# keys of the findings about best-worst answers that a screen shows, in this order
_MAXDIFF_SCREEN = (
    "option_scores",
    "individuals",
    "respondent_effects",
    "reach",
    "segment_sizes",
    "ranks",
)
_MAX_SCORES = 20  # options whose scores are on the screen
_MAX_SHARES = 12  # options whose shares are all on the screen


def list_makers(model: "BradleyTerryLuce", settings: AnswerSettings) -> tuple[FindingMaker, ...]:
    """Return the functions that make the findings of a fit."""
    score_makers = []
    if of_one.has_score_finding(model, settings):
        make_score_finding = partial(_report_segment_scores, settings)
        score_makers.append(("segment_scores", "Preference scores by segment", make_score_finding))
    segment_makers = make_segment_makers(
        settings, make_segment_function(settings), tuple(score_makers)
    )
    makers = (*_FIRST, *segment_makers, *_LAST)
    if model._get_fit_data().worst is None:
        return makers
    return tuple(map(_place_on_screen, makers))


def _place_on_screen(maker: FindingMaker) -> FindingMaker:
    """Return a maker whose finding is on the screen in the order of a MaxDiff study."""
    if maker.key not in _MAXDIFF_SCREEN:
        return maker

    def make(model: "BradleyTerryLuce", settings: AnswerSettings) -> Finding | None:
        """Make the finding, and number it within the screen."""
        unplaced = maker.make(model, settings)
        if unplaced is None or unplaced.brief is None:
            return unplaced
        brief = replace(unplaced.brief, order=_MAXDIFF_SCREEN.index(maker.key))
        if maker.key == "option_scores":
            interval = describe_interval(settings.ci)
            text = ENGLISH["scores.brief"].format(title=unplaced.title, interval=interval)
            parts = tuple(
                (str(option), "{score:.1f} ({low:.1f}-{high:.1f})".format(**row))
                for option, row in brief.table.iterrows()
            )
            brief = replace(brief, text=text, table=None, parts=parts, max_parts=_MAX_SCORES)
        return replace(unplaced, brief=brief)

    return replace(maker, make=make, place=tuple(dict.fromkeys((SCREEN, *maker.place))))


def _report_segment_scores(
    settings: AnswerSettings, model: "BradleyTerryLuce", segments: "Segments"
) -> Finding:
    """Report scores of the options in each segment."""
    table = model.scores(segments, settings.none, settings.random_seed, settings.ci)
    return build_score_finding(table, "option_scores.segments", "segment_scores")


def _build_individuals_finding(
    table: "pandas.DataFrame", population: "pandas.DataFrame"
) -> Finding:
    """Build the finding of preferences per respondent and option, with population means."""
    preferred_options: Any = table["mean"].unstack("option").idxmax(axis=1)
    n_by_option = preferred_options.value_counts(sort=True)
    number = f"{n_by_option.sum():,}"
    shares = n_by_option / n_by_option.sum()
    parts = tuple((str(option), format_percent(share)) for option, share in shares.items())
    share_texts = [f"{option} ({share})" for option, share in parts[:NAMED]]
    sentence = ENGLISH["individuals"].format(number=number, options=list_names(share_texts))
    brief_text = ENGLISH["individuals.brief"].format(number=number)
    brief = Brief("First")
    if len(population) <= _MAX_SHARES:
        brief = Brief("First", brief_text, parts, max_parts=_MAX_SHARES)
    return Finding(sentence, title=ENGLISH["individuals.title"], table=table, brief=brief)


def _build_effects_finding(
    table: Any, covariates: RespondentCovariates, parameter_name: str, note: str
) -> Finding:
    """Build the finding of respondent covariates' effects on the parameters named."""
    clear_effects = table[(table["above_0"] - 0.5).abs() >= SURE - 0.5]
    largest_effects = (
        clear_effects["mean"].abs().sort_values(ascending=False, kind="stable").index[:NAMED]
    )
    effect_texts = [
        _describe_effect(covariates, name, parameter, table["ratio"][name, parameter])
        for name, parameter in largest_effects
    ]
    if effect_texts:
        sentence = ENGLISH["effects"].format(what=parameter_name, effects=list_names(effect_texts))
    else:
        sentence = ENGLISH["effects.none"].format(
            what=parameter_name, columns=list_names(covariates.sources)
        )
    title = ENGLISH["effects.title"].format(what=parameter_name)
    brief = Brief("Effects", Message(sentence, " All effects: ", _ALL_EFFECTS, "."))
    return Finding(sentence, title=title, table=table, notes=(note,), brief=brief)


def _describe_effect(
    covariates: RespondentCovariates, name: str, parameter: str, odds_ratio: float
) -> str:
    """Describe the effect of one respondent covariate on one parameter in a sentence."""
    ratio_text = format_number(odds_ratio)
    column_and_labels = covariates.describe_label(name)
    if column_and_labels is None:
        return ENGLISH["effects.number"].format(of=parameter, column=name, ratio=ratio_text)
    column, label, reference_label = column_and_labels
    return ENGLISH["effects.label"].format(
        of=parameter, ratio=ratio_text, column=column, label=label, first=reference_label
    )


@finding("individuals", "Individual preferences", FULL)
def report_individuals(model: Any, settings: AnswerSettings) -> Finding:
    """Report scores of each respondent, with the mean over respondents."""
    table = model.respondents.individuals(ci=settings.ci)
    mean_scores = model.scores(random_seed=settings.random_seed, ci=settings.ci).rename(
        columns={"score": "mean"}
    )
    individuals_finding = _build_individuals_finding(table, mean_scores)
    has_ties = Posterior(model.posterior_).tie is not None
    answers = model._get_fit_data().questions(has_ties).given
    n_single = int((np.bincount(answers.respondent, answers.times) == 1.0).sum())
    if n_single:
        individuals_finding = replace(
            individuals_finding,
            notes=(
                phrase(ENGLISH, "individuals.once", number=format_plural(n_single, "respondent")),
            ),
        )
    return individuals_finding


@finding("individual_scores", "Scores by respondent", FULL)
def report_individual_scores(model: Any, settings: AnswerSettings) -> Finding:
    """Report scores of each respondent, one row each, with the fit."""
    table = model.respondents.individuals(wide=True, ci=settings.ci)
    notes = (ENGLISH["individual_scores.by"],)
    return Finding(title=ENGLISH["individual_scores.title"], table=table, notes=notes)


@finding("reach", "Reach (TURF)", ON_SCREEN)
def report_reach(model: Any, settings: AnswerSettings) -> Finding | None:
    """Report the sets of options that reach most respondents (TURF)."""
    if Posterior(model.posterior_).n_options - (settings.none is not None) <= REACH_SIZE:
        return None
    table = model.respondents.reach(
        REACH_SIZE, none=settings.none, random_seed=settings.random_seed, ci=settings.ci
    )
    best_set = table.iloc[0]
    low_percent, high_percent = (f"{100 * best_set[end]:.0f}" for end in ("low", "high"))
    facts = {
        "options": list_names(best_set["members"]),
        "share": f"{100 * best_set['reach']:.0f}",
        "low": low_percent,
        "high": high_percent,
    }
    facts |= {
        "interval": describe_interval(settings.ci),
        "best": format_probability(best_set["best"]),
    }
    reach_rule = ENGLISH["reach.by"]
    if settings.none is not None:
        reach_rule = phrase(ENGLISH, "reach.by.none", none=settings.none)
    notes: tuple[Text, ...] = (reach_rule,)
    if not table.attrs["exact"]:
        bound_facts = {
            "sets": f"{table.attrs['sets']:,}",
            "bound": f"{100 * table.attrs['bound']:.0f}",
        }
        notes += (phrase(ENGLISH, "reach.greedy", source=Cite("nemhauser1978"), **bound_facts),)
    printed_table = table.assign(members=table["members"].map("; ".join))
    return Finding(
        phrase(ENGLISH, "reach", **facts),
        title=str(phrase(ENGLISH, "reach.title", size=REACH_SIZE)),
        table=printed_table.set_index("members"),
        picture=Picture("reach", ENGLISH["reach.caption"], table),
        notes=notes,
        brief=Brief("Reach"),
    )


@finding("respondent_effects", "Effects of respondent characteristics", ON_SCREEN)
def report_respondent_effects(model: Any, settings: AnswerSettings) -> Finding | None:
    """Report effects of respondents' columns on their worths."""
    covariates = read_stored_covariates(Posterior(model.posterior_).fixed)
    if covariates is None:
        return None
    return _build_effects_finding(
        model.respondents.effects(settings.ci), covariates, "worth", ENGLISH["effects.by"]
    )


@finding("parameters", "Other parameters and assumptions", chapter=STATISTICS)
def report_parameters(model: "BradleyTerryLuce", settings: AnswerSettings) -> Finding:
    """Report spread, lapse and other parameters of no single respondent."""
    spread = format_row(model.summary(settings.ci), "spread_of_respondents")
    notes = [phrase(ENGLISH, "spread", value=spread)]
    n_respondents = len(Posterior(model.posterior_).respondents)
    if n_respondents < FEW_RESPONDENTS:
        notes.append(phrase(ENGLISH, "spread.few", number=n_respondents))
    shared_finding = of_one.report_parameters(model, settings)
    assert shared_finding is not None
    return replace(shared_finding, notes=(*notes, *shared_finding.notes))


def describe_model(model: "BradleyTerryLuce") -> tuple[Text, ...]:
    """Return methods sentences about choices and individual worths."""
    posterior = Posterior(model.posterior_)
    covariate_clause = ""
    covariates = read_stored_covariates(posterior.fixed)
    if covariates is not None:
        covariate_clause = phrase(ENGLISH, "methods.by", columns=list_names(covariates.sources))
    directions = ""
    if "loading" in posterior.draws:
        directions = ENGLISH["methods.directions"]
    return (
        *of_one.describe_choice_rules(model),
        phrase(ENGLISH, "methods", by=covariate_clause, directions=directions),
        *describe_dependence(posterior.dependence),
        describe_segmentation("each respondent's preference for an option over the others"),
        phrase(ENGLISH, "reach.methods", turf=Cite("miaoulis1990"), bootstrap=Cite("rubin1981")),
    )


_FIRST = (
    make_question_maker(lambda model: ENGLISH["asked"]),
    of_one.report_ranks,
    of_one.report_scores,
    of_one.report_worths,
    report_respondent_effects,
    report_individuals,
    report_individual_scores,
    report_reach,
)
_LAST = (
    of_one.report_choice_probabilities,
    report_parameters,
    check,
    summary,
    data,
    make_methods_maker(describe_model),
    of_one.report_dependence,
    convergence,
)
