r"""How many classes of people there are: the likelihood-ratio test of K classes against K + 1, by
the bootstrap.

.. math:: T = 2 (\ell_{K+1} - \ell_K), \qquad p = \frac{1 + \#\{b: T_b \ge T\}}{1 + B}

The statistic has no chi-squared distribution, since a class that holds nobody has no tastes. So
choices are simulated B times by the fit with K classes, and both numbers are fitted to them
(McLachlan 1987; Nylund, Asparouhov & Muthén 2007).
"""

import time
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from thali._inference.parts import Batch, PartsFolder, Record
from thali._inference.progress import Progress, build_duration_warning
from thali._inference.warn import warn
from thali.errors import Argument, InterruptedWarning

from ..logit import maximise_log_likelihood
from .fit import (
    RIDGE,
    ClassParameters,
    Panel,
    Starts,
    best_of_starts,
    climb,
    drawn_choices,
    equal_classes,
    point,
)

if TYPE_CHECKING:
    import pandas

UNIT = "replicates"


class Test(NamedTuple):
    """A number of classes against one more."""

    fewer: ClassParameters
    more: ClassParameters

    @property
    def classes(self) -> int:
        """The number that is tested."""
        return len(self.fewer.tastes)

    @property
    def statistic(self) -> float:
        """Twice the difference of the log-likelihoods."""
        return 2.0 * (self.more.value - self.fewer.value)


class BootstrapReplicate(NamedTuple):
    """One of the replicates of a test."""

    classes: int
    number: int

    @property
    def key(self) -> str:
        """Its name in a job."""
        return f"{self.classes}-{self.number}"


def observed(
    panel: Panel, known: ClassParameters, starts: Starts, seeds: list[np.random.SeedSequence]
) -> list[Test]:
    """The fits beside one that is known: with one class fewer, if that is a class, and with one
    more."""
    number = len(known.tastes)
    points = {number: known}
    for other, seed in zip((number - 1, number + 1), seeds, strict=True):
        if 0 < other <= panel.people:
            points[other] = best_of_starts(panel, other, starts, seed).summit.where
    return [
        Test(points[k], points[k + 1])
        for k in (number - 1, number)
        if k in points and k + 1 in points
    ]


def replicated(
    panel: Panel, fewer: ClassParameters, starts: int, rng: np.random.Generator
) -> float:
    """The statistic of choices that are simulated by the fit with fewer classes."""
    again = drawn_choices(panel, fewer, rng)
    number = len(fewer.tastes)
    lower = climb(again, point(again, fewer.classes, fewer.tastes)).where
    someone = again.of(np.arange(again.people) == rng.integers(again.people))
    tastes = np.vstack([lower.tastes, maximise_log_likelihood(someone.tasks, RIDGE).beta])
    higher = climb(again, equal_classes(again, tastes)).where.value
    seed = np.random.SeedSequence(int(rng.integers(2**62)))
    higher = max(higher, best_of_starts(again, number + 1, Starts(starts), seed).summit.where.value)
    return max(2.0 * (higher - lower.value), 0.0)


def tested(
    panel: Panel,
    tests: list[Test],
    replicates: int,
    starts: int,
    seed: np.random.SeedSequence,
    folder: PartsFolder | None,
    progressbar: bool,
) -> "pandas.DataFrame":
    """The replicates of all tests, and a row a test."""
    of_test = {test.classes: test for test in tests}
    tasks = [
        BootstrapReplicate(classes, number) for classes in of_test for number in range(replicates)
    ]
    if folder is not None:
        folder.plan({each.key: f"{each.classes} classes" for each in tasks}, UNIT)

    def run(task: BootstrapReplicate) -> Record:
        begun = time.monotonic()
        # the seed of a replicate, whatever their number is
        own = np.random.SeedSequence(
            seed.entropy, spawn_key=(*seed.spawn_key, task.classes, task.number)
        )
        statistic = replicated(
            panel, of_test[task.classes].fewer, starts, np.random.default_rng(own)
        )
        return {"statistic": statistic, "seconds": time.monotonic() - begun}

    batch: Batch[BootstrapReplicate] = Batch(tasks, lambda task: task.key, run, folder=folder)
    say = build_duration_warning(
        "This test", "fewer ", Argument("replicates"), ", or fewer ", Argument("starts")
    )
    progress = Progress(progressbar, "testing", len(tasks), UNIT, say)
    if batch.finish(progress, lambda record: float(record["seconds"])):
        warn(
            InterruptedWarning(
                f"The test was stopped early; its table has {len(batch.records)} of {len(tasks)}"
                f" {UNIT}."
            )
        )
    return _table(tests, tasks, batch.records)


def _table(
    tests: list[Test], tasks: list[BootstrapReplicate], records: dict[str, Record]
) -> "pandas.DataFrame":
    """A row a test, with the part of the replicates that are as extreme."""
    import pandas as pd

    from thali._tables import Table

    drawn = {
        test.classes: np.array(
            [
                records[each.key]["statistic"]
                for each in tasks
                if each.classes == test.classes and each.key in records
            ]
        )
        for test in tests
    }
    rows = []
    for test in tests:
        own = drawn[test.classes]
        p = (1.0 + (own >= test.statistic).sum()) / (1.0 + len(own))
        row = {"against": test.classes + 1, "log_likelihood": test.fewer.value}
        row |= {
            "log_likelihood_against": test.more.value,
            "statistic": test.statistic,
            "p_value": p,
        }
        rows.append(
            row | {"p_value_se": np.sqrt(p * (1.0 - p) / (1.0 + len(own))), "replicates": len(own)}
        )
    table = Table(rows, index=pd.Index([test.classes for test in tests], name="classes"))
    table.attrs["statistics"] = {classes: own.tolist() for classes, own in drawn.items()}
    return table
