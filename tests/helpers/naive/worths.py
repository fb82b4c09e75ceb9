"""The density of worths seen by judges, in time or in sets, written out answer by answer: slow, and
obviously right."""

import math
from collections.abc import Sequence
from itertools import permutations
from typing import NamedTuple

import numpy as np


class Comparison(NamedTuple):
    """Some comparisons of two options, numbers from 0."""

    first: int
    second: int
    period: int
    judge: int
    x: Sequence[float]
    wins: float
    losses: float
    tied: float


def log_joint(
    comparisons: Sequence[Comparison],
    log_worths: np.ndarray,
    log_discriminations: Sequence[float],
    beta: Sequence[float],
    log_nu: Sequence[float],
    tau: float | None,
    drift: float | None,
    steps: Sequence[int],
    entry: Sequence[int],
    lapse: float,
    spread: float,
    biases: Sequence[Sequence[float]] = (),
    bias_sd: float | None = None,
) -> float:
    """The log of the joint density of comparisons, without coefficients, of log worths (periods,
    options), of log discriminations, of coefficients, of the log of nu and each judge's deviation from
    it, and of each judge's biases, given the standard deviations."""
    found = 0.0
    for each in comparisons:
        d = _discrimination(log_discriminations, each.judge)
        eta = d * (log_worths[each.period, each.first] - log_worths[each.period, each.second])
        eta += sum(b * x for b, x in zip(beta, each.x, strict=True))
        if len(biases):
            eta += sum(b * x for b, x in zip(biases[each.judge], each.x, strict=True))
        p = (1.0 - lapse) / (1.0 + math.exp(-eta)) + lapse / 2.0
        own_log_nu = sum(log_nu[:1]) + sum(log_nu[1 + each.judge : 2 + each.judge])
        tie = math.exp(own_log_nu) * math.sqrt(p * (1.0 - p)) if len(log_nu) else 0.0
        outcomes = (each.wins, p), (each.losses, 1.0 - p), (each.tied, tie)
        found += sum(count * math.log(share / (1.0 + tie)) for count, share in outcomes if count)
    for option, begin in enumerate(entry):
        own = log_worths[:, option]
        found += _log_normal(own[begin], spread)
        for t in range(begin, len(steps)):
            found += _log_normal(own[t + 1] - own[t], (drift or 0.0) * math.sqrt(steps[t]))
    found += sum(_log_normal(b, 1.0) for b in beta)
    found += sum(_log_normal(b, bias_sd or 0.0) for own in biases for b in own)
    found += sum(_log_normal(g, tau or 0.0) for g in log_discriminations)
    found += sum(_log_normal(each, 2.0) for each in log_nu[:1])
    return found + sum(_log_normal(each, 1.0) for each in log_nu[1:])


def _discrimination(logs: Sequence[float], judge: int) -> float:
    """Of a judge among others, whose mean logarithm is 0."""
    return math.exp(logs[judge] - sum(logs) / len(logs)) if len(logs) else 1.0


def _log_normal(x: float, sd: float) -> float:
    return -0.5 * (x / sd) ** 2 - math.log(sd) - 0.5 * math.log(2.0 * math.pi)


# Choices out of sets, rankings among them ---------------------------------------------------------


class Answer(NamedTuple):
    """An answer to a set: the option that was chosen, or the best and the worst, before the
    others."""

    options: Sequence[int]
    judge: int
    times: float
    is_best_worst: bool


def log_joint_of_sets(
    answers: Sequence[Answer],
    log_worths: Sequence[float],
    log_discriminations: Sequence[float],
    tau: float | None,
    lapse: float,
    spread: float,
) -> float:
    """The log of the joint density of answers, without coefficients, of log worths and of log
    discriminations."""
    found = sum(_log_normal(each, spread) for each in log_worths)
    found += sum(_log_normal(g, tau or 0.0) for g in log_discriminations)
    for each in answers:
        d = _discrimination(log_discriminations, each.judge)
        weights = [math.exp(d * log_worths[option]) for option in each.options]
        if each.is_best_worst:
            best, worst, *others = weights
            orders = [[best, *between, worst] for between in permutations(others)]
            p = sum(
                math.prod(_chosen(left[k:], lapse) for k in range(len(left) - 1)) for left in orders
            )
        else:
            p = _chosen(weights, lapse)
        found += each.times * math.log(p)
    return found


def _chosen(weights: Sequence[float], lapse: float) -> float:
    """The probability of the first."""
    return (1.0 - lapse) * weights[0] / sum(weights) + lapse / len(weights)
