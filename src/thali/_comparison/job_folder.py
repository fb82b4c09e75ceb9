"""Identifiers of the fits of a comparison, and its job folder."""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._inference.array_dict_encoding import Arrays
from thali._inference.random_seeds import RandomSeed, build_seed_sequence
from thali._inference.resumable_tasks import PartsFolder
from thali._model.model_files import compute_digest, describe_model, encode_object
from thali._model.registry import find_spec
from thali.errors import Fact, InPython

if TYPE_CHECKING:
    from thali._model.base import Model


Fit = tuple[str, int]  # the name of a model, and the index of the held-out part


def list_fits(model_names: Iterable[str], n_parts: int) -> list[Fit]:
    """Return (model name, part number) of all fits of a comparison."""
    return [(name, part_index) for name in model_names for part_index in range(n_parts)]


def format_fit_key(fit: Fit) -> str:
    """Return the name of a fit in the job folder."""
    name, part_index = fit
    return f"{part_index} {name}"


# The stamp of a comparison's folder, so that only the same comparison continues it ----------------


BY_PREDICTION, BY_EVIDENCE = "predictive comparison", "comparison by evidence"  # kinds of jobs


@contextmanager
def open_job(
    job: str | os.PathLike[str] | None,
    kind: str,
    models: Mapping[str, Any],
    settings: Mapping[str, Any],
    data: Any,
    random_seed: RandomSeed,
    source: Arrays,
) -> Iterator[tuple[PartsFolder | None, np.random.SeedSequence]]:
    """Open the comparison's job folder, if requested; yield it and the seed.

    If `random_seed` is None, the seed is the seed of the job. `settings` and `data` determine the
    results; `source` turns them into a table without the data.
    """
    if job is None:
        yield None, build_seed_sequence(random_seed)
        return
    stamp = {
        "kind": kind,
        "models": {name: _describe_model(model) for name, model in models.items()},
        "settings": {name: encode_object(value, None) for name, value in settings.items()},
        "data": compute_digest(data),
    }
    with PartsFolder(job, stamp, random_seed, source) as folder:
        yield folder, folder.seed


def advise_resuming(job: str | os.PathLike[str] | None) -> str | Fact:
    """Return the advice on how to resume a stopped comparison."""
    if job is None:
        return InPython("set job=FOLDER to be able to resume", "add --out DIR to be able to resume")
    return f"repeat the call to resume from '{job}'"


def _describe_model(model: "Model") -> dict[str, Any]:
    """Return a model's class and parameters as JSON types."""
    if find_spec(model) is None:
        if type(model).__repr__ is not object.__repr__:
            parameters = {"model": repr(model)}
        else:
            parameters = {name: encode_object(field, None) for name, field in vars(model).items()}
        return {"class": type(model).__name__, "parameters": parameters}
    description = describe_model(model)
    parameters = dict(description["parameters"])
    parameters.pop("random_state", None)
    return description | {"parameters": parameters}
