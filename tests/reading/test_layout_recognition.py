"""One loop over the shapes: a file is read once, two readings are an ambiguity, none names the
nearest shape."""

import os
import pickle
import threading

import pytest
from helpers import typed_tables
from helpers.sentences import refused, said

import thali._data.kinds as kinds
from thali._reading.layout_recognition import RecognitionError, recognise
from thali._reading.layouts import SHAPES
from thali.errors import DataError

PAIRS = "chosen,rejected,n\ntea,milk,3\nmilk,tea,1\n"
SQUARE = ",tea,milk\ntea,0,3\nmilk,1,0\n"
SETS = "obsID,alt,choice\n1,tea,1\n1,milk,0\n2,tea,0\n2,milk,1\n"
DOUBTFUL = (
    "respondent,task,price_1,price_2,choice,first,second,winner\n1,1,2,3,1,a,b,a\n1,2,3,2,2,b,c,b\n"
)
PRICED = "obsID,alt,choice,price\n1,tea,1,2.5\n1,milk,0,1\n2,tea,0,2\n2,milk,1,3\n"
ALIKE = ",tea,milk\ntea,1,0.3\nmilk,0.3,1\n"
EXPERIMENT = "id,task,choice,price\n1,1,1,2\n1,1,0,3\n"
CLASSES = "height,kind\n1.5,moss\n30,fern\n2,moss\n"
ML = ("--method", "maximum-likelihood", "--lapse", 0)


def table(text):
    return typed_tables.table(text, "data.csv")


NUMBERED = """id,task,alternative,brand,price,choice
1,1,1,Aika,99,1
1,1,2,Bora,149,0
1,1,none,,,0
1,2,1,Bora,99,0
1,2,2,Aika,199,0
1,2,none,,,1
"""


def test_numbers_of_places_name_no_options():
    reading = recognise(table(NUMBERED))
    assert reading.kind == kinds.EXPERIMENTS
    assert recognise(table(NUMBERED), kinds.CHOICES, kinds.PAIRS).kind == kinds.CHOICES
    # a named column does not change the kind
    assert recognise(table(NUMBERED), alternative="alternative").kind == kinds.EXPERIMENTS
    assert recognise(table(NUMBERED), choice_id="task").kind == kinds.CHOICES
    same = NUMBERED.replace("1,2,1,Bora,99", "1,2,1,Aika,99").replace(
        "1,2,2,Aika,199", "1,2,2,Bora,149"
    )
    # each number has the same product in every task
    assert recognise(table(same)).kind == kinds.CHOICES


@pytest.mark.parametrize(
    ("text", "words", "code"),
    [
        (PAIRS, ML, 0),
        (SQUARE, ML, 0),
        (SQUARE.replace("3", "x"), ML, 2),  # a bad count
        (SQUARE.replace("3", "3.5"), ML, 2),  # perhaps similarities
        ("one,two\n1,x\n2,y\n3,x\n", ML, 2),  # nothing that is known
        ("winner,loser\na\nb,c\n", ML, 2),  # rows that end early
        (SETS, ("--method", "?"), 2),
        (DOUBTFUL, (), 2),  # an ambiguity
        (ALIKE, ("--estimate", "?"), 2),
        (EXPERIMENT, ("--model", "product-classes", "--method", "?"), 2),
        (CLASSES, ("--target", "kin"), 2),
    ],
)
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_file_is_read_once(run, tmp_path, text, words, code):
    """A pipe, which is empty for whoever reads it again."""
    pipe, is_over = tmp_path / "data.csv", threading.Event()
    os.mkfifo(pipe)

    def feed():
        pipe.write_text(text)
        while not is_over.is_set():
            pipe.write_text("")

    feeder = threading.Thread(target=feed, daemon=True)
    feeder.start()
    result = run("fit", pipe, *words)
    is_over.set()
    end = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)  # for a feeder who waits for a reader
    feeder.join()
    os.close(end)
    assert result.code == code and "is empty" not in result.err


def test_shapes_have_names_of_their_own_and_known_kinds():
    assert len({shape.name for shape in SHAPES}) == len(SHAPES)
    known = {
        kinds.PAIRS,
        kinds.CHOICES,
        kinds.SIMILARITIES,
        kinds.TRIPLETS,
        kinds.CLASSES,
        kinds.EXPERIMENTS,
    }
    assert {shape.kind for shape in SHAPES} == known
    assert all(set(shape.named_by) <= set(shape.options) for shape in SHAPES)


def test_two_readings_are_an_ambiguity_that_names_both():
    with pytest.raises(RecognitionError) as caught:
        recognise(table(DOUBTFUL))
    assert caught.value.kinds == (kinds.EXPERIMENTS, kinds.PAIRS)
    said(caught.value, "data.csv", "'price'", "'first'", "'choice'")
    assert recognise(table(PRICED)).kind == kinds.EXPERIMENTS  # prices differ between tasks
    assert recognise(table(PRICED), kinds.PAIRS, kinds.CHOICES).kind == kinds.CHOICES
    # a named column says which
    assert recognise(table(PRICED), choice_id="obsID").kind == kinds.CHOICES
    assert recognise(table(PRICED), target="alt").kind == kinds.CLASSES


@pytest.mark.parametrize(
    ("header", "facts"),
    [
        ("winner,looser,year", ("list of comparisons", "'loser' ('winner'", "rejected")),
        ("left,right,size", ("table of trials", "'left' or 'right'", "chosen")),
        ("obsID,drink,choice", ("table of choices", "`alternative`")),
        ("alt,choice,size", ("`task`",)),
        ("x,y,z", ("Shapes of tables", "not recognised")),
    ],
)
def test_the_nearest_shape_is_named_and_what_it_lacks(header, facts):
    with refused(RecognitionError, "comparisons or choices", *facts) as caught:
        recognise(table(f"{header}\n1,a,x\n1,b,y\n2,a,x\n2,b,z\n"), kinds.PAIRS, kinds.CHOICES)
    assert caught.value.kinds == ()


def test_errors_keep_their_facts_in_another_process():
    for error in (RecognitionError("x", ("a",), ("b",)),):
        again = pickle.loads(pickle.dumps(error))
        assert str(again) == "x" and vars(again) == vars(error)


def test_nothing_is_converted_before_it_is_asked_for():
    reading = recognise(table("a,b,a_over_b,b_over_a\ntea,milk,1,-2\n"))
    with refused(DataError, "-2"):
        reading.build()


def test_a_list_of_similarities_whose_rows_end_early_is_not_misread():
    text = "a,b,similarity\ntea,milk,0.2\ncoffee,0.4\n"  # 0.4 is no object
    for wanted in ((), (kinds.SIMILARITIES,)):
        with refused(ValueError, "Line 3", "2 cells", "3 columns"):
            recognise(table(text), *wanted)
