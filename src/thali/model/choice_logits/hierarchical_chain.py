"""Chains of the hierarchical logit: starting values and recorded draws."""

from typing import NamedTuple

import numpy as np

from thali.inference.chains import FixedChain

from .hierarchical_sweep import Draws, Problem, State, log_likelihood_of, run
from .logit import Tasks, ascend, derivatives

_RIDGE = 1.0  # precision that keeps the pooled tastes, which shape the proposals, finite


class Prior(NamedTuple):
    """mu ~ N(0, mean_sd^2 I), Sigma ~ inverse Wishart(df, df scale I)."""

    df: float
    scale: float
    mean_sd: float


def problem_of(tasks: Tasks, first_task: np.ndarray, prior: Prior) -> tuple[Problem, np.ndarray]:
    """Data and prior in the form that the sweeps read, and the tastes of all people pooled."""
    pooled = ascend(tasks, _RIDGE).beta
    people, p = len(first_task) - 1, tasks.matrix.shape[1]
    curvature = np.empty((people, p, p))
    for n in range(people):
        curvature[n] = derivatives(tasks_of_person(tasks, first_task, n), pooled)[2]
    problem = Problem(
        np.array(tasks.matrix, float, order="C"),
        np.array(first_task, np.int64),
        np.array(tasks.first_row, np.int64),
        np.array(tasks.chosen_row, np.int64),
        curvature,
        float(prior.df),
        float(prior.df * prior.scale),
        float(prior.mean_sd) ** -2.0,
    )
    return problem, pooled


def tasks_of_person(tasks: Tasks, first_task: np.ndarray, n: int) -> Tasks:
    """The tasks of one person alone."""
    own = slice(first_task[n], first_task[n + 1])
    first, last = tasks.first_row[first_task[n]], tasks.first_row[first_task[n + 1]]
    starts = tasks.first_row[first_task[n] : first_task[n + 1] + 1] - first
    return Tasks(tasks.matrix[first:last], starts, tasks.chosen_row[own] - first)


def start_of(problem: Problem, pooled: np.ndarray, rng: np.random.Generator) -> State:
    """Starting values: everybody near the pooled tastes, at a different distance in every chain."""
    people, p = len(problem.first_task) - 1, problem.matrix.shape[1]
    spread = np.exp(rng.normal(size=p))
    beta = pooled + rng.normal(size=(people, p)) * np.sqrt(spread)
    state = State(
        beta,
        np.zeros(people),
        beta.mean(axis=0),
        np.diag(1.0 / spread),
        np.diag(spread),
        np.full(people, np.log(2.38 / np.sqrt(p))),
        np.zeros(people),
        *(np.zeros((p, p)) for _ in range(3)),
        *(np.zeros(p) for _ in range(2)),
    )
    for n in range(people):
        state.log_likelihood[n] = log_likelihood_of(problem, beta[n], n)
    return state


class Chain(FixedChain):
    """One chain: its state, its record, and how far it is."""

    problem: "Problem"
    state: "State"
    record: "Draws"

    def __init__(
        self, problem: Problem, pooled: np.ndarray, rng: np.random.Generator, draws: int, tune: int, thin: int
    ) -> None:
        self.problem, self.rng = problem, rng
        self.state = start_of(problem, pooled, rng)
        super().__init__(draws, tune, thin)
        people, p = self.state.beta.shape
        self.record = Draws(
            np.zeros((draws, p)), np.zeros((draws, p, p)), np.zeros((draws, people, p)), np.zeros(draws)
        )

    @property
    def acceptance(self) -> float:
        """Share of the proposals accepted since tuning ended."""
        return float(self.state.accepted.mean() / max(1, self.sweeps - self.tune))

    def run_to(self, until: int) -> None:
        """Run until this many sweeps are done and recorded."""
        run(self.rng, self.problem, self.state, self.record, self.sweeps, until, self.tune, self.thin)
        self.sweeps = until
