"""Processor types for which code is compiled: this one, and levels of shipped code."""

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

X86 = ("x86_64", "amd64")
ARM = ("arm64", "aarch64")


@dataclass(frozen=True)
class Level:
    """Processor level for which code is shipped, such as x86-64-v3.

    Parameters
    ----------
    machines : tuple of str
        The machines with this level: lower-case names of `platform.machine`.
    features : frozenset of str
        The features that the code needs, by LLVM's names.
    """

    machines: tuple[str, ...]
    features: frozenset[str] = frozenset()


# The most demanding level is first. Features: x86-64 psABI, "Micro-Architecture Levels"; every
# 64-bit ARM processor runs "generic", every ARM processor of a Mac "apple-m1".
LEVELS = {
    "x86-64-v4": Level(X86, _V4),
    "x86-64-v3": Level(X86, _V3),
    "x86-64-v2": Level(X86, _V2),
    "apple-m1": Level(("arm64",)),
    "generic": Level(ARM),
}


@functools.cache
def find_native_tag() -> str:
    """Return the processor name for which numba compiles here.

    It is LLVM's name, with a digest of added or removed features, for names of folders.
    """
    context: Any = cpu_target.target_context
    _, cpu_name, features = context.codegen().magic_tuple()
    if not features:
        return cpu_name
    feature_hash = hashlib.sha256(features.encode()).hexdigest()[:8]
    return f"{cpu_name}-{feature_hash}"


def list_processor_features() -> frozenset[str]:
    """Return LLVM's names of this processor's features."""
    return frozenset(name for name, has in llvmlite.binding.get_host_cpu_features().items() if has)


def explain_incompatibility(level: str) -> str:
    """Return why code of a level does not run here; "" if it does.

    Example: "this processor lacks avx2".
    """
    if any(getattr(config, name) is not None for name in ("CPU_NAME", "CPU_FEATURES")):
        target = find_native_tag()
        return f"code for {target} was requested (NUMBA_CPU_NAME, NUMBA_CPU_FEATURES)"
    machine = platform.machine().lower()
    if machine not in LEVELS[level].machines:
        return f"this processor is {machine}"
    missing_features = LEVELS[level].features - list_processor_features()
    if not missing_features:
        return ""
    return f"this processor lacks {', '.join(sorted(missing_features))}"
