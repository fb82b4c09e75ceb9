"""Plackett-Luce regression: a sweep over the data, passes to the maximum, effective draws a CPU
second.

    python benchmarks/plackett_luce_regression.py [FOLDER]

1. One sweep over n rows of p = 27 columns, K = 3: the fused sums that the maximum and the
   variational method need, and a full sweep of the published Gibbs sampler (columns, times,
   weights); CPU times of plain NumPy divided by ours.
2. Sweeps over the data to the maximum for a = 1.1 and a = 1, beside those that the published EM
   needs until its objective is within 1e-8 of it (relative; at most 20,000), and a million rows.
3. Worst effective draws a CPU second over eight chains (of a, of the log-likelihood, of the log
   odds of 40 rows), recommended / published sampler, a learned.
4. Worst effective draws a CPU second of the relative weights with a = 1 fixed: the default sampler,
   Hamiltonian Monte Carlo / the plain sweep of columns, times and weights.

FOLDER holds iris.csv, wine.csv, heart.csv, pima.csv, german_numeric.csv and lenses.csv (UCI; the
class in the last column); without it 2 to 4 run on simulated data.
"""

import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from effective_sample_sizes import columns, worst_ess, worst_rhat
from published_samplers import published_plackett_luce

from thali._classify.plackett_luce.chain_state import sort_rows_by_class
from thali._classify.plackett_luce.markov_chain import WeightChain, build_gibbs_settings
from thali._classify.plackett_luce.nonnegative_columns import PlackettLuceDesign
from thali._classify.plackett_luce.posterior_mode import maximise_class_weights
from thali._classify.plackett_luce.row_sums import CovariateRows
from thali._data.classification_data import merge_rows

NAMES = ("iris", "wine", "heart", "pima", "german_numeric")
SAMPLED = ("iris", "wine", "heart", "pima", "german_numeric", "lenses")
FIXED = ("iris", "wine", "heart")
GAP = 1e-8
A_RANGE = (1e-3, 1e2)
# settings of a run by the published sampler
PUBLISHED = {"sampler": "exchange", "sweep": published_plackett_luce}
OBJECTIVE = -1545689.73313  # of a million rows, by another program


def simulated(n: int, classes: int, standardize: bool = True):
    """W and codes: 13 normal covariates, scores with Gamma(.3) weights."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 13))
    weights = rng.gamma(0.3, size=(classes, 27))
    W = matrix(X, standardize=False)
    scores = W @ weights.T
    shares = (scores / scores.sum(axis=1, keepdims=True)).cumsum(axis=1)
    codes = (shares < rng.random((n, 1))).sum(axis=1)
    return matrix(X) if standardize else W, codes


def matrix(X, standardize: bool = True):
    return PlackettLuceDesign.fit(
        X, [f"x{j}" for j in range(X.shape[1])], standardize=standardize
    ).apply(X)


def problems(folder, names):
    """Name, W and codes of the tables in a folder, or of simulated data."""
    if folder is None:
        return {"simulated, n = 300": simulated(300, 3)}
    import pandas as pd

    tables = {name: pd.read_csv(Path(folder) / f"{name}.csv") for name in names}
    return {
        name: (
            matrix(table.iloc[:, :-1].to_numpy(float)),
            np.unique(table.iloc[:, -1], return_inverse=True)[1],
        )
        for name, table in tables.items()
    }


def cpu_seconds(run, repeats: int) -> float:
    """CPU seconds of a call: the least of several, the first of which is not counted."""
    run()
    found = []
    for _ in range(repeats):
        begin = time.process_time()
        run()
        found.append(time.process_time() - begin)
    return min(found)


# 1. sweeps ----------------------------------------------------------------------------------------


def plain_sums(W, codes, weights):
    """What one pass of EM needs, in NumPy."""
    scores = W @ weights.T
    own, total = scores[np.arange(len(codes)), codes], scores.sum(axis=1)
    R = np.zeros_like(weights)
    for k in range(len(weights)):
        R[k] = (1.0 / own[codes == k]) @ W[codes == k]
    return float(np.log(own / total).sum()), R, (1.0 / total) @ W


def plain_sweep(W, codes, weights, rng, a: float = 1.0, b: float = 1.0):
    """One sweep of the published sampler for a fixed a, in NumPy; new weights."""
    terms = np.cumsum(W * weights[codes], axis=1)
    chosen = (terms < rng.random((len(W), 1)) * terms[:, -1:]).sum(axis=1)
    times = rng.standard_exponential(len(W)) / (W @ weights.sum(axis=0))
    counts = np.bincount(codes * W.shape[1] + chosen, minlength=weights.size).reshape(weights.shape)
    return rng.gamma(a + counts) / (b + times @ W)


def sweeps(sizes, repeats: int) -> None:
    print("one sweep over n rows, p = 27, K = 3: CPU time of plain NumPy / of thali")
    for n in sizes:
        W, codes = simulated(n, 3)
        weights = np.full((3, 27), 1.0 / 81)
        rows = CovariateRows(W, codes, 3, threads=1)
        fused = cpu_seconds(
            lambda rows=rows, w=weights: rows.compute_statistics(w, w.sum(axis=0)), repeats
        )
        plain = cpu_seconds(partial(plain_sums, W, codes, weights), repeats)
        found, expected = (
            rows.compute_statistics(weights, weights.sum(axis=0)),
            plain_sums(W, codes, weights),
        )
        assert np.isclose(found.log_likelihood, expected[0]) and np.allclose(found.R, expected[1])

        settings = replace(
            build_gibbs_settings(W.size, 1.0, A_RANGE, 1.0, 1, 10**6, 1, 1), **PUBLISHED
        )
        chain = WeightChain(settings, sort_rows_by_class(W, codes, 3), 3, np.random.default_rng(1))
        gibbs = cpu_seconds(lambda chain=chain: chain.run_until(chain.sweeps + 1), repeats)
        rng = np.random.default_rng(1)
        slow = cpu_seconds(partial(plain_sweep, W, codes, weights, rng), repeats)
        print(
            f"  n = {n:9,}: sums {plain / fused:4.1f} ({1e9 * fused / n:.0f} ns a row), "
            f"Gibbs sweep {slow / gibbs:4.1f} ({1e9 * gibbs / n:.0f} ns a row)",
            flush=True,
        )


# 2. the maximum -----------------------------------------------------------------------------------


def em_passes(rows: CovariateRows, a: float, objective: float, most: int = 20_000) -> int | None:
    """Passes of the published EM until its objective is within 1e-8 of a maximum; None: not within
    so many."""
    weights = np.full((rows.n_classes, rows.p), 1.0 / (rows.n_classes * rows.p))
    for done in range(1, most + 1):
        sums = rows.compute_statistics(weights, weights.sum(axis=0))
        shares = weights[weights > 0.0] / weights.sum()
        reached = sums.log_likelihood + (a - 1.0) * float(np.log(shares).sum())
        if reached > objective - GAP * abs(objective):
            return done
        weights = np.maximum(a - 1.0 + weights * sums.R, 0.0) / (1.0 + sums.s)
    return None


def maxima(folder, most: int) -> None:
    print("sweeps over the data to the maximum: thali, and the published EM to 1e-8")
    for name, (W, codes) in problems(folder, NAMES).items():
        classes = codes.max() + 1
        for a in (1.1, 1.0):
            rows = CovariateRows(W, codes, classes, threads=1)
            fit = maximise_class_weights(rows, a)
            passes = em_passes(rows, a, fit.objective, most)
            other = f"{passes:,}" if passes else f"more than {most:,}"
            print(f"  {name:20s} a = {a:.1f}: {fit.n_passes:6,} and {other}", flush=True)


def a_million(n: int) -> None:
    W, codes = simulated(n, 5, standardize=False)
    begin = time.process_time()
    data = merge_rows(W, codes)
    fit = maximise_class_weights(CovariateRows(data.matrix, data.codes, 5, data.counts), 1.1)
    spent = time.process_time() - begin
    one = cpu_seconds(
        lambda: CovariateRows(W, codes, 5, threads=1).compute_statistics(
            fit.weights, fit.weights.sum(axis=0)
        ),
        2,
    )
    messages = f", another program's {OBJECTIVE:.5f}" if n == 10**6 else ""
    print(
        f"maximum of {n:,} rows, p = 27, K = 5, a = 1.1: objective {fit.objective:.5f}{messages};"
        f" {fit.n_passes} sweeps, CPU time that of {spent / one:.0f} sweeps of sums ({spent:.0f}"
        " s)",
        flush=True,
    )


# 3. effective draws -------------------------------------------------------------------------------


def run_chains(W, codes, a, sampler: str, chains: int, draws: int, tune: int, thin: int):
    """What every chain kept, and CPU seconds of the sweeps after tuning."""
    settings = build_gibbs_settings(W.size, a, A_RANGE, 1.0, draws, tune, chains, thin)
    if sampler == "published":
        settings = replace(settings, **PUBLISHED)
    rows, classes = sort_rows_by_class(W, codes, codes.max() + 1), int(codes.max()) + 1
    WeightChain(settings, rows, classes, np.random.default_rng(0)).run_until(1)
    spent, found = 0.0, []
    for number in range(chains):
        chain = WeightChain(settings, rows, classes, np.random.default_rng([1, number]))
        chain.run_until(tune * thin)
        begin = time.process_time()
        chain.run_until(chain.total)
        spent += time.process_time() - begin
        found.append(chain.record)
    return found, spent


def quantities(W, codes, sampler: str, chains: int, draws: int, tune: int, thin: int):
    """Draws (chain, draw) by name, and CPU seconds of those after tuning."""
    shown = np.unique(np.linspace(0, len(codes) - 1, 40).astype(int))
    kept, spent = run_chains(W, codes, None, sampler, chains, draws, tune, thin)
    found = []
    for chain in kept:
        scores = np.maximum(chain.weights @ W[shown].T, 1e-290)
        own = scores[:, codes[shown], np.arange(len(shown))]
        odds = np.log(own) - np.log(np.maximum(scores.sum(axis=1) - own, 1e-290))
        found.append((np.log(chain.a), chain.log_likelihood, odds))
    names = ("a", "log-likelihood", "worst log odds")
    return {
        name: columns(np.stack(each))
        for name, each in zip(names, zip(*found, strict=True), strict=True)
    }, spent


def effective(folder, chains: int, draws: int, tune: int, thins: tuple[int, int]) -> None:
    """Every so many sweeps are kept, more for the published sampler: short chains that stay apart
    seem to mix."""
    lengths = " and ".join(f"{(draws + tune) * thin:,}" for thin in thins)
    print(
        f"effective draws a CPU second, recommended / published sampler; {chains} chains of"
        f" {lengths} sweeps"
    )
    for name, (W, codes) in problems(folder, SAMPLED).items():
        each, messages = {}, []
        for sampler, thin in zip(("recommended", "published"), thins, strict=True):
            drawn, spent = quantities(W, codes, sampler, chains, draws, tune, thin)
            each[sampler] = {what: worst_ess(values) / spent for what, values in drawn.items()}
            messages.append(f"{max(worst_rhat(values) for values in drawn.values()):.3f}")
        gains = [
            f"{what} {each['recommended'][what] / each['published'][what]:.3g}"
            for what in each["published"]
        ]
        print(
            f"  {name:20s} {', '.join(gains)}; largest R-hat {messages[0]} / {messages[1]}",
            flush=True,
        )


# 4. a fixed ---------------------------------------------------------------------------------------


def weights_a_second(W, codes, sampler: str, chains: int, draws: int, tune: int) -> float:
    """Effective draws a CPU second of the relative weight that has fewest, at a = 1."""
    kept, spent = run_chains(W, codes, 1.0, sampler, chains, draws, tune, 1)
    weights = np.stack([chain.weights.reshape(draws, -1) for chain in kept])
    return worst_ess(columns(weights)) / spent


def at_one(folder, chains: int, draws: int, tune: int) -> None:
    print(
        f"worst weight's effective draws a CPU second at a = 1, default / plain sweep; {chains}"
        f" chains of {draws}"
    )
    for name, (W, codes) in problems(folder, FIXED).items():
        ours, plain = (
            weights_a_second(W, codes, which, chains, draws, tune)
            for which in ("recommended", "published")
        )
        print(f"  {name:20s} {ours:,.0f} / {plain:,.0f} = {ours / plain:.1f}", flush=True)


def main(small: bool = False, folder=None) -> None:
    if small:
        sweeps([2_000], 2)
        maxima(None, 50)
        a_million(3_000)
        effective(None, 2, 50, 50, (1, 2))
        return at_one(None, 2, 50, 50)
    sweeps([1_000, 100_000, 1_000_000], 4)
    maxima(folder, 20_000)
    a_million(1_000_000)
    effective(folder, 8, 5_000, 1_000, (10, 60))
    at_one(folder, 4, 20_000, 1_000)


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if word != "--small"]
    main("--small" in sys.argv[1:], words[0] if words else None)
