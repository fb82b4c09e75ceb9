"""Fits of product classes through the public interface against a posterior that is known by brute
force."""

import json
import math
import warnings

import numpy as np
import pandas as pd
import pytest
from helpers.product_class_brute_force import (
    AFTER,
    ASKED,
    CASES,
    CHOICES,
    KNOWN,
    LAPSE,
    MARKET,
    NO_CHOICE,
    answers,
)

import thali as th
from thali.errors import ThaliWarning

KNOWN_ANSWERS = {name: tuple(pair) for name, pair in json.loads(CASES.read_text()).items()}
# of the square of a share among 4,000 newcomers, which is above that in the population by its
# variance
SLACK = 1e-4


def rows(products) -> pd.DataFrame:
    """Products as the table has them."""
    found = [
        {"alt": f"{k}", "price": x[1] + 1, "brand": "ABC"[x[2]] if x[2] >= 0 else "n/a"}
        for k, x in enumerate(products)
    ]
    for x, row in zip(products, found, strict=True):
        if x == NO_CHOICE:
            row.update(alt="none", price=1, brand="A")
    return pd.DataFrame(found)


def experiment() -> "th.ChoiceExperiment":
    parts = []
    for n, tasks in enumerate(CHOICES):
        for t, (products, chosen) in enumerate(tasks):
            part = rows(products).assign(id=f"p{n + 1}", task=t)
            parts.append(part.assign(choice=(np.arange(len(part)) == chosen).astype(int)))
    return th.ChoiceExperiment.from_frame(
        pd.concat(parts),
        none="none",
        missing={"brand": "n/a"},
        levels={"price": [1, 2, 3], "brand": ["A", "B", "C"]},
    )


def quantities(model) -> dict[str, float]:
    """What the brute force has answers to, of one fit."""
    posterior = model.posterior_["posterior"].dataset
    found = {
        str(name): float(posterior[name].mean())
        for name in posterior.data_vars
        if name in KNOWN_ANSWERS
    }
    people = [f"p{n + 1}" for n in range(KNOWN)] + ["new"]
    asked = pd.concat([rows(ASKED).assign(id=who, task=9) for who in people])
    p = model.predict_proba(asked).reshape(len(people), -1)
    found |= {f"{who} {j}": p[n, j] for n, who in enumerate(people) for j in range(len(ASKED))}
    change = {
        "price": {
            str(j): b[1] + 1 for j, (a, b) in enumerate(zip(MARKET, AFTER, strict=True)) if a != b
        }
    }
    for who, people in (("known", None), ("new", "new")):
        draws = model.market_shares(rows(MARKET), change=change, people=people, each_draw=True)
        for name in ("share", "after", "change"):
            found |= {f"{who} {name} {j}": value for j, value in enumerate(draws[name].mean())}
            if who == "new" and name != "after":
                found |= {
                    f"new {name} {j} squared": value
                    for j, value in enumerate((draws[name] ** 2).mean())
                }
    return found


def fits(seeds, method="mcmc", **run) -> pd.DataFrame:
    """The quantities of fits with different seeds, a row each."""
    found = []
    for seed in seeds:
        model = th.ProductClasses({"price": "decreasing"}, lapse=LAPSE, method=method)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ThaliWarning)
            model.fit(experiment(), random_seed=seed, progressbar=False, **run)
        row = quantities(model)
        # the evidence itself is without bias, not its logarithm
        if method == "smc":
            log_evidence = model.log_evidence().value
            row["log_evidence"] = math.exp(log_evidence - KNOWN_ANSWERS["log_evidence"][0])
        found.append(row)
    return pd.DataFrame(found)


def scores(found: pd.DataFrame) -> pd.Series:
    """z: difference to the answers in standard errors of both sides."""
    answer = pd.DataFrame(KNOWN_ANSWERS, index=["value", "error"]).T.loc[found.columns]
    if "log_evidence" in answer.index:
        answer.loc["log_evidence", "value"] = 1.0
    own = found.std(ddof=1) / math.sqrt(len(found))
    off = found.mean() - answer["value"]
    squared = found.columns.str.endswith("squared")
    off[squared] = np.sign(off[squared]) * np.maximum(off[squared].abs() - SLACK, 0.0)
    return off / np.hypot(own, answer["error"])


def agree(z: pd.Series, most: float) -> None:
    """No quantity is far off, nor all of them a little."""
    assert z.abs().max() < most, z[z.abs() > 3]
    assert math.sqrt((z**2).mean()) < 2.0, z


@pytest.mark.long
def test_smc_and_changes_of_a_market_agree_with_brute_force():
    """Of eight fits: Student's t with seven degrees of freedom is beyond 8 once in 10,000 times."""
    z = scores(fits(range(8), method="smc", chains=2, draws=32, sweeps_per_step=5))
    assert len(z) == len(KNOWN_ANSWERS)
    agree(z, 8.0)


@pytest.mark.study
@pytest.mark.parametrize("settings", [{"method": "smc"}, {"chains": 8}], ids=["smc", "mcmc"])
def test_long_fits_agree_with_brute_force(settings):
    """Of twelve fits: Student's t with eleven degrees of freedom is beyond 7 once in 40,000
    times."""
    agree(scores(fits(range(12), **settings)), 7.0)


@pytest.mark.long
def test_the_answers_are_those_of_brute_force():
    again = answers(8_000_000, seed=2)
    for name, (value, error) in KNOWN_ANSWERS.items():
        assert abs(again[name][0] - value) < 5.0 * math.hypot(error, again[name][1]), name
