"""Findings that Bradley-Terry-Luce worths report."""

from itertools import compress
from typing import TYPE_CHECKING, Any

from thali._labels import list_names
from thali._model.choice_findings import SENTENCES as COMMON
from thali._model.choice_findings import (
    build_covariate_finding,
    build_prediction_finding,
    build_rank_finding,
    build_score_finding,
    check,
    describe_best_worst,
    describe_dependence,
    describe_errors,
    describe_ties,
    format_row,
    make_dependence_maker,
)
from thali._model.common_findings import (
    convergence,
    data,
    has_draws,
    make_methods_maker,
    make_question_maker,
    summary,
)
from thali._model.finding import (
    FULL,
    ON_SCREEN,
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
from thali._model.sentence_templates import phrase
from thali._number_format import format_number
from thali._posterior.posterior_tree import Posterior
from thali._posterior.respondent_dependence import Dependence, read_dependence

from .density_from_data import split_by_respondent
from .estimation_methods import EstimateResults, get_worth_estimates, read_worth_draws
from .reliability import describe_reliability, estimate_split_halves, tabulate_reliability
from .worth_draws import WorthDraws

if TYPE_CHECKING:
    from thali._data.choices import Choices
    from thali._data.pairs import PairedComparisons

    from .model import BradleyTerryLuce

ENGLISH = {
    "asked": "How strongly is each option preferred, assuming that its worth is the same for all"
    " respondents?",
    "ranks.title": "Rank of each option by worth",
    "worths.title": "Log worth of each option (mean 0), and its share of the total worth",
    "worths.caption": "Log worth of each option, with its interval; 0 is the mean of all options.",
    "worths": "Largest worths (all worths sum to 1): {named}.",
    "covariates.zero": "Choice probabilities apply to comparisons whose covariates are 0; effects"
    " of option covariates are included in the worths.",
    "covariates.options": "Effects of covariates are included in the worths.",
    "methods.options": "Log worths were sums of effects of covariates of options ({names}), with"
    " Normal(0, 1) coefficients, and of a deviation for each option; the spread s is the standard"
    " deviation of these deviations.",
    "ml.methods.options": "Log worths were sums of effects of covariates of options ({names}),"
    " without deviations for individual options.",
    "spread": "Spread (standard deviation of the log worths): {value}.",
    "spread.fixed": "Spread (standard deviation of the log worths): {value:g}, fixed.",
    "methods.luce": "Choices were modelled with the choice rule of {source}; log worths had"
    " Normal(0, s²) priors, {spread}.",
    "methods.learned": "with log s ~ Normal(log 1.3, 1)",
    "methods.fixed": "with s fixed at {spread:g}",
    "methods.ties": ", with log nu ~ Normal(0, 2²)",
    "methods.laplace": "Posterior draws were taken from Laplace approximations on a grid of values"
    " of s {source}, and corrected by MCMC where the posterior was skewed.",
    "methods.mcmc": "The posterior was sampled by Hamiltonian Monte Carlo; unless fixed, s was"
    " updated both by itself and jointly with the log worths.",
    "methods.maximum": "Worths were estimated by maximum likelihood; standard errors {errors}.",
    "estimates": "Estimates with their standard errors",
    "likelihood": "Log-likelihood {log_likelihood}, including constant terms; AIC {aic}, BIC"
    " {bic}.",
}
_NAMED = 3


def list_makers(model: "BradleyTerryLuce", settings: AnswerSettings) -> tuple[FindingMaker, ...]:
    """Return the functions that make the findings of a fit."""
    if "posterior_" in vars(model):
        return MAKERS
    return ESTIMATES


@finding("ranks", "Ranking of the options", ON_SCREEN)
def report_ranks(model: "BradleyTerryLuce", settings: AnswerSettings) -> Finding:
    """Report the ranks of the options by worth."""
    return build_rank_finding(
        model.ranks(every_rank=True, ci=settings.ci), ENGLISH["ranks.title"], settings.ci
    )


def has_score_finding(model: "BradleyTerryLuce", settings: AnswerSettings) -> bool:
    """Return whether scores are reported: for best-worst data, or with a none option."""
    return model._get_fit_data().worst is not None or settings.none is not None


@finding("option_scores", "Preference scores", ON_SCREEN)
def report_scores(model: "BradleyTerryLuce", settings: AnswerSettings) -> Finding | None:
    """Report MaxDiff scores of the options; None for data other than best-worst."""
    if not has_score_finding(model, settings):
        return None
    table = model.scores(None, settings.none, settings.random_seed, settings.ci)
    return build_score_finding(table, "option_scores.title", "option_scores")


@finding("worths", "Worths", ON_SCREEN)
def report_worths(model: "BradleyTerryLuce", settings: AnswerSettings) -> Finding:
    """Report the log worth of each option."""
    table = model.worths(settings.ci)
    option_shares: Any = table["share"]
    largest_shares = list_names(
        [
            f"{option} ({format_number(share)})"
            for option, share in option_shares.nlargest(_NAMED).items()
        ]
    )
    brief = None
    if not has_score_finding(model, settings):
        brief = Brief("Worths", table=table)
    return Finding(
        phrase(ENGLISH, "worths", named=largest_shares),
        title=ENGLISH["worths.title"],
        table=table,
        picture=Picture("worths", ENGLISH["worths.caption"], table),
        brief=brief,
    )


@finding("reliability", "Reliability")
def report_reliability(model: "BradleyTerryLuce", settings: AnswerSettings) -> Finding | None:
    """Report the reliability of the estimates; None for two options."""
    data = model._get_fit_data()
    if data.n_options < 3:
        return None
    problem = model._build_problem(data)
    halves = {}
    # effects of option covariates do not belong to the worths that are split
    if not problem.option_covariates.any():
        halves = estimate_split_halves(
            problem,
            *split_by_respondent(problem.converted_data, problem.density),
            settings.random_seed,
        )
    draws = read_worth_draws(Posterior(model.posterior_))
    return describe_reliability(
        tabulate_reliability(draws.log_worths, halves, settings.ci), "estimates"
    )


@finding("covariates", "Covariate effects", ON_SCREEN)
def report_covariates(model: "BradleyTerryLuce", settings: AnswerSettings) -> Finding | None:
    """Report effects of covariates."""
    draws = model._prediction_draws
    if not draws.covariates:
        return None
    effects_table = model.covariate_effects(settings.ci)
    note = "covariates.zero"
    if draws.is_of_options.all():
        note = "covariates.options"
    return build_covariate_finding(effects_table, effects_table["mean"], (ENGLISH[note],))


@finding("choice_probabilities", "Choice probabilities", FULL)
def report_choice_probabilities(model: "BradleyTerryLuce", settings: AnswerSettings) -> Finding:
    """Report observed and predicted proportions."""
    return build_prediction_finding(model.predictions(settings.ci))


@finding("parameters", "Other parameters and assumptions", chapter=STATISTICS)
def report_parameters(model: "BradleyTerryLuce", settings: AnswerSettings) -> Finding:
    """Report spread, lapse, ties and other parameters of no single option."""
    summary_rows = model.summary(settings.ci)
    if model.spread is None:
        notes: list[Text] = [phrase(ENGLISH, "spread", value=format_row(summary_rows, "spread"))]
    else:
        notes = [phrase(ENGLISH, "spread.fixed", value=model.spread)]
    notes += [
        phrase(
            COMMON, f"parameters.{parameter_name}", value=format_row(summary_rows, parameter_name)
        )
        for parameter_name in ("tie", "log_likelihood")
        if parameter_name in summary_rows.index
    ]
    return Finding(notes=(*notes, phrase(COMMON, "parameters.lapse", lapse=f"{model.lapse:g}")))


@finding("summary", "Parameter estimates", chapter=STATISTICS)
def report_estimates(model: "BradleyTerryLuce", settings: AnswerSettings) -> Finding:
    """Report estimates with standard errors, and the likelihood."""
    table = model.summary(settings.ci)
    fit_statistics = {name: f"{table.attrs[name]:.4f}" for name in ("log_likelihood", "aic", "bic")}
    notes = (
        phrase(ENGLISH, "likelihood", **fit_statistics),
        phrase(COMMON, "parameters.lapse", lapse=f"{model.lapse:g}"),
    )
    return Finding(title=ENGLISH["estimates"], table=table, notes=notes)


def _find_dependence(model: "BradleyTerryLuce") -> Dependence | None:
    """Return how repeated answers of a respondent were treated; None if respondents are unknown."""
    if has_draws(model):
        return read_dependence(model.posterior_.attrs)
    return get_worth_estimates(model).people


report_dependence = make_dependence_maker(_find_dependence)


# Methods text ----------------- -------------------------------------------------------------------


def describe_model(model: "BradleyTerryLuce") -> tuple[Text, ...]:
    """Return methods sentences about choices of respondents with equal worths."""
    sentences = describe_choice_rules(model)
    return (
        *sentences,
        phrase(ENGLISH, f"methods.{model._method}", source=Cite("rue2009")),
        *describe_dependence(read_dependence(model.posterior_.attrs)),
    )


def describe_choice_rules(model: "BradleyTerryLuce") -> tuple[Text, ...]:
    """Return methods sentences about the probability of answers given worths."""
    source = Cite("bradley1952", "luce1959", inside=True)
    data = model._get_fit_data()
    prior = ENGLISH["methods.learned"]
    if model.spread is not None:
        prior = phrase(ENGLISH, "methods.fixed", spread=model.spread)
    sentences: list[Text] = [phrase(ENGLISH, "methods.luce", source=source, spread=prior)]
    draws = model._prediction_draws
    sentences += _describe_best_worst(draws, data, ENGLISH["methods.ties"])
    sentences += _describe_covariates(draws, "methods")
    if model.lapse:
        sentences.append(phrase(COMMON, "methods.lapse", lapse=f"{model.lapse:g}"))
    return tuple(sentences)


def _describe_best_worst(
    draws: WorthDraws, data: "PairedComparisons | Choices", ties: str
) -> list[Text]:
    """Return methods sentences about best-worst choices or ties; [] without."""
    if data.worst is not None:
        return [describe_best_worst(draws.rule)]
    if draws.nu is None:
        return []
    return [describe_ties(ties)]


def _describe_covariates(draws: WorthDraws, chapter: str) -> list[Text]:
    """Return methods sentences about covariates of comparisons and of options; [] without."""
    sentences = []
    for templates, key, is_described in (
        (COMMON, "covariates", ~draws.is_of_options),
        (ENGLISH, "options", draws.is_of_options),
    ):
        if names := list(compress(draws.covariates, is_described)):
            sentences.append(phrase(templates, f"{chapter}.{key}", names=list_names(names)))
    return sentences


def describe_estimation(model: "BradleyTerryLuce") -> tuple[Text, ...]:
    """Return methods sentences about maximum-likelihood estimates."""
    source = Cite("bradley1952", "luce1959", inside=True)
    sentences: list[Text] = [phrase(COMMON, "ml.methods.luce", source=source)]
    estimates = get_worth_estimates(model)
    draws = EstimateResults(estimates).prediction_draws
    sentences += _describe_best_worst(draws, estimates.data, "")
    sentences += _describe_covariates(draws, "ml.methods")
    errors_phrase = describe_errors(estimates.people)
    sentences.append(phrase(ENGLISH, "methods.maximum", errors=errors_phrase))
    if model.lapse:
        sentences.append(phrase(COMMON, "ml.methods.lapse", lapse=f"{model.lapse:g}"))
    return tuple(sentences)


_FIRST = (
    make_question_maker(lambda model: ENGLISH["asked"]),
    report_ranks,
    report_scores,
    report_worths,
    report_covariates,
    report_choice_probabilities,
)
MAKERS = (
    *_FIRST,
    report_reliability,
    report_parameters,
    check,
    summary,
    data,
    make_methods_maker(describe_model),
    report_dependence,
    convergence,
)
ESTIMATES = (
    *_FIRST,
    report_estimates,
    check,
    data,
    make_methods_maker(describe_estimation),
    report_dependence,
    convergence,
)
