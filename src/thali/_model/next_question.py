"""Choice of the next questions to ask, by their expected information in nats."""

from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._arguments import is_list
from thali._inference.indexing import (
    argsort_descending,
    iterate_slices,
    part_bounds,
    part_slice,
    space_evenly,
)
from thali._inference.numerics.shares import compute_shares, divide_positive
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
        sizes = np.diff(self.start)[questions]
        outcome_indices = np.repeat(
            self.start[questions] - np.cumsum(sizes) + sizes, sizes
        ) + np.arange(sizes.sum())
        return QuestionOutcomes(self.probabilities[:, outcome_indices], part_bounds(sizes))

    def compute_entropies(self) -> np.ndarray:
        """Return the entropy of each question's outcome in nats, (draws, questions)."""
        p = self.probabilities
        terms = -p * np.log(p, out=np.zeros_like(p), where=p > 0.0)
        return np.add.reduceat(terms, self.start[:-1], axis=1)


class LearningTarget(NamedTuple):
    """What questions should teach: the whole draw, or variables computed from it."""

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
    draws = len(outcomes.probabilities)
    weights = np.full((1, draws), 1.0 / draws)
    p_answers = np.ones(1)
    alone = expected_information(outcomes, target, weights, p_answers)
    best_alone = argsort_descending(alone)[: max(CANDIDATES, n)]
    candidates = outcomes.select_questions(best_alone)
    gain, order, chosen_gains = alone[best_alone], [], []
    for n_chosen in range(min(n, len(best_alone))):
        if n_chosen:
            weights, p_answers = _extend_answers(
                candidates, order[-1], weights, p_answers, target.rows, rng
            )
            gain = expected_information(candidates, target, weights, p_answers)
            gain[order] = -np.inf
        order.append(int(gain.argmax()))
        chosen_gains.append(max(float(gain[order[-1]]), 0.0))
    question_indices = best_alone[order]
    return ChosenQuestions(
        question_indices, np.array(chosen_gains), np.maximum(alone[question_indices], 0.0)
    )


def expected_information(
    outcomes: QuestionOutcomes, target: LearningTarget, weights: np.ndarray, p_answers: np.ndarray
) -> np.ndarray:
    """Return the expected information of each question in nats, after earlier answers.

    `weights` (answers, draws) and `p_answers` (answers,) describe combinations of earlier answers.
    """
    prior = p_answers @ _mixture_entropies(outcomes, weights)
    if target.values is None:
        return prior - (p_answers @ weights) @ outcomes.compute_entropies()
    within = np.zeros(len(outcomes.start) - 1)
    row_size = sum(outcomes.probabilities.shape)
    for answer, p_answer in zip(weights, p_answers, strict=True):
        for rows in iterate_slices(target.rows, row_size, BLOCK):
            joint = answer * target.values[rows]
            share = joint.sum(axis=1)
            has_share = share > 0.0
            within += (
                p_answer
                * share[has_share]
                @ _mixture_entropies(outcomes, joint[has_share] / share[has_share, None])
            )
    return (target.variables * prior - within) * target.n_represented / target.variables


def _mixture_entropies(outcomes: QuestionOutcomes, weights: np.ndarray) -> np.ndarray:
    """Return entropies of outcomes averaged over weighted draws, (rows, questions)."""
    # They are corrected for bias.
    p = outcomes.probabilities
    mean = weights @ p
    squared = weights**2
    variance = squared @ p**2 - 2.0 * mean * (squared @ p) + mean**2 * squared.sum(axis=1)[:, None]
    log = np.log(mean, out=np.zeros_like(mean), where=mean > 0.0)
    correction = divide_positive(0.5 * variance, mean)
    return np.add.reduceat(correction - mean * log, outcomes.start[:-1], axis=1)


def _extend_answers(
    outcomes: QuestionOutcomes,
    question: int,
    weights: np.ndarray,
    p_answers: np.ndarray,
    rows: int,
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    """Combine earlier answers with each outcome of one more question."""
    # Combinations are sampled if there are more than `rows`.
    p = outcomes.probabilities[:, part_slice(outcomes.start, question)]
    joint = (weights[:, None, :] * p.T).reshape(-1, len(p)) * np.repeat(p_answers, p.shape[1])[
        :, None
    ]
    total = joint.sum(axis=1)
    joint = joint[total > 0.0]
    total = total[total > 0.0]
    max_answers = min(max(MIN_ANSWERS, ROWS // rows), MAX_ANSWERS)
    if len(total) > max_answers:
        sampled_rows = rng.choice(len(total), max_answers, p=compute_shares(total))
        joint = joint[sampled_rows]
        share = np.full(max_answers, 1.0 / max_answers)
    else:
        share = compute_shares(total)
    return joint / joint.sum(axis=1)[:, None], share


EVERYTHING, RANKS, BEST = "everything", "ranks", "best"


WORDS = (EVERYTHING, RANKS, BEST)


MAX_DRAWS, MIN_DRAWS = 4_000, 2_000


NUMBERS = 2**26  # in memory: outcomes of all questions in all draws


QUESTIONS = 5_000  # maximum of sets or triplets that are evaluated; more are sampled at random


VARIABLES = 1_000  # maximum of pairs whose order is evaluated; more are sampled at random


def tabulate_questions(questions: dict[str, Any], chosen: ChosenQuestions) -> "pandas.DataFrame":
    """Tabulate chosen questions with their joint and single information."""
    from thali._result_table import Table

    return Table(questions | {"information": chosen.gains, "alone": chosen.alone})


def allowed_options(among: Any, labels: list[str], min_options: int) -> list[int]:
    """Return sorted indices of the options that may be asked about; None: all."""
    if among is None:
        indices = list(range(len(labels)))
    elif not is_list(among):
        raise ArgumentError(f"`among` must be a list of labels; got {among!r}.")
    else:
        indices = sorted({label_index(format_label(label), labels, "among") for label in among})
    if len(indices) < min_options:
        raise ArgumentError(
            f"A question needs at least {min_options} different options; available: {len(indices)}."
            " Add options."
        )
    return indices


def label_index(label: str, labels: list[str], argument: str) -> int:
    """Return the index of an option label; raise ArgumentError if unknown."""
    if label not in labels:
        raise ArgumentError(
            f"`{argument}` contains {label!r}, which is not an option of the"
            f" data.{suggest(label, labels)}"
        )
    return labels.index(label)


def sample_rows(rows: np.ndarray, max_rows: int, rng: np.random.Generator) -> np.ndarray:
    """Return all rows of an array, or a random sample of `max_rows` of them."""
    if len(rows) <= max_rows:
        return rows
    return rows[np.sort(rng.choice(len(rows), max_rows, replace=False))]


def list_subsets(option_indices: list[int], size: int, rng: np.random.Generator) -> np.ndarray:
    """Return all sets of `size` options, or a random sample, shape (sets, size)."""
    if comb(len(option_indices), size) <= QUESTIONS:
        return np.array(list(combinations(option_indices, size)), np.int64)
    subsets = np.array(
        [np.sort(rng.choice(option_indices, size, replace=False)) for _ in range(QUESTIONS)],
        np.int64,
    )
    return np.unique(subsets, axis=0)


def list_pairs(among: Any, labels: list[str], rng: np.random.Generator) -> np.ndarray:
    """Return all pairs of the given options, or a random sample, shape (pairs, 2)."""
    pairs = np.array(list(combinations(allowed_options(among, labels, 2), 2)), np.int64)
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
    chosen = choose_questions(outcomes, target, n, rng)
    mean = p.mean(axis=0)[chosen.questions]
    a, b = ([labels[k] for k in column] for column in pairs[chosen.questions].T)
    probabilities = {"p_a": mean[:, 0]}
    if n_outcomes == 3:
        probabilities["p_tie"] = mean[:, 1]
    return tabulate_questions({"a": a, "b": b} | probabilities, chosen)


def tabulate_sets(
    labels: list[str],
    sets: np.ndarray,
    p: np.ndarray,
    target: LearningTarget,
    n: int,
    rng: np.random.Generator,
) -> "pandas.DataFrame":
    """Tabulate the n most informative sets; p (draws, members of all sets)."""
    chosen = choose_questions(
        QuestionOutcomes(p, np.arange(len(sets) + 1) * sets.shape[1]), target, n, rng
    )
    members = [tuple(labels[k] for k in sets[q]) for q in chosen.questions]
    return tabulate_questions({"members": members}, chosen)


def check_goal(goal: Any, words: Any = WORDS, more: str = "") -> None:
    """Raise ArgumentError if the learning goal is unknown."""
    if goal not in words:
        raise ArgumentError(f"`goal` must be {', '.join(map(repr, words))}{more}; got {goal!r}.")


def build_worth_target(goal: str, utility: np.ndarray, rng: np.random.Generator) -> LearningTarget:
    """Build the learning target of a goal from utilities (draws, options)."""
    if goal == EVERYTHING:
        return LearningTarget()
    if goal == BEST:
        best = utility.argmax(axis=1)
        return LearningTarget(best == np.unique(best)[:, None])
    pairs = np.array(list(combinations(range(utility.shape[1]), 2)), np.int64)
    first, second = sample_rows(pairs, VARIABLES, rng).T
    above = (utility[:, first] > utility[:, second]).T
    return LearningTarget(np.concatenate([above, ~above]), len(first), len(pairs))
