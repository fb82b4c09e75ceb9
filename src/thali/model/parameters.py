"""Parameters of a model in scikit-learn's manner: what `__init__` takes is what `get_params` gives back."""

import functools
import inspect
from collections.abc import Callable
from typing import Any

from thali._labels import suggest
from thali.errors import ArgumentError, UnknownArgumentError


class Parameters:
    """Base of every model: `get_params`, `set_params` and a repr that shows what differs from the defaults."""

    # Arguments that are kept under another name, because the model has a method of theirs.
    _kept_as: dict[str, str] = {}

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        for name in ("__new__", "__init__", "fit"):
            if name in vars(cls):
                setattr(cls, name, _names_checked(vars(cls)[name]))

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


def _names_checked(function: Any) -> Any:
    """The constructor or `fit` of a class, which says of an argument that it has not where that belongs."""
    plain: Callable[..., Any] = function.__func__ if isinstance(function, staticmethod) else function
    known = set(inspect.signature(plain).parameters)
    takes_any = any(p.kind is p.VAR_KEYWORD for p in inspect.signature(plain).parameters.values())

    @functools.wraps(plain)
    def checked(*given: Any, **named: Any) -> Any:
        if not takes_any and not known.issuperset(named):
            of_fit = plain.__name__ == "fit"
            cls = given[0] if isinstance(given[0], type) else type(given[0])
            raise _unknown(cls, of_fit, next(name for name in named if name not in known))
        return plain(*given, **named)

    return staticmethod(checked) if isinstance(function, staticmethod) else checked


def _unknown(cls: Any, of_fit: bool, name: str) -> UnknownArgumentError:
    """The error of an argument that the constructor, or `fit`, does not have."""
    other = cls._signature() if of_fit else inspect.signature(cls.fit).parameters
    if name in other and name not in ("self", "data"):
        place = f"the constructor, {cls.__name__}({name}=...)" if of_fit else f"fit(data, {name}=...)"
        return UnknownArgumentError(f"{cls.__name__}{'.fit' * of_fit} takes no `{name}`; give it to {place}.")
    names = [each for each in inspect.signature(cls.fit if of_fit else cls.__init__).parameters if each != "self"]
    has = ", ".join(names) if names else "nothing"
    return UnknownArgumentError(
        f"{cls.__name__}{'.fit' * of_fit} takes no `{name}`; it takes {has}.{suggest(name, names)}"
    )
