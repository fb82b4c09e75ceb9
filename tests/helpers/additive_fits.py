"""Models of similarities with made-up draws, for the tests of what comes after sampling."""

import dataclasses

import numpy as np

from helpers.posterior_cases import chain
from thali import AdditiveClustering, Similarities
from thali._aspects.draws.posterior_tree import build_datatree
from thali.likelihoods import Additive


def similarities(n, seed=0, labels=None, sigma=None):
    """Random similarities of n objects."""
    values = np.random.default_rng(seed).uniform(0, 1, (n, n))
    return Similarities((values + values.T) / 2, labels=labels, sigma=sigma)


def made_up_chain(
    n, draws, seed, *, beside, common, swap_rates, learns_sigma, has_constant, kept_by
):
    """Independent draws; the features `kept_by[seed]`, if it is there, are in every one of this
    chain."""
    drawn = chain(n, draws, seed, beside, common, unique=False)
    if seed in kept_by:
        drawn = _with_features(drawn, kept_by[seed])
    rng = np.random.default_rng(1000 + seed)
    sigma = 0.1 + 0.02 * rng.random(draws) if learns_sigma else np.full(draws, 0.1)
    constant = 0.2 + 0.05 * rng.random(draws) if has_constant else np.zeros(draws)
    stats = {}
    if swap_rates:
        stats = {
            "temperature": np.geomspace(1, 10, len(swap_rates) + 1),
            "swap_rate": np.array(swap_rates),
        }
    return dataclasses.replace(
        drawn,
        weights=0.1 * drawn.weights,
        extra={"constant": constant, "sigma": sigma},
        stats=stats,
    )


def _with_features(drawn, owners):
    """The same draws, with a further feature in front of each."""
    first = np.concatenate([[0], np.cumsum(drawn.n_features)[:-1]])
    first_owner = np.concatenate([[0], np.cumsum(drawn.sizes)])[first]
    return dataclasses.replace(
        drawn,
        n_features=drawn.n_features + 1,
        weights=np.insert(drawn.weights, first, 3.0),
        sizes=np.insert(drawn.sizes, first, len(owners)),
        owners=np.insert(
            drawn.owners, np.repeat(first_owner, len(owners)), np.tile(owners, len(first))
        ),
    )


def tree_of_columns(columns, data, constant, sigma, alpha):
    """The posterior of one chain that has drawn these features; a number stands for that number in
    every draw."""
    numbers = (
        np.broadcast_to(np.asarray(each, float), columns.n_draws)
        for each in (constant, sigma, alpha)
    )
    constant, sigma, alpha = map(np.array, numbers)
    features = {field.name: getattr(columns, field.name) for field in dataclasses.fields(columns)}
    drawn = dataclasses.replace(
        chain(data.n_options, columns.n_draws, mean_features=0.0),
        **features,
        alpha=alpha,
        extra={"constant": constant, "sigma": sigma},
        stats={},
    )
    return build_datatree([drawn], data, Additive(None), is_alpha_learned=True)


class MadeUp(AdditiveClustering):
    """Draws at random instead of fitting."""

    happens = staticmethod(lambda: None)  # in the middle of a fit
    _interrupted_ = False
    _fitted_to_ = "a few pairs"
    common = ((0, 1), (1, 2))  # features of most draws ...
    beside = 0.5  # ... and the mean number of others
    swap_rates = (0.3, 0.2)
    kept_by: dict = {}  # number of a chain: owners of a feature that it never lacks

    def fit(self, data, draws=100, chains=4, **budget):
        self.happens()
        likelihood = Additive(self.sigma, bool(self.constant))
        drawn = [
            made_up_chain(
                data.n_options,
                draws,
                seed,
                beside=self.beside,
                common=self.common,
                swap_rates=() if self.tempering is False else self.swap_rates,
                learns_sigma=likelihood.fixed_sigma(data) is None,
                has_constant=self.constant,
                kept_by=self.kept_by,
            )
            for seed in range(chains)
        ]
        self.posterior_ = build_datatree(
            drawn, data, likelihood, is_alpha_learned=self.alpha is None
        )
        return self


def made_up(
    n=4,
    labels=None,
    draws=100,
    chains=4,
    sigma=None,
    constant=True,
    alpha=None,
    data_sigma=None,
    **messages,
):
    """A model fitted to random similarities; `messages` are attributes of `MadeUp`."""
    model = type("Told", (MadeUp,), messages)(sigma=sigma, constant=constant, alpha=alpha)
    return model.fit(similarities(n, labels=labels, sigma=data_sigma), draws=draws, chains=chains)
