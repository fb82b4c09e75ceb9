"""The printed answer of a fit to covariates and classes."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali._digits import in_a_column
from thali.model.classifiers.importance import importance
from thali.model.settings import Settings
from thali.posterior.interval import TAILS, interval_name
from thali.surfaces.aligned import align

from ..boundary import notify
from ..cross_validation import STOPPED, check_folds, cross_validate
from ..files import Answer
from ..judgement import judgement
from . import Fitted
from .shared import MAX_FEATURES, estimate_of

if TYPE_CHECKING:
    import pandas

    from ..cross_validation import Scores

_ENOUGH = 2.0  # standard errors from which a difference is called established
_MIN_SHOWN = 0.0005  # of a relative weight, with three decimals
_SCALARS = ("a", "eta", "log_tau", "slab", "log_likelihood")


def prepare(fitted: Fitted) -> Settings:
    """The settings, once it is clear that the data can be divided into so many folds."""
    check_folds(fitted.data.labels, fitted.settings.folds)
    return fitted.settings


def answer(fitted: Fitted) -> Answer:
    """What is printed and written of a fitted model, and the scores of its cross-validation."""
    model, data, settings = fitted.model, fitted.data, fitted.settings
    stopped = getattr(model, "interrupted_", False)
    if stopped:
        notify("did not cross-validate.")
    at_once = settings.cores if hasattr(model, "posterior_") else 1  # without draws a fit is too short for a process
    folds = 0 if stopped else settings.folds
    scores = cross_validate(model, data, folds, settings.random_seed, at_once) if folds else None
    summary = model.summary() if hasattr(model, "posterior_") else None
    weights = importance(model)
    is_plackett_luce = "weight" in weights
    tables = {"weights" if is_plackett_luce else "coef": weights}
    if summary is not None:
        tables["summary"] = summary.rename_axis("quantity")
    if scores is not None:
        tables["cross_validation"] = scores.table()
    pictures = {}
    if is_plackett_luce:
        pictures["path"] = lambda plots: plots.path(model, data.covariates, data.labels)
    elif model.method == "map":
        pictures["path"] = lambda plots: plots.coefficient_path(model, data.covariates, data.labels)
    if data.covariates.shape[1] == 2:
        pictures["decision"] = lambda plots: plots.decision(model, data.covariates, data.labels)
    text = report(fitted, summary, weights, scores)
    return Answer(text, tables, pictures, scores is not None and scores.fault == STOPPED)


def report(
    fitted: Fitted,
    summary: "pandas.DataFrame | None",
    weights: "pandas.DataFrame",
    scores: "Scores | None",
) -> str:
    """The answer in words and numbers.

    Parameters
    ----------
    fitted : Fitted
    summary : pandas.DataFrame or None
        Its `summary()`; None if it has no draws.
    weights : pandas.DataFrame
        As `importance` returns it.
    scores : Scores or None
        Of the cross-validation.

    Returns
    -------
    str
        Lines without a final line break: what the table is, the cross-validation beside what the class frequencies
        alone predict, the weights or coefficients that matter most, the learned scales and the log-likelihood, their
        diagnostics, and whether the chains are good enough.
    """
    name, model = fitted.spec.name, fitted.model
    parts = [str(fitted.data), cross_validation(name, scores), _weights(model, weights), _scalars(model)]
    if summary is not None:
        parts.append(_diagnostics(summary))
    if summary is not None or not model.verdict().agrees:
        parts.append(judgement(model, fitted.words))
    return "\n\n".join(part for part in parts if part)


# cross-validation -----------------------------------------------------------------------------------------


def cross_validation(name: str, scores: "Scores | None") -> str:
    """Error rate and log loss beside those of the majority class and of the class proportions."""
    if scores is None:
        return ""
    rows = len(scores.errors)
    said = f"Cross-validation ended after {scores.done} of {scores.folds} folds: {scores.fault}" if scores.fault else ""
    if not rows:
        return said
    title = f"Cross-validation: {rows:,} rows in {scores.done} folds, each predicted by a fit to the others"
    table = [("", "error rate", "std. error", "log loss", "std. error")]
    table.append((name, *_mean(scores.errors), *_mean(scores.losses)))
    table.append(("majority class", *_mean(scores.base_errors), "-", "-"))
    table.append(("class proportions", "-", "-", *_mean(scores.base_losses)))
    lines = [title, align(table, left={0}), _comparison(name, scores)]
    if impossible := int(np.isinf(scores.losses).sum()):
        lines.append(
            f"The log loss is infinite, because {impossible:,} rows have a class whose predicted probability is 0."
        )
    return "\n".join([*lines, *([said] if said else [])])


def _mean(costs: np.ndarray) -> tuple[str, str]:
    mean = float(costs.mean())
    error = float(costs.std(ddof=1)) / np.sqrt(len(costs)) if np.isfinite(mean) and len(costs) > 1 else np.nan
    return in_a_column("", mean), in_a_column("", float(error))


def _comparison(name: str, scores: "Scores") -> str:
    gain = scores.base_errors - scores.errors
    mean, error = float(gain.mean()), float(gain.std(ddof=1) / np.sqrt(len(gain))) if len(gain) > 1 else np.inf
    apart = f"{abs(mean):.3f}, standard error {error:.3f}"
    if abs(mean) <= _ENOUGH * error or mean == 0:
        return (
            f"That {name} errs less often than always naming the majority class is not established ({mean:.3f},"
            f" standard error {error:.3f})."
        )
    return f"{name} errs {'less' if mean > 0 else 'MORE'} often than always naming the majority class (by {apart})."


# what matters ---------------------------------------------------------------------------------------------


def _weights(model: Any, weights: "pandas.DataFrame") -> str:
    has_interval = "low" in weights
    rows = [(str(weights.columns[2]), *([interval_name()] if has_interval else []), "class", "column")]
    shown = weights.head(MAX_FEATURES)
    if "weight" in weights:  # what rounds to zero is not told from it
        shown = shown.head(int(np.count_nonzero(shown["weight"].to_numpy() >= _MIN_SHOWN)))
    for row in shown.to_dict("records"):
        interval = [f"{row['low']:.3f} to {row['high']:.3f}"] if has_interval else []
        rows.append((f"{row[str(weights.columns[2])]:.3f}", *interval, str(row["class"]), str(row["column"])))
    table = align(rows, left={len(rows[0]) - 2, len(rows[0]) - 1})
    hidden = len(weights) - len(shown)
    lines = [_title(model, len(weights)), table]
    if hidden > 0:
        lines.append(f"... and {hidden:,} smaller ones")
    if "weight" in weights and model.get_params()["transform"] is not None:
        lines.append("(exp of covariates with mean 0 and standard deviation 1)")
    return "\n".join(lines)


def _title(model: Any, shown: int) -> str:
    if not hasattr(model, "weights_") and model.method == "map":
        every = model.scaled_coef_.size
        return (
            f"Coefficients of standardised covariates, against class {model.reference_}: {shown:,} of {every:,} are "
            "not 0, all others exactly 0"
        )
    if not hasattr(model, "weights_"):
        return f"Coefficients of standardised covariates, against class {model.reference_}; those furthest from 0 first"
    if model.method != "map":
        return "Relative weights (they sum to 1), posterior means; the largest first"
    every = model.weights_.size
    if shown == every:
        return f"Relative weights (they sum to 1): all {every:,} are above zero; the largest first"
    return f"Relative weights (they sum to 1): {shown:,} of {every:,} are above zero, all others exactly zero"


# the model as a whole -------------------------------------------------------------------------------------


def _scalars(model: Any) -> str:
    likelihood = "Log-likelihood of all the data"
    if not hasattr(model, "weights_") and model.prior == "horseshoe":
        draws = model.posterior_["posterior"]
        tau, slab = _in_digits(np.log(draws["tau"].to_numpy())), _in_digits(draws["slab"].to_numpy())
        lines = [f"Scales of the horseshoe prior: log tau {tau}, slab {slab}"]
    elif not hasattr(model, "weights_"):
        learned = "" if model.eta is not None else _in_digits(model.posterior_["posterior"]["eta"].to_numpy())
        rate = f"{learned}, learned" if learned else f"{model.eta:g}, fixed"
        lines = [f"Rate η of the law that mixes the variances of the coefficients: {rate}"]
    else:
        lines = [f"Shape a of the prior of the weights: {_shape(model)}"]
    if hasattr(model, "posterior_"):
        lines.append(f"{likelihood}: {estimate_of(model.posterior_['posterior']['log_likelihood'].to_numpy())}")
    elif not hasattr(model, "weights_"):
        lines.append(f"{likelihood}: {model.log_likelihood_:.3f}; with the priors: {model.objective_:.3f}")
    elif model.method == "map":
        prior = "" if model.a <= 1 else f"; with that of the prior of relative weights: {model.objective_:.3f}"
        lines.append(f"{likelihood}: {model.log_likelihood_:.3f}{prior}")
        lines.append(f"Found in {model.n_passes_:,} sweeps over the data")
    else:
        lines.append(f"Lower bound of the log evidence: {model.lower_bound_:.3f}")
        lines.append(f"{likelihood}: {model.log_likelihood_:.3f}")
    return "\n".join(lines)


def _shape(model: Any) -> str:
    if model.a is not None:
        return f"{model.a:g}, fixed"
    low, high = model.a_range
    learned = f"learned with p(a) ∝ 1/a from {low:g} to {high:g}"
    if model.method == "gibbs":
        draws = model.posterior_["posterior"]["a"].to_numpy()
        return f"{_in_digits(draws)}, {learned}"
    return f"{model.a_:.4g}, {learned}"


def _in_digits(draws: np.ndarray) -> str:
    """Mean and interval with three significant digits, which a small a needs."""
    low, high = np.quantile(draws, TAILS)
    return f"{draws.mean():.3g} ({interval_name()} {low:.3g} to {high:.3g})"


def _diagnostics(summary: "pandas.DataFrame") -> str:
    """The rows of the summary that are not of single weights, coefficients or predictions."""
    chosen = summary.loc[[name for name in summary.index if name in _SCALARS]]
    rows = [("", *chosen.columns)]
    for name, values in zip(chosen.index, chosen.to_numpy(), strict=True):
        rows.append((name, *map(in_a_column, chosen.columns, values)))
    more = len(summary) - len(chosen)
    rest = f"\n... and {more:,} more in summary.csv (--out)" if more else ""
    return "Monte Carlo error, and how well the chains agree\n" + align(rows, left={0}) + rest
