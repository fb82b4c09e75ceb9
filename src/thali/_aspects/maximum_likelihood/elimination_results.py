"""Results of elimination by aspects by maximum likelihood: estimates, errors, tests of fit."""

from typing import TYPE_CHECKING, Any

from thali._model.maximum_likelihood_results import MaximumLikelihoodResults

if TYPE_CHECKING:
    import pandas

    from thali._inference.random_seeds import RandomSeed

    from .goodness_of_fit import FitTest


class AspectEstimates(MaximumLikelihoodResults):
    """Results of `EliminationByAspects` by maximum likelihood: estimates, errors, tests of fit."""

    def weights(self) -> "pandas.Series":
        """Return the weight of each aspect, which sum to 1, unique aspects first."""
        parameters: Any = self._tabulate_parameters()
        return parameters["weight"]

    def _tabulate_parameters(self) -> "pandas.DataFrame":
        """Return the table of weights without the bootstrap test of fit."""
        return self._estimates.table()

    def utility_scale(self) -> "pandas.Series":
        """Return the sum of the weights of each option's aspects, divided by its total."""
        import pandas as pd

        estimates = self._estimates
        return pd.Series(
            estimates.utility, pd.Index(estimates.known.labels, name="option"), name="utility"
        )

    def utility_covariance(self) -> "pandas.DataFrame":
        """Return the covariance of `utility_scale`, by the delta method; zero weights are fixed."""
        import pandas as pd

        estimates = self._estimates
        labels = pd.Index(estimates.known.labels, name="option")
        return pd.DataFrame(estimates.utility_covariance, labels, labels)

    def tie(self) -> float | None:
        """Return the tie parameter nu; None if the data have no ties as outcomes."""
        return self._estimates.tie

    def tie_std_error(self) -> float | None:
        """Return the standard error of the tie parameter nu; None without ties."""
        return self._estimates.tie_std_error

    def deviance(self) -> float:
        """Return G², twice the log-likelihood ratio of the saturated model, with `df` degrees."""
        return self._estimates.deviance

    def df(self) -> int:
        """Return the number of compared pairs (with ties twice it) minus free parameters."""
        return self._estimates.df

    def p_value(self) -> float:
        """Return the p-value of `fit_test`; NaN if that test is not available."""
        return self._estimates.p_value

    def fit_test(self, samples: int | None = None, random_seed: "RandomSeed" = 0) -> "FitTest":
        r"""Test the fit against separate probabilities for every pair.

        G² has approximately a chi-square distribution if pairs were compared often enough:

        .. math:: \sum_i \frac{1 / p_i + 1 / (1 - p_i) - 1}{6 n_i} \le 0.1 \sqrt{2 \,\mathrm{df}}.

        Otherwise the p-value comes from a parametric bootstrap: choices are drawn from the fitted
        model and refitted. The test is not available (p_value NaN) if pairs were compared fewer
        than 4 times on average, if counts are fractional, or if there are no more pairs than
        weights.

        Parameters
        ----------
        samples : int, optional
            Number of bootstrap samples. None: chi-square if it is accurate, else 999, or 199 for
            slow fits, which takes seconds; with more than about 80 options, all compared, the
            bootstrap runs only on request.
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
            Seed of the bootstrap.

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
        """Return Pearson's X² of the fit over all pairs."""
        return self._estimates.pearson

    def residuals(self, kind: str = "deviance") -> "pandas.DataFrame":
        """Return the deviance or Pearson residual of each compared pair.

        Parameters
        ----------
        kind : {"deviance", "pearson"}
            Their squares sum to `deviance` or `pearson`.

        Returns
        -------
        pandas.DataFrame
            One row per compared pair: a, b, n, observed, predicted, residual. With ties one row per
            outcome of a pair (column outcome: a, tie or b).
        """
        from thali._argument_checks import check_allowed

        from .estimate_tables import build_residual_table

        check_allowed("kind", kind, ("deviance", "pearson"))
        return build_residual_table(self._estimates, kind)
