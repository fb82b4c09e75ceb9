"""What to ask next: methods of the models that are fitted to choices."""

from typing import TYPE_CHECKING, Any, Self

from thali.errors import ArgumentError
from thali.inference.chains import checked_run

from ..base import Job, RunByChains

if TYPE_CHECKING:
    import pandas


class NextAnswers(RunByChains):
    """Methods of every latent-feature model of choices."""

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
            None stands twice, even where the same question again would teach more than any other.
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

    def _refuse_update(self) -> None:
        """Raise for a model that further comparisons cannot be added to; default: none is."""

    def update(
        self, new_data: Any, draws: int | None = None, cores: int | None = None, progressbar: bool = False
    ) -> Self:
        """Draw from the posterior after further comparisons, such as the next vote.

        The chains go on from where they are, now with all comparisons: little has to be tuned, and after a few answers
        nothing has to be found anew. The draws so far are replaced.

        Parameters
        ----------
        new_data : PairedComparisons or Choices
            Further comparisons, or choices out of sets, of options that the model knows, and of the kind of the fit. Of
            the new and the old ones together it is forgotten who made them, and in which order the options were shown.
        draws : int, optional
            States kept in each chain; None: as many as before. A tenth of it, and 20 at least, comes first and is
            discarded.
        cores : int, optional
            Threads; None means one a chain, as far as there are processors. Has no influence on the draws.
        progressbar : bool

        Returns
        -------
        self

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If parameters of the model were changed after the fit, or it has no draws.
        DataError
            If the new data have an option that the model does not know, or the model was fitted to other data than
            paired comparisons.

        Warns
        -----
        ConvergenceWarning
            If the chains do not agree yet.
        """
        from thali.data.joined import with_more

        from ..sampling import refuse_changed, updated

        self._require_fitted()
        if "_state_" not in vars(self):
            raise ArgumentError("Only a fit that draws from the posterior can be updated; fit to all the data.")
        refuse_changed(self)
        self._refuse_update()
        data = with_more(self._state_.source, new_data)
        kept = self._state_.draws if draws is None else draws
        run = checked_run(kept, max(20, kept // 10), 1, None, cores, None, progressbar)
        return self._carry_out(Job(lambda: updated(self, data, run), draws=kept, data=str(data)))
