"""What draws say about choices out of sets: choice probabilities, and the likelihood of every set."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali.data.kinds import CHOICES

from ..draws.counts import log_coefficients
from ..likelihoods.set_draws import set_probability_draws
from .choices import as_counts
from .columns import Columns
from .pair_coordinates import pair_names
from .probabilities import probability_draws
from .tree import MAX_PAIRS, DataPart

if TYPE_CHECKING:
    from thali.data.choices import Choices


def sets_part(
    columns: Columns, data: "Choices", shape: tuple[int, int], dense: bool, *, lapse: float, unique: bool
) -> DataPart:
    """The part of a posterior that knows of choices out of sets."""
    labels = np.asarray(data.labels, dtype=str)
    coefficients = log_coefficients(data)
    variables: dict[Any, Any] = {
        "unique_weights": (("chain", "draw", "option"), columns.unique_weights.reshape(*shape, -1))
    }
    coordinates, pointwise = {}, {}
    names = np.array([", ".join(members) for members in data.sets], dtype=str)
    offered, alternative = names[data.set_of], labels[data.members]
    if dense:
        i, j = np.triu_indices(data.n_options, k=1)
        probability = probability_draws(columns, i, j, lapse)
        variables["choice_probability"] = (("chain", "draw", "pair"), probability.reshape(*shape, -1))
        coordinates = pair_names(labels)
    if len(data.members) <= MAX_PAIRS:
        probability = set_probability_draws(columns, data.start, data.members, lapse)
        variables["set_probability"] = (("chain", "draw", "place"), probability.reshape(*shape, -1))
        coordinates |= {
            "place": np.array([f"{one} | {of}" for one, of in zip(alternative, offered, strict=True)], dtype=str),
            "offered": ("place_number", offered),  # a separate dimension, as that of `option_a`
            "alternative": ("place_number", alternative),
        }
        chosen = np.flatnonzero(data.counts)  # at least one of each set, set after set
        with np.errstate(divide="ignore"):  # a probability of 0
            terms = data.counts[chosen] * np.log(probability[:, chosen])
        terms = np.add.reduceat(terms, np.searchsorted(chosen, data.start[:-1]), axis=1) + coefficients
        pointwise = {"chosen": (("chain", "draw", "set"), terms.reshape(*shape, -1))}
    return DataPart(
        kind=CHOICES,
        log_constant=float(coefficients.sum()),
        descriptions={
            "choice_probability": "probability that the first of a pair is chosen, lapse included",
            "set_probability": "probability that the alternative is chosen out of those offered, lapse included",
        },
        variables=variables,
        coordinates=coordinates,
        observed={"chosen": ("place", as_counts(data.counts))},
        constants={
            "set_size": ("set", data.sizes),
            "member": ("place", data.members),
            "log_multinomial_coefficient": ("set", coefficients),
            "lapse": float(lapse),
            "unique": bool(unique),
        },
        pointwise=pointwise,
        observed_coordinates={"set": names, "offered": ("place", offered), "alternative": ("place", alternative)},
    )
