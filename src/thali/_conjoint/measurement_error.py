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

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._inference.numerics.weight_shares import compute_shares
from thali._labels import format_plural, shorten
from thali._number_format import format_percent
from thali.errors import Argument, ArgumentError, DataError

from .linear_fit import Estimates
from .profiles import Profiles

if TYPE_CHECKING:
    import pandas as pd


class SwapError(NamedTuple):
    """Probability of a swapped answer, estimated from a task that was asked twice."""

    reliability: float  # share of respondents who chose the same profile twice
    tau: float
    tau_se: float
    respondents: int
    influence: np.ndarray  # (respondents,) on tau

    def to_table(self) -> "pd.DataFrame":
        """Return a table of one row: reliability, tau and its error, respondents."""
        from thali._exportable_table import Table

        return Table([self._replace(influence=None)._asdict()]).drop(columns="influence")

    def correct(self, estimates: Estimates, is_mean: np.ndarray) -> Estimates:
        """Return corrected estimates; `is_mean` marks means, others are effects."""
        scale = 1.0 - 2.0 * self.tau
        shift = self.tau * is_mean
        slope = (2.0 * estimates.value - is_mean) / scale**2
        influence = estimates.influence / scale + self.influence[:, None] * slope
        return Estimates((estimates.value - shift) / scale, influence, estimates.df)


def estimate_swap_error(
    profiles: Profiles, repeated: Sequence[Any] | None
) -> tuple[Profiles, SwapError | None]:
    """Estimate the probability of a swapped answer; drop the second of the two tasks."""
    if repeated is None:
        return profiles, None
    labels = _parse_repeated(profiles, repeated)
    if not profiles.is_choice:
        raise ArgumentError(
            Argument("repeated"),
            " corrects for swapped choices, which ratings do not have. Remove this argument, or"
            " analyse the choices.",
        )
    chosen = []
    shown = []
    for label in labels:
        rows = profiles.select_rows(profiles.task_labels == label)
        is_chosen = rows.outcome == 1.0
        products = np.full(profiles.n_respondents, -1)
        products[rows.respondent[is_chosen]] = rows.product[is_chosen]
        chosen.append(products)
        shown.append(set(zip(rows.respondent.tolist(), rows.product.tolist(), strict=True)))
    answered = np.flatnonzero(np.min(chosen, axis=0) >= 0)
    different = {person for person, _ in shown[0] ^ shown[1]} & set(answered.tolist())
    if different or len(answered) < 2:
        raise DataError(
            f"Tasks {labels[0]!r} and {labels[1]!r} showed different profiles to"
            f" {len(different):,} of {format_plural(len(answered), 'respondent')} with answers to"
            " both; a repeated task must show the same profiles, in any order. Give the two tasks"
            " that showed the same profiles."
        )
    agrees = (chosen[0] == chosen[1])[answered]
    person_weights = np.zeros(profiles.n_respondents)
    person_weights[profiles.respondent] = profiles.weights
    leverage = compute_shares(person_weights[answered])
    reliability = float(leverage @ agrees)
    if reliability <= 0.5:
        raise DataError(
            f"Only {format_percent(reliability)} of the respondents chose the same profile in the"
            f" tasks {labels[0]!r} and {labels[1]!r}, no more than by chance, so estimates cannot"
            " be corrected; remove ",
            Argument("repeated"),
            ".",
        )
    root = np.sqrt(2.0 * reliability - 1.0)
    influence = np.zeros(profiles.n_respondents)
    deviations = (agrees - reliability) / np.sqrt(1.0 - leverage)
    influence[answered] = -leverage * deviations / (2.0 * root)
    is_kept = profiles.task_labels != labels[1]
    influence = influence[np.unique(profiles.respondent[is_kept])]
    tau_se = float(np.linalg.norm(influence))
    return profiles.select(is_kept), SwapError(
        reliability, (1.0 - root) / 2.0, tau_se, len(answered), influence
    )


def _parse_repeated(profiles: Profiles, repeated: Sequence[Any]) -> list[str]:
    """Return the labels of the two tasks in the argument `repeated`."""
    known_labels = list(dict.fromkeys(profiles.task_labels.tolist()))
    labels = list(dict.fromkeys(map(str, repeated)))
    if isinstance(repeated, str) or len(labels) != 2 or not set(labels) <= set(known_labels):
        raise ArgumentError(
            Argument("repeated"),
            f" must name two of the tasks {shorten(known_labels)}; got {repeated!r}.",
        )
    return labels
