"""The forecast of the work of a sweep, from the prior and from what a short run counts."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.watched_runs import run_of

import thali as th
from thali._aspects.chain_state import COLUMNS, make_empty_state
from thali._aspects.samplers.chains import SamplingTask


def similarities(n, rng):
    return th.AdditiveClustering(), th.datasets.additive(n, 1, n_features=6).data


def comparisons(n, rng, **arguments):
    features, weights = rng.random((n, 5)) < 0.3, rng.gamma(1.0, 1.0, 5)
    pairs = []
    for _ in range(100 * n):
        i, j = rng.permutation(n)[:2]
        better, worse = (
            (features[i] & ~features[j]) @ weights,
            (features[j] & ~features[i]) @ weights,
        )
        first = (better + 0.3) / (better + worse + 0.6)
        pairs.append((i, j) if rng.random() < first else (j, i))
    return th.EliminationByAspects(**arguments), th.PairedComparisons.from_pairs(pairs)


@pytest.mark.unit
@pytest.mark.parametrize(("n", "columns"), [(149, None), (150, 7)])
def test_of_many_objects_the_beginning_of_chains_counts(n, columns):
    rows = [(i, (i + 1) % n, (i + 2) % n) for i in range(n)]
    begun = make_empty_state(n, 8)
    begun.whole[COLUMNS] = 7
    task = replace(
        th.AdditiveClustering().prepare(th.Triplets(rows), 1, 0, None).task,
        sample_start=lambda rng, task: begun,
    )
    assert task.add_work_counts(False).work_counts == (columns and (1.0, columns))


@pytest.mark.fit
def test_a_short_run_counts_where_there_are_many_objects():
    few, many = (
        th.AdditiveClustering().prepare(similarities(n, None)[1], 1, 0, None).task for n in (16, 24)
    )
    assert few.add_work_counts(False) is few
    one, again = many.add_work_counts(False), many.add_work_counts(False)
    assert one.work_counts == again.work_counts and one.work_counts.levels >= len(many.temperatures)
    times = [task.forecast_levels() * (task.forecast_columns() + 1.0) for task in (one, many)]
    assert one.forecast_sweep_seconds() / many.forecast_sweep_seconds() == pytest.approx(
        times[0] / times[1]
    )
    slow = th.AdditiveClustering().prepare(similarities(600, None)[1], 1, 0, None).task
    assert slow.add_work_counts(False) is slow  # a sweep takes too long
    data = similarities(24, None)[1]
    cases = (
        (None, None, None, True),
        (10, None, None, True),
        (10, 1, None, False),
        (None, None, 1.0, False),
    )
    for draws, thin, max_time, counts in cases:
        run = run_of(th.AdditiveClustering(), data, draws, 5, 2, thin, max_time=max_time)
        task = run.build_chains(1, np.random.SeedSequence(1))[0].task
        assert (task.work_counts is not None) == counts


@pytest.mark.unit
def test_twice_the_columns_twice_the_work():
    _, data = comparisons(12, np.random.default_rng(0))
    few, many = (
        th.EliminationByAspects(number).prepare(data, 1, 0, None).task for number in (9, 19)
    )
    assert many.forecast_sweep_seconds() == pytest.approx(2.0 * few.forecast_sweep_seconds())
    learned = th.EliminationByAspects().prepare(data, 1, 0, None).task
    # beside unique weights fewer aspects are found
    assert 1.0 < learned.forecast_columns() < learned.prior.usual_columns(12)
    _, larger = comparisons(24, np.random.default_rng(0))
    of_more = th.EliminationByAspects(9).prepare(larger, 1, 0, None).task
    assert of_more.forecast_sweep_seconds() > 2.0 * few.forecast_sweep_seconds()


@pytest.mark.unit
@pytest.mark.parametrize(
    ("n", "tempering", "expected"),
    [(8, None, 8), (36, None, 14.4), (90, None, 20), (36, [1, 2, 4], 3), (36, "off", 1)],
)
def test_a_ladder_is_counted_with_the_levels_that_it_will_have(n, tempering, expected):
    _, data = similarities(n, np.random.default_rng(0))
    task = th.AdditiveClustering(sigma=0.05, tempering=tempering).prepare(data, 1, 0, None).task
    assert task.forecast_levels() == pytest.approx(expected)


@pytest.mark.unit
def test_columns_of_similarities_do_not_grow_with_their_objects():
    tables = [similarities(n, np.random.default_rng(0))[1] for n in (8, 36)]
    one, other = (
        th.AdditiveClustering().prepare(data, 1, 0, None).task.forecast_columns() for data in tables
    )
    assert (
        one
        == other
        > 4.0
        == th.AdditiveClustering(4).prepare(tables[0], 1, 0, None).task.forecast_columns()
    )


@pytest.mark.unit
@pytest.mark.parametrize(
    ("arguments", "columns"),
    [
        ({"aspects": 4}, 4.0),
        ({"aspects": np.eye(12)}, 12.0),
        ({"unique": False}, 12.0 + 1.5 * np.log2(12)),
    ],
)
def test_columns_are_those_of_the_prior(arguments, columns):
    model, data = comparisons(12, np.random.default_rng(0), **arguments)
    assert model.prepare(data, 1, 0, None).task.forecast_columns() == pytest.approx(columns)


@pytest.mark.fit
def test_a_run_may_be_as_much_longer_as_its_states_have_fewer_columns():
    model, data = comparisons(8, np.random.default_rng(0))
    sampling = run_of(model, data, tune=100, chains=2, thin=1)
    sampling.data_max_draws = 1_000
    chains = sampling.build_chains(10, np.random.SeedSequence(1))
    assert (
        sampling.count_allowed_draws(chains) == 1_000
    )  # nothing is counted before there are draws
    for chain in chains:
        chain.run_until(chain.total)
    task = chains[0].task
    columns = np.mean([chain.state.whole[COLUMNS] for chain in chains])
    times = (columns + 1.0) / (task.forecast_columns() + 1.0)
    assert times != 1.0 and sampling.count_allowed_draws(chains) == pytest.approx(
        1_100 / times - 100, abs=1.0
    )


class ForecastTask:
    def forecast_levels(self):
        return 2.0

    def forecast_columns(self):
        return 3.0


def chain_of_levels(n_levels):
    whole = np.zeros((n_levels, 1, COLUMNS + 1))
    whole[..., COLUMNS] = 3.0
    return SimpleNamespace(recorded=1, states=SimpleNamespace(whole=whole))


def test_chains_may_have_ladders_of_different_lengths():
    chains = [chain_of_levels(2), chain_of_levels(4)]
    assert SamplingTask.compute_cost_ratio(ForecastTask(), chains) == pytest.approx(1.5)
