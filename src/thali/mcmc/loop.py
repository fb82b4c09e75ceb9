"""What every sampler does between two rounds, a round being one sweep of every replica."""

from thali._jit import scalar
from thali.mcmc.bag import HEAT, SWEEPS, is_crowded, replica
from thali.mcmc.record import has_room, is_due, record
from thali.mcmc.start import prepare
from thali.mcmc.tuning import EVERY, adapt
from thali.mcmc.verbs import cache_at, rebuild

GO_ON, DONE, CROWDED, RECORD_FULL = range(4)
REBUILD = 200  # sweeps after which the likelihood's cache is filled from scratch


@scalar
def before_round(rng, model, caches, bags, steps, out, until, tune, thin):
    """Record the round before if it is due, then say whether the next may run.

    A kernel that is called again after the bags or the record have been enlarged goes on as if nothing had happened.
    """
    cold = steps.at[0]
    b = replica(bags, cold)
    if is_due(b, out, tune, thin):
        if not has_room(b, out):
            return RECORD_FULL
        record(rng, model, cache_at(model.likelihood, caches, cold), b, out)
    if b.whole[SWEEPS] >= until:
        return DONE
    for t in range(steps.heat.shape[0]):
        if is_crowded(replica(bags, t)):
            return CROWDED
    if b.whole[SWEEPS] == 0:
        for t in range(steps.heat.shape[0]):
            prepare(model, replica(bags, t))
    if b.whole[SWEEPS] % REBUILD == 0:  # undoes the drift of the caches; the first time, fills them
        for t in range(steps.heat.shape[0]):
            rebuild(model.likelihood, cache_at(model.likelihood, caches, t), replica(bags, t))
    return GO_ON


@scalar
def on_rung(bags, steps, t):
    """The bag of the replica on rung t, at that rung's temperature."""
    b = replica(bags, steps.at[t])
    b.real[HEAT] = steps.heat[t]
    return b


@scalar
def after_sweep(b, tuning, tune):
    """Count and adapt."""
    b.whole[SWEEPS] += 1
    sweep = b.whole[SWEEPS]
    if sweep <= tune and sweep % EVERY == 0:
        adapt(tuning, sweep, tune)
