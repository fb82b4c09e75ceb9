"""Trinary inequality of choice probabilities, which preference trees imply, and its test."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali._aspects.maximum_likelihood.given_aspects import build_known_aspects
from thali._number_format import format_percent
from thali._printed_result import PrintedResult, printed_dataclass
from thali.errors import DataError

from .vote_counts import choice_proportions, prepare_pairs

if TYPE_CHECKING:
    import pandas


@printed_dataclass
class TrinaryInequality(PrintedResult):
    """Test of the trinary inequality: proportion of triples; `triples` lists all."""

    n_tests: int
    proportion: float
    triples: "pandas.DataFrame"


def trinary_inequality(data: Any, aspects: Any) -> TrinaryInequality:
    r"""Test the trinary inequality in every triple to which it applies.

    If x and y share an aspect that z lacks, and :math:`p_{xy} > 1/2`, then in a preference tree

    .. math:: R(x, y, z) = \frac{p_{xy}}{p_{yx}} \frac{p_{yz}}{p_{zy}} \frac{p_{zx}}{p_{xz}} > 1.

    Parameters
    ----------
    data : PairedComparisons, or square table of counts
    aspects : mapping from label to list of aspects, or 0/1 matrix or table
        The shared aspects; aspects of one option have no effect.

    Returns
    -------
    TrinaryInequality
        n_tests, proportion (of triples with R > 1); `table` with quantiles of R; `triples` with x,
        y, z, ratio. Triples with R of the form 0/0 are skipped.

    Raises
    ------
    DataError
        If the inequality applies to no triple.

    References
    ----------
    Tversky & Sattath (1979), Preference trees, p. 554.

    Examples
    --------
    >>> counts = [[0, 6, 9], [4, 0, 8], [1, 2, 0]]
    >>> trinary_inequality(counts, [[1], [1], [0]]).proportion
    0.0
    """
    import pandas as pd

    data = prepare_pairs(data)
    owned_aspects = build_known_aspects(aspects, True, data.labels).shared
    p = choice_proportions(data)
    triple_rows = []
    with np.errstate(divide="ignore", invalid="ignore"):
        odds = p / p.T
    for z in range(data.n_options):
        owned_without_z = owned_aspects[:, ~owned_aspects[z]].astype(int)
        is_shared = (owned_without_z @ owned_without_z.T > 0) & (p > 0.5)
        is_shared[z] = is_shared[:, z] = False
        for x, y in np.argwhere(is_shared):
            with np.errstate(invalid="ignore"):
                triple_ratio = odds[x, y] * odds[y, z] * odds[z, x]
            if not np.isnan(triple_ratio):
                triple_rows.append(
                    (data.labels[x], data.labels[y], data.labels[z], float(triple_ratio))
                )
    if not triple_rows:
        raise DataError(
            "There is nothing to test. The test requires two options that share an aspect lacking"
            " in a third, and one of the two must have been chosen in more than half of their"
            " comparisons."
        )
    triples = pd.DataFrame(triple_rows, columns=["x", "y", "z", "ratio"])
    ratios = np.array([row[3] for row in triple_rows])
    share_confirmed = float(np.mean(ratios > 1))
    quantiles = np.quantile(ratios, [0, 0.25, 0.5, 0.75, 1], method="inverted_cdf")
    table = pd.DataFrame(
        [quantiles],
        index=["R(x, y, z)"],
        columns=["least", "quarter", "median", "three quarters", "most"],
    )
    note = (
        f"{len(triple_rows)} tests; R(x, y, z) > 1, as in a preference tree, in"
        f" {format_percent(share_confirmed, 1)} of the tests."
    )
    return TrinaryInequality(
        "Trinary inequality", table, note, len(triple_rows), share_confirmed, triples
    )
