"""The kind of data by its name, at every command that reads a table of several kinds."""

import pytest
from helpers.sentences import says

FILES = {
    "square.csv": ",a,b,c\na,0,4,2\nb,4,0,1\nc,2,1,0\n",
    "shown.csv": "shown,left,right,response\nbrick,wall,dog,left\ndog,brick,wall,right\n"
    "wall,dog,brick,left\nbrick,dog,wall,left\n",
}


def test_compare_takes_the_models_of_the_named_kind(run, monkeypatch, compared):
    assert "BTL" in compared("square.csv", "BTL,ibp", "--kind", "comparisons")
    assert "ibp" in compared("square.csv", "ibp", "--kind", "similarities")


def test_a_leaderboard_of_the_named_kind(done):
    assert "3 options" in done("leaderboard", "square.csv", "--kind", "comparisons").out


@pytest.mark.parametrize(
    ("words", "facts"),
    [
        (("fit", "square.csv"), ("--kind similarities", "--kind comparisons")),
        (("fit", "shown.csv"), ("--kind triplets", "--kind comparisons")),
        (("fit", "square.csv", "--kind", "pairs"), ("--kind must be", "comparisons", "'pairs'")),
        (
            ("fit", "square.csv", "--kind", "similarities", "--model", "BTL"),
            ("--kind must be", "comparisons", "'similarities'"),
        ),
        (
            ("fit", "square.csv", "--kind", "comparisons", "--model", "additive-clustering"),
            ("--kind must be", "similarities", "'comparisons'"),
        ),
        (
            ("leaderboard", "square.csv", "--kind", "triplets"),
            ("--kind must be", "comparisons", "'triplets'"),
        ),
    ],
)
def test_a_kind_that_is_missing_or_no_kind_of_the_command_is_refused(run, words, facts):
    refusal = run(*words)
    assert refusal.code == 2
    says(" ".join(refusal.err.split()), *facts)
