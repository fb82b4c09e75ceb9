"""People who judge pairs of objects more than once: scores and design effect by loops over people,
and what is made."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from helpers.dependence_attributes import dependence_of
from helpers.naive import latent_features as naive
from helpers.naive import respondent_scores as naive_scores
from helpers.plain_python import run_as_python
from helpers.sentences import refused
from scipy.optimize import minimize

import thali as th
from thali._data.base_classes import build_from_fields
from thali.errors import ArgumentError, DataError
from thali.likelihoods import Additive

pytestmark = pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")
ADJUSTED, INDEPENDENT, POWER = "adjusted", "independent", "power"
OBJECTS = [f"o{k}" for k in range(6)]
OWNERS = np.array([[1, 1, 1, 0, 0, 0], [0, 0, 1, 1, 1, 0], [1, 0, 0, 0, 1, 1]], bool)
RUN = {"draws": 6, "tune": 2, "chains": 2, "thin": 1, "random_seed": 1, "progressbar": False}


def own_weights(rng, people, shape):
    """Everybody's weights of the three features, Gamma about 1."""
    return np.ones((people, 3)) if shape is None else rng.gamma(shape, 1 / shape, (people, 3))


def odd_ones(people=20, answers=15, shape=1.0, seed=0, respondent="p{}".format):
    rng, rows = np.random.default_rng(seed), []
    for person, own in enumerate(own_weights(rng, people, shape)):
        value = np.exp((OWNERS.T * 1.5 * own) @ OWNERS)
        for _ in range(answers):
            i, j, k = rng.choice(6, 3, replace=False)
            rest = np.array([value[j, k], value[i, k], value[i, j]])
            odd = (i, j, k)[rng.choice(3, p=rest / rest.sum())]
            rows.append((respondent(person), *(OBJECTS[x] for x in (i, j, k)), OBJECTS[odd]))
    frame = pd.DataFrame(rows, columns=["respondent", "object1", "object2", "object3", "odd"])
    return th.Triplets.from_frame(frame, respondent="respondent", labels=OBJECTS)


def judged(people=20, shape=1.0, seed=0, missing=0.1, **more):
    rng, found = np.random.default_rng(seed), {}
    first, second = np.triu_indices(6, 1)
    for person, own in enumerate(own_weights(rng, people, shape)):
        matrix = np.full((6, 6), np.nan)
        values = (0.1 + (OWNERS.T * 0.4 * own) @ OWNERS)[first, second] + 0.2 * rng.normal(size=15)
        values[rng.random(15) < missing] = np.nan
        matrix[first, second] = matrix[second, first] = values
        found[f"p{person}"] = pd.DataFrame(matrix, OBJECTS, OBJECTS)
    return th.Similarities.from_respondents(found, **more)


# scores, mode and design effect -------------------------------------------------------------------


CASES = {  # data, settings of the model, prior of the weights, weights and a constant
    "triplets": (odd_ones, {"lapse": 0.03}, (1.0, 1.0), 3),
    "triplets, ratio": (odd_ones, {"link": "ratio", "lapse": 0.03}, (1.5, 0.7), 4),
    "similarities": (judged, {}, (1.0, 10.0), 4),
    "similarities, no constant": (judged, {"sigma": 0.3, "constant": False}, (2.0, 5.0), 3),
    "similarities, a deviation": (lambda: judged(sigma="deviation"), {}, (1.0, 10.0), 4),
}


def by_hand(data, link="exp", lapse=0.0, sigma=None, constant=True):
    """The log-likelihood of some data at weights, of which the last is the constant if there is
    one."""
    owners = OWNERS.T.astype(int)

    def value(point):
        rest = point[3] if len(point) > 3 else 0.0
        if isinstance(data, th.Triplets):
            return naive.triplet_log_likelihood(data, owners, point[:3], link, rest, lapse)
        fixed = Additive(sigma, constant).fixed_sigma(data)
        return naive.additive_log_likelihood(data, owners, point[:3], rest, fixed)

    return value


def of_people(data, settings):
    """The data of everybody, whose mean similarities count as judgements of the whole."""
    if isinstance(data, th.Triplets):
        return list(data.by_respondent().values())
    judges = np.bincount(data.answers.pair, minlength=data.n_pairs)
    found = []
    for part in data.by_respondent().values():
        place = {pair: k for k, pair in enumerate(zip(data.first, data.second, strict=True))}
        rows = [place[pair] for pair in zip(part.first, part.second, strict=True)]
        share = (data.judgements / judges)[rows]
        sigma = Additive(settings.get("sigma")).fixed_sigma(data)
        found.append(
            build_from_fields(
                th.Similarities,
                part.labels,
                part.first,
                part.second,
                part.values,
                share,
                sigma,
                False,
                None,
            )
        )
    return found


def gradient(of, point, step=1e-5):
    steps = step * np.eye(len(point))
    return np.array([(of(point + each) - of(point - each)) / (2 * step) for each in steps])


def information(part, point, settings):
    """What the answers of a person are expected to say: of a normal judgement the Hessian."""
    if isinstance(part, th.Similarities):
        value = by_hand(part, **settings)
        return -np.array(
            [
                gradient(lambda z, k=k: gradient(value, z, 1e-3)[k], point, 1e-3)
                for k in range(len(point))
            ]
        )
    total, owners = np.zeros((len(point), len(point))), OWNERS.T.astype(int)
    for begin, end in pairwise(part.start):
        pairs = [
            (int(i), int(j))
            for i, j in zip(part.first[begin:end], part.second[begin:end], strict=True)
        ]

        def logs(w, pairs=pairs):
            how = settings.get("link", "exp"), w[3] if len(w) > 3 else 0.0, settings["lapse"]
            return np.log(naive.similar_pair_probabilities(pairs, owners, w[:3], *how))

        slopes = naive_scores.outcome_gradients(logs, point)
        total += part.counts[begin:end].sum() * (slopes.T * np.exp(logs(point))) @ slopes
    return total


@pytest.mark.first(1, "triplets, ratio")
@pytest.mark.fit  # for its time
@pytest.mark.parametrize("name", CASES)
def test_the_design_effect_is_that_of_a_loop_over_people(name):
    make, settings, (shape, rate), size = CASES[name]
    data = make()
    whole, parts = by_hand(data, **settings), of_people(data, settings)

    def loss(logs):
        weights = np.exp(logs)
        return rate * weights.sum() - shape * logs.sum() - whole(weights)

    point = np.exp(minimize(loss, np.full(size, -1.0), method="BFGS", options={"gtol": 1e-4}).x)
    each = np.array([gradient(by_hand(part, **settings), point) for part in parts])
    np.testing.assert_allclose(each.sum(axis=0), gradient(whole, point), rtol=1e-4, atol=1e-3)
    expected = np.array([information(part, point, settings) for part in parts])
    z = naive_scores.adjusted_scores(expected.sum(axis=0), expected, each)
    rank = np.linalg.matrix_rank(expected.sum(axis=0), hermitian=True)
    found = made_of(
        data, OWNERS.T.astype(int), weight_prior=(shape, rate), people="independent", **settings
    )
    assert found.effect == pytest.approx((z**2).sum() / rank, rel=1e-3)


# what is made of people, by default and as asked for ----------------------------------------------


def once():
    return odd_ones(people=30, answers=1)


MADE = {  # data, what is asked for: what is made of people, by what
    "triplets": (odd_ones, None, (INDEPENDENT, "")),
    "triplets, asked": (odd_ones, "adjusted", (ADJUSTED, POWER)),
    "triplets, independent": (odd_ones, "independent", (INDEPENDENT, "")),
    "triplets, numbers with gaps": (
        lambda: odd_ones(respondent=lambda k: 7 * k + 3),
        "adjusted",
        (ADJUSTED, POWER),
    ),
    "triplets, one answer each": (once, "adjusted", (INDEPENDENT, "")),
    "triplets, one person": (lambda: odd_ones(people=1), None, (INDEPENDENT, "")),
    "similarities": (judged, None, (INDEPENDENT, "")),
    "similarities, asked": (judged, "adjusted", (ADJUSTED, POWER)),
    "similarities, one person": (lambda: judged(people=1, missing=0.0), None, (INDEPENDENT, "")),
    "similarities, nobody known": (lambda: th.Similarities(np.eye(3)), None, None),
}


@pytest.mark.parametrize("name", MADE)
def test_repeated_judgements_are_treated_as_the_setting_asks(name):
    make, people, expected = MADE[name]
    found = made_of(make(), OWNERS.T.astype(int) if "nobody" not in name else "ibp", people=people)
    assert (None if found is None else (found.model, found.by)) == expected
    if found is not None and found.most > 1.0 and found.number > 1:
        assert found.effect > 1.3 and found.number == 20


def test_people_are_refused_where_nobody_is_known_or_the_method_has_none():
    adjusted = th.AdditiveClustering(people="adjusted")
    with refused(DataError, "people='adjusted'"):
        adjusted.fit(odd_ones(people=1))
    with refused(DataError, "which respondent gave each answer"):
        adjusted.fit(th.Similarities(np.eye(3)))
    with refused(ArgumentError, "people"):
        th.AdditiveClustering(people="many").fit(odd_ones())


@pytest.mark.fit
@pytest.mark.long
@pytest.mark.parametrize("data", [odd_ones(people=40, answers=60), judged(people=40, shape=None)])
def test_features_that_nobody_gave_are_those_of_annealed_runs(data):
    """Their design effect is that of the features by which the answers were made."""
    found, again = (made_of(data, "ibp").effect for _ in range(2))
    assert found == again == pytest.approx(effect_of_judges(data, OWNERS), rel=0.1)


@pytest.mark.first(1)
@pytest.mark.fit
@pytest.mark.parametrize("make", [odd_ones, judged])
def test_the_convergence_check_says_it_and_a_report_has_it(make, uncompiled, tmp_path):
    features = OWNERS.T.astype(int)
    plain = th.AdditiveClustering(features).fit(make(), **RUN)
    assert "too narrow by a factor" in str(plain.convergence())
    assert plain.findings()["independence"].good is False
    model = th.AdditiveClustering(features, people="adjusted").fit(make(), **RUN)
    seen = dependence_of(model)
    assert seen.by == POWER and "too narrow" not in str(model.convergence())
    found = model.findings()
    assert found["independence"].good is True and "design effect" in str(
        found["independence"].sentence
    )
    assert "power of one over" in " ".join(map(str, found["methods"].notes))
    model.save(tmp_path / "fit.nc")
    assert dependence_of(th.load(tmp_path / "fit.nc")) == seen


def made_of(data, features, **how):
    """What a fit of a few draws, whose kernel runs as Python, makes of people."""
    with run_as_python():
        return dependence_of(
            th.AdditiveClustering(features, **how).fit(data, **RUN | {"draws": 1, "tune": 0})
        )


def effect_of_judges(data, owners, **how):
    return made_of(data, owners.T.astype(bool), **how).effect


@pytest.mark.parametrize("shape", [None, 1.0])
def test_a_deviation_that_is_learned_has_the_design_effect_of_a_standard_error(shape):
    one = effect_of_judges(judged(shape=shape), OWNERS)
    other = effect_of_judges(judged(shape=shape, sigma="deviation"), OWNERS, sigma="learned")
    assert other == pytest.approx(one, rel=0.1)


def test_where_nothing_is_left_to_differ_in_nothing_is_adjusted():
    data = judged()
    assert effect_of_judges(data, np.zeros((0, 6)), people="adjusted") > 1.0  # that of the constant
    made = made_of(data, np.eye(6, dtype=bool), constant=False, people="adjusted")
    assert np.isnan(made.effect) and made.by == ""


def test_map_does_not_adjust():
    with refused(ArgumentError, "people='adjusted'", "method='mcmc'"):
        th.AdditiveClustering(method="map", people="adjusted").fit(judged())
