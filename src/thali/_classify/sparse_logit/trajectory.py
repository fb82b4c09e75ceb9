r"""Hamiltonian trajectories of all coefficients, given the scales of their priors.

.. math:: U(\beta) = -\ln P(y \mid X, \beta) + \tfrac12 \sum_{kj} \beta_{kj}^2 / v_{kj}, \qquad
          \beta = S L^{-T} u, \quad L L^T = I + S H S, \quad S = \mathrm{diag}(\sqrt{v})

In u the posterior has about unit variances: H is the mean curvature of the log-likelihood while
tuning, and v the variances of the coefficients at the moment, which a trajectory leaves alone. The
sum of weighted squares that a Polya-Gamma draw replaces the likelihood by is narrower than the
likelihood, so that draws of one class at a time move slowly where the classes are far apart; a
trajectory follows the likelihood itself, all classes at once.

References: Neal (2011), MCMC using Hamiltonian dynamics, equations 5.15 and 5.33.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from thali._compile.jit import part, scalar, vectorised

# Draws of regression coefficients from their Normal conditional, given Gaussian pseudo-observations
#
# The precision is :math:`X^T\Omega X + D^{-1}` and its product with the mean :math:`X^T p`, with a
# diagonal Omega and D. Both methods factor a matrix I + S G S, whose eigenvalues are 1 or more:
# tiny and huge variances do no harm.


@vectorised
def inner(A: Any, i: Any, B: Any, j: Any, n: Any) -> Any:
    """Sum over l < n of A[i, l] B[j, l]."""
    total = 0.0
    for place in range(n):
        total += A[i, place] * B[j, place]
    return total


@vectorised
def applied(A: Any, i: Any, v: Any, n: Any) -> Any:
    """Sum over l < n of A[i, l] v[l]."""
    total = 0.0
    for place in range(n):
        total += A[i, place] * v[place]
    return total


@scalar
def draw_tall(
    rng: Any,
    A: Any,
    weights: Any,
    pull: Any,
    variances: Any,
    scaled: Any,
    G: Any,
    right: Any,
    out: Any,
) -> None:
    """A draw of the coefficients into `out` by a factorisation with a row for each of them.

    A : (m, n) covariates, one row a covariate. weights : (n,) the diagonal of Omega. pull : (n,) p.
    variances : (m,) the diagonal of D. scaled, G, right : room of shapes (m, n), (m, m), (m,).
    """
    m, n = A.shape
    _weighted_gram(A, weights, scaled, G)
    for j in range(m):
        right[j] = math.sqrt(variances[j])
    factor(G, right)
    for j in range(m):
        out[j] = right[j] * applied(A, j, pull, n)
    forward(G, out)
    for j in range(m):
        out[j] += rng.standard_normal()
    backward(G, out)
    for j in range(m):
        out[j] *= right[j]


@scalar
def draw_wide(
    rng: Any,
    A: Any,
    weights: Any,
    pull: Any,
    variances: Any,
    scaled: Any,
    G: Any,
    right: Any,
    out: Any,
) -> None:
    """The same for more coefficients than observations, with a row of the factorisation for each
    observation.

    A : (n, m) covariates, one row an observation. scaled, G, right : room of shapes (n, m), (n, n),
    (n,).

    References: Bhattacharya, Chakraborty & Mallick (2016), Fast sampling with Gaussian scale
    mixture priors in high-dimensional regression, algorithm 1.
    """
    n, m = A.shape
    _weighted_gram(A, variances, scaled, G)
    for i in range(n):
        right[i] = math.sqrt(weights[i])
    factor(G, right)
    for j in range(m):
        out[j] = math.sqrt(variances[j]) * rng.standard_normal()
    for i in range(n):
        root = math.sqrt(weights[i])
        right[i] = pull[i] / root - root * applied(A, i, out, m) - rng.standard_normal()
    forward(G, right)
    backward(G, right)
    for i in range(n):
        step = math.sqrt(weights[i]) * right[i]
        for j in range(m):
            out[j] += step * scaled[i, j]


@scalar
def _weighted_gram(A: Any, diagonal: Any, scaled: Any, G: Any) -> None:
    """The lower triangle of A diag A^T into G, and A diag into `scaled`."""
    m, n = A.shape
    for i in range(m):
        for place in range(n):
            scaled[i, place] = A[i, place] * diagonal[place]
        for j in range(i + 1):
            G[i, j] = inner(scaled, i, A, j, n)


@scalar
def factor(G: Any, scale: Any) -> None:
    """The Cholesky factor of I + S G S in place of the lower triangle of G, S the diagonal matrix
    of `scale`."""
    for i in range(G.shape[0]):
        for j in range(i):
            G[i, j] = (scale[i] * scale[j] * G[i, j] - inner(G, i, G, j, j)) / G[j, j]
        G[i, i] = math.sqrt(max(1.0, 1.0 + scale[i] * scale[i] * G[i, i] - inner(G, i, G, i, i)))


@scalar
def forward(L: Any, b: Any) -> None:
    """Solve L x = b in place."""
    for i in range(b.size):
        b[i] = (b[i] - applied(L, i, b, i)) / L[i, i]


@scalar
def backward(L: Any, b: Any) -> None:
    """Solve L^T x = b in place."""
    for i in range(b.size - 1, -1, -1):
        b[i] /= L[i, i]
        for j in range(i):
            b[j] -= L[i, j] * b[i]


LOG_STEP, AVERAGE, TIME, CURVATURES = range(4)  # places in `Motion.real`
_LENGTH = 3.0  # longest trajectory, in posterior standard deviations
_MAX_STEPS = 50
_TARGET = 0.8  # mean acceptance probability while tuning
_CURVATURES = 50  # of which the mean is taken while tuning
ALONE = 5  # sweeps of tuning before the first trajectory, which come near the posterior


class TrajectorySpace(NamedTuple):
    """Work space of trajectories, for D coefficients of all q classes but the reference."""

    real: np.ndarray  # (4,) ln step, its mean, steps of adaptation, curvatures seen
    curvature: np.ndarray  # (D, D) lower triangle
    factor: np.ndarray  # (D, D)
    root: np.ndarray  # (D,) S
    coef: np.ndarray  # (D,)
    slope: np.ndarray  # (D,) of U
    momentum: np.ndarray  # (D,)
    velocity: np.ndarray  # (D,)
    linear: np.ndarray  # (K, n)
    residual: np.ndarray  # (K, n)


def motion_of(classes: int, m: int, n: int) -> TrajectorySpace:
    """Room for m coefficients a class and n rows; none where they are 0."""
    D = (classes - 1) * m
    real = np.zeros(4)
    real[LOG_STEP] = math.log(0.5)
    return TrajectorySpace(
        real=real,
        curvature=np.zeros((D, D)),
        factor=np.zeros((D, D)),
        root=np.zeros(D),
        coef=np.zeros(D),
        slope=np.zeros(D),
        momentum=np.zeros(D),
        velocity=np.zeros(D),
        linear=np.zeros((classes, n)),
        residual=np.zeros((classes, n)),
    )


@part
def draw_along_trajectory(rng: np.random.Generator, problem: Any, state: Any, motion: Any) -> Any:
    """Move all coefficients; returns the probability of accepting."""
    m, D = state.coef.shape[1], motion.root.size
    _gather(problem, state, motion)
    for a in range(D):
        for b in range(a + 1):
            motion.factor[a, b] = motion.curvature[a, b]
    factor(motion.factor, motion.root)
    energy = potential(problem, state, motion)
    for d in range(D):
        motion.momentum[d] = rng.standard_normal()
        energy += 0.5 * motion.momentum[d] * motion.momentum[d]
    step = math.exp(motion.real[LOG_STEP])
    ahead = leapfrog(
        problem, state, motion, step, 1 + int(min(_LENGTH / step, _MAX_STEPS - 1.0) * rng.random())
    )
    for d in range(D):
        ahead += 0.5 * motion.momentum[d] * motion.momentum[d]
    probability = math.exp(min(energy - ahead, 0.0)) if ahead < math.inf else 0.0
    if rng.random() < probability:
        place = 0
        for k in range(problem.classes):
            if k != problem.reference:
                for i in range(state.linear.shape[1]):
                    state.linear[k, i] = motion.linear[k, i]
                for j in range(m):
                    state.coef[k, j] = motion.coef[place + j]
                place += m
    return probability


@scalar
def _gather(problem: Any, state: Any, motion: Any) -> None:
    """Coefficients and prior standard deviations of all classes but the reference in a row."""
    place = 0
    for k in range(problem.classes):
        if k != problem.reference:
            for j in range(state.coef.shape[1]):
                motion.coef[place] = state.coef[k, j]
                motion.root[place] = math.sqrt(state.variance[k, j])
                place += 1


@scalar
def leapfrog(problem: Any, state: Any, motion: Any, step: Any, count: Any) -> Any:
    """So many steps from where `motion.slope` is known; returns U at the end, NaN or infinite where
    it broke off."""
    found = 0.0
    for t in range(count + 1):
        for d in range(motion.root.size):
            motion.velocity[d] = motion.root[d] * motion.slope[d]
        forward(motion.factor, motion.velocity)
        length = step if 0 < t < count else 0.5 * step
        for d in range(motion.root.size):
            motion.momentum[d] -= length * motion.velocity[d]
            motion.velocity[d] = motion.momentum[d]
        if t < count:
            backward(motion.factor, motion.velocity)
            for d in range(motion.root.size):
                motion.coef[d] += step * motion.root[d] * motion.velocity[d]
            found = potential(problem, state, motion)
            if not found < math.inf:  # the reverse trajectory would not pass here either
                break
    return found


@scalar
def potential(problem: Any, state: Any, motion: Any) -> Any:
    """U at `motion.coef`, and its slopes; the linear predictors there are kept."""
    A, r = problem.covariates, problem.reference
    m, n = A.shape
    place = 0
    for k in range(problem.classes):
        for i in range(n):
            motion.linear[k, i] = 0.0
        if k != r:
            for j in range(m):
                beta = motion.coef[place + j]
                for i in range(n):
                    motion.linear[k, i] += A[j, i] * beta
            place += m
    total = _misfit(problem, motion)
    place = 0
    for k in range(problem.classes):
        if k != r:
            for j in range(m):
                pull = motion.coef[place] / state.variance[k, j]
                motion.slope[place] = inner(A, j, motion.residual, k, n) + pull
                total += 0.5 * motion.coef[place] * pull
                place += 1
    return total


@scalar
def _misfit(problem: Any, motion: Any) -> Any:
    """Minus the log-likelihood, and its derivatives by the linear predictors."""
    total = 0.0
    for i in range(problem.codes.size):
        own, count = problem.codes[i], problem.counts[i]
        if problem.classes == 2:
            ahead = motion.linear[own, i] - motion.linear[1 - own, i]
            small = math.exp(-abs(ahead))
            # the probability of the other class
            wrong = (small if ahead > 0.0 else 1.0) / (1.0 + small)
            total += count * (math.log1p(small) + max(-ahead, 0.0))
            motion.residual[own, i] = -count * wrong
            motion.residual[1 - own, i] = count * wrong
        else:
            top = -math.inf
            for k in range(problem.classes):
                top = max(top, motion.linear[k, i])
            rest = 0.0
            for k in range(problem.classes):
                motion.residual[k, i] = math.exp(motion.linear[k, i] - top)
                rest += motion.residual[k, i]
            total += count * (top + math.log(rest) - motion.linear[own, i])
            for k in range(problem.classes):
                motion.residual[k, i] *= count / rest
            motion.residual[own, i] -= count
    return total


@part
def see_curvature(problem: Any, state: Any, motion: Any) -> None:
    """Move the mean curvature towards that at the coefficients of the moment; later ones count for
    more.

    The weights rise linearly. A block of classes k and l is X^T diag(c p_k (1{k = l} - p_l)) X.
    """
    A, r = problem.covariates, problem.reference
    m, n = A.shape
    motion.real[CURVATURES] += 1.0
    share = 2.0 / (motion.real[CURVATURES] + 1.0)
    for k in range(problem.classes):
        for i in range(n):
            motion.linear[k, i] = state.linear[k, i]
    _misfit(problem, motion)
    for i in range(n):  # c times the probabilities
        motion.residual[problem.codes[i], i] += problem.counts[i]
    row = 0
    for k in range(problem.classes):
        if k == r:
            continue
        column = 0
        for other in range(k + 1):
            if other == r:
                continue
            for i in range(n):
                kept = problem.counts[i] if k == other else 0.0
                state.weights[i] = (
                    motion.residual[k, i] * (kept - motion.residual[other, i]) / problem.counts[i]
                )
            for j in range(m):
                for i in range(n):
                    state.scaled[j, i] = A[j, i] * state.weights[i]
                for b in range(m):
                    old = motion.curvature[row + j, column + b]
                    motion.curvature[row + j, column + b] += share * (
                        inner(state.scaled, j, A, b, n) - old
                    )
            column += m
        row += m


@scalar
def adapt_step(motion: Any, probability: Any) -> None:
    """While tuning: a longer step where more than enough is accepted."""
    real = motion.real
    real[TIME] += 1.0
    real[LOG_STEP] += (probability - _TARGET) * real[TIME] ** -0.6
    real[AVERAGE] += (real[LOG_STEP] - real[AVERAGE]) * real[TIME] ** -0.6


@scalar
def adapt_motion(problem: Any, state: Any, motion: Any, sweep: Any, tune: Any) -> None:
    """After a sweep of tuning: look at the curvature now and then, and in the end fix the step."""
    if sweep >= ALONE and (sweep - ALONE) % max(1, tune // _CURVATURES) == 0:
        see_curvature(problem, state, motion)
    if sweep == tune and motion.real[TIME] > 0.0:
        motion.real[LOG_STEP] = motion.real[AVERAGE]
