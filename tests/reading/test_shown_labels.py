"""Labels as people read them: file names without folder and ending, and names that a table
gives."""

import pandas as pd
import pytest
from helpers.sentences import refused, said

import thali as th
from thali._data.base_classes import copy_with_fields
from thali._reading.layout_recognition import read_data
from thali.errors import DataError

PAIRS = "winner,loser\n{0},{1}\n{1},{2}\n{2},{0}\n{0},{2}\n"


def file_of(folder, text, name="table.csv"):
    (folder / name).write_text(text, "utf-8")
    return folder / name


def test_names_of_files_lose_folder_and_ending_and_that_is_said(tmp_path):
    names = ("stimuli/ice_cream.png", "stimuli\\green  tea.JPG", "cake.webp")
    data, sentence = read_data(file_of(tmp_path, PAIRS.format(*names)))
    assert data.labels == ("ice cream", "green tea", "cake")
    said(sentence, "'ice cream'", "ice_cream")


def test_so_do_those_of_a_square(tmp_path):
    data, sentence = read_data(file_of(tmp_path, ",a.png,b_c.png\na.png,0,3\nb_c.png,1,0\n"))
    assert data.labels == ("a", "b c") and data.counts.tolist() == [[0, 3], [1, 0]]
    assert "file names" in sentence


@pytest.mark.parametrize(
    "names",
    [
        ("a/x.png", "b/x.png", "y.png"),  # two would be one
        ("a.png", "b.png", "c"),  # one is no file
        ("1.5", "2.png.old", "v.2"),
        ("a/.png", "b.png", "c.png"),  # nothing would be left
    ],
)
def test_other_labels_stay_as_they_are(tmp_path, names):
    data, sentence = read_data(file_of(tmp_path, PAIRS.format(*names)))
    assert set(data.labels) == set(names) and "file names" not in sentence


def test_a_table_of_labels_names_options_and_levels(tmp_path):
    labels = file_of(tmp_path, "name,shown\ntea,Grüner Tee\nmilk,Hafermilch\n", "labels.csv")
    data, _ = read_data(file_of(tmp_path, PAIRS.format("tea", "milk", "beer")), labels=labels)
    assert data.labels == ("Grüner Tee", "Hafermilch", "beer")
    square = file_of(tmp_path, ",tea,milk\ntea,0,3\nmilk,1,0\n")
    assert read_data(square, labels=labels)[0].labels == ("Grüner Tee", "Hafermilch")
    rows = [(1, 1, "tea", 2, 1), (1, 1, "milk", 3, 0), (1, 2, "milk", 2, 1), (1, 2, "tea", 3, 0)]
    study = pd.DataFrame(rows, columns=["respondent", "task", "drink", "price", "chosen"])
    study.to_csv(tmp_path / "study.csv", index=False)
    found, _ = read_data(tmp_path / "study.csv", "choice experiments", labels=labels)
    assert isinstance(found, th.ChoiceExperiment)
    assert set(found.to_frame()["drink"].cat.categories) == {"Grüner Tee", "Hafermilch"}


def test_rows_are_left_out_by_the_names_in_the_data(tmp_path):
    path = file_of(tmp_path, PAIRS.format("tea", "milk", "beer"))
    data, _ = read_data(path, labels={"tea": "T"}, where="winner != 'tea'")
    assert data.n_comparisons == 2 and set(data.labels) == {"T", "milk", "beer"}


@pytest.mark.parametrize(
    ("table", "facts"),
    [
        ("name,shown\nteh,T\n", ("labels", "lists 'teh'", "'tea'")),
        ("name,shown\ntea,milk\n", ("'milk'",)),
        ("name,shown\ntea,x\nmilk,x\n", ("'x'", "only once")),
        ("name,shown\ntea,x\ntea,y\n", ("'tea'",)),
        ("name,shown\ntea,\n", ("label is missing",)),
        ("name,shown,more\ntea,x,y\n", ("two columns",)),
    ],
)
def test_bad_tables_of_labels_are_refused(tmp_path, table, facts):
    path = file_of(tmp_path, PAIRS.format("tea", "milk", "beer"))
    with refused(DataError, *facts):
        read_data(path, labels=file_of(tmp_path, table, "labels.csv"))


def test_two_names_may_change_places(tmp_path):
    path = file_of(tmp_path, PAIRS.format("tea", "milk", "beer"))
    assert read_data(path, labels={"tea": "milk", "milk": "tea"})[0].labels == (
        "milk",
        "tea",
        "beer",
    )


# Options that are numbers ---------------------------------------------------------------------------

ITEMS = {str(k): f"item {k}" for k in range(1, 6)}
NUMBERED = {
    "best-worst": "item1,item2,item3,best,worst\n1,2,3,2,3\n3,4,5,5,3\n1,4,5,1,4\n2,3,5,5,2\n",
    "pairs": "winner,loser,count\n1,2,3\n2,3,1\n4,5,2\n5,1,4\n",
    "triplets": "object1,object2,object3,odd\n1,2,3,3\n3,4,5,4\n1,4,5,1\n2,3,5,5\n",
}


@pytest.mark.parametrize("kind", NUMBERED)
def test_numbered_options_have_the_labels_of_a_list(tmp_path, kind):
    (tmp_path / "t.csv").write_text(NUMBERED[kind])
    (tmp_path / "items.csv").write_text(
        "n,text\n" + "".join(f"{n},{t}\n" for n, t in ITEMS.items())
    )
    plain = th.read(tmp_path / "t.csv")
    named = th.read(tmp_path / "t.csv", labels=str(tmp_path / "items.csv"))
    assert named.labels == tuple(ITEMS[label] for label in plain.labels)
    assert named == copy_with_fields(plain, labels=named.labels)  # counts are as they were
    some = th.read(tmp_path / "t.csv", labels={3: "third"})
    assert some.labels == tuple({"3": "third"}.get(label, label) for label in plain.labels)


def test_labels_of_other_numbers_are_refused(tmp_path):
    (tmp_path / "t.csv").write_text(NUMBERED["pairs"])
    with refused(DataError, "'99'", "the options are"):
        th.read(tmp_path / "t.csv", labels={99: "x"})
    with refused(DataError, "'x'", "must differ"):
        th.read(tmp_path / "t.csv", labels={1: "x", 2: "x"})
