"""Posterior draws of class worths and memberships, with aligned class numbers."""

from typing import NamedTuple

import numpy as np

from thali._posterior.posterior_tree import Posterior, flatten_chains

from ..people.respondent_draws import MAX_NEW, MIN_NEW, NEW_RESPONDENTS, RespondentDraws
from ..worth_draws import WorthDraws
from .respondent_results import align_members, aligned_class_probabilities

_SEED = 1


class WorthClassDraws(NamedTuple):
    """Draws of worths, sizes and memberships of latent classes, with aligned numbers."""

    respondents: tuple[str, ...]
    class_of: np.ndarray  # (draws, respondents)
    worths: np.ndarray  # (draws, classes, options) log worths
    shares: np.ndarray  # (draws, classes) the probability that a new respondent is in each


def read_class_draws(posterior: Posterior) -> WorthClassDraws:
    """Read the draws of latent classes from a posterior."""
    class_worths = flatten_chains(posterior.latent["kind_log_worth"].values)
    class_order = posterior.class_order
    return WorthClassDraws(
        tuple(posterior.respondents),
        align_members(posterior),
        np.take_along_axis(class_worths, class_order[:, :, None], axis=1),
        aligned_class_probabilities(posterior),
    )


def read_respondent_draws(posterior: Posterior) -> RespondentDraws:
    """Read each respondent's worths: the worths of the respondent's class."""
    class_worths_and_members = posterior.latent["kind_log_worth"].values, posterior.members
    worths = np.take_along_axis(
        flatten_chains(class_worths_and_members[0]),
        class_worths_and_members[1][:, :, None].astype(int),
        axis=1,
    )
    n_draws, _, n = worths.shape
    mean = np.zeros((n_draws, 1, n))
    loadings = np.zeros((n_draws, 0, n))
    people = tuple(posterior.respondents)
    return RespondentDraws(people, worths, mean, loadings, np.zeros(n_draws), None)


def stack_classes(
    worths: WorthDraws, class_draws: WorthClassDraws
) -> tuple[WorthDraws, np.ndarray]:
    """Stack the worths of all classes as draws, weighted by log class sizes.

    The weights are class shares and average 1.
    """
    n_draws, n_classes, n = class_draws.worths.shape
    repeated_draws = worths.take(np.repeat(np.arange(n_draws), n_classes))
    stacked_draws = repeated_draws._replace(log_worths=class_draws.worths.reshape(-1, n))
    return stacked_draws, np.log(n_classes * class_draws.shares).ravel()


def draw_new_respondents(worths: WorthDraws, class_draws: WorthClassDraws) -> WorthDraws:
    """Draw log worths of new respondents, with classes in proportion to their shares.

    Each draw has several in turn, from each class in proportion to its share, rounded at random.
    """
    n_draws = len(class_draws.shares)
    n_new = int(np.clip(NEW_RESPONDENTS // n_draws, MIN_NEW, MAX_NEW))
    positions = np.arange(n_new) + np.random.default_rng(_SEED).random((n_draws, 1))
    class_ends = n_new * class_draws.shares.cumsum(axis=1)[:, :-1]
    class_of = (positions[:, :, None] >= class_ends[:, None, :]).sum(axis=2)
    repeated_draws = worths.take(np.repeat(np.arange(n_draws), n_new))
    log_worths = np.take_along_axis(class_draws.worths, class_of[:, :, None], axis=1)
    return repeated_draws._replace(log_worths=log_worths.reshape(-1, log_worths.shape[2]))
