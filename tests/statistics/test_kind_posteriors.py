"""Kinds of people: a posterior that is known by quadrature, invariance of the moves, and their own
simulations."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from helpers.group_problems import contents, geweke, mean_and_error, means, small_chain
from helpers.joint_means import LIMIT
from helpers.kind_problems import (
    Asked,
    OfSets,
    answered,
    as_choices,
    drawn,
    likelihood_of,
    naive_log_likelihood,
    of_one_pair,
    random_answers,
    random_choices,
    random_judgements,
    random_tied_judgements,
    random_ties,
    task,
    with_kappa,
)
from helpers.log_evidences import log_evidence
from helpers.naive import latent_features as naive
from scipy.stats import chi2

import thali as th
import thali._aspects.moves.class_membership as moves
from thali._aspects.chain_state import replica
from thali._aspects.group_state import KAPPA, select_group_likelihood, select_membership
from thali._aspects.kernel_operations import rebuild_cache, select_cache
from thali._aspects.likelihoods.pair_blocks import TIE
from thali._aspects.likelihoods.pair_covariates import FIRST_COEFFICIENT
from thali._aspects.populations.latent_classes import (
    ClassGroupChain,
    ClassPriorLadder,
    sample_prior_classes,
)
from thali._aspects.samplers.evidence_chains import build_ladders
from thali._testing import exact

OF_PAIRS = random_answers, random_ties, random_judgements, random_tied_judgements
EVERY = (
    *(random_answers, random_tied_judgements, random_choices),
    *(pytest.param(make, marks=pytest.mark.long) for make in (random_ties, random_judgements)),
)
ERRORS = 4.5  # Monte Carlo errors that a mean may be off
# three people who compared two options: lapse .01, alpha 1, two kinds
THREE = ((5, 0), (4, 1), (0, 5))
LOG_Z, SAME = -8.61711213, {(0, 1): 0.92937953, (0, 2): 0.04783070, (1, 2): 0.09483747}


def enumerated(people, kinds, alpha=1.0, lapse=0.01, most=14):
    """log Z, the probability that two people are of the same kind, and the mean p of each person,
    by quadrature.

    Given the numbers of columns of single options, p is Beta in each kind, as weights are
    independent and exponential.
    """
    x, at = np.polynomial.legendre.leggauss(120)
    p, of_p = (1 + x) / 2, at / 2
    lapsed = (1 - lapse) * p + lapse / 2
    n = len(people)
    number = [math.exp(-alpha / 2) * (alpha / 2) ** k / math.factorial(k) for k in range(most)]
    total, same, chosen = 0.0, np.zeros((n, n)), np.zeros(n)
    for i, j in itertools.product(range(most), repeat=2):
        density = (
            of_p
            * p**i
            * (1 - p) ** j
            * math.gamma(i + j + 2)
            / (math.gamma(i + 1) * math.gamma(j + 1))
        )
        of_sets = {}
        for members in itertools.product((False, True), repeat=n):
            a, b = (
                sum(each[side] for each, member in zip(people, members, strict=True) if member)
                for side in (0, 1)
            )
            values = density * lapsed**a * (1 - lapsed) ** b
            of_sets[members] = values.sum(), (values * lapsed).sum()
        for z in itertools.product(range(kinds), repeat=n):
            sizes = np.bincount(z, minlength=kinds)
            of_z = (
                math.prod(map(math.factorial, sizes))
                * math.factorial(kinds - 1)
                / math.factorial(n + kinds - 1)
            )
            each = [of_sets[tuple(k == g for k in z)] for g in range(kinds)]
            part = number[i] * number[j] * of_z * math.prod(value for value, _ in each)
            total += part
            same += part * (np.array(z)[:, None] == np.array(z))
            chosen += part * np.array([each[g][1] / each[g][0] for g in z])
    return math.log(total), same / total, chosen / total


def test_the_known_values_are_those_of_quadrature():
    log_z, same, _ = enumerated(THREE, 2)
    assert log_z == pytest.approx(LOG_Z, abs=1e-7)
    assert [same[pair] for pair in SAME] == pytest.approx(list(SAME.values()), abs=1e-7)


@pytest.mark.parametrize(
    ("people", "kinds", "tempering", "draws"),
    [
        (THREE, 2, False, 3_000),
        (THREE, 2, (1.0, 3.0), 2_500),
        (((3, 0), (0, 3), (2, 2)), 3, False, 2_500),
        pytest.param(THREE, 2, False, 400_000, marks=pytest.mark.long),
        pytest.param(((3, 0), (0, 3), (2, 2)), 3, False, 400_000, marks=pytest.mark.long),
    ],
)
def test_posterior_means(people, kinds, tempering, draws):
    hold_against(
        people,
        kinds,
        task(of_one_pair(*people), kinds, alpha=1.0, draws=draws, tune=300, tempering=tempering),
    )


@pytest.mark.long
def test_posterior_means_of_choices_out_of_sets_of_two():
    data = as_choices(of_one_pair(*THREE))
    hold_against(THREE, 2, task(data, 2, OfSets(0.01), alpha=1.0, draws=60_000, tune=300))


# times first, second and neither, at a covariate
JUDGED = ((4, 0, 1, 1.0), (3, 1, 1, -1.0), (0, 4, 2, 1.0))


def same_kind_of_judged(tied, described, kinds=2, alpha=1.0, lapse=0.01, most=14):
    """The probability that two of `JUDGED` are of the same kind, by quadrature over p and nu of
    each kind, and beta."""
    x, at = np.polynomial.legendre.leggauss(80)
    p, of_p = (1 + x) / 2, at / 2
    nu, of_nu = np.polynomial.laguerre.laggauss(40) if tied else (np.zeros(1), np.ones(1))
    beta, of_beta = (
        np.polynomial.hermite_e.hermegauss(30) if described else (np.zeros(1), np.ones(1))
    )
    n, number = (
        len(JUDGED),
        [math.exp(-alpha / 2) * (alpha / 2) ** k / math.factorial(k) for k in range(most)],
    )
    own = np.ones((n, len(beta), len(p), len(nu)))
    for k, (first, second, neither, value) in enumerate(JUDGED):
        odds = p / (1 - p) * np.exp(value * beta[:, None])
        q = ((1 - lapse) * odds / (1 + odds) + lapse / 2)[..., None]
        r = nu * np.sqrt(q * (1 - q))
        own[k] = (
            q**first
            * (1 - q) ** second
            * (r**neither / (1 + r) ** (first + second + neither) if tied else 1.0)
        )
    ways = list(itertools.product(range(most), repeat=2))
    density = np.array(
        [
            number[i]
            * number[j]
            * of_p
            * p**i
            * (1 - p) ** j
            * math.gamma(i + j + 2)
            / (math.gamma(i + 1) * math.gamma(j + 1))
            for i, j in ways
        ]
    )  # of p, given the numbers of columns, times the probability of these numbers
    chance = density.sum(axis=1)
    given = density / chance[:, None]
    of_sets = {
        members: np.einsum("wp,bpv,v->bw", given, np.prod(own[list(members)], axis=0), of_nu)
        for members in itertools.product((False, True), repeat=n)
    }
    total, same = 0.0, np.zeros((n, n))
    for z in itertools.product(range(kinds), repeat=n):
        of_z = math.prod(map(math.factorial, np.bincount(z, minlength=kinds)))
        each = np.prod([of_sets[tuple(k == g for k in z)] for g in range(kinds)], axis=0)
        part = of_z * float(of_beta @ each @ chance)
        total += part
        same += part * (np.array(z)[:, None] == np.array(z))
    return same / total


@pytest.mark.long
@pytest.mark.parametrize(("tied", "described"), [(True, False), (False, True), (True, True)])
def test_posterior_means_with_ties_and_covariates(tied, described):
    rows = [
        (f"p{k}", "1", "2", chosen, value)
        for k, (first, second, neither, value) in enumerate(JUDGED)
        for chosen in ["1"] * first + ["2"] * second + ["tie"] * neither * tied
    ]
    frame = pd.DataFrame(rows, columns=["person", "first", "second", "chosen", "longer"])
    more = {"covariates": ["longer"]} if described else {}
    data = th.PairedComparisons.from_trials(
        frame, "first", "second", "chosen", respondent="person", **more
    )
    found = drawn(task(data, 2, likelihood_of(data), alpha=1.0, draws=60_000, tune=300))
    same = same_kind_of_judged(tied, described)
    for i, j in itertools.combinations(range(3), 2):
        mean, error = mean_and_error(found.classes[:, i] == found.classes[:, j])
        assert abs(mean - same[i, j]) < ERRORS * error


def hold_against(people, kinds, of_task):
    """The draws of a task are of the posterior that is known."""
    _, same, chosen = enumerated(people, kinds)
    found, draws = drawn(of_task), of_task.draws
    for i, j in itertools.combinations(range(len(people)), 2):
        mean, error = mean_and_error(found.classes[:, i] == found.classes[:, j])
        assert abs(mean - same[i, j]) < ERRORS * error
    draw, ends = np.repeat(np.arange(draws), found.n_features), np.cumsum(found.sizes)
    for k in range(len(people)):
        own = found.classes[:, k]
        sides = found.unique_weights[np.arange(draws), own].copy()
        weights = found.weights[np.arange(len(draw)), own[draw]]
        for i in range(2):
            alone = (found.sizes == 1) & (found.owners[ends - 1] == i)
            sides[:, i] += np.bincount(draw[alone], weights[alone], draws)
        mean, error = mean_and_error(0.99 * sides[:, 0] / sides.sum(axis=1) + 0.005)
        assert abs(mean - chosen[k]) < ERRORS * error


def at_rest(data, kinds, weights, of, kappa=math.nan):
    """A chain in plain Python with two columns, where people are of these kinds; and all that its
    moves take."""
    of_task = with_kappa(task(data, kinds, likelihood_of(data), alpha=1.5, weights=weights), kappa)
    rng = np.random.default_rng(3)
    matrix = np.array([[1, 0], [1, 1], [0, 1]])
    own = rng.gamma(2.0, 0.5, (kinds, matrix.shape[1])), rng.gamma(2.0, 0.5, (kinds, 3))
    chain = small_chain(of_task, matrix, *own, ClassGroupChain)
    who = select_membership(chain.membership, 0)
    who.of[:] = of
    who.size[:] = np.bincount(of, minlength=kinds)
    base = type(chain.bases)(*(array[0] for array in chain.bases))
    base.v[:2] = [0.6, 0.9] if weights == "similar" else 1.0
    for g in range(kinds):
        own = parameters_of(data, g)
        if "tie" in own:
            chain.cache.real[g, TIE] = own["tie"]
        if "beta" in own:
            chain.cache.real[g, FIRST_COEFFICIENT:] = own["beta"]
    moves.recount_answers(of_task.class_model, chain.cache, chain.state, who)
    for g in range(kinds):
        likelihood = select_group_likelihood(of_task.model.likelihood, g)
        rebuild_cache(likelihood, select_cache(likelihood, chain.cache, g), replica(chain.state, g))
    moves.fill_log_probabilities(of_task.class_model, chain.cache, chain.state, who)
    return of_task.class_model, (chain.state, chain.cache, base, who)


def parameters_of(data, g):
    """Parameters of kind g, that of ties and coefficients of covariates."""
    tie = {"tie": 0.5 + g} if isinstance(data, th.PairedComparisons) and data.n_ties else {}
    return tie | ({"beta": [0.7, -0.4]} if data.covariate_names else {})


def log_of_answers(data, parts, kinds, more=None):
    """The naive log-likelihood of all people, each under the weights of the own kind; P(z)
    included."""
    more = more or (lambda g: parameters_of(data, g))
    states, _, _, who = parts
    Z, w, s = contents(states)
    each = data.by_respondent()
    total = sum(math.lgamma(n + 1.0) for n in np.bincount(who.of, minlength=kinds))
    for name, g in zip(data.respondents, who.of, strict=True):
        total += naive_log_likelihood(each[name], Z[g].T.astype(bool), w[g], s[g], **more(g))
    return total


@pytest.mark.parametrize("make", EVERY)
@pytest.mark.parametrize("kinds", [2, 3])
def test_moves_of_a_person_leave_the_posterior_invariant(kinds, make):
    data = make(4, 3, 3, seed=2)
    model, start = at_rest(data, kinds, "free", [0, 1, 0, kinds - 1])

    def step(rng, parts):
        states, caches, _, who = parts
        for p in (2, 0, 3):
            moves.draw_respondent_class(rng, model, caches, states, who, p)

    error = exact.invariance_error(
        step,
        start,
        lambda parts: tuple(parts[3].of),
        lambda parts: log_of_answers(data, parts, kinds),
    )
    assert error < 1e-12


@pytest.mark.parametrize("make", OF_PAIRS)
def test_a_rebuild_finds_the_cache_of_answers_that_came_and_went(make):
    data = make(4, 3, 3, seed=2)
    model, (states, caches, _, who) = at_rest(data, 2, "free", [0, 1, 0, 1])
    for p, g in ((0, 1), (1, 0), (3, 0), (0, 0)):
        moves.assign_respondent(model, caches, who, p, g)
    names = "block", "real"
    kept = [getattr(caches, name).copy() for name in names]
    for g in range(2):
        likelihood = select_group_likelihood(model.groups.likelihood, g)
        rebuild_cache(likelihood, select_cache(likelihood, caches, g), replica(states, g))
    for before, name in zip(kept, names, strict=True):
        np.testing.assert_allclose(before, getattr(caches, name), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("make", EVERY)
@pytest.mark.parametrize(("weights", "kappa"), [("free", math.nan), ("similar", 2.0)])
def test_splits_and_merges_leave_the_posterior_invariant(weights, kappa, make):
    """Every normal draw is .7: weights of a kind that nobody is of are integrated out, those of one
    that has split off are a point, whose density under the proposal divides that under the
    prior."""
    data, number = make(3, 3, 3, seed=4), 0.7
    model, start = at_rest(data, 3, weights, [0, 0, 0], kappa)
    start[3].of[:], start[3].size[:] = 1, [0, 3, 0]
    moves.recount_answers(model, start[1], start[0], start[3])

    def log_target(parts):
        states, _, base, who = parts
        total = log_of_answers(data, parts, 3)
        if who.size[2] > 0:
            k, (_, w, s) = base.real[KAPPA], contents(states)
            own = model.groups.unique
            for value, mean in zip(
                [*w[2], *s[2][: 3 * own]],
                [*base.v[: len(w[2])], *base.unique[: 3 * own]],
                strict=True,
            ):
                total += (
                    k * math.log(k / mean)
                    - k * value / mean
                    + (k - 1.0) * math.log(value)
                    - math.lgamma(k)
                )
                step = moves.SPLIT_STEP / math.sqrt(k)
                total -= -0.5 * number**2 - math.log(math.sqrt(2.0 * math.pi) * step * value)
        return total

    def step(rng, parts):
        states, caches, base, who = parts
        moves.propose_class_split_or_merge(rng, model, caches, states, base, who, 1, 2)

    error = exact.invariance_error(
        step, start, lambda parts: tuple(parts[3].of), log_target, number
    )
    assert error < 1e-12


@pytest.mark.parametrize(
    ("make", "rounds"),
    [
        (random_answers, 700),
        pytest.param(random_answers, 40_000, marks=pytest.mark.long),
        *(pytest.param(make, 15_000, marks=pytest.mark.long) for make in OF_PAIRS[1:]),
        pytest.param(random_choices, 15_000, marks=pytest.mark.long),
    ],
)
@pytest.mark.parametrize(("kinds", "weights"), [(2, "free"), (3, "similar")])
def test_joint_distribution(kinds, weights, make, rounds):
    """Prior means, where sweeps and simulations of everybody's answers alternate."""
    lapse, people = 0.05, 5
    data = make(people, 4, 3, seed=kinds)
    of_task = task(data, kinds, likelihood_of(data, lapse), weights=weights)
    chain = ClassGroupChain(of_task, np.random.default_rng(77))
    same = 2.0 / (kinds + 1.0)
    expected = means(4, weights == "similar", unique=bool(of_task.model.unique))
    expected |= {"same": same, "far": same, "first": 1.0 / kinds, "of the first": people / kinds}
    has_ties, described = make in (random_ties, random_tied_judgements), bool(data.covariate_names)
    expected |= {"tie": 1.0, "tie^2": 2.0} if has_ties else {}
    expected |= {"coefficient": 0.0, "coefficient^2": 1.0, "other": 0.0} if described else {}
    asked = Asked(of_task, data)

    def more(chain):
        of = chain.membership.of[0]
        found = {
            "same": of[0] == of[1],
            "far": of[1] == of[4],
            "first": of[0] == 0,
            "of the first": (of == 0).sum(),
        }
        if not (has_ties or described):
            return found
        real = chain.cache.real
        if has_ties:
            found |= {"tie": real[0, TIE], "tie^2": real[-1, TIE] ** 2}
        if described:
            first, other = real[0, FIRST_COEFFICIENT], real[-1, FIRST_COEFFICIENT + 1]
            found |= {"coefficient": first, "coefficient^2": first**2, "other": other}
        return found

    def simulate(rng, chain):
        (Z, w, s), of = contents(chain.state), chain.membership.of[0]

        def probabilities(person, question, members):
            g = of[person]
            if len(members) > 2 or isinstance(data, th.Choices):
                return naive.set_probabilities(members, Z[g].T.astype(bool), w[g], s[g], lapse)
            real = chain.cache.real[g]
            eta = data.covariates.values[question] @ real[FIRST_COEFFICIENT:] if described else 0.0
            nu = real[TIE] if has_ties else 0.0
            win, tie, loss = naive.outcome_probabilities(
                *members, Z[g].T.astype(bool), w[g], s[g], lapse, nu, eta
            )
            return [win, loss, tie]

        of_task.people = asked.drawn(rng, probabilities)

    scores = geweke(chain, expected, rounds, simulate, more, sweeps=5)
    assert max(abs(z) for z in scores.values()) < LIMIT, scores


def test_one_kind_has_the_posterior_of_the_pooled_data():
    data = random_answers(4, 3, 8, seed=1)
    run = {
        "draws": 800,
        "tune": 300,
        "thin": 5,
        "chains": 2,
        "random_seed": 1,
        "progressbar": False,
    }
    each = [
        th.EliminationByAspects(alpha=1.0, people=people).fit(data, **run).posterior_
        for people in (th.people.LatentClasses(1), None)
    ]
    values = [tree["posterior"].dataset for tree in each]
    one, pooled = (
        [posterior["n_features"], *np.moveaxis(posterior["choice_probability"].values, 2, 0)]
        for posterior in values
    )
    for mine, theirs in zip(one, pooled, strict=True):
        (a, error_a), (b, error_b) = (mean_and_error(np.ravel(draws)) for draws in (mine, theirs))
        assert abs(a - b) < ERRORS * math.hypot(error_a, error_b)


def evidence_of(people, kinds, **run):
    """The log evidence of people who compared one pair, without coefficients."""
    data, model = (
        of_one_pair(*people),
        th.EliminationByAspects(alpha=1.0, people=th.people.LatentClasses(kinds)),
    )
    found = log_evidence(model, data, **run)
    return found, found.value - naive.log_coefficients_of_outcomes(data)


@pytest.mark.parametrize(
    ("people", "kinds", "run"),
    [
        pytest.param(THREE, 2, {"draws": 200, "tune": 50, "chains": 6}, marks=pytest.mark.long),
        pytest.param(THREE, 2, {"draws": 2000}, marks=pytest.mark.long),
        pytest.param(((3, 0), (0, 3), (2, 2)), 3, {"draws": 2000}, marks=pytest.mark.long),
        pytest.param(((3, 0), (2, 2)), 1, {"draws": 2000}, marks=pytest.mark.long),
    ],
)
def test_evidence(people, kinds, run):
    found, value = evidence_of(people, kinds, **run)
    assert found.usable and found.standard_error < (0.1 if run["draws"] < 1000 else 0.02)
    assert abs(value - enumerated(people, kinds)[0]) < ERRORS * found.standard_error


@pytest.mark.long
def test_evidence_of_one_kind_with_ties():
    """Six times the first, twice the second, four ties: -13.89223954 by quadrature."""
    rows = [
        (f"p{k % 3}", "1", "2", chosen)
        for k, chosen in enumerate(["1"] * 6 + ["2"] * 2 + ["tie"] * 4)
    ]
    data, model = (
        answered(rows),
        th.EliminationByAspects(alpha=1.0, people=th.people.LatentClasses(1)),
    )
    found = log_evidence(model, data, draws=600, chains=6)
    value = found.value - naive.log_coefficients_of_outcomes(data)
    assert found.usable and abs(value + 13.89223954) < ERRORS * found.standard_error < 0.1


def test_people_are_of_kinds_by_their_prior():
    """Sizes are uniform over all ways to divide people: P(z) is proportional to the product of
    n_g!."""
    rng = np.random.default_rng(2)
    sizes = np.array([sample_prior_classes(rng, 3, 2)[1][0] for _ in range(8_000)])
    times = np.bincount(sizes, minlength=4)
    assert ((times - 2_000.0) ** 2 / 2_000.0).sum() < chi2.isf(1e-5, 3)


@pytest.mark.parametrize(
    "make",
    [
        *(random_answers, random_choices),
        *(pytest.param(make, marks=pytest.mark.long) for make in OF_PAIRS[1:]),
    ],
)
def test_stored_log_likelihoods_are_those_of_everybodys_answers(make, uncompiled):
    """At every temperature, the prior's among them."""
    data = make(4, 3, 5, seed=1)
    of_task = task(data, 3, likelihood_of(data), thin=5, draws=2)
    (chain,) = build_ladders(of_task, np.array([1.0, 0.3, 0.0]), 1, 3, ClassPriorLadder)
    for until in (5, 10):
        chain.run_until(until)
        for t, energy in enumerate(chain.energies[until // 5 - 1]):
            level = chain.ladder.at[t]
            parts = (
                replica(chain.states, level),
                None,
                None,
                select_membership(chain.membership, level),
            )
            of_kinds = sum(math.lgamma(n + 1.0) for n in parts[3].size)

            def more(g, level=level):
                real = () if isinstance(data, th.Choices) else chain.caches.real[level, g]
                tie = (
                    {"tie": float(real[TIE])}
                    if make in (random_ties, random_tied_judgements)
                    else {}
                )
                return tie | ({"beta": real[FIRST_COEFFICIENT:]} if data.covariate_names else {})

            expected = log_of_answers(data, parts, 3, more) - of_kinds
            assert energy == pytest.approx(expected, rel=1e-9)
