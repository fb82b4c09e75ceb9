"""Decorators that compile functions with numba.

- `scalar` marks a leaf or a move: plain Python that a debugger can step through, compiled into its
  caller. `vectorised` is the same for loops that return a sum: the compiler may add in any order,
  so that it can use vector instructions. `part` is the same for long functions and functions with
  many callers: it is compiled once and called.
- `generic` declares an operation that priors or likelihoods implement. `operation.register(Class)`
  registers the implementation of one class, `operation.register(object)` the default.
- `kernel` marks an entry point. It is compiled once for each combination of model classes and
  stored on disk. The name of the stored code contains the names of the model classes and ends in a
  digest of everything that the code reaches, so that only callers of an edited function are
  compiled again.
- `compiled` marks an entry point without a model, such as a pass over the rows of a regression.

Ctrl-C waits for a compilation: a callback of the compiler would swallow the exception, or the code
would be incomplete. Ctrl-C also waits for a call, because an exception in `ctypes.cast`, which
Numba calls for a random generator, is a segmentation fault.

The module `source_digest` collects the sources of code, `compiled_code_files` stores compiled code
and checks files from disk, `processor_types` describes processors, and `linked_libraries` avoids
the compilation of functions that only run within others.

With NUMBA_DISABLE_JIT=1 everything runs as Python, so that tests can follow both outcomes of every
draw.

Compiled library code runs without reference counting (`_nrt=False`): an increment at every field of
a NamedTuple of arrays would take half of the running time. Such code cannot allocate. Combinations
with a class from outside the library are compiled with reference counting, so that likelihoods of
users may allocate. For functions of users (`likelihoods.Custom`) it is tested whether they
allocate. Code compiled with them is stored if text identifies every value that they use.
"""

import functools
import gc
import hashlib
import inspect
import re
import sys
import types
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

from numba import config, njit, typeof
from numba.core.compiler_lock import global_compiler_lock
from numba.core.cpu import CPUTargetOptions
from numba.core.dispatcher import Dispatcher
from numba.core.errors import NumbaError, NumbaPerformanceWarning
from numba.extending import overload, register_jitable

from thali._inference.delayed_interrupt import DelayedInterrupt

from . import linked_libraries
from .compiled_code_files import KernelCache
from .linked_libraries import APART, LINKED
from .source_digest import collect_sources, format_module_code, iterate_codes, mark_function

F = TypeVar("F", bound=Callable[..., Any])

# Only compiled code calls these: wrappers for other callers would take a sixth of the time to
# compile.
_CALLED: Any = {"error_model": "numpy", "no_cfunc_wrapper": True}
_INLINE: Any = {**_CALLED, **LINKED, "forceinline": True}
_SUM: Any = {**_INLINE, "fastmath": {"reassoc", "nsz", "contract"}}


class Marker(Protocol):
    """Decorator of a function that compiled code calls; it returns the plain function."""

    def __call__(self, function: F, /) -> F: ...


def _build_jit_decorator(mark: str, options: dict[str, Any]) -> Marker:
    """Return a decorator that compiles functions with these numba options."""
    jitable: Any = register_jitable(**options)
    return lambda function: jitable(mark_function(function, mark))


scalar: Marker = _build_jit_decorator("scalar", _INLINE)
# without forceinline=False it would be inlined together with its caller
part: Marker = _build_jit_decorator("part", {**_CALLED, **APART, "forceinline": False})
vectorised: Marker = _build_jit_decorator("vectorised", _SUM)


@functools.cache
def _describe_options() -> str:
    """Return all compilation options as text, for digests of compiled code."""
    linked_module: Any = linked_libraries
    return (
        f"{_CALLED!r} {sorted(_SUM)!r} {sorted(_SUM['fastmath'])!r} {_UNCOUNTED!r}"
        f" {format_module_code(linked_module)}"
    )


def generic(stub: Any) -> Any:
    """Return a function that dispatches on the class of its first argument.

    It dispatches in Python and in compiled code.
    """
    answers: dict[type[Any], Any] = {}
    parameters = list(inspect.signature(stub).parameters)

    def find_answer(cls) -> Any:
        """Return the implementation registered for a class; raise TypeError if none."""
        answer = answers.get(cls, answers.get(object))
        if answer is None:
            class_names = ", ".join(sorted(c.__name__ for c in answers)) or "no class yet"
            name = getattr(cls, "__name__", cls)
            raise TypeError(
                f"{stub.__name__} is not defined for {name}; it is registered for {class_names}."
            )
        return answer

    @functools.wraps(stub)
    def operation(*args: Any) -> Any:
        """Call the implementation for the first argument's class."""
        return find_answer(type(args[0]))(*args)

    def find_compiled_answer(*args: Any) -> Any:
        """Return the implementation for a numba type, for compiled code."""
        return find_answer(getattr(args[0], "instance_class", None))

    overload(operation, strict=False, jit_options=_INLINE)(find_compiled_answer)

    def register(cls) -> Any:
        """Return a decorator that registers an implementation for a class."""

        def store_answer(function: Any) -> Any:
            """Register the function; raise TypeError for other parameters."""
            function_parameters = list(inspect.signature(function).parameters)
            if len(function_parameters) != len(parameters):
                raise TypeError(
                    f"{function.__qualname__}({', '.join(function_parameters)}) must take the"
                    f" arguments of {stub.__name__}({', '.join(parameters)})."
                )
            answers[cls] = function
            return function

        return store_answer

    vars(operation).update(register=register, answers=answers)
    return operation


def return_true(instance: Any) -> Any:
    """Return True, as an implementation that depends on the class alone."""
    return True


def return_false(instance: Any) -> Any:
    """Return False, as an implementation that depends on the class alone."""
    return False


def register_answers(cls: type[Any], answers: Mapping[Any, bool]) -> None:
    """Register constant answers, True or False, of operations for a class."""
    for operation, answer in answers.items():
        if answer:
            operation.register(cls)(return_true)
        else:
            operation.register(cls)(return_false)


def _iterate_classes(value: Any) -> Any:
    """Yield the class of a model (a NamedTuple) and of the NamedTuples in it."""
    yield type(value)
    for field in value:
        if hasattr(field, "_fields"):
            yield from _iterate_classes(field)


_UNCOUNTED: Any = {}
if hasattr(CPUTargetOptions, "_nrt"):  # an option of newer versions of numba
    _UNCOUNTED = {"_nrt": False}


def _is_disabled() -> bool:
    """Return whether NUMBA_DISABLE_JIT is set, so that nothing is compiled."""
    return bool(getattr(config, "DISABLE_JIT", False))


class kernel:
    """Decorator of a sampler `function(rng, model, *rest)`, compiled for each model class."""

    def __init__(self, python_function: Any) -> None:
        functools.update_wrapper(self, python_function)
        self.python = python_function
        self._dispatchers: dict[tuple[Any, ...], Any] = {}

    def __call__(self, rng: Any, model: Any, *arguments: Any) -> Any:
        if _is_disabled():
            return self.python(rng, model, *arguments)
        with DelayedInterrupt():
            return self.dispatcher(model)(rng, model, *arguments)

    def dispatcher(self, model: Any) -> Any:
        """Return the numba dispatcher for the classes of this model."""
        classes = tuple(_iterate_classes(model))
        if classes not in self._dispatchers:
            self._dispatchers[classes] = self._build_specialised_dispatcher(classes)
        return self._dispatchers[classes]

    def is_compiled(self, model: Any) -> bool:
        """Return whether code for this model is compiled, in memory or on disk."""
        if _is_disabled():
            return True
        dispatcher = self.dispatcher(model)
        if dispatcher.signatures:
            return True
        return isinstance(dispatcher._cache, KernelCache) and dispatcher._cache.is_stored()

    def _build_specialised_dispatcher(self, classes: Any) -> Any:
        """Build the numba dispatcher for these model classes."""
        sources = collect_sources(self.python, classes, _describe_options())
        # modules of users: of classes, and of operations registered for them
        user_modules = sorted(
            m for m in sources.modules if m.split(".")[0] != __name__.split(".")[0]
        )
        # A later process cannot find or distinguish definitions of a script or a notebook.
        are_importable = all(
            getattr(sys.modules.get(name), "__file__", None) for name in user_modules
        )
        is_stored = bool(sources.digest) and "__main__" not in user_modules and are_importable
        stored_name = "-".join(
            [self.python.__name__, *(c.__name__ for c in classes), sources.digest[:20]]
        )
        counts_references = bool(user_modules) or any(
            c.allocates for c in classes if hasattr(c, "allocates")
        )
        options = _UNCOUNTED
        if counts_references:
            options = {}
        function = _copy_function(self.python, stored_name)
        return _build_dispatcher(
            function, is_stored, options, lambda: self._dispatchers.pop(classes, None)
        )


def _copy_function(function: Any, name: str) -> Any:
    """Return a copy of the function with the name under which its code is stored."""
    copy = types.FunctionType(
        function.__code__,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    copy.__qualname__ = name
    copy.__module__ = function.__module__
    copy.__doc__ = function.__doc__
    return copy


def _build_dispatcher(
    function: Any,
    is_stored: bool,
    options: dict[str, Any],
    discard: Callable[[], Any] = lambda: None,
) -> Any:
    """Build numba's dispatcher of a function, with thali's cache on disk."""
    # `discard` is called if compilation fails, so that the next call starts again.
    dispatcher: Any = njit(nogil=True, error_model="numpy", **options)(function)
    if is_stored:
        dispatcher._cache = KernelCache(function.__qualname__)
    dispatcher.compile = functools.partial(_compile, dispatcher, discard)
    return dispatcher


@contextmanager
def _silence_compiler() -> Iterator[None]:
    """Suppress numba's warnings and garbage collection within this block."""
    # The advice is not for the user. The compiler creates millions of objects, and almost no
    # reference cycles. Both settings affect the entire process, so one thread compiles at a time,
    # as Numba requires anyway.
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


def _compile(dispatcher: Any, discard: Callable[[], Any], signature: Any) -> Any:
    """Compile a dispatcher for argument types, or load its code from disk."""
    with DelayedInterrupt(_WAIT), _silence_compiler():
        try:
            return type(dispatcher).compile(dispatcher, signature)
        except BaseException:
            discard()
            raise


_HANDED_OVER: set[Any] = set()


def register_user_function(function: Any, inline: bool) -> Any:
    """Let compiled code call a user's function; return it unchanged."""
    if isinstance(function, types.FunctionType) and function not in _HANDED_OVER:
        _HANDED_OVER.add(function)
        decorator = part
        if inline:
            decorator = scalar
        decorator(function)
        for called_function in _find_called_functions(function):
            register_user_function(called_function, inline=False)
    return function


def _find_called_functions(function: Any) -> list[Any]:
    """Return the Python functions that a user's function calls."""
    called_names = {name for code in iterate_codes(function) for name in code.co_names}
    candidates = [
        function.__globals__[name] for name in sorted(called_names) if name in function.__globals__
    ]
    candidates += [cell.cell_contents for cell in function.__closure__ or ()]
    libraries = ("numpy", "numba", "scipy", __name__.split(".")[0])
    return [
        f
        for f in candidates
        if isinstance(f, Dispatcher)
        or (isinstance(f, types.FunctionType) and str(f.__module__).split(".")[0] not in libraries)
    ]


def constants_digest(function: Any) -> str:
    """Return a hash of a user's function, its callees and constants; "" if uncertain.

    Empty if a value may change without a change of the text.
    """
    return collect_sources(function).digest


def code_digest(function: Any) -> str:
    """Return a hash of the code of a user's function and its callees."""
    digest = hashlib.sha256()
    functions_to_visit = [getattr(function, "py_func", function)]
    visited = set()
    while functions_to_visit:
        function = functions_to_visit.pop()
        if function in visited or not isinstance(function, types.FunctionType):
            continue
        visited.add(function)
        functions_to_visit += [
            getattr(called_function, "py_func", called_function)
            for called_function in _find_called_functions(function)
        ]
        for code in iterate_codes(function):
            constants = [c for c in code.co_consts if not isinstance(c, types.CodeType)]
            digest.update(
                code.co_code + repr((code.co_names, code.co_varnames, constants)).encode()
            )
    return digest.hexdigest()


def compile_separately(function: Any, arguments: Any) -> tuple[Any, bool]:
    """Compile a user's function alone; return it and whether it allocates."""
    if _is_disabled():
        return function, False
    python_function = getattr(function, "py_func", function)
    for called_function in _find_called_functions(python_function):
        register_user_function(called_function, inline=False)
    argument_types = tuple(typeof(a) for a in arguments)
    # Functions compiled by the user may return arrays, which only reference counting frees.
    counts_references = isinstance(function, Dispatcher) or any(
        isinstance(f, Dispatcher) for f in _find_called_functions(python_function)
    )
    jit: Any = njit
    message = ""
    option_sets: list[Any] = [{}]
    if _UNCOUNTED and not counts_references:
        option_sets = [_UNCOUNTED, {}]
    for options in option_sets:
        dispatcher = jit(error_model="numpy", **options)(python_function)
        # used again for later calls with other argument types
        dispatcher.compile = functools.partial(_compile, dispatcher, lambda: None)
        try:
            dispatcher.compile(argument_types)
            return dispatcher, options != _UNCOUNTED
        except NumbaError as error:
            message = str(error)
    raise TypeError(_extract_reason(message))


def _extract_reason(message: str) -> str:
    """Return reason and line number from numba's error message."""
    lines = [line.strip() for line in message.splitlines()]
    frame_prefixes = ("Failed in", "During: ", "There are", "- Of which")
    lines = [line for line in lines if line and not line.startswith(frame_prefixes)]
    reason = next(
        (line for line in lines if not line.startswith(("File ", ">>>", "-", "^"))),
        "numba gave no reason",
    )
    line_number = re.search(r'File "[^"]*", line (\d+)', message)
    if line_number is None:
        return reason.rstrip(".")
    return f"{reason.rstrip('.')} (line {line_number.group(1)})"


class compiled:
    """Decorator of a function without model, compiled for its argument types.

    The name of the stored code ends in a digest of everything that it reaches. It runs without
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
        """The numba dispatcher, built at the first call."""
        sources = collect_sources(self.python, (), _describe_options())
        stored_name = f"{self.python.__name__}-{sources.digest[:20]}"
        return _build_dispatcher(
            _copy_function(self.python, stored_name), bool(sources.digest), self._options
        )


class allocating(compiled):
    """Decorator like `compiled`, for functions that create arrays."""

    _options: dict[str, Any] = {}
