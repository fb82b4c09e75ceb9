"""Results that only fits by maximum likelihood have."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas


class MaximumLikelihoodResults:
    """Results of fits by maximum likelihood, as `model.maximum_likelihood`."""

    def __init__(self, model: Any) -> None:
        self._model = model

    @property
    def _estimates(self) -> Any:
        return self._model._estimates_

    def log_likelihood(self) -> float:
        """Return the maximised log-likelihood of all data, with multinomial coefficients."""
        return self._estimates.log_likelihood

    def aic(self) -> float:
        """Return Akaike's information criterion (AIC) of the fit."""
        return self._estimates.aic

    def bic(self) -> float:
        """Return the Bayesian information criterion (BIC) of the fit."""
        return self._estimates.bic

    def standard_errors(self) -> "pandas.Series":
        """Return the standard error of each parameter, by row name of `summary`.

        It allows for dependence within respondents, or is based on the observed information; NaN
        for a weight that is zero.
        """
        parameters: Any = self._tabulate_parameters()
        return parameters["std_error"]

    def _tabulate_parameters(self) -> "pandas.DataFrame":
        """Return the table of parameters, as `summary` has it."""
        return self._model.summary()
