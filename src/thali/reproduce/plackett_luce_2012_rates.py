"""Error rates of classifiers over random splits, and of naming the largest class; finished splits are kept."""

import hashlib
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali.errors import DataWarning
from thali.inference.warn import without_warnings

from .entry import Settings, finished_parts
from .plackett_luce_2012_data import DataSet, split

if TYPE_CHECKING:
    import pandas

THIN = 10


class Budget(NamedTuple):
    """How much to run."""

    splits: int
    draws: int  # kept of each chain, one in ten sweeps
    tune: int
    chains: int

    @property
    def sentence(self) -> str:
        chains = f"{self.chains} chains" if self.chains > 1 else "one chain"
        return (
            f"{self.splits} random splits, the same for all; samplers: {chains} of {THIN * self.tune:,} + "
            f"{THIN * self.draws:,} sweeps (paper: 20 splits, 5,000 + 5,000)."
        )


class Method(NamedTuple):
    """A classifier by the name that is printed."""

    name: str
    make: Callable[..., Any]  # of the arguments of a sampler, and the labels
    paper: str | None = None  # whose figures of the paper stand beside


def plackett_luce(name: str, paper: str | None = None, **arguments: Any) -> Method:
    """Plackett–Luce regression with these arguments."""

    def make(sampler: dict[Any, Any], labels: Any) -> Any:
        from thali.classify.plackett_luce.model import PlackettLuceRegression

        return PlackettLuceRegression(**(sampler | arguments))

    return Method(name, make, paper)


def sparse_logit(name: str, **arguments: Any) -> Method:
    """The sparse logit, its reference the last class as in the paper."""

    def make(sampler: dict[Any, Any], labels: Any) -> Any:
        from thali.classify.sparse_logit.model import SparseMultinomialLogit

        return SparseMultinomialLogit(reference=np.unique(labels)[-1], **(sampler | arguments))

    return Method(name, make, name)


class Task(NamedTuple):
    """Data and what is fitted to them."""

    data: DataSet
    methods: Sequence[Method]


def rates_of(settings: Settings, name: str, tasks: Sequence[Task], budget: Budget) -> tuple[list[dict[Any, Any]], bool]:
    """The results of every finished split, and whether Ctrl-C came.

    A record: task, split, the error rate of the largest training class ("majority") and of each method with its log
    loss, area under the curve (two classes), a (its geometric mean in each chain) and lower bound.
    """
    parts = {
        f"{number} {place} {task.data.task}": partial(_record, settings, task, number, budget)
        for number in range(budget.splits)
        for place, task in enumerate(tasks)
    }
    methods = [[method.name for method in task.methods] for task in tasks]
    data = [(task.data.task, digest(task.data)) for task in tasks]
    with without_warnings(), warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # of classes with one member in a half
        return finished_parts(
            settings, name, {"budget": list(budget), "methods": methods}, data, parts, ("fitting", "splits")
        )


def digest(data: DataSet) -> str:
    """A text that other data do not share."""
    text = f"{list(data.covariates.columns)} {data.labels.tolist()}".encode()
    return hashlib.sha256(text + np.ascontiguousarray(data.covariates.to_numpy()).tobytes()).hexdigest()


def _record(settings: Settings, task: Task, number: int, budget: Budget) -> dict[Any, Any] | None:
    """The results for one split; None if Ctrl-C came during sampling."""
    data = task.data
    of_data = int(digest(data)[:8], 16)
    seeds = np.random.SeedSequence(settings.random_seed, spawn_key=(of_data, number)).spawn(1 + len(task.methods))
    train, test = split(data, np.random.default_rng(seeds[0]))
    labels = data.labels[train]
    found = {"task": data.task, "split": number, "majority": majority_error(labels, data.labels[test]), "methods": {}}
    for method, seed in zip(task.methods, seeds[1:], strict=True):
        sampler = {"draws": budget.draws, "tune": budget.tune, "thin": THIN, "chains": budget.chains}
        sampler |= {"cores": settings.cores, "random_seed": seed}
        model = method.make(sampler, labels).fit(data.covariates.iloc[train], labels)
        if model.interrupted_:
            return None
        found["methods"][method.name] = scores(model, data.covariates.iloc[test], data.labels[test]) | _fitted(model)
    return found


def _fitted(model: Any) -> dict[Any, Any]:
    """Further results of a fit: a (of each chain, if there are chains) and the lower bound."""
    found, learned, tree = {}, model._fitted_attributes(), model._posterior
    if "a_" in learned:
        drawn = None if tree is None else np.exp(np.log(tree["posterior"]["a"].values).mean(axis=1)).tolist()
        found["a"] = [float(model.a_)] if drawn is None else drawn
    if "lower_bound_" in learned:
        found["bound"] = float(model.lower_bound_)
    return found


def majority_error(train: np.ndarray, test: np.ndarray) -> float:
    """Share of errors of always naming the largest class of the training rows."""
    classes, counts = np.unique(train, return_counts=True)
    return float(np.mean(test != classes[np.argmax(counts)]))


def scores(model: Any, X: Any, labels: np.ndarray) -> dict[Any, Any]:
    """Share of errors, mean −ln P(label), and for two classes the area under the receiver operating curve."""
    from scipy.stats import rankdata

    probabilities = model.predict_proba(X)
    codes = np.searchsorted(model.classes_, labels)
    of_label = np.maximum(probabilities[np.arange(len(codes)), codes], np.finfo(float).tiny)
    found = {"error": float(np.mean(probabilities.argmax(axis=1) != codes)), "loss": float(-np.log(of_label).mean())}
    positive = codes == 1
    if len(model.classes_) == 2 and 0 < positive.sum() < len(codes):
        ranks, wins = rankdata(probabilities[:, 1]), positive.sum()
        found["auc"] = float((ranks[positive].sum() - wins * (wins + 1) / 2) / (wins * (len(codes) - wins)))
    return found


def of_method(records: Sequence[dict[Any, Any]], task: str, method: str, what: str) -> np.ndarray:
    """A figure of one method on each split of a task; NaN where there is none."""
    return np.array([r["methods"][method].get(what, np.nan) for r in records if r["task"] == task], float)


def of_majority(records: Sequence[dict[Any, Any]], task: str) -> np.ndarray:
    return np.array([record["majority"] for record in records if record["task"] == task])


def error_of(values: np.ndarray) -> float:
    """Standard error of a mean over splits."""
    return float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else np.nan


def rate_table(records: Sequence[dict[Any, Any]], tasks: Sequence[Task]) -> "pandas.DataFrame":
    """One row a task and method, the paper's figures beside ours."""
    import pandas as pd

    rows = []
    for data, methods in tasks:
        majority = of_majority(records, data.task)
        if not len(majority):
            continue
        for method in methods:
            errors = of_method(records, data.task, method.name, "error")
            aucs = of_method(records, data.task, method.name, "auc")
            paper, sd = data.design.rates.get(str(method.paper), (np.nan, np.nan))
            rows.append(
                {
                    "data": data.task,
                    "method": method.name,
                    "paper": paper,
                    "sd, paper": sd,
                    "here": errors.mean(),
                    "error": error_of(errors),
                    "sd": errors.std(ddof=1) if len(errors) > 1 else np.nan,
                    "majority": majority.mean(),
                    "log loss": of_method(records, data.task, method.name, "loss").mean(),
                    "AUC": np.nanmean(aucs) if np.isfinite(aucs).any() else np.nan,
                    **_of_chains(records, data.task, method.name),
                }
            )
    return pd.DataFrame(rows)


def _of_chains(records: Sequence[dict[Any, Any]], task: str, method: str) -> dict[Any, Any]:
    """Geometric mean of a over chains and splits, and its least and largest value in a chain."""
    found = [r["methods"][method]["a"] for r in records if r["task"] == task and "a" in r["methods"][method]]
    chains = np.array([a for of_split in found for a in of_split])
    names = ("a", "a, least chain", "a, largest chain")
    values = [np.exp(np.log(chains).mean()), chains.min(), chains.max()] if len(chains) else [np.nan] * 3
    return dict(zip(names, (f"{value:.2g}" if value == value else "-" for value in values), strict=True))
