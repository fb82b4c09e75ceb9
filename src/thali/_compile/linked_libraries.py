"""Numba code libraries that are linked into their callers without machine code of their own.

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
    """Substitute for numba's execution engine that stores nothing."""

    def set_env(self, name: str, environment: Any) -> None:
        """Do nothing: this code needs no environment."""


class LinkedLibrary(JITCodeLibrary):
    """Numba code library of a function that only compiled code calls."""

    @property
    def codegen(self) -> Any:
        """Substitute for numba's execution engine, which stores nothing."""
        return _NoEngine()

    def _optimize_final_module(self) -> None:
        """Do nothing: the calling library is optimised."""
        pass

    def _finalize_final_module(self) -> None:
        """Finish the library without generating machine code."""
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return an address that is never called."""
        self._ensure_finalized()
        return 0


class SeparateFunction(LinkedLibrary):
    """`LinkedLibrary` whose function is not inlined into its callers."""

    def add_ir_module(self, ir_module: Any) -> None:
        """Add LLVM code; mark its function as not to be inlined."""
        for function in ir_module.functions:
            if not function.is_declaration and "alwaysinline" not in function.attributes:
                function.attributes.add("noinline")
        super().add_ir_module(ir_module)


class _Compiler(Compiler):
    """Numba compiler whose code goes into a library of the class `library`."""

    library: type[LinkedLibrary]

    def define_pipelines(self) -> Any:
        """Return numba's pipelines with the library class replaced."""
        state: Any = self.state
        if state.library is None:
            state.library = self.library(state.targetctx.codegen(), self.library.__name__)
        return super().define_pipelines()


class _LinkedCompiler(_Compiler):
    """Numba compiler into a `LinkedLibrary`."""

    library = LinkedLibrary


class _ApartCompiler(_Compiler):
    """Numba compiler into a `SeparateFunction`."""

    library = SeparateFunction


def is_supported() -> bool:
    """Return whether the installed numba has what these libraries need."""
    return all(hasattr(JITCodeLibrary, name) for name in _NEEDED)


LINKED: dict[str, Any] = {}
APART: dict[str, Any] = {}
if is_supported():
    LINKED = {"pipeline_class": _LinkedCompiler}
    APART = {"pipeline_class": _ApartCompiler}
