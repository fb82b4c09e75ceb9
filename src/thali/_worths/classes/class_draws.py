"""Posterior draws of class worths and memberships, with aligned class numbers."""

from typing import NamedTuple

import numpy as np

from thali._people.latent_class_results import align_members, aligned_class_probabilities
from thali._posterior.posterior_tree import Posterior, flatten_chains

from ..people.respondent_draws import MAX_NEW, MIN_NEW, NEW_RESPONDENTS, RespondentDraws
from ..worth_draws import WorthDraws

_SEED = 1


class WorthClassDraws(NamedTuple):
    """Draws of worths, sizes and memberships of latent classes, with aligned numbers."""

    respondents: tuple[str, ...]
    class_of: np.ndarray  # (draws, respondents)
    worths: np.ndarray  # (draws, classes, options) log worths
    shares: np.ndarray  # (draws, classes) the probability that a new respondent is in each


def read_class_draws(posterior: Posterior) -> WorthClassDraws:
    """Read the draws of latent classes from a posterior."""
    worths, order = flatten_chains(posterior.latent["kind_log_worth"].values), posterior.class_order
    return WorthClassDraws(
        tuple(posterior.respondents),
        align_members(posterior),
        np.take_along_axis(worths, order[:, :, None], axis=1),
        aligned_class_probabilities(posterior),
    )


def read_respondent_draws(posterior: Posterior) -> RespondentDraws:
    """Read worths of respondents: those of their class in each draw."""
    draws = posterior.latent["kind_log_worth"].values, posterior.members
    worths = np.take_along_axis(flatten_chains(draws[0]), draws[1][:, :, None].astype(int), axis=1)
    n_draws, _, n = worths.shape
    mean, loadings = np.zeros((n_draws, 1, n)), np.zeros((n_draws, 0, n))
    people = tuple(posterior.respondents)
    return RespondentDraws(people, worths, mean, loadings, np.zeros(n_draws), None)


def stack_classes(
    worths: WorthDraws, class_draws: WorthClassDraws
) -> tuple[WorthDraws, np.ndarray]:
    """Stack the worths of all classes as draws, with their log class sizes as weights.

    The weights are class shares and average 1.
    """
    n_draws, n_classes, n = class_draws.worths.shape
    repeated = worths.take(np.repeat(np.arange(n_draws), n_classes))
    stacked = repeated._replace(log_worths=class_draws.worths.reshape(-1, n))
    return stacked, np.log(n_classes * class_draws.shares).ravel()


def draw_new_respondents(worths: WorthDraws, class_draws: WorthClassDraws) -> WorthDraws:
    """Draw log worths of new respondents, whose classes follow the class shares.

    Each draw has several in turn, from each class in proportion to its share, rounded at random.
    """
    n_draws = len(class_draws.shares)
    count = int(np.clip(NEW_RESPONDENTS // n_draws, MIN_NEW, MAX_NEW))
    positions = np.arange(count) + np.random.default_rng(_SEED).random((n_draws, 1))
    ends = count * class_draws.shares.cumsum(axis=1)[:, :-1]
    class_of = (positions[:, :, None] >= ends[:, None, :]).sum(axis=2)
    repeated = worths.take(np.repeat(np.arange(n_draws), count))
    log_worths = np.take_along_axis(class_draws.worths, class_of[:, :, None], axis=1)
    return repeated._replace(log_worths=log_worths.reshape(-1, log_worths.shape[2]))
