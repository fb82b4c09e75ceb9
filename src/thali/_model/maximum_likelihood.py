"""Results that only fits by maximum likelihood have."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas


class MaximumLikelihoodResults:
    """Results of a fit by maximum likelihood, reached as `model.maximum_likelihood`."""

    def __init__(self, model: Any) -> None:
        self._model = model

    @property
    def _estimates(self) -> Any:
        return self._model._estimates_

    def log_likelihood(self) -> float:
        """Return the log-likelihood of all data, with multinomial coefficients."""
        return self._estimates.log_likelihood

    def aic(self) -> float:
        """Return Akaike's information criterion."""
        return self._estimates.aic

    def bic(self) -> float:
        """Return the Bayesian information criterion, with n as in the attributes of `summary`."""
        return self._estimates.bic

    def standard_errors(self) -> "pandas.Series":
        """Return the standard error of each row of `summary`.

        It allows for dependence within respondents, or is based on the observed information; NaN
        for a weight that is zero.
        """
        return self._model.summary()["std_error"]
