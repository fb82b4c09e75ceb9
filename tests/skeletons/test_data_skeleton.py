"""The skeleton of a kind of data works from a table to the report, with three entries and nothing
else."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.sentences import says

pytestmark = pytest.mark.fit

HERE = Path(__file__).parent
TABLE = "rater,object,rating\n" + "\n".join(
    f"{person},{name},{mean + (person * step) % 3 - 1}"
    for person in range(1, 13)
    for step, (name, mean) in enumerate({"tea": 5, "milk": 3, "water": 4}.items(), start=1)
)
# What a copy of the skeleton in the library would add: its folder, and a line to each of three
# registries.
ENTRIES = """
import sys
import thali._data.kinds, thali._model.class_names, thali._model.registry
thali.__path__.append(sys.argv[1])
from thali.ratings.spec import MEAN_RATINGS, RATINGS
thali._data.kinds.SPECS += (RATINGS,)
thali._model.registry.SPECS += (MEAN_RATINGS,)
thali._model.class_names.PLACES["Ratings"] = "thali.ratings.data:Ratings"
"""
COMMANDS = """
from thali._surfaces.cli import app
for line in sys.argv[2].splitlines():
    try:
        app(line.split())
    except SystemExit as stop:
        print(line.split()[0], "ended with", stop.code or 0)
"""


def run(folder, *lines):
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    words = [sys.executable, "-c", ENTRIES + COMMANDS, str(HERE), "\n".join(lines)]
    return subprocess.run(
        words, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.long
def test_from_the_table_to_the_report(tmp_path):
    (tmp_path / "ratings.csv").write_text(TABLE, encoding="utf-8")
    (tmp_path / "gap.csv").write_text(TABLE.replace("1,tea,5", "1,tea,"), encoding="utf-8")
    (tmp_path / "lone.csv").write_text(
        "object,colour\ntea,red\nmilk,white\ntea,red\n", encoding="utf-8"
    )
    done = run(
        tmp_path,
        "fit ratings.csv --draws 300 --seed 1 --out fit --report report.html --print all",
        "compare ratings.csv --seed 1 --draws 200 --print all",
        "fit gap.csv",
        "fit lone.csv --model mean-ratings",
    )
    said = " ".join(done.stderr.split())
    assert "ratings.csv: one rating per row, 'rating' of 'object': 3 objects, 36 ratings" in said, (
        done.stderr
    )
    says(said, "gap.csv", "2, column", "'rating'")
    says(said, "'object'", "--rating")
    assert done.stdout.split("fit ended with 0")[0].count("mean[") >= 3, done.stdout + done.stderr
    says(done.stdout, "mean-ratings predicts")
    says(done.stdout, "log score: mean")
    assert "ended with 1" not in done.stdout and done.stdout.count("ended with 0") == 2
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "3 objects, 36 ratings" in page and "mean[tea]" in page
    assert {path.name for path in (tmp_path / "fit").iterdir()} >= {"posterior.nc", "summary.csv"}
