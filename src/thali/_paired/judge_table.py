"""Table of judges: discrimination, and how well their answers are predicted."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.number_checks import convert_whole_counts
from thali._posterior.effects_with_certain_sign import estimate_positive_probability
from thali._posterior.posterior_interval import compute_interval

if TYPE_CHECKING:
    import pandas

    from thali._worths.judge_agreement import JudgeAgreement
    from thali._worths.posterior_density import DistinctComparisons


def tabulate_judges(
    judges: Sequence[Any],
    log_discriminations: np.ndarray,
    reference: np.ndarray | float,
    rows: "DistinctComparisons",
    agreement: "JudgeAgreement",
    ci: float,
) -> "pandas.DataFrame":
    """Return a table of the first judges of the rows.

    `log_discriminations` has the shape (n_judges, n_draws); `reference` is the log discrimination
    with which they are compared in each draw.
    """
    import pandas as pd

    n_judges = len(judges)
    low, high = np.exp(compute_interval(log_discriminations, ci, axis=1))
    n_comparisons = np.bincount(rows.judge, rows.total, n_judges)[:n_judges]
    return pd.DataFrame(
        {
            "discrimination": np.exp(np.median(log_discriminations, axis=1)),
            "low": low,
            "high": high,
            "log_discrimination": log_discriminations.mean(axis=1),
            "p_sharper": estimate_positive_probability(log_discriminations - reference),
            "comparisons": convert_whole_counts(n_comparisons),
            "log_score": agreement.score[:n_judges],
            "log_score_typical": agreement.expected[:n_judges],
            "log_score_chance": agreement.chance[:n_judges],
        },
        index=pd.Index(np.array(judges, dtype=object), name="judge"),
    )


def sort_judges(table: "pandas.DataFrame") -> "pandas.DataFrame":
    """Return the table with the sharpest judge first."""
    return table.sort_values("discrimination", ascending=False, kind="stable")
