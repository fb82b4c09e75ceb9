"""The rows of the summary where there are many options."""

import numpy as np
import pytest
from helpers.posterior_cases import chain, model_of, tree_of

import thali as th

pytestmark = [pytest.mark.fit, pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")]


@pytest.mark.long
def test_above_sixty_options_they_are_worths_and_ranks():
    pairs = [(f"o{i}", f"o{(i + step) % 61}") for i in range(61) for step in (1, 5)]
    data = th.PairedComparisons.from_pairs(pairs)
    model = th.EliminationByAspects().fit(
        data, draws=30, tune=30, chains=2, random_seed=1, progressbar=False
    )
    summary, ranks = model.summary(), model.ranks()
    assert len(summary) == 3 + 2 * 61
    for option in ("o0", "o60"):
        assert summary.loc[f"rank[{option}]", "mean"] == pytest.approx(ranks.loc[option, "rank"])
    found = model._get_quantities()
    worths = np.stack([found[f"worth[{option}]"] for option in data.labels])
    np.testing.assert_allclose(worths.sum(axis=0), 1.0)
    np.testing.assert_array_equal(
        worths.argmax(axis=0), np.stack([found[f"rank[{o}]"] for o in data.labels]).argmin(0)
    )


def test_above_a_thousand_options_none_has_rows():
    data = th.PairedComparisons.from_pairs([(f"o{i}", f"o{i + 1}") for i in range(1000)])
    model = model_of(tree_of([chain(1001, 3, seed, mean_features=1.0) for seed in range(2)], data))
    assert sorted(model.summary().index) == ["alpha", "log_likelihood", "n_features"]
