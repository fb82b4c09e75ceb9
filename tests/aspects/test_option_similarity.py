"""What a posterior says about the options themselves: what they share, and the tree nearest to their features."""

import itertools
import math

import numpy as np
import pytest

import thali as th
from thali.aspects.answers.consensus import MAX_SETS, best_family, crosses
from thali.errors import ArgumentError

pytestmark = [pytest.mark.fit, pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")]
RUN = {"draws": 12, "tune": 8, "thin": 1, "chains": 2, "random_seed": 1, "progressbar": False}
TRIPLETS = th.Triplets([("a", "b", "c"), ("a", "b", "d"), ("c", "d", "a"), ("b", "c", "d"), ("a", "b", "c")])
SIMILAR = th.Similarities(np.array([[1, 0.8, 0.3, 0.1], [0.8, 1, 0.4, 0.2], [0.3, 0.4, 1, 0.6], [0.1, 0.2, 0.6, 1]]))
MODELS = {
    "choices": (th.EliminationByAspects(), th.datasets.paris_rome(expected=True), True),
    "unique": (th.EliminationByAspects("unique"), th.datasets.paris_rome(expected=True), True),
    "similarities": (th.AdditiveClustering(), SIMILAR, False),
    "triplets": (th.AdditiveClustering(), TRIPLETS, False),
}


@pytest.mark.parametrize("name", list(MODELS))
def test_shared_parts_are_those_of_each_draw(name, uncompiled):
    model, data, sees_single = MODELS[name]
    posterior = model.fit(data, **RUN).posterior_["posterior"].dataset
    features, weights = posterior["features"].values, posterior["weights"].values
    total = np.zeros((4, 4))
    for chain, draw in np.ndindex(2, 12):
        own = posterior["unique_weights"].values[chain, draw] if "unique_weights" in posterior else np.zeros(4)
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


def heaviest(sets, weights):
    """The best laminar family by trying all."""
    best = 0.0
    for some in itertools.product([False, True], repeat=len(sets)):
        chosen = [k for k, is_in in enumerate(some) if is_in]
        if not any(crosses(sets[a], sets[b]) for a, b in itertools.combinations(chosen, 2)):
            best = max(best, sum(weights[k] for k in chosen))
    return best


@pytest.mark.parametrize("seed", range(25))
def test_the_family_is_the_best_of_all(seed):
    rng = np.random.default_rng(seed)
    sets = list({frozenset(np.flatnonzero(rng.random(7) < 0.4).tolist()) for _ in range(11)} - {frozenset()})
    weights = rng.exponential(size=len(sets)).tolist()
    chosen, is_exact = best_family(sets, weights)
    assert is_exact and not any(crosses(sets[a], sets[b]) for a, b in itertools.combinations(chosen, 2))
    assert sum(weights[k] for k in chosen) == pytest.approx(heaviest(sets, weights))


def test_beyond_forty_sets_the_family_is_found_by_steps():
    rng = np.random.default_rng(1)
    sets = list({frozenset(np.flatnonzero(rng.random(12) < 0.3).tolist()) for _ in range(150)})
    weights = rng.exponential(size=len(sets)).tolist()
    chosen, is_exact = best_family(sets, weights)
    assert len(sets) > MAX_SETS and not is_exact
    assert not any(crosses(sets[a], sets[b]) for a, b in itertools.combinations(chosen, 2))
    left = set(range(len(sets))) - set(chosen)
    assert all(any(crosses(sets[k], sets[j]) for j in chosen) for k in left)


def test_no_set_makes_no_family():
    assert best_family([], []) == ([], True)


TREE = {"P+": ["city", "paris"], "P": ["city", "paris"], "R": ["city"], "R+": []}
CROSSED = {"P+": ["paris", "bonus"], "P": ["paris"], "R": [], "R+": ["bonus"]}


def given(aspects):
    model = th.EliminationByAspects(aspects)
    return model.fit(th.datasets.paris_rome(expected=True), **RUN)


def test_features_of_a_tree_are_wholly_a_tree(uncompiled):
    found = given(TREE).consensus_tree()
    assert found.tree_likeness == pytest.approx(1.0) and (found.low, found.high) == pytest.approx((1.0, 1.0))
    assert found.is_exact and found.without_shared == 0.0
    assert set(found.tree.clades()) == {frozenset({"P+", "P"}), frozenset({"P+", "P", "R"})}
    assert found.table["probability"].tolist() == [1.0, 1.0]
    assert "The tree holds 100 % of the expected weight" in str(found)


def test_of_features_that_cross_the_heavier_is_the_tree(uncompiled):
    model = given(CROSSED)
    found = model.consensus_tree()
    posterior = model.posterior_["posterior"].dataset
    weights, unique = posterior["weights"].values.reshape(24, 2), posterior["unique_weights"].values.reshape(24, 4)
    shares = weights / (weights.sum(1) + unique.sum(1))[:, None]
    best = int(shares.mean(0).argmax())
    assert found.tree_likeness == pytest.approx(shares.mean(0)[best] / shares.mean(0).sum())
    assert found.table["weight"].tolist() == pytest.approx([shares.mean(0)[best]])
    own = shares.max(1) / shares.sum(1)
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(own, [0.055, 0.945])))
    assert found.tree.names[-2] == f"P 1.00, weight {shares.mean(0)[best]:.2g}"


def test_without_shared_features_there_is_no_tree(uncompiled):
    found = th.EliminationByAspects("unique").fit(th.datasets.paris_rome(expected=True), **RUN).consensus_tree()
    assert math.isnan(found.tree_likeness) and found.without_shared == 1.0
    assert not found.tree.clades() and not len(found.table) and "there is no tree" in str(found)


@pytest.mark.parametrize("n", [3, 9, pytest.param(40, marks=pytest.mark.long)])
def test_the_picture_has_every_option_beside_the_dendrogram(n, uncompiled):
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib import pyplot

    made = th.datasets.triplets(max(n, 4), 60, random_seed=1)
    model = th.AdditiveClustering().fit(made.data, **RUN)
    left, right = th.plots.option_similarity(model)
    labels = [tick.get_text() for tick in right.get_yticklabels()]
    assert sorted(labels) == sorted(made.data.labels) == sorted(tick.get_text() for tick in right.get_xticklabels())
    assert len(left.lines) == len(labels) - 1
    cells, table = right.collections[0].get_array(), model.option_similarity().loc[labels, labels].to_numpy()
    np.testing.assert_array_equal(cells[~np.eye(len(labels), dtype=bool)], table[~np.eye(len(labels), dtype=bool)])
    th.plots.option_similarity(model, axes=[left, right])
    pyplot.close("all")


def test_two_options_have_no_picture(uncompiled):
    model = th.EliminationByAspects().fit(th.PairedComparisons([[0, 3], [1, 0]]), **RUN)
    with pytest.raises(ArgumentError, match="needs three options or more; there are 2"):
        th.plots.option_similarity(model)
