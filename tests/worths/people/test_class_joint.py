"""Joint-distribution tests of latent classes (Geweke 2004): sweeps in turn with new data leave the
prior of all variables."""

import math

import numpy as np
import pytest
from class_chains import WorthClassDraws, stack_class_records
from helpers.naive.worths_of_people import TIE_SD
from people_chains import standardise_half_normal
from people_problems import (
    Study,
    build_study,
    build_table,
    find_seen,
    index_members,
    simulate_answers,
)

from thali._worths.latent_classes.chain import WorthClassChain, list_all_options

pytestmark = pytest.mark.fit

ROUNDS, N_PEOPLE, N_CLASSES = 20, 5, 3
LIMIT = 5.0
CASES = {
    "pairs": ({"rule": "order", "set_size": 2, "n_sets": 3, "has_ties": True, "lapse": 0.1}, False),
    "rankings": ({"rule": "order", "set_size": 3, "n_sets": 1, "depth": 2}, True),
    "best and worst": ({"rule": "reversed", "set_size": 4, "n_sets": 1, "lapse": 0.1}, True),
}


def restart(rng: np.random.Generator, chain: WorthClassChain) -> None:
    """Draw the state of a chain from the prior."""
    state, memberships, n = chain.state, chain.memberships, chain.answers.n_options
    s = 1.3 * math.exp(rng.normal())
    mean, sigma = np.zeros(n), s
    if chain.settings.is_similar:
        mean, sigma = s * rng.normal(size=n), abs(rng.normal())
    worths = mean + sigma * rng.normal(size=(N_CLASSES, n))
    state.mean[:], state.log_sds[:2] = mean, np.log([s, sigma])
    state.u[:] = (worths - worths.mean(axis=1, keepdims=True)).ravel()
    state.nu[:] = math.exp(TIE_SD * rng.normal()) if chain.answers.has_ties else 1.0
    shares = rng.dirichlet(np.ones(N_CLASSES))
    memberships.class_of[:] = rng.choice(N_CLASSES, N_PEOPLE, p=shares)
    memberships.size[:] = np.bincount(memberships.class_of, minlength=N_CLASSES)


def simulate(rng: np.random.Generator, study: Study, chain: WorthClassChain) -> None:
    """Write new answers of the respondents at the state of a chain."""
    worths = chain.state.u.reshape(N_CLASSES, -1)[chain.memberships.class_of]
    new = simulate_answers(rng, study, worths, float(np.log(chain.state.nu[0])))
    seen, person = find_seen(new), np.repeat(new.person, new.depth)
    member = [seen[p][places] for p, places in zip(person, index_members(new), strict=True)]
    chain.answers.member[:] = np.concatenate(member)
    chain.table.member[:] = np.tile(chain.answers.member, N_CLASSES)
    if new.is_tie is not None:
        chain.answers.tied[:] = new.is_tie
        chain.table.tied[:] = np.tile(new.is_tie, N_CLASSES)


def alternate(study: Study, is_similar: bool, n_blocks: int, seed: int) -> WorthClassDraws:
    """Return records (block, round, ...) of a chain of which the answers are simulated anew after
    every sweep; a block begins with variables of the prior."""
    rng, tune = np.random.default_rng(seed), 100
    people = list_all_options(build_table(study))
    chain = WorthClassChain(people, N_CLASSES, is_similar, None, n_blocks * ROUNDS, tune, 1, rng)
    chain.run_until(tune)
    for _ in range(n_blocks):
        restart(rng, chain)
        for _ in range(ROUNDS):
            simulate(rng, study, chain)
            chain.run_until(chain.sweeps + 1)
    found = stack_class_records([chain])
    return WorthClassDraws(*(each.reshape(n_blocks, ROUNDS, *each.shape[2:]) for each in found))


def list_scores(draws: WorthClassDraws, has_ties: bool, is_similar: bool) -> dict[str, np.ndarray]:
    """Return quantities with a mean of 0 under the prior, by name."""
    z, worths = draws.class_of, draws.of_people
    s2, sigma2 = np.exp(2.0 * draws.log_s), np.exp(2.0 * draws.log_sigma)
    within, between = (sigma2, s2) if is_similar else (s2, 0.0 * s2)
    first, second = (
        (worths[:, :, p, 0] - worths[:, :, p, 1]) / np.sqrt(2.0 * (within + between))
        for p in range(2)
    )
    same = z[..., 0] == z[..., 1]
    scores = {
        "s": draws.log_s - np.log(1.3),
        "first": first,
        "second": second,
        "same": same - 2.0 / (N_CLASSES + 1.0),
        "both": first * second - (between + same * within) / (within + between),
    }
    for name in ("s", "first", "second"):
        scores[f"{name}^2"] = scores[name] ** 2 - 1.0
        scores[f"{name} * same"] = scores[name] * scores["same"]
    if is_similar:
        scores["sigma"] = standardise_half_normal(np.exp(draws.log_sigma))
        scores["sigma^2"] = scores["sigma"] ** 2 - 1.0
    if has_ties:
        scores["tie"] = draws.log_tie / TIE_SD
        scores["tie^2"] = scores["tie"] ** 2 - 1.0
    return scores


@pytest.mark.first(1)
@pytest.mark.parametrize("n_blocks", [400, pytest.param(8000, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", CASES)
def test_prior_of_classes_is_kept(name, n_blocks):
    settings, is_similar = CASES[name]
    study = build_study(np.random.default_rng(1), n_people=N_PEOPLE, n_options=4, q=0, **settings)
    values = list_scores(alternate(study, is_similar, n_blocks, 2), study.has_ties, is_similar)
    scores = {}
    for key, rounds in values.items():
        means = rounds.mean(axis=1)
        scores[key] = float(means.mean() / means.std() * np.sqrt(n_blocks))
    off = {key: round(score, 1) for key, score in scores.items() if abs(score) > LIMIT}
    assert not off
