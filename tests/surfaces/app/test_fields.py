"""Every option of every model has a field, in words, and a field gives what the command line would."""

from pathlib import Path

import pytest
from helpers.combinations import FITTED
from helpers.sentences import said

from thali._data.kinds import SIMILARITIES, TRIPLETS
from thali._model.spec import DATA
from thali._surfaces.app import english
from thali._surfaces.app.english import AppWords
from thali._surfaces.app.fields import FILE, OF_PEOPLE, data_options, entered, fields, kinds, model_options, models_for
from thali.errors import ArgumentError, Setting

ALL = {spec.name: spec for spec in FITTED}


@pytest.mark.parametrize("name", ALL)
def test_every_option_has_a_field_in_words(name):
    spec = ALL[name]
    asked = [option for kind in spec.data for option in (*sum(model_options(spec, kind), []), *data_options(kind))]
    shown = fields(asked, {}, ["price", "size"], spec.methods)
    files = {option.word for option in spec.options if option.to == DATA and option.type is Path}  # beside the table
    assert {option.word for option in spec.options} - files <= {field.word for field in shown}
    for field in shown:
        assert field.label and "_" not in field.label
        for text in (field.help, field.default, *(label for _, label in field.choices)):
            assert "--" not in text, field


def test_only_what_means_something_for_the_data_is_asked():
    spec = ALL["additive-clustering"]
    for kind, own in (
        (SIMILARITIES, {"sigma", "constant", "symmetrize"}),
        (TRIPLETS, {"link", "lapse", "odd", "objects"}),
    ):
        named = {option.name for option in (*sum(model_options(spec, kind), []), *data_options(kind))}
        assert named & {"sigma", "constant", "symmetrize", "link", "lapse", "odd", "objects"} == own


@pytest.mark.parametrize("name", ALL)
def test_an_empty_form_is_the_default(name):
    assert entered(ALL[name], {option.word: "" for option in ALL[name].options}, {}) == {}
    if ALL[name].methods:
        assert entered(ALL[name], {"method": ALL[name].methods[0]}, {}) == {}


def test_columns_of_people_are_asked_where_there_are_any():
    """Both for tastes and for who looks at what; of attributes that may be ignored, all is a choice of its own."""
    options = ALL["hierarchical-logit"].options
    for people in (["age", "sex"], []):
        shown = {field.word: field for field in fields(options, {}, ["price"], (), dict.fromkeys(OF_PEOPLE, people))}
        for word in ("by", "attention-by"):
            assert [value for value, _ in shown[word].choices] == people if people else word not in shown
    error = ArgumentError("Set ", Setting("attention", True), ".")
    said(error.render(AppWords(options)), "“all”")


def test_what_is_entered_is_as_typed():
    spec = ALL["elimination-by-aspects"]
    form = {"draws": " 2,000 ", "unique": "no", "lapse": "0.05", "aspects": "3", "tree": FILE, "tempering": ""}
    assert entered(spec, form, {"tree": "for-tree.csv"}) == {
        **{"draws": 2000, "unique": False, "lapse": 0.05, "aspects": "3"},
        "tree": Path("for-tree.csv"),
    }
    classes = ALL["product-classes"]
    assert entered(classes, {"monotone": "price=decreasing\n\nzoom=increasing"}, {}) == {
        "monotone": ["price=decreasing", "zoom=increasing"]
    }


def test_what_another_method_has_is_left_out():
    spec = ALL["elimination-by-aspects"]
    assert entered(spec, {"method": "maximum-likelihood", "draws": "50", "chains": "x"}, {}) == {
        "method": "maximum-likelihood"
    }


@pytest.mark.parametrize(
    "form, facts",
    [
        ({"draws": "many"}, ("“Draws of each chain”", "'many'")),
        ({"lapse": "a"}, ("“Probability of a blind choice”", "got 'a'")),
        ({"aspects": "../x.csv"}, ("“Aspects”", "'../x.csv'")),
    ],
)
def test_what_cannot_be_used_is_said(form, facts):
    with pytest.raises(ArgumentError) as error:
        entered(ALL["elimination-by-aspects"], form, {})
    said(error.value.render(AppWords(ALL["elimination-by-aspects"].options)), *facts)


def test_messages_name_labels():
    words = AppWords(ALL["elimination-by-aspects"].options)
    said(str(Setting("unique", False).render(words)), "“An aspect of")
    said(str(Setting("method", "mcmc").render(words)), "“Method”")
    assert words.named == ["unique", "method"]
    own = ALL["elimination-by-aspects"].options
    in_words = english.in_words
    assert in_words("beside --no-unique", own).startswith("beside without “An")
    said(
        in_words("--method map needs one; of --group or --people: free", own),
        "“Groups of people”",
        "“How respondents differ”",
    )


def test_every_kind_of_data_has_a_model_and_columns():
    assert len(kinds()) == 6
    for kind in kinds():
        assert models_for(kind)
        assert all(option.to == DATA for option in data_options(kind))


def test_thousands_may_be_separated_in_whole_numbers():
    spec = ALL["elimination-by-aspects"]
    assert entered(spec, {"lapse": "0.05", "draws": "2,000"}, {}) == {"lapse": 0.05, "draws": 2000}
