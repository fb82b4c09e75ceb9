"""Covariates of comparisons and of options: kept by paired comparisons through all that is done
with them."""

import itertools

import numpy as np
import pandas as pd
import pytest
from helpers.pages import notebook
from helpers.sentences import refused

import thali as th
from thali._data.base_classes import merge_new_data
from thali.errors import DataError

LABELS = ["tea", "milk", "rum", "ale"]
NAMES = ["order", "longer", "judge=B", "judge=C"]


@pytest.fixture
def frame():
    rng = np.random.default_rng(3)
    rows = [rng.permutation(pair) for pair in itertools.combinations(LABELS, 2) for _ in range(9)]
    table = pd.DataFrame(rows, columns=["left", "right"])
    table = table.assign(
        choice=rng.choice(["left", "right", "tie"], len(rows)), respondent=np.arange(len(rows)) % 5
    )
    return table.assign(
        longer=rng.integers(-2, 3, len(rows)), judge=rng.choice(list("ABC"), len(rows))
    )


def read(frame, **settings):
    return th.PairedComparisons.from_trials(
        frame, labels=LABELS, covariates=["order", "longer", "judge"], **settings
    )


def by_hand(frame, labels):
    """Outcomes and people by pair and covariates, of the first of the pair over its second, by a
    loop over the rows."""
    found = {}
    for row in frame.itertuples():
        if row.left not in labels or row.right not in labels:
            continue
        i, j = labels.index(row.left), labels.index(row.right)
        x = np.array([1.0, row.longer, row.judge == "B", row.judge == "C"])
        sign, pair = (1, (i, j)) if i < j else (-1, (j, i))
        outcome = ["left", "tie", "right"].index(row.choice)
        counts = found.setdefault((*pair, *(sign * x + 0.0)), {}).setdefault(
            str(row.respondent), [0, 0, 0]
        )
        counts[outcome if sign == 1 else 2 - outcome] += 1
    return found


def cells_of(data):
    """The same of the data."""
    found, cells = {}, data.cells
    names = ("respondent", "pair", "wins", "tied", "losses")
    for who, cell, *counts in zip(*(getattr(cells.answers, name) for name in names), strict=True):
        key = (int(cells.first[cell]), int(cells.second[cell]), *cells.x[cell])
        found.setdefault(key, {})[data.respondents[who]] = [int(count) for count in counts]
    sums = np.array([np.sum(list(people.values()), axis=0) for people in found.values()])
    own = dict(zip(found, sums, strict=True))
    for cell, (i, j) in enumerate(zip(cells.first, cells.second, strict=True)):
        expected = cells.wins[cell], cells.tied[cell], cells.losses[cell]
        np.testing.assert_array_equal(own[(int(i), int(j), *cells.x[cell])], expected)
    assert len(own) == len(cells.first) and (np.diff(cells.pair) >= 0).all()
    for side in ("wins", "losses", "tied"):
        np.testing.assert_array_equal(
            np.bincount(cells.pair, getattr(cells, side)), getattr(data, side)
        )
    return found


def test_trials_keep_them(frame):
    data = read(frame)
    assert data.covariates.names == tuple(NAMES) and cells_of(data) == by_hand(frame, LABELS)


def test_covariates_stay_with_half_a_tie_or_without_other_covariates(frame):
    data = read(frame)
    half = data.without_ties("half").cells
    assert half.wins.sum() + half.losses.sum() == len(frame) and not half.tied.any()
    one = th.PairedComparisons.from_trials(frame, labels=LABELS, covariates=["longer"])
    assert data.with_covariates(["longer"]) == one
    plain = th.PairedComparisons.from_trials(frame, labels=LABELS)
    assert data.with_covariates([]) == plain == plain.with_covariates([])
    cells = data.cells
    again = data.with_cell_counts(cells.wins, cells.losses, cells.tied)
    assert again.covariates.answers is None and again.respondents == () and data.respondents
    assert (again.counts == data.counts).all() and (again.ties == data.ties).all()
    assert (again.cells.x == cells.x).all() and again.covariates.names == data.covariates.names


def test_respondents_keep_their_covariates(frame):
    sex = frame.assign(sex=np.where(frame["respondent"] < 2, "f", "m"))
    women = read(sex).by_group("sex")["f"]
    assert cells_of(women) == by_hand(frame[frame["respondent"] < 2], LABELS)
    each = women.by_respondent()
    assert [cells_of(one) for one in each.values()] == [
        by_hand(frame[frame["respondent"] == respondent], LABELS) for respondent in map(int, each)
    ]


def test_covariates_are_shown(frame):
    data = read(frame).with_option_covariates(pd.DataFrame({"price": [1.0, 2, 3, 4]}, index=LABELS))
    assert "judge=B" in notebook(data)
    assert str(data).endswith("5 respondents, 5 covariates")


def test_further_comparisons_do_not_join_them(frame):
    plain = read(frame).with_covariates([])
    for old, new in ((read(frame), plain), (plain, read(frame))):
        with refused(DataError, "cannot be updated"):
            merge_new_data(old, new)


def test_the_order_is_a_covariate(frame):
    bare = frame.drop(columns=["respondent", "judge"])
    data = th.PairedComparisons.from_trials(bare, labels=LABELS)
    assert data.with_order() == th.PairedComparisons.from_trials(
        bare, labels=LABELS, covariates=["order"]
    )
    games = frame.rename(columns={"left": "home", "right": "away"})[["home", "away"]].assign(
        result="H"
    )
    data = th.PairedComparisons.from_results(games, covariates=["order"])
    np.testing.assert_array_equal(data.cells.x[:, 0], np.where(data.cells.wins > 0, 1.0, -1.0))
    own = bare.assign(order=np.arange(len(bare)))  # a column of that name is one like any other
    assert th.PairedComparisons.from_trials(own, covariates=["order"]).cells.x.max() > 1
    for known, wrong in (
        (th.PairedComparisons([[0, 1], [1, 0]]), "do not record which option was shown first"),
        (read(frame), "For comparisons with respondents, the order is read from the table"),
        (data, "For comparisons with covariates, the order is read"),
    ):
        with pytest.raises(DataError, match=wrong):
            known.with_order()


def test_covariates_of_options_are_differences():
    described = pd.DataFrame(
        {"price": [3.0, 1.0, 2.0], "kind": ["hot", "cold", "cold"]}, index=["tea", "milk", "rum"]
    )
    data = th.PairedComparisons([[0, 3, 5], [1, 0, 2], [1, 2, 0]], labels=["milk", "tea", "rum"])
    known = data.with_option_covariates(described)
    assert known.covariates.names == ("price", "kind=hot") and known.covariates.is_of_options.all()
    np.testing.assert_array_equal(known.cells.x, [[-2, -1], [-1, 0], [1, 1]])
    np.testing.assert_array_equal(known.subset(["rum", "milk"]).cells.x, [[1, 0]])
    assert known.with_covariates([]) == data
    with refused(DataError, "'rum'"):
        data.with_option_covariates(described.drop(index="rum"))
    with refused(DataError, "covariate 'price'"):
        known.with_option_covariates(described[["price"]])


@pytest.mark.parametrize(
    ("column", "wrong"),
    [
        (1.5, ("covariate 'x'",)),
        ("A", ("covariate 'x'", "'A'")),
        ([np.nan, *range(53)], ("covariate 'x'", "row 0")),
        ([1e300, *range(53)], ("covariate 'x'", "300")),
        ([1e-300, 0.0] * 27, ("covariate 'x'", "-300")),
        ([np.inf, *range(53)], ("covariate 'x'", "row 0")),
        ([None, *"AB" * 26, "A"], ("row 0", "column 'x'")),
        ([f"no {k}" for k in range(54)], ("54 rows",)),
    ],
)
def test_columns_that_are_none(frame, column, wrong):
    with refused(DataError, *wrong):
        th.PairedComparisons.from_trials(frame.assign(x=column), covariates=["x"])


@pytest.mark.parametrize(
    ("names", "wrong"),
    [
        (["y"], ("There is no column 'y'",)),
        (["longer", "longer"], ("Covariate 'longer'",)),
        (["left"], ("Column 'left'",)),
        (["choice"], ("the outcome",)),
        ([], ("No covariates were given",)),
    ],
)
def test_names_that_are_none(frame, names, wrong):
    with refused(DataError, *wrong):
        th.PairedComparisons.from_trials(frame, covariates=names)
    with refused(DataError, "covariate 'long'", "'longer'"):
        read(frame).with_covariates(["long"])
