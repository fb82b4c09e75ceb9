"""What draws say about best-worst choices: the likelihood of every set, and how often each option is named."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali.data.kinds import BEST_WORST
from thali.posterior.view import Posterior

from ..likelihoods.best_worst import RANKING, Answers, answer_counts, answer_probabilities, possible_answers
from .choices import as_counts
from .columns import Columns
from .pair_coordinates import pair_names
from .probabilities import probability_draws
from .tree import MAX_PAIRS, DataPart

if TYPE_CHECKING:
    import xarray

    from thali.data.choices import Choices

NAMED = ("best", "worst")


def answers_part(
    columns: Columns, data: "Choices", shape: tuple[int, int], dense: bool, *, lapse: float, rule: str
) -> DataPart:
    """The part of a posterior that knows of best-worst choices."""
    labels = np.asarray(data.labels, dtype=str)
    answers, counts = possible_answers(data.start), answer_counts(data)
    coefficients = log_coefficients_of_answers(counts, answers)
    variables: dict[Any, Any] = {
        "unique_weights": (("chain", "draw", "option"), columns.unique_weights.reshape(*shape, -1))
    }
    coordinates, pointwise = {}, {}
    if dense:
        i, j = np.triu_indices(data.n_options, k=1)
        variables["choice_probability"] = (
            ("chain", "draw", "pair"),
            probability_draws(columns, i, j, lapse).reshape(*shape, -1),
        )
        coordinates = pair_names(labels)
    if len(counts) <= MAX_PAIRS:
        from scipy.special import xlogy

        probability = answer_probabilities(columns.unique_weights, data.start, data.members, lapse, rule)
        terms = np.add.reduceat(xlogy(counts, probability), answers.start[:-1], axis=1) + coefficients
        pointwise = {"chosen": (("chain", "draw", "set"), terms.reshape(*shape, -1))}
    names = np.array([", ".join(members) for members in data.sets], dtype=str)
    return DataPart(
        kind=BEST_WORST,
        log_constant=float(coefficients.sum()),
        descriptions={"choice_probability": "probability that the first of a pair is chosen, lapse included"},
        variables=variables,
        coordinates=coordinates,
        observed={"chosen": ("answer", as_counts(counts))},
        constants={
            "set_size": ("set", data.sizes),
            "member": ("place", data.members),
            "log_multinomial_coefficient": ("set", coefficients),
            "lapse": float(lapse),
            "unique": True,
            "best_worst": rule,
        },
        pointwise=pointwise,
        observed_coordinates={"set": names},
    )


def log_coefficients_of_answers(counts: np.ndarray, answers: Answers) -> np.ndarray:
    """The logarithm of the multinomial coefficient of each set."""
    from scipy.special import gammaln

    first = answers.start[:-1]
    return gammaln(np.add.reduceat(counts, first) + 1.0) - np.add.reduceat(gammaln(counts + 1.0), first)


def rule_of(tree: "xarray.DataTree") -> str:
    """By which rule best and worst are chosen according to a posterior."""
    return Posterior(tree).best_worst or RANKING


def by_option(answers: Answers, members: np.ndarray, n_options: int) -> Any:
    """A sparse matrix that sums values of answers to those of each option as the best, then of each as the worst."""
    from scipy.sparse import csr_array

    rows = np.tile(np.arange(len(answers.best)), 2)
    columns = np.concatenate([members[answers.best], n_options + members[answers.worst]])
    return csr_array((np.ones(len(rows)), (rows, columns)), shape=(len(answers.best), 2 * n_options))
