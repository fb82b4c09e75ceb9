"""The walk through the house: how many files `thali fit pairs.csv` enters, and how often it goes
from one to another.

    python benchmarks/file_walk.py [COMMAND ...]

COMMAND is what follows `thali`, with PAIRS for a small table of pairs; without one, `fit PAIRS
--draws 20 --tune 20 --chains 1 --seed 1`. Only calls of the main thread count, by functions of the
library (its kernels are compiled and unseen); what runs while a module is imported does not.
"""

import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path

import thali
from thali._surfaces.cli import main

HOUSE = Path(thali.__file__).parent
PAIRS = (
    "chosen,rejected,count\ntea,milk,30\nmilk,tea,20\ntea,water,35\nwater,tea,15\nmilk,water,28\n"
    "water,milk,22\n"
)
USUAL = ["fit", "PAIRS", "--draws", "20", "--tune", "20", "--chains", "1", "--seed", "1"]


class Walk:
    """What a profiler sees of the calls of the library."""

    def __init__(self):
        self.files, self.calls, self.switches, self.deepest = Counter(), 0, 0, 0
        self._stack, self._importing = [], 0

    def __call__(self, frame, event, argument):
        if event not in ("call", "return"):
            return
        if frame.f_code.co_name == "<module>":
            self._importing += 1 if event == "call" else -1
            return
        if self._importing:
            return
        file = frame.f_code.co_filename
        if not file.startswith(str(HOUSE)):
            return
        if event == "return":
            if self._stack:
                self._stack.pop()
            return
        self.calls += 1
        self.switches += bool(self._stack) and self._stack[-1] != file
        self._stack.append(file)
        self.deepest = max(self.deepest, len(self._stack))
        self.files[file] += 1


def walk(command):
    """The walk of one command."""
    warnings.simplefilter("ignore")
    seen = Walk()
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "pairs.csv"
        table.write_text(PAIRS, encoding="utf-8")
        sys.argv = ["thali", *(str(table) if word == "PAIRS" else word for word in command)]
        sys.setprofile(seen)
        try:
            main()
        except SystemExit:
            pass
        finally:
            sys.setprofile(None)
    return seen


if __name__ == "__main__":
    seen = walk(sys.argv[1:] or USUAL)
    print(
        f"\n{len(seen.files)} files entered, {seen.calls:,} calls, {seen.switches:,} from one file"
        " into another,"
    )
    print(f"{seen.deepest} deep; the files with most calls:")
    for file, calls in seen.files.most_common(12):
        print(f"{calls:6,}  {Path(file).relative_to(HOUSE)}")
