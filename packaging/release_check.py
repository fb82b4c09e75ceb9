"""What of a release can be checked on one machine: python packaging/release_check.py

    # build twice, install, fit, lint, and compare the speeds with those of the last release
    python packaging/release_check.py --against COMMIT
    # the same with this interpreter; may be given again
    python packaging/release_check.py --against COMMIT --python python3.12
    # only the bill of materials of a wheel, in CycloneDX
    python packaging/release_check.py --wheel dist/*.whl --bill FILE

It needs `build`, `hatchling` and, for the bill, `cyclonedx-bom`. Linters that are not installed
(hadolint, zizmor, actionlint) are named and left out. The results of the last time are in
packaging/README.md.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROJECT = Path(__file__).parent.parent
LINTERS = (
    ["hadolint", "Dockerfile"],
    ["zizmor", "--offline", ".github/workflows"],
    ["actionlint"],
)


def run(*command, **settings):
    """Run a command that has to end well, and say how long it took."""
    began = time.monotonic()
    done = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, **settings
    )
    name = " ".join(Path(str(word)).name for word in command[:4])
    print(
        f"{'ok' if done.returncode == 0 else 'FAILED':7}{time.monotonic() - began:6.1f} s  {name}",
        flush=True,
    )
    if done.returncode:
        sys.exit(f"{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout


def environment(folder, python, *packages):
    """A fresh environment with these packages; its Python."""
    run(python, "-m", "venv", folder)
    made = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    run(made, "-m", "pip", "install", "--quiet", *packages)
    return made


def built(folder):
    """The files of a build from a copy of the project."""
    copy = folder / "thali"
    shutil.copytree(
        PROJECT,
        copy,
        ignore=shutil.ignore_patterns(".venv*", ".git", "_build", "dist", "__pycache__"),
    )
    run(sys.executable, "-m", "hatchling", "build", "-d", folder / "dist", cwd=copy)
    return sorted((folder / "dist").iterdir())


def check_builds(folder, pythons):
    """Two builds are the same; what they made is installed and fits."""
    first, second = (built(folder / name) for name in ("first", "second"))
    same = [file.name for file in first] == [file.name for file in second]
    same = same and all(
        a.read_bytes() == b.read_bytes() for a, b in zip(first, second, strict=True)
    )
    print(f"{'ok' if same else 'FAILED':7}          two builds are the same to the byte")
    if not same:
        sys.exit(1)
    for number, python in enumerate(pythons):
        for file in first:
            made = environment(folder / f"{number}-{file.suffix[1:]}", python, file)
            run(made, "-m", "thali", "fit", "celebrities", "--seed", "1", cwd=folder)


def check_kernels(folder):
    """A wheel with compiled samplers is installed, and a fit finds them: it compiles nothing."""
    copy = folder / "first" / "thali"
    plain_wheel = next((folder / "first" / "dist").glob("*.whl"))
    builder = environment(folder / "builder", sys.executable, plain_wheel)
    kernels = copy / "src" / "thali" / "kernels"
    run(builder, "-m", "thali", "cache", "build", "elimination-by-aspects", "--out", kernels)
    built_folder = folder / "with-kernels"
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", built_folder, cwd=copy)
    made = environment(folder / "user", sys.executable, next(built_folder.glob("*.whl")))
    cache = folder / "empty-cache"
    settings = {"cwd": folder, "env": os.environ | {"XDG_CACHE_HOME": str(cache)}}
    run(made, "-m", "thali", "fit", "celebrities", "--seed", "1", **settings)
    info = run(made, "-m", "thali", "cache", "info", **settings)
    is_used = "shipped with thali, compiled for" in info and not list(cache.rglob("*.kernel"))
    print(f"{'ok' if is_used else 'FAILED':7}          a fit runs the samplers of the wheel")
    if not is_used:
        sys.exit(info)


def bill_of_materials(folder, wheel, file):
    """What an environment with the wheel holds."""
    made = environment(folder / "bill", sys.executable, wheel)
    run(
        sys.executable,
        "-m",
        "cyclonedx_py",
        "environment",
        "--output-reproducible",
        "--of",
        "JSON",
        "-o",
        file,
        made,
    )


def lint():
    """What the linters say of the image and the workflows."""
    for command in LINTERS:
        if shutil.which(command[0]) is None:
            print(f"absent           {command[0]}")
        else:
            run(*command, cwd=PROJECT)


def check_speeds(last_release):
    """No speed is far below that of the last release."""
    print(run(sys.executable, PROJECT / "benchmarks" / "speeds.py", "--against", last_release))


def main():
    """Check what was asked for."""
    parser = argparse.ArgumentParser(description="Check what is released.")
    parser.add_argument(
        "--python", action="append", help="an interpreter, such as python3.12; may be given again"
    )
    parser.add_argument("--against", metavar="COMMIT", help="the last release")
    parser.add_argument(
        "--wheel", type=Path, help="of this wheel only the bill of materials is made"
    )
    parser.add_argument("--bill", type=Path, help="where the bill of materials is written")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        if asked.wheel is None:
            if asked.against is None:
                parser.error("--against COMMIT is missing: the last release")
            check_builds(Path(name), asked.python or [sys.executable])
            check_kernels(Path(name))
            lint()
            check_speeds(asked.against)
        elif asked.bill is None:
            parser.error("--wheel needs --bill FILE")
        else:
            bill_of_materials(Path(name), asked.wheel.resolve(), asked.bill.resolve())


if __name__ == "__main__":
    main()
