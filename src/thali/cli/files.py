"""What the command line leaves on disk: all of it complete, or nothing."""

import contextlib
import io
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from thali._labels import shorten
from thali.errors import ArgumentError, DataError, ThaliError
from thali.inference.files import cannot_write, write_together
from thali.model.spec import ModelSpec

from .boundary import notify

if TYPE_CHECKING:
    import pandas
    import xarray


class Answer(NamedTuple):
    """What `thali fit` prints and writes besides the posterior."""

    text: str
    tables: "dict[str, pandas.DataFrame]"  # by file name; the index is written if it has a name
    pictures: dict[str, Callable[[ModuleType], Any]]  # by file name, each as `png` takes it
    interrupted: bool = False  # whether Ctrl-C cut it short


def check_folder(folder: Path) -> Path:
    """The nearest folder that exists on the way to `folder`, once it is clear that `folder` can be written.

    Parameters
    ----------
    folder : Path
        Where files shall go; it need not exist.

    Returns
    -------
    Path
        `folder` itself, or the nearest parent that exists.

    Raises
    ------
    ArgumentError
        If a file is in the way, or the folder may not be written to.
    """
    existing = folder
    while not existing.is_dir():
        if existing.exists():
            raise ArgumentError(f"--out needs a folder; {existing} is a file. Choose another name.")
        existing = existing.parent
    if not os.access(existing, os.W_OK):
        raise ArgumentError(f"--out: you may not write to the folder {existing}. Choose another.")
    return existing


def write_results(tree: "xarray.DataTree | None", answer: Answer, folder: Path) -> None:
    """Write posterior.nc, each table as CSV and each picture as PNG, all or none.

    Parameters
    ----------
    tree : xarray.DataTree or None
        The posterior; None if there are no draws.
    answer : Answer
    folder : Path
        Where to; made if it is absent.

    Raises
    ------
    DataError
        If a file cannot be written; none of them is there then.
    """
    from thali.posterior import store

    contents: dict[str, bytes | memoryview] = {} if tree is None else {"posterior.nc": store.to_netcdf(tree)}
    contents |= {f"{name}.csv": csv(table, table.index.name is not None) for name, table in answer.tables.items()}
    contents |= {f"{name}.png": png(draw) for name, draw in answer.pictures.items()}
    write_all(folder, contents)


def write_all(folder: Path, contents: Mapping[str, bytes | memoryview]) -> None:
    """Write files to a folder, which is made if it is absent, and say which files of other runs stand beside them.

    Parameters
    ----------
    folder : Path
    contents : mapping from file name to bytes or memoryview

    Raises
    ------
    DataError
        If a file cannot be written; none of them is there then.
    """
    existing = check_folder(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_together(folder, contents)
    except (ThaliError, OSError) as error:
        for new in (folder, *folder.parents):
            if new == existing:
                break
            with contextlib.suppress(OSError):  # one that another process has written to meanwhile
                new.rmdir()
        if isinstance(error, OSError):
            raise DataError(cannot_write(folder, error)) from error
        raise
    kinds = {Path(name).suffix for name in contents}
    if others := sorted(f.name for f in folder.iterdir() if f.suffix in kinds and f.name not in contents):
        notify(f"{folder} also holds files that are not of this run: {shorten(others, 5)}.")


def csv(table: "pandas.DataFrame", index: bool = True) -> bytes:
    """A table as CSV."""
    return table.to_csv(index=index, lineterminator="\n").encode()


def drawn(model: Any, spec: ModelSpec) -> dict[str, Callable[[ModuleType], Any]]:
    """The pictures that the spec of a fitted model names, as `Answer` takes them."""

    def picture(name: str) -> Callable[[ModuleType], Any]:
        return lambda plots: getattr(plots, name)(model)

    return {name: picture(name) for name in spec.pictures}


def without_empty(
    pictures: dict[str, Callable[[ModuleType], Any]], tree: "xarray.DataTree"
) -> dict[str, Callable[[ModuleType], Any]]:
    """The pictures without those of features where no draw has one, and of their number where that never changes."""
    number = tree["posterior"]["n_features"].to_numpy()
    empty = set() if number.any() else {"features"}
    if (number == number.flat[0]).all() and not bool(tree["constant_data"]["learned_alpha"]):
        empty.add("n_features")
    return {name: draw for name, draw in pictures.items() if name not in empty}


def png(draw: Callable[[ModuleType], Any]) -> bytes:
    """A picture as PNG.

    Parameters
    ----------
    draw : callable
        Takes the module `thali.plots`, gives back axes.

    Returns
    -------
    bytes
    """
    import matplotlib
    import numpy as np
    from matplotlib import pyplot

    from thali import plots

    matplotlib.use("Agg")  # pictures go to files, so no display is needed
    figure = np.ravel(draw(plots))[0].figure
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=150, bbox_inches="tight")
    pyplot.close(figure)
    return content.getvalue()
