"""Chains are judged by the probable aspects, too: choice probabilities may agree where families of
aspects do not."""

import numpy as np
import pytest
from helpers.posterior_cases import chain, model_of, tree_of

import thali as th

LABELS = ["tea", "coffee", "milk", "beer"]
DATA = th.PairedComparisons(np.arange(16).reshape(4, 4) * (1 - np.eye(4, dtype=int)), labels=LABELS)


def of_families(families, draws=400):
    """A model whose chains have the aspects of these families in every draw but every fourth."""
    drawn = [chain(4, draws, seed, 0.0, family) for seed, family in enumerate(families)]
    return model_of(tree_of(drawn, DATA))


def test_features_say_how_surely_their_probability_is_known():
    table = of_families([((0, 1),)] * 4).features()
    assert list(table.columns[-5:]) == ["mcse", "ess", "r_hat", "converged", "probability"]
    assert not any(name.startswith("chain") for name in table)
    row = table[table["members"].map(len) == 2].iloc[0]
    present = row["probability"]
    assert (
        0.0 < row["mcse"] == pytest.approx(np.sqrt(present * (1 - present) / row["ess"]), rel=0.1)
    )
    assert row["converged"] and row["r_hat"] < 1.02


@pytest.mark.fit
def test_chains_in_two_families_do_not_agree():
    families = [((0, 1),), ((0, 1),), ((2, 3),), ((2, 3),)]
    model = of_families(families)
    assert not any(name.startswith("presence") for name in model.summary().index)
    convergence = model.convergence()
    assert not convergence.agrees and convergence.facts["r_hat_of"].startswith("presence[")
    assert convergence.facts["r_hat"] > 1.2
    table = model.features().set_index("members")
    assert not table["converged"].all()
    shares = (
        table.loc[[("milk", "beer")], ["chain 0", "chain 1", "chain 2", "chain 3"]]
        .to_numpy()
        .ravel()
    )
    assert (shares[:2] < 0.1).all() and (shares[2:] > 0.6).all()
    assert table.loc[[("milk", "beer")], "probability"].iloc[0] == pytest.approx(shares.mean())
    assert "chain 3" in str(model.findings()["features"])


@pytest.mark.fit
def test_what_every_option_or_one_alone_has_is_not_judged():
    """By their presence such chains would be much further apart."""
    everybody, nobody = ((0, 1, 2, 3), (0, 1)), ((0, 1),)
    facts = of_families([everybody, everybody, nobody, nobody]).convergence().facts
    assert facts["r_hat"] < 1.5 and "presence" not in facts["r_hat_of"]
    alone, together = ((0,), (0, 1)), ((0, 1),)
    assert (
        "presence"
        not in of_families([alone, alone, together, together]).convergence().facts["r_hat_of"]
    )
