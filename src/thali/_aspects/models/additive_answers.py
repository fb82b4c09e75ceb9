"""Results of models of similarities and triplets: features of several objects, what is predicted, a
check."""

from typing import TYPE_CHECKING, Any

from thali._data.kinds import TRIPLETS
from thali._model.requirements import requires
from thali._posterior.interval import INTERVAL

from ..answers.data_kind_checks import require_data_kind
from ..priors.feature_argument import insert_feature_names
from .base import LatentFeatures

if TYPE_CHECKING:
    import pandas


def triplets(model: Any, name: str) -> None:
    """Require draws of triplets of one group of respondents."""
    require_data_kind(TRIPLETS, model._view, name)


class AdditiveAnswers(LatentFeatures):
    """Base of the latent-feature models that are fitted to similarities, or to triplets."""

    _features: Any

    def features(
        self, min_probability: float = 0.05, similar: float | None = None, ci: float = INTERVAL
    ) -> "pandas.DataFrame":
        """The features with their members, posterior probability (of at least one copy), weight,
        and convergence.

        Features of a single object are left out, because similarities tell nothing of them.

        Parameters
        ----------
        min_probability : float in [0, 1]
            Features less probable than this are left out.
        similar : float between 0 and 1, optional
            Jaccard index from which on features of different draws are taken for one, such as 0.8;
            None takes only features of exactly the same owners for one. Of more than about thirty
            objects a feature seldom has the same owners in two draws.
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
        table = super().features(min_probability, similar, ci)
        if similar is not None:
            return table
        shared: Any = table[table["members"].map(len) > 1]
        table = shared.reset_index(drop=True)
        insert_feature_names(table, "feature", self._features, self._view.labels)
        return table

    def check(self, random_seed: Any = None, ci: float = INTERVAL) -> "pandas.DataFrame":
        """Posterior predictive check: which similarities, or pairs of triplets, does the model
        miss?

        Each measured similarity is replicated once a draw, Normal(mu, sigma^2 / n), n the number of
        its judgements, and what was observed is held against the replicates. `thali.plots.check`
        draws the table.

        Parameters
        ----------
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
            Of the replicates.
        ci : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        pandas.DataFrame
            One row a measured pair (object, other), the worst first: n (judgements), observed,
            predicted (posterior mean), low and high (the interval of a replicated similarity),
            p_value (two-sided) and missed (whether observed lies outside the interval).
            ``attrs["p_value"]`` is that of all pairs together (chi-square discrepancy). The model
            has seen these very similarities, so that p-values gather around one half; where sigma
            was learned, the overall one can show misfit of the shape of the errors only by chance.
            Of triplets one row a pair that occurs (a, b): sets (that hold it), n (their answers),
            observed, the proportion in which it was called the most similar, and the others alike.

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
        return self._data_answers.check(random_seed, ci)

    @requires(triplets)
    def predict_proba(self, sets: Any, return_se: bool = False) -> Any:
        """Posterior mean probability that each pair of a set is called the most similar, lapse
        included.

        Parameters
        ----------
        sets : list, or Triplets
            Each is a list of three objects or more, or a list of pairs (a, b), two or more.
        return_se : bool
            Whether to give the Monte Carlo standard error of each probability, too.

        Returns
        -------
        list of ndarray
            For each set the probabilities of its pairs: of objects a, b, c those of (a, b), (a, c)
            and (b, c); of `Triplets` in the order of their places. If a is the odd one out, (b, c)
            is the most similar pair. With `return_se` a pair of these lists: the second holds the
            standard errors.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If the model was fitted to other data, a label is unknown, or an entry is no set.
        """
        return self._data_answers.predict_proba(sets, return_se, None)

    @requires(triplets)
    def pair_ranks(self, ci: float = INTERVAL) -> "pandas.DataFrame":
        """How similar each two objects are, by triplets: what they share, and the rank of the pair
        among all pairs.

        .. math:: s_{ij} = \\sum_k w_k f_{ik} f_{jk}

        without the features that all objects have where these cancel (the link "exp"); with the
        link "ratio" s_ij + c, divided by its mean over all pairs.

        Parameters
        ----------
        ci : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        pandas.DataFrame
            One row a pair, the most similar first: a, b, similarity (posterior mean),
            similarity_low and similarity_high (its interval), rank (posterior mean; 1 is the most
            similar), rank_low and rank_high.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If the model was fitted to other data, or there are more than 2,000 pairs.
        """
        from ..answers.triplet_results import pair_ranks_table

        return pair_ranks_table(self._view, ci)

    @requires(triplets)
    def next_triplets(
        self, n: int = 10, among: Any = None, goal: Any = "everything", random_seed: Any = 1
    ) -> "pandas.DataFrame":
        """The triplets of objects that are best asked next: those whose answers are expected to
        teach most.

        As `next_pairs` of models of choices.

        Parameters
        ----------
        n : int
            How many triplets; each is chosen for what it adds to the answers of those before, and
            none stands twice.
        among : list of labels, optional
            The objects that can be asked about; None: all.
        goal : "everything" or mapping
            ``{"aspect": [labels]}``: whether there is a feature of just these objects, or of nearly
            these with ``"similar": 0.8``, the least Jaccard index.
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
            Of more than 5,000 triplets as many are looked at, drawn at random.

        Returns
        -------
        pandas.DataFrame
            One row a triplet, in this order: objects, information (what the answer adds to those
            above it, in nats) and alone (what it teaches as the only one).

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If a label or the goal is unknown, or the model was fitted to other data.
        """
        from ..answers.triplet_results import next_triplets_table

        return next_triplets_table(self._view, n, among, goal, random_seed)
