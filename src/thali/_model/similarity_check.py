"""Predictive check of measured similarities, of any model that fits them."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from thali._inference.index_arithmetic import iterate_slices
from thali._inference.random_seeds import RandomSeed, spawn_generators
from thali._posterior.posterior_interval import compute_interval

from .predictive_check import ROWS, SIMILARITY, select_draws

if TYPE_CHECKING:
    import pandas

    from thali._data.similarities import Similarities

# (draw indices, first, second) -> fitted similarities, (draws, pairs)
FitPairs = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def check_similarities(
    data: "Similarities", fit_pairs: FitPairs, sigma: np.ndarray, random_seed: RandomSeed, ci: float
) -> "pandas.DataFrame":
    """Return a table of measured similarities against replicates, as `check` describes it.

    `sigma` contains the standard deviation of one judgement at every draw.
    """
    import pandas as pd
    from scipy.special import ndtr
    from scipy.stats import chi2

    from thali._exportable_table import Table

    labels = np.array(data.labels)
    first_objects = data.first
    second_objects = data.second
    similarities = data.values
    judgements = data.judgements
    draw_indices = select_draws(len(sigma), len(first_objects))
    rng = spawn_generators(random_seed, 1)[0]
    sigma = sigma[draw_indices]

    table_columns = []
    squared_distances = np.zeros(len(draw_indices))
    for pair_slice in iterate_slices(len(similarities), len(draw_indices)):
        fitted = fit_pairs(draw_indices, first_objects[pair_slice], second_objects[pair_slice])
        residual_sd = sigma[:, None] / np.sqrt(judgements[pair_slice])
        z = (similarities[pair_slice] - fitted) / residual_sd
        squared_distances += (z**2).sum(axis=1)
        replicates = fitted + residual_sd * rng.standard_normal(fitted.shape)
        low, high = compute_interval(replicates, ci)
        probability_below = ndtr(z).mean(axis=0)
        outside_probability = (
            ndtr((low - fitted) / residual_sd) + ndtr((fitted - high) / residual_sd)
        ).mean(axis=0)
        predicted = fitted.mean(axis=0)
        p_value = 2.0 * np.minimum(probability_below, 1.0 - probability_below)
        table_columns.append((predicted, low, high, p_value, outside_probability))
    predicted, low, high, p_value, outside_probability = (
        np.concatenate(parts) for parts in zip(*table_columns, strict=True)
    )
    check_table = Table(
        pd.DataFrame(
            {
                "object": labels[first_objects].tolist(),
                "other": labels[second_objects].tolist(),
                "n": judgements,
                "observed": similarities,
                "predicted": predicted,
                "low": low,
                "high": high,
                "p_value": p_value,
                "missed": (similarities < low) | (similarities > high),
            }
        )
    ).sort_values("p_value", kind="stable", ignore_index=True)
    overall_p_value = float(chi2.sf(squared_distances, len(similarities)).mean())
    check_table.attrs |= {
        "p_value": overall_p_value,
        "interval": ci,
        "expected_missed": float(outside_probability.sum()),
    }
    check_table.attrs |= {"draws": len(draw_indices), ROWS: SIMILARITY}
    return check_table
