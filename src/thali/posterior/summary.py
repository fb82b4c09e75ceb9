"""Means, intervals and diagnostics of quantities that were drawn."""

from typing import TYPE_CHECKING

import numpy as np

from .diagnostics import MIN_DRAWS, bulk_and_r_hat, mean_mcse, tail_ess
from .interval import INTERVAL, INTERVAL_COLUMNS

if TYPE_CHECKING:
    import pandas


def summary_table(quantities: dict[str, np.ndarray]) -> "pandas.DataFrame":
    """Mean, interval, Monte Carlo error and convergence diagnostics of quantities that were drawn.

    One row a quantity. The columns are those of ArviZ: `mean`, `sd`, `eti89_lb` and `eti89_ub` (equal-tailed interval
    with probability .89), `mcse_mean` (standard error of the mean), `ess_bulk` and `ess_tail` (effective sample sizes;
    the latter at the quantiles .11 and .89, ArviZ's default), `r_hat` (Vehtari, Gelman, Simpson, Carpenter & Bürkner
    2021). The last is NaN for a quantity that never changes, for a single chain, and for fewer than 4 draws.
    `attrs["chains"]` and `attrs["draws"]` say how many there were.

    Examples
    --------
    >>> import numpy as np
    >>> frame = summary_table({"eta": np.array([[1.0, 2.0, 1.5, 1.5], [2.0, 1.0, 1.5, 1.5]])})
    >>> float(frame.loc["eta", "mean"])
    1.5
    """

    from thali._tables import Table

    draws = np.stack(list(quantities.values())).astype(float)
    frame = Table(_columns(draws), index=list(quantities))
    frame.attrs.update(chains=draws.shape[1], draws=draws.shape[2])
    return frame


def mean_errors(draws: np.ndarray) -> np.ndarray:
    """Monte Carlo standard error of the mean of each quantity, from its effective sample size."""
    errors = np.full(len(draws), np.nan)
    if draws.shape[2] >= MIN_DRAWS:
        varying = np.ptp(draws, axis=(1, 2)) > 0
        errors[~varying], errors[varying] = 0.0, mean_mcse(draws[varying])
    return errors


def _columns(draws: np.ndarray) -> dict[str, np.ndarray]:
    """The columns of the summary for draws (quantity, chain, draw)."""
    constant = np.ptp(draws, axis=(1, 2)) == 0
    outside = (1 - INTERVAL) / 2
    low, high = np.quantile(draws.reshape(len(draws), -1), [outside, 1 - outside], axis=1)
    ess, r_hat = bulk_and_r_hat(draws)
    columns = {
        "mean": draws.mean(axis=(1, 2)),
        "sd": draws.std(axis=(1, 2), ddof=1) if draws[0].size > 1 else np.full(len(draws), np.nan),
        INTERVAL_COLUMNS[0]: low,
        INTERVAL_COLUMNS[1]: high,
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
    ends = zip(rows["mean"], *(rows[name] for name in INTERVAL_COLUMNS), strict=True)
    texts = [f"{mean:.4g} ({100 * INTERVAL:.0f} % interval {low:.4g} to {high:.4g})" for mean, low, high in ends]
    return tuple(zip(map(str, rows.index), texts, strict=True))


def convergence(draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Bulk effective sample size and R-hat of each quantity; NaN for those that never change."""
    ess, r_hat = np.full((2, len(draws)), np.nan)
    varying = np.ptp(draws, axis=(1, 2)) > 0 if draws.size else np.zeros(0, bool)
    if varying.any():
        ess[varying], r_hat[varying] = bulk_and_r_hat(draws[varying])
    return ess, r_hat
