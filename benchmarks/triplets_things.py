"""Odd-one-out triplets of the size of THINGS: `NonnegativeDimensions` beside SPoSE and VICE.

    python benchmarks/triplets_things.py FILE [--triplets N] [--penalties P ...] [--passes N]
        [--vice PYTHON SECONDS] [--only NAME ...]

FILE is an embedding, objects x dimensions (`embeddings/things/final_embedding.npy` of
github.com/LukasMut/VICE); its objects answer as the softmax of the products of its rows. SPoSE is
fitted here as thali fits: one answer at a time in compiled code, by AdaGrad instead of Adam, which
reaches a better score in a minute than Adam on batches does in ten. Its loss is minus the mean
log-probability of the answers plus the penalty times the sum of the coordinates / the number of
objects. The penalty that predicts 100,000 of the training triplets best is fitted again to all. A
true dimension counts as found if a fitted one correlates with it at .8 or more.
"""

import argparse
import subprocess
import tempfile
import time
from pathlib import Path

import numba
import numpy as np
import triplets_human as human
import triplets_spose as spose
from triplets import score

import thali as th

TEST, HELD, START, RATE, FOUND = 200_000, 100_000, 0.3, 0.1, 0.8
DIMENSIONS = 60
BLOCK = 10_000  # triplets simulated at once


def simulate(embedding, count, rng):
    """So many rows (i, j, k), k the odd one out."""
    return np.concatenate([human.simulate(embedding, BLOCK, rng) for _ in range(0, count, BLOCK)])[
        :count
    ]


@numba.njit(fastmath=True)
def sweep(x, squares, rows, order, penalty, rate):
    """Update x and its sums of squared gradients by every answer once."""
    zero, one = numba.float32(0), numba.float32(1)
    for t in order:
        i, j, k = rows[t]
        a, b, c = zero, zero, zero
        for q in range(x.shape[1]):
            a += x[i, q] * x[j, q]
            b += x[i, q] * x[k, q]
            c += x[j, q] * x[k, q]
        top = max(a, b, c)
        a, b, c = np.exp(a - top), np.exp(b - top), np.exp(c - top)
        total = a + b + c
        a, b, c = a / total - one, b / total, c / total
        for q in range(x.shape[1]):
            slopes = (
                a * x[j, q] + b * x[k, q] + penalty,
                a * x[i, q] + c * x[k, q] + penalty,
                b * x[i, q] + c * x[j, q] + penalty,
            )
            for place in range(3):
                m = rows[t, place]
                squares[m, q] += slopes[place] ** 2
                x[m, q] = max(x[m, q] - rate * slopes[place] / np.sqrt(squares[m, q]), zero)


def fit_spose(rows, n, penalty, passes):
    """The embedding after so many passes over the answers."""
    rng = np.random.default_rng(1)
    x = np.abs(rng.normal(size=(n, DIMENSIONS)) * START).astype(np.float32)
    squares = np.full(x.shape, 1e-6, np.float32)
    for _ in range(passes):
        order = rng.permutation(len(rows))
        # an object is in three of n answers
        sweep(x, squares, rows, order, np.float32(penalty / 3), np.float32(RATE))
    return x


def report_spose(train, test, embedding, penalties, passes):
    """Print the score of SPoSE with the best of the penalties."""
    n = len(embedding)
    held, rest = train[:HELD], train[HELD:]
    tried = {
        penalty: spose.score(fit_spose(rest, n, penalty, passes), held)[0] for penalty in penalties
    }
    best = max(tried, key=lambda penalty: tried[penalty])
    began = time.process_time()
    x = fit_spose(train, n, best, passes)
    seconds = time.process_time() - began
    log_score, right = spose.score(x, test)
    print(
        f"  SPoSE {log_score:.4f}, {right:.3f} right, {spose.found(x, embedding, FOUND)} dimensions (penalty"
        f" {best:g} of {len(tried)}; {passes} passes, {seconds:.0f} CPU s)",
        flush=True,
    )


def report_vice(train, test, embedding, python, seconds):
    """Print the score of VICE, with settings tried for a fifth of the seconds."""
    with tempfile.TemporaryDirectory() as folder:
        stored = Path(folder) / "data.npz"
        np.savez(
            stored,
            train=train,
            test=test,
            n=len(embedding),
            batch=2_048,
            dimensions=DIMENSIONS,
            features=embedding,
        )
        script = Path(__file__).parent / "triplets_vice.py"
        subprocess.run([python, script, stored, str(float(seconds) / 5), seconds], check=True)


def report_thali(train, test, embedding):
    """Print the score of the default fit."""
    labels = range(len(embedding))
    began = time.process_time()
    model = th.NonnegativeDimensions().fit(
        th.Triplets(train, labels), cores=1, random_seed=1, progressbar=False
    )
    seconds = time.process_time() - began
    log_score = score(model, th.Triplets(test, labels))
    n_found = spose.found(model.dimensions().to_numpy(), embedding, FOUND)
    print(f"  thali {log_score:.4f}, {n_found} dimensions, {seconds:.0f} CPU s")


def main(
    file: Path,
    triplets: int,
    penalties: list[float],
    passes: int,
    vice: list[str] | None,
    only: list[str],
) -> None:
    """All of it."""
    embedding = np.load(file).astype(float)
    rng = np.random.default_rng(1)
    train, test = simulate(embedding, triplets, rng), simulate(embedding, TEST, rng)
    print(f"{len(embedding):,} objects, {triplets:,} triplets")
    print(f"  truth {spose.score(embedding, test)[0]:.4f}", flush=True)
    if "spose" in only:
        report_spose(train, test, embedding, penalties, passes)
    if vice:
        report_vice(train, test, embedding, vice[0], vice[1])
    if "thali" in only:
        report_thali(train, test, embedding)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Triplets of the size of THINGS.")
    parser.add_argument("file", type=Path, help="an embedding (.npy)")
    parser.add_argument("--triplets", type=int, default=4_500_000, help="answers of training")
    parser.add_argument("--penalties", type=float, nargs="+", default=[0.002, 0.004, 0.008, 0.016])
    parser.add_argument("--passes", type=int, default=40)
    parser.add_argument("--vice", nargs=2, metavar=("PYTHON", "SECONDS"))
    parser.add_argument("--only", nargs="*", default=["spose", "thali"])
    main(**vars(parser.parse_args()))
