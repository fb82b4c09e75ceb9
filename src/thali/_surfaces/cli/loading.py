"""The data that the command line was given: bundled or a file, comparisons, choices or
similarities."""

import math
import os
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thali._data.kinds import PAIRS, SPECS
from thali._inference.warn import silence_warnings
from thali._labels import plural, shorten
from thali._model.options import RESPONDENT
from thali._model.spec import ModelSpec
from thali._source import Source, read_source, read_standard_input
from thali.errors import Argument, Clause, DataError, Setting

from .boundary import OptionWords
from .models import model_for

if TYPE_CHECKING:
    from thali._data.experiments import ChoiceExperiment
    from thali._data.experiments.scheme import Scheme
    from thali._reading.shape import Reading
    from thali._reading.table import RawTable
    from thali.datasets import Dataset

_CLASSES = (
    " If one column contains classes and the others are covariates, name it: thali fit FILE"
    " --target COLUMN."
)
_TIES = {"half": "counted as half a choice for each option", "drop": "dropped"}
_TRIALS = (
    " If each row is a trial with two options, name the columns: thali fit FILE --first COLUMN"
    " --second COLUMN --chosen COLUMN."
)
_SETS = (
    " If each row is an alternative of a choice set, name their column: thali fit FILE"
    " --alternative COLUMN."
)


_OPTIONS = (
    " If the columns are covariates of options in other comparisons: thali fit COMPARISONS"
    " --option-covariates FILE."
)


@dataclass(frozen=True)
class NamedData:
    """What DATA names: a bundled data set, or a file, which is read once and parsed once for all
    who look at it."""

    name: str
    bundled: "Dataset | None"
    source: Source  # empty if bundled

    @cached_property
    def table(self) -> "RawTable":
        """The table in the file."""
        from thali._reading.table import load

        return load(self.source)


def find_data(name: str) -> NamedData:
    """The bundled data set or file of that name, "-" being what is piped in; a name that is both is
    the bundled one."""
    from thali import datasets
    from thali._labels import suggest

    bundled = {record.name: record for record in datasets.catalogue()}
    if name in bundled:
        return NamedData(name, bundled[name], Source(name, b""))
    if name == "-":
        return NamedData(name, None, read_standard_input())
    if not os.path.lexists(name) and not Path(name).suffix and not {"/", "\\"} & set(name):
        raise DataError(
            f"No file or bundled data set is called {name!r}; bundled data sets:"
            f" {', '.join(bundled)}.{suggest(name, list(bundled))}"
        )
    return NamedData(name, None, read_source(name))


def kind_of_data(
    found: NamedData, leave_out: bool = False, wanted: dict[str, Any] | None = None
) -> str:
    """Return the kind of these data.

    `leave_out`: columns that describe the alternatives of choices are left out unasked. `wanted`:
    what is known of the table besides, whichever model's data it is.
    """
    known = [spec for spec in SPECS if spec.is_recognised and not (leave_out and spec.is_described)]
    kinds = tuple(spec.kind for spec in known)
    return (
        found.bundled.kind
        if found.bundled is not None
        else reading_of(found.table, kinds, wanted or {}).kind
    )


def load(
    found: NamedData, spec: ModelSpec, wanted: dict[str, Any], is_named: bool = False
) -> tuple[Any, str]:
    """The data for that model, which `is_named` or follows from them; what `recognised` says of
    them in a sentence."""
    data, sentences, could_be = recognised(found, spec, wanted)
    says = could_be and not is_named
    other = [f"if these are {could_be}, add --model {model_for(could_be).name}"] if says else []
    return data, "; ".join([sentences[0], *other, *sentences[1:]])


def load_held_out(
    found: NamedData, spec: ModelSpec, wanted: dict[str, Any], scheme: "Scheme"
) -> "ChoiceExperiment":
    """The tasks that are held out, with the attributes and levels of the whole table, and the bins
    of the fit."""
    from thali._data.experiments.scheme import find_none_rows
    from thali._reading.shapes.experiments import WIDE

    wanted = wanted | {
        "bins": {each.name: list(each.cuts) for each in scheme.attributes if each.cuts} or None
    }
    with silence_warnings():  # which those that are fitted give
        whole = reading_of(found.table, spec.data, wanted | {"holdouts": None}).build()[0].scheme
        levels = {each.name: list(each.levels) for each in whole.attributes if not each.cuts}
        wanted |= {"levels": levels, "held_out": True}
        try:
            held_out = reading_of(found.table, spec.data, wanted)
            if whole.none and wanted.get("bought") is None:
                is_long = held_out.shape != WIDE.name  # in a wide one all tasks have it
                if (
                    is_long
                    and held_out.table is not None
                    and not find_none_rows(held_out.table.frame, whole.none).any()
                ):
                    held_out = reading_of(found.table, spec.data, wanted | {"none": None})
            return held_out.build()[0]
        except DataError as error:
            raise DataError(Argument("holdouts"), f" {wanted['holdouts']}: ", error) from None


def load_pairs(name: str, wanted: dict[str, Any]) -> tuple[Any, str]:
    """The data of that name for commands that take paired comparisons alone, and the same of
    them."""
    data, sentences, _ = recognised(find_data(name), model_for(PAIRS), wanted | {"asks": True})
    return data, "; ".join(sentences)


def recognised(
    found: NamedData, spec: ModelSpec, wanted: dict[str, Any]
) -> tuple[Any, list[str], str]:
    """The data for that model, and what they were recognised as."""
    from thali._aspects.choice_dependence import choice_design_effect
    from thali._data.judged import Judged
    from thali._data.people import list_differing_columns

    if found.bundled is not None:
        data, sentence = _bundled(found.bundled, spec, wanted)
        sentences, could_be = [sentence], ""
    else:
        reading = reading_of(found.table, spec.data, wanted)
        could_be = reading.other_kind
        try:
            data, sentence = reading.build(OptionWords([RESPONDENT]))
        except DataError as error:
            if not could_be:
                raise
            hint = Clause(
                f" If these are {could_be}, add ", Setting("model", model_for(could_be).name), "."
            )
            raise DataError(error, hint) from None
        sentences = [sentence]
    if isinstance(data, Judged) and (example := data.example()):
        sentences.append(f"e.g. {example}")
    if (column := wanted.get("group")) is not None:
        return *_by_group(found, spec, wanted, data, column, sentences), could_be
    if not isinstance(data, Judged):
        return data, sentences, could_be
    if data.respondents:
        differing = list_differing_columns(data.people)
        about = f" (respondent columns: {shorten(differing)})" if differing else ""
        effect = choice_design_effect(data)
        known = "" if math.isnan(effect) else f"; design effect {effect:.2g}"
        people = (
            f"{len(data.respondents):,} respondents"
            if len(data.respondents) > 1
            else "1 respondent"
        )
        sentences.append(f"{data.answers_in_words} from {people}{about}{known}")
    if (path := wanted.get("option_covariates")) is not None:
        data = with_option_covariates(data, path)
        sentences.append(f"covariates of options: {shorten(data.covariates.names, 12)}")
    ties = wanted.get("ties")
    if data.n_ties and ties in _TIES:
        sentences.append(f"{plural(data.n_ties, 'tie')} {_TIES[ties]}")
        data = data.without_ties(ties)
    return data, sentences, could_be


def _by_group(
    found: NamedData,
    spec: ModelSpec,
    wanted: dict[str, Any],
    data: Any,
    column: str,
    sentences: list[str],
) -> tuple[Any, list[str]]:
    """The comparisons of each group of people by a column of the table, or of each person by that
    of who answered."""
    from thali._data.groups import GroupedData

    if not data.add_up:
        groups = GroupedData(_by_rows(found.table, spec, wanted, column))
        return groups, [*sentences, f"by {column!r}: {groups}"]
    if data.people is not None and column in map(str, data.people.columns):
        groups = GroupedData(data.by_group(column))
    else:
        by_person, _ = reading_of(found.table, spec.data, wanted | {"respondent": column}).build()
        if data.respondents and by_person.respondents != data.respondents:
            data.by_group(column)  # which says what is wrong with the column
        groups = GroupedData(by_person.by_respondent())
    if len(groups) == 1:
        raise DataError(
            f"Column {column!r} contains only {groups.names[0]!r}; remove ", Argument("group"), "."
        )
    if len(groups) == data.n_answers:
        raise DataError(
            f"Column {column!r} has a different value in every row; name a column with repeated"
            " values."
        )
    if wanted.get("ties") in _TIES:
        groups = groups.without_ties(wanted["ties"])
    return groups, [*sentences, f"by {column!r}: {groups}"]


def _by_rows(
    table: "RawTable", spec: ModelSpec, wanted: dict[str, Any], name: str
) -> dict[str, Any]:
    """The data in the rows with each value of a column, of data that do not keep who gave which
    answer."""
    from thali._data.columns import get_column
    from thali._labels import as_label
    from thali._reading.table import prefix_errors

    with prefix_errors(table.file):
        values = get_column(table.frame, name).map(as_label)
    parts = {}
    for value in filter(None, dict.fromkeys(values)):  # an empty cell is in no group
        rows = replace(
            table, frame=table.frame.loc[values == value], file=f"{table.file}, {name} {value!r}"
        )
        parts[value] = reading_of(rows, spec.data, wanted).build()[0]
    if len(parts) == 1:
        raise DataError(
            f"Column {name!r} contains only {next(iter(parts))!r}; remove ", Argument("group"), "."
        )
    return parts


def with_option_covariates(data: Any, path: Path) -> Any:
    """The comparisons with the covariates of options in a table whose first column holds the
    labels."""
    from thali._reading.table import prefix_errors, read_table

    frame = read_table(path)
    with prefix_errors(str(path)):
        if frame.shape[1] < 2:
            raise DataError(
                "A table of option covariates needs the labels in its first column and at least"
                " one other column."
            )
        return data.with_option_covariates(frame.set_index(frame.columns[0]))


def reading_of(table: "RawTable", kinds: tuple[str, ...], wanted: dict[str, Any]) -> "Reading":
    """How the file is read; errors name the options that decide where that is unclear."""
    from thali._reading.recognise import RecognitionError, recognise

    try:
        return recognise(table, *kinds, **wanted)
    except RecognitionError as error:
        models = dict.fromkeys(model_for(kind).name for kind in error.kinds)
        if not models and not error.nearest_shape and PAIRS in kinds:
            raise DataError(
                error, _TRIALS + _SETS + _CLASSES + _OPTIONS * _names_options(table)
            ) from None
        named = [part for name in models for part in (" or ", Setting("model", name))]
        raise DataError(error, Clause(" Add ", *named[1:], ".") if named else "") from None


def _names_options(table: "RawTable") -> bool:
    """Whether the first column has another text in every row, as one of labels has."""
    first = table.frame.iloc[:, 0]
    return first.dtype.kind not in "biuf" and first.is_unique


def _bundled(record: "Dataset", spec: ModelSpec, wanted: dict[str, Any]) -> tuple[Any, str]:
    from thali import datasets

    if record.kind not in spec.data:
        raise DataError(
            f"{spec.name} requires {spec.data[0]}, but {record.name!r} contains {record.kind}",
            Clause("; remove ", Argument("model")),
            ".",
        )
    of_table = [name for name in wanted if name not in ("option_covariates", "asks")]
    if of_table:
        name = Argument(of_table[0])
        raise DataError(
            name,
            f" applies to files only; {record.name!r} is a bundled data set. Remove this argument.",
        )
    return datasets.load(record.name), f"bundled data set, {record.description}; {record.source}"
