r"""The sampler of docs/house/worths_of_people.md: worths of people who differ, with one spread and shared directions.

    u_p = M' x_p + W' f_p + d_p,  d_pi ~ Normal(0, sigma^2),  f_pk ~ Normal(0, 1),  W_ki ~ Normal(0, lambda^2)
    M_0i ~ Normal(0, s^2),  M_ri ~ Normal(0, EFFECT_SD^2),  log s ~ Normal(log 1.3, 1),  sigma, lambda ~ half-Normal(1)

x_p holds 1 and the standardised columns of person p. People with equal columns have the covariance sigma^2 I + W'W;
with K = 0 directions that is one spread. The f_p are columns that nobody knows: the code keeps M and W as one matrix
`mean` (1 + q + K, n), and z_p = (x_p, f_p).

The state keeps only the options that a person has seen, and of these the log worths less their mean. The density of the
centred deviations c of m options, for K = 0, is proportional to sigma^-(m - 1) exp(-c'c / (2 sigma^2)): the level is
integrated out.

A sweep:

1. each person: one Hamiltonian trajectory of two leaps, f_p integrated out, in the metric of the person's mean
   curvature H_p, found in tuning, and of the population's precision; then f_p given u_p, exactly;
2. M and W given u and f: option by option, normal of 1 + q + K dimensions, given a level drawn for each person;
3. directions along what leaves u as it is (shifts against M, scales against W); sigma, s and lambda by slices of logs;
4. M, W and log sigma together with all u, while standardised deviations stay (interweaving): four leaps;
5. log sigma, and log sigma with the scale of all worths, by random walks that carry every u from its normal
   approximation at the old values to that at the new ones, u' = m' + C'^-T C^T (u - m).

Kernels allocate here; in the library they get a work space. `worths_of_people.py --check` checks them.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numba import njit
from scipy.linalg import solve_triangular

ORDER, MAXDIFF, RANKING = 0, 1, 2
RULES = {"order": ORDER, "maxdiff": MAXDIFF, "ranking": RANKING}
EFFECT_SD = 0.5
LEAPS_OF_PERSON, LEAPS_TOGETHER, TARGET_ACCEPTANCE, JITTER = 2, 4, 0.8, 0.2
TARGET_ACCEPTANCE_OF_WALKS = 0.4
N_NODES, LOWEST_NODE, HIGHEST_NODE = 96, -38.0, 4.4  # of the integral of a ranking, in log t + u_worst


class AnswerTable(NamedTuple):
    """Answers of N people about n options, one person after the other.

    Members of an answer are indices among the options that the person has seen. Rule "order": the first `depth` members
    were chosen one after the other from those left (pairs, choices out of sets, rankings). "maxdiff": best, worst, then
    the others; the best and the worst are the pair that differs most. "ranking": the same, as first and last of a
    ranking, without a lapse.
    """

    rule: int
    lapse: float  # of each choice of an order, of a maxdiff answer
    first_answer: np.ndarray  # (N + 1,)
    start: np.ndarray  # (answers + 1,) of members
    member: np.ndarray  # (members,)
    depth: np.ndarray  # (answers,)
    first_option: np.ndarray  # (N + 1,) of those that a person has seen
    option: np.ndarray  # (seen,)
    first_square: np.ndarray  # (N + 1,) of a person's curvature, m^2 numbers
    x: np.ndarray  # (N, 1 + q)
    n_options: int


def build_table(
    answers: Sequence[Sequence[Sequence[int]]],
    n_options: int,
    rule: str,
    lapse: float = 0.0,
    depth: int | None = None,
    columns: np.ndarray | None = None,
) -> AnswerTable:
    """Build a table from the answers of each person: options in the order of the answer; columns (N, q)."""
    first_answer, start, member, depths, first_option, option = [0], [0], [], [], [0], []
    for sets in answers:
        seen = np.unique(np.concatenate([np.asarray(each) for each in sets])).tolist()
        index = {i: k for k, i in enumerate(seen)}
        for each in sets:
            member += [index[int(i)] for i in each]
            start.append(len(member))
            depths.append(len(each) - 1 if depth is None else depth)
        option += seen
        first_option.append(len(option))
        first_answer.append(len(depths))
    ones = np.ones((len(answers), 1))
    return AnswerTable(
        RULES[rule],
        lapse,
        np.array(first_answer),
        np.array(start),
        np.array(member),
        np.array(depths),
        np.array(first_option),
        np.array(option),
        np.append(0, np.cumsum(np.diff(first_option) ** 2)),
        ones if columns is None else np.hstack([ones, columns]),
        n_options,
    )


@njit(cache=True)
def count_most_seen(table):
    """Return the largest number of options that a person has seen."""
    most = 0
    for p in range(table.x.shape[0]):
        most = max(most, table.first_option[p + 1] - table.first_option[p])
    return most


# The likelihood of one person ----------------------------------------------------------------------------------------


@njit(cache=True)
def mix_lapse(log_p, lapse, n_answers):
    """Return log((1 - lapse) p + lapse / n_answers), and its slope in log p."""
    if lapse == 0.0:
        return log_p, 1.0
    attentive = (1.0 - lapse) * math.exp(log_p)
    p = attentive + lapse / n_answers
    return math.log(p), attentive / p


@njit(cache=True)
def add_maxdiff_slopes(table, p, u, v, inverse, g):
    """Return the log-likelihood of maxdiff answers; v = exp(u - top), inverse = 1 / v; adds its slope to g."""
    total = 0.0
    for answer in range(table.first_answer[p], table.first_answer[p + 1]):
        lo, hi = table.start[answer], table.start[answer + 1]
        n_members, sum_v, sum_inverse = hi - lo, 0.0, 0.0
        for k in range(lo, hi):
            sum_v += v[table.member[k]]
            sum_inverse += inverse[table.member[k]]
        odds = max(sum_v * sum_inverse - n_members, 1e-300)
        best, worst = table.member[lo], table.member[lo + 1]
        log_p = u[best] - u[worst] - math.log(odds)
        value, factor = mix_lapse(log_p, table.lapse, n_members * (n_members - 1.0))
        g[best] += factor
        g[worst] -= factor
        for k in range(lo, hi):
            i = table.member[k]
            g[i] -= factor * (v[i] * sum_inverse - inverse[i] * sum_v) / odds
        total += value
    return total


@njit(cache=True)
def add_order_slopes(table, p, u, top, v, g, work):
    """Return the log-likelihood of orders; v = exp(u - top); adds its slope to g."""
    total = 0.0
    for answer in range(table.first_answer[p], table.first_answer[p + 1]):
        lo, hi = table.start[answer], table.start[answer + 1]
        n_members, tail = hi - lo, 0.0
        for k in range(hi - 1, lo - 1, -1):
            tail += v[table.member[k]]
            work[k - lo] = tail
        pull = 0.0
        for k in range(n_members):
            i = table.member[lo + k]
            if k < table.depth[answer]:
                value, factor = mix_lapse(u[i] - top - math.log(work[k]), table.lapse, n_members - k)
                total += value
                pull += factor / work[k]
                g[i] += factor
            g[i] -= pull * v[i]
    return total


@njit(cache=True)
def add_ranking_slopes(table, p, u, top, v, g, work):
    """Return the log-likelihood of bests and worsts of rankings; v = exp(u - top); adds its slope to g.

    The worst is last of the rest if the exponential clocks of all others ring before its own:
    P = integral of v_w exp(-v_w t) prod_i (1 - exp(-v_i t)) dt, by the trapezoidal rule in log t.
    """
    total = 0.0
    for answer in range(table.first_answer[p], table.first_answer[p + 1]):
        lo, hi = table.start[answer], table.start[answer + 1]
        n_members, sum_v = hi - lo, 0.0
        for k in range(lo, hi):
            sum_v += v[table.member[k]]
        best, worst = table.member[lo], table.member[lo + 1]
        total += u[best] - top - math.log(sum_v)
        g[best] += 1.0
        for k in range(lo, hi):
            g[table.member[k]] -= v[table.member[k]] / sum_v
        width = (HIGHEST_NODE - LOWEST_NODE) / (N_NODES - 1)
        integral = 0.0
        work[:n_members] = 0.0
        for node in range(N_NODES):
            t = math.exp(LOWEST_NODE + node * width - (u[worst] - top))
            value = v[worst] * t * math.exp(-v[worst] * t)
            for k in range(2, n_members):
                value *= -math.expm1(-v[table.member[lo + k]] * t)
            integral += value
            work[1] += value * (1.0 - v[worst] * t)
            for k in range(2, n_members):
                rate = v[table.member[lo + k]] * t
                if rate < 1e-12:
                    work[k] += value
                elif rate < 700.0:
                    work[k] += value * rate / math.expm1(rate)
        for k in range(1, n_members):
            g[table.member[lo + k]] += work[k] / max(integral, 1e-300)
        total += math.log(max(integral * width, 1e-300))
    return total


@njit(cache=True)
def compute_person_slope(table, p, u, g, v, inverse, work):
    """Return the log-likelihood of person p at log worths u (m,); writes its slope to g. The others are work space."""
    m = u.size
    top = u[0]
    for i in range(1, m):
        top = max(top, u[i])
    for i in range(m):
        g[i] = 0.0
        v[i] = math.exp(max(u[i] - top, -600.0))
        if table.rule == MAXDIFF:
            inverse[i] = 1.0 / v[i]
    if table.rule == MAXDIFF:
        return add_maxdiff_slopes(table, p, u, v, inverse, g)
    if table.rule == ORDER:
        return add_order_slopes(table, p, u, top, v, g, work)
    return add_ranking_slopes(table, p, u, top, v, g, work)


@njit(cache=True)
def add_choice_curvature(weights, members, factor, h):
    """Add factor times the curvature of a choice from the members by their weights to h (m * m,)."""
    m, total = weights.size, 0.0
    for i in members:
        total += weights[i]
    for i in members:
        h[i * m + i] += factor * weights[i] / total
        for j in members:
            h[i * m + j] -= factor * weights[i] * weights[j] / total**2


@njit(cache=True)
def add_person_curvature(table, p, u, h):
    """Add the expected curvature of person p's likelihood at u to h (m * m,); a lapse scales it by 1 - lapse."""
    m = u.size
    v = np.exp(np.maximum(u - u.max(), -300.0))
    factor = 1.0 - table.lapse
    for answer in range(table.first_answer[p], table.first_answer[p + 1]):
        members = table.member[table.start[answer] : table.start[answer + 1]]
        if table.rule == MAXDIFF:
            sum_v, sum_inverse = 0.0, 0.0
            for i in members:
                sum_v += v[i]
                sum_inverse += 1.0 / v[i]
            total = max(sum_v * sum_inverse - members.size, 1e-300)
            for i in members:
                best, worst = (v[i] * sum_inverse - 1.0) / total, (sum_v / v[i] - 1.0) / total
                h[i * m + i] += factor * (best + worst)
                for j in members:
                    off = (best - worst) * ((v[j] * sum_inverse - sum_v / v[j]) / total)
                    if j != i:
                        off += (v[i] / v[j] + v[j] / v[i]) / total
                    h[i * m + j] -= factor * off
        elif table.rule == ORDER:
            for stage in range(table.depth[answer]):
                add_choice_curvature(v, members[stage:], factor, h)
        else:  # the worst, roughly, as chosen by 1 / v out of all
            add_choice_curvature(v, members, factor, h)
            add_choice_curvature(1.0 / v, members, factor, h)


@njit(cache=True)
def add_curvature(table, u, h):
    """Add the curvature of every person at u to h."""
    for p in range(table.x.shape[0]):
        a, b = table.first_option[p], table.first_option[p + 1]
        add_person_curvature(table, p, u[a:b], h[table.first_square[p] : table.first_square[p + 1]])


# 1. Each person ------------------------------------------------------------------------------------------------------


@njit(cache=True)
def read_loadings(table, p, q, mean, sigma, loading):
    """Write the person's centred loadings (m, K), returning (sigma^2 I + W'W)^-1, shape (K, K)."""
    m, K = loading.shape
    a = table.first_option[p]
    for k in range(K):
        average = 0.0
        for i in range(m):
            loading[i, k] = mean[q + k, table.option[a + i]]
            average += loading[i, k] / m
        for i in range(m):
            loading[i, k] -= average
    inside = np.zeros((K, K))
    for k in range(K):
        for j in range(K):
            inside[k, j] = sigma**2 if k == j else 0.0
            for i in range(m):
                inside[k, j] += loading[i, k] * loading[i, j]
    return np.linalg.inv(inside)


@njit(cache=True)
def compute_deviation_slope(off, loading, inner, sigma, slope):
    """Write the precision of the deviations times `off` to slope; returns half the quadratic form.

    The precision of centred deviations is (C - W (sigma^2 I + W'W)^-1 W') / sigma^2, C = I - 11'/m, W centred loadings.
    """
    m, K = loading.shape
    average = 0.0
    for i in range(m):
        average += off[i] / m
    for i in range(m):
        slope[i] = off[i] - average
    for k in range(K):
        along = 0.0
        for j in range(K):
            for i in range(m):
                along += inner[k, j] * loading[i, j] * off[i]
        for i in range(m):
            slope[i] -= loading[i, k] * along
    half = 0.0
    for i in range(m):
        slope[i] /= sigma**2
        half += 0.5 * slope[i] * off[i]
    return half


@njit(cache=True)
def factor_metric(h, loading, inner, sigma, A):
    """Write the lower Cholesky factor of the curvature h (m * m,) plus the precision of deviations to A."""
    m, K = loading.shape
    for i in range(m):
        for j in range(i + 1):
            own = h[i * m + j] + (1.0 / sigma**2 if i == j else 0.0)
            for k in range(K):
                for other in range(K):
                    own -= loading[i, k] * inner[k, other] * loading[j, other] / sigma**2
            for k in range(j):
                own -= A[i, k] * A[j, k]
            A[i, j] = math.sqrt(max(own, 1e-12)) if i == j else own / A[j, j]


@njit(cache=True)
def draw_directions(rng, off, loading, inner, sigma, f):
    """Draw f (K,) given deviations: normal of mean G W' off and covariance sigma^2 G, G = (sigma^2 I + W'W)^-1."""
    m, K = loading.shape
    root, along, noise = np.linalg.cholesky(inner), np.zeros(K), np.zeros(K)
    for k in range(K):
        noise[k] = rng.standard_normal() * sigma
        for i in range(m):
            along[k] += loading[i, k] * off[i]
    for k in range(K):
        f[k] = 0.0
        for j in range(K):
            f[k] += inner[k, j] * along[j] + root[k, j] * noise[j]


@njit(cache=True)
def move_each_person(rng, table, z, q, u, log_likelihood, h, mean, sigma, log_step, gain):
    """Move every person by one trajectory with directions integrated out, then draw z[:, q:] given the log worths.

    u (seen,), log_likelihood (N,), z and log_step (N,) change.
    """
    most, K = count_most_seen(table), z.shape[1] - q
    A, work, all_loadings = np.zeros((most, most)), np.zeros(most + 1), np.zeros((most, K))
    v, inverse, trial, g = np.zeros(most), np.zeros(most), np.zeros(most), np.zeros(most)
    pull, xi, vec, centre = np.zeros(most), np.zeros(most), np.zeros(most), np.zeros(most)
    for p in range(z.shape[0]):
        a, m = table.first_option[p], table.first_option[p + 1] - table.first_option[p]
        loading = all_loadings[:m]
        inner = read_loadings(table, p, q, mean, sigma, loading)
        for i in range(m):
            c = 0.0
            for r in range(q):
                c += z[p, r] * mean[r, table.option[a + i]]
            centre[i] = c
            trial[i] = u[a + i]
            xi[i] = rng.standard_normal()
            vec[i] = trial[i] - c
        factor_metric(h[table.first_square[p] : table.first_square[p + 1]], loading, inner, sigma, A)
        log_likelihood[p] = compute_person_slope(table, p, trial[:m], g, v, inverse, work)
        energy = -log_likelihood[p]
        energy += compute_deviation_slope(vec[:m], loading, inner, sigma, pull)
        for i in range(m):
            energy += 0.5 * xi[i] ** 2
        step = math.exp(log_step[p]) * (1.0 + JITTER * (2.0 * rng.random() - 1.0))
        value, half = 0.0, 0.0
        for leap in range(LEAPS_OF_PERSON + 1):
            length = step if 0 < leap < LEAPS_OF_PERSON else 0.5 * step
            for i in range(m):  # xi += length * A^-1 (g - pull)
                total = g[i] - pull[i]
                for k in range(i):
                    total -= A[i, k] * vec[k]
                vec[i] = total / A[i, i]
            for i in range(m):
                xi[i] += length * vec[i]
            if leap == LEAPS_OF_PERSON:
                break
            for i in range(m - 1, -1, -1):  # trial += step * A^-T xi
                total = xi[i]
                for k in range(i + 1, m):
                    total -= A[k, i] * vec[k]
                vec[i] = total / A[i, i]
            for i in range(m):
                trial[i] += step * vec[i]
            value = compute_person_slope(table, p, trial[:m], g, v, inverse, work)
            for i in range(m):
                vec[i] = trial[i] - centre[i]
            half = compute_deviation_slope(vec[:m], loading, inner, sigma, pull)
        energy += value - half
        for i in range(m):
            energy -= 0.5 * xi[i] ** 2
        if not energy == energy:
            energy = -np.inf
        if math.log(1.0 - rng.random()) < energy:
            level = 0.0
            for i in range(m):
                level += trial[i] / m
            for i in range(m):
                u[a + i] = trial[i] - level
            log_likelihood[p] = value
        log_step[p] += gain * (math.exp(min(energy, 0.0)) - TARGET_ACCEPTANCE)
        if K > 0:
            for i in range(m):
                vec[i] = u[a + i] - centre[i]
            draw_directions(rng, vec[:m], loading, inner, sigma, z[p, q:])


# 2. Means and loadings -----------------------------------------------------------------------------------------------


@njit(cache=True)
def sum_regressors(rng, table, z, u, mean, sigma, cross, along):
    """Write the sums of z z' (n, w, w) and z y (n, w) over people who saw an option; y is u plus a drawn level."""
    cross[:] = 0.0
    along[:] = 0.0
    w = z.shape[1]
    for p in range(z.shape[0]):
        a, b = table.first_option[p], table.first_option[p + 1]
        level = rng.standard_normal() * sigma / math.sqrt(b - a)
        for i in range(a, b):
            for r in range(w):
                level += z[p, r] * mean[r, table.option[i]] / (b - a)
        for i in range(a, b):
            o = table.option[i]
            for r in range(w):
                along[o, r] += z[p, r] * (u[i] + level)
                for s in range(w):
                    cross[o, r, s] += z[p, r] * z[p, s]


# 4. All together -----------------------------------------------------------------------------------------------------


@njit(cache=True)
def evaluate_together(table, z, mean, off, factor, u, log_likelihood, slope, slope_of_mean):
    """Place all people at M' z + factor * off, centred; returns the log-likelihood.

    Writes u (seen,), log_likelihood (N,), and the slopes in u (seen,) and in M, shape of `mean`.
    """
    most = count_most_seen(table)
    g, v, inverse, work = np.zeros(most), np.zeros(most), np.zeros(most), np.zeros(most + 1)
    slope_of_mean[:] = 0.0
    total = 0.0
    for p in range(z.shape[0]):
        a, b = table.first_option[p], table.first_option[p + 1]
        level = 0.0
        for i in range(a, b):
            c = factor * off[i]
            for r in range(z.shape[1]):
                c += z[p, r] * mean[r, table.option[i]]
            u[i] = c
            level += c / (b - a)
        for i in range(a, b):
            u[i] -= level
        log_likelihood[p] = compute_person_slope(table, p, u[a:b], g, v, inverse, work)
        total += log_likelihood[p]
        for i in range(a, b):
            slope[i] = g[i - a]
            for r in range(z.shape[1]):
                slope_of_mean[r, table.option[i]] += z[p, r] * g[i - a]
    return total


@njit(cache=True)
def add_joint_curvature(table, z, off, h, joint):
    """Add the curvature in (M, log sigma), shape (w n + 1, w n + 1), given the curvature h of every person."""
    w, n = z.shape[1], table.n_options
    for p in range(z.shape[0]):
        a, m, at = table.first_option[p], table.first_option[p + 1] - table.first_option[p], table.first_square[p]
        for i in range(m):
            bend = 0.0
            for j in range(m):
                own = h[at + i * m + j]
                bend += own * off[a + j]
                for r in range(w):
                    for s in range(w):
                        joint[r * n + table.option[a + i], s * n + table.option[a + j]] += z[p, r] * z[p, s] * own
            for r in range(w):
                joint[w * n, r * n + table.option[a + i]] += z[p, r] * bend
                joint[r * n + table.option[a + i], w * n] += z[p, r] * bend
            joint[w * n, w * n] += off[a + i] * bend


# 5. People carried along ----------------------------------------------------------------------------------------------


@njit(cache=True)
def carry_people(table, h, b, u, z, mean, new_mean, sigma, new_sigma, new_u, new_log_likelihood):
    """Carry every u from its normal approximation at (mean, sigma) to that at new values; returns the log Jacobian.

    The approximation has the precision A = H + I / sigma^2 and the mean A^-1 (b + M' z / sigma^2): b = H u0 + g(u0) at
    the point u0 that tuning found. u' = mean' + C'^-T C^T (u - mean), with the coordinates u_i - u_m.
    """
    most = count_most_seen(table)
    A, B, work = np.zeros((most, most)), np.zeros((most, most)), np.zeros(most + 1)
    one, two, g, v, inverse = np.zeros(most), np.zeros(most), np.zeros(most), np.zeros(most), np.zeros(most)
    old, new, total = 1.0 / sigma**2, 1.0 / new_sigma**2, 0.0
    for p in range(z.shape[0]):
        a, m, at = table.first_option[p], table.first_option[p + 1] - table.first_option[p], table.first_square[p]
        centre, new_centre = 0.0, 0.0
        for i in range(m):
            one[i], two[i] = 0.0, 0.0
            for r in range(z.shape[1]):
                one[i] += z[p, r] * mean[r, table.option[a + i]]
                two[i] += z[p, r] * new_mean[r, table.option[a + i]]
            centre += one[i] / m
            new_centre += two[i] / m
        for i in range(m - 1):
            one[i] = b[a + i] + old * (one[i] - centre)
            two[i] = b[a + i] + new * (two[i] - new_centre)
            for j in range(i + 1):
                off = (1.0 if i == j else 0.0) - 1.0 / m
                x, y = h[at + i * m + j] + old * off, h[at + i * m + j] + new * off
                for k in range(j):
                    x -= A[i, k] * A[j, k]
                    y -= B[i, k] * B[j, k]
                A[i, j] = math.sqrt(max(x, 1e-12)) if i == j else x / A[j, j]
                B[i, j] = math.sqrt(max(y, 1e-12)) if i == j else y / B[j, j]
            total += math.log(A[i, i]) - math.log(B[i, i])
            x, y = one[i], two[i]
            for k in range(i):
                x -= A[i, k] * one[k]
                y -= B[i, k] * two[k]
            one[i], two[i] = x / A[i, i], y / B[i, i]
        level = 0.0
        for i in range(m - 1):  # C^T (u - mean) + C'^T mean'
            x = two[i] - one[i]
            for k in range(i, m - 1):
                x += A[k, i] * (u[a + k] - u[a + m - 1])
            g[i] = x
        g[m - 1] = 0.0
        for i in range(m - 2, -1, -1):
            x = g[i]
            for k in range(i + 1, m - 1):
                x -= B[k, i] * g[k]
            g[i] = x / B[i, i]
            level += g[i] / m
        for i in range(m):
            new_u[a + i] = g[i] - level
        new_log_likelihood[p] = compute_person_slope(table, p, new_u[a : a + m], g, v, inverse, work)
    return total


# The sweeps ----------------------------------------------------------------------------------------------------------


def draw_by_slices(rng: np.random.Generator, x: float, log_density: Callable[[float], float], width: float) -> float:
    """Draw a number by one step of slice sampling with stepping out."""
    level = log_density(x) - rng.exponential()
    low = x - width * rng.random()
    high = low + width
    while log_density(low) > level:
        low -= width
    while log_density(high) > level:
        high += width
    while True:
        new = low + (high - low) * rng.random()
        if log_density(new) > level:
            return new
        if new < x:
            low = new
        else:
            high = new


def log_half_normal(log_sd: float) -> float:
    """Return the log density of log sd where sd is half-normal(1), up to a constant."""
    return log_sd - 0.5 * math.exp(log_sd) ** 2


def log_normal_spread(log_sd: float) -> float:
    """Return the log density of the log spread s of population worths, up to a constant."""
    return -0.5 * (log_sd - math.log(1.3)) ** 2


class Draws(NamedTuple):
    """Draws of several chains, shapes (chain, draw, ...)."""

    mean: np.ndarray  # (..., 1 + q, n): population log worths, effects
    sigma: np.ndarray
    s: np.ndarray
    spread: np.ndarray  # between people: root of sigma^2 + the mean over options of the centred W'W
    u: np.ndarray  # (..., N, n): centred log worths of each person


class Chain:
    """One chain of the sampler, with K = `n_directions`."""

    def __init__(self, table: AnswerTable, rng: np.random.Generator, n_directions: int) -> None:
        self.table, self.rng = table, rng
        (N, self.q), n = table.x.shape, table.n_options
        self.n_seen = np.diff(table.first_option)
        self.person = np.repeat(np.arange(N), self.n_seen)
        self.sigma, self.s, self.direction_sd = math.exp(rng.normal(-0.7, 0.5)), math.exp(rng.normal(0.0, 0.3)), 0.5
        self.z = np.column_stack([table.x, rng.normal(size=(N, n_directions))])
        self.mean = np.zeros((self.q + n_directions, n))
        self.mean[0] = self.estimate_pooled_worths() + 0.1 * rng.normal(size=n)
        self.mean[self.q :] = 0.3 * rng.normal(size=(n_directions, n))
        self.u = self.centre(self.mean[0][table.option] + self.sigma * rng.normal(size=len(table.option)))
        self.log_likelihood, self.h = np.zeros(N), np.zeros(table.first_square[-1])
        self.log_step = np.full(N, math.log(0.7))
        self.log_step_together, self.log_step_of_walks = math.log(0.7), np.log([0.1, 0.1])
        self.point = self.centre(self.mean[0][table.option])
        add_curvature(table, self.point, self.h)
        self.set_metrics()

    def estimate_pooled_worths(self) -> np.ndarray:
        """Return rough log worths (n,): log of how often chosen over how often shown."""
        table, n = self.table, self.table.n_options
        n_members = np.diff(table.start[table.first_answer])
        option = table.option[np.repeat(table.first_option[:-1], n_members) + table.member]
        shown = np.bincount(option, minlength=n) + 2.0
        best = np.bincount(option[table.start[:-1]], minlength=n) + 1.0
        worst = np.ones(n)
        if table.rule != ORDER:
            worst += np.bincount(option[table.start[:-1] + 1], minlength=n)
        logs = np.log(best / (shown * worst))
        return 0.7 * (logs - logs.mean())

    def centre(self, values: np.ndarray) -> np.ndarray:
        """Subtract the mean of each person from values (seen,)."""
        return values - (np.bincount(self.person, values) / self.n_seen)[self.person]

    def deviations(self, mean: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Centred deviations (seen,) of people from M' z, directions included."""
        return self.centre(u - (self.z[self.person] * mean[:, self.table.option].T).sum(axis=1))

    def prior_precision(self) -> np.ndarray:
        """Precision of the rows of `mean` (worths, effects, loadings), flat."""
        loadings = len(self.mean) - self.q
        sds = np.concatenate([[self.s], np.full(self.q - 1, EFFECT_SD), np.full(loadings, self.direction_sd)])
        return np.repeat(sds**-2.0, self.table.n_options)

    def set_metrics(self) -> None:
        """Set the metric of the joint move, and the normal approximations of people at `point`."""
        table, size = self.table, self.mean.size
        joint = np.zeros((size + 1, size + 1))
        add_joint_curvature(table, self.z, self.deviations(self.mean, self.u), self.h, joint)
        joint[range(size), range(size)] += self.prior_precision()
        joint[-1, -1] += 2.0
        self.root_of_metric = np.linalg.cholesky(joint)
        no_mean, u, likelihood = np.zeros(self.mean.shape), np.empty_like(self.u), np.empty_like(self.log_likelihood)
        self.pull = np.zeros_like(self.u)
        evaluate_together(table, self.z, no_mean, self.point, 1.0, u, likelihood, self.pull, no_mean.copy())
        for p, m in enumerate(self.n_seen):
            a, at = table.first_option[p], table.first_square[p]
            self.pull[a : a + m] += self.h[at : at + m**2].reshape(m, m) @ self.point[a : a + m]

    def draw_mean(self) -> None:
        """Draw M and W given u, f and sigma: option by option, given a level drawn for each person."""
        w, n = self.mean.shape
        cross, along = np.zeros((n, w, w)), np.zeros((n, w))
        sum_regressors(self.rng, self.table, self.z, self.u, self.mean, self.sigma, cross, along)
        A = cross / self.sigma**2
        A[:, range(w), range(w)] += self.prior_precision().reshape(w, n).T
        C = np.linalg.cholesky(A)
        y = np.linalg.solve(C, along[..., None] / self.sigma**2) + self.rng.normal(size=(n, w, 1))
        self.mean = np.ascontiguousarray(np.linalg.solve(np.swapaxes(C, 1, 2), y)[..., 0].T)

    def draw_sd(self, sd: float, squares: float, count: int, log_prior: Callable[[float], float]) -> float:
        """Draw a standard deviation given the sum of `count` squares of normal numbers."""

        def log_density(x: float) -> float:
            return log_prior(x) - count * x - 0.5 * squares * math.exp(-2.0 * x)

        return math.exp(draw_by_slices(self.rng, math.log(sd), log_density, 0.5))

    def draw_spreads(self) -> None:
        """Draw sigma, s and lambda."""
        off, loadings, worths = self.deviations(self.mean, self.u), self.mean[self.q :], self.mean[0]
        self.sigma = self.draw_sd(self.sigma, off @ off, (self.n_seen - 1).sum(), log_half_normal)
        self.s = self.draw_sd(self.s, worths @ worths, len(worths), log_normal_spread)
        if loadings.size:
            self.direction_sd = self.draw_sd(self.direction_sd, (loadings**2).sum(), loadings.size, log_half_normal)

    def move_directions(self) -> None:
        """Move f and W along what leaves all u as they are: f + c with M - c W, and e^-a f with e^a W."""
        q, K, (N, n) = self.q, len(self.mean) - self.q, (len(self.z), self.table.n_options)
        precision, W = self.prior_precision().reshape(q + K, n)[:, 0], self.mean[self.q :]
        for r in range(q if K else 0):
            x = self.z[:, r]
            C = np.linalg.cholesky(x @ x * np.eye(K) + precision[r] * W @ W.T)
            c = np.linalg.solve(C, precision[r] * W @ self.mean[r] - x @ self.z[:, q:]) + self.rng.normal(size=K)
            c = np.linalg.solve(C.T, c)
            self.z[:, q:] += x[:, None] * c
            self.mean[r] -= c @ W
        for k in range(K):
            squares, of_loadings = (self.z[:, q + k] ** 2).sum(), (W[k] ** 2).sum() / self.direction_sd**2

            def log_density(a: float, squares: float = squares, of_loadings: float = of_loadings) -> float:
                return a * (n - N) - 0.5 * squares * math.exp(-2 * a) - 0.5 * of_loadings * math.exp(2 * a)

            a = draw_by_slices(self.rng, 0.0, log_density, 0.2)
            self.z[:, q + k] *= math.exp(-a)
            self.mean[q + k] *= math.exp(a)

    def move_together(self, gain: float) -> None:
        """Move M, W and log sigma with all u = M' z + sigma e; f and the standardised deviations e stay."""
        rng, shape = self.rng, self.mean.shape
        standardised, precision = self.deviations(self.mean, self.u) / self.sigma, self.prior_precision()
        u, log_likelihood = np.empty_like(self.u), np.empty_like(self.log_likelihood)
        slope, slope_of_mean = np.empty_like(self.u), np.zeros(shape)

        def solve(vector: np.ndarray, transposed: int) -> np.ndarray:
            return solve_triangular(self.root_of_metric, vector, trans=transposed, lower=True, check_finite=False)

        def log_density(place: np.ndarray) -> tuple[float, np.ndarray]:
            mean, sigma = place[:-1], math.exp(min(place[-1], 20.0))
            value = evaluate_together(
                self.table, self.z, mean.reshape(shape), standardised, sigma, u, log_likelihood, slope, slope_of_mean
            )
            value += place[-1] - 0.5 * sigma**2 - 0.5 * (precision * mean**2).sum()
            bend = slope @ standardised * sigma + 1.0 - sigma**2
            return value, np.append(slope_of_mean.ravel() - precision * mean, bend)

        place, push = np.append(self.mean.ravel(), math.log(self.sigma)), rng.normal(size=self.mean.size + 1)
        value, force = log_density(place)
        energy = 0.5 * push @ push - value
        step = math.exp(self.log_step_together) * (1 + JITTER * (2 * rng.random() - 1))
        for leap in range(LEAPS_TOGETHER + 1):
            push = push + (step if 0 < leap < LEAPS_TOGETHER else 0.5 * step) * solve(force, 0)
            if leap == LEAPS_TOGETHER:
                break
            place = place + step * solve(push, 1)
            value, force = log_density(place)
        energy += value - 0.5 * push @ push
        energy = energy if energy == energy else -np.inf
        if math.log(1.0 - rng.random()) < energy:
            self.mean, self.sigma = place[:-1].reshape(shape), math.exp(place[-1])
            self.u, self.log_likelihood = u, log_likelihood
        self.log_step_together += gain * (math.exp(min(energy, 0.0)) - TARGET_ACCEPTANCE)

    def log_prior(self, sigma: float, mean: np.ndarray) -> float:
        """Log prior of sigma and `mean` given s and lambda, up to a constant."""
        return -0.5 * sigma**2 - 0.5 * (self.prior_precision() * mean.ravel() ** 2).sum()

    def walk_scales(self, gain: float) -> None:
        """Walk in log sigma, then in log sigma and the log scale of all worths, carrying all u along."""
        table, n = self.table, self.table.n_options
        for scaled_worths in range(2):
            step = math.exp(self.log_step_of_walks[scaled_worths]) * self.rng.normal()
            sigma, mean = self.sigma * math.exp(step), self.mean.copy()
            if scaled_worths:
                mean[0] *= math.exp(step)
            u, likelihood = np.empty_like(self.u), np.empty_like(self.log_likelihood)
            energy = carry_people(
                table, self.h, self.pull, self.u, self.z, self.mean, mean, self.sigma, sigma, u, likelihood
            )
            old, new = self.deviations(self.mean, self.u), self.deviations(mean, u)
            energy += likelihood.sum() - self.log_likelihood.sum()
            energy += self.log_prior(sigma, mean) - self.log_prior(self.sigma, self.mean)
            energy += 0.5 * old @ old / self.sigma**2 - 0.5 * new @ new / sigma**2 - (self.n_seen - 1).sum() * step
            energy += (1 + scaled_worths * n) * step
            energy = energy if energy == energy else -np.inf
            if math.log(1.0 - self.rng.random()) < energy:
                self.sigma, self.mean, self.u, self.log_likelihood = sigma, mean, u, likelihood
            self.log_step_of_walks[scaled_worths] += gain * (math.exp(min(energy, 0.0)) - TARGET_ACCEPTANCE_OF_WALKS)

    def sweep(self, gain: float) -> None:
        """Make all moves once; steps are adapted by `gain`."""
        state = self.z, self.q, self.u, self.log_likelihood, self.h, self.mean, self.sigma
        move_each_person(self.rng, self.table, *state, self.log_step, gain)
        self.draw_mean()
        self.move_directions()
        self.draw_spreads()
        self.move_together(gain)
        self.walk_scales(gain)

    def complete_worths(self) -> np.ndarray:
        """Return centred log worths (N, n); those of options not seen are drawn from the population."""
        table, N = self.table, len(self.z)
        worths = self.z @ self.mean + self.sigma * self.rng.normal(size=(N, table.n_options))
        level = np.bincount(self.person, worths[self.person, table.option]) / self.n_seen
        worths[self.person, table.option] = self.u + level[self.person]
        return worths - worths.mean(axis=1, keepdims=True)

    def run(self, n_draws: int, n_tune: int, thin: int) -> Draws:
        """Tune and draw; the curvature is the mean over the second quarter of tuning, and fixed after it."""
        half, draws = n_tune // 2, []
        every, total, n_points, point = max(1, half // 16), np.zeros_like(self.h), 0, np.zeros_like(self.u)
        for sweep in range(1, n_tune + n_draws * thin + 1):
            gain = 0.0
            if sweep <= n_tune:
                gain = (sweep if sweep <= half else sweep - half) ** -0.6
            self.sweep(gain)
            if half // 2 < sweep <= half and sweep % every == 0:
                add_curvature(self.table, self.u, total)
                point += self.u
                n_points += 1
            if sweep == half and n_points:
                self.h, self.point = total / n_points, point / n_points
                self.set_metrics()
            if sweep > n_tune and (sweep - n_tune) % thin == 0:
                W = self.mean[self.q :] - self.mean[self.q :].mean(axis=1, keepdims=True)
                spread = math.sqrt(self.sigma**2 + (W**2).sum() / (self.table.n_options - 1))
                worths = self.complete_worths().astype(np.float32)
                draws.append((self.mean[: self.q].copy(), self.sigma, self.s, spread, worths))
        return Draws(*(np.array(values) for values in zip(*draws, strict=True)))


def draw_chains(
    table: AnswerTable,
    seed: int,
    n_directions: int,
    n_draws: int = 500,
    n_tune: int = 300,
    thin: int = 1,
    n_chains: int = 4,
) -> Draws:
    """Run chains one after the other."""
    rngs = np.random.default_rng(seed).spawn(n_chains)
    chains = [Chain(table, rng, n_directions).run(n_draws, n_tune, thin) for rng in rngs]
    return Draws(*(np.stack(values) for values in zip(*chains, strict=True)))
