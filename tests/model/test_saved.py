"""What files hold of a model besides its draws."""

import sys
import types
from typing import NamedTuple

import numpy as np
import pytest

import thali as th
from thali.errors import DataError
from thali.model.latent_features.likelihoods.observed import Observed
from thali.model.saved import decoded, encoded


class Rated(NamedTuple):
    rating: np.ndarray
    labels: tuple[str, ...]


def test_data_of_a_likelihood_of_the_library(monkeypatch):
    """Whose NamedTuple is defined in the library."""
    module = types.ModuleType("thali.made_up")
    module.Rated = Rated
    monkeypatch.setitem(sys.modules, "thali.made_up", module)
    monkeypatch.setattr(Rated, "__module__", "thali.made_up")
    arrays: dict[str, np.ndarray] = {}
    text = encoded(Observed(Rated(np.array([1.0, 2.5]), ("tea", "milk"))), arrays)
    again = decoded(text, arrays)
    assert isinstance(again, Observed) and again.labels == ("tea", "milk")
    np.testing.assert_array_equal(again.fields.rating, [1.0, 2.5])


@pytest.mark.parametrize("dtype", ["U400000000", "S1600000000"])
def test_a_text_is_as_wide_as_it_is(dtype):
    """Whatever a file says of it."""
    assert decoded({"list": ["x"], "dtype": dtype}, {}).nbytes < 100
    with pytest.raises(DataError, match="so long that those beside it would fill the memory"):
        decoded({"list": ["x" * 30_000, *[""] * 1_000_000], "dtype": "U30000"}, {})
    numbers = {"array_0": np.arange(3)}
    assert decoded({"array": "array_0", "dtype": dtype}, numbers).nbytes < 1000


def test_a_folder_of_results_is_loaded_by_its_name(tmp_path):
    """As `thali fit --out` writes it: posterior.nc, or model.nc of a fit without draws."""
    model = th.EliminationByAspects("unique", method="maximum-likelihood").fit(th.datasets.celebrities())
    model.save(tmp_path / "model.nc")
    assert th.load(tmp_path).weights_.equals(model.weights_)
    assert th.load(str(tmp_path)).fitted_to_ == model.fitted_to_
    (tmp_path / "model.nc").rename(tmp_path / "other.nc")
    with pytest.raises(DataError, match="is a folder; give the name of a netCDF file that thali wrote"):
        th.load(tmp_path)
