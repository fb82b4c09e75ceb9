"""Chains of the hierarchical logit: starting values and recorded draws."""

from typing import NamedTuple

import numpy as np

from thali.inference.chains import FixedChain

from .hierarchical_sweep import Draws, Problem, Space, State, run
from .logit import Tasks, ascend

_RIDGE = 1.0  # precision that keeps the pooled tastes, which shape the proposals, finite


class Prior(NamedTuple):
    """mu ~ N(0, mean_sd^2 I), Sigma ~ inverse Wishart(df, df scale I)."""

    df: float
    scale: float
    mean_sd: float


def problem_of(
    tasks: Tasks,
    first_task: np.ndarray,
    prior: Prior,
    sign: np.ndarray | None = None,
    covariates: np.ndarray | None = None,
) -> tuple[Problem, np.ndarray]:
    """Data and prior in the form that the sweeps read, and the tastes of all people pooled."""
    pooled = ascend(tasks, _RIDGE).beta
    people, p = len(first_task) - 1, tasks.matrix.shape[1]
    problem = Problem(
        np.array(tasks.matrix, float, order="C"),
        np.array(first_task, np.int64),
        np.array(tasks.first_row, np.int64),
        np.array(tasks.chosen_row, np.int64),
        np.zeros(p) if sign is None else np.array(sign, float),
        np.ones((people, 1)) if covariates is None else np.array(covariates, float, order="C"),
        float(prior.df),
        float(prior.df * prior.scale),
        np.full(p, float(prior.mean_sd) ** -2.0),
        pooled,
    )
    return problem, pooled


def start_of(problem: Problem, pooled: np.ndarray, rng: np.random.Generator) -> State:
    """Starting values: everybody near the pooled tastes, at a different distance in every chain."""
    people, p = len(problem.first_task) - 1, problem.matrix.shape[1]
    q = problem.covariates.shape[1]
    spread = np.exp(rng.normal(size=p))
    beta = pooled + rng.normal(size=(people, p)) * np.sqrt(spread)
    mean = np.zeros((q, p))
    mean[0] = beta.mean(axis=0)
    state = State(
        beta,
        np.zeros(people),
        np.zeros((people, p)),
        mean,
        np.diag(spread),
        np.diag(1.0 / spread),
        np.zeros((people, p, p)),
        np.zeros((people, p, p)),
        np.zeros(1),
        *(np.zeros((p, (q + 2) * p, (q + 2) * p)) for _ in range(2)),
        np.full(people + 1, np.log(0.7)),
        np.zeros(people + 1),
    )
    return state


def space_of(problem: Problem) -> Space:
    """Work space of a chain."""
    people, p = len(problem.first_task) - 1, problem.matrix.shape[1]
    q = problem.covariates.shape[1]
    most = int(np.diff(problem.first_row).max(initial=1))
    return Space(
        *(np.zeros((p, p)) for _ in range(3)),
        *(np.zeros(p) for _ in range(3)),
        np.zeros(most),
        *(np.zeros((q * p, q * p)) for _ in range(2)),
        np.zeros(q * p),
        *(np.zeros((people, p)) for _ in range(2)),
        np.zeros(people),
        np.zeros((people, p)),
        np.zeros((q + 2, p)),
        *(np.zeros((q + 2) * p) for _ in range(3)),
    )


class Chain(FixedChain):
    """One chain: its state, its record, and how far it is."""

    problem: "Problem"
    state: "State"
    record: "Draws"

    def __init__(
        self, problem: Problem, pooled: np.ndarray, rng: np.random.Generator, draws: int, tune: int, thin: int
    ) -> None:
        self.problem, self.rng = problem, rng
        self.state, self.space = start_of(problem, pooled, rng), space_of(problem)
        super().__init__(draws, tune, thin)
        people, p = self.state.beta.shape
        self.record = Draws(
            np.zeros((draws, problem.covariates.shape[1], p)), np.zeros((draws, p, p)), np.zeros((draws, people, p)), np.zeros(draws)
        )

    @property
    def acceptance(self) -> float:
        """Share of the proposals accepted since tuning ended."""
        return float(self.state.accepted.mean() / max(1, self.sweeps - self.tune))

    def run_to(self, until: int) -> None:
        """Run until this many sweeps are done and recorded."""
        run(self.rng, self.problem, self.state, self.space, self.record, self.sweeps, until, self.tune, self.thin)
        self.sweeps = until
