"""Scores of choices, people and triplets left out: the log of the probability of what was chosen, and hits."""

from typing import Any, ClassVar

import numpy as np

from thali._labels import plural
from thali.data.experiments import ChoiceExperiment
from thali.errors import DataError
from thali.model.registry import spec_of

from .leave_tasks import Occasions
from .scorer import BASE, DIFFERENCE, WORST, Scorer
from .table import Scores

_ROUNDING = 1e-6  # by which probabilities of a task may miss 1
_TIED = 1e-12
_MAX_NAMED = 4


class HitScorer(Scorer):
    """ln p of what was chosen out of several, and whether it was the most probable; guessing is the reference."""

    main = "log_score"
    differences: ClassVar[dict[str, str]] = {"hit_rate": "hit_difference"}
    kept: ClassVar[dict[str, str]] = {"hits": "hit_rate"}
    shown = ("log_score", "log_score_se", "hit_rate", "hit_rate_se", "difference", "difference_se")
    a_unit: ClassVar[str]

    def frames(self, found: Scores) -> dict[str, Any]:
        log_score, hits, sizes = self.log_score(found), found.frame("hits"), found.observed("sizes")
        log_score[BASE], hits[BASE] = -np.log(sizes), 1.0 / sizes
        return {"log_score": log_score, "hit_rate": hits}

    def log_score(self, found: Scores) -> Any:
        """The main score, of models alone."""
        return found.frame("log_score")

    def left_out(self, table: Any) -> str:
        """What was left out, in sentences."""
        return f"{self.called} left out"

    def headline(self, table: Any, best: str) -> str:
        row, guessing = table.loc[best], table.loc[BASE, "log_score"]
        return (
            f"{best} predicts the {self.left_out(table)} best: log score {row['log_score']:.3f} {self.a_unit} "
            f"(guessing has {guessing:.3f}), {100 * row['hit_rate']:.1f} % hits."
        )


class ChoiceScorer(HitScorer):
    """ln p(chosen) of every task, and whether the most probable alternative was chosen."""

    fields: ClassVar[dict[str, type[Any]]] = {"chosen": list, "hits": list, "seconds": float}
    units = "tasks"
    unit = "respondent"
    level = "respondent"
    table = (
        *("log_score", "difference", "difference_se", "log_score_se", "hit_rate", "hit_rate_se"),
        *("hit_difference", "hit_difference_se", "seconds", "tasks", "respondents"),
    )
    counted = "tasks"
    called = "choices"
    legend = (
        f"log score: mean over choices of the log of the predicted probability, larger is better; {DIFFERENCE};"
        " standard errors are over {unit}s."
    )
    a_unit = "a choice"

    def score_one(self, model: Any, test: Any) -> dict[Any, Any]:
        is_experiment = isinstance(test, ChoiceExperiment)
        predicted = model.predict_proba(test) if is_experiment else test.predicted_by(model)
        chosen, hits = scores(checked(predicted, test), test)
        return {"chosen": chosen.tolist(), "hits": hits.tolist()}

    def log_score(self, found: Scores) -> Any:
        with np.errstate(divide="ignore"):  # a probability of 0
            return np.log(found.frame("chosen"))

    def attrs(self, found: Scores) -> dict[str, Any]:
        splitter = found.splitter
        unit = "respondent" if splitter.knows_people else "choice"
        return super().attrs(found) | {"leave_out": splitter.leave_out, "unit": unit}

    def left_out(self, table: Any) -> str:
        is_of_new = table.attrs["leave_out"] == "respondent"
        return "choices of new respondents" if is_of_new else super().left_out(table)

    def remarks(self, table: Any, ranked: list[str]) -> list[str]:
        return self.impossible(table, ranked, "{count:,} of the {n:,} choices made")


class PeopleScorer(ChoiceScorer):
    """As of choices, and ln p of all that a person chose, shared out evenly over these choices."""

    fields: ClassVar[dict[str, type[Any]]] = {**ChoiceScorer.fields, "together": list}
    table = (
        *ChoiceScorer.table,
        *("together", "together_se", "together_difference", "together_difference_se"),
    )
    shown = (*ChoiceScorer.shown, "together", "together_se")
    legend = (
        f"{ChoiceScorer.legend} together: log of the probability of all choices of a person together, summed over"
        " people and divided by the number of choices."
    )

    def score_one(self, model: Any, test: Occasions) -> dict[Any, Any]:
        found = super().score_one(model, test)
        if spec_of(model) is None:  # each choice as if another person had made it
            with np.errstate(divide="ignore"):
                of_people = np.bincount(test.respondent_of_task, np.log(found["chosen"]), test.n_respondents)
        else:
            of_people = test.log_predicted_by(model)
        return found | {"together": (of_people / np.diff(test.first_task))[test.respondent_of_task].tolist()}

    def frames(self, found: Scores) -> dict[str, Any]:
        frames = super().frames(found)
        together = found.frame("together")
        together[list(self.before)] = frames[self.main][list(self.before)]
        return frames | {"together": together}

    def every_column(self, found: Scores) -> dict[str, Any]:
        difference, difference_se = found.differences_from(found.best_by("together"), "together")
        own = {"together_difference": difference, "together_difference_se": difference_se}
        return super().every_column(found) | own

    def attrs(self, found: Scores) -> dict[str, Any]:
        return super().attrs(found) | {"together": found.frames["together"]}

    def remarks(self, table: Any, ranked: list[str]) -> list[str]:
        scores = table.loc[ranked, "together"].dropna().sort_values(ascending=False, kind="stable")
        best = f"{scores.index[0]}: {scores.iloc[0]:.3f} a choice"
        less = [
            f"{name} {-row['together_difference']:.3f} less (standard error {row['together_difference_se']:.3f})"
            for name, row in table.loc[scores.index[1:]].iterrows()
        ]
        sentence = "; ".join([f"All choices of a person together are predicted best by {best}", *less[:_MAX_NAMED]])
        return [f"{sentence}.", *super().remarks(table, ranked)]


class TripletScorer(HitScorer):
    """ln of the posterior mean probability of the pair that was named, and whether it was the most probable of its set;
    guessing is the reference."""

    fields: ClassVar[dict[str, type[Any]]] = {"log_score": list, "log_score_mcse": list, "hits": list, "seconds": float}
    units = "answers"
    unit = "set"
    level = "set"
    table = (
        *("log_score", "difference", "difference_se", "log_score_se", "log_score_mcse", "hit_rate", "hit_rate_se"),
        *("seconds", "answers", "sets"),
    )
    counted = "answers"
    shown = (*HitScorer.shown[:2], "log_score_mcse", *HitScorer.shown[2:])
    called = "answers"
    legend = (
        "log score: mean over answers of the log of the predicted probability of the pair named, larger is better;"
        f" hits: share of answers that name the most probable pair; {DIFFERENCE}; standard errors are over sets. BASE:"
        " guessing."
    )
    a_unit = "an answer"

    def score_one(self, model: Any, test: Any) -> dict[Any, Any]:
        named = np.repeat(np.arange(len(test.counts)), test.counts.astype(np.int64))
        if spec_of(model) is None:  # of somebody else
            found = np.concatenate([np.asarray(each, float) for each in model.predict_proba(test)])
            errors = np.zeros(len(found))
        else:
            found, errors = (np.concatenate(each) for each in model.predict_proba(test, return_se=True))
        best = np.repeat(np.maximum.reduceat(found, test.start[:-1]), test.sizes)
        is_best = found >= best - _TIED
        share = is_best / np.repeat(np.add.reduceat(is_best.astype(float), test.start[:-1]), test.sizes)
        with np.errstate(divide="ignore"):
            log_score = np.log(found[named])
        return {
            "log_score": log_score.tolist(),
            "log_score_mcse": (errors[named] / found[named]).tolist(),
            "hits": share[named].tolist(),
        }

    def frames(self, found: Scores) -> dict[str, Any]:
        return super().frames(found) | {"log_score_mcse": found.frame("log_score_mcse").assign(**{BASE: 0.0})}

    def remarks(self, table: Any, ranked: list[str]) -> list[str]:
        scores = table.attrs["answers"][table.attrs["best"]].dropna().sort_values(kind="stable").head(WORST)
        named = [f"{a} and {b} (probability {np.exp(score):.2g})" for (_, a, b), score in scores.items()]
        return [f"Least expected by {table.attrs['best']}: {'; '.join(named)}."]


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
    """
    starts = test.first_row[:-1]
    chosen = p[starts + test.chosen]
    top = np.maximum.reduceat(p, starts)
    tied = np.add.reduceat((p >= np.repeat(top, np.diff(test.first_row)) - _TIED).astype(float), starts)
    return chosen, (chosen >= top - _TIED) / tied
