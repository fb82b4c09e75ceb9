"""Hashes of all draws of ten fits as users make them, on one processor.

`python -m helpers.digests_long` in the folder `tests` writes them anew (cases/digests_long.json):
before a change of structure, at the commit that it starts from. `pytest -m long
tests/model/test_digests_long.py` holds the fits to them afterwards. Another processor rounds
otherwise, and after thousands of sweeps draws otherwise; so it needs hashes of its own.
"""

import hashlib
import json
import sys
import tempfile
import warnings
from pathlib import Path

import llvmlite.binding
import numpy as np
import pandas as pd

import thali as th
from helpers.stopped_jobs import killed_at_a_rename

FILE = Path(__file__).parents[1] / "cases" / "digests_long.json"
RUN = {"random_seed": 1, "progressbar": False}
OPTIONS = list("abcdefgh")


def processor():
    """What decides how numbers are rounded."""
    name, python = llvmlite.binding.get_host_cpu_name(), sys.version_info
    return f"{name}, NumPy {np.__version__}, Python {python.major}.{python.minor}"


def answers(respondents, shown, seed):
    """Which of the options shown each respondent chooses, six times: columns `who`, `age`,
    `option1`, ..., `chosen`."""
    rng = np.random.default_rng(seed)
    worths = np.linspace(0.0, 2.0, len(OPTIONS))
    rows = []
    for who in range(respondents):
        age = int(rng.integers(20, 80))
        own = worths + rng.normal(0.0, 0.5, len(OPTIONS))
        for _ in range(6):
            items = rng.choice(len(OPTIONS), shown, replace=False)
            best = int(np.argmax(own[items] + rng.gumbel(size=shown)))
            names = {f"option{place}": OPTIONS[item] for place, item in enumerate(items, start=1)}
            rows.append(
                {"who": f"p{who}", "age": age, **names, "chosen": names[f"option{best + 1}"]}
            )
    return pd.DataFrame(rows)


def sets():
    """Choices out of three options."""
    frame = answers(40, 3, 4).drop(columns=["who", "age"])
    shown = {f"option{place}": f"item{place}" for place in (1, 2, 3)}
    return th.read(frame.rename(columns={**shown, "chosen": "best"}))


def triplets():
    """Which of three objects is the odd one out."""
    rng = np.random.default_rng(5)
    rows = []
    for _ in range(300):
        items = np.sort(rng.choice(8, 3, replace=False))
        alike = items % 2
        odd = [k for k in range(3) if (alike == alike[k]).sum() == 1]
        rows.append(
            [
                *np.delete(items, odd[0] if odd and rng.random() < 0.9 else 0),
                items[odd[0] if odd else 0],
            ]
        )
    kept = [row for row in rows if len(set(map(int, row))) == 3]
    return th.Triplets(np.array(kept), labels=OPTIONS)


def study():
    """A choice experiment."""
    return th.datasets.product_choices(40, 8, random_seed=6)


def rows():
    """Covariates and three classes."""
    rng = np.random.default_rng(7)
    matrix = rng.normal(size=(150, 6))
    classes = np.argmax(matrix[:, :3] + rng.gumbel(size=(150, 3)), axis=1)
    return matrix, np.array(["low", "middle", "high"])[classes]


def board():
    """The numbers of a leaderboard of judges, of whom some choose at random."""
    columns = {"first": "option1", "second": "option2", "chosen": "chosen", "respondent": "who"}
    found = th.leaderboard(answers(20, 2, 8), method="mcmc", judges=True, **RUN, **columns)
    tables = {"options": found.table, "judges": found.judges()}
    return {name: table.select_dtypes("number").to_numpy(float) for name, table in tables.items()}


def resumed():
    """Celebrities, killed while the job is written, and fitted again."""
    with tempfile.TemporaryDirectory() as folder:
        job = str(Path(folder) / "job")
        settings = {"draws": 400, "tune": 400, "job": job, **RUN}

        def work():
            th.EliminationByAspects().fit(th.datasets.celebrities(), **settings)

        assert killed_at_a_rename(work, job, 2, True), "it ended before it was killed"
        return th.EliminationByAspects().fit(th.datasets.celebrities(), **settings)


def continued():
    """Celebrities, continued after a fit."""
    model = th.EliminationByAspects().fit(th.datasets.celebrities(), draws=200, tune=400, **RUN)
    return model.continue_fit(200)


FITS = {
    "celebrities": lambda: th.EliminationByAspects().fit(
        th.datasets.celebrities(), draws=400, tune=400, **RUN
    ),
    "tempering": lambda: th.EliminationByAspects(tempering=4).fit(
        th.datasets.celebrities(), draws=200, tune=200, thin=4, **RUN
    ),
    "sets": lambda: th.EliminationByAspects().fit(sets(), draws=200, tune=200, thin=4, **RUN),
    "triplets": lambda: th.AdditiveClustering().fit(triplets(), draws=200, tune=200, thin=4, **RUN),
    "hierarchical logit": lambda: th.HierarchicalLogit().fit(
        study().data, draws=300, tune=200, thin=4, **RUN
    ),
    "product classes": lambda: th.ProductClasses().fit(
        study().data, draws=100, tune=500, thin=16, **RUN
    ),
    "sparse logit": lambda: th.SparseMultinomialLogit(draws=500, random_state=1).fit(
        *rows(), progressbar=False
    ),
    "board of judges": board,
    "killed and resumed": resumed,
    "continued": continued,
}


def hash_of(tables):
    """One hash of arrays by name."""
    found = hashlib.sha256()
    for name, values in sorted(tables.items()):
        array = np.ascontiguousarray(values)
        found.update(f"{name} {array.dtype} {array.shape}".encode())
        found.update(array.tobytes())
    return found.hexdigest()[:32]


def draws_of(model):
    """All draws of a fit, by name, in whichever group they are stored."""
    return {
        f"posterior.{name}": values.values
        for part in ("posterior", "latent_features")
        if part in model.posterior_.children
        for name, values in model.posterior_[part].dataset.data_vars.items()
    }


def digest(name):
    """The hash of a fit."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = FITS[name]()
        return hash_of(fitted if isinstance(fitted, dict) else draws_of(fitted))


def kept():
    """The hashes of this processor, by fit; none where they were never written."""
    every = json.loads(FILE.read_text("utf-8")) if FILE.exists() else {}
    return every.get(processor(), {})


def digests_of_processors(name):
    """The hashes of a fit on any processor where it was made."""
    hashes_by_processor = json.loads(FILE.read_text("utf-8")).values()
    return {hashes[name] for hashes in hashes_by_processor if name in hashes}


if __name__ == "__main__":
    every = json.loads(FILE.read_text("utf-8")) if FILE.exists() else {}
    every[processor()] = {name: digest(name) for name in FITS}
    FILE.write_text(json.dumps(every, indent=1, sort_keys=True) + "\n", encoding="utf-8")
