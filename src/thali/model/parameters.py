"""Parameters of a model in scikit-learn's manner: what `__init__` takes is what `get_params` gives back."""

import inspect
from typing import Any

from thali.errors import ArgumentError


class Parameters:
    """Base of every model: `get_params`, `set_params` and a repr that shows what differs from the defaults."""

    # Arguments that are kept under another name, because the model has a method of theirs.
    _kept_as: dict[str, str] = {}

    @classmethod
    def _signature(cls) -> dict[str, inspect.Parameter]:
        parameters = inspect.signature(cls.__init__).parameters
        return {name: p for name, p in parameters.items() if name != "self"}

    def get_params(self, deep: bool = True) -> dict[Any, Any]:
        """The arguments the model was made with, by name."""
        return {name: getattr(self, self._kept_as.get(name, name)) for name in self._signature()}

    def set_params(self, **params: Any) -> Any:
        """Change arguments by name; returns the model.

        Raises
        ------
        ArgumentError
            For a name that the model does not have.
        """
        known = self._signature()
        for name, value in params.items():
            if name not in known:
                raise ArgumentError(f"{type(self).__name__} has no parameter {name!r}; it has {', '.join(known)}.")
            setattr(self, self._kept_as.get(name, name), value)
        return self

    def __repr__(self) -> str:
        shown = []
        values = self.get_params()
        for name, parameter in self._signature().items():
            value = values[name]
            if value is not parameter.default and repr(value) != repr(parameter.default):
                shown.append(f"{name}={value!r}")
        return f"{type(self).__name__}({', '.join(shown)})"
