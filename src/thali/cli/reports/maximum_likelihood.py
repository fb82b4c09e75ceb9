"""`thali fit --method maximum-likelihood`: known aspects of choices, printed and written."""

from typing import Any

from thali._digits import in_a_column
from thali.model.settings import Settings
from thali.posterior.interval import interval_name
from thali.surfaces.aligned import align

from ..files import Answer
from . import Fitted
from .shared import MAX_FEATURES

_WORST = 5


def prepare(fitted: Fitted) -> Settings:
    """Nothing to refuse."""
    return fitted.settings


def answer(fitted: Fitted) -> Answer:
    """What is printed and written of a model that was fitted by maximum likelihood."""
    import pandas as pd

    model = fitted.model
    ci = fitted.settings.ci
    weights, residuals = model.summary(ci), model.residuals()
    effects = model.covariate_effects(ci) if model.covariates_ else None
    errors = model.estimates_.utility_covariance.diagonal().clip(0.0) ** 0.5
    scale = pd.DataFrame({"utility": model.utility_scale_, "std_error": errors})
    tables = {
        "weights": weights,
        "utility_scale": scale,
        "residuals": residuals,
        "fit": pd.DataFrame([weights.attrs]),
        **({} if effects is None else {"covariates": effects}),
    }
    pictures = {
        "utility_scale": lambda plots: plots.utility_scale(model, ci=ci),
        "residuals": lambda plots: plots.residuals(model),
        "choice_probabilities": lambda plots: plots.choice_probabilities(model),
    }
    known = model.estimates_.known
    if known.shared.any() and known.crossing is None:
        pictures["preference_tree"] = lambda plots: plots.preference_tree(model)
    return Answer(_report(model, weights, scale, residuals, effects, interval_name(ci)), tables, pictures)


def _report(model: Any, weights, scale, residuals, effects, interval: str) -> str:
    worst = residuals.loc[residuals["residual"].abs().sort_values(ascending=False, kind="stable").index].head(_WORST)
    parts = [
        f"Weights of the aspects; they sum to 1 (lower to upper: {interval})\n"
        + _most(weights.dropna(axis="columns", how="all"), "weight"),
        "Utility scale, the weight of all aspects of an option\n" + _most(scale, "utility"),
        f"Lapse, the probability of a blind choice, fixed at {model.lapse_:g}\n" + _fit_in_words(weights.attrs, model),
        f"{_what(model)} that it predicts worst (deviance residuals)\n" + _aligned(worst, index=False),
    ]
    zero = [str(name) for name, weight in model.weights_.items() if weight == 0.0]
    if zero:
        parts[0] += f"\nNo weight is left to {', '.join(zero)}; zero is at the boundary, and has no standard error."
    if effects is not None:
        title = "What a unit of each covariate adds to the log odds of the first of two options"
        parts.insert(2, f"{title} (lower to upper: {interval})\n{_aligned(effects)}")
    if source := model.estimates_.error_source:
        parts[0] += f"\n{source}"
    return "\n\n".join(parts)


def _what(model: Any) -> str:
    """What the rows of the table of residuals are."""
    if model.estimates_.unit == "set":
        return "Choices out of sets"
    return "Pairs" if model.estimates_.is_of_choices else "Outcomes of pairs"


def _fit_in_words(found: dict[Any, Any], model: Any) -> str:
    test = model.estimates_.usual_test
    rest = ""
    if test.kind != "none":
        rest = f" against probabilities of its own for every {model.estimates_.unit}; Pearson X² {found['pearson']:.4f}"
    ties = ""
    if "tie" in found:
        ties = f"Ties: nu {found['tie']:.4f}, standard error {found['tie_std_error']:.4f}\n"
    return (
        f"{ties}Log-likelihood {found['log_likelihood']:.4f}, {model.estimates_.coefficients} included\n"
        f"{test}{rest}\n"
        f"AIC {found['aic']:.4f}, BIC {found['bic']:.4f}"
    )


def _most(table, column: str) -> str:
    """The rows of the table, those with the largest numbers in the column if there are many."""
    if len(table) <= 2 * MAX_FEATURES:
        return _aligned(table)
    shown = table.sort_values(column, ascending=False, kind="stable").head(MAX_FEATURES)
    return _aligned(shown) + f"\n... and {len(table) - MAX_FEATURES:,} smaller ones"


def _aligned(table, index: bool = True) -> str:
    table = table.reset_index() if index else table
    rows = [tuple(map(str, table.columns))]
    rows += [tuple(map(_cell, values)) for values in table.itertuples(index=False)]
    return align(rows, left={k for k, value in enumerate(table.iloc[0]) if isinstance(value, str)})


def _cell(value: Any) -> str:
    """A cell of a printed table."""
    if isinstance(value, str | int):
        return str(value)
    return f"{value:.2g}" if 0.0 < abs(value) < 5e-4 else in_a_column("", value)
