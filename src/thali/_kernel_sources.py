"""Which source files a piece of compiled code depends on: its module, and all that this imports, and so on."""

import ast
import functools
import hashlib
import sys
import types
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

_LIBRARY = __name__.split(".")[0]
_ROOT = Path(__file__).parent
_COMPILER = (f"{_LIBRARY}._jit", f"{_LIBRARY}._kernel_cache", f"{_LIBRARY}._linked_code")


def digest_of(modules: Iterable[str]) -> str:
    """The SHA-256 of all sources that code of these modules may have been compiled from."""
    return _digest(frozenset(modules))


def sources_of(modules: Iterable[str]) -> set[Path]:
    """The import closure of some modules: the files of the library in it, and for foreign modules their neighbours.

    Imports inside functions do not count: compiled code cannot import.
    """
    found: set[Path] = set()
    waiting = [path for name in (*modules, *_COMPILER) for path in _files_of(name)]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting.extend(p for name in _imported_by(path) for p in _files_of(name))
    return found


def modules_with_kernels() -> list[str]:
    """The modules of the library that import the compiler."""
    compiler = _ROOT / "_jit.py"
    files = [p for p in sorted(_ROOT.rglob("*.py")) if any(compiler in _files_of(n) for n in _imported_by(p))]
    return [".".join([_LIBRARY, *p.relative_to(_ROOT).with_suffix("").parts]) for p in files]


@functools.cache
def _digest(modules: frozenset[str]) -> str:
    digest = hashlib.sha256()
    for path in sorted(sources_of(modules)):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


@functools.cache
def _files_of(name: str) -> tuple[Path, ...]:
    """The file of a module of the library; of a foreign module its file and those beside it, which it may call."""
    parts = name.split(".")
    if parts[0] != _LIBRARY:
        file = getattr(sys.modules.get(name), "__file__", None)
        return () if file is None else tuple(sorted(Path(file).parent.glob("*.py")))
    path = _ROOT.joinpath(*parts[1:])
    candidates = (path.with_suffix(".py"), path / "__init__.py") if parts[1:] else ()
    return tuple(p for p in candidates if p.is_file())


@functools.cache
def _imported_by(path: Path) -> tuple[str, ...]:
    """The modules of the library that a file imports when it is loaded."""
    if path.is_relative_to(_ROOT):
        package = [_LIBRARY, *path.relative_to(_ROOT).parts[:-1]]
    else:
        package = []
    return tuple(_names(ast.parse(path.read_bytes()).body, package))


def _names(body: list[ast.stmt], package: list[str]) -> Iterator[str]:
    """The imports of statements that run when a module is loaded."""
    for node in body:
        if isinstance(node, ast.Import):
            yield from (a.name for a in node.names if a.name.split(".")[0] == _LIBRARY)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            if base.split(".")[0] == _LIBRARY:
                yield base
                yield from (f"{base}.{a.name}" for a in node.names)
        elif isinstance(node, ast.If | ast.Try | ast.With):
            if "TYPE_CHECKING" not in ast.dump(getattr(node, "test", ast.Pass())):
                for block in ("body", "orelse", "finalbody"):
                    yield from _names(getattr(node, block, []), package)


_KNOWN = ("cmath", "math", "numpy")  # modules of which users' functions may take anything, and are still found again


def text_of(value: Any) -> str | None:
    """A value that is compiled into code, as text; None if it is of a kind that text does not tell apart."""
    if isinstance(value, types.ModuleType):
        return value.__name__ if value.__name__.split(".")[0] in _KNOWN else None
    if value is None or isinstance(value, bool | int | float | complex | str | bytes):
        return repr(value)
    if isinstance(value, tuple) and type(value) is tuple:
        parts = [text_of(each) for each in value]
        return None if None in parts else repr(parts)
    if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "biufcSU":
        return f"{value.dtype}{value.shape}{hashlib.sha256(value.tobytes()).hexdigest()}"
    return None
