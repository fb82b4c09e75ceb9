"""MaxDiff files of programs: answers in one file, sets in another, items as numbers."""

import numpy as np
import pandas as pd
import pytest
from helpers.sentences import refused

import thali as th
from thali._reading.layout_recognition import read_data
from thali.errors import Argument, DataError

SETS = ((1, 2, 4, 6), (2, 3, 5, 7), (1, 3, 4, 7), (1, 5, 6, 7))
# best and worst positions by respondent and set
ANSWERS = {
    1: ((1, 2), (3, 1), (2, 3), (1, 3)),
    2: ((1, 3), (3, 2), (2, 1), (1, 2)),
    3: ((2, 1), (3, 1), (1, 3), (2, 3)),
}
ITEMS = dict(enumerate("Origin Variety Price Taste Safety Washfree Milling".split(), start=1))


def join_rows(header, rows):
    """Return the text of a table."""
    return "\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n"


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Write files in an empty folder; return the function that reads one with others."""
    monkeypatch.chdir(tmp_path)

    def read(answers, design=None, **options):
        """Read answers beside a design and labels."""
        (tmp_path / "answers.csv").write_text(answers)
        if design is not None:
            (tmp_path / "design.csv").write_text(design)
            options["design"] = tmp_path / "design.csv"
        (tmp_path / "items.csv").write_text(join_rows("number,item", ITEMS.items()))
        return read_data(tmp_path / "answers.csv", labels=tmp_path / "items.csv", **options)

    return read


def list_choices(data):
    """Return (respondent, sorted set, best, worst) of each answer, sorted."""
    answers = data.to_frame().groupby(["respondent", "choice_id"])
    return sorted(
        (
            str(person),
            tuple(sorted(rows["alternative"])),
            *(rows["alternative"][rows[role] == 1].item() for role in ("best", "worst")),
        )
        for (person, _), rows in answers
        for _ in range(int(rows["count"].iloc[0]))
    )


def expect_choices(item_numbers=SETS):
    """Return the choices by an own loop over the answers."""
    return sorted(
        (
            str(person),
            tuple(sorted(ITEMS[item] for item in items)),
            *(ITEMS[items[place - 1]] for place in places),
        )
        for person, answers in ANSWERS.items()
        for items, places in zip(item_numbers, answers, strict=True)
    )


def write_wide(header, by_number=False):
    """Return a table with a row a respondent; `header` names columns from {k} and {letter}."""
    names = [header.format(k=k, letter=letter) for k in range(1, 5) for letter in "bw"]
    rows = [
        (
            person,
            *(
                items[place - 1] if by_number else place
                for items, places in zip(SETS, answers, strict=True)
                for place in places
            ),
        )
        for person, answers in ANSWERS.items()
    ]
    return join_rows(",".join(["ID", *names]), rows)


R_MATRIX = join_rows('"","V1","V2","V3","V4"', [(k, *row) for k, row in enumerate(SETS, start=1)])
SAWTOOTH = join_rows(
    "Version,Set,Item1,Item2,Item3,Item4", [(1, k, *row) for k, row in enumerate(SETS, start=1)]
)


@pytest.mark.first(5)
@pytest.mark.parametrize("header", ["{letter}{k}", "MD_{k}_{letter}", "q{k}.{letter}"])
@pytest.mark.parametrize("by_number", [False, True], ids=["positions", "items"])
@pytest.mark.parametrize("design", [R_MATRIX, SAWTOOTH], ids=["R", "Sawtooth"])
def test_columns_of_best_and_worst_beside_a_design(files, header, by_number, design):
    data, sentence = files(write_wide(header, by_number), design)
    assert list_choices(data) == expect_choices()
    assert "answers in" in sentence and "matched to the design in design.csv" in sentence


def test_columns_of_best_and_worst_without_a_design_ask_for_it(files):
    with refused(DataError, "'B1', 'W1'", "which options each question offered", "`design`"):
        files(write_wide("{letter}{k}").replace("b", "B").replace("w", "W"))


VERSIONS = {"1": SETS, "2": tuple(tuple(8 - item for item in items) for items in SETS[::-1])}
VERSION_OF = {1: "1", 2: "2", 3: "2"}
TWO_VERSIONS = join_rows(
    "Version,Set,Item 1,Item 2,Item 3,Item 4",
    [(version, k, *row) for version, sets in VERSIONS.items() for k, row in enumerate(sets, 1)],
)
ITEM_ROWS = join_rows(
    "version,task,position,item",
    [
        (version, k, place, item)
        for version, sets in VERSIONS.items()
        for k, row in enumerate(sets, 1)
        for place, item in enumerate(row, 1)
    ],
)


def list_long_answers(by_number=False):
    """Return rows (respondent, version, set, best, worst), the last respondent's in reverse."""
    rows = []
    for person, answers in ANSWERS.items():
        version = VERSION_OF[person]
        numbered = list(enumerate(zip(VERSIONS[version], answers, strict=True), start=1))
        for k, (items, places) in numbered[:: -1 if person == 3 else 1]:
            marks = [items[place - 1] if by_number else place for place in places]
            rows.append((person, version, k, *marks))
    return rows


def expect_versions():
    """Return the choices of all respondents, each with the sets of its version."""
    choices = []
    for person, version in VERSION_OF.items():
        choices += [row for row in expect_choices(VERSIONS[version]) if row[0] == str(person)]
    return sorted(choices)


@pytest.mark.first(5)
@pytest.mark.parametrize("by_number", [False, True], ids=["positions", "items"])
@pytest.mark.parametrize("design", [TWO_VERSIONS, ITEM_ROWS], ids=["sets", "items in rows"])
@pytest.mark.parametrize(
    "header", ["sys_RespNum,Version,Set,Best,Worst", "id,sys_MaxDiffVersion_MD,task,most,least"]
)
def test_a_row_for_each_answer_beside_a_design_of_versions(files, header, by_number, design):
    data, sentence = files(join_rows(header, list_long_answers(by_number)), design)
    assert list_choices(data) == expect_versions()
    assert f"answers in {header.split(',')[3]!r}" in sentence


def test_answers_without_set_numbers_are_in_the_order_of_the_design(files):
    rows = [(person, version, *marks) for person, version, _, *marks in sorted(list_long_answers())]
    text = join_rows("respondent,version,best,worst", rows)
    assert list_choices(files(text, TWO_VERSIONS)[0]) == expect_versions()
    with refused(DataError, "'3' has 3 answers", "4 sets", "'task'"):
        files(join_rows("respondent,version,best,worst", rows[:-1]), TWO_VERSIONS)


@pytest.mark.parametrize(
    ("change", "facts"),
    [
        (lambda row: (row[0], "3", *row[2:]), ["Version '3'", "row 2"]),
        (lambda row: (*row[:2], 9, *row[3:]), ["Task '9'", "row 2"]),
        (lambda row: (*row[:3], 5, row[4]), ["'5'", "row 2", "'Best'"]),
    ],
)
def test_answers_about_other_sets_are_refused(files, change, facts):
    first_row, *rows = list_long_answers()
    text = join_rows("id,Version,Set,Best,Worst", [change(first_row), *rows])
    with refused(DataError, *facts):
        files(text, TWO_VERSIONS)


def test_best_and_worst_of_a_version_ask_for_the_design(files):
    with refused(DataError, "'Best' and 'Worst'", "`design`"):
        files(join_rows("id,Version,Set,Best,Worst", list_long_answers()))


def test_a_design_of_products_is_no_list_of_items(files):
    design = join_rows("task,alternative,price", [(k, a, a * k) for k in (1, 2) for a in (1, 2)])
    with refused(DataError, "2 tasks"):
        files(join_rows("id,task,best,worst", [(1, 1, 1, 2), (1, 2, 2, 1)]), design)


def test_weights_of_respondents_are_refused_with_the_way_out(tmp_path):
    file = tmp_path / "study.csv"
    file.write_text("weight,rank1,rank2,rank3\n1.5,tea,milk,rum\n0.5,milk,rum,tea\n")
    with refused(DataError, "'weight'", "such as 1.5", "without"):
        read_data(file)
    assert read_data(file, without=["weight"])[0].n_choices == 4


STACKED = [
    # id, task, kind, item, chosen: all items for the best, then the others for the worst
    (person, task, kind, item, int(item == answer))
    for person, task, items, best, worst in [
        (1, 1, (1, 2, 3), 1, 3),
        (1, 2, (2, 3, 4), 3, 4),
        (2, 1, (1, 2, 3), 2, 3),
        (2, 2, (2, 3, 4), 3, 2),
    ]
    for kind, answer in (("best", best), ("worst", worst))
    for item in items
    if kind == "best" or item != best
]


@pytest.mark.parametrize("words", [("best", "worst"), ("B", "W"), ("1", "-1"), ("Most", "Least")])
def test_stacked_rows_of_the_best_and_the_worst_are_one_set(files, words):
    """Marks of the worst counted as wins, and the column that tells them was unused."""
    word = dict(zip(("best", "worst"), words, strict=True))
    rows = [(person, task, word[kind], *marks) for person, task, kind, *marks in STACKED]
    data, _ = files(join_rows("id,task,type,item,chosen", rows))
    assert (data.n_answers, len(data.respondents), data.worst is not None) == (4, 2, True)
    assert list_choices(data) == [
        ("1", ("Origin", "Price", "Variety"), "Origin", "Price"),
        ("1", ("Price", "Taste", "Variety"), "Price", "Taste"),
        ("2", ("Origin", "Price", "Variety"), "Variety", "Price"),
        ("2", ("Price", "Taste", "Variety"), "Price", "Variety"),
    ]


@pytest.mark.parametrize("words", [("best", "worst"), ("1", "-1")])
def test_the_best_and_the_worst_in_sets_of_their_own_are_asked_about(files, words):
    word = dict(zip(("best", "worst"), words, strict=True))
    rows = [
        (person, 2 * task - (kind == "best"), word[kind], *marks)
        for person, task, kind, *marks in STACKED
    ]
    with refused(DataError, "'sign'", "'task'", "`without`"):
        files(join_rows("id,task,sign,item,chosen", rows))
    data, _ = files(join_rows("id,task,sign,item,chosen", rows), without=["sign"])
    assert (data.n_answers, data.worst) == (8, None)
    of_persons = [(person, task, 2 * person - 3, *marks) for person, task, _, *marks in rows]
    data, _ = files(join_rows("id,task,sign,item,chosen", of_persons))
    assert (data.n_answers, data.worst) == (8, None)


@pytest.mark.parametrize("levels", [(10, 20, 30), ("x", "y", "z")])
def test_levels_of_products_are_no_options_listed_twice(levels):
    """The best of three described products is a choice of an experiment."""
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"id": np.repeat(range(6), 5), "task": [1, 2, 3, 4, 5] * 6})
    for k in (1, 2, 3):
        frame[f"price_{k}"] = rng.choice(levels, 30)
        frame[f"size_{k}"] = rng.choice(["S", "L"], 30)
    frame = frame.assign(best=rng.choice([1, 2, 3], 30))
    frame = frame.assign(worst=frame["best"] % 3 + 1)
    with refused(DataError, "'price_1'", "'size_3'", Argument("chosen")):
        th.read(frame)
    assert th.read(frame, chosen="best").attributes == ("price", "size")


def test_questions_beside_their_options_are_written_as_rows():
    parts = ("item1", "item2", "item3", "b", "w")
    header = [f"MD_{question}_{part}" for question in (1, 2) for part in parts]
    rows = [[1, *"ACBAB", *"BDCDC"], [2, *"BCABA", *"CDACA"], [3, *"CDACD", *"DBABD"]]
    rows = [*rows, [4, *"DABBA", *"ACDDC"]]
    frame = pd.DataFrame(rows, columns=["id", *header])
    with refused(DataError, "'MD_1_b'", "one row per question", "'option1'"):
        th.read(frame)
    frames = [frame[["id", *frame.filter(like=f"MD_{k}_")]] for k in (1, 2)]
    names = ["id", "option1", "option2", "option3", "best", "worst"]
    data = th.read(pd.concat([table.set_axis(names, axis=1) for table in frames]))
    assert data.n_choices == 8
