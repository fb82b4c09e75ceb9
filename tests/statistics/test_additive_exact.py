"""Every sampler of additive clustering finds the posteriors that are known by quadrature."""

import pytest
from helpers.additive_cases import CASES, case_named
from helpers.additive_runs import SAMPLERS, by_general_moves, check, fit

import thali._aspects.samplers.default_sweeps as recommended

LEARNED = [case["name"] for case in CASES if "features" not in case["model"]]
GIVEN = [case["name"] for case in CASES if "features" in case["model"]]
THIN = {"tempered": 6, "untempered": 16, "general": 20}
# what is not left to long runs
MOST = [name for name in LEARNED if "alpha 4" not in name]
SOME = ["two objects, similarity 0.6, alpha 1, Gamma(2, 4)", "E3c"]
BRIEF = {"tempered": MOST, "untempered": [*SOME, "E4b"], "general": SOME}


def combinations_of(samplers):
    for name in LEARNED:
        for sampler in samplers:
            yield pytest.param(
                name, sampler, marks=[] if name in BRIEF[sampler] else pytest.mark.long
            )


@pytest.mark.first(5)
@pytest.mark.parametrize("name, sampler", list(combinations_of(SAMPLERS)))
def test_known_posteriors(name, sampler):
    case = case_named(name)
    check(fit(case, THIN[sampler], draws=2_000, **SAMPLERS[sampler]), case, brief=True)


@pytest.mark.long
@pytest.mark.parametrize("name, sampler", list(combinations_of(SAMPLERS)))
def test_known_posteriors_by_long_runs(name, sampler):
    case = case_named(name)
    check(fit(case, THIN[sampler], **SAMPLERS[sampler]), case)


@pytest.mark.long
@pytest.mark.parametrize("name, sampler", list(combinations_of(["general"])))
def test_known_posteriors_by_the_general_moves(name, sampler):
    case = case_named(name)
    with by_general_moves():
        check(fit(case, THIN[sampler], tempering=False), case)


@pytest.mark.parametrize("name", GIVEN)
def test_weights_of_given_features(name):
    case = case_named(name)
    check(fit(case, 4, draws=2_000), case, brief=True)
    check(fit(case, 4, draws=2_000, tempering=3), case, brief=True)


@pytest.mark.long
@pytest.mark.parametrize("name", GIVEN)
def test_weights_of_given_features_by_the_general_moves(name):
    case = case_named(name)
    with by_general_moves(recommended.sweep_fixed):
        check(fit(case, 20), case)
