"""`thali cache`: the cache of compiled samplers."""

import os
from collections.abc import Sequence
from pathlib import Path

import typer

from thali._compile import compiled_code_files
from thali._inference.progress_display import Progress

from ..model_lookup import find_model
from ..terminal_messages import notify


def show_info() -> None:
    """Print folder and size of the cache of compiled samplers."""
    cache_info = compiled_code_files.cache_info()
    print(compiled_code_files.format_cache_size(cache_info.files, cache_info.bytes))
    if cache_info.refused:
        print(f"{cache_info.path}: not used because {cache_info.refused}")
    else:
        print(cache_info.path)
    if cache_info.shipped:
        print(cache_info.shipped)


def clear() -> None:
    """Delete the cache of compiled samplers."""
    print(f"removed {compiled_code_files.cache_clear():,} files")


def warm(models: Sequence[str]) -> None:
    """Compile the samplers of models in advance, for this machine."""
    _fit_all(models, None)
    show_info()


def build(models: Sequence[str], target: str | None, out: Path) -> None:
    """Compile the samplers of models into `out`, to be packed into a wheel."""
    from thali._testing.small_models import build_environment, find_processor_level

    level = target or find_processor_level()
    _fit_all(models, build_environment(level, out))
    folder = compiled_code_files.build_folder(level, out)
    print(compiled_code_files.format_cache_size(*folder.size()))
    print(folder.path)


def _fit_all(models: Sequence[str], environment: dict[str, str] | None) -> None:
    """Fit each model once to tiny data, so that its samplers are compiled."""
    from thali._testing.small_models import fit_in_processes, list_cases

    case_names = list_cases([find_model(model, "MODEL")[0].name for model in models])
    n_failed = 0
    with Progress(True, "compiling", len(case_names), "fits") as progress:
        for n_done, compiled_case in enumerate(
            fit_in_processes(case_names, os.cpu_count() or 1, environment), 1
        ):
            progress.update(n_done)
            if compiled_case.error:
                n_failed += 1
                notify(f"error: {compiled_case.name}: {compiled_case.error}")
    if n_failed:
        notify(f"{n_failed} of {len(case_names)} models could not be compiled.")
        raise typer.Exit(1)
