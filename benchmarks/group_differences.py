"""Groups of people: are differences found, and does it pay to learn features of all groups
together?

Usage:

    python benchmarks/group_differences.py [REPLICATES [PEOPLE]]
    python benchmarks/group_differences.py FOLDER

First, two groups of people compare 12 options with five aspects, 200 times a pair and group; one
aspect weighs nothing in the second group. Counted are the aspects that were found, P(share in A >
share in B) of the one that differs and of the four that do not, and the log score of pairs left out
(a fifth of each group's), by models with common, free and similar weights and by a fit of each
group apart. Second, 100 people make 15 choices each among 10 options, with weights that vary from
one to the next: the error of each one's choice probabilities under similar weights, where nobody is
told apart, and by a fit to each person alone; and the time of one sweep with twice as many people.

With a folder that holds the tables drugrisk_*.csv and schoolsubjects_*.csv of R's package eba (a
count matrix a group), two real studies: the risk of six drugs by women and men to 30 and from 31,
and the liking of 14 school subjects by girls and boys. Common, free and similar weights predict the
comparisons of each pair by each group without them; the largest R-hat of any predicted probability
is printed, and for the drugs the log evidence.
"""

import sys
import time
import warnings
from pathlib import Path

import numpy as np

import thali as th

PAIRS = np.triu_indices(12, 1)
RUN = {"draws": 500, "tune": 500, "chains": 4, "cores": 1, "progressbar": False}


def probabilities(owners, weights, own):
    """p_ij of all pairs, array (n, n), lapse .01."""
    ahead = own[:, None] + np.einsum("k,ik,jk->ij", weights, owners, ~owners)
    return 0.99 * ahead / (ahead + ahead.T) + 0.005


def two_groups(seed):
    """Counts of both groups, and who owns which aspect."""
    rng = np.random.default_rng(seed)
    owners = np.zeros((12, 5), bool)
    while len(np.unique(owners, axis=1).T) < 5:
        for k in range(5):
            owners[:, k] = np.isin(np.arange(12), rng.choice(12, rng.integers(3, 6), replace=False))
    counts = {}
    for name, weights in (("A", np.ones(5)), ("B", np.array([0.0, 1.0, 1.0, 1.0, 1.0]))):
        p = probabilities(owners, weights, np.full(12, 0.3))
        wins = np.zeros((12, 12), int)
        wins[PAIRS] = rng.binomial(200, p[PAIRS])
        wins[PAIRS[::-1]] = 200 - wins[PAIRS]
        counts[name] = wins
    return counts, owners


def without(counts, left_out):
    """The comparisons without these pairs."""
    kept = counts.copy()
    for pair in left_out:
        i, j = PAIRS[0][pair], PAIRS[1][pair]
        kept[i, j] = kept[j, i] = 0
    return th.PairedComparisons(kept)


def score(model, counts, left_out, group):
    """Mean log score of the choices of pairs left out."""
    i, j = PAIRS[0][left_out], PAIRS[1][left_out]
    p = model.of_group(group).predict_proba([(str(a), str(b)) for a, b in zip(i, j, strict=True)])
    return float(
        np.sum(counts[i, j] * np.log(p) + counts[j, i] * np.log(1 - p)) / 200 / len(left_out)
    )


def differences(replicates):
    """The first study."""
    found, differing, equal, scores = [], [], [], []
    for seed in range(replicates):
        counts, owners = two_groups(seed)
        data = {name: th.PairedComparisons(each) for name, each in counts.items()}
        model = th.EliminationByAspects(people=th.people.Groups()).fit(
            data, random_seed=seed, **RUN
        )
        table = {row["members"]: row for row in model.features(0.0).to_dict("records")}
        for k in range(5):
            row = table.get(tuple(str(i) for i in np.flatnonzero(owners[:, k])))
            found.append(0.0 if row is None else row["probability"])
            if row is not None and row["probability"] > 0.2:
                (differing if k == 0 else equal).append(row["P(A > B)"])
        rng = np.random.default_rng(1000 + seed)
        left = {name: rng.choice(66, 13, replace=False) for name in data}
        rest = {name: without(counts[name], left[name]) for name in data}
        one = {}
        for weights in ("common", "free", "similar"):
            fitted = th.EliminationByAspects(people=th.people.Groups(weights)).fit(
                rest, random_seed=seed, **RUN
            )
            one[weights] = np.mean([score(fitted, counts[name], left[name], name) for name in data])
        apart = {
            name: th.EliminationByAspects().fit(rest[name], random_seed=seed, **RUN)
            for name in data
        }
        one["apart"] = np.mean(
            [score(apart[name], counts[name], left[name], name) for name in data]
        )
        scores.append(one)
        shown = ", ".join(f"{name} {value:.4f}" for name, value in one.items())
        print(f"seed {seed}: P(aspects) {np.round(found[-5:], 2)}, log scores {shown}")
    equal = np.array(equal)
    print(f"aspects with a probability above .2: {np.mean(np.array(found) > 0.2):.0%}")
    print(
        f"P(A > B) >= .9 of the one that differs: {np.sum(np.array(differing) >= 0.9)} of"
        f" {len(differing)} found"
    )
    print(
        f"P(A > B) in (.05, .95) of the others: {np.mean((equal > 0.05) & (equal < 0.95)):.0%} of"
        f" {len(equal)} found"
    )
    for name in ("common", "free", "apart"):
        gain = np.array([each["similar"] - each[name] for each in scores])
        error = gain.std(ddof=1) / np.sqrt(len(gain)) if len(gain) > 1 else np.nan
        print(f"log score a choice, similar minus {name}: {gain.mean():.5f} (se {error:.5f})")
    gain = np.array([each["free"] - each["apart"] for each in scores])
    print(f"log score a choice, free minus apart: {gain.mean():.5f}")


def people(number, choices=15, n=10, seed=5):
    """The comparisons of each person, and the truth."""
    rng = np.random.default_rng(seed)
    owners = np.zeros((n, 3), bool)
    owners[:4, 0] = owners[3:7, 1] = owners[[0, 5, 8, 9], 2] = True
    data, truth = {}, []
    for person in range(number):
        weights = rng.gamma(3.0, 1.0 / 3.0, 3) * 1.5
        own = np.linspace(1.2, 0.2, n) * rng.gamma(3.0, 1.0 / 3.0, n) / 2
        p = probabilities(owners, weights, own)
        pairs = rng.choice(n * (n - 1) // 2, choices, replace=False)
        i, j = (side[pairs] for side in np.triu_indices(n, 1))
        won = rng.random(choices) < p[i, j]
        wins = np.zeros((n, n), int)
        wins[i[won], j[won]] = 1
        wins[j[~won], i[~won]] = 1
        data[f"person {person}"] = th.PairedComparisons(wins)
        truth.append(p[np.triu_indices(n, 1)])
    return data, np.array(truth)


def many_people(number):
    """The second study."""
    data, truth = people(number)

    def error(p):
        return float(np.sqrt(np.mean((p - truth) ** 2)))

    start = time.process_time()
    model = th.EliminationByAspects(people=th.people.Groups("similar")).fit(
        data, random_seed=1, **RUN | {"chains": 2}
    )
    spent = time.process_time() - start
    similar = model.posterior_["posterior"]["choice_probability"].mean(("chain", "draw")).to_numpy()
    kappa = model.summary().loc["kappa"]
    pooled = th.EliminationByAspects(people=th.people.Groups("common")).fit(
        data, random_seed=1, **RUN
    )
    common = pooled.posterior_["posterior"]["choice_probability"].mean(("chain", "draw")).to_numpy()
    alone = []
    for each in data.values():
        one = th.EliminationByAspects().fit(
            each, random_seed=1, **RUN | {"draws": 200, "tune": 200, "chains": 1}
        )
        alone.append(
            one.posterior_["posterior"]["choice_probability"].mean(("chain", "draw")).to_numpy()
        )
    print(
        f"{number} people of 15 choices: root mean squared error of each one's choice probabilities"
    )
    print(
        f"  similar {error(similar):.4f}, common {error(common[None]):.4f}, alone"
        f" {error(np.array(alone)):.4f}"
    )
    print(
        f"  kappa {kappa['mean']:.2f} (sd {kappa['sd']:.2f}; truth 3), {spent:.0f} CPU s for 2 x"
        " 1000 draws"
    )
    for count in (number // 2, number, 2 * number):
        short = people(count)[0]
        start = time.process_time()
        th.EliminationByAspects("ibp", people=th.people.Groups("similar")).fit(
            short, draws=20, tune=20, thin=5, chains=1, random_seed=1, progressbar=False
        )
        print(
            f"  {count} people: {1000 * (time.process_time() - start) / 200:.1f} CPU ms a sweep,"
            " all told"
        )


def tables_of(folder, study):
    """The comparisons of each group of one of the two studies, `schoolsubjects` or `drugrisk`."""
    files = sorted(path for path in folder.glob(f"{study}_*.csv") if not path.stem.endswith("_all"))
    tables = {path.stem.partition("_")[2]: th.read_table(path) for path in files}
    return {
        name: th.PairedComparisons(table.set_index(table.columns[0]))
        for name, table in tables.items()
    }


def real(folder):
    """Two studies of R's package eba."""
    ways = ("common", "free", "similar")
    for study, tempering, thin in (("schoolsubjects", False, 40), ("drugrisk", 8, 50)):
        data = tables_of(folder, study)
        models = {
            name: th.EliminationByAspects(people=th.people.Groups(name), tempering=tempering)
            for name in ways
        }
        start = time.process_time()
        of_run = {
            "draws": 500,
            "tune": 300,
            "chains": 2,
            "thin": thin,
            "cores": 1,
            "random_seed": 1,
        }
        table = th.compare(models, data, progressbar=False, **of_run)
        print(f"{study}, {', '.join(data)}: {time.process_time() - start:.0f} CPU s")
        print(
            table[["nll", "difference", "difference_se", "nll_mcse", "r_hat"]].round(4).to_string(),
            flush=True,
        )
        if study == "drugrisk":
            start = time.process_time()
            by = th.compare(models, data, by="evidence", cores=1, random_seed=1, progressbar=False)
            print(f"evidence: {time.process_time() - start:.0f} CPU s")
            print(by[["log_evidence", "std_error", "probability", "usable"]].round(3).to_string())


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    if len(sys.argv) == 2 and not sys.argv[1].isdigit():
        sys.exit(real(Path(sys.argv[1])))
    arguments = [int(each) for each in sys.argv[1:]]
    differences(arguments[0] if arguments else 10)
    many_people(arguments[1] if len(arguments) > 1 else 100)
