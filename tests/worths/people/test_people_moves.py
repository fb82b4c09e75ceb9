"""Densities, slopes and Jacobians that the moves of a sweep use, against the joint density written
out."""

import numpy as np
import pytest
from helpers.naive.worths_of_people import compute_log_joint
from people_chains import set_state
from people_problems import build_study, build_table, draw_variables, list_answers, simulate_answers

import thali._worths.people.sampler_moves as moves
from thali._worths.people.chain import PeopleChain

CASES = {
    "pairs with ties": dict(
        rule="order", set_size=2, has_ties=True, lapse=0.05, q=1, n_directions=2
    ),
    "rankings": {"rule": "order", "set_size": 3, "depth": 2, "q": 2, "n_directions": 1},
    "best and worst": {"rule": "reversed", "set_size": 4, "lapse": 0.05, "q": 0, "n_directions": 0},
}


@pytest.fixture(params=CASES)
def problem(request):
    """Answers of three people who have not seen all options, variables, and a chain whose state
    they are."""
    settings, rng = dict(CASES[request.param]), np.random.default_rng(1)
    n_directions = settings.pop("n_directions")
    study = build_study(rng, n_people=3, n_options=6, n_sets=2, **settings)
    variables = draw_variables(rng, study, n_directions)
    study = simulate_answers(rng, study, variables.worths, np.log(variables.nu or 1.0))
    table = build_table(study)
    chain = PeopleChain(table, None, n_directions, 1, 1, 1, rng)
    set_state(chain, variables)
    evaluate_likelihood(table, chain.state)
    return study, variables, chain


def evaluate_likelihood(table, state):
    """Write the log-likelihood of each person at the state."""
    moves.evaluate_people(table, state, state.u, state.log_likelihood, np.empty(state.u.size))


def log_joint(study, variables, **settings):
    """Return the naive log joint density."""
    return compute_log_joint(
        list_answers(study), variables, study.x, study.rule, study.lapse, **settings
    )


def differentiate(function, place):
    """Return the slope of a function by central differences."""
    steps = 1e-5 * np.eye(place.size)
    return np.array([(function(place + step) - function(place - step)) / 2e-5 for step in steps])


def worths_of_table(table, u, worths):
    """Return log worths (N, n): those of options seen are the centred log worths u."""
    found = worths.copy()
    for p in range(len(worths)):
        seen = slice(table.first_option[p], table.first_option[p + 1])
        found[p, table.option[seen]] = u[seen]
    return found


def test_density_of_a_person(problem):
    """Directions are integrated out."""
    study, variables, chain = problem
    table, state, p = chain.table, chain.state, 1
    options = table.option[table.first_option[p] : table.first_option[p + 1]]
    m, K = len(options), len(variables.loadings)
    precision = np.empty((m, m))
    moves.write_precision(table, state, p, np.empty((m, K)), np.empty((K, K)), precision)
    centre = table.x[p] @ variables.population[:, options]
    target = moves.PersonTarget(table, p, state.nu[0], centre, precision, np.empty(1))

    def compute(place):
        return moves.evaluate(target, place, np.empty(m))

    def compute_naive(place):
        worths = variables.worths.copy()
        worths[p, options] = place
        return log_joint(study, variables._replace(worths=worths), has_directions=False)

    one, other = np.random.default_rng(2).normal(size=(2, m))
    assert compute(one) - compute(other) == pytest.approx(
        compute_naive(one) - compute_naive(other), abs=1e-10
    )
    slope = np.empty(m)
    moves.evaluate(target, one, slope)
    np.testing.assert_allclose(slope, differentiate(compute, one), atol=1e-7)


def test_density_of_all_together(problem):
    """Standardised deviations stay: the density is the joint one times the Jacobian sigma^(number
    of deviations)."""
    study, variables, chain = problem
    table, state = chain.table, chain.state
    u, log_likelihood = np.empty(state.u.size), np.empty(len(table.x))
    off = moves.combine_with_means(table, state, state.mean, -1.0, 1.0, state.u)
    target = moves.CommonTarget(table, state, off / variables.sigma, u, log_likelihood)
    rng, n_rows, size = np.random.default_rng(2), len(table.x[0]), state.mean.size

    def compute(place):
        return moves.evaluate(target, place, np.empty(size + 1))

    def compute_naive(place):
        compute(place)
        mean, sigma = place[:-1].reshape(state.mean.shape), np.exp(place[-1])
        parts = {"population": mean[:n_rows], "loadings": mean[n_rows:], "sigma": sigma}
        moved = variables._replace(worths=worths_of_table(table, u, variables.worths), **parts)
        return log_joint(study, moved) + moves.count_deviations(table) * place[-1]

    one, other = 0.7 * rng.normal(size=(2, size + 1))
    assert compute(one) - compute(other) == pytest.approx(
        compute_naive(one) - compute_naive(other), abs=1e-9
    )
    slope = np.empty(size + 1)
    moves.evaluate(target, one, slope)
    np.testing.assert_allclose(slope, differentiate(compute, one), atol=1e-6)
    place = np.append(state.mean.ravel(), np.log(variables.sigma))
    moves.evaluate(target, place, slope)
    np.testing.assert_allclose(u, state.u, atol=1e-12)


def test_density_of_a_walk(problem):
    study, variables, chain = problem
    table, state, rng = chain.table, chain.state, np.random.default_rng(2)
    n_rows, found, expected = len(table.x[0]), [], []
    for _ in range(2):
        mean, log_sigma = rng.normal(size=state.mean.shape), rng.normal()
        worths = rng.normal(size=variables.worths.shape)
        moved = variables._replace(
            population=mean[:n_rows], loadings=mean[n_rows:], sigma=np.exp(log_sigma), worths=worths
        )
        set_state(chain, moved._replace(s=variables.s))
        evaluate_likelihood(table, state)
        found.append(
            moves.joint_log_density(table, state, mean, log_sigma, state.u, state.log_likelihood)
        )
        expected.append(log_joint(study, moved))
    assert found[0] - found[1] == pytest.approx(expected[0] - expected[1], abs=1e-9)


def test_jacobian_of_a_walk(problem):
    """People are carried along by a map whose log Jacobian is that of differences, and back by its
    inverse."""
    _, variables, chain = problem
    table, state = chain.table, chain.state
    state.curvature[:] = np.concatenate(
        [np.eye(m).ravel() - 1.0 / m for m in np.diff(table.first_option)]  # of what has no level
    )
    for p in range(len(table.x)):
        moves.decompose_curvature(table, state, p)
    state.pull[:] = 0.1 * np.arange(state.pull.size)
    mean, log_sigma = 1.3 * state.mean, state.log_sds[moves.SIGMA] + 0.4
    last = table.first_option[1:] - 1
    is_free = ~np.isin(np.arange(state.u.size), last)
    person = np.repeat(np.arange(len(last)), np.diff(table.first_option))

    def carry(differences):
        state.u[:] = 0.0
        state.u[is_free] = differences
        u = np.empty(state.u.size)
        log_jacobian = moves.transport_people(table, state, mean, log_sigma, u)
        return (u - u[last][person])[is_free], log_jacobian

    place = np.random.default_rng(2).normal(size=is_free.sum())
    carried, log_jacobian = carry(place)
    columns = differentiate(lambda differences: carry(differences)[0], place)
    assert log_jacobian == pytest.approx(np.linalg.slogdet(columns)[1], abs=1e-7)
    old_mean, old_log_sigma = state.mean.copy(), state.log_sds[moves.SIGMA]
    state.mean[:], state.log_sds[moves.SIGMA] = mean, log_sigma
    mean, log_sigma = old_mean, old_log_sigma
    back, other_log_jacobian = carry(carried)
    np.testing.assert_allclose(back, place, atol=1e-10)
    assert other_log_jacobian == pytest.approx(-log_jacobian, abs=1e-10)
