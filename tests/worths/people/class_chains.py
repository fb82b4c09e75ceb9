"""Chains of latent classes without a model around them, and posterior means by enumeration."""

import itertools
import math
from typing import NamedTuple

import numpy as np
from people_problems import Study, build_table
from scipy.special import expit

from thali._worths.latent_classes.chain import WorthClassChain, list_all_options

LOG_SIGMA = np.arange(-8.0, 2.5, 0.1)
LOG_S = np.arange(math.log(1.3) - 4.6, math.log(1.3) + 4.7, 0.1)
DEVIATION = np.linspace(-6.0, 6.0, 121)  # of the difference of a class, in standard deviations
COMMON = np.linspace(-15.0, 15.0, 301)  # of the difference that classes vary around
N_CLASSES = 2


class WorthClassDraws(NamedTuple):
    """Records of chains, (chain, draw, ...)."""

    class_of: np.ndarray
    worths: np.ndarray
    log_s: np.ndarray
    log_sigma: np.ndarray
    log_tie: np.ndarray

    @property
    def of_people(self) -> np.ndarray:
        """Log worths of the class of each respondent (chain, draw, N, n)."""
        return np.take_along_axis(self.worths, self.class_of[..., None].astype(int), axis=2)


def stack_class_records(chains: list[WorthClassChain]) -> WorthClassDraws:
    """Return the records of chains."""
    class_of, worths, log_sds, log_tie = (
        np.stack([getattr(chain.record, name) for chain in chains])
        for name in ("class_of", "worths", "log_sds", "log_tie")
    )
    return WorthClassDraws(class_of, worths, log_sds[..., 0], log_sds[..., 1], log_tie)


def run_class_chains(
    study: Study, seed: int, is_similar: bool, draws: int, tune: int, are_known: bool = False
) -> WorthClassDraws:
    """Return draws of four chains that are run one after the other."""
    people = list_all_options(build_table(study))
    n_classes = len(people.x) if are_known else N_CLASSES
    chains = [
        WorthClassChain(people, n_classes, is_similar, None, draws, tune, 1, rng, are_known)
        for rng in np.random.default_rng(seed).spawn(4)
    ]
    for chain in chains:
        chain.run_until(chain.total)
    return stack_class_records(chains)


def enumerate_classes(
    counts: list[tuple[int, int]], is_similar: bool, are_known: bool = False
) -> dict[str, float]:
    """Return posterior means for respondents who compare two options, in two classes, by name.

    All memberships are enumerated, unless each respondent is a class that is known; worths are
    integrated over grids. Counts of each respondent: option 1 chosen, option 2 chosen. "person" is
    the probability of option 1 for the first one.
    """
    n_classes = len(counts) if are_known else N_CLASSES
    memberships = list(itertools.product(range(n_classes), repeat=len(counts)))
    if are_known:
        memberships = [tuple(range(n_classes))]
    normal = np.exp(-0.5 * DEVIATION**2)
    normal /= normal.sum()
    prior = -0.5 * (LOG_S - math.log(1.3)) ** 2
    common, log_sds = np.zeros(1), LOG_S
    weights_of_common, of_log_s = np.ones(1), np.zeros(1)
    if is_similar:
        common, log_sds = COMMON, LOG_SIGMA
        each = np.exp(-(COMMON**2) / (4.0 * np.exp(2.0 * LOG_S)[:, None]))
        whole = math.sqrt(4.0 * math.pi) * np.exp(LOG_S) / (COMMON[1] - COMMON[0])
        each /= np.maximum(each.sum(axis=1), whole)[:, None]
        each *= np.exp(prior)[:, None]
        weights_of_common, of_log_s = each.sum(axis=0), (each * LOG_S[:, None]).sum(axis=0)
        prior = LOG_SIGMA - 0.5 * np.exp(2.0 * LOG_SIGMA)
    names = "same 1, 2", "same 1, 3", "same 2, 3", "one class", "log sd", "log s", "person"
    sums, total = np.zeros(len(names)), 0.0
    for log_sd, log_prior in zip(log_sds, prior, strict=True):
        difference = common[:, None] + math.sqrt(2.0) * math.exp(log_sd) * DEVIATION
        p = expit(difference)
        answers = [p**won * (1.0 - p) ** lost for won, lost in counts]
        for members in memberships:
            sizes = [members.count(g) for g in range(n_classes)]
            weight = math.exp(log_prior) * math.prod(map(math.factorial, sizes))
            density, of_person = weight * weights_of_common, 0.0
            for g in range(n_classes):
                own = math.prod(
                    (each for each, k in zip(answers, members, strict=True) if k == g),
                    start=np.ones_like(p),
                )
                mean = own @ normal
                if members[0] == g:
                    of_person = ((own * p) @ normal) / mean
                density = density * mean
            mass, z = density.sum(), members
            of_s = log_sd * mass
            if is_similar:
                of_s = (density * of_log_s / weights_of_common).sum()
            same = [z[0] == z[1], z[0] == z[2], z[1] == z[2], max(sizes) == len(z)]
            sums += [*(mass * np.array(same)), mass * log_sd, of_s, (density * of_person).sum()]
            total += mass
    return dict(zip(names, (sums / total).tolist(), strict=True))
