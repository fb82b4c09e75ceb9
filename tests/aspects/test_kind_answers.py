"""What models of kinds of people answer, and what they refuse; the sampler runs as Python."""

import copy
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from helpers.all_drawn import all_drawn, change_drawn
from helpers.kind_problems import answered, of_new_person, random_answers, with_classes_in_order
from helpers.plain_python import run_as_python
from helpers.problems import random_comparisons
from helpers.sentences import refused
from scipy import stats
from xarray import Dataset, DataTree

import thali as th
from thali.errors import ArgumentError, DataError

RUN = {"draws": 16, "tune": 4, "chains": 2, "thin": 1, "random_seed": 1, "progressbar": False}
pytestmark = [
    pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning"),
    pytest.mark.usefixtures("uncompiled"),
]


@pytest.fixture(scope="module")
def data():
    """Two people who always choose the first by the alphabet, two who never do, and one who does at
    random."""
    rows = [
        (f"p{k}", *pair, pair[k % 2])
        for k in range(4)
        for pair in ("ab", "ac", "bc")
        for _ in range(6)
    ]
    return answered(
        rows + [("p4", "a", "b", "a"), ("p4", "a", "b", "b"), ("p4", "b", "c", "c")], list("abc")
    )


@pytest.fixture(scope="module")
def model(data):
    with run_as_python():
        return th.EliminationByAspects(people=th.people.LatentClasses(2, "similar")).fit(
            data, **RUN
        )


@pytest.mark.fit
def test_membership_tables_follow_the_draws(model):
    respondents = model.respondents
    together, sizes = respondents.same_class(), respondents.classes()
    people = respondents.membership()
    assert together.index.tolist() == together.columns.tolist() == [f"p{k}" for k in range(5)]
    of = model.posterior_["latent_features"]["kind"].values.reshape(-1, 5)
    assert together.loc["p1", "p4"] == pytest.approx(np.mean(of[:, 1] == of[:, 4]))
    assert (np.diag(together) == 1.0).all() and together.equals(
        together.T.rename_axis(index="respondent", columns="other")
    )
    for share in ("sample_share", "population_share"):
        assert sizes[share].sum() == pytest.approx(1.0) and sizes[share].is_monotonic_decreasing
    assert sum(map(len, sizes["respondents"])) == 5 and sum(
        sizes.attrs["n_classes"].values()
    ) == pytest.approx(1.0)
    assert people[["P(1)", "P(2)"]].sum(axis=1).to_numpy() == pytest.approx(1.0)
    assert people["probability"].to_numpy() == pytest.approx(
        people[["P(1)", "P(2)"]].max(axis=1).to_numpy()
    )
    assert (
        people.loc["p0", "latent_class"]
        == people.loc["p2", "latent_class"]
        != people.loc["p1", "latent_class"]
    )
    assert (
        "largest class, the second largest, ... in each draw"
        in model.findings()["latent_classes"].notes[-1]
    )


def of_counts(*counts, people=40, kinds=2):
    """A model of which so many people are of the first kind in each draw."""
    return of_draws(np.array([np.arange(people) >= count for count in counts], int), kinds)


def of_draws(draws, kinds):
    """A model in whose draws people are of these kinds (draws, people)."""
    of, people = draws[None], draws.shape[1]
    names = [f"p{k}" for k in range(people)]
    posterior = Dataset({"kind": (("chain", "draw", "respondent"), of)}, {"respondent": names})
    posterior["n_classes"] = ("chain", "draw"), [[len(set(draw)) for draw in of[0]]]
    model = th.EliminationByAspects(people=th.people.LatentClasses(kinds))
    constant = Dataset({"kinds": kinds, "kind": "paired comparisons of latent classes"})
    constant["population"] = "kinds"
    groups = {"posterior": posterior.drop_vars("kind"), "latent_features": posterior[["kind"]]}
    model.posterior_ = with_classes_in_order(
        DataTree.from_dict(groups | {"constant_data": constant})
    )
    return model


def rows_of_draws(model, draws, kinds):
    """The rows of the summary where people are of these kinds (draws, people), and all else as in
    one draw of a fit."""
    of_people = of_draws(draws, kinds).posterior_
    fitted = model.posterior_["posterior"].dataset.isel(chain=[0], draw=np.zeros(len(draws), int))
    fitted = (
        fitted.drop_dims("respondent")
        .drop_vars("n_classes")
        .assign_coords(draw=np.arange(len(draws)))
    )
    other, constant = (
        copy.copy(model),
        model.posterior_["constant_data"].dataset.assign(kinds=kinds),
    )
    other.posterior_ = of_people.copy()
    other.posterior_["posterior"] = DataTree(fitted.merge(of_people["posterior"].to_dataset()))
    other.posterior_["constant_data"] = DataTree(constant)
    return other._get_quantities()


def test_the_share_of_a_kind_is_not_that_of_the_largest_of_each_draw(model):
    """Of 26 people 13 are of the kind in 94 % of draws, 14 in 3 % and 12 in 3 %: of the largest 14
    in 6 %."""
    draws = np.array([np.arange(26) >= count for count in [13] * 940 + [14] * 30 + [12] * 30], int)
    row = of_draws(draws, 2).respondents.classes().loc[1]
    assert row[["sample_share_low", "sample_share_high"]].tolist() == [0.5, 0.5]
    largest = rows_of_draws(model, draws, 2)["class_share[1]"]
    np.testing.assert_allclose(np.quantile(largest, [0.055, 0.945]), [0.5, 14 / 26])


@pytest.mark.parametrize("kinds", [2, 3])
def test_the_share_of_the_population_has_the_posterior_of_its_prior(kinds):
    """Of 40 people 30 are of the kind, for certain: Beta(31, 9 + G), and 30 or 34 of them with
    equal probability."""
    sizes = of_counts(30, 30, kinds=kinds).respondents.classes()
    row = sizes.loc[1]
    assert row[["sample_share", "sample_share_low", "sample_share_high"]].tolist() == [0.75] * 3
    exact = stats.beta(31, 9 + kinds)
    np.testing.assert_allclose(row["population_share"], exact.mean(), rtol=1e-12)
    np.testing.assert_allclose(
        [row["population_share_low"], row["population_share_high"]],
        exact.ppf([0.055, 0.945]),
        rtol=1e-9,
    )
    assert sizes["population_share"].sum() == pytest.approx(1.0)
    row, other = (
        of_counts(30, 34, kinds=kinds).respondents.classes().loc[1],
        stats.beta(35, 5 + kinds),
    )
    assert row["population_share"] == pytest.approx((exact.mean() + other.mean()) / 2)
    for end, p in (("low", 0.055), ("high", 0.945)):
        assert (
            exact.cdf(row[f"population_share_{end}"]) + other.cdf(row[f"population_share_{end}"])
        ) / 2 == pytest.approx(p)


def test_one_kind_has_all_people():
    row = of_counts(40, kinds=1).respondents.classes().loc[1]
    assert row.drop(["occupied", "respondents"]).tolist() == [1.0] * 6


@pytest.mark.fit
def test_the_summary_does_not_depend_on_what_kinds_are_called(model):
    rows = model.summary().index
    assert {"kappa", "n_classes", "class_share[1]", "class_share[2]", "class_agreement"} <= set(
        rows
    )
    assert "choice_probability[a, b]" in rows
    turned = model.posterior_.copy(deep=True)
    posterior = all_drawn(turned)
    half = (posterior["draw"] % 2 == 1) | (posterior["chain"] == 1)
    changed = {"kind": xr_where(half, 1 - posterior["kind"], posterior["kind"])}
    for name in ("kind_weights", "kind_unique_weights", "kind_choice_probability"):
        other = posterior[name].isel(kind_number=slice(None, None, -1))
        changed[name] = xr_where(half, other, posterior[name])
    change_drawn(
        turned,
        lambda group: group.assign({name: changed[name] for name in changed if name in group}),
    )
    other = th.EliminationByAspects(people=th.people.LatentClasses(2, "similar"))
    other.posterior_ = with_classes_in_order(turned)
    assert other.summary().equals(model.summary()) and other.respondents.same_class().equals(
        model.respondents.same_class()
    )
    assert other.respondents.membership().equals(model.respondents.membership()) and other.features(
        0.0
    ).equals(model.features(0.0))
    np.testing.assert_allclose(other.predict_proba([("a", "b")]), model.predict_proba([("a", "b")]))


def xr_where(condition, this, that):
    """Chosen draw by draw, dimensions as they were."""
    return this.where(condition, that).transpose(*that.dims).astype(that.dtype)


def test_kinds_of_draws_are_matched_by_their_people(model):
    rng = np.random.default_rng(1)
    truth = np.repeat([0, 1, 2], [5, 3, 2])
    draws = np.tile(truth, (40, 1))
    draws[rng.random(draws.shape) < 0.05] = 0
    turned = np.array([rng.permutation(3)[each] for each in draws])
    found = of_draws(turned, 3).respondents.membership()
    # class 1 is the largest, as in `truth`
    shares = np.stack([(draws == g).mean(axis=0) for g in range(3)], axis=1)
    np.testing.assert_allclose(found[["P(1)", "P(2)", "P(3)"]], shares)
    assert (found["latent_class"] == truth + 1).all()
    same = [(each[:, None] == each) == (truth[:, None] == truth) for each in turned]
    by_hand = [(each.sum() - 10) / 90 for each in same]
    np.testing.assert_allclose(rows_of_draws(model, turned, 3)["class_agreement"].ravel(), by_hand)


def test_every_draw_is_in_the_best_of_all_orders():
    """Of three classes and people who change between them: all six orders of each draw are
    tried."""
    rng = np.random.default_rng(2)
    draws = np.array([rng.permutation(3)[np.where(rng.random(12) < 0.3, rng.integers(3, size=12), np.arange(12) % 3)]
                      for _ in range(60)])  # fmt: skip
    order = of_draws(draws, 3).posterior_["latent_features"]["class_order"].values[0]
    owns = draws[:, :, None] == order[:, None, :]  # (draw, person, common class)
    logs = np.log((owns.sum(axis=0) + 1 / 3) / 61)
    for own, of in zip(owns, draws, strict=True):
        every = [(logs * (of[:, None] == each)).sum() for each in permutations(range(3))]
        assert (logs * own).sum() == pytest.approx(max(every))
    sizes = owns.sum(axis=(0, 1))
    assert (np.diff(sizes) <= 0).all()


@pytest.mark.fit
def test_a_fit_that_went_on_has_the_classes_of_one_that_did_not(model, data, tmp_path):
    """And a file has them too."""
    with run_as_python():
        longer = th.EliminationByAspects(people=th.people.LatentClasses(2, "similar")).fit(
            data, **RUN | {"draws": 10}
        )
        longer.continue_fit(6, progressbar=False)
    assert longer.features().equals(model.features())
    for name in ("classes", "membership"):
        assert getattr(longer.respondents, name)().equals(getattr(model.respondents, name)()), name
    model.save(tmp_path / "fit.nc")
    again = th.load(tmp_path / "fit.nc")
    assert again.posterior_["latent_features"].dataset.equals(
        model.posterior_["latent_features"].dataset
    )
    assert again.respondents.classes().equals(model.respondents.classes())


@pytest.mark.fit
def test_a_new_person_is_a_mixture_of_kinds(model):
    p = model.predict_proba([("a", "b"), ("c", "a")])
    stored = model.posterior_["posterior"]["choice_probability"]
    assert float(p[0]) == pytest.approx(float(stored.isel(pair=0).mean()))
    assert float(p[1]) == pytest.approx(1.0 - float(stored.isel(pair=1).mean()))
    both, errors = model.predict_proba([("a", "b")], return_se=True)
    assert both[0] == pytest.approx(p[0]) and 0.0 < errors[0] < 0.5
    (two,) = model.predict_proba(
        th.Choices.from_comparisons(th.PairedComparisons([[0, 1], [0, 0]], list("ab")))
    )
    np.testing.assert_allclose(two, [p[0], 1.0 - p[0]])
    (three,) = model.predict_proba([("a", "b", "c")])
    np.testing.assert_allclose(three, of_new_person(model, ["a", "b", "c"]), rtol=1e-9)


@pytest.mark.fit
def test_the_model_of_one_class_has_that_class_in_every_draw(model, data):
    first = model.respondents.of_class(1)
    posterior = all_drawn(model.posterior_)
    each = posterior["kind_choice_probability"].values.reshape(-1, 2, 3)
    chosen = np.abs(
        each - first.posterior_["posterior"]["choice_probability"].values.reshape(-1, 1, 3)
    ).sum(axis=2)
    assert chosen.min(axis=1).max() == 0.0  # it is one of the kinds of each draw
    by_hand = np.take_along_axis(each, chosen.argmin(axis=1)[:, None, None], 1)
    assert float(first.predict_proba([("a", "b")])[0]) == pytest.approx(by_hand[:, 0, 0].mean())
    assert first.ranks().shape[0] == 3 and first.features(0.0)["members"].equals(
        model.features(0.0)["members"]
    )
    np.testing.assert_array_equal(first.features(0.0)["weight"], model.features(0.0)["weight[1]"])
    people = model.respondents.classes().loc[1, "respondents"]
    by_respondent = data.by_respondent()
    wins = sum(by_respondent[name].wins.sum() for name in people)
    assert first.posterior_["observed_data"]["wins"].values.sum() == wins
    with refused(ArgumentError, "the whole model"):
        first.check()
    with refused(ArgumentError, "class 3", "1 to 2"):
        model.respondents.of_class(3)


@pytest.mark.long
@pytest.mark.fit  # for its time
def test_given_aspects_and_tempering(data):
    model = th.EliminationByAspects(
        [[1, 0], [1, 1], [0, 1]], people=th.people.LatentClasses(3), tempering=(1.0, 2.0)
    ).fit(data, **RUN)
    assert model.features()["probability"].tolist() == [1.0, 1.0]
    assert model.respondents.classes().index.tolist() == [1, 2, 3]
    alone = th.EliminationByAspects([[1], [1], [0]], people=th.people.LatentClasses(1)).fit(
        data, **RUN
    )
    assert (
        "n_classes" not in alone.summary().index
        and alone.respondents.membership()["probability"].eq(1.0).all()
    )
    assert {"features", "n_features"} <= {*model.findings().keys()}


@pytest.mark.fit  # for its time
def test_compared_by_people_left_out(data):
    models = {
        "1": th.EliminationByAspects([[1], [1], [0]], people=th.people.LatentClasses(1)),
        "2": th.EliminationByAspects([[1], [1], [0]], people=th.people.LatentClasses(2)),
    }
    settings = {
        "draws": 8,
        "tune": 4,
        "chains": 2,
        "thin": 1,
        "cores": 1,
        "random_seed": 1,
        "progressbar": False,
    }
    table = th.compare(models, data, leave_out="respondent", folds=2, **settings)
    assert table.loc["2", "respondents"] == 5 and np.isfinite(table["log_score"]).all()


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"people": th.people.LatentClasses(6)}, ("more classes", "5")),
    ],
)
def test_bad_settings_of_classes_are_refused(settings, said, data):
    with refused(ArgumentError, *said):
        th.EliminationByAspects(**settings).fit(data, **RUN)


def test_data_that_are_refused(data):
    two = th.EliminationByAspects(people=th.people.LatentClasses(2))
    with refused(DataError, "the respondent of each answer"):
        two.fit(random_comparisons(3, 1), **RUN)
    with refused(DataError, "2 groups"):
        two.fit({"women": data, "men": data}, **RUN)
    with refused(DataError, "the respondent of each answer"):
        two.fit(
            th.Choices(pd.DataFrame({"task": [1, 1, 1], "item": list("abc"), "chosen": [1, 0, 0]})),
            **RUN,
        )
    with refused(ArgumentError, "people", "method='mcmc'"):
        th.EliminationByAspects(
            "unique", method="maximum-likelihood", people=th.people.LatentClasses(2)
        ).fit(data)


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda model: model.ranks(), ("of_class(1)",)),
        (lambda model: model.log_evidence(sensitivity=True), ("sensitivity",)),
        (
            lambda model: model.sample_prior(random_answers(3, 3, 2, 1), draws=2),
            ("for latent classes",),
        ),
        (lambda model: model.update(random_comparisons(3, 1)), ("all data together",)),
        (lambda model: model.features(similar=0.8), ("of_class(1)",)),
        (lambda model: model.predict_proba([("a", "b")], covariates={"order": 1}), ("'order'",)),
    ],
)
def test_answers_that_are_refused(model, ask, said):
    with refused(ArgumentError, *said):
        ask(model)


def test_other_models_have_no_kinds(data):
    model = th.EliminationByAspects("unique").fit(data, **RUN)
    with refused(ArgumentError, "people=Individuals()", "people=LatentClasses(classes=2)"):
        _ = model.respondents


@pytest.mark.fit
@pytest.mark.usefixtures("pictures")
def test_pictures_show_all_classes(model):
    assert len(model.plot("check").get_yticklabels()) == 3
    assert [text.get_text() for text in model.plot("group_weights").get_legend().get_texts()] == [
        "1",
        "2",
    ]


@pytest.mark.long
@pytest.mark.fit  # for its time
def test_a_report_has_the_weight_of_aspects_in_each_kind(data, tmp_path):
    model = th.EliminationByAspects(
        [[1, 0], [1, 1], [0, 1]], people=th.people.LatentClasses(2)
    ).fit(data, **RUN)
    model.report(tmp_path / "kinds.html")
    assert "Weight of each aspect in each class" in (tmp_path / "kinds.html").read_text()
