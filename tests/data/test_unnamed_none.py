"""Rows that look like a no-choice option which nobody named."""

import numpy as np
import pandas as pd
import pytest
from helpers.sentences import refused, warned

import thali as th
from thali.errors import DataError, DataWarning

NAN = float("nan")
SAID = (
    "No value is given for 'price' and 'size' of alternative '4' in task '1' of respondent 'a'; if"
    " this row is the no-choice option, set `none='4'`; otherwise, fill in the missing values."
)


def frame(**columns):
    """Two people with two tasks each, of two products and a row without attributes."""
    usual = {
        "id": np.repeat(["a", "b"], 6),
        "task": np.tile(np.repeat([1, 2], 3), 2),
        "alt": ["x", "y", "none"] * 4,
        "choice": [1, 0, 0, 0, 0, 1] * 2,
        "price": [5, 10, NAN, 10, 5, NAN] * 2,
        "size": ["S", "L", None, "L", "L", None] * 2,
    }
    return pd.DataFrame(
        {name: values for name, values in (usual | columns).items() if values is not None}
    )


def test_an_unnamed_no_choice_option_is_asked_for_by_its_name():
    numbered = frame(alt=["1", "2", "4"] * 4)
    with pytest.raises(DataError, match="^" + SAID.replace("(", r"\(") + "$"):
        th.ChoiceExperiment.from_frame(numbered)
    assert th.ChoiceExperiment.from_frame(numbered, none="4").has_none


@pytest.mark.parametrize("word", ["none", "None of these", "keine", "opt-out"])
def test_a_label_that_says_so_is_believed(word):
    data = th.ChoiceExperiment.from_frame(frame(alt=["x", "y", word] * 4))
    assert data.scheme.none == (("alt", word),)
    assert str(data).endswith("no-choice option")
    one = frame(alt=["x", "y", word] * 4, size=None)  # also where there is a single attribute
    assert th.ChoiceExperiment.from_frame(one).has_none


def test_without_a_name_the_argument_is_named():
    with refused(DataError, "set `none`"):
        th.ChoiceExperiment.from_frame(frame(alt=None))
    with refused(DataError, "set `none`"):
        th.ChoiceExperiment.from_frame(frame(alt=["x", "y", "z", "y", "z", "x"] * 2))


@pytest.mark.parametrize(
    "columns",
    [
        {"price": [5, 10, 7, 10, 5, 7] * 2},  # one attribute alone
        {"price": [5, NAN, NAN, 10, 5, NAN] * 2},  # a product lacks one of them
        # two of a task
        {"price": [5, NAN, NAN, 10, 5, NAN] * 2, "size": ["S", None, None, "L", "L", None] * 2},
    ],
)
def test_anything_else_is_a_missing_attribute(columns):
    with refused(DataError, "missing; fill"):
        th.ChoiceExperiment.from_frame(frame(**columns))


def test_a_word_for_what_is_missing_is_no_problem():
    assert not th.ChoiceExperiment.from_frame(frame(), missing="").has_none


def test_zeros_of_every_attribute_are_the_option_of_a_sawtooth_file():
    """And nothing else is: a 0 elsewhere, an attribute that is not 0, another alternative."""
    zeros = dict(alt=[1, 2, 3] * 4, price=[5, 10, 0, 10, 5, 0] * 2, size=[1, 2, 0, 2, 2, 0] * 2)
    people = {"age": np.repeat([20, 30], 6)}
    data = th.ChoiceExperiment.from_frame(frame(**zeros, **people))
    assert data.scheme.none == (("alt", "3"),)
    assert data.levels["price"] == ("5", "10")
    # one attribute may have a level 0, and a column of tasks may be 0
    for more in ({"zoom": [1, 0, 0, 0, 1, 0] * 2}, {"holdout": np.repeat([0, 1, 0, 0], 3)}):
        data = th.ChoiceExperiment.from_frame(frame(**zeros, **people, **more))
        assert data.scheme.none == (("alt", "3"),)
    for other in (
        {"size": [1, 0, 0, 2, 2, 0] * 2},
        {"zoom": [1, 2, 1, 2, 1, 2] * 2},
        {"alt": [1, 2, 3, 1, 3, 2] * 2},
        {"size": ["S", "L", "S", "L", "L", "S"] * 2},
    ):
        assert not th.ChoiceExperiment.from_frame(frame(**(zeros | other))).has_none


def test_amounts_of_money_are_numbers():
    """Also with the sign that a market says otherwise."""
    data = th.ChoiceExperiment.from_frame(
        frame(alt=["x", "y", "none"] * 4, price=["$99", "$1,299", None, "$1,299", "$99", None] * 2)
    )
    assert data.levels["price"] == ("$99", "$1,299")
    model = th.MultinomialLogit(linear="price").fit(data)
    market = pd.DataFrame({"product": ["A", "B"], "price": ["$199", 1299], "size": ["S", "L"]})
    plain = market.assign(price=[199, "1.299,00 $"])
    np.testing.assert_allclose(
        model.market_shares(market)["share"], model.market_shares(plain)["share"], rtol=1e-12
    )


def test_a_row_without_attributes_is_the_option_of_a_market():
    model = th.MultinomialLogit().fit(
        th.ChoiceExperiment.from_frame(frame(alt=["x", "y", "none"] * 4))
    )
    market = pd.DataFrame({"product": ["A", "nothing"], "price": [5, None], "size": ["S", None]})
    named = market.assign(alternative=["1", "none"]).rename(columns={"alternative": "alt"})
    np.testing.assert_allclose(
        model.market_shares(market)["share"], model.market_shares(named)["share"], rtol=1e-12
    )


def test_amounts_are_read_by_what_stands_beside_them():
    """A mark before three digits is that of thousands; but not beside cents, where nobody can
    say."""
    for in_order in (
        ["0,500", "$0.999", "€1.5", "$1,299"],
        ["$0.999", "1.299 €"],
        ["$99", "$1,299.00"],
    ):
        assert levels_of(in_order[::-1]) == tuple(in_order)
    with refused(DataError, "375", "thousands separator"):
        levels_of(["$1.25", "$1.375", "$1.5"])


def levels_of(prices):
    """The prices in the order of their amounts, as an experiment has them."""
    shown = (prices * 12)[:12]
    data = th.ChoiceExperiment.from_frame(frame(alt=None, price=shown, size=["S", "L", "M"] * 4))
    return data.levels["price"]


def test_tasks_that_a_design_holds_out_are_not_fitted_without_a_word():
    with warned(DataWarning, "Column 'held_out'"):
        th.ChoiceExperiment.from_frame(
            frame(alt=["x", "y", "none"] * 4, held_out=[0, 0, 0, 1, 1, 1] * 2)
        )
