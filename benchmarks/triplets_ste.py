"""Stochastic triplet embedding by cblearn, in an environment of its own, for `triplets.py`.

    python triplets_ste.py DATA.npz SECONDS

An odd one out k of i, j, k says that i is nearer to j than to k, and j to i than to k. The probability of a pair is in
proportion to exp(-distance^2), as STE has it, at the scale that predicts a tenth of the training triplets best, as are
the dimensions. cblearn stops where it has converged.
"""

import sys
import time

import numpy as np
from cblearn.embedding import STE

DIMENSIONS, SCALES = (2, 4, 8), np.geomspace(0.05, 20.0, 40)


def anchored(rows):
    """Both triplets (anchor, nearer, farther) of each odd one out."""
    return np.concatenate([rows, rows[:, [1, 0, 2]]])


def score(x, rows, scale):
    """The mean log-probability of the first two objects of each row, and how often they are the most probable pair."""
    a, b, c = (x[rows[:, k]] for k in range(3))
    s = -scale * np.stack([((p - q) ** 2).sum(1) for p, q in ((a, b), (a, c), (b, c))], axis=1)
    s -= s.max(axis=1, keepdims=True)
    return float((s[:, 0] - np.log(np.exp(s).sum(axis=1))).mean()), float((s.argmax(axis=1) == 0).mean())


if __name__ == "__main__":
    data = np.load(sys.argv[1])
    train, test = data["train"], data["test"]
    order = np.random.default_rng(2).permutation(len(train))
    held, rest = train[order[: len(train) // 10]], train[order[len(train) // 10 :]]
    began, tried = time.process_time(), {}
    for dimensions in DIMENSIONS:
        x = STE(n_components=dimensions, random_state=1).fit_transform(anchored(rest))
        tried |= {(dimensions, scale): score(x, held, scale)[0] for scale in SCALES}
    dimensions, scale = max(tried, key=lambda settings: tried[settings])
    x = STE(n_components=dimensions, random_state=1).fit_transform(anchored(train))
    used = time.process_time() - began
    log_score, right = score(x, test, scale)
    print(f"  STE {log_score:.4f}, {right:.3f} right ({dimensions} dimensions; {used:.0f} CPU s in all)")
