"""Results of similarities of objects: quantities, predictions and the predictive check."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.kinds import SIMILARITIES
from thali._data.similarities import Similarities
from thali._inference.index_arithmetic import iterate_slices
from thali._inference.random_seeds import spawn_generators
from thali._model.predictive_check import ROWS, SIMILARITY, select_draws
from thali._posterior.convergence_check import Advice
from thali._posterior.posterior_interval import compute_interval
from thali._posterior.posterior_tree import Posterior
from thali.errors import Setting

from ..draws.feature_columns import read_columns
from ..draws.fitted_similarities import compute_similarities, read_similarities
from .data_kind_checks import require_data_kind, requires_choices_error
from .matched_features import choose_similar, space_indices
from .posterior_results import PosteriorResults
from .summary_quantities import (
    Quantities,
    advise_tempering,
    count_temperatures,
    presence_quantities,
)

if TYPE_CHECKING:
    import pandas

# Limits of the pairs for which convergence is checked: objects, pairs (minimum and maximum), and
# numbers per quantity.
MAX_CHECKED_OBJECTS, CHECKED_PAIRS, MAX_CHECKED_NUMBERS = 40, (20, 200), 1e7


class ObjectResults(PosteriorResults):
    """Base of results of comparisons of objects: similarities or triplets."""

    def table_quantities(self) -> Quantities:
        """Return draws of evenly spaced pairs: their similarity and their shared features."""
        return (
            super().table_quantities()
            | pair_quantities_by_name(self.posterior, "similarity", self._compute_similarity)
            | pair_quantities_by_name(
                self.posterior, "shared_features", self._count_shared_features
            )
        )

    def _get_presence(self) -> Quantities:
        """Return draws of the presence of probable features; {} with many objects."""
        # with many objects, features are matched, and the pairs show whether chains agree on them
        if choose_similar(self.posterior.n_options) is not None:
            return {}
        return presence_quantities(self.posterior)

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
        posterior, draws_by_name = self.posterior, {}
        if posterior.learned_sigma:
            draws_by_name["sigma"] = posterior.sigma.reshape(posterior.shape)
        if posterior.has_constant:
            draws_by_name["constant"] = posterior.constant.reshape(posterior.shape)
        return draws_by_name | self._get_presence()

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
        feature_columns = read_columns(self.posterior)
        return compute_similarities(
            replace(feature_columns, weights=np.ones_like(feature_columns.weights)),
            0.0,
            first,
            second,
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

        from thali._exportable_table import Table

        posterior = self.posterior
        labels, (first_objects, second_objects) = np.array(posterior.labels), posterior.pairs
        similarities, judgements = posterior.similarities, posterior.judgements
        all_columns = read_columns(posterior)
        draw_indices = select_draws(all_columns.n_draws, len(first_objects))
        feature_columns, rng = all_columns.take(draw_indices), spawn_generators(random_seed, 1)[0]
        constant, sigma = posterior.constant[draw_indices], posterior.sigma[draw_indices]

        table_columns, compute_squared_distances = [], np.zeros(len(draw_indices))
        for pair_slice in iterate_slices(len(similarities), len(draw_indices)):
            fitted = compute_similarities(
                feature_columns, constant, first_objects[pair_slice], second_objects[pair_slice]
            )
            residual_sd = sigma[:, None] / np.sqrt(judgements[pair_slice])
            z = (similarities[pair_slice] - fitted) / residual_sd
            compute_squared_distances += (z**2).sum(axis=1)
            replicates = fitted + residual_sd * rng.standard_normal(fitted.shape)
            low, high = compute_interval(replicates, ci)
            probability_below = ndtr(z).mean(axis=0)
            outside_probability = (
                ndtr((low - fitted) / residual_sd) + ndtr((fitted - high) / residual_sd)
            ).mean(axis=0)
            predicted, p_value = (
                fitted.mean(axis=0),
                2.0 * np.minimum(probability_below, 1.0 - probability_below),
            )
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
        overall_p_value = float(chi2.sf(compute_squared_distances, len(similarities)).mean())
        check_table.attrs |= {
            "p_value": overall_p_value,
            "interval": ci,
            "expected_missed": float(outside_probability.sum()),
        }
        check_table.attrs |= {"draws": len(draw_indices), ROWS: SIMILARITY}
        return check_table

    def data(self) -> Any:
        """Return the fitted `Similarities`."""
        return read_similarities(self.posterior)

    def share_explained(self) -> float:
        """Return 1 - Σ (s - fitted)² / Σ (s - mean of s)²; NaN if all are equal."""
        measured_similarities = self.data()
        residuals = measured_similarities.values - predict_similarity_draws(
            self.posterior, measured_similarities
        )[0].mean(axis=(0, 1))
        if np.ptp(measured_similarities.values) == 0.0:
            return math.nan
        deviations = measured_similarities.values - measured_similarities.values.mean()
        return 1.0 - float((residuals**2).sum() / (deviations**2).sum())


# Pairs for which convergence is checked -----------------------------------------------------------


def select_spaced_pairs(posterior: Posterior) -> tuple[np.ndarray, np.ndarray]:
    """Return object indices of evenly spaced pairs, fewer if there are many draws."""
    object_indices = space_indices(posterior.n_options, MAX_CHECKED_OBJECTS)
    i, j = np.triu_indices(len(object_indices), 1)
    max_pairs = int(np.clip(MAX_CHECKED_NUMBERS / posterior.n_draws, *CHECKED_PAIRS))
    pair_indices = space_indices(len(i), max_pairs)
    return object_indices[i[pair_indices]], object_indices[j[pair_indices]]


def pair_quantities_by_name(
    posterior: Posterior, name: str, compute_draws: Callable[[np.ndarray, np.ndarray], np.ndarray]
) -> Quantities:
    """Return draws of rows `name[a, b]` for evenly spaced pairs of objects.

    `compute_draws` computes a number per draw and pair, (draws, pairs). Unlike the presence of an
    owner set, these rows suit any number of objects.
    """
    labels, (first_objects, second_objects) = posterior.labels, select_spaced_pairs(posterior)
    pair_draws = compute_draws(first_objects, second_objects).T.reshape(-1, *posterior.shape)
    row_names = (
        f"{name}[{labels[i]}, {labels[j]}]"
        for i, j in zip(first_objects, second_objects, strict=True)
    )
    return dict(zip(row_names, pair_draws, strict=True))


def predict_similarity_draws(
    posterior: Posterior, data: "Similarities"
) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and sd of each measured similarity, (n_chains, n_draws, n_pairs)."""
    posterior = require_data_kind(SIMILARITIES, posterior, "a predicted similarity")
    fitted = compute_similarities(
        read_columns(posterior), posterior.constant, data.first, data.second
    )
    residual_sd = posterior.sigma[:, None] / np.sqrt(data.judgements)
    return fitted.reshape(*posterior.shape, -1), residual_sd.reshape(*posterior.shape, -1)
