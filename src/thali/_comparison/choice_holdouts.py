"""Splitters and scorers of choice data: tasks, respondents, choices, questions."""

from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from thali._data.choices import Choices
from thali._data.choices.data_subsets import select_choices
from thali._data.experiments import ChoiceExperiment
from thali._data.experiments.experiment import select_held_tasks
from thali._data.number_checks import are_integers
from thali._data.prediction_scores import TIE_TOLERANCE, score_choices
from thali._data.questions import Questions
from thali._inference.index_arithmetic import find_first, part_bounds, repeat_indices, sum_parts
from thali._labels import format_plural
from thali._model.predictive_check import CHECKED
from thali._model.registry import find_spec
from thali._number_format import format_percent
from thali.errors import DataError, Setting

from .score_table import ScoreTable
from .scorer import BASE, DIFFERENCE, WORST, Scorer
from .splitter import USUAL, Splitter, check_n_folds, refuse_both

if TYPE_CHECKING:
    import pandas


class TaskDataSplitter(Splitter):
    """Base class of splitters of tasks; a part is a bool mask of tasks."""

    tasks: Any  # the data, with the attributes of a `ChoiceExperiment` that scores need

    def __init__(self, data: Any) -> None:
        super().__init__(data)
        self.tasks = data

    @property
    def block_of_unit(self) -> np.ndarray:
        """Number of each task: a task is its own block."""
        return np.arange(self.tasks.n_tasks)

    def build_unit_index(self, units: np.ndarray) -> "pandas.MultiIndex":
        """Return respondent and task of each held-out task, as table index."""
        import pandas as pd

        respondents = np.array(self.tasks.respondents)[self.tasks.respondent_of_task[units]]
        return pd.MultiIndex.from_arrays(
            [respondents, self.tasks.task_labels[units]], names=["respondent", "task"]
        )

    def get_observed(self) -> dict[str, np.ndarray]:
        """Return "sizes": the number of alternatives of each task."""
        return {"sizes": np.diff(self.tasks.first_row)}


class TaskSplitter(TaskDataSplitter):
    """Splitter that holds out the last tasks of every respondent, or random folds of tasks."""

    leave_out = "task"

    def list_parts(
        self, seed: np.random.SeedSequence, hold_out: int | None, folds: int | None
    ) -> list[np.ndarray]:
        """Return masks of held-out tasks, one for each part."""
        refuse_both(hold_out, folds)
        rng = np.random.default_rng(seed.spawn(1)[0])
        n_tasks = np.diff(self.tasks.first_task)
        if (k := find_first(n_tasks < 2)) is not None:
            raise DataError(
                f"Respondent {self.tasks.respondents[k]!r} has only one task; leaving out tasks"
                " requires at least two per respondent."
            )
        n_folds = check_n_folds(folds, int(n_tasks.max()), "tasks of a respondent")
        if n_folds is None:
            if hold_out is None:
                hold_out = max(1, int(n_tasks.min()) // 4)
            return [select_held_tasks(self.tasks, hold_out, None)]
        fold_of_task = np.concatenate([rng.permutation(count) % n_folds for count in n_tasks])
        return [fold_of_task == k for k in range(n_folds)]


class RespondentSplitter(TaskDataSplitter):
    """Splitter that holds out all tasks of some respondents."""

    leave_out = block_noun = "respondent"

    @property
    def block_of_unit(self) -> np.ndarray:
        """Number of the respondent of each task."""
        return self.tasks.respondent_of_task


class ChoiceSplitter(TaskDataSplitter):
    """Splitter that holds out random choices of `Choices`."""

    leave_out = block_noun = "choice"
    tasks: "ScoredOccasions"

    def __init__(self, data: Any) -> None:
        Splitter.__init__(self, data)
        self.tasks = ScoredOccasions.from_choices(data)
        self.knows_people: bool = self.tasks.knows_people

    def select_training_data(self, part: np.ndarray) -> tuple[Choices]:
        """Return the choices that are not held out, as arguments of `fit`."""
        return (self.tasks.take(~part).choices,)

    def select_held_out_data(self, part: np.ndarray) -> "ScoredOccasions":
        """Return the held-out occasions."""
        return self.tasks.take(part)


class ChooserSplitter(ChoiceSplitter):
    """Splitter that holds out all choices of some respondents."""

    leave_out = block_noun = "respondent"

    def __init__(self, data: Any) -> None:
        super().__init__(data)
        if not self.knows_people:
            raise DataError(
                "The choices carry no respondent identifiers, so respondents cannot be held out;"
                " hold out choices instead, or read the data again and name the respondent column."
            )

    @property
    def block_of_unit(self) -> np.ndarray:
        """Number of the respondent of each occasion."""
        return self.tasks.respondent_of_task


class QuestionSplitter(Splitter):
    """Splitter that holds out random questions, with all their answers.

    The default is a fifth of the questions. The data need `questions`, whose rows count answers,
    and `take`, which selects questions.
    """

    leave_out = block_noun = "set"
    default_run = USUAL
    places: np.ndarray  # the row of each answer in the questions
    set: np.ndarray

    def __init__(self, data: Any) -> None:
        super().__init__(data)
        self.questions = data.questions()
        _refuse_fractions(self.questions.counts, "answers")
        self.places = _repeat_answers(self.questions.counts)
        self.set = self.questions.question[self.places]

    @property
    def block_of_unit(self) -> np.ndarray:
        """Number of the question of each answer."""
        return self.set

    @property
    def count(self) -> int:
        """Number of questions."""
        return len(self.questions.sizes)

    def build_part(self, blocks: np.ndarray) -> np.ndarray:
        """Return the mask of questions to hold out."""
        return np.isin(np.arange(self.count), blocks)

    def get_observed(self) -> dict[str, np.ndarray]:
        """Return "sizes": the number of possible answers to each answer's question."""
        return {"sizes": self.questions.sizes[self.set]}

    def list_units(self, part: np.ndarray) -> np.ndarray:
        """Return the indices of answers to held-out questions."""
        return np.flatnonzero(part[self.set])

    def build_unit_index(self, units: np.ndarray) -> "pandas.MultiIndex":
        """Return set and labels of each held-out answer, as table index."""
        import pandas as pd

        rows = self.questions.rows
        row_indices = rows.counted.tocsc().indices[self.places[units]]
        columns = {
            name: rows.names[name].astype(object)[row_indices]
            for name in CHECKED[rows.kind].options
        }
        return pd.MultiIndex.from_arrays(
            [self.set[units], *columns.values()], names=["set", *columns]
        )


def _refuse_fractions(counts: np.ndarray, noun: str) -> None:
    """Raise DataError for fractional counts, which cannot be split."""
    if not are_integers(counts):
        raise DataError(
            f"compare leaves out whole {noun}, but these have fractional weights; give integer"
            " counts."
        )


def _repeat_answers(answer_counts: np.ndarray) -> np.ndarray:
    """Return the index of each answer, repeated as often as it was given."""
    return repeat_indices(answer_counts.astype(np.int64))


class ScoredOccasions:
    """Choice occasions with the interface of tasks, to score predicted choices.

    The class has the attributes of a `ChoiceExperiment` that scores need. The alternatives of a
    best-worst choice are the ordered pairs (best, worst) of its set. If the data do not identify
    respondents, every occasion has a separate respondent.

    Parameters
    ----------
    data : Choices
        Data with integer counts.

    Raises
    ------
    DataError
        If counts are fractional.
    """

    def __init__(
        self,
        data: Any,
        questions: Questions,
        respondent_index: np.ndarray,  # the respondent of each occasion; -1 if unknown
        answer: np.ndarray,
    ) -> None:
        self.data = data
        self.questions = questions
        self.respondent_index = respondent_index
        self.answer = answer
        self.set = questions.question[answer]
        self.knows_people = questions.given is not None
        self.respondents = tuple(str(number + 1) for number in range(len(answer)))
        self.respondent_of_task = np.arange(len(answer))
        if self.knows_people:
            respondents, self.respondent_of_task = np.unique(respondent_index, return_inverse=True)
            self.respondents = tuple(data.respondents[k] for k in respondents)

    @classmethod
    def from_choices(cls, data: Choices) -> "ScoredOccasions":
        """Build occasions from `Choices`, each answer as often as it was given."""
        _refuse_fractions(data.times, "choices")
        if data.n_ties:
            raise DataError(
                "Ties in rankings cannot be held out, but the data contain"
                f" {format_plural(data.n_ties, 'tie')}; compare with ",
                Setting("by", "evidence"),
                ".",
            )
        questions = data.questions()
        answers = np.flatnonzero(questions.counts)
        respondents = np.full(len(answers), -1)
        answer_counts = questions.counts[answers]
        if questions.given is not None:
            _, respondents, answers, answer_counts = questions.given
        answer_indices = _repeat_answers(answer_counts)
        return cls(data, questions, respondents[answer_indices], answers[answer_indices])

    @property
    def n_tasks(self) -> int:
        """Number of occasions."""
        return len(self.answer)

    @property
    def n_respondents(self) -> int:
        """Number of respondents."""
        return len(self.respondents)

    @property
    def first_task(self) -> np.ndarray:
        """Index of each respondent's first occasion, shape (respondents + 1,)."""
        return part_bounds(np.bincount(self.respondent_of_task, minlength=self.n_respondents))

    @property
    def task_labels(self) -> np.ndarray:
        """Number of each occasion within its respondent, from 1."""
        return np.arange(self.n_tasks) - self.first_task[self.respondent_of_task] + 1

    @property
    def first_row(self) -> np.ndarray:
        """Index of each occasion's first alternative, shape (occasions + 1,)."""
        return part_bounds(self.questions.sizes[self.set])

    @property
    def n_alternatives(self) -> int:
        """Number of alternatives in all occasions."""
        return int(self.first_row[-1])

    @property
    def chosen(self) -> np.ndarray:
        """Index of each occasion's chosen alternative, shape (occasions,)."""
        return self.answer - self.questions.start[self.set]

    def take(self, occasions: np.ndarray) -> "ScoredOccasions":
        """Return the scored answers of these occasions only."""
        return ScoredOccasions(
            self.data, self.questions, self.respondent_index[occasions], self.answer[occasions]
        )

    @cached_property
    def choices(self) -> Choices:
        """The occasions as `Choices`, with all options."""
        n_answers = len(self.questions.counts)
        respondent_answer_codes, answer_counts = np.unique(
            self.respondent_index.astype(np.int64) * n_answers + self.answer, return_counts=True
        )
        respondent_indices, answers = np.divmod(respondent_answer_codes, n_answers)
        return select_choices(
            self.data,
            respondent_indices,
            *self.data.places_of(answers),
            times=answer_counts.astype(float),
        )

    def predict_log_joint(self, model: Any) -> np.ndarray:
        """Return log P(all choices of a respondent) by a model, (respondents,)."""
        return np.asarray(model.log_predictive(self.choices).loc[list(self.respondents)])

    def predict_alternatives(self, model: Any) -> np.ndarray:
        """Return a model's P(chosen) of each alternative, shape (rows,)."""
        set_predictions = [np.asarray(p, float) for p in model.predict_proba(self.choices)]
        if [p.shape for p in set_predictions] != [(size,) for size in self.choices.answers]:
            raise DataError(
                "predict_proba must return, for each set, the probabilities of its members, or of"
                " the ordered pairs (best, worst)."
            )
        _, set_index = np.unique(self.set, return_inverse=True)
        return np.concatenate([set_predictions[v] for v in set_index])


# Scores of held-out choices, respondents and triplets: log probabilities of choices, and hits
# ------


_ROUNDING = 1e-6  # tolerance for sums of probabilities of a task
_MAX_NAMED = 4


class HitScorer(Scorer):
    """Base class of scorers by log probability of the choice and by hits."""

    main = "log_score"
    differences = {"hit_rate": "hit_difference"}
    extra_frames = {"hits": "hit_rate"}
    shown = (
        "log_score",
        "log_score_se",
        "hit_rate",
        "hit_rate_se",
        "difference",
        "difference_se",
    )
    per_unit_text: ClassVar[str]

    def build_score_frames(self, score_table: ScoreTable) -> "dict[str, pandas.DataFrame]":
        """Return log probabilities and hits of all units by models and by guessing."""
        log_score = self.log_score(score_table)
        hit_frame = score_table.build_score_frame("hits")
        n_alternatives = score_table.get_observed("sizes")
        log_score[BASE] = -np.log(n_alternatives)
        hit_frame[BASE] = 1.0 / n_alternatives
        return {"log_score": log_score, "hit_rate": hit_frame}

    def log_score(self, score_table: ScoreTable) -> Any:
        """Return log scores of all units by all models, as a data frame."""
        return score_table.build_score_frame("log_score")

    def describe_test_data(self, table: "pandas.DataFrame") -> str:
        """Return the noun phrase for held-out units, such as "held-out tasks"."""
        return f"held-out {self.called}"

    def write_headline(self, table: "pandas.DataFrame", best: str) -> str:
        """Return the sentence on log score and hits of the best model."""
        best_row = table.loc[best]
        guessing_score = table.loc[BASE, "log_score"]
        return (
            f"{best!r} predicts the {self.describe_test_data(table)} best: log score"
            f" {best_row['log_score']:.3f} {self.per_unit_text} (guessing: {guessing_score:.3f}),"
            f" {format_percent(best_row['hit_rate'], 1)} correct."
        )


class ChoiceScorer(HitScorer):
    """Scores each task by log P(choice) and by whether the most probable option was chosen."""

    units = "tasks"
    unit = "respondent"
    level = "respondent"
    table = (
        "log_score",
        "difference",
        "difference_se",
        "log_score_se",
        "hit_rate",
        "hit_rate_se",
        "hit_difference",
        "hit_difference_se",
        "seconds",
        "tasks",
        "respondents",
    )
    counted = "tasks"
    called = "choices"
    legend = (
        "log score: mean log predicted probability of the choices, larger is better;"
        f" {DIFFERENCE}; standard errors are computed over {unit}s."
    )
    per_unit_text = "per choice"

    def score(self, model: Any, test: Any) -> dict[str, Any]:
        """Return log probability and hit of each held-out task."""
        if isinstance(test, ChoiceExperiment):
            probabilities = model.predict_proba(test)
        else:
            probabilities = test.predict_alternatives(model)
        chosen_probabilities, hits = score_choices(check_probabilities(probabilities, test), test)
        return {"chosen": chosen_probabilities.tolist(), "hits": hits.tolist()}

    def log_score(self, score_table: ScoreTable) -> Any:
        """Return log P(choice) of all tasks by all models, as a data frame."""
        with np.errstate(divide="ignore"):  # a probability of 0
            return np.log(score_table.build_score_frame("chosen"))

    def build_attrs(self, score_table: ScoreTable) -> dict[str, Any]:
        """Return the `leave_out` value and the independent unit, for the table's attrs."""
        splitter = score_table.splitter
        independent_unit = "choice"
        if splitter.knows_people:
            independent_unit = "respondent"
        return super().build_attrs(score_table) | {
            "leave_out": splitter.leave_out,
            "unit": independent_unit,
        }

    def describe_test_data(self, table: "pandas.DataFrame") -> str:
        """Return "choices of new respondents" or "held-out tasks"."""
        if table.attrs["leave_out"] == "respondent":
            return "choices of new respondents"
        return super().describe_test_data(table)

    def write_remarks(self, table: "pandas.DataFrame", ranked: list[str]) -> list[str]:
        """Return sentences on models that gave an observed choice probability 0."""
        return self.describe_impossible(table, ranked, "{count:,} of the {n:,} observed choices")


class PeopleScorer(ChoiceScorer):
    """Scores held-out respondents, also by log P(all their choices)."""

    table = (
        *ChoiceScorer.table,
        "together",
        "together_se",
        "together_difference",
        "together_difference_se",
    )
    shown = (*ChoiceScorer.shown, "together", "together_se")
    legend = (
        f"{ChoiceScorer.legend} together: joint log probability of all choices of a respondent,"
        " summed over respondents and divided by the number of choices."
    )

    def score(self, model: Any, test: Any) -> dict[str, Any]:
        """Return each task's scores, and each respondent's joint log probability per choice."""
        choice_scores = super().score(model, test)
        if find_spec(model) is None:  # choices of outside models are treated as independent
            with np.errstate(divide="ignore"):
                log_chosen = np.log(choice_scores["chosen"])
            log_joint = np.bincount(test.respondent_of_task, log_chosen, test.n_respondents)
        else:
            log_joint = test.predict_log_joint(model)
        log_joint_per_choice = log_joint / np.diff(test.first_task)
        return choice_scores | {"together": log_joint_per_choice[test.respondent_of_task].tolist()}

    def build_score_frames(self, score_table: ScoreTable) -> "dict[str, pandas.DataFrame]":
        """Return the frames of `ChoiceScorer`, and that of joint log probabilities."""
        frames = super().build_score_frames(score_table)
        joint_frame = score_table.build_score_frame("together")
        joint_frame[list(self.before)] = frames[self.main][list(self.before)]
        return frames | {"together": joint_frame}

    def compute_columns(self, score_table: ScoreTable) -> dict[str, Any]:
        """Return the table's columns, with differences of joint log probabilities."""
        differences, difference_errors = score_table.compute_differences(
            score_table.find_best("together"), "together"
        )
        return super().compute_columns(score_table) | {
            "together_difference": differences,
            "together_difference_se": difference_errors,
        }

    def build_attrs(self, score_table: ScoreTable) -> dict[str, Any]:
        """Return the table's attrs, with joint log probabilities of respondents."""
        return super().build_attrs(score_table) | {"together": score_table.frames["together"]}

    def write_remarks(self, table: "pandas.DataFrame", ranked: list[str]) -> list[str]:
        """Return sentences on which model predicts all choices of a respondent best."""
        joint_scores = (
            table.loc[ranked, "together"].dropna().sort_values(ascending=False, kind="stable")
        )
        clauses = [
            f"The choices of a respondent are jointly predicted best by {joint_scores.index[0]!r}"
            f" (log score {joint_scores.iloc[0]:.3f} per choice)"
        ]
        for name, row in table.loc[joint_scores.index[1 : _MAX_NAMED + 1]].iterrows():
            clauses.append(
                f"{name!r} is {-row['together_difference']:.3f} lower (standard error"
                f" {row['together_difference_se']:.3f})"
            )
        return [f"{'; '.join(clauses)}.", *super().write_remarks(table, ranked)]


class AnswerScorer(HitScorer):
    """Scores each answer by its log posterior mean probability, and by hits."""

    units = "answers"
    unit = "set"
    level = "set"
    table = (
        "log_score",
        "difference",
        "difference_se",
        "log_score_se",
        "log_score_mcse",
        "hit_rate",
        "hit_rate_se",
        "seconds",
        "answers",
        "sets",
    )
    counted = "answers"
    shown = (
        "log_score",
        "log_score_se",
        "log_score_mcse",
        "hit_rate",
        "hit_rate_se",
        "difference",
        "difference_se",
    )
    called = "answers"
    legend = (
        "log score: mean log predicted probability of the chosen pair, larger is better; hits:"
        f" share of answers that name the most probable pair; {DIFFERENCE}; standard errors are"
        " computed over sets. BASE: guessing."
    )
    per_unit_text = "per answer"

    def score(self, model: Any, test: Any) -> dict[str, Any]:
        """Return log probability, its Monte Carlo error and hit of each held-out answer."""
        questions = test.questions()
        answers = _repeat_answers(questions.counts)
        if find_spec(model) is None:  # a model from outside thali
            probabilities = np.concatenate(
                [np.asarray(probabilities, float) for probabilities in model.predict_proba(test)]
            )
            standard_errors = np.zeros(len(probabilities))
        else:
            probabilities, standard_errors = map(
                np.concatenate, model.predict_proba(test, return_se=True)
            )
        max_probabilities = np.maximum.reduceat(probabilities, questions.start[:-1])
        is_best = probabilities >= np.repeat(max_probabilities, questions.sizes) - TIE_TOLERANCE
        n_best = questions.sum_by_question(is_best.astype(float))
        hits = is_best / np.repeat(n_best, questions.sizes)
        with np.errstate(divide="ignore"):
            log_score = np.log(probabilities[answers])
        return {
            "log_score": log_score.tolist(),
            "log_score_mcse": (standard_errors[answers] / probabilities[answers]).tolist(),
            "hits": hits[answers].tolist(),
        }

    def build_score_frames(self, score_table: ScoreTable) -> "dict[str, pandas.DataFrame]":
        """Return log probabilities, hits and Monte Carlo errors of all answers."""
        return super().build_score_frames(score_table) | {
            "log_score_mcse": score_table.build_score_frame("log_score_mcse").assign(**{BASE: 0.0})
        }

    def write_remarks(self, table: "pandas.DataFrame", ranked: list[str]) -> list[str]:
        """Return the sentence on the answers that the best model expected least."""
        best_model = table.attrs["best"]
        worst_scores = (
            table.attrs["answers"][best_model].dropna().sort_values(kind="stable").head(WORST)
        )
        answer_texts = [
            f"{' and '.join(names)} (probability {np.exp(score):.2g})"
            for (_, *names), score in worst_scores.items()
        ]
        return [f"Least expected by {best_model}: {'; '.join(answer_texts)}."]


def check_probabilities(
    predicted: np.ndarray, test: ChoiceExperiment | ScoredOccasions
) -> np.ndarray:
    """Return predictions as array; raise unless they sum to 1 in each task."""
    probabilities = np.asarray(predicted, float)
    if probabilities.shape != (test.n_alternatives,):
        raise DataError(
            f"predict_proba must return {format_plural(test.n_alternatives, 'number')}, one per"
            f" row; got shape {probabilities.shape}."
        )
    task_sums = sum_parts(probabilities, test.first_row)
    if not (probabilities >= 0).all() or np.abs(task_sums - 1.0).max() > _ROUNDING:
        raise DataError("predict_proba must return probabilities that sum to 1 in every task.")
    return probabilities
