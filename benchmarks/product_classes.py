"""Product classes against the package's own logits: log scores, hit rates and CPU time; visits a second.

    python benchmarks/product_classes.py [choices.csv]

1. Camera (332 people, 16 tasks of four cameras and none; the file `choices.csv` of the data): three draws of 100
   people, their first 12 tasks to fit, their last 4 to predict; every model as it is by default. Log scores are means
   over tasks; differences are to the hierarchical logit, standard errors over people. Left out without the file.
2. Simulated people who own six classes (50 people, 10 + 4 tasks of three products, five attributes, Gumbel noise).
3. Visits of one person in one chain a CPU second, by tasks, alternatives, levels and people.

`--small` runs a part of each.

Measured (numba 0.68, a busy machine, some five CPU minutes without compilation):

                          CPU s  log score  hit rate   difference to the hierarchical logit (standard error)
    1. classes            24     -.714      .738       +.029 (.012); of the draws +.001, +.036, +.050
       hierarchical       11     -.743      .719
       multinomial        .0     -1.198     .475       -.455 (.025)
       and of all 332 people, 12 tasks to fit and 4 to predict:
       classes            95     -.745      .728       +.004 (.012)
       hierarchical       36     -.749      .711
       multinomial        .1     -1.218     .462       -.469 (.025)
    2. classes            3.6    -.757      .640       +.134 (.020)
       hierarchical       3.5    -.891      .593
       multinomial        .0     -.925      .550       -.034 (.025)
    3. visits a CPU second: 12 people, 8 tasks of 3 320,000; 32 tasks 52,000; 8 alternatives 75,000; 29 levels 100,000;
       100 people 170,000; camera 40,000 (56 classes, 11 a person)
"""

import sys
import time
import warnings

import numpy as np
import pandas as pd

import thali as th
from thali.errors import ThaliWarning
from thali.product_classes.problem import problem_of, target_of
from thali.product_classes.state import workspace
from thali.product_classes.sweep import draw_state, sweep

BETTER = ("pixels", "zoom", "video", "swivel", "wifi")
CAMERA = {"price": "decreasing"} | dict.fromkeys(BETTER, "increasing")
SIMULATED = {"price": "increasing", "quality": "increasing"}
LEVELS = {"price": 4, "brand": 4, "type": 3, "quality": 3, "feature": 2}
TRUTH = [  # attribute -> levels that belong to the class, whether it is liked, share of owners
    ({"price": (2, 3)}, 1, 0.8),
    ({"brand": (0, 1)}, 1, 0.5),
    ({"type": (2,)}, -1, 0.4),
    ({"quality": (2,), "feature": (1,)}, 1, 0.5),
    ({"price": (3,), "brand": (2, 3)}, 1, 0.4),
    ({"price": (0,), "quality": (0,)}, -1, 0.6),
]
NOISE = 0.3


def simulated(people: int, tasks: int, seed: int, alternatives: int = 3, levels=None) -> "th.ChoiceExperiment":
    """Choices of people who own the classes of TRUTH, with lasting values."""
    rng = np.random.default_rng(seed)
    levels = levels or LEVELS
    shape = (people, tasks, alternatives)
    table = {name: rng.integers(n, size=shape) for name, n in levels.items()}
    utility = rng.gumbel(scale=NOISE, size=shape)
    for members, sign, share in TRUTH:
        inside = np.logical_and.reduce([np.isin(table[name], chosen) for name, chosen in members.items()])
        value = (rng.random(people) < share) * rng.gamma(2.0, 0.5, people)
        utility += sign * value[:, None, None] * inside
    n, t, j = np.indices(shape).reshape(3, -1)
    frame = pd.DataFrame(
        {"id": n, "task": t, "alt": j, "choice": (utility.argmax(axis=2)[..., None] == j.reshape(shape)).ravel()}
    )
    for name, values in table.items():
        frame[name] = values.ravel()
    given = {name: list(range(count)) for name, count in levels.items()}
    return th.ChoiceExperiment.from_frame(frame.astype({"choice": int}), levels=given)


def scores(p: np.ndarray, test: "th.ChoiceExperiment") -> tuple[np.ndarray, np.ndarray]:
    """Mean log score and hit rate of every person."""
    first = test.first_row[:-1]
    chosen = p[first + test.chosen]
    hit = chosen >= np.maximum.reduceat(p, first) - 1e-12
    tasks = np.diff(test.first_task)
    return tuple(np.add.reduceat(x, test.first_task[:-1]) / tasks for x in (np.log(chosen), hit.astype(float)))


def compared(train, test, monotone, seed: int, **settings) -> dict[str, tuple[float, np.ndarray, np.ndarray]]:
    """CPU seconds, log scores and hit rates of the three models."""
    models = {
        "classes": (th.ProductClasses(monotone=monotone, **settings), {"random_seed": seed, "progressbar": False}),
        "hierarchical": (th.HierarchicalLogit(), {"random_seed": seed, "progressbar": False}),
        "multinomial": (th.MultinomialLogit(), {}),
    }
    found = {}
    for name, (model, how) in models.items():
        begin = time.process_time()
        model.fit(train, **how)
        found[name] = (time.process_time() - begin, *scores(model.predict_proba(test), test))
    return found


def tell(title: str, draws: list[dict]) -> None:
    """A row a model, over all draws; differences to the hierarchical logit, person by person."""
    print(f"{title}\n  {'':14}{'CPU s':>7}{'log score':>11}{'hit rate':>10}{'difference (its standard error)':>34}")
    for name in draws[0]:
        off = [draw[name][1] - draw["hierarchical"][1] for draw in draws]
        error = np.sqrt(sum(d.var(ddof=1) / len(d) for d in off)) / len(off)
        each = ", ".join(f"{d.mean():+.3f}" for d in off)
        seconds, log, hit = (np.mean([np.mean(draw[name][i]) for draw in draws]) for i in range(3))
        words = "" if name == "hierarchical" else f"{np.mean(np.concatenate(off)):+.3f} ({error:.3f}); {each}"
        print(f"  {name:14}{seconds:7.1f}{log:11.3f}{hit:10.3f}    {words}")


def camera(path: str, draws: int, **settings) -> None:
    data = th.ChoiceExperiment.from_frame(pd.read_csv(path), none={"brand": "none"})
    found = []
    for seed in range(draws):
        people = np.random.default_rng(seed).choice(data.n_respondents, 100, replace=False)
        train, test = data.take(np.isin(data.respondent_of_task, people)).split(tasks=4)
        found.append(compared(train, test, CAMERA, seed, **settings))
    tell(f"camera, {draws} draws of 100 people", found)


def recovery(people: int, draws: int, **settings) -> None:
    found = []
    for seed in range(draws):
        train, test = simulated(people, 14, 10 + seed).split(tasks=4)
        found.append(compared(train, test, SIMULATED, seed, **settings))
    tell(f"simulated classes, {draws} x {people} people, 10 tasks", found)


def speed(name: str, problem, sweeps: int) -> None:
    """Visits a CPU second of a chain at a lapse of .02, once it has come down."""
    rng, target = np.random.default_rng(1), target_of(problem, 0.5)
    state = draw_state(rng, problem)
    work = workspace(problem, state)
    for u in np.geomspace(0.02, 49.0, sweeps):
        target.delta[:] = 1.0 / (1.0 + u)
        state, work = sweep(rng, problem, target, state, work, 1)
    state, work = sweep(rng, problem, target, state, work, sweeps)
    begin = time.process_time()
    state, work = sweep(rng, problem, target, state, work, sweeps)
    seconds = time.process_time() - begin
    owned = state.features.people[:, 1].mean()
    print(f"  {name:32}{problem.n_people * sweeps / seconds:10,.0f}{state.whole[0]:8}{owned:8.1f}")


def speeds(path: str | None, sweeps: int) -> None:
    print(f"visits a CPU second\n  {'':32}{'visits/s':>10}{'classes':>8}{'each':>8}")
    wide = LEVELS | {"brand": 8, "type": 6, "colour": 6}
    cases = {
        "12 people, 8 tasks of 3, 16 levels": (12, 8, 3, LEVELS),
        "32 tasks": (12, 32, 3, LEVELS),
        "8 alternatives": (12, 8, 8, LEVELS),
        "29 levels": (12, 8, 3, wide),
        "100 people": (100, 8, 3, LEVELS),
    }
    for name, (people, tasks, alternatives, levels) in cases.items():
        data = simulated(people, tasks, 3, alternatives, levels)
        speed(name, problem_of(data, SIMULATED), max(sweeps, sweeps * 50 // people))
    if path:
        data = th.ChoiceExperiment.from_frame(pd.read_csv(path), none={"brand": "none"})
        people = np.random.default_rng(0).choice(data.n_respondents, 100, replace=False)
        train = data.take(np.isin(data.respondent_of_task, people)).split(tasks=4)[0]
        speed("camera, 100 people, 12 tasks of 5", problem_of(train, CAMERA), sweeps)


def main(words: list[str]) -> None:
    small = "--small" in words
    path = next((word for word in words if not word.startswith("--")), None)
    warnings.simplefilter("ignore", ThaliWarning)
    settings = {"groups": 2, "sweeps_per_step": 1, "final_sweeps": 40} if small else {}
    compared(*simulated(5, 6, 1).split(tasks=2), SIMULATED, 0, groups=2, sweeps_per_step=1, final_sweeps=8)  # compiles
    if path:
        camera(path, 1 if small else 3, **settings)
    recovery(20 if small else 50, 1 if small else 3, **settings)
    speeds(path, 10 if small else 200)


if __name__ == "__main__":
    main(sys.argv[1:])
