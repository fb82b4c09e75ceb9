"""What a piece of compiled code is made of: every function that it reaches, and every value that is
compiled in.

The walk starts at an entry point and the classes of its model. It follows the names that each
function uses: to other functions, to the answers that these classes give to an operation, to
values. Its text, and so its digest, is that of what Numba compiles, bytecode and constants, and of
nothing else: a comment, a docstring, or sources that lie in another folder change nothing, and
whatever changes machine code changes the digest. The name of a module does: the symbols of machine
code and the types of its arguments carry it, and what is stored of a class that has moved cannot be
read.
"""

import dis
import hashlib
import types
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba.core.dispatcher import Dispatcher

_CONSTANT = frozenset(dis.hasconst)
_EXTENDED = dis.opmap["EXTENDED_ARG"]
_ARGUMENTS = 0x0C  # of the flags of a code object: whether it takes *args and **kwargs
# their versions are part of the name of what is kept
_LASTING = ("builtins", "cmath", "math", "numba", "numpy")


@dataclass(frozen=True)
class CompiledSources:
    """What compiled code was made of.

    Parameters
    ----------
    digest : str
        A SHA-256 of all of it; "" if some of it is of a kind of which no text can tell one value
        from another.
    functions : tuple of function
        In the order in which they were found.
    modules : frozenset of str
        Those of the classes of the model, and of what answers operations for any class.
    untold : tuple of str
        What no text can tell, as "name in function".
    """

    digest: str
    functions: tuple[Any, ...]
    modules: frozenset[str]
    untold: tuple[str, ...]


_MARKS: dict[Any, str] = {}  # of a function: how it is compiled where it is called


def marked(function: Any, mark: str) -> Any:
    """The function, of which it is noted how it is compiled."""
    _MARKS[function] = mark
    return function


def reached_from(
    function: Any, classes: Iterable[type[Any]] = (), options: str = ""
) -> CompiledSources:
    """All that an entry point reaches, for a model of these classes, compiled with these
    options."""
    walk = _Walk(options)
    for cls in classes:
        walk.note_class(cls)
        walk.modules.add(cls.__module__)
    walk.number_of(function)
    walk.finish()
    digest = "" if walk.untold else hashlib.sha256("\n".join(walk.lines).encode()).hexdigest()
    return CompiledSources(
        digest, tuple(walk.functions), frozenset(walk.modules), tuple(walk.untold)
    )


class _Walk:
    """Functions by the numbers in which they were found, and the classes and operations that decide
    which are."""

    def __init__(self, options: str) -> None:
        self.lines = [options]
        self.untold: list[str] = []
        self.modules: set[str] = set()
        self.functions: dict[Any, int] = {}
        self._classes: dict[Any, None] = {}  # and these two in the order in which they were found
        self._operations: dict[Any, None] = {}
        self._answered: set[tuple[Any, Any]] = set()
        self._place = ""

    def finish(self) -> None:
        """Read every function that was found, then the answers of every class to every operation,
        until no more are."""
        read = 0
        while True:
            for function in list(self.functions)[read:]:
                self._read(function)
                read += 1
            if read == len(self.functions) and not self._note_answers():
                return

    def number_of(self, function: Any) -> int:
        """The number of a function, which is new if it was not found before."""
        return self.functions.setdefault(function, len(self.functions))

    def note_class(self, cls: Any) -> str:
        """The name of a class, whose answers then count."""
        if cls not in self._classes:
            self._classes[cls] = None
            self.lines.append(f"class {_named(cls)} {getattr(cls, '_fields', ())!r}")
            for default in getattr(cls, "_field_defaults", {}).values():
                self.lines.append(f"default {self._text(default, 'default')}")
        return _named(cls)

    def _note_answers(self) -> bool:
        """Note the answers of classes to operations; whether there were any that had not been
        noted."""
        found = False
        for operation in list(self._operations):
            for cls in (*self._classes, object):
                answer = operation.answers.get(cls)
                if answer is not None and (operation, cls) not in self._answered:
                    self._answered.add((operation, cls))
                    number = self.number_of(answer)
                    self.modules.add(answer.__module__)
                    self.lines.append(f"answer {operation.__qualname__} {_named(cls)} {number}")
                    found = True
        return found

    def _read(self, function: Any) -> None:
        """Note a function: how it is compiled, its code, and what each name in it stands for."""
        plain = getattr(function, "py_func", function)
        self._place = plain.__qualname__
        mark = _MARKS.get(function, "")
        self.lines.append(
            f"function {self.functions[function]} {plain.__module__} {plain.__name__} {mark}"
        )
        if isinstance(function, Dispatcher):
            self.lines.append(f"options {sorted(function.targetoptions.items(), key=str)!r}")
        if not isinstance(plain, types.FunctionType):
            self.untold.append(f"{plain!r}")
            return
        for position, default in enumerate(
            (*(plain.__defaults__ or ()), *(plain.__kwdefaults__ or {}).items())
        ):
            self.lines.append(f"default {position} {self._text(default, 'default')}")
        for name, cell in zip(plain.__code__.co_freevars, plain.__closure__ or (), strict=True):
            self.lines.append(f"around {name} {self._text(cell.cell_contents, name)}")
        for code in codes_of(plain):
            self.lines.append(self._code(code))
            for name in code.co_names:
                if name in plain.__globals__:
                    self.lines.append(
                        f"name {name} {self._global(plain.__globals__[name], name, code.co_names)}"
                    )

    def _code(self, code: Any) -> str:
        """The instructions and constants of a code object, the docstring and where it stands in its
        file left out."""
        instructions, constants = bytearray(code.co_code), []
        high = 0
        for place in range(0, len(instructions), 2):
            operation, low = instructions[place], instructions[place + 1]
            if operation == _EXTENDED:
                high = (high | low) << 8
                continue
            if operation in _CONSTANT:
                instructions[place + 1] = 0
                constant = code.co_consts[high | low]
                constants.append(
                    "code"
                    if isinstance(constant, types.CodeType)
                    else self._text(constant, "constant")
                )
            high = 0
        names = (
            code.co_names,
            code.co_varnames,
            code.co_freevars,
            code.co_cellvars,
            code.co_argcount,
            code.co_flags & _ARGUMENTS,
        )
        return f"code {instructions.hex()} {code.co_exceptiontable.hex()} {constants!r} {names!r}"

    def _global(self, value: Any, name: str, names: Iterable[str]) -> str:
        """A value that a name stands for; of a module that may change, whatever of it the function
        may use."""
        if not isinstance(value, types.ModuleType) or _is_lasting(value.__name__):
            return self._text(value, name)
        used = [other for other in names if other != name and hasattr(value, other)]
        if not used:
            self.untold.append(f"{name} in {self._place}")
        return " ".join(
            f"{other} {self._global(getattr(value, other), other, names)}" for other in used
        )

    def _text(self, value: Any, name: str) -> str:
        """A value as text; functions, operations and classes by the number or name under which they
        are noted."""
        if isinstance(value, Dispatcher | types.FunctionType):
            if hasattr(value, "answers"):
                self._operations[value] = None
                return f"operation {value.__qualname__}"
            return f"function {self.number_of(value)}"
        if isinstance(value, type):
            if issubclass(value, tuple) and hasattr(value, "_fields"):
                return f"class {self.note_class(value)}"
            if _is_lasting(value.__module__) or issubclass(value, BaseException):
                return f"class {_named(value)}"
        if isinstance(value, types.BuiltinFunctionType | np.ufunc):
            return f"builtin {getattr(value, '__module__', None)}.{value.__name__}"
        text = text_of(value)
        if text is None:
            self.untold.append(f"{name} in {self._place}")
        return text or ""


def codes_of(function: Any) -> Iterator[Any]:
    """The code of a function and of those inside it."""
    waiting = [function.__code__]
    while waiting:
        code = waiting.pop(0)
        yield code
        waiting += [each for each in code.co_consts if isinstance(each, types.CodeType)]


def _named(cls: Any) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


def _is_lasting(module: str) -> bool:
    """Whether a module is of a library whose version is part of the name of what is kept, or of
    Python."""
    return module.split(".")[0] in _LASTING


def text_of(value: Any) -> str | None:
    """A value that is compiled into code, as text; None if it is of a kind that text does not tell
    apart."""
    if isinstance(value, types.ModuleType):
        return value.__name__ if _is_lasting(value.__name__) else None
    if (
        value is None
        or value is Ellipsis
        or isinstance(value, bool | int | float | complex | str | bytes | np.dtype)
    ):
        return f"{type(value).__name__} {value!r}"
    if type(value) in (tuple, frozenset):
        parts = [text_of(each) for each in value]
        if type(value) is frozenset:
            parts.sort(key=str)
        return None if None in parts else f"{type(value).__name__} {parts!r}"
    if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "biufcSU":
        return f"{value.dtype}{value.shape}{hashlib.sha256(value.tobytes()).hexdigest()}"
    return None


def text_of_module(module: types.ModuleType) -> str:
    """The code of all functions of a module and of its classes, as text: for parts of the compiler
    itself."""
    own = [
        each for each in vars(module).values() if getattr(each, "__module__", "") == module.__name__
    ]
    inside = [each for cls in own if isinstance(cls, type) for each in vars(cls).values()]
    plain = [getattr(each, "fget", each) for each in (*own, *inside)]
    walk = _Walk("")
    return "\n".join(
        walk._code(c) for f in plain if isinstance(f, types.FunctionType) for c in codes_of(f)
    )
