"""Each shape alone: which tables it takes and how surely, what it makes of them, what it lacks and
what it refuses."""

import pytest
from helpers.sentences import refused
from helpers.typed_tables import table

from thali._data.kinds import SIMILARITIES
from thali._reading.layouts import SHAPES

SHAPE = {shape.name: shape for shape in SHAPES}
CHOICES = SHAPE["long table of choices"]
BEST_WORST = SHAPE["table of best-worst choices"]
CLASSES = SHAPE["covariates and a column of classes"]
EXPERIMENT = SHAPE["choice experiment"]
COUNTS = SHAPE["square matrix of counts"]
COMPARISONS = SHAPE["list of comparisons"]
ALIKE_SQUARE = SHAPE["square matrix of similarities"]
ALIKE_LIST = SHAPE["list of similarities"]

PLANTS = "height,kind\n1.5,moss\n30,fern\n2,moss\n"
TASKS = "id,task,alt,choice,price\n1,1,a,1,2\n1,1,b,0,3\n1,2,a,0,3\n1,2,b,1,2\n"
SETS = "obsID,alt,choice,price\n1,tea,1,2\n1,milk,0,1\n2,tea,0,2\n2,milk,1,1\n"
HOME = "home.team,away.team,home.wins,away.wins,ties,far\nA,B,3,1,1,5\nB,A,4,2,0,1\nA,C,1,2,0,2\n"
NUMBERS = "x,y,z\n1,2,3\n4,5,6\n"
THREE_ALIKE = "a,b,similarity\n1,2,.3\n1,3,.4\n2,3,.5\n"  # as many rows as columns of numbers
ONE_SIDE, FROM_X = ",A,B\nA,1,.5\nB,.25,1\n", ",A,B\nX,0,1\nB,1,0\n"

TAKES = [
    # shape, text, options, how sure (None: it does not match), of counts also what it could be
    # instead
    (CLASSES, PLANTS, {}, None),
    (CLASSES, PLANTS, {"target": "kind"}, True),
    (EXPERIMENT, TASKS, {}, True),
    # nothing differs within a task
    (EXPERIMENT, TASKS.replace(",3", ",2").replace(",2\n", ",7\n"), {}, None),
    (EXPERIMENT, NUMBERS, {}, None),
    (EXPERIMENT, NUMBERS, {"known": True}, False),  # so that the error is about what is wrong
    (CHOICES, SETS, {}, True),
    # the names say so, but not the cells
    (CHOICES, SETS.replace("milk,0", "milk,maybe"), {}, False),
    (CHOICES, SETS.replace("alt", "drink"), {}, None),
    (CHOICES, SETS.replace("alt", "drink"), {"alternative": "drink"}, True),  # it was named
    (CHOICES, "winner,loser\na,b\n", {}, None),
    (COMPARISONS, "i,j,similarity\nA,B,1\n", {}, None),  # the column says what it is
    (COMPARISONS, ",I,J\nI,0,3\nJ,1,0\n", {}, None),  # options called I and J
    (COMPARISONS, "I,J\n0,3\n1,0\n", {}, None),
    # as many rows as columns of numbers
    (COMPARISONS, "winner,loser,n\n1,2,3\n2,1,4\n3,1,5\n", {}, True),
    (COMPARISONS, "a,b,a_over_b,b_over_a\nA,B,3,1\n", {"covariates": ["order"]}, None),
    (COMPARISONS, "winner,loser\nA,B\n", {"covariates": ["order"]}, None),
    (ALIKE_LIST, "a,b,similarity\nA,B,.3\n", {}, True),
    (ALIKE_LIST, "i,j,sim\nA,B,.3\n", {}, True),
    (ALIKE_LIST, "a,b,rating\nA,B,3\n", {}, True),
    (ALIKE_LIST, "i,j,rating\nA,B,3\n", {}, False),  # i may have been chosen over j
    (ALIKE_LIST, "a,b,wins,losses,sim\nA,B,1,2,.5\n", {}, False),
    (ALIKE_LIST, THREE_ALIKE, {}, True),
    (ALIKE_LIST, NUMBERS, {}, None),
    (ALIKE_LIST, "a,b,distance\nA,B,2\n", {}, False),  # how to convert is asked
    (ALIKE_LIST, "x,y,distance\nA,B,2\n", {}, False),
    (ALIKE_LIST, "from,to,distance\nA,B,2\n", {}, None),
    (ALIKE_LIST, ",a,b,s\na,1,.3,.2\nb,.3,1,.1\ns,.2,.1,1\n", {}, None),
    (ALIKE_SQUARE, ",A,B\nA,1,.3\nB,.3,1\n", {}, True),
    (ALIKE_SQUARE, ",A,B\nA\nB,.3\n", {}, True),  # a triangle whose rows end
    (ALIKE_SQUARE, "1,.3\n.3,1\n", {}, True),
    (ALIKE_SQUARE, ",A,B\nA,0,3\nB,3,0\n", {}, False),  # perhaps counts
    (ALIKE_SQUARE, ",A,B\nA,1,.3\nB,.2,1\n", {}, False),  # its sides differ
    (ALIKE_SQUARE, ",A,B\nX,1,.3\nY,.3,1\n", {}, False),  # square but for its labels
    (ALIKE_SQUARE, NUMBERS, {}, None),
    (ALIKE_SQUARE, THREE_ALIKE, {}, None),
    (COUNTS, ",A,B\nA,0,3\nB,1,0\n", {}, (True, "")),
    (COUNTS, "0,3\n1,0\n", {}, (True, "")),
    (COUNTS, "A,B\n0,3\n1,0\n", {}, (True, "")),
    (COUNTS, ",A,B\nA,0,3\nB,3,0\n", {}, (True, SIMILARITIES)),  # symmetric
    (COUNTS, ",A,B\nA,0,.3\nB,.1,0\n", {}, (True, SIMILARITIES)),  # no counts
    (COUNTS, "A,B\n5,3\n1,5\n", {}, (False, "")),  # a diagonal: perhaps a list
    (COUNTS, ",A,B\nA,0,one\nB,1,0\n", {}, (True, "")),
    (COUNTS, ",A,B\nX,0,1\nY,1,0\n", {}, (False, "")),  # square but for its labels
    (COUNTS, NUMBERS, {}, None),
    (COUNTS, "winner,loser\nA,B\nB,C\nC,A\n", {}, None),
    (COUNTS, ",A,B\nA,1,.3\nB,.3,1\n", {}, None),
    (COUNTS, ",A,B\nA,0,.3\nB,.3,0\n", {"weights": True}, (True, SIMILARITIES)),  # fractions
]
REFUSES = [
    (CLASSES, PLANTS, {"known": True}, ("target", "x.csv", "'height'", "'kind'")),
    (CLASSES, PLANTS, {"target": "kin"}, ("got 'kin'", "'kind'")),
    (CLASSES, PLANTS, {"target": "height"}, ("x.csv", "Column 'kind'")),
    (EXPERIMENT, TASKS.replace("choice", "seen"), {"known": True}, ("x.csv",)),
    (CHOICES, SETS.replace("alt", "drink"), {"choice_id": "obsID"}, ("x.csv",)),
    (COMPARISONS, "winner,loser,n,count\nA,B,1,2\n", {}, ("x.csv",)),
    (COMPARISONS, "winner,loser,tie\nA,B,2\n", {}, ("x.csv", "Column 'tie'", "row 2")),
    (COMPARISONS, HOME, {"covariates": ["home.wins"]}, ("Column 'home.wins'",)),
    (
        ALIKE_LIST,
        "a,b,distance\nA,B,2\n",
        {"known": True},
        ("Column 'distance' contains dissimilarities",),
    ),
    (ALIKE_LIST, "a,b,sim,similarity\nA,B,2,3\n", {"known": True}, ("contain the similarity",)),
    (ALIKE_SQUARE, ONE_SIDE, {}, ("x.csv",)),
    (COUNTS, FROM_X, {}, ("x.csv", "'X'")),
    (COUNTS, "A,B\n5,3\n1,5\n", {}, ("; set the diagonal to 0",)),  # perhaps a list
    (COUNTS, ",A,B\nA,5,3\nB,3,5\n", {}, ("; set the diagonal to 0",)),  # perhaps similarities
]
OFFERED = "columns with the options offered, from which 'best' and 'worst' were chosen"
LACKS = [
    (BEST_WORST, "best,worst,year\nx,y,1\n", (OFFERED, "", 3)),
    (CHOICES, SETS.replace("alt", "drink"), ("a column of alternatives", "alternative", 2)),
    (CHOICES, SETS, None),
    (CHOICES, NUMBERS, None),
    (
        COMPARISONS,
        "Winner,year\nA,1\nB,2\nC,3\n",
        (
            "a column with the rejected option, such as 'loser' ('Winner' was read as the column"
            " of the other option)",
            "rejected",
            1,
        ),
    ),
    (COMPARISONS, "i,year\nA,1\nB,2\nC,3\n", None),
    (COMPARISONS, "winner,loser\nA,B\n", None),
]


@pytest.mark.parametrize(("shape", "text", "options", "sure"), TAKES)
def test_each_shape_takes_its_tables(shape, text, options, sure):
    reading = shape.match(table(text), **options)
    if isinstance(sure, tuple):
        assert (reading.sure, reading.other_kind) == sure
    else:
        assert (None if reading is None else bool(reading.sure)) is sure


@pytest.mark.parametrize(("shape", "text", "options", "facts"), REFUSES)
def test_each_shape_refuses_other_tables(shape, text, options, facts):
    with refused(ValueError, *facts):
        shape.match(table(text), **options).build()


@pytest.mark.parametrize(("shape", "text", "lack"), LACKS)
def test_each_shape_names_the_column_that_is_missing(shape, text, lack):
    assert shape.lacks(table(text)) == lack


def test_covariates_of_pairs_that_say_which_was_first():
    data, sentence = COMPARISONS.match(table(HOME), covariates=["order", "far"]).build()
    assert data.covariates.names == ("order", "far") and "not used" not in sentence
    assert (
        data.covariates.wins.sum() + data.covariates.losses.sum() == 13
        and data.covariates.tied.sum() == 1
    )
    cells = zip(
        *data.covariates.values.T, data.covariates.wins, data.covariates.losses, strict=True
    )
    # of A over B, and of A over C
    assert sorted(cells) == [(-1, -1, 2, 4), (1, 2, 1, 2), (1, 5, 3, 1)]
    by_order = COMPARISONS.match(table(HOME)).build()[0].with_order()
    assert COMPARISONS.match(table(HOME), covariates=["order"]).build()[0] == by_order
