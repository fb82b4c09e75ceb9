"""Whether the standard deviation of the similarities makes sense where the user did not give it."""

from typing import TYPE_CHECKING

import numpy as np

from thali.errors import Message, Setting

from ..draws.similarities import judgements_of

if TYPE_CHECKING:
    import xarray

LEAST, MOST = 0.1, 0.7  # of the standard deviation of the similarities
USUAL = 0.45  # of it, near which similarities left out were predicted best on real data (benchmarks/learned_sigma.py)


def noise_sentence(tree: "xarray.DataTree", was_chosen: bool = False) -> Message | None:
    """A sentence about a sigma, learned or chosen by cross-validation, far from that of usual judgements; else None.

    Few similarities say little about their own precision: noise alone explains them as well, or a feature for nearly
    every pair.
    """
    was_learned = bool(tree["constant_data"].dataset.get("learned_sigma", False))
    if not was_learned and not was_chosen:
        return None
    judgements = judgements_of(tree)
    found = float(tree["posterior"].dataset["sigma"].mean())
    of_typical = float(np.sqrt(np.mean(1.0 / judgements)))
    similarities = tree["observed_data"].dataset["similarity"].values
    spread = float(np.std(similarities))
    share = found * of_typical / spread if np.ptp(similarities) > 0.0 else MOST
    if LEAST <= share <= MOST or (was_chosen and share < LEAST):
        return None
    judged = "by the numbers of judgements " if (judgements != 1).any() else ""
    how = "learned" if was_learned else "chosen by cross-validation"
    size = f"sigma was {how} as {found:.2g}, {judged}{100 * share:.3g} % of the standard deviation of the similarities"
    if share > MOST:
        return Message(
            f"{size}: the features explain little; give sigma if you know it, or a weight_prior whose mean suits the"
            " scale of the similarities."
        )
    return Message(
        f"{size}: the features explain the noise as well, because so few judgements say little about their precision;"
        " give sigma if you know it, or try ",
        Setting("sigma", float(f"{USUAL * spread / of_typical:.2g}")),
        ", near which similarities left out are predicted best as a rule.",
    )
