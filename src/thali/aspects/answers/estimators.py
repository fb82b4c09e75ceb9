"""The four estimators of additive clustering: one set of features with weights, or the expectation over all of them.

Features that fewer than two objects own explain no similarity and are left out. Copies of a feature are one row, their
weights added up. Where the standard deviation of a similarity or alpha was learned, a most probable set is sought at
the posterior mean of its square and of alpha; weights and features are then those most probable at these values.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from thali.errors import Argument, ArgumentError, EstimateWarning, Value, one_of
from thali.inference.warn import warn

from ..draws.columns import Columns
from .estimate import Estimate
from .feature_gain import log_feature_gain
from .feature_sets import FeatureSets, feature_sets
from .set_search import Problem, search

KINDS = ("expectation", "map-features", "conditional-map", "joint-map")
# The expectation lists the features as probable as this, and the ten most probable whatever they are.
MIN_PROBABILITY = 0.25
MIN_LISTED = 10


def estimate(
    kind: str,
    columns: Columns,
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
    r"""One answer from the draws of an additive clustering.

    ``"expectation"``: every set of owners h with the probability r_h that some draw has it and the mean w_h of its
    weight there; what it gives as similarities is the posterior mean,

    .. math:: \hat s_{ij} = \hat w_0 + \sum_h \hat r_h \hat w_h h_i h_j

    ``"map-features"``: the most frequent set of features, F; where none is in 20 draws, of the most promising 200 the
    one of the largest p(F, S). ``"conditional-map"``: the set and weights of the largest p(F, w, S) among sets of the
    most frequent number of features. ``"joint-map"``: the same among all sets. The three have the most probable
    weights given their features. The last is ill-posed for weight priors of shape 1 and a large rate, where a feature
    of weight 0 raises the density.
    """
    if kind not in KINDS:
        raise ArgumentError(Argument("kind"), " must be one of ", one_of("kind", KINDS), f"; got {kind!r}.")
    names = tuple(data.labels if labels is None else labels)
    sets = feature_sets(columns, len(names))
    draws, sigma = columns.n_draws, np.asarray(sigma, float)
    problem = Problem(
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


def _expectation(sets: FeatureSets, problem: Problem, names: tuple[str, ...], learned: bool) -> Estimate:
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


def _gains(owners: np.ndarray, added: np.ndarray, copies: Any, similarity: np.ndarray, problem: Problem) -> np.ndarray:
    """What each feature explains; `added` is what it adds to the similarity of two owners."""
    inside = (owners[:, problem.first] & owners[:, problem.second]).astype(float)
    number = inside @ problem.judgements
    unexplained = problem.judgements * (problem.values - similarity[problem.first, problem.second])
    left = inside @ unexplained + number * added
    return log_feature_gain(number, left, problem.sigma2, problem.shape * np.asarray(copies), problem.rate)


def _members(owners: np.ndarray, names: tuple[str, ...]) -> list[tuple[str, ...]]:
    return [tuple(names[i] for i in np.flatnonzero(row)) for row in owners]


def _warn_if_ill_posed(problem: Problem) -> None:
    """A feature of weight 0 that all own multiplies the joint density by its prior odds times the density at 0."""
    nothing, one = (problem.log_prior(np.ones((problem.n, number))) for number in (0, 1))
    factor = np.exp(one - nothing) * problem.rate if np.isfinite(nothing) else 0.0
    if problem.shape == 1.0 and factor > 1.0:
        warn(
            EstimateWarning(
                f"The joint maximum is ill-posed: a feature of weight 0 raises the density {factor:.3g} times "
                "(alpha * rate / n for the Indian buffet), so that some features of the estimate may be empty; take ",
                Value("kind", "map-features"),
                " or ",
                Value("kind", "expectation"),
                ", or a weight prior with a shape above 1.",
            )
        )


def _made(
    kind: Any, table: Any, constant: Any, similarity: Any, problem: Any, names: Any, learned: Any, log_joint: Any
) -> Estimate:
    import pandas as pd

    observed = np.full((problem.n, problem.n), np.nan)
    observed[problem.first, problem.second] = observed[problem.second, problem.first] = problem.values
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
