"""Compare a fresh, shorter run of a sampler with the reference.

    python posteriors/check.py NAME [--draws 300] [--seed 2]

Prints the largest standardised difference of a mean, (mean - reference) / sqrt(mcse^2 + mcse of the
reference^2), and the limit that a right sampler exceeds once in 100,000 comparisons of as many
functionals.
"""

import argparse
import sys

import numpy as np
from functionals import functionals
from make import fit, reference, summarise
from pairs import PAIRS
from scipy.stats import norm

FALSE_ALARM = 1e-5


def differences(name: str, draws: int = 300, seed: int = 2) -> tuple[dict[str, float], float]:
    """The standardised difference of every functional's mean, and the limit of the largest."""
    pair = PAIRS[name]
    run = pair.run | {"random_seed": seed, "draws": draws}
    known = reference(name)
    found = functionals(fit(pair, run), known["names"])
    summary, _ = summarise(found)
    # A rare event that a short run has not seen gives no error of its own.
    least = np.array(known["sd"]) / (draws * pair.run.get("chains", 1)) ** 0.5
    errors = np.hypot(np.fmax(summary["mcse_mean"], least), known["mcse_mean"])
    z = (np.array(summary["mean"]) - known["mean"]) / errors
    limit = norm.isf(FALSE_ALARM / (2 * len(z)))
    return dict(zip(known["names"], z.tolist(), strict=True)), float(limit)


def main(name: str, draws: int = 300, seed: int = 2) -> int:
    """Print the largest difference; 1 if it is above the limit."""
    z, limit = differences(name, draws, seed)
    worst = max(z, key=lambda functional: abs(z[functional]))
    print(
        f"{name}: {len(z)} functionals, largest difference {z[worst]:.2f} ({worst}); limit"
        f" {limit:.2f}"
    )
    return int(abs(z[worst]) > limit)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Compare a fresh run with a reference posterior.")
    parser.add_argument("name", choices=PAIRS)
    parser.add_argument("--draws", type=int, default=300, help="draws a chain")
    parser.add_argument("--seed", type=int, default=2)
    sys.exit(main(**vars(parser.parse_args())))
