"""Similarities from arrays, data frames, lists, people's tables and dissimilarities."""

import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from helpers.pages import notebook
from helpers.real_data import needs_data, real_data
from helpers.sentences import refused, said, warned

from thali import Similarities
from thali.errors import DataError, DataWarning

NAN = float("nan")
LABELS = ("tea", "coffee", "milk", "water")
FULL = np.array([[1, 0.8, 0.3, 0.5], [0.8, 1, 0.45, 0], [0.3, 0.45, 1, -0.1], [0.5, 0, -0.1, 1]])
UPPER, LOWER = np.triu(np.ones((4, 4), bool), 1), np.tril(np.ones((4, 4), bool), -1)


@pytest.fixture
def drinks():
    return Similarities(FULL, LABELS, sigma=0.05)


def kept(where, other=NAN, diagonal=NAN):
    table = np.where(where, FULL, other)
    np.fill_diagonal(table, diagonal)
    return table


def test_pairs_row_by_row(drinks):
    assert drinks.labels == LABELS
    assert (drinks.n_options, drinks.n_pairs, drinks.sigma) == (4, 6, 0.05)
    assert drinks.first.tolist() == [0, 0, 0, 1, 1, 2] and drinks.second.tolist() == [
        1,
        2,
        3,
        2,
        3,
        3,
    ]
    assert drinks.values.tolist() == [0.8, 0.3, 0.5, 0.45, 0, -0.1]
    assert (drinks.first.dtype, drinks.second.dtype, drinks.values.dtype) == (
        np.int64,
        np.int64,
        np.float64,
    )
    assert repr(drinks) == "Similarities(4 objects, 6 similarities, sigma 0.05)"


def test_labels_are_numbers_where_nobody_names_them():
    assert Similarities(FULL).labels == ("0", "1", "2", "3")
    assert Similarities(pd.DataFrame(FULL)).labels == ("0", "1", "2", "3")


def test_rows_of_a_frame_in_any_order(drinks):
    frame = pd.DataFrame(FULL, index=LABELS, columns=LABELS)
    mixed = frame.loc[["milk", "tea", "water", "coffee"]]
    assert Similarities(mixed, sigma=0.05) == drinks
    assert Similarities(frame.astype(object), sigma=0.05) == drinks


@pytest.mark.parametrize(
    "diagonal",
    [0, 1, -7, 99, NAN, float("inf"), None, "", "same", 1j, [0, 1, 0, 5], ["-", 1, None, "x"]],
    ids=repr,
)
def test_the_diagonal_is_never_read(diagonal, drinks):
    for table in (FULL.copy(), FULL.astype(object)):
        if table.dtype == object or isinstance(diagonal, (int, float)):
            np.fill_diagonal(table, diagonal)
            data = Similarities(table, LABELS, sigma=0.05)
            assert data == drinks and data.values.tobytes() == drinks.values.tobytes()


@pytest.mark.parametrize("other", [NAN, 0.0])
@pytest.mark.parametrize("diagonal", [NAN, 0.0, 1.0])
@pytest.mark.parametrize(("side", "name"), [(UPPER, "upper"), (LOWER, "lower")])
def test_one_triangle_is_enough(side, name, diagonal, other, drinks):
    table = kept(side, other, diagonal)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        data = Similarities(table, LABELS, sigma=0.05)
    assert data == drinks
    messages = [str(each.message) for each in caught]
    assert messages == ([] if np.isnan(other) else [ZEROS.format(name)])
    assert all(each.filename == __file__ for each in caught)


ZEROS = (
    "Only the {} triangle was read, because the other triangle contains only zeros. If the zeros"
    " were measured, enter the similarities on both sides of the diagonal."
)


def test_zeros_that_were_measured_are_kept():
    """A triangle with an empty cell is no empty triangle."""
    lower = [[1, 0, NAN], [0.5, 1, NAN], [NAN, 0.2, 1]]
    assert Similarities(np.zeros((3, 3))).values.tolist() == [0, 0, 0]
    assert Similarities([[1, NAN, 0], [0.5, 1, NAN], [NAN, 0.2, 1]]).values.tolist() == [
        0.5,
        0,
        0.2,
    ]
    assert Similarities(lower, symmetrize="mean").values.tolist() == [0.25, 0.2]


def test_where_one_side_is_there_it_is_the_pairs(drinks):
    table = FULL.copy()
    table[0, 1] = table[3, 2] = NAN
    assert Similarities(table, LABELS, sigma=0.05) == drinks
    table[1, 0] = NAN
    data = Similarities(table, LABELS)
    assert str(data) == "4 objects, 5 of 6 similarities"
    assert (0, 1) not in zip(data.first, data.second, strict=True)
    assert np.isnan(data.matrix[0, 1]) and np.isnan(data.matrix[1, 0])


def test_masked_and_missing_cells_are_not_measured():
    mask = np.zeros((4, 4), bool)
    mask[0, 1] = mask[1, 0] = True
    masked = Similarities(np.ma.array(FULL, mask=mask), LABELS)
    nullable = pd.DataFrame(FULL, index=LABELS, columns=LABELS).convert_dtypes()
    nullable.iloc[0, 1] = nullable.iloc[1, 0] = pd.NA
    assert masked.n_pairs == 5 and masked == Similarities(nullable)


def test_rounding_is_no_asymmetry():
    table = FULL.copy()
    table[0, 1] += 0.9 * 1e-8 * 0.9  # of a range of .9
    assert Similarities(table).values[0] == pytest.approx(0.8, abs=1e-8)
    table[0, 1] = 0.8 + 1.1 * 1e-8 * 0.9
    with pytest.raises(ValueError, match="must be symmetric"):
        Similarities(table)


def test_symmetrize_takes_the_mean():
    table = FULL + np.triu(np.full((4, 4), 0.2), 1)
    table[2, 3] = NAN
    assert Similarities(table, symmetrize="mean").values == pytest.approx(
        [0.9, 0.4, 0.6, 0.55, 0.1, -0.1]
    )
    assert Similarities(FULL, symmetrize="mean") == Similarities(FULL)


def test_two_objects_are_enough():
    data = Similarities([[NAN, 0.6], [0.6, NAN]])
    assert str(data) == "2 objects, 1 similarity" and data.values.tolist() == [0.6]


def test_what_it_was_made_from_may_change(drinks):
    table = FULL.copy()
    data = Similarities(table, LABELS, sigma=0.05)
    table[:] = 7
    assert data == drinks


def test_similarities_are_equal_if_values_labels_and_sigma_are(drinks):
    assert drinks != Similarities(FULL, LABELS)
    assert drinks != Similarities(FULL, "abcd", sigma=0.05)
    assert drinks != Similarities(FULL + 1e-3, LABELS, sigma=0.05)
    assert drinks != "drinks"


def test_matrix_is_symmetric_with_an_empty_diagonal(drinks):
    expected = FULL.copy()
    np.fill_diagonal(expected, NAN)
    assert np.array_equal(drinks.matrix, expected, equal_nan=True)


# lists --------------------------------------------------------------------------------------------


def test_to_frame_and_back(drinks):
    table = Similarities(drinks.to_frame(), sigma=0.05)
    assert table == drinks
    long = drinks.to_frame(long=True)
    assert long.columns.tolist() == ["first", "second", "similarity"]
    assert Similarities.from_frame(long, sigma=0.05) == drinks
    sparse = Similarities([[0, NAN, NAN], [NAN, 0, 0.5], [NAN, 0.5, 0]], "cab")
    assert Similarities.from_frame(sparse.to_frame(long=True)) == sparse
    assert sparse.never_judged == ["c"]
    table = sparse.to_frame()
    table.iloc[1, 2] = 7
    assert sparse.matrix[1, 2] == 0.5


@pytest.mark.parametrize(
    "header",
    [
        "a b similarity",
        "Item.1 Item_2 SIM",
        "i j s_ij",
        "object a,object b,mean similarity",
        "row col rating",
    ],
)
def test_columns_of_a_list_are_recognised_by_usual_names(header):
    names = header.split(",") if "," in header else header.split()
    frame = pd.DataFrame([("y", "x", 0.5), ("x", "z", 0.25)], columns=names).assign(judge=1)
    data = Similarities.from_frame(frame)
    assert data.labels == ("y", "x", "z") and data.values.tolist() == [0.5, 0.25]


def test_columns_that_are_named():
    frame = pd.DataFrame(
        {"this": ["y", "x"], "that": ["x", "z"], "alike": [0.5, 0.25], "similarity": 9.0, 7: [1, 0]}
    )
    assert Similarities.from_frame(frame, "this", "that", "alike").values.tolist() == [0.5, 0.25]
    assert Similarities.from_frame(frame, "this", "that", "alike", 7).n_pairs == 1


def test_repeated_rows_are_averaged_with_their_counts():
    rows = [
        ("x", "y", 0.1, 1),
        ("y", "x", 0.4, 2),
        ("x", "z", 0.3, 3),
        ("x", "x", 1, 5),
        ("z", "y", NAN, 1),
    ]
    frame = pd.DataFrame([*rows, ("z", "y", 0.9, 0)], columns=["a", "b", "similarity", "n"])
    data = Similarities.from_frame(frame)
    assert data.labels == ("x", "y", "z")
    said(data, "3 objects", "3 similarities", "3 judgements")
    assert data.values == pytest.approx([0.3, 0.3], rel=1e-15)
    assert data.values[1] == 0.3, "the mean of one number is that number, whatever its count"
    assert Similarities.from_frame(frame.drop(columns="n")).values == pytest.approx(
        [0.25, 0.3, 0.9]
    )


def test_the_mean_of_equal_numbers_is_that_number():
    frame = pd.DataFrame({"a": "x", "b": "y", "similarity": [0.1] * 3})
    assert (0.1 + 0.1 + 0.1) / 3 != 0.1
    assert Similarities.from_frame(frame).values.tolist() == [0.1]


def test_labels_of_a_list():
    frame = pd.DataFrame([(10, 2, 0.5), (2, 1.0, 0.25)], columns=["a", "b", "similarity"])
    assert Similarities.from_frame(frame).labels == ("1", "2", "10")
    assert Similarities.from_frame(frame, labels=[2, 1, 10, 3]).labels == ("2", "1", "10", "3")


# dissimilarities ----------------------------------------------------------------------------------

DISTANCES = [[0, 1, 2], [1, 0, 5], [2, 5, 0]]


def test_linear_conversion_subtracts_from_the_largest_or_from_one():
    assert Similarities.from_dissimilarities(DISTANCES).values.tolist() == [4, 3, 0]
    unit = np.array(DISTANCES) / 8
    assert Similarities.from_dissimilarities(unit).values.tolist() == [0.875, 0.75, 0.375]
    assert Similarities.from_dissimilarities(unit * 1.6).values.tolist() == pytest.approx(
        [0.8, 0.6, 0], abs=1e-15
    )


def test_exponential_conversion_divides_by_the_mean():
    data = Similarities.from_dissimilarities(DISTANCES, "exponential", "abc", sigma=0.1)
    assert data.values == pytest.approx(np.exp(-np.array([1, 2, 5]) / (8 / 3)), rel=1e-15)
    assert data.labels == ("a", "b", "c") and data.sigma == 0.1


def test_a_function_of_the_dissimilarities():
    data = Similarities.from_dissimilarities(DISTANCES, lambda d: (1 / (1 + d)).tolist())
    assert data.values.tolist() == [1 / 2, 1 / 3, 1 / 6]
    in_place = Similarities.from_dissimilarities(DISTANCES, lambda d: np.negative(d, out=d))
    assert in_place.values.tolist() == [-1, -2, -5]


def test_the_diagonal_and_missing_pairs_of_dissimilarities():
    table = np.array(DISTANCES, float)
    np.fill_diagonal(table, 100)
    table[0, 1] = table[1, 0] = NAN
    assert Similarities.from_dissimilarities(table).values.tolist() == [3, 0]
    data = Similarities.from_dissimilarities(DISTANCES)
    assert "diagonal" not in " ".join(recorded_warnings(data)), (
        "the smallest number of each row was turned around"
    )


def test_a_triangle_of_dissimilarities():
    with warned(DataWarning, "Only the upper triangle") as caught:
        data = Similarities.from_dissimilarities(np.triu(DISTANCES))
    assert data.values.tolist() == [4, 3, 0] and caught[0].filename == __file__


# people -------------------------------------------------------------------------------------------


def people(count=5, missing=False):
    rng = np.random.default_rng(3)
    tables = rng.random((count, 4, 4))
    tables = tables + tables.transpose(0, 2, 1)
    if missing:
        tables[0, 0, 1] = tables[0, 1, 0] = tables[1, 2, 3] = tables[1, 3, 2] = NAN
        tables[:, 0, 3] = tables[:, 3, 0] = NAN
    return tables


@pytest.mark.parametrize("missing", [False, True])
def test_people_are_averaged(missing):
    tables = people(missing=missing)
    i, j = np.triu_indices(4, 1)
    pairs = tables[:, i, j]
    there = ~np.isnan(pairs).all(axis=0)
    pairs = pairs[:, there]
    data = Similarities.from_respondents(tables, LABELS)
    assert data.labels == LABELS
    assert data.first.tolist() == i[there].tolist() and data.second.tolist() == j[there].tolist()
    assert data.values == pytest.approx(np.nanmean(pairs, axis=0), rel=1e-14)
    judges = (~np.isnan(pairs)).sum(axis=0)
    variances = np.nanvar(pairs, axis=0, ddof=1)
    pooled = ((judges - 1) * variances).sum() / (judges - 1).sum()
    assert data.sigma == pytest.approx(np.sqrt(pooled), rel=1e-12)
    assert data.judgements.tolist() == judges.tolist()
    lee = Similarities.from_respondents(tables, LABELS, sigma="deviation")
    assert lee.sigma == pytest.approx(np.sqrt(variances).mean(), rel=1e-12)
    assert lee.judgements.tolist() == [1.0] * lee.n_pairs, "the mean itself has Lee's deviation"
    assert Similarities.from_respondents(tables, LABELS, sigma=0.25).sigma == 0.25
    assert Similarities.from_respondents(tables, LABELS, sigma=None).sigma is None


def test_people_with_frames_in_any_order():
    tables = people(2)
    frames = [pd.DataFrame(table, index=LABELS, columns=LABELS) for table in tables]
    frames[1] = frames[1].loc[list(LABELS[::-1]), list(LABELS[2:] + LABELS[:2])]
    assert Similarities.from_respondents(frames) == Similarities.from_respondents(
        list(tables), LABELS
    )
    assert Similarities.from_respondents(iter(frames)).labels == LABELS


def test_who_judged_what_is_kept():
    tables = people(3)
    tables[1, 0, 1] = tables[1, 1, 0] = NAN
    data = Similarities.from_respondents(dict(zip(("ann", "bob", 7), tables, strict=True)), LABELS)
    assert data.respondents == ("ann", "bob", "7") and Similarities.from_respondents(
        tables
    ).respondents == ("1", "2", "3")
    first, second = np.triu_indices(4, 1)
    for number, (name, own) in enumerate(data.by_respondent().items()):
        there = ~np.isnan(tables[number][first, second])
        assert name == data.respondents[number] and own.sigma is None and own.respondents == ()
        assert (
            own.first.tolist() == first[there].tolist()
            and own.values.tolist() == tables[number][first, second][there].tolist()
        )
    assert data != Similarities(
        data.matrix, LABELS, sigma=data.sigma, judgements=np.where(np.eye(4), 1, [[3]])
    )
    part = data.take(np.array([False, True, False, True, True, False]))
    assert part.by_respondent()["bob"].values.tolist() == tables[1][[0, 1, 1], [2, 2, 3]].tolist()
    nothing = data.take(np.array([True, False, False, False, False, False]))
    assert list(nothing.by_respondent()) == ["ann", "7"]  # bob did not judge it
    assert (
        "answers" not in vars(data.with_values(data.values))
        and data.with_values(data.values).respondents == ()
    )
    with refused(DataError, "identify respondents"):
        Similarities(FULL, LABELS).by_respondent()
    with refused(DataError, "must have unique"):
        Similarities.from_respondents({1: FULL, "1": FULL}, LABELS)


@pytest.mark.parametrize(
    "tables", [people(1), np.repeat(people(1), 3, axis=0)], ids=["one", "agreeing"]
)
def test_people_whose_deviation_nobody_knows(tables):
    for kind in ("standard error", "deviation"):
        assert Similarities.from_respondents(tables, sigma=kind).sigma is None


@needs_data
def test_kinship_has_the_published_deviation():
    folder = real_data("similarity_lee")
    rows = pd.read_csv(folder / "kinship_kimrosenberg_groups.csv")
    mean = Similarities(pd.read_csv(folder / "kinship_kimrosenberg.csv", index_col=0))
    groups = [
        Similarities.from_frame(group, labels=mean.labels).to_frame()
        for _, group in rows.groupby("group", sort=True)
    ]
    data = Similarities.from_respondents(groups, sigma="deviation")
    assert data.labels == mean.labels and data.values == pytest.approx(mean.values, abs=1e-9)
    index = pd.read_csv(folder / "index.csv", index_col="name")
    assert data.sigma == pytest.approx(index.loc["kinship_kimrosenberg", "sigma_emp"], abs=1e-7)
    assert Similarities.from_frame(rows, labels=mean.labels).values == pytest.approx(
        mean.values, abs=1e-9
    )
    several = Similarities.from_respondents(groups)
    assert several.sigma / np.sqrt(several.judgements) == pytest.approx(0.0419642, abs=1e-7)


# warnings -----------------------------------------------------------------------------------------


def recorded_warnings(data):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        data.warn_if_unusual()
    assert all(each.category is DataWarning and each.filename == __file__ for each in caught)
    return [str(each.message) for each in caught]


DIAGONAL = (
    "The diagonal entry is the smallest of each row, as in a matrix of dissimilarities; if these are"
    " dissimilarities, use Similarities.from_dissimilarities."
)
NEGATIVE = (
    "The mean similarity is {}, but the additive constant and the weights cannot be negative; add"
    " a constant to all similarities, or use Similarities.from_dissimilarities if these are"
    " dissimilarities."
)
# a pair at distance 0 hides nothing
ONE_TWIN = np.abs(np.subtract.outer([0, 1, 1, 3, 5, 7], [0, 1, 1, 3, 5, 7]))
UNUSUAL = [
    (FULL, []),
    (FULL * 10, []),
    (FULL / 7.9, []),
    # zeros on the diagonal that stand for nothing: a similarity is below
    (np.where(np.eye(4), 0, FULL), []),
    (np.where(np.eye(4), -1, FULL), [DIAGONAL]),
    (ONE_TWIN, [DIAGONAL]),
    ([[0, 0.5, 0.6], [0.5, 0, 0.7], [0.6, 0.7, 0.9]], []),
    (np.where(np.eye(3), NAN, [[0, 1, 2], [1, 0, 5], [2, 5, 0]]), []),
    (np.where(np.eye(4), 0, np.kron(np.eye(2), np.ones((2, 2)))), []),
    (np.where(np.eye(4), 1, FULL - 1), [NEGATIVE.format("-0.675")]),
    (-FULL * 14, [DIAGONAL, NEGATIVE.format("-4.55")]),
    (
        np.full((3, 3), 0.4),
        ["All 3 similarities are 0.4, so the variance accounted for is undefined."],
    ),
    (np.zeros((3, 3)), ["All 3 similarities are 0, so the variance accounted for is undefined."]),
    (
        [[1, 0.6], [0.6, 1]],
        ["The only similarity is 0.6, so the variance accounted for is undefined."],
    ),
    (
        [[1, 0.5, NAN, 0.4], [0.5, 1, NAN, 0.2], [NAN] * 4, [0.4, 0.2, NAN, 1]],
        ["'2': no similarity was measured, so its features depend only on the prior."],
    ),
]


@pytest.mark.parametrize(("table", "messages"), UNUSUAL)
def test_unusual_similarities_are_warned_of(table, messages):
    assert recorded_warnings(Similarities(table)) == messages


@needs_data
def test_most_real_tables_are_not_unusual():
    files = [*real_data("similarity_lee").glob("*.csv"), *real_data("numbers").glob("*.csv")]
    files += [real_data("countries/similarity.csv"), real_data("letters/similarity.csv")]
    others = ("index", "kinship_kimrosenberg_groups")
    tables = [pd.read_csv(file, index_col=0) for file in files if file.stem not in others]
    assert len(tables) == 14
    assert [recorded_warnings(Similarities(table)) for table in tables] == [[]] * 14


@needs_data
def test_morse_is_asymmetric_and_dissimilar():
    table = pd.read_csv(real_data("morse/dissimilarity_asymmetric_smacof.csv"), index_col=0)
    with refused(ValueError, "0.4", "0.34", "row '.---'", "column '..---'"):
        Similarities(table)
    data = Similarities(table, symmetrize="mean")
    assert str(data) == "36 objects, 630 similarities"
    a, b = table.columns[3], table.columns[17]
    assert data.matrix[3, 17] == pytest.approx((table.loc[a, b] + table.loc[b, a]) / 2)
    assert DIAGONAL in recorded_warnings(data)
    turned = Similarities.from_dissimilarities(table, symmetrize="mean")
    assert turned.values == pytest.approx(1 - data.values) and recorded_warnings(turned) == []


def test_loading_it_is_light():
    """The data object alone needs neither pandas nor SciPy."""
    code = (
        "import sys, thali; thali.Similarities([[1, 0.5], [0.5, 1]]).warn_if_unusual();"
        "thali.Similarities.from_dissimilarities([[0, 0.5], [0.5, 0]]);"
        "thali.Similarities.from_respondents([[[0, 0.5], [0.5, 0]]]);"
        "assert not {'pandas', 'scipy', 'numba'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True)


# who judged, in a list ----------------------------------------------------------------------------


def test_a_list_that_says_who_judged_keeps_it():
    tables = people(3)
    data = Similarities.from_respondents(
        dict(zip(("ann", "bob", "cy"), tables, strict=True)), LABELS, sigma=None
    )
    rows = [
        (LABELS[j], LABELS[i], tables[p][i, j], who)
        for p, who in enumerate(data.respondents)
        for i, j in zip(*np.triu_indices(4, 1), strict=True)
    ]
    frame = pd.DataFrame(rows, columns=["first", "second", "similarity", "judge"])
    listed = Similarities.from_frame(frame, labels=LABELS)
    assert listed.respondents == data.respondents and np.allclose(listed.values, data.values)
    assert listed.judgements.tolist() == data.judgements.tolist()
    for name, own in data.by_respondent().items():
        assert listed.by_respondent()[name] == own
    named = frame.rename(columns={"judge": "wer"})
    assert Similarities.from_frame(named, labels=LABELS).respondents == ()
    assert Similarities.from_frame(named, respondent="wer", labels=LABELS) == listed
    both = pd.concat([frame, frame.rename(columns={"first": "second", "second": "first"})])
    assert Similarities.from_frame(both, labels=LABELS) == listed  # everybody's square, written out
    assert (
        Similarities.from_frame(frame.assign(count=2), labels=LABELS).respondents == ()
    )  # means of who knows how many


def test_columns_of_judges_are_kept_with_the_pairs_that_are():
    rows = [
        ("a", "b", 0.2, "ann", 30, 1),
        ("a", "c", 0.4, "ann", 30, 2),
        ("a", "b", 0.3, "bob", 50, 3),
    ]
    frame = pd.DataFrame(rows, columns=["a", "b", "similarity", "judge", "age", "minute"])
    data = Similarities.from_frame(frame)
    known = pd.DataFrame({"age": [30, 50]}, pd.Index(["ann", "bob"], name="judge"))
    pd.testing.assert_frame_equal(data.people, known)
    pd.testing.assert_frame_equal(data.take(np.array([True, False])).people, known)
    assert "respondent columns" in notebook(data) and "age" in notebook(data)
    without = Similarities.from_frame(frame.drop(columns=["age", "minute"]))
    assert without.people is None and "people" not in vars(without.answers) and without != data


def test_who_judged_a_pair_several_times_is_not_kept():
    rows = [("a", "b", 0.2, "ann"), ("b", "a", 0.4, "ann"), ("a", "b", 0.3, "bob")]
    frame = pd.DataFrame(rows, columns=["a", "b", "similarity", "judge"])
    with warned(DataWarning, "'ann'", "'a'", "'b'"):
        data = Similarities.from_frame(frame)
    assert data.respondents == () and data == Similarities.from_frame(
        frame.drop(columns="judge"), sigma=None
    )
