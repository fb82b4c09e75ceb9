"""Chains of the hierarchical logit: starting values and recorded draws."""

from typing import NamedTuple

import numpy as np

from thali.inference.chains import FixedChain

from ..logit import Tasks, ascend
from .hierarchical_sweep import Draws, Problem, Space, State, run

_RIDGE = 1.0  # precision that keeps the pooled tastes, which shape the proposals, finite
_STEP = 0.7  # of trajectories at the start
_LEAST = 0.1  # pooled taste whose sign is the wrong one
_LOG_SD = 2.0  # prior standard deviation of the mean logarithm of a taste that has a sign


class Prior(NamedTuple):
    """M_rk ~ N(0, mean_sd^2), or N(0, 2^2) of a taste that has a sign; Sigma ~ inverse Wishart(df, df scale I)."""

    df: float
    scale: float
    mean_sd: float

    def sds(self, sign: np.ndarray) -> np.ndarray:
        """Prior standard deviations of M, shape (p,)."""
        return np.where(sign == 0.0, self.mean_sd, min(self.mean_sd, _LOG_SD))


def problem_of(
    tasks: Tasks,
    first_task: np.ndarray,
    prior: Prior,
    sign: np.ndarray | None = None,
    covariates: np.ndarray | None = None,
) -> Problem:
    """Data and prior in the form that the sweeps read.

    `sign` (p,) None: any; `covariates` (N, q), of which the first column is 1; None: no other.
    """
    people, p = len(first_task) - 1, tasks.matrix.shape[1]
    sign = np.zeros(p) if sign is None else np.asarray(sign, float)
    pooled = ascend(tasks, _RIDGE).beta
    pooled = np.where(sign == 0.0, pooled, np.log(np.maximum(sign * pooled, _LEAST)))
    return Problem(
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
    )


def start_of(problem: Problem, rng: np.random.Generator) -> State:
    """Starting values: everybody near the pooled tastes, at a different distance in every chain."""
    people, p = len(problem.first_task) - 1, problem.matrix.shape[1]
    q = problem.covariates.shape[1]
    spread = np.exp(rng.normal(size=p))
    beta = problem.pooled + rng.normal(size=(people, p)) * np.sqrt(spread)
    mean = np.zeros((q, p))
    mean[0] = beta.mean(axis=0)
    return State(
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
    )


def space_of(problem: Problem) -> Space:
    """Work space of a chain."""
    people, p = len(problem.first_task) - 1, problem.matrix.shape[1]
    q = problem.covariates.shape[1]
    return Space(
        matrix=np.zeros((p, p)),
        factor=np.zeros((p, p)),
        bartlett=np.zeros((p, p)),
        vector=np.zeros(p),
        momentum=np.zeros(p),
        taste=np.zeros(p),
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
    )


class Chain(FixedChain):
    """One chain: its state, its record, and how far it is."""

    problem: "Problem"
    state: "State"
    record: "Draws"

    def __init__(self, problem: Problem, rng: np.random.Generator, draws: int, tune: int, thin: int) -> None:
        """`tune` counts sweeps."""
        self.problem, self.rng = problem, rng
        self.state, self.space = start_of(problem, rng), space_of(problem)
        super().__init__(draws, 0, thin)
        self.tune, self.total = tune, tune + draws * thin
        people, p = self.state.beta.shape
        self.record = Draws(
            mean=np.zeros((draws, problem.covariates.shape[1], p)),
            covariance=np.zeros((draws, p, p)),
            beta=np.zeros((draws, people, p)),
            log_likelihood=np.zeros(draws),
        )

    @property
    def acceptance(self) -> float:
        """Share of the trajectories of people accepted since tuning ended."""
        return float(self.state.accepted[:-1].mean() / max(1, self.sweeps - self.tune))

    def run_to(self, until: int) -> None:
        """Run until this many sweeps are done and recorded."""
        run(self.rng, self.problem, self.state, self.space, self.record, self.sweeps, until, self.tune, self.thin)
        self.sweeps = until
