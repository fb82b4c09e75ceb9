"""Weak, moderate and strong stochastic transitivity of choice proportions."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali._printed_result import PrintedResult, printed_dataclass
from thali.errors import DataError

from .vote_counts import choice_proportions, prepare_pairs

if TYPE_CHECKING:
    import pandas

_ORDERS = np.array([(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)])
KINDS = ("weak", "moderate", "strong")


@printed_dataclass
class Transitivity(PrintedResult):
    """Counts of violated transitivity, weak, moderate, strong; `violations` lists them."""

    weak: int
    moderate: int
    strong: int
    n_tests: int
    violations: "pandas.DataFrame"


def transitivity(data: Any) -> Transitivity:
    r"""Count triples whose choice proportions violate stochastic transitivity.

    If :math:`p_{ij} \ge 1/2` and :math:`p_{jk} \ge 1/2`, transitivity requires :math:`p_{ik}` to be
    at least

    .. math::

        \tfrac12 \text{ (weak)}, \qquad \min(p_{ij}, p_{jk}) \text{ (moderate)}, \qquad
        \max(p_{ij}, p_{jk})
        \text{ (strong)}.

    Each triple is one test. If several orders meet the premise (proportions of exactly one half, or
    a cycle), the order with the smallest violation is used. Triples with a pair that was never
    compared are skipped.

    Parameters
    ----------
    data : PairedComparisons, or square table of counts
        With three options or more.

    Returns
    -------
    Transitivity
        weak, moderate, strong, n_tests; `table` with violations, tests, error_ratio, mean_deviation
        and max_deviation (of p_ik below the required value, over the violations); `violations` with
        one row per violation: kind, a, b, c (in the order i, j, k), deviation.

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

    data = prepare_pairs(data)
    p = choice_proportions(data)
    n = data.n_options
    violations_by_kind: list[list[tuple[Any, ...]]] = [[], [], []]
    n_tests = 0
    for i in range(n - 2):  # one option at a time keeps the arrays small
        j, k = np.triu_indices(n - i - 1, 1)
        triples = np.column_stack([np.full(len(j), i), j + i + 1, k + i + 1])
        a, b, c = triples.T
        triples = triples[np.isfinite(p[a, b] + p[b, c] + p[a, c])]
        n_tests += len(triples)
        for kind, violating_rows in enumerate(_find_violations(p, triples)):
            violations_by_kind[kind] += violating_rows
    if not n_tests:
        raise DataError(
            "There is no triple of options with all three pairs compared, so there is nothing to"
            " test; compare more pairs."
        )
    n_violations = np.array([len(violating_rows) for violating_rows in violations_by_kind])
    deviations = [
        np.array([row[3] for row in violating_rows] or [0.0])
        for violating_rows in violations_by_kind
    ]
    table = pd.DataFrame(
        {
            "violations": n_violations,
            "tests": n_tests,
            "error_ratio": n_violations / n_tests,
            "mean_deviation": [kind_deviations.mean() for kind_deviations in deviations],
            "max_deviation": [kind_deviations.max() for kind_deviations in deviations],
        },
        index=list(KINDS),
    )
    violation_rows = [
        (kind, *(data.labels[option] for option in row[:3]), row[3])
        for kind, violating_rows in zip(KINDS, violations_by_kind, strict=True)
        for row in violating_rows
    ]
    violations = pd.DataFrame(violation_rows, columns=["kind", "a", "b", "c", "deviation"])
    weak, moderate, strong = n_violations.tolist()
    return Transitivity(
        "Stochastic transitivity", table, "", weak, moderate, strong, n_tests, violations
    )


def _find_violations(p: np.ndarray, triples: np.ndarray) -> list[list[tuple[Any, ...]]]:
    """Return violating triples with deviations, for each kind of transitivity."""
    # Triples are in the order with the smallest violation.
    orders = triples[:, _ORDERS]  # (triples, 6, 3)
    p_ij, p_jk, all_p_ik = (p[orders[..., a], orders[..., b]] for a, b in ((0, 1), (1, 2), (0, 2)))
    required_by_kind = [np.full(p_ij.shape, 0.5), np.minimum(p_ij, p_jk), np.maximum(p_ij, p_jk)]
    n_satisfied = sum((all_p_ik >= required_p).astype(float) for required_p in required_by_kind)
    # among equally good orders, the one with the largest p_ik
    order_merit = np.where((p_ij >= 0.5) & (p_jk >= 0.5), n_satisfied + all_p_ik / 2, -1.0)
    best_order = order_merit.argmax(axis=1)
    triple_indices = np.arange(len(triples))
    best_triples = orders[triple_indices, best_order]
    p_ik = all_p_ik[triple_indices, best_order]
    violations = []
    for required_p in required_by_kind:
        deviations = required_p[triple_indices, best_order] - p_ik
        violations.append(
            [
                (*best_triples[triple_index].tolist(), float(deviations[triple_index]))
                for triple_index in np.flatnonzero(deviations > 0.0)
            ]
        )
    return violations
