"""Results of similarities of objects: quantities, predictions and the predictive check."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.kinds import SIMILARITIES
from thali._data.similarities import Similarities
from thali._inference.indexing import iterate_slices
from thali._inference.seeds import spawn_generators
from thali._model.predictive_check import ROWS, SIMILARITY, select_draws
from thali._posterior.convergence import Advice
from thali._posterior.interval import compute_interval
from thali._posterior.view import Posterior
from thali.errors import Setting

from ..draws.feature_columns import read_columns
from ..draws.similarities import compute_similarities, read_similarities
from .data_kind_checks import require_data_kind, requires_choices_error
from .matched_features import choose_similar, space_indices
from .posterior_results import PosteriorResults
from .quantities import Quantities, advise_tempering, count_temperatures, presence_quantities

if TYPE_CHECKING:
    import pandas

# Limits of the pairs for which convergence is checked: objects, pairs (minimum and maximum), and
# numbers per quantity.
MAX_CHECKED_OBJECTS, CHECKED_PAIRS, MAX_CHECKED_NUMBERS = 40, (20, 200), 1e7


class ObjectResults(PosteriorResults):
    """Base of results of comparisons of objects: similarities or triplets."""

    def agreement_quantities(self) -> Quantities:
        """Return draws of similarities of evenly spaced pairs, whose convergence is checked."""
        return (
            pair_quantities_by_name(self.posterior, "similarity", self._compute_similarity)
            | self.owner_quantities()
        )

    def owner_quantities(self) -> Quantities:
        """Return draws of shared features of evenly spaced pairs, by row name."""
        return pair_quantities_by_name(
            self.posterior, "shared_features", self._count_shared_features
        )

    def is_agreement_row(self, row_name: str) -> bool:
        # with many objects, features are matched, and the pairs show whether chains agree on them
        """Return whether the convergence check includes a summary row."""
        return choose_similar(self.posterior.n_options) is None or not row_name.startswith(
            ("presence[", "weight[")
        )

    def _compute_similarity(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Return the fitted similarity of pairs, shape (n_draws, n_pairs)."""
        raise NotImplementedError

    def _count_shared_features(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Count the features that both objects of a pair own, (n_draws, n_pairs)."""
        raise NotImplementedError


class SimilarityResults(ObjectResults):
    """Results of a posterior fitted to similarities of pairs of objects."""

    def _get_kind_quantities(self) -> Quantities:
        """Return draws of `sigma`, `constant` and feature presence, by row name."""
        posterior, rows = self.posterior, {}
        if posterior.learned_sigma:
            rows["sigma"] = posterior.sigma.reshape(posterior.shape)
        if posterior.has_constant:
            rows["constant"] = posterior.constant.reshape(posterior.shape)
        return rows | presence_quantities(posterior, sees_single=False)

    def count_features(self) -> Quantities:
        # features of a single object are drawn from the prior
        """Return draws of the number of features with at least two owners."""
        return {"n_shared_features": self.posterior.n_counted}

    def suggest_remedies(self) -> Advice:
        """Return remedies for chains of similarities that disagree."""
        tempering = (Setting("tempering", "auto"),)
        return advise_tempering(count_temperatures(self.posterior), tempering)

    def predict_held_out(self, held_out: Any) -> Any:
        """Return mean and sd of held-out similarities at every draw."""
        if not isinstance(held_out, Similarities):
            raise requires_choices_error(self.posterior, "A prediction of left-out data")
        return predict_similarity_draws(self.posterior, held_out)

    def _compute_similarity(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Return the fitted similarity of pairs plus constant, (n_draws, n_pairs)."""
        return compute_similarities(
            read_columns(self.posterior), self.posterior.constant, first, second
        )

    def _count_shared_features(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Count the features that both objects of a pair own, (n_draws, n_pairs)."""
        columns = read_columns(self.posterior)
        return compute_similarities(
            replace(columns, weights=np.ones_like(columns.weights)), 0.0, first, second
        )

    def check(self, random_seed: Any, ci: float) -> "pandas.DataFrame":
        """Return a table of measured similarities against replicates of the model.

        Replicates are s_rep ~ Normal(mu, sigma² / n), and p_value = 2 min(P(s_rep < s), P(s_rep >
        s)), with probabilities averaged over draws. The overall p-value is P(sum (s_rep - mu)² n /
        sigma² >= sum (s - mu)² n / sigma²), where the left sum has a chi-square distribution.
        """
        import pandas as pd
        from scipy.special import ndtr
        from scipy.stats import chi2

        from thali._result_table import Table

        posterior = self.posterior
        labels, (first_objects, second_objects) = np.array(posterior.labels), posterior.pairs
        observed, judgements = posterior.similarities, posterior.judgements
        all_columns = read_columns(posterior)
        draws = select_draws(all_columns.n_draws, len(first_objects))
        columns, rng = all_columns.take(draws), spawn_generators(random_seed, 1)[0]
        constant, sigma = posterior.constant[draws], posterior.sigma[draws]

        rows, squares = [], np.zeros(len(draws))
        for pairs in iterate_slices(len(observed), len(draws)):
            mu = compute_similarities(
                columns, constant, first_objects[pairs], second_objects[pairs]
            )
            deviation = sigma[:, None] / np.sqrt(judgements[pairs])
            distance = (observed[pairs] - mu) / deviation
            squares += (distance**2).sum(axis=1)
            replicates = mu + deviation * rng.standard_normal(mu.shape)
            low, high = compute_interval(replicates, ci)
            below = ndtr(distance).mean(axis=0)
            outside = (ndtr((low - mu) / deviation) + ndtr((mu - high) / deviation)).mean(axis=0)
            predicted, p_value = mu.mean(axis=0), 2.0 * np.minimum(below, 1.0 - below)
            rows.append((predicted, low, high, p_value, outside))
        predicted, low, high, p_value, outside = (
            np.concatenate(parts) for parts in zip(*rows, strict=True)
        )
        check_table = Table(
            pd.DataFrame(
                {
                    "object": labels[first_objects].tolist(),
                    "other": labels[second_objects].tolist(),
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
        check_table.attrs |= {
            "p_value": overall,
            "interval": ci,
            "expected_missed": float(outside.sum()),
        }
        check_table.attrs |= {"draws": len(draws), ROWS: SIMILARITY}
        return check_table

    def data(self) -> Any:
        """Return the fitted `Similarities`."""
        return read_similarities(self.posterior)

    def share_explained(self) -> float:
        """Return 1 - Σ (s - fitted)² / Σ (s - mean of s)²; NaN if all are equal."""
        measured = self.data()
        residuals = measured.values - predict_similarity_draws(self.posterior, measured)[0].mean(
            axis=(0, 1)
        )
        if np.ptp(measured.values) == 0.0:
            return math.nan
        deviations = measured.values - measured.values.mean()
        return 1.0 - float((residuals**2).sum() / (deviations**2).sum())


# Pairs for which convergence is checked -----------------------------------------------------------


def select_spaced_pairs(posterior: Posterior) -> tuple[np.ndarray, np.ndarray]:
    """Return object indices of evenly spaced pairs, fewer if there are many draws."""
    objects = space_indices(posterior.n_options, MAX_CHECKED_OBJECTS)
    i, j = np.triu_indices(len(objects), 1)
    max_pairs = int(np.clip(MAX_CHECKED_NUMBERS / posterior.n_draws, *CHECKED_PAIRS))
    pair_indices = space_indices(len(i), max_pairs)
    return objects[i[pair_indices]], objects[j[pair_indices]]


def pair_quantities_by_name(
    posterior: Posterior, name: str, compute_draws: Callable[[np.ndarray, np.ndarray], np.ndarray]
) -> Quantities:
    """Return draws of rows `name[a, b]` for evenly spaced pairs of objects.

    `compute_draws` computes a number per draw and pair, (draws, pairs). Unlike the presence of an
    owner set, these rows suit any number of objects.
    """
    labels, (first_objects, second_objects) = posterior.labels, select_spaced_pairs(posterior)
    draws = compute_draws(first_objects, second_objects).T.reshape(-1, *posterior.shape)
    row_names = (
        f"{name}[{labels[i]}, {labels[j]}]"
        for i, j in zip(first_objects, second_objects, strict=True)
    )
    return dict(zip(row_names, draws, strict=True))


def predict_similarity_draws(
    posterior: Posterior, data: "Similarities"
) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and sd of each measured similarity, (n_chains, n_draws, n_pairs)."""
    posterior = require_data_kind(SIMILARITIES, posterior, "a predicted similarity")
    mean = compute_similarities(
        read_columns(posterior), posterior.constant, data.first, data.second
    )
    deviation = posterior.sigma[:, None] / np.sqrt(data.judgements)
    return mean.reshape(*posterior.shape, -1), deviation.reshape(*posterior.shape, -1)
