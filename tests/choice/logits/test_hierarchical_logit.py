"""The hierarchical logit: quadrature, predictions, signs, covariates, convergence checks,
mistakes."""

import time
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from arviz_stats.base.array import array_stats
from helpers.experiment_data import camera, simulate_experiment
from helpers.option_words import TYPED
from helpers.real_data import needs_data
from helpers.sentences import refused, says
from helpers.watched_runs import run_of
from scipy.stats import invwishart

import thali as th
from thali._choice.logit_likelihood import EncodedTasks, choice_probabilities
from thali._choice.logits.hierarchical_draws import (
    N_NEW_PEOPLE,
    TasteDistribution,
    TasteScale,
    compute_monitored_effects,
    draw_new_people,
    measure_prior_influence,
    predict_probabilities,
    read_taste_names,
)
from thali._choice.logits.hierarchical_sweep import TasteChain, TastePrior, build_problem
from thali._choice.product_coding import build_coding
from thali._inference.markov_chains import run_chains
from thali._inference.random_seeds import spawn_generators
from thali._people.respondent_columns import RespondentCovariates, build_covariates
from thali.errors import ArgumentError, ConvergenceWarning, DataError

SILENT = SimpleNamespace(note=lambda text: None, update=lambda done: None)
pytestmark = pytest.mark.filterwarnings("ignore::thali.errors.ConvergenceWarning")


def test_a_tiny_problem_agrees_with_quadrature():
    """Two people, one coefficient: E[mu], E[ln sigma^2] and both tastes within 4 Monte Carlo
    standard errors."""
    x = np.array([0.0, 1.0] * 5)
    # chosen: 1 1 1 | 0 1
    tasks = EncodedTasks(x[:, None], np.arange(6) * 2, np.array([1, 3, 5, 6, 9]))
    first_task, df, scale, sd = np.array([0, 3, 5]), 5.0, 0.6, 1.2
    problem = build_problem(tasks, first_task, TastePrior(df, scale, sd))
    mu, log_variance = (
        np.linspace(-7, 7, 101)[:, None, None],
        np.linspace(-5, 5.5, 101)[None, :, None],
    )
    b = np.linspace(-14, 14, 281)[None, None, :]
    variance = np.exp(log_variance)
    density = np.exp(-0.5 * (b - mu) ** 2 / variance) / np.sqrt(variance)
    p = 1 / (1 + np.exp(-b))
    inner = [density * p**3, density * p * (1 - p)]
    population = np.exp(
        -0.5 * (mu / sd) ** 2 - 0.5 * df * log_variance - 0.5 * df * scale / variance
    )[..., 0]
    likelihood = [each.sum(axis=2) for each in inner]
    weight = population * likelihood[0] * likelihood[1]
    total = weight.sum()
    wanted = {
        "mean": (weight * mu[..., 0]).sum() / total,
        "log variance": (weight * log_variance[..., 0]).sum() / total,
        "first": (population * likelihood[1] * (inner[0] * b).sum(axis=2)).sum() / total,
        "second": (population * likelihood[0] * (inner[1] * b).sum(axis=2)).sum() / total,
    }
    chains = [TasteChain(problem, rng, 2500, 400, 2) for rng in spawn_generators(3, 4)]
    run_chains(chains, 2, SILENT)
    found = {
        "mean": [c.record.mean[:, 0, 0] for c in chains],
        "log variance": [np.log(c.record.covariance[:, 0, 0]) for c in chains],
        "first": [c.record.beta[:, 0, 0] for c in chains],
        "second": [c.record.beta[:, 1, 0] for c in chains],
    }
    for name, draws in found.items():
        draws = np.array(draws)
        error = float(array_stats.mcse(draws[None], method="mean")[0])
        assert error < 0.05
        assert abs(draws.mean() - wanted[name]) < 4 * error, (
            name,
            draws.mean(),
            wanted[name],
            error,
        )


@pytest.fixture(scope="module")
def fitted():
    train, test = th.ChoiceExperiment.from_frame(
        simulate_experiment(n_respondents=80, n_tasks=12, sd=2.0)
    ).split(tasks=3)
    model = th.HierarchicalLogit().fit(
        train, draws=60, tune=60, thin=3, random_seed=1, progressbar=False
    )
    return model, train, test


@pytest.mark.long
def test_predictions_are_averages_over_draws(fitted):
    model, train, test = fitted
    beta = model.posterior_["posterior"].dataset["beta"].values.reshape(-1, 80, 5)
    assert list(model.coef_.index) == [
        "price[15]",
        "price[25]",
        "brand[B]",
        "brand[C]",
        "zoom[yes]",
    ]
    assert model.individual_.to_numpy() == pytest.approx(beta.mean(axis=0))
    rows = test.to_frame()
    p = model.predict_proba(rows)
    first = rows["id"] == "p7"
    codes = test.products[test.row_product][first]
    x = np.column_stack(
        [codes[:, 0] == 1, codes[:, 0] == 2, codes[:, 1] == 1, codes[:, 1] == 2, codes[:, 2] == 1]
    )
    by_hand = choice_probabilities(x @ beta[:, 7].T, np.repeat([0, 1, 2], 3)).mean(axis=1)
    assert p[first] == pytest.approx(by_hand, rel=1e-12)
    order = np.random.default_rng(0).permutation(len(rows))
    assert model.predict_proba(rows.iloc[order]) == pytest.approx(p[order], rel=1e-12)
    assert np.array_equal(model.predict_proba(test), model.predict_proba(test))


def test_new_people_are_drawn_from_the_population(fitted):
    """Of one draw 20,000 times over: mean and covariance of the tastes, and the probability, within
    4 errors."""
    posterior = xr.Dataset(
        {
            "mean": (("chain", "draw", "coefficient"), np.tile([1.0, -0.5], (1, 20_000, 1))),
            "covariance": (
                ("chain", "draw", "c", "d"),
                np.tile([[2.0, -0.6], [-0.6, 0.5]], (1, 20_000, 1, 1)),
            ),
            "covariate_effect": (
                ("chain", "draw", "covariate", "coefficient"),
                np.tile([[0.0, 0.5]], (1, 20_000, 1, 1)),
            ),
        }
    )
    scale = TasteScale(("a", "b"), np.array([0.0, -1.0]), np.eye(2), np.ones(2))
    people = RespondentCovariates(
        ("age",), np.array([[1.0, -1.0], [1.0, 1.0]]), np.array([2.0]), np.zeros(1), ("",), ("age",)
    )
    tastes = draw_new_people(TasteDistribution(posterior, scale, people), 3)
    n = 20_000 * N_NEW_PEOPLE
    assert tastes.shape == (n, 2) and (tastes[:, 1] < 0.0).all()
    normal = np.column_stack([tastes[:, 0], np.log(-tastes[:, 1])])
    assert np.abs(normal.mean(axis=0) - [1.0, -0.5]).max() < 4 * np.sqrt(2.0 / n)
    # an effect of .5 a year, two years older or younger than the mean
    of_age = np.array([[0.0, 0.0], [0.0, 1.0]])
    assert np.abs(np.cov(normal.T) - [[2.0, -0.6], [-0.6, 0.5]] - of_age).max() < 4 * np.sqrt(
        2.0 * 2.0**2 / n
    )
    model, _, test = fitted
    strangers = model.predict_proba(
        test.to_frame().assign(id=lambda f: "new " + f["id"].astype(str))
    )
    assert np.add.reduceat(strangers, test.first_row[:-1]) == pytest.approx(1.0)
    assert not np.allclose(strangers, model.predict_proba(test), atol=0.05)
    x = np.array([[1.0, 0, 0, 0, 0], [0, 0, 1.0, 0, 1]])
    nobody, zeros = np.array([-1, -1]), np.zeros(2, int)
    once, again = (
        predict_probabilities(
            model.posterior_["posterior"].dataset,
            model._build_taste_distribution(),
            x,
            zeros,
            nobody,
            seed,
        )[0]
        for seed in (1, 2)
    )
    assert once == pytest.approx(again, abs=0.1) and not np.array_equal(once, again)


def test_units_of_a_number_do_not_matter():
    rows = simulate_experiment(n_respondents=10)
    budget = {"draws": 20, "tune": 10, "random_seed": 5, "progressbar": False}
    data = th.ChoiceExperiment.from_frame(rows)
    cents = th.ChoiceExperiment.from_frame(rows.assign(price=100 * rows["price"]))
    one, two = (th.HierarchicalLogit("price").fit(each, **budget) for each in (data, cents))
    assert one.coef_["price"] == pytest.approx(100 * two.coef_["price"], rel=1e-6)
    assert one.predict_proba(data) == pytest.approx(two.predict_proba(cents), rel=1e-6)


def test_summary_rows_follow_the_draws(fitted):
    model, train, _ = fitted
    rows = list(model.summary().index)
    assert (
        rows[:2] == ["share[price=15]", "share[price=25]"] and rows[5] == "effect[price: 15 over 5]"
    )
    assert len(rows) == 10 and list(model.population().index)[:2] == [
        "mean[price[15]]",
        "mean[price[25]]",
    ]
    p, level = model.predict_proba(train), train.products[train.row_product, 0]
    np.testing.assert_allclose(
        model.summary()["mean"].iloc[0], p[level == 1].sum() / train.n_tasks, rtol=1e-9
    )
    beta = model.posterior_["posterior"]["beta"].values[..., 0]
    np.testing.assert_allclose(
        model.summary()["mean"].iloc[5], (1 / (1 + np.exp(-beta))).mean(), rtol=1e-9
    )
    assert 0.7 < float(model.posterior_["sample_stats"].dataset["acceptance_rate"].mean()) < 0.9
    with pytest.warns(ConvergenceWarning, match="chains") as messages:
        th.HierarchicalLogit().fit(train, draws=8, tune=2, thin=1, random_seed=1, progressbar=False)
    assert messages[0].filename == __file__


@pytest.mark.unit
@pytest.mark.parametrize("people", [0, 40])
def test_how_far_the_prior_is_felt_in_standard_deviations(people):
    """Of known tastes Sigma is IW(df + N, df V I + S): E ln sigma_k is half the ln of the scale,
    and a constant."""
    df, size, units = 6.0, 0.5, np.array([1.0, 10.0, 2.0])
    squares = people * np.diag([0.2, 2.0, 9.0])
    drawn = invwishart(df + people, df * size * np.eye(3) + squares).rvs(40_000, random_state=1)
    drawn = (drawn / np.outer(units, units)).reshape(2, -1, 3, 3)
    posterior = xr.Dataset({"covariance": (("chain", "draw", "one", "other"), drawn)})
    found = measure_prior_influence(
        posterior, TasteScale(("a", "b", "c"), np.zeros(3), np.eye(3), units), df, size
    )
    np.testing.assert_allclose(found, 0.5 * df * size / (df * size + np.diag(squares)), atol=0.02)


def test_a_prior_that_is_felt_is_said(fitted):
    (note,) = fitted[0].findings()["population"].notes
    says(str(note), "80 respondents", "9 tasks")
    assert "priors={'scale': 0.5}`) would reduce sd[" in str(note)
    assert "--priors" in note.render(TYPED)


@pytest.mark.long
def test_errors_of_draws_are_headed_as_such(fitted, done, tmp_path):
    """The tables have the columns that those of an estimate have, where the errors are those of a
    sample of people."""
    model, train, _ = fitted
    market = pd.DataFrame(
        {"price": [5, 15], "brand": ["A", "B"], "zoom": ["no", "yes"]}, ["A", "B"]
    )
    for each, sentence, other in (
        (model, "MC error", "std. error"),
        (th.MultinomialLogit().fit(train), "std. error", "MC error"),
    ):
        each.save(tmp_path / "fit.nc")
        head = done("show", tmp_path / "fit.nc", "utilities").out
        assert sentence in head and other not in head, head
        found = each.findings(market=market)
        for key in (
            "attribute_importance",
            "utilities",
            "willingness_to_pay",
            "market_shares",
            "demand",
        ):
            assert found[key].table.attrs.get("monte_carlo", False) == (each is model), key


def test_tastes_keep_their_signs():
    """Of levels, of which each is worse than the one before, and of a slope; predictions of new
    people, too."""
    data = th.ChoiceExperiment.from_frame(simulate_experiment(n_respondents=12, n_tasks=4))
    budget = {"draws": 40, "tune": 40, "random_seed": 1, "progressbar": False}
    by_level = th.HierarchicalLogit(signs={"price": "decreasing"}).fit(data, **budget)
    beta = by_level.posterior_["posterior"]["beta"].values
    assert (beta[..., 0] < 0.0).all() and (beta[..., 1] < beta[..., 0]).all()
    taste = read_taste_names(by_level.posterior_["posterior"].dataset)
    assert list(taste[:3]) == [
        "ln price[5] over price[15]",
        "ln price[15] over price[25]",
        "brand[B]",
    ]
    people = beta.reshape(-1, *beta.shape[2:]).mean(axis=(0, 1))
    assert by_level.coef_.to_numpy()[:2] == pytest.approx(people[:2], rel=1e-9)
    sloped = th.HierarchicalLogit(linear="price", signs={"price": "decreasing"}).fit(data, **budget)
    assert (sloped.posterior_["posterior"]["beta"].values[..., 0] < 0.0).all()
    assert sloped.population().index[0] == "mean[ln -price]"
    market = (
        data.to_frame().iloc[:2].assign(price=[5.0, 15.0], brand="A", zoom="no", id="somebody else")
    )
    for model in (by_level, sloped):
        cheap, dear = model.predict_proba(market)
        assert cheap > 0.5 > dear
    log_prior = float(sloped.posterior_["log_prior"]["beta"].mean())
    assert np.isfinite(log_prior)


@pytest.mark.long
def test_mean_tastes_depend_on_covariates():
    """Simulated: a taste for zoom that is larger by 2 for women, and larger by .1 a year."""
    rng = np.random.default_rng(3)
    people = pd.DataFrame(
        {"sex": rng.choice(["man", "woman"], 60), "age": rng.integers(20, 60, 60)}
    )
    taste = (
        -1.0
        + 2.0 * (people["sex"] == "woman")
        + 0.1 * (people["age"] - 40)
        + 0.5 * rng.normal(size=60)
    )
    rows = []
    for person, own in enumerate(taste):
        for task in range(10):
            zoom = rng.permutation([0, 1])
            chosen = rng.random() < 1 / (1 + np.exp(-own * (zoom[0] - zoom[1])))
            for j in range(2):
                choice = int(chosen == (j == 0))
                rows.append(
                    {
                        "id": person,
                        "task": task,
                        "choice": choice,
                        "zoom": zoom[j],
                        **people.iloc[person],
                    }
                )
    frame = pd.DataFrame(rows)
    data = th.ChoiceExperiment.from_frame(frame, attributes=["zoom"])
    budget = {"draws": 150, "tune": 100, "random_seed": 1, "progressbar": False}
    model = th.HierarchicalLogit(by=["sex", "age"]).fit(data, **budget)
    found = model.population()
    for row, truth in {"mean[zoom[1]] per sex[woman]": 2.0, "mean[zoom[1]] per age": 0.1}.items():
        assert abs(found.loc[row, "mean"] - truth) < 4 * found.loc[row, "sd"]
        assert found.loc[row, "mean"] > 4 * found.loc[row, "sd"]
    effects = model.findings().find("respondent_effects")
    says(effects.sentence, "2 of 2 effects", "the mean coefficient of zoom[1]")
    same_rows = found.filter(like=" per ", axis="index")
    np.testing.assert_array_equal(effects.table["mean"], same_rows["mean"])
    plain = th.HierarchicalLogit().fit(data, **budget).population()
    assert found.loc["sd[zoom[1]]", "mean"] < 0.7 * plain.loc["sd[zoom[1]]", "mean"]
    assert (
        abs(found.loc["mean[zoom[1]]", "mean"] - taste.mean())
        < 4 * found.loc["mean[zoom[1]]", "sd"]
    )


def with_people(**columns):
    """Data of four people with these columns."""
    frame = simulate_experiment(n_respondents=4, n_tasks=2)
    number = frame["id"].str[1:].astype(int)
    people = {name: [values[n] for n in number] for name, values in columns.items()}
    return th.ChoiceExperiment.from_frame(
        frame.assign(**people), attributes=["price", "brand", "zoom"]
    )


MISTAKES = [
    ({"signs": {"brand": "increasing"}}, {}, ("'brand'", "'A'", "'B'", "'C'")),
    ({"signs": {"price": "down"}}, {}, ("'price'", "got 'down'")),
    ({"signs": {"prise": "decreasing"}}, {}, ("attribute 'prise'",)),
    ({"by": ["age"]}, {}, ("'age'",)),
    ({"by": ["sex"]}, {"age": [1, 2, 3, 4]}, ("contains 'sex'",)),
    ({"by": ["age"]}, {"age": [1, 2, None, 4]}, ("'age'", "4 respondents")),
    ({"by": ["age"]}, {"age": [2, 2, 2, 2]}, ("'age'", "'2'")),
    (
        {"by": ["a", "b"]},
        {"a": [1, 2, 3, 4], "b": [2, 4, 6, 8]},
        ("`by`: 2 covariates of 4 respondents",),
    ),
]


@pytest.mark.parametrize(("arguments", "people", "facts"), MISTAKES)
def test_mistakes_about_signs_and_people(arguments, people, facts):
    with refused((ArgumentError, DataError), *facts):
        th.HierarchicalLogit(**arguments).fit(with_people(**people), draws=1)


def test_covariates_of_people_are_centred_and_have_unit_spread():
    data = with_people(age=[20, 30, 40, 70], sex=["f", "m", "m", "m"])
    found = build_covariates(["age", "sex"], data.people, data.n_respondents)
    assert found.names == ("age", "sex[m]") and (found.matrix[:, 0] == 1.0).all()
    np.testing.assert_allclose(
        found.matrix[:, 1], (np.array([20, 30, 40, 70]) - 40) / np.std([20, 30, 40, 70])
    )
    np.testing.assert_allclose(
        found.matrix[:, 2], (np.array([0, 1, 1, 1]) - 0.75) / np.sqrt(0.1875)
    )


def test_a_slope_whose_levels_are_declared_in_another_order():
    rows = simulate_experiment(n_respondents=4, n_tasks=2)
    for order, sign in (([25, 15, 5], -1.0), ([5, 15, 25], 1.0)):
        data = th.ChoiceExperiment.from_frame(rows, levels={"price": order})
        coding = (
            th.HierarchicalLogit(linear="price", signs={"price": "increasing"})
            ._resolve_arguments(data)
            .scale
        )
        assert coding.sign[0] == sign
    data = th.ChoiceExperiment.from_frame(rows, levels={"price": [15, 5, 25]})
    with refused(ArgumentError, "'price'"):
        th.HierarchicalLogit(linear="price", signs={"price": "increasing"}).fit(data, draws=1)


@pytest.mark.parametrize(
    ("chains", "thin", "first"), [(4, 2, 1000), (1_000, 6, 335), (20_000, 1, 100)]
)
def test_large_draws_are_fewer_and_further_apart(chains, thin, first):
    """Of many respondents, or in many chains."""
    data, model = (
        th.ChoiceExperiment.from_frame(simulate_experiment(n_respondents=40)),
        th.HierarchicalLogit(),
    )
    run = run_of(model, data, tune=200, chains=chains)
    assert (run.run.thin, run.draws_at_first_check) == (thin, first)
    longer = run_of(model, data, 4 * first, tune=200, chains=chains)  # as continue_fit asks for
    assert (longer.run.thin, longer.draws_at_first_check) == (thin, 4 * first)


def test_a_covariance_needs_as_many_degrees_of_freedom_as_coefficients(fitted):
    with refused(ArgumentError, "df", "5 coefficients", "got 6"):
        th.HierarchicalLogit(priors={"df": 6}).fit(fitted[1])


@pytest.mark.parametrize("count", [1, 5, 36])
def test_what_is_reported_of_a_draw_does_not_depend_on_how_many_there_are(count):
    data = th.ChoiceExperiment.from_frame(
        simulate_experiment(n_respondents=12, n_tasks=6, seed=4), levels={"zoom": ["no", "yes"]}
    )
    coding = build_coding(data)
    beta = np.random.default_rng(4).normal(size=(2, 37, 12, len(coding.names)))
    some, every = (
        compute_monitored_effects(beta[:, :count], data, coding),
        compute_monitored_effects(beta, data, coding),
    )
    for name, values in every.items():
        np.testing.assert_array_equal(some[name].values, values.values[:, :count], err_msg=name)


@needs_data
@pytest.mark.long
def test_camera_is_predicted_within_its_time_budget():
    """100 people and 12 tasks; on another draw of them the specification has -.774, multinomial
    -1.243."""
    _, people = camera().split(respondents=100, random_seed=1)
    train, test = people.split(tasks=4)
    th.HierarchicalLogit().fit(train, draws=1, tune=1, thin=1)  # compiled
    began = time.process_time()
    model = th.HierarchicalLogit().fit(train, random_seed=1, progressbar=False)
    assert time.process_time() - began < 15
    chosen = test.first_row[:-1] + test.chosen
    assert np.log(model.predict_proba(test)[chosen]).mean() == pytest.approx(-0.774, abs=0.1)
    plain = th.MultinomialLogit().fit(train).predict_proba(test)
    assert np.log(plain[chosen]).mean() == pytest.approx(-1.243, abs=0.1)
