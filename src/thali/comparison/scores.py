"""How well posterior draws of a probability predict counts that the model has not seen."""

from dataclasses import dataclass

import numpy as np

from thali.aspects.draws.counts import log_binomial, log_multinomial
from thali.posterior.diagnostics import MIN_DRAWS, bulk_and_r_hat, mean_mcse


@dataclass(frozen=True)
class Score:
    """The scores of one left-out pair; natural logarithms, binomial coefficients included."""

    predicted: float  # posterior mean of the probability that the first option is chosen
    predicted_mcse: float  # its Monte Carlo standard error
    nll: float  # -ln Binomial(wins | n, predicted)
    nll_mcse: float
    log_pred: float  # ln of the posterior mean of Binomial(wins | n, p)
    log_pred_mcse: float
    r_hat: float  # of the probability; NaN for a single chain


def score(wins: float, losses: float, draws: np.ndarray) -> Score:
    r"""Score draws of the probability of a win against the counts that were left out.

    .. math::
        \text{nll} = -\ln \text{Binomial}(x \mid n, \bar p), \qquad
        \text{log\_pred} = \ln \frac{1}{S} \sum_s \text{Binomial}(x \mid n, p_s)

    The Monte Carlo error of nll is that of the mean carried through its first two derivatives.

    Examples
    --------
    >>> import numpy as np
    >>> halves = score(3, 1, np.full((4, 100), 0.5))
    >>> round(halves.nll, 4), round(halves.log_pred, 4), halves.nll_mcse
    (1.3863, -1.3863, 0.0)
    """
    mean, error = np.mean(draws), mcse(draws)
    nll_error = 0.0
    if error != 0.0:
        slope = wins / mean - losses / (1.0 - mean)
        bend = wins / mean**2 + losses / (1.0 - mean) ** 2
        nll_error = float(np.hypot(slope * error, bend * error**2 / np.sqrt(2.0)))
    with np.errstate(divide="ignore"):  # a probability of 0 or 1, without lapses
        logs = log_binomial(wins, losses, draws)
        log_pred, log_pred_mcse = log_mean(logs)
        return Score(
            predicted=float(mean),
            predicted_mcse=error,
            nll=-float(log_binomial(wins, losses, mean)),
            nll_mcse=nll_error,
            log_pred=log_pred,
            log_pred_mcse=log_pred_mcse,
            r_hat=r_hat(draws),
        )


def tied_score(counts: np.ndarray, draws: np.ndarray) -> Score:
    r"""Score draws of the probabilities of three outcomes against the counts that were left out.

    .. math::
        \text{nll} = -\ln \text{Multinomial}(x \mid n, \bar p), \qquad
        \text{log\_pred} = \ln \frac{1}{S} \sum_s \text{Multinomial}(x \mid n, p_s)
    """
    mean, (wins, tied, losses) = draws.mean(axis=(0, 1)), counts
    with np.errstate(divide="ignore", invalid="ignore"):
        linear = np.where(counts > 0, counts / mean, 0.0)
        errors = [mcse(draws[..., outcome]) for outcome in range(3)]
        bend = float(np.sum(np.where(counts > 0, counts / mean**2, 0.0) * np.square(errors)))
        logs = log_multinomial(wins, tied, losses, draws)
        log_pred, log_pred_mcse = log_mean(logs)
        return Score(
            predicted=float(mean[0]),
            predicted_mcse=errors[0],
            nll=-float(log_multinomial(wins, tied, losses, mean)),
            nll_mcse=float(np.hypot(mcse(draws @ linear), bend / np.sqrt(2.0))),
            log_pred=log_pred,
            log_pred_mcse=log_pred_mcse,
            r_hat=float(np.fmax(r_hat(draws[..., 0]), r_hat(draws[..., 1]))),
        )


def cell_score(counts: np.ndarray, draws: np.ndarray) -> Score:
    r"""Score draws of the probabilities of outcomes that depend on covariates: of a pair's cells c with outcomes o

    .. math::
        \text{nll} = -\ln \binom{n}{x} - \sum_{c, o} x_{co} \ln \bar p_{co}

    and log_pred likewise. The coefficient is that of the pair as a whole, so that models with covariates, without, and
    the observed proportions of the pair have scores that can be compared.
    """
    from scipy.special import gammaln, xlogy

    whole, of_cells = counts.sum(axis=0), counts.sum(axis=1)
    coefficient = float(gammaln(whole.sum() + 1.0) - gammaln(whole + 1.0).sum())
    mean, predicted = draws.mean(axis=(0, 1)), draws[..., 0] @ (of_cells / of_cells.sum())
    with np.errstate(divide="ignore", invalid="ignore"):
        slopes = np.where(counts > 0, counts / mean, 0.0)
        logs = coefficient + xlogy(counts, draws).sum(axis=(2, 3))
        log_pred, log_pred_mcse = log_mean(logs)
        return Score(
            predicted=float(predicted.mean()),
            predicted_mcse=mcse(predicted),
            nll=-coefficient - float(xlogy(counts, mean).sum()),
            nll_mcse=mcse((draws * slopes).sum(axis=(2, 3))),
            log_pred=log_pred,
            log_pred_mcse=log_pred_mcse,
            r_hat=r_hat(predicted),
        )


def log_mean(logs: np.ndarray) -> tuple[float, float]:
    """The ln of the mean of what draws (chain, draw) are the ln of, and its Monte Carlo standard error."""
    top = float(np.max(logs))
    likelihood = np.exp(logs - top) if np.isfinite(top) else np.zeros_like(logs)
    average = float(np.mean(likelihood))
    return top + float(np.log(average)), mcse(likelihood) / average if average else np.nan


def mcse(draws: np.ndarray) -> float:
    """Monte Carlo standard error of the mean of draws (chain, draw); NaN for fewer than 4 draws a chain."""
    if draws.shape[1] < MIN_DRAWS:
        return np.nan
    return 0.0 if np.ptp(draws) == 0 else float(mean_mcse(draws[None])[0])


def r_hat(draws: np.ndarray) -> float:
    """R-hat of draws (chain, draw); NaN where there is none."""
    return np.nan if np.ptp(draws) == 0 else float(bulk_and_r_hat(draws[None])[1][0])
