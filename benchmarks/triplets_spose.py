"""SPoSE (Zheng, Pereira, Baker & Hebart 2019) in an environment with jax, for `triplets.py`.

    python triplets_spose.py DATA.npz SECONDS

P(ij) is the softmax of the products x_i x_j of the three pairs, x of 0 or more, with an L1 penalty, by Adam on
mini-batches of 256; penalty and dimensions are those that predict a tenth of the training triplets best, and the model
is fitted again to all. Every setting has the CPU seconds that are given.
"""

import sys
import time

import jax
import jax.numpy as jnp
import numpy as np

BATCH, RATE, START = 256, 0.003, 0.1
PENALTIES, DIMENSIONS = (0.0, 0.001, 0.003, 0.01), (8, 20)


def log_p(x, rows):
    """The log-probability of the first two objects of each row."""
    a, b, c = (jnp.abs(x)[rows[:, k]] for k in range(3))
    s = jnp.stack([(a * b).sum(1), (a * c).sum(1), (b * c).sum(1)], axis=1)
    return jax.nn.log_softmax(s, axis=1)[:, 0]


@jax.jit
def step(x, mean, square, t, rows, penalty):
    """A step of Adam."""
    slope = jax.grad(lambda x: -log_p(x, rows).mean() + penalty * jnp.abs(x).sum() / x.shape[0])(x)
    mean, square = 0.9 * mean + 0.1 * slope, 0.999 * square + 0.001 * slope**2
    ahead = RATE * (mean / (1 - 0.9**t)) / (jnp.sqrt(square / (1 - 0.999**t)) + 1e-8)
    return x - ahead, mean, square


def fit(rows, n, penalty, dimensions, seconds):
    """The embedding after so many CPU seconds."""
    rng = np.random.default_rng(1)
    x = jnp.array(rng.random((n, dimensions)) * START)
    mean, square, t = jnp.zeros(x.shape), jnp.zeros(x.shape), 0
    x, mean, square = step(x, mean, square, 1.0, jnp.array(rows[:BATCH]), penalty)  # compiles
    began = time.process_time()
    while time.process_time() - began < seconds:
        for _ in range(50):
            t += 1
            x, mean, square = step(x, mean, square, float(t), rows[rng.integers(0, len(rows), BATCH)], penalty)
    return x, t


if __name__ == "__main__":
    data, seconds = np.load(sys.argv[1]), float(sys.argv[2])
    train, test, n = data["train"], data["test"], int(data["n"])
    order = np.random.default_rng(2).permutation(len(train))
    held, rest = train[order[: len(train) // 10]], train[order[len(train) // 10 :]]
    tried = {}
    for penalty in PENALTIES:
        for dimensions in DIMENSIONS:
            tried[penalty, dimensions] = float(log_p(fit(rest, n, penalty, dimensions, seconds)[0], held).mean())
    best = max(tried, key=lambda settings: tried[settings])
    x, steps = fit(train, n, *best, seconds)
    score = float(log_p(x, test).mean())
    print(f"  SPoSE {score:.4f} (penalty {best[0]:g}, {best[1]} dimensions of {len(tried)} settings; {steps:,} steps)")
