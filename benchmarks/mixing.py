"""Additive clustering of many objects: how fast tempered chains come to agree, and where their
replicas get stuck.

    python benchmarks/mixing.py [countries,phonemes,morse,faces] [--minutes 10] [--seed 1]
    python benchmarks/mixing.py all --defaults [--minutes 5]

Four chains run with the defaults (sigma chosen by cross-validation unless it was measured; faces:
.089). At every doubling of the rounds: CPU seconds, the largest R-hat of the log-likelihood, of the
similarity of any pair, and of the number of features that a pair shares, and the log-likelihood of
each chain. At the end: the temperatures of the first chain with the rates of their swaps, and how
many of its replicas have gone from the hottest to temperature 1.

Measured (CPU seconds of a busy machine) by the defaults, sigma chosen by cross-validation: R-hat of
log-likelihood, similarity, shared features is at most 1.02 after

    countries  sigma .085  10 levels    6 CPU s   1.008  1.013  1.012   (24 s: 1.001  1.001  1.001)
    phonemes         .030  10           5         1.003  1.007  1.005   (19 s: 1.001  1.001  1.001)
    morse            .074  22          23          .997  1.020  1.014   (36 s:  .999  1.008  1.006)

Faces, one seed; before: chains of the prior, a geometric ladder lengthened
where fewer than .12 of swaps were accepted, no memberships drawn together:

                      CPU s   R-hat of log-likelihood, similarity, shared features   log-likelihoods
                              of chains apart by
    before               53   1.16   1.74  1.28                                      23
                         99   1.12   1.52  1.25                                      17
                        126   1.11   1.54  1.22                                      16
    now, 31 levels       61   1.008  1.67  1.40                                       4
                         95   1.017  1.62  1.35                                       4
                        157   1.018  1.58  1.33                                       7
                        280   1.034  1.36  1.20                                      11
                        521   1.028  1.19  1.13                                      10

    Chains now nearly agree in their log-likelihood; up to 157 seconds similarity and shared
    features gain nothing that one seed shows. The aim, 1.02 after 600 CPU seconds, is not reached,
    and the convergence check says so. All 30 gaps accept .41 to .56 of swaps, and 12 replicas of a
    chain came from hot to cold. They hardly move: with 24 levels up to T = 7 the rejected shares
    sum to 13, so that replicas without memory would make a round trip every 28 rounds, but a
    replica is 3.4 levels from where it was after 1,000 rounds, and one to three come from end to
    end in 10,000 rounds. The share of replicas that came from the hot end falls from .93 to .20
    between T = 3.3 and 1.8: there families of features are settled. Untempered chains at one
    temperature (3,000 sweeps after annealing, four chains) forget the log-likelihood in 40 sweeps
    (T = 2 and 3), but a similarity has R-hat 1.7 at T = 2, 1.4 at 3, 1.1 at 4.

    Effective draws of the log-likelihood out of 1,200, toggles alone / with memberships drawn
    together, the latter at 1.7 times the time: T = 1 23 / 81, T = 1.5 15 / 151, T = 2 22 / 310, T =
    3 55 / 271, T = 4 38 / 157, T = 5 27 / 179.

    Tried and dropped: memberships of an object in eight random columns at a time, all columns in
    turn (five times the time, T = 1.5 42, T = 3 283, T = 4 113 effective draws); columns grown
    owner by owner from a pair with their weight integrated out, as births, deaths and replacements
    (a quarter and a sixth of them accepted; at T = 2 90 effective draws of the log-likelihood and
    46 of a median similarity in 5.3 s, without them 261 and 51 in 3.4 s).

    Also dropped: a pair of columns whose union stays (two moves a sweep, as long as the rest of
    it): from a random assignment of its objects to the first, the second or both, two scans of
    restricted Gibbs draws with weights drawn between them lead to the proposal, a third scan and
    the weights after it (Jain & Neal 2004); and the weights of two random columns drawn along their
    sum (twenty a sweep, as long as the rest). Four annealed chains of 2,000 sweeps at one
    temperature, every fourth kept: effective draws of the log-likelihood and of a median
    similarity, median and largest R-hat of a similarity

                 without               two columns again       weights along their sum
        T = 1     13   17  1.17  2.0    15   17  1.17  2.4     35   17  1.17  1.9
        T = 2     31   37  1.09  1.7    69   44  1.08  1.7     40   31  1.11  1.7
        T = 3    140  212  1.03  1.4    62  158  1.04  1.5    170  171  1.04  1.4

    A tenth of the pairs drawn again is accepted, a third to a half of these with three or more
    objects that change, but similarities gain nothing.

    A sweep of 60 faces with 37 columns: toggles 44 us (18 ns each), memberships together 54,
    weights drawn twice 47.

    Also dropped, on faces, four chains with 5,000 sweeps of tuning: chains that begin at the best
    end of six annealed runs of 2,000 sweeps each (other runs for other chains), in place of levels
    that are annealed together; and two joins or splits of columns (`moves/split_join.py`) for each
    column and sweep. Seeds differ more than either does. R-hat of the log-likelihood; the largest,
    the 90 % quantile and the median of R-hat of some 400 similarities; by how much the
    log-likelihoods of the chains differ

        now, seed 1         80 CPU s   1.033   1.62  1.22  1.08    5
        now, seed 2         80         1.127   1.35  1.16  1.07   24
        annealed, seed 1    81         1.020   1.30  1.17  1.05    7
        annealed, seed 2    80         1.098   1.70  1.25  1.11   16
        joins, seed 1       61         1.020   1.60  1.26  1.09    7

    Where data are simulated there is nothing to gain (sigma .3, every second object owns a feature;
    R-hat of the same): 40 objects with 10 features, 40 CPU s 1.003, 1.007, 1.003, 1.001, annealed
    1.000, 1.007, 1.003, 1.001; 100 objects with 15 features, 48 draws after tuning (82 CPU s)
    1.009, 1.049, 1.021, 1.005.

Default fits (`--defaults`), of which the size of the data allows the CPU minutes that are given;
R-hat of the log-likelihood, and the largest of similarities and of shared features:

                              minutes  seed  CPU s  sweeps a chain
    druguse                        .1     1     18          68,000   1.000  1.002  1.001
                                          2     17          68,000   1.001  1.001  1.002
    countries                       3     1     23         100,000   1.001  1.001  1.001
                                          2     23         100,000   1.001  1.002  1.002
    phonemes                       .1     1     10          48,000   1.001  1.002  1.002
                                          2     10          48,000   1.000  1.002  1.002
    40 objects                     .7     1     39          34,000   1.000  1.002  1.002
      (25 people each)                    2     39          34,000   1.000  1.002  1.003
    morse                          .4     1     52          44,000   1.001  1.005  1.004
                                          2     52          44,000   1.000  1.006  1.005
    triplets (20,000 of 100)        1     1     53           3,856   1.006  1.008  1.006
                                          2     49           3,856   1.018  1.013  1.010
    faces                          .7     1    152          19,116   1.052  1.301  1.153

    With no more minutes than these all fits but those of triplets and faces are called good. Faces,
    morse and 40 objects took longer than they should: eight levels were forecast, where 31, 22 and
    21 came to be; since then the forecast counts those that are expected, which bounds such fits to
    fewer sweeps.

    The features that a fit finds with a probability of more than a half, in the two fits (from
    countries on features of a Jaccard index of .8 count as one)

    druguse      .99/.99 .98/.98 .86/.86 .70/.71 .51/.52
    phonemes     1.00/1.00 1.00/1.00 .99/.99 .98/.98 .87/.87 .82/.80 .62/.62 .61/.62
    countries    1.00/1.00 1.00/1.00 .98/.98 .82/.82 .56/.55 .55/.53 .55/.53 .53/.54 .51/.50
    40 objects   all six 1.00/1.00
    morse        1.00/1.00 1.00/.99 .99/.99 .99/.98 .95/.94 .94/.94 .93/.91 .91/.91 .85/.85 .85/.86
                 .70/.70 .63/.62 .60/.59 .39/.59
    triplets     nine 1.00/1.00, the tenth .88/.88

    Counted as one by similar owners, features of druguse and phonemes had .82/.95 and .51/.73, too,
    in fits whose chains agreed: draws are assigned to features that are not quite the same in the
    two fits. The same may be true of .39/.59.

Since tempered fits of unknown length choose `thin` in a pilot (10 to 50 sweeps) and are looked at
from 500 draws on, and chains are judged by pairs, too; default fits, CPU seconds of a machine under
load (12), all of them called good:

                 before                    now, seed 1               largest R-hat, smallest
                                           effective sample size
    numbers      thin 50, 1,000 draws  27  thin 10, 2,000 draws  10  1.008    568
    phonemes     thin 50, 1,000 draws  20  thin 10,   500 draws   4  1.005  1,301
    druguse      thin 50, 1,000 draws  25  thin 28, 1,000 draws  16  1.002    943
    morse        thin 50, 1,000 draws 113  thin 50,   500 draws  84  1.005    920

    Seed 2, looked at from 1,000 draws on, took 9, 5, 18 and 110. At thin 50 the first 250 draws had
    291 to 663 effective ones with R-hat up to 1.0105, the first 500 had 653 to 1,497 with at most
    1.0076.

Exchange of owners between two columns, dropped: of two random columns a random set of the objects
that own just one of them changes sides (half of the sets have one object, a quarter two, and so on;
what may change is the same afterwards, so that proposals are symmetric); once for each column and
sweep, weights as they are (w), or, of similarities, with how their sum is shared integrated out and
drawn anew (r). Accepted: w .01 to .12, r .01 to .21, 40 to 64 % of them with two objects or more.
Effective draws a CPU second, without tuning, of four chains (tempered ones of similarities, or at
one temperature T after annealing) of the log-likelihood and of a median similarity, in brackets of
the similarity at their 5 % quantile:

                              without             w                   r
    countries                 1297 1566 ( 882)    1220 1237 ( 808)     797  813 ( 550)
        another seed          1552 1737 (1009)    1088 1235 ( 829)
    phonemes                  1581 1430 (1290)    1290 1154 (1000)     745  660 ( 587)
        another seed          1893 1561 (1422)    1381 1180 (1084)
    morse                      123   88 (  54)      86   68 (  36)      60   51 (  37)
        another seed           114  101 (  69)      90   76 (  42)
    40 objects, 10 features    129  146 ( 123)     127  133 ( 118)      94   90 (  76)
        another seed           135  150 ( 125)     157  131 ( 112)
    100, 15 features, T = 2   1342 1296 (1058)    1142 1200 (1073)     895  876 ( 745)
    faces, T = 1                20  5.3 ( 2.5)     8.3  3.5 ( 2.2)     2.9  5.7 ( 2.2)
    faces, T = 2                93  3.4 ( 2.7)      39  3.3 ( 2.6)     5.3  3.3 ( 1.8)
        another seed            62  4.8 ( 3.4)                          11  2.1 ( 1.7)
        a third seed            23  7.3 ( 4.0)                          60  2.6 ( 2.1)
    faces, T = 3               159 10.4 ( 4.7)      74 11.9 ( 5.7)      55 35.5 ( 9.7)
        another seed           201 10.6 ( 5.6)                         167  8.4 ( 5.1)
        a third seed           177  9.3 ( 5.1)                          89  7.0 ( 3.5)
    5,000 triplets of 30        55  119 (  87)      59   81 (  56)
        another seed            56   78 (  55)      43   81 (  51)
    20,000 triplets of 100      14   64 (  21)      11   25 (   8)

What r gained with the first seed of faces at T = 3 was chance. Means of the log-likelihood and of
the number of features agree where chains do. The two columns were not chosen by what they share.
Births from residuals are those of above.
"""

import argparse
import time
from typing import Any

import numpy as np
from learned_sigma import similarities
from many_objects import MEASURED, TABLES, r_hats

import thali as th
from thali._aspects.draws.columns import columns_of
from thali._aspects.draws.tree import to_datatree
from thali._aspects.samplers.chains import FeatureChain, chains_of
from thali._aspects.samplers.tempering import swap_rates
from thali._inference.warn import silence_warnings
from thali._model import bound

DRAWS, TUNE, THIN = 6400, 200, 25  # of a chain; a run ends earlier when its time is over
FIRST = 100  # draws at which it is looked at first


class Trips:
    """Which replicas of a chain came from the hottest level, and how often one has reached
    temperature 1 since."""

    def __init__(self, chain: FeatureChain) -> None:
        self.chain, self.done = chain, 0
        self.from_hot = np.zeros(chain.ladder.beta.size, bool)

    def look(self) -> None:
        cold, hot = self.chain.ladder.at[0], self.chain.ladder.at[-1]
        self.done += int(self.from_hot[cold])
        self.from_hot[cold], self.from_hot[hot] = False, True


def run(name: str, minutes: float, seed: int) -> None:
    """One table."""
    data = similarities(name)
    model: Any = th.AdditiveClustering(sigma=MEASURED.get(name))
    with silence_warnings():
        parts = model._parts(data)
        task = model._task(data, DRAWS, TUNE, THIN)
    chains = chains_of(task, 4, seed)
    chains[0].run_until(1)  # compiles
    begin = time.process_time()
    for chain in chains:
        chain.run_until(TUNE * THIN)
    tuned = time.process_time() - begin
    print(
        f"{name}: sigma {parts['likelihood'].sigma:.3f}, {chains[0].ladder.beta.size} levels,"
        f" tuned in {tuned:.0f} s"
    )
    trips, draws = Trips(chains[0]), FIRST
    while draws <= DRAWS and time.process_time() - begin < 60.0 * minutes:
        for chain in chains:
            while chain.recorded < draws:
                chain.run_until(chain.sweeps + THIN)
                if chain is chains[0]:
                    trips.look()
        model.posterior_ = to_datatree(
            [chain.draws_before(draws) for chain in chains],
            data,
            parts["likelihood"],
            learned_alpha=True,
            attrs={"thin": THIN, "tuning_steps": TUNE},
            task=task,
        )
        used = time.process_time() - begin
        found = "  ".join(f"{each:.3f}" for each in r_hats(model))
        levels = model.posterior_["posterior"].dataset["log_likelihood"].values.mean(axis=1)
        print(
            f"  {used:5.0f} CPU s   R-hat {found}   log-likelihood",
            *(f"{each:.1f}" for each in levels),
            flush=True,
        )
        draws *= 2
    rates = swap_rates(chains[0].ladder)
    print("  temperatures", *(f"{1.0 / each:.2f}" for each in chains[0].ladder.beta))
    print(
        "  swaps", *(f"{each:.2f}" for each in rates), f"  replicas from hot to cold: {trips.done}"
    )


# Default fits with two seeds side by side ---------------------------------------------------------


ALL = ("druguse", *TABLES, "40 objects", "triplets")
# Jaccard index from which on features of two fits are one, and objects from which on it counts
ALIKE, MANY = 0.8, 30


def data_of(name: str) -> Any:
    """One of the tables, 40 objects judged by 25 people, or 20,000 triplets of 100 objects."""
    if name == "triplets":
        return th.datasets.triplets(
            100, 20_000, random_seed=1, n_features=10, share_of_owners=0.1
        ).data
    if name == "40 objects":
        made = th.datasets.additive(40, random_seed=1, n_features=6, sigma=0.16).data
        return th.Similarities(
            made.matrix, judgements=np.full((40, 40), 25) * (1 - np.eye(40, dtype=int))
        )
    return similarities(name)


def defaults(name: str, minutes: float) -> None:
    """Two fits with the defaults, whose size bounds them by so many CPU minutes."""
    bound.BUDGET = 60.0 * minutes
    tables = []
    for seed in (1, 2):
        begin = time.process_time()
        with silence_warnings():
            model: Any = th.AdditiveClustering(sigma=MEASURED.get(name))
            model.fit(data_of(name), cores=1, random_seed=seed, progressbar=False)
        used = time.process_time() - begin
        posterior = model.posterior_["posterior"].dataset
        sweeps = (
            model.posterior_.attrs["tuning_steps"] + posterior.sizes["draw"]
        ) * model.posterior_.attrs["thin"]
        found = "  ".join(f"{each:.3f}" for each in r_hats(model))
        shared = columns_of(model._view)
        number = np.bincount(shared.draw[shared.sizes > 1], minlength=shared.n_draws).mean()
        print(
            f"{name}, seed {seed}: {used:.0f} CPU s, {sweeps:,} sweeps a chain, R-hat {found},"
            f" {number:.1f} features; {str(model.convergence()).partition(';')[0]}",
            flush=True,
        )
        alike = ALIKE if posterior.sizes["option"] >= MANY else 1.0
        tables.append(model.features(0.2, alike if alike < 1.0 else None))
    _side_by_side(tables[0], tables[1], alike)


def _side_by_side(one: Any, other: Any, least: float) -> None:
    """The probability of each feature that either fit finds with more than a half, in both."""
    left, pairs = [set(members) for members in other["members"]], []
    chances = list(other["probability"])
    for members, p in zip(one["members"], one["probability"], strict=True):
        alike = [len(set(members) & each) / len(set(members) | each) for each in left]
        at = int(np.argmax(alike)) if alike else -1
        matched = at >= 0 and alike[at] >= least
        pairs.append((p, chances[at] if matched else 0.0))
        if matched:
            del left[at], chances[at]
    pairs += [(0.0, p) for p in chances]
    pairs = sorted((pair for pair in pairs if max(pair) > 0.5), reverse=True)
    print("  features of seed 1 / seed 2:", *(f"{a:.2f}/{b:.2f}" for a, b in pairs), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description="How fast chains of additive clustering come to agree."
    )
    parser.add_argument("tables", nargs="?", default=",".join(TABLES))
    parser.add_argument("--minutes", type=float, default=10.0, help="CPU minutes a table")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--defaults", action="store_true", help="fits with the defaults and two seeds"
    )
    given = parser.parse_args()
    for table in ALL if given.tables == "all" else given.tables.split(","):
        if given.defaults:
            defaults(table, given.minutes)
        else:
            run(table, given.minutes, given.seed)
