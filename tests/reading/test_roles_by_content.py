"""Roles that the cells of a column show, where its name does not."""

import io

import pandas as pd
import pytest
from helpers.sentences import refused

import thali as th
from thali.errors import DataError

MODES = """traveler,mode,choice,cost,income
1,air,0,10,30
1,bus,1,20,30
2,air,1,15,40
2,bus,0,20,40
3,air,0,10,50
3,bus,1,25,50
"""
PROFILES = """CaseID,contest_no,Job,Language,Chosen_Immigrant
1,1,nurse,fluent,1
1,1,doctor,broken,0
1,2,janitor,fluent,0
1,2,nurse,broken,1
2,1,doctor,fluent,1
2,1,janitor,broken,0
2,2,nurse,fluent,0
2,2,doctor,broken,1
"""
FRUIT = """subject,trial,item,position,chosen
1,1,apple,1,0
1,1,cherry,2,1
1,2,cherry,1,1
1,2,date,2,0
2,1,date,1,0
2,1,apple,2,1
2,2,apple,1,1
2,2,cherry,2,0
"""


def frame(text):
    return pd.read_csv(io.StringIO(text))


def read(text, **columns):
    return th.read(frame(text), **columns)


def test_respondents_with_one_choice_are_tasks():
    data = read(MODES.replace("traveler", "individual"))
    assert (data.n_respondents, data.n_tasks) == (3, 3)
    assert data.attributes == ("mode", "cost")


def test_an_experiment_needs_no_column_of_alternatives():
    data = read(PROFILES)
    assert (data.n_respondents, data.n_tasks) == (2, 4)
    assert data.attributes == ("Job", "Language")


def test_the_choice_is_the_column_with_one_yes_in_each_task():
    assert read(PROFILES).scheme.chosen == "Chosen_Immigrant"
    # an attribute may also be 1 once in each task
    with refused(DataError, "chosen"):
        read(PROFILES.replace("Chosen_Immigrant", "nurse"))
    # a column of that name decides, whatever other columns contain
    with refused(DataError, "2 alternatives"):
        read(
            PROFILES.replace("Chosen_Immigrant", "chosen").replace(
                "doctor,broken,0", "doctor,broken,1"
            )
        )


def test_what_differs_between_tasks_for_one_alternative_makes_an_experiment():
    assert isinstance(read(FRUIT), th.Choices)
    looks = FRUIT.replace("position", "dwell_ms").replace("apple,1,", "apple,731,")
    assert isinstance(read(looks), th.Choices)
    priced = FRUIT.replace("position", "price").replace("apple,1,", "apple,3,")
    assert isinstance(read(priced), th.ChoiceExperiment)


def test_the_name_of_a_column_does_not_change_the_kind():
    for alternative in (None, "item"):
        data = read(
            FRUIT.replace("position", "price").replace("apple,1,", "apple,3,"),
            alternative=alternative,
        )
        assert isinstance(data, th.ChoiceExperiment)


def test_an_identifier_of_products_is_no_attribute():
    products = PROFILES.replace("Language", "profileID")
    for place, (job, language) in enumerate([("nurse", "fluent"), ("doctor", "broken")]):
        products = products.replace(f"{job},{language}", f"{job},{10 + place}")
    products = products.replace("nurse,broken", "nurse,10").replace("doctor,fluent", "doctor,11")
    products = products.replace("janitor,fluent", "janitor,12").replace(
        "janitor,broken", "janitor,12"
    )
    data = read(products)
    assert data.attributes == ("Job",)
    assert "profileID" in data.read_as


def test_zeros_after_the_last_choice_are_no_option():
    data = read("rank1,rank2,rank3\n1,2,0\n2,3,0\n3,0,0\n")
    assert data.labels == ("1", "2", "3")
    # an option called 0 is ranked before others
    assert "0" in read("rank1,rank2,rank3\n1,0,2\n0,1,2\n2,1,0\n").labels


def test_an_option_beside_the_two_is_asked_about():
    trials = "shown,left,right,response\nbrick,wall,dog,left\ndog,brick,wall,right\nwall,dog,brick,left\n"
    with refused(DataError, "'shown'", "'left' and 'right'", "triplets", "anchor", "without"):
        read(trials)
    assert isinstance(read(trials, without="shown"), th.PairedComparisons)
    assert isinstance(read(trials, anchor="shown"), th.Triplets)


@pytest.mark.parametrize(
    ("winner", "loser"),
    [("chosen_model", "rejected_model"), ("WTeamID", "LTeamID"), ("winner_name", "loser_name")],
)
def test_winner_and_loser_may_have_a_second_word(winner, loser):
    data = read(f"vote,{winner},{loser}\n0,a,b\n1,a,c\n2,c,b\n")
    assert data.labels == ("a", "b", "c")
    assert data.read_as.startswith(f"long table, {winner!r} chosen over {loser!r}")


def test_the_chosen_option_is_found_by_its_cells():
    data = read("left_text,right_text,selected_text\na,b,a\nb,c,c\nc,a,a\n")
    assert data.n_comparisons == 3
    # the answer of another question is not in every row one of the two
    with pytest.raises(DataError):
        read("left_text,right_text,last_text\na,b,a\nb,c,a\nc,a,a\n")
