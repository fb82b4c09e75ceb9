"""The embeddings of cblearn, in an environment of its own, for `triplets.py`.

    python triplets_cblearn.py DATA.npz SECONDS

An odd one out k of i, j, k says that i is nearer to j than to k, and j to i than to k. Each
estimator is fitted to nine tenths of these triplets in 15, 8, 4 and 2 dimensions, with its defaults
(SOE with two starts of ten), as long as it has used fewer CPU seconds than are given; the
dimensions that predict the last tenth best are taken (LORE, which finds the rank, is given 15). The
probability of a pair is in proportion to exp(-distance^2), as STE has it, at the scale that
predicts this tenth best: of the others, which have no probabilities of their own for three objects,
a fair guess. What does not end within ten CPU minutes is stopped. Distances do not change when an
embedding is turned, so that its axes are no features. LORE, FORTE and OENN need torch.
"""

import signal
import sys
import time
import warnings

import numpy as np
from cblearn import embedding

ESTIMATORS = {
    "STE": {},
    "TSTE": {},
    "CKL": {},
    "GNMDS": {},
    "SOE": {"n_init": 2},
    "LORE": {},
    "FORTE": {},
    "OENN": {},
}
DIMENSIONS, SCALES = (15, 8, 4, 2), np.geomspace(1e-3, 1e3, 60)
MOST = 600.0  # CPU seconds of an estimator


def anchored(rows):
    """Both triplets (anchor, nearer, farther) of each odd one out."""
    return np.concatenate([rows, rows[:, [1, 0, 2]]])


def distances(x, rows):
    """Squared distances of the three pairs (0 1), (0 2), (1 2) of each row, in units of their
    mean."""
    a, b, c = (x[rows[:, k]] for k in range(3))
    d = np.stack([((p - q) ** 2).sum(1) for p, q in ((a, b), (a, c), (b, c))], axis=1)
    return d / max(d.mean(), 1e-300)


def score(d, scale):
    """The mean log-probability of the first two objects of each row, and how often they are the
    nearest pair."""
    s = -scale * (d - d.min(axis=1, keepdims=True))
    return float((s[:, 0] - np.log(np.exp(s).sum(axis=1))).mean()), float(
        (d.argmin(axis=1) == 0).mean()
    )


def best_of(name, rows, held, seconds):
    """The embedding, its dimensions and its scale that predict `held` best, of those that were
    tried."""
    began, tried = time.process_time(), []
    for dimensions in DIMENSIONS if name != "LORE" else DIMENSIONS[:1]:
        model = getattr(embedding, name)(
            n_components=dimensions, random_state=1, **ESTIMATORS[name]
        )
        x = np.asarray(model.fit_transform(anchored(rows)))
        d = distances(x, held)
        tried += [(score(d, scale)[0], dimensions, scale, x) for scale in SCALES]
        if time.process_time() - began > seconds:
            break
    return max(tried, key=lambda each: each[0])[1:]


def stop(*_):
    """The time of an estimator is over."""
    raise TimeoutError


if __name__ == "__main__":
    signal.signal(signal.SIGPROF, stop)
    warnings.simplefilter("ignore")
    data, seconds = np.load(sys.argv[1]), float(sys.argv[2])
    train, test = data["train"], data["test"]
    order = np.random.default_rng(2).permutation(len(train))
    held, rest = train[order[: len(train) // 10]], train[order[len(train) // 10 :]]
    for name in ESTIMATORS:
        began = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, MOST)
        try:
            dimensions, scale, x = best_of(name, rest, held, seconds)
        except TimeoutError:
            print(f"  {name} stopped after {MOST:.0f} CPU seconds", flush=True)
            continue
        # without torch; the widths of OENN's layers beside a new one
        except (ModuleNotFoundError, TypeError) as error:
            print(f"  {name} not run: {error}", flush=True)
            continue
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0.0)
        log_score, right = score(distances(x, test), scale)
        used = time.process_time() - began
        print(
            f"  {name} {log_score:.4f}, {right:.3f} right ({dimensions} dimensions; {used:.0f} CPU"
            " s)",
            flush=True,
        )
