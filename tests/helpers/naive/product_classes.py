"""Product classes, slow and obvious, written apart from the compiled code that it checks.

A class is a `Lambda`: which attributes are active, and which levels of each; a person owns a list
of `Feature`. Levels run from worst to best here.
"""

import math
from dataclasses import dataclass, field
from decimal import MIN_EMIN, Context, Decimal
from typing import Any

import numpy as np

from thali._choice.product_classes.ragged_draws import Particles
from thali._choice.product_classes.state import ClassProblem

# The probability that a class from the prior separates products, in closed form -------------------


def probability_inside(problem: ClassProblem, products: np.ndarray, polarity: int) -> float:
    """P(all of some products belong to a class | its polarity, should an attribute with an order be
    active)."""
    levels = problem.n_levels
    codes = np.where(problem.direction < 0, levels - 1 - products, products)
    codes[products < 0] = -1
    probabilities = np.zeros(len(levels))
    for i, column in enumerate(codes.T):
        found = np.unique(column)
        if found[0] < 0:
            continue
        if problem.direction[i] != 0:
            probabilities[i] = (found[0] if polarity == 0 else levels[i] - 1 - found[-1]) / (
                levels[i] - 1
            )
        elif len(found) == 1:
            probabilities[i] = 0.5
        elif len(found) == 2:
            probabilities[i] = (levels[i] - 2) / (3 * (levels[i] - 1))
        else:
            raise NotImplementedError("no closed form for more than two levels of a free attribute")
    elementary = np.array([1.0])  # coefficients of Π (1 + p_i x)
    for p in probabilities:
        elementary = np.convolve(elementary, [1.0, p])
    size = len(levels)
    return float(sum(elementary[c] / (size * math.comb(size, c)) for c in range(1, size + 1)))


def separation_probability(problem: ClassProblem, first: np.ndarray, second: np.ndarray) -> float:
    """P(a class from the prior contains exactly one of two products)."""
    total = 0.0
    for polarity in (0, 1):
        one = probability_inside(problem, first[None, :], polarity)
        other = probability_inside(problem, second[None, :], polarity)
        total += 0.5 * (
            one + other - 2.0 * probability_inside(problem, np.array([first, second]), polarity)
        )
    return total


__all__ = [
    "Feature",
    "Lambda",
    "choice_likelihood",
    "contains",
    "draw_class",
    "draw_log_gamma",
    "every_class",
    "log_prior_class",
    "log_prior_signs",
    "log_prior_state",
    "random_particles",
    "utility_terms",
]


@dataclass(frozen=True)
class Lambda:
    """A class of products: the levels of each attribute that belong to it; None where the attribute
    is inactive."""

    sets: tuple[frozenset[int] | None, ...]
    polarity: int  # -1 no monotone attribute is active, 0 upper levels, 1 lower levels


@dataclass
class Feature:
    """A class that a person owns: its number, 0 liked or 1 disliked, and the logarithms of its
    values."""

    k: int
    sign: int
    log_theta: float
    log_eps: list[float] = field(default_factory=list)  # one a task of this person


def contains(lam: Lambda, product: Any) -> bool:
    """Whether a product (levels counted from 0, -1 = the attribute is missing) belongs to the
    class."""
    return all(
        s is None or (level >= 0 and level in s) for s, level in zip(lam.sets, product, strict=True)
    )


def every_class(n_levels: Any, monotone: Any) -> list[Lambda]:
    """All classes of an experiment; `monotone` is true for the attributes with an order."""
    from itertools import combinations, product

    def subsets(i: Any, rho: Any) -> Any:
        levels = range(n_levels[i])
        if monotone[i]:
            for cut in range(1, n_levels[i]):
                yield frozenset(levels[cut:] if rho == 0 else levels[:cut])
        else:
            for size in range(1, n_levels[i]):
                yield from map(frozenset, combinations(levels, size))

    found = []
    for active in product((False, True), repeat=len(n_levels)):
        if not any(active):
            continue
        polarities = (
            (0, 1) if any(m and on for m, on in zip(monotone, active, strict=True)) else (-1,)
        )
        for rho in polarities:
            choices = [list(subsets(i, rho)) if on else [None] for i, on in enumerate(active)]
            found += [Lambda(tuple(sets), rho) for sets in product(*choices)]
    return found


def log_prior_class(lam: Lambda, n_levels: Any, monotone: Any) -> float:
    """ln P(Λ): a uniform number of active attributes, each such set alike, a coin, uniform sizes
    and sets of a size."""
    active = [i for i, s in enumerate(lam.sets) if s is not None]
    total = -math.log(len(n_levels)) - math.log(math.comb(len(n_levels), len(active)))
    if any(monotone[i] for i in active):
        total -= math.log(2)
    for i in active:
        total -= math.log(n_levels[i] - 1)
        if not monotone[i]:
            total -= math.log(math.comb(n_levels[i], len(lam.sets[i] or ())))
    return total


def draw_class(rng: np.random.Generator, n_levels: Any, monotone: Any) -> Lambda:
    """A class from its prior."""
    n = len(n_levels)
    active = set(rng.choice(n, size=int(rng.integers(1, n + 1)), replace=False).tolist())
    rho = int(rng.integers(2)) if any(monotone[i] for i in active) else -1
    sets: list[frozenset[int] | None] = []
    for i in range(n):
        if i not in active:
            sets.append(None)
            continue
        cut = int(rng.integers(1, n_levels[i]))
        if monotone[i]:
            sets.append(frozenset(range(cut, n_levels[i]) if rho == 0 else range(cut)))
        else:
            sets.append(frozenset(rng.choice(n_levels[i], size=cut, replace=False).tolist()))
    return Lambda(tuple(sets), rho)


def draw_log_gamma(rng: np.random.Generator, shape: float) -> float:
    """The logarithm of a draw from Gamma(shape, 1), by ln G(shape) = ln G(shape + 1) + ln(U) /
    shape."""
    return math.log(rng.gamma(shape + 1.0)) + math.log(1.0 - rng.random()) / shape


def log_prior_signs(owners: int, negative: int, polarity: int) -> float:
    """ln P of the signs of a class's owners: forced where a monotone attribute is active, else an
    urn."""
    if polarity >= 0:
        return 0.0 if negative == polarity * owners else -math.inf
    return math.lgamma(1 + negative) + math.lgamma(1 + owners - negative) - math.lgamma(2 + owners)


def log_prior_state(
    classes: Any,
    people: Any,
    n_levels: Any,
    monotone: Any,
    a: Any,
    sigma: Any,
    alpha: Any,
    beta: Any,
    *,
    learned_alpha: bool = False,
) -> float:
    """ln density of a whole state: marked, unordered columns of the two-parameter IBP, values on
    the log scale."""
    n = len(people)
    total = -a + math.log(a)  # Gamma(1, 1) of a, on the scale of ln a
    total += math.log(sigma) + math.log1p(-sigma)  # Beta(1, 1), on the scale of logit sigma
    if learned_alpha:
        total += -alpha
    total -= alpha * sum(beta / (beta + i) for i in range(n))
    for k, lam in enumerate(classes):
        signs = [f.sign for person in people for f in person if f.k == k]
        m = len(signs)
        total += (
            math.log(alpha * beta)
            + math.lgamma(m)
            + math.lgamma(n - m + beta)
            - math.lgamma(n + beta)
        )
        total += log_prior_class(lam, n_levels, monotone) + log_prior_signs(
            m, sum(signs), lam.polarity
        )
    g, h = sigma * a, (1.0 - sigma) * a
    for person in people:
        for f in person:
            total += g * f.log_theta - math.exp(f.log_theta) - math.lgamma(g)
            for value in f.log_eps:
                if not math.isnan(value):
                    total += h * value - math.exp(value) - math.lgamma(h)
    return total


def utility_terms(classes: Any, owned: Any, product: Any, t: int) -> dict[int, tuple[int, float]]:
    """{feature: (±1, ln of its value)} for the features of a person whose class contains the
    product."""
    terms = {}
    for i, f in enumerate(owned):
        if contains(classes[f.k], product):
            terms[i] = (1 - 2 * f.sign, float(np.logaddexp(f.log_theta, f.log_eps[t])))
    return terms


def _sign_of_difference(first: dict[Any, Any], second: dict[Any, Any]) -> int:
    """Sign of one utility minus another, from the features that separate the two alone; 0 only if
    there is none."""
    terms = [first[i] for i in first.keys() - second.keys()]
    terms += [(-s, v) for s, v in (second[i] for i in second.keys() - first.keys())]
    if not terms:
        return 0
    top = max(v for _, v in terms)
    return 1 if math.fsum(s * math.exp(v - top) for s, v in terms) > 0.0 else -1


def choice_likelihood(
    classes: Any, owned: Any, products: Any, chosen: int, t: int, *, lapse: float = 0.0
) -> float:
    """Probability of the choice among the products: the best wins, ties are split; then the
    lapse."""
    terms = [utility_terms(classes, owned, x, t) for x in products]
    signs = [
        _sign_of_difference(terms[chosen], other) for j, other in enumerate(terms) if j != chosen
    ]
    hit = 0.0 if min(signs, default=0) < 0 else 1.0 / (1 + signs.count(0))
    return (1.0 - lapse) * hit + lapse / len(products)


def random_particles(
    rng: np.random.Generator,
    n_levels: Any,
    monotone: Any,
    n_respondents: int,
    *,
    draws: int = 4,
    groups: int = 2,
    alpha: float | None = None,
    beta: float = 1.0,
    a: float | None = None,
    sigma: float | None = None,
    lapse: float = 0.02,
) -> Particles:
    """Draws from the prior in the form that a fit keeps; what is given is fixed, what is None is
    drawn."""
    monotone = np.asarray(monotone, np.int8)
    offset = np.concatenate([[0], np.cumsum(n_levels)]).astype(np.int64)
    rows: dict[str, list[Any]] = {name: [] for name in Particles._fields}
    first_class, first_owned = [0], [0]
    for d in range(draws * groups):
        own_a, own_sigma = (
            rng.gamma(1.0) if a is None else a,
            rng.random() if sigma is None else sigma,
        )
        own_alpha = rng.gamma(1.0) if alpha is None else alpha
        classes: list[Lambda] = []
        owners: list[int] = []
        negative: list[int] = []
        for n in range(n_respondents):
            own = [k for k, m in enumerate(owners) if rng.random() < m / (beta + n)]
            for _ in range(rng.poisson(own_alpha * beta / (beta + n))):
                own.append(len(classes))
                classes.append(draw_class(rng, n_levels, monotone != 0))
                owners.append(0)
                negative.append(0)
            for k in own:
                urn = rng.random() < (1 + negative[k]) / (2 + owners[k])
                sign = int(urn) if classes[k].polarity < 0 else classes[k].polarity
                owners[k] += 1
                negative[k] += sign
                rows["owned_class"].append(k)
                rows["owned_sign"].append(sign)
                rows["owned_log_theta"].append(draw_log_gamma(rng, own_sigma * own_a))
            first_owned.append(len(rows["owned_class"]))
        for lam, m, s in zip(classes, owners, negative, strict=True):
            rows["active"].append([levels is not None for levels in lam.sets])
            rows["member"].append(_natural(lam, n_levels, monotone))
            rows["polarity"].append(lam.polarity)
            rows["n_owners"].append(m)
            rows["n_negative"].append(s)
        first_class.append(len(rows["polarity"]))
        for name, value in (
            ("group", d // draws),
            ("a", own_a),
            ("sigma", own_sigma),
            ("alpha", own_alpha),
        ):
            rows[name].append(value)
    return Particles(
        group=np.array(rows["group"], np.int64),
        a=np.array(rows["a"], float),
        sigma=np.array(rows["sigma"], float),
        alpha=np.array(rows["alpha"], float),
        log_likelihood=np.zeros(draws * groups),
        lapse=lapse,
        beta=beta,
        offset=offset,
        monotone=monotone,
        first_class=np.array(first_class, np.int64),
        active=np.array(rows["active"], bool).reshape(-1, len(n_levels)),
        member=np.array(rows["member"], bool).reshape(-1, offset[-1]),
        polarity=np.array(rows["polarity"], np.int8),
        n_owners=np.array(rows["n_owners"], np.int64),
        n_negative=np.array(rows["n_negative"], np.int64),
        first_owned=np.array(first_owned, np.int64),
        owned_class=np.array(rows["owned_class"], np.int64),
        owned_sign=np.array(rows["owned_sign"], np.int8),
        owned_log_theta=np.array(rows["owned_log_theta"], float),
    )


def _natural(lam: Lambda, n_levels: Any, monotone: Any) -> list[bool]:
    """Membership of every level in the natural order of the data."""
    out: list[bool] = []
    for levels, n, direction in zip(lam.sets, n_levels, monotone, strict=True):
        row = [levels is None or i in levels for i in range(n)]
        out += row[::-1] if direction < 0 else row
    return out


# Choices that draws of product classes predict, written as slowly and obviously as possible -------
#
# Every random number is drawn in the order of the compiled code, so that the two agree to rounding.
# Utilities are sums of up to a thousand digits with exponents of any size, so that nothing
# underflows: forty beyond what the values span.


def _digits_for(values: list[Any]) -> Context:
    return Context(
        prec=min(1000, 40 + int(np.ptp(values) / math.log(10))) if values else 40, Emin=MIN_EMIN
    )


def _log_gamma(rng: np.random.Generator, shape: float) -> float:
    if shape >= 1.0:
        return float(np.log(rng.standard_gamma(shape)))
    return float(np.log(rng.standard_gamma(shape + 1.0)) - rng.standard_exponential() / shape)


def _holds(draws: Any, active: Any, member: Any, product: Any) -> bool:
    """Whether a product is in the set, attribute by attribute."""
    for i, level in enumerate(product):
        if active[i] and (level < 0 or not member[draws.offset[i] : draws.offset[i + 1]][level]):
            return False
    return True


def winners(owned: list[Any], values: list[Any], products: np.ndarray, draws: Any) -> np.ndarray:
    """The share 1/#winners of every product in the set, 0 of the others."""
    signatures = [
        tuple(_holds(draws, active, member, x) for active, member, _ in owned) for x in products
    ]
    arithmetic = _digits_for(values)
    exact = [arithmetic.exp(Decimal(value)) for value in values]
    utilities = []
    for signature in signatures:
        utility = Decimal(0)
        for holds, value, (_, _, sign) in zip(signature, exact, owned, strict=True):
            if holds:
                utility = arithmetic.add(utility, -value if sign else value)
        utilities.append(utility)
    best = max(range(len(products)), key=lambda j: (utilities[j], -j))
    tied = np.array([signature == signatures[best] for signature in signatures])
    return tied / tied.sum()


def _owned(draws: Any, d: int, person: int, people: int) -> tuple[list[Any], list[Any]]:
    owned, log_theta = [], []
    for entry in range(
        draws.first_owned[d * people + person], draws.first_owned[d * people + person + 1]
    ):
        c = draws.first_class[d] + draws.owned_class[entry]
        owned.append((draws.active[c], draws.member[c], int(draws.owned_sign[entry])))
        log_theta.append(float(draws.owned_log_theta[entry]))
    return owned, log_theta


def _class_from_prior(rng: np.random.Generator, draws: Any) -> tuple[np.ndarray, np.ndarray, int]:
    attributes = len(draws.monotone)
    order = list(range(attributes))
    number = 1 + int(rng.random() * attributes)
    for place in range(number):
        other = place + int(rng.random() * (attributes - place))
        order[place], order[other] = order[other], order[place]
    active = np.isin(np.arange(attributes), order[:number])
    member = np.ones(draws.offset[-1], bool)
    polarity = -1
    for i in np.flatnonzero(active):
        levels = int(draws.offset[i + 1] - draws.offset[i])
        size = 1 + int(rng.random() * (levels - 1))
        held = np.zeros(levels, bool)
        if draws.monotone[i] == 0:
            for level in range(levels):
                if rng.random() * (levels - level) < size - held.sum():
                    held[level] = True
        else:
            if polarity < 0:
                polarity = int(rng.random() * 2)
            best_first = np.argsort(-draws.monotone[i] * np.arange(levels))
            held[best_first[:size] if polarity == 0 else best_first[levels - size :]] = True
        member[draws.offset[i] : draws.offset[i + 1]] = held
    return active, member, polarity


def _poisson(rng: np.random.Generator, mean: float) -> int:
    count, time = 0, rng.standard_exponential()
    while time < mean:
        count, time = count + 1, time + rng.standard_exponential()
    return count


def _newcomer(
    rng: np.random.Generator, draws: Any, d: int, people: int
) -> tuple[list[Any], list[Any]]:
    """Return what a new person owns: signed classes, and ln θ."""
    owned, log_theta = [], []
    new = _poisson(rng, draws.alpha[d] * draws.beta / (draws.beta + people))
    classes = [(*_class_from_prior(rng, draws), 0, 0) for _ in range(new)]
    columns = (draws.active, draws.member, draws.polarity, draws.n_owners, draws.n_negative)
    known = [tuple(column[c] for column in columns) for c in range(*draws.first_class[d : d + 2])]
    for active, member, polarity, owners, negative in [*known, *classes]:
        if owners and rng.random() * (draws.beta + people) >= owners:
            continue
        sign = int(polarity) if polarity >= 0 else int(rng.random() * (2 + owners) < 1 + negative)
        owned.append((active, member, sign))
        log_theta.append(_log_gamma(rng, float(draws.sigma[d] * draws.a[d])))
    return owned, log_theta


def choice_probabilities(
    rng: np.random.Generator, draws: Any, person: int, tasks: list[np.ndarray], repeats: int
) -> list[np.ndarray]:
    """Probability of each product of each task, averaged over draws and occasions, the lapse mixed
    in."""
    people = (len(draws.first_owned) - 1) // len(draws.a)
    totals = [np.zeros(len(products)) for products in tasks]
    for d in range(len(draws.a)):
        shape = (1.0 - draws.sigma[d]) * draws.a[d]
        # of a new person task by task, on the same values
        for _ in range(repeats if person < 0 else 1):
            if person >= 0:
                owned, log_theta = _owned(draws, d, person, people)
                occasions = [[products] for products in tasks for _ in range(repeats)]
                places = [[t] for t in range(len(tasks)) for _ in range(repeats)]
            else:
                owned, log_theta = _newcomer(rng, draws, d, people)
                occasions, places = [tasks], [range(len(tasks))]
            for some, at in zip(occasions, places, strict=True):
                values, kept = [], []
                for (active, member, sign), theta in zip(owned, log_theta, strict=True):
                    inside = [
                        _holds(draws, active, member, x) for products in some for x in products
                    ]
                    # others touch no comparison, and no number is drawn for them
                    if any(inside) and not all(inside):
                        values.append(float(np.logaddexp(theta, _log_gamma(rng, shape))))
                        kept.append((active, member, sign))
                for t, products in zip(at, some, strict=True):
                    totals[t] += winners(kept, values, products, draws)
    lapse = draws.lapse
    return [(1 - lapse) * total / (len(draws.a) * repeats) + lapse / len(total) for total in totals]
