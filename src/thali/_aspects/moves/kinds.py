"""Moves of people between kinds, given the weights of all kinds, or with those of a kind that
nobody is of.

The shares of the kinds are integrated out, so that a person is of kind g with probability
proportional to

    (n_g + 1) L_g^beta,

n_g other people of kind g, L_g the likelihood of the person's answers under its weights, beta the
inverse temperature.
"""

import math
from typing import Any

from thali._compile.jit import scalar
from thali._inference.numerics.decisions import accept, draw_code, draw_index

from ..group_state import KAPPA, group_at, select_group
from ..operations import add_answer, cache_at, forget_answers, look_at_answers, rebuild
from ..state import BETA, COLUMNS, replica
from .group_densities import draw_gamma, log_gamma

SPLITS = 10  # or merges that are tried for every update of everybody's kind
STEP = 0.5  # over the root of kappa: of log weights of a kind that splits off


@scalar
def recount(model: Any, caches: Any, states: Any, kinds: Any) -> None:
    """Fill the counts of every kind from those who are of it."""
    for g in range(states.w.shape[0]):
        likelihood = group_at(model.groups.likelihood, g)
        forget_answers(likelihood, cache_at(likelihood, caches, g))
    look_at(model, caches, states, kinds)
    for p in range(kinds.of.shape[0]):
        count(model, caches, kinds, p, kinds.of[p], 1.0)


@scalar
def draw_kinds(rng: Any, model: Any, caches: Any, states: Any, base: Any, kinds: Any) -> None:
    """One update of everybody's kind, and of the weights of kinds that nobody is of."""
    look_at(model, caches, states, kinds)
    for p in range(kinds.of.shape[0]):
        draw_kind(rng, model, caches, states, kinds, p)
    number = kinds.size.shape[0]
    for _ in range(SPLITS if number > 1 else 0):
        g = draw_index(rng, number)
        h = draw_index(rng, number - 1)
        split_or_merge(rng, model, caches, states, base, kinds, g, h + 1 if h >= g else h)
    for g in range(number):
        if kinds.size[g] == 0:
            draw_weights_of_nobody(rng, model, caches, states, base, g)


@scalar
def look_at(model: Any, caches: Any, states: Any, kinds: Any) -> None:
    """The log probabilities of all answers under all kinds."""
    for g in range(states.w.shape[0]):
        look_at_kind(model, caches, states, kinds, g)


@scalar
def look_at_kind(model: Any, caches: Any, states: Any, kinds: Any, g: Any) -> None:
    likelihood, c, b = select_group(model.groups, caches, states, g)
    look_at_answers(likelihood, c, b, model.people, kinds.logs[g])


@scalar
def log_of_person(people: Any, kinds: Any, p: Any, g: Any) -> Any:
    """The log-likelihood of a person's answers under the weights of kind g."""
    total = 0.0
    for row in range(people.start[p], people.start[p + 1]):
        total += people.times[row] * kinds.logs[g, people.answer[row]]
    return total


@scalar
def count(model: Any, caches: Any, kinds: Any, p: Any, g: Any, sign: Any) -> None:
    """A person's answers come to kind g, or leave it where `sign` is -1."""
    likelihood, people = group_at(model.groups.likelihood, g), model.people
    c = cache_at(likelihood, caches, g)
    for row in range(people.start[p], people.start[p + 1]):
        answer = people.answer[row]
        add_answer(likelihood, c, people, answer, sign * people.times[row], kinds.logs[g, answer])


@scalar
def assign(model: Any, caches: Any, kinds: Any, p: Any, g: Any) -> None:
    """Person p is of kind g from now on."""
    before = kinds.of[p]
    if before != g:
        count(model, caches, kinds, p, before, -1.0)
        count(model, caches, kinds, p, g, 1.0)
        kinds.of[p] = g
        kinds.size[before] -= 1
        kinds.size[g] += 1


@scalar
def draw_kind(rng: Any, model: Any, caches: Any, states: Any, kinds: Any, p: Any) -> None:
    """The kind of person p given those of all others."""
    first, number = replica(states, 0), kinds.size.shape[0]
    top = -math.inf
    for g in range(number):
        others = kinds.size[g] - 1 if kinds.of[p] == g else kinds.size[g]
        first.block[g] = math.log(others + 1.0) + first.real[BETA] * log_of_person(
            model.people, kinds, p, g
        )
        top = max(top, first.block[g])
    assign(model, caches, kinds, p, draw_code(rng, first, number, top))


@scalar
def split_or_merge(
    rng: Any, model: Any, caches: Any, states: Any, base: Any, kinds: Any, g: Any, h: Any
) -> None:
    """Some people of kind g make a kind of their own, h, or all of h become of kind g.

    If nobody is of kind h, weights for it are drawn about those of g on the log scale, and all
    people of g are dealt out to the two, one after the other, each with the probability of
    `draw_kind` given those before. Otherwise the reverse: the weights of h are drawn from the prior
    afterwards. With q the density of these weights and Q the probability of the dealing, n people
    of g and h together,

        ratio of a split = n_g! n_h! / n! * prod over h of L_h / L_g * p(weights of h) / (q Q).

    The weights of a kind that nobody is of are drawn from the prior in any case before anything
    looks at them again, so that those that a split which is not accepted leaves behind do no harm.
    """
    splits = kinds.size[h] == 0
    if kinds.size[g] == 0:
        return
    first, people = replica(states, 0), model.people
    ratio = weights_about(rng, model, caches, states, base, g, h, splits)
    if splits:
        look_at_kind(model, caches, states, kinds, h)
    in_g, in_h = 0, 0
    for p in range(kinds.of.shape[0]):
        if kinds.of[p] != g and kinds.of[p] != h:
            continue
        gain = first.real[BETA] * (
            log_of_person(people, kinds, p, h) - log_of_person(people, kinds, p, g)
        )
        odds = math.log((in_h + 1.0) / (in_g + 1.0)) + gain
        to_h = kinds.of[p] == h
        if splits:
            to_h = rng.random() < 1.0 / (1.0 + math.exp(-odds)) if odds > -700.0 else False
            kinds.proposed[p] = h if to_h else g
        ratio += (gain + log1p_exp(-odds)) if to_h else log1p_exp(odds)
        if to_h:
            in_h += 1
        else:
            in_g += 1
    if in_g == 0 or in_h == 0:
        return
    ratio += math.lgamma(in_g + 1.0) + math.lgamma(in_h + 1.0) - math.lgamma(in_g + in_h + 1.0)
    if not accept(rng, ratio if splits else -ratio):
        return
    for p in range(kinds.of.shape[0]):
        if splits and kinds.of[p] == g:
            assign(model, caches, kinds, p, kinds.proposed[p])
        elif kinds.of[p] == h:
            assign(model, caches, kinds, p, g)


@scalar
def log1p_exp(x: Any) -> Any:
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


@scalar
def weights_about(
    rng: Any, model: Any, caches: Any, states: Any, base: Any, g: Any, h: Any, draws: Any
) -> Any:
    """log p - log q of the weights of kind h, which are first drawn about those of kind g if
    `draws`."""
    near, kappa = replica(states, g), base.real[KAPPA]
    likelihood, c, b = select_group(model.groups, caches, states, h)
    step = STEP / math.sqrt(kappa)
    total = 0.0
    for k in range(b.whole[COLUMNS]):
        if draws:
            b.w[k] = near.w[k] * math.exp(step * rng.standard_normal())
        total += log_gamma(kappa, base.v[k], b.w[k]) - log_about(b.w[k], near.w[k], step)
    if model.groups.unique:
        for i in range(base.own.shape[0]):
            if draws:
                b.s[i] = near.s[i] * math.exp(step * rng.standard_normal())
            total += log_gamma(kappa, base.own[i], b.s[i]) - log_about(b.s[i], near.s[i], step)
    if draws:
        rebuild(likelihood, c, b)
    return total


@scalar
def log_about(w: Any, middle: Any, step: Any) -> Any:
    """Log density of w, whose logarithm is normal about that of `middle`."""
    x = math.log(w / middle) / step
    return -0.5 * x * x - math.log(math.sqrt(2.0 * math.pi) * step * w)


@scalar
def draw_weights_of_nobody(
    rng: Any, model: Any, caches: Any, states: Any, base: Any, g: Any
) -> None:
    """The weights of a kind that nobody is of, from their prior."""
    likelihood, c, b = select_group(model.groups, caches, states, g)
    for k in range(b.whole[COLUMNS]):
        b.w[k] = draw_gamma(rng, base.real[KAPPA], base.v[k])
    if model.groups.unique:
        for i in range(base.own.shape[0]):
            b.s[i] = draw_gamma(rng, base.real[KAPPA], base.own[i])
    rebuild(likelihood, c, b)
