"""`thali design`: pairs or sets of options in a balanced order, or tasks of a choice experiment."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thali._data.roles import column_names
from thali._labels import format_plural, shorten
from thali._model.finding import ON_SCREEN, Brief, Finding, FindingMaker, Findings
from thali.errors import ArgumentError, DataError

from ..files import check_output_folder, format_tables, write_files
from ..terminal import Terminal, notify

if TYPE_CHECKING:
    import pandas


# number of respondents (None: find the required number), spread, and a fitted model
Simulation = tuple[int | None, float, Path | None]


def print_design(
    terminal: Terminal,
    options: list[str],
    out_folder: Path | None,
    formats: tuple[str, ...],
    simulation: Simulation | None,
    seed: int | None,
) -> None:
    """Print and write a balanced design of all pairs of options."""
    from thali import paired

    check_output_folder(out_folder)
    design = paired.pair_design(_parse_options(options))
    _write_and_print(
        terminal,
        {"Design": (design.note, design.table)} | _simulate_power(design.table, simulation, seed),
        out_folder,
        formats,
    )


def print_set_design(
    terminal: Terminal,
    options: list[str],
    size: int,
    per_person: int | None,
    versions: int,
    seed: int | None,
    out_folder: Path | None,
    formats: tuple[str, ...],
    simulation: Simulation | None,
) -> None:
    """Print and write a design of sets of options."""
    from thali import designs

    check_output_folder(out_folder)
    design = designs.sets(_parse_options(options), size, per_person, versions, random_seed=seed)
    sentence = (
        f"{format_plural(len(design), 'set')} of {size} options, in"
        f" {format_plural(versions, 'version')}."
    )
    _write_and_print(
        terminal,
        {"Design": (sentence, design)} | _simulate_power(design, simulation, seed),
        out_folder,
        formats,
    )


Parts = dict[str, tuple[str, "pandas.DataFrame"]]  # label -> a sentence and a table


def _simulate_power(
    design: "pandas.DataFrame", simulation: Simulation | None, seed: int | None
) -> Parts:
    """Return how often simulated studies separate the top options, if requested."""
    from thali import designs
    from thali._model.model_files import load

    if simulation is None:
        return {}
    n_respondents, spread, pilot = simulation
    prior = None if pilot is None else load(pilot)
    table = designs.power(design, prior, n_respondents, spread, random_seed=seed)
    n_studies = table.attrs["simulations"]
    sentence = (
        f"Share of {n_studies:,} simulated studies that separate the top options from all others:"
    )
    return {"Power": (sentence, table)}


def _write_and_print(
    terminal: Terminal,
    parts: Parts,
    out_folder: Path | None,
    formats: tuple[str, ...],
    **other_tables: Any,
) -> None:
    """Write the tables of a design and other tables, and print its parts."""
    if out_folder is not None:
        tables = {label.lower(): table for label, (_, table) in parts.items()} | other_tables
        write_files(out_folder, format_tables(tables, formats))
        notify(f"wrote the design to the folder '{out_folder}'.")
    makers = [
        FindingMaker(label, label, ON_SCREEN, partial(_build_design_finding, label, *part))
        for label, part in parts.items()
    ]
    print(
        terminal.format_findings(
            Findings(None, makers),
            "",
            *([] if out_folder else ["--out DIR (the design, as a table)"]),
        )
    )


def _build_design_finding(label: str, sentence: str, table: "pandas.DataFrame", *_: Any) -> Finding:
    """Return a part of a design as a finding."""
    return Finding(sentence, table=table, brief=Brief(label, table=table))


def _parse_options(options: list[str]) -> int | list[str]:
    """Return the labels of the options, or their number."""
    return int(options[0]) if len(options) == 1 and options[0].isdigit() else options


def print_choice_design(
    terminal: Terminal,
    files: list[str],
    tasks: int,
    alternatives: int | None,
    out_folder: Path | None,
    formats: tuple[str, ...],
    typed: dict[str, list[str]],
    holdouts: Path | None,
    simulation: tuple[int, float] | None = None,
    pilot: Path | None = None,
    **design_settings: Any,
) -> None:
    """Print and write the tasks of a choice experiment, and their statistics."""
    from thali import designs
    from thali._model.model_files import load

    check_output_folder(out_folder)
    if alternatives is None:
        raise ArgumentError("--tasks requires --alternatives, the number of products per task.")
    if len(files) != 1:
        raise ArgumentError(
            f"--tasks requires one table of attributes and levels; got {' '.join(files)}."
        )
    attributes, prior, prior_sd = _read_attributes(files[0])
    if pilot is not None:
        if prior is not None:
            raise ArgumentError(
                f"--pilot and the column 'utility' of {files[0]} cannot be combined; remove one."
            )
        prior = load(pilot)
    if simulation is not None and prior is None:
        raise ArgumentError(
            f"--power requires expected utilities; add a column 'utility' to {files[0]} or pass"
            " --pilot."
        )
    parsed_settings = _parse_design_settings(typed)
    holdout_tasks = [] if holdouts is None else _read_holdout_tasks(holdouts)
    utilities = {"prior": prior, "prior_sd": prior_sd}
    design = designs.choice(
        attributes,
        tasks,
        alternatives,
        holdouts=holdout_tasks,
        **utilities,
        **parsed_settings,
        **design_settings,
    )
    effects = {
        "interactions": parsed_settings["interactions"],
        "directions": parsed_settings["directions"],
    }
    design_check = designs.check(design, **utilities, **effects)
    errors = (
        f"{design_check.title}: D-error {design_check.d_error:.4g} (one respondent), D-efficiency"
        f" {design_check.d_efficiency:.3f}."
    )
    if design_check.bayesian_d_error is not None:
        errors += (
            f" Bayesian D-error {design_check.bayesian_d_error:.4g} (mean over uncertain"
            " utilities)."
        )
    if design_check.dominated is not None:
        errors += f" Number of tasks with a dominated product: {design_check.dominated:,}."
    parts: Parts = {"Errors": (f"{errors} {design_check.note}", design_check.table)}
    if simulation is not None:
        n_respondents, spread = simulation
        power_settings = {
            "interactions": parsed_settings["interactions"],
            "random_seed": design_settings.get("random_seed"),
        }
        power_table = designs.power(design, prior, n_respondents, spread, **power_settings)
        n_respondents, n_studies = (
            power_table.attrs[name] for name in ("respondents", "simulations")
        )
        sentence = (
            f"Share of {n_studies:,} simulated studies with {n_respondents:,} respondents in which"
            " a utility differs significantly from 0:"
        )
        parts["Power"] = (sentence, power_table)
    other_tables = {
        "tasks": _reshape_by_task(design),
        "balance": design_check.balance,
        "overlap": design_check.overlap,
    }
    _write_and_print(
        terminal, {"Design": ("", design)} | parts, out_folder, formats, **other_tables
    )


def _parse_design_settings(typed: dict[str, list[str]]) -> dict[str, Any]:
    """Parse interactions, directions and prohibitions for `designs.choice`."""
    from thali._model.spec import Option

    from ..option_values import split_named_values

    texts_by_setting = {
        name: [split_named_values(Option(name, ""), [text]) for text in texts]
        for name, texts in typed.items()
    }
    pairs = [
        (attribute, partner.strip())
        for named_texts in texts_by_setting["interactions"]
        for attribute, partners in named_texts
        for partner in partners.split(",")
    ]
    rules = [
        {name: [level.strip() for level in levels.split(",")] for name, levels in named_texts}
        for named_texts in texts_by_setting["prohibited"]
    ]
    directions = {
        name: direction
        for named_texts in texts_by_setting["directions"]
        for name, direction in named_texts
    }
    return {"interactions": pairs, "prohibited": rules, "directions": directions or None}


def _read_holdout_tasks(path: Path) -> "list[pandas.DataFrame]":
    """Read holdout tasks from a table with a task column and attribute columns."""
    from thali._reading.table import load

    frame: pandas.DataFrame = load(path).frame
    if "task" not in frame.columns:
        raise DataError(
            f"{path} must have one row per product and the columns task and the attributes; it has"
            f" {', '.join(column_names(frame))}."
        )
    return [part.drop(columns="task") for _, part in frame.groupby("task", sort=False)]


def _reshape_by_task(design: "pandas.DataFrame") -> "pandas.DataFrame":
    """Return the design with one row per task and columns such as brand_1."""
    import pandas as pd

    task_columns = [name for name in ("version", "task", "held_out") if name in design]
    attributes = [name for name in design if name not in (*task_columns, "alternative")]
    products = design[design["alternative"] != "none"]
    parts = [
        part.set_index(task_columns)[attributes].astype(object).add_suffix(f"_{label}")
        for label, part in products.groupby("alternative", sort=False)
    ]
    return pd.concat(parts, axis=1).reset_index()


Numbers = dict[str, list[float]] | None  # attribute -> one number per level


def _read_attributes(path: str) -> tuple[dict[str, list[str]], Numbers, Numbers]:
    """Read levels, expected utilities and standard deviations, by attribute."""
    # Utilities and standard deviations are None if the table lacks them.
    from thali._reading.table import load

    frame: pandas.DataFrame = load(Path(path)).frame
    if not {"attribute", "level"} <= set(frame.columns):
        raise DataError(
            f"{path} must have one row per level and the columns 'attribute', 'level' and"
            f" optionally 'utility' and 'sd'; its columns are {shorten(column_names(frame))}."
        )
    parts = {str(name): part for name, part in frame.groupby("attribute", sort=False)}
    lists_by_column = [
        {name: part[column].tolist() for name, part in parts.items()} if column in frame else None
        for column in ("level", "utility", "sd")
    ]
    if lists_by_column[2] is not None and lists_by_column[1] is None:
        raise DataError(f"{path} has a column 'sd' but no column 'utility'; add the utilities.")
    return lists_by_column[0] or {}, lists_by_column[1], lists_by_column[2]
