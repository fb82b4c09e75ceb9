"""Joint-distribution test by restarts: features from the prior, data from them, then a few sweeps of the sampler.

If the sampler leaves the posterior of every data set invariant, features and weights have the prior distribution after
the sweeps as before, whatever the length of the run and the amount of data. The restarts are independent, so that
detection of an error does not depend on the mixing of a long chain.
"""

from typing import Any

import numpy as np

from thali.aspects.likelihoods.delta_checks import as_seen
from thali.aspects.samplers.chains import Chain
from thali.aspects.samplers.task import build_task
from thali.aspects.state import ALPHA, COLUMNS, ROOM, empty_state, stack
from thali.compile.jit import compiled_alone

SWEEPS_EACH = 20
NAMES = (
    "the log-likelihood",
    "alpha",
    "the number of features",
    "the number of features of one option",
    "the number of features of two",
    "the number of features of the first option",
    "the sum of the weights of shared features",
    "the number of shared features heavier than the mean",
)


def restart_scores(
    prior: Any, likelihood: Any, observed: Any, rounds: int, weight_prior: Any, random_seed: int
) -> dict[Any, Any]:
    """Means of some quantities before and after the sweeps, and the z-scores of their differences."""
    settings = {"weight_prior": weight_prior, "alpha": None, "sampler": None, "tempering": False}
    task = build_task(prior, likelihood, observed, draws=1, tune=0, thin=10**9, **settings)
    rng = np.random.default_rng(random_seed)
    chain = Chain(task, rng)
    weights = task.model.weights
    empty = np.zeros((observed.n_options, 0)), np.zeros(0)
    start = {name: getattr(observed.fields, name) for name in likelihood.parameters}
    whole, _ = compiled_alone(
        likelihood.log_likelihood, (likelihood.at(observed.fields, start), as_seen(empty[0]), empty[1])
    )
    before, after = [], []
    for _ in range(rounds):
        chain.states = stack([_from_prior(rng, prior, task.model, observed.n_options)])
        own = likelihood.prior_parameters(observed, weights, rng)
        chain.caches.parameters[0] = list(own.values())
        new = likelihood.simulate(likelihood.at(observed.original, own), *_contents(chain.state), rng)
        observed.replace(likelihood.at(new, {name: getattr(observed.original, name) for name in own}))
        before.append(_quantities(chain, likelihood, whole, observed.fields, weights.expected()))
        chain.run_to(SWEEPS_EACH)
        after.append(_quantities(chain, likelihood, whole, observed.fields, weights.expected()))
    first, last = np.array(before), np.array(after)
    change = last - first
    error = change.std(0) / np.sqrt(rounds)
    z = np.divide(change.mean(0), error, out=np.zeros(error.size), where=error != 0.0)
    names = (*NAMES, *(f"the parameter {name}" for name in likelihood.parameters))
    return {name: tuple(map(float, row)) for name, *row in zip(names, first.mean(0), last.mean(0), z, strict=True)}


def _from_prior(rng: np.random.Generator, prior: Any, model: Any, n: int) -> Any:
    """A state drawn from the prior, alpha from Gamma(1, 1); features that the likelihood ignores are only counted."""
    alpha = rng.standard_exponential()
    columns = prior.sample(n, alpha, rng).T
    sizes = columns.sum(1)
    kept = columns[sizes >= model.lo]
    count = len(kept)
    state = empty_state(n, 2 * len(columns) + ROOM)
    state.Z[:count, :n] = kept
    state.w[:count] = model.weights.random(rng, count)
    state.m[:count] = kept.sum(1)
    state.singles[:] = columns[sizes < model.lo].sum(0)
    state.whole[COLUMNS] = count
    state.real[ALPHA] = alpha
    return state


def _contents(state: Any) -> tuple[np.ndarray, np.ndarray]:
    """The features of the state, options by columns, and their weights: copies."""
    columns = int(state.whole[COLUMNS])
    return state.Z[:columns, :-1].T.copy(), state.w[:columns].copy()


def _quantities(chain: Any, likelihood: Any, whole: Any, fields: Any, mean_weight: float) -> list[float]:
    """The quantities of `NAMES`, and the parameters."""
    state, values = chain.state, chain.caches.parameters[0].tolist()
    fields = likelihood.at(fields, dict(zip(likelihood.parameters, values, strict=True)))
    features, weights = _contents(state)
    sizes = features.sum(0)
    shared = weights[sizes > 1]
    return [
        float(whole(fields, as_seen(features), weights)),
        float(state.real[ALPHA]),
        sizes.size + state.singles.sum(),
        (sizes == 1).sum() + state.singles.sum(),
        (sizes == 2).sum(),
        features[0].sum() + state.singles[0],
        shared.sum(),
        (shared > mean_weight).sum(),
        *values,
    ]
