"""The samplers on choices from sets: exact posteriors, joint-distribution tests, real data,
recovery."""

import warnings

import numpy as np
import pytest
from helpers.all_drawn import all_drawn
from helpers.elimination_cases import copies, mean_and_error
from helpers.sentences import refused
from helpers.set_problems import TRIPLE, choices_of, random_choices

import thali as th
from thali import Choices
from thali.errors import ArgumentError, DataError, ThaliWarning


def fit(model, data, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ThaliWarning)
        return model.fit(data, **{"random_seed": 20, "progressbar": False, "tune": 200, **more})


def of_set(model, alternative, offered):
    posterior = model.posterior_["posterior"].dataset
    named = (posterior["alternative"] == alternative) & (posterior["offered"] == offered)
    return posterior["set_probability"].values[..., np.flatnonzero(named.values)[0]]


@pytest.mark.parametrize(
    "draws, precision", [(3_000, 0.03), pytest.param(40_000, 0.01, marks=pytest.mark.long)]
)
def test_the_exact_posterior_of_a_triple(draws, precision):
    """Six-dimensional quadrature of the specification, section 5."""
    data = choices_of(TRIPLE, list("123"))
    model = fit(th.EliminationByAspects(alpha=1.5), data, draws=draws, thin=5)
    constant = float(model.posterior_["constant_data"]["log_multinomial_coefficient"].sum())
    assert constant == pytest.approx(np.log(60 * 3 * 3), rel=1e-12)
    found = {
        0.4011305: of_set(model, "1", "1, 2, 3"),
        0.2968991: of_set(model, "2", "1, 2, 3"),
        0.5715035: of_set(model, "1", "1, 2"),
    }
    features = model.posterior_["latent_features"]["features"].values
    found[0.4465426] = ~((features.sum(-1) == 2).any(-1))
    found[0.3205528] = copies(all_drawn(model.posterior_), [0, 1])
    for expected, draws in found.items():
        mean, error = mean_and_error(draws)
        assert error < precision * expected
        assert abs(mean - expected) < 4.0 * error, (mean, expected, error)


def test_what_a_fit_says_about_sets():
    data = choices_of(TRIPLE, list("123"))
    model = fit(th.EliminationByAspects(), data, draws=300, chains=2)
    rows = model.summary().index.tolist()
    assert rows[:4] == ["n_features", "alpha", "log_likelihood", "set_probability[1 | 1, 2]"]
    assert rows[-1] == "set_probability[3 | 1, 2, 3]" and len(rows) == 3 + 9
    posterior = model.posterior_["posterior"].dataset
    by_hand = posterior["set_probability"].mean(("chain", "draw")).values
    assert np.concatenate(model.predict_proba(data)) == pytest.approx(by_hand, abs=1e-12)
    three, two = model.predict_proba([["3", "1", "2"], ["2", "1"]])
    assert three == pytest.approx(by_hand[[8, 6, 7]], abs=1e-12) and two == pytest.approx(
        by_hand[[1, 0]], abs=1e-12
    )
    assert model.predict_proba([("2", "1")]) == pytest.approx(by_hand[1], abs=1e-12)
    assert posterior["choice_probability"].values[..., 0] == pytest.approx(
        of_set(model, "1", "1, 2"), abs=1e-12
    )
    pointwise = model.posterior_["log_likelihood"]["chosen"].values.sum(-1)
    assert pointwise == pytest.approx(posterior["log_likelihood"].values, rel=1e-9)
    assert set(model.ranks().index) == set(model.unique_weights().index) == {"1", "2", "3"}
    check = model.check(random_seed=1)
    assert sorted(zip(check["alternative"], check["offered"], strict=True)) == sorted(
        (name, ", ".join(offered)) for offered in data.sets for name in offered
    )
    assert sorted(check["predicted"]) == pytest.approx(sorted(by_hand), abs=1e-12)
    with refused(ArgumentError, "'x'"):
        model.predict_proba([["1", "2", "x"]])
    with refused(ArgumentError, "'1'"):
        model.predict_proba([["1", "2", "1"]])
    with refused(ArgumentError, "got PairedComparisons"):
        model.predict_proba(th.PairedComparisons.from_pairs([("1", "2")]))
    assert np.array_equal(model.predict_proba([(1.0, 2)]), model.predict_proba([("1", "2")]))
    with refused(DataError, "got DataFrame"):
        th.EliminationByAspects().fit(data.to_frame())


def test_choices_between_pairs_are_fitted_as_pairs():
    pairs = th.PairedComparisons(
        [[0, 7, 9], [3, 0, 6], [1, 4, 0]], labels=["tea", "coffee", "milk"]
    )
    one = fit(th.EliminationByAspects(), pairs, draws=50)
    other = fit(th.EliminationByAspects(), Choices.from_comparisons(pairs), draws=50)
    assert all_drawn(one.posterior_).equals(all_drawn(other.posterior_))
    assert other.check()["n"].sum() == 30


def test_bad_sets():
    wide = choices_of({tuple(map(str, range(64))): [1] * 64}, list(map(str, range(64))))
    with refused(DataError, "63 options", "'0'", "64"):
        th.EliminationByAspects().fit(wide, progressbar=False)
    data = choices_of({("a", "b", "c"): (1, 1, 1)}, list("abc"))
    nested = {"a": ["x"], "b": ["x", "y"], "c": ["z"]}
    with refused(DataError, "'a'", "'b'"):
        th.EliminationByAspects(nested, unique=False, lapse=0.0).fit(data, progressbar=False)


def conditional_logit(data):
    """The greatest log-likelihood of a conditional logit with a constant for each option but the
    first."""
    from scipy.optimize import minimize

    def loss(free):
        constant = np.concatenate([[0.0], free])
        total, slope = 0.0, np.zeros(constant.size)
        for v in range(data.n_sets):
            members, counts = (
                a[data.start[v] : data.start[v + 1]] for a in (data.members, data.counts)
            )
            heavy = np.exp(constant[members])
            p = heavy / heavy.sum()
            total -= counts @ np.log(p)
            np.add.at(slope, members, counts.sum() * p - counts)
        return total, slope[1:]

    best = minimize(
        loss, np.zeros(data.n_options - 1), jac=True, method="BFGS", options={"gtol": 1e-9}
    )
    return -best.fun, np.concatenate([[0.0], best.x])


def elimination_with_unique_aspects(data, utilities):
    """The log-likelihood of elimination without shared aspects."""
    aspects, weights = {i: [i] for i in range(data.n_options)}, dict(enumerate(np.exp(utilities)))
    sets = np.split(data.members, data.start[1:-1])
    p = np.concatenate(
        [th.likelihoods.elimination_probabilities(each.tolist(), aspects, weights) for each in sets]
    )
    return float(data.counts @ np.log(p))


def greatest(data):
    from scipy.optimize import minimize

    def loss(free):
        return -elimination_with_unique_aspects(data, np.concatenate([[0.0], free]))

    best = minimize(
        loss,
        np.zeros(data.n_options - 1),
        method="Nelder-Mead",
        options={"xatol": 1e-10, "fatol": 1e-12},
    )
    best = minimize(loss, best.x, method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-12})
    return -best.fun


def test_unique_aspects_alone_are_a_conditional_logit_with_constants():
    data = random_choices(5, (2, 3, 4, 5), 3, most=9)
    logit, constants = conditional_logit(data)
    assert elimination_with_unique_aspects(data, constants) == pytest.approx(logit, abs=1e-9)
    assert greatest(data) == pytest.approx(logit, abs=1e-8)
