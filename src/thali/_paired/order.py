"""The effect of the order in which the two options of a pair are shown."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._aspects.maximum_likelihood.aspects import check_identified
from thali._aspects.maximum_likelihood.estimates import Estimates
from thali._aspects.maximum_likelihood.fit import (
    MAX_LOG_ODDS,
    check_aspects,
    estimate,
    fit_checked_aspects,
    warn_unbounded,
)
from thali._aspects.maximum_likelihood.goodness import run_equal_means_test
from thali._data.pairs.parts import build_ties_error
from thali._digits import format_p_value
from thali._inference.numerics.counts import log_binomial
from thali._inference.warn import warn
from thali._printed import PrintedResult
from thali.errors import DataError, InPython, Message

from .counted import by_order, with_order
from .tests_of_models import equal_means_row, notes, tests_table

_LEVEL = 0.05  # below which a p-value tells a direction

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, repr=False, eq=False)
class OrderEffect(PrintedResult):
    """The order effect `order` with its standard error; `.table` has the tests model, order,
    effect, imbalance.

    `advantage`, 1 / order, is the factor of the odds of the option shown first, or at home.
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
    r"""Estimate the factor by which being shown second, or playing away, multiplies the odds of an
    option.

    .. math:: P(i \text{ over } j \mid i \text{ first}) = \frac{A_{ij}}{A_{ij} + \vartheta A_{ji}}

    so that an effect below 1 favours the option shown first, or at home, one above 1 the other.
    With unique aspects only this is Davidson and Beaver's model, and its advantage :math:`\gamma =
    1 / \vartheta` that of playing at home.

    Parameters
    ----------
    data : PairedComparisons or data frame
        Trials, or results of games, which say which option was first
        (`PairedComparisons.from_trials`, `from_results`). With `backward`: those comparisons in
        which the option that stands earlier among the labels was first.
    backward : PairedComparisons, or square table of counts (row chosen over column), optional
        Those in which the later option was first; then `data` may be a table of counts, too.
    aspects, unique
        As those of `EliminationByAspects`; known aspects only.

    Returns
    -------
    OrderEffect
        order (theta) and advantage (gamma) with std_error and advantage_std_error, p_value
        (likelihood-ratio test of theta = 1), log_likelihood; `table` with the tests of the model
        against the saturated one, of the order effect, of the effect of the options (all weights
        equal, order effect free), and of the balance of the numbers of comparisons; `weights` with
        standard errors. The column `test` says where a p-value comes from, as
        `EliminationByAspects.fit_test` does: with one game in each cell the test of the model is
        uninformative, and those of order and effect are valid.

    Raises
    ------
    DataError
        If the data do not say which option was first, there are ties, the two have different
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

    forward, backward = by_order(data if backward is None else [data, backward], ties=True)
    if ties := forward.n_ties + backward.n_ties:
        raise DataError(
            build_ties_error(ties, forward.n_comparisons + backward.n_comparisons),
            " To estimate the order effect with ties as a third outcome, use ",
            Message(
                InPython("paired.davidson(data, order=True)", "thali test davidson --order"), "."
            ),
        )
    both = with_order(forward, backward)
    known = check_aspects(both, aspects, unique, 0.0)
    check_identified(known, both)
    cells = both.cells
    shown_first, wins, losses = cells.x[:, 0] > 0.0, cells.wins, cells.losses
    for_second = float(losses[shown_first].sum() + wins[~shown_first].sum())
    for_first = float(wins.sum() + losses.sum()) - for_second
    if min(for_first, for_second) == 0.0:
        raise DataError(
            f"The {'second' if for_first else 'first'} option was never chosen, so the order"
            " effect has no finite estimate."
        )
    found = fit_checked_aspects(both, known, 0.0)
    for warning in warn_unbounded(found):
        warn(warning)
    without = estimate(both.with_covariates(()), aspects, unique)
    log_advantage, log_error = checked_advantage(found)
    order, advantage = float(np.exp(-log_advantage)), float(np.exp(log_advantage))
    error = order * log_error
    null = for_second / for_first
    alike = np.where(shown_first, 1 / (1 + null), null / (1 + null))
    n, weights = wins + losses, len(known.names) - 1
    rows = {
        "model": (weights + 1, len(n), found.log_likelihood, found.saturated),
        "order": (
            weights,
            weights + 1,
            without.maximum.value + found.coefficient,
            found.log_likelihood,
        ),
        "effect": (
            1,
            weights + 1,
            float(log_binomial(wins, losses, alike).sum()),
            found.log_likelihood,
        ),
        "imbalance": equal_means_row(n),
    }
    test = found.usual_test
    table = tests_table(
        rows, {"model": lambda _: test, "imbalance": lambda value: run_equal_means_test(n, value)}
    )
    p_value = float(table.loc["order", "p_value"])  # type: ignore[arg-type]
    favoured = f"not significant at the {_LEVEL:g} level"
    if p_value < _LEVEL:
        favoured = f"the option shown {'first' if order < 1 else 'second'} is favoured"
    return OrderEffect(
        title="Order effect within pairs",
        table=table,
        note=f"Order effect {order:.6g} (standard error {error:.4g}, {format_p_value(p_value)}):"
        f" {favoured}. If all options were equal, the estimate would be {null:.6g}. Being"
        f" first, or at home, multiplies the odds by {advantage:.6g} (standard error"
        f" {advantage * log_error:.4g}) and adds {log_advantage:.4g} to the log odds (standard"
        f" error {log_error:.4g}). " + notes(test, float(n.sum()), weights + 1, "order and effect"),
        order=order,
        std_error=error,
        advantage=advantage,
        advantage_std_error=advantage * log_error,
        p_value=p_value,
        log_likelihood=found.log_likelihood,
        weights=pd.DataFrame(found.table()),
    )


def checked_advantage(found: Estimates) -> tuple[float, float]:
    """The log of the advantage of the first of two, and its standard error."""
    value, variance = found.covariate_coefficients[0], found.covariate_covariance[0, 0]
    if not (np.isfinite(variance) and abs(value) < MAX_LOG_ODDS):
        raise DataError(
            "The order effect has no finite estimate: the first option was always or never chosen,"
            " or no option was shown both first and second."
        )
    return float(value), float(np.sqrt(variance))
