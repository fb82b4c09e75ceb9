"""Files of survey programs and of R's packages, each written here after its published
description."""

import re

import pandas as pd
import pytest
from helpers.sentences import refused, said
from helpers.typed_tables import made

import thali as th
from thali._data.kinds import EXPERIMENTS
from thali._input_files import Source
from thali._reading.layout_recognition import read_data
from thali.errors import DataError

CODES = "attribute,code,label\nbrand,1,Sony\nbrand,2,Canon\nprice,1,99\nprice,2,149\nprice,3,199\n"
# Two people, two tasks of two products; the chosen concept of each task, 3 being none.
PRODUCTS = {
    (1, 1): [(1, 1), (2, 3)],
    (1, 2): [(2, 2), (1, 3)],
    (2, 1): [(2, 1), (1, 2)],
    (2, 2): [(1, 1), (2, 2)],
}
CHOICES = {(1, 1): 2, (1, 2): 3, (2, 1): 1, (2, 2): 2}
BRANDS, PRICES = ["Sony", "Canon"], [99, 149, 199]


@pytest.fixture
def expected():
    """The study as it is read without any codes."""
    rows = []
    for (person, task), products in PRODUCTS.items():
        for place, (brand, price) in enumerate(products, start=1):
            row = {"brand": BRANDS[brand - 1], "price": PRICES[price - 1]}
            rows.append(
                {
                    "id": person,
                    "task": task,
                    "alt": str(place),
                    **row,
                    "choice": int(CHOICES[person, task] == place),
                }
            )
        rows.append(
            {"id": person, "task": task, "alt": "3", "choice": int(CHOICES[person, task] == 3)}
        )
    return th.ChoiceExperiment.from_frame(pd.DataFrame(rows), none="3", levels={"brand": BRANDS})


def same(found, expected):
    """Whether two experiments hold the same products and choices."""
    assert found.levels == expected.levels and found.n_tasks == expected.n_tasks
    assert found.chosen.tolist() == expected.chosen.tolist()
    products = (each.products[each.row_product].tolist() for each in (found, expected))
    assert next(products) == next(products)


def file_of(tmp_path, text, name):
    (tmp_path / name).write_text(text)
    return tmp_path / name


@pytest.fixture
def codes(tmp_path):
    return file_of(tmp_path, CODES, "codes.csv")


def sawtooth():
    """The long CSV of Sawtooth Software: none is a row of zeros, levels are codes."""
    lines = ["sys_RespNum,sys_CBCVersion_CBC,Task,Concept,brand,price,Response"]
    for (person, task), products in PRODUCTS.items():
        for place, codes in enumerate([*products, (0, 0)], start=1):
            lines.append(
                f"{person},{person},{task},{place},{codes[0]},{codes[1]},{int(CHOICES[person, task] == place)}"
            )
    return "\n".join(lines)


def cho():
    """Sawtooth Software's help, CHO file format: a duration and a segment as variables."""
    lines = []
    for person in (1, 2):
        lines += [f"{person} 2 2 2 1", f"6 {person}"]
        for task in (1, 2):
            lines += ["2 1", *(f"{brand} {price}" for brand, price in PRODUCTS[person, task])]
            lines.append(f"{CHOICES[person, task]} 32")
    return "\n".join(lines)


def test_codes_have_labels_and_prices(codes, expected):
    found, sentence = made(sawtooth(), EXPERIMENTS, codes=codes)
    same(found, expected)
    assert "no-choice option" in sentence
    said(sentence, "'brand'", "'price'")
    wide = "id,task,brand_1,price_1,brand_2,price_2,choice\n"
    for (person, task), products in PRODUCTS.items():
        shown = ",".join(f"{brand},{price}" for brand, price in products)
        wide += f"{person},{task},{shown},{CHOICES[person, task] % 3}\n"
    same(made(wide, EXPERIMENTS, codes=codes, none="0")[0], expected)
    listed = made(sawtooth(), EXPERIMENTS, codes=codes, levels={"brand": ["Canon", "Sony"]})[0]
    assert listed.levels["brand"] == ("Canon", "Sony")


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        (CODES.replace("price,3,199\n", ""), ("Column 'price'", "'3'", "row 3")),
        (CODES + "zoom,1,3x\n", ("codes", "'zoom'")),
        (CODES.replace("Canon", "Sony"), ("Attribute 'brand'", "label 'Sony'")),
        (CODES + "price,3,249\n", ("Attribute 'price'", "'3'")),
        (CODES.replace("Canon", ""), ("Row 2",)),
        ("code,label\n1,Sony\n", ("must have three",)),
    ],
)
def test_codes_that_do_not_fit(tmp_path, text, facts):
    with refused(DataError, *facts):
        made(sawtooth(), EXPERIMENTS, codes=file_of(tmp_path, text, "codes.csv"))


def test_a_cho_file_is_read_as_an_experiment(codes, expected):
    found, sentence = read_data(Source("study.cho", cho().encode()), EXPERIMENTS, codes=codes)
    same(found, expected)
    assert found.people["variable2"].tolist() == [1, 2] and "file format: .cho" in sentence
    lines = cho().split("\n")
    lines[lines.index("3 32")] = "0 32"
    found, sentence = read_data(Source("study.cho", "\n".join(lines).encode()), EXPERIMENTS)
    assert found.n_tasks == 3
    said(sentence, "1 task")
    assert set(found.levels) == {"inside", "attribute1", "attribute2"}


@pytest.mark.parametrize(
    ("change", "facts"),
    [
        (lambda text: text[:-9], ("file ends within",)),
        (lambda text: text.replace("1 2 2 2 1", "1 2 2 2 2"), ("dual-response none option",)),
        (lambda text: text.replace("2 32", "9 32", 1), ("2 concepts",)),
        (lambda text: text.replace("2 3", "2 x", 1), ("Line 5", "'x'")),
        (lambda text: text.replace("1 1\n2 3", "0 1\n2 3", 1), ("lacks some attribute",)),
    ],
)
def test_damaged_cho_files_are_refused(change, facts):
    with refused(DataError, *facts):
        read_data(Source("study.cho", change(cho()).encode()), EXPERIMENTS)


def design(none=False, fixed=False):
    """One row a concept, by version."""
    lines = ["version,task,alternative,brand,price"]
    for (version, task), products in PRODUCTS.items():
        own = 0 if fixed and task == 2 else version
        if fixed and task == 2 and version == 2:
            continue
        for place, (brand, price) in enumerate(products, start=1):
            lines.append(f"{own},{task},{place},{BRANDS[brand - 1]},{PRICES[price - 1]}")
        if none:
            lines.append(f"{own},{task},none,,")
    return "\n".join(lines)


ANSWERS = "id,version,task,choice,age\n" + "".join(
    f"{person},{person},{task},{choice},{20 + person}\n"
    for (person, task), choice in CHOICES.items()
)
BY_TASK = "id,block,age,choice1,choice2\n1,1,21,2,none\n2,2,22,1,2\n"
QUALTRICS = """ResponseId,version,age,Q7,Q8
Response ID,version,How old are you?,Which would you buy?,"And here, which?"
"{""ImportId"":""_recordId""}","{""ImportId"":""v""}","{""ImportId"":""a""}","{""ImportId"":""1""}","{""ImportId"":""2""}"
1,1,21,2,3
2,2,22,1,2
"""


# older exports have no line of IDs
OLDER = "".join(line for line in QUALTRICS.splitlines(keepends=True) if "ImportId" not in line)


@pytest.mark.first(4)
@pytest.mark.parametrize(
    "answers",
    [ANSWERS, BY_TASK, QUALTRICS, OLDER],
    ids=["a row a task", "a column a task", "qualtrics", "older qualtrics"],
)
@pytest.mark.parametrize("none", [False, True])
def test_answers_beside_a_design(tmp_path, expected, answers, none):
    found, sentence = made(
        answers, EXPERIMENTS, design=file_of(tmp_path, design(none), "design.csv")
    )
    ordered = found.levels["brand"]
    assert ordered == ("Canon", "Sony") and found.levels["price"] == ("99", "149", "199")
    listed, _ = made(
        answers,
        EXPERIMENTS,
        design=tmp_path / "design.csv",
        levels={"brand": BRANDS},
        where="age > 0",
    )
    same(listed, expected)
    assert found.people["age"].tolist() == [21, 22]
    said(sentence, "design.csv")


def test_tasks_of_everybody_and_answers_that_are_missing(tmp_path):
    fixed = file_of(tmp_path, design(fixed=True), "design.csv")
    found, sentence = made(ANSWERS.replace("2,2,1,1,", "2,2,1,,"), EXPERIMENTS, design=fixed)
    assert found.n_tasks == 3
    said(sentence, "1 task")
    own = file_of(tmp_path, design().replace("version", "respID"), "own.csv")
    assert made(ANSWERS.replace("id,version", "respID,v"), EXPERIMENTS, design=own)[0].n_tasks == 4


@pytest.mark.parametrize(
    ("answers", "facts"),
    [
        (ANSWERS.replace("2,2,1,1,", "2,3,1,1,"), ("'1'", "'3'", "row 4")),
        (ANSWERS.replace("1,1,1,2,", "1,1,7,2,"), ("'7'", "'1'")),
        (ANSWERS.replace("1,1,1,2,", "1,1,1,Nikon,"), ("'Nikon'", "row 2")),
        (ANSWERS.replace("id,version", "id,v"), ("which version each respondent",)),
        (ANSWERS.replace("age", "brand"), ("column 'brand'",)),
        (ANSWERS.replace("id,", "who,", 1), ("identifies the respondent",)),
        (BY_TASK.replace("choice2", "note"), ("2 tasks",)),
        (
            BY_TASK.replace("age", "a1,a2").replace(",21,", ",1,1,").replace(",22,", ",2,2,"),
            ("several series",),
        ),
    ],
)
def test_answers_that_do_not_fit_their_design(tmp_path, answers, facts):
    with refused(DataError, *facts):
        made(answers, EXPERIMENTS, design=file_of(tmp_path, design(), "design.csv"))


SHUFFLED = "task,{0},brand,price\n1,{2},Sony,99\n1,{1},Canon,199\n2,{1},Sony,149\n2,{2},Canon,99\n"


@pytest.mark.parametrize(
    ("name", "labels"),
    [
        ("option", "12"),
        ("profile", "12"),
        ("product", "BA"),
        ("Package No", "12"),
        ("option", ("left", "right")),
        ("alternative", "12"),
    ],
)
def test_a_column_of_a_design_numbers_its_alternatives_in_any_order(tmp_path, name, labels):
    design = file_of(tmp_path, SHUFFLED.format(name, *labels), "design.csv")
    answers = "id,choice1,choice2\n1,{0},{1}\n2,{0},{0}\n".format(*labels)
    found, sentence = made(answers, EXPERIMENTS, design=design)
    prices = [found.levels["price"][k] for k in found.products[found.row_product, 1]]
    rows = found.first_row[:-1] + found.chosen
    assert [prices[row] for row in rows] == ["199", "99", "199", "149"]
    assert found.attributes == ("brand", "price") and f"alternatives in {name!r}" in sentence


@pytest.mark.parametrize("name", ["candidate_party", "立場"])
def test_traits_of_candidates_are_attributes(tmp_path, name):
    """Also if each task has each of them, and the respondents have them, too."""
    text = SHUFFLED.format(name, "left", "right").replace("brand", "size")
    answers = "id,party,choice1,choice2\n1,left,1,2\n2,right,2,2\n"
    found, _ = made(answers, EXPERIMENTS, design=file_of(tmp_path, text, "design.csv"))
    assert found.attributes == (name, "size", "price")


@pytest.mark.parametrize("name", ["option", "alternative"])
def test_numbers_may_mean_letters_or_rows(tmp_path, name):
    """Where the letters are in the order of the rows, both mean the same."""
    answers = "id,choice1,choice2\n1,1,2\n2,1,1\n"
    own = file_of(tmp_path, SHUFFLED.format(name, "A", "B"), "design.csv")
    named = {"design": own, "alternative": name}
    with refused(DataError, "'choice1'", "'B' and 'A'", "coding"):
        made(answers, EXPERIMENTS, **named)
    found, _ = made(answers, EXPERIMENTS, **named, coding={1: "A", 2: "B"})
    assert found.chosen.tolist() == [1, 1, 1, 0]
    for labels in ("ABAB", "xyyx"):
        rows = zip("1122", labels, (99, 199, 149, 99), strict=True)
        lines = [f"{task},{label},{price}" for task, label, price in rows]
        own.write_text("\n".join([f"task,{name},price", *lines]))
        found, _ = made(answers, EXPERIMENTS, **named)
        assert found.chosen.tolist() == [0, 1, 0, 0]


@pytest.mark.parametrize("name", ["code", "brand"])
def test_numbers_in_another_order_may_be_levels(tmp_path, name):
    """Such columns are attributes, and one that counts up numbers the rows."""
    text = SHUFFLED.replace("brand", "size").format(name, 1, 2)
    design = file_of(tmp_path, text, "design.csv")
    answers = "id,choice1,choice2\n1,1,2\n2,2,2\n"
    found, _ = made(answers, EXPERIMENTS, design=design)
    assert found.chosen.tolist() == [0, 1, 1, 1] and name in found.attributes
    found, _ = made(answers, EXPERIMENTS, design=design, alternative=name)
    assert found.chosen.tolist() == [1, 1, 0, 1] and found.attributes == ("size", "price")
    lines = text.split()
    for header, cells in (("alternative", "1212"), ("zoom", "1221"), ("letter", "ABAB")):
        more = [f"{line},{cell}" for line, cell in zip(lines, [header, *cells], strict=True)]
        design.write_text("\n".join(more))
        found, _ = made(answers, EXPERIMENTS, design=design)
        assert found.chosen.tolist() == [0, 1, 1, 1] and name in found.attributes
        assert ("zoom" in found.attributes) == (header == "zoom")
    with refused(DataError, "'nope'"):
        made(answers, EXPERIMENTS, design=design, alternative="nope")


def test_the_tasks_of_a_design_may_have_another_name(tmp_path, expected):
    text = design(none=True)
    named = file_of(tmp_path, text.replace("task", "screen"), "design.csv")
    with refused(DataError, "number of the task", "`task`"):
        made(ANSWERS, EXPERIMENTS, design=named)
    for answers in (ANSWERS, ANSWERS.replace("task", "screen"), BY_TASK):
        options = {"task": "screen", "levels": {"brand": BRANDS}}
        same(made(answers, EXPERIMENTS, design=named, **options)[0], expected)
    named.write_text(text)
    answers = ANSWERS.replace("task", "screen")
    same(made(answers, EXPERIMENTS, design=named, **options)[0], expected)
    for role in ("task", "respondent", "chosen"):
        with refused(DataError, "'nope'"):
            made(ANSWERS, EXPERIMENTS, design=named, **{role: "nope"})


@pytest.mark.parametrize(
    ("code", "place", "column"),
    [("99", "22,1", "choice1"), ("-9", "21,2,none", "choice2"), ("A3", "21,2,none", "choice2")],
)
def test_a_code_among_the_answers_is_asked_about(tmp_path, expected, code, place, column):
    """The other answers show which columns contain the answers."""
    own = file_of(tmp_path, design(), "design.csv")
    answers = BY_TASK.replace(place, f"{place.rpartition(',')[0]},{code}")
    answers = (
        answers.replace("age", "age,d1,d2").replace(",21", ",21,x,y").replace(",22", ",22,y,x")
    )
    facts = (repr(column), repr(code), "row", f"none={code!r}", "coding")
    with refused(DataError, *facts):
        made(answers, EXPERIMENTS, design=own)
    found, sentence = made(answers, EXPERIMENTS, design=own, coding={code: "missing"})
    assert found.n_tasks == 3 and "1 task without an answer" in sentence
    if column == "choice2":
        levels = {"brand": BRANDS}
        for options in ({"none": code}, {"coding": {code: "none"}}):
            same(made(answers, EXPERIMENTS, design=own, levels=levels, **options)[0], expected)


@pytest.mark.parametrize("none", [False, True])
@pytest.mark.parametrize("answers", [ANSWERS, BY_TASK.replace("none", "3")], ids=["long", "wide"])
def test_codes_of_alternatives_are_given_with_their_meaning(tmp_path, expected, answers, none):
    own = file_of(tmp_path, design(none), "design.csv")
    for number in "123":
        answers = re.sub(rf"(?<=[12],){number}(?=,2[12]\n|\n)", f"A{number}", answers)
        answers = re.sub(rf"(?<=2[12],){number}(?=,)", f"A{number}", answers)
    with refused(DataError, "'A2'", "row 2", "the label or number of an alternative"):
        made(answers, EXPERIMENTS, design=own)
    coding = {"A1": "1", "A2": 2, "A3": "none"}
    found, _ = made(answers, EXPERIMENTS, design=own, coding=coding, levels={"brand": BRANDS})
    same(found, expected)


def test_words_for_no_answer_beside_a_design_are_no_answers(tmp_path):
    own = file_of(tmp_path, design(), "design.csv")
    for answers in (
        ANSWERS.replace("2,2,1,1,", "2,2,1,NA,"),
        BY_TASK.replace("none", "don't know"),
    ):
        found, sentence = made(answers, EXPERIMENTS, design=own)
        assert found.n_tasks == 3 and "1 task without an answer" in sentence


@pytest.mark.parametrize("name", ["session", "CASE", "_id", "caseid"])
def test_a_row_of_answers_beside_a_design_is_a_respondent(tmp_path, expected, name):
    """In a column of sessions or cases if it names each row, and without a column if none does."""
    own = file_of(tmp_path, design(), "design.csv")
    options = {"design": own, "levels": {"brand": BRANDS}}
    for header in (name, "Timestamp"):
        found, sentence = made(BY_TASK.replace("id", header), EXPERIMENTS, **options)
        same(found, expected)
        assert found.respondents == ("1", "2") and found.people["age"].tolist() == [21, 22]
        assert ("each row" in sentence) == (header == "Timestamp")
    again = BY_TASK.replace("id", "session").replace("2,2,22", "1,2,22")
    with refused(DataError, "identifies the respondent"):
        made(again, EXPERIMENTS, **options)
    assert made(again.replace("session", "who"), EXPERIMENTS, **options)[0].n_respondents == 2


def test_a_design_that_is_none(tmp_path):
    wide = file_of(
        tmp_path, "version,task,brand_1,brand_2\n1,1,Sony,Canon\n2,1,Sony,Canon\n", "tasks.csv"
    )
    with refused(DataError, "'1'", "per alternative"):
        made(ANSWERS, EXPERIMENTS, design=wide)
    with refused(DataError, "number of the task"):
        made(
            ANSWERS,
            EXPERIMENTS,
            design=file_of(tmp_path, "version,brand\n1,Sony\n1,Canon\n", "tasks.csv"),
        )


# Shapes of R's packages, after their documentation ------------------------------------------------

APOLLO = """ID,SP_task,av_car,av_bus,av_air,time_car,cost_car,time_bus,cost_bus,time_air,cost_air,choice,female
1,1,1,1,0,120,40,180,20,0,0,1,0
1,2,1,1,1,150,50,180,25,60,90,3,0
2,1,0,1,1,0,0,240,20,80,70,2,1
2,2,1,1,1,120,50,180,20,60,70,2,1
"""
TRAIN = """id,choiceid,choice,price_A,time_A,comfort_A,price_B,time_B,comfort_B
1,1,A,2400,150,1,4000,150,1
1,2,B,2400,150,1,3200,130,1
2,1,A,4000,115,1,2400,150,0
2,2,B,2400,150,0,3200,150,0
"""
ELECTRICITY = """choice,id,pf1,pf2,pf3,cl1,cl2,cl3
3,1,7,9,0,5,1,0
1,1,9,0,7,1,5,0
2,2,0,7,9,5,0,1
"""
ELECTRICITY_AND_AGES = """choice,id,pf1,pf2,pf3,cl1,cl2,cl3,age1,age2
3,1,7,9,0,5,1,0,40,12
1,1,9,0,7,1,5,0,40,12
2,2,0,7,9,5,0,1,30,5
"""
ELECTRICITY_AND_PEOPLE = """choice,id,pf1,pf2,pf3,cl1,cl2,cl3,q1,q2,q3,q4,r1,r2,r3,r4,s1,s2,s3,s4
3,1,7,9,0,5,1,0,1,2,3,4,1,2,3,4,1,2,3,4
1,1,9,0,7,1,5,0,1,2,3,4,1,2,3,4,1,2,3,4
2,2,0,7,9,5,0,1,4,3,2,1,4,3,2,1,4,3,2,1
"""
MODE_CANADA = """case,alt,choice,cost,ivt,income
1,train,0,28,50,45
1,air,1,70,20,45
2,train,1,28,66,25
2,air,0,63,20,25
"""
YOGURT = """id,obsID,alt,choice,price,feat,brand
1,1,1,0,8.1,0,dannon
1,1,2,1,6.1,0,hiland
1,2,1,1,9.8,1,dannon
1,2,2,0,6.4,0,hiland
2,3,1,0,8.1,0,dannon
2,3,2,1,5.1,1,hiland
"""
CBC_TOOLS = """profileID,respID,qID,altID,obsID,price,type,choice
31,1,1,1,1,1.0,Fuji,1
15,1,1,2,1,2.0,Gala,0
14,1,2,1,2,1.5,Gala,0
43,1,2,2,2,2.0,Fuji,1
"""
GERMAN = """Befragter;Aufgabe;Konzept;Marke;Preis;Auswahl
1;1;1;Aika;99 €;0
1;1;2;Bora;1.299,00 €;1
1;2;1;Bora;99 €;1
1;2;2;Aika;1.299,00 €;0
"""


@pytest.mark.parametrize(
    ("text", "options", "size", "attributes"),
    [
        (APOLLO, {}, (2, 4, 10), ["time", "cost"]),
        (TRAIN, {}, (2, 4, 8), ["price", "time", "comfort"]),
        (ELECTRICITY, {}, (2, 3, 9), ["pf", "cl"]),
        (ELECTRICITY_AND_AGES, {}, (2, 3, 9), ["pf", "cl"]),
        (ELECTRICITY_AND_PEOPLE, {}, (2, 3, 9), ["pf", "cl"]),
        (MODE_CANADA, {"respondent": "case", "task": "case"}, (2, 2, 4), ["cost", "ivt"]),
        (YOGURT, {}, (2, 3, 6), ["price", "feat", "brand"]),
        (CBC_TOOLS, {"attributes": ["price", "type"]}, (1, 2, 4), ["price", "type"]),
        (GERMAN, {}, (1, 2, 4), ["Marke", "Preis"]),
    ],
    ids=[
        "apollo",
        "mlogit, Train",
        "mlogit, Electricity",
        "the same and ages",
        "the same and four answers to each of three questions",
        "mlogit, ModeCanada",
        "logitr",
        "cbcTools",
        "German",
    ],
)
@pytest.mark.filterwarnings("ignore::thali.errors.DataWarning")
def test_tables_of_r_packages_are_recognised(text, options, size, attributes):
    data, _ = made(text, EXPERIMENTS, **options)
    assert (data.n_respondents, data.n_tasks, len(data.row_product)) == size
    assert list(data.attributes) == attributes


@pytest.mark.parametrize("text", [YOGURT, TRAIN, GERMAN, "winner,loser\ntea,milk\nmilk,water\n"])
def test_files_that_were_put_together_with_their_headers(text):
    lines = text.splitlines()
    again = "\n".join([*lines[:2], lines[0], *lines[2:]])
    with refused(DataError, "Line 3"):
        made(again)


def test_a_row_of_numbers_may_be_there_twice():
    data, _ = made("1,1\n1,1\n", "similarities")
    assert data.values.tolist() == [1.0]


def test_a_version_has_its_own_tasks_before_those_of_everybody(tmp_path):
    """Wherever rows of version 0 stand in the design."""
    own = (
        "version,task,alternative,brand,price\n1,1,1,Sony,99\n1,1,2,Canon,149\n0,1,1,Canon,199\n"
        "0,1,2,Sony,149\n"
    )
    answers = "id,version,task,choice\n1,1,1,2\n2,0,1,1\n3,1,1,1\n"
    found, _ = made(answers, EXPERIMENTS, design=file_of(tmp_path, own, "design.csv"))
    prices = [found.levels["price"][found.products[row, -1]] for row in found.row_product]
    assert prices == ["99", "149", "199", "149", "99", "149"]


def test_no_choice_is_that_of_the_design(tmp_path, expected):
    """Whatever word or number says so; the design has a row of it."""
    with_none = file_of(tmp_path, design(True), "design.csv")
    for word in ("0", "None", "3"):
        found, _ = made(
            BY_TASK.replace("none", word), EXPERIMENTS, design=with_none, levels={"brand": BRANDS}
        )
        same(found, expected)


def test_tasks_that_a_version_lacks_are_empty(tmp_path):
    laid_out = file_of(tmp_path, design() + "\n1,3,1,Sony,99\n1,3,2,Canon,149\n", "design.csv")
    answers = "id,version,c1,c2,c3\n1,1,2,1,1\n2,2,1,2,\n"
    assert made(answers, EXPERIMENTS, design=laid_out)[0].n_tasks == 5
    with refused(DataError, "row 3"):
        made(answers.replace("2,2,1", "2,,1"), EXPERIMENTS, design=laid_out)


def test_codes_of_people_describe_people(tmp_path):
    rows = "".join(
        f"{who},{task},{k},{k},{int(k == 1 + task % 2)},{1 + who % 2}\n"
        for who in range(1, 5)
        for task in (1, 2)
        for k in (1, 2)
    )
    own = file_of(
        tmp_path,
        "attribute,code,label\nbrand,1,Sony\nbrand,2,Canon\nage,1,young\nage,2,old\n",
        "c.csv",
    )
    found, _ = made("id,task,alt,brand,choice,age\n" + rows, EXPERIMENTS, codes=own)
    assert found.attributes == ("brand",) and found.levels["brand"] == ("Sony", "Canon")
    assert found.people["age"].tolist() == ["old", "young", "old", "young"]


@pytest.mark.parametrize(
    ("header", "asked"),
    [
        ("Version,Aufgabe,links,rechts", "gewählt"),
        ("version,task,item1,item2", "chosen"),
        ("Nr,left,right", "winner"),
    ],
)
def test_columns_of_sets_in_a_design_are_called_as_in_a_table(tmp_path, header, asked):
    numbered = header.split(",")[:-2]
    rows = [
        ",".join(["1"] * (len(numbered) - 1) + [str(k), *pair])
        for k, pair in enumerate(("ab", "bc", "ca"), start=1)
    ]
    design = file_of(tmp_path, "\n".join([header, *rows]), "design.csv")
    answers = f"id,{asked}_1,{asked}_2,{asked}_3\nx,1,2,1\ny,1,2,2\n"
    data = read_data(Source("answers.csv", answers.encode()), design=design)[0]
    assert data.labels == ("a", "b", "c") and data.counts.tolist() == [
        [0, 2, 1],
        [0, 0, 0],
        [1, 2, 0],
    ]
