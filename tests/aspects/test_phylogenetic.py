"""The phylogenetic Indian buffet process by itself: rates, draws, and what the samplers are told of
it."""

import itertools
import math
from contextlib import nullcontext

import numpy as np
import pytest
from helpers.phylogenetic_trees import pattern_by_pattern, random_tree
from helpers.sentences import refused
from scipy import stats
from scipy.special import digamma

import thali as th
import thali._aspects.priors.phylogenetic as phylogenetic
from thali._aspects import kernel_operations
from thali._aspects.chain_state import count_grid_nodes, make_empty_state
from thali.errors import DataError
from thali.priors import IndianBuffet, PhylogeneticBuffet

GROUPS = {"a": ["0", "1", "2"], "b": ["3", "4", "5"], "c": ["6", "7", "8"]}
# lambda of a few patterns on the tree of three groups with leaf edges of .1, from the closed form
THREE_GROUPS = {
    (0,): 0.024569688807,
    (0, 1, 2): 0.268316449999,
    (0, 3): 0.000615754126,
    (0, 1, 2, 3, 4, 5): 0.122743576994,
    (0, 1, 3, 4): 0.000002466788,
    (3, 6, 7, 8): 0.008233913292,
    (0, 3, 6): 0.000031494276,
    (0, 1, 2, 3, 4, 5, 6, 7): 0.001359557006,
    tuple(range(9)): 0.292039970343,
}


def three_groups(leaf_length=0.1):
    return th.Tree.from_groups(GROUPS, leaf_length)


def code(owners):
    return sum(1 << i for i in owners)


def log_rate(prior, owners):
    """What the samplers get."""
    n = prior.log_single.shape[0]
    state = make_empty_state(n, 4)
    state.Z[2, list(owners)] = 1.0
    return kernel_operations.log_rate(prior, state, 2, len(owners))


def patterns(n, least=1):
    return [p for m in range(least, n + 1) for p in itertools.combinations(range(n), m)]


def spanned(tree, leaves):
    """Total length of the smallest subtree that joins these leaves to the root."""
    nodes = set()
    for leaf in leaves:
        while leaf >= 0:
            nodes.add(leaf)
            leaf = tree.parents[leaf]
    return sum(tree.lengths[v] for v in nodes)


def closed_form(tree, owners):
    """-sum over S within h of (-1)^|S| digamma(1 + T(rest and S)), by inclusion and exclusion."""
    rest = [i for i in range(tree.n_leaves) if i not in owners]
    total = 0.0
    for m in range(len(owners) + 1):
        for some in itertools.combinations(owners, m):
            total -= (-1) ** m * digamma(1.0 + spanned(tree, [*rest, *some]))
    return total


@pytest.fixture(params=[True, False], ids=["tabled", "pattern by pattern"])
def tabled(request):
    with nullcontext() if request.param else pattern_by_pattern():
        yield request.param


@pytest.mark.first(4)
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.exact
def test_rates_of_random_trees(seed, tabled):
    tree = random_tree(7, seed)
    prior = PhylogeneticBuffet(tree).compiled(7)
    total = 0.0
    for owners in patterns(7):
        rate = math.exp(log_rate(prior, owners))
        # the closed form cancels; the quadrature is good to some 1e-8 of each rate
        assert rate == pytest.approx(closed_form(tree, owners), rel=1e-7, abs=1e-13)
        total += rate
    assert total == pytest.approx(digamma(1.0 + tree.total_length) - digamma(1.0), rel=1e-7)
    for i in range(7):
        assert sum(math.exp(log_rate(prior, p)) for p in patterns(7) if i in p) == pytest.approx(
            1.0, rel=1e-7
        )


def test_rates_between_are_sums_of_rates(tabled):
    tree = random_tree(5, 3)
    prior = PhylogeneticBuffet(tree).compiled(5)
    for lo, hi in ((1, 5), (1, 4), (2, 5), (2, 4), (5, 5)):
        rates = [math.exp(log_rate(prior, p)) for p in patterns(5) if lo <= len(p) <= hi]
        assert kernel_operations.rate_by_size_range(prior, lo, hi) == pytest.approx(
            sum(rates), rel=2e-7
        )
    for i in range(5):
        assert kernel_operations.rate_single(prior, i) == pytest.approx(
            math.exp(log_rate(prior, (i,))), rel=1e-12
        )


@pytest.mark.first(2)
@pytest.mark.fit  # for its time
@pytest.mark.parametrize("n", [2, 5, 20, 50, 400])
def test_the_star_is_the_indian_buffet(n):
    prior, buffet = (
        PhylogeneticBuffet(th.Tree.star(map(str, range(n)))).compiled(n),
        IndianBuffet().compiled(n),
    )
    rng = np.random.default_rng(0)
    for m in np.unique(np.linspace(1, n, 20).astype(int)):
        owners = rng.choice(n, m, replace=False).tolist()
        assert log_rate(prior, owners) == pytest.approx(
            buffet.log_rate[m], abs=1e-7 if n < 20 else 5e-6
        )
    assert kernel_operations.rate_by_size_range(prior, 1, n) == pytest.approx(
        buffet.harmonic[n], rel=1e-7
    )


@pytest.mark.parametrize("seed", range(4))
def test_probability_given_pi_is_that_of_all_ways_through_the_tree(seed):
    """Brute force: every assignment of the inner nodes."""
    tree = random_tree(6, seed)
    kinship, inner = phylogenetic.TreeRates.from_tree(tree, 12), range(6, len(tree.parents))
    for owners in patterns(6):
        expected = np.zeros(12)
        for values in itertools.product([0, 1], repeat=len(inner) - 1):
            value = [int(i in owners) for i in range(6)] + [*values, 0]  # the root lacks it
            probability = np.ones(12)
            for v, up in enumerate(tree.parents[:-1]):
                stays = np.exp(-kinship.gamma * tree.lengths[v])
                if value[up]:
                    probability *= value[v]
                else:
                    probability *= (
                        -np.expm1(-kinship.gamma * tree.lengths[v]) if value[v] else stays
                    )
            expected += probability
        mask = np.isin(np.arange(6), owners)
        found = np.exp(kinship.sum_gains(mask, tree.parents) - kinship.gamma * kinship.total)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-300)


@pytest.mark.first(1)
@pytest.mark.fit
@pytest.mark.parametrize("seed", range(3))
def test_toggles_of_an_open_column_follow_the_pattern(seed):
    n, rng = 9, np.random.default_rng(seed)
    with pattern_by_pattern():
        prior, state = (
            PhylogeneticBuffet(random_tree(n, seed + 10)).compiled(n),
            make_empty_state(9, 4),
        )
    state.Z[1, :n] = rng.random(n) < 0.5
    kernel_operations.open_column(prior, state, 1)
    for _ in range(300):
        i = rng.integers(n)
        after = int(state.Z[1, :n].sum() + 1 - 2 * state.Z[1, i])
        if after == 0:
            continue
        found = kernel_operations.log_rate_after_toggle(prior, state, 1, i, after)
        owners = np.flatnonzero(state.Z[1, :n] != (np.arange(n) == i))
        assert found == pytest.approx(log_rate(prior, owners.tolist()), abs=1e-10)
        if rng.random() < 0.6:
            kernel_operations.record_toggle(prior, state, 1, i)
            state.Z[1, i] = 1.0 - state.Z[1, i]


@pytest.mark.fit
def test_deep_and_wide_trees():
    """A thousand leaves on a caterpillar, whose probabilities leave the range of floating-point
    numbers."""
    n = 1000
    text = "0:1"
    for k in range(1, n):
        text = f"({text},{k}:{k}):1"
    prior = PhylogeneticBuffet(
        th.Tree.from_newick(text + ";").for_labels(map(str, range(n)))
    ).compiled(n)
    assert kernel_operations.rate_by_size_range(prior, 1, n) > 1.0
    for owners in (range(500), range(0, 1000, 2), range(3)):
        assert math.isfinite(log_rate(prior, list(owners)))


@pytest.mark.first(2)
@pytest.mark.parametrize("lo, hi", [(1, 5), (2, 4), (1, 4), (2, 5)])
@pytest.mark.exact
def test_patterns_are_drawn_in_proportion_to_their_rate(lo, hi, tabled):
    n, rng = 5, np.random.default_rng(8)
    prior, state = PhylogeneticBuffet(random_tree(n, 1)).compiled(n), make_empty_state(n, 4)
    counts = {p: 0 for p in patterns(n) if lo <= len(p) <= hi}
    for _ in range(20_000):
        m = kernel_operations.draw_pattern(prior, rng, state, 2, lo, hi)
        drawn = tuple(np.flatnonzero(state.Z[2, :n]).tolist())
        assert len(drawn) == m
        counts[drawn] += 1
    rates = np.array([math.exp(log_rate(prior, p)) for p in counts])
    assert stats.chisquare(list(counts.values()), 20_000 * rates / rates.sum()).pvalue > 1e-4


@pytest.mark.fit
@pytest.mark.first(1)
@pytest.mark.parametrize("total", [1.0, 1.4, 3.7])
def test_gamma_of_a_feature_with_an_owner_has_its_density(total):
    rng, grid = np.random.default_rng(4), np.linspace(1e-9, 40.0, 400_001)
    density = -np.expm1(-grid * total) / np.expm1(grid)
    distribution = np.cumsum(density) / density.sum()
    drawn = [phylogenetic.draw_feature_gamma(total, rng) for _ in range(20_000)]
    assert stats.kstest(drawn, lambda x: np.interp(x, grid, distribution)).pvalue > 1e-3


def test_one_group_of_close_options():
    """Hardly any feature is shared by some of them and not by all; the others must still be drawn
    at once."""
    close = th.Tree.from_groups({"all": list("abcd")}, 1e-6)
    prior, state = PhylogeneticBuffet(close).compiled(4), make_empty_state(4, 4)
    assert 2 <= kernel_operations.draw_pattern(prior, np.random.default_rng(0), state, 2, 2, 3) <= 3
    many = th.Tree.from_groups({"all": [str(k) for k in range(30)]}, 1e-6)
    with refused(DataError, "to the leaves"):
        PhylogeneticBuffet(many).compiled(30)


@pytest.mark.parametrize(
    ("groups", "per_group", "leaf_length"), [(1, 60, 0.01), (2, 40, 0.01), (1, 40, 0.001)]
)
def test_rates_of_short_edges_against_a_fine_grid(groups, per_group, leaf_length):
    n = groups * per_group
    tree = th.Tree.from_groups(
        {str(g): [f"{g}-{k}" for k in range(per_group)] for g in range(groups)}, leaf_length
    )
    coarse, fine = (
        phylogenetic.TreeRates.from_tree(tree, count_grid_nodes(n)),
        phylogenetic.TreeRates.from_tree(tree, 20_000),
    )
    for m in (2, per_group // 2, per_group - 1, n - 1):
        owners = np.arange(n) < m
        found, expected = (
            k.log_rates(k.sum_gains(owners, tree.parents)[None]).item() for k in (coarse, fine)
        )
        assert found == pytest.approx(expected, abs=2e-5)


def test_what_does_not_fit_the_tree_is_refused():
    prior = PhylogeneticBuffet(three_groups())
    with refused(DataError, "9 leaves", "4 options"):
        prior.sample(4, 1.0, np.random.default_rng(0))
    with refused(DataError, "belong to at least one option"):
        prior.log_prob(np.zeros((9, 1)), 1.0)
    with refused(DataError, "9 leaves", "3 options"):
        prior.draw_probabilities(np.ones((3, 1)), np.random.default_rng(0))


@pytest.mark.long
@pytest.mark.fit  # for its time
def test_samples_have_the_patterns_of_the_rates():
    tree, rng = random_tree(4, 2), np.random.default_rng(12)
    prior = PhylogeneticBuffet(tree)
    drawn = np.concatenate([prior.sample(4, 2.0, rng) for _ in range(6_000)], axis=1)
    codes = (drawn * (1 << np.arange(4))[:, None]).sum(axis=0)
    expected = np.array([2.0 * 6_000 * closed_form(tree, p) for p in patterns(4)])
    counts = np.array([(codes == code(p)).sum() for p in patterns(4)])
    assert stats.chi2.sf(((counts - expected) ** 2 / expected).sum(), len(counts)) > 1e-4


def test_log_density_is_the_sum_of_log_rates():
    tree = three_groups()
    matrix = np.zeros((9, 3), bool)
    for column, owners in enumerate([(0, 1, 2), (0, 3), (0,)]):
        matrix[list(owners), column] = True
    rates = [THREE_GROUPS[p] for p in ((0, 1, 2), (0, 3), (0,))]
    total = digamma(1.0 + tree.total_length) - digamma(1.0)
    expected = sum(math.log(1.5 * rate) for rate in rates) - 1.5 * total
    assert PhylogeneticBuffet(tree).log_prob(matrix, 1.5) == pytest.approx(expected, abs=1e-7)
    assert PhylogeneticBuffet(tree).log_prob(np.zeros((9, 0)), 1.5) == pytest.approx(-1.5 * total)


@pytest.mark.fit  # for its time
def test_drawn_probabilities_have_the_mean_of_a_finer_grid():
    """The mean of pi given the owners, against a finer grid."""
    tree, rng = three_groups(), np.random.default_rng(3)
    matrix = np.zeros((9, 2), bool)
    matrix[:3, 0], matrix[[0, 3, 6], 1] = True, True
    drawn = np.array(
        [PhylogeneticBuffet(tree).draw_probabilities(matrix, rng) for _ in range(1_500)]
    )
    for column in range(2):
        kinship = phylogenetic.TreeRates.from_tree(tree, 400)
        density = np.exp(kinship.base + kinship.sum_gains(matrix[:, column], tree.parents))
        mean = (density * -np.expm1(-kinship.gamma)).sum() / density.sum()
        assert abs(drawn[:, column].mean() - mean) < 4.5 * drawn[:, column].std() / math.sqrt(1_500)


def test_leaves_are_matched_by_name():
    prior = PhylogeneticBuffet(three_groups())
    turned = prior.for_labels([str(k) for k in reversed(range(9))])
    assert math.exp(log_rate(turned.compiled(9), (8, 7, 6))) == pytest.approx(
        THREE_GROUPS[(0, 1, 2)], rel=1e-7
    )


def test_bad_trees_are_refused():
    with refused(DataError, "thali.Tree", "got str"):
        PhylogeneticBuffet("((a,b),c);")
    with refused(DataError, "'a'"):
        PhylogeneticBuffet(th.Tree.from_newick("((a:0,b:0):1,c:1);"))
    with refused(DataError, "9 leaves", "4 options"):
        PhylogeneticBuffet(three_groups()).compiled(4)
