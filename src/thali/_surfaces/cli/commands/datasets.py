"""`thali datasets`: list the bundled data sets, or export one."""

import sys
from pathlib import Path

from thali import datasets
from thali._inference.checksummed_files import atomic_write
from thali._inference.replaced_files import begins_like, check_replaced
from thali.errors import ArgumentError

from ..result_files import check_folder, format_csv
from ..terminal_messages import notify


def list_datasets() -> None:
    """Print name and description of each bundled data set."""
    for dataset in datasets.catalogue():
        print(f"{dataset.name} ({dataset.kind})\n    {dataset.description}\n    {dataset.source}")


def export_dataset(name: str, out_file: Path | None, overwrite: bool = False) -> None:
    """Write a bundled data set to a CSV file or standard output.

    Comparisons are counts, row chosen over column; the diagonal of similarities is empty.
    """
    data = datasets.load(name)
    table = data.to_square().rename_axis(data.option_word)
    if out_file is None:
        table.to_csv(sys.stdout, lineterminator="\n")
        return
    if out_file.is_dir():
        raise ArgumentError(
            f"--out requires a file name; {out_file} is a folder. Try {out_file / name}.csv."
        )
    content = format_csv(table)
    check_folder(out_file.parent)
    check_replaced(out_file, (), begins_like(content), overwrite)
    out_file.parent.mkdir(parents=True, exist_ok=True)
    atomic_write(out_file, content)
    notify(f"wrote {name} to {out_file}.")
    if (sigma := getattr(data, "sigma", None)) is not None:
        notify(
            "the table does not contain the standard deviation of the similarities; fit it with"
            f" --sigma {sigma:g}."
        )
