"""How long it takes to start: the import, the command line, the first fit with nothing compiled and
with all compiled.

    python benchmarks/start_up.py

CPU seconds of fresh processes that take turns, medians. Nothing compiled means an empty
NUMBA_CACHE_DIR.
"""

import os
import statistics
import subprocess
import sys
import tempfile

CPU = """
import sys, time
{code}
print(time.process_time())
"""
FIT = """
import warnings
import thali as th
warnings.simplefilter("ignore")
th.EliminationByAspects().fit(th.datasets.celebrities(), draws=1, tune=1, chains=1, thin=1, progressbar=False)
"""
HELP = """
sys.argv = ["thali", "--help"]
from thali._surfaces.cli import main
try:
    main()
except SystemExit:
    pass
"""


def seconds(code, folder):
    """CPU seconds of a fresh process, its start included."""
    done = subprocess.run(
        [sys.executable, "-c", CPU.format(code=code)],
        env={**os.environ, "NUMBA_CACHE_DIR": folder},
        capture_output=True,
        text=True,
        check=True,
    )
    return float(done.stdout.split()[-1])


def medians(codes, folder, repeats):
    """The median of each; the processes take turns, so that a busy moment strikes all alike."""
    rounds = [{name: seconds(code, folder) for name, code in codes.items()} for _ in range(repeats)]
    return {name: statistics.median(r[name] for r in rounds) for name in codes}


def main(small=False):
    repeats, colds = (1, 0) if small else (11, 3)
    with tempfile.TemporaryDirectory() as warm:
        codes = {
            "numpy": "import numpy",
            "both": "import numpy, thali",
            "thali": "import thali",
            "help": HELP,
        }
        seconds("import numpy, thali", warm)  # writes byte code
        time = medians(codes, warm, repeats)
        print("CPU seconds of a fresh process (median); a budget is that of a quiet machine")
        print(f"  import numpy                 {time['numpy']:6.2f}")
        print(
            f"  import numpy, thali          {time['both']:6.2f}  "
            f" {time['both'] / time['numpy']:.2f} times, {time['both'] - time['numpy']:+.3f} s"
            " (budget +0.1)"
        )
        print(
            f"  import thali                 {time['thali']:6.2f}  "
            f" {time['thali'] / time['numpy']:.2f} times"
        )
        print(
            f"  thali --help (budget 0.5)    {time['help']:6.2f}  "
            f" {time['help'] / time['numpy']:.2f} times"
        )
        if colds == 0:
            return
        cold = []
        for _ in range(colds):
            with tempfile.TemporaryDirectory() as empty:
                cold.append(seconds(FIT, empty))
        seconds(FIT, warm)
        first = medians({"numpy": "import numpy", "fit": FIT}, warm, max(3, repeats // 2))["fit"]
        compiling = statistics.median(cold)
        print(f"  first fit, nothing compiled  {compiling:6.2f}   (budget of compiling 15)")
        print(
            f"  first fit, all compiled      {first:6.2f}   {first / time['numpy']:.2f} times"
            " numpy (budget 1.5)"
        )
        print(
            f"  nothing compiled / all compiled: {compiling / first:.0f}; compiling:"
            f" {compiling - first:.1f} s"
        )


if __name__ == "__main__":
    main(small="--small" in sys.argv)
