"""Leaderboards from files of battles: seconds and memory, and beside other programs in the same
run.

    python benchmarks/leaderboard_speed.py [--small] [--models 300] [--battles 2000000]
        [--judges 0] [--weeks 0] [--arena-rank PYTHON] [--evalica PYTHON] [--choix PYTHON]

Battles are simulated (worths with a standard deviation of 1 on the log scale, opponents by a skewed
popularity, 25 % of ties; log discriminations of judges, if there are any, with one of .5) and
written to a Parquet file. Each program reads the file in a process of its own, with one thread of
BLAS. thali counts equal votes first, as its page on leaderboards says; the others run as their
pages say, in the environment whose Python is given (`pip install arena-rank`, `evalica` or `choix`,
with pandas and pyarrow). CPU seconds are of reading and fitting together, in the second of two
rounds, in which nothing is compiled. Where the models agree (ties half a win of either, maximum
likelihood) so must the log worths: the largest difference is given. With `--judges` or `--weeks` thali alone runs, once, with judges or periods.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

_TIMED = """
import json, resource, sys, time
import numpy as np
def timed(run, path):
    for _ in range(int(sys.argv[2])):
        begin = time.process_time()
        names, log_worths = run(path)
        seconds = time.process_time() - begin
    log_worths = np.asarray(log_worths, float)
    found = dict(zip(map(str, names), (log_worths - log_worths.mean()).tolist()))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(json.dumps({"seconds": seconds, "memory": memory, "log_worths": found}))
"""
_THALI = """
import pandas as pd
import thali as th
def run(path):
    settings = json.loads(sys.argv[3])
    further = [settings[name] for name in ("respondent", "date") if name in settings]
    votes = pd.read_parquet(path, columns=["model_a", "model_b", "winner", *further])
    counted = votes.value_counts().reset_index(name="count")
    board = th.leaderboard(counted, progressbar=False, **settings)
    return board.table.index, board.table["rating"] * np.log(10) / 400
timed(run, sys.argv[1])
"""
_ARENA_RANK = """
import pandas as pd
from arena_rank.models.bradley_terry import BradleyTerry
from arena_rank.utils.data_utils import PairDataset
def run(path):
    frame = pd.read_parquet(path, columns=["model_a", "model_b", "winner"])
    data = PairDataset.from_pandas(frame)
    found = BradleyTerry(n_competitors=len(data.competitors)).compute_ratings_and_cis(data)
    return found["competitors"], np.asarray(found["ratings"]) * np.log(10) / 400
timed(run, sys.argv[1])
"""
_EVALICA = """
import evalica, pandas as pd
from evalica import Winner
def run(path):
    frame = pd.read_parquet(path, columns=["model_a", "model_b", "winner"])
    meaning = {"model_a": Winner.X, "model_b": Winner.Y}
    winners = [meaning.get(word, Winner.Draw) for word in frame["winner"]]
    pairs = frame["model_a"].tolist(), frame["model_b"].tolist()
    found = evalica.bradley_terry(*pairs, winners, tolerance=1e-10, limit=10_000)
    return found.scores.index, np.log(found.scores.to_numpy())
timed(run, sys.argv[1])
"""
_CHOIX = """
import choix, pandas as pd
def run(path):
    frame = pd.read_parquet(path, columns=["model_a", "model_b", "winner"])
    codes, names = pd.factorize(pd.concat([frame["model_a"], frame["model_b"]]))
    a, b = codes[: len(frame)], codes[len(frame) :]
    share = frame["winner"].map({"model_a": 1.0, "model_b": 0.0}).fillna(0.5).to_numpy()
    wins = np.zeros((len(names), len(names)))
    np.add.at(wins, (a, b), share)
    np.add.at(wins, (b, a), 1.0 - share)
    return names, choix.ilsr_pairwise_dense(wins, tol=1e-10, max_iter=1_000)
timed(run, sys.argv[1])
"""


def write_battles(
    path: Path, models: int, battles: int, judges: int = 0, weeks: int = 0, seed: int = 1
) -> None:
    """Battles between models of different popularity, as an arena logs them."""
    import pandas as pd

    rng = np.random.default_rng(seed)
    u, popularity = rng.normal(size=models), rng.pareto(1.5, models) + 0.2
    a = rng.choice(models, battles, p=popularity / popularity.sum())
    b = (a + 1 + rng.integers(0, models - 1, battles)) % models
    judge = rng.integers(0, max(judges, 1), battles)
    sharpness = np.exp(0.5 * rng.normal(size=judges))[judge] if judges else 1.0
    p = 1 / (1 + np.exp(sharpness * (u[b] - u[a])))
    r = 0.8 * np.sqrt(p * (1 - p))
    drawn = rng.random(battles) * (1 + r)
    outcome = np.where(drawn < p, 0, np.where(drawn < 1, 1, 2 + rng.integers(0, 2, battles)))
    names = np.array([f"model-{k:03d}" for k in range(models)], dtype=object)
    words = np.array(["model_a", "model_b", "tie", "tie (bothbad)"], dtype=object)
    columns = {
        "question_id": rng.integers(0, 2**62, battles),
        "model_a": names[a],
        "model_b": names[b],
    }
    columns |= {
        "winner": words[outcome],
        "turn": rng.integers(1, 5, battles),
        "tstamp": rng.random(battles),
    }
    columns |= {"judge": judge} if judges else {}
    columns |= {"week": rng.integers(0, weeks, battles)} if weeks else {}
    pd.DataFrame(columns).to_parquet(path, index=False)


def measured(
    python: str, program: str, path: Path, settings: dict | None = None, rounds: int = 2
) -> dict:
    """What a program says of its last round."""
    command = [python, "-c", _TIMED + program, str(path), str(rounds), json.dumps(settings or {})]
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment)
    return json.loads(done.stdout)


def main(
    small: bool = False,
    models: int = 300,
    battles: int = 2_000_000,
    judges: int = 0,
    weeks: int = 0,
    arena_rank: str = "",
    evalica: str = "",
    choix: str = "",
) -> None:
    """Print a line a program."""
    models, battles = (20, 5_000) if small else (models, battles)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "battles.parquet"
        write_battles(path, models, battles, judges, weeks)
        print(f"{battles:,} battles of {models} models, {path.stat().st_size / 1e6:.1f} MB")
        found = {}
        how = {"judges": {"judges": True, "respondent": "judge"}} if judges else {}
        how |= {"weeks": {"period": "week", "date": "week"}} if weeks else {}
        if not how:
            how = {"davidson laplace": {}}
            how |= (
                {}
                if small
                else {"half maximum-likelihood": {"ties": "half", "method": "maximum-likelihood"}}
            )
        for name, settings in how.items():
            rounds = 1 if judges or weeks else 2
            found[f"thali {name}"] = measured(sys.executable, _THALI, path, settings, rounds)
        others = (
            ("arena-rank", arena_rank, _ARENA_RANK),
            ("evalica", evalica, _EVALICA),
            ("choix", choix, _CHOIX),
        )
        for name, python, program in others:
            if python:
                found[name] = measured(python, program, path)
        ours = found.get("thali half maximum-likelihood")
        for name, each in found.items():
            differ = ""
            if ours is not None and not name.startswith("thali"):
                worst = max(
                    abs(value - ours["log_worths"][model])
                    for model, value in each["log_worths"].items()
                )
                differ = (
                    f", log worths differ by {worst:.1e} at most from those of thali half"
                    " maximum-likelihood"
                )
            print(f"{name}: {each['seconds']:.2f} CPU s, {each['memory']:.2f} GB{differ}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--models", type=int, default=300)
    parser.add_argument("--battles", type=int, default=2_000_000)
    parser.add_argument("--judges", type=int, default=0)
    parser.add_argument("--weeks", type=int, default=0)
    parser.add_argument("--arena-rank", default="", metavar="PYTHON")
    parser.add_argument("--evalica", default="", metavar="PYTHON")
    parser.add_argument("--choix", default="", metavar="PYTHON")
    asked = parser.parse_args()
    others = asked.arena_rank, asked.evalica, asked.choix
    main(asked.small, asked.models, asked.battles, asked.judges, asked.weeks, *others)
