"""Rankings and best-worst choices: their shapes, the choices that they are made of, and what is
refused."""

import pandas as pd
import pytest
from helpers import limits
from helpers.sentences import refused, said
from helpers.typed_tables import made, table

import thali as th
from thali._reading.layout_recognition import recognise
from thali.errors import DataError

ORDERS = [
    ["tea", "milk", "water"],
    ["milk", "water", "tea"],
    ["tea", "water", "milk"],
    ["tea", "milk", "water"],
]
# sets, and how often each member was chosen: of all three, and of the two left
CHOSEN = {
    ("milk", "tea", "water"): {"tea": 3, "milk": 1},
    ("milk", "water"): {"milk": 2, "water": 1},
    ("tea", "water"): {"water": 1},
}


def chosen(data):
    found = {}
    for k, members in enumerate(data.sets):
        counts = data.counts[data.start[k] : data.start[k + 1]]
        found[tuple(sorted(members))] = {
            m: n for m, n in zip(members, counts.tolist(), strict=True) if n
        }
    return found


def text_of(rows):
    return "\n".join(",".join(map(str, row)) for row in rows) + "\n"


def test_long_rankings_do_not_fill_the_memory(monkeypatch):
    """Neither a table of all rankings by all options, nor the choices of which they consist."""
    limits.lower(monkeypatch, cells_of_a_sheet=1000)
    rows = [("0", f"o{k}", k + 1) for k in range(12_000)] + [
        (str(k), "o1", 1) for k in range(1, 60)
    ]
    frame = pd.DataFrame(rows, columns=["ranker", "item", "rank"])
    for how in ({}, {"unranked": "worse"}):
        with refused(DataError, "12,000 options"):
            th.Choices.from_rankings(frame, "long", "item", "rank", "ranker", **how)
    names = "".join(f"# ALTERNATIVE NAME {k}: o{k}\n" for k in range(40))
    with refused(DataError, "40 alternatives"):
        table(names + "1: " + ",".join(map(str, range(40))) + "\n" + "1: 1\n" * 29, "x.soc")
    assert (
        th.Choices.from_rankings(
            frame[frame["rank"] < 10], "long", "item", "rank", "ranker"
        ).n_options
        == 9
    )


RANKS = [[order.index(option) + 1 for option in ("tea", "milk", "water")] for order in ORDERS]
SHAPES = {
    "ranks": text_of([["rank1", "rank2", "rank3"], *ORDERS]),
    "ordinals": text_of([["1st", "2nd", "3rd"], *ORDERS]),
    "choices": text_of([["First choice", "Second choice", "Third choice"], *ORDERS]),
    "options": text_of([["tea", "milk", "water"], *RANKS]),
    "long": text_of(
        [
            ["Vp", "item", "rank"],
            *([k, option, n + 1] for k, o in enumerate(ORDERS) for n, option in enumerate(o)),
        ]
    ),
    "long, counted": text_of(
        [
            ["task", "item", "rank", "count"],
            *(
                [k, option, n + 1, 1 + (k < 1)]
                for k, o in enumerate(ORDERS[:3])
                for n, option in enumerate(o)
            ),
        ]
    ),
    "preflib": "# FILE NAME: 1.soc\n# ALTERNATIVE NAME 1: tea\n# ALTERNATIVE NAME 2: milk\n#"
    " ALTERNATIVE NAME 3: water\n2: 1,2,3\n1: 2,3,1\n1: 1,3,2\n",
    "old preflib": "3\n1,tea\n2,milk\n3,water\n4,4,3\n2,1,2,3\n1,2,3,1\n1,1,3,2\n",
}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_gives_the_same_choices(shape):
    reading = recognise(table(SHAPES[shape], "x.soc" if "preflib" in shape else "x.csv"))
    assert reading.shape == "table of rankings"
    data, sentence = reading.build()
    assert chosen(data) == CHOSEN
    said(sentence, "4 rankings", "3 options", "3 sets")
    assert len(data.respondents) == (0 if "preflib" in shape or "counted" in shape else 4)


def test_rows_of_one_ranking_have_one_count():
    uneven = SHAPES["long, counted"].replace("0,milk,2,2", "0,milk,2,1")
    with refused(DataError, "task '0'"):
        made(uneven)


BEST_WORST = {
    ("milk", "tea", "water"): {"tea": 1, "milk": 1},
    ("milk", "water"): {"milk": 1},
    ("tea", "water"): {"tea": 1},
}


@pytest.mark.parametrize(
    "cells", ["tea,water milk,water", "A,C B,C", "option_a,option_c option_b,option_c", "1,3 2,3"]
)
def test_best_and_worst_of_three(cells):
    first, second = cells.split()
    text = (
        f"option_a,option_b,option_c,best,worst\ntea,milk,water,{first}\ntea,milk,water,{second}\n"
    )
    reading = recognise(table(text))
    assert reading.shape == "table of best-worst choices"
    data = reading.build()[0]
    assert data.worst is not None and chosen(data.as_rankings()) == BEST_WORST


LONG = (
    "subject,task,item,best,worst\n1,1,tea,1,0\n1,1,milk,0,0\n1,1,water,0,1\n2,1,tea,,\n"
    "2,1,milk,1,\n2,1,water,,1\n"
)


@pytest.mark.parametrize("task", ["task", "set", "Set No."])
def test_a_row_for_each_option_of_a_set(task):
    reading = recognise(table(LONG.replace("task", task)))
    assert reading.shape == "table of best-worst choices"
    said(reading.description, "'best'", "'worst'")
    data = reading.build()[0]
    assert chosen(data.as_rankings()) == {("milk", "tea", "water"): {"tea": 1, "milk": 1}} | {
        ("milk", "water"): {"milk": 1},
        ("tea", "water"): {"tea": 1},
    }
    assert data.respondents == ("1", "2")


# Ties ---------------------------------------------------------------------------------------------


TIED = [["tea", "milk", "water", "rum"], [1, 2, 2, 4], [2, 1, 3, 3], [2, 2, 1, 4], [3, 2, 1, 4]]
OF_RANKS = [
    ("tea", "milk = water", "rum"),
    ("milk", "tea", "water = rum"),
    ("water", "tea = milk", "rum"),
]
OF_RANKS += [("water", "milk", "tea", "rum")]
NAMES = "".join(f"# ALTERNATIVE NAME {k + 1}: {name}\n" for k, name in enumerate(TIED[0]))
TIED_SHAPES = {
    "options": text_of(TIED),
    "long": text_of(
        [
            ["respondent", "item", "rank"],
            *(
                [who, item, rank]
                for who, row in enumerate([(1, 2.5, 2.5, 4), *TIED[2:]])
                for item, rank in zip(TIED[0], row, strict=True)
            ),
        ]
    ),
    "text": text_of(
        [["id", "ranking"], *([k, " > ".join(order)] for k, order in enumerate(OF_RANKS))]
    ),
    "ranks": text_of(
        [["rank1", "rank2", "rank3", "rank4"], *((*order, "")[:4] for order in OF_RANKS)]
    ),
    "preflib.toc": "# FILE NAME: 1.toc\n"
    + NAMES
    + "1: 1,{2,3},4\n1: 2,1,{3,4}\n1: 3,{1,2},4\n1: 3,2,1,4\n",
}


def tied_sets(data):
    """Options that came before others, and how often."""
    found = {}
    for choice, times in zip(data.choice, data.times, strict=True):
        which = data.set_of[choice]
        names = [data.labels[k] for k in data.members[data.start[which] : data.start[which + 1]]]
        first = data.n_tied[which]
        chosen = names[:first] if first > 1 else [names[choice - data.start[which]]]
        key = frozenset(chosen), frozenset(names) - frozenset(chosen)
        found[key] = found.get(key, 0) + times
    return found


@pytest.mark.parametrize("shape", TIED_SHAPES)
def test_every_shape_has_ties(shape):
    reading = recognise(table(TIED_SHAPES[shape], shape if "preflib" in shape else "x.csv"))
    assert reading.shape == "table of rankings"
    data, sentence = reading.build()
    said(sentence, "4 rankings of 4 options", "3 rankings with ties")
    assert data.n_choices == 9 and data.n_ties == 2
    expected = tied_sets(th.Choices.from_rankings([" > ".join(order) for order in OF_RANKS]))
    assert (
        tied_sets(data) == expected
        and expected[frozenset(["tea", "milk"]), frozenset(["rum"])] == 1
    )


@pytest.mark.parametrize(
    ("name", "text", "facts"),
    [
        # no mean of ranks that tie
        ("x.csv", "tea,milk,water\n1,2,3\n2.5,1,2\n3,1,2\n2,1,3\n", ("2.5", "row 3")),
        ("x.csv", "id,ranking\n1,tea > milk = tea\n2,milk > tea\n", ("'tea'", "twice", "row 2")),
        # is read as something else, or not at all
        ("x.csv", "id,ranking\n1,tea > milk\n2,milk\n", ("'ranking'",)),
        ("x.csv", "a,b,c\n1,1,1\n1,1,1\n", ("'a', 'b' and 'c'",)),  # ratings
        ("x.csv", "a,b,c\n3,3,2\n1,2,2\n3,2,3\n3,3,3\n", ("'a', 'b' and 'c'",)),
        ("x.toc", NAMES + "1: {1,2},{3,4\n1: {7,1},2\n", ("Line 6", "'7'")),
        ("x.toc", NAMES + "2: {1,2,3,4}\n", ("1 ranking",)),
    ],
)
def test_ties_that_are_refused(name, text, facts):
    with refused(DataError, *facts):
        recognise(table(text, name)).build()


@pytest.mark.parametrize("words", ["worst_to_best", "Order (least to most)", "disliked", "reverse"])
@pytest.mark.parametrize("shape", ["text", "long", "ranks"])
def test_rankings_that_begin_with_the_worst_are_asked_about(words, shape):
    rows = pd.DataFrame({"id": [*"abc"], "ranking": ["x > y > z", "z > y > x", "y > x > z"]})
    names = {"ranking": f"{words} ranking"}
    if shape == "ranks":
        names = {k: f"{words} rank{k + 1}" for k in range(3)}
        rows = rows[["id"]].join(rows["ranking"].str.split(" > ", expand=True))
    if shape == "long":
        names = {"rank": f"{words} rank"}
        ranks = {"item": [*"xyzxyzxyz"], "rank": [1, 2, 3, 3, 2, 1, 2, 1, 3]}
        rows = pd.DataFrame({"id": [*"aaabbbccc"]} | ranks)
    with pytest.raises(DataError, match="may have the worst option first"):
        th.read(rows.rename(columns=names))
    plain = {key: name.replace(words, "best_to_worst ") for key, name in names.items()}
    assert th.read(rows.rename(columns=plain)).n_choices == 6


@pytest.mark.parametrize("name", ["points_{}", "{} score", "Importance of {}", "Punkte{}"])
def test_points_are_no_ranks(name):
    options = [name.format(option.capitalize()) for option in ("tea", "rum", "gin")]
    rows = pd.DataFrame([(3, 2, 1), (2, 3, 1), (3, 1, 2), (3, 2, 1)], list("wxyz"), options)
    rows = rows.rename_axis("judge").reset_index()
    with refused(DataError, "may be ranks or points", "unranked='absent'", "with `item`"):
        th.read(rows)
    ranks = rows.set_axis(["judge", "rank_Tea", "rank_Rum", "rank_Gin"], axis=1)
    ranking = th.read(rows, unranked="absent")
    assert (ranking.choice == th.read(ranks).choice).all()
    options = [f"Rank by importance [{option}]" for option in ("tea", "rum", "gin")]
    assert (th.read(rows.set_axis(["judge", *options], axis=1)).choice == ranking.choice).all()


@pytest.mark.fit
def test_points_are_scores_of_a_leaderboard():
    points = pd.DataFrame(
        {"judge": [*"wxyz"], "tea_points": [3, 2, 3, 3], "rum_points": [2, 3, 1, 2]}
    )
    points = points.assign(gin_points=[1, 1, 2, 1])
    board = th.leaderboard(points, item="judge", progressbar=False)
    assert board.table.index[0] == "tea_points"


def test_an_option_that_nobody_ranked_stays():
    text = "race,A,B,C,D\n1,1,2,,\n2,2,1,3,\n3,1,3,2,\n4,2,1,,\n"
    assert made(text, unranked="worse")[0].labels == tuple("ABCD")
    preflib = table(NAMES + "2: 1,{2,3}\n1: 2,1,3\n", "x.toi")
    assert recognise(preflib, unranked="worse").build()[0].labels == tuple(TIED[0])
    assert recognise(preflib).build()[0].labels == tuple(TIED[0][:3])


def test_ties_stay_with_respondents_and_more_rankings():
    frame = pd.DataFrame(
        {"respondent": ["x", "y", "y"], "ranking": ["a = b > c", "c > a = b", "a > b > c"]}
    )
    data = th.read(frame)
    assert data.by_respondent()["x"].n_ties == 1 and not data.by_respondent()["y"].n_ties
    more = data.with_more(th.read(frame.assign(respondent="z")))
    assert more.n_ties == 2 and more.n_choices == 8 and more.respondents == ("x", "y", "z")
    asked = data.questions()
    assert asked.totals.sum() == 3 and len(asked.start) == 3  # without that tie
    assert data.questions(True).totals.sum() == 4
    alone = th.Choices.from_rankings([["d", ["c", "b"], "a"]], labels="abcd")
    assert th.Choices.from_rankings(["b = c > a"]).example().startswith("'b' = 'c' chosen from")
    assert alone.n_ties == 1 and alone.sets == [("a", "b", "c", "d"), ("b", "c", "a")]


@pytest.mark.parametrize(
    "model", [{}, {"aspects": "unique"}, {"aspects": "unique", "method": "maximum-likelihood"}]
)
def test_models_without_ties_in_rankings_name_what_has_them(model):
    data = th.Choices.from_rankings(["a = b > c", "c > a = b", "a > b > c"])
    with refused(DataError, "1 of 4 choices", "leaderboard"):
        th.EliminationByAspects(**model).fit(data)
    with refused(DataError, "'half'"):
        data.without_ties("half")


@pytest.mark.parametrize(
    ("header", "who", "numbered"),
    [
        ("event,heat,swimmer,place", "event 'a'", "'event' and 'heat'"),
        ("judge,flight,swimmer,rank", "judge 'a'", "'flight'"),
    ],
)
def test_rankings_numbered_anew_are_asked_about(header, who, numbered):
    orders = [("a", 1, "xyz"), ("a", 2, "zxy"), ("b", 1, "yxz"), ("b", 2, "xyz")]
    rows = [(*keys, name, k) for *keys, names in orders for k, name in enumerate(names, 1)]
    frame = pd.DataFrame(rows, columns=header.split(","))
    with refused(DataError, f"ranking of {who}", f"write {numbered} in a column 'task'"):
        th.read(frame, option="swimmer")
    task = frame.iloc[:, 0] + frame.iloc[:, 1].astype(str)
    data = th.read(frame.assign(task=task), option="swimmer")
    assert "4 rankings of 3 options" in data.read_as and data.n_choices == 8


@pytest.mark.parametrize("names", ["price_{},brand_{},rank_{}", "price{},size{},rank{}"])
def test_ranks_of_products_in_other_columns_are_asked_about(names):
    header = [name.format(k) for k in (1, 2, 3) for name in names.split(",")]
    rows = ["1,10,a,1,20,a,2,30,c,3", "1,20,c,2,10,b,1,20,b,3", "2,30,a,3,20,b,2,10,a,1"]
    frame = pd.DataFrame([row.split(",") for row in rows], columns=["id", *header])
    frame = frame.astype(dict.fromkeys([name for name in header if name[0] in "pr"], int))
    described = [name for name in header if name[0] != "r"]
    ranks = [name for name in header if name[0] == "r"]
    with pytest.raises(DataError, match="are not read: for the first choices.*`without="):
        th.read(frame)
    data = th.read(frame, without=described)
    assert data == th.read(frame[["id", *ranks]]) and data.labels == ("1", "2", "3")
    choices = frame.drop(columns=ranks).assign(choice=frame[ranks].to_numpy().argmin(1) + 1)
    assert isinstance(th.read(choices), th.ChoiceExperiment)
