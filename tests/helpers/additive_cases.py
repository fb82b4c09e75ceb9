"""Additive clustering problems whose posterior is known: what is expected, and the same figures of
a fitted model.

A test is `assert not far_off(model.posterior_, case)`, or its own comparison of
`expected_by_name(case)` with the means of `found_by_name(tree, case)`. What the names mean stands
in the note of cases/additive.json.
"""

import json
import math
import re
from itertools import combinations
from typing import Any

import numpy as np
from arviz_stats.base.array import array_stats

from helpers.all_drawn import all_drawn
from helpers.places import PUBLISHED

CASES = json.loads((PUBLISHED / "additive.json").read_text())["cases"]
PRINTED = 5e-7  # the most by which an expected value may be off


def case_named(name):
    """The case of this name, such as "E4b"."""
    return next(case for case in CASES if case["name"] == name)


def expected_by_name(case):
    """Means by name: the case's own and what follows from them.

    Standard deviations become second moments ("E w(01)^2", "constant^2"), a covariance "E w(01)
    w(012)"; where features are learned, "n_features" adds the columns of one owner, which are
    Poisson(alpha) whatever the data.
    """
    given = case["expected"]
    expected = {}
    for name, value in given.items():
        kind, _, rest = name.partition(" ")
        if kind == "sd":
            mean = rest if rest == "constant" else f"E {rest}"
            expected[f"{mean}^2"] = given[mean] ** 2 + value**2
        elif kind == "cov":
            one, other = rest.split()
            expected[f"E {rest}"] = given[f"E {one}"] * given[f"E {other}"] + value
        else:
            expected[name] = value
    if "features" not in case["model"]:
        expected["n_features"] = given["n_shared_features"] + case["model"]["alpha"]
    return expected


def found_by_name(tree, case):
    """Draws, shape (chain, draw), of everything in `expected_by_name(case)`; of events, whether
    they happened."""
    posterior = all_drawn(tree)
    return {name: _draws(posterior, name) for name in expected_by_name(case)}


def far_off(tree, case, errors=4.0):
    """What lies more than so many Monte Carlo errors off: {name: (mean, expected, error)}."""
    found = found_by_name(tree, case)
    off = {}
    for name, expected in expected_by_name(case).items():
        mean, error, size = _mean_and_error(found[name], expected)
        # few events are not Normal: Bernstein's inequality has this term besides
        rare = errors**2 / (3.0 * size) if found[name].dtype == bool else 0.0
        if not abs(mean - expected) <= errors * error + rare + PRINTED:
            off[name] = (mean, expected, error)
    return off


def _mean_and_error(draws, expected):
    """Mean, its Monte Carlo error, and the effective number of draws; an event has the variance of
    its expectation."""
    values = np.asarray(draws, float)
    size: Any = values.size if values.std() == 0.0 else array_stats.ess(values, method="mean")
    deviation = math.sqrt(expected * (1.0 - expected)) if draws.dtype == bool else values.std()
    return values.mean(), deviation / math.sqrt(size), size


def _draws(posterior, name):
    if name == "n_features":
        return posterior["features"].values.any(-1).sum(-1)
    if name.startswith("n_shared_features="):
        return posterior["n_shared_features"].values == int(name.partition("=")[2])
    if name.endswith("^2"):
        return _draws(posterior, name[:-2]) ** 2
    if name.startswith("similarity["):
        i, j = re.findall(r"\d+", name)
        pairs = list(combinations(range(posterior.sizes["option"]), 2))
        return posterior["similarity"].values[..., pairs.index((int(i), int(j)))]
    groups = re.findall(r"\((\d+)\)", name)  # one digit an object
    if not groups:
        return posterior[name].values
    owned = [_owned_by(posterior, [int(i) for i in group]) for group in groups]
    if name.startswith("P("):
        return owned[0].any(-1)
    weights = posterior["weights"].values
    return np.prod([np.where(mine, weights, 0.0).sum(-1) for mine in owned], axis=0)


def _owned_by(posterior, owners):
    """Whether a column is owned by exactly these objects, shape (chain, draw, feature)."""
    wanted = np.isin(np.arange(posterior.sizes["option"]), owners)
    return (posterior["features"].values == wanted).all(-1)
