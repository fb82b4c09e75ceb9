"""The rows of the summary where there are many options."""

import numpy as np
import pytest

import thali as th
from thali._aspects.answers import quantities

pytestmark = [pytest.mark.fit, pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")]


def test_above_sixty_options_they_are_worths_and_ranks(monkeypatch):
    pairs = [(f"o{i}", f"o{(i + step) % 61}") for i in range(61) for step in (1, 5)]
    data = th.PairedComparisons.from_pairs(pairs)
    model = th.EliminationByAspects().fit(data, draws=30, tune=30, chains=2, random_seed=1, progressbar=False)
    summary, ranks = model.summary(), model.ranks()
    assert len(summary) == 3 + 2 * 61
    for option in ("o0", "o60"):
        assert summary.loc[f"rank[{option}]", "mean"] == pytest.approx(ranks.loc[option, "rank"])
    found = model.quantities()
    worths = np.stack([found[f"worth[{option}]"] for option in data.labels])
    np.testing.assert_allclose(worths.sum(axis=0), 1.0)
    np.testing.assert_array_equal(worths.argmax(axis=0), np.stack([found[f"rank[{o}]"] for o in data.labels]).argmin(0))
    monkeypatch.setattr(quantities, "MAX_RANKED", 60)
    assert len(model.quantities()) == 3
