"""Posterior density of worths with judges, periods, ties and covariates, and its derivatives."""

import math
from collections.abc import Callable, Iterator
from copy import copy
from typing import Any, ClassVar, NamedTuple

import numpy as np

from thali._inference.numerics.bordered_block_matrix import BorderedBlocks
from thali._inference.numerics.davidson_likelihood import (
    compute_derivatives,
    compute_log_likelihoods,
    compute_logistic_log_likelihoods,
    compute_tie_ratio,
    split_probabilities,
)
from thali._inference.numerics.log_densities import LOG_2PI
from thali._inference.numerics.weight_shares import compute_shares, mix_with_guess

from .spread_prior import HALF_NORMAL_SCALE, log_density_of_sd, log_density_of_spread

TIE_SD = 2.0  # standard deviation of log nu
JUDGE_TIE_SD = 1.0  # standard deviation of judges' log nu about the common one
_LARGEST_LOG_ODDS = 700.0  # log odds of predictions are clipped here, where probabilities reach 0
_DENSE_ENTRIES = 1 << 18  # up to this many rows times coordinates, matrices are dense
# rows times points whose terms are computed at a time, so that they stay near the processor
_BLOCK_TERMS = 1 << 14


class DistinctComparisons(NamedTuple):
    """Counts of comparisons that differ in options, period, judge or covariates.

    Counts may have the shape (rows, points).
    """

    first: np.ndarray
    second: np.ndarray
    period: np.ndarray
    judge: np.ndarray  # all 0 without judges
    x: np.ndarray  # (rows, covariates)
    wins: np.ndarray
    losses: np.ndarray
    tied: np.ndarray
    lapse: float
    has_ties: bool

    @property
    def total(self) -> np.ndarray:
        """Number of comparisons of each distinct kind."""
        return self.wins + self.losses + self.tied

    def select(self, row_indices: np.ndarray | slice) -> "DistinctComparisons":
        """Return the distinct comparisons with these indices."""
        selected_columns = (array[row_indices] for array in self[:8])
        return self._make((*selected_columns, self.lapse, self.has_ties))


class Spreads(NamedTuple):
    """Prior standard deviations of worths, judges, drift and biases; NaN where absent."""

    worths: np.ndarray  # s, of log worths on entry of options
    judges: np.ndarray  # tau, of log discriminations
    drift: np.ndarray  # of the change of a log worth in one period
    bias: np.ndarray  # of judges' coefficients about the common ones


WORTHS, JUDGES, DRIFT, BIAS = range(4)  # indices in `Spreads`
_SPREAD_VARIABLES = "log_worth", "discrimination", "drift", "bias"  # variables with these spreads


class JudgePredictions(NamedTuple):
    """Summed log probabilities of each row's answers, and numbers of answers."""

    score: np.ndarray  # of the observed answers
    expected: np.ndarray  # mean over answers with these probabilities
    chance: np.ndarray  # of guesses, which end in a tie as often as equal options do
    total: np.ndarray


class LikelihoodExpansion(NamedTuple):
    """Log-likelihood, gradient and curvature at one parameter vector."""

    value: float
    gradient: np.ndarray  # (size, 1)
    curvature: BorderedBlocks  # minus the second derivatives, or their positive semidefinite part


class RowBlock(NamedTuple):
    """A block of distinct comparisons, with matrices from parameters to log odds."""

    row_slice: slice
    rows: DistinctComparisons
    along: Any  # (rows, periods times options): 1 for the first option, -1 for the second
    judged: Any  # (rows, judges): 1 for the judge
    tying: Any  # (rows, ties): 1 for the common log nu, and for the deviation of the judge
    biased: Any  # (rows, judges times covariates): the covariates of the judge


class ComparisonsAtPoints(NamedTuple):
    """Log odds and probabilities of comparisons at parameter vectors, (rows, points)."""

    difference: np.ndarray  # of log worths
    discrimination: np.ndarray  # d of the judge
    log_odds: np.ndarray  # of the first option without lapse
    log_nu: np.ndarray  # (rows, points)

    def split_probabilities(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the probabilities of both options without lapse, (rows, points)."""
        return split_probabilities(self.log_odds)

    def log_likelihoods(self, rows: DistinctComparisons) -> np.ndarray:
        """Return the log-likelihood of each row at each point, (rows, points)."""
        if not rows.lapse and not rows.has_ties:
            return compute_logistic_log_likelihoods(rows, self.log_odds)
        return compute_log_likelihoods(rows, *self.split_probabilities(), self.log_nu)


class Density:
    r"""The density of worths, tie parameter, coefficients and judges, given standard deviations.

    .. math::
        \eta_r = d_j (L_{ti} - L_{tk}) + x_r' \beta, \qquad \log d_j = g_j - \bar g, \qquad
        g_j \sim \mathrm{Normal}(0, \tau^2), \qquad
        L_i \sim \mathrm{Normal}(0, s^2) \text{ when i enters}, \qquad
        L_{ti} \sim \mathrm{Normal}(L_{t'i}, (t - t') \delta^2)

    The probability of a choice is :math:`\tilde p = (1 - \varepsilon) \sigma(\eta) + \varepsilon /
    2`, ties follow `davidson_ties`, log nu is Normal(0, 4) and coefficients are Normal(0, 1). The
    log nu of judge j is :math:`\log \nu + t_j`, :math:`t_j \sim \mathrm{Normal}(0, 1)`, so that a
    judge who ties often does not seem less discriminating. With
    `has_bias` judge j has the coefficients :math:`\beta_k + b_{jk} / r_k`, :math:`b_{jk} \sim
    \mathrm{Normal}(0, v^2)`, where :math:`r_k` is the root mean square of covariate k, and
    :math:`\beta_k r_k` is Normal(0, 1), so that units of covariates do not matter.

    The likelihood contains neither the common level of log worths nor that of g, so that their
    priors integrate out; because the mean of log d is 0, both the spread s and discriminations are
    identified.

    A point contains L by period, log nu and t if there are ties, beta, g, and b judge by judge;
    several points are columns. Log worths before an option enters are 0. Where covariates describe
    options, L are deviations from their effects; without a prior these deviations are 0.

    Parameters
    ----------
    rows : DistinctComparisons
    n_options : int
    n_judges : int
        0: all judges are equal.
    steps : (periods - 1,)
        Number of steps between a period and the next.
    entry : (options,)
        The period of entry of each option.
    has_bias : bool
        Whether each judge has individual coefficients of covariates.
    has_prior : bool
        False: the likelihood, with log worths whose mean is 0.
    option_values : (options, covariates)
        Covariates of options; 0 for covariates of comparisons. None: all are of comparisons.
    """

    rows: Any  # `DistinctComparisons`; subclasses have other rows
    has_target = False  # whether discriminations are relative to that of one judge
    _COUNTS: ClassVar[tuple[str, ...]] = ("wins", "losses", "tied")  # fields of rows

    def __init__(
        self,
        rows: Any,
        n_options: int,
        n_judges: int = 0,
        steps: np.ndarray | None = None,
        entry: np.ndarray | None = None,
        has_bias: bool = False,
        has_prior: bool = True,
        option_values: np.ndarray | None = None,
    ) -> None:
        """Number the parameters: log worths by period, ties, bias, judges and covariates."""
        self.rows = rows
        self.n_options = n_options
        self.n_judges = n_judges
        self.has_prior = has_prior
        if steps is None:
            steps = np.zeros(0)
        if entry is None:
            entry = np.zeros(n_options, np.int64)
        if option_values is None:
            option_values = np.zeros((n_options, rows.x.shape[1]))
        self.option_values = option_values
        # of log worths from the effects of option covariates
        self.has_deviations = has_prior or not option_values.any()
        self.steps = steps
        self.entry = entry
        self.n_periods = len(self.steps) + 1
        self.present = np.arange(self.n_periods)[:, None] >= self.entry  # (periods, options)
        n_worths = self.n_periods * n_options
        self.tie_sds = np.repeat([TIE_SD, JUDGE_TIE_SD], [1, n_judges])
        if not rows.has_ties:
            self.tie_sds = np.zeros(0)
        nu_stop = n_worths + len(self.tie_sds)
        self.n_bias = 0
        self.covariate_scales = np.ones(option_values.shape[1])
        if has_bias:
            self.n_bias = n_judges * rows.x.shape[1]
            mean_squares = rows.total @ rows.x**2 / rows.total.sum()
            self.covariate_scales = np.sqrt(np.where(mean_squares > 0.0, mean_squares, 1.0))
        beta_stop = nu_stop + option_values.shape[1]
        self.size = beta_stop + n_judges + self.n_bias
        self.worths = slice(0, n_worths)
        self.nu = slice(n_worths, nu_stop)
        self.beta = slice(nu_stop, beta_stop)
        self.judges = slice(beta_stop, beta_stop + n_judges)
        self.bias = slice(self.judges.stop, self.size)
        self.is_free = np.append(
            self.present.ravel() & self.has_deviations, np.ones(self.size - n_worths, bool)
        )
        has_spread = has_prior, has_prior and n_judges > 0, len(self.steps) > 0, self.n_bias > 0
        self.spread_kinds = tuple(np.flatnonzero(has_spread).tolist())
        self._blocks: dict[int, list[RowBlock]] = {}

    @property
    def n_rows(self) -> int:
        """Number of distinct comparisons or answers."""
        return len(self.rows.judge)

    @property
    def n_identified(self) -> int:
        """Number of parameters without the level of log worths, or without fixed deviations."""
        if self.has_deviations:
            return self.size - 1
        return self.size - self.n_options

    @property
    def option_contrasts(self) -> np.ndarray:
        """Centred log worths as functions of the parameters, (n_options, size)."""
        contrasts = np.zeros((self.n_options, self.size))
        contrasts[:, : self.n_options] = np.eye(self.n_options)
        contrasts[:, self.beta] = self.option_values
        return contrasts - contrasts.mean(axis=0)

    @property
    def n_terms(self) -> int:
        """Number of rows of paired comparisons that would take the same time."""
        return self.n_rows

    def with_rows(self, rows: Any) -> "Density":
        """Return the same density for other counts of comparisons."""
        density = copy(self)
        density.rows = rows
        density._blocks = {}
        return density

    def select_rows(self, row_indices: np.ndarray | slice) -> "Density":
        """Return the density of the selected distinct comparisons only."""
        return self.with_rows(self.rows.select(row_indices))

    @property
    def counts(self) -> list[np.ndarray]:
        """Counts of each possible answer to each row."""
        return [getattr(self.rows, name) for name in self._COUNTS]

    def with_counts(self, *counts: np.ndarray) -> "Density":
        """Return the same density for other counts of each possible answer."""
        return self.with_rows(self.rows._replace(**dict(zip(self._COUNTS, counts, strict=True))))

    def split_answers(self, rng: np.random.Generator) -> "tuple[Density, Density]":
        """Return two densities, each of a random half of the answers."""
        first_half = [split_counts(rng, counts) for counts in self.counts]
        return self.with_counts(*first_half), self.with_counts(
            *map(np.subtract, self.counts, first_half)
        )

    def raise_to_power(self, power: np.ndarray | float) -> "Density":
        """Return the density with the likelihood (or each row's) raised to a power."""
        return self.with_counts(*(power * counts for counts in self.counts))

    def offset_by_worths(self, parameter_slice: slice) -> slice:
        """Return a slice of parameters, counted from the end of the log worths."""
        return slice(
            parameter_slice.start - self.worths.stop, parameter_slice.stop - self.worths.stop
        )

    # The likelihood -------------------------------------------------------------------------------

    def split_rows(self, n_points: int) -> list[RowBlock]:
        """Return blocks of rows that fit into the cache for `n_points` points."""
        block_size = max(1, _BLOCK_TERMS // max(n_points, 1))
        if block_size not in self._blocks:
            is_dense = n_points == 1 and self.n_rows * self.size <= _DENSE_ENTRIES
            block_starts = range(0, max(self.n_rows, 1), block_size)
            self._blocks[block_size] = [
                self._build_block(slice(begin, begin + block_size), is_dense)
                for begin in block_starts
            ]
        return self._blocks[block_size]

    def _build_block(self, row_slice: slice, is_dense: bool) -> RowBlock:
        """Build a block of rows and its matrices from parameters to log odds."""
        rows = self.rows.select(row_slice)
        first, second, period, judge, _, *counts = rows[:8]
        wins, losses, tied = map(to_column, counts)
        rows = rows._replace(wins=wins, losses=losses, tied=tied)
        option_columns = (period * self.n_options)[:, None] + np.column_stack([first, second])
        n_judge_columns = int(self.n_judges > 0)
        matrices = [
            _scatter_columns(
                np.tile([1.0, -1.0], (len(first), 1)), option_columns, self.worths.stop
            ),
            _scatter_columns(np.ones((len(first), n_judge_columns)), judge[:, None], self.n_judges),
            self._build_tie_matrix(rows),
            self._build_bias_matrix(rows),
        ]
        if is_dense:
            matrices = map(_to_dense, matrices)
        return RowBlock(row_slice, rows, *matrices)

    def _build_tie_matrix(self, rows: DistinctComparisons) -> Any:
        """Return the matrix from the common log nu and judges' deviations to log nu of rows."""
        columns = np.column_stack([0 * rows.judge, 1 + rows.judge])
        n_columns = min(len(self.tie_sds), 2)
        return _scatter_columns(np.ones((len(columns), n_columns)), columns, len(self.tie_sds))

    def _build_bias_matrix(self, rows: DistinctComparisons) -> Any:
        """Return the matrix from judges' biases to the log odds of rows."""
        n_covariates = 0
        if self.n_bias:
            n_covariates = rows.x.shape[1]
        return _scatter_columns(
            (rows.x / self.covariate_scales)[:, :n_covariates],
            rows.judge[:, None] * n_covariates + np.arange(n_covariates),
            self.n_bias,
        )

    def log_discriminations(self, points: np.ndarray) -> np.ndarray:
        """Return centred log discriminations of judges, shape (n_judges, n_points)."""
        judge_parameters = points[self.judges]
        if not self.n_judges:
            return judge_parameters
        return judge_parameters - judge_parameters.mean(axis=0)

    def report_judges(self, points: np.ndarray) -> np.ndarray:
        """Return log discriminations for the convergence check, (n_judges, n_points)."""
        return self.log_discriminations(points)

    def log_ties(self, points: np.ndarray) -> np.ndarray:
        """Return log nu of the typical judge of the panel, (1 or 0, n_points)."""
        common, deviations = np.split(points[self.nu], [1])
        if len(deviations):
            return common + deviations.mean(axis=0)
        return common

    def compare_at_points(self, block: RowBlock, points: np.ndarray) -> ComparisonsAtPoints:
        """Return log odds and probabilities of a block at points (size, n_points)."""
        worth_differences = block.along @ points[self.worths]
        log_odds = worth_differences
        discrimination = np.ones((1, 1))
        if self.n_judges:
            discrimination = np.exp(self.log_discriminations(points))[block.rows.judge]
            log_odds = discrimination * worth_differences
        if block.rows.x.shape[1]:
            log_odds = log_odds + block.rows.x @ points[self.beta]
        if self.n_bias:
            log_odds = log_odds + block.biased @ points[self.bias]
        log_nu = block.tying @ points[self.nu]
        return ComparisonsAtPoints(worth_differences, discrimination, log_odds, log_nu)

    def _iterate_log_likelihoods(self, points: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield each block's log-likelihoods, shape (rows, points)."""
        for block in self.split_rows(points.shape[1]):
            comparisons = self.compare_at_points(block, points)
            yield block.row_slice, comparisons.log_likelihoods(block.rows)

    def log_likelihoods(self, points: np.ndarray) -> np.ndarray:
        """Return the log-likelihood at each point, shape (n_points,)."""
        return sum(
            (terms.sum(axis=0) for _, terms in self._iterate_log_likelihoods(points)),
            np.zeros(points.shape[1]),
        )

    def row_log_likelihoods(self, points: np.ndarray) -> np.ndarray:
        """Return the log-likelihood of each row at each point, (n_rows, n_points)."""
        log_likelihoods = np.empty((self.n_rows, points.shape[1]))
        for row_slice, block_log_likelihoods in self._iterate_log_likelihoods(points):
            log_likelihoods[row_slice] = block_log_likelihoods
        return log_likelihoods

    @property
    def is_always_present(self) -> np.ndarray:
        """Mask of options present in all periods (all options if none is)."""
        is_present = self.entry == 0
        if not is_present.any():
            is_present[:] = True
        return is_present

    def centre_worths(self, worths: np.ndarray) -> np.ndarray:
        """Subtract the mean over permanent options from log worths."""
        worths_by_period = worths.reshape(self.n_periods, self.n_options, *worths.shape[1:])
        is_counted = self.present & self.is_always_present
        option_weights = compute_shares(is_counted)
        return (
            worths_by_period
            - np.einsum("ti,ti...->t...", option_weights, worths_by_period)[:, None]
        ).reshape(worths.shape)

    def centre_by_period(self, points: np.ndarray) -> np.ndarray:
        """Return centred log worths, shape (n_periods, n_options, n_points)."""
        return self.centre_worths(points[self.worths]).reshape(self.n_periods, self.n_options, -1)

    # With the prior -------------------------------------------------------------------------------

    def sum_of_squares(self, points: np.ndarray, k: int) -> np.ndarray:
        """Return the sum of squares of prior sd k's parameters, (n_points,)."""
        if k == DRIFT:
            return (self.increments(points) ** 2 / self.steps[:, None, None]).sum(axis=(0, 1))
        if k == WORTHS:
            return (self.entry_worths(points) ** 2).sum(axis=0)
        return (points[self._spread_slice(k)] ** 2).sum(axis=0)

    def _spread_slice(self, k: int) -> slice:
        """Return the slice of prior sd k's parameters (JUDGES or BIAS)."""
        if k == JUDGES:
            return self.judges
        return self.bias

    def count_spread_coordinates(self, k: int) -> int:
        """Return the number of prior sd k's parameters."""
        return (self.n_options, self.n_judges, int(self.present[:-1].sum()), self.n_bias)[k]

    def scale_coordinates(self, points: np.ndarray, k: int, factor: np.ndarray) -> np.ndarray:
        """Return points with prior sd k's parameters multiplied by `factor`."""
        points = points.copy()
        if k in (JUDGES, BIAS):
            points[self._spread_slice(k)] *= factor
            return points
        scaled_worths = self.entry_worths(points)
        worths = self.worths_by_period(points)
        if k == DRIFT:
            scaled_worths = worths - scaled_worths
        worths += np.where(self.present[..., None], (factor - 1.0) * scaled_worths, 0.0)
        return points

    def worths_by_period(self, points: np.ndarray) -> np.ndarray:
        """Return a view of log worths, shape (n_periods, n_options, n_points)."""
        return points[self.worths].reshape(self.n_periods, self.n_options, -1)

    def entry_worths(self, points: np.ndarray) -> np.ndarray:
        """Return log worths of options when they enter, shape (n_options, n_points)."""
        return self.worths_by_period(points)[self.entry, np.arange(self.n_options)]

    def increments(self, points: np.ndarray) -> np.ndarray:
        """Return changes of log worths between periods, (n_periods - 1, n_options, n_points)."""
        return np.where(
            self.present[:-1, :, None], np.diff(self.worths_by_period(points), axis=0), 0.0
        )

    def log_priors(self, points: np.ndarray, spreads: Spreads) -> np.ndarray:
        """Return the log prior density of the parameters at each point, (n_points,)."""
        if not self.has_prior:
            return -0.5 * points[self.worths].sum(axis=0) ** 2 / self.n_options
        half_log_steps = 0.5 * np.where(self.present[:-1], np.log(self.steps)[:, None], 0.0).sum()
        return sum(self.log_prior_parts(points, spreads).values()) - half_log_steps

    def log_prior_parts(self, points: np.ndarray, spreads: Spreads) -> dict[str, np.ndarray]:
        """Return log prior densities by variable name, each (n_points,)."""
        log_nu = points[self.nu] / self.tie_sds[:, None]
        beta = points[self.beta] * self.covariate_scales[:, None]
        log_scales = np.log(self.covariate_scales).sum()
        log_priors = {
            "tie": -0.5 * (log_nu**2 + LOG_2PI).sum(axis=0) - np.log(self.tie_sds).sum(),
            "covariate": -0.5 * (beta**2 + LOG_2PI).sum(axis=0) + log_scales,
        }
        for k in self.spread_kinds:
            log_scale = np.log(spreads[k]) + 0.5 * LOG_2PI
            log_priors[_SPREAD_VARIABLES[k]] = (
                -0.5 * self.sum_of_squares(points, k) / spreads[k] ** 2
                - self.count_spread_coordinates(k) * log_scale
            )
        return log_priors

    def log_spread_prior(self, k: int, log_spread: np.ndarray) -> np.ndarray:
        """Return the log prior density of the log of prior sd number k."""
        if k == WORTHS:
            return log_density_of_spread(log_spread)
        return log_density_of_sd(log_spread)

    def conditional_log_spread_density(
        self, points: np.ndarray, k: int
    ) -> Callable[[np.ndarray], np.ndarray]:
        """Return log prior sd number k's log density as a function, given the parameters."""
        sum_of_squares = self.sum_of_squares(points, k)
        n_parameters = self.count_spread_coordinates(k)
        return lambda log: (
            self.log_spread_prior(k, log)
            - 0.5 * sum_of_squares * np.exp(-2.0 * log)
            - n_parameters * log
        )

    def log_densities(self, points: np.ndarray, spreads: Spreads) -> np.ndarray:
        """Return the log posterior density at each point, shape (n_points,)."""
        return self.log_likelihoods(points) + self.log_priors(points, spreads)

    def gradients(self, points: np.ndarray, spreads: Spreads) -> tuple[np.ndarray, np.ndarray]:
        """Return log posterior densities at points, and their gradients (size, n_points)."""
        gradient = np.zeros_like(points)
        log_density = self._add_likelihood(self.log_priors(points, spreads), gradient, points)
        self._centre_judge_slopes(gradient, self.judges)
        self.add_prior_slope(gradient, points, spreads)
        return log_density, gradient

    def _centre_judge_slopes(self, by_judge: np.ndarray, judges: slice) -> None:
        """Convert derivatives by log d to derivatives by the uncentred g, in place."""
        if self.n_judges:
            by_judge[judges] -= by_judge[judges].mean(axis=0)

    def _add_likelihood(
        self, log_density: np.ndarray, gradient: np.ndarray, points: np.ndarray
    ) -> np.ndarray:
        """Return `log_density` plus the log-likelihood; add its gradient to `gradient`."""
        for block in self.split_rows(points.shape[1]):
            comparisons = self.compare_at_points(block, points)
            log_density = log_density + comparisons.log_likelihoods(block.rows).sum(axis=0)
            derivatives = compute_derivatives(
                block.rows, *comparisons.split_probabilities(), comparisons.log_nu
            )
            self._add_likelihood_slope(
                gradient, block, comparisons, derivatives.slope, derivatives.of_nu
            )
        return log_density

    def _add_likelihood_slope(
        self,
        gradient: np.ndarray,
        block: RowBlock,
        comparisons: ComparisonsAtPoints,
        slope: np.ndarray,
        nu_slope: np.ndarray,
    ) -> None:
        """Add the gradient of a block's log-likelihood to `gradient`."""
        worth_slope = slope * comparisons.discrimination
        gradient[self.worths] += block.along.T @ worth_slope
        if self.rows.has_ties:
            gradient[self.nu] += block.tying.T @ nu_slope
        gradient[self.beta] += block.rows.x.T @ slope
        if self.n_judges:
            gradient[self.judges] += block.judged.T @ (worth_slope * comparisons.difference)
        if self.n_bias:
            gradient[self.bias] += block.biased.T @ slope

    def add_prior_slope(self, gradient: np.ndarray, points: np.ndarray, spreads: Spreads) -> None:
        """Add the gradient of the log prior to `gradient`."""
        if not self.has_prior:
            gradient[self.worths] -= points[self.worths].sum(axis=0) / self.n_options
            return
        self._add_worths_slope(gradient, points, spreads)
        gradient[self.nu] -= points[self.nu] / self.tie_sds[:, None] ** 2
        gradient[self.beta] -= points[self.beta] * self.covariate_scales[:, None] ** 2
        if self.n_judges:
            gradient[self.judges] -= points[self.judges] / spreads.judges**2
        if BIAS in self.spread_kinds:
            gradient[self.bias] -= points[self.bias] / spreads.bias**2

    def _add_worths_slope(self, gradient: np.ndarray, points: np.ndarray, spreads: Spreads) -> None:
        """Add the gradient of the log prior of the log worths to `gradient`."""
        worths_gradient = self.worths_by_period(gradient)
        first_period_index = self.entry, np.arange(self.n_options)
        worths_gradient[first_period_index] -= self.entry_worths(points) / spreads.worths**2
        if len(self.steps):
            increment_slope = self.increments(points) / (
                self.steps[:, None, None] * spreads.drift**2
            )
            worths_gradient[:-1] += increment_slope
            worths_gradient[1:] -= increment_slope

    def row_scores(self, point: np.ndarray) -> Any:
        """Return gradients of each row's log-likelihood, sparse (n_rows, size)."""
        from scipy.sparse import vstack

        score_blocks = []
        for block in self.split_rows(1):
            derivatives = self._differentiate_rows(block, point)
            slope = derivatives.slope[:, None]
            judge_slopes = block.judged * (slope * derivatives.scaled_difference[:, None])
            other_slopes = block.rows.x * slope, judge_slopes, block.biased * slope
            score_blocks.append(
                _join_columns(
                    [
                        block.along * (slope * derivatives.discrimination[:, None]),
                        block.tying * derivatives.of_nu,
                        *other_slopes,
                    ]
                )
            )
        return vstack([_to_sparse(matrix) for matrix in score_blocks])

    def judge_scores(self, point: np.ndarray) -> np.ndarray:
        """Return gradients of each judge's log-likelihood, shape (size, n_judges)."""
        judge_indicators = _scatter_columns(
            np.ones((self.n_rows, 1)), self.rows.judge[:, None], self.n_judges
        )
        score_matrix = (self.row_scores(point).T @ judge_indicators).toarray()
        self._centre_judge_slopes(score_matrix, self.judges)
        return score_matrix

    def predict_judges(self, points: np.ndarray) -> JudgePredictions:
        """Predict each judge's answers from parameters estimated without that judge."""
        rows = self.rows
        period_start = rows.period * self.n_options
        worths = points[self.worths]
        beta = points[self.beta]
        worth_differences = (
            worths[period_start + rows.first, rows.judge]
            - worths[period_start + rows.second, rows.judge]
        )
        log_nu = np.zeros(len(rows.judge))
        if rows.has_ties:
            log_nu = points[self.nu.start, rows.judge] + points[self.nu][1 + rows.judge, rows.judge]
        q, q_rest = split_probabilities(
            (worth_differences + (rows.x * beta[:, rows.judge].T).sum(axis=1)).clip(
                -_LARGEST_LOG_ODDS, _LARGEST_LOG_ODDS
            )
        )
        halves = np.full(len(q), 0.5)
        expected_rows = _compute_expected_counts(rows, q, q_rest, log_nu)
        observed_log_p = compute_log_likelihoods(rows, q, q_rest, log_nu).ravel()
        expected_log_p = compute_log_likelihoods(expected_rows, q, q_rest, log_nu).ravel()
        chance_log_p = compute_log_likelihoods(rows, halves, halves, log_nu).ravel()
        return JudgePredictions(observed_log_p, expected_log_p, chance_log_p, rows.total)

    # Its curvature --------------------------------------------------------------------------------

    def prior_curvature(self, spreads: Spreads) -> BorderedBlocks:
        """Return the negative Hessian of the log prior, as a bordered matrix."""
        n_periods = self.n_periods
        n = self.n_options
        n_others = self.size - self.worths.stop
        border = np.zeros((n_periods * n, n_others))
        if not self.has_prior:
            level_curvature = np.full((n, n), 1.0 / n)
            if not self.has_deviations:
                level_curvature = np.eye(n)
            return BorderedBlocks(
                level_curvature[None],
                np.zeros((0, n)),
                border,
                np.zeros((n_others, n_others)),
            )
        diagonal = np.where(self.present, 0.0, 1.0)
        diagonal[self.entry, np.arange(n)] += 1.0 / spreads.worths**2
        coupling = np.where(self.present[:-1], 1.0 / (self.steps[:, None] * spreads.drift**2), 0.0)
        diagonal[:-1] += coupling
        diagonal[1:] += coupling
        return BorderedBlocks(
            build_diagonal_blocks(diagonal),
            coupling,
            border,
            np.diag(self._prior_precisions(spreads)),
        )

    def _prior_precisions(self, spreads: Spreads) -> np.ndarray:
        """Return prior precisions of log nu, coefficients, judges and biases."""
        precisions = [self.tie_sds**-2.0, self.covariate_scales**2]
        precisions.append(np.full(self.n_judges, 1.0 / spreads.judges**2))
        if BIAS in self.spread_kinds:
            precisions.append(np.full(self.n_bias, 1.0 / spreads.bias**2))
        return np.concatenate(precisions)

    def curvature(self, point: np.ndarray, is_convex: bool = False) -> BorderedBlocks:
        """Return the negative Hessian of the log-likelihood at a point.

        `is_convex`: only their positive semidefinite part.
        """
        return self.expand(point, is_convex).curvature

    def expand(self, point: np.ndarray, is_convex: bool = False) -> LikelihoodExpansion:
        """Return log-likelihood, gradient and negative Hessian at a point, in one pass."""
        log_likelihood, gradient, (blocks, coupling, border, corner) = (
            self._expand_by_log_discrimination(point, is_convex)
        )
        judges_after_worths = self.offset_by_worths(self.judges)
        for derivatives, judges_slice in (
            (gradient, self.judges),
            (border.T, judges_after_worths),
            (corner, judges_after_worths),
            (corner.T, judges_after_worths),
        ):
            self._centre_judge_slopes(derivatives, judges_slice)
        if not self.has_deviations:
            for derivatives in (gradient[self.worths], blocks, border):
                derivatives[:] = 0.0
        return LikelihoodExpansion(
            log_likelihood, gradient, BorderedBlocks(blocks, coupling, border, corner)
        )

    def _differentiate_rows(
        self, block: RowBlock, point: np.ndarray, is_convex: bool = False
    ) -> "_RowsAtPoint":
        """Return log odds of a block's rows and log-likelihood derivatives by them."""
        comparisons = self.compare_at_points(block, point[:, None])
        derivatives = compute_derivatives(
            block.rows, *comparisons.split_probabilities(), comparisons.log_nu
        )
        log_likelihood = float(comparisons.log_likelihoods(block.rows).sum())
        mixed_derivative = derivatives.mixed[:, 0]
        nu_curvature = derivatives.spread[:, 0]
        slope = derivatives.slope[:, 0]
        curvature = -derivatives.bend[:, 0]
        if is_convex:
            curvature = np.maximum(
                curvature, mixed_derivative**2 / np.maximum(nu_curvature, 1e-300)
            )
        discrimination = np.broadcast_to(comparisons.discrimination[:, 0], len(slope))
        scaled_difference = discrimination * comparisons.difference[:, 0]
        return _RowsAtPoint(
            comparisons,
            log_likelihood,
            slope,
            derivatives.of_nu,
            curvature,
            mixed_derivative,
            nu_curvature,
            discrimination,
            scaled_difference,
        )

    def _expand_by_log_discrimination(
        self, point: np.ndarray, is_convex: bool
    ) -> LikelihoodExpansion:
        """Return log-likelihood, gradient and curvature by centred log d, not yet by g."""
        # In the code, w is minus the second derivative of a row by its log odds, m that by its log
        # odds and log nu, d the discrimination, and s is d times the difference of log worths.
        log_likelihood = 0.0
        n_worths = self.worths.stop
        n_periods = self.n_periods
        n = self.n_options
        gradient = np.zeros((self.size, 1))
        blocks = np.zeros((n_periods, n, n))
        border = np.zeros((n_worths, self.size - n_worths))
        corner = np.zeros((self.size - n_worths,) * 2)
        parameter_slices = self.nu, self.beta, self.judges, self.bias
        nu, beta, judges, bias = map(self.offset_by_worths, parameter_slices)
        linear_indices = np.r_[beta, bias]
        for block in self.split_rows(1):
            terms = self._differentiate_rows(block, point, is_convex)
            rows = block.rows
            along = block.along.T
            judged = block.judged
            w = terms.curvature
            m = terms.mixed
            d = terms.discrimination
            s = terms.scaled_difference
            log_likelihood += terms.value
            self._add_likelihood_slope(
                gradient, block, terms.comparisons, terms.slope[:, None], terms.of_nu
            )
            wd = w * d
            x = _join_columns([rows.x, block.biased])
            cell_index = (rows.period * n + rows.first) * n + rows.second
            np.subtract.at(blocks.reshape(-1), cell_index, wd * d)
            border[:, linear_indices] += _to_dense(along @ (x * wd[:, None]))
            corner[np.ix_(linear_indices, linear_indices)] += _to_dense(x.T @ (x * w[:, None]))
            if self.n_judges:
                slope = terms.slope
                if is_convex:  # log odds are not linear in log d
                    slope = np.zeros_like(slope)
                border[:, judges] += _to_dense(along @ (judged * (wd * s - d * slope)[:, None]))
                corner[judges, judges] += np.diag(judged.T @ (s * (w * s - slope)))
                mixed_curvature = _to_dense(x.T @ (judged * (w * s)[:, None]))
                corner[linear_indices, judges] += mixed_curvature
                corner[judges, linear_indices] += mixed_curvature.T
            if self.rows.has_ties:
                tying = block.tying
                border[:, nu] += _to_dense(along @ (tying * (d * m)[:, None]))
                corner[nu, nu] += _to_dense(tying.T @ (tying * terms.nu_curvature[:, None]))
                corner[nu, linear_indices] += _to_dense(tying.T @ (x * m[:, None]))
                corner[nu, judges] += _to_dense(tying.T @ (judged * (m * s)[:, None]))
        blocks += blocks.swapaxes(1, 2)
        blocks[:, np.arange(n), np.arange(n)] = -blocks.sum(axis=2)
        corner = np.triu(corner) + np.triu(corner, 1).T
        return LikelihoodExpansion(
            log_likelihood,
            gradient,
            BorderedBlocks(blocks, np.zeros((n_periods - 1, n)), border, corner),
        )


class _RowsAtPoint(NamedTuple):
    """Log odds of rows at a point, with derivatives of the log-likelihood."""

    comparisons: ComparisonsAtPoints
    value: float
    slope: np.ndarray  # by the log odds
    of_nu: np.ndarray  # by log nu (rows, 1)
    curvature: np.ndarray  # minus the second derivatives: by the log odds
    mixed: np.ndarray  # by both
    nu_curvature: np.ndarray  # by log nu
    discrimination: np.ndarray
    scaled_difference: np.ndarray  # d times the difference of log worths


def split_counts(rng: np.random.Generator, counts: np.ndarray) -> np.ndarray:
    """Return a random half of each count (a fraction goes to either half)."""
    whole_counts = np.floor(counts)
    return rng.binomial(whole_counts.astype(np.int64), 0.5) + (
        counts - whole_counts
    ) * rng.integers(0, 2, counts.shape)


def _compute_expected_counts(
    rows: DistinctComparisons, q: np.ndarray, q_rest: np.ndarray, log_nu: np.ndarray
) -> DistinctComparisons:
    """Return the comparisons with expected instead of observed outcomes."""
    p = mix_with_guess(q, rows.lapse)
    tie_ratio = np.zeros_like(q)
    if rows.has_ties:
        tie_ratio = compute_tie_ratio(rows, q, q_rest, log_nu).ravel()
    n_decided = rows.total / (1.0 + tie_ratio)
    return rows._replace(
        wins=n_decided * p, losses=n_decided * (1.0 - p), tied=rows.total - n_decided
    )


def build_diagonal_blocks(values: np.ndarray) -> np.ndarray:
    """Return one diagonal matrix per row of `values`, shape (n_rows, n, n)."""
    blocks = np.zeros((*values.shape, values.shape[1]))
    blocks[:, np.arange(values.shape[1]), np.arange(values.shape[1])] = values
    return blocks


def add_bordered(matrix: BorderedBlocks, addend: BorderedBlocks) -> BorderedBlocks:
    """Return the sum of two bordered matrices."""
    return BorderedBlocks(*(a + b for a, b in zip(matrix, addend, strict=True)))


def _scatter_columns(values: np.ndarray, column_of_value: np.ndarray, width: int) -> Any:
    """Return a sparse matrix (rows, width) with `values` in the given columns."""
    # There may be more columns than values; the first ones are used.
    from scipy.sparse import csr_array

    n_rows, n_values = values.shape
    column_indices = column_of_value[:, :n_values].ravel()
    return csr_array(
        (values.ravel(), column_indices, np.arange(n_rows + 1) * n_values), shape=(n_rows, width)
    )


def _to_sparse(matrix: Any) -> Any:
    """Return a sparse copy of a matrix."""
    from scipy.sparse import csr_array

    return csr_array(matrix)


def _join_columns(matrices: list[Any]) -> Any:
    """Return matrices side by side, sparse if any of them is."""
    matrices = [matrix for matrix in matrices if matrix.shape[1]] or matrices[:1]
    if len(matrices) == 1:
        return matrices[0]
    if all(isinstance(matrix, np.ndarray) for matrix in matrices):
        return np.hstack(matrices)
    from scipy.sparse import hstack

    return hstack([_to_sparse(matrix) for matrix in matrices]).tocsr()


def _to_dense(matrix: Any) -> np.ndarray:
    """Return a sparse or dense matrix as a dense array."""
    if isinstance(matrix, np.ndarray):
        return matrix
    return matrix.toarray()


def to_column(counts: np.ndarray) -> np.ndarray:
    """Return counts with shape (n_rows, 1), unless they already have one column per point."""
    if counts.ndim == 2:
        return counts
    return counts[:, None]


class GroupDensity(Density):
    r"""The density of log worths L of options in several parts of the votes, such as languages,
    which vary around common log worths m.

    .. math:: L_{gi} \sim \mathrm{Normal}(m_i, \delta^2), \qquad m_i \sim \mathrm{Normal}(0, s^2)

    log nu and the coefficients of covariates are common. The number of a row's period is that of
    its part, and the standard deviation delta replaces that of the drift, whose prior it has. A
    point contains m behind all else.
    """

    def __init__(self, rows: Any, n_options: int, n_parts: int, n_judges: int = 0) -> None:
        """Number the parameters: log worths by group, ties, judges, and common log worths."""
        super().__init__(rows, n_options, n_judges, np.ones(n_parts - 1))
        self.common = slice(self.size, self.size + n_options)
        self.size += n_options
        self.is_free = np.ones(self.size, bool)
        self.spread_kinds = WORTHS, DRIFT

    def entry_worths(self, points: np.ndarray) -> np.ndarray:
        """Return the common log worths, shape (n_options, n_points)."""
        return points[self.common]

    def deviations(self, points: np.ndarray) -> np.ndarray:
        """Return log worths minus common log worths, (n_parts, n_options, n_points)."""
        return self.worths_by_period(points) - points[self.common]

    def sum_of_squares(self, points: np.ndarray, k: int) -> np.ndarray:
        """Return the sum of squares of common worths or deviations, (n_points,)."""
        if k == DRIFT:
            return (self.deviations(points) ** 2).sum(axis=(0, 1))
        if k == WORTHS:
            return (points[self.common] ** 2).sum(axis=0)
        return super().sum_of_squares(points, k)

    def count_spread_coordinates(self, k: int) -> int:
        """Return the number of common worths or of deviations."""
        if k == DRIFT:
            return self.n_options * self.n_periods
        return self.n_options

    def scale_coordinates(self, points: np.ndarray, k: int, factor: np.ndarray) -> np.ndarray:
        """Return points with worths or deviations times a factor."""
        points = super().scale_coordinates(points, k, factor)
        if k == WORTHS:
            points[self.common] *= factor
        return points

    def _add_worths_slope(self, gradient: np.ndarray, points: np.ndarray, spreads: Spreads) -> None:
        """Add the log prior's gradient by deviations and common worths."""
        deviation_slope = self.deviations(points) / spreads.drift**2
        gradient[self.worths] -= deviation_slope.reshape(-1, points.shape[1])
        gradient[self.common] += (
            deviation_slope.sum(axis=0) - points[self.common] / spreads.worths**2
        )

    def prior_curvature(self, spreads: Spreads) -> BorderedBlocks:
        """Return the negative Hessian of the log prior, as a bordered matrix."""
        n_parts = self.n_periods
        n = self.n_options
        precision = float(spreads.drift) ** -2.0
        border = np.zeros((n_parts * n, self.size - self.worths.stop))
        worth_indices = np.arange(n_parts * n)
        border[worth_indices, self.common.start - self.worths.stop + worth_indices % n] = -precision
        common_precisions = np.full(n, n_parts * precision + float(spreads.worths) ** -2.0)
        corner = np.diag(np.append(self._prior_precisions(spreads), common_precisions))
        return BorderedBlocks(
            build_diagonal_blocks(np.full((n_parts, n), precision)),
            np.zeros((n_parts - 1, n)),
            border,
            corner,
        )


class TargetDensity(GroupDensity):
    r"""The density of log worths m for one judge, the target, and of what other judges add.

    .. math::
        \eta_r = m_i - m_k \text{ for the target}, \qquad
        \eta_r = d_j (L_{ji} - L_{jk}) \text{ for judge } j, \qquad
        L_{ji} \sim \mathrm{Normal}(m_i, \delta^2), \qquad
        \log d_j \sim \mathrm{Normal}(h, \tau^2), \qquad h \sim \mathrm{Normal}(0, 1)

    Each other judge is a part of the votes. The target is the last judge; its discrimination is 0
    for the worths of parts, so that its rows depend on the common worths alone. The last of the
    judges' parameters is h: judges of one kind, such as models, may all be sharper than the target.
    Each judge, also the target, has its log nu, as in `Density`.
    """

    has_target = True

    def __init__(self, rows: Any, n_options: int, n_judges: int) -> None:
        """Number the parameters; `n_judges` includes the target."""
        super().__init__(rows, n_options, n_judges - 1, n_judges)
        # the target's rows depend on the common worths as rows depend on biases
        self.bias = self.common
        self.n_bias = n_options
        self.level = self.judges.stop - 1
        self.spread_kinds = WORTHS, JUDGES, DRIFT

    def _build_bias_matrix(self, rows: DistinctComparisons) -> Any:
        """Return the matrix from worths for the target to the log odds of its rows."""
        signs = np.where(rows.judge == self.n_judges - 1, 1.0, 0.0)
        return _scatter_columns(
            np.column_stack([signs, -signs]),
            np.column_stack([rows.first, rows.second]),
            self.n_options,
        )

    def log_discriminations(self, points: np.ndarray) -> np.ndarray:
        """Return log discriminations, shape (n_judges, n_points); the target's is -inf."""
        log_discriminations = points[self.judges] + points[self.level]
        log_discriminations[-1] = -np.inf
        return log_discriminations

    def log_ties(self, points: np.ndarray) -> np.ndarray:
        """Return log nu of the target, (1 or 0, n_points)."""
        return points[self.nu][:1] + points[self.nu][-1:]

    def report_judges(self, points: np.ndarray) -> np.ndarray:
        """Return log discriminations of the other judges, and last the target's among them."""
        log_discriminations = self.log_discriminations(points)
        log_discriminations[-1] = -points[self.level]
        return log_discriminations

    def _centre_judge_slopes(self, by_judge: np.ndarray, judges: slice) -> None:
        """Set the derivative by the level, in place: the sum of those by log d."""
        # the target's derivative is 0
        by_judge[judges.stop - 1] = by_judge[judges].sum(axis=0)

    def _spread_slice(self, k: int) -> slice:
        """Return the slice of the other judges' parameters."""
        return slice(self.judges.start, self.level)

    def log_prior_parts(self, points: np.ndarray, spreads: Spreads) -> dict[str, np.ndarray]:
        """Return log prior densities by variable name, each (n_points,)."""
        level_prior = -0.5 * (points[self.level] ** 2 + LOG_2PI)
        return super().log_prior_parts(points, spreads) | {"level": level_prior}

    def add_prior_slope(self, gradient: np.ndarray, points: np.ndarray, spreads: Spreads) -> None:
        """Add the gradient of the log prior to `gradient`."""
        level_slope = gradient[self.level] - points[self.level]
        super().add_prior_slope(gradient, points, spreads)
        gradient[self.level] = level_slope

    def _prior_precisions(self, spreads: Spreads) -> np.ndarray:
        """Return prior precisions of log nu, coefficients, judges and their level."""
        precisions = super()._prior_precisions(spreads)
        precisions[self.level - self.worths.stop] = 1.0
        return precisions

    def centre_by_period(self, points: np.ndarray) -> np.ndarray:
        """Return centred log worths for the target, shape (1, n_options, n_points)."""
        worths = points[self.common]
        return (worths - worths.mean(axis=0))[None]

    def log_spread_prior(self, k: int, log_spread: np.ndarray) -> np.ndarray:
        """Return the log prior density of the log of prior sd number k."""
        # Other judges may be of another kind than the target, such as models for people, so these
        # priors are wider than those of alike judges: HalfNormal(1).
        if k == WORTHS:
            return super().log_spread_prior(k, log_spread)
        return super().log_spread_prior(k, log_spread + math.log(HALF_NORMAL_SCALE))

    def scale_worths(self, points: np.ndarray, log_factor: np.ndarray) -> np.ndarray:
        """Return points with worths times a factor, and discriminations divided by it."""
        points = points.copy()
        points[self.worths] *= np.exp(log_factor)
        points[self.common] *= np.exp(log_factor)
        points[self.level] -= log_factor
        return points

    def count_spread_coordinates(self, k: int) -> int:
        """Return the number of common worths, of other judges, or of deviations."""
        if k == JUDGES:
            return self.n_judges - 1
        return super().count_spread_coordinates(k)
