"""`thali fit` of best-worst choices."""

import pandas as pd
import pytest
from helpers.best_worst_data import random_answers
from helpers.sentences import says

import thali as th


@pytest.fixture(autouse=True)
def tables(folder):
    random_answers(6, (4, 5), 12, 2).to_frame().to_csv("maxdiff.csv", index=False)
    random_answers(7, (7,), 3, 2).to_frame().to_csv("seven.csv", index=False)


@pytest.mark.first(1)
@pytest.mark.fit  # for its time
@pytest.mark.parametrize("rule", ["ranking", "reversed"])
def test_worths_by_maximum_likelihood(done, rule):
    words = ["--best-worst", rule]
    found = done(
        *"fit maxdiff.csv --model BTL --method maximum-likelihood".split(),
        *words,
        *"--out out --print all".split(),
    )
    assert "24 best-worst choices; e.g. " in found.err and " best and " in found.err
    data = th.Choices.from_best_worst(pd.read_csv("maxdiff.csv"))
    model = th.BradleyTerryLuce("maximum-likelihood", best_worst=rule).fit(data)
    worths = pd.read_csv("out/worths.csv", index_col=0, dtype={0: str})
    assert worths["log_worth"].to_numpy() == pytest.approx(model.worths()["log_worth"].to_numpy())
    assert th.load("out/model.nc").best_worst == rule


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["maxdiff.csv", "--aspects", "ibp"], ("5 options", "bradley-terry-luce")),
        (["seven.csv", "--model", "BTL", "--best-worst", "ranking"], ("6", "--best-worst")),
        (["maxdiff.csv", "--model", "BTL", "--best-worst", "maxdiff"], ("--best-worst",)),
    ],
)
def test_what_is_refused(refused, words, sentence):
    says(" ".join(refused("fit", *words).split()), *sentence)


def test_comparison(run, refused):
    assert "--best-worst reversed" in " ".join(
        refused(
            "compare", "seven.csv", "--models", "BTL", "--folds", "2", "--best-worst", "ranking"
        ).split()
    )
    assert "--best-worst" in run("compare", "--help-all").out


def test_the_rule_reaches_the_models(compared):
    assert (
        compared("maxdiff.csv", "BTL", "--best-worst", "reversed")["BTL"].best_worst == "reversed"
    )
