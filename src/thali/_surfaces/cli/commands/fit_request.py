"""A parsed `thali fit` command: model, typed options and their values."""

from pathlib import Path
from typing import Any, NamedTuple

from thali._data.kinds import EXPERIMENTS, PAIRS
from thali._labels import format_label, format_plural
from thali._model.aliases import normalise_method
from thali._model.command_line_options import TABLE_OPTIONS
from thali._model.default_models import (
    DIMENSIONS,
    MAX_OBJECTS,
    WORTHS,
    choose_default_model,
    choose_model,
    count_median_tasks,
)
from thali._model.finding_settings import AnswerSettings
from thali._model.model_spec import DATA, FIT, MODEL, REPORT, ModelSpec, Option
from thali._model.registry import SPECS
from thali._people.people_argument import Individuals, individuals_required_error
from thali.errors import Argument, ArgumentError, DataError, Setting, prefix_errors

from ..data_loading import NamedData, detect_data_kind, load_holdouts
from ..model_lookup import find_implied_model, find_model, resolve_alias, select_options
from ..model_options import index_options, select_table_arguments
from ..option_parsers import parse_option
from ..terminal_messages import Terminal
from .resume_status import OVERWRITE

LABELS = {WORTHS: "Bradley-Terry-Luce worths"}
MANY_COMPARISONS = 10_000  # for which the sentence names the fastest command
COMMAND_OPTIONS = (Option("model", "Name of the model."), OVERWRITE)  # for every model


class FitRequest(NamedTuple):
    """A parsed `thali fit` command: model, method, options, values."""

    spec: ModelSpec
    method: str
    options: dict[str, Option]  # word -> typed option
    values: dict[str, Any]  # word -> value, also of words that an alias or a method implies

    def arguments(self, destination: str) -> dict[str, Any]:
        """Return the arguments that go to MODEL, FIT, FEATURES, DATA or REPORT, by name."""
        argument_by_name = {
            option.target: self.values[word]
            for word, option in self.options.items()
            if option.to == destination
        }
        if destination == MODEL and self.spec.method_of_individuals:
            argument_by_name = merge_people(argument_by_name)
        if destination == FIT and self.has_cores:  # such fits have a progress bar
            argument_by_name["progressbar"] = True
        return argument_by_name

    @property
    def has_cores(self) -> bool:
        """Whether the fit runs chains in parallel, so that --cores applies."""
        return any(option.name == "cores" for option in self.spec.select_options(self.method))

    @property
    def read_arguments(self) -> dict[str, Any]:
        """Arguments of the table's reader, with the file of holdout tasks."""
        return self.arguments(DATA) | {
            word: path for word, path in self.values.items() if word == "holdouts"
        }

    def settings(
        self, named_data: NamedData | None, data: Any, folder: Path = Path()
    ) -> AnswerSettings:
        """Build the settings of findings; read the market and holdout files.

        `named_data`: the table, None to skip the holdout tasks; `data`: the data of the fit;
        `folder`: where the command was typed.
        """
        from thali._choice.reports.market_tables import restore_saved_table
        from thali._reading.table_files import load_table

        settings: dict[str, Any] = {"cores": self.values.get("cores")} | self.arguments(REPORT)
        if "market" in settings:
            settings["market"] = restore_saved_table(
                data.scheme, load_table(folder / settings["market"]).frame
            )
        if settings.pop("holdouts", None) is not None and named_data is not None:
            settings["holdouts"] = load_holdouts(
                named_data, self.spec, self.read_arguments, data.scheme
            )
        if "actual" in settings:
            settings["actual"] = _read_shares(folder / settings["actual"])
        return AnswerSettings(**settings)


def merge_people(arguments: dict[str, Any]) -> dict[str, Any]:
    """Combine --people and --by into the argument `people` of the model."""
    described_columns = arguments.pop("by", None)
    if described_columns is None:
        return arguments
    if not isinstance(arguments.get("people"), Individuals | None):
        raise individuals_required_error()
    return arguments | {"people": Individuals(described_columns)}


def _read_shares(file: Path) -> dict[str, float]:
    """Read a file with columns product and share; return {product: share}."""
    from thali._reading.table_files import load_table

    frame = load_table(file).frame
    with prefix_errors(str(file)):
        if frame.shape[1] != 2 or frame.iloc[:, 1].dtype.kind not in "iuf":
            raise DataError(
                "A table of actual shares needs two columns: the product and its share, a number."
            )
        labels = frame.iloc[:, 0].map(format_label).tolist()
        for label in labels:
            if labels.count(label) > 1:
                raise DataError(
                    f"A table of actual shares must list each product once; {label!r} is listed"
                    " twice."
                )
    return dict(zip(labels, map(float, frame.iloc[:, 1]), strict=True))


def request_model(
    terminal: Terminal, spec: ModelSpec, alias: str, typed: dict[str, Any], data_name: str | None
) -> FitRequest:
    """Parse the typed options for a model; return the `FitRequest`."""
    terminal.use_options([*COMMAND_OPTIONS, *spec.options])
    if "method" in typed:
        typed = typed | {"method": normalise_method(typed["method"])}
    method = spec.choose_method(typed)
    if spec.methods and method not in spec.methods:
        message_parts = [
            Argument("method"),
            f" of {spec.name} must be one of {', '.join(spec.methods)}; got {method!r}",
        ]
        other_models = [
            other.name for other in SPECS if method in other.methods and spec.data[0] in other.data
        ]
        if other_models:
            message_parts += [", which requires ", Setting("model", other_models[0])]
        raise ArgumentError(*message_parts, ".")
    options = select_options(spec, method, typed, data_name)
    terminal.use_options([*COMMAND_OPTIONS, *spec.select_options(method)])
    values_by_word = {word: parse_option(option, typed[word]) for word, option in options.items()}
    values_by_word |= resolve_alias(spec, alias, typed)
    if not {spec.features, "tree"} & set(values_by_word):
        values_by_word |= spec.methods_mean.get(method, {})
    return FitRequest(spec, method, options, values_by_word)


def request_named_model(
    terminal: Terminal, model_name: str | None, typed: dict[str, Any]
) -> FitRequest | None:
    """Parse the options of the model that is named or implied; None if the data choose one."""
    spec = find_implied_model(typed)
    alias = ""
    if model_name is not None:
        spec, alias = find_model(model_name)
    if spec is None:
        return None
    return request_model(terminal, spec, alias, typed, None)


def parse_table_arguments(terminal: Terminal, typed: dict[str, Any]) -> dict[str, Any]:
    """Parse all typed options; return the options that describe the table."""
    options_by_word = {
        word: [option for _, option in owned] for word, owned in index_options().items()
    }
    # of options with equal names, --respondent of tables comes first
    first_options = [options[0] for options in options_by_word.values()]
    terminal.use_options([*COMMAND_OPTIONS, *TABLE_OPTIONS, *first_options])
    return select_table_arguments(
        {word: _parse_for_any_model(options_by_word[word], text) for word, text in typed.items()}
    )


def _parse_for_any_model(options: list[Option], text: str) -> Any:
    """Parse the text typed after an option of several models; raise if no model accepts it."""
    for option in options:
        try:
            return parse_option(option, text)
        except ArgumentError:
            continue
    # the error that lists the most words
    return parse_option(max(options, key=lambda option: len(option.words)), text)


def request_kind_model(
    terminal: Terminal,
    named_data: NamedData,
    read_arguments: dict[str, Any],
    typed: dict[str, Any],
) -> FitRequest:
    """Choose the model for the data's kind and the typed options."""
    kind_spec = choose_model(detect_data_kind(named_data, read_arguments=read_arguments), typed)
    # so that options of individuals are accepted with every method
    if kind_spec.method_of_individuals:
        typed = {"people": "individuals"} | typed
    return request_model(terminal, kind_spec, "", typed, named_data.name)


def request_default_model(
    terminal: Terminal, data: Any, typed: dict[str, Any]
) -> tuple[FitRequest, str]:
    """Choose the default model for the data; return its request, and a clause that names it."""
    offer, default_settings, alternatives = choose_default_model(data, typed)
    model_clause = f"; {LABELS.get(offer.name, offer.name.replace('-', ' '))}"
    model_clause += " with individual scores" * ("people" in default_settings)
    if offer.kind == EXPERIMENTS:
        model_clause += (
            f" ({format_plural(data.n_respondents, 'respondent')}, {count_median_tasks(data):g}"
            " tasks each)"
        )
    if offer.name == DIMENSIONS:
        model_clause += f" (features of more than {MAX_OBJECTS} objects are not stable)"
    if alternatives:
        model_clause += f" (alternative: --model {' or '.join(alternatives)})"
    if data.kind == PAIRS and data.n_comparisons >= MANY_COMPARISONS:
        model_clause += "; if ranks are enough, thali leaderboard answers in seconds"
    return request_model(
        terminal, offer.spec, offer.name, typed | default_settings, None
    ), model_clause
