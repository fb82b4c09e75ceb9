"""Best-worst choices that several tests share."""

import numpy as np
import pandas as pd

from thali import Choices

RULES = RANKING, REVERSED = "ranking", "reversed"


def best_worst(rows, labels, **more) -> Choices:
    """Best-worst choices from (members, best, worst), or (members, best, worst, count)."""
    widest = max(len(members) for members, *_ in rows)
    table = [
        {f"option{k + 1}": members[k] if k < len(members) else "" for k in range(widest)}
        | {"best": best, "worst": worst, "count": count[0] if count else 1}
        for members, best, worst, *count in rows
    ]
    return Choices.from_best_worst(pd.DataFrame(table), labels=labels, **more)


def random_answers(n: int, sizes, number: int, seed: int, most: int = 1) -> Choices:
    """Random answers to so many random sets of each of these sizes."""
    rng = np.random.default_rng(seed)
    labels, rows = [str(k) for k in range(n)], []
    for size in np.repeat(sizes, number):
        members = rng.choice(labels, size, replace=False)
        best, worst = rng.choice(members, 2, replace=False)
        rows.append((members, best, worst, int(rng.integers(1, most + 1))))
    return best_worst(rows, labels)


def ranked_answers(worth, sizes, number: int, seed: int) -> Choices:
    """First and last of rankings by Luce's rule, of so many random sets of each of these sizes."""
    rng = np.random.default_rng(seed)
    labels, rows = [str(k) for k in range(len(worth))], []
    for size in np.repeat(sizes, number):
        members = rng.choice(len(worth), size, replace=False)
        order = members[np.argsort(rng.standard_exponential(size) / worth[members])]
        rows.append(([labels[k] for k in members], labels[order[0]], labels[order[-1]]))
    return best_worst(rows, labels)
