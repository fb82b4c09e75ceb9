"""How well a classifier predicts rows that it has not seen, beside what is known without any covariates."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali.errors import ArgumentError, ThaliError

if TYPE_CHECKING:
    import pandas

    from thali.cli.covariates import Observations

STOPPED = "stopped by Ctrl-C"


class Scores(NamedTuple):
    """What each left-out row cost, under the model and under the class frequencies of the other folds."""

    fold: np.ndarray
    errors: np.ndarray  # whether the most probable class was wrong
    losses: np.ndarray  # -ln probability of the class
    base_errors: np.ndarray
    base_losses: np.ndarray
    folds: int  # that were asked for
    fault: str = ""  # why not all of them were finished

    @property
    def done(self) -> int:
        """Folds that were finished."""
        return len(np.unique(self.fold))

    def table(self) -> "pandas.DataFrame":
        """Means of each fold, one row a fold."""
        import pandas as pd

        columns = {
            "error_rate": self.errors,
            "majority_error_rate": self.base_errors,
            "log_loss": self.losses,
            "proportions_log_loss": self.base_losses,
        }
        table = pd.DataFrame({"fold": self.fold, "rows": 1, **columns})
        return table.groupby("fold").agg({"rows": "sum"} | dict.fromkeys(columns, "mean"))


def fold_of_rows(labels: np.ndarray, folds: int, seed: int) -> np.ndarray:
    """A fold for each row, every class spread over them as evenly as can be.

    Parameters
    ----------
    labels : array (n,)
    folds : int
        2 or more, and no more than there are rows.
    seed : int

    Returns
    -------
    array of int (n,)
        0 to folds - 1; -1 for the only row of a class, which is never left out, because nothing else tells of it.

    Raises
    ------
    ArgumentError
        If there cannot be so many folds.

    Example
    -------
    >>> np.bincount(fold_of_rows(np.repeat(["a", "b"], [7, 2]), 3, seed=0)).tolist()
    [3, 3, 3]
    """
    codes, counts = np.unique(labels, return_inverse=True, return_counts=True)[1:]
    shared = counts[codes] > 1
    if not 2 <= folds <= shared.sum():
        raise ArgumentError(
            f"`--folds` must be 2 to {shared.sum():,} (the rows of classes with two members or more), or 0 for no"
            f" cross-validation; got {folds}."
        )
    rng = np.random.default_rng(seed)
    # Rows dealt like cards, class after class: neither folds nor classes in folds differ in size by more than one.
    order = [rng.permutation(np.flatnonzero((codes == k) & shared)) for k in range(len(counts))]
    fold = np.full(len(codes), -1)
    fold[np.concatenate(order)] = np.arange(shared.sum()) % folds
    return fold


def cross_validate(model: Any, data: "Observations", folds: int, seed: int | None, progressbar: bool = True) -> Scores:
    """Predict every fold from a fit to the others.

    Parameters
    ----------
    model : classifier
        Whose arguments every fit has; it is not changed.
    data : Observations
    folds : int
    seed : int or None
        Of the folds (None is 0) and of the fits (None is a fresh one).
    progressbar : bool

    Returns
    -------
    Scores
        Of all folds, or of those that were finished when Ctrl-C was pressed or one could not be fitted.
    """
    from thali._quiet import quietly
    from thali.progress import Progress

    fold = fold_of_rows(data.labels, folds, seed or 0)
    seeds = np.random.SeedSequence(seed).spawn(folds)
    parts, fault = [], ""
    with Progress(progressbar, "cross-validation", folds, unit="folds") as progress, quietly():
        try:
            for number in range(folds):
                own = model.get_params() | {"progressbar": False, "random_seed": seeds[number]}
                part = _score_fold(type(model)(**own), data, fold == number)
                parts.append((np.full(len(part[0]), number), *part))
                progress.update(number + 1)
        except KeyboardInterrupt:
            fault = STOPPED
        except ThaliError as error:
            fault = str(error)
    columns = zip(*parts, strict=True) if parts else [()] * 5
    fold, *costs = (np.concatenate([*column, []]) for column in columns)
    return Scores(fold.astype(int), *costs, folds=folds, fault=fault)


def _score_fold(model: Any, data: "Observations", left_out: np.ndarray) -> tuple[np.ndarray, ...]:
    """Errors and losses of the rows left out, of the model and of the class frequencies."""
    train, test = data.covariates[~left_out], data.covariates[left_out]
    if getattr(model, "transform", "") is not None:  # what does not vary cannot be standardised, and tells nothing
        varies = train.min() < train.max()
        train, test = train.loc[:, varies], test.loc[:, varies]
    model.fit(train, data.labels[~left_out])
    if getattr(model, "interrupted_", False):
        raise KeyboardInterrupt
    known, seen = np.unique(data.labels[~left_out], return_inverse=True)
    truth = np.searchsorted(known, data.labels[left_out])
    frequencies = np.bincount(seen) / len(seen)
    probabilities = model.predict_proba(test)
    rows = np.arange(len(truth))
    with np.errstate(divide="ignore"):
        losses = -np.log(probabilities[rows, truth])
    wrong = probabilities.argmax(axis=1) != truth
    return wrong, losses, frequencies.argmax() != truth, -np.log(frequencies[truth])
