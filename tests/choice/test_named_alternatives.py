"""Alternatives that have names have constants by default, in all logits; those that are numbered do
not."""

import numpy as np
import pandas as pd
import pytest
from helpers.sentences import said
from scipy.optimize import minimize

import thali as th
from thali._choice.product_coding import describe_constants
from thali._data.experiments.product_encoding import explain_no_constants

MODES = ("train", "bus", "car")


def trips(labels=MODES, people=40, tasks=3, seed=3):
    """A long table in which the last mode is liked and dear, so that its price looks good without
    constants."""
    rng = np.random.default_rng(seed)
    rows = []
    for person in range(people):
        for task in range(tasks):
            cost, time = (
                np.array([2.0, 3.0, 6.0]) + rng.normal(0, 1, 3).round(2),
                rng.integers(1, 9, 3) / 2,
            )
            utility = np.array([0.0, 0.5, 4.0]) - 0.6 * cost - 0.4 * time + rng.gumbel(size=3)
            rows += [
                {"id": person, "task": task, "mode": labels[k], "cost": cost[k], "time": time[k]}
                | {"choice": int(k == utility.argmax())}
                for k in range(3)
            ]
    return pd.DataFrame(rows)


def wide(long):
    """The same, a row a task."""
    found = long.pivot(index=["id", "task"], columns="mode", values=["cost", "time"])
    found.columns = [f"{name}_{mode}" for name, mode in found.columns]
    chosen = long[long.choice == 1].set_index(["id", "task"])["mode"].rename("choice")
    return found.join(chosen).reset_index()


def data_of(frame, **more):
    return th.ChoiceExperiment.from_frame(frame, alternative="mode", **more)


def newton(frame, with_constants):
    """The maximum of the likelihood of cost, time and constants of bus and car after train, by
    another program."""
    number = (
        frame["mode"]
        .map({mode: k for k, mode in enumerate(dict.fromkeys(frame["mode"]))})
        .to_numpy()
    )
    dummies = np.eye(3)[number][:, 1:] if with_constants else np.zeros((len(frame), 0))
    x = np.column_stack([frame.cost, frame.time, dummies]).reshape(-1, 3, 2 + dummies.shape[1])
    chosen = frame.choice.to_numpy().reshape(-1, 3) == 1

    def loss(beta):
        utility = x @ beta
        return (np.log(np.exp(utility).sum(axis=1)) - utility[chosen]).sum()

    return minimize(loss, np.zeros(x.shape[2]), method="BFGS", options={"gtol": 1e-8}).x


@pytest.mark.fit
def test_names_have_constants_and_the_price_its_sign():
    frame = trips()
    plain, named = newton(frame, False), newton(frame, True)
    assert plain[0] > 0 > named[0]
    fit = th.MultinomialLogit(linear=["cost", "time"]).fit(data_of(frame))
    assert np.allclose(fit.coef_[["cost", "time"]], named[:2], atol=1e-5)
    assert np.allclose(fit.coef_["mode[train]"] - fit.coef_["mode[car]"], -named[3], atol=1e-5)
    without = th.MultinomialLogit(linear=["cost", "time"], constants=False).fit(data_of(frame))
    assert np.allclose(without.coef_, plain, atol=1e-5)
    of_wide = th.MultinomialLogit(linear=["cost", "time"]).fit(
        th.ChoiceExperiment.from_wide(wide(frame))
    )
    assert np.allclose(of_wide.coef_[["cost", "time"]], named[:2], atol=1e-5)


@pytest.mark.parametrize(
    "labels",
    [
        (1, 2, 3),
        ("A", "B", "C"),
        ("alt1", "alt2", "alt3"),
        ("Option 1", "Option 2", "Option 3"),
        ("concept A", "concept B", "concept C"),
        ("optionA", "optionB", "optionC"),
        ("01", "02", "03"),
    ],
)
def test_alternatives_are_numbered(labels):
    assert explain_no_constants(data_of(trips(labels))) == "the alternatives are numbered"


def test_without_names_there_are_no_constants_unless_asked_for():
    data = data_of(trips((1, 2, 3)))
    fit = th.MultinomialLogit(linear=["cost", "time"]).fit(data)
    assert list(fit.coef_.index) == ["cost", "time"]
    assert np.allclose(fit.coef_, newton(trips(), False), atol=1e-5)
    assert len(th.MultinomialLogit(linear=["cost", "time"], constants=True).fit(data).coef_) == 4


@pytest.mark.parametrize(
    "labels",
    [MODES, ("car", "cat", "cab"), ("Yoplait", "Dannon", "Hiland"), ("Zug", "Bus", "Auto")],
)
def test_named_alternatives_have_constants(labels):
    assert explain_no_constants(data_of(trips(labels))) == ""


def test_nothing_is_told_twice():
    frame = trips()
    assert explain_no_constants(data_of(frame.assign(brand=frame["mode"].str.upper()))).startswith(
        "the attributes distinguish"
    )
    fixed = frame.assign(cost=frame["mode"].map({"train": 2, "bus": 3, "car": 6})).drop(
        columns="time"
    )
    assert explain_no_constants(data_of(fixed)).startswith("the attributes distinguish")
    unnamed = th.ChoiceExperiment.from_frame(frame.drop(columns="mode"))
    assert "no names" in explain_no_constants(unnamed)


@pytest.mark.parametrize(
    "model",
    [
        th.HierarchicalLogit(linear=["cost", "time"]),
        th.LatentClassLogit(2, linear=["cost", "time"]),
    ],
    ids=["hierarchical", "latent class"],
)
def test_every_logit_has_them(model):
    data = data_of(trips(people=12))
    _, scheme = model._check_fit(data), model.get_params()
    assert scheme["constants"] is None
    from thali._choice.product_coding import require_experiment

    assert require_experiment(data, model.constants).attributes == ("cost", "time", "mode")
    assert require_experiment(data_of(trips((1, 2, 3), people=12)), model.constants).attributes == (
        "cost",
        "time",
    )


@pytest.mark.fit
def test_the_sentence_says_which_and_how_to_change_it(run, tmp_path):
    for labels, sentence in (
        (MODES, "a constant for each named alternative (to change this, use --no-constants)"),
        (
            (1, 2, 3),
            "no alternative-specific constants, because the alternatives are numbered (to change"
            " this, use --constants)",
        ),
    ):
        trips(labels).to_csv(tmp_path / "trips.csv", index=False)
        words = ("--model", "MNL", "--alternative", "mode", "--linear", "cost,time")
        assert sentence in run("fit", tmp_path / "trips.csv", *words).err
    data = data_of(trips())
    said(describe_constants(data, None), "`constants=False`)")
    said(describe_constants(data, False), "`constants=True`)")


@pytest.mark.data
def test_yogurt_is_as_published():
    from helpers.real_data import real_data

    frame = pd.read_csv(real_data("choice_yogurt/yogurt.csv")).sort_values(["obsID", "brand"])
    wide = frame.pivot(index=["id", "obsID"], columns="brand", values=["price", "feat"])
    wide.columns = [f"{name}.{brand}" for name, brand in wide.columns]
    wide["choice"] = frame[frame.choice == 1].set_index(["id", "obsID"]).brand
    fit = th.MultinomialLogit(linear=["price", "feat"]).fit(
        th.ChoiceExperiment.from_wide(wide.reset_index())
    )
    assert np.allclose(fit.coef_["price"], -0.36655, atol=5e-5)
