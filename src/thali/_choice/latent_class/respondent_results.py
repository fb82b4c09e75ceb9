"""Results about respondents of a latent-class logit: classes and their effects."""

from typing import TYPE_CHECKING

import numpy as np

from thali._posterior.posterior_interval import INTERVAL, interval_tails
from thali.errors import Argument, ArgumentError

from ..reports.respondent_results import ChoiceRespondents

if TYPE_CHECKING:
    import pandas as pd


class ClassRespondents(ChoiceRespondents):
    """Results about respondents in latent classes.

    `LatentClassLogit.respondents`.
    """

    def classes(self) -> "pd.DataFrame":
        """Return the size and the coefficients of the classes.

        Returns
        -------
        pandas.DataFrame
            One column per class, the largest first; rows size (share of people), size_se, and every
            coefficient.
        """
        from thali._exportable_table import Table

        sizes = self._model._sizes_
        coef = self._model.coef_
        class_rows = np.vstack([sizes, self._model._size_errors(), coef.T])
        class_names = [f"class {label}" for label in sizes.index]
        return Table(class_rows, ["size", "size_se", *coef.columns], class_names)

    def effects(self, ci: float = INTERVAL) -> "pd.DataFrame":
        r"""Return the effects of the columns `by` on the odds of each class against the largest.

        .. math:: \ln \frac{\pi_{nk}}{\pi_{n1}} = z_n^T \gamma_k

        Parameters
        ----------
        ci : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        pandas.DataFrame
            One row per class except the first and per column of people: `latent_class`, `column`;
            `odds`, the factor of the odds of the class against class 1 for one unit of the column,
            with its interval `low` to `high`; `log_odds` and its standard error `std_error`;
            `p_value` (two-sided). The logarithm is normal, or Student's t.

        Raises
        ------
        ArgumentError
            If the model has no columns of people.
        """
        from scipy.special import stdtr, stdtrit

        from thali._exportable_table import Table

        coef = self._model._membership_coef_
        if coef is None:
            raise ArgumentError(
                "The model has no predictors of class membership; name respondent columns with ",
                Argument("by"),
                ".",
            )
        coef_errors = np.sqrt(np.diag(self._model.covariance_))[: coef.iloc[1:].size].reshape(
            len(coef) - 1, coef.shape[1]
        )
        row_labels = [(label, name) for label in coef.index[1:] for name in coef.columns[1:]]
        log_odds = coef.to_numpy()[1:, 1:].ravel()
        std_error = coef_errors[:, 1:].ravel()
        degrees = (
            self._model._degrees_[: coef_errors.size].reshape(coef_errors.shape)[:, 1:].ravel()
        )
        half_width = stdtrit(degrees, interval_tails(ci)[1]) * std_error
        table = Table(row_labels, columns=["latent_class", "column"]).assign(
            odds=np.exp(log_odds),
            low=np.exp(log_odds - half_width),
            high=np.exp(log_odds + half_width),
            log_odds=log_odds,
            std_error=std_error,
            p_value=2.0 * stdtr(degrees, -np.abs(log_odds / std_error)),
        )
        table.attrs["interval"] = ci
        return table
