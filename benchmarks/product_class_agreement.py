"""Do default fits of product classes agree, how long do they take, and what is worst?

    python benchmarks/product_class_agreement.py [--small]

Products, prices and tasks are those of `product_choices` with 12 tasks; four data sets have its own
choices, two are choices by other classes, one by a logit with normal tastes, one by two kinds of
respondents (one looks at the price, one at brand and quality). With 10 and 30 respondents; one seed.
"""

import re
import sys
import time
import warnings
from typing import Any

import numpy as np

import thali as th

BUILT_IN, CLASSES, LOGIT, KINDS = "product_choices", "classes", "logit", "two kinds"
CASES = ((BUILT_IN, 11), (BUILT_IN, 12), (BUILT_IN, 13), (BUILT_IN, 14))
CASES += ((CLASSES, 1), (CLASSES, 2), (LOGIT, 3), (KINDS, 4))
SHARE_OF_OWNERS = {"price": 0.7, "brand": 0.5, "type": 0.4, "lamp": 0.6}


def draw_utilities(
    kind: str, attribute: str, is_first: bool, sign: int, n_levels: int, rng: np.random.Generator
) -> np.ndarray:
    """Draw a respondent's utility of each level of an attribute."""
    utilities = np.zeros(n_levels)
    if kind == LOGIT:
        utilities = rng.normal(size=n_levels)
        if sign:
            utilities = np.sort(utilities)[::sign]
    elif kind == CLASSES and attribute in SHARE_OF_OWNERS:
        if rng.random() >= SHARE_OF_OWNERS[attribute]:
            return utilities
        liked = {"price": slice(2), "brand": slice(1)}.get(attribute, slice(-1, None))
        utilities[liked] = rng.gamma(2.0)
    elif kind == KINDS and is_first and attribute == "price":
        utilities = np.linspace(0.0, -3.0, n_levels)
    elif kind == KINDS and not is_first and attribute == "brand":
        utilities[[0, -1]] = 2.0, -1.0
    elif kind == KINDS and not is_first and attribute == "quality":
        utilities = np.arange(n_levels, dtype=float)
    if kind == KINDS:
        utilities *= np.exp(0.3 * rng.normal())
    return utilities


def simulate(kind: str, people: int, seed: int) -> tuple[th.ChoiceExperiment, dict[str, str]]:
    """Simulate choices of one kind; also return the declared directions."""
    if kind == BUILT_IN:
        made = th.datasets.product_choices(people, 12, random_seed=seed)
        return made.data, made.monotone
    made = th.datasets.product_choices(people, 12, random_seed=1000 + seed)
    scheme, monotone = made.data.scheme, made.monotone
    frame = made.data.to_frame().reset_index(drop=True)
    rng = np.random.default_rng(seed)
    utility = np.zeros(len(frame))
    for k, (_, rows) in enumerate(frame.groupby(scheme.respondent, sort=False)):
        for name in scheme.names:
            levels = made.data.levels[name]
            sign = {"increasing": 1, "decreasing": -1}.get(monotone.get(name, ""), 0)
            of_levels = draw_utilities(kind, name, k % 2 == 0, sign, len(levels), rng)
            utility[rows.index] += of_levels[[levels.index(str(cell)) for cell in rows[name]]]
    noise = 1.0
    if kind == CLASSES:
        noise = 0.3
    frame["utility"] = utility + noise * rng.gumbel(size=len(frame))
    best = frame.groupby([scheme.respondent, scheme.task])["utility"].transform("max")
    frame[scheme.chosen] = (frame.pop("utility") == best).astype(int)
    columns = {role: getattr(scheme, role) for role in ("respondent", "task", "alternative")}
    data = th.ChoiceExperiment.from_frame(
        frame, chosen=scheme.chosen, attributes=list(scheme.names), **columns
    )
    return data, monotone


def main(small: bool = False) -> None:
    """Fit each data set by default and print a row."""
    print("respondents  data                 CPU s  check")
    sizes = (10, 30)
    cases = CASES
    run: dict[str, Any] = {}
    if small:
        sizes = (3,)
        cases = CASES[-2:]
        run = {"draws": 20, "tune": 20, "chains": 2}
    for people in sizes:
        for kind, seed in cases:
            data, monotone = simulate(kind, people, seed)
            begin = time.process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = th.ProductClasses(monotone).fit(
                    data, random_seed=1, cores=1, progressbar=False, **run
                )
            seconds = time.process_time() - begin
            check = re.sub(r" \(target[^)]*\)|; target[^)]*", "", str(model.convergence()))
            print(f"{people:11}  {kind:16} {seed:3}  {seconds:5.0f}  {check}")


if __name__ == "__main__":
    main("--small" in sys.argv)
