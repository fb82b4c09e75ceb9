"""Processors that code is compiled for: this one, and the levels for which code can be shipped."""

import functools
import hashlib
import platform
from dataclasses import dataclass
from typing import Any

import llvmlite.binding
from numba.core import config
from numba.core.registry import cpu_target

_V2 = frozenset("cx16 popcnt sahf sse3 sse4.1 sse4.2 ssse3".split())
_V3 = _V2 | frozenset("avx avx2 bmi bmi2 f16c fma lzcnt movbe xsave".split())
_V4 = _V3 | frozenset("avx512bw avx512cd avx512dq avx512f avx512vl".split())

X86, ARM = ("x86_64", "amd64"), ("arm64", "aarch64")


@dataclass(frozen=True)
class Level:
    """A level of processors for which code can be shipped.

    Parameters
    ----------
    machines : tuple of str
        The kinds of machine that have it, as `platform.machine` names them, in small letters.
    features : frozenset of str
        What a processor must have to run the code, by LLVM's names.
    """

    machines: tuple[str, ...]
    features: frozenset[str] = frozenset()


# The most demanding comes first. Features: x86-64 psABI, "Micro-Architecture Levels"; every 64-bit
# ARM runs "generic", every Mac with such a processor "apple-m1".
LEVELS = {
    "x86-64-v4": Level(X86, _V4),
    "x86-64-v3": Level(X86, _V3),
    "x86-64-v2": Level(X86, _V2),
    "apple-m1": Level(("arm64",)),
    "generic": Level(ARM),
}


@dataclass(frozen=True)
class CompilationTarget:
    """What Numba compiles for in this process.

    Parameters
    ----------
    name : str
        The processor, by LLVM's name.
    tag : str
        The name, and a digest of the features that are switched on or off besides: a part of a
        folder's name.
    """

    name: str
    tag: str


@functools.cache
def native() -> CompilationTarget:
    """What Numba compiles for here: this processor, or what NUMBA_CPU_NAME and NUMBA_CPU_FEATURES
    say."""
    context: Any = cpu_target.target_context
    _, name, features = context.codegen().magic_tuple()
    digest = hashlib.sha256(features.encode()).hexdigest()[:8]
    return CompilationTarget(name, f"{name}-{digest}" if features else name)


def is_chosen() -> bool:
    """Whether the environment says what to compile for."""
    return any(getattr(config, name) is not None for name in ("CPU_NAME", "CPU_FEATURES"))


def features_here() -> frozenset[str]:
    """The features of this processor that the operating system lets programs use, by LLVM's
    names."""
    return frozenset(name for name, has in llvmlite.binding.get_host_cpu_features().items() if has)


def lacking(level: str) -> str:
    """Why code of a level does not run here, such as "this processor lacks avx2"; empty if it
    does."""
    if is_chosen():
        return f"code for {native().tag} was requested (NUMBA_CPU_NAME, NUMBA_CPU_FEATURES)"
    machine = platform.machine().lower()
    if machine not in LEVELS[level].machines:
        return f"this processor is {machine}"
    missing = LEVELS[level].features - features_here()
    return f"this processor lacks {', '.join(sorted(missing))}" if missing else ""
