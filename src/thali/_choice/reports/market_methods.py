"""`MarketMethods`: methods for market studies that every model of described products has."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from thali._model.method_requirements import requires
from thali._posterior.posterior_interval import INTERVAL

from .choice_draws import LOGIT, refuse_same_tastes

if TYPE_CHECKING:
    import pandas

    from thali._data.experiments import ChoiceExperiment
    from thali._inference.random_seeds import RandomSeed
    from thali._model.finding_settings import AnswerSettings

    from .choice_draws import Chooser
    from .respondent_results import ChoiceRespondents


class MarketMethods:
    """Methods on market shares, demand, level effects and willingness to pay.

    A subclass has `_build_chooser`, which returns the respondents and their choices in every draw.
    """

    _compute_once: Any  # from `Model`

    def _complete_settings(
        self, data: "ChoiceExperiment", settings: "AnswerSettings"
    ) -> "AnswerSettings":
        """Return report settings with the price attribute, checked against the data."""
        from .findings import complete_settings

        return complete_settings(self, data, settings)

    def _build_chooser(self) -> "Chooser":
        """Build the `Chooser` of the fitted respondents."""
        raise NotImplementedError

    def _get_fitted_chooser(self) -> "Chooser":
        """Return the `Chooser` of the fitted respondents, built once per fit."""
        return self._compute_once("chooser", self._build_chooser)

    def _require_individual_tastes(self, name: str) -> None:
        """Raise ArgumentError unless tastes differ between respondents."""
        refuse_same_tastes(self._get_fitted_chooser())

    @property
    @requires(_require_individual_tastes)
    def respondents(self) -> "ChoiceRespondents":
        """Results about the respondents, if they differ in the model.

        Returns
        -------
        ChoiceRespondents
            `.individuals()`, their utilities; `.segments(k)`; `.reach(products, size, top)`, the
            product lines that reach most respondents.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If all respondents have the same tastes in the model.
        DataError
            If the data could not be saved in the file of the model.
        """
        from .respondent_results import ChoiceRespondents

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
        random_seed: "RandomSeed" = 0,
        rule: str = LOGIT,
        scale: float = 1.0,
        availability: Mapping[str, float] | None = None,
        actual: Mapping[str, float] | None = None,
    ) -> "pandas.DataFrame":
        r"""Predict the share of each product of a market, and the effect of a change.

        .. math::

            s_j = \sum_n w_n e_n P_n(j \mid X) \Big/ \sum_n w_n e_n, \qquad
            e_n \sim \operatorname{Exp}(1)

        In each draw the respondents get random weights e_n (the Bayesian bootstrap), because they
        are a sample of the market. Shares among these respondents alone have e_n = 1 and narrower
        intervals.

        Parameters
        ----------
        products : data frame
            One row per product, with a column for each attribute; a no-choice option as in the
            data. Names come from a column `product` or `name` or the column of the alternatives,
            otherwise from the index. With a column `scenario` the table contains several markets.
        change : dict, optional
            Attribute -> a level for all products, a list with one per product, or
            {product: level}.
        people : optional
            None: the market that all respondents represent. True or False for each respondent, a
            query of the columns of `people` of the data, such as "age > 40", or a function of that
            table: the market that these respondents represent. "respondents": all respondents
            themselves. A list of names: these respondents themselves. "new": new respondents from
            the population of the model.
        respondent_weights : optional
            A number >= 0 for each respondent: an array, a mapping by respondent, or a column of
            `people`.
        ci : float in (0, 1)
            Probability of the intervals.
        each_draw : bool
            Whether to return the shares of every draw: one row per draw, columns (share, after or
            change; product).
        cores : int, optional
            Threads; does not affect the numbers.
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
            Seed of the respondents' weights in the market, and of simulated occasions and new
            respondents; draws of the sampling distribution of an estimate always have the same
            seed.
        rule : str
            For logits, the rule that turns utilities into choices: "logit", the model itself;
            "first-choice", each respondent chooses the product with the highest utility;
            "randomised-first-choice", the same after adding normal errors with the variance π²/6 of
            logit errors. Two products share a fraction of the error equal to their fraction of
            common levels, so similar products take buyers from each other, and a copy of a product
            only from that product.
        scale : float above 0
            For logits, a factor of all utilities: below 1 shares become more equal, as in a market
            that is less attentive than the questionnaire.
        availability : dict, optional
            Product -> the share of occasions on which it is available, such as awareness times
            distribution; 1 for products that are not named. Shares may sum to less than 1, because
            nothing is bought if no product is available.
        actual : dict, optional
            For logits, the actual share of every product today, summing to 1. A constant is added
            to the utility of each product, in every draw, so that shares before the change equal
            these.

        Returns
        -------
        pandas.DataFrame
            One row per product: `share` (posterior mean, or estimate), `share_low` to `share_high`
            (interval) and `share_se` (Monte Carlo standard error of a posterior mean; standard
            error of an estimate); with a change the same for `after` and `change`.
            ``attrs["whose"]`` describes the respondents, such as "in the population (40
            respondents)". Random numbers are common to all markets. With `actual` the
            interval of `share` has no width, and intervals of the change treat the actual shares as
            certain: ``attrs["notes"]``.

        Raises
        ------
        NotFittedError
            Before `fit`.
        DataError
            If the products cannot be read, or contain an unknown level.
        ArgumentError
            If the change names an unknown product or attribute, the filter selects no respondents,
            or weights are negative or have a wrong number.

        Warns
        -----
        DataWarning
            If a number is outside the tested range; if `people` or weights have no effect, because
            all respondents have the same tastes in the model; if a column of the products is not an
            attribute.

        References
        ----------
        Huber, Orme & Miller (1999), Dealing with product similarity in conjoint simulations; Train
        (2009), Discrete choice methods with simulation, section 2.8 (constants by actual shares);
        Rubin (1981), The Bayesian bootstrap.
        """
        from .market_shares import tabulate_market_shares
        from .share_settings import ShareSettings

        settings = ShareSettings(rule, scale, availability, actual)
        return tabulate_market_shares(
            self._get_fitted_chooser(),
            products,
            change,
            people,
            respondent_weights,
            ci,
            each_draw,
            settings,
            cores,
            random_seed,
        )

    def elasticities(
        self,
        products: "pandas.DataFrame",
        attribute: str | None = None,
        change: float | None = None,
        people: Any = None,
        respondent_weights: Any = None,
        ci: float = INTERVAL,
        cores: int | None = None,
        random_seed: "RandomSeed" = 0,
        rule: str = LOGIT,
        scale: float = 1.0,
        availability: Mapping[str, float] | None = None,
        actual: Mapping[str, float] | None = None,
    ) -> "pandas.DataFrame":
        r"""Compute the percentage change in each share per 1 % rise of one product's price.

        .. math:: e_{jk} = \frac{\partial s_j}{\partial x_k} \frac{x_k}{s_j}; \qquad
            \frac{s_j' - s_j}{(s_j' + s_j) / 2} \Big/ \frac{x_k' - x_k}{(x_k' + x_k) / 2}

        The first is the elasticity at a point, for an attribute that the model treats as a number.
        The second is the arc elasticity of a change of a given size, or to the next tested value.

        Parameters
        ----------
        products : data frame
            The market, as for `market_shares`.
        attribute : str, optional
            An attribute with numbers above 0; None: the price, an attribute of such a name.
        change : float in (-1, 1), optional
            The relative change of an arc, such as 0.1 for 10 %; None: at the point, or, for an
            attribute with a coefficient for each value, to the next tested value above (below the
            highest).
        people, respondent_weights, ci, cores, random_seed, rule, scale, availability, actual :
        optional
            As for `market_shares`.

        Returns
        -------
        pandas.DataFrame
            One row for each product whose number is `changed` and each `product` whose share
            responds, the same (own elasticity) or another (cross elasticity): `elasticity`, the
            mean over draws (or the estimate), its interval `elasticity_low` to `elasticity_high`,
            and `elasticity_se`; for arcs also the numbers `from` and `to`. NaN if the share is 0.

        Raises
        ------
        NotFittedError
            Before `fit`.
        DataError
            As `market_shares`, or if an arc ends at a value without utility in the model.
        ArgumentError
            As `market_shares`, or if the attribute is unknown or not above 0.

        References
        ----------
        Train (2009), Discrete choice methods with simulation, section 2.6.
        """
        from .share_settings import ShareSettings
        from .substitution import tabulate_elasticities

        settings = ShareSettings(rule, scale, availability, actual)
        return tabulate_elasticities(
            self._get_fitted_chooser(),
            products,
            attribute,
            change,
            people,
            respondent_weights,
            ci,
            settings,
            cores,
            random_seed,
        )

    def holdouts(self, data: "ChoiceExperiment") -> "pandas.DataFrame":
        r"""Compare predictions of held-out tasks with the choices: hits, log score, shares.

        .. math::

            \frac1T \sum_t \ln p_t(y_t); \qquad
            \frac1T \sum_t [\,y_t = \arg\max_j p_t(j)\,], \text{ ties shared}

        Parameters
        ----------
        data : ChoiceExperiment
            The tasks and their choices, such as fixed tasks that all respondents saw; respondents
            of the fit are predicted from their tastes, others as new respondents.

        Returns
        -------
        pandas.DataFrame
            One row for each alternative of each different task (the same products in the same
            order): `task`, `alternative`, the `observed` share of `choices`, with its standard
            error `observed_se`, and the `predicted` share. ``attrs``: `log_score` (mean natural
            logarithm per task; `guessing` is its value by chance), `hit_rate`, their standard
            errors `log_score_se` and `hit_rate_se` from the differences between respondents, and
            `share_error`, the mean absolute error of the shares.

        Raises
        ------
        NotFittedError
            Before `fit`.
        DataError
            If the data are not a choice experiment, or contain an attribute or level that the fit
            does not know.
        """
        from .holdout_predictions import tabulate_holdouts

        return tabulate_holdouts(self, data)

    def demand(
        self,
        attribute: str,
        product: str,
        values: Iterable[Any],
        products: "pandas.DataFrame",
        people: Any = None,
        respondent_weights: Any = None,
        ci: float = INTERVAL,
        cores: int | None = None,
        random_seed: "RandomSeed" = 0,
        cost: float | None = None,
        rule: str = LOGIT,
        scale: float = 1.0,
        availability: Mapping[str, float] | None = None,
        actual: Mapping[str, float] | None = None,
    ) -> "pandas.DataFrame":
        """Compute the demand curve: the share of a product at each price or attribute value.

        Parameters
        ----------
        attribute : str
            Such as "price".
        product : str
            One of the names of the market.
        values : list
            The values of the attribute.
        products : data frame
            The market, as for `market_shares`.
        people, respondent_weights, ci, cores, random_seed : optional
            As for `market_shares`.
        cost : float, optional
            The cost per sale, in units of the price.
        rule, scale, availability, actual : optional
            As for `market_shares`; `actual` contains the shares of the unchanged `products`.

        Returns
        -------
        pandas.DataFrame
            One row per value: the value, `share`, `share_low`, `share_high` and `share_se`. With a
            cost also `profit` per person of the market, (value - cost) times share, with its
            interval and error, and `probability_best`, the share of draws in which this value
            earns most.

        Raises
        ------
        NotFittedError
            Before `fit`.
        DataError
            As `market_shares`.
        ArgumentError
            As `market_shares`, or if the product or attribute is unknown.
        """
        from .market_shares import tabulate_demand
        from .share_settings import ShareSettings

        settings = ShareSettings(rule, scale, availability, actual)
        return tabulate_demand(
            self._get_fitted_chooser(),
            attribute,
            product,
            values,
            products,
            people,
            respondent_weights,
            ci,
            cost,
            settings,
            cores,
            random_seed,
        )

    def level_effects(
        self,
        each_person: bool = False,
        people: Any = None,
        ci: float = INTERVAL,
        cores: int | None = None,
        random_seed: "RandomSeed" = 0,
    ) -> "pandas.DataFrame":
        r"""Estimate the probability that one level of an attribute is preferred to another.

        .. math::

            P(u_n(x \text{ with } b) > u_n(x \text{ with } a)) + \tfrac12 P(\text{tie}), \qquad
            x \text{ of the
            design}

        All other attributes are equal. In a logit with interactions, products with nearly the same
        difference between the two levels are merged into at most 256.

        Parameters
        ----------
        each_person : bool
            Whether to return individual results: a row for each respondent and pair of levels.
        people : optional
            Whose mean, as for `market_shares`, except "new". None: the population that the
            respondents represent, by the Bayesian bootstrap; "respondents": the respondents
            themselves, with narrower intervals.
        ci : float in (0, 1)
            Probability of the intervals.
        cores : int, optional
            Threads; does not affect the numbers.
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional

        Returns
        -------
        pandas.DataFrame
            `attribute`, `level` (the better one, if there is a direction, else the later) and
            `over`, the other; `effect`, mean over respondents and draws (0.5 = indifferent), its
            interval `low` to `high`, and standard error `std_error`; `respondents_low`
            to `respondents_high`, which contain the share `ci` of respondents, if they differ;
            `at_bound`, whether the interval starts at 0.5, the minimum that a declared direction
            allows: then the data have not established an effect, and even with a narrow interval
            they may favour the other direction. ``attrs["interval"]`` is `ci`, here and in the
            other tables with intervals.

        Raises
        ------
        NotFittedError
            Before `fit`.
        """
        from .level_effects import tabulate_level_effects

        return tabulate_level_effects(
            self._get_fitted_chooser(), each_person, people, ci, cores, random_seed
        )

    def utilities(
        self, people: Any = None, ci: float = INTERVAL, random_seed: "RandomSeed" = 0
    ) -> "pandas.DataFrame":
        r"""Return the utility of each level of each attribute, centred.

        .. math::
            v_{il} = u_{il} - \frac1L \sum_m u_{im}; \qquad
            v_{il} \, \frac{100 A}{\sum_k (\max_l u_{kl} - \min_l u_{kl})}

        The utilities u of the L levels of an attribute belong to products that differ only in it,
        averaged over some products of the data if they depend on other attributes. The second are
        zero-centred differences, by which market researchers compare respondents: the mean range of
        the A attributes is 100 for each respondent. They use posterior mean utilities of the
        respondent. A no-choice option is compared with a product of average levels, and is scaled
        like the levels.

        Parameters
        ----------
        people : optional
            Whose mean, as for `market_shares`, except "new". None: the population that the
            respondents represent, by the Bayesian bootstrap; "respondents": the respondents
            themselves, with narrower intervals.
        ci : float in (0, 1)
            Probability of the intervals.
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
            Seed of the respondents' weights.

        Returns
        -------
        pandas.DataFrame
            One row per level: `attribute` and `level` (inside and none: the no-choice option);
            `utility`, mean over respondents and draws, its interval `low` to `high` over draws and
            its standard error `std_error`; `zero_centred`, the mean over respondents of
            zero-centred differences; `respondents_sd` and `zero_centred_sd`, standard deviations of
            the respondents' means, if respondents differ. `respondents.individuals` has the
            utilities of each respondent.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If `ci` is not a probability.

        References
        ----------
        Orme (2014), answer in the Sawtooth Software forum, "Is there a formula for calculating the
        zero-centered diffs?"; Orme (2020), Getting started with conjoint analysis, chapter 9.
        """
        from .level_utilities import tabulate_utilities

        return tabulate_utilities(self._get_fitted_chooser(), people, ci, random_seed)

    def attribute_importance(
        self,
        each_person: bool = False,
        people: Any = None,
        ci: float = INTERVAL,
        cores: int | None = None,
        random_seed: "RandomSeed" = 0,
    ) -> "pandas.DataFrame":
        r"""Measure attribute importance by ranges of utility, and by effects on choices.

        .. math::
            \frac{\max_l u_{il} - \min_l u_{il}}{\sum_k (\max_l u_{kl} - \min_l u_{kl})}, \text{
            mean over people};
            \qquad \tfrac12 \sum_j \Big|p_j - \sum_l f_{il}\, p_j^{(i
            = l)}\Big|, \text{ mean over tasks}

        The first is importance as market researchers define it: it sums to 1, and depends on the
        tested levels. The second is the change of choices if all alternatives of a task are equal
        in the attribute: each of its levels l in turn is given to all alternatives that have the
        attribute, with its frequency f in the products of the data. Neither depends on the order of
        the levels.

        The no-choice option, "inside", is a constant and not an attribute in which products differ:
        it has no share of the ranges, and is last. Its second number is the change of choices if
        products replace it: some products of the data in turn, for a logit; a product without any
        attribute, for product classes.

        Parameters
        ----------
        each_person : bool
            Whether to return individual results: a row for each respondent and attribute.
        people : optional
            Whose mean, as for `market_shares`, except "new". None: the population that the
            respondents represent, by the Bayesian bootstrap; "respondents": the respondents
            themselves, with narrower intervals.
        ci : float in (0, 1)
            Probability of the intervals.
        cores : int, optional
            Threads; does not affect the numbers.
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional

        Returns
        -------
        pandas.DataFrame
            `attribute`; `range_share`, the largest first, its interval `range_share_low` to
            `range_share_high` and `range_share_se`, NaN for the no-choice option ("inside");
            `importance`, the share of choices, between 0 and 1, and `std_error`, its standard
            error; `respondents_low` to `respondents_high`, which contain the importance for a share
            `ci` of respondents, if they differ.

        Raises
        ------
        NotFittedError
            Before `fit`.
        """
        from .level_effects import tabulate_attribute_importance

        return tabulate_attribute_importance(
            self._get_fitted_chooser(), each_person, people, ci, cores, random_seed
        )

    def willingness_to_pay(
        self,
        price: str,
        each_person: bool = False,
        people: Any = None,
        respondent_weights: Any = None,
        ci: float = INTERVAL,
        random_seed: "RandomSeed" = 0,
    ) -> "pandas.DataFrame":
        r"""Estimate willingness to pay for one level of an attribute instead of another.

        .. math:: \Delta_n: \; u_n(x \text{ with } b, \text{price } m + \Delta_n / 2) =
            u_n(x \text{ with } a, \text{price } m - \Delta_n / 2)

        If utility is linear in the price, this is minus the ratio of the coefficients. Otherwise
        utility is interpolated between the tested prices around their middle m, averaged over
        products of the data, and the amount is within their range. Expected utility is used if a
        component of utility varies between occasions.

        Parameters
        ----------
        price : str
            The attribute with amounts of money.
        each_person : bool
            Whether to return individual amounts: a row for each respondent and level.
        people, respondent_weights, ci : optional
            As for `market_shares`, except "new".
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
            Seed of the respondents' weights.

        Returns
        -------
        pandas.DataFrame
            `attribute`, `level` and `over`, the first level; "1 more" for a numeric attribute.
            `wtp`, the amount that half of the people would pay (posterior median of the
            respondents' median; the estimate, if all respondents have the same tastes), its
            interval `wtp_low` to `wtp_high`, and `wtp_se` (from the differences between chains; for
            an estimate by the delta method). `respondents_low` to `respondents_high` contain the
            share `ci` of the respondents' medians. `at_limit`: the amount is at least the range of
            tested prices, or unlimited, as for a respondent who is indifferent to the price. In the
            table of individual amounts (`wtp`, `wtp_low`, `wtp_high`, `at_limit`) infinite amounts
            and ends are missing, and `at_limit` is "above" for respondents who would pay any
            amount, "below" for respondents who would require any amount, and otherwise empty.
            `attrs["notes"]` has the sentences of the warnings.

            The interval of an estimate contains the amounts at which indifference is not rejected:
            Fieller's set if utility is linear in the price. An end that the data do not bound is
            infinite; both are infinite if the price effect is not distinguished from 0. The median
            of an even number of respondents (or draws) is the mean of the middle two, or the finite
            one. It is computed in every draw or, if draws times respondents times rows exceed 5
            million, in fewer draws (at least 40), evenly spaced within the chains.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If `price` is not an attribute with numbers; otherwise as `market_shares`.

        Warns
        -----
        EstimateWarning
            If the price effect is not distinguished from 0, or demand rises with the price; if the
            data do not bound an amount, or it exceeds all differences of tested prices.

        References
        ----------
        Train (2009), Discrete choice methods with simulation, section 2.3; Fieller (1954), Some
        problems in interval estimation.
        """
        from .willingness_to_pay import tabulate_willingness_to_pay

        return tabulate_willingness_to_pay(
            self._get_fitted_chooser(),
            price,
            each_person,
            people,
            respondent_weights,
            ci,
            random_seed,
        )
