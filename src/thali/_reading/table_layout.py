"""Classes for table layouts: `Shape` recognises one, `Reading` converts a table to data."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from thali._data.base_classes import Frozen
from thali._data.choice_marks import is_response_time
from thali._data.column_guesses import ColumnsRead, Lack, list_respondent_candidates
from thali._data.column_readers import collect_notes, get_column, is_row_number
from thali._data.column_roles import Role
from thali._data.kinds import PAIRS, SIMILARITIES
from thali._data.respondent_table import list_differing_columns
from thali._data.suspicious_data import (
    find_repeated_tasks,
    find_speeders,
    refuse_missing_codes,
    warn_each,
)
from thali._labels import format_plural, shorten
from thali.errors import (
    PYTHON,
    Argument,
    Clause,
    DataError,
    Message,
    Setting,
    Value,
    Words,
    prefix_errors,
)

from .practice_rows import warn_about_practice
from .table_files import RawTable


def keep_given(*names: str | None) -> tuple[str, ...]:
    """Return the names that are given, without None and empty ones."""
    return tuple(filter(None, names))


@dataclass(frozen=True)
class Reading:
    """A recognised layout of one table, which `build` converts to data."""

    kind: str  # kind of data, one of `thali._data.kinds`
    shape: str  # its name
    # such as "long table, 'winner' chosen over 'loser', one comparison per row"
    description: str
    table: RawTable | None  # None: a bundled data set
    convert: Callable[[], tuple[Any, str]]  # returns the data and a description
    sure: bool = True  # False: used only if no reading is sure
    other_kind: str = ""  # another possible kind of data
    roles: ColumnsRead | None = None  # columns read, for tables of answers
    extra_columns: tuple[str | None, ...] | None = (
        None  # other columns read; None without roles: all
    )
    has_questions: bool = False  # whether answers such as Q1, Q2 have their questions beside them
    doubt: Message | None = None  # question to ask if the kind of data was not given

    def build(self, words: Words = PYTHON) -> tuple[Any, str]:
        """Convert the table to data; also return a sentence on how it was read.

        Errors name the file.
        """
        if self.table is None:
            return self.convert()
        with prefix_errors(self.table.file), collect_notes() as clauses:
            data, sentence = self.convert()
            scheme = getattr(data, "scheme", None)
            warn_about_practice(self.table, data)
            self._check_codes(self.table, scheme)
            roles = self.roles
            if roles is not None and roles.who is not None and roles.answer is None:
                warn_each(find_repeated_tasks(self.table.frame, roles.who, roles.all))
        for clause in (*self._describe_other_columns(self.table, data, scheme), *clauses):
            if isinstance(clause, Message):
                clause = clause.render(words)
            sentence += clause
        if self.table.note:
            sentence += f"; {self.table.note}"
        return data, sentence

    def _check_codes(self, table: RawTable, scheme: Any) -> None:
        """Raise DataError if numbers that are read contain a code of a missing answer."""
        measures = "levels"
        names: Iterable[str] = ()
        if scheme is not None:
            names = [name for name in table.names if any(part in name for part in scheme.names)]
        elif self.roles is not None and self.kind == SIMILARITIES:
            measures = "similarities"
            names = self.roles.outcome
        elif self.roles is not None and self.kind == PAIRS and len(self.roles.outcome) == 2:
            measures = "scores"
            names = self.roles.outcome
        names = [name for name in names if name not in table.filter_columns]
        refuse_missing_codes(table.frame.loc[:, names], measures)

    def _describe_other_columns(
        self, table: RawTable, data: Frozen, scheme: Any
    ) -> Iterator[str | Message]:
        """Yield clauses on columns of respondents, unused ones and possible respondents."""
        people_columns = list_differing_columns(getattr(data, "people", None))
        if people_columns:
            yield f"; respondent columns: {shorten(people_columns)}"
        roles = self.roles
        if roles is None and self.extra_columns is None:
            return
        respondent = None
        attributes: Iterable[str] = ()
        used_columns = {*(self.extra_columns or ()), *table.filter_columns, *people_columns}
        if roles is not None:
            respondent = roles.who
            used_columns |= roles.all
        if scheme is not None:
            respondent = scheme.respondent
            attributes = scheme.names
            used_columns |= {respondent, scheme.task, scheme.alternative, scheme.chosen}
            used_columns |= {*attributes, *dict(scheme.none)}
            # a clause reports row numbers
            used_columns |= {
                name for name in table.names if is_row_number(get_column(table.frame, name))
            }
        unused_columns = [
            name
            for name in table.names
            if name not in used_columns and not name.startswith("column ")
        ]
        if unused_columns:
            yield f"; columns not used: {shorten(unused_columns)}"
        if roles is not None and len(roles.counts) == 1:
            n_zeros = int((get_column(table.frame, *roles.counts) == 0).sum())
            if n_zeros:
                yield f"; {format_plural(n_zeros, 'row')} with a count of 0"
        if respondent in table.names:
            yield from _describe_speeders(table, respondent, attributes)
        if unused_columns and roles is not None and not getattr(data, "respondents", ()):
            if possible_names := list_respondent_candidates(
                table.frame.loc[:, [*roles.all, *unused_columns]], roles
            ):
                yield Message(
                    "; no respondent column was recognised (perhaps"
                    f" {shorten(possible_names)}?); give its name with ",
                    Argument("respondent"),
                )


def _describe_speeders(
    table: RawTable, respondent: str, attributes: Iterable[str]
) -> Iterator[str]:
    """Yield clauses on respondents who answered much faster than the others."""
    for name in filter(is_response_time, table.names):
        speeders = find_speeders(table.frame, respondent, name)
        if speeders and name not in attributes:
            yield (
                f"; answered in less than a third of the usual time (column {name!r}):"
                f" {shorten(speeders)}"
            )


OF_DISTANCES = Clause(
    ". For distances, set ",
    Setting("dissimilarities", "linear"),
    " or ",
    Value("dissimilarities", "exponential"),
)


def raise_error(message: str) -> Any:
    """Raise DataError with this message (an expression, for lambdas)."""
    raise DataError(message)


@dataclass(frozen=True)
class Shape:
    """A known table layout: function that recognises it, its arguments and words."""

    name: str
    kind: str  # kind of data
    # called with a table and the arguments of the shape; None: another shape
    match: Callable[..., Reading | None]
    expected: str = ""  # short description, for errors about unknown tables; "": named in none
    roles: tuple[Role, ...] = ()  # roles of columns that can be named: keyword arguments of `match`
    settings: tuple[str, ...] = ()  # other keyword arguments of `match`
    named_by: tuple[str, ...] = ()  # arguments that select this shape
    main: tuple[str, ...] = ()  # arguments that name the main columns
    # returns the missing column of a table that nearly has this shape
    lacks: Callable[[RawTable], "Lack | None"] = lambda table: None

    @property
    def options(self) -> tuple[str, ...]:
        """Names of all keyword arguments that `match` takes for this layout."""
        return (*(role.name for role in self.roles), *self.settings)
