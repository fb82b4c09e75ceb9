"""Code libraries that are only linked into callers, and not compiled to machine code separately.

numba optimises each called function and compiles it to machine code that never runs, and compiles
it again within every caller. A library that waits for its callers saves a quarter to a half of the
compilation time of a kernel; the code of the kernel and its draws stay the same.
"""

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler

# attributes of numba that the classes below need; without one of them, numba's compiler is used
_NEEDED = (
    "_optimize_final_module",
    "_finalize_final_module",
    "_finalize_dynamic_globals",
    "_verify_declare_only_symbols",
    "_ensure_finalized",
    "add_ir_module",
    "get_pointer_to_function",
    "codegen",
)


class _NoEngine:
    """A substitute for numba's engine, which ignores the address that numba would store in it."""

    def set_env(self, name: str, environment: Any) -> None:
        """Ignore the environment, which code that raises and computes does not need."""


class LinkedLibrary(JITCodeLibrary):
    """The code library of a function that only compiled code calls."""

    @property
    def codegen(self) -> Any:
        return _NoEngine()

    def _optimize_final_module(self) -> None:
        """Do nothing: the calling library is optimised instead."""
        pass

    def _finalize_final_module(self) -> None:
        """Finish the library without machine code."""
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        return 0


class SeparateFunction(LinkedLibrary):
    """A `LinkedLibrary` whose function is not inlined into its callers."""

    def add_ir_module(self, ir_module: Any) -> None:
        for function in ir_module.functions:
            if not function.is_declaration and "alwaysinline" not in function.attributes:
                function.attributes.add("noinline")
        super().add_ir_module(ir_module)


class _Compiler(Compiler):
    """numba's compiler, which puts code into a library of the class `library`."""

    library: type[LinkedLibrary]

    def define_pipelines(self) -> Any:
        state: Any = self.state
        if state.library is None:
            state.library = self.library(state.targetctx.codegen(), self.library.__name__)
        return super().define_pipelines()


class _LinkedCompiler(_Compiler):
    """Compiler into a `LinkedLibrary`."""

    library = LinkedLibrary


class _ApartCompiler(_Compiler):
    """Compiler into a `SeparateFunction`, which is not inlined."""

    library = SeparateFunction


def is_supported() -> bool:
    """Return whether this numba has all attributes that the libraries need."""
    return all(hasattr(JITCodeLibrary, name) for name in _NEEDED)


LINKED: dict[str, Any] = {}
APART: dict[str, Any] = {}
if is_supported():
    LINKED, APART = {"pipeline_class": _LinkedCompiler}, {"pipeline_class": _ApartCompiler}
