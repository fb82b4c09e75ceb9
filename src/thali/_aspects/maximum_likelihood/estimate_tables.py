"""Tables of maximum-likelihood estimates: residuals, predictions, utilities and tree branches."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._inference.maximisation import Concave, maximise_concave
from thali._inference.numerics.ranks import sort_descending

from ..draws.posterior_tree import MAX_PAIRS
from .estimates import Estimates

if TYPE_CHECKING:
    import pandas

    from .given_aspects import KnownAspects

OUTCOMES = ("a", "tie", "b")


def build_residual_table(estimates: Estimates, kind: str) -> "pandas.DataFrame":
    """Build a table of residuals, one row per pair and covariate values (and outcome)."""
    from thali._exportable_table import Table

    data = estimates.data
    weight_problem = estimates.problem
    n_answers = np.repeat(weight_problem.totals, weight_problem.sizes)
    number_columns = {
        "n": n_answers,
        "observed": weight_problem.counts / n_answers,
        "predicted": estimates.fitted(),
    }
    if estimates.has_integer_counts:
        number_columns["n"] = n_answers.astype(np.int64)
    residuals = {"residual": estimates.residuals(kind)}
    labels = np.array(data.labels, dtype=object)
    comparison_cells = data.cells
    cell_columns = {
        "a": labels[comparison_cells.first],
        "b": labels[comparison_cells.second],
    } | dict(zip(data.covariate_names, comparison_cells.x.T, strict=True))
    if estimates.is_of_choices:  # one row per pair, about choices of its first option
        first_numbers = {name: column[::2] for name, column in number_columns.items()}
        return Table(cell_columns | first_numbers | residuals)
    outcome_columns = {name: np.repeat(column, 3) for name, column in cell_columns.items()}
    outcome_column = {"outcome": np.tile(np.array(OUTCOMES, object), len(comparison_cells.pair))}
    return Table(outcome_columns | outcome_column | number_columns | residuals)


def describe_outcome(row: Mapping[Any, Any]) -> str:
    """Return words for a row's outcome, such as "a over b" or "a and b tied"."""
    a = row["a"]
    b = row["b"]
    return {"a": f"{a} over {b}", "b": f"{b} over {a}", "tie": f"{a} and {b} tied"}[
        row.get("outcome", "a")
    ]


# Observed and predicted choices -------------------------------------------------------------------


def build_prediction_table(estimates: Estimates) -> "pandas.DataFrame":
    """Return observed and predicted proportions, one row per pair or outcome."""
    prediction_table = build_residual_table(estimates, "deviance").drop(columns="residual")
    n_rows = len(prediction_table)
    if n_rows > MAX_PAIRS:
        prediction_table = prediction_table.nlargest(MAX_PAIRS, "n")
    prediction_table.attrs |= {"of": n_rows}
    return prediction_table


# The utility of each option with its error and interval, as a table -------------------------------


def build_utility_table(estimates: Estimates, ci: float) -> "pandas.DataFrame":
    """Return utility, standard error and interval of each option, by quasi-variances."""
    import pandas as pd

    utility = estimates.utility
    covariance = estimates.utility_covariance
    log_errors, error_source = _compute_log_errors(utility, covariance)
    interval_factor = np.exp(estimates.interval_half_width(ci) * np.nan_to_num(log_errors))
    is_positive = utility > 0.0
    low = np.where(is_positive, utility / interval_factor, np.nan)
    high = np.where(is_positive, utility * interval_factor, np.nan)
    utility_table = pd.DataFrame(
        {
            "utility": utility,
            "std_error": covariance.diagonal().clip(0.0) ** 0.5,
            "low": low,
            "high": high,
        },
        index=pd.Index(estimates.known.labels, name="option"),
    )
    utility_table.attrs |= {"interval": ci, "errors": error_source}
    return utility_table


def _compute_log_errors(utility: np.ndarray, covariance: np.ndarray) -> tuple[np.ndarray, str]:
    """Return standard errors of log utilities, and words on how they were obtained."""
    log_errors = np.full(len(utility), np.nan)
    option_indices = np.flatnonzero(utility > 0.0)
    log_covariance = covariance[np.ix_(option_indices, option_indices)] / np.outer(
        utility[option_indices], utility[option_indices]
    )
    variances = compute_quasi_variances(log_covariance)
    description = "quasi-variances"
    if not (variances > 0.0).all():
        variances = np.diag(log_covariance)
        description = "each option by itself"
    log_errors[option_indices] = np.sqrt(np.maximum(variances, 0.0))
    return log_errors, description


# Quasi-variances: their sums approximate the variances of all differences -------------------------


_MIN_GAIN = 1e-24  # smallest gain of the sum of squares; Gauss-Newton steps then have twelve digits


def compute_quasi_variances(covariance: np.ndarray) -> np.ndarray:
    r"""Return quasi-variances, whose pairwise sums approximate variances of differences.

    .. math::

        \min_q \sum_{i<j} ( \log(q_i + q_j) - \log v_{ij} )^2, \quad
        v_{ij} = V_{ii} + V_{jj} - 2 V_{ij}

    See Firth & de Menezes (2004).
    """
    n_options = len(covariance)
    variances = np.diag(covariance)
    difference_variances = variances[:, None] + variances - 2.0 * covariance
    is_pair = ~np.eye(n_options, dtype=bool)
    if n_options < 2 or not (difference_variances[is_pair] > 0.0).all():
        return np.full(n_options, np.nan)
    if n_options == 2:
        return np.full(2, difference_variances[0, 1] / 2.0)
    log_variances = np.log(
        difference_variances, where=is_pair, out=np.zeros_like(difference_variances)
    )

    def evaluate_fit(q: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """Return minus half the sum of squares at q, with gradient and information."""
        variance_sums = np.where(is_pair, q[:, None] + q, 1.0)
        if not (variance_sums > 0.0).all():
            return -np.inf, q, np.eye(n_options)
        log_gradient = is_pair / variance_sums
        misfit = log_variances - np.log(variance_sums)
        squared_slope = log_gradient**2
        return (
            -0.25 * float((misfit**2).sum()),
            (log_gradient * misfit).sum(1),
            squared_slope + np.diag(squared_slope.sum(1)),
        )

    return maximise_concave(
        Concave(evaluate_fit),
        np.full(n_options, difference_variances[is_pair].mean() / 2.0),
        _MIN_GAIN,
    ).where


# Given aspects as branches of a tree, with lengths equal to their weights -------------------------


def build_branch_table(given_aspects: "KnownAspects", weights: np.ndarray) -> "pandas.DataFrame":
    """Return branches of the aspect tree: name, parent row and length; leaves first."""
    from thali._exportable_table import Table

    owners = given_aspects.owners
    n_options = len(given_aspects.labels)
    n_owners = owners.sum(axis=0)
    inner_aspects = [
        int(k) for k in np.argsort(n_owners, kind="stable") if 1 < n_owners[k] < n_options
    ]
    branch_lengths = np.zeros(n_options + len(inner_aspects) + 1)
    for k in np.flatnonzero(n_owners == 1):
        branch_lengths[int(owners[:, k].argmax())] += weights[k]
    parent_rows = np.full(len(branch_lengths), len(branch_lengths) - 1)
    for inner_index, k in enumerate(inner_aspects):
        branch_lengths[n_options + inner_index] = weights[k]
        enclosing_rows = (
            n_options + later
            for later, later_aspect in enumerate(inner_aspects)
            if later > inner_index and (owners[:, k] <= owners[:, later_aspect]).all()
        )
        parent_rows[n_options + inner_index] = next(enclosing_rows, len(branch_lengths) - 1)
    for leaf in range(n_options):
        parent_rows[leaf] = next(
            (
                n_options + inner_index
                for inner_index, k in enumerate(inner_aspects)
                if owners[leaf, k]
            ),
            len(branch_lengths) - 1,
        )
    parent_rows[-1] = -1
    labels = list(given_aspects.labels)
    if not inner_aspects:  # without inner branches only lengths can order the options
        leaf_order = sort_descending(branch_lengths[:n_options])
        labels = [labels[k] for k in leaf_order]
        branch_lengths[:n_options] = branch_lengths[leaf_order]
    branch_table = Table(
        {
            "name": [*labels, *(given_aspects.names[k] for k in inner_aspects), ""],
            "parent": parent_rows,
            "length": branch_lengths,
        }
    )
    branch_table.attrs |= {"leaves": n_options}
    return branch_table
