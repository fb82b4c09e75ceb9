"""Willingness to pay is said in the direction in which people pay."""

import numpy as np
import pandas as pd
import pytest

import thali as th


@pytest.mark.parametrize("liked", ["Clara", "Store"])
def test_the_amount_is_positive_and_for_what_is_liked(liked):
    rng = np.random.default_rng(1)
    rows = []
    for task in range(200):
        brands, prices = rng.permutation(["Clara", "Store"]), rng.integers(1, 6, 2)
        utility = 2.0 * (brands == liked) - prices + rng.gumbel(size=2)
        for k in range(2):
            chosen = int(k == utility.argmax())
            rows.append(
                dict(id=1, task=task, alt=k + 1, brand=brands[k], price=prices[k], choice=chosen)
            )
    data = th.ChoiceExperiment.from_frame(pd.DataFrame(rows), levels={"brand": ["Clara", "Store"]})
    model = th.MultinomialLogit(linear="price").fit(data)
    (found,) = [each for each in model.findings(price="price") if each.key == "willingness_to_pay"]
    other = "Store" if liked == "Clara" else "Clara"
    assert f"for brand {liked} rather than {other}" in str(found.sentence)
    amount = float(str(found.sentence).split("would pay ")[1].split(" ")[0])
    assert amount == pytest.approx(2.0, abs=0.6)
    assert (found.table["wtp"].iloc[0] > 0) == (liked == "Store")
