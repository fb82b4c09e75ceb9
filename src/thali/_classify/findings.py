"""What the classifiers find out: Plackett-Luce regression and the sparse multinomial logit."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali._digits import number, probability
from thali._labels import listed
from thali._late import carried_out_by
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
from thali._model.phrases import phrase
from thali._model.references import Cite
from thali._model.registry import find_spec
from thali._model.settings import AnswerSettings
from thali._posterior.interval import interval_name, tails_of

from .input import other_classes, varying_names
from .scores import STOPPED, Scores

if TYPE_CHECKING:
    import pandas


# The sentences of what classifiers find out -------------------------------------------------------


ENGLISH = {
    "asked": "Which covariates distinguish the classes, and how certain is this?",
    "weights": "Largest {words}: {named}.",
    "weights.none": "All {words} are zero.",
    "weights.all": "Relative weights (sum to 1): all {every} are > 0; largest first",
    "weights.some": "Relative weights (sum to 1): {shown} of {every} are > 0, all others exactly 0;"
    " largest first",
    "weights.means": "Relative weights (sum to 1), posterior means; largest first",
    "weights.exp": "Weights apply to exp(x), where x is a standardised covariate.",
    "coef.standard": "standardised covariates",
    "coef.units": "covariates in their original units",
    "coef.some": "Coefficients of {covariates}, relative to class '{reference}': {shown} of {every}"
    " are not 0, all others exactly 0",
    "coef.all": "Coefficients of {covariates}, relative to class '{reference}'; largest absolute"
    " value first",
    "cv.title": "Cross-validation: {rows} rows in {done} folds, each fold predicted by a fit to the"
    " other folds",
    "cv.better": "{name} makes fewer errors than always predicting the majority class (by {mean},"
    " standard error {error}).",
    "cv.worse": "{name} makes more errors than always predicting the majority class (by {mean},"
    " standard error {error}).",
    "cv.open": "{name} does not make significantly fewer errors than always predicting the majority"
    " class (difference {mean}, standard error {error}).",
    "cv.ended": "Cross-validation ended after {done} of {folds} folds: {fault}.",
    "cv.infinite": "The log loss is infinite, because the observed class of {rows} rows has"
    " predicted probability 0.",
    "rows": "The observed class has predicted probability ≥ 0.5 in {likely} of the {rows} rows"
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
    "horseshoe": "Scales of the horseshoe prior: log tau = {tau}, slab = {slab}.",
    "log_likelihood": "Log-likelihood of the full data: {value}.",
    "log_likelihood.priors": "Log-likelihood of the full data: {value}; including the log priors:"
    " {objective}.",
    "log_likelihood.weights": "Log-likelihood of the full data: {value}; including the log prior of"
    " the relative weights: {objective}.",
    "sweeps": "Converged in {sweeps} passes over the data.",
    "bound": "Lower bound on the log evidence: {value}.",
    "methods.plackett-luce": "Classes were modelled by Plackett-Luce regression {source}.",
    "methods.map": "Classes were modelled by a multinomial logit with Laplace priors of rate {rate}"
    " (eta = {eta}) on standardised coefficients, estimated at the posterior mode.",
    "methods.normal": "Classes were modelled by a Bayesian multinomial logit with Laplace priors on"
    " the coefficients, with a {kind} approximation of the posterior.",
    "methods.laplace": "Classes were modelled by a Bayesian multinomial logit with Laplace priors"
    " on the coefficients, sampled with the scheme of {source}.",
    "methods.horseshoe": "Classes were modelled by a Bayesian multinomial logit with the"
    " regularised horseshoe priors of {prior} on the coefficients, sampled with the scheme of"
    " {source}.",
}


# Which weights or coefficients of a classifier matter ---------------------------------------------


_DRAWS = 1000  # of a variational posterior, for intervals


def importance(model: Any, ci: float) -> "pandas.DataFrame":
    """Every weight above zero, or every coefficient, with its interval unless it is one number; the
    largest first."""
    import pandas as pd

    draws, classes, columns = _draws(model)
    name = "weight" if model._learned == "weights" else "coef"
    if name == "weight":
        table = {name: np.asarray(model.weights_).ravel()}
    else:
        table = {name: draws.mean(axis=0) if len(draws) else model.scaled_coef_.ravel()}
    if len(draws):
        table["low"], table["high"] = np.quantile(draws, tails_of(ci), axis=0)
    if name == "coef":
        table["original"] = model.coef_[:, model._standard_.varies].ravel()
    labels = pd.MultiIndex.from_product([classes, columns], names=["class", "column"]).to_frame(
        index=False
    )
    frame = pd.concat([labels, pd.DataFrame(table)], axis=1)
    frame.attrs |= {"interval": ci} if len(draws) else {}
    order = np.argsort(-np.abs(frame[name].to_numpy()), kind="stable")
    if not len(draws):
        order = order[: np.count_nonzero(frame[name])]
    return frame.iloc[order].reset_index(drop=True)


def _draws(model: Any) -> tuple[np.ndarray, list[Any], list[Any]]:
    """Draws (draw, weight) of weights or coefficients, none if there are none; their classes and
    their columns."""
    if model._posterior is not None:
        values = model._view.draws[model._learned]
        draws = values.to_numpy().reshape(-1, values.shape[2] * values.shape[3])
        return (
            draws,
            values["class"].to_numpy().tolist(),
            values[values.dims[3]].to_numpy().tolist(),
        )
    if model._learned == "coef":
        return np.empty((0, model.scaled_coef_.size)), other_classes(model), varying_names(model)
    columns = getattr(model.weights_, "columns", range(np.shape(model.weights_)[1]))
    return model._engine.random_weights(model, _DRAWS), list(model.classes_), list(columns)


_ESTABLISHED = 2.0  # standard errors from which a difference is called established
_MIN_SHOWN = 0.0005  # of a relative weight, with three decimals
_NAMED, _WORST = 3, 10


def finding_makers(model: Any, settings: AnswerSettings) -> tuple[FindingMaker, ...]:
    """The makers of the findings: of relative weights, or of coefficients."""
    ours = (weights,) if _is_plackett_luce(model) else (coefficients,)
    of_draws = () if model._posterior is None else (summary,)
    return (*_FIRST, *ours, parameters, unexpected_rows, *of_draws, *_LAST)


def _is_plackett_luce(model: Any) -> bool:
    return model._learned == "weights"


# prediction ---------------------------------------------------------------------------------------


@finding("cross_validation", "Cross-validation", ON_SCREEN)
def cross_validation(model: Any, settings: AnswerSettings) -> Finding | None:
    """Error rate and log loss beside those of the majority class and of the class proportions."""
    scores = _scores(model, settings)
    if scores is None:
        return None
    notes: list[Text] = []
    if scores.fault:
        fault = scores.fault.rstrip(".")
        notes.append(phrase(ENGLISH, "cv.ended", done=scores.done, folds=scores.folds, fault=fault))
    if not len(scores.errors):
        return Finding(
            notes=tuple(notes),
            stopped=scores.fault == STOPPED,
            brief=Brief("Prediction", notes[0] if notes else ""),
        )
    if impossible := int(np.isinf(scores.losses).sum()):
        notes.append(phrase(ENGLISH, "cv.infinite", rows=f"{impossible:,}"))
    name = _name(model)
    title = phrase(ENGLISH, "cv.title", rows=f"{len(scores.errors):,}", done=scores.done)
    return Finding(
        _comparison(name, scores),
        title=str(title),
        table=scores.table(),
        shown=_beside_base(name, scores),
        notes=tuple(notes),
        stopped=scores.fault == STOPPED,
        brief=Brief("Prediction", table=_beside_base(name, scores)),
    )


def _scores(model: Any, settings: AnswerSettings) -> Scores | None:
    """The scores of the cross-validation that was asked for, which the fitted model keeps."""
    kept = vars(model).get("cross_validation_")
    if kept is not None and (kept.folds, kept.seed) == (settings.folds, settings.random_seed):
        return kept
    if not settings.folds or settings.rows is None or model._interrupted_:
        return None
    # without draws a fit is too short for a process
    at_once = 1 if model._posterior is None else settings.cores
    how = settings.rows, settings.folds, settings.random_seed, at_once
    model.cross_validation_ = carried_out_by("Classifier.cross_validate")(model, *how)
    return model.cross_validation_


def _beside_base(name: str, scores: Scores) -> "pandas.DataFrame":
    """The means of all rows with their standard errors."""
    import pandas as pd

    nothing = (np.nan, np.nan)
    rows = {
        name: (*_mean(scores.errors), *_mean(scores.losses)),
        "majority class": (*_mean(scores.base_errors), *nothing),
        "class proportions": (*nothing, *_mean(scores.base_losses)),
    }
    columns = ["error_rate", "error_rate_se", "log_loss", "log_loss_se"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns).rename_axis("prediction")


def _mean(costs: np.ndarray) -> tuple[float, float]:
    mean = float(costs.mean())
    several = np.isfinite(mean) and len(costs) > 1
    return mean, float(costs.std(ddof=1)) / np.sqrt(len(costs)) if several else np.nan


def _comparison(name: str, scores: Scores) -> Text:
    """Whether the model errs less often than whoever always names the majority class."""
    mean, error = _mean(scores.base_errors - scores.errors)
    shown = {"name": name, "error": f"{error:.3f}"}
    if not abs(mean) > _ESTABLISHED * error or mean == 0:
        return phrase(ENGLISH, "cv.open", mean=f"{mean:.3f}", **shown)
    return phrase(
        ENGLISH, "cv.better" if mean > 0 else "cv.worse", mean=f"{abs(mean):.3f}", **shown
    )


def _name(model: Any) -> str:
    spec = find_spec(model)
    return type(model).__name__ if spec is None else spec.name


# what matters -------------------------------------------------------------------------------------


@finding("weights", "Covariate weights", ON_SCREEN)
def weights(model: Any, settings: AnswerSettings) -> Finding:
    """The relative weights of Plackett-Luce regression, the largest first."""
    table = importance(model, settings.ci)
    shown = table[table["weight"] >= _MIN_SHOWN]  # what rounds to zero is not told from it
    every = model.weights_.size
    key = "weights.all" if len(table) == every else "weights.some"
    key = key if model._engine.is_point else "weights.means"
    title = phrase(ENGLISH, key, shown=f"{len(table):,}", every=f"{every:,}")
    notes = (ENGLISH["weights.exp"],) if model.get_params()["transform"] is not None else ()
    named = table.replace({"column": {"1": "the constant"}}) if notes else table
    sentence, shown = _largest(named, "weight", "weights"), _last_named(shown)
    return Finding(sentence, str(title), table, shown, notes=notes, brief=_brief(shown, "Weights"))


@finding("coef", "Coefficients", ON_SCREEN)
def coefficients(model: Any, settings: AnswerSettings) -> Finding:
    """The coefficients of the sparse logit, those furthest from 0 first."""
    table, covariates = (
        importance(model, settings.ci),
        ENGLISH["coef.standard" if model.standardize else "coef.units"],
    )
    if model._engine.is_point:
        counts = {"shown": f"{len(table):,}", "every": f"{model.scaled_coef_.size:,}"}
        title = phrase(
            ENGLISH, "coef.some", covariates=covariates, reference=model._reference_, **counts
        )
    else:
        title = phrase(ENGLISH, "coef.all", covariates=covariates, reference=model._reference_)
    sentence, shown = _largest(table, "coef", "coefficients"), _last_named(table)
    return Finding(sentence, str(title), table, shown, brief=_brief(shown, "Effects"))


def _brief(shown: Any, label: str) -> Brief:
    """The largest of them as a screen shows them; the sentence where there are none."""
    return Brief(label, "" if len(shown) else None, table=shown)


def _last_named(table: Any) -> Any:
    """The numbers first, then whose they are."""
    names = ["class", "column"]
    return table[[*(name for name in table.columns if name not in (*names, "original")), *names]]


def _largest(table: "pandas.DataFrame", value: str, words: str) -> Text:
    """The largest of them in a sentence."""
    rows = table.head(_NAMED).to_dict("records")
    if not rows:
        return phrase(ENGLISH, "weights.none", words=words)
    named = listed(
        [f"{row['column']} for {str(row['class'])!r} ({number(row[value])})" for row in rows]
    )
    return phrase(ENGLISH, "weights", words=words, named=named)


# the model as a whole -----------------------------------------------------------------------------


@finding("parameters", "Other parameters and assumptions", chapter=STATISTICS)
def parameters(model: Any, settings: AnswerSettings) -> Finding:
    """Scales, and the likelihood of all the data."""
    of = _of_weights if _is_plackett_luce(model) else _of_coefficients
    return Finding(notes=tuple(of(model, settings.ci)))


def _of_weights(model: Any, ci: float) -> list[Text]:
    notes = [phrase(ENGLISH, "shape", value=_shape(model, ci))]
    if model._posterior is not None:
        return [*notes, _likelihood_drawn(model, ci)]
    value = f"{model.log_likelihood_:.3f}"
    if not model._engine.is_point:
        bound = phrase(ENGLISH, "bound", value=f"{model.lower_bound_:.3f}")
        return [*notes, bound, phrase(ENGLISH, "log_likelihood", value=value)]
    objective = f"{model.objective_:.3f}"
    key = "log_likelihood" if model.a <= 1 else "log_likelihood.weights"
    likelihood = phrase(ENGLISH, key, value=value, objective=objective)
    return [*notes, likelihood, phrase(ENGLISH, "sweeps", sweeps=f"{model._n_passes_:,}")]


def _of_coefficients(model: Any, ci: float) -> list[Text]:
    if model.prior == "horseshoe":
        draws = model._view.draws
        tau, slab = (
            _in_digits(np.log(draws["tau"].to_numpy()), ci),
            _in_digits(draws["slab"].to_numpy(), ci),
        )
        notes = [phrase(ENGLISH, "horseshoe", tau=tau, slab=slab)]
    else:
        notes = [phrase(ENGLISH, "rate", value=_rate(model, ci))]
    if model._posterior is not None:
        return [*notes, _likelihood_drawn(model, ci)]
    values = {"value": f"{model.log_likelihood_:.3f}", "objective": f"{model.objective_:.3f}"}
    return [*notes, phrase(ENGLISH, "log_likelihood.priors", **values)]


def _rate(model: Any, ci: float) -> Text:
    if model.eta is not None:
        return phrase(ENGLISH, "shape.fixed", value=f"{model.eta:g}")
    return phrase(
        ENGLISH, "rate.learned", value=_in_digits(model._view.draws["eta"].to_numpy(), ci)
    )


def _likelihood_drawn(model: Any, ci: float) -> Text:
    """The log-likelihood of a fit with draws."""
    draws = model._view.log_likelihood
    mean, low, high = (
        round(float(each), 3) for each in (draws.mean(), *np.quantile(draws, tails_of(ci)))
    )
    return phrase(
        ENGLISH, "log_likelihood", value=f"{mean:g} ({interval_name(ci)} {low:g} to {high:g})"
    )


def _shape(model: Any, ci: float) -> Text:
    if model.a is not None:
        return phrase(ENGLISH, "shape.fixed", value=f"{model.a:g}")
    low, high = (f"{end:g}" for end in model.a_range)
    tree = model._posterior
    value = number(model.a_) if tree is None else _in_digits(model._view.draws["a"].to_numpy(), ci)
    return phrase(ENGLISH, "shape.learned", value=value, low=low, high=high)


def _in_digits(draws: np.ndarray, ci: float) -> str:
    """Mean and interval with three significant digits, which a small a needs."""
    low, high = np.quantile(draws, tails_of(ci))
    return f"{number(draws.mean())} ({interval_name(ci)} {number(low)} to {number(high)})"


@finding("unexpected_rows", "Worst-predicted rows", SHOWN, chapter=MISSES)
def unexpected_rows(model: Any, settings: AnswerSettings) -> Finding:
    """Rows whose class the model finds unlikely, where draws of each row's likelihood are
    stored."""
    import pandas as pd

    tree = model._posterior
    if tree is None or "log_likelihood" not in tree.children:
        return Finding(ENGLISH["rows.unknown"])
    logs, codes = tree["log_likelihood"]["label"], model._view.observed["label"].to_numpy()
    p = np.exp(logs).mean(["chain", "draw"]).to_numpy()
    order = np.argsort(p, kind="stable")
    columns = {
        "row": logs["row"].to_numpy()[order],
        "class": model.classes_[codes[order]],
        "probability": p[order],
    }
    counts = {
        "rows": f"{len(p):,}",
        "likely": f"{int((p >= 0.5).sum()):,}",
        "mean": probability(float(p.mean())),
    }
    worst = pd.DataFrame(columns).head(_WORST)
    return Finding(phrase(ENGLISH, "rows", **counts), title=ENGLISH["rows.title"], table=worst)


# how a paper says what was done -------------------------------------------------------------------


def modelled(model: Any) -> tuple[Text, ...]:
    """How the classes were modelled."""
    if _is_plackett_luce(model):
        return (phrase(ENGLISH, "methods.plackett-luce", source=Cite("archambeau2012")),)
    if model._engine.is_point:
        return (
            phrase(ENGLISH, "methods.map", rate=f"{np.sqrt(model.eta):g}", eta=f"{model.eta:g}"),
        )
    if law := model._used.law:
        return (phrase(ENGLISH, "methods.normal", kind=law),)
    facts = {"prior": Cite("piironen2017", inside=True), "source": Cite("polson2013", inside=True)}
    return (phrase(ENGLISH, f"methods.{model.prior}", **facts),)


_FIRST = (make_question_maker(lambda model: ENGLISH["asked"]), cross_validation)
_LAST = (data, make_methods_maker(modelled), convergence)
