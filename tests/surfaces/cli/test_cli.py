import csv
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
from helpers.compiled_code import keep_code_in
from helpers.elimination_fits import FakeModel
from helpers.patience import PATIENCE
from helpers.remembering import remembering
from helpers.sentences import said, says
from helpers.stopped_jobs import command_that_stops, wait_until_stopped

import thali
from thali._compile import compiled_code_files as kernels
from thali._labels import format_plural
from thali._posterior import datatree_files
from thali.errors import ConvergenceWarning, DataWarning, InterruptedWarning

TEA = "chosen,rejected,count\ntea,coffee,12\ncoffee,tea,8\ntea,milk,15\nmilk,coffee,4\n"
# beside the job, or the command of a made-up fit, which has none
EVERYTHING = (
    "check.csv check.png choice_probabilities.csv choice_probabilities.png features.csv"
    " features.png"
).split()
EVERYTHING += "n_features.csv option_similarity.csv posterior.nc ranks.csv ranks.png".split()
EVERYTHING += ["summary.csv", "unique_weights.csv"]
FILES = {"tea.csv": TEA}


@pytest.fixture
def fake(stand_in):
    model = remembering(FakeModel, "Fake")
    stand_in("elimination-by-aspects", model)
    return model


# what fit prints ----------------------------------------------------------------------------------


@pytest.mark.fit
def test_fit_says_what_it_recognised_and_prints_the_answer(done, fake):
    result = done("fit", "tea.csv", "--print", "all")
    says(result.err, "tea.csv")
    assert "3 options" in result.err
    assert re.search(r"^Number of shared aspects: \d", result.out, re.MULTILINE)
    assert re.search(r"^5 +0\.\d{3}$", result.out, re.MULTILINE)  # the probability of five aspects
    assert re.search(
        r"^ *0\.\d+ +0\.\d+ +\d\.\d+ +\d\.\d+ to \d\.\d+  tea, coffee$", result.out, re.MULTILINE
    )
    assert "Concentration α: " in result.out
    says(result.out, "Log-likelihood (including")
    assert "r_hat" in result.out and "ess_tail" in result.out


@pytest.mark.fit
def test_chains_that_do_not_agree_are_said_to(run, fake):
    assert "WARNING: " in run("fit", "tea.csv", "--draws", 20, "--print", "all").out
    assert "WARNING: " not in run("fit", "tea.csv", "--draws", 1000, "--print", "all").out


def test_where_there_are_no_latent_aspects_none_are_counted(run, fake):
    fake.common, fake.beside, fake.learned_alpha = (), 0.0, False
    printed = run("fit", "tea.csv", "--aspects", "unique").out
    assert "in every draw" not in printed and "Number of shared" not in printed
    assert "Aspects" not in printed and "Concentration" not in printed


@pytest.mark.long
@pytest.mark.fit  # for its time
def test_fit_notes_aspects_that_all_options_share(run, fake):
    note = "Choices do not identify aspects shared by all options"
    fake.common = ((0, 1, 2),)
    assert note in run("fit", "tea.csv", "--print", "all").out
    fake.beside = 0
    assert note in run("fit", "tea.csv", "--print", "all").out
    fake.common = ((0, 1),)
    assert note not in run("fit", "tea.csv", "--print", "all").out


# what fit passes on -------------------------------------------------------------------------------


@pytest.mark.fit
def test_options_reach_the_model(done, fake):
    words = "--aspects 3 --no-unique --lapse 0.05 --alpha 2 --model EliminationByAspects"
    words += " --draws 30 --tune 5 --chains 2 --thin 4 --cores 1 --seed 7"
    done("fit", "tea.csv", *words.split())
    typed = {"aspects": 3, "unique": False, "lapse": 0.05, "alpha": 2.0}
    assert fake.asked == thali.EliminationByAspects().get_params() | typed
    assert fake.budget == dict(
        draws=30, tune=5, chains=2, thin=4, cores=1, random_seed=7, progressbar=True
    )


def test_aspects_from_a_table_of_zeros_and_ones(run, fake, folder):
    (folder / "aspects.csv").write_text("option,hot,caffeine\ncoffee,1,1\ntea,1,1\nmilk,0,0\n")
    run("fit", "tea.csv", "--aspects", "aspects.csv", "--draws", 10)
    assert fake.asked["aspects"] == dict(
        tea=["hot", "caffeine"], coffee=["hot", "caffeine"], milk=[]
    )


@pytest.mark.fit
def test_aspects_from_a_list(run, fake, folder):
    (folder / "aspects.csv").write_text("option,aspect\ntea,hot\ncoffee,hot\ncoffee,bitter\n")
    run("fit", "tea.csv", "--aspects", "aspects.csv", "--draws", 10)
    assert fake.asked["aspects"] == {"tea": ["hot"], "coffee": ["hot", "bitter"], "milk": []}


# what fit writes ----------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.rendered
@pytest.mark.fit
def test_out_holds_everything_and_nothing_else(done, fake, folder):
    done("fit", "tea.csv", "--draws", 50, "--out", "new/results")
    out = folder / "new" / "results"
    assert sorted(set(os.listdir(out)) - {"job", "command.json"}) == EVERYTHING
    assert sorted(os.listdir(folder)) == ["new", "tea.csv"]
    assert out.stat().st_mode == folder.joinpath("new").stat().st_mode
    assert pd.read_csv(out / "summary.csv", index_col="quantity").index[0] == "n_features"
    with open(out / "features.csv", newline="") as file:
        assert "tea; coffee" in [row["members"] for row in csv.DictReader(file)]
    assert list(pd.read_csv(out / "unique_weights.csv")["option"]) == ["tea", "coffee", "milk"]
    assert datatree_files.load(out / "posterior.nc")["posterior"].sizes["draw"] == 50
    for picture in out.glob("*.png"):
        assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.fit
def test_out_replaces_older_results_and_spares_other_files(run, fake, folder):
    (folder / "summary.csv").write_text("of somebody else")
    result = run("fit", "tea.csv", "--draws", 50, "--out", ".")
    assert result.code == 2
    says(result.err, "'summary.csv'", "--overwrite")
    assert (folder / "summary.csv").read_text() == "of somebody else"
    result = run("fit", "tea.csv", "--draws", 50, "--out", ".", "--overwrite")
    says(result.err, "'tea.csv'")
    (folder / "summary.csv").write_text("old")
    run("fit", "tea.csv", "--draws", 50, "--out", ".")
    assert sorted(set(os.listdir(folder)) - {"command.json"}) == sorted([*EVERYTHING, "tea.csv"])
    assert (folder / "summary.csv").read_text() != "old"


@pytest.fixture
def full_disk(monkeypatch):
    """The third file that a command writes finds no space."""
    synced, sync = [], os.fsync

    def full_disk(descriptor):
        synced.append(descriptor)
        if len(synced) == 3:
            raise OSError(28, "No space left on device")
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", full_disk)


@pytest.mark.fit
def test_a_failure_while_writing_leaves_the_answer_and_the_results_elsewhere(
    run, fake, folder, full_disk
):
    result = run("fit", "tea.csv", "--draws", 50, "--out", "new/results")
    assert result.code == 2 and "Traceback" not in result.err
    says(result.err, "thali: Cannot write")
    says(result.err, "No space left")
    assert "Number of shared aspects" in result.out
    assert os.listdir(folder) == ["tea.csv"]
    elsewhere = Path(result.err.rpartition("The results were written to '")[2].partition("'")[0])
    assert {"posterior.nc", "summary.csv"} <= set(os.listdir(elsewhere))
    shutil.rmtree(elsewhere)


@pytest.mark.long
@pytest.mark.fit
def test_the_user_names_another_place_for_the_results(run, fake, folder, monkeypatch, full_disk):
    terminal = SimpleNamespace(
        isatty=lambda: True, readline=iter(["tea.csv\n", "there\n"]).__next__
    )
    for place, name, stand_in in ((sys, "stdin", terminal), (sys.stderr, "isatty", lambda: True)):
        monkeypatch.setattr(place, name, stand_in, raising=False)
    result = run("fit", "tea.csv", "--draws", 50, "--out", "results")
    assert (folder / "there" / "summary.csv").exists() and result.err.count(
        "tea.csv is a file"
    ) == 1, result.err


# errors, warnings, Ctrl-C -------------------------------------------------------------------------

BAD = {
    "no such data set": (["fit", "celebrites"], "'celebrities'"),
    "an empty file": (["fit", "empty.csv"], "empty"),
    "not a table": (["fit", "prose.txt"], "prose.txt"),
    "a negative count": (["fit", "negative.csv"], "-3"),
    "no such aspects": (["fit", "tea.csv", "--aspects", "magic"], "'magic'"),
    "aspects that are not 0 or 1": (
        ["fit", "tea.csv", "--aspects", "seven.csv"],
        "row 2 below the header (milk)",
    ),
    "aspects without columns": (
        ["fit", "tea.csv", "--aspects", "one.parquet"],
        "at least one other column",
    ),
    "aspects without an option": (
        ["fit", "tea.csv", "--aspects", "gap.csv"],
        "row 2 below the header",
    ),
    "an option twice": (["fit", "tea.csv", "--aspects", "twice.csv"], "'tea'"),
    "an unknown option": (["fit", "tea.csv", "--drawz", "3"], "--drawz"),
    "an unknown bundled data set": (["datasets", "celebrites"], "celebrities"),
    "nothing to export": (["datasets", "--out", "x.csv"], "NAME"),
    "a folder to export to": (["datasets", "celebrities", "--out", "."], "folder"),
}


@pytest.mark.parametrize(("words", "messages"), BAD.values(), ids=BAD)
def test_bad_tables_end_fit_with_an_error(refused, fake, folder, words, messages):
    (folder / "empty.csv").write_text("")
    (folder / "prose.txt").write_text("This is no table.\nIt is prose; all of it, really.\n")
    (folder / "negative.csv").write_text("chosen,rejected,count\ntea,milk,-3\n")
    (folder / "seven.csv").write_text("option,hot,cold\ntea,1,0\nmilk,7,1\n")
    pd.DataFrame({"option": ["tea", "milk"]}).to_parquet(folder / "one.parquet")
    (folder / "gap.csv").write_text("option,aspect\ntea,hot\n,hot\n")
    (folder / "twice.csv").write_text("option,hot,cold\ntea,1,0\ntea,0,1\n")
    words = [*words, "--out", "results"] if words[0] == "fit" and "--out" not in words else words
    assert messages in refused(*words)


@pytest.mark.long
@pytest.mark.fit
def test_warnings_are_one_line_and_the_report_words_its_own(done, fake):
    def warn():
        warnings.warn("two groups of options\nwere never compared", DataWarning, stacklevel=2)
        warnings.warn("the chains disagree", ConvergenceWarning, stacklevel=2)
        warnings.warn("stopped", InterruptedWarning, stacklevel=2)

    fake.happens = staticmethod(warn)
    result = done("fit", "tea.csv")
    # progress too is shown on a slow machine
    warned = [line for line in result.err.splitlines() if "warning" in line]
    assert warned == ["thali: warning: two groups of options were never compared"]
    assert "never compared" not in result.err.replace(warned[0], "")


@pytest.mark.fit
def test_an_interrupted_fit_keeps_what_was_drawn(run, fake, folder):
    fake._interrupted_ = True
    result = run("fit", "tea.csv", "--draws", 50, "--out", "results")
    assert result.code == 130
    says(result.err, "4 chains", "50 draws")
    assert "Number of shared aspects" in result.out
    assert sorted(set(os.listdir(folder / "results")) - {"job", "command.json"}) == EVERYTHING
    assert "; kept 1 chain of 1 draw." in run("fit", "tea.csv", "--draws", 1, "--chains", 1).err


def test_an_interrupt_before_anything_was_drawn(run, fake, folder):
    def interrupt():
        raise KeyboardInterrupt

    fake.happens = staticmethod(interrupt)
    result = run("fit", "tea.csv", "--out", "results")
    assert result.code == 130
    said(result.err.splitlines()[-1], "thali: stopped before")
    assert os.listdir(folder) == ["tea.csv"]


# the other commands -------------------------------------------------------------------------------


def test_datasets_are_listed(run):
    result = run("datasets")
    for record in thali.datasets.catalogue():
        assert record.name in result.out and record.source in result.out


def test_an_exported_data_set_is_read_back(run, fake, folder):
    result = run("datasets", "celebrities", "--out", "mine/celebrities.csv")
    assert result.code == 0 and result.out == ""
    assert os.listdir(folder / "mine") == ["celebrities.csv"]
    run("fit", "mine/celebrities.csv", "--draws", 10)
    assert fake.data == thali.datasets.celebrities()


def test_a_data_set_is_printed(run):
    result = run("datasets", "celebrities")
    assert result.out.splitlines()[:2] == [
        "option,LBJ,HW,CDG,JU,CY,AJF,BB,ET,SL",
        "LBJ,0,159,163,175,183,179,173,160,142",
    ]


def test_cache_info_and_clear_count_the_files(run, tmp_path, monkeypatch):
    keep_code_in(monkeypatch, tmp_path / "own")
    folder = kernels.get_native_folder().path
    folder.mkdir(parents=True, mode=0o700)
    for number in range(12):
        (folder / f"{number}{kernels.SUFFIX}").write_bytes(bytes(100_000))
    assert run("cache", "info").out.splitlines()[:2] == ["12 files, 1.2 MB", str(tmp_path / "own")]
    assert run("cache", "clear").out == "removed 12 files\n"
    assert not list((tmp_path / "own").rglob("*.*"))


def test_version_prints_the_version(run):
    assert run("--version").out == f"thali {thali.__version__}\n"


# the program itself -------------------------------------------------------------------------------


def heed_interrupts():
    """What a shell starts in the background ignores Ctrl-C, and so would the tests' own
    children."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.first(1)
@pytest.mark.fit
@pytest.mark.skipif(os.name == "nt", reason="Windows cannot send Ctrl-C to one process")
@pytest.mark.parametrize(
    ("data", "answer", "files"),
    [
        ("celebrities", ("shared aspects:",), EVERYTHING),
        ("numbers", ("Number of features",), ["estimate.csv", "posterior.nc", "similarity.png"]),
    ],
)
def test_ctrl_c_keeps_what_was_drawn(folder, data, answer, files):
    words = f"{data} --draws 500000 --tune 10 --chains 2 --thin 100 --out results --print all"
    with subprocess.Popen(
        command_that_stops(1, "fit", *words.split()),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        preexec_fn=heed_interrupts,
    ) as process:
        try:
            wait_until_stopped(process)
            process.send_signal(signal.SIGINT)  # comes when the process goes on
            process.send_signal(signal.SIGCONT)
            out, err = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()  # or leaving this block would wait for it
    assert process.returncode == 130, err
    kept = thali.load(folder / "results" / "posterior.nc").posterior_["posterior"].sizes
    # a chain far behind is left out
    chains, draws = format_plural(kept["chain"], "chain"), format_plural(kept["draw"], "draw")
    assert f"stopped early; kept {chains} of {draws}; " in err and "Traceback" not in err
    assert kept["chain"] in (1, 2) and kept["draw"] >= 1
    assert all(words in out for words in answer)  # how many are listed depends on the draws kept
    written = set(os.listdir(folder / "results")) - {"job", "command.json"}
    assert written == {*files} if data == "celebrities" else written > {*files}


# The command line, which stops itself when answers are computed, and then computes them again and
# again.
_ANSWERING = """
import os, signal
from thali._surfaces.cli.terminal_messages import Terminal
def endless(terminal, findings, *more):
    os.kill(os.getpid(), signal.SIGSTOP)
    while True:
        findings._source.check(), findings._source.summary(), findings._source.ranks()
Terminal.format_findings = endless
from thali._surfaces.cli import main
main()
"""


@pytest.mark.long
@pytest.mark.fit
@pytest.mark.skipif(
    sys.platform != "linux", reason="the processor time of a stopped process stands in /proc"
)
@pytest.mark.parametrize("out", [(), ("--out", "results")], ids=["printed", "written"])
def test_ctrl_c_is_answered_within_two_seconds_while_answers_are_computed(folder, out):
    """Seconds of this process alone, however busy the machine is."""
    words = ["celebrities", "--model", "BTL", "--draws", 4000, *out]
    with subprocess.Popen(
        [sys.executable, "-c", _ANSWERING, "fit", *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        preexec_fn=heed_interrupts,
    ) as process:
        try:
            wait_until_stopped(process)
            process.send_signal(signal.SIGCONT)
            time.sleep(0.5)  # into the answers
            process.send_signal(signal.SIGSTOP)
            wait_until_stopped(process)
            began = sum(
                map(
                    int,
                    Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[11:13],
                )
            )
            process.send_signal(signal.SIGINT)
            process.send_signal(signal.SIGCONT)
            err = process.stderr.read()
            _, status, used = os.wait4(process.pid, 0)
        finally:
            process.kill()
    took = used.ru_utime + used.ru_stime - began / os.sysconf("SC_CLK_TCK")
    assert os.waitstatus_to_exitcode(status) == 130 and took < 2.0, (took, err)
    says(err, "stopped by Ctrl-C")
    assert "before anything was drawn" not in err
    assert ("Nothing was written." in err) == (not out)
    assert (folder / "results" / "posterior.nc").exists() == bool(out)


def test_similarities_are_no_comparisons(run, refused, fake):
    run("datasets", "numbers", "--out", "numbers.csv")
    assert "--model additive" in refused("fit", "numbers.csv", "--model", "elimination-by-aspects")
