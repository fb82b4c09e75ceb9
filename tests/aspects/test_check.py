"""The posterior predictive check: against exact mixtures of binomials, and on data with a known
answer."""

import dataclasses
import itertools
import warnings

import matplotlib
import numpy as np
import pandas as pd
import pytest
from helpers.posterior_cases import chain, comparisons, model_of, small_fit, tree_of
from helpers.sentences import refused, said
from scipy import stats

matplotlib.use("Agg")

from matplotlib import pyplot as plt  # noqa: E402
from matplotlib.colors import to_hex  # noqa: E402

import thali as th  # noqa: E402
from thali._model.predictive_check import MAX_REPLICATES, PAIR, describe_check, select_draws  # noqa: E402
from thali.errors import ArgumentError, DataError  # noqa: E402

# Standard errors; a normal variable is further out with probability 6e-7.
FAR = 5
TAILS = 0.055, 0.945


def check_table(tree, random_seed=None):
    """The check of a posterior."""
    return model_of(tree).check(random_seed)


def pairs_apart(probability, wins, n):
    """A tree whose draws have these probabilities (draws, pairs), of pairs that share no option."""
    probability = np.asarray(probability, dtype=float)
    draws, n_pairs = probability.shape
    counts = np.zeros((2 * n_pairs, 2 * n_pairs), dtype=int)
    first = 2 * np.arange(n_pairs)
    counts[first, first + 1], counts[first + 1, first] = wins, np.subtract(n, wins)
    weights = np.stack([probability, 1 - probability], axis=-1).reshape(draws, -1)
    drawn = dataclasses.replace(
        chain(2 * n_pairs, draws=draws, mean_features=0.0), unique_weights=weights
    )
    return tree_of([drawn], th.PairedComparisons(counts), lapse=0.0)


def in_order(table):
    """The rows of pairs that share no option, in the order of the data."""
    return table.iloc[np.argsort(table["a"].astype(int), kind="stable")]


# Probabilities of two kinds of draws, one column a pair, with comparisons and wins.
KINDS = np.array([[0.7, 0.02, 0.5, 0.31, 0.9, 0.4], [0.6, 0.10, 0.5, 0.69, 0.99, 0.45]])
N, WINS = [234, 20, 1, 100, 7, 12], [120, 0, 1, 43, 6, 9]
DRAWS, SHARE = 4000, 0.3  # of the first kind


@pytest.fixture(scope="module")
def mixture():
    of_first = np.arange(DRAWS) % 10 < 10 * SHARE
    return in_order(
        check_table(pairs_apart(KINDS[1 - of_first.astype(int)], WINS, N), random_seed=1)
    )


@pytest.mark.parametrize("pair", range(len(N)))
def test_intervals_and_p_values_are_those_of_the_mixture_of_binomials(mixture, pair):
    row, n, x = mixture.iloc[pair], N[pair], WINS[pair]
    outcomes = np.arange(n + 1)
    mass = np.array([SHARE, 1 - SHARE]) @ stats.binom.pmf(outcomes, n, KINDS[:, pair, None])
    assert row["n"] == n
    assert row["observed"] == x / n
    assert row["predicted"] == pytest.approx(
        np.array([SHARE, 1 - SHARE]) @ KINDS[:, pair], rel=1e-12
    )

    # A draw counts 1 below x and 1/2 at x; the p-value is at most twice as far off as the mean of
    # that.
    score = (outcomes < x) + 0.5 * (outcomes == x)
    mean = mass @ score
    error = np.sqrt(mass @ (score - mean) ** 2 / DRAWS)
    assert abs(row["p_value"] - 2 * min(mean, 1 - mean)) <= 2 * FAR * error

    cumulative = np.cumsum(mass)
    for end, tail in zip(("low", "high"), TAILS, strict=True):
        slack = FAR * np.sqrt(tail * (1 - tail) / DRAWS)
        nearest, furthest = np.searchsorted(cumulative, [tail - slack, tail + slack])
        assert nearest <= round(row[end] * n) <= furthest
    assert row["missed"] == (not row["low"] <= row["observed"] <= row["high"])


def test_expected_misses_are_those_of_the_mixture_of_binomials(mixture):
    outside = variance = 0.0
    for pair, n in enumerate(N):
        low, high = (mixture[["low", "high"]].iloc[pair] * n).round()
        outcomes = np.arange(n + 1)
        mass = np.array([SHARE, 1 - SHARE]) @ stats.binom.pmf(outcomes, n, KINDS[:, pair, None])
        missed = mass[(outcomes < low) | (outcomes > high)].sum()
        outside, variance = outside + missed, variance + missed * (1 - missed) / DRAWS
    assert abs(mixture.attrs["expected_missed"] - outside) <= FAR * np.sqrt(variance)
    assert mixture.attrs["draws"] == DRAWS


@pytest.mark.parametrize(
    "kinds, wins, n",
    [
        ([[0.5], [0.5]], [1], [4]),  # 1 and 3 of 4 are equally far: half of all replicates tie
        ([[0.5, 0.3], [0.4, 0.35]], [6, 1], [8, 5]),
        ([[0.21] * 5] * 2, [0, 0, 0, 0, 1], [2] * 5),  # ties whose terms are added in another order
        ([[0.5, 0.95], [0.5, 0.95]], [4, 5], [9, 7]),  # rare choices count for more
    ],
)
def test_overall_p_value_is_that_of_all_replicates_counted_out(kinds, wins, n):
    of_first = np.arange(DRAWS) % 10 < 10 * SHARE
    kinds = np.array(kinds)
    table = check_table(pairs_apart(kinds[1 - of_first.astype(int)], wins, n), random_seed=2)
    expected = 0.0
    for share, p in zip((SHARE, 1 - SHARE), kinds, strict=True):

        def distance(x, p=p):
            return sum((x - n * p) ** 2 / (n * p * (1 - p)))

        for replicate in itertools.product(*(range(size + 1) for size in n)):
            further = distance(np.array(replicate)) - distance(np.array(wins))
            counts = 0.5 if abs(further) < 1e-9 else further > 0
            expected += share * counts * np.prod(stats.binom.pmf(replicate, n, p))
    assert abs(table.attrs["p_value"] - expected) <= FAR * 0.5 / np.sqrt(DRAWS)


def test_a_model_that_is_certain_is_right_or_infinitely_wrong():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        right = check_table(pairs_apart(np.tile([1.0, 0.0], (200, 1)), [9, 0], [9, 4]))
        wrong = check_table(pairs_apart(np.tile([1.0, 0.0], (200, 1)), [9, 1], [9, 4]))
    assert right["p_value"].to_list() == [1.0, 1.0] and right["missed"].to_list() == [False, False]
    assert (right.attrs["p_value"], wrong.attrs["p_value"]) == (0.5, 0.0)
    assert wrong[["a", "p_value", "missed"]].iloc[0].to_list() == ["2", 0.0, True]


def test_equal_p_values_stand_in_the_order_of_the_data():
    table = check_table(pairs_apart(np.full((100, 8), 1.0), [3] * 8, [3] * 8))
    assert table["a"].to_list() == [str(option) for option in range(0, 16, 2)]
    assert table.index.to_list() == list(range(8))


def test_blocks_of_pairs_and_cells_change_nothing(monkeypatch):
    tree = small_fit()[2]
    whole = check_table(tree, random_seed=7)
    for block in (1, 200):
        monkeypatch.setattr("thali._inference.index_arithmetic.BLOCK", block)
        pieces = check_table(tree, random_seed=7)
        # Sums in another order differ in the last digits.
        np.testing.assert_allclose(pieces.pop("predicted"), whole["predicted"], rtol=1e-12)
        pd.testing.assert_frame_equal(pieces, whole.drop(columns="predicted"), check_exact=True)


def test_of_too_many_draws_evenly_spaced_ones_are_used():
    assert check_table(small_fit()[2], random_seed=1).attrs["draws"] == 120
    assert select_draws(120, 9).tolist() == list(range(120))
    counts = MAX_REPLICATES // 1_500
    assert select_draws(4_500, counts).tolist() == list(range(0, 4_500, 3))
    assert len(select_draws(4_500, 10**6)) == 100  # never fewer


def test_fractional_comparisons_cannot_be_replicated():
    data = th.PairedComparisons(
        [[0, 2, 2.5], [1, 0, 0], [1.5, 0, 0]], labels=["tea", "coffee", "milk"], weights=True
    )
    with refused(DataError, "'tea'", "'milk'", "2.5"):
        check_table(tree_of([chain(3)], data))


def table_of(*observed, n_pairs=36, expected=3.6, p_value=0.43, draws=4000, low=0.5, high=0.6):
    rows = [
        {
            "a": f"a{row}",
            "b": f"b{row}",
            "observed": value,
            "low": low,
            "high": high,
            "missed": not low <= value <= high,
        }
        for row, value in enumerate([*observed, *[0.55] * (n_pairs - len(observed))])
    ]
    table = pd.DataFrame(rows)
    table.attrs.update(
        p_value=p_value, interval=0.89, expected_missed=expected, draws=draws, rows=PAIR
    )
    return table


NO_MISFIT = "No misfit found"


@pytest.mark.parametrize(
    "table, facts",
    [
        (
            table_of(0.75, 0.25),
            (
                "2 of 36",
                "89 %",
                "about 4",
                "a0 over b0 (observed 0.75, predicted 0.50",
                "a1 over b1",
                "p = 0.43",
            ),
        ),
        (
            table_of(0.75, n_pairs=1200, expected=0.2),
            ("1 of 1,200", "fewer than 1", "a0 over b0", "p = 0.43"),
        ),
        (table_of(expected=1.4), ("0 of 36", "about 1", "p = 0.43")),
    ],
)
def test_check_sentences_state_the_misses(table, facts):
    said(describe_check(table), *facts, NO_MISFIT)


def test_a_misfit_without_a_miss_is_one_of_many_rows():
    assert describe_check(table_of(p_value=0.003)).endswith(
        ": the misfit is spread over many of them."
    )


def test_at_most_five_misses_are_named():
    sentence = describe_check(table_of(*[0.9] * 7))
    assert " 7 of 36" in sentence
    assert ". Worst: a0 over b0 (" in sentence
    assert [f"a{row} over b{row}" in sentence for row in range(7)] == [True] * 5 + [False] * 2


def test_a_miss_has_as_many_digits_as_show_it():
    assert "(observed 0.6004, predicted 0.5000 to 0.6000)" in describe_check(table_of(0.6004))
    assert "(observed 0.499, predicted 0.500 to 0.600)" in describe_check(table_of(0.4991))


@pytest.mark.parametrize(
    "p_value, draws, misfit, shown",
    [
        (0.0, 4000, True, "p < 0.001"),
        (0.0, 100, True, "p < 0.01"),
        (0.0, 10, False, "p < 0.1"),  # ten draws cannot show misfit
        (0.0478, 4000, True, "p = 0.048"),
        (0.05, 4000, False, "p = 0.050"),
        (0.984, 4000, False, "p = 0.98"),
        (1.0, 4000, False, "p > 0.99"),
        (1.0, 20, False, "p > 0.95"),
    ],
)
def test_overall_p_value_in_words(p_value, draws, misfit, shown):
    sentence = describe_check(table_of(p_value=p_value, draws=draws))
    assert sentence.startswith(
        f"{'Misfit' if misfit else NO_MISFIT} (posterior predictive {shown}). "
    )


def test_a_table_without_its_attributes_is_refused():
    with refused(ArgumentError, "unchanged"):
        describe_check(pd.DataFrame(table_of().to_dict()))


@pytest.fixture(autouse=True)
def no_figure_stays_open():
    yield
    plt.close("all")


@pytest.fixture
def forty():
    data = comparisons(40, labels=[f"${option} and more" for option in range(40)])
    return model_of(tree_of([chain(40, draws=100, common=[(0, 1)])], data))


@pytest.mark.fit
def test_picture_shows_the_worst_rows_of_the_table(forty):
    table = check_table(forty.posterior_, random_seed=9)
    ax = th.plots.check(table, max_pairs=30)
    table = table.head(30)
    names = [f"{a} over {b}" for a, b in zip(table["a"], table["b"], strict=True)]
    assert [tick.get_text() for tick in ax.get_yticklabels()] == names
    assert not any(tick.get_parse_math() for tick in ax.get_yticklabels())
    assert ax.yaxis_inverted()  # the worst at the top
    said(ax.get_xlabel(), "proportion", "30 of 780 pairs")

    boxes = [bar.get_window_extent().transformed(ax.transData.inverted()) for bar in ax.patches]
    ends = table[["low", "high"]].to_numpy()
    np.testing.assert_allclose([(box.x0, box.x1) for box in boxes], ends, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(
        [(box.y0 + box.y1) / 2 for box in boxes], range(30), rtol=1e-9, atol=1e-9
    )
    lines = {line.get_label(): line for line in ax.lines}
    predicted, observed, missed = (
        table[name].to_numpy() for name in ("predicted", "observed", "missed")
    )
    np.testing.assert_array_equal(
        lines["predicted"].get_xydata(), np.column_stack([predicted, range(30)])
    )
    assert 0 < missed.sum() < 30
    marks, colours = set(), set()
    for label, chosen in (("observed, inside", ~missed), ("observed, outside", missed)):
        points = np.column_stack([observed[chosen], np.flatnonzero(chosen)])
        np.testing.assert_array_equal(lines[label].get_xydata(), points)
        marks.add(lines[label].get_marker())
        colours.add(to_hex(lines[label].get_color()))
    assert marks == {"o", "D"} and len(colours) == 2
    legend = ax.get_legend()
    assert legend is not None
    entries = ["89 % predictive interval", "predicted", "observed, inside", "observed, outside"]
    assert [text.get_text() for text in legend.get_texts()] == entries


def test_picture_of_few_pairs_shows_them_all_and_only_what_there_is():
    few = model_of(pairs_apart(np.full((200, 2), 0.5), [5, 5], [10, 10]))
    before = dict(matplotlib.rcParams)
    figure, given = plt.subplots()
    assert th.plots.check(few.check(), given) is given
    said(given.get_xlabel(), "proportion")
    legend = given.get_legend()
    assert legend is not None
    assert "observed, outside" not in [text.get_text() for text in legend.get_texts()]
    assert plt.get_fignums() == [figure.number]
    assert dict(matplotlib.rcParams) == before


def test_picture_of_no_pairs_is_refused(forty):
    with refused(ArgumentError, "`max_pairs`", "1", "got 0"):
        th.plots.check(forty.check(), max_pairs=0)


@pytest.mark.fit
def test_pairs_compared_once_are_not_checked():
    """Every interval is 0 to 1, and every proportion inside: no pass, since nothing could have
    failed."""
    model = th.EliminationByAspects("unique")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", th.errors.ThaliWarning)
        once = th.PairedComparisons(np.triu(np.ones((6, 6), int), 1))
        model.fit(once, draws=50, tune=50, chains=2, random_seed=1, progressbar=False)
    table = model.check(random_seed=1)
    assert np.isnan(table.attrs["p_value"])
    sentence = describe_check(table)
    said(sentence, "uninformative", "fewer than 2 times")
    assert "lie" not in sentence and "no further" not in sentence
