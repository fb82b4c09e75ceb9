"""Definitions in `src` that nothing uses: `python packaging/dead_code.py` lists them; exit status 1
if any.

A function, class, method or constant is used if other code of `src` names it (outside its own
body), if a decorator registers it, or if a stub (`.pyi`) exports it. A name without an underscore
is also used if a page or a program beside the package names it, and a method of that kind if a test
does. Names that another library calls are in `CALLED_BY_OTHERS`.
"""

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "thali"
# of names without an underscore
READERS = ("papers", "docs", "benchmarks", "posteriors", "README.md")
OTHER_LANGUAGES = (".pyi", ".html", ".js", ".toml")
CALLED_BY_OTHERS = {
    "_constructor": "pandas",
    "_repr_html_": "Jupyter",
    "cache_path": "Numba",
    "load_overload": "Numba",
    "save_overload": "Numba",
    "set_env": "Numba",
    "define_pipelines": "Numba",
    "get_metadata_routing": "scikit-learn",
    "writable": "zipfile",
    "format_help": "Typer",
}
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def names_in(tree: ast.AST) -> Iterator[tuple[str, int, bool]]:
    """Each name in code, imports and strings that are a name or a path of names: its line, whether
    it is a variable."""
    line = 0
    for node in ast.walk(tree):
        line = getattr(node, "lineno", line)
        if isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Load):
                yield node.id, line, True
        elif isinstance(node, ast.Attribute):
            yield node.attr, line, False
        elif isinstance(node, ast.Constant):
            if isinstance(node.value, str) and re.fullmatch(r"[\w.:]+", node.value):
                yield from ((name, line, False) for name in re.findall(r"\w+", node.value))
        elif isinstance(node, ast.alias):
            yield node.name.rpartition(".")[2], line, False
        elif isinstance(node, ast.keyword) and node.arg:
            yield node.arg, line, False


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """All statements in a node, those in others included."""
    for block in ("body", "handlers", "orelse", "finalbody", "cases"):
        for child in getattr(node, block, ()):
            yield child
            yield from statements(child)


def definitions(tree: ast.Module) -> Iterator[tuple[str, ast.AST]]:
    """Functions, classes and methods, and the constants of a module."""
    for node in statements(tree):
        if isinstance(node, Definition) and not _is_registered(node):
            yield node.name, node
    for node in tree.body:
        targets = []
        if isinstance(node, ast.Assign):
            targets = node.targets
        elif isinstance(node, ast.AnnAssign):
            targets = [node.target]
        for target in targets:
            if isinstance(target, ast.Name):
                yield target.id, node


def _is_registered(node: Definition) -> bool:
    """Whether a decorator hands the function to somebody who calls it, such as
    `@operation.register(Class)`."""
    return any(isinstance(decorator, ast.Call) for decorator in node.decorator_list)


def dead() -> list[str]:
    """Return what nothing uses, as `file:line name`."""
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in SOURCE.rglob("*.py")}
    outside = Counter[str]()  # names where another file may be meant, and how often
    lines: dict[tuple[Path, str], list[int]] = {}  # where a file has a name
    variables = Counter[tuple[Path, str]]()
    for path, tree in trees.items():
        for name, line, is_variable in names_in(tree):
            lines.setdefault((path, name), []).append(line)
            (variables if is_variable else outside)[(path, name) if is_variable else name] += 1
    for path in SOURCE.rglob("*"):
        if path.suffix in OTHER_LANGUAGES:
            outside.update(re.findall(r"\w+", path.read_text(encoding="utf-8")))
    read = _words_of(*READERS)
    tested = read | _words_of("tests")
    unused = []
    for path, tree in trees.items():
        for name, node in definitions(tree):
            is_special = name.startswith("__") or name in CALLED_BY_OTHERS
            is_read = name in (read if node in tree.body else tested) and not name.startswith("_")
            if is_special or is_read:
                continue
            own = sum(
                node.lineno <= line <= node.end_lineno for line in lines.get((path, name), ())
            )
            if outside[name] + variables[path, name] <= own:
                unused.append(f"{path.relative_to(ROOT)}:{node.lineno} {name}")  # pyright: ignore[reportAttributeAccessIssue]
    return sorted(unused)


def _words_of(*places: str) -> set[str]:
    """The words of pages and programs."""
    words: set[str] = set()
    for place in places:
        path = ROOT / place
        for file in [path] if path.is_file() else path.rglob("*"):
            if file.suffix in (".py", ".md", ".toml"):
                words.update(re.findall(r"\w+", file.read_text(encoding="utf-8")))
    return words


if __name__ == "__main__":
    unused = dead()
    print(*unused, sep="\n")
    sys.exit(bool(unused))
