r"""One sweep of the sampler of the hierarchical logit, and its chains.

The model: :math:`P(x_j \mid X_{nt}) \propto \exp(x_j^T b_n)`, with :math:`b_{nk} = \beta_{nk}`, or
:math:`b_{nk} = \pm e^{\beta_{nk}}` where a coefficient has a sign; :math:`\beta_n \sim N(M^T z_n,
\Sigma)` for the covariates :math:`z_n` of a person, the first of which is 1; :math:`M_{rk} \sim
N(0, s_k^2)`, :math:`\Sigma \sim IW(\nu, S I)` with density :math:`\propto |\Sigma|^{-(\nu + p +
1)/2} \exp(-S \operatorname{tr} \Sigma^{-1} / 2)`, where :math:`S = \nu V` in the terms of
`HierarchicalLogit`. In willingness-to-pay space the coefficient of the price has the sign -1, and
the others, which are amounts, are multiplied by its size. With attention, :math:`b_{nk}` is 0 where
the person ignores an attribute to which it belongs.

A sweep:

1. every person's tastes, by a short Hamiltonian trajectory; and what the person attends to, where
   that is asked for;
2. M and Sigma from their conditionals given all tastes;
3. M and Sigma together with all tastes, which are shifted, and stretched or sheared, by one
   Hamiltonian trajectory.

Where people's choices say little of their tastes, tastes and population hold each other fast in
steps 1 and 2; step 3 is slow where they say much. The two together (interweaving, Yu & Meng 2011)
are slow in neither case.
"""

from typing import Any, NamedTuple

import numpy as np

from thali._compile.jit import allocating, scalar
from thali._inference.chains import FixedChain

from ..logit import EncodedTasks, maximise_log_likelihood
from .hierarchical_attention import attend, draw_rates, write_heeded
from .hierarchical_moves import (
    add_curvature,
    add_together,
    add_together_prior,
    draw_covariance,
    draw_mean,
    move_together,
    prepare_moves,
    slope_of,
    visit,
    write_tastes,
)

_DECAY = 0.6  # of the gains of step adaptation
_EVALUATIONS = 8  # of the curvature, over which it is averaged


class TasteProblem(NamedTuple):
    """Data and prior, which never change while a chain runs."""

    matrix: np.ndarray  # (rows, p)
    first_task: np.ndarray  # (N + 1,)
    first_row: np.ndarray  # (tasks + 1,)
    chosen_row: np.ndarray  # (tasks,)
    # (p,) 1.0 or -1.0: that of a coefficient, whose logarithm is normal then; 0.0: any
    sign: np.ndarray
    covariates: np.ndarray  # (N, q), the first of which is 1
    df: float  # nu
    scale: float  # S
    mean_precision: np.ndarray  # (p,) 1 / s_k^2
    pooled: np.ndarray  # (p,) tastes of all people pooled, as beta
    # (K, p) 1.0 where a coefficient is one of an attribute that people may ignore
    owned: np.ndarray
    price: int  # in willingness-to-pay space the place of the price's coefficient, else -1
    # (N, r) covariates by which people attend to attributes, the first of which is 1
    looking: np.ndarray
    odds_root: np.ndarray  # (r, r): C, where C C^T is the metric of the moves of their effects


class TasteState(NamedTuple):
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
    # (p + 1, (q + 1) p, (q + 1) p), lower half: curvature in M and c, while tuning
    together_sum: np.ndarray
    root: np.ndarray  # likewise: C, where C C^T is the metric of the moves of all together
    log_step: np.ndarray  # (N + 1,) of every person, and of the moves of all together
    accepted: np.ndarray  # (N + 1,) likewise, since tuning ended
    rate: np.ndarray  # (K,) theta, of people with average covariates
    attends: np.ndarray  # (N, K) lambda: 1.0 where a person attends to an attribute
    # (N, p) 1.0 where a person attends to all attributes that a coefficient belongs to
    heeded: np.ndarray
    effect: np.ndarray  # (r - 1, K) gamma


class TasteWorkspace(NamedTuple):
    """Work space of a chain."""

    matrix: np.ndarray  # (p, p)
    factor: np.ndarray  # (p, p)
    bartlett: np.ndarray  # (p, p)
    vector: np.ndarray  # (p,)
    momentum: np.ndarray  # (p,)
    taste: np.ndarray  # (p,)
    lean: np.ndarray  # (p,)
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
    odds: np.ndarray  # (r,) logit theta_k and gamma_k
    odds_force: np.ndarray  # (r,)
    odds_push: np.ndarray  # (r,)


class TasteDraws(NamedTuple):
    """Room for the draws of a chain."""

    mean: np.ndarray  # (draws, q, p)
    covariance: np.ndarray  # (draws, p, p)
    # (draws, N, p) signed numbers, whose sums are the tastes of who attends to everything
    beta: np.ndarray
    log_likelihood: np.ndarray  # (draws,)
    rate: np.ndarray  # (draws, K)
    effect: np.ndarray  # (draws, r - 1, K)
    attends: np.ndarray  # (draws, N, K) bool


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
    """Sweeps number `sweep` + 1 to `until`; every `thin`-th one after `tune` is recorded."""
    # The curvature that shapes the proposals is that at the start, in the second half of tuning its
    # mean over draws of the second quarter.
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
        if state.rate.size > 0:
            for n in range(people):
                attend(rng, problem, state, space, n)
            draw_rates(rng, problem, state, space)
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
            for k in range(state.rate.size):
                kept.rate[row, k] = state.rate[k]
                for r in range(state.effect.shape[0]):
                    kept.effect[row, r, k] = state.effect[r, k]
                for n in range(people):
                    kept.attends[row, n, k] = state.attends[n, k] == 1.0


@scalar
def kind_of(sweep: Any, p: Any) -> Any:
    """What everybody moves with in a sweep: in turn the scales, p, and the deviation of each taste,
    0 to p - 1."""
    return p if sweep % 2 == 0 else sweep // 2 % p


@scalar
def initialise(problem: Any, state: Any, space: Any) -> None:
    """The likelihood of the tastes at the start; the curvature of proposals where everybody is like
    the pool."""
    for n in range(state.beta.shape[0]):
        write_heeded(problem, state, n)
        state.log_likelihood[n] = slope_of(problem, state, space, state.beta[n], n, state.slope[n])
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
        add_curvature(problem, state, space, beta[n], n, space.factor)
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


# Chains of the hierarchical logit: starting values and recorded draws -----------------------------


_RIDGE = 1.0  # precision that keeps the pooled tastes, which shape the proposals, finite
_STEP = 0.7  # of trajectories at the start
_MIN_TASTE = 0.1  # pooled taste whose sign is the wrong one
_LOG_SD = 2.0  # prior standard deviation of the mean logarithm of a taste that has a sign


class TastePrior(NamedTuple):
    """M_rk ~ N(0, mean_sd^2), or N(0, 2^2) of a taste that has a sign; Sigma ~ inverse Wishart(df,
    df scale I)."""

    df: float
    scale: float
    mean_sd: float

    def sds(self, sign: np.ndarray) -> np.ndarray:
        """Prior standard deviations of M, shape (p,)."""
        return np.where(sign == 0.0, self.mean_sd, min(self.mean_sd, _LOG_SD))


def problem_of(
    tasks: EncodedTasks,
    first_task: np.ndarray,
    prior: TastePrior,
    sign: np.ndarray | None = None,
    covariates: np.ndarray | None = None,
    owned: np.ndarray | None = None,
    price: int = -1,
    looking: np.ndarray | None = None,
) -> TasteProblem:
    """Data and prior as the sweeps read them.

    None: of `sign` (p,) any, of `covariates` (N, q) and `looking` (N, r) 1 alone, of `owned` (K, p)
    nobody ignores anything. The sign at `price` is -1.
    """
    people, p = len(first_task) - 1, tasks.matrix.shape[1]
    looking = np.ones((people, 1)) if looking is None else np.array(looking, float, order="C")
    steepest = np.diag(np.append(0.5, np.ones(looking.shape[1] - 1))) + 0.25 * looking.T @ looking
    sign = np.zeros(p) if sign is None else np.asarray(sign, float)
    pooled = maximise_log_likelihood(tasks, _RIDGE).beta
    if price >= 0:
        amounts = pooled / max(-pooled[price], _MIN_TASTE)
        amounts[price] = pooled[price]
        pooled = amounts
    pooled = np.where(sign == 0.0, pooled, np.log(np.maximum(sign * pooled, _MIN_TASTE)))
    return TasteProblem(
        np.array(tasks.matrix, float, order="C"),
        np.array(first_task, np.int64),
        np.array(tasks.first_row, np.int64),
        np.array(tasks.chosen_row, np.int64),
        sign,
        np.ones((people, 1)) if covariates is None else np.array(covariates, float, order="C"),
        float(prior.df),
        float(prior.df * prior.scale),
        prior.sds(sign) ** -2.0,
        pooled,
        np.zeros((0, p)) if owned is None else np.array(owned, float, order="C"),
        int(price),
        looking,
        np.linalg.cholesky(steepest),
    )


def start_of(problem: TasteProblem, rng: np.random.Generator) -> TasteState:
    """Starting values: everybody near the pooled tastes, at a different distance in every chain."""
    people, p = len(problem.first_task) - 1, problem.matrix.shape[1]
    q = problem.covariates.shape[1]
    spread = np.exp(rng.normal(size=p))
    beta = problem.pooled + rng.normal(size=(people, p)) * np.sqrt(spread)
    mean = np.zeros((q, p))
    mean[0] = beta.mean(axis=0)
    rate = rng.random(len(problem.owned))
    return TasteState(
        beta=beta,
        log_likelihood=np.zeros(people),
        slope=np.zeros((people, p)),
        mean=mean,
        covariance=np.diag(spread),
        precision=np.diag(1.0 / spread),
        curvature=np.zeros((people, p, p)),
        curvature_sum=np.zeros((people, p, p)),
        evaluated=np.zeros(1),
        together_sum=np.zeros((p + 1, (q + 1) * p, (q + 1) * p)),
        root=np.zeros((p + 1, (q + 1) * p, (q + 1) * p)),
        log_step=np.full(people + 1, np.log(_STEP)),
        accepted=np.zeros(people + 1),
        rate=rate,
        attends=(rng.random((people, len(rate))) < rate).astype(float),
        heeded=np.ones((people, p)),
        effect=rng.normal(size=(problem.looking.shape[1] - 1, len(rate))),
    )


def space_of(problem: TasteProblem) -> TasteWorkspace:
    """Work space of a chain."""
    people, p = len(problem.first_task) - 1, problem.matrix.shape[1]
    q = problem.covariates.shape[1]
    return TasteWorkspace(
        matrix=np.zeros((p, p)),
        factor=np.zeros((p, p)),
        bartlett=np.zeros((p, p)),
        vector=np.zeros(p),
        momentum=np.zeros(p),
        taste=np.zeros(p),
        lean=np.zeros(p),
        utility=np.zeros(int(np.diff(problem.first_row).max(initial=1))),
        wide=np.zeros((q * p, q * p)),
        wide_factor=np.zeros((q * p, q * p)),
        long=np.zeros(q * p),
        trial=np.zeros((people, p)),
        trial_slope=np.zeros((people, p)),
        trial_log_likelihood=np.zeros(people),
        off=np.zeros((people, p)),
        weight=np.zeros((q + 1, p)),
        place=np.zeros((q + 1) * p),
        force=np.zeros((q + 1) * p),
        push=np.zeros((q + 1) * p),
        odds=np.zeros(problem.looking.shape[1]),
        odds_force=np.zeros(problem.looking.shape[1]),
        odds_push=np.zeros(problem.looking.shape[1]),
    )


class TasteChain(FixedChain):
    """One chain: its state, its record, and how far it is."""

    problem: "TasteProblem"
    state: "TasteState"
    record: "TasteDraws"
    rng: np.random.Generator
    space: TasteWorkspace
    tune: int
    total: int

    def __init__(
        self, problem: TasteProblem, rng: np.random.Generator, draws: int, tune: int, thin: int
    ) -> None:
        """`tune` counts sweeps."""
        self.problem, self.rng = problem, rng
        self.state, self.space = start_of(problem, rng), space_of(problem)
        super().__init__(draws, 0, thin)
        self.tune, self.total = tune, tune + draws * thin
        people, p = self.state.beta.shape
        self.record = TasteDraws(
            mean=np.zeros((draws, problem.covariates.shape[1], p)),
            covariance=np.zeros((draws, p, p)),
            beta=np.zeros((draws, people, p)),
            log_likelihood=np.zeros(draws),
            rate=np.zeros((draws, len(problem.owned))),
            effect=np.zeros((draws, problem.looking.shape[1] - 1, len(problem.owned))),
            attends=np.zeros((draws, people, len(problem.owned)), np.bool_),
        )

    @property
    def acceptance(self) -> float:
        """Share of the trajectories of people accepted since tuning ended."""
        return float(self.state.accepted[:-1].mean() / max(1, self.sweeps - self.tune))

    def run_until(self, until: int) -> None:
        """Run until this many sweeps are done and recorded."""
        run(
            self.rng,
            self.problem,
            self.state,
            self.space,
            self.record,
            self.sweeps,
            until,
            self.tune,
            self.thin,
        )
        self.sweeps = until
