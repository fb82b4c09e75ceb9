"""The same seed gives the same draws, summaries and predictions through every change of code: of
every model, method and kind of data, in runs of three sweeps."""

import json
from itertools import product

import pytest
from helpers.digests import (
    FILE,
    IN_SINGLE_PRECISION,
    MORE,
    RELATIVE,
    ROWS,
    UNBOUNDED,
    WITHOUT_BOUND,
    digests_of,
    fitted,
    is_same,
    place_of,
)

from thali._data.kinds import CHOICES, TRIPLETS
from thali._model.registry import SPECS

KEPT = json.loads(FILE.read_text("utf-8"))
EBA, ADDITIVE, BTL = "elimination-by-aspects", "additive-clustering", "bradley-terry-luce"


def wanted():
    """What every model says that it can be fitted to, and by which methods."""
    places = {
        place for spec in SPECS for place in product([spec.name], spec.methods or ("",), spec.data)
    }
    places.remove((EBA, "maximum-likelihood", CHOICES))  # which worths are for
    return places


@pytest.mark.fit  # for its imports
def test_every_model_method_and_kind_of_data_has_a_row():
    assert KEPT.keys() == ROWS.keys()
    assert {place_of(name) for name in ROWS} == wanted()
    assert not any(spec.data == () for spec in SPECS) and TRIPLETS in {
        kind for *_, kind in wanted()
    }


def compared(name, rounded=WITHOUT_BOUND):
    found, kept = digests_of(*fitted(name)), KEPT[name]
    assert found.keys() == kept.keys()
    near = UNBOUNDED if name in rounded else RELATIVE
    assert {
        key: (found[key], kept[key]) for key in kept if not is_same(found[key], kept[key], near)
    } == {}


# which take seconds as Python, and whose kernels are there
COMPILED = {f"{ADDITIVE}, map", "product-classes", "product-classes, smc"}


@pytest.mark.fit
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.long if name in MORE else ()) for name in ROWS]
)
def test_same_seed_same_draws(name, request):
    if name not in COMPILED:
        request.getfixturevalue("uncompiled")
    compared(name)


@pytest.mark.long
@pytest.mark.parametrize("name", ROWS)
def test_compiled_code_draws_what_python_draws(name):
    compared(name, WITHOUT_BOUND + IN_SINGLE_PRECISION)
