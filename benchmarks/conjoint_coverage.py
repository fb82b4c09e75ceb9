"""Coverage of the intervals of `thali.amce` and `thali.marginal_means`, and size of the joint test.

    python benchmarks/conjoint_coverage.py [--small] [--studies 500] [--tasks 5] [--weighted]

Respondents differ in how much attributes matter to them, and choose one of two profiles by a logit.
The truth is the effect of a level on the probability of being chosen, averaged over the design and
the population (Monte Carlo, paired, standard error about 1e-4). The joint test compares two
random groups, so that it should reject in 5 % of the studies. The figures are in
`figures/calibration_and_coverage.md`; it takes 40 minutes.
"""

import argparse
import warnings

import numpy as np
import pandas as pd

import thali as th

ATTRIBUTES = {"gender": 2, "age": 3, "party": 2, "education": 3, "job": 4, "origin": 5}
NAMES, SIZES = list(ATTRIBUTES), np.array(list(ATTRIBUTES.values()))
EDUCATION, JOB = NAMES.index("education"), NAMES.index("job")
UTILITIES = [np.linspace(-0.4, 0.4, size) * (-1) ** k for k, size in enumerate(SIZES)]
SD = 0.7  # of a respondent's utility of each level


def draw_profiles(rng, n, restricted):
    """Draw level codes (n, attributes); jobs 2 and 3 require education 1 or 2, and 2."""
    codes = rng.integers(SIZES, size=(n, len(SIZES)))
    while restricted:
        minimum = np.array([0, 0, 1, 2])[codes[:, JOB]]
        wrong = codes[:, EDUCATION] < minimum
        if not wrong.any():
            break
        codes[wrong] = rng.integers(SIZES, size=(wrong.sum(), len(SIZES)))
    return codes


def draw_tastes(rng, n):
    """Draw the utility of each level for n respondents, a list of arrays (n, levels)."""
    return [mean + SD * rng.normal(size=(n, len(mean))) for mean in UTILITIES]


def sum_utility(codes, tastes, respondent):
    """Return the utility of profiles (rows, attributes) to their respondents."""
    return sum(taste[respondent, codes[:, k]] for k, taste in enumerate(tastes))


def compute_truth(restricted, n, seed=99):
    """Return the true effects and marginal means by (attribute, level)."""
    rng = np.random.default_rng(seed)
    codes, other = draw_profiles(rng, n, restricted), draw_profiles(rng, n, restricted)
    tastes, own = draw_tastes(rng, n), np.arange(n)
    other_utility = sum_utility(other, tastes, own)

    def choose(profiles, rows):
        """Return the probability that profiles are chosen over the others."""
        utility = sum_utility(profiles[rows], [taste[rows] for taste in tastes], own[: rows.sum()])
        return 1 / (1 + np.exp(other_utility[rows] - utility))

    every = np.ones(n, bool)
    chosen = choose(codes, every)
    effects, means = {}, {}
    for k, name in enumerate(NAMES):
        for level in range(SIZES[k]):
            means[name, str(level)] = chosen[codes[:, k] == level].mean()
            possible = every
            if restricted and k in (EDUCATION, JOB):
                minimum = np.array([0, 0, 1, 2])
                if k == JOB:
                    possible = codes[:, EDUCATION] >= max(minimum[level], minimum[0])
                else:  # the baseline is education 0, which only jobs 0 and 1 have
                    possible = minimum[codes[:, JOB]] == 0
            profiles = codes.copy()
            profiles[:, k] = level
            with_level = choose(profiles, possible)
            profiles[:, k] = 0
            effects[name, str(level)] = (with_level - choose(profiles, possible)).mean()
    return pd.Series(effects), pd.Series(means)


def simulate(rng, respondents, tasks, restricted):
    """Return a table of one study."""
    n = respondents * tasks * 2
    respondent = np.repeat(np.arange(respondents), tasks * 2)
    codes = draw_profiles(rng, n, restricted)
    noisy = sum_utility(codes, draw_tastes(rng, respondents), respondent) + rng.gumbel(size=n)
    chosen = noisy.reshape(-1, 2).argmax(axis=1)
    frame = pd.DataFrame(codes, columns=NAMES)
    group = rng.permutation(np.arange(respondents) % 2)
    return frame.assign(
        respondent=respondent,
        task=np.tile(np.repeat(np.arange(tasks), 2), respondents),
        chosen=(np.arange(n) % 2 == np.repeat(chosen, 2)).astype(int),
        group=np.array(["a", "b"])[group][respondent],
        weight=rng.lognormal(0, 0.5, respondents)[respondent],
    )


def cover(table, truth):
    """Return whether each interval contains the truth, as a series by level."""
    table = table.set_index(["attribute", "level"])
    table = table[table["df"] > 0]
    return (table["low"] <= truth[table.index]) & (truth[table.index] <= table["high"])


def run(studies, respondents, tasks, restricted, weighted, truth):
    """Return coverage of effects and means, and the share of rejections, over all studies."""
    rng = np.random.default_rng([1, respondents, restricted])
    weights = "weight" if weighted else None
    covered, means_covered, rejected = [], [], []
    for _ in range(studies):
        frame = simulate(rng, respondents, tasks, restricted)
        data = th.ChoiceExperiment.from_frame(frame, attributes=NAMES)
        result = th.amce(data, weights=weights)
        covered.append(cover(result.table, truth[0]))
        means_covered.append(cover(result.marginal_means, truth[1]))
        test = th.amce(data, by="group", weights=weights).joint_test
        rejected.append(float(test.loc[0, "p_value"]) < 0.05)
    effects = pd.concat(covered, axis=1).mean(axis=1)
    means = pd.concat(means_covered, axis=1).mean(axis=1)
    return effects, means, np.mean(rejected)


def main(small=False, studies=500, tasks=5, weighted=False):
    """Print one line per size of study and kind of design."""
    sizes, n_draws = (60, 500), 2_000_000
    if small:
        sizes, n_draws, studies = (60,), 100_000, 2
    for restricted in (False, True):
        truth = compute_truth(restricted, n_draws)
        for respondents in sizes:
            effects, means, rejected = run(studies, respondents, tasks, restricted, weighted, truth)
            print(
                f"{respondents} respondents, {'restricted' if restricted else 'plain'}: effects"
                f" {effects.mean():.3f} ({effects.min():.3f} to {effects.max():.3f}), means"
                f" {means.mean():.3f} ({means.min():.3f} to {means.max():.3f}), joint test"
                f" {rejected:.3f}",
                flush=True,
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=500)
    parser.add_argument("--tasks", type=int, default=5)
    parser.add_argument("--weighted", action="store_true")
    parser.add_argument("--small", action="store_true")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    main(asked.small, asked.studies, asked.tasks, asked.weighted)
