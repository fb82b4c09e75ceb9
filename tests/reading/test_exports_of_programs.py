"""Files as programs export them, written by small generators, and those of the page of shapes."""

import json
import re
import warnings

import numpy as np
import pytest
from helpers.places import PROJECT
from helpers.sentences import said

from thali._data.kinds import EXPERIMENTS
from thali._reading.layout_recognition import read_data
from thali.errors import DataWarning

PEOPLE, QUESTIONS, ITEMS = 5, 4, ("tea", "milk", "rum", "water", "juice")


def joined(header, rows):
    return "\n".join([header, *(",".join(map(str, row)) for row in rows), ""])


def answers(rng, size):
    """Person, question, the items shown, the best and the worst."""
    for person in range(1, PEOPLE + 1):
        for question in range(1, QUESTIONS + 1):
            shown = [str(item) for item in rng.permutation(ITEMS)[:size]]
            best, worst = rng.permutation(shown)[:2]
            yield person, question, shown, str(best), str(worst)


def products(rng):
    """Person, task, concept, brand, price, and whether it was chosen."""
    for person, task, *_ in answers(rng, 2):
        chosen = rng.integers(3)
        for concept, brand in enumerate(rng.permutation(["Sony", "Canon", "Nikon"])):
            yield person, task, concept + 1, brand, rng.choice([99, 149]), int(concept == chosen)


def sawtooth_conjoint(rng):
    codes = {"Sony": 1, "Canon": 2, "Nikon": 3, 99: 1, 149: 2}
    rows = [(*row[:3], codes[row[3]], codes[int(row[4])], row[5]) for row in products(rng)]
    return "cbc.csv", joined("sys_RespNum,Task,Concept,brand,price,Response", rows)


def qualtrics_conjoint(rng):
    rows = [(f"R_{person}", *row) for person, *row in products(rng)]
    return "q.csv", joined("ResponseId,Task,Package,brand,price,Choice", rows)


def conjointly(rng):
    header = "participant_id,set_number,alternative_number,brand,price,chosen"
    rows = [(*row[:4], f"${row[4]}", str(bool(row[5])).upper()) for row in products(rng)]
    return "c.csv", joined(header, rows)


def sawtooth_maxdiff(rng):
    header = "sys_RespNum,Set,Item1,Item2,Item3,Item4,Best,Worst"
    rows = [
        (person, question, *(ITEMS.index(item) + 1 for item in (*shown, best, worst)))
        for person, question, shown, best, worst in answers(rng, 4)
    ]
    return "maxdiff.csv", joined(header, rows)


def qualtrics_maxdiff(rng):
    sets = [[str(item) for item in rng.permutation(ITEMS)[:4]] for _ in range(QUESTIONS)]
    names = [f"Q{k}_{word}" for k in range(1, QUESTIONS + 1) for word in ("best", "worst")]
    rows = [
        [f"R_{person}", *(str(item) for shown in sets for item in rng.permutation(shown)[:2])]
        for person in range(PEOPLE)
    ]
    head = [["ResponseId", *names], ["Response ID", *names]]
    ids = ",".join(f'"{{""ImportId"":""{name}""}}"' for name in head[0])
    text = joined(",".join(head[0]), [head[1], [ids], *rows])
    return "q.csv", text, joined("option1,option2,option3,option4", sets)


def arena(rng):
    winners = ["model_a", "model_b", "tie", "tie (bothbad)"]
    votes = [
        {
            "question_id": f"{person}-{question}",
            "model_a": shown[0],
            "model_b": shown[1],
            "winner": str(rng.choice(winners)),
            "judge": f"arena_user_{person}",
            "conversation_a": [{"role": "user", "content": "Hi"}],
            "tstamp": 1.687e9 + question,
        }
        for person, question, shown, _, _ in answers(rng, 2)
    ]
    return "clean_battle.json", json.dumps(votes)


def psychopy(rng):
    header = "trials.thisRepN,trials.thisN,left,right,key_resp.keys,key_resp.rt,participant,date"
    rows = [
        (
            0,
            question,
            f"{shown[0]}.png",
            f"{shown[1]}.png",
            key,
            0.5,
            f"p{person}",
            "2026-01-01_10h",
        )
        for person, question, shown, _, _ in answers(rng, 2)
        for key in [rng.choice(["left", "right"])]
    ]
    return "psychopy.csv", joined(header, [*rows, ("", "", "", "", "", "", "p1", "2026-01-01_10h")])


def jspsych(rng):
    rows = [
        {
            "rt": 500 + question,
            "response": int(rng.integers(2)),
            "trial_type": "html-button-response",
            "trial_index": question,
            "time_elapsed": 900 * question,
            "left": shown[0],
            "right": shown[1],
            "subject": f"s{person}",
        }
        for person, question, shown, _, _ in answers(rng, 2)
    ]
    return "jspsych.json", json.dumps(rows)


def preflib(ending, order):
    """A file of one order of each person and question, in PrefLib's words."""

    def write(rng):
        names = [f"# ALTERNATIVE NAME {k}: {item}" for k, item in enumerate(ITEMS, start=1)]
        orders = [
            order.format(*rng.permutation(np.arange(1, 6))) for _ in range(PEOPLE * QUESTIONS)
        ]
        head = [f"# FILE NAME: votes.{ending}", f"# NUMBER ALTERNATIVES: {len(ITEMS)}", *names]
        return f"votes.{ending}", "\n".join([*head, *(f"1: {line}" for line in orders)])

    return write


EXPORTS = {
    "Sawtooth conjoint": (sawtooth_conjoint, "ChoiceExperiment"),
    "Qualtrics conjoint": (qualtrics_conjoint, "ChoiceExperiment"),
    "Conjointly": (conjointly, "ChoiceExperiment"),
    "Sawtooth MaxDiff": (sawtooth_maxdiff, "Choices"),
    "Qualtrics MaxDiff": (qualtrics_maxdiff, "Choices"),
    "Chatbot Arena": (arena, "PairedComparisons"),
    "PsychoPy": (psychopy, "PairedComparisons"),
    "jsPsych": (jspsych, "PairedComparisons"),
    "PrefLib soc": (preflib("soc", "{},{},{},{},{}"), "Choices"),
    "PrefLib soi": (preflib("soi", "{},{},{}"), "Choices"),
    "PrefLib toc": (preflib("toc", "{},{{{},{}}},{},{}"), "Choices"),
    "PrefLib toi": (preflib("toi", "{},{{{},{}}}"), "Choices"),
}


def taken(tmp_path, name, text, design=None, *kinds):
    (tmp_path / name).write_text(text, encoding="utf-8")
    options = {}
    if design is not None:
        (tmp_path / "sets.csv").write_text(design)
        options["design"] = tmp_path / "sets.csv"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return read_data(tmp_path / name, *kinds, **options)


@pytest.mark.parametrize(("write", "expected"), EXPORTS.values(), ids=EXPORTS)
def test_an_export_is_read(write, expected, tmp_path):
    kinds = [None, EXPERIMENTS] if expected == "ChoiceExperiment" else []
    data, _ = taken(tmp_path, *write(np.random.default_rng(1)), *kinds)
    assert type(data).__name__ == expected
    if expected == "ChoiceExperiment":
        assert (data.n_respondents, data.n_tasks) == (PEOPLE, PEOPLE * QUESTIONS)
        assert data.n_alternatives == 3 * PEOPLE * QUESTIONS
        assert {*data.levels} == {"brand", "price"}
    elif "PrefLib" in str(data.respondents):
        assert len(data.labels) == len(ITEMS)
    elif expected == "PairedComparisons":
        assert data.n_comparisons == PEOPLE * QUESTIONS and len(data.respondents) == PEOPLE
    elif data.worst is not None:
        assert data.n_choices == PEOPLE * QUESTIONS and len(data.respondents) == PEOPLE


def page():
    """Name, text, program and kind of each row of the table of other programs."""
    text = (PROJECT / "docs" / "start" / "shapes_of_tables.md").read_text(encoding="utf-8")
    table = text[text.index("| from | file | such as | read as |") :]
    for line in table[: table.index("\n\n")].splitlines()[2:]:
        program, file, rows, kind = (cell.strip() for cell in line.strip("|").split("|"))
        yield pytest.param(
            file.strip("`"), "\n".join(re.findall(r"`(.*?)`", rows)), program, kind, id=program
        )


@pytest.mark.parametrize(("name", "text", "program", "kind"), page())
def test_an_export_of_the_page_is_read(name, text, program, kind, tmp_path):
    design = "option1,option2,option3\ntea,milk,water\n" if "--design" in program else None
    data, sentence = taken(tmp_path, name, text, design)
    assert type(data).__name__ == kind
    if design is not None:
        said(sentence, "sets.csv")
