"""Davidson's log-likelihood of wins, losses and ties, with lapses, and its derivatives.

Rows have `wins` of the first option, `losses`, `tied`, each (rows,) or (rows, points), the share
`lapse` of choices at random, and `has_ties`, whether ties are a possible outcome.
"""

from typing import Any, NamedTuple

import numpy as np


class RowDerivatives(NamedTuple):
    """Derivatives of each row's log-likelihood by log odds and log tie parameter."""

    slope: np.ndarray  # by the log odds
    bend: np.ndarray  # the second derivative by the log odds
    of_nu: np.ndarray  # by log nu; this and the next two are 0 without ties
    spread: np.ndarray  # minus the second derivative by log nu
    mixed: np.ndarray  # minus the derivative by both


TINY = 1e-300  # replaces a probability of 0


def split_probabilities(log_odds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return P(first) and P(second) from the first's log odds, without loss of digits."""
    # one exponential, which takes a fifth of the time of two `expit`
    smaller_p = np.exp(-np.abs(log_odds))
    larger_p = 1.0 / (1.0 + smaller_p)
    smaller_p *= larger_p
    is_first = log_odds >= 0.0
    return np.where(is_first, larger_p, smaller_p), np.where(is_first, smaller_p, larger_p)


def compute_logistic_log_likelihoods(rows: Any, log_odds: np.ndarray) -> np.ndarray:
    """Return the log-likelihood of each row's wins and losses, with neither lapses nor ties."""
    # wins x - (wins + losses) ln(1 + e^x), with one exponential and one logarithm
    log_totals = np.exp(-np.abs(log_odds))
    log_totals += 1.0
    np.log(log_totals, out=log_totals)
    log_totals += np.maximum(log_odds, 0.0)
    log_totals *= rows.wins + rows.losses
    return rows.wins * log_odds - log_totals


def compute_log_likelihoods(
    rows: Any, p_win: np.ndarray, p_loss: np.ndarray, log_nu: np.ndarray
) -> np.ndarray:
    """Return Davidson's log-likelihood of each row's wins, losses and ties, shape (rows,).

    Multinomial coefficients are left out. `log_nu` is empty without ties.
    """
    counts_and_shares = (rows.wins, p_win), (rows.losses, p_loss)
    win_terms, loss_terms = (
        count * np.log(np.maximum(_add_lapses(rows, share), TINY))
        for count, share in counts_and_shares
    )
    if not rows.has_ties:
        return win_terms + loss_terms
    tie_ratio = compute_tie_ratio(rows, p_win, p_loss, log_nu)
    n_answers = rows.wins + rows.losses + rows.tied
    return (
        win_terms
        + loss_terms
        + rows.tied * np.log(np.maximum(tie_ratio, TINY))
        - n_answers * np.log1p(tie_ratio)
    )


def compute_tie_ratio(
    rows: Any, p_win: np.ndarray, p_loss: np.ndarray, log_nu: np.ndarray
) -> np.ndarray:
    """Return P(tie) / P(no tie) of each row."""
    return np.exp(log_nu) * np.sqrt(_add_lapses(rows, p_win) * _add_lapses(rows, p_loss))


def _add_lapses(rows: Any, p: np.ndarray) -> np.ndarray:
    """Return probabilities of choices, some of which are made at random."""
    if not rows.lapse:
        return p
    return (1.0 - rows.lapse) * p + rows.lapse / 2.0


def compute_derivatives(
    rows: Any, p_win: np.ndarray, p_loss: np.ndarray, log_nu: np.ndarray
) -> RowDerivatives:
    """Return first and second derivatives of each row's Davidson log-likelihood."""
    zeros = np.zeros_like(p_win)
    if not rows.lapse and not rows.has_ties:
        minus_bend = (rows.wins + rows.losses) * p_win * p_loss
        return RowDerivatives(
            rows.wins * p_loss - rows.losses * p_win, -minus_bend, zeros, zeros, zeros
        )
    win_attention = _compute_attention(rows, p_win)
    loss_attention = _compute_attention(rows, p_loss)
    # slopes of ln p and of -ln (1 - p)
    win_slope = p_loss * win_attention
    loss_slope = p_win * loss_attention
    win_bend = win_slope * (p_loss * (1.0 - win_attention) - p_win)  # of ln p
    loss_bend = loss_slope * (p_win * (1.0 - loss_attention) - p_loss)  # of ln (1 - p)
    slope = rows.wins * win_slope - rows.losses * loss_slope
    bend = rows.wins * win_bend + rows.losses * loss_bend
    if not rows.has_ties:
        return RowDerivatives(slope, bend, zeros, zeros, zeros)
    n_answers = rows.wins + rows.losses + rows.tied
    tie_ratio = compute_tie_ratio(rows, p_win, p_loss, log_nu)
    tie_share = tie_ratio / (1.0 + tie_ratio)
    mean_slope = (win_slope - loss_slope) / 2.0
    spread = n_answers * tie_share * (1.0 - tie_share)
    excess_ties = rows.tied - n_answers * tie_share
    bend = bend + excess_ties * (win_bend + loss_bend) / 2.0 - spread * mean_slope**2
    return RowDerivatives(
        slope + excess_ties * mean_slope, bend, excess_ties, spread, spread * mean_slope
    )


def _compute_attention(rows: Any, p: np.ndarray) -> np.ndarray:
    """Return the share of each outcome's probability that is not due to lapses."""
    if not rows.lapse:
        return np.ones_like(p)
    attended_p = (1.0 - rows.lapse) * p
    return attended_p / (attended_p + rows.lapse / 2.0)
