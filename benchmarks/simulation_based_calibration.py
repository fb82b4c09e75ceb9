"""Simulation-based calibration of every model: 200 parameters from the prior, data from them, a
fit, ranks.

    python benchmarks/simulation_based_calibration.py [--small] [--only TEXT] [--tables]

One line a case: the number of quantities ranked, the smallest p-value of uniform ranks times their
number (what `helpers.calibration` of the tests judges by; below 0.0001 the case is out of
calibration), the largest standardised error of a mean rank, the median number of nearly
independent draws of the quantity with the fewest, and CPU seconds. `--tables` prints all quantities, `--small` runs 5 data
sets a case, `--only` the cases whose names hold a text.
"""

import argparse
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

import thali as th
from thali._aspects.likelihoods import Additive, Custom, Elimination
from thali._aspects.priors import FiniteFeatures, Given, IndianBuffet

CHAIN = {"draws": 100, "tune": 100, "chains": 1}
TREE = "((a:0.3,b:0.3):0.7,c:1.0,d:1.0);"
LARGER = "((a:0.3,b:0.3):0.7,(c:0.6,d:0.6,(e:0.2,f:0.2):0.4):0.4);"
OWNERS = [[1, 0, 0, 1], [1, 0, 1, 0], [0, 1, 1, 0], [0, 1, 0, 0]]


class Ratings(NamedTuple):
    """How much people like each of some things."""

    rating: np.ndarray
    labels: tuple


def log_likelihood(data, features, weights):
    """Normal ratings about the weight of all that a thing has."""
    return -0.5 * np.sum((data.rating - features @ weights) ** 2)


def of_option(data, i, own):
    """The term of one thing."""
    return -0.5 * (data.rating[i] - own) ** 2


def simulate(data, features, weights, rng):
    """New ratings."""
    return data._replace(rating=rng.normal(features @ weights, 1.0))


def pairs():
    """Four options, six comparisons of each pair but one."""
    counts = np.full((4, 4), 3)
    np.fill_diagonal(counts, 0)
    counts[0, 3] = counts[3, 0] = 0
    return th.PairedComparisons(counts, labels="abcd")


def described_pairs():
    """Trials of four options in either order, with a second covariate."""
    rows = [(a, b, "left", k - 1) for k in range(3) for a in "abcd" for b in "abcd" if a != b]
    frame = pd.DataFrame(rows, columns=["left", "right", "chosen", "longer"])
    return th.PairedComparisons.from_trials(frame, covariates=["order", "longer"], labels="abcd")


def priced_pairs():
    """Comparisons of four options with prices."""
    return pairs().with_option_covariates(
        pd.DataFrame({"price": [2.0, 1.0, 0.5, 0.0]}, index=list("abcd"))
    )


def sets():
    """The same options, offered two, three and four at a time."""
    rows = []
    for number, (offered, times) in enumerate({"abcd": 8, "abc": 6, "bcd": 6, "ad": 5}.items()):
        rows += [
            {"obsID": number, "alt": x, "choice": int(x == offered[0]), "count": times}
            for x in offered
        ]
    return th.Choices(pd.DataFrame(rows))


def priced_sets():
    """Choices out of the same sets, with prices."""
    prices = pd.DataFrame({"price": [2.0, 1.0, 0.5, 0.0]}, index=list("abcd"))
    return sets().with_option_covariates(prices)


def answers():
    """Best and worst of two and three of the same options."""
    offered = ["abd"] * 6 + ["abc"] * 5 + ["bcd"] * 5 + ["ad"] * 4
    rows = [
        {f"option{k}": x for k, x in enumerate(each)} | {"best": each[0], "worst": each[1]}
        for each in offered
    ]
    return th.Choices.from_best_worst(pd.DataFrame(rows))


def similarities(sigma=None):
    """Six objects, two pairs not measured."""
    matrix = th.datasets.numbers().matrix[:6, :6].copy()
    matrix[0, 5] = matrix[5, 0] = matrix[1, 2] = matrix[2, 1] = np.nan
    return th.Similarities(matrix, labels="abcdef", sigma=sigma)


def experiment(people=6, tasks=5):
    """Tasks of two or three products with a price and a brand."""
    rng = np.random.default_rng(3)
    rows = []
    for person in range(people):
        for task in range(tasks):
            for product in range(2 + (person + task) % 2):
                levels = {"price": int(rng.integers(1, 4)), "brand": "ABC"[rng.integers(3)]}
                rows.append(
                    {
                        "id": person,
                        "task": task,
                        "alt": product,
                        "choice": int(product == 0),
                        **levels,
                    }
                )
    return th.ChoiceExperiment.from_frame(pd.DataFrame(rows), attributes=["price", "brand"])


def labelled(rows, classes):
    """Two covariates, and labels that name the classes."""
    X = np.random.default_rng(4).normal(size=(rows, 2))
    return X, list("abc"[:classes]) * (rows // classes)


def cases():
    """Name, model, design, and what the fits are given."""
    tree = th.Tree.from_newick(TREE)
    slow = CHAIN | {"thin": 100}
    eba, open_model, clustering = (
        th.EliminationByAspects,
        th.LatentFeatureModel,
        th.AdditiveClustering,
    )
    own = Custom(log_likelihood, of_option=of_option, simulate=simulate)
    ratings = Ratings(np.zeros(4), tuple("abcd"))
    own_tempered = CHAIN | {"thin": 25}
    return [
        ("pairs: ibp", eba(), pairs(), CHAIN),
        ("pairs: ibp, alpha = 2, lapse 0", eba(alpha=2.0, lapse=0.0), pairs(), CHAIN),
        ("pairs: unique aspects (BTL)", eba("unique"), pairs(), CHAIN),
        ("pairs: ibp, covariates", eba(), described_pairs(), CHAIN),
        (
            "pairs: worths, covariates of options",
            th.BradleyTerryLuce("mcmc"),
            priced_pairs(),
            CHAIN,
        ),
        ("sets: worths, covariates of options", th.BradleyTerryLuce("mcmc"), priced_sets(), CHAIN),
        ("pairs: 2 aspects", eba(2), pairs(), CHAIN),
        ("pairs: given aspects", eba(OWNERS), pairs(), CHAIN),
        ("pairs: tree", eba(tree), pairs(), CHAIN),
        (
            "pairs: ibp, no unique, lapse .1",
            eba(unique=False, lapse=0.1, tempering=4),
            pairs(),
            slow,
        ),
        (
            "pairs: 2 aspects, no unique, lapse .1",
            eba(2, unique=False, lapse=0.1, tempering=4),
            pairs(),
            slow,
        ),
        (
            "pairs: tree, no unique, lapse .3",
            eba(tree, unique=False, lapse=0.3, tempering=4),
            pairs(),
            slow,
        ),
        (
            "pairs: ibp, weights Gamma(2, 1)",
            open_model(IndianBuffet(), Elimination(), weight_prior=(2.0, 1.0)),
            pairs(),
            CHAIN,
        ),
        ("sets: ibp", eba(), sets(), CHAIN),
        ("sets: 2 aspects", eba(2), sets(), CHAIN),
        ("sets: tree", eba(tree), sets(), CHAIN),
        (
            "sets: given aspects, no unique, lapse .05",
            eba(OWNERS, unique=False, lapse=0.05),
            sets(),
            CHAIN,
        ),
        ("best and worst: ibp", eba(), answers(), CHAIN),
        ("similarities: ibp, sigma learned", clustering(), similarities(), CHAIN),
        (
            "similarities: ibp, sigma of the data, no constant",
            clustering(constant=False),
            similarities(0.1),
            CHAIN,
        ),
        ("similarities: 2 features, sigma learned", clustering(2), similarities(), CHAIN),
        (
            "similarities: given features, weights Gamma(2, 5)",
            open_model(
                Given(np.vstack([OWNERS, [[1, 0, 0, 1], [1, 1, 0, 0]]])),
                Additive(),
                weight_prior=(2.0, 5.0),
            ),
            similarities(),
            CHAIN,
        ),
        (
            "similarities: tree, not tempered",
            clustering(th.Tree.from_newick(LARGER), sigma=0.1, tempering=False),
            similarities(),
            slow,
        ),
        (
            "own likelihood: ibp",
            open_model(IndianBuffet(), own, tempering=4),
            ratings,
            own_tempered,
        ),
        (
            "own likelihood: 2 features",
            open_model(FiniteFeatures(2), own, tempering=4),
            ratings,
            own_tempered,
        ),
        (
            "Plackett-Luce regression: a learned",
            th.PlackettLuceRegression(a_range=(0.1, 10.0)),
            labelled(9, 3),
            CHAIN,
        ),
        (
            "Plackett-Luce regression: a = 1",
            th.PlackettLuceRegression(a=1.0),
            labelled(8, 2),
            CHAIN,
        ),
        (
            "sparse logit: Polya-Gamma",
            th.SparseMultinomialLogit(fit_intercept=False),
            labelled(12, 3),
            CHAIN,
        ),
        (
            "sparse logit: intercept, two classes",
            th.SparseMultinomialLogit(eta=1.0),
            labelled(12, 2),
            CHAIN,
        ),
        (
            "hierarchical logit",
            th.HierarchicalLogit(linear="price", priors={"mean_sd": 1.0}),
            experiment(),
            CHAIN,
        ),
        (
            "hierarchical logit: willingness-to-pay space",
            th.HierarchicalLogit(
                linear="price", priors={"mean_sd": 1.0}, space="willingness-to-pay"
            ),
            experiment(),
            CHAIN,
        ),
        (
            "product classes: mcmc",
            th.ProductClasses(monotone={"price": "decreasing"}, lapse=0.1),
            experiment(3, 3),
            {"chains": 1, "draws": 500, "thin": 4},
        ),
        (
            "product classes: smc",
            th.ProductClasses(lapse=0.1, alpha=1.0, method="smc"),
            experiment(3, 3),
            {"chains": 2, "draws": 40, "sweeps_per_step": 10},
        ),
    ]


def main(small=False, only="", tables=False) -> int:
    """Run the cases, print a line of each, and return how many are out of calibration."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    from helpers.calibration import calibrate

    n = 5 if small else 200
    print(f"{'case':<52}{'quantities':>11}{'p x them':>10}{'max |z|':>9}{'draws':>7}{'CPU s':>7}")
    wrong, whole = 0, time.process_time()
    for name, model, design, fit in cases():
        if only not in name:
            continue
        began = time.process_time()
        found = calibrate(model, design, n, random_seed=1, **fit)
        table, seconds = found.table, time.process_time() - began
        figures = (
            table["p_value"].min() * len(table),
            table["z"].abs().max(),
            table["ess"].min(),
            seconds,
        )
        shown = "{:>10.2g}{:>9.1f}{:>7.0f}{:>7.0f}".format(*figures)
        print(
            f"{name:<52}{len(table):>11}{shown}{'' if found.ok else '  NOT CALIBRATED'}", flush=True
        )
        if tables or not found.ok:
            print(found, flush=True)
        wrong += not found.ok
    print(f"{time.process_time() - whole:.0f} CPU seconds; not calibrated: {wrong}")
    return wrong


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Simulation-based calibration of every model.")
    parser.add_argument("--small", action="store_true", help="5 data sets a case")
    parser.add_argument("--only", default="", help="the cases whose names hold this text")
    parser.add_argument("--tables", action="store_true", help="print all quantities")
    sys.exit(main(**vars(parser.parse_args())) > 0)
