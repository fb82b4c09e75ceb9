"""Results that every fit by maximum likelihood has and no other fit."""

from typing import Any


class MaximumLikelihoodResults:
    """Results of a fit by maximum likelihood, reached as `model.maximum_likelihood`."""

    def __init__(self, model: Any) -> None:
        self._model = model

    def __repr__(self) -> str:
        return f"<results of {self._model!r}>"

    @property
    def _estimates(self) -> Any:
        return self._model._estimates_

    def log_likelihood(self) -> float:
        """Return the log-likelihood of all data, multinomial coefficients included."""
        return self._estimates.log_likelihood

    def aic(self) -> float:
        """Return Akaike's information criterion."""
        return self._estimates.aic

    def bic(self) -> float:
        """Return the Bayesian information criterion, with n as in the attributes of `summary`."""
        return self._estimates.bic
