"""Results of models of similarities and triplets: features, predictions and model checks."""

from typing import TYPE_CHECKING, Any

from thali._data.kinds import TRIPLETS
from thali._model.method_requirements import requires
from thali._posterior.posterior_interval import INTERVAL

from ..priors.prior_from_argument import insert_feature_names
from ..results.data_kind_checks import require_data_kind
from .base_model import LatentFeatures

if TYPE_CHECKING:
    import pandas

    from thali._inference.random_seeds import RandomSeed


class AdditiveAnswers(LatentFeatures):
    """Base of the latent-feature models of similarities and triplets."""

    _features: Any

    def features(
        self, min_probability: float = 0.05, similar: float | None = None, ci: float = INTERVAL
    ) -> "pandas.DataFrame":
        """Return the features with members, posterior probability, weight and convergence.

        The probability is of at least one copy. Features of a single object are omitted, because
        similarities carry no information about them.

        Parameters
        ----------
        min_probability : float in [0, 1]
            Features with a smaller probability are omitted.
        similar : float between 0 and 1, optional
            Smallest Jaccard index at which features of different draws are merged, such as 0.8;
            None merges only features with exactly the same owners. With more than about thirty
            objects a feature rarely has the same owners in two draws.
        ci : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        pandas.DataFrame
            As `LatentFeatureModel.features`. Features that were given by name have a first column
            `feature` (unless `similar` is given).

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If `ci` is not between 0 and 1.
        """
        features_table = super().features(min_probability, similar, ci)
        if similar is not None:
            return features_table
        shared_features: Any = features_table[features_table["members"].map(len) > 1]
        features_table = shared_features.reset_index(drop=True)
        name_by_members = self._name_given_features(self._view.labels)
        insert_feature_names(features_table, "feature", name_by_members)
        return features_table

    def check(self, random_seed: "RandomSeed" = None, ci: float = INTERVAL) -> "pandas.DataFrame":
        """Return a posterior predictive check of measured similarities, or pairs of triplets.

        Each measured similarity is replicated once per draw, Normal(mu, sigma^2 / n), n the number
        of its judgements, and compared with the replicates. `thali.plots.check` draws the table.

        Parameters
        ----------
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
            Of the replicates.
        ci : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        pandas.DataFrame
            One row per measured pair (object, other), the worst first: n (judgements), observed,
            predicted (posterior mean), low and high (the interval of a replicated similarity),
            p_value (two-sided) and missed (whether observed is outside the interval).
            ``attrs["p_value"]`` is the p-value of all pairs jointly (chi-square discrepancy). The
            model was fitted to the same similarities, so that p-values concentrate around 0.5; with
            a learned sigma, the overall p-value detects misfit of the error distribution only by
            chance. For triplets, one row per pair that occurs (a, b): sets (number that contain
            it), n (their answers), observed (how often it was called the most similar, as a
            proportion), and the same other columns.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If `ci` is not between 0 and 1.

        References
        ----------
        Gelman, Meng & Stern (1996), Posterior predictive assessment of model fitness via realized
        discrepancies.
        """
        return self._data_results.check(random_seed, ci)

    def _require_triplets(self, answer_name: str) -> None:
        """Raise ArgumentError unless draws of triplets exist."""
        require_data_kind(TRIPLETS, self._view, answer_name)

    @requires(_require_triplets)
    def predict_proba(self, sets: Any, return_se: bool = False) -> Any:
        """Return posterior mean probabilities that each pair of a set is the most similar.

        They include lapses.

        Parameters
        ----------
        sets : list, or Triplets
            Each is a list of at least three objects, or a list of at least two pairs (a, b).
        return_se : bool
            Whether to give the Monte Carlo standard error of each probability, too.

        Returns
        -------
        list of ndarray
            For each set the probabilities of its pairs: for objects a, b, c of (a, b), (a, c) and
            (b, c); for `Triplets` in the order of their places. If a is the odd one out, (b, c) is
            the most similar pair. With `return_se` two such lists: the second contains the standard
            errors.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If the model was fitted to other data, a label is unknown, or an entry is not a set.
        """
        return self._data_results.predict_proba(sets, return_se, None)

    @requires(_require_triplets)
    def pair_ranks(self, ci: float = INTERVAL) -> "pandas.DataFrame":
        """Return the similarity of each pair, by triplets, and its rank among all pairs.

        .. math:: s_{ij} = \\sum_k w_k f_{ik} f_{jk}

        without the features that all objects have if these cancel (the link "exp"); with the link
        "ratio" s_ij + c, divided by its mean over all pairs.

        Parameters
        ----------
        ci : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        pandas.DataFrame
            One row per pair, the most similar first: a, b, similarity (posterior mean),
            similarity_low and similarity_high (its interval), rank (posterior mean; 1 is the most
            similar), rank_low and rank_high.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If the model was fitted to other data, or there are more than 2,000 pairs.
        """
        from ..results.triplet_results import pair_ranks_table

        return pair_ranks_table(self._view, ci)
