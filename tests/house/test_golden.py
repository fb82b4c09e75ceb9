"""What golden files keep is said by tests, and words that are not kept fail a test."""

import re

import pytest
from helpers import sentences
from helpers.places import TESTS
from helpers.sentences import refused, said, says

from thali.errors import Argument, ArgumentError, Message, Setting


@pytest.mark.parametrize("path", sorted(sentences.FOLDER.glob("*.txt")), ids=lambda path: path.name)
def test_every_entry_of_a_golden_file_has_its_test(path):
    for file, own in sentences.read(path).items():
        source = (TESTS / file).read_text("utf-8")
        for test in own:
            assert re.search(rf"\bdef {test.partition('[')[0]}\(", source), (file, test)
    # whole names, with indices of cases, of the files that were collected in this run
    assert not sentences.list_orphans(path), f"pytest --rewrite-golden -n 0 removes them ({path})"


def raised():
    raise ArgumentError(
        Argument("lapse"), " must be above 0; got -1. Set ", Setting("lapse", 0.01), "."
    )


def test_a_sentence_that_is_kept_passes():
    with refused(ArgumentError, Argument("lapse"), "-1", Setting("lapse", 0.01)):
        raised()


@pytest.mark.parametrize("fact", ["got 2", Argument("draws"), Setting("lapse", 0.02)])
def test_a_fact_that_a_sentence_does_not_hold_fails(fact):
    with pytest.raises(AssertionError, match="lapse"), refused(ArgumentError, fact):
        raised()


def test_words_that_are_not_kept_fail():
    if sentences.rewritten is not None:
        pytest.skip("golden files are written anew")
    with pytest.raises(AssertionError, match="--rewrite-golden"):
        said("Nobody keeps this sentence.")


def test_facts_are_found_in_parts_of_parts():
    message = Message("rescale it", Message(", or set ", Setting("standardize", True)))
    assert sentences.holds(message, Setting("standardize", True)) and not sentences.holds(
        message, Argument("x")
    )


PRINTED = "Lapse: 0.25, fixed.\n<p>It is about 3 (89 % interval 1 to 7). Two of 4 agree.</p>"


def test_one_sentence_of_a_printed_text_is_kept_and_its_numbers_are_not():
    says(PRINTED, "about 3", "89 %")
    says(PRINTED.replace("1 to 7", "0 to 12.5"), "0 to 12.5")
    says(PRINTED.splitlines(), "Lapse", "0.25")


def test_facts_of_two_lines_are_in_none():
    with pytest.raises(AssertionError, match="0.25"):
        says(PRINTED, "89 %", "0.25")
