"""A model of picks: every option has a worth, and a pair is picked in proportion to the product of
its two worths.

P({i, j} | S) = u_i u_j / sum_{k < l in S} u_k u_l, log u_i ~ Normal(0, 1). The chains are random
walks of Metropolis.
"""

from typing import Any

import numpy as np

from thali._argument_checks import check_integer
from thali._data.questions import AnswerProbabilities
from thali._inference.random_seeds import spawn_generators
from thali._model.base import Job, SampledModel
from thali._model.predicted_answers import EqualRespondents, check_answers, predict_answers
from thali._model.predictive_check import select_draws
from thali._posterior.summary_table import compute_mean_errors

from .data import Picks

CHAINS, TUNE, STEP = 4, 200, 0.5


def answers_of(log_worth: np.ndarray, data: Picks) -> AnswerProbabilities:
    """Return the probabilities of the pairs of some sets, for worths (draws, options)."""

    def of_questions(some: slice) -> np.ndarray:
        start = data.start[some.start : some.stop + 1]
        places = slice(start[0], start[-1])
        value = np.exp(log_worth[:, data.first[places]] + log_worth[:, data.second[places]])
        return value / np.repeat(
            np.add.reduceat(value, start[:-1] - start[0], axis=1), np.diff(start), axis=1
        )

    return of_questions


class PickedWorths(SampledModel):
    """The worth of each option."""

    data_: Picks

    def __init__(self) -> None:  # which stores its arguments, and does nothing else
        return

    def fit(self, data: Picks, draws: int = 1000, random_seed: Any = None) -> "PickedWorths":
        """Check all arguments and data, make a `Job`, and have it carried out."""
        draws, rngs = check_integer("draws", draws, 1), spawn_generators(random_seed, CHAINS)

        def work() -> dict[str, Any]:
            log_worth = np.stack([_chain(data, draws, rng) for rng in rngs])
            return {"posterior_": _tree(data, log_worth), "_interrupted_": False, "data_": data}

        return self._run_job(Job(work, draws=draws, data=str(data)))

    def _get_quantities(self) -> dict[str, np.ndarray]:
        """The rows of `summary`, as arrays (chain, draw)."""
        worth = self._require_posterior()["posterior"]["log_worth"]
        return {
            f"log_worth[{each}]": worth.sel(option=each).values for each in worth["option"].values
        }

    def check(self, random_seed: Any = None, ci: float = 0.89) -> Any:
        """Hold how often each pair was picked against replicates of the model."""
        asked, worths = self.data_.questions(), self._worths()
        worths = worths[select_draws(len(worths), len(asked.counts))]
        people = [
            EqualRespondents(answers_of(worths, self.data_), lambda some: asked.times[some, None])
        ]
        return check_answers(asked, people, len(worths), random_seed, ci)

    def predictions(self, ci: float = 0.89) -> Any:
        """Return how often each pair was picked, with what the model predicts."""
        asked, worths = self.data_.questions(), self._worths()
        people = [
            EqualRespondents(answers_of(worths, self.data_), lambda some: asked.times[some, None])
        ]
        return predict_answers(asked, people, len(worths), ci)

    def predict_proba(self, data: Picks, return_se: bool = False) -> Any:
        """Return the posterior mean probability of each pair of each set, and its Monte Carlo error
        if wanted."""
        draws, asked = (
            answers_of(self._worths(), data)(slice(0, len(data.start) - 1)),
            data.questions(),
        )
        found = np.split(draws.mean(axis=0), asked.start[1:-1])
        errors = compute_mean_errors(draws.T.reshape(len(asked.counts), CHAINS, -1))
        return (found, np.split(errors, asked.start[1:-1])) if return_se else found

    def _worths(self) -> np.ndarray:
        """Logarithms of worths, one draw after another (draws, options)."""
        worth = self._require_posterior()["posterior"]["log_worth"].values
        return worth.reshape(-1, worth.shape[-1])


def _chain(data: Picks, draws: int, rng: np.random.Generator) -> np.ndarray:
    """Return draws of the logarithms of the worths (draws, options)."""
    asked, n = data.questions(), len(data.labels)

    def log_density(at: np.ndarray) -> float:
        p = answers_of(at[None], data)(slice(0, len(asked.sizes)))
        return float(asked.log_likelihoods(p).sum() - 0.5 * at @ at)

    at, kept = np.zeros(n), []
    here = log_density(at)
    for _ in range(TUNE + draws):
        for option in range(n):
            proposed = at + STEP * rng.standard_normal() * (np.arange(n) == option)
            there = log_density(proposed)
            if np.log(rng.random()) < there - here:
                at, here = proposed, there
        # about which the answers say nothing
        at = at - at.mean() + rng.standard_normal() / np.sqrt(n)
        here = log_density(at)
        kept.append(at)
    return np.array(kept[TUNE:])


def _tree(data: Picks, log_worth: np.ndarray) -> Any:
    """The posterior in the ArviZ schema."""
    import xarray

    from thali._posterior.datatree_files import build_tree, describe_origin

    dims = ("chain", "draw", "option")
    posterior = xarray.Dataset({"log_worth": (dims, log_worth)}, {"option": list(data.labels)})
    observed = xarray.Dataset({"picked": ("place", data.counts)})
    return build_tree({"posterior": posterior, "observed_data": observed}, describe_origin())
