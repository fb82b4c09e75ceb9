"""Questionnaires that a robot takes in Chromium: what interruptions do to answers, and whether fits find the worths.

    python benchmarks/questionnaires.py [--small] [--interruptions 200] [--people 20]

Interruptions, in real time: reload, the button of the browser, another page, a closed tab, no connection, a second tab,
a turned device, each before a random press, where every answer is a click, a double click or a key by chance. Printed
are those that happened by kind, and how many answers were lost, doubled or changed on the way to the file.

Studies: of each kind, `--people` robots with the same worths on a phone and as many at a desk; the folder is collected,
the table is read without an option, and elimination with unique aspects (Bradley-Terry-Luce) is fitted. Printed is the
share of 89 % intervals of choice probabilities, one a pair of options, that hold the truth.
"""

import argparse
import sys
import tempfile
from collections import Counter
from itertools import combinations
from pathlib import Path

import numpy as np

import thali as th
from thali.reading.recognise import read

TESTS = Path(__file__).parents[1] / "tests"
WORTHS = {"tea": 3.0, "coffee": 2.0, "milk": 1.0, "juice": 0.7, "water": 0.5, "cocoa": 0.3}
KINDS = ("pairs", "best", "best-worst", "ranking")
DEVICES = {
    "phone": {"viewport": {"width": 390, "height": 780}, "has_touch": True, "is_mobile": True},
    "desk": {"viewport": {"width": 1280, "height": 800}},
}


def interrupted(browser, folder: Path, wanted: int) -> None:
    """Print what so many interruptions did to answers."""
    from robot import Interrupted
    from test_questionnaire_in_a_browser import FACTS, KINDS, answers_in, handed_in, made, worths

    happened, answers, wrong, seed = Counter(), 0, 0, 0
    while happened.total() < wanted:
        kind = KINDS[seed % len(KINDS)]
        context = browser.new_context()
        robot = Interrupted(context.new_page(), worths(kind), seed, facts=FACTS, chance=0.6, hurried=False)
        robot.open(made(kind, folder / f"interrupted-{kind}.html"))
        rows = handed_in(robot.take().hand_in(folder))
        wrong += sum(one != other for one, other in zip(answers_in(kind, rows), robot.given, strict=False))
        wrong += abs(len(answers_in(kind, rows)) - len(robot.given))
        happened.update(robot.happened)
        answers += len(robot.given)
        seed += 1
        context.close()
    print(
        f"{happened.total()} interruptions in {seed} questionnaires ({dict(happened)}): {answers} answers,", flush=True
    )
    print(f"{wrong} lost, doubled or changed")


def recovered(browser, folder: Path, people: int) -> None:
    """Print how often intervals hold the truth."""
    from robot import Robot

    held = []
    for kind in KINDS:
        page = folder / f"{kind}.html"
        th.field.questionnaire(list(WORTHS), page, kind, study={"per_person": 6} if "best" in kind else None)
        for device, settings in DEVICES.items():
            (answers := folder / f"{kind}-{device}").mkdir()
            for person in range(people):
                context = browser.new_context(**settings)
                how = "keyboard" if device == "desk" and person % 2 else "click"
                Robot(context.new_page(), WORTHS, person, how).open(page.as_uri()).take().hand_in(answers)
                context.close()
            table = answers.with_suffix(".csv")
            th.field.collect(answers).answers.to_csv(table, index=False)
            data, how = read(table)
            model = th.EliminationByAspects("unique", people="independent").fit(data, random_seed=1, progressbar=False)
            pairs = list(combinations(data.labels, 2))
            truth = np.array([WORTHS[a] / (WORTHS[a] + WORTHS[b]) for a, b in pairs])
            draws = model.posterior_["posterior"]["choice_probability"].to_numpy().reshape(-1, len(pairs))
            low, high = np.quantile(draws, [0.055, 0.945], axis=0)
            held.append(((low <= truth) & (truth <= high)).mean())
            print(
                f"{kind}, {device}: {how}; {100 * held[-1]:.0f} % of {len(pairs)} intervals hold the truth", flush=True
            )
    effective = len(held) * (len(WORTHS) - 1)
    error = np.sqrt(0.89 * 0.11 / effective)
    print(f"all studies: {100 * np.mean(held):.1f} %, where 89 are wanted (binomial error {100 * error:.1f}:")
    print(f"{effective} free worths)")


def main(interruptions: int = 200, people: int = 20, small: bool = False) -> None:
    sys.path[:0] = [str(TESTS / "helpers"), str(TESTS / "field")]
    from chromium import opened

    with tempfile.TemporaryDirectory() as folder, opened() as browser:
        interrupted(browser, Path(folder), 2 if small else interruptions)
        recovered(browser, Path(folder), 1 if small else people)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--interruptions", type=int, default=200)
    parser.add_argument("--people", type=int, default=20)
    parser.add_argument("--small", action="store_true")
    main(**vars(parser.parse_args()))
