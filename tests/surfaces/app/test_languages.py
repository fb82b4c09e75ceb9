"""The app's words: each language has all of them, what they are filled with, and no page has words of its own."""

import re
import tomllib
from importlib.resources import files

import pytest

from thali.datasets import catalogue
from thali.surfaces.app.comparisons import _OF_ASPECTS, _OF_FEATURES, _OF_FEATURES_BY_GROUP, _OF_GROUPS
from thali.surfaces.app.fields import data_options, fields, kinds, model_options, models_for
from thali.surfaces.app.fields import tests_of as classical
from thali.surfaces.app.pages import COVERED
from thali.surfaces.app.studies import RUNS
from thali.surfaces.app.words import BESIDE_COLUMNS, ENGLISH, LANGUAGES, speech_for, speech_in
from thali.surfaces.cli.models import TYPED

APP = files("thali.surfaces.app")
OTHERS = [language for language in LANGUAGES if language != ENGLISH]
_BESIDES = {
    "titles",
    "kinds",
    "units",
    "help",
    "defaults",
    "answers",
    "datasets",
    "compared",
}  # what the library says in English
_COLUMNS = ["price", "size"]


def words_of(language):
    """Section.key -> text, or the texts of one and of several."""
    found = tomllib.loads((APP / "languages" / f"{language}.toml").read_text("utf-8"))

    def flat(held, name):
        if not isinstance(held, dict):
            return {name: held}
        return {key: text for each in held for key, text in flat(held[each], f"{name}.{each}".strip(".")).items()}

    return flat(found, "")


def filled_with(text):
    return sorted(re.findall(r"{(\w*)}", text))


@pytest.mark.parametrize("language", OTHERS)
def test_every_word_of_the_app_is_said_in_every_language(language):
    english, other = words_of(ENGLISH), words_of(language)
    assert english.keys() - other.keys() == set()
    besides = {key for key in other.keys() - english.keys() if key.split(".")[0] not in {*_BESIDES, "choices"}}
    assert besides == set()
    for key, text in english.items():
        for one, its in zip(_all_of(text), _all_of(other[key]), strict=True):
            assert its.strip() == its != "" and filled_with(one) == filled_with(its), key


def _all_of(text):
    """A text, or those of one and of several."""
    return [text] if isinstance(text, str) else text


@pytest.mark.parametrize("language", OTHERS)
def test_what_the_library_says_in_english_on_a_page_is_said_in_every_language(language):
    of, texts = words_of(language), set()
    for kind in kinds():
        assert f"kinds.{kind}" in of
        for spec in models_for(kind):
            assert f"answers.{spec.name}" in of and f"titles.{spec.name}" in of
            for option in (*sum(model_options(spec, kind, True), []), *data_options(kind)):
                texts.add(f"labels.{option.name}")
                if option.name != "method":
                    texts.add(f"help.{option.name}")
                    texts |= {f"choices.{option.name}.{word}" for word in option.words}
            texts |= {f"methods.{method}" for method in spec.methods}
    texts |= {f"answers.{spec.name}" for spec in classical(True)}
    texts |= {f"datasets.{record.name}" for record in catalogue()}
    texts |= {f"compared.{each.item}" for each in (*_OF_ASPECTS, *_OF_FEATURES, *_OF_FEATURES_BY_GROUP, *_OF_GROUPS)}
    assert texts - of.keys() == set()


@pytest.mark.parametrize("language", OTHERS)
@pytest.mark.parametrize("name", [spec.name for spec in TYPED])
def test_no_field_is_left_in_english(language, name):
    """What a field shows differs from what it shows in English, but for names, numbers and blanks."""
    spec = next(each for each in TYPED if each.name == name)
    asked = [option for kind in spec.data for option in (*sum(model_options(spec, kind), []), *data_options(kind))]
    shown = [fields(speech_in(each), asked, {}, _COLUMNS, spec.methods) for each in (ENGLISH, language)]
    for one, other in zip(*shown, strict=True):
        for english, its in ((one.help, other.help), (one.default, other.default)):
            assert english != its or re.fullmatch(r"[\d.,a-z]*", english) and english.lower() not in _WORDS, other.word
        for (word, english), (_, its) in zip(one.choices, other.choices, strict=True):
            assert english != its or word in _COLUMNS, (other.word, word)


_WORDS = {"learned", "none", "any", "recognised", "absent", "recommended"}


@pytest.mark.parametrize("page", sorted(each.name for each in (APP / "page").iterdir()))
def test_a_page_has_no_words_of_its_own(page):
    text = (APP / "page" / page).read_text("utf-8")
    text = re.sub(r"{#.*?#}|{%.*?%}|{{.*?}}|<!doctype html>|<title>thali</title>", " ", text, flags=re.DOTALL)
    text = re.sub(r'aria-describedby="[^"]*"', " ", text)
    said = re.findall(r'(?:aria-label|alt|placeholder|title)="([^"]*)"', text)
    said.append(re.sub(r"<[^>]*>", " ", text).replace("&nbsp;", ""))
    assert {word for each in said for word in re.findall(r"[^\W\d_]+", each)} <= {"thali"}


def test_every_word_of_the_app_is_used():
    """By a page, the script, or a part of the app that names it, or its section."""
    used = "\n".join((APP / "page" / each.name).read_text("utf-8") for each in (APP / "page").iterdir())
    used += "\n".join(each.read_text("utf-8") for each in APP.iterdir() if each.name.endswith(".py"))
    script = (APP / "static" / "app.js").read_text("utf-8")
    by_name: dict[str, list[str] | tuple[str, ...]] = {
        "progress": RUNS,
        "ask": [f"cover_{word}" for word in COVERED],
        "field": [word for words in BESIDE_COLUMNS.values() for word in words],
        "evidence": ["heading", "lead", "start"],  # as of a comparison by prediction
    }
    looked_up = {"labels", "help", "titles", "methods", "choices", "goals", "sizes", "screens", "states", "counted"}
    for key in words_of(ENGLISH):
        section, name = key.split(".", 1)
        if section in looked_up or name in by_name.get(section, ()):
            continue
        names = [f"texts.{name}"] if section == "script" else [f"{section}.{name}", f"texts.{name}", f'"{name}"']
        assert any(each in (script if section == "script" else used) for each in names), key


def test_the_browser_says_which_language(client):
    said = {}
    for accepted in ("de-AT,de;q=0.9,en;q=0.8", "fr-FR, en;q=0.5", "", "*"):
        headers = {"accept-language": accepted}
        said[accepted] = re.search('<html lang="(..)">', client.get("/", headers=headers).text)[1]
        home = client.get("/api/home", headers=headers).text
        assert speech_for(accepted).texts.home.begin in home
    assert list(said.values()) == ["de", "en", "en", "en"]


@pytest.mark.fit  # for its time
def test_messages_name_the_fields_as_whoever_began_the_study_sees_them(client, children_here):
    client.headers["accept-language"] = "de"
    address = client.drop("d.csv", b"winner,loser,times\ntea,milk,3\nmilk,tea,1\ntea,beer,2\nbeer,milk,2\n")
    ask = {"model": "elimination-by-aspects", "method": "maximum-likelihood"}
    client.go(f"{address}/fit", aspects="ibp", **ask)
    del client.headers["accept-language"]  # somebody else looks
    page = client.page(address)
    assert "“in den Daten gefunden, so viele es sind”" in page and "What do you want to know?" in page
    assert client.studies.all()[0].language == "de"
    again = client.go(f"{address}/again").removesuffix("/ask")
    assert client.study(again).language == "de"
    found = client.post(f"/api{again}/fit", json={**ask, "lapse": "2"}, headers={"accept-language": "de"}).json()
    assert found["problem"].startswith("“Wahrscheinlichkeit einer blinden Wahl”")
