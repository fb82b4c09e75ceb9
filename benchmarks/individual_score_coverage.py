"""How often 89 % intervals of the scores of respondents contain them.

    python benchmarks/individual_score_coverage.py [--small] [--studies 6]

Forty people name the best and the worst of 12 sets of 4 of 8 options; everybody has worths of their
own, Gamma about common ones (the model takes their logarithms for Normal), and chooses by maximum
difference.
"""

import argparse
import warnings

import numpy as np
import pandas as pd

import thali as th

OPTIONS = tuple(f"option {k}" for k in range(8))
PEOPLE, SETS, SIZE, KAPPA, LAPSE = 40, 12, 4, 2.0, 0.01


def study(rng: np.random.Generator) -> tuple[th.Choices, pd.DataFrame]:
    """The answers, and the true scores by person and option."""
    worth = rng.gamma(1.0, 1.0, len(OPTIONS)) * rng.gamma(
        KAPPA, 1.0 / KAPPA, (PEOPLE, len(OPTIONS))
    )
    names, rows = [f"person {n:02}" for n in range(PEOPLE)], []
    for name, own in zip(names, worth, strict=True):
        for task in range(SETS):
            shown = rng.choice(len(OPTIONS), SIZE, replace=False)
            ratio = own[shown][:, None] / own[shown]
            np.fill_diagonal(ratio, 0.0)
            p = (1 - LAPSE) * ratio / ratio.sum() + LAPSE * (1 - np.eye(SIZE)) / (SIZE * (SIZE - 1))
            best, worst = divmod(rng.choice(SIZE**2, p=p.ravel() / p.sum()), SIZE)
            items = {f"item{k + 1}": OPTIONS[option] for k, option in enumerate(shown)}
            chosen = {"best": OPTIONS[shown[best]], "worst": OPTIONS[shown[worst]]}
            rows.append({"person": name, "task": task, **items, **chosen})
    ratio = worth / np.exp(np.log(worth).mean(axis=1, keepdims=True))
    best = pd.DataFrame(ratio / (ratio + SIZE - 1), names, OPTIONS)
    scores = 100 * best.div(best.sum(axis=1), axis=0)
    return th.Choices.from_best_worst(pd.DataFrame(rows), respondent="person"), scores


def main(words: list[str] | None = None) -> None:
    """Print the shares of intervals that hold, and correlations."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--studies", type=int, default=6)
    asked = parser.parse_args(words)
    run = {"draws": 20, "tune": 20} if asked.small else {"draws": 400, "tune": 400}
    held, alike = [], []
    for seed in range(1 if asked.small else asked.studies):
        data, truth = study(np.random.default_rng(seed))
        model = th.BradleyTerryLuce(lapse=LAPSE, people=th.people.Individuals())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", th.errors.ThaliWarning)
            model.fit(data, **run, chains=2, random_seed=1, progressbar=False)
        found = model.respondents.individuals()
        true = truth.stack().loc[found.index]
        held.append(float(((found["low"] <= true) & (true <= found["high"])).mean()))
        logs = np.log(found["mean"].unstack("option")), np.log(truth[list(OPTIONS)])
        each = [
            np.corrcoef(logs[0].loc[name, list(OPTIONS)], logs[1].loc[name])[0, 1]
            for name in truth.index
        ]
        alike.append(float(np.mean(each)))
    print(
        f"intervals that hold: {np.mean(held):.3f} of .89 ({min(held):.3f} to {max(held):.3f} by"
        " study)"
    )
    print(f"correlation of log scores with the truth, within people: {np.mean(alike):.2f}")


if __name__ == "__main__":
    main()
