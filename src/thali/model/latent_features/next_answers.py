"""What to ask next: methods of the models that are fitted to choices."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas


class NextAnswers:
    """Methods of every latent-feature model of choices."""

    _fitted: Callable[[], Any]

    def next_pairs(
        self, n: int = 10, among: Any = None, goal: Any = "everything", random_seed: Any = 1
    ) -> "pandas.DataFrame":
        r"""The pairs of options that are best asked next: those whose answers are expected to teach most.

        .. math:: I(\text{answer}; s) = H\bigl(E_s\, p(s)\bigr) - E_s H\bigl(p(s)\bigr)

        in nats, where p(s) are the probabilities of the outcomes in draw s of the posterior. With another goal the
        answer is to teach something about the draw: the order of each two options (`"ranks"`, summed over the pairs of
        options), the best option (`"best"`), or an aspect.

        Parameters
        ----------
        n : int
            How many pairs; they are chosen one after the other, each for what it adds to the answers of those before.
        among : list of labels, optional
            The options that can be asked about; None: all.
        goal : {"everything", "ranks", "best"} or mapping
            ``{"aspect": [labels]}``: whether there is an aspect of just these options, or of nearly these with
            ``"similar": 0.8``, the least Jaccard index.
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
            Of answers, pairs and orders that are drawn where there are too many to look at all of them: more than some
            11,000 pairs, 1,000 orders, or 256 combinations of answers.

        Returns
        -------
        pandas.DataFrame
            One row a pair, in this order: a, b, p_a (posterior mean probability that a is chosen; p_tie where there are
            ties), information (what the answer adds to those above it, in nats) and alone (what it teaches as the
            only one). From 4,000 draws at most; the bias of finitely many is subtracted, and nothing is below 0.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If a label or the goal is unknown, or the model was fitted to similarities or triplets.

        References
        ----------
        Lindley (1956), On a measure of the information provided by an experiment; Houlsby, Huszar, Ghahramani & Lengyel
        (2011), Bayesian active learning for classification and preference learning.

        Examples
        --------
        >>> import thali as th
        >>> model = th.EliminationByAspects("unique").fit(
        ...     th.PairedComparisons([[0, 9, 5], [1, 0, 0], [5, 0, 0]], labels=["tea", "milk", "beer"]),
        ...     draws=500, tune=100, random_seed=1, progressbar=False)
        >>> model.next_pairs(1).loc[0, ["a", "b"]].tolist()
        ['milk', 'beer']
        """
        from .answers.next_question import next_pairs_table

        return next_pairs_table(self._fitted(), n, among, goal, random_seed)

    def next_sets(
        self, size: int = 3, n: int = 10, among: Any = None, goal: Any = "everything", random_seed: Any = 1
    ) -> "pandas.DataFrame":
        """The sets of options out of which a choice is expected to teach most; see `next_pairs`.

        Parameters
        ----------
        size : int, 2 or more
            Of the sets.
        n, among, goal, random_seed
            As of `next_pairs`; of more than 5,000 sets as many are looked at, drawn at random.

        Returns
        -------
        pandas.DataFrame
            One row a set: members, information and alone.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            As of `next_pairs`.
        """
        from .answers.next_question import next_sets_table

        return next_sets_table(self._fitted(), size, n, among, goal, random_seed)
