"""The same seed gives the same draws in fits as long as users make them, on this processor."""

import os

import pytest
from helpers.digests_long import FITS, digest, digests_of_processors, kept, processor

pytestmark = pytest.mark.long


@pytest.mark.parametrize("name", FITS)
def test_every_draw_is_as_before(name):
    if not kept():
        pytest.skip(
            f"no hashes of {processor()}; write them at the commit before: python -m"
            " helpers.digests_long"
        )
    if name == "killed and resumed" and not hasattr(os, "fork"):
        pytest.skip("no fork here")
    # processors of one name may have different libraries of linear algebra
    assert digest(name) in digests_of_processors(name)


def test_stopping_and_going_on_change_no_draw():
    assert (
        not kept() or kept()["killed and resumed"] == kept()["continued"] == kept()["celebrities"]
    )
