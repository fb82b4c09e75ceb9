"""Forecasts of the CPU time of a sweep and of the numbers of temperatures and features.

A sweep visits every column of every replica, and for each all stored numbers of the data and all
options. Times per visit were measured by `benchmarks/run_time_forecast.py`. Columns are counted
once chains are tuned, because real tables of sixty objects have five times the columns of simulated
tables of that size. For similarities of many objects a short run counts them in advance.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._inference.progress_display import Progress

from ..chain_state import COLUMNS, NO_UNIQUE
from ..likelihoods.most_similar_pair_probabilities import AnsweredPairSets
from ..likelihoods.pair_blocks import PairBlocks
from ..likelihoods.pair_covariates import PairsWithCovariates
from . import default_sweeps

if TYPE_CHECKING:
    from .chains import FeatureChain, SamplingTask


class SweepCost(NamedTuple):
    """Nanoseconds per sweep, for each feature at each temperature."""

    number: float  # per stored number of the data
    option: float  # per option
    column: float = 0.0  # constant


PAIR_COST = SweepCost(1.7, 170.0)
SET_COST = SweepCost(6.0, 200.0)
LIKELIHOOD_COSTS = {
    PairBlocks: PAIR_COST,
    PairsWithCovariates: PAIR_COST,
    AnsweredPairSets: SweepCost(3.4, 800.0),
}
UNIQUE_COST = SweepCost(4.0, 100.0)
COST_WITHOUT_UNIQUE = SweepCost(0.57, 82.0)
CONJUGATE_COST = SweepCost(0.4, 0.0, column=400.0)
JOINT_COST = SweepCost(0.2, 80.0)
SIMILARITY_COSTS = {
    default_sweeps.sweep_conjugate: CONJUGATE_COST,
    default_sweeps.sweep_conjugate_jointly: JOINT_COST,
}
SHARED_SHARE = 0.6  # factor of the number of columns in models with unique weights
# Levels per object, and their maximum, of a ladder lengthened during tuning, for features that at
# least two objects share. Real similarities had 9 to 12 levels for 16 objects, 17 for 36, 31 for
# 60; simulated ones 8 to 12 for any number; triplets 12 for 20 objects, 15 for 30, 16 for 38.
LEVELS_PER_OBJECT = 0.4
MAX_LEVELS = 20.0
# Columns of similarities, as a mean over the levels. Real tables have many on cold levels and few
# on hot ones (at temperature 1, at the hottest, on average: numbers 21, 8, 14; druguse 14, 8, 11;
# phonemes 14, 2, 8; countries 17, 1, 10; morse 30, 3, 16; faces 21, 7, 12). Simulated tables of 8
# to 60 objects have 5 to 8 on all levels.
SIMILARITY_COLUMNS = 10.0
# For many objects neither their number nor the noise predicts the number of columns: features melt
# within the ladder, which then gets many levels, or they do not. A short run shows it: for faces,
# morse, and simulated tables of 24 to 60 objects with 6 and 10 features and sigma 0.1, 0.3, 0.8 it
# has 0.9 to 1.6 times the columns of a long run (for one table 2.7 times).
MIN_COUNTED_OBJECTS = 24
# sweeps of a short run, their minimum, and its largest forecast of seconds
SHORT_SWEEPS = 1_100
MIN_SHORT_SWEEPS = 400
MAX_SHORT_SECONDS = 6.0
SHORT_PARTS = 11  # columns are counted in the last of these parts; the other parts are tuning
COUNT_INTERVAL = 10  # sweeps
# With this number of objects the prior expects too few features of triplets: for 300 objects 12,
# where chains that begin with 29 and 24 have 31 and 27; for 100 objects 10, where they have 13 to
# 15.
MIN_STARTED_OBJECTS = 150


class WorkCounts(NamedTuple):
    """Numbers of temperatures and features, counted in a short run or at the start."""

    levels: float
    columns: float  # of a state, on average over the levels


def add_work_counts(task: "SamplingTask", progressbar: bool) -> "SamplingTask":
    """Return the task with counted temperatures and features, if forecasts are unreliable.

    Chains that begin at the end of an annealed run take its columns. Otherwise a short run counts,
    with a fixed random stream, so that the counts depend on the data only.
    """
    if task.sample_start is not None and task.n_options >= MIN_STARTED_OBJECTS:
        initial_state = task.sample_start(np.random.default_rng(0), task)
        return replace(
            task, work_counts=WorkCounts(forecast_levels(task), float(initial_state.whole[COLUMNS]))
        )
    if (
        not task.lengthens
        or task.kernel not in SIMILARITY_COSTS
        or task.n_options < MIN_COUNTED_OBJECTS
    ):
        return task
    n_sweeps = min(SHORT_SWEEPS, int(MAX_SHORT_SECONDS / forecast_sweep_seconds(task)))
    if n_sweeps < MIN_SHORT_SWEEPS:
        return task
    n_draws = n_sweeps // SHORT_PARTS
    short_task = replace(task, draws=n_draws, tune=n_sweeps - n_draws, thin=1, pilot=0)
    short_chain = short_task.chain(np.random.default_rng(0))
    column_means = []
    with Progress(progressbar, "counting features", n_sweeps) as progress:
        if not task.kernel.is_compiled(task.model):
            progress.note("compiling, once")
        for sweep in range(short_task.tune + COUNT_INTERVAL, n_sweeps + 1, COUNT_INTERVAL):
            short_chain.run_until(sweep)
            column_means.append(short_chain.states.whole[:, COLUMNS].mean())
    return replace(
        task,
        work_counts=WorkCounts(float(short_chain.ladder.beta.size), float(np.mean(column_means))),
    )


def forecast_sweep_seconds(task: "SamplingTask") -> float:
    """Forecast the CPU seconds of one sweep of a chain at all temperatures."""
    sweep_cost = _select_cost(task)
    n_numbers = count_stored_numbers(task.model.likelihood)
    column_cost = (
        sweep_cost.number * n_numbers + sweep_cost.option * task.n_options + sweep_cost.column
    )
    return forecast_levels(task) * (forecast_columns(task) + 1.0) * column_cost / 1e9


def compute_cost_ratio(task: "SamplingTask", chains: Sequence["FeatureChain"]) -> float:
    """Return the features of tuned chains divided by their forecast; 1 without draws."""
    if any(chain.recorded == 0 for chain in chains):
        return 1.0
    # sum over levels, whose number may differ between chains
    mean_columns = sum((chain.states.whole[:, COLUMNS] + 1.0).sum() for chain in chains) / len(
        chains
    )
    return float(mean_columns) / (task.forecast_levels() * (task.forecast_columns() + 1.0))


def forecast_levels(task: "SamplingTask") -> float:
    """Forecast the number of temperatures of a chain after tuning."""
    if task.work_counts is not None:
        return task.work_counts.levels
    n_temperatures = float(len(task.temperatures))
    if task.lengthens and task.model.lo == 2:
        return max(n_temperatures, min(LEVELS_PER_OBJECT * task.n_options, MAX_LEVELS))
    return n_temperatures


def forecast_columns(task: "SamplingTask") -> float:
    """Forecast the number of features of a state, averaged over temperatures.

    Models with unique weights have fewer shared aspects. Models without unique weights, in which
    every option must have an aspect, have one more column per option.
    """
    if task.work_counts is not None:
        return task.work_counts.columns
    n_options = task.n_options
    model = task.model
    n_columns = float(task.prior.usual_columns(n_options))
    if not task.prior.is_infinite:
        return n_columns
    if task.kernel in SIMILARITY_COSTS:
        return SIMILARITY_COLUMNS
    if model.unique != NO_UNIQUE:
        return SHARED_SHARE * n_columns
    if model.lo == 1:
        n_columns += n_options
    return n_columns


def count_stored_numbers(arrays: Any) -> int:
    """Count the numbers stored in the arrays of nested tuples."""
    if isinstance(arrays, tuple):
        return sum(count_stored_numbers(part) for part in arrays)
    if isinstance(arrays, np.ndarray):
        return arrays.size
    return 0


def _select_cost(task: "SamplingTask") -> SweepCost:
    """Return the measured sweep cost for a task's kernel and likelihood."""
    cost_by_kernel = SIMILARITY_COSTS | {default_sweeps.sweep_unique_weights: UNIQUE_COST}
    if task.kernel in cost_by_kernel:
        return cost_by_kernel[task.kernel]
    likelihood_classes = type(task.model.likelihood).__mro__
    sweep_cost = next(
        (
            LIKELIHOOD_COSTS[likelihood_class]
            for likelihood_class in likelihood_classes
            if likelihood_class in LIKELIHOOD_COSTS
        ),
        SET_COST,
    )
    if sweep_cost is PAIR_COST and task.model.unique == NO_UNIQUE:
        return COST_WITHOUT_UNIQUE
    return sweep_cost
