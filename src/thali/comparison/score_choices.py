"""Scores of left-out choices: the log of the probability of what was chosen, and hits."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from thali._labels import plural
from thali.data.experiment import ChoiceExperiment
from thali.errors import DataError

from .occasions import Occasions
from .scorer import BASE, Scorer
from .table import Scores

if TYPE_CHECKING:
    import pandas

_ROUNDING = 1e-6  # by which probabilities of a task may miss 1
_TIED = 1e-12


class ChoiceScorer(Scorer):
    """ln p(chosen) of every task, and whether the most probable alternative was chosen; guessing is the reference."""

    fields: ClassVar[dict[str, type[Any]]] = {"chosen": list, "hits": list, "seconds": float}
    main: ClassVar[str] = "log_score"
    units: ClassVar[str] = "tasks"
    unit: ClassVar[str] = "respondent"

    def score_one(self, model: Any, test: Any) -> dict[Any, Any]:
        is_experiment = isinstance(test, ChoiceExperiment)
        predicted = model.predict_proba(test) if is_experiment else test.predicted_by(model)
        chosen, hits = scores(checked(predicted, test), test)
        return {"chosen": chosen.tolist(), "hits": hits.tolist()}

    def frames(self, found: Scores) -> dict[str, Any]:
        with np.errstate(divide="ignore"):  # a probability of 0
            log_score, hits = np.log(found.frame("chosen")), found.frame("hits")
        sizes = found.observed("sizes")
        log_score[BASE], hits[BASE] = -np.log(sizes), 1.0 / sizes
        return {"log_score": log_score, "hits": hits}

    def columns(self, found: Scores) -> dict[str, Any]:
        log_score, log_score_se = found.means("log_score")
        difference, difference_se = found.differences("log_score")
        columns = {"log_score": log_score, "difference": difference, "difference_se": difference_se}
        columns["log_score_se"] = log_score_se
        columns["hit_rate"], columns["hit_rate_se"] = found.means("hits")
        columns["hit_difference"], columns["hit_difference_se"] = found.differences("hits")
        index = found.counted("log_score").index
        people = index.get_level_values("respondent").nunique()
        return columns | {"seconds": found.seconds(), "tasks": len(index), "respondents": people}

    def attrs(self, found: Scores) -> dict[str, Any]:
        splitter = found.splitter
        unit = "respondent" if splitter.told_apart else "choice"
        return {"hits": found.frames["hits"], "leave_out": splitter.leave_out, "unit": unit}

    def groups(self, index: "pandas.Index") -> Iterable[Any] | None:
        return index.get_level_values("respondent")

    def headline(self, table: Any, best: str) -> str:
        what = "choices of new respondents" if table.attrs["leave_out"] == "respondent" else "choices left out"
        row = table.loc[best]
        return (
            f"{best} predicts the {what} best: log score {row['log_score']:.3f} a choice (guessing has "
            f"{table.loc[BASE, 'log_score']:.3f}), {100 * row['hit_rate']:.1f} % hits."
        )

    def remarks(self, table: Any, ranked: list[str]) -> list[str]:
        log_scores = table.attrs["tasks"][ranked].dropna()
        zeros = {name: int(np.isneginf(log_scores[name]).sum()) for name in ranked}
        return [
            f"{name} gave probability 0 to {count:,} of the {len(log_scores):,} choices made."
            for name, count in zeros.items()
            if count
        ]


def checked(predicted: Any, test: ChoiceExperiment | Occasions) -> np.ndarray:
    """The predictions, if they are probabilities of the rows that sum to 1 in every task."""
    p = np.asarray(predicted, dtype=float)
    if p.shape != (test.n_alternatives,):
        raise DataError(
            f"predict_proba must give {plural(test.n_alternatives, 'number')}, one a row; got shape {p.shape}."
        )
    sums = np.add.reduceat(p, test.first_row[:-1])
    if not (p >= 0).all() or np.abs(sums - 1.0).max() > _ROUNDING:
        raise DataError("predict_proba must give probabilities that sum to 1 in every task.")
    return p


def scores(p: np.ndarray, test: ChoiceExperiment | Occasions) -> tuple[np.ndarray, np.ndarray]:
    r"""Of every task the probability of what was chosen, and whether it is a hit.

    A hit is a choice of the most probable alternative; of m that are equally probable, 1/m of a hit.

    Parameters
    ----------
    p : array (rows,)
    test : ChoiceExperiment or Occasions

    Returns
    -------
    chosen, hits : arrays (n_tasks,)
    """
    starts = test.first_row[:-1]
    chosen = p[starts + test.chosen]
    top = np.maximum.reduceat(p, starts)
    tied = np.add.reduceat((p >= np.repeat(top, np.diff(test.first_row)) - _TIED).astype(float), starts)
    return chosen, (chosen >= top - _TIED) / tied
