"""A model in which everybody has weights of their own, with draws that a test writes down."""

import math
from types import SimpleNamespace

import numpy as np
import pandas as pd

import thali as th
from helpers.posterior_cases import set_posterior
from thali._aspects.populations.several_groups import IndividualRespondents, RecordedDraws
from thali.likelihoods import Elimination

OPTIONS = ("tea", "milk", "beer", "wine")


def compared(people=3, options=OPTIONS):
    """Everybody compares each two options once."""
    pairs = [(a, b) for k, a in enumerate(options) for b in options[k + 1 :]]
    rows = [(f"p{n}", a, b, a) for n in range(people) for a, b in pairs]
    return th.PairedComparisons.from_trials(
        pd.DataFrame(rows, columns=["respondent", "first", "second", "chosen"]),
        respondent="respondent",
    )


def tree_of(population, drawn, groups, likelihood, attrs=None):
    """The posterior of a population with these draws, whose alpha was known."""
    task = SimpleNamespace(model=SimpleNamespace(learn_alpha=False, similar=True, persons=True))
    return population.build_tree(drawn, groups, {"likelihood": likelihood}, task, attrs or {})


def of_people(data, unique, common=None, shared=None, kappa=2.0, chains=1, lapse=0.01):
    """A model with these draws of the weights of everybody (draws, people, options).

    `common`: those about which they vary (draws, options), 1 unless given; `shared`: of aspects
    that are in every draw, owners (positions of options) -> the weight for everybody and the common
    one (draws, people + 1).
    """
    unique = np.asarray(unique, float)
    draws, _, n = unique.shape
    common = np.ones((draws, n)) if common is None else np.asarray(common, float)
    owners = [] if shared is None else [np.asarray(each, np.int32) for each in shared]
    weights = np.zeros((draws, 0, unique.shape[1] + 1))
    if owners:
        weights = np.stack([np.asarray(each, float) for each in shared.values()], axis=1)
    likelihood = Elimination(lapse)
    groups = IndividualRespondents().convert_data(data, lambda given: given)
    length = draws // chains
    drawn = [
        RecordedDraws(
            alpha=np.ones(length),
            log_likelihood=np.zeros(length),
            unique_weights=np.concatenate([unique, common[:, None]], axis=1)[part],
            n_features=np.full(length, len(owners)),
            weights=weights[part].reshape(-1, unique.shape[1] + 1),
            sizes=np.tile(np.array([len(each) for each in owners], np.int64), length),
            owners=np.tile(np.concatenate([*owners, np.zeros(0, np.int32)]), length).astype(
                np.int32
            ),
            extra={"kappa": np.broadcast_to(kappa, draws)[part].astype(float)},
        )
        for part in (slice(k * length, (k + 1) * length) for k in range(chains))
    ]
    answers = {"number": len(groups), "answers": 1.0, "most": 2.0, "effect": 8.0 * len(groups)}
    attributes = (
        {"model": "individuals", "by": ""}
        | answers
        | {"df": math.inf, "share": 0.0, "grouped": 0.0}
    )
    tree = tree_of(
        IndividualRespondents(),
        drawn,
        groups,
        likelihood,
        {f"people_{name}": value for name, value in attributes.items()},
    )
    return set_posterior(th.EliminationByAspects(people=th.people.Individuals()), tree)
