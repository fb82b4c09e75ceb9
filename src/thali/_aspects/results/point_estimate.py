"""The four estimators of additive clustering: one set of features with weights, or the expectation
over all of them."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.similarities import Similarities
from thali._inference.user_warnings import warn
from thali._labels import shorten
from thali._number_format import format_for_python, format_percent
from thali._object_descriptions import Description, Facts, PrintedObject
from thali.errors import ArgumentError, DataError, DataWarning, EstimateWarning, Value

from ..draws.feature_columns import FeatureColumns
from .feature_set_search import (
    FeatureSearchProblem,
    FeatureSets,
    find_feature_sets,
    log_feature_gain,
    search_best_set,
)

if TYPE_CHECKING:
    import pandas

    from ..priors.prior_from_argument import FeaturePrior


@dataclass(frozen=True, eq=False, repr=False)
class Estimate(PrintedObject):
    """A point estimate of features and weights from similarities; prints as a table.

    Attributes
    ----------
    kind : str
        The estimator: the argument `estimator` of `estimate`.
    features : pandas.DataFrame
        One row per set of owners, the most probable or the heaviest first: `members` (tuple of
        labels), `probability` (for the expectation: share of draws with the feature), `weight`
        (similarity units; for the expectation the mean over draws with the feature), `gain`
        (natural logarithm of the factor by which the feature, its weight integrated out, raises the
        likelihood, with all other features fixed). The expectation has more features than the table
        lists.
    weights : ndarray
        The weights of `features`.
    constant : float
        The additive constant; 0 for a model without one.
    similarity : pandas.DataFrame, objects by objects
        The estimated similarities, including the constant; NaN on the diagonal.
    sigma : float
        Standard deviation of one judgement (see `Similarities`) at which weights and gains were
        computed.
    log_joint : float
        log p(F, w, S) of features, weights and data; NaN for the expectation, which is not a single
        set of features.
    observed : ndarray, objects by objects
        The data; NaN for unmeasured pairs.

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
        r"""Return the share of the variance of similarities that the estimate explains.

        .. math:: 1 - \sum_{i<j} (t_{ij} - \hat s_{ij})^2 / \sum_{i<j} (t_{ij} - \bar t)^2

        Every measured pair counts once, whatever its number of judgements.

        Parameters
        ----------
        target : Similarities, data frame or array (n, n), optional
            Similarities of the same objects to compare with instead of the data; NaN for unmeasured
            pairs. The diagonal is ignored.

        Returns
        -------
        float
            At most 1; negative for an estimate that is worse than the mean; NaN if all similarities
            are equal.

        Raises
        ------
        ArgumentError
            The target has other objects, or is not symmetric.

        Warns
        -----
        DataWarning
            All similarities of the target are equal.
        """
        target_similarities = self.observed
        if target is not None:
            target_similarities = _read_target(target, self.similarity.index)
        i, j = np.triu_indices(len(target_similarities), 1)
        target_similarities = target_similarities[i, j]
        fitted = self.similarity.to_numpy()[i, j]
        is_measured = np.isfinite(target_similarities)
        target_similarities = target_similarities[is_measured]
        fitted = fitted[is_measured]
        if target_similarities.size == 0 or np.ptp(target_similarities) == 0:
            warn(DataWarning("All similarities are equal, so there is no variance to account for."))
            return float("nan")
        return float(
            1.0
            - np.sum((target_similarities - fitted) ** 2)
            / np.sum((target_similarities - target_similarities.mean()) ** 2)
        )

    def _description(self) -> Description:
        constant_fact: Facts = ()
        if self.has_constant:
            constant_fact = (("additive constant", format_for_python(self.constant)),)
        feature_table = None
        if len(self.features):
            members = [", ".join(map(str, members)) for members in self.features["members"]]
            feature_table = self.features.assign(members=members)
        note = _format_share(self)
        if self.learned_sigma and self.kind != "expectation":
            note += f", at sigma = {self.sigma:.3g} (square root of the posterior mean of sigma²)"
        return Description(f"Estimate ({self.kind})", constant_fact, feature_table, note=note)


def _read_target(target: Any, labels: "pandas.Index") -> np.ndarray:
    """Return the user's similarities as a matrix (n, n) in the order of `labels`."""
    if not isinstance(target, Similarities):
        target_labels = labels
        if hasattr(target, "reindex"):
            target_labels = None
        try:
            target = Similarities(target, target_labels)
        except DataError as error:
            raise ArgumentError("`target`: ", error) from None
    if set(target.labels) != set(labels):
        raise ArgumentError(
            f"`target` must contain the objects {shorten(list(labels), 99)}; got"
            f" {shorten(list(target.labels), 99)}."
        )
    target_order = labels.get_indexer(target.labels)
    first = target_order[target.first]
    second = target_order[target.second]
    similarity_matrix = np.full((len(labels), len(labels)), np.nan)
    similarity_matrix[first, second] = similarity_matrix[second, first] = target.values
    return similarity_matrix


def _format_share(estimate: Estimate) -> str:
    """Format the share of variance accounted for as a line of text."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        explained_share = estimate.variance_accounted_for()
    if np.isnan(explained_share):
        return "variance accounted for: undefined, because all similarities are equal"
    return f"variance accounted for: {format_percent(explained_share, 1)}"


# Estimators of additive clustering
#
# Features with fewer than two owners explain no similarity and are omitted. Copies of a feature
# are one row with the sum of their weights. If sigma or alpha was learned, the most probable set
# is searched at the posterior means of sigma² and alpha; its weights are conditional on them, too.


ESTIMATORS = ("expectation", "map-features", "conditional-map", "joint-map")
# The expectation lists the features with at least this probability, and always the ten most
# probable.
MIN_PROBABILITY = 0.25
MIN_LISTED = 10


def estimate_features(
    estimator: str,
    feature_columns: FeatureColumns,
    *,
    constant: Any,
    sigma: np.ndarray,
    alpha: np.ndarray,
    data: Similarities,
    prior: "FeaturePrior",
    weight_prior: tuple[float, float],
    with_constant: bool,
) -> Estimate:
    r"""Estimate features and weights from the draws, by one of `ESTIMATORS`.

    .. math:: \hat s_{ij} = \hat w_0 + \sum_h \hat r_h \hat w_h h_i h_j
    """
    object_names = tuple(data.labels)
    feature_sets = find_feature_sets(feature_columns, len(object_names))
    if not with_constant:
        constant = np.zeros(feature_columns.n_draws)
    search_problem = FeatureSearchProblem(
        first=data.first,
        second=data.second,
        values=data.values,
        judgements=data.judgements,
        n=len(object_names),
        sigma2=float(np.mean(sigma**2)),
        alpha=float(np.mean(alpha)),
        prior=prior,
        shape=float(weight_prior[0]),
        rate=float(weight_prior[1]),
        constant=constant,
        with_constant=with_constant,
    )
    is_sigma_learned = bool(np.ptp(sigma) > 0)
    if estimator == "expectation":
        return _build_expectation(feature_sets, search_problem, object_names, is_sigma_learned)
    if estimator == "joint-map":
        _warn_if_ill_posed(search_problem)
    best_set = search_best_set(estimator, feature_sets, search_problem)
    weight_order = np.lexsort((best_set.patterns, -best_set.weights))
    owners = feature_sets.patterns[best_set.patterns[weight_order]]
    weights = best_set.weights[weight_order]
    similarity = _compute_similarity(owners, weights, best_set.constant)
    gain = _compute_gains(
        owners, weights, best_set.copies[weight_order], similarity, search_problem
    )
    feature_table = {
        "members": _list_members(owners, object_names),
        "weight": weights,
        "gain": gain,
    }
    return _build_estimate(
        estimator,
        feature_table,
        best_set.constant,
        similarity,
        search_problem,
        object_names,
        is_sigma_learned,
        best_set.log_joint,
    )


def _build_expectation(
    feature_sets: FeatureSets,
    search_problem: FeatureSearchProblem,
    names: tuple[str, ...],
    is_sigma_learned: bool,
) -> Estimate:
    """Build the expectation over draws: feature probabilities and mean weights."""
    n_draws = len(feature_sets.of_draw)
    n_patterns = len(feature_sets.patterns)
    # a pattern counts once in each draw that contains it
    n_present = np.bincount(
        np.unique(feature_sets.pattern * n_draws + feature_sets.draw) // n_draws,
        minlength=n_patterns,
    )
    total_weight = np.bincount(feature_sets.pattern, feature_sets.weights, minlength=n_patterns)
    constant = float(np.mean(search_problem.constant))
    similarity = _compute_similarity(feature_sets.patterns, total_weight / n_draws, constant)
    # ties in the order of the objects
    pattern_order = np.lexsort((*~feature_sets.patterns.T[::-1], -n_present))
    listed_patterns = pattern_order[
        (n_present[pattern_order] >= MIN_PROBABILITY * n_draws)
        | (np.arange(n_patterns) < MIN_LISTED)
    ]
    owners = feature_sets.patterns[listed_patterns]
    feature_table = {
        "members": _list_members(owners, names),
        "probability": n_present[listed_patterns] / n_draws,
        "weight": total_weight[listed_patterns] / n_present[listed_patterns],
        "gain": _compute_gains(
            owners, total_weight[listed_patterns] / n_draws, 1, similarity, search_problem
        ),
    }
    return _build_estimate(
        "expectation",
        feature_table,
        constant,
        similarity,
        search_problem,
        names,
        is_sigma_learned,
        float("nan"),
    )


def _compute_similarity(owners: np.ndarray, weights: np.ndarray, constant: float) -> np.ndarray:
    """Compute similarities (n, n): weights of shared features plus the constant."""
    return (owners.T * weights) @ owners + constant


def _compute_gains(
    owners: np.ndarray,
    added_weights: np.ndarray,
    copies: np.ndarray | int,
    similarity: np.ndarray,
    search_problem: FeatureSearchProblem,
) -> np.ndarray:
    """Return each feature's log likelihood ratio with against without it, (n_features,)."""
    # `added` is its contribution to the similarity of two owners.
    owns_both = (owners[:, search_problem.first] & owners[:, search_problem.second]).astype(float)
    n_judgements = owns_both @ search_problem.judgements
    weighted_residuals = search_problem.judgements * (
        search_problem.values - similarity[search_problem.first, search_problem.second]
    )
    residual_sum = owns_both @ weighted_residuals + n_judgements * added_weights
    return log_feature_gain(
        n_judgements,
        residual_sum,
        search_problem.sigma2,
        search_problem.shape * np.asarray(copies),
        search_problem.rate,
    )


def _list_members(owners: np.ndarray, names: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Return the labels of the objects that own each feature."""
    return [tuple(names[i] for i in np.flatnonzero(row)) for row in owners]


def _warn_if_ill_posed(search_problem: FeatureSearchProblem) -> None:
    """Warn if the prior lets the joint density grow as a weight falls to 0."""
    # A feature of weight 0 that all objects own multiplies the joint density by its prior odds
    # times the density at 0.
    log_prior_none, log_prior_one = (
        search_problem.log_prior(np.ones((search_problem.n, n_features))) for n_features in (0, 1)
    )
    log_factor = 0.0
    if np.isfinite(log_prior_none):
        log_factor = np.exp(log_prior_one - log_prior_none) * search_problem.rate
    if search_problem.shape == 1.0 and log_factor > 1.0:
        warn(
            EstimateWarning(
                "The joint maximum is ill-posed: a feature with weight 0 multiplies the density"
                f" by {log_factor:.3g} (alpha * rate / n for the Indian buffet), so some estimated"
                " features may be empty; use ",
                Value("estimator", "map-features"),
                " or ",
                Value("estimator", "expectation"),
                ", or a weight prior with shape > 1.",
            )
        )


def _build_estimate(
    estimator: str,
    table: dict[str, Any],
    constant: float,
    similarity: np.ndarray,
    search_problem: FeatureSearchProblem,
    names: Sequence[str],
    is_sigma_learned: bool,
    log_joint: float,
) -> Estimate:
    """Build the `Estimate` of one feature set from its table, constant and similarities."""
    import pandas as pd

    observed_matrix = np.full((search_problem.n, search_problem.n), np.nan)
    observed_matrix[search_problem.first, search_problem.second] = observed_matrix[
        search_problem.second, search_problem.first
    ] = search_problem.values
    np.fill_diagonal(similarity, np.nan)
    labels = pd.Index(names, name="object")
    return Estimate(
        kind=estimator,
        features=pd.DataFrame(table),
        weights=np.asarray(table["weight"]),
        constant=constant,
        similarity=pd.DataFrame(similarity, index=labels, columns=labels.rename(None)),
        sigma=float(np.sqrt(search_problem.sigma2)),
        log_joint=log_joint,
        observed=observed_matrix,
        has_constant=search_problem.with_constant,
        learned_sigma=is_sigma_learned,
    )
