"""Updates of each respondent's latent class, with splits and merges of classes.

The class shares are integrated out, so that a respondent belongs to class g with probability
proportional to

    (n_g + 1) L_g^beta,

n_g other respondents in class g, L_g the likelihood of the respondent's answers under the weights
of class g, beta the inverse temperature.
"""

import math
from typing import Any

from thali._compile.jit import scalar
from thali._inference.numerics.array_parts import part_range
from thali._inference.numerics.discrete_draws import accept, draw_code, draw_index, draw_other_index

from ..chain_state import BETA, COLUMNS, count_groups, replica
from ..group_state import KAPPA, select_group, select_group_likelihood
from ..kernel_operations import (
    add_answer,
    clear_answers,
    compute_answer_logs,
    rebuild_cache,
    select_cache,
)
from .group_weight_density import draw_gamma, log_gamma

N_SPLIT_PROPOSALS = 10  # splits or merges proposed per update of all respondents' classes
SPLIT_STEP = 0.5  # standard deviation of log weights of a new class, times the root of kappa


@scalar
def recount_answers(model: Any, caches: Any, states: Any, membership: Any) -> None:
    """Recount the answers of every latent class from its respondents."""
    for g in range(count_groups(states)):
        likelihood = select_group_likelihood(model.groups.likelihood, g)
        clear_answers(likelihood, select_cache(likelihood, caches, g))
    fill_log_probabilities(model, caches, states, membership)
    for p in range(membership.of.size):
        count_answers(model, caches, membership, p, membership.of[p], 1.0)


@scalar
def draw_class_membership(
    rng: Any, model: Any, caches: Any, states: Any, base: Any, membership: Any
) -> None:
    """Update the latent class of each respondent, and the weights of empty classes."""
    fill_log_probabilities(model, caches, states, membership)
    for p in range(membership.of.size):
        draw_respondent_class(rng, model, caches, states, membership, p)
    n_classes = membership.size.shape[0]
    if n_classes > 1:
        for _ in range(N_SPLIT_PROPOSALS):
            g = draw_index(rng, n_classes)
            h = draw_other_index(rng, n_classes, g)
            propose_class_split_or_merge(rng, model, caches, states, base, membership, g, h)
    for g in range(n_classes):
        if membership.size[g] == 0:
            draw_empty_class_weights(rng, model, caches, states, base, g)


@scalar
def fill_log_probabilities(model: Any, caches: Any, states: Any, membership: Any) -> None:
    """Compute the log probability of every answer in every latent class."""
    for g in range(count_groups(states)):
        fill_class_log_probabilities(model, caches, states, membership, g)


@scalar
def fill_class_log_probabilities(
    model: Any, caches: Any, states: Any, membership: Any, g: Any
) -> None:
    """Compute the log probability of every answer in latent class g."""
    likelihood, c, b = select_group(model.groups, caches, states, g)
    compute_answer_logs(likelihood, c, b, model.people, membership.logs[g])


@scalar
def respondent_log_likelihood(people: Any, membership: Any, p: Any, g: Any) -> Any:
    """Return the log-likelihood of respondent p's answers in latent class g."""
    total = 0.0
    for row in part_range(people.start, p):
        total += people.times[row] * membership.logs[g, people.answer[row]]
    return total


@scalar
def count_answers(model: Any, caches: Any, membership: Any, p: Any, g: Any, sign: Any) -> None:
    """Add respondent p's answers to the counts of latent class g (sign 1 or -1)."""
    likelihood, people = select_group_likelihood(model.groups.likelihood, g), model.people
    c = select_cache(likelihood, caches, g)
    for row in part_range(people.start, p):
        answer = people.answer[row]
        add_answer(
            likelihood, c, people, answer, sign * people.times[row], membership.logs[g, answer]
        )


@scalar
def assign_respondent(model: Any, caches: Any, membership: Any, p: Any, g: Any) -> None:
    """Move respondent p to latent class g; update answer counts and class sizes."""
    old_class = membership.of[p]
    if old_class != g:
        count_answers(model, caches, membership, p, old_class, -1.0)
        count_answers(model, caches, membership, p, g, 1.0)
        membership.of[p] = g
        membership.size[old_class] -= 1
        membership.size[g] += 1


@scalar
def draw_respondent_class(
    rng: Any, model: Any, caches: Any, states: Any, membership: Any, p: Any
) -> None:
    """Draw the class of respondent p given the classes of all others."""
    first_class, n_classes = replica(states, 0), membership.size.shape[0]
    max_log = -math.inf
    for g in range(n_classes):
        n_others = membership.size[g]
        if membership.of[p] == g:
            n_others -= 1
        first_class.block[g] = math.log(n_others + 1.0) + first_class.real[
            BETA
        ] * respondent_log_likelihood(model.people, membership, p, g)
        max_log = max(max_log, first_class.block[g])
    assign_respondent(model, caches, membership, p, draw_code(rng, first_class, n_classes, max_log))


@scalar
def propose_class_split_or_merge(
    rng: Any, model: Any, caches: Any, states: Any, base: Any, membership: Any, g: Any, h: Any
) -> None:
    """Propose to split latent class g into g and h, or to merge h into g.

    If class h is empty, weights for it are drawn near the weights of g on the log scale, and the
    respondents of g are assigned to g or h in turn, each with the probability of
    `draw_respondent_class` given the assignments before. Otherwise the reverse: the weights of h
    are drawn from the prior afterwards. With q the density of these weights, Q the probability of
    the assignments, and n respondents in g and h together,

        ratio of a split = n_g! n_h! / n! * prod over h of L_h / L_g * p(weights of h) / (q Q).

    Weights of an empty class are always drawn from the prior before they are used again, so weights
    left by a rejected split have no effect.
    """
    is_split = membership.size[h] == 0
    if membership.size[g] == 0:
        return
    first_class, people = replica(states, 0), model.people
    ratio = draw_nearby_weights(rng, model, caches, states, base, g, h, is_split)
    if is_split:
        fill_class_log_probabilities(model, caches, states, membership, h)
    n_g, n_h = 0, 0
    for p in range(membership.of.size):
        if membership.of[p] != g and membership.of[p] != h:
            continue
        log_ratio = first_class.real[BETA] * (
            respondent_log_likelihood(people, membership, p, h)
            - respondent_log_likelihood(people, membership, p, g)
        )
        log_odds = math.log((n_h + 1.0) / (n_g + 1.0)) + log_ratio
        to_h = membership.of[p] == h
        if is_split:
            to_h = log_odds > -700.0 and rng.random() < 1.0 / (1.0 + math.exp(-log_odds))
        if to_h:
            membership.proposed[p] = h
            ratio += log_ratio + log1p_exp(-log_odds)
            n_h += 1
        else:
            membership.proposed[p] = g
            ratio += log1p_exp(log_odds)
            n_g += 1
    if n_g == 0 or n_h == 0:
        return
    ratio += math.lgamma(n_g + 1.0) + math.lgamma(n_h + 1.0) - math.lgamma(n_g + n_h + 1.0)
    if not is_split:
        ratio = -ratio
    if not accept(rng, ratio):
        return
    for p in range(membership.of.size):
        if is_split and membership.of[p] == g:
            assign_respondent(model, caches, membership, p, membership.proposed[p])
        elif membership.of[p] == h:
            assign_respondent(model, caches, membership, p, g)


@scalar
def log1p_exp(x: Any) -> Any:
    """Return log(1 + exp(x)) without overflow."""
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


@scalar
def draw_nearby_weights(
    rng: Any, model: Any, caches: Any, states: Any, base: Any, g: Any, h: Any, draws: Any
) -> Any:
    """Draw class h's weights near class g's (if `draws`); return log p - log q of them."""
    class_g, kappa = replica(states, g), base.real[KAPPA]
    likelihood, c, b = select_group(model.groups, caches, states, h)
    step = SPLIT_STEP / math.sqrt(kappa)
    total = 0.0
    for k in range(b.whole[COLUMNS]):
        if draws:
            b.w[k] = class_g.w[k] * math.exp(step * rng.standard_normal())
        total += log_gamma(kappa, base.v[k], b.w[k]) - log_normal_density(
            b.w[k], class_g.w[k], step
        )
    if model.groups.unique:
        for i in range(base.unique.size):
            if draws:
                b.s[i] = class_g.s[i] * math.exp(step * rng.standard_normal())
            total += log_gamma(kappa, base.unique[i], b.s[i]) - log_normal_density(
                b.s[i], class_g.s[i], step
            )
    if draws:
        rebuild_cache(likelihood, c, b)
    return total


@scalar
def log_normal_density(w: Any, center: Any, step: Any) -> Any:
    """Return the log density of w under a log-normal with median `center`."""
    z = math.log(w / center) / step
    return -0.5 * z * z - math.log(math.sqrt(2.0 * math.pi) * step * w)


@scalar
def draw_empty_class_weights(
    rng: Any, model: Any, caches: Any, states: Any, base: Any, g: Any
) -> None:
    """Draw the weights of latent class g, without respondents, from their prior."""
    likelihood, c, b = select_group(model.groups, caches, states, g)
    for k in range(b.whole[COLUMNS]):
        b.w[k] = draw_gamma(rng, base.real[KAPPA], base.v[k])
    if model.groups.unique:
        for i in range(base.unique.size):
            b.s[i] = draw_gamma(rng, base.real[KAPPA], base.unique[i])
    rebuild_cache(likelihood, c, b)
