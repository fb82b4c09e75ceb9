"""Compilation to machine code: five decorators, and the only import of numba.

- `scalar` marks a leaf or a move: plain Python that a debugger can step through, compiled into its caller. `vectorised`
  is the same for loops that return a sum: the compiler may add in any order, so that it can use vector instructions.
  `part` is the same for what is long or called from many places: it is compiled once and called.
- `generic` declares an operation that priors or likelihoods implement. `operation.register(Class)` registers the
  implementation of one class, `operation.register(object)` the default.
- `kernel` marks an entry point. It is compiled once for each combination of model classes and kept on disk. The name
  under which it is stored ends in a digest of the sources, so that an edited callee is compiled again, and holds the
  names of the model classes, so that no combination can spoil the cache of another.
- `compiled` marks an entry point that serves no model, such as a pass over the rows of a regression.

Ctrl-C waits for a compilation: an exception in the middle would be swallowed by a callback of the compiler, or leave
half of the code behind. Two parts of this module: `_kernel_cache` checks what is read from disk, `_linked_code` keeps
from compiling what is never run by itself.

With NUMBA_DISABLE_JIT=1 everything runs as Python: tests follow both outcomes of every draw that way.

Compiled library code runs without reference counting (`_nrt=False`): an increment at every field of a NamedTuple of
arrays would cost half of the running time. Such code cannot allocate. A combination that holds a class from outside
the library is compiled with reference counting, so that users may allocate in their own likelihoods. Of functions
that users hand over (`likelihoods.Custom`) it is known whether they allocate; what is compiled with them is kept on
disk, under a name that holds a hash of them and of every value that they use, if all of these can be told.
"""

import functools
import hashlib
import inspect
import re
import sys
import types
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from numba import config, njit, typeof
from numba.core.cpu import CPUTargetOptions
from numba.core.dispatcher import Dispatcher
from numba.core.errors import NumbaError, NumbaPerformanceWarning
from numba.extending import overload, register_jitable

from ._kernel_cache import KernelCache, folder_of, refusal
from ._kernel_sources import digest_of, modules_with_kernels, text_of
from ._linked_code import APART, LINKED
from .inference.interrupts import held_back

# Only compiled code calls these: wrappers for callers from elsewhere would cost a sixth of the time to compile.
_CALLED: Any = {"error_model": "numpy", "no_cfunc_wrapper": True}
_INLINE: Any = {**_CALLED, **LINKED, "forceinline": True}
_SUM: Any = {**_INLINE, "fastmath": {"reassoc", "nsz", "contract"}}

scalar = register_jitable(**_INLINE)
part = register_jitable(**_CALLED, **APART, forceinline=False)  # else it is inlined where its caller is
vectorised = register_jitable(**_SUM)


_ANSWERS: list[dict[type[Any], Any]] = []  # of every operation


def generic(stub: Any) -> Any:
    """An operation: dispatches on the class of its first argument, in Python and in compiled code."""
    answers: dict[type[Any], Any] = {}
    _ANSWERS.append(answers)
    parameters = list(inspect.signature(stub).parameters)

    def answer(cls) -> Any:
        found = answers.get(cls, answers.get(object))
        if found is None:
            known = ", ".join(sorted(c.__name__ for c in answers)) or "no class yet"
            name = getattr(cls, "__name__", cls)
            raise TypeError(f"{stub.__name__} has no answer for {name}; it is registered for {known}.")
        return found

    @functools.wraps(stub)
    def operation(*args: Any) -> Any:
        return answer(type(args[0]))(*args)

    def compiled(*args: Any) -> Any:
        return answer(getattr(args[0], "instance_class", None))

    overload(operation, strict=False, jit_options=_INLINE)(compiled)

    def register(cls) -> Any:
        def keep(function: Any) -> Any:
            got = list(inspect.signature(function).parameters)
            if len(got) != len(parameters):
                raise TypeError(
                    f"{function.__qualname__}({', '.join(got)}) must take the arguments of "
                    f"{stub.__name__}({', '.join(parameters)})."
                )
            answers[cls] = function
            return function

        return keep

    vars(operation).update(register=register, answers=answers)
    return operation


def _classes(value: Any) -> Any:
    """The classes of a model: its own and those of the NamedTuples inside it."""
    yield type(value)
    for part_of_it in value:
        if hasattr(part_of_it, "_fields"):
            yield from _classes(part_of_it)


def _has_switch(name: str) -> bool:
    """Whether this numba knows a compiler switch; without `_nrt` code is slower by about two, otherwise the same."""
    return hasattr(CPUTargetOptions, name)


_UNCOUNTED: Any = {"_nrt": False} if _has_switch("_nrt") else {}


def _is_disabled() -> bool:
    """Whether NUMBA_DISABLE_JIT is set."""
    return bool(getattr(config, "DISABLE_JIT", False))


def _without_advice(call: Any) -> Any:
    """The value of a call that may compile; numba's advice about the speed of a user's function is not for the user."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NumbaPerformanceWarning)
        return call()


class kernel:
    """An entry point, compiled once for each combination of model classes: `function(rng, model, *rest)`."""

    registry: list["kernel"] = []

    def __init__(self, function: Any) -> None:
        functools.update_wrapper(self, function)
        self.python = function
        self._dispatchers: dict[tuple[Any, ...], Any] = {}
        kernel.registry.append(self)

    def __call__(self, rng: Any, model: Any, *rest: Any) -> Any:
        if _is_disabled():
            return self.python(rng, model, *rest)
        dispatcher = self.dispatcher(model)
        if dispatcher.signatures:
            return dispatcher(rng, model, *rest)
        return _without_advice(lambda: dispatcher(rng, model, *rest))

    def dispatcher(self, model: Any) -> Any:
        """The numba dispatcher that serves this combination of model classes."""
        classes = tuple(_classes(model))
        if classes not in self._dispatchers:
            self._dispatchers[classes] = self._specialise(classes)
        return self._dispatchers[classes]

    def is_compiled(self, model: Any) -> bool:
        """Whether a call needs no compilation."""
        if _is_disabled():
            return True
        dispatcher = self.dispatcher(model)
        if dispatcher.signatures:
            return True
        path = dispatcher._cache.cache_path
        return path is not None and any(Path(path).glob(f"*{dispatcher.py_func.__qualname__}*.nbi"))

    def _specialise(self, classes: Any) -> Any:
        # Whatever does not belong to the library: classes, and implementations of operations registered for them.
        modules = {c.__module__ for c in classes}
        for answers in _ANSWERS:
            modules.update(answers[c].__module__ for c in (*classes, object) if c in answers)
        foreign = sorted(m for m in modules if m.split(".")[0] != __name__.split(".")[0])
        # A later process can neither find nor distinguish what a script or a notebook defined.
        handed_over = [c for c in classes if hasattr(c, "allocates")]  # made of functions that a user wrote
        found_again = all(getattr(sys.modules.get(name), "__file__", None) for name in foreign)
        cacheable = "__main__" not in foreign and found_again and all(c.source for c in handed_over)
        digest = digest_of([self.python.__module__, *(sorted(modules) if cacheable else [])])
        name = "-".join([self.python.__name__, *(c.__name__ for c in classes), digest[:12]])
        copy = types.FunctionType(
            self.python.__code__, self.python.__globals__, self.python.__name__, self.python.__defaults__
        )
        copy.__qualname__ = name
        copy.__module__ = self.python.__module__
        counts = bool(foreign) or any(c.allocates for c in handed_over)
        return _dispatcher_of(
            copy, cacheable, {} if counts else _UNCOUNTED, lambda: self._dispatchers.pop(classes, None)
        )


def _dispatcher_of(
    function: Any, is_kept: bool, options: dict[str, Any], drop: Callable[[], Any] = lambda: None
) -> Any:
    """numba's dispatcher of a function; `drop` is called if compilation fails, so that the next call starts again."""
    dispatcher: Any = njit(nogil=True, error_model="numpy", **options)(function)
    if is_kept:
        dispatcher._cache = KernelCache(function)
    dispatcher.compile = functools.partial(_compile, dispatcher, drop)
    return dispatcher


_WAIT = "thali: stopping as soon as the compiler is done"


def _compile(dispatcher: Any, drop: Callable[[], Any], signature: Any) -> Any:
    """Compile or load, whole or not at all."""
    with held_back(_WAIT):
        try:
            return type(dispatcher).compile(dispatcher, signature)
        except BaseException:
            drop()
            raise


_HANDED_OVER: set[Any] = set()


def usable(function: Any, inline: bool) -> Any:
    """A user's plain function in a form that compiled code may call; one that numba compiled is returned unchanged."""
    if isinstance(function, types.FunctionType) and function not in _HANDED_OVER:
        _HANDED_OVER.add(function)
        (scalar if inline else part)(function)
        for called in _called(function):
            usable(called, inline=False)
    return function


def _called(function: Any) -> list[Any]:
    """What a user's function may call, among its globals and the variables around it: functions, compiled or not."""
    names = set()
    codes = [function.__code__]
    while codes:
        code = codes.pop()
        names.update(code.co_names)
        codes.extend(c for c in code.co_consts if isinstance(c, types.CodeType))
    around = [cell.cell_contents for cell in function.__closure__ or ()]
    found = [*(function.__globals__[name] for name in sorted(names) if name in function.__globals__), *around]
    ours = ("numpy", "numba", "scipy", __name__.split(".")[0])
    return [
        f
        for f in found
        if isinstance(f, Dispatcher)
        or (isinstance(f, types.FunctionType) and str(f.__module__).split(".")[0] not in ours)
    ]


def constants_digest(function: Any) -> str:
    """A hash of a user's function, of those that it calls, and of every value that is compiled into them; "" if one of
    these may change unseen, such as another module of the user."""
    digest, waiting, seen = hashlib.sha256(code_digest(function).encode()), [getattr(function, "py_func", function)], []
    while waiting:
        one = waiting.pop()
        if one in seen or not isinstance(one, types.FunctionType):
            continue
        seen.append(one)
        names = {name for code in _codes_of(one) for name in code.co_names} & set(one.__globals__)
        around = dict(zip(one.__code__.co_freevars, one.__closure__ or (), strict=True))
        values = {name: one.__globals__[name] for name in sorted(names)}
        values |= {name: cell.cell_contents for name, cell in sorted(around.items())}
        for name, value in (values | {"": one.__defaults__}).items():
            plain = getattr(value, "py_func", value)
            if isinstance(plain, types.FunctionType):
                waiting.append(plain)
            elif (text := text_of(value)) is None:
                return ""
            else:
                digest.update(f"{name}={text};".encode())
    return digest.hexdigest()


def _codes_of(function: Any) -> list[Any]:
    """The code of a function and of those inside it."""
    codes = [function.__code__]
    for code in codes:
        codes.extend(c for c in code.co_consts if isinstance(c, types.CodeType))
    return codes


def code_digest(function: Any) -> str:
    """A hash of the code of a user's function and of those that it calls."""
    digest, waiting, seen = hashlib.sha256(), [getattr(function, "py_func", function)], set()
    while waiting:
        one = waiting.pop()
        if one in seen or not isinstance(one, types.FunctionType):
            continue
        seen.add(one)
        waiting += [getattr(called, "py_func", called) for called in _called(one)]
        for code in _codes_of(one):
            constants = [c for c in code.co_consts if not isinstance(c, types.CodeType)]
            digest.update(code.co_code + repr((code.co_names, code.co_varnames, constants)).encode())
    return digest.hexdigest()


def compiled_alone(function: Any, arguments: Any) -> tuple[Any, bool]:
    """A user's function as separately compiled code, and whether it allocates memory."""
    if _is_disabled():
        return function, False
    plain = getattr(function, "py_func", function)
    for called in _called(plain):
        usable(called, inline=False)
    types_of = tuple(typeof(a) for a in arguments)
    # What numba compiled may return arrays, which code without reference counting would never free.
    counts = isinstance(function, Dispatcher) or any(isinstance(f, Dispatcher) for f in _called(plain))
    jit: Any = njit
    for options in ({},) if counts or not _UNCOUNTED else (_UNCOUNTED, {}):
        alone = jit(error_model="numpy", **options)(plain)
        alone.compile = functools.partial(_compile, alone, lambda: None)  # also for arguments of other types, later
        try:
            _without_advice(lambda alone=alone: alone.compile(types_of))
            return alone, options != _UNCOUNTED
        except NumbaError as error:
            message = str(error)
    raise TypeError(_heart(message))


def _heart(message: str) -> str:
    """The lines of numba's error that say what is wrong and where."""
    lines = [line.strip() for line in message.splitlines()]
    frame = ("Failed in", "During: ", "There are", "- Of which")
    lines = [line for line in lines if line and not line.startswith(frame)]
    said = next((line for line in lines if not line.startswith(("File ", ">>>", "-", "^"))), "numba gave no reason")
    place = re.search(r'File "[^"]*", line (\d+)', message)
    return said.rstrip(".") + (f" (line {place.group(1)})" if place else "")


_COMPILED: list[Any] = []  # the functions that `compiled` has decorated


def compiled(function: Any) -> Any:
    """An entry point that serves no model: compiled for the types of its arguments and kept on disk.

    The name under which it is kept ends in a digest of the sources of its module and of all that this imports. It runs
    without reference counting, like kernels.
    """
    return _kept_on_disk(function, _UNCOUNTED)


def allocating(function: Any) -> Any:
    """As `compiled`, with reference counting: for what makes arrays or views of them."""
    return _kept_on_disk(function, {})


def _kept_on_disk(function: Any, options: dict[str, Any]) -> Any:
    copy = types.FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    copy.__qualname__ = f"{function.__name__}-{digest_of([function.__module__])[:12]}"
    copy.__module__, copy.__doc__ = function.__module__, function.__doc__
    _COMPILED.append(function)
    return copy if _is_disabled() else _dispatcher_of(copy, True, options)


@dataclass(frozen=True)
class CacheInfo:
    """Where compiled code lies and how much of it there is."""

    paths: list[str]
    files: int
    bytes: int
    refused: dict[str, str] = field(default_factory=dict)  # of the paths, those that are not used, and why


def _cache_files() -> tuple[list[str], list[Path]]:
    for name in modules_with_kernels():
        import_module(name)  # brings its kernels into the registry
    functions = [*(k.python for k in kernel.registry), *_COMPILED]
    paths = sorted({p for f in functions if (p := folder_of(f)) is not None})
    names = {f.__name__ for f in functions}
    files = [f for p in paths for f in Path(p).glob("*.nb[ic]*") if any(f".{name}-" in f.name for name in names)]
    return paths, files


def cache_info() -> CacheInfo:
    """How much compiled code is kept on disk, and where."""
    paths, files = _cache_files()
    refused = {path: reason for path in paths if (reason := refusal(path))}
    return CacheInfo(paths, len(files), sum(f.stat().st_size for f in files), refused)


def cache_clear() -> int:
    """Remove every piece of compiled code that thali keeps on disk; returns how many files there were."""
    _, files = _cache_files()
    for file in files:
        file.unlink(missing_ok=True)
    return len(files)
