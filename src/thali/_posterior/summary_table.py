"""Summary table of posterior draws: mean, interval, MCSE, ESS, R-hat.

The diagnostics equal those of arviz-stats to twelve digits, for all quantities in one call. They
are implemented here because every fit needs them for its convergence check, and loading arviz-stats
took a third of a short fit.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._inference.index_arithmetic import iterate_slices
from thali._inference.numerics.ranks import twice_ranks
from thali._number_format import format_number

from .posterior_interval import INTERVAL, describe_interval, interval_tails

if TYPE_CHECKING:
    import pandas


MIN_DRAWS = 4  # per chain, below which diagnostics are undefined
_BLOCK = 2**19  # numbers per block


def compute_ess_and_r_hat(draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    r"""Return bulk ESS and R-hat of draws (quantities, chains, draws), each (quantities,).

    R-hat is the maximum of two values, for the draws and for their distances from the median
    ("folded"). With B the variance of the means of the n draws of the half chains, times n, and W
    the mean of their variances:

    .. math:: \hat R = \sqrt{\frac{B / W + n - 1}{n}}
    """
    ess, r_hat = _apply_in_blocks(_compute_block_ess_and_r_hat, draws, 2)
    return ess, r_hat


def compute_tail_ess(draws: np.ndarray, probability: float) -> np.ndarray:
    """Return tail ESS: the smaller ESS of the quantiles `probability` and 1 - `probability`.

    Draws (quantity, chain, draw); NaN for fewer than 4 draws and for quantities with NaN.
    """

    def block_tail_ess(block: np.ndarray) -> np.ndarray:
        """Return the tail ESS of a block of quantities."""
        tail_quantiles = np.quantile(
            block.reshape(len(block), -1), sorted((probability, 1 - probability)), axis=1
        )
        low_ess, high_ess = (
            _compute_ess(_split_chains((block <= quantile[:, None, None]).astype(float)))
            for quantile in tail_quantiles
        )
        return np.minimum(low_ess, high_ess)

    return _apply_in_blocks(block_tail_ess, draws)[0]


def compute_mean_mcse(draws: np.ndarray) -> np.ndarray:
    """Return the Monte Carlo standard error of each quantity's mean."""

    def block_mcse(block: np.ndarray) -> np.ndarray:
        """Return the Monte Carlo errors of a block of quantities."""
        return block.reshape(len(block), -1).std(axis=1, ddof=1) / np.sqrt(
            _compute_ess(_split_chains(block))
        )

    return _apply_in_blocks(block_mcse, draws)[0]


def _apply_in_blocks(
    function: Callable[[np.ndarray], Any], draws: np.ndarray, n_rows: int = 1
) -> np.ndarray:
    """Apply a diagnostic to blocks of quantities that fit in memory; NaN for NaN draws."""
    # Returns an array (n_rows, quantities).
    draws = np.asarray(draws, dtype=float)
    diagnostics = np.full((n_rows, len(draws)), np.nan)
    if draws.size and draws.shape[2] >= MIN_DRAWS:
        defined_indices = np.flatnonzero(~np.isnan(draws).any(axis=(1, 2)))
        # constant chains and infinite draws
        with np.errstate(invalid="ignore", divide="ignore"):
            for block in iterate_slices(len(defined_indices), draws[0].size, _BLOCK):
                block_indices = defined_indices[block]
                diagnostics[:, block_indices] = function(draws[block_indices])
    return diagnostics


def _compute_block_ess_and_r_hat(draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return bulk ESS and R-hat of a block of quantities."""
    half_chains = _split_chains(draws)
    normal_scores = _rank_normalise(half_chains)
    ess = _compute_ess(normal_scores)
    if draws.shape[1] < 2:
        return ess, np.full(len(draws), np.nan)
    bulk_r_hat = _compute_r_hat(normal_scores)
    median = np.median(half_chains.reshape(len(half_chains), -1), axis=1)
    folded_r_hat = _compute_r_hat(_rank_normalise(np.abs(half_chains - median[:, None, None])))
    # distances may be constant, with an R-hat of NaN
    return ess, np.where(folded_r_hat > bulk_r_hat, folded_r_hat, bulk_r_hat)


def _split_chains(draws: np.ndarray) -> np.ndarray:
    """Split each chain into two halves, which count as chains."""
    half = draws.shape[2] // 2
    return np.concatenate([draws[:, :, :half], draws[:, :, -half:]], axis=1)


def _rank_normalise(draws: np.ndarray) -> np.ndarray:
    """Return normal quantiles of the ranks of draws, as for rank-normalised R-hat."""
    from scipy.special import ndtri

    flat_draws = draws.reshape(len(draws), -1)
    n_draws = flat_draws.shape[1]
    ranks = np.arange(2, 2 * n_draws + 1) / 2.0  # all possible ranks
    normal_scores = ndtri((ranks - 3 / 8) / (n_draws - 2 * (3 / 8) + 1))[twice_ranks(flat_draws)]
    normal_scores[np.isnan(flat_draws)] = np.nan
    return normal_scores.reshape(draws.shape)


def _compute_r_hat(chains: np.ndarray) -> np.ndarray:
    """Return R-hat from variances between and within these chains."""
    n = chains.shape[2]
    between_variance = n * chains.mean(axis=2).var(axis=1, ddof=1)
    within_variance = chains.var(axis=2, ddof=1).mean(axis=1)
    return np.sqrt((between_variance / within_variance + n - 1) / n)


def _compute_ess(chains: np.ndarray) -> np.ndarray:
    """Return the ESS of the mean, with Geyer's initial monotone sequence."""
    n_quantities, m, n = chains.shape
    # A mean over the last axis adds in the same order as arviz-stats, so that no pair below changes
    # its sign.
    covariance = np.ascontiguousarray(_compute_autocovariances(chains).swapaxes(1, 2)).mean(axis=2)
    within_variance = covariance[:, :1] * n / (n - 1.0)
    total_variance = within_variance * (n - 1.0) / n
    if m > 1:
        total_variance += chains.mean(axis=2).var(axis=1, ddof=1)[:, None]
    correlation = 1.0 - (within_variance - covariance) / total_variance
    correlation[:, 0] = 1.0
    # at an even lag, and at the next
    lag_pairs = correlation[:, : n // 2 * 2].reshape(n_quantities, -1, 2)
    pair_sums = lag_pairs.sum(axis=2)
    # Pairs are added until the first with a negative sum; the last two or three lags are dropped.
    n_pairs = max(0, (n - 3) // 2)
    is_positive = np.logical_and.accumulate(pair_sums[:, :n_pairs] > 0.0, axis=1)
    n_positive = is_positive.sum(axis=1)
    falling_sums = np.minimum.accumulate(pair_sums[:, :n_pairs], axis=1)
    correlation_time = -1.0 + 2.0 * np.where(is_positive, falling_sums, 0.0).sum(axis=1)
    row_indices = np.arange(n_quantities)
    # the next lag, if it is positive or its pair is
    next_correlation = lag_pairs[row_indices, n_positive, 0]
    correlation_time += np.where(
        (next_correlation > 0.0) | (pair_sums[row_indices, n_positive] >= 0.0) | (n_positive == 0),
        next_correlation,
        0.0,
    )
    n_draws = m * n
    ess = n_draws / np.maximum(correlation_time, 1.0 / np.log10(n_draws))
    ess[np.isnan(correlation[:, 1])] = np.nan
    is_constant = np.ptp(chains, axis=(1, 2)) < np.finfo(float).resolution
    return np.where(is_constant, float(n_draws), ess)


def _compute_autocovariances(chains: np.ndarray) -> np.ndarray:
    """Return the autocovariances of chains at every lag, by Fourier transform."""
    n = chains.shape[2]
    fft_length = find_fast_length(2 * n)
    spectrum = np.fft.rfft(chains - chains.mean(axis=2, keepdims=True), n=fft_length, axis=2)
    spectrum *= np.conjugate(spectrum)
    return np.fft.irfft(spectrum, n=fft_length, axis=2)[:, :, :n] / n


def find_fast_length(min_length: int) -> int:
    """Return the smallest length >= `min_length` with a fast Fourier transform."""
    best_length = 2 ** (min_length - 1).bit_length()
    power_of_5 = 1
    while power_of_5 < best_length:
        odd_factor = power_of_5
        while odd_factor < best_length:
            quotient = -(-min_length // odd_factor)
            best_length = min(best_length, odd_factor * 2 ** (quotient - 1).bit_length())
            odd_factor *= 3
        power_of_5 *= 5
    return best_length


# Tables of summaries ------------------------------------------------------------------------------


def build_summary(quantities: dict[str, np.ndarray], ci: float = INTERVAL) -> "pandas.DataFrame":
    """Build the summary table: one row per element of each quantity.

    The columns are those of ArviZ: `mean`, `sd`, `low` and `high` (equal-tailed interval with
    probability `ci`, in ArviZ `eti89_lb` and `eti89_ub`), `mcse_mean` (standard error of the mean),
    `ess_bulk` and
    `ess_tail` (effective sample sizes; the latter at the quantiles .11 and .89, ArviZ's default),
    `r_hat` (Vehtari, Gelman, Simpson, Carpenter & Bürkner 2021). `r_hat` is NaN for a constant
    quantity, for a single chain, and for fewer than 4 draws. `attrs["chains"]` and `attrs["draws"]`
    are the numbers of chains and draws; `attrs["interval"]` is `ci`.

    Examples
    --------
    >>> import numpy as np
    >>> frame = build_summary({"eta": np.array([[1.0, 2.0, 1.5, 1.5], [2.0, 1.0, 1.5, 1.5]])})
    >>> float(frame.loc["eta", "mean"])
    1.5
    """

    from thali._exportable_table import Table

    draws = np.stack(list(quantities.values())).astype(float)
    frame = Table(_compute_summary_columns(draws, ci), index=list(quantities))
    frame.attrs.update(chains=draws.shape[1], draws=draws.shape[2], interval=ci)
    return frame


def extend_summary(
    summary: "pandas.DataFrame", quantities: dict[str, np.ndarray]
) -> "pandas.DataFrame":
    """Append rows of these quantities to a summary table."""
    import pandas as pd

    if not quantities:
        return summary
    rows = pd.concat([summary, build_summary(quantities)])
    rows.attrs = summary.attrs
    return rows


def compute_mean_errors(draws: np.ndarray) -> np.ndarray:
    """Return Monte Carlo standard errors of means; 0 for constant quantities."""
    errors = np.full(len(draws), np.nan)
    if draws.shape[2] >= MIN_DRAWS:
        is_varying = np.ptp(draws, axis=(1, 2)) > 0
        errors[~is_varying], errors[is_varying] = 0.0, compute_mean_mcse(draws[is_varying])
    return errors


def _compute_summary_columns(draws: np.ndarray, ci: float) -> dict[str, np.ndarray]:
    """Return the summary's columns for draws (quantities, chains, draws)."""
    is_constant = np.ptp(draws, axis=(1, 2)) == 0
    tail_probability, _ = interval_tails(ci)
    low, high = np.quantile(
        draws.reshape(len(draws), -1), [tail_probability, 1 - tail_probability], axis=1
    )
    ess, r_hat = compute_ess_and_r_hat(draws)
    sd = np.full(len(draws), np.nan)
    if draws[0].size > 1:
        sd = draws.std(axis=(1, 2), ddof=1)
    columns = {
        "mean": draws.mean(axis=(1, 2)),
        "sd": sd,
        "low": low,
        "high": high,
        "mcse_mean": compute_mean_mcse(draws),
        "ess_bulk": ess,
        "ess_tail": compute_tail_ess(draws, INTERVAL),
        "r_hat": r_hat,
    }
    # The mean of equal numbers may differ from them in the last digit.
    columns["mean"][is_constant] = draws[is_constant, 0, 0]
    columns["sd"][is_constant] = columns["mcse_mean"][is_constant] = 0.0
    columns["r_hat"][is_constant] = np.nan
    return columns


def format_main_rows(summary: "pandas.DataFrame") -> tuple[tuple[str, str], ...]:
    """Format the first two varying rows of a summary as (name, text) pairs.

    Examples
    --------
    >>> import numpy as np
    >>> format_main_rows(
    ...     build_summary({"eta": np.array([[1.0, 2.0, 1.5, 1.5], [2.0, 1.0, 1.5, 1.5]])})
    ... )
    (('eta', '1.5 (89 % interval 1 to 2)'),)
    """
    rows = summary.head(2).query("sd != 0")
    means_and_ends = zip(rows["mean"], rows["low"], rows["high"], strict=True)
    texts = [
        f"{format_number(mean)} ({describe_interval()} {format_number(low)} to"
        f" {format_number(high)})"
        for mean, low, high in means_and_ends
    ]
    return tuple(zip(map(str, rows.index), texts, strict=True))


def compute_diagnostics(draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return bulk ESS and R-hat of each quantity; NaN if it is constant."""
    ess, r_hat = np.full((2, len(draws)), np.nan)
    if draws.size:
        is_varying = np.ptp(draws, axis=(1, 2)) > 0
        ess[is_varying], r_hat[is_varying] = compute_ess_and_r_hat(draws[is_varying])
    return ess, r_hat
