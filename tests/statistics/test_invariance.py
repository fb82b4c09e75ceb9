"""Every discrete update leaves the posterior invariant: pi P = pi, over all outcomes of the real
code.

One table: data and where a state begins, and a move of it.
"""

from contextlib import contextmanager, nullcontext

import numpy as np
import pytest
from helpers.elimination_moves import (
    key,
    log_likelihood,
    start,
    state_key,
    target,
    target_of_births,
)
from helpers.phylogenetic_trees import pattern_by_pattern
from helpers.problems import FIXED_UNIQUE, random_comparisons, random_similarities, three_options
from helpers.set_problems import choices_of, random_choices
from helpers.triplet_problems import LINKS, MIXED, three_objects

import thali as th
import thali._aspects.moves.births_and_splits as births
import thali._aspects.moves.compensated_moves as mass_transfer
import thali._aspects.moves.joint_ownership as joint_rows
import thali._aspects.moves.owner_flips as flips
from thali._aspects.kernel_operations import open_members
from thali._aspects.likelihoods.similarity_residuals import VARIANCE
from thali._testing import exact
from thali.priors import FiniteFeatures, IndianBuffet, PhylogeneticBuffet

EXACT = 1e-12
MATRIX, FOUR_ROWS = [[1, 0], [1, 1], [0, 1]], [[1, 0], [1, 1], [0, 1], [0, 0]]
FIVE_ROWS = [[1, 1, 0], [1, 1, 0], [1, 0, 0], [1, 0, 1], [0, 0, 1]]
THREE_U, FOUR_U, FIVE_U = [0.5, 1.0, 0.8], [0.5, 1.0, 0.8, 0.9], [0.5, 1.0, 0.8, 0.2, 0.1]
# small unique weights keep the number of states that can be reached small
TINY_U = [0.05, 0.052, 0.06, 0.03]
LIGHT = {"weights": [0.3, 0.4]}
ROWS_OF_FOUR = dict(
    matrix=[[1, 0, 0], [1, 1, 1], [1, 1, 0], [0, 0, 1]], weights=[0.31, 0.43, 0.27], unique=TINY_U
)


@contextmanager
def blocks_of_two():
    """Draw memberships of two columns together meanwhile, so that three columns leave a choice."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(joint_rows, "BLOCK_COLUMNS", 2)
        patched.setattr(joint_rows, "STIFFNESS_START", 4)
        yield


def passed(rng, model, c, b):
    flips.flip_columns(rng, model, c, b)


def flip(k, i):
    """Of i in column k."""

    def move(rng, model, c, b):
        open_members(model.likelihood, c, b, k)
        flips.propose_flip(rng, model, c, b, k, i)

    return move


def skip(k):
    """What the buffet uses for more than twelve options."""
    return lambda rng, model, c, b: flips.flip_random_members(rng, model, c, b, k)


def together(i, but=None):
    """The memberships of object i in columns that are chosen by the owners but one, i itself unless
    told otherwise."""

    def move(rng, model, c, b):
        size = joint_rows.choose_overlapping_columns(rng, b, i if but is None else but)
        if size > 1:
            joint_rows.draw_object_memberships(rng, model, c, b, i, size)

    return move


def compensated_by_a_share(rng, model, c, b):
    mass_transfer.propose_partly_compensated_flip(rng, model, c, b, 0.4)


def error_of(begun, move, log_target=None):
    def step(rng, pair):
        move(rng, begun.model, pair[1], pair[0])

    return exact.invariance_error(step, begun.pair, key, log_target or target(begun))


THREE = three_options()
PAIR = th.PairedComparisons([[0, 3], [1, 0]])
TWO, FIVE = FiniteFeatures(2), FiniteFeatures(3)
COMPLETE = th.Similarities([[1, 0.8, 0.3], [0.8, 1, 0.45], [0.3, 0.45, 1]])
GAP = th.Similarities([[1, 0.8, np.nan], [0.8, 1, 0.45], [np.nan, 0.45, 1]])
JUDGED = th.Similarities(
    [[1, 0.8, 0.3], [0.8, 1, 0.45], [0.3, 0.45, 1]], judgements=[[0, 5, 1], [5, 0, 2], [1, 2, 0]]
)
SIMILARITIES = {"complete": COMPLETE, "gap": GAP, "judged": JUDGED}
OFFERED = choices_of({("0", "1", "2"): (3, 1, 2), ("0", "2"): (2, 1)}, list("012"))
OF_FOUR = random_choices(4, (2, 3, 4), 4, most=2)
OF_FIVE = random_choices(5, (2, 3, 4, 5), 7, most=2, kept=0.5)


def tree():
    return PhylogeneticBuffet(th.Tree.from_newick("((0:.3,1:.3):.7,2:1);"))


def of_three(**more):
    return dict(data=THREE, matrix=MATRIX, unique=THREE_U, kind=FIXED_UNIQUE, hi=3) | more


OF_FOUR_PAIRS = (
    dict(data=random_comparisons(4, seed=3), matrix=FOUR_ROWS, unique=FOUR_U, hi=3) | LIGHT
)
FIVE_WEIGHTS = [0.3, 0.9, 0.5]
UNIT = pytest.mark.unit
ON_TREE = {"matrix": [[1], [1], [0]], "weights": [0.7]}


def rows():
    """Name, where it begins, move, and marks if any."""
    both = [[1, 0], [0, 1]]
    compensated, row_block, transfer = (
        mass_transfer.propose_compensated_flip,
        mass_transfer.draw_row_block,
        births.propose_split_or_join,
    )
    # within the pass columns may have any number of owners from 1 to n
    of_pair = {"data": PAIR, "matrix": both, "unique": [0.5, 1.0], "kind": FIXED_UNIQUE, "hi": 2}
    yield "pairs, pass", of_pair, passed
    yield "pairs, pass, finite", of_pair | {"prior": TWO, "lo": 0}, passed, pytest.mark.long
    bare = {"data": PAIR, "matrix": both, "prior": TWO, "lo": 0, "hi": 2}
    yield "pairs, pass, finite, none unique", bare, passed, pytest.mark.long
    yield "pairs, geometric skipping 0", of_three(), skip(0)
    yield "pairs, geometric skipping 1", of_three(), skip(1), pytest.mark.long
    for name, prior in {"buffet": {}, "finite": {"prior": TWO, "lo": 0}}.items():
        for k, i in [(0, 0), (0, 2), (1, 1)]:
            yield f"pairs, flip {k} {i}, {name}", of_three(**prior), flip(k, i)
    yield "pairs, compensated", OF_FOUR_PAIRS | {"kind": FIXED_UNIQUE}, compensated
    yield "pairs, compensated, total", OF_FOUR_PAIRS | {"lo": 2}, compensated
    yield "pairs, compensated, finite", of_three(prior=TWO, lo=0, **LIGHT), compensated
    of_share = compensated_by_a_share
    yield "pairs, share, total", OF_FOUR_PAIRS | {"lo": 2}, of_share
    yield "pairs, share, tree", of_three(prior=tree(), **LIGHT), of_share
    yield (
        "pairs, row block",
        {"data": random_comparisons(4, seed=5), "lo": 2} | ROWS_OF_FOUR,
        row_block,
    )
    for_rows = {
        "matrix": [[1, 0, 0], [1, 0, 1], [0, 0, 1]],
        "weights": [0.31, 0.43, 0.27],
        "unique": [0.05, 0.052, 0.03],
    }
    three = {"data": random_comparisons(3, seed=5), "prior": FIVE, "lo": 0}
    yield "pairs, row block, finite", of_three(**three) | for_rows, row_block
    of_five = {"data": random_comparisons(5, seed=7), "matrix": FIVE_ROWS, "weights": FIVE_WEIGHTS}
    yield "pairs, transfer", of_five, transfer
    yield "pairs, transfer, total", of_five | {"unique": FIVE_U, "lo": 2}, transfer
    # columns may give up all of their owners and take over those of another
    matrix, four = (
        [[1, 1, 0], [1, 1, 0], [1, 0, 0], [0, 0, 0]],
        {"data": random_comparisons(4, seed=7), "prior": FIVE},
    )
    finite = dict(
        matrix=matrix, weights=[0.31, 0.93, 0.52], unique=[0.5, 1.0, 0.8, 0.2], lo=0, hi=4
    )
    yield "pairs, transfer, finite", four | finite | {"kind": FIXED_UNIQUE}, transfer
    for name, marks in {"tabled": (), "pattern by pattern": (pytest.mark.long,)}.items():
        yield f"pairs, pass, tree, {name}", of_three(prior=tree(), **ON_TREE), passed
        yield (
            f"pairs, compensated, tree, {name}",
            of_three(prior=tree(), **LIGHT),
            compensated,
            *marks,
        )
        yield f"pairs, row block, tree, {name}", of_three(prior=tree(), **LIGHT), row_block, *marks
        of_tree = of_three(prior=tree(), matrix=[[1, 1], [1, 0], [1, 0]], **LIGHT)
        yield f"pairs, transfer, tree, {name}", of_tree, transfer, *marks

    offered = dict(data=OFFERED, matrix=[[1], [0], [1]], weights=[0.7], unique=THREE_U, hi=3)
    yield "sets, pass", offered | {"kind": FIXED_UNIQUE}, passed, UNIT
    yield (
        "sets, pass, finite",
        offered | {"kind": FIXED_UNIQUE, "prior": TWO, "lo": 0},
        passed,
        UNIT,
    )
    yield "sets, compensated", OF_FOUR_PAIRS | {"data": OF_FOUR, "kind": FIXED_UNIQUE}, compensated
    yield "sets, compensated, total", OF_FOUR_PAIRS | {"data": OF_FOUR, "lo": 2}, compensated
    yield "sets, share, total", OF_FOUR_PAIRS | {"data": OF_FOUR, "lo": 2}, of_share
    yield "sets, row block", {"data": OF_FOUR, "lo": 2} | ROWS_OF_FOUR, row_block, UNIT
    of_sets = {"data": OF_FIVE, "matrix": FIVE_ROWS, "weights": FIVE_WEIGHTS, "unique": FIVE_U}
    yield "sets, transfer", of_sets | {"kind": FIXED_UNIQUE}, transfer, UNIT
    yield "sets, transfer, total", of_sets | {"lo": 2}, transfer, UNIT

    two = {"matrix": MATRIX, "weights": [0.31, 0.17]}
    one = {"matrix": [[1], [1], [0]], "weights": [0.31]}
    blocks = dict(matrix=[[1, 1, 0], [1, 1, 1], [0, 1, 1]], weights=[0.31, 0.17, 0.4], beta=0.3)
    for name, data in SIMILARITIES.items():
        yield f"similarities, pass, {name}", {"data": data} | one, passed
        for beta in (1.0, 0.2):
            for shape, rate in [(1.0, 10.0), (2.0, 4.0)]:
                settings = dict(
                    matrix=[[1, 1], [1, 1], [1, 0]], weights=[0.13, 0.38], shape=shape, rate=rate
                )
                yield (
                    f"similarities, transfer, {name}, {beta}, {shape}",
                    {"data": data, "beta": beta} | settings,
                    transfer,
                )
        yield f"similarities, together, {name}", {"data": data} | blocks, together(1)
    yield "similarities, pass of two", {"data": GAP} | two, passed
    pair = dict(
        data=th.Similarities([[1, 0.6], [0.6, 1]]), matrix=[[1, 1], [1, 0]], prior=TWO, lo=0
    )
    yield "similarities, pass, finite", two | pair, passed
    yield "similarities, pass, tree", {"data": GAP, "prior": tree()} | one, passed
    many = {
        "data": random_similarities(5, seed=7, missing=0.3),
        "matrix": FIVE_ROWS,
        "weights": [0.31, 0.93, 0.52],
    }
    yield "similarities, transfer of three", many | {"lo": 2}, transfer
    finite = {"data": GAP, "matrix": [[1, 1], [1, 0], [0, 0]], "prior": TWO, "lo": 0}
    yield "similarities, transfer, finite", two | finite, transfer
    yield "similarities, together, tree", {"data": GAP, "prior": tree()} | two, together(1)

    objects = three_objects(3, 1, 0)
    for link in LINKS:
        for beta in (1.0, 0.3):
            yield (
                f"triplets, pass, {link}, {beta}",
                {"data": objects, "link": link, "beta": beta} | ON_TREE,
                passed,
            )
        mixed = {"data": MIXED, "link": link, "matrix": FOUR_ROWS}
        for k, i in [(0, 0), (0, 3), (1, 1)]:
            yield f"triplets, flip {k} {i}, {link}", mixed, flip(k, i)
        yield (
            f"triplets, transfer, {link}",
            mixed | {"matrix": FIVE_ROWS[:4], "weights": FIVE_WEIGHTS},
            transfer,
        )
    finite = dict(
        data=MIXED, matrix=[[1, 1], [1, 0], [0, 0], [1, 0]], weights=[0.3, 0.9], prior=TWO, lo=0
    )
    yield "triplets, transfer, finite", finite, transfer


CASES = [pytest.param(case, move, id=name, marks=marks) for name, case, move, *marks in rows()]


@pytest.mark.first(40)
@pytest.mark.parametrize("case, move", CASES)
def test_each_move(case, move, request):
    name, way = request.node.name, nullcontext()
    if "pattern by pattern" in name:
        way = pattern_by_pattern()
    elif "together" in name and "tree" not in name:
        way = blocks_of_two()
    with way:
        assert error_of(start(**case), move) < EXACT


BIRTHS = {
    "pairs, total": {"data": THREE, "unique": THREE_U, "lo": 2, "rows": 4},
    "pairs, none unique": {"data": THREE, "rows": 3},
    "sets": {
        "data": choices_of(
            {("0", "1", "2"): (3, 1, 2), ("0", "1"): (2, 1), ("1", "2"): (1, 4)}, list("012")
        )
    }
    | {"unique": THREE_U, "lo": 2, "rows": 4},
    "triplets, exp": {"data": three_objects(2, 1, 0), "link": "exp", "lo": 2, "hi": 2, "rows": 3},
    "triplets, ratio": dict(data=three_objects(2, 1, 0), link="ratio", lo=2, hi=3, rows=3),
} | {
    f"similarities, {name}, {lo}": {"data": data, "lo": lo, "rate": 2.0, "rows": 3}
    for name, data in SIMILARITIES.items()
    for lo in (1, 2)
}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=UNIT if name == "sets" else ()) for name in BIRTHS]
)
def test_birth_and_death(name):
    """Every new weight is as large as the others; births beyond the room for columns are rejected,
    which restricts the posterior to that room."""
    at = start(**BIRTHS[name], matrix=np.zeros((3, 0)), weights=[])
    harmonic = IndianBuffet().compiled(3).harmonic
    rate = harmonic[at.model.hi] - harmonic[at.model.lo - 1]

    def step(rng, pair):
        births.propose_birth_or_death(rng, at.model, pair[1], pair[0], rate)

    assert (
        exact.invariance_error(step, at.pair, state_key, target_of_births(at), number=1.0) < EXACT
    )


# The check can fail.


def test_columns_of_a_single_owner_that_come_a_third_too_often_are_seen():
    at = start(**of_three())
    table = at.model.prior.log_rate + np.array([0.0, 0.3, 0.0, 0.0])
    wrong = at._replace(model=at.model._replace(prior=at.model.prior._replace(log_rate=table)))
    assert error_of(wrong, flip(0, 0), target(at)) > 1e-3


def test_another_lapse_of_triplets_is_seen():
    at = start(three_objects(3, 1, 0), **ON_TREE)
    wrong = at._replace(model=at.model._replace(likelihood=at.model.likelihood._replace(lapse=0.3)))
    assert error_of(wrong, passed, target(at)) > 1e-3


def test_pairs_that_count_twice_and_a_temperature_that_flips_forget_are_seen():
    at = start(COMPLETE, [[1], [1], [0]], [0.31])
    right = target(at)
    assert error_of(at, passed, lambda pair: right(pair) - 0.5 * log_likelihood(at, pair)) > 1e-3
    at.pair[1].real[VARIANCE] /= 2.0

    def log_target(pair):  # the variance of the data is as it was
        pair[1].real[VARIANCE] *= 2.0
        value = right(pair)
        pair[1].real[VARIANCE] /= 2.0
        return value

    assert error_of(at, passed, log_target) > 1e-3


def test_a_choice_of_columns_that_looks_at_what_is_drawn_is_seen():
    """Planted: the object itself counts among the owners by which columns are chosen."""
    at = start(COMPLETE, [[1, 0, 1], [1, 1, 0], [0, 1, 1]], [0.3, 0.2, 0.4])
    with blocks_of_two():
        assert error_of(at, together(0)) < EXACT
        assert error_of(at, together(0, but=2)) > 1e-6
