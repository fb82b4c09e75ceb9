"""Log predictive probability of all choices of a new respondent together."""

from typing import TYPE_CHECKING, Any

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

_SEED = 1


def estimate_log_predictive(
    worths: WorthDraws, respondent_draws: RespondentDraws, data: Any
) -> "pandas.Series":
    """Return the log predictive probability of each new respondent's choices."""
    import pandas as pd

    count_answers_by_respondent(data)  # refuses other data
    draws = space_evenly(respondent_draws.n_draws, NEW_PEOPLE)
    copies = np.repeat(draws, -(-NEW_PEOPLE // len(draws)))
    worths, respondent_draws = worths.take(copies), respondent_draws.take(copies)
    x, rows, log_probabilities = None, None, {}
    if respondent_draws.covariates is not None:
        rows = respondent_draws.covariates.encode_table(data.people)
    for name, choices in data.by_respondent().items():
        if rows is not None:
            x = rows.loc[name].to_numpy()
        log_probabilities[name] = _estimate_log_mean(worths, respondent_draws, choices, x)
    return pd.Series(
        log_probabilities,
        pd.Index(log_probabilities, name="respondent"),
        float,
        name="log_predictive",
    )


def _estimate_log_mean(
    worths: WorthDraws, respondent_draws: RespondentDraws, data: Any, x: np.ndarray | None
) -> float:
    """Return the log mean probability of these choices over new respondents."""
    # There is one new respondent for each draw.
    rng = np.random.default_rng(_SEED)
    option_indices, counts = set_indices(data, worths.labels)[0], data.questions().counts
    answer_indices = np.flatnonzero(counts)
    start = part_bounds([len(indices) for indices in option_indices])
    members = np.concatenate(option_indices)
    if x is not None and np.isnan(x).any():
        x = None
    mean = respondent_draws.draw_new_means(rng, 1, x)
    normal = rng.standard_normal(
        (respondent_draws.n_draws, 1, respondent_draws.loadings.shape[1] + mean.shape[2])
    )

    def log_likelihood(normal: np.ndarray) -> np.ndarray:
        """Return the log-likelihood of all choices, given standard normals."""
        log_worths = (mean + respondent_draws.scale_deviations(normal))[:, 0]
        p = worths._replace(log_worths=log_worths).set_probabilities(
            start, members, is_best_worst(data)
        )
        return sum_log_choices(p[:, answer_indices], counts[answer_indices])

    def propose_step(normal: np.ndarray, step: float) -> tuple[np.ndarray, np.ndarray]:
        """Return autoregressive proposals of the normals, with log ratio 0."""
        size = min(step, 1.0)  # the move leaves the normal distribution invariant
        moved = np.sqrt(1.0 - size**2) * normal + size * rng.standard_normal(normal.shape)
        return moved, np.zeros(len(normal))

    def select_accepted(accepted: np.ndarray, moved: np.ndarray, normal: np.ndarray) -> np.ndarray:
        """Return the proposal where it is accepted, else the current normals."""
        return np.where(accepted[:, None, None], moved, normal)

    return anneal_log_mean(normal, log_likelihood, propose_step, select_accepted, rng)
