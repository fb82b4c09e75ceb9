"""A folder of answers becomes one table; what is missing, twice or foreign is said."""

import json
import os
import re
import sys
import time

import pandas as pd
import pytest
from helpers.handed_in import KINDS, rows_of, save
from helpers.sentences import refused, said

import thali as th
from thali._reading.layout_recognition import read_data
from thali.errors import DataError

DRINKS = ["tea", "coffee", "milk", "juice"]


@pytest.mark.parametrize("kind", KINDS)
def test_answers_of_every_kind_are_read_without_an_option(tmp_path, kind):
    save(tmp_path, a=rows_of(kind, "ann"), b=rows_of(kind, "bob"))
    found = th.field.collect(tmp_path)
    path = tmp_path / "answers.csv"
    found.answers.to_csv(path, index=False)
    data, how = read_data(path)
    asked = {
        "pairs": "8 comparisons (2 ties), 2 respondents",
        "best": "4 choices, 2 respondents",
        "best-worst": "4 answers (a best and a worst option each), 2 respondents",
        "ranking": "8 choices, 2 respondents",
        "odd-one-out": "4 answers, 2 respondents",
        "ratings": "3 similarities, each based on 2 judgements",
        "choice": "2 respondents, 8 tasks of 3 alternatives, with a no-choice option",
    }
    assert asked[kind] in how
    people = getattr(data, "people", None)
    if kind != "ratings":  # similarities are means over people
        assert "age" in people and not {"seed", "study", "version", "part"} & set(people)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "choice"])
def test_the_columns_of_these_tests_are_those_of_a_page(kind):
    study = {"questions": [{"name": "age", "ask": "?"}]}
    if is_caught := kind != "ratings":  # where no answer is right
        options = ["tea", "mud", "milk"][: 3 if kind == "odd-one-out" else 2]
        study["catch"] = [{"options": options, "answer": options[0]}]
    if kind in ("best", "best-worst", "ranking"):
        study["size"] = 3
    page = th.field.questionnaire(DRINKS, kind=kind, study=study)
    columns = json.loads(re.search(r'id="study">(.*?)</script>', page, re.S)[1])["columns"]
    assert columns == rows_of(kind, "ann", **{"passed": ""} if is_caught else {}).columns.tolist()


def test_problems_of_a_folder_of_answers_are_reported(tmp_path):
    pairs = KINDS["pairs"][1]
    ann = rows_of("pairs", "ann", passed="")
    bob = rows_of("pairs", "bob", passed="", answers=pairs[:2], planned=4)
    eve = pd.concat(
        [
            rows_of("pairs", "eve", part="practice", answers=["cat dog cat"], planned=4, passed=""),
            rows_of("pairs", "eve", planned=4, first=2, passed=""),
            rows_of(
                "pairs",
                "eve",
                part="catch",
                answers=["tea mud mud"],
                planned=4,
                first=6,
                passed="0",
            ),
        ]
    )
    save(
        tmp_path,
        ann=ann,
        ann_half=ann.iloc[:2],
        bob=bob,
        eve=eve,
        eve_again=rows_of("pairs", "eve", "2", passed=""),
    )
    (tmp_path / "notes.txt").write_text("who did not come: Carl\n")
    (tmp_path / ".hidden.csv").write_text("study\n")
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    found = th.field.collect(tmp_path)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before
    said(found.note, "3 respondents", "10 answers", "1 respondent")
    files = found.files
    assert files["taken"].sum() == len(found.answers) and files.loc[
        "eve.csv", ["rows", "taken"]
    ].tolist() == [6, 4]
    assert (files["rows"] == files.drop(columns="rows").sum(axis=1)).all()
    assert found.table.loc["eve", ["file", "answered", "catch_failed"]].tolist() == [
        "eve.csv",
        4,
        1,
    ]
    path = tmp_path / "answers.csv"
    found.answers.to_csv(path, index=False)
    assert "10 comparisons (2 ties), 3 respondents" in read_data(path)[1]
    assert "6 comparisons (1 tie), 2 respondents" in read_data(path, where="catch_failed == 0")[1]
    assert "answers.csv (missing columns" in th.field.collect(tmp_path).note


@pytest.mark.fit
def test_a_thousand_people(tmp_path):
    """Each is read once; names of people that are paths name no file, and hidden files do not
    count."""
    frame = rows_of("pairs", "somebody").to_csv(index=False)
    for k in range(1000):
        (tmp_path / f"{k}.csv").write_text(frame.replace("somebody", f"../../p{k}"))
    (tmp_path / ".p1.csv").write_text(frame)
    before = time.process_time()
    found = th.field.collect(tmp_path)
    assert (
        len(found.table) == 1000
        and len(found.answers) == 4000
        and found.note.startswith("1,000 respondents, 4,000 answers.")
    )
    assert time.process_time() - before < 30 and len(list(tmp_path.iterdir())) == 1001


def test_one_file_may_hold_the_answers_of_many(tmp_path):
    """As a server writes it that appends what arrives."""
    texts = [rows_of("pairs", name).to_csv(index=False) for name in ("ann", "bob", "ann")]
    (tmp_path / "all.csv").write_text("".join(texts))
    found = th.field.collect(tmp_path)
    assert len(found.answers) == 8
    said(found.note, "2 respondents", "8 answers", "2 rows", "all.csv")
    save(tmp_path, again=pd.concat([rows_of("pairs", "ann"), rows_of("pairs", "bob")]))
    note = th.field.collect(tmp_path).note
    said(note, "2 respondents", "8 answers", "2 repeated questionnaires", "'all.csv'")
    assert "questionnaire that is not used" in note and "8 rows" in note and "(8)" in note


def test_who_left_during_practice_has_no_answer(tmp_path):
    save(tmp_path, a=rows_of("pairs", "ann", part="practice", planned=6))
    found = th.field.collect(tmp_path)
    said(found.note, "1 respondent", "0 answers", "4 practice")
    assert len(found.answers) == 0


def test_typed_answers_are_no_formulas(tmp_path):
    typed = ["=1+1", "@SUM(1)", "+1+1|cmd", "-2", "a=b"]
    save(
        tmp_path,
        **{f"f{k}": rows_of("pairs", f"{text}{k}", age=text) for k, text in enumerate(typed)},
    )
    answers = th.field.collect(tmp_path).answers.drop_duplicates("person")
    assert answers["age"].tolist() == ["'=1+1", "'@SUM(1)", "'+1+1|cmd", "-2", "a=b"]
    assert answers["person"].tolist() == ["'=1+10", "'@SUM(1)1", "'+1+1|cmd2", "-23", "a=b4"]


@pytest.mark.parametrize("formula", ["=1+1", "+1+1", "-1+1", "@SUM(1)", "\t=1"])
def test_nothing_that_is_sent_is_a_formula(tmp_path, formula):
    """In any cell, in the name of a column, and with the columns in any order."""
    sent = pd.DataFrame(rows_of("pairs", "ann"))
    own = {"study", "person", "seed", "started", "version", "part", "trials_planned", "passed"}
    for k, column in enumerate(sorted({*sent} - own | {"task", "more"})):
        frame = sent.assign(**{column: [f"{formula}{k}" for k in range(len(sent))]})
        frame.insert(0, f"{formula}{k}", "x")
        frame["trials_planned"] = frame.pop("trials_planned")
        folder = tmp_path / f"{k}"
        folder.mkdir()
        frame.to_csv(folder / "a.csv", index=False)
        collected = th.field.collect(folder)
        answers = collected.answers
        cells = [*answers, *answers.to_numpy().ravel(), *collected.table.index]
        assert len(answers) == len(sent)
        assert not [cell for cell in cells if str(cell)[:1] in "=+-@\t\r"], column


def test_the_whole_questionnaire_of_somebody_counts(tmp_path):
    half = rows_of("pairs", "ann", "1", answers=KINDS["pairs"][1][:1], planned=4)
    save(tmp_path, one=half, two=rows_of("pairs", "ann", "2"))
    assert th.field.collect(tmp_path).table["file"].tolist() == ["two.csv"]


def test_of_questionnaires_that_nobody_finished_the_one_with_most_answers_counts(tmp_path):
    answers = KINDS["pairs"][1]
    begun = {
        f"f{k}": rows_of("pairs", "ann", str(k), answers=answers[:k], planned=4) for k in (1, 3, 2)
    }
    save(tmp_path, **begun)
    found = th.field.collect(tmp_path)
    assert found.table["file"].tolist() == ["f3.csv"]
    assert (
        "respondent answered several" in found.note
        and "1 respondent" in found.note
        and "'ann'" in found.note
    )


def test_names_of_many_digits_stay_apart(tmp_path):
    ids = [str(600_000_000_000_000_000 + k) for k in range(3)]
    save(tmp_path, **{f"f{k}": rows_of("pairs", each) for k, each in enumerate(ids)})
    found = th.field.collect(tmp_path)
    assert found.answers["person"].unique().tolist() == ids
    found.answers.to_csv(tmp_path / "answers.csv", index=False)
    assert "3 respondents" in read_data(tmp_path / "answers.csv")[1]


def test_names_that_are_one_number_stay_apart(tmp_path):
    save(
        tmp_path,
        **{f"f{k}": rows_of("pairs", name) for k, name in enumerate(["100", "1e2", "100.0"])},
    )
    found = th.field.collect(tmp_path)
    assert found.answers["person"].unique().tolist() == ["100", "1e2", "100.0"]
    found.answers.to_csv(tmp_path / "answers.csv", index=False)
    assert "3 respondents" in read_data(tmp_path / "answers.csv")[1]


def test_none_is_known_though_nobody_chose_it(tmp_path):
    """And where only some tasks have it."""
    answers = rows_of("choice", "ann", answers=["A B 1 2 1", "B A 2 1 2", "A A 1 2 1", "B B 2 1 2"])
    answers.insert(11, "available_none", [1, 0, 1, 1])
    save(tmp_path, a=answers)
    th.field.collect(tmp_path).answers.to_csv(tmp_path / "answers.csv", index=False)
    data, how = read_data(tmp_path / "answers.csv")
    assert data.scheme.none
    said(how, "1 respondent", "4 tasks of 2 to 3 alternatives")


def test_none_with_attributes_and_choices_by_number():
    """A column of whether none is available is one of the others where none has a price, too."""
    wide = pd.DataFrame(
        {"price_a": [1, 2, 3], "price_b": [2, 3, 1], "available_a": 1, "available_b": 1}
    )
    wide = wide.assign(available_none=[0, 1, 1], choice=[1, 2, 1])
    named = wide.assign(price_none=0, choice=["a", "none", "b"])
    for frame in (wide, wide.assign(choice=[1, 2, 3]), named):
        data = th.ChoiceExperiment.from_wide(frame)
        assert data.n_tasks == 3 and len(data.row_product) == 8


def test_no_file_is_left_out_without_a_word(tmp_path):
    cut = (
        rows_of("pairs", "eve").to_csv(index=False).replace("tea,milk,tea", "tea,milk,tea,milk,tea")
    )
    (tmp_path / "eve.csv").write_text(cut)
    (tmp_path / "carl.csv").write_text(
        "From: carl\n\n" + rows_of("pairs", "carl").to_csv(index=False)
    )
    with refused(DataError, "2 files"):
        th.field.collect(tmp_path)
    (tmp_path / "second_week").mkdir()
    save(tmp_path / "second_week", bob=rows_of("pairs", "bob"))
    (tmp_path / "dan.xlsx").write_bytes(b"PK\x03\x04")
    found = th.field.collect(tmp_path)
    assert found.table["file"].tolist() == ["second_week/bob.csv"]
    assert (
        "read: carl.csv (The" in found.note
        and "3 files" in found.note
        and "eve.csv (Line 2" in found.note
    )
    assert "dan.xlsx (not a text table" in found.note


def test_a_file_that_a_spreadsheet_saved_again_is_read(tmp_path):
    rows_of("pairs", "ann").to_csv(tmp_path / "a.csv", index=False, sep=";", encoding="utf-16")
    answers = th.field.collect(tmp_path).answers
    assert (
        len(answers) == 4
        and answers[["trial", "rt", "age"]].dtypes.map(lambda kind: kind.kind).tolist() == ["i"] * 3
    )
    assert len(th.PairedComparisons.from_trials(answers).respondents) == 1


def test_folders_without_answers_and_with_those_of_two_studies(tmp_path):
    with refused(DataError, "There is no folder"):
        th.field.collect(tmp_path / "nothing")
    with refused(DataError, "It is empty"):
        th.field.collect(tmp_path)
    (tmp_path / "notes.csv").write_text("a,b\n1,2\n")
    with refused(DataError, "columns study, person"):
        th.field.collect(tmp_path)
    save(tmp_path, a=rows_of("pairs", "ann"), b=rows_of("pairs", "bob", study="cars-2"))
    with refused(DataError, "2 studies", "'drinks-1'", "'cars-2'"):
        th.field.collect(tmp_path)
    save(tmp_path, c=rows_of("pairs", "eve"))
    found = th.field.collect(tmp_path)
    assert (
        "another study): b.csv" in found.note
        and "4 rows" in found.note
        and "(4)" in found.note
        and adds_up(found)
    )


def adds_up(found):
    files = found.files
    return (
        files["taken"].sum() == len(found.answers)
        and (files["rows"] == files.iloc[:, 1:].sum(axis=1)).all()
    )


def test_a_trial_counts_once_and_a_questionnaire_no_more_than_planned(tmp_path):
    ann = rows_of("pairs", "ann")
    again = ann.iloc[[0] * 3].assign(chosen="milk", rt=[1, 2, 3])
    more = rows_of("pairs", "ann", first=5, planned=4)
    save(tmp_path, a=pd.concat([ann, again, more]))
    found = th.field.collect(tmp_path)
    assert len(found.answers) == 4 and found.answers["chosen"].tolist() == ann["chosen"].tolist()
    assert (
        "skipped (another answer" in found.note and "3 rows" in found.note and "(3)" in found.note
    )
    assert (
        "than trials_planned): a.csv" in found.note
        and "4 rows" in found.note
        and "(4)" in found.note
        and adds_up(found)
    )


@pytest.mark.parametrize(
    ("cells", "facts"),
    [
        ({"part": "Main"}, ("part is not main", "b.csv (4)")),
        ({"trials_planned": "9" * 5000}, ("trials_planned", "b.csv (4)")),
        ({"trials_planned": "-4"}, ("trials_planned", "b.csv (4)")),
        ({"person": ""}, ("person is missing", "b.csv (4)")),
        ({"trial": ""}, ("trial is missing", "b.csv (4)")),
    ],
)
def test_rows_that_are_not_taken_are_counted_and_stop_no_other_file(tmp_path, cells, facts):
    save(tmp_path, a=rows_of("pairs", "ann"), b=rows_of("pairs", "bob").assign(**cells))
    found = th.field.collect(tmp_path)
    assert len(found.answers) == 4 and adds_up(found)
    said(found.note, *facts)


def test_odd_numbers_of_trials_and_times_are_read(tmp_path):
    save(tmp_path, a=rows_of("pairs", "ann").assign(trials_planned="4.0", rt="9" * 5000))
    assert th.field.collect(tmp_path).table.loc[
        "ann", ["answered", "planned", "minutes"]
    ].tolist() == [4, 4, 0]


def test_files_that_contradict_each_other_are_named(tmp_path):
    """The name, the seed and the start that a sender writes make no repeat of other answers."""
    save(tmp_path, a=rows_of("pairs", "ann"), b=rows_of("pairs", "ann").assign(chosen="milk"))
    found = th.field.collect(tmp_path)
    said(found.note, "contradict each other", "ann (a.csv used")
    assert found.answers["chosen"].tolist() == rows_of("pairs", "ann")[
        "chosen"
    ].tolist() and adds_up(found)


def test_copies_under_other_names_are_named(tmp_path):
    copies = {f"f{k}": rows_of("pairs", "ann").assign(person=f"p{k}") for k in range(3)}
    save(tmp_path, bob=rows_of("pairs", "bob"), **copies)
    said(
        th.field.collect(tmp_path).note,
        "3 respondents",
        "copied answers under another name",
        "'p0', 'p1' and 'p2'",
    )


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_a_file_name_that_is_not_utf_8(tmp_path):
    save(tmp_path, a=rows_of("pairs", "ann"))
    os.rename(bytes(tmp_path) + b"/a.csv", bytes(tmp_path) + b"/\xff.csv")
    assert th.field.collect(tmp_path).table["file"].tolist() == ["\\udcff.csv"]
