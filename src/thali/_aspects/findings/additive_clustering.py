"""Findings that additive clustering of similarities or triplets reports."""

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._data.kinds import SIMILARITIES, TRIPLETS
from thali._labels import format_plural
from thali._model.choice_findings import check, describe_dependence, format_row
from thali._model.common_findings import (
    build_check_finding,
    build_methods_finding,
    convergence,
    data,
    make_question_maker,
    passes_check,
    summary,
)
from thali._model.finding import (
    FULL,
    METHODS,
    MISSES,
    ON_SCREEN,
    SHOWN,
    STATISTICS,
    Brief,
    Finding,
    FindingMaker,
    Picture,
    Text,
    finding,
)
from thali._model.finding_settings import AnswerSettings
from thali._model.pair_quantities import space_indices
from thali._model.predictive_check import describe_check
from thali._model.references import Cite
from thali._model.sentence_templates import format_estimate as in_words
from thali._model.sentence_templates import format_number, phrase
from thali._model.stored_choices import MAX_PAIRS, pair_index
from thali._posterior.posterior_interval import compute_interval
from thali._posterior.posterior_tree import Posterior
from thali._trees.tree import Tree
from thali.errors import Argument, DataWarning, Setting

from ..draws.feature_columns import read_columns
from ..draws.fitted_similarities import compute_similarities
from ..likelihoods.additive import VARIANCE_SHAPE, VARIANCE_SHARE
from ..results.fit_quality_messages import describe_slow_swaps
from ..results.matched_features import choose_similar
from .english_sentences import ENGLISH
from .features import (
    build_features_finding,
    build_membership_finding,
    build_number_finding,
    describe_number,
    describe_tree_positions,
    describe_variance,
    expand_members,
    format_for_reading,
    with_draws,
)
from .repeated_answers import independence

if TYPE_CHECKING:
    import pandas

    from ..models.additive_clustering import AdditiveClustering
    from ..results.point_estimate import Estimate


# Observed and fitted similarities -----------------------------------------------------------------


def fitted_similarities(
    model: "AdditiveClustering", posterior: "Posterior", ci: float
) -> "pandas.DataFrame":
    """Return a table of observed and predicted similarities, at most 2,000 pairs."""
    from thali._exportable_table import Table

    similarities = posterior.similarities
    labels = posterior.labels
    pair_indices = space_indices(similarities.size, MAX_PAIRS)
    first_objects, second_objects = (objects[pair_indices] for objects in posterior.pairs)
    if posterior.similarity is not None:
        similarity_draws = posterior.similarity[
            ..., pair_index(first_objects, second_objects, len(labels))
        ]
    else:
        similarity_draws = compute_similarities(
            read_columns(posterior), posterior.constant, first_objects, second_objects
        )
    similarity_draws = similarity_draws.reshape(-1, len(pair_indices))
    low, high = compute_interval(similarity_draws, ci)
    label_columns = {
        "a": np.array(labels, object)[first_objects],
        "b": np.array(labels, object)[second_objects],
    }
    similarity_columns = {
        "observed": similarities[pair_indices],
        "predicted": similarity_draws.mean(axis=0),
        "low": low,
        "high": high,
    }
    similarity_table = Table(label_columns | similarity_columns)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        explained_share = float(model.estimate("expectation").variance_accounted_for())
    similarity_table.attrs |= {
        "interval": ci,
        "of": int(similarities.size),
        "explained": explained_share,
    }
    return similarity_table


CONSTANT = "additive constant"
# Columns of a feature table that are constant or missing for a point estimate.
_INTERVAL_COLUMNS = [
    "weight_low",
    "weight_high",
    "copies",
    "mcse",
    "ess",
    "r_hat",
    "converged",
    "probability",
]


def list_makers(model: "AdditiveClustering", settings: AnswerSettings) -> tuple[FindingMaker, ...]:
    """List the functions that make the findings of a fit."""
    if model._engine.is_point:
        return POINT_FINDINGS
    posterior = Posterior(model.posterior_)
    makers = _get_kind_facts(posterior).makers
    if choose_similar(posterior.n_options, settings.similar) is None:
        return (*makers, *METHODS_FINDINGS)
    return (*makers, membership, *METHODS_FINDINGS)


def _get_kind_facts(posterior: "Posterior") -> "ClusteringDataFacts":
    """Return the findings and sentences specific to similarities or triplets."""
    return _FACTS_BY_DATA_KIND[posterior.data_kind]


@finding("features", "Shared features", ON_SCREEN)
@with_draws
def features(
    model: "AdditiveClustering", posterior: "Posterior", settings: AnswerSettings
) -> Finding:
    """Report the shared features with their probabilities and weights."""
    notes: tuple[Text, ...] = ()
    similar = choose_similar(posterior.n_options, settings.similar)
    features_table = model.features(similar=similar, ci=settings.ci)
    if len(features_table) and "place" in features_table:
        notes += (
            describe_tree_positions(
                posterior, model.get_params()["features"], "feature", "objects"
            ),
        )
    n_shared = posterior.n_shared_features
    if (
        posterior.sigma is not None
        and n_shared is not None
        and bool((posterior.n_features > n_shared).any())
    ):
        notes += (ENGLISH["additive.silent"],)
    return build_features_finding(model, posterior, features_table, "feature", notes)


@finding("membership", "Membership of merged features", FULL)
@with_draws
def membership(
    model: "AdditiveClustering", posterior: "Posterior", settings: AnswerSettings
) -> Finding:
    """Report how often each object owns each merged feature."""
    return build_membership_finding(model, choose_similar(posterior.n_options, settings.similar))


@finding("n_features", "Number of features", ON_SCREEN)
@with_draws
def n_features(
    model: "AdditiveClustering", posterior: "Posterior", settings: AnswerSettings
) -> Finding:
    """Report the posterior of the number of features, used and overall."""
    n_shared = posterior.n_counted
    n_all = posterior.n_features
    shared_finding = build_number_finding(
        n_shared, "feature", ENGLISH[_get_kind_facts(posterior).number_key], settings.ci
    )
    if np.array_equal(n_shared, n_all):
        return shared_finding
    return replace(
        shared_finding, notes=(describe_number(n_all, ENGLISH["additive.all"], settings.ci),)
    )


@finding("estimate", "Estimated features", ON_SCREEN)
@with_draws
def estimate(
    model: "AdditiveClustering", posterior: "Posterior", settings: AnswerSettings
) -> Finding:
    """Report a point estimate of the features and its variance accounted for."""
    fitted_estimate = model.estimate(settings.estimator)
    subject_text = ENGLISH[f"additive.of.{fitted_estimate.kind}"]
    sentence = describe_variance(
        fitted_estimate.variance_accounted_for(),
        "additive.explained",
        posterior.reliability,
        whose=subject_text,
    )
    title = ENGLISH[f"additive.estimate.{fitted_estimate.kind}"]
    if fitted_estimate.learned_sigma and fitted_estimate.kind != "expectation":
        title += str(phrase(ENGLISH, "additive.deviation", sigma=f"{fitted_estimate.sigma:.3g}"))
    return Finding(
        sentence,
        title=title,
        table=_append_constant(fitted_estimate, model.constant),
        shown=_format_estimate(fitted_estimate, posterior),
        brief=Brief("Explained", order=2),
    )


def _append_constant(fitted_estimate: "Estimate", has_constant: bool) -> "pandas.DataFrame":
    """Return the features table of an estimate, with the constant as the last row."""
    import pandas as pd

    wide_table = expand_members(fitted_estimate.features, fitted_estimate.similarity.index.tolist())
    wide_table.insert(0, "term", "feature")
    if has_constant:
        constant_row = {
            "term": "constant",
            "members": CONSTANT,
            "probability": 1.0,
            "weight": float(fitted_estimate.constant),
        }
        missing_cells = dict.fromkeys(fitted_estimate.features.columns, float("nan"))
        full_row = {
            column: (missing_cells | constant_row).get(str(column), 1)
            for column in wide_table.columns
        }
        wide_table = pd.concat([wide_table, pd.DataFrame([full_row])], ignore_index=True)
    return wide_table


def _format_estimate(fitted_estimate: "Estimate", posterior: "Posterior") -> "pandas.DataFrame":
    """Return the features with members and weight, and a row for the additive constant."""
    import pandas as pd

    reading_table = format_for_reading(fitted_estimate.features, posterior, "feature")
    if not fitted_estimate.has_constant:
        return reading_table
    constant_rows = [{"members": CONSTANT, "weight": float(fitted_estimate.constant)}]
    return pd.concat(
        [reading_table, pd.DataFrame(constant_rows, columns=reading_table.columns)],
        ignore_index=True,
    )


@finding("similarity", "Fitted similarities", FULL)
@with_draws
def similarity(
    model: "AdditiveClustering", posterior: "Posterior", settings: AnswerSettings
) -> Finding:
    """Report the fitted similarities with the observed ones."""
    fitted_estimate = model.estimate(settings.estimator)
    caption = ENGLISH["additive.similarity"]
    return Finding(
        title=ENGLISH[f"additive.of.{fitted_estimate.kind}"],
        table=fitted_estimate.similarity.rename_axis("object"),
        picture=Picture(
            "predictions",
            caption,
            fitted_similarities(model, posterior, settings.ci),
            file="similarity",
        ),
    )


@finding("check", "Model check", ON_SCREEN, chapter=MISSES)
def similarity_check(model: "AdditiveClustering", settings: AnswerSettings) -> Finding:
    """Report observed similarities against their predictive intervals."""
    check_table = model.check(settings.random_seed, settings.ci)
    picture = Picture("check", ENGLISH["additive.check"], check_table)
    return build_check_finding(
        check_table,
        describe_check(check_table),
        passes_check(check_table),
        ENGLISH["additive.check.title"],
        picture,
    )


@finding("pairs", "Pairs ranked by similarity", ON_SCREEN)
@with_draws
def pairs(
    model: "AdditiveClustering", posterior: "Posterior", settings: AnswerSettings
) -> Finding | None:
    """Report pairs of objects ranked by similarity; None if there are too many."""
    n_objects = posterior.n_options
    if pair_index(np.array([n_objects - 2]), np.array([n_objects - 1]), n_objects)[0] >= MAX_PAIRS:
        return None
    ranks_table = model.pair_ranks(settings.ci)
    pair_names = [f"{a} and {b}" for a, b in zip(ranks_table["a"], ranks_table["b"], strict=True)]
    if len(pair_names) < 7:
        sentence = phrase(ENGLISH, "additive.pairs", named="; ".join(pair_names))
    else:
        sentence = phrase(
            ENGLISH,
            "additive.ends",
            most="; ".join(pair_names[:3]),
            least="; ".join(pair_names[-3:]),
        )
    title = ENGLISH["additive.pairs.title"]
    brief = Brief("Pairs", order=3)
    return Finding(sentence, title=title, table=ranks_table, is_printed=False, brief=brief)


@finding("parameters", "Other parameters and assumptions", chapter=STATISTICS)
@with_draws
def parameters(
    model: "AdditiveClustering", posterior: "Posterior", settings: AnswerSettings
) -> Finding:
    """Report alpha, error or choice rule, prior of weights and log-likelihood."""
    summary_rows = model.summary(settings.ci)
    notes = []
    if "alpha" in summary_rows.index:
        notes.append(phrase(ENGLISH, "parameters.alpha", value=format_row(summary_rows, "alpha")))
    elif model.alpha is not None:
        notes.append(phrase(ENGLISH, "additive.alpha", alpha=f"{model.alpha:g}"))
    density_sentence = phrase(
        ENGLISH,
        _get_kind_facts(posterior).density_key,
        value=format_row(summary_rows, "log_likelihood"),
    )
    return Finding(
        notes=(
            *notes,
            *_get_kind_facts(posterior).describe_assumptions(model, posterior, summary_rows),
            density_sentence,
        )
    )


def _describe_triplet_assumptions(
    model: "AdditiveClustering", posterior: "Posterior", rows: "pandas.DataFrame"
) -> list[Text]:
    """Return sentences about the choice rule of triplets and the lapse rate."""
    link_sentence = phrase(
        ENGLISH,
        "additive.link",
        link=ENGLISH[f"additive.link.{model.link}"],
        setting=Setting("link", model.link),
    )
    return [link_sentence, phrase(ENGLISH, "parameters.lapse", lapse=f"{model.lapse:g}")]


def _describe_similarity_assumptions(
    model: "AdditiveClustering", posterior: "Posterior", rows: "pandas.DataFrame"
) -> list[Text]:
    """Return sentences about the error of similarities and the prior of weights."""
    return [describe_sigma(model, posterior, rows), _describe_weight_prior(model)]


def describe_sigma(
    model: "AdditiveClustering", posterior: "Posterior", rows: "pandas.DataFrame"
) -> Text:
    """Return a sentence about sigma: its value, and whether fixed or learned."""
    unit_noun = ENGLISH["additive.sigma.similarity"]
    scale_note = ""
    if (posterior.judgements != 1).any():
        unit_noun = ENGLISH["additive.sigma.judgement"]
        scale_note = ENGLISH["additive.sigma.several"]
    if "sigma" in rows.index:
        prior_facts = {
            "shape": f"{VARIANCE_SHAPE:g}",
            "share": f"{VARIANCE_SHARE:g}",
            "more": scale_note,
        }
        return phrase(
            ENGLISH,
            "additive.sigma.learned",
            of=unit_noun,
            value=format_row(rows, "sigma"),
            **prior_facts,
        )
    if "sigma_scores_" in vars(model):
        sigma_facts = {"value": f"{model.sigma_:.3g}", "number": len(model.sigma_scores_)}
        arguments = {"argument": Argument("sigma"), "setting": Setting("sigma", "learned")}
        return phrase(ENGLISH, "additive.sigma.chosen", of=unit_noun, **sigma_facts, **arguments)
    if model.sigma is not None:
        return phrase(ENGLISH, "additive.sigma.fixed", of=unit_noun, value=f"{model.sigma:g}")
    return phrase(ENGLISH, "additive.sigma.data", of=unit_noun, value=f"{posterior.sigma[0]:.3g}")


def _describe_weight_prior(model: "AdditiveClustering") -> Text:
    """Return a sentence about the Gamma prior of the weights."""
    shape, rate = model.weight_prior_
    subject = ENGLISH["additive.prior.alone"]
    if model.constant:
        subject = ENGLISH["additive.prior.constant"]
    prior_facts = {"shape": f"{shape:g}", "rate": f"{rate:.3g}", "mean": f"{shape / rate:.3g}"}
    return phrase(
        ENGLISH, "additive.prior", whose=subject, argument=Argument("weight_prior"), **prior_facts
    )


@finding("tempering", "Tempering", ON_SCREEN, chapter=STATISTICS)
@with_draws
def tempering(
    model: "AdditiveClustering", posterior: "Posterior", settings: AnswerSettings
) -> Finding:
    """Report the temperatures and their swap rates."""
    stats = posterior.stats
    if "temperature" not in stats:
        return Finding(ENGLISH["tempering.none"])
    temperatures = stats["temperature"].to_numpy()
    swap_rates = stats["swap_rate"].to_numpy()
    level_counts = np.isfinite(temperatures).sum(axis=1)
    levels_text = f"{level_counts.min()}"
    if np.ptp(level_counts) > 0:
        levels_text += f" to {level_counts.max()}"
    temperature_facts = {"number": levels_text, "highest": f"{np.nanmax(temperatures):g}"}
    if not np.isfinite(swap_rates).any():
        return Finding(phrase(ENGLISH, "tempering.short", **temperature_facts))
    sentence = phrase(
        ENGLISH, "tempering", rate=f"{100 * np.nanmin(swap_rates):.0f}", **temperature_facts
    )
    slow_swaps = describe_slow_swaps(posterior)
    if slow_swaps is None:
        return Finding(sentence)
    headline = ENGLISH["tempering.seldom"]
    return Finding(
        slow_swaps, notes=(sentence,), good=False, headline=headline, brief=Brief("Tempering")
    )


# Point estimates ----------------------------------------------------------------------------------


@finding("features", "Shared features", ON_SCREEN)
@with_draws
def best_features(
    model: "AdditiveClustering", posterior: "Posterior", settings: AnswerSettings
) -> Finding:
    """Report the most probable set of features, without intervals."""
    features_table = model.features()
    shown_table = features_table.drop(columns=_INTERVAL_COLUMNS, errors="ignore")
    number = "no feature"
    picture = None
    if len(shown_table):
        number = format_plural(len(shown_table), "feature")
        picture = Picture("features", ENGLISH["additive.point.title"], features_table)
    reading_table = format_for_reading(shown_table, posterior, "feature")
    return Finding(
        str(phrase(ENGLISH, "additive.point", number=number)),
        title=ENGLISH["additive.point.title"],
        table=expand_members(shown_table, posterior.labels),
        shown=reading_table,
        picture=picture,
        brief=Brief("Features", table=reading_table),
    )


@finding("parameters", "Other estimates", chapter=STATISTICS)
@with_draws
def point_parameters(
    model: "AdditiveClustering", posterior: "Posterior", settings: AnswerSettings
) -> Finding:
    """Report the constant, variance accounted for and log-likelihood of a point estimate."""
    log_likelihood_text = f"{posterior.log_likelihood[0, 0]:.3f}"
    return Finding(
        notes=(
            *_get_kind_facts(posterior).describe_fit(model, posterior),
            phrase(ENGLISH, "additive.point.likelihood", value=log_likelihood_text),
        )
    )


def _describe_similarity_fit(model: "AdditiveClustering", posterior: "Posterior") -> list[Text]:
    """Return sentences about the constant, variance accounted for and sigma."""
    notes: list[Text] = []
    if model.constant:
        notes.append(phrase(ENGLISH, "additive.constant", value=f"{posterior.constant[0]:.3f}"))
    return [
        *notes,
        describe_variance(model.estimate().variance_accounted_for(), "additive.variance"),
        describe_sigma(model, posterior, model.summary()),
    ]


# Methods text -------------------------------------------------------------------------------------


def describe_clustering_methods(
    model: "AdditiveClustering", posterior: "Posterior", ci: float
) -> tuple[Text, ...]:
    """Return sentences about the model for a paper's methods section."""
    rule_sentence, error_sentence = _get_kind_facts(posterior).describe_methods(
        model, posterior, ci
    )
    sentences: list[Text] = [rule_sentence]
    prior_features = model.get_params()["features"]
    if isinstance(prior_features, str):
        sentences.append(phrase(ENGLISH, "additive.methods.ibp", source=Cite("navarro2007")))
    elif isinstance(prior_features, Tree):
        sentences.append(phrase(ENGLISH, "additive.methods.tree", source=Cite("miller2008")))
    shape, rate = model.weight_prior_
    sentences.append(
        phrase(ENGLISH, "additive.methods.prior", shape=f"{shape:g}", rate=f"{rate:.3g}")
    )
    sentences.append(error_sentence)
    return (*sentences, *describe_dependence(posterior.dependence))


@finding("methods", "Methods text", SHOWN, chapter=METHODS)
@with_draws
def methods_text(
    model: "AdditiveClustering", posterior: "Posterior", settings: AnswerSettings
) -> Finding:
    """Report the methods text of a paper."""
    return build_methods_finding(
        model, describe_clustering_methods(model, posterior, settings.ci), settings
    )


def _describe_triplet_methods(
    model: "AdditiveClustering", posterior: "Posterior", ci: float
) -> tuple[Text, Text]:
    """Return methods sentences about the model of triplets and its lapse rate."""
    rule_sentence = phrase(
        ENGLISH,
        f"additive.methods.{model.link}",
        source=Cite("shepard1979"),
        softmax=Cite("zheng2019"),
    )
    return rule_sentence, phrase(
        ENGLISH, "additive.methods.lapse", lapse=format_number(model.lapse)
    )


def _describe_similarity_methods(
    model: "AdditiveClustering", posterior: "Posterior", ci: float
) -> tuple[Text, Text]:
    """Return methods sentences about the model of similarities and its error."""
    sentence_key = "additive.methods.no_constant"
    if model.constant:
        sentence_key = "additive.methods.constant"
    rule_sentence = phrase(ENGLISH, sentence_key, source=Cite("shepard1979"))
    sigma = posterior.sigma
    if not np.allclose(sigma, sigma.flat[0], rtol=1e-12):
        return rule_sentence, phrase(ENGLISH, "additive.methods.learned", value=in_words(sigma, ci))
    source_note = ""
    if "sigma_scores_" in vars(model):
        source_note = ENGLISH["additive.methods.chosen"]
    return rule_sentence, phrase(
        ENGLISH,
        "additive.methods.sigma",
        value=format_number(float(sigma.flat[0])),
        chosen=source_note,
    )


METHODS_FINDINGS = (methods_text, independence, convergence)
_QUESTION = make_question_maker(lambda model: ENGLISH["additive.asked"])
SIMILARITY_FINDINGS = (
    _QUESTION,
    features,
    n_features,
    estimate,
    similarity,
    parameters,
    similarity_check,
    tempering,
    summary,
    data,
)
TRIPLET_FINDINGS = (
    _QUESTION,
    features,
    n_features,
    pairs,
    parameters,
    check,
    tempering,
    summary,
    data,
)


class ClusteringDataFacts(NamedTuple):
    """Findings and sentences that differ between similarities and triplets."""

    makers: tuple[FindingMaker, ...]
    number_key: str  # key of a sentence, like `density`
    density_key: str
    describe_assumptions: "Callable[[Any, Posterior, pandas.DataFrame], list[Text]]"
    describe_fit: "Callable[[Any, Posterior], list[Text]]"  # for a point estimate
    describe_methods: "Callable[[Any, Posterior, float], tuple[Text, Text]]"


_FACTS_BY_DATA_KIND = {
    SIMILARITIES: ClusteringDataFacts(
        SIMILARITY_FINDINGS,
        "additive.counted",
        "additive.density",
        _describe_similarity_assumptions,
        _describe_similarity_fit,
        _describe_similarity_methods,
    ),
    TRIPLETS: ClusteringDataFacts(
        TRIPLET_FINDINGS,
        "additive.counted.triplets",
        "additive.answers",
        _describe_triplet_assumptions,
        lambda model, posterior: [],
        _describe_triplet_methods,
    ),
}
POINT_FINDINGS = (_QUESTION, best_features, point_parameters, data, *METHODS_FINDINGS)
