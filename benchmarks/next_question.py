"""How many answers adaptive questions need, beside questions at random, in a balanced order, and
about the closest two.

    python benchmarks/next_question.py [--options 6,10,20] [--truths 10] [--small]
        [--strategies random,adaptive] [--best ""] [--at-once 5] [--seed 1]

Truths are worths of the Bradley-Terry-Luce model with exponential distributions. A strategy asks
m = 10 x options questions; after .75 m and m answers the mean absolute error of the posterior mean
of all pairs' probabilities is noted.

    random     a pair at random
    balanced   all pairs in random order, then again
    closest    the pair whose probability is nearest to 1/2
    variance   the pair whose answer is expected to lessen the variance of all pairs' probabilities
               most
    adaptive   `next_pairs`, goal "everything"

With the goal "best" answers end when one option is the best with probability .95, or after 2 m of
them; of random questions that is looked at after every fifth. Beside them:

    racing     balanced questions among the options that are left; one leaves when the 95 % interval
               (Wilson) of its chosen share against another lies below 1/2, and the last is the best

The share of answers is noted that the best possible plan, made with the truth known, would save:
the plan that minimises the expected squared error of all pairs' probabilities, by their Fisher
information and the curvature of the prior, against all pairs equally often.

`--small` runs a part.
"""

import argparse
import itertools
import math
import time
import warnings

import numpy as np

import thali as th
from thali._inference.user_warnings import silence_warnings

STRATEGIES = ("random", "balanced", "closest", "variance", "adaptive")
LAPSE = 0.01
SURE, Z, LOOK = 0.95, 1.959964, 5
BEST = ("random", "racing", "adaptive")


def truth_of(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities (n, n) that the row is chosen over the column, and the worths (n,)."""
    worths = rng.exponential(size=n)
    shares = worths[:, None] / (worths[:, None] + worths)
    return (1.0 - LAPSE) * shares + LAPSE / 2.0, worths


def data_of(answers: list[tuple[int, int]], n: int) -> th.PairedComparisons:
    """The comparisons; a row is a winner and a loser."""
    return th.PairedComparisons.from_pairs(
        [(str(a), str(b)) for a, b in answers], labels=[str(i) for i in range(n)]
    )


def next_questions(
    strategy: str,
    goal: str,
    model,
    plan: list[tuple[int, int]],
    rng: np.random.Generator,
    at_once: int,
) -> list[tuple[int, int]]:
    """The pairs that are asked next; adaptive ones so many at once."""
    if strategy in ("random", "balanced") or model is None:
        return [plan.pop()]
    if strategy == "adaptive":
        table = model.next_pairs(at_once, goal=goal, random_seed=rng)
        return [(int(a), int(b)) for a, b in zip(table["a"], table["b"], strict=True)]
    posterior = model.posterior_["posterior"]
    pairs = list(itertools.combinations(range(posterior.sizes["option"]), 2))
    p = posterior["choice_probability"].to_numpy().reshape(-1, len(pairs))
    mean = p.mean(axis=0)
    if strategy == "closest":
        return [pairs[int(np.abs(mean - 0.5).argmin())]]
    # the answer to q lessens the variance of r by cov(q, r)^2 / (p (1 - p))
    covariance = np.cov(p, rowvar=False)
    return [pairs[int(((covariance**2).sum(axis=1) / (mean * (1.0 - mean))).argmax())]]


def errors_of(strategy: str, p: np.ndarray, most: int, seed: int, at_once: int) -> list[float]:
    """Mean absolute errors after .75 m and m answers."""
    n, rng = len(p), np.random.default_rng(seed)
    pairs = list(itertools.combinations(range(n), 2))
    if strategy == "balanced":
        plan = [pairs[k] for _ in range(most) for k in rng.permutation(len(pairs))]
    else:
        plan = [pairs[k] for k in rng.integers(len(pairs), size=most)]
    noted, answers, model, errors = (3 * most // 4, most), [], None, []
    while len(answers) < most:
        left = next(each for each in noted if each > len(answers)) - len(answers)
        for a, b in next_questions(strategy, "everything", model, plan, rng, min(at_once, left)):
            answers.append((a, b) if rng.random() < p[a, b] else (b, a))
        if strategy in ("random", "balanced") and len(answers) not in noted:
            continue
        model = fit(answers, n, seed)
        if len(answers) in noted:
            found = model.predict_proba([(str(i), str(j)) for i, j in pairs])
            errors.append(float(np.abs(found - [p[i, j] for i, j in pairs]).mean()))
    return errors


def fit(answers: list[tuple[int, int]], n: int, seed: int) -> th.BradleyTerryLuce:
    """The model fitted to all answers."""
    model = th.BradleyTerryLuce(lapse=LAPSE)
    return model.fit(data_of(answers, n), random_seed=seed, progressbar=False)


def best_by_model(
    strategy: str, p: np.ndarray, most: int, seed: int, at_once: int
) -> tuple[int, int | None]:
    """After how many answers the best is known with probability .95, and which it is; None if it is
    not known."""
    n, rng = len(p), np.random.default_rng(seed)
    pairs = list(itertools.combinations(range(n), 2))
    plan = [pairs[k] for k in rng.integers(len(pairs), size=most)]
    answers, model = [], None
    while len(answers) < most:
        number = min(at_once, most - len(answers))
        for a, b in next_questions(strategy, "best", model, plan, rng, number):
            answers.append((a, b) if rng.random() < p[a, b] else (b, a))
        if strategy == "random" and len(answers) % LOOK:
            continue
        model = fit(answers, n, seed)
        first = model.ranks()["p_1"]
        if first.max() >= SURE:
            return len(answers), int(str(first.idxmax()))
    return most, None


def best_by_racing(p: np.ndarray, most: int, seed: int) -> tuple[int, int | None]:
    """The same by racing."""
    n, rng = len(p), np.random.default_rng(seed)
    wins, left, asked = np.zeros((n, n)), list(range(n)), 0
    while True:
        for a, b in rng.permutation(list(itertools.combinations(left, 2))):
            if asked == most:
                return most, None
            if a not in left or b not in left:
                continue
            asked += 1
            winner, loser = (a, b) if rng.random() < p[a, b] else (b, a)
            wins[winner, loser] += 1
            for one, other in ((a, b), (b, a)):
                if (
                    one in left
                    and upper_share(wins[one, other], wins[one, other] + wins[other, one]) < 0.5
                ):
                    left.remove(one)
            if len(left) == 1:
                return asked, int(left[0])


def upper_share(chosen: float, of: float) -> float:
    """The upper end of Wilson's interval."""
    share = chosen / of
    half = Z * math.sqrt(share * (1.0 - share) / of + Z**2 / (4.0 * of**2))
    return (share + Z**2 / (2.0 * of) + half) / (1.0 + Z**2 / of)


def most_to_save(p: np.ndarray, worth: np.ndarray, most: int) -> float:
    """Share of the answers that the plan with the least expected squared error saves."""
    n = len(p)
    first, second = np.triu_indices(n, 1)
    r = worth[first] / (worth[first] + worth[second])
    slopes = np.zeros((len(first), n))  # of the probabilities, by log worths
    at = np.arange(len(first))
    slopes[at, first], slopes[at, second] = (
        (1.0 - LAPSE) * r * (1.0 - r),
        -(1.0 - LAPSE) * r * (1.0 - r),
    )
    variance = p[first, second] * (1.0 - p[first, second])

    def squared_error(plan: np.ndarray, answers: float) -> tuple[float, np.ndarray]:
        # of an exponential worth w the log density of log w is log w - w, of curvature w
        information = np.diag(worth) + (slopes.T * (answers * plan / variance)) @ slopes
        through = np.linalg.solve(information, slopes.T)
        return float((slopes * through.T).sum()), ((slopes @ through) ** 2).sum(axis=1) / variance

    even = plan = np.full(len(first), 1.0 / len(first))
    for _ in range(500):  # the multiplicative algorithm
        slope = squared_error(plan, most)[1]
        plan = plan * np.sqrt(slope)
        plan /= plan.sum()
    wanted, low, high = squared_error(even, most)[0], 0.0, float(most)
    for _ in range(40):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if squared_error(plan, middle)[0] <= wanted else (middle, high)
    return 1.0 - high / most


def mean_se(values: np.ndarray) -> tuple[float, float]:
    return float(values.mean()), float(values.std(ddof=1) / math.sqrt(len(values)))


def report(n: int, most: int, found: dict, known: dict, saved: list[float], seconds: float) -> None:
    truths = len(next(iter((found | known).values())))
    print(
        f"{n} options, m = {most}, {truths} truths, {seconds:.0f} CPU s: mean absolute"
        " error (standard error)"
    )
    for strategy, errors in found.items():
        (early, early_se), (late, late_se) = mean_se(errors[:, 0]), mean_se(errors[:, 1])
        gain, gain_se = mean_se(errors[:, 0] - found["random"][:, 1])
        print(
            f"  {strategy:9} .75 m {early:.4f} ({early_se:.4f})   m {late:.4f} ({late_se:.4f})  "
            f" .75 m less random at m {gain:+.4f} ({gain_se:.4f})"
        )
    if saved:
        print(
            "  the best plan, made with the truth known, saves {:.0%} of the answers"
            " ({:.0%})".format(*mean_se(np.array(saved)))
        )
    for strategy, table in known.items():
        answers, answers_se = mean_se(table[:, 0])
        print(
            f"  best: {strategy:9} {answers:6.1f} answers ({answers_se:.1f}), at most {2 * most}; "
            f"known of {int(table[:, 1].sum())} truths, rightly of {int(table[:, 2].sum())}"
        )
    for other in sorted({"random", "racing"} & known.keys()):
        both = (known["adaptive"][:, 1] > 0) & (known[other][:, 1] > 0)
        share = known["adaptive"][both, 0].sum() / max(known[other][both, 0].sum(), 1.0)
        print(
            f"  best: adaptive / {other}, of the {both.sum()} truths known to both: {share:.2f} of"
            " the answers"
        )
    print(flush=True)


def main(
    options: str = "6,10,20",
    truths: int = 10,
    strategies: str = ",".join(STRATEGIES),
    best: str = ",".join(BEST),
    at_once: int = 1,
    seed: int = 0,
    small: bool = False,
) -> None:
    """Everything, a table as soon as it is known."""
    sizes, truths, per = (
        ([4], 2, 3) if small else ([int(each) for each in options.split(",")], truths, 10)
    )
    warnings.simplefilter("ignore", th.errors.ThaliWarning)
    with silence_warnings():
        for n in sizes:
            begin, most, saved = time.process_time(), per * n, []
            found = {
                strategy: np.zeros((truths, 2)) for strategy in strategies.split(",") if strategy
            }
            known = {strategy: np.zeros((truths, 3)) for strategy in best.split(",") if strategy}
            for k in range(truths):
                p, utility = truth_of(n, np.random.default_rng([n, k]))
                saved.append(most_to_save(p, utility, most))
                answers = 1000 * seed + k  # their seed
                for strategy in found:
                    found[strategy][k] = errors_of(strategy, p, most, answers, at_once)
                for strategy in known:
                    if strategy == "racing":
                        asked, option = best_by_racing(p, 2 * most, answers)
                    else:
                        asked, option = best_by_model(strategy, p, 2 * most, answers, at_once)
                    known[strategy][k] = asked, option is not None, option == utility.argmax()
            report(n, most, found, known, saved, time.process_time() - begin)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Adaptive questions beside others.")
    parser.add_argument("--options", default="6,10,20")
    parser.add_argument("--truths", type=int, default=10)
    parser.add_argument(
        "--strategies", default=",".join(STRATEGIES), help="random among them, or none"
    )
    parser.add_argument(
        "--best", default=",".join(BEST), help="strategies for the goal best, or none"
    )
    parser.add_argument(
        "--at-once", type=int, default=1, help="adaptive questions before the next fit"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the answers; the truths stay")
    parser.add_argument("--small", action="store_true")
    main(**vars(parser.parse_args()))
