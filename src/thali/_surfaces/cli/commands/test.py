"""`thali test`: classical tests of paired comparisons."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from thali._data.pairs import PairedComparisons
from thali._labels import plural, suggest
from thali._late import load
from thali._model.printed_findings import build_printed_findings
from thali._model.spec import DATA, FEATURES, FIT, ModelSpec
from thali._printed import Printed
from thali.errors import Argument, ArgumentError

from ..boundary import Terminal, notify
from ..classical import TESTS
from ..files import check_out, table_files, write_all
from ..loading import load_pairs
from ..models import options_of
from ..naming_models import parse_aspects
from ..values import value_of


def list_tests() -> None:
    """Print one line for each test."""
    wide = max(len(spec.name) for spec in TESTS)
    for spec in TESTS:
        print(f"{spec.name:<{wide}}  {spec.answers}")


def test_named(name: str) -> ModelSpec:
    """The test of that name, or of its name in Python; capitals, hyphens, underscores do not
    matter."""
    plain = name.lower().replace("_", "-")
    for spec in TESTS:
        if plain in (spec.name, *spec.aliases):
            return spec
    names = [spec.name for spec in TESTS]
    every = [*names, *(alias for spec in TESTS for alias in spec.aliases)]
    raise ArgumentError(
        f"Unknown test {name!r}; available tests: {', '.join(names)}.{suggest(plain, every)}"
    )


def run_test(
    terminal: Terminal,
    name: str,
    files: list[str],
    typed: dict[str, Any],
    out: Path | None,
    formats: tuple[str, ...],
) -> Printed:
    """Carry out a test, print its answer, and write its tables."""
    spec = test_named(name)
    options = options_of(spec, typed, None, TESTS)
    terminal.know(spec.options)
    check_out(out)
    values = {option.name: value_of(option, typed[word]) for word, option in options.items()}

    def of(to: str) -> dict[str, Any]:
        return {option.name: values[option.name] for option in options.values() if option.to == to}

    if not files:
        raise ArgumentError(f"No data given; use thali test {spec.name} FILE.")
    if len(files) > 1 and spec.name not in ("group", "order"):
        raise ArgumentError(f"The test {spec.name} takes one file; got {len(files)}.")
    if spec.name == "wald" and "contrasts" not in values:
        raise ArgumentError("No contrast given; add one, such as --contrast tea=1,milk=-1.")
    result = _RUN.get(spec.name, _of_data)(spec, files, of(DATA), of(FEATURES), of(FIT))
    try:
        if out is not None:
            tables = result.tables().items()
            named = {
                spec.name if key == "table" else f"{spec.name}-{key}": table
                for key, table in tables
            }
            write_all(out, table_files(named, formats))
            notify(f"wrote {plural(len(named), 'table')} to the folder '{out}'.")
    finally:
        folder = ["--out DIR (its tables)"] if out is None else []
        print(
            result
            if terminal.is_whole
            else terminal.text(build_printed_findings(result), ", ".join(files), *folder)
        )
    return result


Run = Callable[[ModelSpec, list[str], dict[str, Any], dict[str, Any], dict[str, Any]], Any]


def _read(name: str, wanted: dict[str, Any]) -> Any:
    """The comparisons in a file; prints what was read."""
    data, recognised = load_pairs(name, wanted)
    notify(f"{name}: {recognised}")
    return data


def _aspects(typed: dict[str, Any], data: Any, name: str = "aspects") -> dict[str, Any]:
    """The argument for the aspects, if it was typed."""
    return (
        {name: parse_aspects(typed[name], data.labels, f"--{name}", ("unique",))}
        if name in typed
        else {}
    )


def _fitted(data: Any, aspects: Any, fit: dict[str, Any]) -> Any:
    """A model with these aspects, by maximum likelihood."""
    import thali

    unique = fit.get("unique", True)
    return thali.EliminationByAspects(aspects, unique=unique, method="maximum-likelihood").fit(data)


def _fitted_to(files: list[str], wanted: Any, aspects: Any, fit: dict[str, Any]) -> Any:
    """A model of the comparisons in a file, of unique aspects unless others were typed."""
    data = _read(files[0], wanted)
    return _fitted(data, **{"aspects": "unique"} | _aspects(aspects, data), fit=fit)


def _of_data(
    spec: ModelSpec, files: list[str], wanted: Any, aspects: Any, fit: dict[str, Any]
) -> Any:
    """A test that takes the data, and aspects perhaps."""
    if spec.name == "trinary" and not aspects:
        raise ArgumentError(
            "The trinary inequality requires a tree of options; give its aspects with --aspects"
            " FILE."
        )
    data = _read(files[0], wanted)
    return load(spec.cls)(data, **_aspects(aspects, data), **fit)


def _circular(
    spec: ModelSpec, files: list[str], wanted: Any, aspects: Any, fit: dict[str, Any]
) -> Any:
    data = _read(files[0], wanted)
    each = fit.pop("people", "each" if data.respondents else "together") == "each"
    return load(spec.cls)(data.by_respondent() if each else data, **fit)


def _likelihood_ratio(
    spec: ModelSpec, files: list[str], wanted: Any, aspects: Any, fit: dict[str, Any]
) -> Any:
    if "larger" not in aspects:
        raise ArgumentError("The larger model has no aspects; give them with --larger FILE.")
    data = _read(files[0], wanted)
    both = (
        {"smaller": "unique"}
        | _aspects(aspects, data, "smaller")
        | _aspects(aspects, data, "larger")
    )
    return load(spec.cls)(*(_fitted(data, both[name], fit) for name in ("smaller", "larger")))


def _wald(spec: ModelSpec, files: list[str], wanted: Any, aspects: Any, fit: dict[str, Any]) -> Any:
    model = _fitted_to(files, wanted, aspects, fit)
    return load(spec.cls)(
        model, fit["contrasts"], **({"scale": fit["scale"]} if "scale" in fit else {})
    )


def _group(
    spec: ModelSpec, files: list[str], wanted: Any, aspects: Any, fit: dict[str, Any]
) -> Any:
    column = fit.pop("group", None)
    if (column is None) == (len(files) == 1):
        raise ArgumentError(
            "Give groups as a column of one file, ",
            Argument("group"),
            " COLUMN, or as one file per group; got ",
            f"{plural(len(files), 'file')} and"
            f" {'no column' if column is None else f'column {column!r}'}.",
        )
    each = [_read(name, wanted) for name in files]
    named = {Path(file).stem: data for file, data in zip(files, each, strict=True)}
    groups = named if column is None else each[0].by_group(column)
    if len(groups) < len(files):
        raise ArgumentError(
            "Two files have the same name, which is the name of the group; rename one."
        )
    return load(spec.cls)(groups, **_aspects(aspects, each[0]), **fit)


def _order(
    spec: ModelSpec, files: list[str], wanted: Any, aspects: Any, fit: dict[str, Any]
) -> Any:
    if len(files) > 2:
        raise ArgumentError(
            f"The order test takes one file of trials or two files of counts; got {len(files)}."
        )
    each = [_read(name, wanted) for name in files]
    if len(each) == 1 and isinstance(each[0], PairedComparisons) and each[0].forward is None:
        raise ArgumentError(
            f"{files[0]} does not show which option came first; give a table with one trial (or"
            " game) per row, or two files of counts: pairs shown in the order of the labels, and"
            " pairs shown in the opposite order."
        )
    return load(spec.cls)(*each, **_aspects(aspects, each[0]), **fit)


def _bootstrap(
    spec: ModelSpec, files: list[str], wanted: Any, aspects: Any, fit: dict[str, Any]
) -> Any:
    data = _read(files[0], wanted)
    return load(spec.cls)(data.by_respondent(), **_aspects(aspects, data), **fit)


def _parametric(
    spec: ModelSpec, files: list[str], wanted: Any, aspects: Any, fit: dict[str, Any]
) -> Any:
    model = _fitted_to(files, wanted, aspects, fit)
    return load(spec.cls)(model, **{name: value for name, value in fit.items() if name != "unique"})


_RUN: dict[str, Run] = {
    "circular": _circular,
    "likelihood-ratio": _likelihood_ratio,
    "wald": _wald,
    "group": _group,
    "order": _order,
    "bootstrap": _bootstrap,
    "parametric-bootstrap": _parametric,
}
