"""Which standard deviation of the similarities predicts similarities that are left out: fixed,
learned, or chosen.

    python benchmarks/similarity_sigma.py [countries,phonemes,...]

Real tables stand beside the project (`../shared/data`). Of each a fifth of the pairs is left out at
a time (of the larger ones two such fifths), and additive clustering is fitted to the others: with
sigma fixed at a share of the standard deviation of all similarities; learned under sigma^2 ~
InverseGamma(shape, (shape - 1) mean), the mean a share of their variance; and chosen by
cross-validation among the pairs that are not left out, as the default does it. The score is the
mean log predictive density of a similarity that was left out, to be compared within a column.

made: 16 objects, five features, noise of .1 and .3 standard deviations of the similarities; P is
the number of pairs.
"""

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

import thali as th
from thali._aspects.likelihoods import additive
from thali._comparison.pair_holdouts import GaussianScorer
from thali._inference.user_warnings import silence_warnings

DATA = Path(__file__).parents[2] / "shared" / "data"
TABLES = {
    "numbers": "numbers/similarity_max1.csv",
    "countries": "countries/similarity.csv",
    "druguse": "similarity_lee/druguse.csv",
    "phonemes": "similarity_lee/phonemes.csv",
    "morse": "morse/dissimilarity_symmetric_smacof.csv",
    "faces": "similarity_lee/faces_busey.csv",
}
MADE = {"made .1": 0.1, "made .3": 0.3}
FIXED = (0.1, 0.2, 0.3, 0.4, 0.5, 0.7)
PRIORS = ((2.0, 0.02), (2.0, 0.1), (2.0, 0.3), (10.0, 0.1), (30.0, 0.1))


def similarities(name: str) -> th.Similarities:
    """One of the tables, without a standard deviation of its own."""
    if name in MADE:
        made = th.datasets.additive(16, n_features=5, sigma=MADE[name], random_seed=3).data
        return th.Similarities(made.matrix)
    matrix = pd.read_csv(DATA / TABLES[name], index_col=0).to_numpy(float)
    return th.Similarities(1.0 - matrix if name == "morse" else matrix)


def score(data: th.Similarities, sigma: object, number: int, prior: tuple[float, float]) -> float:
    """The mean log score of the similarities in `number` of five parts, each left out in turn."""
    part = np.random.default_rng(1).permutation(data.n_pairs) % 5
    draws, chains = (200 if data.n_options <= 16 else 100), (2 if data.n_options <= 10 else 1)
    total, usual = [], (additive.VARIANCE_SHAPE, additive.VARIANCE_SHARE)
    additive.VARIANCE_SHAPE, additive.VARIANCE_SHARE = prior
    for k in range(number):
        with silence_warnings():
            model = th.AdditiveClustering(sigma=sigma)
            run = {
                "draws": draws,
                "tune": draws,
                "thin": 10,
                "chains": chains,
                "cores": 1,
                "progressbar": False,
            }
            model.fit(data.take(part != k), random_seed=k + 1, **run)
        total += GaussianScorer().score(model, data.take(part == k))["log_score"]
    additive.VARIANCE_SHAPE, additive.VARIANCE_SHARE = usual
    return float(np.mean(total))


def settings(data: th.Similarities) -> Iterator[tuple[str, object, tuple[float, float]]]:
    """The name of each way, its sigma, and its prior of a learned one."""
    spread = float(np.std(data.values))
    for share in FIXED:
        yield f"fixed at {share:g} sd", share * spread, PRIORS[0]
    for shape, share in (*PRIORS, (2.0 + data.n_pairs / 2.0, 0.1)):
        yield f"learned, shape {shape:g}, mean {share:g}", "learned", (shape, share)
    yield "chosen", None, PRIORS[0]


def main() -> None:
    for name in sys.argv[1].split(",") if len(sys.argv) > 1 else (*TABLES, *MADE):
        data = similarities(name)
        for way, sigma, prior in settings(data):
            begin = time.process_time()
            found = score(data, sigma, 5 if data.n_options <= 16 else 2, prior)
            print(
                f"{name:10} {way:28} {found:7.3f}   ({time.process_time() - begin:.0f} CPU s)",
                flush=True,
            )


if __name__ == "__main__":
    main()
