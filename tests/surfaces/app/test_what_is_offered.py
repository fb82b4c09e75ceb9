"""What the app asks of data: what they can answer, the most frequent question first, and nothing
that must be typed."""

import re

import pytest
from helpers import app_runs
from helpers.experiment_data import simulate_experiment

from thali._surfaces.app.study_folders import FIT

PAIRS = "winner,loser\ntea,milk\nmilk,beer\nbeer,tea\ntea,milk\n"
MAXDIFF = "respondent,item1,item2,item3,item4,best,worst\n" + "".join(
    f"{who},tea,milk,beer,wine,{best},{worst}\n"
    for who in range(4)
    for best, worst in (("tea", "wine"), ("milk", "beer"), ("tea", "beer"))
)
SETS = "task,item,chosen\n" + "".join(
    f"{task},{item},{int(item == chosen)}\n"
    for task, (members, chosen) in enumerate([("abc", "a"), ("bcd", "c"), ("ab", "b")])
    for item in members
)


def questions(page):
    """The models that are offered, and the one that is chosen beforehand."""
    found = re.findall(r'name="model" value="([^"]*)"( checked)?', page)
    return [name for name, _ in found], [name for name, is_chosen in found if is_chosen]


@pytest.mark.first(3)
@pytest.mark.fit  # for its time
@pytest.mark.parametrize(
    ("table", "kind", "offered", "chosen"),
    [
        (PAIRS, "", ["elimination-by-aspects", "BTL"], "elimination-by-aspects"),
        (SETS, "", ["BTL", "elimination-by-aspects"], "elimination-by-aspects"),
        (MAXDIFF, "", ["BTL"], "BTL"),
        (
            simulate_experiment(3, 4).to_csv(index=False),
            "choice experiments",
            ["hierarchical-logit", "multinomial-logit", "latent-class-logit", "product-classes"],
            "hierarchical-logit",
        ),
        (
            simulate_experiment(3, 2).to_csv(index=False),
            "choice experiments",
            ["hierarchical-logit", "multinomial-logit", "latent-class-logit", "product-classes"],
            "multinomial-logit",
        ),
    ],
)
def test_the_question_that_is_chosen_can_be_answered(
    client, children_here, table, kind, offered, chosen
):
    address = client.drop("table.csv", table.encode())
    if kind:
        client.go(f"{address}/read", kind=kind)
    page = client.page(f"{address}/ask")
    assert questions(page) == (offered, [chosen])
    assert '<input type="text"' not in page.partition("<details")[0], "nothing needs to be typed"


def test_a_model_that_is_not_offered_is_refused(client, children_here):
    address = client.drop("table.csv", MAXDIFF.encode())
    assert "Choose a model for these data" in client.go(
        f"{address}/fit", model="additive-clustering"
    )


def test_worths_of_known_respondents_are_individual_unless_something_else_is_said(
    client, children_here, monkeypatch
):
    address = client.drop("table.csv", MAXDIFF.encode())
    app_runs.queue_nothing(monkeypatch)
    for form, typed in (
        ({}, {"people": "individuals"}),
        ({"method": ""}, {"people": "individuals"}),
        ({"people": "independent"}, {"people": "independent"}),
        ({"method": "laplace"}, {"method": "laplace"}),
        ({"method": "mcmc"}, {"method": "mcmc", "people": "individuals"}),
        ({"method": "maximum-likelihood"}, {"method": "maximum-likelihood"}),
    ):
        client.go(f"{address}/fit", model="BTL", **form)
        assert client.study(address).read(FIT)["typed"] == typed
        client.study(address).remove("fit.queued", "fit.json")
