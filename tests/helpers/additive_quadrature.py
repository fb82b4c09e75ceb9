"""Posteriors of additive clustering for three objects by quadrature, for priors that no case has.

Columns are a Poisson process, so given the weights of what all three share the pairs are independent:
a quadrature over that sum, inside it one over each pair's own weight. Every column has a rate of its
own, pairs may be missing, and there may be no constant or an unknown variance.
"""

import math
from itertools import combinations

import numpy as np
from numpy.polynomial.legendre import leggauss
from scipy.stats import gamma, norm, poisson

PAIRS = list(combinations(range(3), 2))
SHARED = [*PAIRS, (0, 1, 2)]
EQUAL = np.ones((3, 3))
TOP, NODES, MOST = 1.5, 120, 30  # weights up to TOP, copies of a column up to MOST


def nodes(top=TOP, count=NODES):
    x, weight = leggauss(count)
    return 0.5 * top * (x + 1.0), 0.5 * top * weight


def label(owners):
    return "".join(map(str, owners))


def total_weight(rate, shape, prior_rate):
    """The summed weight of Poisson(rate) columns: its values (0 first), their probabilities, the
    mean count at each."""
    w, step = nodes()
    counts = np.arange(1, MOST)
    by_count = poisson.pmf(counts, rate)[:, None] * gamma.pdf(
        w, counts[:, None] * shape, scale=1.0 / prior_rate
    )
    mass = np.concatenate([[math.exp(-rate)], by_count.sum(0) * step])
    count = np.concatenate([[0.0], (counts @ by_count) / by_count.sum(0)])
    return np.concatenate([[0.0], w]), mass, count


def three_objects(similarities, sigma, alpha, weight_prior, rates, constant=True, judgements=EQUAL):
    """Posterior means where columns with owners h arrive at rate alpha rates[h]; a pair that is NaN
    is not measured, the others have the variance sigma^2 / judgements."""
    shape, prior_rate = weight_prior
    c, step = nodes()
    c_mass = gamma.pdf(c, shape, scale=1.0 / prior_rate) * step
    if not constant:
        c, c_mass = np.zeros(1), np.ones(1)
    full, full_mass, full_count = total_weight(alpha * rates[0, 1, 2], shape, prior_rate)
    common = c[:, None] + full
    own = {}
    for i, j in PAIRS:
        rate, s = alpha * rates[i, j], similarities[i][j]
        if math.isnan(s):
            own[i, j] = (1.0, math.exp(-rate), rate * shape / prior_rate, rate)
        else:
            w, mass, count = total_weight(rate, shape, prior_rate)
            fit = norm.pdf(s, common[..., None] + w, sigma / math.sqrt(judgements[i][j])) * mass
            own[i, j] = (fit.sum(-1), fit[..., 0], fit @ w, fit @ count)
    base = c_mass[:, None] * full_mass
    whole = base * math.prod(own[p][0] for p in PAIRS)

    def mean(mass):
        return float(mass.sum() / whole.sum())

    expected = {"constant": mean(whole * c[:, None])} if constant else {}
    expected |= {"P(012)": 1.0 - mean(whole[:, 0]), "E w(012)": mean(whole * full)}
    copies = mean(whole * full_count)
    for p in PAIRS:
        others = base * math.prod(own[q][0] for q in PAIRS if q != p)
        expected[f"P({label(p)})"] = 1.0 - mean(others * own[p][1])
        expected[f"E w({label(p)})"] = mean(others * own[p][2])
        copies += mean(others * own[p][3])
    for i, j in PAIRS:
        shared = expected[f"E w({i}{j})"] + expected["E w(012)"]
        expected[f"similarity[{i}, {j}]"] = expected.get("constant", 0.0) + shared
    return expected | {"n_shared_features": copies}


def two_columns(similarities, sigma, weight_prior, decisions):
    """The same for two columns, each independently with owners h with probability chance[h], h of
    any size from 0."""
    shape, rate = weight_prior
    w, step = nodes(count=80)
    prior = gamma.pdf(w, shape, scale=1.0 / rate) * step
    own = {h: decisions[h] for h in SHARED}
    unshared = {h: p for h, p in decisions.items() if len(h) < 2}
    own[()] = sum(unshared.values())
    total: dict[str, float] = {}
    evidence = 0.0
    for one in own:
        for other in own:
            # a weight that no pair sees keeps its prior, and has no axis
            a, b = (w if one else np.zeros(1)), (w if other else np.zeros(1))
            c, a, b = w[:, None, None], a[None, :, None], b[None, None, :]
            mass = own[one] * own[other] * prior[:, None, None]
            if one:
                mass = mass * prior[None, :, None]
            if other:
                mass = mass * prior[None, None, :]
            mu = {p: c + a * (set(p) <= set(one)) + b * (set(p) <= set(other)) for p in PAIRS}
            for i, j in PAIRS:
                mass = mass * norm.pdf(similarities[i][j], mu[i, j], sigma)
            evidence += mass.sum()
            here = {f"similarity[{i}, {j}]": (mass * mu[i, j]).sum() for i, j in PAIRS}
            here["constant"] = (mass * c).sum()
            here["n_shared_features"] = mass.sum() * (bool(one) + bool(other))
            single = 1.0 - unshared[()] / own[()]
            here["n_features"] = mass.sum() * sum(1.0 if h else single for h in (one, other))
            for h in {one, other} - {()}:
                here[f"P({label(h)})"] = mass.sum()
                here[f"E w({label(h)})"] = (mass * (a * (one == h) + b * (other == h))).sum()
            for name, value in here.items():
                total[name] = total.get(name, 0.0) + float(value)
    return {name: value / evidence for name, value in total.items()}


def two_objects_unknown_sigma(similarity, alpha, weight_prior, prior_scale):
    """Two objects, sigma^2 ~ InverseGamma(2, prior_scale): given the residual r InverseGamma(2.5,
    scale + r^2/2)."""
    shape, rate = weight_prior
    t, step = nodes(top=6.0, count=600)
    counts = np.arange(MOST)
    prior = poisson.pmf(counts, alpha / 2.0)[:, None] * gamma.pdf(
        t, (counts[:, None] + 1) * shape, scale=1.0 / rate
    )
    scale = prior_scale + 0.5 * (similarity - t) ** 2
    mass = prior * step * scale**-2.5
    mass /= mass.sum()
    pmf = mass.sum(1)
    expected = {f"n_shared_features={k}": pmf[k] for k in range(4)}
    return expected | {
        "n_shared_features": pmf @ counts,
        "constant": ((mass @ t) / (counts + 1)).sum(),
        "similarity[0, 1]": (mass @ t).sum(),
        "sigma": (mass @ np.sqrt(scale)).sum() * math.gamma(2.0) / math.gamma(2.5),
    }


def given_features_unknown_sigma(similarities, weight_prior, prior_scale, judgements=EQUAL):
    """The features {01} and {012} of three objects, sigma^2 ~ InverseGamma(2, prior_scale)."""
    shape, rate = weight_prior
    near, far = nodes(1.2, 120), nodes(5.0, 60)  # most of the mass, and heavy tails
    w = np.concatenate([near[0], 1.2 + far[0]])
    prior = gamma.pdf(w, shape, scale=1.0 / rate) * np.concatenate([near[1], far[1]])
    a, b, c = w[:, None, None], w[None, :, None], w[None, None, :]
    fitted = {(0, 1): a + b + c, (0, 2): b + c, (1, 2): b + c}
    scale = prior_scale + 0.5 * sum(
        judgements[i][j] * (similarities[i][j] - mu) ** 2 for (i, j), mu in fitted.items()
    )
    mass = prior[:, None, None] * prior[None, :, None] * prior[None, None, :] * scale**-3.5
    mass /= mass.sum()
    sigma = (mass * np.sqrt(scale)).sum() * math.gamma(3.0) / math.gamma(3.5)
    expected = {"sigma": sigma, "E w(01)": (mass * a).sum(), "E w(012)": (mass * b).sum()}
    expected |= {"constant": (mass * c).sum(), "constant^2": (mass * c**2).sum()}
    return {name: float(value) for name, value in expected.items()}
