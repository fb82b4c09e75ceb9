"""Runs of additive clustering that several tests need."""

import warnings
from contextlib import contextmanager

import numpy as np
import pytest

import thali as th
import thali._aspects.samplers.default_sweeps as recommended
from helpers.additive_cases import _mean_and_error, expected_by_name, far_off, found_by_name
from thali._aspects.samplers.chains import FeatureChain
from thali._aspects.samplers.sampling_task import build_task
from thali.errors import ThaliWarning
from thali.likelihoods import Additive
from thali.priors import IndianBuffet

SAMPLERS = {"tempered": {}, "untempered": {"tempering": False}}


@contextmanager
def by_general_moves(sweep=recommended.sweep_infinite):
    """Run these sweeps meanwhile, whose moves suit any likelihood, instead of those of
    similarities."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(recommended, "sweep_conjugate", sweep)
        yield


def fit(case, thin, draws=8_000, change=lambda model: model, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ThaliWarning)
        model = change(th.AdditiveClustering(**case["model"], **settings))
        data = th.Similarities(case["similarities"], judgements=case.get("judgements"))
        model.fit(data, draws=draws, tune=200, thin=thin, random_seed=31, progressbar=False)
    return model.posterior_


def check(tree, case, brief=False):
    """All within four errors, which are at most .003 for a probability and a hundredth of a
    deviation otherwise; of brief runs at most twice that."""
    assert far_off(tree, case) == {}
    expected = expected_by_name(case)
    for name, draws in found_by_name(tree, case).items():
        _, error, size = _mean_and_error(draws, expected[name])
        if draws.dtype == bool:
            assert error <= (0.006 if brief else 0.003), (name, error)
        else:
            assert size >= (2_500 if brief else 10_000), (name, size)


WEIGHT_PRIOR = (1.0, 5.0)


def task(
    data,
    sigma=None,
    alpha=None,
    tempering: int | None = 3,
    draws=40,
    tune=80,
    thin=3,
    sweep=None,
    weight_prior=WEIGHT_PRIOR,
):
    settings = dict(weight_prior=weight_prior, alpha=alpha, sweep=sweep, draws=draws, tune=tune)
    return build_task(
        IndianBuffet(), Additive(sigma), data, thin=thin, tempering=tempering, **settings
    )


def one_run(the_task, seed=3):
    chain = FeatureChain(the_task, np.random.default_rng(seed))
    chain.run_until(chain.total)
    return chain.draws
