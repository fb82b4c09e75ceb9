"""Joint-distribution tests (Geweke 2004): sweeps in turn with new data leave the prior of all
variables."""

import numpy as np
import pytest
from people_chains import PeopleDraws, set_state, stack_records, standardise
from people_problems import (
    Study,
    build_study,
    build_table,
    draw_variables,
    replace_answers,
    simulate_answers,
)

from thali._worths.people.chain import PeopleChain
from thali._worths.people.sampler_moves import evaluate_people

pytestmark = pytest.mark.fit

ROUNDS = 20  # of a block
LIMIT = 5.0  # of 110 scores: a false alarm in 15,000 runs
CASES = {
    "pairs": dict(
        rule="order", set_size=2, n_sets=3, has_ties=True, lapse=0.1, q=0, n_directions=0
    ),
    "rankings": dict(rule="order", set_size=3, n_sets=1, depth=2, q=1, n_directions=2),
    "best and worst": dict(rule="reversed", set_size=4, n_sets=1, lapse=0.1, q=1, n_directions=0),
}


def alternate(study: Study, n_directions: int, n_blocks: int, seed: int) -> PeopleDraws:
    """Return records (block, round, ...) of a chain of which the answers are simulated anew after
    every sweep.

    A block begins with variables of the prior, so that its means depend on no other block.
    """
    rng, tune, sweep = np.random.default_rng(seed), 100, 0
    table = build_table(study)
    chain = PeopleChain(table, None, n_directions, n_blocks * ROUNDS, tune, 1, rng)
    chain.run_until(tune)
    for _ in range(n_blocks):
        variables = draw_variables(rng, study, n_directions)
        set_state(chain, variables)
        worths, log_nu = variables.worths, np.log(variables.nu or 1.0)
        for _ in range(ROUNDS):
            replace_answers(table, simulate_answers(rng, study, worths, log_nu))
            state = chain.state
            evaluate_people(table, state, state.u, state.log_likelihood, np.empty(state.u.size))
            chain.run_until(tune + sweep + 1)
            worths, log_nu = chain.record.worths[sweep].astype(float), chain.record.log_tie[sweep]
            sweep += 1
    return stack_records([chain], (n_blocks, ROUNDS))


def score_means(draws: PeopleDraws, study: Study) -> dict[str, float]:
    """Return (mean - expected) / standard error of all standardised quantities, their squares and
    products."""
    quantities = standardise(draws, study)
    values = dict(quantities)
    names = list(quantities)
    for k, name in enumerate(names):
        values[f"{name}^2"] = quantities[name] ** 2 - 1.0
        for other in names[:k]:
            values[f"{name} * {other}"] = quantities[name] * quantities[other]
    scores = {}
    for name, rounds in values.items():
        means = rounds.mean(axis=1)
        scores[name] = float(means.mean() / means.std() * np.sqrt(len(means)))
    return scores


@pytest.mark.parametrize("n_blocks", [200, pytest.param(4000, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", CASES)
def test_prior_is_kept(name, n_blocks):
    settings = dict(CASES[name])
    n_directions = settings.pop("n_directions")
    study = build_study(np.random.default_rng(1), n_people=4, n_options=4, **settings)
    scores = score_means(alternate(study, n_directions, n_blocks, seed=2), study)
    off = {name: round(score, 1) for name, score in scores.items() if abs(score) > LIMIT}
    assert not off
