"""The moves of the hierarchical logit: conditionals and trajectories against a naive joint density;
a joint test."""

import numpy as np
import pytest
from arviz_stats.base.array import array_stats
from helpers.naive.choice_models import hierarchical_log_joint
from scipy import stats

from thali._choice.logit_likelihood import EncodedTasks, choice_probabilities
from thali._choice.logits.hierarchical_moves import (
    accept_population_move,
    add_curvature,
    add_population_curvature,
    add_prior_curvature,
    sample_covariance,
    sample_mean,
    write_force,
    write_likelihood_slope,
    write_population_slope,
    write_trial_tastes,
)
from thali._choice.logits.hierarchical_sweep import (
    TasteDraws,
    TastePrior,
    build_problem,
    build_workspace,
    draw_start,
    initialise_state,
    run_sweeps,
)


def design(people=3, tasks=2, alternatives=3, p=2, seed=5):
    rng = np.random.default_rng(seed)
    n = people * tasks
    first_row = np.arange(n + 1) * alternatives
    chosen = first_row[:-1] + rng.integers(alternatives, size=n)
    return EncodedTasks(rng.normal(size=(n * alternatives, p)), first_row, chosen), np.arange(
        people + 1
    ) * tasks


def naive_tasks(problem):
    def task(t):
        first, last = problem.first_row[t], problem.first_row[t + 1]
        return problem.columns.T[first:last], problem.chosen_row[t] - first

    spans = zip(problem.first_task, problem.first_task[1:], strict=False)
    return [[task(t) for t in range(first, last)] for first, last in spans]


COVARIATES = np.array([[1.0, -1.0], [1.0, 0.3], [1.0, 0.7]])
SIGN = np.array([0.0, -1.0])


@pytest.fixture(scope="module")
def small():
    """A problem with a covariate and a signed taste, a state away from its start, and the naive
    joint density."""
    problem = build_problem(*design(), TastePrior(7.0, 0.8, 1.5), SIGN, COVARIATES)
    state, space = draw_start(problem, np.random.default_rng(1)), build_workspace(problem)
    initialise_state(problem, state, space)
    state.covariance[:] = [[1.3, 0.4], [0.4, 0.7]]
    state.precision[:] = np.linalg.inv(state.covariance)
    state.mean[1] = [0.2, -0.4]

    def joint(beta=state.beta, mean=state.mean, covariance=state.covariance):
        sds = np.array([1.5, 1.5])
        tasks = naive_tasks(problem)
        return hierarchical_log_joint(
            tasks, beta, mean, covariance, 7.0, 7.0 * 0.8, sds, COVARIATES, SIGN
        )

    return problem, state, space, joint


class Normals:
    """A stream of normals that are all 0 but for one of them."""

    def __init__(self, one=None):
        self.one, self.drawn = one, -1

    def standard_normal(self):
        self.drawn += 1
        return float(self.drawn == self.one)


def slopes_by_differences(function, x, step=1e-6):
    """The slope of a function of an array."""
    found = np.empty(x.size)
    for k in range(x.size):
        change = np.zeros(x.size)
        change[k] = step
        up, down = (function(x + way * change.reshape(x.shape)) for way in (1, -1))
        found[k] = (up - down) / (2 * step)
    return found.reshape(x.shape)


def test_people_move_along_the_slope_of_the_joint_density(small):
    problem, state, space, joint = small

    def joint_of(own):
        beta = state.beta.copy()
        beta[1] = own
        return joint(beta=beta)

    def log_density(own, slope):
        value = write_likelihood_slope(problem, space, own, 1, slope)
        return value + write_population_slope(problem, state, space, 1, own)

    slope = np.zeros(2)
    other = state.beta[1] + [0.7, -1.1]
    difference = log_density(other, slope) - log_density(state.beta[1].copy(), slope)
    assert difference == pytest.approx(joint_of(other) - joint(), rel=1e-12)
    wanted = slopes_by_differences(joint_of, state.beta[1].copy())
    assert slope + space.vector == pytest.approx(wanted, rel=1e-6)
    assert write_likelihood_slope(problem, space, state.beta[2], 2, slope) == pytest.approx(
        state.log_likelihood[2], rel=1e-12
    )


def test_the_curvature_of_a_person_is_that_of_the_likelihood(small):
    """In the tastes themselves; where one is signed its square root is multiplied with the slope of
    the exponential."""
    problem, state, space, _ = small
    own, curvature = state.beta[0], np.zeros((2, 2))
    add_curvature(problem, space, own, 0, curvature)
    tastes = np.array([own[0], -np.exp(own[1])])
    x = problem.columns.T[: problem.first_row[2]].reshape(2, 3, 2)
    p = np.exp(x @ tastes)
    p /= p.sum(axis=1, keepdims=True)
    plain = sum(x[t].T @ (np.diag(p[t]) - np.outer(p[t], p[t])) @ x[t] for t in range(2))
    wanted = np.diag([1.0, tastes[1]]) @ plain @ np.diag([1.0, tastes[1]])
    assert np.tril(curvature) == pytest.approx(np.tril(wanted), rel=1e-9)


def changed_from(at, place, k):
    """Tastes, mean and covariance after a change of everybody, from the state before, and the
    matrix of the change."""
    mean, c = place[:4].reshape(2, 2), place[4:]
    g = np.diag(np.exp(c)) if k == 2 else np.eye(2) + np.outer(c, np.eye(2)[k])
    beta, was, covariance = at[0], at[3], at[4]
    return COVARIATES @ mean + (beta - COVARIATES @ was) @ g.T, mean, g @ covariance @ g.T, g


@pytest.mark.parametrize("k", [0, 1, 2])
def test_everybody_moves_along_the_slope_of_the_joint_density(small, k):
    """With the Jacobians of the tastes and of the covariance: the change is one of coordinates."""
    problem, state, space, joint = small
    at = [array.copy() for array in state]

    def wanted(place):
        beta, mean, covariance, g = changed_from(at, place, k)
        return joint(beta, mean, covariance) + (3 + 2 + 1) * np.log(np.linalg.det(g))

    def found(place):
        space.place[:] = place
        space.off[:] = state.beta - COVARIATES @ state.mean
        return write_trial_tastes(problem, state, space, k) + write_force(problem, state, space, k)

    start = np.concatenate([state.mean.ravel(), np.zeros(2)])
    there, moving = start + np.array([0.3, -0.2, 0.1, 0.5, 0.4, -0.3]), np.arange(6) != 4 + k
    there[~moving] = 0.0
    assert found(there) - found(start) == pytest.approx(wanted(there) - wanted(start), rel=1e-9)
    found(there)
    assert space.force[moving] == pytest.approx(
        slopes_by_differences(wanted, there)[moving], rel=1e-5
    )
    assert (space.force[~moving] == 0.0).all()
    accept_population_move(problem, state, space, k)
    beta, mean, covariance, _ = changed_from(at, there, k)
    assert state.beta == pytest.approx(beta) and state.mean == pytest.approx(mean)
    assert state.covariance == pytest.approx(covariance)
    assert state.precision @ state.covariance == pytest.approx(np.eye(2), abs=1e-12)
    for array, before in zip(state, at, strict=True):
        array[:] = before


def test_the_metric_of_everybody_is_the_curvature_of_the_likelihood(small):
    """In M and c, where the change begins, less what comes from the slope itself."""
    problem, state, space, _ = small
    state.together_sum[:] = 0.0
    curvatures = np.zeros((3, 2, 2))
    for n in range(3):
        add_curvature(problem, space, state.beta[n], n, curvatures[n])
        add_population_curvature(problem, state, space, n, curvatures[n])
    added = state.together_sum.copy()
    for k in range(3):
        wanted = np.zeros((6, 6))
        for n in range(3):
            off = state.beta[n] - COVARIATES[n] @ state.mean
            jacobian = np.zeros((2, 6))
            for i in range(2):
                jacobian[i, [i, 2 + i, 4 + i]] = [*COVARIATES[n], off[i] if k == 2 else off[k]]
            wanted += (
                jacobian.T @ (np.tril(curvatures[n]) + np.tril(curvatures[n], -1).T) @ jacobian
            )
        assert np.tril(added[k]) == pytest.approx(np.tril(wanted))
    add_prior_curvature(problem, state)
    prior = (state.together_sum - added)[:, 4:, 4:]
    assert np.tril(prior[0]) == pytest.approx(np.tril(problem.scale * state.precision))
    assert not prior[2].any()
    state.together_sum[:] = 0.0


def test_large_utilities_neither_overflow_nor_vanish(small):
    problem, state, space, _ = small
    far, taste = np.array([3000.0, 7.0]), np.array([3000.0, -np.exp(7.0)])
    value = write_likelihood_slope(problem, space, far, 0, np.zeros(2))
    u = (problem.columns.T @ taste)[: problem.first_row[2]].reshape(2, 3)
    own = (problem.columns.T @ taste)[problem.chosen_row[:2]]
    assert np.isfinite(value) and value == pytest.approx((own - u.max(axis=1)).sum(), rel=1e-9)


def test_the_mean_is_drawn_from_its_conditional(small):
    """A normal: where the noise is 0 the joint density is flat, and its curvature is that of the
    noise's square."""
    problem, state, space, joint = small
    was = state.mean.copy()
    sample_mean(Normals(), problem, state, space)
    centre = state.mean.copy()
    noise = []
    for one in range(4):
        sample_mean(Normals(one), problem, state, space)
        noise.append((state.mean - centre).ravel())
    state.mean[:] = was
    precision = np.linalg.inv(np.array(noise).T @ np.array(noise))
    for change in np.random.default_rng(2).normal(size=(4, 4)):
        drop = joint(mean=centre) - joint(mean=centre + change.reshape(2, 2))
        assert drop == pytest.approx(0.5 * change @ precision @ change, rel=1e-9)


@pytest.mark.long
def test_the_covariance_is_drawn_from_its_conditional(small):
    """An inverse Wishart: the naive joint density names its scale, scipy the mean and variance of
    each entry."""
    problem, state, space, joint = small
    off = state.beta - problem.covariates @ state.mean
    scale, df = problem.scale * np.eye(2) + off.T @ off, 7.0 + 3
    other = np.array([[0.9, -0.3], [-0.3, 2.0]])
    prior = stats.invwishart(df, scale)
    assert joint(covariance=other) - joint() == pytest.approx(
        prior.logpdf(other) - prior.logpdf(state.covariance)
    )
    was = state.covariance.copy(), state.precision.copy()
    rng, draws = np.random.default_rng(2), []
    for _ in range(20_000):
        sample_covariance(rng, problem, state, space)
        draws.append(state.covariance[np.tril_indices(2)])
    assert state.precision @ state.covariance == pytest.approx(np.eye(2), abs=1e-9)
    state.covariance[:], state.precision[:] = was
    mean, variance = prior.mean()[np.tril_indices(2)], prior.var()[np.tril_indices(2)]
    draws = np.array(draws)
    assert np.abs((draws.mean(axis=0) - mean) / np.sqrt(variance / len(draws))).max() < 4
    # E[ln |Sigma|] = ln |scale| - sum of digamma((df - i)/2) - p ln 2
    from scipy.special import digamma, polygamma

    logs = np.log(draws[:, 0] * draws[:, 2] - draws[:, 1] ** 2)
    halves = (df - np.arange(2)) / 2
    wanted = np.log(np.linalg.det(scale)) - digamma(halves).sum() - 2 * np.log(2)
    assert abs(logs.mean() - wanted) < 4 * np.sqrt(polygamma(1, halves).sum() / len(logs))


@pytest.mark.first(2)
@pytest.mark.parametrize(
    ("sign", "covariates", "price"),
    [(None, None, -1), (SIGN, COVARIATES, -1), (SIGN, COVARIATES, 1)],
)
def test_sweeps_pass_the_joint_distribution_test(sign, covariates, price):
    """Sweeps and new choices in turn leave the prior (Geweke): no score beyond 4.5, a false alarm
    in 1e4."""
    df, scale, sd, p = 9.0, 0.7, 0.8, 2
    problem = build_problem(*design(), TastePrior(df, scale, sd), sign, covariates, price)
    state, space = draw_start(problem, np.random.default_rng(3)), build_workspace(problem)
    q, people = problem.covariates.shape[1], np.repeat(np.arange(3), 2)
    initialise_state(problem, state, space)
    state.log_step[:] = np.log(0.5)
    rng = np.random.default_rng(4)
    kept = TasteDraws(*map(np.empty, [(1, q, p), (1, p, p), (1, 3, p), (1,)]))
    starts, found, x = problem.first_row[:-1], [], problem.columns.T.reshape(-1, 3, p)
    for _ in range(3_000):
        run_sweeps(rng, problem, state, space, kept, 1, 3, 0, 10)
        taste = np.where(problem.sign == 0.0, state.beta, problem.sign * np.exp(state.beta))
        inner = np.where(problem.sign == 0.0, 1.0, taste)
        if price == 1:
            inner[:, 0] = -taste[:, 1]
            taste[:, 0] *= -taste[:, 1]
        utilities = (problem.columns.T * np.repeat(taste[people], 3, axis=0)).sum(axis=1)
        chosen = (utilities + rng.gumbel(size=len(utilities))).reshape(-1, 3).argmax(axis=1)
        problem.chosen_row[:] = starts + chosen
        prob = choice_probabilities(utilities, np.repeat(np.arange(6), 3))
        state.log_likelihood[:] = np.log(prob[problem.chosen_row]).reshape(3, 2).sum(axis=1)
        slope = x[np.arange(6), chosen] - (prob.reshape(-1, 3, 1) * x).sum(axis=1)
        slope = slope.reshape(3, 2, p).sum(axis=1)
        state.slope[:] = slope * inner
        if price == 1:
            state.slope[:, 1] = (slope * taste).sum(axis=1)
        (a, c), (_, b) = state.covariance
        mean, beta = state.mean, state.beta
        found.append(
            [*mean.ravel(), *(mean**2).ravel(), mean[0, 0] * mean[0, 1]]
            + [a, b, c, np.log(a * b - c * c), *np.diag(state.precision)]
            + [
                *beta.mean(axis=0),
                *(beta**2).mean(axis=0),
                (beta[0] * beta[1])[0],
                (beta[:, 0] * beta[:, 1]).mean(),
            ]
        )
    from scipy.special import digamma

    v = df * scale / (df - p - 1)
    log_det = p * np.log(df * scale) - digamma((df - np.arange(p)) / 2).sum() - p * np.log(2)
    z = problem.covariates
    of_beta = sd**2 * (z**2).sum(axis=1).mean() + v
    wanted = [0] * (q * p) + [sd**2] * (q * p) + [0, v, v, 0, log_det, 1 / scale, 1 / scale]
    wanted += [0, 0, of_beta, of_beta, sd**2 * z[0] @ z[1], 0]
    draws = np.array(found)
    errors = [float(array_stats.mcse(column[None, None], method="mean")[0]) for column in draws.T]
    scores = (draws.mean(axis=0) - wanted) / errors
    assert np.abs(scores).max() < 4.5, scores.round(1)
