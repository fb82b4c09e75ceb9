"""Where a study offers a no-choice option and its market does not, the first sentence says so."""

import pandas as pd
import pytest
from helpers.digests import MORE
from helpers.experiment_data import simulate_experiment

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
    simulator = th.findings(model, market=pd.DataFrame(products))["market"]
    assert "Largest share: " in simulator.sentence


@pytest.mark.parametrize("attributes", [["brand", "zoom"], ["price", "zoom"]])
def test_what_nobody_asked_for_is_not_answered(attributes):
    """Nobody named the products of the first task as a market; payments require a price."""
    data = th.ChoiceExperiment.from_frame(simulate_experiment(6, 4), attributes=attributes)
    model = th.HierarchicalLogit().fit(data, draws=20, tune=20, progressbar=False, random_seed=1)
    findings = th.findings(model)
    assert "Largest share" not in str(findings["market"].sentence)
    assert ("willing to pay" in str(findings["asked"].sentence)) == ("price" in attributes)
