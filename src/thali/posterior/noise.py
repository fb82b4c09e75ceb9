"""Whether a learned standard deviation of the similarities makes sense."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import xarray

LEAST, MOST = 0.1, 0.7  # of the standard deviation of the similarities


def noise_sentence(tree: "xarray.DataTree") -> str:
    """What a learned sigma far from what judgements usually have says; empty if it is not far, or was not learned.

    With few pairs the similarities themselves tell little about their precision: they are explained as well by noise
    alone, or by a feature for nearly every pair.

    Parameters
    ----------
    tree : xarray.DataTree
        As `thali.posterior.store.to_datatree` makes it.

    Returns
    -------
    str
    """
    if not tree["constant_data"].dataset.get("learned_sigma", False):
        return ""
    sigma = float(tree["posterior"].dataset["sigma"].mean())
    spread = float(np.std(tree["observed_data"].dataset["similarity"].values))
    if not spread > 0.0 or LEAST <= sigma / spread <= MOST:
        return ""
    meaning = "the features explain the noise as well" if sigma < LEAST * spread else "the features explain little"
    return (
        f"sigma was learned as {sigma:.2g}, {100 * sigma / spread:.2g} % of the standard deviation of the similarities"
        f": that is, {meaning}. So few judgements hardly tell how precise they are; give sigma if you know it."
    )
