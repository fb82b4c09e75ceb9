"""Conditions on the rows of a table: what they keep, how they are refused, how they print."""

import operator

import numpy as np
import pandas as pd
import pytest
from helpers.sentences import refused, warned

import thali as th
from thali._data.kinds import CLASSES, PAIRS
from thali._reading.layout_recognition import read_data
from thali._reading.row_filter import Condition, RowFilter
from thali._reading.table_files import RawTable, build_raw_table, load_table, read_table
from thali._reading.text_cells import TextTable
from thali.errors import ArgumentError, DataError, DataWarning

TEXT = '''n,block,rt,code,Trial type,day
1,main,0.5,001,a,2026-05-01
2,practice,1.5,002,it's,2026-05-31
3,main,,010,a b,2026-06-01
4,,0.25,011,,2026-06-02
5,warm-up,10,100,"say ""x""",2026-06-03
'''


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(TEXT)
    return path


@pytest.mark.parametrize(
    ("condition", "rows"),
    [
        ("block == 'main'", [1, 3]),
        ('block == "main"', [1, 3]),
        ("block == main", [1, 3]),
        ("block==main", [1, 3]),
        ("  block  ==  ' main '  ", [1, 3]),
        ("block != main", [2, 4, 5]),
        ("block in (main, warm-up)", [1, 3, 5]),
        ("block IN ('practice')", [2]),
        ("block is missing", [4]),
        ("block is not missing", [1, 2, 3, 5]),
        ("rt > .3", [1, 2, 5]),
        ("rt >= 0.5", [1, 2, 5]),
        ("rt < '1.5'", [1, 4]),
        ("rt <= 1.5", [1, 2, 4]),
        ("rt == 10.0", [5]),
        ("rt != 10", [1, 2, 3, 4]),
        ("rt in (0.25, 1e1)", [4, 5]),
        ("n > 1 and n < 5 AND block is not missing", [2, 3]),
        ("code == 001", [1]),
        ("code > 2", [3, 4, 5]),
        ("code < 010", [1, 2]),
        ("'Trial type' == a", [1]),
        ("\"Trial type\" == 'a b'", [3]),
        ("'Trial type' == 'it''s'", [2]),
        ("'Trial type' == \"it's\"", [2]),
        ("'Trial type' == 'say \"x\"'", [5]),
        ("'Trial type' is missing", [4]),
        ("day <= '2026-05-31'", [1, 2]),
        ("day > 2026-06-01", [4, 5]),
    ],
)
def test_a_condition_keeps_the_rows_that_fulfil_it(file, condition, rows):
    assert read_table(file, where=condition)["n"].tolist() == rows


def test_several_conditions_hold_together(file):
    each = ["block != practice", "rt is not missing and rt > 0.3"]
    assert read_table(file, where=each)["n"].tolist() == [1, 5]
    assert read_table(file, where=" and ".join(each))["n"].tolist() == [1, 5]
    pd.testing.assert_frame_equal(read_table(file, where=None), read_table(file))


@pytest.mark.parametrize(
    ("condition", "facts"),
    [
        ("block = main", ("'='", "character 7", "'=='")),
        ("block", ("it ends", "==, !=, <, <=")),
        ("", ("it ends", "a column name")),
        ("== main", ("'=='", "character 1", "a column name")),
        ("block ==", ("it ends", "number or text")),
        ("block == practice block", ("'block'", "character 19", "'and'", "contains spaces")),
        ("Trial type == a", ("'type'", "character 7", "contain spaces")),
        ("n == 1 or n == 2", ("'or'", "character 8", "'and'")),
        ("1 < n < 3", ("'<'", "character 7", "'and'")),
        ("n == 1 and", ("it ends", "a column name")),
        ("block == 'main", ("quote at character 10",)),
        ("block == ''", ("number or text", "is missing")),
        ("n in 1", ("'1'", "character 6", "'('")),
        ("n in ()", ("')'", "character 7", "number or text")),
        ("n in (1, 2", ("it ends", "',' or ')'")),
        ("block is empty", ("'empty'", "character 10", "'not missing'")),
        ("block is not", ("it ends", "'missing'")),
    ],
)
def test_what_cannot_be_read_is_said_with_its_place_and_an_example(file, condition, facts):
    with refused(ArgumentError, "not a valid condition", "block == 'main'", "rt > 0.2", *facts):
        read_table(file.with_name("absent.csv"), where=condition)  # before any file is looked for


def test_errors_name_the_argument_that_gave_the_conditions():
    frame = pd.DataFrame({"n": [1, 2], "block": ["a", "b"]})
    for condition in ("m == 1", "n == x", "block > 3"):
        with pytest.raises(DataError, match=f"^`holdouts` .{condition[:3]}"):
            RowFilter.parse(condition, "holdouts").select(frame)
    with refused(DataError, "`holdouts` (n == 3) matches none"):
        RowFilter.parse("n == 3", "holdouts").raise_if_empty(frame)
    for given in ("n = 1", 5):
        with refused(ArgumentError, "holdouts"):
            RowFilter.parse(given, "holdouts")
    assert RowFilter.parse("n == 1", "holdouts") == RowFilter.parse("n == 1")


@pytest.mark.parametrize("given", [5, [], [1], {"block": "main"}, pd.Series([True])])
def test_other_objects_than_conditions_are_refused(given):
    with refused(ArgumentError, "where"):
        RowFilter.parse(given)


@pytest.mark.parametrize(
    ("condition", "facts"),
    [
        ("blok == main", ("blok == 'main'", "no column 'blok'", "'block'?")),
        ("rt > fast", ("rt > 'fast'", "column 'rt'", "'fast' is not one", "0.5")),
        ("rt == fast", ("column 'rt'", "'fast' is not one")),
        ("rt in (1, fast)", ("column 'rt'", "'fast' is not one")),
        ("block > 3", ("column 'block'", "'main'", "relative to 3")),
        ("code == 1", ("code == 1", "none of the 5 rows", "'001', '002', '010'")),
        ("block == mian", ("block == 'mian'", "none of the 5 rows", "'main', 'practice' and")),
        ("rt > 1 and n < 2", ("none of the 5 rows", "matches some")),
    ],
)
def test_what_does_not_fit_the_table_is_said_in_one_sentence(file, condition, facts):
    with refused(DataError, "table.csv: ", *facts):
        read_table(file, where=condition)


def test_a_value_that_is_nearly_there_is_a_warning(file):
    with warned(DataWarning, "'practise'", "column 'block'"):
        assert len(read_table(file, where="block != practise")) == 5


def test_a_workbook_of_squares_has_no_rows_to_leave_out(tmp_path):
    pytest.importorskip("openpyxl")
    square = pd.DataFrame([[0, 3, 4], [1, 0, 5], [2, 1, 0]], index=list("abc"), columns=list("abc"))
    with pd.ExcelWriter(tmp_path / "two.xlsx") as book:
        square.to_excel(book, sheet_name="one")
        square.to_excel(book, sheet_name="two")
    with refused(DataError, "where"):
        read_data(tmp_path / "two.xlsx", PAIRS, where="a > 1")
    square.reset_index().to_excel(tmp_path / "one.xlsx", index=False)
    assert len(read_table(tmp_path / "one.xlsx", where="a > 0")) == 2


# printing -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "condition",
    [
        "block == 'main'",
        "rt > 0.2 and rt < 5",
        "'a b' in (1, 'x', 'it''s \"y\"')",
        "a is missing",
        "a is not missing",
    ],
)
def test_a_condition_prints_as_it_is_written(condition):
    where = RowFilter.parse(condition)
    assert str(RowFilter.parse(str(where))) == str(where) and RowFilter.parse(str(where)) == where
    assert str(where).replace('"it\'s"', "'it''s'") == condition


def test_any_condition_prints_itself_again():
    rng = np.random.default_rng(1)
    letters = list("ab1 .,'\"()=<>!`-\nüand")
    for _ in range(300):
        name, *values = ("".join(rng.choice(letters, rng.integers(1, 7))) for _ in range(4))
        values = tuple(value.strip() or "x" for value in values)
        conditions = (
            Condition(name, str(rng.choice(["==", "!=", "<", "<=", ">", ">="])), values[:1]),
            Condition(values[0], "in", values),
            Condition(name, str(rng.choice(["is missing", "is not missing"]))),
        )
        where = RowFilter(tuple(conditions[k] for k in rng.integers(0, 3, rng.integers(1, 4))))
        assert RowFilter.parse(str(where)) == where, str(where)


# as pandas does -----------------------------------------------------------------------------------

SIGNS = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def table_of(rng, rows=40):
    words = rng.choice(np.array(["main", "practice", "x y", None], dtype=object), rows)
    return pd.DataFrame(
        {
            "n": rng.integers(-3, 4, rows),
            "rt": np.where(rng.random(rows) < 0.2, np.nan, rng.integers(0, 6, rows) / 4),
            "block": words,
            "both words": rng.choice(["1", "b"], rows),
        }
    )


@pytest.mark.parametrize("kind", ["frame", "csv", "parquet"])
def test_rows_are_those_of_pandas(tmp_path, kind):
    rng = np.random.default_rng(2)
    for _ in range(4):
        frame = table_of(rng)
        if kind == "frame":
            table = RawTable(frame, "the data frame")
        else:
            path = tmp_path / f"table.{kind}"
            if kind == "parquet":
                pytest.importorskip("pyarrow")
                frame.to_parquet(path)
            else:
                frame.to_csv(path, index=False)
            table = load_table(path)
        for sign, compared in SIGNS.items():
            number, quarter = int(rng.integers(-3, 4)), float(rng.integers(0, 6) / 4)
            word = str(rng.choice(["main", "practice", "x y"]))
            known = frame["block"].notna()
            texts = compared(frame["block"].fillna(""), word)
            texts = texts | ~known if sign == "!=" else texts & known
            for condition, mask in (
                (f"n {sign} {number}", compared(frame["n"], number)),
                (f"rt {sign} {quarter}", compared(frame["rt"], quarter)),
                (f"block {sign} '{word}'", texts),
                (
                    f"n {sign} {number} and rt is not missing",
                    compared(frame["n"], number) & frame["rt"].notna(),
                ),
                (
                    f"rt in ({quarter}, 0.5) and block is missing",
                    frame["rt"].isin([quarter, 0.5]) & ~known,
                ),
                ("'both words' in (1, c)", frame["both words"].isin(["1", "c"])),
            ):
                np.testing.assert_array_equal(
                    RowFilter.parse(condition).select(table.frame), mask, condition
                )


@pytest.mark.parametrize(
    ("column", "condition", "rows"),
    [
        (pd.Series([True, False, None], dtype="boolean"), "x == true", [0]),
        (pd.Series([True, False, True]), "x == 0", [1]),
        (pd.Series([1, None, 3], dtype="Int64"), "x > 1", [2]),
        (pd.Series([1, None, 3], dtype="Int64"), "x != 1", [1, 2]),
        (pd.Series(["1", "2", None], dtype="category"), "x >= 2", [1]),
        (pd.Series([1, 2.5, None], dtype=object), "x > 1", [1]),
        (pd.Series(["a", None, ""], dtype=object), "x is missing", [1, 2]),
        (
            pd.Series(["2026-05-01", None, "2026-07-01"], dtype="datetime64[ns]"),
            "x < 2026-06-01",
            [0],
        ),
        (
            pd.Series(["2026-05-01", None, "2026-07-01"], dtype="datetime64[ns, UTC]"),
            "x >= '2026-07-01'",
            [2],
        ),
        (
            pd.Series(["2026-05-01", None, "2026-07-01"], dtype="datetime64[ns]"),
            "x != 2026-05-01",
            [1, 2],
        ),
    ],
)
def test_columns_of_data_frames(column, condition, rows):
    assert (
        np.flatnonzero(RowFilter.parse(condition).select(pd.DataFrame({"x": column}))).tolist()
        == rows
    )


def test_a_value_that_is_no_date_is_refused():
    frame = pd.DataFrame({"x": pd.to_datetime(["2026-05-01"])})
    with refused(DataError, "column 'x'", "'May'", "2026", "-05"):
        RowFilter.parse("x < May").select(frame)


# as if the file had no other rows -----------------------------------------------------------------


@pytest.mark.parametrize("separator", [",", ";"])
def test_a_table_is_that_of_a_file_without_these_rows(tmp_path, separator):
    comma = "," if separator == ";" else "."
    lines = [
        ["block", "price", "size", "word"],
        ["practice", "much", "none", "001"],
        ["main", f"1{comma}5", "3", "7"],
        ["practice", "x", "-", ""],
        ["main", "2", "4", "b"],
    ]
    whole, part = tmp_path / "whole.csv", tmp_path / "part.csv"
    whole.write_text("".join(separator.join(line) + "\n" for line in lines))
    part.write_text("".join(separator.join(line) + "\n" for line in lines if line[0] != "practice"))
    found = read_table(whole, where="block == main")
    pd.testing.assert_frame_equal(found, read_table(part))
    assert found["price"].tolist() == [1.5, 2.0] and found["size"].dtype == np.int64


def test_lines_keep_their_numbers(tmp_path):
    (tmp_path / "won.csv").write_text("block,winner,loser\npractice,a,a\nmain,a,b\nmain,,b\n")
    with refused(DataError, "missing", "row 4"):
        read_data(tmp_path / "won.csv", PAIRS, where="block == main")


def test_a_column_of_text_that_says_which_rows_count_is_no_covariate(tmp_path):
    path = tmp_path / "plants.csv"
    path.write_text("part,len,kind\ntrain,1,moss\ntest,2,fern\ntrain,3,fern\n")
    data, _ = read_data(path, CLASSES, target="kind", where="part == train and len > 0")
    assert list(data.covariates.columns) == ["len"] and data.labels.tolist() == ["moss", "fern"]


def test_a_leaderboard_of_a_file_or_of_a_frame(tmp_path):
    rows = [("main", "a", "b"), ("main", "b", "a"), ("main", "a", "b"), ("odd", "c", "a")]
    frame = pd.DataFrame(rows, columns=["block", "winner", "loser"])
    frame.to_csv(tmp_path / "won.csv", index=False)
    for source in (frame, tmp_path / "won.csv"):
        board = th.leaderboard(
            source, where="block == 'main'", progressbar=False, method="maximum-likelihood"
        )
        assert sorted(board.table.index) == ["a", "b"]
    with refused(ArgumentError, "leaderboard", "'where'", "PairedComparisons"):
        th.leaderboard(board.data, where="block == 'main'")
    square = pd.DataFrame([[0, 3], [1, 0]], index=list("ab"), columns=list("ab"))
    with refused(DataError, "column 'c'"):
        th.leaderboard(square, where="c > 1")


def test_columns_known_to_hold_text_stay_text():
    cells = TextTable(["a", "b"], [["1", "2"], ["-", "NA"]], [2, 3])
    frame = build_raw_table(cells, "x.csv", {"a": True, "b": False}).frame
    assert (
        frame["a"].tolist() == ["1", "2"] and frame["b"].isna().all() and frame["b"].dtype == float
    )
