"""What must hold after every sweep: bookkeeping, possible choices, preferences that rise; and room
that grows."""

import math

import numpy as np
import pytest
from helpers.naive import product_classes as naive
from helpers.product_class_cases import (
    TP1,
    TP3,
    possible_state,
    random_experiment,
    unpacked,
    worst_to_best,
)
from helpers.product_class_joint import average
from scipy.special import digamma, polygamma

from thali._choice.product_classes.likelihood import log_likelihood, write_hits
from thali._choice.product_classes.state import (
    ACTIVE,
    CLASS,
    CLASSES,
    FEW_PROPOSALS,
    FIRST,
    HOLES,
    LAST_OWNED,
    LAST_OWNER,
    MANY_PROPOSALS,
    MUTE,
    NEGATIVE,
    NEXT_OWNED,
    NEXT_OWNER,
    ORDERED,
    OWNERS,
    PERSON,
    PRESENT,
    SIGN,
    SPLIT,
    SWEEPS,
    TOP,
    VALUES,
    build_class_problem,
    build_empty_state,
    build_target,
    build_workspace,
    copy_state,
    double_capacity,
)
from thali._choice.product_classes.sweep import (
    draw_state,
    rescale_values,
    reserve_proposals,
    run_add_respondents,
    run_reset_state,
    sweep_state,
    update_respondent,
)

DATA = random_experiment(31, [4, 3, 3, 2], [5] * 8, missing=[0.05, 0.0, 0.0, 0.05])
MIXED = {"x0": "increasing", "x2": "decreasing"}


def check_state(problem, state):
    """Everything that is stored twice agrees."""
    features, classes = state.features, state.classes
    slots, top = features.slots, state.whole[TOP]
    lams, people = unpacked(problem, state)
    used = [f for f in range(top) if slots[f, PERSON] >= 0]
    assert top - len(used) == state.whole[HOLES]
    assert sum(map(len, people)) == len(used)
    for n, own in enumerate(people):
        assert len(own) == features.respondents[n, 1] == len({x.k for x in own})
    for k, lam in enumerate(lams):
        mine = [f for f in used if slots[f, CLASS] == k]
        assert len(mine) == classes[k, OWNERS] > 0
        assert sum(slots[f, SIGN] for f in mine) == classes[k, NEGATIVE]
        active = [i for i, s in enumerate(lam.sets) if s is not None]
        ordered = [i for i in active if problem.direction[i] != 0]
        assert len(active) == classes[k, ACTIVE] > 0 and len(ordered) == classes[k, ORDERED]
        assert (lam.polarity >= 0) == bool(ordered)
        assert lam.polarity < 0 or classes[k, NEGATIVE] == lam.polarity * len(mine)
        for i in active:
            levels, size = lam.sets[i], problem.n_levels[i]
            assert 0 < len(levels) < size
            if i in ordered:
                assert levels == set(
                    range(size - len(levels), size) if lam.polarity == 0 else range(len(levels))
                )
        listed, before, f = [], -1, classes[k, FIRST]
        while f >= 0:
            assert slots[f, LAST_OWNER] == before
            listed.append(f)
            before, f = f, slots[f, NEXT_OWNER]
        assert sorted(listed) == mine
    for f in used:
        n, lam = slots[f, PERSON], lams[slots[f, CLASS]]
        after = slots[f, NEXT_OWNED]
        assert after < 0 or slots[after, LAST_OWNED] == f
        inside = [
            [naive.contains(lam, worst_to_best(problem, x)) for x in task]
            for task, _ in list_tasks(problem, n)
        ]
        difference = [int(row[c]) - int(x) for row, c in zip(inside, list_chosen(problem, n), strict=True)
                      for j, x in enumerate(row) if j != c]  # fmt: skip
        assert features.difference[f, : len(difference)].tolist() == difference
        separates = [len(set(row)) > 1 for row in inside]
        assert features.separates[f, : len(separates)].tolist() == separates
        assert slots[f, SPLIT] == sum(separates) and slots[f, MUTE] == 0
        np.testing.assert_allclose(features.theta[f], np.exp(features.log_theta[f]), rtol=1e-9)
        values = np.exp(features.log_theta[f]) + np.exp(features.log_eps[f, : len(separates)])
        np.testing.assert_allclose(
            features.value[f, : len(separates)][separates], values[separates], rtol=1e-9
        )


def list_tasks(problem, n):
    return DATA.people[n]


def list_chosen(problem, n):
    return [chosen for _, chosen in DATA.people[n]]


@pytest.mark.parametrize("proposals", [FEW_PROPOSALS, MANY_PROPOSALS])
def test_books_are_kept_after_every_sweep(proposals):
    problem = build_class_problem(DATA, MIXED, beta=1.5)._replace(proposals=np.array(proposals))
    target = build_target(problem, 0.1)
    rng = np.random.default_rng(32)
    state = draw_state(rng, problem)
    check_state(problem, state)
    work = build_workspace(problem, state)
    for _ in range(40):
        state, work = sweep_state(rng, problem, target, state, work, 1)
        check_state(problem, state)
    assert state.whole[SWEEPS] == 40 and state.whole[PRESENT] == 8
    assert (state.counts[: VALUES + 1, 1] > 0).all()


@pytest.mark.first(1)
@pytest.mark.parametrize(
    ("data", "monotone", "alpha"),
    [(TP1, {"x0": "increasing"}, 2.0), (TP3, {"x0": "increasing", "x1": "increasing"}, 2.0)],
)
def test_without_a_lapse_every_choice_stays_possible(data, monotone, alpha):
    """After every sweep, in every task: catches an ε that is not drawn between its bounds."""
    problem = build_class_problem(data, monotone, alpha)
    target, rng, hits = build_target(problem), np.random.default_rng(33), np.zeros(problem.n_tasks)
    for _ in range(60):
        state = possible_state(rng, problem, target, 2)
        for _ in range(40):
            _, state = average(rng, problem, target, state, iterations=1)
            write_hits(problem, state, build_workspace(problem, state), hits)
            assert (hits > 0).all()


def test_a_dominated_choice_leaves_ties_alone():
    """The second person of TP3 chose (1, 0) over (2, 0): all classes owned contain both or
    neither."""
    problem = build_class_problem(TP3, {"x0": "increasing", "x1": "increasing"}, 2.0, 2.0)
    target, rng, owned = build_target(problem), np.random.default_rng(34), 0
    for _ in range(200):
        state = possible_state(rng, problem, target, 2)
        _, state = average(rng, problem, target, state, iterations=5)
        classes, people = unpacked(problem, state)
        for feature in people[1]:
            owned += 1
            lam = classes[feature.k]
            assert naive.contains(lam, (1, 0)) == naive.contains(lam, (2, 0))
    assert owned > 50


def count_violations(monotone, seed):
    """How often a product that is better in one attribute has a class less to its credit, over
    sweeps and pairs."""
    problem = build_class_problem(DATA, monotone, alpha=3.0)
    ordered = build_class_problem(DATA, MIXED).direction
    rng = np.random.default_rng(seed)
    state, found, compared = draw_state(rng, problem), 0, 0
    work, target = build_workspace(problem, state), build_target(problem, 0.05)
    for _ in range(60):
        state, work = sweep_state(rng, problem, target, state, work, 3)
        classes, people = unpacked(problem, state)
        for own in people:
            for _ in range(10):
                worse = rng.integers(problem.n_levels)
                i = rng.choice(np.flatnonzero(ordered))
                worse[i] = rng.integers(problem.n_levels[i] - 1)
                better = worse.copy()
                better[i] = rng.integers(worse[i] + 1, problem.n_levels[i])
                compared += 1
                for feature in own:
                    gained = int(naive.contains(classes[feature.k], better))
                    gained -= int(naive.contains(classes[feature.k], worse))
                    found += gained * (1 - 2 * feature.sign) < 0
    return found, compared


def test_preferences_rise_in_monotone_attributes():
    found, compared = count_violations(MIXED, 35)
    assert found == 0 and compared == 4800


def test_preferences_need_not_rise_in_free_attributes():
    found, compared = count_violations({}, 35)
    assert found > 0.05 * compared


def test_room_grows_when_it_is_needed_and_draws_stay_the_same():
    problem = build_class_problem(DATA, MIXED, alpha=6.0)
    target = build_target(problem, 0.1)
    ends = []
    for classes, slots in ((1, 1), (256, 2048)):
        rng = np.random.default_rng(36)
        state = build_empty_state(problem, classes, slots)
        run_reset_state(rng, problem, state, True)
        while not run_add_respondents(rng, problem, state, 8):
            state = double_capacity(state)
        state, work = sweep_state(rng, problem, target, state, build_workspace(problem, state), 30)
        ends.append(
            (
                log_likelihood(problem, target, state, work),
                state.real.tolist(),
                state.whole[CLASSES],
            )
        )
    assert ends[0] == ends[1]


def test_sweeps_may_be_asked_for_in_parts_and_a_copy_goes_on_alike():
    problem = build_class_problem(DATA, MIXED)
    target = build_target(problem, 0.05)
    ends = []
    for parts in ([12], [5, 7]):
        rng = np.random.default_rng(37)
        state = draw_state(rng, problem)
        work = build_workspace(problem, state)
        for sweeps in parts:
            state, work = sweep_state(rng, problem, target, copy_state(state), work, sweeps)
        ends.append((log_likelihood(problem, target, state, work), *state.real.tolist()))
    assert ends[0] == ends[1]


def test_the_entry_point_does_what_the_tested_chain_does():
    problem = build_class_problem(DATA, MIXED)
    target = build_target(problem, 0.05)
    ends = []
    for via_chain in (True, False):
        rng = np.random.default_rng(38)
        state = draw_state(rng, problem)
        if via_chain:
            _, state = average(rng, problem, target, state, iterations=9)
        else:
            state, _ = sweep_state(rng, problem, target, state, build_workspace(problem, state), 9)
        ends.append(state.real.tolist())
    assert ends[0] == ends[1]


def test_visits_of_one_person_leave_the_others_values_alone():
    problem = build_class_problem(DATA, MIXED, alpha=3.0)
    target = build_target(problem, 0.05)
    rng = np.random.default_rng(39)
    state = draw_state(rng, problem, n_people=5)
    before = [[x.log_theta for x in own] for own in unpacked(problem, state)[1]]
    work = build_workspace(problem, state)
    for _ in range(6):
        assert reserve_proposals(rng, problem, state)
        update_respondent(rng, problem, target, state, work, 4)
    after = [[x.log_theta for x in own] for own in unpacked(problem, state)[1]]
    assert before[:4] == after[:4] and before[4] != after[4] and len(after) == 5


def test_the_sum_of_a_persons_values_is_drawn_from_its_prior():
    """A gamma variable whose shape counts θ of classes owned, and ε where products are
    separated."""
    problem = build_class_problem(DATA, MIXED, alpha=3.0)
    rng = np.random.default_rng(40)
    state = draw_state(rng, problem)
    n = int(np.argmax([len(own) > 1 for own in unpacked(problem, state)[1]]))
    slots = np.flatnonzero(state.features.slots[: state.whole[TOP], PERSON] == n)
    tasks = len(list_tasks(problem, n))
    separates = state.features.separates[slots, :tasks] != 0
    assert len(slots) > 1 and 0 < separates.sum() < separates.size
    a, sigma = 1.4, 0.3
    state.real[:2] = a, sigma

    def values():
        f = state.features
        return np.concatenate([f.log_theta[slots], f.log_eps[slots, :tasks][separates]])

    shape = len(slots) * sigma * a + separates.sum() * (1 - sigma) * a
    before, logs = values(), []
    for _ in range(2000):
        rescale_values(rng, problem, state, n)
        logs.append(np.logaddexp.reduce(values()))
    after = values()
    np.testing.assert_allclose(after - after[0], before - before[0], rtol=0.0, atol=1e-9)
    error = math.sqrt(polygamma(1, shape) / len(logs))
    assert abs(np.mean(logs) - digamma(shape)) < 4 * error
    np.testing.assert_allclose(state.features.theta[slots], np.exp(after[: len(slots)]), rtol=1e-9)
