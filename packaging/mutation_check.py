"""Change numeric modules one place at a time, and count the changes that a test notices.

    python packaging/mutation_check.py [--only TEXT] [--number 25] [--seed 0]

`mutants.toml` names the modules, the tests of each, and the changes that are equivalent, each with
its reason. A change is one comparison, operator, number, truth value or negation, the first two
arguments of a call, or the two sides of an `if` expression, inside a function: constants at the top
of a module are limits of memory and time. From each module a sample is drawn. For each change a
process that has loaded the project and the tests is forked, the functions of the module get their
changed code, and the tests named and the examples of the module run up to the first that is red; no
file is written. A change under which the tests never end is noticed too.

The status is 1 if less than 90 % of a module's changes that are not equivalent are noticed. Windows
cannot fork a process.
"""

import argparse
import ast
import importlib
import inspect
import multiprocessing
import os
import random
import sys
import time
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FunctionType
from typing import Any, NamedTuple

import pytest

PROJECT = Path(__file__).parents[1]
TABLE = Path(__file__).with_name("mutants.toml")
LIBRARIES = (  # loaded once, and not for every change
    "numpy numba pandas scipy.stats scipy.optimize scipy.sparse scipy.special scipy.linalg xarray"
    " typer rich filelock xdist arviz_stats.base.array"
).split()
PYTEST = "-q -x -n 0 --doctest-modules -p no:cacheprovider -p no:randomly".split()
FORK = multiprocessing.get_context("fork")
LEAST_SHARE = 0.9
LONGEST_TEXT = 70  # of the expression that describes a change
PAIRS = (
    (ast.Lt, ast.LtE),
    (ast.Gt, ast.GtE),
    (ast.Eq, ast.NotEq),
    (ast.Is, ast.IsNot),
    (ast.In, ast.NotIn),
    (ast.Add, ast.Sub),
    (ast.Mult, ast.Div),
    (ast.BitAnd, ast.BitOr),
    (ast.And, ast.Or),
)
OPPOSITES: dict[type, Any] = {ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.Pow: ast.Mult}
OPPOSITES |= dict(PAIRS) | {second: first for first, second in PAIRS}
SYMMETRIC = set("max min maximum minimum fmax fmin array_equal allclose isclose union1d".split())


class Module(NamedTuple):
    """A module of `src/thali`, and the tests that should notice its changes."""

    file: str
    tests: list[str]
    compiled: bool = False  # whether kernels are compiled, where that is faster


class Change(NamedTuple):
    """One changed expression, and the source that contains it."""

    name: str  # function: expression before -> expression after
    source: str


def list_sites(tree: ast.Module) -> Iterator[tuple[str, list[ast.AST]]]:
    """Yield the function of each node that can be changed, and its ancestors down to itself."""

    def walk(path: list[ast.AST], names: tuple[str, ...]) -> Iterator[tuple[str, list[ast.AST]]]:
        node = path[-1]
        is_definition = isinstance(node, ast.FunctionDef | ast.ClassDef)
        names = (*names, node.name) if is_definition else names
        is_inside = any(isinstance(each, ast.FunctionDef) for each in path)
        if is_inside and can_change(node):
            yield ".".join(names), path
        for field, value in ast.iter_fields(node):
            if field in ("annotation", "returns", "decorator_list"):
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from walk([*path, child], names)

    yield from walk([tree], ())


def can_change(node: Any) -> bool:
    """Return whether `change` has an opposite of a node."""
    match node:
        case ast.Compare(ops=[operator, *_]):
            return type(operator) in OPPOSITES
        case ast.BinOp() | ast.AugAssign() | ast.BoolOp():
            return type(node.op) in OPPOSITES
        case ast.Constant():
            return isinstance(node.value, int | float)
        case ast.Call(args=[first, second, *_]):
            name = ast.unparse(node.func).rpartition(".")[2]
            return name not in SYMMETRIC and ast.Starred not in (type(first), type(second))
    return isinstance(node, ast.UnaryOp | ast.IfExp)


def change(node: Any) -> None:
    """Change a node into its opposite, in place."""
    match node:
        case ast.Compare():
            node.ops[0] = OPPOSITES[type(node.ops[0])]()
        case ast.BinOp() | ast.AugAssign() | ast.BoolOp():
            node.op = OPPOSITES[type(node.op)]()
        case ast.UnaryOp():
            node.operand = ast.UnaryOp(node.op, node.operand)
        case ast.IfExp():
            node.body, node.orelse = node.orelse, node.body
        case ast.Call():
            node.args[:2] = node.args[1::-1]
        case ast.Constant(value=bool()):
            node.value = not node.value
        case ast.Constant():
            node.value += 1


def draw_changes(text: str, number: int, generator: random.Random) -> list[Change]:
    """Draw changes of a source without replacement."""
    n_sites = sum(1 for _ in list_sites(ast.parse(text)))
    changes = []
    for k in sorted(generator.sample(range(n_sites), min(number, n_sites))):
        tree = ast.parse(text)
        function, path = list(list_sites(tree))[k]
        shown = path[-1]
        for ancestor in reversed(path):
            is_expression = isinstance(ancestor, ast.expr | ast.AugAssign)
            if not is_expression or len(ast.unparse(ancestor)) > LONGEST_TEXT:
                break
            shown = ancestor
        before = ast.unparse(shown)
        change(path[-1])
        name = f"{function}: {before} -> {ast.unparse(shown)}"
        changes.append(Change(name, ast.unparse(tree)))
    return changes


def list_functions(namespace: dict[str, Any], file: str) -> dict[str, FunctionType]:
    """Return the functions and methods that a file defines, by qualified name."""
    functions = {}
    for member in namespace.values():
        for name in ("fget", "func", "__func__"):
            member = getattr(member, name, member)
        member = inspect.unwrap(member) if callable(member) else member
        if isinstance(member, FunctionType) and member.__code__.co_filename == file:
            functions[member.__qualname__] = member
        elif isinstance(member, type) and member.__module__ == namespace["__name__"]:
            functions |= list_functions({**vars(member), "__name__": member.__module__}, file)
    return functions


def replace_functions(module_name: str, source: str) -> None:
    """Give the functions of a loaded module the code that they have in a changed source."""
    module = importlib.import_module(module_name)
    file = str(module.__file__)
    namespace = {"__name__": module_name, "__package__": module.__package__, "__file__": file}
    exec(compile(source, file, "exec"), namespace)
    functions = list_functions(vars(module), file)
    for name, changed in list_functions(namespace, file).items():
        functions[name].__code__ = changed.__code__
        functions[name].__defaults__ = changed.__defaults__
        functions[name].__kwdefaults__ = changed.__kwdefaults__


def run_tests(module: Module, source: str | None, *options: str) -> int:
    """Run the tests of a module in this process, with changed functions; return their status."""
    if source is not None:
        name = "thali." + module.file.removesuffix(".py").replace("/", ".")
        replace_functions(name, source)
    silence, console = os.open(os.devnull, os.O_WRONLY), os.dup(1)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    status = pytest.main([*PYTEST, *options, f"src/thali/{module.file}", *module.tests])
    os.dup2(console, 1)
    return int(status)


def is_noticed(module: Module, source: str | None, limit: float | None) -> bool:
    """Return whether a test is red, or whether the tests do not end within `limit` seconds."""
    process = FORK.Process(target=lambda: os._exit(run_tests(module, source)))
    process.start()
    process.join(limit)
    if process.is_alive():
        process.kill()
        process.join()
    return process.exitcode != 0


def check_module(module: Module, equivalent: Sequence[str], number: int, seed: int) -> bool:
    """Print a line about a module, and the changes that no test notices; return if they are few."""
    os.environ["NUMBA_DISABLE_JIT"] = str(int(not module.compiled))
    for name in LIBRARIES:
        importlib.import_module(name)
    run_tests(module, None, "--collect-only")  # loads the project and the tests
    start = time.monotonic()
    if is_noticed(module, None, None):
        print(f"{module.file}: its tests are not green without any change")
        return False
    limit = 20.0 + 5.0 * (time.monotonic() - start)
    text = (PROJECT / "src" / "thali" / module.file).read_text("utf-8")
    n_noticed, n_equivalent, unnoticed = 0, 0, []
    for name, source in draw_changes(text, number, random.Random(f"{seed} {module.file}")):
        if name in equivalent:
            n_equivalent += 1
        elif is_noticed(module, source, limit):
            n_noticed += 1
        else:
            unnoticed.append(name)
    n_changes = n_noticed + len(unnoticed)
    seconds = time.monotonic() - start
    print(
        f"{module.file}: {n_noticed} of {n_changes} noticed ({n_noticed / max(n_changes, 1):.0%}),"
        f" {n_equivalent} equivalent, {seconds:.0f} s"
    )
    for name in unnoticed:
        print(f"    {name}")
    return n_noticed >= LEAST_SHARE * n_changes


def main(only: str, number: int, seed: int) -> int:
    """Check the modules whose name contains a text; return the number with too few noticed."""
    table = tomllib.loads(TABLE.read_text("utf-8"))
    modules = [Module(**row) for row in table["module"] if only in row["file"]]
    equivalent = [row["change"] for row in table["equivalent"]]
    os.chdir(PROJECT)
    sys.path.insert(0, str(PROJECT / "src"))
    n_missed = 0
    for module in modules:  # in a process of its own, which alone loads it
        arguments = module, equivalent, number, seed
        process = FORK.Process(target=lambda each=arguments: sys.exit(not check_module(*each)))
        process.start()
        process.join()
        n_missed += process.exitcode != 0
    return n_missed


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", default="", metavar="TEXT")
    parser.add_argument("--number", default=25, type=int)
    parser.add_argument("--seed", default=0, type=int)
    asked = parser.parse_args()
    sys.exit(1 if main(asked.only, asked.number, asked.seed) else 0)
