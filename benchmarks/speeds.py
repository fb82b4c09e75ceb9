"""How fast thali is beside an earlier commit: things that users wait for, in turn, as ratios of CPU
time.

    python benchmarks/speeds.py [--against COMMIT] [--repeats 5] [--only TEXT] [--small]

Each row runs in a process of its own, once without being counted, since it may compile, and then
here and there in turn; the ratio is of the medians, and above 1.15 the change made thali slower.
Status 1 if a row is. A release is compared with the last one by packaging/release_check.py.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

PROJECT = Path(__file__).parents[1]
AGAINST = "b23efb58c"  # 0.4.0
SLOWER = 1.15


def first_fit(size: float) -> float:
    """A short fit in a new process, imports included: CPU seconds."""
    import thali as th

    th.EliminationByAspects().fit(
        th.datasets.celebrities(), draws=100, tune=100, random_seed=1, progressbar=False
    )
    return time.process_time()


def celebrities(size: float) -> float:
    """CPU seconds per effective draw of the log-likelihood."""
    import thali as th

    begin = time.process_time()
    model = th.EliminationByAspects().fit(
        th.datasets.celebrities(),
        draws=int(2000 * size),
        tune=int(500 * size),
        random_seed=1,
        progressbar=False,
    )
    return (time.process_time() - begin) / model.summary().loc["log_likelihood", "ess_bulk"]


def votes(number: int):
    """Votes between 100 models, as an arena writes them."""
    import numpy as np
    import pandas as pd

    rng = np.random.default_rng(1)
    worth = rng.normal(0.0, 1.0, 100)
    first = rng.integers(100, size=number)
    second = (first + rng.integers(1, 100, size=number)) % 100
    wins = rng.random(number) < 1.0 / (1.0 + np.exp(worth[second] - worth[first]))
    names = np.array([f"model-{k}" for k in range(100)])
    winner = np.where(wins, "model_a", "model_b")
    return pd.DataFrame({"model_a": names[first], "model_b": names[second], "winner": winner})


def board(size: float) -> float:
    """A leaderboard of 500,000 votes."""
    import thali as th

    frame = votes(int(500_000 * size))
    begin = time.process_time()
    th.leaderboard(frame, progressbar=False)
    return time.process_time() - begin


def reading(size: float) -> float:
    """A file of a million votes read."""
    import thali as th

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "votes.csv"
        votes(int(1_000_000 * size)).to_csv(path, index=False)
        begin = time.process_time()
        th.read(path)
        return time.process_time() - begin


def frame(size: float) -> float:
    """A data frame of a million votes read."""
    import thali as th

    data_frame = votes(int(1_000_000 * size))
    begin = time.process_time()
    th.read(data_frame)
    return time.process_time() - begin


def refusal(size: float) -> float:
    """A hundred ratings of each of 4,000 people, which are no choices, refused."""
    import numpy as np
    import pandas as pd

    import thali as th

    ratings = np.random.default_rng(1).integers(1, 8, (int(4000 * size), 100))
    data_frame = pd.DataFrame(ratings).rename(columns="item{}".format)
    begin = time.process_time()
    try:
        th.read(data_frame)
    except th.errors.DataError:
        return time.process_time() - begin
    raise SystemExit("ratings are read as choices")


def hierarchical_logit(size: float) -> float:
    """Part-worths of 150 respondents."""
    import thali as th

    data = th.datasets.product_choices(150, 10, random_seed=1).data
    begin = time.process_time()
    th.HierarchicalLogit().fit(
        data, draws=int(500 * size), tune=int(200 * size), thin=2, random_seed=1, progressbar=False
    )
    return time.process_time() - begin


def findings(size: float) -> float:
    """All findings of a fit."""
    import thali as th

    model = th.EliminationByAspects().fit(
        th.datasets.celebrities(),
        draws=int(1000 * size),
        tune=int(200 * size),
        random_seed=1,
        progressbar=False,
    )
    begin = time.process_time()
    list(model.findings())
    return time.process_time() - begin


def similarities(size: float) -> float:
    """Additive clustering of ten numbers."""
    import thali as th

    begin = time.process_time()
    th.AdditiveClustering().fit(
        th.datasets.numbers(),
        draws=int(1000 * size),
        tune=int(500 * size),
        random_seed=1,
        progressbar=False,
    )
    return time.process_time() - begin


def classifier(size: float) -> float:
    """The sparse logit of 400 rows, 20 covariates and three classes."""
    import numpy as np

    import thali as th

    rng = np.random.default_rng(1)
    matrix = rng.normal(size=(400, 20))
    labels = np.argmax(matrix[:, :3] + rng.gumbel(size=(400, 3)), axis=1)
    model = th.SparseMultinomialLogit(draws=int(500 * size), tune=int(200 * size), random_state=1)
    begin = time.process_time()
    model.fit(matrix, labels)
    return time.process_time() - begin


ROWS: dict[str, Callable[[float], float]] = {
    each.__name__: each
    for each in (
        first_fit,
        celebrities,
        board,
        hierarchical_logit,
        findings,
        reading,
        frame,
        refusal,
        similarities,
        classifier,
    )
}


def measured(tree: Path, row: str, size: float) -> float:
    """The cost of a row with the code of a tree, in a process of its own."""
    command = [sys.executable, __file__, "--row", row, "--size", str(size)]
    alike = {
        "PYTHONPATH": str(tree / "src"),
        "OPENBLAS_NUM_THREADS": "1",
        "PYTHONDONTWRITEBYTECODE": "",
    }
    done = subprocess.run(command, env=os.environ | alike, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{row} in {tree}: {done.stderr.splitlines()[-1]}")
    return float(done.stdout)


def main(against: str = AGAINST, repeats: int = 5, only: str = "", small: bool = False) -> int:
    """How many rows are slower than they may be."""
    size, slow = 0.02 if small else 1.0, 0
    with tempfile.TemporaryDirectory() as folder:
        before = Path(folder) / "before"
        subprocess.run(["git", "clone", "-q", "--shared", str(PROJECT), str(before)], check=True)
        subprocess.run(
            ["git", "-C", str(before), "checkout", "-q", "--detach", against], check=True
        )
        for row in ROWS:
            if only not in row:
                continue
            for tree in (before, PROJECT):
                measured(tree, row, size)
            costs: dict[Path, list[float]] = {before: [], PROJECT: []}
            for repeat in range(1 if small else repeats):
                for tree in (before, PROJECT) if repeat % 2 else (PROJECT, before):
                    costs[tree].append(measured(tree, row, size))
            then, now = statistics.median(costs[before]), statistics.median(costs[PROJECT])
            slow += now > SLOWER * then and not small
            print(f"{row:20} {then:8.3f} -> {now:8.3f}   ratio {now / then:.3f}", flush=True)
    return slow


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--against", default=AGAINST, metavar="COMMIT")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--only", default="", metavar="TEXT")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--row", choices=ROWS, help=argparse.SUPPRESS)
    parser.add_argument("--size", type=float, default=1.0, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.row:
        warnings.simplefilter("ignore")
        print(ROWS[asked.row](asked.size))
    else:
        sys.exit(1 if main(asked.against, asked.repeats, asked.only, asked.small) else 0)
