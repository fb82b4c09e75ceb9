"""Similar classes of products count as one: which they are, and that seeds agree about them."""

from itertools import product

import numpy as np
import pytest
from helpers.product_class_fits import engine_result, experiment

import thali
from thali._choice.product_classes.reports.class_table import STABLE, centres_of, patterns_of
from thali._data.experiments.design import design_of


def slow_groups(held, weight, similar):
    """The centre of each set of products: the heaviest set that is left takes in whatever overlaps with it."""
    centre, left = list(range(len(held))), set(range(len(held)))
    for k in sorted(left, key=lambda k: -weight[k]):
        if k in left:
            own = {j for j in left if j == k or len(held[j] & held[k]) >= similar * len(held[j] | held[k]) > 0}
            left -= own
            for j in own:
                centre[j] = k
    return centre


@pytest.mark.parametrize("none", [False, True])
@pytest.mark.parametrize("similar", [0.3, 0.5, 0.75])
def test_similar_classes_are_found_by_counting_products(none, similar):
    data = experiment(people=5, none=none)
    the_design, draws = design_of(data), engine_result(data, draws=20, alpha=4.0).particles
    patterns = patterns_of(draws, the_design)
    weight = np.random.default_rng(1).random(len(patterns.active))
    space = [x for x in product(*map(range, np.diff(draws.offset))) if not none or x[0] == 1]
    held = [{x for x in space if member[draws.offset[:-1] + x].all()} for member in patterns.member]
    found = centres_of(patterns, draws.offset, the_design.inside, weight, similar)
    assert found.tolist() == slow_groups(held, weight, similar)
    assert len(set(found)) < len(found)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::thali.errors.ConvergenceWarning")
def test_another_seed_prints_the_same_classes():
    """The first four that most chains find are those of another seed, and true ones; of equal classes alone, three."""
    made = thali.datasets.product_choices(40, 10, noise=0.1, random_seed=1)
    model, first = thali.ProductClasses(made.monotone), []
    for seed in (1, 4):
        model.fit(made.data, draws=150, tune=50, thin=4, chains=8, random_seed=seed, progressbar=False)
        table = model.classes(cover=1.0)
        first.append(set(table.loc[table["stability"] >= STABLE, "class"].head(4)))
    assert first[0] == first[1] <= set(made.classes)
