"""Interviews: of two options one is chosen, and the answers decide which two are shown next."""

import csv
import io
import math
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from thali._arguments import between, one_of, whole
from thali._labels import as_label, checked_labels, plural
from thali.data.pairs import PairedComparisons
from thali.errors import ArgumentError, DataError
from thali.inference.files import atomic_write
from thali.inference.quiet import without_warnings
from thali.model.latent_features.answers.columns import columns_of
from thali.model.latent_features.answers.ranks import utility_draws
from thali.model.latent_features.elimination import EliminationByAspects

EVERYTHING, RANKS, BEST = "everything", "ranks", "best"
GOALS = (EVERYTHING, RANKS, BEST)
TIE, UNDO, QUIT = "tie", "undo", "quit"
COLUMNS = ("first", "second", "chosen")
EACH = 10  # questions an option, of an interview that ends by their number
RUN: dict[str, Any] = {"draws": 300, "tune": 300, "chains": 4, "progressbar": False}


class Answer(NamedTuple):
    """What was shown, the first option first, and which of the two was chosen, or "tie"."""

    first: str
    second: str
    chosen: str


class Standing(NamedTuple):
    """How far an interview is."""

    asked: int
    best: str  # the option that is most probably the best
    certainty: float  # of what the goal asks for: 0 before the first answer; NaN where the goal is no statement
    sentence: str


class Interview:
    """Questions about pairs of options, each of them the one whose answer is expected to teach most.

    Parameters
    ----------
    options : list of labels
        Two or more.
    model : model of paired comparisons, optional
        That is fitted to the answers, such as `EliminationByAspects()`. None: the Bradley-Terry-Luce model,
        `EliminationByAspects("unique")`.
    goal : {"best", "ranks", "everything"}
        What the answers are to teach: see `next_pairs`.
    log : path, optional
        A table of the answers so far, with the columns first, second and chosen, to which each answer is added before
        the next question. If it is there, the interview goes on from it. `thali fit` reads it.
    random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
        Of the first question, of the side on which an option is shown, and of the fits.

    Raises
    ------
    ArgumentError
        If the options are fewer than two, or called "tie", "undo" or "quit"; or the goal is unknown.
    DataError
        If options are named twice, or the log is damaged or about other options.

    Examples
    --------
    >>> import thali as th
    >>> interview = th.paired.Interview(["tea", "milk", "beer"], random_seed=1)
    >>> sorted(interview.question)  # doctest: +SKIP
    ['beer', 'tea']
    """

    def __init__(
        self, options: Iterable[Any], model: Any = None, goal: str = BEST, log: Any = None, random_seed: Any = None
    ) -> None:
        self.options = checked_labels([as_label(each) for each in options])
        if len(self.options) < 2:
            raise ArgumentError(f"An interview compares two options or more; got {len(self.options)}.")
        if taken := [each for each in self.options if each in (TIE, UNDO, QUIT)]:
            raise ArgumentError(f"An option cannot be called {taken[0]!r}, which is an answer; rename it.")
        self.goal = one_of("goal", goal, GOALS)
        self.model = EliminationByAspects("unique") if model is None else model
        self._rng = np.random.default_rng(random_seed)
        self._path = None if log is None else Path(log)
        self.answers: list[Answer] = [] if self._path is None else _read_log(self._path, self.options)
        self._fitted = 0  # answers that the model has seen; 0: none, or it is to be fitted anew
        self._question: tuple[str, str] | None = None

    @property
    def question(self) -> tuple[str, str]:
        """The options to show now, the first one first."""
        if self._question is None:
            self._fit()
            if self.answers:
                table = self.model.next_pairs(1, goal=self.goal, random_seed=self._rng)
                pair = [table.loc[0, "a"], table.loc[0, "b"]]
            else:  # nothing is known: each pair teaches as much
                pair = [self.options[k] for k in self._rng.choice(len(self.options), 2, replace=False)]
            self._question = (pair[0], pair[1]) if self._rng.random() < 0.5 else (pair[1], pair[0])
        return self._question

    def answer(self, chosen: str) -> None:
        """Take the answer to `question`: one of its two labels, or "tie"; it is in the log when this returns."""
        first, second = self.question
        if chosen not in (first, second, TIE):
            raise ArgumentError(f"An answer is {first!r}, {second!r} or 'tie'; got {chosen!r}.")
        answers = [*self.answers, Answer(first, second, chosen)]
        self._keep(answers)
        self.answers, self._question = answers, None

    def undo(self) -> bool:
        """Take the last answer back, and ask its question again; False if there is none."""
        if not self.answers:
            return False
        answers = self.answers[:-1]
        self._keep(answers)
        self._question = self.answers[-1][:2]
        self.answers, self._fitted = answers, 0
        return True

    def standing(self) -> Standing:
        """What is known so far."""
        self._fit()
        asked = len(self.answers)
        if not asked:
            return Standing(0, "", 0.0, "Nothing has been asked yet.")
        utility = utility_draws(columns_of(self.model.posterior_))
        share = np.bincount(utility.argmax(axis=1), minlength=len(self.options)) / len(utility)
        best = self.options[int(share.argmax())]
        said = f"After {plural(asked, 'answer')} {best!r} is the best with probability {share.max():.2f}"
        if self.goal == BEST:
            return Standing(asked, best, float(share.max()), f"{said}.")
        first, second = np.triu_indices(len(self.options), k=1)
        above = (utility[:, first] > utility[:, second]).mean(axis=0)
        order = float(np.maximum(above, 1.0 - above).mean())
        said += f", and the order of two options is known with probability {order:.2f} on average."
        return Standing(asked, best, order if self.goal == RANKS else math.nan, said)

    def _fit(self) -> None:
        """Bring the model up to the answers."""
        new = self.answers[self._fitted :]
        if not new:
            return
        data = _comparisons(new, self.options)
        with without_warnings():
            if self._fitted:
                self.model.update(data)
            else:
                self.model.fit(data, **RUN, random_seed=int(self._rng.integers(2**31)))
        self._fitted = len(self.answers)

    def _keep(self, answers: list[Answer]) -> None:
        """Write the log, whole or not at all."""
        if self._path is not None:
            text = io.StringIO()
            csv.writer(text, lineterminator="\n").writerows([COLUMNS, *answers])
            atomic_write(self._path, text.getvalue().encode())


def adaptive(
    ask: Callable[[str, str], str | None],
    options: Iterable[Any],
    model: Any = None,
    goal: str = BEST,
    questions: int | None = None,
    sure: float = 0.95,
    log: Any = None,
    random_seed: Any = None,
) -> Interview:
    """Ask about pairs of options, each time those that teach most, until the goal is reached.

    Parameters
    ----------
    ask : function (first, second) -> answer
        Shows two options and returns the label of the chosen one, "tie", "undo" (the last answer is taken back), or
        "quit" or None, which end the interview.
    options, model, goal, log, random_seed
        As of `Interview`.
    questions : int, optional
        After so many answers the interview ends in any case; None: without limit for the goals "best" and "ranks", ten
        an option for "everything".
    sure : float between 0 and 1
        With the goal "best" it ends when an option is the best with this probability; with "ranks" when the order of
        two options is known with this probability, on average.

    Returns
    -------
    Interview
        With `answers`, the fitted `model` and `standing()`.

    Raises
    ------
    ArgumentError, DataError
        As `Interview`, and for another answer.

    Examples
    --------
    >>> import thali as th
    >>> worth = {"tea": 3.0, "milk": 2.0, "beer": 1.0}
    >>> found = th.paired.adaptive(lambda a, b: max(a, b, key=worth.get), worth, questions=3, random_seed=1)
    >>> len(found.answers)
    3
    """
    sure = between("sure", sure, "the probability at which the interview ends")
    questions = None if questions is None else whole("questions", questions, 1)
    interview = Interview(options, model, goal, log, random_seed)
    while not has_ended(interview, questions, sure):
        said = ask(*interview.question)
        if said is None or said == QUIT:
            break
        if said == UNDO:
            interview.undo()
        else:
            interview.answer(as_label(said))
    return interview


def has_ended(interview: Interview, questions: int | None, sure: float) -> bool:
    """Whether the goal is reached, or the number of questions."""
    asked, goal = len(interview.answers), interview.goal
    if questions is None and goal == EVERYTHING:
        questions = EACH * len(interview.options)
    return (questions is not None and asked >= questions) or interview.standing().certainty >= sure


def _comparisons(answers: list[Answer], options: tuple[str, ...]) -> PairedComparisons:
    import pandas as pd

    rows = [(a, b, 0, 1) if c == TIE else (c, b if c == a else a, 1, 0) for a, b, c in answers]
    frame = pd.DataFrame(rows, columns=["chosen", "rejected", "count", "ties"])
    if all(answer.chosen != TIE for answer in answers):
        return PairedComparisons.from_frame(frame.drop(columns="ties"), "chosen", "rejected", "count", labels=options)
    return PairedComparisons.from_frame(frame, "chosen", "rejected", "count", ties="ties", labels=options)


def _read_log(path: Path, options: tuple[str, ...]) -> list[Answer]:
    """The answers in a log; none if there is no file."""
    if not os.path.lexists(path):
        return []
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"The log {path} cannot be read: {error}.") from None
    rows = list(csv.reader(io.StringIO(text)))
    if not rows or tuple(rows[0]) != COLUMNS:
        raise DataError(
            f"{path} is no log of an interview, whose first line is {','.join(COLUMNS)!r}; name another file, or move "
            "this one away."
        )
    found, known = [], set(options)
    for number, row in enumerate(rows[1:], start=2):
        if len(row) != 3 or row[0] == row[1] or row[2] not in (row[0], row[1], TIE):
            raise DataError(
                f"Line {number} of the log {path} is damaged, {','.join(row)!r}; a line holds two different options "
                "and the chosen one of them or tie. Correct it, or remove it."
            )
        for label in row[:2]:
            if label not in known:
                raise DataError(
                    f"Line {number} of the log {path} names {label!r}, which is not among the options; name another "
                    "file for the log of other options."
                )
        found.append(Answer(*row))
    return found
