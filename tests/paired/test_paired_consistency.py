"""The chest of paired comparisons: transitivity, triads, agreement, trinary inequality, against
counts done by hand."""

from itertools import permutations, product
from math import comb

import numpy as np
import pandas as pd
import pytest
from helpers.paired_cases import (
    DRUGS,
    HEAVINESS,
    PORK,
    TREE,
    everything,
    rng,
    shared,
    total,
    triples,
)
from helpers.sentences import refused
from scipy.stats import binom, chi2

import thali as th
from thali.errors import ArgumentError, DataError


@pytest.fixture(scope="module")
def celebrities():
    return th.datasets.celebrities()


def by_hand(data):
    """Violations of transitivity from all orders of every triple; the order that violates least
    counts."""
    counts = data.counts.astype(float)
    with np.errstate(invalid="ignore"):
        p = counts / (counts + counts.T)
    found = np.zeros(3, int)
    lacks = [[], [], []]
    for triple in triples(data.n_options):
        best = None
        for i, j, k in permutations(triple):
            if p[i, j] >= 0.5 and p[j, k] >= 0.5:
                asked = (0.5, min(p[i, j], p[j, k]), max(p[i, j], p[j, k]))
                violated = [p[i, k] < least for least in asked]
                best = min(best or (9,), (sum(violated), -p[i, k], violated, asked))
        for kind in range(3):
            if best[2][kind]:
                found[kind] += 1
                lacks[kind].append(best[3][kind] + best[1])
    return (
        found,
        [np.mean(some) if some else 0 for some in lacks],
        [max(some, default=0) for some in lacks],
    )


def test_transitivity_of_celebrities_as_published(celebrities):
    found = th.paired.transitivity(celebrities)
    assert (found.weak, found.moderate, found.strong, found.n_tests) == (0, 0, 34, 84)
    assert found.table.loc["strong", "error_ratio"] == pytest.approx(0.405, abs=5e-4)
    assert len(found.violations) == 34 and set(found.violations["kind"]) == {"strong"}
    assert "strong            34     84" in str(found)


def test_transitivity_against_all_orders():
    cases = everything() | {f"random {seed}": random_data(seed) for seed in range(4)}
    for name, data in cases.items():
        found = th.paired.transitivity(data)
        violations, mean, largest = by_hand(data)
        assert [found.weak, found.moderate, found.strong] == violations.tolist(), name
        assert found.n_tests == comb(data.n_options, 3)
        np.testing.assert_allclose(found.table["mean_deviation"], mean, atol=1e-12)
        np.testing.assert_allclose(found.table["max_deviation"], largest, atol=1e-12)
        assert len(found.violations) == violations.sum()


def random_data(seed):
    # few judgements, many ties and cycles
    counts = rng(seed).integers(0, 5, (6, 6)) + 1 - np.eye(6, dtype=int)
    np.fill_diagonal(counts, 0)
    return th.PairedComparisons(counts)


def test_transitivity_needs_triples():
    with refused(DataError, "no triple of options"):
        th.paired.transitivity(th.PairedComparisons.from_pairs([("a", "b"), ("b", "c")]))
    # Triples with a pair that was never compared are left out.
    counts = random_data(1).counts.copy()
    counts[0, 1] = counts[1, 0] = 0
    assert th.paired.transitivity(counts).n_tests == 20 - 4


@pytest.mark.parametrize("n", [3, 4, 5])
def test_tournaments_are_counted_by_circular_triads(n):
    """The exact probability of so few circular triads is the share of all tournaments that have
    them."""
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
    found = {}
    for outcome in product((0, 1), repeat=len(pairs)):
        beats = np.zeros((n, n), int)
        for (i, j), won in zip(pairs, outcome, strict=True):
            beats[(i, j) if won else (j, i)] = 1
        found.setdefault(cycles_of(beats), []).append(beats)
    below = 0
    for cycles in sorted(found):
        below += len(found[cycles])
        p = th.paired.circular_triads(found[cycles][0], test="exact").p_value
        assert p == pytest.approx(below / 2 ** len(pairs), rel=1e-12)


def test_numbers_of_larger_tournaments():
    """Kendall & Babington Smith (1940), table 1: 8 options, 40,320 without a triad, at most 20, and
    2^28 in all."""
    order = np.triu(np.ones((8, 8), int), 1)
    assert th.paired.circular_triads(order).p_value == pytest.approx(40320 / 2**28, rel=1e-12)
    ahead = (np.arange(8) - np.arange(8)[:, None]) % 8
    most = (ahead > 0) & ((ahead < 4) | (ahead == 4) & (np.arange(8)[:, None] < 4))
    found = th.paired.circular_triads(most.astype(int))
    assert found.circular == found.table.loc["judge", "maximum"] == 20 and found.p_value == 1.0


def cycles_of(beats):
    return sum(
        beats[i, j] * beats[j, k] * beats[k, i] + beats[j, i] * beats[k, j] * beats[i, k]
        for i, j, k in triples(len(beats))
    )


# A dog's preferences for six samples of food (David 1988).
DOG = [
    [0, 1, 1, 0, 1, 1],
    [0, 0, 0, 1, 1, 0],
    [0, 1, 0, 1, 1, 1],
    [1, 0, 0, 0, 0, 0],
    [0, 0, 0, 1, 0, 1],
]
DOG += [[0, 1, 0, 1, 0, 0]]


def test_circular_triads_of_a_dog_as_published():
    found = th.paired.circular_triads(DOG)
    assert (found.circular, found.table.loc["judge", "maximum"], found.consistency) == (5, 8, 0.375)
    assert cycles_of(np.array(DOG)) == 5
    # of 2^15 tournaments of 6, as many have 5 or fewer
    assert found.p_value == pytest.approx(16688 / 2**15)
    asked = th.paired.circular_triads(np.array(DOG), test="asymptotic")
    df = 6 * 5 * 4 / 4
    statistic = 8 / 2 * (20 / 4 - 5 + 0.5) + df
    assert asked.table[["statistic", "df"]].iloc[0].tolist() == [statistic, df]
    assert asked.p_value == pytest.approx(chi2.sf(statistic, df))


def test_circular_triads_of_several_judges_and_majorities():
    judges = [shared(name) for name in PORK]
    found = th.paired.circular_triads(dict(zip(PORK, judges, strict=True)))
    assert list(found.table.index) == PORK
    assert found.circular.tolist() == [cycles_of(judge.counts) for judge in judges]
    assert found.circular.sum() == 1 and not found.majority
    for name, data in everything().items():
        found = th.paired.circular_triads(data)
        counts = data.counts
        p = (1 + np.sign(counts - counts.T)) / 2 * (1 - np.eye(len(counts)))
        assert found.circular == pytest.approx(cycles_of(p), abs=1e-9), name
        assert found.majority
    assert "majority" in str(found)


def test_ties_are_broken_both_ways():
    counts = np.array([[0, 2, 1], [0, 0, 2], [1, 0, 0]])  # a over b over c, and a ties with c
    assert th.paired.circular_triads(counts).circular == 0.5


def test_circular_triads_refuse_bad_data():
    for data, arguments, kind, sentence in [
        ([[0, 1], [0, 0]], {}, DataError, "least three options; got 2"),
        (
            np.triu(np.ones((12, 12)), 1),
            {"test": "exact"},
            ArgumentError,
            "limited to 11 options; got 12",
        ),
        (
            np.triu(np.ones((4, 4)), 1),
            {"test": "asymptotic"},
            ArgumentError,
            "requires at least 5 options",
        ),
        (np.triu(np.ones((4, 4)), 1), {"test": "guess"}, ArgumentError, "`test` must be one of"),
        (
            np.eye(4, k=1),
            {},
            DataError,
            "all pairs to be compared, but '0' was never compared with '2'",
        ),
        ([], {}, DataError, "no judges"),
        ("table", {}, DataError, "This analysis requires PairedComparisons"),
    ]:
        with pytest.raises(kind, match=sentence):
            th.paired.circular_triads(data, **arguments)
    with refused(DataError, "judges"):
        th.paired.circular_triads([shared(PORK[0]), shared(HEAVINESS[0])])


def test_agreement_of_celebrities_as_published(celebrities):
    found = th.paired.agreement(celebrities)
    assert found.u == pytest.approx(0.1172, abs=5e-5)
    assert found.u_min == pytest.approx(-1 / 233)


def test_agreement_of_every_data_set_by_definition():
    for name, data in everything().items():
        found = th.paired.agreement(data)
        pairs = list(zip(data.wins, data.losses, strict=True))
        sigma = sum(comb(int(x), 2) + comb(int(y), 2) for x, y in pairs)
        possible = sum(comb(int(x + y), 2) for x, y in pairs)
        assert found.u == pytest.approx(2 * sigma / possible - 1, abs=1e-12), name
        judges = {int(x + y) for x, y in pairs}
        if len(judges) > 1:
            # which have one pair with a judgement more
            assert name in ("drugrisk_all", "drugrisk_female31")
            continue
        m, n_pairs = judges.pop(), data.n_pairs
        df = n_pairs * m * (m - 1) / (m - 2) ** 2
        statistic = 4 / (m - 2) * (sigma - 1 - n_pairs * comb(m, 2) / 2 * (m - 3) / (m - 2))
        assert (found.statistic, found.df) == (pytest.approx(statistic), pytest.approx(df))
        assert found.p_value == pytest.approx(chi2.sf(statistic, df))
        assert found.u_min == pytest.approx(-1 / (m - 1) if m % 2 == 0 else -1 / m)
        uncorrected = th.paired.agreement(data, correct=False)
        assert uncorrected.statistic == pytest.approx(statistic + 4 / (m - 2))


def test_agreement_of_unequal_numbers_of_judges():
    counts = np.array([[0, 4, 5], [1, 0, 8], [1, 0, 0]])  # pairs of 5, 6 and 8 judges
    cumulants = np.zeros(3)
    for m in (5, 6, 8):
        sigma = np.array([comb(x, 2) + comb(m - x, 2) for x in range(m + 1)])
        decisions = binom.pmf(range(m + 1), m, 0.5)
        mean = sigma @ decisions
        cumulants += [mean, (sigma - mean) ** 2 @ decisions, (sigma - mean) ** 3 @ decisions]
    mean, variance, third = cumulants
    df, scale = 8 * variance**3 / third**2, third / (4 * variance)
    found = sum(comb(int(x), 2) for x in counts.ravel())
    agreement = th.paired.agreement(counts)
    assert (agreement.df, agreement.statistic) == (
        pytest.approx(df),
        pytest.approx((found - 1 - mean) / scale + df),
    )
    assert agreement.u == pytest.approx(2 * found / (10 + 15 + 28) - 1)
    assert agreement.u_min == pytest.approx(2 * (4 + 6 + 12) / (10 + 15 + 28) - 1)


def test_the_exact_test_of_agreement_enumerates_choices():
    data = total(PORK)
    m = 10
    probabilities = {}
    for xs in product(range(m + 1), repeat=3):
        sigma = sum(comb(x, 2) + comb(m - x, 2) for x in xs)
        probabilities[sigma] = probabilities.get(sigma, 0) + np.prod(binom.pmf(xs, m, 0.5))
    found = sum(comb(int(x), 2) for x in (*data.wins, *data.losses))
    expected = sum(decisions for sigma, decisions in probabilities.items() if sigma >= found)
    assert th.paired.agreement(data, test="exact").p_value == pytest.approx(expected, abs=1e-12)
    # Two judges of each pair: the number of pairs on which they agree is binomial.
    two = th.PairedComparisons(np.array([[0, 2, 1, 2], [0, 0, 2, 2], [1, 0, 0, 0], [0, 0, 2, 0]]))
    assert th.paired.agreement(two, test="exact").p_value == pytest.approx(binom.sf(4, 6, 0.5))


def test_agreement_refuses_bad_data(celebrities):
    for data, test, sentence in [
        (np.array([[0, 2], [0, 0]]), "asymptotic", "three judges"),
        (np.array([[0, 1], [0, 0]]), "asymptotic", "judged by at least two judges"),
        (celebrities, "exact", "limited to 200,000 pairs of judges"),
        (th.paired.half_wins([[0, 3], [1, 0]], [[0, 1], [1, 0]]), "asymptotic", "integer counts"),
    ]:
        with pytest.raises(DataError, match=sentence):
            th.paired.agreement(data, test=test)


def test_judges_of_agreement_judge_a_pair_once():
    rows = [("ann", "a"), ("ann", "b"), ("bob", "a"), ("cat", "a")]
    trials = pd.DataFrame(
        [(who, "a", "b", chosen) for who, chosen in rows], columns=["who", "x", "y", "chosen"]
    )
    with refused(DataError, "'ann'", "'a' and 'b'", "2 times", "omit the respondent column"):
        th.paired.agreement(
            th.PairedComparisons.from_trials(trials, "x", "y", "chosen", respondent="who")
        )
    th.paired.agreement(th.PairedComparisons.from_trials(trials, "x", "y", "chosen"))
    th.paired.agreement(
        th.PairedComparisons.from_trials(trials[1:], "x", "y", "chosen", respondent="who")
    )


@pytest.mark.parametrize(
    "name, aspects", [("celebrities", TREE), ("drugrisk_all", DRUGS), ("drugrisk_male31", DRUGS)]
)
def test_trinary_inequality_by_definition(name, aspects):
    data = th.datasets.celebrities() if name == "celebrities" else shared(name)
    counts, labels = data.counts.astype(float), data.labels
    ratios = {}
    for x, y, z in permutations(range(len(labels)), 3):
        shares = (set(aspects[labels[x]]) & set(aspects[labels[y]])) - set(aspects[labels[z]])
        if shares and counts[x, y] > counts[y, x]:
            ratio = (
                counts[x, y]
                / counts[y, x]
                * counts[y, z]
                / counts[z, y]
                * counts[z, x]
                / counts[x, z]
            )
            ratios[labels[x], labels[y], labels[z]] = ratio
    found = th.paired.trinary_inequality(data, aspects)
    assert found.n_tests == len(ratios)
    assert found.proportion == pytest.approx(np.mean([r > 1 for r in ratios.values()]))
    for row in found.triples.itertuples():
        assert row.ratio == pytest.approx(ratios[row.x, row.y, row.z])
    assert found.table["median"].iloc[0] == pytest.approx(
        sorted(ratios.values())[(len(ratios) - 1) // 2]
    )


def test_trinary_inequality_needs_shared_aspects(celebrities):
    with refused(DataError, "lacking in a third"):
        th.paired.trinary_inequality(celebrities, "unique")


@pytest.mark.parametrize("options", [3, 6, 9, 10, 26])
def test_designs_are_balanced(options):
    design = th.paired.pair_design(options)
    table = design.table
    n_pairs = comb(options, 2)
    assert len({frozenset(pair) for pair in design.list_a}) == len(design.list_a) == n_pairs
    assert design.list_b == [(b, a) for a, b in design.list_a]
    first = table["first"].value_counts().reindex([str(k) for k in range(options)], fill_value=0)
    assert first.sub((options - 1) / 2).abs().max() == (0 if options % 2 else 0.5)
    for _, rows in table.groupby("round"):
        shown = [*rows["first"], *rows["second"]]
        assert len(shown) == len(set(shown)) >= options - 1
    assert "list_b" in str(design)


def test_designs_take_labels_and_refuse():
    assert set(th.paired.pair_design(["tea", "milk", "juice"]).table["first"]) == {
        "tea",
        "milk",
        "juice",
    }
    for options, sentence in [
        (2, "three options; got 2"),
        ("tea", "number of options or a list of labels"),
    ]:
        with pytest.raises(ArgumentError, match=sentence):
            th.paired.pair_design(options)
    with refused(DataError, "must be unique"):
        th.paired.pair_design(["tea", "tea", "milk"])


def test_everything_loads_and_prints_a_table(celebrities):
    assert set(th.paired.__all__) <= set(dir(th.paired))
    for name in th.paired.__all__:
        assert callable(getattr(th.paired, name))
    with pytest.raises(AttributeError, match="no_such_tool"):
        th.paired.no_such_tool  # noqa: B018
    found = th.paired.agreement(celebrities)
    assert isinstance(found.table, pd.DataFrame) and repr(found) == str(found)
    with pytest.raises(AttributeError):
        found.u = 1.0
