"""Runs of the sparse logit's chains that several tests need."""

import numpy as np
from arviz_stats.base.array import array_stats

from thali._classify.sparse_logit.markov_chain import (
    CoefficientChain,
    CoefficientPrior,
    build_coefficient_problem,
)

TRAJECTORIES = [0, 2]  # in a sweep
WIDE = [False, True]


def chains_of(
    X,
    y,
    classes,
    reference,
    prior,
    draws,
    wide=None,
    tune=1000,
    count=2,
    trajectories=0,
    kind=CoefficientChain,
):
    """Chains that have run, with every sweep recorded."""
    problem = build_coefficient_problem(
        X, y, classes, reference, prior, wide, n_trajectories=trajectories
    )
    made = [
        kind(problem, prior.eta, np.random.default_rng(seed), draws, tune, 1)
        for seed in range(count)
    ]
    for chain in made:
        chain.run_until(chain.total)
    return made


def mcse(draws):
    """Monte Carlo standard error of the mean of draws (chain, draw)."""
    return float(array_stats.mcse(np.asarray(draws), method="mean"))


def three_classes(n=40):
    """A small problem of three classes and two covariates."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(n, 2))
    scores = np.column_stack([np.zeros(n), X[:, 0], X[:, 1] - X[:, 0]]) + rng.gumbel(size=(n, 3))
    return X, scores.argmax(axis=1)


__all__ = [
    "TRAJECTORIES",
    "WIDE",
    "CoefficientChain",
    "CoefficientPrior",
    "chains_of",
    "mcse",
    "build_coefficient_problem",
    "three_classes",
]
