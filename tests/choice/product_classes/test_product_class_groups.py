"""Similar classes of products count as one: which they are, and that seeds agree about them."""

import operator
from collections import Counter
from itertools import product

import pytest
from helpers.product_class_fits import ATTRIBUTES, experiment, fitted

import thali


def slow_groups(held, weight, similar):
    """The centre of each set of products: the heaviest set that is left takes in whatever overlaps
    with it."""
    centre, left = list(range(len(held))), set(range(len(held)))
    for k in sorted(left, key=lambda k: -weight[k]):
        if k in left:
            own = {
                j
                for j in left
                if j == k or len(held[j] & held[k]) >= similar * len(held[j] | held[k]) > 0
            }
            left -= own
            for j in own:
                centre[j] = k
    return centre


def list_products(name, levels):
    """The products that a class of this name holds, as tuples of levels."""
    held = set(product(*levels.values()))
    for condition in () if name == "any product" else name.split(" & "):
        attribute, sign, value = condition.split(" ", 2)
        place, known = list(levels).index(attribute), levels[attribute]
        if sign == "in":
            allowed = value.strip("{}").split(", ")
        else:
            compare = {"=": operator.eq, "!=": operator.ne, "<=": operator.le, ">=": operator.ge}[
                sign
            ]
            allowed = [level for k, level in enumerate(known) if compare(k, known.index(value))]
        held = {each for each in held if each[place] in allowed}
    return held


@pytest.mark.first(1)
@pytest.mark.parametrize("none", [False, True])
@pytest.mark.parametrize("similar", [0.3, 0.5, 0.75])
def test_similar_classes_are_found_by_counting_products(none, similar):
    model = fitted(experiment(people=5, none=none), draws=20, alpha=4.0)
    every = model.classes(cover=1.0, similar=1)
    every = every[every["product_class"] != "no choice"]
    held = [list_products(name, ATTRIBUTES) for name in every["product_class"]]
    centre = slow_groups(held, every["importance"].tolist(), similar)
    table = model.classes(cover=1.0, similar=similar)
    table = table[table["product_class"] != "no choice"].set_index("product_class")["rules"]
    wanted = Counter(every["product_class"].iloc[k] for k in centre)
    assert table.to_dict() == wanted and len(wanted) < len(every)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::thali.errors.ConvergenceWarning")
def test_another_seed_prints_the_same_classes():
    """The first four that most chains find are those of another seed, and true ones; of equal
    classes alone, three."""
    made = thali.datasets.product_choices(40, 10, noise=0.1, random_seed=1)
    model, first = thali.ProductClasses(made.monotone), []
    for seed in (1, 4):
        model.fit(
            made.data, draws=150, tune=50, thin=4, chains=8, random_seed=seed, progressbar=False
        )
        table = model.classes(cover=1.0)
        first.append(set(table.loc[table["stability"] >= 0.5, "product_class"].head(4)))
    assert first[0] == first[1] <= set(made.classes)
