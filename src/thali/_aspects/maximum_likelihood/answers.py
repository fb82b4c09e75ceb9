"""Results of elimination by aspects by maximum likelihood: estimates, errors, tests of fit."""

from typing import TYPE_CHECKING, Any

from thali._model.maximum_likelihood import MaximumLikelihoodResults

if TYPE_CHECKING:
    import pandas

    from .goodness import FitTest


class AspectEstimates(MaximumLikelihoodResults):
    """Results of `EliminationByAspects` by maximum likelihood: estimates, errors, tests of fit."""

    def weights(self) -> "pandas.Series":
        """The weight of each aspect; they sum to 1. The unique aspects come first, with the labels
        of the options."""
        return self._model.summary()["weight"]

    def utility_scale(self) -> "pandas.Series":
        """The sum of the weights of each option's aspects, divided by its sum over options."""
        import pandas as pd

        found = self._estimates
        return pd.Series(found.utility, pd.Index(found.known.labels, name="option"), name="utility")

    def utility_covariance(self) -> "pandas.DataFrame":
        """Covariance of `utility_scale`, by the delta method; weights that are zero count as
        known."""
        import pandas as pd

        found = self._estimates
        labels = pd.Index(found.known.labels, name="option")
        return pd.DataFrame(found.utility_covariance, labels, labels)

    def tie(self) -> float | None:
        """The parameter nu of ties; None if a tie is no outcome."""
        return self._estimates.tie

    def tie_std_error(self) -> float | None:
        """Standard error of `tie`."""
        return self._estimates.tie_std_error

    def deviance(self) -> float:
        """G², twice the log-likelihood ratio of the saturated model, with `df` degrees of
        freedom."""
        return self._estimates.deviance

    def df(self) -> int:
        """Compared pairs (with ties twice as many) less free parameters."""
        return self._estimates.df

    def p_value(self) -> float:
        """Of the deviance, as `fit_test` finds it; NaN where that test says nothing."""
        return self._estimates.p_value

    def fit_test(self, samples: int | None = None, random_seed: Any = 0) -> "FitTest":
        r"""Test the fit against a probability of its own for every pair.

        G² has about a chi-square distribution if pairs were compared often enough, that is if

        .. math:: \sum_i \frac{1 / p_i + 1 / (1 - p_i) - 1}{6 n_i} \le 0.1 \sqrt{2 \,\mathrm{df}}.

        Elsewhere its p-value is that of a parametric bootstrap: choices are drawn from the fitted
        model and fitted. The test says nothing (p_value NaN) where pairs were compared fewer than 4
        times on average, where counts are fractional, and where there are as many weights as pairs.

        Parameters
        ----------
        samples : int, optional
            Of the bootstrap. None: chi-square where that holds, else 999, or 199 where fits are
            slow, which takes seconds; above some 80 options, all compared, the bootstrap runs only
            when asked for.
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
            Of the bootstrap.

        Returns
        -------
        FitTest
            statistic (G²), df, p_value, samples (0: chi-square), kind ("chi-square", "bootstrap" or
            "none") and why; `print` shows a sentence.

        References
        ----------
        Williams (1976), Improved likelihood ratio tests for complete contingency tables; Davison &
        Hinkley (1997), Bootstrap methods and their application, section 4.4.

        Examples
        --------
        >>> import thali as th
        >>> taste = th.PairedComparisons(
        ...     [[0, 3, 2, 2], [12, 0, 11, 3], [13, 4, 0, 5], [13, 12, 10, 0]]
        ... )
        >>> model = th.EliminationByAspects("unique", method="maximum-likelihood").fit(taste)
        >>> model.maximum_likelihood.fit_test(samples=99).kind
        'bootstrap'
        """
        return self._estimates.fit_test(samples, random_seed)

    def pearson(self) -> float:
        """Pearson's X²."""
        return self._estimates.pearson

    def residuals(self, kind: str = "deviance") -> "pandas.DataFrame":
        """How far each compared pair lies from what the fit says of it.

        Parameters
        ----------
        kind : {"deviance", "pearson"}
            Their squares sum to `deviance` or `pearson`.

        Returns
        -------
        pandas.DataFrame
            One row a compared pair: a, b, n, observed, predicted, residual. With ties one row an
            outcome of a pair (column outcome: a, tie or b).
        """
        from thali._arguments import check_allowed

        from .tables import residual_table

        check_allowed("kind", kind, ("deviance", "pearson"))
        return residual_table(self._estimates, kind)
