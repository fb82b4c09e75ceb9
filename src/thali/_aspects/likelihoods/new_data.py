"""New data of a design, drawn at the features and weights of one draw."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali.errors import DataError

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


def new_pairs(
    columns: "FeatureColumns",
    data: "PairedComparisons",
    lapse: float,
    tie: float | None,
    beta: "np.ndarray | None",
    rng: np.random.Generator,
) -> NewData:
    """Every pair is compared as often as in the data: Binomial(n, p̃), or Multinomial(n, ...) with ties."""
    from ..draws.counts import log_binomial
    from ..draws.covariates import Lift
    from ..draws.probabilities import probability_draws

    cells, lift = data.cells, None if beta is None else Lift(beta, data.cells.x)
    p = probability_draws(columns, cells.first, cells.second, lapse, lift)[0]
    n = _whole(cells.wins + cells.losses + cells.tied)
    if tie is not None:
        from ..draws.counts import log_multinomial, outcomes

        found = outcomes(p, 1.0 - p, tie)
        wins, tied, losses = rng.multinomial(n, found).T.astype(float)
        new = data.with_cell_counts(wins, losses, tied)
        observed = {"wins": new.wins, "ties": new.tied}
        return NewData(new, observed, float(log_multinomial(wins, tied, losses, found).sum()))
    wins = rng.binomial(n, p).astype(float)
    losses = n - wins
    found = float(log_binomial(wins, losses, p).sum())
    new = data.with_cell_counts(wins, losses)
    return NewData(new, {"wins": new.wins}, found)


def new_choices(columns: "FeatureColumns", data: "Choices", lapse: float, rng: np.random.Generator) -> NewData:
    """Every set is offered as often as in the data: Multinomial(n, p̃)."""
    from scipy.special import xlogy

    from ..draws.counts import log_coefficients
    from .set_draws import set_probability_draws

    p = set_probability_draws(columns, data.start, data.members, lapse)[0]
    totals = _whole(np.add.reduceat(data.counts, data.start[:-1]))
    parts = np.split(p, data.start[1:-1])
    counts = np.concatenate([rng.multinomial(n, part) for n, part in zip(totals, parts, strict=True)]).astype(float)
    new = data.with_counts(counts)
    return NewData(new, {"chosen": counts}, float(log_coefficients(new).sum() + xlogy(counts, p).sum()))


def new_answers(
    columns: "FeatureColumns", data: "Choices", lapse: float, rule: str, rng: np.random.Generator
) -> NewData:
    """Best and worst of every set are chosen as often as in the data: Multinomial(n, P(b, w))."""
    from scipy.special import xlogy

    from thali._model.best_worst import answer_probabilities, log_coefficients_of_answers, possible_answers

    p = answer_probabilities(columns.unique_weights[:1], data.start, data.members, lapse, rule)[0]
    answers, totals = possible_answers(data.start), _whole(np.add.reduceat(data.counts, data.start[:-1]))
    parts = np.split(p, answers.start[1:-1])
    counts = np.concatenate([rng.multinomial(n, part) for n, part in zip(totals, parts, strict=True)]).astype(float)
    given = np.flatnonzero(counts)
    new = data.with_answers(answers.best[given], answers.worst[given], counts[given])
    found = float(log_coefficients_of_answers(counts, answers).sum() + xlogy(counts, p).sum())
    return NewData(new, {"chosen": counts}, found)


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


def new_triplets(
    columns: "FeatureColumns", data: "Triplets", link: str, constant: float, lapse: float, rng: np.random.Generator
) -> NewData:
    """Every set of pairs is answered as often as in the data: Multinomial(n, P)."""
    from scipy.special import xlogy

    from ..draws.counts import log_coefficients
    from ..draws.triplets import probabilities_of_draws

    p = probabilities_of_draws(columns, np.array([constant]), data.start, data.first, data.second, link, lapse)[0]
    totals = _whole(np.add.reduceat(data.counts, data.start[:-1]))
    counts = np.empty(len(p))
    for m in np.unique(data.sizes).tolist():  # all sets of a size at a time
        sets = np.flatnonzero(data.sizes == m)
        places = data.start[sets][:, None] + np.arange(m)
        counts[places] = rng.multinomial(totals[sets], p[places] / p[places].sum(axis=1, keepdims=True))
    new = data.with_counts(counts)
    return NewData(new, {"chosen": counts}, float(log_coefficients(new).sum() + xlogy(counts, p).sum()))


def _whole(counts: np.ndarray) -> np.ndarray:
    """Numbers of choices that can be simulated, as integers."""
    if (counts != np.floor(counts)).any():
        raise DataError(
            "Simulation requires integer numbers of choices, but these are weighted; give unweighted counts."
        )
    return counts.astype(np.int64)
