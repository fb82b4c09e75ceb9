"""A fit of every kind of model that runs chains: the same whatever stops it, for tests that stop it
at any moment."""

from typing import NamedTuple

import numpy as np
import pandas as pd

import thali as th
from helpers.classifier_runs import fit_rows
from helpers.experiment_data import simulate_experiment
from helpers.problems import random_comparisons
from helpers.sentences import without_warnings

RUN = {"tune": 40, "chains": 3, "random_seed": 1}


class Ratings(NamedTuple):
    """Data of the likelihood below."""

    rating: np.ndarray
    labels: tuple[str, ...]


def of_ratings(data, features, weights):
    """Each option's rating is the sum of the weights of its features, and a normal error."""
    return -0.5 * np.sum((data.rating - features @ weights) ** 2)


def _choices():
    rng = np.random.default_rng(4)
    rows = [
        (number, option, int(place == 0))
        for number in range(60)
        for place, option in enumerate(rng.permutation(list("abcde"))[: 3 + number % 2])
    ]
    frame = pd.DataFrame(rows, columns=["choice", "option", "chosen"])
    return th.Choices.from_frame(frame, choice_id="choice", alternative="option", chosen="chosen")


def _triplets():
    rng = np.random.default_rng(6)
    return th.Triplets(
        [tuple(rng.choice(list("abcdef"), 3, replace=False).tolist()) for _ in range(80)]
    )


def _similarities():
    values = np.random.default_rng(3).random((6, 6))
    return th.Similarities((values + values.T) / 2)


def _table():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 3))
    return X, (X[:, 0] + rng.logistic(size=60) > 0).astype(int)


def _experiment():
    return th.ChoiceExperiment.from_frame(
        simulate_experiment(n_respondents=12, n_tasks=6, seed=4), levels={"zoom": ["no", "yes"]}
    )


def _latent(model, data, thin):
    return lambda draws, **how: model().fit(
        data(), draws=draws, thin=thin, progressbar=False, **(RUN | how)
    )


def _classifier(model, **settings):
    def fit(draws, random_seed=RUN["random_seed"], **how):
        run = {**RUN, "draws": draws, "thin": 1, "random_state": random_seed} | settings | how
        return fit_rows(
            model,
            *_table(),
            **{name: value for name, value in run.items() if name != "random_seed"},
        )

    return fit


def _product_classes(method="mcmc", **wide):
    def fit(size, **how):
        run = wide | {"draws": size, "random_seed": 1, "progressbar": False}
        return th.ProductClasses(method=method).fit(_experiment(), **(run | how))

    return fit


KINDS = {  # name: (draws, or final sweeps, of a run of about a second; the fit)
    "pairs": (6000, _latent(th.EliminationByAspects, lambda: random_comparisons(5, 5), 2)),
    "tempered": (
        1500,
        _latent(
            lambda: th.EliminationByAspects(tempering=[1, 2, 4]),
            lambda: random_comparisons(5, 5),
            2,
        ),
    ),
    "sets": (2000, _latent(th.EliminationByAspects, _choices, 1)),
    "triplets": (6000, _latent(th.AdditiveClustering, _triplets, 2)),
    "additive": (3000, _latent(th.AdditiveClustering, _similarities, 2)),
    "own likelihood": (
        800,
        _latent(
            lambda: th.LatentFeatureModel(
                th.priors.IndianBuffet(), th.likelihoods.Custom(of_ratings)
            ),
            lambda: Ratings(np.array([0.0, 1.0, 2.0, 2.5]), ("a", "b", "c", "d")),
            1,
        ),
    ),
    "Plackett-Luce": (3000, _classifier(th.PlackettLuceRegression)),
    "sparse logit": (3000, _classifier(th.SparseMultinomialLogit)),
    "hierarchical logit": (
        5000,
        lambda draws, **how: th.HierarchicalLogit().fit(
            _experiment(), draws=draws, thin=1, progressbar=False, **(RUN | how)
        ),
    ),
    "product classes": (400, _product_classes(chains=3, tune=100, thin=4)),
    "particles": (20, _product_classes(method="smc", chains=3, sweeps_per_step=3)),
}


def fitted(kind: str, size: int | None = None, **how):
    """A fit of that kind, of about a second or of that many draws."""
    usual, fit = KINDS[kind]
    with without_warnings():
        return fit(usual if size is None else size, **how)


def draws_of(model) -> dict[str, np.ndarray]:
    """What a fit drew, (chain, draw, ...): numbers that do not hang on the order in which features
    are stored."""
    posterior = model.posterior_["posterior"].dataset
    padded = {"features", "weights"} if "feature" in posterior.sizes else set()
    return {
        name: v.values
        for name, v in posterior.data_vars.items()
        if name not in padded and "draw" in v.dims
    }
