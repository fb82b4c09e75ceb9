"""How large thali is, in figures that may not grow: `python packaging/meters.py` prints them and
their limits.

The limits are in `meters.json`. With `--lower` each falls to today's figure where that is smaller.
A limit is raised by hand, in a commit that says why.

nodes                      syntax nodes of `src`, without docstrings, imports and annotations: a
                           size that neither the width of a line nor a comment changes
largest closure            the most nodes that the home of a model or of the leaderboard reaches by
                           imports, those in functions and names of modules in strings included
public names               what the stubs of `src` export, and the public members of the models
internal modules in tests  modules of thali that tests import, but those at the top of the package
"""

import ast
import json
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE, TESTS, LIMITS = ROOT / "src", ROOT / "tests", ROOT / "packaging" / "meters.json"
# tables of everything: to follow their strings says nothing
REGISTRIES = ("_lazy_imports", "class_names", "kinds", "registry", "spec")
# folders with functions of a model's or the leaderboard's name
HALLS = ("surfaces", "plots", "findings")

Functions = ast.FunctionDef | ast.AsyncFunctionDef


def counted(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes that count as code."""
    waiting = [node]
    while waiting:
        yield (each := waiting.pop())
        for field in each._fields:
            if field in ("ctx", "annotation", "returns", "type_comment"):
                continue
            value = getattr(each, field, None)
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST) and not _says_nothing(child):
                    waiting.append(child)


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """The statements in a node, but those for the sake of types alone."""
    waiting = [node]
    while waiting:
        yield (each := waiting.pop())
        if not (isinstance(each, ast.If) and getattr(each.test, "id", "") == "TYPE_CHECKING"):
            for block in ("body", "handlers", "orelse", "finalbody", "cases"):
                waiting += getattr(each, block, ())


def _says_nothing(node: ast.AST) -> bool:
    """Whether a statement is an import, a docstring, or a name with an annotation alone."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    return isinstance(node, ast.Import | ast.ImportFrom) or (
        isinstance(node, ast.AnnAssign) and node.value is None
    )


class House:
    """The modules of `src`, by name."""

    def __init__(self) -> None:
        self.trees: dict[str, ast.Module] = {}
        self.packages: set[str] = set()
        for path in sorted(SOURCE.rglob("*.py")):
            name = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
            if path.stem == "__init__":
                name = name.removesuffix(".__init__")
                self.packages.add(name)
            self.trees[name] = ast.parse(path.read_text(encoding="utf-8"))
        self.nodes: dict[str, int] = {}
        self.strings: dict[str, set[str]] = {}
        for name, tree in self.trees.items():
            nodes = list(counted(tree))
            texts = (node.value for node in nodes if isinstance(node, ast.Constant))
            self.nodes[name] = len(nodes)
            self.strings[name] = {text.partition(":")[0] for text in texts if isinstance(text, str)}

    @cache  # noqa: B019  # there is one house, and a module is reached from many
    def reached(self, name: str) -> set[str]:
        """The modules that a module imports, and those that it names in strings."""
        found = set(self._imported(name, self.trees[name]))
        if name.rpartition(".")[2] not in REGISTRIES:
            found |= self.strings[name] & self.trees.keys() - {"thali"}
        return found - {name}

    def _imported(self, name: str, node: ast.AST) -> Iterator[str]:
        for each in statements(node):
            if isinstance(each, ast.ImportFrom):
                yield from self._named_by(name, each)

    def _named_by(self, name: str, statement: ast.ImportFrom) -> Iterator[str]:
        """The modules that `from ... import ...` in a module reaches."""
        start: list[str] = []
        if statement.level:
            parts = name.split(".")
            ups = statement.level - (name in self.packages)
            start = parts[: len(parts) - ups]
        base = ".".join([*start, *(statement.module or "").split(".")]).strip(".")
        for alias in statement.names:
            target = f"{base}.{alias.name}"
            if target in self.trees:
                yield target
            elif base in self.trees:
                yield base

    def closure(self, name: str) -> int:
        """The nodes of a module and of all that it reaches."""
        seen: set[str] = set()
        waiting = [name]
        while waiting:
            module = waiting.pop()
            if module not in seen:
                seen.add(module)
                waiting.extend(self.reached(module))
        return sum(self.nodes[module] for module in seen)

    def homes(self, names: set[str]) -> Iterator[str]:
        """The modules that define what is so called."""
        for module, tree in self.trees.items():
            is_hall = any(part.lstrip("_") in HALLS for part in module.split("."))
            defined = {
                node.name for node in tree.body if isinstance(node, ast.ClassDef | Functions)
            }
            if defined & names and not is_hall:
                yield module


def measure() -> dict[str, int]:
    """Today's figures."""
    import thali

    house = House()
    models = [getattr(thali, name) for name in thali.models()["class"]]
    members = {
        (model.__name__, member)
        for model in models
        for member in dir(model)
        if not member.startswith("_")
    }
    entries = {model.__name__ for model in models} | {"leaderboard"}
    return {
        "nodes": sum(house.nodes.values()),
        "largest closure": max(house.closure(home) for home in house.homes(entries)),
        "public names": sum(_exported(stub) for stub in SOURCE.rglob("*.pyi")) + len(members),
        "internal modules in tests": len(_imported_by_tests(house)),
    }


def _exported(stub: Path) -> int:
    """How many names a stub exports: those imported as themselves."""
    return len(re.findall(r"import (\w+) as \1\b", stub.read_text(encoding="utf-8")))


def _imported_by_tests(house: House) -> set[str]:
    """Modules below the top of the package that tests import."""
    imported: set[str] = set()
    for path in TESTS.rglob("*.py"):
        for node in statements(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                imported |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
            elif isinstance(node, ast.Import):
                imported |= {alias.name for alias in node.names}
    return {name for name in imported & house.trees.keys() if name.count(".") > 1}


if __name__ == "__main__":
    limits = json.loads(LIMITS.read_text(encoding="utf-8"))
    figures = measure()
    for name, figure in figures.items():
        print(f"{name:28} {figure:9,}   limit {limits[name]:9,}")
    if sys.argv[1:] == ["--lower"]:
        lowered = {name: min(figure, limits[name]) for name, figure in figures.items()}
        LIMITS.write_text(json.dumps(lowered, indent=2) + "\n", encoding="utf-8")
