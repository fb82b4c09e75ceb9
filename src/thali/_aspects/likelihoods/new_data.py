"""New data of a design, drawn at the features and weights of one draw."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from thali._data.choices import Choices
    from thali._data.pairs import PairedComparisons
    from thali._data.similarities import Similarities
    from thali._data.triplets import Triplets

    from ..draws.columns import FeatureColumns


class NewData(NamedTuple):
    """What a likelihood's `new_data` returns."""

    data: Any  # as `fit` takes them
    observed: dict[str, np.ndarray]  # under the names of the group observed_data
    log_likelihood: float  # of the new data, no constant left out


def new_answers(
    data: "PairedComparisons | Choices | Triplets", p: np.ndarray, ties: bool, rng: np.random.Generator
) -> NewData:
    """Every question is asked as often as in the data: Multinomial(n, p)."""
    asked = data.questions(ties)
    counts = asked.drawn(p, rng)
    found = asked.with_counts(counts).log_likelihoods(p).sum()
    return NewData(data.with_answers(counts), {"chosen": counts}, float(found))


def new_similarities(
    columns: "FeatureColumns", data: "Similarities", constant: Any, sigma: Any, rng: np.random.Generator
) -> NewData:
    """Every measured pair is measured again, by as many judgements: Normal(μ, sigma² / n)."""
    from ..draws.similarities import similarity_draws

    fitted = similarity_draws(columns, constant, data.first, data.second)[0]
    noise = rng.standard_normal(fitted.size)
    deviations = sigma / np.sqrt(data.judgements)
    values = fitted + deviations * noise
    found = -0.5 * float(noise @ noise) - float(np.log(deviations * np.sqrt(2.0 * np.pi)).sum())
    return NewData(data.with_values(values), {"similarity": values}, found)
