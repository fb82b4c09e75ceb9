"""What the engine asks a likelihood is said by every likelihood."""

import pytest

import thali as th

OF_ALL = (
    "unique",
    "takes_signed_weights",
    "min_shape",
    "needs_tempering",
    "parameters",
    "approximate",
)
LIKELIHOODS = (
    th.likelihoods.Elimination(),
    th.likelihoods.Additive(),
    th.likelihoods.MostSimilarPair(),
    th.likelihoods.Custom(lambda data, features, weights: 0.0),
)


@pytest.mark.parametrize("likelihood", LIKELIHOODS, ids=lambda each: type(each).__name__)
@pytest.mark.parametrize("name", OF_ALL)
def test_every_likelihood_has_the_attributes_that_models_read(likelihood, name):
    assert name in dir(likelihood)


def test_only_triplets_have_an_approximation():
    assert [each.approximate is not None for each in LIKELIHOODS] == [False, False, True, False]
