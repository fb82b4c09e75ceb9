"""People of whom each has weights of their own: answers from draws that are written down, by loops
over them."""

import numpy as np
import pandas as pd
import pytest
from helpers.all_drawn import change_drawn
from helpers.kind_problems import answered
from helpers.people_fits import OPTIONS, compared, of_people, tree_of
from helpers.sentences import refused, said
from scipy.special import logsumexp
from xarray import DataTree

import thali as th
from thali._aspects.populations.several_groups import IndividualRespondents, RecordedDraws
from thali._data.grouped_data import GroupedData
from thali._model.predictive_check import describe_check
from thali.errors import ArgumentError, DataError
from thali.likelihoods import Additive

TAILS = 0.055, 0.945
RNG = np.random.default_rng(4)
DRAWS, PEOPLE = 40, 3
UNIQUE = RNG.gamma(1.0, 1.0, (DRAWS, PEOPLE, 4))
SHARED = {(0, 2): RNG.gamma(1.0, 1.0, (DRAWS, PEOPLE + 1))}


@pytest.mark.parametrize("shared", [None, SHARED], ids=["unique", "with an aspect"])
def test_individuals_are_shares_of_utilities(shared):
    model = of_people(compared(), UNIQUE, shared=shared)
    table = model.respondents.individuals()
    assert list(table.index.names) == ["respondent", "option"] and list(table.columns) == [
        "mean",
        "low",
        "high",
    ]
    assert list(table.index) == [(f"p{n}", option) for n in range(PEOPLE) for option in OPTIONS]
    for n in range(PEOPLE):
        utility = UNIQUE[:, n].copy()
        if shared is not None:
            utility[:, [0, 2]] += SHARED[0, 2][:, [n]]
        share = utility / utility.sum(axis=1, keepdims=True)
        own = table.loc[f"p{n}"]
        np.testing.assert_allclose(own["mean"], share.mean(axis=0), rtol=1e-12)
        np.testing.assert_allclose(
            own[["low", "high"]].T, np.quantile(share, TAILS, axis=0), rtol=1e-12
        )


def test_blocks_of_people_are_as_all_at_once(monkeypatch):
    model = of_people(compared(), UNIQUE)
    whole = model.respondents.individuals()
    monkeypatch.setattr("thali._inference.index_arithmetic.BLOCK", 1)
    pd.testing.assert_frame_equal(model.respondents.individuals(), whole)


def test_individuals_are_of_people_who_differ():
    model = of_people(compared(), UNIQUE)
    with refused(ArgumentError, "respondents", "people=Individuals"):
        _ = model.of_group("p1").respondents
    for ask in (
        model.respondents.same_class,
        model.respondents.classes,
        model.respondents.membership,
        lambda: model.respondents.of_class(1),
    ):
        with refused(ArgumentError, "people=LatentClasses(classes=2)"):
            ask()


@pytest.mark.fit
def test_the_model_of_a_person_has_nothing_of_the_population():
    first = np.ones((DRAWS, PEOPLE, 4))
    first[:, 1, 3] = 9.0  # the second person likes wine, which the population does not
    model = of_people(compared(), first, common=np.tile([9.0, 1.0, 1.0, 1.0], (DRAWS, 1)))
    assert model.ranks().index[0] == "tea" and model.of_group("p1").ranks().index[0] == "wine"
    assert (
        "ranks" in model.of_group("p1").findings()
        and "individuals" not in model.of_group("p1").findings().keys()
    )


def test_features_have_the_common_weights():
    model = of_people(compared(), UNIQUE, shared=SHARED)
    total = SHARED[0, 2][:, -1] + 4.0
    (row,) = model.features().to_dict("records")
    assert row["members"] == ("tea", "beer") and row["weight"] == pytest.approx(
        (SHARED[0, 2][:, -1] / total).mean()
    )
    (matched,) = model.features(similar=0.8).to_dict("records")
    assert matched["members"] == row["members"] and matched["weight"] == pytest.approx(
        row["weight"]
    )


# segments -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("shared", [None, SHARED], ids=["unique", "with an aspect"])
def test_preferences_are_of_an_option_to_the_others(shared):
    # a lapse says nothing of what is preferred
    model = of_people(compared(), UNIQUE, shared=shared, lapse=0.3)
    found = model.respondents._preferences()
    assert found.levels == tuple((option,) for option in OPTIONS) and found.respondents == (
        "p0",
        "p1",
        "p2",
    )
    owns = np.array([[1, 0, 1, 0]])
    for draw, n in ((0, 0), (7, 2), (DRAWS - 1, 1)):
        weights = np.zeros(1) if shared is None else SHARED[0, 2][draw, [n]]
        for i in range(4):
            wanted = []
            for j in {0, 1, 2, 3} - {i}:
                of_i = UNIQUE[draw, n, i] + weights @ (owns[:, i] * (1 - owns[:, j]))
                of_j = UNIQUE[draw, n, j] + weights @ (owns[:, j] * (1 - owns[:, i]))
                wanted.append(of_i / (of_i + of_j))
            assert found.values[draw, n, i] == pytest.approx(np.mean(wanted), rel=1e-12)


def of_two_segments(people=12, draws=30):
    """Every other person likes beer and wine, the others tea."""
    weights = np.random.default_rng(5).gamma(20.0, 1 / 20.0, (draws, people, 4))
    weights[:, ::2] *= [8.0, 1.0, 1.0, 1.0]
    weights[:, 1::2] *= [1.0, 1.0, 8.0, 4.0]
    return of_people(compared(people), weights, lapse=0.0)


@pytest.mark.fit
def test_segments_have_the_options_that_they_prefer():
    found = of_two_segments().respondents.segments(2)
    assert set(found.sizes["name"]) == {"tea", "beer, wine"} and found.stability == 1.0
    assert list(found.profiles.columns)[:3] == ["segment", "option", "preferred"]
    assert list(found.table().columns) == ["option", "all_respondents", "segment 1", "segment 2"]
    assert (
        found.assignment["segment"].nunique() == 2
        and found.assignment["segment"][::2].nunique() == 1
    )


@pytest.mark.fit  # for its time
def test_segments_are_found_and_those_who_are_alike_are_refused():
    model = of_two_segments()
    found = model.findings(segments=2)
    said(found["segment_sizes"].sentence, "2 segments", "stability 1", "50 %")
    said(found["segment_profiles"].title, "preferred")
    assert len(found["segments"].table) == 12
    with refused(DataError, "13 segments", "12 respondents"):
        model.findings(segments=13)
    alike = th.EliminationByAspects(people="independent")
    alike.posterior_ = model.posterior_
    with refused(ArgumentError, "segments", "people=Individuals"):
        alike.findings(segments=2)


@pytest.mark.fit
def test_segments_that_draws_do_not_agree_on_are_not_claimed():
    alike = of_people(compared(12), np.random.default_rng(5).gamma(20.0, 1 / 20.0, (30, 12, 4)))
    for asked in (None, 3):
        found = alike.findings(segments=asked)["segment_sizes"]
        said(found.sentence, "No clear segments", "stability ", "too few", "would have")
        assert (found.picture is None) == (asked is None)
    assert of_two_segments().findings()["segment_sizes"].picture is not None


@pytest.mark.long
@pytest.mark.fit
def test_shared_features_of_many_answers_against_a_plain_mean():
    """Of 12 answers a plain mean over 200,000 new people still knows the answer."""
    rng, draws = np.random.default_rng(3), 2_000
    weights = {(0, 1): 1.5, (1, 2): 0.7}
    shared = {owners: np.full((draws, 3), weight) for owners, weight in weights.items()}
    model = of_people(
        compared(2),
        np.full((draws, 2, 4), 0.5),
        np.full((draws, 4), 0.5),
        shared=shared,
        kappa=np.full(draws, 1.5),
    )
    pairs = np.array([(0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3)])
    rows = [
        (f"n{k}", OPTIONS[i], OPTIONS[j], OPTIONS[at])
        for k in range(4)
        for i, j in pairs
        for at in (i, i)
    ]
    found = model.log_predictive(
        th.Choices.from_comparisons(answered(rows, list(OPTIONS)))
    ).to_numpy()
    own = 0.5 * rng.gamma(1.5, 1 / 1.5, (200_000, 4))
    both = np.array(list(weights.values())) * rng.gamma(1.5, 1 / 1.5, (200_000, 2))
    owns = np.array([[1, 0], [1, 1], [0, 1], [0, 0]])
    sides = [own[:, i] + both @ (owns[i] * (1 - owns[j])) for i, j in (*pairs, *pairs[:, ::-1])]
    one, other = np.split(np.stack(sides, axis=1), 2, axis=1)
    logs = 2.0 * np.log(0.99 * one / (one + other) + 0.005).sum(axis=1)
    plain = logsumexp(logs) - np.log(len(logs))
    error = np.exp(logs - plain).std() / np.sqrt(len(logs))
    assert np.mean(found) == pytest.approx(
        plain, abs=4.5 * np.hypot(error, np.std(found, ddof=1) / 2) + 0.01
    )


# people whose answers are like nobody else's ------------------------------------------------------


@pytest.mark.fit
def test_a_check_names_the_person_of_what_it_misses():
    weights = np.tile([1.0, 1.0, 1.0, 50.0], (200, 3, 1))  # and everybody chose tea over wine
    table = of_people(compared(), weights, lapse=0.0).check(random_seed=1)
    assert set(table["group"]) == {"p0", "p1", "p2"}
    said(describe_check(table), "by each respondent fewer than 2")
    table.attrs["p_value"] = 0.5  # of single answers nothing is said otherwise
    assert f"{table['group'][0]}, tea over wine (observed 1.00, " in describe_check(table)


def weighed(draws=5):
    """Similarities of two people: a feature of two objects in all draws but the first, one of a
    single object, and one that two columns have in the last draw."""
    matrix = np.array([[0, 0.5, 0.2], [0.5, 0, 0.1], [0.2, 0.1, 0]])
    groups = GroupedData(
        {name: th.Similarities(matrix, ["a", "b", "c"]) for name in ("Ann", "Bob")}
    )
    owners = [[(2,)], *([(0, 1), (2,)] for _ in range(draws - 2)), [(0, 1), (2,), (0, 1)]]
    sizes = np.array([len(each) for draw in owners for each in draw])
    extra = {f"{name} {g}": np.full(draws, 0.1) for name in ("constant", "sigma") for g in range(2)}
    drawn = RecordedDraws(
        alpha=np.ones(draws),
        log_likelihood=np.zeros(draws),
        unique_weights=np.zeros((draws, 3, 3)),
        n_features=np.array([len(draw) for draw in owners]),
        weights=np.random.default_rng(3).gamma(2.0, 0.1, (len(sizes), 3)),
        sizes=sizes,
        owners=np.array([k for draw in owners for each in draw for k in each], np.int32),
        extra=extra | {"kappa": np.full(draws, 2.0)},
    )
    tree = tree_of(IndividualRespondents(), [drawn], groups, Additive(0.1))
    latent = tree["latent_features"].to_dataset()
    tree["latent_features"] = DataTree(latent.assign(common_weights=latent["weights"]))
    model = th.AdditiveClustering()
    model.posterior_ = tree
    return model, drawn


def test_individuals_are_weights_of_features_where_nobody_chooses():
    model, drawn = weighed()
    table = model.respondents.individuals()
    assert table.index.tolist() == [("Ann", "a, b"), ("Bob", "a, b")] and table.index.names == [
        "respondent",
        "feature",
    ]
    own = drawn.sizes == 2
    for g, name in enumerate(("Ann", "Bob")):
        first, second, third, *both = drawn.weights[own, g]
        wanted = [first, second, third, sum(both)]  # of the draws that have it
        assert table.loc[name, "mean"].iloc[0] == pytest.approx(np.mean(wanted))
        np.testing.assert_allclose(
            table.loc[name, ["low", "high"]].iloc[0], np.quantile(wanted, TAILS)
        )
    whole = model.posterior_
    model.posterior_ = whole.copy()
    # where it is in no draw
    change_drawn(model.posterior_, lambda group: group.isel(draw=slice(0, 1)))
    assert len(model.respondents.individuals()) == 0
    model.posterior_ = whole.copy()
    change_drawn(model.posterior_, lambda group: group.drop_vars("common_weights", errors="ignore"))
    with refused(ArgumentError, "respondents"):
        _ = model.respondents


@pytest.mark.long
def test_the_evidence_of_random_people_is_that_of_the_same_counts():
    """The constant is that of the counts of all, as of every other model: people who are alike tell
    no models apart."""
    rng, rows = np.random.default_rng(1), []
    for person in range(4):
        for pair in [("x", "y"), ("x", "z"), ("y", "z")] * 4:
            rows.append((f"p{person}", *pair, pair[int(rng.random() < 0.5)]))
    frame = pd.DataFrame(rows, columns=["respondent", "first", "second", "chosen"])
    data = th.PairedComparisons.from_trials(frame, "first", "second", "chosen", "respondent")
    ways = {"independent": "independent", "individuals": th.people.Individuals()}
    models = {
        name: th.EliminationByAspects([[1]] * 3, people=people) for name, people in ways.items()
    }
    table = th.compare(models, data, by="evidence", draws=60, random_seed=1, progressbar=False)
    # constants: 10 apart
    assert abs(table["log_evidence"]["individuals"] - table["log_evidence"]["independent"]) < 3.0
