"""Markov chain of individual worths: starting values, sweeps and record."""

import math

import numpy as np

from thali._inference.markov_chains import FixedChain

from .answer_table import AnswerTable
from .gibbs_sweep import PeopleRecord, PeopleState, run_sweeps

FIRST_STEP, FIRST_WALK = 0.7, 0.1  # lengths at the start, of trajectories and of walks


class PeopleChain(FixedChain):
    """One chain of individual worths and their population; `spread` None is learned."""

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
        """Draw the starting state and allocate the record; `tune` is in sweeps."""
        super().__init__(draws, tune, thin)
        self.table = table
        self.rng = rng
        self.is_spread_known = spread is not None
        self.state = draw_start(table, n_directions, rng)
        if spread is not None:
            self.state.log_sds[0] = math.log(spread)
        N, q = table.x.shape
        n = table.n_options
        self.record = PeopleRecord(
            mean=np.zeros((draws, q, n)),
            loadings=np.zeros((draws, n_directions, n)),
            log_sds=np.zeros((draws, 3)),
            log_tie=np.zeros(draws),
            log_likelihood=np.zeros(draws),
            worths=np.zeros((draws, N, n), np.float32),
        )

    def run_until(self, until: int) -> None:
        """Run the chain until it has done `until` sweeps."""
        run_sweeps(
            self.rng,
            self.table,
            self.state,
            self.record,
            self.is_spread_known,
            self.sweeps,
            until,
            self.tune,
            self.thin,
        )
        self.sweeps = until


def draw_start(table: AnswerTable, n_directions: int, rng: np.random.Generator) -> PeopleState:
    """Draw a starting state in which options are nearly equal.

    The first sweep turns `u` into log worths.
    """
    N = len(table.x)
    n_seen = len(table.option)
    mean_shape = table.x.shape[1] + n_directions, table.n_options
    n_common = mean_shape[0] * mean_shape[1] + 1
    return PeopleState(
        z=np.column_stack([table.x, rng.normal(size=(N, n_directions))]),
        mean=0.3 * rng.normal(size=mean_shape),
        log_sds=rng.normal([0.0, -0.7, -0.7], 0.4),
        nu=np.exp(0.5 * rng.normal(size=1) * table.has_ties),
        u=rng.normal(size=n_seen),
        log_likelihood=np.zeros(N),
        log_step=np.full(N + 1, math.log(FIRST_STEP)),
        log_walk=np.full(2, math.log(FIRST_WALK)),
        curvature=np.zeros(table.first_square[-1]),
        pull=np.zeros(n_seen),
        axes=np.zeros(table.first_square[-1]),
        bends=np.zeros(n_seen),
        n_points=np.zeros(1),
        metric=np.zeros((n_common, n_common)),
    )
