"""Likelihood-ratio tests between nested models of known aspects."""

from dataclasses import dataclass
from typing import Any

from thali._digits import format_p_value
from thali._labels import shorten
from thali._printed import PrintedResult
from thali.errors import ArgumentError

from .engine import estimates_of
from .estimates import Estimates
from .fit import own_names, within
from .goodness import chi_square_tail, rough

_ROUNDING = 1e-6


@dataclass(frozen=True, repr=False, eq=False)
class LikelihoodRatio(PrintedResult):
    """A test: `statistic` = twice the gain in log-likelihood, `df`, `p_value`; `.table` has both
    models."""

    statistic: float
    df: int
    p_value: float


def likelihood_ratio(smaller: Any, larger: Any) -> LikelihoodRatio:
    r"""Test whether a larger model fits better than a smaller one that is a special case of it.

    .. math:: G^2 = 2 (\ln L_\text{larger} - \ln L_\text{smaller})

    which under the smaller model has about a chi-square distribution with as many degrees of
    freedom as the larger model has weights more, even if pairs were compared only once, as long as
    there are ten comparisons for each weight. (Where weights are zero the test is conservative.)
    Where the data say who answered, the distribution is that over people, whose answers need not be
    independent (Rao & Scott 1984).

    Parameters
    ----------
    smaller, larger : EliminationByAspects
        Fitted by maximum likelihood to the same data, with the same lapse; every aspect of the
        smaller is one of the larger, and every covariate (``covariates=[]`` leaves them out).

    Returns
    -------
    LikelihoodRatio
        With statistic, df, p_value, and `.table`: weights, log_likelihood, deviance, df, aic and
        bic (with the number of compared pairs for n) of both; `print` shows it.

    Raises
    ------
    NotFittedError
        If one was not fitted by maximum likelihood.
    ArgumentError
        If the models are not nested, or were fitted to different data.

    References
    ----------
    Wilks (1938), The large-sample distribution of the likelihood ratio for testing composite
    hypotheses.

    Examples
    --------
    >>> import thali as th
    >>> data = th.datasets.celebrities()
    >>> groups = {"politician": "LBJ HW CDG", "athlete": "JU CY AJF", "star": "BB ET SL"}
    >>> tree = {who: [group] for group, members in groups.items() for who in members.split()}
    >>> btl, tree = (
    ...     th.EliminationByAspects(aspects, method="maximum-likelihood").fit(data)
    ...     for aspects in ("unique", tree)
    ... )
    >>> print(th.likelihood_ratio(btl, tree))
    Likelihood-ratio test
    <BLANKLINE>
             weights  log_likelihood  deviance  df     aic     bic
    smaller        9        -143.039   78.2172  28 302.079 314.747
    larger        12        -119.014   30.1663  25 260.028 277.447
    <BLANKLINE>
    Chi-square 48.0510 on 3 df, p < 0.001
    """
    small, large = (estimates_of(model, "A likelihood-ratio test") for model in (smaller, larger))
    _check_nested(small, large)
    small = within(small, large)
    df = large.n_parameters - small.n_parameters
    statistic = 2.0 * (large.log_likelihood - small.log_likelihood)
    if statistic < -_ROUNDING * max(1.0, abs(large.log_likelihood)):
        raise ArgumentError(
            f"The larger model has a lower log-likelihood ({large.log_likelihood:.6g}; the smaller"
            f" has {small.log_likelihood:.6g}), so its fit missed the maximum; refit it with"
            " another random_seed."
        )
    statistic = max(statistic, 0.0)
    is_tested = small.is_tested_over_people and large.is_tested_over_people
    effect = small.design_effect(large) if is_tested else None
    p_value = chi_square_tail(statistic, df) if effect is None else effect.p_value(statistic)
    over = "" if effect is None else f", clustered by respondent ({effect.people:,})"
    comparisons = float(large.pose.totals.sum())
    import pandas as pd

    rows = [
        (len(f.weights), f.log_likelihood, f.deviance, f.df, f.aic, f.bic) for f in (small, large)
    ]
    columns = ["weights", "log_likelihood", "deviance", "df", "aic", "bic"]
    if own_names(large.data):
        rows = [
            (row[0], len(own_names(f.data)), *row[1:])
            for row, f in zip(rows, (small, large), strict=True)
        ]
        columns.insert(1, "covariates")
    return LikelihoodRatio(
        title="Likelihood-ratio test",
        table=pd.DataFrame(rows, index=["smaller", "larger"], columns=columns),
        note=" ".join(
            [f"Chi-square {statistic:.4f} on {df} df, {format_p_value(p_value)}{over}"]
            + rough("The test is only", comparisons, large.n_parameters)
        ),
        statistic=statistic,
        df=df,
        p_value=p_value,
    )


def _check_nested(small: Estimates, large: Estimates) -> None:
    if not set(own_names(small.data)) <= set(own_names(large.data)):
        same = small.data == large.data
    else:
        same = small.data == large.data.with_covariates(own_names(small.data))
    if not same:
        raise ArgumentError(
            "The two models were fitted to different data; fit both to the same data."
        )
    if small.lapse != large.lapse:
        raise ArgumentError(
            f"The two models have different lapse rates, {small.lapse:g} and {large.lapse:g}; use"
            " the same rate."
        )
    owned = {column.tobytes() for column in large.known.owners.T.copy()}
    alien = [
        name
        for name, column in zip(small.known.names, small.known.owners.T.copy(), strict=True)
        if column.tobytes() not in owned
    ]
    if alien:
        hint = (
            " (check the order of the two models)"
            if large.n_parameters < small.n_parameters
            else ""
        )
        raise ArgumentError(
            f"The larger model has no aspect with the same options as {shorten(alien)} in the"
            f" smaller model, so the models are not nested{hint}; compare models that are not"
            " nested by their AIC or BIC."
        )
    if large.n_parameters == small.n_parameters:
        raise ArgumentError(
            "The two models have the same aspects and covariates, so there is nothing to test;"
            " give a larger model."
        )
