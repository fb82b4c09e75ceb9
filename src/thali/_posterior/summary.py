"""Means, intervals and diagnostics of quantities that were drawn.

The diagnostics are those of arviz-stats, to twelve digits, for all quantities at once. They stand
here because every fit needs them for its convergence check, and loading arviz-stats took a third of
a short fit.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._digits import format_number
from thali._inference.numerics.ranks import twice_ranks

from .interval import INTERVAL, interval_columns, interval_name, tails_of

if TYPE_CHECKING:
    import pandas


MIN_DRAWS = 4  # of a chain, below which nothing is defined
_BLOCK = 2**19  # numbers that are looked at together


def bulk_and_r_hat(draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    r"""Bulk effective sample size, and R-hat, of rank-normalised draws of split chains.

    R-hat is the larger one of the draws and of their distances from the median ("folded"). With B
    the variance of the means of the n draws of the half chains, times n, and W the mean of their
    variances:

    .. math:: \hat R = \sqrt{\frac{B / W + n - 1}{n}}
    """
    ess, r_hat = _of_defined(_bulk_and_r_hat, draws, 2)
    return ess, r_hat


def tail_ess(draws: np.ndarray, probability: float) -> np.ndarray:
    """The smaller effective sample size of the two quantiles `probability` and 1 - `probability`,
    by quantity.

    Draws (quantity, chain, draw); NaN for fewer than 4 draws and for quantities that are NaN
    somewhere.
    """

    def of_block(block: np.ndarray) -> np.ndarray:
        ends = np.quantile(
            block.reshape(len(block), -1), sorted((probability, 1 - probability)), axis=1
        )
        low, high = (_ess(_halves((block <= end[:, None, None]).astype(float))) for end in ends)
        return np.minimum(low, high)

    return _of_defined(of_block, draws)[0]


def mean_ess(draws: np.ndarray) -> np.ndarray:
    """Effective sample size of the mean, by quantity; draws and NaN as for `tail_ess`."""
    return _of_defined(lambda block: _ess(_halves(block)), draws)[0]


def mean_mcse(draws: np.ndarray) -> np.ndarray:
    """Monte Carlo standard error of the mean, by quantity; draws and NaN as for `tail_ess`."""

    def of_block(block: np.ndarray) -> np.ndarray:
        return block.reshape(len(block), -1).std(axis=1, ddof=1) / np.sqrt(_ess(_halves(block)))

    return _of_defined(of_block, draws)[0]


def _of_defined(
    function: Callable[[np.ndarray], Any], draws: np.ndarray, rows: int = 1
) -> np.ndarray:
    """Rows of numbers, one a quantity, computed for some quantities at a time; NaN where they are
    not defined."""
    draws = np.asarray(draws, dtype=float)
    found = np.full((rows, len(draws)), np.nan)
    if draws.shape[1] > 0 and draws.shape[2] >= MIN_DRAWS:
        defined = np.flatnonzero(~np.isnan(draws).any(axis=(1, 2)))
        step = max(1, _BLOCK // draws[0].size) if len(draws) else 1
        # chains that never change, infinite draws
        with np.errstate(invalid="ignore", divide="ignore"):
            for start in range(0, len(defined), step):
                some = defined[start : start + step]
                found[:, some] = function(draws[some])
    return found


def _bulk_and_r_hat(draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    halves = _halves(draws)
    scores = _normal_scores(halves)
    ess = _ess(scores)
    if draws.shape[1] < 2:
        return ess, np.full(len(draws), np.nan)
    bulk = _r_hat(scores)
    middle = np.median(halves.reshape(len(halves), -1), axis=1)
    folded = _r_hat(_normal_scores(np.abs(halves - middle[:, None, None])))
    # the distances may be all the same, with an R-hat of NaN
    return ess, np.where(folded > bulk, folded, bulk)


def _halves(draws: np.ndarray) -> np.ndarray:
    """The first and the second halves of all chains as chains; of an odd number of draws the middle
    one is left out."""
    half = draws.shape[2] // 2
    return np.concatenate([draws[:, :, :half], draws[:, :, -half:]], axis=1)


def _normal_scores(draws: np.ndarray) -> np.ndarray:
    """The normal quantile of (r - 3/8) / (S + 1/4) for each draw, of rank r among the S draws of a
    quantity."""
    from scipy.special import ndtri

    flat = draws.reshape(len(draws), -1)
    size = flat.shape[1]
    ranks = np.arange(2, 2 * size + 1) / 2.0  # all that there can be
    scores = ndtri((ranks - 3 / 8) / (size - 2 * (3 / 8) + 1))[twice_ranks(flat)]
    scores[np.isnan(flat)] = np.nan
    return scores.reshape(draws.shape)


def _r_hat(chains: np.ndarray) -> np.ndarray:
    """R-hat of chains as they are."""
    n = chains.shape[2]
    between = n * chains.mean(axis=2).var(axis=1, ddof=1)
    within = chains.var(axis=2, ddof=1).mean(axis=1)
    return np.sqrt((between / within + n - 1) / n)


def _ess(chains: np.ndarray) -> np.ndarray:
    """Effective sample size of the mean of chains as they are, by Geyer's initial monotone
    sequence."""
    quantities, m, n = chains.shape
    # A mean over the last axis adds in the order in which arviz-stats does, so that no pair below
    # changes its sign.
    covariance = np.ascontiguousarray(_autocovariance(chains).swapaxes(1, 2)).mean(axis=2)
    within = covariance[:, :1] * n / (n - 1.0)
    total = within * (n - 1.0) / n
    if m > 1:
        total += chains.mean(axis=2).var(axis=1, ddof=1)[:, None]
    correlation = 1.0 - (within - covariance) / total
    correlation[:, 0] = 1.0
    # at an even lag, and at the next
    lags = correlation[:, : n // 2 * 2].reshape(quantities, -1, 2)
    pairs = lags.sum(axis=2)
    # As many pairs are added as have a positive sum from the first on; the last two or three lags
    # are left out.
    room = max(0, (n - 3) // 2)
    positive = np.logical_and.accumulate(pairs[:, :room] > 0.0, axis=1)
    count = positive.sum(axis=1)
    falling = np.minimum.accumulate(pairs[:, :room], axis=1)
    time = -1.0 + 2.0 * np.where(positive, falling, 0.0).sum(axis=1)
    rows = np.arange(quantities)
    even = lags[rows, count, 0]  # the lag behind them, if it is positive or its pair is
    time += np.where((even > 0.0) | (pairs[rows, count] >= 0.0) | (count == 0), even, 0.0)
    size = m * n
    found = size / np.maximum(time, 1.0 / np.log10(size))
    found[np.isnan(correlation[:, 1])] = np.nan
    still = np.ptp(chains, axis=(1, 2)) < np.finfo(float).resolution
    return np.where(still, float(size), found)


def _autocovariance(chains: np.ndarray) -> np.ndarray:
    """At every lag, by Fourier transform."""
    n = chains.shape[2]
    size = find_fast_length(2 * n)
    spectrum = np.fft.rfft(chains - chains.mean(axis=2, keepdims=True), n=size, axis=2)
    spectrum *= np.conjugate(spectrum)
    return np.fft.irfft(spectrum, n=size, axis=2)[:, :, :n] / n


def find_fast_length(least: int) -> int:
    """The smallest product of powers of 2, 3 and 5 that is no smaller."""
    best = 2 ** (least - 1).bit_length()
    five = 1
    while five < best:
        three = five
        while three < best:
            rest = -(-least // three)
            best = min(best, three * 2 ** (rest - 1).bit_length())
            three *= 3
        five *= 5
    return best


# Means, intervals and diagnostics of quantities that were drawn -----------------------------------


def summary_table(quantities: dict[str, np.ndarray], ci: float = INTERVAL) -> "pandas.DataFrame":
    """Mean, interval, Monte Carlo error and convergence diagnostics of quantities that were drawn.

    One row a quantity. The columns are those of ArviZ: `mean`, `sd`, `eti89_lb` and `eti89_ub`
    (equal-tailed interval with probability `ci`, here .89), `mcse_mean` (standard error of the
    mean), `ess_bulk` and `ess_tail` (effective sample sizes; the latter at the quantiles .11 and
    .89, ArviZ's default), `r_hat` (Vehtari, Gelman, Simpson, Carpenter & Bürkner 2021). The last is
    NaN for a quantity that never changes, for a single chain, and for fewer than 4 draws.
    `attrs["chains"]` and `attrs["draws"]` say how many there were; `attrs["interval"]` is `ci`.

    Examples
    --------
    >>> import numpy as np
    >>> frame = summary_table({"eta": np.array([[1.0, 2.0, 1.5, 1.5], [2.0, 1.0, 1.5, 1.5]])})
    >>> float(frame.loc["eta", "mean"])
    1.5
    """

    from thali._tables import Table

    draws = np.stack(list(quantities.values())).astype(float)
    frame = Table(_columns(draws, ci), index=list(quantities))
    frame.attrs.update(chains=draws.shape[1], draws=draws.shape[2], interval=ci)
    return frame


def mean_errors(draws: np.ndarray) -> np.ndarray:
    """Monte Carlo standard error of the mean of each quantity, from its effective sample size."""
    errors = np.full(len(draws), np.nan)
    if draws.shape[2] >= MIN_DRAWS:
        varying = np.ptp(draws, axis=(1, 2)) > 0
        errors[~varying], errors[varying] = 0.0, mean_mcse(draws[varying])
    return errors


def _columns(draws: np.ndarray, ci: float) -> dict[str, np.ndarray]:
    """The columns of the summary for draws (quantity, chain, draw)."""
    constant = np.ptp(draws, axis=(1, 2)) == 0
    outside, _ = tails_of(ci)
    low, high = np.quantile(draws.reshape(len(draws), -1), [outside, 1 - outside], axis=1)
    ess, r_hat = bulk_and_r_hat(draws)
    columns = {
        "mean": draws.mean(axis=(1, 2)),
        "sd": draws.std(axis=(1, 2), ddof=1) if draws[0].size > 1 else np.full(len(draws), np.nan),
        **dict(zip(interval_columns(ci), (low, high), strict=True)),
        "mcse_mean": mean_mcse(draws),
        "ess_bulk": ess,
        "ess_tail": tail_ess(draws, INTERVAL),
        "r_hat": r_hat,
    }
    # The mean of a thousand equal numbers may differ from them in the last digit.
    columns["mean"][constant] = draws[constant, 0, 0]
    columns["sd"][constant] = columns["mcse_mean"][constant] = 0.0
    columns["r_hat"][constant] = np.nan
    return columns


def main_rows(summary: "pandas.DataFrame") -> tuple[tuple[str, str], ...]:
    """The first two rows of a summary in words, less those that never change.

    Examples
    --------
    >>> import numpy as np
    >>> main_rows(summary_table({"eta": np.array([[1.0, 2.0, 1.5, 1.5], [2.0, 1.0, 1.5, 1.5]])}))
    (('eta', '1.5 (89 % interval 1 to 2)'),)
    """
    rows = summary.head(2).query("sd != 0")
    ends = zip(rows["mean"], *(rows[name] for name in interval_columns()), strict=True)
    texts = [
        f"{format_number(mean)} ({interval_name()} {format_number(low)} to {format_number(high)})"
        for mean, low, high in ends
    ]
    return tuple(zip(map(str, rows.index), texts, strict=True))


def convergence(draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Bulk effective sample size and R-hat of each quantity; NaN for those that never change."""
    ess, r_hat = np.full((2, len(draws)), np.nan)
    varying = np.ptp(draws, axis=(1, 2)) > 0 if draws.size else np.zeros(0, bool)
    if varying.any():
        ess[varying], r_hat[varying] = bulk_and_r_hat(draws[varying])
    return ess, r_hat
