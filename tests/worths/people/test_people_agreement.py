"""Draws of one table of best and worst against those of an independent sampler, a few lines of
NumPy."""

import math

import numpy as np
import pytest
from helpers.naive.worths_of_people import EFFECT_SD, compute_log_likelihood
from people_chains import run_chains
from people_problems import Study, build_study, list_answers, simulate_answers

from thali._posterior.summary_table import compute_mean_mcse

N_DRAWS = 4000  # of each of four chains
LIMIT = 5.0  # of 800 scores: a false alarm in 2,000 runs


class Trajectories:
    """Hamiltonian trajectories of several chains; a place is (m, b, e, log s, log sigma), flat.

    Log worths are u_pi = s m_i + b_i x_p / 2 + sigma e_pi, where m, b and e are standard normal.
    """

    def __init__(self, study: Study) -> None:
        self.study, (self.n_people, n) = study, (len(study.x), study.n_options)
        self.shape, self.size = (self.n_people, n), 2 * n + self.n_people * n + 2
        self.first, self.second = np.nonzero(~np.eye(study.orders.shape[1], dtype=bool))
        self.cell = study.person[:, None] * n + study.orders  # the worth of each member of a set

    def split(self, places: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return m, b, e, s, sigma and the log worths (chains, N, n) of places (chains, size)."""
        n = self.shape[1]
        m, b, e = (
            places[:, :n],
            places[:, n : 2 * n],
            places[:, 2 * n : -2].reshape(-1, *self.shape),
        )
        s, sigma = np.exp(places[:, -2:]).T
        worths = (
            (s[:, None] * m)[:, None]
            + EFFECT_SD * b[:, None] * self.study.x
            + sigma[:, None, None] * e
        )
        return m, b, e, s, sigma, worths

    def log_likelihood(self, worths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return log-likelihoods (chains,) and their slopes in the log worths (chains, N, n)."""
        n_chains, n_sets = len(worths), len(self.cell)
        members = worths.reshape(n_chains, -1)[:, self.cell]
        odds = np.exp(members[..., self.first] - members[..., self.second])
        p = odds / odds.sum(axis=2, keepdims=True)
        is_answer = (self.first == 0) & (self.second == 1)
        residual = is_answer - p
        slopes = np.zeros((n_chains, *self.shape)).reshape(n_chains, -1)
        for chain in range(n_chains):
            for cells, sign in ((self.first, 1.0), (self.second, -1.0)):
                weights = sign * residual[chain].ravel()
                slopes[chain] += np.bincount(self.cell[:, cells].ravel(), weights, slopes.shape[1])
        assert p.shape == (n_chains, n_sets, len(self.first))
        return np.log(p[..., is_answer]).sum(axis=(1, 2)), slopes.reshape(n_chains, *self.shape)

    def log_density(self, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return log densities (chains,) and slopes (chains, size)."""
        m, b, e, s, sigma, worths = self.split(places)
        value, slope = self.log_likelihood(worths)
        of_people = slope.sum(axis=1)
        of_scales = np.array(
            [s * (of_people * m).sum(axis=1), sigma * (slope * e).sum(axis=(1, 2))]
        ).T
        log_s, log_sigma = places[:, -2], places[:, -1]
        value += -0.5 * (places[:, :-2] ** 2).sum(axis=1) - 0.5 * (log_s - math.log(1.3)) ** 2
        value += log_sigma - 0.5 * sigma**2
        of_scales += np.array([math.log(1.3) - log_s, 1.0 - sigma**2]).T
        of_effects = EFFECT_SD * (slope * self.study.x).sum(axis=1)
        of_deviations = (sigma[:, None, None] * slope).reshape(len(places), -1)
        of_normals = np.hstack([s[:, None] * of_people, of_effects, of_deviations]) - places[:, :-2]
        return value, np.hstack([of_normals, of_scales])

    def run(self, rng: np.random.Generator, n_chains: int, draws: int, tune: int) -> np.ndarray:
        """Return places (chains, draws, size)."""
        places, log_step, kept = (
            0.3 * rng.normal(size=(n_chains, self.size)),
            np.full(n_chains, -2.0),
            [],
        )
        value, slope = self.log_density(places)
        for sweep in range(tune + draws):
            step = np.exp(log_step + 0.2 * rng.uniform(-1.0, 1.0))[:, None]
            new, new_slope, push = places, slope, rng.normal(size=places.shape)
            energy = 0.5 * (push**2).sum(axis=1) - value
            for _ in range(rng.integers(8, 20)):
                push = push + 0.5 * step * new_slope
                new = new + step * push
                new_value, new_slope = self.log_density(new)
                push = push + 0.5 * step * new_slope
            energy += new_value - 0.5 * (push**2).sum(axis=1)
            is_accepted = np.log(rng.random(n_chains)) < energy
            places = np.where(is_accepted[:, None], new, places)
            slope = np.where(is_accepted[:, None], new_slope, slope)
            value = np.where(is_accepted, new_value, value)
            if sweep < tune:
                log_step += (np.exp(np.minimum(energy, 0.0)) - 0.8) * (sweep + 1.0) ** -0.6
            else:
                kept.append(places)
        return np.stack(kept, axis=1)


def simulate_study() -> Study:
    """Simulate 30 people with spread 1, each with six sets of four out of eight items."""
    rng = np.random.default_rng(4)
    study = build_study(rng, "reversed", 30, 8, 6, 4, q=1)
    worths = (
        1.3 * rng.normal(size=8)
        + EFFECT_SD * study.x * rng.normal(size=8)
        + rng.normal(size=(30, 8))
    )
    return simulate_answers(rng, study, worths)


def test_slopes_of_the_other_sampler():
    study = simulate_study()
    trajectories = Trajectories(study)
    places = 0.5 * np.random.default_rng(5).normal(size=(2, trajectories.size))
    worths = trajectories.split(places)[-1]
    naive = [compute_log_likelihood(list_answers(study), each, "reversed") for each in worths]
    np.testing.assert_allclose(trajectories.log_likelihood(worths)[0], naive, rtol=1e-12)
    slope = trajectories.log_density(places)[1]
    for k in (0, 9, 20, -2, -1):
        step = np.zeros(trajectories.size)
        step[k] = 1e-5
        above, below = (trajectories.log_density(places + sign * step)[0] for sign in (1.0, -1.0))
        np.testing.assert_allclose((above - below) / 2e-5, slope[:, k], atol=1e-6)


@pytest.mark.long
@pytest.mark.fit
def test_agreement_with_another_sampler():
    """Means and standard deviations of all worths, effects and spreads agree within Monte Carlo
    error."""
    study = simulate_study()
    trajectories = Trajectories(study)
    places = trajectories.run(np.random.default_rng(6), 4, N_DRAWS, tune=1000).reshape(
        -1, trajectories.size
    )
    m, b, _, s, _, worths = trajectories.split(places)
    theirs = flatten(s[:, None] * centre(m), EFFECT_SD * centre(b), places[:, -2:], centre(worths))
    draws = run_chains(study, seed=7, draws=N_DRAWS, tune=600)
    logs = np.stack([draws.log_s, draws.log_sigma], axis=2)
    ours = flatten(centre(draws.population), logs, centre(draws.worths))
    middle = theirs.mean(axis=(0, 1))
    for power in (1, 2):
        one, two = (
            ((ours - middle) ** power).transpose(2, 0, 1),
            ((theirs - middle) ** power).transpose(2, 0, 1),
        )
        error = np.hypot(compute_mean_mcse(one), compute_mean_mcse(two))
        scores = (one.mean(axis=(1, 2)) - two.mean(axis=(1, 2))) / error
        print(
            f"power {power}: largest score {np.abs(scores).max():.2f},"
            f" {np.sqrt((scores**2).mean()):.2f} in the mean"
        )
        assert np.abs(scores).max() < LIMIT


def flatten(*values: np.ndarray) -> np.ndarray:
    """Return values of four chains side by side, (4, draws, all of a draw)."""
    return np.concatenate([each.reshape(4, N_DRAWS, -1) for each in values], axis=2)


def centre(values: np.ndarray) -> np.ndarray:
    """Subtract the mean over options."""
    return values - values.mean(axis=-1, keepdims=True)
