"""The hierarchical logit beside mixed logits by simulated maximum likelihood: log score, hit rate,
CPU seconds.

    python benchmarks/hierarchical_peers.py [choices.csv] [--xlogit PYTHON] [--jaxlogit PYTHON]
    [--draws 500] [--small]

`choices.csv` is the camera data (brand with "none"); without it 100 simulated people. PYTHON is the
interpreter of an environment that has the package (`pip install xlogit`, `pip install jaxlogit`).
Everybody's last four tasks are predicted. A mixed logit has no tastes of persons: they are drawn
from its estimated population, 20,000 for everybody, and weighted by the likelihood of a person's
other choices. All have the same columns, price as a number.

xlogit has no correlated coefficients and no latent classes.
"""

import argparse
import resource
import subprocess
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

import thali as th
from thali._choice.logit_likelihood import choice_probabilities
from thali._choice.product_coding import build_coding

from hierarchical_scale import simulated  # isort: skip

PEOPLE_DRAWN = 20_000


def rows_of(coding, data) -> dict[str, np.ndarray]:
    """Columns, task, person and choice of every row."""
    task = np.repeat(np.arange(data.n_tasks), np.diff(data.first_row))
    chosen = np.arange(len(task)) - data.first_row[task] == data.chosen[task]
    x = coding.encode_codes(data.products)[data.row_product]
    return {
        "x": x,
        "task": task,
        "person": data.respondent_of_task[task],
        "chosen": chosen.astype(int),
    }


def scores(p: np.ndarray, test: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Mean log score and hit rate of every person."""
    first = np.searchsorted(test["task"], np.arange(test["task"][-1] + 1))
    own = np.flatnonzero(test["chosen"])
    hit = p[own] >= np.maximum.reduceat(p, first) - 1e-12
    table = (
        pd.DataFrame({"log": np.log(p[own]), "hit": hit, "person": test["person"][own]})
        .groupby("person")
        .mean()
    )
    return table["log"].to_numpy(), table["hit"].to_numpy()


def of_people(mean, covariance, train, test) -> np.ndarray:
    """Probabilities of the rows of `test`, given the choices of their people in `train`."""
    rng = np.random.default_rng(0)
    taste = rng.multivariate_normal(mean, covariance, size=PEOPLE_DRAWN, method="svd").T
    found = np.empty(len(test["x"]))
    for person in np.unique(test["person"]):
        own, asked = train["person"] == person, test["person"] == person
        task = train["task"][own] - train["task"][own][0]
        p = choice_probabilities(train["x"][own] @ taste, task)[train["chosen"][own] == 1]
        log_weight = np.log(np.maximum(p, 1e-300)).sum(axis=0)
        weight = np.exp(log_weight - log_weight.max())
        task = test["task"][asked] - test["task"][asked][0]
        found[asked] = choice_probabilities(test["x"][asked] @ taste, task) @ (
            weight / weight.sum()
        )
    return found


def line(
    label: str, cpu: float, wall: float, p: np.ndarray, test: dict[str, np.ndarray], more: str = ""
) -> None:
    """One row of the table."""
    log, hit = scores(p, test)
    error = log.std(ddof=1) / np.sqrt(len(log))
    print(
        f"  {label:34}{cpu:8.1f}{wall:8.1f}{log.mean():10.4f} ({error:.3f}){hit.mean():8.3f} "
        f" {more}",
        flush=True,
    )


def by_peer(package: str, python: str, draws: int, train, test) -> None:
    """Fit in the environment of `package`, and predict here."""
    with tempfile.TemporaryDirectory() as folder:
        np.savez(Path(folder) / "problem.npz", **train)
        before, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        script = Path(__file__).with_name("mixed_logit_peer.py")
        subprocess.run(
            [python, str(script), folder, package, str(draws)],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        after, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter() - wall
        found = np.load(Path(folder) / "estimate.npz")
        mean, covariance, log_likelihood = (
            found["mean"],
            found["covariance"],
            float(found["log_likelihood"]),
        )
    cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    label = f"{package}, {'correlated' if package == 'jaxlogit' else 'independent'}, {draws} draws"
    line(
        label,
        cpu,
        wall,
        of_people(mean, covariance, train, test),
        test,
        f"log-likelihood {log_likelihood:.1f}",
    )


def main(path=None, small=False, xlogit=None, jaxlogit=None, draws=500) -> None:
    """Fit all to the same choices."""
    if path is None:
        data = simulated(15 if small else 100, 12)
    else:
        data = th.ChoiceExperiment.from_frame(pd.read_csv(path), none={"brand": "none"})
    train, test = data.split(tasks=4)
    coding = build_coding(train, "price")
    known, asked = rows_of(coding, train), rows_of(coding, test)
    print(f"{data}\n  {'':34}{'CPU s':>8}{'wall':>8}{'log score':>10}{'hit':>16}")
    cpu, wall = time.process_time(), time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", th.errors.ConvergenceWarning)
        settings = {"draws": 20, "tune": 20} if small else {}
        model = th.HierarchicalLogit(linear="price").fit(
            train, random_seed=1, progressbar=False, **settings
        )
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    line("hierarchical logit, correlated", cpu, wall, model.predict_proba(test), asked)
    for package, python in {"xlogit": xlogit, "jaxlogit": jaxlogit}.items():
        if python:
            by_peer(package, python, draws, known, asked)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("path", nargs="?")
    parser.add_argument("--xlogit")
    parser.add_argument("--jaxlogit")
    parser.add_argument("--draws", type=int, default=500)
    parser.add_argument("--small", action="store_true")
    main(**vars(parser.parse_args()))
