"""Where a study offers a no-choice option and its market does not, the first sentence says so."""

import pandas as pd
import pytest
from helpers.digests import MORE

import thali as th

pytestmark = [pytest.mark.fit, pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")]


@pytest.mark.parametrize("has_none", [False, True])
def test_shares_without_a_no_choice_row_are_among_buyers(has_none):
    model = MORE["hierarchical-logit, none"].build_fitted()
    products = [
        {"product": "one", "price": 5, "brand": "A", "zoom": "no"},
        {"product": "two", "price": 15, "brand": "B", "zoom": "yes"},
    ]
    if has_none:
        products.append({"product": "4"})
    finding = th.findings(model, market=pd.DataFrame(products))["market_shares"]
    assert ("largest predicted share among buyers: " in finding.sentence) == (not has_none)
