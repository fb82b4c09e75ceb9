"""How many judgements a similarity is the mean of: read, refused, kept, and what it means for a
model."""

import warnings

import numpy as np
import pandas as pd
import pytest
from helpers.problems import unequal
from helpers.sentences import refused, said, says, warned

import thali as th
from thali import Similarities
from thali.errors import ArgumentError, DataError, DataWarning

NAN = np.nan
TABLE = np.array([[1, 0.8, 0.3], [0.8, 1, 0.5], [0.3, 0.5, 1]])
NUMBERS = np.array([[0, 6, 1], [6, 0, 2.5], [1, 2.5, 0]])
DRINKS = Similarities(TABLE, ["tea", "coffee", "milk"], sigma=0.1, judgements=NUMBERS)


# reading ------------------------------------------------------------------------------------------


def test_nothing_known_is_one_judgement_each():
    assert Similarities(TABLE).judgements.tolist() == [1, 1, 1]
    assert Similarities(TABLE) == Similarities(TABLE, judgements=np.ones((3, 3))) != DRINKS
    assert str(Similarities(TABLE)) == "3 objects, 3 similarities"


def test_each_similarity_has_its_number_of_judgements():
    assert DRINKS.judgements.tolist() == [6, 1, 2.5]
    said(DRINKS, "3 objects", "3 similarities", "6 judgements")
    said(
        Similarities(TABLE, judgements=np.full((3, 3), 4)),
        "3 objects",
        "3 similarities",
        "4 judgements",
    )


@pytest.mark.parametrize("keep", [np.triu, np.tril], ids=["upper", "lower"])
def test_one_triangle_of_either_is_enough(keep):
    for table, numbers in (
        (TABLE, keep(NUMBERS)),
        (np.where(keep(np.ones((3, 3))), TABLE, NAN), NUMBERS),
    ):
        assert Similarities(table, DRINKS.labels, sigma=0.1, judgements=numbers) == DRINKS


def test_frames_in_any_order():
    labels = list(DRINKS.labels)
    frame = pd.DataFrame(NUMBERS, labels, labels).loc[labels[::-1], labels[1:] + labels[:1]]
    assert Similarities(TABLE, labels, sigma=0.1, judgements=frame) == DRINKS
    assert Similarities(TABLE, labels, sigma=0.1, judgements=pd.DataFrame(NUMBERS)) == DRINKS
    # an array is in the order of the matrix, whatever its labels look like
    assert Similarities(TABLE, [2, 0, 1], judgements=NUMBERS).judgements.tolist() == [6, 1, 2.5]


def test_judgements_of_unmeasured_pairs_are_ignored():
    table, numbers = TABLE.copy(), NUMBERS.astype(object)
    table[0, 1] = table[1, 0] = NAN
    for other in (0, None, NAN, 17):
        numbers[0, 1] = numbers[1, 0] = other
        np.fill_diagonal(numbers, "self")
        assert Similarities(table, judgements=numbers).judgements.tolist() == [1, 2.5]


def test_both_sides_count_by_their_judgements():
    table = TABLE.copy()
    table[1, 0], table[2, 0] = 0.4, NAN
    numbers = np.array([[0, 3, 4], [1, 0, 2], [9, 2, 0]])
    data = Similarities(table, symmetrize="mean", judgements=numbers)
    assert data.values == pytest.approx([(3 * 0.8 + 0.4) / 4, 0.3, 0.5], rel=1e-15)
    assert data.judgements.tolist() == [4, 4, 4]
    # the two sides of a symmetric table are the same judgements
    assert Similarities(TABLE, symmetrize="mean", judgements=NUMBERS).judgements.tolist() == [
        6,
        1,
        2.5,
    ]


def test_dissimilarities_keep_their_judgements():
    data = Similarities.from_dissimilarities(
        1 - TABLE, labels=DRINKS.labels, sigma=0.1, judgements=NUMBERS
    )
    assert data.values == pytest.approx(DRINKS.values) and data.judgements.tolist() == [6, 1, 2.5]


ROWS = [
    ("x", "y", 0.1, 1),
    ("y", "x", 0.4, 2),
    ("x", "z", 0.3, 3),
    ("z", "y", NAN, 1),
    ("z", "y", 0.9, 0),
]


def test_rows_of_a_list_count_as_judgements():
    frame = pd.DataFrame(ROWS, columns=["a", "b", "similarity", "n"])
    assert Similarities.from_frame(frame).judgements.tolist() == [3, 3]
    assert Similarities.from_frame(frame.assign(n=[1, 2.5, 0.5, 0, 0])).judgements.tolist() == [
        3.5,
        0.5,
    ]
    one_by_one = Similarities.from_frame(frame.drop(columns="n"))
    assert one_by_one.judgements.tolist() == [2, 1, 1]
    said(one_by_one, "3 objects", "3 similarities", "2 judgements")


def test_a_square_written_out_has_each_judgement_once():
    i, j = np.indices((3, 3)).reshape(2, -1)
    frame = pd.DataFrame({"i": i, "j": j, "similarity": TABLE[i, j]})
    assert Similarities.from_frame(frame) == Similarities(TABLE)
    counted = Similarities.from_frame(frame.assign(count=NUMBERS[i, j]), sigma=0.1, labels=range(3))
    assert counted.judgements.tolist() == [6, 1, 2.5]
    # two rows a pair are two judgements if they say something else, or are in one order
    assert Similarities.from_frame(
        frame.assign(similarity=TABLE[i, j] + 0.01 * i)
    ).judgements.tolist() == [2, 2, 2]
    once = frame[i < j]
    assert Similarities.from_frame(pd.concat([once, once])).judgements.tolist() == [2, 2, 2]


def test_lists_that_are_written_and_read_again():
    assert Similarities.from_frame(DRINKS.to_frame(long=True), sigma=0.1) == DRINKS
    assert list(Similarities(TABLE).to_frame(long=True)) == ["first", "second", "similarity"]


def test_people_who_judged_different_pairs():
    tables = np.stack([TABLE, TABLE + 0.02, TABLE - 0.04])
    tables[0, 0, 1] = tables[0, 1, 0] = tables[1, 0, 1] = tables[1, 1, 0] = NAN
    data = Similarities.from_respondents(tables)
    assert data.judgements.tolist() == [1, 3, 3]
    deviations = np.array([0.0, 0.02, -0.04]) - np.mean([0.0, 0.02, -0.04])
    assert data.sigma == pytest.approx(np.sqrt(2 * (deviations**2).sum() / 4))
    assert Similarities.from_respondents(tables, sigma=0.3).judgements.tolist() == [1, 3, 3]


@pytest.mark.parametrize("who", ["person", None])
def test_a_list_of_judgements_is_the_tables_of_the_people(who):
    """Also what a judgement is off; the squares about the means are added up by hand."""
    tables = np.random.default_rng(3).normal(size=(4, 3, 3))
    tables = tables + tables.transpose(0, 2, 1)
    tables[1, 0, 2] = tables[1, 2, 0] = np.nan
    rows = [
        (f"p{k}", *pair, tables[k][pair]) for k in range(4) for pair in ((0, 1), (2, 0), (1, 2))
    ]
    frame = pd.DataFrame(rows, columns=["person", "first", "second", "similarity"]).drop(
        columns=[] if who else ["person"]
    )
    data, people = Similarities.from_frame(frame), Similarities.from_respondents(tables)
    squares = sum(
        ((values - values.mean()) ** 2).sum()
        for _, values in frame.dropna().groupby(frame["first"])["similarity"]
    )
    assert (
        data.sigma
        == pytest.approx(np.sqrt(squares / (11 - 3)), rel=1e-12)
        == pytest.approx(people.sigma, rel=1e-12)
    )
    assert data.judgements.tolist() == people.judgements.tolist() == [4, 3, 4]
    assert data.values == pytest.approx(people.values, rel=1e-12)
    for known in (0.3, None):
        assert Similarities.from_frame(frame, sigma=known).sigma == known
    with refused(ArgumentError, "sigma"):
        Similarities.from_frame(frame, sigma="deviation")


@pytest.mark.parametrize(
    ("values", "counts"),
    [([3, 5, 1, 2, 4], None), ([2, 2, 2, 2, 2, 2], None), ([3, 5, 1, 2, 4, 6], 2)],
    ids=["one pair again", "all agree", "rows are means"],
)
def test_a_list_that_does_not_tell_what_a_judgement_is_off(values, counts):
    pairs = [("a", "b"), ("b", "a"), ("a", "c"), ("c", "b"), ("b", "c"), ("a", "c")][: len(values)]
    frame = pd.DataFrame(pairs, columns=["first", "second"]).assign(similarity=values)
    frame = frame if counts is None else frame.assign(count=counts)
    assert Similarities.from_frame(frame).sigma is None


@pytest.mark.parametrize(
    "what", ["one pair alone", "both orders", "both orders but one", "somebody again"]
)
def test_a_list_whose_rows_are_no_judgements_of_their_own_does_not_tell_what_one_is_off(what):
    """One pair again and again says little of the others, and what is written twice is off half as
    much."""
    pairs = pd.DataFrame([("a", "b"), ("a", "c"), ("b", "c")], columns=["first", "second"])
    once = pd.concat([pairs] * 4, ignore_index=True).assign(judge=np.repeat([*"vwxy"], 3))
    once["similarity"] = np.random.default_rng(1).normal(size=12)
    assert Similarities.from_frame(once).sigma is not None
    if what == "one pair alone":
        frame = pd.concat([once[once["judge"] == "v"], *[once[once["second"] == "b"]] * 3]).drop(
            columns="judge"
        )
    elif what == "somebody again":
        with warned(DataWarning, "judged 'a' and 'b' several times"):
            assert Similarities.from_frame(pd.concat([once, once[:1]])).sigma is None
        return
    else:
        frame = pd.concat([once, once.rename(columns={"first": "second", "second": "first"})]).drop(
            columns="judge"
        )
        frame = frame[: -1 if what.endswith("but one") else None]
    assert Similarities.from_frame(frame).sigma is None


# refusing -----------------------------------------------------------------------------------------


def changed(i, j, value, both=True):
    numbers = NUMBERS.astype(object)
    numbers[i, j] = value
    if both:
        numbers[j, i] = value
    return numbers


UNKNOWN = (
    "The similarity in row 'tea', column 'milk' was measured, but `judgements` is empty or 0"
    " there; enter the number of judgements, or make the similarity empty (NaN)."
)
BAD = [
    (changed(0, 2, -3), ("row 'tea'", "column 'milk'", "-3", "must be positive")),
    (changed(0, 2, np.inf), ("row 'tea'", "column 'milk'", "must be positive", "most 2")),
    (changed(0, 2, "x"), ("row 'tea'", "column 'milk'", "'x'")),
    (changed(0, 2, 0), ("row 'tea'", "column 'milk'", "`judgements`")),
    (changed(0, 2, NAN), ("row 'tea'", "column 'milk'", "`judgements`")),
    (changed(0, 2, 4, both=False), ("`judgements`", "row 'tea'", "column 'milk'")),
    (np.ones((2, 2)), ("`judgements`", "`matrix`", "got 2")),
    (7, ("`judgements`", "got shape", "`matrix`")),
    (
        pd.DataFrame(NUMBERS, ["tea", "coffee", "cola"], ["tea", "coffee", "cola"]),
        ("`judgements`", "`matrix`", "'cola'", "'milk'"),
    ),
]


@pytest.mark.parametrize(("judgements", "facts"), BAD)
def test_bad_numbers_of_judgements_are_refused(judgements, facts):
    with refused(DataError, *facts):
        Similarities(TABLE, DRINKS.labels, judgements=judgements)


def test_a_side_without_its_number():
    table = TABLE.copy()
    table[2, 0] = 0.2
    with pytest.raises(DataError) as caught:
        Similarities(table, DRINKS.labels, symmetrize="mean", judgements=np.triu(NUMBERS))
    assert str(caught.value) == UNKNOWN.replace("'tea', column 'milk'", "'tea', column 'coffee'")


# models -------------------------------------------------------------------------------------------


def test_sigma_is_judged_by_a_typical_similarity():
    judged = Similarities(TABLE, judgements=np.full((3, 3), 10_000))
    with warned(DataWarning, "less than 0", "02"):
        th.likelihoods.Additive(0.1).check(None, judged)
    th.likelihoods.Additive(1.0).check(None, judged)  # a hundredth of it is the error of a mean


@pytest.mark.fit
@pytest.mark.parametrize("share", [0.02, 0.45])
def test_an_estimated_sigma_is_judged_by_a_typical_similarity(share):
    """Far below the standard deviation of similarities it explains noise by features."""
    owners, rng = (
        np.array([[1, 0], [1, 1], [0, 1], [0, 0], [1, 0], [0, 1]]),
        np.random.default_rng(1),
    )
    exact, noise = owners @ np.diag([0.5, 0.4]) @ owners.T + 0.1, rng.normal(size=(6, 6))
    noise = np.std(exact[np.triu_indices(6, 1)]) * (noise + noise.T) / np.sqrt(2)
    data = Similarities(exact + share * noise, judgements=unequal(6))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = th.AdditiveClustering(owners).fit(
            data, draws=60, tune=60, chains=1, random_seed=1, progressbar=False
        )
    found = [each.message for each in caught if isinstance(each.message, DataWarning)]
    assert len(found) == (share == 0.02)
    for message in found:
        sigma = float(model.posterior_["posterior"]["sigma"].mean()) * np.sqrt(
            np.mean(1 / data.judgements)
        )
        says(str(message), f"{100 * sigma / np.std(data.values):.3g} %", "number of judgements")
