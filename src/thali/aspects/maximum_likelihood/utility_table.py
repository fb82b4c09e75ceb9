"""The utility of each option with its error and interval, as a table."""

from typing import TYPE_CHECKING

import numpy as np

from .estimates import Estimates
from .quasi_variances import quasi_variances

if TYPE_CHECKING:
    import pandas


def utility_table(found: Estimates, ci: float) -> "pandas.DataFrame":
    """One row an option: utility, std_error, and the ends of an interval of that probability.

    Intervals are those of quasi-variances of the logarithms, or where there are none those of each option by itself
    (``attrs["errors"]`` says which); an option of utility 0 has none.
    """
    import pandas as pd

    utility, covariance = found.utility, found.utility_covariance
    error, errors = _errors(utility, covariance)
    reach = np.exp(found.reach(ci) * np.nan_to_num(error))
    is_some = utility > 0.0
    low, high = (np.where(is_some, ends, np.nan) for ends in (utility / reach, utility * reach))
    table = pd.DataFrame(
        {"utility": utility, "std_error": covariance.diagonal().clip(0.0) ** 0.5, "low": low, "high": high},
        index=pd.Index(found.known.labels, name="option"),
    )
    table.attrs |= {"interval": ci, "errors": errors}
    return table


def _errors(utility: np.ndarray, covariance: np.ndarray) -> tuple[np.ndarray, str]:
    """Standard errors of the logarithms of the utilities that are not 0, and what they are of."""
    error = np.full(len(utility), np.nan)
    some = np.flatnonzero(utility > 0.0)
    of_logarithms = covariance[np.ix_(some, some)] / np.outer(utility[some], utility[some])
    quasi = quasi_variances(of_logarithms)
    found = bool((quasi > 0.0).all())
    error[some] = np.sqrt(np.maximum(quasi if found else np.diag(of_logarithms), 0.0))
    return error, "quasi-variances" if found else "each option by itself"
