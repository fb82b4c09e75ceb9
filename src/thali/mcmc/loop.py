"""What every sampler does between two sweeps."""

from thali._jit import scalar
from thali.mcmc.bag import SWEEPS, is_crowded
from thali.mcmc.record import has_room, is_due, record
from thali.mcmc.tuning import EVERY, adapt
from thali.mcmc.verbs import rebuild

GO_ON, DONE, CROWDED, RECORD_FULL = range(4)
REBUILD = 200  # sweeps after which the likelihood's cache is filled from scratch


@scalar
def before_sweep(rng, model, c, b, out, until, tune, thin):
    """Record the sweep before if it is due, then say whether the next may run.

    A kernel that is called again after the bag or the record has been enlarged goes on as if nothing had happened.
    """
    if is_due(b, out, tune, thin):
        if not has_room(b, out):
            return RECORD_FULL
        record(rng, model, c, b, out)
    if b.whole[SWEEPS] >= until:
        return DONE
    if is_crowded(b):
        return CROWDED
    if b.whole[SWEEPS] % REBUILD == 0:
        rebuild(model.likelihood, c, b)  # undoes the drift of the cache; the first time, fills it
    return GO_ON


@scalar
def after_sweep(b, tuning, tune):
    """Count and adapt."""
    b.whole[SWEEPS] += 1
    sweep = b.whole[SWEEPS]
    if sweep <= tune and sweep % EVERY == 0:
        adapt(tuning, sweep, tune)
