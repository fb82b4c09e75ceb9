"""How well a classifier predicts rows that it has not seen, beside what is known without any covariates."""

import warnings
from typing import Any

import numpy as np

from thali.classify.scores import STOPPED, Scores
from thali.errors import Argument, ArgumentError, IncompleteWarning, InterruptedWarning


def check_folds(labels: np.ndarray, folds: int) -> None:
    """Raise an ArgumentError unless rows can be left out in so many folds, or there are to be none."""
    from .rows import max_folds

    most = max_folds(labels)
    if folds and not 2 <= folds <= most:
        raise ArgumentError(
            Argument("folds"),
            f" must be 2 to {most:,} (the rows of classes with two members or more), or 0 for no"
            f" cross-validation; got {folds}.",
        )


def cross_validate(
    model: Any, rows: tuple[Any, Any], folds: int, seed: int | None, cores: int | None = None, progressbar: bool = True
) -> Scores:
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
    from thali.comparison.engine import run_comparison
    from thali.comparison.scorer import BASE

    from .rows import ClassScorer, Rows

    try:
        with warnings.catch_warnings():  # the error names both
            warnings.simplefilter("ignore", InterruptedWarning)
            warnings.simplefilter("ignore", IncompleteWarning)
            table = run_comparison(
                {"model": model},
                Rows(rows),
                ClassScorer(),
                prepared={},
                settings={},
                hold_out=None,
                folds=folds,
                cores=1,  # one fold after the other: the chains of each fit are at once, and their kernels are loaded
                cores_of_fit=cores,
                random_seed=seed or 0,
                progressbar=progressbar,
            )
    except KeyboardInterrupt:  # before the first fold was finished
        return Scores(*np.zeros((5, 0)), folds=folds, seed=seed or 0, fault=STOPPED)
    except ArgumentError as error:
        return Scores(*np.zeros((5, 0)), folds=folds, seed=seed or 0, fault=str(error))
    losses, hits = table.attrs["rows"], table.attrs["hits"]
    there = losses["model"].notna().to_numpy()
    missing = table.attrs["missing"]["why"]
    fault = STOPPED if table.attrs["interrupted"] else missing.iloc[0] if len(missing) else ""
    columns = (1.0 - hits["model"], losses["model"], 1.0 - hits[BASE], losses[BASE])
    fold, *costs = (column.to_numpy()[there] for column in (table.attrs["fold"], *columns))
    return Scores(fold, *costs, folds=folds, seed=seed or 0, fault=fault)
