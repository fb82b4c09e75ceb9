"""What is reported of product classes: the class table, effects of levels, importance, people."""

from itertools import product

import numpy as np
import pytest
from helpers.product_class_fits import (
    ATTRIBUTES,
    MONOTONE,
    drawn,
    engine_result,
    experiment,
    fitted,
    of_draws,
    single,
)
from helpers.sentences import refused
from helpers.terminals import narrow

from thali._choice.product_classes.ragged_draws import concatenate_draws
from thali._data.experiments.fitted_design import ExperimentDesign, build_design
from thali._data.experiments.product_encoding import Attribute, Scheme
from thali.errors import ArgumentError

FREE = (
    Attribute("colour", ("red", "blue", "green"), "given"),
    Attribute("size", ("s", "m"), "given"),
)


def design(products, tasks=((0, 1),), people=1, scheme=None):
    """A study in which every person saw the same tasks of products, the first of which was
    chosen."""
    scheme = Scheme("id", "task", None, "choice", FREE) if scheme is None else scheme
    rows = np.concatenate([np.array(task, np.int64) for task in tasks])
    first_row = np.concatenate([[0], np.cumsum(np.tile([len(task) for task in tasks], people))])
    return ExperimentDesign(
        scheme,
        tuple(f"p{n}" for n in range(people)),
        np.array(products, np.int64),
        np.arange(people + 1) * len(tasks),
        first_row,
        np.tile(rows, people),
        np.zeros(people * len(tasks), np.int64),
    )


EVERY = [list(levels) for levels in product(range(3), range(2))]


# the class table ----------------------------------------------------------------------------------


def slow_table(draws, the_design):
    """class -> (share, importance, probability, liked), told apart by the products that it holds,
    one dict a person."""
    sizes = np.diff(draws.offset)
    space = [x for x in product(*(range(size) for size in sizes))]
    if the_design.inside == 0:
        space = [(0, *[-1] * (len(sizes) - 1)), *((1, *x[1:]) for x in space)]
    shares, importances, present, liked = {}, {}, {}, {}
    count, people = draws.n_draws, draws.n_respondents
    for d in range(count):
        seen = set()
        for n in range(people):
            own = {}
            for entry in range(
                draws.first_owned[d * people + n], draws.first_owned[d * people + n + 1]
            ):
                c = draws.first_class[d] + draws.owned_class[entry]
                cells = np.split(draws.member[c], draws.offset[1:-1])
                active = draws.active[c]
                held = frozenset(
                    x
                    for x in space
                    if all(
                        not on or (at >= 0 and cell[at])
                        for on, at, cell in zip(active, x, cells, strict=True)
                    )
                )
                if not held:
                    continue
                value = np.exp(draws.owned_log_theta[entry]) + (1 - draws.sigma[d]) * draws.a[d]
                if draws.owned_sign[entry]:
                    others = [i for i in range(len(sizes)) if active[i]]
                    if len(others) == 1 and the_design.never_missing[others[0]]:
                        held = frozenset(space) - held
                    else:
                        value = -value
                own[held] = own.get(held, 0.0) + value
            whole = sum(abs(value) for value in own.values())
            for held, value in own.items():
                shares[held] = shares.get(held, 0) + 1 / (count * people)
                importances[held] = importances.get(held, 0) + abs(value) / whole / (count * people)
                liked.setdefault(held, []).append(value > 0)
                seen.add(held)
        for held in seen:
            present[held] = present.get(held, 0) + 1 / count
    return {
        held: (shares[held], importances[held], present[held], float(np.mean(liked[held])))
        for held in shares
    }


@pytest.mark.parametrize("none", [False, True])
def test_the_class_table_is_that_of_a_slow_count(none):
    data = experiment(people=5, none=none)
    the_design = build_design(data)
    draws = engine_result(data, draws=12, alpha=4.0).particles
    table = of_draws(draws, the_design).classes(cover=1.0, similar=1)
    assert {"product_class", "importance"} <= set(narrow(table).split())
    wanted = slow_table(draws, the_design)
    assert len(table) == len(wanted) and table["product_class"].is_unique
    columns = ["share", "importance", "probability", "liked"]
    found, slow = (np.round(np.array(rows), 12) for rows in (table[columns], list(wanted.values())))
    np.testing.assert_allclose(sorted(found.tolist()), sorted(slow.tolist()), atol=2e-12)
    owns_nothing = np.mean(np.diff(draws.first_owned) == 0)
    if not none:
        assert table["importance"].sum() == pytest.approx(1 - owns_nothing)
    assert (np.diff(table["importance"]) <= 1e-15).all()


def test_a_disliked_class_of_one_attribute_is_its_complement_liked():
    draws = single(
        [(1, 0.0), (0, 0.0)],
        members=[[1, 0, 0, 1, 1], [0, 1, 1, 1, 1]],
        monotone=(0, 0),
        offset=(0, 3, 5),
    )
    whole = design(EVERY)
    table = of_draws(draws, whole).classes(similar=1)
    assert table["product_class"].tolist() == ["colour != red"] and table["liked"].tolist() == [1.0]
    lacking = design([*EVERY, [-1, 0]])  # a product without a colour is in neither
    table = of_draws(draws, lacking).classes(similar=1)
    assert sorted(table["product_class"]) == ["colour = red", "colour in {blue, green}"]
    assert sorted(table["liked"]) == [0.0, 1.0]


def test_opposite_values_of_one_class_cancel():
    members = [[1, 0, 0, 1, 0]] * 2
    draws = single(
        [(0, np.log(3.0)), (1, np.log(1.0))], members=members, monotone=(0, 0), offset=(0, 3, 5)
    )
    table = of_draws(draws, design(EVERY)).classes()
    # its errors are given by the differences between chains
    assert table.attrs["monte_carlo"] is True
    assert table["product_class"].tolist() == ["colour = red & size = s"]
    assert table[["liked", "importance", "share"]].to_numpy().tolist() == [[1.0, 1.0, 1.0]]


def format_name(draws, c, sign, the_design, known):
    """What a class goes by that is the only one of one person."""
    key = (draws.member[c].tobytes(), sign)
    if key not in known:
        alone = single(
            [(sign, 0.0)], members=[draws.member[c]], monotone=draws.monotone, offset=draws.offset
        )
        every = the_design._replace(respondents=("p0",), first_task=the_design.first_task[:2])
        known[key] = of_draws(alone, every).classes(cover=1.0, similar=1)["product_class"].iloc[0]
    return known[key]


@pytest.mark.long
def test_the_share_of_new_people_is_that_of_the_buffet():
    """Slowly: a new person owns none of the columns that are this class, with the sign that makes
    them so."""
    data = experiment(people=4)
    draws = engine_result(data, draws=8, groups=1, alpha=4.0, seed=3).particles
    the_design = build_design(data)
    found = (
        of_draws(draws, the_design)
        .classes(cover=1.0, similar=1)
        .set_index("product_class")["share_new"]
    )
    wanted, known = dict.fromkeys(found.index, 0.0), {}
    for d in range(8):
        lacks = dict.fromkeys(found.index, 1.0)
        for c in range(draws.first_class[d], draws.first_class[d + 1]):
            m, negative = draws.n_owners[c], draws.n_negative[c]
            decisions = {}
            for sign in (0, 1):
                urn = (1 + (negative if sign else m - negative)) / (2 + m)
                owns = (
                    m
                    / (4 + draws.beta)
                    * (urn if draws.polarity[c] < 0 else draws.polarity[c] == sign)
                )
                name = format_name(draws, c, sign, the_design, known)
                decisions[name] = decisions.get(name, 0.0) + owns
            for name, owns in decisions.items():
                if name in lacks:
                    lacks[name] *= 1 - owns
        for name, share in lacks.items():
            wanted[name] += (1 - share) / 8
    np.testing.assert_allclose(found, [wanted[name] for name in found.index])


@pytest.mark.long
def test_errors_over_groups_and_the_row_of_others():
    model = fitted(draws=10, groups=4, alpha=4.0)
    every, some = model.classes(cover=1.0, similar=1), model.classes(cover=0.5, similar=1)
    assert some["product_class"].iloc[-1] == f"other ({len(every) - len(some) + 1} classes)"
    assert some["importance"].sum() == pytest.approx(every["importance"].sum())
    assert 0.5 <= some["importance"].iloc[:-1].sum() / every["importance"].sum()
    assert some["importance"].iloc[:-2].sum() / every["importance"].sum() < 0.5
    first = every["product_class"].iloc[0]
    shares = []
    for g in range(4):
        part, the_design = drawn(draws=10, groups=4, alpha=4.0)
        keep = np.flatnonzero(part.group == g)
        own = _select_draws(part, keep)
        table = of_draws(own, the_design).classes(cover=1.0, similar=1).set_index("product_class")
        shares.append(table["share"].get(first, 0.0))
    assert every["share"].iloc[0] == pytest.approx(np.mean(shares))
    assert every["share_se"].iloc[0] == pytest.approx(np.std(shares, ddof=1) / 2)
    assert np.isnan(fitted(groups=1).classes()["share_se"]).all()
    assert (every["rules"].to_numpy()[:-1] == 1).all() and some["rules"].sum() == len(every)
    with refused(ArgumentError, "`cover`, a share"):
        model.classes(cover=0)
    with refused(ArgumentError, "similar"):
        model.classes(similar=1.5)


def _select_draws(draws, keep):
    """Consecutive draws alone."""
    people = draws.n_respondents
    c0, c1 = draws.first_class[keep[0]], draws.first_class[keep[-1] + 1]
    ends = draws.first_owned[keep[0] * people : (keep[-1] + 1) * people + 1]
    classes = ("active", "member", "polarity", "n_owners", "n_negative")
    owned = ("owned_class", "owned_sign", "owned_log_theta")
    return draws._replace(
        group=np.zeros(len(keep), np.int64),
        **{name: getattr(draws, name)[keep] for name in ("a", "sigma", "alpha", "log_likelihood")},
        **{name: getattr(draws, name)[c0:c1] for name in classes},
        **{name: getattr(draws, name)[ends[0] : ends[-1]] for name in owned},
        first_class=draws.first_class[keep[0] : keep[-1] + 2] - c0,
        first_owned=ends - ends[0],
    )


@pytest.mark.long
def test_draws_with_millions_of_owned_classes_are_tabled_as_few_are():
    """They are worked on in blocks of two millions."""
    draws, the_design = drawn(experiment(people=400, tasks=1), draws=4, groups=1, alpha=12.0)
    few, many = (
        of_draws(concatenate_draws([draws] * times), the_design).classes(cover=1.0)
        for times in (1, 110)
    )
    columns = ["importance", "share", "liked", "share_new"]
    found, wanted = (
        table.set_index("product_class")[columns].sort_index() for table in (many, few)
    )
    np.testing.assert_allclose(found, wanted, rtol=1e-9)


def test_similar_classes_are_one():
    """Two people: "not red", liked, and "blue", liked, hold half of their products in common."""
    members = [[0, 1, 1, 1, 1], [0, 1, 0, 1, 1], [1, 1, 1, 1, 0]]
    draws = single(
        [(0, 1.0), (0, 0.0), (0, 0.0)], members=members, monotone=(0, 0), offset=(0, 3, 5)
    )
    table = of_draws(draws, design(EVERY)).classes(cover=1.0, similar=0.5)
    assert table["product_class"].tolist() == ["colour != red", "size = s"] and table[
        "rules"
    ].tolist() == [2, 1]
    assert table["share"].tolist() == [1.0, 1.0]
    value = np.array([np.e + 1.0 + 2 * 0.5, 1.0 + 0.5])
    np.testing.assert_allclose(table["importance"], value / value.sum())


@pytest.mark.long
def test_stability_is_the_share_of_chains_with_half_of_the_importance():
    draws, the_design = drawn(draws=10, groups=4, alpha=4.0)
    table = of_draws(draws, the_design).classes(cover=1.0, similar=1).set_index("product_class")
    parts = [_select_draws(draws, np.flatnonzero(draws.group == g)) for g in range(4)]
    of_chain = [
        of_draws(part, the_design)
        .classes(cover=1.0, similar=1)
        .set_index("product_class")["importance"]
        for part in parts
    ]
    for name, row in table.head(30).iterrows():
        wanted = np.mean([each.get(name, 0.0) >= 0.5 * row["importance"] for each in of_chain])
        assert row["stability"] == wanted


NAMES = [
    ([1, 1, 0, 0, 1, 1, 1, 1, 1, 1], "price <= 150"),
    ([1, 0, 0, 0, 1, 1, 1, 1, 1, 1], "price = 100"),
    ([0, 0, 1, 1, 1, 1, 1, 1, 1, 1], "price >= 200"),
    ([1, 1, 1, 1, 1, 0, 1, 1, 1, 1], "brand != B"),
    ([1, 1, 1, 1, 1, 1, 0, 1, 1, 1], "brand != C"),
    ([0, 1, 1, 1, 0, 1, 0, 1, 1, 1], "price >= 150 & brand = B"),
    ([1, 1, 1, 1, 1, 1, 1, 1, 0, 0], "cost <= 120"),
    ([1, 1, 1, 1, 1, 1, 1, 1, 1, 0], "cost <= 180"),
    ([1, 1, 1, 1, 1, 1, 1, 0, 1, 1], "cost > 120"),
    ([1, 1, 1, 1, 1, 1, 1, 0, 0, 1], "cost > 180"),
]


@pytest.mark.parametrize(("member", "name"), NAMES)
def test_classes_are_named_by_thresholds_and_levels(member, name):
    attributes = (
        Attribute("price", ("100", "150", "200", "250"), "numbers"),
        Attribute("brand", ("A", "B", "C"), "alphabet"),
        Attribute("cost", ("<= 120", "120 to 180", "> 180"), "bins", (120.0, 180.0)),
    )
    scheme = Scheme("id", "task", None, "choice", attributes)
    draws = single([(0, 0.0)], members=[member], monotone=(-1, 0, -1), offset=(0, 4, 7, 10))
    lacking = name.replace("brand != B", "brand in {A, C}").replace("brand != C", "brand in {A, B}")
    for second, wanted in ((1, name), (-1, lacking)):
        the_design = design([[0, 0, 0], [second] * 3], scheme=scheme)
        assert of_draws(draws, the_design).classes()["product_class"].tolist() == [wanted]


def test_names_of_the_no_choice_option():
    scheme = Scheme("id", "task", None, "choice", FREE, (("alt", "none"),), True)
    for held, name in (([0, 1], "any product"), ([1, 0], "no choice")):
        draws = single(
            [(0, 0.0)], members=[[*held, 1, 1, 1, 1, 1]], monotone=(0, 0, 0), offset=(0, 2, 5, 7)
        )
        the_design = design(
            [[0, -1, -1], *([1, *x] for x in EVERY)], tasks=[range(7)], scheme=scheme
        )
        assert of_draws(draws, the_design).classes()["product_class"].tolist() == [name]


# effects of levels --------------------------------------------------------------------------------


def compute_effects(draws, the_design):
    table = of_draws(draws, the_design).level_effects(random_seed=1)
    return {(row.attribute, row.level, row.over): row for row in table.itertuples()}


def test_the_effect_of_a_level_that_one_class_holds():
    """red & s, liked: red beats blue where the size is s, half of the design, and ties elsewhere:
    .75."""
    draws = single([(0, 0.0)], members=[[1, 0, 0, 1, 0]], monotone=(0, 0), offset=(0, 3, 5))
    found = compute_effects(draws, design(EVERY, tasks=[range(6)]))
    error = 4 * 0.25 / np.sqrt(4000)
    assert abs(found["colour", "blue", "red"].effect - 0.25) < error
    assert abs(found["colour", "green", "red"].effect - 0.25) < error
    assert found["colour", "green", "blue"].effect == 0.5
    assert abs(found["size", "m", "s"].effect - 1 / 3) < 4 * np.sqrt(2) / 6 / np.sqrt(4000)


def test_effects_weigh_products_as_the_design_does():
    draws = single([(0, 0.0)], members=[[1, 0, 0, 1, 0]], monotone=(0, 0), offset=(0, 3, 5))
    found = compute_effects(
        draws, design(EVERY, tasks=[[0, 2, 4, 1]])
    )  # size s in three rows of four
    assert abs(found["colour", "blue", "red"].effect - 0.125) < 4 * np.sqrt(3) / 8 / np.sqrt(4000)


def test_effects_of_the_no_choice_option():
    scheme = Scheme("id", "task", None, "choice", FREE, (("alt", "none"),), True)
    products = [[0, -1, -1], *([1, *x] for x in EVERY)]
    # every red product is liked, and nothing else is: a red one beats no choice, others tie
    draws = single(
        [(0, 0.0)], members=[[1, 1, 1, 0, 0, 1, 1]], monotone=(0, 0, 0), offset=(0, 2, 5, 7)
    )
    found = compute_effects(draws, design(products, tasks=[range(7)], scheme=scheme))
    assert abs(found["inside", "inside", "none"].effect - (0.5 + 1 / 6)) < 4 * np.sqrt(
        2
    ) / 6 / np.sqrt(4000)
    assert found["colour", "blue", "red"].effect == 0.0


def test_effects_keep_to_the_directions():
    model = fitted(draws=20, alpha=4.0)
    table = model.level_effects()
    declared = table["attribute"].isin(MONOTONE)
    assert (table.loc[declared, "low"] >= 0.5).all() and (
        table.loc[declared, "respondents_low"] >= 0.5
    ).all()
    assert (table.loc[~declared, "low"] < 0.5).any()
    cheap = table[table["attribute"] == "price"]
    assert set(zip(cheap["level"], cheap["over"], strict=True)) == {
        (a, b) for a in ATTRIBUTES["price"] for b in ATTRIBUTES["price"] if int(a) < int(b)
    }
    people = model.level_effects(each_person=True)
    assert list(people) == ["respondent", "attribute", "level", "over", "effect"] and len(
        people
    ) == 8 * len(table)
    assert people.iloc[0].tolist()[:4] == ["p0", "price", "100", "150"]
    means = people.groupby(["attribute", "level", "over"], sort=False)["effect"].mean()
    np.testing.assert_allclose(means, table["effect"])
    import pandas as pd

    pd.testing.assert_frame_equal(table, model.level_effects(cores=3))


def test_an_effect_at_the_bound_of_its_direction_is_marked():
    """An effect of .5 with an interval of no width is certainty of indifference only where it could
    be smaller."""
    members, offset = [[0, 1, 1, 1, 1]], (0, 3, 5)
    the_design = design(EVERY, tasks=[range(6)])
    for direction, marked in ((1, True), (0, False)):
        draws = single([(0, 0.0)], members=members, monotone=(direction, direction), offset=offset)
        table = (
            of_draws(draws, the_design).level_effects().set_index(["attribute", "level", "over"])
        )
        assert table.loc[("size", "m", "s"), ["effect", "low", "high"]].tolist() == [0.5, 0.5, 0.5]
        assert table.loc[("colour", "blue", "red"), "effect"] == 1.0
        # red-blue, red-green, blue-green; size
        assert table["at_bound"].tolist() == [False, False, marked, marked]


def compute_importances(draws, the_design):
    return of_draws(draws, the_design).attribute_importance()


# importance ---------------------------------------------------------------------------------------


def test_importance_of_the_only_attribute_that_counts():
    """red, liked. A red and a blue product: choices are certain with the colour, even without; half
    of them change."""
    draws = single(
        [(0, 0.0)], members=[[1, 0, 0, 1, 1]], monotone=(0, 0), offset=(0, 3, 5), lapse=0.1
    )
    the_design = design(EVERY, tasks=[[0, 3], [2, 4]])  # blue or green: nothing to choose
    table = compute_importances(draws, the_design).set_index("attribute")
    assert table.loc["colour", "importance"] == pytest.approx(0.9 * (0.5 + 0.0) / 2)
    assert table.loc["size", "importance"] == 0.0
    assert table.index.tolist() == ["colour", "size"]


def test_importance_of_an_interaction_by_hand():
    """red & s against blue & s: without the size, the common one is s or m with probability 1/2
    each, and m ties."""
    draws = single([(0, 0.0)], members=[[1, 0, 0, 1, 0]], monotone=(0, 0), offset=(0, 3, 5))
    table = compute_importances(draws, design(EVERY, tasks=[[0, 2], [1, 3]])).set_index("attribute")
    # rows of the design: s, s, m, m; in the first task the choice changes by 1/4, in the second
    # from even by 1/4
    assert abs(table.loc["size", "importance"] - 0.25) < 4 * 0.25 / np.sqrt(800)
    assert table.loc["colour", "importance"] == pytest.approx(0.25)


def test_a_product_that_lacks_an_attribute_is_not_given_it():
    """red, liked; every product that has a colour is red, so that nothing changes if all of them
    have the same one."""
    draws = single([(0, 0.0)], members=[[1, 0, 0, 1, 1]], monotone=(0, 0), offset=(0, 3, 5))
    table = compute_importances(draws, design([[0, 0], [-1, 1]], tasks=[[0, 1]])).set_index(
        "attribute"
    )
    assert table["importance"].tolist() == [0.0, 0.0]


def test_importance_of_the_prior_is_that_of_slow_predictions():
    """Against predictions of the same tasks with the attribute set to each level in turn."""
    data = experiment(people=3, tasks=4)
    model = fitted(data, draws=30, alpha=4.0)
    people = model.attribute_importance(each_person=True)
    found = people.pivot(index="respondent", columns="attribute", values="importance")
    frame = data.to_frame()
    base = model.predict_proba(frame, repeats=400)
    mixed = np.zeros(len(frame))
    for level, share in frame["price"].value_counts(normalize=True).items():
        mixed += share * model.predict_proba(frame.assign(price=level), repeats=400)
    wanted = 0.5 * np.abs(mixed - base)
    wanted = frame.assign(gap=wanted).groupby(["id", "task"])["gap"].sum().groupby("id").mean()
    # 840 occasions each; of two probabilities, on common values: below .5 / sqrt(840) each, summed
    # over 2 to 4 products
    np.testing.assert_allclose(found["price"], wanted[found.index], atol=4 * 0.5 / np.sqrt(840))
    table = model.attribute_importance().set_index("attribute")
    assert table.loc["price", "importance"] == pytest.approx(found["price"].mean())


@pytest.mark.usefixtures("pictures")
def test_a_report_tells_the_error_of_the_draws_from_that_of_an_estimate(tmp_path):
    fitted(experiment(), draws=3, alpha=2.0).report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text("utf-8")
    assert ">MC error<" in page and ">std. error<" not in page
