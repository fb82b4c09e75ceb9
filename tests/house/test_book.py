"""The book: every option stands on its page as it is typed, and what is short stays short."""

import re
from importlib import import_module

import pytest
from helpers.places import PROJECT

SCREEN = 50  # lines of 120 characters


@pytest.fixture
def command_line(monkeypatch):
    monkeypatch.syspath_prepend(str(PROJECT / "docs"))
    return import_module("command_line")


def lines(text):
    """How many lines of 120 characters a text takes, where links and the ends of blocks of code are
    not seen."""
    seen = [
        line
        for line in re.sub(r"\]\([^)]*\)", "]", text).splitlines()
        if not line.startswith("```")
    ]
    return sum(max(1, -(-len(line) // 120)) for line in seen)


def test_every_option_stands_on_the_page_of_the_command_line(command_line):
    page = (PROJECT / "docs" / "api" / "command_line.md").read_text("utf-8")
    assert "```{command-line}\n```" in page
    sections = dict(
        re.findall(
            r"^## (thali [^\n]+)\n(.*?)(?=^## |\Z)",
            command_line.listing(),
            re.MULTILINE | re.DOTALL,
        )
    )
    assert {"thali fit", "thali design", "thali cache build"} <= sections.keys()
    for typed, command in command_line.commands():
        for parameter in command.params:
            for name in [*parameter.opts, *parameter.secondary_opts]:
                if name.startswith("--") and name != "--help":
                    (said,) = re.findall(
                        rf"^`--.*`{name}`.*\n: (.*)$|^`{name}`.*\n: (.*)$",
                        sections[typed],
                        re.MULTILINE,
                    )
                    assert len("".join(said)) > 10, (typed, name)


def test_help_shows_every_sign(command_line):
    assert command_line.shown("a < c for $5; see --where") == r"a \< c for \$5; see `--where`"
    assert command_line.shown("as `thali fit --model`; [x]") == r"as `thali fit --model`; \[x\]"


def test_the_changelog_has_80_lines_for_this_edition_and_40_for_all_before():
    text = (PROJECT / "CHANGELOG.md").read_text("utf-8")
    head, short, rest = re.split(r"^<!-- in short -->\n|^<!-- end -->\n", text, flags=re.MULTILINE)
    assert len(short.splitlines()) <= 80
    assert len((head + rest).splitlines()) <= 40


def test_the_readme_has_a_screen_and_a_half_at_most():
    assert lines((PROJECT / "README.md").read_text("utf-8")) <= 1.5 * SCREEN


DOORS = sorted((PROJECT / "docs" / "doors").glob("*.md"))


def test_the_first_screen_of_the_readme_has_seven_doors():
    first_screen = "\n".join((PROJECT / "README.md").read_text("utf-8").splitlines()[:SCREEN])
    assert len(DOORS) == 7
    for page in DOORS:
        assert f"(docs/doors/{page.name})" in first_screen


def test_a_door_leads_from_a_table_to_a_sentence():
    for page in DOORS:
        text = page.read_text("utf-8")
        assert "## Sentences to publish" in text or "## The sentence under the board" in text, page
        assert "how to read" in text.lower(), page


@pytest.mark.parametrize(
    ("word", "page"),
    [
        ("MaxDiff", "maxdiff"),
        ("conjoint", "conjoint"),
        ("AMCE", "political_conjoint"),
        ("Elo", "leaderboards"),
        ("Bradley–Terry", "leaderboards"),
        ("odd one out", "similarities_and_triplets"),
    ],
)
def test_a_door_has_the_word_that_its_users_search(word, page):
    assert word in (PROJECT / "docs" / "doors" / f"{page}.md").read_text("utf-8")


BUILT = {"src/thali/kernels"}  # what pages name and only a build makes


def paths_named_in(page):
    """Links to files, and paths in backticks; words in capitals stand for a name of the reader's."""
    text = re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL)
    for link in re.findall(r"\]\(([^)#\s:]+)(?:#[^)]*)?\)", text):
        yield link, page.parent / link
    folders = "|".join(path.name for path in PROJECT.iterdir() if path.is_dir())
    for path in re.findall(rf"`((?:{folders})/[\w./-]+)`", text):
        yield path, PROJECT / path
    for path in re.findall(r"`(_\w+/[\w./-]+)`", text):
        yield path, PROJECT / "src" / "thali" / path


def test_every_path_named_in_a_page_exists():
    pages = [*PROJECT.glob("*.md"), *PROJECT.glob("[a-z]*/*.md"), *PROJECT.glob("docs/*/*.md")]
    missing = [
        (page.name, name)
        for page in [*pages, *PROJECT.glob("benchmarks/*/*.md")]
        for name, path in paths_named_in(page)
        if name not in BUILT and not re.search("[A-Z]{4}", name)
        if not path.exists() and not path.with_name(f"{path.name}.md").exists()
    ]
    assert not missing
