"""Errors and warnings carry facts, which each place spells in its own words."""

import pickle
import warnings

import pytest
from helpers.sentences import said

from thali import _argument_checks
from thali.errors import (
    Argument,
    ArgumentError,
    Clause,
    DataError,
    DataWarning,
    InPython,
    Message,
    ModelName,
    Setting,
    Value,
    Words,
    one_of,
)


class Shouted(Words):
    """Another place, which has no argument b."""

    def argument(self, name):
        return name.upper()

    def setting(self, name, value):
        return f"{name.upper()} {value}"

    def value(self, name, value):
        return str(value)

    def model(self, name):
        return f"<{name}>"

    def has(self, name):
        return name != "b"

    def is_python(self):
        return False


EVERY_FACT = ArgumentError(
    Argument("a"),
    " of ",
    ModelName("Model"),
    ": ",
    one_of("a", ("x", None)),
    "; not ",
    Value("a", "y"),
    Clause("; or ", Setting("b", 1)),
    Clause("; or ", Setting("c", 1)),
    InPython("; or code", "; or words"),
    3,
)


def test_facts_are_spelled_in_the_words_of_the_place():
    said(str(EVERY_FACT), "'x'", "'y'", "b=1", "c=1")
    assert EVERY_FACT.render(Shouted()) == "A of <Model>: x, None; not y; or C 1; or words3"


def test_an_error_inside_an_error_is_spelled_likewise():
    assert (
        DataError("file.csv: ", EVERY_FACT).render(Shouted()).startswith("file.csv: A of <Model>")
    )


@pytest.mark.parametrize("kind", [ArgumentError, DataError, DataWarning])
def test_facts_survive_pickling(kind):
    again = pickle.loads(pickle.dumps(kind(*EVERY_FACT.args)))
    assert type(again) is kind and str(again) == str(EVERY_FACT)
    assert again.render(Shouted()) == EVERY_FACT.render(Shouted())


def test_a_warning_keeps_its_facts():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.warn(DataWarning("Set ", Setting("lapse", 0.02), "."), stacklevel=1)
        warnings.warn("plain", DataWarning, stacklevel=1)
    assert [str(each.message) for each in caught] == ["Set `lapse=0.02`.", "plain"]
    assert caught[0].message.render(Shouted()) == "Set LAPSE 0.02."


def test_a_message_of_parts_is_one_line_of_bounded_length():
    error = DataError("a\nb ", Message(repr("x" * 1000)), "!" * 5000)
    assert "\n" not in str(error) and len(str(error)) <= 1200


@pytest.mark.parametrize(
    "check",
    [
        lambda: _argument_checks.check_integer("draws", 0, 1),
        lambda: _argument_checks.check_integer("draws", 10**12, 1),
        lambda: _argument_checks.check_positive("draws", -1.0, "a length"),
        lambda: _argument_checks.check_allowed("draws", 3, ("x", None)),
        lambda: _argument_checks.check_share("draws", 2.0, "a probability"),
    ],
)
def test_the_checks_of_arguments_name_facts(check):
    with pytest.raises(ArgumentError, match="^`draws`") as caught:
        check()
    assert caught.value.render(Shouted()).startswith("DRAWS")
