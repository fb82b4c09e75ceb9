"""Estimation of a leaderboard's worths: posterior draws, or maximum likelihood."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._inference.numerics.ranks import fit_descending_means, sort_descending
from thali._inference.progress_display import Progress
from thali._inference.random_seeds import build_generator
from thali._inference.user_warnings import silence_warnings
from thali._people.people_argument import ADJUSTED, INDEPENDENT
from thali._posterior.convergence_check import ConvergenceCheck
from thali._posterior.effects_with_certain_sign import CERTAIN
from thali._posterior.posterior_tree import Posterior
from thali._posterior.respondent_dependence import Dependence, read_dependence
from thali.errors import Argument, DataError

from .elo_scale import WorthScale
from .leaderboard_posterior import (
    SPREADS,
    BoardProblem,
    BoardSettings,
    JudgedWorths,
    build_worth_problem,
    check_anchor,
    check_worth_chains,
    tabulate_judged_worths,
)
from .vote_counts import Judgements

if TYPE_CHECKING:
    from thali._worths.laplace_approximation import Marginal
    from thali._worths.posterior_density import Spreads
    from thali._worths.respondent_sandwich import RespondentAdjustment

# numbers of draws of Laplace's approximation; maximum of numbers in memory
DRAWS = 4000
MIN_DRAWS = 500
MAX_NUMBERS = 25_000_000
# of the curvature of a board of judges, 0.24 GB; a fit has about ten of them at a time
MAX_CURVATURE_NUMBERS = 30_000_000


class WorthEstimates(NamedTuple):
    """Draws or estimates of worths and other parameters of a leaderboard."""

    log_worths: np.ndarray  # (draws, options), each row has mean 0
    # (options,) log worths for ranking, without the noise of means of draws
    modes: np.ndarray
    nu: np.ndarray  # (draws,); empty if there are no ties
    beta: np.ndarray  # (draws, covariates)
    # log worths and beta; None: means of draws
    estimate: tuple[np.ndarray, np.ndarray] | None = None
    people: Dependence | None = None  # treatment of repeated answers
    judged: JudgedWorths = JudgedWorths()  # results for judges or periods
    of_chains: ConvergenceCheck | None = None  # None without chains
    # log worths widened for few respondents; None: `log_worths`
    with_variance: np.ndarray | None = None
    # of the density, possibly raised to a power; None for pooled parts
    marginal: "Marginal | None" = None
    pose: BoardProblem | None = None  # the density of the votes; None for pooled parts
    points: np.ndarray | None = None  # (size, draws); None for pooled parts
    # estimates without control for covariates; None without covariates
    without: "WorthEstimates | None" = None
    # the fitted model of individual worths
    individuals: Any = None

    @property
    def monotone_means(self) -> np.ndarray:
        """Mean log worths, made monotone in rank for the table."""
        if self.estimate is None:
            mean_log_worths = self.log_worths.mean(axis=0)
        else:
            mean_log_worths = self.estimate[0]
        return fit_descending_means(sort_descending(self.modes), mean_log_worths)

    @property
    def effects(self) -> np.ndarray:
        """Coefficients of covariates that the leaderboard reports."""
        if self.estimate is None:
            return self.beta.mean(axis=0)
        return self.estimate[1]

    @property
    def mean_nu(self) -> float:
        """Mean of Davidson's tie parameter nu; NaN without ties."""
        if not len(self.nu):
            return np.nan
        return float(self.nu.mean())

    @property
    def design_effect(self) -> float:
        """Design effect for which the intervals are adjusted; 1 without adjustment."""
        if self.people is None or self.people.model != ADJUSTED:
            return 1.0
        return max(1.0, self.people.effect)

    @property
    def power(self) -> float:
        """Power of the likelihood with which intervals are as wide as those adjusted."""
        from scipy.special import ndtri, stdtrit

        if self.people is None or self.people.model != ADJUSTED:
            return 1.0
        # few respondents, or one with most answers, leave few degrees of freedom
        factor_of_df = stdtrit(self.people.df, CERTAIN) / ndtri(CERTAIN)
        return 1.0 / (self.design_effect * factor_of_df**2)


def estimate_worths(
    data: Judgements, settings: BoardSettings, scale: WorthScale, progressbar: bool
) -> WorthEstimates:
    """Estimate a leaderboard's worths by the requested method."""
    from thali._worths.density_from_data import check_estimable, convert_for_likelihood
    from thali._worths.laplace_approximation import Marginal
    from thali._worths.respondent_sandwich import RespondentAdjustment, build_adjustment

    data = convert_for_likelihood(data)
    uses_chains = settings.method == "mcmc"
    default_people = ADJUSTED
    if uses_chains:
        default_people = INDEPENDENT
    problem = build_worth_problem(data, settings)
    if not settings.has_prior:
        check_estimable(data, problem.density)
    check_anchor(problem, scale)
    _check_number_of_judges(problem)
    with Progress(progressbar and not uses_chains, "drawing", 1, "draws") as progress:
        progress.note("estimating worths")
        marginal = Marginal(problem.density, settings.spread, settings.judge_sd, settings.drift)
        adjustment = RespondentAdjustment()
        if settings.is_plain:
            adjustment = build_adjustment(data, marginal, settings.people, default_people)
        if not uses_chains:
            return _estimate_by_laplace(problem, scale, marginal, adjustment)
    return _estimate_by_chains(problem, scale, marginal, adjustment.power_dependence, progressbar)


def _check_number_of_judges(problem: BoardProblem) -> None:
    """Raise DataError if the curvature of a board of judges would not fit into memory."""
    density = problem.density
    n_numbers = density.size * (density.size - density.worths.stop)
    if density.n_judges and n_numbers > MAX_CURVATURE_NUMBERS:
        raise DataError(
            f"A leaderboard of {density.n_judges:,} judges and {density.n_options:,} options needs"
            f" a matrix of {n_numbers:,} numbers (at most {MAX_CURVATURE_NUMBERS:,}). Select judges"
            " with many votes, or remove ",
            Argument("judges"),
            ".",
        )


def fit_individuals(data: Judgements, settings: BoardSettings, progressbar: bool) -> WorthEstimates:
    """Fit individual worths of respondents; return the population's worths."""
    from thali._worths.estimation_methods import read_worth_draws
    from thali._worths.model import BradleyTerryLuce

    model = BradleyTerryLuce(spread=settings.spread, lapse=settings.lapse, people=settings.people)
    with silence_warnings():  # the board says whether chains agree
        model.fit(data, random_seed=settings.random_seed, progressbar=progressbar)
    draws = read_worth_draws(Posterior(model.posterior_))
    people = read_dependence(model.posterior_.attrs)
    convergence = model.convergence()
    nu = draws.nu
    if nu is None:
        nu = np.zeros(0)
    estimates = WorthEstimates(
        draws.log_worths, draws.log_worths.mean(axis=0), nu, draws.beta, None, people
    )
    return estimates._replace(of_chains=convergence, individuals=model)


def _estimate_by_laplace(
    problem: BoardProblem,
    scale: WorthScale,
    marginal: "Marginal",
    adjustment: "RespondentAdjustment",
) -> WorthEstimates:
    """Estimate worths by Laplace approximation, or by maximum likelihood."""
    from scipy.special import ndtri, stdtrit

    from thali._worths.posterior_sample import sample_posterior
    from thali._worths.respondent_sandwich import widen_points

    density = problem.density
    spreads = None
    n_draws = int(np.clip(MAX_NUMBERS // density.size, MIN_DRAWS, DRAWS))
    rng = build_generator(problem.settings.random_seed)
    if problem.settings.has_prior:
        points, spreads = sample_posterior(marginal, rng, n_draws)
        mean_point = points.mean(axis=1)
    else:
        _, mode = marginal.best
        points = mode.point[:, None] + marginal.draw_deviations(mode, rng, n_draws)
        mean_point = mode.point
    mean_log_worths = density.centre_by_period(mean_point[:, None])[-1, :, 0]
    score_variance = adjustment.adjusted_variance
    if problem.settings.has_prior and score_variance is None:
        point_estimate = None
    else:
        point_estimate = (mean_log_worths, mean_point[density.beta])
    narrow_points = points
    with_variance = None
    if score_variance is not None:
        narrow_points, points = widen_points(rng, marginal, score_variance, points, mean_point)
        degrees = score_variance.expand_degrees(density.n_options, density.n_options)
        factor_of_df = stdtrit(degrees, CERTAIN) / ndtri(CERTAIN)
        with_variance = mean_log_worths + factor_of_df * (
            density.centre_by_period(narrow_points)[-1].T - mean_log_worths
        )
    estimates = _build_estimates(problem, scale, marginal, points, spreads)
    nu = np.exp(density.log_ties(narrow_points)).ravel()
    return estimates._replace(
        nu=nu,
        estimate=point_estimate,
        people=adjustment.score_dependence,
        with_variance=with_variance,
    )


def _estimate_by_chains(
    problem: BoardProblem,
    scale: WorthScale,
    marginal: "Marginal",
    people: Dependence | None,
    progressbar: bool,
) -> WorthEstimates:
    """Estimate worths by Markov chains, tempered if respondents repeat answers."""
    from thali._worths.hamiltonian_chains import run_chains
    from thali._worths.laplace_approximation import Marginal

    if people is not None and people.power < 1.0:
        marginal = Marginal(problem.density.raise_to_power(people.power), problem.settings.spread)
    chain_draws = run_chains(marginal, problem.settings.random_seed, progressbar)
    judges = problem.judges
    common_names = []
    spread_names = SPREADS
    if problem.settings.target is not None:
        judges = (*judges, problem.settings.target)
        common_names = [f"log_worth[{label}]" for label in problem.data.labels]
        spread_names = ("spread", "judge_sd", "judge_deviation_sd", "")
    chain_check = check_worth_chains(
        chain_draws.reported,
        marginal,
        problem.data.labels,
        problem.periods,
        judges,
        problem.data.covariate_names,
        common_names,
        spread_names,
    )
    return _build_estimates(
        problem, scale, marginal, chain_draws.points, chain_draws.spreads
    )._replace(people=people, of_chains=chain_check)


def _build_estimates(
    problem: BoardProblem,
    scale: WorthScale,
    marginal: "Marginal",
    points: np.ndarray,
    spreads: "Spreads | None",
) -> WorthEstimates:
    """Return estimates from draws of parameters, with tables of judges and periods."""
    density = problem.density
    mode_worths = density.centre_by_period(marginal.mean_mode[:, None])[-1, :, 0]
    nu = np.exp(density.log_ties(points)).ravel()
    beta = points[density.beta].T
    estimates = WorthEstimates(
        density.centre_by_period(points)[-1].T,
        mode_worths,
        nu,
        beta,
        marginal=marginal,
        pose=problem,
        points=points,
    )
    if spreads is None or problem.settings.is_plain:
        return estimates
    return estimates._replace(
        judged=tabulate_judged_worths(problem, scale, marginal, points, spreads)
    )
