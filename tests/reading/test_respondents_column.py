"""The column of who answered: one vocabulary for all shapes, and a name for what is not
recognised."""

import contextlib
import itertools

import pandas as pd
import pytest
from helpers.sentences import refused

import thali as th
from thali._data.kinds import EXPERIMENTS
from thali._input_files import Source
from thali._reading.layout_recognition import read_data
from thali.errors import ArgumentError, DataError, DataWarning

NAMES = (
    "voter_id judge_hash judge_name judge_model user_hash evaluator_id assessor_id rater_name"
    " marker examiner"
)
NAMES += (
    " teacher_id coder sys_RespNum judge rater annotator_id participant respondent.id RESPID"
    " user workerId"
)
NAMES += " Subject-No PERSON_NUM participantNumber Grader juror_code"
SHAPES = {  # a table in which {} is who answered, p or q
    "trials": "{},left,right,chosen\np,tea,milk,tea\np,milk,rum,rum\nq,tea,rum,rum\nq,tea,milk,milk\n",
    "list": "winner,loser,{}\ntea,milk,p\nmilk,rum,p\nrum,tea,q\ntea,milk,q\n",
    "results": "home,away,result,{}\nHull,York,1,p\nYork,Hull,X,p\nHull,Bath,2,q\nBath,York,1,q\n",
    "a column a pair": "{},tea > milk,tea > rum,milk > rum\np,1,2,1\nq,2,2,1\n",
    "rankings": "{},rank1,rank2,rank3\np,tea,milk,rum\nq,rum,tea,milk\n",
    "long rankings": "{},item,rank\np,tea,1\np,milk,2\np,rum,3\nq,rum,1\nq,milk,2\nq,tea,3\n",
    "best and"
    " worst": "{},item1,item2,item3,best,worst\np,tea,milk,rum,tea,rum\nq,tea,milk,rum,milk,rum\n",
    "best": "{},item1,item2,item3,best\np,tea,milk,rum,tea\nq,tea,milk,rum,milk\n",
    "choices": "{},task,alternative,chosen\np,1,tea,1\np,1,milk,0\nq,1,tea,0\nq,1,milk,1\n",
    "tasks": "{},task,alternative,price,chosen\np,1,a,90,1\np,1,b,150,0\nq,1,a,90,0\nq,1,b,150,1\n",
    "a row a task": "{},price_1,price_2,choice\np,90,150,1\np,120,90,2\nq,90,120,1\nq,150,90,2\n",
    "similarities": "{},object1,object2,similarity\np,tea,milk,5\np,tea,rum,2\np,milk,rum,3\nq,tea,milk,4\n"
    "q,tea,rum,1\nq,milk,rum,2\n",
    "triplets": "{},object1,object2,object3,odd\np,tea,milk,rum,rum\nq,tea,milk,rum,tea\n",
}


def data_of(shape, name):
    kinds = [EXPERIMENTS] if shape == "tasks" else []
    return read_data(Source("table.csv", SHAPES[shape].format(name).encode()), *kinds)[0]


def pairs():
    """Every name in one shape and every shape with two names, and the others in long tests."""
    for k, name in enumerate(NAMES.split()):
        for j, shape in enumerate(SHAPES):
            is_first = (k - j) % len(SHAPES) == 0
            yield pytest.param(shape, name, marks=[] if is_first else pytest.mark.long)


@pytest.mark.parametrize(("shape", "name"), pairs())
def test_every_shape_knows_every_name(shape, name):
    data = data_of(shape, name)
    if shape != "tasks":  # which keep the name of the column
        assert data == data_of(shape, "respondent")
    if shape != "similarities":  # which are means over respondents
        assert data.respondents == ("p", "q")


def test_a_name_that_rows_of_tasks_have_besides_is_not_who_answered():
    text = (
        "respondent,task,marker,price,chosen\np,1,pen,90,1\np,1,chalk,150,0\nq,1,pen,90,0\n"
        "q,1,chalk,150,1\n"
    )
    data = read_data(Source("table.csv", text.encode()), EXPERIMENTS)[0]
    assert data.respondents == ("p", "q") and data.scheme.names == ("marker", "price")


PEOPLE = range(1, 13)
TASKS = range(1, 6)
SORTS = list(itertools.permutations(["tea", "milk", "rum"]))


def answers(shape, identifier, trait, value):
    """A table of twelve people with a trait each."""
    rows = [(k, [k, value(k)]) for k in PEOPLE]
    columns, cells = {
        "pairs": (["winner", "loser"], lambda k, t: SORTS[(k * t) % 6][:2]),
        "trials": (
            ["left", "right", "chosen"],
            lambda k, t: (*(x := SORTS[(k * t) % 6])[:2], x[k % 2]),
        ),
        "rankings": (["rank1", "rank2", "rank3"], lambda k, t: SORTS[(k * t) % 6]),
        "long rankings": (["item", "rank"], lambda k, t: (SORTS[k * k % 6][t - 1], t)),
        "best and worst": (
            ["item1", "item2", "item3", "best", "worst"],
            lambda k, t: (*(x := SORTS[(k + t) % 6]), x[k * t % 2], x[2]),
        ),
    }[shape]
    n_rows = {"rankings": 1, "long rankings": 3}.get(shape, 5)
    table = [[*row, *cells(k, t)] for k, row in rows for t in range(1, n_rows + 1)]
    return pd.DataFrame(table, columns=[identifier, trait, *columns])


@pytest.mark.parametrize(
    ("identifier", "trait"), [("ID", "student"), ("RID", "farmer"), ("caseid", "child")]
)
@pytest.mark.parametrize(
    "shape", ["pairs", "trials", "rankings", "long rankings", "best and worst"]
)
def test_a_trait_of_respondents_is_not_who_answered(shape, trait, identifier):
    for value in (lambda k: k % 2, lambda k: ["yes", "no"][k % 3 > 0]):
        data = th.read(answers(shape, identifier, trait, value))
        assert len(data.respondents) == 12 and list(data.people) == [trait]


def test_who_answered_is_asked_where_two_columns_may_say_it():
    def read(shape, identifier, trait, n_labels, **columns):
        return th.read(answers(shape, identifier, trait, lambda k: f"x{k % n_labels}"), **columns)

    assert len(read("pairs", "ID", "teacher", 3).respondents) == 12
    assert len(read("pairs", "respondent", "pid", 3).respondents) == 12
    with refused(DataError, "'teacher'", "'ID'", "`respondent`"):
        read("pairs", "ID", "teacher", 6)
    assert len(read("pairs", "ID", "teacher", 6, respondent="ID").respondents) == 12
    assert len(read("pairs", "ID", "teacher", 6, respondent="teacher").respondents) == 6
    with refused(DataError, "'child'", "'RID'", "`respondent`"):
        read("rankings", "RID", "child", 4)
    # a column of another name is no identifier, but yes and no are no names of people
    assert len(read("pairs", "batch", "judge", 3).respondents) == 3
    with refused(DataError, "'student'", "'uuid'"):
        th.read(answers("pairs", "uuid", "student", lambda k: k % 2))
    # numbers of rows are no respondents
    judged = answers("trials", "judge", "age", lambda k: k).head(15)
    assert len(th.read(judged.assign(id=range(1, 16))).respondents) == 3


def profiles(country=""):
    """Two products in each of five tasks of twelve people."""
    return [
        [
            country,
            f"{country}{k}",
            k,
            task,
            [90, 120, 150][(k * task + side) % 3],
            "xy"[(k + task * side) % 2],
        ]
        for k in PEOPLE
        for task in TASKS
        for side in (0, 1)
    ]


def long_tasks(names, country=""):
    rows = [
        [*row, 1 + n % 2, int(n % 2 == (row[2] * row[3] // 2) % 2)]
        for n, row in enumerate(profiles(country))
    ]
    columns = ["country", "person", "id", "task", "price", "brand", "alt", "choice"]
    return pd.DataFrame(rows, columns=columns).rename(columns=names)


def wide_tasks(names, country=""):
    rows = profiles(country)
    pairs = [
        [*first, *second[4:], 1 + (first[2] * first[3] // 2) % 2]
        for first, second in zip(rows[::2], rows[1::2], strict=True)
    ]
    columns = "country person id task price_1 brand_1 price_2 brand_2 choice".split()
    return pd.DataFrame(pairs, columns=columns).rename(columns=names)


@pytest.mark.parametrize("name", ["uuid", "id_repondant", "ID_Befragter", "record", "Code"])
@pytest.mark.parametrize("sides", ["12", "AB"])
def test_who_had_tasks_numbered_anew_answered_them(name, sides):
    table = wide_tasks({"id": name}).drop(columns=["country", "person"])
    table = table.rename(
        columns=lambda name: name.replace("_1", f"_{sides[0]}").replace("_2", f"_{sides[1]}")
    )
    data = th.read(table.assign(choice=table["choice"].map({1: sides[0], 2: sides[1]})))
    assert (data.n_respondents, data.n_tasks) == (12, 60)
    assert data.attributes == ("price", "brand")
    with pytest.raises(DataError, match=f"`respondent={name!r}`"):
        th.read(table.drop(columns="task"))


@pytest.mark.parametrize("make", [long_tasks, wide_tasks])
def test_a_block_is_never_a_respondent(make):
    data = th.read(make({"id": "case", "task": "block"})[lambda t: t.columns[2:]])
    assert (data.n_respondents, data.n_tasks) == (12, 60)
    table = long_tasks({"id": "task", "task": "block"}).drop(columns=["country", "person"])
    with refused(DataError, "`respondent`", "'block'"):
        th.read(table)


def test_a_column_of_respondents_is_constant_within_tasks():
    names = {"id": "mturkCode", "task": "contest_no", "alt": "cand_number", "choice": "win"}
    table = long_tasks(names).drop(columns=["country", "person"])
    table["PID"] = ["DRI"[(n * n + n // 7) % 3] for n in range(len(table))]
    for columns in ({}, {"chosen": "win"}):
        data = th.read(table, **columns)
        assert data.scheme.respondent == "mturkCode" and data.n_respondents == 12
        assert data.attributes == ("price", "brand", "PID")
    table = wide_tasks({"id": "workerId"}).drop(columns=["country", "person"])
    data = th.read(table.assign(pid=table["workerId"] % 7))
    assert data.n_respondents == 12 and list(data.people) == ["pid"]


@pytest.mark.parametrize("make", [long_tasks, wide_tasks])
def test_respondents_numbered_anew_are_asked_for(make):
    table = pd.concat([make({}, country) for country in ("DE", "FR")], ignore_index=True)
    table["age"] = table["id"] + 20 * (table["country"] == "FR")
    table = table.rename(columns={"person": "joined"})
    table["both"] = table["country"] + table["task"].astype(str)
    with refused(DataError, "'id'", "'country'", "`respondent`"):
        th.read(table.drop(columns=["joined", "both"]))
    data = th.read(table.drop(columns="both"), respondent="joined")
    assert (data.n_respondents, data.n_tasks) == (24, 120)
    same = {"respondent": "id"} if make is long_tasks else {"task": "both"}
    with pytest.warns(DataWarning) if make is long_tasks else contextlib.nullcontext():
        data = th.read(
            table.drop(columns=["joined", *(["both"] if make is long_tasks else [])]), **same
        )
    assert (data.n_respondents, data.n_tasks) == (12, 120)


def test_the_waves_of_a_person_are_adjacent_and_no_other_person():
    table = pd.concat([long_tasks({}, wave) for wave in "ab"]).drop(columns="person")
    table["mood"] = table["id"] % 3 + 3 * (table["country"] == "b")
    with pytest.warns(DataWarning):
        data = th.read(table.sort_values("id", kind="stable", ignore_index=True))
    assert data.n_respondents == 12


@pytest.mark.parametrize("columns", [{"respondent": ["country", "id"]}, {"chosen": ["choice"]}])
def test_a_role_has_one_column(columns):
    with refused(ArgumentError, "the name of one column", *columns):
        th.read(long_tasks({}), **columns)


def test_options_ranked_twice_may_be_ranked_by_two_people():
    table = answers("long rankings", "RID", "sex", lambda k: k % 2).drop(columns="sex")
    with refused(DataError, "listed twice", "respondent='RID'"):
        th.read(table)
    assert len(th.read(table, respondent="RID").respondents) == 12


@pytest.mark.parametrize(
    ("layout", "trait"), [("trials", "age"), ("triplets", "Age"), ("list", "age")]
)
def test_the_same_numbers_in_two_studies_may_be_other_people(layout, trait):
    answers = {"left": list("trg"), "right": list("rgt"), "choice": list("trt")}
    if layout == "triplets":
        answers = {"object1": list("aba"), "object2": list("bcc"), "object3": list("cdd")}
        answers["odd"] = list("acd")
    elif layout == "list":
        answers = {"winner": list("abc"), "loser": list("bca")}
    parts = [
        pd.DataFrame({"study": study, "subject": who, trait: 20 + 10 * study + who} | answers)
        for study in (1, 2)
        for who in (1, 2, 3)
    ]
    frame = pd.concat(parts, ignore_index=True)
    with refused(DataError, "'subject'", repr(trait), "`respondent='subject'`"):
        th.read(frame)
    assert len(th.read(frame, respondent="subject").respondents) == 3
    frame["who"] = frame["study"].astype(str) + "." + frame["subject"].astype(str)
    assert len(th.read(frame, respondent="who").respondents) == 6
    # the rows of a respondent are together, or nobody changes
    assert len(th.read(frame.sort_values("subject", ignore_index=True)).respondents) == 3
    assert len(th.read(frame.assign(**{trait: frame["subject"]})).respondents) == 3


# Respondents of numbered tasks ---------------------------------------------------------------------


def tasks_of_patients(numbers_of_tasks):
    """Rows of two alternatives, with tasks numbered from first to last."""
    people = [k for k, n in enumerate(numbers_of_tasks) for _ in range(2 * n)]
    frame = pd.DataFrame({"obs": [k // 2 for k in range(len(people))]})
    frame = frame.assign(who=[f"P{k}" for k in people], age=[20 + k % 2 for k in people], alt=1)
    frame["alt"] += frame.index % 2
    price = [(1, 2, 3)[(k + k // 4) % 3] for k in frame.index]
    size = [(1, 2)[(k + k // 2) % 2] for k in frame.index]
    choice = [(task // 3 + task + k) % 2 for k, task in enumerate(frame["obs"])]
    return frame.assign(price=price, size=size, choice=choice)


@pytest.mark.parametrize("chosen", ["Saved", "chosen"])
@pytest.mark.parametrize("names", [("ResponseID", "UserID"), ("id", "worker"), ("pid", "voter")])
def test_whether_each_task_has_another_respondent_is_asked(names, chosen):
    """Eight users, or sixteen respondents with one task each."""
    task, user = names
    frame = tasks_of_patients([2] * 8).drop(columns=["age", "alt"])
    frame = frame.rename(columns={"obs": task, "who": user, "choice": chosen})
    with refused(DataError, repr(user), repr(task), "`respondent`"):
        th.read(frame, chosen=chosen)
    if chosen == "chosen":
        with pytest.raises(DataError, match=repr(user)):
            th.read(frame)
        assert th.read(frame, respondent=user).n_respondents == 8
    for column, number in ((user, 8), (task, 16)):
        data = th.read(frame, respondent=column, chosen=chosen)
        assert data.n_respondents == number and data.n_tasks == 16
    assert th.read(frame, chosen=chosen, without=[user]).n_respondents == 16


def test_the_default_is_not_the_chosen_alternative():
    frame = tasks_of_patients([2] * 8).rename(columns={"choice": "Saved", "obs": "ResponseID"})
    frame["DefaultChoice"] = [1, 0, 0, 1] * 8
    with pytest.raises(DataError):
        th.read(frame, respondent="who")
    data = th.read(frame, respondent="who", chosen="Saved")
    assert "DefaultChoice" in data.attributes and data.n_tasks == 16


@pytest.mark.parametrize("name", ["patient", "Client no.", "hh", "ident", "caseno"])
@pytest.mark.parametrize("task", ["obs", "choice set", "chid"])
def test_tasks_numbered_through_the_file_have_the_respondents_beside_them(name, task):
    for numbers_of_tasks in ([4] * 6, [4] * 7 + [3] + [4] * 2):
        frame = tasks_of_patients(numbers_of_tasks)
        data = th.read(frame.rename(columns={"who": name, "obs": task}))
        assert len(data.respondents) == len(numbers_of_tasks)
        assert list(data.people) == ["age"] and f"respondents in {name!r}" in data.read_as


def test_what_may_be_the_respondents_is_said():
    """Of values with many or unequal numbers of tasks, as of a trait, and of two such columns."""
    for numbers_of_tasks in ([9] * 4, [3, 5, 2, 4, 5, 3, 4], [4] * 6):
        frame = tasks_of_patients(numbers_of_tasks)
        frame = frame.rename(columns={"who": "patient"})
        if len(numbers_of_tasks) == 6:
            frame["clinic"] = frame["patient"].str[1:].astype(int) // 2
        data = th.read(frame)
        assert len(data.respondents) == sum(numbers_of_tasks)
        assert "(perhaps 'patient'?)" in data.read_as
        assert len(th.read(frame, respondent="patient").respondents) == len(numbers_of_tasks)
    blocks = th.read(frame.drop(columns="clinic").rename(columns={"patient": "block"}))
    assert "perhaps" not in blocks.read_as and "block" in blocks.people


@pytest.mark.parametrize("names", [("patient", "vignette_no"), ("SurveyNo", "Card"), ("p", "t")])
def test_respondents_and_their_numbered_tasks_need_no_known_names(names):
    frame = tasks_of_patients([4, 3, 4, 4])
    wide = frame.loc[frame["alt"] == 1].drop(columns=["obs", "alt", "age"]).reset_index(drop=True)
    wide.insert(1, names[1], wide.groupby("who").cumcount() + 1)
    wide = wide.rename(columns={"who": names[0], "price": "price_1", "size": "size_1"})
    data = th.read(
        wide.assign(price_2=2, size_2=wide["price_1"] % 2 + 1, choice=wide["choice"] + 1)
    )
    assert len(data.respondents) == 4 and data.n_tasks == 15 and data.people is None


def wide_tasks_without_numbers(name):
    """Six respondents with five tasks each, who differ in age."""
    frame = pd.DataFrame({name: [101 + k // 5 for k in range(30)]})
    frame = frame.assign(age=20 + frame[name] % 3, price_left=[(1, 2, 3)[k % 3] for k in range(30)])
    frame = frame.assign(price_right=2, size_left=[(1, 2)[k % 2] for k in range(30)], size_right=1)
    return frame.assign(choice=[("left", "right")[k * k % 3 % 2] for k in range(30)])


@pytest.mark.parametrize(
    "name",
    "subID sub_id sub subj_idx sub_num prolific_id ppid MTurkID participant_idx sbj".split(),
)
def test_names_of_respondents_in_experiments_of_psychology(name):
    frame = wide_tasks_without_numbers(name)
    data = th.read(frame)
    assert data.n_respondents == 6 and list(data.people) == ["age"] and data.n_tasks == 30
    trials = frame.iloc[:, :1].assign(left=list("abc") * 10, right=list("bca") * 10)
    assert len(th.read(trials.assign(choice=frame["choice"])).respondents) == 6


@pytest.mark.parametrize("name", ["code", "record"])
def test_whether_numbers_beside_wide_tasks_are_the_respondents_is_asked(name):
    frame = wide_tasks_without_numbers(name)
    with refused(DataError, f"`respondent='{name}'`", f"`without=['{name}']`"):
        th.read(frame)
    assert th.read(frame, respondent=name).n_respondents == 6
    assert th.read(frame, without=[name]).n_respondents == 30
    assert th.read(frame.assign(**{name: range(30)})).n_respondents == 30


@pytest.mark.parametrize("yes_no", [(1, 0), ("yes", "no"), (True, False)])
@pytest.mark.parametrize("names", [("ID", "RESP"), ("respondent", "resp"), ("PID", "Resp")])
def test_answers_called_resp_are_no_respondents(names, yes_no):
    frame = tasks_of_patients([4] * 6)
    frame["set"] = frame["obs"] % 4
    frame["choice"] = frame["choice"].map({1: yes_no[0], 0: yes_no[1]})
    frame = frame.drop(columns="obs").rename(columns={"who": names[0], "choice": names[1]})
    data = th.read(frame)
    assert len(data.respondents) == 6 and data.n_tasks == 24
    assert data.attributes == ("price", "size") and "(perhaps" not in data.read_as
    items = frame.drop(columns=["age", "price", "size", "alt"])
    items.insert(2, "item", frame["alt"].map({1: "tea", 2: "milk"}))
    data = th.read(items.rename(columns={"PID": "panelist"}))
    assert len(data.respondents) == 6 and data.n_choices == 24


def test_respondents_0_and_1_may_be_called_resp():
    frame = tasks_of_patients([4, 4]).drop(columns="obs")
    frame["task"] = frame.groupby("who").cumcount() // 2
    data = th.read(
        frame.assign(who=frame["who"].str[1:].astype(int)).rename(columns={"who": "resp"})
    )
    assert data.respondents == ("0", "1") and data.n_tasks == 8


CITIES = "Oslo Rome Paris Lyon Bonn Wien".split()


def test_words_beside_tasks_may_be_groups_of_respondents():
    frame = tasks_of_patients([4] * 6)
    frame["who"] = [CITIES[int(text[1:])] for text in frame["who"]]
    data = th.read(frame.rename(columns={"who": "city"}))
    assert data.n_respondents == 24 and "(perhaps 'city'?)" in data.read_as
    assert "city" in data.people
    assert len(th.read(frame, respondent="who").respondents) == 6
    named = th.read(frame.rename(columns={"who": "participant"}))
    assert named.respondents == tuple(CITIES)


def test_tasks_numbered_anew_in_each_group_are_asked_about():
    frame = tasks_of_patients([160, 160])
    cities = frame["who"].map({"P0": "Oslo", "P1": "Rome"})
    for city in (cities, frame["who"].str[1:].astype(int) + 1):
        table = frame.drop(columns=["who", "age"]).assign(city=city, task=frame["obs"] % 160)
        with refused(DataError, "respondent", "'city'"):
            th.read(table.drop(columns="obs"))
        assert len(th.read(table.drop(columns="obs"), respondent="city").respondents) == 2
        assert th.read(table, task="obs").n_tasks == 320
    wide = frame.loc[frame["alt"] == 1, ["obs", "price", "size"]].reset_index(drop=True)
    wide = wide.rename(columns={"price": "price_1", "size": "size_1"})
    wide = wide.assign(price_2=2, size_2=wide["price_1"] % 2 + 1, choice=wide["obs"] % 2 + 1)
    wide = wide.assign(city=[CITIES[k // 64] for k in wide["obs"]], card=wide["obs"] % 64 + 1)
    data = th.read(wide.drop(columns="obs"))
    assert len(data.respondents) == 320 and "(perhaps 'city'?)" in data.read_as


@pytest.mark.parametrize("name", ["caseid", "ResponseId", "rid"])
def test_words_that_uneven_numbers_of_people_have_may_be_their_trait(name):
    jobs = [job for k, job in enumerate(CITIES, 2) for _ in range(k)]
    ranks = [(1 + k % 3, 1 + (k + 1) % 3, 1 + (k + 2) % 3) for k in range(len(jobs))]
    frame = pd.DataFrame(ranks, columns=["tea", "milk", "rum"]).assign(worker=jobs)
    frame.insert(0, name, [f"{k + 1001}" for k in range(len(jobs))])
    with refused(DataError, "'worker'", repr(name), "`respondent`"):
        th.read(frame)
    assert len(th.read(frame, respondent=name).respondents) == len(jobs)
    assert th.read(frame, respondent="worker").respondents == tuple(CITIES)
    frame["worker"] = [CITIES[k % 6] for k in range(len(jobs))]
    even = th.read(frame.head(24))
    assert len(even.respondents) == 6
