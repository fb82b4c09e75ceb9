"""Who is of which kind, and what everybody answered.

Each kind of people is a group in the sense of `groups.state`, whose data are the answers of those who are of it. The
shares of the kinds are Dirichlet(1, ..., 1), and are integrated out: P(z) is proportional to the product of n_g! over
kinds, n_g people of kind g.
"""

from typing import Any, NamedTuple

import numpy as np

from thali.compile.jit import scalar
from thali.data.pairs import PairedComparisons

from .group_state import GroupModel
from .likelihoods.pair_blocks import WIDTH


class People(NamedTuple):
    """What everybody answered, a row for each pair that a person compared. Never changed."""

    start: np.ndarray  # (people + 1,) int64: person p has rows start[p] to start[p + 1] - 1
    pair: np.ndarray  # (rows,) int64 position in `slot`
    wins: np.ndarray  # (rows,)
    losses: np.ndarray
    slot: np.ndarray  # (pairs,) int64 flat position of a pair among the blocks of its first option


class KindModel(NamedTuple):
    """Kinds as groups, and the people. Never changed."""

    groups: GroupModel
    people: People


class Kinds(NamedTuple):
    """Who is of which kind. A chain has one for every temperature, stacked along a further first axis."""

    of: np.ndarray  # (people,) int64
    size: np.ndarray  # (kinds,) int64 how many people are of each
    proposed: np.ndarray  # (people,) int64 scratch: the kind that a person would be of
    logs: np.ndarray  # (kinds, pairs, 2) scratch: log probability of either answer


@scalar
def kinds_at(kinds: Any, t: Any) -> Any:
    """Who is of which kind at level t: views."""
    return Kinds(kinds.of[t], kinds.size[t], kinds.proposed[t], kinds.logs[t])


def people_of(data: PairedComparisons, pairs: Any) -> People:
    """What everybody answered; `pairs` is the compiled likelihood of the comparisons of all."""
    answers = data.answers
    assert answers is not None
    start = np.searchsorted(answers.subject, np.arange(len(answers.subjects) + 1))
    owner = np.repeat(np.arange(data.n_options), np.diff(pairs.start) * WIDTH)
    key = owner * (data.n_options + 1) + pairs.neighbour.ravel().astype(np.int64)
    order = np.argsort(key, kind="stable")
    slot = order[np.searchsorted(key, data.first * (data.n_options + 1) + data.second, sorter=order)]
    return People(start.astype(np.int64), answers.pair.astype(np.int64), answers.wins, answers.losses, slot)


def drawn_kinds(rng: np.random.Generator, people: People, number: int) -> Kinds:
    """Everybody is of a kind at random."""
    of = rng.integers(0, number, people.start.size - 1)
    size = np.bincount(of, minlength=number)
    return Kinds(of, size, np.zeros_like(of), np.zeros((number, people.slot.size, 2)))
