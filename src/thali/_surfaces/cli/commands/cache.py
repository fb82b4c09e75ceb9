"""`thali cache`: where compiled samplers lie, and how they get there before anybody waits for
them."""

import os
from collections.abc import Sequence
from pathlib import Path

import typer

from thali._compile import store
from thali._inference.progress import Progress

from ..boundary import notify
from ..models import model_named


def show_info() -> None:
    """Print how much there is and where."""
    info = store.cache_info()
    print(store.format_cache_size(info.files, info.bytes))
    print(f"{info.path}: not used because {info.refused}" if info.refused else info.path)
    if info.shipped:
        print(info.shipped)


def clear() -> None:
    """Remove what was compiled on this machine."""
    print(f"removed {store.cache_clear():,} files")


def warm(models: Sequence[str]) -> None:
    """Compile the samplers of these models for this machine."""
    _fit_all(models, None)
    show_info()


def build(models: Sequence[str], target: str | None, out: Path) -> None:
    """Compile the samplers of these models into a folder that a wheel can carry."""
    from thali._testing.smallest import environment_of, level_here

    level = target or level_here()
    _fit_all(models, environment_of(level, out))
    folder = store.build_folder(level, out)
    print(store.format_cache_size(*folder.size()))
    print(folder.path)


def _fit_all(models: Sequence[str], environment: dict[str, str] | None) -> None:
    from thali._testing.smallest import fit_each, rows_of

    names = rows_of([model_named(model, "MODEL")[0].name for model in models])
    failed = 0
    with Progress(True, "compiling", len(names), "fits") as progress:
        for number, fitted in enumerate(fit_each(names, os.cpu_count() or 1, environment), 1):
            progress.update(number)
            if fitted.error:
                failed += 1
                notify(f"error: {fitted.name}: {fitted.error}")
    if failed:
        notify(f"{failed} of {len(names)} models could not be compiled.")
        raise typer.Exit(1)
