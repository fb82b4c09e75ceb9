r"""Correction for respondents who would answer the same task differently (Clayton et al. 2023).

A respondent who meets a task twice chooses the same profile with probability
:math:`\mathrm{IRR} = \tau^2 + (1 - \tau)^2`, if each answer is swapped with probability
:math:`\tau`. Then

.. math::

    \hat\tau = \frac{1 - \sqrt{2\,\mathrm{IRR} - 1}}{2}, \qquad
    \text{mean}^* = \frac{\text{mean} - \hat\tau}{1 - 2\hat\tau}, \qquad
    \text{AMCE}^* = \frac{\text{AMCE}}{1 - 2\hat\tau}.

Standard errors allow for the estimated :math:`\tau` (delta method over respondents).
"""

from typing import Any, NamedTuple

import numpy as np

from thali._labels import format_plural, shorten
from thali.errors import Argument, ArgumentError, DataError

from .linear_fit import Estimates
from .profiles import Profiles


class SwapError(NamedTuple):
    """Probability of a swapped answer, estimated from a task that was asked twice."""

    tau: float
    std_error: float
    reliability: float  # share of respondents who chose the same profile twice
    n_respondents: int
    influence: np.ndarray  # (respondents,) on tau

    @property
    def summary(self) -> dict[str, float]:
        """Reliability, probability of a swapped answer and its standard error, by name."""
        return {
            "reliability": self.reliability,
            "tau": self.tau,
            "tau_se": self.std_error,
            "respondents": self.n_respondents,
        }

    def correct(self, estimates: Estimates, is_mean: bool) -> Estimates:
        """Return estimates that are corrected for swapped answers."""
        scale = 1.0 - 2.0 * self.tau
        shift = self.tau * is_mean
        slope = (2.0 * estimates.value - is_mean) / scale**2
        influence = estimates.influence / scale + self.influence[:, None] * slope
        return Estimates((estimates.value - shift) / scale, influence, estimates.df)


def estimate_swap_error(
    profiles: Profiles, repeated: Any
) -> tuple[Profiles, SwapError | None]:
    """Estimate the probability of a swapped answer; drop the second of the two tasks."""
    if repeated is None:
        return profiles, None
    labels = _parse_repeated(profiles, repeated)
    if not np.isin(profiles.outcome, (0.0, 1.0)).all():
        raise ArgumentError(
            Argument("repeated"),
            " corrects choices; ratings have no swapped answers. Remove this argument, or analyse"
            " the choice.",
        )
    first, second = (_list_choices(profiles, chosen_label) for chosen_label in labels)
    answered = np.intersect1d(first.respondents, second.respondents)
    if len(answered) < 2:
        raise DataError(
            f"{format_plural(len(answered), 'respondent')} answered both tasks {labels[0]!r} and"
            f" {labels[1]!r}; at least two must. Name the task that was asked twice."
        )
    _check_same_profiles(profiles, labels, answered)
    choice_pairs = [
        choices.products[np.searchsorted(choices.respondents, answered)]
        for choices in (first, second)
    ]
    agrees = (choice_pairs[0] == choice_pairs[1]).astype(float)
    weights = np.array([first.weights[first.respondents == k][0] for k in answered])
    reliability = float(np.average(agrees, weights=weights))
    if reliability <= 0.5:
        raise DataError(
            f"Only {100 * reliability:.0f} % of the respondents chose the same profile in the tasks"
            f" {labels[0]!r} and {labels[1]!r}, no more than by chance, so the estimates cannot be"
            " corrected. Check that these tasks showed the same profiles, or remove ",
            Argument("repeated"),
            ".",
        )
    leverage = weights / weights.sum()
    root = np.sqrt(2.0 * reliability - 1.0)
    influence = np.zeros(profiles.n_respondents)
    influence[answered] = (
        -leverage * (agrees - reliability) / np.sqrt(1.0 - leverage) / (2.0 * root)
    )
    swap_error = SwapError(
        (1.0 - root) / 2.0,
        float(np.sqrt(np.square(influence).sum())),
        reliability,
        len(answered),
        influence,
    )
    is_repeat = profiles.task_labels == labels[1]
    kept = np.unique(profiles.respondent[~is_repeat])
    return profiles.select(~is_repeat), swap_error._replace(influence=influence[kept])


class _TaskChoices(NamedTuple):
    """Respondents who answered a task, the chosen product of each, and their weights."""

    respondents: np.ndarray
    products: np.ndarray
    weights: np.ndarray


def _parse_repeated(profiles: Profiles, repeated: Any) -> tuple[str, str]:
    """Return the labels of the two tasks in the argument `repeated`."""
    known_labels = list(dict.fromkeys(profiles.task_labels.tolist()))
    if isinstance(repeated, str) or len(labels := tuple(map(str, repeated))) != 2:
        raise ArgumentError(
            Argument("repeated"), f" must be two tasks, such as ('1', '6'); got {repeated!r}."
        )
    if missing := [label for label in labels if label not in known_labels]:
        raise ArgumentError(
            Argument("repeated"),
            f" contains {missing[0]!r}, but the tasks are {shorten(known_labels)}.",
        )
    if labels[0] == labels[1]:
        raise ArgumentError(Argument("repeated"), f" contains {labels[0]!r} twice; name two tasks.")
    return labels[0], labels[1]


def _list_choices(profiles: Profiles, label: str) -> _TaskChoices:
    """Return the choices in the task with this label."""
    is_chosen = (profiles.task_labels == label) & (profiles.outcome == 1.0)
    return _TaskChoices(
        profiles.respondent[is_chosen], profiles.product[is_chosen], profiles.weights[is_chosen]
    )


def _check_same_profiles(
    profiles: Profiles, labels: tuple[str, str], respondents: np.ndarray
) -> None:
    """Raise DataError if the two tasks showed different profiles to most respondents."""
    shown = []
    for label in labels:
        is_shown = (profiles.task_labels == label) & np.isin(profiles.respondent, respondents)
        pairs = np.stack([profiles.respondent[is_shown], profiles.product[is_shown]])
        shown.append({(respondent, product) for respondent, product in pairs.T.tolist()})
    different = sorted({respondent for respondent, _ in shown[0] ^ shown[1]})
    if different:
        raise DataError(
            f"The tasks {labels[0]!r} and {labels[1]!r} showed different profiles to"
            f" {format_plural(len(different), 'respondent')} of {len(respondents):,}; a repeated"
            " task must show the same profiles, in any order. Name the task that was asked twice."
        )
