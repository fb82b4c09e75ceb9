"""What is wrong with triplets is said in one sentence."""

import warnings

import numpy as np
import pandas as pd
import pytest
from helpers.sentences import refused, warned

import thali as th
from thali.errors import ArgumentError, DataError, DataWarning

OBJECTS = {"object1": ["a", "a"], "object2": ["b", "b"], "object3": ["c", "d"]}


def table(**columns):
    return pd.DataFrame(OBJECTS | columns)


BAD = [
    (lambda: th.Triplets([(0, 1, 1)]), ("'1'", "row 0")),
    (lambda: th.Triplets([(0, 1, 5)], labels="abc"), ("row 0",)),
    (lambda: th.Triplets([(0, 1, -1)]), ("-1", "row 0")),
    (lambda: th.Triplets([("a", "b", None)]), ("row 0", "column '2'")),
    (
        lambda: th.Triplets([("a", "b", "x")], labels="abc"),
        ("'x'", "row 0", "column '2'", "`labels`"),
    ),
    (lambda: th.Triplets([]), ("`triplets`",)),
    (lambda: th.Triplets([(1, 2)]), ("got shape (1, 2)",)),
    (lambda: th.Triplets([(1, 2, 3), (1, 2)]), ("`triplets` must have one row (i, j, k)",)),
    (lambda: th.Triplets([(1, 2, 3, 4)]), ("from_sets",)),
    (lambda: th.Triplets(np.eye(5)), ("use Similarities(matrix)",)),
    (lambda: th.Triplets(np.eye(3) / 2), ("use Similarities(matrix)",)),
    (lambda: th.Triplets(table(odd="a")), ("from_frame",)),
    (lambda: th.Triplets([(0, 1, 2)], counts=[1, 2]), ("`counts`", "per row", "got 2 for 1 row")),
    (lambda: th.Triplets([(0, 1, 2)], counts=[-1]), ("row 0", "-1")),
    (lambda: th.Triplets([(0, 1, 2)], counts=[0]), ("no answers; give",)),
    (lambda: th.Triplets.from_frame(table(odd=["c", "c"])), ("Row 1", "'c'", "column 'odd'")),
    (lambda: th.Triplets.from_frame(table(odd=["", None])), ("Row 0", "column 'odd'")),
    (lambda: th.Triplets.from_frame(table(object2="a", odd="a")), ("'a'", "row 0")),
    (lambda: th.Triplets.from_frame(table()), ("triplets; expected three",)),
    (lambda: th.Triplets.from_frame(table(odd="a").iloc[:0]), ("no questions",)),
    (lambda: th.Triplets.from_frame(table(object4="e", odd="a")), ("4 columns",)),
    (lambda: th.Triplets.from_frame(table(chosen1="a", chosen2="a")), ("row 0", "'a'")),
    (
        lambda: th.Triplets.from_frame(table(odd="a", trial=1), question="trial"),
        ("'a'", "'b'", "'c'"),
    ),
    (lambda: th.Triplets.from_frame(table(odd="a"), odd="od"), ("column 'od'",)),
    (lambda: th.Triplets.from_anchored([0], [1, 2], [2]), ("entry per question",)),
    (lambda: th.Triplets.from_anchored([0], [1], [2], responses=[0]), ("responses", "positive")),
    (
        lambda: th.Triplets.from_anchored([0], [1], [2], responses=[1, 1]),
        ("per question", "1 question"),
    ),
    (lambda: th.Triplets.from_sets([["a", "b"]], [("a", "b")]), ("Set 0", "2 objects")),
    (lambda: th.Triplets.from_sets([["a", "b", "a"]], [("a", "b")]), ("Set 0", "contains 'a'")),
    (lambda: th.Triplets.from_sets([[("a", "b")]], [("a", "b")]), ("Set 0",)),
    (lambda: th.Triplets.from_sets([[("a", "b"), ("b", "a")]], [("a", "b")]), ("row 0",)),
    (lambda: th.Triplets.from_sets([["a", "b", "c"]], [("a", "d")]), ("'d'", "row 0")),
    (
        lambda: th.Triplets.from_sets([[("a", "b"), ("c", "d")]], [("a", "d")]),
        ("'a'", "'d'", "row 0"),
    ),
    (lambda: th.Triplets.from_sets([["a", "b", "c"]], []), ("1 set", "0 chosen pairs")),
    (lambda: th.Triplets.from_sets([["a", "b", "c"]], [("a", "b", "c")]), ("give two objects",)),
    (lambda: th.Similarities(np.array([[0, 1, 2]] * 5)), ("the odd one last",)),
]


@pytest.mark.parametrize(("make", "facts"), BAD, ids=[", ".join(facts) for _, facts in BAD])
def test_bad_triplets_are_refused_in_one_sentence(make, facts):
    with refused(DataError, *facts) as error:
        make()
    assert "\n" not in str(error.value)


def test_objects_that_were_never_asked_about_are_warned_of():
    data = th.Triplets([("a", "b", "c")], labels="abcde")
    assert data.never_judged == ["d", "e"]
    with warned(DataWarning, "'d'", "'e'"):
        data.warn_if_unusual()


DATA = th.Triplets([("a", "b", "c")])
SIMILAR = th.Similarities([[1, 0.2, 0.3], [0.2, 1, 0.5], [0.3, 0.5, 1]])
REFUSED = [
    (th.AdditiveClustering(sigma=0.1), DATA, ("sigma",)),
    (th.AdditiveClustering(constant=False), DATA, ("constant",)),
    (th.AdditiveClustering(link="ratio"), SIMILAR, ("link",)),
    (th.AdditiveClustering(lapse=0.1), SIMILAR, ("lapse",)),
    (th.AdditiveClustering(link="log"), DATA, ("link", "'exp'", "'ratio'", "got 'log'")),
    (th.AdditiveClustering(lapse=1.0), DATA, ("lapse",)),
    (th.AdditiveClustering(weight_prior=(0.1, 1)), DATA, ("weight_prior", "0.5")),
]


@pytest.mark.parametrize(
    ("model", "data", "facts"), REFUSED, ids=[", ".join(facts) for *_, facts in REFUSED]
)
def test_arguments_that_are_refused(model, data, facts):
    with refused(ArgumentError, *facts):
        model.prepare(data)


def test_the_likelihoods_name_each_other():
    with refused(DataError, "MostSimilarPair", "got Similarities"):
        th.LatentFeatureModel(th.priors.IndianBuffet(), th.likelihoods.MostSimilarPair()).prepare(
            SIMILAR
        )
    with refused(DataError, "got Triplets"):
        th.LatentFeatureModel(th.priors.IndianBuffet(), th.likelihoods.Additive()).prepare(DATA)
    with refused(DataError, "Triplets"):
        th.EliminationByAspects().prepare(DATA)


@pytest.mark.parametrize("kind", ["triplets", "similarities"])
def test_objects_never_brought_together_are_named(kind):
    blocks = np.kron(np.eye(2), np.ones((3, 3)))
    if kind == "triplets":
        whole = th.Triplets([["a", "b", "c"], ["c", "d", "e"]])
        parts = th.Triplets([["a", "b", "c"], ["d", "e", "f"]])
    else:
        whole = th.Similarities(np.full((6, 6), 0.5), labels="abcdef")
        parts = th.Similarities(np.where(blocks > 0, 0.5, np.nan), labels="abcdef")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        whole.warn_if_unusual()
    assert not any("fall into" in str(each.message) for each in caught)
    how = {"triplets": "shown", "similarities": "judged"}[kind]
    with pytest.warns(
        DataWarning,
        match=rf"2 groups that were never {how} together, \('a', 'b' and 'c'\) and \('d', 'e' and"
        r" 'f'\)\. Si",
    ):
        parts.warn_if_unusual()
