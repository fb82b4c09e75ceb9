"""Effective draws per CPU second on the finite model, thali's divided by NumPyro's.

    pip install -r benchmarks/numpyro-requirements.txt
    python benchmarks/numpyro_finite.py

Celebrities, nine unique and six free aspects, alpha learned. The worst of log-likelihood and the 36
choice probabilities counts. One core (the script pins itself to one), double precision, compiled;
compiling, tuning and warm-up are not counted. NumPyro runs DiscreteHMCGibbs with modified Gibbs
steps: with HMC and 32 chains at once (`jax.vmap`), the best of the few settings that were tried;
with the same, one chain after the other; and with NUTS, one chain after the other.
"""

import os
import sys
import time

os.environ.setdefault(
    "XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
)

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from effective_sample_sizes import columns, mean_and_error, run, worst_ess, worst_rhat
from jax.scipy.special import gammaln
from numpyro.infer import HMC, NUTS, DiscreteHMCGibbs

import thali as th
from thali._aspects.likelihoods.elimination import Elimination
from thali._aspects.priors.finite_features import FiniteFeatures

LAPSE = 0.01
ASPECTS = 6
TRAJECTORY = 1.5  # length of HMC's

numpyro.enable_x64()


def model(data, aspects):
    """Unique weights, and columns with the beta-Bernoulli prior of their owners, its probabilities
    integrated out.

    Explicit probabilities took longer an iteration in a short trial, and mixed no better.
    """
    n = data.n_options
    a = numpyro.sample("alpha", dist.Gamma(1.0, 1.0)) / aspects
    with numpyro.plate("option", n, dim=-2), numpyro.plate("aspect", aspects, dim=-1):
        owns = numpyro.sample("owns", dist.Bernoulli(0.5))
    m = owns.sum(0)
    numpyro.factor(
        "owners", jnp.sum(jnp.log(a) + gammaln(m + a) + gammaln(n - m + 1.0) - gammaln(n + 1.0 + a))
    )
    w = numpyro.sample("w", dist.Gamma(jnp.ones(aspects), 1.0).to_event(1))
    u = numpyro.sample("u", dist.Gamma(jnp.ones(n), 1.0).to_event(1))
    advantage = u[:, None] + (owns * w) @ (1.0 - owns).T
    there, back = advantage[data.first, data.second], advantage[data.second, data.first]
    p = (1.0 - LAPSE) * there / (there + back) + 0.5 * LAPSE
    numpyro.factor("choices", jnp.sum(data.wins * jnp.log(p) + data.losses * jnp.log1p(-p)))


def quantities(data, draws):
    """Log-likelihood (without binomial coefficients) and choice probabilities of NumPyro's draws;
    not timed."""
    owns, w, u = (np.asarray(draws[name], float) for name in ("owns", "w", "u"))
    advantage = u[..., None] + (owns * w[..., None, :]) @ (1.0 - owns).swapaxes(-1, -2)
    there, back = advantage[..., data.first, data.second], advantage[..., data.second, data.first]
    p = (1.0 - LAPSE) * there / (there + back) + 0.5 * LAPSE
    return [(data.wins * np.log(p) + data.losses * np.log1p(-p)).sum(-1), *columns(p)]


def run_numpyro(data, aspects, inner, at_once, chains, warm_up, draws, thin, seed=0):
    """Quantities and CPU seconds of sampling; warm-up and compiling are not counted."""
    kernel, arguments = DiscreteHMCGibbs(inner, modified=True), (data, aspects)

    def sweep(state, _):
        state = jax.lax.fori_loop(0, thin, lambda _, s: kernel.sample(s, arguments, {}), state)
        return state, kernel.postprocess_fn(arguments, {})(state.z)

    def sweeps(count):
        return lambda state: jax.lax.scan(sweep, state, length=count)

    keys = jax.random.split(jax.random.key(seed), chains)
    states = jax.vmap(lambda key: kernel.init(key, warm_up, None, arguments, {}))(keys)
    states, _ = jax.jit(jax.vmap(sweeps(-(-warm_up // thin))))(states)
    if at_once:
        groups, sample = [states], jax.vmap(sweeps(draws))
    else:
        groups = [jax.tree.map(lambda x, c=c: x[c], states) for c in range(chains)]
        sample = sweeps(draws)
    sample = jax.jit(sample).lower(groups[0]).compile()
    begin = time.process_time()
    found = [jax.block_until_ready(sample(group)[1]) for group in groups]
    spent = time.process_time() - begin
    draws = found[0] if at_once else jax.tree.map(lambda *x: np.stack(x), *found)
    return quantities(data, draws), spent


def run_thali(data, aspects, chains, tune, draws, thin, seed=0):
    likelihood = Elimination(LAPSE)
    posterior, spent = run(
        FiniteFeatures(aspects), likelihood, data, None, draws, tune, thin, chains, seed
    )
    coefficients = float(np.sum(log_coefficients(data)))
    return [
        np.asarray(posterior["log_likelihood"]) - coefficients,
        *columns(posterior["choice_probability"]),
    ], spent


def log_coefficients(data):
    from scipy.special import gammaln

    return (
        gammaln(data.wins + data.losses + 1.0)
        - gammaln(data.wins + 1.0)
        - gammaln(data.losses + 1.0)
    )


def worst_difference(ours, theirs):
    """The largest difference of posterior means, in its Monte Carlo standard errors."""
    z = []
    for a, b in zip(ours, theirs, strict=True):
        (mean, error), (other, its) = mean_and_error(a), mean_and_error(b)
        z.append(abs(mean - other) / np.hypot(error, its))
    return max(z)


def report(name, draws, seconds):
    """Print and return worst effective draws per CPU second; the two halves of the chains show the
    uncertainty."""
    half = len(draws[0]) // 2
    halves = [
        worst_ess([x[part] for x in draws]) / (seconds / 2)
        for part in (slice(half), slice(half, None))
    ]
    result = worst_ess(draws) / seconds
    print(
        f"{name}: worst ESS {worst_ess(draws):.0f} in {seconds:.0f} CPU s, {result:.3g} a second"
        f" (halves of the chains {halves[0]:.3g} and {halves[1]:.3g}), worst R-hat"
        f" {worst_rhat(draws):.3f}",
        flush=True,
    )
    return result


def main(small=False):
    data = th.datasets.celebrities()
    hmc, nuts = HMC(model, trajectory_length=TRAJECTORY), NUTS(model)
    # chains, tuning or warm-up sweeps, draws, thinning
    ours, at_once = (
        ((2, 50, 200, 1), (2, 20, 40, 1))
        if small
        else ((4, 20_000, 100_000, 10), (32, 10_000, 3_200, 10))
    )
    found, seconds = run_thali(data, ASPECTS, *ours)
    best = report("thali", found, seconds)

    theirs, seconds = run_numpyro(data, ASPECTS, hmc, True, *at_once)
    ratio = best / report("NumPyro, HMC, chains at once", theirs, seconds)
    print(
        f"  {len(found)} posterior means differ by {worst_difference(found, theirs):.1f} standard"
        " errors at most"
    )
    print(f"  thali / NumPyro: {ratio:.0f}")
    if small:
        return
    each = seconds / (at_once[0] * at_once[2] * at_once[3])
    chains, draws = 4, 2_000
    _, seconds = run_numpyro(data, ASPECTS, hmc, False, chains, 1_000, draws, 1)
    # an iteration is worth the same, whether chains run at once or in turn
    slower = seconds / (chains * draws) / each
    print(f"  thali / NumPyro with one chain after the other: {ratio * slower:.0f}", flush=True)

    theirs, seconds = run_numpyro(data, ASPECTS, nuts, False, 4, 10_000, 5_000, 10)
    ratio = best / report("NumPyro, NUTS, one chain after the other", theirs, seconds)
    print(
        f"  {len(found)} posterior means differ by {worst_difference(found, theirs):.1f} standard"
        " errors at most"
    )
    print(f"  thali / NumPyro: {ratio:.0f}")


if __name__ == "__main__":
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    main(small="--small" in sys.argv)
