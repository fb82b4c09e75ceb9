"""A model of which no fit was finished loses to none."""

import numpy as np
import pytest
from helpers.short_comparisons import compare

import thali as th


def said_of(table):
    """All sentences about a comparison."""
    return " ".join(str(each.sentence) for each in th.findings(table))


@pytest.mark.fit
def test_no_winner_is_declared_over_a_model_without_a_fit():
    table = compare()
    assert "Held-out pairs" in said_of(table) and "No fit" not in said_of(table)
    table.loc["two", "nll"] = np.nan
    assert "No fit of 'two' was" in said_of(table)
    assert "Held-out pairs" not in said_of(table)
