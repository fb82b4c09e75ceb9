"""Tools for paired comparisons: models and tests of models, against separate optimisation and
closed forms."""

import itertools

import numpy as np
import pandas as pd
import pytest
from helpers.paired_cases import (
    DRUGS,
    HEAVINESS,
    PORK,
    TREE,
    everything,
    log_likelihood,
    maximised,
    rng,
    sets_of,
    shared,
    total,
)
from helpers.sentences import refused, warned
from scipy.optimize import minimize
from scipy.stats import binom, chi2, multinomial, norm, poisson

import thali as th
from thali._inference.random_seeds import spawn_generators
from thali.errors import ArgumentError, DataError, EstimateWarning

pytestmark = pytest.mark.usefixtures("few_replicates")


def saturated(data):
    n = data.wins + data.losses
    return float(binom.logpmf(data.wins, n, data.wins / n).sum())


def test_thurstone_of_celebrities_as_published():
    found = th.paired.thurstone(th.datasets.celebrities())
    assert found.deviance == pytest.approx(81.42, abs=5e-3)
    assert found.df == 28
    assert "G² 81.4188 on 28 degrees of freedom (p < 0.001)" in str(found)


@pytest.mark.fit
def test_thurstone_of_every_data_set_maximises_the_likelihood():
    for name, data in everything().items():
        found = th.paired.thurstone(data)

        def loss(scale, data=data):
            full = np.r_[0.0, scale]
            p = norm.cdf(full[data.first] - full[data.second])
            return -binom.logpmf(data.wins, data.wins + data.losses, p).sum()

        other = minimize(loss, np.zeros(data.n_options - 1), method="BFGS")
        assert found.log_likelihood == pytest.approx(-other.fun, abs=1e-5), name
        assert found.log_likelihood >= -other.fun - 1e-10
        np.testing.assert_allclose(found.scale.iloc[1:], other.x, atol=2e-3)
        assert found.deviance == pytest.approx(
            2 * (saturated(data) - found.log_likelihood), abs=1e-8
        )
        if "bootstrap" not in found.note:
            assert found.p_value == pytest.approx(chi2.sf(found.deviance, found.df))


def test_thurstone_standard_errors_follow_the_information():
    data = total(PORK)
    found = th.paired.thurstone(data)

    def slope(scale):
        def value(x):
            full = np.r_[0.0, x]
            return binom.logpmf(
                data.wins, data.wins + data.losses, norm.cdf(full[data.first] - full[data.second])
            ).sum()

        return np.array([(value(scale + d) - value(scale - d)) / 2e-4 for d in 1e-4 * np.eye(2)])

    at = found.scale.to_numpy()[1:]
    hessian = np.array([(slope(at + d) - slope(at - d)) / 2e-4 for d in 1e-4 * np.eye(2)])
    np.testing.assert_allclose(
        found.covariance.to_numpy()[1:, 1:], np.linalg.inv(-hessian), rtol=1e-4
    )


def test_estimates_at_infinity_are_refused():
    for data, sentence in [
        (
            np.array([[0, 3, 4], [2, 0, 5], [0, 0, 0]]),
            "'2' was never chosen in comparisons with|'0' and '1' were always chosen in comp",
        ),
        (
            np.array([[0, 3, 4], [0, 0, 5], [0, 3, 0]]),
            "'1' and '2' were never chosen in comparisons with the other options",
        ),
        (
            np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]]),
            "never compared with the other options",
        ),
    ]:
        with pytest.raises(DataError, match=sentence):
            th.paired.thurstone(data)


@pytest.mark.parametrize("aspects", ["unique", pytest.param(DRUGS, marks=pytest.mark.long)])
@pytest.mark.fit
def test_the_group_test_of_drugrisk_compares_separate_fits(aspects):
    names = ["drugrisk_female30", "drugrisk_male30", "drugrisk_male31"]
    groups = {name: shared(name) for name in names}
    found = th.paired.group_test(groups, aspects)
    together = total(names)
    weights = maximised(aspects, together).maximum_likelihood.weights().to_dict()
    sets = sets_of(aspects, together.labels)
    each = {name: maximised(aspects, data) for name, data in groups.items()}
    restricted = sum(log_likelihood(data.counts, sets, weights) for data in groups.values())
    free = sum(model.maximum_likelihood.log_likelihood() for model in each.values())
    table = found.table
    assert found.statistic == pytest.approx(2 * (free - restricted), abs=1e-6)
    assert found.df == 2 * (len(weights) - 1)
    assert found.p_value == pytest.approx(chi2.sf(found.statistic, found.df), rel=1e-6)
    best = sum(saturated(data) for data in groups.values())
    half = sum(
        float(binom.logpmf(data.wins, data.wins + data.losses, 0.5).sum())
        for data in groups.values()
    )
    cells = np.concatenate([np.r_[data.wins, data.losses] for data in groups.values()])
    n = np.concatenate([data.wins + data.losses for data in groups.values()])

    def poissons(y):
        return 2 * (poisson.logpmf(y, y).sum() - poisson.logpmf(y, y.mean()).sum())

    expected = {
        "overall": (poissons(cells), len(cells) - 1),
        "model": (2 * (best - free), len(n) - 3 * (len(weights) - 1)),
        "effect": (2 * (restricted - half), len(weights) - 1),
        "imbalance": (poissons(n), len(n) - 1),
    }
    for row, (deviance, df) in expected.items():
        assert table.loc[row, "deviance"] == pytest.approx(deviance, abs=1e-6), row
        assert table.loc[row, "df"] == df, row
    parts = table.loc[["model", "group", "effect", "imbalance"]]
    assert parts["deviance"].sum() == pytest.approx(table.loc["overall", "deviance"], abs=1e-6)
    assert parts["df"].sum() == table.loc["overall", "df"]
    np.testing.assert_allclose(
        found.weights["drugrisk_male30"],
        each["drugrisk_male30"].maximum_likelihood.weights(),
        atol=1e-9,
    )


@pytest.mark.fit
def test_the_group_test_of_one_group_is_zero():
    found = th.paired.group_test(th.datasets.celebrities(), TREE)
    assert found.table.loc["model", "deviance"] == pytest.approx(30.1663, abs=5e-5)
    assert found.table.loc["group", ["deviance", "df", "p_value"]].tolist() == [0.0, 0, 1.0]
    judges = {"judge 1": total(PORK[:5]), "judge 2": total(PORK[5:])}
    pork = th.paired.group_test(judges)
    # Two judges of three: the Bradley-Terry-Luce model by a search of its own.
    sets = sets_of("unique", judges["judge 1"].labels)

    def best(counts):
        def loss(x):
            return -log_likelihood(
                counts, sets, dict(zip(("C", "Cp", "CP"), np.exp([0.0, *x]), strict=True))
            )

        return minimize(loss, np.zeros(2), method="BFGS")

    separate = sum(-best(data.counts).fun for data in judges.values())
    common = best(judges["judge 1"].counts + judges["judge 2"].counts).x
    weights = dict(zip(("C", "Cp", "CP"), np.exp([0.0, *common]), strict=True))
    together = sum(log_likelihood(data.counts, sets, weights) for data in judges.values())
    assert pork.statistic == pytest.approx(2 * (separate - together), abs=1e-5)
    with refused(DataError, "groups"):
        th.paired.group_test([shared(PORK[0]), shared(HEAVINESS[0])])
    with refused(DataError, "2 groups"):
        alone = th.PairedComparisons([[0, 1, 0], [1, 0, 0], [0, 0, 0]], judges["judge 1"].labels)
        th.paired.group_test([judges["judge 1"], alone])
    with warned(EstimateWarning, "shrink"):
        th.paired.group_test([judges["judge 1"], shared(PORK[0])])


def order_by_hand(forward, backward):
    """Davidson and Beaver's model by a search of its own: log-likelihood, ln order, its standard
    error."""
    first, second = forward.counts, backward.counts
    n = len(first)
    i, j = np.triu_indices(n, 1)

    def terms(x):
        scale = np.r_[0.0, x[:-1]]
        lean = scale[i] - scale[j]
        p = 1 / (1 + np.exp(-(lean - x[-1])))
        q = 1 / (1 + np.exp(-(lean + x[-1])))
        return (
            binom.logpmf(first[i, j], first[i, j] + first[j, i], p).sum()
            + binom.logpmf(second[i, j], second[i, j] + second[j, i], q).sum()
        )

    found = minimize(lambda x: -terms(x), np.zeros(n), method="BFGS", options={"gtol": 1e-7})
    # A generalised linear model: the information in closed form.
    design = np.zeros((2, len(i), n + 1))
    for half, sign in enumerate((-1.0, 1.0)):
        design[half, np.arange(len(i)), i], design[half, np.arange(len(i)), j] = 1.0, -1.0
        design[half, :, n] = sign
    design = design.reshape(-1, n + 1)[:, 1:]
    p = 1 / (1 + np.exp(-design @ found.x))
    total_counts = np.r_[(first + first.T)[i, j], (second + second.T)[i, j]]
    covariance = np.linalg.inv(design.T @ ((total_counts * p * (1 - p))[:, None] * design))
    return -found.fun, found.x[-1], np.sqrt(covariance[-1, -1])


@pytest.mark.fit
def test_order_effect_of_heaviness():
    forward, backward = (shared(name) for name in HEAVINESS)
    found = th.paired.order_effect(forward, backward)
    value, log_order, error = order_by_hand(forward, backward)
    assert found.log_likelihood == pytest.approx(value, abs=1e-6)
    assert found.order == pytest.approx(np.exp(log_order), rel=1e-4)
    assert found.std_error == pytest.approx(np.exp(log_order) * error, rel=1e-4)
    assert found.order > 1  # the bottle lifted second feels heavier
    assert (
        "second is favoured" in found.note and "p < 0.001" in found.note and found.p_value < 0.001
    )
    assert found.table.loc["model", "df"] == 15 and found.table.loc["order", "df"] == 1
    together = maximised(
        data=th.PairedComparisons(forward.counts + backward.counts, forward.labels)
    )
    sets = sets_of("unique", forward.labels)
    without = sum(
        log_likelihood(d.counts, sets, together.maximum_likelihood.weights().to_dict())
        for d in (forward, backward)
    )
    assert found.table.loc["order", "deviance"] == pytest.approx(2 * (value - without), abs=1e-5)
    assert found.table.loc["model", "deviance"] == pytest.approx(
        2 * (saturated(forward) + saturated(backward) - value), abs=1e-5
    )
    # All options alike: the odds of what is shown second.
    i, j = np.triu_indices(5, 1)
    shown_second = forward.counts[j, i].sum() + backward.counts[i, j].sum()
    odds = shown_second / (1000 - shown_second)
    null = binom.logpmf(forward.counts[j, i], 50, odds / (1 + odds)).sum()
    null += binom.logpmf(backward.counts[i, j], 50, odds / (1 + odds)).sum()
    assert found.table.loc["effect", "deviance"] == pytest.approx(2 * (value - null), abs=1e-5)


@pytest.mark.fit
def test_order_effect_turns_with_the_orders_and_refuses():
    forward, backward = (shared(name) for name in HEAVINESS)
    found, turned = (
        th.paired.order_effect(forward, backward),
        th.paired.order_effect(backward, forward),
    )
    assert turned.order == pytest.approx(1 / found.order, rel=1e-9)
    np.testing.assert_allclose(turned.weights["weight"], found.weights["weight"], atol=1e-9)
    with refused(DataError, "second option was never"):
        always = np.triu(np.full((3, 3), 4), 1)
        th.paired.order_effect(always, always.T)
    with refused(DataError, "orders of presentation"):
        th.paired.order_effect(forward, backward.subset(forward.labels[:4]))


def test_a_direction_of_the_order_is_told_by_its_p_value_alone():
    forward = np.array([[0, 9, 12], [6, 0, 10], [5, 7, 0]])
    near = th.paired.order_effect(forward, forward + np.triu(np.full((3, 3), 1), 1))
    assert near.p_value > 0.05 and near.order != 1.0
    assert "not significant at the 0.05 level" in near.note and "favoured" not in near.note


def test_order_effect_with_shared_aspects():
    """Choices with an order effect of 2 and a tree, at their expected counts: all is found
    again."""
    weights = {"a": 1.0, "b": 2.0, "c": 1.0, "d": 3.0, "e": 2.0, "x": 1.5}
    aspects = {"a": ["x"], "b": ["x"], "c": [], "d": [], "e": []}
    sets = sets_of(aspects, list(aspects))
    tables = np.zeros((2, 5, 5))
    for half, factor in enumerate((2.0, 0.5)):
        for i in range(5):
            for j in range(i + 1, 5):
                own = sum(weights[k] for k in sets[i] - sets[j])
                other = factor * sum(weights[k] for k in sets[j] - sets[i])
                tables[half, i, j], tables[half, j, i] = own / (own + other), other / (own + other)
    data = [th.PairedComparisons(1000 * table, list(aspects), weights=True) for table in tables]
    found = th.paired.order_effect(*data, aspects)
    assert found.order == pytest.approx(2.0, abs=1e-8)
    np.testing.assert_allclose(
        found.weights["weight"], np.array(list(weights.values())) / 10.5, atol=1e-8
    )


@pytest.mark.fit  # for its time
def test_the_wald_test_follows_its_definition():
    model = maximised(TREE)
    contrast = np.zeros((2, 9))
    contrast[0, [3, 4]] = contrast[1, [3, 5]] = 1, -1  # are the athletes alike?
    found = th.paired.wald_test(model, contrast)
    owners = np.hstack(
        [
            np.eye(9),
            [[group in TREE[who] for group in ("politician", "athlete", "star")] for who in TREE],
        ]
    )
    # The covariance by the delta method, from a numerical Hessian in the logarithms of 11 weights
    # (the last is fixed).
    sets, names = (
        sets_of(TREE, model.maximum_likelihood.utility_scale().index),
        list(model.maximum_likelihood.weights().index),
    )
    counts = th.datasets.celebrities().counts

    def value(logs):
        return log_likelihood(counts, sets, dict(zip(names, np.exp([*logs, 0.0]), strict=True)))

    at = np.log(
        model.maximum_likelihood.weights().to_numpy() / model.maximum_likelihood.weights()["star"]
    )[:-1]
    steps = 1e-3 * np.eye(11)
    hessian = np.empty((11, 11))
    for a in range(11):
        for b in range(a + 1):
            corners = [
                s * t * value(at + s * steps[a] + t * steps[b]) for s in (1, -1) for t in (1, -1)
            ]
            hessian[a, b] = hessian[b, a] = sum(corners) / 4e-6
    w = model.maximum_likelihood.weights().to_numpy()
    jacobian = (np.diag(w) - np.outer(w, w))[:, :-1]
    covariance = jacobian @ np.linalg.inv(-hessian) @ jacobian.T
    np.testing.assert_allclose(
        model.maximum_likelihood.standard_errors(), np.sqrt(np.diag(covariance)), rtol=1e-3
    )
    utility = owners @ w
    share = (np.eye(9) - utility[:, None] / utility.sum()) / utility.sum()
    np.testing.assert_allclose(
        model.maximum_likelihood.utility_covariance(),
        share @ owners @ covariance @ owners.T @ share.T,
        rtol=1e-3,
        atol=1e-9,
    )
    lean = contrast @ owners @ w
    spread = contrast @ owners @ covariance @ owners.T @ contrast.T
    assert found.statistic == pytest.approx(lean @ np.linalg.solve(spread, lean), rel=1e-3)
    assert found.df == 2
    assert found.p_value == pytest.approx(chi2.sf(found.statistic, 2))
    named = th.paired.wald_test(model, [{"JU": 1, "CY": -1}, {"JU": 1, "AJF": -1}])
    assert named.statistic == pytest.approx(found.statistic)
    frame = pd.DataFrame(contrast, columns=TREE)
    assert th.paired.wald_test(model, frame).statistic == pytest.approx(found.statistic)
    # Three contrasts of which one follows from the others have rank 2.
    assert th.paired.wald_test(model, np.vstack([contrast, contrast[0] - contrast[1]])).df == 2
    branches = th.paired.wald_test(model, {"politician": 1, "athlete": -1}, scale="weights")
    assert branches.table["estimate"].iloc[0] == pytest.approx(
        model.maximum_likelihood.weights()["politician"]
        - model.maximum_likelihood.weights()["athlete"]
    )
    assert branches.statistic == pytest.approx(branches.table["z"].iloc[0] ** 2)
    for contrasts, sentence in [
        (np.ones((1, 8)), "one column for each of the 9 options; got shape"),
        ([{"JX": 1}], "contains 'JX', which is not among the options. They are 'LBJ'"),
        (np.zeros((1, 9)), "have a nonzero entry"),
        (
            {"JU": 1},
            "Contrast 1 sums to 1, but must sum to 0, because weights are known only up to a"
            " common factor",
        ),
        (np.array([[1, -1, *[0] * 7], [1, -0.9, *[0] * 7]]), "Contrast 2 sums to 0.1, but"),
    ]:
        with pytest.raises(ArgumentError, match=sentence):
            th.paired.wald_test(model, contrasts)
    with refused(ArgumentError, "scale"):
        th.paired.wald_test(model, contrast, scale="raw")
    zero = maximised(data=th.PairedComparisons([[0, 5, 9], [4, 0, 9], [0, 0, 0]], ["a", "b", "c"]))
    with refused(ArgumentError, "'c' has no standard error"):
        th.paired.wald_test(zero, {"a": 1, "c": -1}, scale="weights")


@pytest.mark.fit
def test_davidson_agrees_with_a_general_search():
    decisions = rng(5)
    for _ in range(3):
        n = 5
        counts = decisions.integers(1, 9, (n, n))
        np.fill_diagonal(counts, 0)
        ties = np.triu(decisions.integers(0, 6, (n, n)), 1)
        found = th.paired.davidson(counts, ties)
        i, j = np.triu_indices(n, 1)
        outcome = np.column_stack([counts[i, j], counts[j, i], ties[i, j]])

        def loss(x, i=i, j=j, outcome=outcome):
            w = np.exp(np.r_[0.0, x[:-1]])
            odds = np.column_stack([w[i], w[j], np.exp(x[-1]) * np.sqrt(w[i] * w[j])])
            return -multinomial.logpmf(
                outcome, outcome.sum(1), odds / odds.sum(1, keepdims=True)
            ).sum()

        other = minimize(loss, np.zeros(n), method="BFGS")
        assert found.log_likelihood == pytest.approx(-other.fun, abs=1e-6)
        assert found.tie == pytest.approx(np.exp(other.x[-1]), rel=1e-3)
        w = np.exp(np.r_[0.0, other.x[:-1]])
        np.testing.assert_allclose(found.weights, w / w.sum(), atol=1e-4)
        assert found.df == 2 * len(i) - n
        best = multinomial.logpmf(
            outcome, outcome.sum(1), outcome / outcome.sum(1, keepdims=True)
        ).sum()
        assert found.deviance == pytest.approx(2 * (best - found.log_likelihood), abs=1e-8)
        # BFGS keeps an approximate inverse Hessian; the tie parameter's own is right to a few per
        # cent.
        assert found.tie_std_error == pytest.approx(
            found.tie * np.sqrt(other.hess_inv[-1, -1]), rel=0.1
        )


def league(seed, n=5, games=12, gamma=1.6, nu=0.7):
    """Results of everybody against everybody, at home and away."""
    random = rng(seed)
    w, rows = np.exp(random.normal(0, 0.5, n)), []
    for i, j in itertools.permutations(range(n), 2):
        odds = np.array([gamma * w[i], nu * np.sqrt(gamma * w[i] * w[j]), w[j]])
        for letter, times in zip("HDA", random.multinomial(games, odds / odds.sum()), strict=True):
            rows += [(f"t{i}", f"t{j}", letter)] * times
    return pd.DataFrame(rows, columns=["HomeTeam", "AwayTeam", "FTR"])


@pytest.mark.fit
def test_davidson_with_home_advantage_agrees_with_a_general_search():
    frame, n = league(3), 5
    found = th.paired.davidson(frame, order=True)
    i, j = (frame[side].str[1:].astype(int).to_numpy() for side in ("HomeTeam", "AwayTeam"))
    outcome = np.array(["HDA".index(letter) for letter in frame["FTR"]])

    def loss(x):
        w, gamma, nu = np.exp(np.r_[0.0, x[:-2]]), np.exp(x[-2]), np.exp(x[-1])
        odds = np.column_stack([gamma * w[i], nu * np.sqrt(gamma * w[i] * w[j]), w[j]])
        return -np.log(odds[np.arange(len(i)), outcome] / odds.sum(axis=1)).sum()

    other = minimize(loss, np.zeros(n + 1), method="BFGS", tol=1e-8)
    w = np.exp(np.r_[0.0, other.x[:-2]])
    labels = [f"t{k}" for k in range(n)]
    np.testing.assert_allclose(found.weights[labels], w / w.sum(), atol=1e-5)
    assert [found.order, found.tie] == pytest.approx(np.exp(other.x[-2:]), rel=1e-4)
    x, steps = other.x, 1e-4 * np.eye(n + 1)
    information = [
        [
            (loss(x + a + b) - loss(x + a - b) - loss(x - a + b) + loss(x - a - b)) / 4e-8
            for b in steps
        ]
        for a in steps
    ]
    errors = np.exp(x[-2:]) * np.sqrt(np.diag(np.linalg.inv(information))[-2:])
    assert [found.order_std_error, found.tie_std_error] == pytest.approx(errors, rel=1e-3)
    without = minimize(
        lambda x: loss(np.r_[x[:-1], 0.0, x[-1]]), np.zeros(n), method="BFGS", tol=1e-8
    )
    assert found.order_p_value == pytest.approx(chi2.sf(2 * (without.fun - other.fun), 1), rel=1e-3)
    assert found.df == 2 * 20 - (n + 1) and "Advantage of the first" in str(found)
    # Those at home earlier among the labels, and those later: the same by hand.
    is_forward = i < j
    sides = [
        th.PairedComparisons.from_results(frame[rows], labels=labels)
        for rows in (is_forward, ~is_forward)
    ]
    by_hand = th.paired.davidson(sides, order=True)
    assert by_hand.order == pytest.approx(found.order) and by_hand.deviance == pytest.approx(
        found.deviance
    )
    # One data object, the options in any order.
    data = th.PairedComparisons.from_results(frame)
    for one in (data, data.subset(labels[::-1])):
        assert th.paired.davidson(one, order=True).order == pytest.approx(found.order)


def test_home_advantage_is_refused_where_there_is_none_to_find():
    frame = league(4)
    with refused(DataError, "order_effect"):
        th.paired.davidson(frame[frame["FTR"] != "D"], order=True)
    with refused(DataError, "which option"):
        th.paired.davidson(
            th.PairedComparisons([[0, 2], [1, 0]], ties=[[0, 1], [1, 0]]), order=True
        )
    with refused(DataError, "240 comparisons", "order=True)"):
        th.paired.order_effect(frame)
    with refused(ArgumentError, "omit the argument `ties`"):
        th.paired.davidson(frame, [[0, 1], [1, 0]], order=True)
    two = frame[(frame["HomeTeam"] == "t0") & (frame["AwayTeam"] == "t1")]
    with refused(DataError, "'order'"):
        th.paired.davidson(two, order=True)


def test_davidson_in_closed_form():
    # Two options: three proportions, three free probabilities.
    found = th.paired.davidson(
        [[0, 12], [4, 0]], pd.DataFrame([[0, 6], [6, 0]], ["0", "1"], ["0", "1"])
    )
    assert found.weights.to_numpy() == pytest.approx([0.75, 0.25])
    assert found.tie == pytest.approx(6 / np.sqrt(48))
    assert (found.df, found.deviance) == (0, pytest.approx(0.0, abs=1e-10))
    assert "Tie parameter 0.866" in str(found)


def test_half_wins_count_ties_for_both_sides():
    data = th.paired.half_wins(
        pd.DataFrame([[0, 3], [1, 0]], ["a", "b"], ["a", "b"]), [[0, 0], [3, 0]]
    )
    assert data.counts.tolist() == [[0, 4.5], [2.5, 0]] and data.labels == ("a", "b")
    assert maximised(data=data).maximum_likelihood.weights()["a"] == pytest.approx(4.5 / 7)
    wins = [[0, 3], [1, 0]]
    for ties, sentence in [
        (np.zeros((3, 3)), "2 x 2 table"),
        ([[0, -1], [0, 0]], "counts >= 0 for the"),
        ([[0, 2], [1, 0]], "is 2 in one triangle and 1 in the other"),
        (pd.DataFrame([[0, 1], [1, 0]], ["a", "b"], ["a", "b"]), "for the labels of the data"),
        ([["x", 0], [0, 0]], "table of numbers"),
    ]:
        with pytest.raises(DataError, match=sentence):
            th.paired.half_wins(wins, ties)
    with refused(DataError, "There are no ties"):
        th.paired.davidson(wins, np.zeros((2, 2)))


@pytest.mark.fit
def test_the_bootstrap_over_respondents_refits_their_samples():
    respondents = [shared(name) for name in PORK]
    found = th.paired.bootstrap(respondents, samples=40, random_seed=3)
    again = th.paired.bootstrap(dict(enumerate(respondents)), samples=40, random_seed=3)
    pd.testing.assert_frame_equal(found.weights, again.weights)
    np.testing.assert_allclose(
        found.table["estimate"],
        maximised(data=total(PORK)).maximum_likelihood.weights(),
        atol=1e-10,
    )
    assert len(found.weights) == 40
    # The same samples, each fitted as a table of its own.
    times = spawn_generators(3, 1)[0].multinomial(10, np.full(10, 0.1), size=40)
    for row in range(5):
        counts = sum(
            k * respondent.counts for k, respondent in zip(times[row], respondents, strict=True)
        )
        with_zeros = maximised(
            data=th.PairedComparisons(counts, respondents[0].labels)
        ).maximum_likelihood.weights()
        np.testing.assert_allclose(found.weights.iloc[row], with_zeros, atol=1e-7)
    np.testing.assert_allclose(found.table["std_error"], found.weights.std(), atol=1e-12)
    np.testing.assert_allclose(found.table["low"], np.quantile(found.weights, 0.055, axis=0))
    assert "89 % of them" in str(found)
    wide = th.paired.bootstrap(respondents, samples=40, random_seed=3, ci=0.95)
    np.testing.assert_allclose(wide.table["high"], np.quantile(found.weights, 0.975, axis=0))
    assert "95 % of them" in str(wide)
    with refused(DataError, "two respondents; use"):
        th.paired.bootstrap(respondents[:1])
    with refused(ArgumentError, "samples", "got 1"):
        th.paired.bootstrap(respondents, samples=1)


@pytest.mark.fit
def test_the_parametric_bootstrap_has_the_standard_errors_of_maximum_likelihood():
    model = maximised()
    drawn = th.paired.parametric_bootstrap(model, 400, random_seed=1)
    # of 400 samples: 3.5 % each
    expected = model.maximum_likelihood.standard_errors()
    np.testing.assert_allclose(drawn.table["std_error"], expected, rtol=0.18)


def test_simulated_choices_keep_totals_and_probabilities():
    model = maximised(TREE)
    data = th.datasets.celebrities()
    drawn = th.paired.simulate(model, random_seed=1)
    assert drawn.labels == data.labels
    assert (drawn.counts + drawn.counts.T == data.counts + data.counts.T).all()
    many = th.paired.simulate(model, comparisons=400_000, random_seed=2)
    p = model.maximum_likelihood.residuals()["predicted"]
    # 36 binomial proportions: five standard errors.
    assert np.abs(many.proportions()["proportion"] - p).max() < 5 * np.sqrt(0.25 / 400_000)
    assert th.paired.simulate(model, 10, random_seed=1) == th.paired.simulate(
        model, 10, random_seed=1
    )
    for source, arguments, kind, sentence in [
        (
            "model",
            {"comparisons": 3},
            ArgumentError,
            "simulate requires EliminationByAspects fitted by maximum",
        ),
        (model, {"comparisons": 0}, ArgumentError, "`comparisons` must be an integer >= 1"),
        (maximised(data=th.paired.half_wins([[0, 3], [1, 0]], [[0, 1], [1, 0]])), {}, None, None),
    ]:
        if kind is None:
            assert th.paired.simulate(source).n_comparisons == 5
            continue
        with pytest.raises(kind, match=sentence):
            th.paired.simulate(source, **arguments)
    halves = maximised(data=th.PairedComparisons([[0, 1.5], [1, 0]], weights=True))
    with refused(DataError, "fractional counts"):
        th.paired.simulate(halves)
    with refused(DataError, "integer counts"):
        th.paired.parametric_bootstrap(halves)
    with refused(ArgumentError, "requires EliminationByAspects fitted"):
        th.paired.parametric_bootstrap(data)


ALWAYS = [[0, 9, 9], [0, 0, 3], [0, 2, 0]]  # the first option always wins


@pytest.mark.fit
def test_weights_without_a_maximum_are_warned_of_in_orders():
    with warned(EstimateWarning, "no maximum"):
        th.paired.order_effect(ALWAYS, [[0, 8, 9], [0, 0, 2], [0, 3, 0]])


def people_of_two_groups(same, seed):
    """Twelve people a group, each of whom answers every pair four times alike; of one worth, or of
    two."""
    rng = np.random.default_rng(seed)
    pairs = [("A", "B"), ("A", "C"), ("B", "C")]
    rows = []
    for who in range(24):
        worth = {"A": 1.0 if same else 3.0 if who % 2 else -3.0, "B": 0.0, "C": 0.0}
        for a, b in pairs:
            first = rng.random() < 1 / (1 + np.exp(worth[b] - worth[a]))
            rows += [(who, "fm"[who % 2], a, b, "first" if first else "second")] * 4
    table = pd.DataFrame(rows, columns=["respondent", "sex", "first", "second", "chosen"])
    return th.PairedComparisons.from_trials(table, respondent="respondent").by_group("sex")


@pytest.mark.long
@pytest.mark.fit  # for its time
def test_groups_of_people_are_tested_by_exchanging_people():
    table = th.paired.group_test(people_of_two_groups(False, 1), random_seed=2).table
    assert table.loc["group", "test"] == "permutation" and table.loc[
        "group", "p_value"
    ] == pytest.approx(1 / 40)
    again = th.paired.group_test(people_of_two_groups(False, 1), random_seed=2).table
    pd.testing.assert_frame_equal(table, again)
    p = [th.paired.group_test(people_of_two_groups(True, seed)).p_value for seed in range(20)]
    assert sum(value <= 0.05 for value in p) <= 5  # 1 expected; 6 or more once in 3,000 times
    groups = people_of_two_groups(True, 0)
    independent = [th.PairedComparisons(one.counts, one.labels) for one in groups.values()]
    assert th.paired.group_test(independent).table.loc["group", "test"] == "chi-square"


def test_a_group_keeps_its_people():
    groups = people_of_two_groups(True, 3)
    assert [len(one.respondents) for one in groups.values()] == [12, 12]
    one = groups["m"]
    assert set(one.people["sex"]) == {"m"} and list(one.people.index) == [
        str(name) for name in one.respondents
    ]
    total = sum(each.counts for each in one.by_respondent().values())
    np.testing.assert_array_equal(total, one.counts)
