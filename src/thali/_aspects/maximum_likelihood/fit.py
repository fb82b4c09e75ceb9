"""Maximum-likelihood estimation of aspect weights from data and given aspects."""

from dataclasses import replace
from itertools import compress
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.choices import Choices
from thali._data.pairs import PairedComparisons
from thali._inference.random_seeds import RandomSeed, spawn_generators
from thali._labels import shorten
from thali._model.answers_by_respondent import group_by_respondent
from thali._model.dependent_answers import choose_dependence
from thali._people.people_argument import ADJUSTED
from thali.errors import DataError, EstimateWarning, Setting

from ..likelihoods.elimination import Elimination, convert_to_pairs, require_pairs
from ..priors.given_features import Given
from .estimates import Estimates, compute_covariate_sizes
from .given_aspects import KnownAspects, build_known_aspects, check_identified, draw_weights
from .maximisation import Maximum, choose_starting_points, maximise
from .pair_likelihood import (
    PairProblem,
    build_problem,
    compute_exclusive_aspects,
    convert_to_dense,
    scale_pattern,
)

if TYPE_CHECKING:
    import pandas


STARTS = 10
MAX_TIE = 1e3  # above it two equal options would tie with probability > 0.998


def estimate(
    data: PairedComparisons | Choices,
    aspects: Any = "unique",
    unique: bool = True,
    lapse: float = 0.0,
    ties: bool = False,
    *,
    n_starts: int = STARTS,
    random_seed: RandomSeed = 0,
    people: str | None = None,
) -> Estimates:
    """Return maximum-likelihood estimates of aspect weights, the best of `n_starts` climbs."""
    comparisons: Any = convert_to_pairs(data)
    given_aspects = check_aspects(comparisons, aspects, unique, lapse, ties)
    check_identified(given_aspects, comparisons)
    return fit_checked_aspects(
        comparisons, given_aspects, lapse, ties, n_starts, random_seed, people
    )


def check_aspects(
    data: PairedComparisons | Choices,
    aspects: Any,
    unique: bool,
    lapse: float,
    ties: bool = False,
) -> KnownAspects:
    """Return the given aspects; raise if an observed choice is impossible under them."""
    if isinstance(data, Choices):
        given_aspects = build_known_aspects(aspects, unique, data.labels)
        if given_aspects.unique and not given_aspects.shared.shape[1]:
            require_pairs(data)
        largest_set = int(data.sizes.argmax())
        raise DataError(
            f"The data contain choices from {data.sizes[largest_set]} options"
            f" ({shorten(data.sets[largest_set])}), but maximum likelihood requires choices between"
            " two options; use ",
            Setting("method", "mcmc"),
            ".",
        )
    if not isinstance(data, PairedComparisons):
        Elimination(lapse, bool(unique), ties).check(None, data)  # which raises
        raise DataError(
            f"Maximum likelihood requires PairedComparisons; got {type(data).__name__}; use ",
            Setting("method", "mcmc"),
            ".",
        )
    given_aspects = build_known_aspects(aspects, unique, data.labels)
    Elimination(lapse, bool(unique), ties, data.covariate_names).check(
        Given(given_aspects.shared), data
    )
    if ties and not data.n_comparisons - data.n_ties:
        raise DataError(
            "All comparisons are ties, which contain no information on the weights; use data with"
            " choices."
        )
    return given_aspects


def fit_checked_aspects(
    data: PairedComparisons,
    given_aspects: KnownAspects,
    lapse: float,
    ties: bool = False,
    n_starts: int = STARTS,
    random_seed: RandomSeed = 0,
    people: str | None = None,
) -> Estimates:
    """Return maximum-likelihood estimates of the weights of checked aspects."""
    scaled_covariates = None
    if data.covariate_names:
        check_covariates(data, given_aspects.owners)
        scaled_covariates = data.cells.x / compute_covariate_sizes(data)
    weight_problem = build_problem(data, given_aspects.owners, lapse, scaled_covariates, ties)
    assert isinstance(weight_problem, PairProblem)
    starting_points = choose_starting_points(
        weight_problem, n_starts, spawn_generators(random_seed, 1)[0]
    )
    clusters = group_by_respondent(data, ties)
    return Estimates(
        data,
        given_aspects,
        float(lapse),
        weight_problem,
        maximise(weight_problem, starting_points),
        clusters,
        choose_dependence(people, ADJUSTED, data, clusters),
    )


def warn_unbounded(estimates: Estimates) -> list[EstimateWarning]:
    """Return warnings if the likelihood keeps increasing: zero weights, ties, covariates."""
    is_vanishing = estimates.maximum.vanishing
    if not is_vanishing.any() and estimates.tie is not None and estimates.tie > MAX_TIE:
        return [
            EstimateWarning(
                "The likelihood has no finite maximum: it keeps increasing as the tie parameter"
                f" grows (here {estimates.tie:.3g}) and the weights shrink. The estimates have not"
                " converged; ",
                Setting("method", "mcmc"),
                " has a prior that keeps them finite.",
            )
        ]
    if not is_vanishing.any():
        return warn_endless_coefficients(estimates)
    vanishing_names = list(compress(estimates.known.names, is_vanishing))
    return [
        EstimateWarning(
            "The likelihood has no maximum: it keeps increasing as the weights of"
            f" {shorten(vanishing_names)} shrink relative to the other weights. The shrinking"
            " weights are reported as 0 without standard errors, and predictions are those in this"
            " limit; ",
            Setting("method", "mcmc"),
            " has a prior that keeps all weights above 0.",
        )
    ]


# Covariates of comparisons ------------------------------------------------------------------------


# largest log odds of a covariate; beyond them its coefficient is treated as infinite
MAX_LOG_ODDS = 15.0
MIN_EIGENVALUE = 1e-11  # share of the largest eigenvalue below which a direction has no effect
_ROUNDING = 1e-6
MAX_STD_ERROR = 5.0  # standard error of the largest log odds of a finite coefficient


def check_covariates(data: PairedComparisons, owners: np.ndarray) -> None:
    """Raise DataError if the covariates' effects are not identified."""
    comparison_cells = data.cells
    covariate_names = data.covariate_names
    weights = draw_weights(owners.shape[1])
    first_patterns, second_patterns = compute_exclusive_aspects(
        owners, comparison_cells.first, comparison_cells.second
    )
    logit_gradient = scale_pattern(
        first_patterns, weights, first_patterns @ weights
    ) - scale_pattern(second_patterns, weights, second_patterns @ weights)
    x = comparison_cells.x / compute_covariate_sizes(data)
    gram = convert_to_dense(logit_gradient.T @ logit_gradient)
    cross_products = np.asarray(logit_gradient.T @ x)
    eigenvalues, eigenvectors = np.linalg.eigh(
        np.block([[gram, cross_products], [cross_products.T, x.T @ x]])
    )
    null_vectors = eigenvectors[owners.shape[1] :, eigenvalues <= MIN_EIGENVALUE * eigenvalues[-1]]
    unidentified_names = [
        name
        for name, row in zip(covariate_names, null_vectors, strict=True)
        if np.abs(row).max(initial=0.0) > _ROUNDING
    ]
    if unidentified_names:
        effect_text = f"effect of {unidentified_names[0]!r}"
        if len(unidentified_names) > 1:
            effect_text = f"effects of {shorten(unidentified_names)} from each other or"
        raise DataError(
            f"The comparisons cannot separate the {effect_text} from the weights, because a change"
            " in one can be offset by changes in the others without altering any choice"
            " probability; remove a covariate, or use ",
            Setting("method", "mcmc"),
            ".",
        )


def warn_endless_coefficients(estimates: Estimates) -> list[EstimateWarning]:
    """Return a warning if the likelihood grows without bound in a coefficient."""
    covariate_names = estimates.data.covariate_names
    if not covariate_names:
        return []
    coefficient_sizes = np.abs(estimates.maximum.beta[: len(covariate_names)])
    with np.errstate(invalid="ignore"):
        std_errors = np.sqrt(np.diag(estimates.covariate_covariance)) * compute_covariate_sizes(
            estimates.data
        )
    is_endless = (coefficient_sizes > MAX_LOG_ODDS) & ~(std_errors < MAX_STD_ERROR)
    if not is_endless.any():
        return []
    endless_names = shorten(list(compress(covariate_names, is_endless)))
    return [
        EstimateWarning(
            "The likelihood has no finite maximum: it keeps increasing as the coefficient of"
            f" {endless_names} grows in absolute value (separation), because the covariate"
            " determines every comparison that it affects. The estimate has not converged; ",
            Setting("method", "mcmc"),
            " has a prior that keeps it finite.",
        )
    ]


def covariate_table(estimates: Estimates, ci: float) -> "pandas.DataFrame":
    """Return a table with one row per covariate: estimate, error, test, interval, odds."""
    import pandas as pd

    from thali._exportable_table import Table

    coefficients = estimates.covariate_coefficients
    variance = np.diag(estimates.covariate_covariance)
    std_error = np.sqrt(np.where(variance > 0.0, variance, np.nan))
    z = coefficients / std_error
    table_columns = {
        "estimate": coefficients,
        "std_error": std_error,
        "z": z,
        "p_value": estimates.tail(z),
        "low": coefficients - estimates.interval_half_width(ci) * std_error,
        "high": coefficients + estimates.interval_half_width(ci) * std_error,
        "odds": np.exp(coefficients),
    }
    effects_table = Table(
        table_columns, index=pd.Index(estimates.data.covariate_names, name="covariate")
    )
    effects_table.attrs["interval"] = ci
    return effects_table


def refine_cells(small: Estimates, large: Estimates) -> Estimates:
    """Return the smaller model's estimates on the larger model's distinct comparisons.

    The larger model may distinguish comparisons by more covariates.
    """
    large_names = large.data.covariate_names
    small_names = small.data.covariate_names
    if large_names == small_names:
        return small
    column_indices = [large_names.index(name) for name in small_names]
    comparison_cells = large.data.cells
    x = comparison_cells.x[:, column_indices] / compute_covariate_sizes(small.data)
    first_patterns, second_patterns = compute_exclusive_aspects(
        small.known.owners, comparison_cells.first, comparison_cells.second
    )
    refined_problem = replace(large.problem, first=first_patterns, second=second_patterns, extra=x)
    maximum: Maximum = small.maximum
    return Estimates(
        large.data.with_covariates(small_names),
        small.known,
        small.lapse,
        refined_problem,
        maximum,
        large.clusters,
        small.treatment,
    )
