"""What the samplers of groups do between two rounds, as `loop` and `tempering` do for one group."""

import math
from typing import Any

from thali.compile.jit import scalar
from thali.inference.numerics.decisions import accept

from ..group_stacked import group_at
from ..group_state import ACCEPTED, STEP, TRIED, base_at
from ..moves.tuning import EVERY, adapt, tuning_at
from ..operations import cache_at, log_likelihood, log_rate, rebuild, set_alpha
from ..state import ALPHA, BETA, COLUMNS, SWEEPS, is_crowded, replica
from .group_record import has_room, record
from .loop import CROWDED, DONE, GO_ON, REBUILD, RECORD_FULL
from .record import is_due

TARGET = 0.4  # acceptance rate of the moves of v with its weights


@scalar
def before_round(
    rng: Any, model: Any, caches: Any, states: Any, bases: Any, steps: Any, out: Any, until: Any, tune: int, thin: Any
) -> Any:
    """Record the previous round if it is due; returns whether the next may run."""
    cold = steps.at[0]
    level = replica(states, cold)
    first = replica(level, 0)
    if is_due(first, out, tune, thin):
        if not has_room(first, out):
            return RECORD_FULL
        record(model, cache_at(group_at(model.likelihood, 0), caches, cold), level, base_at(bases, cold), out)
    if first.whole[SWEEPS] >= until:
        return DONE
    for t in range(steps.beta.shape[0]):
        if is_crowded(replica(replica(states, t), 0)):
            return CROWDED
    if first.whole[SWEEPS] == 0:
        for t in range(steps.beta.shape[0]):
            prepare_groups(model, replica(states, t))
    if first.whole[SWEEPS] % REBUILD == 0:
        for t in range(steps.beta.shape[0]):
            for g in range(states.w.shape[1]):
                likelihood = group_at(model.likelihood, g)
                c = cache_at(likelihood, cache_at(likelihood, caches, t), g)
                rebuild(likelihood, c, replica(replica(states, t), g))
    return GO_ON


@scalar
def prepare_groups(model: Any, states: Any) -> None:
    """Fill everything that follows from the columns and alpha."""
    first = replica(states, 0)
    set_alpha(model.prior, first, first.real[ALPHA])
    for k in range(first.whole[COLUMNS]):
        first.log_rate[k] = log_rate(model.prior, first, k, first.m[k])


@scalar
def on_level(states: Any, steps: Any, t: Any) -> Any:
    """The states of the replica on level t, at the inverse temperature of that level."""
    level = replica(states, steps.at[t])
    for g in range(level.w.shape[0]):
        replica(level, g).real[BETA] = steps.beta[t]
    return level


@scalar
def after_round(states: Any, base: Any, tunings: Any, tune: int) -> None:
    """Count and adapt."""
    first = replica(states, 0)
    for g in range(states.w.shape[0]):
        replica(states, g).whole[SWEEPS] += 1
    sweep = first.whole[SWEEPS]
    if sweep <= tune and sweep % EVERY == 0:
        for g in range(states.w.shape[0]):
            adapt(tuning_at(tunings, g), sweep, tune)
        if base.real[TRIED] > 0.0:
            gain = 0.5 if 3 * sweep < tune else 0.15
            base.real[STEP] *= math.exp(gain * (base.real[ACCEPTED] / base.real[TRIED] - TARGET))
            base.real[TRIED] = base.real[ACCEPTED] = 0.0


@scalar
def whole_of_groups(model: Any, caches: Any, states: Any, t: Any) -> Any:
    """The log-likelihood of all groups at replica t."""
    total = 0.0
    for g in range(states.w.shape[1]):
        likelihood = group_at(model.likelihood, g)
        c = cache_at(likelihood, cache_at(likelihood, caches, t), g)
        total += log_likelihood(likelihood, c, replica(replica(states, t), g))
    return total


@scalar
def swap_groups(rng: Any, model: Any, caches: Any, states: Any, steps: Any) -> None:
    """Swap neighbouring levels, as `tempering.swap`."""
    for t in range(states.whole[0, 0, SWEEPS] % 2, steps.beta.shape[0] - 1, 2):
        lower, upper = steps.at[t], steps.at[t + 1]
        difference = whole_of_groups(model, caches, states, upper) - whole_of_groups(model, caches, states, lower)
        steps.tried[t] += 1.0
        if accept(rng, (steps.beta[t] - steps.beta[t + 1]) * difference):
            steps.at[t], steps.at[t + 1] = upper, lower
            steps.accepted[t] += 1.0
