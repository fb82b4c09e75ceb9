"""`compare`, and predictions about sets under a finite prior, against brute force that shares no
code with thali.

The exact posteriors are importance sampling out of simulators of the priors, with a recursion of
its own.
"""

import itertools
import math

import numpy as np
import pandas as pd
import pytest

import thali as th

LABELS = ("a", "b", "c", "d")
LIMIT = 4.5  # standard errors of both sides


def simulated(columns, count, rng, unique=True):
    """Owners (draws, K, 4) and weights (draws, K) of `count` draws; the last four columns are the
    unique aspects."""
    owners = np.zeros((count, columns.shape[1] + 4 * unique, 4), bool)
    owners[:, : columns.shape[1]] = columns
    if unique:
        owners[:, columns.shape[1] :] = np.eye(4, dtype=bool)
    return owners, rng.exponential(size=owners.shape[:2])


def finite(count, k, rng):
    """Alpha and K columns of a beta-Bernoulli prior."""
    alpha = rng.exponential(size=count)
    share = rng.beta(alpha[:, None] / k, 1.0, (count, k))
    return alpha, rng.random((count, k, 4)) < share[:, :, None]


def buffet(count, rng, n=4):
    """Alpha and the columns of the Indian buffet, customer after customer; rows beyond a draw's
    columns are empty."""
    alpha = rng.exponential(size=count)
    fresh = rng.poisson(alpha[:, None] / np.arange(1, n + 1))
    first = np.cumsum(fresh, axis=1)
    columns = np.zeros((count, int(first[:, -1].max()), n), bool)
    place = np.arange(columns.shape[1])
    for i in range(n):
        before = first[:, i - 1] if i else np.zeros(count, int)
        old = place < before[:, None]
        took = columns.sum(axis=2)
        columns[:, :, i] = old & (rng.random(old.shape) < took / (i + 1))
        columns[:, :, i] |= ~old & (place < first[:, i, None])
    return alpha, columns


def probabilities(owners, weights, lapse):
    """Probability that each member of each set of options is chosen out of it, by recursion over
    subsets."""
    draws, n = len(owners), owners.shape[2]
    found = {}
    for size in range(1, n + 1):
        for members in itertools.combinations(range(n), size):
            p, total = np.zeros((draws, size)), np.zeros(draws)
            for k in range(owners.shape[1]):
                inside = owners[:, k, list(members)]
                some = inside.any(1) & ~inside.all(1)
                total += np.where(some, weights[:, k], 0.0)
                for left in range(1, size):
                    for rest in itertools.combinations(range(size), left):
                        hit = some & (inside.sum(1) == left) & inside[:, list(rest)].all(1)
                        if hit.any():
                            smaller = found[tuple(members[r] for r in rest)]
                            for place, r in enumerate(rest):
                                p[hit, r] += weights[hit, k] * smaller[hit, place]
            found[members] = np.where(
                total[:, None] > 0.0, p / np.where(total > 0.0, total, 1.0)[:, None], 1.0 / size
            )
    return {members: (1.0 - lapse) * p + lapse / len(members) for members, p in found.items()}


def average(values, log_weights):
    """Weighted mean of `values` (draws, ...), and its standard error."""
    w = np.exp(log_weights - log_weights.max())
    w /= w.sum()
    w = w.reshape(-1, *[1] * (values.ndim - 1))
    mean = (w * values).sum(0)
    return mean, np.sqrt((w**2 * (values - mean) ** 2).sum(0))


CHOSEN = {"abcd": (3, 1, 1, 2), "abc": (2, 0, 1), "bcd": (1, 3, 0), "ab": (1, 2), "cd": (2, 1)}


def choices():
    rows = []
    for number, (offered, counts) in enumerate(CHOSEN.items()):
        for chosen, count in zip(offered, counts, strict=True):
            rows += [
                {"obsID": f"{number}{chosen}", "alt": x, "choice": int(x == chosen), "count": count}
                for x in offered
            ]
    return th.Choices(pd.DataFrame([row for row in rows if row["count"]]))


def finite_on_sets(k, unique, lapse, draws, count, seed):
    """z of every probability of every set, and of the means of alpha and the number of aspects."""
    rng = np.random.default_rng(seed)
    alpha, columns = finite(count, k, rng)
    p = probabilities(*simulated(columns, count, rng, unique), lapse)
    number = {label: i for i, label in enumerate(LABELS)}
    log_likelihood = np.zeros(count)
    for offered, counts in CHOSEN.items():
        log_likelihood += np.log(p[tuple(number[x] for x in offered)]) @ np.array(counts)
    # thali
    model = th.EliminationByAspects(k, unique=unique, lapse=lapse, tempering=None if unique else 4)
    model.fit(
        choices(), draws=draws, tune=500, chains=4, thin=25, random_seed=seed, progressbar=False
    )
    posterior, summary = model.posterior_["posterior"].dataset, model.summary()
    scores = {}
    for name, values in (("alpha", alpha), ("n_features", columns.any(2).sum(1).astype(float))):
        mean, error = average(values, log_likelihood)
        scores[name] = (summary.loc[name, "mean"] - mean) / math.hypot(
            error, summary.loc[name, "mcse_mean"]
        )
    sets = [m for m in p if len(m) > 1]
    predicted = model.predict_proba([[LABELS[i] for i in m] for m in sets])
    assert posterior.sizes["draw"] == draws
    for members, ours in zip(sets, predicted, strict=True):
        mean, error = average(p[members], log_likelihood)
        # of the slowest quantity: the errors of all sets are bounded by it
        ess = summary["ess_bulk"].min()
        spread = np.sqrt(
            np.maximum(average(p[members] ** 2, log_likelihood)[0] - mean**2, 0.0) / ess
        )
        for place, i in enumerate(members):
            scores[f"P({LABELS[i]} | {''.join(LABELS[j] for j in members)})"] = (
                ours[place] - mean[place]
            ) / math.hypot(error[place], spread[place])
    return scores


@pytest.mark.long  # a minute of compiling for each
@pytest.mark.parametrize(
    ("k", "unique", "lapse", "draws", "count"),
    [
        (2, True, 0.1, 1000, 100_000),
        (3, True, 0.02, 10_000, 1_000_000),
        (2, False, 0.3, 10_000, 1_000_000),
    ],
)
def test_a_finite_prior_on_sets_predicts_what_brute_force_predicts(k, unique, lapse, draws, count):
    scores = finite_on_sets(k, unique, lapse, draws, count, seed=5)
    assert len(scores) == 2 + 6 * 2 + 4 * 3 + 4
    assert max(map(abs, scores.values())) < LIMIT, scores


PAIRS = th.PairedComparisons(
    [[0, 4, 1, 5], [2, 0, 3, 4], [5, 3, 0, 0], [2, 1, 6, 0]], labels=LABELS
)


def log_binomial(x, n, p):
    return math.log(math.comb(n, x)) + x * np.log(p) + (n - x) * np.log1p(-p)


def scores_by_refits(model, fit, seed):
    """The columns of the table, by leaving out one pair after the other through the public
    interface."""
    seeds = np.random.SeedSequence(seed).spawn(PAIRS.n_pairs)
    nll, log_pred, gained, compared = [], [], 0.0, 0
    for a, b in itertools.combinations(range(4), 2):
        x, n = int(PAIRS.counts[a, b]), int(PAIRS.counts[a, b] + PAIRS.counts[b, a])
        rest = PAIRS.counts.copy()
        rest[a, b] = rest[b, a] = 0
        model.fit(
            th.PairedComparisons(rest, labels=LABELS),
            random_seed=seeds.pop(0),
            progressbar=False,
            **fit,
        )
        p = float(model.predict_proba([(LABELS[a], LABELS[b])])[0])
        nll.append(-log_binomial(x, n, p))
        gained += x * math.log2(2.0 * p) + (n - x) * math.log2(2.0 * (1.0 - p))
        compared += n
        drawn = model.posterior_["posterior"]["choice_probability"]
        of_pair = drawn.sel(pair=f"{LABELS[a]}, {LABELS[b]}").values
        log_pred.append(math.log(np.exp(log_binomial(x, n, of_pair)).mean()))
    return dict(nll=np.mean(nll), information=gained / compared, mean_log_pred=np.mean(log_pred))


def test_compare_is_what_refits_by_hand_give():
    fit = {"draws": 10, "tune": 10, "chains": 2, "thin": 1}
    models = {"BTL": th.EliminationByAspects("unique"), "iEBA": th.EliminationByAspects(lapse=0.05)}
    with pytest.warns():  # of so short chains
        table = th.compare(models, PAIRS, random_seed=3, cores=1, progressbar=False, **fit)
        for name, model in models.items():
            for column, expected in scores_by_refits(model, fit, 3).items():
                assert table.loc[name, column] == pytest.approx(expected, abs=1e-12), (name, column)


def exact_scores(columns, lapse, count, rng):
    """nll and mean_log_pred of a model with unique aspects, and their standard errors."""
    owners, weights = simulated(columns, count, rng)
    p = {m: c[:, 0] for m, c in probabilities(owners, weights, lapse).items() if len(m) == 2}
    counts = PAIRS.counts
    log_p = {
        (a, b): log_binomial(int(counts[a, b]), int(counts[a, b] + counts[b, a]), p[a, b])
        for a, b in itertools.combinations(range(4), 2)
    }
    nll, log_pred, errors = [], [], np.zeros(2)
    for (a, b), own in log_p.items():
        rest = sum(terms for pair, terms in log_p.items() if pair != (a, b))
        x, n = int(counts[a, b]), int(counts[a, b] + counts[b, a])
        mean, error = average(p[a, b], rest)
        decisions, chance_error = average(np.exp(own), rest)
        nll.append(-log_binomial(x, n, float(mean)))
        log_pred.append(math.log(decisions))
        errors += [
            ((x / mean - (n - x) / (1 - mean)) * error) ** 2,
            (chance_error / decisions) ** 2,
        ]
    return (np.mean(nll), np.mean(log_pred)), np.sqrt(errors) / len(log_p)


def compared_with_brute_force(draws, count, seed):
    """z of nll and mean_log_pred of three models."""
    rng = np.random.default_rng(seed)
    cases = {
        "BTL": (th.EliminationByAspects("unique", lapse=0.0), 0.0, np.zeros((count, 0, 4), bool)),
        "iEBA": (th.EliminationByAspects(lapse=0.05), 0.05, buffet(count, rng)[1]),
        "2 aspects": (th.EliminationByAspects(2, lapse=0.05), 0.05, finite(count, 2, rng)[1]),
    }
    models = {name: case[0] for name, case in cases.items()}
    table = th.compare(
        models, PAIRS, draws=draws, tune=500, cores=1, random_seed=seed, progressbar=False
    )
    scores = {}
    for name, (_, lapse, columns) in cases.items():
        for column, exact, error in zip(
            ("nll", "mean_log_pred"), *exact_scores(columns, lapse, count, rng), strict=True
        ):
            own = table.loc[name, f"{column}_mcse"]
            scores[name, column] = (table.loc[name, column] - exact) / math.hypot(own, error)
    return scores


@pytest.mark.long
def test_compare_scores_are_those_of_brute_force():
    scores = compared_with_brute_force(4000, 1_000_000, 2)
    assert max(map(abs, scores.values())) < LIMIT, scores
