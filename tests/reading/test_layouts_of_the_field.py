"""Layouts that programs and people of the field write: each is read as the plain table beside it."""

import warnings

import pytest
from helpers.sentences import refused, said, warned

from thali._data.base_classes import copy_with_fields
from thali._data.kinds import EXPERIMENTS
from thali._input_files import Source
from thali._reading.layout_recognition import read_data
from thali.errors import DataError, DataWarning

PAIRS = "a,b,a_wins,b_wins,tie\nA,B,1,0,1\nA,C,1,1,0\nB,C,0,1,1\n"
RANKED = "id,rank1,rank2,rank3\n1,Ham,Corn,\n2,Tuna,Ham,Corn\n3,Corn,Ham,Tuna\n"
FULL = "id,rank1,rank2,rank3\n1,Ham,Corn,Tuna\n2,Tuna,Ham,Corn\n3,Corn,Ham,Tuna\n"
SETS = "id,item1,item2,item3,best,worst\n1,A,B,C,A,C\n1,A,C,D,D,C\n2,A,B,C,A,B\n"
MARKS = [(1, 1, "A", 1), (1, 1, "B", 0), (1, 1, "C", -1), (1, 2, "A", 0), (1, 2, "C", -1)]
MARKS += [(1, 2, "D", 1), (2, 1, "A", 1), (2, 1, "B", -1), (2, 1, "C", 0)]
ALIKE = "a,b,similarity\ntea,milk,4\ntea,water,2\nmilk,water,1\n"
TASKS = "id,price_1,price_2,choice\n1,1,2,1\n2,2,1,2\n3,1,3,2\n4,3,1,2\n"
PICKED = "id,option1,option2,option3,picked\n1,Bag,Card,Pen,Card\n1,Pen,Mug,Bag,Pen\n2,Mug,Card,Pen,Mug\n"
SORTS = "a,b,similarity,judge\ntea,milk,1,1\ntea,beer,0,1\nmilk,beer,0,1\ntea,beer,0,2\n"
SORTS += "tea,wine,0,2\nbeer,wine,1,2\nmilk,beer,0,3\nmilk,wine,0,3\nbeer,wine,1,3\n"


def games(header, win, loss, *ties):
    """Six games, whose results are those of `PAIRS`."""
    results = [("A", "B", win), ("B", "A", ties[0]), ("A", "C", win), ("C", "A", win)]
    results += [("B", "C", loss), ("B", "C", ties[-1])]
    return "\n".join([header, *map(",".join, results)])


def marked(header, words=("-1", "0", "1")):
    """Best-worst choices with one column of marks."""
    rows = [f"{person},{task},{item},{words[mark + 1]}" for person, task, item, mark in MARKS]
    return "\n".join([header, *rows])


def marked_twice(header, yes="1", no="0"):
    """Best-worst choices with a column that marks the best and one that marks the worst."""
    rows = [(*keys, yes if m == 1 else no, yes if m == -1 else no) for *keys, m in MARKS]
    return "\n".join([header, *(",".join(map(str, row)) for row in rows)])


def one_hot(header, yes="1", no="0"):
    """Six comparisons, whose winner is marked in one of three columns."""
    winners = ["A,B,0", "B,A,2", "A,C,0", "C,A,0", "B,C,1", "B,C,2"]
    cells = {str(k): ",".join(yes if k == place else no for place in range(3)) for k in range(3)}
    return "\n".join([header, *(f"{row[:-1]}{cells[row[-1]]}" for row in winners)])


def sorted_cards(header, rename=str):
    """Card sorts of three respondents, who sorted three cards each."""
    piles = ["1,tea,x", "1,milk,x", "1,beer,y", "2,tea,a", "2,beer,b", "2,wine,b", "3,milk,x"]
    return "\n".join([header, *map(rename, [*piles, "3,beer,y", "3,wine,y"])])


def ranked(header, *rows):
    return "\n".join([header, *rows])


SIDES = "A,B,choice\na,b,A\nb,c,B\nc,a,A\n"
BLIND = "1,437,812,812\n1,437,159,437\n2,159,812,159\n2,812,437,437\n3,437,812,437\n"
FLAGS = [("prefer_A", "10"), ("prefers B", ("no", "yes")), ("chose_a", ("True", "False"))]
FLAGS += [("A_wins", "10"), ("B.preferred", "01"), ("Pick A", ("yes", "no"))]
WORDED = [("1st", 1, "first"), ("2nd", 2, "second"), ("3rd", 3, "third")]
SAME = {
    "one-hot winners": (
        PAIRS,
        one_hot("model_a,model_b,winner_model_a,winner_model_b,winner_tie"),
        one_hot("model_a,model_b,winner_a,winner_b,winner_tie", "True", "False"),
        one_hot("left,right,chosen_left,chosen_right,chosen_tie"),
        one_hot("option1,option2,winner_option1,winner_option2,tie", "yes", "no"),
        one_hot("a,b,preferred_a,preferred_b,draw"),
        one_hot("sample a,sample b,prefer a,prefer b,no preference", "1", ""),
    ),
    "whether one side was chosen": (
        SIDES,
        *(f"A,B,{name}\na,b,{{0}}\nb,c,{{1}}\nc,a,{{0}}\n".format(*cells) for name, cells in FLAGS),
    ),
    "whether the left was chosen of columns that end in L and R": (
        SIDES,
        *(
            f"{names},{name}\na,b,{cells[0]}\nb,c,{cells[1]}\nc,a,{cells[0]}\n"
            for names in ("foodL,foodR", "food_L,food_R", "stimL,stimR")
            for name, cells in (("chose_left", "10"), ("choseRight", "01"), ("left_chosen", "10"))
        ),
    ),
    "blind codes of products": (
        f"judge,left,right,choice\n{BLIND}",
        f"CJ;Produit_1;Produit_2;Produit_préféré\n{BLIND}".replace(",", ";"),
        f"Richter,Muster 1,Muster 2,Bevorzugtes Muster\n{BLIND}",
        f"juez,muestra_1,muestra_2,muestra preferida\n{BLIND}",
        f"panelist,Product_1,Product_2,Product_preferred\n{BLIND}",
    ),
    "columns of a spreadsheet of Gorilla": (
        SIDES,
        *(
            f"{names},Response\na,b,left\nb,c,right\nc,a,left\n"
            for names in ("Spreadsheet: LeftImage,Spreadsheet: RightImage", "S:left item,S:right item")
        ),
    ),
    "results of games": (
        PAIRS,
        games("White,Black,Result", "1-0", "0-1", "1/2-1/2", "½-½"),
        games("White,Black,Result", "2:1½", "1:1½", "1½:1½", "½:½"),
        games("White,Black,Result", "1 – 0", "0–1", "0.5-0.5"),
        games("home,away,score", "4-1", "0–3", "2-2"),
        games("team1,team2,score", "4:1", "0:3", "1:1"),
        games("player,opponent,result", "2−0", "1−2", "1−1"),
    ),
    "an option against itself": (
        "winner,loser\nA,B\nB,C\nC,A\n",
        "winner,loser\nA,B\nA,A\nB,C\nC,A\n",
        "left,right,choice\nA,B,left\nB,C,left\nB,B,right\nC,A,left\n",
        "home,away,result\nA,B,H\nC,C,D\nB,C,H\nC,A,H\n",
        "a,b,a_over_b,b_over_a\nA,B,1,0\nB,C,1,0\nB,B,2,1\nA,C,0,1\n",
    ),
    "what was shown, and what was picked": (
        PICKED,
        PICKED.replace("option", "shown_"),
        PICKED.replace("option", "seen.").replace("picked", "choice"),
        PICKED.replace(",option1,option2,option3", ",slot_a,slot_b,slot_c"),
    ),
    "codes of alternatives": (
        TASKS,
        *(TASKS[:27] + "\n".join(TASKS[27:].split()).replace(",1\n", f",{code}1\n") for code in ()),
    ),
    "signed best-worst marks": (
        SETS,
        marked("pid,block,label,value"),
        marked("resp_id,set,item,response", ("worst", "", "best")),
        marked("subject,task,statement,mark", ("−1", "", "1")),
        marked("sys_RespNum,Set,Item,Choice", ("least", "0", "most")),
    ),
    "marks of the best and of the worst": (
        SETS,
        marked_twice("id,set,item,selected_as_best,selected_as_worst"),
        marked_twice("resp_id,task,item,chosen_most,chosen_least", "yes", "no"),
        marked_twice("id,set,item,isBest,isWorst", "True", "False"),
    ),
    "card sorts": (
        SORTS,
        sorted_cards("person,drink,pile_no"),
        sorted_cards("Subject,Card,Group"),
        sorted_cards("participant,item,category"),
        sorted_cards("vp;Karte;Stapel", lambda row: row.replace(",", ";")),
    ),
    "numbered columns of a survey": (
        RANKED,
        RANKED.replace("rank1,rank2,rank3", "toppings[1],toppings[2],toppings[3]"),
        RANKED.replace("rank1,rank2,rank3", "Rank! [Rank 1],Rank! [Rank 2],Rank! [Rank 3]"),
        RANKED.replace("rank1,rank2,rank3", "Top [1st choice],Top [2nd choice],Top [3rd choice]"),
        RANKED.replace("rank1,rank2,rank3", "Erstwunsch,Zweitwunsch,Drittwunsch"),
        RANKED.replace("rank1,rank2,rank3", "Wunsch 1,Wunsch 2,Wunsch 3"),
        RANKED.replace("id,rank1,rank2,rank3", "id,1.,2.,3.").replace("\n1,", "\n01,"),
    ),
    "a grid of a survey": (
        FULL,
        ranked("id,Rank [Ham],Rank [Corn],Rank [Tuna]", "1,1st,2nd,3rd", "2,2nd,3rd,1st", "3,2nd,1st,3rd"),
        ranked("id,Q [Ham],Q [Corn],Q [Tuna]", "1,1,2,3", "2,2,3,1", "3,2,1,3"),
        ranked("id,Q [Ham],Q [Corn],Q [Tuna]", *("1,1st choice,2nd choice,3rd choice",), "2,Second,Third,First", "3,Rank 2,Rank 1,Rank 3"),
    ),
    "rankings in a cell": (
        FULL,
        ranked("id,answer", '1,"Ham,Corn,Tuna"', '2,"Tuna, Ham, Corn"', '3,"Corn,Ham,Tuna"'),
        ranked("id,toppings", "1,Ham Corn Tuna", "2,Tuna Ham Corn", "3,Corn Ham Tuna"),
        ranked("id,ranking", "1,Ham;Corn;Tuna", "2,Tuna;Ham;Corn", "3,Corn;Ham;Tuna"),
    ),
    "lower triangles": (
        ALIKE,
        "\ttea\tmilk\twater\ntea\t5\nmilk\t4\t5\nwater\t2\t1\t5\n",
        "      tea milk\nmilk    4     \nwater   2    1\n",  # as R prints `dist`
        ",tea,milk,water\nmilk,4\nwater,2,1\n",
        "tea\nmilk 4\nwater 2 1\n",
        "3\ntea\nmilk 4\nwater 2 1\n",  # as PHYLIP
        "tea 9\nmilk 4 9\nwater 2 1 9\n",
        ";tea;milk;water\ntea\nmilk;4,0\nwater;2,0;1,0\n",
    ),
    "lower triangles of numbers": (
        "a,b,similarity\n1,2,0.4\n1,3,0.2\n2,3,0.1\n",
        "1\n.4 1\n.2 .1 1\n",
        ".4\n.2 .1\n",
        "3\n1\n2 0.4\n3 0.2 0.1\n",
    ),
    "row names without a header": (
        "winner,loser,n\ntea,milk,7\nmilk,tea,3\ntea,water,9\n",
        '"winner" "loser" "n"\n"1" "tea" "milk" 7\n"2" "milk" "tea" 3\n"3" "tea" "water" 9\n',
        "winner,loser,n\n2,tea,milk,7\n5,milk,tea,3\n9,tea,water,9\n",
        "winner\tloser\tn\nx\ttea\tmilk\t7\ny\tmilk\ttea\t3\nz\ttea\twater\t9\n",
    ),
    "words of databases for nothing": (
        "left,right,choice\nA,B,left\nA,C,left\n",
        "left,right,choice\nA,B,left\nB,C,\\N\nA,C,left\n",
        "left,right,choice\nA,B,A\nB,C,NULL\nA,C,A\n",
        "left,right,choice\nA,B,1\nB,C,null\nA,C,1\n",
        "left,right,choice\nA,B,1\nB,C,#NULL!\nA,C,1\n",
    ),
    "ratings of pairs": (
        ALIKE,
        *(
            ALIKE.replace("a,b", names)
            for names in ("stim1,stim2", "item1,item2", "left,right", "word_1,word_2", "imageA,imageB")
        ),
        ALIKE.replace("a,b,similarity", "stimulus1,stimulus2,rating"),
    ),
    "a set with a single option": (
        "obsID,alt,choice\n1,tea,1\n1,milk,0\n3,tea,0\n3,milk,1\n",
        "obsID,alt,choice\n1,tea,1\n1,milk,0\n2,tea,1\n3,tea,0\n3,milk,1\n",
        "obsID,alt,av,choice\n1,tea,1,1\n1,milk,1,0\n2,tea,1,1\n2,milk,0,0\n3,tea,1,0\n3,milk,1,1\n",
    ),
    "a set without a worst": (
        SETS,
        SETS + "2,A,C,D,D,\n",
        SETS.replace("\n2", "\n1,A,B,D,,A\n2"),
        marked("pid,task,item,value") + "\n2,2,A,1\n2,2,B,0\n2,2,D,\n",
    ),
    "ballots": (
        RANKED,
        *(
            RANKED.replace("rank1,rank2,rank3", ",".join(name.format(*each) for each in WORDED)).replace(",\n", f",{blank}\n")
            for name in ("Rep. to Congress {0} Choice District 2", "DEM Mayor choice {1} of 3 (02691)", "Rank :: {0} choice", "{2}_preference_Q1", "{1}. Wahl: Essen", "Mayor rank{1} (vote for 1)")
            for blank in ("", "undervote")
        ),
    ),
    "ranks among more options than two": (
        "id,ranking\nj1,x > y\nj1,z > y\nj2,z > x\n",
        "judge,item1,rank1,item2,rank2\nj1,x,1,y,2\nj1,y,3,z,1\nj2,x,4,z,1\n",
        "judgeID,system1Id,system1rank,system2Id,system2rank\nj1,x,2,y,5\nj1,y,3,z,1\nj2,x,4,z,3\n",
    ),
}  # fmt: skip
for stem in ("choice", "Option ", "alt.", "Profile_"):
    coded = TASKS
    for code in "12":
        coded = coded.replace(f",{code}\n", f",{stem}{code}\n")
    SAME["codes of alternatives"] += (coded, coded.replace("price_", "price"))


def taken(text, *kinds, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return read_data(Source("table.csv", text.encode()), *kinds, **options)


@pytest.mark.parametrize(
    ("plain", "text"),
    [
        pytest.param(plain, text, id=f"{kind} {k}")
        for kind, (plain, *texts) in SAME.items()
        for k, text in enumerate(texts, start=1)
    ],
)
def test_a_layout_is_read_as_the_plain_table(plain, text):
    data, sentence = taken(text)
    expected, _ = taken(plain)
    assert type(data) is type(expected)
    for field in data._FIELDS:
        if field not in ("respondents", "people", "scheme", "forward"):
            assert str(getattr(data, field)) == str(getattr(expected, field)), field
    assert "e+" not in sentence


REFUSED = {
    "2 3 5\n1 2 4\n0 5 3\n4 1 2\n": ("2 3 5", "no header"),
    "12,7\n5,12\n7,5\n9,7\n": ("12 7", "'winner', 'loser'"),
    "7;3;9\n3;7;8\n9;8;7\n3;9;7\n8;3;9\n": ("7 3 9", "'odd'"),
    ",A,B,C\nA,0,1.5,2\nB,1.5,0,1\nC,2,1,0\n": ("distances", "leave the diagonal empty"),
    ",A,B,C\nA,0\nB,1.5,0\nC,2,1,0\n": ("distances", "leave the diagonal empty"),
    "winner,loser\nA,A\nB,B\n": ("'A'", "itself", "row 2"),
    "id,task,alt,price,choice\n1,1,a,1,1\n1,2,b,2,1\n1,3,a,2,1\n": ("only one alternative",),
    "Subject,Card,Group\n1,tea,x\n1,tea,y\n1,beer,y\n1,rum,y\n": ("'tea' twice", "row 3"),
    "winner,loser\nSmith, J,Doe\nDoe,Smith, J\n": ("Line 2", "3 cells"),
}


@pytest.mark.parametrize(("text", "facts"), REFUSED.items())
def test_what_is_asked_or_refused(text, facts):
    with refused(DataError, *facts):
        taken(text, *([EXPERIMENTS] if "price" in text else []))


def test_what_is_left_out_is_counted():
    said(taken("winner,loser\nA,B\nA,A\nB,A\n")[1], "1 row of an option with itself dropped")
    said(taken(SAME["a set with a single option"][2])[1], "1 choice from a single alternative")
    said(taken(SETS + "2,A,C,D,D,\n")[1], "1 row without an answer dropped")
    said(
        taken(marked("pid,task,item,value") + "\n2,2,A,1\n2,2,B,0\n")[1], "1 set without an answer"
    )
    tasks = "id,task,alt,price,choice\n1,1,a,1,1\n1,1,b,2,0\n1,2,a,2,1\n2,1,a,2,0\n2,1,b,1,1\n"
    data, sentence = taken(tasks, EXPERIMENTS)
    assert data.n_tasks == 2
    said(sentence, "1 task with a single alternative")
    said(taken(sorted_cards("Subject,Card,Group") + "\n3,rum,\n")[1], "1 row without an answer")
    said(taken(games("White,Black,Result", "1-0", "0-1", "½-½") + "\nA,B,*\n")[1], "1 row", "'*'")


def test_a_triangle_without_a_diagonal_may_hold_distances():
    with warned(DataWarning, "distances"):
        read_data(Source("dist.txt", b"tea milk\nmilk 4\nwater 2 1\n"))
    data, sentence = taken("tea milk\nmilk 4\nwater 2 1\n", dissimilarities="linear")
    assert data.values.tolist() == [0, 2, 3]
    said(sentence, "dissimilarities")


RANKED_SETS = "task,option1,option2,option3\n1,a,b,c\n2,a,b,d\n"
RANKED_ANSWERS = {
    "a column for each set": "who,ranking_1,ranking_2\nx,a > b,b>a>d\ny,c>a>b,b > a > d\n",
    "a column for each rank": "who,rank1_1,rank2_1,rank1_2,rank2_2\nx,a,b,b,a\ny,c,a,b,a\n",
    "numbers of options": "who,rank1_1,rank2_1,rank1_2,rank2_2\nx,1,2,2,1\ny,3,1,2,1\n",
    "loops of Qualtrics": "who,1_rank1,1_rank2,2_rank1,2_rank2\nx,a,b,b,a\ny,c,a,b,a\n",
}


@pytest.mark.parametrize("text", RANKED_ANSWERS.values(), ids=RANKED_ANSWERS)
def test_rankings_beside_a_design(text, tmp_path):
    """Options of the set that have no rank come after the others."""
    (tmp_path / "design.csv").write_text(RANKED_SETS)
    text = text.replace("who", "respondent")
    data, sentence = taken(text, design=tmp_path / "design.csv")
    rows = "\n1,x,a > b > c\n2,x,b > a > d\n1,y,c > a > b\n2,y,b > a > d\n"
    expected = taken("task,respondent,ranking" + rows)[0]
    assert data == expected and data.respondents == ("x", "y")
    assert "option" not in sentence.partition("not used")[2]


def test_endless_digits_are_no_rank():
    with refused(DataError, "known layout"):
        taken("id,tea,milk,rum\n" + "".join(f"{k},first{'9' * 5000},2nd,3rd\n" for k in range(3)))


def test_numbers_beside_words_for_choices_that_are_no_ranks():
    """Answers to several questions; of several raters; marks; two rankings; ranks of athletes."""
    answers = "a,b,a\nb,b,a\na,a,b\n"
    for header in ("Q1 choice,Q2 choice,Q3 choice", "x choice 1,x choice 2,x choice 3"):
        with pytest.raises(DataError):
            taken(f"{header}\n{answers}")
    names = [f"{race} choice {k}" for race in ("Mayor", "Clerk") for k in (1, 2, 3)]
    with refused(DataError, "Options are ranked in 'Mayor choice 1'", f"without={names[3:]}"):
        taken(",".join(names) + "\na,b,c,x,y,z\nb,a,c,y,x,z\nc,a,b,z,x,y\n")
    games = "item1,rank1,item2,rank2,winner\nx,1,y,7,x\ny,3,z,1,y\nx,4,z,1,z\n"
    assert "'rank1' and 'rank2'" in taken(games)[1].partition("not used")[2]


LABELLED = "{0}\n{1}\n1,1,2,3,30,7\n2,2,3,1,40,8\n3,2,1,3,50,9\n4,3,1,2,50,5\n"


@pytest.mark.parametrize(
    ("names", "labels"),
    [
        ("ResponseId,Q3_1,Q3_2,Q3_3,age,x", "Response ID,Rank - Ham,Rank - Corn,Rank - Tuna,Age,X"),
        ("CASE,RA01_01,RA01_02,RA01_03,age,x", "Nummer,Rang: Ham,Rang: Corn,Rang: Tuna,Alter,X"),
    ],
)
def test_a_line_of_labels_names_the_options(names, labels):
    text = LABELLED.format(names, labels)
    data, sentence = taken(text)
    assert data.labels == ("Ham", "Corn", "Tuna") and data.n_choices == 8
    said(sentence, "options named by the line of labels", "dropped")
    plain = taken(text.replace(f"{labels}\n", ""))[0]
    assert plain == copy_with_fields(data, labels=plain.labels)
    for other in (labels.replace("Corn", "Ham"), labels.replace(" - ", " ").replace(": ", " ")):
        assert taken(LABELLED.format(names, other))[0].labels == plain.labels


def test_the_order_of_display_is_no_column_of_respondents():
    header = "ResponseId,Q3_1,Q3_2,Q3_3,Q3_DO_1,Q3_DO_2,Q3_DO_3\n"
    rows = "1,1,2,3,3,1,2\n2,2,3,1,1,2,3\n3,2,1,3,2,1,3\n"
    data, sentence = taken(header + rows)
    assert data.n_choices == 6 and data.people is None
    said(sentence, "order of display dropped: 'Q3_DO_1', 'Q3_DO_2' and 'Q3_DO_3'")


def test_a_first_row_of_texts_is_no_line_of_labels():
    """Where a column has texts only, or numbers are rare."""
    rows = "a,b,a\nb,c,b\nc,a,c\na,b,b\n"
    assert taken(f"left,right,choice\n{rows}")[0].n_comparisons == 4
    assert taken("winner,loser,n\na,b,2\nb,c,1\nc,a,4\nb,a,3\n")[0].n_comparisons == 10
