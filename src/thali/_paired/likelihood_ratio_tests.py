"""Tables of likelihood-ratio tests between nested models."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from thali._aspects.maximum_likelihood.goodness_of_fit import (
    FitTest,
    chi_square_tail,
    describe_roughness,
)

if TYPE_CHECKING:
    import pandas

COLUMNS = [
    "deviance",
    "df",
    "p_value",
    "test",
    "parameters",
    "larger_parameters",
    "log_likelihood",
    "larger_log_likelihood",
]
# numbers of parameters of the smaller and the larger model, and their log-likelihoods
Row = tuple[int, int, float, float]


def tabulate_tests(
    rows: dict[str, Row], tests: dict[str, Callable[[float], FitTest]]
) -> "pandas.DataFrame":
    """Return a table of likelihood-ratio tests, with p-values by chi-square or `tests`."""
    import pandas as pd

    table_rows = []
    for name, (
        n_small_parameters,
        n_large_parameters,
        small_log_likelihood,
        large_log_likelihood,
    ) in rows.items():
        deviance = max(2.0 * (large_log_likelihood - small_log_likelihood), 0.0)
        df = n_large_parameters - n_small_parameters
        if name in tests:
            fit_test = tests[name](deviance)
        else:
            fit_test = FitTest(deviance, df, chi_square_tail(deviance, df))
        table_rows.append(
            (
                deviance,
                df,
                fit_test.p_value,
                fit_test.kind,
                n_small_parameters,
                n_large_parameters,
                small_log_likelihood,
                large_log_likelihood,
            )
        )
    return pd.DataFrame(table_rows, index=list(rows), columns=COLUMNS)


def describe_caveats(
    model: FitTest, n_comparisons: float, n_parameters: int, nested_tests: str
) -> str:
    """Return caveats of a test of fit and of tests between nested models."""
    sentences = []
    if model.kind == "none":
        sentences.append(f"The test of the model is not available, because {model.why}.")
    sentences += describe_roughness(f"The tests of {nested_tests} are", n_comparisons, n_parameters)
    return " ".join(sentences)


def equal_means_row(counts: np.ndarray) -> Row:
    """Return the table row of the test that all counts have one Poisson mean."""
    return (
        1,
        len(counts),
        _poisson_log_likelihood(counts, float(counts.mean())),
        _poisson_log_likelihood(counts, counts),
    )


def _poisson_log_likelihood(counts: np.ndarray, mean: np.ndarray | float) -> float:
    """Return the summed Poisson log-likelihood of the counts."""
    from scipy.special import gammaln, xlogy

    return float(np.sum(xlogy(counts, mean) - mean - gammaln(counts + 1.0)))
