"""`thali test`: classical tests of paired comparisons."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from thali._data.pairs import PairedComparisons
from thali._labels import format_plural, suggest
from thali._lazy_imports import load_object
from thali._model.printed_findings import build_printed_findings
from thali._model.spec import DATA, FEATURES, FIT, ModelSpec
from thali._printed import PrintedResult
from thali.errors import Argument, ArgumentError

from ..classical_tests import TESTS
from ..files import check_output_folder, format_tables, write_files
from ..loading import load_pairs
from ..model_arguments import parse_aspects
from ..model_choice import select_options
from ..option_values import parse_option
from ..terminal import Terminal, notify


def list_tests() -> None:
    """Print one line per test."""
    width = max(len(spec.name) for spec in TESTS)
    for spec in TESTS:
        print(f"{spec.name:<{width}}  {spec.answers}")


def find_test(name: str) -> ModelSpec:
    """Return the test with that name; capitals, hyphens and underscores are ignored."""
    plain_name = name.lower().replace("_", "-")
    for spec in TESTS:
        if plain_name in (spec.name, *spec.aliases):
            return spec
    names = [spec.name for spec in TESTS]
    all_names = [*names, *(alias for spec in TESTS for alias in spec.aliases)]
    raise ArgumentError(
        f"Unknown test {name!r}; available tests:"
        f" {', '.join(names)}.{suggest(plain_name, all_names)}"
    )


def run_test(
    terminal: Terminal,
    name: str,
    files: list[str],
    typed: dict[str, Any],
    out_folder: Path | None,
    formats: tuple[str, ...],
) -> PrintedResult:
    """Carry out a test, print its results and write its tables."""
    spec = find_test(name)
    options = select_options(spec, typed, None, TESTS)
    terminal.use_options(spec.options)
    check_output_folder(out_folder)
    value_by_name = {
        option.name: parse_option(option, typed[word]) for word, option in options.items()
    }

    def select_arguments(destination: str) -> dict[str, Any]:
        return {
            option.name: value_by_name[option.name]
            for option in options.values()
            if option.to == destination
        }

    if not files:
        raise ArgumentError(f"No data given; use thali test {spec.name} FILE.")
    if len(files) > 1 and spec.name not in ("group", "order"):
        raise ArgumentError(f"The test {spec.name} takes one file; got {len(files)}.")
    if spec.name == "wald" and "contrasts" not in value_by_name:
        raise ArgumentError("No contrast given; add one, such as --contrast tea=1,milk=-1.")
    runner = _RUNNERS.get(spec.name, _run_data_test)
    test_result = runner(spec, files, *map(select_arguments, (DATA, FEATURES, FIT)))
    try:
        if out_folder is not None:
            tables = test_result.tables().items()
            table_by_name = {
                spec.name if key == "table" else f"{spec.name}-{key}": table
                for key, table in tables
            }
            write_files(out_folder, format_tables(table_by_name, formats))
            notify(
                f"wrote {format_plural(len(table_by_name), 'table')} to the folder '{out_folder}'."
            )
    finally:
        folder = ["--out DIR (its tables)"] if out_folder is None else []
        print(
            test_result
            if terminal.prints_all
            else terminal.format_findings(
                build_printed_findings(test_result), ", ".join(files), *folder
            )
        )
    return test_result


TestRunner = Callable[[ModelSpec, list[str], dict[str, Any], dict[str, Any], dict[str, Any]], Any]


def _read_pairs(name: str, read_arguments: dict[str, Any]) -> Any:
    """Read comparisons from a file, and print how they were read."""
    data, reading_sentence = load_pairs(name, read_arguments)
    notify(f"{name}: {reading_sentence}")
    return data


def _parse_aspects_option(
    typed: dict[str, Any], data: Any, name: str = "aspects"
) -> dict[str, Any]:
    """Return the argument for the aspects, if typed."""
    return (
        {name: parse_aspects(typed[name], data.labels, f"--{name}", ("unique",))}
        if name in typed
        else {}
    )


def _fit_aspects(data: Any, aspects: Any, fit: dict[str, Any]) -> Any:
    """Fit a model with these aspects by maximum likelihood."""
    import thali

    unique = fit.get("unique", True)
    return thali.EliminationByAspects(aspects, unique=unique, method="maximum-likelihood").fit(data)


def _read_and_fit(files: list[str], read_arguments: Any, aspects: Any, fit: dict[str, Any]) -> Any:
    """Read comparisons and fit a model with the typed aspects, or unique aspects."""
    data = _read_pairs(files[0], read_arguments)
    return _fit_aspects(
        data, **{"aspects": "unique"} | _parse_aspects_option(aspects, data), fit=fit
    )


def _run_data_test(
    spec: ModelSpec, files: list[str], read_arguments: Any, aspects: Any, fit: dict[str, Any]
) -> Any:
    """Run a test of comparisons, with aspects if typed."""
    if spec.name == "trinary" and not aspects:
        raise ArgumentError(
            "The trinary inequality requires a tree of options; give its aspects with --aspects"
            " FILE."
        )
    data = _read_pairs(files[0], read_arguments)
    return load_object(spec.cls)(data, **_parse_aspects_option(aspects, data), **fit)


def _run_circular(
    spec: ModelSpec, files: list[str], read_arguments: Any, aspects: Any, fit: dict[str, Any]
) -> Any:
    """Run the test of circular triads, per judge or for all judges together."""
    data = _read_pairs(files[0], read_arguments)
    is_separate = fit.pop("people", "each" if data.respondents else "together") == "each"
    return load_object(spec.cls)(data.by_respondent() if is_separate else data, **fit)


def _run_likelihood_ratio(
    spec: ModelSpec, files: list[str], read_arguments: Any, aspects: Any, fit: dict[str, Any]
) -> Any:
    """Run the likelihood-ratio test of two nested models."""
    if "larger" not in aspects:
        raise ArgumentError("The larger model has no aspects; give them with --larger FILE.")
    data = _read_pairs(files[0], read_arguments)
    aspects_by_role = (
        {"smaller": "unique"}
        | _parse_aspects_option(aspects, data, "smaller")
        | _parse_aspects_option(aspects, data, "larger")
    )
    return load_object(spec.cls)(
        *(_fit_aspects(data, aspects_by_role[name], fit) for name in ("smaller", "larger"))
    )


def _run_wald(
    spec: ModelSpec, files: list[str], read_arguments: Any, aspects: Any, fit: dict[str, Any]
) -> Any:
    """Run the Wald test of contrasts."""
    model = _read_and_fit(files, read_arguments, aspects, fit)
    return load_object(spec.cls)(
        model, fit["contrasts"], **({"scale": fit["scale"]} if "scale" in fit else {})
    )


def _run_group(
    spec: ModelSpec, files: list[str], read_arguments: Any, aspects: Any, fit: dict[str, Any]
) -> Any:
    """Run the test of groups, from one file or from one file per group."""
    column = fit.pop("group", None)
    if (column is None) == (len(files) == 1):
        raise ArgumentError(
            "Give groups as a column of one file, ",
            Argument("group"),
            " COLUMN, or as one file per group; got ",
            f"{format_plural(len(files), 'file')} and"
            f" {'no column' if column is None else f'column {column!r}'}.",
        )
    group_data = [_read_pairs(name, read_arguments) for name in files]
    data_by_file = {Path(file).stem: data for file, data in zip(files, group_data, strict=True)}
    groups = data_by_file if column is None else group_data[0].by_group(column)
    if len(groups) < len(files):
        raise ArgumentError(
            "Two files have the same name, which is the name of the group; rename one."
        )
    return load_object(spec.cls)(groups, **_parse_aspects_option(aspects, group_data[0]), **fit)


def _run_order(
    spec: ModelSpec, files: list[str], read_arguments: Any, aspects: Any, fit: dict[str, Any]
) -> Any:
    """Run the test of order effects, from one or two files."""
    if len(files) > 2:
        raise ArgumentError(
            f"The order test takes one file of trials or two files of counts; got {len(files)}."
        )
    order_data = [_read_pairs(name, read_arguments) for name in files]
    if (
        len(order_data) == 1
        and isinstance(order_data[0], PairedComparisons)
        and order_data[0].forward is None
    ):
        raise ArgumentError(
            f"{files[0]} does not show which option came first; give a table with one trial (or"
            " game) per row, or two files of counts: pairs shown in the order of the labels, and"
            " pairs shown in the opposite order."
        )
    return load_object(spec.cls)(
        *order_data, **_parse_aspects_option(aspects, order_data[0]), **fit
    )


def _run_bootstrap(
    spec: ModelSpec, files: list[str], read_arguments: Any, aspects: Any, fit: dict[str, Any]
) -> Any:
    """Run the bootstrap of respondents."""
    data = _read_pairs(files[0], read_arguments)
    return load_object(spec.cls)(
        data.by_respondent(), **_parse_aspects_option(aspects, data), **fit
    )


def _run_parametric_bootstrap(
    spec: ModelSpec, files: list[str], read_arguments: Any, aspects: Any, fit: dict[str, Any]
) -> Any:
    """Run the parametric bootstrap of a fitted model."""
    model = _read_and_fit(files, read_arguments, aspects, fit)
    fit.pop("unique", None)
    return load_object(spec.cls)(model, **fit)


_RUNNERS: dict[str, TestRunner] = {
    "circular": _run_circular,
    "likelihood-ratio": _run_likelihood_ratio,
    "wald": _run_wald,
    "group": _run_group,
    "order": _run_order,
    "bootstrap": _run_bootstrap,
    "parametric-bootstrap": _run_parametric_bootstrap,
}
