"""Loading of the data named on the command line: bundled data sets and files."""

import math
import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thali._data.kinds import PAIRS, SPECS
from thali._inference.user_warnings import silence_warnings
from thali._input_files import Source, read_source, read_standard_input
from thali._labels import format_plural, shorten, suggest
from thali._model.command_line_options import RESPONDENT
from thali._model.default_models import choose_model
from thali._model.model_spec import ModelSpec
from thali.errors import Argument, Clause, DataError, Setting, prefix_errors

from .terminal_messages import OptionWords

if TYPE_CHECKING:
    from thali._data.experiments import ChoiceExperiment
    from thali._data.experiments.product_encoding import Scheme
    from thali._reading.table_files import RawTable
    from thali._reading.table_layout import Reading
    from thali.datasets import Dataset

_TIES = {"half": "counted as half a choice for each option", "drop": "dropped"}
_SHAPES = (
    " If each row is a trial with two options, give the columns: thali fit FILE --first COLUMN"
    " --second COLUMN --chosen COLUMN. If each row is an alternative of a choice set, give their"
    " column: thali fit FILE --alternative COLUMN. If one column contains classes and the others"
    " are covariates, give its name: thali fit FILE --target COLUMN."
)
_OPTIONS = (
    " If the columns are covariates of options in other comparisons: thali fit COMPARISONS"
    " --option-covariates FILE."
)


@dataclass(frozen=True)
class NamedData:
    """Data named on the command line: a bundled data set, or a file that is read once."""

    name: str
    bundled: "Dataset | None"
    source: Source  # empty if bundled

    @cached_property
    def table(self) -> "RawTable":
        """The file as `RawTable`, loaded at first use."""
        from thali._reading.table_files import load_table

        return load_table(self.source)


def find_data(data_name: str) -> NamedData:
    """Return the bundled data set or file with this name; "-" is standard input.

    If both exist, the bundled data set is returned.
    """
    from thali import datasets

    dataset_by_name = {record.name: record for record in datasets.catalogue()}
    if data_name in dataset_by_name:
        return NamedData(data_name, dataset_by_name[data_name], Source(data_name, b""))
    if data_name == "-":
        return NamedData(data_name, None, read_standard_input())
    if (
        not os.path.lexists(data_name)
        and not Path(data_name).suffix
        and not {"/", "\\"} & set(data_name)
    ):
        raise DataError(
            f"No file or bundled data set is called {data_name!r}; bundled data sets:"
            f" {', '.join(dataset_by_name)}.{suggest(data_name, list(dataset_by_name))}"
        )
    return NamedData(data_name, None, read_source(data_name))


def detect_data_kind(
    named_data: NamedData,
    omits_descriptions: bool = False,
    read_arguments: dict[str, Any] | None = None,
) -> str:
    """Return the kind of the data, recognised from the table.

    `omits_descriptions`: kinds of choice data with descriptions of alternatives are not considered.
    `read_arguments`: arguments about the table that apply to all kinds of data.
    """
    if named_data.bundled is not None:
        return named_data.bundled.kind
    candidate_kinds = tuple(
        spec.kind
        for spec in SPECS
        if spec.is_recognised and not (omits_descriptions and spec.is_described)
    )
    read_arguments = dict(read_arguments or {})
    # --anchor also names an option of an anchored scale
    if read_arguments.get("anchor") not in named_data.table.names:
        read_arguments.pop("anchor", None)
    return recognise_table(named_data.table, candidate_kinds, read_arguments).kind


def load_data(
    named_data: NamedData, spec: ModelSpec, read_arguments: dict[str, Any], is_named: bool = False
) -> tuple[Any, str]:
    """Read the data for a model; return them, and how they were read.

    `is_named`: whether the user named the model, so that other kinds of data are not mentioned.
    """
    data, sentences, other_kind = recognise_data(named_data, spec, read_arguments)
    if other_kind and not is_named:
        model_name = choose_model(other_kind).name
        sentences.insert(1, f"if these are {other_kind}, add --model {model_name}")
    return data, "; ".join(sentences)


def load_holdouts(
    named_data: NamedData, spec: ModelSpec, read_arguments: dict[str, Any], scheme: "Scheme"
) -> "ChoiceExperiment":
    """Read the holdout tasks, encoded with the levels of the fitted data."""
    from thali._data.experiments.product_encoding import find_none_rows
    from thali._reading.layouts.experiments import WIDE

    read_arguments = read_arguments | {
        "bins": {
            attribute.name: list(attribute.cuts)
            for attribute in scheme.attributes
            if attribute.cuts
        }
        or None
    }
    with silence_warnings():  # the fitted tasks give the same warnings
        reading = recognise_table(named_data.table, spec.data, read_arguments | {"holdouts": None})
        full_scheme = reading.build()[0].scheme
        levels_by_attribute = {
            attribute.name: list(attribute.levels)
            for attribute in full_scheme.attributes
            if not attribute.cuts
        }
        read_arguments |= {"levels": levels_by_attribute, "held_out": True}
        with prefix_errors(Argument("holdouts"), f" {read_arguments['holdouts']}"):
            reading = recognise_table(named_data.table, spec.data, read_arguments)
            if (
                full_scheme.none
                and read_arguments.get("bought") is None
                and reading.shape != WIDE.name  # in wide tables all tasks have it
                and reading.table is not None
                and not find_none_rows(reading.table.frame, full_scheme.none).any()
            ):
                reading = recognise_table(
                    named_data.table, spec.data, read_arguments | {"none": None}
                )
            return reading.build()[0]


def load_pairs(data_name: str, read_arguments: dict[str, Any]) -> tuple[Any, str]:
    """Read paired comparisons; return them, and how they were read."""
    from thali._data.pairs.dates import name_date_column

    named_data = find_data(data_name)
    if named_data.bundled is None:
        with prefix_errors(named_data.table.file):
            read_arguments = name_date_column(named_data.table.frame, read_arguments)
    else:
        read_arguments.pop("finds_date", None)
    data, sentences, _ = recognise_data(
        named_data, choose_model(PAIRS), read_arguments | {"asks": True}
    )
    return data, "; ".join(sentences)


def recognise_data(
    named_data: NamedData, spec: ModelSpec, read_arguments: dict[str, Any]
) -> tuple[Any, list[str], str]:
    """Read the data for a model; return them, sentences on them, another possible kind."""
    from thali._aspects.dependent_choices import choice_design_effect
    from thali._data.base_classes import Judged
    from thali._data.respondent_answers import name_respondents

    if named_data.bundled is not None:
        data, sentence = _load_bundled(named_data.bundled, spec, read_arguments)
        sentences = [sentence]
        other_kind = ""
    else:
        reading = recognise_table(named_data.table, spec.data, read_arguments)
        other_kind = reading.other_kind
        try:
            data, sentence = reading.build(OptionWords([RESPONDENT]))
        except DataError as error:
            if not other_kind:
                raise
            kind_hint = Clause(
                f" If these are {other_kind}, add ",
                Setting("model", choose_model(other_kind).name),
                ".",
            )
            raise DataError(error, kind_hint) from None
        sentences = [sentence]
    if isinstance(data, Judged) and (example_text := data.example()):
        sentences.append(f"e.g. {example_text}")
    if not isinstance(data, Judged):
        return data, sentences, other_kind
    if data.respondents:
        respondents = format_plural(len(data.respondents), name_respondents(data))
        sentence = f"{data.answers_in_words} from {respondents}"
        # that of items depends on how a board counts their ties
        design_effect = math.nan
        if name_respondents(data) == "respondent":
            design_effect = choice_design_effect(data)
        if not math.isnan(design_effect):
            sentence += f"; design effect {design_effect:.2g}"
        sentences.append(sentence)
    if (path := read_arguments.get("option_covariates")) is not None:
        data = add_option_covariates(data, path)
        sentences.append(f"covariates of options: {shorten(data.covariates.names, 12)}")
    ties_argument = read_arguments.get("ties")
    if data.n_ties and ties_argument in _TIES:
        sentences.append(f"{format_plural(data.n_ties, 'tie')} {_TIES[ties_argument]}")
        data = data.without_ties(ties_argument)
    return data, sentences, other_kind


def add_option_covariates(data: Any, path: Path) -> Any:
    """Add covariates of options, read from a file with labels in its first column."""
    from thali._reading.table_files import read_table

    frame = read_table(path)
    with prefix_errors(str(path)):
        if frame.shape[1] < 2:
            raise DataError(
                "A table of option covariates needs the labels in its first column and at least"
                " one other column."
            )
        return data.with_option_covariates(frame.set_index(frame.columns[0]))


def recognise_table(
    table: "RawTable", data_kinds: tuple[str, ...], read_arguments: dict[str, Any]
) -> "Reading":
    """Recognise a table's layout; errors name command-line options."""
    from thali._reading.layout_recognition import RecognitionError, recognise

    try:
        return recognise(table, *data_kinds, **read_arguments)
    except RecognitionError as error:
        if not error.kinds and not error.nearest_shape and PAIRS in data_kinds:
            remedy_parts = _SHAPES
            first_column = table.frame.iloc[:, 0]
            # distinct texts may be labels of options
            if first_column.dtype.kind not in "biuf" and first_column.is_unique:
                remedy_parts += _OPTIONS
            raise DataError(error, remedy_parts) from None
        if len(error.kinds) != 1:  # the error names the option that chooses one of several
            raise DataError(error) from None
        model_name = choose_model(error.kinds[0]).name
        raise DataError(error, Clause(" Add ", Setting("model", model_name), ".")) from None


def _load_bundled(
    record: "Dataset", spec: ModelSpec, read_arguments: dict[str, Any]
) -> tuple[Any, str]:
    """Load a bundled data set; return it, and a sentence on it."""
    from thali import datasets

    if record.kind not in spec.data:
        raise DataError(
            f"{spec.name} requires {spec.data[0]}, but {record.name!r} contains {record.kind}",
            Clause("; remove ", Argument("model")),
            ".",
        )
    for argument_name in read_arguments:
        if argument_name not in ("option_covariates", "asks", "shapes"):
            raise DataError(
                Argument(argument_name),
                f" applies to files only; {record.name!r} is a bundled data set. Remove this"
                " argument.",
            )
    return datasets.load(record.name), f"bundled data set, {record.description}; {record.source}"
