"""Seeded draws of made-up chains, for the tests of what comes after sampling."""

import json

import numpy as np
import pandas as pd

import thali as th
from thali import PairedComparisons
from thali._aspects.draws.posterior_tree import build_datatree
from thali._aspects.samplers.chains import RecordedDraws
from thali._posterior.convergence_check import check_convergence
from thali.likelihoods import Elimination

LAPSE = 0.01


def comparisons(n_options, seed=0, per_pair=20, share=1.0, labels=None):
    """Counts of a Bradley-Terry-Luce chooser; only a share of the pairs is compared."""
    rng = np.random.default_rng(seed)
    strength = rng.gamma(2.0, size=n_options)
    counts = np.zeros((n_options, n_options), dtype=int)
    for i in range(n_options):
        for j in range(i + 1, n_options):
            if j == i + 1 or rng.random() < share:
                counts[i, j] = rng.binomial(per_pair, strength[i] / (strength[i] + strength[j]))
                counts[j, i] = per_pair - counts[i, j]
    return PairedComparisons(counts, labels=labels)


def chain(n_options, draws=200, seed=0, mean_features=4.0, common=(), unique=True):
    """Independent draws; each pattern in `common` is present in 70 % of them, the others are
    random."""
    rng = np.random.default_rng(seed)
    n_features, weights, sizes, owners = [], [], [], []
    for _ in range(draws):
        patterns = [np.array(pattern) for pattern in common if rng.random() < 0.7]
        for _ in range(rng.poisson(mean_features)):
            size = rng.integers(1, n_options + 1)
            patterns.append(np.sort(rng.choice(n_options, size=size, replace=False)))
        n_features.append(len(patterns))
        weights.append(rng.gamma(1.0, size=len(patterns)))
        sizes += [len(pattern) for pattern in patterns]
        owners += patterns
    return RecordedDraws(
        alpha=rng.gamma(3.0, size=draws),
        log_likelihood=rng.normal(-100.0, 2.0, size=draws),
        unique_weights=rng.gamma(1.0, size=(draws, n_options)) * unique,
        n_features=np.array(n_features, dtype=np.int64),
        weights=np.concatenate([np.zeros(0), *weights]),
        sizes=np.array(sizes, dtype=np.int64),
        owners=np.concatenate([np.zeros(0, dtype=np.int32), *owners]).astype(np.int32),
        stats={"acceptance": rng.random()},
    )


def iterate_features(tree):
    """The features of one draw of a tree after the other, unpadded, chain after chain: (matrix,
    weights)."""
    latent, options = tree["latent_features"].dataset, tree["posterior"].sizes["option"]
    weights = latent["weights"].values
    weights = weights.reshape(-1, weights.shape[-1])
    if "features" in latent:
        for matrix, own in zip(
            latent["features"].values.reshape(*weights.shape, options), weights, strict=True
        ):
            present = matrix.any(axis=1)
            yield matrix[present].astype(bool), own[present]
        return
    lists = (latent[name].values.reshape(len(weights), -1) for name in ("feature_size", "owners"))
    for sizes, owners, own in zip(*lists, weights, strict=True):
        present = sizes > 0
        matrix = np.zeros((present.sum(), options), bool)
        matrix[np.repeat(np.arange(len(matrix)), sizes[present]), owners[owners >= 0]] = True
        yield matrix, own[present]


def written(unique, sets=None, **more):
    """One chain of draws that are written down: unique weights (draws, options), and lists of
    (owners, weight)."""
    unique = np.asarray(unique, float)
    sets = [[] for _ in unique] if sets is None else sets
    flat = [feature for draw in sets for feature in draw]
    fields = {
        "alpha": np.ones(len(unique)),
        "log_likelihood": np.zeros(len(unique)),
        "unique_weights": unique,
        "n_features": np.array([len(draw) for draw in sets], np.int64),
        "weights": np.array([weight for _, weight in flat], float),
        "sizes": np.array([len(owners) for owners, _ in flat], np.int64),
        "owners": np.array([i for owners, _ in flat for i in sorted(owners)], np.int32),
    }
    return RecordedDraws(**fields | more)


def features_of(draws):
    """The features of one chain, draw by draw, as lists of (owners, weight): slow and obvious."""
    column, owner = 0, 0
    for count in draws.n_features:
        features = []
        for _ in range(count):
            size = draws.sizes[column]
            features.append(
                (tuple(draws.owners[owner : owner + size].tolist()), draws.weights[column])
            )
            column, owner = column + 1, owner + size
        yield features


def tree_of(chains, data, lapse=LAPSE, unique=True, learned_alpha=True, **attrs):
    """The posterior tree, of a model with the defaults of `EliminationByAspects` unless said."""
    return build_datatree(
        chains, data, Elimination(lapse, unique), is_alpha_learned=learned_alpha, attrs=attrs
    )


def set_posterior(model, tree, data="answers of people"):
    """Make a model one that was fitted to data described so, with this posterior; return it."""
    model.posterior_, model._fitted_to_, model._interrupted_ = tree, data, False
    return model


def model_of(tree):
    """A fitted model of choices with this posterior."""
    return set_posterior(th.EliminationByAspects(), tree)


def small_fit():
    """Chains, data and tree of 5 options, 3 chains of 40 draws, some pairs never compared."""
    data = comparisons(5, share=0.5, labels=["tea", "coffee", "milk", "água", "Wasser, still"])
    chains = [chain(5, draws=40, seed=seed, common=[(0, 2), (1, 3, 4)]) for seed in range(3)]
    return chains, data, tree_of(chains, data, thali_model=json.dumps({"aspects": "ibp"}))


def large_fit():
    """Chains, data and tree of 70 options, which have 2,415 pairs: too many for dense features."""
    data = comparisons(70, share=0.1)
    chains = [chain(70, draws=15, seed=seed, common=[(3, 50, 69)]) for seed in range(2)]
    return chains, data, tree_of(chains, data)


def summarise(tree):
    """The summary of a tree."""
    return model_of(tree).summary()


def convergence(found):
    """Whether the chains of a tree agree, and the sentence; of a summary without advice of its
    own."""
    convergence = (
        check_convergence(found)
        if isinstance(found, pd.DataFrame)
        else model_of(found).convergence()
    )
    return convergence.agrees, str(convergence)
