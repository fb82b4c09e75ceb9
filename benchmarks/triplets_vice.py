"""VICE (Muttenthaler et al. 2022) in PyTorch, for `triplets.py` and `triplets_human.py`.

    python triplets_vice.py DATA.npz SECONDS [FINAL_SECONDS]

Every coordinate of the embedding has a normal posterior of its own, N(m, s²); similarities are the
products of max(x, 0). The loss is minus the mean log-probability of the answers at one draw of x,
and (log q(x) - log p(x)) / the number of answers, with p a mixture of two normals about 0 (the spike,
of share PI, and the slab), by Adam on mini-batches. A probability is the mean of DRAWS draws of x.
Prior and rate are those that predict a tenth of the training triplets best, and the model is fitted
again to all. Every setting has the CPU seconds that are given, the last fit FINAL_SECONDS. With
`anchored` in the data a row is (a, the nearer one, the farther one).

A dimension stays if more than KEPT objects are positive by their posterior at a false discovery rate
of LEVEL. The score is that of all dimensions, because those that stay alone predict less well, and
is printed too.
"""

import itertools
import math
import sys
import time

import numpy as np
import torch
from triplets_spose import found

BATCH, DIMENSIONS, DRAWS = 256, 50, 25
PI, KEPT, LEVEL = 0.5, 5, 0.05
SPIKES, SLABS, RATES = (0.125, 0.25), (0.5, 1.0, 2.0), (0.003, 0.01)


def log_probabilities(x, rows, n_pairs):
    """log P of the pairs (0 1), (0 2) and, of three, (1 2) of each row."""
    a, b, c = x.relu()[rows.T]
    products = [a * b, a * c, b * c][:n_pairs]
    return torch.stack([product.sum(1) for product in products], dim=1).log_softmax(1)


def log_prior(x, spike, slab):
    """The log-density of the mixture, without what is constant."""
    narrow = math.log(PI / spike) - x**2 / (2 * spike**2)
    wide = math.log((1 - PI) / slab) - x**2 / (2 * slab**2)
    return torch.logaddexp(narrow, wide).sum()


def fit(rows, n, n_pairs, spike, slab, rate, seconds):
    """Means and scales after so many CPU seconds, and the steps."""
    torch.manual_seed(1)
    scale = math.sqrt(2 / DIMENSIONS)
    mean = (scale * torch.randn(n, DIMENSIONS)).requires_grad_()
    log_scale = torch.full((n, DIMENSIONS), -1 / scale).requires_grad_()
    adam = torch.optim.Adam([mean, log_scale], lr=rate, fused=True)
    steps, began = 0, time.process_time()
    while time.process_time() - began < seconds:
        for _ in range(50):
            steps += 1
            batch = rows[torch.randint(len(rows), (BATCH,))]
            x = mean + log_scale.exp() * torch.randn(n, DIMENSIONS)
            gap = -log_scale.sum() - log_prior(x, spike, slab)
            loss = gap / len(rows) - log_probabilities(x, batch, n_pairs)[:, 0].mean()
            adam.zero_grad()
            loss.backward()
            adam.step()
    return mean.detach(), log_scale.detach().exp(), steps


def staying(mean, scale):
    """Which dimensions stay, by Benjamini and Hochberg's procedure in each."""
    n = len(mean)
    at_most_zero = torch.special.ndtr(-mean / scale).sort(dim=0).values
    threshold = LEVEL * torch.arange(1, n + 1)[:, None] / n
    ranks = torch.arange(1, n + 1)[:, None] * (at_most_zero <= threshold)
    return ranks.max(dim=0).values > KEPT


@torch.no_grad()
def score(mean, scale, rows, n_pairs):
    """The mean log-probability of the first pair, and how often it is the most probable one."""
    torch.manual_seed(2)
    p = torch.zeros(len(rows), n_pairs)
    for _ in range(DRAWS):
        x = mean + scale * torch.randn(mean.shape)
        p += log_probabilities(x, rows, n_pairs).exp() / DRAWS
    return float(p[:, 0].log().mean()), float((p.argmax(1) == 0).float().mean())


if __name__ == "__main__":
    torch.set_num_threads(1)
    data, seconds = np.load(sys.argv[1]), [float(text) for text in sys.argv[2:]]
    train, test = torch.from_numpy(data["train"]), torch.from_numpy(data["test"])
    n, n_pairs = int(data["n"]), 2 if "anchored" in data else 3
    BATCH = int(data.get("batch", BATCH))
    DIMENSIONS = int(data.get("dimensions", DIMENSIONS))
    order = np.random.default_rng(2).permutation(len(train))
    held, rest = train[order[: len(train) // 10]], train[order[len(train) // 10 :]]
    tried = {}
    for settings in itertools.product(SPIKES, SLABS, RATES):
        mean, scale, _ = fit(rest, n, n_pairs, *settings, seconds[0])
        tried[settings] = score(mean, scale, held, n_pairs)[0]
    best = max(tried, key=lambda settings: tried[settings])
    mean, scale, steps = fit(train, n, n_pairs, *best, seconds[-1])
    log_score, right = score(mean, scale, test, n_pairs)
    stays = staying(mean, scale)
    recovered = ""
    if "features" in data:
        x = mean.relu().numpy()
        recovered = f", {found(x, data['features'], 0.8)} features"
    of_those, _ = score(mean[:, stays], scale[:, stays], test, n_pairs)
    print(
        f"  VICE {log_score:.4f}, {right:.3f} right{recovered}; {of_those:.4f} by the {int(stays.sum())}"
        f" dimensions that stay (spike {best[0]:g}, slab {best[1]:g}, rate {best[2]:g} of"
        f" {len(tried)} settings; {steps:,} steps, {time.process_time():.0f} CPU s in all)"
    )
