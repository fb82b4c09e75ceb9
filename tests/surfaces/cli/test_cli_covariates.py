"""`thali fit` with covariates of comparisons and of options."""

import numpy as np
import pandas as pd
import pytest
from helpers.sentences import said, says

ML = ("--method", "maximum-likelihood")


@pytest.fixture
def trials(tmp_path):
    rng, n = np.random.default_rng(3), 200
    i = rng.integers(0, 3, n)
    names = np.array(["tea", "milk", "rum"])
    frame = pd.DataFrame({"left": names[i], "right": names[(i + rng.integers(1, 3, n)) % 3]})
    frame = frame.assign(chosen=rng.choice(["left", "right"], n), longer=rng.integers(-5, 6, n))
    frame.assign(site=rng.choice(["web", "lab"], n)).to_csv(tmp_path / "trials.csv", index=False)
    return str(tmp_path / "trials.csv")


@pytest.mark.fit  # for its time
def test_covariates_are_named_one_by_one(run, trials, tmp_path):
    named = ("--covariate", "order", "--covariate", "longer", "--covariate", "site")
    found = run("fit", trials, *named, *ML, "--out", str(tmp_path / "out"), "--print", "all")
    assert found.code == 0
    says(found.err, "'order'", "'longer'", "'site=web'")
    says(found.out, "Covariate effects")
    table = pd.read_csv(tmp_path / "out" / "covariates.csv", index_col=0)
    assert table.index.tolist() == ["order", "longer", "site=web"]
    bare = run("fit", trials, *ML, "--print", "all")
    assert bare.code == 0 and "a unit of each covariate" not in bare.out


@pytest.mark.fit
def test_covariates_of_options_stand_in_a_file(run, refused, trials, tmp_path):
    (tmp_path / "prices.csv").write_text("drink;price\ntea;2\nmilk;1\nrum;5\n")
    prices = ("--option-covariates", str(tmp_path / "prices.csv"))
    found = run("fit", trials, "--covariate", "order", *prices)
    assert found.code == 0
    says(found.err, "'order'", "'price'", "Bradley-Terry-Luce")
    assert "price" in found.out
    says(
        refused("fit", trials, "--model", "EBA", *prices),
        "--option-covariates",
        "bradley-terry-luce",
    )
    says(refused("compare", trials, *prices), "'price' describes options", "fit bradley-terry-luce")
    (tmp_path / "short.csv").write_text("drink;price\ntea;2\nmilk;1\n")
    error = refused("fit", trials, "--option-covariates", str(tmp_path / "short.csv"))
    assert "no row for 'rum'" in error and "short.csv: " in error
    assert "no row for 'LBJ'" in refused(
        "fit", "celebrities", "--option-covariates", str(tmp_path / "short.csv")
    )


@pytest.mark.fit
def test_rankings_have_covariates_of_options(run, refused, tmp_path):
    rankings = ["tea,milk,rum", "milk,tea,rum", "tea,rum,milk", "rum,tea,milk", "milk,rum,tea"]
    (tmp_path / "ranks.csv").write_text("first,second,third\n" + "\n".join(rankings) + "\n")
    (tmp_path / "drinks.csv").write_text("drink;price\ntea;2\nmilk;1\nrum;5\n")
    priced = (str(tmp_path / "ranks.csv"), "--option-covariates", str(tmp_path / "drinks.csv"))
    found = run("fit", *priced, *ML, "--out", str(tmp_path / "out"), "--print", "all")
    assert found.code == 0
    says(found.err, "covariates of options: 'price'")
    says(found.out, "Effects of covariates are included")
    table = pd.read_csv(tmp_path / "out" / "covariates.csv", index_col=0)
    assert table.index.tolist() == ["price"]


def test_a_list_of_choices_does_not_say_what_was_first(refused, tmp_path):
    (tmp_path / "list.csv").write_text("winner,loser,size\ntea,milk,1\nmilk,tea,2\n")
    said(refused("fit", str(tmp_path / "list.csv"), "--covariate", "size", *ML), "do not show")
