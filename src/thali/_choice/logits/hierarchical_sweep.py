r"""Chains of the hierarchical logit: problem, state, sweeps and starting values.

The model: :math:`P(x_j \mid X_{nt}) \propto \exp(x_j^T b_n)`, with :math:`b_{nk} = \beta_{nk}`, or
:math:`b_{nk} = \pm e^{\beta_{nk}}` where a coefficient has a sign; :math:`\beta_n \sim N(M^T z_n,
\Sigma)` for the covariates :math:`z_n` of a person, starting with 1; :math:`M_{rk} \sim
N(0, s_k^2)`, :math:`\Sigma \sim IW(\nu, S I)` with density :math:`\propto |\Sigma|^{-(\nu + p +
1)/2} \exp(-S \operatorname{tr} \Sigma^{-1} / 2)`, where :math:`S = \nu V` in the terms of
`HierarchicalLogit`. In willingness-to-pay space the coefficient of the price has the sign -1, and
the others, which are amounts, are multiplied by its size.

A sweep:

1. every person's tastes, by a short Hamiltonian trajectory;
2. M and Sigma from their conditionals given all tastes;
3. M and Sigma together with all tastes, which are shifted, and stretched or sheared, by one
   Hamiltonian trajectory.

If choices contain little information about tastes, steps 1 and 2 are slow, because tastes and
population depend strongly on each other; if they contain much, step 3 is slow. The two together
(interweaving, Yu & Meng 2011) are fast in both cases.
"""

from typing import Any, NamedTuple

import numpy as np

from thali._compile.jit import compiled, scalar
from thali._inference.markov_chains import FixedChain

from ..logit_likelihood import EncodedTasks, maximise_log_likelihood
from .hierarchical_moves import (
    add_curvature,
    add_population_curvature,
    add_prior_curvature,
    move_population,
    move_tastes,
    sample_covariance,
    sample_mean,
    update_population_metric,
    write_likelihood_slope,
    write_tastes,
)

_GAIN_DECAY = 0.6  # of the gains of step adaptation
_N_CURVATURES = 8  # curvatures that are averaged in tuning


class TasteProblem(NamedTuple):
    """Data and prior of the hierarchical logit as kernels read them."""

    columns: np.ndarray  # (p, rows) the model matrix, transposed for vector instructions
    first_task: np.ndarray  # (N + 1,)
    first_row: np.ndarray  # (tasks + 1,)
    chosen_row: np.ndarray  # (tasks,)
    # (p,) 1.0 or -1.0: the sign of a coefficient, whose absolute logarithm is normal; 0.0: any sign
    sign: np.ndarray
    covariates: np.ndarray  # (N, q), the first is 1
    df: float  # nu
    scale: float  # S
    mean_precision: np.ndarray  # (p,) 1 / s_k^2
    pooled: np.ndarray  # (p,) estimated tastes if all people are equal, as beta
    price: int  # in willingness-to-pay space the index of the price's coefficient, else -1


class TasteState(NamedTuple):
    """State of a chain: tastes, population means and covariance, step sizes."""

    beta: np.ndarray  # (N, p)
    log_likelihood: np.ndarray  # (N,)
    slope: np.ndarray  # (N, p) of the log-likelihood in beta
    mean: np.ndarray  # (q, p) M
    covariance: np.ndarray  # (p, p) Sigma
    precision: np.ndarray  # (p, p) the inverse of Sigma
    curvature: np.ndarray  # (N, p, p) H_n, lower half: shapes the proposals
    curvature_sum: np.ndarray  # (N, p, p), lower half, while tuning
    evaluated: np.ndarray  # (1,) number of terms in both sums
    # (p + 1, (q + 1) p, (q + 1) p), lower half: curvature in M and c, while tuning
    together_sum: np.ndarray
    root: np.ndarray  # likewise: C, where C C^T is the metric of population moves
    log_step: np.ndarray  # (N + 1,) of every person, and of population moves
    accepted: np.ndarray  # (N + 1,) likewise, number accepted since tuning


class TasteWorkspace(NamedTuple):
    """Scratch arrays that one chain reuses in every sweep of tastes."""

    matrix: np.ndarray  # (p, p)
    factor: np.ndarray  # (p, p)
    bartlett: np.ndarray  # (p, p)
    vector: np.ndarray  # (p,)
    momentum: np.ndarray  # (p,)
    taste: np.ndarray  # (p,)
    lean: np.ndarray  # (p,)
    utility: np.ndarray  # (most rows of a person,)
    wide: np.ndarray  # (q p, q p)
    wide_factor: np.ndarray  # (q p, q p)
    long: np.ndarray  # (q p,)
    trial: np.ndarray  # (N, p)
    trial_slope: np.ndarray  # (N, p)
    trial_log_likelihood: np.ndarray  # (N,)
    off: np.ndarray  # (N, p) beta_n - M^T z_n
    weight: np.ndarray  # (q + 1, p)
    place: np.ndarray  # ((q + 1) p,) M and c, the coordinates of population moves
    force: np.ndarray  # ((q + 1) p,)
    push: np.ndarray  # ((q + 1) p,)


class TasteDraws(NamedTuple):
    """Recorded draws of one chain: tastes, their mean and covariance."""

    mean: np.ndarray  # (draws, q, p)
    covariance: np.ndarray  # (draws, p, p)
    beta: np.ndarray  # (draws, N, p) signed numbers, whose sums are the tastes
    log_likelihood: np.ndarray  # (draws,)


@compiled
def run_sweeps(
    rng: np.random.Generator,
    problem: Any,
    state: Any,
    space: Any,
    record: Any,
    sweep: Any,
    until: Any,
    tune: int,
    thin: Any,
) -> None:
    """Run sweeps `sweep` + 1 to `until`; record every `thin`-th after `tune`."""
    # Proposals use the curvature at the start; from the second half of tuning on, its mean over
    # draws of the second quarter.
    people, half = state.beta.shape[0], tune // 2
    interval = max(1, (half - half // 2) // _N_CURVATURES)
    if sweep == 0:
        initialise_state(problem, state, space)
    while sweep < until:
        sweep += 1
        gain = 0.0
        if sweep <= tune:
            gain = (sweep if sweep <= half else sweep - half) ** -_GAIN_DECAY
        for n in range(people):
            move_tastes(rng, problem, state, space, n, gain)
        sample_mean(rng, problem, state, space)
        sample_covariance(rng, problem, state, space)
        move_population(rng, problem, state, space, schedule_move(sweep, state.beta.shape[1]), gain)
        if half // 2 < sweep <= half and (half - sweep) % interval == 0:
            evaluate_curvature(problem, state, space, state.beta)
        if sweep == half:
            adopt_metric(problem, state)
        if sweep > tune and (sweep - tune) % thin == 0:
            record_draw(problem, state, record, (sweep - tune) // thin - 1)


@scalar
def record_draw(problem: Any, state: Any, record: Any, row: Any) -> None:
    """Record the state; numbers are copied one by one, as array assignments would allocate."""
    for r in range(state.mean.shape[0]):
        for i in range(state.mean.shape[1]):
            record.mean[row, r, i] = state.mean[r, i]
    for i in range(state.mean.shape[1]):
        for j in range(state.mean.shape[1]):
            record.covariance[row, i, j] = state.covariance[i, j]
    log_likelihood = 0.0
    for n in range(state.beta.shape[0]):
        write_tastes(problem, state.beta[n], record.beta[row, n])
        log_likelihood += state.log_likelihood[n]
    record.log_likelihood[row] = log_likelihood


@scalar
def schedule_move(sweep: Any, p: Any) -> Any:
    """Return which population move sweep number `sweep` makes: p (scales), or a taste.

    The moves alternate between p and 0 to p - 1 in turn.
    """
    return p if sweep % 2 == 0 else sweep // 2 % p


@scalar
def initialise_state(problem: Any, state: Any, space: Any) -> None:
    """Evaluate likelihoods of the starting tastes, and curvature at pooled tastes."""
    for n in range(state.beta.shape[0]):
        state.log_likelihood[n] = write_likelihood_slope(
            problem, space, state.beta[n], n, state.slope[n]
        )
        for i in range(state.beta.shape[1]):
            space.trial[n, i] = problem.pooled[i]
    evaluate_curvature(problem, state, space, space.trial)
    adopt_metric(problem, state)


@scalar
def evaluate_curvature(problem: Any, state: Any, space: Any, beta: Any) -> None:
    """Add the curvature at these tastes to running sums for the metric."""
    state.evaluated[0] += 1.0
    for n in range(state.beta.shape[0]):
        for i in range(state.beta.shape[1]):
            for j in range(i + 1):
                space.factor[i, j] = 0.0
        add_curvature(problem, space, beta[n], n, space.factor)
        for i in range(state.beta.shape[1]):
            for j in range(i + 1):
                state.curvature_sum[n, i, j] += space.factor[i, j]
        add_population_curvature(problem, state, space, n, space.factor)
    add_prior_curvature(problem, state)


@scalar
def adopt_metric(problem: Any, state: Any) -> None:
    """Use the mean curvature since the last call as the metric of proposals."""
    for n in range(state.beta.shape[0]):
        for i in range(state.beta.shape[1]):
            for j in range(i + 1):
                state.curvature[n, i, j] = state.curvature_sum[n, i, j] / state.evaluated[0]
                state.curvature_sum[n, i, j] = 0.0
    update_population_metric(problem, state)
    state.evaluated[0] = 0.0


# Chains of the hierarchical logit: starting values and recorded draws -----------------------------


_RIDGE = 1.0  # precision that keeps the pooled tastes finite
_FIRST_STEP = 0.7  # of trajectories at the start
_MIN_TASTE = 0.1  # replaces a pooled taste with the wrong sign
_LOG_SD = 2.0  # prior standard deviation of the mean logarithm of a taste with a sign


class TastePrior(NamedTuple):
    """Prior of population means (normal) and covariance (inverse Wishart).

    For a taste with a sign, mean_sd is at most 2.
    """

    df: float
    scale: float
    mean_sd: float

    def mean_sds(self, sign: np.ndarray) -> np.ndarray:
        """Return prior standard deviations of the population means, shape (p,)."""
        return np.where(sign == 0.0, self.mean_sd, min(self.mean_sd, _LOG_SD))


def build_problem(
    tasks: EncodedTasks,
    first_task: np.ndarray,
    prior: TastePrior,
    sign: np.ndarray | None = None,
    covariates: np.ndarray | None = None,
    price: int = -1,
) -> TasteProblem:
    """Return data and prior of a chain as kernels read them.

    None: any `sign` (p,), only a constant in `covariates` (N, q). The sign at `price` is -1.
    """
    n_people = len(first_task) - 1
    p = tasks.matrix.shape[1]
    sign = np.zeros(p) if sign is None else np.asarray(sign, float)
    pooled_beta = maximise_log_likelihood(tasks, _RIDGE).beta
    if price >= 0:
        money_amounts = pooled_beta / max(-pooled_beta[price], _MIN_TASTE)
        money_amounts[price] = pooled_beta[price]
        pooled_beta = money_amounts
    pooled_beta = np.where(
        sign == 0.0, pooled_beta, np.log(np.maximum(sign * pooled_beta, _MIN_TASTE))
    )
    return TasteProblem(
        np.array(tasks.matrix.T, float, order="C"),
        np.array(first_task, np.int64),
        np.array(tasks.first_row, np.int64),
        np.array(tasks.chosen_row, np.int64),
        sign,
        np.ones((n_people, 1)) if covariates is None else np.array(covariates, float, order="C"),
        float(prior.df),
        float(prior.df * prior.scale),
        prior.mean_sds(sign) ** -2.0,
        pooled_beta,
        int(price),
    )


def draw_start(problem: TasteProblem, rng: np.random.Generator) -> TasteState:
    """Draw starting tastes near the pooled estimate, and return the chain's state."""
    n_people = len(problem.first_task) - 1
    p = len(problem.columns)
    q = problem.covariates.shape[1]
    taste_variances = np.exp(rng.normal(size=p))
    beta = problem.pooled + rng.normal(size=(n_people, p)) * np.sqrt(taste_variances)
    population_means = np.zeros((q, p))
    population_means[0] = beta.mean(axis=0)
    n_coordinates = (q + 1) * p  # of M and c
    return TasteState(
        beta=beta,
        log_likelihood=np.zeros(n_people),
        slope=np.zeros((n_people, p)),
        mean=population_means,
        covariance=np.diag(taste_variances),
        precision=np.diag(1.0 / taste_variances),
        curvature=np.zeros((n_people, p, p)),
        curvature_sum=np.zeros((n_people, p, p)),
        evaluated=np.zeros(1),
        together_sum=np.zeros((p + 1, n_coordinates, n_coordinates)),
        root=np.zeros((p + 1, n_coordinates, n_coordinates)),
        log_step=np.full(n_people + 1, np.log(_FIRST_STEP)),
        accepted=np.zeros(n_people + 1),
    )


def build_workspace(problem: TasteProblem) -> TasteWorkspace:
    """Allocate the scratch arrays for one chain of tastes."""
    n_people = len(problem.first_task) - 1
    p = len(problem.columns)
    q = problem.covariates.shape[1]
    shape_by_name = {
        "matrix": (p, p),
        "factor": (p, p),
        "bartlett": (p, p),
        "vector": p,
        "momentum": p,
        "taste": p,
        "lean": p,
        "utility": np.diff(problem.first_row[problem.first_task]).max(initial=1),
        "wide": (q * p, q * p),
        "wide_factor": (q * p, q * p),
        "long": q * p,
        "trial": (n_people, p),
        "trial_slope": (n_people, p),
        "trial_log_likelihood": n_people,
        "off": (n_people, p),
        "weight": (q + 1, p),
        "place": (q + 1) * p,
        "force": (q + 1) * p,
        "push": (q + 1) * p,
    }
    return TasteWorkspace(**{name: np.zeros(shape) for name, shape in shape_by_name.items()})


class TasteChain(FixedChain):
    """One Markov chain of the hierarchical logit with its record."""

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
        """Start a chain; `tune` is in sweeps."""
        self.problem = problem
        self.rng = rng
        self.state = draw_start(problem, rng)
        self.space = build_workspace(problem)
        super().__init__(draws, 0, thin)
        self.tune = tune
        self.total = tune + draws * thin
        state = self.state
        self.record = TasteDraws(
            mean=np.zeros((draws, *state.mean.shape)),
            covariance=np.zeros((draws, *state.covariance.shape)),
            beta=np.zeros((draws, *state.beta.shape)),
            log_likelihood=np.zeros(draws),
        )

    @property
    def acceptance(self) -> float:
        """Share of accepted trajectories of people's tastes after tuning."""
        return float(self.state.accepted[:-1].mean() / max(1, self.sweeps - self.tune))

    def run_until(self, until: int) -> None:
        """Run the chain until it has done `until` sweeps."""
        run_sweeps(
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
