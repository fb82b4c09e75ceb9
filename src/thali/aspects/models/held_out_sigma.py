"""Choose the standard deviation of similarities by how well similarities that are left out are predicted.

A learned sigma falls until features explain the noise: any set of objects may have a feature, so that enough of them
fit whatever was measured. Similarities that are left out show it. Each of several parts of the pairs is left out in
turn, and one untempered chain goes through falling values of sigma, an annealing, so that every value starts from the
features of a larger one.
"""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from thali.inference.progress import Progress
from thali.inference.warn import without_warnings

from ..likelihoods.additive import Additive, mean_share
from ..likelihoods.residuals import CONSTANT, VARIANCE
from ..samplers.chains import Chain
from ..samplers.task import build_task
from ..state import COLUMNS

if TYPE_CHECKING:
    import pandas

# Of the standard deviation of the similarities, for a typical number of judgements.
SHARES = (1.0, 0.8, 0.65, 0.5, 0.4, 0.3, 0.25, 0.2, 0.15, 0.1, 0.07, 0.05)
MIN_PAIRS = 10  # measured, to leave some out
MAX_PAIRS_OF_PARTS = 500  # of more of them fewer parts are left out
PARTS, FEW_PARTS = 10, 5
BURN_IN, STATES, BETWEEN = 200, 100, 5  # sweeps at each value, states that predict, and sweeps between these
WORSE = 2  # values in a row that predict worse than the best, after which smaller ones are not tried


def can_choose(data: Any) -> bool:
    """Whether there are enough similarities, and not all the same."""
    return data.n_pairs >= MIN_PAIRS and float(np.ptp(data.values)) > 0.0


def sigma_scores(data: Any, parts: dict[str, Any], show_progress: bool = False) -> "pandas.Series":
    r"""The mean log score of a similarity that was left out, by sigma, from the largest value down.

    .. math:: \frac1P \sum_{ij} \log \frac1T \sum_t \mathrm{Normal}(s_{ij} \mid \mu_{ij}^{(t)}, \sigma^2 / n_{ij})
    """
    # The runs are short, so each score is averaged with those of its neighbours, in the proportions 1:2:1.
    import pandas as pd

    rng = np.random.default_rng(0)  # a fixed stream: the choice is a function of data and prior
    number = PARTS if data.n_pairs <= MAX_PAIRS_OF_PARTS else FEW_PARTS
    part = rng.permutation(data.n_pairs) % min(number, data.n_pairs)
    spread = float(np.std(data.values)) / math.sqrt(mean_share(data))
    chains = [
        (_chain(data.take(part != k), parts, spread, rng.spawn(1)[0]), data.take(part == k)) for k in np.unique(part)
    ]
    found: dict[float, float] = {}
    since_best = 0
    with Progress(show_progress, "choosing sigma", len(SHARES) * len(chains), "runs") as progress:
        progress.note("compiling, once")
        for share in SHARES:
            sigma, total = share * spread, 0.0
            for chain, left_out in chains:
                total += _log_score(chain, left_out, sigma)
                progress.update(len(found) * len(chains))
            since_best = 0 if total / data.n_pairs > max(found.values(), default=-math.inf) else since_best + 1
            found[sigma] = total / data.n_pairs
            if since_best == WORSE:
                break
    return pd.Series(_smoothed(list(found.values())), list(found), name="log_score").rename_axis("sigma")


def _smoothed(scores: list[float]) -> np.ndarray:
    """Each number averaged with its neighbours; the first and the last count as their own neighbours."""
    padded = np.concatenate([scores[:1], scores, scores[-1:]])
    return 0.25 * padded[:-2] + 0.5 * padded[1:-1] + 0.25 * padded[2:]


def _chain(data: Any, parts: dict[str, Any], sigma: float, rng: np.random.Generator) -> Chain:
    likelihood = Additive(sigma, parts["likelihood"].constant)
    settings = {name: parts[name] for name in ("prior", "weight_prior", "alpha")}
    with without_warnings():
        task = build_task(
            data=data, likelihood=likelihood, sampler=None, draws=1, tune=10**7, thin=1, tempering=False, **settings
        )
    return Chain(task, rng)


def _log_score(chain: Chain, left_out: Any, sigma: float) -> float:
    """The sum over the left-out similarities, after a burn-in at this sigma."""
    from scipy.special import logsumexp

    chain.caches.real[:, VARIANCE] = sigma**2
    chain.run_to(chain.sweeps + BURN_IN)
    mu = np.empty((STATES, left_out.n_pairs))
    for number in range(STATES):
        chain.run_to(chain.sweeps + BETWEEN)
        b = chain.state
        columns = int(b.whole[COLUMNS])
        Z, w = b.Z[:columns], b.w[:columns]
        mu[number] = chain.cache.real[CONSTANT] + w @ (Z[:, left_out.first] * Z[:, left_out.second])
    deviation = sigma / np.sqrt(left_out.judgements)
    logs = -0.5 * ((left_out.values - mu) / deviation) ** 2 - np.log(deviation) - 0.5 * math.log(2.0 * math.pi)
    return float(np.asarray(logsumexp(logs, axis=0)).sum()) - left_out.n_pairs * math.log(STATES)
