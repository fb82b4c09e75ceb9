"""Elimination problems whose posterior is known, and how far draws are from it."""

import json

import numpy as np
from arviz_stats.base.array import array_stats

from helpers.all_drawn import all_drawn
from helpers.places import PUBLISHED

CASES = json.loads((PUBLISHED / "elimination.json").read_text())["cases"]


def mean_and_error(draws):
    draws = np.asarray(draws, float)
    if draws.std() == 0.0:
        return draws.mean(), 0.0
    return draws.mean(), draws.std() / np.sqrt(array_stats.ess(draws, method="mean"))


def copies(posterior, owners):
    """How many columns are owned by exactly these options, for every draw."""
    wanted = np.isin(np.arange(posterior.sizes["option"]), owners)
    return (posterior["features"].values == wanted).all(-1).sum(-1)


def quantity(model, name):
    posterior = all_drawn(model.posterior_)
    if name.startswith("p["):
        i, j = name[2:-1].split(",")
        return posterior["choice_probability"].sel(pair=f"{i}, {j}").values
    values = posterior[name].values
    if name == "log_likelihood":
        values = values - float(model.posterior_["constant_data"]["log_binomial_coefficient"].sum())
    return values


def scores(draws, expected, error):
    """Distance from the reference in combined Monte Carlo errors, and our own error."""
    own = draws.std() / np.sqrt(array_stats.ess(draws, method="mean"))
    return (draws.mean() - expected) / np.hypot(own, error), own
