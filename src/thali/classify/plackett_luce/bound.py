"""The variational posterior of Plackett–Luce regression and its lower bound of the evidence.

q(λ_kj) = Gamma(a_kj, b_j); with q(C) and q(Z) at their best, A = exp⟨ln λ⟩, m = Σ_k ⟨λ_k⟩, T = W·A_Y, S = W·m,

    F = Σ ln T_i/S_i − Σ KL(Gamma(a_kj, b_j) ‖ Gamma(a, b)),  a_kj ← a + A_kj Σ_{Y_i=k} W_ij/T_i,  b_j ← b + Σ W_ij/S_i.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class VariationalStep:
    """The result of one sweep over the rows for a variational posterior."""

    bound: float  # F at the given shapes and rates
    shapes: np.ndarray  # (K, p), improved
    rates: np.ndarray  # (p,), improved
    log_likelihood: float  # Σ ln T_i/S_i: expected, under the best q(C) and q(Z), without their entropies


def mean_logs(shapes: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """⟨ln λ⟩."""
    from scipy.special import digamma

    return digamma(shapes) - np.log(rates)


def variational_step(data: Any, shapes: np.ndarray, rates: np.ndarray, a: float, b: float) -> VariationalStep:
    """F at q(λ), and one coordinate ascent step from there, in a single sweep over the rows."""
    logs = mean_logs(shapes, rates)
    top = logs.max(axis=1, keepdims=True)  # of a class; ⟨ln λ⟩ itself may be far below the range of exp
    A = np.exp(logs - top)
    sums = data.statistics(A, (shapes / rates).sum(axis=0))
    counts = A * sums.R
    fit = sums.log_likelihood + float(counts.sum(axis=1) @ top[:, 0])
    bound = fit - divergence(shapes, rates, a, b)
    return VariationalStep(bound, a + counts, b + sums.s, fit)


def divergence(shapes: np.ndarray, rates: np.ndarray, a: float, b: float) -> float:
    """Σ KL(Gamma(a_kj, b_j) ‖ Gamma(a, b))."""
    from scipy.special import digamma, gammaln

    own = (shapes - a) * digamma(shapes) - gammaln(shapes) + gammaln(a)
    return float((own + a * np.log(rates / b) + shapes * (b - rates) / rates).sum())


def full_bound(
    W: np.ndarray, codes: np.ndarray, shapes: Any, rates: Any, a: float, b: float, shares: Any, mean_times: Any
) -> float:
    """F for any q(C), q(Z) and q(λ), term by term."""
    from scipy.special import digamma, gammaln, xlogy

    logs = mean_logs(shapes, rates)
    used = shares > 0.0
    log_W = np.log(W, where=W > 0.0, out=np.full(W.shape, -np.inf))
    rows = np.where(used, shares * (np.where(used, log_W, 0.0) + logs[codes]) - xlogy(shares, shares), 0.0).sum()
    means = shapes / rates
    times = (1.0 + np.log(mean_times) - mean_times * (W @ means.sum(axis=0))).sum()
    prior = (a * np.log(b) - gammaln(a) + (a - 1.0) * logs - b * means).sum()
    entropy = (shapes - np.log(rates) + gammaln(shapes) + (1.0 - shapes) * digamma(shapes)).sum()
    return float(rows + times + prior + entropy)


def best_latent(W: np.ndarray, codes: np.ndarray, shapes: Any, rates: Any) -> tuple[np.ndarray, np.ndarray]:
    """The best q(C) and ⟨Z⟩ of the best q(Z) given q(λ), for `full_bound`."""
    logs = mean_logs(shapes, rates)[codes]
    shares = W * np.exp(logs - logs.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    return shares, 1.0 / (W @ (shapes / rates).sum(axis=0))
