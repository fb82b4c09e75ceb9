"""`thali datasets`: list what is bundled, export one of them."""

import sys
from pathlib import Path

from thali._inference.files import atomic_write
from thali.errors import ArgumentError

from ..boundary import notify
from ..files import check_folder, csv


def list_datasets() -> None:
    """Print one paragraph for each bundled data set."""
    from thali import datasets

    for record in datasets.catalogue():
        print(f"{record.name} ({record.kind})\n    {record.description}\n    {record.source}")


def export_dataset(name: str, out: Path | None) -> None:
    """Write a bundled data set as a square table, which `thali fit` reads back.

    Comparisons are counts, row chosen over column; similarities leave the diagonal empty.
    """
    from thali import datasets

    data = datasets.load(name)
    table = data.to_square().rename_axis(data.option_word)
    if out is None:
        table.to_csv(sys.stdout, lineterminator="\n")
        return
    if out.is_dir():
        raise ArgumentError(f"--out requires a file name; {out} is a folder. Try {out / name}.csv.")
    check_folder(out.parent)
    out.parent.mkdir(parents=True, exist_ok=True)
    atomic_write(out, csv(table))
    notify(f"wrote {name} to {out}.")
    if (sigma := getattr(data, "sigma", None)) is not None:
        notify(
            "the table does not contain the standard deviation of the similarities; fit it with"
            f" --sigma {sigma:g}."
        )
