"""Markov chain of the worths of latent classes: starting values, sweeps and record."""

import math

import numpy as np

from thali._inference.markov_chains import FixedChain

from ..people.answer_table import AnswerTable
from ..people.chain import draw_start
from ..people.gibbs_sweep import PeopleState
from ..people.sampler_moves import SIGMA, S
from .gibbs_sweep import ClassRecord, ClassSettings, Memberships, run_class_sweeps


def list_all_options(table: AnswerTable) -> AnswerTable:
    """Return the answer table in which every respondent has seen all options."""
    n_members = np.diff(table.start)[: table.first_answer[-1]]
    first_option_of_answer = np.repeat(table.first_option[:-1], np.diff(table.first_answer))
    members = table.option[table.member + np.repeat(first_option_of_answer, n_members)]
    n = table.n_options
    person_indices = np.arange(len(table.x) + 1)
    return table._replace(
        member=members,
        first_option=n * person_indices,
        option=np.tile(np.arange(n), len(table.x)),
        first_square=n * n * person_indices,
    )


def tabulate_classes(answers: AnswerTable, n_classes: int) -> AnswerTable:
    """Return an answer table with all respondents' answers once per class, uncounted.

    Sweeps set their counts.
    """
    n = answers.n_options
    class_indices = np.arange(n_classes + 1)
    answer_starts = answers.start[:-1] + answers.start[-1] * class_indices[:-1, None]
    return answers._replace(
        first_answer=len(answers.count) * class_indices,
        start=np.append(answer_starts.ravel(), answers.start[-1] * n_classes),
        member=np.tile(answers.member, n_classes),
        count=np.zeros(len(answers.count) * n_classes),
        tied=np.tile(answers.tied, n_classes),
        first_option=n * class_indices,
        option=np.tile(np.arange(n), n_classes),
        first_square=n * n * class_indices,
        x=np.ones((n_classes, 1)),
    )


class WorthClassChain(FixedChain):
    """One chain of the worths of latent classes; `spread` is learned if None.

    With `are_known`, each respondent is a class.
    """

    _PARTS = (*FixedChain._PARTS, "memberships")

    state: PeopleState
    record: ClassRecord

    def __init__(
        self,
        answers: AnswerTable,
        n_classes: int,
        is_similar: bool,
        spread: float | None,
        draws: int,
        tune: int,
        thin: int,
        rng: np.random.Generator,
        are_known: bool = False,
    ) -> None:
        """Draw starting worths and memberships, and allocate the record."""
        super().__init__(draws, tune, thin)
        self.answers = answers
        self.rng = rng
        self.table = answers
        if not are_known:
            self.table = tabulate_classes(answers, n_classes)
        self.settings = ClassSettings(are_known, is_similar, spread is not None)
        self.state = draw_start(self.table, 0, rng)
        worths = 0.3 * rng.normal(size=(n_classes, answers.n_options))
        self.state.u[:] = (worths - worths.mean(axis=1, keepdims=True)).ravel()
        if spread is not None:
            self.state.log_sds[S] = math.log(spread)
        if not is_similar:
            self.state.mean[:] = 0.0
            self.state.log_sds[SIGMA] = self.state.log_sds[S]
        n_people = len(answers.x)
        class_of = rng.integers(n_classes, size=n_people)
        if are_known:
            class_of = np.arange(n_people)
        self.memberships = Memberships(
            class_of.astype(np.int64),
            np.bincount(class_of, minlength=n_classes).astype(np.int64),
            np.zeros((n_people, n_classes)),
            np.zeros(n_people, np.int64),
        )
        self.record = ClassRecord(
            class_of=np.zeros((draws, n_people), np.int8),
            worths=np.zeros((draws, n_classes, answers.n_options)),
            log_sds=np.zeros((draws, 3)),
            log_tie=np.zeros(draws),
            log_likelihood=np.zeros(draws),
        )

    def run_until(self, until: int) -> None:
        """Run the chain until it has done `until` sweeps."""
        run_class_sweeps(
            self.rng,
            self.answers,
            self.table,
            self.settings,
            self.state,
            self.memberships,
            self.record,
            self.sweeps,
            until,
            self.tune,
            self.thin,
        )
        self.sweeps = until
