"""Product classes against the package's own logits: log scores, hit rates and CPU time; visits a
second.

    python benchmarks/product_classes.py [choices.csv]

1. Camera (332 people, 16 tasks of four cameras and none; the file `choices.csv` of the data): all
   people, their first 12 tasks to fit, their last 4 to predict; then three draws of 100 people, and
   for each the last 4 tasks of the people who were not drawn, as those of new respondents. Every
   model is as it is by default; the hierarchical logit also with the price as a number. Classes get
   six declared directions, and the hierarchical logits none, since they have no restriction of
   signs. Log scores are means over tasks. Draws overlap: a difference is the mean over distinct
   people of their mean over draws, with its standard error over distinct people, which leaves out
   that another seed, or another sample of tasks, gives another fit. Left out without the file.
2. People simulated by `th.datasets.product_choices` (50 people, 10 + 4 tasks of three products,
   five attributes, noise of scale .6).
3. Visits of one person in one chain a CPU second, the moves of classes that belong to them
   included, by tasks, alternatives, levels and people; and how many times as long the visits alone
   take in two plain forms of the same code, with the same draws (`plain_visits.py`): everything
   from levels and logarithms; the same, but for memberships and values that are kept beside the
   features.

`--small` runs a part of each.
"""

import sys
import time
import warnings
from typing import NamedTuple

import numpy as np
import pandas as pd
import plain_visits

import thali as th
from thali._choice.product_classes.state import build_class_problem, build_target, build_workspace
from thali._choice.product_classes.sweep import draw_state, sweep_state
from thali.errors import ThaliWarning

BETTER = ("pixels", "zoom", "video", "swivel", "wifi")
CAMERA = {"price": "decreasing"} | dict.fromkeys(BETTER, "increasing")
SIMULATED = {"price": "decreasing", "quality": "increasing"}
NOISE = 0.6
BLOCKS = 5  # of visits that are also written plainly


def simulated(
    people: int, tasks: int, seed: int, alternatives: int = 3, wide: bool = False
) -> "th.ChoiceExperiment":
    """Simulated choices by classes; `wide`: brands and types in two variants each and a colour,
    which nobody heeds."""
    made = th.datasets.product_choices(
        people, tasks, alternatives=alternatives, noise=NOISE, random_seed=seed
    )
    if not wide:
        return made.data
    frame, rng = made.data.to_frame(), np.random.default_rng(seed)
    for name in ("brand", "type"):
        frame[name] = frame[name].astype(str) + rng.choice([" 1", " 2"], len(frame))
    frame["colour"] = rng.choice(list("abcdef"), len(frame))
    levels = {name: list(made.data.levels[name]) for name in ("quality", "lamp")}
    return th.ChoiceExperiment.from_frame(frame, levels=levels)


class Scored(NamedTuple):
    """One model on the same tasks as the others."""

    seconds: float  # CPU, of the fit
    log: np.ndarray  # mean log score of every person
    hit: np.ndarray


def scores(p: np.ndarray, test: "th.ChoiceExperiment") -> tuple[np.ndarray, np.ndarray]:
    """Mean log score and hit rate of every person."""
    first = test.first_row[:-1]
    chosen = p[first + test.chosen]
    hit = chosen >= np.maximum.reduceat(p, first) - 1e-12
    tasks = np.diff(test.first_task)
    return tuple(
        np.add.reduceat(x, test.first_task[:-1]) / tasks
        for x in (np.log(chosen), hit.astype(float))
    )


def compared(train, tests: list, monotone, seed: int, **settings) -> list[dict[str, Scored]]:
    """The models fitted to the same tasks; for each of the tests, every model's scores."""
    how = {"random_seed": seed, "progressbar": False}
    models = {
        "classes": (th.ProductClasses(monotone=monotone), how | settings),
        "hierarchical": (th.HierarchicalLogit(), how),
        "hierarchical, linear": (th.HierarchicalLogit(linear="price"), how),
        "multinomial": (th.MultinomialLogit(), {}),
    }
    found: list[dict[str, Scored]] = [{} for _ in tests]
    for name, (model, arguments) in models.items():
        begin = time.process_time()
        model.fit(train, **arguments)
        seconds = time.process_time() - begin
        for scored, test in zip(found, tests, strict=True):
            scored[name] = Scored(seconds, *scores(model.predict_proba(test), test))
    return found


def notify(title: str, draws: list[dict[str, Scored]], people: list[np.ndarray]) -> None:
    """A row a model, over all draws; differences to each hierarchical logit, averaged over the
    draws that a person is in, and their standard error over distinct people."""
    _, number = np.unique(np.concatenate(people), return_inverse=True)
    times = np.bincount(number)
    rivals = ("hierarchical", "hierarchical, linear")
    columns = "".join(f"{'less ' + rival:>28}" for rival in rivals)
    print(
        f"{title}, {len(times)} distinct people\n "
        f" {'':22}{'CPU s':>7}{'log score':>11}{'hit rate':>10}{columns}"
    )
    for name in draws[0]:
        words = ""
        for rival in rivals:
            off = np.concatenate([draw[name].log - draw[rival].log for draw in draws])
            of_person = np.bincount(number, off) / times
            error = of_person.std(ddof=1) / np.sqrt(len(of_person))
            words += f"{'-' if name == rival else f'{of_person.mean():+.3f} ({error:.3f})':>28}"
        seconds, log, hit = (np.mean([np.mean(draw[name][i]) for draw in draws]) for i in range(3))
        print(f"  {name:22}{seconds:7.1f}{log:11.3f}{hit:10.3f}{words}")


def camera(path: str, draws: int, everybody: bool, **settings) -> None:
    """All people at first; then draws of 100 people, who are known, and for each the people who
    were not drawn."""
    data = th.ChoiceExperiment.from_frame(pd.read_csv(path), none={"brand": "none"})
    train, test = data.split(tasks=4)
    if everybody:
        found = compared(train, [test], CAMERA, 0, **settings)
        notify("camera, all people", found, [np.arange(data.n_respondents)])
    known, new, people, others = [], [], [], []
    for seed in range(draws):
        drawn = np.random.default_rng(seed).choice(data.n_respondents, 100, replace=False)
        people.append(np.sort(drawn))
        others.append(np.setdiff1d(np.arange(data.n_respondents), drawn))
        own = np.isin(train.respondent_of_task, drawn)
        asked = np.isin(test.respondent_of_task, drawn)
        tests = [test.take(asked), test.take(~asked)]
        of_known, of_new = compared(train.take(own), tests, CAMERA, seed, **settings)
        known.append(of_known)
        new.append(of_new)
    notify(f"camera, {draws} draws of 100 people", known, people)
    notify(f"camera, the people who were not in these {draws} fits", new, others)


def recovery(people: int, draws: int, **settings) -> None:
    """Simulated people, who are others in every draw."""
    found = []
    for seed in range(draws):
        train, test = simulated(people, 14, 10 + seed).split(tasks=4)
        found += compared(train, [test], SIMULATED, seed, **settings)
    numbers = [np.arange(people) + people * seed for seed in range(draws)]
    notify(f"simulated classes, {draws} x {people} people, 10 tasks", found, numbers)


def speed(name: str, problem, sweeps: int) -> None:
    """Visits a CPU second of a chain at a lapse of .02, once it has come down; times of visits
    written plainly."""
    rng, target = np.random.default_rng(1), build_target(problem, 0.5)
    state = draw_state(rng, problem)
    work = build_workspace(problem, state)
    for u in np.geomspace(0.02, 49.0, sweeps):
        target.delta[:] = 1.0 / (1.0 + u)
        state, work = sweep_state(rng, problem, target, state, work, 1)
    state, work = sweep_state(rng, problem, target, state, work, sweeps)
    begin = time.process_time()
    state, work = sweep_state(rng, problem, target, state, work, sweeps)
    seconds = time.process_time() - begin
    owned = state.features.respondents[:, 1].mean()
    spent: dict[str, float] = dict.fromkeys(plain_visits.KINDS, 0.0)
    for _ in range(BLOCKS):
        found, rng, state = plain_visits.seconds(rng, problem, target, state, max(1, sweeps // 10))
        spent = {kind: spent[kind] + found[kind] for kind in spent}
        state, work = sweep_state(rng, problem, target, state, build_workspace(problem, state), 5)
    ratios = "".join(f"{spent[kind] / spent['library']:9.1f}" for kind in plain_visits.KINDS[1:])
    print(
        f"  {name:36}{problem.n_people * sweeps / seconds:10,.0f}{state.whole[0]:8}{owned:8.1f}{ratios}"
    )


def speeds(path: str | None, sweeps: int) -> None:
    columns = f"{'visits/s':>10}{'classes':>8}{'each':>8}{'plain':>9}{'kept':>9}"
    print(
        "visits a CPU second; plain / library and plain with comparisons kept / library\n "
        f" {'':36}{columns}"
    )
    cases = {
        "12 people, 8 tasks of 3, 16 levels": (12, 8, 3, False),
        "32 tasks": (12, 32, 3, False),
        "8 alternatives": (12, 8, 8, False),
        "29 levels": (12, 8, 3, True),
        "100 people": (100, 8, 3, False),
    }
    for name, (people, tasks, alternatives, wide) in cases.items():
        data = simulated(people, tasks, 3, alternatives, wide)
        speed(name, build_class_problem(data, SIMULATED), max(sweeps, sweeps * 50 // people))
    if path:
        data = th.ChoiceExperiment.from_frame(pd.read_csv(path), none={"brand": "none"})
        people = np.random.default_rng(0).choice(data.n_respondents, 100, replace=False)
        train = data.take(np.isin(data.respondent_of_task, people)).split(tasks=4)[0]
        speed("camera, 100 people, 12 tasks of 5", build_class_problem(train, CAMERA), sweeps)


def main(words: list[str]) -> None:
    small = "--small" in words
    path = next((word for word in words if not word.startswith("--")), None)
    warnings.simplefilter("ignore", ThaliWarning)
    settings = {"chains": 2, "draws": 10, "tune": 10, "thin": 4} if small else {}
    train, test = simulated(5, 6, 1).split(tasks=2)
    compared(train, [test], SIMULATED, 0, chains=2, draws=4, tune=4, thin=1)  # compiles
    if path:
        camera(path, 1 if small else 3, not small, **settings)
    recovery(20 if small else 50, 1 if small else 3, **settings)
    speeds(path, 10 if small else 200)


if __name__ == "__main__":
    main(sys.argv[1:])
