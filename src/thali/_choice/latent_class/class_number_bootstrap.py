r"""Bootstrap likelihood-ratio tests of the number of latent classes, K against K + 1.

.. math:: T = 2 (\ell_{K+1} - \ell_K), \qquad p = \frac{1 + \#\{b: T_b \ge T\}}{1 + B}

The statistic has no chi-squared distribution, since tastes of an empty class are arbitrary.
Therefore choices are simulated B times by the fit with K classes, and both numbers are fitted to
them (McLachlan 1987; Nylund, Asparouhov & Muthén 2007).
"""

import time
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from thali._inference.progress_display import Progress, build_duration_warning
from thali._inference.resumable_tasks import Batch, PartsFolder, Record
from thali._inference.user_warnings import warn
from thali.errors import Argument, InterruptedWarning

from ..logit_likelihood import maximise_log_likelihood
from .maximum_likelihood import (
    RIDGE,
    ChoicePanel,
    ClassParameters,
    StartRange,
    climb,
    evaluate_parameters,
    find_best_maximum,
    simulate_choices,
    start_equal_classes,
)

if TYPE_CHECKING:
    import pandas

UNIT = "replicates"


class ClassNumberTest(NamedTuple):
    """Fits with K and K + 1 classes, whose likelihoods are compared."""

    fewer: ClassParameters
    more: ClassParameters

    @property
    def classes(self) -> int:
        """Number of classes K under the null hypothesis."""
        return len(self.fewer.tastes)

    @property
    def statistic(self) -> float:
        """Likelihood-ratio statistic: twice the difference of log-likelihoods."""
        return 2.0 * (self.more.value - self.fewer.value)


class BootstrapReplicate(NamedTuple):
    """One bootstrap replicate of a test: number of classes, number of the replicate."""

    classes: int
    number: int

    @property
    def key(self) -> str:
        """Name under which a job stores the replicate."""
        return f"{self.classes}-{self.number}"


def fit_tests(
    panel: ChoicePanel,
    fitted_parameters: ClassParameters,
    starts: StartRange,
    seeds: list[np.random.SeedSequence],
) -> list[ClassNumberTest]:
    """Return tests of K classes against one fewer and one more."""
    n_classes = len(fitted_parameters.tastes)
    parameters_by_number = {n_classes: fitted_parameters}
    for other_number, seed in zip((n_classes - 1, n_classes + 1), seeds, strict=True):
        if 0 < other_number <= panel.people:
            parameters_by_number[other_number] = find_best_maximum(
                panel, other_number, starts, seed
            ).summit.parameters
    return [
        ClassNumberTest(parameters_by_number[k], parameters_by_number[k + 1])
        for k in (n_classes - 1, n_classes)
        if k in parameters_by_number and k + 1 in parameters_by_number
    ]


def simulate_statistic(
    panel: ChoicePanel, fewer_class_fit: ClassParameters, starts: int, rng: np.random.Generator
) -> float:
    """Return the test statistic of choices simulated with the smaller number of classes."""
    simulated_panel = simulate_choices(panel, fewer_class_fit, rng)
    n_classes = len(fewer_class_fit.tastes)
    lower_fit = climb(
        simulated_panel,
        evaluate_parameters(simulated_panel, fewer_class_fit.classes, fewer_class_fit.tastes),
    ).parameters
    random_person = simulated_panel.select_people(
        np.arange(simulated_panel.people) == rng.integers(simulated_panel.people)
    )
    tastes = np.vstack([lower_fit.tastes, maximise_log_likelihood(random_person.tasks, RIDGE).beta])
    higher_log_likelihood = climb(
        simulated_panel, start_equal_classes(simulated_panel, tastes)
    ).parameters.value
    start_seed = np.random.SeedSequence(int(rng.integers(2**62)))
    higher_log_likelihood = max(
        higher_log_likelihood,
        find_best_maximum(
            simulated_panel, n_classes + 1, StartRange(starts), start_seed
        ).summit.parameters.value,
    )
    return max(2.0 * (higher_log_likelihood - lower_fit.value), 0.0)


def run_tests(
    panel: ChoicePanel,
    tests: list[ClassNumberTest],
    replicates: int,
    starts: int,
    seed: np.random.SeedSequence,
    folder: PartsFolder | None,
    progressbar: bool,
) -> "pandas.DataFrame":
    """Run the bootstrap replicates of all tests; return a table, one row per test."""
    test_by_number = {test.classes: test for test in tests}
    replicate_tasks = [
        BootstrapReplicate(n_classes, replicate_number)
        for n_classes in test_by_number
        for replicate_number in range(replicates)
    ]
    if folder is not None:
        folder.plan({task.key: f"{task.classes} classes" for task in replicate_tasks}, UNIT)

    def run_replicate(task: BootstrapReplicate) -> Record:
        """Return the test statistic of one bootstrap replicate."""
        start_time = time.monotonic()
        # the seed of a replicate does not depend on the number of replicates
        replicate_seed = np.random.SeedSequence(
            seed.entropy, spawn_key=(*seed.spawn_key, task.classes, task.number)
        )
        statistic = simulate_statistic(
            panel, test_by_number[task.classes].fewer, starts, np.random.default_rng(replicate_seed)
        )
        return {"statistic": statistic, "seconds": time.monotonic() - start_time}

    batch: Batch[BootstrapReplicate] = Batch(
        replicate_tasks, lambda task: task.key, run_replicate, folder=folder
    )
    warn_of_duration = build_duration_warning(
        "This test", "fewer ", Argument("replicates"), ", or fewer ", Argument("starts")
    )
    progress = Progress(progressbar, "testing", len(replicate_tasks), UNIT, warn_of_duration)
    if batch.finish(progress, lambda record: float(record["seconds"])):
        warn(
            InterruptedWarning(
                f"The test was stopped early; its table has {len(batch.records)} of"
                f" {len(replicate_tasks)}"
                f" {UNIT}."
            )
        )
    return _tabulate_tests(tests, replicate_tasks, batch.records)


def _tabulate_tests(
    tests: list[ClassNumberTest], tasks: list[BootstrapReplicate], records: dict[str, Record]
) -> "pandas.DataFrame":
    """Return a table of tests, with p-values from their bootstrap statistics."""
    import pandas as pd

    from thali._exportable_table import Table

    test_rows, statistics_by_classes = [], {}
    for test in tests:
        statistics_by_classes[test.classes] = replicate_statistics = [
            records[task.key]["statistic"]
            for task in tasks
            if task.classes == test.classes and task.key in records
        ]
        p = (1.0 + (np.array(replicate_statistics) >= test.statistic).sum()) / (
            1.0 + len(replicate_statistics)
        )
        test_row = {
            "against": test.classes + 1,
            "log_likelihood": test.fewer.value,
            "log_likelihood_against": test.more.value,
            "statistic": test.statistic,
            "p_value": p,
            "p_value_se": np.sqrt(p * (1.0 - p) / (1.0 + len(replicate_statistics))),
            "replicates": len(replicate_statistics),
        }
        test_rows.append(test_row)
    table = Table(test_rows, index=pd.Index(list(statistics_by_classes), name="classes"))
    table.attrs["statistics"] = statistics_by_classes
    return table
