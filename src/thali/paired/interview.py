"""Interviews: of two or three options one is chosen, and the answers decide which are shown next."""

import csv
import io
import math
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from thali._arguments import between, one_of, whole
from thali._labels import as_label, checked_labels, plural
from thali.aspects.answers.options import utility_draws
from thali.aspects.draws.columns import columns_of
from thali.aspects.models.choice_answers import ChoiceAnswers
from thali.aspects.models.elimination import EliminationByAspects
from thali.data.choices import Choices
from thali.data.pairs import PairedComparisons
from thali.errors import ArgumentError, DataError, Setting
from thali.inference.files import atomic_write, check_place
from thali.inference.warn import without_warnings

# The log of an interview: a table of the answers, which `thali fit` reads ---------------------------------------------
#
# Of pairs a row an answer: first, second, chosen. Of larger sets a row an option that was shown: choice_id (the
# number of the question), alternative, chosen (1 or 0).


TIE = "tie"
COLUMNS = {2: ("first", "second", "chosen"), 3: ("choice_id", "alternative", "chosen")}  # by how many are shown
NUMBER_WORDS = {2: "two", 3: "three"}


class Answer(NamedTuple):
    """The options that were shown, in this order, and which one was chosen; of two also "tie"."""

    shown: tuple[str, ...]
    chosen: str


def write_log(path: Path, answers: Sequence[Answer], shown: int) -> None:
    """Write the answers, all or none."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(COLUMNS[shown])
    for number, answer in enumerate(answers, start=1):
        if shown == 2:
            rows.writerow((*answer.shown, answer.chosen))
        else:
            rows.writerows((number, option, int(option == answer.chosen)) for option in answer.shown)
    atomic_write(path, text.getvalue().encode())


def read_log(path: Path, options: Sequence[str], shown: int) -> list[Answer]:
    """The answers in a log; none if there is no file."""
    if not os.path.lexists(path):
        return []
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"The log {path} cannot be read: {error}.") from None
    rows = list(csv.reader(io.StringIO(text)))
    head = tuple(rows[0]) if rows else ()
    for other, columns in COLUMNS.items():
        if head == columns and other != shown:
            raise DataError(
                f"{path} is the log of an interview that shows {NUMBER_WORDS[other]} options at a time, and this one "
                f"shows {NUMBER_WORDS[shown]}; give ",
                Setting("shown", other),
                ", or name another file.",
            )
    if head != COLUMNS[shown]:
        raise DataError(
            f"{path} is no log of an interview, whose first line is {','.join(COLUMNS[shown])!r}; name another file, "
            "or move this one away."
        )
    found, known = [], set(options)
    for number, row, answer in (_of_pairs if shown == 2 else _of_sets)(rows[1:], shown):
        if answer is None:
            holds = (
                "a line holds two different options and the chosen one of them or tie"
                if shown == 2
                else f"an answer has {shown} lines, each with its number, another option, and 1 or 0, one of them 1"
            )
            raise DataError(
                f"Line {number} of the log {path} is damaged, {','.join(row)!r}; {holds}. Correct it, or remove it."
            )
        for label in answer.shown:
            if label not in known:
                raise DataError(
                    f"Line {number} of the log {path} names {label!r}, which is not among the options; name another "
                    "file for the log of other options."
                )
        found.append(answer)
    return found


def _of_pairs(rows: list[list[str]], shown: int) -> Iterator[tuple[int, list[str], Answer | None]]:
    """Line, row and answer of each row; no answer where it is damaged."""
    for number, row in enumerate(rows, start=2):
        good = len(row) == 3 and row[0] != row[1] and row[2] in (row[0], row[1], TIE)
        yield number, row, Answer((row[0], row[1]), row[2]) if good else None


def _of_sets(rows: list[list[str]], shown: int) -> Iterator[tuple[int, list[str], Answer | None]]:
    """Line and row where each answer begins, and the answer."""
    for number, begin in enumerate(range(0, len(rows), shown), start=1):
        part = rows[begin : begin + shown]
        good = len(part) == shown and all(len(row) == 3 and row[0] == str(number) for row in part)
        good = good and len({row[1] for row in part}) == shown and sorted(row[2] for row in part)[-2:] == ["0", "1"]
        chosen = [row[1] for row in part if row[2:] == ["1"]]
        yield begin + 2, part[0], Answer(tuple(row[1] for row in part), chosen[0]) if good else None


EVERYTHING, RANKS, BEST = "everything", "ranks", "best"
GOALS = (EVERYTHING, RANKS, BEST)
UNDO, QUIT = "undo", "quit"
SHOWN = (2, 3)  # options at once
EACH = 10  # questions an option, of an interview that ends by their number
RUN: dict[str, Any] = {"draws": 300, "tune": 300, "chains": 4, "progressbar": False}


class Standing(NamedTuple):
    """How far an interview is."""

    asked: int
    best: str  # the option that is most probably the best
    certainty: float  # of what the goal asks for: 0 before the first answer; NaN where the goal is no statement
    sentence: str


class Interview:
    """Questions about two or three options at a time, each of them the one whose answer is expected to teach most.

    Parameters
    ----------
    options : list of labels
        As many as are shown at once, or more.
    model : model of choices, optional
        That is fitted to the answers, such as `EliminationByAspects()`. None: the Bradley-Terry-Luce model,
        `EliminationByAspects("unique")`.
    goal : {"best", "ranks", "everything"}
        What the answers are to teach: see `next_pairs`.
    log : path, optional
        A table of the answers so far, with the columns first, second and chosen (of three options choice_id,
        alternative and chosen, a row an option), to which each answer is added before the next question. If it is
        there, the interview goes on from it. `thali fit` reads it.
    random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
        Of the first question, of the order in which options are shown, and of the fits.
    shown : {2, 3}
        How many options are shown at once, of which one is chosen.

    Raises
    ------
    ArgumentError
        If the options are fewer than are shown at once, or called "tie", "undo" or "quit"; if the goal is unknown, or
        the model is none of choices.
    DataError
        If options are named twice; or if the log is damaged, about other options, or cannot be written.

    Examples
    --------
    >>> import thali as th
    >>> interview = th.paired.Interview(["tea", "milk", "beer"], random_seed=1)
    >>> sorted(interview.question)  # doctest: +SKIP
    ['beer', 'tea']
    """

    options: tuple[str, ...]
    model: ChoiceAnswers
    goal: str
    shown: int

    def __init__(
        self,
        options: Iterable[Any],
        model: Any = None,
        goal: str = BEST,
        log: Any = None,
        random_seed: Any = None,
        shown: int = 2,
    ) -> None:
        if isinstance(options, str):
            raise ArgumentError(f"options must be a list of labels; got the text {options!r}.")
        self.options = checked_labels(options, "Options")
        self.shown = one_of("shown", shown, SHOWN)
        if len(self.options) < shown:
            raise ArgumentError(
                f"An interview compares {NUMBER_WORDS[shown]} options or more; got {len(self.options)}."
            )
        if taken := [each for each in self.options if each in (TIE, UNDO, QUIT)]:
            raise ArgumentError(f"An option cannot be called {taken[0]!r}, which is an answer; rename it.")
        self.goal = one_of("goal", goal, GOALS)
        self.model = EliminationByAspects("unique") if model is None else model
        if not (isinstance(self.model, ChoiceAnswers) and self.model._engine.draws):
            raise ArgumentError(
                "model must be a model of choices that draws from the posterior, such as EliminationByAspects(); got "
                f"{model!r}."
            )
        self._rng = np.random.default_rng(random_seed)
        self._path = None if log is None else Path(log)
        if self._path is not None:
            check_place(self._path)
        self.answers: list[Answer] = [] if self._path is None else read_log(self._path, self.options, shown)
        self._fitted = 0  # answers that the model has seen; 0: none, or it is to be fitted again
        self._question: tuple[str, ...] | None = None

    @property
    def question(self) -> tuple[str, ...]:
        """The options to show now, in this order."""
        if self._question is None:
            self._fit()
            self._question = self._in_any_order(self._next())
        return self._question

    def _next(self) -> list[str]:
        """The options that are asked about next."""
        if not self.answers:  # nothing is known: each question teaches as much
            return [self.options[k] for k in self._rng.choice(len(self.options), self.shown, replace=False)]
        if self.shown == 2:
            table = self.model.next_pairs(1, goal=self.goal, random_seed=self._rng)
            return [table.loc[0, "a"], table.loc[0, "b"]]
        return list(self.model.next_sets(self.shown, 1, goal=self.goal, random_seed=self._rng).loc[0, "members"])

    def _in_any_order(self, options: list[str]) -> tuple[str, ...]:
        if self.shown == 2:
            return tuple(options) if self._rng.random() < 0.5 else (options[1], options[0])
        return tuple(options[k] for k in self._rng.permutation(self.shown))

    def answer(self, chosen: str) -> None:
        """Take the answer to `question`: one of its labels, or of two "tie"; it is in the log when this returns."""
        shown = self.question
        allowed = (*shown, TIE) if self.shown == 2 else shown
        if chosen not in allowed:
            named = ", ".join(map(repr, allowed[:-1]))
            raise ArgumentError(f"An answer is {named} or {allowed[-1]!r}; got {chosen!r}.")
        answers = [*self.answers, Answer(shown, chosen)]
        self._keep(answers)
        self.answers, self._question = answers, None

    def undo(self) -> bool:
        """Take the last answer back, and ask its question again; False if there is none."""
        if not self.answers:
            return False
        answers = self.answers[:-1]
        self._keep(answers)
        self._question = self.answers[-1].shown
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
        sentence = f"After {plural(asked, 'answer')} {best!r} is the best with probability {share.max():.2f}"
        if self.goal == BEST:
            return Standing(asked, best, float(share.max()), f"{sentence}.")
        first, second = np.triu_indices(len(self.options), k=1)
        above = (utility[:, first] > utility[:, second]).mean(axis=0)
        order = float(np.maximum(above, 1.0 - above).mean())
        sentence += f", and the order of two options is known with probability {order:.2f} on average."
        return Standing(asked, best, order if self.goal == RANKS else math.nan, sentence)

    def _fit(self) -> None:
        """Bring the model up to the answers."""
        new = self.answers[self._fitted :]
        if not new:
            return
        data = (_comparisons if self.shown == 2 else _choices)(new, self.options)
        with without_warnings():
            if self._fitted:
                self.model.update(data)
            else:
                self.model.fit(data, **RUN, random_seed=int(self._rng.integers(2**31)))
        self._fitted = len(self.answers)

    def _keep(self, answers: list[Answer]) -> None:
        """Write the log, whole or not at all."""
        if self._path is not None:
            write_log(self._path, answers, self.shown)


def adaptive(
    ask: Callable[..., str | None],
    options: Iterable[Any],
    model: Any = None,
    goal: str = BEST,
    questions: int | None = None,
    sure: float = 0.95,
    log: Any = None,
    random_seed: Any = None,
    shown: int = 2,
) -> Interview:
    """Ask about two or three options, each time those that teach most, until the goal is reached.

    Parameters
    ----------
    ask : function (first, second) -> answer
        Shows two options (with ``shown=3`` it is given three) and returns the label of the chosen one, "tie" (of two
        only), "undo" (the last answer is taken back), or "quit" or None, which end the interview.
    options, model, goal, log, random_seed, shown
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
    if not callable(ask):
        raise ArgumentError(f"ask must be a function that shows the options and returns the answer; got {ask!r}.")
    sure = between("sure", sure, "the probability at which the interview ends")
    questions = None if questions is None else whole("questions", questions, 1)
    interview = Interview(options, model, goal, log, random_seed, shown)
    while not has_ended(interview, questions, sure):
        answer = ask(*interview.question)
        if answer is None or answer == QUIT:
            break
        if answer == UNDO:
            interview.undo()
        else:
            interview.answer(as_label(answer))
    return interview


def has_ended(interview: Interview, questions: int | None, sure: float) -> bool:
    """Whether the goal is reached, or the number of questions."""
    asked, goal = len(interview.answers), interview.goal
    if questions is None and goal == EVERYTHING:
        questions = EACH * len(interview.options)
    return (questions is not None and asked >= questions) or interview.standing().certainty >= sure


def _comparisons(answers: list[Answer], options: tuple[str, ...]) -> PairedComparisons:
    import pandas as pd

    rows = [(a, b, 0, 1) if c == TIE else (c, b if c == a else a, 1, 0) for (a, b), c in answers]
    frame = pd.DataFrame(rows, columns=["chosen", "rejected", "count", "ties"])
    if all(answer.chosen != TIE for answer in answers):
        return PairedComparisons.from_frame(frame.drop(columns="ties"), "chosen", "rejected", "count", labels=options)
    return PairedComparisons.from_frame(frame, "chosen", "rejected", "count", ties="ties", labels=options)


def _choices(answers: list[Answer], options: tuple[str, ...]) -> Choices:
    import pandas as pd

    rows = [(k, option, int(option == chosen)) for k, (shown, chosen) in enumerate(answers) for option in shown]
    frame = pd.DataFrame(rows, columns=["choice_id", "alternative", "chosen"])
    return Choices(frame, "choice_id", "alternative", "chosen", labels=options)
