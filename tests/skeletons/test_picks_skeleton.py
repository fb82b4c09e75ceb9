"""The skeleton of a kind of counted data fits, checks, predicts and is compared by its questions
alone."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from helpers.sentences import refused, says
from picks.data import Picks
from picks.model import PickedWorths, answers_of
from picks.spec import PICKED as PICKED_PAIR

from thali._model.predictive_check import CHECKED, MOST_SIMILAR
from thali.errors import DataError

HERE = Path(__file__).parent
OPTIONS = ["tea", "milk", "water", "juice"]
SHOWN = [OPTIONS[:3], OPTIONS, OPTIONS[1:], OPTIONS] * 10
PICKED = [each[:2] if k % 5 else each[1:3] for k, each in enumerate(SHOWN)]
DATA = Picks(SHOWN, PICKED)
WORDS = """
from thali._model.predictive_check import CHECKED, MOST_SIMILAR
CHECKED["pair that is picked"] = CHECKED[MOST_SIMILAR]._replace(quantity="proportion picking the pair")
"""
# What a copy of the skeleton in the library would add: its folder, and a line to each of four
# tables.
ENTRIES = """
import sys
import thali._data.kinds, thali._model.class_names, thali._model.registry
thali.__path__.append(sys.argv[1])
from thali.picks.spec import PICKED_WORTHS, PICKS
thali._data.kinds.SPECS += (PICKS,)
thali._model.registry.SPECS += (PICKED_WORTHS,)
thali._model.class_names.PLACES["Picks"] = "thali.picks.data:Picks"
"""
COMMANDS = """
import thali
from thali._surfaces.cli import app
try:
    app("fit picks.csv --draws 200 --seed 1 --print all".split())
except SystemExit as stop:
    print("ended with", stop.code or 0)
from thali.picks.model import PickedWorths
run = {"draws": 50, "random_seed": 1, "cores": 1, "progressbar": False}
table = thali.compare({"worths": PickedWorths()}, thali.read("picks.csv"), folds=3, **run)
print(table.loc["worths", "log_score"] > table.loc["BASE", "log_score"], table.attrs["answers"].index.names)
"""


def test_answers_are_counted_by_set():
    asked = DATA.questions()
    assert asked.sizes.tolist() == [3, 6, 3] and asked.totals.tolist() == [10, 20, 10]
    assert (
        asked.counts.sum() == len(PICKED)
        and DATA.take(np.array([True, False, True])).counts.sum() == 20
    )
    assert Picks(SHOWN, PICKED) == DATA
    with refused(DataError, "0", "['tea', 'tea']"):
        Picks([OPTIONS], [["tea", "tea"]])


def test_probabilities_are_those_of_products():
    worths = np.log([[1.0, 2.0, 3.0, 4.0]])
    first, *_ = np.split(answers_of(worths, DATA)(slice(0, 3))[0], DATA.start[1:-1])
    np.testing.assert_allclose(first, np.array([2.0, 3.0, 6.0]) / 11.0)


@pytest.mark.fit
@pytest.mark.filterwarnings("ignore::thali.errors.ConvergenceWarning")
def test_fit_check_and_predictions(monkeypatch):
    monkeypatch.setitem(CHECKED, PICKED_PAIR, CHECKED[MOST_SIMILAR])
    model = PickedWorths().fit(DATA, draws=100, random_seed=1)
    table = model.check(random_seed=2)
    assert (
        set(table["a"]) <= set(OPTIONS) and len(table) == 6 and 0.0 <= table.attrs["p_value"] <= 1.0
    )
    predictions = model.predictions()
    expected = np.concatenate(model.predict_proba(DATA)) * np.repeat(
        DATA.questions().totals, [3, 6, 3]
    )
    asked = DATA.questions()
    np.testing.assert_allclose(
        predictions["predicted"] * predictions["n"], asked.rows.counted @ expected
    )
    np.testing.assert_allclose(predictions["observed"] * predictions["n"], asked.observed)


@pytest.mark.long
@pytest.mark.fit
def test_from_the_table_to_a_comparison(tmp_path):
    rows = ["|".join(shown) + "," + "|".join(two) for shown, two in zip(SHOWN, PICKED, strict=True)]
    (tmp_path / "picks.csv").write_text("\n".join(["shown,picked", *rows]), encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    words = [sys.executable, "-c", ENTRIES + WORDS + COMMANDS, str(HERE)]
    done = subprocess.run(
        words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    says(" ".join(done.stderr.split()), "picks.csv:", "4 options, 3 sets, 40 answers")
    assert "ended with 0" in done.stdout and done.stdout.count("log_worth[") >= 4, (
        done.stdout + done.stderr
    )
    says(done.stdout, "True", "'set', 'a', 'b'")
