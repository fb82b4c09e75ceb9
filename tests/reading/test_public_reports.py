"""Tables that users of other packages reported: read as what they are, with the right values.

The values were computed by other programs: choix, or Newton's method on the likelihood.
"""

import warnings

import numpy as np
import pytest

import thali as th
from thali.errors import DataWarning


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


@pytest.mark.long
def test_ratings_along_a_ladder_are_evenly_spaced(taken):
    steps = [(f"p{k:02d}", f"p{k + 1:02d}") for k in range(1, 12)]
    rows = [f"{a},{b},9" for a, b in steps] + [f"{b},{a},1" for a, b in steps]
    ratings = th.leaderboard(taken(lines("winner,loser,n", *rows)), progressbar=False).table[
        "rating"
    ]
    gaps = -np.diff(ratings)
    assert (gaps > 250).all() and (gaps < 450).all()  # 382 by maximum likelihood
