"""`thali design`: all pairs of options in a balanced order."""

from pathlib import Path

from ..boundary import notify
from ..files import check_folder, table_files, write_all


def print_design(options: list[str], out: Path | None, formats: tuple[str, ...]) -> None:
    """Print a balanced design of all pairs of these options, or of so many, and write it.

    Raises
    ------
    ThaliError
        If there are fewer than three options, or the folder cannot be written.
    """
    from thali import paired

    if out is not None:
        check_folder(out)
    design = paired.pair_design(int(options[0]) if len(options) == 1 and options[0].isdigit() else options)
    if out is not None:
        write_all(out, table_files({"design": design.table}, formats))
        notify(f"wrote the design to {out}.")
    print(design.table.to_csv(index=False), end="")
    print(design.note)
