"""What an answer is expected to teach, against sums over all draws and answers, and what is asked
next."""

import dataclasses
import itertools
from functools import cache

import numpy as np
import pytest
from helpers.plain_python import run_as_python
from helpers.posterior_cases import chain, comparisons, model_of, tree_of
from helpers.sentences import refused

import thali as th
from thali.errors import ArgumentError

RUN = {"draws": 40, "tune": 20, "thin": 1, "chains": 2, "random_seed": 1, "progressbar": False}
PAIRS = th.PairedComparisons([[0, 9, 5], [1, 0, 0], [5, 0, 0]], labels=["tea", "milk", "beer"])


def entropy(p):
    p = np.asarray(p, float)
    return float(-(p[p > 0] * np.log(p[p > 0])).sum())


WORTHS = np.random.default_rng(3).gamma(1.0, size=(6, 4))  # of four options in six draws


def model_with(worths, copies=1, common=()):
    """A model whose draws are these, each so many times; options have an aspect of `common` at
    random."""
    drawn = chain(worths.shape[1], draws=copies * len(worths), mean_features=0.0, common=common)
    drawn = dataclasses.replace(drawn, unique_weights=np.tile(worths, (copies, 1)))
    return model_of(tree_of([drawn], comparisons(worths.shape[1]), lapse=0.0))


def probabilities(worths, question):
    """Of the answers to a question about some options, (draws, options)."""
    some = worths[:, [int(option) for option in question]]
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


@cache
def of_three():
    """A fit to the three options of `PAIRS`, whose kernel runs as Python."""
    with run_as_python():
        return th.EliminationByAspects("unique").fit(PAIRS, **RUN)


def asked(goal, size, copies):
    """The questions in the order in which they are asked, what each teaches then, and what it would
    teach alone."""
    model = model_with(WORTHS, copies)
    table = model.next_pairs(3, goal=goal) if size == 2 else model.next_sets(size, 3, goal=goal)
    questions = (
        list(zip(table["a"], table["b"], strict=True)) if size == 2 else list(table["members"])
    )
    return questions, table["information"].to_numpy(), table["alone"].to_numpy()


PAIRS_OF = np.array(list(itertools.combinations(range(4), 2)))
GOALS = {  # the labels of each draw that are to be learned
    "everything": [np.arange(6)],
    "best": [WORTHS.argmax(axis=1)],
    "ranks": list((WORTHS[:, PAIRS_OF[:, 0]] > WORTHS[:, PAIRS_OF[:, 1]]).T),
}


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("goal", GOALS)
def test_gains_are_those_of_the_joint_distribution(goal, size):
    """Without the correction for finitely many draws, of which twice the draws have half."""
    (questions, once, alone), (again, twice, alone_twice) = (
        asked(goal, size, copies) for copies in (100, 200)
    )
    assert questions == again
    once, alone = 2.0 * twice - once, 2.0 * alone_twice - alone
    parts = [probabilities(WORTHS, question) for question in questions]
    for count in (1, 2, 3):
        exact = sum(naive_information(parts, range(count), label) for label in GOALS[goal])
        assert once[:count].sum() == pytest.approx(exact, abs=1e-9)
        exact = sum(naive_information(parts, [count - 1], label) for label in GOALS[goal])
        assert alone[count - 1] == pytest.approx(exact, abs=1e-9)
    assert alone[0] == alone.max() == once[0]


@pytest.mark.fit
def test_answers_that_are_drawn_are_nearly_all_of_them():
    """Two to the eleventh combinations of them are too many to go through."""
    worths = np.random.default_rng(4).gamma(1.0, size=(200, 6))
    table, joint, before = model_with(worths, 20).next_pairs(12), np.ones((200, 1)), 0.0
    for pair, gain in zip(
        zip(table["a"], table["b"], strict=True), table["information"], strict=True
    ):
        joint = (joint[:, :, None] * probabilities(worths, pair)[:, None, :]).reshape(200, -1)
        known = entropy(joint.mean(axis=0)) - np.mean([entropy(each) for each in joint])
        assert gain == pytest.approx(known - before, rel=0.1, abs=0.01)
        before = known


@pytest.mark.long
@pytest.mark.fit  # for its time
def test_the_bias_of_few_draws_is_subtracted():
    """Whether others share an aspect has nothing to do with the answers: hardly anything is learned
    of it."""
    found, plain = [], []
    for seed in range(8):
        worths = np.random.default_rng(seed).gamma(1.0, size=(300, 7))
        model = model_with(worths, common=[(0, 1)])
        table = model.next_pairs(10, among=list("23456"), goal={"aspect": ["0", "1"]})
        has_aspect = (model.posterior_["posterior"]["n_features"].values[0] > 0).astype(int)
        found.append(table["alone"].mean())
        pairs = zip(table["a"], table["b"], strict=True)
        plain.append(
            np.mean(
                [
                    naive_information([probabilities(worths, pair)], [0], has_aspect)
                    for pair in pairs
                ]
            )
        )
    assert np.mean(found) < 0.6 * np.mean(plain)  # the gain of a question is no less than 0


@pytest.mark.first(1)
@pytest.mark.fit
@pytest.mark.parametrize("aspects", ["unique", "ibp"])
def test_pairs_that_are_asked_next(aspects, uncompiled):
    model = th.EliminationByAspects(aspects).fit(PAIRS, **RUN)
    for goal in ("everything", "ranks", "best", {"aspect": ["tea", "milk"], "similar": 0.5}):
        table = model.next_pairs(9, goal=goal)
        assert sorted(map(frozenset, zip(table["a"], table["b"], strict=True)), key=sorted) == [
            frozenset(pair) for pair in (("beer", "milk"), ("beer", "tea"), ("milk", "tea"))
        ]
        assert (table["information"] >= 0).all() and table.loc[0, "information"] == table.loc[
            0, "alone"
        ]
        asked = list(zip(table["a"], table["b"], strict=True))
        assert table["p_a"].to_numpy() == pytest.approx(model.predict_proba(asked))
    assert model.next_pairs(1, among=["milk", "beer"])[["a", "b"]].to_numpy().tolist() == [
        ["milk", "beer"]
    ]
    assert len(model.next_sets(3, 2)) == 1
    assert model.next_pairs(2, goal="ranks").equals(model.next_pairs(2, goal="ranks"))


@pytest.mark.fit
def test_the_best_option_is_found_by_questions_about_the_first_two(uncompiled):
    """Where the last two of four are as uncertain, and asking about them says nothing of the
    best."""
    counts = [[0, 3, 30, 30], [3, 0, 30, 30], [0, 0, 0, 3], [0, 0, 3, 0]]
    data = th.PairedComparisons(counts, labels=["tea", "milk", "beer", "rum"])
    model = th.EliminationByAspects("unique").fit(data, **RUN | {"draws": 100, "tune": 50})
    assert set(model.next_pairs(1, goal="best").loc[0, ["a", "b"]]) == {"tea", "milk"}


@pytest.mark.fit
def test_ties_are_an_outcome(uncompiled):
    model = th.EliminationByAspects("unique").fit(
        th.PairedComparisons([[0, 5], [3, 0]], ties=[[0, 4], [4, 0]]), **RUN
    )
    table, outcomes = model.next_pairs(), model.predict_outcomes([("0", "1")])
    assert table[["p_a", "p_tie"]].to_numpy() == pytest.approx(
        outcomes[["p_a", "p_tie"]].to_numpy()
    )


@pytest.mark.fit
@pytest.mark.parametrize("link", ["exp", "ratio"])
def test_triplets_that_are_asked_next(link, uncompiled):
    data = th.Triplets([("a", "b", "c"), ("a", "b", "d"), ("c", "d", "a")])
    model = th.AdditiveClustering(link=link).fit(data, **RUN)
    table = model.next_triplets(3)
    assert (
        set(table["objects"]) <= set(itertools.combinations("abcd", 3))
        and (table["information"] >= 0).all()
    )
    assert len(model.next_triplets(3, among=["a", "b", "d"], goal={"aspect": iter("ab")})) == 1
    with refused(ArgumentError, "goal", "'everything'", "'aspect'"):
        model.next_triplets(goal="best")


@pytest.mark.fit
@pytest.mark.parametrize(
    "asked, facts",
    [
        (
            {"goal": "worst"},
            ("goal", "'everything', 'ranks', 'best'", "{'aspect': [labels]}", "got 'worst'"),
        ),
        ({"goal": {"feature": ["tea"]}}, ("goal", "key 'aspect'")),
        ({"goal": {"aspect": "tea"}}, ("goal", "aspect", "got 'tea'")),
        ({"goal": {"aspect": []}}, ("goal", "aspect", "got []")),
        ({"goal": {"aspect": ["tee"]}}, ("goal", "'tee'", "'tea'?")),
        ({"among": ["tea"]}, ("2 different", "available: 1")),
        ({"among": "tea"}, ("among", "got 'tea'")),
        ({"n": 0}, ("`n` must", "be an integer")),
    ],
)
def test_what_cannot_be_asked_is_refused(asked, facts):
    model = of_three()
    with refused(ArgumentError, *facts):
        model.next_pairs(**asked)
    with refused(ArgumentError, "4 different"):
        model.next_sets(4)
