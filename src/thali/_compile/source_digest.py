"""Source text of compiled code, from which its name on disk is hashed.

The walk starts at an entry point and the classes of its model. It follows the names in each
function to other functions, to implementations of operations for these classes, and to values. The
digest covers exactly the input of Numba, bytecode and constants: comments, docstrings and the
folder of the sources do not affect it, and every change of machine code does. The name of a module
also affects the digest, because symbols of machine code and types of arguments contain it, and
stored code of a moved class cannot be read.
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
_ARGUMENTS = 0x0C  # flags of a code object: whether it takes *args and **kwargs
# libraries whose versions are in the name of stored code
_LASTING = ("builtins", "cmath", "math", "numba", "numpy")


@dataclass(frozen=True)
class CompiledSources:
    """Source text and digest of everything compiled into an entry point.

    Parameters
    ----------
    digest : str
        A SHA-256 of all sources; empty if text cannot identify one of the values.
    functions : tuple of function
        The functions in the order of the walk.
    modules : frozenset of str
        The modules of the model's classes and of the implementations of operations.
    unidentified : tuple of str
        The values that text cannot identify, as "name in function".
    """

    digest: str
    functions: tuple[Any, ...]
    modules: frozenset[str]
    unidentified: tuple[str, ...]


_MARKS: dict[Any, str] = {}  # by function: the decorator that tells how it is compiled


def mark_function(function: Any, mark: str) -> Any:
    """Note on a function how it is compiled; return it."""
    _MARKS[function] = mark
    return function


def collect_sources(
    function: Any, classes: Iterable[type[Any]] = (), options: str = ""
) -> CompiledSources:
    """Collect the source text of all functions that an entry point reaches.

    `options` is the text of the compilation options.
    """
    source_walk = _SourceWalk(options)
    for cls in classes:
        source_walk.note_class(cls)
        source_walk.modules.add(cls.__module__)
    source_walk.number_function(function)
    source_walk.finish()
    digest = ""
    if not source_walk.unidentified:
        digest = hashlib.sha256("\n".join(source_walk.lines).encode()).hexdigest()
    return CompiledSources(
        digest,
        tuple(source_walk.functions),
        frozenset(source_walk.modules),
        tuple(source_walk.unidentified),
    )


class _SourceWalk:
    """Search, from an entry point, of all functions and classes that it reaches."""

    def __init__(self, options: str) -> None:
        self.lines = [options]
        self.unidentified: list[str] = []
        self.modules: set[str] = set()
        self.functions: dict[Any, int] = {}
        self._classes: dict[Any, None] = {}  # these two are dictionaries for their order
        self._operations: dict[Any, None] = {}
        self._answered: set[tuple[Any, Any]] = set()
        self._function_name = ""

    def finish(self) -> None:
        """Read reached functions until no new function or class appears."""
        n_read = 0
        while True:
            for function in list(self.functions)[n_read:]:
                self._read_function(function)
                n_read += 1
            if n_read == len(self.functions) and not self._note_answers():
                return

    def number_function(self, function: Any) -> int:
        """Return the number of a function; number it if it is new."""
        return self.functions.setdefault(function, len(self.functions))

    def note_class(self, cls: Any) -> str:
        """Note a class whose implementations are reached; return its name."""
        if cls not in self._classes:
            self._classes[cls] = None
            self.lines.append(f"class {_qualify_name(cls)} {getattr(cls, '_fields', ())!r}")
            for default in getattr(cls, "_field_defaults", {}).values():
                self.lines.append(f"default {self._format_value(default, 'default')}")
        return _qualify_name(cls)

    def _note_answers(self) -> bool:
        """Note implementations of operations for reached classes; return whether any are new."""
        n_noted = len(self._answered)
        for operation in list(self._operations):
            for cls in (*self._classes, object):
                implementation = operation.answers.get(cls)
                if implementation is not None and (operation, cls) not in self._answered:
                    self._answered.add((operation, cls))
                    function_number = self.number_function(implementation)
                    self.modules.add(implementation.__module__)
                    self.lines.append(
                        f"answer {operation.__qualname__} {_qualify_name(cls)} {function_number}"
                    )
        return len(self._answered) > n_noted

    def _read_function(self, function: Any) -> None:
        """Note a function's code and the values of its global names."""
        python_function = getattr(function, "py_func", function)
        self._function_name = python_function.__qualname__
        mark = _MARKS.get(function, "")
        name = f"{python_function.__module__} {python_function.__name__}"
        self.lines.append(f"function {self.functions[function]} {name} {mark}")
        if isinstance(function, Dispatcher):
            self.lines.append(f"options {sorted(function.targetoptions.items(), key=str)!r}")
        if not isinstance(python_function, types.FunctionType):
            self.unidentified.append(f"{python_function!r}")
            return
        defaults = (
            *(python_function.__defaults__ or ()),
            *(python_function.__kwdefaults__ or {}).items(),
        )
        for default_index, default in enumerate(defaults):
            self.lines.append(f"default {default_index} {self._format_value(default, 'default')}")
        for name, cell in zip(
            python_function.__code__.co_freevars, python_function.__closure__ or (), strict=True
        ):
            self.lines.append(f"around {name} {self._format_value(cell.cell_contents, name)}")
        for code in iterate_codes(python_function):
            self.lines.append(self.format_code(code))
            for name in code.co_names:
                if name in python_function.__globals__:
                    value = python_function.__globals__[name]
                    value_text = self._format_global(value, name, code.co_names)
                    self.lines.append(f"name {name} {value_text}")

    def format_code(self, code: Any) -> str:
        """Return a code object as text, without docstring and line numbers."""
        instructions = bytearray(code.co_code)
        constants = []
        high_bits = 0
        for i in range(0, len(instructions), 2):
            operation = instructions[i]
            low_byte = instructions[i + 1]
            if operation == _EXTENDED:
                high_bits = (high_bits | low_byte) << 8
                continue
            if operation in _CONSTANT:
                instructions[i + 1] = 0
                constant = code.co_consts[high_bits | low_byte]
                if isinstance(constant, types.CodeType):
                    constants.append("code")
                else:
                    constants.append(self._format_value(constant, "constant"))
            high_bits = 0
        name_lists = (
            code.co_names,
            code.co_varnames,
            code.co_freevars,
            code.co_cellvars,
            code.co_argcount,
            code.co_flags & _ARGUMENTS,
        )
        return (
            f"code {instructions.hex()} {code.co_exceptiontable.hex()} {constants!r} {name_lists!r}"
        )

    def _format_global(self, value: Any, name: str, names: Iterable[str]) -> str:
        """Return the value of a global name as text."""
        # For a module that may change, the text lists the attributes that the function may use.
        if not isinstance(value, types.ModuleType) or _is_versioned(value.__name__):
            return self._format_value(value, name)
        attributes = [other for other in names if other != name and hasattr(value, other)]
        if not attributes:
            self.unidentified.append(f"{name} in {self._function_name}")
        return " ".join(
            f"{attribute} {self._format_global(getattr(value, attribute), attribute, names)}"
            for attribute in attributes
        )

    def _format_value(self, value: Any, name: str) -> str:
        """Return a value as text; functions and classes by number or name."""
        if isinstance(value, Dispatcher | types.FunctionType):
            if hasattr(value, "answers"):
                self._operations[value] = None
                return f"operation {value.__qualname__}"
            return f"function {self.number_function(value)}"
        if isinstance(value, type):
            if issubclass(value, tuple) and hasattr(value, "_fields"):
                return f"class {self.note_class(value)}"
            if _is_versioned(value.__module__) or issubclass(value, BaseException):
                return f"class {_qualify_name(value)}"
        if isinstance(value, types.BuiltinFunctionType | np.ufunc):
            return f"builtin {getattr(value, '__module__', None)}.{value.__name__}"
        text = format_constant(value)
        if text is None:
            self.unidentified.append(f"{name} in {self._function_name}")
        return text or ""


def iterate_codes(function: Any) -> Iterator[Any]:
    """Yield the code objects of a function and of functions defined in it."""
    codes_to_visit = [function.__code__]
    while codes_to_visit:
        code = codes_to_visit.pop(0)
        yield code
        codes_to_visit += [inner for inner in code.co_consts if isinstance(inner, types.CodeType)]


def _qualify_name(cls: Any) -> str:
    """Return "module.qualname" of a class."""
    return f"{cls.__module__}.{cls.__qualname__}"


def _is_versioned(module: str) -> bool:
    """Return whether the module belongs to a library whose version names the folder."""
    return module.split(".")[0] in _LASTING


def format_constant(value: Any) -> str | None:
    """Return a constant as text that identifies it; None if impossible."""
    if (
        value is None
        or value is Ellipsis
        or isinstance(value, bool | int | float | complex | str | bytes | np.dtype)
    ):
        return f"{type(value).__name__} {value!r}"
    if type(value) in (tuple, frozenset):
        entry_texts = [format_constant(entry) for entry in value]
        if type(value) is frozenset:
            entry_texts.sort(key=str)
        if None not in entry_texts:
            return f"{type(value).__name__} {entry_texts!r}"
    if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "biufcSU":
        return f"{value.dtype}{value.shape}{hashlib.sha256(value.tobytes()).hexdigest()}"
    if isinstance(value, types.ModuleType) and _is_versioned(value.__name__):
        return value.__name__
    return None


def format_module_code(module: types.ModuleType) -> str:
    """Return the code of a module's functions and methods as text."""
    members = [
        member
        for member in vars(module).values()
        if getattr(member, "__module__", "") == module.__name__
    ]
    methods = [method for cls in members if isinstance(cls, type) for method in vars(cls).values()]
    functions = [getattr(member, "fget", member) for member in (*members, *methods)]
    source_walk = _SourceWalk("")
    python_functions = [f for f in functions if isinstance(f, types.FunctionType)]
    return "\n".join(
        source_walk.format_code(code) for f in python_functions for code in iterate_codes(f)
    )
