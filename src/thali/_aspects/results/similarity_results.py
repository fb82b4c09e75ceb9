"""Results of similarities of objects: quantities, predictions and the predictive check."""

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.kinds import SIMILARITIES
from thali._data.similarities import Similarities
from thali._model.pair_quantities import pair_quantities_by_name
from thali._model.similarity_check import check_similarities
from thali._posterior.convergence_check import Advice
from thali._posterior.posterior_tree import Posterior
from thali.errors import Setting

from ..draws.feature_columns import read_columns
from ..draws.fitted_similarities import compute_similarities, read_similarities
from .data_kind_checks import require_data_kind, requires_choices_error
from .matched_features import choose_similar
from .posterior_results import PosteriorResults
from .summary_quantities import (
    Quantities,
    advise_tempering,
    count_temperatures,
    presence_quantities,
)

if TYPE_CHECKING:
    import pandas

    from thali._data.pairs.data_subsets import HeldOutPair
    from thali._inference.random_seeds import RandomSeed


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
        posterior = self.posterior
        draws_by_name = {}
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

    def predict_held_out(self, held_out: "HeldOutPair") -> Any:
        """Return mean and sd of held-out similarities at every draw."""
        if not isinstance(held_out, Similarities):
            raise requires_choices_error(self.posterior, "A prediction of held-out data")
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

    def check(self, random_seed: "RandomSeed", ci: float) -> "pandas.DataFrame":
        """Return a table of measured similarities against replicates of the model.

        Replicates are s_rep ~ Normal(mu, sigma² / n), and p_value = 2 min(P(s_rep < s), P(s_rep >
        s)), with probabilities averaged over draws. The overall p-value is P(sum (s_rep - mu)² n /
        sigma² >= sum (s - mu)² n / sigma²), where the left sum has a chi-square distribution.
        """
        posterior = self.posterior
        feature_columns = read_columns(posterior)

        def fit_pairs(draws: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
            """Return fitted similarities of pairs at some draws, (draws, pairs)."""
            return compute_similarities(
                feature_columns.take(draws), posterior.constant[draws], first, second
            )

        return check_similarities(
            self.data(), fit_pairs, posterior.sigma, random_seed=random_seed, ci=ci
        )

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
