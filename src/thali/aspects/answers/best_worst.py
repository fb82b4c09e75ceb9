"""What draws say about best-worst choices: the likelihood of every set, and how often each option is named."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali.data.kinds import BEST_WORST

from ..likelihoods.best_worst import (
    answer_counts,
    answer_probabilities,
    log_coefficients_of_answers,
    possible_answers,
)
from .choices import as_counts
from .columns import Columns
from .pair_coordinates import pair_names
from .probabilities import probability_draws
from .tree import MAX_PAIRS, DataPart

if TYPE_CHECKING:
    from thali.data.choices import Choices


def answers_part(
    columns: Columns, data: "Choices", shape: tuple[int, int], dense: bool, *, lapse: float, rule: str
) -> DataPart:
    """The part of a posterior that knows of best-worst choices."""
    labels = np.asarray(data.labels, dtype=str)
    answers, counts = possible_answers(data.start), answer_counts(data)
    coefficients = log_coefficients_of_answers(counts, answers)
    variables: dict[Any, Any] = {
        "unique_weights": (("chain", "draw", "option"), columns.unique_weights.reshape(*shape, -1))
    }
    coordinates, pointwise = {}, {}
    if dense:
        i, j = np.triu_indices(data.n_options, k=1)
        variables["choice_probability"] = (
            ("chain", "draw", "pair"),
            probability_draws(columns, i, j, lapse).reshape(*shape, -1),
        )
        coordinates = pair_names(labels)
    if len(counts) <= MAX_PAIRS:
        from scipy.special import xlogy

        probability = answer_probabilities(columns.unique_weights, data.start, data.members, lapse, rule)
        terms = np.add.reduceat(xlogy(counts, probability), answers.start[:-1], axis=1) + coefficients
        pointwise = {"chosen": (("chain", "draw", "set"), terms.reshape(*shape, -1))}
    names = np.array([", ".join(members) for members in data.sets], dtype=str)
    return DataPart(
        kind=BEST_WORST,
        log_constant=float(coefficients.sum()),
        descriptions={"choice_probability": "probability that the first of a pair is chosen, lapse included"},
        variables=variables,
        coordinates=coordinates,
        observed={"chosen": ("answer", as_counts(counts))},
        constants={
            "set_size": ("set", data.sizes),
            "member": ("place", data.members),
            "log_multinomial_coefficient": ("set", coefficients),
            "lapse": float(lapse),
            "unique": True,
            "best_worst": rule,
        },
        pointwise=pointwise,
        observed_coordinates={"set": names},
    )
