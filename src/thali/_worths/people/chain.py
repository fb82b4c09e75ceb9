"""A chain of worths of people who differ: starting values, and sweeps that are recorded, stored and continued."""

import math

import numpy as np

from thali._inference.chains import FixedChain

from .answers import AnswerTable
from .sweep import PeopleRecord, PeopleState, run

STEP, WALK = 0.7, 0.1  # lengths at the start, of trajectories and of walks


class PeopleChain(FixedChain):
    """One chain, with `n_directions` shared directions; `spread` between options is learned where it is None."""

    state: PeopleState
    record: PeopleRecord

    def __init__(
        self,
        table: AnswerTable,
        spread: float | None,
        n_directions: int,
        draws: int,
        tune: int,
        thin: int,
        rng: np.random.Generator,
    ) -> None:
        super().__init__(draws, tune, thin)
        self.table, self.rng, self.is_spread_known = table, rng, spread is not None
        self.state = start_people(table, n_directions, rng)
        if spread is not None:
            self.state.log_sds[0] = math.log(spread)
        (N, q), n = table.x.shape, table.n_options
        self.record = PeopleRecord(
            population=np.zeros((draws, q, n)),
            loadings=np.zeros((draws, n_directions, n)),
            log_sds=np.zeros((draws, 3)),
            log_tie=np.zeros(draws),
            log_likelihood=np.zeros(draws),
            worths=np.zeros((draws, N, n), np.float32),
        )

    def run_to(self, until: int) -> None:
        """Make the sweeps up to this one."""
        known = self.is_spread_known
        run(self.rng, self.table, self.state, self.record, known, self.sweeps, until, self.tune, self.thin)
        self.sweeps = until


def start_people(table: AnswerTable, n_directions: int, rng: np.random.Generator) -> PeopleState:
    """Return starting values: all people near rough common worths, at a different distance in each chain."""
    (N, q), n = table.x.shape, table.n_options
    n_seen = np.diff(table.first_option)
    person = np.repeat(np.arange(N), n_seen)
    mean = np.concatenate([np.zeros((q, n)), 0.3 * rng.normal(size=(n_directions, n))])
    mean[0] = estimate_common_worths(table) + 0.1 * rng.normal(size=n)
    log_sds = np.append(rng.normal([0.0, -0.7], [0.3, 0.5]), math.log(0.5))

    def centre(values: np.ndarray) -> np.ndarray:
        return values - (np.bincount(person, values) / n_seen)[person]

    worths = mean[0][table.option]
    return PeopleState(
        z=np.column_stack([table.x, rng.normal(size=(N, n_directions))]),
        mean=mean,
        log_sds=log_sds,
        log_tie=0.5 * rng.normal(size=1) * table.has_ties,
        u=centre(worths + np.exp(log_sds[1]) * rng.normal(size=len(worths))),
        log_likelihood=np.zeros(N),
        log_step=np.full(N + 1, math.log(STEP)),
        log_walk=np.full(2, math.log(WALK)),
        curvature=np.zeros(table.first_square[-1]),
        point=centre(worths),
        pull=np.zeros(len(worths)),
        n_points=np.zeros(1),
        root=np.zeros((mean.size + 1, mean.size + 1)),
    )


def estimate_common_worths(table: AnswerTable) -> np.ndarray:
    """Return rough log worths (n,): how often an option was chosen, and was not the worst, over how often shown."""
    n, size = table.n_options, np.diff(table.start)
    answers = np.diff(table.first_answer)
    first = np.repeat(np.repeat(table.first_option[:-1], answers), size)
    option, at = table.option[first + table.member], table.start[:-1]
    shown = np.bincount(option, np.repeat(table.count, size), n) + 2.0
    best = np.bincount(option[at], table.count, n) + 1.0
    worst = 1.0
    if table.is_difference:
        worst = np.bincount(option[at + 1], table.count, n) + 1.0
    logs = np.log(best / (shown * worst))
    return 0.7 * (logs - logs.mean())
