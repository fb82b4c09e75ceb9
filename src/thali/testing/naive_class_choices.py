"""Choices that draws of product classes predict, written as slowly and obviously as possible.

Every random number is drawn in the order of the compiled code, so that the two agree to rounding. Utilities are sums
of fifty digits with exponents of any size, so that nothing underflows.
"""

from decimal import MIN_EMIN, Context, Decimal
from typing import Any

import numpy as np

_EXACT = Context(prec=50, Emin=MIN_EMIN)


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
    signatures = [tuple(_holds(draws, active, member, x) for active, member, _ in owned) for x in products]
    exact = [_EXACT.exp(Decimal(value)) for value in values]
    utilities = []
    for signature in signatures:
        utility = Decimal(0)
        for holds, value, (_, _, sign) in zip(signature, exact, owned, strict=True):
            if holds:
                utility = _EXACT.add(utility, -value if sign else value)
        utilities.append(utility)
    best = max(range(len(products)), key=lambda j: (utilities[j], -j))
    tied = np.array([signature == signatures[best] for signature in signatures])
    return tied / tied.sum()


def _owned(draws: Any, d: int, person: int, people: int) -> tuple[list[Any], list[Any]]:
    owned, log_theta = [], []
    for entry in range(draws.first_owned[d * people + person], draws.first_owned[d * people + person + 1]):
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


def _new_row(rng: np.random.Generator, draws: Any, d: int, people: int) -> tuple[list[Any], list[Any]]:
    owned, log_theta = [], []
    shape = float(draws.sigma[d] * draws.a[d])
    for c in range(draws.first_class[d], draws.first_class[d + 1]):
        if rng.random() * (draws.beta + people) < draws.n_owners[c]:
            sign = int(draws.polarity[c])
            if sign < 0:
                sign = int(rng.random() < (1 + draws.n_negative[c]) / (2 + draws.n_owners[c]))
            owned.append((draws.active[c], draws.member[c], sign))
            log_theta.append(_log_gamma(rng, shape))
    for _ in range(_poisson(rng, draws.alpha[d] * draws.beta / (draws.beta + people))):
        active, member, polarity = _class_from_prior(rng, draws)
        sign = polarity if polarity >= 0 else int(rng.random() * 2)
        owned.append((active, member, sign))
        log_theta.append(_log_gamma(rng, shape))
    return owned, log_theta


def choice_probabilities(
    rng: np.random.Generator, draws: Any, person: int, tasks: list[np.ndarray], repeats: int
) -> list[np.ndarray]:
    """Probability of each product of each task, averaged over draws and occasions, the lapse mixed in."""
    people = (len(draws.first_owned) - 1) // len(draws.a)
    totals = [np.zeros(len(products)) for products in tasks]
    for d in range(len(draws.a)):
        shape = (1.0 - draws.sigma[d]) * draws.a[d]
        # A known person's occasions are drawn task by task, those of a new one repetition by repetition.
        pairs = [(t, r) for t in range(len(tasks)) for r in range(repeats)]
        for t, _ in pairs if person >= 0 else sorted(pairs, key=lambda pair: pair[1]):
            if person >= 0:
                owned, log_theta = _owned(draws, d, person, people)
            elif t == 0:
                owned, log_theta = row = _new_row(rng, draws, d, people)
            else:
                owned, log_theta = row  # type: ignore[possibly-unbound]
            values, kept = [], []
            for (active, member, sign), theta in zip(owned, log_theta, strict=True):
                inside = [_holds(draws, active, member, x) for x in tasks[t]]
                if any(inside) and not all(inside):  # others touch no comparison, and no number is drawn for them
                    values.append(float(np.logaddexp(theta, _log_gamma(rng, shape))))
                    kept.append((active, member, sign))
            totals[t] += winners(kept, values, tasks[t], draws)
    lapse = draws.lapse
    return [(1 - lapse) * total / (len(draws.a) * repeats) + lapse / len(total) for total in totals]
