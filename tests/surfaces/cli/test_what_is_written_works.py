"""Commands and options that pages and errors name exist; those that an error advises end well when
they are typed."""

import re
import shlex
from itertools import takewhile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
DOCS = ROOT / "docs"
PAGES = [
    ROOT / "README.md",
    *sorted(page for page in DOCS.rglob("*.md") if page.parent.name != "papers"),
]
WORD = re.compile(r"(?<![\w-])--([a-z][a-z-]+[a-z])\b")
# of Python, of style sheets and of benchmarks
OTHERS = {"random-seed", "small", "jp-border", "jp-code-font-family", "jp-success", "jp-warn"}


def options_of(command):
    """The options of a command, and of the commands below it."""
    found = {
        name.lstrip("-") for each in command.params for name in (*each.opts, *each.secondary_opts)
    } | {"help"}
    for below in getattr(command, "commands", {}).values():
        found |= options_of(below)
    return found


@pytest.fixture
def every(command_line):
    """The options of all commands, and others that pages name."""
    return options_of(command_line) | {"version", "install-completion", "show-completion"} | OTHERS


def typed_commands():
    """Page and words of each command: lines of blocks for a shell, and code in a sentence."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        shell = r"^```(?:(?:sh|bash|console)\n|\{code-cell\}\n(?::tags: .*\n\n)?%%bash\n)(.*?)^```"
        blocks = re.findall(shell, text, re.MULTILINE | re.DOTALL)
        lines = [
            line.removeprefix("$ ")
            for block in blocks
            for line in block.replace("\\\n", " ").splitlines()
        ]
        lines += re.findall(r"`(thali [a-z][^`\n]*)`", text)
        for line in lines:
            if (found := re.search(r"(?:^|bin/|&& )thali ([a-z].*)", line)) is not None:
                yield page.relative_to(ROOT).as_posix(), found[1].strip()


TYPED = sorted(set(typed_commands()))


def test_the_pages_have_commands():
    assert len(TYPED) > 80 and {line.split()[0] for _, line in TYPED} >= {
        "fit",
        "compare",
        "leaderboard",
        "test",
    }


@pytest.mark.parametrize(("page", "line"), TYPED)
def test_every_command_of_a_page_has_its_options(command_line, page, line):
    words = list(
        takewhile(lambda word: word not in ("|", ">", "&&"), shlex.split(line, comments=True))
    )
    assert words[0] in command_line.commands, page
    command = command_line.commands[words[0]]
    if below := getattr(command, "commands", None):
        assert (
            len(words) == 1 or words[1].startswith("-") or words[1] in below or words[1].isupper()
        ), page
        command = below.get(words[1], command) if len(words) > 1 else command
    named = {word[2:].partition("=")[0] for word in words if re.match(r"--[a-z]", word)}
    assert named <= options_of(command), page


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_option_that_a_page_names_is_one(every, page):
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    code = " ".join(
        each
        for each in re.findall(r"`([^`\n]+)`", text)
        if not re.search(r"\b(pip|pytest|python)\b", each)
    )
    assert set(WORD.findall(code)) <= every


@pytest.mark.fit
def test_every_option_that_a_text_of_the_library_names_is_one(every):
    sources = {
        path: path.read_text(encoding="utf-8") for path in (ROOT / "src" / "thali").rglob("*.py")
    }
    named = {
        (path.relative_to(ROOT).as_posix(), word)
        for path, text in sources.items()
        for word in WORD.findall(text)
    }
    assert {(path, word) for path, word in named if word not in every} == set()


FILES = {
    "distances.csv": "i,j,distance\na,b,1.5\na,c,2\nb,c,.7\n",
    "square.csv": ",a,b,c\na,,15,20\nb,15,,7\nc,20,7,\n",
    "confusions.csv": ",a,b,c\na,38,4,8\nb,7,30,13\nc,5,12,33\n",
    "fractions.csv": ",a,b,c\na,0,2.5,1\nb,1.5,0,2\nc,3,.5,0\n",
    "answers.csv": "id,chosen_1,chosen_2,chosen_3\n1,tea,milk,tea\n2,milk,rum,rum\n3,tea,milk,tea\n",
    "design.csv": "left,right\ntea,milk\nmilk,rum\ntea,rum\n",
    "weights.csv": "id,task,alt,fee,choice,weight\n1,1,1,1,0,1\n1,1,2,2,1,1\n1,2,1,2,1,1\n1,2,2,3,0,1\n"
    "2,1,1,1,1,.5\n2,1,2,3,0,.5\n2,2,1,2,0,.5\n2,2,2,1,1,.5\n",
    "tasks.csv": "id,task,alt,fee,choice\n1,1,1,1,0\n1,1,2,2,1\n1,2,1,2,1\n1,2,2,3,0\n2,1,1,1,1\n"
    "2,1,2,3,0\n",
    "votes.csv": "left,right,chosen,who\na,b,a,x\nb,c,c,x\na,c,a,y\na,b,b,y\n",
}
MAP, ML = ("--method", "map"), ("--method", "maximum-likelihood", "--lapse", "0")
# What is typed first, what the message says, and what is typed then, by its words.
ADVISED = [
    (("fit", "distances.csv"), "--dissimilarities max or exp", ("--dissimilarities", "max", *MAP)),
    (("fit", "distances.csv"), "--dissimilarities max or exp", ("--dissimilarities", "exp", *MAP)),
    (
        ("fit", "distances.csv"),
        "--chosen and --rejected",
        ("--chosen", "i", "--rejected", "j", *ML),
    ),
    (("fit", "square.csv"), "--kind similarities", ("--kind", "similarities", *MAP)),
    (("fit", "square.csv"), "--kind comparisons", ("--kind", "comparisons", *ML)),
    (
        ("fit", "confusions.csv"),
        "--symmetrize mean",
        ("--model", "additive-clustering", "--symmetrize", "mean", *MAP),
    ),
    (("fit", "weights.csv", "--model", "MNL"), "--without weight", ("--without", "weight")),
    (("fit", "tasks.csv", "--model", "MNL"), "to change this, use --constants", ("--constants",)),
    (("fit", "votes.csv", *ML), "give its name with --respondent", ("--respondent", "who")),
    (("leaderboard", "votes.csv"), "give its name with --respondent", ("--respondent", "who")),
    (("fit", "answers.csv", *ML), "", ("--design", "design.csv")),
    (("leaderboard", "answers.csv"), "", ("--design", "design.csv")),
    (("test", "transitivity", "answers.csv"), "", ("--design", "design.csv")),
]


@pytest.mark.first(1)
@pytest.mark.fit
@pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")
@pytest.mark.parametrize(("words", "said", "more"), ADVISED)
def test_what_an_error_advises_ends_well(
    run, command_line, tmp_path, monkeypatch, words, said, more
):
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    first = " ".join(run(*words).err.split())
    assert said in first
    for word in WORD.findall(first):
        assert word in options_of(command_line.commands[words[0]]), word
    then = run(*words, *more)
    assert then.code == 0, then.err


def test_fractions_name_no_option_that_is_refused(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fractions.csv").write_text(FILES["fractions.csv"])
    said = run("fit", "fractions.csv").err
    assert "--weights" not in said and "column 'weight'" in said
