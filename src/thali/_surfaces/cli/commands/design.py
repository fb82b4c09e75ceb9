"""`thali design`: designs of pairs, of option sets, or of choice tasks."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thali import designs, paired
from thali._data.column_roles import column_names
from thali._labels import format_plural, shorten
from thali._model.finding import ON_SCREEN, Brief, Finding, FindingMaker, Findings
from thali._model.model_files import load as load_model
from thali._model.model_spec import Option
from thali.errors import ArgumentError, DataError

from ..option_parsers import split_named_values
from ..result_files import check_output_folder, list_inputs, write_tables
from ..terminal_messages import Terminal, notify

if TYPE_CHECKING:
    import pandas

    from thali._designs.design_check import DesignCheck


def run_design(
    terminal: Terminal,
    options: list[str],
    n_tasks: int | None,
    typed: dict[str, Any],
    seed: int | None,
    out_folder: Path | None,
    formats: tuple[str, ...],
    overwrite: bool = False,
) -> None:
    """Build a design of pairs, sets or choice tasks; print and write it."""
    check_output_folder(out_folder)
    output = (out_folder, formats, list_inputs(options, typed), overwrite)
    if n_tasks is not None:
        _check_task_options(typed)
        printed_parts, other_tables = _design_tasks(options, n_tasks, typed, seed)
        _write_and_print(terminal, printed_parts, output, other_tables)
        return
    for word in "alternatives interaction direction prohibit holdouts none overlap".split():
        if word in typed:
            raise ArgumentError(f"--{word} applies to choice tasks; set their number with --tasks.")
    if "power" not in typed and ("pilot" in typed or "spread" in typed):
        raise ArgumentError(
            "--pilot and --spread apply to simulated respondents; set their number with --power."
        )
    if "size" in typed or "per-person" in typed:
        sentence, design = _design_sets(options, typed, seed)
    else:
        _check_pair_options(typed, seed)
        pair_design = paired.pair_design(_parse_options(options))
        sentence = pair_design.note
        design = pair_design.table
    printed_parts = {"Design": (sentence, design)}
    if "power" in typed:
        printed_parts["Power"] = _simulate_ranks(design, typed, seed)
    _write_and_print(terminal, printed_parts, output, {})


def _check_task_options(typed: dict[str, Any]) -> None:
    """Raise ArgumentError for a typed option that choice tasks do not have."""
    if "size" in typed or "per-person" in typed:
        raise ArgumentError(
            "--size and --per-person apply to sets of options; for choice tasks use --alternatives"
            " and --tasks."
        )
    if "spread" in typed and "power" not in typed:
        raise ArgumentError(
            "--spread applies to simulated respondents; set their number with --power."
        )


def _check_pair_options(typed: dict[str, Any], seed: int | None) -> None:
    """Raise ArgumentError for a typed option that the design of pairs does not have."""
    unsuitable_word = ""
    if "versions" in typed:
        unsuitable_word = "versions"
    elif seed is not None and "power" not in typed:
        unsuitable_word = "seed"
    if unsuitable_word:
        raise ArgumentError(
            f"--{unsuitable_word} applies to subsets of pairs or sets, or to tasks; add"
            " --per-person, --size or --tasks."
        )


def _design_sets(
    options: list[str], typed: dict[str, Any], seed: int | None
) -> "tuple[str, pandas.DataFrame]":
    """Build a design of option sets; return a sentence and the table."""
    size = typed.get("size", 2)
    n_versions = typed.get("versions", 1)
    labels = _parse_options(options)
    design = designs.sets(labels, size, typed.get("per-person"), n_versions, random_seed=seed)
    return (
        f"{format_plural(len(design), 'set')} of {size} options, in"
        f" {format_plural(n_versions, 'version')}.",
        design,
    )


Parts = dict[str, tuple[str, "pandas.DataFrame"]]  # label -> a sentence and a table


def _simulate_ranks(
    design: "pandas.DataFrame", typed: dict[str, Any], seed: int | None
) -> "tuple[str, pandas.DataFrame]":
    """Simulate studies; return a sentence and table on how often top ranks are right."""
    prior = None
    if "pilot" in typed:
        prior = load_model(typed["pilot"])
    n_respondents = typed["power"] or None
    spread = typed.get("spread", 0.0)
    table = designs.power(design, prior, n_respondents, spread, random_seed=seed)
    n_studies = table.attrs["simulations"]
    return (
        f"Share of {n_studies:,} simulated studies that separate the top options from all others:",
        table,
    )


def _write_and_print(
    terminal: Terminal,
    printed_parts: Parts,
    output: tuple[Path | None, tuple[str, ...], list[str], bool],
    other_tables: "dict[str, pandas.DataFrame]",
) -> None:
    """Write the tables of a design to the folder, if given; print its parts."""
    # `overwrite`: whether files that thali did not write are replaced
    out_folder, formats, inputs, overwrite = output
    if out_folder is not None:
        table_by_name = {
            label.lower(): table for label, (_, table) in printed_parts.items()
        } | other_tables
        write_tables(out_folder, table_by_name, formats, inputs, overwrite)
        notify(f"wrote the design to the folder '{out_folder}'.")
    finding_makers = [
        FindingMaker(
            label, label, ON_SCREEN, partial(_build_design_finding, label, sentence, table)
        )
        for label, (sentence, table) in printed_parts.items()
    ]
    hints = []
    if out_folder is None:
        hints = ["--out DIR (the design, as a table)"]
    print(terminal.format_findings(Findings(None, finding_makers), "", *hints))


def _build_design_finding(label: str, sentence: str, table: "pandas.DataFrame", *_: Any) -> Finding:
    """Build the finding that prints one part of a design."""
    return Finding(sentence, table=table, brief=Brief(label, table=table))


def _parse_options(options: list[str]) -> int | list[str]:
    """Return option labels, or their number if one integer was typed."""
    if len(options) == 1 and options[0].isdecimal():
        return int(options[0])
    return options


def _design_tasks(
    files: list[str], n_tasks: int, typed: dict[str, Any], seed: int | None
) -> "tuple[Parts, dict[str, pandas.DataFrame]]":
    """Build choice tasks; return printed parts, and tables for files."""
    attributes, utility_arguments = _read_levels_and_prior(files, typed)
    effect_arguments = _parse_effects(typed)
    prohibitions = [
        {name: [level.strip() for level in levels.split(",")] for name, levels in named_levels}
        for named_levels in (
            split_named_values(Option("prohibited", ""), [text])
            for text in typed.get("prohibit", [])
        )
    ]
    holdout_tasks = []
    if "holdouts" in typed:
        holdout_tasks = _read_holdout_tasks(typed["holdouts"])
    design = designs.choice(
        attributes,
        n_tasks,
        typed["alternatives"],
        versions=typed.get("versions", 1),
        none="none" in typed,
        prohibited=prohibitions,
        overlap=typed.get("overlap") or "minimal",
        holdouts=holdout_tasks,
        random_seed=seed,
        **utility_arguments,
        **effect_arguments,
    )
    design_check = designs.check(design, **utility_arguments, **effect_arguments)
    printed_parts = {
        "Design": ("", design),
        "Errors": (_describe_errors(design_check), design_check.table),
    }
    if "power" in typed:
        power_table = designs.power(
            design,
            utility_arguments["prior"],
            typed["power"],
            typed.get("spread", 0.0),
            interactions=effect_arguments["interactions"],
            random_seed=seed,
        )
        printed_parts["Power"] = (_describe_power(power_table), power_table)
    other_tables = {
        "tasks": _reshape_by_task(design),
        "balance": design_check.balance,
        "overlap": design_check.overlap,
    }
    return printed_parts, other_tables


def _read_levels_and_prior(
    files: list[str], typed: dict[str, Any]
) -> tuple[dict[str, list[str]], dict[str, Any]]:
    """Read attribute levels and prior utilities from the file of attributes."""
    if "alternatives" not in typed:
        raise ArgumentError("--tasks requires --alternatives, the number of products per task.")
    if len(files) != 1:
        raise ArgumentError(
            f"--tasks requires one table of attributes and levels; got {' '.join(files)}."
        )
    levels, prior, prior_sd = _read_attributes(files[0])
    if "pilot" in typed:
        if prior is not None:
            raise ArgumentError(
                f"--pilot and the column 'utility' of {files[0]} cannot be combined; remove one."
            )
        prior = load_model(typed["pilot"])
    if "power" in typed and prior is None:
        raise ArgumentError(
            f"--power requires expected utilities; add a column 'utility' to {files[0]} or pass"
            " --pilot."
        )
    return levels, {"prior": prior, "prior_sd": prior_sd}


def _describe_errors(design_check: "DesignCheck") -> str:
    """Return sentences on D-error, D-efficiency and dominated products of a design."""
    sentences = (
        f"{design_check.title}: D-error {design_check.d_error:.4g} (one respondent), D-efficiency"
        f" {design_check.d_efficiency:.3f}."
    )
    if design_check.bayesian_d_error is not None:
        sentences += (
            f" Bayesian D-error {design_check.bayesian_d_error:.4g} (mean over uncertain"
            " utilities)."
        )
    if design_check.dominated is not None:
        sentences += f" Number of tasks with a dominated product: {design_check.dominated:,}."
    return f"{sentences} {design_check.note}"


def _describe_power(power_table: "pandas.DataFrame") -> str:
    """Return the line that is printed above the table of power."""
    return (
        f"Share of {power_table.attrs['simulations']:,} simulated studies with"
        f" {power_table.attrs['respondents']:,} respondents in which a utility differs"
        " significantly from 0:"
    )


def _parse_effects(typed: dict[str, Any]) -> dict[str, Any]:
    """Parse --interaction and --direction to arguments of `designs.choice`."""
    named_partners = split_named_values(Option("interactions", ""), typed.get("interaction", []))
    directions = split_named_values(Option("directions", ""), typed.get("direction", []))
    return {
        "interactions": [
            (attribute, partner.strip())
            for attribute, partners in named_partners
            for partner in partners.split(",")
        ],
        "directions": dict(directions) or None,
    }


def _read_holdout_tasks(path: Path) -> "list[pandas.DataFrame]":
    """Read fixed holdout tasks from a file, one table each."""
    from thali._reading.table_files import load_table

    frame: pandas.DataFrame = load_table(path).frame
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
    product_rows = design[design["alternative"] != "none"]
    wide_parts = [
        part.set_index(task_columns)[attributes].astype(object).add_suffix(f"_{label}")
        for label, part in product_rows.groupby("alternative", sort=False)
    ]
    return pd.concat(wide_parts, axis=1).reset_index()


Numbers = dict[str, list[float]] | None  # attribute -> one number per level


def _read_attributes(path: str) -> tuple[dict[str, list[str]], Numbers, Numbers]:
    """Read levels, utilities and their sds by attribute from a file."""
    # Utilities and standard deviations are None if the table lacks them.
    import pandas as pd

    from thali._reading.table_files import load_table

    frame: pandas.DataFrame = load_table(Path(path)).frame
    if not {"attribute", "level"} <= set(frame.columns):
        raise DataError(
            f"{path} must have one row per level and the columns 'attribute', 'level' and"
            f" optionally 'utility' and 'sd'; its columns are {shorten(column_names(frame))}."
        )
    rows_by_attribute = {str(name): part for name, part in frame.groupby("attribute", sort=False)}
    numbers_by_column: dict[str, Numbers] = {}
    for column in ("utility", "sd"):
        if column not in frame:
            continue
        numbers: Any = pd.to_numeric(frame[column], errors="coerce")
        if numbers.isna().any():
            row = frame.loc[numbers.isna()].iloc[0]
            raise DataError(
                f"{path} must have a number in the column {column!r} of every row; the row of"
                f" {row['attribute']!r}, {row['level']!r} has none."
            )
        numbers_by_column[column] = {
            name: part[column].tolist() for name, part in rows_by_attribute.items()
        }
    if "sd" in numbers_by_column and "utility" not in numbers_by_column:
        raise DataError(f"{path} has a column 'sd' but no column 'utility'; add the utilities.")
    levels = {name: part["level"].tolist() for name, part in rows_by_attribute.items()}
    return levels, numbers_by_column.get("utility"), numbers_by_column.get("sd")
