"""Data of paired comparisons with known aspects, and the same mathematics written once more,
slowly."""

import json
from functools import cache

import numpy as np
import pandas as pd

import thali as th
from helpers.places import PUBLISHED

TABLES = json.loads((PUBLISHED / "paired.json").read_text())
PROFESSIONS = {"politician": "LBJ HW CDG", "athlete": "JU CY AJF", "star": "BB ET SL"}
TREE = {who: [group] for group, members in PROFESSIONS.items() for who in members.split()}
# Wickelmaier's structure of the risks of drugs: addiction of all but alcohol, and of the hard ones.
DRUGS = dict(alc=[], tob=["7"], can=["7"], ecs=["7", "8"], her=["7", "8"], coc=["7", "8"])
# Which of two drugs is riskier, 192 judges (R package eba, data set drugrisk, all groups together;
# row over column).
RISKS = """
    0 112 124  38  11  28
   80   0  82  16  10  21
   68 110   0  19   8   9
  154 176 173   0  21  89
  181 182 184 171   0 165
  165 171 183 103  27   0
"""
DRUGRISK = (
    "drugrisk_all drugrisk_female30 drugrisk_female31 drugrisk_male30 drugrisk_male31".split()
)
SCHOOL = ["schoolsubjects_boys", "schoolsubjects_girls"]
HEAVINESS = ["heaviness_order1", "heaviness_order2"]
PORK = [f"pork_jud{judge}rep{repetition}" for judge in (1, 2) for repetition in range(1, 6)]


@cache
def shared(name):
    """One of the published tables, as data."""
    return th.PairedComparisons(**TABLES[name])


def total(names):
    """Several tables added up."""
    each = [shared(name) for name in names]
    return th.PairedComparisons(sum(one.counts for one in each), each[0].labels)


def risks():
    """The table of risks, as data."""
    return th.PairedComparisons(np.array(RISKS.split(), int).reshape(6, 6), list(DRUGS))


def everything():
    """Each published data set, those of pork added up."""
    return {name: shared(name) for name in (*DRUGRISK, *SCHOOL, *HEAVINESS)} | {"pork": total(PORK)}


def maximised(aspects="unique", data=None, lapse=0.0, **more):
    model = th.EliminationByAspects(aspects, lapse=lapse, method="maximum-likelihood", **more)
    return model.fit(th.datasets.celebrities() if data is None else data)


def log_likelihood(counts, sets, weights, lapse=0.0):
    """Of counts (row over column), options given as sets of aspects, weights by name; a plain
    double loop."""
    from scipy.stats import binom

    value = 0.0
    for i in range(len(sets)):
        for j in range(i + 1, len(sets)):
            own = sum(weights[k] for k in sets[i] - sets[j])
            other = sum(weights[k] for k in sets[j] - sets[i])
            p = (1 - lapse) * (own / (own + other) if own + other > 0 else 0.5) + lapse / 2
            value += binom.logpmf(counts[i, j], counts[i, j] + counts[j, i], p)
    return value


def sets_of(aspects, labels):
    """Each option's aspects, its own among them."""
    return [{label, *(aspects[label] if aspects != "unique" else [])} for label in labels]


def triples(n):
    """All i < j < k."""
    return [(i, j, k) for i in range(n) for j in range(i + 1, n) for k in range(j + 1, n)]


def rng(seed):
    return np.random.default_rng(seed)


def leave_one_out(model, data):
    """Predict every compared pair from a fit by maximum likelihood to the others: a, b, predicted,
    nll."""
    rows, cells = [], data.cells
    names = () if data.covariates is None else data.covariates.names
    for pair, (i, j) in enumerate(zip(data.first, data.second, strict=True)):
        a, b = data.labels[i], data.labels[j]
        others = type(model)(**model.get_params()).fit(data.without_pair(a, b))
        at = cells.pair == pair
        asked = [(a, b)] * int(at.sum())
        given = dict(zip(names, cells.x[at].T, strict=True)) or None
        counts = np.stack([cells.wins[at], cells.tied[at], cells.losses[at]], axis=1)
        p = others.predict_proba(asked, covariates=given)
        outcomes = np.stack([p, np.zeros(len(p)), 1 - p], axis=1)
        if data.n_ties:
            outcomes = others.predict_outcomes(asked, covariates=given).iloc[:, 2:].to_numpy()
        from scipy.special import gammaln, xlogy

        total = counts.sum(axis=0)
        coefficient = gammaln(total.sum() + 1) - gammaln(total + 1).sum()
        nll = -coefficient - xlogy(counts, outcomes).sum()
        rows.append((a, b, p @ counts.sum(axis=1) / counts.sum(), nll))
    return pd.DataFrame(rows, columns=["a", "b", "predicted", "nll"])
