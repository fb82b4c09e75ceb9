"""What `EliminationByAspects` answers after a fit by maximum likelihood alone: estimates, errors,
tests of fit."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali._inference.numerics.counts import compute_outcomes, log_outcome_coefficients
from thali._model.base import Model
from thali.errors import ArgumentError, DataError, InPython, NotFittedError, Setting

from .aspects import check_identified
from .engine import MAXIMUM_LIKELIHOOD
from .estimates import Estimates
from .fit import at_maximum

if TYPE_CHECKING:
    import pandas

    from .estimates import Estimates
    from .goodness import FitTest


class EstimatedAspects:
    """Answers of estimates; after a fit by another method a NotFittedError names that which has
    them."""

    estimates_: "Estimates"
    method: Any

    if TYPE_CHECKING:

        @property
        def _engine(self) -> Any: ...

        def _require_fitted(self) -> None: ...

    def _maximum(self) -> "Estimates":
        """The estimates of the fit."""
        self._require_fitted()
        if self._engine is not MAXIMUM_LIKELIHOOD:
            wanted = Setting("method", "maximum-likelihood")
            raise NotFittedError(
                "Estimates by maximum likelihood require ",
                wanted,
                "; got ",
                Setting("method", self.method),
                ".",
            )
        return self.estimates_

    @property
    def weights_(self) -> "pandas.Series":
        """The weight of each aspect; they sum to 1. The unique aspects come first, with the labels
        of the options."""
        import pandas as pd

        found = self._maximum()
        return pd.Series(found.weights, pd.Index(found.known.names, name="aspect"), name="weight")

    @property
    def standard_errors_(self) -> "pandas.Series":
        """Standard errors of `weights_`, over people or by the observed information; NaN for a
        weight that is zero."""
        import pandas as pd

        found = self._maximum()
        return pd.Series(
            found.standard_errors, pd.Index(found.known.names, name="aspect"), name="std_error"
        )

    @property
    def utility_scale_(self) -> "pandas.Series":
        """The sum of the weights of each option's aspects, divided by its sum over options."""
        import pandas as pd

        found = self._maximum()
        return pd.Series(found.utility, pd.Index(found.known.labels, name="option"), name="utility")

    @property
    def utility_covariance_(self) -> "pandas.DataFrame":
        """Covariance of `utility_scale_`, by the delta method; weights that are zero count as
        known."""
        import pandas as pd

        found = self._maximum()
        labels = pd.Index(found.known.labels, name="option")
        return pd.DataFrame(found.utility_covariance, labels, labels)

    @property
    def tie_(self) -> float | None:
        """The parameter nu of ties; None if a tie is no outcome."""
        return self._maximum().tie

    @property
    def tie_std_error_(self) -> float | None:
        """Standard error of `tie_`."""
        return self._maximum().tie_std_error

    @property
    def log_likelihood_(self) -> float:
        """Of all the data, multinomial coefficients included."""
        return self._maximum().log_likelihood

    @property
    def deviance_(self) -> float:
        """G², twice the log-likelihood ratio of the saturated model, with `df_` degrees of
        freedom."""
        return self._maximum().deviance

    @property
    def df_(self) -> int:
        """Compared pairs (with ties twice as many) less free parameters."""
        return self._maximum().df

    @property
    def p_value_(self) -> float:
        """Of the deviance, as `fit_test` finds it; NaN where that test says nothing."""
        return self._maximum().p_value

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

        Raises
        ------
        NotFittedError
            Before `fit`.

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
        >>> th.EliminationByAspects("unique", method="maximum-likelihood").fit(taste).fit_test(
        ...     samples=99
        ... ).kind
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
        """How far each compared pair lies from what the fit says of it.

        Parameters
        ----------
        kind : {"deviance", "pearson"}
            Their squares sum to `deviance_` or `pearson_`.

        Returns
        -------
        pandas.DataFrame
            One row a compared pair: a, b, n, observed, predicted, residual. With ties one row an
            outcome of a pair (column outcome: a, tie or b).

        Raises
        ------
        NotFittedError
            Before `fit`.
        """
        from thali._arguments import one_of

        from .tables import residual_table

        one_of("kind", kind, ("deviance", "pearson"))
        return residual_table(self._maximum(), kind)

    def leave_one_out(self) -> "pandas.DataFrame":
        """Predict every compared pair from a fit to the others.

        Returns
        -------
        pandas.DataFrame
            One row a pair: a, b, n, observed, predicted (probability that a is chosen, with ties if
            one of the two is) and nll, the negative logarithm of the probability of the pair's
            outcomes; ``attrs["nll"]`` is its mean.

        Raises
        ------
        NotFittedError
            Before `fit`.
        DataError
            If the other pairs do not tell the weights.
        """

        return leave_one_out(self._maximum())


def estimates_of_choices(model: Any, what: str) -> "Estimates":
    """The same of a model of one of two options chosen, without ties."""
    found = estimates_of(model, what)
    if not found.is_of_choices:
        raise ArgumentError(
            InPython(what, "This result"),
            " requires choices between two options; the model was fitted to comparisons with ties.",
        )
    return found


def estimates_of(model: Any, what: str) -> "Estimates":
    """The estimates of a model fitted by maximum likelihood; an ArgumentError names what needs them
    otherwise."""
    if not is_by_maximum_likelihood(model):
        raise ArgumentError(
            f"{what} requires EliminationByAspects fitted by maximum likelihood; got {model!r}."
        )
    return model._maximum()


def is_by_maximum_likelihood(model: Any) -> bool:
    """Whether the method of a model is maximum likelihood."""
    return isinstance(model, Model) and model._engine is MAXIMUM_LIKELIHOOD


# Predictions for pairs that a fit has not seen ----------------------------------------------------


def leave_one_out(found: Estimates) -> "pandas.DataFrame":
    """Every compared pair, predicted from a fit to the others."""
    from scipy.special import xlogy

    from thali._tables import Table

    data = found.data
    ties, cells = found.tie is not None, data.cells
    predicted, nll = np.empty((2, data.n_pairs))
    for pair, (i, j) in enumerate(zip(data.first, data.second, strict=True)):
        a, b = data.labels[i], data.labels[j]
        try:
            others = data.without_pair(a, b)
            check_identified(found.known, others)
            fit = at_maximum(others, found.known, found.lapse, ties and others.n_ties > 0)
        except DataError as error:
            raise DataError(f"Without the pair {a!r}, {b!r}: ", error) from None
        rows = cells.pair == pair
        p = fit.probabilities(cells.first[rows], cells.second[rows], cells.x[rows])
        counts = np.stack([cells.wins[rows], cells.tied[rows], cells.losses[rows]], axis=1)
        predicted[pair] = p @ counts.sum(axis=1) / counts.sum()
        of_outcome = compute_outcomes(p, 1.0 - p, (fit.tie or 0.0) if ties else 0.0)
        nll[pair] = -log_outcome_coefficients(counts.sum(axis=0)) - xlogy(counts, of_outcome).sum()
    table = Table(data.proportions().rename(columns={"proportion": "observed"}))
    table["predicted"] = predicted
    table["nll"] = nll
    table.attrs["nll"] = float(np.mean(nll))
    return table
