"""The bundled data agree with the printed figures."""

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

from thali import datasets
from thali.data.pairs import PairedComparisons
from thali.data.tables import read_comparisons
from thali.errors import ArgumentError, DataError

SHARED = Path(__file__).parents[2] / "shared" / "data" / "celebrities"
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


@pytest.mark.parametrize("file", ["choices.csv", "pairs.csv"])
def test_celebrities_equals_the_shared_table(file):
    if not SHARED.is_dir():
        pytest.skip("the shared data folder is not beside this project")
    data, _ = read_comparisons(SHARED / file)
    assert data == datasets.celebrities()


def test_paris_rome_expected_counts():
    counts = datasets.paris_rome(expected=True).counts
    assert counts.tolist() == [[0, 100, 50, 50], [0, 0, 50, 50], [50, 50, 0, 0], [50, 50, 100, 0]]
    many = datasets.paris_rome(10**8, expected=True).proportions()["proportion"]
    assert many.round(6).tolist() == [1, 0.502488, 0.5, 0.5, 0.497512, 0]


def test_paris_rome_draws():
    draws = [datasets.paris_rome(100, random_seed=seed) for seed in range(400)]
    assert draws[0] == datasets.paris_rome(100, random_seed=0) != draws[1]
    assert all(data.labels == ("P+", "P", "R", "R+") and data.n_comparisons == 600 for data in draws)
    mean = np.mean([data.counts for data in draws], axis=0)
    assert mean[0, 1] == 100 and mean[3, 2] == 100
    # 400 binomials of n = 100 and p near .5: standard error .25; five of them
    assert abs(mean[0, 2] - 100 * 1.01 / 2.01) < 1.25


@pytest.mark.parametrize("comparisons", [0, -3, 2.5, "many", True])
def test_paris_rome_refuses(comparisons):
    with pytest.raises(ArgumentError, match="`comparisons` must be a whole number of 1 or more"):
        datasets.paris_rome(comparisons)


@pytest.mark.parametrize("name", NAMES)
def test_every_data_set_loads_and_survives_a_file(name, tmp_path):
    data = datasets.load(name)
    assert isinstance(data, PairedComparisons)
    assert data == datasets.load(name)
    data.to_frame().to_csv(tmp_path / "long.csv", index=False)
    assert read_comparisons(tmp_path / "long.csv")[0] == data


def test_catalogue_tells_name_kind_description_and_source():
    for record in datasets.catalogue():
        assert all(isinstance(text, str) and text for text in record)
    assert NAMES == ["celebrities", "paris_rome"]


def test_unknown_name():
    with pytest.raises(DataError) as caught:
        datasets.load("celebrites")
    assert str(caught.value) == (
        "There is no bundled data set 'celebrites'; there are 'celebrities', 'paris_rome'. Did you mean 'celebrities'?"
    )
