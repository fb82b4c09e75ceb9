"""Worths of people who differ, written out answer by answer: slow, and obviously right."""

import math
from collections.abc import Sequence
from itertools import permutations
from typing import NamedTuple

import numpy as np
from scipy.stats import halfnorm, multivariate_normal, norm

EFFECT_SD = 0.5
TIE_SD = 2.0


class PersonAnswer(NamedTuple):
    """What a person answered: options from the first to the last, of which the order of the first
    `depth` counts.

    Under the rule "reversed" the first is the best and the second the worst. A tie is of the two
    options of a pair.
    """

    person: int
    options: tuple[int, ...]
    depth: int = 1
    count: float = 1.0
    is_tie: bool = False


class Variables(NamedTuple):
    """Everything that the model draws; `worths` are those of people, of which the level means
    nothing."""

    population: np.ndarray  # (1 + q, n): log worths, then effects of columns
    loadings: np.ndarray  # (K, n)
    directions: np.ndarray  # (N, K)
    worths: np.ndarray  # (N, n)
    sigma: float
    s: float
    loading_sd: float  # lambda
    nu: float | None = None  # of ties


def compute_probability(
    answer: PersonAnswer, log_worths: np.ndarray, rule: str, lapse: float, nu: float | None
) -> float:
    """Return the probability of an answer at the log worths (n,) of its person."""
    members = answer.options
    if rule == "reversed":
        odds = {
            (i, j): math.exp(log_worths[i] - log_worths[j]) for i, j in permutations(members, 2)
        }
        return (1.0 - lapse) * odds[members[:2]] / sum(odds.values()) + lapse / len(odds)
    orders = [members[: answer.depth] + rest for rest in permutations(members[answer.depth :])]
    p = sum(_order_probability(order, log_worths, lapse) for order in orders)
    if nu is None:
        return p
    tie = nu * math.sqrt(p * (1.0 - p))
    if answer.is_tie:
        return tie / (1.0 + tie)
    return p / (1.0 + tie)


def _order_probability(order: Sequence[int], log_worths: np.ndarray, lapse: float) -> float:
    """Return the probability of choosing one option after the other from those left."""
    p = 1.0
    for k in range(len(order) - 1):
        left = np.exp(log_worths[list(order[k:])])
        p *= (1.0 - lapse) * left[0] / left.sum() + lapse / len(left)
    return p


def compute_log_likelihood(
    answers: Sequence[PersonAnswer],
    worths: np.ndarray,
    rule: str,
    lapse: float = 0.0,
    nu: float | None = None,
) -> float:
    """Return the log-likelihood of answers at the log worths (N, n) of people, without
    coefficients."""
    each = [
        compute_probability(answer, worths[answer.person], rule, lapse, nu) for answer in answers
    ]
    return sum(answer.count * math.log(p) for answer, p in zip(answers, each, strict=True))


def compute_log_joint(
    answers: Sequence[PersonAnswer],
    variables: Variables,
    columns: np.ndarray,
    rule: str,
    lapse: float = 0.0,
    has_directions: bool = True,
) -> float:
    """Return the log of the joint density of answers and variables, of logs of sigma, s, lambda and
    nu.

    Of the worths of a person it is the density of the differences from the last option that the
    person has seen. Columns (N, q) are standardised. Without directions they are integrated out:
    `variables.directions` mean nothing.
    """
    population, loadings, directions, worths, sigma, s, loading_sd, nu = variables
    log_p = compute_log_likelihood(answers, worths, rule, lapse, nu)
    log_p += (
        norm(0.0, s).logpdf(population[0]).sum() + norm(0.0, EFFECT_SD).logpdf(population[1:]).sum()
    )
    log_p += norm(0.0, loading_sd).logpdf(loadings).sum()
    log_p += norm(math.log(1.3), 1.0).logpdf(math.log(s))
    log_p += halfnorm.logpdf(sigma) + math.log(sigma)
    if len(loadings):
        log_p += halfnorm.logpdf(loading_sd) + math.log(loading_sd)
    if nu is not None:
        log_p += norm(0.0, TIE_SD).logpdf(math.log(nu))
    x = np.column_stack([np.ones(len(worths)), columns])
    for person in range(len(worths)):
        seen = sorted(
            {option for answer in answers if answer.person == person for option in answer.options}
        )
        mean, covariance = x[person] @ population, sigma**2 * np.eye(population.shape[1])
        if has_directions:
            mean = mean + directions[person] @ loadings
            log_p += norm.logpdf(directions[person]).sum()
        else:
            covariance = covariance + loadings.T @ loadings
        from_last = np.eye(population.shape[1])[seen[:-1]] - np.eye(population.shape[1])[seen[-1]]
        differences = multivariate_normal(from_last @ mean, from_last @ covariance @ from_last.T)
        log_p += differences.logpdf(from_last @ worths[person])
    return float(log_p)
