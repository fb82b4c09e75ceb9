"""Data sets on which the specification states values; tests that need an absent one are skipped."""

from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from thali.regression.design import Design

SHARED = Path(__file__).parents[2] / "shared" / "data"


@cache
def frame(name):
    """Covariates (a data frame) and labels."""
    path = SHARED / {"colon": "colon/colon.csv", "german": "uci/german_numeric.csv"}.get(name, f"uci/{name}.csv")
    if not path.exists():
        pytest.skip(f"{path} is not here")
    table = pd.read_csv(path)
    if name == "colon":
        return np.log(table.drop(columns=["tissue", "y"])), table["y"]
    return table.iloc[:, :-1].astype(float), table.iloc[:, -1]


@cache
def problem(name):
    """W of the standardised covariates, codes and number of classes."""
    X, y = frame(name)
    classes, codes = np.unique(y, return_inverse=True)
    return Design.fit(X.to_numpy(), list(X.columns)).apply(X.to_numpy()), codes, len(classes)
