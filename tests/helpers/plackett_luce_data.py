"""Data sets on which the specification states values; iris, wine and lenses need no folder of real
data."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, load_wine

from helpers.places import PUBLISHED
from helpers.real_data import needs_data, real_data
from thali._classify.plackett_luce.nonnegative_columns import PlackettLuceDesign

LOADED = {"iris": load_iris, "wine": load_wine}  # the same figures as those of the UCI repository
LENSES = PUBLISHED / "lenses.csv"  # Cendrowska 1987, Table 1, as the UCI repository has it


def named(*names):
    """Parameters of a test, marked where they lie in the folder of real data."""
    return [
        pytest.param(name, marks=[] if name in (*LOADED, "lenses") else needs_data)
        for name in names
    ]


@cache
def frame(name):
    """Covariates (a data frame) and labels."""
    if name in LOADED:
        X, y = LOADED[name](return_X_y=True, as_frame=True)
        return X.rename(columns=lambda column: column.removesuffix(" (cm)").replace(" ", "_")), y
    path = {"colon": "colon/colon.csv", "german": "uci/german_numeric.csv"}.get(
        name, f"uci/{name}.csv"
    )
    table = pd.read_csv(LENSES if name == "lenses" else real_data(path))
    if name == "colon":
        return np.log(table.drop(columns=["tissue", "y"])), table["y"]
    return table.iloc[:, :-1].astype(float), table.iloc[:, -1]


@cache
def problem(name):
    """W of the standardised covariates, codes and number of classes."""
    X, y = frame(name)
    classes, codes = np.unique(y, return_inverse=True)
    return (
        PlackettLuceDesign.fit(X.to_numpy(), list(X.columns)).apply(X.to_numpy()),
        codes,
        len(classes),
    )
