"""Choice of the next pairs to ask about, by their expected information in nats."""

from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._argument_checks import is_list
from thali._inference.index_arithmetic import (
    argsort_descending,
    iterate_slices,
    part_bounds,
    part_slice,
    space_evenly,
)
from thali._inference.numerics.weight_shares import compute_shares, divide_positive
from thali._labels import format_label, suggest
from thali.errors import ArgumentError

if TYPE_CHECKING:
    import pandas


# Expected information of the answer to a question, in nats, from posterior draws -----------------
#
# The answer to question q has probability p_qo(s) of outcome o in draw s. Its information about the
# draw itself is
#
#     I = H(mean over s of p_q(s)) - mean over s of H(p_q(s)),
#
# Its information about a variable with a value in each draw is the entropy of the mean over all
# draws less the entropies of the means within the values, weighted by their probabilities. The
# entropy of a mean of finitely many draws is too small by about half its variance over its value,
# summed over outcomes; this is added (the correction of Miller & Madow, for averaged
# probabilities instead of counts).


ROWS = 2**12  # rows of weights over draws (answers times values) in one block


MIN_ANSWERS, MAX_ANSWERS = 8, 2**8  # combinations of answers to earlier questions


CANDIDATES = 200  # the questions after the first are chosen from the most informative single ones


BLOCK = 2**23  # numbers in memory


class QuestionOutcomes(NamedTuple):
    """Possible questions, and the probability of each outcome in each posterior draw."""

    probabilities: np.ndarray  # (draws, places) of every outcome, question after question
    start: np.ndarray  # (questions + 1,) the first place of each question

    def select_questions(self, questions: np.ndarray) -> "QuestionOutcomes":
        """Return the outcomes of the questions with these indices."""
        outcome_counts = np.diff(self.start)[questions]
        outcome_indices = np.repeat(
            self.start[questions] - np.cumsum(outcome_counts) + outcome_counts, outcome_counts
        ) + np.arange(outcome_counts.sum())
        return QuestionOutcomes(self.probabilities[:, outcome_indices], part_bounds(outcome_counts))

    def compute_entropies(self) -> np.ndarray:
        """Return the entropy of each question's outcome in nats, (draws, questions)."""
        p = self.probabilities
        entropy_terms = -p * np.log(p, out=np.zeros_like(p), where=p > 0.0)
        return np.add.reduceat(entropy_terms, self.start[:-1], axis=1)


class LearningTarget(NamedTuple):
    """Target of questions: the complete draw, or variables computed from it."""

    # (rows, draws) bool: whether a draw has a value; the values of a variable partition the draws
    values: np.ndarray | None = None
    variables: int = 1
    n_represented: int = 1  # number of variables that the sampled ones represent

    @property
    def rows(self) -> int:
        """Total number of distinct values of all target variables."""
        if self.values is None:
            return 1
        return len(self.values)


class ChosenQuestions(NamedTuple):
    """Indices of chosen questions in the order of choice, with their information."""

    questions: np.ndarray  # (n,) indices
    gains: np.ndarray  # (n,) expected information, given the answers to earlier questions
    alone: np.ndarray  # (n,) expected information as the only question


def choose_questions(
    outcomes: QuestionOutcomes, target: LearningTarget, n: int, rng: np.random.Generator
) -> ChosenQuestions:
    """Choose n questions greedily, each the most informative after those chosen before."""
    n_draws = len(outcomes.probabilities)
    weights = np.full((1, n_draws), 1.0 / n_draws)
    p_answers = np.ones(1)
    information_alone = compute_expected_information(outcomes, target, weights, p_answers)
    candidate_indices = argsort_descending(information_alone)[: max(CANDIDATES, n)]
    candidates = outcomes.select_questions(candidate_indices)
    gains = information_alone[candidate_indices]
    chosen_candidates = []
    chosen_gains = []
    for n_chosen in range(min(n, len(candidate_indices))):
        if n_chosen:
            weights, p_answers = _extend_answers(
                candidates, chosen_candidates[-1], weights, p_answers, target.rows, rng
            )
            gains = compute_expected_information(candidates, target, weights, p_answers)
            gains[chosen_candidates] = -np.inf
        chosen_candidates.append(int(gains.argmax()))
        chosen_gains.append(max(float(gains[chosen_candidates[-1]]), 0.0))
    question_indices = candidate_indices[chosen_candidates]
    return ChosenQuestions(
        question_indices,
        np.array(chosen_gains),
        np.maximum(information_alone[question_indices], 0.0),
    )


def compute_expected_information(
    outcomes: QuestionOutcomes, target: LearningTarget, weights: np.ndarray, p_answers: np.ndarray
) -> np.ndarray:
    """Return the expected information of each question in nats, after earlier answers.

    `weights` (answers, draws) and `p_answers` (answers,) describe combinations of earlier answers.
    """
    predictive_entropies = p_answers @ _compute_mixture_entropies(outcomes, weights)
    if target.values is None:
        return predictive_entropies - (p_answers @ weights) @ outcomes.compute_entropies()
    entropies_within = np.zeros(len(outcomes.start) - 1)
    row_size = sum(outcomes.probabilities.shape)
    for draw_weights, p_answer in zip(weights, p_answers, strict=True):
        for rows in iterate_slices(target.rows, row_size, BLOCK):
            joint_weights = draw_weights * target.values[rows]
            p_values = joint_weights.sum(axis=1)
            is_possible = p_values > 0.0
            entropies_within += (
                p_answer
                * p_values[is_possible]
                @ _compute_mixture_entropies(
                    outcomes, joint_weights[is_possible] / p_values[is_possible, None]
                )
            )
    return (
        (target.variables * predictive_entropies - entropies_within)
        * target.n_represented
        / target.variables
    )


def _compute_mixture_entropies(outcomes: QuestionOutcomes, weights: np.ndarray) -> np.ndarray:
    """Return entropies of outcomes averaged over weighted draws, (rows, questions)."""
    # They are corrected for bias.
    p = outcomes.probabilities
    mean_p = weights @ p
    squared_weights = weights**2
    variance = (
        squared_weights @ p**2
        - 2.0 * mean_p * (squared_weights @ p)
        + mean_p**2 * squared_weights.sum(axis=1)[:, None]
    )
    log_mean = np.log(mean_p, out=np.zeros_like(mean_p), where=mean_p > 0.0)
    correction = divide_positive(0.5 * variance, mean_p)
    return np.add.reduceat(correction - mean_p * log_mean, outcomes.start[:-1], axis=1)


def _extend_answers(
    outcomes: QuestionOutcomes,
    question: int,
    weights: np.ndarray,
    p_answers: np.ndarray,
    n_values: int,
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    """Combine earlier answers with each outcome of one more question."""
    # Combinations are sampled if there are more than `rows`.
    p = outcomes.probabilities[:, part_slice(outcomes.start, question)]
    joint_weights = (weights[:, None, :] * p.T).reshape(-1, len(p)) * np.repeat(
        p_answers, p.shape[1]
    )[:, None]
    p_joint = joint_weights.sum(axis=1)
    joint_weights = joint_weights[p_joint > 0.0]
    p_joint = p_joint[p_joint > 0.0]
    max_answers = min(max(MIN_ANSWERS, ROWS // n_values), MAX_ANSWERS)
    if len(p_joint) > max_answers:
        sampled_rows = rng.choice(len(p_joint), max_answers, p=compute_shares(p_joint))
        joint_weights = joint_weights[sampled_rows]
        p_kept = np.full(max_answers, 1.0 / max_answers)
    else:
        p_kept = compute_shares(p_joint)
    return joint_weights / joint_weights.sum(axis=1)[:, None], p_kept


EVERYTHING = "everything"
RANKS = "ranks"
BEST = "best"


WORDS = (EVERYTHING, RANKS, BEST)


MAX_DRAWS = 4_000
MIN_DRAWS = 2_000


NUMBERS = 2**26  # in memory: outcomes of all questions in all draws


VARIABLES = 1_000  # maximum of pairs whose order is evaluated; more are sampled at random


def tabulate_questions(
    question_columns: dict[str, Any], choice: ChosenQuestions
) -> "pandas.DataFrame":
    """Tabulate chosen questions with their joint and single information."""
    from thali._exportable_table import Table

    return Table(question_columns | {"information": choice.gains, "alone": choice.alone})


def allowed_options(allowed_labels: Any, labels: list[str]) -> list[int]:
    """Return sorted indices of the options that may be asked about; None: all."""
    if allowed_labels is None:
        option_indices = list(range(len(labels)))
    elif not is_list(allowed_labels):
        raise ArgumentError(f"`among` must be a list of labels; got {allowed_labels!r}.")
    else:
        option_indices = sorted(
            {label_index(format_label(label), labels) for label in allowed_labels}
        )
    if len(option_indices) < 2:
        raise ArgumentError(
            f"A question needs at least 2 different options; available: {len(option_indices)}. Add"
            " options."
        )
    return option_indices


def label_index(label: str, labels: list[str]) -> int:
    """Return the index of an option label; raise ArgumentError if unknown."""
    if label not in labels:
        raise ArgumentError(
            f"`among` contains {label!r}, which is not an option of the data."
            f"{suggest(label, labels)}"
        )
    return labels.index(label)


def sample_rows(rows: np.ndarray, max_rows: int, rng: np.random.Generator) -> np.ndarray:
    """Return all rows of an array, or a random sample of `max_rows` of them."""
    if len(rows) <= max_rows:
        return rows
    return rows[np.sort(rng.choice(len(rows), max_rows, replace=False))]


def list_pairs(allowed_labels: Any, labels: list[str], rng: np.random.Generator) -> np.ndarray:
    """Return all pairs of the given options, or a random sample, shape (pairs, 2)."""
    pairs = np.array(list(combinations(allowed_options(allowed_labels, labels), 2)), np.int64)
    return sample_rows(pairs, NUMBERS // (3 * MIN_DRAWS), rng)


def space_draws(n_draws: int, n_outcomes: int) -> np.ndarray:
    """Return indices of evenly spaced draws, as many as fit in memory."""
    max_draws = min(MAX_DRAWS, max(MIN_DRAWS, NUMBERS // n_outcomes))
    return space_evenly(n_draws, max_draws)


def tabulate_pairs(
    labels: list[str],
    pairs: np.ndarray,
    p: np.ndarray,
    target: LearningTarget,
    n: int,
    rng: np.random.Generator,
) -> "pandas.DataFrame":
    """Tabulate the n most informative pairs; p (draws, pairs, outcomes)."""
    n_outcomes = p.shape[-1]
    outcomes = QuestionOutcomes(p.reshape(len(p), -1), np.arange(len(pairs) + 1) * n_outcomes)
    choice = choose_questions(outcomes, target, n, rng)
    mean_p = p.mean(axis=0)[choice.questions]
    a, b = ([labels[k] for k in column] for column in pairs[choice.questions].T)
    probabilities = {"p_a": mean_p[:, 0]}
    if n_outcomes == 3:
        probabilities["p_tie"] = mean_p[:, 1]
    return tabulate_questions({"a": a, "b": b} | probabilities, choice)


def check_goal(goal: str) -> None:
    """Raise ArgumentError if the learning goal is unknown."""
    if goal not in WORDS:
        raise ArgumentError(f"`goal` must be {', '.join(map(repr, WORDS))}; got {goal!r}.")


def build_worth_target(goal: str, utility: np.ndarray, rng: np.random.Generator) -> LearningTarget:
    """Build the learning target of a goal from utilities (draws, options)."""
    if goal == EVERYTHING:
        return LearningTarget()
    if goal == BEST:
        best_option = utility.argmax(axis=1)
        return LearningTarget(best_option == np.unique(best_option)[:, None])
    pairs = np.array(list(combinations(range(utility.shape[1]), 2)), np.int64)
    first_options, second_options = sample_rows(pairs, VARIABLES, rng).T
    is_first_better = (utility[:, first_options] > utility[:, second_options]).T
    return LearningTarget(
        np.concatenate([is_first_better, ~is_first_better]), len(first_options), len(pairs)
    )
