"""Rankings and best-worst choices: their shapes, the choices that they are made of, and what is refused."""

import pandas as pd
import pytest

import thali as th
from thali._source import Source
from thali.errors import DataError
from thali.reading.recognise import recognise
from thali.reading.shapes.choices import best_worst, rankings
from thali.reading.table import load

ORDERS = [["tea", "milk", "water"], ["milk", "water", "tea"], ["tea", "water", "milk"], ["tea", "milk", "water"]]
# sets, and how often each member was chosen: of all three, and of the two left
CHOSEN = {
    ("milk", "tea", "water"): {"tea": 3, "milk": 1},
    ("milk", "water"): {"milk": 2, "water": 1},
    ("tea", "water"): {"water": 1},
}


def table(text, name="x.csv"):
    return load(Source(name, text.encode()))


def chosen(data):
    found = {}
    for k, members in enumerate(data.sets):
        counts = data.counts[data.start[k] : data.start[k + 1]]
        found[tuple(sorted(members))] = {m: n for m, n in zip(members, counts.tolist(), strict=True) if n}
    return found


def text_of(rows):
    return "\n".join(",".join(map(str, row)) for row in rows) + "\n"


def test_long_rankings_do_not_fill_the_memory(monkeypatch):
    """Neither a table of all rankings by all options, nor the choices of which they consist."""
    monkeypatch.setattr("thali.data.choices.rankings.MAX_SHOWN", 1000)
    rows = [("0", f"o{k}", k + 1) for k in range(60)] + [(str(k), "o1", 1) for k in range(1, 60)]
    frame = pd.DataFrame(rows, columns=["ranker", "item", "rank"])
    for how in ({}, {"unranked": "worse"}):
        with pytest.raises(DataError, match="The longest of these rankings names 60 options; as choices"):
            th.Choices.from_rankings(frame, "long", "item", "rank", "ranker", **how)
    monkeypatch.setattr("thali.reading.preflib.MAX_CELLS", 1000)
    names = "".join(f"# ALTERNATIVE NAME {k}: o{k}\n" for k in range(40))
    with pytest.raises(DataError, match="The longest of 30 orders names 40 alternatives"):
        table(names + "1: " + ",".join(map(str, range(40))) + "\n" + "1: 1\n" * 29, "x.soc")
    assert th.Choices.from_rankings(frame[frame["rank"] < 10], "long", "item", "rank", "ranker").n_options == 9


RANKS = [[order.index(option) + 1 for option in ("tea", "milk", "water")] for order in ORDERS]
SHAPES = {
    "ranks": text_of([["rank1", "rank2", "rank3"], *ORDERS]),
    "ordinals": text_of([["1st", "2nd", "3rd"], *ORDERS]),
    "choices": text_of([["First choice", "Second choice", "Third choice"], *ORDERS]),
    "options": text_of([["tea", "milk", "water"], *RANKS]),
    "long": text_of(
        [["Vp", "item", "rank"], *([k, option, n + 1] for k, o in enumerate(ORDERS) for n, option in enumerate(o))]
    ),
    "preflib": "# FILE NAME: 1.soc\n# ALTERNATIVE NAME 1: tea\n# ALTERNATIVE NAME 2: milk\n# ALTERNATIVE NAME 3: "
    "water\n2: 1,2,3\n1: 2,3,1\n1: 1,3,2\n",
    "old preflib": "3\n1,tea\n2,milk\n3,water\n4,4,3\n2,1,2,3\n1,2,3,1\n1,1,3,2\n",
}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_gives_the_same_choices(shape):
    reading = recognise(table(SHAPES[shape], "x.soc" if "preflib" in shape else "x.csv"))
    assert reading.shape == rankings.NAME
    data, sentence = reading.build()
    assert chosen(data) == CHOSEN
    assert "4 rankings of 3 options: 3 options, 3 sets of 2 to 3, 8 choices" in sentence
    assert len(data.respondents) == (0 if "preflib" in shape else 4)


def test_constructors():
    assert chosen(th.Choices.from_rankings(ORDERS)) == CHOSEN
    frame = pd.DataFrame(ORDERS, columns=["x", "y", "z"])
    assert chosen(th.Choices.from_rankings(frame, "ranks")) == CHOSEN
    assert chosen(th.Choices.from_rankings(pd.DataFrame(RANKS, columns=["tea", "milk", "water"]), "options")) == CHOSEN
    with pytest.raises(ValueError, match="The columns 'x', 'y', 'z' hold no rankings: neither a column a rank"):
        th.Choices.from_rankings(frame)


def test_options_that_a_ranking_does_not_name():
    text = "subject,sex,tea,milk,water\na,f,1,2,\nb,m,2,,1\nc,m,1,2,3\n"
    absent, sentence = recognise(table(text)).build()
    assert chosen(absent)[("milk", "tea")] == {"tea": 1} and absent.n_choices == 4
    assert "options that a ranking does not name (in 2 of them) were not offered" in sentence
    assert absent.respondents == ("a", "b", "c") and absent.people["sex"].tolist() == ["f", "m", "m"]
    worse, sentence = recognise(table(text), unranked="worse").build()
    assert worse.n_choices == 6 and chosen(worse)[("milk", "tea", "water")] == {"tea": 2, "water": 1}
    assert "(in 2 of them) were offered and are worse" in sentence


def test_one_column_a_rank_may_end_early():
    data, _ = recognise(table("rank1,rank2,rank3\ntea,milk,water\nmilk,tea,\nwater,,\n")).build()
    assert data.n_choices == 3  # the last names one option alone


def test_the_unique_aspects_model_takes_them():
    data = th.Choices.from_rankings(ORDERS)
    model = th.EliminationByAspects("unique").prepare(data, draws=10, tune=10)
    assert model.task is not None


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "tea,milk,water\n1,2,3\n2,1,3\n1,1,2\n3,2,1\n",
            "'tea' and 'milk' both have rank 1 in row 4; rankings with ties are not read, so break the tie or "
            "remove the row.",
        ),
        ("rank1,rank2,rank3\ntea,milk,tea\n", "'tea' is named twice in row 2; an option has one rank."),
        (
            "rank1,rank2,rank3\ntea,,milk\n",
            "No option stands at 'rank2' in row 2, where later ones do; fill it in or move them.",
        ),
        (
            "subject,item,rank\n1,tea,1\n1,tea,2\n",
            "'tea' is listed twice in the ranking of subject '1', again in row 3.",
        ),
        ("subject,item,rank\n1,tea,1\n1,milk,x\n", "The rank in row 3, column 'rank' is 'x', which is not a number."),
        ("rank1,rank2\ntea,\nmilk,\n", "There is not a single choice in 2 rankings; none names two options."),
    ],
)
def test_rankings_that_are_refused(text, sentence):
    with pytest.raises(ValueError) as caught:
        recognise(table(text)).build()
    assert str(caught.value) == f"x.csv: {sentence}"


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ("2: 1,{2,3}\n", "Line 2 ranks several alternatives alike, '1,{2,3}'; rankings with ties are not read."),
        ("2: 1,7\n", "Line 2 names alternative '7', which the head of the file does not."),
        ("1,2\n", "Line 2 is '1,2', but an order of a PrefLib file is written as '3: 2,1,4'."),
        ("", "The file holds no order below its head."),
    ],
)
def test_preflib_files_that_are_refused(body, sentence):
    with pytest.raises(ValueError) as caught:
        table(f"# ALTERNATIVE NAME 1: tea\n{body}", "x.toi")
    assert str(caught.value) == f"x.toi: {sentence}"
    with pytest.raises(ValueError, match="This is no PrefLib file"):
        table("hello\n", "x.soi")


BEST_WORST = {
    ("milk", "tea", "water"): {"tea": 1, "milk": 1},
    ("milk", "water"): {"milk": 1},
    ("tea", "water"): {"tea": 1},
}


@pytest.mark.parametrize("cells", ["tea,water milk,water", "A,C B,C", "option_a,option_c option_b,option_c", "1,3 2,3"])
def test_best_and_worst_of_three(cells):
    first, second = cells.split()
    text = f"option_a,option_b,option_c,best,worst\ntea,milk,water,{first}\ntea,milk,water,{second}\n"
    reading = recognise(table(text))
    assert reading.shape == best_worst.NAME
    data = reading.build()[0]
    assert data.worst is not None and chosen(data.as_rankings()) == BEST_WORST


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ("a1,a2,a3,a4,best,worst\nx,y,z,y,x,z\n", "'y' is listed twice in row 2; remove one of the rows."),
        (
            "a1,a2,best,worst\nx,y,,y\n",
            "Nothing stands in row 2, column 'best', which is none of the options there, 'x', 'y'.",
        ),
        ("a1,a2,a3,best,worst\nx,y,z,x,x\n", "'x' is both the best and the worst in row 2; mend one of the two."),
        (
            "a1,a2,a3,best,worst\nx,y,z,x,q\n",
            "'q' is in row 2, column 'worst', which is none of the options there, 'x', 'y', 'z'.",
        ),
    ],
)
def test_best_worst_that_is_refused(rows, sentence):
    with pytest.raises(ValueError) as caught:
        recognise(table(rows)).build()
    assert str(caught.value) == f"x.csv: {sentence}"


LONG = "subject,task,item,best,worst\n1,1,tea,1,0\n1,1,milk,0,0\n1,1,water,0,1\n2,1,tea,,\n2,1,milk,1,\n2,1,water,,1\n"


def test_a_row_for_each_option_of_a_set():
    reading = recognise(table(LONG))
    assert reading.shape == best_worst.NAME and "marked in 'best' and 'worst'" in reading.how
    data = reading.build()[0]
    assert chosen(data.as_rankings()) == {("milk", "tea", "water"): {"tea": 1, "milk": 1}} | {
        ("milk", "water"): {"milk": 1},
        ("tea", "water"): {"tea": 1},
    }
    assert data.respondents == ("1", "2")


@pytest.mark.parametrize(
    ("before", "after", "sentence"),
    [
        (
            "1,1,tea,1,0",
            "1,1,tea,0,0",
            "No option is marked in column 'best' of the set that begins in row 2; mark one as the best.",
        ),
        (
            "2,1,tea,,",
            "2,1,tea,,1",
            "2 options are marked in column 'worst' of the set that begins in row 5; mark one as the worst.",
        ),
        ("1,1,milk,0,0", "1,1,tea,0,0", "An option is listed twice in the set that begins in row 2; list each once."),
        ("1,1,tea,1,0", "1,1,water,0,1", "An option is listed twice in the set that begins in row 2; list each once."),
        (
            "1,1,tea,1,0\n1,1,milk,0,0\n1,1,water,0,1",
            "1,1,tea,1,1\n1,1,milk,0,0\n1,1,water,0,0",
            "'tea' is both the best",
        ),
    ],
)
def test_marks_that_are_refused(before, after, sentence):
    with pytest.raises(ValueError) as caught:
        recognise(table(LONG.replace(before, after))).build()
    assert str(caught.value).startswith(f"x.csv: {sentence}")


def test_what_is_lacking():
    assert best_worst.lacks(table("best,worst,year\nx,y,1\n")) == (
        "columns 'option1', 'option2', 'option3' of what was offered beside 'best' and 'worst'",
        "",
        3,
    )
