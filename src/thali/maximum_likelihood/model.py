"""What `EliminationByAspects(method="maximum-likelihood")` answers after `fit`."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali.errors import ArgumentError, NotFittedError

if TYPE_CHECKING:
    import pandas

    from thali.maximum_likelihood.estimates import Estimates
    from thali.maximum_likelihood.goodness import FitTest


class MaximumLikelihoodAnswers:
    """The attributes and answers of a fit by maximum likelihood, for a model that may be fitted in other ways too."""

    aspects: Any
    unique: bool

    def _maximise(self, data, random_seed):
        """Fit by maximum likelihood; the draws of an earlier fit are forgotten."""
        from thali.maximum_likelihood.fit import estimate, warn_of_vanishing

        for name in ("alpha", "sampler", "tempering"):
            if getattr(self, name) is not None:
                raise ArgumentError(f"{name} belongs to method='mcmc'; leave it out with method='maximum-likelihood'.")
        seed = 0 if random_seed is None else random_seed
        found = estimate(data, self.aspects, self.unique, self._lapse(), random_seed=seed)
        self.__dict__.pop("posterior_", None)
        self.__dict__.pop("_summarised", None)
        self.estimates_ = found
        self.interrupted_ = False
        warn_of_vanishing(found, stacklevel=4)
        return self

    def _lapse(self) -> float:
        """The lapse that `fit` uses."""
        raise NotImplementedError

    def _keep(self, *draws) -> None:
        self.__dict__.pop("estimates_", None)
        super()._keep(*draws)  # type: ignore[misc]

    def _fitted(self):
        if "estimates_" in self.__dict__:
            raise NotFittedError(
                "This model was fitted by maximum likelihood and has no draws; see weights_, utility_scale_, summary() "
                "and predict_proba(), or fit it with method='mcmc'."
            )
        return super()._fitted()  # type: ignore[misc]

    def __getattr__(self, name: str):
        own = getattr(type(self), name, None)
        if isinstance(own, property) and own.fget is not None:
            return own.fget(self)  # a property that raised an AttributeError lands here; let it say again why
        if name == "posterior_" and "estimates_" in self.__dict__:
            self._fitted()
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _maximum(self) -> "Estimates":
        if "estimates_" not in self.__dict__:
            raise NotFittedError(
                f"This {type(self).__name__} has not been fitted by maximum likelihood; set "
                "method='maximum-likelihood' and call fit(data)."
            )
        return self.estimates_

    @property
    def weights_(self) -> "pandas.Series":
        """The weight of each aspect; they sum to 1. The unique aspects come first, with the labels of the options."""
        import pandas as pd

        found = self._maximum()
        return pd.Series(found.weights, pd.Index(found.known.names, name="aspect"), name="weight")

    @property
    def standard_errors_(self) -> "pandas.Series":
        """Standard errors of `weights_`, from the observed information; NaN for a weight that is zero."""
        import pandas as pd

        found = self._maximum()
        return pd.Series(found.standard_errors, pd.Index(found.known.names, name="aspect"), name="std_error")

    @property
    def utility_scale_(self) -> "pandas.Series":
        """The sum of the weights of each option's aspects, divided by its sum over options."""
        import pandas as pd

        found = self._maximum()
        return pd.Series(found.utility, pd.Index(found.known.labels, name="option"), name="utility")

    @property
    def utility_covariance_(self) -> "pandas.DataFrame":
        """Covariance of `utility_scale_`, by the delta method; weights that are zero count as known."""
        import pandas as pd

        found = self._maximum()
        labels = pd.Index(found.known.labels, name="option")
        return pd.DataFrame(found.utility_covariance, labels, labels)

    @property
    def log_likelihood_(self) -> float:
        """Of all the data, binomial coefficients included."""
        return self._maximum().log_likelihood

    @property
    def saturated_log_likelihood_(self) -> float:
        """Of the model in which every compared pair has a probability of its own."""
        return self._maximum().saturated

    @property
    def deviance_(self) -> float:
        """G², twice the log-likelihood ratio of the saturated model, with `df_` degrees of freedom."""
        return self._maximum().deviance

    @property
    def df_(self) -> int:
        """Compared pairs less weights plus one."""
        return self._maximum().df

    @property
    def p_value_(self) -> float:
        """Of the deviance, as `fit_test` finds it; NaN where that test says nothing."""
        return self._maximum().p_value

    def fit_test(self, samples: int | None = None, random_seed=0) -> "FitTest":
        r"""Test the fit by maximum likelihood against a probability of its own for every pair.

        G² has about a chi-square distribution if pairs were compared often enough, that is if

        .. math:: \sum_i \frac{1 / p_i + 1 / (1 - p_i) - 1}{6 n_i} \le 0.1 \sqrt{2 \,\mathrm{df}}.

        Elsewhere its p-value is that of a parametric bootstrap: choices are drawn from the fitted model and fitted.
        The test says nothing (p_value NaN) where pairs were compared fewer than 4 times on average, where counts are
        fractional, and where there are as many weights as pairs.

        Parameters
        ----------
        samples : int, optional
            Of the bootstrap. None: chi-square where that holds, else 999, or 199 where fits are slow, which takes
            seconds; above some 80 options, all compared, the bootstrap runs only when asked for.
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
            Of the bootstrap.

        Returns
        -------
        FitTest
            statistic (G²), df, p_value, samples (0: chi-square), kind ("chi-square", "bootstrap" or "none") and why;
            `print` shows a sentence.

        Raises
        ------
        NotFittedError
            Unless fitted by maximum likelihood.

        References
        ----------
        Williams (1976), Improved likelihood ratio tests for complete contingency tables; Davison & Hinkley (1997),
        Bootstrap methods and their application, section 4.4.

        Example
        -------
        >>> import thali as th
        >>> taste = th.PairedComparisons([[0, 3, 2, 2], [12, 0, 11, 3], [13, 4, 0, 5], [13, 12, 10, 0]])
        >>> th.EliminationByAspects("unique", method="maximum-likelihood").fit(taste).fit_test(samples=99).kind
        'bootstrap'
        """
        return self._maximum().fit_test(samples, random_seed)

    @property
    def pearson_(self) -> float:
        """Pearson's X²."""
        return self._maximum().pearson

    @property
    def aic_(self) -> float:
        return self._maximum().aic

    @property
    def bic_(self) -> float:
        """With the number of compared pairs for n."""
        return self._maximum().bic

    def residuals(self, kind: str = "deviance") -> "pandas.DataFrame":
        """How far each compared pair lies from what the maximum-likelihood fit says of it.

        Parameters
        ----------
        kind : {"deviance", "pearson"}
            Their squares sum to `deviance_` or `pearson_`.

        Returns
        -------
        pandas.DataFrame
            One row a compared pair: a, b, n, observed, predicted, residual.

        Raises
        ------
        NotFittedError
            Unless fitted by maximum likelihood.
        """
        from thali.models.arguments import one_of

        one_of("kind", kind, ("deviance", "pearson"))
        found = self._maximum()
        table = found.data.proportions().rename(columns={"proportion": "observed"})
        table["predicted"] = found.fitted()[0]
        table["residual"] = found.residuals(kind)
        return table

    def leave_one_out(self) -> "pandas.DataFrame":
        """Predict every compared pair from a maximum-likelihood fit to the others.

        Returns
        -------
        pandas.DataFrame
            One row a pair: a, b, n, observed, predicted (probability that a is chosen) and nll, the negative logarithm
            of the binomial probability of the pair's choices; ``attrs["nll"]`` is its mean.

        Raises
        ------
        NotFittedError
            Unless fitted by maximum likelihood.
        DataError
            If the other pairs do not tell the weights.
        """
        from thali.maximum_likelihood.leave_out import leave_one_out

        return leave_one_out(self._maximum())

    def summary(self) -> "pandas.DataFrame":
        """Of draws as `LatentFeatureModel.summary`; of a fit by maximum likelihood the weights and their tests.

        Returns
        -------
        pandas.DataFrame
            After maximum likelihood one row an aspect: weight, std_error, z and p_value (Wald test that the weight is
            zero), lower and upper (95 % interval). ``attrs`` holds lapse, log_likelihood, deviance, df, p_value,
            pearson, aic and bic.

        Raises
        ------
        NotFittedError
            Before `fit`.
        """
        if "estimates_" not in self.__dict__:
            return super().summary()  # type: ignore[misc]
        table = self.estimates_.table()
        for name in ("lapse", "log_likelihood", "deviance", "df", "p_value", "pearson", "aic", "bic"):
            table.attrs[name] = getattr(self.estimates_, name)
        return table

    def predict_proba(self, sets) -> "np.ndarray | list[np.ndarray]":
        """Choice probabilities, lapse included: posterior means, or after maximum likelihood the estimates.

        Parameters
        ----------
        sets : list of (a, b), list of lists, or Choices
            Labels of the options that are offered together.

        Returns
        -------
        ndarray, shape (number of pairs,), or list of ndarray
            Of pairs alone: the probability that a is chosen over b. Of larger sets, or `Choices`: for each set the
            probabilities of its members, in their order.

        Raises
        ------
        ArgumentError
            If a label is unknown, or an entry is not two different options or more.
        """
        if "estimates_" not in self.__dict__:
            return super().predict_proba(sets)  # type: ignore[misc]
        from thali.posterior.predict import places_of

        found = self.estimates_
        places, paired = places_of(sets, list(found.data.labels))
        if paired:
            return found.probabilities(*np.array(places).T)
        return [found.set_probabilities(each) for each in places]
