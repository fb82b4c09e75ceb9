"""Log evidence: against exact values, of models of the celebrities, its intervals, and runs that
are too short.

    python benchmarks/log_evidence.py

1. Problems whose evidence is known by quadrature: the estimate, its standard error, and the
   distance in errors.
2. Celebrities (Rumelhart & Greeno 1971): log evidence and posterior probability of seven models,
   CPU seconds.
3. Repeats with seeds 0, 1, 2, ... of short runs on five exact problems: how many 90 % intervals
   hold the value.
4. Repeats on the celebrities, aspects learned: spread about their mean, in standard errors.
5. Runs that are too short, which are to be called not usable: four temperatures; ten draws without
   tuning.

`--small` runs a part of each.
"""

import argparse
import time
import warnings

import numpy as np
from scipy.special import stdtrit

import thali as th
from thali._aspects.samplers.evidence_chains import build_ladders
from thali._aspects.samplers.sampling_task import build_task
from thali._inference.threads_and_processes import run_in_threads
from thali._model.evidence_arguments import USUAL
from thali._posterior.log_evidence import estimate_log_evidence

GROUPS = {
    "politicians": ["LBJ", "HW", "CDG"],
    "athletes": ["JU", "CY", "AJF"],
    "film": ["BB", "ET", "SL"],
}


def pairs(
    entries: dict[tuple[int, int], int], n: int, ties: int | None = None
) -> th.PairedComparisons:
    counts = np.zeros((n, n), int)
    for at, count in entries.items():
        counts[at] = count
    return th.PairedComparisons(
        counts,
        labels=list("123"[:n]),
        ties=None if ties is None else ties * (1 - np.eye(n, dtype=int)),
    )


def similarities(values: list[float], n: int) -> th.Similarities:
    matrix = np.zeros((n, n))
    matrix[np.triu_indices(n, 1)] = values
    return th.Similarities(matrix + matrix.T)


def triplets(first: int, second: int, third: int) -> th.Triplets:
    """Answers for the pairs 12, 13 and 23 of three objects: the third object of each is the odd
    one."""
    rows = [[0, 1, 2]] * first + [[0, 2, 1]] * second + [[1, 2, 0]] * third
    return th.Triplets(rows)


def coefficient(data: th.PairedComparisons) -> float:
    return float(data.questions().log_coefficients().sum())


def exact_problems() -> dict[str, tuple[object, object, float, float]]:
    """Model, data, log evidence with all constants, and the error of that value."""
    E, A = th.EliminationByAspects, th.AdditiveClustering
    tree = th.Tree.from_newick("((1:.3,2:.3):.7,3:1);")
    three = pairs({(0, 1): 6, (1, 0): 1, (0, 2): 2, (2, 0): 4, (1, 2): 3, (2, 1): 1}, 3)
    s3, s4 = similarities([0.8, 0.3, 0.45], 3), similarities([0.9, 0.55, 0.15, 0.7, 0.1, 0.4], 4)
    choices = {
        "3:1, alpha 1": (E(alpha=1.0), pairs({(0, 1): 3, (1, 0): 1}, 2), -2.97366757),
        "3:1, alpha 5": (E(alpha=5.0), pairs({(0, 1): 3, (1, 0): 1}, 2), -2.88270183),
        "3:1, alpha 1, lapse 0": (
            E(alpha=1.0, lapse=0.0),
            pairs({(0, 1): 3, (1, 0): 1}, 2),
            -2.98284566,
        ),
        "3:1, no unique, alpha 3": (
            E(alpha=3.0, unique=False),
            pairs({(0, 1): 3, (1, 0): 1}, 2),
            -3.3480585,
        ),
        "3:1, one aspect, lapse 0": (
            E(1, alpha=1.0, lapse=0.0),
            pairs({(0, 1): 3, (1, 0): 1}, 2),
            np.log(1 / 20),
        ),
        "20:0, alpha 1": (E(alpha=1.0), pairs({(0, 1): 20}, 2), -3.21006903),
        "30:30, alpha 5": (E(alpha=5.0), pairs({(0, 1): 30, (1, 0): 30}, 2), -43.05217),
        "three options, alpha 2": (E(alpha=2.0), three, -12.877595),
        "three options": (E(), three, -13.007447),
        "three options, tree": (E(tree, alpha=2.0), three, -12.654423),
        "6:2, 4 ties": (E(alpha=1.0), pairs({(0, 1): 6, (1, 0): 2}, 2, 4), -13.89223954),
        "6:2, no ties": (
            E(alpha=1.0, ties="davidson"),
            pairs({(0, 1): 6, (1, 0): 2}, 2, 0),
            -6.91448042,
        ),
        "5 ties": (E(alpha=1.0), pairs({}, 2, 5), -4.66221649),
    }
    found = {
        name: (m, data, value + coefficient(data), 0.0)
        for name, (m, data, value) in choices.items()
    }
    for s, alpha, shape, rate, value in (
        (0.6, 1.0, 1, 1, -0.8187545),
        (0.6, 1.0, 2, 4, -0.2257309),
        (0.6, 1.0, 1, 10, -1.9558923),
        (0.6, 4.0, 1, 10, -0.5548398),
        (-0.1, 1.0, 1, 1, -2.3673113),
    ):
        model = A(sigma=0.1, alpha=alpha, weight_prior=(shape, rate))
        found[f"s {s}, alpha {alpha:g}, Gamma({shape}, {rate})"] = (
            model,
            similarities([s], 2),
            value,
            0.0,
        )
    for shape, rate, value in ((1, 1, -2.645821), (2, 4, -1.400834), (1, 10, -3.453652)):
        model = A(sigma=0.1, alpha=1.0, weight_prior=(shape, rate))
        found[f"three objects, Gamma({shape}, {rate})"] = (model, s3, value, 0.0)
    given = {"0": ["pair", "all"], "1": ["pair", "all"], "2": ["all"]}
    labelled = th.Similarities(s3.matrix, labels=["0", "1", "2"])
    found["three objects, given features"] = (
        A(given, sigma=0.1, weight_prior=(1, 1)),
        labelled,
        -1.3017473,
        0.0,
    )
    found["four objects, Gamma(1, 1)"] = (
        A(sigma=0.1, alpha=1.0, weight_prior=(1, 1)),
        s4,
        -4.919540,
        0.0,
    )
    found["four objects, Gamma(2, 4)"] = (
        A(sigma=0.2, alpha=2.0, weight_prior=(2, 4)),
        s4,
        -2.403529,
        0.0,
    )
    for link, answers, alpha, value, error in (
        ("exp", (6, 2, 1), 1.0, -9.6914, 0.0003),
        ("exp", (10, 0, 0), 2.0, -4.0824, 0.001),
        ("exp", (6, 2, 1), None, -9.7242, 0.0002),
        ("ratio", (6, 2, 1), 1.0, -9.7004, 0.0002),
        ("ratio", (10, 0, 0), 2.0, -5.1649, 0.0008),
        ("ratio", (6, 2, 1), None, -9.7315, 0.0002),
    ):
        name = f"triplets {answers}, {link}, alpha {'learned' if alpha is None else f'{alpha:g}'}"
        found[name] = (A(link=link, alpha=alpha), triplets(*answers), value, error)
    return found


def evidence(model: object, data: object, seed: int, **run: int):
    """The log evidence of a model that need not be fitted."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = th.compare(
            {"it": model}, data, by="evidence", random_seed=seed, cores=1, progressbar=False, **run
        )
    return table.attrs["evidence"]["it"]


def exact(small: bool) -> None:
    print(
        f"{'1. exact problems':38} {'exact':>10} {'found':>10} {'error':>7} {'z':>6}  usable",
        flush=True,
    )
    worst = 0.0
    for name, (model, data, value, error) in list(exact_problems().items())[: 1 if small else None]:
        found = evidence(model, data, 1, draws=100 if small else 2000)
        z = (found.value - value) / np.hypot(found.standard_error, error)
        worst = max(worst, abs(z))
        print(
            f"   {name:35} {value:10.4f} {found.value:10.4f} {found.standard_error:7.4f} {z:6.2f} "
            f" {found.usable}"
        )
    print(f"   largest distance: {worst:.1f} standard errors")


def models() -> dict[str, object]:
    E = th.EliminationByAspects
    known = {name: [group] for group, names in GROUPS.items() for name in names}
    return {
        "BTL": E("unique"),
        "professions": E(known),
        "iEBA": E(),
        "tree, .1": E(th.Tree.from_groups(GROUPS, leaf_length=0.1)),
        "tree, .5": E(th.Tree.from_groups(GROUPS, leaf_length=0.5)),
        "3 aspects": E(3),
        "12 aspects": E(12),
    }


def celebrities(small: bool) -> None:
    data, seconds, rows = th.datasets.celebrities(), {}, {}
    for name, model in list(models().items())[: 1 if small else None]:
        evidence(model, data, 0, draws=10, tune=0)  # compiles
        begin = time.process_time()
        rows[name] = evidence(model, data, 1, **({"draws": 50} if small else {}))
        seconds[name] = time.process_time() - begin
    values = np.array([each.value for each in rows.values()])
    share = np.exp(values - values.max()) / np.exp(values - values.max()).sum()
    print(
        f"2. celebrities {'log evidence':>17} {'error':>7} {'probability':>12} {'CPU s':>6}"
        f" {'integral':>9}  usable"
    )
    for (name, each), p in zip(rows.items(), share, strict=True):
        integral = each.thermodynamic.value - each.value
        print(
            f"   {name:14} {each.value:14.3f} {each.standard_error:7.3f} {p:12.3g}"
            f" {seconds[name]:6.0f} {integral:9.3f}  {each.usable}"
        )


def coverage(repeats: int, run: dict[str, int]) -> None:
    chosen = (
        "3:1, alpha 1",
        "20:0, alpha 1",
        "three options, alpha 2",
        "6:2, 4 ties",
        "s 0.6, alpha 1, Gamma(1, 10)",
    )
    problems, held, distance, unusable = exact_problems(), [], [], 0
    for seed in range(repeats):
        model, data, value, _ = problems[chosen[seed % len(chosen)]]
        found = evidence(model, data, seed, **run)
        low, high = found.interval(0.9)
        held.append(low <= value <= high)
        distance.append((found.value - value) / found.standard_error)
        unusable += not found.usable
    print(
        f"3. {repeats} repeats: 90 % intervals hold the value in {np.mean(held):.1%} of cases;"
        f" distances have a mean of {np.mean(distance):.2f} and a standard deviation of"
        f" {np.std(distance):.2f} errors; {unusable} not usable"
    )


def spread(repeats: int, run: dict[str, int]) -> None:
    data, model = th.datasets.celebrities(), th.EliminationByAspects()
    found = [evidence(model, data, seed, **run) for seed in range(repeats)]
    of_each = ("value", "standard_error", "df")
    values, errors, df = (np.array([getattr(each, name) for each in found]) for name in of_each)
    pooled = values.mean()
    share = np.mean(np.abs(values - pooled) < stdtrit(df, 0.95) * errors)
    unusable = sum(not each.usable for each in found)
    print(
        f"4. {repeats} repeats on celebrities: {pooled:.3f}"
        f" ({values.std(ddof=1) / np.sqrt(repeats):.3f}); their standard deviation"
        f" {values.std(ddof=1):.3f}, mean standard error {errors.mean():.3f}; 90 % intervals hold"
        f" the pooled value in {share:.0%} of cases; {unusable} not usable"
    )


def too_short(repeats: int) -> None:
    data, model = th.datasets.celebrities(), th.EliminationByAspects()
    few = np.array([1.0, 0.05, 0.002, 0.0])
    caught = {"four temperatures": 0, "ten draws": 0}
    for seed in range(repeats):
        parts = model._build_task_arguments(data) | {"tempering": False}
        task = build_task(data=data, draws=200, tune=USUAL["tune"], thin=1, **parts)
        ladders = build_ladders(task, few, 12, seed)
        run_in_threads(ladders, 1, _Silent())
        swaps = sum(each.ladder.accepted for each in ladders) / sum(
            each.ladder.tried for each in ladders
        )
        found = estimate_log_evidence(
            few, np.stack([each.energies for each in ladders]), swaps, 0.0
        )
        caught["four temperatures"] += not found.usable
        caught["ten draws"] += not evidence(model, data, seed, draws=10, tune=0, thin=1).usable
    for name, count in caught.items():
        print(f"5. {name}: {count} of {repeats} called not usable")


class _Silent:
    def update(self, done: int) -> None:
        pass


def main(small: bool = False) -> None:
    exact(small)
    celebrities(small)
    coverage(
        1 if small else 200, {"draws": 50, "tune": 20} if small else {"draws": 200, "tune": 50}
    )
    spread(
        2 if small else 30,
        {"draws": 10, "tune": 0, "thin": 1} if small else {"draws": 150, "tune": 100},
    )
    too_short(1 if small else 30)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--small", action="store_true")
    main(parser.parse_args().small)
