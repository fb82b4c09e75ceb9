"""Every kind of data × population × model and method × command ends well, or is refused in one
sentence.

Which combinations end well stands in `cases/combinations_that_end_well.txt`, a line each: a
combination that is refused from now on, or no longer, changes it. By default run half of those in
which each command, table, population, model and way is met once; `tests/README.md` counts them.
"""

import builtins
from contextlib import chdir
from itertools import groupby

import pytest
from helpers.combinations import EVERY, is_quick_as_python, usual
from helpers.compiled_code import run_as_python
from helpers.places import TESTS
from helpers.stories import Refused, Story

import thali as th

pytestmark = [
    pytest.mark.fit,
    pytest.mark.usefixtures("few_replicates", "short"),
    pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning"),
]
END_WELL = set((TESTS / "cases" / "combinations_that_end_well.txt").read_text().splitlines())
WELL = [each for each in EVERY if str(each) in END_WELL]
REFUSED = [each for each in EVERY if str(each) not in END_WELL]


@pytest.fixture
def short(monkeypatch):
    """What has no option for its length is short, too; somebody answers."""
    monkeypatch.setattr(
        th.ProductClasses, "_get_comparison_run", lambda model: {"draws": 4, "chains": 2}
    )
    monkeypatch.setattr(builtins, "input", lambda prompt: "1")


@pytest.fixture
def ends(run, tmp_path):
    """A function of a combination: how it ended, "well" or the sentence by which it was refused."""

    def carry_out(combination):
        folder = tmp_path / str(combination)
        folder.mkdir()
        with chdir(folder), pytest.MonkeyPatch.context() as patch:
            if is_quick_as_python(combination):
                run_as_python(patch)
            try:
                Story(run, folder).carry_out(combination)
            except Refused as refused:
                return str(refused)
        return "well"

    return carry_out


@pytest.mark.parametrize("command", sorted({each.command for each in EVERY}))
def test_the_readme_counts_the_combinations(command):
    well, refused = (sum(each.command == command for each in kind) for kind in (WELL, REFUSED))
    row = f"| {command} | {well + refused:,} | {well:,} | {refused:,} |"
    assert row in (TESTS / "README.md").read_text("utf-8")


@pytest.mark.first(
    3,
    "fit-rows-one-sparse-logit-auto---eta",
    "leaderboard-best-and-worst-one-laplace-half",
    "compare-triplets-one-additive-clustering-set",
    "fit-judgements-one-nonnegative-dimensions---dimensions",
)
@pytest.mark.parametrize("combination", usual(WELL), ids=str)
def test_a_combination_ends_well(combination, ends):
    assert ends(combination) == "well"


@pytest.mark.first(1)
@pytest.mark.parametrize("command", sorted({each.command for each in REFUSED}))
def test_a_combination_is_refused_in_a_sentence(command, ends):
    for each in usual([each for each in REFUSED if each.command == command]):
        assert ends(each) != "well", f"{each} ends well now: add it to the list"


@pytest.mark.long
@pytest.mark.parametrize(
    "combinations",
    [list(group) for _, group in groupby(EVERY, key=lambda each: each[:2])],
    ids=lambda group: " ".join(group[0][:2]),
)
def test_every_combination_ends_as_listed(combinations, ends):
    wrong = {}
    for each in combinations:
        try:
            ended = ends(each)
        # of one combination, which costs no other its turn
        except (Exception, pytest.fail.Exception) as fault:
            ended = f"{type(fault).__name__}: {fault}"
        else:
            if (ended == "well") == (str(each) in END_WELL):
                continue
        wrong[str(each)] = ended
    assert not wrong
