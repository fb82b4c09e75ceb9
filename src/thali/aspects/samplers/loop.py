"""What every sampler does between two rounds; a round is one sweep of every replica."""

from typing import Any

from thali.compile.jit import scalar

from ..moves.tuning import EVERY, adapt
from ..operations import cache_at, rebuild
from ..state import BETA, SWEEPS, is_crowded, replica
from .record import has_room, is_due, record
from .start import prepare

GO_ON, DONE, CROWDED, RECORD_FULL = range(4)
REBUILD = 200  # sweeps after which the likelihood's cache is filled from scratch


@scalar
def before_round(
    rng: Any, model: Any, caches: Any, states: Any, steps: Any, out: Any, until: Any, tune: int, thin: Any
) -> Any:
    """Record the previous round if it is due; returns whether the next may run.

    A kernel that is called again with enlarged states or an enlarged record continues without any difference in draws.
    """
    cold = steps.at[0]
    b = replica(states, cold)
    if is_due(b, out, tune, thin):
        if not has_room(b, out):
            return RECORD_FULL
        record(rng, model, cache_at(model.likelihood, caches, cold), b, out)
    if b.whole[SWEEPS] >= until:
        return DONE
    for t in range(steps.beta.shape[0]):
        if is_crowded(replica(states, t)):
            return CROWDED
    if b.whole[SWEEPS] == 0:
        for t in range(steps.beta.shape[0]):
            prepare(model, replica(states, t))
    if b.whole[SWEEPS] % REBUILD == 0:  # undoes the drift of the caches; the first time, fills them
        for t in range(steps.beta.shape[0]):
            rebuild(model.likelihood, cache_at(model.likelihood, caches, t), replica(states, t))
    return GO_ON


@scalar
def on_level(states: Any, steps: Any, t: Any) -> Any:
    """The state of the replica on level t, at the inverse temperature of that level."""
    b = replica(states, steps.at[t])
    b.real[BETA] = steps.beta[t]
    return b


@scalar
def after_sweep(b: Any, tuning: Any, tune: int) -> None:
    """Count and adapt."""
    b.whole[SWEEPS] += 1
    sweep = b.whole[SWEEPS]
    if sweep <= tune and sweep % EVERY == 0:
        adapt(tuning, sweep, tune)
