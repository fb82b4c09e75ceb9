"""Triplets: what rows, tables and sets of pairs become."""

import numpy as np
import pandas as pd
import pytest
from helpers.sentences import said

import thali as th

TEA = [("tea", "coffee", "brick"), ("brick", "wall", "tea"), ("coffee", "tea", "brick")]


def counted(data):
    """{pairs of a set, as a frozenset: {pair: times}}"""
    found = {}
    for v in range(data.n_sets):
        pairs = data.pairs_of(v)
        counts = data.counts[data.start[v] : data.start[v + 1]]
        found[frozenset(map(frozenset, pairs))] = {
            frozenset(p): n for p, n in zip(pairs, counts, strict=True) if n
        }
    return found


def test_rows_of_names_are_counted():
    data = th.Triplets(TEA)
    assert data.labels == ("tea", "coffee", "brick", "wall")
    said(data, "4 objects", "2 sets", "3 pairs", "3 answers")
    first = frozenset(map(frozenset, [("tea", "coffee"), ("tea", "brick"), ("coffee", "brick")]))
    assert counted(data)[first] == {frozenset(("tea", "coffee")): 2}


def test_positions_with_labels_mean_the_same():
    rows = [[0, 1, 2], [2, 3, 0], [1, 0, 2]]
    assert th.Triplets(rows, labels=["tea", "coffee", "brick", "wall"]) == th.Triplets(TEA)
    assert th.Triplets(np.array(rows, float)).labels == ("0", "1", "2", "3")


def test_counts_repeat_rows():
    assert th.Triplets(TEA[:2], counts=[2, 1]) == th.Triplets(TEA)
    assert th.Triplets([*TEA[:2], ("wall", "brick", "coffee")], counts=[2, 1, 0]).n_sets == 2


def test_an_odd_one_by_name_by_column_and_by_number_are_one():
    objects = pd.DataFrame(TEA, columns=["image1", "image2", "image3"])
    by = [
        objects.assign(odd=["brick", "tea", "brick"]),
        objects.assign(odd="image3"),
        objects.assign(choice=3),
    ]
    assert {th.Triplets.from_frame(frame) == th.Triplets(TEA) for frame in by} == {True}
    named = objects.assign(out=[3, 3, 3]).rename(columns=str.upper)
    columns = ["IMAGE1", "IMAGE2", "IMAGE3"]
    assert th.Triplets.from_frame(named, objects=columns, odd="OUT") == th.Triplets(TEA)


def test_a_set_of_four_and_the_pair_chosen():
    frame = pd.DataFrame(
        [["a", "b", "c", "d", "b", "d"]],
        columns=[f"object{k}" for k in range(4)] + ["chosen1", "chosen2"],
    )
    data = th.Triplets.from_frame(frame)
    assert data == th.Triplets.from_sets([["a", "b", "c", "d"]], [("d", "b")])
    assert data.sizes.tolist() == [6] and data.pairs_of(0)[int(data.counts.argmax())] == ("b", "d")


def test_anchored_questions_are_sets_of_two_pairs():
    frame = pd.DataFrame({"anchor": ["a", "c"], "near": ["b", "a"], "far": ["c", "b"], "n": [2, 1]})
    data = th.Triplets.from_frame(frame)
    assert data == th.Triplets.from_anchored(
        ["a", "c"], ["b", "a"], ["c", "b"], labels=["a", "b", "c"], counts=[2, 1]
    )
    assert data.sizes.tolist() == [2, 2] and data.n_answers == 3
    pairs = th.Triplets.from_sets(
        [[("a", "b"), ("a", "c")], [("c", "a"), ("c", "b")]], [("a", "b"), ("a", "c")]
    )
    assert counted(pairs).keys() == counted(data).keys()


@pytest.mark.parametrize("responses", [[1, -1], [True, False], np.array([2.0, -0.5])])
def test_responses_turn_an_anchored_question(responses):
    data = th.Triplets.from_anchored([0, 2], [1, 1], [2, 0], responses=responses)
    assert data == th.Triplets.from_anchored([0, 2], [1, 0], [2, 1])


def test_whatever_the_order_of_a_set_it_is_one():
    sets = [["a", "b", "c"], ["c", "a", "b"], [("b", "a"), ("c", "a"), ("b", "c")]]
    data = th.Triplets.from_sets(sets, [("a", "b")] * 3)
    assert data.n_sets == 1 and data.counts.tolist() == [3, 0, 0]


def test_answers_to_some_of_the_sets():
    data = th.Triplets.from_sets(
        [["a", "b", "c"], ["a", "b", "c", "d"], [("a", "b"), ("c", "d")]], [("a", "b")] * 3
    )
    assert data.sizes.tolist() == [2, 3, 6]
    part = data.take(np.array([True, False, True]))
    assert part.sizes.tolist() == [2, 6] and part.labels == data.labels
    assert part.pairs_of(1) == data.pairs_of(2)
    assert data.take(np.arange(3)) == data


def test_the_frame_shows_every_pair_of_every_set():
    frame = th.Triplets(TEA).to_frame()
    assert frame["count"].tolist() == [2, 0, 0, 0, 0, 1] and frame["set"].tolist() == [
        0,
        0,
        0,
        1,
        1,
        1,
    ]
    assert frame["a"].cat.categories.tolist() == ["tea", "coffee", "brick", "wall"]


def test_questions_by_name_may_be_asked_again():
    frame = pd.DataFrame(TEA[:1] * 2, columns=["a", "b", "c"]).assign(odd="brick", trial=[7, 7])
    assert th.Triplets.from_frame(frame, question="trial").n_answers == 2


def test_a_million_triplets_are_read_in_seconds_and_little_memory():
    rows = np.argsort(np.random.default_rng(1).random((20_000, 9)), axis=1)[:, :3]
    data = th.Triplets(np.tile(rows, (5, 1)))
    assert data.n_answers == 100_000 and data.n_sets == 84
