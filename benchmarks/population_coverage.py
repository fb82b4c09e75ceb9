"""How often 89 % intervals hold what a fit to infinitely many people says, over new samples of
people.

    python benchmarks/population_coverage.py [--small] [--samples 200] [--only TEXT] [--mcmc] [--random]

Every person has worths of their own, Gamma about common ones, and answers pairs. The truth is the
fit to 20,000 people. Studies of objects ask the odd one out, or how similar pairs are, of people
who weigh features differently; the truth is the fit to 20,000 people, and intervals are of weights
and of similarities of pairs. "adjusted" is what a fit takes, which spreads draws by the variance of
people's scores; "power" raises the likelihood to one over the design effect, as chains do. `--mcmc`
also runs chains, a second each, and `--random` those in which everybody has worths of their own,
several seconds each; the truth then is the mean of the log worths of 20,000 people.
"""

import argparse
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

import thali as th
from thali._aspects.likelihoods.most_similar_pair import MostSimilarPair
from thali._aspects.maximum_likelihood.feature_likelihoods import (
    build_feature_problem,
    find_weight_mode,
)
from thali._data.base_classes import build_from_fields
from thali._data.respondent_answers import Answers
from thali._posterior.respondent_dependence import POWER

if TYPE_CHECKING:
    import xarray

TAILS = (0.055, 0.945)
DRAWS = 1_000


@dataclass(frozen=True)
class Study:
    """People who answer pairs."""

    name: str
    people: int
    options: int
    share: float  # of the pairs, which each person answers, drawn anew for everybody
    # of the Gamma variables about one that everybody's worths are multiplied by; inf: none
    shape: float
    times: int = 1  # that each pair is answered
    quarrel: bool = False  # whether people differ about a single option
    # of each, on random pairs, in place of `share`
    answers: Callable[[np.random.Generator], np.ndarray] | None = None

    def worths(self, rng: np.random.Generator, people: int) -> np.ndarray:
        """Of each person and option."""
        common = np.geomspace(0.4, 2.5, self.options)
        own = np.ones((people, self.options))
        if np.isfinite(self.shape):
            own = rng.gamma(self.shape, 1.0 / self.shape, own.shape)
        if self.quarrel:
            own[:, 1:] = 1.0
        return np.maximum(common * own, 1e-6)

    def sample(self, rng: np.random.Generator) -> th.PairedComparisons:
        """The answers of new people."""
        first, second = np.triu_indices(self.options, 1)
        worth = self.worths(rng, self.people)
        asked = max(1, round(self.share * len(first)))
        pair = np.concatenate(
            [rng.choice(len(first), asked, replace=False) for _ in range(self.people)]
        )
        who, times = (
            np.repeat(np.arange(self.people), asked),
            np.full(self.people * asked, self.times),
        )
        if self.answers is not None:
            who = np.repeat(np.arange(self.people), self.answers(rng))
            pair = rng.integers(len(first), size=len(who))
            (who, pair), times = np.unique(np.stack([who, pair]), axis=1, return_counts=True)
        p = worth[who, first[pair]] / (worth[who, first[pair]] + worth[who, second[pair]])
        wins = rng.binomial(times, p).astype(float)
        compared, place = np.unique(pair, return_inverse=True)
        sums = [
            np.bincount(place, each, len(compared)) for each in (wins, times - wins, 0.0 * wins)
        ]
        order = np.lexsort((place, who))
        each = [
            array[order]
            for array in (who.astype(np.int32), place.astype(np.int32), wins, times - wins)
        ]
        names = tuple(f"p{number}" for number in range(self.people))
        answers = build_from_fields(Answers, names, None, *each, 0.0 * wins)
        labels = tuple(f"o{number}" for number in range(self.options))
        return build_from_fields(
            th.PairedComparisons,
            labels,
            first[compared],
            second[compared],
            *sums,
            None,
            answers,
            None,
        )

    def truth_of_random(self) -> np.ndarray:
        """The mean log worths of people, with a mean of 0."""
        logs = np.log(self.worths(np.random.default_rng(0), 20_000)).mean(axis=0)
        return logs - logs.mean()

    def truth(self) -> np.ndarray:
        """The log worths of the fit to many people, with a mean of 0."""
        first, second = np.triu_indices(self.options, 1)
        worth = self.worths(np.random.default_rng(0), 20_000)
        p = (worth[:, first] / (worth[:, first] + worth[:, second])).mean(axis=0)
        labels, none = tuple(f"o{number}" for number in range(self.options)), np.zeros(len(first))
        data = build_from_fields(
            th.PairedComparisons,
            labels,
            first,
            second,
            1e6 * p,
            1e6 * (1 - p),
            none,
            None,
            None,
            None,
        )
        return th.BradleyTerryLuce("maximum-likelihood").fit(data).summary()["estimate"].to_numpy()


STUDIES = (
    Study("36 people, 12 options, all pairs", 36, 12, 1.0, 2.0),
    Study("36 people, 12 options, all pairs, three times", 36, 12, 1.0, 2.0, 3),
    Study("36 people who do not differ", 36, 12, 1.0, np.inf),
    Study("36 people who differ about one option", 36, 12, 1.0, 1.0, quarrel=True),
    Study("5 judges, 20 options, all pairs, twice", 5, 20, 1.0, 2.0, 2),
    Study("60 people, 40 options, 2 % of the pairs each", 60, 40, 0.02, 2.0),
    Study(
        "2 people, 6 options, 60 answers each", 2, 6, 1.0, 2.0, answers=lambda rng: np.full(2, 60)
    ),
    Study(
        "15 people, 6 options, 60 answers each",
        15,
        6,
        1.0,
        2.0,
        answers=lambda rng: np.full(15, 60),
    ),
    Study(
        "15 people, 6 options, skewed numbers of answers",
        15,
        6,
        1.0,
        2.0,
        answers=lambda rng: skewed(rng, 15),
    ),
    Study(
        "15 people, 6 options, one with 78 % of the answers",
        15,
        6,
        1.0,
        2.0,
        answers=lambda rng: dominated(15),
    ),
)


def skewed(rng: np.random.Generator, people: int) -> np.ndarray:
    """Numbers of answers whose logarithms have a standard deviation of 1.3."""
    return np.maximum(3, rng.lognormal(np.log(25.0), 1.3, people).round()).astype(int)


def dominated(people: int) -> np.ndarray:
    """Numbers of answers of which the first person gives 78 %."""
    return np.append(round(0.78 / 0.22 * 8 * (people - 1)), np.full(people - 1, 8))


def drawn(data: th.PairedComparisons, how: str, seed: int) -> tuple[np.ndarray, str, float]:
    """Draws of log worths, what adjusted them, and the design effect."""
    if how == "maximum likelihood":
        model = th.BradleyTerryLuce(how.replace(" ", "-"), people="adjusted").fit(data)
        made = model._estimates_.people
        return model._draws.log_worths, made.by, made.effect
    run = {"draws": DRAWS // 4, "random_seed": seed, "progressbar": False}
    if how == "chains":
        model = th.EliminationByAspects("unique", lapse=0.0, people="adjusted").fit(
            data, tune=300, **run
        )
        points = np.log(
            model.posterior_["posterior"]["unique_weights"].values.reshape(-1, data.n_options)
        )
        return points - points.mean(axis=1, keepdims=True), POWER, model._view.dependence.effect
    people = "independent" if how == "independent" else "adjusted"
    model = th.BradleyTerryLuce("mcmc" if how == POWER else "laplace", people=people).fit(
        data, **run
    )
    made = model._view.dependence
    return model._draws.log_worths, made.by, made.effect


def holds(points: np.ndarray, truth: np.ndarray) -> tuple[float, float, float]:
    """Whether intervals hold the truth: of worths, of the first of them, and of choice
    probabilities."""
    first, second = np.triu_indices(len(truth), 1)

    def inside(values: np.ndarray, true: np.ndarray) -> np.ndarray:
        low, high = np.quantile(values, TAILS, axis=0)
        return (low <= true) & (true <= high)

    def shares(u: np.ndarray) -> np.ndarray:
        worth = np.exp(u)
        return worth / worth.sum(axis=-1, keepdims=True)

    of_worths = inside(shares(points), shares(truth))
    # as probabilities: monotone
    odds = inside(points[:, first] - points[:, second], truth[first] - truth[second])
    return of_worths.mean(), of_worths[0], odds.mean()


def random_holds(data: th.PairedComparisons, study: Study, seed: int) -> tuple[float, float, float]:
    """The same of chains in which everybody has worths of their own."""
    model = th.BradleyTerryLuce(people=th.people.Individuals())
    model.fit(data, draws=DRAWS // 4, random_seed=seed, progressbar=False)
    points = model.posterior_["posterior"]["log_worth"].values.reshape(-1, study.options)
    return holds(points, study.truth_of_random())


def table(study: Study, samples: int, ways: tuple[str, ...]) -> Iterator[str]:
    """A line for each way."""
    truth = study.truth()
    found = {how: [] for how in ways}
    used = {how: set() for how in ways}
    effects = []
    for number in range(samples):
        data = study.sample(np.random.default_rng([number, 1]))
        for how in ways:
            if how == "random":
                found[how].append(random_holds(data, study, number))
                continue
            points, by, effect = drawn(data, how, number)
            found[how].append(holds(points, truth))
            used[how].add(by)
        effects.append(effect)
    yield f"{study.name}: design effect {np.mean(effects):.2f} ({samples} samples)"
    for how in ways:
        worths, first, pairs = 100.0 * np.mean(found[how], axis=0)
        error = 100.0 * np.std([each[0] for each in found[how]]) / np.sqrt(samples)
        what = f"{how} ({', '.join(sorted(used[how]))})" if used[how] - {""} else how
        shown = (
            f"worths {worths:5.1f} ± {error:.1f}   first {first:5.1f}   probabilities {pairs:5.1f}"
        )
        yield f"  {what:32s} nominal 89   {shown}"


# People who judge pairs of objects ----------------------------------------------------------------


@dataclass(frozen=True)
class StudyOfObjects:
    """People who weigh features differently, and name the odd one out of three objects, or rate all
    pairs."""

    name: str
    people: int
    answers: int  # of each, triplets; 0: everybody rates every pair
    # of the Gamma variables about one that everybody's weights are multiplied by; inf: none
    shape: float
    is_learned: bool = False  # the features
    prior: tuple[float, float] | None = None  # of weights; None: the usual one

    objects = 10
    labels = tuple(f"o{number}" for number in range(objects))

    @property
    def owners(self) -> np.ndarray:
        """Four features of four objects each (objects, features)."""
        found = np.zeros((self.objects, 4), int)
        for k in range(4):
            found[np.random.default_rng(100 + k).choice(self.objects, 4, replace=False), k] = 1
        return found

    def weights(self, rng: np.random.Generator, people: int) -> np.ndarray:
        """Of each person and feature."""
        common = np.array([1.5, 1.2, 1.0, 0.8] if self.answers else [0.5, 0.4, 0.35, 0.3])
        own = (
            rng.gamma(self.shape, 1 / self.shape, (people, 4))
            if np.isfinite(self.shape)
            else np.ones((people, 4))
        )
        return common * own

    def sets(self) -> np.ndarray:
        """All triplets."""
        return np.array(list(combinations(range(self.objects), 3)))

    def odd(self, weights: np.ndarray, sets: np.ndarray) -> np.ndarray:
        """The probability that each member of a set is the odd one (rows, 3)."""
        owners = self.owners[sets]
        value = np.stack(
            [
                np.einsum("rk,rk,rk->r", weights, owners[:, a], owners[:, b])
                for a, b in ((1, 2), (0, 2), (0, 1))
            ],
            axis=1,
        )
        p = np.exp(value)
        return 0.99 * p / p.sum(axis=1, keepdims=True) + 0.01 / 3

    def sample(self, rng: np.random.Generator) -> th.Triplets | th.Similarities:
        """The answers of new people."""
        weights = self.weights(rng, self.people)
        if not self.answers:
            first, second = np.triu_indices(self.objects, 1)
            tables = np.full((self.people, self.objects, self.objects), np.nan)
            shared = self.owners[first] * self.owners[second]
            tables[:, first, second] = (
                0.1 + weights @ shared.T + 0.3 * rng.normal(size=(self.people, len(first)))
            )
            return th.Similarities.from_respondents(tables, self.labels)
        who = np.repeat(np.arange(self.people), self.answers)
        sets = self.sets()[rng.integers(0, len(self.sets()), len(who))]
        place = (rng.random(len(who))[:, None] > self.odd(weights[who], sets).cumsum(axis=1)).sum(
            axis=1
        )
        names = np.array(self.labels)
        frame = pd.DataFrame(names[sets], columns=["object1", "object2", "object3"])
        frame = frame.assign(
            odd=names[sets[np.arange(len(who)), np.minimum(place, 2)]], respondent=who
        )
        return th.Triplets.from_frame(frame, respondent="respondent", labels=self.labels)

    def truth(self) -> np.ndarray:
        """The weights of the fit to many people."""
        weights = self.weights(np.random.default_rng(0), 20_000)
        if not self.answers:
            return weights.mean(axis=0)
        rows, counts = [], []
        for each in self.sets():
            rows += [np.roll(each, -1 - k) for k in range(3)]  # the last is the odd one
            counts += [
                1e6 * p
                for p in self.odd(weights, np.broadcast_to(each, (len(weights), 3))).mean(axis=0)
            ]
        frame = pd.DataFrame(
            np.array(self.labels)[np.array(rows)], columns=["object1", "object2", "object3"]
        )
        frame = frame.assign(odd=frame["object3"], count=counts)
        data = th.Triplets.from_frame(frame, count="count", labels=self.labels, weights=True)
        pose = build_feature_problem(data, self.owners.T.astype(bool), MostSimilarPair())
        found, order = (
            find_weight_mode(pose, 1.0, 1.0),
            np.unique(self.owners.T.astype(bool), axis=0, return_index=True)[1],
        )
        return found[np.argsort(order)]

    def holds(
        self, data: th.Triplets | th.Similarities, how: str, truth: np.ndarray, seed: int
    ) -> tuple[float, ...]:
        """The share of weights and of similarities in their intervals, and the design effect."""
        features = "ibp" if self.is_learned else self.owners
        model = th.AdditiveClustering(features, people=how, weight_prior=self.prior)
        model.fit(data, draws=250, tune=300, random_seed=seed, progressbar=False)
        posterior, latent = (
            model.posterior_["posterior"].dataset,
            model.posterior_["latent_features"].dataset,
        )
        pairs = np.triu_indices(self.objects, 1)

        def inside(values: np.ndarray, true: np.ndarray) -> float:
            low, high = np.quantile(values.reshape(-1, len(true)), TAILS, axis=0)
            return float(((low <= true) & (true <= high)).mean())

        shared = self.owners[pairs[0]] * self.owners[pairs[1]]
        of_pairs = inside(
            posterior["similarity"].values, (0.0 if self.answers else 0.1) + shared @ truth
        )
        of_weights = (
            np.nan if self.is_learned else inside(_known_weights(latent, self.owners), truth)
        )
        return of_weights, of_pairs, float(model.posterior_.attrs["people_effect"])


def _known_weights(posterior: "xarray.Dataset", owners: np.ndarray) -> np.ndarray:
    """The weights of known features, which are in an order of their own."""
    first = posterior["features"].values[0, 0].astype(int).tolist()
    return posterior["weights"].values[..., [first.index(row) for row in owners.T.tolist()]]


STUDIES_OF_OBJECTS = (
    StudyOfObjects("40 people, 60 triplets of 10 objects each, features known", 40, 60, 1.5),
    StudyOfObjects(
        "40 people, 60 triplets each, who do not differ, features known", 40, 60, np.inf
    ),
    StudyOfObjects("40 people, 60 triplets each, features learned", 40, 60, 1.5, True),
    StudyOfObjects("30 judges of all pairs of 10 objects, features known", 30, 0, 2.0),
    StudyOfObjects(
        "30 judges of all pairs, features known, a prior of mean .5", 30, 0, 2.0, prior=(1.0, 2.0)
    ),
    StudyOfObjects("9 judges of all pairs, who do not differ, features known", 9, 0, np.inf),
    StudyOfObjects("30 judges of all pairs, who do not differ, features known", 30, 0, np.inf),
    StudyOfObjects("30 judges of all pairs, features learned", 30, 0, 2.0, True),
)


def table_of_objects(study: StudyOfObjects, samples: int) -> Iterator[str]:
    """A line for each way."""
    truth = study.truth()
    data = [study.sample(np.random.default_rng([number, 2])) for number in range(samples)]
    for how in ("independent", "adjusted"):
        found = np.array(
            [study.holds(each, how, truth, number) for number, each in enumerate(data)]
        )
        weights, pairs, effect = found.mean(axis=0)
        error = 100.0 * found[:, 1].std() / np.sqrt(samples)
        if how == "independent":
            yield f"{study.name}: design effect {effect:.2f} ({samples} samples)"
        of_weights = "" if study.is_learned else f"weights {100 * weights:5.1f}   "
        yield f"  {how:32s} nominal 89   {of_weights}similarities {100 * pairs:5.1f} ± {error:.1f}"


def main(
    small: bool = False,
    samples: int = 200,
    only: str = "",
    mcmc: bool = False,
    random: bool = False,
) -> None:
    """Print the coverage of every study and way."""
    ways = (
        "independent",
        "adjusted",
        POWER,
        "maximum likelihood",
        *(("chains",) * mcmc),
        *(("random",) * random),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for study in STUDIES[: 1 if small else None]:
            if only in study.name:
                for line in table(study, 5 if small else samples, ways):
                    print(line, flush=True)
        for study in STUDIES_OF_OBJECTS[: 0 if small else None]:
            if only in study.name:
                for line in table_of_objects(study, samples):
                    print(line, flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--only", default="")
    parser.add_argument("--mcmc", action="store_true")
    parser.add_argument("--random", action="store_true")
    main(**vars(parser.parse_args()))
