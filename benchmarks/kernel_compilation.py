"""What compiled samplers cost: the first fit of every kind, and the size and load time of every
entry of the store.

    python benchmarks/kernel_compilation.py [ROW ...]      (rows of `thali._testing.small_models.SMALL_MODELS`; all
                                                without)

Each row is fitted twice in a fresh process: the CPU seconds up to the end of the first fit, imports
included, less those of the second fit, which only samples. With an empty NUMBA_CACHE_DIR the first
run of this command compiles, the second one loads; with a wheel that carries compiled samplers the
first one loads as well.
"""

import os
import subprocess
import sys
import time

CODE = """
import sys, time, warnings
warnings.simplefilter("ignore")
from thali._testing.small_models import SMALL_MODELS
row = SMALL_MODELS[sys.argv[1]]
row.build_fitted()
first = time.process_time()
row.build_fitted()
from thali._compile import USED
print(first, time.process_time() - first, ",".join(sorted(USED)) or "nothing compiled")
"""


def first_fits(names):
    """CPU seconds of the first fit of each row, its process included, and of the second."""
    for name in names:
        done = subprocess.run(
            [sys.executable, "-c", CODE, name], capture_output=True, text=True, check=True
        )
        first, second, target = done.stdout.split(maxsplit=2)
        yield name, float(first), float(second), target.strip()


def entries():
    """Of every entry that is used here: its size on disk, that of its machine code, and CPU
    milliseconds to load it."""
    from numba.core.compiler import CompileResult
    from numba.core.registry import cpu_target

    from thali._compile import compiled_code_files

    cpu_target.target_context.refresh()
    for folder in compiled_code_files.folders_to_read():
        for file in sorted(folder.path.glob(f"*{compiled_code_files.SUFFIX}")):
            name = file.name.removesuffix(compiled_code_files.SUFFIX)
            began = time.process_time()
            try:
                _, *parts = folder.read(name)
                read = time.process_time() - began
                CompileResult._rebuild(cpu_target.target_context, *parts)
            except (ImportError, AttributeError):  # of a module that is not imported here
                continue
            loaded = time.process_time() - began
            machine_code, stub = parts[0][2]
            yield (
                name,
                file.stat().st_size,
                len(machine_code),
                len(stub),
                1000 * read,
                1000 * loaded,
            )


def main(small=False, chosen=()):
    from thali._testing.small_models import SMALL_MODELS

    names = list(chosen) or (["multinomial-logit"] if small else list(SMALL_MODELS))
    print("CPU seconds, imports included     first fit    less sampling    compiled for")
    for name, first, second, target in first_fits(names):
        print(f"{name:40} {first:8.2f} {first - second:12.2f}    {target}")
    found = list(entries())
    print(f"\n{len(found)} entries, {sum(each[1] for each in found) / 1e6:.1f} MB on disk")
    print(
        "kB on disk, of machine code, of names in place of bitcode; CPU ms to read, to read and"
        " load"
    )
    for name, size, code, stub, read, loaded in sorted(found, key=lambda each: -each[1]):
        print(
            f"{size / 1e3:7.0f} {code / 1e3:7.0f} {stub / 1e3:6.1f} {read:6.1f} {loaded:6.1f} "
            f" {name.split('.')[0]}"
        )


if __name__ == "__main__":
    os.environ.setdefault("PYTHONWARNINGS", "ignore")
    main("--small" in sys.argv, [each for each in sys.argv[1:] if each != "--small"])
