"""Tables that were silently taken for something else, each with variants of its kind; and what no
shape reads."""

import numpy as np
import pandas as pd
import pytest
from helpers.sentences import refused, said, warned

import thali as th
from thali import Similarities
from thali._data.kinds import CHOICES, EXPERIMENTS, PAIRS, SIMILARITIES, SPECS, TRIPLETS
from thali._input_files import Source
from thali._reading.layout_recognition import RecognitionError, read_data
from thali._reading.layouts import SHAPES
from thali.errors import Argument, DataError, DataWarning

OF_SIMILARITIES = (SIMILARITIES, TRIPLETS)  # the data of additive clustering


def taken(text, *kinds, **options):
    return read_data(Source("table.csv", text.encode()), *kinds, **options)


# Distances and similarities are no comparisons ----------------------------------------------------

CITIES = "Oslo,Bern,1.5/Oslo,Rome,2/Oslo,Bonn,1.1/Bern,Rome,.7/Bern,Bonn,.45/Rome,Bonn,1.07"
DISTANCES = [2.0, 1.5, 1.1, 0.7, 0.45, 1.07]  # Oslo with Bern, Rome, Bonn are 1.5, 2, 1.1


def listed(header, rows=CITIES):
    return "\n".join([header, *rows.split("/"), ""])


@pytest.mark.parametrize(
    "measure", ["distance", "dissimilarity", "corr", "value", "r", "Kilometres", "delta"]
)
@pytest.mark.parametrize("objects", ["i,j", "I,J", "J,I"])
def test_objects_i_and_j_with_a_number_are_asked_about(objects, measure):
    for more in ("", ",note"):
        rows = CITIES if not more else "/".join(f"{row},x" for row in CITIES.split("/"))
        for kinds in ((), (PAIRS, SIMILARITIES)):
            with refused(RecognitionError, "'i'", "'j'") as error:
                taken(listed(f"{objects},{measure}{more}", rows), *kinds)
            assert set(error.value.kinds) == {SIMILARITIES, PAIRS}


@pytest.mark.parametrize("measure", ["distance", "value", "Kilometres", "d"])
@pytest.mark.parametrize("objects", ["i,j", "item1,item2", "a,b", "row,column"])
@pytest.mark.parametrize("kinds", [(), OF_SIMILARITIES])
def test_distances_of_a_list_become_similarities(objects, measure, kinds):
    data, sentence = taken(listed(f"{objects},{measure}"), *kinds, dissimilarities="linear")
    assert "dissimilarities (linear)" in sentence
    said(sentence, "4 objects", "6 similarities")
    square = np.zeros((4, 4))
    for first, second, distance in (row.split(",") for row in CITIES.split("/")):
        k, m = (("Oslo", "Bern", "Rome", "Bonn").index(each) for each in (first, second))
        square[k, m] = square[m, k] = float(distance)
    for how in ("linear", "exponential"):
        data = taken(listed(f"{objects},{measure}"), *kinds, dissimilarities=how)[0]
        right = Similarities.from_dissimilarities(
            square, how, labels=("Oslo", "Bern", "Rome", "Bonn")
        )
        assert data.labels == right.labels and np.allclose(data.values, right.values, atol=1e-15)


def test_a_model_of_similarities_reads_the_only_measure():
    data, sentence = taken(listed("i,j,corr"), *OF_SIMILARITIES)
    assert sorted(data.values) == sorted(DISTANCES) and "'corr' of 'i' and 'j'" in sentence
    assert sorted(taken(listed("i,j,kilometres"), *OF_SIMILARITIES)[0].values) == sorted(DISTANCES)
    with refused(DataError, "Column 'distance' contains dissimilarities"):
        taken(listed("i,j,distance"), *OF_SIMILARITIES)


def test_choices_of_i_over_j_are_read_where_nothing_else_is_said():
    rows = "a,b,3/b,c,2/c,a,1"
    assert taken(listed("i,j,count", rows))[0].n_comparisons == 6
    assert taken(listed("i,j,trial", "a,b,1/b,c,2/c,a,3"))[0].n_comparisons == 3
    assert taken(listed("i,j,rt", "a,b,.1/b,c,.2/c,a,.3"))[0].n_comparisons == 3
    assert taken(listed("i,j,distance", rows), chosen="i", rejected="j")[0].n_comparisons == 3
    assert taken(listed("i,j,distance", rows), count="distance")[0].n_comparisons == 6
    assert taken(listed("winner,loser,distance", rows))[1].endswith("columns not used: 'distance'")


SQUARES = {
    "distances or not": ",a,b,c\na,0,4,7\nb,4,0,5\nc,7,5,0\n",
    "without a diagonal": "a;b;c\n;4;7\n4;;1\n7;1;\n",
    "a lower triangle": ",a,b,c\na,,,\nb,4,,\nc,7,1,\n",
}
CONFUSIONS = {
    "letters": ",A,B,C,D\nA,38,4,6,2\nB,7,30,10,3\nC,5,12,31,2\nD,1,2,3,44\n",
    "responses down": ",x,y,z\nx,8,1,3\ny,1,7,2\nz,1,2,5\n",
    "unlabelled rows": "p,q,r\n90,4,6\n8,80,12\n1,2,97\n",
}


@pytest.mark.parametrize("text", SQUARES.values(), ids=SQUARES)
def test_a_symmetric_square_of_whole_numbers_is_asked_about(text):
    with refused(RecognitionError, "The matrix is symmetric") as error:
        taken(text)
    assert error.value.kinds == (SIMILARITIES, PAIRS)
    data, sentence = taken(text, dissimilarities="linear")
    assert (
        isinstance(data, Similarities)
        and "of dissimilarities (linear)" in sentence
        and data.values.min() == 0
    )
    assert isinstance(taken(text, *OF_SIMILARITIES)[0], Similarities)
    with refused(DataError, "The matrix is symmetric"):
        th.leaderboard(th.read_table(Source("table.csv", text.encode())), count=None)


@pytest.mark.parametrize("text", CONFUSIONS.values(), ids=CONFUSIONS)
def test_confusions_are_asked_about(text):
    with refused(RecognitionError, "confusion matrix"):
        taken(text)
    data, _ = taken(text, *OF_SIMILARITIES, symmetrize="mean")
    assert isinstance(data, Similarities)


def test_squares_that_are_counts_are_none_of_these():
    assert taken(",a,b\na,0,5\nb,5,0\n")[0].n_comparisons == 10  # of two options
    assert taken(",a,b,c\na,0,5,1\nb,5,0,2\nc,3,2,0\n")[0].n_comparisons == 18
    with warned(DataWarning, "The diagonal"):
        # one cell of the diagonal is not the largest of its row
        assert taken(",a,b,c\na,4,5,1\nb,5,9,2\nc,3,2,9\n")[0].n_comparisons == 18


SCORES = {
    "wide": "item,gpt,claude,llama\n" + "".join(f"q{k},.{k}1,.{k}5,.3{k}\n" for k in range(1, 9)),
    "without items": "gpt,claude,llama\n.1,.5,.3\n.2,.4,.31\n.6,.7,.9\n.2,.3,.4\n",
    "as many items as"
    " models": "task,gpt,claude,llama\nmmlu,70.5,71.2,65\ngsm8k,90.1,92.3,81\narc,88.2,90.1,85.5\n",
    "percentages": "item,gpt,claude\na,50%,55.5 %\nb,90 %,92%\nc,9%,8%\n",
    "deviations": "item,gpt,claude\na,0.5 ± 0.02,0.6±0.03\nb,0.9 +/- .1,0.8+-0.1\nc,0.1 (0.2),0.2\n",
    "rows are numbered": ",gpt,claude\n0,.1,.5\n1,.2,.4\n2,.6,.7\n3,.2,.3\n",
}


@pytest.mark.parametrize("text", SCORES.values(), ids=SCORES)
def test_a_table_of_scores_is_refused_in_a_sentence(text):
    with refused(DataError, "contains scores", "th.leaderboard") as error:
        taken(text)
    assert len(str(error.value)) < 300


def test_the_scores_of_a_board_may_have_units_and_deviations():
    """Their means are those of the numbers: of percentages, shares."""
    cells = {"model": ["gpt", "claude"] * 3, "item": ["a", "a", "b", "b", "c", "c"]}
    shares = [0.5, 0.6, 0.9, 0.75, 0.25, 0.5]
    for form in ("{:.2f}", "{:.0%}", "{:.1%} ± 2.5%", "{:.2f} (0.1)"):
        frame = pd.DataFrame(cells | {"score": [*map(form.format, shares)]})
        table = th.leaderboard(frame, progressbar=False).table
        assert table["mean_score"].to_dict() == pytest.approx({"gpt": 0.55, "claude": 37 / 60})
    with refused(DataError, "'score'"):
        th.leaderboard(frame.assign(score=["high", *frame["score"][1:]]), score="score")


def test_the_columns_of_points_of_juries_are_asked_for():
    rows = [(a, b, p) for a in "ABC" for b, p in zip("ABC".replace(a, ""), (12, 10), strict=True)]
    frame = pd.DataFrame(rows, columns=["jury", "entry", "points"])
    with refused(DataError, "'points'", "`option` or `item`"):
        th.leaderboard(frame)
    board = th.leaderboard(frame, option="entry", item="jury", progressbar=False)
    assert board.table["wins"].to_dict() == {"A": 2, "B": 1, "C": 0}


# Choice experiments: what describes no alternative ------------------------------------------------

OFFERED = (
    "id,task,alt,fee,{},choice\n1,1,1,1,1,1\n1,1,2,2,1,0\n1,1,3,1,0,0\n1,2,1,3,1,0\n1,2,2,1,1,1\n"
    "1,2,3,2,1,0\n"
)
OFFERED += "2,1,1,2,1,1\n2,1,2,1,0,0\n2,1,3,3,1,0\n2,2,1,1,1,0\n2,2,2,2,1,1\n2,2,3,3,1,0\n"


@pytest.mark.parametrize(
    "name", ["av", "avail", "available", "availability", "Is_Available", "offered", "verfügbar"]
)
def test_availability_is_no_attribute(name):
    data, sentence = taken(OFFERED.format(name), EXPERIMENTS)
    assert data.attributes == ("fee",) and data.n_alternatives == 10
    assert "not used" not in sentence
    said(sentence, "2 rows", name)
    words = (
        OFFERED.format(name)
        .replace(",1,1\n", ",yes,1\n")
        .replace(",1,0\n", ",yes,0\n")
        .replace(",0,0\n", ",no,0\n")
    )
    assert taken(words, EXPERIMENTS)[0] == data


def test_but_other_words_and_a_column_that_is_named_are():
    words = OFFERED.format("available").replace(",1,1\n", ",now,1\n").replace(",1,0\n", ",now,0\n")
    assert taken(words.replace(",0,0\n", ",later,0\n"), EXPERIMENTS)[0].attributes == (
        "fee",
        "available",
    )
    assert taken(OFFERED.format("av"), EXPERIMENTS, attributes=["fee", "av"])[0].attributes == (
        "fee",
        "av",
    )
    with refused(DataError, "task '1'", "respondent '1'", "'av'"):
        taken(OFFERED.format("av").replace("1,1,1,1,1,1", "1,1,1,1,0,1"), EXPERIMENTS)


NUMBERED = (
    "{},id,task,alt,fee,choice\n{},1,1,1,1,1\n{},1,1,2,2,0\n{},1,2,1,3,0\n{},1,2,2,1,1\n"
    "{},2,1,1,2,0\n"
)
NUMBERED += "{},2,1,2,3,1\n{},2,2,1,1,1\n{},2,2,2,2,0\n"


@pytest.mark.parametrize(
    "name", ["", "X", "rownames", "Unnamed: 0", "index", "row.names", "obs", "nr"]
)
@pytest.mark.parametrize("start", [0, 1])
def test_a_column_that_numbers_the_rows_is_no_attribute(name, start):
    data, sentence = taken(NUMBERED.format(name, *range(start, start + 8)), EXPERIMENTS)
    assert data.attributes == ("fee",)
    said(sentence, "row numbers")


def test_nor_where_rows_were_sorted_or_left_out():
    shuffled = NUMBERED.format("", *np.random.default_rng(1).permutation(8))
    assert taken(shuffled, EXPERIMENTS)[0].attributes == ("fee",)
    numbered = NUMBERED.format("nr", *range(8))
    assert taken(numbered, EXPERIMENTS, where="id == 2")[0].attributes == ("fee",)


@pytest.mark.parametrize("name", ["", "Unnamed: 0", "index"])
def test_a_wide_experiment_and_pairs_have_none_either(name):
    wide = f"{name},price_1,price_2,choice\n0,90,150,1\n1,120,90,2\n2,90,120,1\n3,150,90,2\n"
    assert taken(wide)[0].attributes == ("price",)
    pairs, sentence = taken(f"{name},left,right,chosen\n0,a,b,a\n1,b,c,c\n2,a,c,a\n")
    assert pairs.n_comparisons == 3 and pairs.people is None and "row numbers" in sentence


@pytest.mark.parametrize("answer", ["x", "no idea"])
def test_attributes_of_two_profiles_are_no_options_where_an_answer_is_unclear(answer):
    rows = "m,clerk,f,nurse,A/m,cook,m,clerk,B/f,vet,f,nurse,B/m,cook,m,cook,A/f,vet,f,cook,"
    header = "sex_A,job_A,sex_B,job_B,choice"
    assert taken(listed(header, f"{rows}A"))[0].n_tasks == 5
    with refused(DataError, repr(answer), "row 6", "none=", f"'choice' != {answer!r}"):
        taken(listed(header, f"{rows}{answer}"))
    with pytest.raises(DataError):  # two such words
        taken(listed(header, f"{rows}{answer}/f,cook,m,vet,?"))


@pytest.mark.parametrize("is_side", [True, False])
@pytest.mark.parametrize("first", ["model_a", "left", "player1", "system_1", "wine_left"])
def test_options_that_also_meet_themselves_beside_measures_of_both_are_compared(first, is_side):
    second = first.replace("_a", "_b").replace("left", "right").replace("1", "2")
    rng = np.random.default_rng(0)
    options = rng.choice(["x", "y", "z"], (2, 60))
    wins = rng.random(60) < 0.5
    winners = np.where(wins, first, second) if is_side else np.where(wins, *options)
    sides = [name.replace(name.rstrip("12").split("_")[0], "tokens") for name in (first, second)]
    if first == "left":
        sides = ["tokens_left", "tokens_right"]
    frame = pd.DataFrame({first: options[0], second: options[1], "winner": winners})
    frame[sides] = rng.integers(9, 999, (60, 2))
    data = th.read(frame)
    assert data.kind == PAIRS and data.n_comparisons == (options[0] != options[1]).sum()


@pytest.mark.parametrize("columns", [["note"], ["note", "brand"], ("brand",)])
def test_any_column_can_be_left_unread(columns):
    text = (
        OFFERED.format("note")
        .replace("fee", "fee,brand")
        .replace(",1,1\n", ",1,1,1\n")
        .replace(",1,0\n", ",1,1,0\n")
    )
    text = text.replace(",0,0\n", ",1,0,0\n")
    data, sentence = taken(text, EXPERIMENTS, without=columns)
    assert (
        not {*columns} & {*data.attributes}
        and f"columns omitted as requested: '{columns[0]}'" in sentence
    )
    with refused(DataError, "column 'color'"):
        taken(text, EXPERIMENTS, without=["color"])


WEIGHTED = (
    "id,task,alt,fee,choice,{}\n1,1,1,1,0,1\n1,1,2,2,1,1\n1,2,1,2,1,1\n1,2,2,3,0,1\n"
    "2,1,1,1,1,.5\n2,1,2,3,0,.5\n"
)


def test_the_weight_of_a_product_and_one_weight_of_all_are_none():
    text = "id,task,alt,weight,choice\n1,1,1,900,0\n1,1,2,1200,1\n2,1,1,900,1\n2,1,2,1500,0\n"
    assert taken(text, EXPERIMENTS)[0].attributes == ("weight",)
    assert taken(WEIGHTED.format("weight").replace(",.5\n", ",1\n"), EXPERIMENTS)[0].attributes == (
        "fee",
    )


# What was not used, and who may have answered -----------------------------------------------------

UNUSED = {  # tables of nine rows with {} for columns that no shape reads
    "trials": ("left,right,chosen", "a,b,a/b,c,c/a,c,a/a,b,b/b,c,b/a,c,c/a,b,a/b,c,b/a,c,a"),
    "list": ("winner,loser", "a,b/c,b/a,c/b,a/b,c/c,a/a,b/b,c/a,c"),
    "a column a pair": (
        "a > b,a > c,b > c",
        "1,2,1/2,2,1/1,1,1/1,2,2/1,2,1/2,2,1/1,1,1/1,2,2/1,2,1",
    ),
    "rankings": ("rank1,rank2,rank3", "a,b,c/b,a,c/c,a,b/a,b,c/b,a,c/c,a,b/a,b,c/b,a,c/c,a,b"),
    "best and worst": (
        "item1,item2,item3,best,worst",
        "a,b,c,a,c/a,b,d,b,d/b,c,d,c,d/" * 2 + "a,b,c,a,c/a,c,d,a,d/b,c,d,c,d",
    ),
    "best": ("item1,item2,item3,best", "a,b,c,a/a,b,d,b/b,c,d,c/" * 2 + "a,b,c,a/a,c,d,a/b,c,d,c"),
    "triplets": (
        "object1,object2,object3,odd",
        "a,b,c,c/a,b,d,d/b,c,d,d/" * 2 + "a,b,c,c/a,c,d,d/b,c,d,d",
    ),
    "similarities": (
        "object1,object2,similarity",
        "a,b,5/a,c,2/b,c,3/a,d,4/b,d,1/c,d,2/a,e,4/b,e,1/c,e,2",
    ),
}


@pytest.mark.first(5)
@pytest.mark.parametrize(("header", "rows"), UNUSED.values(), ids=UNUSED)
def test_every_shape_names_what_it_did_not_use(header, rows):
    table = [f"{row},{'xyz'[k // 3]},{k * 0.7}" for k, row in enumerate(rows.split("/"))]
    data, sentence = taken("\n".join([f"{header},who,note", *table]))
    if len(data.respondents) == 9:  # a row each
        assert list(data.people.columns) == ["who", "note"]
        return
    assert not data.respondents
    said(sentence, "'who'", "'note'")
    said(sentence, "'who'")
    known, sentence = taken("\n".join([f"{header},who,note", *table]), respondent="who")
    assert "unknown" not in sentence and "'who'" not in sentence.partition("not used")[2]
    assert len(known.respondents) == 3


def test_choices_and_experiments_name_them_too():
    text = "id,task,alternative,chosen,a,b\n" + "".join(
        f"p,{k},{o},{int(o == 'tea')},{k}.5{o},7\n" for k in "12" for o in ("tea", "rum")
    )
    assert "columns not used: 'a'" in taken(text, CHOICES)[1]
    text = (
        OFFERED.format("brand")
        .replace(",1,1\n", ",x,1\n")
        .replace(",1,0\n", ",y,0\n")
        .replace(",0,0\n", ",x,0\n")
    )
    assert "columns not used: 'brand'" in taken(text, EXPERIMENTS, attributes=["fee"])[1]


# The same in Python -------------------------------------------------------------------------------


@pytest.mark.long
def test_python_reads_what_the_terminal_reads(tmp_path):
    header, rows = UNUSED["trials"]
    text = "\n".join(
        [f"{header},who", *(f"{row},{'xyz'[k // 3]}" for k, row in enumerate(rows.split("/")))]
    )
    (tmp_path / "votes.csv").write_text(text)
    for source in (
        tmp_path / "votes.csv",
        str(tmp_path / "votes.csv"),
        th.read_table(tmp_path / "votes.csv"),
    ):
        data = th.read(source)
        assert data == taken(text)[0] and data.read_as == taken(text)[1]
        assert th.read(source, respondent="who").respondents == ("x", "y", "z")
        assert th.read(source, "who == x", without="who").n_comparisons == 3
    assert th.PairedComparisons([[0, 1], [2, 0]]).read_as == ""


def test_an_error_about_an_unknown_layout_is_short():
    unlike = pd.DataFrame({"foo": ["a", "b"], "bar": ["x", "x"], "baz": ["p", "q"]})
    with refused(DataError, Argument("kind"), "Shapes of tables") as unknown:
        th.read(unlike)
    assert len(str(unknown.value).split()) < 50
    for spec in SPECS:
        examples = [shape.expected for shape in SHAPES if shape.kind == spec.kind]
        if spec.name in ("choices", "comparisons", "similarities", "triplets"):
            with refused(DataError, next(filter(None, examples)), "Shapes of tables") as known:
                th.read(unlike, kind=spec.name)
            assert len(str(known.value).split()) < 65
    with refused(DataError, "closest layout is a table of trials", Argument("chosen")) as near:
        th.read(pd.DataFrame({"left": ["a", "b"], "right": ["b", "a"]}))
    assert len(str(near.value).split()) < 60


def test_the_column_that_may_contain_ranks_is_named_and_can_be_given():
    cells = {"subject": [1, 1, 1, 2, 2, 2], "item": [*"abcabc"], "place in list": [2, 1, 3] * 2}
    frame = pd.DataFrame(cells)
    with refused(DataError, "table of rankings", "'place in list'", Argument("rank")):
        th.read(frame)
    assert th.read(frame, rank="place in list").n_choices == 4
    with refused(DataError, "long table of choices", Argument("chosen")):
        th.read(frame.assign(**{"place in list": [2, 2, 3] * 2}))
    with refused(th.errors.ArgumentError, "'colour'"):
        th.read(pd.DataFrame({"left": ["a", "b"]}), colour="left")
