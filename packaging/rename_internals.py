"""Rename internal modules and functions in a scratch copy, and run the tests that are not about
them.

    python packaging/rename_internals.py [--seed 1] [--modules 10] [--functions 30] [--keep FOLDER]
    [PYTEST ARGUMENTS]

Which ones is drawn by the seed. Tests that import a renamed module, or name a renamed function, are
left out; all others come in through the front door and must pass. Compiled functions keep their
names: each would be compiled again.
"""

import argparse
import ast
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

PROJECT = Path(__file__).parents[1]
LEFT_OUT = shutil.ignore_patterns(".*", "__pycache__", "kernels", "_build")
# decorators
COMPILED = {"kernel", "compiled", "scalar", "generic", "register", "finding", "overload"}


def module_of(path: Path, root: Path) -> str:
    """The dotted name of a file of the library."""
    return ".".join(path.relative_to(root / "src").with_suffix("").parts).removesuffix(".__init__")


def sources(root: Path) -> list[Path]:
    """All files of the library with code."""
    return sorted(
        path for path in (root / "src" / "thali").rglob("*.py*") if path.suffix in (".py", ".pyi")
    )


def users(root: Path) -> list[Path]:
    """The files beside the library that may know its inside: papers, and what tests share."""
    folders = (root / "tests" / "helpers", root / "tests" / "skeletons", root / "papers")
    files = [path for folder in folders for path in folder.rglob("*.py")] + list(
        root.rglob("conftest.py")
    )
    return sorted({path for path in files if not path.name.startswith("test_")})


def is_internal(module: str) -> bool:
    """Whether a module lies in a folder of the implementation."""
    return any(part.startswith("_") for part in module.split(".")[1:-1])


def drawn_modules(root: Path, number: int, rng: random.Random) -> list[str]:
    """Some internal modules."""
    names = [
        module_of(path, root)
        for path in sources(root)
        if path.name not in ("__init__.py", "__init__.pyi")
    ]
    return rng.sample(sorted(name for name in names if is_internal(name)), number)


def drawn_functions(root: Path, number: int, rng: random.Random) -> list[str]:
    """Some functions of internal modules whose name stands nowhere but where it is defined,
    imported and used."""
    texts = {path: path.read_text("utf-8") for path in sources(root)}
    words = Counter(word for text in texts.values() for word in re.findall(r"\w+", text))
    found = []
    plain: dict[str, int] = {}
    for path, text in texts.items():
        tree = ast.parse(text)
        for node in ast.walk(tree):
            for name in mentions(node):
                plain[name] = plain.get(name, 0) + 1
        if is_internal(module_of(path, root)):
            found += [
                each.name
                for each in tree.body
                if isinstance(each, ast.FunctionDef) and not is_compiled(each)
            ]
    alone = [
        name
        for name in sorted(set(found))
        if found.count(name) == 1 and "_" in name.strip("_") and words[name] == plain[name]
    ]
    return rng.sample(alone, number)


def mentions(node: ast.AST) -> Iterator[str]:
    """The names that a node of code defines, imports or uses as such."""
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.FunctionDef):
        yield node.name
    elif isinstance(node, ast.ImportFrom):
        yield from (alias.name for alias in node.names)


def is_compiled(function: ast.FunctionDef) -> bool:
    """Whether a decorator knows the function by its name."""
    names = {
        each.id
        for mark in function.decorator_list
        for each in ast.walk(mark)
        if isinstance(each, ast.Name)
    }
    names |= {
        each.attr
        for mark in function.decorator_list
        for each in ast.walk(mark)
        if isinstance(each, ast.Attribute)
    }
    return bool(names & COMPILED)


def imported_from(node: ast.ImportFrom, module: str, is_package: bool) -> str:
    """The absolute name of what stands behind `from`."""
    if not node.level:
        return node.module or ""
    parts = module.split(".")
    parts = parts[: len(parts) - node.level + is_package]
    return ".".join([*parts, *((node.module or "").split(".") if node.module else [])])


def constants_with(text: str, value: str) -> list[str]:
    """The constants of a file that hold a text, such as the folder of modules that a table
    names."""
    found = []
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign):
            target = node.targets[0]
            pairs = zip(
                target.elts if isinstance(target, ast.Tuple) else [target],
                node.value.elts if isinstance(node.value, ast.Tuple) else [node.value],
                strict=False,
            )
            found += [
                ast.unparse(one)
                for one, held in pairs
                if isinstance(held, ast.Constant) and held.value == value
            ]
    return found


def rename_module(root: Path, name: str, new: str) -> None:
    """Move a module, and change every import of it and every text that names it."""
    package, _, last = name.rpartition(".")
    for path in [*sources(root), *users(root)]:
        text = path.read_text("utf-8")
        if last not in text:
            continue
        lines = text.splitlines(keepends=True)
        is_ours = path.is_relative_to(root / "src")
        own, is_package = module_of(path, root) if is_ours else "", path.stem == "__init__"
        for node in ast.walk(ast.parse("".join(lines))):
            if not isinstance(node, ast.ImportFrom) or (node.level and not is_ours):
                continue
            found = imported_from(node, own, is_package)
            if found == name and node.level:
                first = node.lineno - 1
                lines[first] = re.sub(rf"\b{last}(?= import)", new, lines[first], count=1)
            if found == package and any(alias.name == last for alias in node.names):
                for k in range(node.lineno - 1, node.end_lineno or node.lineno):
                    before, importing, after = lines[k].rpartition(" import ")
                    after = re.sub(rf"\b{last}\b(?! as)", f"{new} as {last}", after)
                    lines[k] = (
                        before
                        + importing
                        + re.sub(rf"\b{last} as (?!{last}\b)", f"{new} as ", after)
                    )
        text = re.sub(rf"\b{re.escape(name)}\b", f"{package}.{new}", "".join(lines))
        short = name.removeprefix("thali._")  # as tables of places name it
        text = text.replace(f'"{short}:', f'"{short.rpartition(".")[0]}.{new}:')
        for folder in constants_with(text, package) if package in text else ():
            text = text.replace(f"{{{folder}}}.{last}:", f"{{{folder}}}.{new}:")
        path.write_text(text, "utf-8")
    file = root.joinpath("src", *name.split("."))
    for suffix in (".py", ".pyi"):
        if file.with_suffix(suffix).exists():
            file.with_suffix(suffix).rename(file.with_name(new).with_suffix(suffix))


def rename_function(root: Path, name: str, new: str) -> None:
    """Change every mention of a function."""
    for path in [*sources(root), *users(root)]:
        text = path.read_text("utf-8")
        if name in text:
            path.write_text(re.sub(rf"\b{name}\b", new, text), "utf-8")


def about_them(root: Path, modules: list[str], functions: list[str]) -> list[Path]:
    """The files of tests that name what was renamed."""
    words = [re.escape(name) for name in modules]
    words += [
        rf"{re.escape(name.rpartition('.')[0])} import [^\n]*\b{name.rpartition('.')[2]}"
        for name in modules
    ]
    words += functions
    named = re.compile("|".join(rf"\b{word}\b" for word in words))
    files = [*(root / "tests").rglob("test_*.py"), *(root / "papers").rglob("test_*.py")]
    return [path for path in sorted(files) if named.search(path.read_text("utf-8"))]


def main(seed: int, n_modules: int, n_functions: int, folder: Path, arguments: list[str]) -> int:
    """The status of the tests that are not about what was renamed."""
    root = shutil.copytree(PROJECT, folder / "thali", ignore=LEFT_OUT)
    rng = random.Random(seed)
    functions = drawn_functions(root, n_functions, rng)
    modules = drawn_modules(root, n_modules, rng)
    about = about_them(root, modules, functions)
    print("functions:", *functions)
    print("modules:", *modules)
    print("left out:", *(path.relative_to(root) for path in about), flush=True)
    for name in functions:
        rename_function(root, name, f"{name}_renamed")
    for name in modules:
        rename_module(root, name, f"{name.rpartition('.')[2]}_renamed")
    ignored = [f"--ignore={path}" for path in about if path.name.startswith("test_")]
    environment = {"PYTHONPATH": str(root / "src")}
    command = [sys.executable, "-m", "pytest", "-q", *ignored, *arguments]
    return subprocess.run(command, cwd=root, env=os.environ | environment).returncode


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--modules", type=int, default=10)
    parser.add_argument("--functions", type=int, default=30)
    parser.add_argument("--keep", type=Path, metavar="FOLDER")
    asked, arguments = parser.parse_known_args()
    with tempfile.TemporaryDirectory(prefix="thali-") as temporary:
        sys.exit(
            main(
                asked.seed, asked.modules, asked.functions, asked.keep or Path(temporary), arguments
            )
        )
