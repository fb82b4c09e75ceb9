"""What every posterior answers: what options share, the tree nearest to that, and what was left out of the fit."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas

    from thali.data.left_out import LeftPair
    from thali.data.similarities import Similarities

    from .answers.consensus import ConsensusTree


class OptionAnswers:
    """Methods of every latent-feature model."""

    _fitted: Callable[[], Any]

    def _options_of_fit(self) -> list[str]:
        """The options of the fit; [] where its data have none."""
        posterior = self._fitted()["posterior"].dataset
        return [str(label) for label in posterior["option"].values] if "option" in posterior.coords else []

    def option_similarity(self) -> "pandas.DataFrame":
        r"""How much of what options have they share, two at a time: the posterior mean of the shared part.

        .. math:: E \Bigl[ \sum_k w_k f_{ik} f_{jk} \Big/ \tfrac12 (U_i + U_j) \Bigr]

        where U is the weight of all that an option has, its unique weight included. Features that all options own are
        left out, and 0 / 0 counts as 0. Of similarities and triplets features of a single object, which do not touch
        the data, are left out as well.

        Returns
        -------
        pandas.DataFrame
            Options by options, between 0 (nothing in common) and 1 (everything), and 1 on the diagonal.
            `thali.plots.option_similarity` draws it beside the dendrogram of its rows.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If there are more than 1,000 options.

        References
        ----------
        Görür, Jäkel & Rasmussen (2006), section 5.
        """
        from .answers.option_similarity import similarity_table

        return similarity_table(self._fitted())

    def consensus_tree(self) -> "ConsensusTree":
        """The tree that is nearest to the features, and how much of them is a tree at all.

        Of the sets of owners that some options share and others lack a family is chosen of which any two are disjoint
        or one holds the other, so that the sum of the expected weights (as shares of each draw's total) is greatest.

        Returns
        -------
        ConsensusTree
            With `tree`, a `Tree` whose inner nodes are named for their probability and weight; `table`, a row a node:
            members, probability (of a feature with just these owners) and weight; `tree_likeness`, the share of the
            tree in the expected weight of all shared features, and `low` and `high`, the 89 % interval over draws of
            what each draw's own best tree holds; `without_shared`, the share of draws without shared features, which
            are left out of the interval; `is_exact`: the family is the best of all up to 40 sets of owners. `print`
            shows it, `plot()` draws it.

        Raises
        ------
        NotFittedError
            Before `fit`.

        References
        ----------
        Görür, Jäkel & Rasmussen (2006), section 5.
        """
        from .answers.consensus import consensus_of

        return consensus_of(self._fitted())

    def predict_left_out(self, part: "LeftPair | Similarities") -> Any:
        """What every draw predicts for data that the model was fitted without, as scores of left-out data need it.

        Parameters
        ----------
        part : LeftPair or Similarities
            All comparisons of a pair, or some measured pairs of objects. Covariates that the model does not know do not
            count.

        Returns
        -------
        ndarray or pair of ndarray
            Of a pair the probability of each outcome, lapse included, shape (chains, draws, cells, outcomes): the first
            option is chosen, neither is (if the part has ties), the second. Of similarities their means and standard
            deviations, shape (chains, draws, pairs) each.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If the model was fitted to other data, or to several groups of people (see `of_group`).
        """
        from .answers.left_out import predicted_left_out

        return predicted_left_out(self._fitted(), part)
