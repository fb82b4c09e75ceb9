"""Joint-distribution test by restarts: features from the prior, data from them, then a few sweeps of the sampler.

If the sampler leaves the posterior of every data set invariant, features and weights after the sweeps have the prior
distribution that they had before, however long or short the run and however much the data say. Every restart is
independent of the others, so that no mixing of a long chain stands between an error and its detection.
"""

import numpy as np

from thali._jit import compiled_alone
from thali.likelihoods.changes import as_seen
from thali.mcmc.bag import ALPHA, COLUMNS, ROOM, empty_bag, stack
from thali.mcmc.chains import Chain
from thali.models.engine import build_task

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


def restart_scores(prior, likelihood, observed, rounds: int, weight_prior, random_seed: int) -> dict:
    """Means of some quantities before and after the sweeps, and the z-scores of their differences.

    Parameters
    ----------
    prior : an infinite one of `thali.priors`
    likelihood : thali.likelihoods.Custom with `simulate`
    observed : thali.likelihoods.observed.Observed
        Its values are overwritten.
    rounds : int
    weight_prior : (shape, rate)
    random_seed : int

    Returns
    -------
    dict
        For each quantity (mean before, mean after, z); z is standard normal if all is right.

    References
    ----------
    Geweke (2004), Getting it right; Gandy & Scott (2020), Unit testing for MCMC and other Monte Carlo methods.
    """
    settings = {"weight_prior": weight_prior, "alpha": None, "sampler": None, "tempering": False}
    task = build_task(prior, likelihood, observed, draws=1, tune=0, thin=10**9, **settings)
    rng = np.random.default_rng(random_seed)
    chain = Chain(task, rng)
    shape, rate = weight_prior
    state = np.zeros((observed.n_options, 0)), np.zeros(0)
    whole, _ = compiled_alone(likelihood.log_likelihood, (observed.fields, as_seen(state[0]), state[1]))
    before, after = [], []
    for _ in range(rounds):
        chain.bags = stack([_from_prior(rng, prior, task.model, observed.n_options)])
        observed.replace(likelihood.simulate(observed.original, *_contents(chain.bag), rng))
        before.append(_quantities(chain.bag, whole, observed.fields, shape / rate))
        chain.run_to(SWEEPS_EACH)
        after.append(_quantities(chain.bag, whole, observed.fields, shape / rate))
    first, last = np.array(before), np.array(after)
    change = last - first
    error = change.std(0) / np.sqrt(rounds)
    z = np.divide(change.mean(0), error, out=np.zeros(error.size), where=error != 0.0)
    return {name: tuple(map(float, row)) for name, *row in zip(NAMES, first.mean(0), last.mean(0), z, strict=True)}


def _from_prior(rng: np.random.Generator, prior, model, n: int):
    """A bag drawn from the prior, alpha from Gamma(1, 1); features that the likelihood cannot see are counted only."""
    alpha = rng.standard_exponential()
    columns = prior.sample(n, alpha, rng).T
    sizes = columns.sum(1)
    kept = columns[sizes >= model.lo]
    count = len(kept)
    bag = empty_bag(n, 2 * len(columns) + ROOM)
    bag.Z[:count, :n] = kept
    bag.w[:count] = rng.gamma(model.shape, 1.0 / model.rate, count)
    bag.m[:count] = kept.sum(1)
    bag.singles[:] = columns[sizes < model.lo].sum(0)
    bag.whole[COLUMNS] = count
    bag.real[ALPHA] = alpha
    return bag


def _contents(bag) -> tuple[np.ndarray, np.ndarray]:
    """The features in the bag, options by columns, and their weights: copies."""
    columns = int(bag.whole[COLUMNS])
    return bag.Z[:columns, :-1].T.copy(), bag.w[:columns].copy()


def _quantities(bag, whole, fields, mean_weight: float) -> list[float]:
    """What `NAMES` names."""
    features, weights = _contents(bag)
    sizes = features.sum(0)
    shared = weights[sizes > 1]
    return [
        float(whole(fields, as_seen(features), weights)),
        float(bag.real[ALPHA]),
        sizes.size + bag.singles.sum(),
        (sizes == 1).sum() + bag.singles.sum(),
        (sizes == 2).sum(),
        features[0].sum() + bag.singles[0],
        shared.sum(),
        (shared > mean_weight).sum(),
    ]
