"""Small problems of triplets that several tests share."""

import numpy as np

import thali as th
from helpers.naive import latent_features as naive
from helpers.problems import contents, make_state
from thali._aspects.chain_state import NO_UNIQUE, ChainModel
from thali._aspects.kernel_operations import rebuild_cache
from thali._aspects.weight_priors import GammaWeights
from thali.likelihoods import MostSimilarPair
from thali.priors import IndianBuffet

LINKS = ("exp", "ratio")
LAPSE = 0.03
MIXED = th.Triplets.from_sets(  # sets of two, three and six pairs, some answered several times
    [
        ["a", "b", "c"],
        ["a", "b", "c"],
        ["a", "b", "c", "d"],
        [("a", "b"), ("c", "d")],
        [("a", "d"), ("a", "c")],
    ],
    [("a", "b"), ("b", "c"), ("b", "d"), ("c", "d"), ("a", "d")],
    labels=["a", "b", "c", "d"],
    counts=[2, 1, 3, 1, 2],
)


def three_objects(*counts):
    """So many answers that 0 and 1, 0 and 2, 1 and 2 are the most similar of the three."""
    return th.Triplets([(0, 1, 2), (0, 2, 1), (1, 2, 0)], counts=list(counts))


def build_triplets(data, link, prior=None, lo=1, hi=None, shape=1.0, rate=1.0, lapse=LAPSE):
    """A model of triplets as the samplers read it, and a function that makes a cache."""
    likelihood, make_cache = MostSimilarPair(link, lapse).compiled(data, GammaWeights(shape, rate))
    n = data.n_options
    prior = (prior or IndianBuffet()).compiled(n)
    return ChainModel(
        prior, likelihood, GammaWeights(shape, rate), lo, n if hi is None else hi, NO_UNIQUE, False
    ), make_cache


def start_of(data, link, matrix, weights, constant=0.4, prior=None, rows=4, **settings):
    """A model, and a state of it whose arrays are short: it is copied for every outcome."""
    model, make = build_triplets(data, link, prior, **settings)
    state, cache = make_state(model, make, matrix, weights, np.zeros(data.n_options), rows=rows)
    if link == "ratio":
        cache.real[0] = constant
        rebuild_cache(model.likelihood, cache, state)
    return model, (state, cache)


def naive_log_likelihood(data, link, pair):
    """Of a state and its cache, slow and obvious."""
    state, cache = pair
    matrix, weights, _ = contents(state)
    return naive.triplet_log_likelihood(data, matrix, weights, link, float(cache.real[0]), LAPSE)
