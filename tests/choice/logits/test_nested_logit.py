"""The nested logit: published values, derivatives, a slow oracle, limits, answers, what cannot be fitted."""

import warnings

import numpy as np
import pandas as pd
import pytest
from naive_choice_models import nested_choice_probability
from real_data import needs_data, real_data
from scipy.optimize import minimize_scalar

import thali as th
from thali.choice.coding import coding_of
from thali.choice.logit import derivatives as plain_derivatives
from thali.choice.logit import tasks_of
from thali.choice.nests import by_nests, derivatives, labelled, nesting_of
from thali.data.experiments.scheme import with_constants
from thali.errors import ArgumentError, DataError, EstimateWarning

MODES = ("air", "bus", "car", "train")
NESTS = {"ground": ["bus", "train"], "fast": ["air", "car"]}
BETA, DISSIMILARITY = np.array([-0.8, 0.6, -0.4, 0.3, 0.9]), np.array([0.4, 0.7])


def travel(people=150, seed=0, nests=NESTS, dissimilarity=DISSIMILARITY, absent=0.2):
    """A table of choices of the nested logit; some alternatives are not there on some days."""
    rng = np.random.default_rng(seed)
    numbers = {label: number for number, members in enumerate(nests.values()) for label in members}
    rows = []
    for person in range(people):
        there = [mode for mode in MODES if rng.random() > absent] or list(MODES)
        there = there if len(there) > 1 else list(MODES)
        x = np.column_stack([rng.uniform(1, 5, len(there)), rng.integers(2, size=len(there))])
        x = np.hstack([x, [[mode == other for other in MODES[1:]] for mode in there]]).astype(float)
        of = [numbers.get(mode, -1) for mode in there]
        p = [nested_choice_probability(x, j, BETA, of, dissimilarity) for j in range(len(there))]
        picked = rng.choice(len(there), p=np.array(p) / sum(p))
        for j, mode in enumerate(there):
            rows.append((person, 1, mode, int(j == picked), x[j, 0], ["no", "yes"][int(x[j, 1])]))
    return pd.DataFrame(rows, columns=["id", "task", "alt", "choice", "cost", "wifi"])


def model(**settings):
    return th.MultinomialLogit(**{"linear": "cost", "constants": True, "nests": NESTS, **settings})


@pytest.fixture(scope="module")
def data():
    return th.ChoiceExperiment.from_frame(travel())


@pytest.fixture(scope="module")
def fitted(data):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EstimateWarning)
        return model().fit(data)


def nested_tasks(data, nests=NESTS):
    own = with_constants(data)
    tasks, nesting = tasks_of(own, coding_of(own, "cost")), nesting_of(nests, own)
    of_row = np.array(nesting.of_label)[own.products[own.row_product, nesting.place]]
    return tasks, of_row, by_nests(tasks, of_row, len(nests))


def test_the_likelihood_is_that_of_the_generating_function(data):
    tasks, of_row, nested = nested_tasks(data)
    naive = [
        nested_choice_probability(tasks.matrix[a:b], row - a, BETA, of_row[a:b], DISSIMILARITY)
        for a, b, row in zip(tasks.first_row, tasks.first_row[1:], tasks.chosen_row, strict=False)
    ]
    value = derivatives(nested, BETA, np.log(DISSIMILARITY)).value
    assert value == pytest.approx(np.log(naive).sum(), rel=1e-12)


@pytest.mark.parametrize("dissimilarity", [[0.4, 0.7], [1.0, 1.0], [1.8, 0.2]], ids=str)
def test_derivatives(data, dissimilarity):
    nested, h = nested_tasks(data)[2], 1e-5
    here = derivatives(nested, BETA, np.log(dissimilarity))
    for k, step in enumerate(h * np.eye(len(BETA) + 2)):
        up = derivatives(nested, BETA + step[:-2], np.log(dissimilarity) + step[-2:])
        down = derivatives(nested, BETA - step[:-2], np.log(dissimilarity) - step[-2:])
        assert here.gradient[k] == pytest.approx((up.value - down.value) / (2 * h), rel=1e-5, abs=1e-4)
        assert -here.information[k] == pytest.approx((up.gradient - down.gradient) / (2 * h), rel=1e-5, abs=1e-3)


def test_with_dissimilarity_1_it_is_the_plain_logit(data):
    tasks, _, nested = nested_tasks(data)
    here, plain = derivatives(nested, BETA, np.zeros(2)), plain_derivatives(tasks, BETA)
    assert here.value == pytest.approx(plain[0], rel=1e-12)
    assert here.gradient[:-2] == pytest.approx(plain[1], rel=1e-8, abs=1e-8)
    assert here.information[:-2, :-2] == pytest.approx(plain[2], rel=1e-8, abs=1e-8)


def test_the_maximum(data, fitted):
    """Nowhere near is the likelihood higher, and predictions are those of the likelihood."""
    assert fitted.converged_ and fitted.unbounded_ == ()
    nested, theta = nested_tasks(data)[2], np.append(fitted.coef_, np.log(fitted.dissimilarity_))
    top = derivatives(nested, theta[:-2], theta[-2:])
    assert top.value == pytest.approx(fitted.log_likelihood_, rel=1e-12)
    assert np.abs(top.gradient).max() < 1e-4
    assert np.linalg.eigvalsh(top.information).min() > 0
    p = fitted.predict_proba(data)
    assert np.log(p[data.first_row[:-1] + data.chosen]).sum() == pytest.approx(fitted.log_likelihood_, rel=1e-10)
    assert np.add.reduceat(p, data.first_row[:-1]) == pytest.approx(1.0)
    rows = data.to_frame().sample(frac=1.0, random_state=1)
    assert fitted.predict_proba(rows) == pytest.approx(p[rows.index.to_numpy()], rel=1e-12)
    errors = fitted.summary()
    assert list(errors.index[-2:]) == ["dissimilarity[ground]", "dissimilarity[fast]"]
    row = errors.loc["dissimilarity[ground]"]
    assert row["z"] == pytest.approx((row["coef"] - 1) / row["se"])
    assert fitted.aic_ == pytest.approx(2 * 7 - 2 * fitted.log_likelihood_)


def test_the_table_of_nests(fitted, data):
    table = fitted.nest_table(ci=0.95)
    assert table["alternatives"].tolist() == ["bus, train", "air, car"]
    row = table.loc["ground"]
    assert row["high"] / row["dissimilarity"] == pytest.approx(np.exp(1.959964 * row["se"] / row["dissimilarity"]))
    plain = th.MultinomialLogit("cost", constants=True).fit(data)
    gain = 2 * (fitted.log_likelihood_ - plain.log_likelihood_)
    assert table.attrs["statistic"] == pytest.approx(gain) and table.attrs["df"] == 2
    assert table.attrs["p"] == pytest.approx(np.exp(-gain / 2))  # of two degrees of freedom
    with pytest.raises(ArgumentError, match="The model has no nests"):
        plain.nest_table()


def market():
    return pd.DataFrame({"alt": list(MODES), "cost": [4.0, 1.5, 2.0, 3.0], "wifi": ["no", "yes", "no", "no"]})


def test_shares_and_elasticities_are_those_of_the_model(fitted):
    """Train (2009), section 2.6, for a nested logit: by the derivatives of the probabilities."""
    offered, beta = market(), fitted.coef_["cost"]
    shares = fitted.market_shares(offered)["share"]
    assert shares.to_numpy() == pytest.approx(fitted.predict_proba(offered), rel=1e-12)
    found = fitted.elasticities(offered, "cost").set_index(["changed", "product"])["elasticity"]
    place = {mode: (nest, members) for nest, members in NESTS.items() for mode in members}
    for k in MODES:
        nest, members = place[k]
        dissimilarity, within = fitted.dissimilarity_[nest], shares[k] / shares[members].sum()
        for j in MODES:
            slope = float(j == k) / dissimilarity - shares[k] + (1 - 1 / dissimilarity) * within * (j in members)
            cost = float(offered.set_index("alt").loc[k, "cost"])
            assert found[k, j] == pytest.approx(slope * beta * cost, rel=1e-5)
    volume = fitted.source_of_volume(offered, "train")  # from its nest more than in proportion, if it is closer
    assert (volume.loc["bus", "source"] > volume.loc["bus", "proportional"]) == (fitted.dissimilarity_["ground"] < 1)


def test_further_answers(fitted, data):
    offered = market()
    actual = {"air": 0.4, "bus": 0.3, "car": 0.2, "train": 0.1}
    after = fitted.market_shares(offered, change={"cost": {"bus": 1.0}}, actual=actual)
    assert after["share"].to_dict() == pytest.approx(actual, abs=1e-8)
    pay = fitted.willingness_to_pay("cost").set_index("attribute")
    assert pay.loc["wifi", "wtp"] == pytest.approx(-fitted.coef_["wifi[yes]"] / fitted.coef_["cost"], rel=1e-9)
    effects = fitted.level_effects().set_index(["attribute", "level", "over"])["effect"]
    a, b = fitted.coef_["alt[train]"], fitted.coef_["alt[bus]"]
    within = 1 / (1 + np.exp(-(a - b) / fitted.dissimilarity_["ground"]))
    assert effects["alt", "train", "bus"] == pytest.approx(within)
    assert effects["alt", "train", "car"] == pytest.approx(1 / (1 + np.exp(-(a - fitted.coef_["alt[car]"]))))
    importance = fitted.attribute_importance().set_index("attribute")
    assert importance["importance"].to_numpy() == pytest.approx(slow_importance(fitted, data), abs=1e-9)
    draws = fitted._market_draws()
    levels = [attribute.levels for attribute in draws.attributes]
    rows = [(row.cost, levels[1].index(row.wifi), levels[2].index(row.alt)) for row in offered.itertuples()]
    assert draws.shares([rows])[0][0] == pytest.approx(fitted.predict_proba(offered), abs=1e-4)  # tastes are rounded


def test_products_that_share_a_label_share_its_nest(fitted):
    """A second bus takes from the first one, and from its nest, more than from others."""
    two = pd.concat([market(), market().iloc[[1]]], ignore_index=True).assign(product=[*MODES, "other bus"])
    shares, before = fitted.market_shares(two)["share"], fitted.market_shares(market())["share"]
    assert shares["bus"] == pytest.approx(shares["other bus"]) and shares["air"] < before["air"]
    power = fitted.dissimilarity_["ground"]
    x = fitted._coding_.rows(fitted._chooser().cells(two)) @ fitted.coef_.to_numpy()
    worth = np.exp(x / [fitted.dissimilarity_[nest] for nest in ("fast", "ground", "fast", "ground", "ground")])
    ground, fast = worth[[1, 3, 4]].sum() ** power, worth[[0, 2]].sum() ** fitted.dissimilarity_["fast"]
    assert shares[["bus", "train", "other bus"]].sum() == pytest.approx(ground / (ground + fast))
    every = {"alt": ["train", "air"], "cost": [2, 3], "wifi": ["no", "yes"]}
    best = fitted.best_products(every, market().iloc[[1]])
    assert best["alt"].iloc[0] in ("train", "air") and best["share"].is_monotonic_decreasing


def slow_importance(fitted, data):
    """How far the choices change if all alternatives are alike in one attribute, by predictions."""
    rows = data.to_frame()
    p, found = fitted.predict_proba(rows), []
    for name in fitted.attribute_importance()["attribute"]:
        same = rows.assign(**{name: rows[name].iloc[0] if name != "alt" else "air"})
        if name == "alt":  # which no table of tasks can say of two alternatives
            cells = fitted._coding_.cells(fitted._data_.products)[fitted._data_.row_product]
            cells[:, 2] = 0
            utility = fitted._coding_.rows(cells) @ fitted.coef_.to_numpy() / fitted.dissimilarity_["fast"]
            odds = np.exp(utility)
            q = odds / np.repeat(np.add.reduceat(odds, data.first_row[:-1]), np.diff(data.first_row))
        else:
            q = fitted.predict_proba(same)
        found.append(0.5 * np.add.reduceat(np.abs(p - q), data.first_row[:-1]).mean())
    return found


def test_nests_without_constants(data):
    """The labels say the nest and nothing else, and no answer compares them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EstimateWarning)
        found = model(constants=False).fit(data)
    assert list(found.coef_.index) == ["cost", "wifi[yes]"]
    assert set(found.level_effects()["attribute"]) == set(found.willingness_to_pay("cost")["attribute"]) | {"cost"}
    assert found.market_shares(market())["share"].sum() == pytest.approx(1.0)
    assert found.attribute_importance().set_index("attribute").loc["alt", "range_share"] == 0.0
    with pytest.raises(ArgumentError, match="labels of alternatives, 'alt', have no coefficients; set constants=True"):
        model(constants=False, interactions=[("cost", "alt")]).fit(data)


def test_files_hold_the_nests(fitted, tmp_path):
    fitted.save(tmp_path / "nested.nc")
    again = th.load(tmp_path / "nested.nc")
    pd.testing.assert_frame_equal(again.summary(), fitted.summary())
    assert again.predict_proba(market()).tolist() == fitted.predict_proba(market()).tolist()


def test_a_dissimilarity_above_1_is_reported():
    rows = travel(seed=3, dissimilarity=np.array([2.5, 0.7]), people=300)
    with pytest.warns(EstimateWarning, match=r"The dissimilarity of 'ground' \(2\.\d+\) is above 1") as messages:
        found = model().fit(th.ChoiceExperiment.from_frame(rows))
    assert messages[0].filename == __file__
    assert np.isnan(found.nest_table().loc["ground", "correlation"])
    finding = found.findings()["nests"]
    assert "The dissimilarity of ground is above 1" in str(finding.notes)
    assert str(finding.sentence).startswith("The alternatives of ground are no closer substitutes than")


BAD = {
    "no mapping": (["bus", "train"], "nests must map names to lists of alternatives, such as"),
    "nothing": ({}, "nests must map names to lists of alternatives, such as"),
    "a text": ({"ground": "bus"}, "nests: 'ground' must list its alternatives; got 'bus'."),
    "one": (
        {"ground": ["bus"]},
        "nests: 'ground' has 1 alternative, and choices say nothing of what one alone shares; leave it out, since an "
        "alternative without a nest is one by itself.",
    ),
    "two nests": (
        {"ground": ["bus", "train"], "fast": ["air", "train"]},
        "nests: 'train' is in 'ground' and 'fast'; each alternative has one nest.",
    ),
    "twice": ({"ground": ["bus", "bus"]}, "nests: 'bus' is twice in 'ground'; each alternative has one nest."),
    "unknown": (
        {"ground": ["bus", "trian"]},
        "nests: there is no alternative 'trian' for 'ground'; there are 'air', 'bus', 'car', 'train', each but the "
        "no-choice option. Did you mean 'train'?",
    ),
}


@pytest.mark.parametrize("nests, sentence", BAD.values(), ids=BAD)
def test_bad_nests(data, nests, sentence):
    with pytest.raises(ArgumentError) as caught:
        model(nests=nests).fit(data)
    assert str(caught.value).startswith(sentence)


def test_nests_of_which_nothing_is_known(data):
    rows = travel(people=60)
    with pytest.raises(ArgumentError, match="^nests needs labels of alternatives, and the data have none"):
        model(constants=False).fit(th.ChoiceExperiment.from_frame(rows.drop(columns="alt")))
    with pytest.raises(DataError, match="offers no other alternative, so that its dissimilarity cannot be told"):
        model(nests={"all": list(MODES)}).fit(data)
    apart = rows[(rows["alt"] != "bus") | (rows["id"] % 2 == 0)]
    apart = apart[(apart["alt"] != "train") | (apart["id"] % 2 == 1)]
    apart = apart[apart.groupby("id")["choice"].transform("sum") == 1]
    apart = apart[apart.groupby("id")["choice"].transform("size") > 1]
    with pytest.raises(DataError, match="No task offers two alternatives of the nest 'ground'"):
        model().fit(th.ChoiceExperiment.from_frame(apart))


def test_the_no_choice_option_is_by_itself():
    rows = travel(people=120).assign(alt=lambda f: f["alt"].replace("car", "none"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EstimateWarning)
        found = model(nests={"ground": ["bus", "train"]}).fit(th.ChoiceExperiment.from_frame(rows, none="none"))
    assert found.predict_proba(rows).shape == (len(rows),)
    with pytest.raises(ArgumentError, match="there is no alternative 'none' for 'fast'"):
        model(nests={"fast": ["air", "none"]}).fit(th.ChoiceExperiment.from_frame(rows, none="none"))


@needs_data
def test_greene():
    """Greene (2003), Econometric analysis, 5th edition, table 21.14 (full-information estimates), to all digits.

    His air, a nest by itself, has a parameter of its own, .5860, which multiplies its utility without the income: for
    each ratio of that to the parameter of the ground, this is a nested logit with the utility of air so many times.
    """
    rows = pd.read_csv(real_data("choice_travelmode/travelmode.csv"))
    rows["mode"] = rows["mode"].map({1: "air", 2: "train", 3: "bus", 4: "car"})
    rows["income"] = rows["hinc"] * (rows["mode"] == "air")

    def fit(ratio):
        factor = np.where(rows["mode"] == "air", ratio, 1.0)
        own = rows.assign(gc=rows["gc"] * factor, ttme=rows["ttme"] * factor, task=1)
        for name in ("air", "bus", "train"):
            own[name] = (own["mode"] == name) * factor
        names = ["gc", "ttme", "income", "air", "bus", "train"]
        columns = {"respondent": "individual", "alternative": "mode", "chosen": "choice", "attributes": names}
        data = th.ChoiceExperiment.from_frame(own, **columns)
        return th.MultinomialLogit(linear=names, nests={"ground": ["train", "bus", "car"]}).fit(data)

    best = minimize_scalar(lambda ratio: -fit(ratio).log_likelihood_, bracket=(1.4, 1.6), tol=1e-6)
    found = fit(best.x)
    ground = found.dissimilarity_["ground"]
    assert round(found.log_likelihood_, 4) == -193.6561
    assert (round(ground, 4), round(ground * best.x, 4)) == (0.3890, 0.5860)
    published = {"air": 6.042, "bus": 4.096, "train": 5.065, "gc": -0.03159, "ttme": -0.1126, "income": 0.01533}
    digits = {"air": 3, "bus": 3, "train": 3, "gc": 5, "ttme": 4, "income": 5}
    for name, value in published.items():
        own = found.coef_[name] / (1.0 if name == "income" else ground)  # his utilities are those within a nest
        assert round(own, digits[name]) == value


@pytest.mark.long
def test_recovery():
    """Of 200 data sets the standard errors hold: z-scores of all parameters have mean 0 and standard deviation 1."""
    truth, found = np.concatenate([BETA, DISSIMILARITY]), []
    for seed in range(60):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", EstimateWarning)
            own = model().fit(th.ChoiceExperiment.from_frame(travel(people=600, seed=seed)))
        table = own.summary()
        order = ["cost", "wifi[yes]", "alt[bus]", "alt[car]", "alt[train]", *table.index[-2:]]
        found.append(((table["coef"] - 0) / table["se"])[order].to_numpy() - truth / table["se"][order].to_numpy())
    z = np.array(found)
    assert np.abs(z.mean(axis=0)).max() < 4.5 / np.sqrt(len(z)) + 0.15  # .15: bias of maximum likelihood
    assert ((z.std(axis=0) > 0.6) & (z.std(axis=0) < 1.5)).all()


def test_labels_become_an_attribute_only_where_they_are_needed(data):
    assert labelled(data, False, None) is data
    assert labelled(data, False, NESTS).attributes[-1] == labelled(data, True, None).attributes[-1] == "alt"


def test_what_nests_do_not_go_with(data, fitted):
    numbered = travel(people=60).replace({"alt": {"air": "10", "bus": "20", "car": "30", "train": "40"}})
    own = th.ChoiceExperiment.from_frame(numbered)
    with pytest.raises(ArgumentError, match="nests need the labels of alternatives, 'alt', as levels; leave it out of"):
        model(linear=["cost", "alt"], nests={"ground": ["20", "40"]}).fit(own)
    with pytest.raises(ArgumentError, match="rule='randomised-first-choice'.* knows no nests"):
        fitted.market_shares(market(), rule="randomised-first-choice")


def test_intervals_of_predicted_probabilities(fitted, data):
    p, low, high = fitted.predict_proba(data, ci=0.89)
    np.testing.assert_array_equal(p, fitted.predict_proba(data))
    assert (low <= high).all() and np.mean((low < p) & (p < high)) > 0.99
    draws = fitted._chooser().tastes[1:, 0]
    assert draws.shape[1] == len(fitted.coef_) + 2
    plain = model(nests=None).fit(data)
    assert np.mean(high - low) > 0.9 * np.mean(np.subtract(*plain.predict_proba(data, ci=0.89)[:0:-1]))


def test_tasks_held_out_differ_by_their_labels(fitted):
    """Of the same products in the same places with other labels of alternatives two tasks are made."""
    rows = pd.DataFrame(
        {
            "id": np.repeat([1, 2], 2),
            "task": 1,
            "alt": ["bus", "car", "car", "bus"],
            "choice": [1, 0, 1, 0],
            "cost": [2.0, 3.0, 2.0, 3.0],
            "wifi": "no",
        }
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        held = th.ChoiceExperiment.from_frame(rows, levels={"wifi": ["no", "yes"]})
        assert fitted.holdouts(held)["task"].max() == 2
