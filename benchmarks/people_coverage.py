"""How often 89 % intervals hold what a fit to infinitely many people says, over new samples of people.

    python benchmarks/people_coverage.py [--small] [--samples 200] [--only TEXT] [--mcmc] [--random]

Every person has worths of their own, Gamma about common ones, and answers pairs. The truth is the fit to 20,000 people.
"scores" spreads the draws by the variance of people's scores, "power" raises the likelihood to one over the design
effect, whatever the number of people; "adjusted" is what a fit takes. `--mcmc` also runs chains, a second each, and
`--random` those in which everybody has worths of their own, several seconds each; the truth then is the common worths,
and choice probabilities averaged over 20,000 people.
"""

import argparse
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

import thali as th
from thali.aspects import dependence
from thali.aspects.bradley_terry import density_of
from thali.data.answers import Answers
from thali.posterior.dependence import POWER

TAILS = (0.055, 0.945)
DRAWS = 1_000


@dataclass(frozen=True)
class Study:
    """People who answer pairs."""

    name: str
    people: int
    options: int
    share: float  # of the pairs, which each person answers, drawn anew for everybody
    shape: float  # of the Gamma variables about one that everybody's worths are multiplied by; inf: none
    times: int = 1  # that each pair is answered
    quarrel: bool = False  # whether people differ about a single option

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
        pair = np.concatenate([rng.choice(len(first), asked, replace=False) for _ in range(self.people)])
        who = np.repeat(np.arange(self.people), asked)
        p = worth[who, first[pair]] / (worth[who, first[pair]] + worth[who, second[pair]])
        wins = rng.binomial(self.times, p).astype(float)
        compared, place = np.unique(pair, return_inverse=True)
        sums = [np.bincount(place, each, len(compared)) for each in (wins, self.times - wins, 0.0 * wins)]
        order = np.lexsort((place, who))
        each = [array[order] for array in (who.astype(np.int32), place.astype(np.int32), wins, self.times - wins)]
        names = tuple(f"p{number}" for number in range(self.people))
        answers = Answers._made_of(names, None, *each, 0.0 * wins)
        labels = tuple(f"o{number}" for number in range(self.options))
        return th.PairedComparisons._made_of(labels, first[compared], second[compared], *sums, None, answers, None)

    def truth_of_random(self) -> tuple[np.ndarray, np.ndarray]:
        """The common worths, which sum to 1, and the choice probabilities of new people."""
        first, second = np.triu_indices(self.options, 1)
        common, worth = np.geomspace(0.4, 2.5, self.options), self.worths(np.random.default_rng(0), 20_000)
        return common / common.sum(), (worth[:, first] / (worth[:, first] + worth[:, second])).mean(axis=0)

    def truth(self) -> np.ndarray:
        """The log worths of the fit to many people, with a mean of 0."""
        first, second = np.triu_indices(self.options, 1)
        worth = self.worths(np.random.default_rng(0), 20_000)
        p = (worth[:, first] / (worth[:, first] + worth[:, second])).mean(axis=0)
        labels, none = tuple(f"o{number}" for number in range(self.options)), np.zeros(len(first))
        data = th.PairedComparisons._made_of(labels, first, second, 1e6 * p, 1e6 * (1 - p), none, None, None, None)
        found = dependence.NormalWorths(density_of(data, 0.0, False, has_prior=False)).mode
        return found - found.mean()


STUDIES = (
    Study("36 people, 12 options, all pairs", 36, 12, 1.0, 2.0),
    Study("36 people, 12 options, all pairs, three times", 36, 12, 1.0, 2.0, 3),
    Study("36 people who do not differ", 36, 12, 1.0, np.inf),
    Study("36 people who differ about one option", 36, 12, 1.0, 1.0, quarrel=True),
    Study("5 judges, 20 options, all pairs, twice", 5, 20, 1.0, 2.0, 2),
    Study("60 people, 40 options, 2 % of the pairs each", 60, 40, 0.02, 2.0),
)


def drawn(data: th.PairedComparisons, how: str, seed: int) -> tuple[np.ndarray, str, float]:
    """Draws of log worths, what adjusted them, and the design effect."""
    density = density_of(data, 0.0, False, has_prior=how != "maximum likelihood")
    worths, made = dependence.worths_of("independent" if how == "independent" else "adjusted", data, density)
    assert made is not None
    if how == POWER and made.by != POWER:
        worths = dependence.NormalWorths(density.raised(1.0 / max(1.0, made.effect)))
    if how == "chains":
        model = th.EliminationByAspects("unique", lapse=0.0, people="adjusted")
        model.fit(data, draws=DRAWS // 4, tune=300, random_seed=seed, progressbar=False)
        points = np.log(model.posterior_["posterior"]["unique_weights"].values.reshape(-1, data.n_options))
        return points - points.mean(axis=1, keepdims=True), POWER, made.effect
    rng = np.random.default_rng(seed)
    if how == "maximum likelihood":
        return worths.mode + worths.deviations(rng, DRAWS), made.by, made.effect
    return worths.draws(rng, DRAWS)[0], POWER if how == POWER else made.by, made.effect


def holds(points: np.ndarray, truth: np.ndarray) -> tuple[float, float, float]:
    """Whether intervals hold the truth: of worths, of the first of them, and of choice probabilities."""
    first, second = np.triu_indices(len(truth), 1)

    def inside(values: np.ndarray, true: np.ndarray) -> np.ndarray:
        low, high = np.quantile(values, TAILS, axis=0)
        return (low <= true) & (true <= high)

    def shares(u: np.ndarray) -> np.ndarray:
        worth = np.exp(u)
        return worth / worth.sum(axis=-1, keepdims=True)

    of_worths = inside(shares(points), shares(truth))
    odds = inside(points[:, first] - points[:, second], truth[first] - truth[second])  # as probabilities: monotone
    return of_worths.mean(), of_worths[0], odds.mean()


def random_holds(data: th.PairedComparisons, study: Study, seed: int) -> tuple[float, float, float]:
    """The same of chains in which everybody has worths of their own."""
    model = th.EliminationByAspects("unique", lapse=0.0, people="random")
    model.fit(data, draws=DRAWS // 4, tune=300, thin=3, random_seed=seed, progressbar=False)
    posterior, truth = model.posterior_["posterior"], study.truth_of_random()
    inside = []
    for name, true in zip(("common_worth", "population_probability"), truth, strict=True):
        low, high = np.quantile(posterior[name].values.reshape(-1, len(true)), TAILS, axis=0)
        inside.append((low <= true) & (true <= high))
    return inside[0].mean(), inside[0][0], inside[1].mean()


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
        shown = f"worths {worths:5.1f} ± {error:.1f}   first {first:5.1f}   probabilities {pairs:5.1f}"
        yield f"  {what:32s} nominal 89   {shown}"


def main(small: bool = False, samples: int = 200, only: str = "", mcmc: bool = False, random: bool = False) -> None:
    """Print the coverage of every study and way."""
    ways = ("independent", "adjusted", POWER, "maximum likelihood", *(("chains",) * mcmc), *(("random",) * random))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for study in STUDIES[: 1 if small else None]:
            if only in study.name:
                for line in table(study, 5 if small else samples, ways):
                    print(line, flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--only", default="")
    parser.add_argument("--mcmc", action="store_true")
    parser.add_argument("--random", action="store_true")
    main(**vars(parser.parse_args()))
