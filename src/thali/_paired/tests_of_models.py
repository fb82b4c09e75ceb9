"""Rows of a table of likelihood-ratio tests."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from thali._aspects.maximum_likelihood.goodness import FitTest, chi_square_tail, describe_roughness

if TYPE_CHECKING:
    import pandas

COLUMNS = [
    "parameters",
    "larger_parameters",
    "log_likelihood",
    "larger_log_likelihood",
    "deviance",
    "df",
    "p_value",
    "test",
]
# parameters of a smaller and a larger model, and their log-likelihoods
Row = tuple[int, int, float, float]


def tests_table(
    rows: dict[str, Row], tests: dict[str, Callable[[float], FitTest]]
) -> "pandas.DataFrame":
    """One row a likelihood-ratio test: by chi-square, or by the test of that name, which receives
    the statistic."""
    import pandas as pd

    full = []
    for name, (few, many, low, high) in rows.items():
        deviance, df = max(2.0 * (high - low), 0.0), many - few
        found = (
            tests[name](deviance)
            if name in tests
            else FitTest(deviance, df, chi_square_tail(deviance, df))
        )
        full.append((few, many, low, high, deviance, df, found.p_value, found.kind))
    return pd.DataFrame(full, index=list(rows), columns=COLUMNS)


def notes(model: FitTest, comparisons: float, parameters: int, nested: str) -> str:
    """The caveats of a test of a model against the saturated one, and of tests of nested models."""
    sentences = []
    if model.kind == "none":
        sentences.append(f"The test of the model is not available, because {model.why}.")
    sentences += describe_roughness(f"The tests of {nested} are", comparisons, parameters)
    return " ".join(sentences)


def equal_means_row(counts: np.ndarray) -> Row:
    """The test that counts have one Poisson mean, against a mean of each."""
    return 1, len(counts), _log_poisson(counts, float(counts.mean())), _log_poisson(counts, counts)


def _log_poisson(counts: np.ndarray, mean: np.ndarray | float) -> float:
    """Sum of ln Poisson(count | mean)."""
    from scipy.special import gammaln, xlogy

    return float(np.sum(xlogy(counts, mean) - mean - gammaln(counts + 1.0)))
