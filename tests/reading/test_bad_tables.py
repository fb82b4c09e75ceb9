"""Tables with one thing wrong each, and the facts that each is refused with, or warned of."""

import pandas as pd
import pytest
from helpers.sentences import refused, warned
from helpers.typed_tables import made, table

import thali
from thali._reading.layout_recognition import recognise
from thali.errors import Argument, DataError, DataWarning

REFUSED = [
    # file, content, facts
    (
        "pairs.csv",
        "a,b,proportion,n\nx,y,.6,10\nx,z,.7,10\n",
        ("'a'", "'b'", "'proportion'", "'n'"),
    ),
    (
        "pairs.csv",
        "left,right,wins_right,n\nx,y,6,10\nx,z,7,10\n",
        ("'left'", "'right'", "'wins_right'", "'n'"),
    ),
    (
        "pairs.csv",
        "a,b,a_wins,b_wins\nx,y,.6,.4\nx,z,.7,.3\ny,z,.5,.5\n",
        ("row 2", "column 'a_wins'", "0.6", "weights=True"),
    ),
    (
        "games.csv",
        "home,away,result\nx,y,0.75\ny,x,0.25\n",
        ("Column 'result'", "'0.75'", "row 2", "'x'"),
    ),
    (
        "trials.csv",
        "subject,left,right,rt\n1,tea,milk,200\n1,milk,tea,300\n",
        ("'subject'", "'left'", "'right'", "'rt'"),
    ),
    (
        "trials.csv",
        "subject,left,choice\n1,tea,tea\n1,milk,tea\n",
        ("'subject'", "'left'", "'choice'", "such as 'right'"),
    ),
    (
        "trials.csv",
        "subject,Reiz P,Reiz Q,choice\n1,tea,milk,tea\n1,milk,tea,rum\n",
        ("'subject'", "'Reiz P'", "'Reiz Q'", "'choice'"),
    ),
    (
        "trials.csv",
        "left,right,choice\ntea,milk,leftt\nmilk,tea,left\n",
        ("Column 'choice'", "'leftt'", "row 2", "'tea'"),
    ),
    (
        "trials.csv",
        "left,right,choice\ntea,milk,Tea\nmilk,tea,tea\n",
        ("Column 'choice'", "'Tea'", "row 2", "'tea'"),
    ),
    ("trials.csv", "left,right,choice,choice\ntea,milk,tea,tea\n", ("'choice'",)),
    (
        "trials.csv",
        "left,right,choice\ntea,milk,60%\nmilk,tea,40%\n",
        ("Column 'choice'", "'60%'", "row 2", "'tea'"),
    ),
    (
        "trials.csv",
        "left,right,choice,n\ntea,milk,left,1,700\n",
        ("Line 2", "5 cells", "4 columns"),
    ),
    (
        "parties.csv",
        '"","preference","age"\n"1",{non < Lnk, non > Grn, Lnk > Grn},31\n"2",{non > Lnk, non >'
        " Grn, NA},25\n",
        ("Column 'preference'", "write.csv"),
    ),
    (
        "parties.csv",
        '"","preference","age"\n"1","{non < Lnk, non > Grn, ...}",31\n"2","{non > Lnk, non > Grn,'
        ' ...}",25\n',
        ("Column 'preference'", "write.csv"),
    ),
    (
        "trials.csv",
        'left,right,choice,n\ntea,milk,left,"1,700"\n',
        ("row 2", "column 'n'", "'1,700'", "1700"),
    ),
    ("trials.csv", "left,right,choice,n\ntea,milk,left,60%\n", ("row 2", "column 'n'", "'60%'")),
    ("trials.csv", "left,right,choice,n\ntea,milk,left,inf\n", ("row 2", "column 'n'")),
    (
        "square.csv",
        ",tea,milk,rum\ntea,0,inf,20\nmilk,12,0,8\nrum,4,30,0\n",
        ("row 'tea'", "column 'milk'"),
    ),
    ("trials.csv", "left,right,choice,n\ntea,milk,left,-3\n", ("row 2", "column 'n'", "-3")),
    (
        "trials.csv",
        "winner,loser\ntea,milk\ndraw,milk\ndraw,tea\n",
        ("'draw'", "'left'", "'right'", "'chosen'"),
    ),
    ("trials.csv", "winner,loser\ntie,tie\ntea,milk\n", ("'tie'", "'left'", "'right'", "'chosen'")),
    (
        "trials.csv",
        "winner,loser,n\ntea,milk,0.5\n",
        ("row 2", "column 'n'", "0.5", "weights=True"),
    ),
    (
        "arena.csv",
        "model_a,model_b,winner\nx,y,model_c\n",
        ("Column 'winner'", "'model_c'", "row 2", "'x'"),
    ),
    ("arena.csv", "model_a,model_b,winner\nx,y,\n", ("Column 'winner'",)),
    (
        "arena.csv",
        "model_a,winner\nx,model_a\ny,model_b\n",
        ("'model_a'", "'winner'", "such as 'model_b'"),
    ),
    (
        "league.csv",
        "home,away,date\nHull,Stoke,1.5.\nStoke,Hull,2.5.\n",
        ("'home'", "'away'", "'date'"),
    ),
    ("league.csv", "home,result\nHull,H\nStoke,A\n", ("'home'", "'result'", "such as 'away'")),
    (
        "league.csv",
        "home,away,home_goals\nHull,Stoke,3\nStoke,Hull,2\n",
        ("'home'", "'away'", "'home_goals'"),
    ),
    (
        "square.csv",
        ",tea,milk,water,Sum\ntea,0,3,5,8\nmilk,1,0,2,3\nwater,2,4,0,6\nSum,3,7,7,17\n",
        ("column 'Sum'",),
    ),
    ("square.csv", ",tea,milk,water,Sum\ntea,0,3,5,8\nmilk,1,0,2,3\nwater,2,4,0,6\n", ("'Sum'",)),
    (
        "square.csv",
        ",tea,milk,water\ntea,0,60%,70%\nmilk,40%,0,20%\nwater,30%,80%,0\n",
        ("row 'tea'", "column 'milk'", "'60%'"),
    ),
    (
        "square.csv",
        ",tea,milk,water\ntea,,.6,.7\nmilk,.4,,.2\nwater,.3,.8,\n",
        ("row 'tea'", "column 'milk'", "0.6", "weights=True"),
    ),
    ("square.csv", ",tea,milk\ntea,0,=B2\nmilk,1,0\n", ("row 'tea'", "column 'milk'", "'=B2'")),
    (
        "wide.csv",
        "subject,tea>milk,tea>water\n1,5,4\n2,3,2\n3,1,1\n",
        ("'subject'", "'tea>milk'", "'tea>water'"),
    ),
    (
        "wide.csv",
        "subject,V1,V2,V3,V4\n1,1,2,1,2\n2,1,1,1,2\n3,2,1,1,1\n",
        ("'subject'", "'V1'", "'V2'", "'V3'"),
    ),
    ("wide.csv", "tea:milk,tea:water,milk:water\n1,0,1\n0,0,1\n1,1,1\n0,1,0\n", ("only 0 and 1",)),
    (
        "wide.csv",
        "tea:milk,tea:milk2\ntea,x\nmilk,y\nmilk,y\n",
        ("Column 'tea:milk2'", "'x'", "row 2", "'tea'"),
    ),
    (
        "ranks.csv",
        "subject,item,place in list\n1,tea,1\n1,milk,2\n",
        ("'subject'", "'item'", "'place in list'"),
    ),
    ("ranks.csv", "subject,item\n1,tea\n1,milk\n", ("'subject'", "'item'")),
    ("ranks.csv", "subject,rank\n1,1\n1,2\n", ("'subject'", "'rank'")),
    ("ranks.csv", "rank1,rank2,rank3\ntea,milk,milk\n", ("'milk'", "row 2")),
    ("ranks.csv", "tea,milk,water\n1,2,3\n0.5,1,2\n3,1,2\n2,1,3\n", ("'tea'", "0.5", "row 3")),
    ("ranks.csv", "tea,milk,water\n0,1,2\n1,0,2\n2,1,0\n0,2,1\n", ("a rank 0",)),
    ("ranks.csv", "subject,item,rank\n1,tea,0\n1,milk,1\n2,tea,1\n2,milk,0\n", ("a rank 0",)),
    (
        "trials.csv",
        "winner,loser\ntea,milk\n-,milk\nmilk,tea\n",
        ("'-'", "'left'", "'right'", "'chosen'"),
    ),
    (
        "list.csv",
        "a,b,wins_a,wins_b\ntea,milk,6,4\ntea,water,7,3\nTotal,,13,7\n",
        ("row 4", "column 'b'"),
    ),
    ("bw.csv", "best,worst\ntea,milk\nmilk,tea\n", ("'best'", "'worst'", "'option1'", "'option2'")),
    (
        "bw.csv",
        "a1,a2,a3,best,wrst\ntea,milk,water,tea,milk\nmilk,tea,water,milk,water\n",
        ("'a1'", "'a2'", "'a3'", "'best'"),
    ),
    ("bw.csv", "a1,a2,a3,best,worst\ntea,milk,water,tea,tea\n", ("'tea'", "row 2")),
    ("choices.csv", "task,item,price\n1,tea,2\n1,milk,3\n", ("'task'", "'item'", "'price'")),
    ("choices.csv", "task,item,chosen\n1,tea,0\n1,milk,0\n", ("choice set '1'",)),
    ("choices.csv", "task,item,chosen\n1,tea,1\n1,milk,1\n", ("2 alternatives", "choice set '1'")),
    ("choices.csv", "task,item,chosen\n1,tea,maybe\n1,milk,0\n", ("Column 'chosen'", "row 2")),
    (
        "choices.csv",
        "id,price_1,price_2\n1,3,4\n2,4,3\n3,4,4\n",
        ("'id'", "'price_1'", "'price_2'"),
    ),
    (
        "choices.csv",
        "id,price_1,price_2,choice\n1,3,4,5\n2,4,3,1\n3,4,4,1\n",
        ("Column 'choice'", "'5'", "row 2", "'1'"),
    ),
    ("rankings.csv", "rank1,rank2,rank3\ntea,,milk\n", ("'rank2'", "row 2")),
    ("rankings.csv", "subject,item,rank\n1,tea,1\n1,tea,2\n", ("'tea'", "'1'", "row 3", "'task'")),
    ("rankings.csv", "subject,item,rank\n1,tea,1\n1,milk,x\n", ("row 3", "column 'rank'", "'x'")),
    ("rankings.csv", "rank1,rank2\ntea,\nmilk,\n", ("2 rankings",)),
    ("x.toi", "# ALTERNATIVE NAME 1: tea\n2: 1,{2,3}\n", ("Line 2", "'2'")),
    ("x.toi", "# ALTERNATIVE NAME 1: tea\n2: 1,7\n", ("Line 2", "'7'")),
    ("x.toi", "# ALTERNATIVE NAME 1: tea\n1,2\n", ("Line 2", "'1,2'", "PrefLib", "'3: 2,1,4'")),
    ("x.toi", "# ALTERNATIVE NAME 1: tea\n", ("no rankings",)),
    ("x.soi", "hello\n", ("PrefLib", "'# ALTERNATIVE NAME 1: ...'")),
    ("bw.csv", "a1,a2,a3,a4,best,worst\nx,y,z,y,x,z\n", ("'y'", "row 2")),
    ("bw.csv", "a1,a2,best,worst\nx,y,,y\n", ("row 2", "column 'best'", "'x'", "'y'")),
    ("bw.csv", "a1,a2,a3,best,worst\nx,y,z,x,q\n", ("'q'", "row 2", "column 'worst'", "'x'")),
    (
        "marks.csv",
        "subject,task,item,best,worst\n1,1,tea,0,0\n1,1,milk,0,0\n1,1,water,0,1\n2,1,tea,,\n2,1,milk,1,\n2,1,water,,\n",
        ("'best'", "'worst'"),
    ),
    (
        "marks.csv",
        "subject,task,item,best,worst\n1,1,tea,1,0\n1,1,milk,0,0\n1,1,water,0,1\n2,1,tea,,1\n2,1,milk,1,\n2,1,water,,1\n",
        ("2 options", "column 'worst'", "row 5"),
    ),
    (
        "marks.csv",
        "subject,task,item,best,worst\n1,1,tea,1,0\n1,1,tea,0,0\n1,1,water,0,1\n2,1,tea,,\n2,1,milk,1,\n2,1,water,,1\n",
        ("row 2",),
    ),
    (
        "marks.csv",
        "subject,task,item,best,worst\n1,1,water,0,1\n1,1,milk,0,0\n1,1,water,0,1\n2,1,tea,,\n2,1,milk,1,\n2,1,water,,1\n",
        ("row 2",),
    ),
    (
        "marks.csv",
        "subject,task,item,best,worst\n1,1,tea,1,1\n1,1,milk,0,0\n1,1,water,0,0\n2,1,tea,,\n2,1,milk,1,\n2,1,water,,1\n",
        ("'tea'", "row 2"),
    ),
    ("trials.csv", "left,right,choice\ntea,milk,0\ntea,milk,1\n", ("Column 'choice'", "'left'")),
    ("trials.csv", "left,right,choice\n1,2,1\n2,1,1\n", ("Column 'choice'", "2, left")),
    ("trials.csv", "left,right,choice\ntea,tea,left\n", ("'tea'", "row 2", "column 'left'")),
    ("trials.csv", "left,right,choice\ntea,,left\n", ("row 2", "column 'right'")),
    (
        "league.csv",
        "home,away,result\nHull,Stoke,W\nHull,Stoke,Q\n",
        ("Column 'result'", "'Q'", "row 3", "'Hull'"),
    ),
    (
        "league.csv",
        "home,away,home_goals,away_goals\nHull,Stoke,two,1\n",
        ("row 2", "column 'home_goals'", "'two'"),
    ),
    (
        "wide.csv",
        "tea:milk,tea:water\ntea,tea\n>,tea\ntea,tea\n",
        ("Column 'tea:milk'", "'>'", "row 3", "'tea'"),
    ),
    (
        "odd.csv",
        "object1,object2,object3,odd\ntea,coffee,brick,brick\nbrick,wall,tea,milk\n",
        ("Row 3", "'milk'", "column 'odd'", "'brick'"),
    ),
    (
        "odd.csv",
        "object1,object2,object3,odd\ntea,coffee,brick,brick\nbrick,wall,wall,wall\n",
        ("'wall'", "row 3"),
    ),
    (
        "odd.csv",
        "object1,object2,object3,odd\ntea,coffee,brick,brick\nbrick,,tea,tea\n",
        ("row 3", "column 'object2'"),
    ),
    (
        "tasks.csv",
        "id,choice_1,choice_2,choice_3\n1,1,2,1\n2,2,2,1\n3,1,1,2\n",
        ("'choice_1'", "one row per task", Argument("design")),
    ),
    (
        "tasks.csv",
        "id,brand_A_1,brand_B_1,choice_1,brand_A_2,brand_B_2,choice_2,brand_A_3,brand_B_3,choice_3\n"
        "1,x,y,A,z,x,B,y,z,A\n2,z,y,B,x,z,A,y,x,B\n",
        ("'choice_1'", "one row per task"),
    ),
]

WARNED = [
    (
        "a,b,wins_a,wins_b\ntea,milk,60,40\ntea,water,70,30\nmilk,water,55,45\n",
        ("100", "counts instead, because"),
    ),
    (
        "a,b,win,loss,tie\ntea,milk,50,40,10\ntea,water,60,30,10\nmilk,water,55,35,10\n",
        ("100", "counts instead, because"),
    ),
    ("winner,loser,n\ntea,milk,6\nmilk,tea,4\nTotal,tea,10\n", ("'Total'",)),
    (
        ",tea,milk,water\ntea,0,60,70\nmilk,40,0,20\nwater,30,80,0\n",
        ("100", "counts instead, because"),
    ),
    (",Coffee,coffee\nCoffee,0,3\ncoffee,1,0\n", ("'Coffee'", "'coffee'")),
]


@pytest.mark.parametrize(("name", "text", "facts"), REFUSED)
def test_bad_tables_are_refused_with_the_facts(name, text, facts):
    with refused(ValueError, f"{name}: ", *facts):
        recognise(table(text, name)).build()


@pytest.mark.parametrize(("text", "facts"), WARNED)
def test_doubtful_tables_are_read_with_a_warning(text, facts):
    with warned(DataWarning, *facts) as messages:
        made(text)
    assert len(messages) == 1


DIGITS = "1" * 5000  # more than Python makes a number of


@pytest.mark.parametrize(
    "text",
    [
        f"V1,V2,V{DIGITS}\n1,2,1\n",
        f"rank1,rank{DIGITS}\nA,B\n",
        f"item1,item{DIGITS},best,worst\nA,B,C,A\n",
    ],
)
def test_a_number_of_thousands_of_digits_ends_in_a_sentence(text):
    with pytest.raises(DataError):
        recognise(table(text))


def test_an_odd_one_out_of_thousands_of_digits_ends_in_a_sentence():
    with refused(DataError, "1111", "'tea'"):
        made(f"item1,item2,item3,odd\ntea,milk,mud,{DIGITS}\n")


@pytest.mark.parametrize("number", [DIGITS, "\N{SUPERSCRIPT TWO}"])
def test_a_cho_file_of_odd_numbers_ends_in_a_sentence(number):
    with refused(DataError, "Line 1", number[:9], "only integers"):
        table(f"1 0 1 {number} 0\n", "x.cho")


@pytest.mark.parametrize("conversion", ["linear", "exponential"])
def test_dissimilarities_without_a_number_end_in_a_sentence(conversion):
    with refused(DataError, "no similarities", "3 objects"):
        made("a,b,dissimilarity\nx,y,\nx,z,\ny,z,\n", dissimilarities=conversion)


def test_answers_that_are_bytes_end_in_a_sentence():
    trials = pd.DataFrame({"left": ["x", "x"], "right": ["y", "z"], "chosen": [b"\xff"] * 2})
    with refused(DataError, "'chosen'", "row 0 (and 1 more times)"):
        thali.read(trials)


def test_dates_that_are_bytes_end_in_a_sentence():
    games = pd.DataFrame({"winner": ["x", "y"], "loser": ["y", "x"], "day": [b"\xff"] * 2})
    with refused(DataError, "'day'", "row 0"):
        thali.read(games, date="day")


def test_an_alternative_without_a_label_ends_in_a_sentence():
    text = "id,task,alt,fee,choice\n1,1,1,1,1\n1,1,,2,0\n1,2,1,3,0\n1,2,2,1,1\n"
    with refused(DataError, "row 3", "'alt'"):
        made(text)
