"""`thali design`: all pairs of options in a balanced order, or the tasks of a choice experiment."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from thali.errors import ArgumentError, DataError

from ..boundary import notify
from ..files import check_folder, table_files, write_all

if TYPE_CHECKING:
    import pandas


def print_design(options: list[str], out: Path | None, formats: tuple[str, ...]) -> None:
    """Print a balanced design of all pairs of these options, or of so many, and write it."""
    from thali import paired

    if out is not None:
        check_folder(out)
    design = paired.pair_design(int(options[0]) if len(options) == 1 and options[0].isdigit() else options)
    _write(out, {"design": design.table}, formats)
    print(design.table.to_csv(index=False), end="")
    print(design.note)


def print_choice_design(
    files: list[str], tasks: int, alternatives: int | None, out: Path | None, formats: tuple[str, ...], **how: Any
) -> None:
    """Print the tasks of a choice experiment with the attributes of a table, and what they tell, and write both."""
    from thali import designs

    if out is not None:
        check_folder(out)
    if alternatives is None:
        raise ArgumentError("--tasks needs --alternatives, the products in each task.")
    if len(files) != 1:
        raise ArgumentError(f"--tasks needs one table of attributes and levels; got {' '.join(files)}.")
    attributes, prior = _attributes_in(files[0])
    design = designs.choice(attributes, tasks, alternatives, prior=prior, **how)
    checked = designs.check(design, prior)
    tables = {"design": design, "errors": checked.table, "balance": checked.balance, "overlap": checked.overlap}
    _write(out, tables, formats)
    print(design.to_csv(index=False), end="")
    print(f"\n{checked}")


def _attributes_in(path: str) -> "tuple[dict[str, list[str]], dict[str, list[float]] | None]":
    """Attribute -> levels, and the utilities that are expected of them, if the table has any."""
    from thali.reading.table import load

    frame: pandas.DataFrame = load(Path(path)).frame
    if not {"attribute", "level"} <= set(frame.columns):
        raise DataError(
            f"{path} must have the columns attribute and level, one level a line, and may have utility; it has "
            f"{', '.join(map(str, frame.columns))}."
        )
    parts = {str(name): part for name, part in frame.groupby("attribute", sort=False)}
    attributes = {name: part["level"].tolist() for name, part in parts.items()}
    if "utility" not in frame:
        return attributes, None
    return attributes, {name: part["utility"].tolist() for name, part in parts.items()}


def _write(out: Path | None, tables: "dict[str, pandas.DataFrame]", formats: tuple[str, ...]) -> None:
    if out is not None:
        write_all(out, table_files(tables, formats))
        notify(f"wrote the design to {out}.")
