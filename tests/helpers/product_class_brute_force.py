"""A choice experiment whose posterior is known by brute force: draws from the prior, weighted by
the likelihood.

Nothing of the library is used here. People come to the buffet one after the other; two of them,
whose choices are not in the data, stand for new people: what both of them choose at once says how
uncertain the population is. The prior, with the letters of `ProductClasses`: alpha ~ Gamma(1, 1), a
~ Gamma(1, 1), sigma ~ Uniform(0, 1).

    cd tests; python -m helpers.product_class_brute_force 16000000

writes cases/product_class_brute_force.json: of every quantity the value and its standard error.
"""

import json
import sys

import numpy as np

from helpers.places import PUBLISHED

LAPSE = 0.1
KNOWN, NEW = 3, 2
LEVELS = (2, 3, 3)  # inside, price, brand
PRICE = 1
NO_CHOICE = (0, -1, -1)
CASES = PUBLISHED / "product_class_brute_force.json"


def product(price: int, brand: int) -> tuple[int, int, int]:
    """A product: price 1, 2, 3; brand A, B, C = 0, 1, 2; -1 it has none."""
    return (1, price - 1, brand)


# Of every person, of every task: the products, and which was chosen.
CHOICES = [
    [
        ([product(1, 0), product(2, 1), NO_CHOICE], 0),
        ([product(3, 0), product(1, 2), product(2, 1)], 1),
        ([product(2, 2), product(3, 1), NO_CHOICE], 2),
    ],
    [([product(1, 1), product(3, 0), NO_CHOICE], 1), ([product(2, 0), product(2, -1)], 0)],
    [
        ([product(3, 2), product(1, 1), product(2, 0), NO_CHOICE], 1),
        ([product(1, 2), product(2, 0)], 0),
    ],
]
ASKED = [product(1, 2), product(2, 0), product(3, 1), NO_CHOICE]
MARKET = [product(1, 1), product(2, 0), product(3, 2), NO_CHOICE]
AFTER = [product(1, 1), product(2, 0), product(1, 2), NO_CHOICE]  # the third costs 1


def log_gamma(rng, shape):
    """ln of a Gamma(shape, 1) variate, however small."""
    return np.log(rng.standard_gamma(shape + 1.0)) - rng.standard_exponential(len(shape)) / shape


class Classes:
    """The classes of so many draws from the prior, a row each, and who owns which."""

    def __init__(self, rng, draws: int):
        self.draws = draws
        self.alpha, self.a, self.sigma = (
            rng.standard_exponential(draws),
            rng.standard_exponential(draws),
            rng.random(draws),
        )
        people = KNOWN + NEW
        first = [rng.poisson(self.alpha / (1 + n)) for n in range(people)]
        draw = np.concatenate([np.repeat(np.arange(draws), count) for count in first])
        founder = np.concatenate([np.full(count.sum(), n) for n, count in enumerate(first)])
        order = np.argsort(draw, kind="stable")
        self.draw, founder = draw[order], founder[order]
        self.rows = len(self.draw)
        self.draw_sets(rng)
        self.owns = np.zeros((people, self.rows), bool)
        self.sign = np.zeros((people, self.rows))
        owners, dislike = np.zeros(self.rows), np.zeros(self.rows)
        for n in range(people):
            joins = (founder == n) | ((founder < n) & (rng.random(self.rows) < owners / (1 + n)))
            urn = rng.random(self.rows) < (1.0 + dislike) / (2.0 + owners)
            disliked = np.where(self.polarity >= 0, self.polarity == 1, urn)
            self.owns[n], self.sign[n] = joins, np.where(disliked, -1.0, 1.0)
            owners, dislike = owners + joins, dislike + (joins & disliked)

    def draw_sets(self, rng) -> None:
        attributes = len(LEVELS)
        number = rng.integers(1, attributes + 1, self.rows)
        rank = np.argsort(np.argsort(rng.random((self.rows, attributes)), axis=1), axis=1)
        self.active = rank < number[:, None]
        self.polarity = np.where(self.active[:, PRICE], rng.integers(2, size=self.rows), -1)
        self.member = []
        for i, levels in enumerate(LEVELS):
            size = rng.integers(1, levels, self.rows)[:, None]
            if i == PRICE:  # the cheapest ones are liked, the dearest ones disliked
                place = np.arange(levels)[None, :]
                self.member.append(
                    np.where(self.polarity[:, None] == 1, place >= levels - size, place < size)
                )
            else:
                self.member.append(
                    np.argsort(np.argsort(rng.random((self.rows, levels)), axis=1), axis=1) < size
                )

    def holds(self, x) -> np.ndarray:
        """Which classes a product is in."""
        inside = np.ones(self.rows, bool)
        for i, level in enumerate(x):
            inside &= ~self.active[:, i] | (self.member[i][:, level] if level >= 0 else False)
        return inside


class Person:
    """What one person owns in every draw."""

    def __init__(self, rng, classes: Classes, n: int):
        own = np.flatnonzero(classes.owns[n])
        self.classes, self.own, self.draw, self.sign = (
            classes,
            own,
            classes.draw[own],
            classes.sign[n, own],
        )
        self.theta = log_gamma(rng, (classes.sigma * classes.a)[self.draw])
        self.passing = ((1.0 - classes.sigma) * classes.a)[self.draw]

    def occasion(self, rng) -> np.ndarray:
        """ln of the values of the classes on one occasion."""
        return np.logaddexp(self.theta, log_gamma(rng, self.passing))

    def shares(self, value: np.ndarray, products: list) -> np.ndarray:
        """Probability that each product is taken, (products, draws): 1, or shared by those that
        nothing separates."""
        held = [self.classes.holds(x)[self.own] for x in products]
        count, draws = len(products), self.classes.draws
        best, alike = np.ones((count, draws), bool), np.ones((count, count, draws), bool)
        for j in range(count):
            for k in range(j):
                apart = np.flatnonzero(held[j] != held[k])
                draw, ends = np.unique(self.draw[apart], return_index=True)
                if not len(draw):
                    continue
                own = value[apart]
                top = np.repeat(np.maximum.reduceat(own, ends), np.diff(np.append(ends, len(own))))
                part = np.exp(own - top) * self.sign[apart] * np.where(held[j][apart], 1.0, -1.0)
                ahead = np.add.reduceat(part, ends) > 0
                best[j, draw] &= ahead
                best[k, draw] &= ~ahead
                alike[j, k, draw] = alike[k, j, draw] = False
        return best / np.maximum((best[:, None] & alike).sum(axis=1), 1)


def block(rng, draws: int) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Weights of draws from the prior, and the quantities in each of them."""
    classes = Classes(rng, draws)
    people = [Person(rng, classes, n) for n in range(KNOWN + NEW)]
    weight = np.ones(draws)
    for person, tasks in zip(people, CHOICES, strict=False):
        for products, chosen in tasks:
            taken = person.shares(person.occasion(rng), products)[chosen]
            weight *= (1.0 - LAPSE) * taken + LAPSE / len(products)
    found = {"alpha": classes.alpha, "value_shape": classes.a, "stability": classes.sigma}
    owned = classes.owns[:KNOWN]
    found["n_classes"] = np.bincount(classes.draw[owned.any(axis=0)], minlength=draws)
    found["classes_per_person"] = np.bincount(classes.draw, owned.sum(axis=0), draws) / KNOWN

    def lapsed(shares: np.ndarray) -> np.ndarray:
        return (1.0 - LAPSE) * shares + LAPSE / len(shares)

    now, then = [], []
    for n, person in enumerate(people):
        if n <= KNOWN:
            for j, p in enumerate(lapsed(person.shares(person.occasion(rng), ASKED))):
                found[f"p{n + 1} {j}" if n < KNOWN else f"new {j}"] = p
        value = person.occasion(rng)
        now.append(lapsed(person.shares(value, MARKET)))
        then.append(lapsed(person.shares(value, AFTER)))
    for who, own in (("known", slice(0, KNOWN)), ("new", slice(KNOWN, None))):
        share, after = np.mean(now[own], axis=0), np.mean(then[own], axis=0)
        for j in range(len(MARKET)):
            found |= {
                f"{who} share {j}": share[j],
                f"{who} after {j}": after[j],
                f"{who} change {j}": (after - share)[j],
            }
    one, two = (then[n] - now[n] for n in (KNOWN, KNOWN + 1))
    for j in range(len(MARKET)):
        found[f"new share {j} squared"] = now[KNOWN][j] * now[KNOWN + 1][j]
        found[f"new change {j} squared"] = one[j] * two[j]
    return weight, found


def answers(draws: int, seed: int, size: int = 200_000) -> dict[str, tuple[float, float]]:
    """Posterior means with standard errors over blocks (of a ratio), and the log evidence with that
    of the evidence."""
    sums, weights = [], []
    for rng in map(
        np.random.default_rng, np.random.SeedSequence(seed).spawn(max(2, draws // size))
    ):
        weight, found = block(rng, size)
        weights.append(weight.mean())
        sums.append([(weight * values).mean() for values in found.values()])
    total, values = np.array(weights), np.array(sums)
    means = values.mean(axis=0) / total.mean()
    blocks = len(total)
    errors = (values - total[:, None] * means).std(axis=0, ddof=1) / total.mean() / np.sqrt(blocks)
    result = {name: (float(m), float(e)) for name, m, e in zip(found, means, errors, strict=True)}
    evidence = total.std(ddof=1) / total.mean() / np.sqrt(blocks)
    return result | {"log_evidence": (float(np.log(total.mean())), float(evidence))}


if __name__ == "__main__":
    found = answers(int(sys.argv[1]), seed=1)
    CASES.write_text(
        json.dumps(
            {name: [float(f"{x:.6g}") for x in pair] for name, pair in found.items()}, indent=1
        )
        + "\n"
    )
