"""SPoSE (Zheng, Pereira, Baker & Hebart 2019) in NumPy, for `triplets.py` and `triplets_human.py`.

    python triplets_spose.py DATA.npz SECONDS [FINAL_SECONDS]

P(ij) is the softmax of the products x_i x_j of the three pairs, x of 0 or more, with an L1 penalty,
by Adam on mini-batches of 256; penalty and dimensions are those that predict a tenth of the
training triplets best, and the model is fitted again to all. Every setting has the CPU seconds that
are given, the last fit FINAL_SECONDS. A true feature counts as found if a dimension correlates with it
at .9 or more. With `anchored` in the data a row is (a, the nearer one, the farther one).
"""

import sys
import time

import numpy as np

BATCH, RATE, START = 256, 0.003, 0.1
PENALTIES, DIMENSIONS = (0.0, 0.003, 0.01, 0.03, 0.1), (8, 20)
FOUND = 0.9


def probabilities(x, rows, n_pairs=3):
    """P of the three pairs (0 1), (0 2), (1 2) of each row, or 0 of the last."""
    a, b, c = (x[rows[:, k]] for k in range(3))
    s = np.stack([(a * b).sum(1), (a * c).sum(1), (b * c).sum(1)], axis=1)
    s[:, n_pairs:] = -np.inf
    s = np.exp(s - s.max(axis=1, keepdims=True))
    return s / s.sum(axis=1, keepdims=True)


def slope_of(x, rows, n_pairs, penalty):
    """The gradient of minus the mean log-probability of the first pair, and of the penalty a row of
    x."""
    p = probabilities(x, rows, n_pairs)
    p[:, 0] -= 1.0
    p /= len(rows)
    a, b, c = (x[rows[:, k]] for k in range(3))
    of_pairs = p[:, 0, None], p[:, 1, None], p[:, 2, None]
    slope = np.full(x.shape, penalty / len(x))
    np.add.at(slope, rows[:, 0], of_pairs[0] * b + of_pairs[1] * c)
    np.add.at(slope, rows[:, 1], of_pairs[0] * a + of_pairs[2] * c)
    np.add.at(slope, rows[:, 2], of_pairs[1] * a + of_pairs[2] * b)
    return slope


def score(x, rows, n_pairs=3):
    """The mean log-probability of the first pair, and how often it is the most probable one."""
    p = probabilities(x, rows, n_pairs)
    return float(np.log(p[:, 0]).mean()), float((p.argmax(axis=1) == 0).mean())


def fit(rows, n, penalty, dimensions, seconds, n_pairs=3):
    """The embedding after so many CPU seconds, and the steps."""
    rng = np.random.default_rng(1)
    x = rng.random((n, dimensions)) * START
    mean, square, t = np.zeros(x.shape), np.zeros(x.shape), 0
    began = time.process_time()
    while time.process_time() - began < seconds:
        for _ in range(50):
            t += 1
            slope = slope_of(x, rows[rng.integers(0, len(rows), BATCH)], n_pairs, penalty)
            mean, square = 0.9 * mean + 0.1 * slope, 0.999 * square + 0.001 * slope**2
            step = RATE * (mean / (1 - 0.9**t)) / (np.sqrt(square / (1 - 0.999**t)) + 1e-8)
            x = np.maximum(x - step, 0.0)
    return x, t


def found(x, features, least=FOUND):
    """How many true features correlate with a dimension at .9, or as given, or more."""
    varying = x[:, x.std(axis=0) > 1e-6]
    both = np.corrcoef(features.T, varying.T)[: features.shape[1], features.shape[1] :]
    return int((both.max(axis=1) >= least).sum())


if __name__ == "__main__":
    data, seconds = np.load(sys.argv[1]), [float(text) for text in sys.argv[2:]]
    train, test, n = data["train"], data["test"], int(data["n"])
    n_pairs = 2 if "anchored" in data else 3
    order = np.random.default_rng(2).permutation(len(train))
    held, rest = train[order[: len(train) // 10]], train[order[len(train) // 10 :]]
    tried = {}
    for penalty in data.get("penalties", PENALTIES):
        for dimensions in data.get("dimensions", DIMENSIONS):
            x, _ = fit(rest, n, penalty, dimensions, seconds[0], n_pairs)
            tried[penalty, dimensions] = score(x, held, n_pairs)[0]
    best = max(tried, key=lambda settings: tried[settings])
    x, steps = fit(train, n, *best, seconds[-1], n_pairs)
    log_score, right = score(x, test, n_pairs)
    recovered = f", {found(x, data['features'])} features" if "features" in data else ""
    print(
        f"  SPoSE {log_score:.4f}, {right:.3f} right{recovered}"
        f" (penalty {best[0]:g}, {best[1]} dimensions of {len(tried)} settings; {steps:,} steps,"
        f" {time.process_time():.0f} CPU s in all)"
    )
