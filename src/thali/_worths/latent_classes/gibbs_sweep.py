r"""Kernels of one sweep of the worths of latent classes and memberships.

.. math::
    P(z_p = g) = \pi_g, \quad \pi \sim \mathrm{Dirichlet}(1, \dots, 1), \qquad
    u_{gi} \sim N(0, s^2) \; \text{(free)}, \quad
    u_{gi} \sim N(M_i, \sigma^2), \; M_i \sim N(0, s^2) \; \text{(similar)}

A class is a person of `thali._worths.people` with the answers of its members. Free worths
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
from thali._inference.numerics.array_parts import part_ends, part_range
from thali._inference.numerics.discrete_draws import accept, draw_index
from thali._inference.numerics.hamiltonian_trajectories import sum_squares
from thali._inference.numerics.slice_sampling import draw_on_line

from ..people.gibbs_sweep import add_person_metric, compute_restarted_adaptation_gain
from ..people.person_likelihood import compute_slope
from ..people.sampler_moves import (
    SIGMA,
    S,
    ScaleLine,
    combine_with_means,
    count_deviations,
    evaluate_people,
    move_common,
    move_person,
    sample_mean,
    sample_sds,
    sample_tie,
    view_person_matrix,
)
from ..spread_prior import SPREAD_BEND, SPREAD_POWER

N_SPLIT_TRIALS = 2  # splits or merges that a sweep tries
SPLIT_STEP = 0.5  # spread of worths of a new class, in standard deviations of their prior


class Memberships(NamedTuple):
    """The class of each respondent, class sizes and log-likelihoods by class."""

    class_of: np.ndarray  # (P,)
    size: np.ndarray  # (G,)
    log_likelihood: np.ndarray  # (P, G) of the answers of each respondent by each class
    proposed: np.ndarray  # (P,) work space of splits


class ClassRecord(NamedTuple):
    """Recorded draws of a chain of latent classes, one row per draw."""

    class_of: np.ndarray  # (draws, P)
    worths: np.ndarray  # (draws, G, n) centred log worths of each class
    log_sds: np.ndarray  # (draws, 3) log s, log sigma, log lambda
    log_tie: np.ndarray  # (draws,) 0 without ties
    log_likelihood: np.ndarray  # (draws,) of all answers given classes, without coefficients


class ClassSettings(NamedTuple):
    """Settings of a chain of latent classes: similar classes, known spread."""

    are_known: bool  # whether memberships are fixed
    is_similar: bool
    is_spread_known: bool


@allocating
def run_class_sweeps(
    rng: np.random.Generator,
    answers: Any,
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
    """Run sweeps `sweep` + 1 to `until`; record every `thin`-th after `tune`.

    `answers` has the answers of respondents, `table` those of classes.
    """
    if sweep == 0 and settings.are_known:
        write_curvature(table, state)
        evaluate_people(table, state, state.u, state.log_likelihood, np.empty(state.u.size))
    while sweep < until:
        sweep += 1
        gain = compute_restarted_adaptation_gain(sweep, tune)
        if not settings.are_known:
            evaluate_respondents(answers, state, memberships)
            sample_memberships(rng, answers, state, memberships)
            count_answers(answers, table, state, memberships)
            write_curvature(table, state)
        if table.has_ties:
            sample_tie(rng, table, state)
        for g in range(state.log_likelihood.size):
            move_person(rng, table, state, g, gain)
        if settings.is_similar:
            sample_mean(rng, table, state)
            move_common(rng, table, state, gain)
            sample_sds(rng, table, state, settings.is_spread_known)
        elif not settings.is_spread_known:
            sample_free_spread(rng, table, state)
        if sweep > tune and (sweep - tune) % thin == 0:
            record_class_draw(table, state, memberships, record, (sweep - tune) // thin - 1)


# The class of each respondent given the worths of all classes -------------------------------------


@scalar
def class_worths(state: Any, g: Any) -> Any:
    """Return a view of the log worths of class g, shape (n,)."""
    n = state.mean.shape[1]
    return state.u[g * n : (g + 1) * n]


@part
def evaluate_respondents(answers: Any, state: Any, memberships: Any) -> None:
    """Compute the log-likelihood of each respondent's answers in each class."""
    for g in range(memberships.size.size):
        evaluate_class(answers, state, memberships, g)


@part
def evaluate_class(answers: Any, state: Any, memberships: Any, g: Any) -> None:
    """Compute the log-likelihood of each respondent's answers in class g."""
    slope = np.empty(state.mean.shape[1])
    for p in range(memberships.class_of.size):
        memberships.log_likelihood[p, g] = compute_slope(
            answers, answers.lapse, state.nu[0], p, class_worths(state, g), slope
        )


@part
def sample_memberships(
    rng: np.random.Generator, answers: Any, state: Any, memberships: Any
) -> None:
    """Update all memberships, by single draws and by splits and merges."""
    n_classes = memberships.size.size
    for p in range(memberships.class_of.size):
        sample_class(rng, memberships, p)
    for _ in range(N_SPLIT_TRIALS if n_classes > 1 else 0):
        g = draw_index(rng, n_classes)
        h = draw_index(rng, n_classes - 1)
        split_or_merge(rng, answers, state, memberships, g, h + 1 if h >= g else h)
    for g in range(n_classes):
        if memberships.size[g] == 0:
            sample_worths_about(rng, state, g, state.mean[0], math.exp(state.log_sds[SIGMA]))


@part
def sample_class(rng: np.random.Generator, memberships: Any, p: Any) -> None:
    """Sample the class of respondent p given all other memberships."""
    size, n_classes = memberships.size, memberships.size.size
    size[memberships.class_of[p]] -= 1
    logs = np.log(size + 1.0) + memberships.log_likelihood[p]
    weights = np.exp(logs - logs.max())
    remaining, g = rng.random() * weights.sum(), 0
    while g < n_classes - 1 and remaining >= weights[g]:
        remaining -= weights[g]
        g += 1
    memberships.class_of[p] = g
    size[g] += 1


@part
def split_or_merge(
    rng: np.random.Generator, answers: Any, state: Any, memberships: Any, g: Any, h: Any
) -> None:
    r"""Propose to split class g into g and empty class h, or to merge them.

    A split draws the worths of h about the worths of g, and assigns the n members of g in turn,
    each with the probability of `sample_class` given the earlier ones; a merge is the reverse, and
    then draws the worths of h from the prior. With q the density of the worths and Q the
    probability of the dealing a split is accepted with the ratio

    .. math:: \frac{n_g! \, n_h!}{n!} \prod_{p \in h} \frac{L_{ph}}{L_{pg}} \, \frac{p(u_h)}{q Q}
    """
    if memberships.size[g] == 0:
        return
    is_split, class_of = memberships.size[h] == 0, memberships.class_of
    sigma = math.exp(state.log_sds[SIGMA])
    if is_split:
        sample_worths_about(rng, state, h, class_worths(state, g), SPLIT_STEP * sigma)
        evaluate_class(answers, state, memberships, h)
    worths, worths_g = class_worths(state, h), class_worths(state, g)
    centre = state.mean[0] - state.mean[0].mean()
    log_ratio = (worths.size - 1) * math.log(SPLIT_STEP)
    log_ratio += (
        0.5
        * (sum_squares(worths - worths_g) / SPLIT_STEP**2 - sum_squares(worths - centre))
        / sigma**2
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
    """Return log(1 + exp(x)) without overflow."""
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


@scalar
def sample_worths_about(rng: np.random.Generator, state: Any, g: Any, centre: Any, sd: Any) -> None:
    """Sample centred log worths of class g around `centre` with sd `sd`."""
    worths, level = class_worths(state, g), 0.0
    for i in range(worths.size):
        worths[i] = centre[i] + sd * rng.standard_normal()
        level += worths[i] / worths.size
    for i in range(worths.size):
        worths[i] -= level


# Counts and curvature by class, for the moves of worths -------------------------------------------


@part
def count_answers(answers: Any, table: Any, state: Any, memberships: Any) -> None:
    """Count the answers of each class's members, and store its log-likelihood."""
    n_answers, state.log_likelihood[:], table.count[:] = answers.count.size, 0.0, 0.0
    for p in range(memberships.class_of.size):
        g = memberships.class_of[p]
        state.log_likelihood[g] += memberships.log_likelihood[p, g]
        for answer in part_range(answers.first_answer, p):
            table.count[g * n_answers + answer] = answers.count[answer]


@part
def write_curvature(table: Any, state: Any) -> None:
    """Store the curvature of each class's log-likelihood at equal worths."""
    state.curvature[:], state.metric[:] = 0.0, 0.0
    zeros = np.zeros(state.u.size)
    for g in range(table.x.shape[0]):
        curvature = view_person_matrix(table, state.curvature, g)
        for answer in part_range(table.first_answer, g):
            add_answer_curvature(table, answer, curvature)
        add_person_metric(table, state, g, zeros)


@scalar
def add_answer_curvature(table: Any, answer: Any, curvature: Any) -> None:
    """Add the curvature of one answer's minus log probability, at equal worths."""
    if table.count[answer] == 0.0:
        return
    first, stop = part_ends(table.start, answer)
    m = stop - first
    weight = table.count[answer] * (2.0 / (m - 1.0) if table.is_difference else 1.0 / m)
    for k in range(first, stop):
        curvature[table.member[k], table.member[k]] += weight
        for h in range(first, stop):
            curvature[table.member[k], table.member[h]] -= weight / m


@part
def sample_free_spread(rng: np.random.Generator, table: Any, state: Any) -> None:
    """Sample the prior sd of classes' log worths, which has a log-normal prior."""
    off = combine_with_means(table, state, state.mean, -1.0, 1.0, state.u)
    power = SPREAD_POWER - count_deviations(table)
    line = ScaleLine(power, 0.5 * sum_squares(off), 0.0, SPREAD_BEND)
    state.log_sds[SIGMA] = draw_on_line(rng, line, state.log_sds[SIGMA], 0.5)
    state.log_sds[S] = state.log_sds[SIGMA]


@part
def record_class_draw(table: Any, state: Any, memberships: Any, record: Any, row: Any) -> None:
    """Record the state of the chain as one draw."""
    record.class_of[row] = memberships.class_of
    record.worths[row] = state.u.reshape(memberships.size.size, state.mean.shape[1])
    record.log_sds[row] = state.log_sds
    record.log_tie[row] = math.log(state.nu[0])
    record.log_likelihood[row] = state.log_likelihood.sum()
