"""A questionnaire that many people answer at a time, in which all answers so far decide what is asked next."""

import csv
import io
import os
import threading
from collections.abc import Mapping, Sequence, Set
from ipaddress import IPv6Address, ip_address
from itertools import combinations
from math import comb
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from thali._labels import without_formula
from thali.aspects.answers.options import rank_draws, shares_of, utility_draws
from thali.aspects.draws.columns import columns_of
from thali.aspects.models.additive import AdditiveClustering
from thali.aspects.models.elimination import EliminationByAspects
from thali.data.choices import Choices
from thali.data.pairs import PairedComparisons
from thali.data.triplets import Triplets
from thali.errors import ArgumentError, DataError, Setting
from thali.inference.numerics.ranks import average_ranks
from thali.inference.warn import without_warnings
from thali.paired.interview import EVERYTHING, RUN
from thali.posterior.interval import TAILS

from .asked import BEST, ODD, PAIRS, refuse_design
from .collect import MAIN, PERSON, SEED, TIE, TRIAL
from .questionnaire import Planned, columns_answered, columns_shown, planned_of, served
from .study import GIVEN

KINDS = (PAIRS, BEST, ODD)  # what `next_pairs`, `next_sets` and `next_triplets` choose
FILE = "answers.csv"
ASKED_FILE = ".asked.csv"  # what was given out to whom: the study, a person, a seed, the numbers of options
CUT = ".cut"  # ends the name of the file of lines that were not whole
USUAL = 20  # questions of a person
AHEAD = 3  # questions that a page has in hand beside the one that is open
MAX_PEOPLE = 1_000
MAX_OF_ADDRESS = 100  # people who take part from one address, as behind a router; this computer itself has no bound
_OWN = 64  # bits of an IPv6 address that a device chooses by itself, as often as it likes
_BATCH = 20  # questions chosen at once
_GOAL = EVERYTHING  # what they are to teach: ranks take ten times as long to choose for
_LONGEST, _LONGEST_FACT = 64, 500  # characters of a name, and of what somebody says of themselves
_MOST_TIME = 10**9  # ms
_ROWS = 30  # pairs of objects that are shown by how alike they are
_LISTED = 2_000  # questions of which those that are left are listed rather than drawn


class Question(NamedTuple):
    """What was shown, in this order, and what was picked."""

    number: int  # of the trial
    shown: tuple[int, ...]  # numbers of options
    pick: int  # the place of what was picked; -1: neither
    time: int  # ms


class Sent(NamedTuple):
    """What the page of one person sent."""

    person: str
    seed: int
    started: str
    facts: dict[str, str]
    answers: tuple[Question, ...]
    waiting: tuple[tuple[int, ...], ...]  # questions that the page has and that are not answered
    wants: int  # how many more it wants


class Answer(NamedTuple):
    """An answer of somebody."""

    person: str
    shown: tuple[int, ...]
    pick: int


class Standing(NamedTuple):
    """What is known, from so many answers."""

    answers: int
    rows: "tuple[Row, ...]"


class Row(NamedTuple):
    """An option by its worth, the best first, or two by how alike they are, the most alike first."""

    label: str
    value: float
    low: float
    high: float
    best: float  # rank, and the ends of its interval
    worst: float


class NoRoom(DataError):
    """Nobody else can take part."""


class Live:
    """Who answered what, and what is asked next.

    Questions stand ready: a person gets the one that was asked least often of those that were chosen last and that this
    person has not had. So nobody waits for a fit. An answer is in the file before it counts, and it counts if its
    question was given out to this person, which another file says; where that has lost lines, whatever a page has in
    hand was given out.

    Parameters
    ----------
    planned : Planned
        What is asked, as `planned_to_serve` makes it.
    folder : Path
        Holds `answers.csv` and `.asked.csv`; if they are there, their answers count and their questions are open.
    random_seed : int, optional
        Of the first questions, of the order of options, and of fits.
    """

    def __init__(self, planned: Planned, folder: Path, random_seed: Any = None) -> None:
        self.planned = planned
        data = planned.data
        self.kind, self.labels = planned.asked.kind, planned.asked.options
        self.size, self.each = data["size"], data["live"]
        self._columns = data["columns"]
        self.first = len(data["practice"]) + 1  # the number of the first trial that counts
        self._facts = [question.name for question in planned.study.questions]
        self._path = folder / FILE
        self._rng = np.random.default_rng(random_seed)
        self._lock = threading.Lock()
        self._shown: dict[tuple[str, int], dict[int, frozenset[int]]] = {}  # person and seed -> what trials showed
        self._answers: list[Answer] = []
        self._asked_path = folder / ASKED_FILE
        self._asked: dict[tuple[str, int], dict[frozenset[int], list[int]]] = {}  # person and seed -> in which order
        self._from: dict[str, int] = {}  # place -> how many people began there
        self._read()
        self._has_lost = self._read_asked()  # lines of what was asked
        self._ready = dict.fromkeys(_connected(len(self.labels), self.size, self._rng), 0)
        self.standing = Standing(0, ())

    # ---- what comes

    def take(self, sent: Sent, address: str = "") -> dict[str, Any]:
        """Keep the answers that are new; what the page is told: how many of its answers are kept, and what to ask.

        `address`: from which it was sent; "" where there is none. Whoever has neither a question nor an answer that
        counts takes no part.
        """
        key, place = (_name(sent), sent.seed), _place(address)
        with self._lock:
            asked = self._asked_of(key, sent)
            known = self._shown.get(key, {})
            new = {each.number: each for each in sent.answers if each.number not in known}
            self._refuse_others(key, sent.answers, asked.keys())
            if key not in self._asked and (new or sent.wants):
                self._refuse_more(place)
            if new:
                self._append([self._row(sent, each) for each in new.values()])
                self._begin(key, place)
                for each in new.values():
                    self._keep(key, each.number, Answer(key[0], each.shown, each.pick))
            questions, found = self._next(key, asked, set(map(frozenset, sent.waiting)), sent.wants)
            if found:
                self._write(self._asked_path, [[self.planned.data["id"], *key, *order] for order in found.values()])
                self._begin(key, place)
                self._asked[key].update(found)
            return {"kept": len(self._shown.get(key, ())), "questions": questions}

    def _asked_of(self, key: tuple[str, int], sent: Sent) -> dict[frozenset[int], list[int]]:
        """What the person was asked; where lines of it are lost, what the page has in hand is taken for asked."""
        # Nothing can tell whether it was. But a page sends its answers together, so that one refused would keep out all
        # that follow, for ever; and whoever makes them up has no more answers than everybody, each number once.
        asked = dict(self._asked.get(key, {}))
        if self._has_lost:
            for shown in (*(each.shown for each in sent.answers), *sent.waiting):
                if len(asked) < self.each:
                    asked.setdefault(frozenset(shown), list(shown))
        return asked

    def _refuse_more(self, place: str) -> None:
        """Raise where nobody else can take part."""
        if len(self._asked) >= MAX_PEOPLE:
            raise NoRoom(f"{MAX_PEOPLE:,} people take part, and there is no room for more.")
        if place and self._from.get(place, 0) >= MAX_OF_ADDRESS:
            raise NoRoom(f"{MAX_OF_ADDRESS:,} people take part from {place}, and there is no room for more.")

    def _begin(self, key: tuple[str, int], place: str) -> None:
        """Somebody takes part, from now on if not before."""
        if key not in self._asked:
            self._asked[key] = {}
            self._from[place] = self._from.get(place, 0) + 1

    def _refuse_others(self, key: tuple[str, int], answers: Sequence[Question], asked: Set[frozenset[int]]) -> None:
        """Raise for an answer to what the person was not asked, or has answered under another number."""
        known = dict(self._shown.get(key, {}))
        number_of = {question: number for number, question in known.items()}
        for number, question in ((each.number, frozenset(each.shown)) for each in answers):
            if question not in asked:
                raise DataError(f"Question {number} of {key[0]} was not asked.")
            if known.setdefault(number, question) != question or number_of.setdefault(question, number) != number:
                raise DataError(f"Question {number} of {key[0]} showed something else before.")

    def _keep(self, key: tuple[str, int], number: int, answer: Answer) -> None:
        """An answer that is in the file."""
        self._answers.append(answer)
        self._shown.setdefault(key, {})[number] = frozenset(answer.shown)
        self._asked.setdefault(key, {}).setdefault(frozenset(answer.shown), list(answer.shown))

    def _next(
        self, key: tuple[str, int], asked: dict[frozenset[int], list[int]], waiting: set[frozenset[int]], n: int
    ) -> tuple[list[list[int]], dict[frozenset[int], list[int]]]:
        """Questions that the page has not: those that did not arrive, then others; and the others by themselves."""
        unanswered = asked.keys() - self._shown.get(key, {}).values()
        lost = [order for question, order in asked.items() if question in unanswered - waiting]
        found: dict[frozenset[int], list[int]] = {}
        for _ in range(min(n - len(lost), self.each - len(asked), AHEAD + 1 - len(unanswered))):
            had = asked.keys() | found.keys()
            ready = [each for each in self._ready if each not in had]
            question = min(ready, key=self._ready.__getitem__) if ready else self._any(had)
            if question is None:
                break
            if ready:
                self._ready[question] += 1
            found[question] = self._rng.permutation(sorted(question)).tolist()
        return [*lost, *found.values()][:n], found

    def _any(self, had: Set[frozenset[int]]) -> frozenset[int] | None:
        """A question by chance; None where somebody had all."""
        n = len(self.labels)
        if comb(n, self.size) > _LISTED:
            while (found := frozenset(self._rng.choice(n, self.size, replace=False).tolist())) in had:
                pass
            return found
        left = [each for each in map(frozenset, combinations(range(n), self.size)) if each not in had]
        return left[self._rng.integers(len(left))] if left else None

    # ---- the file

    def _row(self, sent: Sent, answer: Question) -> list[str]:
        """The cells of an answer, as the page itself would write them."""
        shown = [self.labels[k] for k in answer.shown]
        chosen = TIE if answer.pick < 0 else shown[answer.pick]
        facts = [without_formula(sent.facts.get(name, "")) for name in self._facts]
        head = [self.planned.data["id"], _name(sent), sent.seed, without_formula(sent.started), 1, MAIN, answer.number]
        return [*map(str, head), *shown, chosen, str(answer.time), str(self.each), *facts]

    def _append(self, rows: Sequence[Sequence[str]]) -> None:
        """Answers at the end of their file."""
        self._write(self._path, rows if self._path.exists() else [self._columns, *rows])

    def _write(self, path: Path, rows: Sequence[Sequence[Any]]) -> None:
        """Rows at the end of a file, on the disk when this returns, all or none."""
        content = b"".join(map(_line, rows))
        with open(path, "ab") as file:
            before = file.tell()
            try:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            except OSError:
                os.ftruncate(file.fileno(), before)
                raise

    def _read(self) -> None:
        """The answers in the file; what was being written when the computer stopped was nobody's yet, and goes."""
        if not self._path.exists():
            return
        content, whole = _content(self._path)
        rows = list(csv.reader(io.StringIO(content[:whole].decode(errors="replace"), newline="")))
        is_ours = rows[0] == self._columns if rows else _line(self._columns).startswith(content)
        if not is_ours or any(row[:1] != [self.planned.data["id"]] for row in rows[1:]):
            raise DataError(f"{self._path} holds answers to another study, or was changed; name another folder.")
        place = {label: k for k, label in enumerate(self.labels)}
        (answered,) = columns_answered(self.kind, self.planned.study, self.size)
        for line, row in enumerate(rows[1:], start=2):
            try:
                cells = dict(zip(self._columns, row, strict=True))
                shown = tuple(place[cells[name]] for name in columns_shown(self.planned.asked, self.size))
                pick = -1 if cells[answered] == TIE else shown.index(place[cells[answered]])
                key, number = (cells[PERSON], int(cells[SEED])), int(cells[TRIAL])
            except (KeyError, ValueError):
                raise DataError(f"Line {line} of {self._path} is damaged; correct it, or remove it.") from None
            self._keep(key, number, Answer(cells[PERSON], shown, pick))
        if not rows:  # a part of our own first line
            self._path.unlink()
        elif whole < len(content):
            with open(self._path.with_suffix(CUT), "ab") as beside:
                beside.write(content[whole:] + b"\n")
            os.truncate(self._path, whole)

    def _read_asked(self) -> bool:
        """The questions that were given out, and whether some are lost: a line is damaged, or an answer has none."""
        given: dict[tuple[str, int], dict[frozenset[int], list[int]]] = {}
        is_damaged = False
        if self._asked_path.exists():
            content, whole = _content(self._asked_path)
            lines = [line for line in content[:whole].splitlines() if line.strip()]
            for found in map(self._asked_in, lines):
                if found is None:
                    is_damaged = True
                else:
                    key, order = found
                    given.setdefault(key, {})[frozenset(order)] = list(order)
            if lines and not given:  # of a study that nobody has answered
                self._asked_path.replace(self._asked_path.with_suffix(CUT))
                is_damaged = False
            else:
                os.truncate(self._asked_path, whole)  # what was being written when the computer stopped reached nobody
        has_lost = any(not set(shown.values()) <= given.get(key, {}).keys() for key, shown in self._shown.items())
        for key, questions in given.items():
            self._asked.setdefault(key, {}).update(questions)
        return is_damaged or has_lost

    def _asked_in(self, line: bytes) -> tuple[tuple[str, int], tuple[int, ...]] | None:
        """Who was asked what; None where the line is damaged or of another study. No name has a break of lines."""
        try:
            study, person, seed, *numbers = next(csv.reader([line.decode()]))
            key, order = (person, int(seed)), _shown([int(number) for number in numbers], self)
        except (ValueError, csv.Error):
            return None
        return (key, order) if study == self.planned.data["id"] else None

    # ---- what is known

    def counts(self) -> dict[str, int]:
        """How many people and answers there are, and how many people have answered all."""
        with self._lock:
            whole = sum(len(shown) >= self.each for shown in self._shown.values())
            return {"people": len(self._shown), "answers": len(self._answers), "whole": whole}

    def fit(self) -> bool:
        """Bring questions and standing up to the answers; False where there is nothing new, or too little."""
        with self._lock:
            answers = self._answers[:]
            seed = int(self._rng.integers(2**31))
        if len(answers) < len(self.labels) or len(answers) == self.standing.answers:
            return False
        with without_warnings():
            model = self._model().fit(self._data(answers), **RUN, random_seed=seed)
            questions = self._chosen(model, seed)
        standing = Standing(len(answers), _alike(model) if self.kind == ODD else _board(model))
        with self._lock:
            self._ready, self.standing = dict.fromkeys(questions, 0), standing
        return True

    def _model(self) -> Any:
        return AdditiveClustering() if self.kind == ODD else EliminationByAspects("unique")

    def _data(self, answers: Sequence[Answer]) -> Any:
        """The answers as data, in which all options are known."""
        import pandas as pd

        names = [f"shown{k}" for k in range(self.size)]
        first, second = names[:2]
        if self.kind == BEST:
            rows = [
                (number, self.labels[option], int(place == answer.pick), answer.person)
                for number, answer in enumerate(answers)
                for place, option in enumerate(answer.shown)
            ]
            frame = pd.DataFrame(rows, columns=["set", "option", "chosen", "person"])
            return Choices(frame, "set", "option", "chosen", respondent="person", labels=self.labels)
        rows = [
            (
                *(self.labels[k] for k in answer.shown),
                TIE if answer.pick < 0 else self.labels[answer.shown[answer.pick]],
                answer.person,
            )
            for answer in answers
        ]
        frame = pd.DataFrame(rows, columns=[*names, "chosen", "person"])
        if self.kind == ODD:
            return Triplets.from_frame(frame, names, "chosen", respondent="person", labels=self.labels)
        return PairedComparisons.from_trials(frame, first, second, "chosen", subject="person", labels=self.labels)

    def _chosen(self, model: Any, seed: int) -> list[frozenset[int]]:
        """The questions whose answers are expected to teach most."""
        asked = {"n": _BATCH, "goal": _GOAL, "random_seed": seed}
        if self.kind == PAIRS:
            found = model.next_pairs(**asked)[["a", "b"]].itertuples(index=False)
        elif self.kind == BEST:
            found = model.next_sets(self.size, **asked)["members"]
        else:
            found = model.next_triplets(**asked)["objects"]
        place = {label: k for k, label in enumerate(self.labels)}
        return [frozenset(place[label] for label in labels) for labels in found]


# What is asked --------------------------------------------------------------------------------------------------------


def planned_to_serve(design: Any, kind: str | None, title: str | None, study: Any) -> Planned:
    """What a class is asked about options, as `questionnaire` is given it.

    Raises
    ------
    ArgumentError
        If questions of that kind are not chosen by answers, or a design is given in place of options.
    DataError
        If options, pictures or the study cannot be used, or the study says what only a page by itself can do.
    """
    if kind not in (None, *KINDS):
        raise ArgumentError(
            Setting("kind", kind), f" has no questions that follow from answers; it must be one of {', '.join(KINDS)}."
        )
    refuse_design(design, "What is asked of a class follows from its answers")
    planned = planned_of(design, kind, title, None, study, 0)
    asked, told = planned.asked, planned.study
    for name, why in (("catch", "have the same questions for everybody"), ("post", "send the answers elsewhere")):
        if getattr(told, name):
            raise DataError(f"{name!r} would {why}, which a class has not; remove it from the study.")
    for name, what in (("order", "is asked what its answers call for"), ("sides", "sees options at places by chance")):
        if getattr(told, name) == GIVEN:
            raise DataError(f"A class {what}; remove {name} = {GIVEN!r} from the study.")
    there_are = comb(len(asked.options), planned.data["size"])
    return served(planned, min(told.per_person or USUAL, there_are))


def _line(cells: Sequence[Any]) -> bytes:
    """A line of the file."""
    text = io.StringIO()
    csv.writer(text).writerow(cells)
    return text.getvalue().encode()


def _content(path: Path) -> tuple[bytes, int]:
    """What a file holds, and how many bytes of it are whole lines."""
    content = path.read_bytes()
    return content, content.rfind(b"\n") + 1


def _place(address: str) -> str:
    """What is counted as one address: of IPv6 the network, and "" for this computer or where there is none."""
    try:
        found = ip_address(address)
    except ValueError:  # a socket without an address, as in tests
        return ""
    if isinstance(found, IPv6Address):
        found = found.ipv4_mapped or found
    if found.is_loopback:
        return ""
    if isinstance(found, IPv6Address):
        return f"{IPv6Address(int(found) >> _OWN << _OWN)}/{_OWN}"
    return str(found)


def _connected(n: int, size: int, rng: np.random.Generator) -> list[frozenset[int]]:
    """Questions that connect all options: along a ring, in an order drawn by chance, each shares one with the next."""
    ring = rng.permutation(n).tolist()
    return [frozenset(ring[(first + k) % n] for k in range(size)) for first in range(0, n, size - 1)]


# What a page sends ----------------------------------------------------------------------------------------------------


def sent_of(message: Any, live: Live) -> Sent:
    """What a page sent, once each part of it is what a page sends.

    Raises
    ------
    DataError
        If it is anything else.
    """
    if not isinstance(message, Mapping):
        raise DataError("Answers come as an object.")
    person = _text(message, "person", _LONGEST)
    if not person.strip():
        raise DataError("'person' is empty.")
    names = [question.name for question in live.planned.study.questions]
    told = message.get("facts")
    if not isinstance(told, Mapping):
        raise DataError("'facts' come as an object.")
    facts = {name: _text(told, name, _LONGEST_FACT) for name in names if name in told}
    answers = tuple(_question(each, live) for each in _list(message, "answers", live.each))
    waiting = tuple(_shown(each, live) for each in _list(message, "waiting", live.each))
    seed, wants = _whole(message, "seed", 0, 2**32 - 1), _whole(message, "wants", 0, AHEAD + 1)
    return Sent(person, seed, _text(message, "started", _LONGEST), facts, answers, waiting, wants)


def _is(value: Any, kind: Any) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


def _text(held: Any, name: str, most: int) -> str:
    """A text without characters that do not print."""
    found = held.get(name)
    if not isinstance(found, str) or len(found) > most:
        raise DataError(f"{name!r} must be a text of {most} characters at most.")
    return "".join(letter for letter in found if letter.isprintable())


def _whole(held: Any, name: str, least: int, most: int) -> int:
    found = held.get(name)
    if not _is(found, int) or not least <= found <= most:
        raise DataError(f"{name!r} must be a whole number from {least} to {most}.")
    return found


def _list(held: Any, name: str, most: int) -> list[Any]:
    found = held.get(name)
    if not isinstance(found, list) or len(found) > most:
        raise DataError(f"{name!r} must be a list of {most} at most.")
    return found


def _shown(held: Any, live: Live) -> tuple[int, ...]:
    """Options of one question, all of them different."""
    if not isinstance(held, list) or len(held) != live.size or not all(_is(each, int) for each in held):
        raise DataError(f"A question has the numbers of {live.size} options.")
    if len(set(held)) < live.size or min(held) < 0 or max(held) >= len(live.labels):
        raise DataError(f"A question has {live.size} different options.")
    return tuple(held)


def _question(held: Any, live: Live) -> Question:
    if not isinstance(held, Mapping):
        raise DataError("An answer comes as an object.")
    least = -1 if live.planned.study.no_preference else 0
    return Question(
        _whole(held, "number", live.first, live.first + live.each - 1),
        _shown(held.get("shown"), live),
        _whole(held, "pick", least, live.size - 1),
        _whole(held, "time", 0, _MOST_TIME),
    )


def _name(sent: Sent) -> str:
    """The name of the person as it stands in the file."""
    return without_formula(sent.person)


# What is known --------------------------------------------------------------------------------------------------------


def _board(model: Any) -> tuple[Row, ...]:
    """Options by their shares of all worth."""
    tree = model.posterior_
    worth = shares_of(utility_draws(columns_of(tree)))
    labels = tree["posterior"].dataset["option"].values.tolist()
    return _rows(labels, worth, rank_draws(tree), np.log(worth).mean(axis=0))


def _alike(model: Any) -> tuple[Row, ...]:
    """Two objects each by how alike they are."""
    found = model.posterior_["posterior"].dataset
    draws = found["similarity"].values.reshape(-1, found.sizes["pair"])
    labels = [f"{a} + {b}" for a, b in zip(found["option_a"].values, found["option_b"].values, strict=True)]
    return _rows(labels, draws, average_ranks(-draws), draws.mean(axis=0))[:_ROWS]


def _rows(labels: Sequence[str], draws: np.ndarray, ranks: np.ndarray, middle: np.ndarray) -> tuple[Row, ...]:
    """A row each, the highest first."""
    low, high = np.quantile(draws, TAILS, axis=0)
    best, worst = np.quantile(ranks, TAILS, axis=0, method="inverted_cdf")
    columns = [column.tolist() for column in (draws.mean(axis=0), low, high, best, worst)]
    found = [Row(label, *cells) for label, *cells in zip(labels, *columns, strict=True)]
    return tuple(found[k] for k in np.argsort(-middle, kind="stable"))
