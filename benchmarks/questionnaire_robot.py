"""Questionnaires that a robot takes in Chromium: what interruptions do to answers, and whether fits
find the worths.

    python benchmarks/questionnaire_robot.py [--small] [--features] [--interruptions 200] [--people 20]

Interruptions, in real time: reload, the button of the browser, another page, a closed tab, no
connection, a second tab, a turned device, each before a random press, where every answer is a
click, a double click or a key by chance. Printed are those that happened by kind, and how many
answers were lost, doubled or changed on the way to the file.

Studies: of each kind, `--people` robots with the same worths on a phone and as many at a desk; the
folder is collected, the table is read without an option, and elimination with unique aspects
(Bradley-Terry-Luce) is fitted. Printed is the share of 89 % intervals of choice probabilities, one
a pair of options, that hold the truth. Of the odd one out and of ratings the robots have known
features (tea and coffee are hot, milk, cocoa and tea are drunk with sugar, all are alike), which
additive clustering is given: intervals of the two weights, each as a pair that has it minus a pair
with nothing in common, and of ratings of the constant. Of choice tasks they have known utilities:
intervals of the coefficients of a multinomial logit. With `--features` 40 studies of such robots
without Chromium follow.

"""

import argparse
import sys
import tempfile
from collections import Counter
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd

import thali as th
from thali._reading.layout_recognition import read_data

TESTS = Path(__file__).parents[1] / "tests"
WORTHS = {"tea": 3.0, "coffee": 2.0, "milk": 1.0, "juice": 0.7, "water": 0.5, "cocoa": 0.3}
KINDS = ("pairs", "best", "best-worst", "ranking")
FEATURES = {
    "tea": [1, 1],
    "coffee": [1, 0],
    "milk": [0, 1],
    "juice": [0, 0],
    "water": [0, 0],
    "cocoa": [0, 1],
}
WEIGHTS = (1.5, 0.8)  # of what two options have in common, in log similarity (odd one out)
STEPS, CONSTANT = (2.0, 1.0), 2.0  # the same in steps of a rating, above that of nothing in common
# have nothing in common, the first feature, the second
FREE = ("juice", "water"), ("tea", "coffee"), ("milk", "cocoa")
UTILITIES = {"brand": {"A": 0.8, "B": 0.0}, "price": {"1": 1.0, "2": 0.5, "3": 0.0}}
DEVICES = {
    "phone": {"viewport": {"width": 390, "height": 780}, "has_touch": True, "is_mobile": True},
    "desk": {"viewport": {"width": 1280, "height": 800}},
}


def interrupted(browser, folder: Path, wanted: int) -> None:
    """Print what so many interruptions did to answers."""
    from helpers.robot import Interrupted
    from test_questionnaire_in_a_browser import FACTS, KINDS, answers_in, handed_in, made, worths

    happened, answers, wrong, seed = Counter(), 0, 0, 0
    while happened.total() < wanted:
        kind = KINDS[seed % len(KINDS)]
        context = browser.new_context()
        robot = Interrupted(
            context.new_page(), worths(kind), seed, facts=FACTS, chance=0.6, hurried=False
        )
        robot.open(made(kind, folder / f"interrupted-{kind}.html"))
        rows = handed_in(robot.take().hand_in(folder))
        wrong += sum(
            one != other for one, other in zip(answers_in(kind, rows), robot.given, strict=False)
        )
        wrong += abs(len(answers_in(kind, rows)) - len(robot.given))
        happened.update(robot.happened)
        answers += len(robot.given)
        seed += 1
        context.close()
    print(
        f"{happened.total()} interruptions in {seed} questionnaires ({dict(happened)}): {answers}"
        " answers,",
        flush=True,
    )
    print(f"{wrong} lost, doubled or changed")


def seed_of(device: str, kind: str, person: int) -> list[int]:
    """Robots on two devices, or of two kinds, are different people."""
    return [
        list(DEVICES).index(device),
        [*KINDS, "odd-one-out", "ratings", "choice"].index(kind),
        person,
    ]


def recovered(browser, folder: Path, people: int) -> None:
    """Print how often intervals hold the truth."""
    from helpers.robot import Robot

    held = []
    for kind in KINDS:
        page = folder / f"{kind}.html"
        th.field.questionnaire(
            list(WORTHS), page, kind, study={"per_person": 6} if "best" in kind else None
        )
        for device, settings in DEVICES.items():
            (answers := folder / f"{kind}-{device}").mkdir()
            for person in range(people):
                context = browser.new_context(**settings)
                how = "keyboard" if device == "desk" and person % 2 else "click"
                Robot(context.new_page(), WORTHS, seed_of(device, kind, person), how).open(
                    page.as_uri()
                ).take().hand_in(answers)
                context.close()
            table = answers.with_suffix(".csv")
            th.field.collect(answers).answers.to_csv(table, index=False)
            data, how = read_data(table)
            model = th.BradleyTerryLuce("mcmc", people="independent").fit(
                data, random_seed=1, progressbar=False
            )
            pairs = list(combinations(data.labels, 2))
            truth = np.array([WORTHS[a] / (WORTHS[a] + WORTHS[b]) for a, b in pairs])
            draws = (
                model.posterior_["posterior"]["choice_probability"]
                .to_numpy()
                .reshape(-1, len(pairs))
            )
            low, high = np.quantile(draws, [0.055, 0.945], axis=0)
            held.append(((low <= truth) & (truth <= high)).mean())
            print(
                f"{kind}, {device}: {how}; {100 * held[-1]:.0f} % of {len(pairs)} intervals hold"
                " the truth",
                flush=True,
            )
    effective = len(held) * (len(WORTHS) - 1)
    error = np.sqrt(0.89 * 0.11 / effective)
    print(
        f"all studies: {100 * np.mean(held):.1f} %, where 89 are wanted (binomial error"
        f" {100 * error:.1f}:"
    )
    print(f"{effective} free worths)")


def answered(browser, folder: Path, page: Path, robot, people: int, device: str):
    """The data of so many robots, and how they were read."""
    (answers := folder / f"{page.stem}-{device}").mkdir()
    for person in range(people):
        context = browser.new_context(**DEVICES[device])
        how = "keyboard" if device == "desk" and person % 2 else "click"
        robot(context.new_page(), seed_of(device, page.stem, person), how).open(
            page.as_uri()
        ).take().hand_in(answers)
        context.close()
    table = answers.with_suffix(".csv")
    th.field.collect(answers).answers.to_csv(table, index=False)
    return read_data(table)


def common(weights, one: str, other: str) -> float:
    """How alike two options are by what they have in common."""
    return float(np.dot(np.multiply(FEATURES[one], FEATURES[other]), weights))


def held_of_features(kind: str, data) -> np.ndarray:
    """Which intervals of the weights, and of ratings of the constant, hold the truth: numbers that
    are free."""
    labels, matrix = list(FEATURES), np.array(list(FEATURES.values()))
    own = [labels.index(label) for label in data.labels]
    model = th.AdditiveClustering(matrix[own]).fit(data, random_seed=1, progressbar=False)
    pairs = [frozenset(pair) for pair in combinations(data.labels, 2)]
    draws = model.posterior_["posterior"]["similarity"].to_numpy().reshape(-1, len(pairs))
    nothing, hot, sugar = (draws[:, pairs.index(frozenset(pair))] for pair in FREE)
    found, truth = (
        [hot - nothing, sugar - nothing],
        list(WEIGHTS if kind == "odd-one-out" else STEPS),
    )
    if kind == "ratings":
        found, truth = [*found, nothing], [*truth, CONSTANT]
    low, high = np.quantile(found, [0.055, 0.945], axis=1)
    return (low <= truth) & (truth <= high)


def simulated(kind: str, people: int, seed: int):
    """The data of so many robots, without a browser: each is asked 10 different questions by
    chance."""
    rng, rows = np.random.default_rng(seed), []
    asked = list(combinations(FEATURES, 3 if kind == "odd-one-out" else 2))
    for person in range(people):
        for k in rng.choice(len(asked), 10, replace=False):
            shown = rng.permutation(asked[k]).tolist()
            if kind == "ratings":
                rating = CONSTANT + common(STEPS, *shown) + rng.normal(0, 0.5)
                rows.append([f"p{person}", *shown, int(np.clip(round(rating), 1, 7))])
            else:
                a, b, c = shown
                alike = np.exp([common(WEIGHTS, *pair) for pair in ((b, c), (a, c), (a, b))])
                rows.append([f"p{person}", *shown, shown[rng.choice(3, p=alike / alike.sum())]])
    names = (
        ["first", "second", "similarity"]
        if kind == "ratings"
        else ["object1", "object2", "object3", "odd"]
    )
    with tempfile.TemporaryDirectory() as folder:
        pd.DataFrame(rows, columns=["person", *names]).to_csv(
            Path(folder) / "table.csv", index=False
        )
        return read_data(Path(folder) / "table.csv")[0]


def of_many(people: int, studies: int) -> None:
    """Print how often intervals hold the truth in studies without a browser."""
    for kind in ("odd-one-out", "ratings"):
        held = np.array(
            [held_of_features(kind, simulated(kind, people, seed)) for seed in range(studies)]
        )
        # intervals of one study are not independent
        error = held.mean(axis=1).std(ddof=1) / np.sqrt(studies)
        print(
            f"{kind}, {studies} studies of {people} without a browser: {100 * held.mean():.1f} %"
            f" of {held.size} intervals of free numbers hold the truth, where 89 are wanted (error"
            f" by study {100 * error:.1f})",
            flush=True,
        )


def of_features(browser, folder: Path, people: int) -> None:
    """Print how often intervals of weights and utilities hold the truth."""
    from helpers.robot import Robot

    class ByFeatures(Robot):
        """Who sees features alone."""

        def alike(self, one, other):
            return common(WEIGHTS, one, other)

    class Rater(Robot):
        """Who gives steps of a rating for features."""

        def alike(self, one, other):
            return np.log((CONSTANT + common(STEPS, one, other)) / 7.0)

    design = th.designs.choice(
        {name: list(each) for name, each in UTILITIES.items()}, 12, 2, random_seed=1
    )
    for device in DEVICES:
        for kind, robot in (("odd-one-out", ByFeatures), ("ratings", Rater)):
            page = folder / f"{kind}.html"
            th.field.questionnaire(list(FEATURES), page, kind, study={"per_person": 10})
            data, how = answered(
                browser, folder, page, lambda p, s, h, r=robot: r(p, WORTHS, s, h), people, device
            )
            held = held_of_features(kind, data)
            print(
                f"{kind}, {device}: {how}; {held.sum()} of {len(held)} intervals hold the truth",
                flush=True,
            )
        page = folder / "choice.html"
        th.field.questionnaire(design, page)
        data, how = answered(
            browser, folder, page, lambda p, s, h: Robot(p, UTILITIES, s, h), people, device
        )
        model = th.MultinomialLogit().fit(data)
        expected = {
            f"{name}[{level}]": value
            for name, each in UTILITIES.items()
            for level, value in each.items()
        }
        first = {name: each[data.levels[name][0]] for name, each in UTILITIES.items()}
        names = list(model.summary().index.intersection(list(expected)))
        truth = np.array([expected[name] - first[name.split("[")[0]] for name in names])
        error = 1.598 * np.sqrt(np.diag(model.covariance_))
        held = 100 * (abs(np.array(model.coef_) - truth) < error).mean()
        print(
            f"choice, {device}: {how}; {held:.0f} % of {len(truth)} intervals hold the truth",
            flush=True,
        )


def main(
    interruptions: int = 200, people: int = 20, small: bool = False, features: bool = False
) -> None:
    sys.path[:0] = [str(TESTS), str(TESTS / "field")]
    from helpers.chromium import opened

    with tempfile.TemporaryDirectory() as folder, opened() as browser:
        if not features:
            interrupted(browser, Path(folder), 2 if small else interruptions)
            recovered(browser, Path(folder), 1 if small else people)
        of_features(browser, Path(folder), 2 if small else people)
    if features:
        of_many(people, 2 if small else 40)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--interruptions", type=int, default=200)
    parser.add_argument("--people", type=int, default=20)
    parser.add_argument("--small", action="store_true")
    parser.add_argument(
        "--features", action="store_true", help="the odd one out, ratings and choice alone"
    )
    main(**vars(parser.parse_args()))
