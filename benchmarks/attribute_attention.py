"""Who ignores what: the hierarchical logit with and without attention, on simulated and on real
studies.

    python benchmarks/attribute_attention.py [--seeds 0 1] [--people 400] [--small]
    python benchmarks/attribute_attention.py FOLDER [--people 100] [--draws 1000] [--only camera]

Simulated (no FOLDER): 16 tasks of three products for everybody and four more, which are predicted.
The four tastes have means of at least three standard deviations; 45 % of the people ignore the
price and 25 % the zoom, or nobody ignores anything. Log scores are means over the tasks that were
left out, differences are paired, with standard errors over people. Truths are those of the sample;
that of willingness to pay is the median over those who attend to the price.

Real: FOLDER holds dce_camera, dce_electricity and dce_swissroute; a draw of people, whose last 4
tasks are predicted (of swissroute the last 2), with and without attention, and with attention at
the prior size of variances without it.
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

import thali as th

MEANS, SDS = np.array([-2.0, 1.8, 1.6, -1.6]), np.array([0.6, 0.5, 0.5, 0.5])
NAMES = ["price", "zoom", "screen", "weight"]
IGNORED = {"45 % and 25 %": np.array([0.45, 0.25, 0.0, 0.0]), "nobody": np.zeros(4)}
TASKS, LEFT_OUT = 16, 4


def simulated(
    people: int, seed: int, ignored: np.ndarray
) -> tuple["th.ChoiceExperiment", np.ndarray, np.ndarray]:
    """A study, tastes of everybody and who attends to what."""
    rng = np.random.default_rng(seed)
    tastes, attends = rng.normal(MEANS, SDS, (people, 4)), rng.random((people, 4)) >= ignored
    rows = []
    for n in range(people):
        for task in range(TASKS + LEFT_OUT):
            x = np.column_stack([rng.choice([-1.0, 0.0, 1.0], 3), rng.integers(0, 2, (3, 3))])
            chosen = (x @ (tastes[n] * attends[n]) + rng.gumbel(size=3)).argmax()
            for j in range(3):
                levels = [("no", "yes")[int(value)] for value in x[j, 1:]]
                rows.append((n, task, j, int(j == chosen), 100.0 + 50.0 * x[j, 0], *levels))
    frame = pd.DataFrame(rows, columns=["id", "task", "alt", "choice", *NAMES])
    return th.ChoiceExperiment.from_frame(frame, attributes=NAMES), tastes, attends


def log_scores(model: "th.HierarchicalLogit", test: "th.ChoiceExperiment") -> np.ndarray:
    """The mean log score of every person."""
    logs = np.log(model.predict_proba(test)[test.first_row[:-1] + test.chosen])
    return np.add.reduceat(logs, test.first_task[:-1]) / np.diff(test.first_task)


def fitted(train: "th.ChoiceExperiment", seed: int, draws: int | None = None, **arguments):
    """A model after a fit of so many draws of each chain, by default until they suffice, and the
    CPU seconds of it."""
    begin = time.process_time()
    model = th.HierarchicalLogit(**arguments).fit(train, draws, random_seed=seed, progressbar=False)
    return model, time.process_time() - begin


def simulation(people: int, seeds: list[int], draws: int | None) -> None:
    """Both kinds of studies, seed by seed."""
    for label, ignored in IGNORED.items():
        print(f"{people} people, {TASKS} tasks; who ignores price, zoom: {label}")
        for seed in seeds:
            data, tastes, attends = simulated(people, seed, ignored)
            train, test = data.split(tasks=LEFT_OUT)
            plain, before = fitted(train, seed, draws, linear="price")
            model, after = fitted(train, seed, draws, linear="price", attention=True)
            shares = model.attention().shares
            off = log_scores(model, test) - log_scores(plain, test)
            error = off.std(ddof=1) / np.sqrt(people)
            print(f"  seed {seed}, CPU s {before:.0f} without, {after:.0f} with")
            print(
                "    attend, of the sample: ",
                dict(zip(NAMES, attends.mean(axis=0).round(3).tolist(), strict=True)),
            )
            print("    attend, found:         ", shares["attends"].round(3).to_dict())
            print(
                "    ess, R-hat:            ",
                shares["ess"].round().to_dict(),
                shares["r_hat"].max().round(4),
            )
            print(f"    log score, with less without: {off.mean():+.4f} ({error:.4f})")
            who = attends[:, 0]
            truth = np.median(-(tastes * attends)[who, 1:] / (tastes[who, :1] / 50.0), axis=0)
            pay = [
                each.willingness_to_pay("price")["wtp"].to_numpy().round(1)
                for each in (plain, model)
            ]
            print(
                f"    willingness to pay: truth {truth.round(1)}, without {pay[0]}, with {pay[1]}",
                flush=True,
            )


def study(folder: Path, name: str) -> tuple["th.ChoiceExperiment", int, str]:
    """The data, how many tasks are left out, and the price."""
    frame = pd.read_csv(folder / f"dce_{name}/choices.csv")
    if name == "camera":
        frame["price"] = frame["price"].where(frame["brand"] != "none")
        return th.ChoiceExperiment.from_frame(frame, none={"brand": "none"}), 4, "price"
    if name == "electricity":
        return th.ChoiceExperiment.from_frame(frame, attributes=["rate", "cl", "loc", "wk"]), 4, ""
    return th.ChoiceExperiment.from_frame(frame, attributes=["tt", "tc", "hw", "ch"]), 2, "tc"


def real(folder: Path, name: str, people: int, draws: int) -> None:
    """A real study without attention, with it, and with it at the wider prior."""
    data, tasks, price = study(folder, name)
    train, test = data.split(tasks=tasks)
    some = np.random.default_rng(100).choice(
        data.n_respondents, min(people, data.n_respondents), replace=False
    )
    train, test = (each.take(np.isin(each.respondent_of_task, some)) for each in (train, test))
    linear = {"camera": "price", "swissroute": ["tt", "tc", "hw", "ch"], "electricity": []}[name]
    print(f"{name}: {len(some)} people")
    first = None
    rows = train.to_frame()
    names = [name for name in rows.columns[2:] if name in (rows.columns[2], *train.attributes)]
    market = rows.loc[(rows.iloc[:, :2] == rows.iloc[0, :2]).all(axis=1), names]
    for label, arguments in {
        "without": {},
        "without, scale .2": {"scale": 0.2},
        "with, scale .2": {"attention": True},
        "with, scale 1": {"attention": True, "scale": 1.0},
    }.items():
        model, seconds = fitted(train, 1, draws, linear=linear, **arguments)
        scores = log_scores(model, test)
        first = scores if first is None else first
        off = scores - first
        print(f"  {label:18} CPU s {seconds:4.0f}  log score {scores.mean():.4f}  ", end="")
        print(f"difference {off.mean():+.4f} ({off.std(ddof=1) / np.sqrt(len(off)):.4f})")
        if "attention" in arguments:
            shares = model.attention().shares
            rows = [
                f"{n} {r.attends:.2f} ({r.low:.2f} to {r.high:.2f}; ess {r.ess:.0f})"
                for n, r in shares.iterrows()
            ]
            print(f"    attend: {', '.join(rows)}; R-hat at most {shares['r_hat'].max():.3f}")
        if price:
            pay = model.willingness_to_pay(price)
            amounts = [
                f"{row['attribute']} {row['level']} {row['wtp']:.3g}"
                for row in pay.to_dict("records")
            ]
            print(f"    median willingness to pay: {', '.join(amounts)}")
        shares = model.market_shares(market)
        parts = [
            f"{row.share:.3f} ({row.share_low:.3f} to {row.share_high:.3f})"
            for row in shares.itertuples()
        ]
        print(f"    shares of the products of the first task: {', '.join(parts)}", flush=True)


def main(
    small: bool = False,
    folder: Path | None = None,
    seeds: list[int] | None = None,
    people: int | None = None,
    draws: int = 1000,
    only: str | None = None,
) -> None:
    warnings.simplefilter("ignore", th.errors.ThaliWarning)
    if folder is None:
        simulation(
            6 if small else people or 400,
            seeds or ([0] if small else [0, 1]),
            20 if small else None,
        )
        return
    for name in [only] if only else ["camera", "electricity", "swissroute"]:
        real(folder, name, people or 100, draws)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--seeds", type=int, nargs="+")
    parser.add_argument("--people", type=int)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--only", choices=["camera", "electricity", "swissroute"])
    asked = parser.parse_args()
    main(asked.small, asked.folder, asked.seeds, asked.people, asked.draws, asked.only)
