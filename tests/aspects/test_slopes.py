"""People whose weights depend on what is known of them, or differ about some options more than
about others."""

import pickle

import numpy as np
import pandas as pd
import pytest
from helpers.all_drawn import change_drawn
from helpers.naive import latent_features as naive
from helpers.people_fits import OPTIONS, compared, tree_of
from helpers.posterior_cases import set_posterior
from helpers.sentences import refused, said, warned
from scipy import stats

import thali as th
import thali._aspects.moves.covariate_slopes as slope_updates
from thali._aspects.chain_state import COLUMNS, replica
from thali._aspects.group_state import select_common_weights
from thali._aspects.populations.several_groups import IndividualRespondents, RecordedDraws
from thali._data.grouped_data import GroupedData
from thali._people.respondent_columns import build_covariates
from thali.errors import ArgumentError, DataError, DataWarning
from thali.likelihoods import Elimination

PEOPLE = pd.DataFrame({"age": [20, 40, 60], "sex": ["f", "m", "m"]}, pd.Index(["p0", "p1", "p2"]))
N = len(OPTIONS)
OWNERS = (0, 2)  # of the one aspect that options share
pytestmark = [pytest.mark.fit, pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")]


def compared_by_known(people=PEOPLE):
    """Everybody compares each two options once, and what is known of them."""
    data = compared(len(people))
    rows = [
        (name, a, b, a, *people.loc[name])
        for name in data.respondents
        for a, b in [OPTIONS[:2], OPTIONS[2:]]
    ]
    frame = pd.DataFrame(rows, columns=["respondent", "first", "second", "chosen", *people.columns])
    return th.PairedComparisons.from_trials(frame, respondent="respondent", labels=OPTIONS)


def with_draws(kappa=3.0, draws=4, lapse=0.0, columns=("age", "sex"), lean=0.0):
    """A model with draws that are written down, and these: v and own, and the slopes of both, the
    last wine's."""
    rng = np.random.default_rng(5)
    known = build_covariates(columns, PEOPLE, 3)
    q = len(known.names)
    v, own = rng.gamma(2.0, 0.5, draws), rng.gamma(2.0, 0.5, (draws, N))
    slope, own_slope = rng.normal(0, 0.5, (draws, q)), rng.normal(0, 0.5, (draws, q, N))
    own_slope[:, -1, -1] += lean
    unique = np.concatenate([np.ones((draws, 3, N)), own[:, None], own_slope], axis=1)
    weights = np.concatenate([np.ones((draws, 3)), v[:, None], slope], axis=1)
    chain = RecordedDraws(
        alpha=np.ones(draws),
        log_likelihood=np.zeros(draws),
        unique_weights=unique,
        n_features=np.ones(draws, np.int64),
        weights=weights,
        sizes=np.full(draws, len(OWNERS)),
        owners=np.tile(np.array(OWNERS, np.int32), draws),
        extra={"kappa": np.linspace(kappa, 1.01 * kappa, draws)},
    )
    population = IndividualRespondents(th.people.Individuals(columns))
    groups = population.convert_data(compared_by_known(), lambda given: given)
    model = th.EliminationByAspects(people=th.people.Individuals(by=list(columns)))
    set_posterior(model, tree_of(population, [chain], groups, Elimination(lapse)))
    return model, (v, own, slope, own_slope), known


def utilities(drawn, draw, x):
    """What the options are worth by the common weights of a person with this x; last the aspect
    that two share."""
    v, own, slope, own_slope = (each[draw] for each in drawn)
    shared, utility = v * np.exp(slope @ x), own * np.exp(x @ own_slope)
    utility[list(OWNERS)] += shared
    return np.append(utility, shared) / utility.sum()


def test_effects_are_derivatives_of_log_shares():
    model, drawn, known = with_draws()
    rows, table = model._get_quantities(), model.respondents.effects(ci=0.5)
    for j, column in enumerate(["age", "sex[m]"]):
        x = 1e-6 * (np.arange(2) == j)
        expected = np.array(
            [
                np.log(utilities(drawn, draw, x) / utilities(drawn, draw, -x)) / 2e-6 / known.sd[j]
                for draw in range(4)
            ]
        )
        found = np.array(
            [rows[f"respondent_effect[{column}, {label}]"].ravel() for label in OPTIONS]
        )
        np.testing.assert_allclose(found, expected[:, :N].T, rtol=1e-6)
        of = table["mean"][column]
        assert set(of.index) == {*OPTIONS, "tea, beer"}
        np.testing.assert_allclose(of[[*OPTIONS, "tea, beer"]], expected.mean(axis=0), rtol=1e-6)
    assert (
        list(table.index.unique("column")) == ["age", "sex[m]"] and table.attrs["interval"] == 0.5
    )
    assert ((table["low"] <= table["mean"]) | (table["mean"] <= table["high"])).all()


def chosen(drawn, draw, x):
    """The probability of tea over beer, and of tea over milk, by the common weights."""
    v, own, slope, own_slope = (each[draw] for each in drawn)
    shared, unique = v * np.exp(slope @ x), own * np.exp(x @ own_slope)
    features = np.isin(np.arange(N), OWNERS)[:, None]
    return [naive.pair_probability(0, other, features, [shared], unique, 0.0) for other in (2, 1)]


def test_a_new_person_is_one_of_whom_this_is_known_or_one_like_those_who_answered():
    """Where people are alike but for what is known of them."""
    model, drawn, known = with_draws(kappa=1e9)
    pairs = [("tea", "beer"), ("tea", "milk")]
    x = (np.array([30.0, 1.0]) - known.mean) / known.sd
    expected = np.mean([chosen(drawn, draw, x) for draw in range(4)], axis=0)
    found = model.predict_proba(pairs, respondent={"sex": "m", "age": 30})
    np.testing.assert_allclose(found, expected, rtol=1e-3)
    expected = np.mean(
        [chosen(drawn, draw, each) for draw in range(4) for each in known.matrix[:, 1:]], axis=0
    )
    # 64 new people of three
    np.testing.assert_allclose(model.predict_proba(pairs), expected, rtol=0.02)
    stored = model.posterior_["posterior"]["population_probability"].mean(("chain", "draw"))
    np.testing.assert_allclose(stored.sel(pair=["tea, beer", "tea, milk"]), expected, rtol=0.02)
    assert set(model.of_group("p1").posterior_["posterior"].data_vars).isdisjoint(
        {"slopes", "unique_slopes"}
    )


def test_a_person_left_out_is_scored_by_what_is_known_of_them():
    model, drawn, known = with_draws(kappa=1e9)
    choices = th.Choices.from_comparisons(compared_by_known())
    found = model.log_predictive(choices)
    for name, x in zip(PEOPLE.index, known.matrix[:, 1:], strict=True):
        each = []
        for draw in range(4):
            v, own, slope, own_slope = (of[draw] for of in drawn)
            features = np.isin(np.arange(N), OWNERS)[:, None]
            given = features, [v * np.exp(slope @ x)], own * np.exp(x @ own_slope), 0.0
            each.append(naive.pair_probability(0, 1, *given) * naive.pair_probability(2, 3, *given))
        assert found[name] == pytest.approx(np.log(np.mean(each)), abs=1e-3)
    with refused(DataError, "'age'"):
        model.log_predictive(th.Choices.from_comparisons(compared_by_known(PEOPLE[["sex"]])))


def test_a_label_that_nobody_had_counts_as_of_unknown_columns():
    """Of such a person the probability of a choice is the mean over those who answered."""
    model, drawn, known = with_draws(kappa=1e9)
    table = PEOPLE.assign(sex=["f", "x", "m"])
    with warned(DataWarning, "'sex'", "'x'", "'f'", "'m'"):
        found = model.log_predictive(th.Choices.from_comparisons(compared_by_known(table)))
    each = []
    for draw in range(4):
        for x in known.matrix[:, 1:]:
            v, own, slope, own_slope = (of[draw] for of in drawn)
            given = (
                np.isin(np.arange(N), OWNERS)[:, None],
                [v * np.exp(slope @ x)],
                own * np.exp(x @ own_slope),
                0.0,
            )
            each.append(naive.pair_probability(0, 1, *given) * naive.pair_probability(2, 3, *given))
    assert found["p1"] == pytest.approx(np.log(np.mean(each)), abs=1e-3)
    others = model.log_predictive(th.Choices.from_comparisons(compared_by_known()))
    assert found["p0"] == others["p0"] and found["p2"] == others["p2"]


def a_chain(known):
    """A chain of three persons, with draws to come."""
    people = th.people.Individuals(by=["age", "sex"])
    model = th.EliminationByAspects(alpha=1.5, people=people, tempering=False)
    task = model.prepare(compared_by_known(), 3, 1, 1).task
    np.testing.assert_array_equal(task.model.known, known.matrix[:, 1:])
    return task.chain(np.random.default_rng(4))


def test_draws_have_the_slopes_after_the_common_weights(uncompiled):
    chain = a_chain(build_covariates(["age", "sex"], PEOPLE, 3))
    chain.run_until(chain.total)
    drawn, base = chain.draws, select_common_weights(chain.bases, 0)
    columns = int(drawn.n_features[-1])
    assert drawn.weights.shape[1] == drawn.unique_weights.shape[1] == 3 + 1 + 2
    np.testing.assert_array_equal(drawn.unique_weights[-1, 4:], base.unique_slope.T)
    kept = replica(chain.state, 0).m[: replica(chain.state, 0).whole[COLUMNS]] > 0
    np.testing.assert_array_equal(
        drawn.weights[-columns:, 4:] if columns else 0,
        base.slope[: len(kept)][kept] if columns else 0,
    )
    x = chain.task.model.known
    np.testing.assert_allclose(
        base.unique_covariate_factor, np.exp(x @ base.unique_slope.T), rtol=1e-12
    )
    np.testing.assert_allclose(
        base.covariate_factor[:, : len(kept)], np.exp(x @ base.slope[: len(kept)].T), rtol=1e-12
    )


def test_the_density_of_a_slope_is_that_of_the_definition(uncompiled):
    chain = a_chain(build_covariates(["age", "sex"], PEOPLE, 3))
    chain.run_until(3)
    base, model = select_common_weights(chain.bases, 0), chain.task.model
    model = model._replace(known=model.known + 0.3)  # not centred
    base.unique_covariate_factor[:] = np.exp(model.known @ base.unique_slope.T)
    s, kappa = chain.state.s, base.real[0]

    def log_target(value):
        slopes = np.array([value, base.unique_slope[2, 1]])
        middle = base.unique[2] * np.exp(model.known @ slopes)
        return stats.gamma.logpdf(s[:, 2], kappa, scale=middle / kappa).sum() + stats.norm.logpdf(
            value, 0.0, 0.5
        )

    def found(value):
        now = base.unique_slope[2, 0]
        line = slope_updates.SlopeLine(
            model.known, slope_updates.select_unique_weights(chain.state, base), 2, 0, now
        )
        return slope_updates.log_slope_density(line, value)

    assert found(0.7) - found(-0.4) == pytest.approx(log_target(0.7) - log_target(-0.4))


@pytest.mark.parametrize(
    ("respondent", "said"),
    [
        ({"age": 30}, ("'sex'",)),
        ({"age": 30, "sex": "x"}, ("'x'", "'f'", "'m'")),
        ({"age": 30, "sex": "m", "town": "X"}, ("'town'", "'age'", "'sex'")),
        (30, ("'age'", "got 30")),
    ],
)
def test_what_is_not_known_of_a_new_person_is_asked_for(respondent, said):
    with refused(ArgumentError, *said):
        with_draws()[0].predict_proba([("tea", "milk")], respondent=respondent)


@pytest.mark.parametrize(("age", "said"), [("old", ("'age'", "'old'")), (None, ("missing",))])
def test_numbers_of_a_new_person_are_asked_for_as_in_tables(age, said):
    with refused(DataError, *said):
        with_draws()[0].predict_proba([("tea", "milk")], respondent={"age": age, "sex": "m"})


def test_brackets_in_the_names_of_columns_and_labels_are_no_marks():
    """A column may be called `sex [self]`, and a label `m [other]`: both mean what `sex` and `m`
    mean."""
    plain, _, known = with_draws()
    table = PEOPLE.rename(columns={"sex": "sex [self]"}).replace({"sex [self]": {"m": "m [other]"}})
    odd = build_covariates(["age", "sex [self]"], table, 3)
    assert odd.names == ("age", "sex [self][m [other]]") and odd.list_labels() == {
        "sex [self]": ("f", "m [other]")
    }
    np.testing.assert_array_equal(odd.standardise_rows(table), known.standardise_rows(PEOPLE))
    np.testing.assert_array_equal(odd.standardise_rows(table), known.matrix)
    stored = plain.posterior_["constant_data"].to_dataset()
    plain.posterior_["constant_data"] = stored.assign(
        known_column=("known", list(odd.columns))
    ).assign_coords(known=list(odd.names))
    found = plain.predict_proba(
        [("tea", "milk")], respondent={"age": 30, "sex [self]": "m [other]"}
    )
    assert found == with_draws()[0].predict_proba(
        [("tea", "milk")], respondent={"age": 30, "sex": "m"}
    )


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [("town", ArgumentError, ("'age'", "'sex'")), (3, ArgumentError, ("list of columns",))],
)
def test_columns_that_cannot_be_used_are_refused_before_anything_is_drawn(given, error, said):
    with refused(error, *said):
        th.EliminationByAspects(people=th.people.Individuals(given)).prepare(compared_by_known())


def test_a_mapping_of_people_says_nothing_of_them():
    model = th.EliminationByAspects(people=th.people.Individuals(by=["age"]))
    with refused(DataError, "no respondent columns"):
        model.prepare(compared_by_known().by_respondent())


def test_effects_are_refused_without_columns():
    model = th.EliminationByAspects(people=th.people.Individuals())
    set_posterior(model, with_draws()[0].posterior_.copy())
    change_drawn(
        model.posterior_,
        lambda group: group.drop_vars(["slopes", "unique_slopes"], errors="ignore"),
    )
    with refused(ArgumentError, "model with `by`"):
        model.respondents.effects()
    with refused(ArgumentError, "remove `respondent`"):
        model.predict_proba([("tea", "milk")], respondent={"age": 3})


def test_groups_keep_what_is_known_of_people():
    groups = IndividualRespondents(th.people.Individuals(["age"])).convert_data(
        compared_by_known(), lambda given: given
    )
    assert groups.people.equals(PEOPLE.set_axis(groups.people.index)) and list(
        groups.people.index
    ) == list(groups.names)
    assert pickle.loads(pickle.dumps(groups)) == groups == groups.map_groups(lambda part: part)
    assert "people" not in vars(GroupedData(dict(groups)))


def test_the_finding_says_what_is_sure():
    found = with_draws(draws=40, lean=4.0)[0].findings()["respondent_effects"]
    said(found.sentence, "wine", "m relative to f", "in 'sex'")
    assert found.table.index.names == ["column", "item"]
    plain = with_draws()[0]
    change_drawn(
        plain.posterior_,
        lambda group: group.drop_vars(["slopes", "unique_slopes"], errors="ignore"),
    )
    assert "respondent_effects" not in plain.findings()


def test_a_draw_from_the_prior_holds_all_that_a_draw_of_a_fit_does(uncompiled):
    """The slopes and what weights vary about are those that the data were simulated by, and data
    keep their people."""
    population = IndividualRespondents(th.people.Individuals(["age", "sex"]))
    groups = population.convert_data(compared_by_known(), lambda given: given)
    model = th.EliminationByAspects(
        alpha=1.5, people=th.people.Individuals(by=["age", "sex"]), tempering=False
    )
    known, parts = build_covariates(["age", "sex"], PEOPLE, 3), model._build_task_arguments(groups)
    chain = a_chain(known)
    chain.run_until(chain.total)
    fit = population.build_tree([chain.draws], groups, parts, chain.task, {})
    sample = population.sample_prior(groups, parts, [np.random.default_rng(n) for n in range(100)])
    assert set(sample.prior.data_vars) == set(fit["posterior"].data_vars)
    ((data,), *_) = sample.data
    assert data.people.equals(groups.people)
    slopes = sample.prior["unique_slopes"].values[0]
    assert slopes.shape == (100, 2, N) and abs(slopes.std() / 0.5 - 1) < 5 / np.sqrt(
        2 * slopes.size
    )
    # (draws, people, options)
    x, logs = known.matrix[:, 1:], np.log(sample.prior["group_unique_weights"].values[0])
    # of two options, between two persons
    rise = (logs[:, 2, 0] - logs[:, 2, 1]) - (logs[:, 0, 0] - logs[:, 0, 1])
    expected = (slopes[:, :, 0] - slopes[:, :, 1]) @ (x[2] - x[0])
    assert np.corrcoef(rise, expected)[0, 1] > 0.5
