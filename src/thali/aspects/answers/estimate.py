"""What an estimator hands back: features with weights, the similarities that they give, and how well they fit."""

import textwrap
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._described import Described, Description
from thali._labels import as_label, display_width, one_line
from thali.errors import ArgumentError, DataWarning
from thali.inference.warn import warn

if TYPE_CHECKING:
    import pandas

# Up to this many characters for all labels together a row of the printed table has a place for every object.
WIDEST_ROW = 60


@dataclass(frozen=True, eq=False, repr=False)
class Estimate(Described):
    """An estimate of features and weights; printed, it is a table like those of the paper.

    Attributes
    ----------
    kind : str
        As `estimate` was asked for it.
    features : pandas.DataFrame
        One row a set of owners, the most probable or the heaviest first: `members` (tuple of labels), `probability`
        (of the expectation only: that a draw has it), `weight` (similarity units; of the expectation the mean over the
        draws that have it), `gain` (natural logarithm of the factor by which the feature, its weight integrated out,
        raises the likelihood, the rest of the estimate held fixed). The expectation has more features than are listed.
    weights : ndarray
        Those of `features`.
    constant : float
        The additive constant; 0 for a model without one.
    similarity : pandas.DataFrame, objects by objects
        The similarities that the estimate gives, the constant included; NaN on the diagonal.
    sigma : float
        Standard deviation of a similarity (of one judgement, see `Similarities`) at which weights and gains were
        computed.
    log_joint : float
        log p(F, w, S) of features, weights and data; NaN for the expectation, which is no single set of features.
    observed : ndarray, objects by objects
        The data; NaN where they are not measured.

    References
    ----------
    Navarro & Griffiths (2007), Tables 1 to 3.
    """

    kind: str
    features: "pandas.DataFrame"
    weights: np.ndarray
    constant: float
    similarity: "pandas.DataFrame"
    sigma: float
    log_joint: float
    observed: np.ndarray
    has_constant: bool = True
    learned_sigma: bool = False

    def variance_accounted_for(self, target: Any = None) -> float:
        r"""Share of the variance of similarities that the estimate explains.

        .. math:: 1 - \sum_{i<j} (t_{ij} - \hat s_{ij})^2 / \sum_{i<j} (t_{ij} - \bar t)^2

        Every measured pair counts once, of however many judgements it is the mean.

        Parameters
        ----------
        target : Similarities, data frame or array (n, n), optional
            Others than the data, of the same objects; NaN where not measured, the diagonal is not read.

        Returns
        -------
        float
            At most 1; below 0 for an estimate that is worse than the mean; NaN where all similarities are equal.

        Raises
        ------
        ArgumentError
            The target has other objects, or is not symmetric.

        Warns
        -----
        DataWarning
            All similarities of the target are equal.
        """
        wanted = self.observed if target is None else _matrix_of(target, self.similarity.index)
        first, second = np.triu_indices(len(wanted), 1)
        wanted, given = wanted[first, second], self.similarity.to_numpy()[first, second]
        measured = np.isfinite(wanted)
        wanted, given = wanted[measured], given[measured]
        if wanted.size == 0 or np.ptp(wanted) == 0:
            warn(DataWarning("All similarities are equal, so that there is no variance to account for."))
            return float("nan")
        return float(1.0 - np.sum((wanted - given) ** 2) / np.sum((wanted - wanted.mean()) ** 2))

    def __repr__(self) -> str:
        return str(self)

    def _description(self) -> Description:
        return Description(f"Estimate ({self.kind})", text=str(self))

    def __str__(self) -> str:
        lines = [*_table(self), _share(self)]
        if self.learned_sigma and self.kind != "expectation":
            lines.append(f"at a standard deviation of {self.sigma:.3g}, the root of the posterior mean of its square")
        return "\n".join(lines)


def _matrix_of(target: Any, labels: "pandas.Index") -> np.ndarray:
    """Similarities by label in the order of these labels."""
    n = len(labels)
    if hasattr(target, "values") and hasattr(target, "first"):
        place = {label: labels.get_loc(label) for label in _same_labels(target.labels, labels)}
        order = np.array([place[label] for label in target.labels])
        matrix = np.full((n, n), np.nan)
        matrix[order[target.first], order[target.second]] = target.values
        return np.where(np.isnan(matrix), matrix.T, matrix)
    if hasattr(target, "reindex"):
        for given in (target.index, target.columns):
            _same_labels(given, labels)
        target = target.rename(index=as_label, columns=as_label).loc[labels, labels]
    try:
        matrix = np.array(target, float)
    except (TypeError, ValueError) as error:
        raise ArgumentError("The target must hold numbers, or NaN where nothing was measured.") from error
    if matrix.shape != (n, n):
        raise ArgumentError(f"The target must be {n} by {n}, as there are {n} objects; got shape {matrix.shape}.")
    np.fill_diagonal(matrix, np.nan)
    if not np.allclose(matrix, matrix.T, equal_nan=True):
        raise ArgumentError("The target must be a symmetric matrix; give the mean of both triangles.")
    return matrix


def _same_labels(given: Any, labels: Any) -> Any:
    if sorted(map(str, given)) != sorted(map(str, labels)):
        raise ArgumentError(f"The target must have the objects {', '.join(labels)}; got {', '.join(map(str, given))}.")
    return given


def _share(estimate: Estimate) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        share = estimate.variance_accounted_for()
    if np.isnan(share):
        return "variance accounted for: undefined, all similarities are equal"
    return f"variance accounted for: {100 * share:.1f} %"


def _table(estimate: Estimate) -> list[str]:
    """The rows of the printed table, the additive constant last."""
    table = estimate.features
    labels = [one_line(str(label)) for label in estimate.similarity.index]
    heads = ["PROB."] * ("probability" in table) + ["WEIGHT"]
    largest = max([float(np.max(estimate.weights, initial=0.0)), estimate.constant])
    places = int(np.clip(2 - np.floor(np.log10(largest)), 0, 9)) if largest > 0 else 3
    left = [_placed(members, labels) for members in table["members"]] if _fits(labels) else _listed(table["members"])
    figures = [[f"{weight:.{places}f}"] for weight in estimate.weights]
    if "probability" in table:
        figures = [[f"{p:.2f}", *rest] for p, rest in zip(table["probability"], figures, strict=True)]
    if estimate.has_constant:
        left.append(["additive constant"])
        figures.append(["1.00"] * (len(heads) - 1) + [f"{estimate.constant:.{places}f}"])
    wide = max((display_width(line) for row in left for line in row), default=7)
    widths = [max(len(head), *(len(row[number]) for row in figures), 0) for number, head in enumerate(heads)]
    lines = []
    for row, numbers in zip([["FEATURE"], *left], [heads, *figures], strict=True):
        last = "".join(number.rjust(width + 2) for number, width in zip(numbers, widths, strict=True))
        lines += [*row[:-1], row[-1] + " " * (wide - display_width(row[-1])) + last]
    return lines


def _fits(labels: list[str]) -> bool:
    return sum(map(display_width, labels)) + len(labels) <= WIDEST_ROW


def _placed(members: Any, labels: list[str]) -> list[str]:
    """Each member in the place of its object, as in Table 1 of the paper."""
    inside = {one_line(str(member)) for member in members}
    return [" ".join(label if label in inside else " " * display_width(label) for label in labels).rstrip()]


def _listed(features: Any) -> list[list[str]]:
    return [textwrap.wrap(", ".join(one_line(str(member)) for member in members), WIDEST_ROW) for members in features]
