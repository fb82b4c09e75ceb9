"""Tables of experiments, read as they are and fitted by maximum likelihood, against R (no R is
needed here).

R 4.2.2, psychotools 0.7-2, BradleyTerry2 1.1-2. In each comment stands what gave the figures;
`worths(f)` is

    p <- exp(BTabilities(f)[, 1]); p / sum(p)
"""

import warnings

import numpy as np
import pytest
from helpers.real_data import needs_data, real_data
from helpers.sentences import refused

import thali as th
import thali._data.kinds as kinds
from thali._input_files import Source
from thali._reading.layout_recognition import read_data
from thali.errors import DataError, DataWarning

# Best tennis player of Graf, Sabatini, Seles, by sex (R prefmod, data set tennis): patterns of
# answers with counts.
TENNIS = """n,C1,C2,C3,SEX
0,1,1,1,1\n6,1,1,-1,1\n0,1,-1,1,1\n19,1,-1,-1,1\n5,-1,1,1,1\n0,-1,1,-1,1\n17,-1,-1,1,1\n21,-1,-1,-1,1
15,1,1,1,2\n7,1,1,-1,2\n2,1,-1,1,2\n12,1,-1,-1,2\n16,-1,1,1,2\n2,-1,1,-1,2\n23,-1,-1,1,2\n19,-1,-1,-1,2
"""
# Springall (1973), response surface fitting (R BradleyTerry2, data set springall): row, col, win,
# loss, tie.
SPRINGALL = """
1,2,2,16,7 1,3,0,21,1 1,4,5,10,10 1,5,2,15,7 1,6,0,22,2 1,7,12,3,9 1,8,13,9,5 1,9,10,12,3 2,3,6,11,5 2,4,17,2,7
2,5,9,6,8 2,6,8,12,6 2,7,24,2,0 2,8,16,3,5 2,9,15,2,7 3,4,22,2,4 3,5,14,4,5 3,6,11,4,7 3,7,24,1,3 3,8,22,0,3
3,9,17,2,6 4,5,3,14,9 4,6,2,18,4 4,7,12,6,5 4,8,10,6,6 4,9,8,9,11 5,6,5,11,9 5,7,20,0,2 5,8,15,2,5 5,9,13,5,9
6,7,27,1,0 6,8,19,1,5 6,9,18,2,2 7,8,2,13,8 7,9,2,21,5 8,9,6,8,8
"""


def assert_worths(source, expected, ties=None, **read_arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # of the meaning of codes
        data, _ = read_data(source, kinds.PAIRS, **read_arguments)
    model = th.EliminationByAspects("unique", method="maximum-likelihood", ties=ties).fit(data)
    if isinstance(expected, dict):
        expected = [expected[label] for label in data.labels]
    np.testing.assert_allclose(model.maximum_likelihood.utility_scale(), expected, rtol=1e-7)
    return data


def test_patterns_with_counts_have_the_worths_of_r():
    # M: M[1, 2] <- sum(n[C1 == 1]); M[2, 1] <- sum(n[C1 == -1]); C2: 1 and 3; C3: 2 and 3
    # worths(BTm(cbind(w1, w2), factor(a), factor(b)))
    data = assert_worths(
        Source("tennis.csv", TENNIS.encode()), [0.2052644562, 0.3672959621, 0.4274395817]
    )
    assert data.counts.tolist() == [[0, 61, 51], [103, 0, 78], [113, 86, 0]]


@pytest.mark.parametrize(
    ("ties", "expected"),
    [
        # worths(BTm(cbind(win, loss), factor(row), factor(col), data = springall$contests))
        (
            "drop",
            "0.017627307308 0.158021714458 0.401224104235 0.023810834412 0.111120768098"
            " 0.237112091389 0.005451552375 0.016727060961 0.028904566764",
        ),
        # worths(BTm(cbind(win.adj, loss.adj), factor(row), factor(col), data = springall$contests))
        (
            "half",
            "0.03377885091 0.15753060184 0.31216312976 0.04423022421 0.12204343364 0.23127647306"
            " 0.01426168122 0.03368611069 0.05102949467",
        ),
    ],
)
def test_wins_losses_and_ties(ties, expected):
    rows = "\n".join(["row,col,win,loss,tie", *SPRINGALL.split()])
    assert_worths(Source("springall.csv", rows.encode()), list(map(float, expected.split())), ties)


@needs_data
@pytest.mark.parametrize(
    ("file", "ties", "expected"),
    [
        # worth(btmodel(paircomp(immig[, 1:6]), undecided = FALSE))
        (
            "paired_prefmod/immig.csv",
            "drop",
            [0.3907508824, 0.1354323130, 0.3694746103, 0.1043421943],
        ),
        # worths(BTm(cbind(home.wins, away.wins), home.team, away.team, data = baseball))
        (
            "paired_bradleyterry2/baseball.csv",
            None,
            {
                "Baltimore": 0.04503056267,
                "Boston": 0.13632464477,
                "Cleveland": 0.08922793818,
                "Detroit": 0.18937891731,
                "Milwaukee": 0.21891801661,
                "New York": 0.15679814458,
                "Toronto": 0.16432177588,
            },
        ),
        # worths(BTm(rep(1, nrow(sounds)), factor(top_item), factor(bottom_item)))
        (
            "rankings/bm_sounds.csv",
            None,
            dict(
                zip(
                    map(str, range(1, 13)),
                    [
                        *(
                            0.10895682240,
                            0.10422203421,
                            0.06743982436,
                            0.11857262513,
                            0.08191182317,
                            0.08456575467,
                        ),
                        *(
                            0.09615306027,
                            0.05292699084,
                            0.05191726460,
                            0.04064600459,
                            0.10280398505,
                            0.08988381071,
                        ),
                    ],
                    strict=True,
                )
            ),
        ),
    ],
)
def test_files_of_r_packages_have_the_worths_of_r(file, ties, expected):
    assert_worths(real_data(file), expected, ties)


@needs_data
def test_codes_of_r_have_the_worths_of_r_if_they_are_named():
    # worth(btmodel(paircomp(ifelse(trdel[, 1:10] == 1, 1, -1))))
    worths = [0.29609535885, 0.11935115685, 0.19044967547, 0.07836209788, 0.31574171095]
    file = real_data("paired_prefmod/trdel.csv")
    with refused(DataError, "only 1 and 2"):
        read_data(file, kinds.PAIRS)
    assert_worths(file, worths, coding={1: "first", 2: "second"})


@needs_data
def test_the_home_advantage_is_that_of_bradleyterry2():
    # b <- baseball; b$home.team <- data.frame(team = b$home.team, at.home = 1) b$away.team <-
    # data.frame(team = b$away.team, at.home = 0) f <- BTm(cbind(home.wins, away.wins), home.team,
    # away.team, ~ team + at.home, id = "team", data = b) coef(summary(f))["at.home", ]; worths(f);
    # logLik(f); anova(BTm(... ~ team ...), f, test = "Chisq")
    data, _ = read_data(real_data("paired_bradleyterry2/baseball.csv"), kinds.PAIRS)
    found = th.paired.order_effect(data)
    assert np.log(found.advantage) == pytest.approx(0.3022606555276, rel=1e-6)
    assert found.advantage_std_error / found.advantage == pytest.approx(0.1309436425323, rel=1e-6)
    assert found.log_likelihood == pytest.approx(-61.553995953, rel=1e-9)
    assert found.table.loc["order", "deviance"] == pytest.approx(5.410609085, rel=1e-8)
    assert found.p_value == pytest.approx(0.020015, rel=1e-4)
    worths = {"Milwaukee": 0.2200136758295, "Boston": 0.1367203183110, "Baltimore": 0.0435598003057}
    np.testing.assert_allclose(
        found.weights["weight"][list(worths)], list(worths.values()), rtol=1e-6
    )


@needs_data
def test_undecided_answers_are_the_ties_of_davidson():
    # b <- btmodel(paircomp(immig[, 1:6])); worth(b); exp(coef(b)["(undecided)"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        data, _ = read_data(real_data("paired_prefmod/immig.csv"), kinds.PAIRS)
    found = th.paired.davidson(data)
    expected = [0.3883524009, 0.1357759274, 0.3714277613, 0.1044439103]
    np.testing.assert_allclose(found.table["weight"], expected, rtol=1e-6)
    assert found.tie == pytest.approx(np.exp(-0.3175416236), rel=1e-6)
