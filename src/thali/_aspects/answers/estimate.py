"""The four estimators of additive clustering: one set of features with weights, or the expectation
over all of them."""

import textwrap
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._described import Described, Description
from thali._digits import percent
from thali._inference.warn import warn
from thali._labels import as_label, display_width, one_line, shorten
from thali.errors import Argument, ArgumentError, DataWarning, EstimateWarning, Value, one_of

from ..draws.feature_columns import FeatureColumns
from .set_search import FeatureSearchProblem, FeatureSets, feature_sets, log_feature_gain, search

if TYPE_CHECKING:
    import pandas

# Up to this many characters for all labels together a row of the printed table has a place for
# every object.
WIDEST_ROW = 60


@dataclass(frozen=True, eq=False, repr=False)
class Estimate(Described):
    """An estimate of features and weights; printed, it is a table like those of the paper.

    Attributes
    ----------
    kind : str
        As `estimate` was asked for it.
    features : pandas.DataFrame
        One row a set of owners, the most probable or the heaviest first: `members` (tuple of
        labels), `probability` (of the expectation only: that a draw has it), `weight` (similarity
        units; of the expectation the mean over the draws that have it), `gain` (natural logarithm
        of the factor by which the feature, its weight integrated out, raises the likelihood, the
        rest of the estimate held fixed). The expectation has more features than are listed.
    weights : ndarray
        Those of `features`.
    constant : float
        The additive constant; 0 for a model without one.
    similarity : pandas.DataFrame, objects by objects
        The similarities that the estimate gives, the constant included; NaN on the diagonal.
    sigma : float
        Standard deviation of a similarity (of one judgement, see `Similarities`) at which weights
        and gains were computed.
    log_joint : float
        log p(F, w, S) of features, weights and data; NaN for the expectation, which is no single
        set of features.
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
            Others than the data, of the same objects; NaN where not measured, the diagonal is not
            read.

        Returns
        -------
        float
            At most 1; below 0 for an estimate that is worse than the mean; NaN where all
            similarities are equal.

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
            warn(DataWarning("All similarities are equal, so there is no variance to account for."))
            return float("nan")
        return float(1.0 - np.sum((wanted - given) ** 2) / np.sum((wanted - wanted.mean()) ** 2))

    def __repr__(self) -> str:
        return str(self)

    def _description(self) -> Description:
        return Description(f"Estimate ({self.kind})", text=str(self))

    def __str__(self) -> str:
        lines = [*_table(self), _share(self)]
        if self.learned_sigma and self.kind != "expectation":
            lines.append(
                f"at sigma = {self.sigma:.3g} (square root of the posterior mean of sigma²)"
            )
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
        raise ArgumentError(
            "`target` must contain numbers, or NaN for pairs that were not measured."
        ) from error
    if matrix.shape != (n, n):
        raise ArgumentError(
            f"`target` must be {n} by {n}, because there are {n} objects; got shape {matrix.shape}."
        )
    np.fill_diagonal(matrix, np.nan)
    if not np.allclose(matrix, matrix.T, equal_nan=True):
        raise ArgumentError("`target` must be a symmetric matrix; average its two triangles.")
    return matrix


def _same_labels(given: Any, labels: Any) -> Any:
    if sorted(map(str, given)) != sorted(map(str, labels)):
        raise ArgumentError(
            f"`target` must contain the objects {shorten(list(labels), 99)}; got"
            f" {shorten(list(given), 99)}."
        )
    return given


def _share(estimate: Estimate) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        share = estimate.variance_accounted_for()
    if np.isnan(share):
        return "variance accounted for: undefined, because all similarities are equal"
    return f"variance accounted for: {percent(share, 1)}"


def _table(estimate: Estimate) -> list[str]:
    """The rows of the printed table, the additive constant last."""
    table = estimate.features
    labels = [one_line(str(label)) for label in estimate.similarity.index]
    heads = ["PROB."] * ("probability" in table) + ["WEIGHT"]
    largest = max([float(np.max(estimate.weights, initial=0.0)), estimate.constant])
    places = int(np.clip(2 - np.floor(np.log10(largest)), 0, 9)) if largest > 0 else 3
    left = (
        [_placed(members, labels) for members in table["members"]]
        if _fits(labels)
        else _listed(table["members"])
    )
    figures = [[f"{weight:.{places}f}"] for weight in estimate.weights]
    if "probability" in table:
        figures = [
            [f"{p:.2f}", *rest] for p, rest in zip(table["probability"], figures, strict=True)
        ]
    if estimate.has_constant:
        left.append(["additive constant"])
        figures.append(["1.00"] * (len(heads) - 1) + [f"{estimate.constant:.{places}f}"])
    wide = max((display_width(line) for row in left for line in row), default=7)
    widths = [
        max(len(head), *(len(row[number]) for row in figures), 0)
        for number, head in enumerate(heads)
    ]
    lines = []
    for row, numbers in zip([["FEATURE"], *left], [heads, *figures], strict=True):
        last = "".join(
            number.rjust(width + 2) for number, width in zip(numbers, widths, strict=True)
        )
        lines += [*row[:-1], row[-1] + " " * (wide - display_width(row[-1])) + last]
    return lines


def _fits(labels: list[str]) -> bool:
    return sum(map(display_width, labels)) + len(labels) <= WIDEST_ROW


def _placed(members: Any, labels: list[str]) -> list[str]:
    """Each member in the place of its object, as in Table 1 of the paper."""
    inside = {one_line(str(member)) for member in members}
    return [
        " ".join(
            label if label in inside else " " * display_width(label) for label in labels
        ).rstrip()
    ]


def _listed(features: Any) -> list[list[str]]:
    return [
        textwrap.wrap(", ".join(one_line(str(member)) for member in members), WIDEST_ROW)
        for members in features
    ]


# The four estimators of additive clustering: one set of features with weights, or the expectation
# over all of them
#
# Features that fewer than two objects own explain no similarity and are left out. Copies of a
# feature are one row, their weights added up. Where the standard deviation of a similarity or alpha
# was learned, a most probable set is sought at the posterior mean of its square and of alpha;
# weights and features are then those most probable at these values.


KINDS = ("expectation", "map-features", "conditional-map", "joint-map")
# The expectation lists the features as probable as this, and the ten most probable whatever they
# are.
MIN_PROBABILITY = 0.25
MIN_LISTED = 10


def estimate(
    kind: str,
    columns: FeatureColumns,
    *,
    constant: Any,
    sigma: Any,
    alpha: Any,
    data: Any,
    prior: Any,
    weight_prior: tuple[float, float] = (1.0, 10.0),
    with_constant: bool = True,
    labels: Sequence[str] | None = None,
) -> Estimate:
    r"""One answer of a kind that `AdditiveClustering.estimate` knows, from the draws.

    .. math:: \hat s_{ij} = \hat w_0 + \sum_h \hat r_h \hat w_h h_i h_j
    """
    if kind not in KINDS:
        raise ArgumentError(
            Argument("kind"), " must be one of ", one_of("kind", KINDS), f"; got {kind!r}."
        )
    names = tuple(data.labels if labels is None else labels)
    sets = feature_sets(columns, len(names))
    draws, sigma = columns.n_draws, np.asarray(sigma, float)
    problem = FeatureSearchProblem(
        first=np.asarray(data.first),
        second=np.asarray(data.second),
        values=np.asarray(data.values, float),
        judgements=np.asarray(data.judgements, float),
        n=len(names),
        sigma2=float(np.mean(sigma**2)),
        alpha=float(np.mean(alpha)),
        prior=prior,
        shape=float(weight_prior[0]),
        rate=float(weight_prior[1]),
        constant=np.broadcast_to(np.asarray(constant if with_constant else 0.0, float), (draws,)),
        with_constant=with_constant,
    )
    learned = bool(sigma.size and np.ptp(sigma) > 0)
    if kind == "expectation":
        return _expectation(sets, problem, names, learned)
    if kind == "joint-map":
        _warn_if_ill_posed(problem)
    best = search(kind, sets, problem)
    order = np.lexsort((best.patterns, -best.weights))
    owners, weights = sets.patterns[best.patterns[order]], best.weights[order]
    similarity = _similarity(owners, weights, best.constant)
    gain = _gains(owners, weights, best.copies[order], similarity, problem)
    table = {"members": _members(owners, names), "weight": weights, "gain": gain}
    return _made(kind, table, best.constant, similarity, problem, names, learned, best.log_joint)


def _expectation(
    sets: FeatureSets, problem: FeatureSearchProblem, names: tuple[str, ...], learned: bool
) -> Estimate:
    draws, count = len(sets.of_draw), len(sets.patterns)
    # one entry a pattern and draw in which it occurs
    present = np.bincount(np.unique(sets.pattern * draws + sets.draw) // draws, minlength=count)
    total = np.bincount(sets.pattern, sets.weights, minlength=count)
    constant = float(np.mean(problem.constant))
    similarity = _similarity(sets.patterns, total / draws, constant)
    # ties in the order of the objects
    order = np.lexsort((*~sets.patterns.T[::-1], -present))
    listed = order[(present[order] >= MIN_PROBABILITY * draws) | (np.arange(count) < MIN_LISTED)]
    owners = sets.patterns[listed]
    table = {
        "members": _members(owners, names),
        "probability": present[listed] / draws,
        "weight": total[listed] / present[listed],
        "gain": _gains(owners, total[listed] / draws, 1, similarity, problem),
    }
    return _made("expectation", table, constant, similarity, problem, names, learned, float("nan"))


def _similarity(owners: np.ndarray, weights: np.ndarray, constant: float) -> np.ndarray:
    """Objects by objects: the weights of the features that both own, and the constant."""
    return (owners.T * weights) @ owners + constant


def _gains(
    owners: np.ndarray,
    added: np.ndarray,
    copies: Any,
    similarity: np.ndarray,
    problem: FeatureSearchProblem,
) -> np.ndarray:
    """What each feature explains; `added` is what it adds to the similarity of two owners."""
    inside = (owners[:, problem.first] & owners[:, problem.second]).astype(float)
    number = inside @ problem.judgements
    unexplained = problem.judgements * (problem.values - similarity[problem.first, problem.second])
    left = inside @ unexplained + number * added
    return log_feature_gain(
        number, left, problem.sigma2, problem.shape * np.asarray(copies), problem.rate
    )


def _members(owners: np.ndarray, names: tuple[str, ...]) -> list[tuple[str, ...]]:
    return [tuple(names[i] for i in np.flatnonzero(row)) for row in owners]


def _warn_if_ill_posed(problem: FeatureSearchProblem) -> None:
    """A feature of weight 0 that all own multiplies the joint density by its prior odds times the
    density at 0."""
    nothing, one = (problem.log_prior(np.ones((problem.n, number))) for number in (0, 1))
    factor = np.exp(one - nothing) * problem.rate if np.isfinite(nothing) else 0.0
    if problem.shape == 1.0 and factor > 1.0:
        warn(
            EstimateWarning(
                "The joint maximum is ill-posed: a feature with weight 0 multiplies the density"
                f" by {factor:.3g} (alpha * rate / n for the Indian buffet), so some estimated"
                " features may be empty; use ",
                Value("kind", "map-features"),
                " or ",
                Value("kind", "expectation"),
                ", or a weight prior with shape > 1.",
            )
        )


def _made(
    kind: Any,
    table: Any,
    constant: Any,
    similarity: Any,
    problem: Any,
    names: Any,
    learned: Any,
    log_joint: Any,
) -> Estimate:
    import pandas as pd

    observed = np.full((problem.n, problem.n), np.nan)
    observed[problem.first, problem.second] = observed[problem.second, problem.first] = (
        problem.values
    )
    np.fill_diagonal(similarity, np.nan)
    labels = pd.Index(names, name="object")
    return Estimate(
        kind=kind,
        features=pd.DataFrame(table),
        weights=np.asarray(table["weight"]),
        constant=constant,
        similarity=pd.DataFrame(similarity, index=labels, columns=labels.rename(None)),
        sigma=float(np.sqrt(problem.sigma2)),
        log_joint=log_joint,
        observed=observed,
        has_constant=problem.with_constant,
        learned_sigma=learned,
    )
