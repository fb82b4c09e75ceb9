"""Posterior of the hierarchical logit: tree of draws, tastes, predictions, summary rows."""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import compress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._inference.index_arithmetic import iterate_slices
from thali._inference.markov_chains import cut_records
from thali._inference.numerics.log_densities import LOG_2PI
from thali._inference.random_seeds import RandomSeed, build_seed_sequence
from thali._posterior.datatree_files import BITS, can_store_pointwise
from thali._posterior.draws_writer import DrawsWriter, Variable, build_dataset
from thali._posterior.posterior_interval import compute_interval
from thali._posterior.posterior_tree import PosteriorTree
from thali.errors import Argument, ArgumentError

from ..logit_likelihood import DIRECTIONS, choice_probabilities, encode_choices
from ..product_coding import Coding
from ..reports.logit_choice_draws import LogitChooser, iterate_level_differences
from ..reports.predictive_check import (
    build_level_indicators,
    build_report_arrays,
    list_effect_names,
    list_reference_pairs,
    list_share_names,
)
from .willingness_to_pay_space import convert_to_utility

if TYPE_CHECKING:
    import xarray

    from thali._data.experiments import ChoiceExperiment
    from thali._people.respondent_columns import RespondentCovariates

    from .hierarchical_sweep import TasteChain, TastePrior, TasteProblem


# Tastes as functions of normally distributed numbers ----------------------------------------------


class TasteScale(NamedTuple):
    r"""Conversion from normally distributed numbers beta to coefficients of utility.

    .. math:: b = C f(\beta), \qquad f_k(\beta) = \beta_k \text{ or } \pm e^{\beta_k}

    A numeric attribute has one coefficient, its slope; the levels of an attribute with a sign have
    a step each, and C adds the steps up to each level. In willingness-to-pay space f of all
    coefficients except the price is multiplied by e to the number of the price, the scale of
    utility.
    """

    # (p,) of beta: "brand[sony]", "ln -price", "ln zoom[3] over zoom[2]", "ln scale[price]"
    names: tuple[str, ...]
    sign: np.ndarray  # (p,) 1.0, -1.0, or 0.0: any
    steps: np.ndarray  # (p, p) C
    scale: np.ndarray  # (p,) divisors of columns in the chains

    # index of the price's coefficient in willingness-to-pay space; -1: preference space
    price: int = -1

    def apply_signs(self, normal_numbers: np.ndarray) -> np.ndarray:
        """Return beta, or plus or minus exp(beta) for coefficients with a sign, (..., p)."""
        if not self.sign.any():
            return normal_numbers
        with np.errstate(over="ignore"):  # numbers without a sign may have any size
            signed_numbers = np.where(
                self.sign == 0.0, normal_numbers, self.sign * np.exp(normal_numbers)
            )
        if self.price < 0:
            return signed_numbers
        return convert_to_utility(
            np.where(self._is_price(), -signed_numbers, signed_numbers), self.price
        )

    def compute_tastes(self, normal_numbers: np.ndarray) -> np.ndarray:
        """Return utility coefficients (..., p) from beta, in the units of the data."""
        if not self.sign.any():
            return normal_numbers
        return self.apply_signs(normal_numbers) @ self.steps.T

    def convert_tastes(self, tastes: np.ndarray) -> np.ndarray:
        """Return reported coefficients (..., p): tastes, or amounts with the scale."""
        if self.price < 0:
            return tastes
        utility_scale = -tastes[..., self.price : self.price + 1]
        return np.where(self._is_price(), utility_scale, tastes / utility_scale)

    def rescale_means(self, normal_numbers: np.ndarray) -> np.ndarray:
        """Return population means of beta (..., p) in the units of the data."""
        return np.where(
            self.sign == 0.0, normal_numbers / self._units(), normal_numbers - np.log(self._units())
        )

    def difference_units(self) -> np.ndarray:
        """Return divisors (p,) that bring differences of beta to the units of the data."""
        return np.where(self.sign == 0.0, self._units(), 1.0)

    def _units(self) -> np.ndarray:
        """Return divisors (p,) that bring coefficients to the units of the data."""
        if self.price < 0:
            return self.scale
        price_unit = self.scale[self.price]
        return np.where(self._is_price(), price_unit, self.scale / price_unit)

    def _is_price(self) -> np.ndarray:
        """Return a mask of the price coefficient, shape (p,)."""
        return np.arange(len(self.names)) == self.price


def build_taste_scale(
    coding: Coding, data: "ChoiceExperiment", signs: Mapping[str, str], price: str | None
) -> TasteScale:
    """Build the map from real numbers to signed (log-normal) tastes that `signs` requests.

    `price` is the price in willingness-to-pay space, else None.
    """
    p = len(coding.names)
    taste_names = list(coding.names)
    taste_signs = np.zeros(p)
    steps = np.eye(p)
    column_start = 0
    for (attribute, levels), attribute_coding, is_shown in zip(
        data.levels.items(), coding.parts, coding.seen, strict=True
    ):
        n_columns = attribute_coding.table.shape[1] - int(f"{attribute}[missing]" in coding.names)
        if attribute in signs and attribute_coding.numbers is not None:
            direction = DIRECTIONS[signs[attribute]] * _find_numeric_direction(
                attribute, attribute_coding.numbers, levels
            )
            name_prefix = "ln "
            if direction < 0:
                name_prefix = "ln -"
            for k in range(column_start, column_start + n_columns):
                taste_signs[k], taste_names[k] = direction, f"{name_prefix}{coding.names[k]}"
        elif attribute in signs:
            direction = DIRECTIONS[signs[attribute]]
            shown_levels = list(compress(levels, is_shown[:-1]))
            for k in range(n_columns):
                steps[column_start + k, column_start : column_start + k + 1] = 1.0
                level_pair = (shown_levels[k], shown_levels[k + 1])[::direction]
                taste_signs[column_start + k] = direction
                taste_names[column_start + k] = (
                    f"ln {attribute}[{level_pair[1]}] over {attribute}[{level_pair[0]}]"
                )
        column_start += attribute_coding.table.shape[1]
    price_index = -1
    if price is not None:
        price_index = coding.names.index(price)
        taste_names[price_index], taste_signs[price_index] = f"ln scale[{price}]", -1.0
    return TasteScale(tuple(taste_names), taste_signs, steps, coding.scale, price_index)


def _find_numeric_direction(attribute: str, numbers: np.ndarray, levels: tuple[str, ...]) -> int:
    """Return 1 if the numbers of levels increase from worst to best, else -1."""
    directions = np.unique(np.sign(np.diff(numbers)))
    if len(directions) > 1:
        raise ArgumentError(
            Argument("signs"),
            f": a slope has one sign, but the levels of {attribute!r} are declared in the order"
            f" {', '.join(levels)}, which is not numerical; remove the attribute from ",
            Argument("linear"),
            " or declare its levels in numerical order.",
        )
    if not len(directions):
        return 1
    return int(directions[0])


class FitArguments(NamedTuple):
    """A model's arguments, resolved for the data of a fit."""

    coding: Coding
    scale: TasteScale
    covariates: "RespondentCovariates"
    prior: "TastePrior"


class TasteDistribution:
    r"""Distribution of tastes in the population at every draw.

    .. math:: b = C f(\beta), \qquad \beta \sim N(\mu + \Gamma^T z, \Sigma)

    A new person has the covariates z of a respondent.
    """

    scale: TasteScale
    n_respondents: int

    def __init__(
        self,
        posterior: "xarray.Dataset",
        scale: TasteScale,
        covariates: "RespondentCovariates",
    ) -> None:
        """Read means and covariances of tastes from the posterior."""
        p = len(scale.names)
        self.scale = scale
        self.n_respondents = len(covariates.matrix)
        self._means = posterior["mean"].values.reshape(-1, p)
        self._covariances = posterior["covariance"].values.reshape(-1, p, p)
        self._off = covariates.matrix[:, 1:] * covariates.sd
        if covariates.names:
            self._effects = posterior["covariate_effect"].values.reshape(
                -1, len(covariates.names), p
            )

    @property
    def draws(self) -> int:
        """Number of draws in all chains."""
        return len(self._means)

    def compute_tastes(
        self, draw_indices: np.ndarray, noise: np.ndarray, respondent_indices: np.ndarray
    ) -> np.ndarray:
        """Return tastes (D, M, p) of M new respondents at each of D draws.

        `noise` (D, M, p) is standard normal; new people have the covariates of the respondents
        `respondent_indices` (D, M).
        """
        factors = np.linalg.cholesky(self._covariances[draw_indices])
        normal_numbers = self._means[draw_indices, None] + noise @ np.swapaxes(factors, 1, 2)
        if self._off.shape[1]:
            normal_numbers = (
                normal_numbers + self._off[respondent_indices] @ self._effects[draw_indices]
            )
        return self.scale.compute_tastes(normal_numbers)


N_NEW_PEOPLE = 4  # new people drawn for each draw of the population
_BLOCK_UTILITIES = 2**21  # utilities of a block

MAX_EXACT_TASTES = 2_000_000  # up to this many tastes, files contain all digits
BITS_IN_FILES = 9  # of more tastes: a relative error of at most 1 / 1,024
_TASTE_NAMES = "tastes"  # attribute of the means: names of normally distributed numbers, in JSON
_BETA = "coefficients of a respondent"
_VARIABLES = {
    "mean": Variable(
        "population mean of coefficients, or of their logarithms (attribute tastes), at average"
        " covariates",
        ("coefficient",),
    ),
    "covariate_effect": Variable(
        "change in the mean per unit of a covariate", ("covariate", "coefficient")
    ),
    "covariance": Variable(
        "covariance of coefficients, or of their logarithms, among respondents with the same"
        " covariates",
        ("coefficient", "coefficient_other"),
    ),
    "beta": Variable(_BETA, ("respondent", "coefficient")),
    "log_likelihood": Variable(
        "full data set given all individual coefficients, natural logarithm"
    ),
}

_NOTES = {
    "mean": "the mean, for scaled columns",
    "covariate_effect": "the effects of standardised covariates, for scaled columns",
    "covariance": "the covariance, for scaled columns",
    "beta": "individual coefficients, or their logarithms, given mean and covariance, for scaled"
    " columns",
}


def build_taste_tree(
    chains: Sequence["TasteChain"],
    respondents: Sequence[str],
    fit_arguments: FitArguments,
    attrs: dict[Any, Any],
) -> "xarray.DataTree":
    """Build the posterior tree of all chains, in the units of the data.

    Log-likelihoods of choices and log prior densities are computed when they are read.
    """
    from thali._posterior.deferred_arrays import defer, defer_table

    used_chains, records = cut_records(chains)
    by_chain = {name: [record[name] for record in records] for name in records[0]}
    beta = by_chain.pop("beta")  # large, so it is not copied
    draws = {name: np.stack(arrays) for name, arrays in by_chain.items()}
    posterior = build_posterior_group(
        **draws, beta=beta, respondents=respondents, fit_arguments=fit_arguments
    )
    problem = used_chains[0].problem
    chosen_positions = problem.chosen_row - problem.first_row[:-1]
    writer = DrawsWriter(posterior)
    writer.groups["observed_data"] = build_observed_group(chosen_positions)
    writer.write_statistics({"acceptance_rate": ("chain", [c.acceptance for c in used_chains])})
    shape = draws["log_likelihood"].shape
    if can_store_pointwise(len(chosen_positions), draws["log_likelihood"].size):
        log_probabilities = defer(
            (*shape, len(chosen_positions)),
            partial(_compute_choice_log_probabilities, problem, beta),
        )
        writer.write_log_likelihood("chosen", ("task",), log_probabilities, {})
    log_priors = defer_table(
        _list_prior_names(problem),
        shape,
        partial(_log_prior, problem, draws["mean"], draws["covariance"], beta),
    )
    writer.write_log_prior(log_priors, _NOTES)
    return writer.build(attrs)


def build_observed_group(chosen_positions: np.ndarray) -> "xarray.Dataset":
    """Return the dataset `observed_data` with the chosen alternatives."""
    import xarray as xr

    variable_attributes = {"description": "position of the chosen alternative in its task"}
    return xr.Dataset(
        {"chosen": ("task", np.asarray(chosen_positions, np.int64), variable_attributes)}
    )


def _compute_choice_log_probabilities(
    problem: "TasteProblem", tastes: Sequence[np.ndarray]
) -> np.ndarray:
    """Return log probabilities of all choices, shape (chains, draws, tasks)."""
    from .choice_kernels import TaskColumns, allocate_utilities, write_log_probabilities

    tasks = TaskColumns(problem.columns, problem.first_task, problem.first_row, problem.chosen_row)
    utility = allocate_utilities(tasks)
    log_probabilities = np.empty((len(tastes), len(tastes[0]), len(problem.chosen_row)))
    for chain, draw in np.ndindex(log_probabilities.shape[:2]):
        write_log_probabilities(tasks, utility, tastes[chain][draw], log_probabilities[chain, draw])
    return log_probabilities


def _list_prior_names(problem: "TasteProblem") -> list[str]:
    """Return the names of the densities that `_log_prior` returns."""
    names = ["mean", "covariance", "beta"]
    if problem.covariates.shape[1] > 1:
        names.append("covariate_effect")
    return names


def _log_prior(
    problem: "TasteProblem",
    mean: np.ndarray,
    covariance: np.ndarray,
    beta_by_chain: Sequence[np.ndarray],
) -> dict[str, np.ndarray]:
    """Return log prior densities of means, covariance and tastes, by name."""
    from scipy.special import gammaln

    beta = np.stack(beta_by_chain)
    p = mean.shape[-1]
    df = problem.df
    scale = problem.scale
    precision = problem.mean_precision
    cholesky_factor = np.linalg.cholesky(covariance)
    inverse_factor = np.linalg.inv(cholesky_factor)
    log_det = 2.0 * np.log(np.diagonal(cholesky_factor, axis1=2, axis2=3)).sum(axis=2)
    log_gamma = 0.25 * p * (p - 1) * np.log(np.pi) + gammaln(0.5 * (df - np.arange(p))).sum()
    log_constant = 0.5 * df * p * np.log(0.5 * scale) - log_gamma
    if problem.price >= 0:
        is_price = np.arange(p) == problem.price
        beta = np.where(is_price, beta, beta / -beta[..., problem.price : problem.price + 1])
    normal_numbers = np.where(
        problem.sign == 0.0, beta, np.log(np.where(problem.sign == 0.0, 1.0, np.abs(beta)))
    )
    squared_deviations = (
        (normal_numbers - problem.covariates @ mean) @ np.swapaxes(inverse_factor, 2, 3)
    ) ** 2
    mean_density = 0.5 * (np.log(precision / (2.0 * np.pi)) - precision * mean**2).sum(axis=3)
    log_priors = {
        "mean": mean_density[..., 0],
        "covariance": log_constant
        - 0.5 * ((df + p + 1.0) * log_det + scale * (inverse_factor**2).sum(axis=(2, 3))),
        "beta": -0.5
        * (beta.shape[2] * (p * LOG_2PI + log_det) + squared_deviations.sum(axis=(2, 3))),
    }
    if mean.shape[2] > 1:
        log_priors["covariate_effect"] = mean_density[..., 1:].sum(axis=2)
    return log_priors


def build_posterior_group(
    mean: np.ndarray,
    covariance: np.ndarray,
    beta: np.ndarray | Sequence[np.ndarray],
    log_likelihood: np.ndarray,
    respondents: Sequence[str],
    fit_arguments: FitArguments,
) -> "xarray.Dataset":
    """Return the dataset `posterior` of all draws, in the units of the data.

    Arrays are (chain, draw, ...) and contain the numbers of the chains.
    """
    coding, scale, covariates, _ = fit_arguments
    difference_units = scale.difference_units()
    tastes = np.empty((len(beta), *beta[0].shape))
    for chain_tastes, chain_beta in zip(tastes, beta, strict=True):
        np.divide(chain_beta, scale.scale, out=chain_tastes)
    if scale.sign.any():
        tastes = tastes @ scale.steps.T
    arrays = {
        "mean": scale.rescale_means(mean[:, :, 0]),
        "covariance": covariance / np.outer(difference_units, difference_units),
        "beta": tastes,
        "log_likelihood": log_likelihood,
    }
    coordinates = {
        "coefficient": list(coding.names),
        "coefficient_other": list(coding.names),
        "respondent": list(respondents),
    }
    if covariates.names:
        arrays["covariate_effect"] = mean[:, :, 1:] / covariates.sd[:, None] / difference_units
        coordinates["covariate"] = list(covariates.names)
    posterior_group = build_dataset(arrays, _VARIABLES, coordinates)
    posterior_group["mean"].attrs[_TASTE_NAMES] = json.dumps(list(scale.names))
    if tastes.size > MAX_EXACT_TASTES:
        posterior_group["beta"].attrs |= {
            BITS: BITS_IN_FILES,
            "description": f"{_BETA}; stored with {BITS_IN_FILES} bits each",
        }
    return posterior_group


def read_taste_names(posterior: "xarray.Dataset") -> list[str]:
    """Return names of the normally distributed numbers: coefficients or log steps."""
    return json.loads(posterior["mean"].attrs[_TASTE_NAMES])


def population_quantities(view: PosteriorTree) -> dict[str, np.ndarray]:
    """Return draws of population means, sds and effects, by summary row.

    Tastes with a sign are represented by their logarithms.
    """
    posterior = view.draws
    taste_names = read_taste_names(posterior)
    mean_draws = posterior["mean"].values
    variances = np.diagonal(posterior["covariance"].values, axis1=2, axis2=3)
    quantities = {f"mean[{name}]": mean_draws[..., k] for k, name in enumerate(taste_names)}
    quantities |= {f"sd[{name}]": np.sqrt(variances[..., k]) for k, name in enumerate(taste_names)}
    effects = {
        f"mean[{name}] per {covariate}": draws
        for (covariate, name), draws in read_respondent_effects(posterior).items()
    }
    return quantities | effects | {"log_likelihood": posterior["log_likelihood"].values}


def read_respondent_effects(posterior: "xarray.Dataset") -> dict[tuple[str, str], np.ndarray]:
    """Return draws of the effect of each column of people on each population mean."""
    if "covariate_effect" not in posterior:
        return {}
    effects = posterior["covariate_effect"].values
    return {
        (covariate, name): effects[:, :, r, k]
        for r, covariate in enumerate(posterior["covariate"].values)
        for k, name in enumerate(read_taste_names(posterior))
    }


def measure_prior_influence(
    posterior: "xarray.Dataset", scale: TasteScale, df: float, V: float
) -> np.ndarray:
    r"""Return how much log sds of tastes change with the log prior scale, (p,).

    .. math:: \frac{\partial \operatorname{E} \ln \sigma_k}{\partial \ln V} =
        \operatorname{Cov}\big(\ln \sigma_k, -\tfrac12 \nu V \operatorname{tr} \Sigma^{-1}\big),
        \qquad \Sigma \sim IW(\nu, \nu V I)
    """
    p = len(scale.names)
    covariance = (
        posterior["covariance"].values
        * np.outer(scale.difference_units(), scale.difference_units())
    ).reshape(-1, p, p)
    log_density_slope = -0.5 * df * V * np.trace(np.linalg.inv(covariance), axis1=1, axis2=2)
    log_sds = 0.5 * np.log(np.diagonal(covariance, axis1=1, axis2=2))
    return (
        (log_density_slope - log_density_slope.mean())
        @ (log_sds - log_sds.mean(axis=0))
        / max(len(log_density_slope) - 1, 1)
    )


def predict_probabilities(
    posterior: "xarray.Dataset",
    population: "TasteDistribution",
    matrix: np.ndarray,
    task_of_row: np.ndarray,
    respondent_of_row: np.ndarray,
    random_seed: RandomSeed,
    return_se: bool = False,
    ci: float | None = None,
) -> list[np.ndarray]:
    r"""Return posterior mean choice probabilities (rows,), with errors if requested.

    The mean is over draws of a known person's tastes, or over new people.

    .. math::
        \bar p_n = \frac1S \sum_s p(\beta_n^{(s)}), \qquad
        \bar p_\text{new} = \frac{1}{SR} \sum_{s,r} p(\beta^{(s,r)}), \quad
        \beta^{(s,r)} \text{ from the population of draw } s

    For new people, standard errors are of means over the people of each draw, and intervals are
    also over people.
    """
    from thali._posterior.summary_table import compute_mean_errors

    dim_sizes = posterior.sizes
    shape = -1, dim_sizes["chain"], dim_sizes["draw"]
    means, errors, low, high = np.empty((4, len(matrix)))
    for row_indices, p in _iterate_probabilities(
        posterior, population, matrix, task_of_row, respondent_of_row, random_seed
    ):
        means[row_indices] = p.mean(axis=1)
        if return_se:
            draw_means = p.reshape(len(row_indices), -1, shape[1] * shape[2]).mean(axis=1)
            errors[row_indices] = compute_mean_errors(draw_means.reshape(shape))
        if ci is not None:
            low[row_indices], high[row_indices] = compute_interval(p.T, ci)
    result_arrays = [means]
    if return_se:
        result_arrays.append(errors)
    if ci is not None:
        result_arrays += [low, high]
    return result_arrays


def _iterate_probabilities(
    posterior: "xarray.Dataset",
    population: "TasteDistribution",
    matrix: np.ndarray,
    task_of_row: np.ndarray,
    respondent_of_row: np.ndarray,
    random_seed: RandomSeed,
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield blocks of rows with choice probabilities (rows, draws)."""
    # A block contains complete tasks of one person.
    for person in np.unique(respondent_of_row):
        person_rows = np.flatnonzero(respondent_of_row == person)
        if person < 0:
            tastes = draw_new_people(population, random_seed)
        else:
            tastes = posterior["beta"].values[:, :, person].reshape(-1, matrix.shape[1])
        tasks, task_index = np.unique(task_of_row[person_rows], return_inverse=True)
        task_size = len(tastes) * int(np.bincount(task_index).max())
        for block in iterate_slices(len(tasks), task_size, _BLOCK_UTILITIES):
            block_rows = np.flatnonzero((task_index >= block.start) & (task_index < block.stop))
            yield (
                person_rows[block_rows],
                choice_probabilities(
                    matrix[person_rows[block_rows]] @ tastes.T, task_index[block_rows]
                ),
            )


def draw_new_people(population: "TasteDistribution", random_seed: RandomSeed) -> np.ndarray:
    """Draw tastes of new respondents at each draw, shape (people * draws, p)."""
    rng = np.random.default_rng(build_seed_sequence(random_seed))
    n_draws = population.draws
    p = len(population.scale.names)
    standard_normals = rng.normal(size=(N_NEW_PEOPLE, n_draws, p))
    respondent_indices = rng.integers(population.n_respondents, size=(N_NEW_PEOPLE, n_draws))
    tastes = population.compute_tastes(
        np.arange(n_draws), np.swapaxes(standard_normals, 0, 1), respondent_indices.T
    )
    return np.swapaxes(tastes, 0, 1).reshape(-1, p)


# Quantities of the convergence check: shares of levels among choices, and level effects -----------


def compute_monitored_effects(
    beta: np.ndarray, data: "ChoiceExperiment", coding: "Coding"
) -> "dict[str, xarray.DataArray]":
    r"""Return draws of level shares and preferences, for the convergence check.

    `beta` is (chain, draw, respondent, coefficient).

    .. math::
        \text{share} = \frac1T \sum_{nt} \sum_{j} p_{ntj} 1(\text{j has the level}), \qquad
        \text{effect} = \frac{1}{N J} \sum_{nj} 1 \Big/ \big(1
        + e^{-(x_{jb} - x_{ja})^T \beta_n}\big)

    x_jb is product j of the data with level b; it makes a difference to "inside", and where
    attributes interact.
    """
    level_totals = _sum_level_probabilities(beta, data, coding)
    level_pairs = list_reference_pairs(data.scheme, np.zeros(len(data.attributes)))
    differences = iterate_level_differences(coding, data, level_pairs)
    effects = [_average_choice_probability(beta, steps, weights) for steps, weights in differences]
    return build_report_arrays(
        level_totals / data.n_tasks,
        np.stack(effects, axis=-1),
        list_share_names(data.scheme),
        list_effect_names(data.scheme, level_pairs),
    )


def _sum_level_probabilities(
    beta: np.ndarray, data: "ChoiceExperiment", coding: "Coding"
) -> np.ndarray:
    """Return the expected number of choices of each level, shape (chain, draw, level)."""
    from .choice_kernels import TaskColumns, add_product_probabilities, allocate_utilities

    choices = encode_choices(data, coding)
    tasks = TaskColumns(
        np.array(choices.matrix.T, float, order="C"),
        np.array(data.first_task, np.int64),
        np.array(choices.first_row, np.int64),
        np.array(choices.chosen_row, np.int64),
    )
    utility = allocate_utilities(tasks)
    row_product = np.array(data.row_product, np.int64)
    level_indicators = build_level_indicators(data.scheme, data.products)
    n_products, n_levels = level_indicators.shape
    tastes = beta.reshape(-1, *beta.shape[2:])
    level_totals = np.empty((len(tastes), n_levels))
    for block in iterate_slices(len(tastes), n_products, _BLOCK_UTILITIES):
        product_totals = np.zeros((len(tastes[block]), n_products))
        add_product_probabilities(tasks, utility, tastes[block], row_product, product_totals)
        # separate products keep rounding independent of the other draws
        level_totals[block] = (product_totals[:, None] @ level_indicators)[:, 0]
    return level_totals.reshape(*beta.shape[:2], n_levels)


def _average_choice_probability(
    beta: np.ndarray, difference_rows: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """Return the probability of choosing the second of two products, averaged over people."""
    from scipy.special import expit

    weighted_probabilities = (
        weight * expit(beta @ difference_row).mean(axis=-1)
        for difference_row, weight in zip(difference_rows, weights, strict=True)
    )
    return sum(weighted_probabilities, np.zeros(()))


# Respondents in the draws of the hierarchical logit, and new people of its population -------------


_MAX_TASTES = 4_000_000  # of all people in all draws
_N_MARKET_PEOPLE = 1_024  # new people, with a sampling error of shares below 0.016


def build_chooser(
    coding: "Coding",
    data: "ChoiceExperiment",
    posterior: "xarray.Dataset",
    population: "TasteDistribution",
    directions: np.ndarray,
) -> LogitChooser:
    """Build the `Chooser` of the respondents, with fewer draws if they are many."""
    beta = posterior["beta"].values
    n_chains, n_draws, n_people, p = beta.shape

    def draw_market(
        draw_indices: np.ndarray, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """Draw tastes of new respondents, with equal random numbers in all draws."""
        from scipy.special import ndtri
        from scipy.stats import qmc

        sobol_points = qmc.Sobol(p, rng=rng).random(_N_MARKET_PEOPLE)
        standard_normals = ndtri(sobol_points.clip(1e-12, 1 - 1e-12))
        respondent_indices = (
            np.arange(_N_MARKET_PEOPLE) * population.n_respondents // _N_MARKET_PEOPLE
        )
        tastes = population.compute_tastes(
            draw_indices, standard_normals[None], respondent_indices[None]
        )
        return tastes, np.full(_N_MARKET_PEOPLE, 1 / _N_MARKET_PEOPLE)

    chain_of_draw = np.repeat(np.arange(n_chains), n_draws)
    tastes = beta.reshape(-1, n_people, p)
    chooser = LogitChooser(
        coding, data, tastes, chain_of_draw, population=draw_market, directions=directions
    )
    return chooser.thin(max(40, min(len(chain_of_draw), _MAX_TASTES // n_people)))
