"""The options of the command line are those of the models: each stands in one spec, and says what
the model does."""

import ast
import inspect
import re
from pathlib import Path

import pytest
from helpers.combinations import FITTED
from helpers.sentences import says

from thali._model.model_spec import FIT, MODEL
from thali._model.registry import SPECS
from thali.errors import ArgumentError

OWNED = [(spec, option) for spec in FITTED for option in spec.options]
WORDS = dict.fromkeys(option.word for _, option in OWNED)
NAMES = [f"{spec.name} --{option.word}" for spec, option in OWNED]


def signature_of(spec, option):
    """What takes the value of an option that goes to the constructor or to the fit."""
    return inspect.signature(spec.load() if option.to == MODEL else spec.load().fit).parameters


@pytest.mark.parametrize(("spec", "option"), OWNED, ids=NAMES)
def test_an_option_is_an_argument_and_shows_its_default(spec, option):
    if option.to not in (MODEL, FIT) or (
        option.name == "by" and "people" in signature_of(spec, option)
    ):  # which has it
        return
    argument = signature_of(spec, option)[option.target]
    if isinstance(argument.default, int | float) and not isinstance(argument.default, bool):
        assert float(re.match(r"[\d.]+", option.default)[0]) == argument.default
    if isinstance(argument.default, bool):
        assert option.default == f"--{'' if argument.default else 'no-'}{option.word}"
    if isinstance(argument.default, str) and option.name != "method":
        assert option.default == argument.default
    if isinstance(argument.default, tuple) and argument.default:
        assert tuple(map(float, option.default.split(","))) == argument.default


@pytest.mark.unit
@pytest.mark.parametrize("spec", FITTED, ids=[spec.name for spec in FITTED])
def test_no_message_of_a_model_has_an_argument_for_an_option(spec):
    renamed = {each.target for each in spec.options if each.target != each.name}
    file = Path(inspect.getfile(spec.load()))
    sources = sorted(file.parent.glob("*.py")) if renamed else ()
    calls = [
        call
        for each in sources
        for call in ast.walk(ast.parse(each.read_text()))
        if isinstance(call, ast.Call)
    ]
    named = {
        call.args[0].value for call in calls if call.args and isinstance(call.args[0], ast.Constant)
    }
    assert not named & renamed


@pytest.mark.parametrize("word", WORDS)
def test_options_of_one_word_are_typed_alike(word):
    assert len({str(option.type) for _, option in OWNED if option.word == word}) == 1


def test_every_option_of_the_registry_is_offered(command_line):
    offered = {
        name.removeprefix("--")
        for each in command_line.commands["fit"].params
        for name in each.opts
    }
    own = {
        "data",
        "model",
        "out",
        "overwrite",
        "tables",
        "pictures",
        "report",
        "title",
        "author",
        "question",
    }
    own |= {"help", "help-all", "print", "quiet"}
    assert offered - own == set(WORDS)


def test_the_methods_of_a_model_are_those_of_its_argument():
    for spec in SPECS:
        argument = inspect.signature(spec.load()).parameters.get("method")
        assert (argument is None) == (not spec.methods)
        # None: by the data, or by `people`
        assert argument is None or argument.default in (spec.methods[0], None)


@pytest.mark.parametrize("spec", SPECS, ids=[spec.name for spec in SPECS])
def test_every_name_and_alias_is_understood(spec, refused):
    """A model that is named is asked for its data before these are read."""
    for name in (
        spec.name,
        *spec.aliases,
        spec.cls.partition(":")[2],
        spec.name.upper().replace("-", "_"),
    ):
        error = refused("fit", "celebrities", "--model", name, "--coding", "1")
        if spec.options:
            assert "--model must be" not in error and "functions and objects" not in error, error
        else:
            says(error, "functions and objects")


def test_other_names_of_models(run, stand_in):
    asked = []

    def stop(**arguments):
        asked.append(arguments)
        raise ArgumentError("enough")

    stand_in("elimination-by-aspects", stop)
    stand_in("bradley-terry-luce", stop)
    for name in ("BTL", "bradley-terry-luce", "Bradley Terry", "Luce", "EBA", "iEBA"):
        assert run("fit", "celebrities", "--model", name).code == 2
    assert asked == [{}] * 5 + [{"aspects": "ibp"}]
    assert run("fit", "celebrities", "--aspects", "bradley-terry").code == 2 and asked[-1] == {
        "aspects": "unique"
    }
    says(run("fit", "celebrities", "--model", "thurstone").err, "--model")


def test_options_are_looked_at_before_a_file_is_read(refused):
    for words, said in (
        (["--lapse", "2"], "--lapse, the probability"),
        (["--model", "smc"], "--model must be"),
        (["--target", "kind", "--method", "em"], "--method of plackett-luce must be"),
        (["--target", "kind", "--lapse", "0.1"], "--lapse applies to"),
        (["--tempering", "hot"], "--tempering must be"),
    ):
        assert said in refused("fit", "large.csv", *words)
