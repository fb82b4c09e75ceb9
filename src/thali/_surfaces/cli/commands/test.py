"""`thali test`: classical tests of paired comparisons."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from thali._data.base_classes import Judged
from thali._data.pairs import PairedComparisons
from thali._labels import format_plural, suggest
from thali._lazy_imports import load_object
from thali._model.model_spec import DATA, FEATURES, FIT, ModelSpec
from thali._model.printed_table_findings import build_printed_findings
from thali._printed_result import PrintedResult
from thali.errors import Argument, ArgumentError

from ..classical_test_options import TESTS
from ..data_loading import load_pairs
from ..model_and_tree_parsers import parse_aspects
from ..model_lookup import select_options
from ..option_parsers import parse_option
from ..result_files import check_output_folder, list_inputs, write_tables
from ..terminal_messages import Terminal, notify


def list_tests() -> None:
    """Print name and question of each classical test."""
    name_width = max(len(spec.name) for spec in TESTS)
    for spec in TESTS:
        print(f"{spec.name:<{name_width}}  {spec.answers}")


def find_test(name: str) -> ModelSpec:
    """Return the spec of the classical test with this name or alias."""
    plain_name = name.lower().replace("_", "-")
    for spec in TESTS:
        if plain_name in (spec.name, *spec.aliases):
            return spec
    test_names = [spec.name for spec in TESTS]
    known_names = [*test_names, *(alias for spec in TESTS for alias in spec.aliases)]
    raise ArgumentError(
        f"Unknown test {name!r}; available tests:"
        f" {', '.join(test_names)}.{suggest(plain_name, known_names)}"
    )


def run_test(
    terminal: Terminal,
    name: str,
    files: list[str],
    typed: dict[str, Any],
    out_folder: Path | None,
    formats: tuple[str, ...],
    overwrite: bool = False,
) -> PrintedResult:
    """Run a classical test on files; print results, write tables."""
    spec = find_test(name)
    options = select_options(spec, "", typed, None, TESTS)
    terminal.use_options(spec.options)
    check_output_folder(out_folder)
    value_by_name = {
        option.name: parse_option(option, typed[word]) for word, option in options.items()
    }

    if not files:
        raise ArgumentError(f"No data given; use thali test {spec.name} FILE.")
    if len(files) > 1 and spec.name not in ("group", "order"):
        raise ArgumentError(f"The test {spec.name} takes one file; got {len(files)}.")
    if spec.name == "wald" and "contrasts" not in value_by_name:
        raise ArgumentError("No contrast given; add one, such as --contrast tea=1,milk=-1.")
    arguments_by_receiver: dict[str, dict[str, Any]] = {DATA: {}, FEATURES: {}, FIT: {}}
    for option in options.values():
        arguments_by_receiver[option.to][option.name] = value_by_name[option.name]
    run_function = _RUNNERS.get(spec.name, _run_data_test)
    test_result = run_function(TestRequest(spec, files, *arguments_by_receiver.values()))
    try:
        if out_folder is not None:
            table_by_name = {
                f"{spec.name}-{key}".removesuffix("-table"): table
                for key, table in test_result.tables().items()
            }
            inputs = list_inputs(files, typed)
            write_tables(out_folder, table_by_name, formats, inputs, overwrite)
            notify(
                f"wrote {format_plural(len(table_by_name), 'table')} to the folder '{out_folder}'."
            )
    finally:
        if terminal.prints_all:
            print(test_result)
        else:
            hints = []
            if out_folder is None:
                hints = ["--out DIR (its tables)"]
            findings = build_printed_findings(test_result)
            print(terminal.format_findings(findings, ", ".join(files), *hints))
    return test_result


class TestRequest(NamedTuple):
    """A parsed `thali test` command: test, files, arguments."""

    spec: ModelSpec
    files: list[str]
    read_arguments: dict[str, Any]
    aspects: dict[str, str]  # texts of options such as --aspects
    fit: dict[str, Any]

    def read_pairs(self, name: str) -> Any:
        """Read paired comparisons from a file; print how they were read."""
        data, reading_sentence = load_pairs(name, self.read_arguments)
        notify(f"{name}: {reading_sentence}")
        return data

    def parse_aspects(self, data: Judged) -> dict[str, Any]:
        """Return the typed argument for aspects, as {"aspects": ...} or {}."""
        return {
            name: parse_aspects(text, data.labels, f"--{name}", ("unique",))
            for name, text in self.aspects.items()
        }

    def fit_aspects(self, data: Judged, aspects: Any) -> Any:
        """Fit elimination by aspects with these aspects by maximum likelihood."""
        import thali

        has_unique = self.fit.get("unique", True)
        model = thali.EliminationByAspects(aspects, unique=has_unique, method="maximum-likelihood")
        return model.fit(data)

    def compute(self, *inputs: Any, **arguments: Any) -> Any:
        """Call the test's function with these data or models."""
        return load_object(self.spec.cls)(*inputs, **arguments)


def _run_data_test(request: TestRequest) -> Any:
    """Run a test that takes comparisons, and aspects if typed."""
    if request.spec.name == "trinary" and not request.aspects:
        raise ArgumentError(
            "The trinary inequality requires a tree of options; give its aspects with --aspects"
            " FILE."
        )
    data = request.read_pairs(request.files[0])
    return request.compute(data, **request.parse_aspects(data), **request.fit)


def _run_model_test(request: TestRequest) -> Any:
    """Fit a model with typed or unique aspects; run its Wald test or parametric bootstrap."""
    data = request.read_pairs(request.files[0])
    model = request.fit_aspects(data, request.parse_aspects(data).get("aspects", "unique"))
    arguments = {name: value for name, value in request.fit.items() if name != "unique"}
    return request.compute(model, **arguments)


def _run_circular(request: TestRequest) -> Any:
    """Run the test of circular triads, for each judge or for all together."""
    data = request.read_pairs(request.files[0])
    arguments = dict(request.fit)
    judge_choice = arguments.pop("people", None)
    if judge_choice == "each" or (judge_choice is None and data.respondents):
        data = data.by_respondent()
    return request.compute(data, **arguments)


def _run_likelihood_ratio(request: TestRequest) -> Any:
    """Fit two nested models; run their likelihood-ratio test."""
    if "larger" not in request.aspects:
        raise ArgumentError("The larger model has no aspects; give them with --larger FILE.")
    data = request.read_pairs(request.files[0])
    aspects = request.parse_aspects(data)
    smaller_model = request.fit_aspects(data, aspects.get("smaller", "unique"))
    return request.compute(smaller_model, request.fit_aspects(data, aspects["larger"]))


def _run_group(request: TestRequest) -> Any:
    """Run the test that groups agree, from one file or a file per group."""
    arguments = dict(request.fit)
    files = request.files
    group_column = arguments.pop("group", None)
    column_text = "no column"
    if group_column is not None:
        column_text = f"column {group_column!r}"
    if (group_column is None) == (len(files) == 1):
        raise ArgumentError(
            "Give groups as a column of one file, ",
            Argument("group"),
            " COLUMN, or as one file per group; got ",
            f"{format_plural(len(files), 'file')} and {column_text}.",
        )
    data_by_file = {Path(file).stem: request.read_pairs(file) for file in files}
    if len(data_by_file) < len(files):
        raise ArgumentError(
            "Two files have the same name, which is the name of the group; rename one."
        )
    first_data = next(iter(data_by_file.values()))
    data_by_group = data_by_file
    if group_column is not None:
        data_by_group = first_data.by_group(group_column)
    return request.compute(data_by_group, **request.parse_aspects(first_data), **arguments)


def _run_order(request: TestRequest) -> Any:
    """Run the test of order effects, from one file or a file per order."""
    files = request.files
    if len(files) > 2:
        raise ArgumentError(
            f"The order test takes one file of trials or two files of counts; got {len(files)}."
        )
    order_data = [request.read_pairs(file) for file in files]
    first_data = order_data[0]
    if (
        len(order_data) == 1
        and isinstance(first_data, PairedComparisons)
        and first_data.forward is None
    ):
        raise ArgumentError(
            f"{files[0]} does not show which option came first; give a table with one trial (or"
            " game) per row, or two files of counts: pairs shown in the order of the labels, and"
            " pairs shown in the opposite order."
        )
    return request.compute(*order_data, **request.parse_aspects(first_data), **request.fit)


def _run_bootstrap(request: TestRequest) -> Any:
    """Run the bootstrap over respondents."""
    data = request.read_pairs(request.files[0])
    return request.compute(data.by_respondent(), **request.parse_aspects(data), **request.fit)


_RUNNERS: dict[str, Callable[[TestRequest], Any]] = {
    "circular": _run_circular,
    "likelihood-ratio": _run_likelihood_ratio,
    "wald": _run_model_test,
    "group": _run_group,
    "order": _run_order,
    "bootstrap": _run_bootstrap,
    "parametric-bootstrap": _run_model_test,
}
