"""Results of models of similarities: the features of two objects or more, and a check."""

from typing import TYPE_CHECKING, Any

from .base import LatentFeatures
from .feature_argument import names_of

if TYPE_CHECKING:
    import pandas


class SimilarityAnswers(LatentFeatures):
    """Base of the latent-feature models that are fitted to similarities."""

    _features: Any

    def features(self, min_probability: float = 0.05, similar: float | None = None) -> "pandas.DataFrame":
        """The features with their members, posterior probability (of at least one copy), weight, and convergence.

        Features of a single object are left out, because similarities tell nothing of them.

        Parameters
        ----------
        min_probability : float in [0, 1]
            Features less probable than this are left out.
        similar : float between 0 and 1, optional
            Jaccard index from which on features of different draws are taken for one, such as 0.8; None takes only
            features of exactly the same owners for one. Of more than about thirty objects a feature seldom has the same
            owners in two draws.

        Returns
        -------
        pandas.DataFrame
            As `LatentFeatureModel.features`. Features that were given by name have a first column `feature` (unless
            `similar` is given).

        Raises
        ------
        NotFittedError
            Before `fit`.
        """
        table = super().features(min_probability, similar)
        if similar is not None:
            return table
        shared: Any = table[table["members"].map(len) > 1]
        table = shared.reset_index(drop=True)
        if names := names_of(self._features, self._fitted()["posterior"].dataset["option"].values):
            table.insert(0, "feature", [names[frozenset(members)] for members in table["members"]])
        return table

    def check(self, random_seed: Any = None) -> "pandas.DataFrame":
        """Posterior predictive check: which similarities, or pairs of triplets, does the model miss?

        Each measured similarity is replicated once a draw, Normal(mu, sigma^2 / n), n the number of its judgements, and
        what was observed is held against the replicates. `thali.plots.check` draws the table.

        Parameters
        ----------
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
            Of the replicates.

        Returns
        -------
        pandas.DataFrame
            One row a measured pair (object, other), the worst first: n (judgements), observed, predicted (posterior
            mean), low and high (the 89 % interval of a replicated similarity), p_value (two-sided) and missed (whether
            observed lies outside the interval). ``attrs["p_value"]`` is that of all pairs together (chi-square
            discrepancy). The model has seen these very similarities, so that p-values gather around one half; where
            sigma was learned, the overall one can show misfit of the shape of the errors only by chance. Of triplets
            one row a pair that occurs (a, b): sets (that hold it), n (their answers), observed, the proportion in which
            it was called the most similar, and the others alike.

        Raises
        ------
        NotFittedError
            Before `fit`.

        References
        ----------
        Gelman, Meng & Stern (1996), Posterior predictive assessment of model fitness via realized discrepancies.
        """
        from .answers.data_answers import answers_of

        return answers_of(self._fitted()).check(self._fitted(), random_seed)
