"""Which of two options was first, or at home: kept by paired comparisons through all that is done
with them."""

import itertools

import numpy as np
import pandas as pd
import pytest
from helpers.pages import notebook

import thali as th
from thali import PairedComparisons
from thali._data.base_classes import copy_with_fields
from thali.errors import DataError

LABELS = ["tea", "milk", "rum", "ale"]


@pytest.fixture
def frame():
    random = np.random.default_rng(3)
    rows = [
        random.permutation(pair) for pair in itertools.combinations(LABELS, 2) for _ in range(9)
    ]
    table = pd.DataFrame(rows, columns=["left", "right"])
    return table.assign(
        choice=random.choice(["left", "right", "tie"], len(rows)),
        respondent=np.arange(len(rows)) % 5,
    )


def by_hand(frame, labels):
    """Wins, losses and ties of all pairs whose first label was on the left, by a loop over the
    rows."""
    found = dict.fromkeys(itertools.combinations(labels, 2))
    for pair in found:
        found[pair] = [0, 0, 0]
    for row in frame.itertuples():
        if (row.left, row.right) in found:
            found[row.left, row.right][["left", "right", "tie"].index(row.choice)] += 1
    return np.array(list(found.values()), float).T


def test_trials_keep_which_was_first(frame):
    data = PairedComparisons.from_trials(frame, labels=LABELS)
    np.testing.assert_array_equal(data.forward, by_hand(frame, LABELS))
    forward, backward = data.by_order()
    for name in ("counts", "ties"):
        np.testing.assert_array_equal(
            getattr(forward, name) + getattr(backward, name), getattr(data, name)
        )
    counted = frame.groupby(["left", "right", "choice"]).size().reset_index(name="n")
    again = PairedComparisons.from_trials(counted, labels=LABELS)
    np.testing.assert_array_equal(again.forward, data.forward)
    assert "first option recorded" in notebook(data)


def test_further_comparisons_keep_it_if_both_know_it(frame):
    """Though the second half names its options in another order."""
    first = PairedComparisons.from_trials(frame[:20], labels=LABELS)
    second = PairedComparisons.from_trials(frame[20:], labels=LABELS[::-1])
    np.testing.assert_array_equal(first.with_more(second).forward, by_hand(frame, LABELS))
    assert first.with_more(PairedComparisons.from_pairs([("tea", "ale")])).forward is None


def test_half_a_tie_stays_in_its_order(frame):
    data = PairedComparisons.from_trials(frame, labels=LABELS)
    wins, losses, ties = data.forward
    halves = data.without_ties("half").forward
    np.testing.assert_array_equal(halves, [wins + ties / 2, losses + ties / 2, 0 * ties])


def test_the_order_belongs_to_equality(frame):
    data = PairedComparisons.from_trials(frame)
    turned = frame.rename(columns={"left": "right", "right": "left"})
    turned["choice"] = frame["choice"].map({"left": "right", "right": "left", "tie": "tie"})
    other = PairedComparisons.from_trials(turned, labels=data.labels)
    np.testing.assert_array_equal(other.counts, data.counts)
    assert other != data


def test_counts_of_home_and_away_keep_it_and_those_of_a_and_b_do_not():
    games = pd.DataFrame(
        {"home.team": ["x", "y"], "away.team": ["y", "x"], "home.wins": [4, 3], "away.wins": [2, 1]}
    )
    data = PairedComparisons.from_frame(games)
    np.testing.assert_array_equal(data.forward, [[4], [2], [0]])
    assert data.counts.tolist() == [[0, 5], [5, 0]]
    named = games.set_axis(["a", "b", "a_over_b", "b_over_a"], axis=1)
    assert PairedComparisons.from_frame(named).forward is None
    with pytest.raises(DataError, match="which option was shown"):
        PairedComparisons.from_frame(named).by_order()


def test_the_advantage_of_all_at_home_first():
    # Every pair in one order only: what the labels say and the order of the rows are told apart by
    # three options.
    rows = (
        [("a", "b", "H")] * 6
        + [("a", "b", "A")] * 4
        + [("b", "c", "H")] * 5
        + [("b", "c", "A")] * 3
    )
    rows += [("a", "c", "H")] * 4 + [("a", "c", "A")] * 5
    data = PairedComparisons.from_results(pd.DataFrame(rows, columns=["home", "away", "result"]))
    assert data.by_order()[1].n_comparisons == 0
    found = th.paired.order_effect(data)
    # As many parameters as pairs: logits of the proportions, log(6/4) + log(5/3) - log(4/5) = log
    # gamma.
    assert found.advantage == pytest.approx(1.5 * (5 / 3) / 0.8)
    assert found.log_likelihood == pytest.approx(
        float(found.table.loc["model", "larger_log_likelihood"])
    )


LETTERS = list("abcd")


def read_dated_trials(rows, labels=LETTERS):
    return th.PairedComparisons.from_trials(
        rows, covariates=["order", "longer"], date="day", respondent="who", labels=labels
    )


def draw_trials():
    rng = np.random.default_rng(5)
    first = rng.integers(0, 4, 400)
    second = (first + rng.integers(1, 4, 400)) % 4
    outcomes = rng.choice(["left", "right", "tie"], 400, p=[0.5, 0.3, 0.2])
    return pd.DataFrame(
        {
            "left": np.array(LETTERS)[first],
            "right": np.array(LETTERS)[second],
            "chosen": outcomes,
            "who": pd.Categorical(np.array(["ann", "bo", "cy"])[rng.integers(0, 3, 400)]),
            "day": rng.choice(["2024-01-01", "2024-02-01", "2024-03-01"], 400),
            "longer": rng.integers(-1, 2, 400),
        }
    )


def keep_of(rows, kept):
    return rows["left"].isin(list(kept)) & rows["right"].isin(list(kept))


@pytest.mark.parametrize(
    ("change", "keep", "labels"),
    [
        (lambda data: data.subset(["d", "a", "c"]), lambda rows: keep_of(rows, "acd"), "dac"),
        (lambda data: data.without_pair("c", "b"), lambda rows: ~keep_of(rows, "bc"), "abcd"),
        (lambda data: data.without_ties("drop"), lambda rows: rows["chosen"] != "tie", "abcd"),
    ],
)
def test_a_change_equals_a_reading_of_the_changed_table(change, keep, labels):
    rows = draw_trials()
    assert change(read_dated_trials(rows)) == read_dated_trials(rows[keep(rows)], list(labels))


def test_comparisons_between_dates_are_those_of_the_filtered_table():
    rows = draw_trials()
    filtered = read_dated_trials(rows[rows["day"] > "2024-01-15"])
    selected = read_dated_trials(rows).between("2024-01-15")
    assert selected == copy_with_fields(filtered, forward=None)
