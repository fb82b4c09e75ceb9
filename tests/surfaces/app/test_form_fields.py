"""Every option of every model has a field, in words, and a field gives what the command line
would."""

import re
from pathlib import Path

import pytest
from helpers.combinations import FITTED, TABLES
from helpers.pages import Page
from helpers.sentences import said

from thali._data.kinds import CHOICES, CLASSES, EXPERIMENTS, PAIRS, SIMILARITIES, TRIPLETS
from thali._model.model_spec import DATA

pytestmark = pytest.mark.fit  # for their time
OF_KIND = {
    **{PAIRS: "pairs of people", CHOICES: "sets", SIMILARITIES: "judgements"},
    **{TRIPLETS: "triplets", EXPERIMENTS: "experiment", CLASSES: "rows"},
}
ALL = {spec.name: spec for spec in FITTED}


@pytest.fixture
def dropped(client, children_here):
    """A function of a kind of data: the address of a study of a small table of that kind, with
    columns of people."""

    def drop(kind):
        frame = TABLES[OF_KIND[kind]].make()
        if kind == EXPERIMENTS:
            frame = frame.assign(
                age=20 + 10 * frame["person"].map(sorted(set(frame["person"])).index)
            )
        address = client.drop("table.csv", frame.to_csv(index=False).encode())
        client.go(f"{address}/read", kind=kind, **({"target": "y"} if "y" in frame else {}))
        return address

    return drop


@pytest.fixture
def asked_of(client, dropped, nothing_begins):
    """A function of a model and a form: what the command line would be asked; or the problem, if
    there is one."""

    def ask(name, **form):
        address = dropped(ALL[name].data[0])
        nothing_begins()
        gone = client.go(
            f"{address}/fit", model="BTL" if name == "bradley-terry-luce" else name, **form
        )
        study = client.study(address)
        known = study.read("read").get("typed", {})
        typed = study.read("fit").get("typed", {})
        return (
            {key: value for key, value in typed.items() if key not in known}
            if gone == address
            else gone
        )

    return ask


def fields_of(page):
    """The words of the options that a page asks for."""
    return set(re.findall(r'name="([\w-]+)"', page)) | set(
        re.findall(r'data-word="([\w-]+)"', page)
    )


@pytest.mark.long
@pytest.mark.parametrize("name", ALL)
def test_every_option_has_a_field_in_words(name, client, dropped):
    spec, found = ALL[name], set()
    for kind in spec.data:
        address = dropped(kind)
        for page in (client.page(f"{address}/ask"), client.page(f"{address}/data")):
            found |= fields_of(page)
            assert "--" not in Page(page).text
            assert not [
                label for label in re.findall(r"<label[^>]*>([^<]*)</label>", page) if "_" in label
            ]
    # beside the table
    files = {option.word for option in spec.options if option.to == DATA and option.type is Path}
    assert {option.word for option in spec.options} - files <= found


def test_only_what_means_something_for_the_data_is_asked(client, dropped):
    for kind, own in (
        (SIMILARITIES, {"sigma", "constant", "symmetrize"}),
        (TRIPLETS, {"link", "lapse", "odd", "objects"}),
    ):
        address = dropped(kind)
        named = fields_of(client.page(f"{address}/ask"))
        (of_kind,) = re.findall(
            rf'data-kind="{kind}"(.*?)(?=data-kind=|</form>)', client.page(f"{address}/data"), re.S
        )
        named |= fields_of(of_kind)
        assert named & {"sigma", "constant", "symmetrize", "link", "lapse", "odd", "objects"} == own


@pytest.mark.first(2)
@pytest.mark.parametrize("name", ALL)
def test_an_empty_form_is_the_default(name, asked_of):
    form = {option.word: "" for option in ALL[name].options}
    if "method" in form and not ALL[name].method_of_individuals:
        form["method"] = ALL[name].methods[0]
    assert asked_of(name, **form) == {}


def test_what_is_entered_is_as_typed(asked_of):
    form = {"draws": " 2,000 ", "unique": "no", "lapse": "0.05", "aspects": "3", "tempering": ""}
    assert asked_of("elimination-by-aspects", **form) == {
        **{"draws": 2000, "unique": False, "lapse": 0.05, "aspects": "3"}
    }


def test_what_is_entered_in_lines_are_several_values(asked_of):
    asked = asked_of("product-classes", monotone="price=decreasing\n\nzoom=increasing")
    assert asked == {"monotone": ["price=decreasing", "zoom=increasing"]}


def test_what_another_method_has_is_left_out(asked_of):
    form = {"method": "maximum-likelihood", "draws": "50", "chains": "x"}
    assert asked_of("elimination-by-aspects", **form) == {"method": "maximum-likelihood"}


@pytest.mark.parametrize(
    "form, facts",
    [
        ({"draws": "many"}, ("“Draws per chain”", "'many'")),
        ({"lapse": "a"}, ("“Random choices (lapse rate)”", "got 'a'")),
        ({"aspects": "../x.csv"}, ("“Aspects”", "'../x.csv'")),
    ],
)
def test_what_cannot_be_used_is_said(form, facts, asked_of):
    said(asked_of("elimination-by-aspects", **form), *facts)


def test_every_kind_of_data_has_a_model_and_columns(client, dropped):
    kinds = {kind for spec in FITTED for kind in spec.data}
    assert len(kinds) == 6
    for kind in kinds:
        assert 'name="model"' in client.page(f"{dropped(kind)}/ask")
