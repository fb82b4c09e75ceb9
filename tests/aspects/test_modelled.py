"""Unique aspects of sets are refused; what is pooled keeps its covariates."""

import numpy as np
import pandas as pd
import pytest
from helpers.likelihood_rows import with_values
from helpers.problems import random_comparisons
from helpers.sentences import refused

import thali as th
from thali.errors import ThaliError


def _of_people(frame, **columns):
    return frame.assign(person=[f"p{k % 4}" for k in range(len(frame))], **columns)


def _sets():
    offered = [("a", "b", "c"), ("a", "b"), ("b", "c", "d")]
    rows = [
        (4 * k + n, who, x, int(x == members[k % len(members)]))
        for k, who in enumerate("pqr")
        for n, members in enumerate(offered)
        for x in members
    ]
    return th.Choices(
        pd.DataFrame(rows, columns=["choice_id", "person", "alternative", "chosen"]),
        respondent="person",
    )


def _rankings():
    frame = pd.DataFrame(
        [list("abcd"), list("bacd"), list("dabc")], columns=["1st", "2nd", "3rd", "4th"]
    )
    return th.Choices.from_rankings(frame.assign(person=list("xyz")))


def _answers():
    rows = [(*"abc", "a", "b"), (*"abc", "b", "a")]
    columns = [*(f"item{k}" for k in range(3)), "best", "worst"]
    return th.Choices.from_best_worst(_of_people(pd.DataFrame(rows, columns=columns)))


UNIQUE = {  # data that worths are for, and what a sentence about them says
    "sets": (_sets, ("3 options", "'a', 'b' and 'c'", "BradleyTerryLuce")),
    "rankings": (_rankings, ("4 options", "BradleyTerryLuce")),
    "best and worst": (_answers, ("3 options", "BradleyTerryLuce")),
}


@pytest.mark.unit
@pytest.mark.parametrize("method", ["mcmc", "maximum-likelihood"])
@pytest.mark.parametrize("name", UNIQUE)
def test_unique_aspects_of_sets_are_refused_in_favour_of_worths(name, method):
    make, facts = UNIQUE[name]
    with refused(ThaliError, *facts):
        th.EliminationByAspects("unique", method=method).fit(make(), random_seed=1)


@pytest.mark.fit
def test_pooled_comparisons_keep_covariates():
    described = [with_values(random_comparisons(3, seed, most=3), 1, seed=seed) for seed in (1, 2)]
    pooled = described[0].together(described[1:])
    assert pooled.covariate_names == ("x0",)
    assert pooled.covariates.wins.sum() + pooled.covariates.losses.sum() == sum(
        each.n_comparisons for each in described
    )
    cells = {}
    for each in described:
        own = each.covariates
        for pair, x, won, lost in zip(
            own.pair, own.values[:, 0], own.wins, own.losses, strict=True
        ):
            key = each.first[pair], each.second[pair], x
            cells[key] = cells.get(key, 0.0) + np.array([won, lost])
    own = pooled.covariates
    found = {
        (pooled.first[pair], pooled.second[pair], x): (won, lost)
        for pair, x, won, lost in zip(own.pair, own.values[:, 0], own.wins, own.losses, strict=True)
    }
    assert {key: tuple(value) for key, value in cells.items()} == found
