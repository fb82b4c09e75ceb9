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
    (lambda: th.Triplets([(0, 1, 1)]), "'1' is named twice in row 0; a question compares different objects"),
    (lambda: th.Triplets([(0, 1, 5)], labels="abc"), "5 in row 0 is not the number of an object; numbers are 0 to 2"),
    (lambda: th.Triplets([(0, 1, -1)]), "-1 in row 0 is not the number of an object; numbers are 0 or more"),
    (lambda: th.Triplets([("a", "b", None)]), "An object is missing in row 0, column '2'; fill it in"),
    (lambda: th.Triplets([("a", "b", "x")], labels="abc"), "'x' in row 0, column '2' is not among `labels`"),
    (lambda: th.Triplets([]), "`triplets` must have a row (i, j, k) for each question"),
    (lambda: th.Triplets([(1, 2)]), "got shape (1, 2)"),
    (lambda: th.Triplets([(1, 2, 3), (1, 2)]), "`triplets` must have a row (i, j, k)"),
    (lambda: th.Triplets([(1, 2, 3, 4)]), "Larger sets go into Triplets.from_sets(sets, chosen)."),
    (lambda: th.Triplets(np.eye(5)), "A square table of similarities goes into Similarities(matrix)."),
    (lambda: th.Triplets(np.eye(3) / 2), "A table of similarities goes into Similarities(matrix)."),
    (lambda: th.Triplets(table(odd="a")), "read it with Triplets.from_frame"),
    (lambda: th.Triplets([(0, 1, 2)], counts=[1, 2]), "`counts` must have one number for each of the 1 rows; got 2"),
    (lambda: th.Triplets([(0, 1, 2)], counts=[-1]), "The count in row 0 is -1, which is negative"),
    (lambda: th.Triplets([(0, 1, 2)], counts=[0]), "There is not a single answer; give one question or more."),
    (lambda: th.Triplets.from_frame(table(odd=["c", "c"])), "In row 1 'c', column 'odd', is not of the objects asked"),
    (lambda: th.Triplets.from_frame(table(odd=["", None])), "In row 0 column 'odd' is empty"),
    (lambda: th.Triplets.from_frame(table(object2="a", odd="a")), "'a' is named twice in row 0"),
    (lambda: th.Triplets.from_frame(table()), "are not triplets; expected three objects a row"),
    (lambda: th.Triplets.from_frame(table(odd="a").iloc[:0]), "There is not a single question; the table has no rows"),
    (lambda: th.Triplets.from_frame(table(object4="e", odd="a")), "An odd one out is of three objects; 4 columns"),
    (
        lambda: th.Triplets.from_frame(table(chosen1="a", chosen2="a")),
        "The two chosen objects in row 0 are one, 'a'; give a pair.",
    ),
    (
        lambda: th.Triplets.from_frame(table(odd="a", trial=1), question="trial"),
        "Question 1 has different sets: ('a', 'b', 'c') in row 0, ('a', 'b', 'd') in row 1",
    ),
    (lambda: th.Triplets.from_frame(table(odd="a"), odd="od"), "There is no column 'od'"),
    (lambda: th.Triplets.from_anchored([0], [1, 2], [2]), "must have one entry a question"),
    (lambda: th.Triplets.from_anchored([0], [1], [2], responses=[0]), "responses must be True or above 0"),
    (lambda: th.Triplets.from_anchored([0], [1], [2], responses=[1, 1]), "one entry for each of the 1 questions"),
    (
        lambda: th.Triplets.from_sets([["a", "b"]], [("a", "b")]),
        "Set 0 has 2 objects; a most similar pair takes three or more.",
    ),
    (lambda: th.Triplets.from_sets([["a", "b", "a"]], [("a", "b")]), "Set 0 names 'a' twice; give different objects."),
    (lambda: th.Triplets.from_sets([[("a", "b")]], [("a", "b")]), "Set 0 must be two pairs (a, b) or more"),
    (lambda: th.Triplets.from_sets([[("a", "b"), ("b", "a")]], [("a", "b")]), "A pair is named twice in row 0"),
    (lambda: th.Triplets.from_sets([["a", "b", "c"]], [("a", "d")]), "'d' in row 0 is not an object of the sets"),
    (lambda: th.Triplets.from_sets([[("a", "b"), ("c", "d")]], [("a", "d")]), "('a', 'd') in row 0 is not of its set"),
    (lambda: th.Triplets.from_sets([["a", "b", "c"]], []), "There are 1 sets, but 0 chosen pairs"),
    (lambda: th.Triplets.from_sets([["a", "b", "c"]], [("a", "b", "c")]), "give two objects"),
    (
        lambda: th.Similarities(np.array([[0, 1, 2]] * 5)),
        "Rows of three objects, the odd one last, go into Triplets",
    ),
]


@pytest.mark.parametrize("make, sentence", BAD, ids=[sentence[:50] for _, sentence in BAD])
def test_the_sentence(make, sentence):
    with pytest.raises(DataError) as error:
        make()
    assert sentence in str(error.value) and "\n" not in str(error.value)


def test_objects_that_were_never_asked_about_are_warned_of():
    data = th.Triplets([("a", "b", "c")], labels="abcde")
    assert data.never_asked == ["d", "e"]
    with warned(DataWarning, "'d'", "'e'"):
        data.warn_if_unusual()


DATA = th.Triplets([("a", "b", "c")])
SIMILAR = th.Similarities([[1, 0.2, 0.3], [0.2, 1, 0.5], [0.3, 0.5, 1]])
REFUSED = [
    (th.AdditiveClustering(sigma=0.1), DATA, "sigma is for similarities, and these data are triplets; leave it out."),
    (th.AdditiveClustering(constant=False), DATA, "constant is for similarities, and these data are triplets"),
    (th.AdditiveClustering(link="ratio"), SIMILAR, "link is for triplets, and these data are similarities"),
    (th.AdditiveClustering(lapse=0.1), SIMILAR, "lapse is for triplets, and these data are similarities"),
    (th.AdditiveClustering(link="log"), DATA, "link must be one of 'exp', 'ratio'; got 'log'."),
    (
        th.AdditiveClustering(lapse=1.0),
        DATA,
        "lapse is the probability of naming a pair at random and must be in [0, 1)",
    ),
    (th.AdditiveClustering(weight_prior=(0.1, 1)), DATA, "The shape in weight_prior must be 0.5 or more"),
]


@pytest.mark.parametrize("model, data, sentence", REFUSED, ids=[sentence for *_, sentence in REFUSED])
def test_arguments_that_are_refused(model, data, sentence):
    with pytest.raises(ArgumentError) as error:
        model.prepare(data)
    assert sentence in str(error.value)


def test_the_likelihoods_name_each_other():
    with refused(DataError, "MostSimilarPair", "got Similarities"):
        th.LatentFeatureModel(th.priors.IndianBuffet(), th.likelihoods.MostSimilarPair()).prepare(SIMILAR)
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
    with pytest.warns(DataWarning, match=rf"2 groups never {how} together: \('a', 'b', 'c'\); \('d', 'e', 'f'\)\. Si"):
        parts.warn_if_unusual()
