"""The posterior predictive check of similarities: which of them does the model miss?"""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali._inference.seeds import streams
from thali._posterior.interval import tails_of
from thali._posterior.view import Posterior

from ..draws.columns import columns_of
from ..draws.similarities import similarity_draws
from .check import ROWS, SIMILARITY, blocks, spaced_draws

if TYPE_CHECKING:
    import pandas


def similarity_check_table(posterior: Posterior, random_seed: Any, ci: float) -> "pandas.DataFrame":
    """Each measured similarity against replicates by the fitted model, s_rep ~ Normal(mu, sigma² / n).

    p_value = 2 min(P(s_rep < s), P(s_rep > s)), the probabilities of each draw averaged; overall it is
    P(sum (s_rep - mu)² n / sigma² >= sum (s - mu)² n / sigma²), where the left sum has a chi-square distribution.
    """
    import pandas as pd
    from scipy.special import ndtr
    from scipy.stats import chi2

    from thali._tables import Table

    labels, (first, second) = np.array(posterior.labels), posterior.pairs
    observed, judgements = posterior.similarities, posterior.judgements
    every = columns_of(posterior)
    draws = spaced_draws(every.n_draws, len(first))
    columns, rng = every.take(draws), streams(random_seed, 1)[0]
    own, sigma = posterior.constant[draws], posterior.sigma[draws]

    rows, squares = [], np.zeros(len(draws))
    for pairs in blocks(len(observed), len(draws)):
        mu = similarity_draws(columns, own, first[pairs], second[pairs])
        deviation = sigma[:, None] / np.sqrt(judgements[pairs])
        distance = (observed[pairs] - mu) / deviation
        squares += (distance**2).sum(axis=1)
        replicates = mu + deviation * rng.standard_normal(mu.shape)
        low, high = np.quantile(replicates, tails_of(ci), axis=0)
        below = ndtr(distance).mean(axis=0)
        outside = (ndtr((low - mu) / deviation) + ndtr((mu - high) / deviation)).mean(axis=0)
        predicted, p_value = mu.mean(axis=0), 2.0 * np.minimum(below, 1.0 - below)
        rows.append((predicted, low, high, p_value, outside))
    predicted, low, high, p_value, outside = (np.concatenate(parts) for parts in zip(*rows, strict=True))
    frame = Table(
        pd.DataFrame(
            {
                "object": labels[first].tolist(),
                "other": labels[second].tolist(),
                "n": judgements,
                "observed": observed,
                "predicted": predicted,
                "low": low,
                "high": high,
                "p_value": p_value,
                "missed": (observed < low) | (observed > high),
            }
        )
    ).sort_values("p_value", kind="stable", ignore_index=True)
    overall = float(chi2.sf(squares, len(observed)).mean())
    frame.attrs |= {"p_value": overall, "interval": ci, "expected_missed": float(outside.sum())}
    frame.attrs |= {"draws": len(draws), ROWS: SIMILARITY}
    return frame
