"""Answers of a few people: as a table of the engine, written out, simulated, and with variables of
the prior."""

import math
from typing import NamedTuple

import numpy as np
from helpers.naive.worths_of_people import EFFECT_SD, TIE_SD, PersonAnswer, Variables

from thali._worths.people.answer_table import AnswerTable


class Study(NamedTuple):
    """Answers to sets of equal size, of people who are numbered from 0."""

    rule: str  # "order" or "reversed"
    n_options: int
    person: np.ndarray  # (answers,), ascending
    orders: np.ndarray  # (answers, set size): options in the order of the answer
    x: np.ndarray  # (N, q), standardised
    depth: int = 1
    lapse: float = 0.0
    is_tie: np.ndarray | None = None  # (answers,), None: ties do not happen

    @property
    def has_ties(self) -> bool:
        """Whether pairs may end in a tie."""
        return self.is_tie is not None


def build_study(
    rng: np.random.Generator,
    rule: str,
    n_people: int,
    n_options: int,
    n_sets: int,
    set_size: int,
    q: int = 0,
    lapse: float = 0.0,
    depth: int = 1,
    has_ties: bool = False,
) -> Study:
    """Build a design: every person answers so many sets of options drawn at random."""
    person = np.repeat(np.arange(n_people), n_sets)
    orders = rng.random((len(person), n_options)).argsort(axis=1)[:, :set_size]
    is_tie = np.zeros(len(person), bool) if has_ties else None
    return Study(
        rule, n_options, person, orders, rng.normal(size=(n_people, q)), depth, lapse, is_tie
    )


def find_seen(study: Study) -> list[np.ndarray]:
    """Return the options that each person has seen."""
    return [np.unique(study.orders[study.person == p]) for p in range(len(study.x))]


def index_members(study: Study) -> list[np.ndarray]:
    """Return the members of all choices: places among the options that the person has seen.

    An order of some depth is so many choices, each from the options left.
    """
    seen = find_seen(study)
    each = [
        np.searchsorted(seen[p], order) for p, order in zip(study.person, study.orders, strict=True)
    ]
    return [places[k:] for places in each for k in range(study.depth)]


def build_table(study: Study) -> AnswerTable:
    """Return the table that the engine reads."""
    members, seen = index_members(study), find_seen(study)
    n_seen = [len(options) for options in seen]
    person = np.repeat(study.person, study.depth)
    return AnswerTable(
        is_difference=study.rule == "reversed",
        has_ties=study.has_ties,
        lapse=study.lapse,
        n_options=study.n_options,
        first_answer=np.searchsorted(person, np.arange(len(seen) + 1)),
        start=np.append(0, np.cumsum([len(places) for places in members])),
        member=np.concatenate(members),
        count=np.ones(len(members)),
        tied=np.zeros(len(members), bool) if study.is_tie is None else study.is_tie.copy(),
        first_option=np.append(0, np.cumsum(n_seen)),
        option=np.concatenate(seen),
        first_square=np.append(0, np.cumsum(np.square(n_seen))),
        x=np.column_stack([np.ones(len(seen)), study.x]),
    )


def replace_answers(table: AnswerTable, study: Study) -> None:
    """Write the answers of a study of the same design into a table."""
    table.member[:] = np.concatenate(index_members(study))
    if study.is_tie is not None:
        table.tied[:] = study.is_tie


def list_answers(study: Study) -> list[PersonAnswer]:
    """Return the answers one by one."""
    is_tie = np.zeros(len(study.person), bool) if study.is_tie is None else study.is_tie
    return [
        PersonAnswer(int(p), tuple(order.tolist()), study.depth, 1.0, bool(tie))
        for p, order, tie in zip(study.person, study.orders, is_tie, strict=True)
    ]


def simulate_answers(
    rng: np.random.Generator, study: Study, worths: np.ndarray, log_nu: float = 0.0
) -> Study:
    """Return the study with new answers at log worths (N, n)."""
    worths_of_sets = worths[study.person[:, None], study.orders]
    n_answers, m = study.orders.shape
    if study.rule == "reversed":
        first, second = np.nonzero(~np.eye(m, dtype=bool))
        logits = worths_of_sets[:, first] - worths_of_sets[:, second]
        logits[rng.random(n_answers) < study.lapse] = 0.0
        pair = (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)
        is_chosen = np.arange(m) == first[pair, None]
        place = np.where(is_chosen, 0, np.where(np.arange(m) == second[pair, None], 1, 2))
        return study._replace(
            orders=np.take_along_axis(study.orders, place.argsort(axis=1), axis=1)
        )
    orders = study.orders.copy()
    for k in range(study.depth):
        left = worths[study.person[:, None], orders[:, k:]]
        left[rng.random(n_answers) < study.lapse] = 0.0
        chosen = k + (left + rng.gumbel(size=left.shape)).argmax(axis=1)
        rows = np.arange(n_answers)
        orders[rows, k], orders[rows, chosen] = orders[rows, chosen], orders[rows, k]
    if study.is_tie is None:
        return study._replace(orders=orders)
    difference = worths[study.person, orders[:, 0]] - worths[study.person, orders[:, 1]]
    p = (1.0 - study.lapse) / (1.0 + np.exp(-difference)) + study.lapse / 2.0
    tie = np.exp(log_nu) * np.sqrt(p * (1.0 - p))
    return study._replace(orders=orders, is_tie=rng.random(n_answers) < tie / (1.0 + tie))


def draw_variables(rng: np.random.Generator, study: Study, n_directions: int) -> Variables:
    """Draw variables from the prior; worths have their level."""
    (n_people, q), n = study.x.shape, study.n_options
    s, sigma, loading_sd = 1.3 * math.exp(rng.normal()), abs(rng.normal()), abs(rng.normal())
    population = np.vstack([s * rng.normal(size=(1, n)), EFFECT_SD * rng.normal(size=(q, n))])
    loadings, directions = (
        loading_sd * rng.normal(size=(n_directions, n)),
        rng.normal(size=(n_people, n_directions)),
    )
    mean = np.column_stack([np.ones(n_people), study.x]) @ population + directions @ loadings
    worths = mean + sigma * rng.normal(size=(n_people, n))
    nu = math.exp(TIE_SD * rng.normal()) if study.has_ties else None
    return Variables(population, loadings, directions, worths, sigma, s, loading_sd, nu)
