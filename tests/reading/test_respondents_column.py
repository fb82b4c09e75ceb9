"""The column of who answered: one vocabulary for all shapes, and a name for what is not
recognised."""

import pytest

from thali._data.kinds import EXPERIMENTS
from thali._input_files import Source
from thali._reading.layout_recognition import read_data

NAMES = (
    "voter_id judge_hash judge_name judge_model user_hash evaluator_id assessor_id rater_name"
    " marker examiner"
)
NAMES += (
    " teacher_id coder sys_RespNum judge rater annotator_id participant respondent.id RESPID"
    " user workerId"
)
NAMES += " Subject-No PERSON_NUM participantNumber Grader juror_code"
SHAPES = {  # a table in which {} is who answered, p or q
    "trials": "{},left,right,chosen\np,tea,milk,tea\np,milk,rum,rum\nq,tea,rum,rum\nq,tea,milk,milk\n",
    "list": "winner,loser,{}\ntea,milk,p\nmilk,rum,p\nrum,tea,q\ntea,milk,q\n",
    "results": "home,away,result,{}\nHull,York,1,p\nYork,Hull,X,p\nHull,Bath,2,q\nBath,York,1,q\n",
    "a column a pair": "{},tea > milk,tea > rum,milk > rum\np,1,2,1\nq,2,2,1\n",
    "rankings": "{},rank1,rank2,rank3\np,tea,milk,rum\nq,rum,tea,milk\n",
    "long rankings": "{},item,rank\np,tea,1\np,milk,2\np,rum,3\nq,rum,1\nq,milk,2\nq,tea,3\n",
    "best and"
    " worst": "{},item1,item2,item3,best,worst\np,tea,milk,rum,tea,rum\nq,tea,milk,rum,milk,rum\n",
    "best": "{},item1,item2,item3,best\np,tea,milk,rum,tea\nq,tea,milk,rum,milk\n",
    "choices": "{},task,alternative,chosen\np,1,tea,1\np,1,milk,0\nq,1,tea,0\nq,1,milk,1\n",
    "tasks": "{},task,alternative,price,chosen\np,1,a,90,1\np,1,b,150,0\nq,1,a,90,0\nq,1,b,150,1\n",
    "a row a task": "{},price_1,price_2,choice\np,90,150,1\np,120,90,2\nq,90,120,1\nq,150,90,2\n",
    "similarities": "{},object1,object2,similarity\np,tea,milk,5\np,tea,rum,2\np,milk,rum,3\nq,tea,milk,4\n"
    "q,tea,rum,1\nq,milk,rum,2\n",
    "triplets": "{},object1,object2,object3,odd\np,tea,milk,rum,rum\nq,tea,milk,rum,tea\n",
}


def data_of(shape, name):
    kinds = [EXPERIMENTS] if shape == "tasks" else []
    return read_data(Source("table.csv", SHAPES[shape].format(name).encode()), *kinds)[0]


def pairs():
    """Every name in one shape and every shape with two names, and the others in long tests."""
    for k, name in enumerate(NAMES.split()):
        for j, shape in enumerate(SHAPES):
            is_first = (k - j) % len(SHAPES) == 0
            yield pytest.param(shape, name, marks=[] if is_first else pytest.mark.long)


@pytest.mark.parametrize(("shape", "name"), pairs())
def test_every_shape_knows_every_name(shape, name):
    data = data_of(shape, name)
    if shape != "tasks":  # which keep the name of the column
        assert data == data_of(shape, "respondent")
    if shape != "similarities":  # which are means over respondents
        assert data.respondents == ("p", "q")


def test_a_name_that_rows_of_tasks_have_besides_is_not_who_answered():
    text = (
        "respondent,task,marker,price,chosen\np,1,pen,90,1\np,1,chalk,150,0\nq,1,pen,90,0\n"
        "q,1,chalk,150,1\n"
    )
    data = read_data(Source("table.csv", text.encode()), EXPERIMENTS)[0]
    assert data.respondents == ("p", "q") and data.scheme.names == ("marker", "price")
