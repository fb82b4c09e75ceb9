"""Registry of the models: one `ModelSpec` each, in the folder of the model."""

from typing import TYPE_CHECKING, Any

from thali._lazy_imports import MODELS, load_object

from .aliases import normalise_name
from .model_spec import ModelSpec

if TYPE_CHECKING:
    import pandas

    from .base import Model

SPECS: tuple[ModelSpec, ...] = tuple(map(load_object, MODELS))


def models() -> "pandas.DataFrame":
    """Return a table of thali's models: name, data, methods.

    Returns
    -------
    pandas.DataFrame
        One row per model, indexed by its name at the command line: class (its name in `thali`),
        data (accepted by `fit`), aliases, methods, answers (the results).

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


def get_features_argument(data_kind: str) -> str:
    """Return the name of the features argument for this data kind; "" if none."""
    return next((spec.features for spec in SPECS if data_kind in spec.data and spec.options), "")


def build_model(name: str, parameters: dict[str, Any]) -> Any | None:
    """Construct the model of the class with this stored name; None if unknown."""
    spec = find_spec_by_class(name)
    if spec is None:
        return None
    return spec.load()(**parameters)


def find_spec(model: "Model") -> ModelSpec | None:
    """Return the `ModelSpec` of a model's class or nearest base class, or None."""
    specs = (
        find_spec_by_class(base.__name__)
        for base in type(model).__mro__
        if base.__module__.startswith("thali.")
    )
    return next((spec for spec in specs if spec is not None), None)


def find_spec_by_name(name: str) -> ModelSpec | None:
    """Return the `ModelSpec` with this name or alias (case and hyphens ignored), or None."""
    return {
        normalise_name(alias): spec for spec in SPECS for alias in (spec.name, *spec.aliases)
    }.get(normalise_name(name))


def find_spec_by_class(name: str) -> ModelSpec | None:
    """Return the `ModelSpec` of the model class with this name, or None."""
    return {spec.cls.partition(":")[2]: spec for spec in SPECS}.get(name)
