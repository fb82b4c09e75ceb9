"""`thali fit` of best-worst choices."""

import numpy as np
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
    assert (
        "24 answers (a best and a worst option each); e.g. " in found.err
        and " best and " in found.err
    )
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


def test_the_rule_reaches_the_models(compared):
    assert (
        compared("maxdiff.csv", "BTL", "--best-worst", "reversed")["BTL"].best_worst == "reversed"
    )


ITEMS = [f"Reason no. {k:02d}" for k in range(1, 13)]


@pytest.fixture
def study(folder):
    """A study of 12 numbered items: a design of two versions, wide answers, and the items."""
    rng = np.random.default_rng(20261129)
    sets = {version: [rng.permutation(12)[:4] for _ in range(10)] for version in (1, 2)}
    design = [(v, k, *(row + 1)) for v in sets for k, row in enumerate(sets[v], start=1)]
    names = ["Item1", "Item2", "Item3", "Item4"]
    pd.DataFrame(design, columns=["Version", "Set", *names]).to_csv("design.csv", index=False)
    rows = []
    for person in range(24):
        version = 1 + person % 2
        worth = np.linspace(1, -1, 12) + rng.normal(0, 0.8, 12)
        marks = []
        for shown in sets[version]:
            order = shown[np.argsort(-worth[shown] - rng.gumbel(size=4))] + 1  # from the best
            marks += [order[0], order[-1]]
        rows.append((person + 1, version, *marks))
    columns = [f"MD_{k}_{letter}" for k in range(1, 11) for letter in "bw"]
    wide = pd.DataFrame(rows, columns=["sys_RespNum", "sys_MaxDiffVersion_MD", *columns])
    wide.to_csv("answers.csv", index=False)
    numbered = pd.DataFrame({"number": range(1, 13), "item": ITEMS})
    numbered.to_csv("items.csv", index=False)


@pytest.mark.fit  # for its time
def test_a_maxdiff_study_in_three_commands(done, folder, study, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    one_stream = "thali._surfaces.cli.terminal_messages._is_one_stream"
    monkeypatch.setattr(one_stream, lambda: True)  # as in a terminal
    steps = "--chains 2 --seed 1".split()
    files = "--design design.csv --labels items.csv --segments 2 --out study".split()
    screen = done("fit", "answers.csv", *files, *steps).out
    labels = [line.split()[0] for line in screen.splitlines() if line[:1].strip()]
    results = ["Scores", "First", "Reach", "Segments"]
    assert [label for label in labels if label in results] == results
    assert len(screen.splitlines()) <= 24 and "\N{HORIZONTAL ELLIPSIS}" not in screen
    assert all(f"{item} " in screen for item in ITEMS)
    scores = pd.read_csv(folder / "study" / "option_scores.csv", index_col=0)["score"]
    assert set(scores.index) == {*ITEMS}
    assert f"{scores.idxmax()} {scores.max():.1f} (" in screen
    individuals = pd.read_csv(folder / "study" / "individual_scores.csv", index_col=0)
    firsts = individuals[ITEMS].idxmax(axis=1).value_counts(normalize=True)
    assert f"{firsts.index[0]} {100 * firsts.iloc[0]:.0f} %" in screen
    assert "reach" in done("show", "study", "reach").out
    done("report", "study", "--out", "study.html")
    assert (folder / "study.html").read_text("utf-8").count(ITEMS[0]) > 2
    assert (folder / "study" / "option_scores.png").exists()


@pytest.mark.fit  # for its time
def test_effects_of_groups_are_on_the_screen_of_a_maxdiff_study(done, study):
    answers = pd.read_csv("answers.csv")
    answers.assign(region=["north", "south", "west"] * 8).to_csv("answers.csv", index=False)
    files = "fit answers.csv --design design.csv --labels items.csv --out study".split()
    lengths = "--draws 20 --tune 20 --chains 2 --seed 1".split()
    screen = done(*files, "--by", "region", *lengths).out
    assert "thali show OUT respondent_effects" in " ".join(screen.split())
    assert "region" in done("show", "study", "respondent_effects").out
