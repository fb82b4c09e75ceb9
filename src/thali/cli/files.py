"""What the command line leaves on disk: all of it complete, or nothing."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from thali.errors import ArgumentError

if TYPE_CHECKING:
    import pandas

# Of a fitted model, by what it was fitted to.
PICTURES = {
    "paired comparisons": ("features", "n_features", "trace", "choice_probabilities", "ranks"),
    "similarities": ("features", "n_features", "trace", "similarity"),
}


class Answer(NamedTuple):
    """What `thali fit` prints and writes besides the posterior."""

    text: str
    tables: "dict[str, pandas.DataFrame]"  # by file name; the index is written if it has a name
    pictures: dict[str, Callable[[ModuleType], Any]]  # by file name, each as `save_picture` takes it


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
            raise ArgumentError(f"`--out` needs a folder; {existing} is a file. Choose another name.")
        existing = existing.parent
    if not os.access(existing, os.W_OK):
        raise ArgumentError(f"`--out`: you may not write to the folder {existing}. Choose another.")
    return existing


@contextmanager
def all_or_nothing(folder: Path) -> Iterator[Path]:
    """A scratch folder whose files move to `folder` when the block ends well, and vanish when it does not.

    Parameters
    ----------
    folder : Path
        Where the files shall go, replacing those of the same names.

    Yields
    ------
    Path
        The scratch folder; it lies on the same disk, so that each move is one step.
    """
    with TemporaryDirectory(dir=check_folder(folder), prefix=".thali-") as scratch:
        yield Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        for file in sorted(Path(scratch).iterdir()):
            os.replace(file, folder / file.name)


def write_results(save: Callable[[Path], None] | None, answer: Answer, folder: Path) -> None:
    """Write posterior.nc, each table as CSV and each picture as PNG.

    Parameters
    ----------
    save : callable, optional
        Writes the posterior to a path; None if there are no draws.
    answer : Answer
    folder : Path
        Where to; made if it is absent.

    Raises
    ------
    OSError
        If a file cannot be written; none of them is there then.
    """
    with all_or_nothing(folder) as scratch:
        if save is not None:
            save(scratch / "posterior.nc")
        for name, table in answer.tables.items():
            table.to_csv(scratch / f"{name}.csv", index=table.index.name is not None, lineterminator="\n")
        for name, draw in answer.pictures.items():
            save_picture(scratch / f"{name}.png", draw)


def drawn(model, data: str) -> dict[str, Callable[[ModuleType], Any]]:
    """Those of `PICTURES` for a model fitted to that kind of data, as `Answer` takes them."""

    def picture(name: str) -> Callable[[ModuleType], Any]:
        return lambda plots: getattr(plots, name)(model)

    return {name: picture(name) for name in PICTURES[data]}


def save_picture(path: Path, draw: Callable[[ModuleType], Any]) -> None:
    """Draw with `thali.plots` and write the figure.

    Parameters
    ----------
    path : Path
        A PNG file.
    draw : callable
        Takes the module `thali.plots`, gives back axes.
    """
    import matplotlib
    import numpy as np
    from matplotlib import pyplot

    from thali import plots

    matplotlib.use("Agg")  # pictures go to files, so no display is needed
    figure = np.ravel(draw(plots))[0].figure
    figure.savefig(path, dpi=150, bbox_inches="tight")
    pyplot.close(figure)
