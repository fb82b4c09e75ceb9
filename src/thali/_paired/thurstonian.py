"""Thurstone's law of comparative judgement, Case V."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali._aspects.maximum_likelihood.estimates import saturated_log_likelihood
from thali._aspects.maximum_likelihood.goodness_of_fit import run_fit_test
from thali._data.connectivity import check_finite
from thali._data.number_checks import are_integers
from thali._inference.maximisation import Concave, maximise_concave
from thali._inference.numerics.log_densities import LOG_2PI, log_binomial_coefficient
from thali._printed_result import PrintedResult, printed_dataclass

from .vote_counts import prepare_pairs

if TYPE_CHECKING:
    import pandas

    from thali._data.pairs import PairedComparisons
    from thali._inference.random_seeds import RandomSeed

_ROUGH = 1e-8  # gain of a step that ends a maximisation; the maximum may be at infinity


@printed_dataclass
class Thurstone(PrintedResult):
    """Fit of Thurstone's Case V: scale values and test of fit."""

    scale: "pandas.Series"
    covariance: "pandas.DataFrame"
    log_likelihood: float
    deviance: float
    df: int
    p_value: float
    pearson: float


def thurstone(data: Any, samples: int | None = None, random_seed: "RandomSeed" = 0) -> Thurstone:
    r"""Fit Thurstone's Case V by maximum likelihood.

    .. math:: p_{ij} = \Phi(\mu_i - \mu_j)

    Parameters
    ----------
    data : PairedComparisons, or square table of counts
    samples, random_seed
        Settings of the test of fit, as in `EliminationByAspects.maximum_likelihood.fit_test`.

    Returns
    -------
    Thurstone
        scale (the first option is 0; the unit is the standard deviation of a difference),
        covariance, log_likelihood (binomial coefficients included), deviance against the saturated
        model, df, p_value (NaN if the test is uninformative), pearson; `table` with scale and
        std_error of each option.

    Raises
    ------
    DataError
        If some option's scale value is infinite, or options are not connected.

    References
    ----------
    Thurstone (1927), A law of comparative judgment; Critchlow & Fligner (1991).

    Examples
    --------
    >>> taste = [[0, 3, 2, 2], [12, 0, 11, 3], [13, 4, 0, 5], [13, 12, 10, 0]]
    >>> fit = thurstone(taste)
    >>> fit.df, round(fit.deviance, 3)
    (3, 4.533)
    """
    import pandas as pd
    from scipy.special import ndtr

    from thali._worths.density_from_data import list_wins

    data = prepare_pairs(data)
    check_finite(data.labels, *list_wins(data))
    design = _build_design(data)
    scale_estimates, log_likelihood, _, information = maximise_concave(
        _build_log_likelihood(design, data.wins, data.losses), np.zeros(data.n_options - 1)
    )
    covariance = np.zeros((data.n_options, data.n_options))
    covariance[1:, 1:] = np.linalg.inv(information)
    n_by_pair = data.wins + data.losses
    deviance = max(_compute_deviance(data.wins, data.losses, log_likelihood), 0.0)
    df = data.n_pairs - data.n_options + 1
    p = ndtr(design @ scale_estimates)
    probabilities = np.column_stack([p, ndtr(-design @ scale_estimates)])

    def simulate_deviance(rng: np.random.Generator) -> float:
        """Return the deviance of choices simulated from the fit."""
        wins = rng.binomial(n_by_pair.astype(np.int64), p).astype(float)
        losses = n_by_pair - wins
        refit = maximise_concave(
            _build_log_likelihood(design, wins, losses), scale_estimates, _ROUGH
        )
        return _compute_deviance(wins, losses, refit.value)

    is_whole = are_integers(data.wins) and are_integers(data.losses)
    fit_test = run_fit_test(
        deviance,
        df,
        n_by_pair,
        (1.0 / probabilities).sum(axis=1),
        is_whole,
        simulate_deviance,
        len(n_by_pair) * data.n_options**2,
        samples,
        random_seed,
    )
    pearson = float(
        np.sum((data.wins - n_by_pair * p) ** 2 / (n_by_pair * p * probabilities[:, 1]))
    )
    labels = pd.Index(data.labels, name="option")
    scale_values = pd.Series(np.r_[0.0, scale_estimates], labels, name="scale")
    table = pd.DataFrame({"scale": scale_values, "std_error": np.sqrt(np.diag(covariance))})
    return Thurstone(
        title="Thurstone's Case V",
        table=table,
        note=str(fit_test),
        scale=scale_values,
        covariance=pd.DataFrame(covariance, labels, labels),
        log_likelihood=log_likelihood
        + float(log_binomial_coefficient(data.wins, data.losses).sum()),
        deviance=deviance,
        df=df,
        p_value=fit_test.p_value,
        pearson=pearson,
    )


def _build_design(data: "PairedComparisons") -> np.ndarray:
    """Return the differences of scale values by pair; the first option is 0."""
    design = np.zeros((data.n_pairs, data.n_options))
    pair_indices = np.arange(data.n_pairs)
    design[pair_indices, data.first], design[pair_indices, data.second] = 1.0, -1.0
    return design[:, 1:]


def _build_log_likelihood(design: np.ndarray, wins: np.ndarray, losses: np.ndarray) -> Concave:
    """Return the log-likelihood of scale values as a concave function."""
    from scipy.special import log_ndtr

    def evaluate_scale(scale: np.ndarray) -> Any:
        """Return log-likelihood, gradient and information at scale values."""
        eta = design @ scale
        log_p_loss = log_ndtr(-eta)
        log_p_win = log_ndtr(eta)
        log_density = -0.5 * eta**2 - 0.5 * LOG_2PI
        hazard_high = np.exp(log_density - log_p_win)
        hazard_low = np.exp(log_density - log_p_loss)
        gradient = wins * hazard_high - losses * hazard_low
        curvature = wins * hazard_high * (eta + hazard_high) + losses * hazard_low * (
            hazard_low - eta
        )
        return (
            float(wins @ log_p_win + losses @ log_p_loss),
            design.T @ gradient,
            design.T @ (curvature[:, None] * design),
        )

    return Concave(evaluate_scale)


def _compute_deviance(wins: np.ndarray, losses: np.ndarray, log_likelihood: float) -> float:
    """Return twice the log-likelihood ratio of the saturated model to the fit."""
    choice_counts = np.column_stack([wins, losses]).ravel()
    return 2 * (saturated_log_likelihood(choice_counts, np.full(len(wins), 2)) - log_likelihood)
