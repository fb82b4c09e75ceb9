"""Figures of Archambeau & Caron (2012) on their data sets, and the reading of the user's files of them."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._labels import shorten
from thali.errors import DataError

if TYPE_CHECKING:
    import pandas

PAPER = "Archambeau & Caron (2012)"
LOGIT, GIBBS, VARIATIONAL = "sparse logit", "PL Gibbs", "PL variational"
HALVES = 20  # random splits in the paper

_KINDS = (".csv", ".tsv", ".txt", ".xlsx", ".parquet")


class Design(NamedTuple):
    """One data set."""

    name: str
    size: tuple[int, int, int]  # rows, covariates, classes, by Table 1
    rates: dict[str, tuple[float, float]]  # Table 2: share of errors and its standard deviation
    yields: dict[str, tuple[float, int]]  # Table 3: seconds, smallest effective sample size
    train: int | None = None  # rows in the training part; None: half of them
    log: bool = False  # whether logarithms are taken first
    labels: tuple[str, ...] = ("class",)  # names of the column of labels, wherever it stands; else it is the last

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
SUSHI = Design("Sushi", (5000, 11, 10), {LOGIT: (0.672, np.nan), GIBBS: (0.656, np.nan)}, {}, train=4000)
COLON = Design(
    "Colon", (62, 2000, 2), {LOGIT: (0.33, 0.15), GIBBS: (0.36, 0.11)}, {}, train=50, log=True, labels=("class", "y")
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
        return f"{text}, other than the paper's ({n}, {d}, {classes}): its figures do not refer to this table"


def read(path: Any, studies: tuple[Design, ...]) -> list[DataSet]:
    """The data sets in a folder, or the one in a file, in the order of the studies."""
    path = Path(path).expanduser()
    names = shorten([design.key for design in studies], 10)
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if file.suffix.casefold() in _KINDS)
        found = [(design, [file for file in files if _is_of(file, design)]) for design in studies]
        if not any(of_design for _, of_design in found):
            raise DataError(f"The folder {str(path)!r} holds no table named {names}, such as {studies[0].key}.csv.")
        for design, of_design in found:
            if len(of_design) > 1:
                both = " and ".join(file.name for file in of_design[:2])
                raise DataError(f"{both} may both be {design.key}; leave one in the folder {str(path)!r}.")
        return [_data_set(of_design[0], design) for design, of_design in found if of_design]
    if len(studies) == 1:
        return [_data_set(path, studies[0])]
    for design in studies:
        if _is_of(path, design):
            return [_data_set(path, design)]
    raise DataError(f"{path.name} does not say which data it holds; let its name begin with one of {names}.")


def _is_of(file: Path, design: Design) -> bool:
    return file.stem.casefold().startswith(design.key)


def _data_set(file: Path, design: Design) -> DataSet:
    from thali.classify.input import matrix_of, names_of
    from thali.reading.table import read_table

    table = read_table(file)
    label = next((name for name in table.columns if name.casefold() in design.labels), table.columns[-1])
    covariates, labels = table.drop(columns=label), table[label].to_numpy()
    if design.log:  # such a table names its rows, too
        covariates = covariates.select_dtypes("number")
    try:
        matrix = matrix_of(covariates, names_of(covariates))
        if design.log and not (matrix > 0.0).all():
            raise DataError("X must be positive, since logarithms are taken; pass the levels as they were measured.")
        if any(each is None or each != each for each in labels) or len(np.unique(labels)) < 2:
            raise DataError(f"The classes, in column {label!r}, must be two or more, and none may be missing.")
    except DataError as error:
        raise DataError(f"{file.name}: {error}") from None
    frame: Any = covariates.astype(float)
    return DataSet(design, design.name, file.name, np.log(frame) if design.log else frame, labels)


def ages(data: DataSet) -> DataSet | None:
    """The lenses with age, in three levels, as the class and the class as a covariate; None without such a column."""
    import pandas as pd

    name = next((name for name in data.covariates.columns if name.casefold() == "age"), None)
    if name is None:
        return None
    levels = pd.Series(np.unique(data.labels, return_inverse=True)[1].astype(float), data.covariates.index)
    covariates = data.covariates.drop(columns=name).assign(**{"class": levels})
    return data._replace(task="Lenses, age", covariates=covariates, labels=data.covariates[name].to_numpy())


def split(data: DataSet, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Rows to train and to test on; all classes occur among the former, and no covariate is constant there."""
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
        f"{data.file}: A random part of {train} rows lacks a class or has a constant covariate; leave out rare classes "
        "and covariates that hardly vary."
    )
