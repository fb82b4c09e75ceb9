r"""One sweep of the sampler of the hierarchical logit.

The model: :math:`P(x_j \mid X_{nt}) \propto \exp(x_j^T b_n)`, with :math:`b_{nk} = \beta_{nk}`, or
:math:`b_{nk} = \pm e^{\beta_{nk}}` where a coefficient has a sign; :math:`\beta_n \sim N(M^T z_n, \Sigma)` for the
covariates :math:`z_n` of a person, the first of which is 1; :math:`M_{rk} \sim N(0, s_k^2)`,
:math:`\Sigma \sim IW(\nu, S I)` with density
:math:`\propto |\Sigma|^{-(\nu + p + 1)/2} \exp(-S \operatorname{tr} \Sigma^{-1} / 2)`, where :math:`S = \nu V` in the
terms of `HierarchicalLogit`.

A sweep:

1. every person's tastes, by a short Hamiltonian trajectory;
2. M and Sigma from their conditionals given all tastes;
3. M and Sigma together with all tastes, which are shifted, and stretched or sheared, by one Hamiltonian trajectory.

Where people's choices say little of their tastes, tastes and population hold each other fast in steps 1 and 2; step 3
is slow where they say much. The two together (interweaving, Yu & Meng 2011) are slow in neither case.
"""

from typing import Any, NamedTuple

import numpy as np

from thali.compile.jit import allocating, scalar

from .hierarchical_people import add_curvature, slope_of, visit, write_tastes
from .hierarchical_population import (
    add_together,
    add_together_prior,
    draw_covariance,
    draw_mean,
    move_together,
    prepare_moves,
)

_DECAY = 0.6  # of the gains of step adaptation
_EVALUATIONS = 8  # of the curvature, over which it is averaged


class Problem(NamedTuple):
    """Data and prior, which never change while a chain runs."""

    matrix: np.ndarray  # (rows, p)
    first_task: np.ndarray  # (N + 1,)
    first_row: np.ndarray  # (tasks + 1,)
    chosen_row: np.ndarray  # (tasks,)
    sign: np.ndarray  # (p,) 1.0 or -1.0: that of a coefficient, whose logarithm is normal then; 0.0: any
    covariates: np.ndarray  # (N, q), the first of which is 1
    df: float  # nu
    scale: float  # S
    mean_precision: np.ndarray  # (p,) 1 / s_k^2
    pooled: np.ndarray  # (p,) tastes of all people pooled, as beta


class State(NamedTuple):
    """The state of a chain."""

    beta: np.ndarray  # (N, p)
    log_likelihood: np.ndarray  # (N,)
    slope: np.ndarray  # (N, p) of the log-likelihood in beta
    mean: np.ndarray  # (q, p) M
    covariance: np.ndarray  # (p, p) Sigma
    precision: np.ndarray  # (p, p) the inverse of Sigma
    curvature: np.ndarray  # (N, p, p) H_n, lower half: shapes the proposals
    curvature_sum: np.ndarray  # (N, p, p), lower half, while tuning
    evaluated: np.ndarray  # (1,) how often both sums were added to
    together_sum: np.ndarray  # (p + 1, (q + 1) p, (q + 1) p), lower half: curvature in M and c, while tuning
    root: np.ndarray  # likewise: C, where C C^T is the metric of the moves of all together
    log_step: np.ndarray  # (N + 1,) of every person, and of the moves of all together
    accepted: np.ndarray  # (N + 1,) likewise, since tuning ended


class Space(NamedTuple):
    """Work space of a chain."""

    matrix: np.ndarray  # (p, p)
    factor: np.ndarray  # (p, p)
    bartlett: np.ndarray  # (p, p)
    vector: np.ndarray  # (p,)
    momentum: np.ndarray  # (p,)
    taste: np.ndarray  # (p,)
    utility: np.ndarray  # (most alternatives of a task,)
    wide: np.ndarray  # (q p, q p)
    wide_factor: np.ndarray  # (q p, q p)
    long: np.ndarray  # (q p,)
    trial: np.ndarray  # (N, p)
    trial_slope: np.ndarray  # (N, p)
    trial_log_likelihood: np.ndarray  # (N,)
    off: np.ndarray  # (N, p) beta_n - M^T z_n
    weight: np.ndarray  # (q + 1, p)
    place: np.ndarray  # ((q + 1) p,) M and c: what the moves of all together change
    force: np.ndarray  # ((q + 1) p,)
    push: np.ndarray  # ((q + 1) p,)


class Draws(NamedTuple):
    """Room for the draws of a chain."""

    mean: np.ndarray  # (draws, q, p)
    covariance: np.ndarray  # (draws, p, p)
    beta: np.ndarray  # (draws, N, p) signed numbers, whose sums are the tastes
    log_likelihood: np.ndarray  # (draws,)


@allocating
def run(
    rng: np.random.Generator,
    problem: Any,
    state: Any,
    space: Any,
    kept: Any,
    sweep: Any,
    until: Any,
    tune: int,
    thin: Any,
) -> None:
    """Sweeps number `sweep` + 1 to `until`; every `thin`-th one after `tune` is recorded.

    The curvature that shapes the proposals is that at the start, in the second half of tuning its mean over draws of
    the second quarter.
    """
    people, half = state.beta.shape[0], tune // 2
    every = max(1, (half - half // 2) // _EVALUATIONS)
    if sweep == 0:
        initialise(problem, state, space)
    while sweep < until:
        sweep += 1
        gain = 0.0
        if sweep <= tune:
            gain = (sweep if sweep <= half else sweep - half) ** -_DECAY
        for n in range(people):
            visit(rng, problem, state, space, n, gain)
        draw_mean(rng, problem, state, space)
        draw_covariance(rng, problem, state, space)
        move_together(rng, problem, state, space, kind_of(sweep, state.beta.shape[1]), gain)
        if half // 2 < sweep <= half and (half - sweep) % every == 0:
            evaluate(problem, state, space, state.beta)
        if sweep == half:
            adopt_metric(problem, state)
        if sweep > tune and (sweep - tune) % thin == 0:
            row = (sweep - tune) // thin - 1
            kept.mean[row] = state.mean
            kept.covariance[row] = state.covariance
            kept.log_likelihood[row] = state.log_likelihood.sum()
            for n in range(people):
                write_tastes(problem, state.beta[n], space.taste)
                kept.beta[row, n] = space.taste


@scalar
def kind_of(sweep: Any, p: Any) -> Any:
    """What everybody moves with in a sweep: in turn the scales, p, and the deviation of each taste, 0 to p - 1."""
    return p if sweep % 2 == 0 else sweep // 2 % p


@scalar
def initialise(problem: Any, state: Any, space: Any) -> None:
    """The likelihood of the tastes at the start; the curvature of proposals where everybody is like the pool."""
    for n in range(state.beta.shape[0]):
        state.log_likelihood[n] = slope_of(problem, space, state.beta[n], n, state.slope[n])
        for i in range(state.beta.shape[1]):
            space.trial[n, i] = problem.pooled[i]
    evaluate(problem, state, space, space.trial)
    adopt_metric(problem, state)


@scalar
def evaluate(problem: Any, state: Any, space: Any, beta: Any) -> None:
    """Add the curvature at these tastes to the sums whose mean shapes the proposals."""
    state.evaluated[0] += 1.0
    for n in range(state.beta.shape[0]):
        for i in range(state.beta.shape[1]):
            for j in range(i + 1):
                space.factor[i, j] = 0.0
        add_curvature(problem, space, beta[n], n, space.factor)
        for i in range(state.beta.shape[1]):
            for j in range(i + 1):
                state.curvature_sum[n, i, j] += space.factor[i, j]
        add_together(problem, state, space, n, space.factor)
    add_together_prior(problem, state)


@scalar
def adopt_metric(problem: Any, state: Any) -> None:
    """The mean of the evaluations shapes the proposals from now on; the sums begin from 0."""
    for n in range(state.beta.shape[0]):
        for i in range(state.beta.shape[1]):
            for j in range(i + 1):
                state.curvature[n, i, j] = state.curvature_sum[n, i, j] / state.evaluated[0]
                state.curvature_sum[n, i, j] = 0.0
    prepare_moves(problem, state)
    state.evaluated[0] = 0.0
