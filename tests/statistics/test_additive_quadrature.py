"""The expected values in tests/cases/additive.json, computed once more without any of the library's
code.

As a multiset of columns the Indian buffet is independent Poisson counts: K_h copies of the column
with owners h, of mean α (n - |h|)! (|h| - 1)! / n!. Given K_h their summed weight is Gamma(K_h
shape, rate). A pair's own column touches that pair alone, so that up to three objects only the sum
g of the constant and the full column couples the pairs: a quadrature over g, inside it one over
each pair's own weight. For four objects the triples come between the two.
"""

import json
import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from helpers.places import PUBLISHED
from numpy.polynomial.legendre import leggauss
from scipy.interpolate import CubicSpline
from scipy.stats import gamma, norm, poisson

CASES = {c["name"]: c for c in json.loads((PUBLISHED / "additive.json").read_text())["cases"]}
GIVEN = [name for name, case in CASES.items() if "features" in case["model"]]
BY_SIZE = {
    n: [k for k, c in CASES.items() if len(c["similarities"]) == n and k not in GIVEN]
    for n in (2, 3, 4)
}
MOST = 40  # copies of one column
SHARED = "n_shared_features"


def share_of_pattern(n, owners):
    """c_m: the expected number of columns with one given set of owners is α times this."""
    return math.factorial(n - owners) * math.factorial(owners - 1) / math.factorial(n)


def settings(case):
    model = case["model"]
    return len(case["similarities"]), model["sigma"], model.get("alpha"), *model["weight_prior"]


def own_column(r, rate_of_copies, shape, rate, sigma, most=MOST):
    """What a pair's own column makes of a residual r: density of r jointly with k copies, (k, r),
    and with weight w."""
    x, weight = leggauss(150)
    low, high = np.maximum(r - 12.0 * sigma, 0.0), np.maximum(r, 0.0) + 12.0 * sigma
    w = low[:, None] + 0.5 * (high - low)[:, None] * (x + 1.0)
    noise = 0.5 * (high - low)[:, None] * weight * norm.pdf(r[:, None], w, sigma)
    joint, weighted = [norm.pdf(r, 0.0, sigma) * poisson.pmf(0, rate_of_copies)], np.zeros_like(r)
    for k in range(1, most + 1):
        mass = poisson.pmf(k, rate_of_copies) * noise * gamma.pdf(w, k * shape, scale=1.0 / rate)
        joint.append(mass.sum(1))
        weighted += (mass * w).sum(1)
    return np.array(joint), weighted


def posterior_of_few(case):
    """Log evidence and expectations by name, for two or three objects."""
    n, sigma, alpha, shape, rate = settings(case)
    pairs = list(combinations(range(n), 2))
    s = {pair: case["similarities"][pair[0]][pair[1]] for pair in pairs}
    x, weight = leggauss(200)
    high = max(0.0, *s.values()) + 12.0 * sigma
    g = 0.5 * high * (x + 1.0)
    full = np.array(
        [
            0.5
            * high
            * weight
            * poisson.pmf(k, alpha / n)
            * gamma.pdf(g, (k + 1) * shape, scale=1.0 / rate)
            for k in range(MOST + 1)
        ]
    )
    # of two objects the pair is the full set
    copies = alpha * share_of_pattern(n, 2) if n > 2 else 0.0
    tables = {pair: own_column(s[pair] - g, copies, shape, rate, sigma) for pair in pairs}
    by_count = full
    for joint, _ in tables.values():
        by_count = np.array([(by_count[: k + 1] * joint[k::-1]).sum(0) for k in range(MOST + 1)])
    by_count = by_count.sum(1)
    evidence = by_count.sum()

    density = {pair: joint.sum(0) for pair, (joint, _) in tables.items()}
    others = {pair: np.prod([density[p] for p in pairs if p != pair], axis=0) for pair in pairs}
    everything = np.prod(list(density.values()), axis=0)
    copies_plus_one = np.arange(1, MOST + 2)[:, None]
    mean_g = (full * everything * g).sum() / evidence
    constant = (full * everything * g / copies_plus_one).sum() / evidence
    found = {f"{SHARED}={k}": p / evidence for k, p in enumerate(by_count)}
    found |= {SHARED: (np.arange(MOST + 1) * by_count).sum() / evidence, "constant": constant}
    if n == 3:
        found["P(012)"] = (full[1:] * everything).sum() / evidence
        found["E w(012)"] = mean_g - constant
    for (i, j), (joint, weighted) in tables.items():
        own = (full.sum(0) * others[i, j] * weighted).sum() / evidence
        found[f"P({i}{j})"] = (full.sum(0) * others[i, j] * joint[1:].sum(0)).sum() / evidence
        found[f"E w({i}{j})"] = own
        found[f"similarity[{i}, {j}]"] = mean_g + own
    return math.log(evidence), found


@pytest.mark.parametrize("name", BY_SIZE[2] + BY_SIZE[3])
def test_posteriors_of_two_and_three_objects(name):
    case = CASES[name]
    log_evidence, found = posterior_of_few(case)
    # half a unit of the last printed digit, and a little
    error = 6e-8 if name in BY_SIZE[2] else 6e-7
    assert log_evidence == pytest.approx(case["log_evidence"], rel=0, abs=error)
    for quantity, expected in case["expected"].items():
        assert found[quantity] == pytest.approx(expected, rel=0, abs=error), quantity


def splines(case, z=1.0):
    """A pair's own column as functions of the residual: all copies, with a factor z each; none; the
    summed weight."""
    n, sigma, alpha, shape, rate = settings(case)
    grid = np.linspace(-40.0 * sigma, 1.0, 1500)
    joint, weighted = own_column(grid, alpha * share_of_pattern(n, 2), shape, rate, sigma, most=12)
    copies = z ** np.arange(13)[:, None]
    values = {"all": (copies * joint).sum(0), "absent": joint[0], "weight": weighted}
    return {what: CubicSpline(grid, value) for what, value in values.items()}


def integral_of_four(case, own, z=1.0, column=None, what="all"):
    """Density of the similarities of four objects, with a factor z for every copy of a column.

    Of one `column` only "absent" states count, or all by its summed "weight"; "constant" stands for
    a column too. Given g and the weight of {012}, the other triples a = {013}, b = {023}, c = {123}
    meet two at a time, in the pairs 03, 13 and 23: the sum over all three is the trace of a product
    of matrices. (40 and 50 nodes change 1e-8.)
    """
    _, sigma, alpha, shape, rate = settings(case)
    s = case["similarities"]
    everyone = (0, 1, 2, 3)

    def nodes(owners, number):
        """Summed weights of what these objects share, up to where their least similarity allows
        none."""
        x, weight = leggauss(number)
        high = min(s[i][j] for i, j in combinations(owners, 2)) + 9.0 * sigma
        return 0.5 * high * (x + 1.0), 0.5 * high * weight

    g, weight = nodes(everyone, 30)
    full = np.zeros(len(g), dtype=type(z))
    for k in range(15):
        mass = (
            z**k
            * poisson.pmf(k, alpha / 4.0)
            * weight
            * gamma.pdf(g, (k + 1) * shape, scale=1.0 / rate)
        )
        part = g / (k + 1)  # each copy's, and the constant's
        if column == "constant":
            mass = mass * part
        elif column == everyone:
            mass = mass * {"absent": k == 0, "weight": k * part}[what]
        full += mass

    def triple(owners):
        """Summed weights and their masses; the first is the absent column."""
        t, weight = nodes(owners, 36)
        mean = alpha * share_of_pattern(4, 3)
        mass = sum(
            z**k * poisson.pmf(k, mean) * gamma.pdf(t, k * shape, scale=1.0 / rate)
            for k in range(1, 15)
        )
        t, mass = np.append(0.0, t), np.append(poisson.pmf(0, mean), weight * mass)
        return t, mass * {"absent": t == 0.0, "weight": t, "all": 1.0}[
            what if column == owners else "all"
        ]

    def density(i, j, shared):
        return own[what if column == (i, j) else "all"](s[i][j] - shared)

    (t, of_t), (a, of_a), (b, of_b), (c, of_c) = (
        triple(owners) for owners in combinations(everyone, 3)
    )
    total = 0.0
    for base, mass in zip(g, full, strict=True):
        upper = base + t[:, None, None]
        one = (
            of_a[:, None] * density(0, 1, upper + a[:, None]) * density(0, 3, base + a[:, None] + b)
        )
        two = (
            of_b[:, None] * density(0, 2, upper + b[:, None]) * density(2, 3, base + b[:, None] + c)
        )
        three = (
            of_c[:, None] * density(1, 2, upper + c[:, None]) * density(1, 3, base + c[:, None] + a)
        )
        total += mass * (of_t * np.einsum("tac,tca->t", one @ two, three)).sum()
    return total


def posterior_of_four(case):
    """Log evidence and expectations by name, for four objects."""
    own = splines(case)
    evidence = integral_of_four(case, own)
    columns = [owners for size in (2, 3, 4) for owners in combinations(range(4), size)]
    label = {owners: "".join(map(str, owners)) for owners in columns}
    weight = {h: integral_of_four(case, own, column=h, what="weight") / evidence for h in columns}
    constant = integral_of_four(case, own, column="constant") / evidence
    found = {f"E w({label[h]})": value for h, value in weight.items()} | {"constant": constant}
    for h in columns:
        found[f"P({label[h]})"] = (
            1.0 - integral_of_four(case, own, column=h, what="absent") / evidence
        )
    for i, j in combinations(range(4), 2):
        shared = sum(value for h, value in weight.items() if i in h and j in h)
        found[f"similarity[{i}, {j}]"] = constant + shared
    # the generating function of the count at half the 16th roots of 1
    circle = np.exp(2j * np.pi * np.arange(9) / 16)
    values = np.array([integral_of_four(case, splines(case, z), z) for z in circle])
    pmf = np.fft.irfft(values.conj(), 16) / evidence
    return math.log(evidence), found | {f"{SHARED}={k}": p for k, p in enumerate(pmf)} | {
        SHARED: pmf @ np.arange(16)
    }


@pytest.mark.long  # the table does not change; those of two and three objects run by default
@pytest.mark.parametrize("name", BY_SIZE[4])
def test_posteriors_of_four_objects(name):
    """To half a unit of the last printed digit, and a little."""
    case = CASES[name]
    log_evidence, found = posterior_of_four(case)
    assert log_evidence == pytest.approx(case["log_evidence"], rel=0, abs=6e-7)
    for quantity, expected in case["expected"].items():
        assert found[quantity] == pytest.approx(expected, rel=0, abs=6e-7), quantity


@pytest.mark.parametrize("name", GIVEN)
def test_weights_of_given_features(name):
    """Three weights, {01}, {012} and the constant, by a quadrature in three dimensions."""
    case = CASES[name]
    _, sigma, _, shape, rate = settings(case)
    s = case["similarities"]
    x, weight = leggauss(90)
    w, prior = (
        0.75 * (x + 1.0),
        0.75 * weight * gamma.pdf(0.75 * (x + 1.0), shape, scale=1.0 / rate),
    )
    a, b, c = w[:, None, None], w[None, :, None], w[None, None, :]
    mass = prior[:, None, None] * prior[None, :, None] * prior[None, None, :]
    mass = (
        mass
        * norm.pdf(s[0][1], a + b + c, sigma)
        * norm.pdf(s[0][2], b + c, sigma)
        * norm.pdf(s[1][2], b + c, sigma)
    )
    evidence = mass.sum()

    def mean(value):
        return float((mass * value).sum() / evidence)

    expected = dict(case["expected"])
    assert math.log(evidence) == pytest.approx(case["log_evidence"], abs=1e-7)
    for label, value in (("w(01)", a), ("w(012)", b), ("constant", c)):
        first = expected.pop(label if label == "constant" else f"E {label}")
        assert mean(value) == pytest.approx(first, abs=1e-7)
        assert math.sqrt(mean(value**2) - mean(value) ** 2) == pytest.approx(
            expected.pop(f"sd {label}"), abs=1e-7
        )
    assert mean(a * b) - mean(a) * mean(b) == pytest.approx(
        expected.pop("cov w(01) w(012)"), abs=1e-7
    )
    assert not expected


@pytest.mark.parametrize("n", [2, 3, 5, 8])
def test_the_expected_shares_of_a_pair_a_triple_and_a_quadruple(n):
    """The subsets that hold given k objects have Σ c_m = 1/k: α/2 columns are shared by a pair, α/3
    by a triple."""
    for k in range(1, min(n, 4) + 1):
        total = Fraction(0)
        for m in range(k, n + 1):
            pattern = Fraction(math.factorial(n - m) * math.factorial(m - 1), math.factorial(n))
            total += math.comb(n - k, m - k) * pattern
        assert total == Fraction(1, k)


def buffet(rng, n, alpha):
    """Columns by the sequential story: every object takes old columns by their number of owners,
    then new ones."""
    columns = []
    for i in range(n):
        for owners in columns:
            if rng.random() < len(owners) / (i + 1):
                owners.append(i)
        columns += [[i] for _ in range(rng.poisson(alpha / (i + 1)))]
    return columns


@pytest.mark.parametrize("alpha, shape, rate", [(1.0, 1.0, 10.0), (2.0, 2.0, 4.0)])
def test_prior_moments_of_similarities(alpha, shape, rate):
    """E s = (a/b)(1 + α/2), Var s = σ² + v + αv₂/2, covariances v + αv₂/3 (one object common), v +
    αv₂/4 (none)."""
    rng = np.random.default_rng(5)
    n, draws, sigma = 4, 8_000, 0.1
    similarity = np.empty((draws, 6))
    owned_by = np.zeros((draws, n + 1))
    pairs = list(combinations(range(n), 2))
    for d in range(draws):
        similarity[d] = rng.gamma(shape) / rate + sigma * rng.standard_normal(6)
        for owners in buffet(rng, n, alpha):
            owned_by[d, len(owners)] += 1
            w = rng.gamma(shape) / rate
            for p, (i, j) in enumerate(pairs):
                if i in owners and j in owners:
                    similarity[d, p] += w
    v, v2 = shape / rate**2, shape * (shape + 1.0) / rate**2
    centred = similarity - (shape / rate) * (1.0 + alpha / 2.0)
    figures = [(centred[:, p], 0.0) for p in range(6)]
    figures += [(centred[:, p] ** 2, sigma**2 + v + alpha * v2 / 2.0) for p in range(6)]
    figures += [(centred[:, 0] * centred[:, p], v + alpha * v2 / 3.0) for p in range(1, 5)]
    figures += [(centred[:, 0] * centred[:, 5], v + alpha * v2 / 4.0)]
    figures += [(owned_by[:, m], alpha / m) for m in range(1, n + 1)]
    for draw, expected in figures:  # 21 figures, twice: five errors fail for 1 seed in 40,000
        assert abs(draw.mean() - expected) <= 5.0 * draw.std() / math.sqrt(draws)
