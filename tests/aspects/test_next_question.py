"""What an answer is expected to teach, against sums over all draws and answers, and what is asked next."""

import itertools

import numpy as np
import pytest
from helpers.sentences import refused

import thali as th
from thali._aspects.answers.next_question import Outcomes, Target, choose, gains
from thali.errors import ArgumentError

RUN = {"draws": 40, "tune": 20, "thin": 1, "chains": 2, "random_seed": 1, "progressbar": False}
PAIRS = th.PairedComparisons([[0, 9, 5], [1, 0, 0], [5, 0, 0]], labels=["tea", "milk", "beer"])


def entropy(p):
    p = np.asarray(p, float)
    return float(-(p[p > 0] * np.log(p[p > 0])).sum())


def made(draws=6, sizes=(2, 3, 2, 2), seed=3):
    """Questions of several sizes, the probabilities of whose outcomes sum to 1 in each draw."""
    rng = np.random.default_rng(seed)
    parts = [rng.dirichlet(np.ones(size), draws) for size in sizes]
    return Outcomes(np.hstack(parts), np.concatenate([[0], np.cumsum(sizes)])), parts


def naive_information(parts, questions, label):
    """I(answers to the questions; label of the draw), by the joint distribution of draw and answers, uncorrected."""
    draws = len(parts[0])
    joint = {}
    for draw in range(draws):
        for answers in itertools.product(*(range(parts[q].shape[1]) for q in questions)):
            chance = np.prod([parts[q][draw, a] for q, a in zip(questions, answers, strict=True)]) / draws
            joint[label[draw], answers] = joint.get((label[draw], answers), 0.0) + chance
    by_label, by_answer = {}, {}
    for (value, answers), chance in joint.items():
        by_label[value] = by_label.get(value, 0.0) + chance
        by_answer[answers] = by_answer.get(answers, 0.0) + chance
    return entropy(list(by_label.values())) + entropy(list(by_answer.values())) - entropy(list(joint.values()))


def uncorrected(compute, outcomes, target):
    """What is computed without the correction for finitely many draws, of which twice the draws have half."""
    twice = outcomes._replace(probabilities=np.tile(outcomes.probabilities, (2, 1)))
    both = target if target.values is None else target._replace(values=np.tile(target.values, 2))
    return 2.0 * compute(twice, both) - compute(outcomes, target)


def gains_of_first(outcomes, target):
    """Of each question, before any answer."""
    draws = len(outcomes.probabilities)
    return gains(outcomes, target, np.full((1, draws), 1 / draws), np.ones(1))


def targets(draws):
    """What can be learned, and the label of each draw that it is about: of several variables several."""
    best, order = np.array([0, 1, 1, 0, 2, 2])[:draws], np.array([[0, 1, 1, 1, 0, 0], [1, 1, 0, 0, 0, 1]])[:, :draws]
    yield Target(), [np.arange(draws)]
    yield Target(best == np.unique(best)[:, None]), [best]
    yield Target(np.concatenate([order == 1, order == 0]), 2, 6), list(order)


def test_gains_are_those_of_the_joint_distribution():
    outcomes, parts = made()
    for target, labels in targets(6):
        found = uncorrected(gains_of_first, outcomes, target)
        for q in range(4):
            exact = sum(naive_information(parts, [q], label) for label in labels) * target.of / target.variables
            assert found[q] == pytest.approx(exact, abs=1e-12)


def test_no_question_is_named_twice_even_where_it_would_teach_more():
    outcomes = Outcomes(np.array([[0.8, 0.2, 0.51, 0.49], [0.2, 0.8, 0.49, 0.51]]), np.array([0, 2, 4]))
    many = outcomes._replace(probabilities=np.tile(outcomes.probabilities, (100_000, 1)))
    chosen = choose(many, Target(), 5, np.random.default_rng(0))
    assert chosen.questions.tolist() == [0, 1]
    parts = [outcomes.probabilities[:, :2]]
    once, again = (naive_information(parts, [0] * times, np.arange(2)) for times in (1, 2))
    assert again - once > 50 * chosen.gains[1]


def test_several_answers_teach_what_they_teach_together():
    outcomes, parts = made()
    few = outcomes._replace(probabilities=np.tile(outcomes.probabilities, (50, 1)))
    for target, labels in targets(6):
        some = target if target.values is None else target._replace(values=np.tile(target.values, 50))
        chosen = choose(few, some, 3, np.random.default_rng(0))
        found = uncorrected(lambda *given: choose(*given, 3, np.random.default_rng(0)).gains, few, some)
        for count in (1, 2, 3):
            questions = chosen.questions[:count]
            exact = sum(naive_information(parts, questions, label) for label in labels) * target.of / target.variables
            assert found[:count].sum() == pytest.approx(exact, abs=1e-9)
        alone = gains_of_first(few, some)
        assert chosen.alone == pytest.approx(alone[chosen.questions])
        assert chosen.questions[0] == alone.argmax()


def test_answers_that_are_drawn_are_nearly_all_of_them():
    """Two to the eleventh combinations of them are too many to go through."""
    outcomes, parts = made(200, (2,) * 12)
    many = outcomes._replace(probabilities=np.tile(outcomes.probabilities, (20, 1)))
    chosen, joint, before = choose(many, Target(), 12, np.random.default_rng(0)), np.ones((200, 1)), 0.0
    for number, question in enumerate(chosen.questions):
        joint = (joint[:, :, None] * parts[question][:, None, :]).reshape(200, -1)
        known = entropy(joint.mean(axis=0)) - np.mean([entropy(each) for each in joint])
        assert chosen.gains[number] == pytest.approx(known - before, rel=0.1)
        before = known


@pytest.mark.fit  # for its time
def test_the_bias_of_few_draws_is_subtracted():
    """The best of five options has nothing to do with the answers: nothing is learned of it on average."""
    found, plain = [], []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        outcomes, parts = made(300, (2,) * 10, seed)
        label = rng.integers(5, size=300)
        target = Target(label == np.arange(5)[:, None])
        found.append(gains(outcomes, target, np.full((1, 300), 1 / 300), np.ones(1)).mean())
        plain.append(np.mean([naive_information(parts, [q], label) for q in range(10)]))
    error = np.std(found) / np.sqrt(len(found))
    assert abs(np.mean(found)) < 4 * error < 0.2 * np.mean(plain)


@pytest.mark.fit
@pytest.mark.parametrize("aspects", ["unique", "ibp"])
def test_pairs_that_are_asked_next(aspects, uncompiled):
    model = th.EliminationByAspects(aspects).fit(PAIRS, **RUN)
    for goal in ("everything", "ranks", "best", {"aspect": ["tea", "milk"], "similar": 0.5}):
        table = model.next_pairs(9, goal=goal)
        assert sorted(map(frozenset, zip(table["a"], table["b"], strict=True)), key=sorted) == [
            frozenset(pair) for pair in (("beer", "milk"), ("beer", "tea"), ("milk", "tea"))
        ]
        assert (table["information"] >= 0).all() and table.loc[0, "information"] == table.loc[0, "alone"]
        asked = list(zip(table["a"], table["b"], strict=True))
        assert table["p_a"].to_numpy() == pytest.approx(model.predict_proba(asked))
    assert model.next_pairs(1, among=["milk", "beer"])[["a", "b"]].to_numpy().tolist() == [["milk", "beer"]]
    assert len(model.next_sets(3, 2)) == 1
    assert model.next_pairs(2, goal="ranks").equals(model.next_pairs(2, goal="ranks"))


@pytest.mark.fit
def test_the_best_option_is_found_by_questions_about_the_first_two(uncompiled):
    """Where the last two of four are as uncertain, and asking about them says nothing of the best."""
    counts = [[0, 3, 30, 30], [3, 0, 30, 30], [0, 0, 0, 3], [0, 0, 3, 0]]
    data = th.PairedComparisons(counts, labels=["tea", "milk", "beer", "rum"])
    model = th.EliminationByAspects("unique").fit(data, **RUN | {"draws": 200, "tune": 100})
    assert set(model.next_pairs(1, goal="best").loc[0, ["a", "b"]]) == {"tea", "milk"}


@pytest.mark.fit
def test_ties_are_an_outcome(uncompiled):
    model = th.EliminationByAspects("unique").fit(th.PairedComparisons([[0, 5], [3, 0]], ties=[[0, 4], [4, 0]]), **RUN)
    table, outcomes = model.next_pairs(), model.predict_outcomes([("0", "1")])
    assert table[["p_a", "p_tie"]].to_numpy() == pytest.approx(outcomes[["p_a", "p_tie"]].to_numpy())


@pytest.mark.fit
@pytest.mark.parametrize("link", ["exp", "ratio"])
def test_triplets_that_are_asked_next(link, uncompiled):
    data = th.Triplets([("a", "b", "c"), ("a", "b", "d"), ("c", "d", "a")])
    model = th.AdditiveClustering(link=link).fit(data, **RUN)
    table = model.next_triplets(3)
    assert set(table["objects"]) <= set(itertools.combinations("abcd", 3)) and (table["information"] >= 0).all()
    assert len(model.next_triplets(3, among=["a", "b", "d"], goal={"aspect": ["a", "b"]})) == 1
    with refused(ArgumentError, "goal", "'everything'", "'aspect'"):
        model.next_triplets(goal="best")


@pytest.mark.fit
@pytest.mark.parametrize(
    "asked, facts",
    [
        ({"goal": "worst"}, ("goal", "'everything', 'ranks', 'best'", "{'aspect': [labels]}", "got 'worst'")),
        ({"goal": {"feature": ["tea"]}}, ("goal", "key 'aspect'")),
        ({"goal": {"aspect": "tea"}}, ("goal", "aspect", "got 'tea'")),
        ({"goal": {"aspect": []}}, ("goal", "aspect", "got []")),
        ({"goal": {"aspect": ["tee"]}}, ("goal", "'tee'", "'tea'?")),
        ({"among": ["tea"]}, ("2 different", "only 1")),
        ({"among": "tea"}, ("among", "got 'tea'")),
        ({"n": 0}, ("n must", "whole number")),
    ],
)
def test_what_cannot_be_asked_is_refused(asked, facts, uncompiled):
    model = th.EliminationByAspects("unique").fit(PAIRS, **RUN)
    with refused(ArgumentError, *facts):
        model.next_pairs(**asked)
    with refused(ArgumentError, "4 different"):
        model.next_sets(4)
