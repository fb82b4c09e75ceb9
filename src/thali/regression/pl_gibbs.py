"""Draws from the posterior of Plackett–Luce regression: chains in threads, each with a random stream of its own."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from thali._random import streams
from thali._threads import Sliced, rectangle, run_in_threads
from thali.errors import ArgumentError
from thali.models.arguments import one_of, positive, refuse_endless, whole
from thali.regression.class_rows import ClassRows, class_rows
from thali.regression.pl_hmc import ACCEPTANCE, hamiltonian, motion_from
from thali.regression.pl_state import ACCEPTED, KEPT, SWEEPS, TRIED, Law, empty_kept, state_from
from thali.regression.pl_sweep import published, recommended

SAMPLERS = ("recommended", "exchange", "hamiltonian", "paper")
LEAST_A, MOST_A = 1e-6, 1e6
_UNIMODAL = 0.5  # fixed a from which the weights are sampled by Hamiltonian Monte Carlo
_THIN, _LARGE = 10, 1_000_000  # sweeps a draw for small data; entries of W from which a draw is one sweep
_STARTS = (0.01, 1.0)  # between which chains start, as far as the prior allows it


@dataclass(frozen=True)
class Plan:
    """What is to be run: the prior, the sampler ("exchange", "hamiltonian" or "paper") and how long."""

    law: Law
    sampler: str
    draws: int
    tune: int
    chains: int
    thin: int

    @property
    def sweeps(self) -> int:
        """Of all chains."""
        return self.chains * (self.tune + self.draws) * self.thin


@dataclass(frozen=True)
class PlackettLuceDraws:
    """The kept draws of all chains.

    Attributes
    ----------
    a : array (chains, draws)
    log_likelihood : array (chains, draws)
        Of the whole data, natural logarithm.
    weights : array (chains, draws, K, p)
        λ̄, which sum to 1.
    stats : dict of arrays (chains,)
        Acceptance rates since tuning ended.
    plan : Plan
    sweeps : int
        Of all chains, tuning included.
    interrupted : bool
        Whether Ctrl-C ended the run early. Chains are then cut to the rectangle that keeps the most draws.
    """

    a: np.ndarray
    log_likelihood: np.ndarray
    weights: np.ndarray
    stats: dict[str, np.ndarray]
    plan: Plan
    sweeps: int
    interrupted: bool


class Chain(Sliced):
    """One chain: its state, its record, and how far it is."""

    def __init__(self, plan: Plan, rows: ClassRows, n_classes: int, rng: np.random.Generator):
        self.plan, self.rows, self.rng = plan, rows, rng
        self.total = (plan.tune + plan.draws) * plan.thin
        low, high = (min(max(math.log(start), plan.law.low), plan.law.high) for start in _STARTS)
        log_weights = np.log(np.maximum(rng.standard_exponential((n_classes, rows.mean.size)), 1e-300))
        self.state = state_from(log_weights, low + (high - low) * rng.random(), rows)
        self.motion = motion_from(self.state) if plan.sampler == "hamiltonian" else None
        self.kept = empty_kept(plan.draws, n_classes, rows.mean.size)

    @property
    def sweeps(self) -> int:  # type: ignore[override]
        return int(self.state.whole[SWEEPS])

    @property
    def is_done(self) -> bool:  # type: ignore[override]
        return self.sweeps >= self.total

    @property
    def stats(self) -> dict[str, float]:
        whole = self.state.whole
        tried = max(int(whole[TRIED]), 1)
        if self.motion is not None:
            return {"acceptance": self.motion.real[ACCEPTANCE] / tried}
        return {"acceptance_exchange" if self.plan.sampler == "exchange" else "acceptance_a": whole[ACCEPTED] / tried}

    def run_to(self, until: int) -> None:
        """Run until that many sweeps are done and recorded."""
        plan = self.plan
        rest = (self.kept, until, plan.tune * plan.thin, plan.thin)
        if self.motion is not None:
            hamiltonian(self.rng, self.rows, plan.law, self.state, self.motion, *rest)
        else:
            kernel = published if plan.sampler == "paper" else recommended
            kernel(self.rng, self.rows, plan.law, self.state, *rest)


def fit_gibbs(
    W: np.ndarray,
    codes: np.ndarray,
    n_classes: int,
    *,
    a: float | None = None,
    a_range: tuple[float, float] = (1e-3, 1e2),
    b: float = 1.0,
    sampler: str | None = None,
    draws: int = 1000,
    tune: int = 1000,
    chains: int = 4,
    thin: int | None = None,
    cores: int | None = None,
    random_seed: Any = None,
    progress: Any = None,
) -> PlackettLuceDraws:
    r"""Draw from the posterior of the weights and, if it is learned, of their shape.

    .. math:: P(Y_i = k) = W_i^T\lambda_k / \sum_l W_i^T\lambda_l, \quad \lambda_{kj} \sim \mathrm{Gamma}(a, b), \quad
              p(a) \propto 1/a \text{ on } a\_range

    Parameters
    ----------
    W : array (n, p), not negative
        Rows divided by their maximum.
    codes : array of int (n,)
        Classes, 0 to n_classes - 1.
    n_classes : int
    a : float, optional
        A fixed shape; None learns it.
    a_range : (low, high)
        Ends of the prior of a. The published prior has none, with which the posterior cannot be normalised.
    b : float above 0
        Rate of the prior; without influence on predictions.
    sampler : {None, "recommended", "exchange", "hamiltonian", "paper"}
        "exchange": latent variables with a scan that leaves the weights out, a drawn without the weights and without
        their sum, moves that exchange weights between columns. "hamiltonian": trajectories on ln λ, for a fixed a.
        "paper": the published sampler. None or "recommended": "hamiltonian" for a fixed a of .5 or more, else
        "exchange".
    draws, tune : int
        States kept in each chain, and states discarded before them.
    chains : int
    thin : int, optional
        Sweeps for each state; None means 10, and 1 for "hamiltonian" or if W has more than a million entries.
    cores : int, optional
        Threads; without influence on the draws.
    random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
    progress : thali.progress.Progress, optional

    Returns
    -------
    PlackettLuceDraws

    Raises
    ------
    ArgumentError
        If an argument is outside its range.

    References
    ----------
    Archambeau & Caron (2012), section 3.3.

    Example
    -------
    >>> W = np.array([[1.0, 0.2], [0.9, 1.0], [0.1, 1.0], [1.0, 0.4]])
    >>> found = fit_gibbs(W, np.array([0, 1, 1, 0]), 2, draws=50, tune=50, random_seed=1)
    >>> found.weights.shape
    (4, 50, 2, 2)
    """
    plan = plan_of(W.size, a, a_range, b, sampler, draws, tune, chains, thin)
    return carry_out(plan, W, codes, n_classes, cores, random_seed, progress)


def carry_out(plan: Plan, W, codes, n_classes: int, cores: int | None, random_seed, progress=None) -> PlackettLuceDraws:
    """What `fit_gibbs` does once its arguments are checked."""
    cores = cores if cores is None else whole("cores", cores, 1)
    rows = class_rows(W, codes, n_classes)
    runs = [Chain(plan, rows, n_classes, rng) for rng in streams(random_seed, plan.chains)]
    interrupted = _run(runs, cores, progress)
    kept, length = rectangle([int(run.state.whole[KEPT]) for run in runs])
    chosen = [runs[number] for number in kept]
    return PlackettLuceDraws(
        a=np.stack([run.kept.a[:length] for run in chosen]),
        log_likelihood=np.stack([run.kept.log_likelihood[:length] for run in chosen]),
        weights=np.stack([run.kept.weights[:length] for run in chosen]),
        stats={name: np.array([run.stats[name] for run in chosen]) for name in chosen[0].stats},
        plan=plan,
        sweeps=sum(run.sweeps for run in runs),
        interrupted=interrupted,
    )


def plan_of(size: int, a, a_range, b, sampler, draws, tune, chains, thin) -> Plan:
    """The arguments of `fit_gibbs`, checked and with their defaults, for W of so many entries."""
    law, sampler = law_of(a, a_range, b), _sampler(sampler, a)
    if thin is None:
        thin = 1 if sampler == "hamiltonian" or size > _LARGE else _THIN
    draws, tune, chains = whole("draws", draws, 1), whole("tune", tune, 0), whole("chains", chains, 1)
    thin = whole("thin", thin, 1)
    refuse_endless(draws, tune, chains, thin)
    return Plan(law, sampler, draws, tune, chains, thin)


def law_of(a: float | None, a_range, b: float) -> Law:
    """The prior, after a look at its parameters."""
    log_b = math.log(positive("b", b, "the rate of the prior of the weights"))
    if a is not None:
        return Law(log_b, _log_shape("a", a), _log_shape("a", a), False)
    try:
        low, high = a_range
    except (TypeError, ValueError):
        raise ArgumentError(f"a_range must be the pair (low, high) of the prior of a; got {a_range!r}.") from None
    low, high = _log_shape("The lower end of a_range", low), _log_shape("The upper end of a_range", high)
    if not low < high:
        raise ArgumentError(f"a_range must rise from its lower to its upper end; got {a_range!r}.")
    return Law(log_b, low, high, True)


def _log_shape(name: str, value) -> float:
    value = positive(name, value, "a shape of the prior of the weights")
    if not LEAST_A <= value <= MOST_A:
        raise ArgumentError(f"{name} must lie between {LEAST_A:g} and {MOST_A:g}; got {value:g}.")
    return math.log(value)


def _sampler(sampler: str | None, a: float | None) -> str:
    if sampler is not None:
        one_of("sampler", sampler, SAMPLERS)
    if sampler == "hamiltonian" and a is None:
        raise ArgumentError("sampler='hamiltonian' needs a fixed a, since it hardly moves one that is learned; set a.")
    if sampler in (None, "recommended"):
        return "hamiltonian" if a is not None and a >= _UNIMODAL else "exchange"
    return str(sampler)


def _run(runs: list[Chain], cores: int | None, progress) -> bool:
    """Run the chains to their end; returns whether Ctrl-C stopped them early, with at least a draw to show."""
    if progress is None:
        from thali.progress import Progress

        progress = Progress(False, "sampling", 0)
    try:
        progress.note("compiling, once")
        runs[0].run_to(0)
        progress.note("")
        run_in_threads(runs, cores, progress)
    except KeyboardInterrupt:
        if not any(run.state.whole[KEPT] for run in runs):
            raise
        return True
    return False
