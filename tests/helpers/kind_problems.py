"""People of unknown kinds: their data, the task of one chain, and what its draws say."""

from dataclasses import replace

import numpy as np
import pandas as pd

import thali as th
from thali.aspects.populations.kinds import KindChain, build_kind_task


def answered(rows, labels=None):
    """Comparisons from rows of person, first, second, and which of the two was chosen."""
    frame = pd.DataFrame(rows, columns=["person", "first", "second", "chosen"])
    return th.PairedComparisons.from_trials(frame, "first", "second", "chosen", subject="person", labels=labels)


def of_one_pair(*counts):
    """People who compared two options so often: times the first was chosen, and the second."""
    return answered([(f"p{k}", "1", "2", c) for k, (a, b) in enumerate(counts) for c in "1" * a + "2" * b])


def random_answers(people, n, choices, seed):
    """People who answer at random."""
    rng, rows, labels = np.random.default_rng(seed), [], list("abcdefghij"[:n])
    for person in range(people):
        for _ in range(choices):
            pair = rng.choice(labels, 2, replace=False)
            rows.append((f"p{person}", *pair, rng.choice(pair)))
    return answered(rows, labels)


def task(
    data, kinds=2, likelihood=None, prior=None, alpha=None, weights="free", draws=1, tune=0, thin=5, tempering=False
):
    """What the chains run."""
    parts = {
        "prior": prior or th.priors.IndianBuffet(),
        "likelihood": likelihood or th.likelihoods.Elimination(0.01),
        "weight_prior": (1.0, 1.0),
        "alpha": alpha,
        "sampler": None,
        "tempering": tempering,
    }
    return build_kind_task(data, kinds, draws, tune, thin, weights, **parts)


def with_kappa(of_task, kappa):
    """The same where kappa is not learned."""
    return replace(of_task, model=of_task.model._replace(kappa=float(kappa)))


def drawn(of_task, random_seed=1):
    """The draws of one chain."""
    chain = KindChain(of_task, np.random.default_rng(random_seed))
    chain.run_to(chain.total)
    return chain.draws
