"""Tables as programs and trades write them: what each column is, is seen in its cells."""

import random

import pandas as pd
import pytest

import thali as th

RNG = random.Random()
TEAMS = ["BOS", "NYK", "LAL", "CHI"]


@pytest.fixture(autouse=True)
def same_numbers():
    """Draw the same tables in any order of tests."""
    RNG.seed(20261129)


def draw_games(n=40):
    """Return (winner, loser) rows."""
    return [tuple(RNG.sample(TEAMS, 2)) for _ in range(n)]


@pytest.mark.parametrize(
    "names, words",
    [
        (("Tm", "Opp", "W/L"), ("W", "L")),
        (("Team", "Opponent", "Outcome"), ("Won", "Lost")),
        (("team", "opp", "result"), ("win", "loss")),
    ],
)
@pytest.mark.parametrize("is_listed_twice", [False, True])
def test_games_of_teams_count_once(names, words, is_listed_twice):
    rows = []
    for number, (winner, loser) in enumerate(draw_games()):
        sides = [(winner, loser, words[0]), (loser, winner, words[1])]
        if not is_listed_twice:
            sides = sides[:1]
        rows += [(f"G{number}", *side) for side in sides]
    data = th.read(pd.DataFrame(rows, columns=["game", *names]))
    assert data.n_comparisons == 40
    assert ("each game is listed twice" in data.read_as) == is_listed_twice


def test_two_legs_between_the_same_teams_are_two_games():
    rows = [(day, a, b, "W") for day, (a, b) in enumerate([("x", "y"), ("y", "z"), ("x", "z")])]
    rows += [(day + 10, b, a, "L") for day, a, b, _ in rows]
    data = th.read(pd.DataFrame(rows, columns=["day", "team", "opponent", "result"]))
    assert data.n_comparisons == 6


def rank_rows(extra):
    """Return rows (race, runner, start, finish, ...) of 20 races of four of six runners."""
    rows = []
    for race in range(20):
        runners = RNG.sample("ABCDEF", 4)
        places = RNG.sample(range(1, 5), 4)
        rows += [
            (race + 500, f"runner {runner}", start + 1, place, *extra(race))
            for start, (runner, place) in enumerate(zip(runners, places, strict=True))
        ]
    return rows


@pytest.mark.parametrize(
    "names",
    [
        ("race_id", "horse", "draw", "finish_position"),
        ("play_id", "player", "seat", "place"),
        ("contest", "athlete", "lane", "placing"),
    ],
)
def test_rankings_are_found_by_their_places(names):
    frame = pd.DataFrame(
        rank_rows(lambda race: (RNG.choice([56.0, 57.5]),)), columns=[*names, "weight"]
    )
    data = th.read(frame)
    assert data.n_options == 6
    assert sum(data.times) == 60  # three choices a race
    last_places = frame.loc[frame[names[3]] == 4, names[1]].value_counts()
    chosen = dict.fromkeys(data.labels, 0)
    for member, times in zip(data.choice, data.times, strict=True):
        chosen[data.labels[data.members[member]]] += int(times)
    shown = frame[names[1]].value_counts()
    assert shown.sub(last_places, fill_value=0).to_dict() == chosen


def test_places_that_rank_no_group_are_no_rankings():
    rows = [(n % 5, f"row {n % 7}", 1 + n % 3) for n in range(35)]
    with pytest.raises(th.errors.DataError):
        th.read(pd.DataFrame(rows, columns=["group_id", "name", "place"]))


@pytest.mark.parametrize("mark", ["x", "X", "yes", 1])
def test_a_mark_beside_empty_cells_is_the_choice(mark):
    rows = [
        (
            person,
            task,
            place,
            "red blue".split()[(task + place) % 2],
            mark if place == task % 2 else None,
        )
        for person in "abc"
        for task in range(4)
        for place in range(2)
    ]
    columns = ["respondent", "task", "alternative", "colour", "selected"]
    data = th.read(pd.DataFrame(rows, columns=columns))
    assert data.n_tasks == 12
    frame = data.to_frame()
    assert set(frame.loc[frame["selected"] == 1, "colour"]) == {"red"}


def test_names_of_otree(tmp_path):
    path = tmp_path / "otree.csv"
    rows = [
        (
            f"p{person}",
            number,
            RNG.choice([5, 9]),
            RNG.choice([5, 9, 14]),
            RNG.choice(["left", "right"]),
        )
        for person in range(5)
        for number in range(4)
    ]
    names = "participant.code subsession.round_number player.left_price player.right_price player.choice"
    pd.DataFrame(rows, columns=names.split()).to_csv(path, index=False)
    data = th.read(path)
    assert data.n_respondents == 5
    assert list(data.attributes) == ["price"]


COMPOUNDS = [(126, 326, 0.85), (126, 1140, 0.3), (326, 1140, 0.4)]


@pytest.mark.parametrize("options", [{"similarity": "response"}, {"kind": "similarities"}])
def test_answers_that_are_similarities_by_request(options):
    rows = [(who, a, b, 7 * value, 1.5) for who in "pq" for a, b, value in COMPOUNDS]
    frame = pd.DataFrame(rows, columns=["subject", "color1", "color2", "response", "rt"])
    data = th.read(frame, **options)
    assert len(data.labels) == 3
