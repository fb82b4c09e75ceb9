"""Ties in paired comparisons: as half wins, or by Davidson's model."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali._aspects.maximum_likelihood.estimates import Estimates
from thali._aspects.maximum_likelihood.fit import fit_checked_aspects
from thali._aspects.maximum_likelihood.given_aspects import build_known_aspects
from thali._aspects.maximum_likelihood.goodness_of_fit import chi_square_tail
from thali._data.connectivity import check_finite
from thali._data.pairs import PairedComparisons
from thali._labels import format_plural
from thali._number_format import format_p_value
from thali._printed_result import PrintedResult, printed_dataclass
from thali.errors import ArgumentError, DataError, InPython

from .order_effects import estimate_advantage
from .vote_counts import merge_orders, prepare_pairs

if TYPE_CHECKING:
    import pandas

    from thali._inference.random_seeds import RandomSeed


def half_wins(data: Any, ties: Any = None) -> PairedComparisons:
    """Count every tie as half a win for either option.

    Parameters
    ----------
    data : PairedComparisons, or square table of counts
    ties : array or data frame, shape (options, options), optional
        Number of ties of each pair, in one triangle or equal in both. None: the ties of the data.

    Returns
    -------
    PairedComparisons
        With fractional counts.

    Raises
    ------
    DataError
        If ties are negative, not square, or differ between the triangles.

    Examples
    --------
    >>> half_wins([[0, 3], [1, 0]], [[0, 1], [0, 0]]).counts
    array([[0. , 3.5],
           [1.5, 0. ]])
    """
    return _set_ties(data, ties).without_ties("half")


@printed_dataclass
class Davidson(PrintedResult):
    """Fit of Davidson's model: worths, tie parameter nu and tests.

    It has `weights` (sum 1), the tie parameter `tie` with `tie_std_error`, and tests of fit; if
    requested, the advantage `order` of the first option with `order_std_error` and `order_p_value`.
    """

    weights: "pandas.Series"
    tie: float
    tie_std_error: float
    log_likelihood: float
    deviance: float
    df: int
    p_value: float
    order: float | None = None
    order_std_error: float | None = None
    order_p_value: float | None = None


def davidson(
    data: Any,
    ties: Any = None,
    samples: int | None = None,
    random_seed: "RandomSeed" = 0,
    *,
    order: bool = False,
) -> Davidson:
    r"""Fit Davidson's extension of the Bradley-Terry-Luce model to ties.

    .. math::
        P(i \text{ over } j) = \frac{w_i}{w_i + w_j + \nu \sqrt{w_i w_j}}, \qquad
        P(\text{tie}) = \frac{\nu \sqrt{w_i w_j}}{w_i + w_j + \nu \sqrt{w_i w_j}}

    With `order` the weight of the option that is shown first, or plays at home, is multiplied by
    gamma.

    Parameters
    ----------
    data : PairedComparisons, or square table of counts
        With `order` they identify the option shown first, or at home
        (`PairedComparisons.from_results`, `from_trials`); or such a data frame; or two data sets of
        the same options: comparisons in which the option that is earlier in the labels was first,
        and comparisons in which the later one was first.
    ties : array or data frame, shape (options, options), optional
        Number of ties of each pair, in one triangle or the same in both. None: those of the data.
    samples, random_seed
        Settings of the test of fit, as in `EliminationByAspects.maximum_likelihood.fit_test`.
    order : bool
        Whether to estimate the advantage gamma of being first, or at home.

    Returns
    -------
    Davidson
        weights (sum 1), tie (nu), tie_std_error, log_likelihood (multinomial coefficients
        included), deviance against the saturated model, df, p_value (NaN if uninformative); `table`
        with weight and std_error of each option; with `order` also order (gamma), order_std_error
        and order_p_value (likelihood-ratio test of gamma = 1).

    Raises
    ------
    DataError
        If there is no tie, or some weight, or the advantage, has no finite estimate.

    References
    ----------
    Davidson (1970), On extending the Bradley-Terry model to accommodate ties in paired comparison
    experiments. Davidson & Beaver (1977), On extending the Bradley-Terry model to incorporate
    within-pair order effects, whose tie parameter is nu over the square root of gamma, and whose
    theta is 1 / gamma.

    Examples
    --------
    >>> import thali as th
    >>> wins, ties = [[0, 5, 6], [2, 0, 4], [1, 3, 0]], [[0, 3, 2], [3, 0, 3], [2, 3, 0]]
    >>> fit = davidson(th.PairedComparisons(wins, ties=ties))
    >>> fit.df, round(fit.tie, 3)
    (3, 0.878)
    """
    import pandas as pd

    from thali._worths.density_from_data import list_wins

    order_caveat = ""
    if order:
        if ties is not None:
            raise ArgumentError(
                "With `order=True`, ties are read from the data; omit the argument `ties`."
            )
        data, order_caveat = merge_orders(data)
    else:
        data = _set_ties(data, ties)
    if not data.tied.any():
        if order:
            alternative = InPython("use order_effect", "use the order test")
        else:
            alternative = InPython("fit EliminationByAspects('unique')", "fit Bradley-Terry-Luce")
        raise DataError("There are no ties; ", alternative, " instead.")
    labels = data.labels
    check_finite(labels, *list_wins(data))
    if not (data.wins.any() or data.losses.any()):
        raise DataError("No finite estimate exists: all comparisons are ties.")
    fit = fit_checked_aspects(
        data, build_known_aspects("unique", True, labels), 0.0, True, n_starts=1
    )
    fit_test = fit.fit_test(samples, random_seed)
    weights = pd.Series(fit.weights, pd.Index(labels, name="option"), name="weight")
    note = f"Tie parameter {fit.tie:.6g} (standard error {fit.tie_std_error:.4g})."
    advantage_results = {}
    if order:
        advantage_results = _report_advantage(fit)
        note += (
            f" Advantage of the first option {advantage_results['order']:.6g} (standard error "
            f"{advantage_results['order_std_error']:.4g}, "
            f"{format_p_value(advantage_results['order_p_value'])}).{order_caveat}"
        )
    assert fit.tie is not None and fit.tie_std_error is not None
    return Davidson(
        title="Bradley-Terry-Luce model with ties (Davidson)",
        table=pd.DataFrame({"weight": weights, "std_error": fit.standard_errors}),
        note=f"{note} {fit_test}",
        weights=weights,
        tie=fit.tie,
        tie_std_error=fit.tie_std_error,
        log_likelihood=fit.log_likelihood,
        deviance=max(fit.deviance, 0.0),
        df=fit.df,
        p_value=fit_test.p_value,
        **advantage_results,
    )


def _report_advantage(fit: Estimates) -> dict[str, float]:
    """Return gamma, its standard error and p-value, by result name."""
    log_advantage, log_error = estimate_advantage(fit)
    fit_without_order = fit_checked_aspects(
        fit.data.with_covariates(()), fit.known, 0.0, True, n_starts=1
    )
    gamma = float(np.exp(log_advantage))
    return {
        "order": gamma,
        "order_std_error": gamma * log_error,
        "order_p_value": chi_square_tail(
            2.0 * (fit.maximum.value - fit_without_order.maximum.value), 1
        ),
    }


def _set_ties(data: Any, ties: Any) -> PairedComparisons:
    """Return the data with these ties; raise if they already contain some."""
    data = prepare_pairs(data, ties=True)
    if ties is None:
        return data
    if data.n_ties:
        raise DataError(
            f"The data already contain {format_plural(data.n_ties, 'tie')}; omit the argument"
            " `ties`."
        )
    return PairedComparisons(data.counts, data.labels, ties, weights=True)
