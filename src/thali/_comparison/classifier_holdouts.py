"""Splitter and scorer of classifiers."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali._number_format import format_percent
from thali.errors import Argument, ArgumentError, DataError

from .score_table import ScoreTable
from .scorer import BASE, Scorer
from .splitter import Splitter

if TYPE_CHECKING:
    import pandas

    from thali._classify.classifier import Classifier


FOLDS = 5  # by default


class RowSplitter(Splitter):
    """Splitter that holds out stratified folds of rows; a part is a mask of rows.

    Parameters
    ----------
    data : (X, y)
        X is an array or data frame (n, d), y contains the label of each row.

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
        if hasattr(X, "tocsr"):
            X = X.tocsr()
        elif not self.is_frame:
            X = np.asarray(X)
        self.X: Any = X
        self.y = np.asarray(y)
        if self.y.ndim != 1 or self.X.shape[:1] != self.y.shape:
            raise DataError(
                f"X and y must have one row per observation; got shapes {self.X.shape} and"
                f" {self.y.shape}."
            )
        super().__init__((self.X, self.y))

    def list_parts(
        self, seed: np.random.SeedSequence, hold_out: int | None, folds: int | None
    ) -> list[np.ndarray]:
        """Return masks of held-out rows, one for each fold."""
        if hold_out is not None:
            raise ArgumentError(
                Argument("hold_out"),
                " does not apply to covariates and classes, because their rows are held out in"
                " folds; remove ",
                Argument("hold_out"),
                ".",
            )
        if folds is None:
            folds = FOLDS
        fold_of_row = assign_folds(self.y, folds, seed)
        return [fold_of_row == k for k in range(folds)]

    def select_training_data(self, part: np.ndarray) -> tuple[Any, np.ndarray]:
        """Return covariates and class labels of rows that are not held out."""
        return self.take_rows(~part), self.y[~part]

    def select_held_out_data(self, part: np.ndarray) -> tuple[Any, np.ndarray, np.ndarray]:
        """Return covariates and class codes of held-out rows, and class shares of the others."""
        classes, class_sizes = np.unique(self.y[~part], return_counts=True)
        return (
            self.take_rows(part),
            np.searchsorted(classes, self.y[part]),
            class_sizes / class_sizes.sum(),
        )

    def take_rows(self, is_taken: np.ndarray) -> Any:
        """Return the covariates of the rows in a mask."""
        row_indices = np.flatnonzero(is_taken)
        if self.is_frame:
            return self.X.iloc[row_indices]
        return self.X[row_indices]

    def build_unit_index(self, units: np.ndarray) -> "pandas.Index":
        """Return the row numbers as table index."""
        import pandas as pd

        return pd.Index(units, name="row")


def assign_folds(labels: np.ndarray, folds: int, seed: np.random.SeedSequence) -> np.ndarray:
    """Return each row's fold; each class is spread evenly over folds.

    Examples
    --------
    >>> np.bincount(assign_folds(np.repeat(["a", "b"], [7, 2]), 3, seed=0)).tolist()
    [3, 3, 3]
    """
    max_folds = count_foldable_rows(labels)
    is_integer = isinstance(folds, int | np.integer) and not isinstance(folds, bool)
    if not is_integer or not 2 <= folds <= max_folds:
        raise ArgumentError(
            Argument("folds"),
            f" must be from 2 to {max_folds:,} (the number of rows in classes with at least two"
            f" members); got {folds!r}.",
        )
    _, class_codes, class_sizes = np.unique(labels, return_inverse=True, return_counts=True)
    has_classmate = class_sizes[class_codes] > 1
    rng = np.random.default_rng(seed)
    # Rows are dealt like cards, class after class, so the sizes of folds differ by at most one,
    # also within classes.
    shuffled_rows = [
        rng.permutation(np.flatnonzero((class_codes == k) & has_classmate))
        for k in range(len(class_sizes))
    ]
    fold_of_row = np.full(len(class_codes), -1)
    fold_of_row[np.concatenate(shuffled_rows)] = np.arange(has_classmate.sum()) % folds
    return fold_of_row


def count_foldable_rows(labels: np.ndarray) -> int:
    """Count the rows whose class has at least two rows."""
    class_sizes = np.unique(labels, return_counts=True)[1]
    return int(class_sizes[class_sizes > 1].sum())


# Scores of held-out rows: log loss, accuracy and Brier score --------------------------------------


_ROUNDING = 1e-6  # tolerance for sums of probabilities of a row


class ClassScorer(Scorer):
    """Scores each row by -ln P(class), hit and Brier score.

    The reference predicts the class proportions of the other folds, or their largest class.
    """

    main = "log_loss"
    higher = False
    units = "rows"
    unit = "row"
    table = (
        "log_loss",
        "difference",
        "difference_se",
        "log_loss_se",
        "accuracy",
        "accuracy_se",
        "brier",
        "brier_se",
        "accuracy_difference",
        "accuracy_difference_se",
        "seconds",
        "rows",
    )
    differences = {"accuracy": "accuracy_difference"}
    counted = "rows"
    extra_frames = {"hits": "accuracy", "brier": "brier"}
    shown = (
        "log_loss",
        "log_loss_se",
        "accuracy",
        "accuracy_se",
        "brier",
        "difference",
        "difference_se",
    )
    called = "rows"
    legend = (
        "log loss: mean -ln predicted probability of the class, smaller is better; accuracy: share"
        " of rows whose class is the most probable one; Brier: mean squared distance of the"
        " probabilities from 0 and 1; to best: log loss minus that of the best model. BASE: class"
        " proportions, and the largest class, of the other rows."
    )

    def score(self, model: "Classifier", test: Any) -> dict[str, Any]:
        """Return probability of the class, hit and Brier score of each row."""
        covariates, true_codes, class_shares = test
        probabilities = np.asarray(model.predict_proba(covariates), float)
        if probabilities.shape != (len(true_codes), len(class_shares)):
            raise DataError(
                f"predict_proba must return one row for each of {len(true_codes):,} rows and one"
                f" column for each of {len(class_shares):,} classes; got shape"
                f" {probabilities.shape}."
            )
        if (
            not (probabilities >= 0).all()
            or np.abs(probabilities.sum(axis=1) - 1.0).max() > _ROUNDING
        ):
            raise DataError("predict_proba must return probabilities that sum to 1 in every row.")
        return score_rows(probabilities, true_codes)

    def build_score_frames(self, score_table: ScoreTable) -> "dict[str, pandas.DataFrame]":
        """Return the scores of all rows by models and by class shares."""
        base_scores = []
        for part in score_table.parts:
            _, true_codes, class_shares = score_table.splitter.select_held_out_data(part)
            base_scores.append(score_rows(np.tile(class_shares, (len(true_codes), 1)), true_codes))
        frames = {}
        for frame_name, field in (("log_loss", "chosen"), ("accuracy", "hits"), ("brier", "brier")):
            frames[frame_name] = score_table.build_score_frame(field)
            frames[frame_name][BASE] = np.concatenate([scores[field] for scores in base_scores])
        with np.errstate(divide="ignore"):  # a probability of 0
            frames["log_loss"] = -np.log(frames["log_loss"])
        return frames

    def build_attrs(self, score_table: ScoreTable) -> dict[str, Any]:
        """Return the table's attrs, with the fold of each row."""
        return super().build_attrs(score_table) | {"fold": score_table.list_part_indices()}

    def write_headline(self, table: "pandas.DataFrame", best: str) -> str:
        """Return the sentence on log loss and hits of the best model."""
        best_row = table.loc[best]
        guessing_row = table.loc[BASE]
        return (
            f"{best!r} predicts held-out rows best: log loss {best_row['log_loss']:.3f} (class"
            f" proportions: {guessing_row['log_loss']:.3f}),"
            f" {format_percent(best_row['accuracy'], 1)} correct (largest class:"
            f" {format_percent(guessing_row['accuracy'], 1)})."
        )

    def write_remarks(self, table: "pandas.DataFrame", ranked: list[str]) -> list[str]:
        """Return sentences on models that gave an observed class probability 0."""
        return self.describe_impossible(
            table, ranked, "the observed class of {count:,} of the {n:,} rows"
        )


def score_rows(p: np.ndarray, true_codes: np.ndarray) -> dict[str, list[Any]]:
    r"""Return P(true class), hit and Brier score of each row.

    .. math:: \text{Brier} = \sum_k (p_k - 1\{y = k\})^2
    """
    is_true_class = np.arange(p.shape[1]) == true_codes[:, None]
    return {
        "chosen": p[is_true_class].tolist(),
        "hits": (p.argmax(axis=1) == true_codes).astype(float).tolist(),
        "brier": ((p - is_true_class) ** 2).sum(axis=1).tolist(),
    }
