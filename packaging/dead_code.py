"""Definitions in `src` that nothing uses: `python packaging/dead_code.py` lists them; exit status 1 if any.

A function, class, method or constant is used if other code of `src` names it (outside its own body), if a decorator
registers it, or if a stub (`.pyi`) exports it. A name without an underscore is also used if a page or a program beside
the package names it, and a method of that kind if a test does. Names that another library calls are in
`CALLED_BY_OTHERS`.
"""

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "thali"
READERS = ("papers", "docs", "benchmarks", "posteriors", "README.md")  # of names without an underscore
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
}
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def names_in(tree: ast.AST, with_variables: bool = True) -> Counter[str]:
    """Count each name in code, imports and strings that are a name or a path of names."""
    names: Counter[str] = Counter()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and with_variables:
            names[node.id] += 1
        elif isinstance(node, ast.Attribute):
            names[node.attr] += 1
        elif isinstance(node, ast.alias):
            names[node.name.rpartition(".")[2]] += 1
        elif isinstance(node, ast.keyword) and node.arg:
            names[node.arg] += 1
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and re.fullmatch(r"[\w.:]+", node.value):
            names.update(re.findall(r"\w+", node.value))
    return names


def definitions(tree: ast.Module) -> Iterator[tuple[str, ast.AST]]:
    """Functions, classes and methods, and the constants of a module."""
    for node in ast.walk(tree):
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
    """Whether a decorator hands the function to somebody who calls it, such as `@operation.register(Class)`."""
    return any(isinstance(decorator, ast.Call) for decorator in node.decorator_list)


def dead() -> list[str]:
    """Return what nothing uses, as `file:line name`."""
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in SOURCE.rglob("*.py")}
    outside = Counter[str]()  # names where another file may be meant, and how often
    for tree in trees.values():
        outside += names_in(tree, with_variables=False)
    for path in SOURCE.rglob("*"):
        if path.suffix in OTHER_LANGUAGES:
            outside.update(re.findall(r"\w+", path.read_text(encoding="utf-8")))
    read = _words_of(*READERS)
    tested = read | _words_of("tests")
    unused = []
    for path, tree in trees.items():
        used = outside + (names_in(tree) - names_in(tree, with_variables=False))
        for name, node in definitions(tree):
            is_special = name.startswith("__") or name in CALLED_BY_OTHERS
            is_read = name in (read if node in tree.body else tested) and not name.startswith("_")
            if not is_special and not is_read and used[name] <= names_in(node)[name]:
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
