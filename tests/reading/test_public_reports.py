"""Tables that users of other packages reported: read as what they are, with the right values.

The values were computed by other programs: choix, or Newton's method on the likelihood.
"""

import warnings

import numpy as np
import pytest
from helpers.sentences import refused, said

import thali as th
from thali.errors import DataError, DataWarning


def lines(header, *rows):
    return "\n".join([header, *rows, ""])


BATTLES = ["A,B,1,0,0"] * 3 + ["A,B,0,1,0", "A,B,0,0,1"] + ["B,C,1,0,0"] * 2
BATTLES += ["C,B,1,0,0", "B,C,0,0,1"] + ["A,C,1,0,0"] * 2 + ["C,A,1,0,0"]
GAMES = ["A,B,1-0", "B,A,1/2-1/2", "A,C,0-1", "C,B,1-0", "B,C,½-½", "C,A,0-1"]
WORTHS = {  # table, options, worths, and the parameter or log-likelihood
    "rankings with ties": (
        lines("judge,A,B,C,D", "1,1,2,2,4", "2,2,1,3,3", "3,3,1,1,4", "4,1,4,2,2", "5,2,3,1,4", "6,4,2,3,1"),
        {},
        [0.32679, 0.26020, 0.32607, 0.08694],
        -14.63329,
    ),
    "not finished": (
        lines("race,A,B,C,D,E", "1,1,2,3,4,4", "2,3,1,2,4,4", "3,2,1,4,4,3", "4,4,2,1,3,4", "5,2,4,4,1,3"),
        {},
        [0.26490, 0.39124, 0.16550, 0.09446, 0.08390],
        None,
    ),
    "games of chess": (lines("White,Black,Result", *GAMES), {}, [0.46240, 0.07519, 0.46240], 1.27005),
    "one-hot winners": (
        lines("model_a,model_b,winner_model_a,winner_model_b,winner_tie", *BATTLES),
        {},
        [0.57602, 0.25237, 0.17161],
        0.43453,
    ),
}  # fmt: skip
COUNTS = {  # table, options, wins of the row over the column, ties
    "an option against itself": (
        lines("winner,loser", "A,B", "B,A", "A,A", "A,C", "C,B", "B,C"),
        {},
        [[0, 1, 1], [1, 0, 1], [0, 1, 0]],
        0,
    ),
    "the table of R": (
        lines('"winner" "loser" "n"', '"1" "tea" "milk" 7', '"2" "milk" "tea" 3', '"3" "tea" "water" 9', '"4" "water" "tea" 1'),
        {},
        [[0, 7, 9], [3, 0, 0], [1, 0, 0]],
        0,
    ),
    "a coding that adds": (
        lines("a,b,winner", "x,y,1", "y,z,2", "z,x,3", "x,z,1", "y,x,2"),
        {"coding": {3: "tie"}},
        [[0, 2, 1], [0, 0, 0], [0, 1, 0]],
        1,
    ),
    "verdicts with signs": (
        lines("model_a,model_b,verdict", "x,y,A>B", "y,z,B>>A", "z,x,A=B", "x,z,A>B"),
        {"coding": {"A>B": "first", "B>>A": "second", "A=B": "tie"}},
        [[0, 1, 1], [0, 0, 0], [0, 1, 0]],
        1,
    ),
}  # fmt: skip
TASKS = ["1,1,1,1,1,1", "1,1,2,2,1,0", "1,1,3,1,0,0", "1,2,1,3,1,0", "1,2,2,1,1,1", "1,2,3,2,1,0"]
TASKS += ["2,1,1,2,1,1", "2,1,2,1,0,0", "2,1,3,3,1,0", "2,2,1,1,1,0", "2,2,2,2,1,1", "2,2,3,3,1,0"]
ROWS = ["0,1,1,1,1,1", "1,1,1,2,2,0", "2,1,2,1,3,0", "3,1,2,2,1,1", "4,2,1,1,2,0", "5,2,1,2,3,1"]
ROWS += ["6,2,2,1,1,1", "7,2,2,2,2,0"]
BRANDS = [(3.1, 2.0, 1.1, "ale"), (3.4, 2.2, 1.4, "ale"), (2.9, 2.1, 1.0, "ale")]
BRANDS += [(3.6, 1.6, 1.2, "bock"), (3.0, 2.4, 1.3, "ale"), (3.5, 2.3, 0.7, "cider")]
BRANDS += [(3.3, 1.5, 1.5, "bock"), (2.8, 2.2, 1.2, "ale"), (3.7, 2.0, 0.9, "bock")]
BRANDS = [
    f"{k},{','.join(map(str, row))}" for k, row in enumerate([*BRANDS, (3.2, 2.5, 1.0, "ale")])
]
COEFFICIENTS = {  # table, options, attribute, coefficient, standard error
    "alternatives not offered": (lines("id,task,alt,fee,av,choice", *TASKS), ["fee"], -1.35559, 1.02998),
    "row numbers": (lines(",id,task,alt,fee,choice", *ROWS), ["fee"], -1.04573, 1.01605),
    "named alternatives": (lines("id,price.ale,price.bock,price.cider,choice", *BRANDS), None, 0.32828, None),
    "codes of choices": (
        lines("id,price1,price2,choice", "1,1,2,choice1", "2,2,1,choice2", "3,1,3,choice2", "4,3,1,choice2"),
        None,
        -0.41962,
        None,
    ),
}  # fmt: skip
REFUSED = {
    lines("i,j,distance", "Oslo,Bern,1.5", "Oslo,Rome,2", "Bern,Rome,.7"): ("distances", "'linear'"),
    lines(",Oslo,Bern,Rome", "Oslo,0,1500,1700", "Bern,1500,0,1000", "Rome,1700,1000,0"): (
        "symmetric",
        "'linear'",
    ),
    lines(",A,B,C,D", "A,38,4,6,2", "B,7,30,10,3", "C,5,12,31,2", "D,1,2,3,44"): (
        "confusion matrix",
        "leave the diagonal empty",
    ),
    lines(",x,y,z", "x,0,2.5,1", "y,1.5,0,2", "z,3,.5,0"): ("2.5", "column 'weight'"),
}  # fmt: skip


@pytest.fixture
def taken(tmp_path):
    def read(text, **options):
        (tmp_path / "table.csv").write_text(text, encoding="utf-8")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            return th.read(tmp_path / "table.csv", **options)

    return read


@pytest.mark.parametrize(("text", "options", "worths", "other"), WORTHS.values(), ids=WORTHS)
def test_reported_tables_have_the_published_worths(text, options, worths, other, taken):
    model = th.BradleyTerryLuce(method="maximum-likelihood").fit(taken(text, **options))
    estimates = model.summary()["estimate"]
    shares = np.exp(estimates[: len(worths)])
    assert (shares / shares.sum()).tolist() == pytest.approx(worths, abs=1e-5)
    if other is not None and other < 0:
        # with the 60 orders in which respondents can give the answers to equal sets
        log_likelihood = model.maximum_likelihood.log_likelihood()
        assert log_likelihood - np.log(60) == pytest.approx(other, abs=1e-5)
    elif other is not None:
        assert np.exp(estimates["log_tie"]) == pytest.approx(other, abs=1e-5)


@pytest.mark.parametrize(("text", "options", "counts", "ties"), COUNTS.values(), ids=COUNTS)
def test_reported_tables_have_the_right_counts(text, options, counts, ties, taken):
    data = taken(text, **options)
    assert data.counts.tolist() == counts and data.n_ties == ties


@pytest.mark.parametrize(
    ("text", "attributes", "coefficient", "error"), COEFFICIENTS.values(), ids=COEFFICIENTS
)
def test_reported_tables_have_the_published_coefficients(
    text, attributes, coefficient, error, taken
):
    name = "price" if attributes is None else "fee"
    data = taken(text, attributes=attributes)
    summary = (
        th.MultinomialLogit(linear=[name], constants=False, people="independent")
        .fit(data)
        .summary()
    )
    assert summary.index.tolist() == [name]
    assert summary["coef"].iloc[0] == pytest.approx(coefficient, abs=1e-5)
    assert error is None or summary["std_error"].iloc[0] == pytest.approx(error, abs=1e-5)


def test_names_of_alternatives_have_constants(taken):
    data = taken(lines("id,price.ale,price.bock,price.cider,choice", *BRANDS))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the likelihood has no maximum
        rows = th.MultinomialLogit(linear=["price"]).fit(data).summary().index.tolist()
    assert rows == ["price", "alternative[bock]", "alternative[cider]"]


def test_survey_weights_are_not_ignored(taken):
    tasks = [f"{row},{1 + int(row[0])}" for row in TASKS]
    weighted = taken(lines("id,task,alt,fee,av,choice,weight", *tasks), attributes=["fee"])
    with refused(DataError, "'weight'", "equally"):
        th.MultinomialLogit().fit(weighted)


@pytest.mark.parametrize(("text", "facts"), REFUSED.items())
def test_ambiguous_tables_are_refused_with_a_question(text, facts, taken):
    with refused(DataError, *facts):
        taken(text)


def test_who_never_was_ranked(taken):
    text = lines("race,A,B,C,D", "1,1,2,,", "2,2,1,3,", "3,1,3,2,", "4,2,1,,")
    data = taken(text, unranked="worse")
    assert data.labels == ("A", "B", "C", "D") and "D" in data.sets[-1]


def test_rankings_in_cells_and_of_a_survey(taken):
    data = taken(lines("id,ranking", "1,a>b=c>d", "2,b>a>d>c", "3,a>c>b>d", "4,d>a>b>c"))
    assert data.n_ties == 1 and data.respondents == ("1", "2", "3", "4")
    header = "id,toppings[1],toppings[2],toppings[3]"
    data = taken(lines(header, "1,Ham,Corn,", "2,Tuna,Ham,Corn", "3,Corn,Ham,Tuna", "4,Ham,Tuna,"))
    assert data.n_choices == 6 and {*data.labels} == {"Ham", "Corn", "Tuna"}


def test_marks_of_best_and_worst(taken):
    rows = ["1,1,A,1", "1,1,B,0", "1,1,C,-1", "1,2,A,0", "1,2,C,-1", "1,2,D,1", "2,1,A,1"]
    data = taken(lines("pid,block,label,value", *rows, "2,1,B,-1", "2,1,C,0"))
    frame = data.to_frame()
    assert data.n_choices == 3 and data.respondents == ("1", "2")
    assert [*frame.alternative[frame.best == 1]] == ["A", "D", "A"]
    assert [*frame.alternative[frame.worst == 1]] == ["C", "C", "B"]


def test_card_sorts_become_shares_of_respondents(taken):
    rows = ["1,tea,x", "1,milk,x", "1,beer,y", "2,tea,a", "2,beer,b", "2,wine,b", "3,milk,p"]
    data = taken(lines("Subject,Card,Group", *rows, "3,beer,q", "3,wine,q"))
    shares = {
        (data.labels[i], data.labels[j]): (share, judges)
        for i, j, share, judges in zip(
            data.first, data.second, data.values, data.judgements, strict=True
        )
    }
    assert shares == {
        ("tea", "milk"): (1, 1),
        ("tea", "beer"): (0, 2),
        ("tea", "wine"): (0, 1),
        ("milk", "beer"): (0, 2),
        ("milk", "wine"): (0, 1),
        ("beer", "wine"): (1, 2),
    }


def test_a_ragged_triangle_and_a_word_of_databases(taken):
    data = taken(lines(",tea,milk,water", "tea,5", "milk,4,5", "water,2,1,5"))
    assert data.values.tolist() == [4, 2, 1]
    rows = ["1,a,1", "1,b,2", "1,c,\\N", "2,b,1", "2,a,2", "2,c,3"]
    data = taken(lines("race,driver,position", *rows), option="driver")
    assert data.n_choices == 3


def test_answers_beside_a_design(taken, tmp_path):
    (tmp_path / "design.csv").write_text("left,right\ntea,milk\nmilk,water\n")
    text = lines("id,chosen_1,chosen_2", "1,tea,milk", "2,milk,water", "3,tea,milk")
    data = taken(text, design=tmp_path / "design.csv")
    assert data.labels == ("tea", "milk", "water")
    assert data.counts.tolist() == [[0, 2, 0], [1, 0, 2], [0, 1, 0]]
    said(data.read_as, "design.csv")


def test_ratings_along_a_ladder_are_evenly_spaced(taken):
    steps = [(f"p{k:02d}", f"p{k + 1:02d}") for k in range(1, 12)]
    rows = [f"{a},{b},9" for a, b in steps] + [f"{b},{a},1" for a, b in steps]
    ratings = th.leaderboard(taken(lines("winner,loser,n", *rows)), progressbar=False).table[
        "rating"
    ]
    gaps = -np.diff(ratings)
    assert (gaps > 250).all() and (gaps < 450).all()  # 382 by maximum likelihood
