"""Kinds of people whose comparisons have ties and covariates: what draws say, by the definition;
the sampler runs as Python."""

import numpy as np
import pytest
from helpers.all_drawn import all_drawn
from helpers.kind_problems import (
    random_answers,
    random_judgements,
    random_tied_judgements,
    random_ties,
)
from helpers.naive import latent_features as naive
from helpers.plain_python import run_as_python
from scipy.special import gammaln

import thali as th

RUN = {"draws": 4, "tune": 2, "chains": 2, "thin": 1, "random_seed": 1, "progressbar": False}
MAKE = {
    "plain": random_answers,
    "ties": random_ties,
    "covariates": random_judgements,
    "both": random_tied_judgements,
}
pytestmark = [
    pytest.mark.fit,
    pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning"),
    pytest.mark.usefixtures("uncompiled"),
]


@pytest.fixture(
    scope="module",
    params=[
        "both",
        "plain",
        *(pytest.param(one, marks=pytest.mark.long) for one in ("ties", "covariates")),
    ],
)
def fitted(request):
    data = MAKE[request.param](5, 3, 6, seed=1)
    with run_as_python():
        return data, th.EliminationByAspects(people=th.people.LatentClasses(2)).fit(data, **RUN)


def kinds_at(model, draw):
    """Of a draw of chain 1 who is of which kind, and what `naive` takes of each kind."""
    at = all_drawn(model.posterior_).isel(chain=1, draw=draw)
    own = {"beta": at["covariate"].values} if "covariate" in at else {}
    return at["kind"].values.astype(int), [
        {
            "features": at["features"].values.T.astype(bool),
            "weights": at["kind_weights"].values[g],
            "unique": at["kind_unique_weights"].values[g],
            "lapse": 0.01,
            **({"tie": float(at["kind_tie"].values[g])} if "kind_tie" in at else {}),
            **own,
        }
        for g in range(2)
    ]


def of_pair(kind, first, second, eta=0.0):
    """Probabilities of the three outcomes in a kind."""
    taken = {name: kind[name] for name in ("features", "weights", "unique", "lapse")}
    return np.array(
        naive.outcome_probabilities(first, second, **taken, tie=kind.get("tie", 0.0), eta=eta)
    )


def constant_of(data):
    cells = data.cells
    each = np.stack([cells.wins, cells.tied, cells.losses])
    return float((gammaln(each.sum(axis=0) + 1.0) - gammaln(each + 1.0).sum(axis=0)).sum())


def test_the_likelihood_of_draws_is_that_of_the_definition(fitted):
    data, model = fitted
    each, stored = data.by_respondent(), model.posterior_["posterior"]["log_likelihood"].values[1]
    pointwise = model.posterior_["log_likelihood"]["answers"].values[1]
    for draw in range(4):
        of, kinds = kinds_at(model, draw)
        logs = np.array(
            [
                [naive.log_likelihood(each[name], **kind) for kind in kinds]
                for name in data.respondents
            ]
        )
        constants = np.array([constant_of(each[name]) for name in data.respondents])
        assert logs[np.arange(5), of].sum() + constants.sum() == pytest.approx(
            stored[draw], rel=1e-9
        )
        for person in range(5):
            others = np.bincount(np.delete(of, person), minlength=2) + 1.0
            expected = np.log(others / others.sum() @ np.exp(logs[person])) + constants[person]
            assert pointwise[draw, person] == pytest.approx(expected, rel=1e-9)


def test_a_new_person_is_a_mixture_of_kinds(fitted):
    data, model = fitted
    posterior = all_drawn(model.posterior_)
    x = {"longer": 1.0} if data.covariate_names else None
    found, plain = [], []
    for chain in range(2):
        for draw in range(4):
            at = all_drawn(model.posterior_).isel(chain=chain, draw=draw)
            share = np.bincount(at["kind"].values.astype(int), minlength=2) + 1.0
            _, kinds = kinds_at(_turned(model, chain), draw)
            eta = float(at["covariate"].values[0]) if x else 0.0
            each = [(of_pair(kind, 0, 1, eta), of_pair(kind, 0, 1)) for kind in kinds]
            mixed = [share / share.sum() @ np.array([pair[k] for pair in each]) for k in (0, 1)]
            found.append(mixed[0])
            plain.append(mixed[1][0] / (mixed[1][0] + mixed[1][2]))
    decided = [p[0] / (p[0] + p[2]) for p in found]
    assert model.predict_proba([("a", "b")], covariates=x)[0] == pytest.approx(np.mean(decided))
    assert posterior["choice_probability"].values[..., 0].ravel() == pytest.approx(np.array(plain))
    if data.n_ties:
        table = model.predict_outcomes([("a", "b")], x)
        assert table.loc[0, ["p_a", "p_tie", "p_b"]].tolist() == pytest.approx(
            np.mean(found, axis=0).tolist()
        )


def _turned(model, chain):
    """The model with a chain in the second place."""
    made = th.EliminationByAspects(people=th.people.LatentClasses(2))
    made.posterior_ = model.posterior_.isel(chain=[1 - chain, chain])
    return made


def test_the_check_is_of_all_people(fitted):
    data, model = fitted
    check, cells = model.check(1), data.cells
    answers = cells.answers
    key = ["a", "b", "tied"] if data.n_ties else ["a", "b"]
    row = check.set_index(key).loc[("a", "b", False) if data.n_ties else ("a", "b")]
    pair = next(p for p in range(data.n_pairs) if (data.first[p], data.second[p]) == (0, 1))
    total = (data.wins + data.losses + data.tied)[pair]
    assert row["n"] == total and row["observed"] == data.wins[pair] / total
    by_hand = []
    for chain in range(2):
        for draw in range(4):
            of, kinds = kinds_at(_turned(model, chain), draw)
            beta = kinds[0].get("beta", ())
            by_hand.append(0.0)
            for k in np.flatnonzero(cells.pair[answers.pair] == pair):
                n = (answers.wins + answers.losses + answers.tied)[k]
                eta = float(cells.x[answers.pair[k]] @ beta) if len(beta) else 0.0
                by_hand[-1] += n * of_pair(kinds[of[answers.respondent[k]]], 0, 1, eta)[0] / total
    assert row["predicted"] == pytest.approx(np.mean(by_hand))


def test_the_model_of_one_kind_has_its_answers(fitted):
    data, model = fitted
    first, people = model.respondents.of_class(1), model.respondents.classes().loc[1, "respondents"]
    own = [data.by_respondent()[name] for name in people]
    observed, constant = (
        first.posterior_["observed_data"].dataset,
        first.posterior_["constant_data"].dataset,
    )
    assert observed["wins"].values.sum() == sum(each.wins.sum() for each in own)
    if data.n_ties:
        assert observed["ties"].values.sum() == sum(each.tied.sum() for each in own)
        assert first.predict_outcomes([("a", "b")]).loc[0, "p_tie"] > 0.0
    if data.covariate_names:
        assert constant["cell_wins"].values.sum() == observed["wins"].values.sum()
        of_pairs = np.bincount(constant["cell_pair"].values, constant["cell_wins"].values)
        assert of_pairs.tolist() == observed["wins"].values.tolist()
        assert first.covariate_effects().equals(model.covariate_effects())


def test_effects_of_covariates_are_found(fitted):
    data, model = fitted
    if data.covariate_names:
        findings = model.findings()
        assert findings["covariates"].table.equals(model.covariate_effects())
        assert "to be equal in all classes." in str(findings["methods"])
