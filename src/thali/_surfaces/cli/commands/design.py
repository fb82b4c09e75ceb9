"""`thali design`: pairs or sets of options in a balanced order, or the tasks of a choice
experiment."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thali._data.roles import column_names
from thali._labels import plural, shorten
from thali._model.finding import ON_SCREEN, Brief, Finding, FindingMaker, Findings
from thali.errors import ArgumentError, DataError

from ..boundary import Terminal, notify
from ..files import check_out, table_files, write_all

if TYPE_CHECKING:
    import pandas


# people (None: as many as are needed), spread, and a fitted model
Simulated = tuple[int | None, float, Path | None]


def print_design(
    terminal: Terminal,
    options: list[str],
    out: Path | None,
    formats: tuple[str, ...],
    simulated: Simulated | None,
    seed: int | None,
) -> None:
    """Print a balanced design of all pairs of these options, or of so many, and write it."""
    from thali import paired

    check_out(out)
    design = paired.pair_design(_named_or_counted(options))
    _finish(
        terminal,
        {"Design": (design.note, design.table)} | _power(design.table, simulated, seed),
        out,
        formats,
    )


def print_set_design(
    terminal: Terminal,
    options: list[str],
    size: int,
    per_person: int | None,
    versions: int,
    seed: int | None,
    out: Path | None,
    formats: tuple[str, ...],
    simulated: Simulated | None,
) -> None:
    """Print a design of sets of these options, or of so many, and write it."""
    from thali import designs

    check_out(out)
    design = designs.sets(_named_or_counted(options), size, per_person, versions, random_seed=seed)
    sentence = f"{plural(len(design), 'set')} of {size} options, in {plural(versions, 'version')}."
    _finish(
        terminal, {"Design": (sentence, design)} | _power(design, simulated, seed), out, formats
    )


Parts = dict[str, tuple[str, "pandas.DataFrame"]]  # label -> a sentence and a table


def _power(design: "pandas.DataFrame", simulated: Simulated | None, seed: int | None) -> Parts:
    """How often simulated studies tell the first options apart, if that is asked."""
    from thali import designs
    from thali._model.model_files import load

    if simulated is None:
        return {}
    people, spread, pilot = simulated
    prior = None if pilot is None else load(pilot)
    table = designs.power(design, prior, people, spread, random_seed=seed)
    studies = table.attrs["simulations"]
    sentence = (
        f"Share of {studies:,} simulated studies that separate the top options from all others:"
    )
    return {"Power": (sentence, table)}


def _finish(
    terminal: Terminal, parts: Parts, out: Path | None, formats: tuple[str, ...], **more: Any
) -> None:
    """Write the tables of a design, and `more`, and print its parts."""
    if out is not None:
        tables = {label.lower(): table for label, (_, table) in parts.items()} | more
        write_all(out, table_files(tables, formats))
        notify(f"wrote the design to the folder '{out}'.")
    makers = [
        FindingMaker(label, label, ON_SCREEN, partial(_made, label, *part))
        for label, part in parts.items()
    ]
    print(
        terminal.text(
            Findings(None, makers), "", *([] if out else ["--out DIR (the design, as a table)"])
        )
    )


def _made(label: str, sentence: str, table: "pandas.DataFrame", *_: Any) -> Finding:
    """A part of a design as a finding."""
    return Finding(sentence, table=table, brief=Brief(label, table=table))


def _named_or_counted(options: list[str]) -> int | list[str]:
    """The options, or how many there are."""
    return int(options[0]) if len(options) == 1 and options[0].isdigit() else options


def print_choice_design(
    terminal: Terminal,
    files: list[str],
    tasks: int,
    alternatives: int | None,
    out: Path | None,
    formats: tuple[str, ...],
    typed: dict[str, list[str]],
    holdouts: Path | None,
    simulated: tuple[int, float] | None = None,
    pilot: Path | None = None,
    **how: Any,
) -> None:
    """Print what the tasks of a choice experiment with the attributes of a table tell, and the
    tasks, or write them."""
    from thali import designs
    from thali._model.model_files import load

    check_out(out)
    if alternatives is None:
        raise ArgumentError("--tasks requires --alternatives, the number of products per task.")
    if len(files) != 1:
        raise ArgumentError(
            f"--tasks requires one table of attributes and levels; got {' '.join(files)}."
        )
    attributes, prior, prior_sd = _attributes_in(files[0])
    if pilot is not None:
        if prior is not None:
            raise ArgumentError(
                f"--pilot and the column 'utility' of {files[0]} cannot be combined; remove one."
            )
        prior = load(pilot)
    if simulated is not None and prior is None:
        raise ArgumentError(
            f"--power requires expected utilities; add a column 'utility' to {files[0]} or pass"
            " --pilot."
        )
    asked = _asked(typed)
    fixed = [] if holdouts is None else _tasks_in(holdouts)
    of_utilities = {"prior": prior, "prior_sd": prior_sd}
    design = designs.choice(
        attributes, tasks, alternatives, holdouts=fixed, **of_utilities, **asked, **how
    )
    also = {"interactions": asked["interactions"], "directions": asked["directions"]}
    checked = designs.check(design, **of_utilities, **also)
    errors = (
        f"{checked.title}: D-error {checked.d_error:.4g} (one respondent), D-efficiency"
        f" {checked.d_efficiency:.3f}."
    )
    if checked.bayesian_d_error is not None:
        errors += (
            f" Bayesian D-error {checked.bayesian_d_error:.4g} (mean over uncertain utilities)."
        )
    if checked.dominated is not None:
        errors += f" Number of tasks with a dominated product: {checked.dominated:,}."
    parts: Parts = {"Errors": (f"{errors} {checked.note}", checked.table)}
    if simulated is not None:
        people, spread = simulated
        among = {"interactions": asked["interactions"], "random_seed": how.get("random_seed")}
        told = designs.power(design, prior, people, spread, **among)
        people, studies = (told.attrs[name] for name in ("respondents", "simulations"))
        sentence = (
            f"Share of {studies:,} simulated studies with {people:,} respondents in which a"
            " utility differs significantly from 0:"
        )
        parts["Power"] = (sentence, told)
    more = {"tasks": _a_row_a_task(design), "balance": checked.balance, "overlap": checked.overlap}
    _finish(terminal, {"Design": ("", design)} | parts, out, formats, **more)


def _asked(typed: dict[str, list[str]]) -> dict[str, Any]:
    """What was typed of interactions, directions and prohibitions, as `designs.choice` takes it."""
    from thali._model.spec import Option

    from ..values import named_values

    values = {
        name: [named_values(Option(name, ""), [text]) for text in texts]
        for name, texts in typed.items()
    }
    pairs = [
        (one, other.strip())
        for each in values["interactions"]
        for one, named in each
        for other in named.split(",")
    ]
    rules = [
        {name: [level.strip() for level in levels.split(",")] for name, levels in each}
        for each in values["prohibited"]
    ]
    directions = {name: way for each in values["directions"] for name, way in each}
    return {"interactions": pairs, "prohibited": rules, "directions": directions or None}


def _tasks_in(path: Path) -> "list[pandas.DataFrame]":
    """The tasks of a table with a column of tasks and one of each attribute."""
    from thali._reading.table import load

    frame: pandas.DataFrame = load(path).frame
    if "task" not in frame.columns:
        raise DataError(
            f"{path} must have one row per product and the columns task and the attributes; it has"
            f" {', '.join(column_names(frame))}."
        )
    return [part.drop(columns="task") for _, part in frame.groupby("task", sort=False)]


def _a_row_a_task(design: "pandas.DataFrame") -> "pandas.DataFrame":
    """The design as survey tools want it: a column an attribute of an alternative, such as
    brand_1."""
    import pandas as pd

    where = [name for name in ("version", "task", "held_out") if name in design]
    attributes = [name for name in design if name not in (*where, "alternative")]
    shown = design[design["alternative"] != "none"]
    parts = [
        part.set_index(where)[attributes].astype(object).add_suffix(f"_{label}")
        for label, part in shown.groupby("alternative", sort=False)
    ]
    return pd.concat(parts, axis=1).reset_index()


Numbers = dict[str, list[float]] | None  # of the levels of each attribute


def _attributes_in(path: str) -> tuple[dict[str, list[str]], Numbers, Numbers]:
    """Attribute -> levels, the utilities that are expected of them and their standard deviations,
    where it has any."""
    from thali._reading.table import load

    frame: pandas.DataFrame = load(Path(path)).frame
    if not {"attribute", "level"} <= set(frame.columns):
        raise DataError(
            f"{path} must have one row per level and the columns 'attribute', 'level' and"
            f" optionally 'utility' and 'sd'; its columns are {shorten(column_names(frame))}."
        )
    parts = {str(name): part for name, part in frame.groupby("attribute", sort=False)}
    found = [
        {name: part[column].tolist() for name, part in parts.items()} if column in frame else None
        for column in ("level", "utility", "sd")
    ]
    if found[2] is not None and found[1] is None:
        raise DataError(f"{path} has a column 'sd' but no column 'utility'; add the utilities.")
    return found[0] or {}, found[1], found[2]
