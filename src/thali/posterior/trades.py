"""How often replicas at neighbouring temperatures traded places."""

from typing import TYPE_CHECKING

import numpy as np

from thali.mcmc.tempering import LOWEST_RATE

if TYPE_CHECKING:
    import xarray


def trade_sentence(tree: "xarray.DataTree") -> str:
    """What is wrong with the ladder of temperatures, and what to do; empty if nothing is, or if there is no ladder.

    Parameters
    ----------
    tree : xarray.DataTree
        As `thali.posterior.store.to_datatree` makes it.

    Returns
    -------
    str
    """
    stats = tree["sample_stats"].dataset
    if "swap_rate" not in stats:
        return ""
    rates, temperatures = stats["swap_rate"].values, stats["temperature"].values
    if not np.isfinite(rates).any() or np.nanmin(rates) >= LOWEST_RATE:
        return ""
    chain, gap = np.unravel_index(np.nanargmin(rates), rates.shape)
    lower, upper = temperatures[chain, gap], temperatures[chain, gap + 1]
    return (
        f"Replicas at the temperatures {lower:.3g} and {upper:.3g} trade places in {100 * rates[chain, gap]:.2g} % of "
        f"trials (wanted: {100 * LOWEST_RATE:.0f} %), so that little comes down from the hot ones; raise tune, in "
        "which the ladder grows, or start it with more temperatures (tempering)."
    )
