"""How much the answer to a question is expected to teach, in nats, from the draws of a posterior.

The answer to question q has probability p_qo(s) of outcome o in draw s. About the draw itself it teaches

    I = H(mean over s of p_q(s)) - mean over s of H(p_q(s)),

and about a variable that has a value in each draw the difference between the entropy of all draws' mean and that of the
means within the values, weighted by their probabilities. An entropy of a mean of finitely many draws is too small by
about half its variance over its value, summed over outcomes; this is added (the correction of Miller & Madow, for
probabilities that are averaged, not counted).
"""

from typing import NamedTuple

import numpy as np

ROWS = 2**12  # of weights over draws that are held against all outcomes: of answers times values
FEWEST_ANSWERS, MOST_ANSWERS = 8, 2**8  # combinations of answers to the questions chosen so far
CANDIDATES = 200  # questions from which all but the first are chosen: those that teach most alone
BLOCK = 2**23  # numbers held at once


class Outcomes(NamedTuple):
    """Questions and their answers."""

    probabilities: np.ndarray  # (draws, places) of every outcome, question after question
    start: np.ndarray  # (questions + 1,) the first place of each question

    def at(self, questions: np.ndarray) -> "Outcomes":
        """Some of the questions."""
        sizes = np.diff(self.start)[questions]
        places = np.repeat(self.start[questions] - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum())
        return Outcomes(self.probabilities[:, places], np.concatenate([[0], np.cumsum(sizes)]))

    def entropies(self) -> np.ndarray:
        """Of each question in each draw (draws, questions)."""
        p = self.probabilities
        terms = -p * np.log(p, out=np.zeros_like(p), where=p > 0.0)
        return np.add.reduceat(terms, self.start[:-1], axis=1)


class Target(NamedTuple):
    """What is to be learned: the draw itself, or variables with a value in each draw."""

    values: np.ndarray | None = None  # (rows, draws) bool: which draws have a value; those of a variable share them out
    variables: int = 1
    of: int = 1  # how many variables these stand for

    @property
    def rows(self) -> int:
        """How many values there are, of all variables."""
        return 1 if self.values is None else len(self.values)


class Chosen(NamedTuple):
    """Questions, in the order in which they were chosen."""

    questions: np.ndarray  # (n,) their numbers
    gains: np.ndarray  # (n,) what each is expected to teach, given the answers to those before it
    alone: np.ndarray  # (n,) what it would teach as the only one


def choose(outcomes: Outcomes, target: Target, n: int, rng: np.random.Generator) -> Chosen:
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
    return Chosen(numbers, np.array(found), np.maximum(alone[numbers], 0.0))


def gains(outcomes: Outcomes, target: Target, weights: np.ndarray, chance: np.ndarray) -> np.ndarray:
    """What each question is expected to teach (questions,).

    `weights` (answers, draws) are those of the draws after each combination of earlier answers, which sum to 1, and
    `chance` (answers,) its probability.
    """
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
            within += of_answer * share[there] @ _entropies(outcomes, part[there] / share[there, None])
    return (target.variables * prior - within) * target.of / target.variables


def _entropies(outcomes: Outcomes, weights: np.ndarray) -> np.ndarray:
    """The entropy of each question's answer under weighted draws (rows, questions), corrected for their number."""
    p = outcomes.probabilities
    mean, squared = weights @ p, weights**2
    variance = squared @ p**2 - 2.0 * mean * (squared @ p) + mean**2 * squared.sum(axis=1)[:, None]
    there = mean > 0.0
    log = np.log(mean, out=np.zeros_like(mean), where=there)
    half = np.divide(0.5 * variance, mean, out=np.zeros_like(mean), where=there)
    return np.add.reduceat(half - mean * log, outcomes.start[:-1], axis=1)


def _answered(
    outcomes: Outcomes, question: int, weights: np.ndarray, chance: np.ndarray, rows: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Weights of the draws, and the probability, of every combination of answers with those to one more question.

    Where they are too many, some are drawn by their probabilities.
    """
    p = outcomes.probabilities[:, outcomes.start[question] : outcomes.start[question + 1]]
    joint = (weights[:, None, :] * p.T).reshape(-1, len(p)) * np.repeat(chance, p.shape[1])[:, None]
    total = joint.sum(axis=1)
    joint, total = joint[total > 0.0], total[total > 0.0]
    most = min(max(FEWEST_ANSWERS, ROWS // rows), MOST_ANSWERS)
    if len(total) > most:
        drawn = rng.choice(len(total), most, p=total / total.sum())
        joint, share = joint[drawn], np.full(most, 1.0 / most)
    else:
        share = total / total.sum()
    return joint / joint.sum(axis=1)[:, None], share
