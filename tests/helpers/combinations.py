"""Small tables of every kind of data, and what is run on them: a model, a kind of data, a
population, a command."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations, product
from typing import NamedTuple

import numpy as np
import pandas as pd

from helpers.experiment_data import simulate_experiment
from thali._data.kinds import CHOICES, CLASSES, EXPERIMENTS, PAIRS, SIMILARITIES, TRIPLETS
from thali._model.model_spec import DATA
from thali._model.registry import SPECS
from thali._surfaces.cli.model_options import LEADERBOARD

PEOPLE = [f"p{k}" for k in range(4)]
SEX = dict(zip(PEOPLE, ("women", "men", "women", "men"), strict=True))


def _people(frame):
    """Who answered each row, and their sex."""
    who = [PEOPLE[k % 4] for k in range(len(frame))]
    return frame.assign(person=who, sex=[SEX[each] for each in who])


def _pairs():
    return (
        pd.DataFrame([[0, 3, 1], [2, 0, 4], [1, 2, 0]], list("abc"), list("abc"))
        .rename_axis("")
        .reset_index()
    )


def _tied_pairs():
    rows = [
        ("a", "b", "a"),
        ("a", "c", "tie"),
        ("b", "c", "c"),
        ("b", "a", "a"),
        ("c", "a", "c"),
        ("c", "b", "tie"),
    ]
    return _people(pd.DataFrame(rows * 4, columns=["first", "second", "winner"]))


def _answered_pairs():
    rows = [
        ("a", "b", "a"),
        ("a", "c", "c"),
        ("b", "c", "c"),
        ("a", "b", "b"),
        ("c", "a", "a"),
        ("c", "b", "b"),
    ]
    every = [(person, *row) for k, person in enumerate(PEOPLE) for row in rows[: 5 + k % 2]]
    shown = [
        (p, *((x, y) if k % 3 else (y, x)), chosen) for k, (p, x, y, chosen) in enumerate(every)
    ]
    frame = pd.DataFrame(shown, columns=["person", "first", "second", "chosen"])
    return frame.assign(sex=frame["person"].map(SEX))


def _described_pairs():
    frame = _answered_pairs()
    return frame.assign(hurried=np.arange(len(frame)) * 7 % 3)


def _sets():
    rows, offered = [], {"ab": "bab", "abc": "acb", "bc": "bb"}
    for person in PEOPLE:
        for k, (members, each) in enumerate(
            (m, e) for m, chosen in offered.items() for e in chosen
        ):
            rows += [(person, SEX[person], f"{k}", x, int(x == each)) for x in members]
    return pd.DataFrame(rows, columns=["person", "sex", "task", "item", "chosen"])


def _rankings():
    rows = [list("abcd"), list("bacd"), list("dabc"), list("cabd")]
    return _people(pd.DataFrame(rows, columns=["1st", "2nd", "3rd", "4th"]))


def _best_and_worst():
    rows = [
        ("a", "b", "c", "a", "c"),
        ("b", "c", "d", "d", "b"),
        ("a", "c", "d", "a", "d"),
        ("a", "b", "d", "b", "a"),
    ]
    rows = [row for row in rows for _ in PEOPLE]
    return _people(pd.DataFrame(rows, columns=["item1", "item2", "item3", "best", "worst"]))


def _similarities():
    values = np.random.default_rng(3).random((4, 4))
    return (
        pd.DataFrame((values + values.T) / 2, list("abcd"), list("abcd"))
        .rename_axis("")
        .reset_index()
    )


def _judgements():
    rng = np.random.default_rng(4)
    rows = [
        (p, SEX[p], x, y, round(rng.random(), 2))
        for p in PEOPLE
        for x, y in combinations("abcd", 2)
    ]
    return pd.DataFrame(rows, columns=["person", "sex", "item1", "item2", "similarity"])


def _triplets():
    rows = [
        ("a", "b", "c"),
        ("a", "b", "d"),
        ("c", "d", "a"),
        ("b", "c", "d"),
        ("a", "b", "c"),
        ("d", "c", "b"),
    ]
    return _people(pd.DataFrame(rows, columns=["anchor", "nearer", "farther"]))


def _odd_ones():
    rows = [list("abcc"), list("abdd"), list("cdaa"), list("bcdb"), list("abca")]
    return _people(pd.DataFrame(rows, columns=["object1", "object2", "object3", "odd"]))


def _experiment():
    frame = simulate_experiment(n_respondents=4, n_tasks=4, seed=4).rename(columns={"id": "person"})
    return frame.assign(sex=frame["person"].map(SEX))


def _experiment_with_none():
    """A fourth alternative, which is none of the products, and is chosen now and then."""
    frame = _experiment()
    rows = []
    for k, ((person, task), products) in enumerate(frame.groupby(["person", "task"], sort=False)):
        none = dict(person=person, task=task, alt=4, choice=int(k % 4 == 3), sex=SEX[person])
        rows += [
            products.assign(choice=0 if k % 4 == 3 else products["choice"]),
            pd.DataFrame([none]),
        ]
    return pd.concat(rows, ignore_index=True)


def _rows():
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(rng.normal(size=(24, 2)).round(3), columns=["height", "width"])
    chosen = np.where(frame["height"] + rng.logistic(size=24) > 0, "yes", "no")
    return frame.assign(y=chosen)


@dataclass(frozen=True)
class Table:
    """A small table.

    Parameters
    ----------
    kind : str
        The kind of data that it holds, of `thali._data.kinds`.
    make : callable
        The table.
    words : tuple of str
        What is said of it at the command line.
    """

    kind: str
    make: Callable[[], pd.DataFrame]
    words: tuple[str, ...] = ()


TABLES = {
    "pairs": Table(PAIRS, _pairs),
    "pairs of people": Table(PAIRS, _answered_pairs),
    "pairs with ties": Table(PAIRS, _tied_pairs),
    "pairs with covariates": Table(PAIRS, _described_pairs, ("--covariate", "hurried")),
    "sets": Table(CHOICES, _sets),
    "rankings": Table(CHOICES, _rankings),
    "best and worst": Table(CHOICES, _best_and_worst),
    "similarities": Table(SIMILARITIES, _similarities),
    "judgements": Table(SIMILARITIES, _judgements),
    "triplets": Table(TRIPLETS, _triplets),
    "odd ones": Table(TRIPLETS, _odd_ones),
    "experiment": Table(EXPERIMENTS, _experiment),
    "experiment with none": Table(EXPERIMENTS, _experiment_with_none, ("--none", "4")),
    "rows": Table(CLASSES, _rows, ("--target", "y")),
}
POPULATIONS = {"one": (), "individuals": ("--people", "individuals")}
EVIDENCE = "evidence"
FITTED = [spec for spec in SPECS if spec.options]  # at the command line
MODELS = [f"{spec.name} {method}".strip() for spec in FITTED for method in spec.methods or ("",)]
LEFT_OUT = ("choice", "respondent", "task", "pair", "set", "row")
TESTS = (
    "transitivity",
    "circular",
    "agreement",
    "trinary",
    "likelihood-ratio",
    "wald",
    "group",
    "order",
)
TESTS += ("thurstone", "davidson", "bootstrap", "parametric-bootstrap")


class Combination(NamedTuple):
    """What is run on what.

    Parameters
    ----------
    command : str
    table : str
        A name of `TABLES`, or what else the command reads.
    population : str
        A name of `POPULATIONS`.
    model : str
        Of `fit` a model and its method; of `compare` a model, or "" for the usual ones; of `test`
        the test; of `leaderboard` the method; of `ask` the aspects; of `design` what is laid out.
    how : str
        Of `compare` what is left out, or EVIDENCE; of `leaderboard` what a tie counts; of `ask` the
        goal. Of all of them an option, "--" and its word, that is typed once.
    """

    command: str
    table: str
    population: str
    model: str
    how: str = ""

    def __str__(self):
        return " ".join(filter(None, self)).replace(" ", "-")

    @property
    def parts(self):
        """What meets in it, whatever the method."""
        met = self._replace(model=self.model.partition(" ")[0])
        return {(name, getattr(met, name)) for name in self._fields}


FITS = [Combination("fit", *each) for each in product(TABLES, POPULATIONS, MODELS)]
COMPARISONS = [
    Combination("compare", table, population, model, how)
    for table, population, how in product(TABLES, POPULATIONS, (*LEFT_OUT, EVIDENCE))
    for model in ("", *(spec.name for spec in FITTED if population == "one"))
]
TESTED = [Combination("test", *each) for each in product(TABLES, ("one",), TESTS)]
LEADERBOARDS = [
    Combination("leaderboard", *each)
    for each in product(
        TABLES,
        ("one",),
        ("laplace", "mcmc", "maximum-likelihood"),
        ("", "davidson", "half", "drop"),
    )
]
DESIGNED = [
    Combination("design", "attributes", "one", each) for each in ("pairs", "tasks", "tasks none")
]
OPTIONED_TABLES = {PAIRS: "pairs of people", EXPERIMENTS: "experiment"}
OPTIONED_TABLES |= {SIMILARITIES: "judgements", CLASSES: "rows"}


def _list_optioned():
    """Each option of a fit and of a leaderboard, typed once; of options that say how a table is read each word
    once, for the model that comes first."""
    words = {"method"}  # which every fit is told
    for spec in FITTED:
        for option in spec.options:
            if option.word in words:
                continue
            if option.to == DATA:
                words.add(option.word)
            table = OPTION_TABLES.get(option.word) or OPTIONED_TABLES[spec.data[0]]
            method = (option.methods or spec.methods or ("",))[-1 if option.to == DATA else 0]
            yield Combination("fit", table, "one", f"{spec.name} {method}".strip(), option.word)
    for option in LEADERBOARD:
        yield Combination(
            "leaderboard",
            OPTION_TABLES.get(option.word, "pairs of people"),
            "one",
            "laplace",
            option.word,
        )
    yield Combination("fit", "pairs", "one", "bradley-terry-luce laplace", "title")
    yield Combination("fit", "pairs", "one", "bradley-terry-luce laplace", "pictures")
    yield Combination("leaderboard", "pairs of people", "one", "laplace", "title")


# of options that only other tables have
OPTION_TABLES = {
    "judge-bias": "pairs with covariates",
    **dict.fromkeys(("task", "alternative", "option"), "sets"),
    **dict.fromkeys(("best", "worst", "best-worst"), "best and worst"),
    **dict.fromkeys(("rank", "unranked"), "rankings"),
    **dict.fromkeys(("nearer", "farther"), "triplets"),
    **dict.fromkeys(("odd",), "odd ones"),
    **dict.fromkeys(("ties",), "pairs with ties"),
    **dict.fromkeys(("target",), "rows"),
    **dict.fromkeys(("none",), "experiment with none"),
    **dict.fromkeys(("attributes", "levels", "bought", "bins", "monotone", "codes"), "experiment"),
}
OPTIONED = [each._replace(how=f"--{each.how}") for each in _list_optioned()]
EVERY = [*FITS, *COMPARISONS, *TESTED, *LEADERBOARDS, *DESIGNED, *OPTIONED]


def is_quick_as_python(combination):
    """Whether it takes few sweeps of a sampler that is not worth compiling for it."""
    if combination.command == "compare":
        return (
            combination.how != EVIDENCE
            and combination.population == "one"
            and not combination.model
        )
    if combination.command != "fit":
        return False
    return combination.model.startswith(
        ("elimination", "additive")
    ) and not combination.model.endswith("map")


def is_slow(combination):
    """Whether it draws by chains or particles."""
    words = (*combination.model.split(), combination.how)
    return bool({"mcmc", "product-classes", "hierarchical-logit", EVIDENCE} & set(words))


def usual(every):
    """Few of these, in which all that meets in one of them is met: quick ones where there are any,
    first the one that adds most; draws about an estimate take longer than the estimate."""
    ordered = sorted(every, key=lambda each: "laplace" in each.model)
    parts = {each: each.parts for each in ordered}
    missing, chosen = set().union(*parts.values()), []
    for some in (
        [each for each in ordered if not is_slow(each)],
        [each for each in ordered if is_slow(each)],
    ):
        while some and (
            parts[best := max(some, key=lambda each: len(parts[each] & missing))] & missing
        ):
            missing -= parts[best]
            chosen.append(best)
    return chosen
