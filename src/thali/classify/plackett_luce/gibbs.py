"""Draws from the posterior of Plackett–Luce regression: chains in threads, each with its own random stream."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from thali._arguments import one_of, positive, refuse_endless, whole
from thali.errors import Argument, ArgumentError, Setting
from thali.inference.chains import RowChain
from thali.inference.seeds import streams

from .class_rows import ClassRows, class_rows
from .hmc import ACCEPTANCE, hamiltonian, motion_from
from .state import ACCEPTED, KEPT, SWEEPS, TRIED, Prior, empty_kept, state_from
from .sweep import published, recommended

SAMPLERS = ("recommended", "exchange", "hamiltonian", "paper")
MIN_A, MAX_A = 1e-6, 1e6
_UNIMODAL = 0.5  # fixed a from which the weights are sampled by Hamiltonian Monte Carlo
_THIN, _LARGE = 10, 1_000_000  # sweeps a draw for small data; entries of W from which a draw is one sweep
_STARTS = (0.01, 1.0)  # limits of the starting values of chains, where the prior allows them


@dataclass(frozen=True)
class Settings:
    """The settings of a run: the prior, the sampler ("exchange", "hamiltonian" or "paper") and its length."""

    prior: Prior
    sampler: str
    draws: int
    tune: int
    chains: int
    thin: int


class Chain(RowChain):
    """One chain: its state, its record, and how far it is."""

    _PARTS = ("state", "motion")

    rows: "ClassRows"
    settings: "Settings"

    def __init__(self, settings: Settings, rows: ClassRows, n_classes: int, rng: np.random.Generator) -> None:
        self.settings, self.rows, self.rng = settings, rows, rng
        self.total = (settings.tune + settings.draws) * settings.thin
        low, high = (min(max(math.log(start), settings.prior.low), settings.prior.high) for start in _STARTS)
        log_weights = np.log(np.maximum(rng.standard_exponential((n_classes, rows.mean.size)), 1e-300))
        self.state = state_from(log_weights, low + (high - low) * rng.random(), rows)
        self.motion = motion_from(self.state) if settings.sampler == "hamiltonian" else ()
        self.record = empty_kept(settings.draws, n_classes, rows.mean.size)

    @property
    def sweeps(self) -> int:  # type: ignore[override]
        return int(self.state.whole[SWEEPS])

    @property
    def recorded(self) -> int:
        return int(self.state.whole[KEPT])

    @property
    def stats(self) -> dict[str, float]:
        whole = self.state.whole
        tried = max(int(whole[TRIED]), 1)
        if self.motion:
            return {"acceptance": self.motion.real[ACCEPTANCE] / tried}
        return {
            "acceptance_exchange" if self.settings.sampler == "exchange" else "acceptance_a": whole[ACCEPTED] / tried
        }

    def run_to(self, until: int) -> None:
        """Run until this many sweeps are done and recorded."""
        settings = self.settings
        rest = (self.record, until, settings.tune * settings.thin, settings.thin)
        if self.motion:
            hamiltonian(self.rng, self.rows, settings.prior, self.state, self.motion, *rest)
        else:
            kernel = published if settings.sampler == "paper" else recommended
            kernel(self.rng, self.rows, settings.prior, self.state, *rest)


def chains_of(settings: Settings, W: np.ndarray, codes: np.ndarray, n_classes: int, random_seed: Any) -> list[Chain]:
    r"""Chains that draw from the posterior of the weights and, if it is learned, of their shape.

    .. math:: P(Y_i = k) = W_i^T\lambda_k / \sum_l W_i^T\lambda_l, \quad \lambda_{kj} \sim \mathrm{Gamma}(a, b), \quad
              p(a) \propto 1/a \text{ on } a\_range
    """
    rows = class_rows(W, codes, n_classes)
    return [Chain(settings, rows, n_classes, rng) for rng in streams(random_seed, settings.chains)]


def settings_of(
    size: int, a: Any, a_range: Any, b: Any, sampler: Any, draws: int, tune: int, chains: int, thin: Any
) -> Settings:
    """The settings of a run, checked and with their defaults, for W of so many entries."""
    prior, sampler = prior_of(a, a_range, b), _sampler(sampler, a)
    if thin is None:
        thin = 1 if sampler == "hamiltonian" or size > _LARGE else _THIN
    draws, tune, chains = whole("draws", draws, 1), whole("tune", tune, 0), whole("chains", chains, 1)
    thin = whole("thin", thin, 1)
    refuse_endless(draws, tune, chains, thin)
    return Settings(prior, sampler, draws, tune, chains, thin)


def prior_of(a: float | None, a_range: Any, b: float) -> Prior:
    """The prior, after a check of its parameters."""
    log_b = math.log(positive("b", b, "the rate of the prior of the weights"))
    if a is not None:
        return Prior(log_b, _log_shape("a", a), _log_shape("a", a), False)
    try:
        low, high = a_range
    except (TypeError, ValueError):
        raise ArgumentError(
            Argument("a_range"), f" must be the pair (low, high) of the prior of a; got {a_range!r}."
        ) from None
    low, high = _log_shape("The lower end of a_range", low), _log_shape("The upper end of a_range", high)
    if not low < high:
        raise ArgumentError(Argument("a_range"), f" must rise from its lower to its upper end; got {a_range!r}.")
    return Prior(log_b, low, high, True)


def _log_shape(name: str, value: Any) -> float:
    value = positive(name, value, "a shape of the prior of the weights")
    if not MIN_A <= value <= MAX_A:
        raise ArgumentError(Argument(name), f" must lie between {MIN_A:g} and {MAX_A:g}; got {value:g}.")
    return math.log(value)


def _sampler(sampler: str | None, a: float | None) -> str:
    if sampler is not None:
        one_of("sampler", sampler, SAMPLERS)
    if sampler == "hamiltonian" and a is None:
        raise ArgumentError(
            Setting("sampler", "hamiltonian"),
            " needs a fixed a, since it hardly moves one that is learned; set ",
            Argument("a"),
            ".",
        )
    if sampler in (None, "recommended"):
        return "hamiltonian" if a is not None and a >= _UNIMODAL else "exchange"
    return str(sampler)
