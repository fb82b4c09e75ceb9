"""Chains of Plackett–Luce regression run to their end, without a model around them."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np

from thali._classify.plackett_luce.markov_chain import build_gibbs_settings, build_weight_chains
from thali._classify.plackett_luce.posterior_mode import MAX_PASSES, maximise_class_weights
from thali._classify.plackett_luce.row_sums import CovariateRows
from thali._data.classification_data import merge_rows
from thali._inference.markov_chains import run_chains
from thali._inference.threads_and_processes import NoProgress


def fit_map(
    W, codes, n_classes, a, *, counts=None, start=None, max_passes=MAX_PASSES, threads=None
):
    """The most probable weights, whose equal rows are merged first."""
    data = merge_rows(np.asarray(W, np.float64), np.asarray(codes), counts)
    rows = CovariateRows(data.matrix, data.codes, n_classes, data.counts, threads)
    return maximise_class_weights(rows, a, start=start, max_passes=max_passes)


class Quiet(NoProgress):
    def note(self, text): ...


def fit_gibbs(
    W,
    codes,
    n_classes,
    *,
    a=None,
    a_range=(1e-3, 1e2),
    b=1.0,
    sampler=None,
    sweep=None,
    draws=1000,
    tune=1000,
    chains=4,
    thin=None,
    cores=None,
    random_seed=None,
):
    """The draws of all chains, stacked, and their statistics."""
    settings = build_gibbs_settings(W.size, a, a_range, b, draws, tune, chains, thin)
    if sampler is not None:
        settings = replace(settings, sampler=sampler)
    if sweep is not None:
        settings = replace(settings, sampler="exchange", sweep=sweep)
    made = build_weight_chains(settings, W, codes, n_classes, random_seed)
    run_chains(made, cores, Quiet())
    parts = [chain.read_draws(0, draws) for chain in made]
    drawn = {
        name: np.stack([part[name] for part in parts])
        for name in ("a", "log_likelihood", "weights")
    }
    stats = {name: np.array([chain.stats[name] for chain in made]) for name in made[0].stats}
    sweeps = sum(chain.sweeps for chain in made)
    return SimpleNamespace(
        **drawn, stats=stats, settings=settings, sweeps=sweeps, interrupted=False
    )
