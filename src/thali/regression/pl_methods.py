"""How the methods of Plackett–Luce regression that know their uncertainty fit a model, and predict from it."""

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._quiet import is_quiet
from thali.errors import ArgumentError, ConvergenceWarning, InterruptedWarning

if TYPE_CHECKING:
    from thali.regression.plackett_luce import PlackettLuceRegression

_APART = (
    "the chains stay in different supports of the weights, which more draws will hardly mend: take more chains, or "
    "fix a at a larger value"
)


def fit_by_gibbs(model: "PlackettLuceRegression", data: Any, stacklevel: int) -> None:
    """Draws: `posterior_`, and their means as `weights_`, `a_` and `log_likelihood_`."""
    from thali.progress import Progress
    from thali.regression.pl_gibbs import carry_out, plan_of
    from thali.regression.pl_posterior import to_datatree

    if not hasattr(data, "W"):
        raise ArgumentError(
            "method='gibbs' needs all rows in memory; pass arrays, or choose method='variational' or method='map' for "
            "a Dask array."
        )
    m = model
    plan = plan_of(data.W.size, m.a, m.a_range, m.b, m.sampler, m.draws, m.tune, m.chains, m.thin)
    with Progress(bool(m.progressbar), "sampling", plan.sweeps, "sweeps") as progress:
        draws = carry_out(plan, data.W, data.codes, data.n_classes, m.cores, m.random_seed, progress)
    m.posterior_ = to_datatree(draws, data.W, data.codes, m.classes_, m.columns_)
    m.weights_ = m._labelled(draws.weights.mean(axis=(0, 1)))
    m.a_ = float(np.exp(np.log(draws.a).mean())) if m.a is None else float(m.a)
    m.log_likelihood_ = float(draws.log_likelihood.mean())
    m.n_passes_ = draws.sweeps
    m.interrupted_ = draws.interrupted
    if is_quiet():
        return
    if draws.interrupted:
        kept = draws.a.shape[1]
        warnings.warn(
            f"Stopped early; {kept} of {plan.draws} draws a chain were kept.", InterruptedWarning, stacklevel=stacklevel
        )
    _warn_of_chains(m, stacklevel + 1)


def _warn_of_chains(model: "PlackettLuceRegression", stacklevel: int) -> None:
    from thali.posterior.summary import verdict

    agree, sentence = verdict(model.summary())
    if not agree:
        warnings.warn(sentence, ConvergenceWarning, stacklevel=stacklevel)


def summary_of_draws(model: "PlackettLuceRegression"):
    """The frame that `PlackettLuceRegression.summary` describes."""
    from thali.posterior.summary import summary_table
    from thali.regression.pl_posterior import quantities_of

    frame = summary_table(quantities_of(model.posterior_))
    frame.attrs["if_apart"] = _APART
    return frame


def fit_by_variational(model: "PlackettLuceRegression", data: Any, stacklevel: int) -> None:
    """The variational posterior: `shapes_`, `rates_`, its bound, and its means as `weights_`."""
    from thali.regression.pl_gibbs import law_of
    from thali.regression.pl_variational import fit_variational

    law_of(model.a, model.a_range, model.b)
    fit = fit_variational(data, a=model.a, a_range=model.a_range, b=float(model.b))
    means = fit.shapes / fit.rates
    model.shapes_, model.rates_ = model._labelled(fit.shapes), fit.rates
    model.weights_ = model._labelled(means / means.sum())
    model.a_, model.lower_bound_, model.log_likelihood_ = fit.a, fit.lower_bound, fit.log_likelihood
    model.n_passes_, model.collapsed_ = fit.n_passes, fit.collapsed
    if is_quiet():
        return
    if not fit.converged:
        warnings.warn(
            f"The lower bound is still rising after {fit.n_passes} sweeps over the data; standardise the covariates or "
            "fix a at a larger value.",
            ConvergenceWarning,
            stacklevel=stacklevel,
        )
    if fit.collapsed:
        warnings.warn(
            f"The best fit, at a = {fit.a:.3g}, says little more than that all classes are equally probable; fix a at "
            "a small value such as 0.05, or choose method='gibbs'.",
            ConvergenceWarning,
            stacklevel=stacklevel,
        )


def probabilities_of_draws(model: "PlackettLuceRegression", matrix: np.ndarray) -> np.ndarray:
    """Averaged over the draws."""
    from thali.regression.pl_posterior import mean_probabilities

    weights = model.posterior_["posterior"].dataset["weights"].values
    design = model.design_
    return mean_probabilities(
        weights.reshape(-1, *weights.shape[2:]),
        len(matrix),
        lambda part: design.apply(matrix[part]),
        lambda part: design.logs(matrix[part]),
        model.class_count_,
    )


def probabilities_of_variational(model: "PlackettLuceRegression", matrix: np.ndarray, step: int) -> np.ndarray:
    """Averaged over the variational posterior, by the exact integral."""
    from thali.regression.pl_integral import expected_from_logs

    shapes = np.asarray(model.shapes_, float)
    return np.concatenate(
        [
            expected_from_logs(model.design_.logs(matrix[start : start + step]), shapes, model.rates_)
            for start in range(0, len(matrix), step)
        ]
    )
