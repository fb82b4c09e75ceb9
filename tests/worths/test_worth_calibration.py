"""Ranks of parameters from the prior among draws given data simulated from them (Talts et al.
2018)."""

import numpy as np
import pytest
from scipy.stats import kstest
from worth_problems import random_density, sample_prior_points, simulated

import thali._worths.hamiltonian_chains as chains
from thali._worths.laplace_approximation import Marginal
from thali._worths.posterior_sample import sample_posterior

pytestmark = [pytest.mark.long, pytest.mark.fit]


@pytest.mark.parametrize(
    ("n_judges", "n_periods", "method", "bias"),
    [
        (4, 1, "laplace", False),
        (0, 4, "laplace", False),
        (3, 3, "laplace", False),
        (4, 1, "laplace", True),
        *(
            pytest.param(*each, "mcmc", False, marks=pytest.mark.study)
            for each in ((4, 1), (0, 4), (3, 3))
        ),
        pytest.param(4, 1, "mcmc", True, marks=pytest.mark.study),
    ],
)
def test_intervals_of_worths_are_calibrated(n_judges, n_periods, method, bias):
    """Of so many data sets the share of draws below the truth is uniform; by Laplace's
    approximation nearly."""
    # of 80 rows the level of log d is too low
    both = method == "laplace" and n_judges and n_periods > 1
    design = random_density(
        5, 0.01, False, n_judges, n_periods, int(bias), 4, 500 if both else 80, 6, bias
    )
    found = []
    sets = {"mcmc": 200, "laplace": 120 if both else 200 if n_judges else 1000}[method]
    for seed in range(sets):
        rng = np.random.default_rng(seed)
        truth, spreads = sample_prior_points(design, rng, 1)
        data = simulated(design, rng, truth)
        rows = data.rows
        density = data.with_counts(rows.wins[:, 0], rows.losses[:, 0], rows.tied[:, 0])
        marginal = Marginal(density)
        if method == "laplace":
            points, drawn = sample_posterior(marginal, rng, 1000)
        else:
            sampler = chains.HamiltonianSampler(marginal)
            state, states = chains.tune_step(sampler, rng, sampler.draw_start(rng, 8), 150), []
            for _ in range(400):
                state, _ = sampler.sweep(rng, state)
                states.append(state)
            points = np.concatenate([each.points for each in states[::8]], axis=1)
            logs = np.concatenate([each.logs for each in states[::8]], axis=1)
            drawn = type(spreads)(*np.exp(logs))
        last = density.worths.stop - density.n_options
        own = [points[last] - points[last + 1], points[last] - points[last + 2], drawn.worths]
        true = [truth[last] - truth[last + 1], truth[last] - truth[last + 2], spreads.worths]
        if n_judges:
            own += [
                density.log_discriminations(points)[0],
                points[density.judges][0] - points[density.judges][1],
                drawn.judges,
            ]
            true += [
                density.log_discriminations(truth)[0],
                truth[density.judges][0] - truth[density.judges][1],
                spreads.judges,
            ]
        if n_periods > 1:
            own += [drawn.drift, points[last] - points[0]]
            true += [spreads.drift, truth[last] - truth[0]]
        if bias:
            own += [
                points[density.beta][0],
                points[density.bias][0],
                points[density.bias][1],
                drawn.bias,
            ]
            true += [
                truth[density.beta][0],
                truth[density.bias][0],
                truth[density.bias][1],
                spreads.bias,
            ]
        found.append([(each < real).mean() for each, real in zip(own, true, strict=True)])
    smallest = [
        kstest(np.clip(each, 1e-9, 1 - 1e-9), "uniform").pvalue for each in np.array(found).T
    ]
    print(method, n_judges, n_periods, bias, np.round(smallest, 4))
    assert min(smallest) > (1e-4 if method == "mcmc" else 1e-6)
