"""Habits that make code hard to follow, counted: `python packaging/house_counts.py [FOLDER ...]`.

Without folders it reads all of `src/thali`. It prints

packed assignments    `a, b = x, y`: two thoughts in a line; those of compiled kernels apart
starred locals        calls `f(*values)` of a local name, other than a function's own `*args`: an
                      argument added in the middle of the tuple is passed under another name
packed in place       those whose tuple is written in the same function
parameters `Any`      share of the parameters of functions that are not compiled, `self` aside
private reads         `other._name`, where `other` is neither `self` nor `cls`; public methods of
                      named tuples, such as `_replace`, aside
words                 words that are annotated with several types, and those types
"""

import ast
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "src" / "thali"
KERNEL_DECORATORS = set("allocating compile_sweep compiled generic part scalar vectorised".split())
WORDS = (
    "people part made of_judges of_chains in_time tie order owned newcomers is_heeded draws groups"
    " n_options"
).split()

NAMED_TUPLE_METHODS = {"_asdict", "_fields", "_make", "_replace"}

Function = ast.FunctionDef | ast.AsyncFunctionDef


def is_kernel(function: Function) -> bool:
    """Return whether a decorator compiles the function."""
    names = {ast.unparse(each).partition("(")[0] for each in function.decorator_list}
    return bool(names & KERNEL_DECORATORS)


def is_packed(node: ast.AST) -> bool:
    """Return whether a node assigns a tuple of values to a tuple of targets."""
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Tuple):
        return False
    targets = node.targets[0]
    return isinstance(targets, ast.Tuple) and len(targets.elts) == len(node.value.elts)


def iterate_functions(tree: ast.AST) -> Iterator[Function]:
    """Yield all functions of a module, inner ones too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


class HouseCounts:
    """Counts over several modules."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.private_files: set[Path] = set()
        self.types: dict[str, Counter[str]] = defaultdict(Counter)

    def add_module(self, path: Path) -> None:
        """Add the counts of one file."""
        tree = ast.parse(path.read_text("utf-8"))
        own_packed = Counter(map(is_packed, ast.walk(tree)))[True]
        kernels = [function for function in iterate_functions(tree) if is_kernel(function)]
        in_kernels = sum(is_packed(node) for kernel in kernels for node in ast.walk(kernel))
        self.counts["packed"] += own_packed - in_kernels
        self.counts["packed in kernels"] += in_kernels
        for function in iterate_functions(tree):
            self._add_parameters(function)
            self._add_starred(function)
        for node in ast.walk(tree):
            if isinstance(node, ast.AnnAssign):
                self._add_type(ast.unparse(node.target).removeprefix("self."), node.annotation)
            elif isinstance(node, ast.Attribute) and _reads_private(node):
                self.counts["private"] += 1
                self.private_files.add(path)

    def _add_parameters(self, function: Function) -> None:
        """Count the parameters of a function, and those of type `Any`."""
        for parameter in function.args.args + function.args.kwonlyargs:
            if parameter.arg in ("self", "cls") or parameter.annotation is None:
                continue
            self._add_type(parameter.arg, parameter.annotation)
            if not is_kernel(function):
                self.counts["parameters"] += 1
                self.counts["any"] += ast.unparse(parameter.annotation).strip("'\"") == "Any"

    def _add_starred(self, function: Function) -> None:
        """Count the calls with a starred local name."""
        own_star = function.args.vararg.arg if function.args.vararg else ""
        packed_names = {
            target.id
            for node in ast.walk(function)
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Tuple)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in ast.walk(function):
            if not isinstance(node, ast.Call):
                continue
            starred = [each.value for each in node.args if isinstance(each, ast.Starred)]
            names = {value.id for value in starred if isinstance(value, ast.Name)}
            self.counts["starred"] += bool(names - {own_star})
            self.counts["packed in place"] += bool(names & packed_names)

    def _add_type(self, name: str, annotation: ast.expr) -> None:
        """Note the type of a word, unless it is `Any`."""
        if name in WORDS and (type_text := ast.unparse(annotation).strip("'\"")) != "Any":
            self.types[name][type_text] += 1


def _reads_private(node: ast.Attribute) -> bool:
    """Return whether an attribute is another object's private one."""
    if not node.attr.startswith("_") or node.attr.startswith("__"):
        return False
    if node.attr in NAMED_TUPLE_METHODS:
        return False
    owner = ast.unparse(node.value)
    return owner not in ("self", "cls", "super()") and not owner.startswith(
        ("self._", "type(self)")
    )


def main() -> None:
    """Print the counts of the folders that are named."""
    house = HouseCounts()
    for folder in map(Path, sys.argv[1:] or [SOURCE]):
        for path in sorted(folder.rglob("*.py")):
            house.add_module(path)
    counts = house.counts
    share = counts["any"] / max(counts["parameters"], 1)
    print(f"packed assignments {counts['packed']:,}; in kernels {counts['packed in kernels']:,}")
    print(f"starred locals {counts['starred']:,}; packed in place {counts['packed in place']:,}")
    print(f"parameters `Any` {counts['any']:,} of {counts['parameters']:,} ({share:.0%})")
    print(f"private reads {counts['private']:,} in {len(house.private_files)} files")
    for word, types in sorted(house.types.items(), key=lambda item: -len(item[1])):
        if len(types) > 1:
            print(f"{word}: {len(types)} types:", ", ".join(map(str, types)))


if __name__ == "__main__":
    main()
