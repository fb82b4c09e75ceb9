"""Product classes on simulated choice experiments, whose classes are known: prediction and
recovery.

The draft of Daviet & McCausland (2017) announces results of this kind and prints none.
"""

import warnings
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from thali._choice.product_classes.fit_preparation import THIN
from thali._comparison.compare import compare
from thali.datasets import product_choices
from thali.errors import ConvergenceWarning, InterruptedWarning

from .plots.class_shares import class_shares
from .reproduction_entry import Entry, Reproduction, Settings

PAPER = "Daviet & McCausland (2017), draft"
CLASSES, HIERARCHICAL, MULTINOMIAL = "product classes", "hierarchical logit", "multinomial logit"
PEOPLE, TASKS, HELD_OUT, FOLDS = 50, 10, 4, 5
# Of another program on other data of the same design: log scores of held-out tasks and of new
# people.
ELSEWHERE = {
    CLASSES: (-0.582, -0.782),
    HIERARCHICAL: (-0.696, -0.811),
    MULTINOMIAL: (-0.724, -0.815),
}


class Size(NamedTuple):
    """How many data sets and people, and chains, tuning states and draws where classes are to be
    found."""

    data_sets: int
    chains: int
    tune: int
    draws: int
    people: int


SIZES = {
    "small": Size(1, 2, 2, 3, 12),
    "standard": Size(2, 8, 250, 250, PEOPLE),
    "full": Size(6, 16, 2_500, 1_250, PEOPLE),
}


def classes(settings: Settings) -> Reproduction:
    """Held-out choices of known and of new people, and the inferred classes beside the true
    ones."""
    import pandas as pd

    size = SIZES[settings.size]
    scores, found, shown = [], [], None
    interrupted = False
    for number in range(size.data_sets):
        try:
            with warnings.catch_warnings():
                for kind in (ConvergenceWarning, InterruptedWarning):
                    warnings.simplefilter("ignore", kind)
                rows, is_whole = _scores(settings, size, number)
                if not is_whole:
                    interrupted = True
                    break
                fitted, table = _recovered(settings, size, number)
        except KeyboardInterrupt:
            interrupted = True
            break
        scores += rows
        found.append(table)
        shown = shown or fitted
    if shown is None:
        raise KeyboardInterrupt
    tables = {
        "Held-out choices: log score a task, in nats": _mean_scores(pd.DataFrame(scores)),
        "The true classes": _mean_recovery(pd.concat(found)),
    }
    done = len(found)
    remarks = [
        f"{done} simulated data set{'s' * (done > 1)}: {size.people} people x {TASKS} tasks to fit, {HELD_OUT} more to "
        "predict, 3 products a task with 5 attributes; six classes, three of which combine two attributes, and noise "
        f'that no class explains. "new people" are predicted from the others, {FOLDS} parts in turn. Errors are over '
        "people; those of differences are paired.",
        "Errors of the draft that matter here: it counts a tie as a full success, so that the"
        " model without classes explains all data; ties are split evenly instead. Its classes may"
        " hold all levels of an attribute, its signs and polarities contradict each other, and"
        " singletons are deleted without a look at the likelihood.",
        "The models are compared as they are by default; to find classes takes longer:"
        f" {THIN * size.tune:,} + {THIN * size.draws:,} sweeps of {size.chains} chains. A class is"
        " found where one with exactly its levels exists and is owned; weak interactions are"
        " spread over many neighbouring classes, which predict alike.",
        "The other program's figures are those of other data of this design.",
    ]
    pictures = {
        "classes": partial(class_shares, shown),
        "importance": partial(shown.plot, "attribute_importance"),
        "effects": partial(shown.plot, "level_effects"),
    }
    return Reproduction(tables, remarks, pictures, interrupted)


def _models(monotone: dict[Any, Any]) -> dict[str, Any]:
    import thali

    return {
        CLASSES: thali.ProductClasses(monotone),
        HIERARCHICAL: thali.HierarchicalLogit(),
        MULTINOMIAL: thali.MultinomialLogit(),
    }


def _seed(settings: Settings, number: int) -> np.random.SeedSequence:
    return np.random.SeedSequence(settings.random_seed, spawn_key=(number,))


def _scores(settings: Settings, size: Size, number: int) -> tuple[list[dict[Any, Any]], bool]:
    """Log scores of the models for known and for new people, and whether all fits were finished."""
    made = product_choices(size.people, TASKS + HELD_OUT, random_seed=_seed(settings, number))
    rows, is_whole = [], True
    ways: dict[str, dict[str, Any]] = {
        "task": {"hold_out": HELD_OUT},
        "respondent": {"folds": FOLDS},
    }
    for what, wanted in ways.items():
        table = compare(
            _models(made.monotone),
            made.data,
            leave_out=what,
            **wanted,
            chains=size.chains if settings.size == "small" else None,
            cores=settings.cores,
            random_seed=settings.random_seed + number,
            progressbar=settings.progressbar,
            job=settings.job(f"{what}-{number}"),
        )
        is_whole = is_whole and not table.attrs["interrupted"]
        of_task = table.attrs["tasks"]
        for name in ELSEWHERE:
            gain = table.attrs["tasks"][CLASSES] - of_task[name]
            by_person = gain.groupby(level=0).mean()
            rows.append(
                {
                    "people": "known" if what == "task" else "new",
                    "model": name,
                    "score": float(of_task[name].mean()),
                    "hits": float(table.loc[name, "hit_rate"]),
                    "gain": float(by_person.mean()),
                    "variance": float(by_person.var(ddof=1)) / len(by_person),
                }
            )
    return rows, is_whole


def _mean_scores(scores: Any) -> Any:
    """Over data sets; the first column of errors is that of the difference before it."""
    import pandas as pd

    rows = []
    for (people, model), part in scores.groupby(["people", "model"], sort=False):
        rows.append(
            {
                "people": people,
                "model": model,
                "another program": ELSEWHERE[model][people == "new"],
                "log score": part["score"].mean(),
                "hit rate": part["hits"].mean(),
                "product classes are better by": part["gain"].mean()
                if model != CLASSES
                else np.nan,
                "error": np.sqrt(part["variance"].sum()) / len(part)
                if model != CLASSES
                else np.nan,
            }
        )
    return pd.DataFrame(rows)


def _recovered(settings: Settings, size: Size, number: int) -> tuple[Any, Any]:
    """A fit to the first tasks, and its results for the true classes."""
    import pandas as pd

    import thali

    made = product_choices(size.people, TASKS + HELD_OUT, random_seed=_seed(settings, number))
    train, _ = made.data.split(tasks=HELD_OUT)
    model = thali.ProductClasses(made.monotone)
    long = {"chains": size.chains, "tune": size.tune, "draws": size.draws}
    how = {"cores": settings.cores, "progressbar": settings.progressbar}
    model.fit(
        train,
        **long,
        **how,
        random_seed=settings.random_seed + number,
        job=settings.job(f"fit-{number}"),
    )
    found = model.classes(cover=1.0, similar=1).set_index("product_class")
    rows = []
    for k, (name, kind) in enumerate(made.classes.items()):
        row = found.loc[name] if name in found.index else None
        rows.append(
            {
                "class": name,
                "liked": kind.liked,
                "true share": made.owners[:, k].mean(),
                "share": 0.0 if row is None else row["share"],
                "probability": 0.0 if row is None else row["probability"],
                "importance": 0.0 if row is None else row["importance"],
                "right sign": np.nan
                if row is None
                else row["liked"]
                if kind.liked
                else 1 - row["liked"],
            }
        )
    return model, pd.DataFrame(rows)


def _mean_recovery(found: Any) -> Any:
    return found.groupby(["class", "liked"], sort=False, as_index=False).mean()


ENTRIES = (
    Entry(
        "product-classes",
        PAPER,
        "Simulated choice experiments: held-out choices, and the classes that people care about",
        {"small": "half a minute", "standard": "two minutes", "full": "half an hour"},
        classes,
    ),
)
