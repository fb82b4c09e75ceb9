"""What a posterior says about the options themselves: what they share."""

import itertools

import numpy as np
import pytest
from helpers.all_drawn import all_drawn

import thali as th

pytestmark = [pytest.mark.fit, pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")]
RUN = {"draws": 12, "tune": 8, "thin": 1, "chains": 2, "random_seed": 1, "progressbar": False}
TRIPLETS = th.Triplets(
    [("a", "b", "c"), ("a", "b", "d"), ("c", "d", "a"), ("b", "c", "d"), ("a", "b", "c")]
)
SIMILAR = th.Similarities(
    np.array([[1, 0.8, 0.3, 0.1], [0.8, 1, 0.4, 0.2], [0.3, 0.4, 1, 0.6], [0.1, 0.2, 0.6, 1]])
)
MODELS = {
    "choices": (th.EliminationByAspects(), th.datasets.paris_rome(expected=True), True),
    "unique": (th.EliminationByAspects("unique"), th.datasets.paris_rome(expected=True), True),
    "similarities": (th.AdditiveClustering(), SIMILAR, False),
    "triplets": (th.AdditiveClustering(), TRIPLETS, False),
}


@pytest.mark.first(2)
@pytest.mark.parametrize("name", list(MODELS))
def test_shared_parts_are_those_of_each_draw(name, uncompiled):
    model, data, sees_single = MODELS[name]
    posterior = all_drawn(model.fit(data, **RUN).posterior_)
    features, weights = posterior["features"].values, posterior["weights"].values
    total = np.zeros((4, 4))
    for chain, draw in np.ndindex(2, 12):
        own = (
            posterior["unique_weights"].values[chain, draw]
            if "unique_weights" in posterior
            else np.zeros(4)
        )
        worth, shared = np.array(own, float), np.zeros((4, 4))
        for owners, w in zip(features[chain, draw], weights[chain, draw], strict=True):
            if owners.sum() < 4 and (sees_single or owners.sum() > 1):
                worth += w * owners
                shared += w * np.outer(owners, owners)
        for i, j in itertools.permutations(range(4), 2):
            mean = 0.5 * (worth[i] + worth[j])
            total[i, j] += shared[i, j] / mean if mean else 0.0
    found = model.option_similarity()
    assert list(found.index) == list(found.columns) == list(data.labels)
    np.testing.assert_allclose(found.to_numpy(), total / 24 + np.eye(4), atol=1e-12)
