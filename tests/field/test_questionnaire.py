"""A questionnaire as a page: what it holds, what it refuses; how it behaves is for a browser to
show."""

import json
import re
import tomllib
from importlib.resources import files

import pandas as pd
import pytest
from helpers.handed_in import KINDS
from helpers.places import PROJECT
from helpers.sentences import refused, said

import thali as th
from thali.errors import ArgumentError, DataError

DRINKS = ["tea", "coffee", "milk", "juice"]
ATTRIBUTES = {"brand": ["A", "B"], "price": [1, 2, 3]}
EVIL = "</script><script>alert(1)</script>"


def data_of(page):
    """What the script of a page reads."""
    return json.loads(re.search(r'id="study">(.*?)</script>', page, re.S)[1])


DESIGN = th.designs.choice(ATTRIBUTES, 4, 2, random_seed=1)


def products(**settings):
    """A table of its own for each caller, who may change it."""
    if settings:
        return th.designs.choice(ATTRIBUTES, 4, 2, random_seed=1, **settings)
    return DESIGN.copy()


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_of_every_kind_is_small_and_may_load_nothing(kind, tmp_path):
    design = products(none=True) if kind == "choice" else DRINKS
    page = th.field.questionnaire(design, tmp_path / "study.html", kind=kind)
    assert (tmp_path / "study.html").read_text("utf-8") == page and len(page.encode()) < 200_000
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    assert "connect" not in policy
    said(policy, "'none'")
    assert "http:" not in page and "https:" not in page  # nothing is named that could be loaded
    assert page == th.field.questionnaire(design, kind=kind)


def test_only_the_address_of_the_study_is_allowed():
    page = th.field.questionnaire(DRINKS, study={"post": "https://example.org/answers?key=1"})
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    assert "connect-src https://example.org/answers;" in policy and page.count("https:") == 2


def test_labels_and_words_that_attack_are_text():
    study = {
        "words": {"question": EVIL},
        "instructions": EVIL,
        "questions": [{"name": "q", "ask": EVIL}],
    }
    page = th.field.questionnaire(
        [EVIL, '"><img src=x onerror=alert(1)>', "&lt;"], title=EVIL, study=study
    )
    assert page.count("<script") == 2 and "<img" not in page and data_of(page)["options"][0] == EVIL


def test_options_alone_ask_nothing_else():
    data = data_of(th.field.questionnaire(DRINKS))
    assert [
        len(data[name]) for name in ("questions", "consent", "practice", "catch", "instructions")
    ] == [0] * 5
    assert (len(data["versions"]), len(data["versions"][0]), data["asks_person"], data["post"]) == (
        1,
        6,
        False,
        "",
    )


def test_many_options_are_asked_in_parts():
    data = data_of(th.field.questionnaire([f"o{k}" for k in range(30)]))
    assert len(data["versions"]) == 12 and {len(tasks) for tasks in data["versions"]} == {100}
    data = data_of(th.field.questionnaire([f"o{k}" for k in range(12)], kind="best-worst"))
    shown = [number for task in data["versions"][0] for number in task["shown"]]
    assert sorted(shown) == sorted([*range(12)] * 3)


def test_a_study_is_the_same_whatever_its_words():
    """So that answers of before and after a correction are joined; other options make another
    study."""
    plain = data_of(th.field.questionnaire(DRINKS, title="Drinks"))
    other = data_of(th.field.questionnaire(DRINKS, title="Drinks", words={"start": "Go"}))
    assert (
        plain["id"] == other["id"]
        and plain["build"] != other["build"]
        and plain["id"].startswith("drinks-")
    )
    assert data_of(th.field.questionnaire([*DRINKS, "water"], title="Drinks"))["id"] != plain["id"]


def test_designs_are_asked_as_they_are(tmp_path):
    design = th.designs.triplets(6, per_person=5, versions=2, random_seed=1)
    data = data_of(th.field.questionnaire(design, kind="odd-one-out"))
    assert [len(tasks) for tasks in data["versions"]] == [5, 5]
    first = [data["options"][number] for number in data["versions"][0][0]["shown"]]
    assert first == design.iloc[0, 2:].tolist()
    data = data_of(th.field.questionnaire(th.paired.pair_design(DRINKS)))
    assert len(data["versions"][0]) == 6
    table = products(none=True, holdouts=[[{"brand": "A", "price": 1}, {"brand": "B", "price": 2}]])
    table.to_csv(tmp_path / "design.csv", index=False)
    data = data_of(th.field.questionnaire(tmp_path / "design.csv"))
    task = data["versions"][0][0]
    assert (data["kind"], len(task["shown"]), task["none"], data["held_out"]) == (
        "choice",
        2,
        True,
        True,
    )
    shown = ["brand_1", "brand_2", "price_1", "price_2", "held_out", "available_none"]
    assert data["columns"][7:15] == [*shown, "choice", "rt"]


def test_designs_may_be_put_together():
    parts = [products().assign(version=number, held_out=number == 2) for number in (1, 2)]
    data = data_of(th.field.questionnaire(pd.concat(parts)))
    assert [len(tasks) for tasks in data["versions"]] == [4, 4]
    assert [{bool(task.get("held_out")) for task in tasks} for tasks in data["versions"]] == [
        {False},
        {True},
    ]
    words = pd.concat(parts).astype({"held_out": str})
    assert data_of(th.field.questionnaire(words))["versions"] == data["versions"]


@pytest.mark.parametrize(
    ("name", "content", "labels"),
    [
        ("one.csv", 'option\nred tea\n"milk, hot"\n001\n', ["red tea", "milk, hot", "001"]),
        ("one.txt", "\ufeffoption\ntea\nmilk\n", ["tea", "milk"]),
        ("list.txt", "tea; green\nmilk\n", ["tea; green", "milk"]),
        (
            "design.txt",
            "version,task,option1,option2\n1,1,tea,milk\n1,2,milk,rum\n",
            ["tea", "milk", "rum"],
        ),
        ("design.csv", "round;first;second\n0;tea;milk\n1;milk;rum\n", ["tea", "milk", "rum"]),
        ("table.csv", "Option,Price\ntea,1\nmilk,2\n", ["tea", "milk"]),
        ("one.csv", "Option\ntea\nmilk\n", ["tea", "milk"]),
        ("design.csv", "Version,Task,Option1,Option2\n1,1,tea,milk\n", ["tea", "milk"]),
    ],
)
def test_files_of_options_are_read(tmp_path, name, content, labels):
    (tmp_path / name).write_text(content, "utf-8")
    # or the folder that holds a design
    read = [tmp_path / name, *([tmp_path] if name == "design.csv" else [])]
    for path in read:
        assert data_of(th.field.questionnaire(path))["options"] == labels


def test_a_design_in_a_workbook_is_asked_and_one_that_is_set_for_a_text_is_refused(tmp_path):
    pytest.importorskip("openpyxl")
    design = th.designs.triplets(5, random_seed=1)
    # as `thali design --tables xlsx` writes it
    with pd.ExcelWriter(tmp_path / "tables.xlsx") as writer:
        design.to_excel(writer, sheet_name="design", index=False)
        pd.DataFrame({"a": [1]}).to_excel(writer, sheet_name="errors")
    assert len(data_of(th.field.questionnaire(tmp_path, kind="best"))["versions"][0]) == 10
    (tmp_path / "tables.xlsx").unlink()
    (tmp_path / "design.md").write_text("| a |")
    for path in (tmp_path, tmp_path / "design.md"):
        with refused(DataError, "write the design"):
            th.field.questionnaire(path)


def test_products_of_further_trials_have_the_attributes_of_the_design():
    shown = [{"brand": "A", "price": 1}, {"brand": "B", "price": 2, "colour": "red"}]
    for name, more in (("practice", {}), ("catch", {"answer": 1})):
        with refused(DataError, "'colour'", name):
            th.field.questionnaire(products(), study={name: [{"products": shown, **more}]})


def test_every_word_is_used_and_known_in_every_language():
    script = (files("thali._field") / "page" / "questionnaire.js").read_text("utf-8")
    named = set(re.findall(r'(?:said|tell|status|pause)\((?:[^()"]*\? )?"(\w+)"', script))
    named |= set(re.findall(r'"(sent|not_sent|not_a_number|yes|no|question)"', script))
    held = files("thali._field") / "languages"
    words_of = {
        each.stem: tomllib.loads(each.read_text("utf-8"))
        for each in held.iterdir()
        if each.suffix == ".toml"
    }
    english = words_of["en"]
    assert set(english) - {"script_needed", "scale_low", "scale_high"} <= named | {"sent"}
    for language, words in words_of.items():
        assert words.keys() == english.keys() and set(words["question"]) == set(KINDS)
        for name, text in words.items():
            if name != "question":
                assert set(re.findall(r"{\w+}", text)) == set(
                    re.findall(r"{\w+}", english[name])
                ), (language, name)


def test_a_study_in_german_with_words_of_its_own(tmp_path):
    (tmp_path / "study.toml").write_text(
        'language = "de"\ntitle = "Getränke"\nno_preference = true\n[words]\nquestion = "Was ist'
        ' süßer?"\n',
        "utf-8",
    )
    page = th.field.questionnaire(DRINKS, study=tmp_path / "study.toml", words={"start": "Los"})
    words = data_of(page)["words"]
    assert (words["question"], words["start"], words["no_preference"]) == (
        "Was ist süßer?",
        "Los",
        "Beide gleich",
    )
    assert '<html lang="de">' in page and data_of(page)["id"].startswith("getranke-")


QUESTION = {"name": "age", "ask": "How old are you?"}
REFUSED = [
    ({"titel": "x"}, ("'titel'",)),
    ({"language": "fr"}, ("'language'", "'en'", "'de'", "got 'fr'")),
    ({"breaks": 0}, ("'breaks'", "got 0")),
    ({"no_preference": "yes"}, ("'no_preference'", "got 'yes'")),
    ({"post": "javascript:alert(1)"}, ("'post'", "'https://example.org/answers'")),
    ({"post": "data:text/html,<script>alert(1)</script>"}, ("'post'",)),
    ({"post": "http://example.org"}, ("sends answers unencrypted",)),
    ({"post": "https://example.org/a; script-src *"}, ("'post'",)),
    ({"post": "https://me:word@example.org/"}, ("'post'",)),
    ({"post": "//example.org"}, ("'post'",)),
    ({"words": {"strat": "Go"}}, ("'strat'", "'start'")),
    ({"words": {"progress": "{donne} of {all}"}}, ("'progress'",)),
    ({"words": {"start": "{"}}, ("unmatched brace",)),
    ({"words": "x"}, ("'words'",)),
    ({"questions": [QUESTION | {"name": "my age"}]}, ("got 'my age'",)),
    ({"questions": [QUESTION | {"name": "rank"}]}, ("'rank'",)),
    ({"questions": [QUESTION, QUESTION]}, ("'age'",)),
    ({"questions": [QUESTION | {"kind": "choice"}]}, ("'age'",)),
    ({"questions": [QUESTION | {"least": 1}]}, ("'age'", "'least'")),
    ({"questions": [{"name": "age"}]}, ("'age'",)),
    ({"practice": [{"options": ["cat"]}]}, ("'cat'",)),
    ({"practice": [{"options": ["a", "b", "c"]}]}, ("got 3",)),
    ({"catch": [{"options": ["a", "b"]}]}, ("'a'", "'b'")),
    ({"catch": [{"options": ["a", "1e2"], "answer": "a"}]}, ("option '1e2'", "'100'")),
    ({"catch": [{"products": [{"brand": "A"}, {}], "answer": 1}]}, ("pairs requires options",)),
    ({"scale": {"steps": 12}}, ("11 steps", "got 12")),
    ({"dual": True}, ("product would really",)),
    ({"size": 3}, ("size", "2 options")),
    ({"per_person": 7}, ("per_person", "got 7")),
]


@pytest.mark.parametrize(("study", "facts"), REFUSED)
def test_what_a_study_cannot_say(study, facts):
    with refused((DataError, ArgumentError), *facts):
        th.field.questionnaire(DRINKS, study=study)


@pytest.mark.parametrize(
    ("design", "kind", "facts"),
    [
        (
            pd.DataFrame(
                [["a", "b", "c"], ["a", "b", None]], columns=["option1", "option2", "option3"]
            ),
            "odd-one-out",
            ("3 options", "set 2"),
        ),
        (pd.concat([products(), products()]), None, ("Task 1", "1 twice")),
        (products().assign(held_out=[0, 1] * 4), None, ("Task 1",)),
        (products().assign(task=[1, 1, None, None, 3, 3, 4, 4]), None, ("Column 'task'", "row 3")),
        (
            pd.DataFrame(
                [[1, "a", "b"], [None, "b", "c"]], columns=["version", "option1", "option2"]
            ),
            None,
            ("Column 'version'", "row 2"),
        ),
        (["1", "1.0"], None, ("option '1.0'", "'1'")),
        (["tea", "1e2"], None, ("option '1e2'", "'100'")),
        (products().assign(held_out="perhaps"), None, ("Column 'held_out'", "row 0")),
        (list("123"), "best", ("'1'", "'2'", "'3'")),
        (["tea"], None, ("2 options", "got 1")),
        (["tea", "tea"], None, ("options must be unique",)),
        (pd.DataFrame({"option1": list("abc"), "option2": list("bca")}), "best", ("3 options",)),
        (["tea", "coffee"], "best", ("3 options", "got 2")),
        (DRINKS, "odd", ("kind",)),
        (DRINKS, "choice", ("kind='choice'",)),
        (th.designs.triplets(4), None, ("design has sets",)),
        (th.designs.triplets(4), "pairs", ("2 options",)),
        (products(), "pairs", ("kind='pairs'",)),
        ("nothing.txt", None, ("'nothing.txt'",)),
        (7, None, ("design", "got 7")),
        ({"tea": "tea.png"}, None, ("design", "tea.png")),  # no pictures of options
    ],
)
def test_designs_that_cannot_be_asked_are_refused(design, kind, facts):
    with refused((DataError, ArgumentError), *facts):
        th.field.questionnaire(design, kind=kind)


def test_only_names_of_columns_that_no_other_has_may_be_in_capitals():
    """And `Version` beside `alternative` is an attribute."""
    design = products().rename(columns={"brand": "Version"})
    assert (
        "2 versions" not in (page := th.field.questionnaire(design))
        and "Version" in data_of(page)["attributes"]
    )
    assert len(data_of(page)["versions"]) == 1
    with refused(DataError, "attribute 'Task'"):
        th.field.questionnaire(products().rename(columns={"brand": "Task"}))
    assert len(data_of(th.field.questionnaire(list("12345"), kind="best"))["versions"][0]) == 4


def test_an_option_that_says_no_preference_is_refused():
    with refused(DataError, "option 'both'", "'no preference'"):
        th.field.questionnaire(["both", "tea"], study={"no_preference": True})


def test_the_study_of_the_guide_is_one():
    guide = (PROJECT / "docs" / "how_to" / "questionnaire.md").read_text("utf-8")
    held = tomllib.loads(re.search(r"```toml\n(.*?)```", guide, re.S)[1])
    with pytest.raises(DataError, match="titel") as refusal:
        th.field.questionnaire(DRINKS, study={"titel": "Drinks"})
    known = re.search(r"available keys: (.*?)\.", str(refusal.value))[1].split(", ")
    assert set(held) | {"dual", "size", "per_person"} == set(known)
    assert data_of(th.field.questionnaire(DRINKS, study=held))["questions"][0]["name"] == "age"


def test_a_file_that_is_no_study(tmp_path):
    (tmp_path / "study.toml").write_text("title: Drinks")
    with refused(DataError, "is not valid TOML"):
        th.field.questionnaire(DRINKS, study=tmp_path / "study.toml")
    (tmp_path / "study.toml").write_text('titel = "Drinks"')
    with refused(DataError, "study.toml", "'titel'"):
        th.field.questionnaire(DRINKS, study=tmp_path / "study.toml")


@pytest.mark.parametrize(
    ("design", "kind", "study", "facts"),
    [
        (["A", "B"], "pairs", {}, ("'A' and 'B'", "sides of a pair")),
        (
            ["a", "b", "c"],
            "ranking",
            {"questions": [{"name": "rank1", "ask": "?"}]},
            ("question 'rank1'",),
        ),
        (
            ["a", "b", "c"],
            "best",
            {"questions": [{"name": "age", "ask": "?", "kind": "number", "least": 50, "most": 10}]},
            ("question 'age'", "is greater than"),
        ),
        *(
            (
                ["tea", "milk"],
                "pairs",
                {name: [{"options": ["tea", "1e2"], **more}]},
                ("option '1e2'",),
            )
            for name, more in (("catch", {"answer": "tea"}), ("practice", {}))
        ),
        (
            ["a", "b", "c"],
            "best",
            {"post": "http://[::1]:8000/x"},
            ("'post'", "must be an address"),
        ),
    ],
)
def test_what_would_come_back_unreadable_is_not_asked(design, kind, study, facts, tmp_path):
    with refused(DataError, *facts):
        th.field.questionnaire(design, tmp_path / "study.html", kind=kind, study=study)


def test_attributes_called_like_columns_of_answers_are_refused(tmp_path):
    design = th.designs.choice({"choice": ["x", "y"], "price": [1, 2, 3]}, 4, 2, random_seed=1)
    with refused(DataError, "attribute 'choice'"):
        th.field.questionnaire(design, tmp_path / "study.html")


def test_another_question_is_another_study(tmp_path):
    """Of the same options; other words around it are not."""

    def study(**words):
        th.field.questionnaire(["a", "b", "c"], tmp_path / "study.html", kind="best", words=words)
        return re.search(r'"id": ?"([^"]*)"', (tmp_path / "study.html").read_text("utf-8"))[1]

    assert study(question="Which is healthier?") != study(question="Which is tastier?")
    assert study(end="Bye.") == study()


@pytest.mark.parametrize("name", ["questionnaire.js", "jspsych.js"])
def test_a_page_asks_for_what_it_calls_of_the_shared_script(name):
    own, shared = (
        files("thali._field").joinpath("page", each).read_text("utf-8")
        for each in (name, "shared.js")
    )
    asked = set(re.search(r"const \{([^}]*)\} = sharedBy", own)[1].replace(" ", "").split(","))
    given = set(re.search(r"  return \{([^}]*)\};\s*\}\s*$", shared)[1].replace(" ", "").split(","))
    found = re.findall(r"^  (?:async )?function (\w+)|^  const (\w+) = ", shared, re.M)
    known = {each for pair in found for each in pair if each}
    called = {each for each in known if re.search(rf"(?<![.\w]){each}\(", own)}
    assert asked <= given <= known and called - set(re.findall(r"function (\w+)", own)) <= asked
