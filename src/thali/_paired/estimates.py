"""The worths of a leaderboard: draws of their posterior, or estimates without a prior."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._inference.numerics.ranks import fit_descending_means, sort_descending
from thali._inference.progress import Progress
from thali._inference.seeds import spawn_generators
from thali._inference.warn import silence_warnings
from thali._people.populations import ADJUSTED, INDEPENDENT
from thali._posterior.certain_signs import CERTAIN
from thali._posterior.convergence import ConvergenceCheck
from thali._posterior.dependence import Dependence

from .counted import Judgements
from .scale import WorthScale
from .worths import (
    JudgedWorths,
    Posed,
    WorthsRequest,
    agreement_of,
    check_anchor,
    judged_worths,
    posed,
)

if TYPE_CHECKING:
    from thali._worths.density import Spreads
    from thali._worths.laplace import Marginal
    from thali._worths.respondent_variance import RespondentAdjustment

# of Laplace's approximation; numbers in all draws
DRAWS, LEAST_DRAWS, MOST_NUMBERS = 4000, 500, 25_000_000


class WorthEstimates(NamedTuple):
    """What is known of the worths."""

    log_worths: np.ndarray  # (draws, options), the mean of each row 0
    # (options,) log worths by which options are ranked: unlike means of draws they have no noise
    modes: np.ndarray
    nu: np.ndarray  # (draws,); empty if there are no ties
    beta: np.ndarray  # (draws, covariates)
    # log worths and beta; None: means of draws
    estimate: tuple[np.ndarray, np.ndarray] | None = None
    people: Dependence | None = None  # what was made of them
    seen: JudgedWorths | None = None  # by judges, or in time
    of_chains: ConvergenceCheck | None = None  # whether they agree; None: there are none
    # log worths as wide where few respondents leave no variance; None: these
    with_variance: np.ndarray | None = None
    # of the density, perhaps raised to a power; None of parts that are pooled
    marginal: "Marginal | None" = None
    pose: Posed | None = None  # the density of the votes as they are; None of parts that are pooled
    points: np.ndarray | None = None  # (size, draws); None of parts that are pooled
    # the same without control for covariates; None: there are none
    without: "WorthEstimates | None" = None
    # the fitted model of individual worths, which have no density of points
    individuals: Any = None

    @property
    def middle(self) -> np.ndarray:
        """The log worths that are reported: means that never rise from one rank to the next."""
        means = self.log_worths.mean(axis=0) if self.estimate is None else self.estimate[0]
        return fit_descending_means(sort_descending(self.modes), means)

    @property
    def effects(self) -> np.ndarray:
        """The coefficients that are reported."""
        return self.beta.mean(axis=0) if self.estimate is None else self.estimate[1]


def drawn_of(
    data: Judgements, asked: WorthsRequest, scale: WorthScale, progressbar: bool
) -> WorthEstimates:
    """Return the worths."""
    from thali._worths.data_density import check_estimable, convert_for_likelihood
    from thali._worths.laplace import Marginal
    from thali._worths.respondent_variance import RespondentAdjustment, build_adjustment

    data, by_chains = convert_for_likelihood(data), asked.method == "mcmc"
    pose = posed(data, asked)
    if not asked.has_prior:
        check_estimable(data, pose.density)
    check_anchor(pose, scale)
    with Progress(progressbar and not by_chains, "drawing", 1, "draws") as progress:
        progress.note("estimating worths")
        marginal, respondents = (
            Marginal(pose.density, asked.spread, asked.judge_sd, asked.drift),
            RespondentAdjustment(),
        )
        if asked.is_plain:
            respondents = build_adjustment(
                data, marginal, asked.people, INDEPENDENT if by_chains else ADJUSTED
            )
        if not by_chains:
            return _from_lattice(pose, scale, marginal, respondents)
    return _from_chains(pose, scale, marginal, respondents.power_dependence, progressbar)


def worths_of_individuals(
    data: Judgements, asked: WorthsRequest, progressbar: bool
) -> WorthEstimates:
    """Return the population worths of respondents who differ."""
    from thali._worths.model import BradleyTerryLuce

    model = BradleyTerryLuce(spread=asked.spread, lapse=asked.lapse, people=asked.people)
    with silence_warnings():  # the board says whether chains agree
        model.fit(data, random_seed=asked.random_seed, progressbar=progressbar)
    draws, people, convergence = model._draws, model._view.dependence, model.convergence()
    nu = np.zeros(0) if draws.nu is None else draws.nu
    found = WorthEstimates(
        draws.log_worths, draws.log_worths.mean(axis=0), nu, draws.beta, None, people
    )
    return found._replace(of_chains=convergence, individuals=model)


def _from_lattice(
    pose: Posed, scale: WorthScale, marginal: "Marginal", respondents: "RespondentAdjustment"
) -> WorthEstimates:
    """Return the worths by Laplace's approximation, or by maximum likelihood with normal errors."""
    from scipy.special import ndtri, stdtrit

    from thali._worths.posterior_sample import sample_posterior
    from thali._worths.respondent_variance import widen_points

    density, spreads = pose.density, None
    count = int(np.clip(MOST_NUMBERS // density.size, LEAST_DRAWS, DRAWS))
    (rng,) = spawn_generators(pose.asked.random_seed, 1)
    if pose.asked.has_prior:
        points, spreads = sample_posterior(marginal, rng, count)
        middle = points.mean(axis=1)
    else:
        _, mode = marginal.best
        points, middle = (
            mode.point[:, None] + marginal.draw_deviations(mode, rng, count),
            mode.point,
        )
    of_middle, variance = (
        density.centre_by_period(middle[:, None])[-1, :, 0],
        respondents.adjusted_variance,
    )
    estimate = (
        None if pose.asked.has_prior and variance is None else (of_middle, middle[density.beta])
    )
    narrow, with_variance = points, None
    if variance is not None:
        narrow, points = widen_points(rng, marginal, variance, points, middle)
        reach = stdtrit(variance.df, CERTAIN) / ndtri(CERTAIN)
        with_variance = of_middle + reach * (density.centre_by_period(narrow)[-1].T - of_middle)
    found = _estimates(pose, scale, marginal, points, spreads)
    nu = np.exp(narrow[density.nu]).ravel()
    return found._replace(
        nu=nu, estimate=estimate, people=respondents.score_dependence, with_variance=with_variance
    )


def _from_chains(
    pose: Posed,
    scale: WorthScale,
    marginal: "Marginal",
    people: Dependence | None,
    progressbar: bool,
) -> WorthEstimates:
    """Return the worths by chains."""
    from thali._worths.chains import run_chains
    from thali._worths.laplace import Marginal

    if people is not None and people.power < 1.0:
        marginal = Marginal(pose.density.raise_to_power(people.power), pose.asked.spread)
    drawn = run_chains(marginal, pose.asked.random_seed, progressbar)
    names = pose.data.labels, pose.periods, pose.judges, pose.data.covariate_names
    check = agreement_of(drawn.reported, marginal, *names)
    return _estimates(pose, scale, marginal, drawn.points, drawn.spreads)._replace(
        people=people, of_chains=check
    )


def _estimates(
    pose: Posed,
    scale: WorthScale,
    marginal: "Marginal",
    points: np.ndarray,
    spreads: "Spreads | None",
) -> WorthEstimates:
    """Return what draws of points say about worths, with the tables of judges and of time."""
    density = pose.density
    modes = density.centre_by_period(marginal.mean_mode[:, None])[-1, :, 0]
    nu, beta = np.exp(points[density.nu]).ravel(), points[density.beta].T
    found = WorthEstimates(
        density.centre_by_period(points)[-1].T,
        modes,
        nu,
        beta,
        marginal=marginal,
        pose=pose,
        points=points,
    )
    if spreads is None or pose.asked.is_plain:
        return found
    return found._replace(seen=judged_worths(pose, scale, marginal, points, spreads))
