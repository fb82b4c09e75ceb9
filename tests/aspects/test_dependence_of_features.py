"""People who judge pairs of objects more than once: scores and design effect by loops over people, and what is made."""

import numpy as np
import pandas as pd
import pytest
from helpers.dependence_attributes import dependence_of
from helpers.naive import latent_features as naive
from helpers.naive import respondent_scores as naive_scores
from helpers.plain_python import run_as_python
from helpers.sentences import refused
from scipy import sparse

import thali as th
from thali._aspects.models.point import feature_problem, probable_features, scores_of_features, weights_at_mode
from thali._model.dependence import clusters_of, effect_of
from thali.errors import ArgumentError, DataError
from thali.likelihoods import Additive, MostSimilarPair

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


# scores, mode and design effect -------------------------------------------------------------------------------------


CASES = {  # data, likelihood, prior of the weights
    "triplets": (odd_ones, MostSimilarPair(lapse=0.03), (1.0, 1.0)),
    "triplets, ratio": (odd_ones, MostSimilarPair("ratio", 0.03), (1.5, 0.7)),
    "similarities": (judged, Additive(), (1.0, 10.0)),
    "similarities, no constant": (judged, Additive(0.3, constant=False), (2.0, 5.0)),
    "similarities, a deviation": (lambda: judged(sigma="deviation"), Additive(), (1.0, 10.0)),
}


def by_hand(data, likelihood):
    """The log-likelihood of some data at weights, of which the last is the constant if there is one."""
    owners = OWNERS.T.astype(int)

    def value(point):
        if isinstance(data, th.Triplets):
            constant = {"constant": point[3]} if likelihood.link == "ratio" else {}
            how = {"link": likelihood.link, "lapse": likelihood.lapse}
            return naive.triplet_log_likelihood(data, owners, point[:3], **how, **constant)
        sigma = likelihood.fixed_sigma(data)
        return naive.additive_log_likelihood(data, owners, point[:3], point[3] if len(point) > 3 else 0.0, sigma)

    return value


def of_people(data, likelihood):
    """The data of everybody, whose mean similarities count as judgements of the whole."""
    if isinstance(data, th.Triplets):
        return list(data.by_respondent().values())
    judges = np.bincount(data.answers.pair, minlength=data.n_pairs)
    found = []
    for part in data.by_respondent().values():
        place = {pair: k for k, pair in enumerate(zip(data.first, data.second, strict=True))}
        rows = [place[pair] for pair in zip(part.first, part.second, strict=True)]
        share = (data.judgements / judges)[rows]
        fields = part.labels, part.first, part.second, part.values, share, likelihood.fixed_sigma(data), False, None
        found.append(th.Similarities._made_of(*fields))
    return found


def gradient(of, point, step=1e-5):
    steps = step * np.eye(len(point))
    return np.array([(of(point + each) - of(point - each)) / (2 * step) for each in steps])


@pytest.mark.fit  # for its time
@pytest.mark.parametrize("name", CASES)
def test_the_design_effect_is_that_of_a_loop_over_people(name):
    make, likelihood, (shape, rate) = CASES[name]
    data = make()
    pose, clusters = feature_problem(data, OWNERS, likelihood), clusters_of(data, False)
    point = weights_at_mode(pose, shape, rate)
    order = [OWNERS[np.unique(OWNERS, axis=0, return_index=True)[1]].tolist().index(row) for row in OWNERS.tolist()]
    own = np.append(point[order], point[3:])  # in the order of `OWNERS`
    whole = by_hand(data, likelihood)

    def log_posterior(logs):
        return whole(np.exp(logs)) + shape * logs.sum() - rate * np.exp(logs).sum()

    assert np.abs(gradient(log_posterior, np.log(own))).max() < 1e-3
    each = np.array([gradient(by_hand(part, likelihood), own) for part in of_people(data, likelihood)])
    np.testing.assert_allclose(each.sum(axis=0), gradient(whole, own), rtol=1e-4, atol=1e-3)
    places = [*order, *range(3, len(own))]
    tally, gradients = clusters.tally, pose.scores(sparse.eye_array(clusters.tally.shape[1], format="csr"), point)
    np.testing.assert_allclose((tally @ gradients)[:, places], each, rtol=1e-4, atol=1e-4)
    information = -pose.slopes(point).hessian
    # of a normal judgement, or a softmax, what is expected is the Hessian
    if likelihood in (Additive(), MostSimilarPair(lapse=0.0)):
        numeric = -np.array([gradient(lambda z, k=k: gradient(whole, z, 1e-3)[k], own, 1e-3) for k in range(4)])
        np.testing.assert_allclose(information[np.ix_(places, places)], numeric, rtol=1e-3, atol=1e-6)
    expected = pose.expected(tally, point).toarray()
    parts = np.array([(gradients.T * row) @ gradients for row in expected])
    np.testing.assert_allclose(parts.sum(axis=0), information, rtol=1e-6, atol=1e-9)
    z = naive_scores.adjusted_scores(information, parts, tally @ gradients)
    rank = np.linalg.matrix_rank(information, hermitian=True)
    found = scores_of_features(data, clusters, {"likelihood": likelihood, "weight_prior": (shape, rate)}, OWNERS)
    assert effect_of([found]) == pytest.approx((z**2).sum() / rank, rel=1e-4)


@pytest.mark.parametrize("link", ["exp", "ratio"])
def test_the_information_of_triplets_is_the_variance_of_the_score(link):
    """Over all answers that each set may get, by their probabilities."""
    data, likelihood = odd_ones(people=3, answers=4), MostSimilarPair(link, 0.05)
    pose = feature_problem(data, OWNERS, likelihood)
    weights = np.array([0.7, 1.3, 0.4, 0.6])[: pose.n_aspects]
    wanted, totals = np.zeros((pose.n_aspects, pose.n_aspects)), np.add.reduceat(data.counts, data.start[:-1])
    eye = np.eye(len(data.counts))
    for v, n in enumerate(totals):
        places = range(data.start[v], data.start[v + 1])
        logs = [lambda w, k=k: pose._replace(counts=eye[k]).value(w) for k in places]
        p = np.exp([each(weights) for each in logs])
        assert p.sum() == pytest.approx(1.0)
        wanted += n * sum(
            q * np.outer(g, g) for q, g in ((q, gradient(f, weights)) for q, f in zip(p, logs, strict=True))
        )
    np.testing.assert_allclose(-pose.slopes(weights).hessian, wanted, rtol=1e-5, atol=1e-8)


@pytest.mark.fit
def test_independent_judgements_have_a_design_effect_near_one():
    parts = {"likelihood": Additive(), "weight_prior": (1.0, 10.0)}
    found, more = (
        [
            effect_of([scores_of_features(data, clusters_of(data, False), parts, OWNERS)])
            for data in (judged(people=40, shape=shape, seed=seed) for seed in range(10))
        ]
        for shape in (None, 1.0)
    )
    # the mean of four ratios of a variance over 40 people, in which sigma is estimated
    assert abs(np.mean(found) - 1.0) < 5 * np.sqrt(2 / 39 / 4 / 10) and np.mean(more) > 2.0


# what is made of people, by default and as asked for -----------------------------------------------------------------


def once():
    return odd_ones(people=30, answers=1)


MADE = {  # data, what is asked for: what is made of people, by what
    "triplets": (odd_ones, None, (INDEPENDENT, "")),
    "triplets, asked": (odd_ones, "adjusted", (ADJUSTED, POWER)),
    "triplets, independent": (odd_ones, "independent", (INDEPENDENT, "")),
    "triplets, numbers with gaps": (lambda: odd_ones(respondent=lambda k: 7 * k + 3), "adjusted", (ADJUSTED, POWER)),
    "triplets, one answer each": (once, "adjusted", (INDEPENDENT, "")),
    "triplets, one person": (lambda: odd_ones(people=1), None, (INDEPENDENT, "")),
    "similarities": (judged, None, (INDEPENDENT, "")),
    "similarities, asked": (judged, "adjusted", (ADJUSTED, POWER)),
    "similarities, one person": (lambda: judged(people=1, missing=0.0), None, (INDEPENDENT, "")),
    "similarities, nobody known": (lambda: th.Similarities(np.eye(3)), None, None),
}


@pytest.mark.parametrize("name", MADE)
def test_what_is_made_of_people(name):
    make, people, expected = MADE[name]
    found = made_of(make(), OWNERS.T.astype(int) if "nobody" not in name else "ibp", people=people)
    assert (None if found is None else (found.model, found.by)) == expected
    if found is not None and found.most > 1.0 and found.number > 1:
        assert found.effect > 1.3 and found.number == (40 if "groups" in name else 20)


def test_people_are_refused_where_nobody_is_known_or_the_method_has_none():
    adjusted = th.AdditiveClustering(people="adjusted")
    with refused(DataError, "people='adjusted'"):
        adjusted.fit(odd_ones(people=1))
    with refused(DataError, "the respondent of each answer"):
        adjusted.fit(th.Similarities(np.eye(3)))
    with refused(ArgumentError, "people"):
        th.AdditiveClustering(people="many").fit(odd_ones())


@pytest.mark.fit
@pytest.mark.long
@pytest.mark.parametrize("data", [odd_ones(people=40, answers=60, shape=None), judged(people=40, shape=None)])
def test_features_that_nobody_gave_are_those_of_annealed_runs(data):
    parts = {"prior": th.priors.IndianBuffet(), "alpha": None, "tempering": None}
    if isinstance(data, th.Triplets):
        parts |= {"likelihood": MostSimilarPair(), "weight_prior": (1.0, 1.0)}
    else:
        parts |= {"likelihood": Additive(), "weight_prior": (1.0, 10.0 / np.abs(data.values).max())}
    found, again = (probable_features(data, parts) for _ in range(2))
    np.testing.assert_array_equal(found, again)
    assert {tuple(row) for row in OWNERS.tolist()} <= {tuple(row) for row in found.tolist()}
    assert made_of(data, "ibp").effect == pytest.approx(1.0, abs=5 * np.sqrt(2 / 39 / 4))


@pytest.mark.first(1)
@pytest.mark.fit
@pytest.mark.parametrize("make", [odd_ones, judged])
def test_the_convergence_check_says_it_and_a_report_has_it(make, uncompiled, tmp_path):
    features = OWNERS.T.astype(int)
    plain = th.AdditiveClustering(features).fit(make(), **RUN)
    assert "times too narrow" in str(plain.convergence())
    assert plain.findings()["independence"].good is False
    model = th.AdditiveClustering(features, people="adjusted").fit(make(), **RUN)
    seen = dependence_of(model)
    assert seen.by == POWER and "too narrow" not in str(model.convergence())
    found = model.findings()
    assert found["independence"].good is True and "design effect" in str(found["independence"].sentence)
    assert "power of one over" in " ".join(map(str, found["methods"].notes))
    assert (
        "independence" in th.AdditiveClustering(features, people=th.people.Individuals()).fit(make(), **RUN).findings()
    )
    model.save(tmp_path / "fit.nc")
    assert dependence_of(th.load(tmp_path / "fit.nc")) == seen


def made_of(data, features, **how):
    """What a fit of a few draws, whose kernel runs as Python, makes of people."""
    with run_as_python():
        return dependence_of(th.AdditiveClustering(features, **how).fit(data, **RUN | {"draws": 1, "tune": 0}))


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
