"""Prior means that a joint-distribution test finds again, and the limit of its scores."""

import math

import numpy as np

# Some 120 scores in all: |z| < 5.4 in every one has a false alarm below 1e-5.
LIMIT = 5.4


HEAVY = math.exp(-1.0)  # share of exponential weights above 1


def buffet_means(n, unique, mean_weight=1.0, heavy=HEAVY):
    """Prior means under the Indian buffet process with alpha ~ Gamma(1, 1)."""
    h = float(np.sum(1.0 / np.arange(1, n + 1)))
    return {
        "alpha": 1.0,
        "1 / (1 + alpha)": 0.596347362323194,
        "columns": h,
        "single": 1.0,
        "pairs": 0.5,
        "owned by 0": 1.0,
        "shared weight": mean_weight * (h - 1.0 - 1.0 / n),
        "heavy": heavy * (h - 1.0 - 1.0 / n),
        "unique weight": unique,
    }
