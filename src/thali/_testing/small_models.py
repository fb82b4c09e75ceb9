"""Small models with data, one per sampler, each fitted in about a second.

`thali cache warm` and `thali cache build` fit all of them, so that later fits need no compilation.
A model, a method, a kind of data or a population with separate compiled code adds a row to
`SMALL_MODELS`.
"""

import os
import platform
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import thali as th
from thali._argument_checks import check_allowed
from thali._compile import processor_types
from thali.errors import Argument, ArgumentError


@cache
def build_experiment():
    """Return choices of six respondents among three products, by a hierarchical logit."""
    n_respondents = 6
    n_tasks = 4
    rng = np.random.default_rng(4)
    tastes = np.array([-1.0, 0.5, -0.5, 1.0]) + rng.normal(size=(n_respondents, 4))
    rows = []
    for respondent in range(n_respondents):
        for task in range(n_tasks):
            price, brand, zoom = (rng.integers(n_levels, size=3) for n_levels in (3, 3, 2))
            x = np.column_stack([price, brand == 1, brand == 2, zoom])
            chosen_index = np.argmax(x @ tastes[respondent] + rng.gumbel(size=3))
            for j in range(3):
                rows.append(
                    {
                        "id": f"p{respondent}",
                        "task": task + 1,
                        "alt": j + 1,
                        "choice": int(j == chosen_index),
                        "price": 10.0 * price[j] + 5.0,
                        "brand": "ABC"[brand[j]],
                        "zoom": ["no", "yes"][zoom[j]],
                    }
                )
    return th.ChoiceExperiment.from_frame(pd.DataFrame(rows), levels={"zoom": ["no", "yes"]})


_PAIR_COUNTS = [[0, 3, 1], [2, 0, 4], [1, 2, 0]]


def build_pairs():
    """Return paired comparisons of a few options, as arguments of `fit`."""
    return (th.PairedComparisons(_PAIR_COUNTS, labels=list("abc")),)


def build_answered_pairs():
    """Return the small paired comparisons with respondents."""
    frame = build_pairs()[0].to_frame()
    repeated_index = frame.index.repeat(frame["count"].to_numpy().tolist())
    answered_rows = (
        frame.loc[repeated_index, ["chosen", "rejected"]].astype(str).reset_index(drop=True)
    )
    answered_rows["person"] = [f"p{k % 4}" for k in range(len(answered_rows))]
    answered_rows["first"], answered_rows["second"] = (
        answered_rows["chosen"],
        answered_rows["rejected"],
    )
    return (
        th.PairedComparisons.from_trials(
            answered_rows, "first", "second", "chosen", respondent="person", labels=list("abc")
        ),
    )


def build_described_pairs():
    """Return the small paired comparisons with the covariate "shown first"."""
    frame = build_pairs()[0].to_frame()
    is_reversed = np.arange(len(frame)) % 3 == 1
    left, right = (frame[side].astype(str).to_numpy() for side in ("chosen", "rejected"))
    trials = {
        "left": np.where(is_reversed, right, left),
        "right": np.where(is_reversed, left, right),
    }
    trials |= {"winner": np.where(is_reversed, "right", "left"), "count": frame["count"].to_numpy()}
    return (
        th.PairedComparisons.from_trials(
            pd.DataFrame(trials), covariates=["order"], labels=list("abc")
        ),
    )


def build_similarities():
    """Return similarities of four objects, as arguments of `fit`."""
    matrix = np.random.default_rng(3).random((4, 4))
    return (th.Similarities((matrix + matrix.T) / 2, labels=list("abcd")),)


def build_triplets():
    """Return triplets of a few objects, as arguments of `fit`."""
    answer_rows = [
        ("a", "b", "c"),
        ("a", "b", "d"),
        ("c", "d", "a"),
        ("b", "c", "d"),
        ("a", "b", "c"),
    ]
    return (th.Triplets(answer_rows),)


def build_rows():
    """Return covariates and class labels, as arguments of a classifier's `fit`."""
    rng = np.random.default_rng(2)
    X = pd.DataFrame(rng.normal(size=(20, 2)), columns=["height", "weight"])
    return X, np.where(X["height"] + rng.logistic(size=20) > 0, "yes", "no")


def build_tied_pairs():
    """Return paired comparisons of a few options with ties."""
    tie_counts = [[0, 1, 0], [1, 0, 2], [0, 2, 0]]
    return (th.PairedComparisons(_PAIR_COUNTS, labels=list("abc"), ties=tie_counts),)


def build_sets():
    """Return choices from sets of two and three options."""
    choice_rows = [
        (f"{members} {k}", x, int(x == option))
        for members, chosen in {"ab": "bab", "abc": "acb", "bc": "bb"}.items()
        for k, option in enumerate(chosen)
        for x in members
    ]
    return (th.Choices(pd.DataFrame(choice_rows, columns=["task", "item", "chosen"])),)


def build_answered_best_worst():
    """Return best-worst choices of four options, by three respondents."""
    answer_rows = [
        ("a", "b", "c", "d", best, worst, f"p{k % 3}")
        for k, (best, worst) in enumerate("ac bd ad cb ac ba".split())
    ]
    columns = ["item1", "item2", "item3", "item4", "best", "worst", "person"]
    return (
        th.Choices.from_best_worst(pd.DataFrame(answer_rows, columns=columns), respondent="person"),
    )


def build_rankings():
    """Return rankings of a few options, as arguments of `fit`."""
    return (th.Choices.from_rankings([list("abcd"), list("bacd"), list("dabc"), list("cab")]),)


# argument of `fit` -> argument of the constructor of classifiers
_CONSTRUCTOR_ARGUMENTS = {name: name for name in ("draws", "tune", "chains")} | {
    "random_seed": "random_state"
}


@dataclass(frozen=True)
class SmallModelCase:
    """A model with arguments and data, fitted in about a second.

    Parameters
    ----------
    make : callable
        Returns the model, given arguments of its constructor.
    data : callable
        Returns the positional arguments of `fit` as a tuple.
    predict : callable
        Returns predictions of a fitted model for data that it was fitted to.
    run : dict
        The settings of a run: arguments of `fit`; for classifiers, the constructor takes some of
        them, as in scikit-learn.
    """

    make: Callable[..., Any]
    data: Callable[[], tuple]
    predict: Callable[[Any], Any]
    run: dict[str, Any] = field(default_factory=lambda: CHAINS)

    def build_fitted(self) -> Any:
        """Return the case's model, fitted with its short run settings."""
        model = self.make()
        parameters = model.get_params()
        model.set_params(
            **{
                parameter: self.run[name]
                for name, parameter in _CONSTRUCTOR_ARGUMENTS.items()
                if name in self.run and parameter in parameters
            }
        )
        fit_settings = {
            name: setting
            for name, setting in self.run.items()
            if _CONSTRUCTOR_ARGUMENTS.get(name) not in parameters
        }
        return model.fit(*self.data(), **fit_settings)


CHAINS = {"draws": 12, "tune": 8, "thin": 1, "chains": 2, "random_seed": 1, "progressbar": False}
DRAWS = {"draws": 12, "chains": 2, "random_seed": 1, "progressbar": False}
ONCE = {"random_seed": 1, "progressbar": False}


def predict_first_pair(model):
    """Return the predicted probabilities of the first pair."""
    return model.predict_proba([("a", "b")])


def predict_first_set(model):
    """Return the predicted probabilities of the first set."""
    return model.predict_proba([("a", "b", "c")])[0]


def predict_first_tasks(model):
    """Return the predicted probabilities of the experiment."""
    return model.predict_proba(build_experiment())


def predict_first_rows(model):
    """Return the predicted probabilities of the first rows."""
    return model.predict_proba(build_rows()[0][:5])


def estimate_similarity(model):
    """Return the model's posterior mean similarities of all object pairs."""
    return model.estimate().similarity.to_numpy()


def fit_similarity(model):
    """Return the posterior mean similarities of all object pairs."""
    return model.similarity().to_numpy()


def _build_tree(data):
    """Return a tree of the data's options in two groups."""
    return th.Tree.from_groups({"left": ["a", "b"], "right": list(data[0].labels[2:])})


def _build_experiments():
    """Return the small choice experiment as arguments of `fit`."""
    return (build_experiment(),)


def build_aged_experiments():
    """Return the small choice experiment with each respondent's age."""
    rows = build_experiment().to_frame()
    ages = 20 + 10 * rows["id"].astype("category").cat.codes
    return (
        th.ChoiceExperiment.from_frame(
            rows.assign(age=ages), attributes=["price", "brand", "zoom"]
        ),
    )


def _bind_tree(model, data):
    """Return a function that builds a model on a tree of the data's options."""
    return lambda: model(_build_tree(data()))


def _build_case(model, data, predict, run=CHAINS, **arguments):
    """Return the case of a model class with these constructor arguments."""
    return SmallModelCase(partial(model, **arguments), data, predict, run)


GIVEN = {"a": ["warm"], "b": ["warm", "cheap"], "c": ["cheap"]}
PRODUCTS = {"draws": 18, "tune": 60, "thin": 2, "chains": 2, **ONCE}
_INDIVIDUALS = th.people.Individuals()

SMALL_MODELS: dict[str, SmallModelCase] = {  # name of the spec, variant
    "bradley-terry-luce": SmallModelCase(
        th.BradleyTerryLuce, build_pairs, predict_first_pair, DRAWS
    ),
    "bradley-terry-luce, mcmc": _build_case(
        th.BradleyTerryLuce, build_pairs, predict_first_pair, method="mcmc"
    ),
    "bradley-terry-luce, maximum likelihood": _build_case(
        th.BradleyTerryLuce, build_pairs, predict_first_pair, {}, method="maximum-likelihood"
    ),
    "bradley-terry-luce, individuals": _build_case(
        th.BradleyTerryLuce, build_answered_pairs, predict_first_pair, people=_INDIVIDUALS
    ),
    "bradley-terry-luce, best and worst individuals": _build_case(
        th.BradleyTerryLuce, build_answered_best_worst, predict_first_set, people=_INDIVIDUALS
    ),
    "elimination-by-aspects": SmallModelCase(
        th.EliminationByAspects, build_pairs, predict_first_pair
    ),
    "elimination-by-aspects, unique": _build_case(
        th.EliminationByAspects, build_pairs, predict_first_pair, aspects="unique"
    ),
    "elimination-by-aspects, number": _build_case(
        th.EliminationByAspects, build_pairs, predict_first_pair, aspects=2
    ),
    "elimination-by-aspects, given": _build_case(
        th.EliminationByAspects, build_pairs, predict_first_pair, aspects=GIVEN
    ),
    "elimination-by-aspects, tree": SmallModelCase(
        _bind_tree(th.EliminationByAspects, build_pairs), build_pairs, predict_first_pair
    ),
    "elimination-by-aspects, no unique": _build_case(
        th.EliminationByAspects, build_pairs, predict_first_pair, unique=False
    ),
    "elimination-by-aspects, ties": SmallModelCase(
        th.EliminationByAspects, build_tied_pairs, predict_first_pair
    ),
    "elimination-by-aspects, unique, ties": _build_case(
        th.EliminationByAspects, build_tied_pairs, predict_first_pair, aspects="unique"
    ),
    "elimination-by-aspects, covariates": SmallModelCase(
        th.EliminationByAspects, build_described_pairs, predict_first_pair
    ),
    "elimination-by-aspects, unique, covariates": _build_case(
        th.EliminationByAspects, build_described_pairs, predict_first_pair, aspects="unique"
    ),
    "elimination-by-aspects, choices": SmallModelCase(
        th.EliminationByAspects, build_sets, predict_first_set
    ),
    "elimination-by-aspects, rankings": SmallModelCase(
        th.EliminationByAspects, build_rankings, predict_first_set
    ),
    "elimination-by-aspects, maximum likelihood": _build_case(
        th.EliminationByAspects,
        build_pairs,
        predict_first_pair,
        {"random_seed": 1},
        aspects="unique",
        method="maximum-likelihood",
    ),
    "additive-clustering": SmallModelCase(
        th.AdditiveClustering, build_similarities, estimate_similarity
    ),
    "additive-clustering, number": _build_case(
        th.AdditiveClustering, build_similarities, estimate_similarity, features=2
    ),
    "additive-clustering, given": _build_case(
        th.AdditiveClustering,
        build_similarities,
        estimate_similarity,
        features=[[1], [1], [0], [0]],
    ),
    "additive-clustering, tree": SmallModelCase(
        _bind_tree(th.AdditiveClustering, build_similarities),
        build_similarities,
        estimate_similarity,
    ),
    "additive-clustering, map": _build_case(
        th.AdditiveClustering, build_similarities, estimate_similarity, ONCE, method="map"
    ),
    "additive-clustering, triplets": SmallModelCase(
        th.AdditiveClustering, build_triplets, predict_first_set
    ),
    "additive-clustering, triplets, map": _build_case(
        th.AdditiveClustering, build_triplets, predict_first_set, ONCE, method="map"
    ),
    "nonnegative-dimensions": SmallModelCase(
        th.NonnegativeDimensions, build_similarities, fit_similarity
    ),
    "nonnegative-dimensions, triplets": SmallModelCase(
        th.NonnegativeDimensions, build_triplets, predict_first_set
    ),
    "latent-feature-model": SmallModelCase(
        lambda: th.LatentFeatureModel(th.priors.IndianBuffet(), th.likelihoods.Elimination()),
        build_pairs,
        predict_first_pair,
    ),
    "product-classes": SmallModelCase(
        th.ProductClasses, _build_experiments, predict_first_tasks, PRODUCTS
    ),
    "product-classes, smc": _build_case(
        th.ProductClasses,
        _build_experiments,
        predict_first_tasks,
        {"chains": 2, "draws": 4, "sweeps_per_step": 2, **ONCE},
        method="smc",
    ),
    "multinomial-logit": SmallModelCase(
        th.MultinomialLogit, _build_experiments, predict_first_tasks, {}
    ),
    "multinomial-logit, amounts": _build_case(
        th.MultinomialLogit,
        _build_experiments,
        predict_first_tasks,
        {},
        linear="price",
        space="willingness-to-pay",
    ),
    "hierarchical-logit": SmallModelCase(
        th.HierarchicalLogit, _build_experiments, predict_first_tasks
    ),
    "hierarchical-logit, amounts": _build_case(
        th.HierarchicalLogit,
        _build_experiments,
        predict_first_tasks,
        linear="price",
        space="willingness-to-pay",
    ),
    "latent-class-logit": _build_case(
        th.LatentClassLogit, _build_experiments, predict_first_tasks, ONCE, classes=2
    ),
    "latent-class-logit, columns of people": _build_case(
        th.LatentClassLogit,
        build_aged_experiments,
        predict_first_tasks,
        ONCE,
        classes=2,
        linear="price",
        by="age",
    ),
    "plackett-luce": SmallModelCase(th.PlackettLuceRegression, build_rows, predict_first_rows),
    "plackett-luce, map": _build_case(
        th.PlackettLuceRegression, build_rows, predict_first_rows, ONCE, method="map", a=1.1
    ),
    "plackett-luce, variational": _build_case(
        th.PlackettLuceRegression, build_rows, predict_first_rows, ONCE, method="variational"
    ),
    "sparse-logit": _build_case(
        th.SparseMultinomialLogit, build_rows, predict_first_rows, method="polya-gamma"
    ),
    "sparse-logit, laplace": _build_case(
        th.SparseMultinomialLogit, build_rows, predict_first_rows, DRAWS, method="laplace"
    ),
    "sparse-logit, variational": _build_case(
        th.SparseMultinomialLogit, build_rows, predict_first_rows, DRAWS, method="variational"
    ),
    "sparse-logit, map": _build_case(
        th.SparseMultinomialLogit, build_rows, predict_first_rows, ONCE, method="map", eta=1.0
    ),
}


# Compilation in advance: for this machine, or for all machines with a level of processor ---------


@dataclass(frozen=True)
class CompiledCase:
    """Result of fitting a case in a separate process: its name and any error.

    Parameters
    ----------
    name : str
        Name of the case.
    error : str
        The last line that the process printed; empty if it succeeded.
    """

    name: str
    error: str


def list_cases(models: Sequence[str]) -> list[str]:
    """Return names of the cases of these models, or of all if empty."""
    return [name for name in SMALL_MODELS if not models or name.partition(",")[0] in models]


def fit_case(case_name: str) -> None:
    """Fit a case, predict and report, so that all its kernels are compiled."""
    warnings.simplefilter("ignore")
    model = SMALL_MODELS[case_name].build_fitted()
    SMALL_MODELS[case_name].predict(model)
    with tempfile.TemporaryDirectory() as folder:
        model.report(Path(folder) / "report.html")


def find_processor_level() -> str:
    """Return the processor level (such as x86-64-v3) for which kernels are compiled."""
    if platform.machine().lower() in processor_types.X86:
        return "x86-64-v3"
    if sys.platform == "darwin":
        return "apple-m1"
    return "generic"


def build_environment(level: str, folder: Path) -> dict[str, str]:
    """Return environment variables for compiling kernels for a processor level.

    Raises
    ------
    ArgumentError
        If the level is unknown, or this processor cannot run its code.
    """
    check_allowed("target", level, tuple(processor_types.LEVELS))
    reason = processor_types.explain_incompatibility(level)
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


def fit_in_processes(
    case_names: Sequence[str], cores: int, environment: dict[str, str] | None
) -> Iterator[CompiledCase]:
    """Fit cases in separate processes, `cores` at a time; yield results as they end."""
    program = f"import sys; from {__name__} import {fit_case.__name__} as fit; fit(sys.argv[1])"

    def run_process(case_name: str) -> CompiledCase:
        """Fit one case in a process of its own; return its result."""
        command = [sys.executable, "-c", program, case_name]
        ended_process = subprocess.run(
            command, capture_output=True, text=True, env={**os.environ, **(environment or {})}
        )
        if not ended_process.returncode:
            return CompiledCase(case_name, "")
        error_lines = ended_process.stderr.strip().splitlines() or [
            f"it ended with exit code {ended_process.returncode}"
        ]
        return CompiledCase(case_name, error_lines[-1])

    with ThreadPoolExecutor(cores) as pool:
        for future in as_completed([pool.submit(run_process, name) for name in case_names]):
            yield future.result()
