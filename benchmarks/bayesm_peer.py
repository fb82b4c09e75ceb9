"""bayesm's hierarchical multinomial logit, run by bayesm_logit.R; for benchmarks/choice_studies.py
and maxdiff.py."""

import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np


class BayesmFit(NamedTuple):
    """What bayesm drew; the first quarter of the draws is dropped."""

    seconds: float  # of the processor
    beta: np.ndarray  # (draws, columns, people)
    # (draws, columns + columns^2): the means, and the inverse of the root of the precision
    population: np.ndarray


def has_bayesm() -> bool:
    """Whether R is here."""
    return shutil.which("Rscript") is not None


def fit_bayesm(
    x: np.ndarray, chosen: np.ndarray, tasks: np.ndarray, alternatives: int, run: tuple[int, int]
) -> BayesmFit:
    """Fit it to x (rows, columns), as many rows a task as there are alternatives, and chosen
    (tasks,), places in these.

    `tasks`: how many each person has, whose tasks lie together; `run`: sweeps, of which every tenth
    is kept, and seed.
    """
    people, p = len(tasks), x.shape[1]
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        (here / "size.txt").write_text(f"{alternatives} {p}")
        (here / "tasks.txt").write_text(" ".join(map(str, tasks)))
        (here / "y.txt").write_text(" ".join(map(str, chosen + 1)))
        x.astype(float).tofile(here / "x.bin")
        script = Path(__file__).with_name("bayesm_logit.R")
        answer = subprocess.run(
            ["Rscript", str(script), folder, *map(str, run)],
            capture_output=True,
            text=True,
            check=True,
        )
        seconds, kept = answer.stdout.split()
        draws = int(kept)
        beta = np.fromfile(here / "beta.bin").reshape(draws, p, people)[draws // 4 :]
        population = np.fromfile(here / "population.bin").reshape(draws, p + p * p)[draws // 4 :]
    return BayesmFit(float(seconds), beta, population)
