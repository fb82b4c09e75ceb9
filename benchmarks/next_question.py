"""How many answers adaptive questions need, beside questions at random, in a balanced order, and about the closest two.

    python benchmarks/next_question.py [--options 6,10,20] [--truths 10] [--models BTL,elimination] [--small]

Truths are drawn from the prior of the model. A strategy asks m = 10 x options questions; after .75 m and m answers the
mean absolute error of the posterior mean of all pairs' probabilities is noted. With the goal "best" an interview
ends when one option is the best with probability .95, or after m answers.

    random     a pair at random
    balanced   all pairs in random order, then again
    closest    the pair whose probability is nearest to 1/2
    adaptive   `next_pairs`, goal "everything" (or "best")
"""

import argparse
import itertools
import warnings

import numpy as np

import thali as th
from thali.inference.quiet import without_warnings

MODELS = {"BTL": "unique", "elimination": "ibp"}
STRATEGIES = ("random", "balanced", "closest", "adaptive")
LAPSE = 0.01
RUN = {"draws": 250, "tune": 250, "chains": 4, "thin": 5, "progressbar": False}


def truth_of(model: str, n: int, rng: np.random.Generator) -> tuple[np.ndarray, int]:
    """Probabilities (n, n) that the row is chosen over the column, and the best option."""
    owners, weights = np.eye(n), rng.exponential(size=n)
    if model == "elimination":
        shared = th.priors.IndianBuffet().sample(n, rng.exponential(), rng).T.astype(float)
        owners, weights = np.vstack([owners, shared]), np.append(weights, rng.exponential(size=len(shared)))
    more = (weights[:, None] * owners).T @ (1.0 - owners)
    p = (1.0 - LAPSE) * more / np.maximum(more + more.T, 1e-300) + LAPSE / 2.0
    return p, int((weights @ owners).argmax())


def data_of(answers: list[tuple[int, int]], n: int) -> th.PairedComparisons:
    """The comparisons; a row is a winner and a loser."""
    return th.PairedComparisons.from_pairs([(str(a), str(b)) for a, b in answers], labels=[str(i) for i in range(n)])


def next_pair(
    strategy: str, goal: str, model, plan: list[tuple[int, int]], rng: np.random.Generator
) -> tuple[int, int]:
    """The pair that is asked next."""
    if strategy in ("random", "balanced") or model is None:
        return plan.pop()
    if strategy == "adaptive":
        row = model.next_pairs(1, goal=goal, random_seed=rng).loc[0]
        return int(row["a"]), int(row["b"])
    labels = [str(label) for label in model.posterior_["posterior"]["option"].values]
    pairs = list(itertools.combinations(labels, 2))
    return tuple(int(each) for each in pairs[int(np.abs(model.predict_proba(pairs) - 0.5).argmin())])


def interview(strategy: str, goal: str, name: str, p: np.ndarray, most: int, seed: int) -> tuple[list[float], int]:
    """Mean absolute errors after .75 m and m answers; and after how many the best was known, or m + 1."""
    n, rng = len(p), np.random.default_rng(seed)
    pairs = list(itertools.combinations(range(n), 2))
    if strategy == "balanced":
        plan = [pairs[k] for _ in range(most) for k in rng.permutation(len(pairs))]
    else:
        plan = [pairs[k] for k in rng.integers(len(pairs), size=most)]
    answers: list[tuple[int, int]] = []
    model, errors, known, seen = None, [], most + 1, 0
    for asked in range(1, most + 1):
        a, b = next_pair(strategy, goal, model, plan, rng)
        answers.append((a, b) if rng.random() < p[a, b] else (b, a))
        needed = goal == "best" or strategy in ("closest", "adaptive") or asked in (most, 3 * most // 4)
        if needed:
            if model is None:
                model = th.EliminationByAspects(MODELS[name]).fit(data_of(answers, n), **RUN, random_seed=seed)
            else:
                model.update(data_of(answers[-(asked - seen) :], n))
            seen = asked
        if asked in (most, 3 * most // 4):
            found = model.predict_proba([(str(i), str(j)) for i, j in pairs])
            errors.append(float(np.abs(found - [p[i, j] for i, j in pairs]).mean()))
        if goal == "best":
            first = model.ranks()["p_1"].max()
            if first >= 0.95:
                return errors, asked
    return errors, known


def main(options: str = "6,10,20", truths: int = 10, models: str = "BTL,elimination", small: bool = False) -> None:
    """Everything, a line as soon as it is known."""
    sizes, truths, per = ([4], 2, 3) if small else ([int(each) for each in options.split(",")], truths, 10)
    warnings.simplefilter("ignore", th.errors.ThaliWarning)
    with without_warnings():
        for name, n in itertools.product(models.split(","), sizes):
            most = per * n
            found = {strategy: np.zeros((truths, 2)) for strategy in STRATEGIES}
            known = {strategy: np.zeros(truths) for strategy in ("random", "adaptive")}
            for k in range(truths):
                p, _ = truth_of(name, n, np.random.default_rng([n, k]))
                for strategy in STRATEGIES:
                    found[strategy][k] = interview(strategy, "everything", name, p, most, k)[0]
                for strategy in known:
                    known[strategy][k] = interview(strategy, "best", name, p, most, k)[1]
            print(f"{name}, {n} options, m = {most}, {truths} truths: mean absolute error (standard error)")
            for strategy, errors in found.items():
                mean, se = errors.mean(0), errors.std(0, ddof=1) / np.sqrt(truths)
                print(f"  {strategy:9} .75 m {mean[0]:.4f} ({se[0]:.4f})   m {mean[1]:.4f} ({se[1]:.4f})")
            gain = found["adaptive"][:, 0] - found["random"][:, 1]
            print(
                f"  adaptive at .75 m less random at m: {gain.mean():+.4f} ({gain.std(ddof=1) / np.sqrt(truths):.4f})"
            )
            print("  answers until the best is known:", *(f"{s} {v.mean():.1f}" for s, v in known.items()), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Adaptive questions beside others.")
    parser.add_argument("--options", default="6,10,20")
    parser.add_argument("--truths", type=int, default=10)
    parser.add_argument("--models", default="BTL,elimination")
    parser.add_argument("--small", action="store_true")
    main(**vars(parser.parse_args()))
