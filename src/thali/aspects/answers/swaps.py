"""Rates of swaps between neighbouring temperatures."""

from typing import TYPE_CHECKING

import numpy as np

from thali.errors import Argument, Message

from ..samplers.tempering import LOWEST_RATE

if TYPE_CHECKING:
    import xarray


def swap_sentence(tree: "xarray.DataTree") -> Message | None:
    """A sentence about a poor ladder of temperatures and its remedy; None if it is good or there is none."""
    stats = tree["sample_stats"].dataset
    if "swap_rate" not in stats:
        return None
    rates, temperatures = stats["swap_rate"].values, stats["temperature"].values
    if not np.isfinite(rates).any() or np.nanmin(rates) >= LOWEST_RATE:
        return None
    chain, gap = np.unravel_index(np.nanargmin(rates), rates.shape)
    lower, upper = temperatures[chain, gap], temperatures[chain, gap + 1]
    return Message(
        f"Replicas at the temperatures {lower:.3g} and {upper:.3g} are swapped in {100 * rates[chain, gap]:.2g} % "
        f"of trials (wanted: {100 * LOWEST_RATE:.0f} %), so that few states of hot replicas reach temperature 1; "
        "raise ",
        Argument("tune"),
        ", in which the ladder grows, or start it with more temperatures (",
        Argument("tempering"),
        ").",
    )
