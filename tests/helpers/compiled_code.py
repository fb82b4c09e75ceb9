"""How and where code is compiled, which a test replaces; `patch` is its `monkeypatch`, or one of its contexts."""

from numba.core import config
from numba.core.dispatcher import Dispatcher

from thali._compile import jit, store, targets


def run_as_python(patch):
    """Kernels run as Python."""
    patch.setattr(jit, "_is_disabled", lambda: True)


def keep_code_in(patch, folder):
    """Compiled code is kept in that folder; each warning of it is given once more."""
    patch.setattr(config, "CACHE_DIR", str(folder))
    for once in (store.shipped, store.warn_once, store.refusal):
        once.cache_clear()


def compile_by(patch, compile_it):
    """`compile_it(compile, dispatcher, types)` in place of what compiles."""
    compile_types = Dispatcher.compile
    patch.setattr(Dispatcher, "compile", lambda self, types: compile_it(compile_types, self, types))


def claim_features(patch, features):
    """The processor has these features."""
    patch.setattr(targets, "features_here", lambda: frozenset(features))
