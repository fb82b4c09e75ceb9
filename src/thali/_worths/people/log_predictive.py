"""Log predictive probability of all choices of a new respondent together."""

from typing import TYPE_CHECKING

import numpy as np

from thali._inference.index_arithmetic import part_bounds, space_evenly
from thali._model.labelled_option_sets import is_best_worst, set_indices
from thali._model.respondent_log_predictive import (
    NEW_PEOPLE,
    anneal_log_mean,
    count_answers_by_respondent,
    sum_log_choices,
)

from ..worth_draws import WorthDraws
from .respondent_draws import RespondentDraws

if TYPE_CHECKING:
    import pandas

    from thali._data.choices import Choices
    from thali._data.pairs import PairedComparisons

_SEED = 1


def estimate_log_predictive(
    worths: WorthDraws, respondent_draws: RespondentDraws, data: "PairedComparisons | Choices"
) -> "pandas.Series":
    """Return the log predictive probability of each new respondent's choices."""
    import pandas as pd

    count_answers_by_respondent(data)  # refuses other data
    draw_indices = space_evenly(respondent_draws.n_draws, NEW_PEOPLE)
    copied_indices = np.repeat(draw_indices, -(-NEW_PEOPLE // len(draw_indices)))
    worths = worths.take(copied_indices)
    respondent_draws = respondent_draws.take(copied_indices)
    x = None
    covariate_rows = None
    log_probabilities = {}
    if respondent_draws.covariates is not None:
        covariate_rows = respondent_draws.covariates.encode_table(data.people)
    for respondent, choices in data.by_respondent().items():
        if covariate_rows is not None:
            x = covariate_rows.loc[respondent].to_numpy()
        log_probabilities[respondent] = _estimate_log_mean(worths, respondent_draws, choices, x)
    return pd.Series(
        log_probabilities,
        pd.Index(log_probabilities, name="respondent"),
        float,
        name="log_predictive",
    )


def _estimate_log_mean(
    worths: WorthDraws,
    respondent_draws: RespondentDraws,
    data: "PairedComparisons | Choices",
    x: np.ndarray | None,
) -> float:
    """Return the log mean probability of these choices over new respondents."""
    # There is one new respondent for each draw.
    rng = np.random.default_rng(_SEED)
    option_indices = set_indices(data, worths.labels)[0]
    answer_counts = data.questions().counts
    answer_indices = np.flatnonzero(answer_counts)
    set_starts = part_bounds([len(indices) for indices in option_indices])
    members = np.concatenate(option_indices)
    if x is not None and np.isnan(x).any():
        x = None
    respondent_means = respondent_draws.draw_new_means(rng, 1, x)
    start_normals = rng.standard_normal(
        (
            respondent_draws.n_draws,
            1,
            respondent_draws.loadings.shape[1] + respondent_means.shape[2],
        )
    )

    def log_likelihood(standard_normals: np.ndarray) -> np.ndarray:
        """Return the log-likelihood of all choices, given standard normals."""
        log_worths = (respondent_means + respondent_draws.scale_deviations(standard_normals))[:, 0]
        p = worths._replace(log_worths=log_worths).set_probabilities(
            set_starts, members, is_best_worst(data)
        )
        return sum_log_choices(p[:, answer_indices], answer_counts[answer_indices])

    def propose_step(current_normals: np.ndarray, step: float) -> tuple[np.ndarray, np.ndarray]:
        """Return autoregressive proposals of the normals, with log ratio 0."""
        step_length = min(step, 1.0)  # the move leaves the normal distribution invariant
        proposed_normals = np.sqrt(
            1.0 - step_length**2
        ) * current_normals + step_length * rng.standard_normal(current_normals.shape)
        return proposed_normals, np.zeros(len(current_normals))

    def select_accepted(
        is_accepted: np.ndarray, proposed_normals: np.ndarray, current_normals: np.ndarray
    ) -> np.ndarray:
        """Return the proposal where it is accepted, else the current normals."""
        return np.where(is_accepted[:, None, None], proposed_normals, current_normals)

    return anneal_log_mean(start_normals, log_likelihood, propose_step, select_accepted, rng)
