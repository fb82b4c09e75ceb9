"""Wald tests of linear contrasts of weights or utilities."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali._argument_checks import check_allowed
from thali._aspects.maximum_likelihood.elimination_engine import require_estimates
from thali._aspects.maximum_likelihood.goodness_of_fit import chi_square_tail
from thali._labels import shorten, suggest
from thali._model.answers_by_respondent import compute_orthonormal_basis
from thali._number_format import format_p_value
from thali._printed_result import PrintedResult, printed_dataclass
from thali.errors import ArgumentError

if TYPE_CHECKING:
    from thali._aspects.models.elimination import EliminationByAspects


@printed_dataclass
class WaldTest(PrintedResult):
    """A joint Wald test; `.table` has each contrast with its standard error."""

    statistic: float
    df: int
    p_value: float


def wald_test(model: "EliminationByAspects", contrasts: Any, scale: str = "utility") -> WaldTest:
    r"""Test that linear contrasts of utilities or weights are zero.

    .. math:: W = (C u)' [C \operatorname{cov}(u) C']^- (C u)

    has approximately a chi-square distribution whose degrees of freedom are the rank r of C. Where
    standard errors are over respondents, :math:`W (\nu - r + 1) / (r \nu)` is compared with F on r
    and :math:`\nu - r + 1` degrees of freedom, :math:`\nu` those of the covariance of these
    contrasts.

    Parameters
    ----------
    model : EliminationByAspects
        Fitted by maximum likelihood.
    contrasts : array of shape (contrasts, options or aspects), data frame or list of mappings
        A data frame has the options or aspects as columns. A mapping such as ``{"JU": 1, "CY":
        -1}`` names the nonzero coefficients. Each contrast must sum to 0: only ratios of weights
        are identified, and another sum depends on the scale of the weights.
    scale : {"utility", "weights"}
        Whether C applies to options (the sum of the weights of their aspects) or to aspects.

    Returns
    -------
    WaldTest
        statistic, df, p_value; `table` with estimate, std_error, z and p_value of each contrast.

    Raises
    ------
    ArgumentError
        If contrasts do not fit, do not sum to 0, involve weights without a standard error (on the
        boundary), or exceed the degrees of freedom that the respondents provide.

    References
    ----------
    Wald (1943), Tests of statistical hypotheses concerning several parameters. Pustejovsky & Tipton
    (2018), Small-sample methods for cluster-robust variance estimation and hypothesis testing in
    fixed effects models.

    Examples
    --------
    >>> import thali as th
    >>> model = th.EliminationByAspects("unique", method="maximum-likelihood").fit(
    ...     th.datasets.celebrities()
    ... )
    >>> test = wald_test(model, [{"JU": 1, "CY": -1}, {"JU": 1, "AJF": -1}])
    >>> test.df, round(test.statistic, 2)
    (2, 86.14)
    """
    import pandas as pd

    check_allowed("scale", scale, ("utility", "weights"))
    fit = require_estimates(model, "wald_test")
    if scale == "utility":
        quantity_labels = fit.known.labels
        c = _build_contrasts(contrasts, list(quantity_labels), "options")
        estimates_used = fit.raw_utility
        covariance = fit.raw_utility_covariance()
        weight_contrasts = c @ fit.known.owners
        title = "Wald test on the utility scale"
    else:
        quantity_labels = fit.known.names
        c = _build_contrasts(contrasts, list(quantity_labels), "aspects")
        estimates_used = fit.weights
        covariance = fit.covariance
        weight_contrasts = c
        title = "Wald test on the weights"
    is_used = (c != 0).any(axis=0)
    if undefined_labels := [
        label
        for label, is_undefined in zip(
            quantity_labels, is_used & np.isnan(np.diag(covariance)), strict=True
        )
        if is_undefined
    ]:
        raise ArgumentError(
            f"{shorten(undefined_labels)} has no standard error, because its weight is zero or not"
            " identified; leave it out of the contrasts."
        )
    c = c[:, is_used]
    estimates_used = estimates_used[is_used]
    covariance = covariance[np.ix_(is_used, is_used)]
    contrast_estimates = c @ estimates_used
    contrast_covariance = c @ covariance @ c.T
    df = int(np.linalg.matrix_rank(c))
    statistic = _compute_wald_statistic(contrast_estimates, contrast_covariance, df)
    df_by_contrast = None
    p_value = chi_square_tail(statistic, df)
    if fit.is_over_people:
        df_by_contrast = np.array([fit.degrees(row[None]) for row in weight_contrasts])
        p_value = f_test_p_value(
            statistic, df, fit.degrees(compute_orthonormal_basis(weight_contrasts.T).T)
        )
    std_errors = np.sqrt(np.diag(contrast_covariance))
    z = contrast_estimates / std_errors
    table = pd.DataFrame(
        {
            "estimate": contrast_estimates,
            "std_error": std_errors,
            "z": z,
            "p_value": fit.tail(z, df_by_contrast),
        }
    )
    table.index = [f"contrast {row + 1}" for row in range(len(c))]
    note = f"W = {statistic:.6g} on {df} df, {format_p_value(p_value)}"
    return WaldTest(title, table, note, statistic, df, p_value)


def _compute_wald_statistic(
    contrast_estimates: np.ndarray, contrast_covariance: np.ndarray, df: int
) -> float:
    """Return the Wald statistic; raise ArgumentError if a contrast has no standard error."""
    if (
        np.linalg.matrix_rank(
            contrast_covariance,
            tol=1e-12 * max(np.trace(contrast_covariance), 1e-300),
            hermitian=True,
        )
        < df
    ):
        raise ArgumentError(
            "A contrast has no standard error, because all of its weights are zero; remove this"
            " contrast."
        )
    return float(
        contrast_estimates
        @ np.linalg.pinv(contrast_covariance, rcond=1e-12, hermitian=True)
        @ contrast_estimates
    )


def f_test_p_value(statistic: float, df: int, error_df: float) -> float:
    """Return the p-value of a Wald statistic by the F distribution."""
    from scipy.special import fdtrc

    denominator_df = error_df + 1.0 - df
    if denominator_df < 1e-6:  # 0 within rounding
        raise ArgumentError(
            f"A joint test of {df} contrasts requires more than {df - 1} degrees of freedom, but"
            f" these respondents provide {error_df:.3g}; test fewer contrasts."
        )
    return float(fdtrc(df, denominator_df, max(statistic, 0.0) * denominator_df / (df * error_df)))


def _build_contrasts(contrasts: Any, labels: list[str], noun: str) -> np.ndarray:
    """Return the contrast matrix, one row per contrast, from the user's argument."""
    if isinstance(contrasts, dict):
        contrasts = [contrasts]
    if hasattr(contrasts, "to_dict") and hasattr(contrasts, "columns"):
        contrasts = contrasts.to_dict("records")
    if isinstance(contrasts, list | tuple) and contrasts and isinstance(contrasts[0], dict):
        matrix = np.zeros((len(contrasts), len(labels)))
        for matrix_row, contrast in zip(matrix, contrasts, strict=True):
            for label, coefficient in contrast.items():
                if str(label) not in labels:
                    suggestion = suggest(str(label), labels) or f" They are {shorten(labels)}."
                    raise ArgumentError(
                        f"A contrast contains {label!r}, which is not among the {noun}.{suggestion}"
                    )
                matrix_row[labels.index(str(label))] = coefficient
    else:
        matrix = np.atleast_2d(np.asarray(contrasts, float))
    if matrix.ndim != 2 or matrix.shape[1] != len(labels):
        raise ArgumentError(
            f"Contrasts must have one column for each of the {len(labels)} {noun}; got shape"
            f" {matrix.shape}."
        )
    if not np.isfinite(matrix).all() or not (matrix != 0).any(axis=1).all():
        raise ArgumentError("Every contrast must be finite and have a nonzero entry.")
    for contrast_index, matrix_row in enumerate(matrix):
        if abs(matrix_row.sum()) > 1e-9 * np.abs(matrix_row).sum():
            raise ArgumentError(
                f"Contrast {contrast_index + 1} sums to {matrix_row.sum():g}, but must sum to 0,"
                " because weights"
                " are known only up to a common factor. Compare options with each other, with 1"
                " for one and -1 for the other."
            )
    return matrix
