"""Aspects have one word for one thing, and given ones their names."""

import numpy as np
import pytest
from helpers.posterior_cases import chain, model_of, tree_of
from helpers.tiny_models import fitted

import thali as th
from thali._testing import small_models

pytestmark = [pytest.mark.fit, pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")]

OPTIONS = {"a": ["sweet"], "b": ["sweet", "red"], "c": ["red"]}
DATA = th.PairedComparisons(np.arange(16).reshape(4, 4) * (1 - np.eye(4, dtype=int)))


def test_given_aspects_have_their_names_in_sentences_and_on_the_screen():
    model = th.EliminationByAspects(OPTIONS).fit(
        *small_models.build_pairs(), draws=50, random_seed=1, progressbar=False
    )
    finding = th.findings(model)["features"]
    assert "sweet, shared by a and b (weight " in finding.sentence
    assert "red, shared by b and c (weight " in finding.sentence
    assert sorted(finding.brief.table["aspect"]) == ["red", "sweet"]
    weights = model.posterior_["posterior"]["feature_weight"]
    assert weights.dims == ("chain", "draw", "feature_name")
    table = model.features().set_index("aspect")
    for name in ("red", "sweet"):
        draws = weights.sel(feature_name=name)
        assert float(draws.mean()) == pytest.approx(table["weight"][name])


def test_the_number_counts_what_the_list_calls_shared():
    """Aspects of one option, or of all, are not shared in the list, nor in the number."""
    common = ((0,), (0, 1, 2, 3), (0, 1))
    model = model_of(tree_of([chain(4, 50, seed, 0.0, common) for seed in range(2)], DATA))
    finding = th.findings(model)["n_features"]
    table = finding.table
    assert table.index.max() == 1 and "Number of shared aspects: " in finding.sentence
    assert "no single one is certain" not in finding.sentence


def test_many_uncertain_aspects_are_explained():
    drawn = [chain(4, 60, seed, 2.0) for seed in range(2)]
    findings = th.findings(model_of(tree_of(drawn, DATA)))
    assert not (findings["features"].table["probability"] >= 0.5).any()
    assert findings["n_features"].sentence.endswith("no single one is certain.")


def test_a_finding_is_found_by_its_question():
    findings = th.findings(fitted("elimination-by-aspects"))
    assert findings["aspects"].key == findings["Aspects"].key == "features"
