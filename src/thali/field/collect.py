"""`collect`: the files of answers of many people as one table, and what is to be known of them before a fit."""

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from thali._labels import plural, shorten, without_formula
from thali._printed import Printed
from thali.errors import DataError

if TYPE_CHECKING:
    import pandas

STUDY, PERSON, SEED, STARTED, VERSION = "study", "person", "seed", "started", "version"
PART, TRIAL, TASK, PASSED, PLANNED = "part", "trial", "task", "passed", "trials_planned"
MAIN, PRACTICE, CATCH = "main", "practice", "catch"
FAILED = "catch_failed"
TIE = "no preference"  # in the column of what was chosen
_BOOKKEEPING = (STUDY, SEED, STARTED, VERSION, PART, PASSED, PLANNED)  # of one questionnaire, no part of its answers
_NEEDED = (STUDY, PERSON, SEED, STARTED, PART, PLANNED)
_ENDINGS = (".csv", ".txt", ".tsv", "")  # of tables of text
_SHOWN = 5  # names in a sentence
_HEAD, _HEADER_WITHIN = 1 << 16, 5  # bytes and lines of a file in which a header is looked for


@dataclass(frozen=True, repr=False, eq=False)
class Collected(Printed):
    """The answers to a study: `.answers`, as `thali fit` reads them, `.table`, a row a person, and `.note`."""

    answers: "pandas.DataFrame"


Row = dict[str, str]  # cells by column


class _Sheet(NamedTuple):
    """One questionnaire: what one person answered at one time, as one file has it."""

    file: str
    study: str
    person: str
    seed: str
    started: str
    rows: tuple[Row, ...]

    @property
    def planned(self) -> int:
        """How many trials there are."""
        return int(self.rows[0][PLANNED])

    @property
    def answered(self) -> int:
        """How many trials count."""
        return self.trials(MAIN)

    @property
    def is_whole(self) -> bool:
        """Whether nothing is missing."""
        return self.answered >= self.planned

    def trials(self, part: str, **cells: str) -> int:
        """How many trials of a part there are, with these cells."""
        wanted = {PART: part, **cells}
        rows = [row for row in self.rows if all(row.get(name) == cell for name, cell in wanted.items())]
        return len({_number(row) for row in rows})

    def failed(self) -> int:
        """How many catch trials have a wrong answer."""
        return self.trials(CATCH, **{PASSED: "0"})

    def minutes(self) -> float:
        """How long the answers took."""
        times = {_number(row): row.get("rt", "") for row in self.rows}
        return sum(int(time) for time in times.values() if time.isdecimal()) / 60_000


class _Aside(NamedTuple):
    """Files that stay aside, by why."""

    refused: list[str]  # their header is that of answers; each with what is wrong
    no_text: list[str]
    others: list[str]

    def sentences(self) -> list[str]:
        """A word on each kind."""
        found = []
        if self.refused:
            found.append(f"{plural(len(self.refused), 'file')} cannot be read: {'; '.join(self.refused[:_SHOWN])}.")
        if self.no_text:
            verb = "is no table" if len(self.no_text) == 1 else "are no tables"
            found.append(
                f"{plural(len(self.no_text), 'file')} {verb} of text and stayed aside: "
                f"{shorten(self.no_text, _SHOWN)}; what holds answers must be saved as CSV."
            )
        if self.others:
            verb = "holds" if len(self.others) == 1 else "hold"
            found.append(
                f"{plural(len(self.others), 'file')} {verb} no answers and stayed aside: "
                f"{shorten(self.others, _SHOWN)}."
            )
        return found


def _number(row: Row) -> str:
    """The number of the trial."""
    return row[TASK] if TASK in row else row[TRIAL]


def collect(folder: str | Path) -> Collected:
    """Join the files of answers that a questionnaire gave to many people.

    Practice and catch trials are left out of the answers; questionnaires that repeat others are, too. Of several by one
    person the first whole one counts, or the one with most answers if none is whole. Whoever stopped early or failed
    catch trials is reported and kept: the column `catch_failed` counts failures, so that
    `where="catch_failed == 0"` leaves these people out of a fit. No file is changed.

    Parameters
    ----------
    folder : str or Path
        Holds the files, a person each or several in one, also in folders within it. Files whose names begin with a dot
        do not count.

    Returns
    -------
    Collected
        `answers`, the rows of all people; `table`, a row a person: file, answered, planned, minutes and, of studies
        with catch trials, catch_failed; `note`, what was found.

    Raises
    ------
    DataError
        If there is no file of answers in the folder, or if there are answers to several studies.
    """
    import pandas as pd

    folder = Path(folder)
    if not folder.is_dir():
        raise DataError(f"There is no folder {str(folder)!r}; name the one that holds the files of answers.")
    sheets: list[_Sheet] = []
    aside = _Aside([], [], [])
    for file, name in _files_in(folder):
        if file.suffix.lower() not in _ENDINGS:
            aside.no_text.append(name)
            continue
        try:
            found = _sheets_in(file, name)
        except DataError as error:
            aside.refused.append(f"{name!r} ({str(error).rstrip('.')})")
            continue
        sheets += found
        aside.others.extend([] if found else [name])
    if not sheets:
        why = f"no file in it has the columns {', '.join(_NEEDED)}." if any(aside) else "it is empty."
        told = " ".join([*([] if aside.refused else [why]), *aside.sentences()])
        raise DataError(f"The folder {str(folder)!r} holds no file of answers to a questionnaire: {told}")
    _refuse_several(sheets)
    kept, notes = _one_a_person(sheets)
    has_catch = any(PASSED in sheet.rows[0] for sheet in kept)
    people = pd.DataFrame(
        [
            {
                PERSON: sheet.person,
                "file": sheet.file,
                "answered": sheet.answered,
                "planned": sheet.planned,
                "minutes": round(sheet.minutes(), 1),
                **({FAILED: sheet.failed()} if has_catch else {}),
            }
            for sheet in kept
        ]
    ).set_index(PERSON)
    answers = _as_read([row for sheet in kept for row in _answers(sheet, has_catch)])
    note = " ".join([*_counted(kept), *notes, *aside.sentences()])
    return Collected(f"Answers to {kept[0].study}", people, note, answers)


def _files_in(folder: Path) -> list[tuple[Path, str]]:
    """The files in a folder and in those within it, and what they are called there, without hidden ones."""
    paths = [(path, path.relative_to(folder)) for path in sorted(folder.rglob("*")) if path.is_file()]
    return [(path, own.as_posix()) for path, own in paths if not any(part.startswith(".") for part in own.parts)]


def _sheets_in(file: Path, name: str) -> list[_Sheet]:
    """The questionnaires in a file, [] if it holds none; an error if its header is theirs and it cannot be read."""
    from thali.reading.cells import decoded, text_cells

    content = file.read_bytes()
    head = decoded(content[:_HEAD]).split("\n")[:_HEADER_WITHIN]
    if not any(_is_header(re.findall(r"\w+", line)) for line in head):
        return []
    cells = text_cells(content, joined=True)
    if not _is_header(cells.header):
        raise DataError("The first line must hold the names of the columns; remove the lines above them.")
    found: dict[tuple[str, ...], dict[tuple[str, ...], Row]] = {}
    for values in zip(*cells.columns, strict=True):
        row = dict(zip(cells.header, values, strict=True))
        is_header = row[STUDY] == STUDY  # of answers that were appended to others
        if not is_header and row[PERSON] and row[PLANNED].isdecimal():
            key = tuple(row[name] for name in (STUDY, PERSON, SEED, STARTED))
            found.setdefault(key, {}).setdefault(tuple(values), row)
    return [_Sheet(name, *key, rows=tuple(rows.values())) for key, rows in found.items()]


def _is_header(names: list[str]) -> bool:
    """Whether the columns are those of a file of answers."""
    return set(_NEEDED) <= set(names) and bool({TRIAL, TASK} & set(names))


def _refuse_several(sheets: list[_Sheet]) -> None:
    """Answers to different studies are not joined."""
    studies = Counter(sheet.study for sheet in sheets)
    if len(studies) > 1:
        named = "; ".join(
            f"{study!r} ({shorten(sorted({each.file for each in sheets if each.study == study}), 2)})"
            for study, _ in studies.most_common()
        )
        raise DataError(f"The folder holds answers to {len(studies)} studies, {named}; give each a folder.")


def _one_a_person(sheets: list[_Sheet]) -> tuple[list[_Sheet], list[str]]:
    """The fullest copy of the questionnaire of each person that counts, and sentences about the others."""
    copies: dict[tuple[str, str, str], list[_Sheet]] = {}
    for sheet in sheets:
        copies.setdefault((sheet.person, sheet.seed, sheet.started), []).append(sheet)
    fullest = [max(each, key=lambda sheet: (len(sheet.rows), sheet.file)) for each in copies.values()]
    repeated = [sheet.file for sheet in sheets if not any(sheet is each for each in fullest)]
    of_person: dict[str, list[_Sheet]] = {}
    for sheet in sorted(fullest, key=lambda sheet: sheet.started):
        of_person.setdefault(sheet.person, []).append(sheet)
    kept = [
        max(each, key=lambda sheet: (sheet.is_whole, 0 if sheet.is_whole else sheet.answered))
        for each in of_person.values()
    ]
    notes = []
    if repeated:
        verbs = ("repeats", "counts") if len(repeated) == 1 else ("repeat", "count")
        files = shorten(list(dict.fromkeys(repeated)), _SHOWN)
        notes.append(f"{plural(len(repeated), 'questionnaire')} {verbs[0]} others and {verbs[1]} once: {files}.")
    for is_whole, which in ((True, "first whole questionnaire"), (False, "questionnaire with most answers")):
        people = [each.person for each in kept if len(of_person[each.person]) > 1 and each.is_whole == is_whole]
        if people:
            none = "" if is_whole else " and finished none"
            several = f"{_people(len(people))} answered several times{none}, of which the {which} counts"
            notes.append(f"{several}: {shorten(people, _SHOWN)}.")
    return kept, notes


def _answers(sheet: _Sheet, has_catch: bool) -> list[Row]:
    """The answers of a person that count."""
    names = list(sheet.rows[0])
    typed = {PERSON, *names[names.index(PLANNED) + 1 :]}  # by people themselves
    rows = [
        {name: without_formula(cell) if name in typed else cell for name, cell in row.items()}
        for row in sheet.rows
        if row[PART] == MAIN
    ]
    failed = {FAILED: str(sheet.failed())} if has_catch else {}
    return [{name: cell for name, cell in row.items() if name not in _BOOKKEEPING} | failed for row in rows]


def _as_read(rows: list[Row]) -> "pandas.DataFrame":
    """The rows as a table that was read from a file: columns of numbers and of text."""
    from thali.reading.cells import Cells
    from thali.reading.table import text_table

    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = [[row.get(name, "") for row in rows] for name in names]
    return text_table(Cells(names, columns, range(len(rows))), "answers").frame


def _counted(kept: list[_Sheet]) -> list[str]:
    """How many people answered how much."""
    sentences = [f"{_people(len(kept))}, {plural(sum(sheet.answered for sheet in kept), 'answer')}."]
    early = {each.person: f"{each.answered} of {each.planned}" for each in kept if not each.is_whole}
    if early:
        sentences.append(f"{_people(len(early))} stopped early: {_each(early)}.")
    left = [(part, sum(sheet.trials(part) for sheet in kept)) for part in (PRACTICE, CATCH)]
    if parts := [plural(number, f"{part} trial") for part, number in left if number]:
        sentences.append(f"Left out: {' and '.join(parts)}.")
    failed = {each.person: str(number) for each in kept if (number := each.failed())}
    if failed:
        sentences.append(
            f"{_people(len(failed))} failed catch trials: {_each(failed)}; a fit leaves them out by "
            f'where "{FAILED} == 0".'
        )
    return sentences


def _each(facts: dict[str, str]) -> str:
    """The first people, each with a fact."""
    named = [f"{person} ({fact})" for person, fact in list(facts.items())[:_SHOWN]]
    return ", ".join(named) + (f" and {len(facts) - _SHOWN:,} more" if len(facts) > _SHOWN else "")


def _people(number: int) -> str:
    return "1 person" if number == 1 else f"{number:,} people"
