"""Designs of choice experiments: known optima, a naive D-error, prohibitions, simulated answers,
mistakes."""

from functools import cache
from importlib import import_module
from itertools import product

import numpy as np
import pandas as pd
import pytest
from helpers.limits import lower_in
from helpers.sentences import refused

import thali as th
from thali import designs
from thali.errors import ArgumentError, DataError

choosing = import_module("thali._designs.choice_designs")
THREE = {"brand": ["A", "B", "C"], "price": [9, 12, 15], "zoom": ["no", "yes"]}
PRIOR = {"brand": {"B": 0.5}, "price": -0.15, "zoom": [0.0, 0.8]}


pytestmark = pytest.mark.usefixtures("few_starts")


@cache
def design(**how):
    return designs.choice(THREE, 9, 3, random_seed=1, **how)


def rows_of(table):
    """The products of every task as lists of dicts."""
    return [part.to_dict("records") for _, part in table.groupby(["version", "task"], sort=False)]


def naive_information(tasks, names, beta):
    """Sum over tasks of the covariance of the columns of the alternatives, written out."""
    total = np.zeros((len(names), len(names)))
    for alternatives in tasks:
        x = [
            [float(each[name.partition("[")[0]] == name.partition("[")[2][:-1]) for name in names]
            for each in alternatives
        ]
        weights = np.exp(np.array(x) @ beta)
        p = weights / weights.sum()
        mean = sum(q * np.array(row) for q, row in zip(p, x, strict=True))
        for q, row in zip(p, x, strict=True):
            total += q * np.outer(np.array(row) - mean, np.array(row) - mean)
    return total


@pytest.mark.first(1)
@pytest.mark.fit  # for its time
@pytest.mark.parametrize("k", [2, 3, 4])
def test_pairs_of_two_levels_have_the_known_optimum(k, monkeypatch):
    """Each task a product and its opposite, orthogonally: 2^(k - 1) tasks, information of one S / 4
    times identity."""
    lower_in(choosing, monkeypatch, _MAX_POSITIONS=2_500)  # as many starts as usual
    attributes = {f"x{i}": ["no", "yes"] for i in range(k)}
    tasks = 2 ** (k - 1)
    found = designs.choice(attributes, tasks, 2, random_seed=0)
    checked = designs.check(found, respondents=1)
    assert checked.d_error == pytest.approx(4.0 / tasks, rel=1e-9)
    assert checked.d_efficiency == pytest.approx(1.0, rel=1e-9)
    np.testing.assert_allclose(checked.table["std_error"], np.sqrt(4.0 / tasks), rtol=1e-9)
    assert (checked.balance["share"] == 0.5).all() and (checked.overlap["overlap"] == 0.0).all()


def table_of(tasks, has_none=False):
    """A design of tasks of products of numbered levels."""
    rows = [
        (1, t, str(a), *levels)
        for t, task in enumerate(tasks, 1)
        for a, levels in enumerate(task, 1)
    ]
    if has_none:
        rows += [(1, t, "none", *[None] * len(task[0])) for t, task in enumerate(tasks, 1)]
    names = [f"x{k}" for k in range(len(tasks[0][0]))]
    table = pd.DataFrame(rows, columns=["version", "task", "alternative", *names])
    return (
        table.sort_values(["task", "alternative"])
        .reset_index(drop=True)
        .astype({name: "Int64" for name in names})
    )


@pytest.mark.first(1)
@pytest.mark.fit  # for its time
@pytest.mark.parametrize("has_none", [False, True])
def test_nothing_exceeds_the_bound(has_none):
    """Over random designs of two to four tasks of pairs of 2 x 3 levels."""
    products = list(product(range(2), range(3)))
    rng, found = np.random.default_rng(1), []
    for _ in range(30):
        chosen = [products[k] for k in rng.integers(6, size=2 * rng.integers(2, 5))]
        if {a for a, _ in chosen} != {0, 1} or {b for _, b in chosen} != {0, 1, 2}:
            continue
        tasks = list(zip(chosen[::2], chosen[1::2], strict=True))
        found.append(designs.check(table_of(tasks, has_none)).d_efficiency)
    assert len(found) > 8 and 0.5 < max(found) <= 1.0 + 1e-12


def test_six_tasks_of_three_products_reach_the_bound():
    products = list(product(range(2), range(3)))
    chosen = [[0, 4, 2], [3, 1, 5], [0, 1, 5], [3, 4, 2], [0, 4, 5], [3, 1, 2]]
    tasks = [[products[k] for k in task] for task in chosen]
    assert designs.check(table_of(tasks)).d_efficiency == pytest.approx(1.0, abs=1e-12)


def test_full_designs_reach_the_bound_with_a_no_choice_option():
    """All pairs of opposites of two attributes of two levels."""
    tasks = [[(0, 0), (1, 1)], [(0, 1), (1, 0)]]
    assert designs.check(table_of(tasks, True)).d_efficiency == pytest.approx(1.0, abs=1e-12)


@pytest.mark.fit  # for its time
@pytest.mark.parametrize("prior", [None, PRIOR])
def test_the_d_error_is_the_naive_one(prior):
    table = design()
    checked = designs.check(table, prior=prior, respondents=30, standard_error=0.2)
    names = ["brand[B]", "brand[C]", "price[12]", "price[15]", "zoom[yes]"]
    beta = np.zeros(5) if prior is None else np.array([0.5, 0.0, -0.45, -0.9, 0.8])
    tasks = [
        [{key: str(value) for key, value in row.items()} for row in task] for task in rows_of(table)
    ]
    wanted = naive_information(tasks, names, beta)
    assert list(checked.table.index) == names
    np.testing.assert_allclose(checked.table["utility"], beta)
    assert checked.d_error == pytest.approx(
        np.linalg.det(np.linalg.inv(wanted)) ** (1 / 5), rel=1e-9
    )
    variances = np.diag(np.linalg.inv(wanted))
    np.testing.assert_allclose(checked.table["std_error"], np.sqrt(variances / 30), rtol=1e-9)
    assert list(checked.table["respondents"]) == list(np.ceil(variances / 0.04))


@pytest.mark.fit  # for its time
def test_designs_are_balanced_and_efficient_and_the_seed_repeats():
    table = design()
    checked = designs.check(table)
    assert (
        checked.d_efficiency > 0.95
        and (checked.balance["times"] == [9, 9, 9, 9, 9, 9, 13, 14]).all()
        or (checked.balance["times"] == [9, 9, 9, 9, 9, 9, 14, 13]).all()
    )
    np.testing.assert_allclose(checked.overlap["least"], [0, 0, 1 / 3])
    assert table.equals(designs.choice(THREE, 9, 3, random_seed=1))
    assert list(table.columns) == ["version", "task", "alternative", "brand", "price", "zoom"]
    for task in rows_of(table):
        assert len({(row["brand"], row["price"], row["zoom"]) for row in task}) == 3


@pytest.mark.fit  # for its time
def test_expected_utilities_improve_the_design_for_them():
    plain, aware = design(), designs.choice(THREE, 9, 3, prior=PRIOR, random_seed=1)
    assert designs.check(aware, PRIOR).d_error < designs.check(plain, PRIOR).d_error


@pytest.mark.fit  # for its time
def test_versions_and_no_choice():
    table = designs.choice(
        THREE, 4, 2, none=True, versions=3, prior={"none": -1, **PRIOR}, random_seed=2
    )
    assert len(table) == 3 * 4 * 3 and (table.groupby("version")["task"].nunique() == 4).all()
    assert (
        list(table["alternative"][:3]) == ["1", "2", "none"] and table["brand"].isna().sum() == 12
    )
    checked = designs.check(table, {"none": -1, **PRIOR})
    assert checked.table.index[0] == "inside"
    # the utility of a product of first levels over no choice: 9 x -.15 + 1
    assert checked.table.loc["inside", "utility"] == pytest.approx(-0.35)
    two = designs.check(
        pd.concat([table, table.assign(version=table["version"] + 3)]), {"none": -1, **PRIOR}
    )
    np.testing.assert_allclose(two.table["std_error"], checked.table["std_error"])  # of each person


@pytest.mark.fit  # for its time
def test_prohibited_products_do_not_stand_in_the_design():
    table = design_with([{"brand": "A", "price": [9, 12]}, {"brand": "B", "zoom": "yes"}])
    assert not ((table["brand"] == "A") & table["price"].isin([9, 12])).any()
    assert not ((table["brand"] == "B") & (table["zoom"] == "yes")).any()
    assert designs.check(table).d_error < np.inf


def design_with(prohibited):
    return designs.choice(THREE, 9, 3, prohibited=prohibited, random_seed=3)


@pytest.mark.fit  # for its time
def test_products_that_may_be_shown():
    prohibited = [{"brand": "A", "price": [9, 12]}, {"zoom": "yes"} | {"brand": ["B"]}]
    shown = set()
    for seed in range(2):
        table = designs.choice(THREE, 6, 3, prohibited=prohibited, random_seed=seed)
        shown |= set(
            table[["brand", "price", "zoom"]].astype(str).itertuples(index=False, name=None)
        )
    assert shown == {
        (brand, str(price), zoom)
        for brand, price, zoom in product(*THREE.values())
        if not (brand == "A" and price < 15) and not (brand == "B" and zoom == "yes")
    }


def answered(table, people, beta, rng):
    """Choices of people, each of whom answers one version."""
    rows = []
    parts = {version: part for version, part in table.groupby("version")}
    x = np.column_stack(
        [
            table["brand"] == "B",
            table["brand"] == "C",
            table["price"] == 12,
            table["price"] == 15,
            table["zoom"] == "yes",
        ]
    )
    utility = pd.Series(x.astype(float) @ beta, table.index)
    for person in range(people):
        part = parts[person % len(parts) + 1]
        noisy = utility[part.index] + rng.gumbel(size=len(part))
        best = noisy.groupby(part["task"]).transform("max") == noisy
        rows.append(part.assign(id=person, choice=best.astype(int)))
    return th.ChoiceExperiment.from_frame(pd.concat(rows).drop(columns="version"), respondent="id")


@pytest.mark.fit  # for its time
def test_answers_to_a_design_have_the_errors_that_were_expected():
    """Standard errors of one fit: those of the information at estimates, which differ from the
    truth by little."""
    table = designs.choice(THREE, 6, 3, versions=2, prior=PRIOR, random_seed=4)
    beta = np.array([0.5, 0.0, -0.45, -0.9, 0.8])
    data = answered(table, 200, beta, np.random.default_rng(1))
    model = th.MultinomialLogit().fit(data)
    expected = designs.check(table, PRIOR, respondents=200).table["std_error"]
    np.testing.assert_allclose(model.summary()["std_error"], expected, rtol=0.1)
    assert np.abs((model.coef_.to_numpy() - beta) / expected).max() < 4.5
    again = designs.check(data, PRIOR, respondents=200)  # of tasks that were answered
    np.testing.assert_allclose(again.table["std_error"], expected, rtol=1e-9)


def test_coefficients_that_a_design_cannot_identify_are_named():
    table = design()
    same = table.assign(copy=table["brand"].astype(str).str.lower())
    checked = designs.check(same)
    assert checked.d_error == np.inf and checked.d_efficiency == 0.0
    assert "brand[B], brand[C], copy[b]" in checked.note
    unseen = table.assign(price=pd.Categorical(table["price"], [9, 12, 15, 20], ordered=True))
    assert (
        designs.check(unseen).d_efficiency == 0.0
        and designs.check(unseen).balance["times"].eq(0).sum() == 1
    )
    assert "D-error" in str(checked) and set(checked.tables()) >= {
        "table",
        "balance",
        "overlap",
        "numbers",
    }


MISTAKES = [
    ({"attributes": ["brand"]}, ("attributes", "'price'", "12")),
    ({"attributes": {"a": [1, 1]}}, ("`attributes`: 'a' must",)),
    ({"attributes": {"a": "xy"}}, ("'a'", "got 'xy'")),
    ({"attributes": {"task": [1, 2]}}, ("'task'",)),
    ({"tasks": 0}, ("tasks", "got 0")),
    ({"alternatives": 1}, ("alternatives", "got 1")),
    ({"alternatives": 19}, ("alternatives", "19")),
    ({"tasks": 2}, ("2 tasks", "4 coefficients", "are 5;", "3 tasks")),
    ({"none": "no"}, ("none", "got 'no'")),
    ({"versions": 0}, ("versions", "got 0")),
    ({"prohibited": [{"zoom": ["no", "yes"]}]}, ("product; allow at least one",)),
    ({"prohibited": [{"brand": "A", "zoom": ["no", "yes"]}]}, ("product with brand",)),
    ({"prohibited": ["A"]}, ("prohibited", "'brand'", "'A'", "'price'")),
    ({"prohibited": {"brend": "A"}}, ("prohibited", "contains 'brend'", "'brand'")),
    ({"prohibited": {"brand": "D"}}, ("'brand'", "level 'D'", "'A'", "'B'")),
    (
        {
            "prohibited": [{"brand": ["A", "B"], "zoom": "yes"}, {"brand": "C", "zoom": "no"}],
            "tasks": 20,
        },
        ("'brand'", "'zoom'"),
    ),
    ({"prior": 3}, ("prior", "'price'", "-0.2", "got 3")),
    ({"prior": {"none": 1}}, ("prior", "contains 'none'")),
    ({"prior": {"zoom": [1]}}, ("prior", "got 1", "'zoom'", "2 levels")),
    ({"prior": {"zoom": {"no": np.nan}}}, ("'zoom'", "got nan")),
    ({"prior": {"zoom": -1}}, ("'zoom'", "got -1")),
]


@pytest.mark.parametrize(("how", "facts"), MISTAKES)
def test_bad_arguments_of_choice_designs_are_refused(how, facts):
    arguments = {"attributes": THREE, "tasks": 9, "alternatives": 3} | how
    with refused(ArgumentError, *facts):
        designs.choice(**arguments, random_seed=1)


def test_mistakes_of_a_check():
    for wrong in ("design.csv", design().drop(columns="task")):
        with refused(ArgumentError, "design", "'task'", "'alternative'"):
            designs.check(wrong)
    with pytest.raises(DataError):
        designs.check(pd.concat([design(), design()]))  # every alternative twice
    with refused(ArgumentError, "standard_error", "positive finite"):
        designs.check(design(), standard_error=0)


# interactions, overlap, directions, versions, tasks held out, power -------------------------------


WAYS = {"price": "decreasing", "zoom": "increasing"}
TWO = {"price": [9, 10, 11], "zoom": ["no", "yes"]}


def made(**how):
    return designs.choice(THREE, 9, 3, random_seed=1, **how)


@pytest.mark.fit  # for its time
def test_interactions_have_the_naive_information():
    found = made(interactions=[("price", "brand")])
    checked = designs.check(found, interactions=[("brand", "price")], respondents=1)
    names = [str(name) for name in checked.table.index]
    assert names[-4:] == [
        "brand[B]:price[12]",
        "brand[B]:price[15]",
        "brand[C]:price[12]",
        "brand[C]:price[15]",
    ]
    total = np.zeros((len(names), len(names)))
    for task in rows_of(found):
        x = [
            [
                float(
                    all(
                        str(each[part.split("[")[0]]) == part.split("[")[1][:-1]
                        for part in name.split(":")
                    )
                )
                for name in names
            ]
            for each in task
        ]
        total += np.cov(np.array(x).T, bias=True)
    np.testing.assert_allclose(
        checked.table["std_error"], np.sqrt(np.diag(np.linalg.inv(total))), rtol=1e-9
    )
    alone = designs.check(design(), interactions=[("brand", "price")], respondents=1)
    assert checked.d_error < alone.d_error  # of the design that did not look at them
    with refused(ArgumentError, "5 tasks"):
        designs.choice(THREE, 4, 3, random_seed=1, interactions=[("brand", "price")])


@pytest.mark.fit  # for its time
def test_balanced_overlap_is_half_way_to_that_of_chance():
    checked = designs.check(design(overlap="balanced"))
    wanted = [
        (least + 1 / len(levels)) / 2
        for least, levels in zip(checked.overlap["least"], THREE.values(), strict=True)
    ]
    # a task more or less of nine
    np.testing.assert_allclose(checked.overlap["overlap"], wanted, atol=0.06)
    minimal = designs.check(design())
    np.testing.assert_allclose(minimal.overlap["overlap"], minimal.overlap["least"], atol=1e-12)


def worse(one, other):
    """Whether a product is worse than another in what has a direction, and the same in all else,
    written out."""
    pairs = [(one["price"], other["price"]), (other["zoom"] == "yes", one["zoom"] == "yes")]
    return (
        one["brand"] == other["brand"]
        and all(a >= b for a, b in pairs)
        and any(a > b for a, b in pairs)
    )


@pytest.mark.long
@pytest.mark.fit  # for its time
def test_no_product_is_worse_than_another_of_its_task():
    # which have the same brand in a task
    how = {"overlap": "balanced", "interactions": [("brand", "price")]}
    free, kept = made(**how), made(directions=WAYS, **how)
    counts = [
        sum(any(worse(a, b) for a in task for b in task) for task in rows_of(each))
        for each in (free, kept)
    ]
    assert counts[0] > 0 == counts[1]
    assert [designs.check(each, directions=WAYS).dominated for each in (free, kept)] == counts
    assert "dominated product" in str(designs.check(kept, directions=WAYS))
    two = {"price": [1, 2], "zoom": ["no", "yes"]}
    with refused(ArgumentError, "directions", "3 products"):
        designs.choice(two, 4, 3, none=True, directions=WAYS, random_seed=1)


@pytest.mark.fit  # for its time
def test_every_version_shows_each_level_as_often_as_can_be():
    for how in ({}, {"prior": PRIOR}, {"directions": WAYS}):
        found = designs.choice(THREE, 4, 3, versions=3, random_seed=1, **how)
        balance = designs.check(found).balance
        assert (balance["most"] - balance["least"] <= (1 if not how else 2)).all(), how


@pytest.mark.fit  # for its time
def test_tasks_held_out_stand_last_in_every_version():
    """With prices that no other task has; they tell nothing of errors."""
    fixed = [
        {"brand": "A", "price": 10, "zoom": "no"},
        {"brand": "C", "price": "12", "zoom": "yes"},
    ]
    how = {"versions": 2, "none": True, "random_seed": 1}
    found = designs.choice(THREE, 4, 3, holdouts=[fixed, pd.DataFrame(fixed)], **how)
    held = found[found["held_out"] == 1]
    assert held.groupby(["version", "task"], observed=True).size().to_dict() == {
        (version, task): 3 for version in (1, 2) for task in (5, 6)
    }
    assert held["price"].dropna().unique().tolist() == [10, 12]
    alone = designs.choice(THREE, 4, 3, **how)
    rest = found[found["held_out"] == 0].drop(columns="held_out").reset_index(drop=True)
    assert rest.astype(str).equals(alone.astype(str))
    pd.testing.assert_frame_equal(designs.check(found).table, designs.check(alone).table)


@pytest.mark.parametrize(
    ("how", "facts"),
    [
        ({"overlap": "some"}, ("overlap",)),
        ({"interactions": [("brand", "size")]}, ("interactions", "contains 'size'")),
        ({"interactions": ["brand"]}, ("interactions",)),
        ({"interactions": [("brand", "brand")]}, ("interactions",)),
        (
            {"directions": {"price": "down"}},
            ("'price'", "'increasing'", "'decreasing'", "got 'down'"),
        ),
        ({"directions": {"size": "increasing"}}, ("directions", "contains 'size'")),
        ({"directions": "price"}, ("`directions` must map attributes",)),
        ({"directions": WAYS, "prior": {"price": 0.1}}, ("12", "'price'")),
        ({"holdouts": [[{"brand": "A"}, {"brand": "B"}]]}, ("task 1", "'price'", "'zoom'")),
        ({"holdouts": [[{"brand": "A", "price": 9, "zoom": "no"}]]}, ("task 1",)),
        (
            {"holdouts": [[{"brand": "A", "price": 9, "zoom": "no", "size": 1}] * 2]},
            ("'size'", "task 1"),
        ),
        (
            {"holdouts": [[{"brand": "Z", "price": 9, "zoom": "no"}] * 2]},
            ("'brand'", "task 1", "'Z'"),
        ),
        (
            {
                "prohibited": {"brand": "A", "zoom": "no"},
                "holdouts": [[{"brand": "A", "price": 9, "zoom": "no"}] * 2],
            },
            ("task 1", "9, zoom"),
        ),
    ],
)
def test_mistakes_of_what_is_asked_besides(how, facts):
    with refused(ArgumentError, *facts):
        made(**how)


@pytest.mark.parametrize(
    ("attributes", "how", "facts"),
    [
        (
            THREE,
            {
                "prohibited": {"brand": "A", "zoom": "yes"},
                "interactions": [("price", "zoom"), ("brand", "zoom")],
            },
            ("'brand'", "'zoom'"),
        ),
        (
            TWO,
            {"directions": WAYS, "interactions": [("price", "zoom")]},
            ("directions", "'price'", "'zoom'"),
        ),
        (
            TWO,
            {"directions": WAYS, "prohibited": {"price": [10, 11], "zoom": "no"}},
            ("'price'", "'zoom'"),
        ),
    ],
)
def test_what_no_design_could_tell_is_said_before_one_is_searched(
    attributes, how, facts, monkeypatch
):
    monkeypatch.delattr(choosing, "draw_design")
    with refused(ArgumentError, *facts):
        designs.choice(attributes, 20, 2, **how)


def test_equal_utilities_that_are_uncertain_contradict_no_direction(monkeypatch):
    monkeypatch.setattr(choosing, "draw_design", lambda *_: pytest.skip("searched"))
    with pytest.raises(pytest.skip.Exception, match="searched"):
        designs.choice(THREE, 9, 3, prior={"price": 0.0}, prior_sd=1.0, directions=WAYS)


def test_what_a_design_could_tell_is_searched(monkeypatch):
    """An attribute that is free beside the others, or a no-choice option, takes what directions
    leave untold."""
    monkeypatch.setattr(choosing, "draw_design", lambda *_: pytest.skip("searched"))
    for attributes, how in (
        (TWO, {"none": True}),
        (TWO | {"brand": ["A", "B"]}, {}),
        (TWO, {"interactions": []}),
    ):
        with pytest.raises(pytest.skip.Exception, match="searched"):
            designs.choice(
                attributes, 20, 2, **{"directions": WAYS, "interactions": [("price", "zoom")]} | how
            )


@pytest.mark.first(1)
@pytest.mark.parametrize(
    "sizes, tasks, alternatives, how",
    [((3, 3), 4, 2, {}), ((2, 2, 2), 4, 2, {}), ((3, 2), 5, 3, {"none": True})],
)
def test_rounding_does_not_choose_the_design(sizes, tasks, alternatives, how, monkeypatch):
    attributes = {f"a{i}": list(range(size)) for i, size in enumerate(sizes)}
    found = designs.choice(attributes, tasks, alternatives, random_seed=1, **how)
    rng, exact = np.random.default_rng(2), choosing.compute_informations

    def rounded(*given):
        values = exact(*given)
        return values * (1.0 + 2.0 * np.finfo(float).eps * rng.uniform(-1.0, 1.0, values.shape))

    monkeypatch.setattr(choosing, "compute_informations", rounded)
    pd.testing.assert_frame_equal(
        designs.choice(attributes, tasks, alternatives, random_seed=1, **how), found
    )


@pytest.mark.long
@pytest.mark.fit
def test_power_is_that_of_a_normal_estimate():
    """At half the error of an utility; and in so many of the studies in which there is nothing to
    tell."""
    from scipy.stats import norm

    found = design()
    prior = {"zoom": [0.0, 0.5]}
    table = designs.power(found, prior, respondents=40, simulations=150, random_seed=1)
    error = designs.check(found, prior, respondents=40).table["std_error"]
    np.testing.assert_allclose(table["std_error"], error, rtol=0.08)
    # 5 errors of a standard deviation of 150 studies
    np.testing.assert_allclose(table["sd"], error, rtol=0.3)
    wanted = norm.sf(1.96 - 0.5 / error["zoom[yes]"])
    assert (
        abs(table.loc["zoom[yes]", "power"] - wanted)
        < 5 * np.sqrt(wanted * (1 - wanted) / 150) + 0.02
    )
    assert (
        table.loc[table["utility"] == 0.0, "power"] < 0.05 + 5 * np.sqrt(0.05 * 0.95 / 150)
    ).all()
    apart = designs.power(found, prior, respondents=40, spread=1.5, simulations=100, random_seed=1)
    assert (apart["sd"] > table["sd"]).mean() > 0.7
    np.testing.assert_allclose(apart["std_error"], apart["sd"], rtol=0.3)  # clustered by person
    assert (
        apart.loc[apart["utility"] == 0.0, "power"] < 0.05 + 5 * np.sqrt(0.05 * 0.95 / 100)
    ).all()
    # of three levels too, where the first one must not be the only one that is the same for
    # everybody
    three = {"brand": ["A", "B", "C"], "price": [9, 12, 15]}
    table = designs.power(
        designs.choice(three, 8, 3, random_seed=1), {"price": -0.2}, 200, 1.5, 100, random_seed=1
    )
    brands = table.loc[["brand[B]", "brand[C]"]]
    assert (abs(brands["estimate"]) < 5 * brands["sd"] / 10).all() and (
        brands["power"] < 0.16
    ).all()
    with refused(ArgumentError, "standard deviation between"):
        designs.power(found, prior, spread=-1)
