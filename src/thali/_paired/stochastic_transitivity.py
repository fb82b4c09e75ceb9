"""Weak, moderate and strong stochastic transitivity of observed choice proportions."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._printed import PrintedResult
from thali.errors import DataError

from .counted import as_pairs, proportions

if TYPE_CHECKING:
    import pandas

_ORDERS = np.array([(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)])
KINDS = ("weak", "moderate", "strong")


@dataclass(frozen=True, repr=False, eq=False)
class Transitivity(PrintedResult):
    """Violations of transitivity: `weak`, `moderate`, `strong`, of `n_tests` triples; `violations`
    lists each."""

    weak: int
    moderate: int
    strong: int
    n_tests: int
    violations: "pandas.DataFrame"


def transitivity(data: Any) -> Transitivity:
    r"""Count the triples whose choice proportions violate stochastic transitivity.

    If :math:`p_{ij} \ge 1/2` and :math:`p_{jk} \ge 1/2`, transitivity requires :math:`p_{ik}` to be
    at least

    .. math::

        \tfrac12 \text{ (weak)}, \qquad \min(p_{ij}, p_{jk}) \text{ (moderate)}, \qquad
        \max(p_{ij}, p_{jk})
        \text{ (strong)}.

    Each triple is one test. If several orders meet the premise (proportions of exactly one half, or
    a cycle), the one with the least violation counts. Triples with a pair that was never compared
    are left out.

    Parameters
    ----------
    data : PairedComparisons, or square table of counts
        With three options or more.

    Returns
    -------
    Transitivity
        weak, moderate, strong, n_tests; `table` with violations, tests, error_ratio, mean_deviation
        and max_deviation (of p_ik below the required value, over the violations); `violations` with
        a row for each: kind, a, b, c (in the order i, j, k), deviation.

    Raises
    ------
    DataError
        If there is no triple of options compared with each other.

    References
    ----------
    Tversky (1969), Intransitivity of preferences.

    Examples
    --------
    >>> from thali.datasets import celebrities
    >>> print(transitivity(celebrities()))
    Stochastic transitivity
    <BLANKLINE>
              violations  tests  error_ratio  mean_deviation  max_deviation
    weak               0     84            0               0              0
    moderate           0     84            0               0              0
    strong            34     84     0.404762       0.0565611       0.196581
    """
    import pandas as pd

    data = as_pairs(data)
    p, n = proportions(data), data.n_options
    found: list[list[tuple[Any, ...]]] = [[], [], []]
    tests = 0
    for i in range(n - 2):  # one option at a time keeps the arrays small
        j, k = np.triu_indices(n - i - 1, 1)
        triples = np.column_stack([np.full(len(j), i), j + i + 1, k + i + 1])
        triples = triples[
            np.isfinite(p[triples[:, 0], triples[:, 1]] + p[triples[:, 1], triples[:, 2]])
        ]
        triples = triples[np.isfinite(p[triples[:, 0], triples[:, 2]])]
        tests += len(triples)
        for kind, rows in enumerate(_violations(p, triples)):
            found[kind] += rows
    if not tests:
        raise DataError(
            "There is no triple of options with all three pairs compared, so there is nothing to"
            " test; compare more pairs."
        )
    deviations = [np.array([row[3] for row in rows]) for rows in found]
    table = pd.DataFrame(
        {
            "violations": [len(rows) for rows in found],
            "tests": tests,
            "error_ratio": [len(rows) / tests for rows in found],
            "mean_deviation": [some.mean() if len(some) else 0.0 for some in deviations],
            "max_deviation": [some.max(initial=0.0) for some in deviations],
        },
        index=list(KINDS),
    )
    listed = [
        (kind, *(data.labels[option] for option in row[:3]), row[3])
        for kind, rows in zip(KINDS, found, strict=True)
        for row in rows
    ]
    return Transitivity(
        title="Stochastic transitivity",
        table=table,
        note="",
        weak=len(found[0]),
        moderate=len(found[1]),
        strong=len(found[2]),
        n_tests=tests,
        violations=pd.DataFrame(listed, columns=["kind", "a", "b", "c", "deviation"]),
    )


def _violations(p: np.ndarray, triples: np.ndarray) -> list[list[tuple[Any, ...]]]:
    """For each kind the violating triples in the order of least violation, with their
    deviations."""
    if not len(triples):
        return [[], [], []]
    orders = triples[:, _ORDERS]  # (triples, 6, 3)
    ij, jk, ik = (p[orders[..., a], orders[..., b]] for a, b in ((0, 1), (1, 2), (0, 2)))
    asked = [np.full(ij.shape, 0.5), np.minimum(ij, jk), np.maximum(ij, jk)]
    kept = sum((ik >= least).astype(float) for least in asked)
    # among equal ones, the one with the largest p_ik
    merit = np.where((ij >= 0.5) & (jk >= 0.5), kept + ik / 2, -1.0)
    best = merit.argmax(axis=1)
    rows = np.arange(len(triples))
    chosen, reached = orders[rows, best], ik[rows, best]
    lists = []
    for least in asked:
        lack = least[rows, best] - reached
        lists.append(
            [(*chosen[row].tolist(), float(lack[row])) for row in np.flatnonzero(lack > 0.0)]
        )
    return lists
