"""Draws of the models behind leaderboards whose judges differ, or whose worths change in time.

`thali.leaderboard` shows a table and no draws; these come from its sampler, as many as were asked
for.
"""

from typing import NamedTuple

import numpy as np
import xarray as xr
from scipy.special import expit

from thali._inference.random_seeds import spawn_generators
from thali._paired.leaderboard_posterior import BoardSettings, build_worth_problem
from thali._worths.hamiltonian_chains import HamiltonianSampler, tune_step
from thali._worths.laplace_approximation import Marginal


class Board(NamedTuple):
    """What `functionals` asks of a fitted model."""

    posterior_: xr.DataTree
    drawn: dict[str, np.ndarray]

    def _get_quantities(self):
        """Draws (chain, draw) by name."""
        return self.drawn


def board(data, lapse, chains, draws, tune, random_seed, cores=None, progressbar=False, **asked):
    """The draws of paired comparisons; `asked`: judges=True, or period="..."."""
    pose = build_worth_problem(data, BoardSettings(lapse=lapse, **asked))
    density = pose.density
    sampler = HamiltonianSampler(Marginal(density, None, None, None))
    (rng,) = spawn_generators(random_seed, 1)
    state = tune_step(sampler, rng, sampler.draw_start(rng, chains), tune)
    found, log_likelihood = [], []
    for _ in range(draws):
        state, _ = sampler.sweep(rng, state)
        found.append(state)
        log_likelihood.append(state.likelihood)
    # (.., chains, draws)
    points, logs, _ = (np.stack(each, axis=-1) for each in zip(*found, strict=True))
    drawn = {}
    worths = points[density.worths].reshape(density.n_periods, density.n_options, *points.shape[1:])
    for period, of_period in zip(pose.periods, worths, strict=True):
        for i, a in enumerate(data.labels):
            for j in range(i + 1, density.n_options):
                p = (1.0 - lapse) * expit(of_period[i] - of_period[j]) + lapse / 2.0
                pair = f"{a}, {data.labels[j]}"
                drawn[
                    f"probability_in_time[{pair}, {period}]"
                    if period
                    else f"choice_probability[{pair}]"
                ] = p
    for judge, log_d in zip(pose.judges, density.log_discriminations(points), strict=True):
        drawn[f"log_discrimination[{judge}]"] = log_d
    _, of_judges, of_drift, _ = np.exp(logs)
    drawn |= {"judge_sd": of_judges} if pose.judges else {"drift": of_drift}
    dataset = xr.Dataset({"log_likelihood": (("chain", "draw"), np.array(log_likelihood).T)})
    return Board(xr.DataTree.from_dict({"posterior": dataset}), drawn)
