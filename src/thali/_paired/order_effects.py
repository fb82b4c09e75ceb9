"""Effect of the order in which a pair is shown (or of playing at home) on choices."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali._aspects.maximum_likelihood.estimates import Estimates
from thali._aspects.maximum_likelihood.fit import (
    MAX_LOG_ODDS,
    check_aspects,
    estimate,
    fit_checked_aspects,
    warn_unbounded,
)
from thali._aspects.maximum_likelihood.given_aspects import check_identified
from thali._aspects.maximum_likelihood.goodness_of_fit import run_equal_means_test
from thali._data.pairs import PairedComparisons
from thali._data.pairs.covariates import CovariateCells
from thali._data.pairs.data_subsets import build_ties_error
from thali._inference.numerics.log_densities import log_binomial
from thali._inference.user_warnings import warn
from thali._number_format import format_p_value
from thali._printed_result import PrintedResult, printed_dataclass
from thali.errors import DataError, InPython

from .likelihood_ratio_tests import describe_caveats, equal_means_row, tabulate_tests
from .vote_counts import merge_orders

_LEVEL = 0.05  # p-values below indicate a direction

if TYPE_CHECKING:
    import pandas


@printed_dataclass
class OrderEffect(PrintedResult):
    """The order effect with standard error; `.table` has likelihood-ratio tests.

    `advantage`, 1 / order, multiplies the odds of the option shown first, or at home.
    """

    order: float
    std_error: float
    advantage: float
    advantage_std_error: float
    p_value: float
    log_likelihood: float
    weights: "pandas.DataFrame"


def order_effect(
    data: Any, backward: Any = None, aspects: Any = "unique", unique: bool = True
) -> OrderEffect:
    r"""Estimate by what factor being shown second (or playing away) multiplies the odds.

    .. math:: P(i \text{ over } j \mid i \text{ first}) = \frac{A_{ij}}{A_{ij} + \vartheta A_{ji}}

    so that an effect below 1 favours the option shown first, or at home, one above 1 the other.
    With unique aspects only this is Davidson and Beaver's model, and its advantage :math:`\gamma =
    1 / \vartheta` that of playing at home.

    Parameters
    ----------
    data : PairedComparisons or data frame
        Trials, or results of games, which identify the first option
        (`PairedComparisons.from_trials`, `from_results`). With `backward`: the comparisons in
        which the option that is earlier in the labels was first.
    backward : PairedComparisons, or square table of counts (row chosen over column), optional
        The comparisons in which the later option was first; then `data` may be a table of counts.
    aspects, unique
        As in `EliminationByAspects`; known aspects only.

    Returns
    -------
    OrderEffect
        order (theta) and advantage (gamma) with std_error and advantage_std_error, p_value
        (likelihood-ratio test of theta = 1), log_likelihood; `table` with the tests of the model
        against the saturated one, of the order effect, of the effect of the options (all weights
        equal, order effect free), and of the balance of the numbers of comparisons; `weights` with
        standard errors. The column `test` states the source of a p-value, as in
        `EliminationByAspects.maximum_likelihood.fit_test`: with one game per cell the test of the
        model is uninformative, and the tests of order and effect are valid.

    Raises
    ------
    DataError
        If the data do not identify the first option, there are ties, the two have different
        options, or the choices do not determine the weights or the order effect.

    References
    ----------
    Davidson & Beaver (1977), On extending the Bradley-Terry model to incorporate within-pair order
    effects; Wickelmaier & Choisel (2006).

    Examples
    --------
    >>> forward, backward = [[0, 7, 9], [3, 0, 7], [1, 3, 0]], [[0, 5, 8], [5, 0, 5], [2, 5, 0]]
    >>> effect = order_effect(forward, backward)
    >>> effect.order < 1
    True
    >>> import pandas as pd
    >>> games = [
    ...     ("Hull", "Stoke", "H"),
    ...     ("Stoke", "Hull", "A"),
    ...     ("Hull", "Stoke", "A"),
    ...     ("Stoke", "Hull", "H"),
    ... ] * 3
    >>> games = pd.DataFrame([*games, ("Hull", "Stoke", "H")], columns=["home", "away", "result"])
    >>> round(order_effect(games).advantage, 3)
    1.155
    """
    import pandas as pd

    if backward is not None:
        data = [data, backward]
    merged_data, caveat = merge_orders(data)
    _refuse_ties(merged_data)
    aspects_by_option = check_aspects(merged_data, aspects, unique, 0.0)
    check_identified(aspects_by_option, merged_data)
    cells = merged_data.cells
    wins = cells.wins
    losses = cells.losses
    n_for_first, n_for_second = _count_by_position(cells)
    fit = fit_checked_aspects(merged_data, aspects_by_option, 0.0)
    for warning in warn_unbounded(fit):
        warn(warning)
    fit_without_order = estimate(merged_data.with_covariates(()), aspects, unique)
    log_advantage, log_error = estimate_advantage(fit)
    second_factor = float(np.exp(-log_advantage))
    first_factor = float(np.exp(log_advantage))
    factor_error = second_factor * log_error
    odds_if_equal = n_for_second / n_for_first
    n = wins + losses
    n_weights = len(aspects_by_option.names) - 1
    log_likelihood_without_order = fit_without_order.maximum.value + fit.coefficient
    log_likelihood_if_equal = _compute_likelihood_if_equal(cells, odds_if_equal)
    test_rows = {
        "model": (n_weights + 1, len(n), fit.log_likelihood, fit.saturated_value),
        "order": (n_weights, n_weights + 1, log_likelihood_without_order, fit.log_likelihood),
        "effect": (1, n_weights + 1, log_likelihood_if_equal, fit.log_likelihood),
        "imbalance": equal_means_row(n),
    }
    fit_test = fit.default_test
    tests = {
        "model": lambda _: fit_test,
        "imbalance": lambda statistic: run_equal_means_test(n, statistic),
    }
    table = tabulate_tests(test_rows, tests)
    p_value = float(table.loc["order", "p_value"])  # type: ignore[arg-type]
    return OrderEffect(
        title="Order effect within pairs",
        table=table,
        note=f"Order effect {second_factor:.3g} (standard error {factor_error:.3g};"
        f" likelihood-ratio test, {format_p_value(p_value)}):"
        f" {_describe_favoured(second_factor, p_value)}. In a model in which all options have"
        " equal worth, the estimate would be"
        f" {odds_if_equal:.3g}. Being first, or at home, multiplies the odds by {first_factor:.3g}"
        " (standard"
        f" error {first_factor * log_error:.3g}) and adds {log_advantage:.3g} to the log odds"
        f" (standard error {log_error:.3g}).{caveat} "
        + describe_caveats(fit_test, float(n.sum()), n_weights + 1, "order and effect"),
        order=second_factor,
        std_error=factor_error,
        advantage=first_factor,
        advantage_std_error=first_factor * log_error,
        p_value=p_value,
        log_likelihood=fit.log_likelihood,
        weights=pd.DataFrame(fit.table()),
    )


def _refuse_ties(data: PairedComparisons) -> None:
    """Raise DataError if there are ties."""
    if data.n_ties:
        raise DataError(
            build_ties_error(data.n_ties, data.n_comparisons),
            " To estimate the order effect with ties as a third outcome, use ",
            InPython("paired.davidson(data, order=True)", "thali test davidson --order"),
            ".",
        )


def _count_by_position(cells: CovariateCells) -> tuple[float, float]:
    """Return how often the first and second shown option was chosen; raise if never."""
    is_shown_first = cells.x[:, 0] > 0.0
    n_for_second = float(cells.losses[is_shown_first].sum() + cells.wins[~is_shown_first].sum())
    n_for_first = float(cells.wins.sum() + cells.losses.sum()) - n_for_second
    for position, n_chosen in (("first", n_for_first), ("second", n_for_second)):
        if n_chosen == 0.0:
            raise DataError(
                f"The {position} option was never chosen, so the order effect has no finite"
                " estimate."
            )
    return n_for_first, n_for_second


def _compute_likelihood_if_equal(cells: CovariateCells, odds_if_equal: float) -> float:
    """Return the log-likelihood if all options were equal, with this order effect."""
    is_shown_first = cells.x[:, 0] > 0.0
    p_first_equal = np.where(
        is_shown_first, 1 / (1 + odds_if_equal), odds_if_equal / (1 + odds_if_equal)
    )
    return float(log_binomial(cells.wins, cells.losses, p_first_equal).sum())


def _describe_favoured(second_factor: float, p_value: float) -> str:
    """Return which position is favoured, if the effect is significant."""
    if p_value >= _LEVEL:
        return f"not significant at the {_LEVEL:g} level"
    if second_factor < 1:
        return "the option shown first is favoured"
    return "the option shown second is favoured"


def estimate_advantage(fit: Estimates) -> tuple[float, float]:
    """Return the log advantage of the first option and its standard error."""
    log_advantage = fit.covariate_coefficients[0]
    variance = fit.covariate_covariance[0, 0]
    if not (np.isfinite(variance) and abs(log_advantage) < MAX_LOG_ODDS):
        raise DataError(
            "The order effect has no finite estimate: the first option was always or never chosen,"
            " or no option was shown both first and second."
        )
    return float(log_advantage), float(np.sqrt(variance))
