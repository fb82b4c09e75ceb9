"""`check`: balance, efficiency and expected standard errors of a design."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._argument_checks import check_integer, check_positive
from thali._data.report_facts import format_extremes
from thali._inference.index_arithmetic import part_indices
from thali._labels import format_plural
from thali._object_descriptions import Description
from thali._printed_result import PrintedResult, printed_dataclass
from thali.errors import Argument, ArgumentError

from .product_coding import (
    ALTERNATIVE,
    DRAWS,
    HELD_OUT,
    NONE,
    TASK,
    VERSION,
    bound_log_determinant,
    compute_information,
    compute_variances,
    draw_utilities,
    is_dominated,
    parse_directions,
    parse_interactions,
)

if TYPE_CHECKING:
    import pandas

    from thali._choice.product_coding import Coding
    from thali._data.experiments import ChoiceExperiment

_TARGET_ERROR = 0.1  # standard error of a utility for which respondents are counted


@printed_dataclass
class DesignCheck(PrintedResult):
    """Result of `check`: balance, overlap, errors, efficiency of a design.

    Attributes
    ----------
    table : pandas.DataFrame
        One row per coefficient of `MultinomialLogit`: `utility` (expected), `std_error` (expected
        standard error for `respondents`; infinite where the design does not identify the
        coefficient) and `respondents`, the number needed for the requested standard error.
    balance : pandas.DataFrame
        One row per level: `times` shown, its `share` of the products, and the `least` and `most`
        times in a version.
    overlap : pandas.DataFrame
        One row per attribute: `overlap`, the share of pairs of products within tasks that have the
        same level, and `least`, the smallest possible share.
    d_error : float
        The p-th root of the determinant of the covariance of the p coefficients, from one
        respondent's choices, at the expected utilities.
    d_efficiency : float
        Where all utilities are 0, the p-th root of the determinant of the information, divided by
        the root for a design with orthogonal attributes and levels as balanced within tasks as
        possible; the maximum is 1. NaN where products lack attributes.
    respondents : int
        Number of respondents that the standard errors refer to.
    dominated : int, optional
        Number of tasks that contain a product worse than another; None: no directions were given.
    bayesian_d_error : float, optional
        The mean of the D-error over draws of uncertain utilities; None: the utilities are certain.
    """

    balance: "pandas.DataFrame"
    overlap: "pandas.DataFrame"
    d_error: float
    d_efficiency: float
    respondents: int
    dominated: int | None = None
    bayesian_d_error: float | None = None

    def _description(self) -> Description:
        """Return what `print` shows: efficiency, sample size, table of errors."""
        facts = [
            ("D-error", f"{self.d_error:.4g} (one respondent)"),
            ("D-efficiency", f"{self.d_efficiency:.3f}"),
        ]
        if self.bayesian_d_error is not None:
            facts.append(
                ("Bayesian D-error", f"{self.bayesian_d_error:.4g} (mean over uncertain utilities)")
            )
        if self.dominated is not None:
            facts.append(("Tasks with a dominated product", f"{self.dominated:,}"))
        return Description(self.title, tuple(facts), table=self.table.round(3), note=self.note)


def check(
    design: "pandas.DataFrame | ChoiceExperiment",
    prior: Any = None,
    respondents: int = 100,
    standard_error: float = _TARGET_ERROR,
    interactions: Iterable[Any] = (),
    directions: Mapping[str, str] | None = None,
    prior_sd: Any = None,
) -> DesignCheck:
    r"""Compute balance, overlap, expected errors and required sample size of a design.

    .. math:: \operatorname{se}(\hat\beta_k) = \sqrt{(I^{-1})_{kk} / N}, \qquad
        I = \frac1V \sum_t \Big( \sum_j p_{tj} x_{tj} x_{tj}^T - \bar x_t \bar x_t^T \Big)

    for N respondents who each answer one of V versions.

    Parameters
    ----------
    design : DataFrame or ChoiceExperiment
        A table as returned by `choice`; or answered tasks, where each respondent is a version.
    prior : dict or fitted logit, optional
        Expected utilities, as for `choice`. None: all are 0.
    respondents : int
        Number of respondents that the standard errors refer to.
    standard_error : float above 0
        Target for which the required number of respondents is computed.
    interactions : list of pairs, optional
        Attributes whose interactions are in the model, as for `choice`; the D-efficiency refers to
        main effects alone.
    directions : dict, optional
        Levels that all respondents prefer, as for `choice`: for `dominated`.
    prior_sd : float or dict, optional
        Uncertainty of the utilities, as for `choice`: for `bayesian_d_error`.

    Returns
    -------
    DesignCheck
        `.table`, `.balance`, `.overlap`, `.d_error`, `.d_efficiency`, `.dominated`; `print` shows
        it. Hold-out tasks (`held_out`) are excluded.

    Raises
    ------
    DataError
        If the design cannot be read as tasks.
    ArgumentError
        If an argument is outside its range, or `prior` names an unknown attribute or level.

    References
    ----------
    Huber & Zwerina (1996), The importance of utility balance in efficient choice designs; Rose &
    Bliemer (2013), Sample size requirements for stated choice experiments.

    Examples
    --------
    >>> import thali as th
    >>> design = th.designs.choice({"brand": ["A", "B"], "price": [9, 12]}, 8, 2, random_seed=1)
    >>> checked = check(design, prior={"price": -0.2}, respondents=50)
    >>> checked.table.round(3).to_dict("index")["price[12]"]
    {'utility': -0.6, 'std_error': 0.105, 'respondents': 55}
    >>> round(checked.d_efficiency, 3)
    1.0
    """
    from thali._choice.product_coding import build_coding

    n_respondents = check_integer("respondents", respondents, 1)
    target_error = check_positive("standard_error", standard_error, "the target for each utility")
    data, names, levels, has_none, utility_draws, _, coding = read_request(
        design, prior, prior_sd, interactions
    )
    expected_utilities = [
        np.mean(level_draws, axis=0) for level_draws in zip(*utility_draws, strict=True)
    ]
    main_coding = build_coding(data)
    design_matrix = coding.encode_codes(data.products)[data.row_product]
    row_utilities = _compute_utilities(data, expected_utilities)[data.row_product]
    unit_information = _compute_unit_information(data, design_matrix, row_utilities)
    variances = compute_variances(unit_information)
    is_complete = all(is_seen[:-1].all() for is_seen in coding.seen)
    main_matrix = main_coding.encode_codes(data.products)[data.row_product]
    efficiency = _compute_efficiency(data, main_matrix, levels, is_complete)
    table = _tabulate_coefficients(
        coding, expected_utilities, has_none, variances, n_respondents, target_error
    )
    is_identified = is_complete and np.isfinite(variances).all()
    d_error = np.inf
    bayesian_d_error = None
    n_dominated = None
    if is_identified:
        d_error = _compute_d_error(unit_information)
    if len(utility_draws) > 1:
        bayesian_d_error = np.inf
    if is_identified and len(utility_draws) > 1:
        bayesian_d_error = _compute_bayesian_error(data, design_matrix, utility_draws)
    signs = parse_directions(directions, names)
    if signs is not None:
        n_dominated = _count_dominated_tasks(data, signs)
    return DesignCheck(
        f"Design of {format_plural(data.n_respondents, 'version')},"
        f" {format_plural(data.n_tasks, 'task')} of"
        f" {format_extremes(np.diff(data.first_row))} alternatives",
        table,
        _describe_sample_size(table, n_respondents, target_error),
        _tabulate_balance(data, names, levels),
        _tabulate_overlap(data, names, levels),
        d_error,
        efficiency,
        n_respondents,
        n_dominated,
        bayesian_d_error,
    )


def _compute_unit_information(
    data: "ChoiceExperiment", design_matrix: np.ndarray, row_utilities: np.ndarray
) -> np.ndarray:
    """Return the Fisher information from one respondent, shape (p, p)."""
    # The respondent answers one version.
    return _sum_information(data, design_matrix, row_utilities) / data.n_respondents


def _sum_information(
    data: "ChoiceExperiment", design_matrix: np.ndarray, row_utilities: np.ndarray
) -> np.ndarray:
    """Return the Fisher information of all tasks together, shape (p, p)."""
    informations_by_size = []
    for size in np.unique(np.diff(data.first_row)):
        first_rows = data.first_row[:-1][np.diff(data.first_row) == size]
        row_indices = first_rows[:, None] + np.arange(size)
        # an additional column with coefficient 1 contains the utilities
        extended_matrix = np.concatenate(
            [design_matrix[row_indices], row_utilities[row_indices][..., None]], axis=-1
        )
        unit_beta = np.append(np.zeros(design_matrix.shape[1]), 1.0)
        informations_by_size.append(
            compute_information(extended_matrix, unit_beta)[:, :-1, :-1].sum(axis=0)
        )
    return np.sum(informations_by_size, axis=0)


def _compute_d_error(unit_information: np.ndarray) -> float:
    """Return the D-error: det(covariance)^(1/p) of one respondent's estimates."""
    sign, log_det = np.linalg.slogdet(unit_information)
    if sign <= 0:
        return np.inf
    return float(np.exp(-log_det / len(unit_information)))


def _compute_bayesian_error(
    data: "ChoiceExperiment", design_matrix: np.ndarray, utility_draws: list[Any]
) -> float:
    """Return the mean D-error over draws of the utilities."""
    utilities_by_draw = [_compute_utilities(data, draw)[data.row_product] for draw in utility_draws]
    information_by_draw = [
        _compute_unit_information(data, design_matrix, u) for u in utilities_by_draw
    ]
    return float(np.mean([_compute_d_error(draw) for draw in information_by_draw]))


class DesignRequest(NamedTuple):
    """A checked design with expected utilities and coding of its model."""

    tasks: "ChoiceExperiment"
    names: Sequence[str]  # of attributes
    levels: Sequence[Sequence[str]]
    has_none: bool
    utility_draws: list[list[np.ndarray]]  # one element per draw, as from `draw_utilities`
    crossed: list[tuple[str, str]]
    coding: "Coding"


def read_request(
    design: Any, prior: Any, prior_sd: Any, interactions: Iterable[Any]
) -> DesignRequest:
    """Check a design, its expected utilities and its interactions; return them together."""
    tasks = read_tasks(design)
    scheme = tasks.scheme
    has_none = bool(tasks.scheme.none)
    attribute_names = scheme.names[scheme.has_inside :]
    levels = list(scheme.levels.values())[scheme.has_inside :]
    utility_draws = draw_utilities(prior, prior_sd, attribute_names, levels, has_none, DRAWS)
    interaction_pairs, coding = code_interactions(tasks, interactions, attribute_names)
    return DesignRequest(
        tasks, attribute_names, levels, has_none, utility_draws, interaction_pairs, coding
    )


def code_interactions(
    data: "ChoiceExperiment", interactions: Iterable[Any], attribute_names: Sequence[str]
) -> "tuple[list[tuple[str, str]], Coding]":
    """Return interactions by attribute names, and the design matrix coding with them."""
    from thali._choice.product_coding import build_coding

    interaction_pairs = [
        (attribute_names[i], attribute_names[j])
        for i, j in parse_interactions(interactions, attribute_names)
    ]
    return interaction_pairs, build_coding(data, interactions=interaction_pairs)


def _row_levels(data: "ChoiceExperiment") -> np.ndarray:
    """Return the level number of each attribute in each row, (rows, attributes)."""
    return data.products[data.row_product, data.scheme.has_inside :]


def _count_dominated_tasks(data: "ChoiceExperiment", signs: np.ndarray) -> int:
    """Count the tasks in which a product is worse on all directed attributes."""
    tasks = np.split(_row_levels(data), data.first_row[1:-1])
    return sum(bool(is_dominated(task[(task >= 0).all(axis=1)], signs).any()) for task in tasks)


def read_tasks(
    design: Any, levels: Mapping[str, Sequence[Any]] | None = None
) -> "ChoiceExperiment":
    """Read a design as `ChoiceExperiment`, whose choices are placeholders.

    `levels` lists the levels of attributes, where they are known in advance.
    """
    import pandas as pd

    from thali._data.experiments import ChoiceExperiment

    if isinstance(design, ChoiceExperiment):
        return design
    if not isinstance(design, pd.DataFrame) or TASK not in design or ALTERNATIVE not in design:
        raise ArgumentError(
            Argument("design"),
            f" must be a table with the columns {TASK!r} and {ALTERNATIVE!r}, as returned by"
            f" designs.choice, or a ChoiceExperiment; got {type(design).__name__}.",
        )
    frame = design
    none_label = None
    if VERSION not in frame:
        frame = frame.assign(**{VERSION: 1})
    attributes = [name for name in frame if name not in (VERSION, TASK, ALTERNATIVE, HELD_OUT)]
    if HELD_OUT in frame:
        frame = _drop_holdouts(frame, attributes)
    is_first = ~frame.duplicated([VERSION, TASK])
    if NONE in set(map(str, frame[ALTERNATIVE])):
        none_label = NONE
    answered_frame = frame.assign(first=is_first.astype(int))
    return ChoiceExperiment.from_frame(
        answered_frame, VERSION, TASK, ALTERNATIVE, "first", attributes, levels, none_label
    )


def _drop_holdouts(frame: "pandas.DataFrame", attributes: list[Any]) -> "pandas.DataFrame":
    """Drop hold-out tasks, and levels that no other task shows."""
    import pandas as pd

    is_holdout = frame[HELD_OUT].astype(bool)
    kept_rows: Any = frame[~is_holdout].copy()
    for name in attributes:
        if isinstance(kept_rows[name].dtype, pd.CategoricalDtype):
            unused_levels = set(frame.loc[is_holdout, name].dropna()) - set(
                kept_rows[name].dropna()
            )
            kept_rows[name] = kept_rows[name].cat.remove_categories(list(unused_levels))
    return kept_rows


def _compute_utilities(data: "ChoiceExperiment", utilities: list[np.ndarray]) -> np.ndarray:
    """Return the expected utility of every product, shape (products,)."""
    scheme = data.scheme
    level_codes = data.products[:, scheme.has_inside :]
    product_utilities = np.zeros(len(level_codes))
    for i in range(level_codes.shape[1]):
        product_utilities += np.where(level_codes[:, i] >= 0, utilities[i][level_codes[:, i]], 0.0)
    if scheme.none:
        product_utilities[(level_codes < 0).all(axis=1)] = utilities[-1][0]
    return product_utilities


def _compute_efficiency(
    data: "ChoiceExperiment",
    design_matrix: np.ndarray,
    levels: Sequence[Sequence[str]],
    is_complete: bool,
) -> float:
    """Return the D-efficiency (0 to 1) at zero utilities."""
    n_levels = [len(attribute_levels) for attribute_levels in levels]
    has_none = bool(data.scheme.none)
    n_main_effects = sum(n_levels) - len(n_levels) + data.scheme.has_inside
    if not is_complete:
        return 0.0
    if design_matrix.shape[1] != n_main_effects:  # products lack attributes
        return np.nan
    n_alternatives = np.diff(data.first_row)
    total_information = _sum_information(data, design_matrix, np.zeros(len(design_matrix)))
    if not np.isfinite(compute_variances(total_information)).all():
        return 0.0
    log_det = np.linalg.slogdet(total_information / data.n_tasks)[1]
    log_bound = bound_log_determinant(n_levels, n_alternatives - has_none, has_none)
    return float(np.exp((log_det - log_bound) / design_matrix.shape[1]))


def _tabulate_coefficients(
    coding: "Coding",
    utilities: list[np.ndarray],
    has_none: bool,
    variances: np.ndarray,
    n_respondents: int,
    target_error: float,
) -> "pandas.DataFrame":
    """Tabulate each coefficient's expected standard error and required sample size."""
    import pandas as pd

    from .choice_designs import contrast_utilities

    index = pd.Index(coding.names, name="coefficient")
    expected_coefficients = contrast_utilities(utilities, has_none)
    if coding.crossed:
        expected_coefficients = np.append(
            expected_coefficients, np.zeros(max(0, len(index) - len(expected_coefficients)))
        )
    if len(expected_coefficients) != len(index):
        expected_coefficients = np.full(len(index), np.nan)
    with np.errstate(invalid="ignore"):
        n_required = pd.Series(np.ceil(variances / target_error**2 * (1.0 - 1e-12)), index)
    if np.isfinite(n_required).all():
        n_required = n_required.astype("Int64")
    std_error = np.sqrt(variances / n_respondents)
    columns_by_name = {
        "utility": expected_coefficients,
        "std_error": std_error,
        "respondents": n_required,
    }
    return pd.DataFrame(columns_by_name, index)


def _describe_sample_size(
    table: "pandas.DataFrame", n_respondents: int, target_error: float
) -> str:
    """Return a sentence on unidentified effects, or on the required number of respondents."""
    unidentified_effects = [
        str(name) for name in table.index[~np.isfinite(table["std_error"].to_numpy(float))]
    ]
    if unidentified_effects:
        return (
            f"The design does not identify {', '.join(unidentified_effects)}; add tasks or"
            " versions."
        )
    n_required = max(table["respondents"].tolist())
    return (
        "Standard errors are for a multinomial logit with"
        f" {format_plural(n_respondents, 'respondent')};"
        f" {n_required:,} are needed for standard errors <= {target_error:g}."
    )


def _tabulate_balance(
    data: "ChoiceExperiment", attribute_names: Sequence[str], levels: Sequence[Sequence[str]]
) -> "pandas.DataFrame":
    """Tabulate how often each version shows each level."""
    import pandas as pd

    rows = []
    level_codes = _row_levels(data)
    version_of_row = np.repeat(data.respondent_of_task, np.diff(data.first_row))
    for i, (name, attribute_levels) in enumerate(zip(attribute_names, levels, strict=True)):
        times_shown = np.zeros((data.n_respondents, len(attribute_levels)), np.int64)
        is_product = level_codes[:, i] >= 0
        np.add.at(times_shown, (version_of_row[is_product], level_codes[is_product, i]), 1)
        for level, version_times in zip(attribute_levels, times_shown.T, strict=True):
            rows.append(
                (
                    name,
                    level,
                    int(version_times.sum()),
                    version_times.sum() / is_product.sum(),
                    int(version_times.min()),
                    int(version_times.max()),
                )
            )
    return pd.DataFrame(rows, columns=["attribute", "level", "times", "share", "least", "most"])


def _tabulate_overlap(
    data: "ChoiceExperiment", attribute_names: Sequence[str], levels: Sequence[Sequence[str]]
) -> "pandas.DataFrame":
    """Tabulate each attribute's overlap: the share of product pairs with equal levels."""
    import pandas as pd

    level_codes = _row_levels(data)
    task_of_row = part_indices(data.first_row)
    rows = []
    for i, (name, attribute_levels) in enumerate(zip(attribute_names, levels, strict=True)):
        is_product = level_codes[:, i] >= 0
        level_counts = np.zeros((data.n_tasks, len(attribute_levels)))
        np.add.at(level_counts, (task_of_row[is_product], level_codes[is_product, i]), 1.0)
        n_products = level_counts.sum(axis=1)
        quotient, remainder = np.divmod(n_products, len(attribute_levels))
        n_pairs = (n_products * (n_products - 1) / 2).sum()
        same_pairs = (level_counts * (level_counts - 1) / 2).sum()
        least_pairs = (
            (len(attribute_levels) - remainder) * quotient * (quotient - 1) / 2
            + remainder * (quotient + 1) * quotient / 2
        ).sum()
        overlap = least_overlap = np.nan
        if n_pairs:
            overlap = same_pairs / n_pairs
            least_overlap = least_pairs / n_pairs
        rows.append((name, overlap, least_overlap))
    return pd.DataFrame(rows, columns=["attribute", "overlap", "least"])
