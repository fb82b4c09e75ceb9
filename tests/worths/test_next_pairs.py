"""What an answer about a pair is expected to teach, against sums over all draws and answers."""

import itertools

import numpy as np
import pytest
from helpers.sentences import refused

import thali as th
from thali._worths.worth_draws import WorthDraws
from thali.errors import ArgumentError

pytestmark = pytest.mark.unit


def entropy(p):
    p = np.asarray(p, float)
    return float(-(p[p > 0] * np.log(p[p > 0])).sum())


WORTHS = np.random.default_rng(3).gamma(1.0, size=(6, 4))  # of four options in six draws


def draws_of(worths, copies=1, nu=None):
    """Draws of these worths, each so many times."""
    log_worths = np.tile(np.log(worths), (copies, 1))
    n_draws, n_options = log_worths.shape
    labels = [str(option) for option in range(n_options)]
    none = np.zeros((n_draws, 0)), (), np.zeros((n_options, 0))
    return WorthDraws(labels, log_worths, nu, *none, 0.0, "ranking", 1)


def probabilities(worths, pair):
    """Of the answers to a question about two options, (draws, 2)."""
    some = worths[:, [int(option) for option in pair]]
    return some / some.sum(axis=1, keepdims=True)


def naive_information(parts, questions, label):
    """I(answers to the questions; label of the draw), by the joint distribution of draw and
    answers, uncorrected."""
    draws = len(parts[0])
    joint = {}
    for draw in range(draws):
        for answers in itertools.product(*(range(parts[q].shape[1]) for q in questions)):
            chance = (
                np.prod([parts[q][draw, a] for q, a in zip(questions, answers, strict=True)])
                / draws
            )
            joint[label[draw], answers] = joint.get((label[draw], answers), 0.0) + chance
    by_label, by_answer = {}, {}
    for (value, answers), chance in joint.items():
        by_label[value] = by_label.get(value, 0.0) + chance
        by_answer[answers] = by_answer.get(answers, 0.0) + chance
    return (
        entropy(list(by_label.values()))
        + entropy(list(by_answer.values()))
        - entropy(list(joint.values()))
    )


def asked(goal, copies):
    """The pairs in the order in which they are asked, what each teaches then, and alone."""
    table = draws_of(WORTHS, copies).next_pairs(3, None, goal, 1)
    pairs = list(zip(table["a"], table["b"], strict=True))
    return pairs, table["information"].to_numpy(), table["alone"].to_numpy()


PAIRS_OF = np.array(list(itertools.combinations(range(4), 2)))
GOALS = {  # the labels of each draw that are to be learned
    "everything": [np.arange(6)],
    "best": [WORTHS.argmax(axis=1)],
    "ranks": list((WORTHS[:, PAIRS_OF[:, 0]] > WORTHS[:, PAIRS_OF[:, 1]]).T),
}


@pytest.mark.parametrize("goal", GOALS)
def test_gains_are_those_of_the_joint_distribution(goal):
    """Without the correction for finitely many draws, of which twice the draws have half."""
    (pairs, once, alone), (again, twice, alone_twice) = (
        asked(goal, copies) for copies in (100, 200)
    )
    assert pairs == again
    once, alone = 2.0 * twice - once, 2.0 * alone_twice - alone
    parts = [probabilities(WORTHS, pair) for pair in pairs]
    for count in (1, 2, 3):
        exact = sum(naive_information(parts, range(count), label) for label in GOALS[goal])
        assert once[:count].sum() == pytest.approx(exact, abs=1e-9)
        exact = sum(naive_information(parts, [count - 1], label) for label in GOALS[goal])
        assert alone[count - 1] == pytest.approx(exact, abs=1e-9)
    assert alone[0] == alone.max() == once[0]


def test_answers_that_are_drawn_are_nearly_all_of_them():
    """Two to the eleventh combinations of them are too many to go through."""
    worths = np.random.default_rng(4).gamma(1.0, size=(200, 6))
    table = draws_of(worths, 20).next_pairs(12, None, "everything", 1)
    joint, before = np.ones((200, 1)), 0.0
    for pair, gain in zip(
        zip(table["a"], table["b"], strict=True), table["information"], strict=True
    ):
        joint = (joint[:, :, None] * probabilities(worths, pair)[:, None, :]).reshape(200, -1)
        known = entropy(joint.mean(axis=0)) - np.mean([entropy(each) for each in joint])
        assert gain == pytest.approx(known - before, rel=0.1, abs=0.01)
        before = known


def test_the_best_option_is_found_by_questions_about_the_first_two():
    """The last two of four are as uncertain, and asking about them says nothing of the best."""
    rng = np.random.default_rng(5)
    worths = np.exp(np.array([2.0, 2.0, -2.0, -2.0]) + 0.5 * rng.normal(size=(500, 4)))
    table = draws_of(worths).next_pairs(1, None, "best", 1)
    assert set(table.loc[0, ["a", "b"]]) == {"0", "1"}


def test_ties_are_an_outcome():
    table = draws_of(WORTHS, nu=np.full(6, 0.5)).next_pairs(1, ["0", "1"], "everything", 1)
    first, second = WORTHS[:, 0], WORTHS[:, 1]
    tie = 0.5 * np.sqrt(first * second)
    total = first + second + tie
    assert table.loc[0, ["p_a", "p_tie"]].tolist() == pytest.approx(
        [(first / total).mean(), (tie / total).mean()]
    )


@pytest.mark.fit
def test_pairs_of_a_model_are_those_of_its_draws():
    data = th.PairedComparisons([[0, 9, 5], [1, 0, 0], [5, 0, 0]], labels=["tea", "milk", "beer"])
    model = th.BradleyTerryLuce().fit(data, draws=50, random_seed=1, progressbar=False)
    table = model.next_pairs(9)
    pairs = list(zip(table["a"], table["b"], strict=True))
    assert len(pairs) == 3 and (table["information"] >= 0.0).all()
    assert table["p_a"].to_numpy() == pytest.approx(model.predict_proba(pairs))
    assert model.next_pairs(1, among=["milk", "beer"])[["a", "b"]].to_numpy().tolist() == [
        ["milk", "beer"]
    ]
    assert model.next_pairs(2, goal="ranks").equals(model.next_pairs(2, goal="ranks"))
    for arguments, facts in (
        ({"goal": "worst"}, ("goal", "'everything', 'ranks', 'best'", "got 'worst'")),
        ({"among": ["tea"]}, ("2 different", "available: 1")),
        ({"among": "tea"}, ("among", "got 'tea'")),
        ({"among": ["tea", "mlik"]}, ("among", "'mlik'", "'milk'")),
        ({"n": 0}, ("`n` must", "be an integer")),
    ):
        with refused(ArgumentError, *facts):
            model.next_pairs(**arguments)
