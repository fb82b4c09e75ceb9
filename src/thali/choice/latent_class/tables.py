"""Tables of a fitted latent-class logit."""

from typing import TYPE_CHECKING

import numpy as np

from thali._tables import Table

if TYPE_CHECKING:
    import pandas as pd

    from .fit import Fit


def size_errors(sizes: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    r"""Standard errors of sizes by the covariance of their log odds against the first class.

    .. math:: \partial \pi_k / \partial \gamma_j = \pi_k (1[k = j] - \pi_j)
    """
    slopes = (np.diag(sizes) - np.outer(sizes, sizes))[:, 1:]
    return np.sqrt(np.maximum(np.einsum("ki,ij,kj->k", slopes, covariance, slopes), 0.0))


def summary_table(sizes: "pd.Series", coef: "pd.DataFrame", covariance: "pd.DataFrame") -> "pd.DataFrame":
    """Sizes and coefficients with their standard errors."""
    from scipy.special import ndtr

    number = len(sizes)
    with np.errstate(invalid="ignore"):
        errors = np.sqrt(np.diag(covariance.to_numpy())[number - 1 :]).reshape(coef.shape)
    of_sizes = size_errors(sizes.to_numpy(), covariance.to_numpy()[: number - 1, : number - 1])
    rows = {}
    for k, label in enumerate(sizes.index):
        rows[f"class {label}: size"] = (sizes.iloc[k], of_sizes[k], np.nan)
        for j, name in enumerate(coef.columns):
            value, error = coef.iloc[k, j], errors[k, j]
            with np.errstate(invalid="ignore", divide="ignore"):
                rows[f"class {label}: {name}"] = (value, error, np.divide(value, error))
    table = Table.from_dict(rows, orient="index", columns=["coef", "se", "z"])
    return Table(table.assign(p=2.0 * ndtr(-table["z"].abs())).rename_axis("coefficient"))


def classes_table(sizes: "pd.Series", coef: "pd.DataFrame", covariance: "pd.DataFrame") -> "pd.DataFrame":
    """A column a class: its size, and what each coefficient is in it."""
    errors = size_errors(sizes.to_numpy(), covariance.to_numpy()[: len(sizes) - 1, : len(sizes) - 1])
    rows = np.vstack([sizes.to_numpy(), errors, coef.to_numpy().T])
    return Table(rows, ["size", "size_se", *coef.columns], [f"class {label}" for label in sizes.index])


def choice_table(found: "dict[int, Fit]") -> "pd.DataFrame":
    """A row a number of classes: by what it is chosen."""
    import pandas as pd

    rows = [
        {
            "log_likelihood": fit.log_likelihood,
            "parameters": fit.parameters,
            "aic": fit.aic,
            "bic": fit.bic,
            "held_out": fit.held_out,
            "entropy_r2": fit.entropy_r2,
            "smallest": float(fit.best.summit.where.sizes.min()),
            "starts": fit.best.starts,
            "times_found": fit.best.times_found,
        }
        for fit in found.values()
    ]
    return pd.DataFrame(rows, pd.Index(list(found), name="classes"))
