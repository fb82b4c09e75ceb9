"""Tables of estimates: residuals, predictions, utilities with their errors, branches of aspects."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._inference.numerics.ranks import sort_descending
from thali._inference.optimise import Concave, maximise_concave

from ..draws.posterior_tree import MAX_PAIRS
from .estimates import Estimates

if TYPE_CHECKING:
    import pandas

    from .aspects import KnownAspects

OUTCOMES = ("a", "tie", "b")


def residual_table(found: Estimates, kind: str) -> "pandas.DataFrame":
    """One row a pair, or a pair with its covariates, or an outcome with ties."""
    from thali._tables import Table

    data, pose = found.data, found.pose
    n = np.repeat(pose.totals, pose.sizes)
    numbers = {"n": n.astype(np.int64) if found.is_whole else n, "observed": pose.counts / n}
    numbers |= {"predicted": found.fitted(), "residual": found.residuals(kind)}
    labels = np.array(data.labels, dtype=object)
    cells, count = data.cells, len(data.cells.pair)
    names = () if data.covariates is None else data.covariates.names
    of_cells = {"a": labels[cells.first], "b": labels[cells.second]} | dict(
        zip(names, cells.x.T, strict=True)
    )
    if found.is_of_choices:
        numbers = {
            name: values[::2] if len(values) > count else values for name, values in numbers.items()
        }
        return Table(of_cells | numbers)
    of_outcomes = {name: np.repeat(values, 3) for name, values in of_cells.items()}
    return Table(of_outcomes | {"outcome": np.tile(np.array(OUTCOMES, object), count)} | numbers)


def named_row(row: Mapping[Any, Any]) -> str:
    """Describe the outcome that a row of the table is about."""
    a, b = row["a"], row["b"]
    return {"a": f"{a} over {b}", "b": f"{b} over {a}", "tie": f"{a} and {b} tied"}[
        row.get("outcome", "a")
    ]


# How often each option was chosen, beside how often an estimate says that it is -------------------


def estimated_predictions(found: Estimates) -> "pandas.DataFrame":
    """The same as `predictions_table`, of a fit without draws: the columns of residuals but
    these."""
    table = residual_table(found, "deviance").drop(columns="residual")
    rows = len(table)
    table = table.nlargest(MAX_PAIRS, "n") if rows > MAX_PAIRS else table
    table.attrs |= {"of": rows}
    return table


# The utility of each option with its error and interval, as a table -------------------------------


def utility_table(found: Estimates, ci: float) -> "pandas.DataFrame":
    """One row an option: utility, std_error, and an interval, by quasi-variances where there are
    some."""
    import pandas as pd

    utility, covariance = found.utility, found.utility_covariance
    error, errors = _errors(utility, covariance)
    reach = np.exp(found.reach(ci) * np.nan_to_num(error))
    is_some = utility > 0.0
    low, high = (np.where(is_some, ends, np.nan) for ends in (utility / reach, utility * reach))
    table = pd.DataFrame(
        {
            "utility": utility,
            "std_error": covariance.diagonal().clip(0.0) ** 0.5,
            "low": low,
            "high": high,
        },
        index=pd.Index(found.known.labels, name="option"),
    )
    table.attrs |= {"interval": ci, "errors": errors}
    return table


def _errors(utility: np.ndarray, covariance: np.ndarray) -> tuple[np.ndarray, str]:
    """Standard errors of the logarithms of the utilities that are not 0, and what they are of."""
    error = np.full(len(utility), np.nan)
    some = np.flatnonzero(utility > 0.0)
    of_logarithms = covariance[np.ix_(some, some)] / np.outer(utility[some], utility[some])
    quasi = quasi_variances(of_logarithms)
    found = bool((quasi > 0.0).all())
    error[some] = np.sqrt(np.maximum(quasi if found else np.diag(of_logarithms), 0.0))
    return error, "quasi-variances" if found else "each option by itself"


# Variances of single options from which that of every difference of two follows, nearly -----------


_GAIN = 1e-24  # of the sum of squares: steps of Gauss and Newton are exact to twelve digits then


def quasi_variances(covariance: np.ndarray) -> np.ndarray:
    r"""Variances of single options, whose sums are nearly those of differences (Firth & de Menezes
    2004).

    .. math::

        \min_q \sum_{i<j} ( \log(q_i + q_j) - \log v_{ij} )^2, \quad
        v_{ij} = V_{ii} + V_{jj} - 2 V_{ij}
    """
    n = len(covariance)
    own = np.diag(covariance)
    wanted = own[:, None] + own - 2.0 * covariance
    others = ~np.eye(n, dtype=bool)
    if n < 2 or not (wanted[others] > 0.0).all():
        return np.full(n, np.nan)
    if n == 2:
        return np.full(2, wanted[0, 1] / 2.0)
    logs = np.log(wanted, where=others, out=np.zeros_like(wanted))

    def at(q: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """Minus half the sum of squares, its gradient and the information of Gauss and Newton."""
        sums = np.where(others, q[:, None] + q, 1.0)
        if not (sums > 0.0).all():
            return -np.inf, q, np.eye(n)
        slope, misfit = others / sums, logs - np.log(sums)
        squared = slope**2
        return (
            -0.25 * float((misfit**2).sum()),
            (slope * misfit).sum(1),
            squared + np.diag(squared.sum(1)),
        )

    return maximise_concave(Concave(at), np.full(n, wanted[others].mean() / 2.0), _GAIN).where


# Known aspects as the branches of a tree, as long as their weights --------------------------------


def branch_table(known: "KnownAspects", weights: np.ndarray) -> "pandas.DataFrame":
    """One row a branch: name, parent (a row; -1 of the root) and length; leaves first, the root
    last."""
    from thali._tables import Table

    owners, n = known.owners, len(known.labels)
    size = owners.sum(axis=0)
    inner = [int(k) for k in np.argsort(size, kind="stable") if 1 < size[k] < n]
    lengths = np.zeros(n + len(inner) + 1)
    for k in np.flatnonzero(size == 1):
        lengths[int(owners[:, k].argmax())] += weights[k]
    parents = np.full(len(lengths), len(lengths) - 1)
    for place, k in enumerate(inner):
        lengths[n + place] = weights[k]
        above = (
            n + later
            for later, other in enumerate(inner)
            if later > place and (owners[:, k] <= owners[:, other]).all()
        )
        parents[n + place] = next(above, len(lengths) - 1)
    for leaf in range(n):
        parents[leaf] = next(
            (n + place for place, k in enumerate(inner) if owners[leaf, k]), len(lengths) - 1
        )
    parents[-1] = -1
    labels = list(known.labels)
    if not inner:  # nothing but the lengths says which options belong together
        order = sort_descending(lengths[:n])
        labels, lengths[:n] = [labels[k] for k in order], lengths[order]
    table = Table(
        {
            "name": [*labels, *(known.names[k] for k in inner), ""],
            "parent": parents,
            "length": lengths,
        }
    )
    table.attrs |= {"leaves": n}
    return table
