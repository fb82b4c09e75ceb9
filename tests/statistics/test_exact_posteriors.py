"""Long runs agree with posteriors that are known by quadrature."""

import warnings

import pytest
from helpers.all_drawn import all_drawn
from helpers.elimination_cases import CASES, copies, mean_and_error, quantity

import thali as th
from thali.errors import ThaliWarning

DRAWS = {3: 40_000, 15: 12_000, 40: 6_000}


def fit(case, shorter=1, **more):
    data = th.PairedComparisons(case["counts"])
    draws = DRAWS.get(data.n_options, 40_000) // shorter
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ThaliWarning)  # of options that were never compared
        settings = dict(case["model"])
        if "tree" in settings:
            settings["aspects"] = th.Tree.from_newick(settings.pop("tree"))
        model = th.EliminationByAspects(**settings, **more)
        return model.fit(data, draws=draws, tune=500, random_seed=20061, progressbar=False)


LONG = {  # of a kind of which shorter ones run
    "one pair of forty options, alpha 5, no lapses",
    "one pair of fifteen options, alpha 1, no lapses",
    "one pair of three on a tree, unrelated",
    "three options, alpha 2",
    "three options on a tree, alpha 2",
    "three options, sharp data, alpha 3",
    "no unique aspects 3:1, alpha 3",
    "two options 30:30, alpha 0.5",
    "two options 30:30, alpha 2",
    "two options 30:30, alpha 5",
    "two options 3:1, alpha 1",
    "two options 3:1, alpha 5",
}


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(c, id=c["name"], marks=[pytest.mark.long] if c["name"] in LONG else [])
        for c in CASES
    ],
)
def test_posterior_means(case):
    hold_against(case, 0.02, shorter=12)


@pytest.mark.long
@pytest.mark.parametrize("case", [pytest.param(c, id=c["name"]) for c in CASES])
def test_posterior_means_of_long_runs(case):
    hold_against(case, 0.005)


def hold_against(case, greatest_error, **more):
    model = fit(case, **more)
    for name, expected in case["expected"].items():
        mean, error = mean_and_error(quantity(model, name))
        assert error <= greatest_error * abs(expected), name
        assert abs(mean - expected) <= 4.0 * error + 6e-6 * abs(expected), (
            name,
            mean,
            expected,
            error,
        )
    for owners, expected in case["features"].items():
        mean, error = mean_and_error(
            copies(all_drawn(model.posterior_), [int(i) for i in owners.split(",")])
        )
        assert error <= 4.0 * greatest_error * expected, owners
        assert abs(mean - expected) <= 4.0 * error + 6e-6, (owners, mean, expected, error)
