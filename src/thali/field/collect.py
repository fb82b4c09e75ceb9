"""`collect`: the files of answers of many people as one table, and what is to be known of them before a fit."""

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
_ENDINGS = (".csv", ".txt", ".tsv", "")
_SHOWN = 5  # names in a sentence


@dataclass(frozen=True, repr=False, eq=False)
class Collected(Printed):
    """The answers to a study: `.answers`, as `thali fit` reads them, `.table`, a row a person, and `.note`."""

    answers: "pandas.DataFrame"


class _Sheet(NamedTuple):
    """One questionnaire: what one person answered at one time, as one file has it."""

    file: str
    study: str
    person: str
    seed: str
    started: str
    rows: "pandas.DataFrame"

    @property
    def answered(self) -> int:
        """How many trials count."""
        return self.trials(MAIN)

    @property
    def planned(self) -> int:
        """How many there are."""
        return int(self.rows[PLANNED].iloc[0])

    def trials(self, part: str) -> int:
        """How many trials of a part there are."""
        rows = self.rows[self.rows[PART] == part]
        return rows[_number_of(rows)].nunique()

    def failed(self) -> int:
        """How many catch trials have a wrong answer."""
        if PASSED not in self.rows:
            return 0
        rows = self.rows[(self.rows[PART] == CATCH) & (self.rows[PASSED] == "0")]
        return rows[_number_of(rows)].nunique()


def collect(folder: str | Path) -> Collected:
    """Join the files of answers that a questionnaire gave to many people.

    Practice and catch trials are left out of the answers; files that repeat others, and later questionnaires of the
    same person, are, too. Whoever stopped early or failed catch trials is reported and kept: the column `catch_failed`
    counts failures, so that `where="catch_failed == 0"` leaves these people out of a fit. No file is changed.

    Parameters
    ----------
    folder : str or Path
        Holds the files, a person each or several in one.

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
    files = sorted(each for each in folder.iterdir() if _may_hold_answers(each))
    sheets: list[_Sheet] = []
    others: list[str] = []
    for file in files:
        found = _sheets_in(file)
        sheets += found
        others += [] if found else [file.name]
    if not sheets:
        what = f"no file in it has the columns {', '.join(_NEEDED)}" if files else "it is empty"
        raise DataError(f"The folder {str(folder)!r} holds no file of answers to a questionnaire: {what}.")
    _refuse_several(sheets)
    kept, notes = _one_a_person(sheets)
    has_catch = any(PASSED in sheet.rows for sheet in kept)
    rows = [
        {
            PERSON: sheet.person,
            "file": sheet.file,
            "answered": sheet.answered,
            "planned": sheet.planned,
            "minutes": round(pd.to_numeric(sheet.rows.drop_duplicates(_number_of(sheet.rows))["rt"]).sum() / 60_000, 1),
            **({FAILED: sheet.failed()} if has_catch else {}),
        }
        for sheet in kept
    ]
    people = pd.DataFrame(rows).set_index(PERSON)
    answers = pd.concat([_answers(sheet, has_catch) for sheet in kept], ignore_index=True)
    note = " ".join([*_counted(kept, people), *notes, *_left_out(others)])
    return Collected(f"Answers to {kept[0].study}", people, note, answers)


def _may_hold_answers(file: Path) -> bool:
    return file.is_file() and file.suffix.lower() in _ENDINGS and not file.name.startswith(".")


def _number_of(rows: "pandas.DataFrame") -> str:
    """The column that numbers trials."""
    return TASK if TASK in rows else TRIAL


def _sheets_in(file: Path) -> list[_Sheet]:
    """The questionnaires in a file, [] if it holds none."""
    import pandas as pd

    from thali.reading.cells import text_cells

    try:
        cells = text_cells(file.read_bytes())
    except DataError:
        return []
    if not set(_NEEDED) <= set(cells.header) or not {TRIAL, TASK} & set(cells.header):
        return []
    frame = pd.DataFrame(dict(zip(cells.header, cells.columns, strict=True)), dtype=str)
    frame = frame[(frame[STUDY] != STUDY) & frame[PLANNED].str.fullmatch(r"\d{1,9}") & (frame[PERSON] != "")]
    keys = [STUDY, PERSON, SEED, STARTED]
    parts = frame.groupby(keys, sort=False)
    return [_Sheet(file.name, *map(str, key), rows.drop_duplicates()) for key, rows in parts]


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
    """The fullest copy of the first whole questionnaire of each person, and sentences about the others."""
    copies: dict[tuple[str, str, str], list[_Sheet]] = {}
    for sheet in sheets:
        copies.setdefault((sheet.person, sheet.seed, sheet.started), []).append(sheet)
    fullest = [max(each, key=lambda sheet: (len(sheet.rows), sheet.file)) for each in copies.values()]
    repeated = [sheet.file for sheet in sheets if not any(sheet is each for each in fullest)]
    of_person: dict[str, list[_Sheet]] = {}
    for sheet in sorted(fullest, key=lambda sheet: sheet.started):
        of_person.setdefault(sheet.person, []).append(sheet)
    kept = [min(each, key=lambda sheet: sheet.answered < sheet.planned) for each in of_person.values()]
    twice = [person for person, each in of_person.items() if len(each) > 1]
    notes = []
    if repeated:
        verbs = ("repeats", "counts") if len(repeated) == 1 else ("repeat", "count")
        notes.append(
            f"{plural(len(repeated), 'file')} {verbs[0]} others and {verbs[1]} once: {shorten(repeated, _SHOWN)}."
        )
    if twice:
        notes.append(
            f"{_people(len(twice))} answered several times, of which the first whole questionnaire counts: "
            f"{shorten(twice, _SHOWN)}."
        )
    return kept, notes


def _answers(sheet: _Sheet, has_catch: bool) -> "pandas.DataFrame":
    """The answers of a person that count."""
    rows = sheet.rows[sheet.rows[PART] == MAIN]
    facts = rows.columns[rows.columns.get_loc(PLANNED) + 1 :]  # what people typed of themselves
    rows = rows.assign(**{name: rows[name].map(without_formula) for name in (PERSON, *facts)})
    found = rows.drop(columns=[name for name in _BOOKKEEPING if name in rows])
    return found.assign(**{FAILED: sheet.failed()}) if has_catch else found


def _counted(kept: list[_Sheet], people: "pandas.DataFrame") -> list[str]:
    """How many people answered how much."""
    total = int(people["answered"].sum())
    sentences = [f"{_people(len(people))}, {plural(total, 'answer')}."]
    early = people[people["answered"] < people["planned"]]
    if len(early):
        named = [f"{person} ({row.answered} of {row.planned})" for person, row in early.head(_SHOWN).iterrows()]
        more = f" and {len(early) - _SHOWN:,} more" if len(early) > _SHOWN else ""
        sentences.append(f"{_people(len(early))} stopped early: {', '.join(named)}{more}.")
    left = [(part, sum(sheet.trials(part) for sheet in kept)) for part in (PRACTICE, CATCH)]
    if parts := [plural(number, f"{part} trial") for part, number in left if number]:
        sentences.append(f"Left out: {' and '.join(parts)}.")
    if FAILED in people and (people[FAILED] > 0).any():
        failed = people[people[FAILED] > 0]
        named = [f"{person} ({row[FAILED]})" for person, row in failed.head(_SHOWN).iterrows()]
        more = f" and {len(failed) - _SHOWN:,} more" if len(failed) > _SHOWN else ""
        sentences.append(
            f"{_people(len(failed))} failed catch trials: {', '.join(named)}{more}; a fit leaves them out by "
            f'where "{FAILED} == 0".'
        )
    return sentences


def _people(number: int) -> str:
    return "1 person" if number == 1 else f"{number:,} people"


def _left_out(others: list[str]) -> list[str]:
    """A word on files that hold something else."""
    if not others:
        return []
    verb = "holds" if len(others) == 1 else "hold"
    return [f"{plural(len(others), 'file')} {verb} no answers and stayed aside: {shorten(others, _SHOWN)}."]
