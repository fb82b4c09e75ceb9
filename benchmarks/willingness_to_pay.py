"""The hierarchical logit in willingness-to-pay space beside a mixed logit there: amounts, CPU
seconds.

    python benchmarks/willingness_to_pay.py [--people 300] [--draws 500] [--xlogit PYTHON] [--small]

Simulated people whose amounts for a zoom and a brand are normal (12 and -6 on average, standard
deviations 5 and 6) and whose scale of utility is log-normal (logarithm -1.9, .4) choose among three
products in ten tasks. PYTHON is the interpreter of an environment that has xlogit (`pip install
xlogit`), whose scale is one number for everybody and whose amounts are independent; `draws` are its
Halton points for each person. The hierarchical logit has a default fit.
"""

import argparse
import resource
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

import thali as th

MEAN, SD = np.array([-1.9, 12.0, -6.0]), np.array([0.4, 5.0, 6.0])
TASKS = 10


def simulated(people: int, seed: int) -> pd.DataFrame:
    """A row a product: person, task, whether it was chosen, price and 0 or 1 of both attributes."""
    rng = np.random.default_rng(seed)
    numbers = MEAN + SD * rng.normal(size=(people, 3))
    rows = []
    for person, (log_scale, zoom, brand) in enumerate(numbers):
        for task in range(TASKS):
            price, has, other = (
                rng.choice([5, 15, 25], size=3),
                rng.integers(2, size=3),
                rng.integers(2, size=3),
            )
            utility = np.exp(log_scale) * (zoom * has + brand * other - price) + rng.gumbel(size=3)
            chosen = np.arange(3) == utility.argmax()
            rows += [
                (person, TASKS * person + task, j + 1, int(chosen[j]), price[j], has[j], other[j])
                for j in range(3)
            ]
    return pd.DataFrame(rows, columns=["id", "task", "alt", "choice", "price", "zoom", "brand"])


def seconds(children: bool = False) -> float:
    """CPU seconds so far, of this process or of those that it ran."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN if children else resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def show(name: str, spent: float, amounts, sds) -> None:
    """A row of the table."""
    cells = " ".join(f"{value:>8.2f}" for value in (*amounts, *sds))
    print(f"{name:<44} {spent:>6.1f} {cells}", flush=True)


def main(
    people: int = 300, draws: int = 500, xlogit: str | None = None, small: bool = False
) -> None:
    """Fit both and print means and standard deviations of the amounts."""
    people, draws, least = (20, 20, 20) if small else (people, draws, None)
    frame = simulated(people, 1)
    print(f"{people} people{'':<34} CPU s    zoom    brand  sd zoom sd brand")
    show("truth", 0.0, MEAN[1:], SD[1:])
    data = th.ChoiceExperiment.from_frame(frame, attributes=["price", "zoom", "brand"])
    began = seconds()
    model = th.HierarchicalLogit(linear=["price", "zoom", "brand"], space="willingness-to-pay")
    model.fit(data, least, random_seed=1, progressbar=False)
    rows = model.population()["mean"]
    names = ("zoom", "brand")
    show(
        "hierarchical logit, posterior means",
        seconds() - began,
        [rows[f"mean[{name}]"] for name in names],
        [rows[f"sd[{name}]"] for name in names],
    )
    print(f"  smallest ESS of the population {model.population()['ess_bulk'].min():.0f}")
    if xlogit is not None:
        with tempfile.TemporaryDirectory() as folder:
            frame.to_csv(Path(folder) / "choices.csv", index=False)
            began = seconds(children=True)
            script = Path(__file__).with_name("willingness_to_pay_xlogit.py")
            subprocess.run([xlogit, script, folder, str(draws)], check=True)
            found = np.load(Path(folder) / "estimate.npz")
            show(
                f"xlogit, {draws} points",
                seconds(children=True) - began,
                found["mean"],
                found["sd"],
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--people", type=int, default=300)
    parser.add_argument("--draws", type=int, default=500)
    parser.add_argument("--xlogit")
    parser.add_argument("--small", action="store_true")
    main(**vars(parser.parse_args()))
