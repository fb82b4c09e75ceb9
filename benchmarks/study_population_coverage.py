"""Do intervals of a study's tables hold the value of the population that the respondents represent?

    python benchmarks/study_population_coverage.py [--studies 100] [--people 40 150]

Normal tastes of a hierarchical logit, 8 tasks of 3 alternatives: level effects, range shares,
utilities and the median willingness to pay; and sizes of segments of two clear kinds of people.
Fits have 2 chains of 600 draws.
"""

import argparse
import warnings
from collections.abc import Iterator

import numpy as np
import pandas as pd

import thali as th

MEANS, SDS = np.array([0.6, -0.4, -1.2]), np.array([0.8, 0.8, 0.5])
PRICES = np.array([1.0, 1.5, 2.0, 2.5])
TASKS, ALTERNATIVES = 8, 3
WORDS = np.array(["no", "yes"])
TASTE, SHARE = np.array([1.5, 0.8, 0.0, -0.8, -1.5]), 0.35
Interval = tuple[str, float, float]


def expit(x: np.ndarray) -> np.ndarray:
    """Return 1 / (1 + exp(-x))."""
    return 1.0 / (1.0 + np.exp(-x))


def draw_tastes(people: int, rng: np.random.Generator) -> np.ndarray:
    """Draw tastes for a lamp, an eco label and the price, (people, 3)."""
    return MEANS + SDS * rng.normal(size=(people, 3))


def population_figures() -> dict[str, float]:
    """Return the value of each figure in the population, from many people."""
    tastes = draw_tastes(1_000_000, np.random.default_rng(9))
    lamp, eco, price = tastes.T
    ranges = np.abs(tastes * [1.0, 1.0, np.ptp(PRICES)])
    shares = (ranges / ranges.sum(axis=1, keepdims=True)).mean(axis=0)
    figures = {f"importance {name}": share for name, share in zip(NAMES, shares, strict=True)}
    for name, taste in (("lamp", lamp), ("eco", eco)):
        amount = np.where(price < 0.0, -taste / price, np.sign(taste) * np.inf)
        figures[f"effect {name}"] = expit(taste).mean()
        figures[f"utility {name}"] = taste.mean() / 2.0
        figures[f"payment {name}"] = float(np.median(amount))
    return figures


NAMES = ("lamp", "eco", "price")


def simulate_study(tastes: np.ndarray, rng: np.random.Generator) -> pd.DataFrame:
    """Draw a conjoint study: a row for each alternative."""
    shape = (len(tastes), TASKS, ALTERNATIVES)
    lamp, eco = rng.integers(2, size=(2, *shape))
    price = rng.choice(PRICES, shape)
    utility = np.einsum("ntak,nk->nta", np.stack([lamp, eco, price], -1), tastes)
    chosen = (utility + rng.gumbel(size=shape)).argmax(axis=2)
    person, task, alternative = (index.ravel() for index in np.indices(shape))
    columns = {"respondent": person, "task": task, "lamp": WORDS[lamp.ravel()]}
    columns |= {"eco": WORDS[eco.ravel()], "price": price.ravel()}
    is_chosen = alternative == np.repeat(chosen.ravel(), ALTERNATIVES)
    return pd.DataFrame(columns | {"choice": is_chosen.astype(int)})


def list_intervals(model: th.HierarchicalLogit) -> Iterator[Interval]:
    """Yield name and both ends of each interval."""
    for table, name, ends in (
        (model.level_effects(), "effect", ("low", "high")),
        (model.utilities(), "utility", ("low", "high")),
        (model.willingness_to_pay("price"), "payment", ("wtp_low", "wtp_high")),
        (model.attribute_importance(), "importance", ("range_share_low", "range_share_high")),
    ):
        for row in table.to_dict("records"):
            if row["attribute"] in NAMES and str(row.get("level", "yes")) == "yes":
                yield f"{name} {row['attribute']}", row[ends[0]], row[ends[1]]


def cover_studies(studies: int, people: int) -> pd.DataFrame:
    """Return whether each interval of each study holds the population's value."""
    figures, rows = population_figures(), []
    for study in range(studies):
        rng = np.random.default_rng([people, study])
        data = th.read(simulate_study(draw_tastes(people, rng), rng))
        model = th.HierarchicalLogit(linear="price").fit(
            data, draws=600, tune=300, chains=2, cores=1, random_seed=study, progressbar=False
        )
        rows += [
            (name.split()[0], low < figures[name] < high)
            for name, low, high in list_intervals(model)
            if name in figures
        ]
    return pd.DataFrame(rows, columns=["table", "held"])


def cover_segments(studies: int, people: int) -> tuple[float, float]:
    """Return how often the size of a segment is held, and the mean width of its interval."""
    held, widths = [], []
    for study in range(studies):
        rng = np.random.default_rng([people, study])
        is_other = rng.random(people) < SHARE
        worths = np.where(is_other[:, None], -TASTE, TASTE) + 0.3 * rng.normal(size=(people, 5))
        person = np.repeat(np.arange(people), 20)
        left = rng.integers(5, size=len(person))
        right = (left + rng.integers(1, 5, size=len(person))) % 5
        is_left = rng.random(len(person)) < expit(worths[person, left] - worths[person, right])
        table = pd.DataFrame({"respondent": person, "left": left, "right": right})
        table = table.assign(choice=np.where(is_left, left, right)).astype(str)
        model = th.BradleyTerryLuce(people=th.people.Individuals()).fit(
            th.read(table), draws=300, cores=1, random_seed=study, progressbar=False
        )
        sizes = model.respondents.segments(2).sizes
        row = sizes.iloc[int((sizes["share"] - SHARE).abs().to_numpy().argmin())]
        held.append(row["share_low"] < SHARE < row["share_high"])
        widths.append(row["share_high"] - row["share_low"])
    return float(np.mean(held)), float(np.mean(widths))


def main() -> None:
    """Print coverage by table and number of people."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=100)
    parser.add_argument("--people", type=int, nargs="*", default=[40, 150])
    parser.add_argument("--segment-people", type=int, nargs="*", default=[40, 120])
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    for people in arguments.people:
        found = cover_studies(arguments.studies, people).groupby("table")["held"]
        text = ", ".join(f"{table} {share:.3f}" for table, share in found.mean().items())
        print(f"{people} people, {arguments.studies} studies: {text}", flush=True)
    for people in arguments.segment_people:
        held, width = cover_segments(arguments.studies, people)
        print(f"segments of {people} people: held {held:.3f}, mean width {width:.3f}", flush=True)


if __name__ == "__main__":
    main()
