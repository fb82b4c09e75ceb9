"""Results of similarities of objects: quantities, what is predicted, and the posterior predictive
check."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.kinds import SIMILARITIES
from thali._data.similarities import Similarities
from thali._inference.seeds import spawn_generators
from thali._model.predictive_check import ROWS, SIMILARITY, select_draws, split_blocks
from thali._posterior.convergence import Advice
from thali._posterior.interval import tails_of
from thali._posterior.view import Posterior
from thali.errors import Setting

from ..draws.columns import columns_of
from ..draws.similarities import measured_similarities, similarity_draws
from .data_answers import DataAnswers
from .kind import not_of_choices, of_only
from .matched_features import similar_for
from .quantities import Quantities, of_presence, temperatures_of, tempered

if TYPE_CHECKING:
    import pandas

# Objects whose pairs chains are judged by, how many pairs at least and at most, and numbers that
# are looked at for each of their two quantities.
MAX_JUDGED_OBJECTS, JUDGED_PAIRS, MAX_JUDGED_NUMBERS = 40, (20, 200), 1e7


class ObjectResults(DataAnswers):
    """What is alike to people, who compare objects: chains are judged by what is reported of pairs,
    too."""

    def judged_besides(self) -> Quantities:
        return of_some_pairs(self.posterior, "similarity", self._similarity) | self.judged_owners()

    def judged_owners(self) -> Quantities:
        return of_some_pairs(self.posterior, "shared_features", self._shared)

    def judges(self, name: str) -> bool:
        # of many objects features are reported that were matched, of whatever owners, which pairs
        # show
        return similar_for(self.posterior.n_options) is None or not name.startswith(
            ("presence[", "weight[")
        )

    def _similarity(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """The similarity of pairs in each draw (draws, pairs)."""
        raise NotImplementedError

    def _shared(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """How many features, that the data depend on, both objects of each pair have in each draw
        (draws, pairs)."""
        raise NotImplementedError


class SimilarityResults(ObjectResults):
    """Similarities of objects, two at a time."""

    def _own_quantities(self) -> Quantities:
        """`sigma` and `constant` where they are learned, and `presence[a, b, ...]` of probable
        shared features."""
        posterior, own = self.posterior, {}
        if posterior.learned_sigma:
            own["sigma"] = posterior.sigma.reshape(posterior.shape)
        if posterior.has_constant:
            own["constant"] = posterior.constant.reshape(posterior.shape)
        return own | of_presence(posterior, sees_single=False)

    def counted_features(self) -> Quantities:
        # of a single object they are drawn from the prior
        return {"n_shared_features": self.posterior.n_counted}

    def remedies(self) -> Advice:
        to_temper = (Setting("tempering", "auto"),)
        return tempered(temperatures_of(self.posterior), to_temper)

    def left_out(self, part: Any) -> Any:
        if not isinstance(part, Similarities):
            raise not_of_choices(self.posterior, "A prediction of left-out data")
        return fitted_draws(self.posterior, part)

    def _similarity(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        return similarity_draws(columns_of(self.posterior), self.posterior.constant, first, second)

    def _shared(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        columns = columns_of(self.posterior)
        return similarity_draws(
            replace(columns, weights=np.ones_like(columns.weights)), 0.0, first, second
        )

    def check(self, random_seed: Any, ci: float) -> "pandas.DataFrame":
        return similarity_check_table(self.posterior, random_seed, ci)

    def data(self) -> Any:
        return measured_similarities(self.posterior)

    def share_explained(self) -> float:
        """1 - Σ (s - fitted)² / Σ (s - mean of s)² over the measured pairs; NaN where all are
        equal."""
        measured = self.data()
        residuals = measured.values - fitted_draws(self.posterior, measured)[0].mean(axis=(0, 1))
        if np.ptp(measured.values) == 0.0:
            return math.nan
        deviations = measured.values - measured.values.mean()
        return 1.0 - float((residuals**2).sum() / (deviations**2).sum())


# Pairs by which chains are judged -----------------------------------------------------------------


def some_pairs(posterior: Posterior) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of objects, evenly spaced, fewer of many draws."""
    objects = spread(posterior.n_options, MAX_JUDGED_OBJECTS)
    first, second = np.triu_indices(len(objects), 1)
    most = int(np.clip(MAX_JUDGED_NUMBERS / posterior.n_draws, *JUDGED_PAIRS))
    chosen = spread(len(first), most)
    return objects[first[chosen]], objects[second[chosen]]


def of_some_pairs(
    posterior: Posterior, name: str, draws_of: Callable[[np.ndarray, np.ndarray], np.ndarray]
) -> Quantities:
    """`name[a, b]` of some pairs, of which `draws_of` gives a number in each draw (draws, pairs).

    Unlike the presence of a feature with just these owners they are there for any number of
    objects.
    """
    labels, (first, second) = posterior.labels, some_pairs(posterior)
    drawn = draws_of(first, second).T.reshape(-1, *posterior.shape)
    named = (f"{name}[{labels[i]}, {labels[j]}]" for i, j in zip(first, second, strict=True))
    return dict(zip(named, drawn, strict=True))


def spread(number: int, most: int) -> np.ndarray:
    """Some of so many places, evenly spaced."""
    return np.unique(np.linspace(0, number - 1, min(number, most)).astype(int))


def fitted_draws(posterior: Posterior, data: "Similarities") -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of each measured similarity of these data, in every draw (chain,
    draw, pair)."""
    posterior = of_only(SIMILARITIES, posterior, "a predicted similarity")
    mean = similarity_draws(columns_of(posterior), posterior.constant, data.first, data.second)
    deviation = posterior.sigma[:, None] / np.sqrt(data.judgements)
    return mean.reshape(*posterior.shape, -1), deviation.reshape(*posterior.shape, -1)


def similarity_check_table(posterior: Posterior, random_seed: Any, ci: float) -> "pandas.DataFrame":
    """Each measured similarity against replicates by the fitted model, s_rep ~ Normal(mu, sigma² /
    n).

    p_value = 2 min(P(s_rep < s), P(s_rep > s)), the probabilities of each draw averaged; overall it
    is P(sum (s_rep - mu)² n / sigma² >= sum (s - mu)² n / sigma²), where the left sum has a
    chi-square distribution.
    """
    import pandas as pd
    from scipy.special import ndtr
    from scipy.stats import chi2

    from thali._tables import Table

    labels, (first, second) = np.array(posterior.labels), posterior.pairs
    observed, judgements = posterior.similarities, posterior.judgements
    every = columns_of(posterior)
    draws = select_draws(every.n_draws, len(first))
    columns, rng = every.take(draws), spawn_generators(random_seed, 1)[0]
    own, sigma = posterior.constant[draws], posterior.sigma[draws]

    rows, squares = [], np.zeros(len(draws))
    for pairs in split_blocks(len(observed), len(draws)):
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
    predicted, low, high, p_value, outside = (
        np.concatenate(parts) for parts in zip(*rows, strict=True)
    )
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
