"""The p-values of `check()` for a true model: are they ever too small?

    python benchmarks/posterior_check_p_values.py [--small]

Each round draws weights, aspects and choices from the prior and the model, fits the same model, and
keeps the p-value of all proportions together (`attrs["p_value"]`) and those of the single rows. A
posterior predictive p-value is not uniform: the model has seen the data and leans towards them, so
that p gathers around one half (Meng 1994). A check is anti-conservative if P(p < .05) is above .05.

There is no check of product classes.
"""

import sys

import numpy as np
import pandas as pd

import thali as th
from thali._aspects.likelihoods import elimination_probabilities
from thali._inference.user_warnings import silence_warnings

LAPSE = 0.01
LEVELS = (0.01, 0.05, 0.1, 0.2)
PAIRS = [[i, j] for i in range(5) for j in range(i + 1, 5)]
SETS = [[0, 1, 2, 3], [0, 1, 2], [1, 2, 3], [0, 3], [1, 2], [0, 1, 3]]


def simulated(aspects: str, sets: list[list[int]], times: int, rng: np.random.Generator):
    """Choices out of each set, so many times, at weights and aspects from the prior."""
    n = max(map(max, sets)) + 1
    owners = np.eye(n, dtype=bool)
    if aspects == "ibp":
        owners = np.hstack(
            [owners, th.priors.IndianBuffet().sample(n, rng.gamma(1.0), rng).astype(bool)]
        )
    weights = dict(enumerate(rng.standard_exponential(owners.shape[1])))
    owned = {i: np.flatnonzero(owners[i]).tolist() for i in range(n)}
    counts = [
        rng.multinomial(times, elimination_probabilities(each, owned, weights, LAPSE))
        for each in sets
    ]
    if all(len(each) == 2 for each in sets):
        table = np.zeros((n, n), int)
        for (i, j), (x, y) in zip(sets, counts, strict=True):
            table[i, j], table[j, i] = x, y
        return th.PairedComparisons(table)
    rows = [
        {
            "choice_id": (number, chosen),
            "alternative": f"o{option}",
            "chosen": int(k == chosen),
            "count": count[chosen],
        }
        for number, (each, count) in enumerate(zip(sets, counts, strict=True))
        for chosen in np.flatnonzero(count)
        for k, option in enumerate(each)
    ]
    return th.Choices(
        pd.DataFrame(rows).assign(choice_id=lambda frame: frame["choice_id"].map(str))
    )


def p_values(
    aspects: str, sets: list[list[int]], times: int, rounds: int, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """The overall p-value of each round, and the p-values of all rows of all rounds."""
    overall, of_rows = [], []
    for number in range(rounds):
        data = simulated(aspects, sets, times, np.random.default_rng([seed, number]))
        model = th.EliminationByAspects(aspects, lapse=LAPSE)
        with silence_warnings():
            model.fit(
                data,
                draws=250,
                tune=250,
                chains=2,
                thin=10,
                cores=1,
                random_seed=number,
                progressbar=False,
            )
        table = model.check(random_seed=number)
        overall.append(table.attrs["p_value"])
        of_rows.append(table["p_value"])
    return np.array(overall), np.concatenate(of_rows)


def main(small: bool = False) -> None:
    rounds = 3 if small else 200
    print(
        f"share of p-values below  {'  '.join(f'{level:5.2f}' for level in LEVELS)}   median of p"
    )
    for name, aspects, sets, times in (
        ("5 options, 10 pairs x 10, unique", "unique", PAIRS, 10),
        ("5 options, 10 pairs x 10, ibp", "ibp", PAIRS, 10),
        ("4 options, 6 sets x 15, ibp", "ibp", SETS, 15),
    ):
        for what, found in zip(
            ("all together", "row by row"), p_values(aspects, sets, times, rounds, 1), strict=True
        ):
            shares = "  ".join(f"{np.mean(found < level):5.3f}" for level in LEVELS)
            print(f"{name}, {what}: {shares}   {np.median(found):.2f}", flush=True)


if __name__ == "__main__":
    main(small="--small" in sys.argv[1:])
