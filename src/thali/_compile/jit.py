"""Compilation to machine code: five decorators, and the only import of numba.

- `scalar` marks a leaf or a move: plain Python that a debugger can step through, compiled into its
  caller. `vectorised` is the same for loops that return a sum: the compiler may add in any order,
  so that it can use vector instructions. `part` is the same for what is long or called from many
  places: it is compiled once and called.
- `generic` declares an operation that priors or likelihoods implement. `operation.register(Class)`
  registers the implementation of one class, `operation.register(object)` the default.
- `kernel` marks an entry point. It is compiled once for each combination of model classes and kept
  on disk. The name under which it is stored ends in a digest of all that it reaches, so that an
  edited callee is compiled again and nothing else is, and holds the names of the model classes.
- `compiled` marks an entry point that serves no model, such as a pass over the rows of a
  regression.

Ctrl-C waits for a compilation: an exception in the middle would be swallowed by a callback of the
compiler, or leave half of the code behind. It waits for a call, too, which it could not interrupt
anyway: while Numba hands over a random generator it calls `ctypes.cast`, and an exception in there
is a segmentation fault.

Beside this module `reached` finds what code is made of, `store` keeps it and checks what is read
from disk, `targets` knows processors, and `linked` keeps from compiling what is never run by
itself.

With NUMBA_DISABLE_JIT=1 everything runs as Python: tests follow both outcomes of every draw that
way.

Compiled library code runs without reference counting (`_nrt=False`): an increment at every field of
a NamedTuple of arrays would cost half of the running time. Such code cannot allocate. A combination
that holds a class from outside the library is compiled with reference counting, so that users may
allocate in their own likelihoods. Of functions that users hand over (`likelihoods.Custom`) it is
known whether they allocate; what is compiled with them is kept on disk if every value that they use
can be told from others of its kind.
"""

import functools
import gc
import hashlib
import inspect
import re
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

from numba import config, njit, typeof
from numba.core.compiler_lock import global_compiler_lock
from numba.core.cpu import CPUTargetOptions
from numba.core.dispatcher import Dispatcher
from numba.core.errors import NumbaError, NumbaPerformanceWarning
from numba.extending import overload, register_jitable

from thali._inference.interrupts import DelayedInterrupt

from . import linked
from .linked import APART, LINKED
from .reached import codes_of, marked, reached_from, text_of_module
from .store import KernelCache

F = TypeVar("F", bound=Callable[..., Any])

# Only compiled code calls these: wrappers for callers from elsewhere would cost a sixth of the time
# to compile.
_CALLED: Any = {"error_model": "numpy", "no_cfunc_wrapper": True}
_INLINE: Any = {**_CALLED, **LINKED, "forceinline": True}
_SUM: Any = {**_INLINE, "fastmath": {"reassoc", "nsz", "contract"}}


class Marker(Protocol):
    """A decorator of functions that compiled code calls; it returns the function itself."""

    def __call__(self, function: F, /) -> F: ...


def _marker(mark: str, options: dict[str, Any]) -> Marker:
    """The decorator of functions that are compiled with these options."""
    jitable: Any = register_jitable(**options)
    return lambda function: jitable(marked(function, mark))


scalar: Marker = _marker("scalar", _INLINE)
# else it is inlined where its caller is
part: Marker = _marker("part", {**_CALLED, **APART, "forceinline": False})
vectorised: Marker = _marker("vectorised", _SUM)


@functools.cache
def _how() -> str:
    """How functions are compiled, as text: a part of every digest."""
    parts: Any = linked
    return (
        f"{_CALLED!r} {sorted(_SUM)!r} {sorted(_SUM['fastmath'])!r} {_UNCOUNTED!r}"
        f" {text_of_module(parts)}"
    )


def generic(stub: Any) -> Any:
    """An operation: dispatches on the class of its first argument, in Python and in compiled
    code."""
    answers: dict[type[Any], Any] = {}
    parameters = list(inspect.signature(stub).parameters)

    def answer(cls) -> Any:
        found = answers.get(cls, answers.get(object))
        if found is None:
            known = ", ".join(sorted(c.__name__ for c in answers)) or "no class yet"
            name = getattr(cls, "__name__", cls)
            raise TypeError(
                f"{stub.__name__} is not defined for {name}; it is registered for {known}."
            )
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
    """Whether this numba knows a compiler switch; without `_nrt` code is slower by about two,
    otherwise the same."""
    return hasattr(CPUTargetOptions, name)


_UNCOUNTED: Any = {"_nrt": False} if _has_switch("_nrt") else {}


def _is_disabled() -> bool:
    """Whether NUMBA_DISABLE_JIT is set."""
    return bool(getattr(config, "DISABLE_JIT", False))


class kernel:
    """An entry point, compiled once for each combination of model classes: `function(rng, model,
    *rest)`."""

    def __init__(self, function: Any) -> None:
        functools.update_wrapper(self, function)
        self.python = function
        self._dispatchers: dict[tuple[Any, ...], Any] = {}

    def __call__(self, rng: Any, model: Any, *rest: Any) -> Any:
        if _is_disabled():
            return self.python(rng, model, *rest)
        with DelayedInterrupt():
            return self.dispatcher(model)(rng, model, *rest)

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
        return isinstance(dispatcher._cache, KernelCache) and dispatcher._cache.is_kept()

    def _specialise(self, classes: Any) -> Any:
        reached = reached_from(self.python, classes, _how())
        # Whatever does not belong to the library: classes, and answers to operations registered for
        # them.
        foreign = sorted(m for m in reached.modules if m.split(".")[0] != __name__.split(".")[0])
        # A later process can neither find nor distinguish what a script or a notebook defined.
        found_again = all(getattr(sys.modules.get(name), "__file__", None) for name in foreign)
        is_kept = bool(reached.digest) and "__main__" not in foreign and found_again
        name = "-".join([self.python.__name__, *(c.__name__ for c in classes), reached.digest[:20]])
        counts = bool(foreign) or any(c.allocates for c in classes if hasattr(c, "allocates"))
        return _dispatcher_of(
            _copy_of(self.python, name),
            is_kept,
            {} if counts else _UNCOUNTED,
            lambda: self._dispatchers.pop(classes, None),
        )


def _copy_of(function: Any, name: str) -> Any:
    """The function under the name that its compiled code is kept by."""
    copy = types.FunctionType(
        function.__code__,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    copy.__qualname__, copy.__module__, copy.__doc__ = name, function.__module__, function.__doc__
    return copy


def _dispatcher_of(
    function: Any, is_kept: bool, options: dict[str, Any], drop: Callable[[], Any] = lambda: None
) -> Any:
    """numba's dispatcher of a function; `drop` is called if compilation fails, so that the next
    call starts again."""
    dispatcher: Any = njit(nogil=True, error_model="numpy", **options)(function)
    if is_kept:
        dispatcher._cache = KernelCache(function.__qualname__)
    dispatcher.compile = functools.partial(_compile, dispatcher, drop)
    return dispatcher


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Without Numba's advice about the speed of a user's function, and without collections of
    garbage."""
    # The advice is not for the user; the compiler makes objects by the million, and rarely circles
    # of them. Both are of the whole process, so one thread at a time compiles, as Numba wants it
    # anyway.
    with global_compiler_lock, warnings.catch_warnings():
        warnings.simplefilter("ignore", NumbaPerformanceWarning)
        was_enabled = gc.isenabled()
        gc.disable()
        try:
            yield
        finally:
            if was_enabled:
                gc.enable()


_WAIT = "thali: stopping after the compiler finishes"


def _compile(dispatcher: Any, drop: Callable[[], Any], signature: Any) -> Any:
    """Compile or load, whole or not at all."""
    with DelayedInterrupt(_WAIT), _undisturbed():
        try:
            return type(dispatcher).compile(dispatcher, signature)
        except BaseException:
            drop()
            raise


_HANDED_OVER: set[Any] = set()


def usable(function: Any, inline: bool) -> Any:
    """A user's plain function in a form that compiled code may call; one that numba compiled is
    returned unchanged."""
    if isinstance(function, types.FunctionType) and function not in _HANDED_OVER:
        _HANDED_OVER.add(function)
        (scalar if inline else part)(function)
        for called in _called(function):
            usable(called, inline=False)
    return function


def _called(function: Any) -> list[Any]:
    """What a user's function may call, among its globals and the variables around it: functions,
    compiled or not."""
    names = set()
    codes = [function.__code__]
    while codes:
        code = codes.pop()
        names.update(code.co_names)
        codes.extend(c for c in code.co_consts if isinstance(c, types.CodeType))
    around = [cell.cell_contents for cell in function.__closure__ or ()]
    found = [
        *(function.__globals__[name] for name in sorted(names) if name in function.__globals__),
        *around,
    ]
    ours = ("numpy", "numba", "scipy", __name__.split(".")[0])
    return [
        f
        for f in found
        if isinstance(f, Dispatcher)
        or (isinstance(f, types.FunctionType) and str(f.__module__).split(".")[0] not in ours)
    ]


def constants_digest(function: Any) -> str:
    """A hash of a user's function, of those that it calls, and of every value that is compiled into
    them; "" if one of these may change unseen."""
    return reached_from(function).digest


def code_digest(function: Any) -> str:
    """A hash of the code of a user's function and of those that it calls."""
    digest, waiting, seen = hashlib.sha256(), [getattr(function, "py_func", function)], set()
    while waiting:
        one = waiting.pop()
        if one in seen or not isinstance(one, types.FunctionType):
            continue
        seen.add(one)
        waiting += [getattr(called, "py_func", called) for called in _called(one)]
        for code in codes_of(one):
            constants = [c for c in code.co_consts if not isinstance(c, types.CodeType)]
            digest.update(
                code.co_code + repr((code.co_names, code.co_varnames, constants)).encode()
            )
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
    counts = isinstance(function, Dispatcher) or any(
        isinstance(f, Dispatcher) for f in _called(plain)
    )
    jit: Any = njit
    message = ""
    for options in ({},) if counts or not _UNCOUNTED else (_UNCOUNTED, {}):
        alone = jit(error_model="numpy", **options)(plain)
        # also for arguments of other types, later
        alone.compile = functools.partial(_compile, alone, lambda: None)
        try:
            alone.compile(types_of)
            return alone, options != _UNCOUNTED
        except NumbaError as error:
            message = str(error)
    raise TypeError(_heart(message))


def _heart(message: str) -> str:
    """The lines of numba's error that say what is wrong and where."""
    lines = [line.strip() for line in message.splitlines()]
    frame = ("Failed in", "During: ", "There are", "- Of which")
    lines = [line for line in lines if line and not line.startswith(frame)]
    reason = next(
        (line for line in lines if not line.startswith(("File ", ">>>", "-", "^"))),
        "numba gave no reason",
    )
    place = re.search(r'File "[^"]*", line (\d+)', message)
    return reason.rstrip(".") + (f" (line {place.group(1)})" if place else "")


class compiled:
    """An entry point that serves no model: compiled for the types of its arguments and kept on
    disk.

    The name under which it is kept ends in a digest of all that it reaches. It runs without
    reference counting, like kernels. Only Python calls it: code loaded from disk cannot be compiled
    into other code.
    """

    _options: dict[str, Any] = _UNCOUNTED

    def __init__(self, function: Any) -> None:
        functools.update_wrapper(self, function)
        self.python = function

    def __call__(self, *args: Any) -> Any:
        if _is_disabled():
            return self.python(*args)
        with DelayedInterrupt():
            return self.dispatcher(*args)

    @functools.cached_property
    def dispatcher(self) -> Any:
        """The numba dispatcher, made when it is first needed: only then is there all that the
        function reaches."""
        reached = reached_from(self.python, (), _how())
        name = f"{self.python.__name__}-{reached.digest[:20]}"
        return _dispatcher_of(_copy_of(self.python, name), bool(reached.digest), self._options)


class allocating(compiled):
    """As `compiled`, with reference counting: for what makes arrays or views of them."""

    _options: dict[str, Any] = {}
