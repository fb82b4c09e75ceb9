"""The arguments of a model: the call that makes it, and what is said of an argument that it has not."""

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from thali._labels import suggest
from thali.errors import UnknownArgumentError


def text_of_call(name: str, values: Mapping[str, Any], signature: Mapping[str, inspect.Parameter]) -> str:
    """The call that makes a model with these arguments; those with their usual values are left out."""
    shown = []
    for each, parameter in signature.items():
        value = values[each]
        if value is not parameter.default and repr(value) != repr(parameter.default):
            shown.append(f"{each}={value!r}")
    return f"{name}({', '.join(shown)})"


def names_checked(plain: Callable[..., Any]) -> Callable[..., Any]:
    """The constructor or `fit` of a class, which says of an argument that it has not where that belongs."""
    known = set(inspect.signature(plain).parameters)
    takes_any = any(p.kind is p.VAR_KEYWORD for p in inspect.signature(plain).parameters.values())

    @functools.wraps(plain)
    def checked(*given: Any, **named: Any) -> Any:
        if not takes_any and not known.issuperset(named):
            of_fit = plain.__name__ == "fit"
            raise _unknown(type(given[0]), of_fit, next(name for name in named if name not in known))
        return plain(*given, **named)

    return checked


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
