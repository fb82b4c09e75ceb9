r"""The steps of a sweep of the hierarchical logit: everybody's tastes, and the population that they
are drawn from.

The tastes of one person, by Hamiltonian Monte Carlo: a trajectory of a few leapfrog steps of length
e, in the metric of :math:`A = H_n + \Sigma^{-1} = C C^T`: with r ~ N(0, I),

.. math::
    r \leftarrow r + \tfrac e2 C^{-1} \nabla \ln \pi(\beta), \quad
    \beta \leftarrow \beta + e C^{-T} r, \quad
    r \leftarrow r + \tfrac e2 C^{-1} \nabla \ln \pi(\beta),

accepted with probability :math:`\min\{1, \pi(\beta') e^{-r'^2/2} / (\pi(\beta) e^{-r^2/2})\}`. It
is reversible, since H_n does not depend on beta, nor does e, which is drawn within a fifth of a
person's own step.

The population, that is the mean M and the covariance Sigma of tastes: two conditionals given all
tastes, and a Hamiltonian trajectory that takes everybody along, of M and of a change c of the
deviations :math:`\delta_n = \beta_n - M^T z_n`: of their scales, or of how they hang on one of
them, taste k,

.. math::
    M \to M', \quad \beta_n \to M'^T z_n + G \delta_n, \quad \Sigma \to G \Sigma G^T, \qquad
    G = \operatorname{diag}(e^c) \text{ or } G = I + c\, e_k^T, \; c_k = 0.

In both cases two changes one after the other add up, so that the measure dM dc does not depend on
where they begin, nor does a trajectory in these coordinates. The density is (Liu & Sabatti 2000)

.. math::
    \ln \pi(M, c) = \sum_n \ell_n(M^T z_n + G \delta_n) - \tfrac12 \sum_{rk} M_{rk}^2 / s_k^2
        - \nu \ln |G| - \tfrac S2 \operatorname{tr} (G \Sigma G^T)^{-1};

the Jacobians of the tastes and of Sigma, :math:`|G|^N` and :math:`|G|^{p+1}`, meet the normal
densities and the power of :math:`|\Sigma|` in the inverse Wishart density. With :math:`P =
\Sigma^{-1}` the trace is :math:`\sum_i P_{ii} e^{-2 c_i}` or :math:`\operatorname{tr} P - 2 (P c)_k
+ c^T P c`.
"""

import math
from typing import Any

import numpy as np

from thali._compile.jit import part, scalar
from thali._inference.numerics.cholesky import draw_normal, factorise, solve_lower, solve_upper
from thali._inference.numerics.trajectories import (
    ACCEPTANCE,
    compute_acceptance,
    dot,
    draw_step,
    drift,
    kick,
    sum_squares,
)

STEPS_ALONE = 2  # of a trajectory of one person
STEPS_TOGETHER = 3  # of one of all together


@part
def visit(
    rng: np.random.Generator, problem: Any, state: Any, space: Any, n: Any, gain: Any
) -> None:
    """One trajectory of the tastes of person n; during tuning its step follows the acceptance with
    this `gain`."""
    p = state.beta.shape[1]
    beta, slope, momentum = space.trial[n], space.trial_slope[n], space.momentum
    for i in range(p):
        for j in range(i + 1):
            both = state.heeded[n, i] * state.heeded[n, j]
            space.matrix[i, j] = both * state.curvature[n, i, j] + state.precision[i, j]
        momentum[i] = rng.standard_normal()
        beta[i], slope[i] = state.beta[n, i], state.slope[n, i]
    factorise(space.matrix, space.factor)
    step = draw_step(rng, math.exp(state.log_step[n]))
    energy = (
        0.5 * sum_squares(momentum)
        - state.log_likelihood[n]
        - population_slope(problem, state, space, n, beta)
    )
    kick_person(space, momentum, slope, 0.5 * step)
    log_likelihood = 0.0
    for passed in range(STEPS_ALONE):
        drift(space.factor, momentum, beta, space.vector, step)
        log_likelihood = slope_of(problem, state, space, beta, n, slope)
        density = population_slope(problem, state, space, n, beta)
        last = passed == STEPS_ALONE - 1
        kick_person(space, momentum, slope, 0.5 * step if last else step)
        if last:
            energy += log_likelihood + density - 0.5 * sum_squares(momentum)
    if energy > -rng.standard_exponential():
        for i in range(p):
            state.beta[n, i], state.slope[n, i] = beta[i], slope[i]
        state.log_likelihood[n] = log_likelihood
        if gain == 0.0:
            state.accepted[n] += 1
    if gain > 0.0:
        state.log_step[n] += gain * (compute_acceptance(energy) - ACCEPTANCE)


@scalar
def kick_person(space: Any, momentum: Any, slope: Any, length: Any) -> None:
    """Change the momenta of a person along the slopes of the likelihood and, in `space.vector`, of
    the population."""
    for i in range(momentum.size):
        space.vector[i] += slope[i]
    kick(space.factor, momentum, space.vector, length)


@scalar
def centre_of(problem: Any, mean: Any, n: Any, i: Any) -> Any:
    """What people with the covariates of person n have on average as taste i."""
    total = 0.0
    for r in range(problem.covariates.shape[1]):
        total += problem.covariates[n, r] * mean[r, i]
    return total


@scalar
def population_slope(problem: Any, state: Any, space: Any, n: Any, beta: Any) -> Any:
    """Log-density of tastes among people, without its constant; its slope goes into
    `space.vector`."""
    p = beta.size
    for i in range(p):
        space.taste[i] = centre_of(problem, state.mean, n, i) - beta[i]
    for i in range(p):
        space.vector[i] = dot(state.precision[i], space.taste)
    return -0.5 * dot(space.vector, space.taste)


@part
def slope_of(problem: Any, state: Any, space: Any, beta: Any, n: Any, slope: Any) -> Any:
    """Log-likelihood of the choices of person n; its slope in beta goes into `slope`."""
    total = 0.0
    write_tastes(problem, beta, space.taste)
    heed(state, n, space.taste)
    for i in range(beta.size):
        slope[i] = 0.0
    for t in range(problem.first_task[n], problem.first_task[n + 1]):
        total += probabilities_of_task(problem, space, t)
        first = problem.first_row[t]
        for row in range(first, problem.first_row[t + 1]):
            weight = -space.utility[row - first]
            if row == problem.chosen_row[t]:
                weight += 1.0
            for i in range(beta.size):
                slope[i] += weight * problem.matrix[row, i]
    in_normal(problem, space.taste, slope)
    heed(state, n, slope)
    return total


@scalar
def write_tastes(problem: Any, beta: Any, taste: Any) -> None:
    """The coefficients of utility of who attends to everything: beta, or its exponential with a
    sign.

    In willingness-to-pay space these are amounts but for that of the price, and what multiplies
    them is minus that.
    """
    for i in range(beta.size):
        taste[i] = beta[i] if problem.sign[i] == 0.0 else problem.sign[i] * math.exp(beta[i])
    if problem.price >= 0:
        for i in range(beta.size):
            if i != problem.price:
                taste[i] *= -taste[problem.price]


@scalar
def in_normal(problem: Any, taste: Any, slope: Any) -> None:
    """Make of the slope in the coefficients of utility, `taste`, that in beta."""
    of_price = dot(taste, slope) if problem.price >= 0 else 0.0
    for i in range(slope.size):
        if problem.sign[i] != 0.0:
            slope[i] *= taste[i]
        elif problem.price >= 0:
            slope[i] *= -taste[problem.price]
    if problem.price >= 0:
        slope[problem.price] = of_price


@scalar
def heed(state: Any, n: Any, vector: Any) -> None:
    """Make 0 of what belongs to coefficients that person n ignores."""
    for i in range(vector.size):
        if state.heeded[n, i] == 0.0:
            vector[i] = 0.0


@scalar
def probabilities_of_task(problem: Any, space: Any, t: Any) -> Any:
    """Write the probabilities of the alternatives of task t into `space.utility`; returns ln of
    that of the choice."""
    first, last = problem.first_row[t], problem.first_row[t + 1]
    top = -math.inf
    for row in range(first, last):
        u = dot(problem.matrix[row], space.taste)
        space.utility[row - first] = u
        top = max(top, u)
    own, total = space.utility[problem.chosen_row[t] - first] - top, 0.0
    for j in range(last - first):
        space.utility[j] = math.exp(space.utility[j] - top)
        total += space.utility[j]
    for j in range(last - first):
        space.utility[j] /= total
    return own - math.log(total)


@part
def add_curvature(problem: Any, state: Any, space: Any, beta: Any, n: Any, result: Any) -> None:
    r"""Add the expected negative second derivative of the log-likelihood of person n in beta.

    Where the person ignores a coefficient, it is that of a person of the same choices who does not.

    .. math::
        \sum_t D^T (\sum_j p_{tj} x_{tj} x_{tj}^T - \bar x_t \bar x_t^T) D, \qquad D = db/d\beta
    """
    p = beta.size
    write_tastes(problem, beta, space.taste)
    for i in range(p):
        space.momentum[i] = 1.0
    in_normal(problem, space.taste, space.momentum)
    heed(state, n, space.taste)
    if problem.price >= 0:  # the scale changes all coefficients: D has a full column
        space.momentum[problem.price] = 1.0
    for t in range(problem.first_task[n], problem.first_task[n + 1]):
        probabilities_of_task(problem, space, t)
        first = problem.first_row[t]
        for i in range(p):
            space.vector[i] = 0.0
        for row in range(first, problem.first_row[t + 1]):
            for i in range(p):
                space.vector[i] += space.utility[row - first] * problem.matrix[row, i]
        for row in range(first, problem.first_row[t + 1]):
            weight = space.utility[row - first]
            for i in range(p):
                space.lean[i] = problem.matrix[row, i] - space.vector[i]
            if problem.price >= 0:
                space.lean[problem.price] = dot(space.lean, space.taste)
            for i in range(p):
                off = weight * space.lean[i] * space.momentum[i]
                for j in range(i + 1):
                    result[i, j] += off * (space.lean[j] * space.momentum[j])


# The population: the mean M and the covariance Sigma of tastes ------------------------------------


@part
def draw_mean(rng: np.random.Generator, problem: Any, state: Any, space: Any) -> None:
    """M | beta, Sigma: normal of precision A = Z^T Z x Sigma^-1 + diag(1 / s^2) and mean A^-1 Z^T
    beta Sigma^-1."""
    people, p = state.beta.shape
    q = problem.covariates.shape[1]
    for r in range(q):
        for i in range(p):
            total = 0.0
            for n in range(people):
                total += problem.covariates[n, r] * state.beta[n, i]
            space.vector[i] = total
        for i in range(p):
            total = 0.0
            for j in range(p):
                total += state.precision[i, j] * space.vector[j]
            space.long[r * p + i] = total
        for other in range(r + 1):
            weight = 0.0
            for n in range(people):
                weight += problem.covariates[n, r] * problem.covariates[n, other]
            for i in range(p):
                for j in range(p):
                    space.wide[r * p + i, other * p + j] = weight * state.precision[i, j]
        for i in range(p):
            space.wide[r * p + i, r * p + i] += problem.mean_precision[i]
    factorise(space.wide, space.wide_factor)
    draw_normal(rng, space.wide_factor, space.long)
    for i in range(q * p):
        state.mean[i // p, i % p] = space.long[i]


@part
def draw_covariance(rng: np.random.Generator, problem: Any, state: Any, space: Any) -> None:
    """Sigma | beta, M: inverse Wishart of nu + N degrees of freedom and scale S I + sum (beta - M
    z)(beta - M z)^T."""
    # With the scale L L^T and Bartlett's lower triangle A of a Wishart matrix, Sigma^-1 = L^-T A
    # A^T L^-1 and Sigma = M M^T, M = L A^-T.
    people, p = state.beta.shape
    for i in range(p):
        for j in range(i + 1):
            space.matrix[i, j] = problem.scale if i == j else 0.0
    for n in range(people):
        for i in range(p):
            space.vector[i] = state.beta[n, i] - centre_of(problem, state.mean, n, i)
        for i in range(p):
            for j in range(i + 1):
                space.matrix[i, j] += space.vector[i] * space.vector[j]
    factorise(space.matrix, space.factor)
    for i in range(p):
        for j in range(p):
            space.bartlett[i, j] = rng.standard_normal() if j < i else 0.0
        space.bartlett[i, i] = math.sqrt(2.0 * rng.standard_gamma(0.5 * (problem.df + people - i)))
    for j in range(p):  # columns of L^-T A, kept as columns of `matrix`
        for i in range(p):
            space.vector[i] = space.bartlett[i, j]
        solve_upper(space.factor, space.vector)
        for i in range(p):
            space.matrix[i, j] = space.vector[i]
    product(space.matrix, state.precision)
    for i in range(p):  # rows of M: A^-1 times a row of L
        for j in range(p):
            space.vector[j] = space.factor[i, j] if j <= i else 0.0
        solve_lower(space.bartlett, space.vector)
        for j in range(p):
            space.matrix[i, j] = space.vector[j]
    product(space.matrix, state.covariance)


@scalar
def product(matrix: Any, result: Any) -> None:
    """Write matrix matrix^T into `result`."""
    for i in range(matrix.shape[0]):
        for j in range(i + 1):
            total = 0.0
            for k in range(matrix.shape[1]):
                total += matrix[i, k] * matrix[j, k]
            result[i, j] = total
            result[j, i] = total


@part
def prepare_moves(problem: Any, state: Any) -> None:
    """The metric C C^T of the moves of all together: the mean curvature of everybody's likelihood,
    and of the prior."""
    q, p = state.mean.shape
    size = (q + 1) * p
    for k in range(p + 1):
        root = state.root[k]
        for one in range(size):
            for two in range(one + 1):
                root[one, two] = state.together_sum[k, one, two] / state.evaluated[0]
                state.together_sum[k, one, two] = 0.0
        for i in range(p):
            for r in range(q):
                root[r * p + i, r * p + i] += problem.mean_precision[i]
            if k == p:
                root[q * p + i, q * p + i] += 2.0 * problem.df
        for two in range(size if k < p else 0):  # c_k does not move
            one = q * p + k
            root[max(one, two), min(one, two)] = 1.0 if one == two else 0.0
        factorise(root, root)


@part
def add_together(problem: Any, state: Any, space: Any, n: Any, curvature: Any) -> None:
    """Add the curvature of the likelihood of person n in M and c, for every k, given that in
    beta."""
    q, p = state.mean.shape
    for i in range(p):
        for r in range(q):
            space.weight[r, i] = problem.covariates[n, r]
        space.vector[i] = state.beta[n, i] - centre_of(problem, state.mean, n, i)
        for j in range(p):
            both = state.heeded[n, i] * state.heeded[n, j]
            space.matrix[i, j] = both * curvature[max(i, j), min(i, j)]
    for k in range(p + 1):
        for i in range(p):
            space.weight[q, i] = space.vector[k] if k < p else space.vector[i]
        for r in range(q + 1):
            for i in range(p):
                row = state.together_sum[k, r * p + i]
                for other in range(r + 1):
                    for j in range(p):
                        change = space.weight[r, i] * space.matrix[i, j] * space.weight[other, j]
                        if other * p + j <= r * p + i:
                            row[other * p + j] += change


@scalar
def add_together_prior(problem: Any, state: Any) -> None:
    """Add the curvature of the prior in c, for every k."""
    q, p = state.mean.shape
    for k in range(p):
        for i in range(p):
            row = state.together_sum[k, q * p + i]
            for j in range(i + 1):
                row[q * p + j] += problem.scale * state.precision[i, j]


@part
def move_together(
    rng: np.random.Generator, problem: Any, state: Any, space: Any, k: Any, gain: Any
) -> None:
    """One trajectory of M, all tastes, and c: of the deviation of taste k, or of the scales where k
    is p."""
    people, p = state.beta.shape
    q = problem.covariates.shape[1]
    size = (q + 1) * p
    energy = 0.0
    for one in range(size):
        space.place[one] = state.mean[one // p, one % p] if one < q * p else 0.0
        space.push[one] = rng.standard_normal() if one != q * p + k else 0.0
        energy += 0.5 * space.push[one] ** 2
    for n in range(people):
        energy -= state.log_likelihood[n]
        for i in range(p):
            space.off[n, i] = state.beta[n, i] - centre_of(problem, state.mean, n, i)
            space.trial_slope[n, i] = state.slope[n, i]
    step = draw_step(rng, math.exp(state.log_step[people]))
    energy -= write_force(problem, state, space, k)
    kick(state.root[k], space.push, space.force, 0.5 * step)
    for passed in range(STEPS_TOGETHER):
        drift(state.root[k], space.push, space.place, space.force, step)
        log_likelihood = follow(problem, state, space, k)
        prior = write_force(problem, state, space, k)
        last = passed == STEPS_TOGETHER - 1
        kick(state.root[k], space.push, space.force, 0.5 * step if last else step)
        if last:
            energy += log_likelihood + prior
    for one in range(size):
        energy -= 0.5 * space.push[one] ** 2
    if energy > -rng.standard_exponential():
        adopt(problem, state, space, k)
        if gain == 0.0:
            state.accepted[people] += 1
    if gain > 0.0:
        state.log_step[people] += gain * (compute_acceptance(energy) - ACCEPTANCE)


@scalar
def follow(problem: Any, state: Any, space: Any, k: Any) -> Any:
    """Everybody's tastes where M and c are, and their likelihood with its slope."""
    people, p = space.trial.shape
    q = problem.covariates.shape[1]
    change = space.place[q * p :]
    log_likelihood = 0.0
    for i in range(p):
        space.vector[i] = math.exp(change[i]) if k == p else 1.0
    for n in range(people):
        for i in range(p):
            total = space.vector[i] * space.off[n, i]
            if k < p:
                total += change[i] * space.off[n, k]
            for r in range(q):
                total += problem.covariates[n, r] * space.place[r * p + i]
            space.trial[n, i] = total
        space.trial_log_likelihood[n] = slope_of(
            problem, state, space, space.trial[n], n, space.trial_slope[n]
        )
        log_likelihood += space.trial_log_likelihood[n]
    return log_likelihood


@part
def write_force(problem: Any, state: Any, space: Any, k: Any) -> Any:
    """Log prior density of M and c, without its constant; the slope of the log posterior goes into
    `space.force`."""
    people, p = state.beta.shape
    q = problem.covariates.shape[1]
    log_prior = 0.0
    for r in range(q):
        for i in range(p):
            m = space.place[r * p + i]
            log_prior -= 0.5 * problem.mean_precision[i] * m * m
            space.force[r * p + i] = -problem.mean_precision[i] * m
    change, of_change = space.place[q * p :], space.force[q * p :]
    for i in range(p):
        if k == p:
            shrunk = problem.scale * state.precision[i, i] * math.exp(-2.0 * change[i])
            log_prior -= problem.df * change[i] + 0.5 * shrunk
            of_change[i] = shrunk - problem.df
            space.vector[i] = math.exp(change[i])
        else:
            bent = dot(state.precision[i], change)
            log_prior += problem.scale * change[i] * (state.precision[i, k] - 0.5 * bent)
            of_change[i] = problem.scale * (state.precision[i, k] - bent)
    for n in range(people):
        for i in range(p):
            slope = space.trial_slope[n, i]
            for r in range(q):
                space.force[r * p + i] += problem.covariates[n, r] * slope
            of_change[i] += slope * (
                space.vector[i] * space.off[n, i] if k == p else space.off[n, k]
            )
    if k < p:
        of_change[k] = 0.0
    return log_prior


@scalar
def adopt(problem: Any, state: Any, space: Any, k: Any) -> None:
    """Make the end of a trajectory the state: M, everybody's tastes, G Sigma G^T and its
    inverse."""
    people, p = state.beta.shape
    q = problem.covariates.shape[1]
    change = space.place[q * p :]
    for i in range(p):
        for r in range(q):
            state.mean[r, i] = space.place[r * p + i]
    if k == p:
        for i in range(p):
            for j in range(p):
                factor = math.exp(change[i] + change[j])
                state.covariance[i, j] *= factor
                state.precision[i, j] /= factor
    else:
        most = state.covariance[k, k]
        for i in range(p):
            space.taste[i] = state.covariance[i, k]
            # column k of P G^-1
            space.vector[i] = state.precision[i, k] - dot(state.precision[i], change)
        own = space.vector[k] - dot(change, space.vector)
        for i in range(p):
            state.precision[i, k], state.precision[k, i] = space.vector[i], space.vector[i]
            for j in range(p):
                more = (
                    change[i] * space.taste[j]
                    + change[j] * space.taste[i]
                    + change[i] * change[j] * most
                )
                state.covariance[i, j] += more
        state.precision[k, k] = own
    for n in range(people):
        for i in range(p):
            state.beta[n, i], state.slope[n, i] = space.trial[n, i], space.trial_slope[n, i]
        state.log_likelihood[n] = space.trial_log_likelihood[n]
