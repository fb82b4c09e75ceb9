"""A market, the choices of eight respondents, and two logits of these choices, which no test
changes."""

import warnings
from functools import cache

import numpy as np
import pandas as pd

import thali as th
from helpers.experiment_data import simulate_experiment

ATTRIBUTES = ["price", "brand", "zoom"]
MARKET = pd.DataFrame(
    dict(
        product=["A", "B", "C"], price=[5, 15, 25], brand=["A", "B", "C"], zoom=["no", "yes", "yes"]
    )
)


@cache
def study():
    """Choices of eight respondents, whose age is known."""
    frame = simulate_experiment(n_respondents=8, seed=3)
    age = 20 + 5 * frame["id"].str[1:].astype(int)
    return th.ChoiceExperiment.from_frame(frame.assign(age=age), attributes=ATTRIBUTES)


@cache
def fit_multinomial():
    return th.MultinomialLogit(linear="price").fit(study())


@cache
def fit_hierarchical():
    """A fit of four chains of 40 draws."""
    with warnings.catch_warnings(action="ignore"):
        return th.HierarchicalLogit(linear="price").fit(
            study(), draws=40, tune=30, random_seed=1, progressbar=False
        )


def encode_products(names, products):
    """The columns of these coefficients, by their names."""
    x = np.zeros((len(products), len(names)))
    for row, product in enumerate(products.to_dict("records")):
        for column, name in enumerate(names):
            attribute, _, level = str(name).rstrip("]").partition("[")
            x[row, column] = (
                product["price"] if attribute == "price" else product[attribute] == level
            )
    return x


def softmax(u):
    odds = np.exp(u - u.max(axis=-1, keepdims=True))
    return odds / odds.sum(axis=-1, keepdims=True)
