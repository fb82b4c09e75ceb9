"""Tables of similar objects as programs and platforms write them: triplets, sorts, ratings."""

import io

import pandas as pd
import pytest
from helpers.sentences import refused

import thali as th
from thali.errors import DataError


def read(text, **columns):
    return th.read(pd.read_csv(io.StringIO(text)), **columns)


# Triplets with an anchor and the nearer of two objects


NEARER = ["milk rum", "milk rum", "milk tea"]  # the similar pairs in all the tables below


def list_nearest(data):
    pairs = zip(data.first, data.second, data.counts, strict=True)
    return sorted(
        " ".join(sorted((data.labels[i], data.labels[j])))
        for i, j, n in pairs
        for _ in range(int(n))
    )


ANCHORED = {
    "head,left,right,winner,loser": "tea,milk,rum,milk,rum\nrum,tea,milk,milk,tea\nmilk,rum,tea,rum,tea\n",
    "Center,Left,Right,Answer": "tea,milk,rum,milk\nrum,tea,milk,milk\nmilk,rum,tea,rum\n",
    "left,right,query,response": "milk,rum,tea,left\ntea,milk,rum,right\nrum,tea,milk,left\n",
    "target,option1,option2,choice": "tea,milk,rum,1\nrum,tea,milk,2\nmilk,rum,tea,1\n",
    "probe,a,b,more_similar": "tea,milk,rum,milk\nrum,tea,milk,milk\nmilk,rum,tea,rum\n",
}


@pytest.mark.parametrize("header", ANCHORED)
def test_an_anchor_beside_two_objects_is_a_triplet(header):
    data = read(f"{header}\n{ANCHORED[header]}")
    assert isinstance(data, th.Triplets)
    assert list_nearest(data) == NEARER


@pytest.mark.parametrize("answer", ["winner,loser", "left,right,resp"])
def test_an_unnamed_anchor_is_asked_about(answer):
    cells = {"winner,loser": ("milk,rum", "milk,tea", "rum,tea")}.get(
        answer, ("milk,rum,left", "tea,milk,right", "tea,rum,right")
    )
    rows = zip(("tea", "rum", "milk"), cells, strict=True)
    text = f"shown,{answer}\n" + "".join(f"{a},{b}\n" for a, b in rows)
    with refused(DataError, "'shown'", "`anchor='shown'`", "without"):
        read(text)
    for arguments in ({"anchor": "shown"}, {"kind": "triplets"}):
        assert list_nearest(read(text, **arguments)) == NEARER
    assert isinstance(read(text, without="shown"), th.PairedComparisons)


def test_answers_about_an_anchor_may_need_a_coding():
    text = "head,left,right,resp\ntea,milk,rum,0\nrum,tea,milk,1\nmilk,rum,tea,0\n"
    with refused(DataError, "'resp'", "0 and 1", "`coding`"):
        read(text)
    data = read(text, coding={"0": "left", "1": "right"})
    assert list_nearest(data) == NEARER


def test_a_reference_that_is_one_of_the_two_is_no_anchor():
    correct = "target,left,right,chosen\nmilk,milk,rum,milk\ntea,tea,milk,milk\nrum,tea,rum,tea\n"
    assert isinstance(read(correct), th.PairedComparisons)
    judged_by_peers = "judge,left,right,winner\nann,bob,cat,bob\nbob,cat,ann,ann\ncat,ann,bob,ann\n"
    assert read(judged_by_peers).respondents == ("ann", "bob", "cat")


# Positions and ranks have the same names: first, second; pos1, pos2

PLACES = ["first,second,third", "pos1,pos2,pos3", "Position 1,Position 2,Position 3"]
ODD_ROWS = ["tea,milk,rum,rum", "milk,rum,wine,wine", "rum,tea,wine,tea", "wine,tea,milk,wine"]


@pytest.mark.parametrize("places", PLACES)
@pytest.mark.parametrize("answer", ["odd", "odd_one_out"])
def test_the_odd_one_out_of_three_positions_is_no_ranking(places, answer):
    data = read("\n".join([f"{places},{answer}", *ODD_ROWS]))
    assert list_nearest(data) == ["milk rum", "milk tea", "milk tea", "rum wine"]


@pytest.mark.parametrize("places", PLACES[1:])
def test_an_answer_that_is_at_different_positions_is_asked_about(places):
    with refused(DataError, "choices from sets", "odd one out", "`kind='triplets'`"):
        read("\n".join([f"{places},choice", *ODD_ROWS]))


def test_the_first_of_a_ranking_may_be_repeated():
    rows = [f"{row.rpartition(',')[0]},{row.partition(',')[0]}" for row in ODD_ROWS]
    data = read("\n".join(["rank1,rank2,rank3,choice", *rows]))
    assert isinstance(data, th.Choices)
    assert data.counts.sum() == 2 * len(rows)


def test_an_option_named_beside_complete_rankings_is_no_answer():
    rows = ["tea,milk,rum,milk", "rum,tea,milk,tea", "milk,rum,tea,rum", "tea,rum,milk,tea"]
    data = read("\n".join(["rank1,rank2,rank3,owns", *rows]))
    assert isinstance(data, th.Choices)
    assert data.counts.sum() == 2 * len(rows)


# Card sorts

SORTS = {  # tea and milk are together for both respondents, rum is with them for one
    "uniqueid,starttime,card index,card label,category index,category label": "7,10:05,1,tea,1,hot\n"
    "7,10:05,2,milk,1,hot\n7,10:05,3,rum,2,cold\n9,11:00,1,tea,1,all\n9,11:00,2,milk,1,all\n"
    "9,11:00,3,rum,1,all\n9,11:00,4,water,2,free\n7,10:05,4,water,2,cold\n",
    "Assessor,Product,Cluster": "1,tea,1\n1,milk,1\n1,rum,2\n1,water,2\n2,tea,3\n2,milk,3\n2,rum,3\n"
    "2,water,1\n",
    "Login,tea,milk,rum,water": "ann,hot,hot,cold,cold\nbob,warm,warm,warm,free\n",
    "id,sex,tea,milk,rum,water": "1,male,hot,hot,cold,cold\n2,female,warm,warm,warm,free\n",
}


def map_similarities(data):
    pairs = zip(data.first, data.second, data.values, strict=True)
    return {f"{data.labels[i]} {data.labels[j]}": float(value) for i, j, value in pairs}


@pytest.mark.parametrize("header", SORTS)
def test_card_sorts_of_programs_are_read(header):
    similarities = map_similarities(read(f"{header}\n{SORTS[header]}"))
    assert similarities["tea milk"] == 1.0
    assert (similarities["tea rum"], similarities["tea water"]) == (0.5, 0.0)


def test_groups_of_judges_in_columns_are_asked_about():
    groups = "product,J1,J2\ntea,1,2\nmilk,1,2\nrum,2,2\nwater,2,1\n"
    with refused(DataError, "'product'", "'J1' and 'J2'", "ratings", "`card`"):
        read(groups)
    similarities = map_similarities(read(groups, card="product"))
    assert similarities["tea milk"] == 1.0
    assert (similarities["tea rum"], similarities["tea water"]) == (0.5, 0.0)


def test_the_category_of_an_item_is_no_sort():
    rows = [f"{k},{item},{4 + k}\n" for k in (1, 2) for item in ("cat,pet", "dog,pet", "car,thing")]
    ratings = "subject,item,group,rating\n" + "".join(rows)
    with refused(DataError, "'group'", "'item'", "without", "`card_group`"):
        read(ratings)
    assert map_similarities(read(ratings, card_group="group"))["cat dog"] == 1.0


def test_answers_on_a_scale_are_no_sort():
    answers = (
        "id,clear,useful,fun,easy\n1,agree,agree,neutral,agree\n2,disagree,agree,agree,neutral\n"
    )
    with refused(DataError, "do not match any known layout"):
        read(answers)
    with refused(DataError, "do not match any known layout"):  # one letter may be any code
        read(answers.replace("neutral", "n"))


# Similarity ratings

SIMLEX = """word1,word2,POS,SimLex999,conc(w1),conc(w2),concQ,Assoc(USF),SimAssoc333,SD(SimLex)
old,new,A,1.58,2.72,2.81,2,7.25,1,0.41
old,rough,A,2.3,2.72,3.9,3,0.2,0,1.2
old,happy,A,1.9,2.72,2.5,1,0.1,0,0.9
new,rough,A,3.05,2.81,3.9,4,1.5,1,0.7
"""


def test_the_similarity_is_one_column_of_several():
    similarities = map_similarities(read(SIMLEX))
    assert (similarities["old new"], similarities["new rough"]) == (1.58, 3.05)
    assert map_similarities(read(SIMLEX, similarity="Assoc(USF)"))["old new"] == 7.25
    several = SIMLEX.replace("Assoc(USF)", "sim_lsa")
    with refused(DataError, "'SimLex999', 'sim_lsa'", "`similarity`"):
        read(several)
    assert map_similarities(read(several, similarity="sim_lsa"))["old new"] == 7.25


def test_columns_of_similarities_may_have_any_name():
    data = read("x,y,z\na,b,1\nb,c,2\na,c,4\n", first="x", second="y", similarity="z")
    assert map_similarities(data) == {"a b": 1.0, "a c": 4.0, "b c": 2.0}


RATINGS = "id,cat_dog,cat_cow,dog_cow\n1,7,5,6\n2,8,4,6\n3,7,6,5\n"


def test_ratings_with_a_column_a_pair_are_similarities():
    data = read(RATINGS)
    assert map_similarities(data) == {
        "cat dog": pytest.approx(22 / 3),
        "cat cow": 5,
        "dog cow": 17 / 3,
    }
    assert data.answers.respondents == ("1", "2", "3")
    distances = map_similarities(read(RATINGS, dissimilarities="linear"))
    assert distances["cat dog"] < distances["cat cow"]
    # codes of choices, and comparisons, are no ratings
    choices = RATINGS.translate(str.maketrans("45678", "12122"))
    assert isinstance(read(choices), th.PairedComparisons)
    with pytest.raises(DataError):
        read(choices.replace("3,2,1,2", "3,2,1,9"))
    with pytest.raises(DataError):
        read(RATINGS.replace("_", "_vs_"))


@pytest.mark.parametrize("others", ["total_time", "att_check,total_time", "page_time,page_clicks"])
def test_other_names_of_two_words_are_no_rated_pairs(others):
    header, *rows = RATINGS.splitlines()
    cells = ",".join(str(512 + k) for k in range(others.count(",") + 1))
    text = "\n".join([f"{header},{others}", *(f"{row},{cells}" for row in rows)])
    data = read(text)
    assert data == read(RATINGS) and "not used" in data.read_as
    with pytest.raises(DataError):
        read(text.replace("dog_cow", "dog_pig"))


RATERS = "word1,word2,rater_1,rater_2,rater_3\ncat,dog,7,8,7\ncat,cow,5,4,6\ndog,cow,6,6,5\n"


def test_ratings_with_a_column_a_respondent_are_similarities():
    data = read(RATERS)
    assert map_similarities(data) == map_similarities(read(RATINGS))
    assert data.answers.respondents == ("rater_1", "rater_2", "rater_3")
    # a mean beside them is the similarity, and columns of attributes are no ratings
    assert map_similarities(read(RATERS.replace("rater_3", "similarity")))["cat cow"] == 6
    with pytest.raises(DataError):
        read(RATERS.replace("rater_", "length_"))


def test_piles_list_their_cards():
    piles = "subject,pile,cards\n1,1,cat; dog\n1,2,car;bus\n2,1,cat;dog;bus;\n2,2,car\n"
    shares = map_similarities(read(piles))
    assert (shares["cat dog"], shares["car bus"], shares["cat car"]) == (1, 0.5, 0)


def test_numbers_of_both_signs_are_a_question():
    slider = "item_a,item_b,rating\ncat,dog,-80\ncat,cow,55\ndog,cow,20\n"
    with refused(DataError, "from -80 to 55", "'item_a'", "similarity"):
        read(slider)
    assert map_similarities(read(slider, similarity="rating"))["cat dog"] == -80
    with refused(
        DataError,
        "or the trial was a tie, instead of the positive and negative numbers in 'slider'",
    ):
        read(slider.replace("item_a,item_b,rating", "left,right,slider"))


def test_a_table_without_a_header_is_refused_with_the_reason():
    with refused(DataError, "'cat', 'dog' and '7.5', looks like a row of data"):
        read("cat,dog,7.5\ncat,cow,5\ncow,dog,6\n")


# Squares of distances, and of shares of common groups


def test_distances_are_recognised_by_their_diagonal_and_detours():
    cities = ",Oslo,Bern,Rome\nOslo,0,1500,2000\nBern,1500,0,700\nRome,2000,700,0\n"
    data = read(cities)
    assert map_similarities(data) == {"Oslo Bern": 500, "Oslo Rome": 0, "Bern Rome": 1300}
    assert "dissimilarities (linear), because the diagonal is 0" in data.read_as
    assert map_similarities(read(cities, dissimilarities="exponential"))["Oslo Rome"] > 0
    with pytest.raises(DataError):  # times together, with a diagonal that was not counted
        read(",a,b,c,d\na,0,9,1,2\nb,9,0,2,1\nc,1,2,0,8\nd,2,1,8,0\n")
    with pytest.raises(DataError):  # a question of a board
        th.leaderboard(pd.read_csv(io.StringIO(cities), index_col=0))


def test_confusions_need_no_equal_sums():
    with refused(DataError, "confusion matrix"):
        read(",a,b,c\na,9,5,1\nb,5,9,2\nc,3,2,8\n")


@pytest.mark.parametrize(
    "names", ["id,a,b,response", "vp,word1,word2,resp", "observer,left,right,resp"]
)
def test_numbers_of_respondents_are_no_similarities(names):
    pairs = ["tea,milk", "tea,rum", "milk,rum"]
    ratings = {"tea,milk": 5, "tea,rum": 2, "milk,rum": 7}
    rows = "\n".join(f"{k},{pair},{ratings[pair]}" for k in range(10, 30) for pair in pairs)
    data = read(f"{names}\n{rows}", kind="similarities")
    assert sorted(data.values) == [2, 5, 7]
    unclear = f"code,word1,word2,answer\n{rows}"
    with refused(DataError, "'code'", "'answer'", "`similarity`"):
        read(unclear, kind="similarities")
    assert sorted(read(unclear, similarity="answer").values) == [2, 5, 7]
