"""What the command line leaves on disk: all of it complete, or nothing."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import TYPE_CHECKING, Any

from thali.errors import ArgumentError

if TYPE_CHECKING:
    import pandas

PICTURES = ("features", "n_features", "trace", "choice_probabilities")


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


def write_results(
    model, summary: "pandas.DataFrame", features: "pandas.DataFrame", check: "pandas.DataFrame", folder: Path
) -> None:
    """Write posterior.nc, summary.csv, features.csv, unique_weights.csv, check.csv and one PNG for each picture.

    Parameters
    ----------
    model : EliminationByAspects
        A fitted model.
    summary, features, check : pandas.DataFrame
        Its `summary()`, `features()` and `check()`.
    folder : Path
        Where to; made if it is absent.

    Raises
    ------
    OSError
        If a file cannot be written; none of them is there then.
    """
    with all_or_nothing(folder) as scratch:
        model.save(scratch / "posterior.nc")
        summary.to_csv(scratch / "summary.csv", index_label="quantity", lineterminator="\n")
        joined = features.assign(members=features["members"].map("; ".join))
        model.unique_weights().to_csv(scratch / "unique_weights.csv", lineterminator="\n")
        joined.to_csv(scratch / "features.csv", index=False, lineterminator="\n")
        check.to_csv(scratch / "check.csv", index=False, lineterminator="\n")
        for name in PICTURES:
            save_picture(scratch / f"{name}.png", lambda plots, name=name: getattr(plots, name)(model))
        save_picture(scratch / "check.png", lambda plots: plots.check(check))


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
