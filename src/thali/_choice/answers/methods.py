"""The questions of a market study, which every model of choices among described products answers
alike."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from thali._model.requirements import requires
from thali._posterior.interval import INTERVAL

from .chooser import LOGIT, refuse_same_tastes

if TYPE_CHECKING:
    import pandas

    from thali._data.experiments import ChoiceExperiment
    from thali._model.settings import AnswerSettings

    from .chooser import Chooser
    from .respondents import ChoiceRespondents


def require_individual_tastes(model: Any, name: str) -> None:
    """Require tastes that differ between respondents."""
    refuse_same_tastes(model._people_of_fit())


class MarketAnswers:
    """Market shares, demand, effects of levels, and importance of attributes, of a fitted model.

    A subclass has `_chooser`: its people, and how they choose in every draw.
    """

    _compute_once: Any  # of `Model`

    def _complete_settings(self, data: Any, settings: "AnswerSettings") -> "AnswerSettings":
        """The settings with the price, once it is clear that the market can be read."""
        from .findings import complete_settings

        return complete_settings(self, data, settings)

    def _chooser(self) -> "Chooser":
        """The people of the fit, and how they choose."""
        raise NotImplementedError

    def _people_of_fit(self) -> "Chooser":
        """The same, made once for each fit."""
        return self._compute_once("chooser", self._chooser)

    @property
    @requires(require_individual_tastes)
    def respondents(self) -> "ChoiceRespondents":
        """Results about the respondents, where they differ in the model.

        Returns
        -------
        ChoiceRespondents
            `.individuals()`, the utilities of each; `.segments(k)`; `.reach(products, size, top)`,
            the product lines that reach most respondents.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If all respondents have the same tastes in the model.
        DataError
            If the file of the model could not hold the data.
        """
        from .respondents import ChoiceRespondents

        return ChoiceRespondents(self)

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
        rule: str = LOGIT,
        scale: float = 1.0,
        availability: Mapping[str, float] | None = None,
        actual: Mapping[str, float] | None = None,
    ) -> "pandas.DataFrame":
        r"""Which share of people would choose each product of a market, and what a change would do.

        .. math::

            s_j = \sum_n w_n e_n P_n(j \mid X) \Big/ \sum_n w_n e_n, \qquad
            e_n \sim \operatorname{Exp}(1)

        In each draw the respondents get random weights e_n (the Bayesian bootstrap), because they
        are a sample of the market. The shares of these respondents alone have e_n = 1, and narrower
        intervals.

        Parameters
        ----------
        products : data frame
            One row a product, with a column for each attribute; a no-choice option as in the data.
            Names are taken from a column `product` or `name` or that of the alternatives, else from
            the index. With a column `scenario` the table holds several markets.
        change : dict, optional
            Attribute -> a level for all products, a list with one for each, or {product: level}.
        people : optional
            Whose choices: None, the market that all respondents represent; True or False for each
            of them, a query of the columns of `people` of the data, such as "age > 40", or a
            function of that table, the market that such respondents represent; "respondents", all
            respondents themselves; a list of names, these respondents themselves; or "new", people
            who were not asked, by the model of the population.
        respondent_weights : optional
            A number of 0 or more for each respondent: an array, a mapping by respondent, or a
            column of `people`.
        ci : float in (0, 1)
            Probability of the intervals.
        each_draw : bool
            Whether to give the shares of every draw: one row a draw, columns (share, after or
            change; product).
        cores : int, optional
            Threads; has no influence on the numbers.
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
            Of the respondents' weights in the market, and of occasions and new people, where they
            are simulated; draws of the sampling distribution of an estimate always have the same
            seed.
        rule : str
            Of logits, by what utilities become choices: "logit", the model itself; "first-choice",
            everybody takes the product of the highest utility; "randomised-first-choice", likewise
            after errors have been added, normal and of the variance π²/6 of the logit's, of which
            two products share as large a part as they have levels in common: like products take
            their buyers from each other, and a copy of a product only from that product.
        scale : float above 0
            Of logits, a factor of all utilities: below 1 shares are more alike, as where the market
            is less attentive than the questionnaire.
        availability : dict, optional
            Product -> the part of occasions on which it is found, such as awareness times
            distribution; 1 for those that are not named. Where nothing is found nothing is bought,
            so that shares may sum to less than 1.
        actual : dict, optional
            Of logits, the actual share of every product today, summing to 1. A constant is added to
            the utility of each product, in every draw, with which the shares before the change are
            these.

        Returns
        -------
        pandas.DataFrame
            One row a product: `share` (posterior mean, or estimate), `share_low` to `share_high`
            (interval) and `share_se` (Monte Carlo standard error of a posterior mean; standard
            error of an estimate); with a change also `after` and `change`, likewise.
            ``attrs["whose"]`` names whose shares these are, such as "in the market represented by
            40 respondents". Random numbers are common to all markets. With `actual` the interval of
            `share` has no width, and those of the change take the actual shares for certain:
            ``attrs["notes"]``.

        Raises
        ------
        NotFittedError
            Before `fit`.
        DataError
            If the products cannot be read, or hold a level that is not known.
        ArgumentError
            If the change names what is not there, the filter leaves nobody, or weights are negative
            or of a wrong number.

        Warns
        -----
        DataWarning
            If a number lies outside the tested range; if `people` or weights change nothing,
            because everybody has the same tastes in the model; if a column of the products is no
            attribute.

        References
        ----------
        Huber, Orme & Miller (1999), Dealing with product similarity in conjoint simulations; Train
        (2009), Discrete choice methods with simulation, section 2.8, of constants by actual shares;
        Rubin (1981), The Bayesian bootstrap.
        """
        from .rules import How
        from .shares import market_shares

        asked = (products, change, people, respondent_weights)
        how = How(rule, scale, availability, actual)
        return market_shares(self._people_of_fit(), *asked, ci, each_draw, how, cores, random_seed)

    def elasticities(
        self,
        products: "pandas.DataFrame",
        attribute: str = "price",
        change: float | None = None,
        people: Any = None,
        respondent_weights: Any = None,
        ci: float = INTERVAL,
        cores: int | None = None,
        random_seed: Any = 0,
        rule: str = LOGIT,
        scale: float = 1.0,
        availability: Mapping[str, float] | None = None,
        actual: Mapping[str, float] | None = None,
    ) -> "pandas.DataFrame":
        r"""By how many per cent each share changes if the price of one product rises by one per
        cent.

        .. math:: e_{jk} = \frac{\partial s_j}{\partial x_k} \frac{x_k}{s_j}; \qquad
            \frac{s_j' - s_j}{(s_j' + s_j) / 2} \Big/ \frac{x_k' - x_k}{(x_k' + x_k) / 2}

        The first is the elasticity at a point, where the model takes the attribute as a number; the
        second, along an arc, is that of a change of a given size, and otherwise that to the next
        tested value.

        Parameters
        ----------
        products : data frame
            The market, as for `market_shares`.
        attribute : str
            Of numbers above 0.
        change : float in (-1, 1), optional
            The change of an arc, as a part of the value, such as .1 for ten per cent more; None: at
            the point, or to the next tested value above (below the highest) of an attribute with a
            coefficient for each value.
        people, respondent_weights, ci, cores, random_seed, rule, scale, availability, actual :
        optional
            As for `market_shares`.

        Returns
        -------
        pandas.DataFrame
            One row for each product whose number is `changed` and each `product` whose share
            answers, itself (own) and the others (cross): `elasticity`, the mean over draws (or the
            estimate), its interval `elasticity_low` to `elasticity_high`, and `elasticity_se`; of
            arcs also the numbers, `from` and `to`. NaN where the share is 0.

        Raises
        ------
        NotFittedError
            Before `fit`.
        DataError
            As `market_shares`, or if an arc ends where the model has no utility.
        ArgumentError
            As `market_shares`, or if the attribute is none or not above 0.

        References
        ----------
        Train (2009), Discrete choice methods with simulation, section 2.6.
        """
        from .rules import How
        from .substitution import elasticities

        asked = (products, attribute, change, people, respondent_weights)
        how = How(rule, scale, availability, actual)
        return elasticities(self._people_of_fit(), *asked, ci, how, cores, random_seed)

    def holdouts(self, data: "ChoiceExperiment") -> "pandas.DataFrame":
        r"""How well the fit predicts tasks that were held out of it: hits and log score, and shares
        task by task.

        .. math::

            \frac1T \sum_t \ln p_t(y_t); \qquad
            \frac1T \sum_t [\,y_t = \arg\max_j p_t(j)\,], \text{ ties shared}

        Parameters
        ----------
        data : ChoiceExperiment
            The tasks and what was chosen in them, such as fixed tasks that everybody saw;
            respondents of the fit are predicted by their own tastes, others as new people.

        Returns
        -------
        pandas.DataFrame
            One row for each alternative of each different task (the same products in the same
            order): `task`, `alternative`, the share of `choices` that is `observed`, with its
            standard error `observed_se`, and `predicted`. ``attrs``: `log_score` (mean natural
            logarithm a task; `guessing` is that of chance), `hit_rate`, their errors `log_score_se`
            and `hit_rate_se` by the differences between people, and `share_error`, the mean
            absolute error of the shares.

        Raises
        ------
        NotFittedError
            Before `fit`.
        DataError
            If the data are no choice experiment, or hold an attribute or level that the fit does
            not know.
        """
        from .holdouts import tabulate_holdouts

        return tabulate_holdouts(self, data)

    def source_of_volume(
        self,
        products: "pandas.DataFrame",
        new: Any,
        people: Any = None,
        respondent_weights: Any = None,
        ci: float = INTERVAL,
        cores: int | None = None,
        random_seed: Any = 0,
        rule: str = LOGIT,
        scale: float = 1.0,
        availability: Mapping[str, float] | None = None,
    ) -> "pandas.DataFrame":
        r"""Who loses to a new product: the part of its buyers that each other product had before.

        .. math::

            \frac{s_j(\text{without}) - s_j(\text{with})}{\sum_{k \text{ new}} s_k(\text{with})}

        Parameters
        ----------
        products : data frame
            The market with the new product, as for `market_shares`.
        new : str or list of str
            The products that are not there before.
        people, respondent_weights, ci, cores, random_seed, rule, scale, availability : optional
            As for `market_shares`.

        Returns
        -------
        pandas.DataFrame
            One row for each other product, the no-choice option included: `before`, `after`; `lost`
            and `source`, its part of what the new ones win, with their intervals and errors;
            `proportional`, the source if everybody had the same tastes and products lost in
            proportion to their shares. ``attrs["won"]``: the share of the new.

        Raises
        ------
        NotFittedError
            Before `fit`.
        DataError
            As `market_shares`.
        ArgumentError
            As `market_shares`, or if a new product is not in the market, or every product is new.
        """
        from .rules import How
        from .substitution import source_of_volume

        asked = (products, new, people, respondent_weights)
        return source_of_volume(
            self._people_of_fit(), *asked, ci, How(rule, scale, availability), cores, random_seed
        )

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
        cost: float | None = None,
        rule: str = LOGIT,
        scale: float = 1.0,
        availability: Mapping[str, float] | None = None,
        actual: Mapping[str, float] | None = None,
    ) -> "pandas.DataFrame":
        """The demand curve: the share of a product at each price, or at each value of another
        attribute.

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
        cost : float, optional
            What one sale costs, in units of a price.
        rule, scale, availability, actual : optional
            As for `market_shares`; `actual` shares are those of the market as it is in `products`.

        Returns
        -------
        pandas.DataFrame
            One row a value: the value, `share`, `share_low`, `share_high` and `share_se`. With a
            cost also `profit` for each person of the market, (value - cost) times share, with its
            interval and error, and `probability_best`, the part of the draws in which this value
            earns most.

        Raises
        ------
        NotFittedError
            Before `fit`.
        DataError
            As `market_shares`.
        ArgumentError
            As `market_shares`, or if there is no such product or attribute.
        """
        from .rules import How
        from .shares import demand

        asked = (attribute, product, values, products, people, respondent_weights)
        how = How(rule, scale, availability, actual)
        return demand(self._people_of_fit(), *asked, ci, cost, how, cores, random_seed)

    def level_effects(
        self,
        each_person: bool = False,
        ci: float = INTERVAL,
        cores: int | None = None,
        random_seed: Any = 0,
    ) -> "pandas.DataFrame":
        r"""How often one level of an attribute is preferred to another, all else being equal.

        .. math::

            P(u_n(x \text{ with } b) > u_n(x \text{ with } a)) + \tfrac12 P(\text{tie}), \qquad
            x \text{ of the
            design}

        Of a logit whose attributes interact, products in which the two levels differ by about the
        same count as one, so that they are 256 at most.

        Parameters
        ----------
        each_person : bool
            Whether to give the number of each person instead: a row for each respondent and pair of
            levels.
        ci : float in (0, 1)
            Probability of the intervals.
        cores : int, optional
            Threads; has no influence on the numbers.
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional

        Returns
        -------
        pandas.DataFrame
            `attribute`, `level` (the better one, if there is a direction, else the later) and
            `over`, the other; `effect`, mean over people and draws (.5 = indifferent), its interval
            `low` to `high` over draws, and standard error `std_error`; `respondents_low` to
            `respondents_high`, which contain the share `ci` of people, where they differ;
            `at_bound`, whether the interval begins at .5, below which a declared direction allows
            no effect: then the data have not established one, and however narrow the interval, they
            may speak for the other direction. ``attrs["interval"]`` is `ci`, here and in the other
            tables with intervals.

        Raises
        ------
        NotFittedError
            Before `fit`.
        """
        from .effects import tabulate_level_effects

        return tabulate_level_effects(self._people_of_fit(), each_person, ci, cores, random_seed)

    def utilities(self, ci: float = INTERVAL) -> "pandas.DataFrame":
        r"""Return what each level of each attribute adds to utility, centred.

        .. math::
            v_{il} = u_{il} - \frac1L \sum_m u_{im}; \qquad
            v_{il} \, \frac{100 A}{\sum_k (\max_l u_{kl} - \min_l u_{kl})}

        The utilities u of the L levels of an attribute are those of products that differ in it
        alone, the mean over some products of the data where they depend on other attributes. The
        second are zero-centred differences, by which market researchers compare people: of each
        person the mean range of the A attributes is 100. They are of a person's posterior mean
        utilities. Nothing, where it can be chosen, is compared with a product of which all levels
        of each attribute are alike, and is scaled like the levels.

        Parameters
        ----------
        ci : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        pandas.DataFrame
            One row a level: `attribute` and `level` (inside and none: choosing nothing); `utility`,
            mean over people and draws, its interval `low` to `high` over draws and its standard
            error `std_error`; `zero_centred`, the mean over people of zero-centred differences;
            `respondents_sd` and `zero_centred_sd`, standard deviations of the people's own means,
            where people differ. `respondents.individuals` has the utilities of each person.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If `ci` is no probability.

        References
        ----------
        Orme (2014), answer in the Sawtooth Software forum, "Is there a formula for calculating the
        zero-centered diffs?"; Orme (2020), Getting started with conjoint analysis, chapter 9.
        """
        from .utilities import tabulate_utilities

        return tabulate_utilities(self._people_of_fit(), ci)

    def attribute_importance(
        self,
        each_person: bool = False,
        ci: float = INTERVAL,
        cores: int | None = None,
        random_seed: Any = 0,
    ) -> "pandas.DataFrame":
        r"""How much each attribute matters, in two ways: by ranges of utility, and by choices.

        .. math::
            \frac{\max_l u_{il} - \min_l u_{il}}{\sum_k (\max_l u_{kl} - \min_l u_{kl})}, \text{
            mean over people};
            \qquad \tfrac12 \sum_j \Big|p_j - \sum_l f_{il}\, p_j^{(i
            = l)}\Big|, \text{ mean over tasks}

        The first is what market researchers call importance: it sums to 1, and it depends on which
        levels were tested. The second is how far choices change if all alternatives of a task are
        alike in the attribute: each of its levels l in turn is given to all of them that have the
        attribute, as often (f) as the products of the data have it. Neither depends on the order in
        which levels are listed.

        The choice of nothing, "inside", is a constant and not an attribute that products differ in:
        it has no part of the ranges, and stands last. Its second number is how far choices change
        if products are offered in its place: some of the data in turn, for a logit; a product
        without any attribute, for product classes.

        Parameters
        ----------
        each_person : bool
            Whether to give the numbers of each person instead: a row for each respondent and
            attribute.
        ci : float in (0, 1)
            Probability of the intervals.
        cores : int, optional
            Threads; has no influence on the numbers.
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional

        Returns
        -------
        pandas.DataFrame
            `attribute`; `range_share`, the largest first, its interval `range_share_low` to
            `range_share_high` and `range_share_se`, NaN for the choice of nothing ("inside");
            `importance`, the part of choices, between 0 and 1, and `std_error`, its standard error;
            `respondents_low` to `respondents_high`, which holds that of a share `ci` of people,
            where people differ.

        Raises
        ------
        NotFittedError
            Before `fit`.
        """
        from .effects import tabulate_attribute_importance

        return tabulate_attribute_importance(
            self._people_of_fit(), each_person, ci, cores, random_seed
        )

    def willingness_to_pay(
        self,
        price: str,
        each_person: bool = False,
        people: Any = None,
        respondent_weights: Any = None,
        ci: float = INTERVAL,
    ) -> "pandas.DataFrame":
        r"""How much dearer a product may be for having one level of an attribute and not another.

        .. math:: \Delta_n: \; u_n(x \text{ with } b, \text{price } m + \Delta_n / 2) =
            u_n(x \text{ with } a, \text{price } m - \Delta_n / 2)

        Where utility is linear in the price this is minus the ratio of the coefficients. Elsewhere
        utility is interpolated between the tested prices around their middle m, averaged over
        products of the data, and the answer lies within their range. Utility is the expected one
        where a part of it passes with the occasion.

        Parameters
        ----------
        price : str
            The attribute that holds amounts of money.
        each_person : bool
            Whether to give the amounts of each person instead: a row for each respondent and level.
        people, respondent_weights, ci : optional
            As for `market_shares`, but not "new"; the amounts are those of these respondents.

        Returns
        -------
        pandas.DataFrame
            `attribute`, `level` and `over`, the first level; "1 more" where the attribute is taken
            as a number. `wtp`, the amount that half of the people would pay (posterior median of
            their median; the estimate, where tastes are the same for everybody), its interval
            `wtp_low` to `wtp_high`, and `wtp_se` (by the differences between chains; of an estimate
            by the delta method). `respondents_low` to `respondents_high` holds the share `ci` of
            the people's own medians. `at_limit`: the range of tested prices is too small to tell
            more, or no amount is too large, as for somebody who does not mind the price. In the
            table of each person (`wtp`, `wtp_low`, `wtp_high`, `at_limit`) amounts and ends that
            are infinite are missing, and `at_limit` is "above" for who would pay any amount,
            "below" for who would have to be paid it, and else empty. `attrs["notes"]` has the
            sentences of the warnings. Where people may ignore attributes
            (`HierarchicalLogit(attention=True)`), amounts are those of the people who attend to the
            price, draw by draw: `attrs["attends"]` is their part, the column `attends` each
            person's.

            The interval of an estimate holds the amounts at which indifference is not rejected:
            where utility is linear in the price, that is Fieller's set. An end that the data do not
            bound is infinite, both where the price is not told from 0. The median of an even number
            of people (or draws) is half way between the middle two, or the one of them that is
            finite; it is taken in every draw or, where draws times people times rows exceed 5
            million, in fewer of them (40 or more), evenly through the chains.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If `price` is no attribute, or not one of numbers; otherwise as `market_shares`.

        Warns
        -----
        EstimateWarning
            If the price is not told from 0, or demand rises with it; if the data do not bound an
            amount, or it is larger than any difference of tested prices.

        References
        ----------
        Train (2009), Discrete choice methods with simulation, section 2.3; Fieller (1954), Some
        problems in interval estimation.
        """
        from .pay import willingness_to_pay

        return willingness_to_pay(
            self._people_of_fit(), price, each_person, people, respondent_weights, ci
        )

    def best_products(
        self,
        attributes: Mapping[str, Any],
        competitors: "pandas.DataFrame",
        n: int = 1,
        costs: Mapping[str, Mapping[Any, float]] | None = None,
        price: str | None = None,
        people: Any = None,
        respondent_weights: Any = None,
        ci: float = INTERVAL,
        top: int = 5,
        cores: int | None = None,
        random_seed: Any = 0,
    ) -> "pandas.DataFrame":
        r"""The products that would do best against competitors: those with the largest share, or
        the largest profit.

        .. math:: \max_{x_1, \dots, x_n} \sum_j s_j(x) \quad \text{or} \quad
            \sum_j s_j(x) \Big(\text{price}_j - \sum_i \text{cost}_{i x_{ji}}\Big)

        The line is built by adding the best product to those before, and then by exchanging
        products while that helps; every possible product is tried in each place where there are 300
        or fewer, else attribute by attribute. This search looks at some of the draws; the 20 best
        lines are then compared by all of them.

        Parameters
        ----------
        attributes : dict of lists
            Every attribute -> what it may be; a list of one value keeps it fixed.
        competitors : data frame
            What others offer, as for `market_shares`, a no-choice option included where there is
            one.
        n : int
            How many products the line has.
        costs : dict of dicts, optional
            Attribute -> level -> what it costs; costs of several attributes are added up. Where
            they do not add up, a tuple of attributes -> tuple of their levels -> what this
            combination costs besides, such as ``table.set_index(["zoom",
            "screen"])["cost"].to_dict()`` for the key ``("zoom", "screen")``.
        price : str, optional
            The attribute that says what a sale brings; the aim is then the profit for each person
            of the market.
        people, respondent_weights, ci : optional
            As for `market_shares`.
        top : int
            How many lines are listed.
        cores : int, optional
            Threads; has no influence on the numbers.
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
            As for `market_shares`.

        Returns
        -------
        pandas.DataFrame
            A row a product of each line, the best line first: `line`, the attributes; `share` or
            `profit` of the line, its interval (`share_low` to `share_high`, likewise of the profit)
            and standard error; `probability_best`, the part of the draws in which it is the best of
            the lines compared.

        Raises
        ------
        NotFittedError
            Before `fit`.
        DataError
            If the competitors cannot be read, or a level is not known.
        ArgumentError
            If an attribute lacks its levels, or costs do not cover them; otherwise as
            `market_shares`.

        References
        ----------
        Green & Krieger (1985), Models and heuristics for product line selection.
        """
        from .shares import best_products

        asked = (attributes, competitors, n, costs, price, people, respondent_weights)
        return best_products(self._people_of_fit(), *asked, ci, top, cores, random_seed)
