"""Tables of pairs, sets and rankings whose columns are known by their cells."""

import io
from itertools import permutations

import pandas as pd
import pytest
from helpers.sentences import refused

import thali as th
from thali.errors import DataError, DataWarning

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


def won(data):
    """Wins of each option, and ties."""
    totals = dict.fromkeys(data.labels, 0.0)
    for first, second, wins, losses in zip(
        data.first, data.second, data.wins, data.losses, strict=True
    ):
        totals[data.labels[first]] += wins
        totals[data.labels[second]] += losses
    return totals, data.n_ties


@pytest.mark.parametrize(
    ("header", "first", "second", "tie"),
    [
        ("Item X,Item Y,Winner", "x", "y", "tie"),
        ("model_a,model_b,verdict", "[[A>>B]]", "[[B>A]]", "[[A=B]]"),
        ("model_a,model_b,score", "A>B", "B>>A", "A=B"),
        ("model_a,model_b,verdict", "[[A]]", "[[B]]", "[[C]]"),
        ("left,right,response", 1, 2, 1.5),
        ("team1,team2,result", 1, 2, "X"),
        ("Input.image_a,Input.image_b,Answer.choice", "image_a", "image_b", "tie"),
        ("INPUT:left,INPUT:right,OUTPUT:result", "left", "right", "same"),
        ("challenger,champion,winner", "tea", "gin", "tie"),
        ("caption_0,caption_1,choice", 0, 1, "tie"),
    ],
)
def test_verdicts_name_an_option_or_its_column(header, first, second, tie):
    rows = [("tea", "rum", first), ("rum", "gin", second), ("gin", "tea", tie)]
    assert won(read(table(header, rows))) == ({"tea": 1, "rum": 0, "gin": 1}, 1)


def test_numbers_within_names_of_columns_are_sides():
    names = dict(first="answer_0_source", second="answer_1_source", chosen="better_id")
    rows = [("tea", "rum", 0), ("rum", "gin", 1), ("gin", "tea", 0)]
    data = read(table(",".join(names.values()), rows), **names)
    assert won(data) == ({"tea": 1, "rum": 0, "gin": 2}, 0)


@pytest.mark.parametrize(
    ("header", "of_first", "of_second"),
    [
        ("left,right,left_chosen", 1, 0),
        ("left,right,chose_right", False, True),
        ("HOME_TEAM_ID,VISITOR_TEAM_ID,HOME_TEAM_WINS", 1, 0),
        ("home,away,away_win", 0, 1),
        ("home,away,home_goals,away_goals,result", "4,1,3", "1,9,-8"),
        ("Visitor/Neutral,Home/Neutral,PTS,PTS.1", "97,90", "88,96"),
        ("home_team_api_id,away_team_api_id,home_team_goal,away_team_goal", "2,1", "0,2"),
    ],
)
def test_marks_of_a_side_and_points_are_outcomes(header, of_first, of_second):
    tea, rum, gin = ("tea", "rum", "gin") if "id," not in header.casefold() else (11, 12, 13)
    outcomes = [of_first, of_second, of_first, of_first, of_second]
    pairs = [(tea, rum), (rum, gin), (gin, tea), (tea, rum), (rum, tea)]
    rows = [(*pair, outcome) for pair, outcome in zip(pairs, outcomes, strict=True)]
    assert won(read(table(header, rows))) == ({str(tea): 3, str(rum): 0, str(gin): 2}, 0)


@pytest.mark.parametrize(
    "header",
    ["first,second,n_first,n_second", "label_0,label_1,count_0,count_1", "a,b,votes_a,votes_b"],
)
def test_counts_have_the_names_of_the_sides(header):
    assert won(read(table(header, [("tea", "rum", 3, 1), ("rum", "gin", 2, 5)]))) == (
        {"tea": 3, "rum": 3, "gin": 5},
        0,
    )


@pytest.mark.parametrize(
    "header",
    ["winner_url,rank,loser_url", "winning_team,rank,losing_team", "pos_text,rank,neg_text"],
)
def test_a_second_word_of_winner_and_loser_may_be_any(header):
    rows = [("tea", 1, "rum"), ("rum", 2, "gin")]
    assert won(read(table(header, rows)))[0] == {"tea": 1, "rum": 1, "gin": 0}
    scores = table("winner_rank,day,loser_rank", [(3, 1, 5), (5, 2, 4)])
    with pytest.raises(DataError):
        read(scores)


def test_cited_journals_win_and_themselves_are_left_out():
    rows = [("JASA", "JASA", 9), ("JASA", "JRSS", 4), ("JRSS", "JASA", 1)]
    with pytest.warns(DataWarning, match="itself"):
        data = th.PairedComparisons.from_frame(
            pd.read_csv(io.StringIO(table("cited,citing,Freq", rows)))
        )
    assert won(data)[0] == {"JASA": 4, "JRSS": 1}


def test_two_judgements_of_a_pair_are_asked_about():
    text = table(
        "model_1,model_2,g1_winner,g2_winner",
        [("tea", "rum", "model_1", "model_1"), ("rum", "gin", "model_2", "model_2")],
    )
    with refused(DataError, "'g1_winner' and 'g2_winner'", "chosen"):
        read(text)
    assert won(read(text, chosen="g2_winner"))[0] == {"tea": 1, "rum": 0, "gin": 1}


def test_pairs_of_names_with_one_stem_are_marked_for_the_first():
    assert won(read("i1i2,i1i3,i2i3\n1,1,0\n0,1,0\n")) == ({"i1": 3, "i2": 1, "i3": 2}, 0)


RANKED = "{0},first choice,second choice,third choice\n5,tea,rum,gin\n3,rum,tea,gin\n"


@pytest.mark.parametrize("name", ["votes", "ballots", "voters", "n_voters", "num_votes", "number"])
def test_votes_beside_rankings_are_counts(name):
    assert counted(read(RANKED.format(name))) == {"tea": 8, "rum": 8, "gin": 0}
    assert counted(read(f"{name},ranking\n5,tea>rum>gin\n3,rum>tea>gin\n"))["tea"] == 8
    numbered = RANKED.format(name).replace("5,", "1,").replace("3,", "2,") + "3,gin,rum,tea\n"
    assert read(numbered).n_choices == 6  # row numbers


def test_mean_ranks_are_ties():
    means = read("judge,A,B,C,D\n1,1,2.5,2.5,4\n2,1.5,1.5,3,4\n3,2,1,3,4\n")
    assert means == read("judge,A,B,C,D\n1,1,2,2,4\n2,1,1,3,4\n3,2,1,3,4\n")
    partial = read("judge,A,B,C,D\n1,1,2.5,2.5,\n2,1.5,1.5,,3\n3,2,,1,\n4,2,2,,2\n")
    texts = "judge,ranking\n1,A > B = C\n2,A = B > D\n3,C > A\n"
    assert counted(partial) == counted(read(texts)) and partial.n_choices == 3


RACES = {
    "Bahrain": ("1", "2", "DNF", "3"),
    "Jeddah": ("DSQ", "1", "2", "3"),
    "Melbourne": ("1", "T2", "2=", "4"),
    "Monaco": ("Ret", "WD", "1", "DNS"),
    "Spa": ("1", "", "3", "2"),
}
DRIVERS = ("Verstappen", "Hamilton", "Leclerc", "Norris")


def test_places_in_sports_are_ranks_in_a_column_per_option():
    wide = read(table(",".join(("race", *DRIVERS)), [(race, *row) for race, row in RACES.items()]))
    rows = [
        (race, driver, place)
        for race, places in RACES.items()
        for driver, place in zip(DRIVERS, places, strict=True)
    ]
    long = read(table("race,driver,position", rows))
    assert counted(wide) == counted(long)
    numbers = dict(zip(("DNF", "T2", "2=", "Ret", "WD", "DNS"), (4, 2, 2, 2, 2, ""), strict=True))
    numbers["DSQ"] = 4
    plain_rows = [(race, driver, numbers.get(place, place)) for race, driver, place in rows]
    assert counted(wide) == counted(read(table("race,driver,position", plain_rows)))
    for data in (wide, long):
        assert "4 options with 'DNF', 'DSQ', 'Ret' and 'WD' ranked last" in data.read_as
        assert "1 option with 'DNS' not ranked" in data.read_as


def test_a_part_of_a_battery_is_no_ranking():
    sorts = "judge,ale,bock,cider,stout,lager,wheat\n"
    rows = ["1,1,2,3,1,2", "1,1,2,1,3,3", "2,1,1,2,2,3", "1,1,3,2,1,3", "1,2,3,2,1,3"]
    text = sorts + "".join(f"J{k},{row}\n" for k, row in enumerate(rows))
    with refused(DataError, "'ale', 'bock' and 'wheat'", "'cider', 'stout' and 'lager'"):
        read(text)
    assert read(text, without=["ale", "bock", "wheat"]).n_choices == 9


def test_halves_in_a_round_robin_are_draws():
    text = ",An,Bo,Cy\nAn,x,1,½\nBo,0,x,1\nCy,½,0,x\n"
    assert won(read(text)) == ({"An": 1, "Bo": 1, "Cy": 0}, 1)
    assert read(text.replace("½", "0.5").replace("x", "*")) == read(text)
    with refused(DataError, "'An'", "weights"):
        read(text.replace("½", "1½"))


@pytest.mark.parametrize("lists", ["{};{}", "{}|{}", "\"['{}', '{}']\""])
def test_lists_of_options_are_sets(lists):
    rows = [("tea", lists.format("tea", "rum")), ("gin", lists.format("rum", "gin"))]
    longer = ("gin", lists.format("tea", lists.strip('"[]').format("rum", "gin")))
    data = read(table("choice,offered", [*rows, longer]))
    assert counted(data) == {"tea": 1, "rum": 0, "gin": 2}
    assert sorted(set(data.sizes)) == [2, 3]


LISTS = [*"|;,>", "['{}', '{}', '{}']", '["{}", "{}", "{}"]', '"{}"; "{}"; "{}"']
LISTS += ["{{{},{},{}}}", "1) {}, 2) {}, 3) {}", "1. {}; 2. {}; 3. {}", "1: {}, 2: {}, 3: {}"]
LISTS += ["1. {} 2. {} 3. {}", "(1) {}\n(2) {}\n(3) {}", "1-{}, 2-{}, 3-{}", "#1 {}, #2 {}, #3 {}"]
LISTS += [
    "1st: {}; 2nd: {}; 3rd: {};",
    "{}, then {}, then {}",
    '{{"1": "{}", "2": "{}", "3": "{}"}}',
]


@pytest.mark.parametrize("lists", LISTS)
@pytest.mark.parametrize("name", ["ranking", "ballot"])
def test_labels_of_ranked_lists_have_no_brackets_quotes_and_places(lists, name):
    if len(lists) == 1:
        lists = f" {lists} ".join(["{}"] * 3)
    orders = [("tea", "gin (dry)", "rum"), ("rum", "tea", "gin (dry)"), ("tea", "rum", "gin (dry)")]
    data = th.read(pd.DataFrame({"id": [*"abc"], name: [lists.format(*order) for order in orders]}))
    assert data == th.read(pd.DataFrame({"id": [*"abc"], name: list(map(" > ".join, orders))}))


@pytest.mark.parametrize("cell", ["{} ({})", "{}: {}", "{} = {}", "'{}': {}"])
def test_options_with_their_ranks_are_in_the_order_of_rank(cell):
    orders = [("tea", "gin (dry)", "rum"), ("rum", "tea", "gin (dry)"), ("tea", "rum", "gin (dry)")]
    lists = [
        ", ".join(cell.format(x, order.index(x) + 1) for x in sorted(order)) for order in orders
    ]
    if "'" in cell:
        lists = [f"{{{text}}}" for text in lists]
    data = th.read(pd.DataFrame({"id": [*"abc"], "ranking": lists}))
    assert data == th.read(pd.DataFrame({"id": [*"abc"], "ranking": list(map(" > ".join, orders))}))


UNCLEAR = ['{{"rank": ["{}", "{}"]}}', '[["{}"], ["{}"]]', "1. {} > 2. {}"]


@pytest.mark.parametrize(
    "text", [*UNCLEAR, '[{{"rank": 1, "item": "{}"}}, {{"rank": 2, "item": "{}"}}]']
)
def test_parts_of_nested_lists_and_ranks_are_no_labels(text):
    texts = [text.format(*pair) for pair in permutations("xyz", 2)]
    with refused(DataError, "column 'ranking' contains", "is not a label alone"):
        th.read(pd.DataFrame({"who": range(6), "ranking": texts}))


@pytest.mark.parametrize(
    "options", ["Option 2/Option 1/Option 3", "2.5 mm/1.5 mm/3.5 mm", "Rocky (2)/Alien/Jaws (1)"]
)
def test_numbers_in_labels_are_kept(options):
    labels = options.split("/")
    texts = [", ".join(labels), ", ".join(reversed(labels))]
    assert th.read(pd.DataFrame({"ranking": texts})).labels == tuple(labels)


def test_lists_of_texts_in_json_are_read(tmp_path):
    file = tmp_path / "sets.json"
    file.write_text('[{"chosen":"a","options":["a","b","c"]},{"chosen":"b","options":["b","c"]}]')
    assert counted(th.read(file)) == {"a": 1, "b": 1, "c": 0}
    file.write_text('[{"voter":1,"ranking":["a","b","c"]},{"voter":2,"ranking":["b","c","a"]}]')
    assert counted(th.read(file)) == {"a": 1, "b": 2, "c": 1}


@pytest.mark.parametrize(
    ("header", "first", "second"),
    [
        ("R_fighter,B_fighter,Winner", "Red", "Blue"),
        ("RedFighter,BlueFighter,Winner", "Red", "Blue"),
        ("A_model,B_model,winner", "A", "B"),
    ],
)
def test_a_side_may_be_the_first_letter_of_a_column(header, first, second):
    rows = [("tea", "rum", first), ("rum", "gin", second), ("gin", "tea", "Draw")]
    assert won(read(table(header, rows))) == ({"tea": 1, "rum": 0, "gin": 1}, 1)


def test_teams_are_no_options():
    rows = [
        ("ann;bob", "cy;dan"),
        ("ann;cy", "bob;dan"),
        ("dan;ann", "cy;bob"),
        ("cy;dan", "ann;bob"),
    ]
    rows += [("bob;cy", "dan;ann")]
    with refused(DataError, "'winners' and 'losers' list several options", "'ann;bob'"):
        read(table("winners,losers", rows))
    # a comma in a label is no list
    named = [('"Lee, Ann"', '"Lee, Bob"'), ('"Kim, Ann"', '"Kim, Bob"')]
    assert len(read(table("winner,loser", named)).labels) == 4


@pytest.mark.parametrize(
    "names",
    ["model_chosen model_rejected", "candidateChosen candidateNotChosen", "beer.winner beer.loser"],
)
def test_the_words_for_the_chosen_and_the_rejected_may_come_last(names):
    chosen, rejected = names.split()
    frame = pd.DataFrame({"id": [1, 1, 2], chosen: list("xxy"), rejected: list("yzz")})
    assert won(th.read(frame)) == ({"x": 2, "y": 1, "z": 0}, 0)
    scores = {f"score_{word}": [3, 2, 1] for word in ("chosen", "rejected")}
    assert th.read(frame.assign(**scores)) == th.read(frame)


def test_the_only_answer_of_e_prime_is_the_response():
    frame = pd.DataFrame({"Subject": [1, 1, 2], "LeftPic": list("xxy"), "RightPic": list("yzz")})
    answers = {"Slide1.RESP": [1, 1, 2], "Slide1.RT": [512, 640, 498], "Slide1.CRESP": [1, 2, 1]}
    data = th.read(frame.assign(**answers))
    assert won(data) == ({"x": 2, "y": 0, "z": 1}, 0)
    assert "chosen side in 'Slide1.RESP'" in data.read_as
    with pytest.raises(DataError, match="lacks a column showing whether 'LeftPic'"):
        th.read(frame.assign(**answers, **{"Fixation.RESP": [2, 1, 1]}))
