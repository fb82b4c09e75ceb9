"""Run the default tests as on other processors: python packaging/processor_tests.py [SETTING ...]
[ARGUMENT OF PYTEST ...]

    python packaging/processor_tests.py                         # all settings that this processor
                                                                # supports
    python packaging/processor_tests.py Sandybridge generic     # two of them

A setting names the kernels of OpenBLAS, which differ in the last bits of a product of matrices, or
is `generic`, for which Numba compiles without extensions. The environment needs thali's extra
`test`. The exit status is 1 if a test fails, or if a setting that is named cannot be run.
"""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

from llvmlite import binding

PROJECT = Path(__file__).parent.parent
NEEDED = {  # features of the processor, by LLVM's names
    "Haswell": {"avx2", "fma"},
    "Sandybridge": {"avx"},
    "Nehalem": {"sse4.2"},
    "Zen": {"avx2", "fma"},
    "SkylakeX": {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"},
    "generic": set(),
}
LOADED = """
import json, numba, numpy, scipy.linalg, threadpoolctl
kernels = {each["architecture"] for each in threadpoolctl.threadpool_info() if each["internal_api"] == "openblas"}
print(json.dumps([f"Numba compiles for {numba.config.CPU_NAME}" if numba.config.CPU_NAME else "",
                  f"OpenBLAS runs {' and '.join(sorted(kernels))}" if kernels else "there is no OpenBLAS"]))
"""  # NumPy and SciPy each have an OpenBLAS of their own


def choose_environment(setting):
    """Return the variables of this process with a setting instead of others of its kind."""
    kept = {
        name: text
        for name, text in os.environ.items()
        if not re.match("OPENBLAS_CORETYPE|NUMBA_CPU_", name)
    }
    return kept | {"NUMBA_CPU_NAME" if setting == "generic" else "OPENBLAS_CORETYPE": setting}


def run_tests(arguments, environment):
    """Run the default tests, print what pytest prints and return its exit status and its count of
    tests."""
    command = [sys.executable, "-m", "pytest", "-q", *arguments]
    count = "no test ran"
    with subprocess.Popen(
        command, cwd=PROJECT, env=environment, stdout=subprocess.PIPE, text=True
    ) as tests:
        for line in tests.stdout:
            print(line, end="", flush=True)
            count = (
                line.strip("= \n")
                if re.search(r"\d+ (passed|failed|errors?)\b.* in ", line)
                else count
            )
    return tests.returncode, count


def main(named, arguments):
    """Run the tests once per setting and return a line for each, with whether it is as it should
    be."""
    features = {name for name, is_here in binding.get_host_cpu_features().items() if is_here}
    tested, lines = {}, []
    for setting in named or NEEDED:
        if missing := NEEDED[setting] - features:
            lines.append(
                (
                    f"{setting}: not run, this processor lacks {', '.join(sorted(missing))}",
                    not named,
                )
            )
            continue
        environment, began = choose_environment(setting), time.monotonic()
        loaded = subprocess.check_output([sys.executable, "-c", LOADED], env=environment, text=True)
        taken = json.loads(loaded)[setting != "generic"]
        if taken in tested:
            lines.append((f"{setting}: not run, because {taken}, as for {tested[taken]}", True))
            continue
        tested[taken] = setting
        effect = "" if taken.endswith(setting) else ", so that the setting itself has no effect"
        status, count = run_tests(arguments, environment)
        result = "FAILED" if status else "ok"
        lines.append(
            (
                f"{setting}: {result}, {count}, {time.monotonic() - began:.0f} s ({taken}{effect})",
                not status,
            )
        )
    return lines


if __name__ == "__main__":
    words = sys.argv[1:]
    lines = main(
        [word for word in words if word in NEEDED], [word for word in words if word not in NEEDED]
    )
    print(*(line for line, _ in lines), sep="\n")
    sys.exit(not all(is_right for _, is_right in lines))
