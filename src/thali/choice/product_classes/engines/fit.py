"""The result of an engine, and draws made from its states."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ..particles import Particles, joined
from ..state import CLASS, CLASSES, CONCENTRATION, NEGATIVE, OWNERS, PERSON, POLARITY, SIGMA, SIGN, TOP, A, State

if TYPE_CHECKING:
    from ..state import Problem


@dataclass
class Fit:
    """Draws, evidence, and messages about a run."""

    particles: Particles
    log_evidence: float
    log_evidence_se: float
    evidence_sd: float  # between groups, of their own logarithms
    trace: dict[str, np.ndarray]  # (group, step) or (step,)
    acceptance: dict[str, float]
    messages: list[str]
    interrupted: bool = False
    sweeps: int = 0  # of the final phase
    schedule_of_u: list[list[float]] = field(default_factory=list)  # tempering points of every block of tasks


# The fields of `Particles` that have a row for each draw, class, or class that a person owns.
OF_DRAWS = ("group", "a", "sigma", "alpha", "log_likelihood")
OF_CLASSES = ("active", "member", "polarity", "n_owners", "n_negative")
OF_OWNED = ("owned_class", "owned_sign", "owned_log_theta")


class Keeper:
    """Turns states into draws; the meaning of each bit is computed once."""

    beta: float
    problem: "Problem"
    offset: np.ndarray
    inactive: np.ndarray

    def __init__(self, problem: "Problem", beta: float) -> None:
        self.problem, self.beta = problem, beta
        levels, first = problem.n_levels, problem.first_bit[:-1]
        self.offset = np.concatenate([[0], np.cumsum(levels)]).astype(np.int64)
        attribute = np.repeat(np.arange(len(levels)), levels)
        natural = np.arange(self.offset[-1]) - self.offset[attribute]
        inside = np.where(problem.direction[attribute] < 0, levels[attribute] - 1 - natural, natural)
        self.places: np.ndarray = first[attribute] + inside  # of the bit of every level, in natural order
        self.inactive = problem.first_bit[1:] - 1

    def draw(self, state: State, group: int, log_likelihood: float, lapse: float) -> Particles:
        """One draw: the current state."""
        people, classes = self.problem.n_people, int(state.whole[CLASSES])
        slots = state.features.slots[: state.whole[TOP]]
        used = np.flatnonzero(slots[:, PERSON] >= 0)
        used = used[np.argsort(slots[used, PERSON], kind="stable")]
        owned = np.bincount(slots[used, PERSON], minlength=people)
        table = state.classes[:classes]
        return Particles(
            group=np.array([group]),
            a=state.real[[A]],
            sigma=state.real[[SIGMA]],
            alpha=state.real[[CONCENTRATION]],
            log_likelihood=np.array([log_likelihood]),
            lapse=lapse,
            beta=self.beta,
            offset=self.offset,
            monotone=np.asarray(self.problem.direction, np.int8),
            first_class=np.array([0, classes]),
            active=~_bits(state.bits[:classes], self.inactive),
            member=_bits(state.bits[:classes], self.places),
            polarity=table[:, POLARITY].astype(np.int8),
            n_owners=table[:, OWNERS].copy(),
            n_negative=table[:, NEGATIVE].copy(),
            first_owned=np.concatenate([[0], np.cumsum(owned)]),
            owned_class=slots[used, CLASS],
            owned_sign=slots[used, SIGN].astype(np.int8),
            owned_log_theta=state.features.log_theta[used],
        )


def _bits(rows: np.ndarray, places: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray((rows[:, places >> 6] >> (places & 63)) & 1 != 0)  # as a file gives it back


def joined_chains(chains: list[list[Particles]]) -> Particles:
    """The draws of every chain, of each as many, numbered from 0."""
    parts = [joined(draws) for draws in chains]
    return joined([part._replace(group=np.full(part.n_draws, number)) for number, part in enumerate(parts)])


def of_equal_length(chains: list[list[Particles]]) -> Particles:
    """The first draws of every chain, as many as the shortest chain has."""
    kept = [joined(draws) for draws in chains]
    shortest = min(draws.n_draws for draws in kept)
    return joined([first_draws(draws, shortest) for draws in kept])


def first_draws(draws: Particles, count: int) -> Particles:
    """The first so many draws."""
    return draws if count == draws.n_draws else draws_between(draws, 0, count)


def draws_between(draws: Particles, first: int, last: int) -> Particles:
    """The draws from number `first` to before `last`."""
    people = draws.n_respondents
    classes, owned = draws.first_class[first : last + 1], draws.first_owned[first * people : last * people + 1]
    fields = {"first_class": classes - classes[0], "first_owned": owned - owned[0]}
    for names, begin, end in ((OF_DRAWS, first, last), (OF_CLASSES, *classes[[0, -1]]), (OF_OWNED, *owned[[0, -1]])):
        fields |= {name: getattr(draws, name)[begin:end] for name in names}
    return draws._replace(**fields)
