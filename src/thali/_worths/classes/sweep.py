r"""One sweep of the sampler of worths of latent classes.

.. math::
    P(z_p = g) = \pi_g, \quad \pi \sim \mathrm{Dirichlet}(1, \dots, 1), \qquad
    u_{gi} \sim N(0, s^2) \; \text{(free)}, \quad
    u_{gi} \sim N(M_i, \sigma^2), \; M_i \sim N(0, s^2) \; \text{(similar)}

A class is a person of `thali._worths.people` whose answers are those of its members. Free worths
are similar ones with M = 0 and the spread s as sigma. Shares are integrated out, so that respondent
p is in class g with probability proportional to :math:`(n_g + 1) L_{pg}`, where n counts the other
members and L is the likelihood of the respondent's answers by the worths of the class.

A sweep:

0. the class of each respondent; splits and merges of classes; worths of classes without members
   from their prior;
1. nu by a slice, where pairs end in ties;
2. the worths of each class, by a trajectory;
3. of similar worths M given all classes, then M and log sigma with all classes;
4. sigma and s by slices.

The metric of trajectories is the curvature of the answers of a class at equal worths, which depends
on memberships alone.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from thali._compile.jit import allocating, part, scalar
from thali._inference.numerics.decisions import accept, draw_index
from thali._inference.numerics.slices import draw_on_line
from thali._inference.numerics.trajectories import sum_squares

from ..density import LOG_SPREAD_MEAN, LOG_SPREAD_SD
from ..people.likelihood import compute_slope
from ..people.moves import (
    SIGMA,
    S,
    ScaleLine,
    combine,
    count_deviations,
    draw_mean,
    draw_sds,
    draw_tie,
    evaluate_people,
    move_person,
    move_together,
    person_square,
)
from ..people.sweep import DECAY, add_person_metric

SPLITS = 2  # or merges that a sweep tries
STEP = 0.5  # of log worths of a class that splits off, in standard deviations of their prior


class Memberships(NamedTuple):
    """Who is in which class."""

    class_of: np.ndarray  # (P,)
    size: np.ndarray  # (G,)
    log_likelihood: np.ndarray  # (P, G) of the answers of each respondent by each class
    proposed: np.ndarray  # (P,) work space of splits


class ClassRecord(NamedTuple):
    """The draws so far, a row each."""

    class_of: np.ndarray  # (draws, P)
    worths: np.ndarray  # (draws, G, n) centred log worths of each class
    log_sds: np.ndarray  # (draws, 3) log s, log sigma, log lambda
    log_tie: np.ndarray  # (draws,) 0 without ties
    log_likelihood: np.ndarray  # (draws,) of all answers given classes, without coefficients


class ClassSettings(NamedTuple):
    """What a chain is told."""

    are_known: bool  # whether memberships are fixed
    is_similar: bool
    is_spread_known: bool


@allocating
def run(
    rng: np.random.Generator,
    people: Any,
    table: Any,
    settings: Any,
    state: Any,
    memberships: Any,
    record: Any,
    sweep: Any,
    until: Any,
    tune: int,
    thin: Any,
) -> None:
    """Sweeps number `sweep` + 1 to `until`; every `thin`-th one after `tune` is recorded.

    `people` has the answers of respondents, `table` those of classes.
    """
    half = tune // 2
    if sweep == 0 and settings.are_known:
        write_curvature(table, state)
        evaluate_people(table, state, state.u, state.log_likelihood, np.empty(state.u.size))
    while sweep < until:
        sweep += 1
        gain = 0.0
        if sweep <= tune:
            gain = (sweep if sweep <= half else sweep - half) ** -DECAY
        if not settings.are_known:
            evaluate_respondents(people, state, memberships)
            draw_memberships(rng, people, state, memberships)
            count_answers(people, table, state, memberships)
            write_curvature(table, state)
        if table.has_ties:
            draw_tie(rng, table, state)
        for g in range(state.log_likelihood.size):
            move_person(rng, table, state, g, gain)
        if settings.is_similar:
            draw_mean(rng, table, state)
            move_together(rng, table, state, gain)
            draw_sds(rng, table, state, settings.is_spread_known)
        elif not settings.is_spread_known:
            draw_spread(rng, table, state)
        if sweep > tune and (sweep - tune) % thin == 0:
            record_draw(table, state, memberships, record, (sweep - tune) // thin - 1)


# The class of each respondent given the worths of all classes -------------------------------------


@scalar
def class_worths(state: Any, g: Any) -> Any:
    """Return the log worths (n,) of class g, a view."""
    n = state.mean.shape[1]
    return state.u[g * n : (g + 1) * n]


@part
def evaluate_respondents(people: Any, state: Any, memberships: Any) -> None:
    """Write the log-likelihood of each respondent by each class."""
    for g in range(memberships.size.size):
        evaluate_class(people, state, memberships, g)


@part
def evaluate_class(people: Any, state: Any, memberships: Any, g: Any) -> None:
    """Write the log-likelihood of each respondent by class g."""
    slope = np.empty(state.mean.shape[1])
    for p in range(memberships.class_of.size):
        memberships.log_likelihood[p, g] = compute_slope(
            people, people.lapse, state.nu[0], p, class_worths(state, g), slope
        )


@part
def draw_memberships(rng: np.random.Generator, people: Any, state: Any, memberships: Any) -> None:
    """Draw the class of each respondent, split and merge, and draw worths of empty classes."""
    n_classes = memberships.size.size
    for p in range(memberships.class_of.size):
        draw_class(rng, memberships, p)
    for _ in range(SPLITS if n_classes > 1 else 0):
        g = draw_index(rng, n_classes)
        h = draw_index(rng, n_classes - 1)
        split_or_merge(rng, people, state, memberships, g, h + 1 if h >= g else h)
    for g in range(n_classes):
        if memberships.size[g] == 0:
            draw_worths_about(rng, state, g, state.mean[0], math.exp(state.log_sds[SIGMA]))


@part
def draw_class(rng: np.random.Generator, memberships: Any, p: Any) -> None:
    """Draw the class of respondent p given those of all others."""
    size, n_classes = memberships.size, memberships.size.size
    size[memberships.class_of[p]] -= 1
    logs = np.log(size + 1.0) + memberships.log_likelihood[p]
    weights = np.exp(logs - logs.max())
    left, g = rng.random() * weights.sum(), 0
    while g < n_classes - 1 and left >= weights[g]:
        left -= weights[g]
        g += 1
    memberships.class_of[p] = g
    size[g] += 1


@part
def split_or_merge(
    rng: np.random.Generator, people: Any, state: Any, memberships: Any, g: Any, h: Any
) -> None:
    r"""Move some members of class g to an empty class h, or all of h to g.

    A split draws the worths of h about those of g, and deals the n members of g out one after the
    other, each with the probability of `draw_class` given those before; a merge is the reverse,
    after which the worths of h are drawn from the prior. With q the density of the worths and Q the
    probability of the dealing a split is accepted with the ratio

    .. math:: \frac{n_g! \, n_h!}{n!} \prod_{p \in h} \frac{L_{ph}}{L_{pg}} \, \frac{p(u_h)}{q Q}
    """
    if memberships.size[g] == 0:
        return
    is_split, class_of = memberships.size[h] == 0, memberships.class_of
    sigma = math.exp(state.log_sds[SIGMA])
    if is_split:
        draw_worths_about(rng, state, h, class_worths(state, g), STEP * sigma)
        evaluate_class(people, state, memberships, h)
    worths, near = class_worths(state, h), class_worths(state, g)
    centre = state.mean[0] - state.mean[0].mean()
    log_ratio = (worths.size - 1) * math.log(STEP)
    log_ratio += (
        0.5 * (sum_squares(worths - near) / STEP**2 - sum_squares(worths - centre)) / sigma**2
    )
    in_g, in_h = 0, 0
    for p in range(class_of.size):
        if class_of[p] != g and class_of[p] != h:
            continue
        gain = memberships.log_likelihood[p, h] - memberships.log_likelihood[p, g]
        log_odds = math.log((in_h + 1.0) / (in_g + 1.0)) + gain
        is_in_h = class_of[p] == h
        if is_split:
            is_in_h = rng.standard_exponential() < log1p_exp(log_odds)
            memberships.proposed[p] = h if is_in_h else g
        log_ratio += gain + log1p_exp(-log_odds) if is_in_h else log1p_exp(log_odds)
        in_h += is_in_h
        in_g += not is_in_h
    if in_g == 0 or in_h == 0:
        return
    log_ratio += math.lgamma(in_g + 1.0) + math.lgamma(in_h + 1.0) - math.lgamma(in_g + in_h + 1.0)
    if not accept(rng, log_ratio if is_split else -log_ratio):
        return
    for p in range(class_of.size):
        if class_of[p] == h:
            class_of[p] = g
        elif class_of[p] == g and is_split:
            class_of[p] = memberships.proposed[p]
    memberships.size[g] = in_g if is_split else in_g + in_h
    memberships.size[h] = in_h if is_split else 0


@scalar
def log1p_exp(x: Any) -> Any:
    """Return log(1 + exp(x))."""
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


@scalar
def draw_worths_about(rng: np.random.Generator, state: Any, g: Any, centre: Any, sd: Any) -> None:
    """Draw the worths of class g about a centre, less their mean."""
    worths, level = class_worths(state, g), 0.0
    for i in range(worths.size):
        worths[i] = centre[i] + sd * rng.standard_normal()
        level += worths[i] / worths.size
    for i in range(worths.size):
        worths[i] -= level


# What the moves of worths need of memberships -----------------------------------------------------


@part
def count_answers(people: Any, table: Any, state: Any, memberships: Any) -> None:
    """Write how often members of each class gave each answer, and the log-likelihood of each."""
    n_answers, state.log_likelihood[:], table.count[:] = people.count.size, 0.0, 0.0
    for p in range(memberships.class_of.size):
        g = memberships.class_of[p]
        state.log_likelihood[g] += memberships.log_likelihood[p, g]
        for answer in range(people.first_answer[p], people.first_answer[p + 1]):
            table.count[g * n_answers + answer] = people.count[answer]


@part
def write_curvature(table: Any, state: Any) -> None:
    """Write the curvature of each class at equal worths, and that of all in common worths."""
    state.curvature[:], state.metric[:] = 0.0, 0.0
    zeros = np.zeros(state.u.size)
    for g in range(table.x.shape[0]):
        curvature = person_square(table, state.curvature, g)
        for answer in range(table.first_answer[g], table.first_answer[g + 1]):
            add_curvature(table, answer, curvature)
        add_person_metric(table, state, g, zeros)


@scalar
def add_curvature(table: Any, answer: Any, curvature: Any) -> None:
    """Add the curvature of minus the log probability of an answer, at equal worths."""
    if table.count[answer] == 0.0:
        return
    first, last = table.start[answer], table.start[answer + 1]
    m = last - first
    weight = table.count[answer] * (2.0 / (m - 1.0) if table.is_difference else 1.0 / m)
    for k in range(first, last):
        curvature[table.member[k], table.member[k]] += weight
        for other in range(first, last):
            curvature[table.member[k], table.member[other]] -= weight / m


@part
def draw_spread(rng: np.random.Generator, table: Any, state: Any) -> None:
    """Draw the spread of free worths, which is log-normal before the data."""
    off = np.empty(state.u.size)
    combine(table, state, state.mean, -1.0, 1.0, state.u, off)
    power = LOG_SPREAD_MEAN / LOG_SPREAD_SD**2 - count_deviations(table)
    line = ScaleLine(power, 0.5 * sum_squares(off), 0.0, LOG_SPREAD_SD**-2.0)
    state.log_sds[SIGMA] = draw_on_line(rng, line, state.log_sds[SIGMA], 0.5)
    state.log_sds[S] = state.log_sds[SIGMA]


@part
def record_draw(table: Any, state: Any, memberships: Any, record: Any, row: Any) -> None:
    """Record the state."""
    record.class_of[row] = memberships.class_of
    record.worths[row] = state.u.reshape(memberships.size.size, state.mean.shape[1])
    record.log_sds[row] = state.log_sds
    record.log_tie[row] = math.log(state.nu[0])
    record.log_likelihood[row] = state.log_likelihood.sum()
