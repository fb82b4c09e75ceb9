"""The bundled data agree with the printed figures."""

import math

import numpy as np
import pytest
from helpers.naive import latent_features as naive
from helpers.real_data import needs_data, real_data
from helpers.sentences import refused
from scipy.stats import binom

import thali._data.kinds as kinds
from thali import PairedComparisons, Similarities, datasets
from thali._reading.layout_recognition import read_data
from thali.errors import ArgumentError, DataError

NAMES = [record.name for record in datasets.catalogue()]


def mean_nll(data, p):
    return -binom.logpmf(data.wins, data.wins + data.losses, p).mean()


def test_celebrities_has_the_printed_scores():
    data = datasets.celebrities()
    assert data.labels == ("LBJ", "HW", "CDG", "JU", "CY", "AJF", "BB", "ET", "SL")
    assert np.all(data.wins + data.losses == 234) and data.n_pairs == 36
    assert round(mean_nll(data, 0.5), 4) == 17.5654
    assert round(mean_nll(data, data.wins / 234), 4) == 2.8870
    assert data.counts[0, 1] == 159, "LBJ was chosen over HW 159 times: row over column"


@needs_data
@pytest.mark.parametrize("file", ["choices.csv", "pairs.csv"])
def test_celebrities_equals_the_shared_table(file):
    data, _ = read_data(real_data(f"celebrities/{file}"), kinds.PAIRS)
    assert data == datasets.celebrities()


def test_paris_rome_expected_counts():
    counts = datasets.paris_rome(expected=True).counts
    assert counts.tolist() == [[0, 100, 50, 50], [0, 0, 50, 50], [50, 50, 0, 0], [50, 50, 100, 0]]
    many = datasets.paris_rome(10**8, expected=True).proportions()["proportion"]
    assert many.round(6).tolist() == [1, 0.502488, 0.5, 0.5, 0.497512, 0]


def test_paris_rome_draws_have_the_expected_shares():
    draws = [datasets.paris_rome(100, random_seed=seed) for seed in range(400)]
    assert draws[0] == datasets.paris_rome(100, random_seed=0) != draws[1]
    assert all(
        data.labels == ("P+", "P", "R", "R+") and data.n_comparisons == 600 for data in draws
    )
    mean = np.mean([data.counts for data in draws], axis=0)
    assert mean[0, 1] == 100 and mean[3, 2] == 100
    # 400 binomials of n = 100 and p near .5: standard error .25; five of them
    assert abs(mean[0, 2] - 100 * 1.01 / 2.01) < 1.25


@pytest.mark.parametrize("comparisons", [0, -3, 2.5, "many", True])
def test_paris_rome_refuses_bad_counts(comparisons):
    with refused(ArgumentError, "`comparisons`"):
        datasets.paris_rome(comparisons)


@pytest.mark.parametrize("name", NAMES)
def test_every_data_set_loads_and_survives_a_file(name, tmp_path):
    data = datasets.load(name)
    assert isinstance(data, (PairedComparisons, Similarities))
    assert data == datasets.load(name)
    frame = data.to_frame(long=True) if isinstance(data, Similarities) else data.to_frame()
    frame.to_csv(tmp_path / "long.csv", index=False)
    again = read_data(tmp_path / "long.csv", kinds.PAIRS, kinds.SIMILARITIES)[0]
    if isinstance(data, Similarities):  # a table of pairs has no place for their standard deviation
        assert again.labels == data.labels and np.array_equal(again.values, data.values)
    else:
        assert again == data


def test_numbers_has_the_printed_figures():
    data = datasets.numbers()
    assert data.labels == tuple("0123456789") and data.sigma == 0.05
    assert (data.n_pairs, data.matrix[2, 4], data.matrix[9, 8], data.matrix[0, 7]) == (
        45,
        0.935,
        0.569,
        0,
    )


@needs_data
def test_numbers_equals_the_table_of_the_collection():
    data = datasets.numbers()
    table, _ = read_data(real_data("numbers/similarity.csv"), kinds.PAIRS, kinds.SIMILARITIES)
    # the collection has the published table, of three decimals, to ten: the same numbers but for
    # its own rounding
    assert np.abs(table.values - data.values).max() < 5.1e-4


def test_additive_is_what_the_paper_says():
    for n, features in ((3, 3), (8, 6), (16, 8), (32, 10)):
        made = datasets.additive(n, random_seed=n)
        i, j = np.triu_indices(n, 1)
        assert made.features.shape == (n, features) and made.features.dtype == bool
        assert made.true.values == pytest.approx(
            ((made.features * made.weights) @ made.features.T)[i, j]
        )
        assert made.true.values.std() == pytest.approx(1, rel=1e-12)
        assert made.weights.max() / made.weights.min() < 3
        assert (made.data.sigma, made.again.sigma, made.true.sigma) == (0.3, 0.3, None)


def test_additive_has_two_independent_noises():
    made = [datasets.additive(16, random_seed=seed) for seed in range(60)]
    first = np.concatenate([each.data.values - each.true.values for each in made])
    second = np.concatenate([each.again.values - each.true.values for each in made])
    # 7,200 normal draws: standard errors .3/sqrt(7,200) = .0035 of a mean, .3/sqrt(14,400) = .0025
    # of a deviation, 1/sqrt(7,200) = .012 of a correlation; five of each
    for noise in (first, second):
        assert abs(noise.mean()) < 0.018 and abs(noise.std() - 0.3) < 0.0125
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.06
    owners = np.concatenate([each.features.ravel() for each in made])
    assert abs(owners.mean() - 0.5) < 5 * 0.5 / np.sqrt(owners.size)


def test_additive_keeps_its_truth():
    made, again = datasets.additive(8, random_seed=4), datasets.additive(8, 4, sigma=0.6)
    assert made.true == again.true and np.array_equal(made.features, again.features)
    assert again.data.values - again.true.values == pytest.approx(
        2 * (made.data.values - made.true.values)
    )
    assert (
        made.data
        == datasets.additive(8, random_seed=4).data
        != datasets.additive(8, random_seed=5).data
    )
    assert datasets.additive(5, n_features=1, random_seed=0).features.shape == (5, 1)


@pytest.mark.parametrize("seed", range(20))
def test_additive_with_hardly_any_features_still_varies(seed):
    made = datasets.additive(3, random_seed=seed, n_features=1)
    assert sorted(np.round(made.true.values, 9)) == [0, 0, pytest.approx(1 / np.sqrt(2 / 9))]


@pytest.mark.parametrize(
    ("arguments", "messages"),
    [
        ({"n": 2}, ("got 2",)),
        ({"n_features": 0}, ("n_features",)),
        ({"sigma": 0}, ("sigma", "positive finite")),
    ],
)
def test_additive_refuses_bad_arguments(arguments, messages):
    with refused(ArgumentError, *messages):
        datasets.additive(**arguments)


def test_catalogue_tells_name_kind_description_and_source():
    for record in datasets.catalogue():
        assert all(isinstance(text, str) and text for text in record)
    assert NAMES == ["celebrities", "numbers", "paris_rome"]


def test_unknown_names_are_refused():
    with refused(DataError, "'celebrites'", "'celebrities'", "'numbers'", "'paris_rome'"):
        datasets.load("celebrites")


def test_triplets_follow_the_model_that_made_them():
    made = datasets.triplets(8, 20_000, random_seed=3)
    assert made.data.n_answers == 20_000 and made.held_out.n_answers == 2_000
    assert ((made.features.sum(axis=0) > 1) & (made.features.sum(axis=0) < 8)).all()
    score = naive.triplet_log_likelihood(made.held_out, made.features, made.weights) / 2_000
    guess = naive.triplet_log_likelihood(made.held_out, made.features[:, :0], []) / 2_000
    assert score > guess + 0.1
    for place in np.flatnonzero(made.data.counts)[::20]:
        v = made.data.set_of[place]
        pairs = slice(made.data.start[v], made.data.start[v + 1])
        sides = list(
            zip(made.data.first[pairs].tolist(), made.data.second[pairs].tolist(), strict=True)
        )
        p = naive.similar_pair_probabilities(sides, made.features, made.weights)
        n = made.data.counts[pairs].sum()
        assert (
            abs(made.data.counts[place] - n * p[place - pairs.start]) < 5 * math.sqrt(n * 0.25) + 5
        )
    again = datasets.triplets(8, 20_000, random_seed=3)
    assert again.data == made.data
