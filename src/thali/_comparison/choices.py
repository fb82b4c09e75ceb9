"""Choices and choice experiments: tasks, choices or respondents are left out, and their predictions
are scored."""

from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from thali._data.choices import Choices
from thali._data.choices.parts import of_choices
from thali._data.experiments import ChoiceExperiment
from thali._data.experiments.experiment import held_tasks
from thali._data.questions import Questions
from thali._data.scores import TIED, scores
from thali._digits import percent
from thali._inference.indexing import part_bounds
from thali._labels import plural
from thali._model.predictive_check import CHECKED
from thali._model.registry import spec_of
from thali.errors import DataError, Setting

from .scorer import BASE, DIFFERENCE, WORST, Scorer
from .splitter import USUAL, Evenly, Splitter, folds_wanted, not_both
from .table import ScoreTable

if TYPE_CHECKING:
    import pandas


class OfTasks(Splitter):
    """Data whose units are tasks; a part is a mask of them."""

    level = "respondent"
    tasks: Any  # the data, with the parts of a `ChoiceExperiment` that scores need

    def __init__(self, data: ChoiceExperiment) -> None:
        super().__init__(data)
        self.tasks = data

    @property
    def number_of_unit(self) -> np.ndarray:
        return np.arange(self.tasks.n_tasks)

    def labels(self, units: np.ndarray) -> "pandas.MultiIndex":
        import pandas as pd

        people = np.array(self.tasks.respondents)[self.tasks.respondent_of_task[units]]
        return pd.MultiIndex.from_arrays(
            [people, self.tasks.task_labels[units]], names=["respondent", "task"]
        )

    def observed(self) -> dict[str, np.ndarray]:
        return {"sizes": np.diff(self.tasks.first_row)}


class TaskSplitter(OfTasks):
    """Leaves out the last tasks of every respondent, or a random part of everybody's."""

    leave_out = "task"

    def parts(
        self, seed: np.random.SeedSequence, hold_out: int | None, folds: int | None
    ) -> list[np.ndarray]:
        not_both(hold_out, folds)
        rng = np.random.default_rng(seed.spawn(1)[0])
        counts = np.diff(self.tasks.first_task)
        if (counts < 2).any():
            person = self.tasks.respondents[int((counts < 2).argmax())]
            raise DataError(
                f"Respondent {person!r} has only one task; leaving out tasks requires at least two"
                " per respondent."
            )
        number = folds_wanted(folds, int(counts.max()), "tasks of a respondent")
        if number is None:
            return [
                held_tasks(
                    self.tasks,
                    max(1, int(counts.min()) // 4) if hold_out is None else hold_out,
                    None,
                )
            ]
        part = np.concatenate([rng.permutation(count) % number for count in counts])
        return [part == k for k in range(number)]


class RespondentSplitter(OfTasks):
    """Leaves out all tasks of some respondents."""

    leave_out = what = "respondent"

    @property
    def number_of_unit(self) -> np.ndarray:
        return self.tasks.respondent_of_task


class ChoicesOutOfSets(Evenly, OfTasks):
    """Leaves out random choices."""

    leave_out = what = "choice"
    alone = "has only one choice;"
    tasks: "ScoredOccasions"

    def __init__(self, data: Choices) -> None:
        Splitter.__init__(self, data)
        self.tasks = ScoredOccasions(data)
        self.knows_people: bool = self.tasks.knows_people

    @property
    def whole(self) -> Choices:
        return self.tasks.choices

    def train(self, part: np.ndarray) -> tuple[Choices]:
        return (self.tasks.take(~part).choices,)

    def test(self, part: np.ndarray) -> "ScoredOccasions":
        return self.tasks.take(part)


class Choosers(ChoicesOutOfSets):
    """Leaves out all choices of some respondents."""

    leave_out = what = "respondent"
    alone = "has only one respondent;"

    def __init__(self, data: Choices) -> None:
        super().__init__(data)
        if not self.knows_people:
            raise DataError(
                "The choices do not identify respondents; hold out choices instead, or read them"
                " again and name the column of respondents."
            )

    @property
    def number_of_unit(self) -> np.ndarray:
        return self.tasks.respondent_of_task


class QuestionSplitter(Evenly):
    """Leaves out random questions, a fifth of them by default; a part is a mask of questions, a
    unit an answer.

    Of the data `questions`, of which each row counts one answer, and `take` are needed, which takes
    some questions.
    """

    leave_out = what = level = "set"
    alone = "answered only one set:"
    usual: ClassVar[dict[str, int | None]] = USUAL
    places: np.ndarray  # of each answer
    set: np.ndarray

    def __init__(self, data: Any) -> None:
        super().__init__(data)
        self.asked = data.questions()
        if not np.array_equal(self.asked.counts, np.floor(self.asked.counts)):
            raise DataError(
                "compare leaves out whole answers, but these have fractional weights; give integer"
                " counts."
            )
        self.places = np.repeat(
            np.arange(len(self.asked.counts)), self.asked.counts.astype(np.int64)
        )
        self.set = self.asked.question[self.places]

    @property
    def number_of_unit(self) -> np.ndarray:
        return self.set

    @property
    def count(self) -> int:
        return len(self.asked.sizes)

    def part_of(self, numbers: np.ndarray) -> np.ndarray:
        return np.isin(np.arange(self.count), numbers)

    def observed(self) -> dict[str, np.ndarray]:
        return {"sizes": self.asked.sizes[self.set]}

    def units(self, part: np.ndarray) -> np.ndarray:
        return np.flatnonzero(part[self.set])

    def labels(self, units: np.ndarray) -> "pandas.MultiIndex":
        import pandas as pd

        rows = self.asked.rows
        row = rows.counted.tocsc().indices[self.places[units]]
        sides = {name: rows.names[name].astype(object)[row] for name in CHECKED[rows.kind].options}
        return pd.MultiIndex.from_arrays([self.set[units], *sides.values()], names=["set", *sides])


class ScoredOccasions:
    """The occasions of `Choices`, sorted by respondent, with the parts of a `ChoiceExperiment` that
    scores need.

    The alternatives of a best-worst choice are the ordered pairs (best, worst) of its set. Where
    respondents are not known, every occasion counts as one of its own.

    Parameters
    ----------
    data : Choices
        With whole counts.

    Raises
    ------
    DataError
        If counts are fractional.
    """

    data: "Choices"
    asked: Questions
    who: np.ndarray  # -1 if that is not known
    answer: np.ndarray
    set: np.ndarray
    knows_people: bool
    respondents: tuple[str, ...]
    respondent_of_task: np.ndarray

    def __init__(self, data: Choices) -> None:
        if not np.array_equal(data.times, np.floor(data.times)):
            raise DataError(
                "compare leaves out whole choices, but these have fractional weights; give integer"
                " counts."
            )
        if data.n_ties:
            raise DataError(
                "Held-out choices cannot be ties in rankings, but the data contain"
                f" {plural(data.n_ties, 'tie')}; compare with ",
                Setting("by", "evidence"),
                ".",
            )
        asked = data.questions()
        answer = np.flatnonzero(asked.counts)
        who, times = np.full(len(answer), -1), asked.counts[answer]
        if asked.given is not None:
            _, who, answer, times = asked.given
        rows = np.repeat(np.arange(len(answer)), times.astype(np.int64))
        self._fill(data, asked, who[rows], answer[rows])

    def _fill(
        self, data: Choices, asked: Questions, who: np.ndarray, answer: np.ndarray
    ) -> "ScoredOccasions":
        self.data, self.asked, self.who, self.answer = data, asked, who, answer
        self.set = asked.question[answer]
        self.knows_people = asked.given is not None
        if self.knows_people:
            there, self.respondent_of_task = np.unique(who, return_inverse=True)
            self.respondents = tuple(data.respondents[k] for k in there)
        else:
            self.respondents = tuple(str(number + 1) for number in range(len(answer)))
            self.respondent_of_task = np.arange(len(answer))
        return self

    @property
    def n_tasks(self) -> int:
        return len(self.answer)

    @property
    def n_respondents(self) -> int:
        return len(self.respondents)

    @property
    def first_task(self) -> np.ndarray:
        """Respondent n has the occasions first_task[n] to first_task[n + 1] - 1."""
        return part_bounds(np.bincount(self.respondent_of_task, minlength=self.n_respondents))

    @property
    def task_labels(self) -> np.ndarray:
        """Numbers within respondents."""
        return np.arange(self.n_tasks) - self.first_task[self.respondent_of_task] + 1

    @property
    def first_row(self) -> np.ndarray:
        """Occasion t has the alternatives first_row[t] to first_row[t + 1] - 1."""
        return part_bounds(self.asked.sizes[self.set])

    @property
    def n_alternatives(self) -> int:
        return int(self.first_row[-1])

    @property
    def chosen(self) -> np.ndarray:
        """Which of its alternatives was chosen in each occasion."""
        return self.answer - self.asked.start[self.set]

    def take(self, kept: np.ndarray) -> "ScoredOccasions":
        """Those occasions alone, and nothing else of them known."""
        rows = self.who[kept], self.answer[kept]
        return ScoredOccasions.__new__(ScoredOccasions)._fill(self.data, self.asked, *rows)

    @cached_property
    def choices(self) -> Choices:
        """The occasions as models take them; all options stay, whether they are still offered or
        not."""
        width = len(self.asked.counts)
        keys, times = np.unique(self.who.astype(np.int64) * width + self.answer, return_counts=True)
        who, answer = np.divmod(keys, width)
        return of_choices(self.data, who, *self.data.places_of(answer), times=times.astype(float))

    def log_predicted_by(self, model: Any) -> np.ndarray:
        """The ln of the probability of all choices of each respondent together, by a model of
        thali."""
        return np.asarray(model.log_predictive(self.choices).loc[list(self.respondents)])

    def predicted_by(self, model: Any) -> np.ndarray:
        """Probabilities of every alternative of every occasion, from those of the members of each
        set of `choices`."""
        found = [np.asarray(each, float) for each in model.predict_proba(self.choices)]
        sizes = self.choices.answers
        if [each.shape for each in found] != [(size,) for size in sizes]:
            raise DataError(
                "predict_proba must return, for each set, the probabilities of its members, or of"
                " the ordered pairs (best, worst)."
            )
        _, which = np.unique(self.set, return_inverse=True)
        return np.concatenate([found[v] for v in which])


# Scores of choices, people and triplets left out: the log of the probability of what was chosen,
# and hits


_ROUNDING = 1e-6  # by which probabilities of a task may miss 1
_MAX_NAMED = 4


class HitScorer(Scorer):
    """ln p of what was chosen out of several, and whether it was the most probable; guessing is the
    reference."""

    main: ClassVar[str] = "log_score"
    differences: ClassVar[dict[str, str]] = {"hit_rate": "hit_difference"}
    further: ClassVar[dict[str, str]] = {"hits": "hit_rate"}
    shown: ClassVar[tuple[str, ...]] = (
        *("log_score", "log_score_se", "hit_rate", "hit_rate_se", "difference", "difference_se"),
    )
    a_unit: ClassVar[str]

    def frames(self, found: ScoreTable) -> "dict[str, pandas.DataFrame]":
        log_score, hits, sizes = self.log_score(found), found.frame("hits"), found.observed("sizes")
        log_score[BASE], hits[BASE] = -np.log(sizes), 1.0 / sizes
        return {"log_score": log_score, "hit_rate": hits}

    def log_score(self, found: ScoreTable) -> Any:
        """The main score, of models alone."""
        return found.frame("log_score")

    def left_out(self, table: "pandas.DataFrame") -> str:
        """What was left out, in sentences."""
        return f"held-out {self.called}"

    def headline(self, table: "pandas.DataFrame", best: str) -> str:
        row, guessing = table.loc[best], table.loc[BASE, "log_score"]
        return (
            f"{best!r} predicts the {self.left_out(table)} best: log score {row['log_score']:.3f}"
            f" {self.a_unit} (guessing: {guessing:.3f}), {percent(row['hit_rate'], 1)} correct."
        )


class ChoiceScorer(HitScorer):
    """ln p(chosen) of every task, and whether the most probable alternative was chosen."""

    fields: ClassVar[dict[str, type[Any]]] = {"chosen": list, "hits": list, "seconds": float}
    units: ClassVar[str] = "tasks"
    unit: ClassVar[str] = "respondent"
    level: ClassVar[str | None] = "respondent"
    table: ClassVar[tuple[str, ...]] = (
        *("log_score", "difference", "difference_se", "log_score_se", "hit_rate", "hit_rate_se"),
        *("hit_difference", "hit_difference_se", "seconds", "tasks", "respondents"),
    )
    counted: ClassVar[str] = "tasks"
    called: ClassVar[str] = "choices"
    legend: ClassVar[str] = (
        "log score: mean log predicted probability of the choices, larger is better;"
        f" {DIFFERENCE}; standard errors are computed over {unit}s."
    )
    a_unit: ClassVar[str] = "per choice"

    def score_one(self, model: Any, test: Any) -> dict[str, Any]:
        is_experiment = isinstance(test, ChoiceExperiment)
        predicted = model.predict_proba(test) if is_experiment else test.predicted_by(model)
        chosen, hits = scores(checked(predicted, test), test)
        return {"chosen": chosen.tolist(), "hits": hits.tolist()}

    def log_score(self, found: ScoreTable) -> Any:
        with np.errstate(divide="ignore"):  # a probability of 0
            return np.log(found.frame("chosen"))

    def attrs(self, found: ScoreTable) -> dict[str, Any]:
        splitter = found.splitter
        unit = "respondent" if splitter.knows_people else "choice"
        return super().attrs(found) | {"leave_out": splitter.leave_out, "unit": unit}

    def left_out(self, table: "pandas.DataFrame") -> str:
        is_of_new = table.attrs["leave_out"] == "respondent"
        return "choices of new respondents" if is_of_new else super().left_out(table)

    def remarks(self, table: "pandas.DataFrame", ranked: list[str]) -> list[str]:
        return self.impossible(table, ranked, "{count:,} of the {n:,} observed choices")


class PeopleScorer(ChoiceScorer):
    """As of choices, and ln p of all that a person chose, shared out evenly over these choices."""

    fields: ClassVar[dict[str, type[Any]]] = {**ChoiceScorer.fields, "together": list}
    table: ClassVar[tuple[str, ...]] = (
        *ChoiceScorer.table,
        *("together", "together_se", "together_difference", "together_difference_se"),
    )
    shown: ClassVar[tuple[str, ...]] = (*ChoiceScorer.shown, "together", "together_se")
    legend: ClassVar[str] = (
        f"{ChoiceScorer.legend} together: joint log probability of all choices of a respondent,"
        " summed over respondents and divided by the number of choices."
    )

    def score_one(self, model: Any, test: ScoredOccasions) -> dict[str, Any]:
        found = super().score_one(model, test)
        if spec_of(model) is None:  # each choice as if another person had made it
            with np.errstate(divide="ignore"):
                of_people = np.bincount(
                    test.respondent_of_task, np.log(found["chosen"]), test.n_respondents
                )
        else:
            of_people = test.log_predicted_by(model)
        return found | {
            "together": (of_people / np.diff(test.first_task))[test.respondent_of_task].tolist()
        }

    def frames(self, found: ScoreTable) -> "dict[str, pandas.DataFrame]":
        frames = super().frames(found)
        together = found.frame("together")
        together[list(self.before)] = frames[self.main][list(self.before)]
        return frames | {"together": together}

    def every_column(self, found: ScoreTable) -> dict[str, Any]:
        difference, difference_se = found.differences_from(found.best_by("together"), "together")
        own = {"together_difference": difference, "together_difference_se": difference_se}
        return super().every_column(found) | own

    def attrs(self, found: ScoreTable) -> dict[str, Any]:
        return super().attrs(found) | {"together": found.frames["together"]}

    def remarks(self, table: "pandas.DataFrame", ranked: list[str]) -> list[str]:
        scores = table.loc[ranked, "together"].dropna().sort_values(ascending=False, kind="stable")
        best = f"{scores.index[0]!r} (log score {scores.iloc[0]:.3f} per choice)"
        less = [
            f"{name!r} is {-row['together_difference']:.3f} lower (standard error"
            f" {row['together_difference_se']:.3f})"
            for name, row in table.loc[scores.index[1:]].iterrows()
        ]
        sentence = "; ".join(
            [
                f"The choices of a respondent are jointly predicted best by {best}",
                *less[:_MAX_NAMED],
            ]
        )
        return [f"{sentence}.", *super().remarks(table, ranked)]


class AnswerScorer(HitScorer):
    """ln of the posterior mean probability of each answer, and whether it was the most probable one
    to its question; guessing is the reference."""

    fields: ClassVar[dict[str, type[Any]]] = {
        "log_score": list,
        "log_score_mcse": list,
        "hits": list,
        "seconds": float,
    }
    units: ClassVar[str] = "answers"
    unit: ClassVar[str] = "set"
    level: ClassVar[str | None] = "set"
    table: ClassVar[tuple[str, ...]] = (
        *(
            "log_score",
            "difference",
            "difference_se",
            "log_score_se",
            "log_score_mcse",
            "hit_rate",
            "hit_rate_se",
        ),
        *("seconds", "answers", "sets"),
    )
    counted: ClassVar[str] = "answers"
    shown: ClassVar[tuple[str, ...]] = (
        *HitScorer.shown[:2],
        "log_score_mcse",
        *HitScorer.shown[2:],
    )
    called: ClassVar[str] = "answers"
    legend: ClassVar[str] = (
        "log score: mean log predicted probability of the chosen pair, larger is better; hits:"
        f" share of answers that name the most probable pair; {DIFFERENCE}; standard errors are"
        " computed over sets. BASE: guessing."
    )
    a_unit: ClassVar[str] = "per answer"

    def score_one(self, model: Any, test: Any) -> dict[str, Any]:
        asked = test.questions()
        named = np.repeat(np.arange(len(asked.counts)), asked.counts.astype(np.int64))
        if spec_of(model) is None:  # of somebody else
            found = np.concatenate([np.asarray(each, float) for each in model.predict_proba(test)])
            errors = np.zeros(len(found))
        else:
            found, errors = (
                np.concatenate(each) for each in model.predict_proba(test, return_se=True)
            )
        is_best = (
            found >= np.repeat(np.maximum.reduceat(found, asked.start[:-1]), asked.sizes) - TIED
        )
        share = is_best / np.repeat(asked.summed(is_best.astype(float)), asked.sizes)
        with np.errstate(divide="ignore"):
            log_score = np.log(found[named])
        return {
            "log_score": log_score.tolist(),
            "log_score_mcse": (errors[named] / found[named]).tolist(),
            "hits": share[named].tolist(),
        }

    def frames(self, found: ScoreTable) -> "dict[str, pandas.DataFrame]":
        return super().frames(found) | {
            "log_score_mcse": found.frame("log_score_mcse").assign(**{BASE: 0.0})
        }

    def remarks(self, table: "pandas.DataFrame", ranked: list[str]) -> list[str]:
        scores = (
            table.attrs["answers"][table.attrs["best"]]
            .dropna()
            .sort_values(kind="stable")
            .head(WORST)
        )
        named = [
            f"{' and '.join(names)} (probability {np.exp(score):.2g})"
            for (_, *names), score in scores.items()
        ]
        return [f"Least expected by {table.attrs['best']}: {'; '.join(named)}."]


def checked(predicted: Any, test: ChoiceExperiment | ScoredOccasions) -> np.ndarray:
    """The predictions, if they are probabilities of the rows that sum to 1 in every task."""
    p = np.asarray(predicted, dtype=float)
    if p.shape != (test.n_alternatives,):
        raise DataError(
            f"predict_proba must return {plural(test.n_alternatives, 'number')}, one per row; got"
            f" shape {p.shape}."
        )
    sums = np.add.reduceat(p, test.first_row[:-1])
    if not (p >= 0).all() or np.abs(sums - 1.0).max() > _ROUNDING:
        raise DataError("predict_proba must return probabilities that sum to 1 in every task.")
    return p
