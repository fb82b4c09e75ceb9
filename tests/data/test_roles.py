"""The names of columns: every shape is read in four languages, and a name that means two things is
asked about."""

from itertools import combinations

import pytest
from helpers.sentences import refused

from thali._data.column_roles import (
    LANGUAGES,
    MORE_SIDES,
    ROLES,
    SIDES,
    list_role_names,
    simplify_name,
)
from thali._data.kinds import CHOICES, EXPERIMENTS, PAIRS, SIMILARITIES, TRIPLETS
from thali._input_files import Source
from thali._reading.layout_recognition import RecognitionError, read_data, recognise
from thali._reading.layouts import SHAPES
from thali._reading.table_files import load_table
from thali.errors import DataError

# What a table looks like in English, and what its columns are called elsewhere.
TABLES = {
    "trials": (
        "1,tea,milk,left/1,milk,water,right/2,tea,water,left",
        (
            "subject,left,right,choice",
            "Versuchsperson,links,rechts,Wahl",
            "sujet,gauche,droite,choix",
        )
        + ("participante,izquierda,derecha,elección",),
        PAIRS,
    ),
    "list": (
        "tea,milk,3/milk,water,2/water,tea,1",
        (
            "winner,loser,count",
            "Gewinner,Verlierer,Anzahl",
            "gagnant,perdant,nombre",
            "ganador,perdedor,veces",
        ),
        PAIRS,
    ),
    "results": (
        "Hull,Stoke,1/Stoke,Hull,X/Hull,Leeds,2",
        (
            "home,away,result",
            "Heim,Gast,Ergebnis",
            "domicile,extérieur,résultat",
            "local,visitante,resultado",
        ),
        PAIRS,
    ),
    "choices": (
        "1,1,tea,1/1,1,milk,0/2,1,tea,0/2,1,water,1",
        ("respondent,task,alternative,chosen", "Befragte,Aufgabe,Alternative,gewählt")
        + ("répondant,tâche,alternative,choisi", "encuestado,tarea,alternativa,elegido"),
        CHOICES,
    ),
    "rankings": (
        "1,tea,1/1,milk,2/1,water,3/2,milk,1/2,tea,2/2,water,3",
        (
            "subject,item,rank",
            "Teilnehmer,Objekt,Rang",
            "sujet,objet,rang",
            "participante,opción,puesto",
        ),
        CHOICES,
    ),
    "best and worst": (
        "1,tea,milk,water,tea,water/2,tea,milk,water,milk,water",
        (
            "subject,item1,item2,item3,best,worst",
            "Proband,Objekt1,Objekt2,Objekt3,bester,schlechtester",
            "Richter,Objekt1,Objekt2,Objekt3,am wichtigsten,am unwichtigsten",
            "sujet,objet1,objet2,objet3,le plus important,le moins important",
            "sujeto,objeto1,objeto2,objeto3,más importante,menos importante",
        )
        + ("sujet,objet1,objet2,objet3,meilleur,pire", "sujeto,objeto1,objeto2,objeto3,mejor,peor"),
        CHOICES,
    ),
    "similarities": (
        "tea,milk,.8/tea,water,.3/milk,water,.5",
        ("object1,object2,similarity", "Objekt1,Objekt2,Ähnlichkeit", "objet1,objet2,ressemblance")
        + ("objeto1,objeto2,similitud",),
        SIMILARITIES,
    ),
    "odd one out": (
        "tea,milk,brick,brick/tea,water,brick,brick",
        (
            "object1,object2,object3,odd",
            "Objekt1,Objekt2,Objekt3,Außenseiter",
            "objet1,objet2,objet3,intrus",
        )
        + ("objeto1,objeto2,objeto3,intruso",),
        TRIPLETS,
    ),
    "anchors": (
        "tea,milk,brick/water,milk,brick",
        (
            "anchor,nearer,farther",
            "Anker,näher,ferner",
            "référence,proche,éloigné",
            "referencia,cercano,lejano",
        ),
        TRIPLETS,
    ),
    "tasks": (
        "1,1,a,90,1/1,1,b,150,0/1,2,a,120,0/1,2,b,90,1/2,1,a,90,1/2,1,b,150,0",
        ("respondent,task,alternative,price,chosen", "Befragter,Aufgabe,Alternative,Preis,Wahl")
        + (
            "répondant,tâche,alternative,prix,choix",
            "encuestado,tarea,alternativa,precio,elección",
        ),
        EXPERIMENTS,
    ),
}


def csv(header, rows):
    return Source("table.csv", "\n".join([header, *rows.split("/")]).encode())


@pytest.mark.parametrize("language", range(1, len(LANGUAGES)), ids=LANGUAGES[1:])
@pytest.mark.parametrize(("rows", "headers", "kind"), TABLES.values(), ids=TABLES)
def test_every_shape_is_read_in_every_language(rows, headers, kind, language):
    english, _ = read_data(csv(headers[0], rows), kind)
    other, sentence = read_data(
        csv(headers[language], rows), *([kind] if kind == EXPERIMENTS else [])
    )
    if kind == EXPERIMENTS:  # whose columns keep their names
        assert (other.n_tasks, other.scheme.names) == (
            english.n_tasks,
            (headers[language].split(",")[3],),
        )
    else:
        assert other == english and "not used" not in sentence and "not read" not in sentence


@pytest.mark.parametrize("header", [case for _, headers, _ in TABLES.values() for case in headers])
def test_capitals_accents_and_blanks_do_not_matter(header):
    assert (
        simplify_name(header.upper())
        == simplify_name(header)
        == simplify_name(header.replace(",", " ,"))
    )


def test_a_name_that_means_two_roles_in_two_languages_is_decided_by_the_language_of_the_others():
    french, _ = read_data(csv("gagnant,perdant,nombre", "thé,lait,3/lait,eau,2"))
    assert (french.n_comparisons, french.respondents) == (5, ())
    spanish, _ = read_data(csv("ganador,perdedor,nombre", "té,leche,Ana/leche,agua,Luis"))
    assert (spanish.n_comparisons, spanish.respondents) == (2, ("Ana", "Luis"))


ASKED = (
    "table.csv: Column 'nombre' may contain the respondent (Spanish) or the number of comparisons"
    " or choices per row (French); give its name with `respondent` or `count`, or rename the column."
)


@pytest.mark.parametrize(
    "header",
    [
        "winner,loser,nombre",
        "left,right,choice,nombre",
        "tea>milk,tea>water,milk>water,nombre",
        "rank1,rank2,nombre",
    ],
)
def test_otherwise_a_column_of_numbers_is_asked_about(header):
    row = {
        "winner": "tea,milk,3",
        "left": "tea,milk,left,3",
        "tea>milk": "1,2,1,17",
        "rank1": "tea,milk,3",
    }
    with pytest.raises(DataError) as error:
        read_data(csv(header, "/".join([row[header.split(",")[0]]] * 2)))
    assert str(error.value) == ASKED


def test_a_name_with_two_roles_is_clear_where_the_columns_or_cells_decide():
    table = "id,nombre,left,right,chosen", "1,4,tea,milk,tea/1,5,milk,water,milk/2,6,tea,milk,milk"
    assert read_data(csv(*table), respondent="id")[0].respondents == ("1", "2")
    named = "nombre,left,right,chosen", "Ana,tea,milk,tea/Luis,milk,water,milk"
    assert read_data(csv(*named))[0].n_comparisons == 2


@pytest.mark.parametrize("name", ["numero", "Numéro", "Nr", "trial"])
def test_the_number_of_a_row_is_no_count(name):
    lists = read_data(csv(f"{name},ganador,perdedor", "1,tea,milk/2,milk,water/3,tea,water"))[0]
    trials = read_data(
        csv(f"{name},left,right,chosen", "1,tea,milk,tea/2,milk,water,milk/3,tea,water,tea")
    )[0]
    assert lists.n_comparisons == trials.n_comparisons == 3
    assert (
        read_data(csv("ganador,perdedor,número", "tea,milk,2/milk,water,3"))[0].n_comparisons == 5
    )


@pytest.mark.parametrize("name", ["Gewicht", "peso", "poids"])
def test_the_weight_of_a_person_is_no_count(name):
    assert (
        read_data(csv(f"vpn,{name},links,rechts,Wahl", "1,72.5,tea,milk,tea/2,81,milk,water,milk"))[
            0
        ].n_comparisons
        == 2
    )


def test_and_an_answer_is_taken():
    source = csv("winner,loser,nombre", "tea,milk,3/milk,water,2")
    assert read_data(source, count="nombre")[0].n_comparisons == 5
    assert read_data(source, respondent="nombre")[0].respondents == ("2", "3")


def test_within_a_shape_and_a_language_no_name_means_two_roles():
    """But for "resp": of trials it is the response, unless there is another one."""
    for shape in SHAPES:
        for one, other in combinations(shape.roles, 2):
            if one.meaning == other.meaning:  # under the name of another argument
                continue
            for language in LANGUAGES:
                assert {*one.languages[language]} & {*other.languages[language]} <= {"resp"}, (
                    shape.name,
                    one,
                    other,
                )


def test_every_role_says_what_it_is():
    table = list_role_names()
    assert (
        list(table.columns)[:-1] == ["a cell is", *LANGUAGES] and (table["a cell is"] != "").all()
    )
    assert (table["English"] != "").all() and table.index.is_unique
    assert all(role.meaning and not role.meaning.endswith(".") for role in ROLES)
    assert all(word == simplify_name(word) for role in ROLES for word in role.synonyms)


def test_a_column_that_is_named_decides_the_shape_but_not_who_answered():
    table = load_table(csv("subject,left,right,choice", TABLES["trials"][0]))
    assert recognise(table, first="left", second="right").shape == "table of trials"
    with refused(DataError, "column 'person'"):
        recognise(table, respondent="person")
    with refused(RecognitionError, "closest layout is"):
        recognise(load_table(csv("subject,left,right", "1,tea,milk/2,milk,tea")))


def test_no_word_means_both_sides():
    """A cell contains one of them, and the columns may have other names."""
    first_words, second_words = zip(*SIDES, *MORE_SIDES, strict=True)
    assert not {*first_words} & {*second_words}
    answers = "subject,left,right,response\n1,tea,rum,L\n1,rum,tea,R\n2,tea,rum,R\n2,gin,tea,R\n"
    data = read_data(Source("x.csv", answers.encode()))[0]
    assert data.counts[data.labels.index("tea")].sum() == 3.0


def test_minus_one_is_the_second_side():
    text = "option1,option2,response\ntea,rum,1\nrum,tea,-1\ngin,tea,1\n"
    data = read_data(Source("x.csv", text.encode()))[0]
    assert data.counts[data.labels.index("tea")].sum() == 2.0
    # no two words mean one side
    with pytest.raises(DataError):
        read_data(
            Source(
                "x.csv",
                text.replace("-1", "R")
                .replace(",1", ",L")
                .replace("option1,option2", "home,away")
                .encode(),
            )
        )
