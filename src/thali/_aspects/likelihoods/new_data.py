"""New data of a design, drawn at the features and weights of one draw."""

from typing import Any, NamedTuple

import numpy as np


class NewData(NamedTuple):
    """What a likelihood's `new_data` returns."""

    data: Any  # as `fit` takes them
    observed: dict[str, np.ndarray]  # under the names of the group observed_data
    log_likelihood: float  # of the new data, no constant left out


def new_answers(data: Any, p: np.ndarray, ties: bool, rng: np.random.Generator) -> NewData:
    """Every question of counted data is asked as often as in the data: Multinomial(n, p)."""
    asked = data.questions(ties)
    counts = asked.drawn(p, rng)
    found = asked.with_counts(counts).log_likelihoods(p).sum()
    return NewData(data.with_answers(counts), {"chosen": counts}, float(found))
