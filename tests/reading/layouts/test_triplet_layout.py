"""Tables of triplets."""

import pytest
from helpers.sentences import refused, said
from helpers.typed_tables import made

from thali._reading.layout_recognition import RecognitionError

ODD = "object1,object2,object3,odd\ntea,coffee,brick,brick\nbrick,wall,tea,tea\n"
TABLES = {
    "odd": ODD,
    "odd by place": "item1;item2;item3;odd_one_out\ntea;coffee;brick;3\nbrick;wall;tea;3\n",
    "things": "image1\timage2\timage3\tchoice\ttriplet_id\ntea\tcoffee\tbrick\t3\t812\n"
    "brick\twall\ttea\t3\t907\n",
    "letters": "a,b,c,odd,count\ntea,coffee,brick,brick,1\nbrick,wall,tea,tea,1\n",
    "chosen": "stim1,stim2,stim3,chosen1,chosen2\ntea,coffee,brick,tea,coffee\n"
    "brick,wall,tea,wall,brick\n",
}


@pytest.mark.parametrize("text", list(TABLES.values()), ids=list(TABLES))
def test_tables_with_the_usual_names(text):
    data, sentence = made(text)
    said(data, "4 objects", "2 sets", "3 pairs", "2 answers")
    assert data.labels == ("tea", "coffee", "brick", "wall")
    assert data.counts.reshape(2, 3).sum(axis=0).tolist() == [1, 0, 1]
    assert "triplet per row" in sentence or "one set per row" in sentence


@pytest.mark.parametrize(
    "text, named",
    [
        ("foodA,foodB,foodC,which\n", {"objects": ("foodA", "foodB", "foodC"), "odd": "which"}),
        ("item1,item2,item3,which\n", {"odd": "which"}),
        ("links;mitte;rechts;anders\n", {}),
    ],
)
def test_columns_that_are_named(text, named):
    rows = "tea,coffee,brick,brick\nbrick,wall,tea,tea\n"
    data, _ = made(text + (rows.replace(",", ";") if ";" in text else rows), **named)
    said(data, "4 objects", "2 sets", "3 pairs", "2 answers")


def test_named_columns_of_anchored_questions():
    data, _ = made("q,yes,no\nx,y,z\ny,x,z\n", anchor="q", nearer="yes", farther="no")
    assert data.sizes.tolist() == [2, 2]


@pytest.mark.parametrize(
    "header, facts, option",
    [
        ("item1,item2,item3,which", ("'item1'", "'item2'", "'item3'"), "odd"),
        ("x,y,z,odd", ("'odd'",), "objects"),
    ],
)
def test_the_column_that_is_missing_is_named(header, facts, option):
    with refused(RecognitionError, *facts) as error:
        made(f"{header}\ntea,coffee,brick,brick\n")
    assert option in str(error.value)


def test_objects_in_one_column_are_not_taken_apart():
    text = 'choices,odd\n"tea, coffee, brick",brick\n"brick, wall, tea",tea\n'
    with refused(ValueError, "`objects`", "list", "'choices'", "one column per object"):
        made(text, objects="choices", odd="odd")


def test_anchored_questions():
    data, sentence = made("anchor,near,far,weight\nx,y,z,.5\ny,x,z,2\n")
    assert data.sizes.tolist() == [2, 2] and data.n_answers == 2.5
    said(sentence, "'near'", "'far'", "'anchor'", "'weight'")
