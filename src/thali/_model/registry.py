"""The models of thali: one `ModelSpec` each, in the folder of the model."""

from typing import TYPE_CHECKING, Any

from thali._late import MODELS, load

from .aliases import plain
from .spec import ModelSpec

if TYPE_CHECKING:
    import pandas

SPECS: tuple[ModelSpec, ...] = tuple(map(load, MODELS))


def models() -> "pandas.DataFrame":
    """The models of thali.

    Returns
    -------
    pandas.DataFrame
        One row a model, indexed by its name at the command line: class (its name in `thali`), data
        (what `fit` takes), aliases, methods, answers (what it finds out).

    Examples
    --------
    >>> import thali as th
    >>> th.models().loc["additive-clustering", "class"]
    'AdditiveClustering'
    """
    import pandas

    rows = [
        {
            "class": spec.cls.partition(":")[2],
            "data": ", ".join(spec.data),
            "aliases": ", ".join(spec.aliases),
            "methods": ", ".join(spec.methods),
            "answers": spec.answers,
        }
        for spec in SPECS
    ]
    return pandas.DataFrame(rows, index=pandas.Index([spec.name for spec in SPECS], name="model"))


def features_of(kind: str) -> str:
    """The argument for the features of the models of a kind of data: aspects or features; "" if
    they have none."""
    return next((spec.features for spec in SPECS if kind in spec.data and spec.options), "")


def model_named(name: str, parameters: dict[str, Any]) -> Any | None:
    """The model of a class with these parameters, as a file has them; None if thali has no class of
    that name."""
    spec = spec_of_class(name)
    return None if spec is None else spec.load()(**parameters)


def spec_of(model: Any) -> ModelSpec | None:
    """The spec of the model of thali that an object is, or descends from; None for one of somebody
    else."""
    own = (
        spec_of_class(kept.__name__)
        for kept in type(model).__mro__
        if kept.__module__.startswith("thali.")
    )
    return next((spec for spec in own if spec is not None), None)


def spec_named(name: str) -> ModelSpec | None:
    """The model of that name or alias; capitals, hyphens and underscores do not matter."""
    return {plain(known): spec for spec in SPECS for known in (spec.name, *spec.aliases)}.get(
        plain(name)
    )


def spec_of_class(name: str) -> ModelSpec | None:
    """The model whose class has that name."""
    return {spec.cls.partition(":")[2]: spec for spec in SPECS}.get(name)
