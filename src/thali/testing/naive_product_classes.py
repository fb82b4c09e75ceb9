"""Product classes, slow and obvious, written apart from the compiled code that it checks.

A class is a `Lambda`: which attributes are active, and which levels of each; a person owns a list of `Feature`. Levels
run from worst to best here.
"""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from thali.choice.product_classes.particles import Particles

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
    """A class of products: the levels of each attribute that belong to it; None where the attribute is inactive."""

    sets: tuple[frozenset[int] | None, ...]
    polarity: int  # -1 no monotone attribute is active, 0 upper levels, 1 lower levels


@dataclass
class Feature:
    """A class that a person owns: its number, 0 liked or 1 disliked, and the logarithms of its values."""

    k: int
    sign: int
    log_theta: float
    log_eps: list[float] = field(default_factory=list)  # one a task of this person


def contains(lam: Lambda, product: Any) -> bool:
    """Whether a product (levels counted from 0, -1 = the attribute is missing) belongs to the class."""
    return all(s is None or (level >= 0 and level in s) for s, level in zip(lam.sets, product, strict=True))


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
        polarities = (0, 1) if any(m and on for m, on in zip(monotone, active, strict=True)) else (-1,)
        for rho in polarities:
            choices = [list(subsets(i, rho)) if on else [None] for i, on in enumerate(active)]
            found += [Lambda(tuple(sets), rho) for sets in product(*choices)]
    return found


def log_prior_class(lam: Lambda, n_levels: Any, monotone: Any) -> float:
    """ln P(Λ): a uniform number of active attributes, each such set alike, a coin, uniform sizes and sets of a size."""
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
    """The logarithm of a draw from Gamma(shape, 1), by ln G(shape) = ln G(shape + 1) + ln(U) / shape."""
    return math.log(rng.gamma(shape + 1.0)) + math.log(1.0 - rng.random()) / shape


def log_prior_signs(owners: int, negative: int, polarity: int) -> float:
    """ln P of the signs of a class's owners: forced where a monotone attribute is active, else an urn."""
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
    """ln density of a whole state: marked, unordered columns of the two-parameter IBP, values on the log scale."""
    n = len(people)
    total = -a + math.log(a)  # Gamma(1, 1) of a, on the scale of ln a
    total += math.log(sigma) + math.log1p(-sigma)  # Beta(1, 1), on the scale of logit sigma
    if learned_alpha:
        total += -alpha
    total -= alpha * sum(beta / (beta + i) for i in range(n))
    for k, lam in enumerate(classes):
        signs = [f.sign for person in people for f in person if f.k == k]
        m = len(signs)
        total += math.log(alpha * beta) + math.lgamma(m) + math.lgamma(n - m + beta) - math.lgamma(n + beta)
        total += log_prior_class(lam, n_levels, monotone) + log_prior_signs(m, sum(signs), lam.polarity)
    g, h = sigma * a, (1.0 - sigma) * a
    for person in people:
        for f in person:
            total += g * f.log_theta - math.exp(f.log_theta) - math.lgamma(g)
            for value in f.log_eps:
                if not math.isnan(value):
                    total += h * value - math.exp(value) - math.lgamma(h)
    return total


def utility_terms(classes: Any, owned: Any, product: Any, t: int) -> dict[int, tuple[int, float]]:
    """{feature: (±1, ln of its value)} for the features of a person whose class contains the product."""
    terms = {}
    for i, f in enumerate(owned):
        if contains(classes[f.k], product):
            terms[i] = (1 - 2 * f.sign, float(np.logaddexp(f.log_theta, f.log_eps[t])))
    return terms


def _sign_of_difference(first: dict[Any, Any], second: dict[Any, Any]) -> int:
    """Sign of one utility minus another, from the features that separate the two alone; 0 only if there is none."""
    apart = [first[i] for i in first.keys() - second.keys()]
    apart += [(-s, v) for s, v in (second[i] for i in second.keys() - first.keys())]
    if not apart:
        return 0
    top = max(v for _, v in apart)
    return 1 if math.fsum(s * math.exp(v - top) for s, v in apart) > 0.0 else -1


def choice_likelihood(
    classes: Any, owned: Any, products: Any, chosen: int, t: int, *, sharpness: Any = math.inf, lapse: float = 0.0
) -> float:
    """Probability of the choice among the products: the best wins, ties are split; or a logit; then the lapse."""
    terms = [utility_terms(classes, owned, x, t) for x in products]
    if math.isinf(sharpness):
        signs = [_sign_of_difference(terms[chosen], other) for j, other in enumerate(terms) if j != chosen]
        hit = 0.0 if min(signs, default=0) < 0 else 1.0 / (1 + signs.count(0))
    else:
        u = [sum(s * math.exp(v) for s, v in x.values()) for x in terms]
        hit = 1.0 / sum(math.exp(sharpness * (value - u[chosen])) for value in u)
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
    """Draws from the prior in the form that a fit keeps; what is given is fixed, what is None is drawn."""
    monotone = np.asarray(monotone, np.int8)
    offset = np.concatenate([[0], np.cumsum(n_levels)]).astype(np.int64)
    rows: dict[str, list[Any]] = {name: [] for name in Particles._fields}
    first_class, first_owned = [0], [0]
    for d in range(draws * groups):
        own_a, own_sigma = rng.gamma(1.0) if a is None else a, rng.random() if sigma is None else sigma
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
        for name, value in (("group", d // draws), ("a", own_a), ("sigma", own_sigma), ("alpha", own_alpha)):
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
