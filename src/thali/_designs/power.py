"""`power`: statistical power of a design, by simulating and fitting studies."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import stdtrit

from thali._argument_checks import check_integer
from thali._data.connectivity import describe_groups, list_components
from thali._inference.index_arithmetic import argsort_descending, part_bounds, part_positions
from thali._inference.random_seeds import RandomSeed, build_seed_sequence, spawn_generators
from thali._inference.user_warnings import silence_warnings
from thali._labels import format_label
from thali._posterior.respondent_dependence import ADJUSTED, INDEPENDENT
from thali._printed_result import PrintedResult
from thali.errors import Argument, ArgumentError

from .choice_designs import contrast_utilities
from .design_check import code_interactions, read_request, read_tasks
from .set_designs import read_sets

if TYPE_CHECKING:
    import pandas

    from thali._choice.product_coding import Coding
    from thali._data.experiments import ChoiceExperiment

_Z = 1.959963984540054  # two-sided, 5 %
# respondents beyond the number of coefficients, for errors clustered by respondent
_EXTRA_RESPONDENTS = 10


def power(
    design: Any,
    prior: Any = None,
    respondents: int | None = 100,
    spread: float = 0.0,
    simulations: int = 200,
    interactions: Iterable[Any] = (),
    random_seed: RandomSeed = None,
) -> "pandas.DataFrame":
    r"""Estimate the power to detect each utility, by simulating and fitting studies.

    .. math:: \beta_n = \beta + \sigma z_n, \quad P(y_{nt} = j) \propto e^{x_{tj}^T \beta_n}; \qquad
        \text{detected: } |\hat\beta_k| > c \operatorname{se}(\hat\beta_k), \text{ with}
        \text{the sign of } \beta_k

    c is 1.96 or, with `spread`, the same quantile of the t distribution with N - 1 degrees of
    freedom.

    Every simulated respondent answers one version of the design, each version in turn, and a
    `MultinomialLogit` is fitted to all choices.

    In a design of pairs or sets each option has one coefficient, the logarithm of its worth, and
    respondents choose the best of each set (Luce's choice rule; for pairs, Bradley and Terry's).
    The power is how often the first option, the first two and the first three, by their true
    worths, rank above every worse option by more than 1.96 standard errors of the difference.

    Parameters
    ----------
    design : DataFrame, ChoiceExperiment or PairDesign
        As for `check`; or a design of pairs or sets, as returned by `pairs`, `sets` and
        `paired.pair_design`.
    prior : dict or fitted model, optional
        Expected utilities, as for `choice`; a fitted logit supplies the mean over its draws. For
        pairs and sets {option: worth}; or a fitted `EliminationByAspects("unique")`, whose draws
        supply the worths of each study; None: each study draws worths from the prior Gamma(1, 1).
    respondents : int, optional
        Respondents per simulated study. None (pairs and sets only): the number is doubled until the
        first three options are separated in 80 % of the studies, then bisected to a tenth; the
        search ends at 8,000 answers per study.
    spread : float, 0 or above
        The standard deviation σ of every coefficient (pairs and sets: every log worth) between
        respondents. Coefficients of the levels of one attribute have a correlation of 0.5, so that
        the first level varies as the others do. If σ > 0, the mean is detected less often, and the
        standard errors are clustered by respondent (the sandwich estimate), which requires 10 more
        respondents than coefficients.
    simulations : int
        Number of studies; the standard error of a power p is sqrt(p (1 - p) / simulations).
    interactions : list of pairs, optional
        Attributes that interact in the model; the expected coefficients of interactions are 0.
    random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional

    Returns
    -------
    pandas.DataFrame
        Index coefficient; `utility`, expected, against the first level; `estimate`, the mean over
        studies; `sd` of the estimates, and the model's mean `std_error`; `power`, the proportion of
        studies in which the coefficient differs significantly from 0, with the correct sign (for a
        true utility of 0: with either sign, which 5 % should). Studies without standard errors
        detect nothing and are excluded from `std_error`; `attrs["degenerate"]` is their number.
        Pairs and sets: index respondents, columns `first`, `first 2`, `first 3`, the proportions of
        studies that separate these options.

    Raises
    ------
    ArgumentError
        If an argument is outside its range, or the design does not identify the coefficients.
    DataError
        If the design cannot be read as tasks.

    References
    ----------
    Rose & Bliemer (2013), Sample size requirements for stated choice experiments.

    Examples
    --------
    >>> import thali as th
    >>> design = th.designs.choice({"brand": ["A", "B"], "price": [9, 12]}, 8, 2, random_seed=1)
    >>> table = power(design, {"price": -0.2}, respondents=60, simulations=40, random_seed=1)
    >>> bool(table.loc["price[12]", "power"] > 0.9)
    True
    >>> worths = {"tea": 4.0, "milk": 2.0, "juice": 1.0}
    >>> power(
    ...     th.designs.pairs(list(worths)), worths, respondents=100, simulations=40, random_seed=1
    ... ).columns.tolist()
    ['first', 'first 2']
    """
    if respondents is not None:
        respondents = check_integer("respondents", respondents, 1)
    n_studies = check_integer("simulations", simulations, 2)
    if isinstance(spread, bool) or not isinstance(spread, Real) or not 0.0 <= spread < np.inf:
        raise ArgumentError(
            Argument("spread"),
            f", the standard deviation between respondents, must be >= 0; got {spread!r}.",
        )
    set_design = design
    if isinstance(design, PrintedResult):
        set_design = design.table
    if (set_table := read_sets(set_design)) is not None:
        if interactions:
            raise ArgumentError(
                Argument("interactions"),
                " require attributes, which options do not have; remove the interactions.",
            )
        return _estimate_set_power(
            set_table, prior, respondents, float(spread), n_studies, random_seed
        )
    if respondents is None:
        raise ArgumentError(
            Argument("respondents"),
            " can be searched for only in designs of pairs and sets; give a number.",
        )
    return _estimate_choice_power(
        design, prior, interactions, respondents, spread, n_studies, random_seed
    )


def _estimate_choice_power(
    design: Any,
    prior: Any,
    interactions: Iterable[Any],
    n_respondents: int,
    spread: float,
    n_studies: int,
    random_seed: RandomSeed,
) -> "pandas.DataFrame":
    """Estimate the power to detect each utility in a choice design."""
    import pandas as pd

    tasks, _, _, has_none, utility_draws, interaction_pairs, coding = read_request(
        design, prior, None, interactions
    )
    beta = np.mean([contrast_utilities(utilities, has_none) for utilities in utility_draws], axis=0)
    if len(beta) > len(coding.names):
        raise ArgumentError(
            Argument("design"),
            " contains products that lack some attributes, so choices cannot be simulated; fill"
            " in all attributes.",
        )
    beta = np.append(beta, np.zeros(len(coding.names) - len(beta)))
    _check_respondent_count(n_respondents, len(beta), spread)
    rngs = spawn_generators(random_seed, n_studies)
    betas = np.tile(beta, (n_studies, 1))
    mixing_matrix = _mixing_matrix(coding)
    estimates, covariances = simulate_studies(
        tasks, coding, interaction_pairs, betas, n_respondents, spread, rngs, mixing_matrix
    )
    variances = np.diagonal(covariances, axis1=1, axis2=2)
    has_errors = np.all(np.isfinite(variances) & (variances > 0.0), axis=1)
    standard_errors = np.sqrt(np.where(has_errors[:, None], variances, np.inf))
    is_significant = np.abs(estimates) > _critical_value(n_respondents, spread) * standard_errors
    is_detected = np.where(
        beta == 0.0, is_significant, is_significant & (np.sign(estimates) == np.sign(beta))
    )
    statistic_by_name = {
        "utility": beta,
        "estimate": estimates.mean(axis=0),
        "sd": estimates.std(axis=0, ddof=1),
        "std_error": np.nan,
        "power": is_detected.mean(axis=0),
    }
    if has_errors.any():
        statistic_by_name["std_error"] = standard_errors[has_errors].mean(axis=0)
    table = pd.DataFrame(statistic_by_name, pd.Index(coding.names, name="coefficient"))
    table.attrs.update(
        respondents=n_respondents, simulations=n_studies, degenerate=int((~has_errors).sum())
    )
    return table


def _min_respondents(n_coefficients: int, spread: float) -> int:
    """Return the smallest number of respondents that allows standard errors."""
    # The rank of a sandwich estimate is at most the number of respondents.
    if spread:
        return n_coefficients + _EXTRA_RESPONDENTS
    return 1


def _check_respondent_count(n_respondents: int, n_coefficients: int, spread: float) -> None:
    """Raise ArgumentError for too few respondents for standard errors."""
    if n_respondents < (n_required := _min_respondents(n_coefficients, spread)):
        raise ArgumentError(
            Argument("respondents"),
            f" must be at least {n_required} if respondents vary; standard errors clustered by"
            f" respondent require {_EXTRA_RESPONDENTS} more respondents than coefficients"
            f" ({n_coefficients}). Got {n_respondents}.",
        )


def _critical_value(n_respondents: int, spread: float) -> float:
    """Return the two-sided 5 % critical value: t if respondents vary, else normal."""
    if spread:
        return float(stdtrit(n_respondents - 1, 0.975))
    return _Z


def _mixing_matrix(coding: "Coding") -> np.ndarray:
    """Return a Cholesky root of the coefficients' correlations between respondents, (p, p)."""
    # All levels of an attribute vary equally between respondents.
    # with equal first levels for all respondents, a pooled logit would favour the other levels
    attribute_index = np.full(len(coding.names), -1)
    first_coefficient = 0
    for part_index, coding_part in enumerate(coding.parts):
        next_coefficient = first_coefficient + coding_part.table.shape[1]
        if coding_part.numbers is None:
            attribute_index[first_coefficient:next_coefficient] = part_index
        first_coefficient = next_coefficient
    is_same_attribute = (attribute_index[:, None] == attribute_index[None, :]) & (
        attribute_index[:, None] >= 0
    )
    return np.linalg.cholesky(
        np.where(np.eye(len(attribute_index), dtype=bool), 1.0, 0.5 * is_same_attribute)
    )


def simulate_studies(
    tasks: "ChoiceExperiment",
    coding: "Coding",
    interaction_pairs: Sequence[tuple[str, str]],
    betas: np.ndarray,  # (studies, p)
    n_respondents: int,
    spread: float,
    rngs: list[np.random.Generator],
    mixing_matrix: np.ndarray,  # (p, p) maps normal noise to differences between respondents
) -> tuple[np.ndarray, np.ndarray]:
    """Simulate and fit studies; return estimates (studies, p) and covariances.

    Covariances have shape (studies, p, p).
    """
    from thali._choice.logits.multinomial_logit import MultinomialLogit

    answered_tasks = _assign_versions(tasks, np.arange(n_respondents) % tasks.n_respondents)
    design_matrix = coding.encode_codes(answered_tasks.products)[answered_tasks.row_product]
    respondent_of_row = np.repeat(
        answered_tasks.respondent_of_task, np.diff(answered_tasks.first_row)
    )
    n_studies, p = betas.shape
    estimates = np.empty((n_studies, p))
    covariances = np.empty((n_studies, p, p))
    people = INDEPENDENT
    if spread and n_respondents > 1:  # answers of one respondent are dependent
        people = ADJUSTED
    model = MultinomialLogit(interactions=list(interaction_pairs), people=people)
    for study_index, rng in enumerate(rngs):
        noise = rng.normal(size=(n_respondents, p))
        respondent_betas = betas[study_index] + spread * noise @ mixing_matrix.T
        row_utilities = (design_matrix * respondent_betas[respondent_of_row]).sum(
            axis=1
        ) + rng.gumbel(size=len(design_matrix))
        best_utilities = np.maximum.reduceat(row_utilities, answered_tasks.first_row[:-1])
        chosen_rows = (
            np.flatnonzero(
                row_utilities == np.repeat(best_utilities, np.diff(answered_tasks.first_row))
            )
            - answered_tasks.first_row[:-1]
        )
        with silence_warnings():
            fitted_model = model.fit(answered_tasks.with_fields(chosen=chosen_rows))
        estimates[study_index] = fitted_model.coef_
        covariances[study_index] = fitted_model.covariance_
    return estimates, covariances


# Designs of pairs and sets ------------------------------------------------------------------------


_OPTION = "option"  # the only attribute of an option
# options to separate, with this power, from at most this number of answers
_MAX_FIRST = 3
_TARGET_POWER = 0.8
_MAX_ANSWERS = 8_000


def _estimate_set_power(
    sets: "pandas.DataFrame",
    prior: Any,
    n_respondents: int | None,
    spread: float,
    n_studies: int,
    random_seed: RandomSeed,
) -> "pandas.DataFrame":
    """Estimate the power to separate the best 1, 2 and 3 options from the others."""
    import pandas as pd

    labels = list(dict.fromkeys(sets[_OPTION]))
    _check_connected(sets, labels)
    tasks = read_tasks(sets, {_OPTION: labels})
    interaction_pairs, coding = code_interactions(tasks, (), [_OPTION])
    seed = build_seed_sequence(random_seed)
    log_worths = _draw_log_worths(
        prior, labels, n_studies, np.random.Generator(np.random.PCG64(seed))
    )
    betas = log_worths[:, 1:] - log_worths[:, :1]
    if n_respondents is not None:
        _check_respondent_count(n_respondents, betas.shape[1], spread)
    # all log worths vary between respondents, the first one included
    mixing_matrix = np.linalg.cholesky(np.eye(betas.shape[1]) + 1.0)

    def estimate_separation(n_simulated: int) -> np.ndarray:
        # repeat the same studies with more respondents
        """Return the share of simulated studies that separate the best 1, 2, 3 options."""
        seed_copy = np.random.SeedSequence(seed.entropy, spawn_key=seed.spawn_key)
        estimates, covariances = simulate_studies(
            tasks,
            coding,
            interaction_pairs,
            betas,
            n_simulated,
            spread,
            spawn_generators(seed_copy, n_studies),
            mixing_matrix,
        )
        critical_value = _critical_value(n_simulated, spread)
        return np.array(
            [
                find_separated(true_worths, estimate, covariance, critical_value)
                for true_worths, estimate, covariance in zip(
                    log_worths, estimates, covariances, strict=True
                )
            ]
        ).mean(axis=0)

    max_respondents = max(8, _MAX_ANSWERS * tasks.n_respondents // tasks.n_tasks)
    min_respondents = _min_respondents(betas.shape[1], spread)
    if n_respondents is None:
        rates_by_number = search_sample_size(estimate_separation, min_respondents, max_respondents)
    else:
        rates_by_number = {n_respondents: estimate_separation(n_respondents)}
    columns = ["first", *(f"first {k}" for k in range(2, min(_MAX_FIRST, len(labels) - 1) + 1))]
    table = pd.DataFrame.from_dict(
        dict(sorted(rates_by_number.items())), orient="index", columns=columns
    ).rename_axis("respondents")
    table.attrs.update(simulations=n_studies)
    return table


def _check_connected(sets: "pandas.DataFrame", labels: list[str]) -> None:
    """Raise ArgumentError if the design's sets do not connect all options."""
    import pandas as pd

    option_index = pd.Index(labels).get_indexer(pd.Index(sets[_OPTION]))
    set_columns = [name for name in sets if name not in ("alternative", _OPTION)]
    # whether the next row belongs to the same set
    is_same_set = np.diff(sets.groupby(set_columns).ngroup()) == 0
    if unconnected_text := describe_groups(
        "options",
        list_components(labels, option_index[:-1][is_same_set], option_index[1:][is_same_set]),
        "shown together",
    ):
        raise ArgumentError(
            Argument("design"),
            " does not connect all options, because"
            f" {unconnected_text[0].lower()}{unconnected_text[1:]}",
        )


def search_sample_size(
    separation_rates: Callable[[int], np.ndarray], min_respondents: int, max_respondents: int
) -> dict[int, np.ndarray]:
    """Search the smallest sufficient number of respondents; return power by number.

    The number is doubled until the power suffices, then bisected.
    """
    rates_by_number: dict[int, np.ndarray] = {}
    insufficient_number = min_respondents - 1
    sufficient_number = max(8, min_respondents)
    while True:
        rates_by_number[sufficient_number] = separation_rates(sufficient_number)
        if rates_by_number[sufficient_number][-1] >= _TARGET_POWER:
            break
        if 2 * sufficient_number > max_respondents:
            return rates_by_number
        insufficient_number = sufficient_number
        sufficient_number = 2 * sufficient_number
    while sufficient_number - insufficient_number > max(
        1, sufficient_number // 10
    ):  # to a tenth of the respondents
        middle_number = (insufficient_number + sufficient_number) // 2
        rates_by_number[middle_number] = separation_rates(middle_number)
        if rates_by_number[middle_number][-1] >= _TARGET_POWER:
            sufficient_number = middle_number
        else:
            insufficient_number = middle_number
    return rates_by_number


def find_separated(
    log_worths: np.ndarray, estimate: np.ndarray, covariance: np.ndarray, critical_value: float
) -> list[bool]:
    """Return whether the best 1, 2, 3 options are separated from all worse ones."""
    option_order = argsort_descending(log_worths)
    sorted_means = np.append(0.0, estimate)[option_order]
    ordered_covariance = np.pad(covariance, ((1, 0), (1, 0)))[np.ix_(option_order, option_order)]
    difference_variances = (
        np.diag(ordered_covariance)[:, None]
        + np.diag(ordered_covariance)[None, :]
        - 2.0 * ordered_covariance
    )
    is_above = sorted_means[:, None] - sorted_means[None, :] > critical_value * np.sqrt(
        np.maximum(difference_variances, 0.0)
    )
    # options of equal worth need not be separated
    is_above |= log_worths[option_order][:, None] == log_worths[option_order][None, :]
    is_separated = [
        bool(is_above[k, k + 1 :].all()) for k in range(min(_MAX_FIRST, len(option_order) - 1))
    ]
    return [all(is_separated[: k + 1]) for k in range(len(is_separated))]


def _draw_log_worths(
    prior: Any, labels: list[str], n_studies: int, rng: np.random.Generator
) -> np.ndarray:
    """Return the simulated options' log worths in each study, (studies, options)."""
    # They are given, draws of a fitted model, or draws of its prior.
    from thali._aspects.models.elimination import EliminationByAspects
    from thali._worths.model import BradleyTerryLuce

    if prior is None:
        return np.log(rng.gamma(1.0, size=(n_studies, len(labels))))
    if isinstance(prior, EliminationByAspects | BradleyTerryLuce):
        if isinstance(prior, BradleyTerryLuce):
            draws = prior._draws
            known_labels = draws.labels
            log_worths = draws.log_worths
        elif prior.aspects == "unique":
            posterior = prior._view
            known_labels = posterior.labels
            log_worths = np.log(posterior.unique.reshape(-1, len(known_labels)))
        else:
            raise ArgumentError(
                Argument("prior"),
                " must be a model with one worth per option, such as"
                " EliminationByAspects('unique') or BradleyTerryLuce.",
            )
        for label in labels:
            if label not in known_labels:
                raise ArgumentError(
                    Argument("prior"), f" has no worth for the option {label!r}; add it."
                )
        draw_indices = rng.integers(len(log_worths), size=n_studies)
        return log_worths[draw_indices][:, [known_labels.index(label) for label in labels]]
    if not isinstance(prior, Mapping):
        raise ArgumentError(
            Argument("prior"),
            " for pairs and sets must be a mapping from options to worths, a fitted model with one"
            f" worth per option, or None; got {prior!r}.",
        )
    worth_of_label = {format_label(name): worth for name, worth in prior.items()}
    worths = []
    for label in labels:
        worth = worth_of_label.get(label)
        if not isinstance(worth, Real) or not 0.0 < float(worth) < np.inf:
            raise ArgumentError(
                Argument("prior"),
                f" must give each option a positive worth; {label!r} has none.",
            )
        worths.append(float(worth))
    return np.tile(np.log(worths), (n_studies, 1))


def _assign_versions(tasks: "ChoiceExperiment", versions: np.ndarray) -> "ChoiceExperiment":
    """Return the tasks of respondents, who each answer one version."""
    tasks_of_respondent = [
        np.arange(*tasks.first_task[[version, version + 1]]) for version in versions.tolist()
    ]
    task_indices = np.concatenate(tasks_of_respondent)
    task_sizes = np.diff(tasks.first_row)[task_indices]
    row_indices = np.repeat(tasks.first_row[task_indices], task_sizes) + part_positions(task_sizes)
    return tasks.with_fields(
        respondents=tuple(map(str, range(1, len(versions) + 1))),
        first_task=part_bounds([len(respondent_tasks) for respondent_tasks in tasks_of_respondent]),
        first_row=part_bounds(task_sizes),
        chosen=tasks.chosen[task_indices],
        row_product=tasks.row_product[row_indices],
        task_labels=tasks.task_labels[task_indices],
        alternative_labels=tasks.alternative_labels[row_indices],
        people=None,
    )
