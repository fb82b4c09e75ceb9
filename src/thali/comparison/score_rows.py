"""Scores of left-out rows of a classification: log loss, accuracy and Brier score."""

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from thali.errors import DataError

from .scorer import BASE, Scorer
from .table import Scores

if TYPE_CHECKING:
    import pandas

_ROUNDING = 1e-6  # by which probabilities of a row may miss 1


class ClassScorer(Scorer):
    """-ln p(class), hits and Brier score of every row.

    The reference is what the classes of the other folds say without any covariates: their proportions, and the largest
    of them.
    """

    fields: ClassVar[dict[str, type[Any]]] = {"chosen": list, "hits": list, "brier": list, "seconds": float}
    main: ClassVar[str] = "log_loss"
    higher = False
    units: ClassVar[str] = "rows"
    unit: ClassVar[str] = "row"
    table: ClassVar[tuple[str, ...]] = (
        *("log_loss", "difference", "difference_se", "log_loss_se", "accuracy", "accuracy_se", "brier", "brier_se"),
        *("accuracy_difference", "accuracy_difference_se", "seconds", "rows"),
    )
    differences: ClassVar[dict[str, str]] = {"accuracy": "accuracy_difference"}
    counted: ClassVar[str] = "rows"
    kept: ClassVar[dict[str, str]] = {"hits": "accuracy", "brier": "brier"}
    shown: ClassVar[tuple[str, ...]] = (
        *("log_loss", "log_loss_se", "accuracy", "accuracy_se", "brier", "difference", "difference_se"),
    )
    called: ClassVar[str] = "rows"
    legend: ClassVar[str] = (
        "log loss: mean over rows of -ln of the predicted probability of the class, smaller is better; right: share of"
        " rows whose most probable class is theirs; Brier: mean squared distance of the probabilities from 0 and 1; to"
        " best: log loss minus that of the best model. BASE: the proportions of the classes, and the largest class, of"
        " the other rows."
    )

    def score_one(self, model: Any, test: Any) -> dict[str, Any]:
        covariates, truth, proportions = test
        p = np.asarray(model.predict_proba(covariates), dtype=float)
        if p.shape != (len(truth), len(proportions)):
            raise DataError(
                f"predict_proba must give a row for each of {len(truth):,} rows and a column for each of "
                f"{len(proportions):,} classes; got shape {p.shape}."
            )
        if not (p >= 0).all() or np.abs(p.sum(axis=1) - 1.0).max() > _ROUNDING:
            raise DataError("predict_proba must give probabilities that sum to 1 in every row.")
        return scores_of_rows(p, truth)

    def frames(self, found: Scores) -> "dict[str, pandas.DataFrame]":
        known = [found.splitter.test(part)[1:] for part in found.parts]
        base = [scores_of_rows(np.tile(proportions, (len(truth), 1)), truth) for truth, proportions in known]
        frames = {}
        for name, field in (("log_loss", "chosen"), ("accuracy", "hits"), ("brier", "brier")):
            frames[name] = found.frame(field)
            frames[name][BASE] = np.concatenate([each[field] for each in base])
        with np.errstate(divide="ignore"):  # a probability of 0
            frames["log_loss"] = -np.log(frames["log_loss"])
        return frames

    def attrs(self, found: Scores) -> dict[str, Any]:
        return super().attrs(found) | {"fold": found.part_of_unit()}

    def headline(self, table: "pandas.DataFrame", best: str) -> str:
        row, base = table.loc[best], table.loc[BASE]
        return (
            f"{best} predicts the rows left out best: log loss {row['log_loss']:.3f} (the class proportions have "
            f"{base['log_loss']:.3f}), {100 * row['accuracy']:.1f} % right (the largest class is "
            f"{100 * base['accuracy']:.1f} %)."
        )

    def remarks(self, table: "pandas.DataFrame", ranked: list[str]) -> list[str]:
        return self.impossible(table, ranked, "the class of {count:,} of the {n:,} rows")


def scores_of_rows(p: np.ndarray, truth: np.ndarray) -> dict[str, list[Any]]:
    r"""Of every row the probability of its class, whether that is the most probable one, and the Brier score.

    .. math:: \text{Brier} = \sum_k (p_k - 1\{y = k\})^2
    """
    is_class = np.arange(p.shape[1]) == truth[:, None]
    return {
        "chosen": p[is_class].tolist(),
        "hits": (p.argmax(axis=1) == truth).astype(float).tolist(),
        "brier": ((p - is_class) ** 2).sum(axis=1).tolist(),
    }
