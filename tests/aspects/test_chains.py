"""How chains are run: the same draws however they are cut up, room that grows, an early stop, and a
valid scan."""

from collections import Counter
from functools import partial
from itertools import permutations
from types import SimpleNamespace

import numpy as np
import pytest
from arviz_stats.base.array import array_stats
from helpers.additive_runs import task as of_similarities
from helpers.problems import random_comparisons, random_similarities
from helpers.same_draws import same

import thali as th
import thali._aspects.samplers.chains as chains
from thali._aspects.chain_state import (
    COLUMNS,
    capacity,
    replica,
    resize_state,
    shuffle_columns,
    stack_states,
)
from thali._aspects.samplers.chains import FeatureChain, run_feature_chains
from thali._aspects.samplers.sampling_task import build_task
from thali.likelihoods import Elimination
from thali.priors import IndianBuffet

pytestmark = pytest.mark.fit


class Silent:
    def note(self, text): ...

    def update(self, done): ...


def task(data, alpha=None, draws=50, tune=20, thin=3, prior=None):
    settings = {"weight_prior": (1.0, 1.0), "alpha": alpha}
    return build_task(
        prior or IndianBuffet(), Elimination(), data, draws=draws, tune=tune, thin=thin, **settings
    )


def similar(missing=0.0, sigma=0.05, n=6, **settings):
    """The task of similarities."""
    return of_similarities(random_similarities(n, n, missing), sigma, **settings)


def growing():
    """Two temperatures are too few for these data."""
    return similar(tempering=2, draws=30, tune=150)


TASKS = {"pairs": lambda: task(random_comparisons(5, 5)), "similarities, tempered": growing}


@pytest.mark.parametrize("make", TASKS.values(), ids=TASKS)
def test_slices_do_not_matter(make):
    whole, sliced = (FeatureChain(make(), np.random.default_rng(3)) for _ in range(2))
    whole.run_until(whole.total)
    for until in range(0, sliced.total + 1, 7):
        sliced.run_until(until)
    sliced.run_until(sliced.total)
    assert same(whole.draws, sliced.draws)
    assert np.array_equal(whole.ladder.beta, sliced.ladder.beta) and np.array_equal(
        whole.ladder.at, sliced.ladder.at
    )
    assert whole.ladder.beta.size > 2 or make is not growing


CROWDED = {"alpha": 40.0, "draws": 80}
ROOMS = {
    "pairs": lambda: task(random_comparisons(4, 4), **CROWDED),
    "similarities, tempered": lambda: similar(n=4, sigma=0.3, tempering=3, **CROWDED),
}


@pytest.mark.parametrize("make", ROOMS.values(), ids=ROOMS)
def test_room_grows_without_a_trace(make):
    """Many columns: the states of all replicas and the record have to grow on the way."""
    crowded, roomy = (FeatureChain(make(), np.random.default_rng(3)) for _ in range(2))
    least = max(int(columns) for columns in crowded.states.whole[:, COLUMNS])
    replicas = [replica(crowded.states, t) for t in range(len(crowded.states.whole))]
    crowded.states = stack_states([resize_state(b, least) for b in replicas])
    while capacity(roomy.state) < 2000:
        roomy.states = chains.double_capacity(roomy.states)
    roomy.record = chains.enlarge_record(chains.enlarge_record(roomy.record))
    kept = int(crowded.state.whole[COLUMNS])
    assert np.array_equal(roomy.state.Z[:kept], crowded.state.Z[:kept])
    crowded.run_until(crowded.total)
    roomy.run_until(roomy.total)
    assert least < capacity(crowded.state) < 2000
    assert same(crowded.draws, roomy.draws)
    assert 55 < crowded.draws.n_features.mean() < 110  # 40 H_4 = 83 a priori


SHORT = {"pairs": lambda: task(random_comparisons(4, 4), draws=4, tune=2)} | {
    f"similarities, sigma {sigma}, tempered": partial(
        *(similar, 0.3, sigma, 4), weight_prior=(shape, 5.0), draws=10, tune=20, thin=2, tempering=3
    )
    for sigma, shape in [(None, 1.0), (0.1, 2.0)]
}


@pytest.mark.parametrize("make", SHORT.values(), ids=SHORT)
def test_python_and_compiled_sweeps_draw_the_same(make):
    compiled, plain = (FeatureChain(make(), np.random.default_rng(9)) for _ in range(2))
    plain.task.kernel = plain.task.kernel.python
    for chain in (compiled, plain):
        chain.run_until(chain.total)
    a, b = compiled.draws, plain.draws
    assert np.array_equal(a.owners, b.owners)
    for name in ("weights", "alpha", "log_likelihood"):
        assert getattr(a, name) == pytest.approx(getattr(b, name), rel=1e-9, abs=1e-9), name
    for name in a.extra:
        assert a.extra[name] == pytest.approx(b.extra[name], rel=1e-9), name


def test_a_stop_while_tuning_has_nothing_to_keep():
    class Impatient(Silent):
        def update(self, done, status=""):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_feature_chains(task(random_comparisons(5, 5), tune=10**7), 2, 1, 1, Impatient())


def test_columns_are_visited_in_every_order_alike():
    b, rng = (
        SimpleNamespace(whole=np.zeros(COLUMNS + 1, int), order=np.zeros(5, int)),
        np.random.default_rng(1),
    )
    b.whole[COLUMNS] = 3
    orders = Counter()
    for _ in range(3_000):
        assert shuffle_columns(rng, b) == 3
        orders[tuple(b.order[:3].tolist())] += 1
    assert set(orders) == set(permutations(range(3)))
    assert max(abs(count - 500) for count in orders.values()) < 5 * np.sqrt(500)


def shared_columns(kernel_task):
    """Draws of the number of columns that both of two options own."""
    found, _ = run_feature_chains(kernel_task, 4, 2, 11, Silent())
    counts = [
        np.bincount(np.repeat(np.arange(c.alpha.size), c.n_features), c.sizes == 2, c.alpha.size)
        for c in found
    ]
    draws = np.array(counts, float)
    return draws.mean(), draws.std() / np.sqrt(array_stats.ess(draws, method="mean"))


def test_the_scan_order_leaves_the_prior_of_shared_columns():
    """Two options, 30 : 30, alpha = 5: columns of both do not touch the likelihood and stay
    Poisson(2.5)."""
    data = th.PairedComparisons([[0, 30], [30, 0]])
    mean, error = shared_columns(task(data, alpha=5.0, draws=6_000, tune=200, thin=8))
    assert error < 0.02
    assert abs(mean - 2.5) < 4.0 * error
