"""The questions of a market study, which every model of choices among described products answers alike."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from thali.posterior.interval import INTERVAL

if TYPE_CHECKING:
    import pandas

    from .chooser import Chooser


class ChoiceAnswers:
    """Market shares, demand, effects of levels, and importance of attributes, of a fitted model.

    A subclass has `_chooser`: its people, and how they choose in every draw.
    """

    def _chooser(self) -> "Chooser":
        """The people of the fit, and how they choose."""
        raise NotImplementedError

    def market_shares(
        self,
        products: "pandas.DataFrame",
        change: Mapping[str, Any] | None = None,
        people: Any = None,
        respondent_weights: Any = None,
        ci: float = INTERVAL,
        each_draw: bool = False,
        cores: int | None = None,
        random_seed: Any = 0,
    ) -> "pandas.DataFrame":
        r"""Which share of people would choose each product of a market, and what a change would do.

        .. math:: s_j = \sum_n w_n P_n(j \mid X) \Big/ \sum_n w_n

        Parameters
        ----------
        products : data frame
            One row a product, with a column for each attribute; a no-choice option as in the data. Names are taken from
            a column `product` or `name` or that of the alternatives, else from the index. With a column `scenario` the
            table holds several markets.
        change : dict, optional
            Attribute -> a level for all products, a list with one for each, or {product: level}.
        people : optional
            Whose choices: None, all respondents; a list of respondents; True or False for each of them; a query of the
            columns of `people` of the data, such as "age > 40"; a function of that table that gives one of these; or
            "new", the population that the respondents are a sample of.
        respondent_weights : optional
            A number of 0 or more for each respondent: an array, a mapping by respondent, or a column of `people`.
        ci : float in (0, 1)
            Probability of the intervals.
        each_draw : bool
            Whether to give the shares of every draw: one row a draw, columns (share, after or change; product).
        cores : int, optional
            Threads; has no influence on the numbers.
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
            Of occasions and new people, where they are simulated; draws of the sampling distribution of an estimate
            always have the same seed.

        Returns
        -------
        pandas.DataFrame
            One row a product: `share` (posterior mean, or estimate), `share_lb` to `share_ub` (interval of the share
            among the respondents, or in the population: that is wider, as only some of its people were asked) and
            `share_se` (Monte Carlo standard error of a posterior mean; standard error of an estimate); with a change
            also `after` and `change`, likewise. Random numbers are common to all markets.

        Raises
        ------
        NotFittedError
            Before `fit`.
        DataError
            If the products cannot be read, or hold a level that is not known.
        ArgumentError
            If the change names what is not there, the filter leaves nobody, or weights are negative or of a wrong
            number.

        Warns
        -----
        DataWarning
            If a number lies outside the tested range.
        """
        from .shares import market_shares

        asked = (products, change, people, respondent_weights)
        return market_shares(self._chooser(), *asked, ci, each_draw, cores, random_seed)

    def demand(
        self,
        attribute: str,
        product: Any,
        values: Any,
        products: "pandas.DataFrame",
        people: Any = None,
        respondent_weights: Any = None,
        ci: float = INTERVAL,
        cores: int | None = None,
        random_seed: Any = 0,
    ) -> "pandas.DataFrame":
        """The demand curve: the share of a product at each price, or at each value of another attribute.

        Parameters
        ----------
        attribute : str
            Such as "price".
        product : str
            One of the names of the market.
        values : list
            What the attribute may be.
        products : data frame
            The market, as for `market_shares`.
        people, respondent_weights, ci, cores, random_seed : optional
            As for `market_shares`.

        Returns
        -------
        pandas.DataFrame
            One row a value: the value, `share`, `share_lb`, `share_ub` and `share_se`.

        Raises
        ------
        NotFittedError
            Before `fit`.
        DataError
            As `market_shares`.
        ArgumentError
            As `market_shares`, or if there is no such product or attribute.
        """
        from .shares import demand

        asked = (attribute, product, values, products, people, respondent_weights)
        return demand(self._chooser(), *asked, ci, cores, random_seed)

    def level_effects(
        self, each_person: bool = False, ci: float = INTERVAL, cores: int | None = None, random_seed: Any = 0
    ) -> "pandas.DataFrame":
        r"""How often one level of an attribute is preferred to another, all else being equal.

        .. math:: P(u_n(x \text{ with } b) > u_n(x \text{ with } a)) + \tfrac12 P(\text{tie}), \qquad x \text{ of the
            design}

        Parameters
        ----------
        each_person : bool
            Whether to give the number of each person instead: a row for each respondent and pair of levels.
        ci : float in (0, 1)
            Probability of the intervals.
        cores : int, optional
            Threads; has no influence on the numbers.
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional

        Returns
        -------
        pandas.DataFrame
            `attribute`, `level` (the better one, if there is a direction, else the later) and `over`, the other;
            `effect`, mean over people and draws (.5 = indifferent), its interval `eti89_lb` to `eti89_ub` over draws
            (`eti95_lb` with ci=.95) and standard error `se`; `people_lb` to `people_ub`, which holds 89 % of people,
            where people differ; `at_bound`, whether the interval begins at .5, below which a declared direction allows
            no effect: then the data have not established one, and however narrow the interval, they may speak for the
            other direction.

        Raises
        ------
        NotFittedError
            Before `fit`.
        """
        from .effects import level_effects

        return level_effects(self._chooser(), each_person, ci, cores, random_seed)

    def attribute_importance(
        self, each_person: bool = False, ci: float = INTERVAL, cores: int | None = None, random_seed: Any = 0
    ) -> "pandas.DataFrame":
        r"""How much each attribute matters, in two ways: by choices, and by ranges of utility.

        .. math::
            \tfrac12 \sum_j |p_j - p_j^{(-i)}|, \text{ mean over tasks}; \qquad
            \frac{\max_l u_{il} - \min_l u_{il}}{\sum_k (\max_l u_{kl} - \min_l u_{kl})}, \text{ mean over people}

        The first is how far choices change if all alternatives of a task are given one level of the attribute. The
        second is what market researchers call importance: it sums to 1, and it depends on which levels were tested.

        Parameters
        ----------
        each_person : bool
            Whether to give the numbers of each person instead: a row for each respondent and attribute.
        ci : float in (0, 1)
            Probability of the intervals.
        cores : int, optional
            Threads; has no influence on the numbers.
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional

        Returns
        -------
        pandas.DataFrame
            `attribute`; `importance` between 0 and 1, and `se`, its standard error; `people_lb` to `people_ub`, which
            holds 89 % of people, where people differ; `range_share`, its interval `range_lb` to `range_ub` and
            `range_se`, NaN for the choice of nothing ("inside"). The most important first.

        Raises
        ------
        NotFittedError
            Before `fit`.
        """
        from .importance import attribute_importance

        return attribute_importance(self._chooser(), each_person, ci, cores, random_seed)
