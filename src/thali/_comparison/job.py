"""The fits of a comparison, and the folder that keeps them."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from thali._inference.arrays import Arrays
from thali._inference.parts import PartsFolder
from thali._inference.seeds import build_seed_sequence
from thali._model.registry import spec_of
from thali._model.saved import describe, digest_of, encoded

Fit = tuple[str, int]  # the name of a model, and the number of the part that is left out


def fits_of(names: Iterable[str], parts: int) -> list[Fit]:
    """List all fits of a comparison."""
    return [(name, number) for name in names for number in range(parts)]


def key_of(fit: Fit) -> str:
    """The name of a fit in its job."""
    name, number = fit
    return f"{number} {name}"


# The folder of a comparison: what it says of itself, so that only the same comparison goes on with
# it


BY_PREDICTION, BY_EVIDENCE = "comparison by prediction", "comparison by evidence"  # kinds of jobs


@contextmanager
def opened_job(
    job: Any,
    kind: str,
    named: Mapping[str, Any],
    settings: Mapping[str, Any],
    data: Any,
    random_seed: Any,
    source: Arrays,
) -> Iterator[tuple[PartsFolder | None, np.random.SeedSequence]]:
    """The folder of a comparison, if it has one, and its seed, which is that of the job where none
    was given.

    `settings` and `data` are what determines the results; `source` is what makes a table of them
    without the data.
    """
    if job is None:
        yield None, build_seed_sequence(random_seed)
        return
    stamp = {
        "kind": kind,
        "models": {name: _described(model) for name, model in named.items()},
        "settings": {name: encoded(value, None) for name, value in settings.items()},
        "data": digest_of(data),
    }
    with PartsFolder(job, stamp, random_seed, source) as folder:
        yield folder, folder.seed


def _described(model: Any) -> dict[str, Any]:
    """What determines the results of a model, besides data and settings, as JSON."""
    if spec_of(model) is None:
        has_repr = type(model).__repr__ is not object.__repr__
        parameters = (
            {"model": repr(model)}
            if has_repr
            else {name: encoded(each, None) for name, each in vars(model).items()}
        )
        return {"class": type(model).__name__, "parameters": parameters}
    described = describe(model)
    return described | {
        "parameters": {
            name: value for name, value in described["parameters"].items() if name != "random_state"
        }
    }
