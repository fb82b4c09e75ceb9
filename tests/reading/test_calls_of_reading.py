"""Tables are read column by column: ten times the rows need hardly more calls."""

import sys

import numpy as np
import pandas as pd
import pytest

import thali as th

OPTIONS = np.array(["tea", "milk", "water", "rum"])


def votes(n_rows):
    rng = np.random.default_rng(1)
    first = rng.integers(4, size=n_rows)
    second = (first + rng.integers(1, 4, size=n_rows)) % 4
    winner = rng.choice(["model_a", "model_b"], n_rows)
    return pd.DataFrame({"model_a": OPTIONS[first], "model_b": OPTIONS[second], "winner": winner})


def conjoint(n_rows):
    """A hundred tasks of four products for each respondent."""
    rng = np.random.default_rng(1)
    row = np.arange(n_rows)
    chosen = rng.permuted(np.tile([1, 0, 0, 0], (n_rows // 4, 1)), axis=1).ravel()
    return pd.DataFrame(
        {
            "respondent": row // 400,
            "task": row // 4 % 100,
            "alternative": row % 4 + 1,
            "price": rng.choice([10, 20, 30], n_rows),
            "brand": rng.choice(["Alba", "Brio", "Cera"], n_rows),
            "chosen": chosen,
        }
    )


def rankings(n_rows):
    orders = np.random.default_rng(1).permuted(np.tile(OPTIONS, (n_rows, 1)), axis=1)
    return pd.DataFrame(orders, columns=["rank1", "rank2", "rank3", "rank4"])


def ranks(n_rows):
    rows = np.random.default_rng(1).permuted(np.tile([1, 2, 3, 4], (n_rows, 1)), axis=1)
    return pd.DataFrame(rows, columns=OPTIONS)


def count_calls(frame):
    """How many functions of Python and C are called while a frame is read."""
    calls = {"call": 0, "c_call": 0, "return": 0, "c_return": 0, "c_exception": 0}

    def count(_, event, __):
        calls[event] += 1

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        th.read(frame)
    finally:
        sys.setprofile(before)
    return calls["call"] + calls["c_call"]


@pytest.mark.fit
@pytest.mark.parametrize("make", [votes, conjoint, rankings, ranks])
def test_calls_do_not_grow_with_rows(make):
    th.read(make(10_000))  # imports modules
    assert count_calls(make(100_000)) <= 1.1 * count_calls(make(10_000))
