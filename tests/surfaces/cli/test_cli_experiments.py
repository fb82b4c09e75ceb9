"""`thali fit` of choice experiments: what it reads, prints and writes. Fits are replaced by draws
from the prior."""

import re

import numpy as np
import pytest
from helpers.product_class_fits import ATTRIBUTES, engine_result, experiment, hold
from helpers.sentences import said, says

import thali

pytestmark = pytest.mark.fit

LEVELS = ["--levels", "zoom=no,yes", "battery=4 h,8 h,12 h"]
MONOTONE = ["--monotone", "price=decreasing", "zoom=increasing", "battery=increasing"]


@pytest.fixture(autouse=True)
def tables(folder):
    experiment(none=True).to_frame().to_csv("camera.csv", index=False)
    odd = experiment().to_frame().rename(columns={"id": "who", "choice": "took", "alt": "shelf"})
    odd.to_csv("odd.csv", index=False)


@pytest.fixture(autouse=True)
def fake(monkeypatch):
    """Calls of `fit`, which keeps draws from the prior."""
    calls = []

    def fit(self, data, **settings):
        self.prepare(data, settings.get("draws"), settings.get("chains"))
        calls.append((self, data, settings))
        monotone = {name: direction for name, direction in (self.monotone or {}).items()}
        return hold(self, engine_result(data, monotone, draws=8, groups=2, alpha=3.0), data)

    monkeypatch.setattr(thali.ProductClasses, "fit", fit)
    return calls


def test_as_the_issue_types_it(done, fake):
    words = "--respondent id --task task --alternative alt --chosen choice --none none".split()
    result = done(
        "fit", "camera.csv", "--model", "product-classes", *words, *LEVELS, *MONOTONE, "--seed", 3
    )
    ((model, data, settings),) = fake
    assert model.monotone == {"price": "decreasing", "zoom": "increasing", "battery": "increasing"}
    assert data == experiment(none=True) or data.levels["battery"] == ("4 h", "8 h", "12 h")
    assert data.attributes == ("inside", *ATTRIBUTES) and settings["random_seed"] == 3
    # its own default
    assert (model.lapse, model.method) == (0.02, "mcmc") and "chains" not in settings
    says(result.err, "camera.csv", "8 respondents", "40 tasks")


ORDERS = [
    ["--monotone", "price=decreasing", "zoom=increasing", "camera.csv"],
    ["camera.csv", "--monotone", "price=decreasing,zoom=increasing"],
    ["camera.csv", "--monotone", "price=decreasing", "--monotone", "zoom=increasing"],
    ["camera.csv", "--monotone=price=decreasing", "zoom=increasing"],
]


@pytest.mark.first(1)
@pytest.mark.parametrize("words", ORDERS)
def test_directions_may_be_typed_in_many_ways(done, fake, words):
    done("fit", *words, "--levels", "zoom=no,yes", "--none", "none")
    assert fake[0][0].monotone == {"price": "decreasing", "zoom": "increasing"}


def test_columns_of_other_names_and_bins(done, fake):
    words = [
        *"--respondent who --chosen took --alternative shelf --attributes".split(),
        "price, brand",
    ]
    result = done(
        "fit", "odd.csv", *words, "--bins", "price=120,220", "--monotone", "price=decreasing"
    )
    data = fake[0][1]
    assert data.levels == {
        "price": ("<= 120", "120 to 220", "> 220"),
        "brand": ("Aika", "Bora", "Cilo"),
    }
    assert "price <= 120" in result.out and "<= <=" not in result.out


def test_the_report(run, fake):
    result = run("fit", "camera.csv", "--none", "none", *LEVELS, *MONOTONE, "--print", "all")
    model = fake[0][0]
    out = result.out
    assert re.search(r"^battery +4 h < 8 h < 12 h$", out, re.MULTILINE)
    table = model.classes()
    shown = table[table["stability"] >= 0.5].head(20)
    for row in shown.itertuples():
        similar = f" (and {row.rules - 1:.0f} similar)" if row.rules > 1 else ""
        assert (
            f"{row.importance:.3f}" in out
            and out.count(f"  {row.stability:.3f}  {row.product_class}{similar}\n") == 1
        )
    assert (shown["rules"] > 1).any()
    rest, others = (
        table["importance"].sum() - shown["importance"].sum(),
        table.attrs["classes"] - len(shown),
    )
    assert (
        f"{others} of the {table.attrs['classes']} product classes" in out
        and f"account for {100 * rest / table['importance'].sum():.0f} % of" in out
    )
    assert out.index("probability that one level is") < out.index(
        "Product classes found by most chains"
    )
    effect = (
        model.level_effects().set_index(["attribute", "level", "over"]).loc[("price", "100", "250")]
    )
    line = re.search(r"^price +100 over 250 +(.*)$", out, re.MULTILINE)[1]
    assert line.split("  ")[0] == f"{effect['effect']:.3f}"
    says(out, "-90.00", "0.40", "Log marginal likelihood (evidence) of")
    assert "One sentence.\nAnother." in out
    assert re.search(r"^effect\[battery: 12 h over 4 h\] +\d", out, re.MULTILINE)
    assert "WARNING: The 2 chains" in out and "final_sweeps" not in out and "--draws" in out


@pytest.mark.long
def test_an_effect_at_its_bound_is_no_certainty(run, fake, monkeypatch):
    """As of an attribute whose direction is wrong: .500, the least that it allows, in all draws."""
    effects = thali.ProductClasses.level_effects

    def at_bound(self, **settings):
        price = (table := effects(self, **settings))["attribute"] == "price"
        return table.assign(
            at_bound=price, **{name: table[name].mask(price, 0.5) for name in ("effect", "low")}
        )

    run("fit", "camera.csv", "--none", "none", *LEVELS, "--print", "all")
    monkeypatch.setattr(thali.ProductClasses, "level_effects", at_bound)
    result = run("fit", "camera.csv", "--none", "none", *LEVELS, *MONOTONE, "--print", "all")
    assert len(re.findall(r"^price .* 0\.500 .*  yes$", result.out, re.MULTILINE)) == 6
    says(result.out, "0.5, so")


def test_many_levels_in_the_words_of_the_command_line(done, refused):
    rng, data = np.random.default_rng(0), experiment().to_frame()
    data.assign(price=rng.permutation(len(data)) + 0.25).to_csv("floats.csv", index=False)
    data.assign(price=rng.permutation(len(data))).to_csv("whole.csv", index=False)
    found = done("fit", "floats.csv", "--model", "MNL", "--print", "all")
    assert " alternatives; numeric: 'price'" in found.err and re.search(
        "price +a number, 0.25 to 117.2", found.out
    )
    error = refused("fit", "whole.csv", "--model", "MNL")
    said(error, "30", "--linear")
    says(error.rstrip(), "--bins", "price=4", "--levels")
    assert (
        done("fit", "whole.csv", "--model", "MNL", "--linear", "price", "--print", "all").code == 0
    )
