"""Files as people have them: encodings, separators, Excel, and the shapes that are recognised."""

from zipfile import ZipFile

import numpy as np
import pandas as pd
import pytest
from helpers.real_data import needs_data, real_data
from helpers.sentences import refused, said, warned

import thali as th
import thali._data.kinds as kinds
from thali import PairedComparisons, Similarities
from thali._reading.layout_recognition import read_data, recognise
from thali._reading.table_files import load_table, read_table
from thali.errors import DataWarning

EXPECTED = PairedComparisons([[0, 3, 4], [5, 0, 6], [7, 8, 0]], "ABC")


def are_similarities(path):
    return recognise(load_table(path), kinds.PAIRS, kinds.SIMILARITIES).kind == kinds.SIMILARITIES


UNLABELLED = PairedComparisons(EXPECTED.counts)
SIZE = "3 options, 3 pairs, 33 comparisons"
SQUARE = f"square count matrix, row over column: {SIZE}"

PLAIN = ",A,B,C\nA,0,3,4\nB,5,0,6\nC,7,8,0\n"
SEMICOLON = PLAIN.replace(",", ";")

SQUARES = {
    "plain": PLAIN,
    "byte order mark": "\ufeff" + PLAIN,
    "Windows line ends": PLAIN.replace("\n", "\r\n"),
    "old Mac line ends": PLAIN.replace("\n", "\r"),
    "no line end at the end": PLAIN.rstrip(),
    "tabs": PLAIN.replace(",", "\t"),
    "Excel's Unicode text": PLAIN.replace(",", "\t").encode("utf-16"),
    "semicolons": SEMICOLON,
    "semicolons and decimal commas": SEMICOLON.replace("3;4", "3,0;4,00"),
    "separator named": "sep=;\n" + SEMICOLON,
    "quoted": '"","A","B","C"\n"A","0","3","4"\n"B",5,0,6\n"C",7,8,0\n',
    "index named by pandas": "Unnamed: 0" + PLAIN,
    "empty rows and columns": ",A,B,C,,\nA,0,3,4,,\n,,,,,\nB,5,0,6,,\nC,7,8,0,,\n\n,,,,,\n  ,,,\n",
    "empty columns in the header alone": ",A,B,C,,\nA,0,3,4\nB,5,0,6\nC,7,8,0,\n",
    "write.table of R": '"A" "B" "C"\n"A" 0 3 4\n"B" 5 0 6\n"C" 7 8 0\n',
    "write.table of R, tabs": "A\tB\tC\nA\t0\t3\t4\nB\t5\t0\t6\nC\t7\t8\t0\n",
    "aligned by blanks": "    A   B   C\nA   0   3   4\nB   5   0   6\nC   7   8   0\n",
    "empty diagonal": ",A,B,C\nA,,3,4\nB,5,-,6\nC,7,8,NA\n",
    "rows in another order": ",A,B,C\nC,7,8,0\nA,0,3,4\nB,5,0,6\n",
    "labels in the header alone": "A,B,C\n0,3,4\n5,0,6\n7,8,0\n",
    "blanks around cells": " , A , B , C \n A , 0, 3 ,4\n B,5,0,6\nC ,7,8,0 \n",
}


def in_file(folder, content, name="data.csv"):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize("content", SQUARES.values(), ids=SQUARES.keys())
def test_square_tables_are_recognised_and_read(content, tmp_path):
    assert read_data(in_file(tmp_path, content), kinds.PAIRS) == (EXPECTED, SQUARE)


@pytest.mark.parametrize(
    "content",
    ["0,3,4\n5,0,6\n7,8,0\n", "0.0e+00 3.0e+00 4.0e+00\n5 0 6\n7 8 0\n", "\n0;3;4\n5;0;6\n7;8;0\n"],
)
def test_a_square_without_labels_is_recognised_and_read(content, tmp_path):
    assert read_data(in_file(tmp_path, content), kinds.PAIRS) == (UNLABELLED, SQUARE)


def test_square_without_labels_whose_first_row_repeats_a_number(tmp_path):
    data, _ = read_data(in_file(tmp_path, "0,50,50\n50,0,50\n50,50,0\n"), kinds.PAIRS)
    assert data.counts.tolist() == [[0, 50, 50], [50, 0, 50], [50, 50, 0]]


@pytest.mark.parametrize(
    ("content", "labels"),
    [
        (",1,2\n1,0,3\n2,4,0\n", ("1", "2")),
        (",001,010\n001,0,3\n010,4,0\n", ("001", "010")),
        (",0.50,1.00\n0.50,0,3\n1.00,4,0\n", ("0.5", "1")),
        (";0,50;1,00\n0,50;0;3\n1,00;4;0\n", ("0.5", "1")),
        (",NA,I\nNA,0,3\nI,4,0\n", ("NA", "I")),
    ],
)
def test_labels_that_look_like_numbers_or_gaps(content, labels, tmp_path):
    data, _ = read_data(in_file(tmp_path, content), kinds.PAIRS)
    assert data == PairedComparisons([[0, 3], [4, 0]], labels)


def test_options_called_i_j_and_n_are_still_a_square(tmp_path):
    frame = pd.DataFrame([[0, 3, 4], [5, 0, 6], [7, 8, 0]], index=list("IJN"), columns=list("IJN"))
    for index in (True, False):
        frame.to_csv(tmp_path / "letters.csv", index=index)
        assert read_data(tmp_path / "letters.csv", kinds.PAIRS)[1] == SQUARE


LONG = [
    ("chosen,rejected", "one comparison per row", [("A", "B"), ("A", "B"), ("B", "A")]),
    ("Winner,LOSER", "one comparison per row", [("A", "B"), ("A", "B"), ("B", "A")]),
    ("preferred,other,n", "counts in 'n'", [("A", "B", 2), ("B", "A", 1)]),
    ("preferred,not preferred,times", "counts in 'times'", [("A", "B", 2), ("B", "A", 1)]),
    ("i,j,Freq", "counts in 'Freq'", [("A", "B", 2), ("B", "A", 1)]),
    ("top_item,bottom_item,Count", "counts in 'Count'", [("A", "B", 2), ("B", "A", 1)]),
    ("won,lost,weight", "counts in 'weight'", [("A", "B", 1.5), ("A", "B", 0.5), ("B", "A", 1)]),
]


@pytest.mark.parametrize(("header", "how", "rows"), LONG, ids=[case[0] for case in LONG])
def test_long_tables_are_recognised_and_read(header, how, rows, tmp_path):
    text = "\n".join([header, *(",".join(map(str, row)) for row in rows)])
    data, messages = read_data(in_file(tmp_path, text), kinds.PAIRS)
    assert data == PairedComparisons([[0, 2], [1, 0]], "AB")
    chosen, rejected = header.split(",")[:2]
    assert messages == (
        f"long table, {chosen!r} chosen over {rejected!r}, {how}: 2 options, 1 pair, 3 comparisons"
    )


@pytest.mark.parametrize(
    "header",
    (
        "a,b,a_over_b,b_over_a item1,item2,wins1,wins2 "
        "home.team,away.team,home.wins,away.wins i,j,n_ij,n_ji "
        "option_a,option_b,a_wins,b_wins first,second,wins,losses"
    ).split(),
)
def test_tables_of_pairs_are_recognised_and_read(header, tmp_path):
    data, messages = read_data(
        in_file(tmp_path, f"{header}\nA,B,3,5\nA,C,4,7\nB,C,6,8\n"), kinds.PAIRS
    )
    a, b, over, under = header.split(",")
    assert data.to_frame().equals(EXPECTED.to_frame())
    assert (data.forward is not None) == header.startswith("home")
    assert (
        messages == f"table of pairs, wins of {a!r} in {over!r}, wins of {b!r} in {under!r}: {SIZE}"
    )


def test_labels_keep_their_accents_and_separators(tmp_path):
    text = 'winner;loser\n"Café; noir";Thé, vert\nThé, vert;Eau\n'
    for encoding in ("utf-8", "utf-8-sig", "latin-1", "utf-16"):
        data, _ = read_data(in_file(tmp_path, text.encode(encoding)), kinds.PAIRS)
        assert data.labels == ("Café; noir", "Thé, vert", "Eau")


def test_excel_square_below_and_beside_empty_cells(tmp_path):
    openpyxl = pytest.importorskip("openpyxl", reason="Excel files need openpyxl")
    book = openpyxl.Workbook()
    book.active.title = "empty"
    sheet = book.create_sheet("data")
    for row in ["", "A", "B", "C"], ["A", None, 3, 4], ["B", 5.0, "-", "6"], ["C", 7, 8, None]:
        sheet.append([None, *row])
    sheet.insert_rows(1, 3)
    book.save(tmp_path / "data.xlsx")
    assert read_data(tmp_path / "data.xlsx", kinds.PAIRS) == (EXPECTED, SQUARE)
    book.create_sheet("notes")["B2"] = "collected in May"
    book.save(tmp_path / "data.csv")  # recognised by its content, not by its name
    said(read_data(tmp_path / "data.csv", kinds.PAIRS)[1], "sheet 'data'", "'notes'", SQUARE)


def test_excel_sheet_that_states_a_wrong_size(tmp_path):
    openpyxl = pytest.importorskip("openpyxl", reason="Excel files need openpyxl")
    book = openpyxl.Workbook()
    for row in [None, "A", "B", "C"], ["A", 0, 3, 4], ["B", 5, 0, 6], ["C", 7, 8, 0]:
        book.active.append(row)
    book.save(tmp_path / "right.xlsx")
    with ZipFile(tmp_path / "right.xlsx") as right, ZipFile(tmp_path / "wrong.xlsx", "w") as wrong:
        for name in right.namelist():
            part = right.read(name)
            assert name != "xl/worksheets/sheet1.xml" or b'<dimension ref="A1:D4"' in part
            wrong.writestr(name, part.replace(b'<dimension ref="A1:D4"', b'<dimension ref="A1"'))
    assert read_data(tmp_path / "wrong.xlsx", kinds.PAIRS)[0] == EXPECTED


def test_an_option_may_bear_the_name_of_a_column(tmp_path):
    data, _ = read_data(in_file(tmp_path, "winner,loser\nloser,b\nb,c\nc,winner\n"), kinds.PAIRS)
    assert data.labels == ("loser", "b", "c", "winner")


def test_excel_and_parquet_of_a_data_frame(tmp_path):
    pytest.importorskip("openpyxl", reason="Excel files need openpyxl")
    pytest.importorskip("pyarrow", reason="Parquet files need pyarrow")
    frame = pd.DataFrame(EXPECTED.counts, index=list("ABC"), columns=list("ABC"))
    frame.to_excel(tmp_path / "square.xlsx")
    frame.iloc[[2, 0, 1]].to_parquet(tmp_path / "square.parquet")
    EXPECTED.to_frame().to_excel(tmp_path / "long.xlsx")
    EXPECTED.to_frame().to_parquet(tmp_path / "long.parquet")
    for name in ("square.xlsx", "square.parquet", "long.xlsx", "long.parquet"):
        assert read_data(tmp_path / name, kinds.PAIRS)[0] == EXPECTED


def test_read_table_types(tmp_path):
    text = "name;code;whole;gaps;real;text\nNA;001; 1 ;;0,5;x\nb;10;-2;NA;1;3\n"
    frame = read_table(in_file(tmp_path, text))
    assert frame.index.tolist() == [0, 1]
    assert frame["name"].tolist() == ["NA", "b"]
    assert frame["code"].tolist() == ["001", "10"]
    assert frame["whole"].dtype == np.int64 and frame["whole"].tolist() == [1, -2]
    assert frame["real"].tolist() == [0.5, 1.0]
    assert frame["gaps"].isna().tolist() == [True, False]
    assert frame["text"].tolist() == ["x", "3"]


@pytest.mark.parametrize("gap", ["", "NA"])
def test_integers_that_no_number_tells_apart_are_text(gap, tmp_path):
    """Names of people; in a column with gaps, which holds numbers of double precision, from 16
    digits on."""
    rows = [f"{10**17 + k},{10**15 + k},{10**14 + k},{10**19 + k}" for k in range(3)]
    frame = read_table(in_file(tmp_path, "\n".join(["a,b,c,d", *rows])))
    assert frame.nunique().tolist() == [3] * 4 and [
        kind.kind for kind in frame.dtypes[["b", "c"]]
    ] == ["i", "i"]
    assert frame["d"].tolist() == [str(10**19 + k) for k in range(3)]
    frame = read_table(in_file(tmp_path, "\n".join(["a,b,c,d", *rows, f"{gap},{gap},{gap},0.5"])))
    assert frame.iloc[:3, :3].nunique().tolist() == [3] * 3 and frame["b"].tolist()[0] == str(
        10**15
    )
    assert [frame[name].dtype.kind for name in "cd"] == ["f", "f"]  # and measurements stay numbers
    kept = read_table(in_file(tmp_path, "\n".join(["a,b,c,d", *rows])), where=f"a == {10**17 + 1}")
    assert len(kept) == 1


def test_read_table_names_columns_without_a_name(tmp_path):
    frame = read_table(in_file(tmp_path, ",x,,y\na,1,2,3\n"))
    assert frame.columns.tolist() == ["column 1", "x", "column 3", "y"]


def test_read_table_reads_numbers_to_the_last_bit(tmp_path):
    values = np.random.default_rng(0).normal(size=1000) * 10.0 ** np.arange(-5, 5).repeat(100)
    frame = pd.DataFrame({"a": values, "b": -values})
    frame.to_csv(tmp_path / "numbers.csv", index=False)
    assert read_table(tmp_path / "numbers.csv").equals(frame)


READABLE = {
    "celebrities/choices.csv": "square count matrix, row over column: 9 options, 36 pairs, 8,424"
    " comparisons",
    "paired_eba/drugrisk_all.csv": "row over column: 6 options, 15 pairs, 2,881 comparisons",
    "paired_eba/heaviness_order1.csv": "row over column: 5 options, 10 pairs, 500 comparisons",
    "paired_bradleyterry2/baseball.csv": "wins of 'home.team' in 'home.wins'",
    "paired_bradleyterry2/chameleons_contests.csv": "35 options, 105 pairs, 106 comparisons",
    "rankings/bm_sounds.csv": "'top_item' chosen over 'bottom_item', one comparison per row,"
    " respondents in 'assessor'",
}


@needs_data
@pytest.mark.parametrize(("file", "messages"), READABLE.items())
def test_published_tables_are_recognised(file, messages):
    assert messages in read_data(real_data(file), kinds.PAIRS)[1]


@needs_data
def test_the_diagonal_of_citations_is_named():
    with warned(DataWarning, "diagonal"):
        read_data(real_data("paired_bradleyterry2/citations.csv"), kinds.PAIRS)


def test_as_many_rows_as_columns_of_numbers_may_still_be_a_list(tmp_path):
    data, messages = read_data(
        in_file(tmp_path, "winner,loser,n\n1,2,3\n2,1,4\n3,1,5\n"), kinds.PAIRS
    )
    assert data == PairedComparisons(
        [[0, 3, 0], [4, 0, 0], [5, 0, 0]], "123"
    ) and messages.startswith("long table")


# similarities -------------------------------------------------------------------------------------

ALIKE = Similarities([[1, 0.8, 0.3], [0.8, 1, 0.45], [0.3, 0.45, 1]], "ABC")
READ = "3 objects, 3 similarities, {}; diagonal ignored"
SIMILAR = ",A,B,C\nA,1,0.8,0.3\nB,0.8,1,0.45\nC,0.3,0.45,1\n"
LOWER = ",A,B,C\nA,1,,\nB,0.8,1,\nC,0.3,0.45,1\n"
ZEROS = " (zeros on the other side of the diagonal ignored)"

SIMILARITIES = {
    "plain": (SIMILAR, "square table"),
    "a corner name": ("object" + SIMILAR, "square table"),
    "semicolons, decimal commas": (SIMILAR.replace(",", ";").replace(".", ","), "square table"),
    "tabs": (SIMILAR.replace(",", "\t"), "square table"),
    "write.table of R": (
        "A B C\n" + "".join(SIMILAR.splitlines(True)[1:]).replace(",", " "),
        "square table",
    ),
    "rows in another order": (",A,B,C\nC,0.3,0.45,1\nA,1,0.8,0.3\nB,0.8,1,0.45\n", "square table"),
    "labels in the header alone": ("A,B,C\n1,0.8,0.3\n0.8,1,0.45\n0.3,0.45,1\n", "square table"),
    "text on the diagonal": (SIMILAR.replace("1", "same"), "square table"),
    "text and decimal commas": (
        SIMILAR.replace("1", "x").replace(",", ";").replace(".", ","),
        "square table",
    ),
    "text and a mark of a gap": (
        SIMILAR.replace("1", "same").replace("B,0.8", "B,NA"),
        "square table",
    ),
    "nothing on the diagonal": (SIMILAR.replace("1", ""), "square table"),
    "one of two missing": (SIMILAR.replace("B,0.8", "B,NA"), "square table"),
    "lower triangle": (LOWER, "lower triangle"),
    "lower triangle without diagonal": (LOWER.replace("1", ""), "lower triangle"),
    "lower triangle, rows that end": (",A,B,C\nA,1\nB,0.8,1\nC,0.3,0.45,1\n", "lower triangle"),
    "lower triangle, rows that end before": (",A,B,C\nA\nB,0.8\nC,0.3,0.45\n", "lower triangle"),
    "lower triangle by blanks": ("x A B C\nA 1\nB 0.8 1\nC 0.3 0.45 1\n", "lower triangle"),
    "lower triangle and zeros": (
        ",A,B,C\nA,0,0,0\nB,0.8,0,0\nC,0.3,0.45,0\n",
        "lower triangle" + ZEROS,
    ),
    "upper triangle": (",A,B,C\nA,1,0.8,0.3\nB,,1,0.45\nC,,,1\n", "upper triangle"),
    "upper triangle without diagonal": (",A,B,C\nA,,0.8,0.3\nB,,,0.45\nC,,,\n", "upper triangle"),
    "upper triangle, labels in the header": ("A,B,C\n1,0.8,0.3\n,1,0.45\n,,1\n", "upper triangle"),
    "upper triangle, labels in the header, marks of gaps": (
        "A,B,C\n-,0.8,0.3\n-,-,0.45\n-,-,-\n",
        "upper triangle",
    ),
    "upper triangle and zeros": (
        ",A,B,C\nA,1,0.8,0.3\nB,0,1,0.45\nC,0,0,1\n",
        "upper triangle" + ZEROS,
    ),
}


@pytest.mark.parametrize(("content", "shape"), SIMILARITIES.values(), ids=SIMILARITIES.keys())
def test_squares_of_similarities_are_recognised_and_read(content, shape, tmp_path):
    path = in_file(tmp_path, content)
    assert read_data(path, kinds.SIMILARITIES) == (ALIKE, READ.format(shape))
    assert are_similarities(path)
    assert read_data(path, kinds.PAIRS, kinds.SIMILARITIES) == (ALIKE, READ.format(shape))


@pytest.mark.parametrize(
    ("content", "shape"),
    [
        ("1,0.8,0.3\n0.8,1,0.45\n0.3,0.45,1\n", "square table"),
        ("1 0.8 0.3\n0.8 1 0.45\n0.3 0.45 1\n", "square table"),
        ("1,0.8,0.3\n,1,0.45\n,,1\n", "upper triangle"),
    ],
)
def test_similarities_without_labels(content, shape, tmp_path):
    expected = Similarities(ALIKE.matrix)
    assert read_data(in_file(tmp_path, content), kinds.PAIRS, kinds.SIMILARITIES) == (
        expected,
        READ.format(shape),
    )


def test_lists_of_similarities_are_recognised_and_read(tmp_path):
    path = in_file(
        tmp_path, "judge,item 1,item 2,Sim,n\n1,A,B,0.8,1\n1,C,A,0.2,1\n2,A,C,0.4,1\n1,B,C,.45,2\n"
    )
    data, messages = read_data(path, kinds.PAIRS, kinds.SIMILARITIES)
    assert data.labels == ALIKE.labels and data.values == pytest.approx(ALIKE.values)
    said(messages, "3 objects", "3 similarities", "2 judgements")


def test_both_sides_of_a_file_are_averaged(tmp_path):
    path = in_file(tmp_path, SIMILAR.replace("B,0.8", "B,0.6"))
    data, messages = read_data(path, kinds.SIMILARITIES, symmetrize="mean")
    assert data.values.tolist() == [0.7, 0.3, 0.45]
    said(messages, "square table", "the two halves")
    assert read_data(in_file(tmp_path, SIMILAR), kinds.SIMILARITIES, symmetrize="mean")[
        1
    ] == READ.format("square table")


def test_objects_called_i_j_and_s_are_a_square_if_it_is_symmetric(tmp_path):
    data, _ = read_data(
        in_file(tmp_path, "i,j,s\n1,0.8,0.3\n0.8,1,0.45\n0.3,0.45,1\n"), kinds.SIMILARITIES
    )
    assert data == Similarities(ALIKE.matrix, "ijs")
    data, messages = read_data(
        in_file(tmp_path, "i,j,s\n1,2,0.3\n1,3,0.4\n2,3,0.5\n"), kinds.SIMILARITIES
    )
    assert data.values.tolist() == [0.3, 0.4, 0.5] and "table of pairs" in messages


REAL = {
    "similarity_lee/bankwiring.csv": (14, 91),
    "similarity_lee/colour.csv": (14, 91),
    "similarity_lee/congress.csv": (15, 105),
    "similarity_lee/dotpatterns.csv": (17, 136),
    "similarity_lee/druguse.csv": (13, 78),
    "similarity_lee/faces_busey.csv": (60, 1770),
    "similarity_lee/fruits.csv": (21, 210),
    "similarity_lee/kinship_kimrosenberg.csv": (15, 105),
    "similarity_lee/kinship_kimrosenberg_groups.csv": (15, 105),
    "similarity_lee/phonemes.csv": (16, 120),
    "similarity_lee/risks.csv": (18, 153),
    "countries/similarity.csv": (16, 120),
    "letters/similarity.csv": (26, 325),
    "numbers/similarity.csv": (10, 45),
    "numbers/similarity_max1.csv": (10, 45),
}


@needs_data
@pytest.mark.parametrize(("file", "size"), REAL.items())
def test_published_similarities_are_recognised(file, size):
    data, messages = read_data(real_data(file), kinds.PAIRS, kinds.SIMILARITIES)
    assert isinstance(data, Similarities) and (data.n_options, data.n_pairs) == size
    assert messages.startswith(f"{size[0]} objects, {size[1]:,} similarities")
    with pytest.raises(ValueError, match="The table contains similarities"):
        read_data(real_data(file), kinds.PAIRS)


@needs_data
def test_real_comparisons_are_not_taken_for_similarities():
    for file in (
        *READABLE,
        "paired_bradleyterry2/citations.csv",
        *real_data("paired_eba").glob("*.csv"),
    ):
        assert not are_similarities(real_data(file))


@needs_data
def test_morse_from_its_file():
    path = real_data("morse/dissimilarity_asymmetric_smacof.csv")
    with pytest.raises(ValueError, match=r"largest difference is 0\.4"):
        read_data(path, kinds.SIMILARITIES)
    said(
        read_data(path, kinds.SIMILARITIES, symmetrize="mean")[1], "36 objects", "630 similarities"
    )
    with refused(ValueError, "08, which is"):
        read_data(path, kinds.PAIRS, kinds.SIMILARITIES)


@pytest.mark.parametrize("encoding", ["utf-32", "utf-32-le", "utf-32-be"])
def test_a_file_in_utf_32_with_a_mark_is_read(tmp_path, encoding):
    text = ("" if encoding == "utf-32" else "\ufeff") + "winner,loser\nthé,milk\nmilk,thé\n"
    (tmp_path / "a.csv").write_bytes(text.encode(encoding))
    assert th.read(tmp_path / "a.csv").labels == ("thé", "milk")


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("dtype", [object, "category"])
def test_numbers_of_any_dtype_are_numbers(dtype, missing):
    ranks = pd.DataFrame([[1, 2, 3], [2, 3, 1], [3, 1, 2]] * 4, columns=["tea", "milk", "rum"])
    if missing:
        ranks = ranks.where(ranks < 3)
    plain, other = th.read(ranks), th.read(ranks.astype(dtype))
    assert other.read_as == plain.read_as and other.n_answers == plain.n_answers
    assert other.labels == plain.labels and (other.members == plain.members).all()
