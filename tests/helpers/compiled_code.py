"""How and where code is compiled, which a test replaces; `patch` is its `monkeypatch`, or one of
its contexts."""

from numba.core import config
from numba.core.dispatcher import Dispatcher

from thali._compile import compiled_code_files, jit, processor_types

PLACES = {  # what the functions below replace
    "whether kernels are compiled": (jit, "_is_disabled"),
    "the folder of compiled code": (config, "CACHE_DIR"),
    "the compiler": (Dispatcher, "compile"),
    "features of the processor": (processor_types, "list_processor_features"),
}


def replace(patch, what, stand_in):
    """Put something in its place."""
    patch.setattr(*PLACES[what], stand_in)


def run_as_python(patch):
    """Run kernels as Python."""
    replace(patch, "whether kernels are compiled", lambda: True)


def keep_code_in(patch, folder):
    """Compiled code is kept in that folder; each warning of it is given once more."""
    replace(patch, "the folder of compiled code", str(folder))
    for once in (
        compiled_code_files.find_shipped,
        compiled_code_files.warn_once,
        compiled_code_files.explain_refusal,
    ):
        once.cache_clear()


def compile_by(patch, compile_it):
    """`compile_it(compile, dispatcher, types)` in place of what compiles."""
    compile_types = Dispatcher.compile
    replace(patch, "the compiler", lambda self, types: compile_it(compile_types, self, types))


def claim_features(patch, features):
    """The processor has these features."""
    replace(patch, "features of the processor", lambda: frozenset(features))
