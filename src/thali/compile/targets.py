"""Processors that code is compiled for: this one, and the levels for which code can be shipped."""

import functools
import hashlib
from dataclasses import dataclass
from typing import Any

import llvmlite.binding
from numba.core import config
from numba.core.registry import cpu_target

_V2 = frozenset("cx16 popcnt sahf sse3 sse4.1 sse4.2 ssse3".split())
_V3 = _V2 | frozenset("avx avx2 bmi bmi2 f16c fma lzcnt movbe xsave".split())
_V4 = _V3 | frozenset("avx512bw avx512cd avx512dq avx512f avx512vl".split())

# By LLVM's names: the features that a processor must have to run code of a level (x86-64 psABI, "Micro-Architecture
# Levels"); every 64-bit ARM runs "generic", every Mac with such a processor "apple-m1". The most demanding comes first.
LEVELS = {
    "x86-64-v4": _V4,
    "x86-64-v3": _V3,
    "x86-64-v2": _V2,
    "apple-m1": frozenset[str](),
    "generic": frozenset[str](),
}


@dataclass(frozen=True)
class Target:
    """What Numba compiles for in this process.

    Parameters
    ----------
    name : str
        The processor, by LLVM's name.
    tag : str
        The name, and a digest of the features that are switched on or off besides: a part of a folder's name.
    """

    name: str
    tag: str


@functools.cache
def native() -> Target:
    """What Numba compiles for here: this processor, or what NUMBA_CPU_NAME and NUMBA_CPU_FEATURES say."""
    context: Any = cpu_target.target_context
    _, name, features = context.codegen().magic_tuple()
    digest = hashlib.sha256(features.encode()).hexdigest()[:8]
    return Target(name, f"{name}-{digest}" if features else name)


def is_chosen() -> bool:
    """Whether the environment says what to compile for."""
    return any(getattr(config, name) is not None for name in ("CPU_NAME", "CPU_FEATURES"))


def features_here() -> frozenset[str]:
    """The features of this processor that the operating system lets programs use, by LLVM's names."""
    return frozenset(name for name, has in llvmlite.binding.get_host_cpu_features().items() if has)


def lacking(level: str) -> str:
    """Why code of a level does not run here, such as "this processor lacks avx2"; empty if it does."""
    if is_chosen():
        chosen = native().tag
        return "" if chosen == level else f"code for {chosen} is asked for (NUMBA_CPU_NAME, NUMBA_CPU_FEATURES)"
    missing = LEVELS[level] - features_here()
    return f"this processor lacks {', '.join(sorted(missing))}" if missing else ""
