"""Style control beside a logit of statsmodels and arena-rank on the same battles: estimates, CPU
seconds in one run.

    python benchmarks/style_control.py [--small] [--battles 100000] [--models 50] --statsmodels PYTHON
    --arena-rank PYTHON

Battles are simulated: worths with a standard deviation of 1, the logarithm of the ratio of two
lengths and whether the first has more headings, to one digit. thali reads the file and fits by
maximum likelihood, controlled for both and without (which the board shows beside it); the other, in
the environment whose Python is given (`pip install statsmodels pyarrow`), reads the same file,
makes indicators of models and fits `Logit` by Newton's method, controlled for both. arena-rank
(`pip install arena-rank pyarrow`) reads the same file and fits `ContextualBradleyTerry` with equal
weights of battles, covariates as they are and `reg=0`, its penalty of effects; its L-BFGS stops at
1e-14 in place of 1e-9, and its ratings have sandwich intervals. Printed: the largest differences of
log worths and of effects, CPU seconds and memory of reading and fitting.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

_STATSMODELS = """
import json, resource, sys, time
import numpy as np, pandas as pd, statsmodels.api as sm
begin = time.process_time()
frame = pd.read_parquet(sys.argv[1])
names = sorted(set(frame["model_a"]) | set(frame["model_b"]))
place, rows = {name: k for k, name in enumerate(names)}, np.arange(len(frame))
x = np.zeros((len(frame), len(names) + 2))
x[rows, frame["model_a"].map(place)] = 1.0
x[rows, frame["model_b"].map(place)] -= 1.0
x[:, -2], x[:, -1] = frame["length"], frame["headings"]
fit = sm.Logit((frame["winner"] == "model_a").to_numpy(float), x[:, 1:]).fit(disp=0)
worths = np.append(0.0, fit.params[:-2])
found = dict(zip(names, (worths - worths.mean()).tolist()))
memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
print(json.dumps({"seconds": time.process_time() - begin, "memory": memory, "worths": found,
                  "effects": fit.params[-2:].tolist()}))
"""
_ARENA_RANK = """
import json, resource, sys, time
import numpy as np, pandas as pd
from arena_rank.models.contextual_bradley_terry import ContextualBradleyTerry
from arena_rank.utils.data_utils import ContextualPairDataset
begin = time.process_time()
battles = ContextualPairDataset.from_pandas(
    pd.read_parquet(sys.argv[1]), ["length", "headings"], reweighted=False, normalize_features=False)
model = ContextualBradleyTerry(len(battles.competitors), 2, reg=0.0, ftol=1e-14, gtol=1e-14)
model.fit(battles)
fit = model.compute_ratings_and_cis(battles)
worths = (np.array(fit["ratings"]) - 1000.0) / model.alpha
found = dict(zip(battles.competitors, (worths - worths.mean()).tolist()))
memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
print(json.dumps({"seconds": time.process_time() - begin, "memory": memory, "worths": found,
                  "effects": np.array(fit["coeffs"]).tolist()}))
"""
_THALI = """
import json, resource, sys, time
import numpy as np, thali as th
begin = time.process_time()
board = th.leaderboard(
    sys.argv[1], method="maximum-likelihood", covariates=["length", "headings"], progressbar=False)
found = dict(zip(board.table.index, ((board.table["rating"] - 1000) * np.log(10) / 400).tolist()))
memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
print(json.dumps({"seconds": time.process_time() - begin, "memory": memory, "worths": found,
                  "effects": board.covariate_effects()["effect"].tolist()}))
"""


def main(
    small: bool = False,
    battles: int = 100_000,
    models: int = 50,
    statsmodels: str = "",
    arena_rank: str = "",
) -> None:
    models, battles = (6, 2000) if small else (models, battles)
    rng = np.random.default_rng(1)
    worth = rng.normal(size=models)
    first = rng.integers(0, models, battles)
    second = (first + rng.integers(1, models, battles)) % models
    length = rng.normal(0.3 * (worth[second] - worth[first]), 0.5).round(1)
    headings = rng.integers(-1, 2, battles)
    won = rng.random(battles) < 1 / (
        1 + np.exp(worth[second] - worth[first] - 0.8 * length - 0.3 * headings)
    )
    names = np.array([f"model-{k:03d}" for k in range(models)])
    frame = pd.DataFrame(
        {"model_a": names[first], "model_b": names[second], "length": length, "headings": headings}
    )
    frame["winner"] = np.where(won, "model_a", "model_b")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "battles.parquet"
        frame.to_parquet(path)
        programs = {"thali": (sys.executable, _THALI)}
        if statsmodels:
            programs["statsmodels"] = (statsmodels, _STATSMODELS)
        if arena_rank:
            programs["arena-rank"] = (arena_rank, _ARENA_RANK)
        found = {}
        for name, (python, code) in programs.items():
            begin = time.time()
            run = subprocess.run(
                [python, "-c", code, str(path)], capture_output=True, text=True, check=True
            )
            found[name] = json.loads(run.stdout.splitlines()[-1])
            print(
                f"{name}: {found[name]['seconds']:.2f} CPU seconds, {found[name]['memory']:.2f}"
                f" GB, effects {np.round(found[name]['effects'], 4).tolist()}"
                f" ({time.time() - begin:.0f} s)"
            )
    one = found.pop("thali")
    for name, other in found.items():
        apart = max(abs(one["worths"][model] - value) for model, value in other["worths"].items())
        effects = np.abs(np.subtract(one["effects"], other["effects"])).max()
        print(f"{name}: largest difference of log worths {apart:.1e}, of effects {effects:.1e}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--battles", type=int, default=100_000)
    parser.add_argument("--models", type=int, default=50)
    parser.add_argument("--statsmodels", default="")
    parser.add_argument("--arena-rank", default="")
    parser.add_argument("--small", action="store_true")
    asked = parser.parse_args()
    main(asked.small, asked.battles, asked.models, asked.statsmodels, asked.arena_rank)
