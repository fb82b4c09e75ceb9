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


def split_probabilities(difference: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return P(first) and P(second) from log odds, without loss of digits."""
    # one exponential, which takes a fifth of the time of two `expit`
    smaller = np.exp(-np.abs(difference))
    larger = 1.0 / (1.0 + smaller)
    smaller *= larger
    is_first = difference >= 0.0
    return np.where(is_first, larger, smaller), np.where(is_first, smaller, larger)


def compute_log_likelihoods(
    rows: Any, q: np.ndarray, q_rest: np.ndarray, log_nu: np.ndarray
) -> np.ndarray:
    """Return each row's log-likelihood of wins, losses, ties, shape (rows,).

    Multinomial coefficients are left out. `log_nu` is empty without ties.
    """
    base, scale = rows.lapse / 2.0, 1.0 - rows.lapse
    counts_and_shares = (rows.wins, q), (rows.losses, q_rest)
    first, second = (
        count * np.log(np.maximum(scale * share + base, TINY)) for count, share in counts_and_shares
    )
    if not rows.has_ties:
        return first + second
    ratio = compute_tie_ratio(rows, q, q_rest, log_nu)
    total = rows.wins + rows.losses + rows.tied
    return first + second + rows.tied * np.log(np.maximum(ratio, TINY)) - total * np.log1p(ratio)


def compute_tie_ratio(
    rows: Any, q: np.ndarray, q_rest: np.ndarray, log_nu: np.ndarray
) -> np.ndarray:
    """Return P(tie) / P(no tie) of each row."""
    base, scale = rows.lapse / 2.0, 1.0 - rows.lapse
    return np.exp(log_nu) * np.sqrt((scale * q + base) * (scale * q_rest + base))


def compute_derivatives(
    rows: Any, q: np.ndarray, q_rest: np.ndarray, log_nu: np.ndarray
) -> RowDerivatives:
    """Return first and second derivatives of each row's log-likelihood."""
    zeros = np.zeros_like(q)
    if not rows.lapse and not rows.has_ties:
        weight = (rows.wins + rows.losses) * q * q_rest
        return RowDerivatives(rows.wins * q_rest - rows.losses * q, -weight, zeros, zeros, zeros)
    attention, attention_rest = _compute_attention(rows, q), _compute_attention(rows, q_rest)
    win_slope, loss_slope = (
        q_rest * attention,
        q * attention_rest,
    )  # slopes of ln p and of -ln (1 - p)
    win_bend = win_slope * (q_rest * (1.0 - attention) - q)  # of ln p
    loss_bend = loss_slope * (q * (1.0 - attention_rest) - q_rest)  # of ln (1 - p)
    slope = rows.wins * win_slope - rows.losses * loss_slope
    bend = rows.wins * win_bend + rows.losses * loss_bend
    if not rows.has_ties:
        return RowDerivatives(slope, bend, zeros, zeros, zeros)
    total = rows.wins + rows.losses + rows.tied
    ratio = compute_tie_ratio(rows, q, q_rest, log_nu)
    share, tilt = ratio / (1.0 + ratio), (win_slope - loss_slope) / 2.0
    spread, excess_ties = total * share * (1.0 - share), rows.tied - total * share
    bend = bend + excess_ties * (win_bend + loss_bend) / 2.0 - spread * tilt**2
    return RowDerivatives(slope + excess_ties * tilt, bend, excess_ties, spread, spread * tilt)


def _compute_attention(rows: Any, q: np.ndarray) -> np.ndarray:
    """Return the share of each outcome's probability that is not due to lapses."""
    if not rows.lapse:
        return np.ones_like(q)
    scaled = (1.0 - rows.lapse) * q
    return scaled / (scaled + rows.lapse / 2.0)
