"""Tables of pairs, sets and rankings whose columns are known by their cells."""

import io

import pandas as pd
import pytest
from helpers.sentences import refused

import thali as th
from thali.errors import DataError

SETS = [("tea", "rum", "gin"), ("gin", "tea", "ale"), ("ale", "rum", "tea"), ("rum", "gin", "ale")]
PLACES = (0, 1, 2, 1)  # of the chosen options: tea, tea, tea, gin


def read(text, **columns):
    return th.read(pd.read_csv(io.StringIO(text)), **columns)


def table(header, rows):
    return "\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n"


def sets(header, answers):
    return table(header, [(*row, answer) for row, answer in zip(SETS, answers, strict=True)])


def counted(data):
    """How often each option was chosen."""
    totals = dict.fromkeys(data.labels, 0.0)
    for place, times in zip(data.choice, data.times, strict=True):
        totals[data.labels[data.members[place]]] += times
    return totals


@pytest.mark.parametrize(
    ("header", "answers"),
    [
        ("option1,option2,option3,chosen", None),
        ("alternative1,alternative2,alternative3,response", (1, 2, 3, 2)),
        ("item1,item2,item3,picked_item", None),
        ("a,b,c,choice", "abcb"),
        ("A,B,C,answer", "ABCB"),
        ("option_1,option_2,option_3,selected", ("option_1", "option_2", "option_3", "option_2")),
        ("option1,option2,option3,choice", (0, 1, 2, 1)),
        ("option0,option1,option2,choice", (0, 1, 2, 1)),
        ("left,middle,right,response", ("left", "middle", "right", "middle")),
        ("left_img,center_img,right_img,response", ("left", "center", "right", "center")),
        ("first,second,third,choice", None),
        ("choice1,choice2,choice3,winner", None),
        ("model_a,model_b,model_c,winner", ("model_a", "model_b", "model_c", "model_b")),
    ],
)
def test_a_series_of_columns_is_the_set(header, answers):
    labels = [row[place] for row, place in zip(SETS, PLACES, strict=True)]
    data = read(sets(header, answers or labels))
    assert isinstance(data, th.Choices)
    assert counted(data) == {"tea": 3, "gin": 1, "rum": 0, "ale": 0}
    assert set(data.sizes) == {3}


def test_numbers_are_options_unless_a_row_repeats_them():
    ids = "item1,item2,item3,chosen\n12,15,11,1\n15,14,12,2\n11,12,14,2\n"
    assert counted(read(ids)) == {"11": 0, "12": 2, "14": 1, "15": 0}
    with pytest.raises(DataError):
        read(ids.replace("12,15,11", "12,12,11"))  # ratings, and the item that was chosen
    prices = ids.replace("item", "price_").replace("chosen", "choice")
    assert isinstance(read(prices), th.ChoiceExperiment)


def test_empty_cells_shorten_a_set():
    data = read(sets("option1,option2,option3,chosen", (1, 2, 3, 2)).replace("rum,gin,1", "rum,,1"))
    assert sorted(set(data.sizes)) == [2, 3]


def test_a_cell_that_was_not_offered_is_named_with_its_row():
    text = sets("option1,option2,option3,chosen", ("tea", "tea", "tea", "none"))
    with refused(DataError, "'none'", "row 3", "where"):
        read(text)
    assert read(text, where="'chosen' != 'none'").n_choices == 3


def test_two_choices_from_a_set_are_no_ranking():
    text = table(
        "query,ref1,ref2,ref3,choice1,choice2",
        [("ale", *SETS[0], "tea", "gin"), ("rum", *SETS[1], "tea", "ale")],
    )
    with refused(DataError, "'choice1'", "'ref2'", "without=['choice2', 'query']"):
        read(text)
    assert read(text, without=["choice2", "query"]).n_choices == 2
