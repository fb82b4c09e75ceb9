"""Files of answers as a questionnaire hands them in, for tests without a browser."""

import re

import pandas as pd

KINDS = {
    "pairs": (
        "left right chosen",
        ["tea milk tea", "milk juice juice", "coffee tea coffee", "tea juice|no preference"],
    ),
    "best": ("option1 option2 option3 best", ["tea milk juice tea", "milk juice tea juice"]),
    "best-worst": (
        "option1 option2 option3 best worst",
        ["tea milk juice tea milk", "tea milk coffee milk coffee"],
    ),
    "ranking": (
        "shown1 shown2 shown3 rank1 rank2 rank3",
        ["tea milk juice milk tea juice", "coffee tea milk milk tea coffee"],
    ),
    "odd-one-out": (
        "object1 object2 object3 odd",
        ["tea milk juice tea", "milk tea coffee coffee"],
    ),
    "ratings": ("first second similarity", ["tea milk 3", "juice milk 7", "tea juice 1"]),
    "choice": (
        "brand_1 brand_2 price_1 price_2 choice",
        ["A B 1 2 1", "B A 2 1 none", "A A 1 2 1", "B B 2 1 2"],
    ),
}


def rows_of(
    kind,
    person,
    seed="1",
    study="drinks-1",
    part="main",
    answers=None,
    planned=None,
    first=1,
    **more,
):
    """What a questionnaire hands in: a row an answer."""
    names, usual = KINDS[kind]
    cells = [
        re.split(r"[ |]", text, maxsplit=len(names.split()) - 1) for text in (answers or usual)
    ]
    frame = pd.DataFrame(cells, columns=names.split())
    number = range(first, first + len(frame))
    head = {
        "study": study,
        "person": person,
        "seed": f"{seed} {person}",
        "started": f"2026-11-2{seed}",
        "version": 1,
        "part": part,
    }
    for k, (name, value) in enumerate(head.items()):
        frame.insert(k, name, value)
    frame.insert(6, "task" if kind == "choice" else "trial", number)
    planned = planned or len(frame)
    facts = {"age": more.pop("age", 30 if person == "ann" else 40)}
    return frame.assign(rt=800, **more, trials_planned=planned, **facts)


def save(folder, **people):
    for name, frame in people.items():
        frame.to_csv(folder / f"{name}.csv", index=False)
