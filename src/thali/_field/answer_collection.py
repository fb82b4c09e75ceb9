"""`collect`: merging of a questionnaire's answer files into one table."""

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from thali._labels import escape_formula, format_plural, list_names, shorten
from thali._printed_result import PrintedResult, printed_dataclass
from thali.errors import DataError

if TYPE_CHECKING:
    import pandas

STUDY = "study"
PERSON = "person"
SEED = "seed"
STARTED = "started"
VERSION = "version"
PART = "part"
TRIAL = "trial"
TASK = "task"
PASSED = "passed"
PLANNED = "trials_planned"
_MAIN = "main"
_PRACTICE = "practice"
_CATCH = "catch"
FAILED = "catch_failed"
TIE = "no preference"  # in the column of chosen options
# columns about the questionnaire, not about its answers
_BOOKKEEPING = (STUDY, SEED, STARTED, VERSION, PART, PASSED, PLANNED)
_REQUIRED_COLUMNS = (STUDY, PERSON, SEED, STARTED, PART, PLANNED)
_ENDINGS = (".csv", ".txt", ".tsv", "")  # extensions of text tables
_MAX_NAMES = 5  # names in a sentence
_HEADER_BYTES, _HEADER_LINES = 1 << 16, 5  # bytes and lines searched for a header


@printed_dataclass
class Collected(PrintedResult):
    """Result of `collect`: answers, tables of respondents and files, notes.

    `.answers` is the table for a fit; `.table` has one row per respondent, `.files` one row per
    file; `.note` reports problems.
    """

    answers: "pandas.DataFrame"
    files: "pandas.DataFrame"


Row = dict[str, str]  # cells by column


class _AnswerSheet(NamedTuple):
    """Answers of one respondent in one session, from one file."""

    file: str
    study: str
    person: str
    seed: str
    started: str
    rows: dict[tuple[str, str], Row]  # by part and number of the trial
    n_planned: int

    @property
    def n_answered(self) -> int:
        """Number of answered main trials, without practice and catch trials."""
        return self.count_trials(_MAIN)

    @property
    def is_complete(self) -> bool:
        """Whether all planned main trials are answered."""
        return self.n_answered >= self.n_planned

    def count_trials(self, part: str) -> int:
        """Count the answered trials of a part, such as "practice"."""
        return sum(row[PART] == part for row in self.rows.values())

    def count_failed_catches(self) -> int:
        """Count the catch trials with a wrong answer."""
        return sum(row[PART] == _CATCH and row.get(PASSED) == "0" for row in self.rows.values())

    def compute_minutes(self) -> float:
        """Return the total response time in minutes."""
        response_times = [row.get("rt", "") for row in self.rows.values()]
        return (
            sum(int(time) for time in response_times if re.fullmatch("[0-9]{1,9}", time)) / 60_000
        )

    def contradicts(self, other_sheet: "_AnswerSheet") -> bool:
        """Return whether the other sheet answers a trial of this one differently."""
        return any(other_sheet.rows.get(key, row) != row for key, row in self.rows.items())


class _RowCounts:
    """Counts of used and omitted rows of each file, with reasons."""

    def __init__(self) -> None:
        self.rows: Counter[str] = Counter()
        self.omitted: dict[str, Counter[str]] = {}  # by reason, then by file
        self.unread: dict[str, str] = {}  # file -> reason

    def omit(self, file: str, reason: str, n_rows: int = 1) -> None:
        """Count omitted rows of a file."""
        self.omitted.setdefault(reason, Counter())[file] += n_rows

    def tabulate(self) -> "pandas.DataFrame":
        """Return a table of used and omitted rows, one row per file."""
        import pandas as pd

        table = (
            pd.DataFrame({"rows": self.rows, **self.omitted})
            .fillna(0)
            .astype(int)
            .rename_axis("file")
        )
        table.insert(1, "taken", table["rows"] - table.iloc[:, 1:].sum(axis=1))
        return table

    def describe(self) -> list[str]:
        """Return sentences on files with omitted rows or without answers."""
        sentences = [
            f"{format_plural(files.total(), 'row')} skipped ({reason}): {_format_facts(files)}."
            for reason, files in self.omitted.items()
            if reason not in (_PRACTICE, _CATCH)
        ]
        if self.unread:
            files = format_plural(len(self.unread), "file")
            sentences.append(f"{files} not read: {_format_facts(self.unread)}.")
        return sentences


def _trial_number(row: Row) -> str:
    """Return the trial number in a row, as text."""
    return row.get(TASK, row.get(TRIAL, ""))


def collect(folder: str | Path) -> Collected:
    """Merge the answer files of a questionnaire into one table.

    Practice and catch trials and repeated questionnaires are excluded. If a respondent has several
    questionnaires, the first complete one is used, or the one with most answers if none is
    complete. Respondents who stopped early or failed catch trials are reported and kept: the column
    `catch_failed` counts failures, so that `where="catch_failed == 0"` excludes these respondents
    from a fit. No file is changed.

    Parameters
    ----------
    folder : str or Path
        Folder of answer files, also in subfolders; a file contains one or several respondents.
        Files whose names begin with a dot are ignored.

    Returns
    -------
    Collected
        `answers`, the rows of all respondents; `table`, one row per respondent: file, answered,
        planned, minutes and, in studies with catch trials, catch_failed; `files`, one row per file:
        used rows, and omitted rows by reason; `note`, a report of problems.

    Raises
    ------
    DataError
        If the folder has no answer file, or no study has a majority of the questionnaires.
    """
    import pandas as pd

    folder = Path(folder)
    if not folder.is_dir():
        raise DataError(
            f"There is no folder {str(folder)!r}; name the folder that contains the answer files."
        )
    all_sheets: list[_AnswerSheet] = []
    row_counts = _RowCounts()
    for file, file_name in _list_files(folder):
        if file.suffix.lower() not in _ENDINGS:
            row_counts.unread[file_name] = "not a text table; save answers as CSV"
            continue
        try:
            file_sheets = _read_sheets(file, file_name, row_counts)
        except (ValueError, OSError) as error:
            row_counts.unread[file_name] = str(error).rstrip(".")
            continue
        all_sheets += file_sheets
        if file_name not in row_counts.rows:
            row_counts.unread[file_name] = f"missing columns {', '.join(_REQUIRED_COLUMNS)}"
    if not all_sheets:
        counts_text = " ".join(row_counts.describe()) or "It is empty."
        raise DataError(
            f"The folder {str(folder)!r} contains no answers to a questionnaire. {counts_text}"
        )
    used_sheets, notes = _select_sheets(_select_study(all_sheets, row_counts), row_counts)
    has_catch_trials = any(PASSED in row for sheet in used_sheets for row in sheet.rows.values())
    respondents = pd.DataFrame(
        {
            "file": [sheet.file for sheet in used_sheets],
            "answered": [sheet.n_answered for sheet in used_sheets],
            "planned": [sheet.n_planned for sheet in used_sheets],
            "minutes": [round(sheet.compute_minutes(), 1) for sheet in used_sheets],
        },
        pd.Index([escape_formula(sheet.person) for sheet in used_sheets], name=PERSON),
    )
    if has_catch_trials:
        respondents[FAILED] = [sheet.count_failed_catches() for sheet in used_sheets]
    answers = _parse_rows(
        [row for sheet in used_sheets for row in _list_answer_rows(sheet, has_catch_trials)]
    )
    for sheet in used_sheets:
        for trial_kind in (_PRACTICE, _CATCH):
            row_counts.omit(sheet.file, trial_kind, sheet.count_trials(trial_kind))
    note_text = " ".join([*_describe_sheets(used_sheets), *notes, *row_counts.describe()])
    return Collected(
        f"Answers to {used_sheets[0].study}", respondents, note_text, answers, row_counts.tabulate()
    )


def _list_files(folder: Path) -> list[tuple[Path, str]]:
    """Return (path, relative name) of all visible files in a folder, recursively."""
    paths = [
        (path, path.relative_to(folder)) for path in sorted(folder.rglob("*")) if path.is_file()
    ]
    return [
        (path, relative_path.as_posix().encode("utf-8", "backslashreplace").decode())
        for path, relative_path in paths
        if not any(part.startswith(".") for part in relative_path.parts)
    ]


def _read_sheets(file: Path, file_name: str, row_counts: _RowCounts) -> list[_AnswerSheet]:
    """Read the answer sheets in a file; [] if it is no answer file."""
    # A file with the right header that cannot be read is an error.
    from thali._reading.text_cells import decode_text, split_text_cells

    file_bytes = file.read_bytes()
    header_lines = decode_text(file_bytes[:_HEADER_BYTES]).split("\n")[:_HEADER_LINES]
    if not any(_is_answer_header(re.findall(r"\w+", line)) for line in header_lines):
        return []
    cells = split_text_cells(file_bytes, joined=True)
    if not _is_answer_header(cells.header):
        raise DataError(
            "The first line must contain the column names; remove the lines above them."
        )
    sheets: dict[tuple[str, ...], _AnswerSheet] = {}
    row_counts.rows[file_name] = len(cells.lines)
    for cells_of_row in zip(*cells.columns, strict=True):
        row = dict(zip(cells.header, cells_of_row, strict=True))
        if omission_reason := _find_fault(row):
            row_counts.omit(file_name, omission_reason)
            continue
        n_planned = int(row[PLANNED].partition(".")[0])
        new_sheet = _AnswerSheet(
            file_name, row[STUDY], row[PERSON], row[SEED], row[STARTED], {}, n_planned
        )
        sheet = sheets.setdefault((row[STUDY], row[PERSON], row[SEED], row[STARTED]), new_sheet)
        trial_key = row[PART], _trial_number(row)
        if sheet.rows.get(trial_key) == row:
            row_counts.omit(file_name, "repeats")
        elif trial_key in sheet.rows:
            row_counts.omit(file_name, "another answer to the same trial")
        elif row[PART] == _MAIN and sheet.is_complete:
            row_counts.omit(file_name, f"more than {PLANNED}")
        else:
            sheet.rows[trial_key] = row
    return [sheet for sheet in sheets.values() if sheet.rows]


def _find_fault(row: Row) -> str:
    """Return why a row is omitted; "" for a valid answer."""
    if row[STUDY] == STUDY:
        return "column names"  # of answers that were appended to others
    if not row[PERSON]:
        return f"{PERSON} is missing"
    if not _trial_number(row):
        return f"{TRIAL} is missing"
    if row[PART] not in (_MAIN, _PRACTICE, _CATCH):
        return f"{PART} is not {_MAIN}, {_PRACTICE} or {_CATCH}"
    if not re.fullmatch(r"[0-9]{1,6}(\.0*)?", row[PLANNED]):
        return f"{PLANNED} is not a number of trials"
    return ""


def _is_answer_header(names: list[str]) -> bool:
    """Return whether the column names belong to an answer file."""
    return set(_REQUIRED_COLUMNS) <= set(names) and bool({TRIAL, TASK} & set(names))


def _select_study(sheets: list[_AnswerSheet], row_counts: _RowCounts) -> list[_AnswerSheet]:
    """Return the sheets of the study that most sheets belong to."""
    sheet_counts = Counter(sheet.study for sheet in sheets)
    main_study, n_sheets = sheet_counts.most_common(1)[0]
    if 2 * n_sheets <= len(sheets):
        files_of_study = {
            name: sorted({sheet.file for sheet in sheets if sheet.study == name})
            for name in sheet_counts
        }
        study_names = list_names(
            f"{name!r} ({shorten(files_of_study[name], 2)})"
            for name, _ in sheet_counts.most_common()
        )
        raise DataError(
            f"The folder contains answers to {len(sheet_counts)} studies, {study_names}; put each"
            " study into a separate folder."
        )
    for sheet in sheets:
        if sheet.study != main_study:
            row_counts.omit(sheet.file, "of another study", len(sheet.rows))
    return [sheet for sheet in sheets if sheet.study == main_study]


def _select_sheets(
    sheets: list[_AnswerSheet], row_counts: _RowCounts
) -> tuple[list[_AnswerSheet], list[str]]:
    """Return one sheet per respondent, and sentences on the others."""
    # The first complete sheet is used, or the one with most answers.
    fullest_by_sender: dict[tuple[str, str, str], _AnswerSheet] = {}
    repeated_files = []
    contradictions = {}
    for sheet in sorted(sheets, key=lambda sheet: (-len(sheet.rows), sheet.file)):
        fullest_sheet = fullest_by_sender.setdefault(
            (sheet.person, sheet.seed, sheet.started), sheet
        )
        if sheet.contradicts(fullest_sheet):
            contradictions[sheet.person] = f"{fullest_sheet.file} used, {sheet.file} not used"
        elif sheet is not fullest_sheet:
            repeated_files.append(sheet.file)
    sheets_of_respondent: dict[str, list[_AnswerSheet]] = {}
    for sheet in sorted(fullest_by_sender.values(), key=lambda sheet: sheet.started):
        sheets_of_respondent.setdefault(sheet.person, []).append(sheet)
    used_sheets = [
        next((sheet for sheet in sheets if sheet.is_complete), None)
        or max(sheets, key=lambda sheet: sheet.n_answered)
        for sheets in sheets_of_respondent.values()
    ]
    for sheet in sheets:
        if not any(sheet is used_sheet for used_sheet in used_sheets):
            row_counts.omit(sheet.file, "of a questionnaire that is not used", len(sheet.rows))
    notes = []
    if repeated_files:
        files_text = shorten(list(dict.fromkeys(repeated_files)), _MAX_NAMES)
        notes.append(
            f"{format_plural(len(repeated_files), 'repeated questionnaire')} excluded:"
            f" {files_text}."
        )
    if contradictions:
        notes.append(
            f"Questionnaires of {format_plural(len(contradictions), 'respondent')} contradict each"
            f" other: {_format_facts(contradictions)}; ask who submitted them."
        )
    copying_respondents = _list_copies(used_sheets)
    if copying_respondents:
        notes.append(
            f"{format_plural(len(copying_respondents), 'respondent')} have the same seed and"
            " start time as other respondents, which suggests copied answers under another name:"
            f" {shorten(copying_respondents, _MAX_NAMES)}."
        )
    for is_complete, choice_text in (
        (True, "; the first complete questionnaire is used"),
        (False, " without completing one; the questionnaire with most answers is used"),
    ):
        repeaters = [
            sheet.person
            for sheet in used_sheets
            if len(sheets_of_respondent[sheet.person]) > 1 and sheet.is_complete == is_complete
        ]
        if repeaters:
            notes.append(
                f"{format_plural(len(repeaters), 'respondent')} answered several"
                f" times{choice_text}: {shorten(repeaters, _MAX_NAMES)}."
            )
    return used_sheets, notes


def _list_copies(sheets: list[_AnswerSheet]) -> list[str]:
    """Return the respondents whose seed and start time another respondent has, too."""
    respondents_by_origin: dict[tuple[str, str], list[str]] = {}
    for sheet in sheets:
        respondents_by_origin.setdefault((sheet.seed, sheet.started), []).append(sheet.person)
    return [name for names in respondents_by_origin.values() if len(names) > 1 for name in names]


def _list_answer_rows(sheet: _AnswerSheet, has_catch: bool) -> list[Row]:
    """Return a sheet's main trials, without bookkeeping columns."""
    answer_rows = []
    for row in sheet.rows.values():
        if row[PART] == _MAIN:
            # whoever sends a file chooses its columns and all that is in them
            answer_row = {
                escape_formula(name): escape_formula(cell)
                for name, cell in row.items()
                if name not in _BOOKKEEPING
            }
            if has_catch:
                answer_row[FAILED] = str(sheet.count_failed_catches())
            answer_rows.append(answer_row)
    return answer_rows


def _parse_rows(rows: list[Row]) -> "pandas.DataFrame":
    """Convert rows of texts to a data frame with numeric and text columns."""
    from thali._reading.table_files import build_raw_table
    from thali._reading.text_cells import TextTable

    column_names = list(dict.fromkeys(name for row in rows for name in row))
    columns = [[row.get(name, "") for row in rows] for name in column_names]
    return build_raw_table(TextTable(column_names, columns, range(len(rows))), "answers").frame


def _describe_sheets(used_sheets: list[_AnswerSheet]) -> list[str]:
    """Return sentences on numbers of respondents, answers, failed catch trials."""
    sentences = [
        f"{format_plural(len(used_sheets), 'respondent')},"
        f" {format_plural(sum(sheet.n_answered for sheet in used_sheets), 'answer')}."
    ]
    early_stops_by_respondent = {
        each.person: f"{each.n_answered} of {each.n_planned}"
        for each in used_sheets
        if not each.is_complete
    }
    if early_stops_by_respondent:
        sentences.append(
            f"{format_plural(len(early_stops_by_respondent), 'respondent')} stopped early:"
            f" {_format_facts(early_stops_by_respondent)}."
        )
    extra_trial_counts = [
        (part, sum(sheet.count_trials(part) for sheet in used_sheets))
        for part in (_PRACTICE, _CATCH)
    ]
    if extra_trial_texts := [
        format_plural(n_trials, f"{part} trial")
        for part, n_trials in extra_trial_counts
        if n_trials
    ]:
        sentences.append(f"Excluded: {list_names(extra_trial_texts)}.")
    failures_by_respondent = {
        each.person: n_trials for each in used_sheets if (n_trials := each.count_failed_catches())
    }
    if failures_by_respondent:
        sentences.append(
            f"{format_plural(len(failures_by_respondent), 'respondent')} failed catch trials:"
            f" {_format_facts(failures_by_respondent)}; to exclude such"
            f' respondents from a fit, use where="{FAILED} == 0".'
        )
    return sentences


def _format_facts(facts: Mapping[str, object]) -> str:
    """Format names with facts as "anna (2), ben (1)", the first few."""
    fact_texts = ", ".join(f"{name} ({fact})" for name, fact in list(facts.items())[:_MAX_NAMES])
    if len(facts) > _MAX_NAMES:
        fact_texts += f" and {len(facts) - _MAX_NAMES:,} more"
    return fact_texts
