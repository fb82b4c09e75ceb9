"""MaxDiff files of programs: answers in one file, sets in another, items as numbers."""

import pytest
from helpers.sentences import refused

from thali._reading.layout_recognition import read_data
from thali.errors import DataError

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


@pytest.mark.parametrize("header", ["{letter}{k}", "MD_{k}_{letter}", "MaxDiff1_{letter}_{k}"])
@pytest.mark.parametrize("by_number", [False, True], ids=["positions", "items"])
@pytest.mark.parametrize("design", [R_MATRIX, SAWTOOTH], ids=["R", "Sawtooth"])
def test_columns_of_best_and_worst_beside_a_design(files, header, by_number, design):
    data, sentence = files(write_wide(header, by_number), design)
    assert list_choices(data) == expect_choices()
    assert "answers in" in sentence and "matched to the design in design.csv" in sentence


def test_columns_of_best_and_worst_without_a_design_ask_for_it(files):
    with refused(DataError, "'B1', 'W1'", "does not contain the questions", "`design`"):
        files(write_wide("{letter}{k}").replace("b", "B").replace("w", "W"))
