"""Chains of the sparse multinomial logit: what they start from, and what they keep."""

from typing import NamedTuple

import numpy as np

from thali._random import streams
from thali._threads import Sliced, run_in_threads
from thali.regression.sparse_logit_sweep import (
    ACCEPTED,
    ETA,
    HOLMES_HELD,
    INTERCEPT_VARIANCE,
    LOG_STEP,
    POLYA_GAMMA,
    TRIED,
    Problem,
    State,
    run,
)

KINDS = {"polya-gamma": POLYA_GAMMA, "holmes-held": HOLMES_HELD}


class Prior(NamedTuple):
    """Of the coefficients: eta, fixed or None for Gamma(shape, rate), and whether there is an intercept."""

    eta: float | None
    shape: float
    rate: float
    intercept: bool


def problem_of(matrix, codes, classes: int, reference: int, prior: Prior, method: str, wide=None) -> Problem:
    """Data and prior in the form that the sweeps read.

    Parameters
    ----------
    matrix : array (n, d)
        Standardised covariates.
    codes : array of int (n,)
    classes, reference : int
    prior : Prior
    method : {"polya-gamma", "holmes-held"}
    wide : bool, optional
        Whether the factorisation has a row for each observation, else for each coefficient; None: whichever is less.

    Returns
    -------
    Problem
    """
    full = np.column_stack([matrix, np.ones(len(matrix))]) if prior.intercept else matrix
    wide = full.shape[1] > len(full) if wide is None else wide
    return Problem(
        np.array(full if wide else full.T, float, order="C"),
        np.array(codes, np.int64),
        int(classes),
        int(reference),
        matrix.shape[1],
        bool(wide),
        KINDS[method],
        float(prior.shape),
        float(prior.rate),
        prior.eta is None,
    )


def start_of(problem: Problem, eta: float | None, rng: np.random.Generator) -> State:
    """A place to start from: coefficients that give linear predictors of about 2, different in every chain."""
    A = problem.covariates
    m, n = A.shape[::-1] if problem.wide else A.shape
    free = np.arange(problem.classes) != problem.reference
    size = np.sqrt((A**2).sum() / n)
    coef = np.where(free[:, None], rng.normal(size=(problem.classes, m)) * (2.0 / max(size, 1e-100)), 0.0)
    linear = np.ascontiguousarray(coef @ (A.T if problem.wide else A))
    variance = np.full((problem.classes, m), INTERCEPT_VARIANCE)
    real = np.zeros(4)
    real[ETA] = 1.0 if eta is None else eta
    real[LOG_STEP] = -1.0
    side = A.shape[0]
    return State(
        coef, variance, linear, real, np.empty(n), np.empty(n), np.empty_like(A), np.empty((side, side)), np.empty(side)
    )


class Chain(Sliced):
    """One chain: its state, its record, and how far it is."""

    def __init__(self, problem: Problem, eta: float | None, rng, draws: int, tune: int, thin: int):
        self.problem, self.rng = problem, rng
        self.state = start_of(problem, eta, rng)
        self.tune, self.thin = tune * thin, thin
        self.total = (tune + draws) * thin
        self.sweeps = 0
        self.coefs = np.empty((draws, *self.state.coef.shape))
        self.likelihoods, self.etas = np.empty(draws), np.empty(draws)

    @property
    def is_done(self) -> bool:
        return self.sweeps >= self.total

    @property
    def kept(self) -> int:
        """Draws recorded so far."""
        return max(0, self.sweeps - self.tune) // self.thin

    @property
    def scale_rate(self) -> float:
        """Share of the scale moves accepted since tuning ended."""
        real = self.state.real
        return float(real[ACCEPTED] / real[TRIED]) if real[TRIED] else float("nan")

    def run_to(self, until: int) -> None:
        """Run until that many sweeps are done and recorded."""
        record = (self.coefs, self.likelihoods, self.etas)
        run(self.rng, self.problem, self.state, *record, self.sweeps, until, self.tune, self.thin)
        self.sweeps = until


def run_chains(problem, eta, draws, tune, thin, chains, cores, random_seed, progress) -> tuple[list[Chain], bool]:
    """Run the chains; returns them and whether Ctrl-C stopped them early.

    The same seed gives the same draws whatever `cores` is. `progress` has `note(text)` and `update(sweeps done)`.
    """
    states = [Chain(problem, eta, rng, draws, tune, thin) for rng in streams(random_seed, chains)]
    interrupted = False
    try:
        progress.note("compiling, once")
        states[0].run_to(0)
        progress.note("")
        run_in_threads(states, cores, progress)
    except KeyboardInterrupt:
        interrupted = True
    if interrupted and not any(s.kept for s in states):
        raise KeyboardInterrupt
    return states, interrupted
