"""`thali design`: options of sets and of tasks, and how many respondents a pilot asks for."""

import pandas as pd
import pytest
from helpers.sentences import said

import thali as th

pytestmark = pytest.mark.fit


def test_sets_and_tasks_are_different_designs(refused, folder):
    said(refused("design", "tea", "rum", "milk", "--overlap", "balanced"), "--overlap")
    said(refused("design", "tea", "rum", "milk", "--spread", 1), "--power")
    for option in ("--versions", "--seed"):
        assert f"{option} applies to subsets of pairs or sets, or to tasks" in refused(
            "design", "tea", "rum", "milk", option, 3
        )
    said(refused("design", "a.csv", "--tasks", 4, "--size", 3), "--size", "--per-person")


@pytest.mark.long
def test_a_pilot_says_how_many_people_options_need(run, refused, folder, monkeypatch):
    """`--pilot` of options: each simulated study has the worths of one draw of that fit."""
    frame = pd.DataFrame(
        {"chosen": ["tea"] * 9 + ["milk"] * 6, "rejected": ["milk"] * 9 + ["rum"] * 6}
    )
    frame.to_csv("pairs.csv", index=False)
    few = ("--draws", 40, "--chains", 2, "--seed", 1)
    assert run("fit", "pairs.csv", "--model", "BTL", *few, "--out", "pilot").code == 0
    power, seen = th.designs.power, []

    def short(design, prior, *given, **settings):
        seen.append(prior)
        return power(design, prior, *given, **settings, simulations=10)

    monkeypatch.setattr(th.designs, "power", short)
    words = ("design", "tea", "milk", "rum", "--power", 20, "--seed", 1)
    assert run(*words, "--pilot", "pilot", "--out", "out").code == 0
    told = pd.read_csv(folder / "out" / "power.csv", index_col="respondents")
    pilot = th.load(folder / "pilot")
    assert seen[0].summary().equals(pilot.summary())
    wanted = power(
        th.paired.pair_design(["tea", "milk", "rum"]), pilot, 20, simulations=10, random_seed=1
    )
    pd.testing.assert_frame_equal(told, wanted, check_frame_type=False)
    assert "no worth for the option 'cocoa'" in refused(
        "design", "tea", "cocoa", "rum", "--power", 20, "--pilot", "pilot"
    )
