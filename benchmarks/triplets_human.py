"""Held-out predictions of human-like triplets: `NonnegativeDimensions` and `AdditiveClustering`
beside SPoSE and VICE.

    python benchmarks/triplets_human.py FILE [--triplets N] [--seeds N] [--spose PYTHON]
        [--vice PYTHON] [--seconds TUNING FINAL]

FILE is an embedding, objects x dimensions, of which 100 objects answer as the softmax of the products
of its rows (`embeddings/things/final_embedding.npy` of github.com/LukasMut/VICE), or a table of answers
without a head, each "b, not c, is like a" (`deconflicted_triplets.csv` in `examples/zappos/_raw` of
github.com/stsievert/salmon). The answers of training are N, those left out 20,000 or, of people,
10,000. A rival's settings have TUNING CPU seconds each and its last fit FINAL.
"""

import argparse
import subprocess
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import triplets_spose as spose
from triplets import accuracy, score

import thali as th

HERE = Path(__file__).parent
OBJECTS, TEST, TEST_OF_PEOPLE = 100, 20_000, 10_000
# settings that SPoSE tries
OF_THINGS = {"penalties": (0.001, 0.003, 0.01, 0.03), "dimensions": (15, 40)}
OF_PEOPLE = {"penalties": (0.001, 0.003, 0.01), "dimensions": (10, 30)}


def simulate(embedding, count, rng):
    """So many rows (i, j, k), k the odd one out."""
    rows = rng.random((count, len(embedding))).argpartition(3, axis=1)[:, :3]
    rows = rng.permuted(rows, axis=1)
    p = spose.probabilities(embedding, rows)
    pair = (rng.random(count)[:, None] > p.cumsum(axis=1)).sum(axis=1).clip(0, 2)
    order = np.array([[0, 1, 2], [0, 2, 1], [1, 2, 0]])[pair]
    return np.take_along_axis(rows, order, axis=1)


def arrays_of(file, count, seed):
    """What the rivals read, and the embedding that made the answers, if any did."""
    rng = np.random.default_rng(seed)
    if file.suffix == ".csv":
        rows = rng.permutation(np.loadtxt(file, delimiter=",", dtype=int))
        train, test = rows[:count], rows[-TEST_OF_PEOPLE:]
        return {
            "train": train,
            "test": test,
            "n": rows.max() + 1,
            "anchored": True,
            **OF_PEOPLE,
        }, None
    embedding = np.load(file).astype(float)
    embedding = embedding[rng.choice(len(embedding), OBJECTS, replace=False)]
    train, test = simulate(embedding, count, rng), simulate(embedding, TEST, rng)
    return {"train": train, "test": test, "n": OBJECTS, **OF_THINGS}, embedding


def report_thali(model, arrays, seed):
    """Print the held-out score of a fit, the share that is right and the CPU seconds."""
    read = th.Triplets.from_anchored if "anchored" in arrays else read_odd
    labels = range(arrays["n"])
    began = time.process_time()
    model.fit(read(*arrays["train"].T, labels), cores=1, random_seed=seed, progressbar=False)
    seconds = time.process_time() - began
    data = read(*arrays["test"].T, labels)
    name = type(model).__name__
    print(
        f"  {name} {score(model, data):.4f}, {accuracy(model, data):.3f} right, {seconds:.0f} CPU s",
        flush=True,
    )


def read_odd(first, second, odd, labels):
    """Triplets of which the third is the odd one out."""
    return th.Triplets(np.stack([first, second, odd], axis=1), labels)


def main(file: Path, triplets: int, seeds: int, seconds: list[float], **pythons: str) -> None:
    """All of it."""
    warnings.simplefilter("ignore", th.errors.ThaliWarning)
    for seed in range(1, seeds + 1):
        arrays, embedding = arrays_of(file, triplets, seed)
        print(f"{arrays['n']} objects, {triplets:,} answers, seed {seed}", flush=True)
        if embedding is not None:
            log_score, right = spose.score(embedding, arrays["test"])
            print(f"  truth {log_score:.4f}, {right:.3f} right", flush=True)
        report_thali(th.NonnegativeDimensions(), arrays, seed)
        report_thali(th.AdditiveClustering(method="map"), arrays, seed)
        with tempfile.TemporaryDirectory() as folder:
            np.savez(stored := Path(folder) / "data.npz", **arrays)
            for name, python in pythons.items():
                if python:
                    script = HERE / f"triplets_{name}.py"
                    subprocess.run([python, script, stored, *map(str, seconds)], check=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Held-out predictions of human-like triplets.")
    parser.add_argument("file", type=Path, help="an embedding (.npy) or answers (.csv)")
    parser.add_argument("--triplets", type=int, default=20_000, help="answers of training")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--spose", default="", help="a Python with NumPy")
    parser.add_argument("--vice", default="", help="a Python with PyTorch")
    parser.add_argument(
        "--seconds", type=float, nargs=2, default=[2.0, 12.0], metavar=("TUNING", "FINAL")
    )
    main(**vars(parser.parse_args()))
