"""The effect of the order in which the two options of a pair are shown."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._printed import Printed
from thali.errors import DataError
from thali.inference.warn import warn
from thali.model.elimination_ml.estimates import Estimates
from thali.model.elimination_ml.fit import STARTS, checked_aspects, estimate, vanishing
from thali.model.elimination_ml.goodness import equal_means_test
from thali.model.elimination_ml.identify import check_identified
from thali.model.elimination_ml.maximum import maximise, starting_points
from thali.model.elimination_ml.problem import Problem, patterns
from thali.model.latent_features.answers.binomial import log_binomial

from .counted import as_groups, pooled
from .tests_of_models import log_poisson, notes, tests_table

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, repr=False, eq=False)
class OrderEffect(Printed):
    """The order effect `order` with its standard error; `.table` has the tests model, order, effect, imbalance."""

    order: float
    std_error: float
    p_value: float
    log_likelihood: float
    weights: "pandas.DataFrame"


def order_effect(forward: Any, backward: Any, aspects: Any = "unique", unique: bool = True) -> OrderEffect:
    r"""Estimate the factor by which being shown second multiplies the odds of an option.

    .. math:: P(i \text{ over } j \mid i \text{ first}) = \frac{A_{ij}}{A_{ij} + \vartheta A_{ji}}

    so that an effect below 1 favours the option shown first, one above 1 the option shown second. With unique aspects
    only this is Davidson and Beaver's model.

    Parameters
    ----------
    forward, backward : PairedComparisons, or square tables of counts
        Row chosen over column. `forward`: those in which the option that stands earlier among the labels was shown
        first; `backward`: those in which the later one was.
    aspects, unique
        As those of `EliminationByAspects`; known aspects only.

    Returns
    -------
    OrderEffect
        order (theta), std_error, p_value (likelihood-ratio test of theta = 1), log_likelihood; `table` with the tests
        of the model against the saturated one, of the order effect, of the effect of the options (all weights equal,
        order effect free), and of the balance of the numbers of comparisons; `weights` with standard errors. The column
        `test` says where a p-value comes from, as `EliminationByAspects.fit_test` does: with one game in each cell the
        test of the model is uninformative, and those of order and effect are valid.

    Raises
    ------
    DataError
        If the two have different options, or the choices do not determine the weights or the order effect.

    References
    ----------
    Davidson & Beaver (1977), On extending the Bradley-Terry model to incorporate within-pair order effects;
    Wickelmaier & Choisel (2006).

    Example
    -------
    >>> forward, backward = [[0, 7, 9], [3, 0, 7], [1, 3, 0]], [[0, 5, 8], [5, 0, 5], [2, 5, 0]]
    >>> effect = order_effect(forward, backward)
    >>> effect.order < 1
    True
    """
    import pandas as pd

    forward, backward = as_groups([forward, backward], "two orders of presentation")
    both = pooled([forward, backward])
    known = checked_aspects(both, aspects, unique, 0.0)
    check_identified(known, both)
    first, second = (np.concatenate([getattr(d, side) for d in (forward, backward)]) for side in ("first", "second"))
    wins, losses = (np.concatenate([getattr(d, side) for d in (forward, backward)]) for side in ("wins", "losses"))
    shown_first = np.repeat([True, False], [forward.n_pairs, backward.n_pairs])
    for_second = float(losses[shown_first].sum() + wins[~shown_first].sum())
    for_first = float(wins.sum() + losses.sum()) - for_second
    if min(for_first, for_second) == 0.0:
        raise DataError(
            f"The option shown {'second' if for_first else 'first'} was never chosen, so that the order effect has no "
            "finite estimate."
        )
    column = np.where(shown_first, -1.0, 1.0)[:, None]
    pose = Problem(wins, losses, *patterns(known.owners, first, second), column, 0.0)
    found = Estimates(both, known, 0.0, pose, maximise(pose, starting_points(pose, STARTS, np.random.default_rng(0))))
    for warning in vanishing(found):
        warn(warning)
    without = estimate(both, aspects, unique)
    order = float(np.exp(found.maximum.beta[0]))
    error = order * float(np.sqrt(found.joint_covariance[-1, -1]))
    null = for_second / for_first
    by_order = np.where(shown_first, 1 / (1 + null), null / (1 + null))
    n, weights = wins + losses, len(known.names) - 1
    rows = {
        "model": (weights + 1, len(n), found.log_likelihood, found.saturated),
        "order": (weights, weights + 1, without.maximum.value + found.coefficient, found.log_likelihood),
        "effect": (1, weights + 1, float(log_binomial(wins, losses, by_order).sum()), found.log_likelihood),
        "imbalance": (1, len(n), log_poisson(n, float(n.mean())), log_poisson(n, n)),
    }
    test = found.usual_test
    table = tests_table(rows, {"model": lambda _: test, "imbalance": lambda value: equal_means_test(n, value)})
    p_value = float(table.loc["order", "p_value"])  # type: ignore[arg-type]
    favoured = "first" if order < 1 else "second"
    return OrderEffect(
        title="Effect of the order within pairs",
        table=table,
        note=f"Order effect {order:.6g} (standard error {error:.4g}, p = {p_value:.4g}): what is shown {favoured} is "
        f"favoured; {null:.6g} if all options are alike. "
        + notes(test, float(n.sum()), weights + 1, "order and effect"),
        order=order,
        std_error=error,
        p_value=p_value,
        log_likelihood=found.log_likelihood,
        weights=pd.DataFrame(found.table()),
    )
