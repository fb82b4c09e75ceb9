"""Data sets of Archambeau & Caron (2012), the user's files of them, and rates of errors over random
splits."""

import hashlib
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._inference.user_warnings import silence_warnings
from thali._labels import shorten
from thali.errors import DataError, DataWarning

from .reproduction_entry import Settings, file_named, finished_parts

if TYPE_CHECKING:
    import pandas


PAPER = "Archambeau & Caron (2012)"
LOGIT, GIBBS, VARIATIONAL = "sparse logit", "PL Gibbs", "PL variational"
HALVES = 20  # random splits in the paper


class Design(NamedTuple):
    """One data set."""

    name: str
    size: tuple[int, int, int]  # rows, covariates, classes, by Table 1
    rates: dict[str, tuple[float, float]]  # Table 2: share of errors and its standard deviation
    yields: dict[str, tuple[float, int]]  # Table 3: seconds, smallest effective sample size
    train: int | None = None  # rows in the training part; None: half of them
    log: bool = False  # whether logarithms are taken first
    # names of the column of labels, wherever it stands; else it is the last
    labels: tuple[str, ...] = ("class",)

    @property
    def key(self) -> str:
        return self.name.casefold()


STUDIES = (
    Design(
        "Pima",
        (768, 8, 2),
        {LOGIT: (0.240, 0.024), GIBBS: (0.238, 0.015), VARIATIONAL: (0.239, 0.017)},
        {LOGIT: (409.6, 675), GIBBS: (23.2, 23)},
    ),
    Design(
        "Iris",
        (150, 4, 3),
        {LOGIT: (0.086, 0.086), GIBBS: (0.186, 0.055), VARIATIONAL: (0.181, 0.057)},
        {LOGIT: (139.9, 8), GIBBS: (10.8, 14)},
    ),
    Design(
        "Heart",
        (270, 13, 2),
        {LOGIT: (0.215, 0.046), GIBBS: (0.170, 0.023), VARIATIONAL: (0.223, 0.056)},
        {LOGIT: (128.8, 270), GIBBS: (16.0, 14)},
    ),
    Design(
        "German",
        (1000, 24, 2),
        {LOGIT: (0.262, 0.021), GIBBS: (0.260, 0.017), VARIATIONAL: (0.298, 0.015)},
        {LOGIT: (561.1, 418), GIBBS: (58.0, 17)},
    ),
    Design(
        "Lenses",
        (24, 4, 3),
        {LOGIT: (0.700, 0.087), GIBBS: (0.825, 0.071), VARIATIONAL: (0.821, 0.073)},
        {LOGIT: (26.0, 304), GIBBS: (8.6, 2916)},
    ),
    Design(
        "Wine",
        (178, 13, 3),
        {LOGIT: (0.080, 0.038), GIBBS: (0.048, 0.019), VARIATIONAL: (0.093, 0.048)},
        {LOGIT: (184.9, 8), GIBBS: (15.1, 23)},
    ),
)
IRIS = STUDIES[1]
# Of 1000 test rows, 656 and 672; five splits, no standard deviations.
SUSHI = Design(
    "Sushi", (5000, 11, 10), {LOGIT: (0.672, np.nan), GIBBS: (0.656, np.nan)}, {}, train=4000
)
COLON = Design(
    "Colon",
    (62, 2000, 2),
    {LOGIT: (0.33, 0.15), GIBBS: (0.36, 0.11)},
    {},
    train=50,
    log=True,
    labels=("class", "y"),
)


class DataSet(NamedTuple):
    """One table of covariates and labels."""

    design: Design
    task: str  # as printed: the name, and what is predicted if not the class
    file: str
    covariates: "pandas.DataFrame"
    labels: np.ndarray

    @property
    def sentence(self) -> str:
        """How it was read, and whether it has the size of the paper's."""
        size = (*self.covariates.shape, len(np.unique(self.labels)))
        text = f"{self.file}: {size[0]} rows, {size[1]} covariates, {size[2]} classes"
        if size == self.design.size:
            return text
        n, d, classes = self.design.size
        return (
            f"{text}, other than the paper's ({n}, {d}, {classes}): its figures do not refer to"
            " this table"
        )


def read(path: Any, studies: tuple[Design, ...]) -> list[DataSet]:
    """The data sets in a folder, or the one in a file, in the order of the studies."""
    path = Path(path).expanduser()
    names = shorten([design.key for design in studies], 10)
    if path.is_dir():
        found = [
            _data_set(file, design)
            for design in studies
            if (file := file_named(path, design.key)) is not None
        ]
        if not found:
            raise DataError(
                f"The folder {str(path)!r} holds no table named {names}, such as"
                f" {studies[0].key}.csv."
            )
        return found
    if len(studies) == 1:
        return [_data_set(path, studies[0])]
    for design in studies:
        if path.stem.casefold().startswith(design.key):
            return [_data_set(path, design)]
    raise DataError(
        f"{path.name} does not say which data it holds; let its name begin with one of {names}."
    )


def _data_set(file: Path, design: Design) -> DataSet:
    from thali._classify.covariates_and_labels import convert_to_matrix, read_string_column_names
    from thali._reading.table_files import read_table

    table = read_table(file)
    label = next(
        (name for name in table.columns if name.casefold() in design.labels), table.columns[-1]
    )
    covariates, labels = table.drop(columns=label), table[label].to_numpy()
    if design.log:  # such a table names its rows, too
        covariates = covariates.select_dtypes("number")
    try:
        matrix = convert_to_matrix(covariates, read_string_column_names(covariates))
        if design.log and not (matrix > 0.0).all():
            raise DataError(
                "X must be positive, since logarithms are taken; pass the levels as they were"
                " measured."
            )
        if any(each is None or each != each for each in labels) or len(np.unique(labels)) < 2:
            raise DataError(
                f"The classes, in column {label!r}, must be two or more, and none may be missing."
            )
    except DataError as error:
        raise DataError(f"{file.name}: {error}") from None
    frame: Any = covariates.astype(float)
    return DataSet(design, design.name, file.name, np.log(frame) if design.log else frame, labels)


def ages(data: DataSet) -> DataSet | None:
    """The lenses with age, in three levels, as the class and the class as a covariate; None without
    such a column."""
    import pandas as pd

    name = next((name for name in data.covariates.columns if name.casefold() == "age"), None)
    if name is None:
        return None
    levels = pd.Series(
        np.unique(data.labels, return_inverse=True)[1].astype(float), data.covariates.index
    )
    covariates = data.covariates.drop(columns=name).assign(**{"class": levels})
    return data._replace(
        task="Lenses, age", covariates=covariates, labels=data.covariates[name].to_numpy()
    )


def split(data: DataSet, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Rows to train and to test on; all classes occur among the former, and no covariate is
    constant there."""
    n, X = len(data.labels), data.covariates.to_numpy()
    train = n // 2 if data.design.train is None else data.design.train
    train = train if train < n else (4 * n) // 5  # of a table smaller than the paper's
    classes = len(np.unique(data.labels))
    for _ in range(1000):
        order = rng.permutation(n)
        chosen, left = order[:train], order[train:]
        if len(np.unique(data.labels[chosen])) == classes and np.ptp(X[chosen], axis=0).all():
            return chosen, left
    raise DataError(
        f"{data.file}: A random part of {train} rows lacks a class or has a constant covariate;"
        " leave out rare classes and covariates that hardly vary."
    )


# Error rates of classifiers over random splits, and of naming the largest class; finished splits
# are kept


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
            f"{self.splits} random splits, the same for all; samplers: {chains} of"
            f" {THIN * self.tune:,} + {THIN * self.draws:,} sweeps (paper: 20 splits, 5,000 +"
            " 5,000)."
        )


class Method(NamedTuple):
    """A classifier by the name that is printed."""

    name: str
    make: Callable[..., Any]  # of the length and seed of a run, and the labels
    paper: str | None = None  # whose figures of the paper stand beside


def plackett_luce(name: str, paper: str | None = None, **arguments: Any) -> Method:
    """Plackett–Luce regression with these arguments."""

    def make(run: dict[Any, Any], labels: Any) -> Any:
        from thali._classify.plackett_luce.model import PlackettLuceRegression

        return PlackettLuceRegression(**(run | arguments))

    return Method(name, make, paper)


def published_plackett_luce(name: str, paper: str | None = None) -> Method:
    """Plackett–Luce regression by the published sampler."""

    def make(run: dict[Any, Any], labels: Any) -> Any:
        from thali._classify.plackett_luce.fitting_methods import WeightFit
        from thali._classify.plackett_luce.model import PlackettLuceRegression

        from .samplers.plackett_luce_2012 import published

        class PublishedFit(WeightFit):
            """The fit of weights with the sweeps of the published sampler."""

            def prepare(self, run: Any) -> None:
                super().prepare(run)
                self.settings = replace(self.settings, sweep=published)

        model = PlackettLuceRegression(**run)
        model._build_fit = lambda source, run: PublishedFit(model, source, run, model._columns_)
        return model

    return Method(name, make, paper)


def sparse_logit(name: str, **arguments: Any) -> Method:
    """The sparse logit, its reference the last class as in the paper."""

    def make(run: dict[Any, Any], labels: Any) -> Any:
        from thali._classify.sparse_logit.model import SparseMultinomialLogit

        return SparseMultinomialLogit(reference=np.unique(labels)[-1], **(run | arguments))

    return Method(name, make, name)


class Task(NamedTuple):
    """Data and what is fitted to them."""

    data: DataSet
    methods: Sequence[Method]


def rates_of(
    settings: Settings, name: str, tasks: Sequence[Task], budget: Budget
) -> tuple[list[dict[Any, Any]], bool]:
    """The results of every finished split, and whether Ctrl-C came.

    A record: task, split, the error rate of the largest training class ("majority") and of each
    method with its log loss, area under the curve (two classes), a (its geometric mean in each
    chain) and lower bound.
    """
    parts = {
        f"{number} {place} {task.data.task}": partial(_record, settings, task, number, budget)
        for number in range(budget.splits)
        for place, task in enumerate(tasks)
    }
    methods = [[method.name for method in task.methods] for task in tasks]
    data = [(task.data.task, digest(task.data)) for task in tasks]
    with silence_warnings(), warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # of classes with one member in a half
        return finished_parts(
            settings,
            name,
            {"budget": list(budget), "methods": methods},
            data,
            parts,
            ("fitting", "splits"),
        )


def digest(data: DataSet) -> str:
    """A text that other data do not share."""
    text = f"{list(data.covariates.columns)} {data.labels.tolist()}".encode()
    return hashlib.sha256(
        text + np.ascontiguousarray(data.covariates.to_numpy()).tobytes()
    ).hexdigest()


def _record(settings: Settings, task: Task, number: int, budget: Budget) -> dict[Any, Any] | None:
    """The results for one split; None if Ctrl-C came during sampling."""
    data = task.data
    of_data = int(digest(data)[:8], 16)
    seeds = np.random.SeedSequence(settings.random_seed, spawn_key=(of_data, number)).spawn(
        1 + len(task.methods)
    )
    train, test = split(data, np.random.default_rng(seeds[0]))
    labels = data.labels[train]
    found = {
        "task": data.task,
        "split": number,
        "majority": majority_error(labels, data.labels[test]),
        "methods": {},
    }
    for method, seed in zip(task.methods, seeds[1:], strict=True):
        run = {
            "draws": budget.draws,
            "tune": budget.tune,
            "chains": budget.chains,
            "random_state": seed,
        }
        model = method.make(run, labels).fit(
            data.covariates.iloc[train], labels, thin=THIN, cores=settings.cores
        )
        if model._interrupted_:
            return None
        found["methods"][method.name] = scores(
            model, data.covariates.iloc[test], data.labels[test]
        ) | _fitted(model)
    return found


def _fitted(model: Any) -> dict[Any, Any]:
    """Further results of a fit: a (of each chain, if there are chains) and the lower bound."""
    found, learned = {}, model._get_fitted_attributes()
    tree = learned.get("posterior_")
    if "a_" in learned:
        drawn = (
            None
            if tree is None
            else np.exp(np.log(tree["posterior"]["a"].values).mean(axis=1)).tolist()
        )
        found["a"] = [float(model.a_)] if drawn is None else drawn
    if "lower_bound_" in learned:
        found["bound"] = float(model.lower_bound_)
    return found


def majority_error(train: np.ndarray, test: np.ndarray) -> float:
    """Share of errors of always naming the largest class of the training rows."""
    classes, counts = np.unique(train, return_counts=True)
    return float(np.mean(test != classes[np.argmax(counts)]))


def scores(model: Any, X: Any, labels: np.ndarray) -> dict[Any, Any]:
    """Share of errors, mean −ln P(label), and for two classes the area under the receiver operating
    curve."""
    from scipy.stats import rankdata

    probabilities = model.predict_proba(X)
    codes = np.searchsorted(model.classes_, labels)
    of_label = np.maximum(probabilities[np.arange(len(codes)), codes], np.finfo(float).tiny)
    found = {
        "error": float(np.mean(probabilities.argmax(axis=1) != codes)),
        "loss": float(-np.log(of_label).mean()),
    }
    positive = codes == 1
    if len(model.classes_) == 2 and 0 < positive.sum() < len(codes):
        ranks, wins = rankdata(probabilities[:, 1]), positive.sum()
        found["auc"] = float(
            (ranks[positive].sum() - wins * (wins + 1) / 2) / (wins * (len(codes) - wins))
        )
    return found


def of_method(records: Sequence[dict[Any, Any]], task: str, method: str, what: str) -> np.ndarray:
    """A figure of one method on each split of a task; NaN where there is none."""
    return np.array(
        [r["methods"][method].get(what, np.nan) for r in records if r["task"] == task], float
    )


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
    found = [
        r["methods"][method]["a"]
        for r in records
        if r["task"] == task and "a" in r["methods"][method]
    ]
    chains = np.array([a for of_split in found for a in of_split])
    names = ("a", "a, least chain", "a, largest chain")
    values = (
        [np.exp(np.log(chains).mean()), chains.min(), chains.max()] if len(chains) else [np.nan] * 3
    )
    return dict(
        zip(names, (f"{value:.2g}" if value == value else "-" for value in values), strict=True)
    )
