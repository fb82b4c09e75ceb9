"""The four estimators: exact maxima and posteriors of three objects, identities, and what must not
matter."""

import itertools
import math
import warnings

import numpy as np
import pandas as pd
import pytest
from helpers.additive_fits import tree_of_columns
from helpers.sentences import refused, said, warned
from helpers.similarity_columns import columns_of_sets, similarities_of
from scipy import stats

import thali as th
import thali._aspects.results.feature_set_search as set_search
from thali._aspects.results.feature_set_search import find_feature_sets, log_feature_gain
from thali.errors import ArgumentError, DataWarning, EstimateWarning
from thali.priors import FiniteFeatures, IndianBuffet

KINDS = EXPECTATION, *MAPS = "expectation", "map-features", "conditional-map", "joint-map"
SHARED = [(0, 1), (0, 2), (1, 2), (0, 1, 2)]
FIRST, SECOND = np.triu_indices(3, 1)
S3 = th.Similarities([[1.0, 0.8, 0.3], [0.8, 1.0, 0.45], [0.3, 0.45, 1.0]])


def similarities(matrix, labels=None):
    """Those above the diagonal, in both directions."""
    upper = np.triu(matrix, 1)
    return th.Similarities(upper + upper.T, labels)


def estimate(kind, columns, *, data, features="ibp", weight_prior, with_constant=True, **drawn):
    """One answer of a model that has drawn these features."""
    model = th.AdditiveClustering(features, weight_prior=weight_prior, constant=with_constant)
    model.posterior_ = tree_of_columns(columns, data, **drawn)
    return model.estimate(kind)


def posterior_draws(alpha, shape, rate, sigma, draws, rng, data=S3, kept=20_000):
    """Draws from the exact posterior of three objects: prior draws in the Poisson form, taken again
    by likelihood."""
    expected = [alpha / 6, alpha / 6, alpha / 6, alpha / 3]
    copies = rng.poisson(expected, (draws, 4))
    total = rng.gamma(np.maximum(copies * shape, 1e-300)) * (copies > 0) / rate
    constant = rng.gamma(shape, 1 / rate, draws)
    pairs = np.array(
        [[{i, j} <= set(owners) for i, j in zip(FIRST, SECOND, strict=True)] for owners in SHARED]
    )
    mu = constant[:, None] + total @ pairs
    log_l = -0.5 * ((mu - data.values) ** 2).sum(1) / sigma**2
    decisions = np.exp(log_l - log_l.max())
    taken = rng.choice(draws, kept, p=decisions / decisions.sum())
    features = []
    for draw in taken:
        features.append([])
        for owners, number, weight in zip(SHARED, copies[draw], total[draw], strict=True):
            shares = rng.dirichlet(np.full(number, shape)) if number else []
            features[-1] += [(owners, weight * share) for share in shares]
        features[-1] += [((int(i),), 0.1) for i in rng.integers(3, size=rng.poisson(alpha))]
        rng.shuffle(features[-1])
    effective = decisions.sum() ** 2 / (decisions**2).sum()
    return columns_of_sets(features, 3), constant[taken], effective


def settings(**changes):
    ibp = dict(constant=0.1, sigma=0.1, alpha=1.0, data=S3, features="ibp", weight_prior=(1.0, 1.0))
    return ibp | changes


@pytest.fixture(scope="module")
def exact():
    """E3b of the specification: sigma = .1, alpha = 1, Gamma(2, rate 4)."""
    columns, constant, effective = posterior_draws(
        1.0, 2.0, 4.0, 0.1, 300_000, np.random.default_rng(1)
    )
    return columns, settings(constant=constant, weight_prior=(2.0, 4.0)), effective


# log p([F], w, w0, S) at its maximum by the number of features, and the weights there. The last of
# them is the one before it and a feature of weight 0 with two owners, which adds log(alpha / 6 *
# rate)
MAXIMA = [
    ((1.0, 1.0), [-3.780727, 0.168347, -0.930265, -2.299525], {"01": 0.415}, 0.375),
    ((2.0, 4.0), [-3.213147, 1.484983, 0.810742, -0.390814], {"01": 0.408430}, 0.376054),
    ((1.0, 10.0), [-5.963142, -1.931483, -0.727510, -0.216685, 0.294141], {"01": 0.325}, 0.375),
]


@pytest.mark.parametrize(("weight_prior", "maxima", "weights", "constant"), MAXIMA)
def test_conditional_map_finds_the_known_maxima(weight_prior, maxima, weights, constant):
    for m, value in enumerate(maxima):
        draws = [
            [(owners, 0.1) for owners in state]
            for state in itertools.combinations_with_replacement(SHARED, m)
        ]
        given = settings(weight_prior=weight_prior)
        found = estimate("conditional-map", columns_of_sets(draws, 3), **given)
        assert found.log_joint == pytest.approx(value, abs=6e-7)
        if m == 1:
            assert {
                "".join(row.members): row.weight for row in found.features.itertuples()
            } == pytest.approx(weights, abs=6e-7)
            assert found.constant == pytest.approx(constant, abs=6e-7)


def test_equal_shares_where_a_feature_is_the_constant_again():
    draws = columns_of_sets([[((0, 1), 0.3), ((0, 1, 2), 0.1)]], 3)
    found = estimate("joint-map", draws, **settings(weight_prior=(2.0, 4.0)))
    assert found.weights == pytest.approx([0.397019, 0.194084], abs=6e-7)
    assert found.constant == pytest.approx(0.194084, abs=6e-7)


def test_the_empty_features_of_an_ill_posed_maximum_are_found_and_warned_of():
    draws = [
        [(owners, 0.1) for owners in state]
        for m in (2, 3)
        for state in itertools.combinations(SHARED, m)
    ]
    with warned(EstimateWarning, "by 3.33", "> 1"):
        found = estimate(
            "joint-map", columns_of_sets(draws, 3), **settings(weight_prior=(1.0, 10.0))
        )
    assert found.log_joint == pytest.approx(-0.216685, abs=6e-7)
    assert (
        len(found.weights) == 3
        and found.weights[2] == 0
        and found.features["members"][2] == ("0", "2")
    )


@pytest.mark.parametrize(
    ("n", "alpha", "weight_prior", "features", "warned"),
    [
        (16, 2.0, (1.0, 10.0), "ibp", True),
        (10, 0.5, (1.0, 10.0), "ibp", False),
        (16, 2.0, (2.0, 10.0), "ibp", False),
        (16, 2.0, (1.0, 10.0), [[1]] * 16, False),
    ],
)
def test_when_the_joint_maximum_is_ill_posed(n, alpha, weight_prior, features, warned):
    data = similarities(np.random.default_rng(1).random((n, n)))
    draws = columns_of_sets([[(range(n), 0.2)]], n)
    for kind in KINDS:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            estimate(
                kind,
                draws,
                **settings(data=data, alpha=alpha, weight_prior=weight_prior, features=features),
            )
        assert [each.category for each in caught] == [EstimateWarning] * (
            warned and kind == "joint-map"
        )
        assert all(each.filename == __file__ for each in caught)


@pytest.mark.fit
def test_map_features_finds_the_most_frequent_features(exact):
    columns, given, _ = exact
    found = estimate("map-features", columns, **given)
    assert found.features["members"].tolist() == [("0", "1")]
    assert found.weights == pytest.approx([0.408430], abs=6e-7)
    assert found.constant == pytest.approx(0.376054, abs=6e-7)
    assert found.log_joint == pytest.approx(1.484983, abs=6e-7)
    for kind in ("conditional-map", "joint-map"):
        assert estimate(kind, columns, **given).log_joint == pytest.approx(1.484983, abs=6e-7)


def test_expectation_agrees_with_the_exact_posterior(exact):
    columns, given, effective = exact
    found = estimate("expectation", columns, **given)
    sd = similarities_of(columns, given["constant"], FIRST, SECOND).std(axis=0)
    error = sd / math.sqrt(effective) + sd / math.sqrt(columns.n_draws)
    fitted = found.similarity.to_numpy()[FIRST, SECOND]
    assert (np.abs(fitted - [0.780056, 0.374416, 0.389989]) < 4.5 * error).all()
    assert abs(found.constant - 0.349703) < 4.5 * given["constant"].std() * (
        effective**-0.5 + columns.n_draws**-0.5
    )
    expected = {"01": 0.970404, "02": 0.012728, "12": 0.084431, "012": 0.114609}
    probability = {"".join(row.members): row.probability for row in found.features.itertuples()}
    for members, p in expected.items():
        spread = math.sqrt(p * (1 - p))
        assert abs(probability[members] - p) < 4.5 * spread * (
            effective**-0.5 + columns.n_draws**-0.5
        ), members
    table = found.features.set_index("members")
    both = table.loc[[("0", "1", "2")]].iloc[0]
    assert both.probability * both.weight == pytest.approx(0.023164, rel=0.1)


def test_copies_are_counted_once_and_their_weights_added():
    draws = [[((0, 1), 0.2), ((0, 1), 0.3)], [((0, 1), 0.1)], [], [((2,), 5.0)]]
    found = estimate("expectation", columns_of_sets(draws, 3), **settings())
    (row,) = found.features.itertuples()
    assert (row.members, row.probability, row.weight) == (("0", "1"), 0.5, pytest.approx(0.3))
    assert found.similarity.loc["0", "1"] == pytest.approx(0.6 / 4 + 0.1)


S20 = similarities(np.random.default_rng(8).random((20, 20)))


def test_the_expectation_lists_ten_features_or_all_frequent_ones():
    draws = [[((0, j), 0.1) for j in range(1, 16) if draw % j == 0] for draw in range(60)]
    found = estimate("expectation", columns_of_sets(draws, 20), **settings(data=S20))
    shares = found.features["probability"].to_numpy()
    assert len(shares) == 10 and (np.diff(shares) <= 0).all() and shares[0] == 1
    often = [[((i, j), 0.1) for i, j in itertools.combinations(range(6), 2)]]
    assert (
        len(estimate("expectation", columns_of_sets(often, 20), **settings(data=S20)).weights) == 15
    )


def brute_force(draws, data, prior, sigma, shape, rate, alpha, n):
    """log p(F, S) by brute quadrature over the constant and at most two weights."""
    x = np.linspace(0, 1.6, 81)[1:] - 0.01
    values = []
    for draw in draws:
        owners = [owners for owners, _ in draw]
        w = np.stack(np.meshgrid(*[x] * (len(owners) + 1), indexing="ij"), -1).reshape(
            -1, len(owners) + 1
        )
        mu = w[:, -1:] + np.zeros(3)
        for k, members in enumerate(owners):
            mu = mu + w[:, k : k + 1] * [
                {i, j} <= set(members) for i, j in zip(FIRST, SECOND, strict=True)
            ]
        log_p = (
            -0.5 * ((mu - data.values) ** 2).sum(1) / sigma**2
            - rate * w.sum(1)
            + (shape - 1) * np.log(w).sum(1)
        )
        log_p += w.shape[1] * (shape * math.log(rate) - math.lgamma(shape) + math.log(x[1] - x[0]))
        matrix = np.array([[i in members for members in owners] for i in range(n)]).reshape(n, -1)
        values.append(math.log(np.exp(log_p).sum()) + prior.log_prob_shared(matrix, alpha))
    return np.array(values)


@pytest.mark.fit
@pytest.mark.first(1)
@pytest.mark.parametrize(("features", "prior"), [("ibp", IndianBuffet()), (8, FiniteFeatures(8))])
@pytest.mark.parametrize(
    ("weight_prior", "alpha"), [((1.0, 10.0), 1.0), ((2.0, 4.0), 1.0), ((1.0, 10.0), 0.3)]
)
def test_features_of_which_none_is_frequent_are_ranked_by_their_probability(
    features, prior, weight_prior, alpha
):
    draws = [
        [(owners, 0.1) for owners in state]
        for m in range(3)
        for state in itertools.combinations(SHARED, m)
    ]
    given = settings(weight_prior=weight_prior, features=features, alpha=alpha)
    logs = brute_force(draws, S3, prior, 0.1, *weight_prior, alpha, 3)
    assert np.diff(np.sort(logs))[-1] > 0.1  # no near tie
    rng = np.random.default_rng(0)
    for _ in range(3):
        taken = rng.permutation(len(draws))
        found = estimate("map-features", columns_of_sets([draws[k] for k in taken], 3), **given)
        best = {tuple(map(str, owners)) for owners, _ in draws[int(np.argmax(logs))]}
        assert set(found.features["members"]) == best


def test_frequency_decides_where_there_is_any():
    rare, often = [((0, 1), 0.4)], [((0, 2), 0.1)]
    draws = columns_of_sets([rare] * 19 + [often] * 20, 3)
    assert estimate("map-features", draws, **settings()).features["members"].tolist() == [
        ("0", "2")
    ]
    draws = columns_of_sets([rare] * 18 + [often] * 19, 3)
    assert estimate("map-features", draws, **settings()).features["members"].tolist() == [
        ("0", "1")
    ]


def test_the_conditional_maximum_keeps_to_the_most_frequent_number():
    two = [((0, 2), 0.1), ((1, 2), 0.1)]
    draws = columns_of_sets([two] * 5 + [[((0, 1), 0.4)]] * 5 + [[]], 3)
    # of equals the smaller
    assert len(estimate("conditional-map", draws, **settings()).weights) == 1
    draws = columns_of_sets([two] * 6 + [[((0, 1), 0.4)]] * 5, 3)
    assert len(estimate("conditional-map", draws, **settings()).weights) == 2
    assert len(estimate("joint-map", draws, **settings()).weights) == 1


def problem(n=6, seed=3, draws=300, scale=1.0, patterns=8):
    rng = np.random.default_rng(seed)
    matrix = rng.gamma(3.0, 0.12, (n, n))
    matrix[0, 3] = matrix[2, 4] = np.nan
    patterns = [tuple(np.flatnonzero(rng.random(n) < 0.5)) for _ in range(patterns)]
    patterns = list(dict.fromkeys(each for each in patterns if each))
    sets = [
        [
            (patterns[k], scale * rng.gamma(2.0, 0.1))
            for k in rng.choice(len(patterns), rng.integers(5))
        ]
        for _ in range(draws)
    ]
    return (
        columns_of_sets(sets, n),
        sets,
        similarities(scale * matrix),
        scale * rng.gamma(2.0, 0.05, draws),
    )


@pytest.mark.parametrize("kind", KINDS)
def test_gain_is_the_likelihood_with_the_feature_over_that_without(kind):
    columns, _, data, constant = problem()
    given = settings(data=data, constant=constant, alpha=0.5)
    found = estimate(kind, columns, **given)
    fitted = found.similarity.to_numpy()[data.first, data.second]
    for row in found.features.itertuples():
        inside = np.isin(data.labels, row.members)
        pair = inside[data.first] & inside[data.second]
        without = fitted - pair * row.weight * getattr(row, "probability", 1.0)
        w = np.linspace(0, 3, 30_001)
        logs = -0.5 * ((data.values - without - w[:, None] * pair) ** 2).sum(1) / 0.01
        alone = -0.5 * ((data.values - without) ** 2).sum() / 0.01
        integral = np.trapezoid(np.exp(logs - alone - w), w)
        assert row.gain == pytest.approx(math.log(integral), abs=1e-5)
        assert row.gain == pytest.approx(
            float(
                log_feature_gain(pair.sum(), (data.values - without)[pair].sum(), 0.01, 1.0, 1.0)
            ),
            abs=1e-9,
        )


def test_variance_accounted_for_follows_its_definition():
    columns, _, data, constant = problem()
    found = estimate("expectation", columns, **settings(data=data, constant=constant))
    fitted = found.similarity.to_numpy()
    at = fitted[data.first, data.second]
    expected = 1 - ((data.values - at) ** 2).sum() / ((data.values - data.values.mean()) ** 2).sum()
    assert found.variance_accounted_for() == pytest.approx(expected, rel=1e-12)
    assert found.variance_accounted_for(data) == pytest.approx(expected, rel=1e-12)
    whole = np.random.default_rng(4).random((6, 6))
    whole = whole + whole.T
    first, second = np.triu_indices(6, 1)
    t, s = whole[first, second], fitted[first, second]
    expected = 1 - ((t - s) ** 2).sum() / ((t - t.mean()) ** 2).sum()
    assert found.variance_accounted_for(whole) == pytest.approx(expected, rel=1e-12)
    order = [3, 1, 5, 0, 2, 4]
    labels = [str(k) for k in order]
    frame = pd.DataFrame(whole[np.ix_(order, order)], index=labels, columns=labels)
    assert found.variance_accounted_for(frame) == pytest.approx(expected, rel=1e-12)
    moved = similarities(whole[np.ix_(order, order)], labels)
    assert found.variance_accounted_for(moved) == pytest.approx(expected, rel=1e-12)
    assert found.variance_accounted_for(fitted) == 1.0


def test_targets_that_do_not_fit():
    columns, _, data, constant = problem()
    found = estimate("expectation", columns, **settings(data=data, constant=constant))
    with refused(ArgumentError, "`target`", "6 labels for 5 objects"):
        found.variance_accounted_for(np.zeros((5, 5)))
    with refused(ArgumentError, "`target`", "symmetric"):
        found.variance_accounted_for(np.arange(36.0).reshape(6, 6))
    with refused(ArgumentError, "'0', '1', '2', '3', '4' and '5'", "got 'a' and 'b'"):
        found.variance_accounted_for(similarities(np.ones((2, 2)), ["a", "b"]))
    with pytest.warns(DataWarning, match="All similarities are equal") as caught:
        assert math.isnan(found.variance_accounted_for(np.ones((6, 6))))
    assert caught[0].filename == __file__
    with refused(ArgumentError, "'expectation'", "'map-features'", "got 'map'"):
        estimate("map", columns, **settings(data=data))


def test_equal_similarities_print_without_a_warning():
    data = similarities(np.full((3, 3), 0.4))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        text = str(estimate("expectation", columns_of_sets([[], []], 3), **settings(data=data)))
    said(text, "additive constant  0.1", "variance accounted for: undefined")


def test_the_printed_table_lists_members():
    matrix = np.random.default_rng(1).random((10, 10))
    draws = columns_of_sets(
        [[((2, 4, 8), 0.385), ((3, 6, 9), 0.326)]] * 7 + [[((3, 6, 9), 0.326)]] * 3, 10
    )
    found = estimate("expectation", draws, **settings(data=similarities(matrix), constant=0.075))
    lines = [line.split() for line in str(found).splitlines()]
    assert lines[0] == ["Estimate", "(expectation)"]
    assert lines[1] == ["additive", "constant", "0.075"]
    assert lines[3] == ["members", "probability", "weight", "gain"]
    assert lines[4][:5] == ["3,", "6,", "9", "1", "0.326"]
    assert lines[5][:5] == ["2,", "4,", "8", "0.7", "0.385"]
    assert repr(found) == str(found)


@pytest.mark.parametrize("kind", KINDS)
def test_a_learned_sigma_is_said(kind):
    columns, _, data, constant = problem()
    sigma = np.linspace(0.05, 0.2, 300)
    found = estimate(kind, columns, **settings(data=data, constant=constant, sigma=sigma))
    assert found.sigma == pytest.approx(math.sqrt((sigma**2).mean()))
    said = f"at sigma = {found.sigma:.3g} (square root of the posterior mean of sigma²)"
    assert str(found).endswith(said) == (kind != "expectation")
    fixed = estimate(kind, columns, **settings(data=data, constant=constant, sigma=found.sigma))
    np.testing.assert_allclose(fixed.weights, found.weights, rtol=1e-12)
    assert said not in str(fixed)


@pytest.mark.parametrize("kind", KINDS)
def test_estimates_without_a_constant_fix_it_at_zero(kind):
    columns, _, data, _ = problem()
    found = estimate(
        kind, columns, **settings(data=data, constant=np.nan, with_constant=False, alpha=0.5)
    )
    assert found.constant == 0 and "constant" not in str(found)
    total = np.zeros((6, 6))
    if kind != "expectation":
        for row in found.features.itertuples():
            inside = np.isin(data.labels, row.members)
            total += row.weight * np.outer(inside, inside)
        np.testing.assert_allclose(
            found.similarity.to_numpy()[np.triu_indices(6, 1)], total[np.triu_indices(6, 1)]
        )


@pytest.mark.parametrize("kind", KINDS)
def test_two_objects_and_no_features(kind):
    data = similarities(np.array([[0, 0.6], [0.6, 0]]))
    found = estimate(kind, columns_of_sets([[], [((0,), 1.0)]], 2), **settings(data=data))
    assert len(found.features) == 0 and found.weights.shape == (0,)
    # the most probable constant is .6 - rate sigma^2
    assert found.similarity.iloc[0, 1] == pytest.approx(0.1 if kind == "expectation" else 0.59)


def test_sets_of_more_objects_than_a_word_has_bits():
    n = 130
    draws = [
        [((0, 129), 0.1), ((0, 65), 0.1)],
        [((0, 65), 0.1), ((0, 129), 0.1)],
        [((0, 1), 0.1), ((0, 129), 0.1)],
    ]
    sets = find_feature_sets(columns_of_sets(draws, n), n)
    assert sorted(sets.counts.tolist()) == [1, 2]
    owned = {tuple(np.flatnonzero(row)) for row in sets.patterns}
    assert owned == {(0, 129), (0, 65), (0, 1)}
    both = sets.matrix(int(np.argmax(sets.counts)))
    assert sorted(tuple(np.flatnonzero(column)) for column in both.T) == [(0, 65), (0, 129)]


@pytest.mark.parametrize("kind", MAPS)
def test_given_features_get_their_weights(kind):
    matrix = np.array([[1, 1], [1, 1], [0, 1]])
    draws = columns_of_sets([[((0, 1), 0.3), ((0, 1, 2), 0.1)]] * 3, 3)
    found = estimate(kind, draws, **settings(features=matrix, weight_prior=(2.0, 4.0)))
    assert found.weights == pytest.approx([0.397019, 0.194084], abs=6e-7)
    assert np.isfinite(found.log_joint)


@pytest.mark.first(1)
@pytest.mark.fit
@pytest.mark.parametrize("integrated", [False, True])
@pytest.mark.parametrize("shape, judged", [(1.0, False), (2.5, False), (1.0, True)])
def test_the_sets_that_were_visited_with_the_best_weights_are_the_promising_ones(
    shape, judged, integrated
):
    columns, sets, data, constant = problem(draws=700, patterns=14)
    judgements = 1.0 + np.arange(len(data.values)) % 4 if judged else np.ones(len(data.values))
    found = find_feature_sets(columns, 6)
    prior, rate, sigma2 = IndianBuffet(), 2.0, 0.01
    case = set_search.FeatureSearchProblem(
        data.first,
        data.second,
        data.values,
        judgements,
        6,
        sigma2,
        0.5,
        prior,
        shape,
        rate,
        constant,
        with_constant=True,
    )
    fitted = similarities_of(columns, constant, data.first, data.second)
    best, of_weights = {}, stats.gamma(shape, scale=1 / rate)
    for draw, features in enumerate(sets):
        shared = [(owners, weight) for owners, weight in features if len(owners) > 1]
        score = -0.5 * (judgements * (data.values - fitted[draw]) ** 2).sum() / sigma2
        score += of_weights.logpdf([w for _, w in shared] + [constant[draw]]).sum()
        matrix = np.array([[i in owners for owners, _ in shared] for i in range(6)]).reshape(6, -1)
        score += prior.log_prob_shared(matrix, 0.5)
        if integrated:
            pairs = [
                sum(
                    number * ({i, j} <= set(owners))
                    for i, j, number in zip(data.first, data.second, judgements, strict=True)
                )
                for owners, _ in shared
            ]
            score += sum(0.5 * math.log(2 * math.pi * sigma2 / max(area, 1)) for area in pairs)
        key = tuple(sorted(owners for owners, _ in shared))
        best[key] = max(best.get(key, -math.inf), score)
    assert len(best) > 250
    chosen = set_search.select_promising_sets(found, case, np.arange(len(found.counts)), integrated)
    keys = [
        tuple(sorted(tuple(np.flatnonzero(c)) for c in found.matrix(number).T)) for number in chosen
    ]
    assert keys == sorted(best, key=lambda key: -best[key])[:200]
