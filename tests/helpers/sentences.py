"""Sentences that users read: a test asserts the facts in one, and a golden file keeps its words.

`pytest --rewrite-golden -n 0 [TESTS]` writes the sentences of the tests that run anew. What it
changed in `tests/golden/` is what users read otherwise: look at the difference before you commit
it.
"""

import os
import re
import warnings
from contextlib import contextmanager
from functools import cache

import pytest

from helpers.places import TESTS
from thali.errors import DefectWarning, Fact, Message, ThaliWarning

FOLDER = TESTS / "golden"
# Folders of tests, whose names have numbers: those above a file, and one by itself.
BELOW = r"[/\\]+(?:[^\s'\"`/\\]*\d(?=[\s'\"`]|$)|(?:[^\s'\"`]*[/\\])?)"
PLATFORM = re.compile(r"(?:cpython|pypy)-[\w.#-]+")  # that code was compiled for
ENDS = re.compile(r"<[^>]+>|(?<=[.?!]) +(?=\S)")  # of sentences, and of what stands in a page
FOLDER_TO_SHOW = re.compile(r"(?<=thali show )\S+")  # as the last lines of a screen name it
NUMBER = re.compile(r"[.\d][\d.,]*\d|\d")
temporary: list[str] = []  # the folder of temporary files of this run, as messages write it
# by file and test, while golden files are written anew
rewritten: dict[tuple[str, str], list[str]] | None = None
# by file the tests that were collected; empty if only single tests of files were
collected: dict[str, set[str]] = {}


@contextmanager
def refused(kind, *facts):
    """Assert that the block raises an error of that kind with these facts, in the words that are
    kept."""
    with pytest.raises(kind) as caught:
        yield caught
    said(caught.value, *facts)


@contextmanager
def warned(kind, *facts):
    """Assert that the block gives a warning of that kind with these facts, in the words that are
    kept."""
    with pytest.warns(kind) as caught:
        yield caught
    messages = [each.message for each in caught if isinstance(each.message, kind)]
    wanted = [message for message in messages if all(holds(message, fact) for fact in facts)]
    assert wanted, (facts, [str(message) for message in messages])
    said(wanted[0])
    for each in caught:
        if each.message not in wanted:
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)


@contextmanager
def without_warnings():
    """Ignore what is warned of in the block, but for defects."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ThaliWarning)
        warnings.simplefilter("error", DefectWarning)
        yield


def said(message, *facts):
    """Assert that a sentence or a printed text has these facts, in the words that are kept."""
    for fact in facts:
        assert holds(message, fact), (fact, str(message))
    lines = [line.rstrip() for line in without_places(message).splitlines() if line.strip()]
    file, _, test = running_test().partition("::")
    if rewritten is not None:
        own = rewritten.setdefault((file, test), [])
        own.extend(line for line in lines if line not in own)
        return
    new = [line for line in lines if line not in kept(file).get(test, ())]
    again = (
        f"not in {golden(file).name}; after a change of words: pytest --rewrite-golden -n 0"
        f" tests/{file}"
    )
    assert not new, (again, new)


def says(text, *facts):
    """Assert that a sentence, or else a line, of a text has these facts; its words are kept,
    numbers as `#`."""
    lines = (text if isinstance(text, str) else "\n".join(map(str, text))).splitlines()
    sentences = [sentence.strip() for line in lines for sentence in ENDS.split(line)]
    wanted = [each for each in (*sentences, *lines) if all(str(fact) in each for fact in facts)]
    assert wanted, (facts, text)
    said(NUMBER.sub("#", without_places(wanted[0])))


def without_places(message):
    """A message as it is on every machine: without temporary folders, and without the name of a
    platform."""
    text = str(message)
    for folder in temporary:
        path = f"[^\\s'\"`]*{re.escape(folder)}{BELOW}"
        text = re.sub(f"(?<=['\"`]){path}(?=['\"`])", "FOLDER", text)
        text = re.sub(path, "", text)
    return PLATFORM.sub("PLATFORM", text)


def holds(message, fact):
    """Whether a message has a text, or a fact among its parts."""
    if isinstance(fact, Fact):
        return fact in list(parts(message))
    return str(fact) in str(message)


def parts(message):
    """All parts of a message, and the parts of these."""
    own = message.parts if isinstance(message, Message) else getattr(message, "args", ())
    for part in own:
        yield part
        yield from parts(part)


def running_test():
    """Where the running test stands, without `tests/` in front."""
    return os.environ["PYTEST_CURRENT_TEST"].rpartition(" (")[0].removeprefix("tests/")


def record_collected(node_ids):
    """Record the tests that were collected, also those that are deselected later."""
    for node_id in node_ids:
        file, _, test = node_id.removeprefix("tests/").partition("::")
        collected.setdefault(file, set()).add(test)


def list_orphans(path):
    """Return the entries of a golden file, (file, test), whose file has no such test any more."""
    return [
        (file, test)
        for file, own in read(path).items()
        for test in own
        if file in collected and test not in collected[file]
    ]


def golden(file):
    """The golden file of a file of tests: one for each folder."""
    return FOLDER / f"{file.partition('/')[0].removesuffix('.py')}.txt"


def kept(file):
    """The lines of each test of a file."""
    return read(golden(file)).get(file, {})


@cache
def read(path):
    """A golden file: files of tests at the margin, tests two spaces in, lines four."""
    found, own, lines = {}, {}, []
    for line in path.read_text("utf-8").splitlines() if path.exists() else ():
        if line.startswith("    "):
            lines.append(line[4:])
        elif line.startswith("  "):
            lines = own.setdefault(line[2:], [])
        elif line:
            own = found.setdefault(line, {})
    return found


def write():
    """Write what was said anew, without orphans; what tests said that did not run stays."""
    FOLDER.mkdir(exist_ok=True)
    for path in {golden(file) for file, _ in rewritten}:
        found = {file: dict(own) for file, own in read(path).items()}
        for (file, test), lines in rewritten.items():
            if golden(file) == path:
                found.setdefault(file, {})[test] = lines
        for file, test in list_orphans(path):
            del found[file][test]
        text = ""
        for file in sorted(found):
            text += f"{file}\n"
            for test in sorted(found[file]):
                text += f"  {test}\n" + "".join(f"    {line}\n" for line in found[file][test])
        path.write_text(text, "utf-8")


def without_folder(screen):
    """Return a printed screen without the name of the folder to show."""
    return FOLDER_TO_SHOW.sub("DIR", screen)
