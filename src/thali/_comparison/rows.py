"""Covariates and classes: rows are left out in stratified folds, and their predictions are
scored."""

import warnings
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from thali._classify import scores
from thali._classify.scores import STOPPED
from thali._digits import percent
from thali.errors import Argument, ArgumentError, DataError, IncompleteWarning, InterruptedWarning

from .scorer import BASE, Scorer
from .splitter import Splitter
from .table import ScoreTable

if TYPE_CHECKING:
    import pandas


FOLDS = 5  # unless the user says otherwise


class RowSplitter(Splitter):
    """Leaves out a fold of rows at a time, every class spread over the folds; a part is a mask of
    rows.

    Parameters
    ----------
    data : (X, y)
        X an array or data frame (n, d), y a label for each row.

    Raises
    ------
    DataError
        If X and y differ in their number of rows.
    """

    leave_out = "row"
    is_frame: bool
    y: np.ndarray

    def __init__(self, data: tuple[Any, Any]) -> None:
        X, y = data
        self.is_frame = hasattr(X, "iloc")
        self.X: Any = X if self.is_frame else X.tocsr() if hasattr(X, "tocsr") else np.asarray(X)
        self.y = np.asarray(y)
        if self.y.ndim != 1 or self.X.shape[:1] != self.y.shape:
            raise DataError(
                f"X and y must have one row per observation; got shapes {self.X.shape} and"
                f" {self.y.shape}."
            )
        super().__init__((self.X, self.y))

    def parts(
        self, seed: np.random.SeedSequence, hold_out: int | None, folds: int | None
    ) -> list[np.ndarray]:
        if hold_out is not None:
            raise ArgumentError(
                Argument("hold_out"),
                " does not apply to covariates and classes, because their rows are held out in"
                " folds; remove ",
                Argument("hold_out"),
                ".",
            )
        number = FOLDS if folds is None else folds
        fold = fold_of_rows(self.y, number, seed)
        return [fold == k for k in range(number)]

    def train(self, part: np.ndarray) -> tuple[Any, np.ndarray]:
        return self.rows(~part), self.y[~part]

    def test(self, part: np.ndarray) -> tuple[Any, np.ndarray, np.ndarray]:
        """Covariates of the rows left out; the number of the class of each, and the share of each
        class elsewhere."""
        classes, counts = np.unique(self.y[~part], return_counts=True)
        return self.rows(part), np.searchsorted(classes, self.y[part]), counts / counts.sum()

    def rows(self, wanted: np.ndarray) -> Any:
        """Some rows of the covariates."""
        return (
            self.X.iloc[np.flatnonzero(wanted)] if self.is_frame else self.X[np.flatnonzero(wanted)]
        )

    def labels(self, units: np.ndarray) -> "pandas.Index":
        import pandas as pd

        return pd.Index(units, name="row")


def fold_of_rows(labels: np.ndarray, folds: int, seed: Any) -> np.ndarray:
    """A fold for each row, every class spread over them as evenly as can be.

    Examples
    --------
    >>> np.bincount(fold_of_rows(np.repeat(["a", "b"], [7, 2]), 3, seed=0)).tolist()
    [3, 3, 3]
    """
    if (
        isinstance(folds, bool)
        or not isinstance(folds, int | np.integer)
        or not 2 <= folds <= max_folds(labels)
    ):
        raise ArgumentError(
            Argument("folds"),
            f" must be from 2 to {max_folds(labels):,} (the number of rows in classes with at"
            f" least two members); got {folds!r}.",
        )
    codes, counts = np.unique(labels, return_inverse=True, return_counts=True)[1:]
    shared = counts[codes] > 1
    rng = np.random.default_rng(seed)
    # Rows dealt like cards, class after class: neither folds nor classes in folds differ in size by
    # more than one.
    order = [rng.permutation(np.flatnonzero((codes == k) & shared)) for k in range(len(counts))]
    fold = np.full(len(codes), -1)
    fold[np.concatenate(order)] = np.arange(shared.sum()) % folds
    return fold


def max_folds(labels: np.ndarray) -> int:
    """The number of rows whose class has two members or more, which alone are left out."""
    counts = np.unique(labels, return_counts=True)[1]
    return int(counts[counts > 1].sum())


# Scores of left-out rows of a classification: log loss, accuracy and Brier score ------------------


_ROUNDING = 1e-6  # by which probabilities of a row may miss 1


class ClassScorer(Scorer):
    """-ln p(class), hits and Brier score of every row.

    The reference is what the classes of the other folds say without any covariates: their
    proportions, and the largest of them.
    """

    fields: ClassVar[dict[str, type[Any]]] = {
        "chosen": list,
        "hits": list,
        "brier": list,
        "seconds": float,
    }
    main: ClassVar[str] = "log_loss"
    higher = False
    units: ClassVar[str] = "rows"
    unit: ClassVar[str] = "row"
    table: ClassVar[tuple[str, ...]] = (
        *(
            "log_loss",
            "difference",
            "difference_se",
            "log_loss_se",
            "accuracy",
            "accuracy_se",
            "brier",
            "brier_se",
        ),
        *("accuracy_difference", "accuracy_difference_se", "seconds", "rows"),
    )
    differences: ClassVar[dict[str, str]] = {"accuracy": "accuracy_difference"}
    counted: ClassVar[str] = "rows"
    further: ClassVar[dict[str, str]] = {"hits": "accuracy", "brier": "brier"}
    shown: ClassVar[tuple[str, ...]] = (
        *(
            "log_loss",
            "log_loss_se",
            "accuracy",
            "accuracy_se",
            "brier",
            "difference",
            "difference_se",
        ),
    )
    called: ClassVar[str] = "rows"
    legend: ClassVar[str] = (
        "log loss: mean -ln predicted probability of the class, smaller is better; accuracy: share"
        " of rows whose class is the most probable one; Brier: mean squared distance of the"
        " probabilities from 0 and 1; to best: log loss minus that of the best model. BASE: class"
        " proportions, and the largest class, of the other rows."
    )

    def score_one(self, model: Any, test: Any) -> dict[str, Any]:
        covariates, truth, proportions = test
        p = np.asarray(model.predict_proba(covariates), dtype=float)
        if p.shape != (len(truth), len(proportions)):
            raise DataError(
                f"predict_proba must return one row for each of {len(truth):,} rows and one column"
                f" for each of {len(proportions):,} classes; got shape {p.shape}."
            )
        if not (p >= 0).all() or np.abs(p.sum(axis=1) - 1.0).max() > _ROUNDING:
            raise DataError("predict_proba must return probabilities that sum to 1 in every row.")
        return scores_of_rows(p, truth)

    def frames(self, found: ScoreTable) -> "dict[str, pandas.DataFrame]":
        known = [found.splitter.test(part)[1:] for part in found.parts]
        base = [
            scores_of_rows(np.tile(proportions, (len(truth), 1)), truth)
            for truth, proportions in known
        ]
        frames = {}
        for name, field in (("log_loss", "chosen"), ("accuracy", "hits"), ("brier", "brier")):
            frames[name] = found.frame(field)
            frames[name][BASE] = np.concatenate([each[field] for each in base])
        with np.errstate(divide="ignore"):  # a probability of 0
            frames["log_loss"] = -np.log(frames["log_loss"])
        return frames

    def attrs(self, found: ScoreTable) -> dict[str, Any]:
        return super().attrs(found) | {"fold": found.part_of_unit()}

    def headline(self, table: "pandas.DataFrame", best: str) -> str:
        row, base = table.loc[best], table.loc[BASE]
        return (
            f"{best!r} predicts held-out rows best: log loss {row['log_loss']:.3f} (class"
            f" proportions: {base['log_loss']:.3f}), {percent(row['accuracy'], 1)} correct"
            f" (largest class: {percent(base['accuracy'], 1)})."
        )

    def remarks(self, table: "pandas.DataFrame", ranked: list[str]) -> list[str]:
        return self.impossible(table, ranked, "the observed class of {count:,} of the {n:,} rows")


def scores_of_rows(p: np.ndarray, truth: np.ndarray) -> dict[str, list[Any]]:
    r"""Of every row the probability of its class, whether that is the most probable one, and the
    Brier score.

    .. math:: \text{Brier} = \sum_k (p_k - 1\{y = k\})^2
    """
    is_class = np.arange(p.shape[1]) == truth[:, None]
    return {
        "chosen": p[is_class].tolist(),
        "hits": (p.argmax(axis=1) == truth).astype(float).tolist(),
        "brier": ((p - is_class) ** 2).sum(axis=1).tolist(),
    }


# How well a classifier predicts rows that it has not seen, beside what is known without any
# covariates


def check_folds(labels: np.ndarray, folds: int) -> None:
    """Raise an ArgumentError unless rows can be left out in so many folds, or there are to be
    none."""
    most = max_folds(labels)
    if folds and not 2 <= folds <= most:
        raise ArgumentError(
            Argument("folds"),
            f" must be from 2 to {most:,} (the number of rows in classes with at least two"
            f" members), or 0 for no cross-validation; got {folds}.",
        )


def cross_validate(
    model: Any,
    rows: tuple[Any, Any],
    folds: int,
    seed: int | None,
    cores: int | None = None,
    progressbar: bool = True,
) -> scores.Scores:
    """Predict every fold from a fit to the others.

    Parameters
    ----------
    model : classifier
        Whose arguments every fit has; it is not changed.
    rows : covariates and classes
        As `fit` takes them.
    folds : int
    seed : int or None
        Of the folds and of the fits; None is 0, so that the folds are the same for all models.
    cores : int or None
        Of each fit.
    progressbar : bool

    Returns
    -------
    Scores
        Of all folds, or of those that were finished when Ctrl-C was pressed or could be fitted.
    """
    from thali._comparison.engine import run_comparison
    from thali._comparison.scorer import BASE

    state = vars(model).get("_state_")
    try:
        with warnings.catch_warnings():  # the error names both
            warnings.simplefilter("ignore", InterruptedWarning)
            warnings.simplefilter("ignore", IncompleteWarning)
            table = run_comparison(
                {"model": model},
                RowSplitter(rows),
                ClassScorer(),
                prepared={},
                settings={} if state is None else {"thin": state.run.thin},
                hold_out=None,
                folds=folds,
                # one fold after the other: the chains of each fit are at once, and their kernels
                # are loaded
                cores=1,
                cores_of_fit=cores,
                random_seed=seed or 0,
                progressbar=progressbar,
            )
    except KeyboardInterrupt:  # before the first fold was finished
        return scores.Scores(*np.zeros((5, 0)), folds=folds, seed=seed or 0, fault=STOPPED)
    except ArgumentError as error:
        return scores.Scores(*np.zeros((5, 0)), folds=folds, seed=seed or 0, fault=str(error))
    losses, hits = table.attrs["rows"], table.attrs["hits"]
    there = losses["model"].notna().to_numpy()
    missing = table.attrs["missing"]["why"]
    fault = STOPPED if table.attrs["interrupted"] else missing.iloc[0] if len(missing) else ""
    columns = (1.0 - hits["model"], losses["model"], 1.0 - hits[BASE], losses[BASE])
    fold, *costs = (column.to_numpy()[there] for column in (table.attrs["fold"], *columns))
    return scores.Scores(fold, *costs, folds=folds, seed=seed or 0, fault=fault)
