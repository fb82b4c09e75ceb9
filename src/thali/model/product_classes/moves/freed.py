"""The likelihood of a person's choices with ε of one feature integrated out: the one that separates most tasks.

Which feature that is depends on who owns what and on the classes, never on values: so values may move without it.
"""

import math
from typing import Any

from thali._jit import part, scalar
from thali.inference.numerics.gamma_tails import log_gamma_between, log_gamma_draw, mass

from ..choices import log_with_lapse
from ..likelihood import hard_hit, plain_soft_hit, soft_hit, sum_features
from ..state import MUTE, NEXT_OWNED, SIGN, SPLIT
from .bounds import UNBOUNDED, bound_task, limits


@scalar
def freed_feature(features: Any, n: Any) -> Any:
    """The feature of person n that separates most tasks; -1 if none separates any."""
    found, most = -1, 0
    f = features.people[n, 0]
    while f >= 0:
        if features.slots[f, SPLIT] > most:
            found, most = f, features.slots[f, SPLIT]
        f = features.slots[f, NEXT_OWNED]
    return found


@scalar
def is_freed(target: Any, features: Any, f: Any, free: Any, t: Any, tau: Any) -> Any:
    """Whether ε of feature f is integrated out in this task: it is the freed one, and the task is hard."""
    return f == free and features.separates[f, tau] != 0 and target.sharpness[t] == math.inf


@part
def log_freed_hits(problem: Any, target: Any, features: Any, work: Any, n: Any, f: Any, h: Any) -> Any:
    """ln of the likelihood of the choices of person n, ε of feature f and lapses integrated out."""
    tasks = problem.tasks
    if f >= 0:
        features.slots[f, MUTE] = 1
    sum_features(tasks, features, work.sums, 1, n)
    first, end, next_h = tasks.first_task[n], 0, math.lgamma(h + 1.0)
    for t in range(first, tasks.first_task[n + 1]):
        tau, c = t - first, end
        end = c + tasks.first_row[t + 1] - tasks.first_row[t] - 1
        if f >= 0 and features.separates[f, tau] != 0:
            sign = 1 - 2 * features.slots[f, SIGN]
            if target.sharpness[t] != math.inf:
                value = sign * features.value[f, tau]
                work.hit[tau] = soft_hit(work.sums, 1, c, end, target.sharpness[t], value, features.difference, f)
                continue
            low, high, winners = limits_of_eps(features, work, n, f, tau, c, end, sign)
            work.hit[tau] = mass(h, next_h, low, high) / winners if low < high else 0.0
        elif target.sharpness[t] != math.inf:
            work.hit[tau] = plain_soft_hit(work.sums, 1, c, end, target.sharpness[t])
        else:
            work.hit[tau] = hard_hit(features, work.sums, 1, n, tau, c, end)
    if f >= 0:
        features.slots[f, MUTE] = 0
    return log_with_lapse(tasks, target, work.hit, n)


@scalar
def limits_of_eps(features: Any, work: Any, n: Any, f: Any, tau: Any, c: Any, end: Any, sign: Any) -> Any:
    """Bounds on ln ε of feature f in a task, the first above the second if there is none; and the winners then."""
    low, high, winners, _, _, kind = bound_task(
        features, work.sums, 1, n, tau, c, end, features.difference, f, sign
    )
    if high <= low:
        return math.inf, -math.inf, winners
    if kind == UNBOUNDED:
        return -math.inf, math.inf, winners
    low, high = limits(kind, low, high, features.theta[f], features.log_theta[f])
    return low, high, winners


@scalar
def draw_freed(rng: Any, problem: Any, target: Any, features: Any, work: Any, n: Any, f: Any, h: Any) -> None:
    """ε of feature f in hard tasks, given everything else: from its prior where the choice was a lapse, or else between
    its bounds."""
    tasks = problem.tasks
    log_freed_hits(problem, target, features, work, n, f, h)
    if f < 0:
        return
    features.slots[f, MUTE] = 1
    first, end = tasks.first_task[n], 0
    for t in range(first, tasks.first_task[n + 1]):
        tau, c = t - first, end
        end = c + tasks.first_row[t + 1] - tasks.first_row[t] - 1
        if not is_freed(target, features, f, f, t, tau):
            continue
        at_random = target.delta[t] / (end - c + 1)
        meant = (1.0 - target.delta[t]) * work.hit[tau]
        low, high = -math.inf, math.inf
        if rng.random() * (at_random + meant) >= at_random:
            low, high, _ = limits_of_eps(features, work, n, f, tau, c, end, 1 - 2 * features.slots[f, SIGN])
        log_eps = log_gamma_draw(rng, h) if low == -math.inf and high == math.inf else log_gamma_between(rng, h, low, high)
        features.log_eps[f, tau] = log_eps
        features.value[f, tau] = features.theta[f] + math.exp(log_eps)
    features.slots[f, MUTE] = 0
