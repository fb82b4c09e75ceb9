"""The smallest problem for every kind of sampler that a fit may need: a second each, once it is
compiled.

`thali cache warm` and `thali cache build` fit all of them, so that their code is there before
anybody waits for it; the conformance test asks everything of those that stand for a model. A model,
a method, a kind of data or a population that brings compiled code of its own adds its row to
`SMALLEST`.
"""

import os
import platform
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import thali as th
from thali._arguments import check_allowed
from thali._compile import targets
from thali.errors import Argument, ArgumentError


def simulated(people: int = 30, tasks: int = 8, sd: float = 1.0, seed: int = 0) -> pd.DataFrame:
    """A table of choices among three products with a price, a brand and a yes/no, by a hierarchical
    logit."""
    rng = np.random.default_rng(seed)
    taste = np.array([-1.0, 0.5, -0.5, 1.0]) + sd * rng.normal(size=(people, 4))
    rows = []
    for person in range(people):
        for task in range(tasks):
            price, brand, zoom = (
                rng.integers(3, size=3),
                rng.integers(3, size=3),
                rng.integers(2, size=3),
            )
            x = np.column_stack([price, brand == 1, brand == 2, zoom])
            chosen = np.argmax(x @ taste[person] + rng.gumbel(size=3))
            for j in range(3):
                product = {
                    "price": 10.0 * price[j] + 5.0,
                    "brand": "ABC"[brand[j]],
                    "zoom": ["no", "yes"][zoom[j]],
                }
                rows.append(
                    {
                        "id": f"p{person}",
                        "task": task + 1,
                        "alt": j + 1,
                        "choice": int(j == chosen),
                        **product,
                    }
                )
    return pd.DataFrame(rows)


@cache
def _experiment():
    return th.ChoiceExperiment.from_frame(
        simulated(people=6, tasks=4, seed=4), levels={"zoom": ["no", "yes"]}
    )


def pairs():
    return (th.PairedComparisons([[0, 3, 1], [2, 0, 4], [1, 2, 0]], labels=list("abc")),)


def groups():
    return (
        {
            "women": pairs()[0],
            "men": th.PairedComparisons([[0, 1, 3], [4, 0, 2], [0, 2, 0]], labels=list("abc")),
        },
    )


def choice_groups():
    """Choices out of sets of two and three, of another set in each group."""
    offered = {"women": {"ab": "ba", "abc": "acb"}, "men": {"bc": "bb", "abc": "ca"}}
    groups = {}
    for name, sets in offered.items():
        choices = [(members, each) for members, chosen in sets.items() for each in chosen]
        rows = [
            (task, x, int(x == each))
            for task, (members, each) in enumerate(choices)
            for x in members
        ]
        groups[name] = th.Choices(pd.DataFrame(rows, columns=["task", "item", "chosen"]))
    return (groups,)


def answered_pairs():
    """As many comparisons, of which it is known who made them."""
    frame = pairs()[0].to_frame()
    counted = frame.index.repeat(frame["count"].to_numpy().tolist())
    rows = frame.loc[counted, ["chosen", "rejected"]].astype(str).reset_index(drop=True)
    rows["person"] = [f"p{k % 4}" for k in range(len(rows))]
    rows["first"], rows["second"] = rows["chosen"], rows["rejected"]
    return (
        th.PairedComparisons.from_trials(
            rows, "first", "second", "chosen", respondent="person", labels=list("abc")
        ),
    )


def described_pairs():
    """As many comparisons, of which it is known which option was first."""
    frame = pairs()[0].to_frame()
    turned = np.arange(len(frame)) % 3 == 1
    left, right = (frame[side].astype(str).to_numpy() for side in ("chosen", "rejected"))
    trials = {"left": np.where(turned, right, left), "right": np.where(turned, left, right)}
    trials |= {"winner": np.where(turned, "right", "left"), "count": frame["count"].to_numpy()}
    return (
        th.PairedComparisons.from_trials(
            pd.DataFrame(trials), covariates=["order"], labels=list("abc")
        ),
    )


def similarities():
    values = np.random.default_rng(3).random((4, 4))
    return (th.Similarities((values + values.T) / 2, labels=list("abcd")),)


def triplets():
    rows = [("a", "b", "c"), ("a", "b", "d"), ("c", "d", "a"), ("b", "c", "d"), ("a", "b", "c")]
    return (th.Triplets(rows),)


def rows():
    rng = np.random.default_rng(2)
    X = pd.DataFrame(rng.normal(size=(20, 2)), columns=["height", "weight"])
    return X, np.where(X["height"] + rng.logistic(size=20) > 0, "yes", "no")


def tied_pairs():
    ties = [[0, 1, 0], [1, 0, 2], [0, 2, 0]]
    return (th.PairedComparisons([[0, 3, 1], [2, 0, 4], [1, 2, 0]], labels=list("abc"), ties=ties),)


def sets():
    """Choices out of sets of two and three."""
    offered = {"ab": "bab", "abc": "acb", "bc": "bb"}
    choices = [
        (f"{s} {k}", s, each) for s, chosen in offered.items() for k, each in enumerate(chosen)
    ]
    rows = [(task, x, int(x == each)) for task, members, each in choices for x in members]
    return (th.Choices(pd.DataFrame(rows, columns=["task", "item", "chosen"])),)


def answered_best_and_worst():
    """The best and the worst of four options, twice by each of three people."""
    rows = [
        ("a", "b", "c", "d", best, worst, f"p{k % 3}")
        for k, (best, worst) in enumerate("ac bd ad cb ac ba".split())
    ]
    columns = ["item1", "item2", "item3", "item4", "best", "worst", "person"]
    return (th.Choices.from_best_worst(pd.DataFrame(rows, columns=columns), respondent="person"),)


def answered_sets():
    """As many choices, of which it is known who made them."""
    frame = sets()[0].to_frame()
    frame["person"] = [f"p{k % 4}" for k in frame["choice_id"]]
    return (
        th.Choices(frame, "choice_id", "alternative", "chosen", respondent="person", count="count"),
    )


def rankings():
    return (th.Choices.from_rankings([list("abcd"), list("bacd"), list("dabc"), list("cab")]),)


def similarity_groups():
    values = np.random.default_rng(5).random((4, 4))
    return (
        {
            "women": similarities()[0],
            "men": th.Similarities((values + values.T) / 2, labels=list("abcd")),
        },
    )


def _triplet_groups():
    rows = [("a", "b", "c"), ("b", "d", "c"), ("c", "d", "b")]
    return ({"women": triplets()[0], "men": th.Triplets(rows, labels=list("abcd"))},)


def _described_groups():
    """Comparisons of two groups, of which it is known which option was first."""
    rows = {
        "left": list("abcbcb"),
        "right": list("bcaaba"),
        "winner": list("abcbba"),
        "count": [2, 1, 3, 2, 2, 2],
    }
    other = th.PairedComparisons.from_trials(
        pd.DataFrame(rows), covariates=["order"], labels=list("abc")
    )
    return ({"women": described_pairs()[0], "men": other},)


# of classifiers
_OF_MODEL = {name: name for name in ("draws", "tune", "chains")} | {"random_seed": "random_state"}


@dataclass(frozen=True)
class Smallest:
    """How to fit one model in a second.

    Parameters
    ----------
    make : callable
        The model from arguments of its constructor.
    data : callable
        What `fit` takes, as a tuple.
    run : dict
        The budget of a run: arguments of `fit`; of classifiers the constructor takes some, as
        scikit-learn wants it.
    ask : callable
        Predictions of a fitted model for something it has seen.
    """

    make: Callable[..., Any]
    data: Callable[[], tuple]
    run: dict[str, Any]
    ask: Callable[[Any], Any]

    def model(self, **run: Any) -> Any:
        """A model that is not fitted."""
        model, run = self.make(), self.run | run
        known = model.get_params()
        return model.set_params(
            **{of: run[name] for name, of in _OF_MODEL.items() if name in run and of in known}
        )

    def fit(self, model: Any, data: Any = None, **run: Any) -> Any:
        """What its `fit` returns."""
        data = self.data() if data is None else data
        known, run = model.get_params(), self.run | run
        return model.fit(
            *data,
            **{name: value for name, value in run.items() if _OF_MODEL.get(name) not in known},
        )

    def fitted(self, **run: Any) -> Any:
        """A fitted model."""
        model = self.model(**run)
        self.fit(model, **run)
        return model


CHAINS = {"draws": 12, "tune": 8, "thin": 1, "chains": 2, "random_seed": 1, "progressbar": False}
DRAWS = {"draws": 12, "chains": 2, "random_seed": 1, "progressbar": False}
ONCE = {"random_seed": 1, "progressbar": False}


def first_pair(model):
    return model.predict_proba([("a", "b")])


def first_set(model):
    return model.predict_proba([("a", "b", "c")])[0]


def first_tasks(model):
    return model.predict_proba(_experiment())


def first_rows(model):
    return model.predict_proba(rows()[0][:5])


def similarity(model):
    return model.estimate().similarity.to_numpy()


def worths(model):
    return model.summary()["mean"].to_numpy()


def _tree(data):
    return th.Tree.from_groups({"left": ["a", "b"], "right": list(data[0].labels[2:])})


def _experiments():
    return (_experiment(),)


def aged_experiments():
    """Choices of people whose age is known."""
    rows = _experiment().to_frame()
    age = 20 + 10 * rows["id"].astype("category").cat.codes
    return (
        th.ChoiceExperiment.from_frame(rows.assign(age=age), attributes=["price", "brand", "zoom"]),
    )


def _on_a_tree(model, data):
    """Made with the tree of the options of these data."""
    return lambda: model(_tree(data()))


GIVEN = {"a": ["warm"], "b": ["warm", "cheap"], "c": ["cheap"]}
PRODUCTS = {"draws": 18, "tune": 60, "thin": 2, "chains": 2, **ONCE}
_TWO_CLASSES, _SIMILAR_GROUPS = th.people.LatentClasses(2), th.people.Groups("similar")
_INDIVIDUALS = th.people.Individuals()
EBA, ADDITIVE, BTL = "elimination-by-aspects", "additive-clustering", "bradley-terry-luce"

SMALLEST: dict[str, Smallest] = {  # by the name of the spec, with what is special behind a comma
    BTL: Smallest(th.BradleyTerryLuce, pairs, DRAWS, first_pair),
    f"{BTL}, mcmc": Smallest(
        partial(th.BradleyTerryLuce, method="mcmc"), pairs, CHAINS, first_pair
    ),
    f"{BTL}, maximum likelihood": Smallest(
        partial(th.BradleyTerryLuce, method="maximum-likelihood"), pairs, {}, first_pair
    ),
    f"{BTL}, individuals": Smallest(
        partial(th.BradleyTerryLuce, people=_INDIVIDUALS), answered_pairs, CHAINS, first_pair
    ),
    f"{BTL}, best and worst individuals": Smallest(
        partial(th.BradleyTerryLuce, people=_INDIVIDUALS),
        answered_best_and_worst,
        CHAINS,
        first_set,
    ),
    f"{BTL}, classes": Smallest(
        partial(th.BradleyTerryLuce, people=_TWO_CLASSES), answered_pairs, CHAINS, first_pair
    ),
    f"{BTL}, groups": Smallest(
        partial(th.BradleyTerryLuce, people=th.people.Groups()),
        groups,
        CHAINS,
        lambda model: first_pair(model.of_group("women")),
    ),
    EBA: Smallest(th.EliminationByAspects, pairs, CHAINS, first_pair),
    f"{EBA}, unique": Smallest(
        partial(th.EliminationByAspects, aspects="unique"), pairs, CHAINS, first_pair
    ),
    f"{EBA}, number": Smallest(
        partial(th.EliminationByAspects, aspects=2), pairs, CHAINS, first_pair
    ),
    f"{EBA}, given": Smallest(
        partial(th.EliminationByAspects, aspects=GIVEN), pairs, CHAINS, first_pair
    ),
    f"{EBA}, tree": Smallest(_on_a_tree(th.EliminationByAspects, pairs), pairs, CHAINS, first_pair),
    f"{EBA}, no unique": Smallest(
        partial(th.EliminationByAspects, unique=False), pairs, CHAINS, first_pair
    ),
    f"{EBA}, ties": Smallest(th.EliminationByAspects, tied_pairs, CHAINS, first_pair),
    f"{EBA}, unique, ties": Smallest(
        partial(th.EliminationByAspects, aspects="unique"), tied_pairs, CHAINS, first_pair
    ),
    f"{EBA}, covariates": Smallest(th.EliminationByAspects, described_pairs, CHAINS, first_pair),
    f"{EBA}, unique, covariates": Smallest(
        partial(th.EliminationByAspects, aspects="unique"), described_pairs, CHAINS, first_pair
    ),
    f"{EBA}, choices": Smallest(th.EliminationByAspects, sets, CHAINS, first_set),
    f"{EBA}, rankings": Smallest(th.EliminationByAspects, rankings, CHAINS, first_set),
    f"{EBA}, groups": Smallest(
        partial(th.EliminationByAspects, people=_SIMILAR_GROUPS),
        groups,
        CHAINS,
        lambda model: first_pair(model.of_group("women")),
    ),
    f"{EBA}, choice groups": Smallest(
        partial(th.EliminationByAspects, people=_SIMILAR_GROUPS),
        choice_groups,
        CHAINS,
        lambda model: first_set(model.of_group("men")),
    ),
    f"{EBA}, described groups": Smallest(
        partial(th.EliminationByAspects, people=_SIMILAR_GROUPS),
        _described_groups,
        CHAINS,
        lambda model: first_pair(model.of_group("women")),
    ),
    f"{EBA}, kinds": Smallest(
        partial(th.EliminationByAspects, people=_TWO_CLASSES), answered_pairs, CHAINS, first_pair
    ),
    f"{EBA}, choice kinds": Smallest(
        partial(th.EliminationByAspects, people=_TWO_CLASSES), answered_sets, CHAINS, first_set
    ),
    f"{EBA}, maximum likelihood": Smallest(
        partial(th.EliminationByAspects, aspects="unique", method="maximum-likelihood"),
        pairs,
        {"random_seed": 1},
        first_pair,
    ),
    ADDITIVE: Smallest(th.AdditiveClustering, similarities, CHAINS, similarity),
    f"{ADDITIVE}, number": Smallest(
        partial(th.AdditiveClustering, features=2), similarities, CHAINS, similarity
    ),
    f"{ADDITIVE}, given": Smallest(
        partial(th.AdditiveClustering, features=[[1], [1], [0], [0]]),
        similarities,
        CHAINS,
        similarity,
    ),
    f"{ADDITIVE}, tree": Smallest(
        _on_a_tree(th.AdditiveClustering, similarities), similarities, CHAINS, similarity
    ),
    f"{ADDITIVE}, map": Smallest(
        partial(th.AdditiveClustering, method="map"), similarities, ONCE, similarity
    ),
    f"{ADDITIVE}, groups": Smallest(
        partial(th.AdditiveClustering, people=_SIMILAR_GROUPS), similarity_groups, CHAINS, worths
    ),
    f"{ADDITIVE}, triplet groups": Smallest(
        partial(th.AdditiveClustering, people=_SIMILAR_GROUPS),
        _triplet_groups,
        CHAINS,
        lambda model: first_set(model.of_group("men")),
    ),
    f"{ADDITIVE}, triplets": Smallest(th.AdditiveClustering, triplets, CHAINS, first_set),
    f"{ADDITIVE}, triplets, map": Smallest(
        partial(th.AdditiveClustering, method="map"), triplets, ONCE, first_set
    ),
    "latent-feature-model": Smallest(
        lambda: th.LatentFeatureModel(th.priors.IndianBuffet(), th.likelihoods.Elimination()),
        pairs,
        CHAINS,
        first_pair,
    ),
    "product-classes": Smallest(th.ProductClasses, _experiments, PRODUCTS, first_tasks),
    "product-classes, smc": Smallest(
        partial(th.ProductClasses, method="smc"),
        _experiments,
        {"chains": 2, "draws": 4, "sweeps_per_step": 2, **ONCE},
        first_tasks,
    ),
    "multinomial-logit": Smallest(th.MultinomialLogit, _experiments, {}, first_tasks),
    "multinomial-logit, amounts": Smallest(
        partial(th.MultinomialLogit, linear="price", space="willingness-to-pay"),
        _experiments,
        {},
        first_tasks,
    ),
    "hierarchical-logit": Smallest(th.HierarchicalLogit, _experiments, CHAINS, first_tasks),
    "hierarchical-logit, attention": Smallest(
        partial(th.HierarchicalLogit, attention=["price", "zoom"]),
        _experiments,
        CHAINS,
        first_tasks,
    ),
    "hierarchical-logit, amounts": Smallest(
        partial(th.HierarchicalLogit, linear="price", space="willingness-to-pay"),
        _experiments,
        CHAINS,
        first_tasks,
    ),
    "latent-class-logit": Smallest(
        partial(th.LatentClassLogit, classes=2), _experiments, ONCE, first_tasks
    ),
    "latent-class-logit, columns of people": Smallest(
        partial(th.LatentClassLogit, classes=2, linear="price", by="age"),
        aged_experiments,
        ONCE,
        first_tasks,
    ),
    "plackett-luce": Smallest(th.PlackettLuceRegression, rows, CHAINS, first_rows),
    "plackett-luce, map": Smallest(
        partial(th.PlackettLuceRegression, method="map", a=1.1), rows, ONCE, first_rows
    ),
    "plackett-luce, variational": Smallest(
        partial(th.PlackettLuceRegression, method="variational"), rows, ONCE, first_rows
    ),
    "sparse-logit": Smallest(
        partial(th.SparseMultinomialLogit, method="polya-gamma"), rows, CHAINS, first_rows
    ),
    "sparse-logit, laplace": Smallest(
        partial(th.SparseMultinomialLogit, method="laplace"), rows, DRAWS, first_rows
    ),
    "sparse-logit, variational": Smallest(
        partial(th.SparseMultinomialLogit, method="variational"), rows, DRAWS, first_rows
    ),
    "sparse-logit, map": Smallest(
        partial(th.SparseMultinomialLogit, method="map", eta=1.0), rows, ONCE, first_rows
    ),
}


# Compile samplers before anybody waits for them: for this machine, or for machines that have a
# level of processor


_FIT = "import sys; from thali._testing.smallest import fit; fit(sys.argv[1])"


@dataclass(frozen=True)
class Fitted:
    """A row of `SMALLEST` that was fitted in a process of its own.

    Parameters
    ----------
    name : str
        Of the row.
    error : str
        The last line that the process printed; empty if it ended well.
    """

    name: str
    error: str


def rows_of(models: Sequence[str]) -> list[str]:
    """The names of the rows of these models; of all, if there are none."""
    return [name for name in SMALLEST if not models or name.partition(",")[0] in models]


def fit(name: str) -> None:
    """Fit a row, predict and write its report, which compiles and keeps what they need."""
    warnings.simplefilter("ignore")
    model = SMALLEST[name].fitted()
    SMALLEST[name].ask(model)
    with tempfile.TemporaryDirectory() as folder:
        model.report(Path(folder) / "report.html")


def level_here() -> str:
    """The level of processors that most machines of this kind have."""
    if platform.machine().lower() in targets.X86:
        return "x86-64-v3"
    return "apple-m1" if sys.platform == "darwin" else "generic"


def environment_of(level: str, folder: Path) -> dict[str, str]:
    """What makes a process compile for a level of processor, and keep the code in a folder.

    Raises
    ------
    ArgumentError
        If there is no such level, or this processor cannot run its code, which must be tried out.
    """
    check_allowed("target", level, tuple(targets.LEVELS))
    reason = targets.explain_incompatibility(level)
    if reason:
        raise ArgumentError(Argument("target"), f" {level} cannot be built here, because {reason}.")
    if folder.exists() and not folder.is_dir():
        raise ArgumentError(
            Argument("out"), f" must be a folder; '{folder}' is a file. Choose another name."
        )
    return {
        "NUMBA_CPU_NAME": level,
        "NUMBA_CPU_FEATURES": "",
        "NUMBA_CACHE_DIR": str(folder.absolute()),
    }


def fit_each(
    names: Sequence[str], cores: int, environment: dict[str, str] | None
) -> Iterator[Fitted]:
    """Fit rows, each in a process of its own, `cores` at a time; yields them as they end."""

    def run(name: str) -> Fitted:
        command = [sys.executable, "-c", _FIT, name]
        done = subprocess.run(
            command, capture_output=True, text=True, env={**os.environ, **(environment or {})}
        )
        lines = done.stderr.strip().splitlines() or [f"it ended with exit code {done.returncode}"]
        return Fitted(name, lines[-1] if done.returncode else "")

    with ThreadPoolExecutor(cores) as pool:
        for future in as_completed([pool.submit(run, name) for name in names]):
            yield future.result()
