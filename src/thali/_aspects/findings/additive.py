"""What additive clustering finds out, of similarities or of triplets."""

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._data.kinds import GROUPS, PEOPLE, SIMILARITIES, TRIPLETS
from thali._labels import plural
from thali._model.choice_findings import check, format_row
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
    FILE,
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
from thali._model.phrases import format_estimate as in_words
from thali._model.phrases import number, phrase
from thali._model.predictive_check import describe_check
from thali._model.references import Cite
from thali._model.settings import AnswerSettings
from thali._model.stored_choices import MAX_PAIRS, pair_index
from thali._posterior.interval import tails_of
from thali._trees.tree import Tree
from thali.errors import Argument, DataWarning, Setting

from ..answers.fit_quality import swap_sentence
from ..answers.matched_features import similar_for
from ..draws.columns import columns_of
from ..draws.similarities import similarity_draws
from ..likelihoods.additive import VARIANCE_SHAPE, VARIANCE_SHARE
from . import groups, people
from .english import ENGLISH
from .features import (
    by_member,
    features_finding,
    labels_of,
    membership_finding,
    number_finding,
    number_of_features,
    of_variance,
    place_sentence,
    to_read,
)

if TYPE_CHECKING:
    import pandas

    from ..models.additive import AdditiveClustering


# Observed similarities beside fitted ones ---------------------------------------------------------


def fitted_similarities(model: "AdditiveClustering", ci: float) -> "pandas.DataFrame":
    """One row a measured pair (a, b), of 2,000 at most: observed, predicted (posterior mean), its
    interval."""
    from thali._tables import Table

    posterior = model._view
    observed, labels = posterior.similarities, posterior.labels
    shown = np.unique(np.linspace(0, observed.size - 1, min(observed.size, MAX_PAIRS)).astype(int))
    first, second = (side[shown] for side in posterior.pairs)
    if posterior.similarity is not None:
        draws = posterior.similarity[..., pair_index(first, second, len(labels))]
    else:
        draws = similarity_draws(columns_of(posterior), posterior.constant, first, second)
    draws = draws.reshape(-1, len(shown))
    low, high = np.quantile(draws, tails_of(ci), axis=0)
    named = {"a": np.array(labels, object)[first], "b": np.array(labels, object)[second]}
    numbers = {
        "observed": observed[shown],
        "predicted": draws.mean(axis=0),
        "low": low,
        "high": high,
    }
    table = Table(named | numbers)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        explained = float(model.estimate("expectation").variance_accounted_for())
    table.attrs |= {"interval": ci, "of": int(observed.size), "explained": explained}
    return table


CONSTANT = "additive constant"
# Columns of a table of features that say nothing of a single set of them.
_POINTLESS = [
    "weight_low",
    "weight_high",
    "copies",
    "mcse",
    "ess",
    "r_hat",
    "converged",
    "probability",
]


def finding_makers(
    model: "AdditiveClustering", settings: AnswerSettings
) -> tuple[FindingMaker, ...]:
    """The makers of the findings of a fit to similarities or triplets, of one group or several, or
    of a point."""
    if model._engine.is_point:
        return OF_A_POINT
    of, population = _of(model), model._view.population
    if population == PEOPLE:
        return (*_FIRST_OF_PEOPLE, of.check, summary, data, *LAST)
    if population == GROUPS:
        return (*groups.finding_makers("feature", of.check), *LAST)
    owners = picture_of_membership if _similar(model, settings) is None else membership
    return (*of.makers, owners, *LAST)


def _of(model: "AdditiveClustering") -> "_DataFacts":
    """Facts of the data of the fit, or of each of its groups."""
    return _OF_DATA[model._view.data_kind]


def _similar(model: "AdditiveClustering", settings: AnswerSettings) -> float | None:
    """From which Jaccard index on features of different draws are taken for one."""
    return similar_for(model._view.n_options, settings.similar)


@finding("features", "Shared features", ON_SCREEN)
def features(model: "AdditiveClustering", settings: AnswerSettings) -> Finding:
    """The features that objects share, with their probabilities and weights."""
    notes: tuple[Text, ...] = ()
    table = model.features(similar=_similar(model, settings), ci=settings.ci)
    if len(table) and "place" in table:
        notes += (place_sentence(model, model.get_params()["features"], "feature", "objects"),)
    posterior = model._view
    shared = posterior.n_shared_features
    if (
        posterior.sigma is not None
        and shared is not None
        and bool((posterior.n_features > shared).any())
    ):
        notes += (ENGLISH["additive.silent"],)
    return features_finding(model, table, "feature", notes)


@finding("membership", "Membership of merged features", FULL)
def membership(model: "AdditiveClustering", settings: AnswerSettings) -> Finding | None:
    """The table of memberships where features were matched."""
    similar = _similar(model, settings)
    return None if similar is None else membership_finding(model, similar)


@finding("membership", "Objects with nearly identical features", FILE)
def picture_of_membership(model: "AdditiveClustering", settings: AnswerSettings) -> Finding:
    """The picture of features whose owners are similar, for whoever wants to match them."""
    return Finding(
        picture=Picture("membership", ENGLISH["features.membership"], model.membership())
    )


@finding("n_features", "Number of features", ON_SCREEN)
def n_features(model: "AdditiveClustering", settings: AnswerSettings) -> Finding:
    """The number of features that the data depend on, and of all."""
    shared, every = model._view.n_counted, model._view.n_features
    found = number_finding(model, shared, "feature", ENGLISH[_of(model).counted], settings.ci)
    if np.array_equal(shared, every):
        return found
    return replace(found, notes=(number_of_features(every, ENGLISH["additive.all"], settings.ci),))


@finding("estimate", "Estimated features", ON_SCREEN)
def estimate(model: "AdditiveClustering", settings: AnswerSettings) -> Finding:
    """One estimate of the features with the constant, and how much it explains."""
    found = model.estimate(settings.kind)
    whose = ENGLISH[f"additive.of.{found.kind}"]
    sentence = of_variance(found.variance_accounted_for(), "additive.explained", whose=whose)
    title = ENGLISH[f"additive.estimate.{found.kind}"]
    if found.learned_sigma and found.kind != "expectation":
        title += str(phrase(ENGLISH, "additive.deviation", sigma=f"{found.sigma:.3g}"))
    return Finding(
        sentence,
        title=title,
        table=_with_constant(found, model.constant),
        shown=_to_read(found, model),
        brief=Brief("Explained", order=2),
    )


def _with_constant(found: Any, has_constant: bool) -> "pandas.DataFrame":
    """The features of an estimate and, as the last row, the additive constant."""
    import pandas as pd

    table = by_member(found.features, found.similarity.index.tolist())
    table.insert(0, "term", "feature")
    if has_constant:
        last = {
            "term": "constant",
            "members": CONSTANT,
            "probability": 1.0,
            "weight": float(found.constant),
        }
        missing = dict.fromkeys(found.features.columns, float("nan"))
        row = {column: (missing | last).get(str(column), 1) for column in table.columns}
        table = pd.concat([table, pd.DataFrame([row])], ignore_index=True)
    return table


def _to_read(found: Any, model: "AdditiveClustering") -> "pandas.DataFrame":
    """The same as people read it."""
    import pandas as pd

    shown = to_read(found.features, model, "feature")
    last = [{"members": CONSTANT, "weight": float(found.constant)}] * bool(found.has_constant)
    return (
        pd.concat([shown, pd.DataFrame(last, columns=shown.columns)], ignore_index=True)
        if last
        else shown
    )


@finding("similarity", "Fitted similarities", FULL)
def similarity(model: "AdditiveClustering", settings: AnswerSettings) -> Finding:
    """The similarities of the estimate beside those of the data."""
    found = model.estimate(settings.kind)
    caption = ENGLISH["additive.similarity"]
    return Finding(
        title=ENGLISH[f"additive.of.{found.kind}"],
        table=found.similarity.rename_axis("object"),
        picture=Picture(
            "predictions", caption, fitted_similarities(model, settings.ci), file="similarity"
        ),
    )


@finding("check", "Model check", ON_SCREEN, chapter=MISSES)
def check_of_similarities(model: "AdditiveClustering", settings: AnswerSettings) -> Finding:
    """Which observed similarities the model misses."""
    table = model.check(settings.random_seed, settings.ci)
    drawn = Picture("check", ENGLISH["additive.check"], table)
    return build_check_finding(
        table, describe_check(table), passes_check(table), ENGLISH["additive.check.title"], drawn
    )


@finding("pairs", "Pairs ranked by similarity", ON_SCREEN)
def pairs(model: "AdditiveClustering", settings: AnswerSettings) -> Finding | None:
    """The pairs of objects in the order of their similarity, where there are not too many."""
    n = len(labels_of(model))
    if pair_index(np.array([n - 2]), np.array([n - 1]), n)[0] >= MAX_PAIRS:
        return None
    table = model.pair_ranks(settings.ci)
    named = [f"{a} and {b}" for a, b in zip(table["a"], table["b"], strict=True)]
    if len(named) < 7:
        sentence = phrase(ENGLISH, "additive.pairs", named="; ".join(named))
    else:
        sentence = phrase(
            ENGLISH, "additive.ends", most="; ".join(named[:3]), least="; ".join(named[-3:])
        )
    title, brief = ENGLISH["additive.pairs.title"], Brief("Pairs", order=3)
    return Finding(sentence, title=title, table=table, is_printed=False, brief=brief)


@finding("parameters", "Other parameters and assumptions", chapter=STATISTICS)
def parameters(model: "AdditiveClustering", settings: AnswerSettings) -> Finding:
    """The concentration, the error or the rule, the prior of weights, and the likelihood."""
    rows = model.summary(settings.ci)
    notes = (
        [phrase(ENGLISH, "parameters.alpha", value=format_row(rows, "alpha"))]
        if "alpha" in rows.index
        else []
    )
    if not notes and model.alpha is not None:
        notes.append(phrase(ENGLISH, "additive.alpha", alpha=f"{model.alpha:g}"))
    density = phrase(ENGLISH, _of(model).density, value=format_row(rows, "log_likelihood"))
    return Finding(notes=(*notes, *_of(model).assumed(model, rows), density))


def _assumed_of_answers(model: "AdditiveClustering", rows: "pandas.DataFrame") -> list[Text]:
    """How answers depend on what is shared, and how often they are blind."""
    link = phrase(
        ENGLISH,
        "additive.link",
        link=ENGLISH[f"additive.link.{model.link}"],
        setting=Setting("link", model.link),
    )
    return [link, phrase(ENGLISH, "parameters.lapse", lapse=f"{model.lapse:g}")]


def _assumed_of_similarities(model: "AdditiveClustering", rows: "pandas.DataFrame") -> list[Text]:
    """The error of a similarity, and the prior of the weights."""
    return [deviation(model, rows), _weight_prior(model)]


def deviation(model: "AdditiveClustering", rows: "pandas.DataFrame") -> Text:
    """The standard deviation of the similarities, and where it is from."""
    several = bool((model._view.judgements != 1).any())
    of = ENGLISH["additive.sigma.judgement" if several else "additive.sigma.similarity"]
    if "sigma" in rows.index:
        more = ENGLISH["additive.sigma.several"] if several else ""
        prior = {"shape": f"{VARIANCE_SHAPE:g}", "share": f"{VARIANCE_SHARE:g}", "more": more}
        return phrase(
            ENGLISH, "additive.sigma.learned", of=of, value=format_row(rows, "sigma"), **prior
        )
    if "sigma_scores_" in vars(model):
        how = {"value": f"{model.sigma_:.3g}", "number": len(model.sigma_scores_)}
        others = {"argument": Argument("sigma"), "setting": Setting("sigma", "learned")}
        return phrase(ENGLISH, "additive.sigma.chosen", of=of, **how, **others)
    if model.sigma is not None:
        return phrase(ENGLISH, "additive.sigma.fixed", of=of, value=f"{model.sigma:g}")
    return phrase(ENGLISH, "additive.sigma.data", of=of, value=f"{model._view.sigma[0]:.3g}")


def _weight_prior(model: "AdditiveClustering") -> Text:
    shape, rate = model.weight_prior_
    whose = ENGLISH["additive.prior.constant" if model.constant else "additive.prior.alone"]
    numbers = {"shape": f"{shape:g}", "rate": f"{rate:.3g}", "mean": f"{shape / rate:.3g}"}
    return phrase(
        ENGLISH, "additive.prior", whose=whose, argument=Argument("weight_prior"), **numbers
    )


@finding("tempering", "Tempering", ON_SCREEN, chapter=STATISTICS)
def tempering(model: "AdditiveClustering", settings: AnswerSettings) -> Finding:
    """The temperatures, and how often neighbours swapped."""
    stats = model._view.stats
    if "temperature" not in stats:
        return Finding(ENGLISH["tempering.none"])
    temperature, rates = stats["temperature"].to_numpy(), stats["swap_rate"].to_numpy()
    levels = np.isfinite(temperature).sum(axis=1)
    counted = f"{levels.min()}" if np.ptp(levels) == 0 else f"{levels.min()} to {levels.max()}"
    numbers = {"number": counted, "highest": f"{np.nanmax(temperature):g}"}
    if not np.isfinite(rates).any():
        return Finding(phrase(ENGLISH, "tempering.short", **numbers))
    sentence = phrase(ENGLISH, "tempering", rate=f"{100 * np.nanmin(rates):.0f}", **numbers)
    wrong = swap_sentence(model._view)
    if wrong is None:
        return Finding(sentence)
    headline = ENGLISH["tempering.seldom"]
    return Finding(
        wrong, notes=(sentence,), good=False, headline=headline, brief=Brief("Tempering")
    )


# a single set of features -------------------------------------------------------------------------


@finding("features", "Shared features", ON_SCREEN)
def best_features(model: "AdditiveClustering", settings: AnswerSettings) -> Finding:
    """The most probable set of features alone, which has no intervals and nothing to check."""
    found = model.features()
    table = found.drop(columns=_POINTLESS, errors="ignore")
    sentence = str(phrase(ENGLISH, "additive.point", number=plural(len(table), "feature")))
    return Finding(
        sentence,
        title=ENGLISH["additive.point.title"],
        table=by_member(table, labels_of(model)),
        shown=to_read(table, model, "feature"),
        picture=Picture("features", ENGLISH["additive.point.title"], found) if len(table) else None,
        brief=Brief("Features", table=to_read(table, model, "feature")),
    )


@finding("parameters", "Other estimates", chapter=STATISTICS)
def point(model: "AdditiveClustering", settings: AnswerSettings) -> Finding:
    """The constant, what is explained, and the likelihood at the point."""
    likelihood = f"{model._view.log_likelihood[0, 0]:.3f}"
    return Finding(
        notes=(
            *_of(model).explained(model),
            phrase(ENGLISH, "additive.point.likelihood", value=likelihood),
        )
    )


def _explained_of_similarities(model: "AdditiveClustering") -> list[Text]:
    """The constant, the share of the variance, and the error."""
    notes: list[Text] = []
    if model.constant:
        notes.append(phrase(ENGLISH, "additive.constant", value=f"{model._view.constant[0]:.3f}"))
    return [
        *notes,
        of_variance(model.estimate().variance_accounted_for(), "additive.variance"),
        deviation(model, model.summary()),
    ]


# how a paper says what was done -------------------------------------------------------------------


def modelled(model: "AdditiveClustering", ci: float) -> tuple[Text, ...]:
    """How the similarities, or the answers, were modelled."""
    rule, fixed = _of(model).modelled(model, ci)
    sentences: list[Text] = [rule]
    given = model.get_params()["features"]
    if isinstance(given, str):
        sentences.append(phrase(ENGLISH, "additive.methods.ibp", source=Cite("navarro2007")))
    elif isinstance(given, Tree):
        sentences.append(phrase(ENGLISH, "additive.methods.tree", source=Cite("miller2008")))
    shape, rate = model.weight_prior_
    prior = phrase(ENGLISH, "additive.methods.prior", shape=f"{shape:g}", rate=f"{rate:.3g}")
    shared = (groups.modelled(model, "feature"),) if model._groups else ()
    return (
        *sentences,
        prior,
        fixed,
        *shared,
        *people.known_of_people(model),
        *people.modelled_people(model),
    )


@finding("methods", "Methods text", SHOWN, chapter=METHODS)
def methods_text(model: "AdditiveClustering", settings: AnswerSettings) -> Finding:
    """The paragraph of a paper."""
    return build_methods_finding(model, modelled(model, settings.ci), settings)


def _of_answers(model: "AdditiveClustering", ci: float) -> tuple[Text, Text]:
    """How triplets were modelled, and what was fixed."""
    rule = phrase(ENGLISH, f"additive.methods.{model.link}", source=Cite("zheng2019"))
    return rule, phrase(ENGLISH, "additive.methods.lapse", lapse=number(model.lapse))


def _of_similarities(model: "AdditiveClustering", ci: float) -> tuple[Text, Text]:
    """How similarities were modelled, and their error."""
    key = "additive.methods.constant" if model.constant else "additive.methods.no_constant"
    rule = phrase(ENGLISH, key, source=Cite("shepard1979"))
    sigma = model._view.sigma
    if not np.allclose(sigma, sigma.flat[0], rtol=1e-12):
        return rule, phrase(ENGLISH, "additive.methods.learned", value=in_words(sigma, ci))
    chosen = ENGLISH["additive.methods.chosen"] if "sigma_scores_" in vars(model) else ""
    return rule, phrase(
        ENGLISH, "additive.methods.sigma", value=number(float(sigma.flat[0])), chosen=chosen
    )


LAST = (methods_text, people.independence, convergence)
_ASKED = make_question_maker(lambda model: ENGLISH["additive.asked"])
_FIRST_OF_PEOPLE = (
    _ASKED,
    features,
    n_features,
    people.respondent_effects,
    people.feature_weights,
    people.parameters,
)
OF_SIMILARITIES = (
    _ASKED,
    features,
    n_features,
    estimate,
    similarity,
    parameters,
    check_of_similarities,
    tempering,
    summary,
    data,
)
OF_TRIPLETS = (
    _ASKED,
    features,
    n_features,
    pairs,
    parameters,
    check,
    tempering,
    summary,
    data,
)


class _DataFacts(NamedTuple):
    """Facts of data of one kind."""

    makers: tuple[FindingMaker, ...]
    check: FindingMaker
    counted: str  # keys of sentences
    density: str
    assumed: "Callable[[Any, pandas.DataFrame], list[Text]]"
    explained: Callable[[Any], list[Text]]  # of a point
    modelled: Callable[[Any, float], tuple[Text, Text]]


_OF_DATA = {
    SIMILARITIES: _DataFacts(
        OF_SIMILARITIES,
        check_of_similarities,
        "additive.counted",
        "additive.density",
        _assumed_of_similarities,
        _explained_of_similarities,
        _of_similarities,
    ),
    TRIPLETS: _DataFacts(
        OF_TRIPLETS,
        check,
        "additive.counted.triplets",
        "additive.answers",
        _assumed_of_answers,
        lambda model: [],
        _of_answers,
    ),
}
OF_A_POINT = (_ASKED, best_features, point, data, *LAST)
