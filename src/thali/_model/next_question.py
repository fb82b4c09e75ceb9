"""The questions whose answers are expected to teach most, and how much that is, in nats."""

from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._arguments import is_list
from thali._inference.indexing import part_bounds, space_evenly
from thali._labels import format_label, suggest
from thali.errors import ArgumentError

if TYPE_CHECKING:
    import pandas


# How much the answer to a question is expected to teach, in nats, from the draws of a posterior ---
#
# The answer to question q has probability p_qo(s) of outcome o in draw s. About the draw itself it
# teaches
#
#     I = H(mean over s of p_q(s)) - mean over s of H(p_q(s)),
#
# and about a variable that has a value in each draw the difference between the entropy of all
# draws' mean and that of the means within the values, weighted by their probabilities. An entropy
# of a mean of finitely many draws is too small by about half its variance over its value, summed
# over outcomes; this is added (the correction of Miller & Madow, for probabilities that are
# averaged, not counted).


ROWS = 2**12  # of weights over draws that are held against all outcomes: of answers times values


MIN_ANSWERS, MAX_ANSWERS = 8, 2**8  # combinations of answers to the questions chosen so far


CANDIDATES = 200  # questions from which all but the first are chosen: those that teach most alone


BLOCK = 2**23  # numbers held at once


class QuestionOutcomes(NamedTuple):
    """Questions and their answers."""

    probabilities: np.ndarray  # (draws, places) of every outcome, question after question
    start: np.ndarray  # (questions + 1,) the first place of each question

    def at(self, questions: np.ndarray) -> "QuestionOutcomes":
        """Some of the questions."""
        sizes = np.diff(self.start)[questions]
        places = np.repeat(self.start[questions] - np.cumsum(sizes) + sizes, sizes) + np.arange(
            sizes.sum()
        )
        return QuestionOutcomes(self.probabilities[:, places], part_bounds(sizes))

    def entropies(self) -> np.ndarray:
        """Of each question in each draw (draws, questions)."""
        p = self.probabilities
        terms = -p * np.log(p, out=np.zeros_like(p), where=p > 0.0)
        return np.add.reduceat(terms, self.start[:-1], axis=1)


class LearningTarget(NamedTuple):
    """What is to be learned: the draw itself, or variables with a value in each draw."""

    # (rows, draws) bool: which draws have a value; those of a variable share them out
    values: np.ndarray | None = None
    variables: int = 1
    of: int = 1  # how many variables these stand for

    @property
    def rows(self) -> int:
        """How many values there are, of all variables."""
        return 1 if self.values is None else len(self.values)


class ChosenQuestions(NamedTuple):
    """Questions, in the order in which they were chosen."""

    questions: np.ndarray  # (n,) their numbers
    gains: np.ndarray  # (n,) what each is expected to teach, given the answers to those before it
    alone: np.ndarray  # (n,) what it would teach as the only one


def choose(
    outcomes: QuestionOutcomes, target: LearningTarget, n: int, rng: np.random.Generator
) -> ChosenQuestions:
    """The n questions that together teach most, chosen one after the other, none of them twice."""
    draws = len(outcomes.probabilities)
    weights, chance = np.full((1, draws), 1.0 / draws), np.ones(1)
    alone = gains(outcomes, target, weights, chance)
    best_alone = np.argsort(-alone, kind="stable")[: max(CANDIDATES, n)]
    few = outcomes.at(best_alone)
    gain, order, found = alone[best_alone], [], []
    for place in range(min(n, len(best_alone))):
        if place:
            weights, chance = _answered(few, order[-1], weights, chance, target.rows, rng)
            gain = gains(few, target, weights, chance)
            gain[order] = -np.inf
        order.append(int(gain.argmax()))
        found.append(max(float(gain[order[-1]]), 0.0))
    numbers = best_alone[order]
    return ChosenQuestions(numbers, np.array(found), np.maximum(alone[numbers], 0.0))


def gains(
    outcomes: QuestionOutcomes, target: LearningTarget, weights: np.ndarray, chance: np.ndarray
) -> np.ndarray:
    """What each question is expected to teach, after combinations of earlier answers of some
    `chance` (answers,)."""
    prior = chance @ _entropies(outcomes, weights)
    if target.values is None:
        return prior - (chance @ weights) @ outcomes.entropies()
    within = np.zeros(len(outcomes.start) - 1)
    step = max(1, BLOCK // (len(outcomes.probabilities) + outcomes.probabilities.shape[1]))
    for answer, of_answer in zip(weights, chance, strict=True):
        for first in range(0, target.rows, step):
            part = answer * target.values[first : first + step]
            share = part.sum(axis=1)
            there = share > 0.0
            within += (
                of_answer * share[there] @ _entropies(outcomes, part[there] / share[there, None])
            )
    return (target.variables * prior - within) * target.of / target.variables


def _entropies(outcomes: QuestionOutcomes, weights: np.ndarray) -> np.ndarray:
    """The entropy of each question's answer under weighted draws (rows, questions), corrected for
    their number."""
    p = outcomes.probabilities
    mean, squared = weights @ p, weights**2
    variance = squared @ p**2 - 2.0 * mean * (squared @ p) + mean**2 * squared.sum(axis=1)[:, None]
    there = mean > 0.0
    log = np.log(mean, out=np.zeros_like(mean), where=there)
    half = np.divide(0.5 * variance, mean, out=np.zeros_like(mean), where=there)
    return np.add.reduceat(half - mean * log, outcomes.start[:-1], axis=1)


def _answered(
    outcomes: QuestionOutcomes,
    question: int,
    weights: np.ndarray,
    chance: np.ndarray,
    rows: int,
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    """Weights and probability of every combination of answers with those to one more question, or
    of some drawn."""
    p = outcomes.probabilities[:, outcomes.start[question] : outcomes.start[question + 1]]
    joint = (weights[:, None, :] * p.T).reshape(-1, len(p)) * np.repeat(chance, p.shape[1])[:, None]
    total = joint.sum(axis=1)
    joint, total = joint[total > 0.0], total[total > 0.0]
    most = min(max(MIN_ANSWERS, ROWS // rows), MAX_ANSWERS)
    if len(total) > most:
        drawn = rng.choice(len(total), most, p=total / total.sum())
        joint, share = joint[drawn], np.full(most, 1.0 / most)
    else:
        share = total / total.sum()
    return joint / joint.sum(axis=1)[:, None], share


EVERYTHING, RANKS, BEST = "everything", "ranks", "best"


WORDS = (EVERYTHING, RANKS, BEST)


MAX_DRAWS, MIN_DRAWS = 4_000, 2_000


NUMBERS = 2**26  # held at once: outcomes of all questions in all draws


QUESTIONS = 5_000  # of sets or triplets that are looked at; more are drawn at random


VARIABLES = 1_000  # pairs whose order is looked at; more are drawn at random


def question_table(
    questions: dict[str, Any], more: dict[str, Any], chosen: Any
) -> "pandas.DataFrame":
    from thali._tables import Table

    return Table(questions | more | {"information": chosen.gains, "alone": chosen.alone})


def options_among(among: Any, labels: list[str], least: int) -> list[int]:
    """The positions of the options that may be asked about."""
    if among is None:
        found = list(range(len(labels)))
    elif not is_list(among):
        raise ArgumentError(f"`among` must be a list of labels; got {among!r}.")
    else:
        found = sorted({place_in(format_label(each), labels, "among") for each in among})
    if len(found) < least:
        raise ArgumentError(
            f"A question needs at least {least} different options; available: {len(found)}. Add"
            " options."
        )
    return found


def place_in(label: str, labels: list[str], where: str) -> int:
    if label not in labels:
        raise ArgumentError(
            f"`{where}` contains {label!r}, which is not an option of the"
            f" data.{suggest(label, labels)}"
        )
    return labels.index(label)


def draw_some(rows: np.ndarray, most: int, rng: np.random.Generator) -> np.ndarray:
    """All rows, or so many of them at random."""
    return rows if len(rows) <= most else rows[np.sort(rng.choice(len(rows), most, replace=False))]


def subsets_of(own: list[int], size: int, rng: np.random.Generator) -> np.ndarray:
    """All sets of so many options, or some at random."""
    if comb(len(own), size) <= QUESTIONS:
        return np.array(list(combinations(own, size)), np.int64)
    found = np.array(
        [np.sort(rng.choice(own, size, replace=False)) for _ in range(QUESTIONS)], np.int64
    )
    return np.unique(found, axis=0)


def every_pair(among: Any, labels: list[str], rng: np.random.Generator) -> np.ndarray:
    """Return the pairs of options that may be asked about (pairs, 2), or some at random."""
    pairs = np.array(list(combinations(options_among(among, labels, 2), 2)), np.int64)
    return draw_some(pairs, NUMBERS // (3 * MIN_DRAWS), rng)


def spaced(n_draws: int, places: int) -> np.ndarray:
    """Return evenly spaced draws, as many as fit beside so many outcomes."""
    most = min(MAX_DRAWS, max(MIN_DRAWS, NUMBERS // places))
    return space_evenly(n_draws, most)


def pairs_table(
    labels: list[str],
    pairs: np.ndarray,
    p: np.ndarray,
    target: LearningTarget,
    n: int,
    rng: np.random.Generator,
) -> "pandas.DataFrame":
    """Return a row a pair, in the order in which they are best asked, of outcomes p (draws, pairs,
    outcomes)."""
    size = p.shape[-1]
    outcomes = QuestionOutcomes(p.reshape(len(p), -1), np.arange(len(pairs) + 1) * size)
    chosen = choose(outcomes, target, n, rng)
    mean = p.mean(axis=0)[chosen.questions]
    a, b = ([labels[k] for k in side] for side in pairs[chosen.questions].T)
    return question_table(
        {"a": a, "b": b}, {"p_a": mean[:, 0]} | ({"p_tie": mean[:, 1]} if size == 3 else {}), chosen
    )


def sets_table(
    labels: list[str],
    sets: np.ndarray,
    p: np.ndarray,
    target: LearningTarget,
    n: int,
    rng: np.random.Generator,
) -> "pandas.DataFrame":
    """Return a row a set (sets, size), in the order in which they are best asked, of p (draws,
    places)."""
    chosen = choose(QuestionOutcomes(p, np.arange(len(sets) + 1) * sets.shape[1]), target, n, rng)
    return question_table(
        {"members": [tuple(labels[k] for k in sets[q]) for q in chosen.questions]}, {}, chosen
    )


def check_goal(goal: Any, words: Any = WORDS, more: str = "") -> None:
    """Raise for another goal than these."""
    if goal not in words:
        raise ArgumentError(f"`goal` must be {', '.join(map(repr, words))}{more}; got {goal!r}.")


def target_of_worths(goal: str, utility: np.ndarray, rng: np.random.Generator) -> LearningTarget:
    """Return what is to be learned about the draw itself, ranks, or the best option, of utilities
    (draws, options)."""
    if goal == EVERYTHING:
        return LearningTarget()
    if goal == BEST:
        best = utility.argmax(axis=1)
        return LearningTarget(best == np.unique(best)[:, None])
    pairs = np.array(list(combinations(range(utility.shape[1]), 2)), np.int64)
    first, second = draw_some(pairs, VARIABLES, rng).T
    above = (utility[:, first] > utility[:, second]).T
    return LearningTarget(np.concatenate([above, ~above]), len(first), len(pairs))
