"""Code that is only ever linked into that of its callers: compiled to machine code with them, once,
and not by itself.

numba optimises each function that another calls, and makes machine code of it that nobody runs, and
again as a part of every caller of its callers. A library of code that waits for its caller saves a
quarter to a half of the time to compile a kernel; the code of the kernel, and its draws, stay the
same.
"""

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler

# What the class below relies on in numba; where a version lacks any of it, code is compiled as
# numba does.
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


class _NoAddresses:
    """Stands for the engine, where numba notes the address of a function's environment."""

    def set_env(self, name: str, environment: Any) -> None:
        """Code that raises and computes needs no environment."""


class Linked(JITCodeLibrary):
    """The code of a function that only compiled code calls."""

    @property
    def codegen(self) -> Any:
        return _NoAddresses()

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        return 0


class CalledApart(Linked):
    """The same of a function that stays one of its own in the code of its callers."""

    def add_ir_module(self, ir_module: Any) -> None:
        for function in ir_module.functions:
            if not function.is_declaration and "alwaysinline" not in function.attributes:
                function.attributes.add("noinline")
        super().add_ir_module(ir_module)


class _Compiler(Compiler):
    """numba's compiler with another library."""

    library: type[Linked]

    def define_pipelines(self) -> Any:
        state: Any = self.state
        if state.library is None:
            state.library = self.library(state.targetctx.codegen(), self.library.__name__)
        return super().define_pipelines()


class _LinkedCompiler(_Compiler):
    library = Linked


class _ApartCompiler(_Compiler):
    library = CalledApart


def is_known() -> bool:
    """Whether this numba has all that the libraries rely on."""
    return all(hasattr(JITCodeLibrary, name) for name in _NEEDED)


LINKED: dict[str, Any] = {"pipeline_class": _LinkedCompiler} if is_known() else {}
APART: dict[str, Any] = {"pipeline_class": _ApartCompiler} if is_known() else {}
