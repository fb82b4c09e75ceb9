"""Whether a learned standard deviation of the similarities makes sense."""

from typing import TYPE_CHECKING

import numpy as np

from .similarities import judgements_of

if TYPE_CHECKING:
    import xarray

LEAST, MOST = 0.1, 0.7  # of the standard deviation of the similarities


def noise_sentence(tree: "xarray.DataTree") -> str:
    """A sentence about a learned sigma far from that of usual judgements; empty if it is not far or was not learned.

    Few similarities say little about their own precision: noise alone explains them as well, or a feature for nearly
    every pair.
    """
    if not tree["constant_data"].dataset.get("learned_sigma", False):
        return ""
    judgements = judgements_of(tree)
    learned = float(tree["posterior"].dataset["sigma"].mean())
    sigma = learned * float(np.sqrt(np.mean(1.0 / judgements)))  # of a typical similarity
    similarities = tree["observed_data"].dataset["similarity"].values
    spread = float(np.std(similarities))
    if np.ptp(similarities) == 0.0 or LEAST <= sigma / spread <= MOST:
        return ""
    if sigma < LEAST * spread:
        meaning = "the features explain the noise as well"
        mend = "so few judgements say little about their precision, so give sigma if you know it"
    else:
        meaning = "the features explain little"
        mend = "give sigma if you know it, or a weight_prior whose mean suits the scale of the similarities"
    share = f"{100 * sigma / spread:.3g} % of the standard deviation of the similarities"
    if (judgements != 1).any():
        share = f"by the numbers of judgements {share}"
    return f"sigma was learned as {learned:.2g}, {share}: {meaning}; {mend}."
