"""`collect`: the files of answers of many people as one table, and what is to be known of them
before a fit."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from thali._labels import listed, plural, shorten, without_formula
from thali._printed import Printed
from thali.errors import DataError

if TYPE_CHECKING:
    import pandas

STUDY, PERSON, SEED, STARTED, VERSION = "study", "person", "seed", "started", "version"
PART, TRIAL, TASK, PASSED, PLANNED = "part", "trial", "task", "passed", "trials_planned"
MAIN, PRACTICE, CATCH = "main", "practice", "catch"
FAILED = "catch_failed"
TIE = "no preference"  # in the column of what was chosen
# of one questionnaire, no part of its answers
_BOOKKEEPING = (STUDY, SEED, STARTED, VERSION, PART, PASSED, PLANNED)
_NEEDED = (STUDY, PERSON, SEED, STARTED, PART, PLANNED)
_ENDINGS = (".csv", ".txt", ".tsv", "")  # of tables of text
_SHOWN = 5  # names in a sentence
_HEAD, _HEADER_WITHIN = 1 << 16, 5  # bytes and lines of a file in which a header is looked for


@dataclass(frozen=True, repr=False, eq=False)
class Collected(Printed):
    """The answers to a study: `.answers`, for a fit; `.table`, a row a person; `.files`, a row a
    file; and `.note`."""

    answers: "pandas.DataFrame"
    files: "pandas.DataFrame"


Row = dict[str, str]  # cells by column


class _Sheet(NamedTuple):
    """One questionnaire: what one person answered at one time, as one file has it."""

    file: str
    study: str
    person: str
    seed: str
    started: str
    rows: dict[tuple[str, str], Row]  # by part and number of the trial
    planned: int

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
        return sum(
            all(row.get(name) == cell for name, cell in wanted.items())
            for row in self.rows.values()
        )

    def failed(self) -> int:
        """How many catch trials have a wrong answer."""
        return self.trials(CATCH, **{PASSED: "0"})

    def minutes(self) -> float:
        """How long the answers took."""
        times = [row.get("rt", "") for row in self.rows.values()]
        return sum(int(time) for time in times if re.fullmatch("[0-9]{1,9}", time)) / 60_000

    def contradicts(self, other: "_Sheet") -> bool:
        """Return whether the same trial has another answer in another questionnaire."""
        return any(other.rows.get(key, row) != row for key, row in self.rows.items())


class _FileRows:
    """Where the rows of each file go, for the data and for the report."""

    def __init__(self) -> None:
        self.rows: Counter[str] = Counter()
        self.omitted: dict[str, Counter[str]] = {}  # by the reason, then by the file
        self.unread: dict[str, str] = {}  # file -> why

    def omit(self, file: str, why: str, number: int = 1) -> None:
        """Count rows of a file that are not taken."""
        self.omitted.setdefault(why, Counter())[file] += number

    def table(self) -> "pandas.DataFrame":
        """Build a table with a row per file: its rows, and how many are taken or omitted for which
        reason."""
        import pandas as pd

        table = (
            pd.DataFrame({"rows": self.rows, **self.omitted})
            .fillna(0)
            .astype(int)
            .rename_axis("file")
        )
        table.insert(1, "taken", table["rows"] - table.iloc[:, 1:].sum(axis=1))
        return table

    def sentences(self) -> list[str]:
        """Name the files with rows that are not taken, but for practice and catch trials, and those
        not read."""
        found = [
            f"{plural(files.total(), 'row')} skipped ({why}): {_each(files)}."
            for why, files in self.omitted.items()
            if why not in (PRACTICE, CATCH)
        ]
        unread = f"{plural(len(self.unread), 'file')} not read: {_each(self.unread)}."
        return [*found, unread] if self.unread else found


def _number(row: Row) -> str:
    """The number of the trial."""
    return row[TASK] if TASK in row else row[TRIAL]


def collect(folder: str | Path) -> Collected:
    """Join the files of answers that a questionnaire gave to many people.

    Practice and catch trials are left out of the answers; questionnaires that repeat others are,
    too. Of several by one person the first whole one counts, or the one with most answers if none
    is whole. Whoever stopped early or failed catch trials is reported and kept: the column
    `catch_failed` counts failures, so that `where="catch_failed == 0"` leaves these people out of a
    fit. No file is changed.

    Parameters
    ----------
    folder : str or Path
        Holds the files, a person each or several in one, also in folders within it. Files whose
        names begin with a dot do not count.

    Returns
    -------
    Collected
        `answers`, the rows of all people; `table`, a row a person: file, answered, planned, minutes
        and, of studies with catch trials, catch_failed; `files`, a row a file: how many rows are
        taken, and how many are omitted for which reason; `note`, what was found.

    Raises
    ------
    DataError
        If there is no file of answers in the folder, or if no study has most of the questionnaires.
    """
    import pandas as pd

    folder = Path(folder)
    if not folder.is_dir():
        raise DataError(
            f"There is no folder {str(folder)!r}; give the folder with the files of answers."
        )
    sheets: list[_Sheet] = []
    counts = _FileRows()
    for file, name in _files_in(folder):
        if file.suffix.lower() not in _ENDINGS:
            counts.unread[name] = "not a text table; save answers as CSV"
            continue
        try:
            found = _sheets_in(file, name, counts)
        except (ValueError, OSError) as error:
            counts.unread[name] = str(error).rstrip(".")
            continue
        sheets += found
        if name not in counts.rows:
            counts.unread[name] = f"missing columns {', '.join(_NEEDED)}"
    if not sheets:
        told = " ".join(counts.sentences()) or "It is empty."
        raise DataError(
            f"The folder {str(folder)!r} contains no answers to a questionnaire. {told}"
        )
    kept, notes = _one_a_person(_of_one_study(sheets, counts), counts)
    has_catch = any(PASSED in row for sheet in kept for row in sheet.rows.values())
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
    for sheet in kept:
        for part in (PRACTICE, CATCH):
            counts.omit(sheet.file, part, sheet.trials(part))
    note = " ".join([*_counted(kept), *notes, *counts.sentences()])
    return Collected(f"Answers to {kept[0].study}", people, note, answers, counts.table())


def _files_in(folder: Path) -> list[tuple[Path, str]]:
    """The files in a folder and in those within it, and what they are called there, without hidden
    ones."""
    paths = [
        (path, path.relative_to(folder)) for path in sorted(folder.rglob("*")) if path.is_file()
    ]
    return [
        (path, own.as_posix().encode("utf-8", "backslashreplace").decode())
        for path, own in paths
        if not any(part.startswith(".") for part in own.parts)
    ]


def _sheets_in(file: Path, name: str, counts: _FileRows) -> list[_Sheet]:
    """The questionnaires in a file, [] if it holds none; an error if its header is theirs and it
    cannot be read."""
    from thali._reading.cells import decoded, text_cells

    content = file.read_bytes()
    head = decoded(content[:_HEAD]).split("\n")[:_HEADER_WITHIN]
    if not any(_is_header(re.findall(r"\w+", line)) for line in head):
        return []
    cells = text_cells(content, joined=True)
    if not _is_header(cells.header):
        raise DataError(
            "The first line must contain the column names; remove the lines above them."
        )
    found: dict[tuple[str, ...], _Sheet] = {}
    counts.rows[name] = len(cells.lines)
    for values in zip(*cells.columns, strict=True):
        row = dict(zip(cells.header, values, strict=True))
        if why := _fault(row):
            counts.omit(name, why)
            continue
        key = row[STUDY], row[PERSON], row[SEED], row[STARTED]
        sheet = found.setdefault(key, _Sheet(name, *key, {}, int(row[PLANNED].partition(".")[0])))
        trial = row[PART], _number(row)
        if trial in sheet.rows:
            counts.omit(
                name, "repeats" if sheet.rows[trial] == row else "another answer to the same trial"
            )
        elif row[PART] == MAIN and sheet.is_whole:
            counts.omit(name, f"more than {PLANNED}")
        else:
            sheet.rows[trial] = row
    return [sheet for sheet in found.values() if sheet.rows]


def _fault(row: Row) -> str:
    """Return why a row is no answer, "" if it is one."""
    if row[STUDY] == STUDY:
        return "column names"  # of answers that were appended to others
    if not row[PERSON] or not _number(row):
        return f"{TRIAL if row[PERSON] else PERSON} is missing"
    if row[PART] not in (MAIN, PRACTICE, CATCH):
        return f"{PART} is not {MAIN}, {PRACTICE} or {CATCH}"
    return (
        ""
        if re.fullmatch(r"[0-9]{1,6}(\.0*)?", row[PLANNED])
        else f"{PLANNED} is not a number of trials"
    )


def _is_header(names: list[str]) -> bool:
    """Whether the columns are those of a file of answers."""
    return set(_NEEDED) <= set(names) and bool({TRIAL, TASK} & set(names))


def _of_one_study(sheets: list[_Sheet], counts: _FileRows) -> list[_Sheet]:
    """Return the questionnaires of the study that most are of; an error if half of them or fewer
    are."""
    studies = Counter(sheet.study for sheet in sheets)
    study, number = studies.most_common(1)[0]
    if 2 * number <= len(sheets):
        named = listed(
            f"{study!r}"
            f" ({shorten(sorted({each.file for each in sheets if each.study == study}), 2)})"
            for study, _ in studies.most_common()
        )
        raise DataError(
            f"The folder contains answers to {len(studies)} studies, {named}; put each study into"
            " a separate folder."
        )
    for sheet in sheets:
        if sheet.study != study:
            counts.omit(sheet.file, "of another study", len(sheet.rows))
    return [sheet for sheet in sheets if sheet.study == study]


def _one_a_person(sheets: list[_Sheet], counts: _FileRows) -> tuple[list[_Sheet], list[str]]:
    """The fullest copy of the questionnaire of each person that counts, and sentences about the
    others."""
    fullest: dict[tuple[str, str, str], _Sheet] = {}
    repeated, contradicted = [], {}
    for sheet in sorted(sheets, key=lambda sheet: (-len(sheet.rows), sheet.file)):
        other = fullest.setdefault((sheet.person, sheet.seed, sheet.started), sheet)
        if sheet.contradicts(other):
            contradicted[sheet.person] = f"{other.file} used, {sheet.file} not used"
        elif sheet is not other:
            repeated.append(sheet.file)
    of_person: dict[str, list[_Sheet]] = {}
    for sheet in sorted(fullest.values(), key=lambda sheet: sheet.started):
        of_person.setdefault(sheet.person, []).append(sheet)
    kept = [
        max(each, key=lambda sheet: (sheet.is_whole, 0 if sheet.is_whole else sheet.answered))
        for each in of_person.values()
    ]
    for sheet in sheets:
        if not any(sheet is each for each in kept):
            counts.omit(sheet.file, "of a questionnaire that is not used", len(sheet.rows))
    notes = []
    if repeated:
        files = shorten(list(dict.fromkeys(repeated)), _SHOWN)
        notes.append(f"{plural(len(repeated), 'repeated questionnaire')} excluded: {files}.")
    if contradicted:
        notes.append(
            f"Questionnaires of {_people(len(contradicted))} contradict each other:"
            f" {_each(contradicted)}; ask who submitted them."
        )
    senders: dict[tuple[str, str], list[str]] = {}
    for sheet in kept:
        senders.setdefault((sheet.seed, sheet.started), []).append(sheet.person)
    if copies := [name for names in senders.values() if len(names) > 1 for name in names]:
        notes.append(
            f"{_people(len(copies))} have the same seed and start time as other respondents, which"
            f" suggests copied answers under another name: {shorten(copies, _SHOWN)}."
        )
    for is_whole, which in (
        (True, "first complete questionnaire"),
        (False, "questionnaire with most answers"),
    ):
        people = [
            each.person
            for each in kept
            if len(of_person[each.person]) > 1 and each.is_whole == is_whole
        ]
        if people:
            none = "" if is_whole else " without completing one"
            several = f"{_people(len(people))} answered several times{none}; the {which} is used"
            notes.append(f"{several}: {shorten(people, _SHOWN)}.")
    return kept, notes


def _answers(sheet: _Sheet, has_catch: bool) -> list[Row]:
    """The answers of a person that count."""
    names = list(next(iter(sheet.rows.values())))
    typed = {PERSON, *names[names.index(PLANNED) + 1 :]}  # by people themselves
    rows = [
        {name: without_formula(cell) if name in typed else cell for name, cell in row.items()}
        for row in sheet.rows.values()
        if row[PART] == MAIN
    ]
    failed = {FAILED: str(sheet.failed())} if has_catch else {}
    return [
        {name: cell for name, cell in row.items() if name not in _BOOKKEEPING} | failed
        for row in rows
    ]


def _as_read(rows: list[Row]) -> "pandas.DataFrame":
    """The rows as a table that was read from a file: columns of numbers and of text."""
    from thali._reading.cells import TextTable
    from thali._reading.table import text_table

    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = [[row.get(name, "") for row in rows] for name in names]
    return text_table(TextTable(names, columns, range(len(rows))), "answers").frame


def _counted(kept: list[_Sheet]) -> list[str]:
    """How many people answered how much."""
    sentences = [
        f"{_people(len(kept))}, {plural(sum(sheet.answered for sheet in kept), 'answer')}."
    ]
    early = {
        each.person: f"{each.answered} of {each.planned}" for each in kept if not each.is_whole
    }
    if early:
        sentences.append(f"{_people(len(early))} stopped early: {_each(early)}.")
    left = [(part, sum(sheet.trials(part) for sheet in kept)) for part in (PRACTICE, CATCH)]
    if parts := [plural(number, f"{part} trial") for part, number in left if number]:
        sentences.append(f"Excluded: {listed(parts)}.")
    failed = {each.person: number for each in kept if (number := each.failed())}
    if failed:
        sentences.append(
            f"{_people(len(failed))} failed catch trials: {_each(failed)}; to exclude such"
            f' respondents from a fit, use where="{FAILED} == 0".'
        )
    return sentences


def _each(facts: Mapping[str, object]) -> str:
    """The first people, each with a fact."""
    named = [f"{person} ({fact})" for person, fact in list(facts.items())[:_SHOWN]]
    return ", ".join(named) + (f" and {len(facts) - _SHOWN:,} more" if len(facts) > _SHOWN else "")


def _people(number: int) -> str:
    return "1 respondent" if number == 1 else f"{number:,} respondents"
