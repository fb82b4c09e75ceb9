"""What models answer of people of whom each has weights of their own."""

from typing import TYPE_CHECKING, Any

from thali._people.segments import HasSegments
from thali._posterior.interval import INTERVAL

from .base import LatentFeatures

if TYPE_CHECKING:
    import pandas

    from thali._people.segments import Preferences


class PeopleAnswers(LatentFeatures):
    """Base of the latent-feature models that are fitted with `people=Individuals()`."""

    def individuals(self, ci: float = INTERVAL) -> "pandas.DataFrame":
        r"""What each person prefers, with its error, if everybody has weights of their own about common ones.

        .. math:: U_{ni} \Big/ \sum_j U_{nj}, \qquad U_{ni} = u_{ni} + \sum_k w_{nk} f_{ik}

        is the share of option i for person n, with everybody's own weights u and w. Of options that a person never
        judged it is what the others say, with the error of a new person.

        Parameters
        ----------
        ci : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        pandas.DataFrame
            One row a person and option, indexed by both in this order: mean of the share over draws, and its 89 %
            interval low to high; the shares of a person sum to 1. Of similarities and triplets a row a person and
            feature (its members, of those of several objects with a probability of .05 or more): its weight for the
            person, if present.
            `thali.plots.individuals` draws the table of shares.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If the model was not fitted with `people=Individuals()`.
        """
        from ..answers.individuals import of_everybody, person_table

        return person_table(of_everybody(self._view, "individuals"), ci)

    def respondent_effects(self, ci: float = INTERVAL) -> "pandas.DataFrame":
        r"""By how much a unit of each column of people changes their weights, of `Individuals(by=...)`.

        Of choices of each option's share s of all worths, by the common weights w at the mean of the columns, and of
        aspects of several options,

        .. math:: \frac{\partial \ln s_i}{\partial x} = e_i - \sum_j s_j e_j, \qquad
            e_i = \Big(u_i b_i + \sum_k w_k f_{ik} b_k\Big) \Big/ U_i

        where b are the slopes of the logarithms of weights; of triplets b itself.

        Parameters
        ----------
        ci : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        pandas.DataFrame
            One row a column of people (numbers as they are, labels as "sex[male]" against the first) and `item`, an
            option or the members of a feature: mean, sd, low and high of the change of the logarithm for a unit of the
            column, above_0 (the probability that it rises), ratio (the factor exp(mean)) and probability (that the
            feature is there; numbers are of draws with it).

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If the model has no columns `by`, or `ci` is not between 0 and 1.
        """
        from ..answers.slopes import effects_table

        return effects_table(self._view, ci)


class ChooserAnswers(HasSegments, PeopleAnswers):
    """Base of those that are fitted to what people choose."""

    def reach(
        self, size: int = 3, top: int = 10, none: str | None = None, random_seed: Any = 0, ci: float = INTERVAL
    ) -> "pandas.DataFrame":
        r"""The sets of options that reach most people: TURF, total unduplicated reach and frequency.

        .. math:: r(S) = \frac1N \sum_n \max_{i \in S} \left[ \frac{U_{ni}}{\sum_j U_{nj}} > \frac1I \right]

        A set reaches a person of whom it holds an option that the person likes well enough. Where nothing was asked of
        buying at all, that is an option whose share of the person's utilities (see `individuals`) is above 1 / I, the
        mean of the I options; with `none`, an option that stands for buying nothing, it is one that the person prefers
        to that. So a niche option that few others like can add more to a set than a second favourite of
        everybody.

        Parameters
        ----------
        size : int
            Options of a set, fewer than there are.
        top : int
            How many sets to list.
        none : str, optional
            The option that stands for none of the others, where people were offered one (an anchored scale); it is in
            no set.
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
            Of the weights of people in intervals.
        ci : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        pandas.DataFrame
            One row a set, the one that reaches most first: members, reach (the share of these people whom it reaches,
            mean over draws), low and high (its interval for the population that they are a sample of: in every
            draw people are weighed by a Bayesian bootstrap, beside half a person whom every set reaches and half a one
            whom none does), frequency (how many of its options reach a person, on average) and best, the probability
            that none of the sets that were compared by all draws reaches more of the population. ``attrs["sets"]`` is
            the number of sets of this size. Up to a million all are tried (``attrs["exact"]``); of more the search is
            greedy, with exchanges, and no set reaches more than ``attrs["bound"]``, since reach has diminishing
            returns. `thali.plots.reach` draws the table.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If the model was not fitted to choices with `people=Individuals()`, there is no option `none`, or size or
            top is out of its range.

        References
        ----------
        Miaoulis, Free & Parsons (1990), TURF: A new planning approach for product line extensions; Nemhauser, Wolsey &
        Fisher (1978), An analysis of approximations for maximizing submodular set functions; Rubin (1981), The Bayesian
        bootstrap.
        """
        from thali._people.reach import reach_table

        from ..answers.individuals import of_everybody, reached_by

        posterior = of_everybody(self._view, "reach")
        reaches, labels = reached_by(posterior, none)
        return reach_table(reaches, labels, size, top, random_seed, ci)

    def _preferences(self) -> "Preferences":
        from ..answers.individuals import of_everybody, preferences_of_people

        return preferences_of_people(of_everybody(self._view, "segments"))
