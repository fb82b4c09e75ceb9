"""Likelihood-ratio tests between nested models of given aspects."""

from typing import TYPE_CHECKING

from thali._labels import shorten
from thali._number_format import format_p_value
from thali._printed_result import PrintedResult, printed_dataclass
from thali.errors import ArgumentError

from .elimination_engine import require_estimates
from .estimates import Estimates
from .fit import refine_cells
from .goodness_of_fit import (
    FitTest,
    chi_square_tail,
    describe_clusters,
    describe_roughness,
)

if TYPE_CHECKING:
    from ..models.elimination import EliminationByAspects


_ROUNDING = 1e-6


@printed_dataclass
class LikelihoodRatio(PrintedResult):
    """A likelihood-ratio test: `statistic`, `df`, `p_value` and `.table`.

    `independent_p_value` is that of independent answers, the same without respondents.
    """

    statistic: float
    df: int
    p_value: float
    independent_p_value: float


def likelihood_ratio(
    smaller: "EliminationByAspects", larger: "EliminationByAspects"
) -> LikelihoodRatio:
    r"""Test whether a larger model fits better than a nested smaller one.

    .. math:: G^2 = 2 (\ln L_\text{larger} - \ln L_\text{smaller})

    Under the smaller model it has approximately a chi-square distribution, whose degrees of freedom
    are the number of additional weights, even if pairs were compared only once, as long as there
    are ten comparisons per weight. (With zero weights the test is conservative.) If the data have
    respondents, the distribution is over respondents, whose answers need not be independent (Rao &
    Scott 1984).

    Parameters
    ----------
    smaller, larger : EliminationByAspects
        Fitted by maximum likelihood to the same data, with the same lapse; the larger model has
        every aspect and covariate of the smaller (``covariates=[]`` omits all covariates).

    Returns
    -------
    LikelihoodRatio
        With statistic, df, p_value, independent_p_value, and `.table`: weights, log_likelihood,
        deviance, df, aic and bic (with the number of compared pairs for n) of both; `print` shows
        it.

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
    smaller_estimates, larger_estimates = (
        require_estimates(model, "A likelihood-ratio test") for model in (smaller, larger)
    )
    _check_nested(smaller_estimates, larger_estimates)
    smaller_estimates = refine_cells(smaller_estimates, larger_estimates)
    df = larger_estimates.n_parameters - smaller_estimates.n_parameters
    statistic = 2.0 * (larger_estimates.log_likelihood - smaller_estimates.log_likelihood)
    if statistic < -_ROUNDING * max(1.0, abs(larger_estimates.log_likelihood)):
        raise ArgumentError(
            f"The larger model has a lower log-likelihood ({larger_estimates.log_likelihood:.6g};"
            f" the smaller has {smaller_estimates.log_likelihood:.6g}), so its fit missed the"
            " maximum; refit it with another random_seed."
        )
    statistic = max(statistic, 0.0)
    test = smaller_estimates.test_nested(larger_estimates, statistic)
    n_comparisons = float(larger_estimates.problem.totals.sum())
    import pandas as pd

    table_rows = [
        (len(f.weights), f.log_likelihood, f.deviance, f.df, f.aic, f.bic)
        for f in (smaller_estimates, larger_estimates)
    ]
    column_names = ["weights", "log_likelihood", "deviance", "df", "aic", "bic"]
    if larger_estimates.data.covariate_names:
        table_rows = [
            (row[0], len(f.data.covariate_names), *row[1:])
            for row, f in zip(table_rows, (smaller_estimates, larger_estimates), strict=True)
        ]
        column_names.insert(1, "covariates")
    return LikelihoodRatio(
        title="Likelihood-ratio test",
        table=pd.DataFrame(table_rows, index=["smaller", "larger"], columns=column_names),
        note=" ".join(
            [
                f"Chi-square {statistic:.4f} on {df} df, {format_p_value(test.p_value)}"
                f"{describe_clusters(test.n_respondents)}"
                f"{_compare_clusters(test, larger_estimates)}"
            ]
            + describe_roughness("The test is only", n_comparisons, larger_estimates.n_parameters)
        ),
        statistic=statistic,
        df=df,
        p_value=test.p_value,
        independent_p_value=chi_square_tail(statistic, df),
    )


def _compare_clusters(test: FitTest, larger: Estimates) -> str:
    """Return words on the p-value of independent answers, beside that over respondents."""
    if test.n_respondents:
        independent_p_value = chi_square_tail(test.statistic, test.df)
        return f"; {format_p_value(independent_p_value)} if all answers were independent."
    if larger.clusters is not None:
        return ". The answers of each respondent are treated as independent."
    return ""


def _check_nested(small: Estimates, large: Estimates) -> None:
    """Raise ArgumentError unless the smaller model is a special case of the larger."""
    large_data = large.data
    small_names = small.data.covariate_names
    if set(small_names) <= set(large_data.covariate_names):
        large_data = large_data.with_covariates(small_names)
    if small.data != large_data:
        raise ArgumentError(
            "The two models were fitted to different data; fit both to the same data."
        )
    if small.lapse != large.lapse:
        raise ArgumentError(
            f"The two models have different lapse rates, {small.lapse:g} and {large.lapse:g}; use"
            " the same rate."
        )
    owner_sets = {column.tobytes() for column in large.known.owners.T.copy()}
    missing_names = [
        name
        for name, column in zip(small.known.names, small.known.owners.T.copy(), strict=True)
        if column.tobytes() not in owner_sets
    ]
    if missing_names:
        order_hint = ""
        if large.n_parameters < small.n_parameters:
            order_hint = " (check the order of the two models)"
        raise ArgumentError(
            f"The larger model has no aspect with the same options as {shorten(missing_names)} in"
            f" the smaller model, so the models are not nested{order_hint}; compare non-nested"
            " models by AIC or BIC."
        )
    if large.n_parameters == small.n_parameters:
        raise ArgumentError(
            "The two models have the same aspects and covariates, so there is nothing to test;"
            " give a larger model."
        )
