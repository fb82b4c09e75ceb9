"""Findings that the classifiers report."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali._inference.index_arithmetic import argsort_descending
from thali._labels import list_names
from thali._model.common_findings import (
    convergence,
    data,
    make_methods_maker,
    make_question_maker,
    summary,
)
from thali._model.finding import (
    MISSES,
    ON_SCREEN,
    SHOWN,
    STATISTICS,
    Brief,
    Finding,
    FindingMaker,
    Text,
    finding,
)
from thali._model.finding_settings import AnswerSettings
from thali._model.references import Cite
from thali._model.sentence_templates import format_estimate, phrase
from thali._number_format import format_number, format_probability
from thali._posterior.posterior_interval import compute_interval, describe_interval
from thali._posterior.posterior_tree import PosteriorTree

if TYPE_CHECKING:
    import pandas

    from .classifier import Classifier
    from .plackett_luce.model import PlackettLuceRegression
    from .sparse_logit.model import SparseMultinomialLogit


# The sentences of the findings --------------------------------------------------------------------


ENGLISH = {
    "asked": "Which covariates distinguish the classes, and how certain is this?",
    "largest.weight": "Largest relative weights: {named}.",
    "largest.coef": "Largest coefficients in absolute value: {named}.",
    "none.weight": "All relative weights are zero.",
    "none.coef": "All coefficients are zero.",
    "weights.all": "Relative weights (sum to 1): all {every} are > 0; largest first",
    "weights.some": "Relative weights (sum to 1): {shown} of {every} are > 0, all others exactly 0;"
    " largest first",
    "weights.means": "Relative weights (sum to 1), posterior means; largest first",
    "weights.exp": "Each weight multiplies exp(x), where x is the standardised covariate.",
    "coef.standard": "standardised covariates",
    "coef.units": "covariates in their original units",
    "coef.some": "Coefficients of {covariates}, relative to class '{reference}': {shown} of {every}"
    " are nonzero, all others exactly 0",
    "coef.all": "Coefficients of {covariates}, relative to class '{reference}'; largest absolute"
    " value first",
    "rows": "The observed class has predicted probability ≥ 0.5 in {likely} of {rows} rows"
    " (mean probability {mean}). These are the training rows; expect lower probabilities for"
    " new rows.",
    "rows.title": "Rows whose observed class is least probable (rows are numbered from 0)",
    "rows.unknown": "This fit does not store the likelihood of each row; use model.score(X, y) to"
    " assess predictions.",
    "shape": "Shape a of the prior on the weights: {value}.",
    "shape.fixed": "{value}, fixed",
    "shape.learned": "{value}, estimated under the hyperprior p(a) ∝ 1/a on the range {low} to"
    " {high}",
    "rate": "Parameter η (squared rate) of the Laplace prior on the coefficients: {value}.",
    "rate.learned": "{value}, estimated",
    "log_likelihood": "Log-likelihood: {value}.",
    "log_likelihood.priors": "Log-likelihood: {value}; plus the log priors: {objective}.",
    "log_likelihood.weights": "Log-likelihood: {value}; plus the log prior of the relative"
    " weights: {objective}.",
    "sweeps": "Converged in {sweeps} passes over the data.",
    "bound": "Lower bound on the log evidence: {value}.",
    "methods.plackett-luce": "Class membership was modelled with Plackett-Luce regression"
    " {source}.",
    "methods.map": "Class membership was modelled with a multinomial logit with Laplace priors of"
    " rate {rate} (eta = {eta}) on standardised coefficients, estimated at the posterior mode.",
    "methods.normal": "Class membership was modelled with a Bayesian multinomial logit with Laplace"
    " priors on the coefficients; the posterior was approximated by a normal distribution"
    " ({kind}).",
    "methods.laplace": "Class membership was modelled with a Bayesian multinomial logit with"
    " Laplace priors on the coefficients, sampled with the scheme of {source}.",
}


# The largest weights or coefficients of a classifier ----------------------------------------------


_DRAWS = 1000  # from a variational posterior, for intervals


def rank_weights(model: Any, ci: float) -> "pandas.DataFrame":
    """Return a table of positive weights, or coefficients, largest first.

    Without draws there are no intervals.
    """
    import pandas as pd

    draws, class_labels, column_names = _load_weight_draws(model)
    estimate_name = "coef"
    has_draws = len(draws) > 0
    if _has_relative_weights(model):
        estimate_name = "weight"
        estimates = np.asarray(model.weights_).ravel()
    elif has_draws:
        estimates = draws.mean(axis=0)
    else:
        estimates = model.scaled_coef_.ravel()
    columns_by_name = {estimate_name: estimates}
    if has_draws:
        columns_by_name["low"], columns_by_name["high"] = compute_interval(draws, ci)
    if estimate_name == "coef":
        columns_by_name["original"] = model.coef_[
            :, model._predictor.standardization.varies
        ].ravel()
    row_labels = pd.MultiIndex.from_product(
        [class_labels, column_names], names=["class", "column"]
    ).to_frame(index=False)
    frame = pd.concat([row_labels, pd.DataFrame(columns_by_name)], axis=1)
    row_order = argsort_descending(np.abs(frame[estimate_name].to_numpy()))
    if has_draws:
        frame.attrs["interval"] = ci
    else:
        row_order = row_order[: np.count_nonzero(frame[estimate_name])]
    return frame.iloc[row_order].reset_index(drop=True)


def _load_weight_draws(model: Any) -> tuple[np.ndarray, list[Any], list[Any]]:
    """Return draws of all weights, (n_draws, n_weights), with classes and columns."""
    # The weights are coefficients of a sparse logit; a fit without draws has none.
    has_weights = _has_relative_weights(model)
    if _has_posterior(model):
        variable = "coef"
        if has_weights:
            variable = "weights"
        weights = PosteriorTree(model.posterior_).draws[variable]
        draws = weights.to_numpy().reshape(-1, weights.shape[2] * weights.shape[3])
        return (
            draws,
            weights["class"].to_numpy().tolist(),
            weights[weights.dims[3]].to_numpy().tolist(),
        )
    if not has_weights:
        design = model._predictor
        return np.empty((0, model.scaled_coef_.size)), design.free_labels, design.columns
    column_names = getattr(model.weights_, "columns", range(np.shape(model.weights_)[1]))
    return (
        model._engine.sample_relative_weights(model, _DRAWS),
        list(model.classes_),
        list(column_names),
    )


_MIN_SHOWN = 0.0005  # relative weight, with three decimals
_NAMED = 3
_WORST = 10


def list_makers(model: "Classifier", settings: AnswerSettings) -> tuple[FindingMaker, ...]:
    """Return the functions that make the findings of a fit."""
    effect_finding_maker = coefficients
    if _has_relative_weights(model):
        effect_finding_maker = weights
    makers = [*_FIRST_MAKERS, effect_finding_maker, parameters, unexpected_rows]
    if _has_posterior(model):
        makers.append(summary)
    return (*makers, *_LAST_MAKERS)


def _has_relative_weights(model: "Classifier") -> bool:
    """Return whether the model has relative weights (Plackett-Luce regression)."""
    return "weights_" in vars(model)


def _has_posterior(model: "Classifier") -> bool:
    """Return whether the fit left posterior draws."""
    return "posterior_" in vars(model)


# predictions --------------------------------------------------------------------------------------


# weights and coefficients -------------------------------------------------------------------------


@finding("weights", "Covariate weights", ON_SCREEN)
def weights(model: "PlackettLuceRegression", settings: AnswerSettings) -> Finding:
    """Report the relative weights of Plackett-Luce regression, largest first."""
    table = rank_weights(model, settings.ci)
    shown_table = table[table["weight"] >= _MIN_SHOWN]  # smaller weights round to zero
    n_weights = model.weights_.size
    sentence_key = "weights.means"
    if model._engine.is_point:
        sentence_key = "weights.some"
        if len(table) == n_weights:
            sentence_key = "weights.all"
    title = phrase(ENGLISH, sentence_key, shown=f"{len(table):,}", every=f"{n_weights:,}")
    notes = ()
    named_table = table
    if model.get_params()["transform"] is not None:
        notes = (ENGLISH["weights.exp"],)
        named_table = table.replace({"column": {"1": "the constant"}})
    sentence = _format_largest_rows(named_table, "weight")
    shown_table = _move_names_last(shown_table)
    brief = _build_brief(shown_table, "Weights")
    return Finding(sentence, str(title), table, shown_table, notes=notes, brief=brief)


@finding("coef", "Coefficients", ON_SCREEN)
def coefficients(model: "SparseMultinomialLogit", settings: AnswerSettings) -> Finding:
    """Report the coefficients of the sparse logit, largest absolute value first."""
    table = rank_weights(model, settings.ci)
    scale_text = ENGLISH["coef.units"]
    if model.standardize:
        scale_text = ENGLISH["coef.standard"]
    sentence_key = "coef.all"
    count_texts = {}
    if not _has_posterior(model):
        sentence_key = "coef.some"
        count_texts = {"shown": f"{len(table):,}", "every": f"{model.scaled_coef_.size:,}"}
    title = phrase(
        ENGLISH,
        sentence_key,
        covariates=scale_text,
        reference=model._predictor.reference,
        **count_texts,
    )
    sentence = _format_largest_rows(table, "coef")
    shown_table = _move_names_last(table)
    return Finding(
        sentence, str(title), table, shown_table, brief=_build_brief(shown_table, "Effects")
    )


def _build_brief(table: "pandas.DataFrame", label: str) -> Brief:
    """Return the table as a short finding; a sentence if it has no rows."""
    if len(table):
        return Brief(label, "", table=table)
    return Brief(label, table=table)


def _move_names_last(table: Any) -> Any:
    """Return a table with the columns "class" and "column" at the end."""
    last_columns = ["class", "column"]
    return table[
        [
            *(name for name in table.columns if name not in (*last_columns, "original")),
            *last_columns,
        ]
    ]


def _format_largest_rows(table: "pandas.DataFrame", column: str) -> Text:
    """Return a sentence that lists the largest weights or coefficients."""
    rows = table.head(_NAMED).to_dict("records")
    if not rows:
        return phrase(ENGLISH, f"none.{column}")
    weight_list = list_names(
        [
            f"{row['column']} for class {str(row['class'])!r} ({format_number(row[column])})"
            for row in rows
        ]
    )
    return phrase(ENGLISH, f"largest.{column}", named=weight_list)


# the complete model -------------------------------------------------------------------------------


@finding("parameters", "Other parameters and assumptions", chapter=STATISTICS)
def parameters(model: Any, settings: AnswerSettings) -> Finding:
    """Report prior parameters and the log-likelihood of all rows."""
    describe_parameters = _describe_coefficient_parameters
    if _has_relative_weights(model):
        describe_parameters = _describe_weight_parameters
    return Finding(notes=tuple(describe_parameters(model, settings.ci)))


def _describe_weight_parameters(model: Any, ci: float) -> list[Text]:
    """Return sentences on the shape of the weights' prior, fit and sweeps (Plackett-Luce)."""
    sentences = [phrase(ENGLISH, "shape", value=_format_shape(model, ci))]
    if _has_posterior(model):
        return [*sentences, _format_likelihood_draws(model, ci)]
    likelihood_text = f"{model.log_likelihood_:.3f}"
    if not model._engine.is_point:
        return [
            *sentences,
            phrase(ENGLISH, "bound", value=f"{model.lower_bound_:.3f}"),
            phrase(ENGLISH, "log_likelihood", value=likelihood_text),
        ]
    sentence_key = "log_likelihood"
    if model.a > 1:
        sentence_key = "log_likelihood.weights"
    return [
        *sentences,
        phrase(ENGLISH, sentence_key, value=likelihood_text, objective=f"{model.objective_:.3f}"),
        phrase(ENGLISH, "sweeps", sweeps=f"{model._n_passes_:,}"),
    ]


def _describe_coefficient_parameters(model: Any, ci: float) -> list[Text]:
    """Return sentences on eta and log-likelihood (sparse logit)."""
    sentences = [phrase(ENGLISH, "rate", value=_format_eta(model, ci))]
    if _has_posterior(model):
        return [*sentences, _format_likelihood_draws(model, ci)]
    likelihood_sentence = phrase(
        ENGLISH,
        "log_likelihood.priors",
        value=f"{model.log_likelihood_:.3f}",
        objective=f"{model.objective_:.3f}",
    )
    return [*sentences, likelihood_sentence]


def _format_eta(model: "SparseMultinomialLogit", ci: float) -> Text:
    """Return a sentence on eta of the Laplace prior, fixed or learned."""
    eta = _read_fixed_eta(model)
    if eta is not None:
        return phrase(ENGLISH, "shape.fixed", value=f"{eta:g}")
    return phrase(
        ENGLISH,
        "rate.learned",
        value=format_estimate(PosteriorTree(model.posterior_).draws["eta"].to_numpy(), ci),
    )


def _read_fixed_eta(model: "SparseMultinomialLogit") -> float | None:
    """Return the value at which eta is fixed; None if it is learned."""
    if model.eta is None and not _has_posterior(model):
        return model.shape / model.rate  # the prior mean, at which the mode is found
    return model.eta


def _format_likelihood_draws(model: "Classifier", ci: float) -> Text:
    """Return a sentence on mean and interval of the log-likelihood."""
    draws = PosteriorTree(model.posterior_).log_likelihood
    mean, low, high = (
        round(float(statistic), 3)
        for statistic in (draws.mean(), *compute_interval(draws, ci, axis=None))
    )
    return phrase(
        ENGLISH,
        "log_likelihood",
        value=f"{mean:g} ({describe_interval(ci)} {low:g} to {high:g})",
    )


def _format_shape(model: "PlackettLuceRegression", ci: float) -> Text:
    """Return a sentence on the prior shape a, fixed or learned."""
    if model.a is not None:
        return phrase(ENGLISH, "shape.fixed", value=f"{model.a:g}")
    low_text, high_text = (f"{end:g}" for end in model.a_range)
    shape_text = format_number(model.a_)
    if _has_posterior(model):
        shape_text = format_estimate(PosteriorTree(model.posterior_).draws["a"].to_numpy(), ci)
    return phrase(ENGLISH, "shape.learned", value=shape_text, low=low_text, high=high_text)


@finding("unexpected_rows", "Worst-predicted rows", SHOWN, chapter=MISSES)
def unexpected_rows(model: Any, settings: AnswerSettings) -> Finding:
    """Report training rows whose observed class is least probable.

    It requires draws of each row's likelihood.
    """
    import pandas as pd

    if not _has_posterior(model) or "log_likelihood" not in model.posterior_.children:
        return Finding(ENGLISH["rows.unknown"])
    log_probabilities = model.posterior_["log_likelihood"]["label"]
    class_codes = PosteriorTree(model.posterior_).observed["label"].to_numpy()
    mean_probabilities = np.exp(log_probabilities).mean(["chain", "draw"]).to_numpy()
    by_probability = np.argsort(mean_probabilities, kind="stable")
    columns = {
        "row": log_probabilities["row"].to_numpy()[by_probability],
        "class": model.classes_[class_codes[by_probability]],
        "probability": mean_probabilities[by_probability],
    }
    sentence = phrase(
        ENGLISH,
        "rows",
        rows=f"{len(mean_probabilities):,}",
        likely=f"{int((mean_probabilities >= 0.5).sum()):,}",
        mean=format_probability(float(mean_probabilities.mean())),
    )
    worst_rows = pd.DataFrame(columns).head(_WORST)
    return Finding(sentence, title=ENGLISH["rows.title"], table=worst_rows)


# sentences of the methods section -----------------------------------------------------------------


def describe_methods(model: Any) -> tuple[Text, ...]:
    """Return methods sentences about the classifier."""
    from .sparse_logit.fitting_methods import ENGINES

    if _has_relative_weights(model):
        return (phrase(ENGLISH, "methods.plackett-luce", source=Cite("archambeau2012")),)
    if not _has_posterior(model):
        eta = _read_fixed_eta(model)
        assert eta is not None
        return (phrase(ENGLISH, "methods.map", rate=f"{np.sqrt(eta):g}", eta=f"{eta:g}"),)
    if approximation := ENGINES[model.method_].approximation:
        return (phrase(ENGLISH, "methods.normal", kind=approximation),)
    return (phrase(ENGLISH, "methods.laplace", source=Cite("polson2013", inside=True)),)


_FIRST_MAKERS = (make_question_maker(lambda model: ENGLISH["asked"]),)
_LAST_MAKERS = (data, make_methods_maker(describe_methods), convergence)
